"""Prior shift (another prevalence), and outcomes that are only partly known.

Prior shift means that the prevalence changes, but the score distribution of each class does not. The true-positive
rate, the false-positive rate and the ROC curve then do not change either. `reweight` computes counts at the new
prevalence. `correct_probabilities` computes probabilities that are calibrated at the new prevalence.
`estimate_prevalence` estimates the new prevalence from scores without labels.

If outcomes are partly known, `partial_lift_chart` uses the labels of the rows with the highest scores, down to the
first row without a label. It can also use the labels of a random sample with known inclusion probabilities (Horvitz &
Thompson).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from scipy import optimize, special

from rocscope._base import validation as check
from rocscope._base.arrays import Array, Booleans
from rocscope._base.contract import contract
from rocscope.core import Band, Campaign, CumulativeCounts, ThresholdCounts, require_kinds
from rocscope.core.applying import predict
from rocscope.curves.curve import Curve
from rocscope.errors import InputError, LabelError, WeightError
from rocscope.inference import proportions
from rocscope.inference.estimate import Estimate
from rocscope.sample import Models, samples_of

# Prior shift


@contract
def reweight(counts: Models, target_prevalence: float, *, model: str | None = None) -> ThresholdCounts:
    """Reweight the counts of positives and negatives to a target prevalence.

    Curves, metrics and decisions that are computed from the returned counts refer to the target prevalence. The total
    number of cases does not change.

    Parameters
    ----------
    counts : Predictions, ThresholdCounts, OperatingPoint, BinnedCounts or CountsSketch
        Data of one model; see `rocscope.sample`.
    model : str, optional
        Name of the model, if `counts` contains several models.
    target_prevalence : float
        Share of positives in the target population, between 0 and 1.

    Returns
    -------
    ThresholdCounts
        Weighted counts at each threshold. They are usually not integers.

    Raises
    ------
    OneClassError
        If one class is missing.
    InputError
        If the prevalence is not between 0 and 1.

    See Also
    --------
    correct_probabilities, estimate_prevalence

    Examples
    --------
    >>> counts = reweight(ThresholdCounts([2, 1], [3, 1], [1, 3]), 0.25)
    >>> counts.prevalence, counts.at(2).precision
    (0.25, 0.5)
    """
    counts = samples_of(counts, name="counts").one(model).counts
    counts.require_both_classes("another prevalence")
    share = check.check_share(target_prevalence, "target_prevalence")
    positive, negative = share * counts.n / counts.n_pos, (1 - share) * counts.n / counts.n_neg
    moved = ThresholdCounts(counts.threshold, positive * counts.pos, negative * counts.neg)
    return moved.as_sums(counts.weights, counts.dependent)


@contract
def correct_probabilities(probability: Any, *, train_prevalence: float, target_prevalence: float) -> Array:
    """Correct probabilities for a change of prevalence, for example after oversampling or undersampling.

    Parameters
    ----------
    probability : array of n probabilities
        Probabilities of the positive class, calibrated at `train_prevalence`.
    train_prevalence : float
        Share of positives in the training data, between 0 and 1.
    target_prevalence : float
        Share of positives in the target population, between 0 and 1.

    Returns
    -------
    array of n probabilities
        Probabilities that are calibrated at `target_prevalence`.

    Raises
    ------
    ScoreError
        If a value is not a probability.
    InputError
        If a prevalence is not between 0 and 1.

    See Also
    --------
    reweight, estimate_prevalence, recalibrate

    Notes
    -----
    For a training prevalence π₀ and a target prevalence π, all odds are multiplied by π(1 − π₀)/(π₀(1 − π)). The
    ranking does not change, so the ROC curve, its convex hull and the AUC do not change.

    References
    ----------
    Saerens, Latinne & Decaestecker 2002, eq. 2.4; Elkan 2001, "The foundations of cost-sensitive learning", IJCAI.

    Examples
    --------
    >>> correct_probabilities([0.5, 0.9], train_prevalence=0.5, target_prevalence=0.1)
    array([0.1, 0.5])
    """
    given = check.check_probabilities(check.check_scores(probability, name="probability"), "probability")
    before = check.check_share(train_prevalence, "train_prevalence")
    after = check.check_share(target_prevalence, "target_prevalence")
    return with_prevalence(given, before, after)


def with_prevalence(chance: Array, before: Any, after: Any) -> Array:
    """Convert probabilities p from prevalence π₀ (`before`) to prevalence π (`after`).

    The result is a/(a + b) with a = p·π/π₀ and b = (1 − p)(1 − π)/(1 − π₀).
    """
    positive, negative = chance * (after / before), (1 - chance) * ((1 - after) / (1 - before))
    return positive / (positive + negative)


@contract
def estimate_prevalence(
    y_score: Any,
    *,
    method: Literal["em", "confusion"] = "em",
    train_prevalence: float | None = None,
    labelled: Models | None = None,
    threshold: float = 0.5,
    level: float = 0.95,
) -> Estimate:
    """Estimate the share of positives among unlabelled cases from their scores.

    Parameters
    ----------
    y_score : array of n scores
        Scores of the cases without labels.
    method : {"em", "confusion"}
        ``"em"`` is the maximum-likelihood estimate, the limit of the EM algorithm of Saerens et al. This method
        requires probabilities that are calibrated at `train_prevalence`. ``"confusion"`` corrects the share of positive
        predictions at `threshold` with the true-positive and false-positive rates of the `labelled` sample.
    train_prevalence : float, optional
        Prevalence at which the probabilities are calibrated, for ``"em"``. By default, the prevalence of `labelled`.
    labelled : data of one model, optional
        Labels and scores of the same model on other rows; see `rocscope.sample`. Required for ``"confusion"``.
    threshold : float
        Threshold of the positive predictions, for ``"confusion"``.
    level : float
        Confidence level of the interval.

    Returns
    -------
    Estimate
        Estimated share of positives, with a confidence interval.

    Raises
    ------
    InputError
        If a required argument is missing, or if the tpr at the threshold is not above the fpr.

    See Also
    --------
    correct_probabilities, expected

    Notes
    -----
    EM: let p be the probabilities, π₀ the training prevalence and π the unknown prevalence. The log-likelihood Σ
    log(π·p/π₀ + (1 − π)(1 − p)/(1 − π₀)) is concave in π. Its maximum is computed directly, and the interval is the
    likelihood-ratio interval. This interval ignores calibration errors.

    Confusion matrix: π = (q − fpr)/(tpr − fpr), clipped to the range from 0 to 1. Here q is the share of positive
    predictions.

    Both intervals include the sampling error of the `labelled` rows. For EM this is the error of π₀; for the confusion
    matrix it is the error of tpr and fpr. The error due to a rate is the change of π when the rate moves to an end of
    its confidence interval (MOVER, "method of variance estimates recovery"). Both methods assume that only the
    prevalence has changed.

    References
    ----------
    Saerens, Latinne & Decaestecker 2002, "Adjusting the outputs of a classifier to new a priori probabilities",
    Neural Computation 14; Forman 2008, "Quantifying counts and costs via classification", Data Min. Knowl. Disc. 17;
    Zou & Donner 2008, Stat. Med. 27:1693–1702 (MOVER).

    Examples
    --------
    >>> labelled = ThresholdCounts([1, 0], [80, 20], [10, 90])
    >>> estimate = estimate_prevalence([1] * 31 + [0] * 69, method="confusion", labelled=labelled)
    >>> round(estimate.value, 6), round(estimate.low, 3), round(estimate.high, 3)
    (0.3, 0.154, 0.45)
    """
    check.check_share(level, "level")
    known = None if labelled is None else samples_of(labelled, name="labelled").one(None).points
    if method == "em":
        class_mix, reason = None, ""
        if train_prevalence is None and known is not None:
            reason = require_kinds("prevalence from labelled rows", known)
            train_prevalence = known.prevalence
            class_mix = proportions.proportion(known.n_pos, known.n, level=level)
        if train_prevalence is None:
            hint = "pass train_prevalence or labelled"
            raise InputError("train_prevalence", expected="a share", got="None", hint=hint)
        probability = check.check_probabilities(check.check_scores(y_score), "y_score")
        prior = check.check_share(train_prevalence, "train_prevalence")
        estimate = _by_maximum_likelihood(probability, prior, level)
        if class_mix is None:
            return estimate
        # A larger share of positives among the labelled rows makes each probability less telling, and π larger.
        ends = [_by_maximum_likelihood(probability, end, level).value for end in (class_mix.low, class_mix.high)]
        return replace(_with_errors(estimate, [ends]), reason=reason)
    if method != "confusion":
        raise InputError("method", expected="'em' or 'confusion'", got=repr(method))
    if known is None:
        raise InputError("labelled", expected="labels and scores if method='confusion'", got="None")
    reason = require_kinds("prevalence from labelled rows", labelled, known)
    return replace(_by_confusion_matrix(check.check_scores(y_score), known, threshold, level), reason=reason)


def _by_maximum_likelihood(probability: Array, prior: float, level: float) -> Estimate:
    # Relative densities p/π₀ and (1 − p)/(1 − π₀): at prevalence π the density is π·positive + (1 − π)·negative.
    positive, negative = probability / prior, (1 - probability) / (1 - prior)
    difference = positive - negative

    def log_likelihood(share: float) -> float:
        with np.errstate(divide="ignore"):
            return float(np.log(share * positive + (1 - share) * negative).sum())

    def scores(share: float) -> Array:
        """Return the derivative of the log-likelihood for each case."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return difference / (share * positive + (1 - share) * negative)

    # At 0 or 1 a density may be 0. The derivative is then infinite, with the sign that the search requires.
    value = _root(lambda share: float(np.nansum(scores(share))), 0.0, 1.0)
    # The interval contains the shares whose log-likelihood is at most χ²/2 below the maximum.
    lowest = log_likelihood(value) - special.chdtri(1, 1 - level) / 2
    low = _root(lambda share: lowest - log_likelihood(share), 0.0, value)
    high = _root(lambda share: log_likelihood(share) - lowest, value, 1.0)
    information = float(np.nansum(scores(value) ** 2))
    error = 1 / math.sqrt(information) if information else math.inf
    return Estimate(value, low, high, level, "EM, likelihood ratio", probability.size, error)


def _with_errors(estimate: Estimate, others: Sequence[Sequence[float]]) -> Estimate:
    """Add independent errors to the interval of an estimate.

    Each entry of `others` belongs to one rate, and contains the values of the estimate at both ends of the rate's
    interval.
    """
    below, above = (estimate.value - estimate.low) ** 2, (estimate.high - estimate.value) ** 2
    for ends in others:
        below += (estimate.value - min(*ends, estimate.value)) ** 2
        above += (max(*ends, estimate.value) - estimate.value) ** 2
    low, high = max(estimate.value - math.sqrt(below), 0.0), min(estimate.value + math.sqrt(above), 1.0)
    error = (high - low) / (2 * proportions.normal_quantile(estimate.level))
    return replace(estimate, low=low, high=high, standard_error=error)


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Return the zero of a decreasing function; if it has no zero in the interval, return the nearer end."""
    if not falling(low) > 0:
        return low
    if not falling(high) < 0:
        return high
    # A log-likelihood may be −∞ at 0 and 1, but the search requires finite numbers.
    solution = optimize.root_scalar(lambda x: np.clip(falling(x), -1e300, 1e300), bracket=(low, high), xtol=1e-13)
    return float(solution.root)


def _by_confusion_matrix(scores: Array, labelled: CumulativeCounts, threshold: float, level: float) -> Estimate:
    labelled.require_both_classes("confusion-matrix method")
    point = labelled.at(threshold)
    tpr, fpr = point.tpr, point.fpr
    if tpr <= fpr:
        got = f"tpr {tpr:.4g} and fpr {fpr:.4g}"
        hint = "use a threshold at which the model separates the classes"
        raise InputError(f"threshold={threshold:g}", expected="a tpr above the fpr", got=got, hint=hint)
    n_above = int(predict(scores, threshold).sum())
    counted = {"share": (n_above, scores.size), "tpr": (point.tp, point.n_pos), "fpr": (point.fp, point.n_neg)}
    rates = {name: proportions.proportion(hits, n, level=level) for name, (hits, n) in counted.items()}

    def corrected(share: float = n_above / scores.size, tpr: float = tpr, fpr: float = fpr) -> float:
        """Return the prevalence for which `share` of the predictions are positive; 1 if tpr is not above fpr."""
        return min(max((share - fpr) / (tpr - fpr), 0.0), 1.0) if tpr > fpr else 1.0

    value = corrected()
    ends = [[corrected(**{name: end}) for end in (rate.low, rate.high)] for name, rate in rates.items()]
    return _with_errors(Estimate(value, value, value, level, "confusion matrix, MOVER", scores.size), ends)


# Partly known outcomes


class PartialLiftChart(Curve):
    """Lift chart for partly known outcomes: estimated number of positives (y) against the share of rows contacted (x).

    `rocscope.decisions.partial_lift_chart` returns this chart.

    Attributes
    ----------
    method : str
        ``"as far as labels reach"`` or ``"Horvitz–Thompson"``.
    n : int
        Number of rows with and without labels.
    n_labelled : int
        Number of rows with labels.
    reach : float
        Largest share of rows for which the number of positives is known.
    standard_error : array
        Standard error of y at each point; 0 without `inclusion`.
    x, y : arrays
        Share of rows contacted, and estimated number of positives.
    """

    _content = ("method", "n", "n_labelled", "reach")

    title = "lift chart of partly known outcomes"
    x_name = "depth"
    y_name = "tp"

    def __init__(
        self, depth: Array, tp: Array, threshold: Array, standard_error: Array, *, method: str, n: int, labelled: int
    ) -> None:
        super().__init__(depth, tp, threshold)
        self.standard_error = check.read_only(standard_error)
        self.method, self.n, self.n_labelled = method, n, labelled
        self.reach = float(depth[-1])

    def band(self, level: float = 0.95) -> Band:
        """Return the normal interval of y at each point, clipped to between 0 and the number of rows contacted.

        Parameters
        ----------
        level : float
            Confidence level.

        Raises
        ------
        InputError
            If the level is not between 0 and 1.

        Examples
        --------
        >>> from rocscope.decisions import partial_lift_chart
        >>> chart = partial_lift_chart([1, None, 0, None, 1], [5, 4, 3, 2, 1], inclusion=0.5)
        >>> chart.band()
        Band(6 points, 95% pointwise, Horvitz–Thompson)
        """
        half_width = special.ndtri((1 + check.check_share(level, "level")) / 2) * self.standard_error
        low = np.maximum(self.y - half_width, 0)
        high = np.minimum(self.y + half_width, self.x * self.n)
        return Band(self.x, low, high, level, self.method)

    def profit(self, campaign: Campaign) -> "PartialProfitCurve":
        """Return the profit curve of a campaign, up to the depth `reach`.

        Parameters
        ----------
        campaign : Campaign
            Population, costs and benefits.

        Raises
        ------
        InputError
            If the campaign has a response rate. Partly labelled rows cannot be reweighted to a response rate.

        Examples
        --------
        One of five customers is contacted. The response is worth 4, and the contact costs 1:

        >>> from rocscope import Campaign
        >>> from rocscope.decisions import partial_lift_chart
        >>> chart = partial_lift_chart([1, 0, 0, None, 1], [5, 4, 3, 2, 1])
        >>> chart.profit(Campaign(5, unit_cost=1, unit_benefit=4)).best()["profit"]
        3.0
        """
        return PartialProfitCurve(self, campaign)

    def _columns(self) -> dict[str, Array]:
        return super()._columns() | {"standard_error": self.standard_error}

    def _facts(self) -> str:
        return f"{self.method}, {self.n_labelled} of {self.n} rows labelled, known to depth {self.reach:.4g}"


class PartialProfitCurve(Curve):
    """Profit of a campaign (y) against the share of customers contacted (x), if outcomes are partly known.

    Attributes
    ----------
    chart : PartialLiftChart
        Estimated number of responders at each depth.
    campaign : Campaign
        Costs, benefit, population and capacity.
    """

    title = "profit curve of partly known outcomes"
    x_name = "depth"
    y_name = "profit"

    def __init__(self, chart: PartialLiftChart, campaign: Campaign) -> None:
        if campaign.response_rate is not None:
            got = f"response_rate={campaign.response_rate!r}"
            raise InputError("campaign", expected="a campaign without a response_rate", got=got)
        self.chart, self.campaign = chart, campaign
        super().__init__(chart.x, self._profit(chart.y), chart.threshold)

    def _profit(self, responders: Array) -> Array:
        """Return the profit at each depth, given the number of responders among the rows."""
        population = self.campaign.population
        return self.campaign.profit(population * self.chart.x, population / self.chart.n * responders)

    def band(self, level: float = 0.95) -> Band:
        """Return the interval of the profit at each point, computed from the interval of the number of responders."""
        responders = self.chart.band(level)
        low, high = self._profit(responders.low), self._profit(responders.high)
        return Band(self.x, low, high, level, self.chart.method)

    def best(self) -> dict[str, Any]:
        """Return the known point with the highest profit within the capacity.

        The keys are `depth`, `size` (number of contacts), `threshold`, `profit`, `at_reach` and `method`. `at_reach` is
        True if the best point is the deepest known point. More contacts may then be profitable, but the labels to
        decide this are missing.
        """
        size = self.campaign.population * self.x
        capacity = np.inf if self.campaign.capacity is None else self.campaign.capacity
        # Population times depth is rounded, so a size equal to the capacity may be computed as slightly above it.
        allowed = size <= capacity * (1 + 1e-12)
        best = int(np.argmax(np.where(allowed, self.y, -np.inf)))
        return {
            "depth": float(self.x[best]),
            "size": float(size[best]),
            "threshold": self.threshold[best].item(),
            "profit": float(self.y[best]),
            "at_reach": best == self.x.size - 1 and self.chart.reach < 1,
            "method": self.chart.method,
        }

    def _facts(self) -> str:
        best = self.best()
        return f"{self.chart.method}, best known depth={best['depth']:.4g}, profit={best['profit']:,.6g}"


@contract
def partial_lift_chart(y_true: Any, y_score: Any, *, inclusion: Any = None, pos_label: Any = None) -> PartialLiftChart:
    """Compute a lift chart when only some rows have a label.

    Parameters
    ----------
    y_true : array of n labels
        Labels; None or NaN for rows with unknown outcomes.
    y_score : array of n scores
        Scores of all rows.
    inclusion : number or array of n probabilities, optional
        Probability that a row was selected for labelling. By default, only the rows with scores above the highest score
        of an unlabelled row are used.
    pos_label : label, optional
        The positive label. By default, the label 1 or true.

    Returns
    -------
    PartialLiftChart
        Estimated number of positives against the share of rows.

    Raises
    ------
    LabelError
        If no row has a label.
    WeightError
        If the inclusion probability of a labelled row is 0, negative or above 1.

    See Also
    --------
    lift_chart

    Notes
    -----
    The depth includes rows without a label. Without `inclusion`, the chart ends before the first score that an
    unlabelled row has. With inclusion probabilities π and labels y (1 or 0), the number of positives up to a depth is
    estimated by Σ y/π over the labelled rows. Its variance is estimated by Σ y(1 − π)/π², which assumes that rows were
    selected for labelling independently.

    References
    ----------
    Vuk & Curk 2006, §5: the number of all potential customers is often unknown; Horvitz & Thompson 1952, "A
    generalization of sampling without replacement from a finite universe", JASA 47.

    Examples
    --------
    >>> chart = partial_lift_chart([1, 0, 1, None, 1], [5, 4, 3, 2, 1])
    >>> chart
    PartialLiftChart(as far as labels reach, 4 of 5 rows labelled, known to depth 0.6)
    >>> chart.y
    array([0., 1., 1., 2.])
    >>> partial_lift_chart([1, None, 0, None, 1], [5, 4, 3, 2, 1], inclusion=0.5).y
    array([0., 2., 2., 2., 2., 4.])
    """
    check.check_same_index(y_true=y_true, y_score=y_score, inclusion=inclusion)
    labels = check.check_column(y_true, "y_true")
    scores = check.check_scores(y_score, labels.size)
    known = ~check.missing(labels)
    if not known.any():
        raise LabelError("y_true", expected="at least one label", got="no labels")
    positive = np.zeros(labels.size)
    # A missing label can make all labels objects; the list converts them back to their own type.
    positive[known] = check.check_labels(np.array(labels[known].tolist()), pos_label)
    weight = np.ones(labels.size) if inclusion is None else _weights(inclusion, known)
    order = np.argsort(scores, kind="stable")[::-1]
    falling = scores[order]
    starts = np.flatnonzero(np.append(True, falling[1:] != falling[:-1]))

    def per_level(column: Array) -> Array:
        return np.add.reduceat(column[order].astype(np.float64), starts)

    end = starts.size
    if inclusion is None and not known.all():
        end = int(np.argmax(per_level(~known) > 0))
    # Cumulative sums from 0 rows on: rows, positives Σ y/π, and their variance Σ y(1 − π)/π²; weights are 1/π.
    columns = np.ones(labels.size), positive * weight, positive * weight * (weight - 1)
    rows, tp, variance = (np.append(0.0, np.cumsum(per_level(column))[:end]) for column in columns)
    method = "as far as labels reach" if inclusion is None else "Horvitz–Thompson"
    threshold = np.append(np.inf, falling[starts][:end].astype(np.float64))
    numbers = {"n": labels.size, "labelled": int(known.sum())}
    return PartialLiftChart(rows / labels.size, tp, threshold, np.sqrt(variance), method=method, **numbers)


def _weights(inclusion: Any, known: Booleans) -> Array:
    """Return the inverse inclusion probability of labelled rows, and 1 for rows without a label."""
    if np.ndim(inclusion) == 0:
        column = np.full(known.size, inclusion)
    else:
        column = check.check_column(inclusion, "inclusion", known.size)
    if column.dtype.kind not in "iuf":
        raise WeightError("inclusion", expected="probabilities", got=f"values of type {column.dtype}")
    weight = np.ones(known.size)
    labelled = column[known].astype(np.float64)
    is_probability = (labelled > 0) & (labelled <= 1)
    if not is_probability.all():
        got = f"{labelled[~is_probability][0]:g}"
        raise WeightError("inclusion", expected="a probability above 0 and at most 1 for each labelled row", got=got)
    weight[known] = 1 / labelled
    return weight
