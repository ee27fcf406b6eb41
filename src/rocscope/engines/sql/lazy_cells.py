"""Questions about ranges of scores, as queries that a database or a lazy frame carries out."""

from collections.abc import Callable, Sequence
from functools import reduce
from math import isfinite
from operator import or_
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from rocscope._cores.ordered import without_signed_zeros
from rocscope._types import Array
from rocscope.engines.sources import columns
from rocscope.engines.sql.zoom import Span, SpanCounts
from rocscope.errors import ScoreError

LazyRows = nw.LazyFrame[Any]

_WHOLE = (nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32)
_WIDEST = 2**62


def scores_of(column: pa.ChunkedArray, subject: str) -> Array:
    """Return scores in their own type."""
    return without_signed_zeros(columns.numbers(column, subject, ScoreError).values)


def totals_by(rows: LazyRows, *keys: str) -> LazyRows:
    """Return the sums of positives and negatives for each value of a column, or of several together."""
    return rows.group_by(*keys).agg(nw.col("pos").sum(), nw.col("neg").sum())


def extremes(rows: LazyRows) -> tuple[LazyRows, LazyRows]:
    """Return the queries for the lowest and the highest score."""
    return rows.select(nw.col("score").min()), rows.select(nw.col("score").max())


def count_cells(
    rows: LazyRows, fetch: Callable[[LazyRows], pa.Table], subject: str, spans: Sequence[Span]
) -> SpanCounts:
    """Count the rows whose scores lie in spans, in parts of them or score by score."""
    value = _comparable(rows)
    inside = [(value >= span.low) & (value <= span.high) for span in spans]
    if spans[0].parts is None:
        found = fetch(totals_by(rows.filter(reduce(or_, inside)), "score"))
        low = high = scores_of(found.column("score"), subject)
        span = np.zeros(low.size, dtype=np.intp)
    else:
        starts = np.cumsum([0, *(span.parts + 1 for span in spans if span.parts is not None)])
        cell = nw.lit(-1)
        for start, span, condition in zip(starts.tolist(), spans, inside, strict=False):
            cell = nw.when(condition).then(_part(value, span) + start).otherwise(cell)
        cells = rows.with_columns(cell=cell, highest=nw.col("score")).filter(nw.col("cell") >= 0).group_by("cell")
        sums = (nw.col("pos").sum(), nw.col("neg").sum())
        found = fetch(cells.agg(*sums, nw.col("score").min(), nw.col("highest").max()))
        low, high = (scores_of(found.column(name), subject) for name in ("score", "highest"))
        span = np.searchsorted(starts, found.column("cell").to_numpy(), side="right") - 1
    pos, neg = (found.column(name).to_numpy().astype(np.int64) for name in ("pos", "neg"))
    return SpanCounts(low, high, pos, neg, span)


def _comparable(rows: LazyRows) -> nw.Expr:
    """Return the score in the type in which it is compared: whole numbers as such, others as float64."""
    whole = rows.collect_schema()["score"] in _WHOLE
    return nw.col("score").cast(nw.Int64 if whole else nw.Float64)


def _part(value: nw.Expr, span: Span) -> nw.Expr:
    """Return the number of the part of a span that a score is in: any function that never decreases would do."""
    low, high = span.low, span.high
    if isinstance(low, int) and high - low > _WIDEST:
        value, low, high = value.cast(nw.Float64), float(low), float(high)
    if isinstance(low, int):
        share = (value - low).cast(nw.Float64) / float(high - low)
    elif isfinite(high - low):
        share = (value - low) / (high - low)
    else:
        share = (value / 2 - low / 2) / (high / 2 - low / 2)
    return (share * span.parts).cast(nw.Int64)
