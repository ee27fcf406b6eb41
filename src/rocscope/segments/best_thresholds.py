"""The best threshold of every segment, in exact integers, for all segments at once."""

from collections.abc import Sequence
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
from rocscope.segments.rows import SegmentRows

_FITS = 2**62  # so that sums and differences of two such fit 64 bits
_FIRST_ROUNDED = 2**53  # from here on float64 rounds some whole numbers


def cheapest(rows: SegmentRows, known: NDArray[np.bool_], context: Context) -> dict[str, Array]:
    """Return threshold, cells and cost per case at the best point of each `known` segment, NaN elsewhere."""
    found = _all_at_once(rows, context) if rows.at_once else _one_by_one(rows, known, context)
    return {name: np.where(known, column, nan) for name, column in found.items()}


def _one_by_one(rows: SegmentRows, known: NDArray[np.bool_], context: Context) -> dict[str, Array]:
    points = [best_point(rows.counts(segment), context) if known[segment] else None for segment in range(known.size)]
    found = {cell: np.array([getattr(point, cell, nan) for point in points]) for cell in CELLS}
    cost = np.array([nan if point is None else nearest(context.exact_cost(point)) for point in points])
    threshold = [nan if point is None else point.threshold for point in points]
    return {"threshold": _unrounded(np.array(threshold, object)), **found, "cost": cost}


def _unrounded(scores: Array) -> Array:
    """Return scores as float64 if none would be rounded."""
    floats = scores.astype(np.float64)
    rounded = scores.dtype.kind != "f" and (abs(floats) >= _FIRST_ROUNDED)[abs(floats) < inf].any()
    return scores.astype(object) if rounded else floats


def _all_at_once(rows: SegmentRows, context: Context) -> dict[str, Array]:
    """Same as `cheapest`, for every segment; undefined where a class is missing.

    A level costs alarm · fp − hit · tp more than nobody positive, at a target prevalence π each class divided by its
    size: (1 − π) · alarm · fp / n_neg − π · hit · tp / n_pos. Both are compared as whole numbers, of one unit.
    """
    (*each,), unit = _whole([decimal(cost) for cost in context.costs.values()])
    gain, alarm, share = context.miss_cost, context.false_alarm_cost, None
    if context.target_prevalence is not None:
        share = decimal(context.target_prevalence)
        gain, alarm = share * gain, (1 - share) * alarm
    (hit, alarm), _ = _whole([gain, alarm])
    n_pos, n_neg = rows.totals
    largest = max(int(n_pos.max()), int(n_neg.max()))
    heaviest = max(map(abs, (*each, hit, alarm, unit))) * (share.denominator if share else 1)
    kind = np.int64 if 4 * heaviest * largest ** (2 if share else 1) < _FITS else object
    best = partial(_best_levels, hit=hit, alarm=alarm, by_share=share is not None, kind=kind)
    threshold, tp, fp = (np.concatenate(column) for column in zip(*rows.in_pieces(best), strict=True))
    cells = dict(zip(CELLS, (tp, fp, n_pos - tp, n_neg - fp), strict=True))
    cost = _cost({name: column.astype(kind) for name, column in cells.items()}, each, unit, share)
    ends = [tp + fp == 0, tp + fp == n_pos + n_neg]
    return {"threshold": np.select(ends, [inf, -inf], _unrounded(threshold)), **cells, "cost": cost}


def _best_levels(
    levels: SegmentLevels, *, hit: int, alarm: int, by_share: bool, kind: Any
) -> tuple[Array, Array, Array]:
    """Return the first of the cheapest levels of each segment, and its counts; 0 if nobody is cheaper."""
    tp, fp = levels.tp.astype(kind), levels.fp.astype(kind)
    if by_share:
        tp, fp = tp * levels.spread(levels.n_neg), fp * levels.spread(levels.n_pos)
    loss = alarm * fp - hit * tp
    least = levels.each(np.minimum, loss)
    equal = np.flatnonzero(loss == levels.spread(least))
    first = equal[equal.searchsorted(levels.start[:-1])]
    some = least < 0
    return levels.threshold[first], np.where(some, levels.tp[first], 0), np.where(some, levels.fp[first], 0)


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
    """Return fractions as integers of one unit, and the number of units in 1."""
    unit = lcm(*(number.denominator for number in numbers))
    return [int(number * unit) for number in numbers], unit
