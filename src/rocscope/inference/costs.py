"""Compare costs and row means of models at their thresholds, at any prevalence, with tests and intervals."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope._base.grouping import sum_by
from rocscope._base.registry import reach
from rocscope.core.context import Context
from rocscope.core.predictions import Predictions, with_groups
from rocscope.core.row_costs import costs_of_rows
from rocscope.core.rows import independent_units
from rocscope.curves.profit_curve import Campaign
from rocscope.errors import InputError, OneClassError, warn
from rocscope.inference.error_rates import Thresholds, predict
from rocscope.inference.estimate import Comparison, Comparisons, Estimate
from rocscope.inference.hypothesis import OF_ESTIMATES, Adjust, Alternative, Hypothesis, Test, compare_each_two
from rocscope.inference.influence.units import WEIGHTS, WeightKind, is_frequency, stratum_of_sample, times_of
from rocscope.inference.reliability import FEW_EVENTS, FEW_INFORMATIVE, few
from rocscope.sample import rows_of

OF_FOLDS, _ERROR_OF_CHOICE = 1.05, 0.75
"""Of the variance of costs, for random folds, and of the optimism of a threshold, for its choice. By simulation:
with these, intervals of differences cover 94 % or more (tests/decisions/generalization/generalization_cases.py)."""


@dataclass(frozen=True)
class MeanSample:
    """Means of m values on the same rows, and the m × m covariance of these means.

    `moves` says how far each independent unit moves each mean, `times` how many equal units it stands for, and `doubt`
    why intervals are not to be trusted, whatever the rows show.
    """

    mean: Array
    covariance: Array
    n: float
    moves: Array
    times: Array
    note: str = ""
    doubt: str = ""

    def skewness(self, number: int, second: float = 0.0, third: float = 0.0) -> float:
        """Return the skewness of one mean: that of its units by the root of their number; moments may be added."""
        variance = self._moment(number, 2) + second
        return (self._moment(number, 3) + third) / variance**1.5 if variance else 0.0

    def worth(self, number: int, unseen: float = 0.0) -> float:
        """Return the effective number of units: how many with equal influence would give the same variance.

        Parameters
        ----------
        unseen : float
            Influence of one more unit, which might have been drawn: where it is rare and large, the variance without
            it says too little.
        """
        fourth = self._moment(number, 4) + unseen**4
        return (self._moment(number, 2) + unseen**2) ** 2 / fourth if fourth else float(self.times.sum())

    def _moment(self, number: int, power: int) -> float:
        return float(self.times @ self.moves[:, number] ** power)


def sample_of_means(
    predictions: Predictions, values: Array, target_prevalence: float | None, groups: Any, weights: WeightKind
) -> MeanSample:
    """Return the means of the columns of `values`, with classes weighted to a target prevalence."""
    check.check_choice("weights", weights, WEIGHTS)
    weight = np.ones(len(predictions)) if predictions.sample_weight is None else predictions.sample_weight
    weighting = predictions.weighting
    columns = predictions.y_true, *predictions.scores.values()
    frequency = is_frequency(weight, weights, *columns) if weighting is None else False
    parts = [(np.ones(len(predictions), bool), 1.0)]
    if target_prevalence is not None:
        parts = [(predictions.y_true, target_prevalence), (~predictions.y_true, 1 - target_prevalence)]
    mean = np.zeros(values.shape[1])
    covariance = np.zeros((values.shape[1],) * 2)
    influence = np.zeros(values.shape)
    for rows, share in parts:
        total = weight[rows].sum()
        if not total:
            raise OneClassError("a target prevalence", expected="both classes", got="one")
        centre = weight[rows] @ values[rows] / total
        mean += share * centre
        influence[rows] = share / total * (values[rows] - centre)
        covariance += _covariance(influence[rows], weight[rows], frequency)
    n = float(weight.sum()) if frequency else int((weight > 0).sum())
    unit = independent_units(predictions, groups)
    doubt = "" if predictions.source is None else predictions.source.doubt
    if weighting is not None:
        whole = times_of(None, weighting, weights, *columns) is not None
        found = stratum_of_sample(weighting, influence * weight[:, None], weighting.units(unit), whole, n)
        times = np.ones(len(found.moves)) if found.times is None else found.times
        note = ", ".join([*([] if unit is None else [f"{found.units:g} groups"]), weighting.note])
        return MeanSample(mean, found.covariance, n, found.moves, times, note, doubt)
    if unit is None:
        moves, times = (influence, weight) if frequency else (influence * weight[:, None], np.ones(len(weight)))
        return MeanSample(mean, covariance, n, moves, times, "" if frequency else "sampling weights", doubt)
    sums = sum_by(unit, influence * weight[:, None], int(unit.max()) + 1)
    held = len(sums)
    scale = held / (held - 1) if held > 1 else np.nan
    return MeanSample(mean, scale * (sums.T @ sums), n, sums, np.ones(held), f"{held} groups", doubt)


def _covariance(influence: Array, weight: Array, frequency: bool) -> Array:
    """Return the covariance of a sum of influences over rows, which weights may repeat."""
    rows = weight.sum() if frequency else (weight > 0).sum()
    factor = weight if frequency else weight**2
    scale = rows / (rows - 1) if rows > 1 else np.nan
    return scale * ((influence.T * factor) @ influence)


@contract
def compare_costs(
    predictions: Predictions,
    context: Context | Campaign | None = None,
    *,
    thresholds: Thresholds | Literal["cheapest"] | None = None,
    alternative: Alternative = "two-sided",
    test: Test = "difference",
    margin: float = 0.0,
    level: float = 0.95,
    adjust: Adjust = "holm",
    groups: Any = None,
    weights: WeightKind = "auto",
) -> Comparisons:
    """Compare the expected cost per case of models on the same rows: second − first, negative if cheaper.

    Parameters
    ----------
    predictions : Predictions of two or more models
    context : Context, optional
        Prevalence and costs; by default errors of both kinds cost 1, so that cost is the error rate.
    thresholds : "cheapest", float, or mapping from model name to float, optional
        "cheapest": that of each model, whatever it is; the estimate then allows for its being chosen. By default the
        models are taken as they decide themselves, if predictions hold the decisions of all, and else at the cheapest.
    alternative, test, margin, level, adjust : see `compare`
    groups, weights : see `auc_interval`

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
        Where no row costs differently under the two models: the interval then allows for one row each way.

    Notes
    -----
    z test of the mean of the rows' differences in cost; at a target prevalence, of the two class means.

    Thresholds that were chosen on the same rows look cheaper than they are, most of all those of a model with many
    levels. Where none are given, the estimate of each model is that of its cheapest threshold on new cases, as
    `rocscope.Decision.interval` of a choice among the thresholds of that model returns it. The variance of a difference
    is that of the rows' costs at the chosen thresholds, plus a twentieth for the random folds, plus the squares of
    three quarters of the optimism of both (held-out minus apparent cost).

    Examples
    --------
    >>> preds = Predictions([1, 1, 0, 0] * 10, {"a": [1, 1, 0, 1] * 10, "b": [1, 0, 0, 0] * 10})
    >>> compare_costs(preds, Context(cost_fn=5), thresholds=0.5)["a", "b"].difference
    Estimate(1, 95 % interval 0.264 to 1.736, z, paired, n=40)
    """
    hypothesis = Hypothesis(alternative, test, margin, level)
    check.check_choice("adjust", adjust, OF_ESTIMATES)
    predictions = rows_of(predictions)
    if len(predictions.models) < 2:
        raise InputError("models to compare", expected="two or more", got=f"{len(predictions.models)}")
    context = Context.given(context)

    acted, left = costs_of_rows(predictions.y_true, context, predictions.columns)

    def costs(predicted: Mapping[str, NDArray[np.bool_]]) -> Array:
        return np.column_stack([np.where(positive, acted, left) for positive in predicted.values()])

    def means(cost: Array) -> MeanSample:
        return sample_of_means(predictions, cost, context.target_prevalence, groups, weights)

    if thresholds is None and not predictions.decisions.keys() >= set(predictions.models):
        thresholds = "cheapest"
    if isinstance(thresholds, str):
        check.check_choice("thresholds", thresholds, ("cheapest",))
        decisions, estimates = _each_chosen(predictions, context, groups, weights, level)
        cost = costs(predict(predictions, {name: each.threshold for name, each in decisions.items()}))
        sample = means(cost)
        mean = np.array([each.value for each in estimates.values()])
        optimism = np.maximum(mean - [each.apparent for each in estimates.values()], 0)
        covariance = OF_FOLDS * sample.covariance + np.diag((_ERROR_OF_CHOICE * optimism) ** 2)
        sample = replace(sample, mean=mean, covariance=covariance, note=_joined(sample.note, "thresholds chosen"))
    else:
        cost = costs(predict(predictions, thresholds))
        sample = means(cost)
        most = float(max(np.max(each) for each in (acted, left))), float(min(np.min(each) for each in (acted, left)))
        estimates = {name: _mean(sample, i, most, hypothesis) for i, name in enumerate(predictions.models)}
    names, covariance = predictions.models, sample.covariance
    compare = partial(_compare, sample, cost, names, hypothesis)
    return compare_each_two("expected cost", estimates, covariance, compare, adjust)


def _mean(sample: MeanSample, i: int, extremes: tuple[float, float], hypothesis: Hypothesis) -> Estimate:
    """Return a mean with an interval by t: its variance is as sure as that of so many rows that move it alike.

    With one row more that costs one of the `extremes` of all rows, it must still be that of enough.
    """
    value, error = float(sample.mean[i]), sqrt(max(float(sample.covariance[i, i]), 0.0))
    df = max(sample.worth(i), float(FEW_INFORMATIVE))
    found = hypothesis.wald(value, error, sample.n, _method("t", sample), df=df)
    worth = sample.worth(i, max(abs(each - value) for each in extremes) / sample.n)
    reason = few(worth, FEW_EVENTS, "rows make up the variance") if error > 0 else ""
    return replace(found, reason=reason or sample.doubt)


def _each_chosen(
    predictions: Predictions, context: Context, groups: Any, weights: WeightKind, level: float
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the best threshold of each model, and its expected cost on new cases."""
    predictions = with_groups(predictions, groups)
    chosen = {name: reach("choices").choose(predictions.select(models=[name]), context) for name in predictions.models}
    return chosen, {
        name: each.sampling_model.estimate(level=level, weights=weights, progress=False)
        for name, each in chosen.items()
    }


def _compare(sample: MeanSample, cost: Array, names: list[str], hypothesis: Hypothesis, i: int, j: int) -> Comparison:
    covariance = sample.covariance
    variance = float(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j])
    method, error = _method("z, paired", sample), sqrt(max(variance, 0.0))
    if np.ptp(cost[:, j] - cost[:, i]) == 0:
        warn(f"no row costs differently under {names[i]!r} and {names[j]!r}; the interval allows for one row each way")
        error = np.ptp(cost) * sqrt(2) / (sample.n + 2)
        method += ", one row added each way"
    difference = hypothesis.wald(float(sample.mean[j] - sample.mean[i]), error, sample.n, method)
    return hypothesis.compare(names[i], names[j], difference, method=method)


def _method(name: str, sample: MeanSample) -> str:
    return _joined(name, sample.note)


def _joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)
