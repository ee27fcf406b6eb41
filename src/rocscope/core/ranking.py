"""Rank labels and scores into levels, with one sort.

A ranking yields its levels in blocks, highest score first, so that an area or a hull of 10⁸ rows needs no more
memory than the sorted rows. There are three: `Levels` holds the arrays; `SortedKeys` holds one integer a row, of the
width of the score, and `SortedRows` one integer and a weight; both make the levels anew at each pass.
"""

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope import kernels
from rocscope._base.arrays import Array
from rocscope._base.radix import KINDS, KeyPart, decode, sorted_keys, without_signed_zeros
from rocscope._base.threads import in_threads
from rocscope.core.levels import Block, Levels, Ranking, all_pairs, collapse
from rocscope.core.weighted import rank_weighted

_BLOCK = 16_384


@dataclass(frozen=True)
class SortedKeys(Ranking):
    """Unweighted rows as sorted integers of a score's ordered bits and its label, in parts of decreasing score."""

    parts: tuple[KeyPart, ...]
    dtype: np.dtype[Any]
    n_pos: int

    def totals(self) -> tuple[float, float]:
        return self.n_pos, sum(part.size for part in self.parts) - self.n_pos

    def ranges(self) -> list[Iterator[Block]]:
        """Return the blocks of each part, counted from (0, 0)."""
        return [SortedKeys((part,), self.dtype, 0).blocks() for part in self.parts]

    def blocks(self) -> Iterator[Block]:
        return scan_parts(((part.load(), part.high_bit) for part in self.parts), np.dtype(f"u{self.dtype.itemsize}"))

    def counted_ranges(self) -> list[Iterator[Block]]:
        return self.ranges()

    def count_pairs(self) -> tuple[float, float]:
        return self._pairs

    @cached_property
    def _pairs(self) -> tuple[float, float]:
        return all_pairs(in_threads(lambda part: part.pairs, self.parts))

    @cached_property
    def _points(self) -> tuple[Array, Array, Array]:
        """Thresholds, and counts starting at (0, 0), as a single block."""
        sizes = in_threads(lambda part: kernels.ranks.count_levels(part.load()), self.parts)
        ends = np.cumsum([(0, 0, 0), *sizes], axis=0).tolist()
        levels = ends[-1][0]
        code = np.empty(levels, f"u{self.dtype.itemsize}")
        tp, fp = np.zeros(levels + 1, np.int64), np.zeros(levels + 1, np.int64)

        def scan(number: int) -> None:
            (begin, positives, rows), (end, _, _) = ends[number : number + 2]
            keys, own = self.parts[number].load(), slice(begin + 1, end + 1)
            kernels.ranks.scan(keys, keys.size - 1, positives, rows, code[begin:end], tp[own], fp[own])
            code[begin:end] |= self.parts[number].high_bit

        in_threads(scan, range(len(self.parts)))
        return decode(code, self.dtype, in_place=True), tp, fp

    def thresholds(self) -> Array:
        return self._points[0]

    def cumulative(self) -> tuple[Array, Array]:
        return self._points[1:]

    def levels(self) -> Levels:
        tp, fp = self.cumulative()
        return Levels(self.thresholds(), np.diff(tp), np.diff(fp))


def key_parts(upper: Sequence[KeyPart], lower: Sequence[KeyPart], dtype: np.dtype[Any]) -> tuple[KeyPart, ...]:
    """Return ascending parts: scores whose highest ordered bit is 1 and the others, by decreasing score."""
    top = np.asarray(1 << (dtype.itemsize * 8 - 1), f"u{dtype.itemsize}")[()]
    halves = (upper, top), (lower, top ^ top)
    return tuple(replace(part, high_bit=bit) for parts, bit in halves for part in reversed(parts))


def scan_parts(
    parts: Iterable[tuple[Array, Any]], width: np.dtype[Any], positives: int = 0, rows: int = 0
) -> Generator[Block, None, tuple[int, int]]:
    """Yield the levels of parts in decreasing order, starting from given counts; return the final counts.

    A part is sorted keys and their highest bit. Blocks depend on the levels alone, not on how these are parted.
    """
    code, tp, fp = np.empty(_BLOCK, width), np.empty(_BLOCK, np.int64), np.empty(_BLOCK, np.int64)
    filled = 0
    for keys, high_bit in parts:
        last = keys.size - 1
        while last >= 0:
            free = code[filled:], tp[filled:], fp[filled:]
            found, last, positives, rows = kernels.ranks.scan(keys, last, positives, rows, *free)
            free[0][:found] |= high_bit
            filled += found
            if filled == _BLOCK:
                yield Block(code, tp, fp)
                filled = 0
    if filled:
        yield Block(code[:filled], tp[:filled], fp[:filled])
    return positives, rows


def rank(positive: NDArray[np.bool_], scores: Array, weight: Array | None = None) -> Ranking:
    """Rank checked labels and scores; rows of weight 0 are left out."""
    if weight is not None and not weight.all():
        kept = weight > 0
        positive, scores, weight = positive[kept], scores[kept], weight[kept]
    few = scores.size < kernels.SMALL
    if weight is not None and not (few and weight.dtype.kind == "i"):
        return rank_weighted(positive, scores, weight)
    if few:
        return _rank_small(positive, scores, weight)
    halves = sorted_keys(positive, scores, KINDS[scores.dtype.kind])
    return SortedKeys(key_parts(*halves, scores.dtype), scores.dtype, int(np.count_nonzero(positive)))


def _rank_small(positive: NDArray[np.bool_], scores: Array, weight: Array | None) -> Levels:
    bits = scores.view(f"u{scores.itemsize}")
    if weight is None and not bits.max() >> (8 * scores.itemsize - 1):  # so that a key holds both score and label
        keys = bits << 1
        keys |= positive
        keys.sort()
        keys = keys[::-1]
        pos = (keys & 1).astype(np.int64)
        return collapse((keys >> 1).view(scores.dtype), pos, 1 - pos)
    scores = without_signed_zeros(scores)
    order = np.argsort(scores)[::-1]
    is_pos = positive[order]
    counts = 1 if weight is None else weight[order]
    return collapse(scores[order], np.where(is_pos, counts, 0), np.where(is_pos, 0, counts))
