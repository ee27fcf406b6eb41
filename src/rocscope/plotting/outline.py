"""Outline: the few points that, joined by straight lines, look like a curve of any size."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rocscope._base.arrays import Array
from rocscope.core.counts import ThresholdCounts
from rocscope.core.cumulative import CumulativeCounts
from rocscope.curves.curve import CountCurve, Curve, cumulative
from rocscope.geometry import Thinned, distance_to_chord, pool, remembered, simplify, thin

Scale = Callable[[Array], Array]

MOST = 2000
_AT_ONCE = 200_000
_BEND = 1e-3
_HALVINGS = 10
_UNSEEN = 1e-4  # of an axis: a seventh of a pixel of a figure of five inches at 300 dots an inch


class Outline(NamedTuple):
    """Points to be joined by straight lines; NaN is a gap."""

    x: Array
    y: Array


def outline(curve: Curve, *, most: int = MOST, scale: Scale | None = None) -> Outline:
    """Return the line to draw for a curve.

    Parameters
    ----------
    curve : Curve
        One of counts bends between its points where counts are mixed (precision–recall, lift, DET), and is drawn
        so; any other is joined by straight lines.
    most : int
        About how many points at most; see `rocscope.geometry.simplify`. Vertices of the ROC hull always stay.
    scale : function, optional
        What the axes do to x and y before they are seen, such as the normal deviates of a DET curve.

    Notes
    -----
    Straight to the eye means: the middle of a piece lies within 1/1000 of the axes of what is drawn. Where nothing
    is predicted and y is 0/0, the curve begins with its limit, the value of its first point. Above 200,000
    levels the statistic is thinned first, to 50,000 points evenly along the ROC curve.

    Examples
    --------
    >>> from rocscope import precision_recall, roc
    >>> outline(roc([1, 0, 1], [3, 2, 1]))
    Outline(x=array([0., 0., 1., 1.]), y=array([0. , 0.5, 0.5, 1. ]))
    >>> outline(precision_recall([1, 1], [2, 1]))
    Outline(x=array([0. , 0.5, 1. ]), y=array([1., 1., 1.]))
    """
    if isinstance(curve, CountCurve):
        return _of_counts(curve, most, scale or _as_it_is)
    x, y = map(np.asarray, curve.drawn())
    if x.size <= most or not np.isfinite(y).all():
        return Outline(x, y)
    scale = scale or _as_it_is
    shown = simplify(scale(x), scale(y), most=most, tolerance=_UNSEEN).index
    return Outline(x[shown], y[shown])


def _of_counts(curve: CountCurve, most: int, scale: Scale) -> Outline:
    """Work on rows of level number, true and false positives; what is between two levels has a broken number."""

    def drawn(rows: Array) -> Array:
        return np.column_stack([scale(axis) for axis in _from_limit(*curve.of(rows[:, 1], rows[:, 2]))])

    rows, vertices = _rows(curve.counts)
    if len(rows) > most:
        rows = rows[simplify(*drawn(rows).T, most=most, keep=vertices, tolerance=_UNSEEN).index]
    points = drawn(rows)
    size = np.where(np.ptp(points, axis=0) > 0, np.ptp(points, axis=0), 1.0)
    for _ in range(_HALVINGS):
        near = np.flatnonzero(np.diff(rows[:, 0]) <= 1)
        middle = (rows[near] + rows[near + 1]) / 2
        between = drawn(middle)
        bent = distance_to_chord(between / size, points[near] / size, points[near + 1] / size) > _BEND
        if not bent.any():
            break
        rows = np.insert(rows, near[bent] + 1, middle[bent], axis=0)
        points = np.insert(points, near[bent] + 1, between[bent], axis=0)
    return _from_limit(*curve.of(rows[:, 1], rows[:, 2]))


def _rows(counts: CumulativeCounts) -> tuple[Array, Array]:
    """Return the rows to choose from, and where the vertices of the ROC hull are among them."""
    attained = counts.attained
    if len(counts) > _AT_ONCE and counts.holds_levels and counts.n_pos and counts.n_neg:
        kept = _evenly(attained)
        level, threshold, tp, fp = kept.index, kept.threshold[1:], kept.tp, kept.fp
    else:
        threshold, (tp, fp) = counts.threshold, cumulative(counts)
        level = np.arange(tp.size)
    hull = pool(attained).threshold.astype(threshold.dtype)
    vertices = threshold.size - np.searchsorted(threshold[::-1], hull)
    return np.column_stack([level, tp, fp]).astype(np.float64), vertices


@remembered
def _evenly(counts: ThresholdCounts) -> Thinned:
    return thin(counts, 25 * MOST)


def _from_limit(x: Array, y: Array) -> Outline:
    """Begin with the limit where the first y is 0/0: along the line to the first point the ratio does not change."""
    if y.size > 1 and np.isnan(y[0]):
        y = np.concatenate([y[1:2], y[1:]])
    return Outline(x, y)


def _as_it_is(values: Array) -> Array:
    return values
