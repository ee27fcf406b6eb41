"""Sorting whole numbers on all cores, in place, however many arrays they came in.

Each array, or piece of a large one, is brought into the same thousands of buckets, by one thread or another. Buckets
that follow each other are then put together from all arrays into a part that a cache holds, sorted there by digits, and
written back. That reads and writes memory twice, whatever the size, asks nothing of the processor, and takes no more
room than a part a thread.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from rocscope import kernels
from rocscope._cores.digits import sort_by_digits
from rocscope._cores.threads import in_threads
from rocscope._types import Array

SortedPart = tuple[Array, ...]
"""Pieces of arrays, which follow each other."""

_FEW = 1 << 17  # numbers that are no parts
_FEW_IN_PART = 1 << 14  # numbers that NumPy sorts as fast
_BUCKET_BITS = 15  # half of the rows may lie in one of thirty octaves of scores, and no bucket is to be parted again
_PARTS = 512
_SLICES = 256
_LARGEST = 1 << 20  # numbers of a part: more do not fit into a cache


class Keys:
    """Arrays that will be sorted, put together now and then, so that their memory serves those that follow.

    Each array has a piece in every part: the fewer they are, the longer the pieces.
    """

    def __init__(self) -> None:
        self._joined: list[Array] = []
        self._new: list[Array] = []
        self.nbytes = 0

    def __bool__(self) -> bool:
        return self.nbytes > 0

    def add(self, array: Array) -> None:
        """Take an array."""
        self.nbytes += array.nbytes
        self._new.append(array)

    def put_together(self) -> None:
        """Put the arrays together that came since the last time."""
        self._joined.append(np.concatenate(self._new))
        self._new = []

    def take(self) -> list[Array]:
        """Give all away."""
        arrays = self._joined + self._new
        self.__init__()
        return arrays


def sort(arrays: Sequence[Array], threads: int | None = None) -> list[SortedPart]:
    """Sort keys in place, and return parts of the arrays that ascend; keys of one score are all in one part."""
    total = sum(array.size for array in arrays)
    most = max(total // _SLICES, _LARGEST)
    starts = [(array, start) for array in arrays for start in range(0, array.size, most)]
    arrays = [array[start : start + most] for array, start in starts]
    if not total:
        return []
    if total <= _FEW:
        _sort_part(arrays)
        return [tuple(arrays)]
    return _sort_parted(arrays, min(max(total // _PARTS, _FEW), _LARGEST), threads)


def _sort_parted(arrays: Sequence[Array], most: int, threads: int | None) -> list[SortedPart]:
    """Sort in parts of at most so many numbers; what is more, of one bucket, is sorted in parts again."""
    bits, parts = _parted(arrays, most, threads)
    large = [sum(piece.size for piece in part) > most for part in parts]
    in_threads(_sort_part, (part for part, is_large in zip(parts, large, strict=True) if not is_large), threads)
    if bits == 1:
        in_threads(_sort_two, (part for part, is_large in zip(parts, large, strict=True) if is_large), threads)
        return parts
    again = zip(parts, large, strict=True)
    return [found for part, is_large in again for found in (_sort_parted(part, most, threads) if is_large else [part])]


def _parted(arrays: Sequence[Array], most: int, threads: int | None) -> tuple[int, list[SortedPart]]:
    """Bring arrays into the same buckets; return their width in bits, and parts of whole buckets."""
    ends = in_threads(lambda array: (array.min(), array.max()), arrays, threads)
    lowest, highest = min(low for low, _ in ends), max(high for _, high in ends)
    lowest &= ~lowest.dtype.type(1)  # so that no two keys that differ in the label alone are in different parts
    spread = int(highest) - int(lowest)
    bits = max(spread.bit_length() - _BUCKET_BITS, 1)

    def bounds_in(array: Array) -> Array:
        bounds = np.empty((spread >> bits) + 2, np.int64)
        kernels.parts.part(array, lowest, array.dtype.type(bits), bounds)
        return bounds

    found = list(zip(arrays, in_threads(bounds_in, arrays, threads), strict=True))
    runs = _runs(np.sum([bounds for _, bounds in found], axis=0), most)
    parts = (tuple(array[bounds[first] : bounds[end]] for array, bounds in found) for first, end in runs)
    return bits, [tuple(piece for piece in part if piece.size) for part in parts if any(piece.size for piece in part)]


def _runs(filled: Array, most: int) -> Iterator[tuple[int, int]]:
    """Yield the first bucket and the end of runs of buckets: of at most so many numbers, or one bucket of more."""
    first, buckets = 0, filled.size - 1
    while first < buckets:
        end = max(int(np.searchsorted(filled, filled[first] + most, side="right")) - 1, first + 1)
        yield first, end
        first = end


def _sort_two(pieces: Sequence[Array]) -> None:
    """Sort numbers that differ in the lowest bit alone, without a copy of them all."""
    one = pieces[0].dtype.type(1)
    low = pieces[0][0] & ~one
    even = sum(piece.size - int((piece & one).sum(dtype=np.int64)) for piece in pieces)
    for piece in pieces:
        n = min(even, piece.size)
        piece[:n], piece[n:] = low, low | one
        even -= n


def _sort_part(pieces: Sequence[Array]) -> None:
    """Sort numbers that follow each other in pieces."""
    keys = np.concatenate(pieces)
    if keys.size <= _FEW_IN_PART:
        keys.sort()
    else:
        sort_by_digits(keys)
    start = 0
    for piece in pieces:
        piece[:] = keys[start : start + piece.size]
        start += piece.size
