"""Nested cells of the score: counters of a sketch, and the levels they represent."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from rocscope import kernels
from rocscope._base.arrays import Array
from rocscope._base.radix import KeyPart, encode
from rocscope.core.ranking import SortedKeys, rank

Coded = tuple[Array, Array, Array]
"""Codes of distinct scores (64 ordered bits), decreasing, with the positives and negatives of each."""


@dataclass(frozen=True)
class Cells:
    """Nested cells of the score in order, with the rows of each that are in no inner cell."""

    start: Array
    shift: Array
    pos: Array
    neg: Array
    low: Array
    high: Array

    @classmethod
    def of_levels(cls, code: Array, pos: Array, neg: Array) -> "Cells":
        """Return a cell for each distinct score, given in increasing order."""
        return cls(code, np.zeros(code.size, np.uint8), pos, neg, code, code)

    def columns(self) -> list[Array]:
        """Return the arrays."""
        return [getattr(self, field.name) for field in fields(self)]

    def __len__(self) -> int:
        return self.start.size

    def head(self, size: int) -> "Cells":
        """Return a view of the first cells."""
        return Cells(*(column[:size] for column in self.columns()))

    def copy(self) -> "Cells":
        """Return a copy of the cells."""
        return Cells(*(column.copy() for column in self.columns()))

    def __add__(self, other: "Cells") -> "Cells":
        if not (len(self) and len(other)):
            return self.head(len(self)) if len(self) else other.head(len(other))
        start, shift, pos, neg, low, high = map(np.concatenate, zip(self.columns(), other.columns(), strict=True))
        order = np.lexsort((-shift.astype(np.int64), start))
        start, shift = start[order], shift[order]
        first = np.flatnonzero(np.concatenate([[True], (np.diff(start) > 0) | (shift[1:] != shift[:-1])]))
        pos, neg = (np.add.reduceat(column[order], first) for column in (pos, neg))
        low, high = np.minimum.reduceat(low[order], first), np.maximum.reduceat(high[order], first)
        return Cells(start[first], shift[first], pos, neg, low, high)

    def insert(self, levels: "Cells") -> "Cells":
        """Return these cells with new levels inserted."""
        at = np.searchsorted(self.start, levels.start, side="right")
        return Cells(*(np.insert(m, at, t) for m, t in zip(self.columns(), levels.columns(), strict=True)))


ROW = sum(np.dtype(kind).itemsize for kind in ("u8", "u1", "i8", "i8", "u8", "u8"))
"""Bytes of a cell."""


def ranked_levels(positive: Array, scores: Array, weight: Array | None) -> Coded:
    """Return the codes of distinct scores, decreasing, with their positives and negatives."""
    if weight is not None or scores.size < kernels.SMALL:
        levels = rank(positive, scores, weight).levels()
        return encode(levels.threshold).astype(np.uint64), levels.pos.copy(), levels.neg.copy()
    ranking = rank(positive, scores)
    assert isinstance(ranking, SortedKeys)
    return levels_of_keys(ranking.parts)


def levels_of_keys(parts: Sequence[KeyPart]) -> Coded:
    """Return the levels of sorted keys, given in parts by decreasing score."""
    size = sum(part.size for part in parts)
    code, pos, neg = (np.empty(size, kind) for kind in ("u8", "i8", "i8"))
    size = 0
    for part in parts:
        size = kernels.cells.count_levels(part.load(), np.uint64(part.high_bit), size, code, pos, neg)
    return code[:size], pos[:size], neg[:size]
