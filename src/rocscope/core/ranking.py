"""From labels and scores to ranked levels: the one sort on which everything else stands.

A ranking yields its levels in blocks, highest score first, so that an area or a hull of 10⁸ rows needs no more
memory than the sorted keys. There are two: `Levels` holds the arrays; `SortedKeys` holds one integer a row, of the
width of the score, and makes the levels anew at each pass.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from rocscope import kernels

Array = NDArray[Any]

_BLOCK = 16_384
_KINDS = {"u": 0, "i": 1, "f": 2}


@dataclass(frozen=True)
class Block:
    """Consecutive levels: a code for each threshold, and the positives and negatives at or above it."""

    code: Array
    tp: Array
    fp: Array


class Ranking(Protocol):
    """Levels by decreasing score."""

    def blocks(self) -> Iterator[Block]:
        """Yield the levels; a block is valid until the next one is asked for."""
        ...

    def decode(self, code: Array) -> Array:
        """Return the thresholds that codes stand for."""
        ...

    def levels(self) -> "Levels":
        """Return all levels as arrays."""
        ...

    def totals(self) -> tuple[float, float]:
        """Return the number of positives and of negatives (sums of weights)."""
        ...


@dataclass(frozen=True)
class Levels:
    """Ranked levels as arrays: thresholds strictly decreasing, every level with a count above 0."""

    threshold: Array
    pos: Array
    neg: Array

    def blocks(self) -> Iterator[Block]:
        code = np.arange(self.threshold.size, dtype=np.uint64)
        yield Block(code, np.cumsum(self.pos), np.cumsum(self.neg))

    def decode(self, code: Array) -> Array:
        return self.threshold[code.astype(np.intp)]

    def levels(self) -> "Levels":
        return self

    def totals(self) -> tuple[float, float]:
        # The last running sums, not pairwise ones, so that rounding never leaves a point beyond the total.
        return np.cumsum(self.pos)[-1].item(), np.cumsum(self.neg)[-1].item()


@dataclass(frozen=True)
class SortedKeys:
    """Unweighted rows as sorted integers, a score's order-preserving bits and its label in each.

    `upper` and `lower` hold the scores whose bits begin with 1 and 0; see `kernels.pack`.
    """

    upper: Array
    lower: Array
    dtype: np.dtype[Any]
    n_pos: int

    def totals(self) -> tuple[float, float]:
        return self.n_pos, self.upper.size + self.lower.size - self.n_pos

    def blocks(self) -> Iterator[Block]:
        top = self.upper.dtype.type(1 << (self.upper.itemsize * 8 - 1))
        code = np.empty(_BLOCK, self.upper.dtype)
        tp, fp = np.empty(_BLOCK, np.int64), np.empty(_BLOCK, np.int64)
        positives = rows = 0
        for keys, high_bit in ((self.upper, top), (self.lower, top ^ top)):
            last = keys.size - 1
            while last >= 0:
                size, last, positives, rows = kernels.scan(keys, last, positives, rows, code, tp, fp)
                code[:size] |= high_bit
                yield Block(code[:size], tp[:size], fp[:size])

    def decode(self, code: Array) -> Array:
        bits = code.astype(self.upper.dtype)
        top = bits.dtype.type(1 << (bits.itemsize * 8 - 1))
        if self.dtype.kind == "i":
            bits ^= top
        elif self.dtype.kind == "f":
            every_bit_if_negative = (bits >> bits.dtype.type(bits.itemsize * 8 - 1)) - bits.dtype.type(1)
            bits ^= every_bit_if_negative | top
        return bits.view(self.dtype)

    def levels(self) -> Levels:
        size = sum(block.code.size for block in self.blocks())  # one more pass costs less than copies of every block
        threshold, pos, neg = np.empty(size, self.dtype), np.empty(size, np.int64), np.empty(size, np.int64)
        start = tp = fp = 0
        for block in self.blocks():
            here = slice(start, start + block.code.size)
            threshold[here] = self.decode(block.code)
            pos[here] = np.diff(block.tp, prepend=tp)
            neg[here] = np.diff(block.fp, prepend=fp)
            start, tp, fp = here.stop, block.tp[-1], block.fp[-1]
        return Levels(threshold, pos, neg)


def rank(positive: NDArray[np.bool_], scores: Array, weight: Array | None = None) -> Ranking:
    """Rank checked labels and scores; rows of weight 0 are left out."""
    if weight is not None and not weight.all():
        kept = weight > 0
        positive, scores, weight = positive[kept], scores[kept], weight[kept]
    if scores.size < kernels.SMALL:
        return _rank_small(positive, without_signed_zeros(scores), weight)
    if weight is None:
        return _rank_keys(positive, scores)
    return _rank_weighted(positive, scores, weight)


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


def _rank_keys(positive: NDArray[np.bool_], scores: Array) -> SortedKeys:
    unsigned = np.dtype(f"u{scores.itemsize}")
    keys = np.empty(scores.size, unsigned)
    bits = scores.view(unsigned)
    border, n_pos = kernels.pack(bits, positive.view(np.uint8), _KINDS[scores.dtype.kind], keys)
    upper, lower = keys[border:], keys[:border]
    upper.sort()
    lower.sort()
    return SortedKeys(upper, lower, scores.dtype, int(n_pos))


def _rank_weighted(positive: NDArray[np.bool_], scores: Array, weight: Array) -> Levels:
    order = np.argsort(scores)
    signed = np.where(positive, weight, -weight)
    threshold = np.empty_like(scores)
    pos, neg = np.empty_like(weight), np.empty_like(weight)
    size = kernels.sum_weights(order, np.sort(scores), signed, threshold, pos, neg)
    return Levels(without_signed_zeros(threshold[:size]), pos[:size], neg[:size])


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
