"""Data frames as a Source, through narwhals: pandas, Polars, PyArrow, DuckDB and others."""

import sys
from collections.abc import Iterable, Mapping
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
        narwhal = nw.from_native(frame, pass_through=True)
        if not isinstance(narwhal, nw.DataFrame | nw.LazyFrame):
            expected = "a file, folder, glob, '-', open binary file, data frame, relation or dict of columns"
            raise EngineError("source", expected=expected, got=type(frame).__name__)
        native_names = narwhal.collect_schema().names()
    names = [str(name) for name in native_names]  # pandas also takes numbers
    native = dict(zip(names, native_names, strict=True))
    return ArrowColumns(origin, names, lambda wanted: _load(narwhal, {name: native[name] for name in wanted}))


def _load(frame: nw.DataFrame[Any] | nw.LazyFrame[Any], names: Mapping[str, Any]) -> pa.Table:
    if isinstance(frame, nw.LazyFrame):
        frame = frame.select(list(names.values())).collect("pyarrow")
    return pa.table({name: frame.get_column(native).to_arrow() for name, native in names.items()})


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
