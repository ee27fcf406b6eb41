"""Placements and the covariance of AUCs: DeLong, with groups, weights and folds, in O(n log n).

The placement of a row is the share of the other class that it is ranked right against, a tie counting one half; the
AUC is the mean placement of either class. How placements vary within the classes is how the AUC varies.
"""
# MERGED-DOC: """auc_interval: the AUC with a confidence interval.
#
# Whether the scores of folds are on one scale, so that pooling them means what one takes it to mean.
# """
# MERGED-DOC: """Differences of two areas with small-sample intervals, tests of all pairs, and the omnibus test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from math import inf, isnan, log, nan, sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import answering
from rocscope._base.formatting import about
from rocscope._base.radix import levels_of_rows
from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import Predictions
from rocscope.errors import InputError, OneClassError, warn
from rocscope.inference.estimate import (
    FEW_FOR_LIMIT,
    FEW_RESAMPLED,
    FEW_ROWS,
    FEW_WEIGHTED,
    SHRUNK,
    Adjust,
    Comparison,
    Comparisons,
    Estimate,
    Hypothesis,
    Omnibus,
    compare_each_two,
    few,
    few_groups,
    max_t,
    of_differences,
    unseen,
)
from rocscope.inference.proportions import logit, normal_quantile, wald
from rocscope.inference.variance import OverFolds, RowLevels, Stratum, Units, WeightKind, require_whole, units_of
from rocscope.sample import Sample, sample_of

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
    sizes = [stratum.effective_units for stratum in strata]
    smallest = min(sizes)
    spread, prior = auc * (1 - auc), _prior(auc, *sizes)
    known = [_known(stratum, auc, model) for stratum in strata]
    weights = [_weight(k, stratum.effective_df) for k, stratum in zip(known, strata, strict=True)]
    shares = [_share(stratum, model, spread) if k else 0.0 for stratum, k in zip(strata, known, strict=True)]
    parts = [(k * d + c * prior) / (k + c) / s for k, d, c, s in zip(known, shares, weights, sizes, strict=True)]
    total = sum(parts)
    df = total**2 / sum(v**2 / (stratum.effective_df + c) for v, c, stratum in zip(parts, weights, strata, strict=True))
    observed = [d / s for d, s in zip(shares, sizes, strict=True)]
    informative = sum(v * k for v, k in zip(observed, known, strict=True)) / sum(observed) if any(observed) else 0.0
    return EffectiveSize(auc, smallest if _is_end(auc) else 1 / total, df, informative, smallest)


def _of_groups(auc: float, stratum: Stratum, model: int, variance: float) -> EffectiveSize:
    holding = stratum.groups_of_class
    smallest = min(holding)
    if _is_end(auc):
        return EffectiveSize(auc, smallest, stratum.effective_df + 1, 0.0, smallest, "groups", stratum.effective_units)
    known = 0.0 if isnan(variance) else min(stratum.effective_df, _by_kurtosis(stratum, model))
    weight = _weight(known, stratum.effective_df)
    prior = _prior(auc, *holding) * sum(1 / held for held in holding)
    observed = variance / (auc * (1 - auc)) if known else 0.0
    trials = (known + weight) / (known * observed + weight * prior)
    return EffectiveSize(auc, trials, stratum.effective_df + weight, known, smallest, "groups", stratum.effective_units)


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
    return min(1.0, stratum.variance(model) * stratum.effective_units / spread) if spread > 0 else 0.0


def _known(stratum: Stratum, auc: float, model: int) -> float:
    """Number of rows that determine the variance of placements; 0 if none do."""
    if stratum.df <= 0 or stratum.inner_units is None:
        return 0.0
    inside = stratum.inner_units[int(auc < 0.5), model]
    return min(stratum.effective_df, inside, _by_kurtosis(stratum, model))


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
    return ranked.to_rows(2 * (neg.sum() - np.cumsum(neg)) + neg, 2 * np.cumsum(pos) - pos)


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
        residual = residual * units.leave_one_out_factor()[:, None]
    strata = tuple(
        replace(
            units.stratum_of_rows(residual[rows], rows), inner_units=_inside(placed[rows], units.frequency_of(rows))
        )
        for rows in units.classes
    )
    names, scores = tuple(units.scores), tuple(units.scores.values())
    holding = (strata[0].units, strata[1].units) if units.group is None else units.groups_of_class()
    if units.weighting is not None:
        moves = np.empty_like(residual)
        for rows in units.classes:
            moves[rows] = residual[rows] * units.share(rows)[:, None]
        whole = replace(units.stratum_of_all(moves), groups_of_class=holding)
        own = strata if units.group is None else (whole,)
        return AucSample(names, auc, own, *holding, units.n, units.note, whole.covariance, scores)
    if units.group is None:
        return AucSample(names, auc, strata, *holding, units.n, units.note, scores=scores)
    parts = [units.stratum_of_groups(residual[rows], rows) for rows in units.classes]
    k = units.n_groups
    worth = min(k, _worth(np.bincount(units.group, units.row_weights)))
    whole = Stratum(parts[0].moves + parts[1].moves, None, k, k - 1, worth, groups_of_class=holding)
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
        for mask, part in units.folds():
            auc, placed[mask] = _placed(part)
            aucs.append(auc)
        return np.array(aucs), placed
    weight, amount = units.weight, units.row_weights
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


def warn_where_folds_differ(predictions: Predictions | None, pooled: AucSample, folds: OverFolds | None) -> None:
    """Warn if the area over pooled folds differs from the mean within folds by more than its standard error.

    Notes
    -----
    With folds on one scale both estimate the same area, from the same rows, and differ by much less.
    """
    if folds == "mean" or predictions is None or predictions.fold is None:
        return
    try:
        within = sample_of_rows(predictions.select(models=list(pooled.models)), folds="mean")
    except OneClassError:  # a fold without an area of its own has nothing to say here
        return
    for index, model in enumerate(pooled.models):
        size = pooled.size(index)
        if abs(pooled.auc[index] - within.auc[index]) > sqrt(size.variance or 1 / size.trials):
            warn(
                f"the AUC of {model!r} is {pooled.auc[index]:.4g} over pooled folds and {within.auc[index]:.4g} within "
                "them: their scores are on different scales, and pooling compares rows across them; use folds='mean'"
            )


Method = Literal["auto", "logit", "delong", "newcombe", "sure"]

METHODS = ("auto", "logit", "delong", "newcombe", "sure")
_NAMES = {"logit": "DeLong on the logit scale", "delong": "DeLong", "newcombe": "Newcombe's score interval"}
# Of the width of "auto", by which an interval by name may end short of it. By simulation of 13 designs: with a
# twentieth, nine in ten intervals of DeLong are flagged that cover 93 to 95 %; with a seventh, some that cover 90 %.
_MOST_SHORT = 0.1
_NEXT_TO_A_ROOT = 1e-12  # an area of 0 or 1 solves its own equation; the end of the interval is the other root


@answering
def auc_interval(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    method: Method = "auto",
    level: float = 0.95,
    groups: Any = None,
    folds: OverFolds | None = None,
    weights: WeightKind = "auto",
    pos_label: Any = None,
    sample_weight: Any = None,
) -> Estimate:
    """Estimate the area under the ROC curve with a confidence interval.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Labels and scores, Predictions, ThresholdCounts, OperatingPoint, bins or a sketch; see `rocscope.sample`.
    method : {"auto", "logit", "delong", "newcombe", "sure"}
        "auto" is Wilson's interval for as many trials as the rows are worth, which holds in small samples and is
        DeLong's on the logit scale, but for 1 %, where they are not. By name: DeLong's variance on the logit scale;
        the same on the plain scale (AUC ± z·se, clipped to 0 and 1, as pROC); Newcombe's score interval, which needs no
        variance. Where one of these is not to be trusted, the result says so. "sure" covers whatever the scores are
        distributed like, in samples of any size, and is wide: for independent rows only.
    level : float
        Confidence level.
    groups : array of n labels, optional
        The patient or customer that a row belongs to; rows of one group are not taken as independent. By default the
        groups of the Predictions; False takes every row as independent.
    folds : {"pooled", "mean"}, optional
        One AUC over all rows (the default), or the mean of the AUCs within the folds of the Predictions.
    weights : {"auto", "frequency", "sampling"}
        What `sample_weight` means: "frequency" is so many equal rows, "sampling" one row that stands for so many of a
        population. The AUC is the same, its interval is not. "auto" means "sampling", except for weights of 0 and 1 and
        for a table of counts: whole weights, no two rows alike, most scores with both labels. With `groups` there is no
        difference.

    Returns
    -------
    Estimate
        With `reliable` and, where it is not, the `reason`.

    Raises
    ------
    InputError
        See `ThresholdCounts.from_scores`; also for a level outside (0, 1), and for weights, groups or folds with
        ``method="sure"``.
    OneClassError
        If a class is missing, in the data or in a fold whose AUC is asked for.

    Warns
    -----
    RocscopeWarning
        Where the variance is 0 or undefined (an AUC of 0 or 1, one positive, all scores tied). Where folds are pooled
        whose scores are on scales so different that the area of all rows is another one than that within the folds.

    Notes
    -----
    Variance: V = S₁₀/P + S₀₁/N, the variances of the placements within each class (DeLong); for groups with the
    covariance of the two classes within a group (Obuchowski); for the mean over K folds ΣVₖ/K², with the variances of
    all folds' placements about their own area taken together. Ties count one half. O(n log n).

    "auto": see `rocscope.inference.areas.placements`. Where "logit" or "delong" have no variance (an AUC of 0 or 1,
    one positive, all scores tied) its interval takes their place, and the method says so.

    Newcombe's interval solves (A − θ)² = z²·V(θ), where V(θ) = θ(1−θ)(1 + h·((1−θ)/(2−θ) + θ/(1+θ)))/(P·N) and
    h = (P + N)/2 − 1.

    "sure" holds all θ with M·(A·log(A/θ) + (1 − A)·log((1 − A)/(1 − θ))) ≤ log(2/(1 − level)), M = min(P, N): an AUC
    is a mean over pairs that share no row (Hoeffding), so that Chernoff's bound holds for it.

    How often intervals cover, by simulation of 60 designs with areas of 0.6 to 0.99, 5 to 200 positives, 20 to 10,000
    negatives, positives half to twice as spread, skewed, tied, weighted, grouped and in folds, stands in
    docs/guide/intervals.md. "auto" covers at least 93 % of the time or says that it is not reliable; beyond 98 % with
    fewer than 10 positives or areas from 0.95. "logit" covers as rarely as 61 %, "delong" 53 %, "newcombe" 84 %.

    Of cross-validated scores the interval does not count the training rows that folds share, and says so; see
    `rocscope.evaluation.nested_cross_validation`. Not valid for a model that was trained on the same rows, nor
    after choosing the best of many models on them.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson 1988, Biometrics 44:837–845; Sun & Xu 2014, IEEE Signal Process. Lett. 21 (ranks);
    Obuchowski 1997, Biometrics 53:567–578; Newcombe 2006, Stat. Med. 25:559–573, method 5; Perme & Manevski 2019, Stat.
    Methods Med. Res. 28 (logit scale); Hoeffding 1963, J. Am. Stat. Assoc. 58:13–30, §5b (two-sample U-statistics).

    Examples
    --------
    Four positives and four negatives, of whose 16 pairs 13 are ranked right:

    >>> y, score = [1, 1, 0, 1, 0, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> auc_interval(y, score)
    Estimate(0.8125, 95 % interval 0.3481 to 0.9723, Wilson for 5.42 trials, t with 9 df, n=8; not reliable: fewer than
    5 rows of a class (4))
    >>> auc_interval(y, score, method="delong").low
    0.4807...
    """
    level = check.check_level(level)
    check.check_choice("method", method, METHODS)
    data = sample_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    sample = auc_sample(data, groups=groups, folds=folds, weights=weights)
    warn_where_folds_differ(data.rows, sample, folds)
    return estimate(sample, 0, method, level)


def estimate(sample: AucSample, index: int, method: Method, level: float) -> Estimate:
    """Return the AUC of one model of a sample with its interval."""
    auc, size = float(sample.auc[index]), sample.size(index)
    variance = float(sample.covariance[index, index])
    if auc in (0, 1) and variance > 0:
        variance = 0.0  # but for rounding
    if not variance > 0 and method not in ("newcombe", "sure"):
        warn(
            f"AUC {auc:g} from {sample.n_pos:g} positives and {sample.n_neg:g} negatives: the DeLong variance is "
            f"{'0' if variance == 0 else 'undefined'}; the interval rests on the numbers of rows alone"
        )
    error = sqrt(variance) if variance > 0 else nan
    if method == "sure":
        ends, name = _sure(auc, _pairs(sample), level), f"Chernoff–Hoeffding for {_pairs(sample):g} pairs"
    elif method == "newcombe":
        ends, error, name = newcombe(auc, sample.n_pos, sample.n_neg, level), nan, _NAMES[method]
    elif method == "auto" or not variance > 0:
        ends = size.interval(level)
        name = f"Wilson for {about(size.trials)} trials, t with {size.df:.0f} df"
        error = sqrt(size.variance) if method == "auto" else nan
        if method != "auto":
            name += f" ({_NAMES[method]}: no variance)"
    else:
        ends = (wald if method == "delong" else logit)(auc, error, level)
        name = _NAMES[method]
    name = ", ".join(part for part in (name, sample.note) if part)
    return Estimate(auc, *ends, level, name, sample.n, error, _doubt(method, sample.note, size, ends, level))


def _doubt(method: Method, note: str, size: EffectiveSize, ends: tuple[float, float], level: float) -> str:
    """Return why an interval is not reliable; empty if it is."""
    if method == "sure":
        return ""
    if size.reason or method == "auto":
        return size.reason
    few_groups = "" if size.groups is None else few(size.groups, FEW_FOR_LIMIT, "groups of equal size")
    doubt = few_groups or few(size.smallest, FEW_RESAMPLED, f"{size.units} of a class") or short_of(size, ends, level)
    if method == "newcombe" and note and not doubt:
        return "Newcombe's interval takes rows for independent and equal; method='auto' does not"
    return doubt


def short_of(size: EffectiveSize, ends: tuple[float, float], level: float) -> str:
    """Return that an interval of an area ends short of that of its effective size; empty if it does not."""
    low, high = size.interval(level)
    if max(ends[0] - low, high - ends[1]) <= _MOST_SHORT * (high - low):
        return ""
    return f"ends short of the interval of auc_interval(method='auto'), {low:.4g} to {high:.4g}"


def _pairs(sample: AucSample) -> float:
    """Return how many pairs of a positive and a negative share no row."""
    if sample.note or len(sample.strata) == 1:
        hint = "method='auto' allows for weights, groups and folds"
        raise InputError("method='sure'", expected="independent rows", got=sample.note, hint=hint)
    return min(sample.n_pos, sample.n_neg)


def _sure(auc: float, pairs: float, level: float) -> tuple[float, float]:
    """Return all areas that Chernoff's bound for so many independent pairs does not reject.

    Examples
    --------
    >>> low, high = _sure(0.95, 15, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.6633, 0.9999)
    """
    most = log(2 / (1 - level)) / pairs

    def excess(theta: float) -> float:
        return float(special.rel_entr(auc, theta) + special.rel_entr(1 - auc, 1 - theta)) - most

    solve: Any = optimize.brentq
    tiny = 1e-15
    low = solve(excess, tiny, auc) if auc > tiny and excess(tiny) > 0 else 0.0
    high = solve(excess, auc, 1 - tiny) if auc < 1 - tiny and excess(1 - tiny) > 0 else 1.0
    return low, high


def newcombe_variance(theta: float, n_pos: float, n_neg: float) -> float:
    """Return the variance of an area for exponential scores (Hanley & McNeil), with classes of equal size."""
    half = (n_pos + n_neg) / 2 - 1
    spread = 1 + half * ((1 - theta) / (2 - theta) + theta / (1 + theta))
    return theta * (1 - theta) * spread / (n_pos * n_neg)


def newcombe(auc: float, n_pos: float, n_neg: float, level: float) -> tuple[float, float]:
    """Return Newcombe's interval (method 5): all areas that are not rejected given the observed one.

    Examples
    --------
    >>> newcombe(1.0, 10, 20, 0.95)
    (0.848..., 1.0)
    """
    z_squared = normal_quantile(level) ** 2

    def excess(theta: float) -> float:
        return (auc - theta) ** 2 - z_squared * newcombe_variance(theta, n_pos, n_neg)

    solve: Any = optimize.brentq
    low = 0.0 if auc == 0 else solve(excess, 0.0, min(auc, 1 - _NEXT_TO_A_ROOT), xtol=1e-14)
    high = 1.0 if auc == 1 else solve(excess, max(auc, _NEXT_TO_A_ROOT), 1.0, xtol=1e-14)
    return low, high


_SMALL, _LARGE = 20, 50  # rows of a class with which even equal areas want all the care, and none
_LARGEST = 1e8  # quantile that stands for all beyond: probabilities of few degrees of freedom have none
_UNTOLD, _TOLD = 6.0, 12.0  # rows that tell how much ranks vary: too few, and enough
_SUREST = 37.0  # normal quantile beyond which probabilities are 0 to double precision


@dataclass(frozen=True)
class AreaDifference:
    """A difference of areas (second − first), from effective sizes and placements.

    Parameters
    ----------
    first, second : EffectiveSize
    correlation : float
        Of the two estimates; 0 for independent samples.
    variance, df : float
        Of the difference, as Welch's t takes it; NaN where placements do not say.

    Notes
    -----
    Two intervals. MOVER: L = D − √((B − l_B)² + (u_A − A)² − 2ρ(B − l_B)(u_A − A)), and U likewise, with the ends of
    both areas' own intervals. Welch's: D ± t·√(a + b), with the variances a, b of the differences of placements in
    either class and (a + b)²/(a²/(m − 1) + b²/(n − 1)) degrees of freedom. Welch's holds where enough rows determine
    how much ranks vary, and for equal areas nearly always; MOVER's is wider and holds always. So the interval reaches
    beyond Welch's towards MOVER's, by a share c: 1 with 6 such rows or fewer, 0 with 12 or more. A difference θ between
    0 and D is held against c·|θ/D| of it only, as it is the less of a risk the nearer the areas are: L solves D − L = w
    + c·|L/D|·(m − w) with the half-widths w of Welch and m of MOVER. (With fewer than 50 rows of a class w itself moves
    towards m, by all of c with 20 or fewer: unlike spreads of the two models then mislead Welch's.) A test rejects
    where this interval would not hold the null.

    References
    ----------
    Zou & Donner 2008, Stat. Med. 27:1693–1702; Welch 1947, Biometrika 34:28–35.
    """

    first: EffectiveSize
    second: EffectiveSize
    correlation: float
    variance: float
    df: float

    @property
    def value(self) -> float:
        """Second − first."""
        return self.second.auc - self.first.auc

    @property
    def standard_error(self) -> float:
        """From the placements; from the effective sizes if these are degenerate."""
        if self.variance > 0:
            return sqrt(self.variance)
        a, b = self.first.variance, self.second.variance
        return sqrt(max(a + b - 2 * self.correlation * sqrt(a * b), 0.0)) or nan

    @property
    def reason(self) -> str:
        """Why the interval is not reliable; empty if it is."""
        return self.first.reason or self.second.reason

    def interval(self, level: float) -> tuple[float, float]:
        """Return the interval, clipped to ±1."""
        z = float(special.ndtri((1 + level) / 2))
        return self._low(z), self._high(z)

    def p_above(self, null: float) -> float:
        """Return the one-sided p-value of the test that the difference is above `null`."""
        return _p_value(self._low, self.value, null)

    def p_below(self, null: float) -> float:
        """Return the one-sided p-value of the test that the difference is below `null`."""
        return _p_value(lambda z: -self._high(z), -self.value, -null)

    @property
    def caution(self) -> float:
        """Weight of MOVER's limits relative to Welch's: 1 if few rows determine the variance of ranks."""
        informative = min(self.first.informative, self.second.informative)
        return 1.0 if isnan(self.variance) else float(np.clip((_TOLD - informative) / (_TOLD - _UNTOLD), 0, 1))

    def _low(self, z: float) -> float:
        a, b = self._reaches(z)
        return max(self.value - self._reach(z, _apart(b[0], a[1], self.correlation), self.value), -1.0)

    def _high(self, z: float) -> float:
        a, b = self._reaches(z)
        return min(self.value + self._reach(z, _apart(b[1], a[0], self.correlation), -self.value), 1.0)

    def _reach(self, z: float, mover: float, to_zero: float) -> float:
        """Return the half-width of the interval on one side, given the signed distance of 0 on that side."""
        welch = self._welch(z)
        more = self.caution * max(mover - welch, 0.0)
        if to_zero <= 0 or not self.variance > 0:
            return welch + more
        least = welch + self._caution_at_zero * more
        more -= least - welch
        if least <= to_zero:
            return to_zero * (least + more) / (to_zero + more)
        beyond = least - to_zero
        return to_zero + min(beyond / (1 - more / to_zero) if more < to_zero else inf, beyond + more)

    @property
    def _caution_at_zero(self) -> float:
        smallest = min(self.first.smallest, self.second.smallest)
        return float(np.clip((_LARGE - smallest) / (_LARGE - _SMALL), 0, 1))

    def _welch(self, z: float) -> float:
        return 0.0 if isnan(self.variance) else student(z, self.df) * sqrt(self.variance)

    def _reaches(self, z: float) -> list[tuple[float, float]]:
        found = []
        for size in (self.first, self.second):
            low, high = size.interval_at(student(z, size.df))
            found.append((size.auc - low, high - size.auc))
        return found


def student(z: float, df: float) -> float:
    """Return the t quantile with the tail probability of a normal one.

    Examples
    --------
    >>> student(1.959963984540054, 10)
    2.228...
    """
    quantile = z if df == inf else -float(special.stdtrit(df, special.ndtr(-z)))
    return quantile if abs(quantile) < _LARGEST else _LARGEST


def _apart(one: float, other: float, correlation: float) -> float:
    return sqrt(max(one**2 + other**2 - 2 * correlation * one * other, 0.0))


def _p_value(low: Any, value: float, null: float) -> float:
    """Return the level at which the lower limit of a one-sided interval equals the null value."""
    if value <= null:
        return 0.5 if value == null else 1.0
    if low(_SUREST) >= null:
        return 0.0
    solve: Any = optimize.brentq
    return float(special.ndtr(-solve(lambda z: low(z) - null, 0.0, _SUREST, xtol=1e-10)))


def paired_difference(sample: AucSample, i: int, j: int) -> AreaDifference:
    """Return the difference of two models on the same rows."""
    first, second = sample.size(i), sample.size(j)
    covariance = sample.covariance
    both = float(covariance[i, i] * covariance[j, j])
    correlation = float(np.clip(covariance[i, j] / sqrt(both), -1, 1)) if both > 0 else 0.0
    variance = max(float(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]), 0.0)
    if len(sample.strata) == 1:
        return AreaDifference(first, second, correlation, variance, sample.strata[0].effective_df)
    parts = [stratum.variance_of_difference(i, j) for stratum in sample.strata]
    df = satterthwaite(parts, [stratum.effective_df for stratum in sample.strata])
    if sample.covariance_of_units is None:
        variance = sum(parts)
    return AreaDifference(first, second, correlation, variance, df)


def unpaired_difference(first: AucSample, second: AucSample) -> AreaDifference:
    """Return the difference of two models on independent samples."""
    parts = [stratum.variance(0) for sample in (first, second) for stratum in sample.strata]
    df = satterthwaite(parts, [stratum.effective_df for sample in (first, second) for stratum in sample.strata])
    variance = float(first.covariance[0, 0] + second.covariance[0, 0])
    return AreaDifference(first.size(0), second.size(0), 0.0, variance, df)


def satterthwaite(parts: list[float], df: list[float]) -> float:
    """Return Satterthwaite's degrees of freedom of a sum of variances, at least 1."""
    total = sum(parts)
    if not total > 0:
        return 1.0
    return max(1.0, total**2 / sum(part**2 / d for part, d in zip(parts, df, strict=True)))


_ROUNDING_of_differences = 1e-12  # relative: what rounding leaves of a variance of 0


def all_equal(sample: AucSample) -> Omnibus | None:
    """Return the omnibus test of three or more models; None for two.

    Notes
    -----
    Hotelling's T² of the differences d from the first model with their covariance S, of rank q: F = d′S⁻d·(ν − q +
    1)/(νq) with q and ν − q + 1 degrees of freedom, where ν is the least that Welch gives any pair whose difference
    varies. Models that rank all rows alike count as one: they add nothing to q, and their difference has no ν. For many
    rows this is the χ² test of DeLong, DeLong & Clarke-Pearson. Where fewer than 25 rows determine how much ranks vary,
    covariances are not to be trusted so far: the p-value is then at least that of the most different pair, adjusted for
    all pairs.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson 1988, Biometrics 44:837–845; Hotelling 1931, Ann. Math. Stat. 2:360–378.
    """
    m = len(sample.models)
    if m < 3:
        return None
    sizes = [sample.size(i) for i in range(m)]
    reason = next((size.reason for size in sizes if size.reason), "")
    pairs = [paired_difference(sample, i, j) for i, j in combinations(range(m), 2)]
    varies = _ROUNDING_of_differences * float(np.trace(sample.covariance))
    df_error = min((pair.df for pair in pairs if pair.variance > varies), default=1.0)
    statistic, q = _hotelling(sample.auc, sample.covariance)
    left = df_error - q + 1
    method = "DeLong's covariance, F"
    f = statistic * left / (df_error * q) if q else 0.0
    p_value = float(special.fdtrc(q, left, f)) if q and left > 0 else np.nan
    if min(size.informative for size in sizes) < FEW_FOR_LIMIT or isnan(p_value):
        p = np.array([2 * min(pair.p_above(0.0), pair.p_below(0.0), 0.5) for pair in pairs])
        most_different = float(max_t(p, of_differences(sample.covariance), one_sided=False).min())
        p_value = most_different if isnan(p_value) else max(p_value, most_different)
        method += ", no surer than the most different pair"
    return Omnibus(f, q, left, p_value, method, reason)


def _hotelling(auc: Array, covariance: Array) -> tuple[float, int]:
    """Return d′S⁻d for the differences from the first model, and the rank of S; models that rank alike add nothing."""
    contrast = np.column_stack([-np.ones(auc.size - 1), np.eye(auc.size - 1)])
    difference, spread = contrast @ auc, contrast @ covariance @ contrast.T
    if not np.isfinite(spread).all():
        return 0.0, 0
    values, vectors = np.linalg.eigh(spread)
    kept = values > _ROUNDING_of_differences * max(float(np.trace(covariance)), 0.0)
    return float(((vectors[:, kept].T @ difference) ** 2 / values[kept]).sum()), int(kept.sum())


DifferenceMethod = Literal["auto", "delong"]

DIFFERENCE_METHODS = ("auto", "delong")
_NAMES_OF_DIFFERENCES = {False: "Welch t of placements", True: "Welch t of placements and MOVER of Wilson intervals"}


def compare_areas(
    samples: AucSample | Mapping[str, AucSample], hypothesis: Hypothesis, adjust: Adjust, method: str
) -> Comparisons:
    """Compare the areas of models on the same rows, or of one model per sample."""
    own: Method = "logit" if method == "delong" else "auto"
    level = hypothesis.level
    if isinstance(samples, AucSample):
        estimates = {name: estimate(samples, i, own, level) for i, name in enumerate(samples.models)}
        paired = partial(_paired, samples, hypothesis, method)
        return compare_each_two("AUC", estimates, samples.covariance, paired, adjust, all_equal(samples))
    estimates = {name: estimate(sample, 0, own, level) for name, sample in samples.items()}
    covariance = np.diag([sample.covariance[0, 0] for sample in samples.values()])
    unpaired = partial(_unpaired, list(samples.items()), hypothesis, method)
    return compare_each_two("AUC", estimates, covariance, unpaired, adjust)


def _compare(
    first: str, second: str, found: AreaDifference, hypothesis: Hypothesis, n: float, design: str
) -> Comparison:
    """Test a difference of areas by inverting its interval."""
    method = f"{_NAMES_OF_DIFFERENCES[found.caution > 0]}, {design}"
    ends, reason = found.interval(hypothesis.level), found.reason
    difference = Estimate(found.value, *ends, hypothesis.level, method, n, found.standard_error, reason)
    p_value = hypothesis.judge(found.p_above, found.p_below)
    tail = p_value / 2 if hypothesis.aim == "two-sided" else p_value
    statistic = -float(special.ndtri(tail))
    if hypothesis.alternative == "less" or (hypothesis.aim == "two-sided" and found.value < 0):
        statistic = -statistic
    return hypothesis.comparison(first, second, difference, statistic, p_value, method)


def _paired(sample: AucSample, hypothesis: Hypothesis, method: str, i: int, j: int) -> Comparison:
    design = ", ".join(part for part in ("paired", sample.note) if part)
    first, second = sample.models[i], sample.models[j]
    if sample.alike(i, j):
        return _same(first, second, hypothesis, sample.n)
    found = paired_difference(sample, i, j)
    _warn_without_variance(found, first, second)
    if method == "delong" and found.variance > 0:
        name, error = f"DeLong, {design}", sqrt(found.variance)
        difference = hypothesis.wald(found.value, error, sample.n, name, bound=1)
        return hypothesis.compare(first, second, replace(difference, reason=_doubt_of_differences(found)), method=name)
    return _compare(first, second, found, hypothesis, sample.n, design)


def _same(first: str, second: str, hypothesis: Hypothesis, n: float) -> Comparison:
    """Two models that rank all rows alike, so that their areas are always equal."""
    name = "the scores rank all rows alike"
    difference = Estimate(0.0, 0.0, 0.0, hypothesis.level, name, n, 0.0)
    p_value = hypothesis.judge(lambda null: float(null >= 0), lambda null: float(null <= 0))
    return hypothesis.comparison(first, second, difference, 0.0, p_value, name)


def _unpaired(
    samples: Sequence[tuple[str, AucSample]], hypothesis: Hypothesis, method: str, i: int, j: int
) -> Comparison:
    (first, a), (second, b) = samples[i], samples[j]
    design, n = ", ".join(part for part in ("unpaired", a.note) if part), a.n + b.n
    found = unpaired_difference(a, b)
    _warn_without_variance(found, first, second)
    if method == "delong" and found.variance > 0:
        name, error = f"DeLong, {design}", sqrt(found.variance)
        sizes = [sample.n_pos + sample.n_neg for sample in (a, b)]
        df = satterthwaite([float(s.covariance[0, 0]) for s in (a, b)], [size - 1 for size in sizes])
        difference = hypothesis.wald(found.value, error, n, name, df=df, bound=1)
        return hypothesis.compare(
            first, second, replace(difference, reason=_doubt_of_differences(found)), df=df, method=name
        )
    return _compare(first, second, found, hypothesis, n, design)


def _warn_without_variance(found: AreaDifference, first: str, second: str) -> None:
    if not found.variance > 0:
        warn(
            f"the variance of the difference of {first!r} and {second!r} is 0 or undefined; its interval is put "
            "together from the intervals of both"
        )


def _doubt_of_differences(found: AreaDifference) -> str:
    """Return why DeLong's test is not reliable; empty if it is."""
    if found.reason:
        return found.reason
    informative = min(found.first.informative, found.second.informative)
    if informative < FEW_FOR_LIMIT:
        return f"only {informative:.2g} {found.first.units} tell how much the ranks vary; method='auto' allows for that"
    return ""
