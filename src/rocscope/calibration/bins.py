"""Bins of probabilities: of equal width, of equal size, given by edges, or one per distinct probability.

Rug: where the scores of positives and of negatives lie, in few cells however many rows there are.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.calibration.outcomes import Outcomes
from rocscope.core.counts import ThresholdCounts
from rocscope.errors import InputError

Strategy = Literal["uniform", "quantile", "distinct"]


@dataclass(frozen=True, eq=False)
class Bins:
    """Outcomes gathered in bins ``[edge, next edge)``, the last one closed; an empty bin has counts of 0.

    Attributes
    ----------
    edges : array of b + 1
    first : array of b
        The first level in each bin or, where it is empty, in the next one that is not.
    pos, total, total_score : arrays of b
        Positives, rows and the sum of their probabilities in each bin.
    """

    outcomes: Outcomes
    edges: Array
    first: Array
    pos: Array
    total: Array
    total_score: Array

    @property
    def effective(self) -> Array:
        """Effective number of rows in each bin."""
        filled = self.total > 0
        worth = np.zeros(self.total.size)
        if filled.any():
            worth[filled] = self.outcomes.effective_of(self.total[filled], self.first[filled])
        return worth

    @property
    def x(self) -> Array:
        """Mean probability of each bin; NaN in an empty one."""
        return _ratio(self.total_score, self.total)

    @property
    def share(self) -> Array:
        """Share of positives of each bin; NaN in an empty one."""
        return _ratio(self.pos, self.total)

    def of(self, sample: Outcomes) -> "Bins":
        """Return the same bins for other outcomes at the same levels."""
        columns = (sums(column, self.first) for column in (sample.pos, sample.total, sample.weighed))
        return Bins(sample, self.edges, self.first, *columns)

    def filled(self) -> tuple[Array, Array, Array]:
        """Return rows, mean probability and share of positives of the non-empty bins."""
        used = self.total > 0
        return self.total[used], self.x[used], self.share[used]

    def values(self, pos: Array) -> Array:
        """Return the share in each bin for positives at each level; rows of a matrix are separate samples."""
        return _ratio(sums(pos, self.first), self.total)

    def at_levels(self, pos: Array) -> Array:
        """Return the share of the bin that contains each level."""
        return np.repeat(self.values(pos), np.diff(self.first, append=self.outcomes.score.size), axis=-1)


def _ratio(numerator: Array, denominator: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return numerator / denominator


def sums(column: Array, first: Array) -> Array:
    """Sum the levels of each bin, along the last axis."""
    filled = np.flatnonzero(np.diff(first, append=column.shape[-1]) > 0)
    sums = np.zeros((*column.shape[:-1], first.size))
    sums[..., filled] = np.add.reduceat(column, first[filled], axis=-1)
    return sums


def binned(sample: Outcomes, *, bins: int = 10, strategy: Strategy = "uniform", edges: Any = None) -> Bins:
    """Group outcomes into bins; see `rocscope.calibration_curve` for the options."""
    score = sample.score
    if edges is None and check.check_text("strategy", strategy) == "distinct":
        borders, first = np.concatenate([score, score[-1:]]), np.arange(score.size)
    else:
        if edges is None:
            borders = _borders(sample, check.check_whole(bins, "bins"), strategy)
        else:
            borders = _given_edges(edges, score)
        first = np.searchsorted(score, borders[:-1])
    return Bins(sample, borders, first, *(sums(column, first) for column in (sample.pos, sample.total, sample.weighed)))


def _equal_edges(bins: int) -> Array:
    """Return the edges of bins of equal width, as the floats nearest to the fractions: .3 and not .1 + .2.

    Examples
    --------
    >>> _equal_edges(10).tolist()
    [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    """
    return np.arange(bins + 1) / bins


def _given_edges(edges: Any, score: Array) -> Array:
    borders = check.check_numbers(edges, "edges")
    if borders.size < 2 or not (np.diff(borders) > 0).all():
        raise InputError("edges", expected="at least two increasing numbers", got=repr(borders.tolist()))
    if borders[0] > score[0] or borders[-1] < score[-1]:
        raise InputError(
            "edges",
            expected=f"to cover all scores, {score[0]:g} to {score[-1]:g}",
            got=f"{borders[0]:g} to {borders[-1]:g}",
        )
    return borders


def _borders(sample: Outcomes, bins: int, strategy: str) -> Array:
    if strategy == "uniform":
        return _equal_edges(bins).astype(sample.dtype if np.dtype(sample.dtype).kind == "f" else np.float64)
    if strategy == "quantile":
        return np.concatenate([sample.score[sample.starts(bins)], sample.score[-1:]])
    raise InputError("strategy", expected="'uniform', 'quantile' or 'distinct'", got=repr(strategy))


class Rug(NamedTuple):
    """Non-empty cells of equal width on [0, 1]: midpoints, and the positives and negatives in each."""

    x: Array
    pos: Array
    neg: Array


def rug(counts: ThresholdCounts, cells: int = 200) -> Rug:
    """Count the positives and negatives in narrow cells of the score.

    Parameters
    ----------
    counts : ThresholdCounts
        Of probabilities.
    cells : int
        Of equal width, ``[low, high)``, the last one closed.

    References
    ----------
    Vuk & Curk 2006, §6 and figure 8.

    Examples
    --------
    >>> rug(ThresholdCounts([0.9, 0.8, 0.1], [2, 1, 0], [0, 0, 3]), cells=2)
    Rug(x=array([0.25, 0.75]), pos=array([0., 3.]), neg=array([3., 0.]))
    """
    score = counts.threshold[::-1]
    edges = _equal_edges(cells).astype(score.dtype if score.dtype.kind == "f" else np.float64)
    first = np.concatenate([[0], np.searchsorted(score, edges[1:-1])])
    pos, neg = (sums(column[::-1], first) for column in (counts.pos, counts.neg))
    used = pos + neg > 0
    return Rug((np.flatnonzero(used) + 0.5) / cells, pos[used], neg[used])
