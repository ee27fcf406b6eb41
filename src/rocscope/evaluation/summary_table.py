"""Summary: the table of a validation, a row for each model and segment, with its notes.

What is to be reported of a model that is validated, and where this package says it: STRATOS and TRIPOD+AI.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import floor, isnan, log10, nan
from typing import Any, Literal, NamedTuple

import numpy as np

from rocscope._base import validation as check
from rocscope.core.context import Context
from rocscope.core.result import Result, frame_of, html_table, number
from rocscope.errors import ColumnError
from rocscope.evaluation.folds.fold_curves import mean
from rocscope.figures.registry import known
from rocscope.inference.estimate import Estimate


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
DOMAINS = tuple(_MEASURES)
"""The five domains of the STRATOS guidance (Van Calster et al. 2025)."""


def _measure(name: str, domain: str) -> SummaryMeasure:
    figure = known(name)
    heading, ideal = (_REFERENCES[name], None) if figure is None else (figure.title, figure.ideal)
    return SummaryMeasure(heading, domain, ideal)


MEASURES = {name: _measure(name, domain) for domain, names in _MEASURES.items() for name in names.split()}
"""All measures of a summary in display order."""

NEEDS_PROBABILITIES = tuple(
    name
    for name, measure in MEASURES.items()
    if measure.domain in ("calibration", "overall") or name in ("net_benefit", *_REFERENCES, "miscalibration_cost")
)

ThresholdSource = Literal["given", "costs", "cheapest", "decisions"]
"""Origins of a threshold: a number or the costs, both fixed beforehand; chosen on the rows; the model's own."""

TRIPOD = {
    "12d": "heterogeneity of performance: how it was handled and quantified",
    "12e": "all measures used to evaluate performance (discrimination, calibration, clinical utility)",
    "14": "fairness: performance in each group that matters",
    "15": "output of the model, and how the threshold of a classification was found",
    "21": "number of participants and of outcome events in each analysis",
    "23a": "performance with confidence intervals, in key subgroups too",
    "23b": "heterogeneity of performance across clusters",
}
"""Items of TRIPOD+AI (Collins et al. 2024) that a summary can answer; all others need the authors."""

REFERENCES = (
    "Van Calster et al. 2025, Lancet Digital Health, performance measures in predictive AI (STRATOS)",
    "Collins et al. 2024, BMJ 385:e078378 (TRIPOD+AI)",
)


_NOTHING = 1e-12  # what rounding leaves of 0


def _estimate_named(estimates: dict[str, Estimate], name: str) -> Estimate:
    """Return the estimate of a measure by its name or a synonym."""
    if name in estimates:
        return estimates[name]
    figure = known(str(name))
    for own, estimate in estimates.items():
        if figure is not None and known(own) is figure:
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
        That classification and utility are at; NaN where they are of the model's own decisions.
    estimates : dict from the name of a measure to Estimate
    notes : tuple of str
    threshold_source : {"given", "costs", "cheapest", "decisions"}
        "given" and "costs" were fixed beforehand, "cheapest" was chosen on all rows of the summary.
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
        The mean over the folds that have a number, with Student's t interval; n is how many these are.
    deviations : dict from the name of a measure to float
        Standard deviation over the same folds.
    fit_seconds, predict_seconds : float
        Mean over folds; NaN where the predictions do not tell. Not in `to_dict`, as no two runs take the same.
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
        """Return the mean of one model's rows over folds."""
        values = np.array([[row[name].value for name in MEASURES] for row in rows])
        with np.errstate(invalid="ignore"):  # a log loss may be infinite
            found = mean(values, level)
            known = [column[~np.isnan(column)] for column in values.T]
            spread = [float(column.std(ddof=1)) if column.size > 1 else nan for column in known]
        method = "Student t across folds, shared training rows not counted"
        columns = zip(found.value.tolist(), found.low.tolist(), found.high.tolist(), strict=True)
        of_folds = [Estimate(*ends, level, method, own.size) for ends, own in zip(columns, known, strict=True)]
        estimates = dict(zip(MEASURES, of_folds, strict=True))
        deviations = dict(zip(MEASURES, spread, strict=True))
        times = np.mean(seconds, axis=0).tolist() if seconds else (nan, nan)
        return cls(rows[0].model, len(rows), estimates, deviations, *times)

    def __getitem__(self, name: str) -> Estimate:
        return _estimate_named(self.estimates, name)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={self[name].value:.4g} ± {self.deviations[name]:.2g}" for name in ("auc", "brier"))
        return f"FoldsRow({self.model}: {shown}, {self.folds} folds)"

    def line(self, names: Sequence[str]) -> dict[str, str]:
        """Return a line of text: mean, standard deviation and interval of measures, and seconds."""
        cells = {
            MEASURES[name].heading: f"{cell(self[name])}, sd {_plain(self.deviations[name])}"
            for name in names
            if not isnan(self[name].value)
        }
        times = {"fit": self.fit_seconds, "predict": self.predict_seconds}
        seconds = {f"{name}, s": _plain(value) for name, value in times.items() if not isnan(value)}
        return {"model": self.model, "folds": str(self.folds)} | cells | seconds


@dataclass(frozen=True, eq=False, repr=False)
class Summary(Result, Sequence[SummaryRow]):
    """The results of a validation: one row for each model and part.

    A sequence of `SummaryRow`; one is also found by its model, or by model and part.

    Attributes
    ----------
    rows : tuple of SummaryRow
    context : Context
    by : {"segment", "fold"} or None
    level : float
    methods : str
        A paragraph for the methods section, with what was done and by which version.
    over_folds : tuple of FoldsRow
        With ``by="fold"``: mean, deviation and interval over folds, and seconds, of each model.
    tripod : dict from an item of TRIPOD+AI to whether the summary answers it
    """

    _content = ("rows", "context", "by", "level", "methods", "over_folds", "tripod")

    rows: tuple[SummaryRow, ...]
    context: Context
    by: str | None
    level: float
    methods: str
    over_folds: tuple[FoldsRow, ...] = ()

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, int | slice):
            return self.rows[key]
        model, part = key if isinstance(key, tuple) else (key, "all")
        for row in self.rows:
            if (row.model, row.part) == (model, str(part)):
                return row
        known = [f"{row.model}" if row.part == "all" else f"{row.model}, {row.part}" for row in self.rows]
        raise ColumnError("model and part", expected=check.one_of(f"{model}, {part}", known), got=repr(key))

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
        """Items of TRIPOD+AI for a validation, and whether this table answers them.

        Not 12d and 23b, which want differences between clusters quantified. 15: the costs are the reason for the
        threshold; one that is given as a number, and the decisions of models, are for authors to explain. 21: weights
        do not give the number of participants. 23a: intervals in segments too.
        """
        by_segment = self.by == "segment"
        return dict.fromkeys(TRIPOD, False) | {
            "12e": True,
            "14": by_segment,
            "15": all(row.threshold_source in ("costs", "cheapest") for row in self.rows),
            "21": all(isinstance(row.n, int) for row in self.rows),
            "23a": by_segment and not any(isnan(row["auc"].low) for row in self.rows),
        }

    @property
    def checklist(self) -> str:
        """The same as text, one line per item."""
        ticks = self.tripod.items()
        return "\n".join(f"[{'x' if done else ' '}] {item} {TRIPOD[item]}" for item, done in ticks)

    def table(self, domain: str | None = None) -> list[dict[str, str]]:
        """Return one line of text per row, with values and intervals of a domain's measures, or of all.

        Parameters
        ----------
        domain : {"discrimination", "calibration", "overall", "classification", "utility"}, optional
        """
        if domain is not None:
            check.check_choice("domain", domain, DOMAINS)
        shown = {name: m.heading for name, m in MEASURES.items() if domain in (None, m.domain)}
        return [self._named(row) | {shown[name]: cell(row[name]) for name in shown} for row in self.rows]

    def fold_table(self, domain: str | None = None) -> list[dict[str, str]]:
        """Return one line of text per model: mean, interval and standard deviation over folds, and seconds.

        Parameters
        ----------
        domain : see `table`
        """
        if domain is not None:
            check.check_choice("domain", domain, DOMAINS)
        names = [name for name, m in MEASURES.items() if domain in (None, m.domain)]
        return [row.line(names) for row in self.over_folds]

    def sheet(self, domain: str) -> list[dict[str, str]]:
        """Return one line of text per defined measure of a domain, with a cell per row."""
        check.check_choice("domain", domain, DOMAINS)
        names = [row.model if row.part == "all" else f"{row.model}, {row.part}" for row in self.rows]
        return [
            {domain: measure.heading} | dict(zip(names, (cell(row[name]) for row in self.rows), strict=True))
            for name, measure in MEASURES.items()
            if measure.domain == domain and not all(isnan(row[name].value) for row in self.rows)
        ]

    def _named(self, row: SummaryRow) -> dict[str, str]:
        part = {} if self.by is None else {self.by: row.part}
        return {"model": row.model} | part | {"n": number(row.n), "events": number(row.n_pos)}

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame with one row per model, part and measure: value, low, high, method.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
        """
        cells = [(row, name, row[name]) for row in self.rows for name in MEASURES]
        columns: dict[str, Any] = {
            "model": [row.model for row, _, _ in cells],
            "part": [row.part for row, _, _ in cells],
            "domain": [MEASURES[name].domain for _, name, _ in cells],
            "measure": [name for _, name, _ in cells],
        }
        columns |= {key: [getattr(e, key) for _, _, e in cells] for key in ("value", "low", "high", "method")}
        return frame_of(columns, backend)

    def __repr__(self) -> str:
        models = ", ".join(f"{row.model} AUC {row['auc'].value:.4g}" for row in self.rows if row.part == "all")
        parts = "" if self.by is None else f", by {self.by}"
        return f"Summary({models}{parts}, {len(MEASURES)} measures)"

    def _repr_html_(self) -> str:
        blocks = []
        for domain in DOMAINS:
            lines = self.table(domain)
            blocks.append(f"<h4>{domain}</h4>{html_table([list(line.values()) for line in lines], list(lines[0]))}")
            if over := self.fold_table(domain):
                heads = list(dict.fromkeys(head for line in over for head in line))
                blocks.append(html_table([[line.get(head, "undefined") for head in heads] for line in over], heads))
        notes = dict.fromkeys(note for row in self.rows for note in row.notes)
        listed = "".join(f"<li>{escape(note)}</li>" for note in notes)
        return "".join(blocks) + f"<ul>{listed}</ul><p>{escape(self.methods)}</p><pre>{escape(self.checklist)}</pre>"


def cell(estimate: Estimate) -> str:
    """Return value and interval as short text, with † if not reliable; the estimate states the reason.

    All three have as many decimals: three, or more where they are small.
    """
    if isnan(estimate.value) or isnan(estimate.low):
        return "undefined" if isnan(estimate.value) else _plain(estimate.value)
    numbers = (estimate.value, estimate.low, estimate.high)
    widest = _decimals(max(map(abs, numbers)))
    value, low, high = (_plain(each, min(max(_decimals(estimate.value), widest), widest + 1)) for each in numbers)
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
    small = _NOTHING <= abs(value) < 0.01
    return 1 - floor(log10(abs(value))) if small else 3


def _thresholds_used(rows: Sequence[SummaryRow], costs: str) -> str:
    """Return the thresholds of classification and net benefit, and which were fixed beforehand."""
    said = {
        "decisions": "of the decisions of the models themselves",
        "given": "at a threshold fixed beforehand",
        "costs": "at the threshold that the costs imply for a probability, fixed beforehand",
        "cheapest": "at the threshold of lowest expected cost on the same data, so they are optimistic",
    }
    models: dict[str, list[str]] = {}
    for row in rows:
        if row.part == "all":
            value = "" if isnan(row.threshold) else f" {row.threshold:g}"
            models.setdefault(row.threshold_source, []).append(f"{row.model}{value}")
    return "; ".join(f"{said[source]} ({', '.join(names)})" for source, names in models.items()) + f"; {costs}"


def methods_paragraph(
    version: str, context: Context, by: str | None, level: float, facts: Sequence[str], rows: Sequence[SummaryRow]
) -> str:
    """Return a paragraph for the methods section of a paper."""
    mix = "the sample's prevalence" if context.target_prevalence is None else f"{context.target_prevalence:.3g}"
    cost = context.costs
    costs = f"a false positive costing {cost['fp']:g} and a false negative {cost['fn']:g}"
    parts = "" if by is None else f" Performance was summarised for each {by}, at the threshold of all rows."
    percent = f"{100 * level:g} %"
    return (
        f"Performance was assessed in five domains (discrimination, calibration, overall, classification, clinical "
        f"utility) with rocscope {version}, at a prevalence of {mix}. Discrimination: area under the ROC curve. "
        f"Calibration: observed over expected events, calibration in the large, joint intercept and slope of logistic "
        f"recalibration, and the integrated calibration index, E50 and E90 from local linear regression (span 2/3, as "
        f"val.prob). Overall: Brier score, scaled Brier score, miscalibration (CORP) and log loss. Classification and "
        f"net benefit are {_thresholds_used(rows, costs)}. "
        f"{percent} confidence intervals: {'; '.join(facts)}.{parts} References: {'; '.join(REFERENCES)}."
    )
