"""Taking: which cases of a list are taken, of each group exactly as many as are planned."""

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocscope._base.arrays import Array
from rocscope._base.grouping import deal
from rocscope.decisions.models import predict

UNIT = 1 << 128
"""Numbers of cases are counted in this part of one: sums of fractions have denominators that grow with the groups."""

NEAR = UNIT // 10**9
_SAME = 64  # bits, by which numbers differ that are the same but for how they were rounded


class GroupRule(NamedTuple):
    """A threshold that decides a share of the cases of a group."""

    share: Fraction
    model: str
    threshold: float

    def __str__(self) -> str:
        whom = {np.inf: "nobody", -np.inf: "everybody"}.get(
            self.threshold
        ) or f"score≥{self.threshold:.6g} of {self.model}"
        return whom if self.share == 1 else f"{float(self.share):.4g} × {whom}"


def in_units(number: Fraction | int, of: int = 1) -> int:
    """Return a number, divided by another one, in parts of one case."""
    return number.numerator * UNIT // (number.denominator * of)


def whole_numbers(*axes: Any) -> list[list[int]]:
    """Return exact numbers as whole ones, in one unit.

    Examples
    --------
    >>> whole_numbers([1, 3], [0.5, 2.0])
    [[2, 6], [1, 4]]
    """
    ratios = [[each.as_integer_ratio() for each in np.asarray(axis).tolist()] for axis in axes]
    unit = lcm(*{below for axis in ratios for _, below in axis})
    return [[above * (unit // below) for above, below in axis] for axis in ratios]


def rounded_to(total: int, planned: Sequence[int]) -> list[int]:
    """Return whole numbers of a given sum: each number rounded down, and those that lose most by it up.

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


def best(scores: Array, group: Array, most: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Array]:
    """Return the best cases of each group, so many at most, those at which lots decide, and of how many they do.

    Examples
    --------
    >>> sure, tied, left = best(np.array([5, 7, 6, 6]), np.array([0, 1, 1, 1]), np.array([1, 2]))
    >>> sure.tolist(), tied.tolist(), left.tolist()
    ([True, True, False, False], [False, False, True, True], [1, 1])
    """
    order = np.argsort(scores)
    rows, bounds = deal(group[order], order, most.size)
    last = scores[rows[np.clip(bounds[1:] - np.maximum(most, 1), 0, rows.size - 1)]][group]
    sure, tied = scores > last, scores == last
    left = most - np.bincount(group[sure], minlength=most.size)
    all_of_them = np.bincount(group[tied], minlength=most.size) <= left
    return sure | tied & all_of_them[group], tied & (~all_of_them & (left > 0))[group], left


def lowest(lot: Array, group: Array, left: Array) -> NDArray[np.bool_]:
    """Return the cases of the lowest lots of each group, so many as are left to it.

    Examples
    --------
    >>> lowest(np.array([5, 4, 3, 9]), np.array([1, 0, 1, 1]), np.array([0, 2])).tolist()
    [True, False, True, False]
    """
    order = np.lexsort((lot, group))
    dealt = group[order]
    found = np.zeros(lot.size, bool)
    found[order[np.arange(lot.size) - dealt.searchsorted(np.arange(left.size))[dealt] < left[dealt]]] = True
    return found


def drawn(rules: list[GroupRule], scores: dict[str, Array], lot: Array, most: int) -> NDArray[np.bool_]:
    """Return exactly so many cases of a group: of those that thresholds agree on their share, by lot."""
    pattern = np.zeros(lot.size, np.int64)
    for bit, rule in enumerate(rules):
        pattern |= predict(scores[rule.model], rule.threshold).astype(np.int64) << bit
    kinds, place = np.unique(pattern, return_inverse=True)
    chance = [
        sum((rule.share for bit, rule in enumerate(rules) if kind >> bit & 1), Fraction(0)) for kind in kinds.tolist()
    ]
    ranked = sorted(range(kinds.size), key=lambda i: -chance[i])
    sizes = np.bincount(place, minlength=kinds.size).tolist()
    amount = [chance[i] * sizes[i] for i in ranked]
    short = most - sum(amount, Fraction(0))
    for j in range(len(ranked)) if short > 0 else reversed(range(len(ranked))):
        before = amount[j]
        amount[j] = max(Fraction(0), min(Fraction(sizes[ranked[j]]), before + short))
        short -= amount[j] - before
    taken = np.zeros(lot.size, bool)
    goodness = np.unique(scores[rules[-1].model], return_inverse=True)[1]
    for i, wanted in zip(ranked, rounded_to(most, list(map(in_units, amount))), strict=True):
        own = np.flatnonzero(place == i)
        order = np.zeros(own.size, np.intp) if 0 < chance[i] < 1 else -goodness[own]
        taken[own[np.lexsort((lot[own], order))[:wanted]]] = True
    return taken
