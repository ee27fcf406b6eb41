"""ReportData as one HTML page: the client, the data, and a table for readers without scripts."""

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from rocscope.errors import InputError
from rocscope.report.model import ReportData
from rocscope.report.multiclass import MulticlassData, by_class, confusion_table, overview
from rocscope.report.pack import page_json
from rocscope.report.summary import ModelSummary

MOST_BYTES = 5_000_000


class Table(NamedTuple):
    """Rows of text for a reader without scripts, and the model whose row stands out."""

    rows: list[dict[str, str]]
    best: str = ""


def render(data: ReportData | MulticlassData) -> str:
    """Return the page.

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
    """Return the page of any report, with names such as @@payload@@ where its contents go."""
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
    """Return a built file of the client."""
    return (files("rocscope.report") / "bundles" / name).read_text(encoding="utf-8").strip()


def digest(content: str) -> str:
    """Return what a content security policy calls the only script, or style, that may run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def raw(content: str) -> Any:
    """Return markup that is not to be escaped again."""
    from markupsafe import Markup

    return Markup(content)


@cache
def template(name: str) -> Any:
    """Return a template of a page, in which all values are escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("rocscope.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    return environment.get_template(name)


def _row(model: ModelSummary, prevalence: float) -> dict[str, str]:
    """Return a row of text; accuracy is that at the prevalence which the verdict speaks of."""
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
