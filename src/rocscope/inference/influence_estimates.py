"""Intervals and tests of smooth statistics by influence functions, with weights, groups and folds.

An estimate of a smooth statistic θ is, to first order, the true value plus the mean of the influences of all rows.
`Linear` of `rocscope.figures.influence` contains the influence of a positive and of a negative at each score level.
`values_of_rows` sums influences within independent units. The covariance of these sums gives the covariance of the
values of all models; see `rocscope.inference.variance`.

`estimate_value` computes the interval from the variance. Its method depends on the statistic:

- A share of cases, such as the tpr at a threshold, has Wilson's interval with the number of independent cases that has
  the same variance (`Trials`).
- A metric of the four counts, such as Youden's J, has an interval with half a row added to each count (`Smoothed`).
- Any other statistic, such as the Brier score, has an interval that is symmetric on an unbounded scale (`Scale`). Its t
  quantile has degrees of freedom from the kurtosis of the influences.

For groups, first-order influences of some statistics are replaced by those of a jackknife (`_jackknifed`).

The order of the file: values and their variance, `estimate_of` with the intervals, comparisons.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import hypot, inf, isfinite, isnan, nan, sqrt
from typing import Any

import numpy as np

from rocscope._base import special
from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import PASS_PREDICTIONS, contract
from rocscope.core import Predictions, ThresholdCounts, independent_units, require_kinds
from rocscope.errors import InputError
from rocscope.figures.influence import PLAIN, SHARE, Linear, Scale, Smooth, Smoothed
from rocscope.figures.registry import scorer_name, statistic_named
from rocscope.inference import estimate as inference
from rocscope.inference.proportions import mover_difference, wilson_interval
from rocscope.inference.variance import OverFolds, RowLevels, Stratum, Units, rows_for, units_of
from rocscope.sample import Models, Sample, Samples, sample_of

_ROUNDING = 1e-12  # relative: what rounding leaves of a variance of 0, or of a class without rows
_MANY = 1e12  # rows, to which half a row more makes no difference
_LEAST_SQUARES = 1e-300  # divisor in place of a sum of squared weights of 0

# Groups × levels up to which groups are left out one by one. More take some seconds, and of so many groups first-order
# moves tell enough.
_MOST_LEFT_OUT = 4_000_000


# Values and their variance


@dataclass(frozen=True)
class Trials:
    """The denominator of a share of cases.

    Attributes
    ----------
    rows : float
    effective_cases : float
        Upper bound of the number of independent cases.
    binomial : bool
        True if the share is binomial.
    place_error : float
        Standard error of the position on a curve where the share is read, if this position depends on the rows.
    of_probabilities : bool
        True if cases have probabilities instead of labels. A share may then be more precise than with labels.
    """

    rows: float
    effective_cases: float
    binomial: bool = False
    place_error: float = 0.0
    of_probabilities: bool = False


@dataclass(frozen=True)
class Values:
    """Values of a statistic for m models, and the stratum of units from which their covariance is computed.

    Attributes
    ----------
    models : tuple of m names
    values : array of m
    stratum : Stratum
    n : float
        Number of rows, or the sum of frequencies.
    note : str
        Description of the rows, added to the name of a method.
    trials : tuple of m Trials or None
        Set if the statistic is a share of cases.
    linear : tuple of m Linear
    rows_of_class : pair of float
        Effective number of positive and of negative rows, or number of groups with positives and with negatives.
    statistic : Smooth, optional
    shortage : str
        Reason why intervals are not reliable, other than too few rows or groups.
    grouped : bool
        True if the units are groups of rows.
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

    @property
    def few_groups(self) -> str:
        """Reason why there are too few groups; empty if there are enough, or no groups."""
        return inference.few_groups(self.stratum.effective_units) if self.grouped else ""

    @property
    def rows_beyond(self) -> float:
        """Rows of the smaller class; for a part of a curve, the expected rows on the rarer side of that part."""
        pos, neg = self.rows_of_class
        of_pos, of_neg = (1.0, 1.0) if self.statistic is None else self.statistic.tail
        return round(min(pos * of_pos, neg * of_neg), 9)  # 40 rows have 4 beyond 1 − 0.9

    @property
    def reason(self) -> str:
        """Reason why no interval of these rows is reliable; empty if there is none."""
        return (
            self.few_groups
            or inference.few(min(self.rows_of_class), inference.FEW_ROWS, "rows of a class")
            or inference.few(self.rows_beyond, inference.FEW_BEYOND, "rows expected above the threshold")
            or self.shortage
        )

    @property
    def covariance(self) -> Array:
        """Covariance of the m values."""
        return self.stratum.covariance

    def df(self, i: int, rows: float) -> float:
        """Return the degrees of freedom of the variance of value `i`, which is based on a number of rows."""
        # Groups of unequal size tell half of what as many equal ones would: with all degrees of freedom, 95% intervals
        # of samples whose groups happened to move alike held in 91% (12 to 60 lognormal groups), with half in 93%.
        df = self.stratum.effective_df / (2 if self.grouped else 1)
        informative = self.stratum.informative_units(self.stratum.moves[:, i])
        return min(max(min(df, informative), inference.FEW_INFORMATIVE), max(rows - 1, 1.0))


def values_of(data: Sample, statistic: Smooth, *, groups: Any, folds: OverFolds | None) -> Values:
    """Return the values of a statistic with their stratum. With folds, values are means over folds."""
    rows = rows_for(data, groups, folds)
    if rows is None:
        shortage = require_kinds("an estimate from counts", data.counts)
        return replace(_values_of_counts(data.counts, statistic), shortage=shortage)
    weighted = rows.sample_weight is not None or rows.weighting is not None
    if folds is None and not weighted and rows.fold is None and independent_units(rows, groups) is None:
        return _values_of_counts(data.counts, statistic)  # which hold all there is to know about equal rows
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
    """Return the values of a statistic for all models on the same rows."""
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
    return Values(models, values, stratum, units.n, units.note, *facts, grouped=grouped)


def _linearise(units: Units, statistic: Smooth) -> tuple[list[Linear], list[RowLevels]]:
    """Return the statistic of each model to first order, and the level of each row in its scores."""
    levels = [RowLevels.of(units.positive, score) for score in units.scores.values()]
    weight = units.row_weights
    return [statistic.linearise(ThresholdCounts(part.threshold, *part.counts(weight))) for part in levels], levels


def _influence_of_rows(linear: Sequence[Linear], levels: Sequence[RowLevels]) -> Array:
    columns = [ranked.to_rows(part.of_pos, part.of_neg) for part, ranked in zip(linear, levels, strict=True)]
    return np.column_stack(columns)


def _stratum(units: Units, influence: Array) -> Stratum:
    """Return all units as one stratum, given the influence of each row."""
    influence = influence * units.leave_one_out_factor()[:, None]
    everything = slice(None)
    if units.weighting is not None:
        return units.stratum_of_all(influence * units.share(everything)[:, None])
    if units.group is None:
        return units.stratum_of_rows(influence, everything)
    return units.stratum_of_groups(influence, everything)


def _rows_of_class(units: Units) -> tuple[float, float]:
    """Return the independent rows of each class: the number of groups with such rows, or Kish's effective number."""
    if units.group is not None:
        return units.groups_of_class()
    sizes = []
    for rows in units.classes:
        weight = units.row_weights[rows].astype(np.float64)
        of_one_row = weight if units.frequency is None else weight / units.frequency[rows]
        sizes.append(float(weight.sum() ** 2 / (weight @ of_one_row or nan)))
    return sizes[0], sizes[1]


def _trials(units: Units, linear: Linear, levels: RowLevels) -> Trials | None:
    """Return the denominator of each share. A group whose rows are equal counts as one case."""
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
    """Return the stratum with influences from the delete-one-group jackknife, and the linear forms with its bias.

    With few groups of unequal size, first-order influences of a metric of the four counts, and of a mean over pairs of
    rows, are too small, and the bias is not negligible. Let θ₋ⱼ be the value without group j of u groups, mⱼ the share
    of the weight in group j, and g the scale of the interval. The influence of the group on g(θ) is
    (1 − 1/u)(g(θ) − g(θ₋ⱼ)), as in CR3. The bias is −Σ(1 − mⱼ)(g(θ) − g(θ₋ⱼ)). First-order influences are kept if a
    value without one group is undefined, and for figures whose threshold depends on the rows, because it jumps.

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
    """Return the statistic without some rows; NaN if a class is then missing."""
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
    """Estimate a smooth statistic with a closed-form confidence interval.

    Parameters
    ----------
    data : data of one model
        Predictions, ThresholdCounts, an OperatingPoint, BinnedCounts or a CountsSketch; see `rocscope.sample`.
    statistic : str or Smooth
        Name of a figure such as "brier", or a statistic of `rocscope.inference.statistics`.
    model : str, optional
        Name of the model to use; may be omitted if `data` contains only one model.
    level, groups, folds : see `auc_interval`

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If the statistic is neither a name, a figure nor a function, or has no interval here.

    See Also
    --------
    bootstrap, auc_interval

    Notes
    -----
    The variance is the mean square of the influences divided by n. Influences are those of rows, of sums within groups,
    or of folds with equal weight; with weights, they are computed by omitting a row. The interval depends on the
    statistic:

    - Shares of cases at a threshold, and rates at a given rate, have Wilson's interval with the number of trials that
      has this variance, as in `rate_intervals`.
    - Odds ratios, likelihood ratios and Youden's J have the MOVER interval from Jeffreys limits of both rates.
    - Other figures of the four counts have the interval with half a row added to each count. For groups, variances are
      estimated by the delete-one-group jackknife.
    - All others have an interval that is symmetric on an unbounded scale: logit of shares, log of ratios, Fisher's z
      for values from −1 to 1. The t quantile has 2n/(kurtosis − 1) degrees of freedom, the size of a normal sample
      whose variance is equally precise. The interval of average precision is corrected for its bias.

    For an AUC with few positives, use `auc_interval`.

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
        hint = "for any other function of counts, use rocscope.bootstrap"
        if not isinstance(statistic, str) and hasattr(statistic, "__len__"):  # the scores, after the labels
            hint = PASS_PREDICTIONS
        expected = "one of rocscope.inference.statistics"
        raise InputError("statistic", expected=expected, got=check.shown(statistic), hint=hint)
    sample = values_of(sample_of(data, model=model), smooth, groups=groups, folds=folds)
    return estimate_value(sample, 0, level, smooth.scale)


def estimate_value(sample: Values, i: int, level: float, scale: Scale) -> inference.Estimate:
    """Return the value of one model with its interval, clipped to the range of its scale."""
    trials = sample.trials[i] if sample.trials else None
    if trials is not None:
        return _estimate_share(sample, i, level, trials)
    value, error = float(sample.values[i]), sqrt(max(float(sample.covariance[i, i]), 0.0))
    varies = error > _ROUNDING * abs(value)
    inside = scale.low < value < scale.high
    linear = sample.linear[i] if sample.linear else Linear(value, np.empty(0), np.empty(0))
    # The interval of half a row more takes both rates for independent, which those of groups are not; on a plain scale
    # the statistic has no ends that a symmetric interval could pass.
    symmetric = varies and (scale is PLAIN or (sample.grouped and inside))
    if linear.smoothed is not None and not symmetric:
        return _estimate_of_counts(sample, i, value, error if varies else nan, level, scale, linear.smoothed)
    method = inference.joined("influence", scale.name, sample.note)
    if not (varies and inside):
        reason = linear.reason or ("undefined in these rows" if isnan(value) else "nothing varies")
        return inference.Estimate(value, nan, nan, level, method, sample.n, nan, reason)

    bias = linear.bias / (sample.n if sample.grouped else sample.stratum.effective_units)
    centre = max(value - bias, (value + scale.low) / 2)
    spread = hypot(error, bias)  # no bias is known better than that
    df = sample.df(i, sample.rows_beyond)
    low, high = scale.around(centre, inference.t_quantile(inference.normal_quantile(level), df) * spread)
    low, high = min(low, value), max(high, value)
    # The degrees of freedom of a part of a curve allow for the few rows that it rests on.
    is_part = sample.rows_beyond < min(sample.rows_of_class)
    reason = "" if is_part else _few_informative(sample.stratum.informative_units(sample.stratum.moves[:, i]))
    reason = reason or sample.reason
    if not reason and sample.statistic is not None and sample.statistic.of_ranks:
        reason = inference.unseen_last_ranks(min(sample.rows_of_class), value - scale.low, value - low)
    return inference.Estimate(value, low, high, level, method, sample.n, error, reason)


def _estimate_of_counts(
    sample: Values, i: int, value: float, error: float, level: float, scale: Scale, smoothed: Smoothed
) -> inference.Estimate:
    """Return a metric of the four counts. The interval adds half a row to each count, and includes the value."""
    method = inference.joined(smoothed.method, scale.name, sample.note)
    if isnan(value):
        return inference.Estimate(value, scale.low, scale.high, level, method, sample.n, nan, "no such case")
    equal_rows = not sample.note
    rows = sample.stratum.units if equal_rows else sample.stratum.effective_units
    if not equal_rows and error > 0:
        # As many equal rows as give this standard error, by 1/√n from a number to which half a row is nothing.
        rows = (smoothed.value_and_error(_MANY)[1] / error) ** 2 * _MANY
    df = inf if equal_rows else sample.df(i, min(sample.rows_of_class))
    low, high = smoothed.interval(rows, inference.t_quantile(inference.normal_quantile(level), df), scale)
    reason = inference.few(rows, inference.FEW_ROWS, "independent rows") or sample.reason
    return inference.Estimate(value, min(low, value), max(high, value), level, method, sample.n, error, reason)


def _estimate_share(sample: Values, i: int, level: float, trials: Trials) -> inference.Estimate:
    """Return a share of cases with Wilson's interval at the number of independent cases that has its variance.

    If the share is read off a curve, the interval includes the curve between the limits of the position.
    """
    linear, n, per = sample.linear[i], trials.rows, sample.linear[i].per
    method = inference.joined("Wilson", sample.note)
    if not n:
        return inference.Estimate(nan, 0.0, 1.0 / per, level, method, n, nan, "no such case")
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
        # A one-sided quantile: the curve has a kink at the place, and may fall or rise on one side of it only.
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
    """Compare a smooth statistic between models on the same rows, or between samples."""
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
    """Compare values of models on the same rows, each with its interval."""
    estimates = {name: estimate_value(sample, i, hypothesis.level, scale) for i, name in enumerate(sample.models)}
    paired = partial(_compare_paired, sample, hypothesis)
    return inference.compare_each_two(quantity, estimates, sample.covariance, paired, adjust)


def _compare_paired(sample: Values, hypothesis: inference.Hypothesis, i: int, j: int) -> inference.Comparison:
    # One case of a share, also where all cases are equal so far.
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
    """Test with Student's t. A difference without variance is exact; a difference of infinite values is undefined."""
    value = value if isfinite(value) else nan
    if error == 0 or isnan(error) or isnan(value):
        reason = "undefined for one of the two" if isnan(value) else "nothing varies"
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
