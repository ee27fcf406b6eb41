"""Ranked levels: the interface of every ranking behind ThresholdCounts, and levels held as arrays."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from rocscope import kernels
from rocscope._base import validation as check
from rocscope._base.arrays import Array, Ties
from rocscope._base.exact_sums import Sums, add_up, dot, rounded, running, whole_sums
from rocscope._base.radix import decode, encode
from rocscope._base.threads import in_threads

_PAIRS = "_pairs"


@dataclass(frozen=True)
class Block:
    """Consecutive levels: codes of their thresholds, and the positives and negatives at or above each.

    `steps`, which weighted ones have, tells of each level whether it has positives (1) and negatives (2): beside large
    sums small weights do not show.
    """

    code: Array
    tp: Array
    fp: Array
    steps: Array | None = None


@dataclass(frozen=True)
class Pairs:
    """Pairs of a positive and a negative: concordant, tied and in total.

    Where rows are weighted, products of their weights; in units of a power of two, where that is beyond a float.

    Examples
    --------
    >>> pairs = Pairs(concordant=5, tied=1, total=6)
    >>> pairs.auc(), pairs.auc("lower"), pairs.fraction()
    (0.9166666666666666, 0.8333333333333334, Fraction(11, 12))
    """

    concordant: float
    tied: float
    total: float

    def _right(self, ties: Ties) -> tuple[float, float]:
        credit = {"lower": 0, "half": 1, "upper": 2}
        check.check_choice("ties", ties, ("half", "lower", "upper"))
        return 2 * self.concordant + credit[ties] * self.tied, 2 * self.total

    def auc(self, ties: Ties = "half") -> float:
        """Share of concordant pairs; a tied pair counts 1/2, 0 (`lower`) or 1 (`upper`)."""
        right, total = self._right(ties)
        return right / total

    def fraction(self, ties: Ties = "half") -> Fraction:
        """Return the AUC as an exact fraction of the counts."""
        right, total = self._right(ties)
        return Fraction(right) / Fraction(total)


class Ranking:
    """Levels by decreasing score; subclasses that recompute them at each pass define `blocks` and the `dtype` of
    scores.
    """

    dtype: np.dtype[Any]

    @property
    def few(self) -> bool:
        """Whether the levels are in memory, and few."""
        return False

    @property
    def weighted(self) -> bool:
        """Whether weights are not whole numbers."""
        return False

    def blocks(self) -> Iterator[Block]:
        """Yield the levels in blocks; each block is valid until the next one is requested."""
        raise NotImplementedError

    def ranges(self) -> list[Iterator[Block]]:
        """Return blocks for ranges of decreasing scores, each counted from (0, 0), to be processed in threads."""
        return [self.blocks()]

    def count_pairs(self) -> tuple[float, float]:
        """Count the concordant and tied pairs of a positive and a negative."""
        if _PAIRS not in vars(self):
            in_threads(lambda blocks: deque(blocks, maxlen=0), self.counted_ranges())
        return vars(self)[_PAIRS]

    def counted_ranges(self) -> list[Iterator[Block]]:
        """Return `ranges`; iterating over all of them also computes what `count_pairs` returns."""
        ranges = self.ranges()
        found: list[Any] = [None] * len(ranges)

        def counted(number: int, blocks: Iterator[Block]) -> Iterator[Block]:
            concordant = tied = tp = fp = 0
            for block in blocks:
                right, equal = kernels.ranks.count_pairs(tp, fp, block.tp, block.fp)
                concordant, tied = concordant + right, tied + equal
                tp, fp = block.tp[-1].item(), block.fp[-1].item()
                yield block
            found[number] = concordant, tied, tp, fp
            if None not in found:
                vars(self)[_PAIRS] = all_pairs(found)

        return [counted(number, blocks) for number, blocks in enumerate(ranges)]

    @cached_property
    def _levels(self) -> "Levels":
        blocks = [(self.decode(block.code), block.tp.copy(), block.fp.copy()) for block in self.blocks()]
        threshold, tp, fp = (np.concatenate(column) for column in zip(*blocks, strict=True))
        return Levels(threshold, np.diff(tp, prepend=tp.dtype.type(0)), np.diff(fp, prepend=fp.dtype.type(0)))

    def levels(self) -> "Levels":
        """Return all levels as arrays; MemoryError if they do not fit."""
        return self._levels

    def thresholds(self) -> Array:
        """Return the score of each level."""
        return self.levels().threshold

    def cumulative(self) -> tuple[Array, Array]:
        """Return true and false positives, starting at (0, 0): one more than there are levels."""
        return self.levels().cumulative()

    def remaining(self) -> tuple[Array, Array]:
        """Return false and true negatives, starting with all; weights are summed from below, so that small ones are not
        lost.
        """
        return self.levels().remaining()

    def codes_at(self, level: Array) -> Array:
        """Return the codes of some levels."""
        return encode(self.thresholds()[level]).astype(np.uint64)

    def decode(self, code: Array) -> Array:
        """Return the thresholds of codes."""
        return decode(code, self.dtype)

    def rows(self) -> tuple[Array, Array]:
        """Return scores and signed weights (negative for negatives) that sum exactly to the levels."""
        return self.levels().rows()

    def whole(self, code: Array) -> Sums:
        """Return exact true and false positives at weighted levels, from (0, 0), in units of `_base.exact_sums`."""
        raise NotImplementedError

    def weigh_pairs(self, scale_pos: float, scale_neg: float) -> tuple[float, float, float, float]:
        """Return concordant and tied pairs, positives and negatives of weighted levels, multiplied by a scale."""
        raise NotImplementedError

    def totals(self) -> tuple[float, float]:
        """Return the number of positives and of negatives (sums of weights)."""
        tp = fp = np.zeros(1)
        for block in self.blocks():
            tp, fp = block.tp[-1:].copy(), block.fp[-1:].copy()
        return tp[-1].item(), fp[-1].item()


@dataclass(frozen=True)
class Vertices:
    """Further facts of levels that are steps between points of a longer curve."""

    cumulative: tuple[Array, Array]
    whole: Sums


@dataclass(frozen=True)
class Levels(Ranking):
    """Ranked levels as arrays: thresholds strictly decreasing, every level with a positive count."""

    threshold: Array
    pos: Array
    neg: Array
    vertices: Vertices | None = None

    @property
    def few(self) -> bool:
        return self.threshold.size < kernels.SMALL

    @property
    def weighted(self) -> bool:
        return self.pos.dtype.kind == "f"

    @cached_property
    def _cumulative(self) -> tuple[Array, Array]:
        return self.vertices.cumulative if self.vertices else (running(self.pos), running(self.neg))

    def cumulative(self) -> tuple[Array, Array]:
        return self._cumulative

    def remaining(self) -> tuple[Array, Array]:
        if self.vertices:
            fn, tn = (rounded([axis[-1] - number for number in axis]) for axis in self.vertices.whole)
            return fn, tn
        fn, tn = (running(column[::-1])[::-1] for column in (self.pos, self.neg))
        fn[0], tn[0] = self.totals()
        return fn, tn

    def blocks(self) -> Iterator[Block]:
        return self.blocks_of(np.arange(self.threshold.size, dtype=np.uint64))

    def blocks_of(self, code: Array) -> Iterator[Block]:
        """Yield the levels with other codes."""
        tp, fp = self._cumulative
        steps = (self.pos > 0) + np.uint8(2) * (self.neg > 0) if self.weighted else None
        yield Block(code, tp[1:], fp[1:], steps)

    def codes_at(self, level: Array) -> Array:
        return level

    def decode(self, code: Array) -> Array:
        return self.threshold[code.astype(np.intp)]

    def levels(self) -> "Levels":
        return self

    def rows(self) -> tuple[Array, Array]:
        signed = np.column_stack([self.pos, -self.neg]).ravel()
        return np.repeat(self.threshold, 2)[signed != 0], signed[signed != 0]

    def whole(self, code: Array) -> Sums:
        level = np.concatenate([[0], code.astype(np.intp) + 1])
        if self.vertices:
            index: list[int] = level.tolist()
            tp, fp = ([axis[i] for i in index] for axis in self.vertices.whole)
            return tp, fp
        signed = np.column_stack([-self.neg, self.pos])[::-1].ravel()
        return add_up(whole_sums(signed, signed.size - 2 * level))

    def count_pairs(self) -> tuple[float, float]:
        n_pos, n_neg = self.totals()
        concordant = dot(self.neg, self.cumulative()[0][:-1], n_pos * n_neg)
        return concordant, dot(self.neg, self.pos, n_pos * n_neg) if self.threshold.size < n_pos + n_neg else 0

    def weigh_pairs(self, scale_pos: float, scale_neg: float) -> tuple[float, float, float, float]:
        pos, neg, (tp, fp) = self.pos, self.neg, self._cumulative
        if (scale_pos, scale_neg) != (1, 1):
            pos, neg, tp, fp = pos * scale_pos, neg * scale_neg, tp * scale_pos, fp * scale_neg
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            return (neg * tp[:-1]).sum().item(), (neg * pos).sum().item(), tp[-1].item(), fp[-1].item()

    def totals(self) -> tuple[float, float]:
        # The last running sums, not pairwise ones, so that rounding never leaves a point beyond the total.
        tp, fp = self._cumulative
        return tp[-1].item(), fp[-1].item()


def all_pairs(found: list[tuple[float, float, float, float]]) -> tuple[float, float]:
    """Sum concordant and tied pairs over ranges of decreasing scores, given the positives and negatives of each."""
    concordant = tied = above = 0
    for right, equal, pos, neg in found:
        concordant, tied, above = concordant + right + neg * above, tied + equal, above + pos
    return concordant, tied


def collapse(score: Array, pos: Array, neg: Array) -> Levels:
    """Sum the entries of equal score; `score` is decreasing, and every entry has a positive count."""
    differs = score[1:] != score[:-1]
    if np.count_nonzero(differs) == differs.size:
        return Levels(score, pos, neg)
    starts = np.flatnonzero(np.concatenate(([True], differs)))
    return Levels(score[starts], np.add.reduceat(pos, starts), np.add.reduceat(neg, starts))
