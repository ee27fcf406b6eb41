"""Check the columns of a Spark DataFrame, and translate its errors into one line."""
# MERGED-DOC: """Exact counts of a Spark DataFrame in one shuffle, without a row on the driver.
#
# 1. Every partition ranks its rows, a million at a time, into sorted *runs* of levels, so that equal scores meet
# before
#    anything moves, and a level with half of all rows is one entry of each run. Runs are kept on the executors'
# disks,
#    so that the source is evaluated once; the driver gets a few hundred scores of each, and what the labels were.
# 2. With these the driver shares out the range of each model's scores, and the runs are split at the borders.
# 3. The shuffle: each range's pieces meet in one partition, which merges them and bins them without losing a vertex
# of
#    the hull or a pair of the area. The driver strings the bins together.
# """

import pickle
import re
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.core.predictions import CountedModels, Provenance
from rocscope.engines import columns, streaming
from rocscope.engines import spark_tasks as tasks
from rocscope.engines.columns import incomplete
from rocscope.engines.counting import BY_ROWS, Question
from rocscope.engines.formats import Stream, condense, given, models_of, no_complete_rows, no_rows, require_columns
from rocscope.engines.spark_tasks import Facts, Group, Layout
from rocscope.engines.tables import ArrowColumns
from rocscope.errors import EngineError, InputError, LabelError, MissingDependencyError, ScoreError, WeightError
from rocscope.ranges.binned import BinnedCounts
from rocscope.segments.by_segment import of_segments
from rocscope.segments.segmented_counts import SegmentedCounts

ORIGIN = "Spark DataFrame"

_changing = threading.Lock()  # or one thread would restore what another one had set for a while

_NUMBERS = {
    "boolean": "uint8",
    "tinyint": "int8",
    "smallint": "int16",
    "int": "int32",
    "bigint": "int64",
    "float": "float32",
    "double": "float64",
}
_WHOLE = ("tinyint", "smallint", "int", "bigint")
_SEGMENTS = {
    "string": pa.string(),
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "date": pa.date32(),
}
_DECIMAL = re.compile(r"decimal\((\d+),(-?\d+)\)")
_EXACT_DIGITS = 15  # of decimals that stay distinct, and in order, as float64
_LONG_DIGITS = 18  # 10¹⁸ < 2⁶³: whole numbers that a bigint holds

_HINTS = {
    "vector": "take one element out first: pyspark.ml.functions.vector_to_array(column)[1]",
    "array": "take one element out first: column[1]",
    "decimal": "cast it to double or bigint first, if that loses nothing that matters",
    "string": "cast it to double first",
}


@dataclass(frozen=True)
class SparkColumns:
    """Column names of a DataFrame."""

    columns: list[str]
    origin: tuple[str, ...] = (ORIGIN,)


@dataclass(frozen=True)
class Input:
    """The columns used, with the names that workers use, and how to read them.

    Attributes
    ----------
    models : mapping from model to the name of the type of its scores in NumPy
    segment : name of the type of the segments in Spark, or None
    columns : mapping from what the workers call a column to what its owner calls it
    """

    frame: Any
    layout: Layout
    models: Mapping[str, str]
    segment: str | None
    columns: Mapping[str, str]

    def subject(self, name: str) -> str:
        """Return a column's name for messages."""
        return f"{name.rstrip('0123456789')} {self.columns[name]!r} of {ORIGIN}"


def open_input(frame: Any, question: Question) -> Input:
    """Check the question against the columns' types, and select what is needed."""
    from pyspark.sql import functions

    if question.where is not None:
        frame = frame.filter(question.where)
    types = frame.dtypes
    named = SparkColumns([name for name, _ in types])
    models = models_of(named, "scores", question.scores)
    columns = {"label": given(named, "label", question.label)}
    columns |= {f"score{i}": column for i, column in enumerate(models.values())}
    columns |= {name: str(getattr(question, name)) for name in ("weight", "segment") if getattr(question, name)}
    for name, column in columns.items():
        require_columns(named, [column], name.rstrip("0123456789"))
    kinds = {name: dict(types)[column] for name, column in columns.items()}
    wanted = {name: _type_of(name, columns[name], kind) for name, kind in kinds.items()}
    selected = [
        functions.col("`{}`".format(column.replace("`", "``"))).cast(wanted[name]).alias(name)
        for name, column in columns.items()
    ]
    segment = wanted.get("segment")
    layout = Layout(
        models=len(models),
        weighted="weight" in columns,
        segment=None if segment is None else _SEGMENTS[segment],
        pos_label=question.pos_label,
        drop=question.missing == "drop",
    )
    dtypes = {model: _NUMBERS[wanted[f"score{i}"]] for i, model in enumerate(models)}
    return Input(frame.select(*selected), layout, dtypes, segment, columns)


def _type_of(name: str, column: str, kind: str) -> str:
    """Return the type in which workers receive a column: its own, except for decimals that fit another type exactly."""
    role = name.rstrip("0123456789")
    family = re.split(r"[(<]", kind)[0]
    exact = _without_decimals(kind)
    allowed, expected, error = {
        "label": ((*_NUMBERS, "string", "date"), "numbers, text or truth values", LabelError),
        "score": (_NUMBERS, "numbers of at most 64 bits", ScoreError),
        "weight": (_WHOLE, "whole numbers, which are counted exactly", WeightError),
        "segment": (_SEGMENTS, "text, whole numbers or dates", InputError),
    }[role]
    if exact in allowed:
        return exact
    hint = _HINTS.get(family, "")
    if role == "weight" and exact in _NUMBERS:
        hint = "scale them to whole numbers and cast to bigint"
    elif role == "segment":
        hint = "cast it to string first"
    raise error(f"{role} {column!r} of {ORIGIN}", expected=expected, got=f"values of type {kind}", hint=hint)


def _without_decimals(kind: str) -> str:
    decimal = _DECIMAL.fullmatch(kind)
    if decimal is None:
        return kind
    digits, places = int(decimal[1]), int(decimal[2])
    if places == 0 and digits <= _LONG_DIGITS:
        return "bigint"
    return "double" if places > 0 and digits <= _EXACT_DIGITS else kind


def map_arrow(frame: Any, function: Any, columns: Mapping[str, pa.DataType]) -> Any:
    """Return `frame.mapInArrow(function)` without Spark's warnings about pandas, which is not used."""
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import StructField, StructType

    schema = StructType([StructField(name, from_arrow_type(kind)) for name, kind in columns.items()])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        return frame.mapInArrow(function, schema)


class Fetched(ArrowColumns):
    """Columns fetched to the driver, restricted to the requested rows."""

    def stream(self, names: Sequence[str], where: str | None = None) -> Stream:  # noqa: ARG002 (Spark left only these)
        """Yield the named columns in batches."""
        return super().stream(names)


def fetched(data: Input) -> Fetched:
    """Fetch the columns to the driver."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        to_arrow = getattr(data.frame, "toArrow", None)  # since Spark 4
        table = to_arrow() if to_arrow else pa.Table.from_batches(data.frame._collect_as_arrow())
    found = {column: table.column(name) for name, column in data.columns.items()}
    return Fetched((ORIGIN,), list(found), lambda names: pa.table({name: found[name] for name in names}))


@contextmanager
def setting(session: Any, name: str, value: str) -> Iterator[None]:
    """Change a session's setting temporarily."""
    with _changing:
        before = session.conf.get(name)
        session.conf.set(name, value)
        try:
            yield
        finally:
            session.conf.set(name, before)


def require_running(frame: Any) -> None:
    """Raise EngineError if the DataFrame's session has stopped."""
    session = frame.sparkSession
    connected = getattr(session, "is_stopped", None)
    stopped = session.sparkContext._jsc is None if connected is None else connected
    if stopped:
        hint = "start a new one and make the DataFrame again"
        raise EngineError(ORIGIN, expected="a running Spark session", got="one that was stopped", hint=hint)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Convert Spark's errors to one line."""
    from pyspark.errors import PySparkException

    py4j: Any = sys.modules.get("py4j.protocol")  # a client that is only connected has none
    errors = (PySparkException, ConnectionError, *([] if py4j is None else [py4j.Py4JError]))
    try:
        yield
    except ImportError as error:
        hint = "pip install 'rocscope[spark]'"
        raise MissingDependencyError(f"{ORIGIN}: {_condensed(str(error))}", hint=hint) from None
    except errors as error:
        raise EngineError(f"{ORIGIN}: {_condensed(str(error))}") from None


def _condensed(message: str) -> str:
    """Return the informative line of a Spark error.

    Examples
    --------
    >>> _condensed("[PARSE_SYNTAX_ERROR] Syntax error at or near '>'. SQLSTATE: 42601 (line 1, pos 4)\\n\\n== SQL ==")
    "Syntax error at or near '>'. (line 1, pos 4)"
    >>> _condensed("An exception was thrown from the Python worker:\\nTraceback\\n  File x\\nZeroDivisionError: oh\\n")
    'ZeroDivisionError: oh'
    """
    lines = [line.strip() for line in message.splitlines() if line.strip()] or ["no message"]
    if any(line.startswith("Traceback") for line in lines):
        line = next((line for line in reversed(lines) if re.match(r"[\w.]+(Error|Exception|Interrupt)\b", line)), "")
        missing = re.search(r"No module named '(\w+)", line)
        if missing:
            page = "docs/guide/engines/spark.md"
            return f"its Python workers have no {missing[1]}; see {page} on how to ship rocscope to them"
        line = line or lines[-1]
    else:
        line = next((line for line in lines if not line.startswith("An error occurred while calling")), lines[0])
    line = re.sub(r"^: (?:[\w$]+\.)+[\w$]+: ", "", line)
    line = re.sub(r"^\[[A-Z_.0-9]+\] ", "", line)
    return condense(re.sub(r" SQLSTATE: \w{5};?", "", line))


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
