"""The file of a decision: versioned JSON, read strictly. The format is described in docs/decision-json.md."""

import hashlib
import json
import math
import os
from pathlib import Path
from typing import Any, NoReturn

from rocscope.core.context import Context
from rocscope.core.point import OperatingPoint
from rocscope.errors import DecisionFileError, InputError

FORMAT = "rocscope.decision"
VERSION = 2

_HEADER = ("format", "version", "checksum")
_INFINITE_RULES = {("never", False): math.inf, ("always", False): -math.inf}
_INFINITE_RULES |= {("always", True): math.inf, ("never", True): -math.inf}
_RELATIVE_ERROR = 1e-9
_ANEW = "make the decision anew with rocscope.choose and save it"


def seal(content: dict[str, Any], kind: str = FORMAT) -> str:
    """Return the text of a file of a decision."""
    header = {"format": kind, "version": VERSION, "checksum": _checksum(content)}
    return json.dumps(header | content, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _checksum(content: dict[str, Any]) -> str:
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def read(path: str | os.PathLike[str]) -> str:
    """Return the text of a file."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise DecisionFileError(str(path), expected="a decision file", got=reason) from error


def unseal(text: str, source: str, kind: str = FORMAT) -> dict[str, Any]:
    """Return the JSON object in a file, of this format and a version that is known."""
    try:
        content = json.loads(text, parse_constant=_refuse_constant)
    except ValueError as error:
        raise DecisionFileError(source, expected="a decision as JSON", got=str(error), hint=_ANEW) from error
    if not isinstance(content, dict) or content.get("format") != kind:
        raise DecisionFileError(source, expected=f'JSON with "format": "{kind}"', got="something else")
    version = content.get("version")
    if type(version) is not int or version < 1:
        raise DecisionFileError(source, expected="a version number", got=repr(version), hint=_ANEW)
    if version != VERSION:
        age, hint = ("a newer", "update rocscope") if version > VERSION else ("an older", _ANEW)
        got = f"version {version}, made by {age} rocscope"
        raise DecisionFileError(source, expected=f"a decision of version {VERSION}", got=got, hint=hint)
    return content


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def require_seal(content: dict[str, Any], source: str) -> None:
    """Raise unless the content is, value by value, what was saved."""
    kept = {name: value for name, value in content.items() if name not in _HEADER}
    if content.get("checksum") != _checksum(kept):
        raise DecisionFileError(
            source, expected="the content that was saved", got="a file that was changed since", hint=_ANEW
        )


def require_same(made: dict[str, Any], content: dict[str, Any], source: str) -> None:
    """Raise unless all that follows from a decision stands in its file as it follows."""
    kept = {name: value for name, value in content.items() if name not in _HEADER}
    for name, found in _differences(made, kept, ""):
        raise DecisionFileError(f"{source}: {name}", expected=found[0], got=found[1], hint=_ANEW)


def _differences(made: Any, kept: Any, name: str) -> list[tuple[str, tuple[str, str]]]:
    if isinstance(made, dict) and isinstance(kept, dict):
        names = list(dict.fromkeys([*made, *kept]))
        missing = object()
        pairs = [(f"{name}.{key}".lstrip("."), made.get(key, missing), kept.get(key, missing)) for key in names]
        for path, one, other in pairs:
            if one is missing or other is missing:
                words = ("no such field", "one") if one is missing else ("this field", "none")
                return [(path, words)]
        return [found for path, one, other in pairs for found in _differences(one, other, path)]
    if isinstance(made, float) and _is_number(kept):
        same = math.isclose(made, kept, rel_tol=_RELATIVE_ERROR, abs_tol=1e-12)
    else:
        same = type(made) is type(kept) and made == kept
    return [] if same else [(name, (repr(made), repr(kept)))]


def fields(content: dict[str, Any], source: str) -> dict[str, Any]:
    """Return the arguments of a Decision, each checked for its type and range."""
    reader = _Reader(content, source)
    negated = reader.get("negated", bool, "true or false")
    threshold = reader.threshold(negated)
    return {
        "model": reader.get("model", str, "the name of a model"),
        "point": reader.point("point", threshold),
        "context": reader.context(),
        "default_point": reader.point("default_point", reader.default_threshold()),
        **{name: reader.number(name) for name in _COSTS},
        "criterion": reader.get("criterion", str, "the name of a criterion"),
        "criterion_value": reader.number("criterion_value", optional=True, otherwise=math.nan),
        "slope_interval": reader.interval("slope_interval"),
        "negated": negated,
        "subject_to": reader.texts("subject_to"),
        "population": reader.population(),
        "tied": reader.texts("tied"),
        "notes": reader.texts("notes"),
        "best_cost_interval": reader.costs("best_cost_interval"),
    }


_COSTS = ("expected_cost", "default_cost", "hull_cost", "treat_all_cost", "treat_none_cost")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


class _Reader:
    """Takes fields out of parsed JSON, or says which one is wrong."""

    def __init__(self, content: dict[str, Any], source: str) -> None:
        self.content, self.source = content, source

    def fail(self, name: str, expected: str) -> NoReturn:
        got = repr(self.content[name]) if name in self.content else "nothing"
        raise DecisionFileError(f"{self.source}: {name}", expected=expected, got=got, hint=_ANEW)

    def get(self, name: str, kind: type, expected: str) -> Any:
        value = self.content.get(name)
        return value if isinstance(value, kind) else self.fail(name, expected)

    def number(self, name: str, *, optional: bool = False, otherwise: Any = None) -> Any:
        value = self.content.get(name)
        if value is None and optional and name in self.content:
            return otherwise
        return value if _is_number(value) else self.fail(name, "a number")

    def population(self) -> float | None:
        value = self.number("population", optional=True)
        return value if value is None or 0 < value < math.inf else self.fail("population", "a number above 0")

    def texts(self, name: str) -> tuple[str, ...]:
        values = self.get(name, list, "a list of texts")
        return tuple(values) if all(isinstance(value, str) for value in values) else self.fail(name, "a list of texts")

    def threshold(self, negated: bool) -> float:
        rule = self.content.get("rule")
        value = self.number("threshold", optional=True)
        if value is not None:
            return value
        return _INFINITE_RULES[rule, negated] if rule in ("never", "always") else self.fail("threshold", "a number")

    def interval(self, name: str) -> tuple[float, float] | None:
        value = self.content.get(name)
        if value is None and name in self.content:
            return None
        if not (isinstance(value, list) and len(value) == 2 and _is_number(value[0])):
            return self.fail(name, "a list of two slopes")
        high = math.inf if value[1] is None else value[1]
        if not (_is_number(high) and 0 <= value[0] <= high):
            return self.fail(name, "two slopes of at least 0, the second not below the first")
        return (value[0], high)

    def default_threshold(self) -> float:
        value = self.get("default_point", dict, "the counts of a point").get("threshold", 0.5)
        return value if _is_number(value) else math.inf

    def costs(self, name: str) -> tuple[float, float] | None:
        if name not in self.content:
            return None
        value = self.content[name]
        if isinstance(value, list) and len(value) == 2 and all(map(_is_number, value)) and value[0] <= value[1]:
            return (value[0], value[1])
        return self.fail(name, "two costs, the second not below the first")

    def point(self, name: str, threshold: float) -> OperatingPoint:
        cells = self.get(name, dict, "the counts of a point")
        values = [cells.get(cell) for cell in ("tp", "fp", "fn", "tn")]
        if not all(_is_number(value) for value in values):
            self.fail(name, "four counts tp, fp, fn, tn")
        try:
            point = OperatingPoint(*values, threshold=threshold)
        except InputError as error:
            raise DecisionFileError(f"{self.source}: {name}", got=str(error), hint=_ANEW) from error
        return point if point.n_pos and point.n_neg else self.fail(name, "counts of both classes")

    def context(self) -> Context:
        costs = self.get("context", dict, "a prevalence and four costs")
        try:
            return Context(**costs)
        except (InputError, TypeError) as error:
            raise DecisionFileError(f"{self.source}: context", got=str(error), hint=_ANEW) from error
