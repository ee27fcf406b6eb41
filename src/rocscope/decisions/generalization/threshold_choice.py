"""The choice of model and threshold on many samples at once: matrices of counts in, choices and their worth out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rocscope._base.arrays import Array
from rocscope.core.context import Context
from rocscope.decisions.constraints import Constraint
from rocscope.decisions.criteria import Criterion

Tallied = Mapping[str, tuple[Array, Array]]
"""For each model positives and negatives at each of its levels, a sample a row."""

_TIE = 1e-13


class Chosen(NamedTuple):
    """For each sample: the model and the point chosen, as numbers, and what it is worth there; NaN without a choice."""

    model: Array
    point: Array
    worth: Array


class Best(NamedTuple):
    """The best point of one model in each sample: how good it is, its number and how many it predicts positive."""

    goodness: Array
    point: Array
    depth: Array


@dataclass(frozen=True)
class Rule:
    """What is chosen by: the lowest expected cost in a context, or a criterion at its prevalence.

    `scale` is how large worth can be; a difference of 10⁻¹³ of it is a tie. Points have to satisfy `constraints`, among
    so many `models` in a `population`, and predict at most the share `limit` of cases positive: if need be a part of
    those of one level, so that the number of a point has a fraction.
    """

    criterion: Criterion
    context: Context
    scale: float = 1.0
    constraints: tuple[Constraint, ...] = ()
    population: float | None = None
    models: int = 1
    limit: float | None = None

    def worth(self, tp: Array, fp: Array, n_pos: Array, n_neg: Array) -> Array:
        """Return cost or criterion at points of samples with so many of each class; NaN where it is not defined."""
        share: Any = self.context.target_prevalence
        with np.errstate(invalid="ignore", divide="ignore"):
            if self.criterion.name == "min_cost":
                return self._cost(tp, fp, n_pos, n_neg, n_pos / (n_pos + n_neg) if share is None else share)
            tp, fp = (np.asarray(cell, dtype=np.float64) for cell in (tp, fp))
            fn, tn = n_pos - tp, n_neg - fp
            if share is not None:
                positive, negative = share / n_pos, (1 - share) / n_neg
                tp, fn, fp, tn = positive * tp, positive * fn, negative * fp, negative * tn
            return np.asarray(self.criterion.value(tp, fp, fn, tn), dtype=np.float64)

    def _cost(self, tp: Array, fp: Array, n_pos: Array, n_neg: Array, share: Any) -> Array:
        """Return the expected cost per case as a line in tp and fp, which takes the fewest passes over large arrays."""
        of = self.context.costs
        cost = tp * (share * (of["tp"] - of["fn"]) / n_pos)
        cost += fp * ((1 - share) * (of["fp"] - of["tn"]) / n_neg)
        cost += share * of["fn"] + (1 - share) * of["tn"]
        return cost

    def worth_of_points(self, tp: Array, fp: Array) -> Array:
        """Return the worth of cumulative counts along the last axis, which end with those of all rows."""
        return self.worth(tp, fp, tp[..., -1:], fp[..., -1:])

    def better_by(self, worth: Any, other: Any) -> Any:
        """Return by how much a worth is better than another, whichever direction is."""
        return self.criterion.sign * (worth - other)

    def choose(self, tallied: Tallied) -> Chosen:
        """Choose the best point of the best model in each sample; of equals the one that predicts fewest positive."""
        found = [self.best(*map(from_zero, counts)) for counts in tallied.values()]
        return among(found, self.criterion.sign, self.scale)

    def best(self, tp: Array, fp: Array, *, acting: bool = False) -> Best:
        """Return the best point of one model in each sample, of all or of those that predict somebody positive."""
        goodness = self.worth_of_points(tp, fp)
        goodness *= self.criterion.sign
        goodness[np.isnan(goodness)] = -np.inf
        for constraint in self.constraints:
            goodness[~self._admits(constraint, tp, fp)] = -np.inf
        if self.limit is not None:
            return self._within(self.limit, goodness, tp, fp, first=int(acting))
        if acting:
            goodness[..., 0] = -np.inf
        highest = goodness.max(axis=1)
        point = (goodness >= _enough(highest, self.scale)[:, None]).argmax(axis=1)
        return Best(highest, point, pick(tp, point) + pick(fp, point))

    def _admits(self, constraint: Constraint, tp: Array, fp: Array) -> Array:
        cells = (tp, fp, tp[..., -1:] - tp, fp[..., -1:] - fp)
        with np.errstate(invalid="ignore", divide="ignore"):
            return constraint.admits(cells, self.context.target_prevalence, self.population, self.models)

    def _within(self, limit: float, goodness: Array, tp: Array, fp: Array, first: int) -> Best:
        """Return the best point that predicts no more than a share positive, be it between two levels."""
        share: Any = self.context.target_prevalence
        n_pos, n_neg = tp[:, -1:], fp[:, -1:]
        with np.errstate(invalid="ignore", divide="ignore"):
            share = n_pos / (n_pos + n_neg) if share is None else share
            depth = np.nan_to_num(share * (tp / n_pos)) + np.nan_to_num((1 - share) * (fp / n_neg))
        beyond = depth > limit * (1 + _TIE)
        last = np.maximum(beyond.shape[1] - 1 - beyond.sum(axis=1), 0)
        after = np.minimum(last + 1, beyond.shape[1] - 1)
        start, end = pick(depth, last), pick(depth, after)
        with np.errstate(invalid="ignore", divide="ignore"):
            part = np.where(end > start, (limit - start) / (end - start), 0.0).clip(0, 1)
            between = np.where(part > 0, (1 - part) * pick(goodness, last) + part * pick(goodness, after), -np.inf)
        inside = np.where(beyond, -np.inf, goodness)
        inside[:, :first] = -np.inf
        highest = inside.max(axis=1)
        point = (inside >= _enough(highest, self.scale)[:, None]).argmax(axis=1).astype(np.float64)
        drawn = between > _enough(highest, self.scale) + 2 * _TIE * self.scale
        point, highest = np.where(drawn, last + part, point), np.where(drawn, between, highest)
        return Best(highest, point, pick(tp, point) + pick(fp, point))


def among(found: Sequence[Best], sign: int, scale: float) -> Chosen:
    """Choose the best of the best points of all models in each sample."""
    goodness, point, depth = (np.stack(part) for part in zip(*found, strict=True))
    enough = _enough(goodness.max(axis=0), scale)
    model = np.where(goodness >= enough, depth, np.inf).argmin(axis=0)[None]
    goodness, point = (np.take_along_axis(part, model, axis=0)[0] for part in (goodness, point))
    return Chosen(model[0], point, np.where(np.isfinite(goodness), sign * goodness, np.nan))


def _enough(highest: Array, scale: float) -> Array:
    return np.where(np.isfinite(highest), highest - _TIE * scale, highest)


def from_zero(counts: Array) -> Array:
    """Return cumulative counts along the last axis, from "nobody positive" on."""
    out = np.zeros((*counts.shape[:-1], counts.shape[-1] + 1), counts.dtype)
    np.cumsum(counts, axis=-1, out=out[..., 1:])
    return out


def pick(matrix: Array, column: Array) -> Array:
    """Return one entry of each row; between two of them where the number of the column has a fraction."""
    if column.dtype.kind != "f":
        return np.take_along_axis(matrix, column[:, None], axis=1)[:, 0]
    low = column.astype(np.intp)
    here, there = pick(matrix, low), pick(matrix, np.minimum(low + 1, matrix.shape[1] - 1))
    return here + (column - low) * (there - here)
