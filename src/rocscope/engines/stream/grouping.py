"""Rows of segments as they come in: kept as columns, and brought together by one sort in the end."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope._parts import number, numbered
from rocscope._threads import in_threads
from rocscope._types import Array
from rocscope.engines.sources.columns import Column
from rocscope.engines.stream.piles import Packed, pack
from rocscope.evaluation.groups.counting import array_of
from rocscope.evaluation.groups.rows import GroupRows, SortedGroups, WeightedGroups
from rocscope.evaluation.groups.slots import slots_of

_FIRST_WIDE = 2**32


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
        mass = 0 if self.weight is None else self.weight.nbytes
        return self.segment.values.nbytes + self.positive.nbytes + sum(each.nbytes for each in self.scores) + mass

    def parts(self) -> dict[Hashable, list[Packed]]:
        """Return the rows of each segment, packed for each model."""
        return {
            name: [
                pack(self.positive[rows], column[rows], None if self.weight is None else self.weight[rows])
                for column in self.scores
            ]
            for name, rows in _rows_by_name(self.segment)
        }


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
        names = column.classes
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.append(True, values[order][1:] != values[order][:-1]))
    rows = np.split(order, starts[1:])
    found = names[values[order[starts]]]
    keys = list(found) if found.dtype.kind in "mM" else found.tolist()
    return list(zip(keys, rows, strict=True))


def grouped(batches: list[Apart]) -> tuple[Array, list[GroupRows]]:
    """Return the segments in their order, and the rows of each model in groups; what is used up of the batches goes."""
    names, places = _numbered([batch.segment for batch in batches])
    models = [list(column) for column in zip(*(batch.scores for batch in batches), strict=True)]
    rows: list[Any] = [(batch.segment, batch.positive) for batch in batches]
    weight = [batch.weight for batch in batches if batch.weight is not None]
    batches.clear()
    if weight:
        group, positive = (
            np.concatenate(each) for each in zip(*((places(one), two) for one, two in rows), strict=True)
        )
        mass = np.concatenate(weight)
        return names, [WeightedGroups.of(group, names.size, positive, np.concatenate(each), mass) for each in models]

    def to_slots(i: int) -> None:
        segment, positive = rows[i]
        rows[i] = slots_of(places(segment), positive, names.size)

    in_threads(to_slots, range(len(rows)))
    return names, [SortedGroups.of(rows, scores, names.size, scores[0].dtype) for scores in models]


def _numbered(segments: Sequence[Column]) -> tuple[Array, Callable[[Column], Array]]:
    """Return the names of all segments in their order, and what tells the number of each row's."""
    if segments[0].classes is None:
        names, places = number([segment.values for segment in segments])
        return names, lambda segment: places(segment.values)
    used: dict[Hashable, None] = {}
    for segment in segments:
        assert segment.classes is not None
        used |= dict.fromkeys(segment.classes[np.unique(segment.values)].tolist())
    names, place = numbered("segment", array_of(list(used)))
    place_of = dict(zip(used, place.tolist(), strict=True))

    def codes(segment: Column) -> Array:
        assert segment.classes is not None
        return np.array([place_of.get(name, 0) for name in segment.classes.tolist()])[segment.values]

    return names, codes
