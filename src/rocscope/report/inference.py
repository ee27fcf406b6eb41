"""How sure the areas of a report are: an interval for each model and a test for each two of the same rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rocscope.errors import heard
from rocscope.inference.areas.auc import auc_interval
from rocscope.inference.comparing import compare
from rocscope.inference.estimate import Comparison, Estimate
from rocscope.sample import Samples

MOST_COMPARED = 20
"""More models than this are not compared in pairs: there would be more pairs than anyone reads."""


@dataclass(frozen=True)
class Certainty:
    """Intervals of the areas, differences between them, and what was warned about."""

    intervals: dict[str, dict[str, Any]]
    comparisons: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def certainty(samples: Samples, *, compared: bool = True) -> Certainty:
    """Return the intervals of all models; and if wanted their differences, where they come from the same rows.

    Weighted counts have none: they do not tell how many rows a weight stands for.
    """
    with heard() as said:
        intervals, pairs = _estimates(samples, compared)
    return Certainty(
        {name: _named(estimate, "value", "low", "high", "method") for name, estimate in intervals.items()},
        [compared_pair(pair) for pair in pairs],
        said,
    )


def _estimates(samples: Samples, compared: bool) -> tuple[Mapping[str, Estimate], list[Comparison]]:
    rows = samples.rows
    if rows is None:
        return {
            name: auc_interval(counts) for name, counts in samples.counts().items() if isinstance(counts.n, int)
        }, []
    if compared and 2 <= len(rows.models) <= MOST_COMPARED:
        tests = compare(rows)
        return tests.estimates, list(tests)
    return {model: auc_interval(rows, model=model) for model in rows.models}, []


def _named(source: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(source, name) for name in names}


def compared_pair(pair: Comparison) -> dict[str, Any]:
    """Return the difference of two models as a report has it."""
    ends = _named(pair.difference, "low", "high") | {"difference": pair.difference.value}
    return ends | _named(pair, "first", "second", "p_value", "adjusted_p_value", "method")
