"""Cost matrices from CSV files."""

import csv
import os
from collections.abc import Hashable, Sequence
from pathlib import Path

from rocscope import _validation as check
from rocscope.errors import EngineError, InputError, LabelError
from rocscope.multiclass.costs.matrix import CostMatrix
from rocscope.multiclass.tables.orientation import RowsAre


def read_costs(path: str | os.PathLike[str], classes: Sequence[Hashable], *, rows: RowsAre | None = None) -> CostMatrix:
    """Cost matrix from a CSV file whose first row and first column name the classes, in any order.

    Parameters
    ----------
    path : path
    classes : sequence of k class names
        In the order wanted.
    rows : {"actual", "predicted"}, optional
        What the rows of the file are; see `CostMatrix`.

    Raises
    ------
    EngineError
        If the file cannot be read.
    LabelError
        If its rows or columns are not the classes.
    InputError
        If a cell is no number; see also `CostMatrix`.
    """
    try:
        lines = [line for line in csv.reader(Path(path).read_text(encoding="utf-8-sig").splitlines()) if line]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise EngineError(str(path), expected="a CSV file of costs", got=reason) from error
    names = [str(cls) for cls in classes]
    columns, body = (lines[0][1:], lines[1:]) if lines else ([], [])
    for what, found in (("columns", columns), ("rows", [line[0] for line in body])):
        if sorted(name.strip() for name in found) != sorted(names):
            expected = f"a name for each class, {check.listing(names)}"
            raise LabelError(f"{what} of {path}", expected=expected, got=check.listing(found) or "none")
    cells = {line[0].strip(): dict(zip(map(str.strip, columns), line[1:], strict=False)) for line in body}
    matrix = [[_number(cells[row].get(column, ""), row, column, path) for column in names] for row in names]
    return CostMatrix(matrix, classes=classes, rows=rows)


def _number(text: str, row: str, column: str, path: str | os.PathLike[str]) -> float:
    try:
        value = float(text)
    except ValueError:
        raise InputError(f"{path}, row {row!r}, column {column!r}", expected="a number", got=repr(text)) from None
    return int(value) if value.is_integer() else value
