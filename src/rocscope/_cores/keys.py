"""Sorted keys of rows: a score's ordered bits and its label in each (see `kernels.parts.pack`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np

from rocscope import kernels
from rocscope._threads import cores, in_threads
from rocscope._types import Array

PairCounts = tuple[int, int, int, int]
"""Concordant and tied pairs, positives and negatives."""

_TRIED = 1 << 16
_TRIES = 3
_WORTH_A_TRY = 1 << 20
_PART = 1 << 19  # rows whose levels are found at a time


@dataclass(frozen=True)
class KeyPart:
    """Sorted keys of consecutive scores, of which none is elsewhere, in pieces that follow each other upwards.

    `high_bit` is the highest bit of the codes, which is no part of a key; pairs may be counted already.
    """

    pieces: tuple[Array, ...]
    high_bit: Any = 0
    counted: PairCounts | None = None

    @property
    def size(self) -> int:
        """Number of rows."""
        return sum(piece.size for piece in self.pieces)

    def load(self) -> Array:
        """Return the keys in one array."""
        return self.pieces[0] if len(self.pieces) == 1 else np.concatenate(self.pieces)

    @property
    def pairs(self) -> PairCounts:
        """Pairs of the rows."""
        return self.counted or count_pairs(self.load())


def count_pairs(keys: Array) -> PairCounts:
    """Count the pairs of sorted keys.

    Examples
    --------
    >>> count_pairs(np.array([2 * 3, 2 * 4, 2 * 4 + 1], np.uint8))  # 3 and 4 without, 4 with a label
    (1, 1, 1, 2)
    """
    concordant, not_above, neg = kernels.ranks.count_key_pairs(keys)
    return concordant, not_above - concordant, keys.size - neg, neg


def sort_pieces(pieces: Sequence[Array], total: int) -> KeyPart:
    """Sort keys that follow each other in pieces, in place; they are a part of so many in all.

    Their pairs are counted at the same time, as long as the cache holds them.

    Examples
    --------
    >>> keys = np.array([4, 9, 1, 3], np.uint8)
    >>> part = sort_pieces([keys[:2], keys[3:]], 4)
    >>> keys.tolist(), part.size
    ([3, 4, 1, 9], 3)
    """
    keys = np.concatenate(pieces)
    if numpy_is_faster(keys.dtype, total):
        keys.sort()
    else:
        kernels.parts.sort_rows(keys, None)
    start = 0
    for piece in pieces:
        piece[:] = keys[start : start + piece.size]
        start += piece.size
    return KeyPart(tuple(pieces), counted=count_pairs(keys))


def sort_halving(keys: Array) -> list[KeyPart]:
    """Sort keys in place on all cores, and return them in parts.

    Examples
    --------
    >>> [part] = sort_halving(np.array([4, 9, 1, 3], np.uint8))
    >>> part.load().tolist(), part.pairs
    ([1, 3, 4, 9], (1, 0, 3, 1))
    """
    _halve(keys, cores())
    number = -(-keys.size // _PART)
    at = (keys[keys.size * part // number] for part in range(1, number))
    bounds = [0, *(int(keys.searchsorted(key & ~keys.dtype.type(1))) for key in at), keys.size]
    return [KeyPart((keys[begin:end],)) for begin, end in pairwise(bounds) if begin < end]


def _halve(keys: Array, threads: int) -> None:
    """Sort keys, each half of them in half of the threads."""
    if threads <= 1 or keys.size < _WORTH_A_TRY:
        return keys.sort()
    middle = keys.size // 2
    keys.partition(middle)
    in_threads(lambda half: _halve(half, (threads + 1) // 2), (keys[:middle], keys[middle:]), 2)
    return None


def numpy_is_faster(dtype: np.dtype[Any], rows: int, margin: float = 1.0) -> bool:
    """Whether NumPy's sort takes less than so many times ours: it depends on the instructions that it finds here.

    A try tells, which few rows are not worth.
    """
    return rows >= _WORTH_A_TRY and _numpy_to_ours(dtype) < margin


@cache
def _numpy_to_ours(dtype: np.dtype[Any]) -> float:
    keys = np.random.default_rng(0).integers(0, np.iinfo(dtype).max, _TRIED, dtype)

    def seconds(sort: Any) -> float:
        own = keys.copy()
        start = perf_counter()
        sort(own)
        return perf_counter() - start

    sorts = np.ndarray.sort, lambda own: kernels.parts.sort_rows(own, None)
    by_numpy, by_digits = (min(seconds(sort) for _ in range(_TRIES)) for sort in sorts)
    return by_numpy / by_digits
