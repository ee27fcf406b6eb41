"""Count the rows of any source in batches, without keeping all rows in memory.

`count` returns exact counts, and `read_sketch` returns approximate counts of fixed size. A source consists of *pieces*.
Each thread reads one piece, batch by batch (`in_order`). A `Reader` converts a batch and packs its rows. A `BatchTally`
records invalid rows and raises the same errors as `rocscope.read`. It raises them after all rows are read, because the
messages contain the number of invalid rows. Buffers (`row_buffers`) store the packed rows until they are ranked.

If rows have segments, all rows are first stored together, and then sorted by segment and score. If they exceed the
memory limit, each segment gets its own buffers.

Order of the file: rows of segments, batches and their checks, parallel reading, `count`, and `read_sketch`.
"""

import queue
import threading
from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from os import PathLike, fspath
from typing import Any, Literal, TypeVar

import numpy as np
import pyarrow as pa

from rocscope import kernels
from rocscope._base import grouping, validation as check
from rocscope._base.arrays import Array, Booleans, cores, in_threads, pieces_of
from rocscope._base.contract import contract
from rocscope._base.progress import Progress, reporting
from rocscope._base.radix import KeyPart
from rocscope.core import CountedModels, Provenance, ThresholdCounts, context as contexts
from rocscope.core.ranking import key_parts
from rocscope.engines import columns, formats, row_buffers
from rocscope.engines.columns import Column, CountRequest, Role
from rocscope.engines.opening import open_source
from rocscope.errors import InputError, RocscopeError, brief
from rocscope.ranges import sketch as sketches
from rocscope.segments import SegmentedCounts, by_segment as segmenting, levels

# ---- Rows of segments ----

_FIRST_WIDE = 2**32  # the first whole number that does not fit into 32 bits
_ROWS_TO_SORT = 1 << 18  # rows per slice of segments: limits the memory for conversion to a few MB


@dataclass(frozen=True)
class SegmentedBatch:
    """A batch of rows with segments, labels, the scores of each model and optional weights."""

    segment: Column
    positive: Booleans
    scores: Sequence[Array]
    weight: Array | None

    @property
    def nbytes(self) -> int:
        """Return the memory used, in bytes."""
        return sum(column.nbytes for column in self.columns())

    def columns(self) -> list[Array]:
        """Return segments, labels, scores and weights."""
        weights = [] if self.weight is None else [self.weight]
        return [self.segment.values, self.positive, *self.scores, *weights]

    def slices(self, size: int) -> list["SegmentedBatch"]:
        """Return the rows in batches of at most `size` rows."""
        batches = []
        for rows in pieces_of(self.positive.size, size):
            segment = replace(self.segment, values=self.segment.values[rows])
            scores = [column[rows] for column in self.scores]
            weight = None if self.weight is None else self.weight[rows]
            batches.append(SegmentedBatch(segment, self.positive[rows], scores, weight))
        return batches

    def by_segment(self) -> dict[Hashable, list[row_buffers.PackedRows]]:
        """Return a mapping from segment to its rows, which are packed for each model."""
        values = self.segment.values
        if self.segment.classes is None:
            names, code = np.unique(values, return_inverse=True)
        else:
            # The dictionary of a column may contain an entry twice.
            encoded = self.segment.classes.dictionary_encode()
            names = columns.objects(encoded.dictionary)
            code = encoded.indices.to_numpy()[values]
        order = np.argsort(code, kind="stable")
        starts = np.flatnonzero(np.append(True, code[order][1:] != code[order][:-1]))
        present = names[code[order[starts]]]
        packed: dict[Hashable, list[row_buffers.PackedRows]] = {}
        # `tolist` would convert dates to numbers or datetimes, depending on their unit.
        keys = list(present) if present.dtype.kind in "mM" else present.tolist()
        for key, rows in zip(keys, np.split(order, starts[1:]), strict=True):
            weight = None if self.weight is None else self.weight[rows]
            packed[key] = [row_buffers.pack(self.positive[rows], column[rows], weight) for column in self.scores]
        return packed


class StoredBatches:
    """Store of rows with segments. Segments that are numbers are stored in a few large arrays, others as batches."""

    def __init__(self) -> None:
        self._numbered = row_buffers.GrowingRows()
        self._named: list[SegmentedBatch] = []
        self._weighted = False

    def __bool__(self) -> bool:
        return bool(self._numbered or self._named)

    @property
    def nbytes(self) -> int:
        """Return the memory used, in bytes."""
        return self._numbered.nbytes + sum(batch.nbytes for batch in self._named)

    def add(self, batch: SegmentedBatch) -> None:
        """Add a batch."""
        self._weighted = batch.weight is not None
        if batch.segment.classes is None:
            self._numbered.add(*batch.columns())
        else:
            self._named.append(batch)

    def take(self) -> list[SegmentedBatch]:
        """Return all rows and clear the store."""
        batches = self._named
        self._named = []
        for segment, positive, *scores in self._numbered.take():
            weight = scores.pop() if self._weighted else None
            batches.append(SegmentedBatch(Column(segment), positive, scores, weight))
        return batches


def sorted_segments(stored: StoredBatches) -> tuple[Array, Sequence[levels.SegmentRows]]:
    """Return the sorted segments, and the rows of each model sorted by segment. The store is cleared."""
    batches = stored.take()
    texts = None
    if batches[0].segment.classes is not None:
        texts, batches = _coded(batches)
    names, places = grouping.number([batch.segment.values for batch in batches])
    names = names if texts is None else texts[names]
    if batches[0].weight is not None:
        numbers = np.concatenate([places(batch.segment.values) for batch in batches])
        joined = [np.concatenate(column) for column in zip(*(batch.columns() for batch in batches), strict=True)]
        _, positive, *models, weight = joined
        by_model = [levels.WeightedSegments.of(numbers, names.size, positive, scores, weight) for scores in models]
        return names, by_model

    slices = [part for batch in batches for part in batch.slices(_ROWS_TO_SORT)]
    models = [[part.scores[model] for part in slices] for model in range(len(batches[0].scores))]
    # The slot of a row encodes its segment and class: twice the segment's number, plus 1 for negatives.
    slots: list[Any] = [(part.segment.values, part.positive) for part in slices]
    # From here on, only `slots` and `models` refer to the rows, so that each array is freed after its use.
    batches.clear()
    slices.clear()

    def to_slots(i: int) -> None:
        segment, positive = slots[i]
        # The memory of segments without other references is reused for the slots.
        place = segment if segment.dtype == np.uint32 and segment.flags.writeable else None
        slots[i] = levels.slots_of(places(segment), positive, names.size, place)

    in_threads(to_slots, range(len(slots)))
    *first, last = models
    by_model = []
    for scores in first:
        # A copy of the list, because sorting empties the list; its arrays are shared, and only read.
        by_model.append(levels.SortedSegments.of(list(slots), scores, names.size, scores[0].dtype))
    by_model.append(levels.SortedSegments.of(slots, last, names.size, last[0].dtype))
    return names, by_model


def _coded(batches: Sequence[SegmentedBatch]) -> tuple[Array, list[SegmentedBatch]]:
    """Return the sorted names of all segments, and the batches with indices of these names as segments."""
    hashed = pa.chunked_array([batch.segment.classes for batch in batches]).dictionary_encode()
    names, rank = np.unique(columns.objects(hashed.chunk(0).dictionary), return_inverse=True)
    rank = rank.astype(np.uint32)

    def recoded(i: int) -> SegmentedBatch:
        index = rank[hashed.chunk(i).indices.to_numpy()]
        return replace(batches[i], segment=Column(index[batches[i].segment.values]))

    return names, in_threads(recoded, range(len(batches)))


# ---- Batches and their checks ----

BadRows = tuple[int, int]
"""Number of invalid rows, and the index of the first invalid row."""


@dataclass(frozen=True)
class Batch:
    """Result of checking a batch. Row numbers start at 0 in each batch.

    Attributes
    ----------
    rows : int
        Number of rows.
    kept : int
        Number of complete rows, which have no missing values.
    incomplete : dict
        For each role, the rows with missing values.
    labels : dict
        For each label, the first complete row.
    bad_weights : BadRows
        Complete rows with invalid weights.
    whole_weight : float
        Sum of the weights that are whole numbers.
    any_weight : bool
        True if a complete row has a weight above 0.
    packed : list
        Packed rows of each model. Empty if rows have segments, or if there is nothing to count.
    segmented : SegmentedBatch or None
        The rows if they have segments.
    refused : pyarrow.Table or None
        The batch if a column could not be converted.
    classes : pair of float, or None
        Sum of weights of positives and sum of weights of negatives, if only these sums are needed.
    """

    rows: int
    kept: int
    incomplete: dict[Role, BadRows]
    labels: dict[Any, int] = field(default_factory=dict)
    bad_weights: BadRows | None = None
    whole_weight: float = 0.0
    any_weight: bool = False
    packed: Sequence[row_buffers.PackedRows] = ()
    segmented: SegmentedBatch | None = None
    refused: pa.Table | None = None
    classes: tuple[float, float] = (0.0, 0.0)

    def by_segment(self) -> Mapping[Hashable, Sequence[row_buffers.PackedRows]]:
        """Return a mapping from segment to its packed rows. If there are no segments, the only key is None."""
        if self.segmented is not None:
            return self.segmented.by_segment()
        return {None: self.packed} if self.packed else {}


@dataclass(frozen=True)
class Reader:
    """Converts the batches of a source. It stores the role and the numeric type of each column."""

    source: formats.Source
    roles: Sequence[Role]
    kinds: dict[Role, pa.DataType]
    pos_label: Any
    drop: bool
    context: contexts.Context | None = None
    of_classes: tuple[float, float] | None = None

    @property
    def weighs_classes(self) -> bool:
        """True if the class totals must be counted before all other sums, because there is a target prevalence."""
        return self.context is not None and self.context.target_prevalence is not None and self.of_classes is None

    @property
    def models(self) -> list[str]:
        """Names of the models in the order of the columns."""
        return [str(role.model) for role in self.roles if role.argument == "score"]

    def convert(self, table: pa.Table, first_row: int) -> dict[Role, Column]:
        """Convert the columns of a batch. `first_row` is the number of its first row for messages."""
        return {role: role.convert(self.source, table, self.kinds.get(role), first_row) for role in self.roles}

    def take(self, table: pa.Table) -> Batch:
        """Check a batch and pack its rows."""
        rows = table.num_rows
        try:
            by_role = self.convert(table, 0)
        except InputError:
            return Batch(rows, rows, {}, refused=table)
        incomplete: dict[Role, BadRows] = {}
        any_missing: Booleans | None = None
        for role, column in by_role.items():
            if column.missing is not None:
                any_missing = column.missing if any_missing is None else any_missing | column.missing
                incomplete[role] = check.count_and_place(column.missing)
        if any_missing is not None:
            if not self.drop:
                return Batch(rows, rows, incomplete)
            if any_missing.all():
                return Batch(rows, 0, incomplete)
            by_role = {role: column.keep(~any_missing) for role, column in by_role.items()}
        return self._packed(by_role, rows, incomplete)

    def _packed(self, by_role: dict[Role, Column], rows: int, incomplete: dict[Role, BadRows]) -> Batch:
        """Return the complete rows of a batch, packed for each model."""
        label = by_role[self.roles[0]]
        positive, labels = columns.positives_and_labels(label, self.pos_label, untyped=bool(self.source.decimal))
        kept = positive.size
        weight_role = columns.role_of(self.roles, "weight")
        weight = None
        if weight_role is not None:
            weight = by_role[weight_role].values
            weight = weight.astype(np.float64 if weight.dtype.kind == "f" else np.int64, copy=False)
            negative = weight < 0
            if negative.any():
                return Batch(rows, kept, incomplete, labels, check.count_and_place(negative))
        if self.weighs_classes:
            n_neg, n_pos = np.bincount(positive, weight, minlength=2).tolist()
            classes = float(n_pos), float(n_neg)
            return Batch(rows, kept, incomplete, labels, any_weight=any(classes), classes=classes)
        if self.context is not None:
            amounts = {role.column: column.values for role, column in by_role.items() if role.argument == "columns"}
            # Rows in money: the label is the sign of the gain from acting, and the weight is its amount.
            positive, weight = contexts.gains_in_batch(positive, self.context, amounts, weight, self.of_classes)
        scores = [column.as_scores() for role, column in by_role.items() if role.argument == "score"]
        packed: list[row_buffers.PackedRows] = []
        segmented = None
        segment_role = columns.role_of(self.roles, "segment")
        if segment_role is None:
            packed = [row_buffers.pack(positive, column, weight) for column in scores]
        else:
            segmented = SegmentedBatch(_narrowed(by_role[segment_role]), positive, scores, weight)
        whole_weight = 0.0
        if weight is not None and weight.dtype.kind != "f":
            whole_weight = float(weight.sum(dtype=np.float64))
        any_weight = weight is None or bool(weight.any())
        return Batch(rows, kept, incomplete, labels, None, whole_weight, any_weight, packed, segmented)


def _narrowed(column: Column) -> Column:
    """Return whole numbers as 32-bit integers if they fit."""
    values = column.values
    if values.dtype.kind in "iu" and values.itemsize > 4 and values.min() >= 0 and values.max() < _FIRST_WIDE:
        return replace(column, values=values.astype(np.uint32))
    return column


@dataclass
class BatchTally:
    """Collects facts about all batches: numbers of rows, invalid values and labels."""

    reader: Reader
    rows: int = 0
    kept: int = 0
    classes: tuple[float, float] = (0.0, 0.0)
    any_weight: bool = False
    whole_weight: float = 0.0
    incomplete: dict[Role, BadRows] = field(default_factory=dict)
    labels: dict[Any, int] = field(default_factory=dict)
    bad_weights: BadRows | None = None

    def add(self, batch: Batch) -> None:
        """Add the facts about the next batch."""
        if batch.refused is not None:
            self.reader.convert(
                batch.refused, self.rows
            )  # raises the error, now that the number of its first row is known
        for role, bad in batch.incomplete.items():
            self.incomplete[role] = _joined(self.incomplete.get(role), bad, self.rows)
        for label, row in batch.labels.items():
            self.labels.setdefault(label, self.kept + row)
        if batch.bad_weights is not None:
            self.bad_weights = _joined(self.bad_weights, batch.bad_weights, self.kept)
        self.whole_weight += batch.whole_weight
        self.any_weight |= batch.any_weight
        self.rows += batch.rows
        self.kept += batch.kept
        self.classes = self.classes[0] + batch.classes[0], self.classes[1] + batch.classes[1]

    @property
    def failed(self) -> bool:
        """True if the batches so far make an error certain."""
        return bool(self.incomplete and not self.reader.drop) or self.bad_weights is not None

    def provenance(self, where: str | None) -> Provenance:
        """Return the source of the rows, with the number of dropped rows."""
        return Provenance(self.reader.source.origin, self.rows, self.rows - self.kept, where)

    def check(self, where: str | None) -> None:
        """Raise the errors that `rocscope.read` would raise for the same rows."""
        source = self.reader.source
        name = brief(source.origin)
        if not self.rows:
            raise formats.no_rows(name, where)
        if not self.reader.drop:
            for role in self.reader.roles:
                if role in self.incomplete:
                    count, first = self.incomplete[role]
                    raise role.incomplete(source, check.so_many(count, role.missing_value, first))
        if not self.kept:
            raise formats.no_complete_rows(name, self.rows)
        subject = self.reader.roles[0].subject(source)
        columns.check_two_classes(self.labels, self.reader.pos_label, subject, untyped=bool(source.decimal))
        if self.bad_weights is not None:
            raise check.weights_error(*self.bad_weights)
        check.check_whole_total("sample_weight", self.whole_weight)
        check.check_some_weight(self.any_weight)


def _joined(before: BadRows | None, bad: BadRows, offset: int) -> BadRows:
    count, first = bad
    return (count, offset + first) if before is None else (before[0] + count, before[1])


# ---- Parallel reading ----

_Batch = TypeVar("_Batch")
_Result = TypeVar("_Result")

_WAITING_RESULTS = 2  # number of results of a piece that wait for their turn: enough to keep its thread busy
_END = object()


@dataclass(frozen=True)
class _Failure:
    error: BaseException


def in_order(
    pieces: Iterable[Callable[[], Generator[_Batch]]], work: Callable[[_Batch], _Result], threads: int | None = None
) -> Generator[_Result]:
    """Apply a function to each batch in parallel, and yield the results in the order of the batches.

    Each thread reads one piece and applies `work` to its batches. A new piece is started only when the first of the
    current pieces is finished, so that only a few batches are in memory. Close the generator if you do not use all
    results, because a database cannot be used while one of its pieces is open.
    """
    threads = threads or cores()
    waiting = iter(pieces)
    queues: deque[queue.Queue[Any]] = deque()
    stop = threading.Event()
    with ThreadPoolExecutor(threads, "rocscope") as pool:

        def start_next_piece() -> None:
            piece = next(waiting, None)
            if piece is not None:
                queues.append(queue.Queue(_WAITING_RESULTS))
                pool.submit(_work_on_piece, piece, work, queues[-1], stop)

        try:
            for _ in range(threads):
                start_next_piece()
            while queues:
                while (result := queues[0].get()) is not _END:
                    if isinstance(result, _Failure):
                        raise result.error
                    yield result
                queues.popleft()
                start_next_piece()
        finally:
            stop.set()


def _work_on_piece(
    piece: Callable[[], Generator[Any]], work: Callable[[Any], Any], results: "queue.Queue[Any]", stop: threading.Event
) -> None:
    try:
        with closing(piece()) as batches:
            for batch in batches:
                if not _put(results, work(batch), stop):
                    return
    except BaseException as error:  # noqa: BLE001 (raised again where results are taken)
        _put(results, _Failure(error), stop)
    else:
        _put(results, _END, stop)


def _put(results: "queue.Queue[Any]", result: Any, stop: threading.Event) -> bool:
    """Put a result into the queue when it has space. Return False if the consumer has stopped."""
    while not stop.is_set():
        # The timeout lets a thread detect that results are no longer consumed.
        try:
            results.put(result, timeout=0.1)
        except queue.Full:
            continue
        return True
    return False


# ---- Exact counts ----

_ROWS_TO_SPLIT = 1 << 22  # number of stored rows that are split by segment at the same time
_PARTS_IN_MEMORY = 4  # memory limit divided by this number: maximum memory for ranking a part on disk
_SEGMENT_SORT_MEMORY = 2  # memory for sorting rows of segments, in multiples of their size


def count(source: Any, request: CountRequest) -> CountedModels | SegmentedCounts:
    """Count the rows of any source that `read` accepts."""
    with open_source(source, request.layout) as opened:
        # CSV columns are read in one pass with types guessed from the first rows. If a guess is wrong, or anything else
        # fails, a pass with inferred types counts the rows or reports the error. A condition may use other columns,
        # without guessed types. A context may need a pass for class totals anyway.
        guessed: Callable[[list[str]], formats.Source | None] | None = getattr(opened, "guessed", None)
        if guessed is not None and request.where is None and request.context is None:
            relation = guessed([role.column for role in request.roles(opened)])
            if relation is not None:
                with suppress(formats.WrongGuessError, RocscopeError):
                    return _count(relation, request)
        return _count(opened, request)


def _count(opened: formats.Source, request: CountRequest) -> CountedModels | SegmentedCounts:
    limit = row_buffers.memory_limit(request.memory)
    reader, stream = _reader_of(opened, request)
    tally, buffers = BatchTally(reader), _Buffers(limit)
    with closing(in_order(stream.pieces, reader.take)) as batches:
        for batch in batches:
            tally.add(batch)
            if not tally.failed:
                buffers.add(batch)
            request.progress(tally.rows, stream.rows)
    tally.check(request.where)
    provenance = tally.provenance(request.where)
    if buffers.stored:
        names, rows = sorted_segments(buffers.stored)
        return segmenting.counts_of_models(names, dict(zip(reader.models, rows, strict=True)), provenance)
    by_segment: dict[Hashable, dict[str, ThresholdCounts]] = {}
    for segment in _in_order_of_segments(buffers.by_segment):
        of_models = buffers.by_segment[segment]
        check.check_some_weight(of_models[0].rows > 0)
        counts = [ThresholdCounts.from_ranking(rows.ranking(limit // _PARTS_IN_MEMORY)) for rows in of_models]
        by_segment[segment] = dict(zip(reader.models, counts, strict=True))
    if request.segment is None:
        return CountedModels(by_segment[None], provenance)
    return segmenting.of_segments(by_segment, provenance)


def _reader_of(opened: formats.Source, request: CountRequest) -> tuple[Reader, formats.Stream]:
    """Return a reader for a source, and the stream of its batches."""
    roles = request.roles(opened)
    names = list(dict.fromkeys(role.column for role in roles))
    # Up to three passes: for numbers that are text, for the classes, and for the rows.
    open_stream = partial(opened.stream, names, request.where)
    stream = open_stream()
    kinds = _numeric_types(opened, roles, stream.schema, open_stream)
    reader = Reader(opened, roles, kinds, request.pos_label, request.missing == "drop", request.context)
    if not reader.weighs_classes:
        return reader, stream
    # A target prevalence changes the weights of the classes, which needs a first pass for the class totals.
    tally = BatchTally(reader)
    with closing(in_order(stream.pieces, reader.take)) as batches:
        for batch in batches:
            tally.add(batch)
    tally.check(request.where)
    assert request.context is not None and request.context.target_prevalence is not None
    of_classes = contexts.weights_of_classes(*tally.classes, request.context.target_prevalence)
    return replace(reader, of_classes=of_classes), open_stream()


def _numeric_types(
    source: formats.Source, roles: Sequence[Role], schema: pa.Schema, open_stream: Callable[[], formats.Stream]
) -> dict[Role, pa.DataType]:
    """Return the numeric types of text and decimal columns. All values are read to find these types."""
    none = pa.Table.from_batches([], schema)  # Schema.empty_table() would import pandas
    candidates: dict[Role, list[pa.DataType]] = {}

    def possible(role: Role, table: pa.Table) -> list[pa.DataType]:
        kind = schema.field(role.column).type
        return columns.kinds_of(table.column(role.column), kind, decimal=source.decimal)

    for role in roles:
        if role.argument in ("score", "weight", "columns"):
            candidates[role] = possible(role, none)
    undetermined = [role for role, kinds in candidates.items() if kinds]
    for piece in open_stream().pieces if undetermined else ():
        for table in piece():  # read to the end, so that nothing stays open
            for role in undetermined:
                possible_here = possible(role, table)
                candidates[role] = [kind for kind in possible_here if kind in candidates[role]]
    # If no type represents all values, reading them as float64 raises the error.
    return {role: (candidates[role] or [pa.float64()])[0] for role in undetermined}


@dataclass
class _Buffers:
    """Stores rows within the memory limit, together or in a buffer for each segment and model.

    Rows with segments are first stored together. If they exceed the memory limit, each segment gets its own buffers.
    """

    limit: int
    stored: StoredBatches = field(default_factory=StoredBatches)
    by_segment: dict[Hashable, list[row_buffers.RowBuffer]] = field(default_factory=dict)
    _spill: row_buffers.Spill | None = None

    def add(self, batch: Batch) -> None:
        if batch.segmented is None or self.by_segment:
            self._add(batch.by_segment())
            return
        self.stored.add(batch.segmented)
        if self.stored.nbytes * _SEGMENT_SORT_MEMORY > self.limit:
            batches = self.stored.take()
            while batches:  # whose memory is freed one by one
                for part in batches.pop(0).slices(_ROWS_TO_SPLIT):
                    self._add(part.by_segment())

    def _add(self, rows: Mapping[Hashable, Sequence[row_buffers.PackedRows]]) -> None:
        for segment, of_models in rows.items():
            if segment not in self.by_segment:
                self.by_segment[segment] = [_buffer_for(packed) for packed in of_models]
            for buffer, packed in zip(self.by_segment[segment], of_models, strict=True):
                buffer.add(packed)
        if sum(buffer.nbytes for buffers in self.by_segment.values() for buffer in buffers) > self.limit:
            self._spill = self._spill or row_buffers.Spill()
            for buffers in self.by_segment.values():
                for buffer in buffers:
                    buffer.spill(self._spill)


def _buffer_for(packed: row_buffers.PackedRows) -> row_buffers.RowBuffer:
    if packed.weighted:
        return row_buffers.WeightedRowBuffer(packed.dtype)
    return row_buffers.KeyBuffer(packed.dtype)


def _in_order_of_segments(names: Iterable[Hashable]) -> list[Hashable]:
    """Return the segments in the order of `Predictions.by_segment`: sorted if segments can be compared."""
    names = list(names)
    return names if None in names else check.distinct(segmenting.array_of(names))


def progress_title(source: Any) -> str:
    """Return the text of the progress bar for a source."""
    return f"Reading {fspath(source)}" if isinstance(source, str | PathLike) else "Reading"


# ---- Sketches ----


@contract
def read_sketch(
    source: Any,
    *,
    label: str | None = None,
    scores: formats.Scores | None = None,
    weight: str | None = None,
    where: str | None = None,
    segment: str | None = None,
    pos_label: Any = None,
    missing: Literal["error", "drop"] = "error",
    format: formats.FileFormat | None = None,
    decimal: Literal[".", ","] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    table: str | None = None,
    thousands: Literal[",", ".", " ", "'"] | None = None,
    skip_rows: int | None = None,
    skip_footer: int | None = None,
    header: bool | None = None,
    memory: float = 16e6,
    progress: Progress = None,
) -> CountedModels:
    """Count the positives and negatives of each model approximately, in a sketch of fixed size.

    A `CountsSketch` gives guaranteed bounds for all results. The rows are read once.

    Parameters
    ----------
    source, label, scores, where, segment, pos_label, missing, progress : see `rocscope.read_counts`
    format, decimal, delimiter, encoding, table, thousands, skip_rows, skip_footer, header : see `rocscope.read`
    weight : str, optional
        Name of the column of weights, which must be integers.
    memory : float
        Size of each sketch in bytes. A larger sketch is more precise.

    Returns
    -------
    dict from model name to CountsSketch
        Sketch of each model. The attribute `source` has the file names and the number of dropped rows. If `segment` is
        given, a mapping from segment to such a dictionary.

    Raises
    ------
    InputError
        See `rocscope.read_counts`.

    See Also
    --------
    read_counts, CountsSketch

    Notes
    -----
    Batches are decoded and sorted on all cores. Only one core adds them to the sketches, which limits the speed.

    Examples
    --------
    >>> rows = {"y": [1, 1, 0, 1, 0], "a": [0.9, 0.6, 0.4, 0.4, 0.2]}
    >>> read_sketch(rows, label="y", scores="a")
    {'a': CountsSketch(n_pos=3, n_neg=2, auc=0.916667)}
    """
    check.check_choice("missing", missing, columns.MISSING)
    layout = formats.FileLayout(format, decimal, delimiter, encoding, table, thousands, skip_rows, skip_footer, header)
    request = CountRequest(label, scores, weight, where, segment, pos_label, missing, layout)
    by_segment: dict[Hashable, list[sketches.CountsSketch]] = {}
    with reporting(progress, progress_title(source), "rows") as report, open_source(source, layout) as opened:
        reader, stream = _reader_of(opened, request)
        tally = BatchTally(reader)
        with closing(in_order(stream.pieces, partial(_take_sorted, reader))) as batches:
            for batch, rows_by_segment in batches:
                tally.add(batch)
                if not tally.failed:
                    for name, of_models in rows_by_segment.items():
                        if name not in by_segment:
                            by_segment[name] = [sketches.CountsSketch(memory, pos_label=pos_label) for _ in of_models]
                        for sketch, rows in zip(by_segment[name], of_models, strict=True):
                            if rows.size:
                                sketch.add_levels(rows.dtype, _levels(rows))
                report(tally.rows, stream.rows)
        tally.check(where)
    provenance = tally.provenance(where)
    counted: dict[Hashable, CountedModels] = {}
    for name in _in_order_of_segments(by_segment):
        counted[name] = CountedModels(dict(zip(reader.models, by_segment[name], strict=True)), provenance)
    return counted[None] if segment is None else CountedModels(counted, provenance)


def _take_sorted(reader: Reader, table: pa.Table) -> tuple[Batch, Mapping[Hashable, Sequence[row_buffers.PackedRows]]]:
    """Check a batch and sort its keys. This can run in any thread. Counts are computed later, to save memory."""
    batch = reader.take(table)
    by_segment = batch.by_segment()
    for of_models in by_segment.values():
        for rows in of_models:
            for keys in (rows.lower, rows.upper):
                if keys is not None:
                    kernels.parts.sort_rows(keys, None)
    return batch, by_segment


def _levels(packed: row_buffers.PackedRows) -> sketches.Coded:
    """Return the distinct scores of packed rows, with the number of positives and negatives at each score."""
    if packed.lower is not None and packed.upper is not None:
        parts = key_parts([KeyPart((packed.upper,))], [KeyPart((packed.lower,))], packed.dtype)
        return sketches.levels_of_keys(parts)
    scores, labels = packed.columns
    if not packed.weighted:
        return sketches.ranked_levels(labels.astype(np.bool_), scores, None)
    signed_weights = labels
    check.require_whole_weights(signed_weights)
    return sketches.ranked_levels(signed_weights > 0, scores, np.abs(signed_weights))
