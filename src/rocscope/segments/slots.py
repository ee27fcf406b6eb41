"""Sort the rows of all segments at once, each segment's positives and negatives in a slot of their own.

Rows are first brought into some hundred buckets of slots, which all cores do at the same time, each for other rows;
then a bucket, which a cache holds, is sorted by score and dealt into its slots. That reads and writes memory twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rocscope import kernels
from rocscope._base.arrays import Array
from rocscope._base.radix import KINDS, encode
from rocscope._base.threads import in_threads

_MOST_SHORT = 2**31
_SHORT_BITS = 16
_BUCKET_BITS = 9  # more would be written to at a time than the processor keeps the pages of
_BUCKET_ROWS = 1 << 16
_RUNS = 48
_LEAST_RUN = 1 << 17
_LONG = 1 << 10  # rows of a slot, from which on NumPy's sort is faster


def slots_of(segment: Array, positive: NDArray[np.bool_], segments: int, place: Array | None = None) -> Array:
    """Return the slot of rows of segments that are numbered from 0: twice the number, plus 1 for negatives.

    They are written to `place`, an array of uint32, if it holds them.
    """
    kind = np.dtype(np.uint32 if segments < _MOST_SHORT else np.int64)
    slots = np.multiply(segment, 2, out=place if kind == np.uint32 else None, dtype=kind, casting="unsafe")
    slots += ~positive
    return slots


def sorted_by_slot(slots: list[Array], scores: list[Array], number: int) -> tuple[Array, NDArray[np.int64]]:
    """Return the ordered bits of scores, increasing in each slot, and where every slot begins (and the last ends).

    Parameters
    ----------
    slots : arrays of whole numbers below `number`
    scores : arrays of as many scores
        Both lists are used up.

    Examples
    --------
    >>> sorted_by_slot([np.array([1, 0]), np.array([1])], [np.array([5, 3], np.uint8), np.array([4], np.uint8)], 2)
    (array([3, 4, 5], dtype=uint8), array([0, 1, 3]))
    """
    if sum(slot.size for slot in slots) < kernels.SMALL:
        slot, codes = np.concatenate(slots), np.concatenate([encode(each) for each in scores])
        return codes[np.lexsort((codes, slot))], np.cumsum(np.bincount(slot + 1, minlength=number + 1))
    return _sorted_in_buckets(slots, scores, number)


@dataclass(frozen=True)
class _Run:
    """Rows in buckets of slots that agree in all but the lowest bits: these bits, those of scores, and the bounds."""

    rest: Array
    codes: Array
    bounds: NDArray[np.int64]

    @classmethod
    def of(cls, slots: Sequence[Array], scores: Sequence[Array], shift: int, buckets: int) -> "_Run":
        """Bring rows into buckets."""
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
        begins[:] = ends[bucket] + _settled(rest, np.concatenate(parts), begins.size, own)

    in_threads(settle, range(buckets))
    return codes, bounds


def _settled(slot: Array, codes: Array, slots: int, out: Array) -> Array:
    """Write the codes of so many slots, sorted in each, and return where each begins."""
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
    """Return ranges of consecutive arrays of together at least so many rows, and not very few."""
    ends = np.cumsum(sizes)
    steps = np.arange(0, ends[-1], max(least, _LEAST_RUN))
    cuts = np.unique(ends.searchsorted(steps, side="right")).tolist()
    return [slice(begin, end) for begin, end in pairwise([*cuts, len(sizes)])]
