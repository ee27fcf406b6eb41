"""Write client/src/constants.json: the tuning constants that Python and the page have in common.

    python client/constants.py > client/src/constants.json

Each is read from the module that uses it in Python, where a comment says how it was found.
"""

import importlib
import json
import pkgutil
import re
from typing import Any

from rocscope.inference.proportions import normal_quantile

CONSTANTS = {
    "SCHEMA": "report: SCHEMA_VERSION",
    "DECISION_FORMAT": "decisions.plan: FORMAT.name",
    "DECISION_VERSION": "decisions.plan: FORMAT.version",
    "SMALLEST_CAPACITY": "decisions.plan: _SMALLEST_CAPACITY",
    "NO_LIMIT": "decisions.plan: _NO_LIMIT",
    "NOT_A_SHARE": "decisions.plan: _NOT_A_SHARE",
    "Z": normal_quantile(0.95),
    "LEAST_PRIOR": "inference.areas: _LEAST_PRIOR",
    "PRIOR": "inference.areas: _PRIOR",
    "ROUNDING": "inference.areas: _ROUNDING",
    "SMALL_CLASS": "inference.areas: _SMALL_CLASS",
    "LARGE_CLASS": "inference.areas: _LARGE_CLASS",
    "FEW_INFORMATIVE": "inference.areas: _MIN_INFORMATIVE_ROWS",
    "ENOUGH_INFORMATIVE": "inference.areas: _ENOUGH_INFORMATIVE_ROWS",
    "FEW_DIFFER": "inference.variance: _FEW_DIFFER",
    "ENOUGH_DIFFER": "inference.variance: _ENOUGH_DIFFER",
    "LARGEST_QUANTILE": "inference.estimate: _LARGEST_QUANTILE",
    "SUREST": "inference.areas: _LARGEST_Z",
    "MOST_COMPARED": "report: MOST_COMPARED",
    "MOST_DETAILED": "report: MOST_DETAILED",
    "MOST_EXACT": "report: MOST_EXACT",
    "MOST_POINTS": "report: MOST_POINTS",
    "POINTS_OF_PART": "report: POINTS",
    "MOST_SEGMENTS": "report: MOST_SEGMENTS",
    "MOST_PARTS": "evaluation.summary: MOST_PARTS",
    "MOST_FOLDS": "report: MOST_FOLDS",
    "MOST_NAMED": "report: _MOST_NAMED",
    "SMALL": "report: SMALL",
    "RUG_STEPS": "report: RUG_STEPS",
    "SMOOTH_POINTS": "report: SMOOTH_POINTS",
    "LOESS_SPAN": "calibration.regression: DEFAULT_SPAN.1",
    "LOESS_LEVELS": "calibration.regression: _MOST_LEVELS",
    "LOESS_NEAR": "calibration.regression: _NEAR",
    "LOESS_FLAT": "calibration.regression: _FLAT",
    "LOESS_ROUNDING": "calibration.regression: _ROUNDING",
    "RECALIBRATION_GROUPS": "figures.logistic: _COARSE_LEVELS",
    "RECALIBRATION_STEPS": "figures.logistic: _MOST_STEPS",
    "AVERAGE_POINTS": "evaluation.averaging: _DRAWN",
    "NA_WORDS": "engines.formats: NA_WORDS",
    "NUMERAL": "engines.numerals: FORM",
    "NUMBERS": "engines.numerals: NUMBERS",
    "SPACE": "engines.numerals: SPACE",
    "BODY": "engines.numerals: BODY",
    "NEGATIVE": "engines.numerals: NEGATIVE",
    "TOTALS": "engines.table_bounds: TOTALS",
    "MARKUP": "engines.formats: MARKUP",
    "CURRENCY": "engines.numerals: CURRENCY",
    "DECIMAL_DIGITS": "_base.arrays: DECIMAL_DIGITS",
    "DECIMAL_PLACES": "engines.columns: _DECIMAL_PLACES",
    "MOST_COLUMNS_LISTED": "engines.formats: _MOST_LISTED",
    "MOST_CLASSES": "engines.formats: MOST_CLASSES",
    "MOST_SCORES": "engines.description: MOST_SCORES",
    "LABELS": "engines.description: _LABELS",
    "NOT_SCORES": "engines.description: _NOT_SCORES",
    "WEIGHTS": "engines.description: _WEIGHTS",
    "FOLDS": "engines.description: _FOLDS",
    "SEGMENTS": "engines.description: _SEGMENTS",
    "POSITIVE_WORDS": "engines.description: _POSITIVE_WORDS",
    "ADVERSE_WORDS": "engines.description: _ADVERSE_WORDS",
    "NEGATIVE_WORDS": "engines.description: _NEGATIVE_WORDS",
    "AMBIGUOUS_WORDS": "engines.description: _AMBIGUOUS_WORDS",
    "LOOKED_AT": "engines.formats: LOOKED_AT",
    "UNLIKE_TEXT": "engines.formats: _SIGNATURES",
    "LIGHT_HUES": "plotting.theme: LIGHT.hues",
    "DARK_HUES": "plotting.theme: DARK.hues",
}


def value_of(place: str) -> Any:
    """Return a constant by its topic or module and its name; modules of one topic that have the name must agree."""
    topic, path = place.split(": ")
    name, *parts = path.split(".")
    module = importlib.import_module(f"rocscope.{topic}")
    below = [found.name for found in pkgutil.iter_modules(getattr(module, "__path__", []), f"{module.__name__}.")]
    modules = [module, *map(importlib.import_module, below)]
    values = {as_json(value): value for value in (getattr(each, name, None) for each in modules) if value is not None}
    if len(values) != 1:
        raise LookupError(f"{place}: expected one value, got {list(values)}")
    (value,) = values.values()
    for part in parts:
        value = value[int(part)] if part.isdigit() else getattr(value, part)
    return value


def as_json(value: Any) -> str:
    """Return a value as JSON has it, a regular expression as its pattern."""
    if isinstance(value, re.Pattern):
        value = value.pattern
    return json.dumps(value, ensure_ascii=False, default=repr)


def source() -> str:
    """Return the generated file."""
    lines = [
        f'  "{name}": {as_json(value_of(place) if isinstance(place, str) else place)}'
        for name, place in CONSTANTS.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    print(source(), end="")
