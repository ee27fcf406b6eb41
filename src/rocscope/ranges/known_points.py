"""KnownPoints: the points of a curve that bins tell exactly, where the levels between them are not known."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NoReturn

from rocscope._types import Array, Ties
from rocscope.core.counts import Pairs, ThresholdCounts
from rocscope.core.point import OperatingPoint
from rocscope.core.ranking import Levels, Ranking
from rocscope.ranges.binned import BinnedCounts
from rocscope.ranges.sketch import CountsSketch


@dataclass(frozen=True)
class _PairsInBins(Pairs):
    """Pairs ranked right, a tied one counting half, of which it is not known which are tied."""

    binned: BinnedCounts

    def auc(self, ties: Ties = "half") -> float:
        self._require_half(ties)
        return super().auc(ties)

    def fraction(self, ties: Ties = "half") -> Fraction:
        self._require_half(ties)
        return super().fraction(ties)

    def _require_half(self, ties: Ties) -> None:
        if ties in ("lower", "upper"):
            raise self.binned.inexact(f"AUC with ties={ties!r}")


class KnownPoints(ThresholdCounts):
    """What curves are made of when bins hold several scores: points, but no levels.

    Thresholds and cumulative counts are exact. What needs every level raises InexactCountsError, so that no chord is
    taken for the curve; what needs the hull alone works where the bins hold it.
    """

    def __init__(self, binned: BinnedCounts) -> None:
        self.binned = binned
        self._ranking: Ranking = Levels(binned.low, binned.pos, binned.neg)

    @property
    def ends(self) -> ThresholdCounts:
        """The known points as if they were all: their hull is what is surely attained."""
        return ThresholdCounts.from_ranking(self._ranking)

    @property
    def ranking(self) -> Ranking:
        """The known points, where all vertices of the hull are among them."""
        if not self.binned.holds_hull:
            raise self.binned.inexact("ROC hull")
        return self._ranking

    @cached_property
    def _levels(self) -> Levels:
        self.require_levels("counts of every distinct score")

    def points(self) -> Iterator[tuple[Array, Array]]:
        self.require_levels("figure over all thresholds")

    def points_on_hull(self) -> Iterator[tuple[Array, Array]]:
        if not self.binned.holds_hull:
            self.require_levels("largest difference of the rates")
        return self.ends.points()

    def require_levels(self, what: str) -> NoReturn:
        raise self.binned.inexact(what)

    def at(self, threshold: float) -> OperatingPoint:
        """Return the operating point at a threshold that splits no bin."""
        return self.binned.at(threshold)

    def pairs(self) -> Pairs:
        """Count the pairs ranked right, where bins do not leave that open."""
        if not self.binned.is_exact_area:
            self.require_levels("AUC")
        right, _ = self.binned.right_bounds
        return _PairsInBins(right // 2, right % 2, self.n_pos * self.n_neg, self.binned)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KnownPoints) and self.binned == other.binned

    __hash__ = None  # type: ignore[assignment]  # arrays inside

    def to_dict(self) -> dict[str, Any]:
        """Return the bins, safe for JSON."""
        return self.binned.to_dict()

    def __repr__(self) -> str:
        return f"KnownPoints({self.binned!r})"


def known_points(bins: BinnedCounts | CountsSketch) -> ThresholdCounts:
    """Return the exact statistic where bins tell it, otherwise the points that they tell."""
    binned = bins.binned() if isinstance(bins, CountsSketch) else bins
    return binned.counts() if binned.is_exact else KnownPoints(binned)
