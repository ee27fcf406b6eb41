"""Refine ranges of the score: split those that hold both classes, the most important first.

It asks for counts and never sees rows, so that a database can answer where the rows are.

Questions about ranges of scores, as queries that a database or a lazy frame carries out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from math import ceil, isfinite
from operator import or_
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rocscope._base.arrays import Array
from rocscope._base.radix import without_signed_zeros
from rocscope.engines.sources import columns
from rocscope.errors import EngineError, ScoreError
from rocscope.ranges.binned import BinnedCounts

MOST_SPANS = 64
"""Ranges per query, each a branch of its condition."""
_MOST_QUESTIONS = 200  # to the database: each parts ranges in two at least, and scores have 64 bits
_MOST_PARTS = 2**18  # of the first grid, before anything is known
_FINER = 4  # times as many ranges as the tolerance needs, as rows are not spread evenly


@dataclass(frozen=True)
class Span:
    """Scores from `low` to `high`, to be counted in about `parts` ranges of equal width (None: every score)."""

    low: Any
    high: Any
    parts: int | None

    @property
    def step(self) -> float:
        """Width of a part; 0 for single scores."""
        return 0.0 if self.parts is None else (float(self.high) / 2 - float(self.low) / 2) / self.parts * 2


@dataclass(frozen=True)
class SpanCounts:
    """Counts in disjoint ranges, with the lowest and highest score in each, in any order.

    Attributes
    ----------
    span : array of the positions of the spans that they are in
    """

    low: Array
    high: Array
    pos: Array
    neg: Array
    span: Array


Ask = Callable[[Sequence[Span]], SpanCounts]


@dataclass(frozen=True)
class _Known:
    """All cells so far by decreasing score, with the grid width each comes from."""

    low: Array
    high: Array
    pos: Array
    neg: Array
    step: Array

    @property
    def gap(self) -> Array:
        """Number of positive–negative pairs whose order is unknown."""
        return np.where(self.low < self.high, self.pos * self.neg.astype(np.float64), 0.0)

    def replaced(self, gone: NDArray[np.bool_], cells: SpanCounts, spans: Sequence[Span]) -> "_Known":
        steps = np.array([span.step for span in spans])
        new = (cells.low, cells.high, cells.pos, cells.neg, steps[cells.span])
        kept = (self.low, self.high, self.pos, self.neg, self.step)
        columns = [np.concatenate([old[~gone], added]) for old, added in zip(kept, new, strict=True)]
        order = np.argsort(columns[0], kind="stable")[::-1]
        return _Known(*(column[order] for column in columns))


def refine(ask: Ask, low: Any, high: Any, *, tol: float, most: int, subject: str) -> BinnedCounts:
    """Return bins that determine the AUC to within `tol`.

    Parameters
    ----------
    ask : function
        Counts the scores of spans.
    low, high : scores
        The lowest and the highest.
    tol : float
        Width of the interval in which the AUC may lie; 0 for an exact one.
    most : int
        Ranges that may be held, and asked for at a time.

    Raises
    ------
    EngineError
        If that takes too many of them.
    """
    parts = max(2, min(most // 2, _MOST_PARTS, int(_FINER / max(tol, 1e-9))))
    spans = [Span(low, high, parts if low < high else None)]
    known = _first(ask(spans), spans)
    for _ in range(_MOST_QUESTIONS):
        worst = _worst(known, tol)
        if not worst.any():
            return BinnedCounts(known.low, known.high, known.pos, known.neg)
        gone, spans = _spans(known, worst, most)
        known = known.replaced(gone, ask(spans), spans)
        if known.low.size > most:
            break
    width = known.gap.sum() / (float(known.pos.sum()) * float(known.neg.sum()))
    raise EngineError(
        subject,
        expected=f"an AUC known to within {tol:g} from {most:,} ranges of scores",
        got=f"{width:.3g} with {known.low.size:,}",
        hint="pass a larger tol= or memory=",
    )


def _first(cells: SpanCounts, spans: Sequence[Span]) -> _Known:
    none = np.empty(0, dtype=cells.low.dtype)
    counts = np.empty(0, dtype=np.int64)
    nothing = _Known(none, none, counts, counts, np.empty(0))
    return nothing.replaced(np.empty(0, dtype=np.bool_), cells, spans)


def _worst(known: _Known, tol: float) -> NDArray[np.bool_]:
    """Return the cells to split: those with most unordered pairs, until the rest is half of what is allowed."""
    gap = known.gap
    allowed = tol * float(known.pos.sum()) * float(known.neg.sum())
    if gap.sum() <= allowed:
        return np.zeros(gap.size, dtype=np.bool_)
    order = np.argsort(gap)
    kept = np.searchsorted(np.cumsum(gap[order]), allowed / 2, side="right")
    worst = np.zeros(gap.size, dtype=np.bool_)
    worst[order[kept:]] = True
    return worst & (gap > 0)


def _spans(known: _Known, worst: NDArray[np.bool_], most: int) -> tuple[NDArray[np.bool_], list[Span]]:
    """Return the spans to recount, within the limit of one query, and the cells that they replace."""
    starts, ends = _covering(worst)
    gone = _marked(starts, ends, worst.size)
    by_score = (known.pos[gone] + known.neg[gone]).sum() <= most
    if not by_score:
        starts, ends = _heaviest(known, worst)
        gone = _marked(starts, ends, worst.size)
    steps = known.step[starts]
    by_score = by_score or not steps.all()
    return gone, [
        _span(known.low[end - 1].item(), known.high[start].item(), None if by_score else step)
        for start, end, step in zip(starts, ends, steps, strict=True)
    ]


def _covering(worst: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Return runs of cells that cover all the worst ones with as few others as possible."""
    cells = np.flatnonzero(worst)
    apart = np.diff(cells)
    borders = np.sort(np.argsort(apart)[::-1][: MOST_SPANS - 1])
    borders = borders[apart[borders] > 1]
    return cells[np.concatenate([[0], borders + 1])], cells[np.concatenate([borders, [cells.size - 1]])] + 1


def _heaviest(known: _Known, worst: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Return the runs of neighbouring worst cells with most unordered pairs.

    Neighbours from grids of different width stay apart: a common grid would undo the finer one.
    """
    breaks = ~worst[:-1] | ~worst[1:] | (known.step[:-1] != known.step[1:])
    starts = np.flatnonzero(np.concatenate([[True], breaks]))
    ends = np.concatenate([starts[1:], [worst.size]])
    gap = np.where(worst[starts], np.add.reduceat(known.gap, starts), 0.0)
    runs = np.sort(np.argsort(gap)[::-1][: min(MOST_SPANS, np.count_nonzero(gap))])
    return starts[runs], ends[runs]


def _marked(starts: Array, ends: Array, size: int) -> NDArray[np.bool_]:
    marks = np.zeros(size + 1, dtype=np.int64)
    marks[starts] += 1
    marks[ends] -= 1
    return np.cumsum(marks[:-1]) > 0


def _span(low: Any, high: Any, step: float | None) -> Span:
    """Return a span to count on a grid finer than `step`, or by score."""
    if step is None:
        return Span(low, high, None)
    return Span(low, high, ceil(_FINER * max(1.0, (float(high) / 2 - float(low) / 2) / step * 2)))


LazyRows = nw.LazyFrame[Any]

_WHOLE = (nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32)
_WIDEST = 2**62  # differences above it do not fit 64 bits in every database


def scores_of(column: pa.ChunkedArray, subject: str) -> Array:
    """Return scores in their own type."""
    return without_signed_zeros(columns.numbers(column, subject, ScoreError).values)


def totals_by(rows: LazyRows, *keys: str) -> LazyRows:
    """Return the sums of positives and negatives for each value of a column, or of several together."""
    return rows.group_by(*keys).agg(nw.col("pos").sum(), nw.col("neg").sum())


def extremes(rows: LazyRows) -> tuple[LazyRows, LazyRows]:
    """Return the queries for the minimum and maximum score."""
    return rows.select(nw.col("score").min()), rows.select(nw.col("score").max())


def count_cells(
    rows: LazyRows, fetch: Callable[[LazyRows], pa.Table], subject: str, spans: Sequence[Span]
) -> SpanCounts:
    """Count the rows in spans, by part or by score."""
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
    """Return the score in the type used for comparisons: integers unchanged, others as float64."""
    whole = rows.collect_schema()["score"] in _WHOLE
    return nw.col("score").cast(nw.Int64 if whole else nw.Float64)


def _part(value: nw.Expr, span: Span) -> nw.Expr:
    """Return the index of the part of a span that contains a score; any monotone function would do."""
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
