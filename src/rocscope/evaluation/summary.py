"""Summarise a validation: all performance measures of each model with intervals, notes, and a methods paragraph.

`summary` follows the STRATOS guidance (Van Calster et al. 2025), which names five domains of performance:
discrimination, calibration, overall performance, classification and clinical utility. `MEASURES` lists the measures of
each domain. The result also lists the items of the TRIPOD+AI checklist (Collins et al. 2024) that it answers.

Classification and utility need a threshold. The threshold is given, implied by the costs, or the cheapest one on the
same rows (then both domains are optimistic). A model's own decisions can replace it. A note records the source.

Order of the file: the measures; rows and tables of the result; the methods paragraph; all measures of one model on some
rows (`measure`); `summary`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import floor, isfinite, isnan, log10, nan
from typing import Any, Literal, NamedTuple

import numpy as np

from rocscope import __version__
from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope._base.formatting import threshold_text
from rocscope.calibration.intervals import ONE_CLASS, ClosedForms
from rocscope.calibration.outcomes import Evidence, Shift, are_probabilities, evidence
from rocscope.calibration.scores import distance_estimates, miscalibration_cost_at
from rocscope.core import Campaign, Context, Predictions, Result, ThresholdCounts, html_table, number, require_kinds
from rocscope.curves.rate_curves import auc
from rocscope.decisions.choosing import choose
from rocscope.decisions.constraints import predict
from rocscope.errors import ColumnError, InputError, OneClassError, WeightError, heard
from rocscope.evaluation.averaging import mean
from rocscope.figures import registry
from rocscope.inference import Estimate, auc_interval, estimate_of, rate_intervals
from rocscope.inference.proportions import Thresholds, normal_quantile
from rocscope.sample import Labels, Models, Sample, Samples, Scores, sample_of, samples_of, with_context
from rocscope.segments.by_segment import counted_by_segment
from rocscope.segments.segmented_counts import SegmentedCounts


class SummaryMeasure(NamedTuple):
    """A measure of the summary: heading, domain, and ideal value."""

    heading: str
    domain: str
    ideal: float | None = None


_MEASURES = {
    "discrimination": "auc",
    "calibration": "observed_over_expected in_the_large intercept slope ici e50 e90 ece",
    "overall": "brier scaled_brier brier_miscalibration log_loss",
    "classification": "tpr tnr precision npv accuracy",
    "utility": "net_benefit treat_all treat_none expected_cost miscalibration_cost",
}
_REFERENCES = {"treat_all": "net benefit, treat all", "treat_none": "net benefit, treat none"}
_NET_BENEFITS = ("net_benefit", *_REFERENCES)
DOMAINS = tuple(_MEASURES)
"""The five domains of the STRATOS guidance (Van Calster et al. 2025)."""


def _measures() -> dict[str, SummaryMeasure]:
    measures = {}
    for domain, names in _MEASURES.items():
        for name in names.split():
            figure = registry.known(name)
            if figure is None:
                measures[name] = SummaryMeasure(_REFERENCES[name], domain)
            else:
                measures[name] = SummaryMeasure(figure.title, domain, figure.ideal)
    return measures


MEASURES = _measures()
"""All measures of a summary, in display order."""

NEEDS_PROBABILITIES = tuple(
    name
    for name, measure in MEASURES.items()
    if measure.domain in ("calibration", "overall") or name in (*_NET_BENEFITS, "miscalibration_cost")
)

ThresholdSource = Literal["given", "costs", "cheapest", "decisions"]
"""Sources of a threshold: a given number or the costs, both fixed beforehand; the cheapest on the rows; or the model's
own decisions."""

TRIPOD = {
    "12d": "heterogeneity of performance: how it was handled and quantified",
    "12e": "all measures used to evaluate performance (discrimination, calibration, clinical utility)",
    "14": "fairness: performance in each group that matters",
    "15": "output of the model, and how the classification threshold was chosen",
    "21": "number of participants and of outcome events in each analysis",
    "23a": "performance with confidence intervals, in key subgroups too",
    "23b": "heterogeneity of performance across clusters",
}
"""Items of TRIPOD+AI (Collins et al. 2024) that a summary can answer; all others need the authors."""

REFERENCES = (
    "Van Calster et al. 2025, Lancet Digital Health, performance measures in predictive AI (STRATOS)",
    "Collins et al. 2024, BMJ 385:e078378 (TRIPOD+AI)",
)


_ZERO = 1e-12  # numbers below this are rounding errors of 0


def _estimate_named(estimates: dict[str, Estimate], name: str) -> Estimate:
    """Return the estimate of a measure by its name or a synonym."""
    if name in estimates:
        return estimates[name]
    figure = registry.known(str(name))
    for measure_name, estimate in estimates.items():
        if figure is not None and registry.known(measure_name) is figure:
            return estimate
    raise ColumnError("measure", expected=check.one_of(str(name), list(estimates)), got=repr(name))


@dataclass(frozen=True, eq=False, repr=False)
class SummaryRow(Result):
    """Results of one model on all rows, or on one segment or fold.

    Attributes
    ----------
    model : str
    part : str
        The segment or fold; "all" for all rows.
    n, n_pos : float
    threshold : float
        Threshold of classification and utility; NaN if they use the model's own decisions.
    estimates : dict from the name of a measure to Estimate
    notes : tuple of str
    threshold_source : {"given", "costs", "cheapest", "decisions"}
        Source of the threshold. "given" and "costs" were fixed beforehand, "cheapest" was chosen on all rows of the
        summary, "decisions" are the model's own.
    """

    model: str
    part: str
    n: float
    n_pos: float
    threshold: float
    estimates: dict[str, Estimate]
    notes: tuple[str, ...] = ()
    threshold_source: ThresholdSource = "cheapest"

    def __getitem__(self, name: str) -> Estimate:
        return _estimate_named(self.estimates, name)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={self[name].value:.4g}" for name in ("auc", "slope", "ici", "brier"))
        return f"SummaryRow({self.model}, {self.part}: {shown}, n={number(self.n)})"


@dataclass(frozen=True, eq=False, repr=False)
class FoldsRow(Result):
    """Results of one model averaged over folds with equal weight.

    Attributes
    ----------
    model : str
    folds : int
    estimates : dict from the name of a measure to Estimate
        Mean over the folds with a value, with Student's t interval; n is the number of these folds.
    deviations : dict from the name of a measure to float
        Standard deviation over these folds.
    fit_seconds, predict_seconds : float
        Mean over folds; NaN if the predictions do not contain times. Omitted from `to_dict`, because times differ
        between runs.
    """

    _content = ("model", "folds", "estimates", "deviations")

    model: str
    folds: int
    estimates: dict[str, Estimate]
    deviations: dict[str, float]
    fit_seconds: float = nan
    predict_seconds: float = nan

    @classmethod
    def of(cls, rows: Sequence[SummaryRow], level: float, seconds: Sequence[tuple[float, float]] = ()) -> "FoldsRow":
        """Return the means of one model's measures over folds."""
        method = "Student t across folds, shared training rows not counted"
        estimates, deviations = {}, {}
        for name in MEASURES:
            values = np.array([row[name].value for row in rows])
            known = values[~np.isnan(values)]
            with np.errstate(invalid="ignore"):  # a log loss may be infinite
                average = mean(values[:, None], level)
                deviations[name] = float(known.std(ddof=1)) if known.size > 1 else nan
            value, low, high = average.value.item(), average.low.item(), average.high.item()
            estimates[name] = Estimate(value, low, high, level, method, known.size)
        fit_seconds, predict_seconds = np.mean(seconds, axis=0).tolist() if seconds else (nan, nan)
        return cls(rows[0].model, len(rows), estimates, deviations, fit_seconds, predict_seconds)

    def __getitem__(self, name: str) -> Estimate:
        return _estimate_named(self.estimates, name)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={self[name].value:.4g} ± {self.deviations[name]:.2g}" for name in ("auc", "brier"))
        return f"FoldsRow({self.model}: {shown}, {self.folds} folds)"

    def line(self, names: Sequence[str]) -> dict[str, str]:
        """Return a line of text with the mean, standard deviation and interval of each measure, and the seconds."""
        line = {"model": self.model, "folds": str(self.folds)}
        for name in names:
            if not isnan(self[name].value):
                line[MEASURES[name].heading] = f"{cell(self[name])}, sd {_plain(self.deviations[name])}"
        if not isnan(self.fit_seconds):
            line["fit, s"] = _plain(self.fit_seconds)
        if not isnan(self.predict_seconds):
            line["predict, s"] = _plain(self.predict_seconds)
        return line


@dataclass(frozen=True, eq=False, repr=False)
class Summary(Result, Sequence[SummaryRow]):
    """The results of a validation: one row for each model and part.

    A sequence of `SummaryRow`, also indexed by model, or by model and part.

    Attributes
    ----------
    rows : tuple of SummaryRow
    context : Context
    by : {"segment", "fold"} or None
    level : float
    methods : str
        Paragraph for the methods section of a paper, with the methods used and the version of rocscope.
    over_folds : tuple of FoldsRow
        With ``by="fold"``: mean, standard deviation and interval of each model over folds, and the seconds.
    costs_given : bool
        True if `context` was passed; otherwise both kinds of error have the same cost.
    tripod : dict from an item of TRIPOD+AI to bool
        True if the summary answers the item.
    """

    _content = ("rows", "context", "by", "level", "methods", "over_folds", "tripod")

    rows: tuple[SummaryRow, ...]
    context: Context
    by: str | None
    level: float
    methods: str
    over_folds: tuple[FoldsRow, ...] = ()
    costs_given: bool = True

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, int | slice):
            return self.rows[key]
        model, part = key if isinstance(key, tuple) else (key, "all")
        for row in self.rows:
            if (row.model, row.part) == (model, str(part)):
                return row
        expected = check.one_of(f"{model}, {part}", [_row_name(row) for row in self.rows])
        raise ColumnError("model and part", expected=expected, got=repr(key))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[SummaryRow]:
        return iter(self.rows)

    @property
    def models(self) -> list[str]:
        """Names of the models, in the order given."""
        return list(dict.fromkeys(row.model for row in self.rows))

    @property
    def tripod(self) -> dict[str, bool]:
        """Items of TRIPOD+AI for a validation; True if this summary answers the item.

        Items 12d and 23b are never answered, because they require a quantified heterogeneity between clusters. Item 15
        is answered if the threshold follows from given costs. Authors must explain any other threshold. Item 21
        needs the number of participants, which weights do not give. Item 23a also needs intervals in segments.
        """
        by_segment = self.by == "segment"
        return dict.fromkeys(TRIPOD, False) | {
            "12e": True,
            "14": by_segment,
            "15": self.costs_given and all(row.threshold_source in ("costs", "cheapest") for row in self.rows),
            "21": all(isinstance(row.n, int) for row in self.rows),
            "23a": by_segment and not any(isnan(row["auc"].low) for row in self.rows),
        }

    @property
    def checklist(self) -> str:
        """The items of `tripod` as text, one line per item."""
        ticks = self.tripod.items()
        return "\n".join(f"[{'x' if done else ' '}] {item} {TRIPOD[item]}" for item, done in ticks)

    def table(self, domain: str | None = None) -> list[dict[str, str]]:
        """Return one line of text per row, with values and intervals of the measures of a domain.

        Parameters
        ----------
        domain : {"discrimination", "calibration", "overall", "classification", "utility"}, optional
            By default the measures of all domains.
        """
        names = _measures_of(domain)
        lines = []
        for row in self.rows:
            line = {"model": row.model}
            if self.by is not None:
                line[self.by] = row.part
            line |= {"n": number(row.n), "events": number(row.n_pos)}
            line |= {MEASURES[name].heading: cell(row[name]) for name in names}
            lines.append(line)
        return lines

    def fold_table(self, domain: str | None = None) -> list[dict[str, str]]:
        """Return one line of text per model: mean, interval and standard deviation over folds, and seconds.

        Parameters
        ----------
        domain : see `table`

        Raises
        ------
        InputError
            If the summary is not by fold.
        """
        if self.by != "fold":
            hint = "rs.summary(predictions, by='fold')"
            raise InputError("fold_table", expected="a summary by fold", got=f"by={self.by!r}", hint=hint)
        names = _measures_of(domain)
        return [row.line(names) for row in self.over_folds]

    def sheet(self, domain: str) -> list[dict[str, str]]:
        """Return one line of text per defined measure of a domain, with one cell per row of the summary."""
        lines = []
        for name in _measures_of(domain):
            if not all(isnan(row[name].value) for row in self.rows):
                cells = {_row_name(row): cell(row[name]) for row in self.rows}
                lines.append({domain: MEASURES[name].heading} | cells)
        return lines

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame with one row per model, part and measure: value, low, high, method.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}

        Examples
        --------
        >>> from rocscope import ThresholdCounts
        >>> frame = summary(ThresholdCounts([0.8, 0.2], [3, 1], [1, 3])).to_frame()
        >>> list(frame.columns)
        ['model', 'part', 'domain', 'measure', 'value', 'low', 'high', 'method']
        """
        cells = [(row, name) for row in self.rows for name in MEASURES]
        columns: dict[str, Any] = {
            "model": [row.model for row, _ in cells],
            "part": [row.part for row, _ in cells],
            "domain": [MEASURES[name].domain for _, name in cells],
            "measure": [name for _, name in cells],
        }
        for field in ("value", "low", "high", "method"):
            columns[field] = [getattr(row[name], field) for row, name in cells]
        return check.frame_of(columns, backend)

    def metrics(self) -> dict[str, float]:
        """Return all values and interval limits as one flat mapping, for experiment trackers.

        Returns
        -------
        dict from name to float
            ``auc``, ``auc_low``, ``auc_high`` and so on. With several models or parts, the names have prefixes:
            ``model/auc``, ``model/part/auc``. Undefined numbers are omitted, because trackers reject them.

        Examples
        --------
        >>> from rocscope import summary
        >>> metrics = summary([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).metrics()
        >>> metrics["auc"], metrics["auc_low"] < 0.75 < metrics["auc_high"]
        (0.75, True)
        """
        numbers: dict[str, float] = {}
        for row in self.rows:
            labels = [row.model] * (len(self.models) > 1) + [row.part] * (self.by is not None)
            for name in MEASURES:
                ends = {"": row[name].value, "_low": row[name].low, "_high": row[name].high}
                for suffix, value in ends.items():
                    if isfinite(value):
                        numbers["/".join([*labels, name + suffix])] = float(value)
        return numbers

    def __repr__(self) -> str:
        models = ", ".join(f"{row.model} AUC {row['auc'].value:.4g}" for row in self.rows if row.part == "all")
        parts = "" if self.by is None else f", by {self.by}"
        return f"Summary({models}{parts}, {len(MEASURES)} measures)"

    def _repr_html_(self) -> str:
        blocks = []
        for domain in DOMAINS:
            blocks.append(f"<h4>{domain}</h4>{_html_table(self.table(domain))}")
            if self.over_folds:
                blocks.append(_html_table(self.fold_table(domain)))
        notes = dict.fromkeys(note for row in self.rows for note in row.notes)
        listed = "".join(f"<li>{escape(note)}</li>" for note in notes)
        return "".join(blocks) + f"<ul>{listed}</ul><p>{escape(self.methods)}</p><pre>{escape(self.checklist)}</pre>"


def _measures_of(domain: str | None) -> list[str]:
    if domain is not None:
        check.check_choice("domain", domain, DOMAINS)
    return [name for name, measure in MEASURES.items() if domain in (None, measure.domain)]


def _html_table(lines: Sequence[dict[str, str]]) -> str:
    """Return lines of text as an HTML table; measures that are undefined for a model are missing in its line."""
    headings = dict.fromkeys(heading for line in lines for heading in line)
    blank = dict.fromkeys(headings, "undefined")
    return html_table([list((blank | line).values()) for line in lines], list(headings))


def _row_name(row: SummaryRow) -> str:
    return row.model if row.part == "all" else f"{row.model}, {row.part}"


def cell(estimate: Estimate) -> str:
    """Return value and interval as short text, with † if the estimate is marked as unreliable.

    The three numbers have three decimals, or more if they are small.
    """
    if isnan(estimate.value) or isnan(estimate.low):
        return "undefined" if isnan(estimate.value) else _plain(estimate.value)
    numbers = (estimate.value, estimate.low, estimate.high)
    # The value gets at most one decimal more than the largest of the three numbers needs; otherwise limits are too
    # long.
    widest = _decimals(max(map(abs, numbers)))
    decimals = min(max(_decimals(estimate.value), widest), widest + 1)
    value, low, high = (_plain(end, decimals) for end in numbers)
    return f"{value} [{low}, {high}]" + (" †" if estimate.reason else "")


def _plain(value: float, decimals: int | None = None) -> str:
    """Return a number with three decimals, or more if it is small; never -0.

    Examples
    --------
    >>> _plain(0.12345), _plain(0.0012345), _plain(-1e-13), _plain(0.01, 4)
    ('0.123', '0.0012', '0.000', '0.0100')
    """
    text = f"{value:.{_decimals(value) if decimals is None else decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def _decimals(value: float) -> int:
    is_small = _ZERO <= abs(value) < 0.01
    return 1 - floor(log10(abs(value))) if is_small else 3


def _thresholds_used(thresholds: "Mapping[str, _Threshold]") -> str:
    """Return text on the thresholds of classification and net benefit, their sources and their odds."""
    wording = {
        "decisions": "of the decisions of the models themselves",
        "given": "at a threshold fixed beforehand",
        "costs": "at the threshold that the costs imply for a probability, fixed beforehand",
        "cheapest": "at the threshold of lowest expected cost on the same data, so they are optimistic",
    }
    models: dict[str, list[str]] = {}
    weighing: dict[str, list[str]] = {}
    for model, at in thresholds.items():
        value = "" if at.value is None or isnan(at.value) else f" {at.value:g}"
        models.setdefault(at.source, []).append(f"{model}{value}")
        if not isnan(at.odds):
            weighing.setdefault(at.odds_text or f"{at.odds:.3g}", []).append(model)
    used = [f"{wording[source]} ({', '.join(names)})" for source, names in models.items()]
    for odds, names in weighing.items():
        of_models = f" ({', '.join(names)})" if len(weighing) > 1 else ""
        used.append(f"net benefit weighs a false positive by {odds}{of_models}")
    return "; ".join(used)


def methods_paragraph(
    version: str,
    context: Context,
    by: str | None,
    level: float,
    facts: Sequence[str],
    thresholds: "Mapping[str, _Threshold]",
    outcome: str,
) -> str:
    """Return a paragraph for the methods section of a paper."""
    mix = "the sample's prevalence" if context.target_prevalence is None else f"{context.target_prevalence:.3g}"
    cost = context.costs
    costs = f"expected cost: a false positive costing {cost['fp']:g} and a false negative {cost['fn']:g}"
    parts = "" if by is None else f" Performance was summarised for each {by}, at the threshold of all rows."
    percent = f"{100 * level:g}%"
    return (
        f"Performance was assessed in five domains (discrimination, calibration, overall, classification, clinical "
        f"utility) with rocscope {version}, at a prevalence of {mix}.{outcome} Discrimination: area under the ROC "
        f"curve. Calibration: observed over expected events, calibration in the large, joint intercept and slope of "
        f"logistic recalibration, and the integrated calibration index, E50 and E90 from local linear regression (span "
        f"2/3, as val.prob). Overall: Brier score, scaled Brier score, miscalibration (CORP) and log loss. "
        f"Classification and net benefit are {_thresholds_used(thresholds)}; {costs}. "
        f"{percent} confidence intervals: {'; '.join(facts)}.{parts} References: {'; '.join(REFERENCES)}."
    )


def _outcome_at(samples: Samples) -> str:
    """Return text on the outcome, for rows at a time horizon or with estimated weights."""
    sentences: dict[str, None] = {}
    for sample in samples.values():
        if sample.rows is None:
            continue
        outcome, source, weighting = "", sample.rows.source, sample.rows.weighting
        if source is not None and source.horizon is not None:
            outcome = f" by the horizon {source.horizon:g}"
        if weighting is not None:
            outcome += f", {weighting.note}"
        if outcome:
            sentences[f" Outcome: the event{outcome}."] = None
    return "".join(sentences)


_DRAWS = 99  # draws for the cost, and for distances with many parts: a third of the time of 999
_FEW_PARTS = 20  # with more parts, readers do not look at single ones: a choice
_ROUNDING = (
    1e-13  # rounding errors of a standard error of 0 are about 1e-17; one different row in a billion makes it 1e-9
)
_RATES = ("tpr", "tnr", "precision", "npv", "accuracy")
_NO_PROBABILITIES = "scores are not probabilities (convert them with rocscope.calibration.recalibrate)"


class Measured(NamedTuple):
    """Estimates by name, with notes."""

    estimates: dict[str, Estimate]
    notes: tuple[str, ...]


class _Threshold(NamedTuple):
    """A model's threshold (None for its own decisions), its source, and notes.

    `odds` is the weight of a false positive in net benefit, relative to a true positive; NaN if acting on a positive
    has no benefit. `odds_text` shows the odds of a threshold as a quotient, such as 0.2/0.8.
    """

    value: float | None
    source: ThresholdSource
    odds: float
    notes: tuple[str, ...] = ()
    odds_text: str = ""


def measure(
    sample: Sample,
    at: _Threshold,
    context: Context,
    level: float,
    random_state: int,
    *,
    many: bool = False,
    area: Estimate | None = None,
) -> Measured:
    """Return all measures of a model; an unavailable measure has no interval or value, and states the reason."""
    threshold = at.value
    data = sample.counts if sample.rows is None else sample.rows
    of_scores = evidence(sample, probabilities=False)
    counts = sample.counts
    one_class = not (counts.n_pos and counts.n_neg)
    target = None if one_class else context.target_prevalence
    forms = ClosedForms(of_scores, Shift.of(of_scores.outcomes, target), level)
    estimates = dict.fromkeys(MEASURES, forms.without(nan, ONE_CLASS))
    with heard() as warnings:
        if area is not None and not one_class:
            estimates["auc"] = area
        elif not one_class:
            try:
                estimates["auc"] = auc_interval(data, level=level)
            except WeightError as error:  # counts do not contain the number of rows behind a weight
                estimates["auc"] = forms.without(auc(data), str(error))
        if threshold is None or not isnan(threshold):
            decided = _decided(sample, threshold, of_scores)
            of_decisions = evidence(decided, probabilities=False)
            decision_forms = ClosedForms(of_decisions, Shift.of(of_decisions.outcomes, target), level)
            estimates |= _at_threshold(decided, of_decisions, decision_forms, context, at.odds, one_class=one_class)
        if not are_probabilities(counts):
            # A model's own decisions have a net benefit even if its scores are not probabilities.
            lacking = NEEDS_PROBABILITIES if threshold is not None else set(NEEDS_PROBABILITIES) - set(_NET_BENEFITS)
            estimates |= dict.fromkeys(lacking, forms.without(nan, _NO_PROBABILITIES))
        else:
            estimates |= _of_probabilities(of_scores, forms, random_state, many=many)
            if not one_class:
                # Cost of acting on the probabilities minus the cost of acting on recalibrated probabilities.
                options = {"level": level, "draws": _DRAWS, "random_state": random_state, "coarse": many}
                try:
                    cost = miscalibration_cost_at(of_scores, forms.shift.target, context, **options)
                except InputError as error:
                    cost = forms.without(nan, str(error))
                estimates["miscalibration_cost"] = cost
    notes = list(warnings)
    for name, estimate in estimates.items():
        if estimate.reason and not isnan(estimate.low):
            notes.append(f"† {MEASURES[name].heading}: {estimate.reason}")
    return Measured(estimates, tuple(notes))


def _decided(sample: Sample, threshold: float | None, of_scores: Evidence) -> Predictions | ThresholdCounts:
    """Return decisions as scores of 1 and 0; measures at a threshold depend on nothing else."""
    if of_scores.counted and threshold is not None:
        point = sample.counts.at(threshold)
        levels = [(1, point.tp, point.fp), (0, point.fn, point.tn)]
        score, pos, neg = zip(*(level for level in levels if level[1] + level[2] > 0), strict=True)
        return ThresholdCounts(score, pos, neg)
    rows = sample.require_rows("decisions")
    decisions = rows.decisions
    if threshold is not None:
        decisions = {name: predict(score, threshold) for name, score in rows.scores.items()}
    scores = {name: positive.astype(np.int8) for name, positive in decisions.items()}
    return Predictions(rows.y_true, scores, **rows.row_columns())


def _of_probabilities(of_scores: Evidence, forms: ClosedForms, random_state: int, *, many: bool) -> dict[str, Estimate]:
    fewer = {"draws": _DRAWS, "draws_along": _DRAWS, "coarse": True} if many else {}
    distances = distance_estimates(of_scores, forms, common=True, random_state=random_state, **fewer)[0]
    return {
        "observed_over_expected": forms.ratio(),
        **forms.mean_scores(),
        **forms.recalibration(),
        **{name: distances[name] for name in ("ici", "e50", "e90", "ece", "brier_miscalibration")},
    }


def _at_threshold(
    decided: Predictions | ThresholdCounts,
    of_decisions: Evidence,
    forms: ClosedForms,
    context: Context,
    odds: float,
    *,
    one_class: bool,
) -> dict[str, Estimate]:
    """Return the measures of classification and utility for decisions, given as scores of 1 and 0."""
    point = of_decisions.counts.at(1)
    positive = of_decisions.outcomes.score >= 1
    if of_decisions.counted and isinstance(of_decisions.counts.n, int):  # equal to the estimates below, and faster
        rates = rate_intervals(point, level=forms.level)
        estimates = {name: rates[name] for name in _RATES}
    else:
        data = of_decisions.counts if of_decisions.counted else decided
        estimates = {name: estimate_of(data, registry.at(1, name), level=forms.level) for name in _RATES}
    target = forms.shift.target
    if target is not None:
        # tpr and tnr do not depend on the prevalence; the other rates do.
        moved = _RATES[2:]
        try:
            rates = rate_intervals(point, level=forms.level, target_prevalence=target)
            estimates |= {name: rates[name] for name in moved}
        except InputError as error:
            moved_point = point.at_prevalence(target, point.n)
            estimates |= {name: forms.without(getattr(moved_point, name), str(error)) for name in moved}
    if one_class:
        return estimates
    costs = {cell: float(cost) for cell, cost in context.costs.items()}
    estimates["expected_cost"] = _mean(forms, positive, costs)
    treated = {"net_benefit": positive, "treat_all": np.ones_like(positive), "treat_none": np.zeros_like(positive)}
    if isnan(odds):
        return estimates | dict.fromkeys(treated, forms.without(nan, "acting on a positive has no benefit"))
    # Vickers & Elkin 2006: (tp − odds · fp) / n; treat all: π − (1 − π) · odds, treat none: 0
    benefits = {"tp": 1.0, "fp": -odds, "fn": 0.0, "tn": 0.0}
    return estimates | {name: _mean(forms, acted_on, benefits) for name, acted_on in treated.items()}


def _mean(forms: ClosedForms, positive: Array, amounts: dict[str, float]) -> Estimate:
    """Return the mean over cases of an amount that depends on the outcome (of four), with Wald's interval."""
    sample = forms.sample
    of_events = np.where(positive, amounts["tp"], amounts["fn"])
    of_others = np.where(positive, amounts["fp"], amounts["tn"])
    value = float(sample.pos @ of_events + sample.neg @ of_others) / sample.n
    error = forms.error(of_events - value, of_others - value)
    if not (error > _ROUNDING * max(map(abs, amounts.values())) and isfinite(error)):
        return forms.without(value + 0.0, "no variation: all or none are predicted positive")
    reach = normal_quantile(forms.level) * error
    return forms.of(value, value - reach, value + reach, "influence function", error)


MOST_PARTS = 1_000
"""A column with more values than this identifies cases rather than segments."""

By = Literal["segment", "fold"]
_FACTS = (
    "{auc} for the AUC",
    "Wilson for observed over expected and for rates",
    "Wald, with the larger of model-based and sandwich variances, for intercepts and slope",
    "inverted tests, by labels drawn from curves between the probabilities and the fitted ones, for distances",
    "influence functions for scores, net benefit and cost",
)
_SHARED = (
    "intervals ignore that folds share training rows, and are too short for models that search many settings "
    "(rocscope.evaluation.nested_cross_validation allows for this)"
)


@contract
def summary(
    predictions: Models | Labels,
    y_score: Scores | Context | Campaign | None = None,
    context: Context | Campaign | None = None,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    by: By | None = None,
    threshold: Thresholds | Literal["costs", "cheapest"] | None = None,
    level: float = 0.95,
    random_state: Any = 0,
) -> Summary:
    """Summarise a validation: discrimination, calibration, overall performance, classification and utility.

    Parameters
    ----------
    predictions, y_score, pos_label, sample_weight : data of one or more models
        Predictions, labels and scores, or a mapping from model name to counts or points; see `rocscope.sample`. Also
        SegmentedCounts, or a mapping from model name to them. Results by segment or fold need rows, or counts by
        segment.
    context : Context, optional
        Costs, and the prevalence to which all measures except the AUC refer. By default both kinds of error have the
        same cost, and the prevalence is that of the sample.
    by : {"segment", "fold"}, optional
        Add a row for each segment or fold of the Predictions. With "fold", `over_folds` has means, standard deviations
        and intervals over folds, and the seconds of fits and predictions.
    threshold : float, mapping from model name to float, "costs" or "cheapest", optional
        Threshold of classification and utility. A number, or one number per model, is a threshold fixed beforehand.
        "costs" is the probability above which acting is cheaper, t = (cost_fp − cost_tn)/((cost_fp − cost_tn) +
        (cost_fn − cost_tp)). "cheapest" is the threshold of lowest expected cost on these rows. By default the model's
        own decisions are used if the data contain them, otherwise "cheapest".
    level : float
        Confidence level.
    random_state : int, Generator, RandomState or None
        Seed of the simulated labels for the intervals of calibration distances (ICI, E50, E90).

    Returns
    -------
    Summary
        Its `methods` is a paragraph for the methods section. Its `tripod` lists the TRIPOD+AI items that it answers.

    Raises
    ------
    InputError
        If the data lack the column `by`, or it has more than 1,000 values; use `rocscope.segments.SegmentedCounts` for
        very many segments. With ``threshold="costs"``, if one action is always right at these costs.
    ScoreError
        With ``threshold="costs"``, if scores are not probabilities.
    ColumnError
        If `threshold` is a mapping and lacks a model, or has an unknown model.

    See Also
    --------
    Report, compare, calibration_report

    Notes
    -----
    Intervals treat the threshold as fixed, also for segments and folds. This is correct for a threshold that was fixed
    beforehand. A threshold chosen on the same rows makes classification and utility optimistic. `SummaryRow.notes`
    state the source of the threshold. For cross-validated predictions all intervals ignore that folds share training
    rows, and the notes state this; see `rocscope.evaluation.nested_cross_validation`.

    Net benefit weighs false positives by (cost_fp − cost_tn)/(cost_fn − cost_tp). Without a context, it uses the odds
    t/(1 − t) of a threshold t between 0 and 1 that is given as a number, as in decision curve analysis. At prevalence
    π, treating all has the net benefit π − (1 − π) t/(1 − t), and treating none has 0.

    Undefined measures (one class, scores that are not probabilities, separated classes) are NaN, or a value without an
    interval, and the method of the estimate states the reason. With more than 20 parts, intervals of calibration
    distances use 99 simulations per part, otherwise 999.

    References
    ----------
    Van Calster et al. 2025, STRATOS guidance on performance measures of predictive AI, Lancet Digital Health; Collins
    et al. 2024, TRIPOD+AI, BMJ 385:e078378; Vickers & Elkin 2006, decision curve analysis.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> score = rng.random(400)
    >>> from rocscope import Predictions
    >>> result = summary(Predictions(rng.random(400) < score, {"risk": score}))
    >>> result
    Summary(risk AUC 0.8511, 23 measures)
    >>> 1 in result["risk"]["slope"], 1 in result["risk"]["observed_over_expected"]
    (True, True)

    Two of five cases are positive. The threshold .2 has two true positives and two false positives, which weigh .25
    each: (2 − .5)/5. Treating all has three false positives: (2 − .75)/5.

    >>> few = Predictions([1, 1, 0, 0, 0], {"risk": [0.9, 0.2, 0.4, 0.2, 0.1]})
    >>> row = summary(few, threshold=0.2)["risk"]
    >>> [row[name].value for name in ("net_benefit", "treat_all", "treat_none")]
    [0.3, 0.25, 0.0]
    >>> row.notes[0]
    'threshold 0.2, fixed beforehand; net benefit weighs false positives by 0.25'
    """
    predictions, context = with_context(predictions, y_score, context, pos_label=pos_label, sample_weight=sample_weight)
    segments = counted_by_segment(predictions)
    pooled: Any = {model: counts.pooled() for model, counts in segments.items()}
    require_kinds("summary", pooled or predictions)
    level = check.check_level(level)
    seed = check.seed_of(random_state)
    samples = samples_of(pooled or predictions, name="predictions")
    return summarised(samples, context, segments, by=by, threshold=threshold, level=level, seed=seed)


def summarised(
    samples: Samples,
    context: Context | Campaign | None,
    segments: Mapping[str, SegmentedCounts],
    *,
    by: By | None = None,
    threshold: Thresholds | str | None = None,
    level: float = 0.95,
    seed: int = 0,
    areas: Mapping[str, Estimate] | None = None,
) -> Summary:
    """Summarise samples that are already read; `areas` are AUC estimates that are already computed."""
    costs_given = context is not None
    context = Context.given(context)
    rows = []
    thresholds = _thresholds(samples, threshold, context, costs_given=costs_given)
    for model, at in thresholds.items():
        sample = samples[model]
        parts = _parts(sample, by, segments.get(model))
        for part, data in {"all": sample, **parts}.items():
            many = part != "all" and len(parts) > _FEW_PARTS
            area = areas.get(model) if areas and part == "all" else None
            with np.errstate(under="ignore"):
                measured = measure(data, at, context, level, seed, many=many, area=area)
            notes = at.notes + measured.notes
            source = None if data.rows is None else data.rows.source
            if source is not None and source.folds > 1:
                notes += (_SHARED,)
            n = data.counts.n
            if not isinstance(n, int) and data.rows is None:
                notes += ("weights are treated as numbers of rows: if they are not, pass Predictions",)
            value = nan if at.value is None else at.value
            row = SummaryRow(model, part, n, data.counts.n_pos, value, measured.estimates, notes, at.source)
            rows.append(row)
    facts = [fact.format(auc=rows[0]["auc"].method) for fact in _FACTS]
    methods = methods_paragraph(__version__, context, by, level, facts, thresholds, _outcome_at(samples))
    over_folds = []
    if by == "fold":
        for model, sample in samples.items():
            source = getattr(sample.rows, "source", None)
            seconds = getattr(source, "seconds", {}).get(model, ())
            folds = [row for row in rows if row.model == model and row.part != "all"]
            over_folds.append(FoldsRow.of(folds, level, seconds))
    return Summary(tuple(rows), context, by, level, methods, tuple(over_folds), costs_given)


def _parts(sample: Sample, by: str | None, segments: SegmentedCounts | None) -> dict[str, Sample]:
    if by is None:
        return {}
    check.check_choice("by", by, ("segment", "fold"))
    parts: Mapping[Any, Any] | SegmentedCounts
    if segments is not None and by == "segment":
        parts = segments
    else:
        rows = sample.require_rows(f"by={by!r}")
        parts = rows.by_segment() if by == "segment" else rows.by_fold()
    if len(parts) > MOST_PARTS:
        hint = "for very many segments use Predictions.counts(by='segment')"
        raise InputError(f"by={by!r}", expected=f"at most {MOST_PARTS:,} parts", got=f"{len(parts):,}", hint=hint)
    return {str(name): sample_of(part) for name, part in parts.items()}


def _thresholds(
    samples: Samples, threshold: Thresholds | str | None, context: Context, *, costs_given: bool
) -> dict[str, _Threshold]:
    """Return each model's threshold for classification and utility."""
    thresholds = {}
    if threshold is None or isinstance(threshold, str):
        if threshold is not None:
            check.check_choice("threshold", threshold, ("costs", "cheapest"))
        for model, sample in samples.items():
            thresholds[model] = _chosen_threshold(model, sample, threshold, context)
        return thresholds
    by_model = check.by_name(threshold, samples)
    missing = sorted(samples.keys() - by_model)
    unknown = [*(by_model.keys() - samples)]
    if missing or unknown:
        got = f"none for {missing}" if missing else f"one for {unknown}"
        raise ColumnError("threshold", expected=f"one for each of {list(samples)}", got=got)
    for model in samples:
        value = check.check_number(by_model[model], "threshold", "a finite number, or one for each model")
        # Without costs, a threshold t between 0 and 1 implies the odds t/(1 − t), at which acting breaks even.
        is_decision_curve = not costs_given and 0 <= value < 1
        odds = value / (1 - value) if is_decision_curve else _odds(context)
        quotient = f"{value:g}/{1 - value:g}" if is_decision_curve else ""
        thresholds[model] = _Threshold(
            value, "given", odds, (_fixed(f"threshold {threshold_text(value)}", odds),), quotient
        )
    return thresholds


def _chosen_threshold(model: str, sample: Sample, threshold: str | None, context: Context) -> _Threshold:
    odds = _odds(context)
    if threshold == "costs":
        sample.counts.probabilities('threshold="costs"')
        if context.always_right is not None:
            expected = "costs for which the better action depends on the probability"
            hint = f"{context.always_right} is always right; give the threshold as a number"
            raise InputError('threshold="costs"', expected=expected, got=repr(context), hint=hint)
        value = context.probability_threshold
        return _Threshold(value, "costs", odds, (_fixed(f"threshold {threshold_text(value)} from the costs", odds),))
    if threshold is None and sample.rows is not None and sample.rows.decisions:
        return _Threshold(None, "decisions", odds, ("classification and utility: the model's own decisions",))
    try:
        decision = choose({model: sample.counts}, context)
    except OneClassError as error:
        return _Threshold(nan, "cheapest", odds, (str(error),))
    chosen = (
        f"threshold {decision.point.threshold_text}, chosen on the same rows: classification and utility are optimistic"
    )
    return _Threshold(decision.threshold, "cheapest", odds, (chosen, *decision.notes))


def _odds(context: Context) -> float:
    """Return the weight of a false positive relative to a true positive; NaN if acting on a positive has no benefit."""
    return float(context.false_alarm_cost) / float(context.miss_cost) if context.miss_cost > 0 else nan


def _fixed(threshold: str, odds: float) -> str:
    weighs = "" if isnan(odds) else f"; net benefit weighs false positives by {odds:g}"
    return f"{threshold}, fixed beforehand{weighs}"
