"""Sorting whole numbers in place on all cores.

One pass brings them into some two thousand buckets, and buckets that fit into a cache are sorted by their digits, by
one thread or another. That reads and writes memory twice, whatever the size, and asks nothing of the processor:
NumPy's sort is as fast only where its instructions for 512 bits are.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope import kernels
from rocscope.engines.pipeline import cores

Array = NDArray[Any]

_FEW = 1 << 17
_BUCKET_BITS = 11
_LARGEST = 1 << 20  # numbers that are sorted by digits: more do not fit into a cache


def sort(array: Array, threads: int | None = None) -> Array:
    """Sort unsigned integers in place, and return them."""
    if array.size <= _FEW:
        array.sort()
    else:
        _sort(array, threads or cores())
    return array


def _sort(array: Array, threads: int) -> None:
    lowest, highest = array.min(), array.max()
    spread = int(highest) - int(lowest)
    bits = max(spread.bit_length() - _BUCKET_BITS, 0)
    shift = array.dtype.type(bits)
    bounds = np.empty((spread >> bits) + 2, np.int64)
    kernels.part(array, lowest, shift, bounds)
    if not bits:
        return
    edges = np.searchsorted(bounds, np.linspace(0, array.size, threads + 1)[1:-1])
    shares = [bounds[first : last + 1] for first, last in zip([0, *edges], [*edges, bounds.size - 1], strict=True)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda share: kernels.sort_buckets(array, lowest, shift, share, _LARGEST), shares))
    for bucket in np.flatnonzero(np.diff(bounds) > _LARGEST):
        _sort(array[bounds[bucket] : bounds[bucket + 1]], threads)
