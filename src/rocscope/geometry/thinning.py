"""Select the points of a curve that are needed to draw the curve and to find its best point."""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from rocscope._base.arrays import Array, Indices, after_infinity
from rocscope.core import ThresholdCounts
from rocscope.core.ranking import Block
from rocscope.geometry.hull import pool
from rocscope.kernels import ranks

_NONE = np.zeros(0, np.intp)


@dataclass(frozen=True)
class Thinned:
    """Selected points of a ROC curve.

    Attributes
    ----------
    index : array of k
        Indices of the selected points, in increasing order. At index 0 no case is predicted positive. Index i is the
        i-th distinct score.
    threshold : array of k
        Thresholds of the selected points. The first is infinity.
    tp, fp : arrays of k
        Numbers of true and false positives at the selected points.
    counts : ThresholdCounts
        Counts from which the points were selected.
    """

    index: Array
    threshold: Array
    tp: Array
    fp: Array
    counts: ThresholdCounts

    @property
    def next_score(self) -> Array:
        """The highest score below each selected threshold; −∞ if no score is lower."""
        following = np.append(self.counts.threshold.astype(np.float64), -np.inf)
        return following[self.index]

    @cached_property
    def deviation(self) -> float:
        """Largest distance, in tpr and fpr, of an omitted point from the line between its selected neighbours."""
        every = self.index.size == len(self.counts) + 1
        return 0.0 if every else _deviation(self.counts, self.index, self.tp, self.fp)


def thin(
    counts: ThresholdCounts,
    most: int = 500,
    *,
    hull: ThresholdCounts | None = None,
    keep: Array = _NONE,
    blocks: Iterable[Block] | None = None,
) -> Thinned:
    """Select points of the ROC curve for drawing.

    Three kinds of points are selected: about `most` evenly spaced points, all points that can have the lowest expected
    cost, and the points in `keep`. Points that can have the lowest cost are the vertices of the convex hull, and the
    highest threshold at which all negatives are predicted positive. This threshold is best if costs reward only false
    positives.

    Parameters
    ----------
    counts : ThresholdCounts
        Numbers of positives and negatives at each score.
    most : int
        Approximate number of evenly spaced points.
    hull : ThresholdCounts, optional
        Convex hull of the curve. By default, it is computed.
    keep : array of int
        Indices of further points to select.
    blocks : sequence of Block, optional
        The blocks of `counts.ranking`. By default, they are computed. To use the blocks for another purpose at the same
        time, pass a generator that yields them.

    Raises
    ------
    OneClassError
        If the counts contain only one class.

    Notes
    -----
    Along a ROC curve, s = fpr + tpr increases strictly. The difference d = tpr − fpr is the height above the diagonal.
    Points are selected at equal distances in s. Straight lines between selected points approximate the curve.
    `Thinned.deviation` is half the largest difference in d between an omitted point and this line.

    Examples
    --------
    >>> counts = ThresholdCounts.from_scores([1, 1, 0, 0, 0, 1], [6, 5, 4, 3, 2, 1])
    >>> kept = thin(counts, most=2)
    >>> kept.index, kept.threshold, round(kept.deviation, 3)
    (array([0, 2, 5, 6]), array([inf, 5., 2., 1.]), 0.0)
    """
    counts.require_both_classes("thinning")
    # The positions are measured along s = fpr + tpr, which goes from 0 to 2.
    hull = pool(counts) if hull is None else hull
    wanted = np.union1d(np.linspace(0, 2, most), _along(counts, hull.tp, hull.fp))
    if keep.size:
        tp, fp = counts.cumulative
        wanted = np.union1d(wanted, _along(counts, tp[keep], fp[keep]))
    chosen: list[tuple[Array, ...]] = []
    done, complete, first = 0, False, 1  # the first wanted is 0, which is no level
    for block in counts.ranking.blocks() if blocks is None else blocks:
        size, level = block.tp.size, _reached(counts, block, wanted[first:])
        first += level.size
        if not done and size < most and first == wanted.size:  # the first block is the last
            level = np.arange(size)
        else:
            # Several positions may be reached at the same score, which is selected once.
            level = level[np.diff(level, prepend=-1) > 0]
        # The first score with all negatives is best if only false positives are rewarded. It may be below the hull.
        if not complete and block.fp[-1] == counts.n_neg:
            level, complete = np.union1d(level, np.searchsorted(block.fp, counts.n_neg)), True
        threshold = counts.ranking.decode(block.code[level])
        chosen.append((done + 1 + level, threshold, block.tp[level], block.fp[level]))
        done += size
    index, threshold, tp, fp = (np.concatenate(column) for column in zip(*chosen, strict=True))
    index, tp, fp = (np.concatenate([column[:1] * 0, column]) for column in (index, tp, fp))
    return Thinned(index, after_infinity(threshold), tp, fp, counts)


def _reached(counts: ThresholdCounts, block: Block, wanted: Array) -> Indices:
    """Return the index of the first score in a block at or after each of the positions tpr + fpr in `wanted`."""
    if counts.ranking.few:
        along = _along(counts, block.tp, block.fp)
        return np.searchsorted(along, wanted[: np.searchsorted(wanted, along[-1], side="right")])
    level = np.empty(wanted.size, np.intp)
    return level[: ranks.reach(block.tp, block.fp, counts.n_pos, counts.n_neg, wanted, level)]


def _along(counts: ThresholdCounts, tp: Array, fp: Array) -> Array:
    return tp / counts.n_pos + fp / counts.n_neg


def _deviation(counts: ThresholdCounts, index: Array, tp: Array, fp: Array) -> float:
    """Return the largest distance of a point from the line between its selected neighbours; see `Thinned`."""
    along, above = _along(counts, tp, fp), tp / counts.n_pos - fp / counts.n_neg
    run = np.diff(along)
    slope = np.diff(above) / np.where(run > 0, run, 1)  # rounded sums of weights may be equal
    every = tp[:-1], fp[:-1], (1 - slope) / counts.n_pos, (1 + slope) / counts.n_neg
    worst, done = 0.0, 0
    off = _off if counts.ranking.few else ranks.farthest
    for block in counts.ranking.blocks():
        worst = max(worst, off(block.tp, block.fp, index - done, *every))
        done += block.tp.size
    return float(worst) / 2


def _off(tp: Array, fp: Array, ends: Array, start_tp: Array, start_fp: Array, up: Array, right: Array) -> float:
    """Return the same number as the compiled function `kernels.ranks.farthest`. This is faster for few points."""
    line = np.repeat(np.arange(up.size), np.diff(ends.clip(0, tp.size)))
    return np.abs(up[line] * (tp - start_tp[line]) - right[line] * (fp - start_fp[line])).max(initial=0.0)


@dataclass(frozen=True)
class Simplified:
    """Selected points of a polyline.

    Attributes
    ----------
    index : array of int
        Indices of the selected points, in increasing order.
    deviation : float
        Largest distance of an omitted point from the line between its selected neighbours.
    """

    index: Array
    deviation: float


def simplify(
    x: Any, y: Any, *, most: int = 2000, keep: Sequence[int] | Array = (), tolerance: float = 0.0
) -> Simplified:
    """Select points of a polyline such that a line through the selected points looks the same.

    Parameters
    ----------
    x, y : arrays of n finite numbers
        Coordinates of the points. They are scaled such that x and y have a range from 0 to 1.
    most : int
        Largest number of selected points. The first point, the last point and the points in `keep` are always selected.
    keep : array of int
        Indices of points that must be selected, such as the vertices of the hull.
    tolerance : float
        Accepted distance of an omitted point from the line between its selected neighbours, in scaled coordinates.

    Returns
    -------
    Simplified
        Indices of the selected points, and the largest distance of an omitted point.

    Notes
    -----
    This is the Ramer–Douglas–Peucker algorithm. The segment with the farthest point is split at this point, until
    `most` points are selected or all points are within the tolerance. The time is about O(n log most).

    References
    ----------
    Douglas & Peucker 1973, "Algorithms for the reduction of the number of points", Cartographica 10:112–122.

    Examples
    --------
    >>> simplify([0, 1, 2, 3, 4], [0, 0, 4, 4, 4], most=4)
    Simplified(index=array([0, 1, 2, 4]), deviation=0.0)
    """
    x, y = (_in_own_range(np.asarray(axis, dtype=np.float64)) for axis in (x, y))
    chosen = set(np.asarray(keep, dtype=np.intp).tolist()) | {0, len(x) - 1}
    # A heap returns the smallest number first, so distances are stored as negative numbers.
    segments = [_farthest(x, y, *ends) for ends in pairwise(sorted(chosen))] or [(0.0, 0, 0, 0)]
    heapq.heapify(segments)
    while len(chosen) < most and segments[0][0] < -tolerance:
        _, first, middle, last = segments[0]
        chosen.add(middle)
        heapq.heapreplace(segments, _farthest(x, y, first, middle))
        heapq.heappush(segments, _farthest(x, y, middle, last))
    return Simplified(np.array(sorted(chosen), dtype=np.intp), abs(segments[0][0]))


def _in_own_range(axis: Array) -> Array:
    return (axis - axis.min()) / (np.ptp(axis) or 1.0)


def _farthest(x: Array, y: Array, first: int, last: int) -> tuple[float, int, int, int]:
    """Find the point that is farthest from the segment between two points.

    Return the negative distance (for a heap), the index of the first point, of the farthest point and of the last one.
    """
    if last - first < 2:
        return 0.0, first, first, last
    start_x, start_y = float(x[first]), float(y[first])
    chord_x, chord_y = float(x[last]) - start_x, float(y[last]) - start_y
    # x and y are processed separately, which is faster for short pieces.
    off_x, off_y = x[first + 1 : last] - start_x, y[first + 1 : last] - start_y
    along = (off_x * chord_x + off_y * chord_y) / (chord_x**2 + chord_y**2 or 1.0)
    # If the nearest point of the line is outside the segment, use the distance to the end of the segment.
    np.minimum(np.maximum(along, 0.0, out=along), 1.0, out=along)
    distance = np.hypot(off_x - along * chord_x, off_y - along * chord_y)
    middle = int(distance.argmax())
    return -float(distance[middle]), first, first + 1 + middle, last


def distance_to_chord(points: Array, start: Array, end: Array) -> Array:
    """Return the distance of points from the segment between `start` and `end`.

    Parameters
    ----------
    points, start, end : arrays of … × 2
        Coordinates x and y of points, and of the ends of a segment.

    Examples
    --------
    >>> distance_to_chord(np.array([[0.5, 1.0], [2.0, 0.0]]), np.array([0.0, 0.0]), np.array([1.0, 0.0]))
    array([1., 1.])
    """
    chord, offset = end - start, points - start
    length = (chord * chord).sum(axis=-1)
    along = (offset * chord).sum(axis=-1) / np.where(length > 0, length, 1.0)
    return np.linalg.norm(offset - along.clip(0.0, 1.0)[..., None] * chord, axis=-1)
