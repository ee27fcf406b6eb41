"""Column names of files, checked before any library is loaded."""

import codecs
import csv
import gzip
import io
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from rocscope.engines.sources.file_formats import LOOKED_AT, FileLayout, encoding_of, format_of, partition_keys
from rocscope.errors import ColumnError, InputError, brief, listing, one_of

Scores = str | Sequence[str] | Mapping[str, str]
NA_WORDS = ("NA", "N/A", "#N/A", "NULL", "null", "None", ".")
"""Words for a missing value in files of text."""
MOST_CLASSES = 20
"""A column of more distinct values is not taken for classes."""
_MOST_LISTED = 24  # columns that a message names: a choice, three lines of a terminal
_MOST_MODELS = 10**6  # more names are a mistake


class HasColumns(Protocol):
    """Anything with named columns."""

    @property
    def origin(self) -> tuple[str, ...]:
        """The files, or another source of the rows."""
        ...

    @property
    def columns(self) -> Sequence[str]:
        """Column names as written, possibly repeated."""
        ...


@dataclass(frozen=True)
class NamedColumns:
    """Files and their columns, before anything else is known."""

    origin: tuple[str, ...]
    columns: Sequence[str]


def named_columns(paths: Sequence[str], layout: FileLayout) -> NamedColumns | None:
    """Return the columns of files if the start of the first file shows them; if not, its reader raises the error."""
    format = layout.format or format_of(Path(paths[0]))
    try:
        if format in ("csv", "tsv"):
            columns = header(_text(paths[0], layout), "\t" if format == "tsv" else layout.delimiters)[0]
        elif format == "parquet" and not partition_keys(paths):
            import pyarrow.parquet as pq

            columns = pq.read_schema(paths[0]).names
        else:
            return None
    except (OSError, EOFError, ValueError, RuntimeError, csv.Error):
        return None
    return NamedColumns(tuple(paths), columns) if columns else None


def first_values(paths: Sequence[str], layout: FileLayout) -> dict[str, set[str]]:
    """Return the values of each column at the start of a text file, as written; empty for other formats.

    Examples
    --------
    >>> first_values(["scores.parquet"], FileLayout())
    {}
    """
    if (format := layout.format or format_of(Path(paths[0]))) not in ("csv", "tsv"):
        return {}
    try:
        start = _text(paths[0], layout)
        fields, delimiter, _ = header(start, "\t" if format == "tsv" else layout.delimiters)
        whole = start[: start.rfind("\n") + 1]
        rows = csv.reader(io.StringIO(whole, newline=""), delimiter=delimiter)
        complete = [row for row in islice(rows, 1, None) if len(row) == len(fields)]
    except (OSError, EOFError, ValueError, csv.Error):
        return {}
    return {field: {row[place].strip() for row in complete} for place, field in enumerate(fields)}


def require_candidate(paths: Sequence[str], layout: FileLayout) -> None:
    """Raise ColumnError if the beginning of a text file shows that no column can be the label: none has few values."""
    values = first_values(paths, layout)
    if values and all(len(found) > MOST_CLASSES for found in values.values()):
        given(NamedColumns(tuple(paths), list(values)), "label", None)


def _text(path: str, layout: FileLayout) -> str:
    start = _start(path)
    decoder = codecs.getincrementaldecoder(layout.encoding or encoding_of(start))()
    return decoder.decode(start).removeprefix("\ufeff")


def _start(path: str) -> bytes:
    """Return the start of a text file; empty for compression that Python does not support."""
    suffix = Path(path).suffix.lower()
    if suffix == ".zst":
        return b""
    with gzip.open(path, "rb") if suffix == ".gz" else Path(path).open("rb") as file:
        return file.read(LOOKED_AT)


def header(start: str, delimiters: str) -> tuple[list[str], str, str]:
    """Return the fields of the first row, the delimiter that yields most of them, and the line ending.

    If quotes enclose whole fields, as they should, delimiters inside them do not count.

    Examples
    --------
    >>> header('y,"a;b;c"', ",;")
    (['y', 'a;b;c'], ',', '\\n')
    """
    rows = {mark: _first_row(start, mark) for mark in delimiters}
    delimiter = max(delimiters, key=lambda mark: (_quotes_whole_fields(rows[mark][1], mark), len(rows[mark][0])))
    fields, line = rows[delimiter]
    return fields, delimiter, "\r\n" if line.endswith("\r\n") else "\n"


def _first_row(start: str, delimiter: str) -> tuple[list[str], str]:
    lines = io.StringIO(start, newline="")
    return next(csv.reader(lines, delimiter=delimiter), []), start[: lines.tell()]


def _quotes_whole_fields(line: str, delimiter: str) -> bool:
    field = rf'("(?:[^"]|"")*"|[^"{re.escape(delimiter)}]*)'
    return re.fullmatch(f"{field}(?:{re.escape(delimiter)}{field})*", line.rstrip("\r\n")) is not None


def require_columns(source: HasColumns, names: Sequence[str], role: str) -> None:
    """Raise ColumnError unless each name matches exactly one column."""
    for name in names:
        found = list(source.columns).count(name)
        if found == 0:
            expected = one_of(name, list(source.columns))
            hint = "fields may be apart by another sign: delimiter= (--delimiter)" if len(source.columns) == 1 else ""
            raise ColumnError(f"{role} of {brief(source.origin)}", expected=expected, got=repr(name), hint=hint)
        if found > 1:
            raise ColumnError(
                f"{role} of {brief(source.origin)}",
                expected=f"one column named {name!r}",
                got=str(found),
                hint="give each column a name of its own",
            )


def given(source: HasColumns, argument: str, value: Any) -> str:
    """Return a required column name; it is not guessed."""
    if value is None:
        expected = f"the name of a column of {brief(source.origin)}: {listing(list(source.columns), _MOST_LISTED)}"
        hint = f"give {argument}= (--{argument.removesuffix('s')})"
        raise ColumnError(argument, expected=expected, got="none", hint=hint)
    return str(value)


def models_of(source: HasColumns, argument: str, scores: Scores | None) -> dict[str, str]:
    """Return the column of each model."""
    if isinstance(scores, Mapping):
        models = {str(model): str(column) for model, column in scores.items()}
    elif scores is None or isinstance(scores, str):
        name = given(source, argument, scores)
        models = {name: name}
    elif not isinstance(scores, Collection) or len(scores) > _MOST_MODELS:
        raise InputError(argument, expected="names of columns", got=type(scores).__name__)
    else:
        models = {str(name): str(name) for name in scores}
        if len(models) < len(scores):
            raise InputError(argument, expected="different columns", got=listing(list(scores)))
    if not models:
        raise InputError(argument, expected="at least one column", got="none")
    return models
