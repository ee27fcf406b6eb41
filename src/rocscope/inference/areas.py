"""The area under the ROC curve (AUC): its variance, its confidence interval, and differences between AUCs.

The placement of a positive is the share of negatives that have a lower score. The placement of a negative is the share
of positives that have a higher score. A tie counts one half. The mean placement of the positives equals the AUC, and so
does the mean placement of the negatives. DeLong's variance of the AUC is V = S₁₀/P + S₀₁/N. S₁₀ is the variance of the
placements of the P positives, and S₀₁ is the variance of the placements of the N negatives. For
`rocscope.inference.variance`, each class is a stratum. The influence of a row is its placement minus the AUC,
multiplied by the row's share of its class. If groups contain rows of both classes, all groups together are one stratum
(Obuchowski).

The symmetric interval AUC ± z·√V covers too rarely if the AUC is large or if there are few rows. For an AUC of 1, V =
0. Therefore the AUC A is treated as a proportion observed in A(1 − A)/V trials, and Wilson's interval is used. If few
rows determine V, V is shrunk towards a prior (`effective_size`). The interval of a difference combines the intervals of
both AUCs (MOVER) with Welch's t interval (`AreaDifference`).

The file is in this order: effective size, AUCs and their covariance, intervals, differences, comparisons.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from math import inf, isnan, log, nan, sqrt
from typing import Any, Literal, get_args

import numpy as np

from rocscope._base import special, validation as check
from rocscope._base.arrays import Array, Booleans
from rocscope._base.contract import contract
from rocscope._base.formatting import about
from rocscope._base.roots import root
from rocscope.core import Predictions, ThresholdCounts, require_kinds
from rocscope.errors import InputError, OneClassError, warn
from rocscope.inference import estimate as inference
from rocscope.inference.proportions import logit, wilson_interval
from rocscope.inference.variance import OverFolds, RowLevels, Stratum, Units, rows_for, units_of
from rocscope.sample import Sample, sample_of

# Weight of the prior for the variance of placements, in rows: the constant part, and the part added if no row is
# informative. Both were found by a search over the designs of docs/guide/intervals.md; see `effective_size`.
_LEAST_PRIOR, _PRIOR = 0.25, 2.0
_ROUNDING = 1e-12  # what rounding leaves of an area of 0 or 1, and, relative to all, of a variance of 0


# Effective size


@dataclass(frozen=True)
class EffectiveSize:
    """Effective sample size of an AUC: the number of binomial trials that gives the same variance.

    Parameters
    ----------
    auc : float
        The AUC.
    trials : float
        Effective number of trials. A proportion from this number of trials has the same variance as the AUC.
    df : float
        Degrees of freedom of the t quantile.
    informative : float
        Number of rows that determine the variance of the placements.
    smallest : float
        Effective number of rows in the smaller class; for grouped rows, the number of groups.
    units : {"rows", "groups"}
        Independent units of the data.
    groups : float, optional
        Effective number of groups.
    least : float
        Smallest value of `smallest` for which the interval is reliable.
    one_more_row : float
        Largest change towards one half that one more row may cause, if weights were estimated; otherwise 0.
    doubt : str
        Reason why estimates from these rows are not reliable, such as weights that violate an assumption. Empty if the
        estimates are reliable.

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
    least: float = inference.FEW_ROWS
    one_more_row: float = 0.0
    doubt: str = ""

    @property
    def variance(self) -> float:
        """Variance of the AUC: A(1 − A)/N for an AUC of A and N effective trials."""
        return self.auc * (1 - self.auc) / self.trials

    @property
    def reason(self) -> str:
        """Reason why the interval is not reliable; empty if the interval is reliable."""
        reason = inference.few_groups(self.groups) if self.units == "groups" else ""
        if reason:
            return reason
        if self.smallest < self.least:
            return f"fewer than {self.least} {self.units} of a class ({self.smallest:g})"
        if self.informative < inference.SHRUNK:
            return f"only {self.informative:.2g} {self.units} determine the variance of the ranks"
        low, high = self.interval(0.95)
        reach = self.auc - low if self.auc >= 0.5 else high - self.auc
        # If the sample lacks heavy rows that are ranked last, the AUC is too high and its variance too small. In a
        # simulation with verification probabilities of .15, .4 and .9, coverage was 31% without such a positive.
        if self.one_more_row > reach:
            return "one more row of a large weight could move the AUC out of its interval"
        reason = inference.unseen_last_ranks(self.smallest, max(self.auc, 1 - self.auc), reach, self.units)
        if reason and self.units == "rows":
            reason += "; method='sure' accounts for this"
        return reason or self.doubt

    def interval(self, level: float) -> tuple[float, float]:
        """Return Wilson's interval for the effective number of trials, with a t quantile in place of z."""
        return self.interval_at(inference.t_quantile(inference.normal_quantile(level), self.df))

    def interval_at(self, quantile: float) -> tuple[float, float]:
        """Return Wilson's interval for the effective number of trials and a given normal or t quantile."""
        return wilson_interval(self.auc, self.trials, quantile)


def effective_size(auc: float, strata: Sequence[Stratum], model: int, variance: float) -> EffectiveSize:
    """Return the effective sample size of an AUC.

    Parameters
    ----------
    auc : float
        The AUC of the model.
    strata : sequence of Stratum
        Influences of the rows: two strata, one per class. For groups with rows of both classes, influences of the
        groups: one stratum.
    model : int
        Column of the model in the influences.
    variance : float
        Obuchowski's variance of the AUC. Used only if there is one stratum.

    Notes
    -----
    Let A be the AUC and B = A(1 − A). Let one class have m rows and the other n rows. The following is computed in each
    class, where s is the number of its rows and x are their placements. The variance of the placements is
    S = Σ(x − A)²/(s − 1). Relative to a binomial variance it is d = min(1, S/B). The number of rows that determine d is
    k = min(s − 1, #{x < 1}, 2s/(kurtosis − 1)). The value d is shrunk towards a prior value
    p = (1 − g)/3 + g·max(m, n)/(m + n), where g = (2A − 1)⁴. The prior has a weight of c = ¼ + 2√(1 − k/(s − 1)) rows.
    The result is d* = (k·d + c·p)/(k + c), and v = d*/s.

    From v₁ and v₀ of the two classes, N = 1/(v₁ + v₀) and df = (v₁ + v₀)²/(v₁²/(m − 1 + c₁) + v₀²/(n − 1 + c₀)). For
    A = 1, N = min(m, n). For A < ½ the classes are exchanged. With weights w, s is Kish's (Σw)²/Σw². For the mean AUC
    of K folds with sₖ rows of the class, s is K²/Σ(1/sₖ), s − 1 is replaced by Σ(sₖ − 1), and x − A is the difference
    from the AUC of the row's fold.

    K groups are one stratum with k = min(K − 1, 2K/(kurtosis − 1)) and Obuchowski's variance V. Let M₊ be the number of
    groups with positives, and M₋ the number of groups with negatives. Then 1/N = (k·V/B + c·p(1/M₊ + 1/M₋))/(k + c) and
    df = K − 1 + c. For groups of unequal sizes M, K − 1 is replaced by (K − 1)·(ΣM)²/(K·ΣM²).

    The constant c, the power in g and the degrees of freedom were found by a search. In the simulations of
    docs/guide/intervals.md, coverage is at least 93% in every design and at most 98% in most designs.

    References
    ----------
    Wilson 1927, J. Am. Stat. Assoc. 22:209–212; Korn & Graubard 1998, Surv. Methodol. 24:193–201; Franco, Little,
    Louis & Slud 2019, J. Surv. Stat. Methodol. 7:334–364 (Wilson at an effective size). The shrinkage is not published.
    """
    if len(strata) == 1:
        return _size_of_groups(auc, strata[0], model, variance)
    sizes = [stratum.effective_units for stratum in strata]
    smallest = min(sizes)
    prior = _prior_share(auc, *sizes)
    binomial = auc * (1 - auc)  # B, the largest variance of placements with this mean
    total, denominator = 0.0, 0.0
    observed, observed_rows = 0.0, 0.0
    for stratum, size in zip(strata, sizes, strict=True):
        informative = _informative_rows(stratum, auc, model)  # k
        share = 0.0  # d
        if informative and binomial > 0:
            share = min(1.0, stratum.variance(model) * size / binomial)
        weight = _prior_weight(informative, stratum.effective_df)  # c
        part = (informative * share + weight * prior) / (informative + weight) / size  # v = d*/s
        total += part
        denominator += part**2 / (stratum.effective_df + weight)
        observed += share / size
        observed_rows += share / size * informative
    # Mean of the informative rows of both classes, weighted by what each contributes to the variance.
    informative = observed_rows / observed if observed else 0.0
    trials = smallest if _is_end(auc) else 1 / total
    return EffectiveSize(auc, trials, total**2 / denominator, informative, smallest)


def _size_of_groups(auc: float, stratum: Stratum, model: int, variance: float) -> EffectiveSize:
    """Return the effective sample size of an AUC if rows are in groups that contain both classes."""
    groups, df, smallest = stratum.effective_units, stratum.effective_df, min(stratum.groups_of_class)
    if _is_end(auc):
        return EffectiveSize(auc, smallest, df + 1, 0.0, smallest, "groups", groups)
    informative = 0.0 if isnan(variance) else min(df, _rows_by_kurtosis(stratum, model))
    weight = _prior_weight(informative, df)
    prior = _prior_share(auc, *stratum.groups_of_class) * sum(1 / held for held in stratum.groups_of_class)
    observed = variance / (auc * (1 - auc)) if informative else 0.0
    trials = (informative + weight) / (informative * observed + weight * prior)
    return EffectiveSize(auc, trials, df + weight, informative, smallest, "groups", groups)


def _prior_weight(informative: float, df: float) -> float:
    """Return the weight of the prior in the shrunken variance, as a number of rows."""
    return _LEAST_PRIOR + _PRIOR * sqrt(1 - informative / df if informative else 1.0)


def _is_end(auc: float) -> bool:
    return min(auc, 1 - auc) <= _ROUNDING


def _prior_share(auc: float, m: float, n: float) -> float:
    """Return the prior for the variance of placements, divided by A(1 − A), the binomial variance at the same mean."""
    # 1/3 is the ratio for uniform placements, at an AUC of one half. Near an AUC of 1, where few rows of either class
    # are ranked wrongly, the ratio is max(m, n)/(m + n).
    g = (2 * auc - 1) ** 4
    return (1 - g) / 3 + g * max(m, n) / (m + n)


def _informative_rows(stratum: Stratum, auc: float, model: int) -> float:
    """Return the number of rows of a class that determine the variance of its placements."""
    if stratum.df <= 0 or stratum.inner_units is None:
        return 0.0
    inner = stratum.inner_units[0, model] if auc >= 0.5 else stratum.inner_units[1, model]
    return min(stratum.effective_df, inner, _rows_by_kurtosis(stratum, model))


def _rows_by_kurtosis(stratum: Stratum, model: int) -> float:
    """Return the size of a normal sample whose variance is estimated equally precisely; 0 if all values are equal."""
    return stratum.informative_units(stratum.moves[:, model], least=_ROUNDING**2)


# Areas and their covariance


@dataclass(frozen=True)
class AucSample:
    """AUCs of m models on the same rows, with the influences that determine the covariance of the AUCs.

    Attributes
    ----------
    models : tuple of m str
        Names of the models.
    auc : array of m
        AUC of each model.
    strata : tuple of Stratum
        Influences of the rows: two strata, one per class. For groups with rows of both classes, one stratum of groups.
    n_pos, n_neg : float
        Numbers of positives and negatives. For grouped rows, numbers of groups that contain positives and negatives.
    n : float
        Number of rows.
    note : str
        Description of weights, groups and folds, which is added to the name of the method.
    covariance_of_units : array of m × m, optional
        Covariance of the AUCs, if it is not the sum of the covariances of the strata.
    one_more_row : array of m, optional
        Largest change of each AUC towards one half that one more row may cause, if weights were estimated.
    doubt : str
        Reason why estimates from these rows are not reliable; empty if the estimates are reliable.
    """

    models: tuple[str, ...]
    auc: Array
    strata: tuple[Stratum, ...]
    n_pos: float
    n_neg: float
    n: float
    note: str = ""
    covariance_of_units: Array | None = None
    one_more_row: Array | None = None
    doubt: str = ""

    @cached_property
    def covariance(self) -> Array:
        """Covariance matrix of the m AUCs."""
        if self.covariance_of_units is not None:
            return self.covariance_of_units
        with np.errstate(under="ignore"):
            return sum((stratum.covariance for stratum in self.strata), np.zeros(()))

    @cached_property
    def _sizes(self) -> dict[int, EffectiveSize]:
        return {}

    def size(self, model: int) -> EffectiveSize:
        """Return the effective sample size of the AUC of a model, given by its index. The result is cached."""
        if model not in self._sizes:
            self._sizes[model] = self._size(model)
        return self._sizes[model]

    def _size(self, model: int) -> EffectiveSize:
        with np.errstate(under="ignore"):
            variance = float(self.covariance[model, model])
            size = effective_size(float(self.auc[model]), self.strata, model, variance)
        one_more_row = 0.0 if self.one_more_row is None else float(self.one_more_row[model])
        size = replace(size, one_more_row=one_more_row, doubt=self.doubt)
        if len(self.strata) == 1 or self.covariance_of_units is None or not variance > 0:
            return size
        # Estimated weights: the strata hold the rows with their weights taken as given, so scale their effective size
        # by what estimating the weights does to the variance.
        variance_given_weights = sum(stratum.variance(model) for stratum in self.strata)
        if isnan(variance_given_weights):  # for a class of one row
            return size
        trials = size.trials * variance_given_weights / variance
        return replace(size, trials=trials, least=inference.FEW_WEIGHTED)


def placements(positive: Booleans, score: Array, weight: Array | None = None) -> Array:
    """Return twice the unscaled placement of each row.

    The unscaled placement of a positive is the number of negatives with a lower score. The unscaled placement of a
    negative is the number of positives with a higher score. Ties count one half, so doubled numbers are whole. With
    weights, the weights of these rows are summed.

    Examples
    --------
    >>> placements(np.array([True, False, True]), np.array([3, 2, 2]))
    array([2, 3, 1])
    """
    ranked = RowLevels.of(positive, score)
    pos, neg = ranked.counts(np.ones(score.size, np.int64) if weight is None else weight)
    return ranked.to_rows(2 * (neg.sum() - np.cumsum(neg)) + neg, 2 * np.cumsum(pos) - pos)


def sample_of_counts(counts: ThresholdCounts, model: str = "score", note: str = "") -> AucSample:
    """Return the AUC and its variance from the numbers of positives and negatives at each score."""
    counts.require_both_classes("AUC interval")
    pos, neg = counts.pos, counts.neg
    # As float64, so that products with moves convert nothing.
    of_positives, of_negatives = pos.astype(np.float64), neg.astype(np.float64)
    counts.require_cases()
    n_pos, n_neg = counts.n_pos, counts.n_neg
    auc = counts.pairs().auc()
    # Placements by level: the negatives below a positive, and the positives above a negative; ties count one half.
    of_pos = (counts.tn + (counts.tn + neg)) / (2 * n_neg)
    of_neg = ((counts.tp - pos) + counts.tp) / (2 * n_pos)
    inner = _inner_units(of_pos, of_positives)
    positives = Stratum((of_pos - auc)[:, None] / n_pos, of_positives, n_pos, n_pos - 1, n_pos, inner)
    inner = _inner_units(of_neg, of_negatives)
    negatives = Stratum((of_neg - auc)[:, None] / n_neg, of_negatives, n_neg, n_neg - 1, n_neg, inner)
    return AucSample((model,), np.array([auc]), (positives, negatives), n_pos, n_neg, counts.n, note)


def auc_sample(sample: Sample, *, groups: Any = None, folds: OverFolds | None = None) -> AucSample:
    """Return the AUC of one model and its variance. Uses the rows if the sample has rows, and its counts otherwise."""
    rows = rows_for(sample, groups, folds)
    if rows is None:
        of_counts = sample_of_counts(sample.counts, sample.name)
        return replace(of_counts, doubt=require_kinds("an interval from counts", sample.counts))
    with np.errstate(under="ignore"):
        return sample_of_rows(rows, groups=groups, folds=folds)


def sample_of_rows(predictions: Predictions, *, groups: Any = None, folds: OverFolds | None = None) -> AucSample:
    """Return the AUC of each model, with the covariance of the AUCs, from the rows of Predictions."""
    units = units_of(predictions, groups=groups, folds=folds)
    if not units.positive.any() or units.positive.all():
        missing = "negatives" if units.positive.any() else "positives"
        got = f"no {missing} among {units.positive.size} rows"
        raise OneClassError("AUC interval", expected="both classes", got=got)
    factor = units.factor_of_folds
    note = units.note_on(f"variance times {factor:.3g} for shared training rows")
    if units.weight is None and units.group is None and factor == 1 and len(units.scores) == 1:
        model = predictions.models[0]
        return sample_of_counts(predictions.counts(model), model, note)
    auc, placed = _placed(units)
    if units.fold is None:
        residual = placed - auc
    else:
        residual = placed - auc[units.fold]  # about the fold's own area
        auc = auc.mean(axis=0)
    residual *= sqrt(factor)
    if units.group is None:  # Obuchowski's variance of groups has no such factor
        residual = residual * units.leave_one_out_factor()[:, None]

    strata = []
    for rows in units.classes:
        inner = _inner_units(placed[rows], units.frequency_of(rows))
        strata.append(replace(units.stratum_of_rows(residual[rows], rows), inner_units=inner))
    of_class = (strata[0].units, strata[1].units) if units.group is None else units.groups_of_class()
    sample = AucSample(tuple(units.scores), auc, tuple(strata), *of_class, units.n, note)

    if units.weighting is not None:
        moves = np.empty_like(residual)
        for rows in units.classes:
            moves[rows] = residual[rows] * units.share(rows)[:, None]
        stratum = replace(units.stratum_of_all(moves), groups_of_class=of_class)
        used = sample.strata if units.group is None else (stratum,)
        sample = replace(sample, strata=used, covariance_of_units=stratum.covariance)
        return replace(sample, one_more_row=_changes_by_a_row(units, auc), doubt=units.weighting.doubt)
    if units.group is None:
        return sample

    # Obuchowski (1997), eq. 3–6: both classes' variances over the groups that hold them, and twice the covariance of
    # the classes within groups. Weights are multiplied within groups.
    positives, negatives = (units.stratum_of_groups(residual[rows], rows) for rows in units.classes)
    groups = units.n_groups
    weight_of_group = np.bincount(units.group, units.row_weights)
    kish = float(weight_of_group.sum()) ** 2 / float(weight_of_group @ weight_of_group)
    moves = positives.moves + negatives.moves
    stratum = Stratum(moves, None, groups, groups - 1, min(groups, kish), groups_of_class=of_class)
    cross = positives.moves.T @ negatives.moves
    covariance = positives.covariance + negatives.covariance + stratum.scale * (cross + cross.T)
    return replace(sample, strata=(stratum,), covariance_of_units=covariance)


def _inner_units(placed: Array, frequency: Array | None) -> Array:
    """Return a 2 × m array for m models: the number of rows with a placement below 1, and above 0."""
    placed = placed.reshape(len(placed), -1)
    below_one, above_zero = placed < 1 - _ROUNDING, placed > _ROUNDING
    if frequency is None:
        return np.array([below_one.sum(axis=0), above_zero.sum(axis=0)])
    return np.array([frequency @ below_one, frequency @ above_zero])


def _changes_by_a_row(units: Units, auc: Array) -> Array:
    """Return the largest change of each AUC towards one half by one more row.

    The row has the weight and the score of a row of the sample, and either class. So a class may lack rows of a large
    weight, but not both classes.
    """
    weight = units.row_weights
    of_one_row = weight if units.frequency is None else weight / units.frequency
    changes = np.empty(auc.size)
    for j, score in enumerate(units.scores.values()):
        ranked = RowLevels.of(units.positive, score)
        pos, neg = ranked.counts(weight)
        heaviest = np.zeros(ranked.threshold.size)
        np.maximum.at(heaviest, ranked.level, of_one_row)
        as_positive = 1 - (np.cumsum(neg) - neg / 2) / neg.sum()
        as_negative = (np.cumsum(pos) - pos / 2) / pos.sum()
        sign = 1 if auc[j] >= 0.5 else -1
        moves = heaviest * sign * (auc[j] - np.array([as_positive, as_negative]))
        changes[j] = (moves.max(axis=1) / [pos.sum(), neg.sum()]).max()
    return changes


def _placed(units: Units) -> tuple[Array, Array]:
    """Return the AUC of each model (with folds, in each fold) and the placement of each row, from 0 to 1."""
    placed = np.empty((units.positive.size, len(units.scores)))
    if units.fold is not None:
        areas = []
        for mask, fold in units.folds():
            area, placed[mask] = _placed(fold)
            areas.append(area)
        return np.array(areas), placed
    weight, row_weights = units.weight, units.row_weights
    positives, negatives = units.classes
    n_pos, n_neg = row_weights[positives].sum(), row_weights[negatives].sum()
    opponents = np.where(units.positive, 2 * n_neg, 2 * n_pos)
    auc = np.empty(len(units.scores))
    for j, score in enumerate(units.scores.values()):
        twice = placements(units.positive, score, weight)
        right = twice[positives].sum() if weight is None else twice[positives] @ weight[positives]
        auc[j] = min(right / (2 * n_pos * n_neg), 1.0)  # sums of weights are rounded
        placed[:, j] = twice / opponents
    return auc, placed


def warn_where_folds_differ(predictions: Predictions | None, pooled: AucSample, folds: OverFolds | None) -> None:
    """Warn if the AUC over pooled folds differs from the mean AUC within folds by more than its standard error.

    Notes
    -----
    If the scores of all folds have the same scale, both numbers estimate the same AUC from the same rows. Their
    difference is then much smaller than the standard error.
    """
    if folds == "mean" or predictions is None or predictions.fold is None:
        return
    try:
        within = sample_of_rows(predictions.select(models=list(pooled.models)), folds="mean")
    except OneClassError:  # a fold of one class has no area to compare with
        return
    for index, model in enumerate(pooled.models):
        size = pooled.size(index)
        if abs(pooled.auc[index] - within.auc[index]) > sqrt(size.variance or 1 / size.trials):
            warn(
                f"the AUC of {model!r} is {pooled.auc[index]:.4g} over pooled folds, but {within.auc[index]:.4g} on "
                "average within folds: the folds have different score scales; use folds='mean'"
            )


# Intervals

Method = Literal["auto", "logit", "delong", "hanley-mcneil", "newcombe", "sure"]

METHODS: tuple[Method, ...] = get_args(Method)
_NAMES = {
    "logit": "DeLong on the logit scale",
    "delong": "DeLong",
    "hanley-mcneil": "Hanley & McNeil",
    "newcombe": "Newcombe's score interval",
}
_OF_NUMBERS = ("hanley-mcneil", "newcombe")  # methods that need only the area and the numbers of rows

# Share of the width of the interval of "auto" by which another interval may end short of it. By simulation of 13
# designs: with a twentieth, nine in ten intervals of DeLong are flagged that cover 93 to 95%; with a seventh, some
# that cover 90% are not flagged.
_MOST_SHORT = 0.1
# For intervals that need only the numbers of rows. With 200 + 1,000 rows, intervals short by a twentieth to a tenth
# cover 92% for a mixture, which does not improve with more rows. One in ten of normal scores is flagged at most.
_MOST_SHORT_OF_NUMBERS = 0.05
_NEXT_TO_A_ROOT = 1e-12  # an area of 0 or 1 solves its own equation; the end of the interval is the other root
_TINY = 1e-15  # least distance from 0 and 1 at which the bound of "sure" is evaluated


@contract
def auc_interval(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    method: Method = "auto",
    level: float = 0.95,
    groups: Any = None,
    folds: OverFolds | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> inference.Estimate:
    """Estimate the area under the ROC curve with a confidence interval.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters.
    method : {"auto", "logit", "delong", "hanley-mcneil", "newcombe", "sure"}
        Method of the interval:

        - "auto": Wilson's interval at the effective sample size. It is valid in small samples. In large samples it
          differs by less than 1% from the "logit" interval.
        - "logit": interval on the logit scale with DeLong's variance.
        - "delong": AUC ± z·se with DeLong's variance, clipped to 0 and 1, as in pROC.
        - "hanley-mcneil": AUC ± z·se with Hanley & McNeil's variance, clipped to 0 and 1. The variance depends only on
          the AUC and the numbers of positives and negatives.
        - "newcombe": Newcombe's score interval. It depends only on the AUC and the numbers of positives and negatives.
        - "sure": a wide interval. Its coverage is at least `level` for every distribution of scores and every sample
          size, if rows are independent.
    level : float
        Confidence level, between 0 and 1.
    groups : array of n labels, or False, optional
        Group of each row, such as the patient or customer. Rows of one group may be dependent. By default, the groups
        of the Predictions. Pass False to treat all rows as independent.
    folds : {"pooled", "mean"}, optional
        "pooled" (default) estimates one AUC from the rows of all folds. "mean" estimates the mean of the AUCs of the
        folds.

    Returns
    -------
    Estimate
        The AUC with its interval. If `reliable` is False, `reason` states why.

    Raises
    ------
    InputError
        If the data are invalid (see `ThresholdCounts.from_scores`), if `level` is not between 0 and 1, or if
        ``method="sure"`` is used with weights, groups or folds.
    OneClassError
        If the data contain only one class. With ``folds="mean"``, also if a fold contains only one class.

    Warns
    -----
    RocscopeWarning
        If DeLong's variance is 0 or undefined. This happens if the AUC is 0 or 1, if a class has one row, or if all
        scores are tied.
    RocscopeWarning
        If pooled folds have different score scales, so that the pooled AUC differs from the mean AUC of the folds.

    See Also
    --------
    auc, compare, bootstrap, auc_width_sample_size

    Notes
    -----
    Let A be the AUC of P positives and N negatives. The placement of a positive is the share of negatives that have a
    lower score. The placement of a negative is the share of positives that have a higher score. Ties count one half.
    DeLong's variance of the AUC is V = S₁₀/P + S₀₁/N, where S₁₀ and S₀₁ are the variances of the placements of
    positives and of negatives. For groups, Obuchowski's variance also includes the covariance between positives and
    negatives of the same group. For the mean over K folds with variances Vₖ, V = ΣVₖ/K². For folds, V is
    increased (see below). The time is O(n log n).

    "auto" is Wilson's interval at the effective sample size. If DeLong's variance is 0 or undefined, "logit" and
    "delong" return the interval of "auto", and the `method` of the Estimate states this.

    Hanley & McNeil's variance assumes exponential scores in both classes: V = (A(1 − A) + (P − 1)(A/(2 − A) − A²) +
    (N − 1)(2A²/(1 + A) − A²))/(P·N).

    The limits θ of Newcombe's interval solve (A − θ)² = z²·V(θ), where
    V(θ) = θ(1−θ)(1 + h·((1−θ)/(2−θ) + θ/(1+θ)))/(P·N) and h = (P + N)/2 − 1.

    "sure" contains all θ with M·(A·log(A/θ) + (1 − A)·log((1 − A)/(1 − θ))) ≤ log(2/(1 − level)), where M = min(P, N).
    Chernoff's bound applies because an AUC is an average of means over pairs without common rows (Hoeffding).

    Coverage was measured by simulation; see the guide on intervals. The 60 designs have AUCs of 0.6 to 0.99, 5 to 200
    positives and 20 to 10,000 negatives. Positives have half to twice the spread of negatives. Scores are skewed, tied,
    weighted, grouped or in folds. In each design, 95% intervals of "auto" cover the AUC in at least 93% of samples, or
    are marked as not reliable. With fewer than 10 positives, or an AUC of at least 0.95, they cover in more than 98% of
    samples. The lowest coverage is 61% for "logit", 53% for "delong" and 84% for "newcombe".

    For cross-validated scores, the interval estimates the mean of the AUCs that the models of the folds have on new
    rows. A model that is fitted to all rows again usually has a higher AUC. The folds share training rows, so the AUC
    varies more than for given scores. The variance is therefore multiplied by 1 + min(1, 150/min(P, N))/2. Without this
    factor, intervals cover in 87 to 91% of samples for linear models with 20 to 50 features and 150 or 300 rows.
    `rocscope.evaluation.nested_cross_validation` estimates this part of the variance instead. The interval is not valid
    for training rows. It is not valid either if the model was chosen as the best of many on these rows.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson 1988, Biometrics 44:837–845; Hanley & McNeil 1982, Radiology 143:29–36; Sun & Xu
    2014, IEEE Signal Process. Lett. 21 (ranks);
    Obuchowski 1997, Biometrics 53:567–578; Newcombe 2006, Stat. Med. 25:559–573, method 5; Perme & Manevski 2019, Stat.
    Methods Med. Res. 28 (logit scale); Hoeffding 1963, J. Am. Stat. Assoc. 58:13–30, §5b (two-sample U-statistics).

    Examples
    --------
    Four positives and four negatives form 16 pairs, of which 13 are concordant:

    >>> y, score = [1, 1, 0, 1, 0, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> auc_interval(y, score)
    Estimate(0.8125, 95% CI [0.3481, 0.9723], n=8; not reliable: fewer than 5 rows of a class (4))
    >>> auc_interval(y, score, method="delong").low
    0.4807...
    """
    level = check.check_level(level)
    check.check_choice("method", method, METHODS)
    data = sample_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    sample = auc_sample(data, groups=groups, folds=folds)
    warn_where_folds_differ(data.rows, sample, folds)
    return estimate_area(sample, 0, method, level)


def estimate_area(sample: AucSample, index: int, method: Method, level: float) -> inference.Estimate:
    """Return the AUC of one model of a sample, with its interval by the given method."""
    auc, size = float(sample.auc[index]), sample.size(index)
    variance = float(sample.covariance[index, index])
    if auc in (0, 1) and variance > 0:
        variance = 0.0  # but for rounding
    if not variance > 0 and method not in (*_OF_NUMBERS, "sure", "auto"):
        warn(
            f"AUC {auc:g} from {sample.n_pos:g} positives and {sample.n_neg:g} negatives: DeLong's variance is "
            f"{'0' if variance == 0 else 'undefined'}, so the interval uses only these numbers of rows"
        )
    error = sqrt(variance) if variance > 0 else nan
    if method == "sure":
        pairs = _independent_pairs(sample)
        ends, name = _sure(auc, pairs, level), f"Chernoff–Hoeffding for {pairs:g} pairs"
    elif method == "newcombe":
        ends, error, name = newcombe(auc, sample.n_pos, sample.n_neg, level), nan, _NAMES[method]
    elif method == "hanley-mcneil":
        error, name = sqrt(hanley_mcneil(auc, sample.n_pos, sample.n_neg)), _NAMES[method]
        ends = _plain(auc, error, level)
    elif method == "auto" or not variance > 0:
        ends = size.interval(level)
        name = f"Wilson for {about(size.trials)} trials, t with {size.df:.0f} df"
        error = sqrt(size.variance) if method == "auto" else nan
        if method != "auto":
            name += f" ({_NAMES[method]}: no variance)"
    else:
        ends = _plain(auc, error, level) if method == "delong" else logit(auc, error, level)
        name = _NAMES[method]
    reason = _reason_of_area(method, sample.note, size, ends, level)
    return inference.Estimate(auc, *ends, level, inference.joined(name, sample.note), sample.n, error, reason)


def _reason_of_area(method: Method, note: str, size: EffectiveSize, ends: tuple[float, float], level: float) -> str:
    """Return the reason why the interval of an AUC is not reliable; empty if the interval is reliable."""
    if method == "sure":
        return size.doubt
    if size.reason or method == "auto":
        return size.reason
    # The other methods use the central limit theorem, so they need more rows and groups than "auto".
    reason = "" if size.groups is None else inference.few(size.groups, inference.FEW_FOR_LIMIT, "groups of equal size")
    reason = reason or inference.few(size.smallest, inference.FEW_RESAMPLED, f"{size.units} of a class")
    by_numbers = method in _OF_NUMBERS
    if by_numbers and note and not reason:
        return f"{_NAMES[method]} assumes independent rows of equal weight; method='auto' does not"
    return reason or short_of(size, ends, level, _MOST_SHORT_OF_NUMBERS if by_numbers else _MOST_SHORT)


def _plain(auc: float, error: float, level: float) -> tuple[float, float]:
    """Return the limits AUC ± z·error, clipped to 0 and 1."""
    reach = inference.normal_quantile(level) * error
    return max(auc - reach, 0.0), min(auc + reach, 1.0)


def _independent_pairs(sample: AucSample) -> float:
    """Return the largest number of pairs of a positive and a negative such that no two pairs share a row."""
    if sample.note or len(sample.strata) == 1:
        hint = "use method='auto', which accounts for weights, groups and folds"
        raise InputError("method='sure'", expected="independent rows", got=sample.note, hint=hint)
    return min(sample.n_pos, sample.n_neg)


def short_of(size: EffectiveSize, ends: tuple[float, float], level: float, most: float = _MOST_SHORT) -> str:
    """Return a warning text if an interval ends well inside the interval of "auto"; otherwise an empty text.

    Parameters
    ----------
    size : EffectiveSize
        Effective sample size of the AUC.
    ends : (float, float)
        Limits of the interval to check.
    level : float
        Confidence level of both intervals.
    most : float
        Share of the width of the interval of "auto" by which the other one may end short of it.
    """
    low, high = size.interval(level)
    if max(ends[0] - low, high - ends[1]) <= most * (high - low):
        return ""
    return f"ends well inside the interval of auc_interval(method='auto'), [{low:.4g}, {high:.4g}]"


def _sure(auc: float, pairs: float, level: float) -> tuple[float, float]:
    """Return the interval of all AUCs that Chernoff's bound does not reject, given a number of independent pairs.

    Examples
    --------
    >>> low, high = _sure(0.95, 15, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.6633, 0.9999)
    """
    most = log(2 / (1 - level)) / pairs

    def excess(theta: float) -> float:
        """Return the Kullback–Leibler divergence of the observed AUC from `theta`, minus the bound."""
        return float(special.rel_entr(auc, theta) + special.rel_entr(1 - auc, 1 - theta)) - most

    low, high = 0.0, 1.0
    if auc > _TINY and excess(_TINY) > 0:
        low = root(excess, _TINY, auc)
    if auc < 1 - _TINY and excess(1 - _TINY) > 0:
        high = root(excess, auc, 1 - _TINY)
    return low, high


def hanley_mcneil(auc: float, n_pos: float, n_neg: float) -> float:
    """Return Hanley & McNeil's variance of an AUC, which assumes exponential scores in both classes.

    Examples
    --------
    For an AUC of one half, the variance is (P + N + 1)/(12·P·N), as in the Mann–Whitney test. With P = 4 and N = 7 this
    is 12/(12·4·7):

    >>> round(1 / hanley_mcneil(0.5, 4, 7), 10)
    28.0
    """
    of_positives = auc / (2 - auc) - auc**2
    of_negatives = 2 * auc**2 / (1 + auc) - auc**2
    return (auc * (1 - auc) + (n_pos - 1) * of_positives + (n_neg - 1) * of_negatives) / (n_pos * n_neg)


def newcombe(auc: float, n_pos: float, n_neg: float, level: float) -> tuple[float, float]:
    """Return Newcombe's score interval (method 5) of an AUC.

    Examples
    --------
    >>> newcombe(1.0, 10, 20, 0.95)
    (0.848..., 1.0)
    """
    z_squared = inference.normal_quantile(level) ** 2

    half = (n_pos + n_neg) / 2 - 1

    def excess(theta: float) -> float:
        # The variance is that of exponential scores (Hanley & McNeil), with classes of equal size.
        spread = 1 + half * ((1 - theta) / (2 - theta) + theta / (1 + theta))
        variance = theta * (1 - theta) * spread / (n_pos * n_neg)
        return (auc - theta) ** 2 - z_squared * variance

    low = 0.0 if auc == 0 else root(excess, 0.0, min(auc, 1 - _NEXT_TO_A_ROOT), xtol=1e-14)
    high = 1.0 if auc == 1 else root(excess, max(auc, _NEXT_TO_A_ROOT), 1.0, xtol=1e-14)
    return low, high


# Differences

# Limits between which the interval of a difference changes from MOVER's to Welch's; see `AreaDifference`.
_MIN_INFORMATIVE_ROWS, _ENOUGH_INFORMATIVE_ROWS = 6.0, 12.0  # MOVER's limits up to the first, Welch's from the second
_SMALL_CLASS, _LARGE_CLASS = 20, 50  # rows of a class up to which equal areas want full caution, and from which none

_LARGEST_Z = 37.0  # normal quantile from which on tail probabilities are 0 in double precision


@dataclass(frozen=True)
class AreaDifference:
    """Difference between the AUCs of two models, second − first, with interval and tests.

    Parameters
    ----------
    first, second : EffectiveSize
        AUC and effective sample size of each model.
    correlation : float
        Correlation of the two estimates; 0 for independent samples.
    variance, df : float
        Variance of the difference and degrees of freedom for Welch's t; NaN if placements do not determine them.
    added : float
        Variance that is added if the models rank few rows differently; see `Stratum.difference`.

    Notes
    -----
    Let A and B be the AUCs of the first and second model, and D = B − A. The interval combines two intervals. MOVER
    uses the intervals [l_A, u_A] and [l_B, u_B] of the AUCs and their correlation ρ. The lower limit is L = D − √((B −
    l_B)² + (u_A − A)² − 2ρ(B − l_B)(u_A − A)); the upper limit is analogous. Welch's interval is D ± t·√(a + b). Here a
    and b are the contributions to the variance from m positives and n negatives, estimated from the differences of
    placements. The degrees of freedom are (a + b)²/(a²/(m − 1) + b²/(n − 1)). Welch's interval has its nominal coverage
    if enough rows determine the variance of the ranks. MOVER's interval covers in all cases, but is wider.

    The half-width is therefore between w, the half-width of Welch's interval, and h, the half-width of MOVER's. The
    weight c of MOVER's interval is 1 if at most 6 rows determine the variance of the ranks, and 0 for 12 or more rows.
    For a limit L near 0, the weight is reduced to c·abs(L/D), because Welch's interval nearly always covers if the AUCs
    are equal. So L solves D − L = w + c·abs(L/D)·(h − w). If the smaller class has at most 20 rows, the weight is not
    reduced, because Welch's interval covers too rarely for models with unequal spread. Between 20 and 50 rows, the
    weight is partly reduced. A test rejects the null value if it is outside this interval.

    References
    ----------
    Zou & Donner 2008, Stat. Med. 27:1693–1702; Welch 1947, Biometrika 34:28–35.
    """

    first: EffectiveSize
    second: EffectiveSize
    correlation: float
    variance: float
    df: float
    added: float = 0.0

    @property
    def value(self) -> float:
        """Difference between the AUCs, second − first."""
        return self.second.auc - self.first.auc

    @property
    def standard_error(self) -> float:
        """Standard error of the difference. If the placements do not vary, it is computed from the effective sizes."""
        if self.variance + self.added > 0:
            return sqrt(self.variance + self.added)
        a, b = self.first.variance, self.second.variance
        return _distance(sqrt(a), sqrt(b), self.correlation) or nan

    @property
    def informative(self) -> float:
        """Number of rows that determine the variance of the placements: the smaller number of the two models."""
        return min(self.first.informative, self.second.informative)

    @property
    def mover_weight(self) -> float:
        """Weight of MOVER's interval, from 0 (Welch's interval only) to 1; see `AreaDifference`."""
        if isnan(self.variance):
            return 1.0
        return _decrease(self.informative, _MIN_INFORMATIVE_ROWS, _ENOUGH_INFORMATIVE_ROWS)

    def interval(self, level: float) -> tuple[float, float]:
        """Return the confidence interval of the difference, clipped to ±1."""
        z = inference.normal_quantile(level)
        return self._low(z), self._high(z)

    def p_above(self, null: float) -> float:
        """Return the one-sided p-value of the test that the difference is above `null`."""
        return _p_value(self._low, self.value, null)

    def p_below(self, null: float) -> float:
        """Return the one-sided p-value of the test that the difference is below `null`."""
        return _p_value(lambda z: -self._high(z), -self.value, -null)

    def _low(self, z: float) -> float:
        _, first_above = self._reaches(self.first, z)
        second_below, _ = self._reaches(self.second, z)
        mover = _distance(second_below, first_above, self.correlation)
        return max(self.value - self._half_width(z, mover, self.value), -1.0)

    def _high(self, z: float) -> float:
        first_below, _ = self._reaches(self.first, z)
        _, second_above = self._reaches(self.second, z)
        mover = _distance(second_above, first_below, self.correlation)
        return min(self.value + self._half_width(z, mover, -self.value), 1.0)

    @staticmethod
    def _reaches(size: EffectiveSize, z: float) -> tuple[float, float]:
        """Return the distance from the AUC to the lower limit of its interval, and the distance to the upper limit."""
        low, high = size.interval_at(inference.t_quantile(z, size.df))
        return size.auc - low, high - size.auc

    def _half_width(self, z: float, mover: float, to_zero: float) -> float:
        """Return the half-width of the interval on one side: Welch's half-width w, widened towards MOVER's.

        Parameters
        ----------
        z : float
            Normal quantile.
        mover : float
            Half-width of MOVER's interval on this side.
        to_zero : float
            Distance from the difference to 0; negative if 0 is on the opposite side.
        """
        total = self.variance + self.added
        welch = 0.0 if isnan(total) else inference.t_quantile(z, self.df) * sqrt(total)
        more = self.mover_weight * max(mover - welch, 0.0)  # c·(h − w)
        if to_zero <= 0 or not total > 0:
            return welch + more
        smallest = min(self.first.smallest, self.second.smallest)
        least = welch + _decrease(smallest, _SMALL_CLASS, _LARGE_CLASS) * more
        more -= least - welch
        # The half-width h solves h = least + more·|L/D| for the end L = D − h, where the weight |L/D| is at most 1:
        # first for an end on this side of 0, then for one past it.
        if least <= to_zero:
            return to_zero * (least + more) / (to_zero + more)
        past_zero = least - to_zero
        if more < to_zero:
            return to_zero + min(past_zero / (1 - more / to_zero), past_zero + more)
        return to_zero + past_zero + more


def _decrease(amount: float, few_rows: float, enough: float) -> float:
    """Return a weight: 1 if `amount` is at most `few_rows`, 0 if it is at least `enough`, linear in between."""
    return min(max((enough - amount) / (enough - few_rows), 0.0), 1.0)


def _distance(one: float, other: float, correlation: float) -> float:
    """Return √(a² + b² − 2ρab), the standard error of a difference of two estimates with correlation ρ."""
    return sqrt(max(one**2 + other**2 - 2 * correlation * one * other, 0.0))


def _p_value(low: Callable[[float], float], value: float, null: float) -> float:
    """Return the one-sided p-value: the error rate at which the lower limit of the interval equals the null value.

    Parameters
    ----------
    low : function of a normal quantile
        Function that returns the lower limit of the interval.
    value, null : float
        Observed difference and null value.
    """
    if value <= null:
        return 0.5 if value == null else 1.0
    if low(_LARGEST_Z) >= null:
        return 0.0
    return float(special.ndtr(-root(lambda z: low(z) - null, 0.0, _LARGEST_Z, xtol=1e-10)))


def paired_difference(sample: AucSample, i: int, j: int) -> AreaDifference:
    """Return the difference between the AUCs of models i and j on the same rows."""
    first, second = sample.size(i), sample.size(j)
    covariance = sample.covariance
    product = float(covariance[i, i] * covariance[j, j])
    correlation = float(np.clip(covariance[i, j] / sqrt(product), -1, 1)) if product > 0 else 0.0
    variance = max(float(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]), 0.0)
    variances, added, df, _ = zip(*(stratum.difference(i, j) for stratum in sample.strata), strict=True)
    if sample.covariance_of_units is None:
        variance = sum(variances)
    df = inference.satterthwaite(np.add(variances, added).tolist(), df)
    return AreaDifference(first, second, correlation, variance, df, sum(added))


def all_equal(sample: AucSample, pairs: Sequence[AreaDifference]) -> inference.Omnibus | None:
    """Test the hypothesis that three or more models have equal AUCs. Return None for two models.

    Parameters
    ----------
    sample : AucSample
        AUCs of the models on the same rows.
    pairs : sequence of AreaDifference
        Differences of all pairs of models.

    Notes
    -----
    The test is Hotelling's T². Let d be the differences from the AUC of the first model, S their covariance, and q the
    rank of S. The statistic is F = d′S⁻d·(ν − q + 1)/(νq) with q and ν − q + 1 degrees of freedom. Here ν is the
    smallest number of Welch's degrees of freedom over all pairs whose difference has a positive variance. Models that
    rank all rows equally count as one model. For many rows, the test equals the χ² test of DeLong, DeLong &
    Clarke-Pearson. If fewer than 25 rows determine the variance of the ranks, the covariance is not reliable. The
    p-value is then at least the smallest adjusted p-value of all pairs.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson 1988, Biometrics 44:837–845; Hotelling 1931, Ann. Math. Stat. 2:360–378.
    """
    m = len(sample.models)
    if m < 3:
        return None
    sizes = [sample.size(i) for i in range(m)]
    reasons = [size.reason for size in sizes if size.reason]
    varies = _ROUNDING * float(np.trace(sample.covariance))
    df_error = min((pair.df for pair in pairs if pair.variance > varies), default=1.0)
    statistic, rank = _hotelling(sample.auc, sample.covariance)
    df_left = df_error - rank + 1
    method = "DeLong's covariance, F"
    f = statistic * df_left / (df_error * rank) if rank else 0.0
    p_value = float(special.fdtrc(rank, df_left, f)) if rank and df_left > 0 else np.nan
    if min(size.informative for size in sizes) < inference.FEW_FOR_LIMIT or isnan(p_value):
        p = np.array([2 * min(pair.p_above(0.0), pair.p_below(0.0), 0.5) for pair in pairs])
        # For a single positive or negative the covariance is NaN, and p-values depend only on the numbers of rows.
        covariance = inference.covariance_of_differences(np.nan_to_num(sample.covariance))
        most_different = float(inference.max_t(p, covariance, one_sided=False).min())
        p_value = most_different if isnan(p_value) else max(p_value, most_different)
        method += ", at least the p-value of the most different pair"
    return inference.Omnibus(f, rank, df_left, p_value, method, reasons[0] if reasons else "")


def _hotelling(auc: Array, covariance: Array) -> tuple[float, int]:
    """Return d′S⁻d and the rank of S, where d are the differences from the first AUC and S is their covariance."""
    contrast = np.column_stack([-np.ones(auc.size - 1), np.eye(auc.size - 1)])
    difference = contrast @ auc
    spread = contrast @ covariance @ contrast.T
    if not np.isfinite(spread).all():
        return 0.0, 0
    # The pseudo-inverse: only directions in which differences vary by more than rounding.
    values, vectors = np.linalg.eigh(spread)
    kept = values > _ROUNDING * max(float(np.trace(covariance)), 0.0)
    projected = vectors[:, kept].T @ difference
    return float((projected**2 / values[kept]).sum()), int(kept.sum())


# Comparisons

DIFFERENCE_METHODS = ("auto", "delong")


def compare_areas(
    samples: AucSample | Mapping[str, AucSample],
    hypothesis: inference.Hypothesis,
    adjust: inference.Adjust,
    method: str,
) -> inference.Comparisons:
    """Compare the AUCs of all pairs of models: models on the same rows, or one model per sample."""
    interval: Method = "logit" if method == "delong" else "auto"
    level = hypothesis.level
    if isinstance(samples, AucSample):
        estimates = {name: estimate_area(samples, i, interval, level) for i, name in enumerate(samples.models)}
        pairs = combinations(range(len(samples.models)), 2)
        differences = {(i, j): paired_difference(samples, i, j) for i, j in pairs}
        paired = partial(_compare_paired, samples, differences, hypothesis, method)
        omnibus = all_equal(samples, [*differences.values()])
        return inference.compare_each_two("AUC", estimates, samples.covariance, paired, adjust, omnibus)
    estimates = {name: estimate_area(sample, 0, interval, level) for name, sample in samples.items()}
    covariance = np.diag([sample.covariance[0, 0] for sample in samples.values()])
    unpaired = partial(_compare_unpaired, list(samples.items()), hypothesis, method)
    return inference.compare_each_two("AUC", estimates, covariance, unpaired, adjust)


def _compare_paired(
    sample: AucSample,
    differences: Mapping[tuple[int, int], AreaDifference],
    hypothesis: inference.Hypothesis,
    method: str,
    i: int,
    j: int,
) -> inference.Comparison:
    first, second = sample.models[i], sample.models[j]
    design = inference.joined("paired", sample.note)
    return _compare_pair(differences[i, j], (first, second), hypothesis, method, sample.n, design, inf)


def _compare_unpaired(
    samples: Sequence[tuple[str, AucSample]], hypothesis: inference.Hypothesis, method: str, i: int, j: int
) -> inference.Comparison:
    first, first_sample = samples[i]
    second, second_sample = samples[j]
    strata = (*first_sample.strata, *second_sample.strata)
    df = inference.satterthwaite([part.variance(0) for part in strata], [part.effective_df for part in strata])
    variances = [float(sample.covariance[0, 0]) for sample in (first_sample, second_sample)]
    difference = AreaDifference(first_sample.size(0), second_sample.size(0), 0.0, sum(variances), df)
    # Degrees of freedom of DeLong's test as in pROC: from the numbers of rows.
    df = inference.satterthwaite(variances, [arm.n_pos + arm.n_neg - 1 for arm in (first_sample, second_sample)])
    design, n = inference.joined("unpaired", first_sample.note), first_sample.n + second_sample.n
    return _compare_pair(difference, (first, second), hypothesis, method, n, design, df)


def _compare_pair(
    difference: AreaDifference,
    names: tuple[str, str],
    hypothesis: inference.Hypothesis,
    method: str,
    n: float,
    design: str,
    df: float,
) -> inference.Comparison:
    """Test a difference of AUCs by inverting its interval, or by DeLong's t or z test with `df` degrees of freedom."""
    if not difference.variance + difference.added > 0:
        warn(
            f"the variance of the AUC difference between {names[0]!r} and {names[1]!r} is 0 or undefined, so its "
            "interval is computed from the intervals of both AUCs"
        )
    elif method == "delong" and difference.variance > 0:
        name = f"DeLong, {design}"
        informative, units, reason = difference.informative, difference.first.units, ""
        if difference.added > 0:
            reason = f"the models rank few {units} differently; method='auto' accounts for this"
        elif informative < inference.FEW_FOR_LIMIT:
            reason = (
                f"only {informative:.2g} {units} determine the variance of the ranks; method='auto' accounts for this"
            )
        shown = hypothesis.wald(difference.value, sqrt(difference.variance), n, name, df=df, bound=1)
        return hypothesis.compare(*names, replace(shown, reason=reason), df=df, method=name)

    name = (
        "Welch t of placements and MOVER of Wilson intervals"
        if difference.mover_weight > 0
        else "Welch t of placements"
    )
    name = inference.joined(name, "one row added for each model" if difference.added else "", design)
    ends = difference.interval(hypothesis.level)
    error = difference.standard_error
    shown = inference.Estimate(difference.value, *ends, hypothesis.level, name, n, error)
    p_value = hypothesis.judge(difference.p_above, difference.p_below)
    # The statistic is the normal quantile with the same p-value and the sign of the difference.
    two_sided = hypothesis.aim == "two-sided"
    statistic = -float(special.ndtri(p_value / 2 if two_sided else p_value))
    if hypothesis.alternative == "less" or (two_sided and difference.value < 0):
        statistic = -statistic
    return hypothesis.comparison(*names, shown, statistic, p_value, name)
