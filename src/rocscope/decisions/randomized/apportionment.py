"""Apportionment: whole numbers of cases for parts of a list with a given sum (largest remainders)."""

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

UNIT = 1 << 128
"""Numbers of cases are multiples of this unit, which keeps denominators of sums small."""

NEAR = UNIT // 10**9
_SAME = 64  # bits, by which numbers differ that are the same but for how they were rounded


def in_units(number: Fraction | int, of: int = 1) -> int:
    """Return a quotient in multiples of the unit."""
    return number.numerator * UNIT // (number.denominator * of)


def whole_numbers(*axes: Any) -> list[list[int]]:
    """Return exact numbers as integers in a common unit.

    Examples
    --------
    >>> whole_numbers([1, 3], [0.5, 2.0])
    [[2, 6], [1, 4]]
    """
    ratios = [[each.as_integer_ratio() for each in np.asarray(axis).tolist()] for axis in axes]
    unit = lcm(*{below for axis in ratios for _, below in axis})
    return [[above * (unit // below) for above, below in axis] for axis in ratios]


def rounded_to(total: int, planned: Sequence[int]) -> list[int]:
    """Return integers with a given sum: each number rounded down, those with the largest remainders up.

    Examples
    --------
    >>> rounded_to(3, [in_units(Fraction(1, 2)), in_units(Fraction(3, 4)), in_units(Fraction(7, 4))])
    [0, 1, 2]
    """
    found = [(each + NEAR) // UNIT for each in planned]
    lost = [(each - whole * UNIT + (1 << _SAME >> 1)) >> _SAME for each, whole in zip(planned, found, strict=True)]
    for i in sorted(range(len(lost)), key=lost.__getitem__, reverse=True)[: max(total - sum(found), 0)]:
        found[i] += 1
    return found
