"""Counts of a DuckDB relation: frequent scores by aggregation, the rest as a stream."""

from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa

from rocscope._base.radix import without_signed_zeros
from rocscope.core.counts import ThresholdCounts
from rocscope.core.levels import collapse
from rocscope.core.rows import CountedModels, Provenance
from rocscope.engines.counting import Question
from rocscope.engines.sources import columns
from rocscope.engines.sources.column_names import require_columns
from rocscope.engines.sources.database import Relation
from rocscope.engines.sources.opening import open_source
from rocscope.engines.sources.roles import roles_of_columns, roles_of_scores
from rocscope.engines.stream import streaming
from rocscope.errors import RocscopeError
from rocscope.segments.counting import of_sums
from rocscope.segments.segmented_counts import SegmentedCounts

SAMPLED, MOST_DISTINCT = 100_000, 20_000
"""Maximum number of distinct rows, among the first, for aggregation; with more, streaming is faster."""


def count(source: Any, question: Question) -> CountedModels | SegmentedCounts:
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
