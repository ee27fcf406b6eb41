"""From labels and scores to ranked levels: the one sort on which everything else stands.

A ranking yields its levels in blocks, highest score first, so that an area or a hull of 10⁸ rows needs no more
memory than the sorted rows. There are three: `Levels` holds the arrays; `SortedKeys` holds one integer a row, of the
width of the score, and `SortedRows` one integer and a weight; both make the levels anew at each pass.
"""

import math
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rocscope import kernels
from rocscope._types import Array
from rocscope.core.threads import in_threads

_BLOCK = 16_384
_ROWS_IN_PART = 1 << 20
KINDS = {"u": 0, "i": 1, "f": 2}
"""What the kernels call unsigned, signed and floating-point scores."""


@dataclass(frozen=True)
class Block:
    """Consecutive levels: a code for each threshold, and the positives and negatives at or above it."""

    code: Array
    tp: Array
    fp: Array


class Ranking:
    """Levels by decreasing score; what makes them anew at each pass tells `blocks`, and the `dtype` of the scores."""

    dtype: np.dtype[Any]

    def blocks(self) -> Iterator[Block]:
        """Yield the levels; a block is valid until the next one is asked for."""
        raise NotImplementedError

    @cached_property
    def _levels(self) -> "Levels":
        blocks = [(self.decode(block.code), block.tp.copy(), block.fp.copy()) for block in self.blocks()]
        threshold, tp, fp = (np.concatenate(column) for column in zip(*blocks, strict=True))
        return Levels(threshold, np.diff(tp, prepend=tp.dtype.type(0)), np.diff(fp, prepend=fp.dtype.type(0)))

    def levels(self) -> "Levels":
        """Return all levels as arrays, if memory holds them."""
        return self._levels

    def thresholds(self) -> Array:
        """Return the score of each level."""
        return self.levels().threshold

    def cumulative(self) -> tuple[Array, Array]:
        """Return true and false positives, from (0, 0) on: one more than there are levels."""
        return self.levels().cumulative()

    def decode(self, code: Array) -> Array:
        """Return the thresholds that codes stand for."""
        return decode(code.astype(f"u{self.dtype.itemsize}"), self.dtype)

    def totals(self) -> tuple[float, float]:
        """Return the number of positives and of negatives (sums of weights)."""
        tp = fp = np.zeros(1)
        for block in self.blocks():
            tp, fp = block.tp[-1:].copy(), block.fp[-1:].copy()
        return tp[-1].item(), fp[-1].item()


@dataclass(frozen=True)
class Levels(Ranking):
    """Ranked levels as arrays: thresholds strictly decreasing, every level with a count above 0."""

    threshold: Array
    pos: Array
    neg: Array

    @cached_property
    def _cumulative(self) -> tuple[Array, Array]:
        return from_zero(self.pos), from_zero(self.neg)

    def cumulative(self) -> tuple[Array, Array]:
        return self._cumulative

    def blocks(self) -> Iterator[Block]:
        tp, fp = self._cumulative
        yield Block(np.arange(self.threshold.size, dtype=np.uint64), tp[1:], fp[1:])

    def decode(self, code: Array) -> Array:
        return self.threshold[code.astype(np.intp)]

    def levels(self) -> "Levels":
        return self

    def totals(self) -> tuple[float, float]:
        # The last running sums, not pairwise ones, so that rounding never leaves a point beyond the total.
        tp, fp = self._cumulative
        return tp[-1].item(), fp[-1].item()


def from_zero(counts: Array) -> Array:
    """Return running sums, from 0 on: one more than there are counts."""
    sums = np.zeros(counts.size + 1, counts.dtype)
    np.cumsum(counts, out=sums[1:])
    return sums


@dataclass(frozen=True)
class KeyPart:
    """Sorted keys of consecutive scores, of which none is elsewhere, in pieces that follow each other upwards.

    `high_bit` is the highest bit of the codes, which is no part of a key; see `kernels.ranks.pack`.
    """

    pieces: tuple[Array, ...]
    high_bit: Any

    @property
    def size(self) -> int:
        """Number of rows."""
        return sum(piece.size for piece in self.pieces)

    def load(self) -> Array:
        """Return the keys in one array."""
        return self.pieces[0] if len(self.pieces) == 1 else np.concatenate(self.pieces)


@dataclass(frozen=True)
class SortedKeys(Ranking):
    """Unweighted rows as sorted integers, a score's ordered bits and its label in each; parts by decreasing score."""

    parts: tuple[KeyPart, ...]
    dtype: np.dtype[Any]
    n_pos: int

    def totals(self) -> tuple[float, float]:
        return self.n_pos, sum(part.size for part in self.parts) - self.n_pos

    def ranges(self) -> list[Iterator[Block]]:
        """Return the blocks of each part, counted from (0, 0)."""
        return [SortedKeys((part,), self.dtype, 0).blocks() for part in self.parts]

    def blocks(self) -> Iterator[Block]:
        positives = rows = 0
        for part in self.parts:
            positives, rows = yield from scan_keys(part.load(), part.high_bit, positives, rows)

    @cached_property
    def _points(self) -> tuple[Array, Array, Array]:
        """Codes, and counts from (0, 0) on, as if in one block; memory beyond the last level is never touched."""
        n = sum(part.size for part in self.parts)
        width = f"u{self.dtype.itemsize}"
        code, tp, fp = np.empty(n, width), np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
        size = positives = rows = 0
        for part in self.parts:
            free = (code[size:], tp[size + 1 :], fp[size + 1 :])
            keys = part.load()
            found, _, positives, rows = kernels.ranks.scan(keys, keys.size - 1, positives, rows, *free)
            code[size : size + found] |= part.high_bit
            size += found
        return code[:size], tp[: size + 1], fp[: size + 1]

    def thresholds(self) -> Array:
        return self.decode(self._points[0])

    def cumulative(self) -> tuple[Array, Array]:
        return self._points[1:]

    def levels(self) -> Levels:
        tp, fp = self.cumulative()
        return Levels(self.thresholds(), np.diff(tp), np.diff(fp))


@dataclass(frozen=True)
class SortedRows(Ranking):
    """Weighted rows as sorted codes, a score's ordered bits, and the weight of each, negative for negatives."""

    codes: Array
    signed: Array
    dtype: np.dtype[Any]

    def blocks(self) -> Iterator[Block]:
        yield from scan_rows(self.codes, self.signed, *np.zeros(2, self.signed.dtype))

    @cached_property
    def _levels(self) -> Levels:
        code, pos, neg = (np.empty_like(column) for column in (self.codes, self.signed, self.signed))
        size = kernels.ranks.sum_rows(self.codes, self.signed, code, pos, neg)
        return Levels(self.decode(code[:size]), pos[:size], neg[:size])


def ranges(ranking: Ranking) -> list[Iterator[Block]]:
    """Return blocks of ranges of scores, decreasing and each counted from (0, 0), for as many threads."""
    return ranking.ranges() if isinstance(ranking, SortedKeys) else [ranking.blocks()]


def count_pairs(ranking: Ranking) -> tuple[float, float]:
    """Return the pairs of a positive and a negative that are ranked right, and those that are tied."""
    concordant = tied = above = 0
    for right, equal, pos, neg in in_threads(_count_pairs, ranges(ranking)):
        concordant, tied, above = concordant + right + neg * above, tied + equal, above + pos
    return concordant, tied


def _count_pairs(blocks: Iterator[Block]) -> tuple[float, float, float, float]:
    """Return the concordant and the tied pairs, and the positives and negatives."""
    concordant = tied = tp = fp = 0
    for block in blocks:
        right, equal = kernels.ranks.count_pairs(tp, fp, block.tp, block.fp)
        concordant, tied = concordant + right, tied + equal
        tp, fp = block.tp[-1].item(), block.fp[-1].item()
    return concordant, tied, tp, fp


def parts_of(upper: Array, lower: Array) -> tuple[KeyPart, ...]:
    """Return sorted keys of scores whose bits begin with 1, and of others, cut where scores differ."""
    one = upper.dtype.type(1)
    top = one << upper.dtype.type(upper.itemsize * 8 - 1)
    parts: list[KeyPart] = []
    for keys, high_bit in ((upper, top), (lower, top ^ top)):
        starts = keys[np.arange(0, keys.size, _ROWS_IN_PART)] & ~one
        bounds = np.unique(cast(Array, np.searchsorted(keys, starts)))
        parts += [KeyPart((piece,), high_bit) for piece in np.split(keys, bounds[1:]) if piece.size][::-1]
    return tuple(parts)


def scan_keys(keys: Array, high_bit: Any, positives: int, rows: int) -> Generator[Block, None, tuple[int, int]]:
    """Yield the levels of sorted keys, downwards, after so many positives and rows; return these numbers at the end."""
    code = np.empty(_BLOCK, keys.dtype)
    tp, fp = np.empty(_BLOCK, np.int64), np.empty(_BLOCK, np.int64)
    last = keys.size - 1
    while last >= 0:
        found, last, positives, rows = kernels.ranks.scan(keys, last, positives, rows, code, tp, fp)
        code[:found] |= high_bit
        yield Block(code[:found], tp[:found], fp[:found])
    return positives, rows


def scan_rows(codes: Array, signed: Array, tp: Any, fp: Any) -> Generator[Block, None, tuple[Any, Any]]:
    """Do what `scan_keys` does for weighted rows, after the weights `tp` and `fp`."""
    code = np.empty(_BLOCK, codes.dtype)
    block_tp, block_fp = np.empty(_BLOCK, signed.dtype), np.empty(_BLOCK, signed.dtype)
    last = codes.size - 1
    while last >= 0:
        found, last, tp, fp = kernels.ranks.scan_rows(codes, signed, last, tp, fp, code, block_tp, block_fp)
        yield Block(code[:found], block_tp[:found], block_fp[:found])
    return tp, fp


def decode(code: Array, dtype: np.dtype[Any]) -> Array:
    """Return the scores whose ordered bits these are, in the memory of the codes; see `kernels.ranks.ordered`."""
    width = code.itemsize * 8
    top = code.dtype.type(1 << (width - 1))
    if dtype.kind == "i":
        code ^= top
    elif dtype.kind == "f":
        flipped = code >> code.dtype.type(width - 1)
        flipped -= code.dtype.type(1)  # every bit, where the highest is 0
        flipped |= top
        code ^= flipped
    return code.view(dtype)


def encode(scores: Array) -> Array:
    """Return the ordered bits of scores; the reverse of `decode`, but for -0.0, which becomes 0.0."""
    bits = scores.view(f"u{scores.itemsize}")
    top = bits.dtype.type(1 << (scores.itemsize * 8 - 1))
    if scores.dtype.kind == "u":
        return bits
    return bits ^ top if scores.dtype.kind == "i" else np.where(bits <= top, bits | top, ~bits)


def rank(positive: NDArray[np.bool_], scores: Array, weight: Array | None = None) -> Ranking:
    """Rank checked labels and scores; rows of weight 0 are left out."""
    if weight is not None and not weight.all():
        kept = weight > 0
        positive, scores, weight = positive[kept], scores[kept], weight[kept]
    if scores.size < kernels.SMALL:
        return _rank_small(positive, without_signed_zeros(scores), weight)
    if weight is not None:
        return rank_rows(positive, scores, weight)
    labels, bits, kind = positive.view(np.uint8), scores.view(f"u{scores.itemsize}"), KINDS[scores.dtype.kind]
    keys = np.empty_like(bits)
    border, n_pos = kernels.ranks.pack(bits, labels, kind, keys)
    upper, lower = keys[border:], keys[:border]
    upper.sort()
    lower.sort()
    return SortedKeys(parts_of(upper, lower), scores.dtype, int(n_pos))


def rank_rows(positive: NDArray[np.bool_], scores: Array, weight: Array) -> SortedRows:
    """Rank rows of weights above 0 by the compiled loops."""
    labels, bits, kind = positive.view(np.uint8), scores.view(f"u{scores.itemsize}"), KINDS[scores.dtype.kind]
    codes, signed = np.empty(bits.size, np.uint64), np.empty_like(weight)
    layout = (np.uint64(number) for number in kernels.ranks.pack_rows(bits, labels, kind, codes))
    codes.sort()
    if not kernels.ranks.unpack_rows(codes, bits, weight, kind, *layout, signed):
        order = np.argsort(codes)
        codes, signed = codes[order], signed[order]
    return SortedRows(codes, signed, scores.dtype)


def _rank_small(positive: NDArray[np.bool_], scores: Array, weight: Array | None) -> Levels:
    order = np.argsort(scores)[::-1]
    is_pos = positive[order]
    if weight is None:
        pos = is_pos.astype(np.int64)
        neg = 1 - pos
    else:
        weight = weight[order]
        pos = np.where(is_pos, weight, 0)
        neg = np.where(is_pos, 0, weight)
    return collapse(scores[order], pos, neg)


def without_signed_zeros(scores: Array) -> Array:
    """Return scores with 0.0 for -0.0."""
    return scores + scores.dtype.type(0) if scores.dtype.kind == "f" else scores


def collapse(score: Array, pos: Array, neg: Array) -> Levels:
    """Sum the entries of equal score; `score` decreases, every entry has a count above 0."""
    starts = np.flatnonzero(np.concatenate(([True], score[1:] != score[:-1])))
    return Levels(score[starts], np.add.reduceat(pos, starts), np.add.reduceat(neg, starts))


def count_at_least(threshold: Array, cut: float) -> int:
    """Count the levels whose score is at least `cut`, comparing exactly: `cut` is not rounded to their type."""
    dtype = threshold.dtype
    if dtype.kind == "f":
        lowest, highest = float(np.finfo(dtype).min), float(np.finfo(dtype).max)
    else:
        lowest, highest = np.iinfo(dtype).min, np.iinfo(dtype).max
    if cut > highest:
        return 0
    if cut <= lowest:
        return threshold.size
    smallest = dtype.type(cut if dtype.kind == "f" else math.ceil(cut))
    if smallest.item() < cut:
        smallest = np.nextafter(smallest, dtype.type(math.inf))
    below = cast(int, np.searchsorted(threshold[::-1], smallest, side="left"))
    return threshold.size - int(below)


def after_infinity(scores: Array) -> Array:
    """Return infinity and then the scores, decreasing; as Python integers where float64 would round them."""
    exact = scores.dtype.kind == "f" or (scores[0].item() <= 2**53 and scores[-1].item() >= -(2**53))
    dtype = scores.dtype if scores.dtype.kind == "f" else np.dtype(np.float64 if exact else object)
    return np.concatenate([np.array([np.inf], dtype), scores.astype(dtype)])
