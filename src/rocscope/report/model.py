"""ModelSummary: facts about one model as plain data.

The uncertainty of the areas of a report: an interval for each model and a test for each two of the same rows.

The calibration block of a report: curves by bins and LOESS, the rug, and numbers.
"""
# MERGED-DOC: """Slices of a report: all rows, a segment, a fold, or one class against the rest."""
# MERGED-DOC: """ReportData: everything that a summary or a report shows, as plain data."""

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from rocscope import __version__
from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.formatting import chance
from rocscope._base.grouping import listed, masks_of, numbered
from rocscope.calibration.curve import BinnedCalibrationCurve, calibration_curve
from rocscope.calibration.outcomes import are_probabilities
from rocscope.calibration.report import PLOTTED_NUMBERS, plotted_numbers
from rocscope.calibration.scores import miscalibration_test
from rocscope.core.context import Context
from rocscope.core.counts import CumulativeCounts, OperatingPoint, ThresholdCounts
from rocscope.core.predictions import CountedModels, Predictions, refuse_repeats
from rocscope.core.ranking import Block
from rocscope.core.result import Result
from rocscope.curves.profit_curve import Campaign
from rocscope.curves.rate_curves import det, lift_chart, roc
from rocscope.decisions.choosing import DEFAULT_THRESHOLD, Decision, choose
from rocscope.decisions.generalization import ChosenEstimate
from rocscope.decisions.randomized import Review
from rocscope.errors import InputError, ScoreError, heard
from rocscope.evaluation.summary import DOMAINS, MOST_PARTS, By, Summary, summarised
from rocscope.geometry import best_point, needs_every_threshold, pool, thin
from rocscope.geometry.thinning import Thinned
from rocscope.inference.areas import auc_interval
from rocscope.inference.comparing import compare
from rocscope.inference.estimate import Comparison, Estimate
from rocscope.inference.proportions import Thresholds
from rocscope.kernels import ranks
from rocscope.ranges.binned import direction
from rocscope.sample import Models, Samples, samples_of
from rocscope.segments.by_segment import counted_by_segment
from rocscope.segments.segmented_counts import SegmentedCounts

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


SMALL = 10
"""Warn if a class has fewer cases than this."""

POINTS = 60
"""Points per curve, which limits the size of files with many views."""

MOST_FOLDS = 50
"""With more folds than this, folds are not shown: leave-one-out has one per row."""

MOST_SEGMENTS = 40
"""With more segments than this, only the largest are shown, and the rest pooled."""

_MOST_NAMED = 8  # names in a warning: a choice, about two lines


@dataclass(frozen=True)
class Slice(Result):
    """The models on some rows.

    Attributes
    ----------
    kind : {"all", "segment", "fold", "class"}
    name : str
    models : list of ModelSummary
    comparisons : list of dict
        Difference in AUC of each two models, with its interval and p-value.
    """

    kind: str
    name: str
    models: list[ModelSummary]
    comparisons: list[dict[str, Any]] = field(default_factory=list)

    @property
    def where(self) -> str:
        """The rows, as text."""
        return self.name if self.kind == "all" else f"{self.kind} {self.name}"


@dataclass
class Slices:
    """Views collected so far, with notes on them."""

    context: Context
    made: list[Slice] = field(default_factory=list)
    _one_class: list[str] = field(default_factory=list)
    _said: dict[str, list[str]] = field(default_factory=dict)

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
        """Add the models on the rows or counts of `predictions`, unless a class is missing."""
        samples = samples_of(predictions)
        counts = samples.counts()
        first = next(iter(counts.values()))
        if not self.shows(kind, name, first.n_pos, first.n_neg):
            return
        sure = area_estimates(samples, compared=compared) if detailed else AreaEstimates({}, {})
        models = [
            summarise(
                model,
                counts[model],
                self.context,
                interval=sure.intervals.get(model),
                most=most,
                calibrated=detailed and model not in labels_only,
                decided=sample.rows.point() if sample.rows and sample.rows.decisions else None,
            )
            for model, sample in samples.items()
        ]
        self.made.append(Slice(kind, str(name), models, sure.comparisons))
        for text in sure.warnings:
            self.say(text, f"{kind} {name}")

    def shows(self, kind: str, name: Any, n_pos: float, n_neg: float) -> bool:
        """Return whether rows have both classes; if not, note that they are left out."""
        if not (n_pos and n_neg):
            self._one_class.append(f"{kind} {name} (no {'negatives' if n_pos else 'positives'})")
        return bool(n_pos and n_neg)

    def say(self, text: str, where: str) -> None:
        """Add a warning, once."""
        self._said.setdefault(text, []).append(where)

    @property
    def warnings(self) -> list[str]:
        """Notes on what was left out, and warnings."""
        left_out = [f"Left out, as one class is missing: {_listed(self._one_class)}."] if self._one_class else []
        return left_out + [f"{text} ({_listed(where)})" for text, where in self._said.items()]


def _classes(counted: ThresholdCounts | ModelSummary) -> tuple[tuple[str, float], ...]:
    return ("positive", counted.n_pos), ("negative", counted.n_neg)


def by_rows(predictions: Predictions, context: Context) -> Slices:
    """Return the models on each segment and each fold."""
    slices = Slices(context)
    for kind, name, rows in parts_of(predictions, slices):
        slices.add(kind, name, predictions.select(rows))
    return slices


def by_counts(segments: Mapping[str, SegmentedCounts], context: Context, is_small: Callable[[Any], bool]) -> Slices:
    """Return the models on each segment; if there are many, on the largest ones and on all others pooled.

    Intervals and calibration are left out where counts are not `is_small`.
    """
    slices = Slices(context)
    for name, counted in parts_of_counts(segments, slices):
        counts = counted()
        slices.add("segment", name, counts, detailed=is_small(counts))
    return slices


def parts_of_counts(
    by_model: Mapping[str, SegmentedCounts], slices: Slices
) -> Iterator[tuple[str, Callable[[], dict[str, CumulativeCounts]]]]:
    """Yield each shown segment with both classes, and a function that makes its counts by model; all others pooled."""

    def own(name: Any) -> dict[str, CumulativeCounts]:
        return {model: each[name] for model, each in by_model.items()}

    first = next(iter(by_model.values()))
    shown = _largest(first.n, slices)
    for i, name in zip(shown.tolist(), listed(first.names[shown]), strict=True):
        if slices.shows("segment", name, first.n_pos[i].item(), first.n_neg[i].item()):
            yield str(name), partial(own, name)
    if shown.size < len(first):
        rest = np.isin(np.arange(len(first)), shown, invert=True)
        name = _others(int(rest.sum()))
        if slices.shows("segment", name, first.n_pos[rest].sum().item(), first.n_neg[rest].sum().item()):
            yield name, lambda: {model: each.select(rest).pooled() for model, each in by_model.items()}


def parts_of(predictions: Predictions, slices: Slices) -> Iterator[tuple[str, str, Array]]:
    """Yield kind, name and row mask of each segment and fold; `slices` records what is left out.

    Of many segments the largest come, and all others as one.
    """
    if predictions.segment is not None:
        yield from (("segment", *found) for found in _segments(predictions, slices))
    if predictions.fold is None:
        return
    if (folds := _values(predictions.fold)) > MOST_FOLDS:
        slices.say(f"More than {MOST_FOLDS} folds are not shown apart", f"{folds} folds")
        return
    yield from (("fold", str(name), mask) for name, mask in masks_of("fold", predictions.fold).items())


def require_segments(predictions: Predictions, subject: str = "segment") -> None:
    """Raise if a column of segments identifies single cases; messages call it `subject`.

    Raises
    ------
    InputError
        If it has more than 1,000 values.
    """
    if predictions.segment is not None and (found := _values(predictions.segment)) > MOST_PARTS:
        hint = "measures of very many segments: Predictions.counts(by='segment')"
        raise InputError(subject, expected=f"at most {MOST_PARTS:,} segments", got=f"{found:,}", hint=hint)


def _values(column: Array) -> int:
    return len(set(column.tolist())) if column.dtype.kind in "OUS" else np.unique(column).size


def _segments(predictions: Predictions, slices: Slices) -> Iterator[tuple[str, Array]]:
    """Yield the shown segments, and the pooled rows of all others."""
    names, code = numbered("segment", predictions.segment)
    shown = _largest(np.bincount(code, predictions.sample_weight), slices)
    for i in shown.tolist():
        yield str(listed(names)[i]), code == i
    if shown.size < names.size:
        yield _others(names.size - shown.size), np.isin(code, shown, invert=True)


def _largest(sizes: Array, slices: Slices) -> Array:
    """Return the indices of the segments with the largest weights, in their order."""
    if sizes.size <= MOST_SEGMENTS:
        return np.arange(sizes.size)
    shown = np.sort(np.argsort(-sizes, kind="stable")[: MOST_SEGMENTS - 1])
    others = f"{sizes.size - shown.size:,} others"
    slices.say(f"The {shown.size} largest segments are shown apart, all others as one", others)
    return shown


def _others(number: int) -> str:
    return f"others ({number:,} segments)"


def small_cells(slices: Sequence[Slice]) -> list[str]:
    """Warn where rates are based on few cases, or where points may identify single rows.

    Examples
    --------
    >>> from rocscope.core.context import Context
    >>> slices = by_rows(Predictions([1, 0, 1, 0], [4, 3, 2, 1], segment=["x", "x", "y", "y"]), Context())
    >>> small_cells(slices.made)[0]
    'Rates are uncertain, with fewer than 10 cases of a class: segment x (1 negative), segment y (1 negative).'
    """
    fewest = {part.where: min((n, word) for word, n in _classes(part.models[0])) for part in slices}
    few = [f"{where} ({n:g} {word}{'' if n == 1 else 's'})" for where, (n, word) in fewest.items() if n < SMALL]
    bare = [part.where for part in slices if any(_shows_rows(model) for model in part.models)]
    if bare and slices[0].kind == "all" and slices[0].where in bare:
        bare = bare[:1]
    said = []
    if few:
        said.append(f"Rates are uncertain, with fewer than {SMALL} cases of a class: {_listed(few)}.")
    if bare:
        said.append(
            f"Scores of single rows can be read from this file, as most points lie fewer than {SMALL} cases apart: "
            f"{_listed(bare)}."
        )
    return said


def _shows_rows(model: ModelSummary) -> bool:
    depth = np.add(model.points.tp, model.points.fp)
    return bool(np.median(np.diff(depth)) < SMALL)


def _listed(names: Sequence[str]) -> str:
    return check.listing(names, _MOST_NAMED, shown=str)


MOST_ROWS = 200_000
"""With more rows than this, bootstrap intervals are omitted: they would dominate the time and be very narrow."""
_REPLICATES = 200  # of the decision, whose interval is drawn as a bar
_MARGIN = 4  # per cent of a bar's width, beside its ends
_FEWER = "no interval beyond 200,000 rows; rocscope.choose(…).interval() has it"


class Bar(NamedTuple):
    """A table row with a bar: label, value, and the bar's start and end on the table's scale, in percent."""

    what: str
    says: str
    low: float
    high: float
    at: float | None = None


class Bars(NamedTuple):
    """Bars on a common scale."""

    heading: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class DecisionFacts(Result):
    """Facts about a decision besides its counts.

    Attributes
    ----------
    interval : ChosenEstimate or None
    missing : str
        Why there is no interval.
    reviewed : Decision or None
        The same with a closer look at some cases, where one was offered.
    """

    interval: ChosenEstimate | None
    missing: str
    reviewed: Decision | None

    def tables(self, decision: Decision) -> list[Bars]:
        """Return the tables of the card."""
        return [*self._costs(decision), *self._chances(), self._zones(self.reviewed or decision)]

    def captions(self, decision: Decision) -> list[str]:
        """Return the captions of the tables."""
        said = ["At the costs and prevalence that the report was created with, on all rows."]
        if self.interval is None:
            said.append(f"There is {self.missing}.")
        else:
            said += [f"{what[0].upper()}{what[1:]}: {fact}." for what, fact in self.interval.doubts.items()]
        if self.reviewed and self.reviewed.review:
            costs = f"{self.reviewed.expected_cost:.4g} per case in place of {decision.expected_cost:.4g}"
            said.append(f"With a closer look at {self.reviewed.review.review.cost:g} a case: {costs}.")
        elif self.reviewed:
            said += [f"{note[0].upper()}{note[1:]}." for note in self.reviewed.notes]
        return said

    def _costs(self, decision: Decision) -> Iterable[Bars]:
        if self.interval is None:
            return
        told, value = self.interval, decision.expected_cost
        others = {"nobody positive": decision.treat_none_cost, "everybody positive": decision.treat_all_cost}
        ends = (told.low, told.high, value, min(others.values()))
        low, high = min(ends), max(ends)
        shown = {"on the rows it was chosen on": value} | {n: cost for n, cost in others.items() if cost <= high}

        def place(cost: float) -> float:
            return _MARGIN + (100 - 2 * _MARGIN) * (cost - low) / (high - low or 1.0)

        middle, *between = told.rounded
        first = Bar(
            f"on new cases, {100 * told.level:g}% interval",
            f"{middle} [{', '.join(between)}]",
            *map(place, (told.low, told.high, told.value)),
        )
        rest = (Bar(name, f"{cost:.4g}", place(cost), place(cost), place(cost)) for name, cost in shown.items())
        yield Bars("Expected cost per case", (first, *rest))

    def _chances(self) -> Iterable[Bars]:
        if self.interval is not None:
            several = self.interval.models if len(self.interval.models) > 1 else {}
            chances = {f"{model} is the best": share for model, share in several.items()}
            chances["acting pays"] = self.interval.acting
            yield Bars(
                "Probability that",
                tuple(Bar(what, chance(p).replace(" %", "%"), 0, 100 * p) for what, p in chances.items()),
            )

    @staticmethod
    def _zones(decision: Decision) -> Bars:
        """Return the ranges of scores that are acted on, reviewed and left, from the highest down."""
        acted = 100 * decision.point.at_prevalence(decision.prevalence).depth
        review = decision.review
        looked = acted if review is None else 100 * review.point.at_prevalence(decision.prevalence).depth
        reach = [("act", acted, decision.lot.shares if decision.lot else _from(decision.threshold))]
        if review is not None:
            rule = review.rule
            reach.append(("look closer", looked, rule.shares if rule.randomized else _from(review.threshold)))
        if looked < 100:
            reach.append(("leave", 100.0, "all others" if acted else "everybody"))
        bars, start = [], 0.0
        for action, end, whom in reach:
            bars.append(Bar(f"{action}: {whom}", f"{end - start:.1f}%", start, end))
            start = end
        return Bars("Share of cases to", tuple(bars))


def decision_facts(predictions: Models, decision: Decision, review: Review | None, *, sure: bool) -> DecisionFacts:
    """Return the content of a decision's card; the bootstrap may be left out."""
    reviewed = None if review is None else choose(predictions, decision.context, review=review)
    rows = samples_of(predictions).rows
    if not sure or (rows is not None and len(rows) > MOST_ROWS):
        return DecisionFacts(None, _FEWER, reviewed)
    try:
        return DecisionFacts(decision.interval(replicates=_REPLICATES, progress=False), "", reviewed)
    except InputError as error:
        return DecisionFacts(None, f"no interval: {error}", reviewed)


def _from(threshold: float) -> str:
    if math.isinf(threshold):
        return "nobody" if threshold > 0 else "everybody"
    return f"score ≥ {threshold:.6g}"


SCHEMA_VERSION = 3

CONVENTIONS = (
    "A case is predicted positive if its score is at least the threshold.",
    "Equal scores form one level: curves cross a tie diagonally, and a tied pair counts one half in the AUC.",
    "Rates with a denominator of 0 are undefined, not 0 or 1.",
    "Of equally good thresholds, the one with the fewest positive predictions is chosen, then the first model.",
    "Confidence intervals and bands have a level of 95%. The band of a ROC curve is Wilson's interval of the true "
    "positive rate at each threshold; the band of LOESS is a parametric bootstrap.",
    "Calibration bins include their lower edge, the last bin also its upper edge. Each point is at the mean score of "
    "its bin.",
)


@dataclass(frozen=True)
class ReportData(Result):
    """All content of a report.

    Attributes
    ----------
    models : list of ModelSummary
    decision : Decision
        The best model and threshold in the context.
    decided : DecisionFacts or None
        Its uncertainty, and the same with a closer look at some cases.
    provenance : dict
        Version, sizes, a hash of the ranked counts, and what was dropped while reading.
    slices : list of Slice
        The same models on each segment and fold.
    comparisons : list of dict
        Difference in AUC of each two models, with its interval and p-value.
    summary : Summary or None
        Every measure of a validation with its interval, on all rows; None where there is no time for it.
    warnings : list of str
        Where numbers rest on few cases, or show single ones.
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
        """The recommended model and threshold, as text."""
        decision, notes = self.decision, "".join(f" {note[0].upper()}{note[1:]}." for note in self.decision.notes)
        points = decision.point, decision.default_point
        accuracy, default = (point.at_prevalence(decision.prevalence).accuracy for point in points)
        at_half = {model.name: model.at_half for model in self.models}[decision.model]
        beside = "" if at_half is None else f" ({default:.2%} at 0.5)"
        where = f"threshold {decision.threshold:.6g}"
        use = f"predict {decision.trivial} ({where})" if decision.trivial else f"{decision.model} at {where}"
        return (
            f"Best: {use}, expected cost {decision.expected_cost:.4g} per case, accuracy {accuracy:.2%}{beside}.{notes}"
        )

    @property
    def hints(self) -> list[str]:
        """Explanations of areas below 1/2."""
        return [model.hint for model in self.models if model.hint]

    @property
    def validation(self) -> dict[str, list[dict[str, str]]]:
        """Tables of the summary by domain: a row per measure, a column per model."""
        if self.summary is None:
            return {}
        return {domain.capitalize(): lines for domain in DOMAINS if (lines := self.summary.sheet(domain))}

    @property
    def views(self) -> list[Slice]:
        """All views of the page, the initial one first."""
        return [Slice("all", "all rows", self.models, self.comparisons), *self.slices]


MOST_DETAILED = 1_000_000  # a choice: the time that intervals and calibration take grows with it
LEFT_OUT = f"Intervals, comparisons and calibration are left out beyond {MOST_DETAILED:,} rows or distinct scores."
NOT_COMPARED = "Models are not compared in pairs: that takes their scores row by row, and only counts were read."


_MOST_IN_TITLE = 4  # models: a choice, about a line


def title_of(models: Sequence[str]) -> str:
    """Return the names of some models as a title, and how many more there are.

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
) -> ReportData:
    """Summarise each model, and the choice between them.

    Parameters
    ----------
    predictions : data of one or several models
        Predictions, labels and scores, or a mapping of counts or points by model name; see `rocscope.sample`. Also
        SegmentedCounts, or a mapping of them by model: all rows together, and the segments, of many the
        largest and all others as one.
    context : Context, optional
    title, notes : str
    detailed : bool, optional
        Whether to add intervals, comparisons, calibration, slices and the hash, which take most of the time where
        there are millions of rows. By default not for counts of more than a million distinct scores.
    by : {"segment", "fold"}, optional
        Whether the summary shows each part by itself too.
    review : Review, optional
        A third action that is offered beside acting and leaving, to among as many cases as there are rows.
    threshold : see `rocscope.summary`
        Of classification and utility in the summary.

    Raises
    ------
    OneClassError
        If the rows hold one class only.
    InputError
        If there are more than 1,000 segments.

    Examples
    --------
    >>> from rocscope import Predictions
    >>> data = report_data(Predictions([1, 1, 0, 1, 0], [0.9, 0.6, 0.4, 0.4, 0.2]))
    >>> data.models[0].auc["half"], data.decision.threshold
    (0.9166666666666666, 0.6)
    """
    asked, context = context, Context.given(context)
    given, segments = predictions, counted_by_segment(predictions)
    if segments:
        predictions = {model: each.pooled() for model, each in segments.items()}
    data = samples_of(predictions, name="predictions")
    if data.rows is not None:
        require_segments(data.rows)
    counts = data.counts()
    for name, levels in counts.items():
        levels.require_both_classes(name)
    ranked: Any = data  # once for all
    decision = choose(ranked, context)
    own = {
        name: sample.rows.point() if sample.rows and sample.rows.decisions else None for name, sample in data.items()
    }
    title = title or title_of(list(counts))
    detailed = (data.rows is not None or is_small(counts)) if detailed is None else detailed
    slices = by_counts(segments, context, is_small) if segments else Slices(context)
    if not detailed:
        figures = [summarise(n, each, context, calibrated=False, decided=own[n]) for n, each in counts.items()]
        provenance = _sizes(counts) | source_of(given)
        found = decision_facts(predictions, decision, review, sure=False)
        report = ReportData(title, context, figures, decision, provenance, slices.made, notes=notes, decided=found)
        return replace(report, warnings=[*report.hints, LEFT_OUT, *slices.warnings, *small_cells(slices.made)])
    refuse_repeats(predictions, "report")
    sure = area_estimates(data)
    parts = segments if by else {}
    whole = summarised(data, asked, parts, by=by, threshold=threshold, areas=sure.estimates)
    at_sample = context.target_prevalence is None  # as the plot is
    models = []
    for name, levels in counts.items():
        numbers = {measure: whole[name][measure].value for measure in PLOTTED_NUMBERS} if at_sample else None
        interval = sure.intervals.get(name)
        models.append(summarise(name, levels, context, interval=interval, numbers=numbers, decided=own[name]))
    slices = slices if data.rows is None else by_rows(data.rows, context)
    provenance = _sizes(counts) | {"hash": fingerprint(counts)} | source_of(given)
    made = (slices.made, sure.comparisons)
    found = decision_facts(predictions, decision, review, sure=True)
    report = ReportData(title, context, models, decision, provenance, *made, notes=notes, summary=whole, decided=found)
    unpaired = [NOT_COMPARED] if isinstance(given, CountedModels) and len(counts) > 1 else []
    return replace(
        report, warnings=[*report.hints, *sure.warnings, *unpaired, *slices.warnings, *small_cells(report.views)]
    )


def is_small(models: Models) -> bool:
    """Whether intervals and calibration are fast enough to wait for: up to a million rows, or distinct scores."""
    data = samples_of(models)
    return all(len(counts) <= MOST_DETAILED for counts in ([data.rows] if data.rows else data.points().values()))


def _sizes(counts: Mapping[str, ThresholdCounts]) -> dict[str, Any]:
    first = next(iter(counts.values()))
    return {"rocscope": __version__, "rows": first.n, "positives": first.n_pos, "negatives": first.n_neg}


def source_of(predictions: Any) -> dict[str, Any]:
    """Return the source of the rows and the number dropped, if known."""
    source = getattr(predictions, "source", None)
    return {} if source is None else {"source": source.name, "rows_dropped": source.rows_dropped}


def fingerprint(counts: Mapping[str, ThresholdCounts]) -> str:
    """Return a hash of the ranked counts, which identifies the data."""
    digest = hashlib.sha256()
    for name, levels in counts.items():
        digest.update(name.encode())
        for column in (levels.threshold, levels.pos, levels.neg):
            digest.update(str(column.dtype).encode())
            digest.update(column.tobytes())
    return digest.hexdigest()[:16]
