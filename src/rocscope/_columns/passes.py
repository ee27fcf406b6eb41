"""Checks of whole columns: on all cores, a stretch at a time, so that memory is read once."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rocscope._threads import in_threads, pieces_of
from rocscope._types import Array

_Result = TypeVar("_Result")

_STRETCH = 1 << 16
_MANY = 1 << 20  # fewer are looked at sooner than threads are started


def zeros_and_ones(labels: Array) -> NDArray[np.bool_] | None:
    """Return whole numbers as truth values if they are.

    Examples
    --------
    >>> zeros_and_ones(np.array([0, 1, 1])), zeros_and_ones(np.array([0, 1, 2]))
    (array([False,  True,  True]), None)
    """
    bits = labels.view(f"u{labels.itemsize}")
    positive = labels.view(np.bool_) if labels.itemsize == 1 else np.empty(labels.size, np.bool_)

    def write(rows: slice) -> bool:
        if labels.itemsize > 1:
            positive[rows] = bits[rows]
        return bits[rows].max() <= 1

    return positive if all(_each_stretch(write, labels)) else None


def all_finite(values: Array) -> bool:
    """Whether no float is missing or infinite."""
    return all(_each_stretch(lambda rows: np.isfinite(values[rows]).all(), values))


def ends_and_sum(values: Array) -> tuple[float, float, float]:
    """Return the lowest and the highest value, and the sum as a float; of floats NaN where one is missing.

    Examples
    --------
    >>> ends_and_sum(np.array([2, 1, 4]))
    (1, 4, 7.0)
    """
    with np.errstate(over="ignore", invalid="ignore"):
        found = _each_stretch(lambda rows: _ends_and_sum(values[rows]), values)
        lows, highs, sums = map(np.array, zip(*found, strict=True))
        return lows.min().item(), highs.max().item(), sums.sum().item()


def _ends_and_sum(values: Array) -> tuple[Any, Any, float]:
    with np.errstate(over="ignore", invalid="ignore"):  # of this thread
        return values.min(), values.max(), values.sum(dtype=np.float64)


def _each_stretch(look: Callable[[slice], _Result], column: Array) -> list[_Result]:
    """Return what is found in each stretch of a column, of which there is one at least."""
    if column.size <= _STRETCH:
        return [look(slice(None))]
    return in_threads(look, pieces_of(column.size, _STRETCH), None if column.size > _MANY else 1)
