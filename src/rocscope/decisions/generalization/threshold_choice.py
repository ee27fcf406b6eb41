"""Choose model and threshold on many resamples at once: matrices of counts in, choices and their values out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rocscope._base.arrays import Array
from rocscope.core.context import Context
from rocscope.decisions.constraints import Constraint
from rocscope.decisions.criteria import Criterion

_TIE = 1e-13  # as in `admissible`, so that replicates break ties as the choice does


class Chosen(NamedTuple):
    """For each sample: indices of the chosen model and point, and its value; NaN without a choice."""

    model: Array
    point: Array
    worth: Array


class Best(NamedTuple):
    """The best point of one model in each sample: its value, its index and how many it predicts positive."""

    goodness: Array
    point: Array
    depth: Array


@dataclass(frozen=True)
class Rule:
    """What the choice optimises: expected cost in a context, or a criterion at its prevalence.

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
        """Return cost or criterion at points of samples with given class sizes; NaN where undefined."""
        share: Any = self.context.target_prevalence
        with np.errstate(invalid="ignore", divide="ignore"):
            if self.criterion.name == "min_cost":
                return _cost(self.context, tp, fp, n_pos, n_neg)
            tp, fp = (np.asarray(cell, dtype=np.float64) for cell in (tp, fp))
            fn, tn = n_pos - tp, n_neg - fp
            if share is not None:
                positive, negative = share / n_pos, (1 - share) / n_neg
                tp, fn, fp, tn = positive * tp, positive * fn, negative * fp, negative * tn
            return np.asarray(self.criterion.value(tp, fp, fn, tn), dtype=np.float64)

    def best(self, tp: Array, fp: Array, *, acting: bool = False) -> Best:
        """Return the best point of one model in each sample, optionally among those that predict somebody positive."""
        n_pos, n_neg = tp[..., -1:], fp[..., -1:]
        if self.criterion.equivalent:  # a line in tp and fp takes the fewest passes over large arrays
            with np.errstate(invalid="ignore", divide="ignore"):
                goodness = -_cost(self.criterion.equivalent(self.context), tp, fp, n_pos, n_neg)
        else:
            goodness = self.criterion.sign * self.worth(tp, fp, n_pos, n_neg)
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
        """Return the best point within a maximum share of positive predictions, or the mix of two that attains it."""
        share: Any = self.context.target_prevalence
        n_pos, n_neg = tp[:, -1:], fp[:, -1:]
        with np.errstate(invalid="ignore", divide="ignore"):
            share = n_pos / (n_pos + n_neg) if share is None else share
            depth = np.nan_to_num(share * (tp / n_pos)) + np.nan_to_num((1 - share) * (fp / n_neg))
        beyond = depth > limit * (1 + _TIE)
        with np.errstate(invalid="ignore", divide="ignore"):
            low, high = self._mixed(goodness, depth, beyond)
            part = ((limit - pick(depth, low)) / (pick(depth, high) - pick(depth, low))).clip(0, 1)
            mixed = np.where(part > 0, (1 - part) * pick(goodness, low) + part * pick(goodness, high), -np.inf)
        inside = np.where(beyond, -np.inf, goodness)
        inside[:, :first] = -np.inf
        highest = inside.max(axis=1)
        whole = (inside >= _enough(highest, self.scale)[:, None]).argmax(axis=1)
        drawn = mixed > _enough(highest, self.scale) + 2 * _TIE * self.scale
        ends = [np.where(drawn, end, whole) for end in (low, high)]
        everybody = [np.where(pick(depth, end) == depth[:, -1], depth.shape[1] - 1, end) for end in ends]
        point = np.column_stack([*everybody, np.where(drawn, part, 0.0)])
        return Best(np.where(drawn, mixed, highest), point, pick(tp, point) + pick(fp, point))

    def _mixed(self, goodness: Array, depth: Array, beyond: Array) -> tuple[Array, Array]:
        """Return the ends of the edge of the concave envelope of value over depth at the limit.

        The line through the best points on both sides is raised to the point that lies highest above it, until none
        does.
        """
        low, high = (np.where(side, goodness, -np.inf).argmax(axis=1) for side in (~beyond, beyond))
        for _ in range(goodness.shape[1]):
            slope = (pick(goodness, high) - pick(goodness, low)) / (pick(depth, high) - pick(depth, low))
            above = goodness - slope[:, None] * depth
            best = above.argmax(axis=1)
            better = pick(above, best) > pick(above, low) + _TIE * self.scale
            if not better.any():
                break
            outside = pick(beyond, best)
            low, high = np.where(better & ~outside, best, low), np.where(better & outside, best, high)
        return low, high


def _cost(context: Context, tp: Array, fp: Array, n_pos: Array, n_neg: Array) -> Array:
    """Return the expected cost per case.

    With the share π of positives it is
    π·c_fn + (1 − π)·c_tn + tp·π·(c_tp − c_fn)/n_pos + fp·(1 − π)·(c_fp − c_tn)/n_neg.
    """
    of, share = context.costs, context.target_prevalence
    share = n_pos / (n_pos + n_neg) if share is None else share
    cost = tp * (share * (of["tp"] - of["fn"]) / n_pos)
    cost += fp * ((1 - share) * (of["fp"] - of["tn"]) / n_neg)
    cost += share * of["fn"] + (1 - share) * of["tn"]
    return cost


def among(found: Sequence[Best], sign: int, scale: float) -> Chosen:
    """Choose among the best points of all models in each sample."""
    goodness, point, depth = (np.stack(part) for part in zip(*found, strict=True))
    enough = _enough(goodness.max(axis=0), scale)
    model = np.where(goodness >= enough, depth, np.inf).argmin(axis=0)
    goodness, point = (part[model, np.arange(model.size)] for part in (goodness, point))
    return Chosen(model, point, np.where(np.isfinite(goodness), sign * goodness, np.nan))


def _enough(highest: Array, scale: float) -> Array:
    return np.where(np.isfinite(highest), highest - _TIE * scale, highest)


def from_zero(counts: Array) -> Array:
    """Return cumulative counts along the last axis, starting at "nobody positive"."""
    out = np.zeros((*counts.shape[:-1], counts.shape[-1] + 1), counts.dtype)
    np.cumsum(counts, axis=-1, out=out[..., 1:])
    return out


def pick(matrix: Array, point: Array) -> Array:
    """Return one entry per row; for a point with three columns, the mix of the first two with the third as share."""
    if point.ndim == 2:
        first, second, share = point.T
        return (1 - share) * pick(matrix, first.astype(np.intp)) + share * pick(matrix, second.astype(np.intp))
    return matrix[np.arange(len(matrix)), point]
