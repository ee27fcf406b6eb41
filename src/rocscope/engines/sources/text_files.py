"""CSV and JSON lines as a Source.

Text has no types, so they are found by looking at every value; a sample would do for most files, and for the others
DuckDB would round 0.5 to the whole number that the values before it were. A CSV column is of whole numbers, of
numbers, or text: no yes, 1 or 2024-05-01 is guessed to be a truth value or a date.
"""

import codecs
import csv
import glob
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow as pa

from rocscope.engines.sources.database import connect, text
from rocscope.engines.sources.layout import FileLayout
from rocscope.engines.sources.naming import LONGEST_HEADER, header
from rocscope.engines.sources.source import Source, one_line_errors
from rocscope.engines.sources.written import Written, declared
from rocscope.errors import EngineError

_WHOLE = ("BIGINT", "UBIGINT", "HUGEINT")
_SAMPLE = 10_000
_CSV_TYPES = ("BIGINT", "DOUBLE", "VARCHAR")
_DIALECT = "quote = '\"', escape = '\"', header = true, skip = 0, comment = ''"
_AS_WRITTEN = "hive_partitioning = false"  # no folder named like a column is set over it
_COMPRESSION = {".gz": "gzip", ".zst": "zstd"}


def open_csv(paths: list[str], origin: tuple[str, ...], layout: FileLayout) -> Source:
    """Open CSV files with one header; of the delimiters the one is taken that splits it into most columns."""
    columns, delimiter, end = _header(paths[0], origin[0], layout.delimiters)
    for path, name in zip(paths, origin, strict=True):
        if (there := _header(path, name, delimiter)[0]) != columns:
            raise EngineError(f"{name}: expected the columns of {origin[0]}, {columns}, got {there}")
    connection = connect(paths)
    dialect = (
        f"delim = {text(delimiter)}, decimal_separator = {text(layout.decimal_mark)}, {_DIALECT}, {_as_written(paths)}"
    )
    if end == "\r\n" and any("\n" in column for column in columns):
        dialect += ", new_line = '\\r\\n'"  # where a name holds a line break, that would be taken for the end of rows

    def widest(sample: int) -> dict[str, str]:
        types = [
            _csv_types(connection, path, name, dialect, len(columns), sample)
            for path, name in zip(paths, origin, strict=True)
        ]
        return {column: max((found[column] for found in types), key=_CSV_TYPES.index) for column in types[0]}

    guess = widest(_SAMPLE)
    with one_line_errors(origin[0]):
        return Written(
            origin,
            connection,
            lambda types: f"FROM read_csv({_files(paths)}, {types}, {dialect})",
            guess,
            types=lambda: widest(-1),
            columns=columns,
            decimal=layout.decimal_mark,
        )


def open_tsv(paths: list[str], origin: tuple[str, ...], layout: FileLayout) -> Source:
    """Open files of fields between tabs."""
    return open_csv(paths, origin, replace(layout, delimiter="\t"))


def _header(path: str, name: str, delimiters: str) -> tuple[list[str], str, str]:
    """Return the fields of the first row, the delimiter that makes most of them, and how the row ends."""
    with one_line_errors(name), pa.input_stream(path, compression="detect") as stream:
        start = codecs.getincrementaldecoder("utf-8-sig")().decode(stream.read(LONGEST_HEADER))
    try:
        found = header(start, delimiters)
    except csv.Error as error:
        raise EngineError(f"{name}: the first row cannot be read as column names, {error}") from None
    if not found[0]:
        raise EngineError(f"{name}: expected column names in the first row, got an empty one")
    return found


def _csv_types(
    connection: duckdb.DuckDBPyConnection, path: str, name: str, dialect: str, width: int, sample: int
) -> dict[str, str]:
    """Return the type of each column, by the name that DuckDB gives it, as so many rows tell it (-1: all)."""
    candidates = ", ".join(map(text, _CSV_TYPES))
    options = f"{dialect}, auto_type_candidates = [{candidates}], sample_size = {sample}"
    with one_line_errors(name):
        try:
            rows = connection.sql(f"SELECT Columns FROM sniff_csv({text(glob.escape(path))}, {options})").fetchall()
        except duckdb.Error:
            # Reading every field as text fails with the line and the reason, which a search for types does not tell.
            as_text = declared(dict.fromkeys(map(str, range(width)), "VARCHAR"))
            connection.sql(f"SELECT count(*) FROM read_csv({_files([path])}, {as_text}, {dialect})").fetchall()
            raise
    return {column["name"]: column["type"] for column in rows[0][0]}


def open_json(paths: list[str], origin: tuple[str, ...], _layout: FileLayout) -> Source:
    """Open files of one JSON object a line, or of one array of objects."""
    connection = connect(paths)
    schemas: list[dict[str, str]] = []
    for path, name in zip(paths, origin, strict=True):
        with one_line_errors(name):
            relation = connection.sql(f"FROM read_json({_files([path])}, sample_size = -1, {_as_written([path])})")
            schemas.append(dict(zip(relation.columns, map(str, relation.types), strict=True)))
    types, conflicts = _merged(schemas, origin)
    with one_line_errors(origin[0]):
        return Written(
            origin,
            connection,
            lambda types: f"FROM read_json({_files(paths)}, format = 'auto', {types}, {_as_written(paths)})",
            types,
            conflicts=conflicts,
        )


def _merged(schemas: Sequence[dict[str, str]], origin: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return a type for each column that holds its values in all files, and the columns for which there is none."""
    types: dict[str, str] = {}
    conflicts: dict[str, str] = {}
    for column in dict.fromkeys(name for schema in schemas for name in schema):
        lacking = [name for name, schema in zip(origin, schemas, strict=True) if column not in schema]
        found = {schema[column] for schema in schemas if column in schema}
        if lacking:
            conflicts[column] = f"{lacking[0]}: no column {column!r}, which other files have"
        elif len(found) > 1 and not found <= {*_WHOLE, "DOUBLE"}:
            conflicts[column] = f"column {column!r}: expected one type in all files, got {' and '.join(sorted(found))}"
        types[column] = found.pop() if len(found) == 1 else _common_number(found)
    return types, conflicts


def _common_number(types: set[str]) -> str:
    return "DOUBLE" if "DOUBLE" in types else "HUGEINT" if types <= set(_WHOLE) else "JSON"


def _as_written(paths: Sequence[str]) -> str:
    """Return options for names that say nothing but how a file is compressed, which is lost on DuckDB after a ?."""
    ways = {_COMPRESSION.get(Path(path).suffix.lower(), "uncompressed") for path in paths}
    return _AS_WRITTEN + (f", compression = {text(ways.pop())}" if len(ways) == 1 else "")


def _files(paths: Sequence[str]) -> str:
    return "[" + ", ".join(text(glob.escape(path)) for path in paths) + "]"
