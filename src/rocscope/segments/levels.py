"""Score levels of many segments in one table, computed by sorting the rows of all segments together.

A level is a distinct score of a segment, with the numbers of positives and negatives that have this score.
`SegmentLevels` contains the levels of all segments, one segment after another, and computes the AUC, other metrics and
the ROC hull of each segment.

To sort the rows, each segment has two slots, one for its positives and one for its negatives. First, all cores
distribute their rows into a few hundred buckets, each with the rows of many slots. Then each bucket, which fits into a
cache, is sorted by score and distributed into its slots. The memory of all rows is read and written only twice.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from operator import add
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from rocscope import kernels
from rocscope._base import validation as check
from rocscope._base.arrays import Array, Booleans, Indices, in_threads
from rocscope._base.grouping import deal, listed
from rocscope._base.radix import KINDS, decode, encode
from rocscope.core import CumulativeCounts, Levels, ThresholdCounts
from rocscope.core.ranking import collapse, least_from, sums_from

Piece = TypeVar("Piece")

SegmentWeight = Literal["n", "n_pos"] | None
"""Weight of a segment in a mean: its number of rows ("n"), its number of positives ("n_pos"), or equal (None)."""

# Above this number, float64 cannot represent all whole numbers.
_FIRST_ROUNDED = 2**53
# Largest number of pairs of a positive and a negative for hulls in 64 bits: differences of two products tp·fp stay
# below 2^63.
_MOST_PAIRS = 2.0**62
# Rounds of removing points below the hull in NumPy; a loop removes the few remaining points.
_ROUNDS = 4
# Limits the temporary memory for a block of the table to a few MB.
_ROWS_AT_ONCE = 1 << 20
_COLUMNS = ("threshold", "tp", "fp", "model")


@dataclass(frozen=True)
class SegmentLevels:
    """Table of the levels (distinct scores) of k segments, one segment after another.

    Attributes
    ----------
    start : array of k + 1
        Index of the first level of each segment, followed by the number of all levels.
    threshold : array
        Score of each level, decreasing within a segment (and model).
    tp : array
        For each level, the number of positives of the segment with at least this score.
    fp : array
        For each level, the number of negatives of the segment with at least this score.
    n_pos : array of k
        Number of positives of each segment.
    n_neg : array of k
        Number of negatives of each segment.
    counted : pair of arrays, or None
        Numbers of positives and negatives with exactly the score of each level. If None, `steps` computes these numbers
        from `tp` and `fp`.
    names : array of k, optional
        Names of the segments.
    models : list, optional
        Names of the models.
    model : array, optional
        Index of the model to which each level belongs.
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
        """Make the table from the numbers of positives and negatives at each level, as integers."""
        n_pos = np.add.reduceat(pos, start[:-1])
        n_neg = np.add.reduceat(neg, start[:-1])
        return cls(start, threshold, running(pos, start), running(neg, start), n_pos, n_neg, (pos, neg))

    @classmethod
    def of_segments(cls, segments: Sequence[CumulativeCounts]) -> "SegmentLevels":
        """Make the table from the separate counts of each segment."""
        start = np.cumsum([0, *(len(counts) for counts in segments)])
        threshold = together([counts.threshold for counts in segments])
        tp = together([counts.tp for counts in segments])
        fp = together([counts.fp for counts in segments])
        n_pos = np.array([counts.n_pos for counts in segments])
        n_neg = np.array([counts.n_neg for counts in segments])
        return cls(start, threshold, tp, fp, n_pos, n_neg)

    @classmethod
    def joined(cls, pieces: Sequence["SegmentLevels"]) -> "SegmentLevels":
        """Concatenate the tables of consecutive blocks of segments."""
        start = np.cumsum(np.concatenate([[0], *(np.diff(piece.start) for piece in pieces)]))
        names = ("threshold", "tp", "fp", "n_pos", "n_neg")
        columns: Any = {name: np.concatenate([getattr(piece, name) for piece in pieces]) for name in names}
        return cls(start, **columns)

    @cached_property
    def keys(self) -> dict[Hashable, int]:
        """Mapping from segment name to segment index."""
        return {name: i for i, name in enumerate(listed(self.names))}

    @cached_property
    def segment(self) -> Indices:
        """Index of the segment to which each level belongs."""
        return np.repeat(np.arange(self.start.size - 1), np.diff(self.start))

    @cached_property
    def steps(self) -> tuple[Array, Array]:
        """Numbers of positives and negatives with exactly the score of each level."""
        return self.counted or (_steps(self.tp, self.start), _steps(self.fp, self.start))

    @property
    def pos(self) -> Array:
        """Number of positives with exactly the score of each level."""
        return self.steps[0]

    @property
    def neg(self) -> Array:
        """Number of negatives with exactly the score of each level."""
        return self.steps[1]

    @property
    def totals(self) -> tuple[Array, Array]:
        """Numbers of positives and negatives of each segment."""
        return self.n_pos, self.n_neg

    @property
    def probabilities(self) -> Array:
        """Scores of the levels as float64 probabilities; raises ScoreError if a score is not a probability."""
        return check.check_probabilities(self.threshold, "scores", self.pos + self.neg)

    def counts(self, segment: int) -> ThresholdCounts:
        """Return the counts of the segment with this index."""
        some = slice(*self.start[segment : segment + 2].tolist())
        return ThresholdCounts.from_ranking(Levels(self.threshold[some], self.pos[some], self.neg[some]))

    def take(self, segments: Array) -> "SegmentLevels":
        """Return the table of the segments with these indices."""
        some, start = entries(self.start, segments)
        return SegmentLevels.of_counts(start, self.threshold[some], self.pos[some], self.neg[some])

    def pooled(self) -> ThresholdCounts:
        """Return the counts of the rows of all segments together."""
        order = np.argsort(self.threshold, kind="stable")[::-1]
        ranked = collapse(self.threshold[order], self.pos[order], self.neg[order])
        return ThresholdCounts.from_ranking(ranked)

    def in_pieces(self, function: "Callable[[SegmentLevels], Piece]") -> list[Piece]:
        """Apply a function to tables of consecutive segments with about a million levels each; return all results."""
        return in_pieces(self.start, self.part, function)

    def part(self, first: int, last: int) -> "SegmentLevels":
        """Return the table of the segments with indices from `first` to `last` − 1."""
        some, segments = slice(*self.start[[first, last]].tolist()), slice(first, last)
        start = self.start[first : last + 1] - self.start[first]
        columns = {name: getattr(self, name)[some] for name in ("threshold", "tp", "fp")}
        totals = {name: getattr(self, name)[segments] for name in ("n_pos", "n_neg")}
        return SegmentLevels(start, **columns, **totals, counted=(self.pos[some], self.neg[some]))

    def kept(self, index: Indices, start: Array) -> "SegmentLevels":
        """Return the table with a subset of the levels, given their indices and the new segment starts."""
        columns = {name: None if (own := getattr(self, name)) is None else own[index] for name in _COLUMNS}
        return replace(self, start=start, counted=None, **columns)

    def spread(self, values: Array) -> Array:
        """Repeat the value of each segment for every level of the segment."""
        return np.repeat(values, np.diff(self.start))

    def reduce(self, operation: np.ufunc, values: Array) -> Array:
        """Reduce the level values of each segment by an operation that ignores order, such as `numpy.maximum`."""
        return operation.reduceat(values, self.start[:-1])

    def sums(self, values: Array, *, upwards: bool = False) -> Array:
        """Sum the level values of each segment, with the same rounding as for separate counts of the segment.

        Metrics of a single ThresholdCounts are sums over decreasing scores, or over increasing scores (`upwards`). The
        order of addition affects the last digit, so the same order is used here. The segments are summed one by one,
        because `reduceat` has a different order of addition.
        """
        ends = (values.size - self.start[::-1] if upwards else self.start).tolist()
        values = np.ascontiguousarray(values[::-1]) if upwards else values
        sums = np.array([values[a:b].sum() for a, b in pairwise(ends)])
        return sums[::-1] if upwards else sums

    def area(self, credit: int) -> Array:
        """Return the AUC of each segment: Σ neg·(2·(positives above) + credit·pos) / (2·n_pos·n_neg).

        A tied pair counts credit/2: `credit` is 0 for the lower area, 1 for the usual AUC, and 2 for the upper area.
        With integers, a segment must have fewer than 2^62 pairs, so that 2·n_pos·n_neg fits into 64 bits;
        `SegmentedCounts` checks this.
        """
        right = self.reduce(np.add, self.neg * (2 * (self.tp - self.pos) + credit * self.pos))
        return quotients(right, 2 * self.n_pos * self.n_neg)

    def ks(self) -> Array:
        """Return the Kolmogorov–Smirnov distance of each segment: the largest tpr − fpr, at least 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            apart = self.tp / self.spread(self.n_pos) - self.fp / self.spread(self.n_neg)
        return np.maximum(self.reduce(np.maximum, apart), 0)

    def average_precision(self) -> Array:
        """Return the average precision of each segment."""
        with np.errstate(invalid="ignore"):
            return self.sums(self.pos * (self.tp / (self.tp + self.fp))) / self.n_pos

    def brier(self) -> Array:
        """Return the Brier score of each segment."""
        p = self.probabilities
        return self.sums(self.pos * (1 - p) ** 2 + self.neg * p**2, upwards=True) / (self.n_pos + self.n_neg)

    def observed_over_expected(self) -> Array:
        """Return the observed/expected ratio of each segment: positives divided by the sum of probabilities."""
        return ratios(self.n_pos, self.sums(self.probabilities * (self.pos + self.neg), upwards=True))

    @cached_property
    def upper(self) -> "SegmentLevels":
        """Vertices of the upper ROC hull of each segment, including (n_neg, n_pos) but not (0, 0)."""
        return self._hull(self.tp, self.fp)

    @cached_property
    def lower(self) -> "SegmentLevels":
        """Vertices of the lower ROC hull of each segment, computed as an upper hull with exchanged axes."""
        return self._hull(self.fp, self.tp)

    def _hull(self, up: Array, right: Array) -> "SegmentLevels":
        if len(self.models) > 1:
            # Points from left to right. Among equal points the hull keeps the last one, so the first model comes last.
            order = np.lexsort((-self.model, up, right, self.segment))
            return self.kept(order, self.start)._vertices(up[order], right[order])
        return self._vertices(up, right)

    def _vertices(self, up: Array, right: Array) -> "SegmentLevels":
        vertices, start = np.empty(up.size, np.int64), np.empty(self.start.size, np.int64)
        fits = up.dtype.kind == "f" or (self.n_pos * self.n_neg.astype(np.float64)).max() < _MOST_PAIRS
        if fits and up.size >= kernels.SMALL:
            size = kernels.segments.hulls(up, right, self.start, vertices, start)
            return self.kept(vertices[:size], start)
        # _without_dents would drop both of two equal points of different models.
        some = _without_dents(up, right, self.segment) if fits and len(self.models) < 2 else np.arange(up.size)
        starts = self.segment[some].searchsorted(np.arange(self.start.size))
        size = kernels.segments.hulls.python(up[some].tolist(), right[some].tolist(), starts.tolist(), vertices, start)
        return self.kept(some[vertices[:size]], start)


def _without_dents(up: Array, right: Array, segment: Array) -> Indices:
    """Return the indices of points that remain after removing points on or below the line between their neighbours."""
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
    """Merge the tables of several models into one table; the models must have scores for the same rows.

    The totals of each segment are taken from the first model, because sums of the same weights in different orders may
    differ in the last digits.
    """
    levels = list(by_model.values())
    first = levels[0]
    if len(levels) == 1:
        return replace(first, names=names, models=list(by_model), model=np.zeros(first.tp.size, np.intp))
    segment = np.concatenate([table.segment for table in levels])
    order = np.argsort(segment, kind="stable")
    n_pos = first.n_pos[segment]
    n_neg = first.n_neg[segment]
    tp = np.concatenate([table.tp for table in levels])
    fp = np.concatenate([table.fp for table in levels])
    tp = np.where(tp < (1 - SAME) * n_pos, tp, n_pos)[order]
    fp = np.where(fp < (1 - SAME) * n_neg, fp, n_neg)[order]
    model = np.repeat(np.arange(len(levels)), [table.tp.size for table in levels])[order]
    start = np.sum([table.start for table in levels], axis=0)
    threshold = together([table.threshold for table in levels])[order]
    totals = first.totals
    return SegmentLevels(start, threshold, tp, fp, *totals, names=names, models=list(by_model), model=model)


SAME = 1e-12
"""Relative tolerance for comparing sums of the same weights that were added in different orders."""


def in_pieces(begins: Array, part: Callable[[int, int], Any], function: Callable[[Any], Piece]) -> list[Piece]:
    """Apply a function to blocks of consecutive segments in threads; `begins` is the first row of each segment."""
    return in_threads(lambda ends: function(part(*ends)), pairwise(cuts(begins)))


def cuts(begins: Array) -> list[int]:
    """Return the boundaries of blocks of consecutive segments with about a million rows each."""
    steps = np.arange(_ROWS_AT_ONCE, begins[-1], _ROWS_AT_ONCE)
    return np.unique(np.concatenate([[0], begins[:-1].searchsorted(steps), [begins.size - 1]])).tolist()


def entries(bounds: Array, parts: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the indices of all entries of the selected parts, and the position of each part's first index."""
    begins, sizes = bounds[parts], np.diff(bounds)[parts]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    return np.repeat(begins - ends[:-1], sizes) + np.arange(ends[-1]), ends


def together(columns: Sequence[Array]) -> Array:
    """Concatenate columns; if their types differ, convert all values to Python objects."""
    several = len({column.dtype for column in columns}) > 1
    return np.concatenate([column.astype(object) for column in columns] if several else columns)


def quotients(numerator: Array, denominator: Array) -> Array:
    """Divide integers with correct rounding; 0/0 is NaN."""
    with np.errstate(invalid="ignore"):
        quotient = (numerator / denominator).astype(np.float64)
    # NumPy rounds large integers before division; Python divides exactly and rounds once.
    for i in np.flatnonzero(np.maximum(abs(numerator), denominator) > _FIRST_ROUNDED).tolist():
        quotient[i] = int(numerator[i]) / int(denominator[i])
    return quotient


def ratios(observed: Any, expected: Any) -> Array:
    """Return observed/expected; NaN if `expected` is 0."""
    expected = np.asarray(expected, np.float64)
    return np.divide(observed, expected, out=np.full(expected.shape, np.nan), where=expected > 0)


def running(counts: Array, start: Array) -> Array:
    """Return the cumulative sums of `counts` within each segment."""
    sums = np.cumsum(counts)
    return sums - np.repeat(np.concatenate([[0], sums])[start[:-1]], np.diff(start))


def _steps(sums: Array, start: Array) -> Array:
    steps = np.diff(sums, prepend=sums.dtype.type(0))
    steps[start[:-1]] = sums[start[:-1]]
    return steps


# Sorting the rows of all segments

# Largest number of segments for which 32 bits can number the slots, two per segment.
_MOST_SHORT = 2**31
# Bits of slot numbers within a bucket, which are stored in two bytes.
_SHORT_BITS = 16
# Largest number of buckets: the processor must hold the pages of all buckets that are written at the same time.
_BUCKET_BITS = 9
# Number of rows that fit into a cache; smaller buckets are not faster.
_BUCKET_ROWS = 1 << 16
# Number of runs into which rows are split, processed by threads: a few per core, so that no core waits long.
_RUNS = 48
# Smallest number of rows for which a run in a thread saves time.
_LEAST_RUN = 1 << 17
# Number of rows of a slot above which NumPy's sort is faster.
_LONG = 1 << 10


def slots_of(segment: Array, positive: Booleans, segments: int, place: Array | None = None) -> Array:
    """Return the slot of each row: twice the index of its segment, plus 1 for negatives.

    The slots are written into `place`, an array of uint32, if uint32 can represent them.
    """
    kind = np.dtype(np.uint32 if segments < _MOST_SHORT else np.int64)
    slots = np.multiply(segment, 2, out=place if kind == np.uint32 else None, dtype=kind, casting="unsafe")
    slots += ~positive
    return slots


def _sorted_by_slot(slots: list[Array], scores: list[Array], number: int) -> tuple[Array, NDArray[np.int64]]:
    """Sort the encoded scores within each slot; return them with the bounds of the slots.

    The encoding (`encode`) converts scores to unsigned integers with the same order.

    Parameters
    ----------
    slots : list of arrays of integers
        Slot of each row, below `number`. The list is emptied.
    scores : list of arrays of scores, of the same lengths
        Score of each row. The list is emptied.

    Examples
    --------
    >>> _sorted_by_slot([np.array([1, 0]), np.array([1])], [np.array([5, 3], np.uint8), np.array([4], np.uint8)], 2)
    (array([3, 4, 5], dtype=uint8), array([0, 1, 3]))
    """
    if sum(slot.size for slot in slots) < kernels.SMALL:
        slot = np.concatenate(slots)
        codes = np.concatenate([encode(piece) for piece in scores])
        return codes[np.lexsort((codes, slot))], np.cumsum(np.bincount(slot + 1, minlength=number + 1))
    return _sorted_in_buckets(slots, scores, number)


@dataclass(frozen=True)
class _Run:
    """Rows that are partitioned into buckets by the high bits of their slots.

    Attributes
    ----------
    rest : array
        Low bits of the slot of each row.
    codes : array
        Encoded score of each row.
    bounds : array of buckets + 1
        Index of the first row of each bucket, followed by the number of rows.
    """

    rest: Array
    codes: Array
    bounds: NDArray[np.int64]

    @classmethod
    def of(cls, slots: Sequence[Array], scores: Sequence[Array], shift: int, buckets: int) -> "_Run":
        """Partition rows into buckets by the bits of their slots above the lowest `shift` bits."""
        bounds = np.zeros(buckets + 1, np.int64)
        for slot in slots:
            kernels.segments.count(slot, slot.dtype.type(shift), bounds[1:])
        np.cumsum(bounds, out=bounds)
        filled, kind = bounds[:-1].copy(), KINDS[scores[0].dtype.kind]
        rest = np.empty(bounds[-1], np.uint16 if shift <= _SHORT_BITS else slots[0].dtype)
        codes = np.empty(bounds[-1], f"u{scores[0].itemsize}")
        for slot, score in zip(slots, scores, strict=True):
            bits = score.view(codes.dtype)
            kernels.segments.deal_rows(slot, bits, kind, slot.dtype.type(shift), filled, rest, codes)
        return cls(rest, codes, bounds)


def _sorted_in_buckets(slots: list[Array], scores: list[Array], number: int) -> tuple[Array, NDArray[np.int64]]:
    rows = sum(slot.size for slot in slots)
    shift = max((number - 1).bit_length() - min(_BUCKET_BITS, (rows // _BUCKET_ROWS).bit_length()), 0)
    buckets = ((number - 1) >> shift) + 1

    def run_of(some: slice) -> _Run:
        own = slots[some], scores[some]
        slots[some] = scores[some] = [none] * len(own[0])
        return _Run.of(*own, shift, buckets)

    none = slots[0][:0].copy()
    runs = in_threads(run_of, _runs([slot.size for slot in slots], rows // _RUNS))
    ends = np.sum([run.bounds for run in runs], axis=0).tolist()
    codes, bounds = np.empty(rows, runs[0].codes.dtype), np.full(number + 1, rows)

    def settle(bucket: int) -> None:
        pieces = [slice(*run.bounds[bucket : bucket + 2].tolist()) for run in runs]
        parts = [run.codes[piece] for run, piece in zip(runs, pieces, strict=True)]
        own = codes[ends[bucket] : ends[bucket + 1]]
        if not shift:
            np.concatenate(parts, out=own).sort()
            bounds[bucket] = ends[bucket]
            return
        rest = np.concatenate([run.rest[piece] for run, piece in zip(runs, pieces, strict=True)])
        begins = bounds[bucket << shift : min((bucket + 1) << shift, number)]
        begins[:] = ends[bucket] + _sort_slots(rest, np.concatenate(parts), begins.size, own)

    in_threads(settle, range(buckets))
    return codes, bounds


def _sort_slots(slot: Array, codes: Array, slots: int, out: Array) -> Array:
    """Write the codes of consecutive slots into `out`, sorted within each slot; return the start of each slot."""
    sizes = np.zeros(slots, np.int64)
    kernels.segments.count(slot, slot.dtype.type(0), sizes)
    begins = np.cumsum(sizes) - sizes
    long = codes.size >= _LONG * slots
    if codes.size and not long:
        kernels.parts.sort_rows(codes, slot)
    kernels.segments.deal(slot, codes, begins.copy(), out)
    for begin, size in zip(begins.tolist(), sizes.tolist(), strict=True) if long else ():
        out[begin : begin + size].sort()
    return begins


def _runs(sizes: Sequence[int], least: int) -> list[slice]:
    """Divide a sequence of arrays into ranges with at least `least` rows each; `sizes` is the size of each array."""
    ends = np.cumsum(sizes)
    steps = np.arange(0, ends[-1], max(least, _LEAST_RUN))
    cuts = np.unique(ends.searchsorted(steps, side="right")).tolist()
    return [slice(begin, end) for begin, end in pairwise([*cuts, len(sizes)])]


@dataclass(frozen=True)
class SortedSegments:
    """Sorted scores of unweighted rows, separately for the positives and the negatives of each segment.

    Attributes
    ----------
    codes : array of n
        Encoded scores: for each segment first the positives, then the negatives, both in increasing order.
    bounds : array of 2 · segments + 1
        Index of the first positive and of the first negative of each segment, followed by n.
    dtype : dtype
        Type of the scores.
    """

    codes: Array
    bounds: NDArray[np.int64]
    dtype: np.dtype[Any]
    at_once = True

    @classmethod
    def of(cls, slots: list[Array], scores: list[Array], segments: int, dtype: np.dtype[Any]) -> "SortedSegments":
        """Sort rows by slot (see `slots_of`) and score; the input lists are emptied."""
        return cls(*_sorted_by_slot(slots, scores, 2 * segments), dtype)

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
        """Return the number of positives and of negatives with scores of at least `cut` in each segment."""
        limits = np.finfo(self.dtype) if self.dtype.kind == "f" else np.iinfo(self.dtype)
        if cut > limits.max or cut <= limits.min:
            n_pos, n_neg = self.totals
            return (0 * n_pos, 0 * n_neg) if cut > limits.max else (n_pos, n_neg)
        code = encode(np.array([least_from(cut, self.dtype)], self.dtype))[0]
        above = np.concatenate([[0], np.cumsum(self.codes >= code)])[self.bounds]
        return np.diff(above)[::2], np.diff(above)[1::2]

    def pairs(self) -> tuple[Array, Array]:
        """Count pairs of a positive and a negative in each segment.

        Return the number of pairs in which the negative has a lower score, and the number of pairs in which it has a
        lower or equal score.
        """
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
        """Return the table of the segments with indices from `first` to `last` − 1."""
        bounds = self.bounds[2 * first : 2 * last + 1]
        codes, bounds = self.codes[bounds[0] : bounds[-1]], bounds - bounds[0]
        sizes = np.diff(bounds)
        if codes.size < kernels.SMALL:
            start, code, pos, neg = _levels_of_few(codes, sizes)
            tp = running(pos, start)
            fp = running(neg, start)
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
    """Weighted rows grouped by segment; the rows of a segment are sorted when its counts are requested."""

    positive: Booleans
    scores: Array
    weight: Array
    bounds: NDArray[np.int64]
    at_once = False

    @classmethod
    def of(cls, segment: Array, segments: int, positive: Booleans, scores: Array, weight: Array) -> "WeightedSegments":
        """Group rows by segment index, from 0 to `segments` − 1."""
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
        return [function(SegmentLevels.of_segments([self.counts(i) for i in range(self.bounds.size - 1)]))]


@dataclass(frozen=True)
class CountedSegments:
    """Segments with a separate counts object for each segment."""

    segments: Sequence[CumulativeCounts]
    at_once = False

    @property
    def totals(self) -> tuple[Array, Array]:
        n_pos, n_neg = np.array([(counts.n_pos, counts.n_neg) for counts in self.segments]).T
        return n_pos, n_neg

    def counts(self, segment: int) -> CumulativeCounts:
        return self.segments[segment]

    def take(self, segments: Array) -> "CountedSegments":
        return CountedSegments([self.segments[segment] for segment in segments.tolist()])

    def pooled(self) -> ThresholdCounts:
        counts = [segment.require_levels("counts of all segments") for segment in self.segments]
        # Pool in pairs, so that levels are not copied once per segment.
        while len(counts) > 1:
            unpaired = counts[-1:] if len(counts) % 2 else []
            counts = [*map(add, counts[:-1:2], counts[1::2]), *unpaired]
        return counts[0]

    def in_pieces(self, function: Callable[[SegmentLevels], Piece]) -> list[Piece]:
        counts = [segment.require_levels("counts by segment") for segment in self.segments]
        return [function(SegmentLevels.of_segments(counts))]


SegmentRows = SegmentLevels | SortedSegments | WeightedSegments | CountedSegments
"""Rows of one model in segments, in one of four storage types.

All types have the same methods. `totals` is the number of positives and negatives of each segment. `counts` returns the
counts of one segment, `pooled` the counts of all rows, and `take` a subset of the segments. `in_pieces` applies a
function to the levels of consecutive segments. If `at_once` is True, the levels of many segments can be computed
together, as integers.
"""
