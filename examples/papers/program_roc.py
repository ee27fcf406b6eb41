"""Best thresholds of a ROC curve as in Orange in 2006: all hull points close to the best line of equal accuracy."""

import math
from collections.abc import Iterable

import numpy as np

import rocscope as rs

Point = tuple[float, float, float]
"""False positive rate, true positive rate, threshold."""

_NEAR = 1e-4


def best_thresholds(counts: rs.ThresholdCounts) -> list[float]:
    """Return the thresholds of best accuracy, highest first. A threshold that predicts no case positive is 1.

    Notes
    -----
    The function follows `TCcomputeROC` and `TCbestThresholdsOnROCcurve` of Orange in June 2006
    (github.com/biolab/orange2, commit 3eced98). Orange computes with rounded rates. If a point is closer to the line
    than the points before it, Orange drops the points before it, even if the difference is only a rounding error. This
    function does the same, so it returns the thresholds that the authors of the paper saw.

    Examples
    --------
    >>> best_thresholds(rs.ThresholdCounts([0.9, 0.6, 0.4, 0.1], [2, 0, 2, 0], [0, 2, 0, 2]))
    [0.9, 0.4]
    """
    curve = rs.roc(counts)
    points = zip(*(each.tolist() for each in (curve.x, curve.y, np.minimum(curve.threshold, 1.0))), strict=True)
    top = 1.0 + counts.n_neg / counts.n_pos  # height, at fpr = 1, of the line of equal accuracy through (0, 1)
    best: list[float] = []
    least = math.inf
    for x, y, threshold in _hull(points):
        distance = abs(((1.0 - top) * x + y - 1.0) / math.sqrt(1.0 + (top - 1.0) * (top - 1.0)))
        if distance < least:
            least, best = distance, [threshold]
        elif distance - least <= _NEAR:
            best.append(threshold)
    return best


def _hull(points: Iterable[Point]) -> list[Point]:
    """Return the convex hull: each new point removes the points before it that are below or on the new segment."""
    kept: list[Point] = []
    for point in points:
        while len(kept) > 1 and _slope(kept[-2], kept[-1]) <= _slope(kept[-1], point):
            kept.pop()
        kept.append(point)
    return kept


def _slope(start: Point, end: Point) -> float:
    return 1e300 if start[0] == end[0] else (start[1] - end[1]) / (start[0] - end[0])
