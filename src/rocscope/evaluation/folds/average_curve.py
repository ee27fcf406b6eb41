"""average_curve: one average curve of all folds.

AverageCurve: what averaging the curves of the folds gives, with its band and the single folds behind it.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Literal, get_args

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.calibration.bins import Strategy
from rocscope.core.predictions import Predictions
from rocscope.core.result import Band, Result, jsonable
from rocscope.core.rows import model_name
from rocscope.curves.curve import Curve, scalar
from rocscope.errors import InputError
from rocscope.evaluation.folds import fold_curves as across
from rocscope.evaluation.folds.averaging import ByBin, ByFalsePositives, ByThreshold, CountedRoc, FoldAverage, Vertical
from rocscope.evaluation.folds.fold_curves import Across, FoldCurves, Kind, Spread, fold_curves
from rocscope.inference.areas.auc import estimate
from rocscope.inference.areas.placements import sample_of_rows
from rocscope.inference.estimate import Estimate
from rocscope.sample import rows_of

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
    x_across = None if x is None else _within(across.mean(x, level, spread), one.x_name)
    return Averaged(
        points.x,
        _within(across.mean(points.y, level, spread), one.y_name),
        points.threshold,
        lambda x: across.mean(average.at(x), level).value,
        spread.name,
        x_across,
    )


def _pooled(found: FoldCurves, level: float) -> Averaged:
    curve = found.pooled
    without = found.without_each
    interval = across.mean(np.atleast_2d(curve.y), level)
    if without:
        values = np.stack([np.asarray(each.at(curve.x), dtype=np.float64) for each in without])
        interval = across.jackknife(np.asarray(curve.at(curve.x)), values, level)._replace(value=curve.y)
    return Averaged(curve.x, _within(interval, curve.y_name), curve.threshold, curve.at, found.without_name)


def _within(interval: Across, name: str) -> Across:
    return interval.clipped(0.0, inf if name in _ABOVE_ONE else 1.0)


def _areas(found: FoldCurves, kind: Kind, level: float) -> Areas | None:
    if kind not in _AREAS:
        return None
    if kind == "roc":
        pooled, mean = sample_of_rows(found.predictions), sample_of_rows(found.of_those_defined(), folds="mean")
        return Areas(_AREAS[kind], *(estimate(each, 0, "auto", level) for each in (pooled, mean)))
    n, without = found.predictions.n, found.without_each
    areas = np.array([[curve.area()] for curve in found.curves.values()])
    whole = np.array([found.pooled.area()])
    left_out = across.mean(whole[None], level)
    if without:
        left_out = across.jackknife(whole, np.array([[each.area()] for each in without]), level)
    of_folds = across.mean(areas, level, found.spread)
    named = ((left_out, found.without_name), (of_folds, found.spread.name))
    return Areas(_AREAS[kind], *(_estimate(_within(each, "area"), method, level, n) for each, method in named))


def _estimate(interval: Across, method: str, level: float, n: float) -> Estimate:
    value, low, high = (float(end[0]) for end in (interval.value, interval.low, interval.high))
    return Estimate(value, low, high, level, method, n)
