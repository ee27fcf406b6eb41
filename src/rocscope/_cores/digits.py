"""Rows sorted by digits in the cache of one core."""

import numpy as np

from rocscope import kernels
from rocscope._types import Array

_LEADING = 22  # two digits of `kernels.ranks.sort_rows`


def by_digits(codes: Array, values: Array) -> tuple[Array, Array]:
    """Return rows sorted by their codes, equal ones in order; the memory of both is used.

    Sorting by the leading bits leaves few rows to be moved; where these are many, rows are sorted by all bits.

    Examples
    --------
    >>> codes, values = by_digits(np.array([7, 5, 7], np.uint8), np.array([1.0, 2.0, 3.0]))
    >>> codes.tolist(), values.tolist()
    ([5, 7, 7], [2.0, 1.0, 3.0])
    """
    lowest = codes.min()
    bits = int(codes.max() - lowest).bit_length()
    first = max(bits - _LEADING, 0)
    found = kernels.ranks.sort_rows(codes, values, np.empty_like(codes), np.empty_like(values), lowest, first, bits)
    if first and not kernels.ranks.insert_rows(*found):
        found = kernels.ranks.sort_rows(*found, np.empty_like(codes), np.empty_like(values), lowest, 0, bits)
    return found
