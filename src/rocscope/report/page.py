"""Compact encoding of ReportData for the page.

Thresholds travel as their own bits, so that the browser names exactly the score that Python chose; running counts
travel as steps of seven bits a byte. `client/src/data.ts` reads what this module writes.
"""
# MERGED-DOC: """Render ReportData as one HTML page: client, data, and a table for readers without scripts.
#
# The open page: the client without data, which counts the files that are dropped on it in the browser.
#
# Report: predictions in, one interactive HTML file out.
# """

import base64
import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from html import escape
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rocscope import __version__
from rocscope._base.atomic_write import write_file
from rocscope._base.contract import held_to_contract
from rocscope.core.context import Context
from rocscope.core.result import jsonable
from rocscope.decisions.randomized import Review
from rocscope.errors import InputError
from rocscope.multiclass.predictions import MulticlassPredictions
from rocscope.report.model import CONVENTIONS, CurvePoints, ModelOutline, ModelSummary, ReportData, Slice, report_data
from rocscope.report.multiclass import (
    MulticlassData,
    by_class,
    confusion_table,
    multiclass_report,
    overview,
    page_overview,
)
from rocscope.sample import Labels, Models, Scores, with_context

PackedColumn = dict[str, Any]

_EXACT = 2**53  # up to which JavaScript's numbers hold every whole number


def page_json(data: ReportData | MulticlassData) -> str:
    """Return the report's data as JSON for a script element."""
    return in_script(as_json(payload(data)))


def as_json(found: Any) -> str:
    """Return JSON with NaN and infinity as null."""
    return json.dumps(jsonable(found), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def in_script(text: str) -> str:
    """Escape JSON for a script element."""
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def payload(data: ReportData | MulticlassData) -> dict[str, Any]:
    """Return the page's data, as declared in `client/src/data.ts`."""
    return {
        "schema": data.schema_version,
        "title": data.title,
        "notes": data.notes,
        "context": packed_context(data.context),
        "slices": [packed_slice(part) for part in data.views],
        "classes": _classes(data) if isinstance(data, MulticlassData) else None,
        "validation": {} if isinstance(data, MulticlassData) else data.validation,
        "conventions": data.conventions,
        "warnings": data.warnings,
        "provenance": data.provenance,
    }


def packed_slice(part: Slice) -> dict[str, Any]:
    """Return the models on some rows, and their comparisons."""
    return packed_part(part.kind, part.name, part.models, part.comparisons)


def packed_part(
    kind: str, name: str, models: Sequence[ModelOutline], comparisons: Sequence[dict[str, Any]] = ()
) -> dict[str, Any]:
    """Return the same for models known only by their outlines."""
    pairs = packed_comparisons([model.name for model in models], comparisons)
    return {"kind": kind, "name": name, "models": [_model(model) for model in models], "comparisons": pairs}


def _classes(data: MulticlassData) -> dict[str, Any]:
    return {
        "names": [str(name) for name in data.predictions.classes],
        "overview": page_overview(data),
        "matrices": [model.matrix.counts for model in data.models],
    }


def packed_comparisons(models: Sequence[str], comparisons: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return comparisons with models by index: twenty models have 190 pairs."""
    place = {model: number for number, model in enumerate(models)}
    rows = [
        [place[pair["first"]], place[pair["second"]], *(_short(pair[name]) for name in _OF_A_PAIR)]
        for pair in comparisons
    ]
    return {"method": "; ".join(dict.fromkeys(pair["method"] for pair in comparisons)), "rows": rows}


_OF_A_PAIR = ("difference", "low", "high", "p_value", "adjusted_p_value")
COSTS = ("cost_fp", "cost_fn", "cost_tp", "cost_tn")


def packed_context(context: Context) -> dict[str, Any]:
    """Return the initial values of the sliders."""
    return {name: getattr(context, name) for name in ("target_prevalence", *COSTS)}


def _model(model: ModelOutline) -> dict[str, Any]:
    points = model.points
    return {
        "name": model.name,
        "threshold": scores_column(points.threshold[1:]),
        "tp": counts_column(points.tp[1:]),
        "fp": counts_column(points.fp[1:]),
        "hull": counts_column(_vertices(points, model.hull)),
        "at_half": [model.default.tp, model.default.fp],
        "decided": model.decided and [model.decided.tp, model.decided.fp],
        "n_levels": model.n_levels,
        "deviation": _short(model.deviation),
        "auc": _shortened(model.auc_interval or {}) | {"value": model.auc["half"]},
        "average_precision": _short(model.average_precision),
        "ks": _short(model.ks),
        "calibration": model.calibration and packed_calibration(model.calibration),
    }


def _vertices(points: CurvePoints, hull: CurvePoints) -> list[int]:
    """Return the indices of the hull's vertices among the points."""
    depth = np.add(points.tp, points.fp)
    return np.searchsorted(depth, np.add(hull.tp, hull.fp)).tolist()


def scores_column(values: Sequence[Any]) -> PackedColumn:
    """Pack scores without rounding: as 32 or 64 bits, or as text if neither is exact."""
    if any(isinstance(value, int) and abs(value) > _EXACT for value in values):
        return {"text": [str(int(value)) for value in values]}
    wide = np.asarray(values, np.float64)
    with np.errstate(over="ignore"):
        narrow = wide.astype("<f4")
    if (narrow == wide).all():
        return {"f4": _base64(narrow.tobytes())}
    return {"f8": _base64(wide.astype("<f8").tobytes())}


def counts_column(totals: Sequence[float]) -> PackedColumn:
    """Pack cumulative counts: whole ones as varint differences (seven bits per byte, lowest first), others as float64.

    Examples
    --------
    >>> counts_column([1, 1, 301])
    {'steps': 'AQCsAg=='}
    """
    if not all(isinstance(total, int) for total in totals):
        return {"f8": _base64(np.asarray(totals, "<f8").tobytes())}
    steps = (after - before for before, after in pairwise([0, *totals]))
    return {"steps": _base64(bytes(_sevens(steps)))}


def _sevens(steps: Iterable[float]) -> Iterable[int]:
    for step in steps:
        rest = int(step)
        while rest > 127:
            yield rest & 127 | 128
            rest >>= 7
        yield rest


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def packed_calibration(calibration: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a calibration plot, rounded to visible precision."""
    return {
        "bins": [_shortened(row) for row in calibration["bins"]],
        "smooth": calibration["smooth"] and _smooth(calibration["smooth"]),
        "rug": {name: [_short(cases) for cases in column] for name, column in calibration["rug"].items()},
        "numbers": _shortened({name: calibration["numbers"].get(name) for name in _SHOWN}),
    }


def _smooth(curve: dict[str, list[float]]) -> dict[str, list[float]]:
    """Pack a curve at evenly spaced x: first and last x, and heights to a thousandth."""
    heights = {name: [round(value, 3) for value in curve[name]] for name in curve if name != "x"}
    return {"x": [_short(curve["x"][0]), _short(curve["x"][-1])]} | heights


_SHOWN = ("brier", "slope", "intercept", "ece", "ici", "p_value")


def _shortened(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: _short(value) for name, value in fields.items()}


def _short(value: Any) -> Any:
    """Round a number to visible precision; for drawing only, not for decisions."""
    if not isinstance(value, float):
        return value
    short = float(f"{value:.4g}")
    return int(short) if short.is_integer() else short


MOST_BYTES = 5_000_000  # a choice: mail takes it as an attachment


class Table(NamedTuple):
    """Rows of text for readers without scripts, and the highlighted model."""

    rows: list[dict[str, str]]
    best: str = ""


def render(data: ReportData | MulticlassData) -> str:
    """Render the page.

    Raises
    ------
    InputError
        If it is larger than 5 MB.
    """
    tables = _tables_of_classes(data) if isinstance(data, MulticlassData) else _tables(data)
    found = None if isinstance(data, MulticlassData) else data.decided
    page = _page(data=data, payload=raw(page_json(data)), tables=tables, decided=found)
    if (size := len(page.encode())) > MOST_BYTES:
        raise InputError(
            "report",
            expected=f"at most {MOST_BYTES / 1e6:g} MB",
            got=f"{size / 1e6:.1f} MB from {len(data.models)} models and {len(data.slices)} {_kinds(data)}",
            hint=_what_to_drop(data),
        )
    return page


def shell() -> str:
    """Return the page of any report, with placeholders such as @@payload@@."""
    place = {name: raw(f"@@{name}@@") for name in ("title", "verdict", "models", "payload", "script", "style")}
    data = {name: place[name] for name in ("title", "verdict")} | {"notes": ""}
    parts = {name: place[name] for name in ("payload", "models", "script", "style")}
    return _page(data=data, tables={}, **parts)


def _page(**contents: Any) -> str:
    script, style = client("report.js"), client("report.css")
    fixed = {
        "script": raw(script),
        "style": raw(style),
        "models": "",
        "decided": None,
        "notices": raw(client("THIRD_PARTY.txt")),
    }
    hashes = {"script_hash": digest(script), "style_hash": digest(style)}
    return template("report.html.j2").render(fixed | hashes | contents)


def _tables(data: ReportData) -> dict[str, Table]:
    return {
        "Models": Table([_row(model, data.decision.prevalence) for model in data.models], data.decision.model),
        **{heading: Table(lines) for heading, lines in data.validation.items()},
    }


def _tables_of_classes(data: MulticlassData) -> dict[str, Table]:
    tables = {"Models": Table(overview(data), data.best.name)}
    for model in data.models:
        tables[f"{model.name}: classes"] = Table(by_class(model))
        tables[f"{model.name}: confusion matrix"] = Table(confusion_table(model))
    return tables


def _what_to_drop(data: ReportData | MulticlassData) -> str:
    if isinstance(data, MulticlassData):
        return "leave out models (MulticlassPredictions.select(models=[…]))"
    kinds = sorted({part.kind for part in data.slices})
    if kinds:
        return f"leave out the {' and '.join(kinds)} column, or models (Predictions.select(models=[…]))"
    return "leave out models (Predictions.select(models=[…]))"


def _kinds(data: ReportData | MulticlassData) -> str:
    return "classes" if isinstance(data, MulticlassData) else "segments or folds"


@cache
def client(name: str) -> str:
    """Return a built client file."""
    return (files("rocscope.report") / "bundles" / name).read_text(encoding="utf-8").strip()


def digest(content: str) -> str:
    """Return the hash that the content security policy requires for a script or style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def raw(content: str) -> Any:
    """Mark markup as already escaped."""
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


def _row(model: ModelSummary, prevalence: float) -> dict[str, str]:
    """Return a row of text, with the accuracy at the verdict's prevalence."""
    best = model.best
    accuracy = [point.at_prevalence(prevalence).accuracy for point in (best, model.default)]
    return {
        "model": model.name,
        "AUC": f"{model.auc['half']:.4f}",
        "best threshold": f"{best.threshold:.6g}",
        "TP": f"{best.tp:,g}",
        "FP": f"{best.fp:,g}",
        "FN": f"{best.fn:,g}",
        "TN": f"{best.tn:,g}",
        "accuracy": f"{accuracy[0]:.2%}",
        "cost per case": f"{model.best_cost:.4g}",
        "accuracy at 0.5": "" if model.at_half is None else f"{accuracy[1]:.2%}",
    }


def open_page() -> str:
    """Return the open page: one offline file that makes no requests.

    Examples
    --------
    >>> page = open_page()
    >>> len(page) < 250_000, "connect-src 'none'" in page
    (True, True)
    """
    facts = json.dumps({"version": __version__, "conventions": CONVENTIONS, "shell": shell()})
    report, opened, style, open_style = map(client, ("report.js", "open.js", "report.css", "open.css"))
    return template("open.html.j2").render(
        facts=raw(in_script(facts)),
        worker=raw(client("worker.js")),
        report=raw(report),
        open=raw(opened),
        style=raw(style),
        open_style=raw(open_style),
        report_hash=digest(report),
        open_hash=digest(opened),
        style_hash=digest(style),
        open_style_hash=digest(open_style),
        notices=raw(client("THIRD_PARTY.txt")),
    )


@held_to_contract
class Report:
    """ROC, lift, profit and calibration of several models in one offline file, tied to one choice of costs.

    Parameters
    ----------
    predictions, y_score, pos_label, sample_weight : data of one or several models, or MulticlassPredictions
        Predictions, labels and scores, or a mapping of counts or points by model name; see `rocscope.sample`.
        SegmentedCounts, or a mapping of them by model, are shown as all rows together and segment by segment. Of more
        than two classes the reader picks the one that is positive, against all others.
    context : Context, optional
        Prevalence and costs; the sample's prevalence and equal costs by default. Costs only, with more than two
        classes: each has a prevalence of its own.
    title, notes : str
        Plain text.
    review : Review, optional
        A closer look, for a price, as a third action beside acting and leaving; the report says whom to look at. Its
        capacity is of as many cases as there are rows. Two classes only.

    Raises
    ------
    OneClassError
        If the rows hold one class only.
    InputError
        If rows have more than 1,000 segments; of more than 40 the largest are shown apart, the others as one.

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
    ) -> None:
        self.data: ReportData | MulticlassData
        labelled = {"pos_label": pos_label, "sample_weight": sample_weight}
        data, context = with_context(predictions, y_score, context, **labelled)
        if isinstance(data, MulticlassPredictions):
            if review is not None:
                raise InputError("review", expected="none with more than two classes", got="one")
            self.data = multiclass_report(data, context=context, title=title, notes=notes)
        else:
            self.data = report_data(data, context=context, title=title, notes=notes, review=review)

    @cached_property
    def html(self) -> str:
        """The page as HTML."""
        return render(self.data)

    def save(self, path: str | os.PathLike[str], *, force: bool = True) -> Path:
        """Save the page and return its path.

        Raises
        ------
        InputError
            If the file exists and `force` is False, or cannot be written.
        """
        return write_file(path, self.html, force=force)

    def to_dict(self) -> dict[str, Any]:
        """Return the data of the report, safe for JSON."""
        return self.data.to_dict()

    def __repr__(self) -> str:
        return f"Report({self.data.title!r}, models={[model.name for model in self.data.models]})"

    def _repr_html_(self) -> str:
        frame = 'style="width:100%;height:60em;border:0" sandbox="allow-scripts allow-downloads"'
        return f'<iframe {frame} title="{escape(self.data.title)}" srcdoc="{escape(self.html)}"></iframe>'
