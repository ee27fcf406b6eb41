"""The choice of model and threshold on many samples at once: matrices of counts in, choices and their worth out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rocscope._types import Array
from rocscope.core.context import Context
from rocscope.decisions.criteria import Criterion

Tallied = Mapping[str, tuple[Array, Array]]
"""For each model positives and negatives at each of its levels, a sample a row."""

_TIE = 1e-13


class Chosen(NamedTuple):
    """For each sample: the model and the point chosen, as numbers, and what it is worth there; NaN without a choice."""

    model: Array
    point: Array
    worth: Array


@dataclass(frozen=True)
class Rule:
    """What is chosen by: the lowest expected cost in a context, or a criterion at its prevalence.

    `scale` is how large worth can be; a difference of 10⁻¹³ of it is a tie.
    """

    criterion: Criterion
    context: Context
    scale: float = 1.0

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
        goodness, point, depth = (np.stack(part) for part in zip(*map(self._best, tallied.values()), strict=True))
        enough = self._enough(goodness.max(axis=0))
        model = np.where(goodness >= enough, depth, np.inf).argmin(axis=0)[None]
        goodness, point = (np.take_along_axis(part, model, axis=0)[0] for part in (goodness, point))
        worth = np.where(np.isfinite(goodness), self.criterion.sign * goodness, np.nan)
        return Chosen(model[0], point, worth)

    def _best(self, counts: tuple[Array, Array]) -> tuple[Array, Array, Array]:
        """Return goodness, number and share of positive predictions of the best point of one model in each sample."""
        tp, fp = map(from_zero, counts)
        goodness = self.worth_of_points(tp, fp)
        goodness *= self.criterion.sign
        goodness[np.isnan(goodness)] = -np.inf
        highest = goodness.max(axis=1)
        point = (goodness >= self._enough(highest)[:, None]).argmax(axis=1)
        return highest, point, pick(tp, point) + pick(fp, point)

    def _enough(self, highest: Array) -> Array:
        return np.where(np.isfinite(highest), highest - _TIE * self.scale, highest)


def from_zero(counts: Array) -> Array:
    """Return cumulative counts along the last axis, from "nobody positive" on."""
    out = np.zeros((*counts.shape[:-1], counts.shape[-1] + 1), counts.dtype)
    np.cumsum(counts, axis=-1, out=out[..., 1:])
    return out


def pick(matrix: Array, column: Array) -> Array:
    """Return one entry of each row."""
    return np.take_along_axis(matrix, column[:, None], axis=1)[:, 0]
