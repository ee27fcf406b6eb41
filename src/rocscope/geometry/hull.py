"""The upper convex hull of a ROC curve: which of its points can ever be the best.

A lift chart is an affine image of ROC space, so both have the same hull. A hull is again a ThresholdCounts: the levels
between two vertices are pooled into one. That is also what isotonic regression (pooling of adjacent violators) does to
the labels.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rocscope import kernels
from rocscope._types import Array
from rocscope.core.counts import ThresholdCounts
from rocscope.core.cumulative import CumulativeCounts
from rocscope.core.ranking import Block, Levels, ranges
from rocscope.core.threads import in_threads

_FEW = 50
"""Points that plain Python goes through sooner than NumPy."""


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
