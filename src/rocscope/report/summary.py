"""ModelSummary: facts about one model as plain data.

The uncertainty of the areas of a report: an interval for each model and a test for each two of the same rows.

The calibration block of a report: curves by bins and LOESS, the rug, and numbers.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rocscope._base.arrays import Array
from rocscope.calibration.curve import BinnedCalibrationCurve, calibration_curve
from rocscope.calibration.goodness_of_fit import miscalibration_test
from rocscope.calibration.outcomes import are_probabilities
from rocscope.calibration.report import plotted_numbers
from rocscope.core.context import Context
from rocscope.core.counts import ThresholdCounts
from rocscope.core.levels import Block
from rocscope.core.point import OperatingPoint
from rocscope.core.result import Result
from rocscope.curves.rate_curves import det, lift_chart
from rocscope.curves.roc_curve import roc
from rocscope.decisions.choosing import DEFAULT_THRESHOLD
from rocscope.errors import ScoreError, heard
from rocscope.geometry import best_point, needs_every_threshold, pool, thin
from rocscope.geometry.thinning import Thinned
from rocscope.inference.areas.auc import auc_interval
from rocscope.inference.comparing import compare
from rocscope.inference.estimate import Comparison, Estimate
from rocscope.kernels import ranks
from rocscope.ranges.binned import direction
from rocscope.sample import Samples

MOST_COMPARED = 20
"""With more models than this, pairs are not compared."""


@dataclass(frozen=True)
class AreaEstimates:
    """Areas with intervals, these as plain data too, differences between them, and warnings."""

    estimates: Mapping[str, Estimate]
    intervals: dict[str, dict[str, Any]]
    comparisons: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def area_estimates(samples: Samples, *, compared: bool = True) -> AreaEstimates:
    """Return the intervals of all models, and optionally their differences on common rows.

    Weighted counts have none: they do not show how many rows a weight stands for.
    """
    with heard() as said:
        estimates, pairs = _estimates(samples, compared)
    intervals = {name: _named(estimate, "value", "low", "high", "method") for name, estimate in estimates.items()}
    return AreaEstimates(estimates, intervals, [compared_pair(pair) for pair in pairs], said)


def _estimates(samples: Samples, compared: bool) -> tuple[Mapping[str, Estimate], list[Comparison]]:
    rows = samples.rows
    if rows is None:
        return {
            name: auc_interval(counts) for name, counts in samples.counts().items() if isinstance(counts.n, int)
        }, []
    if compared and 2 <= len(rows.models) <= MOST_COMPARED:
        tests = compare(rows)
        return tests.estimates, list(tests)
    return {model: auc_interval(rows, model=model) for model in rows.models}, []


def _named(source: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(source, name) for name in names}


def compared_pair(pair: Comparison) -> dict[str, Any]:
    """Return the difference of two models for a report."""
    ends = _named(pair.difference, "low", "high") | {"difference": pair.difference.value}
    return ends | _named(pair, "first", "second", "p_value", "adjusted_p_value", "method")


RUG_STEPS = 40  # of the probability: a rug's bars are then some pixels wide
SMOOTH_POINTS = 40  # of a smooth curve, which straight lines between so many do not change to the eye
DRAWS = 99  # of the test of calibration: p-values in steps of 1 %; a choice, as time grows with it


def calibration_block(
    counts: ThresholdCounts, *, bins_only: bool = False, numbers: dict[str, float] | None = None
) -> dict[str, Any] | None:
    """Return the data of a calibration plot, or None if scores are not probabilities; bins alone are fast.

    Numbers may be known already.
    """
    try:
        counts.require_probabilities("scores")
    except ScoreError:
        return None
    at_once = {"bins": _bins(calibration_curve(counts)), "smooth": None, "rug": _rug(counts), "numbers": {}}
    if bins_only:
        return at_once
    numbers = plotted_numbers(counts) if numbers is None else numbers
    test = miscalibration_test(counts, draws=DRAWS)
    return at_once | {"smooth": _smooth(counts), "numbers": numbers | {"p_value": test.p_value}}


def _bins(curve: Any) -> list[dict[str, float]]:
    assert isinstance(curve, BinnedCalibrationCurve)
    interval = curve.interval()
    columns = {"x": curve.x, "y": curve.y, "low": interval.low, "high": interval.high, "n": curve.pos + curve.neg}
    used = columns["n"] > 0
    rows = zip(*(column[used].tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _smooth(counts: ThresholdCounts) -> dict[str, list[float]] | None:
    if len(counts) < 3:
        return None
    curve = calibration_curve(counts, method="loess")
    x = np.linspace(curve.x.min(), curve.x.max(), SMOOTH_POINTS)
    columns = {"x": x, "y": curve.at(x)}
    if isinstance(counts.n, int):  # weights do not tell how many rows a band would rest on
        at, low, high = curve.smooth_limits(0.95)
        columns |= {"low": np.interp(x, at, low), "high": np.interp(x, at, high)}
    return {name: column.clip(0, 1).tolist() for name, column in columns.items()}


def _rug(counts: ThresholdCounts) -> dict[str, list[float]]:
    """Count the cases of each class in equal steps of the score, for the rug."""
    step = np.minimum((counts.threshold * RUG_STEPS).astype(int), RUG_STEPS - 1)
    columns = {"pos": counts.pos, "neg": counts.neg}
    return {name: np.bincount(step, cases, RUG_STEPS).tolist() for name, cases in columns.items()}


MOST_POINTS = 225
"""Points per curve: enough for a screen's width, and few enough to keep the file small."""


@dataclass(frozen=True)
class CurvePoints(Result):
    """Points of a curve: thresholds (None first: nobody positive), with true and false positives at or above each."""

    threshold: list[float | None]
    tp: list[float]
    fp: list[float]


@dataclass(frozen=True)
class ModelOutline(Result):
    """What a page draws of one model; on millions of rows it takes a quarter of a `ModelSummary`'s time.

    Attributes
    ----------
    default : OperatingPoint
        The point at threshold 0.5.
    points : CurvePoints
        Some points of the curve, evenly along it, and all that can be best.
    deviation : float
        How far the curve may lie from the lines between these points, as a rate.
    hull : CurvePoints
    auc : dict
        Area for ties counting half; of a summary for ties counting lower and upper too.
    calibration : dict or None
        Bins and smooth curve of the calibration plot, the rug, and numbers; None where scores are no probabilities.
    auc_interval : dict or None
        Value, low, high, method of the area's confidence interval.
    decided : OperatingPoint or None
        As the model decides itself, where its labels are known.
    """

    name: str
    n_levels: int
    auc: dict[str, float]
    ks: float
    average_precision: float
    default: OperatingPoint
    points: CurvePoints
    deviation: float
    hull: CurvePoints
    calibration: dict[str, Any] | None
    auc_interval: dict[str, Any] | None = None
    decided: OperatingPoint | None = None


@dataclass(frozen=True, kw_only=True)
class ModelSummary(ModelOutline):
    """Facts about one model.

    Attributes
    ----------
    lift_area : dict
        Areas under the lift chart in positives, trapezoid and step.
    best : OperatingPoint
        The best point of the context.
    at_half : float or None
        Accuracy at threshold 0.5; None where scores are no probabilities, so that it is no threshold of theirs.
    """

    n_pos: float
    n_neg: float
    gini: float
    equal_error_rate: float
    lift_area: dict[str, float]
    hull_area: float
    best: OperatingPoint
    best_cost: float
    default_cost: float
    at_half: float | None

    @property
    def at_half_cell(self) -> str:
        """Accuracy at threshold 0.5 as a table cell."""
        return "" if self.at_half is None else f"{self.at_half:.2%}"

    @property
    def hint(self) -> str:
        """Explanation of an area below 1/2."""
        below = direction(self.auc["half"])
        return f"{self.name}: AUC {self.auc['half']:.4g}{below}" if below else ""


def outline(name: str, counts: ThresholdCounts, *, most: int = MOST_POINTS, bins: bool = True) -> ModelOutline:
    """Return what a page draws of one model, in as few passes over the ranking as possible.

    Examples
    --------
    >>> counts = ThresholdCounts([0.9, 0.6, 0.4, 0.2], [1, 1, 1, 0], [0, 0, 1, 1])
    >>> drawn, whole = outline("a", counts), summarise("a", counts, Context())
    >>> drawn.points == whole.points, drawn.hull == whole.hull, drawn.ks == whole.ks
    (True, True, True)
    """
    counts.require_both_classes(name)
    hull, gained = pool(counts), 0.0
    gain = _gain if counts.ranking.few else ranks.gain

    def gaining() -> Iterator[Block]:
        nonlocal gained
        before = 0.0
        for block in counts.ranking.blocks():
            gained += gain(block.tp, block.fp, before)
            before = float(block.tp[-1])
            yield block

    kept = thin(counts, most, hull=hull, blocks=gaining())
    return ModelOutline(
        name=name,
        n_levels=int(kept.index[-1]),
        auc={"half": counts.pairs().auc()},
        ks=float((hull.tp / counts.n_pos - hull.fp / counts.n_neg).max(initial=0.0)),  # a vertex is farthest
        average_precision=float(gained) / counts.n_pos,
        default=counts.at(DEFAULT_THRESHOLD),
        points=_points(kept),
        deviation=kept.deviation,
        hull=_vertices(hull),
        calibration=calibration_block(counts, bins_only=True) if bins else None,
    )


def _gain(tp: Array, fp: Array, before: float) -> float:
    """Same as the compiled loop, faster for few levels."""
    return (np.diff(tp, prepend=before) * (tp / (tp + fp))).sum()


def _points(kept: Thinned) -> CurvePoints:
    return CurvePoints([None, *kept.threshold[1:].tolist()], kept.tp.tolist(), kept.fp.tolist())


def _vertices(hull: ThresholdCounts) -> CurvePoints:
    return CurvePoints([None, *hull.threshold.tolist()], [0, *hull.tp.tolist()], [0, *hull.fp.tolist()])


def summarise(
    name: str,
    counts: ThresholdCounts,
    context: Context,
    *,
    interval: dict[str, Any] | None = None,
    most: int = MOST_POINTS,
    calibrated: bool = True,
    numbers: dict[str, float] | None = None,
    decided: OperatingPoint | None = None,
) -> ModelSummary:
    """Return all figures of one model in a context; without calibration, from a few passes over the ranking.

    The numbers beside the calibration plot may be known already.
    """
    drawn = outline(name, counts, most=most, bins=False)
    curve, chart, hull, default = roc(counts), lift_chart(counts), pool(counts), drawn.default
    best = best_point(counts if needs_every_threshold(context) else hull, context)
    own = {
        "auc": {ties: curve.area(ties) for ties in ("half", "lower", "upper")},
        "calibration": calibration_block(counts, numbers=numbers) if calibrated else None,
        "auc_interval": interval,
        "decided": decided,
    }
    return ModelSummary(
        **vars(drawn) | own,
        n_pos=counts.n_pos,
        n_neg=counts.n_neg,
        gini=curve.gini,
        equal_error_rate=det(counts).equal_error_rate,
        lift_area={kind: chart.area(kind) for kind in ("trapezoid", "step")},
        hull_area=roc(hull).auc,
        best=best,
        best_cost=context.expected_cost(best.tpr, best.fpr, counts.prevalence),
        default_cost=context.expected_cost(default.tpr, default.fpr, counts.prevalence),
        at_half=default.accuracy if are_probabilities(counts) else None,
    )
