"""Counts of a database table or lazy frame by aggregation where the rows are."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
from math import inf
from operator import and_, or_
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.core.context import CELLS, Context
from rocscope.core.counts import ThresholdCounts
from rocscope.core.levels import collapse
from rocscope.core.row_costs import PARTS, UNIT, below_one, in_parts, weights_of_classes
from rocscope.core.rows import CountedModels, Provenance
from rocscope.engines.counting import Question
from rocscope.engines.sources import columns
from rocscope.engines.sources.column_names import require_columns
from rocscope.engines.sources.roles import Role, roles_of_columns, roles_of_numbers, roles_of_scores
from rocscope.engines.sources.source import no_complete_rows, no_rows, one_line_errors
from rocscope.engines.sql.score_ranges import count_cells, extremes, refine, scores_of, totals_by
from rocscope.errors import EngineError, InputError, ScoreError, WeightError
from rocscope.ranges.binned import BinnedCounts
from rocscope.segments.counting import of_segments, of_sums
from rocscope.segments.segmented_counts import SegmentedCounts

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
