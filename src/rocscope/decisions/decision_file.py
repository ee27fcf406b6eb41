"""The file of a decision, described in docs/decision-json.md: what each of its fields must be."""

import math
from typing import Any

from rocscope._stored import Fields, Format, is_number
from rocscope.core.context import Context
from rocscope.core.point import OperatingPoint

FORMAT = Format("rocscope.decision", 2, "a decision", "make the decision anew with rocscope.choose and save it")

_INFINITE_RULES = {("never", False): math.inf, ("always", False): -math.inf}
_INFINITE_RULES |= {("always", True): math.inf, ("never", True): -math.inf}
_COSTS = ("expected_cost", "default_cost", "hull_cost", "treat_all_cost", "treat_none_cost")


def arguments(fields: Fields) -> dict[str, Any]:
    """Return the arguments of a Decision, each checked for its type and range."""
    negated = fields.take("negated", bool, "true or false")
    value = fields.optional_number("criterion_value")
    return {
        "model": fields.text("model"),
        "point": _point(fields, "point", _threshold(fields, negated)),
        "context": fields.make("context", Context, **fields.take("context", dict, "a prevalence and four costs")),
        "default_point": _point(fields, "default_point", _default_threshold(fields)),
        **{name: fields.number(name) for name in _COSTS},
        "criterion": fields.text("criterion"),
        "criterion_value": math.nan if value is None else value,
        "slope_interval": _slopes(fields, "slope_interval"),
        "negated": negated,
        "subject_to": fields.texts("subject_to"),
        "population": _population(fields),
        "tied": fields.texts("tied"),
        "notes": fields.texts("notes"),
        "best_cost_interval": _costs(fields, "best_cost_interval"),
    }


def _population(fields: Fields) -> float | None:
    value = fields.optional_number("population")
    return value if value is None or value > 0 else fields.refuse("population", "a number above 0")


def _threshold(fields: Fields, negated: bool) -> float:
    value = fields.optional_number("threshold")
    if value is not None:
        return value
    rule = fields.content.get("rule")
    return _INFINITE_RULES[rule, negated] if rule in ("never", "always") else fields.refuse("threshold", "a number")


def _default_threshold(fields: Fields) -> float:
    value = fields.take("default_point", dict, "the counts of a point").get("threshold", 0.5)
    return value if is_number(value) else math.inf


def _slopes(fields: Fields, name: str) -> tuple[float, float] | None:
    value = fields.content.get(name)
    if value is None and name in fields.content:
        return None
    if not (isinstance(value, list) and len(value) == 2 and is_number(value[0])):
        return fields.refuse(name, "a list of two slopes")
    high = math.inf if value[1] is None else value[1]
    if not ((is_number(high) or high == math.inf) and 0 <= value[0] <= high):
        return fields.refuse(name, "two slopes of at least 0, the second not below the first")
    return (value[0], high)


def _costs(fields: Fields, name: str) -> tuple[float, float] | None:
    if name not in fields.content:
        return None
    value = fields.content[name]
    if isinstance(value, list) and len(value) == 2 and all(map(is_number, value)) and value[0] <= value[1]:
        return (value[0], value[1])
    return fields.refuse(name, "two costs, the second not below the first")


def _point(fields: Fields, name: str, threshold: float) -> OperatingPoint:
    cells = fields.take(name, dict, "the counts of a point")
    values = [cells.get(cell) for cell in ("tp", "fp", "fn", "tn")]
    if not all(map(is_number, values)):
        fields.refuse(name, "four counts tp, fp, fn, tn")
    point = fields.make(name, OperatingPoint, *values, threshold=threshold)
    return point if 0 < point.prevalence < 1 else fields.refuse(name, "counts of both classes")
