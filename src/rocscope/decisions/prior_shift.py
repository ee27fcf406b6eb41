"""Populations that differ from the labelled sample: another prevalence, or outcomes that are only partly known.

Prior shift: the prevalence changes, but the score distribution of each class stays the same. The true and false
positive rates and the ROC curve then do not change. `reweight` computes counts at the new prevalence, and
`correct_probabilities` computes calibrated probabilities. `estimate_prevalence` estimates the new prevalence from
scores without labels.

Partly known outcomes: `partial_lift_chart` uses the labels of the rows with the highest scores, down to the first row
without a label. It can also use the labels of a random sample with known inclusion probabilities (Horvitz & Thompson).
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
from rocscope.curves.curve import Curve
from rocscope.decisions.constraints import predict
from rocscope.errors import InputError, LabelError, WeightError
from rocscope.inference import proportions
from rocscope.inference.estimate import Estimate
from rocscope.sample import Models, samples_of

# Prior shift


@contract
def reweight(counts: Models, target_prevalence: float, *, model: str | None = None) -> ThresholdCounts:
    """Reweight counts to a target prevalence.

    Curves, metrics and decisions from the returned counts are for the target prevalence. The number of cases is the
    number in the sample.

    Parameters
    ----------
    counts, model : data of one model
        Predictions, ThresholdCounts, an OperatingPoint, BinnedCounts or a CountsSketch; see `rocscope.sample`.
    target_prevalence : float
        Share of positives in the target population, between 0 and 1.

    Returns
    -------
    ThresholdCounts
        Weighted counts, which are usually not integers.

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
    train_prevalence, target_prevalence : float
        Share of positives in the training data and in the target population, between 0 and 1.

    Returns
    -------
    array of n probabilities
        Probabilities at `target_prevalence`.

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
    For a training prevalence π₀ and a target prevalence π, odds are multiplied by π(1 − π₀)/(π₀(1 − π)). Ranks do not
    change, so the ROC curve, its hull and the AUC do not change.

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
    """Return probabilities at another prevalence: a/(a + b) with a = p·π/π₀ and b = (1 − p)(1 − π)/(1 − π₀)."""
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
        ``"em"`` is the maximum-likelihood estimate, to which the EM algorithm of Saerens et al. converges. It requires
        probabilities that are calibrated at `train_prevalence`. ``"confusion"`` corrects the share of positive
        predictions at `threshold` by the true and false positive rates of the `labelled` sample.
    train_prevalence : float, optional
        Prevalence at which the probabilities are calibrated; by default the prevalence of `labelled`.
    labelled : data of one model, optional
        Scores of the same model on rows with labels.
    threshold : float
        Threshold for ``"confusion"``.
    level : float
        Confidence level of the interval.

    Returns
    -------
    Estimate
        Estimated share of positives, with an interval.

    Raises
    ------
    InputError
        If an argument that the method requires is missing, or if the tpr at the threshold is not above the fpr.

    See Also
    --------
    correct_probabilities, expected

    Notes
    -----
    EM: the log-likelihood Σ log(π·p/π₀ + (1 − π)(1 − p)/(1 − π₀)) is concave in π. Its maximum is computed directly,
    and the interval is the likelihood-ratio interval. This interval ignores errors of the calibration. Confusion
    matrix: π = (q − fpr)/(tpr − fpr), where q is the share of positive predictions; π is clipped to 0 and 1.

    Both intervals include the sampling error of the `labelled` rows: for EM the error of their prevalence π₀, for the
    confusion matrix the errors of tpr and fpr. These errors are combined from the intervals of the rates: the error due
    to a rate is the change of π when the rate moves to an end of its interval (MOVER, "method of variance estimates
    recovery"). Both methods assume that only the prevalence has changed.

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
            raise InputError("train_prevalence", expected="the class mix of the probabilities", got="none")
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
        raise InputError("labelled", expected="counts of the same model on rows with labels", got="none")
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
        """Return the derivative of each case's log-likelihood."""
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
    """Add independent errors to an estimate.

    `others` contains, for each further rate, the values of the estimate at both ends of the interval of the rate.
    """
    below, above = (estimate.value - estimate.low) ** 2, (estimate.high - estimate.value) ** 2
    for ends in others:
        below += (estimate.value - min(*ends, estimate.value)) ** 2
        above += (max(*ends, estimate.value) - estimate.value) ** 2
    low, high = max(estimate.value - math.sqrt(below), 0.0), min(estimate.value + math.sqrt(above), 1.0)
    error = (high - low) / (2 * proportions.normal_quantile(estimate.level))
    return replace(estimate, low=low, high=high, standard_error=error)


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Return the zero of a decreasing function, or the nearer end of the interval."""
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
        got = f"{tpr:.4g} and {fpr:.4g}"
        hint = "at this threshold the model does not separate the classes; use another threshold"
        raise InputError(f"threshold={threshold:g}", expected="a tpr above the fpr", got=got, hint=hint)
    n_above = int(predict(scores, threshold).sum())
    counted = {"share": (n_above, scores.size), "tpr": (point.tp, point.n_pos), "fpr": (point.fp, point.n_neg)}
    rates = {name: proportions.proportion(hits, n, level=level) for name, (hits, n) in counted.items()}

    def corrected(share: float = n_above / scores.size, tpr: float = tpr, fpr: float = fpr) -> float:
        """Return the prevalence that gives this share of positive predictions; return 1 if tpr is not above fpr."""
        return min(max((share - fpr) / (tpr - fpr), 0.0), 1.0) if tpr > fpr else 1.0

    value = corrected()
    ends = [[corrected(**{name: end}) for end in (rate.low, rate.high)] for name, rate in rates.items()]
    return _with_errors(Estimate(value, value, value, level, "confusion matrix, MOVER", scores.size), ends)


# Partly known outcomes


class PartialLiftChart(Curve):
    """Estimated number of positives (y) among the contacted share of all rows (x), with or without labels.

    `rocscope.decisions.partial_lift_chart` returns this chart.

    Attributes
    ----------
    method : str
        ``"as far as labels reach"`` or ``"Horvitz–Thompson"``.
    n : int
        Number of rows; `n_labelled` of them have a label.
    reach : float
        Largest depth, as a share of all rows, for which the chart is known.
    standard_error : array
        Standard error of y; 0 without `inclusion`.
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
        """Return the normal interval around each point, clipped to the number of rows contacted."""
        half_width = special.ndtri((1 + check.check_share(level, "level")) / 2) * self.standard_error
        low = np.maximum(self.y - half_width, 0)
        high = np.minimum(self.y + half_width, self.x * self.n)
        return Band(self.x, low, high, level, self.method)

    def profit(self, campaign: Campaign) -> "PartialProfitCurve":
        """Return the profit curve of a campaign, for the depths at which this chart is known.

        Raises
        ------
        InputError
            If the campaign has a response rate, because partly labelled rows cannot be reweighted to a response rate.
        """
        return PartialProfitCurve(self, campaign)

    def columns(self) -> dict[str, Array]:
        return super().columns() | {"standard_error": self.standard_error}

    def _facts(self) -> str:
        return f"{self.method}, {self.n_labelled} of {self.n} rows labelled, known to depth {self.reach:.4g}"


class PartialProfitCurve(Curve):
    """Profit of a campaign (y) by share of customers contacted (x), if outcomes are partly known.

    Attributes
    ----------
    chart : PartialLiftChart
    campaign : Campaign
    """

    title = "profit curve of partly known outcomes"
    x_name = "depth"
    y_name = "profit"

    def __init__(self, chart: PartialLiftChart, campaign: Campaign) -> None:
        if campaign.response_rate is not None:
            expected = "no response_rate, because some labels are unknown"
            raise InputError("campaign", expected=expected, got=repr(campaign.response_rate))
        self.chart, self.campaign = chart, campaign
        self._scale = campaign.population / chart.n
        size = campaign.population * chart.x
        super().__init__(chart.x, campaign.profit(size, self._scale * chart.y), chart.threshold)

    def band(self, level: float = 0.95) -> Band:
        """Return the interval of the profit, computed from the interval of the number of responders."""
        responders = self.chart.band(level)
        size = self.campaign.population * self.x
        low = self.campaign.profit(size, self._scale * responders.low)
        high = self.campaign.profit(size, self._scale * responders.high)
        return Band(self.x, low, high, level, self.chart.method)

    def best(self) -> dict[str, Any]:
        """Return depth, size, threshold and profit of the known point with the highest profit within the capacity.

        `at_reach` is True if this is the deepest known point. More contacts may then be profitable, but labels are
        missing.
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
        None or NaN if the outcome of a row is unknown.
    y_score : array of n scores
        Scores of all rows.
    inclusion : number or array of n probabilities, optional
        The probability with which each row was selected for labelling. By default, only the rows with higher scores
        than the first row without a label are used.
    pos_label : label, optional

    Returns
    -------
    PartialLiftChart

    Raises
    ------
    LabelError
        If no row has a label.
    WeightError
        If a labelled row has an inclusion probability that is not above 0 and at most 1.

    See Also
    --------
    lift_chart

    Notes
    -----
    Depth counts rows without a label too. Without `inclusion`, the chart ends before the first score with an unlabelled
    row. With `inclusion`, the number of positives to a depth is estimated by Σ y/π over labelled rows. The estimate of
    its variance, Σ y(1 − π)/π², assumes that rows were selected independently of each other.

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
        raise LabelError("y_true", expected="at least one label", got="none", hint="the chart requires known outcomes")
    positive = np.zeros(labels.size)
    positive[known] = check.check_labels(_as_plain(labels[known]), pos_label)
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
    return PartialLiftChart(
        rows / labels.size,
        tp,
        np.append(np.inf, falling[starts][:end].astype(np.float64)),
        np.sqrt(variance),
        method="as far as labels reach" if inclusion is None else "Horvitz–Thompson",
        n=labels.size,
        labelled=int(known.sum()),
    )


def _as_plain(labels: Array) -> Array:
    """Convert an object array of labels to the type of the labels; None made the labels objects."""
    return np.array(labels.tolist()) if labels.dtype.kind == "O" else labels


def _weights(inclusion: Any, known: Booleans) -> Array:
    """Return 1/π for labelled rows, and 1 for rows without a label."""
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
        raise WeightError("inclusion", expected="probabilities above 0 and at most 1 for labelled rows", got=got)
    weight[known] = 1 / labelled
    return weight
