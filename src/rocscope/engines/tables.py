"""Sources with typed columns: DuckDB relations, Parquet and Arrow files, data frames, databases and spreadsheets.

Two classes do most of the work. `Relation` reads data with DuckDB, which evaluates conditions and streams on all cores.
`ArrowColumns` loads the named columns, and uses DuckDB only to evaluate a condition. `ParquetFiles` uses both: Arrow,
which is faster, for all columns that get the same types from Arrow and DuckDB, and DuckDB for the other columns.

DuckDB can only read the given files. It cannot write files or load extensions. An SQL condition can therefore only
select rows.

Order of the file: DuckDB, Arrow columns, Parquet files, Arrow files, data frames, database files, spreadsheets.
"""

import glob
import re
import sqlite3
import sys
import zipfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar
from datetime import date, datetime
from functools import cached_property, partial
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rocscope import errors
from rocscope._base import validation as check
from rocscope._base.arrays import NUMBER_TYPES, cores, in_threads, unpacked
from rocscope._base.grouping import ByName
from rocscope.engines import formats, numerals, table_bounds
from rocscope.errors import warn

# Plain Parquet and Arrow files are read without these libraries, whose import takes longer than reading a small file.
if TYPE_CHECKING:
    import narwhals as nw
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

# ---- DuckDB ----

_CONFIG = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",  # no Python variable is a table
    "temp_directory": "",
}
_OPENED: ContextVar[list["DuckDBPyConnection"] | None] = ContextVar("opened", default=None)


def connect(paths: Sequence[str] = ()) -> "DuckDBPyConnection":
    """Return a connection to an empty DuckDB database that can read only the files in `paths`."""
    import duckdb

    with formats.one_line_errors("DuckDB"):
        connection = duckdb.connect(":memory:", config=dict(_CONFIG))
        connection.execute("SET enable_progress_bar = false")
        # Queries contain file paths with escaped glob characters; both spellings must be allowed.
        connection.execute("SET allowed_paths = $paths", {"paths": [*paths, *map(glob.escape, paths)]})
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
    opened = _OPENED.get()
    if opened is not None:
        opened.append(connection)
    return connection


@contextmanager
def interruptible() -> Iterator[Callable[[], None]]:
    """Yield a function that interrupts, from any thread, the queries of connections opened within the block.

    Examples
    --------
    >>> with interruptible() as interrupt:
    ...     connection = connect()
    ...     interrupt()
    """
    opened: list[DuckDBPyConnection] = []

    def interrupt() -> None:
        for connection in [*opened]:
            connection.interrupt()

    token = _OPENED.set(opened)
    try:
        yield interrupt
    finally:
        _OPENED.reset(token)


def require_condition(where: str) -> None:
    """Raise an error if a text is not a single SQL condition, because other text could escape from its parentheses."""
    import duckdb

    with formats.one_line_errors(f"where={where!r}"):
        statements = duckdb.extract_statements(f"SELECT 1 WHERE {where}\n")
    if len(statements) != 1:
        raise errors.EngineError(f"where={where!r}", expected="one condition", got=f"{len(statements)} statements")


def identifier(name: str) -> str:
    """Return a column name in SQL quotes."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """Return a string in SQL quotes."""
    return "'" + value.replace("'", "''") + "'"


def file_list(paths: Sequence[str]) -> str:
    """Return an SQL list of file names with escaped wildcards."""
    return "[" + ", ".join(text(glob.escape(path)) for path in paths) + "]"


class Relation:
    """A DuckDB relation as a `Source`.

    Parameters
    ----------
    origin : tuple of str
        Names of the files, or a name for another kind of source.
    relation : duckdb.DuckDBPyRelation
        The relation.
    columns : sequence of str, optional
        Original names of the columns in their order, if DuckDB changed some names to make them unique.
    conflicts : mapping from column name to str, optional
        Columns that cannot be read, with the reasons.
    decimal : str
        Decimal mark; see `Source`.
    connection : duckdb.DuckDBPyConnection, optional
        Connection of the relation. It stays open while the relation is used.
    """

    def __init__(
        self,
        origin: tuple[str, ...],
        relation: "DuckDBPyRelation",
        *,
        columns: Sequence[str] | None = None,
        conflicts: Mapping[str, str] | None = None,
        decimal: str = "",
        connection: "DuckDBPyConnection | None" = None,
    ) -> None:
        sql_names = relation.columns
        self.origin = origin
        # Folders named key=value add columns at the end, whose names do not occur in the files.
        self.columns: Sequence[str] = sql_names if columns is None else [*columns, *sql_names[len(columns) :]]
        self.decimal = decimal
        self._relation = relation
        self._connection = connection
        self._sql_name = dict(zip(self.columns, sql_names, strict=True))
        self._conflicts = conflicts or {}

    def fetch(self, names: Sequence[str], where: str | None = None) -> pa.Table:
        """Return the named columns of rows that satisfy the SQL condition `where`, in order."""
        relation = self._project(names, where)
        with formats.one_line_errors(errors.brief(self.origin)):
            return relation.to_arrow_table().rename_columns(list(names))

    def stream(self, names: Sequence[str], where: str | None = None) -> formats.Stream:
        """Return the same rows as `fetch` in batches, which are read on all cores."""
        relation = self._project(names, where)
        with formats.one_line_errors(errors.brief(self.origin)):
            schema = relation.limit(0).to_arrow_table().rename_columns(list(names)).schema
        read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader  # its name before 1.5

        def batches() -> Generator[pa.Table]:
            with formats.one_line_errors(errors.brief(self.origin)), read(formats.BATCH_ROWS) as reader:
                for batch in reader:
                    yield pa.Table.from_batches([batch]).rename_columns(list(names))

        return formats.Stream(schema, [batches])

    def distinct(self, names: Sequence[str], where: str | None = None, first: int | None = None) -> pa.Table:
        """Return the distinct rows of the named columns. The last column contains the number of equal rows.

        If `first` is given, only the first rows of the relation are used; `first` is their number.
        """
        keys = [f"c{number}" for number in range(len(names))]
        columns = [f"{identifier(self._sql_name[name])} AS {key}" for name, key in zip(names, keys, strict=True)]
        relation = self._filtered(names, where)
        with formats.one_line_errors(errors.brief(self.origin)):
            relation = relation.project(", ".join(columns))
            if first is not None:
                relation = relation.limit(first)
            by_key = relation.aggregate(", ".join([*keys, "count(*)"]), ", ".join(keys))
            return by_key.to_arrow_table().rename_columns([*names, ""])

    def holds(self, where: str) -> pa.ChunkedArray:
        """Return whether the SQL condition `where` holds for each row."""
        self._filtered((), where)  # raises an error for a text that is not a single condition on single rows
        with formats.one_line_errors(f"where={where!r}"):
            return self._relation.project(f"(({where}\n)::BOOLEAN) IS TRUE").to_arrow_table().column(0)

    def _project(self, names: Sequence[str], where: str | None) -> "DuckDBPyRelation":
        relation = self._filtered(names, where)
        columns = ", ".join(identifier(self._sql_name[name]) for name in names)
        with formats.one_line_errors(errors.brief(self.origin)):
            return relation.project(columns)

    def _filtered(self, names: Sequence[str], where: str | None) -> "DuckDBPyRelation":
        for name in [*names, *formats.mentioned(self.columns, where or "")]:
            if name in self._conflicts:
                raise errors.EngineError(self._conflicts[name])
        if where is None:
            return self._relation
        with formats.one_line_errors(f"where={where!r}"):
            # DuckDB parses the filter as one expression, so it cannot contain a second statement.
            return self._relation.filter(where)


# ---- Arrow columns ----


class ArrowColumns:
    """A `Source` whose columns are loaded by a function when they are needed.

    Parameters
    ----------
    origin : tuple of str
        Names of the files, or a name for another kind of source.
    columns : sequence of str
        Names of the columns.
    load : function
        Function from a list of column names to a pyarrow.Table.
    """

    decimal = ""

    def __init__(self, origin: tuple[str, ...], columns: Sequence[str], load: Callable[[list[str]], pa.Table]) -> None:
        self.origin = origin
        self.columns = columns
        self._load = load

    def fetch(self, names: Sequence[str], where: str | None = None) -> pa.Table:
        """Return the named columns of rows that satisfy the SQL condition `where`, in order."""
        used_by_filter = formats.mentioned(self.columns, where or "")
        with formats.one_line_errors(errors.brief(self.origin)):
            table = self._load(list(dict.fromkeys([*names, *used_by_filter])))
        if where is None:
            return table
        # Only the columns of the filter pass through DuckDB, so that other columns keep types that DuckDB does not
        # support.
        filtered = table.select(used_by_filter or names[:1])
        connection = connect()
        with formats.one_line_errors(errors.brief(self.origin)):
            relation = connection.from_arrow(filtered)
        columns = Relation(self.origin, relation, columns=filtered.column_names, connection=connection)
        return table.select(list(names)).filter(columns.holds(where))

    def stream(self, names: Sequence[str], where: str | None = None) -> formats.Stream:
        """Return the same rows as `fetch` in batches. The data are already in memory."""
        table = self.fetch(names, where)

        def batch(start: int) -> Generator[pa.Table]:
            yield table.slice(start, formats.BATCH_ROWS)

        pieces = (partial(batch, start) for start in range(0, table.num_rows, formats.BATCH_ROWS))
        return formats.Stream(table.schema, pieces, table.num_rows)


# ---- Parquet files ----

_READ_AHEAD = 1 << 18  # bytes of a column per read from a row group that may be of any size


def open_parquet(paths: list[str], origin: tuple[str, ...], _layout: formats.FileLayout) -> "ParquetFiles":
    """Open Parquet files. Folders named key=value add columns."""
    with formats.one_line_errors(origin[0]):
        try:
            file = _parquet_file(paths[0], 0)
            footer = file.metadata
            schema = footer.schema.to_arrow_schema()
        except pa.ArrowException:
            got, hint = "an incomplete Parquet file", "copy or write the file again"
            raise errors.EngineError(origin[0], expected="a complete Parquet file", got=got, hint=hint) from None
    is_small = len(paths) == 1 and footer.num_row_groups == 1 and footer.num_rows <= formats.BATCH_ROWS
    if not is_small:
        file.close()
    return ParquetFiles(paths, origin, schema, footer, [file] if is_small else [])


def _parquet_file(path: str, read_ahead: int, footer: pq.FileMetaData | None = None) -> pq.ParquetFile:
    """Open a Parquet file. With `read_ahead` 0, Arrow reads a column of a row group at once."""
    return pq.ParquetFile(
        path, metadata=footer, buffer_size=read_ahead, pre_buffer=False, page_checksum_verification=True
    )


class ParquetFiles:
    """Parquet files as a `Source`. Only one file is open at a time.

    Parameters
    ----------
    paths, origin : sequences of str
        Paths of the files, and their names for messages.
    schema : pyarrow.Schema
        Schema of the first file.
    footer : pyarrow.parquet.FileMetaData
        Footer of the first file. It is stored, because reading it again is slow if there are very many columns.
    opened : list of pyarrow.parquet.ParquetFile
        The first file, or nothing. The first reader of a small file takes it out of the list.
    """

    decimal = ""

    def __init__(
        self,
        paths: list[str],
        origin: tuple[str, ...],
        schema: pa.Schema,
        footer: pq.FileMetaData,
        opened: list[pq.ParquetFile],
    ) -> None:
        self.origin = origin
        self._footer = footer
        self._opened = opened
        self._paths = paths
        self._schema = schema
        self._keys = formats.partition_keys(paths)
        # Keys that are also columns of the files do not add columns.
        in_files = self._keys & {name.casefold() for name in schema.names}
        self._partitioned = bool(self._keys) and not in_files
        self.columns: Sequence[str] = self._relation.columns if self._partitioned else schema.names

    @property
    def rows_of_first(self) -> int:
        """Number of rows of the first file."""
        return self._footer.num_rows

    @cached_property
    def _plain(self) -> set[str]:
        """Names of the columns that DuckDB and Arrow read with the same type."""
        plain: set[str] = set()
        repeated: set[str] = set()
        for name, kind in zip(self._schema.names, self._schema.types, strict=True):
            if name in plain:
                repeated.add(name)
            is_float = pa.types.is_float32(kind) or pa.types.is_float64(kind)
            if is_float or pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_string(kind):
                plain.add(name)
        return plain - repeated

    @cached_property
    def _relation(self) -> Relation:
        """DuckDB relation of all files. It is created on first use, because DuckDB needs as much memory as a batch."""
        connection = connect(self._paths)
        schemas: list[dict[str, str]] = []
        for path, name in zip(self._paths, self.origin, strict=True):
            with formats.one_line_errors(name):
                relation = connection.sql(_read_parquet([path], partitioned=False))
                schemas.append(dict(zip(pq.read_schema(path).names, map(str, relation.types), strict=True)))
        with formats.one_line_errors(self.origin[0]):
            relation = connection.sql(_read_parquet(self._paths, partitioned=self._partitioned))
        conflicts = self._conflicts(schemas)
        return Relation(self.origin, relation, columns=self._schema.names, conflicts=conflicts, connection=connection)

    def _conflicts(self, schemas: Sequence[dict[str, str]]) -> dict[str, str]:
        """Return the columns with an ambiguous type or value, and the reasons."""
        conflicts: dict[str, str] = {}
        # DuckDB would cast a column to its type in the first file.
        for name, expected in schemas[0].items():
            for path, schema in zip(self.origin, schemas, strict=True):
                if name not in conflicts and schema.get(name) != expected:
                    here = f"has type {schema[name]} here" if name in schema else "is missing here"
                    first = self.origin[0]
                    conflicts[name] = f"{path}: column {name!r} has type {expected} in {first}, but {here}"
        if self._partitioned:
            for path, schema in zip(self.origin, schemas, strict=True):
                for name in schema:
                    if name.casefold() in self._keys:
                        reason = "is in this file, and the names of folders contain a column of the same name"
                        conflicts[name] = f"{path}: column {name!r} {reason}"
        return conflicts

    def fetch(self, names: Sequence[str], where: str | None = None) -> pa.Table:
        """Return the named columns of rows that satisfy the SQL condition `where`, in order."""
        if where is None and names and self._plain.issuperset(names):
            # Read with Arrow on all cores; the time does not depend on the number of other columns.
            stream = self.stream(names)
            pieces = in_threads(lambda batches: list(batches()), stream.pieces)
            tables = [*chain.from_iterable(pieces)] or [stream.schema.empty_table()]
            return tables[0] if len(tables) == 1 else pa.concat_tables(tables)
        self._require_sound(names, where)
        return self._relation.fetch(names, where)

    def _require_sound(self, names: Sequence[str], where: str | None) -> None:
        """Read columns with Arrow if their pages have checksums. Arrow verifies the checksums; DuckDB does not."""
        used = {*names, *formats.mentioned(self.columns, where or "")}
        for number, path in enumerate(self._paths):
            footer = self._footer_of(number)
            with self._open(number, footer) as file, formats.one_line_errors(self.origin[number]):
                if _has_checksums(path, footer):
                    here = [name for name in file.schema_arrow.names if name in used]
                    for _ in file.iter_batches(formats.BATCH_ROWS, columns=here):
                        pass

    def held(self) -> "HeldFiles":
        """Return the same files as a source that keeps columns in memory, for repeated queries."""

        def open_again() -> ParquetFiles:
            return open_parquet(self._paths, self.origin, formats.DEFAULT_LAYOUT)

        return HeldFiles(self.origin, self.columns, open_again)

    def holds(self, where: str) -> pa.ChunkedArray:
        """Return whether the SQL condition `where` holds for each row."""
        self._require_sound((), where)
        return self._relation.holds(where)

    def stream(self, names: Sequence[str], where: str | None = None) -> formats.Stream:
        """Return the same rows as `fetch` in batches. Each row group is one piece."""
        if where is not None or not self._plain.issuperset(names):
            self._require_sound(names, where)
            return self._relation.stream(names, where)
        schema = self._schema.remove_metadata()
        if schema.names != names:
            schema = pa.schema([schema.field(name) for name in names])
        rows = 0
        # Read all footers first, so that a file with different columns is reported before any row is read.
        for number in range(len(self._paths)):
            footer = self._footer_of(number)
            if number > 0:
                self._require_types(footer.schema.to_arrow_schema(), schema, number)
            if _has_narrow_deltas(footer, schema):
                self._require_sound(names, None)
                return self._relation.stream(names)
            rows += footer.num_rows
        return formats.Stream(schema, self._pieces(schema), rows)

    def _footer_of(self, number: int) -> pq.FileMetaData:
        if number == 0:
            return self._footer
        with formats.one_line_errors(self.origin[number]):
            return pq.read_metadata(self._paths[number])

    def _open(self, number: int, footer: pq.FileMetaData, read_ahead: int = _READ_AHEAD) -> pq.ParquetFile:
        if not read_ahead:
            with suppress(IndexError):
                return self._opened.pop()
        with formats.one_line_errors(self.origin[number]):
            return _parquet_file(self._paths[number], read_ahead, footer)

    def _pieces(self, schema: pa.Schema) -> Iterator[partial[Generator[pa.Table]]]:
        for number in range(len(self._paths)):
            footer = self._footer_of(number)
            for group in range(footer.num_row_groups):
                yield partial(self._batches, number, footer, group, schema.names)

    def _require_types(self, here: pa.Schema, expected: pa.Schema, number: int) -> None:
        """Raise DuckDB's error if a column does not have the same type as in the first file."""
        types = dict(zip(here.names, here.types, strict=True))
        names = [field.name for field in expected if types.get(field.name) != field.type]
        if names:
            paths = [self._paths[0], self._paths[number]]
            origin = (self.origin[0], self.origin[number])
            ParquetFiles(paths, origin, self._schema, self._footer, [])._relation.fetch(names)
            # DuckDB's check accepts types that only Arrow distinguishes.
            name = self.origin[number]
            raise errors.EngineError(f"{name}: column {names[0]!r} does not have the same type as in {self.origin[0]}")

    def _batches(self, number: int, footer: pq.FileMetaData, group: int, names: list[str]) -> Generator[pa.Table]:
        size = formats.BATCH_ROWS
        is_small = footer.row_group(group).num_rows <= size
        # A buffer for each column takes a fifth of the time to read 100,000 columns of a few rows.
        read_ahead = 0 if is_small else _READ_AHEAD
        with formats.one_line_errors(self.origin[number]), self._open(number, footer, read_ahead) as file:
            if is_small:
                tables = iter([file.read_row_group(group, columns=names, use_threads=False)])
            else:
                batches = file.iter_batches(size, row_groups=[group], columns=names, use_threads=False)
                tables = (pa.Table.from_batches([batch]) for batch in batches)
            for table in tables:
                # Columns come in the order of the file. A selection of all columns takes time if there are many.
                yield table if table.schema.names == names else table.select(names)
        # Arrow's pool keeps the memory of this thread. Release it only for the last row groups, because this takes
        # time.
        if group + cores() >= footer.num_row_groups:
            pa.default_memory_pool().release_unused()


class HeldFiles(ArrowColumns):
    """Parquet files whose columns stay in memory after they are first read.

    To evaluate a condition, the columns in the condition are read again through a separate connection, so that threads
    do not wait for each other.
    """

    def __init__(self, origin: tuple[str, ...], columns: Sequence[str], open_again: Callable[[], ParquetFiles]) -> None:
        super().__init__(origin, columns, self._load_once)
        self._open_again = open_again
        self._loaded: dict[str, pa.ChunkedArray] = {}

    def fetch(self, names: Sequence[str], where: str | None = None) -> pa.Table:
        """Return the named columns of rows that satisfy the SQL condition `where`, in order."""
        table = super().fetch(names)
        if where is None:
            return table
        kept = _contiguous(self._open_again().holds(where))
        return pa.table(in_threads(lambda column: column.filter(kept), table.columns), table.column_names)

    def _load_once(self, names: list[str]) -> pa.Table:
        new = [name for name in names if name not in self._loaded]
        if new:
            columns = map(_contiguous, self._open_again().fetch(new).columns)
            self._loaded |= dict(zip(new, columns, strict=True))
        return pa.table({name: self._loaded[name] for name in names})


def _contiguous(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of numbers in contiguous memory, so that NumPy can use it without a copy."""
    kind = column.type
    if column.num_chunks <= 1 or not pa.types.is_primitive(kind) or pa.types.is_null(kind):
        return column
    return pa.chunked_array([column.combine_chunks()], kind)


def _read_parquet(paths: Sequence[str], *, partitioned: bool) -> str:
    return f"FROM read_parquet({file_list(paths)}, hive_partitioning = {partitioned})"


def _has_narrow_deltas(footer: pq.FileMetaData, schema: pa.Schema) -> bool:
    """Return True if 32-bit columns are encoded as differences. DuckDB reads such columns with more bits than Arrow."""
    types = zip(schema.names, schema.types, strict=True)
    narrow = {name for name, kind in types if pa.types.is_integer(kind) and kind.bit_width <= 32}
    if not (narrow and footer.num_row_groups):
        return False
    first = footer.row_group(0)
    places = [place for place in range(first.num_columns) if first.column(place).path_in_schema in narrow]
    for group in range(footer.num_row_groups):
        for place in places:
            chunk = footer.row_group(group).column(place)
            if chunk.physical_type == "INT32" and "DELTA_BINARY_PACKED" in chunk.encodings:
                return True
    return False


def _has_checksums(path: str, footer: pq.FileMetaData) -> bool:
    """Return True if the first page of a file has a checksum.

    The header of the page has Thrift's compact format and begins with three integers. An integer is a byte 0x15,
    followed by bytes with 7 bits each. All of these bytes except the last have the highest bit set. If there is a
    checksum, it is the fourth integer.
    """
    if not footer.num_row_groups:
        return False
    first = footer.row_group(0).column(0)
    with Path(path).open("rb") as file:
        file.seek(first.dictionary_page_offset or first.data_page_offset)
        return re.match(rb"(\x15[\x80-\xff]*[\x00-\x7f]){3}\x15", file.read(32)) is not None


# ---- Arrow files ----

_FILE_MAGIC = b"ARROW1"


def open_ipc(paths: list[str], origin: tuple[str, ...], _layout: formats.FileLayout) -> formats.Source:
    """Open Arrow files in the file format (Feather) or the stream format."""
    with formats.one_line_errors(origin[0]):
        columns = _ipc_reader(paths[0]).schema.names
    return _IpcFiles(origin, columns, paths)


class _IpcFiles(ArrowColumns):
    """Arrow files as a `Source`. They are streamed without loading all rows."""

    def __init__(self, origin: tuple[str, ...], columns: Sequence[str], paths: list[str]) -> None:
        super().__init__(origin, columns, self._load_files)
        self._paths = paths

    def _load_files(self, names: list[str]) -> pa.Table:
        self._common_schema(names)
        tables: list[pa.Table] = []
        for path, name in zip(self._paths, self.origin, strict=True):
            with formats.one_line_errors(name):
                tables.append(_ipc_reader(path, names).read_all().select(names))
        return pa.concat_tables(tables)

    def stream(self, names: Sequence[str], where: str | None = None) -> formats.Stream:
        """Return the named columns in the batches of the files."""
        wanted = list(dict.fromkeys([*names, *formats.mentioned(self.columns, where or "")]))
        first = self._common_schema(wanted)
        pieces = (
            partial(self._batches, path, name, first.names, list(names), where)
            for path, name in zip(self._paths, self.origin, strict=True)
        )
        return formats.Stream(pa.schema([first.field(name) for name in names]), pieces)

    def _common_schema(self, names: Sequence[str]) -> pa.Schema:
        """Return the types of columns. Raise an error if the types differ between files, before any column is read."""
        schemas: list[pa.Schema] = []
        for path, name in zip(self._paths, self.origin, strict=True):
            with formats.one_line_errors(name):
                schema = _ipc_reader(path).schema
                schemas.append(pa.schema([schema.field(column) for column in names if column in schema.names]))
            for field in schemas[0]:
                kind = schema.field(field.name).type if field.name in schema.names else None
                if kind != field.type:
                    here = "is missing here" if kind is None else f"has type {kind} here"
                    there = f"type {field.type} in {self.origin[0]}"
                    raise errors.EngineError(f"{name}: column {field.name!r} has {there}, but {here}")
        return schemas[0]

    def _batches(
        self, path: str, name: str, wanted: list[str], names: list[str], where: str | None
    ) -> Generator[pa.Table]:
        with formats.one_line_errors(name):
            reader = _ipc_reader(path, wanted)
            if isinstance(reader, pa.RecordBatchFileReader):
                reader = map(reader.get_batch, range(reader.num_record_batches))
            for batch in reader:
                table = pa.Table.from_batches([batch]).select(wanted)
                kept = ArrowColumns((name,), wanted, table.select).fetch(names, where)
                for start in range(0, kept.num_rows, formats.BATCH_ROWS):
                    yield kept.slice(start, formats.BATCH_ROWS)


def _ipc_reader(path: str, names: Sequence[str] | None = None) -> pa.RecordBatchFileReader | pa.RecordBatchStreamReader:
    """Open an Arrow file in the file format or the stream format, to read the named columns or all columns."""
    positions = None
    if names is not None:
        present = _ipc_reader(path).schema.names
        positions = [present.index(name) for name in names if name in present]
    options = pa.ipc.IpcReadOptions(included_fields=positions)
    file = pa.OSFile(path)
    is_file = file.read(len(_FILE_MAGIC)) == _FILE_MAGIC
    file.seek(0)
    return pa.ipc.open_file(file, options=options) if is_file else pa.ipc.open_stream(file, options=options)


# ---- Data frames, through narwhals ----


def open_mapping(columns: Mapping[Any, Any]) -> formats.Source:
    """Return a mapping from column name to array, list or series as a `Source`."""
    by_name = {str(name): values for name, values in columns.items()}

    def load(wanted: list[str]) -> pa.Table:
        return pa.table({name: _array(by_name[name], name) for name in wanted})

    return ArrowColumns(("the dict",), [str(name) for name in columns], load)


def _array(values: Any, name: str) -> pa.Array | pa.ChunkedArray:
    import narwhals as nw

    if not isinstance(values, Iterable) or isinstance(values, ByName):
        raise errors.ShapeError(f"column {name!r}", expected="an array", got=type(values).__name__)
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return _array_of_series(series, name)
    if isinstance(values, np.ndarray):
        values = values.astype(values.dtype.newbyteorder("="), copy=False)
    try:
        return pa.array(values, from_pandas=True)
    except (OverflowError, TypeError, pa.ArrowInvalid) as error:
        refusal = error
    return _array_of_numbers(values, name, refusal)


def _array_of_series(series: Any, name: str) -> pa.Array | pa.ChunkedArray:
    try:
        return series.to_arrow()
    except (OverflowError, TypeError, pa.ArrowInvalid) as error:
        refusal = error
    return _array_of_numbers(series.to_list(), name, refusal)


def _array_of_numbers(values: Any, name: str, refusal: Exception) -> pa.Array:
    """Return numbers that Arrow does not convert itself, such as integers above the largest int64."""
    column = np.empty(len(values), object)
    column[:] = list(values)
    if not all(value is None or isinstance(value, NUMBER_TYPES) for value in column):
        raise refusal
    absent = check.missing(column)
    exact = unpacked(column[~absent], absent[~absent], f"column {name!r}", errors.InputError)
    filled = np.zeros(len(column), exact.dtype)
    filled[~absent] = exact
    return pa.array(filled, mask=absent)


def open_frame(frame: Any) -> formats.Source:
    """Return a data frame, a lazy frame or a relation as a `Source`."""
    import narwhals as nw

    duckdb = sys.modules.get("duckdb")  # loaded, if it made the relation
    if duckdb is not None and isinstance(frame, duckdb.DuckDBPyRelation):
        return Relation(("DuckDB relation",), frame)
    library = type(frame).__module__.split(".")[0].lstrip("_")
    origin = (f"{library} {type(frame).__name__}",)
    with formats.one_line_errors(origin[0]):
        snapshot = _snapshot(frame)
        if snapshot is not None:
            names, load = snapshot
            return ArrowColumns(origin, names, lambda wanted: load(wanted).select(wanted))
        narwhal = nw.from_native(frame, pass_through=True)
        if not isinstance(narwhal, nw.DataFrame | nw.LazyFrame):
            expected = "a path, a pattern, '-', an open binary file, a data frame, a relation or a dict of columns"
            raise errors.EngineError("source", expected=expected, got=type(frame).__name__)
        native_names = narwhal.collect_schema().names()
    # pandas also allows numbers as column names.
    native = {str(name): name for name in native_names}

    def load_columns(wanted: list[str]) -> pa.Table:
        table = narwhal
        if isinstance(table, nw.LazyFrame):
            schema = table.collect_schema()
            columns = []
            for name in wanted:
                is_decimal = schema[native[name]] == nw.Decimal
                columns.append(_without_nan(native[name]) if is_decimal else nw.col(native[name]))
            table = table.select(*columns).collect("pyarrow")
        return pa.table({name: _array_of_series(table.get_column(native[name]), name) for name in wanted})

    return ArrowColumns(origin, [str(name) for name in native_names], load_columns)


def _snapshot(table: Any) -> tuple[list[str], Callable[[list[str]], pa.Table]] | None:
    """Return the column names of a Delta Lake or Iceberg table or an Arrow dataset, and a function that reads columns.

    The function returns the rows of one snapshot. The files also contain deleted rows, which only the library of the
    table can recognise.
    """
    if hasattr(table, "to_pyarrow_dataset"):
        table = table.to_pyarrow_dataset()
    if hasattr(table, "get_fragments"):
        return table.schema.names, lambda wanted: table.to_table(columns=wanted)
    scan = table.scan() if hasattr(table, "metadata_location") else table
    if hasattr(scan, "projection") and hasattr(scan, "to_arrow"):
        return [field.name for field in scan.projection().fields], lambda wanted: scan.select(*wanted).to_arrow()
    return None


def _without_nan(name: str) -> "nw.Expr":
    """Return a decimal column in which NaN is missing. PostgreSQL has decimals with NaN, but Arrow does not."""
    import narwhals as nw

    is_number = nw.col(name).cast(nw.Float64) <= sys.float_info.max
    return nw.when(is_number).then(nw.col(name)).otherwise(nw.lit(None)).alias(name)


# ---- Database files ----

_DUCKDB_TABLES = """
    SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'file' UNION ALL
    SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = 'file' AND NOT internal ORDER BY ALL
"""
_SQLITE_TABLES = (
    "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND substr(name, 1, 7) <> 'sqlite_' ORDER BY 1"
)
_SQLITE_ROWS = 100_000  # number of rows fetched at the same time: a few MB of Python objects


def open_duckdb(paths: list[str], origin: tuple[str, ...], layout: formats.FileLayout) -> formats.Source:
    """Open a table of a DuckDB database. A table outside the schema `main` has a name such as "schema.table"."""
    path = _only(paths)
    with formats.one_line_errors(origin[0]), Path(path).open("rb") as file:
        if file.read(12)[8:] != b"DUCK":
            raise errors.EngineError(origin[0], expected="a DuckDB database", got="another kind of file")
    connection = connect([path, f"{path}.wal"])
    with formats.one_line_errors(origin[0]):
        connection.execute(f"ATTACH {text(path)} AS file (READ_ONLY)")
        tables = {}
        for schema, name in connection.sql(_DUCKDB_TABLES).fetchall():
            tables[name if schema == "main" else f"{schema}.{name}"] = f"{identifier(schema)}.{identifier(name)}"
        table = tables[_chosen(layout.table, list(tables), origin[0])]
        relation = connection.sql(f"FROM file.{table}")
    return Relation(origin, relation, connection=connection)


def open_sqlite(paths: list[str], origin: tuple[str, ...], layout: formats.FileLayout) -> formats.Source:
    """Open a table of a SQLite database with Python's own driver. DuckDB would have to download its driver.

    In SQLite, each value has its own type. A column of integers and floats becomes a float column if float64 represents
    all values exactly. A column of numbers and texts raises an error.
    """
    place = f"{Path(_only(paths)).absolute().as_uri()}?mode=ro"

    def query(sql: str) -> pa.Table:
        with formats.one_line_errors(origin[0]), closing(sqlite3.connect(place, uri=True)) as connection:
            cursor = connection.execute(sql)
            names = [column[0] for column in cursor.description]
            columns: list[list[Any]] = [[] for _ in names]
            while rows := cursor.fetchmany(_SQLITE_ROWS):
                for column, values in zip(columns, zip(*rows, strict=True), strict=True):
                    column.extend(values)
            return pa.table([pa.array(column) for column in columns], names=names)

    name = _chosen(layout.table, query(_SQLITE_TABLES)["name"].to_pylist(), origin[0])
    table = identifier(name)
    columns = query(f"SELECT * FROM {table} LIMIT 0").column_names
    return ArrowColumns(
        origin, columns, lambda wanted: query(f"SELECT {', '.join(map(identifier, wanted))} FROM {table}")
    )


def _only(paths: Sequence[str]) -> str:
    if len(paths) > 1:
        raise errors.InputError("source", expected="one database file", got=errors.listing(paths))
    return paths[0]


def _chosen(table: str | None, tables: list[str], origin: str) -> str:
    """Return the name of the requested table. By default, return the name of the only table."""
    if table is None and len(tables) == 1:
        return tables[0]
    if table in tables:
        return table
    if not tables:
        raise errors.InputError(origin, expected="a database with a table", got="a database without tables")
    got = "no name" if table is None else repr(table)
    expected = f"a table of {origin}: {errors.one_of(table or '', tables)}"
    raise errors.InputError("table", expected=expected, got=got, hint="pass its name as table= (--table)")


# ---- Spreadsheets ----

_SEARCHED = 60  # number of rows that are searched for column names
_EXACT = 2**53  # up to this number, a cell (a float64) can represent every whole number


def open_excel(paths: list[str], origin: tuple[str, ...], layout: formats.FileLayout) -> formats.Source:
    """Open the named sheet of each workbook. By default, open the only sheet with data.

    All workbooks must have the same column names. A column of numbers becomes an integer column if all numbers are
    whole. If a column also contains text, all its cells become text, as in a CSV file.
    """
    sheets = [_table(_sheet(path, name, layout.table), name, layout) for path, name in zip(paths, origin, strict=True)]
    names = [_as_text(cell) for cell in sheets[0][0]]
    for rows, name in zip(sheets, origin, strict=True):
        names_here = [_as_text(cell) for cell in rows[0]]
        if names_here != names:
            expected = f"the columns {names} of {origin[0]}"
            raise errors.EngineError(name, expected=expected, got=str(names_here))
    arrays: dict[str, pa.Array] = {}
    for place, name in enumerate(names):
        arrays[name] = _array_of_cells([row[place] for rows in sheets for row in rows[1:]])
    refusals = _read_marks(arrays, origin)

    def load(wanted: list[str]) -> pa.Table:
        for name in wanted:
            if name in refusals:
                raise refusals[name]
        return pa.table({name: arrays[name] for name in wanted})

    source = ArrowColumns(origin, names, load)
    source.decimal = "."
    return source


def _table(rows: Sequence[Sequence[Any]], name: str, layout: formats.FileLayout) -> Sequence[Sequence[Any]]:
    """Return the rows of a sheet from the column names to the last row of the table."""
    texts = [[_as_text(cell) for cell in row] for row in rows]
    above = layout.skip_rows
    if above is None:
        above = table_bounds.names_row(texts[:_SEARCHED]) or 0
        if above:
            warn(f"{name}: skipped {above} {'row' if above == 1 else 'rows'} above the column names")
        if layout.header is None and not any(isinstance(cell, str) and cell for cell in rows[above]):
            table_bounds.require_names(texts[above:], name)
    if layout.skip_footer is None:
        table_bounds.refuse_totals(texts[above:], len(texts[0]), name)
    table = list(rows[above : len(rows) - (layout.skip_footer or 0)])
    if layout.header is False:
        table.insert(0, [f"column{place}" for place in range(1, len(texts[0]) + 1)])
    return table


def _read_marks(arrays: dict[str, pa.Array], origin: tuple[str, ...]) -> dict[str, errors.InputError]:
    """Convert columns of texts such as "1.234,50 €" to numbers. Return the errors of columns that are ambiguous."""
    texts = {name: array for name, array in arrays.items() if pa.types.is_string(array.type)}
    texts = {
        name: array for name, array in texts.items() if numerals.may_be_numerals(array.drop_null().to_pylist(), None)
    }
    if not texts:
        return {}
    columns = {name: f"c{place}" for place, name in enumerate(texts)}
    relation = connect().from_arrow(pa.table([*texts.values()], names=[*columns.values()]))
    refusals: dict[str, errors.InputError] = {}
    for name, reading in numerals.readings(relation, columns, decimal=None, thousands=None, plain=".").items():
        if reading.expected:
            subject = f"column {name!r} of {errors.brief(origin)}"
            hint = "convert the cells of this column to numbers in the workbook"
            refusals[name] = errors.InputError(subject, expected=reading.expected, got=reading.got, hint=hint)
        elif reading.expression:
            arrays[name] = relation.project(f"{reading.expression} AS c").to_arrow_table().column(0)
    return refusals


# A workbook becomes a rectangle from its first to its last cell, with 62 bytes per cell. The first number is a size
# that is always allowed; the second is the largest allowed ratio of the rectangle to its non-empty cells.
_MOST_CELLS, _MOST_SPREAD = 1 << 22, 10
# Parts of a workbook that unpack to more bytes than this, and to a larger multiple of their size, are not tables.
_MOST_UNPACKED, _MOST_RATIO = 1 << 28, 200
# References after XFD1048576, the last possible cell of a sheet, would abort the process.
_COLUMN = re.compile(rb"""\br=["']([A-Za-z]{1,20})\d""")
_ROW = re.compile(rb"""\br=["'][A-Za-z]{1,20}(\d{1,20})["']""")


def _check_extent(path: str, name: str) -> None:
    """Raise EngineError for a workbook (.xlsx) that would need far more memory than its filled cells."""
    with zipfile.ZipFile(path) as book:
        for part in book.infolist():
            if part.file_size > max(_MOST_UNPACKED, _MOST_RATIO * part.compress_size):
                got = f"{part.file_size:,} bytes compressed to {part.compress_size:,}"
                raise errors.EngineError(f"{name}: {part.filename}", expected="a table of usual size", got=got)
            if not part.filename.startswith("xl/worksheets/"):
                continue
            cells, columns, last_row, tail = 0, {b"A"}, 1, b""
            with book.open(part) as file:
                while piece := file.read(1 << 20):
                    # A reference may be split between two pieces.
                    piece, tail = tail + piece, piece[-32:]
                    letters = _COLUMN.findall(piece)
                    cells += len(letters)
                    columns.update(letters)
                    last_row = max(last_row, *map(int, {b"1", *_ROW.findall(piece)}))
            last_column = max(columns, key=lambda letters: (len(letters), letters.upper())).decode().upper()
            width = 0
            for letter in last_column:
                width = 26 * width + ord(letter) - ord("A") + 1
            if width * last_row > max(_MOST_CELLS, _MOST_SPREAD * cells):
                got = f"only {cells:,} filled cells up to column {last_column} and row {last_row:,}"
                hint = "delete cells outside the table, or save the sheet as CSV"
                raise errors.EngineError(name, expected="a sheet with one table", got=got, hint=hint)


def _sheet(path: str, name: str, wanted: str | None) -> Sequence[Sequence[Any]]:
    """Return the cells of the requested sheet. By default, return the cells of the only sheet with data."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ModuleNotFoundError:
        hint = "run pip install 'rocscope[excel]'"
        raise errors.MissingDependencyError(f"{name}: python-calamine is not installed", hint=hint) from None
    filled: dict[str, Sequence[Sequence[Any]]] = {}
    with formats.one_line_errors(name), Path(path).open("rb") as file:
        try:
            if zipfile.is_zipfile(path):
                _check_extent(path, name)
            book = CalamineWorkbook.from_filelike(file)
            for sheet in book.sheet_names:
                rows = book.get_sheet_by_name(sheet).to_python()
                if rows:
                    filled[sheet] = rows
        except (CalamineError, zipfile.BadZipFile, NotImplementedError) as error:
            raise errors.EngineError(f"{name}: {error}") from None
    if wanted in filled:
        return filled[wanted]
    if len(filled) != 1 or wanted is not None:
        expected = "one sheet with data" if wanted is None else f"a sheet {wanted!r} with data"
        got = f"the sheets {errors.listing(list(filled))}" if filled else "only empty sheets"
        hint = "name a sheet with table= (--sheet)" if filled else ""
        raise errors.EngineError(name, expected=expected, got=got, hint=hint)
    return next(iter(filled.values()))


def _array_of_cells(cells: Sequence[Any]) -> pa.Array:
    """Return a column of cells as an array. Empty cells are missing values. Cells of several types become text."""
    values = [None if cell == "" else cell for cell in cells]
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float}:
        if all(value is None or _is_whole(value) for value in values):
            return pa.array([None if value is None else int(value) for value in values], pa.int64())
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    if len(kinds) == 1 and kinds <= {bool, str, date, datetime}:
        return pa.array(values)
    return pa.array([None if value is None else _as_text(value) for value in values], pa.string())


def _as_text(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and _is_whole(value) else str(value)


def _is_whole(value: float) -> bool:
    return isfinite(value) and value == int(value) and abs(value) <= _EXACT
