"""Compact encoding of ReportData for the page.

Thresholds travel as their own bits, so that the browser names exactly the score that Python chose; running counts
travel as steps of seven bits a byte. `client/src/data.ts` reads what this module writes.
"""

import base64
import json
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from rocscope.core.context import Context
from rocscope.core.result import jsonable
from rocscope.report.model import ReportData
from rocscope.report.multiclass import MulticlassData, page_overview
from rocscope.report.slices import Slice
from rocscope.report.summary import CurvePoints, ModelOutline

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
