"""DuckDB restricted to given files: it opens and writes no other file and loads no extension."""
# MERGED-DOC: """Arrow data as a Source: lazily loaded columns, and Arrow's own file formats."""
# MERGED-DOC: """Data frames as a Source, through narwhals: pandas, Polars, PyArrow, DuckDB and others."""
# MERGED-DOC: """Database files of DuckDB and SQLite as a Source: one table or view, opened for reading only."""
# MERGED-DOC: """Parquet files as a Source: DuckDB fetches and filters; Arrow streams plain columns, which is
# faster."""
# MERGED-DOC: """Spreadsheets as a Source: the only non-empty sheet of a file, with column names in its first row."""

import glob
import sqlite3
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from contextvars import ContextVar
from datetime import date, datetime
from functools import cached_property, partial
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rocscope._base.arrays import cores, in_threads
from rocscope._base.grouping import ByName
from rocscope.engines.formats import (
    BATCH_ROWS,
    FileLayout,
    Source,
    Stream,
    mentioned,
    one_line_errors,
    partition_keys,
    stream_table,
)
from rocscope.errors import EngineError, InputError, MissingDependencyError, ShapeError, brief, listing, one_of

_CONFIG = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",  # no Python variable is a table
    "temp_directory": "",
}


def connect(paths: Sequence[str] = ()) -> duckdb.DuckDBPyConnection:
    """Return a connection to an empty database that can read `paths` and no other file."""
    with one_line_errors("DuckDB"):
        connection = duckdb.connect(":memory:", config=dict(_CONFIG))
        connection.execute("SET enable_progress_bar = false")
        connection.execute("SET allowed_paths = $paths", {"paths": [*paths, *map(glob.escape, paths)]})
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
    if (opened := _OPENED.get()) is not None:
        opened.append(connection)
    return connection


_OPENED: ContextVar[list[duckdb.DuckDBPyConnection] | None] = ContextVar("opened", default=None)


@contextmanager
def interruptible() -> Iterator[Callable[[], None]]:
    """Yield a function that, from any thread, interrupts the queries of connections that are opened in here.

    Examples
    --------
    >>> with interruptible() as interrupt:
    ...     connection = connect()
    ...     interrupt()
    """
    opened: list[duckdb.DuckDBPyConnection] = []

    def interrupt() -> None:
        for connection in [*opened]:
            connection.interrupt()

    token = _OPENED.set(opened)
    try:
        yield interrupt
    finally:
        _OPENED.reset(token)


def require_condition(where: str) -> None:
    """Raise unless a text is a single condition, so that it cannot close an enclosing parenthesis."""
    with one_line_errors(f"where={where!r}"):
        statements = duckdb.extract_statements(f"SELECT 1 WHERE {where}\n")
    if len(statements) != 1:
        raise EngineError(f"where={where!r}", expected="one condition", got=f"{len(statements)} statements")


def identifier(name: str) -> str:
    """Quote a column name."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """Quote a string."""
    return "'" + value.replace("'", "''") + "'"


class Relation:
    """Columns of a DuckDB relation as a Source.

    Parameters
    ----------
    origin : tuple of str
    relation : duckdb.DuckDBPyRelation
    columns : sequence of str, optional
        The names as they are written, in the relation's order, where DuckDB had to change some to tell them apart.
    conflicts : mapping from column name to str, optional
        Columns that cannot be fetched, each with the reason.
    decimal : str
        See `Source`.
    connection : duckdb.DuckDBPyConnection, optional
        Kept open for as long as the relation, which does not do so itself.
    """

    def __init__(
        self,
        origin: tuple[str, ...],
        relation: duckdb.DuckDBPyRelation,
        *,
        columns: Sequence[str] | None = None,
        conflicts: Mapping[str, str] | None = None,
        decimal: str = "",
        connection: duckdb.DuckDBPyConnection | None = None,
    ) -> None:
        sql_names = relation.columns
        self.origin = origin
        self.columns: Sequence[str] = sql_names if columns is None else [*columns, *sql_names[len(columns) :]]
        self.decimal = decimal
        self._relation = relation
        self._connection = connection
        self._sql_name = dict(zip(self.columns, sql_names, strict=True))
        self._conflicts = conflicts or {}

    def fetch(self, names: Sequence[str], where: str | None = None) -> pa.Table:
        """Return the named columns of rows that satisfy the SQL condition `where`, in order."""
        relation = self._project(names, where)
        with one_line_errors(brief(self.origin)):
            return relation.to_arrow_table().rename_columns(list(names))

    def stream(self, names: Sequence[str], where: str | None = None) -> Stream:
        """Yield the same in batches, using all cores."""
        relation = self._project(names, where)
        with one_line_errors(brief(self.origin)):
            schema = relation.limit(0).to_arrow_table().rename_columns(list(names)).schema
        read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader  # its name before 1.5

        def batches() -> Generator[pa.Table]:
            with one_line_errors(brief(self.origin)), read(BATCH_ROWS) as reader:
                for batch in reader:
                    yield pa.Table.from_batches([batch]).rename_columns(list(names))

        return Stream(schema, [batches])

    def different(self, names: Sequence[str], where: str | None = None, first: int | None = None) -> pa.Table:
        """Return the distinct rows of the named columns, with their counts as a last column.

        Of the `first` rows only, if that is given.
        """
        relation, keys = self._filtered(names, where), ", ".join(f"c{i}" for i in range(len(names)))
        named = ", ".join(f"{identifier(self._sql_name[name])} AS c{i}" for i, name in enumerate(names))
        with one_line_errors(brief(self.origin)):
            relation = relation.project(named)
            some = relation if first is None else relation.limit(first)
            return some.aggregate(f"{keys}, count(*)", keys).to_arrow_table().rename_columns([*names, ""])

    def holds(self, where: str) -> pa.ChunkedArray:
        """Return whether the SQL condition `where` holds for each row."""
        self._filtered((), where)  # refuses what is no one condition on single rows
        with one_line_errors(f"where={where!r}"):
            return self._relation.project(f"(({where}\n)::BOOLEAN) IS TRUE").to_arrow_table().column(0)

    def _project(self, names: Sequence[str], where: str | None) -> duckdb.DuckDBPyRelation:
        relation = self._filtered(names, where)
        columns = ", ".join(identifier(self._sql_name[name]) for name in names)
        with one_line_errors(brief(self.origin)):
            return relation.project(columns)

    def _filtered(self, names: Sequence[str], where: str | None) -> duckdb.DuckDBPyRelation:
        for name in [*names, *mentioned(self.columns, where or "")]:
            if name in self._conflicts:
                raise EngineError(self._conflicts[name])
        if where is None:
            return self._relation
        with one_line_errors(f"where={where!r}"):
            return self._relation.filter(where)  # parsed as one expression, so it cannot hold a second statement


def holds_in(origin: tuple[str, ...], table: pa.Table, where: str) -> pa.ChunkedArray:
    """Return whether a condition holds for each row of an Arrow table."""
    connection = connect()
    with one_line_errors(brief(origin)):
        relation = connection.from_arrow(table)
    return Relation(origin, relation, columns=table.column_names, connection=connection).holds(where)


def relation_of(
    paths: Sequence[str], origin: tuple[str, ...], columns: Sequence[str], *, partitioned: bool
) -> Relation:
    """Return the rows of all files.

    Parameters
    ----------
    paths, origin : their paths, and what messages call them
    columns : sequence of str
        Those of the first, as they are written.
    partitioned : bool
        Whether folders named key=value add columns.
    """
    connection = connect(paths)
    schemas: list[dict[str, str]] = []
    for path, name in zip(paths, origin, strict=True):
        with one_line_errors(name):
            relation = connection.sql(_parquet([path], partitioned=False))
            schemas.append(dict(zip(pq.read_schema(path).names, map(str, relation.types), strict=True)))
    with one_line_errors(origin[0]):
        relation = connection.sql(_parquet(paths, partitioned=partitioned))
    conflicts = _conflicts(origin, schemas)
    if partitioned:
        conflicts |= _in_names_too(paths, origin, schemas)
    return Relation(origin, relation, columns=columns, conflicts=conflicts, connection=connection)


def _parquet(paths: Sequence[str], *, partitioned: bool) -> str:
    files = ", ".join(text(glob.escape(path)) for path in paths)
    return f"FROM read_parquet([{files}], hive_partitioning = {partitioned})"


def _in_names_too(paths: Sequence[str], origin: Sequence[str], schemas: Sequence[dict[str, str]]) -> dict[str, str]:
    """Return the columns that are both in files and in the names of their folders."""
    keys = partition_keys(paths)
    return {
        name: f"{path}: column {name!r} is in this file and, for all, in the names of folders"
        for path, schema in zip(origin, schemas, strict=True)
        for name in schema
        if name.casefold() in keys
    }


def _conflicts(origin: Sequence[str], schemas: Sequence[dict[str, str]]) -> dict[str, str]:
    """Return the columns whose type differs between files; DuckDB would cast them to the first file's."""
    conflicts: dict[str, str] = {}
    for name, expected in schemas[0].items():
        for path, schema in zip(origin, schemas, strict=True):
            if name not in conflicts and schema.get(name) != expected:
                found = f"type {schema[name]}" if name in schema else "none"
                conflicts[name] = f"{path}: column {name!r} has type {expected} in {origin[0]}, but {found} here"
    return conflicts


_FILE_MAGIC = b"ARROW1"


class ArrowColumns:
    """Columns loaded by a function on request.

    Parameters
    ----------
    origin : tuple of str
    columns : sequence of str
    load : function from a list of column names to a pyarrow.Table
    """

    decimal = ""

    def __init__(self, origin: tuple[str, ...], columns: Sequence[str], load: Callable[[list[str]], pa.Table]) -> None:
        self.origin = origin
        self.columns = columns
        self._load = load

    def fetch(self, names: Sequence[str], where: str | None = None) -> pa.Table:
        """Return the named columns of rows that satisfy the SQL condition `where`, in order."""
        used_by_filter = mentioned(self.columns, where or "")
        with one_line_errors(brief(self.origin)):
            table = self._load(list(dict.fromkeys([*names, *used_by_filter])))
        if where is None:
            return table
        # Only the filter's columns pass through DuckDB, so that the others keep types that it does not know.
        kept = holds_in(self.origin, table.select(used_by_filter or names[:1]), where)
        return table.select(list(names)).filter(kept)

    def stream(self, names: Sequence[str], where: str | None = None) -> Stream:
        """Yield the same in batches; the data are in memory already."""
        return stream_table(self.fetch(names, where))


class _IpcFiles(ArrowColumns):
    """Files of Arrow's formats, streamed without loading them."""

    def __init__(self, origin: tuple[str, ...], columns: Sequence[str], paths: list[str]) -> None:
        super().__init__(origin, columns, lambda names: _load_all(paths, origin, names))
        self._paths = paths

    def stream(self, names: Sequence[str], where: str | None = None) -> Stream:
        """Yield the columns in the files' batches."""
        wanted = list(dict.fromkeys([*names, *mentioned(self.columns, where or "")]))
        first = _common_schema(self._paths, self.origin, wanted)
        pieces = (
            partial(self._batches, path, name, first, list(names), where)
            for path, name in zip(self._paths, self.origin, strict=True)
        )
        return Stream(pa.schema([first.field(name) for name in names]), pieces)

    def _batches(
        self, path: str, name: str, first: pa.Schema, names: list[str], where: str | None
    ) -> Generator[pa.Table]:
        with one_line_errors(name):
            for batch in _read_batches(path, first.names):
                table = pa.Table.from_batches([batch]).select(first.names)
                kept = ArrowColumns((name,), first.names, table.select).fetch(names, where)
                for start in range(0, kept.num_rows, BATCH_ROWS):
                    yield kept.slice(start, BATCH_ROWS)


def open_ipc(paths: list[str], origin: tuple[str, ...], _layout: FileLayout) -> Source:
    """Open files of Arrow's file format (Feather) or stream format."""
    with one_line_errors(origin[0]):
        columns = _reader(paths[0]).schema.names
    return _IpcFiles(origin, columns, paths)


def _load_all(paths: Sequence[str], origin: Sequence[str], names: Sequence[str]) -> pa.Table:
    _common_schema(paths, origin, names)
    tables: list[pa.Table] = []
    for path, name in zip(paths, origin, strict=True):
        with one_line_errors(name):
            tables.append(_reader(path, _positions(path, names)).read_all().select(list(names)))
    return pa.concat_tables(tables)


def _common_schema(paths: Sequence[str], origin: Sequence[str], names: Sequence[str]) -> pa.Schema:
    """Return the types of columns, or raise for a file with other types, before reading any."""
    schemas: list[pa.Schema] = []
    for path, name in zip(paths, origin, strict=True):
        with one_line_errors(name):
            schemas.append(_read_schema(path, names))
        _require_schema(schemas[0], schemas[-1], origin[0], name)
    return schemas[0]


def _positions(path: str, names: Sequence[str]) -> list[int]:
    present = _reader(path).schema.names
    return [present.index(name) for name in names if name in present]


def _read_schema(path: str, names: Sequence[str]) -> pa.Schema:
    schema = _reader(path).schema
    return pa.schema([schema.field(name) for name in names if name in schema.names])


def _read_batches(path: str, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    reader = _reader(path, _positions(path, names))
    if isinstance(reader, pa.RecordBatchFileReader):
        yield from (reader.get_batch(number) for number in range(reader.num_record_batches))
    else:
        yield from reader


def _require_schema(first: pa.Schema, here: pa.Schema, first_name: str, name: str) -> None:
    for field in first:
        found = f"type {here.field(field.name).type}" if field.name in here.names else "none"
        if found != f"type {field.type}":
            raise EngineError(f"{name}: column {field.name!r} has type {field.type} in {first_name}, but {found} here")


def _reader(path: str, positions: list[int] | None = None) -> pa.RecordBatchFileReader | pa.RecordBatchStreamReader:
    options = pa.ipc.IpcReadOptions(included_fields=positions)
    file = pa.OSFile(path)
    is_file = file.read(len(_FILE_MAGIC)) == _FILE_MAGIC
    file.seek(0)
    return pa.ipc.open_file(file, options=options) if is_file else pa.ipc.open_stream(file, options=options)


def open_mapping(columns: Mapping[Any, Any]) -> Source:
    """Open columns by name: arrays, lists or series."""
    names = [str(name) for name in columns]
    by_name = dict(zip(names, columns.values(), strict=True))
    return ArrowColumns(
        ("dict of columns",), names, lambda wanted: pa.table({n: _array(by_name[n], n) for n in wanted})
    )


def open_frame(frame: Any) -> Source:
    """Open a data frame, lazy or not, or a relation."""
    library = type(frame).__module__.split(".")[0].lstrip("_")
    origin = (f"{library} {type(frame).__name__}",)
    duckdb = sys.modules.get("duckdb")
    if duckdb is not None and isinstance(frame, duckdb.DuckDBPyRelation):
        return Relation(("DuckDB relation",), frame)
    with one_line_errors(origin[0]):
        if (found := _of_snapshot(frame)) is not None:
            names, load = found
            return ArrowColumns(origin, names, lambda wanted: load(wanted).select(wanted))
        narwhal = nw.from_native(frame, pass_through=True)
        if not isinstance(narwhal, nw.DataFrame | nw.LazyFrame):
            expected = "a file, folder, glob, '-', open binary file, data frame, relation or dict of columns"
            raise EngineError("source", expected=expected, got=type(frame).__name__)
        native_names = narwhal.collect_schema().names()
    names = [str(name) for name in native_names]  # pandas also takes numbers
    native = dict(zip(names, native_names, strict=True))
    return ArrowColumns(origin, names, lambda wanted: _load(narwhal, {name: native[name] for name in wanted}))


def _of_snapshot(table: Any) -> tuple[list[str], Callable[[list[str]], pa.Table]] | None:
    """Return the columns of a Delta Lake or Iceberg table, of a scan or an Arrow dataset, and what reads some of them.

    Those are the rows of one snapshot, which only the library of the table can tell from deleted ones in its files.
    """
    if hasattr(table, "to_pyarrow_dataset"):
        table = table.to_pyarrow_dataset()
    if hasattr(table, "get_fragments"):
        return table.schema.names, lambda wanted: table.to_table(columns=wanted)
    scan = table.scan() if hasattr(table, "metadata_location") else table
    if hasattr(scan, "projection") and hasattr(scan, "to_arrow"):
        return [field.name for field in scan.projection().fields], lambda wanted: scan.select(*wanted).to_arrow()
    return None


def _load(frame: nw.DataFrame[Any] | nw.LazyFrame[Any], names: Mapping[str, Any]) -> pa.Table:
    if isinstance(frame, nw.LazyFrame):
        schema = frame.collect_schema()
        wanted = (_without_nan(name) if schema[name] == nw.Decimal else nw.col(name) for name in names.values())
        frame = frame.select(*wanted).collect("pyarrow")
    return pa.table({name: frame.get_column(native).to_arrow() for name, native in names.items()})


def _without_nan(name: str) -> nw.Expr:
    """Return a column of decimals whose NaN, as PostgreSQL has them above all numbers, are missing: Arrow has none."""
    is_number = nw.col(name).cast(nw.Float64) <= sys.float_info.max
    return nw.when(is_number).then(nw.col(name)).otherwise(nw.lit(None)).alias(name)


def _array(values: Any, name: str) -> pa.Array | pa.ChunkedArray:
    if not isinstance(values, Iterable) or isinstance(values, ByName):
        raise ShapeError(f"column {name!r}", expected="an array", got=type(values).__name__)
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return series.to_arrow()
    if isinstance(values, np.ndarray):
        values = values.astype(values.dtype.newbyteorder("="), copy=False)
    try:
        return pa.array(values, from_pandas=True)
    except OverflowError:  # beyond int64
        return pa.array(values, pa.uint64(), from_pandas=True)


_DUCKDB_TABLES = """
    SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'file' UNION ALL
    SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = 'file' AND NOT internal ORDER BY ALL
"""
_SQLITE_TABLES = (
    "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND substr(name, 1, 7) <> 'sqlite_' ORDER BY 1"
)
_BATCH = 100_000  # rows of SQLite at a time: some MB of Python's objects


def open_duckdb(paths: list[str], origin: tuple[str, ...], layout: FileLayout) -> Source:
    """Open a table of a DuckDB database; those of other schemas than main are named as "schema.table"."""
    path = _only(paths)
    with one_line_errors(origin[0]), Path(path).open("rb") as file:
        if file.read(12)[8:] != b"DUCK":
            raise EngineError(origin[0], expected="a DuckDB database", got="other bytes")
    connection = connect([path, f"{path}.wal"])
    with one_line_errors(origin[0]):
        connection.execute(f"ATTACH {text(path)} AS file (READ_ONLY)")
        found = connection.sql(_DUCKDB_TABLES).fetchall()
        tables = {name if schema == "main" else f"{schema}.{name}": (schema, name) for schema, name in found}
        schema, name = tables[_chosen(layout.table, list(tables), origin[0])]
        relation = connection.sql(f"FROM file.{identifier(schema)}.{identifier(name)}")
    return Relation(origin, relation, connection=connection)


def open_sqlite(paths: list[str], origin: tuple[str, ...], layout: FileLayout) -> Source:
    """Open a table of a SQLite database by Python's own driver, as DuckDB's is an extension to be downloaded.

    SQLite has a type for each value: a column of whole numbers and others is of floats where these hold all of them,
    and one of numbers and texts is refused.
    """
    place = f"{Path(_only(paths)).absolute().as_uri()}?mode=ro"

    def rows(query: str) -> pa.Table:
        with one_line_errors(origin[0]), closing(sqlite3.connect(place, uri=True)) as connection:
            cursor = connection.execute(query)
            names = [column[0] for column in cursor.description]
            parts = []
            while part := cursor.fetchmany(_BATCH):
                parts.append([*zip(*part, strict=True)])
            columns = ([value for part in parts for value in part[place]] for place in range(len(names)))
            return pa.table([pa.array(column) for column in columns], names=names)

    name = _chosen(layout.table, rows(_SQLITE_TABLES)["name"].to_pylist(), origin[0])
    columns = rows(f"SELECT * FROM {identifier(name)} LIMIT 0").column_names
    return ArrowColumns(
        origin, columns, lambda wanted: rows(f"SELECT {', '.join(map(identifier, wanted))} FROM {identifier(name)}")
    )


def _only(paths: Sequence[str]) -> str:
    if len(paths) > 1:
        raise InputError("source", expected="one database", got=listing(paths))
    return paths[0]


def _chosen(table: str | None, known: list[str], origin: str) -> str:
    """Return the name of the table that is asked for, or of the only one."""
    if table is None and len(known) == 1:
        return known[0]
    if table not in known:
        hint = "name one: table= (--table)" if known else ""
        expected = f"a table of {origin}: {one_of(table or '', known)}" if known else f"a table in {origin}"
        raise InputError("table", expected=expected, got="none" if table is None else repr(table), hint=hint)
    return table


_READ_AHEAD = 1 << 18  # bytes of a column; by default a group of rows is read as a whole, however large


def open_parquet(paths: list[str], origin: tuple[str, ...], _layout: FileLayout) -> Source:
    """Open Parquet files; folders named key=value add columns."""
    with one_line_errors(origin[0]):
        try:
            schema = pq.read_schema(paths[0])
        except pa.ArrowException:
            got, hint = "one whose footer cannot be read", "copy or write it again"
            raise EngineError(origin[0], expected="a whole Parquet file", got=got, hint=hint) from None
        return ParquetFiles(paths, origin, schema)


class ParquetFiles:
    """Parquet files that are opened one at a time.

    Parameters
    ----------
    paths, origin : their paths, and what messages call them
    schema : pyarrow.Schema
        That of the first.
    """

    decimal = ""

    def __init__(self, paths: list[str], origin: tuple[str, ...], schema: pa.Schema) -> None:
        self.origin = origin
        self._paths = paths
        self._schema = schema
        self._partitioned = _are_partitioned(paths, schema.names)
        self.columns: Sequence[str] = self._relation.columns if self._partitioned else schema.names

    @cached_property
    def _relation(self) -> "Relation":
        # DuckDB takes as much memory as a batch, and most files are streamed without it.
        return relation_of(self._paths, self.origin, self._schema.names, partitioned=self._partitioned)

    def fetch(self, names: Sequence[str], where: str | None = None) -> pa.Table:
        """Return the named columns of rows that satisfy the SQL condition `where`, in order."""
        return self._relation.fetch(names, where)

    def load(self, names: Sequence[str]) -> pa.Table:
        """Return the named columns of all rows, read on all cores where Arrow can."""
        if not all(_is_plain(self._schema, name) for name in names):
            return self.fetch(names)
        found = in_threads(lambda batches: list(batches()), self.stream(names).pieces)
        tables = list(chain.from_iterable(found))
        return pa.concat_tables(tables) if tables else self.fetch(names)

    def held(self) -> "HeldFiles":
        """Return the same files with columns kept in memory, for repeated queries."""
        return HeldFiles(self.origin, self.columns, lambda: ParquetFiles(self._paths, self.origin, self._schema))

    def holds(self, where: str) -> pa.ChunkedArray:
        """Return whether the SQL condition `where` holds for each row."""
        return self._relation.holds(where)

    def stream(self, names: Sequence[str], where: str | None = None) -> Stream:
        """Yield the same in batches, one per row group."""
        if where is not None or not all(_is_plain(self._schema, name) for name in names):
            return self._relation.stream(names, where)
        schema = pa.schema([self._schema.field(name) for name in names])
        rows = 0
        for number in range(len(self._paths)):  # a file that does not fit is named before any is read
            with self._open(number) as file:
                self._require_types(file.schema_arrow, schema, number)
                if _has_narrow_deltas(file.metadata, names):
                    return self._relation.stream(names)
                rows += file.metadata.num_rows
        return Stream(schema, self._pieces(schema), rows)

    def _open(self, number: int, footer: pq.FileMetaData | None = None) -> pq.ParquetFile:
        with one_line_errors(self.origin[number]):
            return pq.ParquetFile(self._paths[number], metadata=footer, buffer_size=_READ_AHEAD, pre_buffer=False)

    def _pieces(self, schema: pa.Schema) -> Iterator[partial[Generator[pa.Table]]]:
        for number in range(len(self._paths)):
            with self._open(number) as file:
                footer = file.metadata
            groups = range(footer.num_row_groups)
            yield from (partial(self._batches, number, footer, group, schema.names) for group in groups)

    def _require_types(self, here: pa.Schema, expected: pa.Schema, number: int) -> None:
        """Raise as DuckDB would, with its type names, if columns differ from those of the first file."""
        types = dict(zip(here.names, here.types, strict=True))
        names = [field.name for field in expected if types.get(field.name) != field.type]
        if names:
            two = [0, number]
            files = ParquetFiles([self._paths[i] for i in two], tuple(self.origin[i] for i in two), self._schema)
            files.fetch(names)
            raise EngineError(f"{self.origin[number]}: column {names[0]!r} is not of one type in all files")

    def _batches(self, number: int, footer: pq.FileMetaData, group: int, names: list[str]) -> Generator[pa.Table]:
        with one_line_errors(self.origin[number]), self._open(number, footer) as file:
            for batch in file.iter_batches(BATCH_ROWS, row_groups=[group], columns=names, use_threads=False):
                yield pa.Table.from_batches([batch]).select(names)
        if group + cores() >= footer.num_row_groups:  # or the pool keeps what this thread used; more often takes time
            pa.default_memory_pool().release_unused()


class HeldFiles(ArrowColumns):
    """Parquet files whose columns stay in memory after first use.

    Of a condition, the files are read for the columns that it names only, by a connection of its own: threads that ask
    at the same time do not wait for each other.
    """

    def __init__(self, origin: tuple[str, ...], columns: Sequence[str], anew: Callable[[], ParquetFiles]) -> None:
        super().__init__(origin, columns, self._once)
        self._anew = anew
        self._known: dict[str, pa.ChunkedArray] = {}

    def fetch(self, names: Sequence[str], where: str | None = None) -> pa.Table:
        """Return the named columns of rows that satisfy the SQL condition `where`, in order."""
        table = super().fetch(names)
        if where is None:
            return table
        kept = _in_one(self._anew().holds(where))
        return pa.table(in_threads(lambda column: column.filter(kept), table.columns), table.column_names)

    def _once(self, names: list[str]) -> pa.Table:
        new = [name for name in names if name not in self._known]
        if new:
            self._known |= dict(zip(new, map(_in_one, self._anew().load(new).columns), strict=True))
        return pa.table({name: self._known[name] for name in names})


def _in_one(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return numbers in contiguous memory, so that they are copied once."""
    kind = column.type
    plain = pa.types.is_primitive(kind) and not pa.types.is_null(kind)
    return pa.chunked_array([column.combine_chunks()], kind) if plain and column.num_chunks > 1 else column


def _is_plain(schema: pa.Schema, name: str) -> bool:
    """Whether DuckDB and Arrow give a column the same type."""
    position = schema.get_field_index(name)
    if position < 0:
        return False
    kind = schema.field(position).type
    checks = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_float32, pa.types.is_float64, pa.types.is_string)
    return any(check(kind) for check in checks)


def _has_narrow_deltas(footer: pq.FileMetaData, names: Sequence[str]) -> bool:
    """Whether columns of 32 bits are written as differences, for which DuckDB takes more bits than Arrow reads."""
    if not footer.num_row_groups:
        return False
    first = footer.row_group(0)
    places = [place for place in range(first.num_columns) if first.column(place).path_in_schema in names]
    chunks = (footer.row_group(group).column(place) for group in range(footer.num_row_groups) for place in places)
    return any(chunk.physical_type == "INT32" and "DELTA_BINARY_PACKED" in chunk.encodings for chunk in chunks)


def _are_partitioned(paths: Sequence[str], columns: Sequence[str]) -> bool:
    """Whether folders named key=value add columns that the files lack."""
    keys = partition_keys(paths)
    return bool(keys) and not keys & {name.casefold() for name in columns}


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
    arrays = {name: _array_of_excel(column) for name, column in zip(names, cells, strict=True)}
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


def _array_of_excel(cells: Sequence[Any]) -> pa.Array:
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
