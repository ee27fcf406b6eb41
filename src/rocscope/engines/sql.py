"""Count rows where they are stored, by aggregation in a database, a lazy frame or a DuckDB relation.

`count` counts database tables and lazy frames with narwhals. If there are few distinct scores, it fetches these scores
with their numbers of positives and negatives. If there are very many and a tolerance is given, it fetches only the
counts in ranges of scores. `refine` splits the ranges until the AUC is known to within the tolerance. If U pairs of a
positive and a negative are within the same range, the AUC is known to within U / (n_pos n_neg). Ranges with the most
such pairs are split first.

`count_relation` counts DuckDB relations. It aggregates the rows if few are distinct, and streams the rows otherwise.

Order of the file: ranges of scores, queries about ranges, tables, and DuckDB relations.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial, reduce
from math import ceil, inf, isfinite
from operator import and_, or_
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array, Booleans
from rocscope._base.formatting import counted
from rocscope.core import CountedModels, Provenance, ThresholdCounts, context as contexts
from rocscope.core.ranking import collapse, unsigned_zeros
from rocscope.engines import columns, formats, streaming
from rocscope.engines.columns import CountRequest, Role
from rocscope.engines.opening import open_source
from rocscope.engines.tables import Relation
from rocscope.errors import EngineError, InputError, RocscopeError, ScoreError, WeightError
from rocscope.ranges.binned import BinnedCounts
from rocscope.segments.by_segment import of_segments, of_sums
from rocscope.segments.segmented_counts import SegmentedCounts

# ---- Ranges of scores ----

MOST_SPANS = 64
"""Maximum number of ranges in one query. Each range is a branch of a condition in the query."""
_MOST_QUERIES = 200  # number of rounds: each round splits ranges at least in two, and scores have 64 bits
_MOST_PARTS = 2**18  # number of ranges of the first grid
_FINER = 4  # factor on the number of ranges, because rows are not spread evenly
_SMALLEST_TOLERANCE = 1e-9  # smallest divisor, so that a tolerance of 0 does not request infinitely many ranges


@dataclass(frozen=True)
class Span:
    """Scores from `low` to `high`, which are counted in about `parts` ranges of equal width.

    If `parts` is None, each distinct score is counted separately.
    """

    low: Any
    high: Any
    parts: int | None

    @property
    def step(self) -> float:
        """Width of each range. 0 if each distinct score is counted separately."""
        return 0.0 if self.parts is None else _half_width(self.low, self.high) / self.parts * 2


def _half_width(low: Any, high: Any) -> float:
    """Return (high − low)/2, computed without overflow."""
    return float(high) / 2 - float(low) / 2


@dataclass(frozen=True)
class SpanCounts:
    """Counts in ranges of scores, with the lowest and the highest score in each range. Ranges are in any order.

    Attributes
    ----------
    span : array of int
        Index of the `Span` to which each range belongs.
    """

    low: Array
    high: Array
    pos: Array
    neg: Array
    span: Array


Ask = Callable[[Sequence[Span]], SpanCounts]


class _Cells(NamedTuple):
    """All ranges that have been counted, in decreasing order of scores, with the width of each range."""

    low: Array
    high: Array
    pos: Array
    neg: Array
    step: Array

    @property
    def unordered_pairs(self) -> Array:
        """For each range, the number of pairs of a positive and a negative within the range."""
        return np.where(self.low < self.high, self.pos * self.neg.astype(np.float64), 0.0)

    def replaced(self, removed: Booleans, new: "_Cells") -> "_Cells":
        """Return the ranges after some of them are replaced by smaller ranges."""
        return _in_order(_Cells(*(np.append(old[~removed], added) for old, added in zip(self, new, strict=True))))


def _in_order(cells: _Cells) -> _Cells:
    order = np.argsort(cells.low, kind="stable")[::-1]
    return _Cells(*(column[order] for column in cells))


def _cells(counts: SpanCounts, spans: Sequence[Span]) -> _Cells:
    """Return counted ranges in decreasing order of scores."""
    step = np.array([span.step for span in spans])[counts.span]
    return _in_order(_Cells(counts.low, counts.high, counts.pos, counts.neg, step))


def refine(ask: Ask, low: Any, high: Any, *, tol: float, most: int, subject: str) -> BinnedCounts:
    """Return counts in ranges of scores from which the AUC is known to within `tol`.

    Parameters
    ----------
    ask : function
        Function from a list of spans to their counts.
    low, high : float
        Lowest and highest score.
    tol : float
        Largest difference between the upper and the lower bound of the AUC. 0 for the exact AUC.
    most : int
        Maximum number of ranges in one query and in total.
    subject : str
        Subject of the error message.

    Raises
    ------
    EngineError
        If more than `most` ranges are needed.
    """
    parts = max(2, min(most // 2, _MOST_PARTS, int(_FINER / max(tol, _SMALLEST_TOLERANCE))))
    spans = [Span(low, high, parts if low < high else None)]
    cells = _cells(ask(spans), spans)
    for _ in range(_MOST_QUERIES):
        worst = _worst(cells, tol)
        if not worst.any():
            return BinnedCounts(cells.low, cells.high, cells.pos, cells.neg)
        recounted, spans = _spans(cells, worst, most)
        cells = cells.replaced(recounted, _cells(ask(spans), spans))
        if cells.low.size > most:
            break
    width = cells.unordered_pairs.sum() / (float(cells.pos.sum()) * float(cells.neg.sum()))
    expected = f"an AUC with an error of at most {tol:g} (tol)"
    got = f"an error of up to {width:.3g} with {cells.low.size:,} ranges of scores"
    raise EngineError(subject, expected=expected, got=got, hint="pass a larger tol= or memory=")


def _worst(cells: _Cells, tol: float) -> Booleans:
    """Return a mask of the ranges with the most unordered pairs.

    All other ranges together have at most half of the number of unordered pairs that `tol` allows.
    """
    pairs = cells.unordered_pairs
    worst = np.zeros(pairs.size, dtype=np.bool_)
    allowed = tol * float(cells.pos.sum()) * float(cells.neg.sum())
    if pairs.sum() > allowed:
        order = np.argsort(pairs)
        kept = np.searchsorted(np.cumsum(pairs[order]), allowed / 2, side="right")
        worst[order[kept:]] = True
    return worst & (pairs > 0)


def _spans(cells: _Cells, worst: Booleans, most: int) -> tuple[Booleans, list[Span]]:
    """Return a mask of the ranges to count again in smaller ranges, and the spans of the query for this."""
    starts, ends = _covering(worst)
    recounted = _marked(starts, ends, worst.size)
    by_score = (cells.pos[recounted] + cells.neg[recounted]).sum() <= most
    if not by_score:
        starts, ends = _heaviest(cells, worst)
        recounted = _marked(starts, ends, worst.size)
        # A range that is too narrow to divide in floats (step 0) contains few distinct scores.
        by_score = not cells.step[starts].all()
    spans = []
    for start, end in zip(starts, ends, strict=True):
        low = cells.low[end - 1].item()
        high = cells.high[start].item()
        parts = None
        if not by_score:
            # A finer grid: _FINER parts for each step of the grid of the ranges.
            parts = ceil(_FINER * max(1.0, _half_width(low, high) / cells.step[start] * 2))
        spans.append(Span(low, high, parts))
    return recounted, spans


def _covering(worst: Booleans) -> tuple[Array, Array]:
    """Return runs of neighbouring ranges that contain all of the worst ranges and as few other ranges as possible."""
    cells = np.flatnonzero(worst)
    distances = np.diff(cells)
    # Cut at the largest distances between neighbouring worst ranges.
    cuts = np.sort(np.argsort(distances)[::-1][: MOST_SPANS - 1])
    cuts = cuts[distances[cuts] > 1]
    return cells[np.concatenate([[0], cuts + 1])], cells[np.concatenate([cuts, [cells.size - 1]])] + 1


def _heaviest(cells: _Cells, worst: Booleans) -> tuple[Array, Array]:
    """Return the runs of neighbouring worst ranges with the most unordered pairs.

    A run contains only ranges of the same width.
    """
    breaks = ~worst[:-1] | ~worst[1:] | (cells.step[:-1] != cells.step[1:])
    starts = np.flatnonzero(np.concatenate([[True], breaks]))
    ends = np.concatenate([starts[1:], [worst.size]])
    pairs = np.where(worst[starts], np.add.reduceat(cells.unordered_pairs, starts), 0.0)
    runs = np.sort(np.argsort(pairs)[::-1][: min(MOST_SPANS, np.count_nonzero(pairs))])
    return starts[runs], ends[runs]


def _marked(starts: Array, ends: Array, size: int) -> Booleans:
    """Return a mask of the ranges that belong to a run."""
    marks = np.zeros(size + 1, dtype=np.int64)
    marks[starts] += 1
    marks[ends] -= 1
    return np.cumsum(marks[:-1]) > 0


# ---- Queries about ranges ----

LazyRows = nw.LazyFrame[Any]

_WHOLE = (nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32)
_WIDEST = 2**62  # larger differences do not fit into 64 bits in every database


def scores_of(column: pa.ChunkedArray, subject: str) -> Array:
    """Return a column of scores in its own type."""
    return unsigned_zeros(columns.numbers(column, subject, ScoreError).values)


def totals_by(rows: LazyRows, *keys: str) -> LazyRows:
    """Return the numbers of positives and negatives for each distinct combination of values in the key columns."""
    return rows.group_by(*keys).agg(nw.col("pos").sum(), nw.col("neg").sum())


def count_cells(
    rows: LazyRows, fetch: Callable[[LazyRows], pa.Table], subject: str, spans: Sequence[Span]
) -> SpanCounts:
    """Count the rows in each part of the given spans, or at each score."""
    # Databases compare integers as integers, and other numbers as float64.
    is_whole = rows.collect_schema()["score"] in _WHOLE
    value = nw.col("score").cast(nw.Int64 if is_whole else nw.Float64)
    inside = [(value >= span.low) & (value <= span.high) for span in spans]
    if spans[0].parts is None:
        table = fetch(totals_by(rows.filter(reduce(or_, inside)), "score"))
        low = high = scores_of(table.column("score"), subject)
        span_index = np.zeros(low.size, dtype=np.intp)
    else:
        # Parts are numbered consecutively over all spans. The highest score of a span has its own part, hence parts +
        # 1.
        starts = np.cumsum([0, *(span.parts + 1 for span in spans if span.parts is not None)])
        cell = nw.lit(-1)
        for start, span, condition in zip(starts.tolist(), spans, inside, strict=False):
            cell = nw.when(condition).then(_part(value, span) + start).otherwise(cell)
        cells = rows.with_columns(cell=cell, highest=nw.col("score")).filter(nw.col("cell") >= 0)
        ends = nw.col("score").min(), nw.col("highest").max()
        table = fetch(cells.group_by("cell").agg(nw.col("pos").sum(), nw.col("neg").sum(), *ends))
        low = scores_of(table.column("score"), subject)
        high = scores_of(table.column("highest"), subject)
        span_index = np.searchsorted(starts, table.column("cell").to_numpy(), side="right") - 1
    pos = table.column("pos").to_numpy().astype(np.int64)
    neg = table.column("neg").to_numpy().astype(np.int64)
    return SpanCounts(low, high, pos, neg, span_index)


def _part(value: nw.Expr, span: Span) -> nw.Expr:
    """Return the index of the part of a span to which a score belongs. The index increases with the score."""
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


# ---- Tables of a database, and lazy frames ----

MOST_LEVELS = 10_000_000
"""Maximum number of distinct scores of a model that are fetched if `memory` is not given."""
_BYTES_PER_LEVEL = 64  # bytes of a fetched score: the score, two counts and Arrow's overhead
_MOST_CLASSES = 1_000  # maximum number of labels or segments; a choice: each segment needs a separate query
_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class _Table:
    """A lazy frame or a database table, together with the arguments of `read_counts`."""

    frame: LazyRows
    origin: tuple[str, ...]
    schema: nw.Schema
    request: CountRequest
    roles: Sequence[Role]

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self.schema.names()

    @property
    def scores(self) -> list[tuple[str, Role]]:
        """Score columns under internal names, which are short because some databases truncate long names."""
        roles = [role for role in self.roles if role.argument == "score"]
        return [(f"score{number}", role) for number, role in enumerate(roles)]

    def fetch(self, rows: LazyRows) -> pa.Table:
        """Execute a query, and return its result."""
        with formats.one_line_errors(self.origin[0]):
            return rows.collect("pyarrow").to_native()

    @property
    def most_levels(self) -> int:
        """Maximum number of distinct scores that can be fetched."""
        memory = self.request.memory
        return MOST_LEVELS if memory is None else max(2, memory // _BYTES_PER_LEVEL)

    def fetch_levels(self, rows: LazyRows, role: Role, *keys: str) -> pa.Table:
        """Return the numbers of positives and negatives at each score. Raise an error if there are too many scores."""
        most = self.most_levels
        table = self.fetch(totals_by(rows, *keys, "score").head(most + 1))
        if table.num_rows > most:
            hint = "pass tol=1e-6 to compute the AUC with an error of at most 1e-6, or pass a larger memory="
            got = f"more than {most:,}"
            raise EngineError(role.subject(self), expected=f"at most {most:,} distinct scores", got=got, hint=hint)
        return table


def count(source: Any, request: CountRequest) -> CountedModels | SegmentedCounts:
    """Count the rows of a lazy frame or a database table."""
    frame = nw.from_native(source).lazy()
    with formats.one_line_errors("source"):
        schema = frame.collect_schema()
    origin = (f"{frame.implementation.value} table",)
    request.refuse(origin[0], where="filter the table itself: table.filter(...)")
    roles = request.roles(formats.NamedColumns(origin, schema.names()))
    table = _Table(frame, origin, schema, request, roles)
    for role in roles:
        _check_type(role, table)
    if request.tol is not None and (request.weight is not None or request.context is not None):
        given = "weight" if request.weight is not None else "context"
        hint = "omit tol, because it can be used only for unweighted rows"
        raise InputError(f"tol and {given}", expected="only one of these arguments", got="both", hint=hint)
    rows, dropped = _complete_rows(table)
    prepared = _prepared(table)
    provenance = Provenance(table.origin, rows, dropped)
    request.progress(rows, rows)
    segment = columns.role_of(table.roles, "segment")
    if segment is None:
        return CountedModels(_count_models(table, prepared), provenance)
    return _count_by_segment(table, prepared, segment, provenance)


def _check_type(role: Role, table: _Table) -> None:
    """Raise an error if a score or weight column is not numeric. Call this before the database adds the values."""
    kind = table.schema[role.column]
    error = {"score": ScoreError, "weight": WeightError, "columns": InputError}.get(role.argument)
    if error is not None and not (kind.is_numeric() or kind == nw.Boolean):
        hint = "cast it to double in the database first"
        raise error(role.subject(table), expected="numbers", got=f"values of type {kind}", hint=hint)


def _is_complete(role: Role, table: _Table) -> nw.Expr:
    """Return the condition that a value is neither missing nor infinite."""
    column = nw.col(role.column)
    kind = table.schema[role.column]
    if not (kind.is_float() or kind == nw.Decimal):  # decimals of PostgreSQL may be NaN
        return ~column.is_null()
    value = column.cast(nw.Float64)
    return (value >= -_LARGEST) & (value <= _LARGEST) & ~column.is_null()


def _one_if(condition: nw.Expr) -> nw.Expr:
    return nw.when(condition).then(nw.lit(1, nw.Int64)).otherwise(nw.lit(0, nw.Int64))


def _complete_rows(table: _Table) -> tuple[int, int]:
    """Return the number of rows and the number of rows to drop. Raise an error if no rows may be dropped."""
    complete = [_is_complete(role, table) for role in table.roles]
    marks = {f"bad{number}": _one_if(~condition) for number, condition in enumerate(complete)}
    marks["row"] = nw.lit(1, nw.Int64)
    marks["dropped"] = _one_if(~reduce(and_, complete))
    sums = table.fetch(table.frame.select(**marks).select(nw.col(*marks).sum())).to_pylist()[0]
    rows, dropped = int(sums["row"] or 0), int(sums["dropped"] or 0)
    if not rows:
        raise formats.no_rows(table.origin[0])
    for number, role in enumerate(table.roles):
        bad = sums[f"bad{number}"]
        if bad and table.request.missing != "drop":
            raise role.incomplete(table, f"{counted(bad, role.missing_value)} among {rows:,} rows")
    if dropped == rows:
        raise formats.no_complete_rows(table.origin[0], rows)
    return rows, dropped


def _prepared(table: _Table) -> LazyRows:
    """Return the complete rows with columns for positives, negatives, scores and segment under internal names."""
    complete = table.frame.filter(reduce(and_, (_is_complete(role, table) for role in table.roles)))
    is_pos = _is_positive(table, complete)
    one, none = nw.lit(1, nw.Int64), nw.lit(0, nw.Int64)
    weight = columns.role_of(table.roles, "weight")
    if weight is not None:
        _check_weights(table, complete, weight)
        one, none = nw.col(weight.column).cast(nw.Float64), nw.lit(0.0)
    selected = {"pos": nw.when(is_pos).then(one).otherwise(none), "neg": nw.when(is_pos).then(none).otherwise(one)}
    if table.request.context is not None:
        selected = _in_money(table, complete, selected, table.request.context)
    for name, role in table.scores:
        column = nw.col(role.column)
        selected[name] = _one_if(column) if table.schema[role.column] == nw.Boolean else column
    segment = columns.role_of(table.roles, "segment")
    if segment is not None:
        selected["segment"] = nw.col(segment.column)
    return complete.select(**selected)


def _is_positive(table: _Table, complete: LazyRows) -> nw.Expr:
    """Return the condition that a row is positive, after checking the distinct labels."""
    role = table.roles[0]
    column = table.fetch(complete.select(label=nw.col(role.column)).unique().head(_MOST_CLASSES)).column("label")
    labels = columns.labels(column, role.subject(table))
    positive = columns.positives(labels, table.request.pos_label, role.subject(table))
    condition = None
    for value, is_pos in zip(column.to_pylist(), positive, strict=True):
        if is_pos:
            equal = nw.col(role.column) == nw.lit(value)
            condition = equal if condition is None else condition | equal
    # If the positive label does not occur, no row is positive; complete rows have no missing label.
    return nw.col(role.column).is_null() if condition is None else condition


def _check_weights(table: _Table, complete: LazyRows, role: Role) -> None:
    weight = complete.select(low=nw.col(role.column), total=nw.col(role.column).cast(nw.Float64))
    sums = table.fetch(weight.select(nw.col("low").min(), nw.col("total").sum())).to_pylist()[0]
    if sums["low"] < 0:
        raise WeightError(role.subject(table), expected="weights of at least 0", got=f"{sums['low']}")
    if not 0 < sums["total"] < inf:
        got = f"weights with a sum of {sums['total']:.6g}"
        raise WeightError(role.subject(table), expected="weights with a finite sum above 0", got=got)


def _in_money(
    table: _Table, complete: LazyRows, classes: dict[str, nw.Expr], context: contexts.Context
) -> dict[str, nw.Expr]:
    """Return columns of positives and negatives in amounts at stake; see `rocscope.core.context.gains_in_batch`."""
    gain_of_pos = _amount(context.cost_fn) - _amount(context.cost_tp)
    gain_of_neg = _amount(context.cost_tn) - _amount(context.cost_fp)
    factor_of_pos = factor_of_neg = 1.0
    if context.target_prevalence is not None:
        totals = table.fetch(complete.select(**classes).select(nw.col("pos", "neg").sum())).to_pylist()[0]
        of_classes = contexts.weights_of_classes(totals["pos"], totals["neg"], context.target_prevalence)
        factor_of_pos, factor_of_neg = contexts.below_one(of_classes)
    stake_of_pos = gain_of_pos * classes["pos"] * (contexts.UNIT * factor_of_pos)
    stake_of_neg = gain_of_neg * classes["neg"] * (contexts.UNIT * factor_of_neg)
    stake = stake_of_pos + stake_of_neg  # one of them is 0
    return {
        "pos": nw.when(stake > 0).then(stake).otherwise(nw.lit(0.0)),
        "neg": nw.when(stake < 0).then(0 - stake).otherwise(nw.lit(0.0)),
    }


def _amount(cost: float | str) -> nw.Expr:
    """Return a cost multiplied by 10,000, as a whole number if it has at most four decimals."""
    if not isinstance(cost, str):
        return nw.lit(float(contexts.in_parts(np.asarray(cost, np.float64))))
    amount = nw.col(cost).cast(nw.Float64)
    parts = amount * contexts.PARTS
    whole = parts.round(0)
    return nw.when(whole / contexts.PARTS == amount).then(whole).otherwise(parts)


def _count_models(table: _Table, prepared: LazyRows) -> dict[str, ThresholdCounts | BinnedCounts]:
    counts: dict[str, ThresholdCounts | BinnedCounts] = {}
    for name, role in table.scores:
        rows = prepared.select("pos", "neg", score=nw.col(name))
        counts[str(role.model)] = _count_model(table, rows, role)
    return counts


def _count_model(table: _Table, rows: LazyRows, role: Role) -> ThresholdCounts | BinnedCounts:
    """Return the counts of one model at each score. If `tol` is given, return counts in ranges of scores."""
    subject = role.subject(table)
    tol = table.request.tol
    if tol is not None:
        ends = rows.select(low=nw.col("score"), high=nw.col("score")).select(nw.col("low").min(), nw.col("high").max())
        low, high = (scores_of(column, subject) for column in table.fetch(ends).columns)
        ask = partial(count_cells, rows, table.fetch, subject)
        binned = refine(ask, low.item(), high.item(), tol=tol, most=table.most_levels, subject=subject)
        return binned.counts() if binned.is_exact else binned
    levels = table.fetch_levels(rows, role)
    score = scores_of(levels.column("score"), subject)
    pos = levels.column("pos").to_numpy()
    neg = levels.column("neg").to_numpy()
    # Scores that the database distinguishes, such as 0 and -0, may be equal here; `collapse` sums them.
    order = np.argsort(score, kind="stable")[::-1]
    kept = order[(pos + neg)[order] > 0]
    check.check_some_weight(kept.size > 0)
    return ThresholdCounts.from_ranking(collapse(score[kept], pos[kept], neg[kept]))


def _count_by_segment(
    table: _Table, prepared: LazyRows, segment: Role, source: Provenance
) -> CountedModels | SegmentedCounts:
    subject = segment.subject(table)
    request = table.request
    if request.tol is None:
        # For any type that a database returns, sums of rows are whole numbers; sums of weights or amounts are not.
        dtype = np.int64 if request.weight is None and request.context is None else np.float64
        sums: dict[str, tuple[Array, Array, Array, Array]] = {}
        for name, role in table.scores:
            rows = prepared.select("segment", "pos", "neg", score=name)
            levels = table.fetch_levels(rows, role, "segment")
            segments = columns.groups(levels.column("segment"), subject).decoded()
            score = scores_of(levels.column("score"), role.subject(table))
            pos = levels.column("pos").to_numpy().astype(dtype)
            neg = levels.column("neg").to_numpy().astype(dtype)
            sums[str(role.model)] = segments, score, pos, neg
        return of_sums(sums, source)
    # Ranges are refined by queries for each segment, so there must not be too many segments.
    values = table.fetch(prepared.select("segment").unique().head(_MOST_CLASSES + 1)).column("segment")
    if len(values) > _MOST_CLASSES:
        hint = "choose a column with fewer distinct values"
        raise InputError(subject, expected=f"at most {_MOST_CLASSES:,} segments", got="more segments", hint=hint)
    names = columns.groups(values, subject).decoded()
    by_segment: dict[Any, dict[str, ThresholdCounts | BinnedCounts]] = {}
    for name, value in sorted(zip(names.tolist(), values.to_pylist(), strict=True), key=lambda pair: pair[0]):
        by_segment[name] = _count_models(table, prepared.filter(nw.col("segment") == nw.lit(value)))
    return of_segments(by_segment, source)


# ---- DuckDB relations ----

SAMPLED = 100_000
"""Number of rows at the start of a relation from which the method of counting is chosen."""
MOST_DISTINCT = 20_000
"""Maximum number of distinct rows among these rows for aggregation. With more distinct rows, streaming is faster."""


def count_relation(source: Any, request: CountRequest) -> CountedModels | SegmentedCounts:
    """Count the rows of a DuckDB relation."""
    if request.weight is None and request.context is None and request.memory is None:
        with suppress(RocscopeError):  # streaming reports the error and its row
            counts = _aggregated(source, request)
            if counts is not None:
                return counts
    return streaming.count(source, request)


def _aggregated(source: Any, request: CountRequest) -> CountedModels | SegmentedCounts | None:
    """Return the counts of one model from a GROUP BY over the columns. Return None if streaming is faster."""
    with open_source(source, request.layout) as opened:
        assert isinstance(opened, Relation)
        roles = request.roles(opened)
        label, score = roles[0], roles[-1]
        segments = [role for role in roles if role.argument == "segment"]
        if len(roles) > 2 + len(segments):  # several models
            return None
        names = list(dict.fromkeys(role.column for role in roles))
        first = opened.distinct(names, request.where, SAMPLED)
        if _rows_of(first).sum() < SAMPLED or first.num_rows > MOST_DISTINCT:
            return None
        kind = first.schema.field(score.column).type
        if not (pa.types.is_integer(kind) or pa.types.is_float32(kind) or pa.types.is_float64(kind)):
            return None
        table = opened.distinct(names, request.where)
        by_role = {role: role.convert(opened, table) for role in roles}
        size = _rows_of(table)
        rows = int(size.sum())
        gaps = [column.missing for column in by_role.values() if column.missing is not None]
        if gaps:
            complete = ~np.logical_or.reduce(gaps)
            if request.missing != "drop" or not complete.any():
                return None
            by_role = {role: column.keep(complete) for role, column in by_role.items()}
            size = size[complete]
        positive = columns.positives(by_role[label], request.pos_label, label.subject(opened))
    request.progress(rows, rows)
    provenance = Provenance(opened.origin, rows, rows - int(size.sum()), request.where)
    values = unsigned_zeros(by_role[score].as_scores())
    pos = np.where(positive, size, 0)
    neg = np.where(positive, 0, size)
    if segments:
        return of_sums({str(score.model): (by_role[segments[0]].decoded(), values, pos, neg)}, provenance)
    order = np.argsort(values, kind="stable")[::-1]
    counts = ThresholdCounts.from_ranking(collapse(values[order], pos[order], neg[order]))
    return CountedModels({str(score.model): counts}, provenance)


def _rows_of(table: pa.Table) -> NDArray[np.int64]:
    """Return the number of equal rows for each distinct row."""
    return table.column(table.num_columns - 1).to_numpy()
