"""Turn batches of columns into checked labels, scores, weights and segments for counting."""
# MERGED-DOC: """Count columns that come in batches: read in parallel, buffered as sort keys."""
# MERGED-DOC: """read_sketch: read any source in one pass into sketches of fixed size."""

import queue
import threading
from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rocscope import kernels
from rocscope._base import validation as check
from rocscope._base.arrays import Array, cores, in_threads, pieces_of
from rocscope._base.contract import contract
from rocscope._base.grouping import number
from rocscope._base.progress import Progress, Tell, reporting
from rocscope._base.radix import KeyPart
from rocscope.core.context import Context, gains_in_batch, weights_of_classes
from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import CountedModels, Provenance
from rocscope.core.ranking import key_parts
from rocscope.engines import columns
from rocscope.engines.columns import MISSING, Column, Role, objects, roles_of_columns, roles_of_numbers, roles_of_scores
from rocscope.engines.counting import Question, bar_of, memory_limit
from rocscope.engines.formats import (
    FileFormat,
    FileLayout,
    Scores,
    Source,
    Stream,
    WrongGuessError,
    no_complete_rows,
    no_rows,
    require_columns,
)
from rocscope.engines.opening import open_source
from rocscope.engines.row_buffers import GrowingRows, KeyBuffer, PackedRows, RowBuffer, Spill, WeightedRowBuffer, pack
from rocscope.errors import InputError, RocscopeError, brief
from rocscope.ranges.sketch import Coded, CountsSketch, levels_of_keys, ranked_levels
from rocscope.segments.by_segment import array_of, of_segments
from rocscope.segments.by_segment import drift_of_models as of_models
from rocscope.segments.levels import SegmentRows, SortedSegments, WeightedSegments, slots_of
from rocscope.segments.segmented_counts import SegmentedCounts

_FIRST_WIDE = 2**32  # the first whole number that 32 bits do not hold
_ROWS_AT_ONCE = 1 << 18  # of a batch of segments: bounds what converting takes beside the rows to some MB


@dataclass(frozen=True)
class SegmentedBatch:
    """Rows of several segments, with the scores of each model and optional weights."""

    segment: Column
    positive: NDArray[np.bool_]
    scores: Sequence[Array]
    weight: Array | None

    @property
    def nbytes(self) -> int:
        """Return the memory used, in bytes."""
        return sum(column.nbytes for column in self.columns())

    def columns(self) -> list[Array]:
        """Return segments, labels, scores and weights."""
        return [self.segment.values, self.positive, *self.scores, *([] if self.weight is None else [self.weight])]

    def pieces(self, size: int) -> list["SegmentedBatch"]:
        """Yield the same rows in pieces of limited size."""
        return [
            SegmentedBatch(
                replace(self.segment, values=self.segment.values[rows]),
                self.positive[rows],
                [column[rows] for column in self.scores],
                None if self.weight is None else self.weight[rows],
            )
            for rows in pieces_of(self.positive.size, size)
        ]

    def parts(self) -> dict[Hashable, list[PackedRows]]:
        """Return the rows of each segment, packed for each model."""
        return {
            name: [
                pack(self.positive[rows], column[rows], None if self.weight is None else self.weight[rows])
                for column in self.scores
            ]
            for name, rows in _rows_by_name(self.segment)
        }


class StoredBatches:
    """Stored rows of segments: of numbered segments in few large arrays, of named ones batch by batch."""

    def __init__(self) -> None:
        self._rows = GrowingRows()
        self._named: list[SegmentedBatch] = []
        self._weighted = False

    def __bool__(self) -> bool:
        return bool(self._rows or self._named)

    @property
    def nbytes(self) -> int:
        """Return the memory used, in bytes."""
        return self._rows.nbytes + sum(batch.nbytes for batch in self._named)

    def add(self, batch: SegmentedBatch) -> None:
        """Add a batch."""
        self._weighted = batch.weight is not None
        if batch.segment.classes is None:
            self._rows.add(*batch.columns())
        else:
            self._named.append(batch)

    def take(self) -> list[SegmentedBatch]:
        """Return all rows and clear the store."""
        found = self._named + [self._apart(*columns) for columns in self._rows.take()]
        self._named = []
        return found

    def _apart(self, segment: Array, positive: Array, *others: Array) -> SegmentedBatch:
        weight = others[-1] if self._weighted else None
        return SegmentedBatch(Column(segment), positive, others[:-1] if self._weighted else others, weight)


def shrunk(column: Column) -> Column:
    """Return whole numbers as 32-bit integers if they fit."""
    values = column.values
    if values.dtype.kind in "iu" and values.itemsize > 4 and values.min() >= 0 and values.max() < _FIRST_WIDE:
        return replace(column, values=values.astype(np.uint32))
    return column


def _rows_by_name(column: Column) -> list[tuple[Hashable, Array]]:
    """Return the rows of each segment in a batch, in order."""
    values = column.values
    if column.classes is None:
        names, values = np.unique(values, return_inverse=True)
    else:
        coded = column.classes.dictionary_encode()  # the dictionary of a column may hold an entry twice
        names, values = objects(coded.dictionary), coded.indices.to_numpy()[values]
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.append(True, values[order][1:] != values[order][:-1]))
    rows = np.split(order, starts[1:])
    found = names[values[order[starts]]]
    keys = list(found) if found.dtype.kind in "mM" else found.tolist()
    return list(zip(keys, rows, strict=True))


def grouped(kept: StoredBatches) -> tuple[Array, list[SegmentRows]]:
    """Return the segments in order and each model's rows by segment; consumes the stored rows."""
    batches = kept.take()
    texts, batches = (None, batches) if batches[0].segment.classes is None else _coded(batches)
    names, places = number([batch.segment.values for batch in batches])
    names = names if texts is None else texts[names]
    if batches[0].weight is not None:
        numbers = np.concatenate([places(batch.segment.values) for batch in batches])
        _, positive, *scores, weight = map(np.concatenate, zip(*(batch.columns() for batch in batches), strict=True))
        return names, [WeightedSegments.of(numbers, names.size, positive, each, weight) for each in scores]
    pieces = [piece for batch in batches for piece in batch.pieces(_ROWS_AT_ONCE)]
    models = [[piece.scores[i] for piece in pieces] for i in range(len(batches[0].scores))]
    slots: list[Any] = [(piece.segment.values, piece.positive) for piece in pieces]
    batches.clear()
    pieces.clear()

    def to_slots(i: int) -> None:
        segment, positive = slots[i]
        place = segment if segment.dtype == np.uint32 and segment.flags.writeable else None
        slots[i] = slots_of(places(segment), positive, names.size, place)

    in_threads(to_slots, range(len(slots)))
    *shared, last = models
    kind = last[0].dtype  # of the last model the slots are used up too
    others = [SortedSegments.of(list(slots), scores, names.size, scores[0].dtype) for scores in shared]
    return names, [*others, SortedSegments.of(slots, last, names.size, kind)]


def _coded(batches: Sequence[SegmentedBatch]) -> tuple[Array, list[SegmentedBatch]]:
    """Return the sorted names in batches, and the rows with indices of these names."""
    hashed = pa.chunked_array([batch.segment.classes for batch in batches]).dictionary_encode()
    names, rank = np.unique(objects(hashed.chunk(0).dictionary), return_inverse=True)
    rank = rank.astype(np.uint32)

    def recoded(batch: SegmentedBatch, classes: pa.DictionaryArray) -> SegmentedBatch:
        return replace(batch, segment=Column(rank[classes.indices.to_numpy()][batch.segment.values]))

    return names, in_threads(lambda pair: recoded(*pair), zip(batches, hashed.chunks, strict=True))


Bad = tuple[int, int]
"""Number of bad rows, and the index of the first."""


@dataclass(frozen=True)
class Batch:
    """Checked rows of a batch, numbered from its start.

    Attributes
    ----------
    rows, kept : int
        Rows in all, and those without missing values.
    incomplete : dict from role to the rows with missing values
    labels : dict from label to its first row among those kept
    bad_weights : rows, among those kept, of weights that cannot be used
    whole_weight : float
        Sum of weights that are whole numbers.
    any_weight : bool
        Whether a weight, among those of the rows kept, is above 0.
    classes : what there is of positives and of negatives, where that is all that is asked
    packed : rows for each model; empty where there is nothing to count, or rows are of segments
    apart : rows of segments
    refused : pyarrow.Table or None
        The batch itself, where a column could not be converted.
    """

    rows: int
    kept: int
    incomplete: dict[Role, Bad]
    labels: dict[Any, int] = field(default_factory=dict)
    bad_weights: Bad | None = None
    whole_weight: float = 0.0
    any_weight: bool = False
    packed: Sequence[PackedRows] = ()
    apart: SegmentedBatch | None = None
    refused: pa.Table | None = None
    classes: tuple[float, float] = (0.0, 0.0)

    def parts(self) -> Mapping[Hashable, Sequence[PackedRows]]:
        """Return the rows of each segment, packed for each model; under None without segments."""
        if self.apart is not None:
            return self.apart.parts()
        return {None: self.packed} if self.packed else {}


@dataclass(frozen=True)
class Reader:
    """How to convert a source's batches: the role and numeric type of each column."""

    source: Source
    roles: Sequence[Role]
    kinds: dict[Role, pa.DataType]
    pos_label: Any
    drop: bool
    context: Context | None = None
    of_classes: tuple[float, float] | None = None

    @property
    def weighs_classes(self) -> bool:
        """Whether class totals must be known first, as a target prevalence requires."""
        return self.context is not None and self.context.target_prevalence is not None and self.of_classes is None

    def role(self, argument: str) -> Role | None:
        """Return the only column with a role, if any."""
        return next((role for role in self.roles if role.argument == argument), None)

    def convert(self, table: pa.Table, first_row: int) -> dict[Role, Column]:
        """Return the columns of a batch that starts at a given row."""
        return {
            role: role.convert(self.source, table, columns.ColumnPart(self.kinds.get(role), first_row))
            for role in self.roles
        }

    def take(self, table: pa.Table) -> Batch:
        """Check a batch and pack its rows."""
        try:
            found = self.convert(table, 0)
        except InputError:
            return Batch(table.num_rows, table.num_rows, {}, refused=table)
        incomplete = {
            role: check.count_and_place(column.missing) for role, column in found.items() if column.missing is not None
        }
        if incomplete and not self.drop:
            return Batch(table.num_rows, table.num_rows, incomplete)
        if incomplete:
            gaps = [column.missing for column in found.values() if column.missing is not None]
            complete = ~np.logical_or.reduce(gaps)
            if not complete.any():
                return Batch(table.num_rows, 0, incomplete)
            found = {role: column.keep(complete) for role, column in found.items()}
        return self._packed(found, table.num_rows, incomplete)

    def _packed(self, found: dict[Role, Column], rows: int, incomplete: dict[Role, Bad]) -> Batch:
        label, segment, weight = (self.role(argument) for argument in ("label", "segment", "weight"))
        assert label is not None
        positive, labels = columns.sighted(found[label], self.pos_label, untyped=bool(self.source.decimal))
        mass = None if weight is None else found[weight].values
        if mass is not None:
            mass = mass.astype(np.float64 if mass.dtype.kind == "f" else np.int64, copy=False)
            bad = mass < 0
            if bad.any():
                return Batch(rows, positive.size, incomplete, labels, check.count_and_place(bad))
        if self.weighs_classes:
            n_neg, n_pos = np.bincount(positive, mass, minlength=2).tolist()
            classes = float(n_pos), float(n_neg)
            return Batch(rows, positive.size, incomplete, labels, any_weight=any(classes), classes=classes)
        if self.context is not None:
            amounts = {role.column: column.values for role, column in found.items() if role.argument == "columns"}
            positive, mass = gains_in_batch(positive, self.context, amounts, mass, self.of_classes)
        scores = [column.as_scores() for role, column in found.items() if role.argument == "score"]
        whole = 0.0 if mass is None or mass.dtype.kind == "f" else float(mass.sum(dtype=np.float64))
        some = mass is None or bool(mass.any())
        if segment is None:
            packed = [pack(positive, column, mass) for column in scores]
            return Batch(rows, positive.size, incomplete, labels, None, whole, some, packed)
        apart = SegmentedBatch(shrunk(found[segment]), positive, scores, mass)
        return Batch(rows, positive.size, incomplete, labels, None, whole, some, apart=apart)


@dataclass
class BatchTally:
    """Facts about the batches so far."""

    reader: Reader
    rows: int = 0
    kept: int = 0
    classes: tuple[float, float] = (0.0, 0.0)
    any_weight: bool = False
    whole_weight: float = 0.0
    incomplete: dict[Role, Bad] = field(default_factory=dict)
    labels: dict[Any, int] = field(default_factory=dict)
    bad_weights: Bad | None = None

    def add(self, batch: Batch) -> None:
        """Record the next batch."""
        if batch.refused is not None:
            self.reader.convert(batch.refused, self.rows)  # raises, now that the number of its first row is known
        for role, bad in batch.incomplete.items():
            self.incomplete[role] = _after(self.incomplete.get(role), bad, self.rows)
        for label, row in batch.labels.items():
            self.labels.setdefault(label, self.kept + row)
        if batch.bad_weights is not None:
            self.bad_weights = _after(self.bad_weights, batch.bad_weights, self.kept)
        self.whole_weight += batch.whole_weight
        self.any_weight |= batch.any_weight
        self.rows += batch.rows
        self.kept += batch.kept
        self.classes = self.classes[0] + batch.classes[0], self.classes[1] + batch.classes[1]

    @property
    def failed(self) -> bool:
        """Whether it is already known that the result will be an error."""
        return bool(self.incomplete and not self.reader.drop) or self.bad_weights is not None

    def provenance(self, where: str | None) -> Provenance:
        """Return the source of the rows, and how many were dropped."""
        return Provenance(self.reader.source.origin, self.rows, self.rows - self.kept, where)

    def check(self, where: str | None) -> None:
        """Raise what `rocscope.read` would raise for the same rows."""
        source = self.reader.source
        name = brief(source.origin)
        if not self.rows:
            raise no_rows(name, where)
        if self.incomplete and not self.reader.drop:
            role = next(role for role in self.reader.roles if role in self.incomplete)
            count, first = self.incomplete[role]
            raise role.incomplete(source, check.so_many(count, "missing or infinite", first))
        if not self.kept:
            raise no_complete_rows(name, self.rows)
        label = self.reader.role("label")
        assert label is not None
        columns.check_sighted(self.labels, self.reader.pos_label, label.subject(source), untyped=bool(source.decimal))
        if self.bad_weights is not None:
            raise check.weights_error(*self.bad_weights)
        check.check_whole_total("sample_weight", self.whole_weight)
        check.check_some_weight(self.any_weight)


def _after(before: Bad | None, bad: Bad, offset: int) -> Bad:
    count, first = bad
    return (count, offset + first) if before is None else (before[0] + count, before[1])


_Batch = TypeVar("_Batch")
_Result = TypeVar("_Result")

_AHEAD = 2  # results of a piece that wait for their turn
_END = object()


class _Failure:
    def __init__(self, error: BaseException) -> None:
        self.error = error


def in_order(
    pieces: Iterable[Callable[[], Generator[_Batch]]], work: Callable[[_Batch], _Result], threads: int | None = None
) -> Generator[_Result]:
    """Apply `work` to each batch in parallel, and yield the results in order.

    A thread reads a piece and works on its batches. As many pieces are under way as there are threads, and one more
    is begun only when the first of them is through, so that no more than a few batches are in memory. Close it where
    not everything is taken: a database can do nothing else while a piece of it is open.
    """
    threads = threads or cores()
    waiting = iter(pieces)
    lanes: deque[queue.Queue[Any]] = deque()
    stop = threading.Event()
    with ThreadPoolExecutor(threads, "rocscope") as pool:

        def begin() -> None:
            piece = next(waiting, None)
            if piece is not None:
                lanes.append(queue.Queue(_AHEAD))
                pool.submit(_run, piece, work, lanes[-1], stop)

        try:
            for _ in range(threads):
                begin()
            while lanes:
                while (result := lanes[0].get()) is not _END:
                    if isinstance(result, _Failure):
                        raise result.error
                    yield result
                lanes.popleft()
                begin()
        finally:
            stop.set()


def _run(
    piece: Callable[[], Generator[Any]], work: Callable[[Any], Any], lane: "queue.Queue[Any]", stop: threading.Event
) -> None:
    try:
        with closing(piece()) as batches:
            for batch in batches:
                if not _put(lane, work(batch), stop):
                    return
    except BaseException as error:  # noqa: BLE001 (raised again where results are taken)
        _put(lane, _Failure(error), stop)
    else:
        _put(lane, _END, stop)


def _put(lane: "queue.Queue[Any]", result: Any, stop: threading.Event) -> bool:
    """Wait for room in the queue; return False if its consumer has stopped."""
    while not stop.is_set():
        try:
            lane.put(result, timeout=0.1)
        except queue.Full:
            continue
        return True
    return False


_ROWS_AT_ONCE_of_streaming = 1 << 22  # rows of a batch that are taken in together
_PART = 4  # parts on disk that would fill the memory
_SORTED_APART = 2  # as much memory as rows of segments take while they are sorted


def count(source: Any, question: Question) -> CountedModels | SegmentedCounts:
    """Count any source that `read` accepts."""
    with open_source(source, question.layout) as opened:
        guessed = _guessed(opened, question)
        if guessed is not None:
            with suppress(
                WrongGuessError, RocscopeError
            ):  # another look at all rows tells what is wrong, if anything is
                return _count(guessed, question)
        return _count(opened, question)


def _guessed(opened: Source, question: Question) -> Source | None:
    """Return text columns with guessed types, if a guess is worthwhile; it is confirmed only at the end."""
    guessed: Callable[[list[str]], Source | None] | None = getattr(opened, "guessed", None)
    if guessed is None or question.where is not None or question.context is not None:
        return None
    return guessed([role.column for role in _roles(opened, question)])


def _count(opened: Source, question: Question) -> CountedModels | SegmentedCounts:
    limit = memory_limit(question.memory)
    reader, stream = _taken(opened, question)
    tally, buffers = _read(reader, stream, limit, question.progress)
    tally.check(question.where)
    provenance = tally.provenance(question.where)
    models = models_of_reader(reader)
    if buffers.apart:
        names, rows = grouped(buffers.apart)
        return of_models(names, dict(zip(models, rows, strict=True)), provenance)
    by_segment = {
        segment: dict(zip(models, _counts(buffer, limit), strict=True))
        for segment, buffer in by_segment_in_order(buffers.by_segment)
    }
    if question.segment is None:
        return CountedModels(by_segment[None], provenance)
    return of_segments(by_segment, provenance)


@contextmanager
def reading(source: Any, question: Question) -> Iterator[tuple[Reader, Stream]]:
    """Open a source, and yield its reader and its batches."""
    with open_source(source, question.layout) as opened:
        yield _taken(opened, question)


def _roles(opened: Source, question: Question) -> list[Role]:
    others = {name: getattr(question, name) for name in ("weight", "segment")}
    roles = roles_of_columns(opened, question.label, **others) + roles_of_scores(opened, question.scores)
    return roles + roles_of_numbers(question.context and question.context.columns)


def _taken(opened: Source, question: Question) -> tuple[Reader, Stream]:
    """Return the reader and the batches of a source."""
    roles = _roles(opened, question)
    for role in roles:
        require_columns(opened, [role.column], role.argument)
    names = list(dict.fromkeys(role.column for role in roles))
    stream = opened.stream(names, question.where)
    kinds = _kinds(opened, roles, stream.schema, partial(opened.stream, names, question.where))
    reader = Reader(opened, roles, kinds, question.pos_label, question.missing == "drop", question.context)
    if reader.weighs_classes:
        reader = _weighed(reader, stream, question)
        stream = opened.stream(names, question.where)
    return reader, stream


def _weighed(reader: Reader, stream: Stream, question: Question) -> Reader:
    """Return the reader after a first pass that determines class totals."""
    tally = BatchTally(reader)
    with closing(in_order(stream.pieces, reader.take)) as batches:
        for batch in batches:
            tally.add(batch)
    tally.check(question.where)
    assert question.context is not None and question.context.target_prevalence is not None
    return replace(reader, of_classes=weights_of_classes(*tally.classes, question.context.target_prevalence))


def models_of_reader(reader: Reader) -> list[str]:
    """Return the models' names in the order of batches."""
    return [str(role.model) for role in reader.roles if role.argument == "score"]


def _counts(buffers: Sequence[RowBuffer], limit: int) -> list[ThresholdCounts]:
    check.check_some_weight(buffers[0].rows > 0)
    return [ThresholdCounts.from_ranking(buffer.ranking(limit // _PART)) for buffer in buffers]


@dataclass
class _Buffers:
    """The rows of segments as they came, or a buffer for each segment and model, in no more memory than there is.

    Where the rows of segments are too many for it, each has a buffer from then on.
    """

    limit: int
    apart: StoredBatches = field(default_factory=StoredBatches)
    by_segment: dict[Hashable, list[RowBuffer]] = field(default_factory=dict)
    _spill: Spill | None = None

    def add(self, batch: Batch) -> None:
        if batch.apart is not None and not self.by_segment:
            self.apart.add(batch.apart)
            batches = self.apart.take() if self.apart.nbytes * _SORTED_APART > self.limit else []
            while batches:  # whose memory is given back one by one
                for piece in batches.pop(0).pieces(_ROWS_AT_ONCE_of_streaming):
                    self._add(piece.parts())
        else:
            self._add(batch.parts())

    def _add(self, rows: Mapping[Hashable, Sequence[PackedRows]]) -> None:
        for segment, parts in rows.items():
            buffers = self.by_segment.get(segment)
            if buffers is None:
                buffers = self.by_segment[segment] = [
                    (WeightedRowBuffer if each.weighted else KeyBuffer)(each.dtype) for each in parts
                ]
            for buffer, packed in zip(buffers, parts, strict=True):
                buffer.add(packed)
        if sum(buffer.nbytes for buffers in self.by_segment.values() for buffer in buffers) > self.limit:
            self._spill = self._spill or Spill()
            for buffers in self.by_segment.values():
                for buffer in buffers:
                    buffer.spill(self._spill)


def by_segment_in_order(by_segment: dict[Hashable, Any]) -> list[tuple[Hashable, Any]]:
    """Return the rows of each segment, as `Predictions.by_segment` orders them."""
    if None in by_segment:
        return list(by_segment.items())
    return [(name, by_segment[name]) for name in check.distinct(array_of(list(by_segment)))]


def _read(reader: Reader, stream: Stream, limit: int, report: Tell) -> tuple[BatchTally, _Buffers]:
    tally, buffers = BatchTally(reader), _Buffers(limit)
    with closing(in_order(stream.pieces, reader.take)) as batches:
        for batch in batches:
            tally.add(batch)
            if not tally.failed:
                buffers.add(batch)
            report(tally.rows, stream.rows)
    return tally, buffers


def _kinds(
    source: Source, roles: Sequence[Role], schema: pa.Schema, again: Callable[[], Stream]
) -> dict[Role, pa.DataType]:
    """Return the numeric types that require a pass over all values."""

    def possible(role: Role, table: pa.Table) -> list[pa.DataType]:
        kind = schema.field(role.column).type
        return columns.kinds_of(table.column(role.column), kind, decimal=source.decimal)

    none = pa.Table.from_batches([], schema)  # Schema.empty_table() would load pandas
    numbers = {role: possible(role, none) for role in roles if role.argument in ("score", "weight", "columns")}
    left = {role: kinds for role, kinds in numbers.items() if kinds}
    for piece in again().pieces if left else ():
        for table in piece():  # to its end, so that nothing stays open
            left = {role: [kind for kind in possible(role, table) if kind in kinds] for role, kinds in left.items()}
    return {role: kinds[0] for role, kinds in left.items() if kinds}


@contract
def read_sketch(
    source: Any,
    *,
    label: str | None = None,
    scores: Scores | None = None,
    weight: str | None = None,
    where: str | None = None,
    segment: str | None = None,
    pos_label: Any = None,
    missing: Literal["error", "drop"] = "error",
    format: FileFormat | None = None,
    decimal: Literal[".", ","] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    table: str | None = None,
    memory: float = 16e6,
    progress: Progress = None,
) -> CountedModels:
    """Count each model's scores in a sketch of fixed size, in one pass over the rows.

    Parameters
    ----------
    source, label, scores, where, segment, pos_label, missing, progress : see `rocscope.read_counts`
    format, decimal, delimiter, encoding, table : see `rocscope.read`
    weight : str, optional
        Column of whole numbers.
    memory : float
        Bytes of each sketch.

    Returns
    -------
    dict from model to CountsSketch, or from segment to such a dict where `segment` is given
        Its ``.source`` states where the rows came from and how many were left out.

    Raises
    ------
    InputError
        As `rocscope.read_counts`.

    Notes
    -----
    Batches are decoded and ranked on all cores; where that is faster than one core places them, it sets the pace.

    Examples
    --------
    >>> rows = {"y": [1, 1, 0, 1, 0], "a": [0.9, 0.6, 0.4, 0.4, 0.2]}
    >>> read_sketch(rows, label="y", scores="a")
    {'a': CountsSketch(n_pos=3, n_neg=2, auc=0.916667)}
    """
    check.check_choice("missing", missing, MISSING)
    layout = FileLayout(format, decimal, delimiter, encoding, table)
    question = Question(label, scores, weight, where, segment, pos_label, missing, layout)
    with (
        reporting(progress, bar_of(source), "rows") as report,
        reading(source, question) as (reader, stream),
        closing(in_order(stream.pieces, _Ranker(reader))) as batches,
    ):
        models, tally = models_of_reader(reader), BatchTally(reader)
        sketches: dict[Hashable, list[CountsSketch]] = {}
        for batch, by_name in batches:
            tally.add(batch)
            for name, parts in by_name.items() if not tally.failed else ():
                own = sketches.setdefault(name, [CountsSketch(memory, pos_label=pos_label) for _ in models])
                for sketch, rows in zip(own, parts, strict=True):
                    if rows.size:
                        sketch.add_levels(rows.dtype, _levels(rows))
            report(tally.rows, stream.rows)
        tally.check(where)
    found = tally.provenance(where)
    of_segment = {
        name: CountedModels(dict(zip(models, own, strict=True)), found) for name, own in by_segment_in_order(sketches)
    }
    return of_segment[None] if segment is None else CountedModels(of_segment, found)


@dataclass(frozen=True)
class _Ranker:
    """Checks and ranks batches of rows, in any thread."""

    reader: Reader

    def __call__(self, table: pa.Table) -> tuple[Batch, dict[Hashable, list[PackedRows]]]:
        batch = self.reader.take(table)
        return batch, {name: [_ranked(rows) for rows in models] for name, models in batch.parts().items()}


def _ranked(rows: PackedRows) -> PackedRows:
    """Sort keys; levels are made later because they take more memory."""
    for half in (rows.lower, rows.upper):
        if half is not None:
            kernels.parts.sort_rows(half, None)
    return rows


def _levels(packed: PackedRows) -> Coded:
    if packed.lower is not None and packed.upper is not None:
        return levels_of_keys(key_parts([KeyPart((packed.upper,))], [KeyPart((packed.lower,))], packed.dtype))
    scores, column = packed.columns
    if not packed.weighted:
        return ranked_levels(column.astype(np.bool_), scores, None)
    check.require_whole_weights(column)
    return ranked_levels(column > 0, scores, np.abs(column))
