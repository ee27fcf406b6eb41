"""rocscope validate: what a file holds, before anything is computed from it."""

from typing import Any

from rocscope.cli import options as opt
from rocscope.cli.console import note, print_json, print_table


def validate(
    file: opt.File,
    label: opt.Label = None,
    score: opt.Scores = None,
    where: opt.Where = None,
    file_format: opt.Format = None,
    json: opt.Json = False,
) -> None:
    """Show what a file holds: rows, classes, missing values, distinct scores and ties, probabilities or not.

    Example: rocscope validate scores.csv
    """
    from rocscope.engines import describe

    description = describe(file, label=label, scores=score or None, where=where, format=file_format)
    if json:
        print_json("validate", description.to_dict())
        return
    _print(file, description)
    for problem in description.problems:
        note(f"Problem: {problem}")


def _print(file: str, description: Any) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=f"{file}: {description.rows:,} rows")
    counted = {"missing", "distinct", "tied"}
    for heading in ("column", "type", "missing", "distinct", "tied", "from", "to", "could be"):
        table.add_column(heading, overflow="fold", justify="right" if heading in counted else "left")
    for column in description.columns:
        table.add_row(*(Text(cell) for cell in _cells(column)))
    print_table(table)


def _cells(column: Any) -> list[str]:
    bounds = ["" if bound is None else f"{bound:.6g}" for bound in (column.minimum, column.maximum)]
    return [
        column.name,
        column.type,
        f"{column.missing + column.infinite:,}",
        "more than 20" if column.distinct is None else f"{column.distinct:,}",
        "" if column.tied is None else f"{column.tied:.1%}",
        *bounds,
        _role(column),
    ]


def _role(column: Any) -> str:
    if column.is_binary:
        return "label: " + ", ".join(f"{value} × {rows:,}" for value, rows in column.classes.items())
    if column.is_probability_like:
        return "probability"
    return "score" if column.is_number and (column.distinct or 0) > 2 else ""
