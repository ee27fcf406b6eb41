"""The levels of consecutive groups in flat arrays, and what each group has of values by level."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rocscope._base.arrays import Array
from rocscope.core.cumulative import CumulativeCounts
from rocscope.core.result import number
from rocscope.errors import ScoreError

SegmentWeight = Literal["n", "n_pos"] | None
"""What a group counts in a mean: its rows, its positives, or as much as any other."""

_FIRST_ROUNDED = 2**53


@dataclass(frozen=True)
class SegmentLevels:
    """The levels of consecutive groups, one group after the other: group g has those from `start[g]` on.

    Attributes
    ----------
    start : array of so many groups, and one more
    threshold : array of scores, decreasing in each group
    tp, fp : arrays of counts at or above each level in its group
    n_pos, n_neg : arrays of counts by group
    counted : arrays of positives and of negatives at each level, where they are known before anybody asks
    """

    start: NDArray[np.int64]
    threshold: Array
    tp: Array
    fp: Array
    n_pos: Array
    n_neg: Array
    counted: tuple[Array, Array] | None = None

    @classmethod
    def of(cls, counts: CumulativeCounts) -> "SegmentLevels":
        """Return the levels of one group."""
        known = counts.require_levels("counts by group")
        totals = (np.array([total]) for total in (known.n_pos, known.n_neg))
        start = np.array([0, len(known)])
        return cls(start, known.threshold, known.tp, known.fp, *totals, counted=(known.pos, known.neg))

    @cached_property
    def _each(self) -> tuple[Array, Array]:
        return self.counted or (_steps(self.tp, self.start), _steps(self.fp, self.start))

    @property
    def pos(self) -> Array:
        """Positives at each level."""
        return self._each[0]

    @property
    def neg(self) -> Array:
        """Negatives at each level."""
        return self._each[1]

    @property
    def probabilities(self) -> Array:
        """The thresholds as float64; ScoreError if a score is no probability."""
        outside = (self.threshold < 0) | (self.threshold > 1)
        if outside.any():
            rows = (self.pos + self.neg)[outside].sum()
            raise ScoreError(
                "scores",
                expected="probabilities from 0 to 1",
                got=f"{number(rows)} outside, such as {self.threshold[outside][0].item()!r}",
                hint="recalibrate the scores first (rocscope.calibration.recalibrate)",
            )
        return self.threshold.astype(np.float64)

    def spread(self, values: Array) -> Array:
        """Return a value by group for each of its levels."""
        return np.repeat(values, np.diff(self.start))

    def each(self, reduce: np.ufunc, values: Array) -> Array:
        """Return what is left of values by level in each group, by an operation whose order does not matter."""
        return reduce.reduceat(values, self.start[:-1])

    def sums(self, values: Array, *, upwards: bool = False) -> Array:
        """Return the sum of values by level of each group, rounded as the sum of the group's own array is.

        That has the levels downwards, or upwards.
        """
        ends = (values.size - self.start[::-1] if upwards else self.start).tolist()
        values = np.ascontiguousarray(values[::-1]) if upwards else values
        sums = np.array([values[a:b].sum() for a, b in pairwise(ends)])
        return sums[::-1] if upwards else sums

    def area(self, credit: int) -> Array:
        """Return the area under the ROC curve of each group, where half a tied pair counts `credit`."""
        right = self.each(np.add, self.neg * (2 * (self.tp - self.pos) + credit * self.pos))
        return quotients(right, 2 * self.n_pos * self.n_neg)

    def ks(self) -> Array:
        """Return the largest tpr − fpr of each group, 0 at least."""
        with np.errstate(divide="ignore", invalid="ignore"):
            apart = self.tp / self.spread(self.n_pos) - self.fp / self.spread(self.n_neg)
        return np.maximum(self.each(np.maximum, apart), 0)

    def average_precision(self) -> Array:
        """Return the average precision of each group."""
        with np.errstate(invalid="ignore"):
            return self.sums(self.pos * (self.tp / (self.tp + self.fp))) / self.n_pos

    def brier(self) -> Array:
        """Return the Brier score of each group."""
        p = self.probabilities
        return self.sums(self.pos * (1 - p) ** 2 + self.neg * p**2, upwards=True) / (self.n_pos + self.n_neg)

    def observed_over_expected(self) -> Array:
        """Return the positives of each group over the sum of its probabilities."""
        return ratios(self.n_pos, self.sums(self.probabilities * (self.pos + self.neg), upwards=True))


def quotients(numerator: Array, denominator: Array) -> Array:
    """Return quotients of whole numbers, correctly rounded; 0/0 is NaN."""
    with np.errstate(invalid="ignore"):
        found = (numerator / denominator).astype(np.float64)
    for i in np.flatnonzero(np.maximum(abs(numerator), denominator) > _FIRST_ROUNDED).tolist():
        found[i] = int(numerator[i]) / int(denominator[i])
    return found


def ratios(observed: Any, expected: Any) -> Array:
    """Return quotients, NaN where nothing was expected."""
    expected = np.asarray(expected, np.float64)
    return np.divide(observed, expected, out=np.full(expected.shape, np.nan), where=expected > 0)


def running(counts: Array, start: Array) -> Array:
    """Return the sums of counts in each group, up to each level."""
    sums = np.cumsum(counts)
    return sums - np.repeat(np.concatenate([[0], sums])[start[:-1]], np.diff(start))


def _steps(sums: Array, start: Array) -> Array:
    steps = np.diff(sums, prepend=0)
    steps[start[:-1]] = sums[start[:-1]]
    return steps
