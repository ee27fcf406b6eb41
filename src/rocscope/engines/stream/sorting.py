"""Sorting whole numbers on all cores, in place, however many arrays they came in.

Each array, or piece of a large one, is brought into the same hundreds of parts, by one thread or another. A part then
is put together from all arrays, sorted by digits in a cache, and written back. That reads and writes memory twice,
whatever the size, asks nothing of the processor, and takes no more room than a part a thread.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from rocscope._cores.keys import KeyPart, sort_pieces
from rocscope._cores.parts import Parts, runs_of_parts
from rocscope._threads import in_threads, pieces_of
from rocscope._types import Array

Pieces = tuple[Array, ...]

_FEW = 1 << 17  # numbers that are no parts
_LARGEST = 1 << 20  # numbers of a part: more do not fit into a cache
_PARTS = 512
_LEAST_SLICE = 1 << 20  # smaller ones are brought into parts sooner, and put together later
_SLICES = 256


def sort(arrays: Sequence[Array], threads: int | None = None) -> list[KeyPart]:
    """Sort keys in place, and return them in parts that ascend; keys of one score are all in one part."""
    total = sum(array.size for array in arrays)
    most = max(total // _SLICES, _LEAST_SLICE)
    arrays = [array[rows] for array in arrays for rows in pieces_of(array.size, most)]
    if not total:
        return []
    if total <= _FEW:
        return [sort_pieces(arrays, total)]
    return list(_sort_parted(arrays, min(max(total // _PARTS, _FEW), _LARGEST), threads))


def _sort_parted(arrays: Sequence[Array], most: int, threads: int | None) -> Iterator[KeyPart]:
    """Sort in parts of about so many numbers; one of far more is sorted in parts again, unless it is one score."""
    total = sum(array.size for array in arrays)
    parts = _parted(arrays, -(-total // most), threads)
    large = [len(parts) > 1 and sum(piece.size for piece in part) > 2 * most for part in parts]

    def settle(part: Pieces) -> KeyPart:
        if sum(piece.size for piece in part) > 2 * _LARGEST and _is_one_score(part):
            return _sort_two(part)
        return sort_pieces(part, total)

    small = (part for part, is_large in zip(parts, large, strict=True) if not is_large)
    settled = iter(in_threads(settle, small, threads))
    for part, is_large in zip(parts, large, strict=True):
        yield from _sort_parted(part, most, threads) if is_large else [next(settled)]


def _parted(arrays: Sequence[Array], number: int, threads: int | None) -> list[Pieces]:
    """Bring arrays into the same parts, about so many, of scores that ascend."""
    parts = Parts.of(arrays, 0, number, least_shift=1)

    dealt = in_threads(lambda array: parts.deal(array.copy(), None, array), arrays, threads)
    return [part for part in runs_of_parts(dealt) if part]


def _is_one_score(pieces: Sequence[Array]) -> bool:
    """Whether keys differ in the lowest bit alone."""
    return len({end >> end.dtype.type(1) for piece in pieces for end in (piece.min(), piece.max())}) == 1


def _sort_two(pieces: Pieces) -> KeyPart:
    """Sort the keys of one score, without a copy of them all."""
    one = pieces[0].dtype.type(1)
    low = pieces[0][0] & ~one
    pos = sum(int((piece & one).sum(dtype=np.int64)) for piece in pieces)
    neg = left = sum(piece.size for piece in pieces) - pos
    for piece in pieces:
        n = min(left, piece.size)
        piece[:n], piece[n:] = low, low | one
        left -= n
    return KeyPart(pieces, counted=(0, pos * neg, pos, neg))
