"""ReportData: everything that a summary or a report shows, as plain data."""

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from rocscope import __version__
from rocscope._base.formatting import chance
from rocscope.calibration.report import PLOTTED_NUMBERS
from rocscope.core.context import Context
from rocscope.core.counts import ThresholdCounts
from rocscope.core.result import Result
from rocscope.core.rows import CountedModels, refuse_repeats
from rocscope.curves.profit_curve import Campaign
from rocscope.decisions.choosing import Decision, choose
from rocscope.decisions.generalization.chosen_estimate import ChosenEstimate
from rocscope.decisions.randomized.review import Review
from rocscope.errors import InputError
from rocscope.evaluation.summarising import By, summarised
from rocscope.evaluation.summary_table import DOMAINS, Summary
from rocscope.inference.error_rates import Thresholds
from rocscope.report.slices import Slice, Slices, by_counts, by_rows, require_segments, small_cells
from rocscope.report.summary import ModelSummary, area_estimates, summarise
from rocscope.sample import Models, samples_of
from rocscope.segments.data import counted_by_segment

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
