"""CumulativeCounts: what is known at thresholds, be it of every distinct score or of the ends of ranges only."""

from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.exact_sums import Sums
from rocscope.core.point import OperatingPoint
from rocscope.core.result import Result, number
from rocscope.errors import OneClassError, ScoreError

if TYPE_CHECKING:
    from rocscope.core.counts import Pairs, ThresholdCounts


class CumulativeCounts(Result):
    """True and false positives at some thresholds, and the totals: what exact counts and counts in ranges share.

    Curves are made of it. What needs more asks for it, and gets InexactCountsError where it is not known: every level
    (`require_levels`), the vertices of the ROC hull (`on_hull`), or the pairs that are ranked right (`pairs`).

    Attributes
    ----------
    threshold : array of k scores, strictly decreasing
    cumulative : pair of arrays of k + 1
        True and false positives from (0, 0) on.
    holds_levels : bool
        Whether every distinct score has its threshold.
    holds_hull : bool
        Whether every vertex of the exact ROC hull is at a threshold.
    attained : ThresholdCounts
        The thresholds as if they were all levels: every point is one of the exact curve.
    best_case : ThresholdCounts
        Counts above whose hull the exact curve nowhere is.
    """

    threshold: Array
    cumulative: tuple[Array, Array]
    holds_levels: bool
    holds_hull: bool
    attained: "ThresholdCounts"
    best_case: "ThresholdCounts"
    _totals: tuple[float, float]

    def __len__(self) -> int:
        return self.threshold.size

    @property
    def tp(self) -> Array:
        """Positives at or above each threshold."""
        return self.cumulative[0][1:]

    @property
    def fp(self) -> Array:
        """Negatives at or above each threshold."""
        return self.cumulative[1][1:]

    @cached_property
    def remaining(self) -> tuple[Array, Array]:
        """False and true negatives from (n_pos, n_neg) on: one point more than there are thresholds."""
        tp, fp = self.cumulative
        return self.n_pos - tp, self.n_neg - fp

    @property
    def fn(self) -> Array:
        """Positives below each threshold."""
        return self.remaining[0][1:]

    @property
    def tn(self) -> Array:
        """Negatives below each threshold."""
        return self.remaining[1][1:]

    def whole(self, index: Array) -> Sums:
        """Return true and false positives at increasing points of `cumulative`, as whole numbers of `unit`.

        Nothing is rounded, so of two points it is certain which is better.
        """
        tp, fp = self.cumulative
        return tp[index].tolist(), fp[index].tolist()

    @cached_property
    def whole_totals(self) -> tuple[int, int]:
        """Positives and negatives as whole numbers of `unit`."""
        (n_pos,), (n_neg,) = self.whole(np.array([len(self)]))
        return n_pos, n_neg

    @cached_property
    def climbs(self) -> tuple[Array, Array]:
        """Counts of points that increase where `cumulative` does."""
        return self.cumulative

    @property
    def unit(self) -> int:
        """How many units of `whole` count as 1."""
        return 1

    @property
    def n_pos(self) -> float:
        """Number of positives (sum of their weights)."""
        return self._totals[0]

    @property
    def n_neg(self) -> float:
        """Number of negatives (sum of their weights)."""
        return self._totals[1]

    @property
    def n(self) -> float:
        """Number of rows (sum of all weights)."""
        return self.n_pos + self.n_neg

    @property
    def prevalence(self) -> float:
        """Share of positives in the sample."""
        return self.n_pos / self.n

    def require_both_classes(self, what: str) -> None:
        """Raise OneClassError unless there are positives and negatives."""
        if not (self.n_pos and self.n_neg):
            missing = "negatives" if self.n_pos else "positives"
            raise OneClassError(what, expected="both classes", got=f"no {missing} among {number(self.n)} rows")

    def require_levels(self, what: str) -> "ThresholdCounts":
        """Return the counts of every distinct score, or raise InexactCountsError."""
        raise NotImplementedError

    def on_hull(self, what: str = "ROC hull") -> "ThresholdCounts":
        """Return points among which all vertices of the ROC hull are, or raise InexactCountsError."""
        raise NotImplementedError

    def pairs(self) -> "Pairs":
        """Count the pairs of a positive and a negative that are ranked right, and those that are tied."""
        raise NotImplementedError

    def at(self, threshold: float) -> OperatingPoint:
        """Return the operating point that predicts positive iff ``score >= threshold``.

        The comparison is exact: a threshold is not rounded to the type of the scores.

        Raises
        ------
        InexactCountsError
            If the threshold lies within a range; the message names the nearest ones that are known.

        Examples
        --------
        >>> from rocscope import ThresholdCounts
        >>> ThresholdCounts([0.9, 0.6, 0.4], [1, 1, 1], [0, 0, 1]).at(0.5)
        OperatingPoint(tp=2, fp=0, fn=1, tn=1, threshold=0.5)
        """
        if not check.is_number(threshold):
            raise ScoreError("threshold", expected="a number", got=repr(threshold))
        if isinstance(threshold, np.generic):  # whose comparisons would round
            threshold = cast(float, threshold.item())
        return OperatingPoint(*self._cells(threshold), threshold)

    def _cells(self, threshold: float) -> tuple[float, float, float, float]:
        """Return true and false positives, false and true negatives at a threshold."""
        raise NotImplementedError
