"""SegmentLevels: the levels of many segments in one flat table, with areas, figures and hulls."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from rocscope import kernels
from rocscope._base.arrays import Array
from rocscope._base.grouping import listed
from rocscope._base.threads import in_threads
from rocscope.core.counts import CumulativeCounts, ThresholdCounts
from rocscope.core.levels import Levels, collapse
from rocscope.core.result import number
from rocscope.errors import ScoreError

Piece = TypeVar("Piece")

SegmentWeight = Literal["n", "n_pos"] | None
"""Weight of a segment in a mean: its rows, its positives, or equal for all."""

_FIRST_ROUNDED = 2**53  # from here on float64 rounds some whole numbers
_MOST_PAIRS = 2.0**62  # so that differences of two such products fit 64 bits
_ROUNDS = 4  # of leaving out dents in NumPy, after which few are left to the loop
_ROWS_AT_ONCE = 1 << 20  # bounds what a piece of the table takes beside it to some MB
_COLUMNS = ("threshold", "tp", "fp", "model")


@dataclass(frozen=True)
class SegmentLevels:
    """The levels of consecutive segments; segment s starts at `start[s]`.

    Attributes
    ----------
    start : array of so many segments, and one more
    threshold : array of scores, decreasing in each segment (of each model)
    tp, fp : arrays of counts at or above each level in its segment
    n_pos, n_neg : arrays of counts by segment
    counted : arrays of positives and of negatives at each level, where they are known before anybody asks
    names : array of segments, where they matter
    models : list of str, where they matter
    model : array of the model that each level is of, by its number
    """

    start: NDArray[np.int64]
    threshold: Array
    tp: Array
    fp: Array
    n_pos: Array
    n_neg: Array
    counted: tuple[Array, Array] | None = None
    names: Any = None
    models: list[str] = field(default_factory=list)
    model: Any = None
    at_once = True

    @classmethod
    def of_counts(cls, start: Array, threshold: Array, pos: Array, neg: Array) -> "SegmentLevels":
        """Return levels from positives and negatives at each, as integers."""
        tp, fp = (running(each, start) for each in (pos, neg))
        n_pos, n_neg = (np.add.reduceat(each, start[:-1]) for each in (pos, neg))
        return cls(start, threshold, tp, fp, n_pos, n_neg, (pos, neg))

    @classmethod
    def of_each(cls, each: Sequence[CumulativeCounts]) -> "SegmentLevels":
        """Return the levels of segments that were counted separately."""
        start = np.cumsum([0, *(len(counts) for counts in each)])
        threshold, tp, fp = (together([getattr(counts, name) for counts in each]) for name in ("threshold", "tp", "fp"))
        n_pos, n_neg = (np.array([getattr(counts, name) for counts in each]) for name in ("n_pos", "n_neg"))
        return cls(start, threshold, tp, fp, n_pos, n_neg)

    @classmethod
    def joined(cls, pieces: Sequence["SegmentLevels"]) -> "SegmentLevels":
        """Concatenate the levels of pieces, in order."""
        start = np.cumsum(np.concatenate([[0], *(np.diff(each.start) for each in pieces)]))
        names = ("threshold", "tp", "fp", "n_pos", "n_neg")
        columns: Any = {name: np.concatenate([getattr(each, name) for each in pieces]) for name in names}
        return cls(start, **columns)

    @cached_property
    def keys(self) -> dict[Hashable, int]:
        """Index of each segment by name."""
        return {name: i for i, name in enumerate(listed(self.names))}

    @cached_property
    def segment(self) -> NDArray[np.intp]:
        """Segment index of each level."""
        return np.repeat(np.arange(self.start.size - 1), np.diff(self.start))

    @cached_property
    def steps(self) -> tuple[Array, Array]:
        """Positives and negatives added at each level within its segment."""
        return self.counted or (_steps(self.tp, self.start), _steps(self.fp, self.start))

    @property
    def pos(self) -> Array:
        """Positives at each level."""
        return self.steps[0]

    @property
    def neg(self) -> Array:
        """Negatives at each level."""
        return self.steps[1]

    @property
    def totals(self) -> tuple[Array, Array]:
        """Positives and negatives of each segment."""
        return self.n_pos, self.n_neg

    @property
    def probabilities(self) -> Array:
        """The thresholds as float64; ScoreError if a score is not a probability."""
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

    def counts(self, segment: int) -> ThresholdCounts:
        """Return the counts of a segment, by index."""
        some = slice(*self.start[segment : segment + 2].tolist())
        return ThresholdCounts.from_ranking(Levels(self.threshold[some], self.pos[some], self.neg[some]))

    def take(self, segments: Array) -> "SegmentLevels":
        """Return some segments, by index."""
        some, start = entries(self.start, segments)
        return SegmentLevels.of_counts(start, self.threshold[some], self.pos[some], self.neg[some])

    def pooled(self) -> ThresholdCounts:
        """Return the pooled counts of all segments."""
        order = np.argsort(self.threshold, kind="stable")[::-1]
        return ThresholdCounts.from_ranking(collapse(*(each[order] for each in (self.threshold, self.pos, self.neg))))

    def in_pieces(self, function: "Callable[[SegmentLevels], Piece]") -> list[Piece]:
        """Apply a function to consecutive segments with about a million levels at a time."""
        return in_pieces(self.start, self.part, function)

    def part(self, first: int, last: int) -> "SegmentLevels":
        """Return the levels of the segments from `first` up to `last`."""
        some, segments = slice(*self.start[[first, last]].tolist()), slice(first, last)
        start = self.start[first : last + 1] - self.start[first]
        columns = {name: getattr(self, name)[some] for name in ("threshold", "tp", "fp")}
        totals = {name: getattr(self, name)[segments] for name in ("n_pos", "n_neg")}
        return SegmentLevels(start, **columns, **totals, counted=(self.pos[some], self.neg[some]))

    def kept(self, index: NDArray[np.intp], start: Array) -> "SegmentLevels":
        """Return some of the levels."""
        columns = {name: None if (own := getattr(self, name)) is None else own[index] for name in _COLUMNS}
        return replace(self, start=start, counted=None, **columns)

    def spread(self, values: Array) -> Array:
        """Repeat a value by segment for each of its levels."""
        return np.repeat(values, np.diff(self.start))

    def each(self, reduce: np.ufunc, values: Array) -> Array:
        """Reduce values by level in each segment with an order-independent operation."""
        return reduce.reduceat(values, self.start[:-1])

    def sums(self, values: Array, *, upwards: bool = False) -> Array:
        """Return the sum of values by level in each segment, rounded as for the segment alone.

        That has the levels downwards, or upwards.
        """
        ends = (values.size - self.start[::-1] if upwards else self.start).tolist()
        values = np.ascontiguousarray(values[::-1]) if upwards else values
        sums = np.array([values[a:b].sum() for a, b in pairwise(ends)])
        return sums[::-1] if upwards else sums

    def area(self, credit: int) -> Array:
        """Return the area under each segment's ROC curve, with `credit` for half a tied pair."""
        right = self.each(np.add, self.neg * (2 * (self.tp - self.pos) + credit * self.pos))
        return quotients(right, 2 * self.n_pos * self.n_neg)

    def ks(self) -> Array:
        """Return the largest tpr − fpr of each segment, at least 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            apart = self.tp / self.spread(self.n_pos) - self.fp / self.spread(self.n_neg)
        return np.maximum(self.each(np.maximum, apart), 0)

    def average_precision(self) -> Array:
        """Return the average precision of each segment."""
        with np.errstate(invalid="ignore"):
            return self.sums(self.pos * (self.tp / (self.tp + self.fp))) / self.n_pos

    def brier(self) -> Array:
        """Return the Brier score of each segment."""
        p = self.probabilities
        return self.sums(self.pos * (1 - p) ** 2 + self.neg * p**2, upwards=True) / (self.n_pos + self.n_neg)

    def observed_over_expected(self) -> Array:
        """Return the positives of each segment over the sum of its probabilities."""
        return ratios(self.n_pos, self.sums(self.probabilities * (self.pos + self.neg), upwards=True))

    @cached_property
    def upper(self) -> "SegmentLevels":
        """Vertices of each segment's upper hull, from nobody (omitted) to everybody positive."""
        return self._hull(self.tp, self.fp)

    @cached_property
    def lower(self) -> "SegmentLevels":
        """Vertices of the lower hull: the upper one with exchanged axes."""
        return self._hull(self.fp, self.tp)

    def _hull(self, up: Array, right: Array) -> "SegmentLevels":
        if len(self.models) > 1:
            order = np.lexsort((-self.model, up, right, self.segment))
            return self.kept(order, self.start)._vertices(up[order], right[order])
        return self._vertices(up, right)

    def _vertices(self, up: Array, right: Array) -> "SegmentLevels":
        vertices, start = np.empty(up.size, np.int64), np.empty(self.start.size, np.int64)
        fits = up.dtype.kind == "f" or (self.n_pos * self.n_neg.astype(np.float64)).max() < _MOST_PAIRS
        if fits and up.size >= kernels.SMALL:
            size = kernels.segments.hulls(up, right, self.start, vertices, start)
            return self.kept(vertices[:size], start)
        some = _without_dents(up, right, self.segment) if fits and len(self.models) < 2 else np.arange(up.size)
        starts = self.segment[some].searchsorted(np.arange(self.start.size))
        size = kernels.segments.hulls.python(up[some].tolist(), right[some].tolist(), starts.tolist(), vertices, start)
        return self.kept(some[vertices[:size]], start)


def _without_dents(up: Array, right: Array, segment: Array) -> NDArray[np.intp]:
    """Drop points of segments on or below the line of their neighbours."""
    kept = np.arange(up.size)
    for _ in range(_ROUNDS):
        y, x, own = up[kept], right[kept], segment[kept]
        first = np.append(True, own[1:] != own[:-1])
        below, left = (np.where(first, 0, np.append(0, axis[:-1])) for axis in (y, x))
        above, beyond = np.append(y[1:], 0), np.append(x[1:], 0)
        vertex = (y - below) * (beyond - x) > (above - y) * (x - left)
        kept = kept[vertex | np.append(first[1:], True)]
    return kept


def of_models(names: Array, by_model: dict[str, SegmentLevels]) -> SegmentLevels:
    """Return the levels of all models in one table; they must have ranked the same rows.

    Sums of the same weights in another order differ in their last digits: totals are those of the first model.
    """
    (first, *_), found = by_model.values(), list(by_model.values())
    if len(found) == 1:
        return replace(first, names=names, models=list(by_model), model=np.zeros(first.tp.size, np.intp))
    segment = np.concatenate([each.segment for each in found])
    order = np.argsort(segment, kind="stable")
    tp, fp = (np.concatenate([getattr(each, name) for each in found]) for name in ("tp", "fp"))
    tp, fp = (
        np.where(axis < (1 - SAME) * total, axis, total)[order]
        for axis, total in ((tp, first.n_pos[segment]), (fp, first.n_neg[segment]))
    )
    model = np.repeat(np.arange(len(found)), [each.tp.size for each in found])[order]
    start = np.sum([each.start for each in found], axis=0)
    threshold = together([each.threshold for each in found])[order]
    totals = first.totals
    return SegmentLevels(start, threshold, tp, fp, *totals, names=names, models=list(by_model), model=model)


SAME = 1e-12
"""Relative tolerance for sums of the same weights in another order."""


def in_pieces(begins: Array, part: Callable[[int, int], Any], function: Callable[[Any], Piece]) -> list[Piece]:
    """Apply a function to parts of consecutive segments, which start at given rows, in threads."""
    return in_threads(lambda ends: function(part(*ends)), pairwise(cuts(begins)))


def cuts(begins: Array) -> list[int]:
    """Return boundaries of segments that hold about a million rows each."""
    steps = np.arange(_ROWS_AT_ONCE, begins[-1], _ROWS_AT_ONCE)
    return np.unique(np.concatenate([[0], begins[:-1].searchsorted(steps), [begins.size - 1]])).tolist()


def entries(bounds: Array, parts: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the indices of the entries of parts between bounds, and the start of each part among them."""
    begins, sizes = bounds[parts], np.diff(bounds)[parts]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    return np.repeat(begins - ends[:-1], sizes) + np.arange(ends[-1]), ends


def together(columns: Sequence[Array]) -> Array:
    """Concatenate columns; keep them separate if no type holds all of them."""
    several = len({column.dtype for column in columns}) > 1
    return np.concatenate([column.astype(object) for column in columns] if several else columns)


def quotients(numerator: Array, denominator: Array) -> Array:
    """Return correctly rounded quotients of integers; 0/0 is NaN."""
    with np.errstate(invalid="ignore"):
        found = (numerator / denominator).astype(np.float64)
    for i in np.flatnonzero(np.maximum(abs(numerator), denominator) > _FIRST_ROUNDED).tolist():
        found[i] = int(numerator[i]) / int(denominator[i])
    return found


def ratios(observed: Any, expected: Any) -> Array:
    """Return quotients; NaN if nothing was expected."""
    expected = np.asarray(expected, np.float64)
    return np.divide(observed, expected, out=np.full(expected.shape, np.nan), where=expected > 0)


def running(counts: Array, start: Array) -> Array:
    """Return cumulative counts within each segment."""
    sums = np.cumsum(counts)
    return sums - np.repeat(np.concatenate([[0], sums])[start[:-1]], np.diff(start))


def _steps(sums: Array, start: Array) -> Array:
    steps = np.diff(sums, prepend=sums.dtype.type(0))
    steps[start[:-1]] = sums[start[:-1]]
    return steps
