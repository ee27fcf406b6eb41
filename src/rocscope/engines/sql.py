"""Refine ranges of the score: split those that hold both classes, the most important first.

It asks for counts and never sees rows, so that a database can answer where the rows are.

Questions about ranges of scores, as queries that a database or a lazy frame carries out.
"""
# MERGED-DOC: """Counts of a database table or lazy frame by aggregation where the rows are."""
# MERGED-DOC: """Counts of a DuckDB relation: frequent scores by aggregation, the rest as a stream."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial, reduce
from math import ceil, inf, isfinite
from operator import and_, or_
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.radix import without_signed_zeros
from rocscope.core.context import CELLS, PARTS, UNIT, Context, below_one, in_parts, weights_of_classes
from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import CountedModels, Provenance
from rocscope.core.ranking import collapse
from rocscope.engines import columns, streaming
from rocscope.engines.columns import Role, roles_of_columns, roles_of_numbers, roles_of_scores
from rocscope.engines.counting import Question
from rocscope.engines.formats import no_complete_rows, no_rows, one_line_errors, require_columns
from rocscope.engines.opening import open_source
from rocscope.engines.tables import Relation
from rocscope.errors import EngineError, InputError, RocscopeError, ScoreError, WeightError
from rocscope.ranges.binned import BinnedCounts
from rocscope.segments.by_segment import of_segments, of_sums
from rocscope.segments.segmented_counts import SegmentedCounts

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


MOST_LEVELS = 10_000_000
"""Distinct scores of a model that are fetched, unless `memory` is given."""
_BYTES_A_LEVEL = 64  # of memory, for what comes back of a score: the score, two counts and what Arrow adds
_MOST_CLASSES = 1_000  # labels or segments that are fetched; a choice: each segment is counted by a query of its own
_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class _Table:
    """A lazy frame, or a database table as one."""

    frame: nw.LazyFrame[Any]
    origin: tuple[str, ...]
    schema: nw.Schema

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self.schema.names()

    def fetch(self, frame: nw.LazyFrame[Any]) -> pa.Table:
        """Execute a query."""
        with one_line_errors(self.origin[0]):
            return frame.collect("pyarrow").to_native()


def count(source: Any, question: Question) -> CountedModels | SegmentedCounts:
    """Answer a question about a lazy frame or a table of a database."""
    table = _open(source)
    question.refuse(table.origin[0], where="filter the table itself: table.filter(...)")
    others = {"weight": question.weight, "segment": question.segment}
    roles = [*roles_of_columns(table, question.label, **others), *roles_of_scores(table, question.scores)]
    roles += roles_of_numbers(question.context and question.context.columns)
    for role in roles:
        require_columns(table, [role.column], role.argument)
        _check_type(role, table)
    if question.tol is not None and (question.weight is not None or question.context is not None):
        raise InputError("tol", expected="none with weights or money", hint="only whole rows are counted in ranges")
    rows, dropped = _complete_rows(table, roles, drop=question.missing == "drop")
    prepared = _prepare(table, roles, question)
    provenance = Provenance(table.origin, rows, dropped)
    question.progress(rows, rows)
    if question.segment is None:
        return CountedModels(_by_model(table, prepared, roles, question), provenance)
    return _by_segment(table, prepared, roles, question, provenance)


def _open(source: Any) -> _Table:
    frame = nw.from_native(source).lazy()
    with one_line_errors("source"):
        schema = frame.collect_schema()
    return _Table(frame, (f"{frame.implementation.value} table",), schema)


def _check_type(role: Role, table: _Table) -> None:
    """Raise for score or weight columns without numbers, before the database sums them."""
    kind = table.schema[role.column]
    error = {"score": ScoreError, "weight": WeightError, "columns": InputError}.get(role.argument)
    if error is not None and not (kind.is_numeric() or kind == nw.Boolean):
        hint = "cast it to double in the database first"
        raise error(role.subject(table), expected="numbers", got=f"values of type {kind}", hint=hint)


def _is_complete(role: Role, table: _Table) -> nw.Expr:
    column = nw.col(role.column)
    if not (table.schema[role.column].is_float() or table.schema[role.column] == nw.Decimal):  # PostgreSQL's has NaN
        return ~column.is_null()
    value = column.cast(nw.Float64)
    return (value >= -_LARGEST) & (value <= _LARGEST) & ~column.is_null()


def _one_if(condition: nw.Expr) -> nw.Expr:
    return nw.when(condition).then(nw.lit(1, nw.Int64)).otherwise(nw.lit(0, nw.Int64))


def _complete_rows(table: _Table, roles: Sequence[Role], *, drop: bool) -> tuple[int, int]:
    """Return the number of rows, and of those to drop, which must be allowed."""
    complete = [_is_complete(role, table) for role in roles]
    marks = {f"bad{i}": _one_if(~condition) for i, condition in enumerate(complete)}
    marks |= {"row": nw.lit(1, nw.Int64), "dropped": _one_if(~reduce(and_, complete))}
    sums = table.fetch(table.frame.select(**marks).select(nw.col(*marks).sum())).to_pylist()[0]
    rows, dropped = int(sums["row"] or 0), int(sums["dropped"] or 0)
    if not rows:
        raise no_rows(table.origin[0])
    for i, role in enumerate(roles):
        if sums[f"bad{i}"] and not drop:
            raise role.incomplete(table, f"{sums[f'bad{i}']} of {rows} missing or infinite")
    if dropped == rows:
        raise no_complete_rows(table.origin[0], rows)
    return rows, dropped


def _prepare(table: _Table, roles: Sequence[Role], question: Question) -> nw.LazyFrame[Any]:
    """Return complete rows with positives and negatives to sum, scores and segment, under internal names."""
    complete = table.frame.filter(reduce(and_, (_is_complete(role, table) for role in roles)))
    label = roles[0]
    is_pos = _is_positive(table, complete, label, question.pos_label)
    weight = next((role for role in roles if role.argument == "weight"), None)
    if weight is not None:
        _check_weights(table, complete, weight)
    one = nw.lit(1, nw.Int64) if weight is None else nw.col(weight.column).cast(nw.Float64)
    none = nw.lit(0, nw.Int64) if weight is None else nw.lit(0.0)
    chosen = {
        "pos": nw.when(is_pos).then(one).otherwise(none),
        "neg": nw.when(is_pos).then(none).otherwise(one),
    }
    if question.context is not None:
        chosen = _in_money(table, complete, chosen, question.context)
    for name, role in _named_scores(roles):
        column = nw.col(role.column)
        chosen[name] = _one_if(column) if table.schema[role.column] == nw.Boolean else column
    segment = next((role for role in roles if role.argument == "segment"), None)
    if segment is not None:
        chosen["segment"] = nw.col(segment.column)
    return complete.select(**chosen)


def _in_money(
    table: _Table, complete: nw.LazyFrame[Any], held: dict[str, nw.Expr], context: Context
) -> dict[str, nw.Expr]:
    """Return positives and negatives as amounts at stake; see `rocscope.core.row_costs.gains_in_batch`."""
    amount = {cell: _amount(getattr(context, f"cost_{cell}")) for cell in CELLS}
    gain = {"pos": amount["fn"] - amount["tp"], "neg": amount["tn"] - amount["fp"]}
    factors = (1.0, 1.0)
    if context.target_prevalence is not None:
        totals = table.fetch(complete.select(**held).select(nw.col("pos", "neg").sum())).to_pylist()[0]
        of_classes = weights_of_classes(totals["pos"], totals["neg"], context.target_prevalence)
        factors = below_one(of_classes)
    stakes = [gain[part] * held[part] * (UNIT * factor) for part, factor in zip(("pos", "neg"), factors, strict=True)]
    stake = stakes[0] + stakes[1]  # of which one is 0
    return {
        "pos": nw.when(stake > 0).then(stake).otherwise(nw.lit(0.0)),
        "neg": nw.when(stake < 0).then(0 - stake).otherwise(nw.lit(0.0)),
    }


def _amount(cost: float | str) -> nw.Expr:
    """Return a cost in ten-thousandths, as whole numbers where possible."""
    if not isinstance(cost, str):
        return nw.lit(float(in_parts(np.asarray(cost, np.float64))))
    parts = nw.col(cost).cast(nw.Float64) * PARTS
    whole = parts.round(0)
    return nw.when(whole / PARTS == nw.col(cost).cast(nw.Float64)).then(whole).otherwise(parts)


def _is_positive(table: _Table, complete: nw.LazyFrame[Any], role: Role, pos_label: Any) -> nw.Expr:
    """Return the condition that a row is positive, after checking which labels occur."""
    found = table.fetch(complete.select(label=nw.col(role.column)).unique().head(_MOST_CLASSES))
    column = found.column("label")
    labels = columns.labels(column, role.subject(table))
    positive = columns.positives(labels, pos_label, role.subject(table))
    values = [value for value, is_pos in zip(column.to_pylist(), positive, strict=True) if is_pos]
    if not values:
        return nw.col(role.column).is_null()
    return reduce(or_, (nw.col(role.column) == nw.lit(value) for value in values))


def _check_weights(table: _Table, complete: nw.LazyFrame[Any], role: Role) -> None:
    weight = complete.select(low=nw.col(role.column), total=nw.col(role.column).cast(nw.Float64))
    found = table.fetch(weight.select(nw.col("low").min(), nw.col("total").sum())).to_pylist()[0]
    if found["low"] < 0:
        raise WeightError(role.subject(table), expected="weights of at least 0", got=f"{found['low']}")
    if not 0 < found["total"] < inf:
        raise WeightError(role.subject(table), expected="a finite sum above 0", got=f"{found['total']:.6g}")


def _by_segment(
    table: _Table, prepared: nw.LazyFrame[Any], roles: Sequence[Role], question: Question, source: Provenance
) -> CountedModels | SegmentedCounts:
    role = next(role for role in roles if role.argument == "segment")
    if question.tol is None:
        sums = {
            str(score.model): _sums_by_segment(
                table, prepared.select("segment", "pos", "neg", score=name), role, score, question
            )
            for name, score in _named_scores(roles)
        }
        return of_sums(sums, source)
    found = table.fetch(prepared.select("segment").unique().head(_MOST_CLASSES + 1)).column("segment")
    if len(found) > _MOST_CLASSES:
        hint = "group them more coarsely"
        raise InputError(role.subject(table), expected=f"at most {_MOST_CLASSES:,} segments", got="more", hint=hint)
    names = columns.groups(found, role.subject(table)).decoded()
    parts = {
        name: _by_model(table, prepared.filter(nw.col("segment") == nw.lit(value)), roles, question)
        for name, value in sorted(zip(names.tolist(), found.to_pylist(), strict=True), key=lambda pair: pair[0])
    }
    return of_segments(parts, source)


def _sums_by_segment(
    table: _Table, rows: nw.LazyFrame[Any], segment: Role, score: Role, question: Question
) -> tuple[Array, Array, Array, Array]:
    """Query segments and scores with their positives and negatives."""
    levels = _fetch_levels(table, totals_by(rows, "segment", "score"), score, question)
    names = columns.groups(levels.column("segment"), segment.subject(table)).decoded()
    kind = np.int64 if question.weight is None and question.context is None else np.float64
    pos, neg = (levels.column(name).to_numpy().astype(kind) for name in ("pos", "neg"))
    return names, scores_of(levels.column("score"), score.subject(table)), pos, neg


def _fetch_levels(table: _Table, levels: nw.LazyFrame[Any], role: Role, question: Question) -> pa.Table:
    """Return levels, unless they exceed the memory limit."""
    most = _most_levels(question)
    found = table.fetch(levels.head(most + 1))
    if found.num_rows > most:
        hint = "pass tol=1e-6 for ranges of scores with a sure AUC to within that, or a larger memory="
        raise EngineError(role.subject(table), expected=f"at most {most:,} distinct scores", got="more", hint=hint)
    return found


def _most_levels(question: Question) -> int:
    return MOST_LEVELS if question.memory is None else max(2, question.memory // _BYTES_A_LEVEL)


def _named_scores(roles: Sequence[Role]) -> list[tuple[str, Role]]:
    """Return internal names for score columns, since some databases truncate long names."""
    return [(f"score{i}", role) for i, role in enumerate(role for role in roles if role.argument == "score")]


def _by_model(table: _Table, prepared: nw.LazyFrame[Any], roles: Sequence[Role], question: Question) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, role in _named_scores(roles):
        rows = prepared.select("pos", "neg", score=nw.col(name))
        found[str(role.model)] = _count_one(table, rows, role, question)
    return found


def _count_one(
    table: _Table, rows: nw.LazyFrame[Any], role: Role, question: Question
) -> ThresholdCounts | BinnedCounts:
    """Return the counts of one model, by score or, with `tol`, in score ranges."""
    subject = role.subject(table)
    if question.tol is not None:
        low, high = (scores_of(table.fetch(end).column("score"), subject) for end in extremes(rows))
        ask = partial(count_cells, rows, table.fetch, subject)
        binned = refine(ask, low.item(), high.item(), tol=question.tol, most=_most_levels(question), subject=subject)
        return binned.counts() if binned.is_exact else binned
    levels = _fetch_levels(table, totals_by(rows, "score"), role, question)
    score = scores_of(levels.column("score"), subject)
    pos, neg = (levels.column(name).to_numpy() for name in ("pos", "neg"))
    order = np.argsort(score, kind="stable")[::-1]
    kept = order[(pos + neg)[order] > 0]
    check.check_some_weight(kept.size > 0)
    return ThresholdCounts.from_ranking(collapse(score[kept], pos[kept], neg[kept]))


SAMPLED, MOST_DISTINCT = 100_000, 20_000
"""Maximum number of distinct rows, among the first, for aggregation; with more, streaming is faster."""


def count_of_relation(source: Any, question: Question) -> CountedModels | SegmentedCounts:
    """Answer a question about a relation."""
    if question.weight is None and question.context is None and question.memory is None:
        with suppress(RocscopeError):  # streaming tells what is wrong, and in which row
            found = _added_up(source, question)
            if found is not None:
                return found
    return streaming.count(source, question)


def _added_up(source: Any, question: Question) -> CountedModels | SegmentedCounts | None:
    """Return one model's counts from a GROUP BY over all columns in use; None if that would be slower."""
    with open_source(source, question.layout) as opened:
        assert isinstance(opened, Relation)
        label, *segment = roles_of_columns(opened, question.label, segment=question.segment)
        score, *others = roles_of_scores(opened, question.scores)
        if others:
            return None
        roles = [label, *segment, score]
        for role in roles:
            require_columns(opened, [role.column], role.argument)
        names = list(dict.fromkeys(role.column for role in roles))
        first = opened.different(names, question.where, SAMPLED)
        if _sizes(first).sum() < SAMPLED or first.num_rows > MOST_DISTINCT:
            return None
        kind = first.schema.field(score.column).type
        if not (pa.types.is_integer(kind) or pa.types.is_float32(kind) or pa.types.is_float64(kind)):
            return None
        table = opened.different(names, question.where)
        found = {role: role.convert(opened, table) for role in roles}
        size, gaps = _sizes(table), [column.missing for column in found.values() if column.missing is not None]
        rows = int(size.sum())
        if gaps:
            complete = ~np.logical_or.reduce(gaps)
            if question.missing != "drop" or not complete.any():
                return None
            found, size = {role: column.keep(complete) for role, column in found.items()}, size[complete]
        positive = columns.positives(found[label], question.pos_label, label.subject(opened))
    question.progress(rows, rows)
    source_of = Provenance(opened.origin, rows, rows - int(size.sum()), question.where)
    levels = without_signed_zeros(found[score].as_scores()), np.where(positive, size, 0), np.where(positive, 0, size)
    if segment:
        return of_sums({str(score.model): (found[segment[0]].decoded(), *levels)}, source_of)
    order = np.argsort(levels[0], kind="stable")[::-1]
    counts = ThresholdCounts.from_ranking(collapse(*(column[order] for column in levels)))
    return CountedModels({str(score.model): counts}, source_of)


def _sizes(table: pa.Table) -> Any:
    return table.column(table.num_columns - 1).to_numpy()
