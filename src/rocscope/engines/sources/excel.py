"""Spreadsheets as a Source: the only non-empty sheet of a file, with column names in its first row."""

from collections.abc import Sequence
from datetime import date, datetime
from math import isfinite
from pathlib import Path
from typing import Any

import pyarrow as pa

from rocscope.engines.sources.arrow import ArrowColumns
from rocscope.engines.sources.file_formats import FileLayout
from rocscope.engines.sources.source import Source, one_line_errors
from rocscope.errors import EngineError, MissingDependencyError, listing

_EXACT = 2**53  # up to which a cell, a float64, holds every whole number


def open_excel(paths: list[str], origin: tuple[str, ...], _layout: FileLayout) -> Source:
    """Open spreadsheets with a common header.

    A sheet has types by the cell. A column of numbers is one, of whole numbers where all are; in a column that holds
    texts too, all cells are what a CSV file would have for them.
    """
    sheets = [_sheet(path, name) for path, name in zip(paths, origin, strict=True)]
    names = [str(cell) for cell in sheets[0][0]]
    for rows, name in zip(sheets, origin, strict=True):
        if (there := [str(cell) for cell in rows[0]]) != names:
            raise EngineError(f"{name}: expected the columns of {origin[0]}, {names}, got {there}")
    cells = [[row[place] for rows in sheets for row in rows[1:]] for place in range(len(names))]
    arrays = {name: _array(column) for name, column in zip(names, cells, strict=True)}
    source = ArrowColumns(origin, names, lambda wanted: pa.table({name: arrays[name] for name in wanted}))
    source.decimal = "."
    return source


def _sheet(path: str, name: str) -> Sequence[Sequence[Any]]:
    """Return the cells of the only non-empty sheet."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ModuleNotFoundError:
        hint = "pip install 'rocscope[excel]'"
        raise MissingDependencyError(f"{name}: python-calamine is not installed", hint=hint) from None
    with one_line_errors(name), Path(path).open("rb") as file:
        try:
            book = CalamineWorkbook.from_filelike(file)
            found = {sheet: book.get_sheet_by_name(sheet).to_python() for sheet in book.sheet_names}
        except CalamineError as error:
            raise EngineError(f"{name}: {error}") from None
    filled = {sheet: rows for sheet, rows in found.items() if rows}
    if len(filled) != 1:
        got = listing(list(filled)) if filled else "none"
        hint = "save the one that is meant as a file of its own" if filled else ""
        raise EngineError(name, expected="one sheet that is not empty", got=got, hint=hint)
    return next(iter(filled.values()))


def _array(cells: Sequence[Any]) -> pa.Array:
    """Return cells of one type unchanged, with empty ones as missing; mixed types become text."""
    values = [None if cell == "" else cell for cell in cells]
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float}:
        if all(value is None or _is_whole(value) for value in values):
            return pa.array([None if value is None else int(value) for value in values], pa.int64())
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    if len(kinds) == 1 and kinds <= {bool, str, date, datetime}:
        return pa.array(values)
    return pa.array([None if value is None else _text(value) for value in values], pa.string())


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and _is_whole(value) else str(value)


def _is_whole(value: float) -> bool:
    return isfinite(value) and value == int(value) and abs(value) <= _EXACT
