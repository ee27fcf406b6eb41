"""Select the points of a curve that are needed to draw it and to find its best point."""

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
    """Points of a curve that suffice to draw it.

    Attributes
    ----------
    index : array of increasing point numbers; 0 is "nobody positive", i is the i-th level
    threshold : array of scores; the first is infinite
    tp, fp : arrays of counts
    counts : ThresholdCounts
        Counts of all points.
    """

    index: Array
    threshold: Array
    tp: Array
    fp: Array
    counts: ThresholdCounts

    @property
    def next_score(self) -> Array:
        """The highest score below each threshold; −∞ below the last threshold."""
        following = np.append(self.counts.threshold.astype(np.float64), -np.inf)
        return following[self.index]

    @cached_property
    def deviation(self) -> float:
        """Largest distance of any omitted point from the lines between kept points, in tpr and fpr."""
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
    """Select points of the ROC curve: about `most` evenly spaced points, and points that must not be omitted.

    All points that can have the lowest cost are selected, and the points with the indices `keep`. The lowest cost is at
    a vertex of the convex hull. If costs reward only false alarms, it is at the highest threshold at which all
    negatives are predicted positive.

    `hull` is the convex hull; by default it is computed. `blocks` are the blocks of `counts.ranking`; by default they
    are computed. A caller that processes the blocks itself can pass a generator that yields them, so that they are
    computed only once.

    Raises
    ------
    OneClassError
        If the counts contain only one class.

    Notes
    -----
    Along a ROC curve, s = fpr + tpr strictly increases, and d = tpr − fpr is the height above the diagonal. Points are
    selected at equal distances in s. Lines between selected points approximate the curve: `Thinned.deviation` is half
    the largest difference in d between an omitted point and its line. The selection takes one pass over the blocks; the
    first access to the deviation takes another pass.

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
            # Several positions may be reached at the same level, which is kept once.
            level = level[np.diff(level, prepend=-1) > 0]
        # The first level with all negatives is best where only false alarms are rewarded; it need not be on the hull.
        if not complete and block.fp[-1] == counts.n_neg:
            level, complete = np.union1d(level, np.searchsorted(block.fp, counts.n_neg)), True
        threshold = counts.ranking.decode(block.code[level])
        chosen.append((done + 1 + level, threshold, block.tp[level], block.fp[level]))
        done += size
    index, threshold, tp, fp = (np.concatenate(column) for column in zip(*chosen, strict=True))
    index, tp, fp = (np.concatenate([column[:1] * 0, column]) for column in (index, tp, fp))
    return Thinned(index, after_infinity(threshold), tp, fp, counts)


def _reached(counts: ThresholdCounts, block: Block, wanted: Array) -> Indices:
    """Return the first level at or after each requested position along the curve, for one block."""
    if counts.ranking.few:
        along = _along(counts, block.tp, block.fp)
        return np.searchsorted(along, wanted[: np.searchsorted(wanted, along[-1], side="right")])
    level = np.empty(wanted.size, np.intp)
    return level[: ranks.reach(block.tp, block.fp, counts.n_pos, counts.n_neg, wanted, level)]


def _along(counts: ThresholdCounts, tp: Array, fp: Array) -> Array:
    return tp / counts.n_pos + fp / counts.n_neg


def _deviation(counts: ThresholdCounts, index: Array, tp: Array, fp: Array) -> float:
    """Return the largest distance of points from the lines between selected points, block by block."""
    along, above = _along(counts, tp, fp), tp / counts.n_pos - fp / counts.n_neg
    run = np.diff(along)
    slope = np.diff(above) / np.where(run > 0, run, 1)  # rounded sums of weights may stand still
    every = tp[:-1], fp[:-1], (1 - slope) / counts.n_pos, (1 + slope) / counts.n_neg
    worst, done = 0.0, 0
    off = _off if counts.ranking.few else ranks.farthest
    for block in counts.ranking.blocks():
        worst = max(worst, off(block.tp, block.fp, index - done, *every))
        done += block.tp.size
    return float(worst) / 2


def _off(tp: Array, fp: Array, ends: Array, start_tp: Array, start_fp: Array, up: Array, right: Array) -> float:
    """Return the same number as the compiled loop `kernels.ranks.farthest`; faster for few points."""
    line = np.repeat(np.arange(up.size), np.diff(ends.clip(0, tp.size)))
    return np.abs(up[line] * (tp - start_tp[line]) - right[line] * (fp - start_fp[line])).max(initial=0.0)


@dataclass(frozen=True)
class Simplified:
    """Selected points of a polyline, and the largest distance of an omitted point from the lines between them."""

    index: Array
    deviation: float


def simplify(
    x: Any, y: Any, *, most: int = 2000, keep: Sequence[int] | Array = (), tolerance: float = 0.0
) -> Simplified:
    """Select points of a polyline that reproduce its appearance.

    Parameters
    ----------
    x, y : arrays of n finite numbers
        Coordinates. Distances are in units of the range of x and of y; for a ROC curve these are rates.
    most : int
        Largest number of selected points. The first point, the last point and the points in `keep` are always selected.
    keep : indices
        Points that must be selected, such as the vertices of the hull.
    tolerance : float
        Accepted distance of omitted points from the lines between selected points. Points are added until all omitted
        points are within this distance, or `most` points are selected.

    Returns
    -------
    Simplified
        Increasing `index` of the selected points, and the `deviation`: the largest distance of any point from the
        straight line between the two selected points around it.

    Notes
    -----
    This is the Ramer–Douglas–Peucker algorithm, starting with the worst segment. A segment is split at its farthest
    point until `most` points are selected or all points are within the tolerance. The time is about O(n log most).

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
    # A heap has the smallest first, so that distances are stored negative.
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
    """Return the negative distance (for a heap) and index of the point farthest from a chord."""
    if last - first < 2:
        return 0.0, first, first, last
    start_x, start_y = float(x[first]), float(y[first])
    chord_x, chord_y = float(x[last]) - start_x, float(y[last]) - start_y
    # One column at a time, as this is called some thousand times for short pieces.
    off_x, off_y = x[first + 1 : last] - start_x, y[first + 1 : last] - start_y
    along = (off_x * chord_x + off_y * chord_y) / (chord_x**2 + chord_y**2 or 1.0)
    # Beyond an end of the chord the distance to that end counts.
    np.minimum(np.maximum(along, 0.0, out=along), 1.0, out=along)
    distance = np.hypot(off_x - along * chord_x, off_y - along * chord_y)
    middle = int(distance.argmax())
    return -float(distance[middle]), first, first + 1 + middle, last


def distance_to_chord(points: Array, start: Array, end: Array) -> Array:
    """Return the distance of points from the segment between `start` and `end`. The last axis is x and y.

    Examples
    --------
    >>> distance_to_chord(np.array([[0.5, 1.0], [2.0, 0.0]]), np.array([0.0, 0.0]), np.array([1.0, 0.0]))
    array([1., 1.])
    """
    chord, offset = end - start, points - start
    length = (chord * chord).sum(axis=-1)
    along = (offset * chord).sum(axis=-1) / np.where(length > 0, length, 1.0)
    return np.linalg.norm(offset - along.clip(0.0, 1.0)[..., None] * chord, axis=-1)
