"""Database files of DuckDB and SQLite as a Source: one table or view, opened for reading only."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pyarrow as pa

from rocscope.engines.sources.arrow import ArrowColumns
from rocscope.engines.sources.database import Relation, connect, identifier, text
from rocscope.engines.sources.file_formats import FileLayout
from rocscope.engines.sources.source import Source, one_line_errors
from rocscope.errors import EngineError, InputError, listing, one_of

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
