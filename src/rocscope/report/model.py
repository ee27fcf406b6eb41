"""ReportData: everything that a summary or a report shows, as plain data.

Aggregates only: no value of a row leaves this package. Renderers (tables, HTML, JSON) compute nothing.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rocscope import __version__
from rocscope.core.context import Context
from rocscope.core.counts import ThresholdCounts
from rocscope.core.result import Result
from rocscope.core.rows import CountedModels
from rocscope.curves.campaign import Campaign
from rocscope.decisions.choosing import Decision, choose
from rocscope.decisions.randomized.review import Review
from rocscope.evaluation.summarising import By, by_group, summary
from rocscope.evaluation.summary_table import DOMAINS, Summary
from rocscope.report.decided import Decided, decided
from rocscope.report.slices import Slice, Slices, by_groups, by_rows, require_segments, small_cells
from rocscope.report.summary import ModelSummary, certainty, summarise
from rocscope.sample import Models, samples_of

SCHEMA_VERSION = 3

CONVENTIONS = (
    "A case is predicted positive iff its score is at least the threshold.",
    "Equal scores are one level: curves run diagonally through a tie, and a tied pair counts half in the AUC.",
    "Rates with nothing to divide by (0/0) are undefined, not 0 or 1.",
    "Of equally good thresholds the one with fewest positive predictions is taken, then the model given first.",
    "Intervals and bands hold at 95%. The band of a ROC curve is Wilson's interval of the true positive rate at each "
    "threshold; that of LOESS is drawn again from the curve itself.",
    "Calibration bins are closed on the left, the last one on both sides; a point stands at the mean score of its bin.",
)


@dataclass(frozen=True)
class ReportData(Result):
    """All that a report shows.

    Attributes
    ----------
    models : list of ModelSummary
    decision : Decision
        The best model and threshold in the context.
    decided : Decided or None
        How sure that is, and the same with a closer look at some cases.
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
    decided: Decided | None = None
    conventions: tuple[str, ...] = CONVENTIONS
    schema_version: int = field(default=SCHEMA_VERSION)

    @property
    def verdict(self) -> str:
        """Which model to use and where to cut, in words."""
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
        """What areas below 1/2 may mean."""
        return [model.hint for model in self.models if model.hint]

    @property
    def validation(self) -> dict[str, list[dict[str, str]]]:
        """Tables of the summary by domain: a line for each measure, a column for each model."""
        if self.summary is None:
            return {}
        return {domain.capitalize(): lines for domain in DOMAINS if (lines := self.summary.sheet(domain))}

    @property
    def views(self) -> list[Slice]:
        """All that the page can be turned to, what it shows first at the front."""
        return [Slice("all", "all rows", self.models, self.comparisons), *self.slices]


MOST_DETAILED = 1_000_000
LEFT_OUT = f"Intervals, comparisons and calibration are left out beyond {MOST_DETAILED:,} rows or distinct scores."
NOT_COMPARED = "Models are not compared in pairs: that takes their scores row by row, and only counts were read."


def report_data(
    predictions: Models,
    *,
    context: Context | Campaign | None = None,
    title: str = "",
    notes: str = "",
    detailed: bool | None = None,
    by: By | None = None,
    review: Review | None = None,
) -> ReportData:
    """Summarise each model and the decision between them.

    Parameters
    ----------
    predictions : data of one or several models
        In any form; see `rocscope.sample`. Also SegmentedCounts, or a mapping of them by model: all rows together, and
        the groups as segments, of many the largest and all others as one.
    context : Context, optional
    title, notes : str
    detailed : bool, optional
        Whether to add intervals, comparisons, calibration, slices and the hash, which take most of the time where
        there are millions of rows. By default not for counts of more than a million distinct scores.
    by : {"segment", "fold"}, optional
        Whether the summary shows each part by itself too.
    review : Review, optional
        A third action that is offered beside acting and leaving, to among as many cases as there are rows.

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
    context = Context.given(context)
    given, grouped = predictions, by_group(predictions)
    if grouped:
        predictions = {model: groups.pooled() for model, groups in grouped.items()}
    data = samples_of(predictions, name="predictions")
    if data.rows is not None:
        require_segments(data.rows)
    counts = data.counts()
    for name, levels in counts.items():
        levels.require_both_classes(name)
    decision = choose(predictions, context)
    own = {
        name: sample.rows.point() if sample.rows and sample.rows.decisions else None for name, sample in data.items()
    }
    title = title or " · ".join(counts)
    detailed = (data.rows is not None or is_small(counts)) if detailed is None else detailed
    slices = by_groups(grouped, context, is_small) if grouped else Slices(context)
    if not detailed:
        figures = [summarise(n, each, context, calibrated=False, decided=own[n]) for n, each in counts.items()]
        provenance = _sizes(counts) | source_of(given)
        found = decided(predictions, decision, review, sure=False)
        report = ReportData(title, context, figures, decision, provenance, slices.made, notes=notes, decided=found)
        return replace(report, warnings=[*report.hints, LEFT_OUT, *slices.warnings, *small_cells(slices.made)])
    sure = certainty(data)
    models = [
        summarise(name, levels, context, interval=sure.intervals.get(name), decided=own[name])
        for name, levels in counts.items()
    ]
    slices = slices if data.rows is None else by_rows(data.rows, context)
    provenance = _sizes(counts) | {"hash": fingerprint(counts)} | source_of(given)
    whole = summary(given if by else predictions, context, by=by)
    made = (slices.made, sure.comparisons)
    found = decided(predictions, decision, review, sure=True)
    report = ReportData(title, context, models, decision, provenance, *made, notes=notes, summary=whole, decided=found)
    unpaired = [NOT_COMPARED] if isinstance(given, CountedModels) and len(counts) > 1 else []
    return replace(
        report, warnings=[*report.hints, *sure.warnings, *unpaired, *slices.warnings, *small_cells(report.views)]
    )


def is_small(models: Models) -> bool:
    """Whether intervals and calibration take no longer than anyone waits: up to a million rows, or distinct scores."""
    data = samples_of(models)
    return all(len(counts) <= MOST_DETAILED for counts in ([data.rows] if data.rows else data.points().values()))


def _sizes(counts: Mapping[str, ThresholdCounts]) -> dict[str, Any]:
    first = next(iter(counts.values()))
    return {"rocscope": __version__, "rows": first.n, "positives": first.n_pos, "negatives": first.n_neg}


def source_of(predictions: Any) -> dict[str, Any]:
    """Return where the rows came from and how many were left out on the way, if that is known."""
    source = getattr(predictions, "source", None)
    return {} if source is None else {"source": source.name, "rows_dropped": source.rows_dropped}


def fingerprint(counts: Mapping[str, ThresholdCounts]) -> str:
    """Return a hash of the ranked counts: the same for the same data, another for any other."""
    digest = hashlib.sha256()
    for name, levels in counts.items():
        digest.update(name.encode())
        for column in (levels.threshold, levels.pos, levels.neg):
            digest.update(str(column.dtype).encode())
            digest.update(column.tobytes())
    return digest.hexdigest()[:16]
