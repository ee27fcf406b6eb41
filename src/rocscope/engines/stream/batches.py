"""Turn batches of columns into checked labels, scores, weights and segments for counting."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.grouping import number
from rocscope._base.threads import in_threads, pieces_of
from rocscope.core.context import Context
from rocscope.core.row_costs import gains_in_batch
from rocscope.core.rows import Provenance, brief
from rocscope.engines.sources import columns
from rocscope.engines.sources.columns import Column, objects
from rocscope.engines.sources.roles import Role
from rocscope.engines.sources.source import Source, no_complete_rows, no_rows
from rocscope.engines.stream.row_buffers import GrowingRows, PackedRows, pack
from rocscope.errors import InputError
from rocscope.segments.rows import SegmentRows, SortedSegments, WeightedSegments, slots_of

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
