"""Text columns of CSV and JSON files as a Source, without rounding whole numbers.

CSV and JSON lines as a Source.

Text has no types, so they are found by looking at every value; a sample would do for most files, and for the others
DuckDB would round 0.5 to the whole number that the values before it were. A CSV column is of whole numbers, of
numbers, or text: no yes, 1 or 2024-05-01 is guessed to be a truth value or a date.
"""

import codecs
import csv
import glob
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from rocscope._base.arrays import FIRST_ROUNDED, WHOLE_OF_64_BITS
from rocscope.engines.formats import LOOKED_AT, FileLayout, Source, Stream, WrongGuessError, header, one_line_errors
from rocscope.engines.tables import Relation, connect, identifier, text
from rocscope.errors import EngineError

_WHOLE = ("BIGINT", "UBIGINT", "HUGEINT")
_SAMPLE = 10_000  # rows from which types are guessed; a wrong guess is noticed and costs a second pass
_CSV_TYPES = ("BIGINT", "DOUBLE", "VARCHAR")
_DIALECT = "quote = '\"', escape = '\"', header = true, skip = 0, comment = ''"
_AS_WRITTEN = "hive_partitioning = false"  # no folder named like a column is set over it
_COMPRESSION = {".gz": "gzip", ".zst": "zstd"}


def open_csv(paths: list[str], origin: tuple[str, ...], layout: FileLayout) -> Source:
    """Open CSV files with a common header, split by the delimiter that yields most columns."""
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
        return TextRelation(
            origin,
            connection,
            lambda types: f"FROM read_csv({_files(paths)}, {types}, {dialect})",
            guess,
            types=lambda: widest(-1),
            columns=columns,
            decimal=layout.decimal_mark,
        )


def open_tsv(paths: list[str], origin: tuple[str, ...], layout: FileLayout) -> Source:
    """Open tab-separated files."""
    return open_csv(paths, origin, replace(layout, delimiter="\t"))


def _header(path: str, name: str, delimiters: str) -> tuple[list[str], str, str]:
    """Return the fields of the first row, the delimiter that yields most of them, and the line ending."""
    with one_line_errors(name), pa.input_stream(path, compression="detect") as stream:
        start = codecs.getincrementaldecoder("utf-8-sig")().decode(stream.read(LOOKED_AT))
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
    """Return DuckDB's type for each column, guessed from a number of rows (-1: all)."""
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
    """Open files with one JSON object per line, or one array of objects."""
    connection = connect(paths)
    schemas: list[dict[str, str]] = []
    for path, name in zip(paths, origin, strict=True):
        with one_line_errors(name):
            relation = connection.sql(f"FROM read_json({_files([path])}, sample_size = -1, {_as_written([path])})")
            schemas.append(dict(zip(relation.columns, map(str, relation.types), strict=True)))
    types, conflicts = _merged(schemas, origin)
    with one_line_errors(origin[0]):
        return TextRelation(
            origin,
            connection,
            lambda types: f"FROM read_json({_files(paths)}, format = 'auto', {types}, {_as_written(paths)})",
            types,
            conflicts=conflicts,
        )


def _merged(schemas: Sequence[dict[str, str]], origin: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return a type for each column that fits all files, and the columns without one."""
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
    """Return options for file names whose suffix tells only the compression, which DuckDB overlooks before a ?."""
    ways = {_COMPRESSION.get(Path(path).suffix.lower(), "uncompressed") for path in paths}
    return _AS_WRITTEN + (f", compression = {text(ways.pop())}" if len(ways) == 1 else "")


def _files(paths: Sequence[str]) -> str:
    return "[" + ", ".join(text(glob.escape(path)) for path in paths) + "]"


def declared(types: Mapping[str, str]) -> str:
    """Return the arguments that declare the type of each column."""
    columns = ", ".join(f"{text(name)}: {text(kind)}" for name, kind in types.items())
    return f"auto_detect = false, columns = {{{columns}}}"


class GuessedRelation(Relation):
    """Columns with types guessed from the first rows; WrongGuessError if a later row differs.

    No whole number may have been written otherwise than this one is, nor be one that float64 rounds.
    """

    def stream(self, names: Sequence[str], where: str | None = None) -> Stream:
        """Yield the named columns in batches."""
        found = super().stream(names, where)

        def checked(piece: Callable[[], Generator[pa.Table]]) -> Generator[pa.Table]:
            try:
                with closing(piece()) as tables:
                    for table in tables:
                        if any(map(_has_large, table.columns)):
                            raise WrongGuessError
                        yield table
            except EngineError:
                raise WrongGuessError from None

        return replace(found, pieces=[partial(checked, piece) for piece in found.pieces])


class TextRelation(Relation):
    """A relation whose types were inferred from text.

    Parameters
    ----------
    origin, connection, columns, conflicts, decimal : see `Relation`
    query : function that returns the query for arguments that declare types
    guess : mapping from column to type, as the first rows tell it
    types : function that returns what all rows tell, called when it is needed; the guess by default

    Notes
    -----
    DuckDB knows no type between BIGINT and DOUBLE for columns of CSV, nor beyond HUGEINT for those of JSON. A column of
    DOUBLE that holds numbers from 2^53 on is looked at as text: where all are whole they are read as such, and where
    only some are, those must be what float64 can hold.
    """

    def __init__(
        self,
        origin: tuple[str, ...],
        connection: duckdb.DuckDBPyConnection,
        query: Callable[[str], str],
        guess: Mapping[str, str],
        *,
        types: Callable[[], Mapping[str, str]] | None = None,
        columns: Sequence[str] | None = None,
        conflicts: Mapping[str, str] | None = None,
        decimal: str = "",
    ) -> None:
        self._query, self._guess, self._types_of_all, self._typed_by = query, guess, types, connection
        self._plain: set[str] = set()
        relation = self._declare(guess)
        super().__init__(origin, relation, columns=columns, conflicts=conflicts, decimal=decimal, connection=connection)

    @cached_property
    def _types(self) -> dict[str, str]:
        return dict(self._types_of_all() if self._types_of_all else self._guess)

    @property
    def _relation(self) -> duckdb.DuckDBPyRelation:
        if self._declared is None:
            self._declared = self._declare(self._types)
        return self._declared

    @_relation.setter
    def _relation(self, relation: duckdb.DuckDBPyRelation) -> None:
        """Return the guessed relation for all rows if types agree."""
        self._declared = None if self._types_of_all else relation

    def guessed(self, names: Sequence[str]) -> GuessedRelation | None:
        """Return the named columns with guessed types, if all are numeric."""
        kinds = {name: self._guess[self._sql_name[name]] for name in names if name in self._sql_name}
        one_each = len(self._sql_name) == len(self.columns)
        if self._types_of_all is None or not (one_each and set(kinds.values()) <= {"BIGINT", "DOUBLE"}):
            return None
        relation = self._declare({name: "VARCHAR" if kind == "BIGINT" else kind for name, kind in self._guess.items()})
        projected = (f"{_checked(self._sql_name[name], kind)} AS {identifier(name)}" for name, kind in kinds.items())
        with one_line_errors(self.origin[0]):
            relation = relation.project(", ".join(projected))
        return GuessedRelation(
            self.origin, relation, columns=list(kinds), decimal=self.decimal, connection=self._connection
        )

    def fetch(self, names: Sequence[str], where: str | None = None) -> pa.Table:
        """Return the named columns of rows that satisfy the SQL condition `where`, in order."""
        self._settle_hexadecimal(names)
        table = super().fetch(names, where)
        large = [name for name in names if _has_large(table.column(name))]
        return super().fetch(names, where) if self._settle(large) else table

    def stream(self, names: Sequence[str], where: str | None = None) -> Stream:
        """Yield the same in batches of known types."""
        self._settle_hexadecimal(names)
        fractions = [name for name in names if self._types[self._sql_name[name]] == "DOUBLE"]
        if fractions:
            largest = ", ".join(f"max(abs({identifier(self._sql_name[name])}))" for name in fractions)
            with one_line_errors(self.origin[0]):
                found = self._relation.aggregate(largest).fetchall()[0]
            self._settle([name for name, each in zip(fractions, found, strict=True) if (each or 0) >= FIRST_ROUNDED])
        return super().stream(names, where)

    def _declare(self, types: Mapping[str, str]) -> duckdb.DuckDBPyRelation:
        return self._typed_by.sql(self._query(declared(types)))

    def _settle_hexadecimal(self, names: Sequence[str]) -> None:
        """Read columns of whole numbers as text where DuckDB takes 0x1A for 26 or 0b11 for 3."""
        if not self.decimal:  # JSON has no such numbers
            return
        new = {self._sql_name[name] for name in names if name in self._sql_name} - self._plain
        new = {column for column in new if self._types.get(column) == "BIGINT"}
        if not new:
            return
        as_text = declared(self._types | dict.fromkeys(new, "VARCHAR"))
        signs = (f"bool_or(regexp_matches({identifier(column)}, '[xXbB]'))" for column in new)
        with one_line_errors(self.origin[0]):
            found = self._typed_by.sql(self._query(as_text)).aggregate(", ".join(signs)).fetchall()[0]
        strange = [column for column, strange in zip(new, found, strict=True) if strange]
        self._plain |= new
        if strange:
            self._types.update(dict.fromkeys(strange, "VARCHAR"))
            self._declared = self._declare(self._types)

    def _settle(self, names: Sequence[str]) -> bool:
        """Read columns as whole numbers where possible, and return whether any is."""
        whole = [name for name in names if self._is_whole(name)]
        if whole:
            self._types.update({self._sql_name[name]: "HUGEINT" for name in whole})
            self._declared = self._declare(self._types)
        return bool(whole)

    def _is_whole(self, name: str) -> bool:
        """Whether a column has only whole numbers, and float64 would round some of them."""
        column = self._sql_name[name]
        as_text = declared(self._types | {column: "VARCHAR" if self.decimal else "JSON"})
        value = f"nullif(trim(CAST({identifier(column)} AS VARCHAR)), '')"
        whole = f"regexp_full_match({value}, '[+-]?[0-9]+')"
        huge = f"TRY_CAST({value} AS HUGEINT)"
        kept = f"coalesce(TRY_CAST(TRY_CAST({value} AS DOUBLE) AS HUGEINT) = {huge}, false)"
        all_whole = f"bool_and({whole} AND {huge} IS NOT NULL) FILTER ({value} IS NOT NULL)"
        facts = f"{all_whole}, min({value}) FILTER ({whole} AND NOT {kept})"
        with one_line_errors(self.origin[0]):
            is_whole, rounded = self._typed_by.sql(self._query(as_text)).aggregate(facts).fetchall()[0]
        if rounded is not None and not is_whole:
            hint = "write it with a point or an exponent if it is not exact"
            raise EngineError(f"{self.origin[0]}: column {name!r}", expected=WHOLE_OF_64_BITS, got=rounded, hint=hint)
        return bool(is_whole)


def _checked(column: str, kind: str) -> str:
    """Return SQL for a text column to be read as whole numbers, or for another column unchanged."""
    name = identifier(column)
    whole = f"TRY_CAST({name} AS BIGINT)"
    return (
        f"CASE WHEN {whole}::VARCHAR IS DISTINCT FROM {name} THEN error('') ELSE {whole} END"
        if kind == "BIGINT"
        else name
    )


def _has_large(column: pa.ChunkedArray) -> bool:
    if not pa.types.is_float64(column.type):
        return False
    filled = column.fill_null(0.0) if column.null_count else column
    chunks = (np.abs(np.from_dlpack(chunk)) for chunk in filled.chunks)  # `to_numpy` would load pandas
    return any((chunk >= FIRST_ROUNDED).any() for chunk in chunks)
