"""Summarise the validation of one or more models with performance measures and confidence intervals.

`summary` follows the STRATOS guidance (Van Calster et al. 2025), which names five domains of performance:
discrimination, calibration, overall performance, classification and clinical utility. `MEASURES` lists the measures of
each domain. `Summary.tripod` lists the items of the TRIPOD+AI checklist (Collins et al. 2024) that a summary answers.

Classification and utility need a threshold. The threshold is a given number, follows from the costs, or has the lowest
cost on the same data. Measures at a threshold of lowest cost are optimistic. A model's own decisions can replace the
threshold. A note states the source of the threshold.

Order of the file: the measures; the result classes; the methods paragraph; the measures of one model (`measure`); and
`summary`.
"""

import re
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
from rocscope.calibration.cost_of_miscalibration import miscalibration_cost_at
from rocscope.calibration.distances import distance_estimates
from rocscope.calibration.intervals import ONE_CLASS, ClosedForms
from rocscope.calibration.outcomes import Evidence, Shift, are_probabilities, evidence
from rocscope.core import Campaign, Context, Predictions, Result, ThresholdCounts, html_table, number, require_kinds
from rocscope.core.applying import predict
from rocscope.curves.rate_curves import auc
from rocscope.decisions.choosing import choose
from rocscope.errors import ColumnError, InputError, OneClassError, WeightError, collected_warnings
from rocscope.evaluation.averaging import mean
from rocscope.figures import registry
from rocscope.inference import Estimate, auc_interval, estimate_of, rate_intervals
from rocscope.inference.proportions import Thresholds, normal_quantile
from rocscope.sample import Labels, Models, Sample, Samples, Scores, sample_of, samples_of, with_context
from rocscope.segments.by_segment import counted_by_segment
from rocscope.segments.segmented_counts import SegmentedCounts


class SummaryMeasure(NamedTuple):
    """Heading, domain and ideal value of a performance measure."""

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
"""Sources of a threshold.

"given" is a number fixed beforehand, and "costs" is computed from the costs beforehand. "cheapest" has the lowest cost
on the same data. "decisions" means that the model's own decisions replace the threshold."""

TRIPOD = {
    "12d": "heterogeneity of performance: how it was handled and quantified",
    "12e": "all measures used to evaluate performance (discrimination, calibration, clinical utility)",
    "14": "fairness: performance in each group that matters",
    "15": "output of the model, and how the classification threshold was chosen",
    "21": "number of participants and of outcome events in each analysis",
    "23a": "performance with confidence intervals, in key subgroups too",
    "23b": "heterogeneity of performance across clusters",
}
"""Items of the TRIPOD+AI checklist (Collins et al. 2024) about performance. The authors must answer all other items."""

REFERENCES = (
    "Van Calster et al. 2025, Lancet Digital Health, performance measures in predictive AI (STRATOS)",
    "Collins et al. 2024, BMJ 385:e078378 (TRIPOD+AI)",
)


_ZERO = 1e-12  # numbers below this are rounding errors of 0


def _estimate_named(estimates: dict[str, Estimate], name: str) -> Estimate:
    """Return the estimate of the measure with a given name or synonym."""
    if name in estimates:
        return estimates[name]
    figure = registry.known(str(name))
    for measure_name, estimate in estimates.items():
        if figure is not None and registry.known(measure_name) is figure:
            return estimate
    raise ColumnError("measure", expected=check.one_of(str(name), list(estimates)), got=repr(name))


class Metrics(dict[str, float]):
    """Mapping from the name of a measure to its value. Synonyms, such as "AUC" and "roc_auc", are accepted."""

    def __missing__(self, name: Any) -> float:
        figure = registry.known(str(name))
        for measure_name in self if figure is not None else ():
            if registry.known(measure_name) is figure:
                return self[measure_name]
        raise ColumnError("measure", expected=check.one_of(str(name), list(self)), got=repr(name))


@dataclass(frozen=True, eq=False, repr=False)
class SummaryRow(Result):
    """Performance measures of one model on all data, or on one segment or fold.

    Attributes
    ----------
    model : str
        Name of the model.
    part : str
        Name of the segment or fold; "all" for all data.
    n, n_pos : float
        Number of cases and number of positives.
    threshold : float
        Threshold for the measures of classification and utility; NaN if these measures use the model's own decisions.
    estimates : dict from the name of a measure to Estimate
        Value and confidence interval of each measure.
    notes : tuple of str
        Source of the threshold, and warnings about the estimates.
    threshold_source : {"given", "costs", "cheapest", "decisions"}
        Source of the threshold. "given" and "costs" mean that it was fixed beforehand. "cheapest" means that it has the
        lowest cost on all data of the summary. "decisions" means that the model's own decisions were used.
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
    """Performance measures of one model, averaged over folds with equal weight.

    Attributes
    ----------
    model : str
        Name of the model.
    folds : int
        Number of folds.
    estimates : dict from the name of a measure to Estimate
        Mean of each measure over the folds in which the measure is defined, with Student's t interval. `Estimate.n` is
        the number of these folds.
    deviations : dict from the name of a measure to float
        Standard deviation of each measure over the same folds.
    fit_seconds, predict_seconds : float
        Mean time to fit and to predict one fold, in seconds; NaN if the predictions do not contain times. `to_dict`
        omits the times, because they differ between runs.
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
        """Return the mean of each measure over the folds of one model."""
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
        """Return one table row as text: mean, interval and standard deviation of each measure, and times."""
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
    """Performance measures of each model, on all data and on each segment or fold.

    A summary is a sequence of `SummaryRow`. ``summary["a"]`` is the row of model "a" on all data.
    ``summary["a", "north"]`` is the row of model "a" on the segment or fold "north".

    Attributes
    ----------
    rows : tuple of SummaryRow
        One row for each model and part. A part is all data, one segment or one fold.
    context : Context
        Costs and prevalence that the measures use.
    by : {"segment", "fold"} or None
        Kind of the parts; None if there are only rows for all data.
    level : float
        Confidence level of the intervals.
    methods : str
        Paragraph for the methods section of a paper. It names the methods and the version of rocscope.
    over_folds : tuple of FoldsRow
        Means of the measures over the folds, one entry per model; empty unless ``by="fold"``.
    costs_given : bool
        True if `context` was passed. If False, false positives and false negatives have the same cost.
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
        hint = ""
        for name in (model, part):
            if registry.known(str(name)) is not None or name in MEASURES:
                hint = f"for a figure of a model, use summary[{self.models[0]!r}][{name!r}]"
        raise ColumnError("model and part", expected=expected, got=repr(key), hint=hint)

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
        """Items of the TRIPOD+AI checklist for a validation; True if this summary answers the item.

        A summary never answers items 12d and 23b, because it does not quantify heterogeneity between clusters. Item 14
        needs results by segment. Item 15 needs a threshold that follows from given costs; authors must explain any
        other threshold. Item 21 needs the number of participants, which cannot be computed from weights. Item 23a needs
        confidence intervals for each segment.
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
        """Checklist of the TRIPOD+AI items as text, one line per item. Answered items are marked [x]."""
        ticks = self.tripod.items()
        return "\n".join(f"[{'x' if done else ' '}] {item} {TRIPOD[item]}" for item, done in ticks)

    @property
    def marks(self) -> tuple[str, ...]:
        """Explanation of the mark † in the tables: one line for each reason, with the measures that have the reason."""
        measures: dict[str, dict[str, None]] = {}
        reasons: dict[str, list[str]] = {}
        for row in self.rows:
            for name, measure in MEASURES.items():
                reason = row[name].reason
                if reason and _is_marked(row[name]):
                    # Reasons that differ only in their numbers, such as numbers of cases, are one reason.
                    kind = re.sub(r"\d+", "", reason)
                    measures.setdefault(kind, {})[measure.heading] = None
                    reasons.setdefault(kind, []).append(reason)
        return tuple(
            f"† {'; '.join(headings)}: not reliable ({_in_one(reasons[kind])})" for kind, headings in measures.items()
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes of all rows without repetitions, and the explanation of the mark † in the tables."""
        return (*dict.fromkeys(note for row in self.rows for note in row.notes), *self.marks)

    def table(self, domain: str | None = None) -> list[dict[str, str]]:
        """Return a table of formatted values and intervals: one dict per row of the summary, with a key per column.

        Parameters
        ----------
        domain : {"discrimination", "calibration", "overall", "classification", "utility"}, optional
            Domain of the measures to show. By default, the table shows all measures.

        Examples
        --------
        >>> from rocscope import summary
        >>> rows = summary([1, 1, 0, 0] * 10, [0.9, 0.4, 0.6, 0.1] * 10).table("discrimination")
        >>> rows[0]["model"], rows[0]["events"], rows[0]["AUC"]
        ('score', '20', '0.750 [0.563, 0.875]')
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
        """Return a table with one dict per model: means, intervals and standard deviations over folds, and seconds.

        Parameters
        ----------
        domain : see `table`

        Raises
        ------
        InputError
            If the summary was not made with ``by="fold"``.
        """
        if self.by != "fold":
            hint = "call rs.summary(predictions, by='fold')"
            raise InputError("fold_table", expected="a summary with by='fold'", got=f"by={self.by!r}", hint=hint)
        names = _measures_of(domain)
        return [row.line(names) for row in self.over_folds]

    def sheet(self, domain: str) -> list[dict[str, str]]:
        """Return a table with one dict per measure of a domain, and one column per row of the summary.

        Measures that are undefined in all rows are omitted.

        `table` describes `domain`.
        """
        lines = []
        for name in _measures_of(domain):
            if not all(isnan(row[name].value) for row in self.rows):
                cells = {_row_name(row): cell(row[name]) for row in self.rows}
                lines.append({domain: MEASURES[name].heading} | cells)
        return lines

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame with one row for each combination of model, part and measure.

        Each row has the value of the measure, the limits of its interval, and the method of the interval.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            Library of the data frame.

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

    def metrics(self) -> Metrics:
        """Return all values and interval limits as a flat dict for experiment trackers such as MLflow.

        Returns
        -------
        dict from name to float
            The names are ``auc``, ``auc_low``, ``auc_high`` and so on. With several models, a name starts with the
            model: ``model/auc``. With segments or folds, it also contains the part: ``model/part/auc``. Undefined
            numbers are omitted, because trackers reject them.

        Examples
        --------
        >>> from rocscope import summary
        >>> metrics = summary([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).metrics()
        >>> metrics["auc"], metrics["auc_low"] < 0.75 < metrics["auc_high"]
        (0.75, True)
        """
        numbers = Metrics()
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
        listed = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        return "".join(blocks) + f"<ul>{listed}</ul><p>{escape(self.methods)}</p><pre>{escape(self.checklist)}</pre>"


def _measures_of(domain: str | None) -> list[str]:
    if domain is not None:
        check.check_choice("domain", domain, DOMAINS)
    return [name for name, measure in MEASURES.items() if domain in (None, measure.domain)]


def _html_table(lines: Sequence[dict[str, str]]) -> str:
    """Return table rows as an HTML table. A column that is missing in a row shows "undefined"."""
    headings = dict.fromkeys(heading for line in lines for heading in line)
    blank = dict.fromkeys(headings, "undefined")
    return html_table([list((blank | line).values()) for line in lines], list(headings))


def _row_name(row: SummaryRow) -> str:
    return row.model if row.part == "all" else f"{row.model}, {row.part}"


def cell(estimate: Estimate) -> str:
    """Return a value and its interval as short text, with † if the interval is unreliable.

    All numbers have three decimals, or more if they are small.
    """
    if isnan(estimate.value) or isnan(estimate.low):
        return "undefined" if isnan(estimate.value) else _plain(estimate.value)
    numbers = (estimate.value, estimate.low, estimate.high)
    # The value gets at most one decimal more than the largest of the three numbers needs; otherwise limits are too
    # long.
    widest = _decimals(max(map(abs, numbers)))
    decimals = min(max(_decimals(estimate.value), widest), widest + 1)
    value, low, high = (_plain(end, decimals) for end in numbers)
    return f"{value} [{low}, {high}]" + (" †" if _is_marked(estimate) else "")


def _is_marked(estimate: Estimate) -> bool:
    """Return True if an estimate has an interval that is not reliable."""
    return bool(estimate.reason) and not (isnan(estimate.value) or isnan(estimate.low))


def _in_one(texts: Sequence[str]) -> str:
    """Return texts that differ only in whole numbers as one text with the ranges of the numbers.

    Examples
    --------
    >>> _in_one(["only 3 of 9 cases", "only 4 of 9 cases"])
    'only 3 to 4 of 9 cases'
    """
    words = []
    for parts in zip(*(re.split(r"(\d+)", text) for text in texts), strict=True):
        least, most = min(parts, key=_size), max(parts, key=_size)
        words.append(least if least == most else f"{least} to {most}")
    return "".join(words)


def _size(text: str) -> float:
    return float(text) if text.isdecimal() else nan


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
    """Describe the threshold of each model, its source, and its odds in net benefit."""
    wording = {
        "decisions": "computed from the models' own decisions",
        "given": "computed at a threshold that was fixed beforehand",
        "costs": "computed at the probability threshold that follows from the costs, fixed beforehand",
        "cheapest": "optimistic, because the threshold has the lowest expected cost on the same data",
    }
    models: dict[str, list[str]] = {}
    weighing: dict[str, list[str]] = {}
    for model, at in thresholds.items():
        value = "" if at.value is None or isnan(at.value) else f" {at.value:g}"
        models.setdefault(at.source, []).append(f"{model}{value}")
        if not isnan(at.odds):
            weighing.setdefault(at.odds_text or f"{at.odds:.3g}", []).append(model)
    used = [f"Classification and net benefit are {wording[source]} ({', '.join(at)})." for source, at in models.items()]
    for odds, names in weighing.items():
        of_models = f" ({', '.join(names)})" if len(weighing) > 1 else ""
        used.append(f"Net benefit weighs a false positive by {odds}{of_models}.")
    return " ".join(used)


def methods_paragraph(
    version: str,
    context: Context,
    by: str | None,
    level: float,
    facts: Sequence[str],
    thresholds: "Mapping[str, _Threshold]",
    outcome: str,
) -> str:
    """Return the paragraph for the methods section of a paper."""
    target = context.target_prevalence
    prevalence = "the prevalence of the sample" if target is None else f"a prevalence of {target:.3g}"
    cost = context.costs
    costs = f"The expected cost is {cost['fp']:g} for a false positive and {cost['fn']:g} for a false negative."
    parts = "" if by is None else f" Performance was summarised for each {by}, at the threshold of all rows."
    percent = f"{100 * level:g}%"
    return (
        f"Performance was assessed in five domains with rocscope {version}: discrimination, calibration, overall "
        f"performance, classification and clinical utility. All measures except the AUC use {prevalence}.{outcome} "
        f"Discrimination: area under the ROC curve. Calibration: observed over expected events, calibration in the "
        f"large, joint intercept and slope of logistic recalibration, and the integrated calibration index, E50 and "
        f"E90 from local linear regression (span 2/3, as in val.prob). Overall performance: Brier score, scaled Brier "
        f"score, miscalibration (CORP) and log loss. {_thresholds_used(thresholds)} {costs} "
        f"Methods of the {percent} confidence intervals: {'; '.join(facts)}.{parts} "
        f"References: {'; '.join(REFERENCES)}."
    )


def _outcome_at(samples: Samples) -> str:
    """Describe the outcome if the data have a time horizon or estimated weights; otherwise return an empty string."""
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
_NO_PROBABILITIES = (
    "scores are not probabilities "
    "(convert them with rs.calibration.recalibrate(predictions, method='platt').predictions)"
)


class Measured(NamedTuple):
    """Estimates by the name of the measure, and notes about them."""

    estimates: dict[str, Estimate]
    notes: tuple[str, ...]


class _Threshold(NamedTuple):
    """Threshold of one model, its source, and notes.

    `value` is None if the model's own decisions replace the threshold. `odds` is the weight of a false positive in net
    benefit, relative to a true positive; NaN if acting on a positive has no benefit. `odds_text` shows the odds as a
    quotient, such as 0.2/0.8.
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
    """Return all measures of one model.

    An undefined measure is NaN, or has no interval. Its method states the reason.
    """
    threshold = at.value
    data = sample.counts if sample.rows is None else sample.rows
    of_scores = evidence(sample, probabilities=False)
    counts = sample.counts
    one_class = not (counts.n_pos and counts.n_neg)
    target = None if one_class else context.target_prevalence
    forms = ClosedForms(of_scores, Shift.of(of_scores.outcomes, target), level)
    estimates = dict.fromkeys(MEASURES, forms.without(nan, ONE_CLASS))
    with collected_warnings() as warnings:
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
    return Measured(estimates, tuple(warnings))


def _decided(sample: Sample, threshold: float | None, of_scores: Evidence) -> Predictions | ThresholdCounts:
    """Replace the scores of a sample by its decisions, coded as 1 (act) and 0 (do not act)."""
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
    """Return the measures of classification and utility for decisions coded as scores of 1 and 0."""
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
    """Return the mean amount per case with Wald's interval, given the amount for each of tp, fp, fn and tn."""
    sample = forms.sample
    of_events = np.where(positive, amounts["tp"], amounts["fn"])
    of_others = np.where(positive, amounts["fp"], amounts["tn"])
    value = float(sample.pos @ of_events + sample.neg @ of_others) / sample.n
    error = forms.error(of_events - value, of_others - value)
    if not (error > _ROUNDING * max(map(abs, amounts.values())) and isfinite(error)):
        return forms.without(value + 0.0, "no variation, because all cases or no cases are predicted positive")
    reach = normal_quantile(forms.level) * error
    return forms.of(value, value - reach, value + reach, "influence function", error)


MOST_PARTS = 1_000
"""Largest number of segments or folds. A column with more values identifies cases, not segments."""

By = Literal["segment", "fold"]
_FACTS = (
    "{auc} for the AUC",
    "Wilson for observed over expected and for rates",
    "Wald for intercepts and slope, with the larger of the model-based and the sandwich variance",
    "test inversion with simulated labels for calibration distances",
    "influence functions for scores, net benefit and cost",
)
_SHARED = (
    "except for the AUC, intervals ignore that folds share training rows; they are too narrow for models that search "
    "many settings; "
    "use rocscope.evaluation.nested_cross_validation instead"
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
    """Summarise the performance of each model in five domains, with confidence intervals.

    The domains are discrimination, calibration, overall performance, classification and clinical utility.

    Parameters
    ----------
    predictions, y_score, pos_label, sample_weight : data of one or more models
        Predictions, or labels and scores, or a mapping from model name to ThresholdCounts or operating points; see
        `rocscope.sample`. SegmentedCounts, and a mapping from model name to SegmentedCounts, are also accepted.
        ``by="segment"`` needs Predictions or SegmentedCounts, and ``by="fold"`` needs Predictions.
    context : Context, optional
        Costs and prevalence of the application. All measures except the AUC use the prevalence. By default, false
        positives and false negatives have the same cost, and the prevalence is the share of positives in the sample.
    by : {"segment", "fold"}, optional
        Add a row for each segment or each fold. With "fold", the attribute `over_folds` of the result also has the mean
        of each measure over the folds.
    threshold : float, mapping from model name to float, "costs" or "cheapest", optional
        Threshold for the measures of classification and utility. A number, or a mapping with one number per model, is a
        threshold fixed beforehand. "costs" is the probability above which acting is cheaper, t = (cost_fp −
        cost_tn)/((cost_fp − cost_tn) + (cost_fn − cost_tp)). "cheapest" is the threshold with the lowest expected cost
        on the same data. By default, the model's own decisions are used if the data contain decisions, and otherwise
        "cheapest".
    level : float
        Confidence level of the intervals.
    random_state : int, Generator, RandomState or None
        Seed for the intervals of calibration distances (ICI, E50, E90), which use simulated labels.

    Returns
    -------
    Summary
        Measures with intervals for each model. `Summary.methods` is a paragraph for the methods section of a paper.
        `Summary.tripod` lists the answered items of the TRIPOD+AI checklist.

    Raises
    ------
    InputError
        If the data have no segments or folds, or more than 1,000 of them. To evaluate more segments, use
        `rocscope.segments.SegmentedCounts` instead. With ``threshold="costs"``, if the same action is always right at
        these costs.
    ScoreError
        With ``threshold="costs"``, if the scores are not probabilities.
    ColumnError
        If the mapping `threshold` lacks a model or contains an unknown model.

    See Also
    --------
    Report, compare, calibration_report

    Notes
    -----
    All intervals treat the threshold as fixed. This is correct if the threshold was fixed beforehand. If the threshold
    was chosen on the same data, classification and utility are optimistic. `SummaryRow.notes` states the source of the
    threshold. For cross-validated predictions, the intervals ignore that folds share training rows; see
    `rocscope.evaluation.nested_cross_validation`.

    Net benefit weighs false positives by (cost_fp − cost_tn)/(cost_fn − cost_tp). If `threshold` is a number t between
    0 and 1 and `context` is omitted, the weight is the odds t/(1 − t), as in decision curve analysis. At prevalence π,
    treating all has the net benefit π − (1 − π) t/(1 − t), and treating none has the net benefit 0.

    A measure can be undefined if a class is missing, the scores are not probabilities, or the scores separate the
    classes. An undefined measure is NaN, or has no interval, and its method states the reason. The intervals of
    calibration distances use 999 simulations, or 99 for each segment or fold if there are more than 20.

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

    Two of five cases are positive. At the threshold 0.2 there are two true positives and two false positives. Each
    false positive weighs 0.25, so the net benefit is (2 − 0.5)/5. Treating all has three false positives and the net
    benefit (2 − 0.75)/5.

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
    """Summarise samples; see `summary`. `areas` has AUC estimates that are already computed, by model."""
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
                notes += ("weights are treated as numbers of rows; if they are other weights, pass Predictions",)
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
        hint = "for more segments, use the metrics of predictions.counts(by='segment')"
        got = f"{len(parts):,} {by}s"
        raise InputError(f"by={by!r}", expected=f"at most {MOST_PARTS:,} {by}s", got=got, hint=hint)
    return {str(name): sample_of(part) for name, part in parts.items()}


def _thresholds(
    samples: Samples, threshold: Thresholds | str | None, context: Context, *, costs_given: bool
) -> dict[str, _Threshold]:
    """Return the threshold of each model for the measures of classification and utility."""
    thresholds = {}
    if threshold is None or isinstance(threshold, str):
        if threshold is not None:
            check.check_choice("threshold", threshold, ("costs", "cheapest"))
        for model, sample in samples.items():
            thresholds[model] = _chosen_threshold(model, sample, threshold, context)
        return thresholds
    by_model = check.by_name(threshold, samples)
    if by_model.keys() != samples.keys():
        got = f"thresholds of {list(by_model)}"
        raise ColumnError("threshold", expected=f"thresholds of the models {list(samples)}", got=got)
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
            expected = "costs at which the better action depends on the probability"
            hint = f"pass the threshold as a number, because {context.always_right} is always right at these costs"
            raise InputError('threshold="costs"', expected=expected, got=repr(context), hint=hint)
        value = context.probability_threshold
        return _Threshold(value, "costs", odds, (_fixed(f"threshold {threshold_text(value)} from the costs", odds),))
    if threshold is None and sample.rows is not None and sample.rows.decisions:
        return _Threshold(None, "decisions", odds, ("classification and utility use the model's own decisions",))
    try:
        decision = choose({model: sample.counts}, context)
    except OneClassError as error:
        return _Threshold(nan, "cheapest", odds, (str(error),))
    chosen = (
        f"threshold {decision.point.threshold_text}, chosen on the same rows: classification and utility are optimistic"
    )
    return _Threshold(decision.threshold, "cheapest", odds, (chosen, *decision.notes))


def _odds(context: Context) -> float:
    """Return the weight of a false positive in net benefit; NaN if acting on a positive has no benefit."""
    return float(context.false_alarm_cost) / float(context.miss_cost) if context.miss_cost > 0 else nan


def _fixed(threshold: str, odds: float) -> str:
    weighs = "" if isnan(odds) else f"; net benefit weighs false positives by {odds:g}"
    return f"{threshold}, fixed beforehand{weighs}"
