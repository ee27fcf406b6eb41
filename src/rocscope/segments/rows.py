"""Sorted rows of all segments, from which counts and figures of each segment are made."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import add
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from rocscope import kernels
from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.grouping import deal
from rocscope._base.radix import decode, encode, least_from
from rocscope._base.threads import in_threads
from rocscope.core.counts import CumulativeCounts, ThresholdCounts
from rocscope.core.weighted import sums_from
from rocscope.segments.levels import SegmentLevels, cuts, entries, in_pieces, running
from rocscope.segments.slots import sorted_by_slot

Piece = TypeVar("Piece")


class SegmentRows(Protocol):
    """Rows of one model in segments."""

    @property
    def totals(self) -> tuple[Array, Array]:
        """Positives and negatives of each segment."""
        ...

    def counts(self, segment: int) -> CumulativeCounts:
        """Return the counts of a segment."""
        ...

    def pooled(self) -> ThresholdCounts:
        """Return the counts of the rows of all segments."""
        ...

    @property
    def at_once(self) -> bool:
        """Whether the levels of many segments are at hand at once, in whole numbers."""
        ...

    def take(self, segments: Array) -> Self:
        """Return those of some segments, by their numbers."""
        ...

    def in_pieces(self, function: Callable[[SegmentLevels], Piece]) -> list[Piece]:
        """Return what a function makes of the levels of consecutive segments, in order."""
        ...


@dataclass(frozen=True)
class SortedSegments:
    """Unweighted rows as their scores' ordered bits, those of a segment's positives, then of its negatives, increasing.

    Attributes
    ----------
    codes : array of n
    bounds : array of 2 · segments + 1
        Where the positives and the negatives of each segment begin.
    dtype : type of the scores
    """

    codes: Array
    bounds: NDArray[np.int64]
    dtype: np.dtype[Any]
    at_once = True

    @classmethod
    def of(cls, slots: list[Array], scores: list[Array], segments: int, dtype: np.dtype[Any]) -> "SortedSegments":
        """Sort rows, given by `slots_of` and their scores (or the codes of these), which are used up."""
        return cls(*sorted_by_slot(slots, scores, 2 * segments), dtype)

    @property
    def totals(self) -> tuple[Array, Array]:
        sizes = np.diff(self.bounds)
        return sizes[::2], sizes[1::2]

    def counts(self, segment: int) -> ThresholdCounts:
        begin, middle, end = self.bounds[2 * segment : 2 * segment + 3].tolist()
        scores = decode(self.codes[begin:end], self.dtype)
        return ThresholdCounts.from_checked(np.arange(begin, end) < middle, scores)

    def take(self, segments: Array) -> "SortedSegments":
        rows, bounds = entries(self.bounds, (2 * segments[:, None] + np.arange(2)).ravel())
        return SortedSegments(self.codes[rows], bounds, self.dtype)

    def pooled(self) -> ThresholdCounts:
        sizes = np.diff(self.bounds)
        positive = np.repeat(np.arange(sizes.size) % 2 == 0, sizes)
        return ThresholdCounts.from_checked(positive, decode(self.codes, self.dtype))

    def at_least(self, cut: float) -> tuple[Array, Array]:
        """Return the positives and the negatives of each segment whose score is at least `cut`."""
        limits = np.finfo(self.dtype) if self.dtype.kind == "f" else np.iinfo(self.dtype)
        if cut > limits.max or cut <= limits.min:
            n_pos, n_neg = self.totals
            return (0 * n_pos, 0 * n_neg) if cut > limits.max else (n_pos, n_neg)
        code = encode(np.array([least_from(cut, self.dtype)], self.dtype))[0]
        above = np.concatenate([[0], np.cumsum(self.codes >= code)])[self.bounds]
        return np.diff(above)[::2], np.diff(above)[1::2]

    def pairs(self) -> tuple[Array, Array]:
        """Return of each segment the pairs whose negative is below the positive, and those where it is not above it."""
        below, not_above = np.empty((2, self.bounds.size // 2), np.int64)

        def count(first: int, last: int) -> None:
            some = slice(first, last)
            bounds = self.bounds[2 * first : 2 * last + 1]
            kernels.segments.count_pairs(self.codes, bounds, below[some], not_above[some])

        in_threads(lambda part: count(*part), pairwise(cuts(self.bounds[::2])))
        return below, not_above

    def in_pieces(self, function: Callable[[SegmentLevels], Piece]) -> list[Piece]:
        return in_pieces(self.bounds[::2], self.part, function)

    def part(self, first: int, last: int) -> SegmentLevels:
        """Return the levels of the segments from `first` up to `last`."""
        bounds = self.bounds[2 * first : 2 * last + 1]
        codes, bounds = self.codes[bounds[0] : bounds[-1]], bounds - bounds[0]
        sizes = np.diff(bounds)
        if codes.size < kernels.SMALL:
            start, code, *counted = _levels_of_few(codes, sizes)
            tp, fp = (running(each, start) for each in counted)
        else:
            start, code, tp, fp = _levels_of_many(codes, bounds)
        return SegmentLevels(start, decode(code, self.dtype), tp, fp, sizes[::2], sizes[1::2])


def _levels_of_few(codes: Array, sizes: Array) -> tuple[Array, Array, Array, Array]:
    slot = np.repeat(np.arange(sizes.size), sizes)
    order = np.lexsort((~codes, slot // 2))
    segment, code, negative = slot[order] // 2, codes[order], slot[order] % 2
    first = np.flatnonzero(np.concatenate([[True], (segment[1:] != segment[:-1]) | (code[1:] != code[:-1])]))
    total, neg = np.diff(first, append=codes.size), np.add.reduceat(negative, first)
    start = segment[first].searchsorted(np.arange(sizes.size // 2 + 1))
    return start, code[first], total - neg, neg


def _levels_of_many(codes: Array, bounds: Array) -> tuple[Array, Array, Array, Array]:
    segments = bounds.size // 2
    code, start = np.empty_like(codes), np.empty(segments + 1, np.int64)
    tp, fp = np.empty(codes.size, np.int64), np.empty(codes.size, np.int64)
    size = kernels.segments.merge(codes, bounds, code, tp, fp, start)
    return start, code[:size], tp[:size], fp[:size]


@dataclass(frozen=True)
class WeightedSegments:
    """Weighted rows, segment by segment in the order they came in; each segment is ranked when it is asked for."""

    positive: NDArray[np.bool_]
    scores: Array
    weight: Array
    bounds: NDArray[np.int64]
    at_once = False

    @classmethod
    def of(
        cls, segment: Array, segments: int, positive: NDArray[np.bool_], scores: Array, weight: Array
    ) -> "WeightedSegments":
        """Bring rows of segments that are numbered from 0 together."""
        order, bounds = deal(segment, np.arange(segment.size), segments)
        weight = weight[order]
        check.check_some_weight(bool(np.maximum.reduceat(weight, bounds[:-1]).all()))
        return cls(positive[order], scores[order], weight, bounds)

    @property
    def totals(self) -> tuple[Array, Array]:
        pos = np.where(self.positive, self.weight, 0)
        return sums_from(pos, self.bounds[:-1]), sums_from(self.weight - pos, self.bounds[:-1])

    def counts(self, segment: int) -> ThresholdCounts:
        rows = slice(*self.bounds[segment : segment + 2].tolist())
        return ThresholdCounts.from_checked(self.positive[rows], self.scores[rows], self.weight[rows])

    def take(self, segments: Array) -> "WeightedSegments":
        rows, bounds = entries(self.bounds, segments)
        return WeightedSegments(self.positive[rows], self.scores[rows], self.weight[rows], bounds)

    def pooled(self) -> ThresholdCounts:
        return ThresholdCounts.from_checked(self.positive, self.scores, self.weight)

    def in_pieces(self, function: Callable[[SegmentLevels], Piece]) -> list[Piece]:
        return [function(SegmentLevels.of_each([self.counts(i) for i in range(self.bounds.size - 1)]))]


@dataclass(frozen=True)
class CountedSegments:
    """Segments that were counted apart."""

    each: Sequence[CumulativeCounts]
    at_once = False

    @property
    def totals(self) -> tuple[Array, Array]:
        n_pos, n_neg = np.array([(counts.n_pos, counts.n_neg) for counts in self.each]).T
        return n_pos, n_neg

    def counts(self, segment: int) -> CumulativeCounts:
        return self.each[segment]

    def take(self, segments: Array) -> "CountedSegments":
        return CountedSegments([self.each[segment] for segment in segments.tolist()])

    def pooled(self) -> ThresholdCounts:
        found = [counts.require_levels("counts of all segments") for counts in self.each]
        while len(found) > 1:  # in pairs, so that no level is copied for every segment
            found = [add(*found[i : i + 2]) if i + 1 < len(found) else found[i] for i in range(0, len(found), 2)]
        return found[0]

    def in_pieces(self, function: Callable[[SegmentLevels], Piece]) -> list[Piece]:
        return [function(SegmentLevels.of_each([counts.require_levels("counts by segment") for counts in self.each]))]
