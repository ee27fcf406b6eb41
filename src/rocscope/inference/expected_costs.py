"""Mean costs of models on the same rows, tests of their differences, and the effect of rare large amounts.

The expected cost of a model at its threshold is the mean cost of the rows. At a target prevalence π, it is π times the
mean cost of the positives plus 1 − π times the mean cost of the negatives. `sample_of_means` computes such means and
their covariance. `rocscope.decisions` uses it too. `compare_costs` tests the difference in expected cost between
models.

Two effects would make intervals of a mean cost too narrow. First, if the threshold was chosen on the same rows, its
cost is optimistic. The comparison adds a variance for this optimism (`FOLD_VARIANCE`, `_OPTIMISM_ERROR`). Second, rows
with very large amounts are rare, and the sample may lack them. `ParetoTail` estimates their effect from the largest
amounts in the sample.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import sqrt
from typing import Any, Literal

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array, Booleans
from rocscope._base.contract import contract
from rocscope._base.public_names import reach
from rocscope.core import Campaign, Context, Predictions, independent_units
from rocscope.core.context import costs_of_rows
from rocscope.core.predictions import with_groups
from rocscope.errors import InputError, OneClassError, warn
from rocscope.inference import estimate as inference
from rocscope.inference.proportions import Thresholds, predict
from rocscope.inference.variance import moves_of_mean, stratum_of_moves, stratum_of_sample
from rocscope.sample import rows_of

# Both values were found by simulation (tests/decisions/generalization/generalization_cases.py). With them, intervals of
# cost differences at chosen thresholds have a coverage of 94% or more.
FOLD_VARIANCE = 1.05  # factor for the variance of costs that accounts for the random folds of a cross-validation
_OPTIMISM_ERROR = 0.75  # standard error of the optimism (held-out minus apparent cost), divided by the optimism


@dataclass(frozen=True)
class MeanSample:
    """Means of m columns of values on the same rows, with their covariance.

    Attributes
    ----------
    mean : array of m
        Mean of each column.
    covariance : array of m × m
        Covariance matrix of the means.
    n : float
        Number of rows. If weights are frequencies, the sum of the weights.
    moves : array of u × m
        Influence of each independent unit (row or group) on each mean.
    frequency : array of u
        Number of identical units that each row of `moves` represents.
    note : str
        Description of groups and weights. It is added to the name of a method.
    doubt : str
        Reason why intervals from these rows are not reliable. Empty if they are reliable.
    """

    mean: Array
    covariance: Array
    n: float
    moves: Array
    frequency: Array
    note: str = ""
    doubt: str = ""

    def skewness(self, number: int, second: float = 0.0, third: float = 0.0) -> float:
        """Return the skewness Σm³/(Σm²)^1.5 of the mean in column `number`, where m are the influences of the units.

        For influences that the sample lacks, `second` is added to Σm² and `third` is added to Σm³.
        """
        variance = self._moment(number, 2) + second
        return (self._moment(number, 3) + third) / variance**1.5 if variance else 0.0

    def effective_units(self, number: int, unseen: float = 0.0) -> float:
        """Return the effective number of units that determine a mean's variance: (Σm²)²/Σm⁴ with influences m.

        Parameters
        ----------
        number : int
            Column of the mean.
        unseen : float
            Influence of one additional unit. Used for rare units with a large influence that the sample may lack.
        """
        fourth = self._moment(number, 4) + unseen**4
        if not fourth:
            return float(self.frequency.sum())
        return (self._moment(number, 2) + unseen**2) ** 2 / fourth

    def _moment(self, number: int, power: int) -> float:
        return float(self.frequency @ self.moves[:, number] ** power)


def sample_of_means(
    predictions: Predictions, values: Array, target_prevalence: float | None, groups: Any
) -> MeanSample:
    """Return the weighted mean of each column of values, with the covariance of the means.

    Parameters
    ----------
    predictions : Predictions
        Labels, weights and groups of n rows.
    values : array of n × m
        Values to average.
    target_prevalence : float or None
        Share of positives to which the classes are weighted. None keeps the observed share.
    groups : array of n labels, or False, or None
        Group of each row. None uses the groups of the Predictions.
    """
    positive, weighting = predictions.y_true, predictions.weighting
    weight = np.ones(len(predictions)) if predictions.sample_weight is None else predictions.sample_weight
    frequency = weight if predictions.sample_weight is None else predictions.frequency
    if target_prevalence is None:
        strata = [(np.ones(positive.size, bool), 1.0)]
    else:
        strata = [(positive, target_prevalence), (~positive, 1 - target_prevalence)]

    mean = np.zeros(values.shape[1])
    moves = np.zeros(values.shape)
    covariance = np.zeros((values.shape[1], values.shape[1]))
    for rows, share in strata:
        rows = rows & (weight > 0)  # a row without weight is not a unit
        if not rows.any():
            raise OneClassError("target_prevalence", expected="both classes in the data", got="only one class")
        mean += share * (weight[rows] @ values[rows] / weight[rows].sum())
        moves[rows] = share * moves_of_mean(values[rows], weight[rows])
        covariance += stratum_of_moves(moves[rows], None, None if frequency is None else frequency[rows]).covariance

    unit = independent_units(predictions, groups)
    doubt = "" if predictions.source is None else predictions.source.doubt
    counted = (frequency is not None and weighting is None) or predictions.weight_kind == "expected"
    n = float(weight.sum()) if counted else int((weight > 0).sum())
    if weighting is not None:
        stratum = stratum_of_sample(weighting, moves, weighting.units(unit), frequency is not None, n)
        note = weighting.note if unit is None else f"{stratum.units:g} groups, {weighting.note}"
        doubt = doubt or weighting.doubt
    elif unit is not None:
        stratum = stratum_of_moves(moves, unit)
        note = f"{stratum.units:g} groups"
    elif frequency is not None:
        moves = np.divide(moves, weight[:, None], out=moves, where=weight[:, None] > 0)
        return MeanSample(mean, covariance, n, moves, weight, "", doubt)
    else:
        return MeanSample(mean, covariance, n, moves, np.ones(len(weight)), "sampling weights", doubt)
    units = np.ones(len(stratum.moves)) if stratum.frequency is None else stratum.frequency
    return MeanSample(mean, stratum.covariance, n, stratum.moves, units, note, doubt)


@contract
def compare_costs(
    predictions: Predictions,
    context: Context | Campaign | None = None,
    *,
    thresholds: Thresholds | Literal["cheapest"] | None = None,
    alternative: inference.Alternative = "two-sided",
    test: inference.Test = "difference",
    margin: float = 0.0,
    level: float = 0.95,
    adjust: inference.Adjust = "holm",
    groups: Any = None,
) -> inference.Comparisons:
    """Compare the expected cost per case between each pair of models on the same rows.

    Parameters
    ----------
    predictions : Predictions of two or more models
        Labels, and scores or decisions, of models on the same rows.
    context : Context or Campaign, optional
        Costs and prevalence. By default, each error costs 1, so that the expected cost is the error rate.
    thresholds : "cheapest", float, or mapping from model name to float, optional
        "cheapest" uses the threshold with the lowest cost for each model. The intervals then account for this choice.
        By default, the decisions stored in the Predictions are used if all models have decisions; otherwise "cheapest"
        is used.
    alternative, test, margin, level, adjust
        Hypothesis, confidence level, and adjustment of p-values; see `compare`.
    groups : array of n labels, or False, optional
        Group of each row, such as the patient or customer. By default, the groups of the Predictions. Pass False to
        treat all rows as independent.

    Returns
    -------
    Comparisons
        Expected cost per case of each model, and the differences second − first. A difference is negative if the second
        model is cheaper.

    Raises
    ------
    InputError
        If there are fewer than two models.
    OneClassError
        If the context has a target prevalence, and the data contain only one class.

    Warns
    -----
    RocscopeWarning
        If two models have the same cost on every row. For the interval, one row in favour of each model is then added.

    See Also
    --------
    compare, choose

    Notes
    -----
    The test is a z test of the mean difference in cost per row. At a target prevalence, the mean difference is computed
    in each class, and the two means are weighted to this prevalence.

    A threshold that was chosen on the same rows has a higher cost on new cases, especially if a model has many distinct
    scores. With "cheapest", the estimate of each model is therefore the expected cost of its cheapest threshold on new
    cases, as returned by `rocscope.Decision.interval`. Let v be the variance of the cost difference at the chosen
    thresholds, and let the optimism of a model be its held-out cost minus its apparent cost. The variance of the
    difference is 1.05·v plus (0.75·optimism)² of each model. The factor 1.05 accounts for the random folds.

    Examples
    --------
    >>> preds = Predictions([1, 1, 0, 0] * 10, {"a": [1, 1, 0, 1] * 10, "b": [1, 0, 0, 0] * 10})
    >>> compare_costs(preds, Context(cost_fn=5), thresholds=0.5)["a", "b"].difference
    Estimate(1, 95% CI [0.264, 1.736], n=40; not reliable: only 1.8 rows determine the variance, fewer than 10)
    """
    hypothesis = inference.Hypothesis(alternative, test, margin, level)
    check.check_choice("adjust", adjust, inference.OF_ESTIMATES)
    predictions = rows_of(predictions)
    models = predictions.models
    if len(models) < 2:
        raise InputError("models to compare", expected="two or more models", got=f"{len(models)}")
    context = Context.given(context)

    estimates: Mapping[str, inference.Estimate] | None = None
    optimism = np.zeros(len(models))
    if thresholds is None and not predictions.decisions.keys() >= set(models):
        thresholds = "cheapest"
    if isinstance(thresholds, str):
        check.check_choice("thresholds", thresholds, ("cheapest",))
        rows, choose = with_groups(predictions, groups), reach("choosing").choose
        decisions = {model: choose(rows.select(models=[model]), context) for model in models}
        thresholds = {model: decision.threshold for model, decision in decisions.items()}
        expected = [decision.sampling_model.estimate(level=level, progress=False) for decision in decisions.values()]
        estimates = dict(zip(models, expected, strict=True))
        optimism = np.array([max(estimate.value - estimate.apparent, 0.0) for estimate in expected])

    acted, left = costs_of_rows(predictions.y_true, context, predictions.columns)
    predicted = predict(predictions, thresholds).values()
    cost = np.column_stack([np.where(positive, acted, left) for positive in predicted])
    sample = sample_of_means(predictions, cost, context.target_prevalence, groups)
    if estimates is None:
        extremes = [max(np.max(acted), np.max(left)), min(np.min(acted), np.min(left))]
        estimates = {model: _mean_estimate(sample, i, extremes, hypothesis) for i, model in enumerate(models)}
    else:
        sample = replace(
            sample,
            mean=np.array([estimate.value for estimate in estimates.values()]),
            covariance=FOLD_VARIANCE * sample.covariance + np.diag((_OPTIMISM_ERROR * optimism) ** 2),
            note=inference.joined(sample.note, "thresholds chosen"),
        )
    compare_pair = partial(_compare_pair, sample, cost, models, hypothesis)
    return inference.compare_each_two("expected cost", estimates, sample.covariance, compare_pair, adjust)


def _mean_estimate(
    sample: MeanSample, i: int, extremes: list[float], hypothesis: inference.Hypothesis
) -> inference.Estimate:
    """Return the mean cost of model `i` with a t interval.

    The degrees of freedom are the effective number of units that determine the variance. The interval is marked as
    reliable if this number is large enough after one row with an extreme cost is added.

    Parameters
    ----------
    sample : MeanSample
        Mean costs of the models.
    i : int
        Index of the model.
    extremes : list of float
        Largest and smallest possible cost of a row.
    hypothesis : Hypothesis
        Provides the confidence level.
    """
    value, error = float(sample.mean[i]), sqrt(max(float(sample.covariance[i, i]), 0.0))
    df = max(sample.effective_units(i), float(inference.FEW_INFORMATIVE))
    estimate = hypothesis.wald(value, error, sample.n, inference.joined("t", sample.note), df=df)
    reason = ""
    if error > 0:
        farthest = max(abs(extreme - value) for extreme in extremes)
        units = sample.effective_units(i, farthest / sample.n)
        reason = inference.few(units, inference.FEW_EVENTS, "rows determine the variance")
    return replace(estimate, reason=reason or sample.doubt)


def _compare_pair(
    sample: MeanSample, cost: Array, models: list[str], hypothesis: inference.Hypothesis, i: int, j: int
) -> inference.Comparison:
    covariance = sample.covariance
    variance = float(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j])
    method, error = inference.joined("z, paired", sample.note), sqrt(max(variance, 0.0))
    if np.ptp(cost[:, j] - cost[:, i]) == 0:
        # The variance is 0, but a new row may differ. As Bonett & Price (2012) do for McNemar's test, add one row in
        # favour of each model, with a difference of the range of all costs.
        both = f"{models[i]!r} and {models[j]!r}"
        warn(f"{both} have the same cost on every row; for the interval, one row in favour of each model is added")
        error = np.ptp(cost) * sqrt(2) / (sample.n + 2)
        method += ", one row added for each model"
    difference = hypothesis.wald(float(sample.mean[j] - sample.mean[i]), error, sample.n, method)
    return hypothesis.compare(models[i], models[j], difference, method=method)


# Constants of the tail model. They were found by simulation of means of Pareto (shapes 1.5 to 4), log-normal (σ 0.5 to
# 1.5), gamma (shapes 0.3 to 3), uniform and mixed amounts in 100 to 5,000 rows. With them, 95% intervals cover 93 to
# 99%, and intervals of amounts without a heavy tail are 0 to 20% longer.
_INDEX_ERRORS = 0.75  # standard errors subtracted from the tail index; with 0.5, coverage at shape 1.8 is 90 to 93%
_LARGER_AMOUNTS = 0.5  # number of amounts expected above the largest amount that is considered
_SMALLEST_INDEX = 1.05  # lower bound of the tail index, because the mean is infinite at 1
_LARGEST_INDEX = 20.0  # tail index above which amounts are nearly equal and have no tail
_LEAST_RELIABLE_INDEX = 1.25  # tail index below which coverage is too low: 88 to 94% at shape 1.2


@dataclass(frozen=True)
class ParetoTail:
    """Pareto model of the k = √n largest of n positive amounts.

    Attributes
    ----------
    start : float
        The largest amount that does not belong to the tail.
    number : int
        Number k of amounts in the tail.
    index : float
        Hill's estimate of the tail index: 1 divided by the mean of log(amount/start) over the tail.

    References
    ----------
    Hill 1975, Ann. Stat. 3:1163–1174. Johansson 2003, Extremes 6:91–109 (means with an estimated tail).

    Examples
    --------
    >>> tail = ParetoTail.of(1 / np.linspace(1, 0.01, 100) ** 0.5)
    >>> tail.number, round(tail.index, 2)
    (10, 2.25)
    """

    start: float
    number: int
    index: float

    @classmethod
    def of(cls, amounts: Array) -> "ParetoTail | None":
        """Fit the tail of the positive amounts; return None if they are too few or all nearly equal."""
        ordered = np.sort(amounts[amounts > 0])
        k = int(sqrt(ordered.size))
        if not 0 < k < ordered.size:
            return None
        start = float(ordered[-k - 1])
        mean_log_excess = float(np.log(ordered[-k:] / start).mean())
        if mean_log_excess <= 1 / _LARGEST_INDEX:
            return None
        return cls(start, k, 1 / mean_log_excess)

    @property
    def doubt(self) -> str:
        """Text that the amounts may have no finite mean; empty if the tail index is large enough."""
        if self.index >= _LEAST_RELIABLE_INDEX:
            return ""
        return f"the amounts may have no finite mean (tail index {self.index:.2g})"

    def unseen(self, values: Array, share: float) -> Array:
        """Return the parts of the sums of squares and of absolute cubes of large values that the sample lacks.

        Each part is the sum expected by the tail model minus the sum in the sample, or 0 if this is negative.

        Parameters
        ----------
        values : array
            Costs of the rows. The cost of some rows is the amount at stake; the costs of other rows are smaller.
        share : float
            Share of the amounts that occur among the costs.

        Notes
        -----
        The tail index a is Hill's estimate minus 0.75 of its standard error, which is the estimate divided by √k. The
        expected number of amounts x above u = `start` is share·k. Let T be the amount above which half an amount is
        expected. The expected sum of x^j up to T is share·k·a·u^a·∫ x^(j−1−a) dx from u to T.
        """
        index = max(self.index * (1 - _INDEX_ERRORS / sqrt(self.number)), _SMALLEST_INDEX)
        number = share * self.number
        longest = max(number / _LARGER_AMOUNTS, 1.0) ** (1 / index)  # T/u, from P(x > T) = (u/T)^a
        seen = np.abs(values[np.abs(values) > self.start]) / self.start
        lacking = np.zeros(2)
        for place, power in enumerate((2, 3)):
            exponent = power - index
            # ∫ x^(exponent − 1) dx from 1 to T/u; at exponent 0 its limit, the logarithm.
            integral = (longest**exponent - 1) / exponent if abs(exponent) > 1e-9 else np.log(longest)
            missing = number * index * integral - float((seen**power).sum())
            lacking[place] = max(missing, 0.0) * self.start**power
        return lacking


@dataclass(frozen=True)
class UnseenAmounts:
    """Effect of large amounts that the sample lacks on the moments of m mean costs.

    Attributes
    ----------
    moments : array of m × 2
        Amounts to add to the second and third moment of each mean cost.
    bearing : array of m
        For each mean cost, the number of rows whose cost is at least half of their amount, in the class with the
        smaller number.
    doubt : str
        Text that the amounts may have no finite mean; otherwise empty.

    Examples
    --------
    >>> amounts = 1 / np.linspace(1, 0.01, 100) ** 0.5
    >>> unseen = UnseenAmounts.of(amounts[:, None], amounts, [(np.ones(100, bool), 0.01)])
    >>> unseen.bearing, unseen.moments.round(5)
    (array([100.]), array([[0.00584, 0.00106]]))
    """

    moments: Array
    bearing: Array
    doubt: str = ""

    @classmethod
    def of(cls, values: Array, amounts: Array, classes: Sequence[tuple[Booleans, float]]) -> "UnseenAmounts":
        """Estimate the effect from a Pareto tail that is fitted to the amounts of each class.

        Parameters
        ----------
        values : array of n × m
            Cost of each row in each of the m means.
        amounts : array of n
            Amount at stake in each row.
        classes : sequence of (mask, float)
            Rows of each class, and the weight of each of these rows in a mean.
        """
        moments, bearing, doubt = np.zeros((values.shape[1], 2)), np.full(values.shape[1], np.inf), ""
        for rows, weight in classes:
            tail = ParetoTail.of(amounts[rows])
            if tail is None:
                continue
            at_stake = amounts[rows, None]
            # In the tail, only rows whose cost is at least half of their amount have a large cost.
            bears = (np.abs(values[rows]) >= at_stake / 2) & (at_stake > 0)
            number = bears.sum(axis=0)
            for i, column in enumerate(values[rows].T):
                sign = np.sign(column[bears[:, i]].sum())
                lacking = tail.unseen(column, number[i] / np.count_nonzero(at_stake))
                moments[i] += lacking * [weight**2, sign * weight**3]
            bearing = np.minimum(bearing, number)
            doubt = doubt or tail.doubt
        return cls(moments, bearing, doubt)
