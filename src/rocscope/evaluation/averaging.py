"""Average the curves of cross-validation folds, with a confidence band.

A cross-validation gives one curve per fold. `average_curve` averages these curves in one of four ways:

- vertical: the mean of y at each x (Fawcett 2006, algorithm 3);
- threshold: the mean of x and the mean of y at each threshold (algorithm 4);
- by false positives: the mean number of true positives at each number of false positives;
- pooled: one curve from the rows of all folds. The scores of all folds must have the same scale.

Between two thresholds, the numbers of true and false positives are interpolated linearly. The interpolated curve is a
straight line in ROC space, but a hyperbola for precision and lift. Every interpolation in this file therefore
interpolates the numbers of true and false positives first and computes x and y afterwards.

Intervals use the variation between folds. A mean over K folds has the interval mean ± t·s/√K. Pooled values have a
jackknife interval that omits one fold at a time. Repeats of a cross-validation use the same cases and do not increase
the number of folds; see `Spread`.

Order of the file: means over folds with intervals; the curves of the folds; the averages; the result; `average_curve`.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from scipy import special

from rocscope._base import validation as check
from rocscope._base.arrays import Array, after_infinity
from rocscope._base.contract import contract
from rocscope._base.grouping import masks_of
from rocscope.calibration.curve import BinnedCalibrationCurve, calibration_curve
from rocscope.calibration.outcomes import Strategy
from rocscope.core import Band, Predictions, Result, ThresholdCounts, independent_units, jsonable, model_name
from rocscope.curves import rate_curves
from rocscope.curves.curve import Curve, cumulative, interpolate, scalar
from rocscope.curves.rate_curves import CountCurve
from rocscope.errors import InputError, OneClassError, ShapeError, WeightError, warn
from rocscope.inference import Estimate, areas
from rocscope.sample import rows_of


class FoldInterval(NamedTuple):
    """Values with interval limits, and the number of folds from which each value is computed."""

    value: Array
    low: Array
    high: Array
    folds: Array

    def within(self, axis: str) -> "FoldInterval":
        """Return the same values with limits clipped to [0, 1], or to [0, ∞) for lift and numbers of cases."""
        most = np.inf if axis in _ABOVE_ONE else 1.0
        return self._replace(low=self.low.clip(0.0, most), high=self.high.clip(0.0, most))


_ABOVE_ONE = ("lift", "tp", "fp")


@dataclass(frozen=True)
class Spread:
    """Effective number of independent folds for the interval of a mean over folds.

    Attributes
    ----------
    folds : int
        Number of folds, including the folds of all repeats.
    effective : float
        Effective number of independent folds.
    df : float
        Degrees of freedom of the interval.
    name : str
        Method of the interval, as shown in plots.
    """

    folds: int
    effective: float
    df: float
    name: str = "Student t across folds"

    @classmethod
    def of(cls, predictions: Predictions, folds: int) -> "Spread":
        """Return the effective number of folds for predictions, in which a case may occur in several repeats.

        Notes
        -----
        The repeats of a cross-validation contain the same cases, so all repeats count as one repeat. Repeated holdouts
        have overlapping test sets. The mean over J holdouts has Nadeau & Bengio's variance s²·(1/J + ρ/(1 − ρ)), where
        ρ is the share of cases in a test set. Folds whose repeats are unknown have the same variance.
        """
        if not predictions.repeated:
            return cls(folds, folds, folds - 1)
        row, repeat = predictions.row, predictions.repeat
        assert row is not None
        repeats = folds if repeat is None else np.unique(repeat).size
        if folds >= 2 * repeats:
            # A repeated cross-validation has as many independent folds as one repeat.
            in_one = folds / repeats
            return cls(folds, in_one, in_one - 1, f"Student t across folds, {repeats} repeats as one")
        # Repeated holdouts. A variance of s²·(1/J + ρ/(1 − ρ)) is that of this many independent folds.
        share = row.size / folds / np.unique(row).size
        effective = 1 / (1 / folds + share / (1 - share)) if share < 1 else 1.0
        return cls(folds, effective, folds - 1, "corrected resampled t (Nadeau & Bengio)")


def mean(values: Array, level: float = 0.95, spread: Spread | None = None) -> FoldInterval:
    """Return the mean of each column over the rows with a value; each row of `values` is one fold.

    Notes
    -----
    The interval is mean ± t·s/√K with K − 1 degrees of freedom for K folds. `spread` can replace K and the degrees of
    freedom. The limits are NaN if only one fold has a value.

    Examples
    --------
    >>> average = mean(np.array([[0.2, 0.5], [0.4, 0.5], [0.6, np.nan]]), 0.95)
    >>> average.value.round(3), average.low.round(3), average.folds
    (array([0.4, 0.5]), array([-0.097,  0.5  ]), array([3, 2]))
    """
    spread = spread or Spread(len(values), len(values), len(values) - 1)
    known = ~np.isnan(values)
    folds = known.sum(axis=0)
    # If only some folds have a value, the effective number of folds and the degrees of freedom shrink in proportion.
    present = folds / spread.folds
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = np.where(known, values, 0.0).sum(axis=0) / folds
        # The mean of equal numbers is that number; sum / count may differ from it in the last bit.
        lowest = np.where(known, values, np.inf).min(axis=0)
        highest = np.where(known, values, -np.inf).max(axis=0)
        centre = np.where(folds > 0, np.clip(centre, lowest, highest), np.nan)
        square = np.where(known, values - centre, 0.0) ** 2
        error = np.sqrt(square.sum(axis=0) / (folds - 1) / (spread.effective * present))
    reach = _t_quantile(present * (spread.df + 1) - 1, level) * error
    return FoldInterval(centre, centre - reach, centre + reach, folds)


def jackknife(value: Array, without: Array, level: float) -> FoldInterval:
    """Return pooled values with jackknife intervals, which omit one fold at a time.

    Notes
    -----
    The interval is value ± t·se, with se² = (K − 1)/K · Σ (vₖ − v̄)². Here vₖ is the value without fold k, and v̄ is
    the mean of the vₖ.

    References
    ----------
    Efron & Tibshirani 1993, ch. 11.

    Examples
    --------
    >>> pooled = jackknife(np.array([0.4]), np.array([[0.5], [0.4], [0.3]]), 0.95)
    >>> pooled.low.round(3), pooled.high.round(3)
    (array([-0.097]), array([0.897]))
    """
    folds = len(without)
    error = np.sqrt((folds - 1) / folds * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    reach = _t_quantile(np.full(np.shape(value), folds - 1), level) * error
    return FoldInterval(value, value - reach, value + reach, np.full(np.shape(value), folds))


def _t_quantile(df: Array, level: float) -> Array:
    """Return the two-sided quantile of Student's t distribution; NaN if `df` is 0."""
    # Rounding errors may turn 0 into a tiny number, for which the quantile overflows.
    return np.where(df > 0, special.stdtrit(np.maximum(df, 1e-3), (1 + level) / 2), np.nan)


Kind = Literal["roc", "gain", "lift", "lift_chart", "precision_recall", "calibration"]
CurveOf = Callable[[ThresholdCounts], Curve]

# Of cases for a jackknife where cases repeat; a choice: 20 fits, and a variance with 19 degrees of freedom.
_GROUPS = 20

KINDS: tuple[Kind, ...] = get_args(Kind)
_COUNT_CURVES: dict[str, Callable[[ThresholdCounts], CountCurve]] = {
    "roc": rate_curves.roc,
    "gain": rate_curves.gain,
    "lift": rate_curves.lift,
    "lift_chart": rate_curves.lift_chart,
    "precision_recall": rate_curves.precision_recall,
}


@dataclass(frozen=True)
class FoldCurves:
    """Curves of one model: one for each fold, and the pooled curve.

    Attributes
    ----------
    curves : dict from fold to Curve
        Curve of each fold.
    undefined : dict from fold to str
        Reason why the fold has no curve.
    pooled : Curve
        Curve from the rows of all folds.
    curve_of : function from ThresholdCounts to Curve
        Function that computes a curve.
    predictions : Predictions
        Predictions of one model.
    masks : dict from fold to boolean array
        Rows of each fold, including folds without a curve.
    """

    curves: dict[Hashable, Any]
    undefined: dict[Hashable, str]
    pooled: Any
    curve_of: CurveOf
    predictions: Predictions
    masks: dict[Hashable, Array]

    @cached_property
    def spread(self) -> Spread:
        """Effective number of folds for the mean of the curves."""
        return Spread.of(self.defined_rows, len(self.curves))

    @property
    def defined_rows(self) -> Predictions:
        """Rows of the folds that have a curve."""
        if not self.undefined:
            return self.predictions
        return self.predictions.select(np.any([self.masks[fold] for fold in self.curves], axis=0))

    @cached_property
    def leave_one_out(self) -> list[Any] | None:
        """Pooled curves for the jackknife, each without one fold; None if one of these curves is undefined."""
        parts = list(self.masks.values())
        if self.predictions.repeated:
            # Folds of several repeats hold the same cases, so groups of cases are omitted instead.
            unit = independent_units(self.predictions)
            assert unit is not None
            group = np.random.default_rng(0).permutation(int(unit.max()) + 1)[unit] % _GROUPS
            parts = [group == number for number in range(_GROUPS)]
        if len(parts) < 2:
            return None
        try:
            return [self.curve_of(self.predictions.select(~mask).counts()) for mask in parts]
        except (OneClassError, ShapeError, WeightError):
            return None

    @property
    def jackknife_name(self) -> str:
        """Name of the jackknife method for the label of a band."""
        return f"jackknife over {_GROUPS} groups of cases" if self.predictions.repeated else "jackknife over folds"


def fold_curves(predictions: Predictions, kind: Kind, *, bins: int, strategy: Strategy) -> FoldCurves:
    """Return the curve of each fold and the pooled curve. All calibration curves use the bins of the pooled curve.

    Raises
    ------
    OneClassError
        If the curve is undefined in every fold.

    Warns
    -----
    RocscopeWarning
        If the curve is undefined in some folds.
    """
    check.check_choice("kind", kind, KINDS)
    masks = dict(masks_of("fold", predictions.fold))
    counts = predictions.counts()
    curve_of = _in_shared_bins(counts, bins, strategy) if kind == "calibration" else _COUNT_CURVES[kind]
    pooled = curve_of(counts)
    curves, undefined = {}, {}
    for fold, mask in masks.items():
        try:
            curves[fold] = curve_of(predictions.select(mask).counts())
        except (OneClassError, WeightError) as error:
            undefined[fold] = str(error)
    if not curves:
        first = next(iter(undefined.values()))
        raise OneClassError(f"no fold has a {pooled.title}", hint=f"reason in the first fold: {first}")
    if undefined:
        listed = "; ".join(f"fold {fold}: {reason}" for fold, reason in undefined.items())
        many = f"{len(undefined)} of {len(masks)} folds"
        warn(f"{many} have no {pooled.title} and are omitted from the average ({listed})")
    return FoldCurves(curves, undefined, pooled, curve_of, predictions, masks)


def _in_shared_bins(counts: ThresholdCounts, bins: int, strategy: Strategy) -> CurveOf:
    """Return a function that computes calibration curves in the bins of the pooled curve."""
    check.check_choice("strategy", strategy, ("uniform", "quantile"))
    pooled = calibration_curve(counts, bins=bins, strategy=strategy)
    assert isinstance(pooled, BinnedCalibrationCurve)
    return lambda fold_counts: calibration_curve(fold_counts, edges=pooled.edges)


_MOST_POINTS = 20_000  # at which folds are averaged; a choice: one step in 20,000 is invisible in a plot
_STEPS = 200  # between 0 and 1, of curves that are not straight between their points; every half per cent


class AveragePoints(NamedTuple):
    """Points for an average over folds; arrays by fold have one row per fold and one column per point.

    `x` contains x of the average, and `y` contains y of each fold. `threshold` contains the threshold of each point, if
    it is the same for all folds. `x_of_folds` contains x of each fold, if it differs between folds.
    """

    x: Array
    y: Array
    threshold: Array | None = None
    x_of_folds: Array | None = None


class _Position(NamedTuple):
    """Positions in a sorted array: index of the lower neighbour, and fraction of the distance to the next entry."""

    low: Array
    share: Array

    @classmethod
    def find(cls, x: Array, among: Array, *, first: bool) -> "_Position":
        """Return the positions of x in the sorted array `among`; take the first or the last of equal entries."""
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
        """Interpolate an array linearly at these positions."""
        high = np.minimum(self.low + 1, values.size - 1)
        return values[self.low] + self.share * (values[high] - values[self.low])

    def after_nobody(self) -> "_Position":
        """Replace the point without predicted positives, at which precision is 0/0, by the next point."""
        return self._replace(low=np.maximum(self.low, (self.share == 0).astype(self.low.dtype)))


@dataclass(frozen=True)
class Vertical:
    """Values for the vertical average: y of each fold at each x of `grid`, by default at every x in any fold.

    If the curve of a fold jumps at some x, the average has two points at this x, before and after the jump. The area
    under the average curve is then the mean of the areas of the folds.
    """

    curves: Sequence[Curve]
    grid: Array | None

    @cached_property
    def points(self) -> AveragePoints:
        if self.grid is not None:
            return AveragePoints(self.grid, self.at(self.grid))
        candidates = [curve.x for curve in self.curves]
        if self.curves[0].y_name in ("precision", "lift"):  # bent between their points
            candidates.append(np.linspace(0, 1, _STEPS + 1))
        x = _thinned(np.concatenate(candidates))
        count_curves = [curve for curve in self.curves if isinstance(curve, CountCurve)]
        if not count_curves:
            return AveragePoints(x, self.at(x))
        before = np.stack([_y_at(curve, x, first=True) for curve in count_curves])
        after = np.stack([_y_at(curve, x, first=False) for curve in count_curves])
        jumps = (before != after).any(axis=0)
        position = np.repeat(np.arange(x.size), 1 + jumps)
        second = np.append(False, np.diff(position) == 0)
        return AveragePoints(x[position], np.where(second, after[:, position], before[:, position]))

    def at(self, x: Array) -> Array:
        return np.stack([np.asarray(curve.at(x), dtype=np.float64) for curve in self.curves])


def _thinned(values: Array) -> Array:
    """Return the sorted distinct values, or 20,000 of them with evenly spaced ranks if there are more."""
    distinct = np.unique(values[~np.isnan(values)])
    if distinct.size <= _MOST_POINTS:
        return distinct
    return distinct[np.linspace(0, distinct.size - 1, _MOST_POINTS).round().astype(np.intp)]


def _y_at(curve: CountCurve, x: Array, *, first: bool) -> Array:
    position = _Position.find(x, curve.x, first=first)
    if np.isnan(curve.y[0]):
        position = position.after_nobody()
    tp, fp = cumulative(curve.counts)
    return curve.of(position.mix(tp), position.mix(fp))[1]


@dataclass(frozen=True)
class ByThreshold:
    """Points for the threshold average: x and y of each fold at each threshold, by default at every score."""

    curves: Sequence[CountCurve]
    grid: Array | None

    @cached_property
    def _thresholds(self) -> Array:
        """Return the finite thresholds in decreasing order, with the data type of the scores."""
        if self.grid is not None:
            return np.unique(self.grid)[::-1]
        return _thinned(np.concatenate([curve.counts.threshold for curve in self.curves]))[::-1]

    @cached_property
    def _counts(self) -> list[tuple[Array, Array]]:
        """Return the numbers of true and false positives of each fold, at an infinite threshold and each threshold."""
        counts = []
        for curve in self.curves:
            scores = curve.counts.threshold
            # Scores decrease, so the scores at or above a threshold come first, and their number is the level.
            level = scores.size - np.searchsorted(scores[::-1], self._thresholds, side="left")
            level = np.concatenate([[0], level])
            tp, fp = cumulative(curve.counts)
            counts.append((tp[level], fp[level]))
        return counts

    @cached_property
    def points(self) -> AveragePoints:
        x, y = [], []
        for curve, (tp, fp) in zip(self.curves, self._counts, strict=True):
            x_of_fold, y_of_fold = curve.of(tp, fp)
            x.append(x_of_fold)
            y.append(y_of_fold)
        stacked = np.stack(x)
        return AveragePoints(mean(stacked).value, np.stack(y), after_infinity(self._thresholds), stacked)

    def at(self, x: Array) -> Array:
        """Return y of each fold for given values x of the average.

        The position between two neighbouring thresholds is the same for all folds.
        """
        mean_x = self.points.x
        # If several thresholds have the requested recall, take the precision at the highest of them.
        first = isinstance(self.curves[0], rate_curves.PrecisionRecallCurve)
        position = _Position.find(x, mean_x, first=first)
        mixed = []
        for curve, (tp, fp) in zip(self.curves, self._counts, strict=True):
            mixed.append(curve.of(position.mix(tp), position.mix(fp))[1])
        return np.where((x >= mean_x[0]) & (x <= mean_x[-1]), np.stack(mixed), np.nan)


@dataclass(frozen=True)
class ByBin:
    """Points for the average of calibration curves: x and y of each fold in common bins; NaN for an empty bin."""

    curves: Sequence[BinnedCalibrationCurve]

    @cached_property
    def points(self) -> AveragePoints:
        x = np.stack([curve.x for curve in self.curves])
        y = np.stack([curve.y for curve in self.curves])
        return AveragePoints(mean(x).value, y, self.curves[0].threshold, x)

    def at(self, x: Array) -> Array:
        known = mean(self.points.y)
        used = known.folds > 0
        # Return one row, the mean of the folds: a single fold has gaps, because some of its bins are empty.
        return np.atleast_2d(interpolate(self.points.x[used], known.value[used], x))


class CountedRoc(CountCurve):
    """ROC curve with the number of false positives as x and the number of true positives as y."""

    title = "ROC curve in counts"
    x_name = "fp"
    y_name = "tp"

    def _xy(self, tp: Array, fp: Array) -> tuple[Array, Array]:
        return fp, tp


@dataclass(frozen=True)
class ByFalsePositives:
    """Number of true positives of each fold at 0, 1, 2, … false positives.

    Tied scores are interpolated linearly. If the number of false positives exceeds the number of negatives of a fold,
    the value of the fold is its number of positives. At the last point, all rows of each fold are predicted positive.
    """

    curves: Sequence[CountedRoc]

    @cached_property
    def points(self) -> AveragePoints:
        for curve in self.curves:
            counts = curve.counts.require_levels("an average of counts")
            if (counts.neg % 1).any():
                subject, hint = "method='false_positives'", "use method='vertical'"
                raise WeightError(subject, expected="integer weights", got="fractional weights", hint=hint)
        most = int(max(curve.counts.n_neg for curve in self.curves))
        x = np.arange(most + 1, dtype=np.float64)
        rows = []
        for curve in self.curves:
            tp, fp = cumulative(curve.counts)
            tp_by_fp = _Position.find(x, fp, first=True).mix(tp)
            rows.append(np.where(x > curve.counts.n_neg, curve.counts.n_pos, tp_by_fp))
        everybody = np.array([[curve.counts.n_pos] for curve in self.curves], dtype=np.float64)
        return AveragePoints(np.append(x, most), np.hstack([np.stack(rows), everybody]))

    def at(self, x: Array) -> Array:
        points = self.points
        return np.stack([np.asarray(interpolate(points.x, y, x)) for y in points.y])


FoldAverage = Vertical | ByThreshold | ByBin | ByFalsePositives
"""Methods of averaging. `points` has the points of the average. `at(x)` returns y with one row per fold."""


_DRAWN = 201  # points of a bent curve as it is drawn: every half per cent
_ENOUGH = 2000  # points are more than a plot has pixels across


@dataclass(frozen=True)
class Areas(Result):
    """Area under the pooled curve, and mean of the areas under the curves of the folds.

    Attributes
    ----------
    name : str
        Name of the area, such as "AUC".
    pooled : Estimate
        Area under the curve from the rows of all folds.
    mean : Estimate
        Mean over folds of the area under the curve of the fold.
    """

    name: str
    pooled: Estimate
    mean: Estimate

    def __str__(self) -> str:
        return f"{self.name} {self.pooled.value:.4g} pooled, {self.mean.value:.4g} mean of folds"


@dataclass(frozen=True)
class Averaged:
    """Points of an average curve with intervals, and a function `at` that interpolates between the points."""

    x: Array
    y: FoldInterval
    threshold: Array
    at: Callable[[Array], Array]
    interval: str
    x_interval: FoldInterval | None = None


class AverageCurve(Curve):
    """Average curve over folds, with a confidence band.

    `rocscope.evaluation.average_curve` returns this result.

    Attributes
    ----------
    x, y, threshold : arrays of p
        Points of the average. A threshold is NaN if the folds have different thresholds at this point.
    folds_at : array of p
        Number of folds in the average at each point.
    band : Band or None
        Confidence band of y; None if there is only one fold.
    x_band : Band or None
        Confidence band of x for a threshold average; otherwise None.
    method : str
        Description of the averaging method.
    model : str
        Name of the model.
    folds : dict from fold to Curve
        Curve of each fold.
    undefined : dict from fold to str
        Reason why the fold has no curve.
    pooled : Curve
        Curve from the rows of all folds, including folds without a curve.
    areas : Areas or None
        Area of the pooled curve, and mean area of the folds. `areas` is None for lift, lift charts and calibration. For
        lift charts, the method `area` returns the mean of the folds.
    """

    title = "average over folds"

    def __init__(
        self, averaged: Averaged, *, method: str, model: str, folds: FoldCurves, areas: Areas | None, level: float
    ) -> None:
        super().__init__(averaged.x, averaged.y.value, averaged.threshold)
        self.method = method
        self.model = model
        self.folds: dict[Hashable, Curve] = folds.curves
        self.undefined = folds.undefined
        self.pooled: Curve = folds.pooled
        self.areas = areas
        self.folds_at = check.read_only(averaged.y.folds)
        self.band = _band(self.x, averaged.y, level, averaged.interval)
        self.x_band = None
        if averaged.x_interval is not None:
            self.x_band = _band(self.y, averaged.x_interval, level, averaged.interval)
        self._at = averaged.at

    @property
    def _first(self) -> Curve:
        """Curve of the first fold; all curves have the same axes."""
        return next(iter(self.folds.values()))

    @property
    def x_name(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Name of the x axis."""
        return self._first.x_name

    @property
    def y_name(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Name of the y axis."""
        return self._first.y_name

    def at(self, x: Any) -> Any:
        """Return the average y at `x`. Between two points, y is interpolated as described in `average_curve`.

        Examples
        --------
        >>> preds = Predictions([1, 0, 1, 0, 1, 0, 1, 0], [4, 3, 2, 1, 4, 1, 3, 2], fold=[1, 1, 1, 1, 2, 2, 2, 2])
        >>> average_curve(preds).at(0.0)
        0.75
        """
        x = np.asarray(x, dtype=np.float64)
        return scalar(self._at(x.reshape(-1)).reshape(x.shape))

    def drawn(self) -> tuple[Array, Array]:
        """Return x and y for drawing, with additional points for averages of precision and lift."""
        if self.x.size > _ENOUGH or self.y_name not in ("precision", "lift"):
            return self.x, self.y
        more = np.setdiff1d(np.linspace(self.x[0], self.x[-1], _DRAWN), self.x)
        index = np.searchsorted(self.x, more)
        return np.insert(self.x, index, more), np.insert(self.y, index, self.at(more))

    def plot(self, ax: Any = None, *, band: Band | bool | None = None, **line: Any) -> Any:
        """Draw the average with its confidence band, and the curves of the folds.

        A threshold average has crosses in place of the band. Each cross shows the intervals of x and y.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on.
        band : Band or bool, optional
            Band to draw instead of the attribute `band`; False draws no band.
        **line
            Options for the line of the average, as in ``Axes.plot``.

        Returns
        -------
        Axes
            Axes with the drawing.
        """
        if band is None or band is True:
            band = self.band if self.x_band is None else None
        return super().plot(ax, band=band or None, **line)

    def _columns(self) -> dict[str, Array]:
        """Return columns with the points, interval limits and numbers of folds."""
        low = high = np.full(self.x.size, np.nan)
        if self.band is not None:
            low, high = self.band.low, self.band.high
        return super()._columns() | {"low": low, "high": high, "folds": self.folds_at}

    def to_dict(self) -> dict[str, Any]:
        """Return a dict for JSON with points, areas, curves of the folds, and the reasons for missing curves.

        Examples
        --------
        >>> from rocscope import Predictions
        >>> from rocscope.evaluation import average_curve
        >>> preds = Predictions([1, 0, 1, 0, 1, 0, 1, 0], [4, 3, 2, 1, 4, 1, 3, 2], fold=[1, 1, 1, 1, 2, 2, 2, 2])
        >>> content = average_curve(preds).to_dict()
        >>> content["of"], content["model"], list(content["folds"])
        ('ROC curve', 'score', ['1', '2'])
        """
        facts = {
            "of": self._first.title,
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
        facts = f"{self._first.title}, {self.method}, {len(self.folds)}{of_all} folds"
        return facts if self.areas is None else f"{facts}, {self.areas}"


def _band(x: Array, y: FoldInterval, level: float, method: str) -> Band | None:
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
    """Average the curves of cross-validation folds, with a confidence band.

    Parameters
    ----------
    predictions : Predictions with a fold column
        Out-of-fold predictions, for example from `evaluate`.
    kind : {"roc", "gain", "lift", "lift_chart", "precision_recall", "calibration"}
        Kind of the curves.
    method : {"vertical", "threshold", "false_positives", "pooled"}
        "vertical" computes the mean of y at each x. "threshold" computes the mean of x and the mean of y at each
        threshold. "false_positives" (ROC curves only) computes the mean number of true positives at each number of
        false positives. "pooled" computes one curve from the rows of all folds; the scores of all folds must have the
        same scale.
    model : str, optional
        Name of the model. By default, the only model of the predictions.
    grid : array, optional
        Values of x for a vertical average, or thresholds for a threshold average. By default, all values that occur in
        any fold, up to 20,000 values.
    bins, strategy : see `rocscope.calibration_curve`
        Bins of calibration curves. All folds have the same bins. With ``"quantile"``, the bin edges are quantiles of
        the scores in all rows.
    level : float
        Confidence level of the band and of the intervals of areas.

    Returns
    -------
    AverageCurve
        Points of the average curve, with a confidence band. Its attribute `areas` has the area of the pooled curve and
        the mean of the areas of the folds.

    Raises
    ------
    InputError
        If the fold column is missing, or if `method` or `grid` does not apply to this kind of curve.
    OneClassError
        If every fold lacks a class that the curve needs.

    Warns
    -----
    RocscopeWarning
        If some folds have no curve. The average omits these folds, but the pooled curve includes their rows. The
        attribute `undefined` lists the folds with the reasons.

    See Also
    --------
    evaluate, roc, compare_folds

    Notes
    -----
    In an average, every fold has the same weight. In the pooled curve, rows have their sample weights, or equal
    weights. The y axis of a lift chart is a number of true positives. In an average, it is the mean number per fold. In
    the pooled chart, it is the number in all folds together.

    Confidence bands are pointwise. The band of an average over K folds is mean ± t·s/√K, where s is the standard
    deviation over folds. The pooled curve has a jackknife band that omits one fold at a time. For a repeated
    cross-validation, K is the number of folds in one repeat, because repeats are not new data. For repeated holdouts,
    the variance is s²·(1/K + ρ/(1 − ρ)), where ρ is the share of cases in a test set. The bands are too narrow for
    models trained on new data, because the folds share training rows.

    ROC and gain curves are interpolated linearly between two points. For precision and lift, the numbers of true and
    false positives are interpolated, which gives a hyperbola (Davis & Goadrich 2006). The area under the vertical
    average is the mean of the areas of the folds (ROC and gain curves). With "false_positives", if the number of false
    positives exceeds the number of negatives of a fold, the value of the fold is its number of positives. The running
    time is O(K · points) after ranking.

    References
    ----------
    Fawcett 2006, "An introduction to ROC analysis", Pattern Recognit. Lett. 27:861–874, §8 and algorithms 3 and 4;
    COMP9417 note, §3 (by false positives); Davis & Goadrich 2006, ICML (precision–recall); Nadeau & Bengio 2003, Mach.
    Learn. 52:239–281 (repeated holdouts).

    Examples
    --------
    >>> preds = Predictions([1, 0, 1, 0, 1, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1], fold=[1, 1, 1, 1, 2, 2, 2, 2])
    >>> average = average_curve(preds)
    >>> average.at([0.0, 0.25, 0.5]), average.areas.mean.value, average.areas.pooled.value
    (array([0.75, 0.75, 1.  ]), 0.875, 0.6875)
    >>> average_curve(preds, method="threshold", grid=[5.5]).columns["tpr"]
    array([0. , 0.5])
    """
    check.check_choice("method", method, METHODS)
    level = check.check_level(level)
    predictions = rows_of(predictions)
    name = model_name(predictions.models, model)
    folds = fold_curves(predictions.select(models=[name]), kind, bins=bins, strategy=strategy)
    if method == "false_positives":
        if kind != "roc":
            raise InputError("method='false_positives'", expected="kind='roc'", got=repr(kind), hint="use 'vertical'")
        folds = replace(folds, curves={fold: CountedRoc(curve.counts) for fold, curve in folds.curves.items()})
    if grid is not None and (method not in ("vertical", "threshold") or (method, kind) == ("threshold", "calibration")):
        raise InputError("grid", expected=f"None with {method=} and {kind=}", got="an array", hint="omit grid")
    averaged = _pooled(folds, level) if method == "pooled" else _mean_curve(folds, method, grid, level)
    of_curve = _areas(folds, kind, level)
    return AverageCurve(averaged, method=_NAMES[method], model=name, folds=folds, areas=of_curve, level=level)


def _mean_curve(folds: FoldCurves, method: Method, grid: Any, level: float) -> Averaged:
    """Return the average of the curves of the folds."""
    curves = list(folds.curves.values())
    first = curves[0]
    grid = None if grid is None else np.unique(check.check_scores(grid, name="grid"))
    average: FoldAverage
    if method == "vertical":
        average = Vertical(curves, grid)
    elif method == "false_positives":
        average = ByFalsePositives(curves)
    elif isinstance(first, BinnedCalibrationCurve):
        average = ByBin(curves)
    else:
        average = ByThreshold(curves, grid)
    points = average.points
    y = mean(points.y, level, folds.spread).within(first.y_name)
    x_interval = None
    if points.x_of_folds is not None:
        x_interval = mean(points.x_of_folds, level, folds.spread).within(first.x_name)

    def at(x: Array) -> Array:
        return mean(average.at(x)).value

    threshold = np.full(points.x.size, np.nan) if points.threshold is None else points.threshold
    return Averaged(points.x, y, threshold, at, folds.spread.name, x_interval)


def _pooled(folds: FoldCurves, level: float) -> Averaged:
    """Return the curve from all rows, with a jackknife band over folds."""
    curve = folds.pooled
    # The mean of a single row has the values of the curve, without limits.
    y = mean(np.atleast_2d(curve.y))
    if folds.leave_one_out:
        without = [np.asarray(shorter.at(curve.x), dtype=np.float64) for shorter in folds.leave_one_out]
        if curve.y_name == "tp":  # scale the counts of fewer rows to all rows, for the jackknife
            sizes = [shorter.counts.n for shorter in folds.leave_one_out]
            without = [tp * (curve.counts.n / size) for tp, size in zip(without, sizes, strict=True)]
        # Limits are those of the curve at x, as in `without`; at a jump, those of its upper end.
        y = jackknife(np.asarray(curve.at(curve.x)), np.stack(without), level)._replace(value=curve.y)
    return Averaged(curve.x, y.within(curve.y_name), curve.threshold, curve.at, folds.jackknife_name)


def _areas(folds: FoldCurves, kind: Kind, level: float) -> Areas | None:
    """Return the area of the pooled curve and the mean area of the folds; None if this kind of curve has no area."""
    if kind not in _AREAS:
        return None
    if kind == "roc":  # whose areas have intervals of their own
        pooled_rows = areas.sample_of_rows(folds.predictions)
        by_fold = areas.sample_of_rows(folds.defined_rows, folds="mean")
        pooled = areas.estimate_area(pooled_rows, 0, "auto", level)
        return Areas(_AREAS[kind], pooled, areas.estimate_area(by_fold, 0, "auto", level))
    n = folds.predictions.n
    of_all = np.array([folds.pooled.area()])
    pooled_area = mean(of_all[None])  # without limits, as it is one row
    if folds.leave_one_out:
        without = np.array([[curve.area()] for curve in folds.leave_one_out])
        pooled_area = jackknife(of_all, without, level)
    of_folds = np.array([[curve.area()] for curve in folds.curves.values()])
    mean_area = mean(of_folds, level, folds.spread)
    return Areas(
        _AREAS[kind],
        _estimate(pooled_area, folds.jackknife_name, level, n),
        _estimate(mean_area, folds.spread.name, level, n),
    )


def _estimate(interval: FoldInterval, method: str, level: float, n: float) -> Estimate:
    interval = interval.within("area")
    value, low, high = (float(end[0]) for end in (interval.value, interval.low, interval.high))
    return Estimate(value, low, high, level, method, n)
