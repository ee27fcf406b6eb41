"""Geometry of ROC space and lift chart: hull, tangent, iso-performance line.

A lift chart is an affine image of ROC space, so both have the same hull and, for one context, the same touching
point. A hull is again a ThresholdCounts: the levels between two vertices are pooled into one. That is also what
isotonic regression (pooling of adjacent violators) does to the labels.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope import kernels
from rocscope._types import Array
from rocscope.core.context import Context
from rocscope.core.counts import ThresholdCounts
from rocscope.core.cumulative import CumulativeCounts
from rocscope.core.point import OperatingPoint
from rocscope.core.ranking import Block, Levels, after_infinity, ranges
from rocscope.core.threads import in_threads

_FEW = 50
"""Points that plain Python goes through sooner than NumPy."""


@dataclass(frozen=True)
class Line:
    """A straight line through (x, y) with a slope.

    Examples
    --------
    >>> Line(0.5, 0.75, slope=0.5).at(0.0)
    0.5
    """

    x: float
    y: float
    slope: float

    def at(self, x: float) -> float:
        """Return the height of the line at `x`."""
        return self.y + self.slope * (x - self.x)


def pool(counts: CumulativeCounts) -> ThresholdCounts:
    """Return the upper convex hull, as counts whose levels are the hull's segments.

    Notes
    -----
    Decided in exact integer arithmetic for unweighted data; no three vertices are collinear. O(k) after ranking.

    Examples
    --------
    >>> counts = ThresholdCounts.from_scores([1, 1, 0, 0, 0, 1], [6, 5, 4, 3, 2, 1])
    >>> hull = pool(counts)
    >>> hull.threshold, hull.tp, hull.fp
    (array([5, 1]), array([2, 3]), array([0, 3]))
    """
    counts = counts.on_hull()
    ranking = counts.ranking
    whole = isinstance(counts.n, int)
    if (isinstance(ranking, Levels) and ranking.threshold.size < kernels.SMALL) or (whole and not counts.is_exact):
        return _pool_levels(ranking.levels())
    dtype = np.int64 if whole else np.float64
    found = in_threads(lambda blocks: _push(blocks, dtype), ranges(ranking))
    tp, fp, code = found[0] if len(found) == 1 else _push(_joined(found), dtype)
    return ThresholdCounts.from_ranking(Levels(ranking.decode(code[1:]), np.diff(tp), np.diff(fp)))


def _push(blocks: Iterator[Block], dtype: type) -> tuple[Array, Array, Array]:
    """Return true and false positives of the hull's vertices, from (0, 0) on, and their codes."""
    tp, fp, code = np.zeros(1, dtype), np.zeros(1, dtype), np.zeros(1, np.uint64)
    top = 0
    for block in blocks:
        needed = top + block.tp.size + 1
        if needed > tp.size:
            tp, fp, code = (np.concatenate([stack, np.zeros(needed, stack.dtype)]) for stack in (tp, fp, code))
        top = kernels.ranks.push_hull(tp, fp, code, top, block.tp, block.fp, block.code)
    return tp[: top + 1].copy(), fp[: top + 1].copy(), code[: top + 1].copy()  # the stacks are much larger


def _joined(hulls: list[tuple[Array, Array, Array]]) -> Iterator[Block]:
    """Yield hulls of ranges that follow each other, each from the last point of the one before."""
    above_tp = above_fp = 0
    for tp, fp, code in hulls:
        yield Block(code[1:], tp[1:] + above_tp, fp[1:] + above_fp)
        above_tp, above_fp = above_tp + tp[-1], above_fp + fp[-1]


def _pool_levels(levels: Levels) -> ThresholdCounts:
    tp, fp = levels.cumulative()
    corner = upper_corners(tp, fp)
    return ThresholdCounts.from_ranking(
        Levels(levels.threshold[corner[1:] - 1], np.diff(tp[corner]), np.diff(fp[corner]))
    )


def upper_corners(tp: Array, fp: Array) -> NDArray[np.intp]:
    """Return which of the points of a monotone chain are vertices of its upper hull, the two ends included.

    Parameters
    ----------
    tp, fp : arrays of one length, of at least 1, that never decrease
        Any thresholds of one model; they need not begin at (0, 0).

    Examples
    --------
    >>> upper_corners(np.array([1, 2, 2, 3]), np.array([0, 0, 2, 3]))
    array([0, 1, 3])
    """
    fits = tp.dtype.kind == "f" or int(tp[-1]) * int(fp[-1]) <= np.iinfo(np.int64).max
    kept = _without_dents(tp, fp) if fits else np.arange(tp.size)
    tp, fp, size = tp[kept], fp[kept], kept.size
    if fits and size >= kernels.SMALL:
        up, right, code = np.empty(size, tp.dtype), np.empty(size, fp.dtype), np.zeros(size, np.intp)
        up[0], right[0] = tp[0], fp[0]
        top = kernels.ranks.push_hull(up, right, code, 0, tp[1:], fp[1:], np.arange(1, size)) if size > 1 else 0
        return kept[code[: top + 1]]
    up, right, code = tp.tolist(), fp.tolist(), [0] * size
    top = kernels.ranks.push_hull.python(up, right, code, 0, up[1:], right[1:], range(1, size)) if size > 1 else 0
    return kept[code[: top + 1]]


def _without_dents(tp: Array, fp: Array) -> NDArray[np.intp]:
    """Return the points left after dropping those on or below the line between their neighbours, while many go."""
    kept = np.arange(tp.size)
    while kept.size > _FEW:
        up, right = np.diff(tp[kept]), np.diff(fp[kept])
        above = np.concatenate([[True], up[:-1] * right[1:] > up[1:] * right[:-1], [True]])
        before, kept = kept.size, kept[above]
        if kept.size > 0.9 * before:
            break
    return kept


def touching_point(hull: ThresholdCounts, context: Context) -> OperatingPoint:
    """Return the vertex of a hull where the iso-performance line of a context touches it.

    Where the line lies along a segment, the end with fewer positive predictions is taken.

    Parameters
    ----------
    hull : ThresholdCounts
        As `pool` returns it.
    context : Context

    Raises
    ------
    OneClassError
        If the counts hold one class only.
    InputError
        If errors of both kinds are rewarded: then the best classifier is a bad one.

    Notes
    -----
    Exact: a binary search over the segments, whose gain and cost are compared as fractions.

    Examples
    --------
    >>> hull = pool(ThresholdCounts.from_scores([1, 1, 0, 0, 0, 1], [6, 5, 4, 3, 2, 1]))
    >>> touching_point(hull, Context())
    OperatingPoint(tp=2, fp=0, fn=1, tn=3, threshold=5)
    """
    hull.require_both_classes("best point")
    gain, cost = context.rates_of_exchange(hull.n_pos, hull.n_neg)
    if context.always_right and cost < 0:
        return vertex(hull, len(hull))
    low, high = 0, len(hull)
    while low < high:
        middle = (low + high) // 2
        if _worth(hull, middle, gain, cost):
            low = middle + 1
        else:
            high = middle
    return vertex(hull, low)


def _worth(hull: ThresholdCounts, segment: int, gain: Fraction, cost: Fraction) -> bool:
    pos, neg = hull.pos[segment].item(), hull.neg[segment].item()
    return Fraction(pos) * gain > Fraction(neg) * cost


def vertex(hull: ThresholdCounts, index: int) -> OperatingPoint:
    """Return the vertex before segment `index`; 0 is "nobody positive", with threshold infinity."""
    if index == 0:
        return hull.at(np.inf)
    tp, fp = hull.tp[index - 1].item(), hull.fp[index - 1].item()
    return OperatingPoint(tp, fp, hull.n_pos - tp, hull.n_neg - fp, hull.threshold[index - 1].item())


@dataclass(frozen=True)
class Thinned:
    """The points of a curve that are enough to draw it.

    Attributes
    ----------
    index : array of increasing point numbers; 0 is "nobody positive", i the i-th level
    threshold : array of scores; the first is infinite
    tp, fp : arrays of counts
    deviation : float
        How far any point left out lies from the lines between those kept, in tpr and fpr alike.
    """

    index: Array
    threshold: Array
    tp: Array
    fp: Array
    deviation: float


def thin(counts: ThresholdCounts, most: int = 500) -> Thinned:
    """Choose about `most` points, evenly along the ROC curve, and all vertices of its hull.

    Raises
    ------
    OneClassError
        If the counts hold one class only.

    Notes
    -----
    Along a ROC curve s = fpr + tpr increases strictly and d = tpr − fpr tells how far it is from the diagonal, so
    points are spread evenly in s and the deviation is half the largest error in d. Two passes over the blocks.

    Examples
    --------
    >>> counts = ThresholdCounts.from_scores([1, 1, 0, 0, 0, 1], [6, 5, 4, 3, 2, 1])
    >>> kept = thin(counts, most=2)
    >>> kept.index, kept.threshold, round(kept.deviation, 3)
    (array([0, 2, 6]), array([inf, 5., 1.]), 0.25)
    """
    counts.require_both_classes("thinning")
    every = len(counts) < most
    hull = pool(counts)
    wanted = np.union1d(np.linspace(0, 2, most), _along(counts, hull.tp, hull.fp))
    chosen: list[tuple[Array, ...]] = []
    done = 0
    for block in counts.ranking.blocks():
        along = _along(counts, block.tp, block.fp)
        here = wanted[(wanted > 0) & (wanted <= along[-1])]
        wanted = wanted[wanted > along[-1]]
        level = np.arange(along.size) if every else np.unique(np.searchsorted(along, here))
        threshold = counts.ranking.decode(block.code[level])
        chosen.append((done + 1 + level, threshold, block.tp[level], block.fp[level]))
        done += along.size
    index, threshold, tp, fp = (np.concatenate(column) for column in zip(*chosen, strict=True))
    index, tp, fp = (np.concatenate([column[:1] * 0, column]) for column in (index, tp, fp))
    return Thinned(index, after_infinity(threshold), tp, fp, 0.0 if every else _deviation(counts, tp, fp))


def _along(counts: ThresholdCounts, tp: Array, fp: Array) -> Array:
    return tp / counts.n_pos + fp / counts.n_neg


def _above(counts: ThresholdCounts, tp: Array, fp: Array) -> Array:
    return tp / counts.n_pos - fp / counts.n_neg


def _deviation(counts: ThresholdCounts, tp: Array, fp: Array) -> float:
    along, above = _along(counts, tp, fp), _above(counts, tp, fp)
    errors = (
        np.abs(np.interp(_along(counts, *points), along, above) - _above(counts, *points)).max()
        for points in counts.points()
    )
    return float(max(errors)) / 2


@dataclass(frozen=True)
class Simplified:
    """The points of a polyline that were kept, and how far any other lies at most from the lines between them."""

    index: Array
    deviation: float


def simplify(x: Any, y: Any, *, most: int = 2000, keep: Sequence[int] | Array = ()) -> Simplified:
    """Choose points of a polyline so that it looks the same when only they are joined.

    Parameters
    ----------
    x, y : arrays of n finite numbers
        Each is measured in units of its own range, so for a ROC curve in rates.
    most : int
        How many points may remain; the first, the last and those of `keep` always do.
    keep : indices
        Points that must stay, such as the vertices of the hull.

    Returns
    -------
    Simplified
        Increasing `index` of the chosen points, and the `deviation`: the largest distance of any point from the
        straight line between the two chosen ones around it.

    Notes
    -----
    Ramer–Douglas–Peucker, the worst segment first: each is split at its farthest point until `most` points are
    chosen or nothing deviates. About O(n log most).

    References
    ----------
    Douglas & Peucker 1973, "Algorithms for the reduction of the number of points", Cartographica 10:112–122.

    Examples
    --------
    >>> simplify([0, 1, 2, 3, 4], [0, 0, 4, 4, 4], most=4)
    Simplified(index=array([0, 1, 2, 4]), deviation=0.0)
    """
    points = np.column_stack([_in_own_range(np.asarray(axis, dtype=np.float64)) for axis in (x, y)])
    chosen = set(np.asarray(keep, dtype=np.intp).tolist()) | {0, len(points) - 1}
    segments = [_farthest(points, *ends) for ends in pairwise(sorted(chosen))] or [(0.0, 0, 0, 0)]
    heapq.heapify(segments)
    while len(chosen) < most and segments[0][0] < 0:
        _, first, middle, last = segments[0]
        chosen.add(middle)
        heapq.heapreplace(segments, _farthest(points, first, middle))
        heapq.heappush(segments, _farthest(points, middle, last))
    return Simplified(np.array(sorted(chosen), dtype=np.intp), abs(segments[0][0]))


def _in_own_range(axis: Array) -> Array:
    return (axis - axis.min()) / (np.ptp(axis) or 1.0)


def _farthest(points: Array, first: int, last: int) -> tuple[float, int, int, int]:
    """Return minus the distance, so that a heap has the worst on top, and the point that is farthest from a chord."""
    if last - first < 2:
        return 0.0, first, first, last
    distance = distance_to_chord(points[first + 1 : last], points[first], points[last])
    middle = int(distance.argmax())
    return -float(distance[middle]), first, first + 1 + middle, last


def distance_to_chord(points: Array, start: Array, end: Array) -> Array:
    """Return how far points lie from the straight piece between `start` and `end`; the last axis holds x and y.

    Examples
    --------
    >>> distance_to_chord(np.array([[0.5, 1.0], [2.0, 0.0]]), np.array([0.0, 0.0]), np.array([1.0, 0.0]))
    array([1., 1.])
    """
    chord, offset = end - start, points - start
    length = (chord * chord).sum(axis=-1)
    along = (offset * chord).sum(axis=-1) / np.where(length > 0, length, 1.0)
    return np.linalg.norm(offset - along.clip(0.0, 1.0)[..., None] * chord, axis=-1)
