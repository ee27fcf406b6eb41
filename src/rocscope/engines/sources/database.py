"""DuckDB restricted to given files: it opens and writes no other file and loads no extension."""

import glob
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from rocscope.core.rows import brief
from rocscope.engines.sources.file_formats import partition_keys
from rocscope.engines.sources.source import BATCH_ROWS, Stream, mentioned, one_line_errors
from rocscope.errors import EngineError

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
