"""Mean costs of models on the same rows, their comparison, and the tail of large amounts.

The expected cost of a model at its thresholds is a mean over rows, or, at a target prevalence π, the mean of both class
means with the weights π and 1 − π. `sample_of_means` returns such means with their covariance; the costs of a choice
(`rocscope.decisions`) use it too. `compare_costs` tests which of several models is cheaper on new cases.

Two things would make intervals of a mean cost too narrow. First, the cost of a threshold that was chosen on the same
rows is optimistic; the comparison adds the variance of this optimism (`FOLD_VARIANCE`, `_OPTIMISM_ERROR`). Second, rows
with large amounts are rare, and the largest may be missing in the sample; `ParetoTail` estimates the missing part from
the largest amounts.
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

# Both by simulation (tests/decisions/generalization/generalization_cases.py): with them, intervals of differences of
# cost at chosen thresholds cover 94% or more.
FOLD_VARIANCE = 1.05  # factor of the variance of costs, for the random folds of a cross-validation
_OPTIMISM_ERROR = 0.75  # standard error of a threshold's optimism (held-out minus apparent cost), as a share of it


@dataclass(frozen=True)
class MeanSample:
    """Means of m values on the same rows, and the m × m covariance of these means.

    Attributes
    ----------
    mean : array of m
    covariance : array of m × m
    n : float
        Number of rows, or the sum of frequencies.
    moves : array of u × m
        Influence of each independent unit on each mean.
    frequency : array of u
        Number of equal units that an entry represents.
    note : str
        Description of the rows, added to the name of a method.
    doubt : str
        Reason why no interval of these rows is reliable; empty if there is none.
    """

    mean: Array
    covariance: Array
    n: float
    moves: Array
    frequency: Array
    note: str = ""
    doubt: str = ""

    def skewness(self, number: int, second: float = 0.0, third: float = 0.0) -> float:
        """Return the skewness Σm³/(Σm²)^1.5 of one mean over units; `second` and `third` are added to the sums."""
        variance = self._moment(number, 2) + second
        return (self._moment(number, 3) + third) / variance**1.5 if variance else 0.0

    def effective_units(self, number: int, unseen: float = 0.0) -> float:
        """Return (Σm²)²/Σm⁴, the number of units with equal influence that gives the same variance.

        Parameters
        ----------
        unseen : float
            Influence of one more unit that the sample may lack. If such a unit is rare and its influence large, the
            variance without it is too small.
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
    """Return the means of the columns of `values`, with classes weighted to a target prevalence."""
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
            raise OneClassError("a target prevalence", expected="both classes", got="one")
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
    """Compare the expected cost per case of models on the same rows: second − first, negative if cheaper.

    Parameters
    ----------
    predictions : Predictions of two or more models
    context : Context, optional
        Prevalence and costs; by default both kinds of errors cost 1, and the cost is the error rate.
    thresholds : "cheapest", float, or mapping from model name to float, optional
        "cheapest" uses the cheapest threshold of each model, and the estimate allows for its choice. By default, the
        decisions of the models if `predictions` contains them for all models, otherwise "cheapest".
    alternative, test, margin, level, adjust : see `compare`
    groups : see `auc_interval`

    Returns
    -------
    Comparisons
        Estimates are costs per case.

    Raises
    ------
    InputError
        If there are fewer than two models.
    OneClassError
        If the context has a target prevalence and a class is missing.

    Warns
    -----
    RocscopeWarning
        If every row has the same cost under two models. The interval then adds one row in favour of each model.

    See Also
    --------
    compare, choose

    Notes
    -----
    The test is a z test of the mean difference in cost per row; with a target prevalence, of the class means.

    Thresholds chosen on the same rows look cheaper than they are, especially for models with many distinct scores. With
    "cheapest", the estimate of each model is the cost of its cheapest threshold on new cases, as returned by
    `rocscope.Decision.interval`. The variance of a
    difference has three parts: the variance of the costs of rows at the chosen thresholds, a twentieth of it for the
    random folds, and the squares of three quarters of the optimism of each model. Optimism is the held-out cost minus
    the apparent cost.

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
        raise InputError("models to compare", expected="two or more", got=f"{len(models)}")
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
    """Return a mean with a t interval. Its degrees of freedom are the effective number of units.

    It is reliable if this number is large enough, also with one more row that costs one of the `extremes`.
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
        # The variance is 0, but the next row may differ: as Bonett & Price (2012) do for McNemar's test, add a row
        # each way, which differs by the range of all costs.
        both = f"{models[i]!r} and {models[j]!r}"
        warn(f"no row costs differently under {both}; the interval adds one row for each model")
        error = np.ptp(cost) * sqrt(2) / (sample.n + 2)
        method += ", one row added for each model"
    difference = hypothesis.wald(float(sample.mean[j] - sample.mean[i]), error, sample.n, method)
    return hypothesis.compare(models[i], models[j], difference, method=method)


# Constants of the tail, by simulation of means of Pareto (shapes 1.5 to 4), log-normal (σ 0.5 to 1.5), gamma (0.3 to
# 3), uniform and mixed amounts in 100 to 5,000 rows: with them, 95% intervals cover 93 to 99%, and are 0 to 20%
# longer where amounts are ordinary.
_INDEX_ERRORS = 0.75  # standard errors subtracted from the index; with 0.5, 90 to 93% are covered at shape 1.8
_LARGER_AMOUNTS = 0.5  # amounts expected above the largest amount that is allowed for
_SMALLEST_INDEX = 1.05  # smaller indices are raised to it: at 1 the mean is infinite
_LARGEST_INDEX = 20.0  # above it amounts are about equal, and have no tail
_LEAST_RELIABLE_INDEX = 1.25  # below it intervals cover too seldom: 88 to 94% with shape 1.2


@dataclass(frozen=True)
class ParetoTail:
    """The tail of positive amounts: the k = √n largest of n amounts, modelled as a Pareto distribution.

    Attributes
    ----------
    start : float
        The largest amount below the tail.
    number : int
        The number k of amounts in the tail.
    index : float
        Hill's estimate: 1 divided by the mean of log(amount/start).

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
        """Return the tail of amounts; None if the largest are nearly equal, or if there are too few."""
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
        """Reason if amounts may have no finite mean; otherwise empty."""
        if self.index >= _LEAST_RELIABLE_INDEX:
            return ""
        return f"amounts may have no mean: tail index {self.index:.2g}"

    def unseen(self, values: Array, share: float) -> Array:
        """Return the expected sums of squares and of absolute cubes minus the sums of the sample; 0 if negative.

        Parameters
        ----------
        values : array
            Values that contain a share of the amounts, and other, smaller values.
        share : float
            Share of the amounts among the values.

        Notes
        -----
        The index a is Hill's estimate minus 0.75 of its standard errors a/√k. The expected number of amounts x above
        u = start is share·k. Up to T, above which half an amount is expected, the sum of x^j is
        share·k·a·u^a·∫ x^(j−1−a) dx from u to T.
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
    """What large amounts that a sample lacks would add to the moments of mean costs.

    Attributes
    ----------
    moments : array of m × 2
        Additions to the second and third moment of each mean.
    bearing : array of m
        Rows that bear amounts in each mean, in the class where they are fewest.
    doubt : str
        That amounts may have no mean; empty where they have.

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
        """Return the additions from a Pareto tail that is fitted to the amounts of each class.

        Parameters
        ----------
        values : array of n × m
            Costs of each row in each mean.
        amounts : array of n
            The amount at stake in each row.
        classes : sequence of (rows, weight of each of them in a mean)
        """
        moments, bearing, doubt = np.zeros((values.shape[1], 2)), np.full(values.shape[1], np.inf), ""
        for rows, weight in classes:
            tail = ParetoTail.of(amounts[rows])
            if tail is None:
                continue
            at_stake = amounts[rows, None]
            # Only rows whose cost is at least half of their amount would have a large cost in the tail.
            bears = (np.abs(values[rows]) >= at_stake / 2) & (at_stake > 0)
            number = bears.sum(axis=0)
            for i, column in enumerate(values[rows].T):
                sign = np.sign(column[bears[:, i]].sum())
                lacking = tail.unseen(column, number[i] / np.count_nonzero(at_stake))
                moments[i] += lacking * [weight**2, sign * weight**3]
            bearing = np.minimum(bearing, number)
            doubt = doubt or tail.doubt
        return cls(moments, bearing, doubt)
