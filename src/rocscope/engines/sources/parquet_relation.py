"""Parquet files as one DuckDB relation, which filters, knows every type and adds columns of folders."""

import glob
from collections.abc import Sequence

import pyarrow.parquet as pq

from rocscope.engines.sources.database import Relation, connect, text
from rocscope.engines.sources.file_formats import partition_keys
from rocscope.engines.sources.source import one_line_errors


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
    """Return the columns that files hold and the names of folders set over them."""
    keys = partition_keys(paths)
    return {
        name: f"{path}: column {name!r} is in this file and, for all, in the names of folders"
        for path, schema in zip(origin, schemas, strict=True)
        for name in schema
        if name.casefold() in keys
    }


def _conflicts(origin: Sequence[str], schemas: Sequence[dict[str, str]]) -> dict[str, str]:
    """Return the columns that are not of one type in all files: DuckDB would cast them to that of the first."""
    conflicts: dict[str, str] = {}
    for name, expected in schemas[0].items():
        for path, schema in zip(origin, schemas, strict=True):
            if name not in conflicts and schema.get(name) != expected:
                found = f"type {schema[name]}" if name in schema else "none"
                conflicts[name] = f"{path}: column {name!r} has type {expected} in {origin[0]}, but {found} here"
    return conflicts
