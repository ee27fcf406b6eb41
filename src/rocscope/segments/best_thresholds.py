"""The cheapest threshold of every group, decided in whole numbers for all groups at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import inf, lcm, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope._base.arrays import Array
from rocscope.core.context import CELLS, Context, decimal, nearest
from rocscope.geometry.tangent import best_point
from rocscope.segments.levels import SegmentLevels, quotients
from rocscope.segments.rows import SegmentRows, SortedSegments

_FITS = 2**62
_FIRST_ROUNDED = 2**53


def cheapest(rows: SegmentRows, known: NDArray[np.bool_], context: Context) -> dict[str, Array]:
    """Return threshold, cells and cost of a case at the best point of each group that is `known`, NaN elsewhere."""
    context.require_sense()
    found = _Stakes(context).best(rows) if isinstance(rows, SortedSegments) else _one_by_one(rows, known, context)
    return {name: np.where(known, column, nan) for name, column in found.items()}


def _one_by_one(rows: SegmentRows, known: NDArray[np.bool_], context: Context) -> dict[str, Array]:
    points = [best_point(rows.counts(group), context) if known[group] else None for group in range(known.size)]
    found = {cell: np.array([getattr(point, cell, nan) for point in points]) for cell in CELLS}
    cost = np.array([nan if point is None else nearest(context.exact_cost(point)) for point in points])
    threshold = [nan if point is None else point.threshold for point in points]
    return {"threshold": _unrounded(np.array(threshold, object)), **found, "cost": cost}


def _unrounded(scores: Array) -> Array:
    """Return scores as float64, where that rounds none of them."""
    floats = scores.astype(np.float64)
    rounded = scores.dtype.kind != "f" and (abs(floats) >= _FIRST_ROUNDED)[abs(floats) < inf].any()
    return scores.astype(object) if rounded else floats


@dataclass(frozen=True)
class _Stakes:
    """What a context weighs, in whole numbers."""

    context: Context

    def best(self, rows: SortedSegments) -> dict[str, Array]:
        """Return what `cheapest` does, of every group; without a meaning where a class is missing."""
        (*each,), unit = _whole([decimal(cost) for cost in self.context.costs.values()])
        gain, alarm, share = self.context.miss_cost, self.context.false_alarm_cost, None
        if self.context.target_prevalence is not None:
            share = decimal(self.context.target_prevalence)
            gain, alarm = share * gain, (1 - share) * alarm
        (hit, alarm), _ = _whole([gain, alarm])
        largest = max(int(column.max()) for column in rows.totals)
        heaviest = max(map(abs, (*each, hit, alarm, unit))) * (share.denominator if share else 1)
        kind = np.int64 if 4 * heaviest * largest ** (2 if share else 1) < _FITS else object
        touched = partial(_touched, hit=hit, alarm=alarm, by_share=share is not None, kind=kind)
        tp, fp = rows.answer(touched).T
        n_pos, n_neg = rows.totals
        cells = dict(zip(CELLS, (tp, fp, n_pos - tp, n_neg - fp), strict=True))
        cost = _cost({name: column.astype(kind) for name, column in cells.items()}, each, unit, share)
        ends = [tp + fp == 0, tp + fp == n_pos + n_neg]
        threshold = np.select(ends, [inf, -inf], _unrounded(rows.lowest(tp, fp)))
        return {"threshold": threshold, **cells, "cost": cost}


def _touched(levels: SegmentLevels, *, hit: int, alarm: int, by_share: bool, kind: Any) -> Array:
    """Return true and false positives at the first of the cheapest levels of each group, or (0, 0)."""
    tp, fp = levels.tp.astype(kind), levels.fp.astype(kind)
    if by_share:
        tp, fp = tp * levels.spread(levels.n_neg), fp * levels.spread(levels.n_pos)
    loss = alarm * fp - hit * tp
    least = levels.each(np.minimum, loss)
    equal = np.flatnonzero(loss == levels.spread(least))
    first = equal[equal.searchsorted(levels.start[:-1])]
    return np.where(least < 0, (levels.tp[first], levels.fp[first]), 0).T


def _cost(cells: dict[str, Array], each: Sequence[int], unit: int, share: Fraction | None) -> Array:
    tp, fp, fn, tn = cells.values()
    positives, negatives = each[0] * tp + each[2] * fn, each[1] * fp + each[3] * tn
    if share is None:
        return quotients(positives + negatives, unit * (tp + fp + fn + tn))
    n_pos, n_neg = tp + fn, fp + tn
    ours, others = share.numerator, share.denominator - share.numerator
    pairs = np.maximum(n_pos * n_neg, 1)
    return quotients(ours * positives * n_neg + others * negatives * n_pos, (ours + others) * unit * pairs)


def _whole(numbers: Sequence[Fraction]) -> tuple[list[int], int]:
    """Return fractions as whole numbers of one unit, and how many units are 1."""
    unit = lcm(*(number.denominator for number in numbers))
    return [int(number * unit) for number in numbers], unit
