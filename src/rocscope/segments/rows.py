"""The rows of groups, sorted at once: what the counts of a group, and the answers for all groups, are made of."""

from collections.abc import Callable, Iterable, Sequence
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
from rocscope.core.counts import ThresholdCounts
from rocscope.core.cumulative import CumulativeCounts
from rocscope.core.levels import Levels, collapse
from rocscope.core.weighted import sums_from
from rocscope.segments.levels import SegmentLevels, running
from rocscope.segments.slots import sorted_by_slot

Piece = TypeVar("Piece")

_ROWS_AT_ONCE = 1 << 20


class SegmentRows(Protocol):
    """Rows of one model in groups."""

    @property
    def totals(self) -> tuple[Array, Array]:
        """Positives and negatives of each group."""
        ...

    def counts(self, group: int) -> CumulativeCounts:
        """Return the counts of a group."""
        ...

    def pooled(self) -> ThresholdCounts:
        """Return the counts of the rows of all groups."""
        ...

    @property
    def at_once(self) -> bool:
        """Whether the levels of many groups are at hand at once, in whole numbers."""
        ...

    def take(self, groups: Array) -> Self:
        """Return those of some groups, by their numbers."""
        ...

    def answer(self, function: Callable[[SegmentLevels], Array]) -> Array:
        """Return what a function tells of the levels of each group."""
        ...


@dataclass(frozen=True)
class SortedSegments:
    """Unweighted rows as their scores' ordered bits, those of a group's positives, then of its negatives, increasing.

    Attributes
    ----------
    codes : array of n
    bounds : array of 2 · groups + 1
        Where the positives and the negatives of each group begin.
    dtype : type of the scores
    """

    codes: Array
    bounds: NDArray[np.int64]
    dtype: np.dtype[Any]
    at_once = True

    @classmethod
    def of(cls, slots: list[Array], scores: list[Array], groups: int, dtype: np.dtype[Any]) -> "SortedSegments":
        """Sort rows, given by `slots_of` and their scores (or the codes of these), which are used up."""
        return cls(*sorted_by_slot(slots, scores, 2 * groups), dtype)

    @property
    def totals(self) -> tuple[Array, Array]:
        sizes = np.diff(self.bounds)
        return sizes[::2], sizes[1::2]

    def counts(self, group: int) -> ThresholdCounts:
        begin, middle, end = self.bounds[2 * group : 2 * group + 3].tolist()
        scores = decode(self.codes[begin:end], self.dtype)
        return ThresholdCounts.from_checked(np.arange(begin, end) < middle, scores)

    def take(self, groups: Array) -> "SortedSegments":
        rows, bounds = _entries(self.bounds, (2 * groups[:, None] + np.arange(2)).ravel())
        return SortedSegments(self.codes[rows], bounds, self.dtype)

    def pooled(self) -> ThresholdCounts:
        sizes = np.diff(self.bounds)
        positive = np.repeat(np.arange(sizes.size) % 2 == 0, sizes)
        return ThresholdCounts.from_checked(positive, decode(self.codes, self.dtype))

    def lowest(self, tp: Array, fp: Array) -> Array:
        """Return the lowest score of each group that is among its `tp` highest positives or `fp` highest negatives."""
        last = self.codes.size - 1
        ends = self.bounds[1::2], self.bounds[2::2]
        codes = [self.codes[np.minimum(end - above, last)] for end, above in zip(ends, (tp, fp), strict=True)]
        found = np.where(tp == 0, codes[1], np.where(fp == 0, codes[0], np.minimum(*codes)))
        return decode(found, self.dtype)

    def at_least(self, cut: float) -> tuple[Array, Array]:
        """Return the positives and the negatives of each group whose score is at least `cut`."""
        limits = np.finfo(self.dtype) if self.dtype.kind == "f" else np.iinfo(self.dtype)
        if cut > limits.max or cut <= limits.min:
            n_pos, n_neg = self.totals
            return (0 * n_pos, 0 * n_neg) if cut > limits.max else (n_pos, n_neg)
        code = encode(np.array([least_from(cut, self.dtype)], self.dtype))[0]
        above = np.concatenate([[0], np.cumsum(self.codes >= code)])[self.bounds]
        return np.diff(above)[::2], np.diff(above)[1::2]

    def pairs(self) -> tuple[Array, Array]:
        """Return of each group the pairs whose negative is below the positive, and those where it is not above it."""
        below, not_above = np.empty((2, self.bounds.size // 2), np.int64)

        def count(first: int, last: int) -> None:
            some = slice(first, last)
            bounds = self.bounds[2 * first : 2 * last + 1]
            kernels.groups.count_pairs(self.codes, bounds, below[some], not_above[some])

        in_threads(lambda part: count(*part), pairwise(_cuts(self.bounds[::2])))
        return below, not_above

    def answer(self, function: Callable[[SegmentLevels], Array]) -> Array:
        return np.concatenate(self.in_pieces(function))

    def in_pieces(self, function: Callable[[SegmentLevels], Piece]) -> list[Piece]:
        """Return what a function makes of the levels of consecutive groups, some million rows at a time."""
        return _in_pieces(self, self.bounds[::2], function)

    def levels(self, first: int, last: int) -> SegmentLevels:
        """Return the levels of the groups from `first` up to `last`."""
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
    group, code, negative = slot[order] // 2, codes[order], slot[order] % 2
    first = np.flatnonzero(np.concatenate([[True], (group[1:] != group[:-1]) | (code[1:] != code[:-1])]))
    total, neg = np.diff(first, append=codes.size), np.add.reduceat(negative, first)
    start = group[first].searchsorted(np.arange(sizes.size // 2 + 1))
    return start, code[first], total - neg, neg


def _levels_of_many(codes: Array, bounds: Array) -> tuple[Array, Array, Array, Array]:
    groups = bounds.size // 2
    code, start = np.empty_like(codes), np.empty(groups + 1, np.int64)
    tp, fp = np.empty(codes.size, np.int64), np.empty(codes.size, np.int64)
    size = kernels.groups.merge(codes, bounds, code, tp, fp, start)
    return start, code[:size], tp[:size], fp[:size]


def _entries(bounds: Array, parts: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places of the entries of some parts that lie between bounds, and where each begins among them."""
    begins, sizes = bounds[parts], np.diff(bounds)[parts]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    return np.repeat(begins - ends[:-1], sizes) + np.arange(ends[-1]), ends


def _in_pieces(rows: Any, begins: Array, function: Callable[[SegmentLevels], Piece]) -> list[Piece]:
    return in_threads(lambda part: function(rows.levels(*part)), pairwise(_cuts(begins)))


def _cuts(begins: Array) -> list[int]:
    steps = np.arange(_ROWS_AT_ONCE, begins[-1], _ROWS_AT_ONCE)
    return np.unique(np.concatenate([[0], begins[:-1].searchsorted(steps), [begins.size - 1]])).tolist()


@dataclass(frozen=True)
class CountedLevels:
    """Levels of groups that something else has summed, one group after the other; group g has those from `start[g]`."""

    start: NDArray[np.int64]
    threshold: Array
    pos: Array
    neg: Array

    @classmethod
    def of(cls, group: Array, groups: int, score: Array, pos: Array, neg: Array) -> "CountedLevels":
        """Sort sums by group, numbered from 0, and score, and put those of equal scores together."""
        order = np.lexsort((score, -group))[::-1]
        order = order[(pos + neg)[order] > 0]
        group, score = group[order], score[order]
        first = np.flatnonzero(np.concatenate([[True], (group[1:] != group[:-1]) | (score[1:] != score[:-1])]))
        check.check_some_weight(bool((np.bincount(group, minlength=groups) > 0).all()))
        start = group[first].searchsorted(np.arange(groups + 1))
        return cls(start, score[first], *(np.add.reduceat(column[order], first) for column in (pos, neg)))

    @property
    def at_once(self) -> bool:
        return self.pos.dtype.kind == "i"

    @property
    def totals(self) -> tuple[Array, Array]:
        return sums_from(self.pos, self.start[:-1]), sums_from(self.neg, self.start[:-1])

    def counts(self, group: int) -> ThresholdCounts:
        some = slice(*self.start[group : group + 2].tolist())
        return ThresholdCounts.from_ranking(Levels(self.threshold[some], self.pos[some], self.neg[some]))

    def take(self, groups: Array) -> "CountedLevels":
        some, start = _entries(self.start, groups)
        return CountedLevels(start, self.threshold[some], self.pos[some], self.neg[some])

    def pooled(self) -> ThresholdCounts:
        order = np.argsort(self.threshold, kind="stable")[::-1]
        columns = (column[order] for column in (self.threshold, self.pos, self.neg))
        return ThresholdCounts.from_ranking(collapse(*columns))

    def answer(self, function: Callable[[SegmentLevels], Array]) -> Array:
        return np.concatenate(self.in_pieces(function))

    def in_pieces(self, function: Callable[[SegmentLevels], Piece]) -> list[Piece]:
        """Return what a function makes of the levels of consecutive groups, some million at a time."""
        return _in_pieces(self, self.start, function)

    def levels(self, first: int, last: int) -> SegmentLevels:
        """Return the levels of the groups from `first` up to `last`."""
        some = slice(*self.start[[first, last]].tolist())
        start = self.start[first : last + 1] - self.start[first]
        pos, neg = self.pos[some], self.neg[some]
        totals = (np.add.reduceat(each, start[:-1]) for each in (pos, neg))
        summed = (running(each, start) for each in (pos, neg))
        return SegmentLevels(start, self.threshold[some], *summed, *totals, counted=(pos, neg))


@dataclass(frozen=True)
class WeightedSegments:
    """Weighted rows, group by group in the order they came in; each group is ranked when it is asked for."""

    positive: NDArray[np.bool_]
    scores: Array
    weight: Array
    bounds: NDArray[np.int64]
    at_once = False

    @classmethod
    def of(
        cls, group: Array, groups: int, positive: NDArray[np.bool_], scores: Array, weight: Array
    ) -> "WeightedSegments":
        """Bring rows of groups that are numbered from 0 together."""
        order, bounds = deal(group, np.arange(group.size), groups)
        weight = weight[order]
        check.check_some_weight(bool(np.maximum.reduceat(weight, bounds[:-1]).all()))
        return cls(positive[order], scores[order], weight, bounds)

    @property
    def totals(self) -> tuple[Array, Array]:
        pos = np.where(self.positive, self.weight, 0)
        return sums_from(pos, self.bounds[:-1]), sums_from(self.weight - pos, self.bounds[:-1])

    def counts(self, group: int) -> ThresholdCounts:
        rows = slice(*self.bounds[group : group + 2].tolist())
        return ThresholdCounts.from_checked(self.positive[rows], self.scores[rows], self.weight[rows])

    def take(self, groups: Array) -> "WeightedSegments":
        rows, bounds = _entries(self.bounds, groups)
        return WeightedSegments(self.positive[rows], self.scores[rows], self.weight[rows], bounds)

    def pooled(self) -> ThresholdCounts:
        return ThresholdCounts.from_checked(self.positive, self.scores, self.weight)

    def answer(self, function: Callable[[SegmentLevels], Array]) -> Array:
        return one_by_one(map(self.counts, range(self.bounds.size - 1)), function)


@dataclass(frozen=True)
class CountedSegments:
    """Groups that were counted apart."""

    each: Sequence[CumulativeCounts]
    at_once = False

    @property
    def totals(self) -> tuple[Array, Array]:
        n_pos, n_neg = np.array([(counts.n_pos, counts.n_neg) for counts in self.each]).T
        return n_pos, n_neg

    def counts(self, group: int) -> CumulativeCounts:
        return self.each[group]

    def take(self, groups: Array) -> "CountedSegments":
        return CountedSegments([self.each[group] for group in groups.tolist()])

    def pooled(self) -> ThresholdCounts:
        found = [counts.require_levels("counts of all groups") for counts in self.each]
        while len(found) > 1:  # in pairs, so that no level is copied for every group
            found = [add(*found[i : i + 2]) if i + 1 < len(found) else found[i] for i in range(0, len(found), 2)]
        return found[0]

    def answer(self, function: Callable[[SegmentLevels], Array]) -> Array:
        return one_by_one(self.each, function)


def one_by_one(each: Iterable[CumulativeCounts], function: Callable[[SegmentLevels], Array]) -> Array:
    """Return what a function tells of the counts of each group."""
    return np.concatenate([function(SegmentLevels.of(counts)) for counts in each])
