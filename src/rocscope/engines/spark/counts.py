"""Exact counts of a Spark DataFrame in one shuffle, without a row on the driver.

1. Every partition ranks its rows, a million at a time, into sorted *runs* of levels, so that equal scores meet before
   anything moves, and a level with half of all rows is one entry of each run. Runs are kept on the executors' disks,
   so that the source is evaluated once; the driver gets a few hundred scores of each, and what the labels were.
2. With these the driver shares out the range of each model's scores, and the runs are split at the borders.
3. The shuffle: each range's pieces meet in one partition, which merges them and bins them without losing a vertex of
   the hull or a pair of the area. The driver strings the bins together.
"""

import pickle
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.core.rows import CountedModels, Provenance
from rocscope.engines.counting import BY_ROWS, Question
from rocscope.engines.sources import columns
from rocscope.engines.sources.roles import incomplete
from rocscope.engines.sources.source import no_complete_rows, no_rows
from rocscope.engines.spark import tasks
from rocscope.engines.spark.frame import (
    ORIGIN,
    Input,
    fetched,
    map_arrow,
    one_line_errors,
    open_input,
    require_running,
    setting,
)
from rocscope.engines.spark.tasks import Facts, Group
from rocscope.engines.stream import streaming
from rocscope.errors import WeightError
from rocscope.ranges.binned import BinnedCounts
from rocscope.segments.counting import of_segments
from rocscope.segments.segmented_counts import SegmentedCounts

MOST_LEVELS = 100_000
"""A model with more distinct scores than this (per segment) is returned in bins."""
MOST_BINS = 2_000
"""Approximate number of bins, besides those that end at a hull vertex."""
MOST_GROUPS = 10_000
"""Maximum of models times segments for counting on the workers; beyond, one sort on the driver is faster."""
FEW_GROUPS, MOST_VALUES = 100, 4 * 10**7
"""Columns of at most this many values are fetched to the driver, since each group costs workers a millisecond."""

_LEVELS_PER_RANGE = 2**20  # distinct scores that one task ranks: some tens of MB
_MOST_LEVELS_IN_ALL = 10**7  # of all models, that the driver holds
_ROWS_PER_BATCH = 16  # of runs and pieces, which may have megabytes each
_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"
_MOST_WEIGHT = 2.0**62  # so that sums of two such fit 64 bits


def count(source: Any, question: Question) -> CountedModels | SegmentedCounts:
    """Answer a question about a Spark DataFrame."""
    question.refuse(ORIGIN, memory="Spark's own settings say what a worker may use", context=BY_ROWS)
    with one_line_errors():
        require_running(source)
        data = open_input(source, question)
        if not _is_fetched(data):
            return answer(data, question, source.sparkSession)
        rows = fetched(data)
    return streaming.count(rows, question)


def _is_fetched(data: Input) -> bool:
    """Return whether columns are fetched to the driver, given the numbers of rows and groups."""
    if data.layout.segment is None:
        return False
    from pyspark.sql import functions

    asked = functions.approx_count_distinct("segment"), functions.count(functions.lit(1))
    segments, rows = data.frame.agg(*asked).collect()[0]
    groups = segments * len(data.models)
    return groups > MOST_GROUPS or (groups > FEW_GROUPS and rows * len(data.columns) <= MOST_VALUES)


def answer(data: Input, question: Question, session: Any) -> CountedModels | SegmentedCounts:
    """Count columns whose types have been checked."""
    from pyspark import StorageLevel

    kinds = {"segment": data.layout.segment} if data.layout.segment is not None else {}
    runs = map_arrow(data.frame, partial(tasks.rank_rows, layout=data.layout), kinds | tasks.RUN)
    runs = runs.persist(StorageLevel.DISK_ONLY)  # takes no memory from what the user has cached
    try:
        facts, found = _survey(runs, data)
        _check(facts, data, question.pos_label)
        question.progress(facts.rows, facts.rows)
        by_group = _count_groups(runs, found, session)
    finally:
        runs.unpersist()
    where = None if question.where is None else str(question.where)
    return _named(by_group, found, data, Provenance((ORIGIN,), facts.rows, facts.dropped, where))


@dataclass(frozen=True)
class _Found:
    """Totals of the runs of one model in one segment."""

    segment: Any
    model: int
    dtype: str
    n_pos: int
    n_neg: int
    entries: int
    most: int
    samples: list[tuple[Array, float]]


def _survey(runs: Any, data: Input) -> tuple[Facts, list[_Found]]:
    """Rank the rows, and return the facts and counts of each group, by segment and model."""
    asked = [name for name in ("segment", *tasks.RUN) if name in runs.columns and name not in ("score", "pos", "neg")]
    facts = Facts()
    by_group: dict[tuple[Any, int], list[Any]] = {}
    for run in runs.select(*asked).collect():
        if run.facts is not None:
            facts.add(pickle.loads(run.facts))
        else:
            segment = run.segment if data.segment else None
            by_group.setdefault((segment, run.model), []).append(run)
    dtypes = list(data.models.values())
    found = [
        _Found(
            segment,
            model,
            dtypes[model],
            n_pos=sum(run.n_pos for run in members),
            n_neg=sum(run.n_neg for run in members),
            entries=sum(run.levels for run in members),
            most=max(run.levels for run in members),
            samples=[(np.frombuffer(run.sample, dtypes[model]), run.levels) for run in members],
        )
        for (segment, model), members in sorted(by_group.items(), key=lambda item: item[0])
    ]
    return facts, found


def _check(facts: Facts, data: Input, pos_label: Any) -> None:
    """Raise for data that `rocscope.read` would refuse."""
    if not facts.rows:
        raise no_rows(ORIGIN)
    for name, rows in facts.bad.items():
        if rows and not data.layout.drop:
            got = f"{rows} of {facts.rows} missing or infinite"
            raise incomplete(name.rstrip("0123456789"), data.subject(name), got)
    if facts.dropped == facts.rows:
        raise no_complete_rows(ORIGIN, facts.rows)
    if facts.negative:
        raise WeightError(data.subject("weight"), expected="weights of at least 0", got=f"{facts.negative} negative")
    if data.layout.weighted and not 0 < facts.weight <= _MOST_WEIGHT:
        expected = "whole numbers that sum to at least 1 and at most 2^62"
        raise WeightError(data.subject("weight"), expected=expected, got=f"{facts.weight:.6g}")
    _check_labels(facts.labels, pos_label, data.subject("label"))


def _check_labels(seen: list[Any], pos_label: Any, subject: str) -> None:
    labels = np.array(seen, dtype=None if all(isinstance(label, int | float) for label in seen) else object)
    if labels.dtype != object and isinstance(pos_label, str):
        pos_label = columns.written(pos_label, labels.dtype)
    check.check_labels(labels, pos_label, subject)


def _count_groups(runs: Any, found: Sequence[_Found], session: Any) -> list[list[BinnedCounts]]:
    """Return the bins of the ranges of each group."""
    groups = _shared_out(found)
    by_segment: dict[Any, dict[int, Group]] = {}
    for group, facts in zip(groups, found, strict=True):
        by_segment.setdefault(facts.segment, {})[facts.model] = group
    pieces = map_arrow(runs, partial(tasks.cut_runs, groups=by_segment), tasks.PIECE)
    placed = _repartitioned(pieces, int(groups[-1].places[-1]) + 1)
    binned = map_arrow(placed, partial(tasks.bin_ranges, groups=groups), tasks.BINS)
    by_group: list[list[BinnedCounts]] = [[] for _ in groups]
    with setting(session, _BATCH, str(_ROWS_PER_BATCH)):
        for row in binned.collect():
            by_group[row.group].append(pickle.loads(row.bins))
    return by_group


def _shared_out(found: Sequence[_Found]) -> list[Group]:
    """Split each group's scores into ranges of similar size, and assign them to partitions in turn."""
    kept = min(MOST_LEVELS, _MOST_LEVELS_IN_ALL // len(found))
    groups: list[Group] = []
    held = place = 0
    for number, group in enumerate(found):
        borders = _borders(group)
        places = []
        for _ in range(borders.size + 1):
            if held >= _LEVELS_PER_RANGE:
                held, place = 0, place + 1
            places.append(place)
            held += group.entries // (borders.size + 1) + 1
        most_levels = kept if group.most <= kept else 0
        sizes = (group.n_pos, group.n_neg, most_levels, MOST_BINS)
        groups.append(Group(number, group.dtype, borders, np.array(places), *sizes))
    return groups


def _borders(group: _Found) -> Array:
    """Return the scores that split a group's entries evenly, estimated from samples."""
    ranges = -(-group.entries // _LEVELS_PER_RANGE)
    scores = np.concatenate([sample for sample, _ in group.samples])
    if ranges == 1:
        return scores[:0]
    weight = np.concatenate([np.full(sample.size, entries / sample.size) for sample, entries in group.samples])
    order = np.argsort(scores)
    reached = np.cumsum(weight[order])
    wanted = np.arange(1, ranges) * (reached[-1] / ranges)
    return np.unique(scores[order][np.searchsorted(reached, wanted)])


def _repartitioned(pieces: Any, places: int) -> Any:
    """Collect the pieces of each range; older Spark hashes them, which may be less even."""
    by_id = getattr(pieces, "repartitionById", None)
    return pieces.repartition(places, "place") if by_id is None else by_id(places, "place")


def _named(
    by_group: Iterable[list[BinnedCounts]], found: Sequence[_Found], data: Input, source: Provenance
) -> CountedModels | SegmentedCounts:
    """Return the counts by model, or by segment and model."""
    models = list(data.models)
    by_segment: dict[Any, dict[str, Any]] = {}
    for group, bins in zip(found, by_group, strict=True):
        whole = BinnedCounts.concatenate(bins, holds_hull=True)
        few = whole.is_exact and len(whole) <= MOST_LEVELS
        segment = np.datetime64(group.segment) if data.segment == "date" else group.segment
        by_segment.setdefault(segment, {})[models[group.model]] = whole.counts() if few else whole
    if data.segment is None:
        return CountedModels(by_segment[None], source)
    return of_segments(by_segment, source)
