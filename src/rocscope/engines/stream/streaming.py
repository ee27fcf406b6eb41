"""Count columns that come in batches: read in parallel, buffered as sort keys."""

import queue
import threading
from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import pyarrow as pa

from rocscope._base import validation as check
from rocscope._base.progress import Tell
from rocscope._base.threads import cores
from rocscope.core.counts import ThresholdCounts
from rocscope.core.row_costs import weights_of_classes
from rocscope.core.rows import CountedModels
from rocscope.engines.counting import Question, memory_limit
from rocscope.engines.sources import columns
from rocscope.engines.sources.column_names import require_columns
from rocscope.engines.sources.opening import open_source
from rocscope.engines.sources.roles import Role, roles_of_columns, roles_of_numbers, roles_of_scores
from rocscope.engines.sources.source import Source, Stream, WrongGuessError
from rocscope.engines.stream.batches import Batch, BatchTally, Reader, StoredBatches, grouped
from rocscope.engines.stream.row_buffers import KeyBuffer, PackedRows, RowBuffer, WeightedRowBuffer
from rocscope.engines.stream.spill import Spill
from rocscope.errors import RocscopeError
from rocscope.segments.counting import array_of, of_models, of_segments
from rocscope.segments.segmented_counts import SegmentedCounts

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


_ROWS_AT_ONCE = 1 << 22  # rows of a batch that are taken in together
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
                for piece in batches.pop(0).pieces(_ROWS_AT_ONCE):
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
