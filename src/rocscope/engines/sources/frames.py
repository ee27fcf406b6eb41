"""Data frames as a Source, through narwhals: pandas, Polars, PyArrow, DuckDB and others."""

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from rocscope._base.grouping import ByName
from rocscope.engines.sources.arrow import ArrowColumns
from rocscope.engines.sources.source import Source, one_line_errors
from rocscope.errors import EngineError, ShapeError


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
        from rocscope.engines.sources.database import Relation

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
