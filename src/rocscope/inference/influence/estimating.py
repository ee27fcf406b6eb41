"""Intervals and tests of smooth statistics from influences: rows, weights, groups and folds alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, isnan, nan, sqrt
from typing import Any

import numpy as np
from scipy import special

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import Predictions
from rocscope.errors import InputError
from rocscope.figures.influence import Smooth
from rocscope.figures.registry import statistic_named
from rocscope.inference.areas.differences import satterthwaite, student
from rocscope.inference.estimate import Comparison, Comparisons, Estimate
from rocscope.inference.hypothesis import Adjust, Hypothesis, compare_each_two
from rocscope.inference.influence.units import OverFolds, Stratum, Units, WeightKind, units_of
from rocscope.sample import Models, Sample, Samples, sample_of

_ROUNDING = 1e-12
# Rows that tell how much a statistic varies; with fewer a variance is itself off by a quarter or more: √(2/25).
_ENOUGH = 25


@dataclass(frozen=True)
class Values:
    """Values of a statistic for m models, and the stratum of all units that says how they vary together."""

    models: tuple[str, ...]
    values: Array
    stratum: Stratum
    n: float
    note: str

    @property
    def covariance(self) -> Array:
        """Of the m values."""
        return self.stratum.covariance

    def informative(self, moves: Array) -> float:
        """Return how many units of a normal sample would tell the variance of these moves as well."""
        squares = moves**2
        second, fourth = self.stratum.total(squares), self.stratum.total(squares**2)
        if not second > 0:
            return 0.0
        excess = fourth * self.stratum.units / second**2 - 1
        return min(self.stratum.freedom, 2 * self.stratum.units / excess if excess > _ROUNDING else inf)


def values_of(data: Sample, statistic: Smooth, *, groups: Any, folds: OverFolds | None, weights: WeightKind) -> Values:
    """Return the values of a statistic and how they vary; the mean over folds is that of the folds' own values."""
    given = not (groups is None or groups is False)
    if folds is not None:
        check.check_text("folds", folds)
    if given or folds == "mean":
        data.require_rows("groups" if given else "folds='mean'")
    if data.rows is None:
        return _of_counts(data.counts, statistic)
    return values_of_rows(data.rows, statistic, groups=groups, folds=folds, weights=weights)


def values_of_rows(
    rows: Predictions, statistic: Smooth, *, groups: Any, folds: OverFolds | None, weights: WeightKind
) -> Values:
    """Return the values of a statistic for all models of the same rows."""
    units = units_of(rows, groups=groups, folds=folds, weights=weights)
    everything = np.ones(units.positive.size, bool)
    if units.fold is None:
        values, influence = _linearised(units, statistic)
    else:
        influence = np.empty((units.positive.size, len(units.scores)))
        each = []
        for mask, part in units.parts():
            value, influence[mask] = _linearised(part, statistic)
            each.append(value)
        values = np.mean(each, axis=0)
    if units.weighting is not None:
        stratum = units.stratum_of_all(influence * units.share(everything)[:, None])
    else:
        stratum = (units.stratum if units.group is None else units.stratum_of_groups)(influence, everything)
    return Values(tuple(units.scores), values, stratum, units.n, units.note)


def _linearised(units: Units, statistic: Smooth) -> tuple[Array, Array]:
    """Return the value of each model, and the influence of each row on it."""
    values, influence = [], np.empty((units.positive.size, len(units.scores)))
    for j, score in enumerate(units.scores.values()):
        rising, inverse = np.unique(score, return_inverse=True)
        level = rising.size - 1 - inverse
        pos, neg = (np.bincount(level, units.amount * mask, rising.size) for mask in (units.positive, ~units.positive))
        found = statistic.linearise(ThresholdCounts(rising[::-1], pos, neg))
        values.append(found.value)
        influence[:, j] = np.where(units.positive, found.of_pos[level], found.of_neg[level])
    return np.array(values), influence


def _of_counts(counts: ThresholdCounts, statistic: Smooth) -> Values:
    found = statistic.linearise(counts)
    n = counts.n
    moves = np.concatenate([found.of_pos, found.of_neg])[:, None] / n
    times = np.concatenate([counts.pos, counts.neg])
    return Values(("score",), np.array([found.value]), Stratum(moves, times, n, n - 1, n), n, "")


@contract
def estimate_of(
    data: Models,
    statistic: str | Smooth,
    *,
    model: str | None = None,
    level: float = 0.95,
    groups: Any = None,
    folds: OverFolds | None = None,
    weights: WeightKind = "auto",
) -> Estimate:
    """Estimate a smooth statistic with a closed-form confidence interval.

    Parameters
    ----------
    data : data of one model
        Labels and scores, Predictions, ThresholdCounts, OperatingPoint, bins or a sketch; see `rocscope.sample`.
    statistic : str or Smooth
        Name of a figure such as "brier", or one of `rocscope.inference.statistics`.
    model : str, optional
        Which one of the Predictions.
    level, groups, folds, weights : see `auc_interval`

    Returns
    -------
    Estimate

    Notes
    -----
    The variance is the mean square of the influences, with what rows stand for: n equal rows, sampling weights (by how
    the statistic moves without a row), groups (of the sums within), folds (each counting alike). t with as many degrees
    of freedom as estimate that variance; shares on the logit scale. For an AUC of few positives take `auc_interval`.

    References
    ----------
    Hampel 1974, J. Am. Stat. Assoc. 69:383–393; van der Vaart 1998, Asymptotic Statistics, ch. 20.

    Examples
    --------
    >>> from rocscope.inference import statistics
    >>> preds = Predictions([1, 1, 0, 1, 0, 0] * 20, [0.9, 0.7, 0.6, 0.4, 0.3, 0.1] * 20)
    >>> estimate_of(preds, statistics.brier())
    Estimate(0.1533, 95 % interval 0.1281 to 0.1825, influence, n=120)
    """
    check.check_level(level)
    smooth = statistic_named(statistic)[1] if isinstance(statistic, str) else statistic
    if not isinstance(smooth, Smooth):
        hint = "any other function of counts goes to rocscope.bootstrap"
        raise InputError("statistic", expected="one of rocscope.inference.statistics", got=repr(statistic), hint=hint)
    sample = values_of(sample_of(data, model=model), smooth, groups=groups, folds=folds, weights=weights)
    return estimate(sample, 0, level, share=smooth.share)


def estimate(sample: Values, i: int, level: float, *, share: bool) -> Estimate:
    """Return the value of one model with its interval, on the logit scale if it is a share."""
    value, error = float(sample.values[i]), sqrt(float(sample.covariance[i, i]))
    informative = sample.informative(sample.stratum.moves[:, i])
    method = ", ".join(part for part in ("influence", sample.note) if part)
    if not error > _ROUNDING * abs(value):
        return Estimate(value, nan, nan, level, method, sample.n, nan, "nothing varies")
    reach = student(float(special.ndtri((1 + level) / 2)), sample.stratum.freedom) * error
    low, high = value - reach, value + reach
    if share and 0 < value < 1:
        centre, reach = special.logit(value), reach / (value * (1 - value))
        low, high = float(special.expit(centre - reach)), float(special.expit(centre + reach))
    return Estimate(value, low, high, level, method, sample.n, error, _doubt(informative))


def _doubt(informative: float) -> str:
    return f"only {informative:.2g} rows tell how much it varies" if informative < _ENOUGH else ""


def compare_statistics(
    arms: Samples,
    statistic: Smooth,
    hypothesis: Hypothesis,
    adjust: Adjust,
    *,
    groups: Any,
    folds: OverFolds | None,
    weights: WeightKind,
) -> Comparisons:
    """Compare a smooth statistic between models of the same rows, or between samples."""
    if arms.rows is not None:
        sample = values_of_rows(arms.rows, statistic, groups=groups, folds=folds, weights=weights)
        return compare_values(sample, statistic.name, hypothesis, adjust, share=statistic.share)
    of_arm = groups or {}
    samples = {
        name: values_of(data, statistic, groups=of_arm.get(name), folds=folds, weights=weights)
        for name, data in arms.items()
    }
    covariance = np.diag([sample.covariance[0, 0] for sample in samples.values()])
    estimates = {name: estimate(sample, 0, hypothesis.level, share=statistic.share) for name, sample in samples.items()}
    unpaired = partial(_unpaired, list(samples.items()), hypothesis)
    return compare_each_two(statistic.name, estimates, covariance, unpaired, adjust)


def compare_values(
    sample: Values, quantity: str, hypothesis: Hypothesis, adjust: Adjust = "holm", *, share: bool
) -> Comparisons:
    """Compare values of models of the same rows, each with its interval."""
    estimates = {name: estimate(sample, i, hypothesis.level, share=share) for i, name in enumerate(sample.models)}
    return compare_each_two(quantity, estimates, sample.covariance, partial(_paired, sample, hypothesis), adjust)


def _paired(sample: Values, hypothesis: Hypothesis, i: int, j: int) -> Comparison:
    variance = sample.stratum.variance_of_difference(i, j)
    moves = sample.stratum.moves[:, j] - sample.stratum.moves[:, i]
    value = float(sample.values[j] - sample.values[i])
    method = ", ".join(part for part in ("influence, paired", sample.note) if part)
    scale = float(sample.covariance[i, i] + sample.covariance[j, j])
    error = sqrt(variance) if variance > _ROUNDING * scale else 0.0
    found = _Difference(value, error, sample.stratum.freedom, sample.n, sample.informative(moves))
    return found.compare(sample.models[i], sample.models[j], hypothesis, method)


def _unpaired(samples: Sequence[tuple[str, Values]], hypothesis: Hypothesis, i: int, j: int) -> Comparison:
    (first, a), (second, b) = samples[i], samples[j]
    parts = [float(each.covariance[0, 0]) for each in (a, b)]
    df = satterthwaite(parts, [each.stratum.freedom for each in (a, b)])
    informative = min(each.informative(each.stratum.moves[:, 0]) for each in (a, b))
    method = ", ".join(part for part in ("influence, unpaired", a.note) if part)
    found = _Difference(float(b.values[0] - a.values[0]), sqrt(sum(parts)), df, a.n + b.n, informative)
    return found.compare(first, second, hypothesis, method)


@dataclass(frozen=True)
class _Difference:
    value: float
    error: float
    df: float
    n: float
    informative: float

    def compare(self, first: str, second: str, hypothesis: Hypothesis, method: str) -> Comparison:
        """Test by Student's t; a difference that does not vary is exactly what it is."""
        if self.error == 0 or isnan(self.error):
            reason = "" if self.value == 0 else "nothing varies"
            shown = Estimate(self.value, self.value, self.value, hypothesis.level, method, self.n, 0.0, reason)
            return hypothesis.compare(first, second, shown, df=self.df, method=method)
        t = student(float(special.ndtri((1 + hypothesis.level) / 2)), self.df)
        low, high = self.value - t * self.error, self.value + t * self.error
        doubt = _doubt(self.informative)
        shown = Estimate(self.value, low, high, hypothesis.level, method, self.n, self.error, doubt)
        return hypothesis.compare(first, second, shown, df=self.df, method=method)
