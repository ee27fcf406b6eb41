"""Averaging of curves: vertical, at equal thresholds, and at equal numbers of false positives.

Between two thresholds a fold has what a random mixture of both attains, as counts: a straight line in ROC space, a
hyperbola where precision or lift is shown. So every interpolation here mixes counts first and divides then.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rocscope._base.arrays import Array
from rocscope._base.radix import after_infinity
from rocscope.core.counts import ThresholdCounts
from rocscope.curves.curve import CountCurve, Curve, cumulative, interpolate
from rocscope.curves.rate_curves import PrecisionRecallCurve
from rocscope.errors import WeightError
from rocscope.evaluation.folds import fold_curves

MOST = 20_000  # thresholds at which folds are averaged; a choice: one in 20,000 is no step that a plot shows
_STEPS = 200  # between 0 and 1, of curves that are not straight between their points


class AveragePoints(NamedTuple):
    """x, the y of each fold (one row each), thresholds (NaN where they differ), and each fold's x where it varies."""

    x: Array
    y: Array
    threshold: Array
    x_of_folds: Array | None = None


class _Place(NamedTuple):
    """Position between two entries of a row, and the share of the way from the lower to the higher."""

    low: Array
    share: Array

    @classmethod
    def find(cls, x: Array, among: Array, *, first: bool) -> "_Place":
        """Find x in non-decreasing numbers; of equal ones, the first or the last."""
        last = among.size - 1
        if first:
            high = np.searchsorted(among, x, side="left").clip(max=last)
            low = np.where(among[high] == x, high, high - 1).clip(0, last)
        else:
            low = (np.searchsorted(among, x, side="right") - 1).clip(0, last)
        width = among[np.minimum(low + 1, last)] - among[low]
        exact = (among[low] == x) | (width <= 0)
        return cls(low, np.where(exact, 0.0, (x - among[low]) / np.where(exact, 1.0, width)))

    def mix(self, values: Array) -> Array:
        """Interpolate other numbers of the same row at this position."""
        high = np.minimum(self.low + 1, values.size - 1)
        return values[self.low] + self.share * (values[high] - values[self.low])

    def beyond_nothing(self) -> "_Place":
        """Move from "nobody positive", where a ratio is 0/0, to the next point, which continues it."""
        return self._replace(low=np.maximum(self.low, (self.share == 0).astype(self.low.dtype)))


@dataclass(frozen=True)
class Vertical:
    """The y of each fold at given x; by default at the x of every fold's points.

    Where a fold jumps there are two points of one x, before and after, so that the straight lines between points
    enclose the mean of the areas.
    """

    curves: Sequence[Curve]
    grid: Array | None

    @cached_property
    def points(self) -> AveragePoints:
        if self.grid is not None:
            return _without_thresholds(self.grid, self.at(self.grid))
        counted = [curve for curve in self.curves if isinstance(curve, CountCurve)]
        x = _not_too_many(np.concatenate([*(curve.x for curve in self.curves), _bends(self.curves[0])]))
        if not counted:
            return _without_thresholds(x, self.at(x))
        before, after = (np.stack([_y_at(curve, x, first=first) for curve in counted]) for first in (True, False))
        position = np.repeat(np.arange(x.size), 1 + (before != after).any(axis=0))
        second = np.append(False, np.diff(position) == 0)
        return _without_thresholds(x[position], np.where(second, after[:, position], before[:, position]))

    def at(self, x: Array) -> Array:
        return np.stack([np.asarray(curve.at(x), dtype=np.float64) for curve in self.curves])


def _without_thresholds(x: Array, y: Array) -> AveragePoints:
    return AveragePoints(x, y, np.full(x.size, np.nan))


def _bends(curve: Curve) -> Array:
    """Return additional positions for a curve that is not straight between its points."""
    bent = curve.y_name in ("precision", "lift")
    return np.linspace(0, 1, _STEPS + 1) if bent else np.empty(0)


def _not_too_many(values: Array) -> Array:
    """Return the distinct values, or a sample evenly spaced by rank if there are too many."""
    distinct = np.unique(values[values == values])
    if distinct.size <= MOST:
        return distinct
    return distinct[np.linspace(0, distinct.size - 1, MOST).round().astype(np.intp)]


def _y_at(curve: CountCurve, x: Array, *, first: bool) -> Array:
    place = _Place.find(x, curve.x, first=first)
    if np.isnan(curve.y[0]):
        place = place.beyond_nothing()
    tp, fp = cumulative(curve.counts)
    return curve.of(place.mix(tp), place.mix(fp))[1]


@dataclass(frozen=True)
class ByThreshold:
    """The points of each fold at given thresholds; by default at every score."""

    curves: Sequence[CountCurve]
    grid: Array | None

    @cached_property
    def _thresholds(self) -> Array:
        """Finite, decreasing, in the type of the scores."""
        if self.grid is not None:
            return np.unique(self.grid)[::-1]
        return _not_too_many(np.concatenate([curve.counts.threshold for curve in self.curves]))[::-1]

    @cached_property
    def _counts(self) -> list[tuple[Array, Array]]:
        """True and false positives of each fold, at infinity and at the thresholds."""
        found = []
        for curve in self.curves:
            scores = curve.counts.threshold
            level = scores.size - np.searchsorted(scores[::-1], self._thresholds, side="left")
            level = np.concatenate([[0], level])
            found.append(tuple(count[level] for count in cumulative(curve.counts)))
        return found

    @cached_property
    def points(self) -> AveragePoints:
        columns = [curve.of(*counts) for curve, counts in zip(self.curves, self._counts, strict=True)]
        x, y = (np.stack(axis) for axis in zip(*columns, strict=True))
        return AveragePoints(fold_curves.mean(x, 0.5).value, y, after_infinity(self._thresholds), x)

    def at(self, x: Array) -> Array:
        """Interpolate between neighbouring thresholds with one share for all folds, to attain the requested mean x."""
        mean_x = self.points.x
        place = _Place.find(x, mean_x, first=isinstance(self.curves[0], PrecisionRecallCurve))
        mixed = [curve.of(*map(place.mix, counts))[1] for curve, counts in zip(self.curves, self._counts, strict=True)]
        return np.where((x >= mean_x[0]) & (x <= mean_x[-1]), np.stack(mixed), np.nan)


@dataclass(frozen=True)
class ByBin:
    """The points of each fold's calibration curve in common bins; NaN for an empty bin."""

    curves: Sequence[Any]

    @cached_property
    def points(self) -> AveragePoints:
        x, y = (np.stack([getattr(curve, axis) for curve in self.curves]) for axis in ("x", "y"))
        return AveragePoints(fold_curves.mean(x, 0.5).value, y, self.curves[0].threshold, x)

    def at(self, x: Array) -> Array:
        known = fold_curves.mean(self.points.y, 0.5)
        used = known.folds > 0
        return np.atleast_2d(interpolate(self.points.x[used], known.value[used], x))


class CountedRoc(CountCurve):
    """Number of true positives (y) by number of false positives (x)."""

    title = "ROC curve in counts"
    x_name = "fp"
    y_name = "tp"

    def _xy(self, tp: Array, fp: Array) -> tuple[Array, Array]:
        return fp, tp


@dataclass(frozen=True)
class ByFalsePositives:
    """True positives of each fold among its first rows that include 0, 1, 2, … false positives.

    Within a tie they are taken in proportion. A fold with fewer negatives than another has found all its positives
    beyond; the last point is that of all rows.
    """

    curves: Sequence[CountedRoc]

    @cached_property
    def points(self) -> AveragePoints:
        x = np.arange(self._most + 1, dtype=np.float64)
        found = [np.where(x > curve.counts.n_neg, curve.counts.n_pos, _found(curve, x)) for curve in self.curves]
        everything = np.array([[curve.counts.n_pos] for curve in self.curves], dtype=np.float64)
        return _without_thresholds(np.append(x, x[-1]), np.hstack([np.stack(found), everything]))

    @property
    def _most(self) -> int:
        largest = max(curve.counts.n_neg for curve in self.curves)
        for curve in self.curves:
            _require_whole(curve.counts.require_levels("an average of counts"))
        return int(largest)

    def at(self, x: Array) -> Array:
        points = self.points
        return np.stack([np.asarray(interpolate(points.x, y, x)) for y in points.y])


def _found(curve: CountedRoc, x: Array) -> Array:
    tp, fp = cumulative(curve.counts)
    found = _Place.find(x, fp, first=True).mix(tp)
    return np.where(x == 0, 0.0, found)


def _require_whole(counts: ThresholdCounts) -> None:
    if (counts.neg % 1).any():
        subject = "method='false_positives'"
        raise WeightError(subject, expected="whole numbers of negatives", got="broken weights", hint="use 'vertical'")


FoldAverage = Vertical | ByThreshold | ByBin | ByFalsePositives
"""Each has `points`, and `at` for the y of each fold at any x (one row per fold)."""
