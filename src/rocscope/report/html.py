"""ReportData as one HTML page: the client, the data, and a table for readers without scripts."""

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

from rocscope.errors import InputError
from rocscope.report.calibration import calibration_table
from rocscope.report.model import ReportData
from rocscope.report.pack import page_json
from rocscope.report.summary import ModelSummary

MOST_BYTES = 5_000_000


def render(data: ReportData) -> str:
    """Return the page.

    Raises
    ------
    InputError
        If it is larger than 5 MB.
    """
    script, style = _client("report.js"), _client("report.css")
    page = _template().render(
        data=data,
        payload=_raw(page_json(data)),
        rows=[_row(model) for model in data.models],
        calibration=calibration_table(data.models),
        script=_raw(script),
        style=_raw(style),
        script_hash=_hash(script),
        style_hash=_hash(style),
    )
    if (size := len(page.encode())) > MOST_BYTES:
        raise InputError(
            "report",
            expected=f"at most {MOST_BYTES / 1e6:g} MB",
            got=f"{size / 1e6:.1f} MB from {len(data.models)} models and {len(data.slices)} segments or folds",
            hint=_what_to_drop(data),
        )
    return page


def _what_to_drop(data: ReportData) -> str:
    kinds = sorted({part.kind for part in data.slices})
    if kinds:
        return f"leave out the {' and '.join(kinds)} column, or models (Predictions.select(models=[…]))"
    return "leave out models (Predictions.select(models=[…]))"


@cache
def _client(name: str) -> str:
    return (files("rocscope.report") / "client" / "dist" / name).read_text(encoding="utf-8").strip()


def _hash(content: str) -> str:
    """Return what a content security policy calls the only script, or style, that may run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _raw(content: str) -> Any:
    from markupsafe import Markup

    return Markup(content)


@cache
def _template() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("rocscope.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    return environment.get_template("report.html.j2")


def _row(model: ModelSummary) -> dict[str, str]:
    best = model.best
    return {
        "model": model.name,
        "AUC": f"{model.auc['half']:.4f}",
        "best threshold": f"{best.threshold:.6g}",
        "TP": f"{best.tp:,g}",
        "FP": f"{best.fp:,g}",
        "FN": f"{best.fn:,g}",
        "TN": f"{best.tn:,g}",
        "accuracy": f"{best.accuracy:.2%}",
        "cost per case": f"{model.best_cost:.4g}",
        "accuracy at 0.5": f"{model.default.accuracy:.2%}",
    }
