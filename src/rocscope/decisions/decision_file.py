"""The decision file, documented in docs/guide/decisions/decision-json.md: types and ranges of its fields."""

import math
import re
from fractions import Fraction
from typing import Any

from rocscope._base import validation as check
from rocscope._base.json_format import Fields, Format, is_number
from rocscope.core.context import Context
from rocscope.core.point import OperatingPoint
from rocscope.decisions.randomized.randomized_rule import RandomizedRule
from rocscope.decisions.randomized.review import Review, Reviewing
from rocscope.decisions.slope_ranges import HullVertex

FORMAT = Format("rocscope.decision", 3, "a decision", "make the decision anew with rocscope.choose and save it")

_INFINITE_RULES = {("never", False): math.inf, ("always", False): -math.inf}
_INFINITE_RULES |= {("always", True): math.inf, ("never", True): -math.inf}
_INFINITE_RULES |= {("act, review or leave", False): math.inf, ("by lot", False): -math.inf}
_FRACTION = re.compile(r"\d{1,4000}(/[1-9]\d{0,3999})?")
_SLACK = 1e-9  # of rates, between counts as written and the mixture that they come from
_COSTS = ("expected_cost", "default_cost", "hull_cost", "treat_all_cost", "treat_none_cost")


def arguments(fields: Fields) -> dict[str, Any]:
    """Return the arguments of a Decision, checked for type and range."""
    negated = fields.take("negated", bool, "true or false")
    value = fields.optional_number("criterion_value")
    model, point = fields.text("model"), _point(fields, "point", _threshold(fields, negated))
    return {
        "model": model,
        "point": point,
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
        "lot": _lot(fields, point, (model, negated)),
        "lot_cost": fields.optional_number("lot_cost"),
        "review": _review(fields, (model, negated)),
    }


def _lot(fields: Fields, point: OperatingPoint, owner: tuple[str, bool]) -> RandomizedRule | None:
    if fields.content.get("lot", ...) is None:
        return None
    return _mixture(fields, "lot", point, owner)


def _review(fields: Fields, owner: tuple[str, bool]) -> Reviewing | None:
    if fields.content.get("review", ...) is None:
        return None
    within = fields.inner("review", "what a review costs, and which cases get one")
    review = within.make("review", Review, **within.take("review", dict, "a cost and a capacity"))
    threshold = within.inner("point", "the counts of a point").optional_number("threshold")
    point = _point(within, "point", -math.inf if threshold is None else threshold)
    share = None if review.capacity is None else read_fraction(within, "exact")
    return Reviewing(review, _mixture(within, "rule", point, owner), share)


def _mixture(fields: Fields, name: str, point: OperatingPoint, owner: tuple[str, bool]) -> RandomizedRule:
    within = fields.inner(name, "two thresholds and what the second weighs")
    first, second = (read_vertex(within.inner(end, "a threshold of a model")) for end in ("first", "second"))
    exact = within.inner("exact", "fractions")
    weight = read_fraction(exact, "weight")
    at_most = None if exact.content.get("at_most", ...) is None else read_fraction(exact, "at_most")
    mixture = RandomizedRule.between(first, second, weight, at_most)
    if (second.model, second.negated, second.threshold) != (*owner, point.threshold):
        own = check.shown(f"{owner[0]} at {point.threshold}")
        within.refuse("second", f"the model and threshold of the decision, {own}")
    if not all(math.isclose(getattr(mixture, rate), getattr(point, rate), abs_tol=_SLACK) for rate in ("tpr", "fpr")):
        within.refuse("exact", "a weight that gives the counts of the point")
    return mixture


def read_vertex(fields: Fields) -> HullVertex:
    """Return a model's threshold with its counts."""
    cells = {name: fields.number(name) for name in ("tp", "fp", "fn", "tn")}
    threshold = fields.optional_number("threshold")
    if threshold is None:
        threshold = math.inf if cells["fn"] or cells["tn"] else -math.inf
    point = fields.make("threshold", OperatingPoint, **cells, threshold=threshold)
    if not 0 < point.prevalence < 1:
        fields.refuse("tp", "counts of both classes")
    return HullVertex(fields.text("model"), point, negated=fields.take("negated", bool, "true or false"))


def read_fraction(fields: Fields, name: str, *, zero: bool = False) -> Fraction:
    """Return a share stored as the text of a fraction."""
    text = fields.text(name)
    share = Fraction(text) if _FRACTION.fullmatch(text) else Fraction(-1)
    known = 0 <= share <= 1 and (zero or share > 0)
    least = "from 0 to 1" if zero else "above 0 and at most 1"
    return share if known else fields.refuse(name, f"a fraction {least}, such as '3/4'")


def _population(fields: Fields) -> float | None:
    value = fields.optional_number("population")
    return value if value is None or value > 0 else fields.refuse("population", "a number above 0")


def _threshold(fields: Fields, negated: bool) -> float:
    value = fields.optional_number("threshold")
    if value is not None:
        return value
    rule = fields.content.get("rule") if fields.content.get("lot") is None else "by lot"
    if isinstance(rule, str) and (rule, negated) in _INFINITE_RULES:
        return _INFINITE_RULES[rule, negated]
    return fields.refuse("threshold", "a number")


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
