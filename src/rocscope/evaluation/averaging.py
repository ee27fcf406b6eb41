"""Mean of a figure over folds, or the pooled figure, with an interval from the variation between folds.

Fold curves: one curve for each fold that has one, the reason where a fold has none, and the curve of all rows.
"""
# MERGED-DOC: """Averaging of curves: vertical, at equal thresholds, and at equal numbers of false positives.
#
# Between two thresholds a fold has what a random mixture of both attains, as counts: a straight line in ROC space, a
# hyperbola where precision or lift is shown. So every interpolation here mixes counts first and divides then.
# """
# MERGED-DOC: """average_curve: one average curve of all folds.
#
# AverageCurve: what averaging the curves of the folds gives, with its band and the single folds behind it.
# """

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from scipy import special

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope._base.grouping import masks_of
from rocscope._base.radix import after_infinity
from rocscope.calibration.curve import BinnedCalibrationCurve, calibration_curve
from rocscope.calibration.outcomes import Strategy
from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import Predictions, independent_units, model_name
from rocscope.core.result import Band, Result, jsonable
from rocscope.curves.curve import CountCurve, Curve, cumulative, interpolate, scalar
from rocscope.curves.rate_curves import PrecisionRecallCurve, gain, lift, precision_recall, roc
from rocscope.errors import InputError, OneClassError, ShapeError, WeightError, warn
from rocscope.inference.areas import estimate, sample_of_rows
from rocscope.inference.estimate import Estimate
from rocscope.sample import rows_of


class Across(NamedTuple):
    """Values with interval limits, and the number of folds of each."""

    value: Array
    low: Array
    high: Array
    folds: Array

    def clipped(self, low: float, high: float) -> "Across":
        """Return the same with limits clipped to the range of the quantity."""
        return self._replace(low=self.low.clip(low, high), high=self.high.clip(low, high))


@dataclass(frozen=True)
class Spread:
    """Uncertainty of a mean over folds, as of `effective` independent folds, with degrees of freedom.

    Attributes
    ----------
    folds : int
    effective, df : float
    name : str
        What a band calls it.
    """

    folds: int
    effective: float
    df: float
    name: str = "Student t across folds"

    @classmethod
    def of(cls, predictions: Predictions, folds: int) -> "Spread":
        """Return the spread for the folds of predictions, in which cases may repeat.

        Notes
        -----
        Repeats of a cross-validation count as one: they are the same cases. Repeated holdouts, which overlap, and folds
        without known repeats, have the variance of Nadeau & Bengio, s²·(1/J + ρ/(1 − ρ)), where ρ is the share of cases
        in a test set.
        """
        if not predictions.repeated:
            return cls(folds, folds, folds - 1)
        row, repeat = predictions.row, predictions.repeat
        assert row is not None
        repeats = folds if repeat is None else np.unique(repeat).size
        if folds >= 2 * repeats:
            in_one = folds / repeats
            return cls(folds, in_one, in_one - 1, f"Student t across folds, {repeats} repeats as one")
        share = row.size / folds / np.unique(row).size
        effective = 1 / (1 / folds + share / (1 - share)) if share < 1 else 1.0
        return cls(folds, effective, folds - 1, "corrected resampled t (Nadeau & Bengio)")


def mean(values: Array, level: float, spread: Spread | None = None) -> Across:
    """Return the mean of each column over the folds with a value; folds count equally.

    Notes
    -----
    mean ± t·s/√K with K − 1 degrees of freedom, or as `spread` says; NaN ends where only one fold has a number.

    Examples
    --------
    >>> found = mean(np.array([[0.2, 0.5], [0.4, 0.5], [0.6, np.nan]]), 0.95)
    >>> found.value.round(3), found.low.round(3), found.folds
    (array([0.4, 0.5]), array([-0.097,  0.5  ]), array([3, 2]))
    """
    spread = spread or Spread(len(values), len(values), len(values) - 1)
    known = ~np.isnan(values)
    folds = known.sum(axis=0)
    present = folds / spread.folds
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = np.where(known, values, 0.0).sum(axis=0) / folds
        # A mean of equal numbers is that number, which a sum divided by their count may miss by a bit.
        lowest, highest = np.where(known, values, np.inf).min(axis=0), np.where(known, values, -np.inf).max(axis=0)
        centre = np.where(folds > 0, np.clip(centre, lowest, highest), np.nan)
        square = np.where(known, values - centre, 0.0) ** 2
        error = np.sqrt(square.sum(axis=0) / (folds - 1) / (spread.effective * present))
    reach = _t(present * (spread.df + 1) - 1, level) * error
    return Across(centre, centre - reach, centre + reach, folds)


def jackknife(value: Array, without: Array, level: float) -> Across:
    """Return pooled values with jackknife intervals, leaving out each fold in turn.

    Notes
    -----
    value ± t·se, where se² = (K − 1)/K · Σ (value without fold k − their mean)².

    References
    ----------
    Efron & Tibshirani 1993, ch. 11.

    Examples
    --------
    >>> found = jackknife(np.array([0.4]), np.array([[0.5], [0.4], [0.3]]), 0.95)
    >>> found.low.round(3), found.high.round(3)
    (array([-0.097]), array([0.897]))
    """
    folds = len(without)
    error = np.sqrt((folds - 1) / folds * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    reach = _t(np.full(np.shape(value), folds - 1), level) * error
    return Across(value, value - reach, value + reach, np.full(np.shape(value), folds))


def _t(df: Array, level: float) -> Array:
    """Return the quantile of Student's t; NaN without degrees of freedom."""
    return np.where(df > 0, special.stdtrit(np.maximum(df, 1e-3), (1 + level) / 2), np.nan)


Kind = Literal["roc", "gain", "lift", "precision_recall", "calibration"]
Make = Callable[[ThresholdCounts], Curve]

# Of cases for a jackknife where cases repeat; a choice: 20 fits, and a variance with 19 degrees of freedom.
_GROUPS = 20
KINDS: tuple[Kind, ...] = get_args(Kind)
_MAKE: dict[str, Callable[[ThresholdCounts], CountCurve]] = {
    "roc": roc,
    "gain": gain,
    "lift": lift,
    "precision_recall": precision_recall,
}


@dataclass(frozen=True)
class FoldCurves:
    """The curves of one model.

    Attributes
    ----------
    curves : dict from fold to Curve
    undefined : dict from fold to str
        Why a fold has no curve.
    pooled : Curve
        Of the rows of all folds together.
    make : function from ThresholdCounts to Curve
    predictions : Predictions of one model
    masks : dict from fold to mask
        The rows of each fold, also of those without a curve.
    """

    curves: dict[Hashable, Any]
    undefined: dict[Hashable, str]
    pooled: Any
    make: Make
    predictions: Predictions
    masks: dict[Hashable, Array]

    @cached_property
    def spread(self) -> Spread:
        """Uncertainty of a mean of curves."""
        return Spread.of(self.of_those_defined(), len(self.curves))

    @cached_property
    def without_each(self) -> list[Any] | None:
        """The pooled curve without each fold in turn; None if one cannot be drawn."""
        parts = list(self._parts())
        if len(parts) < 2:
            return None
        try:
            return [self.make(self.predictions.select(~mask).counts()) for mask in parts]
        except (OneClassError, ShapeError, WeightError):
            return None

    def _parts(self) -> Iterable[Array]:
        """Return the rows to leave out: of each fold or, if cases repeat, of each group of cases."""
        unit = independent_units(self.predictions) if self.predictions.repeated else None
        if unit is None:
            return self.masks.values()
        group = np.random.default_rng(0).permutation(int(unit.max()) + 1)[unit] % _GROUPS
        return (group == number for number in range(_GROUPS))

    @property
    def without_name(self) -> str:
        """Name of the jackknife for a band."""
        return f"jackknife over {_GROUPS} groups of cases" if self.predictions.repeated else "jackknife over folds"

    def of_those_defined(self) -> Predictions:
        """Return the rows of folds that have a curve."""
        if not self.undefined:
            return self.predictions
        return self.predictions.select(np.any([self.masks[fold] for fold in self.curves], axis=0))


def fold_curves(predictions: Predictions, kind: Kind, *, bins: int, strategy: Strategy) -> FoldCurves:
    """Return the curves of the folds; calibration curves share the bins of the pooled one.

    Raises
    ------
    OneClassError
        If no fold has the curve.

    Warns
    -----
    RocscopeWarning
        If some folds have none.
    """
    check.check_choice("curve", kind, KINDS)
    masks = dict(masks_of("fold", predictions.fold))
    counts = predictions.counts()
    make: Make = _MAKE[kind] if kind in _MAKE else _in_bins_of(counts, bins, strategy)
    pooled = make(counts)
    curves, undefined = {}, {}
    for fold, mask in masks.items():
        try:
            curves[fold] = make(predictions.select(mask).counts())
        except (OneClassError, WeightError) as error:
            undefined[fold] = str(error)
    if not curves:
        first = next(iter(undefined.values()))
        raise OneClassError(f"no fold has a {pooled.title}", hint=f"the first: {first}")
    if undefined:
        listed = "; ".join(f"fold {fold}: {reason}" for fold, reason in undefined.items())
        message = (
            f"{len(undefined)} of {len(masks)} folds have no {pooled.title} and are left out of its mean ({listed})"
        )
        warn(message)
    return FoldCurves(curves, undefined, pooled, make, predictions, masks)


def _in_bins_of(counts: ThresholdCounts, bins: int, strategy: Strategy) -> Make:
    check.check_choice("strategy", strategy, ("uniform", "quantile"))
    pooled = calibration_curve(counts, bins=bins, strategy=strategy)
    assert isinstance(pooled, BinnedCalibrationCurve)
    return lambda each: calibration_curve(each, edges=pooled.edges)


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
        return AveragePoints(mean(x, 0.5).value, y, after_infinity(self._thresholds), x)

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
        return AveragePoints(mean(x, 0.5).value, y, self.curves[0].threshold, x)

    def at(self, x: Array) -> Array:
        known = mean(self.points.y, 0.5)
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


_DRAWN = 201  # points of a bent curve as it is drawn: every half per cent
_ENOUGH = 2000  # points are more than a plot has pixels across


@dataclass(frozen=True)
class Areas(Result):
    """The area under the pooled curve, and the mean of the folds' areas: two different numbers.

    Attributes
    ----------
    name : str
        What the area is called.
    pooled, mean : Estimate
    """

    name: str
    pooled: Estimate
    mean: Estimate

    def __str__(self) -> str:
        return f"{self.name} {self.pooled.value:.4g} pooled, {self.mean.value:.4g} mean of folds"


@dataclass(frozen=True)
class Averaged:
    """Points of an average curve with their intervals, and the average between them."""

    x: Array
    y: Across
    threshold: Array
    at: Callable[[Array], Array]
    interval: str
    x_across: Across | None = None


class AverageCurve(Curve):
    """The average of the curves of the folds.

    Made by `rocscope.evaluation.average_curve`.

    Attributes
    ----------
    x, y, threshold : arrays
        Points of the average; thresholds are NaN where each fold has its own.
    folds_at : array
        How many folds each point rests on.
    band : Band or None
        Interval of y; None where one fold alone cannot tell.
    x_band : Band or None
        Of a threshold average: the interval of x at each mean y.
    method : str
        How it was averaged, in words.
    model : str
    folds : dict from fold to Curve
        The single curves. Each counts the same in a mean, however many rows it has; pooled, each row does.
    undefined : dict from fold to str
        Why a fold has no curve.
    pooled : Curve
        Of all rows together, those of folds without a curve included.
    areas : Areas or None
        Pooled and as the mean of the folds; None for lift and calibration, which have no area.
    """

    title = "average over folds"

    def __init__(
        self,
        averaged: Averaged,
        *,
        method: str,
        model: str,
        folds: dict[Hashable, Curve],
        undefined: dict[Hashable, str],
        pooled: Curve,
        areas: Areas | None,
        level: float,
    ) -> None:
        super().__init__(averaged.x, averaged.y.value, averaged.threshold)
        self.method, self.model, self.pooled, self.areas = method, model, pooled, areas
        self.folds, self.undefined = dict(folds), dict(undefined)
        self.folds_at = check.read_only(averaged.y.folds)
        self.band = _band(self.x, averaged.y, level, averaged.interval)
        self.x_band = None if averaged.x_across is None else _band(self.y, averaged.x_across, level, averaged.interval)
        self._at = averaged.at

    @property
    def _one(self) -> Curve:
        return next(iter(self.folds.values()))

    @property
    def x_name(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Name of the folds' x axis."""
        return self._one.x_name

    @property
    def y_name(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Name of the folds' y axis."""
        return self._one.y_name

    def at(self, x: Any) -> Any:
        """Return the average at `x`; between points, that of mixtures of neighbouring thresholds."""
        x = np.asarray(x, dtype=np.float64)
        return scalar(self._at(x.reshape(-1)).reshape(x.shape))

    def drawn(self) -> tuple[Array, Array]:
        """Return the points, with additional ones where the average is not straight."""
        if self.x.size > _ENOUGH or self.y_name not in ("precision", "lift"):
            return self.x, self.y
        more = np.setdiff1d(np.linspace(self.x[0], self.x[-1], _DRAWN), self.x)
        place = np.searchsorted(self.x, more)
        return np.insert(self.x, place, more), np.insert(self.y, place, self.at(more))

    def plot(self, ax: Any = None, *, band: Band | bool | None = None, **line: Any) -> Any:
        """Draw the single folds faintly, the average and its band; a threshold average with crosses.

        Parameters
        ----------
        ax : Axes, optional
        band : Band or bool, optional
            Another band than its own; False draws none.
        **line
            For the line of the average, as in ``Axes.plot``.

        Returns
        -------
        Axes
        """
        own = self.band if self.x_band is None else None
        shown = own if band is None or band is True else band or None
        return super().plot(ax, band=shown, **line)

    def columns(self) -> dict[str, Array]:
        """Return the points with their interval limits and number of folds."""
        nothing = np.full(self.x.size, np.nan)
        ends = (nothing, nothing) if self.band is None else (self.band.low, self.band.high)
        return super().columns() | {"low": ends[0], "high": ends[1], "folds": self.folds_at}

    def to_dict(self) -> dict[str, Any]:
        """Return points, areas, single folds, and why some have no curve, safe for JSON."""
        facts = {
            "of": self._one.title,
            "model": self.model,
            "method": self.method,
            "interval": self.band and self.band.label,
            "areas": self.areas,
            "folds": self.folds,
            "undefined": self.undefined,
        }
        return super().to_dict() | jsonable(facts)

    def _facts(self) -> str:
        of_all = f" of {len(self.folds) + len(self.undefined)}" if self.undefined else ""
        facts = f"{self._one.title}, {self.method}, {len(self.folds)}{of_all} folds"
        return facts if self.areas is None else f"{facts}, {self.areas}"


def _band(x: Array, y: Across, level: float, method: str) -> Band | None:
    return Band(x, y.low, y.high, level, method) if (y.folds > 1).any() else None


Method = Literal["pooled", "vertical", "threshold", "false_positives"]

METHODS: tuple[Method, ...] = get_args(Method)
_NAMES = {
    "pooled": "pooled rows",
    "vertical": "vertical average",
    "threshold": "threshold average",
    "false_positives": "average by false positives",
}
_AREAS = {"roc": "AUC", "gain": "area under the gain curve", "precision_recall": "average precision"}
_ABOVE_ONE = ("lift", "tp", "fp")


@contract
def average_curve(
    predictions: Predictions,
    kind: Kind = "roc",
    *,
    method: Method = "vertical",
    model: str | None = None,
    grid: Any = None,
    bins: int = 10,
    strategy: Strategy = "uniform",
    level: float = 0.95,
) -> AverageCurve:
    """Average the curves of the folds, with a band, and keep the single curves.

    Parameters
    ----------
    predictions : Predictions with a fold column
    kind : {"roc", "gain", "lift", "precision_recall", "calibration"}
    method : {"vertical", "threshold", "false_positives", "pooled"}
        The mean of y at each x; the mean of x and y at each threshold; for ROC curves the mean number of true
        positives at each number of false positives; or one curve of the rows of all folds together, which supposes
        that scores mean the same in all of them.
    model : str, optional
        May be left out when there is only one.
    grid : array, optional
        The x of a vertical average, the thresholds of a threshold average. By default every value that any fold has,
        or 20,000 of them.
    bins, strategy : see `rocscope.calibration_curve`
        Bins are the same in all folds; ``"uniform"`` or ``"quantile"`` (of all rows).
    level : float
        Confidence level of band and areas.

    Returns
    -------
    AverageCurve
        `areas` has the area of the pooled rows and the mean of those of the folds; the two are never mixed.

    Raises
    ------
    InputError
        If there is no fold column, or an option does not fit the curve.
    OneClassError
        If no fold has the classes that the curve needs.

    Warns
    -----
    RocscopeWarning
        If some folds have no curve: they are left out of means and named in `undefined`. Pooled rows include theirs.

    Notes
    -----
    Each fold counts the same, whatever its number of rows; pooled, each row (weight) does. Bands are mean ± t·s/√K,
    pointwise, from the standard deviation s of the K folds; of pooled rows the jackknife that leaves out one fold at a
    time. Repeats are no new data: of a repeated cross-validation K is the number of folds in one repeat, for repeated
    holdouts the variance is s²·(1/K + ρ/(1 − ρ)), ρ the share of cases that is tested. Folds of a cross-validation
    share training rows, so such bands are too narrow for what another training sample would give.

    Ties are straight lines in ROC space and gain curve. Precision and lift are averaged along what random mixtures of
    neighbouring thresholds attain, which is a hyperbola, not a line. The area under the vertical average is the mean of
    the folds' areas (ROC, gain). Counting false positives, a fold that has run out of negatives has found all its
    positives. O(K · points) after ranking.

    References
    ----------
    Fawcett 2006, "An introduction to ROC analysis", Pattern Recognit. Lett. 27:861–874, §8 and algorithms 3 and 4;
    COMP9417 note, §3 (by false positives); Davis & Goadrich 2006, ICML (precision–recall); Nadeau & Bengio 2003,
    Mach. Learn. 52:239–281 (repeated holdouts).

    Examples
    --------
    >>> preds = Predictions([1, 0, 1, 0, 1, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1], fold=[1, 1, 1, 1, 2, 2, 2, 2])
    >>> average = average_curve(preds)
    >>> average.at([0.0, 0.25, 0.5]), average.areas.mean.value, average.areas.pooled.value
    (array([0.75, 0.75, 1.  ]), 0.875, 0.6875)
    >>> average_curve(preds, method="threshold", grid=[5.5]).columns()["tpr"]
    array([0. , 0.5])
    """
    check.check_choice("method", method, METHODS)
    level = check.check_level(level)
    predictions = rows_of(predictions)
    name = model_name(predictions.models, model)
    found = fold_curves(predictions.select(models=[name]), kind, bins=bins, strategy=strategy)
    if method == "false_positives":
        found = _in_counts(found, kind)
    if grid is not None and (method not in ("vertical", "threshold") or (method, kind) == ("threshold", "calibration")):
        raise InputError("grid", expected="none for this average", got="one", hint="it is for x or thresholds")
    curves = list(found.curves.values())
    if method == "pooled":
        averaged = _pooled(found, level)
    else:
        averaged = _averaged(_average(curves, method, grid), curves[0], level, found.spread)
    return AverageCurve(
        averaged,
        method=_NAMES[method],
        model=name,
        folds=found.curves,
        undefined=found.undefined,
        pooled=found.pooled,
        areas=_areas(found, kind, level),
        level=level,
    )


def _average(curves: Sequence[Any], method: Method, grid: Any) -> FoldAverage:
    where = None if grid is None else np.unique(check.check_scores(grid, name="grid"))
    if method == "vertical":
        return Vertical(curves, where)
    if method == "false_positives":
        return ByFalsePositives(curves)
    return ByBin(curves) if hasattr(curves[0], "edges") else ByThreshold(curves, where)


def _in_counts(found: FoldCurves, kind: Kind) -> FoldCurves:
    if kind != "roc":
        raise InputError("method='false_positives'", expected="kind='roc'", got=repr(kind), hint="use 'vertical'")
    return replace(found, curves={fold: CountedRoc(curve.counts) for fold, curve in found.curves.items()})


def _averaged(average: FoldAverage, one: Curve, level: float, spread: Spread) -> Averaged:
    points = average.points
    x = points.x_of_folds
    x_across = None if x is None else _within(mean(x, level, spread), one.x_name)
    return Averaged(
        points.x,
        _within(mean(points.y, level, spread), one.y_name),
        points.threshold,
        lambda x: mean(average.at(x), level).value,
        spread.name,
        x_across,
    )


def _pooled(found: FoldCurves, level: float) -> Averaged:
    curve = found.pooled
    without = found.without_each
    interval = mean(np.atleast_2d(curve.y), level)
    if without:
        values = np.stack([np.asarray(each.at(curve.x), dtype=np.float64) for each in without])
        interval = jackknife(np.asarray(curve.at(curve.x)), values, level)._replace(value=curve.y)
    return Averaged(curve.x, _within(interval, curve.y_name), curve.threshold, curve.at, found.without_name)


def _within(interval: Across, name: str) -> Across:
    return interval.clipped(0.0, inf if name in _ABOVE_ONE else 1.0)


def _areas(found: FoldCurves, kind: Kind, level: float) -> Areas | None:
    if kind not in _AREAS:
        return None
    if kind == "roc":
        pooled_rows, averaged = (
            sample_of_rows(found.predictions),
            sample_of_rows(found.of_those_defined(), folds="mean"),
        )
        return Areas(_AREAS[kind], *(estimate(each, 0, "auto", level) for each in (pooled_rows, averaged)))
    n, without = found.predictions.n, found.without_each
    areas = np.array([[curve.area()] for curve in found.curves.values()])
    whole = np.array([found.pooled.area()])
    left_out = mean(whole[None], level)
    if without:
        left_out = jackknife(whole, np.array([[each.area()] for each in without]), level)
    of_folds = mean(areas, level, found.spread)
    named = ((left_out, found.without_name), (of_folds, found.spread.name))
    return Areas(_AREAS[kind], *(_estimate(_within(each, "area"), method, level, n) for each, method in named))


def _estimate(interval: Across, method: str, level: float, n: float) -> Estimate:
    value, low, high = (float(end[0]) for end in (interval.value, interval.low, interval.high))
    return Estimate(value, low, high, level, method, n)
