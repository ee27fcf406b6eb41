"""Rows sorted by digits in the cache of one core."""

from rocscope import kernels
from rocscope._types import Array


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
