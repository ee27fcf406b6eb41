"""Sorting in place on all cores."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope.engines.pipeline import cores

Array = NDArray[Any]

_WORTH_A_THREAD = 1 << 20


def sort(array: Array, threads: int | None = None) -> Array:
    """Sort an array in place, halves of it in threads of their own, and return it."""
    threads = threads or cores()
    halves = 0
    while 1 << halves < threads and array.size >> (halves + 1) >= _WORTH_A_THREAD:
        halves += 1
    if not halves:
        array.sort()
        return array
    with ThreadPoolExecutor(1 << halves) as pool:
        pieces = [array]
        for _ in range(halves):
            pieces = [half for both in pool.map(_halved, pieces) for half in both]
        list(pool.map(np.ndarray.sort, pieces))
    return array


def _halved(array: Array) -> tuple[Array, Array]:
    middle = array.size // 2
    array.partition(middle)
    return array[:middle], array[middle:]
