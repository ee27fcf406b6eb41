"""Rows of groups, sorted at once: the scores of a group's positives are in one slot, those of its negatives in another.

Rows are first brought into some hundred buckets of slots, which all cores do at the same time, each for other rows;
then a bucket, which a cache holds, is sorted by score and dealt into its slots. That reads and writes memory twice.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rocscope import kernels
from rocscope._threads import in_threads
from rocscope._types import Array
from rocscope.core.levels import KINDS, encode

_MOST_SHORT = 2**31
_BUCKET_BITS = 9  # more would be written to at a time than the processor keeps the pages of
_BUCKET_ROWS = 1 << 16
_SHORT_BITS = 16
_ROWS_OF_RUN = 1 << 17
_LONG = 1 << 10  # rows of a slot, from which on NumPy's sort is faster


def slots_of(group: Array, positive: NDArray[np.bool_], groups: int) -> Array:
    """Return the slot of rows of groups that are numbered from 0: twice the number, plus 1 for negatives."""
    return 2 * group.astype(np.uint32 if groups < _MOST_SHORT else np.int64) + ~positive


def sorted_by_slot(slots: Sequence[Array], scores: list[Array], number: int) -> tuple[Array, NDArray[np.int64]]:
    """Return the ordered bits of scores, increasing in each slot, and where every slot begins (and the last ends).

    Parameters
    ----------
    slots : arrays of whole numbers below `number`
    scores : arrays of as many scores
        Used up.

    Examples
    --------
    >>> sorted_by_slot([np.array([1, 0]), np.array([1])], [np.array([5, 3], np.uint8), np.array([4], np.uint8)], 2)
    (array([3, 4, 5], dtype=uint8), array([0, 1, 3]))
    """
    if sum(slot.size for slot in slots) < kernels.SMALL:
        slot, codes = np.concatenate(slots), np.concatenate([encode(each) for each in scores])
        return codes[np.lexsort((codes, slot))], np.cumsum(np.bincount(slot + 1, minlength=number + 1))
    return _Buckets(slots, number).sort(scores)


class _Buckets:
    """Slots that agree in all but some lowest bits."""

    def __init__(self, slots: Sequence[Array], number: int) -> None:
        rows = sum(slot.size for slot in slots)
        bits = min(_BUCKET_BITS, (rows // _BUCKET_ROWS).bit_length())
        self._shift = max((number - 1).bit_length() - bits, 0)
        self._slots, self._number = slots, number
        self._rest = np.uint16 if self._shift <= _SHORT_BITS else slots[0].dtype
        self._runs = list(_runs([slot.size for slot in slots]))
        sizes = np.array(in_threads(self._count, self._runs))
        self._bounds = np.concatenate([[0], np.cumsum(sizes.sum(axis=0))])
        self._filled = self._bounds[:-1] + np.cumsum(sizes, axis=0) - sizes

    def _count(self, run: range) -> Array:
        sizes = np.zeros(((self._number - 1) >> self._shift) + 1, np.int64)
        for i in run:
            kernels.groups.count(self._slots[i], self._slots[i].dtype.type(self._shift), sizes)
        return sizes

    def sort(self, scores: list[Array]) -> tuple[Array, NDArray[np.int64]]:
        rows, kind = self._bounds[-1], KINDS[scores[0].dtype.kind]
        rest, codes = np.empty(rows, self._rest), np.empty(rows, f"u{scores[0].itemsize}")
        bounds = np.full(self._number + 1, rows)

        def fill(run: range, filled: Array) -> None:
            for i in run:
                slot, bits = self._slots[i], scores[i].view(codes.dtype)
                kernels.groups.deal_rows(slot, bits, kind, slot.dtype.type(self._shift), filled, rest, codes)
                scores[i] = bits[:0].copy()

        def settle(bucket: int) -> None:
            some = slice(*self._bounds[bucket : bucket + 2].tolist())
            first = bucket << self._shift
            own = bounds[first : min(first + (1 << self._shift), self._number)]
            own[:] = some.start + _settled(rest[some], codes[some], own.size)

        in_threads(lambda part: fill(*part), zip(self._runs, self._filled, strict=True))
        in_threads(settle, range(self._bounds.size - 1))
        return codes, bounds


def _settled(slot: Array, codes: Array, slots: int) -> Array:
    """Sort the codes of so many slots in place, and return where each begins."""
    if slots == 1:
        codes.sort()
        return np.zeros(1, np.int64)
    sizes = np.zeros(slots, np.int64)
    kernels.groups.count(slot, slot.dtype.type(0), sizes)
    begins = np.cumsum(sizes) - sizes
    long = codes.size >= _LONG * slots
    dealt = codes.copy()
    if codes.size and not long:
        lowest = codes.min()
        bits = int(codes.max() - lowest).bit_length()
        dealt, slot = kernels.ranks.sort_rows(dealt, slot, np.empty_like(codes), np.empty_like(slot), lowest, bits)
    kernels.groups.deal(slot, dealt, begins.copy(), codes)
    for begin, size in zip(begins.tolist(), sizes.tolist(), strict=True) if long else ():
        codes[begin : begin + size].sort()
    return begins


def _runs(sizes: Sequence[int]) -> Sequence[range]:
    """Return ranges of consecutive arrays that together have some hundred thousand entries, or are one."""
    ends = np.cumsum(sizes)
    cuts = np.unique(ends.searchsorted(np.arange(0, ends[-1], _ROWS_OF_RUN), side="right"))
    return [range(begin, end) for begin, end in zip(cuts, [*cuts[1:], len(sizes)], strict=True)]
