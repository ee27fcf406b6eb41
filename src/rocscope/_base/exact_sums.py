"""Exact sums of floating-point weights, as integer multiples of one unit.

Every float is an integer multiple of 2⁻¹⁰⁷⁴, the smallest positive float. In this unit, sums of weights are integers,
just as counts of rows, so the code for hulls treats both in the same way. Exact sums are Python integers. They are
computed only if rounded sums are not precise enough.
"""

from collections.abc import Iterator
from itertools import pairwise
from math import frexp
from typing import Any

import numpy as np

from rocscope import kernels
from rocscope._base.arrays import Array

Sums = tuple[list[int], list[int]]
"""True positives and false positives at some points, as Python integers."""

UNIT = 1 << 1074
"""The number by which exact sums are multiplied: a weight of 1 is this number of units."""

_FRACTION = 52  # bits of a float64's fraction
_LOWER_HALF = 27  # of 53 bits: the sum of 2^20 halves, each shifted by up to 15 bits, fits 63 bits
_GROUPS = 512  # exponents of floats, four to a group: 2,048 / 4
_AT_ONCE = 256  # sums computed in one pass: 4 MB of integers


def scale_of(total: float) -> float:
    """Return the power of two that scales a total to about 2⁵⁰⁰, so that products of small weights do not underflow.

    Examples
    --------
    >>> scale_of(0.25) == 2.0**501, scale_of(2.0**600) == 2.0**-101
    (True, True)
    """
    return 2.0 ** min(500 - frexp(total)[1], 1023)


def rounded(numbers: list[int]) -> Array:
    """Convert integer multiples of the unit to the nearest floats."""
    return np.array([number / UNIT for number in numbers], np.float64)


def whole_sums(signed: Array, bounds: Array) -> Iterator[tuple[int, int]]:
    """Yield the exact sums of weights of positives and of negatives between consecutive row numbers.

    Parameters
    ----------
    signed : array of n weights
        The weight of a negative row has a minus sign.
    bounds : array of int
        Decreasing row numbers. The first number is at most n.
    """
    if signed.size < kernels.SMALL:
        classes = (signed > 0, signed < 0)
        yield from zip(*(_sums_of_few(signed, chosen, bounds) for chosen in classes), strict=True)
        return
    for first in range(0, bounds.size - 1, _AT_ONCE):
        chunk = bounds[first : first + _AT_ONCE + 1]
        groups = np.zeros((chunk.size - 1, 2, _GROUPS, 2), np.int64)
        kernels.weights.add_whole(signed.view(np.int64), chunk, groups)
        exact = np.zeros((chunk.size - 1, 2), object)
        for group, half in np.argwhere(groups.any(axis=(0, 1))).tolist():
            exact += groups[:, :, group, half].astype(object) << (4 * group + _LOWER_HALF * half)
        yield from map(tuple, exact.tolist())


def _sums_of_few(signed: Array, chosen: Array, bounds: Array) -> list[int]:
    """Return the exact sums of one class between row numbers. There must be fewer than 2¹⁶ rows between two numbers."""
    before = np.zeros(signed.size + 1, np.intp)
    np.cumsum(chosen, out=before[1:])
    bounds, bits = before[bounds], np.abs(signed[chosen]).view(np.int64)
    exponent = bits >> _FRACTION
    digits = (bits & ((1 << _FRACTION) - 1)) | ((exponent > 0).astype(np.int64) << _FRACTION)
    exponent = (exponent - 1).clip(0)
    group = exponent >> 4
    halves = [half << (exponent & 15) for half in (digits & ((1 << _LOWER_HALF) - 1), digits >> _LOWER_HALF)]
    exact: Any = np.zeros(bounds.size - 1, object)
    sums = np.zeros(bits.size + 1, np.int64)
    for block in np.flatnonzero(np.bincount(group)).tolist():
        inside = group == block
        for half, part in enumerate(halves):
            np.cumsum(part * inside, out=sums[1:])
            exact += (sums[bounds[:-1]] - sums[bounds[1:]]).astype(object) << (16 * block + _LOWER_HALF * half)
    return exact.tolist()


def add_up(sums: Iterator[tuple[int, int]]) -> Sums:
    """Return the cumulative sums of pairs of integers, after a first pair (0, 0)."""
    tp: list[int] = [0]
    fp: list[int] = [0]
    for pos, neg in sums:
        tp.append(tp[-1] + pos)
        fp.append(fp[-1] + neg)
    return tp, fp


def condensed(sums: Sums) -> tuple[Array, Array]:
    """Split each step of cumulative sums into a few floats whose exact sum is the step.

    Return the index of the step for each float, and the floats.
    """
    step: list[int] = []
    signed: list[float] = []
    for values, sign in zip(sums, (1, -1), strict=True):
        for index, (before, after) in enumerate(pairwise(values)):
            left = after - before
            while left:
                rest = left & ((1 << max(left.bit_length() - _FRACTION - 1, 0)) - 1)
                step.append(index)
                signed.append(sign * ((left - rest) / UNIT))
                left = rest
    return np.array(step, np.intp), np.array(signed)
