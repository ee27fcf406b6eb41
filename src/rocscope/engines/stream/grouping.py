"""Rows of segments as they come in: kept as columns, and brought together by one sort in the end."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rocscope._parts import number, numbered
from rocscope._types import Array
from rocscope.core.levels import encode
from rocscope.engines.sources.columns import Column
from rocscope.engines.stream.piles import Packed, pack
from rocscope.evaluation.groups.counting import array_of
from rocscope.evaluation.groups.rows import GroupRows, SortedGroups, WeightedGroups, slots_of

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
    segments = [batch.segment for batch in batches]
    positive, weight = (
        [batch.positive for batch in batches],
        [batch.weight for batch in batches if batch.weight is not None],
    )
    models = [list(column) for column in zip(*(batch.scores for batch in batches), strict=True)]
    batches.clear()
    names, codes = _numbered(segments)
    if not weight:
        for i, code in enumerate(codes):
            codes[i] = slots_of(code, positive[i], names.size)
        return names, [_sorted(codes, scores, names.size) for scores in models]
    group, is_pos, mass = np.concatenate(codes), np.concatenate(positive), np.concatenate(weight)
    return names, [WeightedGroups.of(group, names.size, is_pos, np.concatenate(scores), mass) for scores in models]


def _sorted(slots: Sequence[Array], scores: list[Array], groups: int) -> SortedGroups:
    dtype, scores[:] = scores[0].dtype, scores[::-1]
    return SortedGroups.of(slots, (encode(scores.pop()) for _ in slots), groups, dtype)


def _numbered(segments: list[Column]) -> tuple[Array, list[Array]]:
    """Return the names of all segments in their order, and the number of each row's, batch by batch."""
    if segments[0].classes is None:
        return number([segment.values for segment in segments])
    places: dict[Hashable, int] = {}
    codes: list[Array] = []
    for segment in segments:
        assert segment.classes is not None
        here = [places.setdefault(name, len(places)) for name in segment.classes.tolist()]
        codes.append(np.array(here)[segment.values])
    used = np.unique(np.concatenate([np.unique(code) for code in codes]))
    names, place = numbered("segment", array_of(list(places))[used])
    new = np.zeros(len(places), np.int64)
    new[used] = place
    return names, [new[code] for code in codes]
