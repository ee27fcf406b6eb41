"""Count the rows of a Spark DataFrame exactly in one shuffle, without moving rows to the driver.

A *level* is a distinct score with its numbers of positives and negatives.

1. Each partition sorts its rows, a million at a time, into *runs* of levels. Equal scores become one level, so little
   data is sent. The executors store runs on disk, so that the source is evaluated only once. The driver gets a few
   hundred scores of each run, and the distinct labels.
2. The driver uses these scores to divide the scores of each model into ranges. The runs are split at the borders of the
   ranges.
3. In the shuffle, all pieces of a range are sent to one partition. This partition merges the pieces, and combines
   levels to bins without losing a vertex of the hull or a pair that counts for the AUC. The driver joins the bins.

The tasks of the workers are in `spark_tasks`. Order of the file: the columns of a request, counting, and Spark's
settings, Arrow functions and errors.
"""

import pickle
import re
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from rocscope import errors
from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.formatting import counted
from rocscope.core import CountedModels, Provenance
from rocscope.engines import columns, formats, spark_tasks as tasks, streaming
from rocscope.engines.columns import CountRequest, Role
from rocscope.engines.tables import ArrowColumns
from rocscope.ranges.binned import BinnedCounts
from rocscope.segments.by_segment import of_segments
from rocscope.segments.segmented_counts import SegmentedCounts

ORIGIN = "Spark DataFrame"
ROW_COSTS_HINT = (
    "use the amount at stake as weight and the sign of the gain as label, or read the rows with rocscope.read"
)

# ---- The columns of a request ----

# NumPy type of each numeric type in Spark.
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
_LONG_DIGITS = 18  # whole numbers of at most 18 digits fit into a bigint: 10^18 < 2^63

_HINTS = {
    "vector": "extract one element first: pyspark.ml.functions.vector_to_array(column)[1]",
    "array": "extract one element first: column[1]",
    "string": "cast the column to double first",
}


@dataclass(frozen=True)
class Input:
    """The columns to read, their names on the workers, and their types.

    Attributes
    ----------
    models : mapping from model name to str
        Type of the scores of each model, as NumPy names it.
    segment : str or None
        Type of the segments, as Spark names it.
    columns : mapping from str to str
        Mapping from the name of a column on the workers to the user's name of the column.
    """

    frame: Any
    layout: tasks.Layout
    models: Mapping[str, str]
    segment: str | None
    columns: Mapping[str, str]

    def role(self, name: str) -> Role:
        """Return the role of a column, given its name on the workers."""
        return Role(_argument_of(name), self.columns[name])


def _argument_of(name: str) -> str:
    """Return the argument that names a column, given the name on the workers: `score0` is a score."""
    return name.rstrip("0123456789")


def open_input(frame: Any, request: CountRequest) -> Input:
    """Check the types of the columns, and select the columns to read."""
    from pyspark.sql import functions

    if request.where is not None:
        frame = frame.filter(request.where)
    types = dict(frame.dtypes)
    named = formats.NamedColumns((ORIGIN,), [name for name, _ in frame.dtypes])
    models = formats.models_of(named, "scores", request.scores)
    column_of = {"label": formats.require_name(named, "label", request.label)}
    for number, column in enumerate(models.values()):
        column_of[f"score{number}"] = column
    if request.weight:
        column_of["weight"] = str(request.weight)
    if request.segment:
        column_of["segment"] = str(request.segment)
    for name, column in column_of.items():
        formats.require_columns(named, [column], _argument_of(name))
    quoted = {name: functions.col("`{}`".format(column.replace("`", "``"))) for name, column in column_of.items()}
    ranges = _ranges(frame, {name: quoted[name] for name, column in column_of.items() if _is_wide(types[column])})
    kinds = {}
    for name, column in column_of.items():
        kinds[name] = _type_of(_argument_of(name), column, types[column], ranges.get(name))
    selected = [quoted[name].cast(kinds[name]).alias(name) for name in column_of]
    segment = kinds.get("segment")
    arrow_type = None if segment is None else _SEGMENTS[segment]
    dtypes = {}
    for number, model in enumerate(models):
        name = f"score{number}"
        # Whole decimals above the range of int64 may fit into uint64. All others become float64.
        unsigned = name in ranges and ranges[name][0] >= 0 and ranges[name][1] < 2**64
        dtypes[model] = _NUMBERS.get(kinds[name], "uint64" if unsigned else "float64")
    drop = request.missing == "drop"
    layout = tasks.Layout([*dtypes.values()], "weight" in column_of, arrow_type, request.pos_label, drop)
    return Input(frame.select(*selected), layout, dtypes, segment, column_of)


def _decimal(kind: str) -> tuple[int, int] | None:
    """Return the numbers of digits and of decimal places of a decimal type; None for other types."""
    decimal = re.fullmatch(r"decimal\((\d+),(-?\d+)\)", kind)
    return None if decimal is None else (int(decimal[1]), int(decimal[2]))


def _is_wide(kind: str) -> bool:
    """Return True for a type of whole numbers whose values may exceed 64 bits."""
    digits, places = _decimal(kind) or (0, 0)
    return places == 0 and digits > _LONG_DIGITS


def _ranges(frame: Any, wide: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the smallest and the largest value of columns. This reads the columns once."""
    if not wide:
        return {}
    from pyspark.sql import functions

    ends = [end(column) for column in wide.values() for end in (functions.min, functions.max)]
    values = frame.agg(*ends).collect()[0]
    # A column without values has no range.
    return {name: (values[2 * i] or 0, values[2 * i + 1] or 0) for i, name in enumerate(wide)}


def _type_of(role: str, column: str, kind: str, limits: tuple[Any, Any] | None) -> str:
    """Return the type of a column on the workers, as Spark names it.

    Decimals get another type if this type represents all of them exactly. The workers convert other decimal scores and
    labels, or report a value that would be rounded. `limits` are the ends of a column of wide whole numbers.
    """
    digits, places = _decimal(kind) or (0, -1)
    exact = kind
    if places == 0 and (limits is None or (limits[0] >= -(2**63) and limits[1] < 2**63)):
        exact = "bigint"
    hint = _HINTS.get(re.split(r"[(<]", kind)[0], "")
    if role == "label":
        allowed, expected, error = (*_NUMBERS, "string", "date"), "numbers, text or truth values", errors.LabelError
    elif role == "score":
        allowed, expected, error = _NUMBERS, "numbers of at most 64 bits", errors.ScoreError
    elif role == "weight":
        allowed, expected, error = _WHOLE, "whole numbers", errors.WeightError
        if digits or kind in _NUMBERS:
            hint = "scale the weights to whole numbers, and cast the column to bigint"
    else:
        allowed, expected, error = _SEGMENTS, "text, whole numbers or dates", errors.InputError
        hint = "cast the column to string first"
    if exact not in allowed and not (digits and role in ("label", "score")):
        raise error(f"{role} {column!r} of {ORIGIN}", expected=expected, got=f"values of type {kind}", hint=hint)
    return exact


# ---- Counting ----

MOST_LEVELS = 100_000
"""Number of distinct scores per segment above which the counts of a model are returned in bins."""
MOST_BINS = 2_000
"""Approximate number of bins, not counting bins that end at a vertex of the hull."""
MOST_GROUPS = 10_000
"""Largest number of models times segments that are counted on the workers. Above, a sort on the driver is faster."""
FEW_GROUPS = 100
"""Number of groups above which small data are fetched to the driver. Each group takes the workers a millisecond."""
MOST_VALUES = 4 * 10**7
"""Largest number of values in all columns of data that count as small."""

_LEVELS_PER_RANGE = 2**20  # number of distinct scores in one task, a few tens of MB
_MOST_LEVELS_IN_ALL = 10**7  # number of scores of all models on the driver
_ROWS_PER_BATCH = 16  # rows per batch of runs and pieces, which may have megabytes each
_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"
_MOST_WEIGHT = 2.0**62  # the sum of two such totals fits into 64 bits


def count(source: Any, request: CountRequest) -> CountedModels | SegmentedCounts:
    """Count a Spark DataFrame."""
    memory_hint = "Spark's settings determine the memory of a worker"
    request.refuse(ORIGIN, memory=memory_hint, context=ROW_COSTS_HINT)
    with one_line_errors():
        require_running(source)
        data = open_input(source, request)
        if not _suits_driver(data):
            return answer(data, request, source.sparkSession)
        rows = fetched(data)
    return streaming.count(rows, request)


def _suits_driver(data: Input) -> bool:
    """Return True if the data should be counted on the driver, given the numbers of rows and groups."""
    if data.layout.segment is None:
        return False
    from pyspark.sql import functions

    counts = functions.approx_count_distinct("segment"), functions.count(functions.lit(1))
    segments, rows = data.frame.agg(*counts).collect()[0]
    groups = segments * len(data.models)
    return groups > MOST_GROUPS or (groups > FEW_GROUPS and rows * len(data.columns) <= MOST_VALUES)


def answer(data: Input, request: CountRequest, session: Any) -> CountedModels | SegmentedCounts:
    """Count the rows. The types of the columns must have been checked."""
    from pyspark import StorageLevel

    columns_of_runs = dict(tasks.RUN)
    if data.layout.segment is not None:
        columns_of_runs = {"segment": data.layout.segment} | columns_of_runs
    runs = map_arrow(data.frame, partial(tasks.rank_rows, layout=data.layout), columns_of_runs)
    runs = runs.persist(StorageLevel.DISK_ONLY)  # does not use memory of the user's cached data
    try:
        facts, totals = _survey(runs, data)
        _check(facts, data, request.pos_label)
        request.progress(facts.rows, facts.rows)
        by_group = _count_groups(runs, totals, session)
    finally:
        runs.unpersist()
    where = None if request.where is None else str(request.where)
    return _named(by_group, totals, data, Provenance((ORIGIN,), facts.rows, facts.dropped, where))


@dataclass(frozen=True)
class GroupTotals:
    """Totals of the runs of one model in one segment.

    Attributes
    ----------
    levels : int
        Number of levels of all runs together. The same score may be a level of several runs.
    most_levels : int
        Number of levels of the longest run.
    samples : list
        For each run, an evenly spaced sample of its distinct scores, and its number of levels.
    """

    segment: Any
    model: int
    dtype: str
    n_pos: int
    n_neg: int
    levels: int
    most_levels: int
    samples: list[tuple[Array, float]]


def _survey(runs: Any, data: Input) -> tuple[tasks.Facts, list[GroupTotals]]:
    """Return the facts about all rows, and the totals of each group (one model in one segment).

    This evaluates `runs`: the workers sort their rows and store the runs. Each row of `runs` is a run or contains the
    facts about a partition.
    """
    # All columns except the levels, which stay on the executors.
    names = ["model", "n_pos", "n_neg", "levels", "sample", "facts"]
    if data.segment:
        names.append("segment")
    facts = tasks.Facts()
    by_group: dict[tuple[Any, int], list[Any]] = {}
    for run in runs.select(*names).collect():
        if run.facts is not None:
            facts.add(pickle.loads(run.facts))
        else:
            segment = run.segment if data.segment else None
            by_group.setdefault((segment, run.model), []).append(run)
    dtypes = list(data.models.values())
    totals: list[GroupTotals] = []
    for segment, model in sorted(by_group):
        runs_of_group = by_group[segment, model]
        dtype = dtypes[model]
        totals.append(
            GroupTotals(
                segment,
                model,
                dtype,
                n_pos=sum(run.n_pos for run in runs_of_group),
                n_neg=sum(run.n_neg for run in runs_of_group),
                levels=sum(run.levels for run in runs_of_group),
                most_levels=max(run.levels for run in runs_of_group),
                samples=[(np.frombuffer(run.sample, dtype), run.levels) for run in runs_of_group],
            )
        )
    return facts, totals


def _check(facts: tasks.Facts, data: Input, pos_label: Any) -> None:
    """Raise the errors that `rocscope.read` would raise for these data."""
    source = formats.NamedColumns((ORIGIN,), ())
    for error in facts.errors:
        name, _, reason = str(error).partition(": ")
        raise type(error)(f"{data.role(name).subject(source)}: {reason}")
    if not facts.rows:
        raise formats.no_rows(ORIGIN)
    for name, rows in facts.bad.items():
        if rows and not data.layout.drop:
            role = data.role(name)
            raise role.incomplete(source, f"{counted(rows, role.missing_value)} among {facts.rows:,} rows")
    if facts.dropped == facts.rows:
        raise formats.no_complete_rows(ORIGIN, facts.rows)
    if data.layout.weighted:
        subject = data.role("weight").subject(source)
        if facts.negative:
            got = f"{facts.negative} negative weights"
            raise errors.WeightError(subject, expected="weights of at least 0", got=got)
        if not 0 < facts.weight <= _MOST_WEIGHT:
            expected = "whole numbers with a sum from 1 to 2^62"
            raise errors.WeightError(subject, expected=expected, got=f"a sum of {facts.weight:.6g}")
    are_numbers = all(isinstance(label, int | float) for label in facts.labels)
    labels = np.array(facts.labels, dtype=None if are_numbers else object)
    if are_numbers:
        pos_label = columns.parsed_label(pos_label, labels.dtype)
    check.check_labels(labels, pos_label, data.role("label").subject(source))


def _count_groups(runs: Any, totals: Sequence[GroupTotals], session: Any) -> list[list[BinnedCounts]]:
    """Count the rows of each group on the workers, and return the bins of its ranges."""
    groups = _assigned(totals)
    by_segment: dict[Any, dict[int, tasks.Group]] = {}
    for group, group_totals in zip(groups, totals, strict=True):
        by_segment.setdefault(group_totals.segment, {})[group_totals.model] = group
    pieces = map_arrow(runs, partial(tasks.cut_runs, groups=by_segment), tasks.PIECE)
    places = int(groups[-1].places[-1]) + 1
    # Older versions of Spark assign partitions by hash, which may be less even.
    by_id = getattr(pieces, "repartitionById", None)
    placed = pieces.repartition(places, "place") if by_id is None else by_id(places, "place")
    binned = map_arrow(placed, partial(tasks.bin_ranges, groups=groups), tasks.BINS)
    by_group: list[list[BinnedCounts]] = [[] for _ in groups]
    with setting(session, _BATCH, str(_ROWS_PER_BATCH)):
        for row in binned.collect():
            by_group[row.group].append(pickle.loads(row.bins))
    return by_group


def _assigned(totals: Sequence[GroupTotals]) -> list[tasks.Group]:
    """Divide the scores of each group into ranges of similar size, and assign the ranges to partitions in turn."""
    most_levels = min(MOST_LEVELS, _MOST_LEVELS_IN_ALL // len(totals))
    groups: list[tasks.Group] = []
    levels_in_place = place = 0
    for number, group in enumerate(totals):
        borders = _borders(group)
        ranges = borders.size + 1
        places = []
        for _ in range(ranges):
            if levels_in_place >= _LEVELS_PER_RANGE:
                place += 1
                levels_in_place = 0
            places.append(place)
            levels_in_place += group.levels // ranges + 1
        # A single run with more levels proves that the model has too many.
        kept_levels = most_levels if group.most_levels <= most_levels else 0
        sizes = (group.n_pos, group.n_neg, kept_levels, MOST_BINS)
        groups.append(tasks.Group(number, group.dtype, borders, np.array(places), *sizes))
    return groups


def _borders(group: GroupTotals) -> Array:
    """Return scores that divide the levels of a group into ranges of similar size, estimated from samples."""
    ranges = -(-group.levels // _LEVELS_PER_RANGE)
    scores = np.concatenate([sample for sample, _ in group.samples])
    if ranges == 1:
        return scores[:0]
    # Each sampled score represents an equal share of the levels of its run.
    weight = np.concatenate([np.full(sample.size, levels / sample.size) for sample, levels in group.samples])
    order = np.argsort(scores)
    reached = np.cumsum(weight[order])
    wanted = np.arange(1, ranges) * (reached[-1] / ranges)
    return np.unique(scores[order][np.searchsorted(reached, wanted)])


def _named(
    by_group: Iterable[list[BinnedCounts]], totals: Sequence[GroupTotals], data: Input, source: Provenance
) -> CountedModels | SegmentedCounts:
    """Return the counts of each model, or of each segment and model."""
    models = list(data.models)
    by_segment: dict[Any, dict[str, Any]] = {}
    for group, bins in zip(totals, by_group, strict=True):
        counts: Any = BinnedCounts.concatenate(bins, holds_hull=True)
        if counts.is_exact and len(counts) <= MOST_LEVELS:
            counts = counts.counts()
        segment = np.datetime64(group.segment) if data.segment == "date" else group.segment
        by_segment.setdefault(segment, {})[models[group.model]] = counts
    if data.segment is None:
        return CountedModels(by_segment[None], source)
    return of_segments(by_segment, source)


# ---- Spark ----

_changing = threading.Lock()  # otherwise one thread could restore the temporary setting of another thread


def map_arrow(frame: Any, function: Any, columns: Mapping[str, pa.DataType]) -> Any:
    """Return `frame.mapInArrow(function)`."""
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import StructField, StructType

    schema = StructType([StructField(name, from_arrow_type(kind)) for name, kind in columns.items()])
    with errors.without_warnings(FutureWarning, "PySpark does not yet fully support pandas"):
        return frame.mapInArrow(function, schema)


class Fetched(ArrowColumns):
    """The columns to read, after they were fetched to the driver."""

    def stream(self, names: Sequence[str], where: str | None = None) -> formats.Stream:  # noqa: ARG002 (Spark filtered)
        """Return the named columns in batches."""
        return super().stream(names)


def fetched(data: Input) -> Fetched:
    """Fetch the columns to the driver."""
    with errors.without_warnings(FutureWarning, "PySpark does not yet fully support pandas"):
        to_arrow = getattr(data.frame, "toArrow", None)  # since Spark 4
        table = to_arrow() if to_arrow else pa.Table.from_batches(data.frame._collect_as_arrow())
    by_column = {column: table.column(name) for name, column in data.columns.items()}
    return Fetched((ORIGIN,), list(by_column), lambda names: pa.table({name: by_column[name] for name in names}))


@contextmanager
def setting(session: Any, name: str, value: str) -> Iterator[None]:
    """Change a setting of a Spark session within a block."""
    with _changing:
        before = session.conf.get(name)
        session.conf.set(name, value)
        try:
            yield
        finally:
            session.conf.set(name, before)


def require_running(frame: Any) -> None:
    """Raise EngineError if the Spark session of a DataFrame was stopped."""
    session = frame.sparkSession
    is_stopped = getattr(session, "is_stopped", None)  # of a client that is connected to a server
    if is_stopped is None:
        is_stopped = session.sparkContext._jsc is None
    if is_stopped:
        hint = "start a new session and create the DataFrame again"
        raise errors.EngineError(ORIGIN, expected="a running Spark session", got="a stopped session", hint=hint)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Convert errors of Spark to an EngineError of one line."""
    from pyspark.errors import PySparkException

    raised: tuple[type[Exception], ...] = (PySparkException, ConnectionError)
    py4j: Any = sys.modules.get("py4j.protocol")  # not loaded by a client that is connected to a server
    if py4j is not None:
        raised = (*raised, py4j.Py4JError)
    try:
        yield
    except ImportError as error:
        hint = "run pip install 'rocscope[spark]'"
        raise errors.MissingDependencyError(f"{ORIGIN}: {_condensed(str(error))}", hint=hint) from None
    except raised as error:
        raise errors.EngineError(f"{ORIGIN}: {_condensed(str(error))}") from None


def _condensed(message: str) -> str:
    """Return the most informative line of an error message of Spark.

    Examples
    --------
    >>> _condensed("[PARSE_SYNTAX_ERROR] Syntax error at or near '>'. SQLSTATE: 42601 (line 1, pos 4)\\n\\n== SQL ==")
    "Syntax error at or near '>'. (line 1, pos 4)"
    >>> _condensed("An exception was thrown from the Python worker:\\nTraceback\\n  File x\\nZeroDivisionError: oh\\n")
    'ZeroDivisionError: oh'
    """
    lines = [line.strip() for line in message.splitlines() if line.strip()] or ["no message"]
    if any(line.startswith("Traceback") for line in lines):
        # An error in a Python worker: the last line with the name of an exception.
        raised = [line for line in lines if re.match(r"[\w.]+(Error|Exception|Interrupt)\b", line)]
        line = raised[-1] if raised else lines[-1]
        missing = re.search(r"No module named '(\w+)", line) if raised else None
        if missing:
            page = "docs/guide/engines/spark.md"
            return f"its Python workers cannot import {missing[1]}; {page} shows how to install rocscope on the workers"
    else:
        own_words = [line for line in lines if not line.startswith("An error occurred while calling")]
        line = own_words[0] if own_words else lines[0]
    line = re.sub(r"^: (?:[\w$]+\.)+[\w$]+: ", "", line)
    line = re.sub(r"^\[[A-Z_.0-9]+\] ", "", line)
    return formats.condense(re.sub(r" SQLSTATE: \w{5};?", "", line))
