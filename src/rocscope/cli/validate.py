"""rocscope validate: what a file holds, before anything is computed from it."""

from typing import Any

from rocscope.cli import options as opt
from rocscope.cli.console import note, print_json, print_rows

FAILED = 2


def validate(file: opt.File, /, *, rows: opt.RowOptions = opt.ROWS, json: opt.Json = False) -> int:
    """Show what a file holds: rows, classes, missing values, distinct scores and ties, probabilities or not.

    Exits with code 2 where the label or a score that was named could not be read.

    Example: rocscope validate scores.csv
    """
    rows.require(file)
    from rocscope.engines import describe

    description = describe(file, scores=rows.score, **rows.arguments)
    found = FAILED if description.problems else 0
    if json:
        print_json("validate", description.to_dict())
        return found
    headings = ("column", "type", "missing", "distinct", "tied", "from", "to", "could be")
    left = ("column", "type", "from", "to", "could be")
    print_rows(f"{file}: {description.rows:,} rows", headings, map(_cells, description.columns), left=left)
    for problem in description.problems:
        note(f"Problem: {problem}")
    return found


def _cells(column: Any) -> list[str]:
    bounds = ["" if bound is None else _bound(bound) for bound in (column.minimum, column.maximum)]
    return [
        column.name,
        column.type,
        f"{column.missing + column.infinite:,}",
        "more than 20" if column.distinct is None else f"{column.distinct:,}",
        "" if column.tied is None else f"{column.tied:.1%}",
        *bounds,
        _role(column),
    ]


def _bound(number: float) -> str:
    return f"{number:,.0f}" if 1e5 <= abs(number) < 1e15 else f"{number:.6g}"


def _role(column: Any) -> str:
    if column.is_binary:
        return "label: " + ", ".join(f"{value} × {rows:,}" for value, rows in column.classes.items())
    if column.is_probability_like:
        return "probability"
    return "score" if column.is_number and (column.distinct or 0) > 2 else ""
