"""From ranks to the covariance of AUCs: DeLong, clustered, weighted and cross-validated, in O(n log n).

The placement of a row is the share of the other class that it is ranked right against, a tie counting one half; the
AUC is the mean placement of either class. How placements vary within the classes is how the AUC varies.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import Predictions
from rocscope.core.rows import independent_units
from rocscope.errors import InputError, OneClassError, WeightError
from rocscope.sample import Sample

WeightKind = Literal["auto", "frequency", "sampling"]
OverFolds = Literal["pooled", "mean"]


@dataclass(frozen=True)
class AucSample:
    """AUCs of m models on the same rows and the m × m covariance of the estimates.

    `n_pos` and `n_neg` are the independent units behind each class: rows, or groups that hold such rows.
    """

    models: tuple[str, ...]
    auc: Array
    covariance: Array
    n_pos: float
    n_neg: float
    n: float
    note: str = ""


@dataclass(frozen=True)
class _Rows:
    """Checked columns: labels, scores of m models, weights (or None), groups and folds as codes (or None)."""

    positive: NDArray[np.bool_]
    scores: dict[str, Array]
    weight: Array | None
    frequency: bool
    groups: NDArray[np.intp] | None
    fold: NDArray[np.intp] | None


def _placements(positive: NDArray[np.bool_], score: Array, weight: Array | None = None) -> Array:
    """Return for each row twice the number (weight) of rows of the other class that it is ranked right against.

    A tie counts one, so that whole numbers stay whole.

    Examples
    --------
    >>> _placements(np.array([True, False, True]), np.array([3, 2, 2]))
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


def sample_of_counts(counts: ThresholdCounts, model: str = "score") -> AucSample:
    """Return the AUC of ranked counts and its DeLong variance; counts are repeated rows."""
    counts.require_both_classes("AUC interval")
    pos, neg = counts.pos, counts.neg
    require_whole(pos, neg)
    n_pos, n_neg = counts.n_pos, counts.n_neg
    auc = counts.pairs().auc()
    above = (counts.tn + (counts.tn + neg)) / (2 * n_neg) - auc
    below = ((counts.tp - pos) + counts.tp) / (2 * n_pos) - auc
    variance = _per_class(pos @ above**2, n_pos) + _per_class(neg @ below**2, n_neg)
    return AucSample((model,), np.array([auc]), np.array([[variance]]), n_pos, n_neg, counts.n)


def require_whole(*counts: Array) -> None:
    """Raise unless counts are whole: they stand for rows."""
    if any((values % 1 != 0).any() for values in counts if values.dtype.kind == "f"):
        raise WeightError(
            "counts",
            expected="whole numbers, since counts do not tell how many rows a weight stands for",
            hint="pass the rows with sample_weight (Predictions)",
        )


def _per_class(squares: Any, n: float) -> float:
    """Variance of a mean; NaN for one row, which says nothing about how much rows vary."""
    return float(squares) / ((n - 1) * n) if n > 1 else np.nan


def auc_sample(
    sample: Sample, *, groups: Any = None, folds: OverFolds | None = None, weights: WeightKind = "auto"
) -> AucSample:
    """Return the AUC of one model and its variance, from its rows where they are known."""
    given = not (groups is None or groups is False)
    if given or folds == "mean":
        sample.require_rows("groups" if given else "folds='mean'")
    if sample.rows is None:
        return sample_of_counts(sample.counts, sample.name)
    return sample_of_rows(sample.rows, groups=groups, folds=folds, weights=weights)


def sample_of_rows(
    predictions: Predictions, *, groups: Any = None, folds: OverFolds | None = None, weights: WeightKind = "auto"
) -> AucSample:
    """Return the AUC of each model and their covariance."""
    rows = _rows(predictions, groups, folds == "mean", weights)
    if rows.fold is not None:
        return _mean_over_folds(rows, rows.fold)
    plain = rows.weight is None and rows.groups is None
    if plain and len(rows.scores) == 1:
        model = predictions.models[0]
        return sample_of_counts(predictions.counts(model), model)
    auc, residual = _residuals(rows)
    if rows.groups is not None:
        return _clustered(rows, rows.groups, auc, residual)
    weight = np.ones(rows.positive.size, np.int64) if rows.weight is None else rows.weight
    if rows.weight is None or rows.frequency:
        parts = (_frequency_covariance(residual[mask], weight[mask]) for mask in (rows.positive, ~rows.positive))
        n_pos, n_neg = weight[rows.positive].sum().item(), weight[~rows.positive].sum().item()
        return AucSample(tuple(rows.scores), auc, sum(parts, np.zeros(())), n_pos, n_neg, n_pos + n_neg)
    parts = (_sampling_covariance(residual[mask], weight[mask]) for mask in (rows.positive, ~rows.positive))
    n_pos = int(rows.positive.sum())
    n = rows.positive.size
    return AucSample(tuple(rows.scores), auc, sum(parts, np.zeros(())), n_pos, n - n_pos, n, "sampling weights")


def _rows(predictions: Predictions, groups: Any, by_fold: bool, weights: WeightKind) -> _Rows:
    check.check_choice("weights", weights, ("auto", "frequency", "sampling"))
    weight = predictions.sample_weight
    kept = slice(None) if weight is None else weight > 0
    unit = independent_units(predictions, groups)
    if by_fold and predictions.fold is None:
        raise InputError("folds='mean'", expected="a fold column", hint="pass fold= to Predictions or rocscope.read")
    fold = predictions.fold if by_fold else None
    weight = None if weight is None else weight[kept]
    positive = predictions.y_true[kept]
    if not positive.any() or positive.all():
        missing = "negatives" if positive.any() else "positives"
        raise OneClassError("AUC interval", expected="both classes", got=f"no {missing} among {positive.size} rows")
    return _Rows(
        positive,
        {model: score[kept] for model, score in predictions.scores.items()},
        weight,
        weight is not None and is_frequency(weight, weights),
        None if unit is None else np.unique(unit[kept], return_inverse=True)[1],
        None if fold is None else np.unique(fold[kept], return_inverse=True)[1],
    )


def is_frequency(weight: Array, kind: WeightKind) -> bool:
    """Say whether weights are numbers of equal rows; "auto": when all are whole."""
    whole = weight.dtype.kind == "i" or not (weight % 1).any()
    if kind == "frequency" and not whole:
        raise WeightError("weights='frequency'", expected="whole numbers", hint="use weights='sampling'")
    return whole and kind != "sampling"


def _residuals(rows: _Rows) -> tuple[Array, Array]:
    """Return the AUCs and, for each row and model, its placement as a share less the AUC."""
    weight = rows.weight
    amount = np.ones(rows.positive.size, np.int64) if weight is None else weight
    n_pos, n_neg = amount[rows.positive].sum(), amount[~rows.positive].sum()
    opponents = np.where(rows.positive, 2 * n_neg, 2 * n_pos)
    auc = np.empty(len(rows.scores))
    residual = np.empty((rows.positive.size, len(rows.scores)))
    for j, score in enumerate(rows.scores.values()):
        placed = _placements(rows.positive, score, weight)
        right = placed[rows.positive].sum() if weight is None else placed[rows.positive] @ weight[rows.positive]
        auc[j] = right / (2 * n_pos * n_neg)
        residual[:, j] = placed / opponents - auc[j]
    return auc, residual


def _frequency_covariance(residual: Array, weight: Array) -> Array:
    total = weight.sum().item()
    return (residual.T * weight) @ residual / ((total - 1) * total) if total > 1 else _undefined(residual)


def _sampling_covariance(residual: Array, weight: Array) -> Array:
    weighted, n = residual * weight[:, None], residual.shape[0]
    return n / (n - 1) * (weighted.T @ weighted) / weight.sum() ** 2 if n > 1 else _undefined(residual)


def _undefined(residual: Array) -> Array:
    return np.full((residual.shape[1],) * 2, np.nan)


def _clustered(rows: _Rows, groups: NDArray[np.intp], auc: Array, residual: Array) -> AucSample:
    """Obuchowski (1997), eq. 3–6, for m models; weights multiply the rows within their group."""
    weight = np.ones(rows.positive.size) if rows.weight is None else rows.weight
    n_groups = int(groups.max()) + 1
    sums, totals, holding = [], [], []
    for mask in (rows.positive, ~rows.positive):
        total_weight = weight[mask].sum()
        sums.append(sum_by(groups[mask], residual[mask] * weight[mask, None] / total_weight, n_groups))
        totals.append(total_weight)
        holding.append(int(np.unique(groups[mask]).size))
    covariance = np.full((auc.size, auc.size), np.nan)
    if min(holding) > 1:
        cross = sums[0].T @ sums[1]
        covariance = n_groups / (n_groups - 1) * (cross + cross.T)
        for part, size in zip(sums, holding, strict=True):
            covariance += size / (size - 1) * (part.T @ part)
    n_pos, n_neg = holding
    note = f"{n_groups} groups (Obuchowski)"
    return AucSample(tuple(rows.scores), auc, covariance, n_pos, n_neg, rows.positive.size, note)


def sum_by(code: NDArray[np.intp], values: Array, size: int) -> Array:
    """Return the sums of each column over the rows of each code."""
    return np.column_stack([np.bincount(code, weights=column, minlength=size) for column in values.T])


def _mean_over_folds(rows: _Rows, fold: NDArray[np.intp]) -> AucSample:
    """LeDell, Petersen & van der Laan (2015), eq. 4–6: influence curves of the mean of the folds' AUCs."""
    weight = np.ones(rows.positive.size) if rows.weight is None else rows.weight
    n_folds, n = int(fold.max()) + 1, weight.sum()
    share = np.where(rows.positive, weight[rows.positive].sum(), weight[~rows.positive].sum()) / n
    aucs, influence = np.empty((n_folds, len(rows.scores))), np.empty((rows.positive.size, len(rows.scores)))
    for number in range(n_folds):
        mask = fold == number
        part = _select(rows, mask)
        _require_both(part, number)
        aucs[number], residual = _residuals(part)
        scale = np.sqrt(weight[mask].sum() * n * n_folds)
        influence[mask] = residual / share[mask, None] / scale
    note = f"mean of {n_folds} folds (LeDell)"
    n_pos, n_neg = int(rows.positive.sum()), int((~rows.positive).sum())
    spread = influence * (np.sqrt(weight) if rows.frequency else weight)[:, None]
    if rows.groups is not None:
        spread = sum_by(rows.groups, influence * weight[:, None], int(rows.groups.max()) + 1)
        n_pos, n_neg = (int(np.unique(rows.groups[mask]).size) for mask in (rows.positive, ~rows.positive))
        note += f", {spread.shape[0]} groups"
    return AucSample(tuple(rows.scores), aucs.mean(axis=0), spread.T @ spread, n_pos, n_neg, rows.positive.size, note)


def _select(rows: _Rows, mask: NDArray[np.bool_]) -> _Rows:
    scores = {model: score[mask] for model, score in rows.scores.items()}
    weight = None if rows.weight is None else rows.weight[mask]
    return _Rows(rows.positive[mask], scores, weight, rows.frequency, None, None)


def _require_both(part: _Rows, number: int) -> None:
    if not part.positive.any() or part.positive.all():
        raise OneClassError(
            "folds='mean'",
            expected="both classes in every fold",
            got=f"one class in fold number {number + 1}",
            hint="stratify the folds, or use folds='pooled'",
        )
