"""The allocation file: terms, counts and thresholds of each segment."""

import math
from dataclasses import fields as fields_of
from fractions import Fraction
from typing import Any

import numpy as np

from rocscope._base.grouping import listed
from rocscope._base.json_format import Fields, Format
from rocscope.decisions.allocation.parity import RATES, SegmentShares
from rocscope.decisions.allocation.segment_costs import SegmentUnitCosts, UnitCosts
from rocscope.decisions.decision_file import read_fraction
from rocscope.errors import InputError
from rocscope.segments.levels import SegmentLevels

FORMAT = Format("rocscope.allocation", 1, "an allocation", "allocate anew with rocscope.allocate and save that")
_NAMES = (str, int, float, bool)


def content(points: SegmentLevels, parts: SegmentShares, terms: SegmentUnitCosts) -> dict[str, Any]:
    """Return the content that `read` needs, safe for JSON, with fractions as texts."""
    names = listed(points.names)
    if not all(type(name) in _NAMES for name in names):
        raise InputError("save", expected="segments named by texts or numbers", got=type(names[0]).__name__)
    counts = zip(points.n_pos.tolist(), points.n_neg.tolist(), terms.kind.tolist(), names, strict=True)
    segments = [
        {"name": name, "terms": kind, "n_pos": pos, "n_neg": neg, "parts": []} for pos, neg, kind, name in counts
    ]
    for segment, at, share in zip(parts.segment.tolist(), parts.point.tolist(), parts.share, strict=True):
        part: dict[str, Any] = {"share": str(share)}
        if at >= 0:
            score, tp, fp = (axis[at : at + 1].tolist()[0] for axis in (points.threshold, points.tp, points.fp))
            everybody = tp == segments[segment]["n_pos"] and fp == segments[segment]["n_neg"]
            part |= {
                "model": points.models[points.model[at]],
                "score": None if everybody else score,
                "tp": tp,
                "fp": fp,
            }
        segments[segment]["parts"].append(part)
    every = [{field.name: str(getattr(term, field.name)) for field in fields_of(UnitCosts)} for term in terms.every]
    return {"models": points.models, "terms": every, "fixed": str(terms.fixed), "segments": segments}


def read(fields: Fields) -> tuple[SegmentLevels, SegmentShares, SegmentUnitCosts]:
    """Return points, shares and terms from a file, checked for type and range."""
    models = list(fields.texts("models"))
    every = [
        UnitCosts(**{each.name: fraction(term, each.name) for each in fields_of(UnitCosts)})
        for term in fields.objects("terms")
    ]
    segments = fields.objects("segments")
    if not models or not every or not segments:
        fields.refuse("segments", "models, terms and segments")
    kind = np.array([each.whole("terms") for each in segments], np.intp)
    if kind.max() >= len(every):
        fields.refuse("terms", "terms of each segment")
    columns: dict[str, list[Any]] = {name: [] for name in ("score", "model", "tp", "fp")}
    start, owner, point, shares = [0], [], [], []
    for i, segment in enumerate(segments):
        own = segment.objects("parts")
        for part in own:
            owner.append(i)
            shares.append(read_fraction(part, "share"))
            point.append(_add(part, models, columns))
        if not own or sum(shares[len(shares) - len(own) :], Fraction(0)) != 1:
            segment.refuse("parts", "shares whose sum is 1")
        start.append(len(columns["tp"]))
    totals = (_counts([each.number(name, 0) for each in segments]) for name in ("n_pos", "n_neg"))
    score, model, tp, fp = columns.values()
    levels = SegmentLevels(
        np.array(start),
        _column(score),
        _counts(tp),
        _counts(fp),
        *totals,
        names=_column([_name(each) for each in segments]),
        models=models,
        model=np.array(model, np.intp),
    )
    parts = SegmentShares(np.array(owner), np.array(point), shares)
    return levels, parts, SegmentUnitCosts(every, kind, fraction(fields, "fixed"))


def differences(fields: Fields) -> dict[str, float]:
    """Return the largest difference of each rate."""
    found = fields.inner("max_difference", "a difference by rate")
    unknown = [name for name in found.content if name not in RATES]
    return (
        found.refuse(unknown[0], f"one of {', '.join(RATES)}")
        if unknown
        else {name: found.number(name, 0, 1) for name in found.content}
    )


def constraints(fields: Fields) -> tuple[tuple[Any, str], ...]:
    """Return the constraints of segments; none where a file has none."""
    if "subject_to" not in fields.content:
        return ()
    every = fields.objects("subject_to")
    return tuple(
        (None if each.content.get("segment") is None else _name(each, "segment"), each.text("constraint"))
        for each in every
    )


def fraction(fields: Fields, name: str) -> Fraction:
    """Return a number stored as the text of a fraction."""
    return fields.make(name, Fraction, fields.text(name))


def _name(segment: Fields, key: str = "name") -> Any:
    name = segment.content.get(key)
    known = type(name) in _NAMES and not (isinstance(name, float) and not math.isfinite(name))
    return name if known else segment.refuse(key, "a text or a number")


def _add(part: Fields, models: list[str], columns: dict[str, list[Any]]) -> int:
    """Add a part's point to the columns and return its index; −1 for nobody."""
    if "model" not in part.content:
        return -1
    model = part.text("model")
    if model not in models:
        part.refuse("model", f"one of {', '.join(models)}")
    score = part.optional_number("score")  # none where everybody is taken
    columns["score"].append(0 if score is None else score)
    columns["model"].append(models.index(model))
    for name in ("tp", "fp"):
        columns[name].append(part.number(name, 0))
    return len(columns["tp"]) - 1


def _column(values: list[Any]) -> Any:
    """Return values as an array without converting them."""
    if len({type(each) for each in values}) == 1:
        return np.array(values)
    column = np.empty(len(values), object)
    column[:] = values
    return column


def _counts(values: list[Any]) -> Any:
    whole = all(type(each) is int for each in values)
    return np.array(values, np.int64 if whole else np.float64)
