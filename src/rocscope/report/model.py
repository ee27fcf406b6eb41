"""Content of a report on two classes: models, slices, decision and source of the rows.

A report shows each model on all rows and on *slices*, which are parts of the rows. `report_data` returns the content of
a report. It uses the sections of this file:

1. areas: the AUC of each model with an interval, and tests of the differences between models.
2. calibration: bins, a LOESS curve, the distribution of scores, and the numbers of the calibration plot.
3. models: `ModelOutline` contains the curves that a page draws first. `ModelSummary` adds the numbers of the tables.
4. slices: the same models on each segment, on each fold, or for one class against all others.
5. the decision: expected cost with an interval, and the ranges of scores with and without action.
6. the report.

A page contains only some points of each curve. They include every point that can be optimal (see `rocscope.geometry`).
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from rocscope import __version__
from rocscope._base import validation as check
from rocscope._base.arrays import Array, Indices
from rocscope._base.formatting import chance, counted, direction
from rocscope._base.grouping import listed, masks_of, numbered
from rocscope.calibration.curve import BinnedCalibrationCurve, calibration_curve
from rocscope.calibration.goodness_of_fit import miscalibration_test
from rocscope.calibration.outcomes import are_probabilities
from rocscope.calibration.report import PLOTTED_NUMBERS, plotted_numbers
from rocscope.core import Campaign, Context, CumulativeCounts, OperatingPoint, Predictions, Result, ThresholdCounts
from rocscope.core.predictions import CountedModels, independent_units, kinds_of, require_kinds
from rocscope.core.ranking import Block
from rocscope.curves.rate_curves import det, lift_chart, roc
from rocscope.decisions.choosing import DEFAULT_THRESHOLD, Decision, choose
from rocscope.decisions.generalization import ChosenEstimate
from rocscope.decisions.plan import replicates_for, set_level
from rocscope.decisions.randomized import Review
from rocscope.errors import InputError, collected_warnings
from rocscope.evaluation.summary import DOMAINS, MOST_PARTS, By, Summary, summarised
from rocscope.geometry.hull import best_point, needs_every_threshold, pool
from rocscope.geometry.thinning import thin
from rocscope.inference.areas import auc_interval
from rocscope.inference.comparing import compare
from rocscope.inference.estimate import Comparison, Estimate
from rocscope.inference.proportions import Thresholds
from rocscope.kernels import ranks
from rocscope.sample import Models, Samples, samples_of
from rocscope.segments.by_segment import counted_by_segment
from rocscope.segments.segmented_counts import SegmentedCounts

# ---- Areas ----

MOST_COMPARED = 20
"""Largest number of models that are compared in pairs."""


@dataclass(frozen=True)
class AreaEstimates:
    """AUC of each model with an interval, differences between models, and warnings.

    `intervals` contains the same values as `estimates`, as dictionaries for JSON.
    """

    estimates: Mapping[str, Estimate]
    intervals: dict[str, dict[str, Any]]
    comparisons: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def area_estimates(samples: Samples, *, compared: bool = True, level: float = 0.95) -> AreaEstimates:
    """Return the AUC of each model with an interval. If `compared`, also return the differences between models.

    Weighted counts have no intervals, because they do not show the number of rows.
    """
    rows = samples.rows
    estimates: Mapping[str, Estimate] = {}
    pairs: list[Comparison] = []
    with collected_warnings() as warnings:
        if rows is None:
            counts = samples.counts()
            of_cases = {
                name: part for name, part in counts.items() if isinstance(part.n, int) and not kinds_of(part, ("sums",))
            }
            estimates = {name: auc_interval(part, level=level) for name, part in of_cases.items()}
        elif compared and 2 <= len(rows.models) <= MOST_COMPARED:
            comparisons = compare(rows, level=level)
            estimates = comparisons.estimates
            pairs = list(comparisons)
        else:
            estimates = {model: auc_interval(rows, model=model, level=level) for model in rows.models}
    intervals = {}
    for name, estimate in estimates.items():
        ends = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
        intervals[name] = ends | {"method": estimate.method}
    return AreaEstimates(estimates, intervals, [compared_pair(pair) for pair in pairs], warnings)


def compared_pair(pair: Comparison) -> dict[str, Any]:
    """Return the difference between two models as a dictionary for JSON."""
    return {
        "low": pair.difference.low,
        "high": pair.difference.high,
        "difference": pair.difference.value,
        "first": pair.first,
        "second": pair.second,
        "p_value": pair.p_value,
        "adjusted_p_value": pair.adjusted_p_value,
        "method": pair.method,
    }


# ---- Calibration ----

# Number of bars of the rug from 0 to 1; each is a few pixels wide on the page.
RUG_STEPS = 40
# Number of points of a smooth curve, for which straight lines between points look smooth.
SMOOTH_POINTS = 40
# Simulated samples for the test of calibration; p-values have steps of 1%, and time grows with the number.
DRAWS = 99


def calibration_block(
    counts: ThresholdCounts,
    *,
    bins_only: bool = False,
    numbers: dict[str, float] | None = None,
    rows: Predictions | None = None,
) -> dict[str, Any] | None:
    """Return the data of a calibration plot. Return None if the scores are not probabilities.

    With `bins_only`, only the bins are computed, which is fast. `numbers` are numbers of the plot that are already
    known. Intervals and the test of calibration need `rows`.
    """
    # Counts of independent rows with equal weights are sufficient, and already ranked.
    data = counts
    if rows is not None and (rows.sample_weight is not None or independent_units(rows) is not None):
        data = rows
    if not are_probabilities(counts):
        return None
    block = {"bins": _bins(data), "smooth": None, "rug": _rug(counts), "numbers": {}}
    if bins_only:
        return block
    if numbers is None:
        numbers = plotted_numbers(counts)
    p_value = math.nan  # the test draws labels, which these weights do not allow
    if not kinds_of(data, ("sums", "estimated", "expected")):
        p_value = miscalibration_test(data, draws=DRAWS).p_value
    return block | {"smooth": _smooth(counts, data), "numbers": numbers | {"p_value": p_value}}


def _bins(data: ThresholdCounts | Predictions) -> list[dict[str, float]]:
    """Return, for each bin with cases, the mean score, the observed rate with an interval, and the number of cases."""
    curve = calibration_curve(data)
    assert isinstance(curve, BinnedCalibrationCurve)
    n = curve.pos + curve.neg
    # If most rows are in one bin of equal width, as for rare events, the plot would show a single point. Quantile bins
    # are fewer than bins of equal width only if many rows are tied.
    if n.max() > n.sum() / 2:
        finer = calibration_curve(data, strategy="quantile")
        assert isinstance(finer, BinnedCalibrationCurve)
        if finer.pos.size > np.count_nonzero(n):
            curve, n = finer, finer.pos + finer.neg
    unknown = np.full(n.size, np.nan)  # counts do not contain the number of rows behind the weights
    low, high = unknown, unknown
    if "sums" not in kinds_of(data):
        interval = curve.interval()
        low, high = interval.low, interval.high
    bins = []
    for i in np.flatnonzero(n > 0):
        row = {"x": curve.x[i], "y": curve.y[i], "low": low[i], "high": high[i], "n": n[i]}
        bins.append({name: value.item() for name, value in row.items()})
    return bins


def _smooth(counts: ThresholdCounts, data: ThresholdCounts | Predictions) -> dict[str, list[float]] | None:
    """Return the LOESS curve and its confidence band at evenly spaced scores."""
    # LOESS needs three distinct scores.
    if len(counts) < 3:
        return None
    curve = calibration_curve(data, method="loess")
    x = np.linspace(curve.x.min(), curve.x.max(), SMOOTH_POINTS)
    columns = {"x": x, "y": curve.at(x)}
    # With weights, the number of rows behind a band is unknown.
    if isinstance(counts.n, int):
        at, low, high = curve.smooth_limits(0.95)
        columns["low"] = np.interp(x, at, low)
        columns["high"] = np.interp(x, at, high)
    return {name: column.clip(0, 1).tolist() for name, column in columns.items()}


def _rug(counts: ThresholdCounts) -> dict[str, list[float]]:
    """Count the cases of each class in equal steps of the score, for the rug plot."""
    step = np.minimum((counts.threshold * RUG_STEPS).astype(int), RUG_STEPS - 1)
    positives = np.bincount(step, counts.pos, RUG_STEPS)
    negatives = np.bincount(step, counts.neg, RUG_STEPS)
    return {"pos": positives.tolist(), "neg": negatives.tolist()}


# ---- Models ----

MOST_EXACT = 10_000
"""Largest number of thresholds that are all sent to a page with rows, so that all its numbers are exact. A choice."""
MOST_POINTS = 225
"""Number of points per curve. They are enough for the width of a screen and keep the file small."""


@dataclass(frozen=True)
class CurvePoints(Result):
    """Points of a curve: threshold, true positives and false positives.

    The first threshold is None. It predicts nobody positive.
    """

    threshold: list[float | None]
    tp: list[float]
    fp: list[float]
    next_score: list[float] = field(default_factory=list)
    """For each point, the highest score in the data below its threshold. Empty if not needed or if too many scores."""

    def to_dict(self) -> dict[str, Any]:
        """Return the columns as a dictionary of lists of the same length."""
        return {name: column for name, column in super().to_dict().items() if column}


@dataclass(frozen=True)
class ModelOutline(Result):
    """Curves of one model that a page draws first.

    For millions of rows, this takes a quarter of the time of `ModelSummary`.

    Attributes
    ----------
    default : OperatingPoint
        Confusion matrix at threshold 0.5.
    points : CurvePoints
        Points that are evenly spaced along the ROC curve, and all points that can be optimal.
    deviation : float
        Largest distance between the ROC curve and the lines that connect these points, as a rate.
    hull : CurvePoints
        Vertices of the ROC hull.
    auc : dict
        AUC in which tied pairs count one half. A ModelSummary also has the AUC in which they count 0 and 1.
    calibration : dict or None
        Bins, smooth curve, rug plot and numbers of the calibration plot. None if the scores are not probabilities.
    auc_interval : dict or None
        Value, limits and method of the confidence interval of the AUC.
    decided : OperatingPoint or None
        Confusion matrix of the labels that the model predicted itself. None if they are unknown.
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
    """Curves of one model, and its numbers in the tables.

    Attributes
    ----------
    lift_area : dict
        Area under the lift chart of true positives, computed with trapezoids and computed with steps.
    best : OperatingPoint
        Confusion matrix at the best threshold in the context.
    at_half : float or None
        Accuracy at threshold 0.5. None if the scores are not probabilities.
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
        """Text of the table cell with the accuracy at threshold 0.5."""
        return "" if self.at_half is None else f"{self.at_half:.2%}"

    @property
    def hint(self) -> str:
        """Explanation if the AUC is below 1/2. Otherwise an empty text."""
        below = direction(self.auc["half"])
        return f"{self.name}: AUC {self.auc['half']:.4g}{below}" if below else ""


# Points at which the page shows exact numbers: net benefit at whole percents, and shares of cases in the tables.
# Largest number of distinct scores for which these points and the next lower scores are looked up, which needs further
# arrays of all scores.
_MOST_LEVELS = 1_000_000
_PROBABILITIES = np.arange(1, 100) / 100
_DEPTHS = np.union1d(np.arange(1, 11) / 10, [0.05])


def levels_read(counts: ThresholdCounts, target_prevalence: float | None) -> Indices:
    """Return the indices of the points of a curve at which the page shows exact numbers.

    These points must be kept when points are selected. They are the thresholds of the net benefit chart, and the points
    next to each share of cases in the tables, at the sample prevalence and at the target prevalence.
    """
    tp, fp = counts.cumulative
    rising = -counts.threshold.astype(np.float64)
    index = [np.searchsorted(rising, -_PROBABILITIES, side="right")]
    for prevalence in {counts.prevalence, target_prevalence or counts.prevalence}:
        depth = prevalence * (tp / counts.n_pos) + (1 - prevalence) * (fp / counts.n_neg)
        reached = np.searchsorted(depth, _DEPTHS - 1e-12).clip(1, depth.size - 1)
        index += [reached, reached - 1]
    return np.unique(np.concatenate(index))


def outline(
    name: str,
    counts: ThresholdCounts,
    *,
    most: int = MOST_POINTS,
    bins: bool = True,
    target_prevalence: float | None = None,
) -> ModelOutline:
    """Return the curves of one model for a page, with few passes over the ranking.

    Examples
    --------
    >>> counts = ThresholdCounts([0.9, 0.6, 0.4, 0.2], [1, 1, 1, 0], [0, 0, 1, 1])
    >>> drawn, summary = outline("a", counts), summarise("a", counts, Context())
    >>> drawn.points == summary.points, drawn.hull == summary.hull, drawn.ks == summary.ks
    (True, True, True)
    """
    counts.require_both_classes(name)
    hull = pool(counts)
    # The compiled loop is faster only for many levels.
    precision_sum = _precision_sum if counts.ranking.few else ranks.gain
    total = 0.0

    def summed_blocks() -> Iterator[Block]:
        # Sum average precision in the same pass that thins the curve: a second pass would double the time.
        nonlocal total
        before = 0.0
        for block in counts.ranking.blocks():
            total += precision_sum(block.tp, block.fp, before)
            before = float(block.tp[-1])
            yield block

    # For very many levels, and for the many curves of slices, the page uses the nearest stored threshold instead.
    is_read = most >= MOST_POINTS and len(counts) <= _MOST_LEVELS
    keep = levels_read(counts, target_prevalence) if is_read else np.zeros(0, np.intp)
    kept = thin(counts, most, hull=hull, keep=keep, blocks=summed_blocks())
    following = kept.next_score.tolist() if kept.index.size <= len(counts) <= _MOST_LEVELS else []
    points = CurvePoints([None, *kept.threshold[1:].tolist()], kept.tp.tolist(), kept.fp.tolist(), following)
    corners = CurvePoints([None, *hull.threshold.tolist()], [0, *hull.tp.tolist()], [0, *hull.fp.tolist()])
    # KS = max(TPR − FPR) is attained at the vertex of the hull that a line of slope 1 touches.
    ks = (hull.tp / counts.n_pos - hull.fp / counts.n_neg).max(initial=0.0)
    return ModelOutline(
        name=name,
        n_levels=int(kept.index[-1]),
        auc={"half": counts.pairs().auc()},
        ks=float(ks),
        average_precision=float(total) / counts.n_pos,
        default=counts.at(DEFAULT_THRESHOLD),
        points=points,
        deviation=kept.deviation,
        hull=corners,
        calibration=calibration_block(counts, bins_only=True) if bins else None,
    )


def _precision_sum(tp: Array, fp: Array, before: float) -> float:
    """Return the sum, over all distinct scores, of the precision times the number of positives with this score."""
    return (np.diff(tp, prepend=before) * (tp / (tp + fp))).sum()


def summarise(
    name: str,
    counts: ThresholdCounts,
    context: Context,
    *,
    interval: dict[str, Any] | None = None,
    most: int = MOST_POINTS,
    calibrated: bool = True,
    numbers: dict[str, float] | None = None,
    rows: Predictions | None = None,
) -> ModelSummary:
    """Return the curves and numbers of one model in a context.

    Without calibration, this needs only a few passes over the scores. `numbers` are numbers of the calibration plot
    that are already known. `rows` may have labels that the model predicted itself.
    """
    drawn = outline(name, counts, most=most, bins=False, target_prevalence=context.target_prevalence)
    default = drawn.default
    curve = roc(counts)
    chart = lift_chart(counts)
    hull = pool(counts)
    best = counts.with_next_score(best_point(counts if needs_every_threshold(context) else hull, context))
    further = {
        "auc": {ties: curve.area(ties) for ties in ("half", "lower", "upper")},
        "calibration": calibration_block(counts, numbers=numbers, rows=rows) if calibrated else None,
        "auc_interval": interval,
        "decided": rows.point() if rows is not None and rows.decisions else None,
    }
    return ModelSummary(
        **vars(drawn) | further,
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


# ---- Slices ----

SMALL = 10
"""If a class has fewer cases, a warning is added."""

POINTS = 60
"""Number of points per curve on a slice. It limits the size of files with many slices."""

MOST_FOLDS = 50
"""Largest number of folds that are shown separately. Leave-one-out has one fold per row."""

MOST_SEGMENTS = 40
"""Largest number of segments that are shown separately. If there are more, the smallest segments are pooled."""

# Number of names in a warning, which take about two lines.
_MOST_NAMED = 8


@dataclass(frozen=True)
class Slice(Result):
    """The models on a part of the rows.

    Attributes
    ----------
    kind : {"all", "segment", "fold", "class"}
        Kind of the part.
    name : str
        Name of the part.
    models : list of ModelSummary
        Curves and numbers of each model.
    comparisons : list of dict
        Difference in AUC between each pair of models, with its interval and p-value.
    """

    kind: str
    name: str
    models: list[ModelSummary]
    comparisons: list[dict[str, Any]] = field(default_factory=list)

    @property
    def where(self) -> str:
        """Kind and name of the part as text."""
        return self.name if self.kind == "all" else f"{self.kind} {self.name}"


@dataclass
class Slices:
    """Collection of slices, with warnings and notes on omitted slices."""

    context: Context
    made: list[Slice] = field(default_factory=list)
    _one_class: list[str] = field(default_factory=list)
    _places_of_warning: dict[str, list[str]] = field(default_factory=dict)

    def add(
        self,
        kind: str,
        name: Any,
        predictions: Predictions | Mapping[str, CumulativeCounts],
        *,
        most: int = POINTS,
        compared: bool = False,
        labels_only: Iterable[str] = (),
        detailed: bool = True,
    ) -> None:
        """Add a slice with the models on the given rows or counts. If a class is missing, add only a note."""
        samples = samples_of(predictions)
        counts = samples.counts()
        first = next(iter(counts.values()))
        if not self.shows(kind, name, first.n_pos, first.n_neg):
            return
        areas = area_estimates(samples, compared=compared) if detailed else AreaEstimates({}, {})
        models = []
        for model, sample in samples.items():
            summary = summarise(
                model,
                counts[model],
                self.context,
                interval=areas.intervals.get(model),
                most=most,
                calibrated=detailed and model not in labels_only,
                rows=sample.rows,
            )
            models.append(summary)
        self.made.append(Slice(kind, str(name), models, areas.comparisons))
        for warning in areas.warnings:
            self.warn(warning, f"{kind} {name}")

    def shows(self, kind: str, name: Any, n_pos: float, n_neg: float) -> bool:
        """Return True if there are positives and negatives. Otherwise, add a note that the part is omitted."""
        if n_pos and n_neg:
            return True
        self._one_class.append(f"{kind} {name} (no {'negatives' if n_pos else 'positives'})")
        return False

    def warn(self, text: str, where: str) -> None:
        """Add a warning for a part. A warning for several parts is shown once, with the names of the parts."""
        self._places_of_warning.setdefault(text, []).append(where)

    @property
    def warnings(self) -> list[str]:
        """Notes on omitted parts, and warnings."""
        texts = []
        if self._one_class:
            texts.append(f"Omitted because a class is missing: {_listed(self._one_class)}.")
        for text, places in self._places_of_warning.items():
            texts.append(f"{text} ({_listed(places)})")
        return texts


def by_rows(predictions: Predictions, context: Context) -> Slices:
    """Return the models on each segment and each fold."""
    slices = Slices(context)
    for kind, name, rows in parts_of(predictions, slices):
        slices.add(kind, name, predictions.select(rows))
    return slices


def by_counts(segments: Mapping[str, SegmentedCounts], context: Context, is_small: Callable[[Any], bool]) -> Slices:
    """Return the models on each segment. If there are many segments, pool all but the largest segments.

    Intervals and calibration are omitted if there are many distinct scores (see `is_small`).
    """
    slices = Slices(context)
    for name, make_counts in parts_of_counts(segments, slices):
        counts = make_counts()
        slices.add("segment", name, counts, detailed=is_small(counts))
    return slices


def parts_of_counts(
    by_model: Mapping[str, SegmentedCounts], slices: Slices
) -> Iterator[tuple[str, Callable[[], dict[str, CumulativeCounts]]]]:
    """Yield the name of each segment to show, and a function that returns the counts of its models.

    Segments without positives or negatives are skipped. If there are many segments, the smallest ones are pooled.
    """

    def counts_of(name: Any) -> dict[str, CumulativeCounts]:
        return {model: segments[name] for model, segments in by_model.items()}

    def pooled(rest: Array) -> dict[str, CumulativeCounts]:
        return {model: segments.select(rest).pooled() for model, segments in by_model.items()}

    first = next(iter(by_model.values()))
    shown = _largest(first.n, slices)
    for i, name in zip(shown.tolist(), listed(first.names[shown]), strict=True):
        if slices.shows("segment", name, first.n_pos[i].item(), first.n_neg[i].item()):
            yield str(name), partial(counts_of, name)
    if shown.size < len(first):
        rest = np.isin(np.arange(len(first)), shown, invert=True)
        name = _others(int(rest.sum()))
        if slices.shows("segment", name, first.n_pos[rest].sum().item(), first.n_neg[rest].sum().item()):
            yield name, partial(pooled, rest)


def parts_of(predictions: Predictions, slices: Slices) -> Iterator[tuple[str, str, Array]]:
    """Yield kind, name and row mask of each segment and fold. Notes on omitted parts are added to `slices`.

    If there are many segments, all but the largest segments are pooled.
    """
    if predictions.segment is not None:
        names, code = numbered("segment", predictions.segment)
        shown = _largest(np.bincount(code, predictions.sample_weight), slices)
        for i in shown.tolist():
            yield "segment", str(listed(names)[i]), code == i
        if shown.size < names.size:
            yield "segment", _others(names.size - shown.size), np.isin(code, shown, invert=True)
    if predictions.fold is not None:
        folds = _count_distinct(predictions.fold)
        if folds > MOST_FOLDS:
            slices.warn(f"More than {MOST_FOLDS} folds are not shown separately", f"{folds} folds")
            return
        for name, mask in masks_of("fold", predictions.fold).items():
            yield "fold", str(name), mask


def require_segments(predictions: Predictions, subject: str = "segment") -> None:
    """Raise an InputError if there are so many segments that the column probably identifies single cases.

    `subject` is the subject of the message.

    Raises
    ------
    InputError
        If there are more than 1,000 segments.
    """
    if predictions.segment is None:
        return
    segments = _count_distinct(predictions.segment)
    if segments > MOST_PARTS:
        hint = "for more segments, call Predictions.counts(by='segment')"
        got = f"{segments:,} segments"
        raise InputError(subject, expected=f"at most {MOST_PARTS:,} segments", got=got, hint=hint)


def _count_distinct(column: Array) -> int:
    # Hashing text is faster than sorting, which np.unique does.
    return len(set(column.tolist())) if column.dtype.kind in "OUS" else np.unique(column).size


def _largest(sizes: Array, slices: Slices) -> Array:
    """Return the indices of the largest segments in their original order."""
    if sizes.size <= MOST_SEGMENTS:
        return np.arange(sizes.size)
    shown = np.sort(np.argsort(-sizes, kind="stable")[: MOST_SEGMENTS - 1])
    others = f"{sizes.size - shown.size:,} others"
    slices.warn(f"The {shown.size} largest segments are shown separately, all others are pooled", others)
    return shown


def _others(number: int) -> str:
    return f"others ({number:,} segments)"


def small_cells(slices: Sequence[Slice]) -> list[str]:
    """Return warnings about rates that are based on few cases, and about points that may identify single rows.

    Examples
    --------
    >>> from rocscope.core.context import Context
    >>> slices = by_rows(Predictions([1, 0, 1, 0], [4, 3, 2, 1], segment=["x", "x", "y", "y"]), Context())
    >>> small_cells(slices.made)[0]
    'Rates are uncertain with fewer than 10 cases of a class: segment x (1 negative), segment y (1 negative).'
    """
    few_cases = []
    single_rows = []
    for part in slices:
        first = part.models[0]
        n, word = min((first.n_pos, "positive"), (first.n_neg, "negative"))
        if n < SMALL:
            few_cases.append(f"{part.where} ({counted(n, word)})")
        if any(_shows_rows(model) for model in part.models):
            single_rows.append(part.where)
    # If all rows can be read from the file, do not list its parts as well.
    if single_rows and slices[0].kind == "all" and slices[0].where in single_rows:
        single_rows = single_rows[:1]
    warnings = []
    if few_cases:
        warnings.append(f"Rates are uncertain with fewer than {SMALL} cases of a class: {_listed(few_cases)}.")
    if single_rows:
        warnings.append(
            f"Scores of single rows can be read from this file, because most points are fewer than {SMALL} cases "
            f"apart: {_listed(single_rows)}."
        )
    return warnings


def _shows_rows(model: ModelSummary) -> bool:
    """Return True if most neighbouring points of the curve differ by fewer than `SMALL` cases."""
    depth = np.add(model.points.tp, model.points.fp)
    return bool(np.median(np.diff(depth)) < SMALL)


def _listed(names: Sequence[str]) -> str:
    return check.listing(names, _MOST_NAMED, shown=str)


# ---- The decision ----

MOST_ROWS = 200_000
"""Largest number of rows for bootstrap intervals. With more rows, intervals are slow to compute and very narrow."""
# Empty space at both ends of a table's scale, in percent of its width.
_MARGIN = 4
_TOO_MANY_ROWS = "no interval above 200,000 rows; use rocscope.choose(…).interval()"


class Bar(NamedTuple):
    """A row of a table with a bar: label, text, and start and end of the bar in percent of the width."""

    what: str
    says: str
    low: float
    high: float
    at: float | None = None


class Bars(NamedTuple):
    """A table of bars with the same scale."""

    heading: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class DecisionFacts(Result):
    """Uncertainty and alternatives of a decision.

    Attributes
    ----------
    interval : ChosenEstimate or None
        Expected cost on new cases, with an interval.
    missing : str
        Reason why there is no interval. Empty if there is one.
    reviewed : Decision or None
        The best decision with human review of some cases. None if the report was made without a review.
    """

    interval: ChosenEstimate | None
    missing: str
    reviewed: Decision | None

    def tables(self, decision: Decision) -> list[Bars]:
        """Return the tables for the card of the decision."""
        tables = []
        if self.interval is not None:
            tables = [_cost_bars(self.interval, decision), _chance_bars(self.interval)]
        return [*tables, _action_bars(self.reviewed or decision)]

    def captions(self, decision: Decision) -> list[str]:
        """Return the captions of the tables."""
        captions = ["Computed from all rows, at the initial costs and prevalence of the report."]
        if self.interval is None:
            captions.append(f"There is {self.missing}.")
        else:
            captions += [f"{_capitalized(what)}: {fact}." for what, fact in self.interval.doubts.items()]
        if self.reviewed and self.reviewed.review:
            costs = f"{self.reviewed.expected_cost:.4g} instead of {decision.expected_cost:.4g}"
            review_cost = self.reviewed.review.review.cost
            captions.append(f"With reviews that cost {review_cost:g} each, the cost per case is {costs}.")
        elif self.reviewed:
            captions += [f"{_capitalized(note)}." for note in self.reviewed.notes]
        return captions


def _capitalized(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"


def _cost_bars(interval: ChosenEstimate, decision: Decision) -> Bars:
    """Return bars for the expected cost on new cases with its interval, and for the costs of the alternatives."""
    apparent = decision.expected_cost
    alternatives = {"nobody positive": decision.treat_none_cost, "everybody positive": decision.treat_all_cost}
    # The scale includes the cheaper alternative; the more expensive one is shown only if it fits.
    ends = (interval.low, interval.high, apparent, min(alternatives.values()))
    low, high = min(ends), max(ends)

    def place(cost: float) -> float:
        return _MARGIN + (100 - 2 * _MARGIN) * (cost - low) / (high - low or 1.0)

    value, *rounded_ends = interval.rounded
    label = f"on new cases, {100 * interval.level:g}% CI"
    text = f"{value} [{', '.join(rounded_ends)}]"
    bars = [Bar(label, text, place(interval.low), place(interval.high), place(interval.value))]
    for name, cost in {"on the rows used for the choice": apparent, **alternatives}.items():
        if name not in alternatives or cost <= high:
            bars.append(Bar(name, f"{cost:.4g}", place(cost), place(cost), place(cost)))
    return Bars("Expected cost per case", tuple(bars))


def _chance_bars(interval: ChosenEstimate) -> Bars:
    """Return bars for the probability that each model is the best, and for the probability that acting is cheaper."""
    chances = {}
    if len(interval.models) > 1:
        chances = {f"{model} is the best": share for model, share in interval.models.items()}
    chances["acting pays"] = interval.acting
    bars = [Bar(what, chance(share), 0, 100 * share) for what, share in chances.items()]
    return Bars("Probability that", tuple(bars))


def _action_bars(decision: Decision) -> Bars:
    """Return bars for the ranges of scores with action, with review and without action, highest scores first."""
    review = decision.review
    acted = 100 * decision.point.at_prevalence(decision.prevalence).depth
    rule = decision.lot.shares if decision.lot else _scores_from(decision.point)
    bars = [Bar(f"act: {rule}", f"{acted:.1f}%", 0.0, acted)]
    end = acted
    if review is not None:
        end = 100 * review.point.at_prevalence(decision.prevalence).depth
        rule = review.rule.shares if review.rule.randomized else _scores_from(review.point)
        bars.append(Bar(f"review: {rule}", f"{end - acted:.1f}%", acted, end))
    if end < 100:
        rule = "all others" if acted else "everybody"
        bars.append(Bar(f"leave: {rule}", f"{100 - end:.1f}%", end, 100.0))
    return Bars("Share of cases to", tuple(bars))


def _scores_from(point: OperatingPoint) -> str:
    if math.isinf(point.threshold):
        return "nobody" if point.threshold > 0 else "everybody"
    return f"score ≥ {point.threshold_text}"


def decision_facts(predictions: Models, decision: Decision, review: Review | None, *, detailed: bool) -> DecisionFacts:
    """Return the content for the card of the decision. If `detailed`, compute an interval."""
    reviewed = None if review is None else choose(predictions, decision.context, review=review)
    rows = samples_of(predictions).rows
    if not detailed or (rows is not None and len(rows) > MOST_ROWS):
        return DecisionFacts(None, _TOO_MANY_ROWS, reviewed)
    try:
        interval = decision.interval(decision.level, replicates=replicates_for(decision.point), progress=False)
        return DecisionFacts(interval, "", reviewed)
    except InputError as error:
        return DecisionFacts(None, f"no interval: {error}", reviewed)


# ---- The report ----

SCHEMA_VERSION = 3

CONVENTIONS = (
    "A case is predicted positive if its score is at least the threshold.",
    "Cases with equal scores form one straight segment of a curve, and a tied pair counts one half in the AUC.",
    "Rates with a denominator of 0 are undefined, not 0 or 1.",
    "Among equally good choices, the choice with the fewest positive predictions is used, and then the first model.",
    "Confidence intervals and bands have a level of 95%. The band of a ROC curve is Wilson's interval of the true "
    "positive rate at each threshold. The band of the LOESS curve is a parametric bootstrap.",
    "Calibration bins have equal widths and include their lower edge. The last bin also includes its upper edge. If "
    "one bin would contain more than half of the rows, bins with equal numbers of rows are used, provided that this "
    "gives more bins. Each point shows the mean score of its bin.",
)


@dataclass(frozen=True)
class ReportData(Result):
    """All content of a report.

    Attributes
    ----------
    models : list of ModelSummary
        Curves and numbers of each model on all rows.
    decision : Decision
        The best model and threshold in the context.
    decided : DecisionFacts or None
        Uncertainty of the decision, and the best decision with human review.
    provenance : dict
        Version of rocscope, numbers of rows, numbers of dropped rows, and a hash of the counts.
    slices : list of Slice
        The models on each segment and fold.
    comparisons : list of dict
        Difference in AUC between each pair of models, with its interval and p-value.
    summary : Summary or None
        All metrics of a validation with intervals, on all rows. None if this would take too long.
    warnings : list of str
        Notes on numbers that are based on few cases or that may identify single cases.
    """

    title: str
    context: Context
    models: list[ModelSummary]
    decision: Decision
    provenance: dict[str, Any]
    slices: list[Slice] = field(default_factory=list)
    comparisons: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    notes: str = ""
    summary: Summary | None = None
    decided: DecisionFacts | None = None
    conventions: tuple[str, ...] = CONVENTIONS
    schema_version: int = field(default=SCHEMA_VERSION)

    @property
    def verdict(self) -> str:
        """Sentence with the recommended model and threshold."""
        decision = self.decision
        accuracy = decision.point.at_prevalence(decision.prevalence).accuracy
        default = decision.default_point.at_prevalence(decision.prevalence).accuracy
        threshold = f"threshold {decision.point.threshold_text}"
        use = f"{decision.model} at {threshold}"
        if decision.trivial:
            use = f"predict {decision.trivial} ({threshold})"
        # Compare with the threshold 0.5 only if scores are probabilities.
        at_half = {model.name: model.at_half for model in self.models}[decision.model]
        comparison = "" if at_half is None else f" ({default:.2%} at 0.5)"
        notes = "".join(f" {_capitalized(note)}." for note in decision.notes)
        cost = f"apparent cost {decision.expected_cost:.4g} per case"
        if self.decided is not None and self.decided.interval is not None:
            cost = self.decided.interval.sentence("cost per case")
        return f"Best: {use}, {cost}, accuracy {accuracy:.2%}{comparison}.{notes}"

    @property
    def hints(self) -> list[str]:
        """Explanations for models with an AUC below 1/2."""
        return [model.hint for model in self.models if model.hint]

    @property
    def validation(self) -> dict[str, list[dict[str, str]]]:
        """Tables of the summary for each domain. They have one row per metric and one column per model."""
        if self.summary is None:
            return {}
        sheets = {domain.capitalize(): self.summary.sheet(domain) for domain in DOMAINS}
        return {heading: lines for heading, lines in sheets.items() if lines}

    @property
    def views(self) -> list[Slice]:
        """All slices that the page can show. The first slice contains all rows."""
        return [Slice("all", "all rows", self.models, self.comparisons), *self.slices]


# Largest number of rows, or of distinct scores of counts, for a detailed report: more would take tens of seconds.
MOST_DETAILED = 1_000_000
LEFT_OUT = f"Intervals, comparisons and calibration are omitted above {MOST_DETAILED:,} rows or distinct scores."
NOT_COMPARED = "Models are not compared in pairs, because only counts were read instead of rows."


# Number of models in a title, which take about a line.
_MOST_IN_TITLE = 4


def title_of(models: Sequence[str]) -> str:
    """Return a title with the names of a few models and the number of further models.

    Examples
    --------
    >>> title_of(["a", "b"]), title_of(list("abcdefg"))
    ('a · b', 'a · b · c · d and 3 more')
    """
    rest = len(models) - _MOST_IN_TITLE
    return " · ".join(models[:_MOST_IN_TITLE]) + (f" and {rest} more" if rest > 0 else "")


def report_data(
    predictions: Models,
    *,
    context: Context | Campaign | None = None,
    title: str = "",
    notes: str = "",
    detailed: bool | None = None,
    by: By | None = None,
    review: Review | None = None,
    threshold: Thresholds | Literal["costs", "cheapest"] | None = None,
    drawn: bool = True,
    level: float = 0.95,
) -> ReportData:
    """Return the content of a report: the curves and numbers of each model, and the best decision.

    Parameters
    ----------
    predictions : data of one or several models
        Predictions, labels and scores, or a mapping from model name to counts or points; see `rocscope.sample`.
        SegmentedCounts, or a mapping from model name to SegmentedCounts, are shown for all rows together and for each
        segment. If there are many segments, all but the largest segments are pooled.
    context : Context, optional
        Costs and prevalence.
    title, notes : str
        Title and notes of the report.
    detailed : bool, optional
        If True, add intervals, comparisons, calibration, slices and the hash. For millions of rows, these take most of
        the time. By default, False for counts with more than a million distinct scores, otherwise True.
    by : {"segment", "fold"}, optional
        Show each segment or each fold separately in the summary.
    review : Review, optional
        Human review of cases as a third action. Its capacity refers to the number of rows.
    threshold : see `rocscope.summary`
        Threshold for the metrics of classification and utility in the summary.
    drawn : bool, default True
        If True, add the parts that only a page or JSON shows: calibration plots, slices, the interval of the decision
        and the hash. Without these parts, a summary takes less than half of the time.
    level : float
        Confidence level of the summary, the AUC and the cost. All other intervals and bands have a level of 95%.

    Raises
    ------
    OneClassError
        If the rows have only one class.
    InputError
        If there are more than 1,000 segments.

    Examples
    --------
    >>> from rocscope import Predictions
    >>> data = report_data(Predictions([1, 1, 0, 1, 0], [0.9, 0.6, 0.4, 0.4, 0.2]))
    >>> data.models[0].auc["half"], data.decision.threshold
    (0.9166666666666666, 0.6)
    """
    given_context = context
    context = Context.given(context)
    data, by_model = _pooled(predictions)
    counts = data.counts()
    for name, levels in counts.items():
        levels.require_both_classes(name)
    if detailed is None:
        detailed = data.rows is not None or is_small(data)
    ranked: Any = data
    decision = choose(ranked, context)
    set_level(decision, level)

    # Areas with intervals, and the measures of a validation.
    areas = AreaEstimates({}, {})
    summary = None
    if detailed:
        if not by_model:
            require_kinds("report", predictions)
        areas = area_estimates(data, level=level)
        parts = by_model if by else {}
        options: dict[str, Any] = {"threshold": threshold, "level": level, "areas": areas.estimates}
        summary = summarised(data, given_context, parts, by=by, **options)

    # The plot describes the sample: it has the numbers of the summary, except if the summary has a different
    # prevalence.
    at_sample = context.target_prevalence is None
    models = []
    for name, levels in counts.items():
        numbers = None
        if summary is not None and at_sample:
            numbers = {measure: summary[name][measure].value for measure in PLOTTED_NUMBERS}
        model = summarise(
            name,
            levels,
            context,
            interval=areas.intervals.get(name),
            calibrated=detailed and drawn,
            numbers=numbers,
            rows=data[name].rows,
        )
        models.append(model)

    first = next(iter(counts.values()))
    hashed = counts if detailed and drawn else {}
    slices = _slices(data, by_model, context, detailed=detailed) if drawn else Slices(context)
    report = ReportData(
        title or title_of(list(counts)),
        context,
        models,
        decision,
        provenance_of(predictions, hashed, rows=first.n, positives=first.n_pos, negatives=first.n_neg),
        slices.made,
        areas.comparisons,
        notes=notes,
        summary=summary,
        decided=decision_facts(ranked, decision, review, detailed=detailed) if drawn else None,
    )
    remarks = [*report.hints, *areas.warnings, *(() if summary is None else summary.marks)]
    if not detailed:
        # Numbers that need seconds per million rows.
        remarks.append(LEFT_OUT)
    elif isinstance(predictions, CountedModels) and len(counts) > 1:
        remarks.append(NOT_COMPARED)
    small = small_cells(report.views if detailed else slices.made)
    return replace(report, warnings=[*remarks, *slices.warnings, *small])


def _pooled(predictions: Models) -> tuple[Samples, dict[str, SegmentedCounts]]:
    """Return the data of each model, and the SegmentedCounts of each model if counts have segments."""
    # Rows have their segments as a column.
    by_model = {} if isinstance(predictions, Predictions) else counted_by_segment(predictions)
    if by_model:
        return samples_of({model: segments.pooled() for model, segments in by_model.items()}), by_model
    data = samples_of(predictions, name="predictions")
    if data.rows is not None:
        require_segments(data.rows)
    return data, {}


def _slices(data: Samples, by_model: dict[str, SegmentedCounts], context: Context, *, detailed: bool) -> Slices:
    """Return the segments of counts, or the segments and folds of rows."""
    if by_model:
        return by_counts(by_model, context, is_small)
    if detailed and data.rows is not None:
        return by_rows(data.rows, context)
    return Slices(context)


def is_small(models: Models | Samples) -> bool:
    """Return True if there are at most a million rows or distinct scores, so that intervals can be computed quickly."""
    data = samples_of(models)
    if data.rows:
        return len(data.rows) <= MOST_DETAILED
    return all(len(points) <= MOST_DETAILED for points in data.points().values())


def provenance_of(predictions: Any, hashed: Mapping[str, ThresholdCounts], **numbers: float) -> dict[str, Any]:
    """Return the version of rocscope, numbers of cases, a hash of counts, and the source of rows and labels."""
    provenance: dict[str, Any] = {"rocscope": __version__, **numbers}
    if hashed:
        provenance["hash"] = fingerprint(hashed)
    source = getattr(predictions, "source", None)
    if source is not None:
        provenance |= {"source": source.name, "rows_dropped": source.rows_dropped}
    assumption = getattr(predictions, "assumption", None)
    if assumption is not None:
        provenance["labels"] = f"expected, from a labelled reference with the {assumption}"
        provenance["scores_outside_the_reference"] = f"{100 * predictions.outside:.3g}%"
    return provenance


def fingerprint(counts: Mapping[str, ThresholdCounts]) -> str:
    """Return a hash of the counts, which identifies the data."""
    digest = hashlib.sha256()
    for name, levels in counts.items():
        digest.update(name.encode())
        for column in (levels.threshold, levels.pos, levels.neg):
            digest.update(str(column.dtype).encode())
            digest.update(column.tobytes())
    return digest.hexdigest()[:16]
