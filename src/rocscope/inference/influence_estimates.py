"""Confidence intervals and tests of smooth statistics by influence functions, with weights, groups and folds.

To first order, the estimate of a smooth statistic equals the true value plus the mean of the influences of all rows.
`Linear` of `rocscope.figures.influence` contains the influence of a positive and of a negative at each distinct score.
`values_of_rows` sums the influences within independent units, such as groups. The sums of all units determine the
covariance of the values of several models; see `rocscope.inference.variance`.

`estimate_value` computes the interval from the variance. The method depends on the statistic:

- A proportion of cases, such as the tpr at a threshold, has Wilson's interval. The number of trials is the number of
  independent cases that gives the same variance (`Trials`).
- Other metrics of tp, fp, fn and tn, such as Youden's J, have an interval with half a row added to each of the four
  counts (`Smoothed`).
- All other statistics, such as the Brier score, have an interval that is symmetric on an unbounded scale (`Scale`). The
  t quantile has degrees of freedom from the kurtosis of the influences.

For groups, a jackknife replaces the first-order influences of some statistics (`_jackknifed`).

The file is in this order: values and their variance, `estimate_of` and intervals, comparisons.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import hypot, inf, isfinite, isnan, nan, sqrt
from typing import Any

import numpy as np

from rocscope._base import special, validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import PASS_PREDICTIONS, contract
from rocscope.core import Predictions, ThresholdCounts, independent_units, require_kinds
from rocscope.errors import InputError
from rocscope.figures.influence import PLAIN, SHARE, Linear, Scale, Smooth, Smoothed
from rocscope.figures.registry import scorer_name, statistic_named
from rocscope.inference import estimate as inference
from rocscope.inference.areas import auc_interval
from rocscope.inference.proportions import mover_difference, wilson_interval
from rocscope.inference.variance import OverFolds, RowLevels, Stratum, Units, rows_for, units_of
from rocscope.sample import Models, Sample, Samples, sample_of

_ROUNDING = 1e-12  # relative tolerance for rounding errors of a variance of 0, or of the weight of a class without rows
_MANY = 1e12  # number of rows for which half an added row makes no difference
_LEAST_SQUARES = 1e-300  # least sum of squared weights, to avoid division by 0

# Largest product of groups and distinct scores for which the jackknife is used. Larger ones take some seconds, and
# first-order influences are accurate for this number of groups.
_MOST_LEFT_OUT = 4_000_000


# Values and their variance


@dataclass(frozen=True)
class Trials:
    """Denominator of a proportion of cases.

    Attributes
    ----------
    rows : float
        Number of rows in the denominator.
    effective_cases : float
        Upper bound of the number of independent cases in the denominator.
    binomial : bool
        True if the proportion has a binomial distribution.
    place_error : float
        Standard error of the x value at which the proportion is read from a curve. 0 if the x value is fixed.
    of_probabilities : bool
        True if rows have probabilities instead of labels. The variance may then be smaller than the binomial variance.
    """

    rows: float
    effective_cases: float
    binomial: bool = False
    place_error: float = 0.0
    of_probabilities: bool = False


@dataclass(frozen=True)
class Values:
    """Values of a statistic for m models, with the influences from which their covariance is computed.

    Attributes
    ----------
    models : tuple of m str
        Names of the models.
    values : array of m
        Value of the statistic for each model.
    stratum : Stratum
        Influence of each independent unit (row or group) on each value.
    n : float
        Number of rows. If weights are frequencies, the sum of the weights.
    note : str
        Description of groups, weights and folds. It is added to the name of a method.
    trials : tuple of m (Trials or None)
        Denominators, if the statistic is a proportion of cases.
    linear : tuple of m Linear
        The statistic of each model to first order. Empty for means over folds.
    rows_of_class : (float, float)
        Effective numbers of positives and negatives. For groups, the numbers of groups with positives and negatives.
    statistic : Smooth, optional
        The statistic.
    shortage : str
        Reason why intervals are not reliable, other than too few rows or groups. Empty if there is no such reason.
    grouped : bool
        True if the units are groups of rows.
    units_beyond : float
        For a part of a curve of grouped or weighted rows, the effective number of groups or rows outside the part.
    """

    models: tuple[str, ...]
    values: Array
    stratum: Stratum
    n: float
    note: str
    trials: tuple[Trials | None, ...] = ()
    linear: tuple[Linear, ...] = ()
    rows_of_class: tuple[float, float] = (inf, inf)
    statistic: Smooth | None = None
    shortage: str = ""
    grouped: bool = False
    units_beyond: float = inf

    @property
    def few_groups(self) -> str:
        """Text that there are too few groups; empty if there are enough groups, or if rows are not grouped."""
        return inference.few_groups(self.stratum.effective_units) if self.grouped else ""

    @property
    def rows_beyond(self) -> float:
        """Number of rows or groups of the smaller class. For a part of a curve, the number outside the part."""
        pos, neg = self.rows_of_class
        if self.grouped or self.units_beyond < inf:
            return min(pos, neg, self.units_beyond)
        of_pos, of_neg = (1.0, 1.0) if self.statistic is None else self.statistic.tail
        return round(min(pos * of_pos, neg * of_neg), 9)  # 40 rows have 4 beyond 1 − 0.9

    @property
    def reason(self) -> str:
        """Reason why intervals from these rows are not reliable; empty if they are reliable."""
        units, least = "rows", inference.FEW_BEYOND
        if self.grouped:
            units, least = "groups", inference.FEW_GROUPS_BEYOND
        return (
            self.few_groups
            or inference.few(min(self.rows_of_class), inference.FEW_ROWS, "rows of a class")
            or inference.few(self.rows_beyond, least, f"{units} expected above the threshold")
            or self.shortage
        )

    @property
    def covariance(self) -> Array:
        """Covariance matrix of the m values."""
        return self.stratum.covariance

    def df(self, i: int, rows: float) -> float:
        """Return the degrees of freedom of the variance of value `i`, given the number of rows that determine it."""
        # For groups, half of the degrees of freedom are used, because groups may have unequal sizes. With all degrees
        # of freedom, 95% intervals covered 91% in samples whose groups happened to have similar influences (12 to 60
        # lognormal groups), and 93% with half of them.
        df = self.stratum.effective_df / (2 if self.grouped else 1)
        informative = self.stratum.informative_units(self.stratum.moves[:, i])
        return min(max(min(df, informative), inference.FEW_INFORMATIVE), max(rows - 1, 1.0))


def values_of(data: Sample, statistic: Smooth, *, groups: Any, folds: OverFolds | None) -> Values:
    """Return the value of a statistic for one model, with its influences. With folds, return the mean over folds."""
    rows = rows_for(data, groups, folds)
    if rows is None:
        shortage = require_kinds("an estimate from counts", data.counts)
        return replace(_values_of_counts(data.counts, statistic), shortage=shortage)
    weighted = rows.sample_weight is not None or rows.weighting is not None
    if folds is None and not weighted and rows.fold is None and independent_units(rows, groups) is None:
        return _values_of_counts(data.counts, statistic)  # faster than rows, with equal results
    return values_of_rows(rows, statistic, groups=groups, folds=folds)


def _values_of_counts(counts: ThresholdCounts, statistic: Smooth) -> Values:
    linear = statistic.linearise(counts)
    n, frequency = counts.n, np.concatenate([counts.pos, counts.neg])

    def stratum_of(of_pos: Array, of_neg: Array) -> Stratum:
        return Stratum(np.concatenate([of_pos, of_neg])[:, None] / n, frequency, n, n - 1, n)

    trials = None
    if linear.trials is not None:
        of_pos, of_neg = linear.trials
        rows = float(counts.pos @ of_pos + counts.neg @ of_neg)
        place_error = 0.0
        if linear.place is not None:
            place_error = sqrt(stratum_of(linear.place.of_pos, linear.place.of_neg).variance(0))
        trials = Trials(rows, rows, linear.exact, place_error)
    stratum = stratum_of(linear.of_pos, linear.of_neg)
    rows_of_class = float(counts.n_pos), float(counts.n_neg)
    values = np.array([linear.value])
    return Values(("score",), values, stratum, n, "", (trials,), (linear,), rows_of_class, statistic)


def values_of_rows(rows: Predictions, statistic: Smooth, *, groups: Any, folds: OverFolds | None) -> Values:
    """Return the value of a statistic for each model on the same rows, with the influences of the rows.

    Parameters
    ----------
    rows : Predictions
        Labels and scores of m models.
    statistic : Smooth
        The statistic.
    groups : array of n labels, or False, optional
        Group of each row. By default, the groups of the Predictions.
    folds : {"pooled", "mean"}, optional
        "mean" computes the mean over folds.
    """
    units = units_of(rows, groups=groups, folds=folds)
    trials: list[Trials | None] = []
    linear: list[Linear] = []
    if units.fold is None:
        linear, levels = _linearise(units, statistic)
        values = np.array([part.value for part in linear])
        influence = _influence_of_rows(linear, levels)
        trials = [_trials(units, *part) for part in zip(linear, levels, strict=True)]
        stratum = _stratum(units, influence)
        if units.group is not None and units.weighting is None:
            stratum, linear = _jackknifed(units, statistic, stratum, linear, levels)
    else:
        influence = np.empty((units.positive.size, len(units.scores)))
        values_of_folds = []
        for mask, fold in units.folds():
            of_fold, levels = _linearise(fold, statistic)
            influence[mask] = _influence_of_rows(of_fold, levels)
            values_of_folds.append([part.value for part in of_fold])
        values = np.mean(values_of_folds, axis=0)
        stratum = _stratum(units, influence)
    models, sizes, grouped = tuple(units.scores), _rows_of_class(units), units.group is not None
    facts = tuple(trials), tuple(linear), sizes, statistic, "" if units.weighting is None else units.weighting.doubt
    facts = *facts, grouped, _units_beyond(units, statistic.tail)
    return Values(models, values, stratum, units.n, units.note, *facts)


def _linearise(units: Units, statistic: Smooth) -> tuple[list[Linear], list[RowLevels]]:
    """Return the statistic of each model to first order, and the distinct scores of each model with their rows."""
    levels = [RowLevels.of(units.positive, score) for score in units.scores.values()]
    weight = units.row_weights
    return [statistic.linearise(ThresholdCounts(part.threshold, *part.counts(weight))) for part in levels], levels


def _influence_of_rows(linear: Sequence[Linear], levels: Sequence[RowLevels]) -> Array:
    columns = [ranked.to_rows(part.of_pos, part.of_neg) for part, ranked in zip(linear, levels, strict=True)]
    return np.column_stack(columns)


def _stratum(units: Units, influence: Array) -> Stratum:
    """Return all rows or groups as one stratum, given the influence of each row on m values."""
    influence = influence * units.leave_one_out_factor()[:, None]
    everything = slice(None)
    if units.weighting is not None:
        return units.stratum_of_all(influence * units.share(everything)[:, None])
    if units.group is None:
        return units.stratum_of_rows(influence, everything)
    return units.stratum_of_groups(influence, everything)


def _rows_of_class(units: Units) -> tuple[float, float]:
    """Return Kish's effective number of rows of each class. For groups, return the number of groups with the class."""
    if units.group is not None:
        return units.groups_of_class()
    sizes = []
    for rows in units.classes:
        weight = units.row_weights[rows].astype(np.float64)
        of_one_row = weight if units.frequency is None else weight / units.frequency[rows]
        sizes.append(float(weight.sum() ** 2 / (weight @ of_one_row or nan)))
    return sizes[0], sizes[1]


def _units_beyond(units: Units, tail: tuple[float, float]) -> float:
    """Return the effective number of groups, or of weighted rows, outside a part of a curve.

    These are the positives with the lowest scores, or the negatives with the highest scores. For groups, the result is
    Kish's (Σw)²/Σw² for the weights w of the groups. It is close to the number of rows if the groups hardly matter, and
    to the number of groups times the share outside the part if all rows of a group have similar scores. For weighted
    rows, the result is their weight divided by Σw²/Σw, where w are the weights of the rows of both classes with these
    scores: a class may lack rows of a large weight that the other class has. The smallest result of all models counts.
    It is infinite for rows that are not grouped and have equal weights or frequencies.
    """
    smallest = inf
    if units.group is None and (units.weight is None or units.frequency is not None):
        return smallest
    for score in units.scores.values():
        positives, negatives = (rows[np.argsort(score[rows], kind="stable")] for rows in units.classes)
        for rows, share, is_low in ((positives, tail[0], True), (negatives[::-1], tail[1], False)):
            if share == 1:
                continue
            reached = np.cumsum(units.row_weights[rows])
            last = np.searchsorted(reached, share * reached[-1])
            if units.group is None:
                end = score[rows[last]]
                weight = units.row_weights[score <= end if is_low else score >= end]
                total = share * reached[-1]
            else:
                beyond = rows[: last + 1]
                weight = np.bincount(units.group[beyond], units.row_weights[beyond])
                total = weight.sum()
            smallest = min(smallest, float(total * weight.sum() / (weight @ weight)))
    return smallest


def _trials(units: Units, linear: Linear, levels: RowLevels) -> Trials | None:
    """Return the denominator of a proportion; None if the statistic is not a proportion.

    The number of independent cases of grouped rows is the number of groups in the denominator.
    """
    if linear.trials is None:
        return None
    counted = levels.to_rows(*linear.trials) > 0
    place_error = 0.0
    if linear.place is not None:
        influence = levels.to_rows(linear.place.of_pos, linear.place.of_neg)
        place_error = sqrt(_stratum(units, influence[:, None]).variance(0))
    rows = float(counted.sum())
    if units.group is not None:
        return Trials(rows, float(np.unique(units.group[counted]).size), place_error=place_error)
    if units.frequency is not None:
        rows = float(units.frequency[counted].sum())
    elif units.weight is not None:
        weight = units.weight[counted]
        kish = float(weight.sum()) ** 2 / max(float(weight @ weight), _LEAST_SQUARES)
        if units.weighting is not None and units.weighting.kind == "expected":
            return Trials(float(weight.sum()), kish, place_error=place_error, of_probabilities=True)
        return Trials(rows, kish, place_error=place_error)
    return Trials(rows, rows, units.weighting is None and linear.exact, place_error)


def _jackknifed(
    units: Units, statistic: Smooth, stratum: Stratum, linear: list[Linear], levels: list[RowLevels]
) -> tuple[Stratum, list[Linear]]:
    """Replace first-order influences by influences from a jackknife that omits one group at a time.

    Return the stratum with these influences, and the first-order forms with the jackknife estimate of bias.

    Notes
    -----
    The jackknife is used for metrics of tp, fp, fn and tn, and for means over pairs of rows. With few groups of unequal
    size, first-order influences of these statistics are too small, and their bias is not negligible. Let θ₋ⱼ be the
    value without group j of u groups, mⱼ the share of the weight in group j, and g the scale of the interval. The
    influence of the group on g(θ) is (1 − 1/u)(g(θ) − g(θ₋ⱼ)), as in CR3. The bias is −Σ(1 − mⱼ)(g(θ) − g(θ₋ⱼ)).
    First-order influences are used if the value without some group is undefined. They are also used for metrics whose
    threshold depends on the rows, because such a threshold jumps if a group is omitted.

    References
    ----------
    Busing, Meijer & van der Leeden 1999, Stat. Comput. 9:3–8 (delete-m jackknife for groups of unequal size).
    """
    group, weight, scale = units.group, units.row_weights, statistic.scale
    if group is None or units.n_groups * max(ranked.threshold.size for ranked in levels) > _MOST_LEFT_OUT:
        return stratum, linear
    rows_of_group = np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group))[:-1])
    rest = 1 - np.bincount(group, weight) / weight.sum()
    moves, with_bias = stratum.moves.copy(), list(linear)
    for model, (part, ranked) in enumerate(zip(linear, levels, strict=True)):
        # First-order moves of shares of cases are exact.
        suits = part.trials is None and (statistic.of_pairs or part.smoothed is not None)
        if not suits or not scale.low < part.value < scale.high:
            continue
        counts = ranked.counts(weight)
        left_out = [_value_without(rows, ranked, counts, weight, statistic) for rows in rows_of_group]
        if not all(scale.low < value < scale.high for value in left_out):  # NaN fails too
            continue
        moved = (scale.to(part.value) - np.array([scale.to(value) for value in left_out])) / scale.slope(part.value)
        with_bias[model] = replace(part, bias=-float(rest @ moved) * units.n)
        moves[:, model] = (1 - 1 / moved.size) * (moved - np.average(moved, weights=rest))
    return replace(stratum, moves=moves), with_bias


def _value_without(
    rows: Array, levels: RowLevels, counts: tuple[Array, Array], weight: Array, statistic: Smooth
) -> float:
    """Return the statistic after some rows are omitted; NaN if the remaining rows have only one class."""
    kept = []
    for total, removed in zip(counts, levels.take(rows).counts(weight[rows]), strict=True):
        left = np.maximum(total - removed, 0)  # weights are rounded
        if not left.sum() > _ROUNDING * total.sum():
            return nan
        kept.append(left)
    return statistic(ThresholdCounts(levels.threshold, *kept))


# Intervals


@contract
def estimate_of(
    data: Models,
    statistic: str | Smooth,
    *,
    model: str | None = None,
    level: float = 0.95,
    groups: Any = None,
    folds: OverFolds | None = None,
) -> inference.Estimate:
    """Estimate a metric or another smooth statistic, with a closed-form confidence interval.

    Parameters
    ----------
    data : data of one model
        Predictions, ThresholdCounts, an OperatingPoint, BinnedCounts or a CountsSketch; see `rocscope.sample`.
    statistic : str or Smooth
        Name of a metric such as "brier", or a statistic of `rocscope.inference.statistics`.
    model : str, optional
        Name of the model. By default, the only model of `data`.
    level : float
        Confidence level, between 0 and 1.
    groups : array of n labels, or False, optional
        Group of each row, such as the patient or customer. Rows of one group may be dependent. By default, the groups
        of the Predictions. Pass False to treat all rows as independent.
    folds : {"pooled", "mean"}, optional
        "pooled" (default) estimates one value from the rows of all folds. "mean" estimates the mean of the values of
        the folds.

    Returns
    -------
    Estimate
        The value with its interval. If `reliable` is False, `reason` states why.

    Raises
    ------
    InputError
        If `statistic` is unknown, or if no closed-form interval is available for it.

    See Also
    --------
    bootstrap, auc_interval

    Notes
    -----
    The influence of a row is the first-order change of the statistic if the row gets more weight. The variance of the
    statistic is the mean of the squared influences divided by n. For groups, the influences of the rows of each group
    are summed first. With weights, influences are computed by omitting one row at a time. The interval depends on the
    statistic:

    - Proportions of cases at a threshold, such as the tpr, and rates at a given rate, such as the tpr at an fpr of 0.1,
      have Wilson's interval. Its number of trials is the number for which a proportion has this variance.
    - Odds ratios, likelihood ratios and Youden's J have the MOVER interval from Jeffreys limits of tpr and fpr.
    - Other metrics of tp, fp, fn and tn have an interval with half a row added to each of the four counts. For groups,
      the variance is estimated by a jackknife that omits one group at a time.
    - All other statistics have an interval that is symmetric on an unbounded scale: logit for proportions, logarithm
      for ratios, Fisher's z for values from −1 to 1. The t quantile has 2n/(kurtosis − 1) degrees of freedom, the size
      of a normal sample whose variance is estimated equally precisely. The interval of the average precision includes
      a correction for bias.

    The AUC has the interval of `auc_interval`.

    References
    ----------
    Hampel 1974, J. Am. Stat. Assoc. 69:383–393; van der Vaart 1998, Asymptotic Statistics, ch. 20.

    Examples
    --------
    >>> from rocscope.inference import statistics
    >>> preds = Predictions([1, 1, 0, 1, 0, 0] * 20, [0.9, 0.7, 0.6, 0.4, 0.3, 0.1] * 20)
    >>> estimate_of(preds, statistics.brier())
    Estimate(0.1533, 95% CI [0.1278, 0.1829], n=120)
    """
    level = check.check_level(level)
    statistic = scorer_name(statistic)
    smooth = statistic_named(statistic)[1] if isinstance(statistic, str) else statistic
    if not isinstance(smooth, Smooth):
        hint = "call rocscope.bootstrap for your own function of ThresholdCounts"
        if not isinstance(statistic, str) and hasattr(statistic, "__len__"):  # the scores, after the labels
            hint = PASS_PREDICTIONS
        expected = "the name of a metric or one of rocscope.inference.statistics"
        raise InputError("statistic", expected=expected, got=check.shown(statistic), hint=hint)
    if smooth.is_area:
        return auc_interval(data, model=model, level=level, groups=groups, folds=folds)
    sample = values_of(sample_of(data, model=model), smooth, groups=groups, folds=folds)
    return estimate_value(sample, 0, level, smooth.scale)


def estimate_value(sample: Values, i: int, level: float, scale: Scale) -> inference.Estimate:
    """Return the value of model `i` with its interval.

    Parameters
    ----------
    sample : Values
        Values of the models with their influences.
    i : int
        Index of the model.
    level : float
        Confidence level.
    scale : Scale
        Scale on which the interval is symmetric, with the smallest and the largest value of the statistic.
    """
    trials = sample.trials[i] if sample.trials else None
    if trials is not None:
        return _estimate_share(sample, i, level, trials)
    value, error = float(sample.values[i]), sqrt(max(float(sample.covariance[i, i]), 0.0))
    varies = error > _ROUNDING * abs(value)
    inside = scale.low < value < scale.high
    linear = sample.linear[i] if sample.linear else Linear(value, np.empty(0), np.empty(0))
    # The interval with half a row added assumes that both rates are independent, which is not true for groups. On the
    # plain scale the statistic is unbounded, so a symmetric interval cannot exceed its range.
    symmetric = varies and (scale is PLAIN or (sample.grouped and inside))
    if linear.smoothed is not None and not symmetric:
        return _estimate_of_counts(sample, i, value, error if varies else nan, level, scale, linear.smoothed)
    method = inference.joined("influence", scale.name, sample.note)
    if not (varies and inside):
        reason = linear.reason or ("the value is undefined in these rows" if isnan(value) else "the variance is 0")
        return inference.Estimate(value, nan, nan, level, method, sample.n, nan, reason)

    bias = linear.bias / (sample.n if sample.grouped else sample.stratum.effective_units)
    centre = max(value - bias, (value + scale.low) / 2)
    spread = hypot(error, bias)  # the bias itself is uncertain, by about its own size
    df = sample.df(i, sample.rows_beyond)
    low, high = scale.around(centre, inference.t_quantile(inference.normal_quantile(level), df) * spread)
    low, high = min(low, value), max(high, value)
    # The degrees of freedom of a part of a curve already account for the few rows that determine it.
    is_part = sample.rows_beyond < min(sample.rows_of_class)
    reason = "" if is_part else _few_informative(sample.stratum.informative_units(sample.stratum.moves[:, i]))
    reason = reason or sample.reason
    if not reason and sample.statistic is not None and sample.statistic.of_ranks:
        reason = inference.unseen_last_ranks(min(sample.rows_of_class), value - scale.low, value - low)
    return inference.Estimate(value, low, high, level, method, sample.n, error, reason)


def _estimate_of_counts(
    sample: Values, i: int, value: float, error: float, level: float, scale: Scale, smoothed: Smoothed
) -> inference.Estimate:
    """Return a metric of tp, fp, fn and tn with an interval that adds half a row to each of the four counts.

    Parameters
    ----------
    sample, i, level, scale : see `estimate_value`
    value, error : float
        Value of the metric, and its standard error; the error is NaN if the variance is 0.
    smoothed : Smoothed
        The metric with half a row added to each count.
    """
    method = inference.joined(smoothed.method, scale.name, sample.note)
    if isnan(value):
        return inference.Estimate(value, scale.low, scale.high, level, method, sample.n, nan, "the denominator is 0")
    equal_rows = not sample.note
    rows = sample.stratum.units if equal_rows else sample.stratum.effective_units
    if not equal_rows and error > 0:
        # Number of equally weighted rows with this standard error, which is proportional to 1/√n for many rows.
        rows = (smoothed.value_and_error(_MANY)[1] / error) ** 2 * _MANY
    df = inf if equal_rows else sample.df(i, min(sample.rows_of_class))
    low, high = smoothed.interval(rows, inference.t_quantile(inference.normal_quantile(level), df), scale)
    reason = inference.few(rows, inference.FEW_ROWS, "independent rows") or sample.reason
    return inference.Estimate(value, min(low, value), max(high, value), level, method, sample.n, error, reason)


def _estimate_share(sample: Values, i: int, level: float, trials: Trials) -> inference.Estimate:
    """Return a proportion of cases with Wilson's interval at the number of independent cases with the same variance.

    If the proportion is the height of a curve at an estimated x, the interval includes the curve over the interval of
    x.
    """
    linear, n, per = sample.linear[i], trials.rows, sample.linear[i].per
    method = inference.joined("Wilson", sample.note)
    if not n:
        return inference.Estimate(nan, 0.0, 1.0 / per, level, method, n, nan, "the denominator is 0")
    share = min(max(float(sample.values[i]) * per, 0.0), 1.0)
    variance = float(sample.covariance[i, i]) * per**2
    cases, df = trials.effective_cases, inf
    if not trials.binomial and 0 < share < 1 and variance > 0:
        cases = min(share * (1 - share) / variance, inf if linear.fixed or trials.of_probabilities else n)
        df = sample.df(i, trials.effective_cases)
    low, high = wilson_interval(share, cases, inference.t_quantile(inference.normal_quantile(level), df))
    reason = sample.few_groups or inference.few(cases, inference.FEW_ROWS, "independent cases")
    if not reason and not linear.exact:
        reason = sample.reason
    reason = reason or sample.shortage
    error = sqrt(share * (1 - share) / n) if trials.binomial else sqrt(max(variance, 0.0))
    low, high = low / per, high / per
    if linear.place is not None:
        # A one-sided quantile, because the curve has a kink at x and may change on one side of x only.
        reach = inference.t_quantile(float(special.ndtri(level)), df) * trials.place_error
        before, after = linear.place.shifted(-reach), linear.place.shifted(reach)
        low, high = min(low, before, after), max(high, before, after)
    return inference.Estimate(share / per, low, high, level, method, n, error / per, reason)


# Comparisons


def compare_statistics(
    arms: Samples,
    statistic: Smooth,
    hypothesis: inference.Hypothesis,
    adjust: inference.Adjust,
    *,
    groups: Any,
    folds: OverFolds | None,
) -> inference.Comparisons:
    """Compare a smooth statistic between models on the same rows (paired) or on separate samples (unpaired)."""
    if arms.rows is not None:
        sample = values_of_rows(arms.rows, statistic, groups=groups, folds=folds)
        return compare_values(sample, statistic.name, hypothesis, adjust, statistic.scale)
    of_arm = groups or {}
    samples = {name: values_of(data, statistic, groups=of_arm.get(name), folds=folds) for name, data in arms.items()}
    covariance = np.diag([sample.covariance[0, 0] for sample in samples.values()])
    estimates = {name: estimate_value(sample, 0, hypothesis.level, statistic.scale) for name, sample in samples.items()}
    unpaired = partial(_compare_unpaired, list(samples.items()), hypothesis)
    return inference.compare_each_two(statistic.name, estimates, covariance, unpaired, adjust)


def compare_values(
    sample: Values,
    quantity: str,
    hypothesis: inference.Hypothesis,
    adjust: inference.Adjust = "holm",
    scale: Scale = SHARE,
) -> inference.Comparisons:
    """Compare the values of all pairs of models on the same rows."""
    estimates = {name: estimate_value(sample, i, hypothesis.level, scale) for i, name in enumerate(sample.models)}
    paired = partial(_compare_paired, sample, hypothesis)
    return inference.compare_each_two(quantity, estimates, sample.covariance, paired, adjust)


def _compare_paired(sample: Values, hypothesis: inference.Hypothesis, i: int, j: int) -> inference.Comparison:
    # Influence of one case on a proportion. It is above 0 even if all cases have been equal so far.
    one_case = 0.0
    for trials in (sample.trials[i], sample.trials[j]) if sample.trials else ():
        if trials is not None and trials.effective_cases > 0:
            one_case = max(one_case, 1 / (trials.effective_cases * sample.linear[i].per))
    variance, added, df, informative = sample.stratum.difference(i, j, one_case)
    method = inference.joined("influence, paired", sample.note, "one row added for each model" if added else "")
    names, value = (sample.models[i], sample.models[j]), float(sample.values[j]) - float(sample.values[i])
    shortage, error = sample.shortage, sqrt(variance + added)
    return _test_difference(names, value, error, df, sample.n, informative, hypothesis, method, shortage)


def _compare_unpaired(
    samples: Sequence[tuple[str, Values]], hypothesis: inference.Hypothesis, i: int, j: int
) -> inference.Comparison:
    first, one = samples[i]
    second, other = samples[j]
    n = one.n + other.n
    variances = [float(one.covariance[0, 0]), float(other.covariance[0, 0])]
    one_trials, other_trials = (sample.trials[0] if sample.trials else None for sample in (one, other))
    if not sum(variances) > 0 and one_trials is not None and other_trials is not None:
        one_share = _estimate_share(one, 0, hypothesis.level, one_trials)
        other_share = _estimate_share(other, 0, hypothesis.level, other_trials)
        difference = mover_difference(one_share, other_share, "MOVER of Wilson intervals, unpaired", n)
        difference = replace(difference, reason=one_share.reason or other_share.reason)
        return hypothesis.compare(first, second, difference, method=difference.method)
    df = inference.satterthwaite(variances, [one.stratum.effective_df, other.stratum.effective_df])
    informative = min(sample.stratum.informative_units(sample.stratum.moves[:, 0]) for sample in (one, other))
    method = inference.joined("influence, unpaired", one.note)
    value = float(other.values[0]) - float(one.values[0])
    error, shortage = sqrt(sum(variances)), one.shortage or other.shortage
    return _test_difference((first, second), value, error, df, n, informative, hypothesis, method, shortage)


def _test_difference(
    names: tuple[str, str],
    value: float,
    error: float,
    df: float,
    n: float,
    informative: float,
    hypothesis: inference.Hypothesis,
    method: str,
    shortage: str,
) -> inference.Comparison:
    """Test a difference with Student's t.

    If the standard error is 0, the interval has length 0. If a value is infinite, the difference is NaN.
    """
    value = value if isfinite(value) else nan
    if error == 0 or isnan(error) or isnan(value):
        reason = "the value of a model is undefined" if isnan(value) else "the variance is 0"
        if value == 0:
            reason = ""
        difference = inference.Estimate(value, value, value, hypothesis.level, method, n, 0.0, reason)
    else:
        df = max(min(df, informative), inference.FEW_INFORMATIVE)
        difference = hypothesis.wald(value, error, n, method, df=df)
        difference = replace(difference, reason=_few_informative(informative) or shortage)
    return hypothesis.compare(*names, difference, df=df, method=method)


def _few_informative(informative: float) -> str:
    return inference.few(informative, inference.FEW_INFORMATIVE, "rows determine its variance")
