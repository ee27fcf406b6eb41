"""From ranks to the covariance of AUCs: DeLong, in groups, weighted and cross-validated, in O(n log n).

The placement of a row is the share of the other class that it is ranked right against, a tie counting one half; the
AUC is the mean placement of either class. How placements vary within the classes is how the AUC varies.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import Predictions
from rocscope.errors import OneClassError
from rocscope.inference.areas.effective_size import EffectiveSize, effective_size
from rocscope.inference.influence.units import OverFolds, Stratum, Units, WeightKind, require_whole, units_of
from rocscope.sample import Sample

_ROUNDING = 1e-12


@dataclass(frozen=True)
class AucSample:
    """AUCs of m models on the same rows, and the strata that say how they vary together.

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
    covariance_of_groups: Array | None = None
    scores: tuple[Array, ...] = ()

    @cached_property
    def covariance(self) -> Array:
        """Of the m areas."""
        if self.covariance_of_groups is not None:
            return self.covariance_of_groups
        with np.errstate(under="ignore"):
            return sum((stratum.covariance for stratum in self.strata), np.zeros(()))

    def size(self, model: int) -> EffectiveSize:
        """Return how many trials an area is worth."""
        with np.errstate(under="ignore"):
            return effective_size(float(self.auc[model]), self.strata, model, float(self.covariance[model, model]))

    def alike(self, first: int, second: int) -> bool:
        """Whether two models rank all rows alike, so that their areas are equal whatever the rows."""
        if any((stratum.moves[:, first] != stratum.moves[:, second]).any() for stratum in self.strata):
            return False
        one, other = (np.unique(self.scores[model], return_inverse=True)[1] for model in (first, second))
        return np.array_equal(one, other)


def placements(positive: NDArray[np.bool_], score: Array, weight: Array | None = None) -> Array:
    """Return for each row twice the number (weight) of rows of the other class that it is ranked right against.

    A tie counts one, so that whole numbers stay whole.

    Examples
    --------
    >>> placements(np.array([True, False, True]), np.array([3, 2, 2]))
    array([2, 3, 1])
    """
    order = np.argsort(score)
    ordered = score[order]
    is_pos = positive[order]
    amount = np.ones(score.size, np.int64) if weight is None else weight[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    ends = np.concatenate((starts[1:], [score.size]))
    pos, neg = (np.concatenate((amount[:1] * 0, np.cumsum(np.where(mask, amount, 0)))) for mask in (is_pos, ~is_pos))
    for_positives = neg[starts] + neg[ends]
    for_negatives = 2 * pos[-1] - pos[starts] - pos[ends]
    size = ends - starts
    placed = np.empty_like(amount)
    placed[order] = np.where(is_pos, np.repeat(for_positives, size), np.repeat(for_negatives, size))
    return placed


def sample_of_counts(counts: ThresholdCounts, model: str = "score", note: str = "") -> AucSample:
    """Return the AUC of ranked counts and how it varies; counts are repeated rows."""
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
    """Return the AUC of one model and how it varies, from its rows where they are known."""
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
    """Return the AUC of each model and how they vary together."""
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
    sides = (units.positive, ~units.positive)
    strata = tuple(
        replace(units.stratum(residual[mask], mask), inside=_inside(placed[mask], units.times_of(mask)))
        for mask in sides
    )
    names, scores = tuple(units.scores), tuple(units.scores.values())
    if units.group is None:
        n_pos, n_neg = (stratum.units for stratum in strata)
        return AucSample(names, auc, strata, n_pos, n_neg, units.n, units.note, scores=scores)
    holding = units.holding()
    parts = [units.stratum_of_groups(residual[mask], mask) for mask in sides]
    whole = Stratum(
        parts[0].moves + parts[1].moves, None, units.n_groups, units.n_groups - 1, units.n_groups, holding=holding
    )
    return AucSample(names, auc, (whole,), *holding, units.n, units.note, _obuchowski(parts, whole), scores)


def _obuchowski(parts: list[Stratum], whole: Stratum) -> Array:
    """Obuchowski (1997), eq. 3–6, for m models; weights multiply the rows within their group."""
    cross = parts[0].moves.T @ parts[1].moves
    return parts[0].covariance + parts[1].covariance + whole.scale * (cross + cross.T)


def _inside(placed: Array, times: Array | None) -> Array:
    """Return for each model how many rows are placed below 1, and above 0."""
    masks = np.stack([placed < 1 - _ROUNDING, placed > _ROUNDING])
    return masks.sum(axis=1) if times is None else times @ masks


def _placed(units: Units) -> tuple[Array, Array]:
    """Return the AUCs (of each fold, where there are folds), and the placement of each row as a share."""
    if units.fold is not None:
        placed = np.empty((units.positive.size, len(units.scores)))
        aucs = []
        for mask, part in units.parts():
            auc, placed[mask] = _placed(part)
            aucs.append(auc)
        return np.array(aucs), placed
    weight, amount = units.weight, units.amount
    n_pos, n_neg = amount[units.positive].sum(), amount[~units.positive].sum()
    opponents = np.where(units.positive, 2 * n_neg, 2 * n_pos)
    auc = np.empty(len(units.scores))
    placed = np.empty((units.positive.size, len(units.scores)))
    for j, score in enumerate(units.scores.values()):
        twice = placements(units.positive, score, weight)
        right = twice[units.positive].sum() if weight is None else twice[units.positive] @ weight[units.positive]
        auc[j] = min(right / (2 * n_pos * n_neg), 1.0)  # sums of weights are rounded
        placed[:, j] = twice / opponents
    return auc, placed
