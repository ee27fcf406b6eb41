"""Rankings: distinct scores in decreasing order, with the number of positives and negatives at each score.

A *level* is a distinct score with its number of positives and its number of negatives. A ranking is made with one sort
of the rows and yields its levels in blocks, highest score first. The AUC or the ROC hull of 10⁸ rows therefore needs no
more memory than the sorted rows. There are three kinds of rankings:

- `Levels`, for few rows or for counts, stores the score and the two counts of each level.
- `SortedKeys`, for many unweighted rows, stores one integer per row that contains the score and the label. Levels are
  computed again in each pass.
- `SortedRows`, for weighted rows, stores one integer and one signed weight per row. Levels are computed again in each
  pass.

`engines.row_buffers` has versions of `SortedKeys` and `SortedRows` on disk. `_base.radix.encode` converts each score to
an integer, its *code*. Codes have the same order as the scores, so scores of all types are sorted as integers.
"""

from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, inf
from typing import Any, cast

import numpy as np

from rocscope import kernels
from rocscope._base import validation as check
from rocscope._base.arrays import Array, Booleans, Ties, dot, in_threads
from rocscope._base.exact_sums import Sums, add_up, condensed, rounded, whole_sums
from rocscope._base.radix import KINDS, KeyPart, decode, encode, sorted_keys, sorted_rows

_PAIRS = "_pairs"


@dataclass(frozen=True)
class Block:
    """Consecutive levels of a ranking.

    Attributes
    ----------
    code : array of k codes
        Code of the score of each level.
    tp, fp : arrays of k counts
        Number of positives and number of negatives with at least this score.
    steps : array of k integers, or None
        Only for weighted rows: 1 if the level has only positives, 2 if it has only negatives, 3 if it has both. `tp`
        and `fp` do not show this, because a small weight is lost when it is added to a large sum.
    """

    code: Array
    tp: Array
    fp: Array
    steps: Array | None = None


@dataclass(frozen=True)
class Pairs:
    """Number of concordant, of tied, and of all pairs of a positive and a negative.

    A pair of weighted rows counts as the product of the two weights. If products would leave the range of floats, all
    three numbers are divided by the same power of two.

    Examples
    --------
    >>> pairs = Pairs(concordant=5, tied=1, total=6)
    >>> pairs.auc(), pairs.auc("lower"), pairs.fraction()
    (0.9166666666666666, 0.8333333333333334, Fraction(11, 12))
    """

    concordant: float
    tied: float
    total: float

    def _doubled(self, ties: Ties) -> tuple[float, float]:
        """Return twice the number of pairs that count for the AUC, and twice the number of all pairs.

        Both are whole numbers, even if a tied pair counts 1/2.
        """
        check.check_choice("ties", ties, ("half", "lower", "upper"))
        credit = {"lower": 0, "half": 1, "upper": 2}[ties]
        return 2 * self.concordant + credit * self.tied, 2 * self.total

    def auc(self, ties: Ties = "half") -> float:
        """Return the share of concordant pairs. A tied pair counts 1/2 ("half"), 0 ("lower") or 1 ("upper")."""
        credited, total = self._doubled(ties)
        return credited / total

    def fraction(self, ties: Ties = "half") -> Fraction:
        """Return the AUC as an exact fraction."""
        credited, total = self._doubled(ties)
        return Fraction(credited) / Fraction(total)


class Ranking:
    """Base class of rankings. Subclasses define `blocks`, which yields the levels, and `dtype`, the type of scores."""

    dtype: np.dtype[Any]

    @property
    def few(self) -> bool:
        """True if there are few levels, which are in memory."""
        return False

    @property
    def weighted(self) -> bool:
        """True if the counts of levels are sums of weights that are not whole numbers."""
        return False

    def blocks(self) -> Iterator[Block]:
        """Yield the levels in blocks. Each block is valid until the next block is requested."""
        raise NotImplementedError

    def ranges(self) -> list[Iterator[Block]]:
        """Return iterators over the blocks of separate ranges of scores, for processing in threads.

        True and false positives are counted within each range, starting at (0, 0).
        """
        return [self.blocks()]

    def count_pairs(self) -> tuple[float, float]:
        """Count the concordant and the tied pairs of a positive and a negative."""
        if _PAIRS not in vars(self):
            in_threads(lambda blocks: deque(blocks, maxlen=0), self.counted_ranges())
        return vars(self)[_PAIRS]

    def counted_ranges(self) -> list[Iterator[Block]]:
        """Return `ranges`. When all of them have been iterated over, the result of `count_pairs` is known too."""
        ranges = self.ranges()
        counts: list[Any] = [None] * len(ranges)

        def counted(number: int, blocks: Iterator[Block]) -> Iterator[Block]:
            concordant = tied = tp = fp = 0
            for block in blocks:
                more_concordant, more_tied = kernels.ranks.count_pairs(tp, fp, block.tp, block.fp)
                concordant += more_concordant
                tied += more_tied
                tp = block.tp[-1].item()
                fp = block.fp[-1].item()
                yield block
            counts[number] = concordant, tied, tp, fp
            # The range that ends last completes the pairs; ranges run in threads and end in any order.
            if None not in counts:
                vars(self)[_PAIRS] = all_pairs(counts)

        return [counted(number, blocks) for number, blocks in enumerate(ranges)]

    @cached_property
    def _levels(self) -> "Levels":
        # A block is valid until the next one: its counts are copied.
        blocks = [(self.decode(block.code), block.tp.copy(), block.fp.copy()) for block in self.blocks()]
        threshold, tp, fp = (np.concatenate(column) for column in zip(*blocks, strict=True))
        return Levels(threshold, np.diff(tp, prepend=tp.dtype.type(0)), np.diff(fp, prepend=fp.dtype.type(0)))

    def levels(self) -> "Levels":
        """Return all levels as arrays. Raise MemoryError if the arrays do not fit in memory."""
        return self._levels

    def thresholds(self) -> Array:
        """Return the score of each level."""
        return self.levels().threshold

    def cumulative(self) -> tuple[Array, Array]:
        """Return true and false positives at each level, after a first point (0, 0)."""
        return self.levels().cumulative()

    def remaining(self) -> tuple[Array, Array]:
        """Return false and true negatives at each level, after a first point with all positives and negatives.

        Weights are summed from the lowest score, so that small weights are not lost in a large sum.
        """
        return self.levels().remaining()

    def codes_at(self, level: Array) -> Array:
        """Return the codes of the levels with the given indices."""
        return encode(self.thresholds()[level]).astype(np.uint64)

    def decode(self, code: Array) -> Array:
        """Return the scores with the given codes."""
        return decode(code, self.dtype)

    def rows(self) -> tuple[Array, Array]:
        """Return scores and signed weights of rows whose exact sums are the counts of the levels.

        The weight of a negative row has a minus sign.
        """
        return self.levels().rows()

    def exact_sums_at(self, code: Array) -> Sums:
        """Return exact true and false positives at weighted levels, after a first point (0, 0).

        They are integers in the unit of `_base.exact_sums`.
        """
        raise NotImplementedError

    def weigh_pairs(self, scale_pos: float, scale_neg: float) -> tuple[float, float, float, float]:
        """Return the weights of concordant pairs, tied pairs, positives and negatives.

        Weights of positives are multiplied by `scale_pos`, weights of negatives by `scale_neg`.
        """
        raise NotImplementedError

    def totals(self) -> tuple[float, float]:
        """Return the number of positives and the number of negatives, or the sums of their weights."""
        tp = fp = np.zeros(1)
        for block in self.blocks():
            tp, fp = block.tp[-1:].copy(), block.fp[-1:].copy()
        return tp[-1].item(), fp[-1].item()


def running_sums(counts: Array) -> Array:
    """Return the cumulative sums of counts, starting at 0. Sums of float weights are corrected for rounding errors.

    Each sum is correct except for its last digit, and the sums never decrease.

    Examples
    --------
    >>> running_sums(np.array([1e17, 1.0, 15.0])).tolist()
    [0.0, 1e+17, 1e+17, 1.0000000000000002e+17]
    """
    sums = np.zeros(counts.size + 1, counts.dtype)
    if counts.dtype.kind == "f" and counts.size >= kernels.SMALL:
        kernels.weights.running(counts, sums[1:])
        return sums
    counts.cumsum(out=sums[1:])
    if counts.dtype.kind == "f":
        before, after = sums[:-1], sums[1:]
        part = after - before
        rest = before - (after - part)
        rest += counts - part
        after += np.cumsum(rest)
    return sums


def unsigned_zeros(scores: Array) -> Array:
    """Replace -0.0 by 0.0 in scores."""
    return scores + scores.dtype.type(0) if scores.dtype.kind == "f" else scores


def count_at_least(threshold: Array, cut: float) -> int:
    """Count the levels with a score of at least `cut`. `cut` is not rounded to the type of the scores."""
    dtype = threshold.dtype
    if dtype.kind == "f":
        lowest, highest = float(np.finfo(dtype).min), float(np.finfo(dtype).max)
    else:
        lowest, highest = np.iinfo(dtype).min, np.iinfo(dtype).max
    if cut > highest:
        return 0
    if cut <= lowest:
        return threshold.size
    below = cast(int, np.searchsorted(threshold[::-1], least_from(cut, dtype), side="left"))
    return threshold.size - int(below)


def least_from(cut: float, dtype: np.dtype[Any]) -> Any:
    """Return the smallest value of a type that is at least `cut`. `cut` must be within the range of the type."""
    smallest = dtype.type(cut if dtype.kind == "f" else ceil(cut))
    if smallest.item() < cut:
        with np.errstate(under="ignore"):  # the number after 0 is meant to be tiny
            smallest = np.nextafter(smallest, dtype.type(inf))
    return smallest


@dataclass(frozen=True)
class Vertices:
    """True and false positives of levels that are the steps between selected points of a longer curve."""

    cumulative: tuple[Array, Array]
    exact_sums: Sums


@dataclass(frozen=True)
class Levels(Ranking):
    """Ranking whose levels are stored as arrays. Scores strictly decrease, and each level has a count above 0."""

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
        return self.vertices.cumulative if self.vertices else (running_sums(self.pos), running_sums(self.neg))

    def cumulative(self) -> tuple[Array, Array]:
        return self._cumulative

    def remaining(self) -> tuple[Array, Array]:
        if self.vertices:
            tp, fp = self.vertices.exact_sums
            return rounded([tp[-1] - count for count in tp]), rounded([fp[-1] - count for count in fp])
        # Summed from below: total minus sum would lose the small weights at low scores.
        fn = running_sums(self.pos[::-1])[::-1]
        tn = running_sums(self.neg[::-1])[::-1]
        fn[0], tn[0] = self.totals()
        return fn, tn

    def blocks(self) -> Iterator[Block]:
        return self.blocks_of(np.arange(self.threshold.size, dtype=np.uint64))

    def blocks_of(self, code: Array) -> Iterator[Block]:
        """Yield all levels in one block with the given codes."""
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

    def exact_sums_at(self, code: Array) -> Sums:
        level = np.concatenate([[0], code.astype(np.intp) + 1])
        if self.vertices:
            tp, fp = self.vertices.exact_sums
            return [tp[i] for i in level], [fp[i] for i in level]
        signed = np.column_stack([-self.neg, self.pos])[::-1].ravel()
        return add_up(whole_sums(signed, signed.size - 2 * level))

    def count_pairs(self) -> tuple[float, float]:
        n_pos, n_neg = self.totals()
        pairs = n_pos * n_neg
        if self.threshold.size == n_pos + n_neg:
            # Every level holds one row, and no pair is tied. The i-th positive, from 0, at place p has p - i negatives
            # above it.
            places = (self.pos > 0).nonzero()[0]
            return pairs + n_pos * (n_pos - 1) // 2 - places.sum().item(), 0
        tied = dot(self.neg, self.pos, pairs)
        return dot(self.neg, self.pos.cumsum(), pairs) - tied, tied

    def weigh_pairs(self, scale_pos: float, scale_neg: float) -> tuple[float, float, float, float]:
        pos, neg, (tp, fp) = self.pos, self.neg, self._cumulative
        if (scale_pos, scale_neg) != (1, 1):
            pos, neg, tp, fp = pos * scale_pos, neg * scale_neg, tp * scale_pos, fp * scale_neg
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            return (neg * tp[:-1]).sum().item(), (neg * pos).sum().item(), tp[-1].item(), fp[-1].item()

    def totals(self) -> tuple[float, float]:
        return self._totals

    @cached_property
    def _totals(self) -> tuple[float, float]:
        if not self.weighted:
            return np.add.reduce(self.pos).item(), np.add.reduce(self.neg).item()
        # The last running sums, not pairwise ones, so that rounding never leaves a point beyond the total.
        tp, fp = self._cumulative
        return tp[-1].item(), fp[-1].item()


def all_pairs(ranges: list[tuple[float, float, float, float]]) -> tuple[float, float]:
    """Count the concordant and the tied pairs within and across ranges of scores.

    Ranges are in decreasing order of scores. The four numbers of each range are concordant pairs, tied pairs, positives
    and negatives within the range.
    """
    concordant = tied = positives_above = 0
    for concordant_within, tied_within, pos, neg in ranges:
        concordant += concordant_within + neg * positives_above
        tied += tied_within
        positives_above += pos
    return concordant, tied


def collapse(score: Array, pos: Array, neg: Array) -> Levels:
    """Return levels by adding the counts of equal scores. `score` is decreasing, and each entry has a count above 0."""
    differs = score[1:] != score[:-1]
    if np.count_nonzero(differs) == differs.size:
        return Levels(score, pos, neg)
    starts = np.flatnonzero(np.concatenate(([True], differs)))
    return Levels(score[starts], np.add.reduceat(pos, starts), np.add.reduceat(neg, starts))


# Rows a level. The exact sum of a level is written as about two floats a class, so that more rows than this are
# replaced by those floats.
_CROWDED = 4


class WeightedRows(Ranking):
    """Base class of rankings of weighted rows, with sorted codes of scores and signed weights.

    The weight of a negative row has a minus sign.
    """

    def parts_of_rows(self) -> Iterator[tuple[Array, Array]]:
        """Yield the codes and signed weights of separate ranges of scores.

        Ranges are in decreasing order. Codes within a range are in increasing order. Equal scores are in one range.
        """
        raise NotImplementedError

    def blocks(self) -> Iterator[Block]:
        sums: Any = None
        for codes, signed in self.parts_of_rows():
            sums = np.zeros(4, signed.dtype) if sums is None else sums
            yield from _scan(codes, signed, sums)

    @cached_property
    def _level_sums(self) -> list[Array]:
        """Code, sum of weights of positives and sum of weights of negatives of each level."""
        parts = [_sum_rows(codes, signed) for codes, signed in self.parts_of_rows()]
        if len(parts) == 1:
            return list(parts[0])
        return [np.concatenate(column) for column in zip(*parts, strict=True)]

    @cached_property
    def _levels(self) -> Levels:
        code, pos, neg = self._level_sums
        return Levels(self.decode(code), pos, neg)

    def rows(self) -> tuple[Array, Array]:
        codes, signed = (np.concatenate(column) for column in zip(*self.parts_of_rows(), strict=True))
        code, _, _ = self._level_sums
        if signed.size > _CROWDED * code.size:
            level, signed = condensed(self.exact_sums_at(code))
            codes = code[level]
        return self.decode(codes), signed

    def exact_sums_at(self, code: Array) -> Sums:
        return add_up(self._whole_between(code))

    def _whole_between(self, code: Array) -> Iterator[tuple[int, int]]:
        """Yield the exact sums of weights of positives and of negatives between consecutive codes."""
        # Sums of the rows since the last code: a stretch between two codes may run over several parts.
        pos_since = neg_since = 0
        for codes, signed in self.parts_of_rows():
            # Codes decrease, those of a part increase: the first `inside` ones lie in this part.
            inside = code.size - int(np.searchsorted(code[::-1], codes[:1])[0])
            ends = np.concatenate([[codes.size], codes.searchsorted(code[:inside]), [0]])
            code = code[inside:]
            *sums, rest = whole_sums(signed, ends)
            for pos, neg in sums:
                yield pos_since + pos, neg_since + neg
                pos_since = neg_since = 0
            pos_since += rest[0]
            neg_since += rest[1]

    @cached_property
    def _unscaled_pairs(self) -> tuple[float, float, float, float]:
        return self._scaled_pairs(1.0, 1.0)

    def weigh_pairs(self, scale_pos: float, scale_neg: float) -> tuple[float, float, float, float]:
        return self._unscaled_pairs if scale_pos == scale_neg == 1 else self._scaled_pairs(scale_pos, scale_neg)

    def _scaled_pairs(self, scale_pos: float, scale_neg: float) -> tuple[float, float, float, float]:
        sums = np.zeros((4, 2))
        for codes, signed in self.parts_of_rows():
            kernels.weights.count_pairs(codes, signed, scale_pos, scale_neg, sums)
        concordant, tied, n_pos, n_neg = sums.sum(axis=1).tolist()
        return concordant, tied, n_pos, n_neg

    def totals(self) -> tuple[float, float]:
        return self._unscaled_pairs[2:] if self.weighted else super().totals()


@dataclass(frozen=True)
class SortedRows(WeightedRows):
    """Ranking of weighted rows in memory."""

    codes: Array
    signed: Array
    dtype: np.dtype[Any]

    def parts_of_rows(self) -> Iterator[tuple[Array, Array]]:
        yield self.codes, self.signed

    @property
    def weighted(self) -> bool:
        return self.signed.dtype.kind == "f"

    @property
    def few(self) -> bool:
        return self.codes.size < kernels.SMALL

    def blocks(self) -> Iterator[Block]:
        return self._levels.blocks_of(self._level_sums[0]) if self.few else super().blocks()

    @cached_property
    def _points(self) -> tuple[Array, Array, Array]:
        """Scores of all levels, and the true and false positives after a first point (0, 0)."""
        size = self.codes.size
        kind = self.signed.dtype
        code = np.empty(size, np.uint64)
        tp = np.zeros(size + 1, kind)
        fp = np.zeros(size + 1, kind)
        steps = np.empty(size, np.uint8)
        start = np.zeros(4, kind)
        levels, _ = kernels.weights.scan(self.codes, self.signed, size - 1, start, code, tp[1:], fp[1:], steps)
        return self.decode(code[:levels]), tp[: levels + 1], fp[: levels + 1]

    def thresholds(self) -> Array:
        return super().thresholds() if self.few else self._points[0]

    def cumulative(self) -> tuple[Array, Array]:
        return super().cumulative() if self.few else self._points[1:]

    def _scaled_pairs(self, scale_pos: float, scale_neg: float) -> tuple[float, float, float, float]:
        return (
            self._levels.weigh_pairs(scale_pos, scale_neg) if self.few else super()._scaled_pairs(scale_pos, scale_neg)
        )


def rank_weighted(positive: Booleans, scores: Array, weight: Array) -> SortedRows:
    """Rank rows with positive weights."""
    if scores.size < kernels.SMALL:
        codes = encode(scores)
        order = np.argsort(codes)
        signed = np.where(positive, weight, -weight)
        return SortedRows(codes[order].astype(np.uint64), signed[order], scores.dtype)
    return SortedRows(*sorted_rows(positive, scores, weight, KINDS[scores.dtype.kind]), scores.dtype)


def _sum_rows(codes: Array, signed: Array) -> tuple[Array, Array, Array]:
    """Return code, sum of positive weights and sum of negative weights of each level, in decreasing order of scores."""
    if codes.size >= kernels.SMALL:
        code, pos, neg = np.empty_like(codes), np.empty_like(signed), np.empty_like(signed)
        size = kernels.weights.sum_rows(codes, signed, code, pos, neg)
        return code[:size], pos[:size], neg[:size]
    codes, signed = codes[::-1], signed[::-1]
    pos, neg = np.maximum(signed, 0), np.maximum(-signed, 0)
    starts = np.flatnonzero(np.concatenate(([True], codes[1:] != codes[:-1])))
    if starts.size == codes.size:
        return codes, pos, neg
    return codes[starts], sums_from(pos, starts), sums_from(neg, starts)


def sums_from(weights: Array, starts: Array) -> Array:
    """Return the sum of the weights from each index in `starts` up to the next index in `starts`.

    Each float weight is split into a large and a small part. Sums of the large parts are exact. Only sums of the small
    parts are rounded.
    """
    if weights.dtype.kind != "f":
        return np.add.reduceat(weights, starts)
    # Adding a power of two above the total, and subtracting it, leaves the upper bits of each weight (Dekker 1971,
    # Numer. Math. 18). All upper parts are multiples of one unit, so their sums are exact. Sums of the lower
    # parts have much smaller rounding errors.
    power = 2.0 ** min(np.frexp(weights.sum())[1] + 1, 1023)
    upper = (weights + power) - power
    return np.add.reduceat(upper, starts) + np.add.reduceat(weights - upper, starts)


def _scan(codes: Array, signed: Array, sums: Array) -> Iterator[Block]:
    """Yield the levels of sorted rows in blocks. `sums` has the true and false positives of all higher scores."""
    code = np.empty(_BLOCK, codes.dtype)
    tp = np.empty(_BLOCK, signed.dtype)
    fp = np.empty(_BLOCK, signed.dtype)
    steps = np.empty(_BLOCK, np.uint8)
    last = codes.size - 1
    while last >= 0:
        levels, last = kernels.weights.scan(codes, signed, last, sums, code, tp, fp, steps)
        yield Block(code[:levels], tp[:levels], fp[:levels], steps[:levels])


# Levels of a block: 400 kB of codes and counts, which a second-level cache holds.
_BLOCK = 16_384


@dataclass(frozen=True)
class SortedKeys(Ranking):
    """Ranking of unweighted rows, stored as sorted integers (*keys*) that contain the code of the score and the label.

    `parts` are the keys of separate ranges of scores, in decreasing order.
    """

    parts: tuple[KeyPart, ...]
    dtype: np.dtype[Any]
    n_pos: int

    def totals(self) -> tuple[float, float]:
        return self.n_pos, sum(part.size for part in self.parts) - self.n_pos

    def ranges(self) -> list[Iterator[Block]]:
        """Return an iterator over the blocks of each part. Counts of each part start at (0, 0)."""
        return [SortedKeys((part,), self.dtype, 0).blocks() for part in self.parts]

    def blocks(self) -> Iterator[Block]:
        return scan_parts(((part.load(), part.high_bit) for part in self.parts), np.dtype(f"u{self.dtype.itemsize}"))

    # The keys count their pairs as they are sorted, in a pass of their own that makes no levels.
    def counted_ranges(self) -> list[Iterator[Block]]:
        return self.ranges()

    def count_pairs(self) -> tuple[float, float]:
        return self._pairs

    @cached_property
    def _pairs(self) -> tuple[float, float]:
        return all_pairs(in_threads(lambda part: part.pairs, self.parts))

    @cached_property
    def _points(self) -> tuple[Array, Array, Array]:
        """Scores of all levels, and the true and false positives after a first point (0, 0)."""
        # A first pass counts levels, positives and rows of each part; their running sums say where each part writes.
        sizes = in_threads(lambda part: kernels.ranks.count_levels(part.load()), self.parts)
        ends = np.cumsum([(0, 0, 0), *sizes], axis=0).tolist()
        levels, _, _ = ends[-1]
        code = np.empty(levels, f"u{self.dtype.itemsize}")
        tp = np.zeros(levels + 1, np.int64)
        fp = np.zeros(levels + 1, np.int64)

        def scan(number: int) -> None:
            begin, positives, rows = ends[number]
            end, _, _ = ends[number + 1]
            keys = self.parts[number].load()
            own = slice(begin + 1, end + 1)
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
    """Return the parts of two sorted halves in decreasing order of scores.

    `upper` has the keys with a highest bit of 1, which is not stored in the keys. `lower` has all other keys.
    """
    width = np.dtype(f"u{dtype.itemsize}").type
    high_bit = width(1 << (dtype.itemsize * 8 - 1))
    high = [replace(part, high_bit=high_bit) for part in reversed(upper)]
    low = [replace(part, high_bit=width(0)) for part in reversed(lower)]
    return (*high, *low)


def scan_parts(
    parts: Iterable[tuple[Array, Any]], width: np.dtype[Any], positives: int = 0, rows: int = 0
) -> Generator[Block, None, tuple[int, int]]:
    """Yield the levels of several parts in blocks, and return the final numbers of positives and of rows.

    A part is a pair of sorted keys and their highest bit. `positives` and `rows` are the numbers at higher scores.
    Blocks depend only on the levels, not on the division into parts.
    """
    code = np.empty(_BLOCK, width)
    tp = np.empty(_BLOCK, np.int64)
    fp = np.empty(_BLOCK, np.int64)
    filled = 0
    for keys, high_bit in parts:
        last = keys.size - 1
        while last >= 0:
            free = slice(filled, _BLOCK)
            levels, last, positives, rows = kernels.ranks.scan(
                keys, last, positives, rows, code[free], tp[free], fp[free]
            )
            code[filled : filled + levels] |= high_bit
            filled += levels
            if filled == _BLOCK:
                yield Block(code, tp, fp)
                filled = 0
    if filled:
        yield Block(code[:filled], tp[:filled], fp[:filled])
    return positives, rows


def rank(positive: Booleans, scores: Array, weight: Array | None = None) -> Ranking:
    """Rank labels and scores that have been checked. Rows with weight 0 are dropped."""
    if weight is not None and not weight.all():
        # Taken by number: several times as fast as by a mask of True and False in random order.
        kept = np.flatnonzero(weight > 0)
        threads = None if kept.size >= kernels.SMALL else 1
        positive, scores, weight = in_threads(lambda column: column[kept], (positive, scores, weight), threads)
    few = kernels.few(scores.size)
    if weight is not None and not (few and weight.dtype.kind == "i"):
        return rank_weighted(positive, scores, weight)
    if few:
        return _rank_few(positive, scores, weight)
    halves = sorted_keys(positive, scores, KINDS[scores.dtype.kind])
    return SortedKeys(key_parts(*halves, scores.dtype), scores.dtype, int(np.count_nonzero(positive)))


def _rank_few(positive: Booleans, scores: Array, weight: Array | None) -> Levels:
    if weight is None and not np.count_nonzero(scores.view(f"i{scores.itemsize}") < 0):
        # No score has its highest bit set: the bits order as the scores do, and shifted they leave room for the label.
        # Sorting integers takes a third of the time of sorting indices. Inverted bits are sorted in decreasing order.
        keys = scores.view(f"u{scores.itemsize}") << 1
        keys |= positive
        np.invert(keys, out=keys)
        keys.sort()
        neg = (keys & 1).astype(np.int64)
        np.invert(keys, out=keys)
        return collapse((keys >> 1).view(scores.dtype), 1 - neg, neg)
    scores = unsigned_zeros(scores)
    order = np.argsort(scores)[::-1]
    if weight is None:
        pos = positive[order].astype(np.int64)
        return collapse(scores[order], pos, 1 - pos)
    pos = positive[order] * weight[order]
    return collapse(scores[order], pos, weight[order] - pos)
