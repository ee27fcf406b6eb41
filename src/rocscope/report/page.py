"""The page of a report: an HTML file with data, scripts, and tables for browsers without scripts.

Order of the file: the data as compact JSON, which `client/src/data.ts` reads; the page with these data; the open page,
which contains no data and reads files in the browser; and `Report`.

Thresholds are stored as bits, so that the browser shows exactly the score that Python chose. Cumulative counts are
stored as differences, with seven bits per byte.
"""

import base64
import hashlib
import json
import os
from collections.abc import Sequence
from functools import cache, cached_property
from html import escape
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from rocscope import __version__
from rocscope._base import validation as check
from rocscope._base.atomic_write import HTML, write_file
from rocscope._base.contract import held_to_contract
from rocscope.core import Context, jsonable
from rocscope.decisions.randomized import Review
from rocscope.errors import InputError
from rocscope.multiclass.predictions import MulticlassPredictions
from rocscope.report import multiclass
from rocscope.report.model import CONVENTIONS, CurvePoints, ModelOutline, ModelSummary, ReportData, report_data
from rocscope.report.multiclass import MulticlassData
from rocscope.sample import Labels, Models, Scores, with_context

PackedColumn = dict[str, Any]
Audience = Literal["learning", "clinical", "marketing"]

# JavaScript numbers represent all whole numbers up to this one exactly.
_EXACT = 2**53


def as_json(content: Any) -> str:
    """Return JSON with NaN and infinity as null."""
    return json.dumps(jsonable(content), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def in_script(text: str) -> str:
    """Escape JSON for a script element."""
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def payload(data: ReportData | MulticlassData) -> dict[str, Any]:
    """Return the data of the page in the format that `client/src/data.ts` declares."""
    return {
        "schema": data.schema_version,
        "title": data.title,
        "notes": data.notes,
        "context": packed_context(data.context),
        "decided": None if isinstance(data, MulticlassData) else _decided(data),
        "slices": [packed_part(part.kind, part.name, part.models, part.comparisons) for part in data.views],
        "classes": _classes(data) if isinstance(data, MulticlassData) else None,
        "validation": {} if isinstance(data, MulticlassData) else data.validation,
        "conventions": data.conventions,
        "warnings": data.warnings,
        "provenance": data.provenance,
    }


def _decided(data: ReportData) -> dict[str, Any] | None:
    """Return the interval of the cost of the decision, and the probabilities of the best model and of acting."""
    if data.decided is None or data.decided.interval is None:
        return None
    interval = data.decided.interval
    best = [interval.models.get(model.name) for model in data.models]
    ends = {"value": interval.value, "low": interval.low, "high": interval.high}
    return ends | {"best": best, "acting": interval.acting}


def packed_part(
    kind: str, name: str, models: Sequence[ModelOutline], comparisons: Sequence[dict[str, Any]] = ()
) -> dict[str, Any]:
    """Return the models on a part of the rows, and their comparisons."""
    pairs = packed_comparisons([model.name for model in models], comparisons)
    return {"kind": kind, "name": name, "models": [_model(model) for model in models], "comparisons": pairs}


def _classes(data: MulticlassData) -> dict[str, Any]:
    return {
        "names": [str(name) for name in data.predictions.classes],
        "overview": multiclass.page_overview(data),
        "matrices": [model.matrix.counts for model in data.models],
    }


def packed_comparisons(models: Sequence[str], comparisons: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return comparisons with indices instead of model names, to save space: twenty models have 190 pairs."""
    index = {model: number for number, model in enumerate(models)}
    rows = []
    for pair in comparisons:
        numbers = [_short(pair[name]) for name in ("difference", "low", "high", "p_value", "adjusted_p_value")]
        rows.append([index[pair["first"]], index[pair["second"]], *numbers])
    methods = dict.fromkeys(pair["method"] for pair in comparisons)
    return {"method": "; ".join(methods), "rows": rows}


COSTS = ("cost_fp", "cost_fn", "cost_tp", "cost_tn")


def packed_context(context: Context) -> dict[str, Any]:
    """Return the initial values of the sliders."""
    return {name: getattr(context, name) for name in ("target_prevalence", *COSTS)}


def _model(model: ModelOutline) -> dict[str, Any]:
    points = model.points
    return {
        "name": model.name,
        "threshold": scores_column(points.threshold[1:]),
        "next": scores_column(points.next_score) if points.next_score else None,
        "tp": counts_column(points.tp[1:]),
        "fp": counts_column(points.fp[1:]),
        "hull": counts_column(_hull_indices(points, model.hull)),
        "at_half": [model.default.tp, model.default.fp],
        "decided": model.decided and [model.decided.tp, model.decided.fp],
        "n_levels": model.n_levels,
        "deviation": _short(model.deviation),
        "auc": _shortened(model.auc_interval or {}) | {"value": model.auc["half"]},
        "average_precision": _short(model.average_precision),
        "calibration": model.calibration and packed_calibration(model.calibration),
    }


def _hull_indices(points: CurvePoints, hull: CurvePoints) -> list[int]:
    """Return the index, among the points, of each vertex of the hull."""
    depth = np.add(points.tp, points.fp)
    return np.searchsorted(depth, np.add(hull.tp, hull.fp)).tolist()


def scores_column(values: Sequence[Any]) -> PackedColumn:
    """Pack scores without rounding: as 32-bit floats, as 64-bit floats or, if neither is exact, as text."""
    if any(isinstance(value, int) and abs(value) > _EXACT for value in values):
        return {"text": [str(int(value)) for value in values]}
    wide = np.asarray(values, np.float64)
    with np.errstate(over="ignore"):
        narrow = wide.astype("<f4")
    if (narrow == wide).all():
        return {"f4": _base64(narrow.tobytes())}
    return {"f8": _base64(wide.astype("<f8").tobytes())}


def counts_column(totals: Sequence[float]) -> PackedColumn:
    """Pack cumulative counts: integers as varint differences (seven bits per byte, lowest first), others as float64.

    Examples
    --------
    >>> counts_column([1, 1, 301])
    {'steps': 'AQCsAg=='}
    """
    if not all(isinstance(total, int) for total in totals):
        return {"f8": _base64(np.asarray(totals, "<f8").tobytes())}
    packed = bytearray()
    for before, after in pairwise([0, *totals]):
        rest = int(after - before)
        # The highest bit is set if further bytes follow.
        while rest > 127:
            packed.append(rest & 127 | 128)
            rest >>= 7
        packed.append(rest)
    return {"steps": _base64(bytes(packed))}


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def packed_calibration(calibration: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a calibration plot, rounded to the precision that is visible."""
    rug = {}
    for name, column in calibration["rug"].items():
        rug[name] = [_short(cases) for cases in column]
    shown = ("brier", "slope", "intercept", "ece")
    numbers = {name: calibration["numbers"].get(name) for name in shown}
    return {
        "bins": [_shortened(row) for row in calibration["bins"]],
        "smooth": calibration["smooth"] and _smooth(calibration["smooth"]),
        "rug": rug,
        "numbers": _shortened(numbers),
    }


def _smooth(curve: dict[str, list[float]]) -> dict[str, list[float]]:
    """Pack a curve with evenly spaced x: the first and the last x, and y in thousandths."""
    packed = {"x": [_short(curve["x"][0]), _short(curve["x"][-1])]}
    for name, heights in curve.items():
        if name != "x":
            packed[name] = [round(height, 3) for height in heights]
    return packed


def _shortened(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: _short(value) for name, value in fields.items()}


def _short(value: Any) -> Any:
    """Round a number to the precision that is visible in a plot. Numbers for decisions are not rounded."""
    if not isinstance(value, float):
        return value
    short = float(f"{value:.4g}")
    return int(short) if short.is_integer() else short


# ---- The page ----

# Small enough for an e-mail attachment.
MOST_BYTES = 5_000_000


class Table(NamedTuple):
    """A table of texts for browsers without scripts, and the name of the highlighted model."""

    rows: list[dict[str, str]]
    best: str = ""


def render(data: ReportData | MulticlassData, audience: Audience = "learning") -> str:
    """Return the page as HTML, with the technical terms of an audience.

    Raises
    ------
    InputError
        If the page is larger than 5 MB.
    """
    several_classes = isinstance(data, MulticlassData)
    tables = _tables_of_classes(data) if several_classes else _tables(data)
    content = payload(data) | {"audience": audience}
    decided = None if several_classes else data.decided
    page = _page(data=data, payload=raw(in_script(as_json(content))), tables=tables, decided=decided)
    size = len(page.encode())
    if size > MOST_BYTES:
        hint = "omit models (Predictions.select(models=[…]))"
        kinds = " and ".join(sorted({part.kind for part in data.slices}))
        if several_classes:
            hint = "omit models (MulticlassPredictions.select(models=[…]))"
        elif kinds:
            hint = f"omit the {kinds} column, or models (Predictions.select(models=[…]))"
        parts = f"{len(data.slices)} {'classes' if several_classes else 'segments or folds'}"
        got = f"{size / 1e6:.1f} MB from {len(data.models)} models and {parts}"
        raise InputError("report", expected=f"at most {MOST_BYTES / 1e6:g} MB", got=got, hint=hint)
    return page


def shell() -> str:
    """Return the HTML of a page without data, with placeholders such as @@payload@@."""
    data = {"title": raw("@@title@@"), "verdict": raw("@@verdict@@"), "notes": ""}
    parts = {name: raw(f"@@{name}@@") for name in ("payload", "models", "script", "style")}
    return _page(data=data, tables={}, **parts)


def _page(**contents: Any) -> str:
    defaults = {"models": "", "decided": None, "notices": raw(client("THIRD_PARTY.txt"))}
    defaults |= assets(script="report.js", style="report.css")
    return template("report.html.j2").render(defaults | contents)


def _tables(data: ReportData) -> dict[str, Table]:
    rows = [_row(model, data.decision.prevalence) for model in data.models]
    tables = {"Models": Table(rows, data.decision.model)}
    for heading, lines in data.validation.items():
        tables[heading] = Table(lines)
    return tables


def _row(model: ModelSummary, prevalence: float) -> dict[str, str]:
    """Return a row of texts for a model, with the accuracy at the given prevalence."""
    best = model.best
    default = model.default.at_prevalence(prevalence)
    return {
        "model": model.name,
        "AUC": f"{model.auc['half']:.4f}",
        "best threshold": best.threshold_text,
        "TP": f"{best.tp:,g}",
        "FP": f"{best.fp:,g}",
        "FN": f"{best.fn:,g}",
        "TN": f"{best.tn:,g}",
        "accuracy": f"{best.at_prevalence(prevalence).accuracy:.2%}",
        "cost per case": f"{model.best_cost:.4g}",
        "accuracy at 0.5": "" if model.at_half is None else f"{default.accuracy:.2%}",
    }


def _tables_of_classes(data: MulticlassData) -> dict[str, Table]:
    tables = {"Models": Table(multiclass.overview(data), data.best.name)}
    for model in data.models:
        tables[f"{model.name}: classes"] = Table(multiclass.by_class(model))
        tables[f"{model.name}: confusion matrix"] = Table(multiclass.confusion_table(model))
    return tables


@cache
def client(name: str) -> str:
    """Return the content of a script or style that was built from `client`."""
    return (files("rocscope.report") / "bundles" / name).read_text(encoding="utf-8").strip()


def digest(content: str) -> str:
    """Return the hash that the content security policy requires for a script or style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def assets(**names: str) -> dict[str, Any]:
    """Return the contents of scripts and styles by name, and their hashes for the content security policy."""
    contents = {name: client(file) for name, file in names.items()}
    hashes = {f"{name}_hash": digest(content) for name, content in contents.items()}
    return {name: raw(content) for name, content in contents.items()} | hashes


def raw(content: str) -> Any:
    """Mark HTML as already escaped."""
    from markupsafe import Markup

    return Markup(content)


@cache
def template(name: str) -> Any:
    """Return a page template with automatic escaping."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("rocscope.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    return environment.get_template(name)


# ---- The open page ----


def open_page() -> str:
    """Return the open page: one offline file without network requests.

    Examples
    --------
    >>> page = open_page()
    >>> len(page) < 290_000, "connect-src 'none'" in page
    (True, True)
    """
    facts = json.dumps({"version": __version__, "conventions": CONVENTIONS, "shell": shell()})
    return template("open.html.j2").render(
        facts=raw(in_script(facts)),
        worker=raw(client("worker.js")),
        notices=raw(client("THIRD_PARTY.txt")),
        **assets(report="report.js", open="open.js", style="report.css", open_style="open.css"),
    )


@held_to_contract
class Report:
    """Interactive HTML report with ROC, lift, profit and calibration charts of one or several models.

    The HTML file contains the data and needs no internet connection.

    Parameters
    ----------
    predictions, y_score, pos_label, sample_weight : data of one or several models, or MulticlassPredictions
        Predictions, labels and scores, or a mapping from model name to counts or points; see `rocscope.sample`.
        SegmentedCounts, or a mapping from model name to SegmentedCounts, are shown for all rows together and for each
        segment. If there are more than two classes, the reader of the report selects the positive class.
    context : Context, optional
        Costs and prevalence. By default, both kinds of errors cost 1, and the prevalence is that in the sample. With
        more than two classes, the context must not have a target prevalence, because each class has its own prevalence.
    title, notes : str
        Title and notes of the report, as plain text.
    review : Review, optional
        Human review of cases as a third action, for two classes only. The report shows the range of scores to review.
        The capacity of the review refers to the number of rows.
    audience : {"learning", "clinical", "marketing"}
        Technical terms of the page, and the chart next to the ROC curve. "learning": true positive rate and gain.
        "clinical": sensitivity, PPV and net benefit. "marketing": response rate and profit. The reader can change this.

    Raises
    ------
    OneClassError
        If all rows have the same class.
    InputError
        If there are more than 1,000 segments. If there are more than 40, all but the largest segments are pooled.

    Examples
    --------
    >>> from rocscope import Predictions
    >>> report = Report(Predictions([1, 1, 0, 1, 0], [0.9, 0.6, 0.4, 0.4, 0.2]), title="five rows")
    >>> report.data.decision.threshold
    0.6
    """

    def __init__(
        self,
        predictions: Models | MulticlassPredictions | Labels,
        y_score: Scores | Context | None = None,
        context: Context | None = None,
        *,
        pos_label: Any = None,
        sample_weight: Any = None,
        title: str = "",
        notes: str = "",
        review: Review | None = None,
        audience: Audience = "learning",
    ) -> None:
        check.check_choice("audience", audience, get_args(Audience))
        self._audience: Audience = audience
        self.data: ReportData | MulticlassData
        labelled = {"pos_label": pos_label, "sample_weight": sample_weight}
        data, context = with_context(predictions, y_score, context, **labelled)
        if isinstance(data, MulticlassPredictions):
            if review is not None:
                raise InputError("review", expected="None for more than two classes", got=check.shown(review))
            self.data = multiclass.multiclass_report(data, context=context, title=title, notes=notes)
        else:
            self.data = report_data(data, context=context, title=title, notes=notes, review=review)

    @cached_property
    def html(self) -> str:
        """The report as HTML text."""
        return render(self.data, self._audience)

    def save(self, path: str | os.PathLike[str], *, force: bool = True) -> Path:
        """Save the report as an HTML file, and return the path of the file.

        Parameters
        ----------
        path : str or path
            Name of the file.
        force : bool
            If True, replace an existing file.

        Raises
        ------
        InputError
            If the file cannot be written, or if it exists and `force` is False.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     Report([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.3]).save(f"{folder}/report.html").name
        'report.html'
        """
        return write_file(path, self.html, force=force, endings=HTML)

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the report as a dictionary for JSON.

        Examples
        --------
        >>> content = Report([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.3]).to_dict()
        >>> sorted(content)
        ['comparisons', 'context', 'conventions', 'decided', 'decision', 'models', 'notes', 'provenance',
         'schema_version', 'slices', 'summary', 'title', 'warnings']
        """
        return self.data.to_dict()

    def __repr__(self) -> str:
        return f"Report({self.data.title!r}, models={[model.name for model in self.data.models]})"

    def _repr_html_(self) -> str:
        frame = 'style="width:100%;height:60em;border:0" sandbox="allow-scripts allow-downloads"'
        return f'<iframe {frame} title="{escape(self.data.title)}" srcdoc="{escape(self.html)}"></iframe>'
