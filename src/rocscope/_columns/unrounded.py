"""Whole numbers: they stay what they are, and are refused where float64 would round them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope._types import Array
from rocscope.errors import InputError

FIRST_ROUNDED = 2.0**53
"""Up to here float64 holds every whole number."""
WHOLE_OF_64_BITS = "whole numbers of 64 bits, or that float64 holds too"


def as_written(values: Sequence[Any], array: Array, name: str, error: type[InputError] = InputError) -> Array:
    """Return numbers of Python as NumPy has them; where it would round whole ones, as uint64 or not at all."""
    if array.ndim != 1 or (array.dtype != object and not _is_large_float(array)):
        return array
    rows = [row for row, value in enumerate(values) if isinstance(value, int | np.integer)]
    if len(rows) == len(values) and min(values) >= 0 and max(values) < 2**64:
        return np.array(values, np.uint64)
    for row in rows:
        if array.dtype == object or int(array[row]) != values[row]:
            hint = "make it a float if it is not exact"
            raise error(name, expected=WHOLE_OF_64_BITS, got=f"{values[row]} in row {row}", hint=hint)
    return array


def _is_large_float(array: Array) -> bool:
    return array.dtype == np.float64 and bool((np.abs(array) >= FIRST_ROUNDED).any())


def unpacked(values: Array, absent: NDArray[np.bool_], name: str, error: type[InputError]) -> Array:
    """Unpack an object column, such as one with None among its numbers, without guessing at strings."""
    kept = values[~absent].tolist()
    strange = [value for value in kept if not isinstance(value, int | float | np.number)]
    if strange:
        raise error(name, expected="numbers", got=f"{strange[0]!r} of type {type(strange[0]).__name__}")
    found = as_written(kept, np.asarray(kept), name, error) if kept else np.empty(0)
    if not absent.any():
        return found
    filled = np.full(values.size, np.nan)
    filled[~absent] = found
    return filled
