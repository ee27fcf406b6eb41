"""Rows of segments as they come in: kept as columns, and brought together by one sort in the end."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rocscope._base.arrays import Array
from rocscope._base.grouping import number
from rocscope._base.threads import in_threads, pieces_of
from rocscope.engines.sources.columns import Column, objects
from rocscope.engines.stream.row_buffers import GrowingRows, Packed, pack
from rocscope.segments.rows import SegmentRows, SortedSegments, WeightedSegments
from rocscope.segments.slots import slots_of

_FIRST_WIDE = 2**32
_ROWS_AT_ONCE = 1 << 18


@dataclass(frozen=True)
class Apart:
    """Rows of several segments, with the scores of each model, and weights where they have them."""

    segment: Column
    positive: NDArray[np.bool_]
    scores: Sequence[Array]
    weight: Array | None

    @property
    def nbytes(self) -> int:
        """Return the memory that the rows take."""
        return sum(column.nbytes for column in self.columns())

    def columns(self) -> list[Array]:
        """Return segments, labels, scores and weights."""
        return [self.segment.values, self.positive, *self.scores, *([] if self.weight is None else [self.weight])]

    def pieces(self, size: int) -> list["Apart"]:
        """Return the same rows, at most so many at a time."""
        return [
            Apart(
                replace(self.segment, values=self.segment.values[rows]),
                self.positive[rows],
                [column[rows] for column in self.scores],
                None if self.weight is None else self.weight[rows],
            )
            for rows in pieces_of(self.positive.size, size)
        ]

    def parts(self) -> dict[Hashable, list[Packed]]:
        """Return the rows of each segment, packed for each model."""
        return {
            name: [
                pack(self.positive[rows], column[rows], None if self.weight is None else self.weight[rows])
                for column in self.scores
            ]
            for name, rows in _rows_by_name(self.segment)
        }


class Kept:
    """Rows of segments: those of numbered ones in few large arrays, those of named ones batch by batch."""

    def __init__(self) -> None:
        self._rows = GrowingRows()
        self._named: list[Apart] = []
        self._weighted = False

    def __bool__(self) -> bool:
        return bool(self._rows or self._named)

    @property
    def nbytes(self) -> int:
        """Return the memory that the rows take."""
        return self._rows.nbytes + sum(batch.nbytes for batch in self._named)

    def add(self, batch: Apart) -> None:
        """Take a batch."""
        self._weighted = batch.weight is not None
        if batch.segment.classes is None:
            self._rows.add(*batch.columns())
        else:
            self._named.append(batch)

    def take(self) -> list[Apart]:
        """Give all away."""
        found = self._named + [self._apart(*columns) for columns in self._rows.take()]
        self._named = []
        return found

    def _apart(self, segment: Array, positive: Array, *others: Array) -> Apart:
        weight = others[-1] if self._weighted else None
        return Apart(Column(segment), positive, others[:-1] if self._weighted else others, weight)


def shrunk(column: Column) -> Column:
    """Return whole numbers in 32 bits, if these hold them."""
    values = column.values
    if values.dtype.kind in "iu" and values.itemsize > 4 and values.min() >= 0 and values.max() < _FIRST_WIDE:
        return replace(column, values=values.astype(np.uint32))
    return column


def _rows_by_name(column: Column) -> list[tuple[Hashable, Array]]:
    """Return the rows of each segment that a batch holds, in their order."""
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


def grouped(kept: Kept) -> tuple[Array, list[SegmentRows]]:
    """Return the segments in their order, and the rows of each model in groups; what was kept is used up."""
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


def _coded(batches: Sequence[Apart]) -> tuple[Array, list[Apart]]:
    """Return the names that batches hold or may hold, in their order, and the rows with places among these instead."""
    hashed = pa.chunked_array([batch.segment.classes for batch in batches]).dictionary_encode()
    names, rank = np.unique(objects(hashed.chunk(0).dictionary), return_inverse=True)
    rank = rank.astype(np.uint32)

    def recoded(batch: Apart, classes: pa.DictionaryArray) -> Apart:
        return replace(batch, segment=Column(rank[classes.indices.to_numpy()][batch.segment.values]))

    return names, in_threads(lambda pair: recoded(*pair), zip(batches, hashed.chunks, strict=True))
