"""Placements and the covariance of AUCs: DeLong, with groups, weights and folds, in O(n log n).

The placement of a row is the share of the other class that it is ranked right against, a tie counting one half; the
AUC is the mean placement of either class. How placements vary within the classes is how the AUC varies.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, isnan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.radix import levels_of_rows
from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import Predictions
from rocscope.errors import OneClassError
from rocscope.inference.influence.row_levels import RowLevels
from rocscope.inference.influence.units import OverFolds, Stratum, Units, WeightKind, require_whole, units_of
from rocscope.inference.reliability import FEW_ROWS, FEW_WEIGHTED, SHRUNK, few_groups, unseen
from rocscope.sample import Sample

_LEAST_PRIOR, _PRIOR = 0.25, 2.0  # rows that the prior weighs: always, and where no row tells anything
_ROUNDING = 1e-12  # what rounding leaves of an area of 0 or 1, and of a variance of 0


@dataclass(frozen=True)
class EffectiveSize:
    """An area with the precision of a share of `trials` trials, and the degrees of freedom of that number.

    `informative` is the number of rows that determine how much placements vary; `smallest` that of the smaller class,
    which should be at least `least`; `groups` is how many groups of equal size these are worth.

    Examples
    --------
    >>> EffectiveSize(0.8125, trials=8.0, df=10.0, informative=3.0, smallest=4).interval(0.95)
    (0.4232..., 0.9623...)
    """

    auc: float
    trials: float
    df: float
    informative: float
    smallest: float
    units: str = "rows"
    groups: float | None = None
    least: float = FEW_ROWS

    @property
    def variance(self) -> float:
        """Variance of the area, A(1 − A)/N."""
        return self.auc * (1 - self.auc) / self.trials

    @property
    def reason(self) -> str:
        """Why the interval is not reliable; empty if it is."""
        if self.units == "groups" and (reason := few_groups(self.groups)):
            return reason
        if self.smallest < self.least:
            return f"fewer than {self.least} {self.units} of a class ({self.smallest:g})"
        if self.informative < SHRUNK:
            return f"only {self.informative:.2g} {self.units} tell how much the ranks vary"
        above, (low, high) = max(self.auc, 1 - self.auc), self.interval(0.95)
        reach = self.auc - low if self.auc >= 0.5 else high - self.auc
        rare = unseen(self.smallest, above, reach, self.units)
        return rare + "; method='sure' allows for that" * (bool(rare) and self.units == "rows")

    def interval(self, level: float) -> tuple[float, float]:
        """Return Wilson's interval for N trials with a t quantile."""
        return self.interval_at(float(special.stdtrit(self.df, (1 + level) / 2)))

    def interval_at(self, quantile: float) -> tuple[float, float]:
        """Return Wilson's interval for a given number of standard errors on each side."""
        auc, n, q = self.auc, self.trials, quantile
        centre = auc + q * q / (2 * n)
        reach = q * sqrt(auc * (1 - auc) / n + (q / (2 * n)) ** 2)
        scale = 1 + q * q / n
        low, high = (centre - reach) / scale, (centre + reach) / scale
        return (0.0 if auc == 0 else max(low, 0.0)), (1.0 if auc == 1 else min(high, 1.0))


def effective_size(auc: float, strata: Sequence[Stratum], model: int, variance: float) -> EffectiveSize:
    """Return the effective number of trials of an area, from the influence of the units in its strata.

    Parameters
    ----------
    auc : float
    strata : the two classes, or one stratum of groups that hold both
    model : int
        Column of the moves.
    variance : float
        Of the area, as DeLong or Obuchowski estimate it; used for groups only.

    Notes
    -----
    For a class of s rows with placements x: r = x − A; S = Σr²/(s − 1); B = A(1 − A); d = min(1, S/B), which is 1 for a
    binomial; k = min(s − 1, #{x < 1}, 2s/(kurtosis − 1)) rows tell d. It is drawn towards p = (1 − g)/3 +
    g·max(m, n)/(m + n), g = (2A − 1)⁴, with the weight of c = ¼ + 2√(1 − k/(s − 1)) rows: d* = (k·d + c·p)/(k + c),
    v = d*/s. Then N = 1/(v₁ + v₀), df = (v₁ + v₀)²/(v₁²/(m − 1 + c₁) + v₀²/(n − 1 + c₀)). At A = 1, N = min(m, n).
    Below ½ the classes change places. With weights s is Kish's (Σw)²/Σw², also in s − 1; over folds that each count
    1/K it is K²/Σ(1/sₖ), r is taken about the fold's own area and s − 1 is Σ(sₖ − 1).

    For K groups their moves are one stratum with k = min(K − 1, 2K/(kurtosis − 1)), V is Obuchowski's, c as above and
    1/N = (k·V/B + c·p(1/M₊ + 1/M₋))/(k + c) with the numbers M of groups that hold each class; df = K − 1 + c. Where
    groups are of unequal size, K − 1 is (K − 1)·(ΣM)²/(K·ΣM²).

    The constant c, the power in g and the degrees of freedom were found by a search: coverage is at least 93 % on every
    design of docs/guide/intervals.md, and at most 98 % on most of them.

    References
    ----------
    Wilson 1927, J. Am. Stat. Assoc. 22:209–212; Korn & Graubard 1998, Surv. Methodol. 24:193–201; Franco, Little,
    Louis & Slud 2019, J. Surv. Stat. Methodol. 7:334–364 (Wilson on an effective size). The shrinkage is our own.
    """
    if len(strata) == 1:
        return _of_groups(auc, strata[0], model, variance)
    sizes = [stratum.size for stratum in strata]
    smallest = min(sizes)
    spread, prior = auc * (1 - auc), _prior(auc, *sizes)
    known = [_known(stratum, auc, model) for stratum in strata]
    weights = [_weight(k, stratum.freedom) for k, stratum in zip(known, strata, strict=True)]
    shares = [_share(stratum, model, spread) if k else 0.0 for stratum, k in zip(strata, known, strict=True)]
    parts = [(k * d + c * prior) / (k + c) / s for k, d, c, s in zip(known, shares, weights, sizes, strict=True)]
    total = sum(parts)
    df = total**2 / sum(v**2 / (stratum.freedom + c) for v, c, stratum in zip(parts, weights, strata, strict=True))
    observed = [d / s for d, s in zip(shares, sizes, strict=True)]
    informative = sum(v * k for v, k in zip(observed, known, strict=True)) / sum(observed) if any(observed) else 0.0
    return EffectiveSize(auc, smallest if _is_end(auc) else 1 / total, df, informative, smallest)


def _of_groups(auc: float, stratum: Stratum, model: int, variance: float) -> EffectiveSize:
    holding = stratum.holding
    smallest = min(holding)
    if _is_end(auc):
        return EffectiveSize(auc, smallest, stratum.freedom + 1, 0.0, smallest, "groups", stratum.size)
    known = 0.0 if isnan(variance) else min(stratum.freedom, _by_kurtosis(stratum, model))
    weight = _weight(known, stratum.freedom)
    prior = _prior(auc, *holding) * sum(1 / held for held in holding)
    observed = variance / (auc * (1 - auc)) if known else 0.0
    trials = (known + weight) / (known * observed + weight * prior)
    return EffectiveSize(auc, trials, stratum.freedom + weight, known, smallest, "groups", stratum.size)


def _weight(known: float, df: float) -> float:
    """Return the prior's weight in rows."""
    return _LEAST_PRIOR + _PRIOR * sqrt(1 - known / df if known else 1.0)


def _is_end(auc: float) -> bool:
    return min(auc, 1 - auc) <= _ROUNDING


def _prior(auc: float, m: float, n: float) -> float:
    g = (2 * auc - 1) ** 4
    return (1 - g) / 3 + g * max(m, n) / (m + n)


def _share(stratum: Stratum, model: int, spread: float) -> float:
    """Variance of placements relative to the maximum given their mean."""
    return min(1.0, stratum.variance(model) * stratum.size / spread) if spread > 0 else 0.0


def _known(stratum: Stratum, auc: float, model: int) -> float:
    """Number of rows that determine the variance of placements; 0 if none do."""
    if stratum.df <= 0 or stratum.inside is None:
        return 0.0
    inside = stratum.inside[int(auc < 0.5), model]
    return min(stratum.freedom, inside, _by_kurtosis(stratum, model))


def _by_kurtosis(stratum: Stratum, model: int) -> float:
    """Number of normal observations whose variance would be known as precisely; 0 without variation."""
    squares = stratum.moves[:, model] ** 2
    second, fourth = stratum.total(squares), stratum.total(squares**2)
    if second <= _ROUNDING**2:
        return 0.0
    kurtosis = fourth * stratum.units / second**2
    return 2 * stratum.units / (kurtosis - 1) if kurtosis > 1 + _ROUNDING else inf


@dataclass(frozen=True)
class AucSample:
    """AUCs of m models on the same rows, and the strata that determine their covariance.

    `n_pos` and `n_neg` are the independent units behind each class: rows, or groups that hold such rows. `scores` are
    those of the models, where there are several.
    """

    models: tuple[str, ...]
    auc: Array
    strata: tuple[Stratum, ...]
    n_pos: float
    n_neg: float
    n: float
    note: str = ""
    covariance_of_units: Array | None = None
    scores: tuple[Array, ...] = ()

    @cached_property
    def covariance(self) -> Array:
        """Covariance of the m areas."""
        if self.covariance_of_units is not None:
            return self.covariance_of_units
        with np.errstate(under="ignore"):
            return sum((stratum.covariance for stratum in self.strata), np.zeros(()))

    def size(self, model: int) -> EffectiveSize:
        """Return the effective number of trials of an area."""
        with np.errstate(under="ignore"):
            variance = float(self.covariance[model, model])
            size = effective_size(float(self.auc[model]), self.strata, model, variance)
        if len(self.strata) == 1 or self.covariance_of_units is None or not variance > 0:
            return size
        given = sum(stratum.variance(model) for stratum in self.strata)  # as if weights were not estimated
        if isnan(given):  # of a single row
            return size
        return replace(size, trials=size.trials * given / variance, least=FEW_WEIGHTED)

    def alike(self, first: int, second: int) -> bool:
        """Whether two models rank all rows alike, so that their areas are always equal."""
        if any((stratum.moves[:, first] != stratum.moves[:, second]).any() for stratum in self.strata):
            return False
        one, other = (levels_of_rows(self.scores[model])[1] for model in (first, second))
        return np.array_equal(one, other)


def placements(positive: NDArray[np.bool_], score: Array, weight: Array | None = None) -> Array:
    """Return twice the number (weight) of rows of the other class that each row is ranked correctly against.

    A tie counts one, so that whole numbers stay whole.

    Examples
    --------
    >>> placements(np.array([True, False, True]), np.array([3, 2, 2]))
    array([2, 3, 1])
    """
    ranked = RowLevels.of(positive, score)
    pos, neg = ranked.counts(np.ones(score.size, np.int64) if weight is None else weight)
    return ranked.of_rows(2 * (neg.sum() - np.cumsum(neg)) + neg, 2 * np.cumsum(pos) - pos)


def sample_of_counts(counts: ThresholdCounts, model: str = "score", note: str = "") -> AucSample:
    """Return the AUC of counts and its variance; counts are frequencies."""
    counts.require_both_classes("AUC interval")
    pos, neg = counts.pos, counts.neg
    require_whole(pos, neg)
    n_pos, n_neg = counts.n_pos, counts.n_neg
    auc = counts.pairs().auc()
    above = (counts.tn + (counts.tn + neg)) / (2 * n_neg)
    below = ((counts.tp - pos) + counts.tp) / (2 * n_pos)
    strata = tuple(
        Stratum((placed - auc)[:, None] / n, times, n, n - 1, n, _inside(placed[:, None], times))
        for placed, times, n in ((above, pos, n_pos), (below, neg, n_neg))
    )
    return AucSample((model,), np.array([auc]), strata, n_pos, n_neg, counts.n, note)


def auc_sample(
    sample: Sample, *, groups: Any = None, folds: OverFolds | None = None, weights: WeightKind = "auto"
) -> AucSample:
    """Return the AUC of one model and its variance, from rows if available."""
    given = not (groups is None or groups is False)
    if folds is not None:
        check.check_text("folds", folds)
    if given or folds == "mean":
        sample.require_rows("groups" if given else "folds='mean'")
    if sample.rows is None:
        return sample_of_counts(sample.counts, sample.name)
    with np.errstate(under="ignore"):
        return sample_of_rows(sample.rows, groups=groups, folds=folds, weights=weights)


def sample_of_rows(
    predictions: Predictions, *, groups: Any = None, folds: OverFolds | None = None, weights: WeightKind = "auto"
) -> AucSample:
    """Return the AUC of each model and their covariance."""
    units = units_of(predictions, groups=groups, folds=folds, weights=weights)
    if not units.positive.any() or units.positive.all():
        missing = "negatives" if units.positive.any() else "positives"
        raise OneClassError(
            "AUC interval", expected="both classes", got=f"no {missing} among {units.positive.size} rows"
        )
    if units.weight is None and units.group is None and units.fold is None and len(units.scores) == 1:
        model = predictions.models[0]
        return sample_of_counts(predictions.counts(model), model, units.note)
    auc, placed = _placed(units)
    residual = placed - auc if units.fold is None else placed - auc[units.fold]
    return _of_placements(units, auc if units.fold is None else auc.mean(axis=0), placed, residual)


def _of_placements(units: Units, auc: Array, placed: Array, residual: Array) -> AucSample:
    if units.group is None:  # Obuchowski's variance of groups has no such factor
        residual = residual * units.left_out()[:, None]
    strata = tuple(
        replace(units.stratum(residual[rows], rows), inside=_inside(placed[rows], units.times_of(rows)))
        for rows in units.classes
    )
    names, scores = tuple(units.scores), tuple(units.scores.values())
    holding = (strata[0].units, strata[1].units) if units.group is None else units.holding()
    if units.weighting is not None:
        moves = np.empty_like(residual)
        for rows in units.classes:
            moves[rows] = residual[rows] * units.share(rows)[:, None]
        whole = replace(units.stratum_of_all(moves), holding=holding)
        own = strata if units.group is None else (whole,)
        return AucSample(names, auc, own, *holding, units.n, units.note, whole.covariance, scores)
    if units.group is None:
        return AucSample(names, auc, strata, *holding, units.n, units.note, scores=scores)
    parts = [units.stratum_of_groups(residual[rows], rows) for rows in units.classes]
    k = units.n_groups
    worth = min(k, _worth(np.bincount(units.group, units.amount)))
    whole = Stratum(parts[0].moves + parts[1].moves, None, k, k - 1, worth, holding=holding)
    return AucSample(names, auc, (whole,), *holding, units.n, units.note, _obuchowski(parts, whole), scores)


def _worth(sizes: Array) -> float:
    """Return how many groups of equal size are worth as many of these sizes (Kish)."""
    return float(sizes.sum()) ** 2 / float(sizes @ sizes)


def _obuchowski(parts: list[Stratum], whole: Stratum) -> Array:
    """Obuchowski (1997), eq. 3–6, for m models; weights are multiplied within groups."""
    cross = parts[0].moves.T @ parts[1].moves
    return parts[0].covariance + parts[1].covariance + whole.scale * (cross + cross.T)


def _inside(placed: Array, times: Array | None) -> Array:
    """Return, for each model, the number of rows with placements below 1 and above 0."""
    masks = placed < 1 - _ROUNDING, placed > _ROUNDING
    return np.array([mask.sum(axis=0) if times is None else times @ mask for mask in masks])


def _placed(units: Units) -> tuple[Array, Array]:
    """Return the AUCs (per fold, if there are folds), and the placement of each row as a share."""
    if units.fold is not None:
        placed = np.empty((units.positive.size, len(units.scores)))
        aucs = []
        for mask, part in units.parts():
            auc, placed[mask] = _placed(part)
            aucs.append(auc)
        return np.array(aucs), placed
    weight, amount = units.weight, units.amount
    positives, negatives = units.classes
    n_pos, n_neg = amount[positives].sum(), amount[negatives].sum()
    opponents = np.where(units.positive, 2 * n_neg, 2 * n_pos)
    auc = np.empty(len(units.scores))
    placed = np.empty((units.positive.size, len(units.scores)))
    for j, score in enumerate(units.scores.values()):
        twice = placements(units.positive, score, weight)
        right = twice[positives].sum() if weight is None else twice[positives] @ weight[positives]
        auc[j] = min(right / (2 * n_pos * n_neg), 1.0)  # sums of weights are rounded
        placed[:, j] = twice / opponents
    return auc, placed
