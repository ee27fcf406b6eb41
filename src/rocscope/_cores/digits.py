"""Rows sorted in the cache of one core: by digits, or by NumPy where that is faster."""

from collections.abc import Sequence
from functools import cache
from time import perf_counter
from typing import Any

import numpy as np

from rocscope import kernels
from rocscope._types import Array

_TRIED = 1 << 16
_TRIES = 3
_WORTH_A_TRY = 1 << 20


def sort_by_digits(codes: Array, values: Array | None = None) -> None:
    """Sort rows in place by their codes, equal ones in order.

    Examples
    --------
    >>> codes, values = np.array([7, 5, 7], np.uint8), np.array([1.0, 2.0, 3.0])
    >>> sort_by_digits(codes, values)
    >>> codes.tolist(), values.tolist()
    ([5, 7, 7], [2.0, 1.0, 3.0])
    """
    kernels.parts.sort_rows(codes, values)


def sort_pieces(pieces: Sequence[Array], total: int) -> None:
    """Sort keys that follow each other in pieces, in place; they are a part of so many in all.

    Examples
    --------
    >>> keys = np.array([4, 9, 1, 3], np.uint8)
    >>> sort_pieces([keys[:2], keys[3:]], 4)
    >>> keys.tolist()
    [3, 4, 1, 9]
    """
    keys = np.concatenate(pieces)
    if total >= _WORTH_A_TRY and _numpy_is_faster(keys.dtype):
        keys.sort()
    else:
        sort_by_digits(keys)
    start = 0
    for piece in pieces:
        piece[:] = keys[start : start + piece.size]
        start += piece.size


@cache
def _numpy_is_faster(dtype: np.dtype[Any]) -> bool:
    """Whether NumPy's sort takes less time here: it depends on the instructions that it finds, which a try tells."""
    keys = np.random.default_rng(0).integers(0, np.iinfo(dtype).max, _TRIED, dtype)

    def seconds(sort: Any) -> float:
        own = keys.copy()
        start = perf_counter()
        sort(own)
        return perf_counter() - start

    by_numpy, by_digits = (min(seconds(sort) for _ in range(_TRIES)) for sort in (np.ndarray.sort, sort_by_digits))
    return by_numpy < by_digits
