"""BinnedCounts: counts in bins of the score, with bounds on every figure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.exact_sums import dot
from rocscope._base.radix import count_at_least, without_signed_zeros
from rocscope.core.counts import CumulativeCounts, ThresholdCounts
from rocscope.core.levels import Levels, Pairs
from rocscope.core.result import Band, jsonable, number
from rocscope.errors import InexactCountsError, InputError, ScoreError, ShapeError
from rocscope.ranges.bounds import (
    Boxes,
    PairsInBins,
    envelope,
    group_sums,
    product,
    rounded,
    total,
    whole_counts,
    wins_within,
)


@dataclass(frozen=True, eq=False, repr=False)
class BinnedCounts(CumulativeCounts):
    """Numbers of positives and negatives in ranges of the score, and the resulting bounds.

    Parameters
    ----------
    low, high : arrays of k scores
        The smallest and the largest score seen in each bin. Bins are disjoint and in decreasing order:
        ``high[i] >= low[i] > high[i + 1]``.
    pos, neg : arrays of k whole counts
        Bins in which both are 0 are left out.
    wins : pair of arrays of k whole numbers, optional
        Bounds of twice the number of pairs of a positive and a negative of the same bin in which the positive has
        the higher score; a tied pair counts one. Left out: pos·neg where all scores of the bin are equal, otherwise
        from 0 to 2·pos·neg.
    holds_hull : bool
        Whether every vertex of the exact ROC hull is a bin's end, so that hull, Kolmogorov–Smirnov distance and
        choices by cost are exact.

    Raises
    ------
    ShapeError, ScoreError, WeightError
        If lengths differ, bins overlap or are out of order, or counts are not whole numbers of at least 0.

    Notes
    -----
    Where a bin ends the curve is known: ``threshold`` is `low`. Between, whatever the order of the scores in a bin,
    the curve stays in the box between two ends, so `envelope` and `auc_bounds` are guaranteed (Vuk & Curk's A_ROC1 and
    its mirror, bin by bin).

    References
    ----------
    Vuk & Curk 2006, eq. 4.3–4.7.

    Examples
    --------
    >>> binned = BinnedCounts(low=[0.8, 0.5, 0.1], high=[0.9, 0.5, 0.4], pos=[3, 1, 0], neg=[1, 1, 4])
    >>> binned
    BinnedCounts(n_pos=4, n_neg=6, bins=3, auc from 0.8125 to 0.9375)
    >>> binned.tp, binned.fp
    (array([3, 4, 4]), array([1, 2, 6]))
    """

    low: Array
    high: Array
    pos: Array
    neg: Array
    wins: Any = None
    holds_hull: bool = False

    def __post_init__(self) -> None:
        low, high = (check.check_scores(getattr(self, name), name=name) for name in ("low", "high"))
        if low.dtype != high.dtype:
            raise ScoreError("low and high", expected="scores of one type", got=f"{low.dtype} and {high.dtype}")
        check.check_column(high, "high", low.size)
        if (low > high).any() or (high[1:] >= low[:-1]).any():
            got = repr(list(zip(low[:4].tolist(), high[:4].tolist(), strict=True)))
            raise ScoreError("low and high", expected="disjoint bins in decreasing order", got=got)
        pos, neg = (whole_counts(getattr(self, name), name, low.size) for name in ("pos", "neg"))
        check.check_total("pos and neg", pos, neg)
        used = (pos > 0) | (neg > 0)
        if not used.any():
            raise ShapeError("pos and neg", expected="a count above 0", got="only zeros")
        wins = wins_within(self.wins, low, high, pos, neg)
        columns = {"low": without_signed_zeros(low), "high": without_signed_zeros(high), "pos": pos, "neg": neg}
        check.settle(self, **{name: check.read_only(column[used]) for name, column in columns.items()})
        check.settle(self, wins=tuple(check.read_only(bound[used]) for bound in wins))

    @classmethod
    def from_counts(cls, counts: ThresholdCounts) -> "BinnedCounts":
        """Return exact counts as bins with one score each."""
        return cls(counts.threshold, counts.threshold, counts.pos, counts.neg, holds_hull=True)

    @classmethod
    def concatenate(cls, parts: Iterable["BinnedCounts"], *, holds_hull: bool = False) -> "BinnedCounts":
        """Concatenate bins of disjoint score ranges, such as those of a cluster's partitions.

        Parameters
        ----------
        parts : BinnedCounts in any order
        holds_hull : bool
            As of the whole: the hulls of parts do not tell.

        Raises
        ------
        ScoreError
            If two parts overlap.

        Examples
        --------
        >>> a, b = BinnedCounts([1], [2], [3], [4]), BinnedCounts([5], [6], [1], [0])
        >>> BinnedCounts.concatenate([a, b]).low
        array([5, 1])
        """
        given = []
        for part in parts:  # one by one: the first may be none
            if not isinstance(part, BinnedCounts):
                raise InputError("parts", expected="BinnedCounts", got=check.shown(part))
            given.append(part)
        ordered = sorted(given, key=lambda part: part.low[0].item(), reverse=True)
        if not ordered:
            raise ShapeError("parts", expected="at least one", got="none")
        columns = [np.concatenate([getattr(p, name) for p in ordered]) for name in ("low", "high", "pos", "neg")]
        wins = tuple(np.concatenate([part.wins[end] for part in ordered]) for end in (0, 1))
        return cls(*columns, wins=wins, holds_hull=holds_hull)

    @property
    def threshold(self) -> Array:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Thresholds at which the curve is known: the lowest score of each bin."""
        return self.low

    @cached_property
    def attained(self) -> ThresholdCounts:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The ends of the bins as levels: a lower bound of the exact hull."""
        return ThresholdCounts.from_ranking(Levels(self.low, self.pos, self.neg))

    @property
    def best_case(self) -> ThresholdCounts:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Counts whose hull is an upper bound of the exact curve."""
        return self.attained if self.holds_hull else self.optimistic()

    @cached_property
    def cumulative(self) -> tuple[Array, Array]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """True and false positives, starting at (0, 0): one point more than there are bins."""
        tp, fp = Levels(self.low, self.pos, self.neg).cumulative()
        return check.read_only(tp), check.read_only(fp)

    @cached_property
    def right_bounds(self) -> tuple[int, int]:
        """Bounds of twice the concordant plus the tied pairs."""
        self.require_both_classes("AUC")
        most = self._most
        across = 2 * int(dot(self.neg, self.cumulative[0][:-1], most))
        low, high = (across + total(bound, most) for bound in self.wins)
        return low, high

    @cached_property
    def _totals(self) -> tuple[int, int]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.cumulative[0][-1].item(), self.cumulative[1][-1].item()

    @property
    def _most(self) -> int:
        return 2 * int(self.n_pos) * int(self.n_neg)

    @property
    def auc_bounds(self) -> tuple[float, float]:
        """Bounds of the AUC, rounded outwards.

        Examples
        --------
        >>> BinnedCounts([0.5, 0.1], [0.9, 0.4], pos=[3, 1], neg=[1, 3]).auc_bounds
        (0.5625, 0.9375)
        """
        low, high = (Fraction(bound, self._most) for bound in self.right_bounds)
        return rounded(low, -inf), rounded(high, inf)

    @property
    def is_exact_area(self) -> bool:
        """Whether the AUC is known exactly."""
        return self.right_bounds[0] == self.right_bounds[1]

    def auc_fraction(self) -> Fraction:
        """Return the exact AUC, ties counting half.

        Raises
        ------
        InexactCountsError
            If bins leave it open; the message says within which bounds.
        """
        if not self.is_exact_area:
            raise self.inexact("AUC")
        return Fraction(self.right_bounds[0], self._most)

    def pairs(self) -> Pairs:
        """Count the concordant pairs, if bins determine them."""
        if not self.is_exact_area:
            raise self.inexact("AUC")
        right, _ = self.right_bounds
        return PairsInBins(right // 2, right % 2, self._most // 2, self.inexact)

    @cached_property
    def is_exact(self) -> bool:
        """Whether every bin holds one distinct score."""
        return bool((self.low == self.high).all())

    @property
    def holds_levels(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Same as `is_exact`, under the name that all counts share."""
        return self.is_exact

    def require_levels(self, what: str) -> ThresholdCounts:
        """Return the exact counts, or raise InexactCountsError if a bin holds several scores."""
        if not self.is_exact:
            raise self.inexact(what)
        return self.attained

    def on_hull(self, what: str = "ROC hull") -> ThresholdCounts:
        """Return the ends of the bins, if they include all vertices of the hull."""
        return self.attained if self.holds_hull else self.require_levels(what)

    def counts(self) -> ThresholdCounts:
        """Return the exact counts.

        Raises
        ------
        InexactCountsError
            If a bin holds several scores.
        """
        return self.require_levels("counts of every distinct score")

    def inexact(self, what: str) -> InexactCountsError:
        """Return the error that states what is not known exactly, what is known, and what to do."""
        got = f"{len(self)} bins, {int((self.low < self.high).sum())} of several scores"
        if self.n_pos and self.n_neg:
            got += ", AUC from {:.9g} to {:.9g}".format(*self.auc_bounds)
        hint = "use .auc_bounds and .envelope(kind), or count the rows exactly (rocscope.ThresholdCounts)"
        return InexactCountsError(what, expected="one score in each bin", got=got, hint=hint)

    def _cells(self, threshold: float) -> tuple[float, float, float, float]:
        whole, begun = (count_at_least(ends, threshold) for ends in (self.low, self.high))
        if begun > whole:
            above = self.low[whole - 1].item() if whole else inf
            raise InexactCountsError(
                f"threshold {threshold!r}",
                expected="one that splits no bin",
                got=f"one within the scores from {self.low[whole].item()!r} to {self.high[whole].item()!r}",
                hint=f"the nearest known ones are {self.low[whole].item()!r} and {above!r}",
            )
        tp, fp = (axis[whole].item() for axis in self.cumulative)
        return tp, fp, self.n_pos - tp, self.n_neg - fp

    def envelope(self, kind: str = "roc") -> Band:
        """Return guaranteed bounds of the exact curve.

        Parameters
        ----------
        kind : {"roc", "gain", "lift_chart", "lift", "precision_recall", "det"}

        Returns
        -------
        Band
            Of level 1. Straight between its points; where x repeats, the ends jump.

        Raises
        ------
        OneClassError
            If one class is missing.

        Examples
        --------
        >>> band = BinnedCounts([0.5, 0.1], [0.9, 0.4], pos=[3, 1], neg=[1, 3]).envelope("roc")
        >>> band.x
        array([0.  , 0.  , 0.25, 0.25, 0.25, 0.25, 1.  , 1.  ])
        >>> band.high - band.low
        array([0.  , 0.75, 0.75, 0.  , 0.  , 0.25, 0.25, 0.  ])
        """
        self.require_both_classes("envelope")
        tp, fp = self.cumulative
        return envelope(kind, Boxes(tp, fp, self.low == self.high))

    def optimistic(self) -> ThresholdCounts:
        """Return the counts with positives first in each bin: an upper bound of every curve."""
        return self._resolved(positives_first=True)

    def pessimistic(self) -> ThresholdCounts:
        """Return the counts with negatives first in each bin: a lower bound of every curve."""
        return self._resolved(positives_first=False)

    def _resolved(self, *, positives_first: bool) -> ThresholdCounts:
        split = self.low < self.high
        upper = (self.pos, self.pos * 0) if positives_first else (self.pos * 0, self.neg)
        lower = (self.pos - upper[0], self.neg - upper[1])
        threshold = np.column_stack([self.high, self.low])
        pos, neg = (
            np.column_stack([np.where(split, upper[i], 0), np.where(split, lower[i], (self.pos, self.neg)[i])])
            for i in (0, 1)
        )
        used = (pos > 0) | (neg > 0)
        return ThresholdCounts.from_ranking(Levels(threshold[used], pos[used], neg[used]))

    def merge(self, starts: Sequence[int] | Array) -> "BinnedCounts":
        """Return the counts with neighbouring bins merged; the bounds of the AUC are kept.

        Parameters
        ----------
        starts : increasing indices, the first 0
            Which bins begin a new one.

        Examples
        --------
        >>> merged = BinnedCounts([3, 2, 1], [3, 2, 1], pos=[1, 1, 0], neg=[0, 1, 1]).merge([0, 2])
        >>> merged.low, merged.high, merged.pos, merged.auc_bounds
        (array([2, 1]), array([3, 1]), array([2, 0]), (0.875, 0.875))
        """
        first = check.check_column(starts, "starts").astype(np.intp)
        if first[0] != 0 or (np.diff(first) <= 0).any() or first[-1] >= len(self):
            expected = f"increasing indices from 0 to below {len(self)}"
            raise InputError("starts", expected=expected, got=check.listing(first.tolist()))
        group = np.zeros(len(self), np.intp)
        group[first[1:]] = 1
        above = self.cumulative[0][:-1] - self.cumulative[0][first][np.cumsum(group)]
        across = 2 * product(self.neg, above)
        wins = tuple(group_sums(across + bound, first, self._most) for bound in self.wins)
        last = np.append(first[1:], len(self)) - 1
        pos, neg = (np.add.reduceat(column, first) for column in (self.pos, self.neg))
        return BinnedCounts(self.low[last], self.high[first], pos, neg, wins)

    def coarsen(self, most: int) -> "BinnedCounts":
        """Return about `most` bins, evenly along the ROC curve; a larger bin stays alone."""
        if len(self) <= most:
            return self
        step = 6 / max(most, 3)
        tp, fp = self.cumulative
        along = tp / max(self.n_pos, 1) + fp / max(self.n_neg, 1)
        cell = np.floor(along[:-1] / step)
        large = np.diff(along) >= step
        begins = np.concatenate([[True], (np.diff(cell) > 0) | large[1:] | large[:-1]])
        return self.merge(np.flatnonzero(begins))

    def to_dict(self) -> dict[str, Any]:
        """Return the bins, safe for JSON."""
        wins = {"wins_low": self.wins[0], "wins_high": self.wins[1]}
        columns = {name: getattr(self, name) for name in ("low", "high", "pos", "neg", "holds_hull")}
        return jsonable(columns | wins)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        names = ("low", "high", "pos", "neg")
        pairs = [(getattr(self, name), getattr(other, name)) for name in names]
        pairs += zip(self.wins, other.wins, strict=True)
        return self.holds_hull == other.holds_hull and all(np.array_equal(*pair) for pair in pairs)

    __hash__ = None  # type: ignore[assignment]  # arrays inside

    def __repr__(self) -> str:
        return f"BinnedCounts(n_pos={number(self.n_pos)}, n_neg={number(self.n_neg)}, bins={len(self)}{self.area_fact})"

    @property
    def area_fact(self) -> str:
        """The AUC or its bounds, as a line of text; empty if a class is missing."""
        if not (self.n_pos and self.n_neg):
            return ""
        low, high = self.auc_bounds
        found = f", auc={low:.6g}" if self.is_exact_area else f", auc from {low:.9g} to {high:.9g}"
        return found + direction(high)


def direction(auc: float) -> str:
    """Return a hint that lower scores may mean positive; scores are never reversed automatically."""
    return " (below 1/2: do lower scores mean positive?)" if auc < 0.5 else ""
