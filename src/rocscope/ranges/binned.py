"""BinnedCounts: numbers of positives and negatives in bins of the score, with bounds on curves and on the AUC.

A curve is known exactly only at the edges of the bins. Between two edges, bounds on the curve are known (`envelope`).
Bounds on the AUC are computed from numbers of concordant pairs, which are exact integers.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf, nextafter
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from rocscope import metrics
from rocscope._base import validation as check
from rocscope._base.arrays import Array, Ties, dot
from rocscope._base.contract import made_by_contract
from rocscope._base.formatting import direction
from rocscope.core import Band, CumulativeCounts, Levels, ThresholdCounts, jsonable, number
from rocscope.core.ranking import Pairs, count_at_least, unsigned_zeros
from rocscope.errors import InexactCountsError, InputError, ScoreError, ShapeError, WeightError

_INT64_MAX = 2**63 - 1  # larger products and sums use Python integers


@dataclass(frozen=True)
class PairsInBins(Pairs):
    """Numbers of concordant and tied pairs of binned counts, for which only the AUC with half ties is known.

    Attributes
    ----------
    inexact : function of str
        Function that returns the error for an unknown AUC; its argument describes the AUC.
    """

    inexact: Callable[[str], InexactCountsError]

    def _doubled(self, ties: Ties) -> tuple[float, float]:
        if ties in ("lower", "upper"):
            raise self.inexact(f"AUC with ties={ties!r}")
        return super()._doubled(ties)


def whole_counts(values: Any, name: str, n: int) -> Array:
    """Return an array of n counts after checking that they are whole numbers of at least 0."""
    counts = check.check_column(values, name, n)
    if counts.dtype.kind not in "iu" or (counts < 0).any():
        got = repr(counts[:5].tolist())
        raise WeightError(name, expected="whole numbers of at least 0", got=got, hint="omit the weights")
    return counts.astype(np.int64)


def wins_within(wins: Any, low: Array, high: Array, pos: Array, neg: Array) -> tuple[Array, Array]:
    """Return the lower and upper bounds of `BinnedCounts.wins` for each bin.

    Parameters
    ----------
    wins : pair of arrays of k, or None
        Bounds passed by the user, which are checked. None computes the widest possible bounds.
    low, high : arrays of k
        The lowest and the highest score in each bin.
    pos, neg : arrays of k
        Numbers of positives and negatives in each bin.
    """
    pairs = product(pos, neg)
    single = low == high
    least, most = np.where(single, pairs, 0), np.where(single, pairs, 2 * pairs)
    if wins is None:
        return least, most
    if not (isinstance(wins, tuple | list) and len(cast(Sequence[Any], wins)) == 2):
        raise ShapeError("wins", expected="a pair of arrays: lower bounds and upper bounds", got=check.shown(wins))
    given = [_wide(check.check_column(bound, "wins", low.size)) for bound in cast(Sequence[Any], wins)]
    wrong = (given[0] > given[1]) | (given[0] > most) | (given[1] < least)
    wrong |= (given[0] < 0) | (given[1] > 2 * pairs)
    if wrong.any():
        first = int(wrong.argmax())
        expected = f"increasing bounds within {least[first]} to {most[first]} in bin {first}"
        raise WeightError("wins", expected=expected, got=f"{given[0][first]} to {given[1][first]}")
    return np.maximum(given[0], least), np.minimum(given[1], most)


def _wide(bound: Array) -> Array:
    if bound.dtype.kind not in "iuO":
        raise WeightError("wins", expected="whole numbers", got=f"values of type {bound.dtype}")
    return bound if bound.dtype.kind == "O" else bound.astype(np.int64)


def product(a: Array, b: Array) -> Array:
    """Return the products of two arrays of counts. If twice a product would overflow 64 bits, use Python integers."""
    if int(a.max()) * int(b.max()) > _INT64_MAX // 4:
        return a.astype(object) * b.astype(object)
    return a * b


def group_sums(values: Array, starts: Array, most: int) -> Array:
    """Sum numbers of pairs over groups of neighbouring bins.

    Parameters
    ----------
    values : array of k
        Number of pairs of each bin.
    starts : array
        Index of the first bin of each group.
    most : int
        Upper bound on each sum, from which the type of the sums is chosen.
    """
    return np.add.reduceat(values.astype(object) if most > _INT64_MAX else values, starts)


def total(values: Array, most: int) -> int:
    """Return the sum of numbers of pairs. `most` is an upper bound on the sum."""
    return sum(values.tolist()) if most > _INT64_MAX else int(values.sum())


class Bounds(NamedTuple):
    """Lower and upper bound on a metric. They are equal if the metric is known exactly.

    Parameters
    ----------
    low, high : float
        Lower and upper bound.
    """

    low: float
    high: float


def rounded(exact: Fraction, towards: float) -> float:
    """Round a fraction to a float in the direction of `towards`, which is −∞ or ∞."""
    value = float(exact)
    wrong = value > exact if towards < 0 else value < exact
    return nextafter(value, towards) if wrong else value


TpFp = tuple[Array, Array]


@dataclass(frozen=True)
class Boxes:
    """Known points of a curve. Between two neighbouring points, the curve lies in the box that they span.

    Attributes
    ----------
    tp, fp : arrays of k + 1
        Numbers of true and false positives at the known points, starting with 0 and 0.
    straight : array of k bool
        True if the curve is a straight line between the two points, because the bin has only one score.
    """

    tp: Array
    fp: Array
    straight: Array


@dataclass(frozen=True)
class _View:
    """A kind of curve.

    Attributes
    ----------
    across : {"fp", "tp", "depth"}
        The number that determines x.
    x, y : functions of (tp, fp, fn, tn)
        Functions that compute the coordinates.
    falls : bool
        True if y decreases with the number of true positives.
    bent : bool
        True if a straight line in (fp, tp) becomes a curved line in (x, y).
    """

    across: Literal["fp", "tp", "depth"]
    x: Callable[..., Any]
    y: Callable[..., Any]
    falls: bool = False
    bent: bool = False


def _true_positives(tp: Array, fp: Array, fn: Array, tn: Array) -> Array:
    return tp + 0 * (fp + fn + tn)


_VIEWS = {
    "roc": _View("fp", metrics.fpr, metrics.tpr),
    "det": _View("fp", metrics.fpr, metrics.fnr, falls=True),
    "gain": _View("depth", metrics.depth, metrics.tpr),
    "lift_chart": _View("depth", metrics.depth, _true_positives),
    "lift": _View("depth", metrics.depth, metrics.lift, bent=True),
    "precision_recall": _View("tp", metrics.tpr, metrics.precision, bent=True),
}
CURVES = tuple(_VIEWS)


def envelope(curve: str, boxes: Boxes) -> Band:
    """Return lower and upper bounds on a curve. The points of the bounds are joined by straight lines.

    Parameters
    ----------
    curve : {"roc", "gain", "lift_chart", "lift", "precision_recall", "det"}
        Kind of curve.
    boxes : Boxes
        Known points of the curve.

    Notes
    -----
    Between two known points, the lower bound follows one pair of edges of the box, and the upper bound the other pair.
    For lift and precision–recall curves, y is a quotient. It is monotone along an edge of the box, but not linear.
    Therefore the lower bound uses the smaller y of the two ends of the edge, and the upper bound the larger one.
    """
    view = _VIEWS[check.check_choice("curve", curve, CURVES)]
    lowest, highest = _PATHS[view.across](boxes)
    low, high = (_values(view, boxes, path)[1] for path in (lowest, highest))
    if view.falls:
        low, high = high, low
    x = _values(view, boxes, lowest)[0]
    if view.bent:
        x, low, high = _stepped(x, low, high, boxes.straight)
    return Band(x.ravel(), low.ravel(), high.ravel(), level=1, method="guaranteed envelope", simultaneous=True)


def _values(view: _View, boxes: Boxes, path: TpFp) -> TpFp:
    tp, fp = path
    cells = (tp, fp, boxes.tp[-1] - tp, boxes.fp[-1] - fp)
    return view.x(*cells), view.y(*cells)


def _ends(counts: Array) -> tuple[Array, Array]:
    return counts[:-1], counts[1:]


def _columns(*columns: Array) -> Array:
    return np.column_stack(columns)


def _across_fp(boxes: Boxes) -> tuple[TpFp, TpFp]:
    (tp, more_tp), (fp, more_fp) = _ends(boxes.tp), _ends(boxes.fp)
    x = _columns(fp, fp, more_fp, more_fp)
    low, high = _columns(tp, tp, tp, more_tp), _columns(tp, more_tp, more_tp, more_tp)
    return _tied((low, x), (high, x), boxes)


def _across_tp(boxes: Boxes) -> tuple[TpFp, TpFp]:
    (tp, more_tp), (fp, more_fp) = _ends(boxes.tp), _ends(boxes.fp)
    x = _columns(tp, tp, more_tp, more_tp)
    low, high = _columns(fp, more_fp, more_fp, more_fp), _columns(fp, fp, fp, more_fp)
    return _tied((x, low), (x, high), boxes)


def _across_depth(boxes: Boxes) -> tuple[TpFp, TpFp]:
    (tp, more_tp), (fp, more_fp) = _ends(boxes.tp), _ends(boxes.fp)
    pos, neg = more_tp - tp, more_fp - fp
    start = (tp + fp)[:, None]
    depth = start + _columns(pos * 0, np.minimum(pos, neg), np.maximum(pos, neg), pos + neg)
    low = np.maximum(tp[:, None], depth - more_fp[:, None])
    high = np.minimum(more_tp[:, None], depth - fp[:, None])
    return _tied((low, depth - low), (high, depth - high), boxes)


def _tied(lowest: TpFp, highest: TpFp, boxes: Boxes) -> tuple[TpFp, TpFp]:
    """Make both bounds straight lines in boxes where the curve is a straight line."""
    rows = boxes.straight
    for counts, known in ((lowest[0], boxes.tp), (lowest[1], boxes.fp), (highest[0], boxes.tp), (highest[1], boxes.fp)):
        before, after = _ends(known)
        counts[rows] = _columns(before, before, after, after)[rows]
    return lowest, highest


_PATHS = {"fp": _across_fp, "tp": _across_tp, "depth": _across_depth}


def _stepped(x: Array, low: Array, high: Array, straight: Array) -> tuple[Array, Array, Array]:
    """Replace lines between points by horizontal steps: at the smaller y for `low`, at the larger y for `high`."""
    left, right = x[:, :-1], x[:, 1:]
    stepped = [np.stack([left, right], axis=2).reshape(len(x), -1)]
    for values, worse in ((low, np.fmin), (high, np.fmax)):
        ends = (values[:, :-1], values[:, 1:])
        both = worse(*ends)
        pieces = [np.where(straight[:, None], end, both) for end in ends]
        stepped.append(np.stack(pieces, axis=2).reshape(len(x), -1))
    return stepped[0], stepped[1], stepped[2]


@made_by_contract
@dataclass(frozen=True, eq=False, repr=False)
class BinnedCounts(CumulativeCounts):
    """Numbers of positives and negatives in bins of the score, with bounds on curves and on the AUC.

    Parameters
    ----------
    low, high : arrays of k scores
        The lowest and the highest score in each bin. Bins are disjoint and in decreasing order:
        ``high[i] >= low[i] > high[i + 1]``.
    pos, neg : arrays of k int
        Numbers of positives and negatives in each bin. Empty bins are removed.
    wins : pair of arrays of k int, optional
        Lower and upper bounds on the concordant pairs within each bin. A pair of a positive and a negative counts 2 if
        the positive has the higher score, and 1 if both scores are equal. By default, both bounds are pos·neg if the
        bin has only one score; otherwise the bounds are 0 and 2·pos·neg.
    holds_hull : bool
        True if each vertex of the exact ROC hull is the lower end of a bin. The hull, the Kolmogorov–Smirnov distance
        and the threshold with the lowest cost are then exact.

    Raises
    ------
    ShapeError
        If the arrays differ in length, or if all counts are 0.
    ScoreError
        If bins overlap, or if they are not in decreasing order.
    WeightError
        If counts are not whole numbers of at least 0, or if `wins` does not agree with the counts.

    Notes
    -----
    The ROC curve is known exactly at the lower end of each bin, and these ends are the thresholds. Within a bin, the
    curve lies in the box between two known points, for any order of the scores. Therefore `envelope` and `auc_bounds`
    return bounds that always hold (Vuk & Curk's A_ROC1 and its mirror image, computed in each bin).

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
            raise ScoreError("low and high", expected="scores of the same type", got=f"{low.dtype} and {high.dtype}")
        check.check_column(high, "high", low.size)
        if (low > high).any() or (high[1:] >= low[:-1]).any():
            got = repr(list(zip(low[:4].tolist(), high[:4].tolist(), strict=True)))
            raise ScoreError("low and high", expected="disjoint bins in decreasing order", got=got)
        pos, neg = (whole_counts(getattr(self, name), name, low.size) for name in ("pos", "neg"))
        check.check_total("pos and neg", pos, neg)
        used = (pos > 0) | (neg > 0)
        if not used.any():
            raise ShapeError("pos and neg", expected="at least one count above 0", got="only zeros")
        wins = wins_within(self.wins, low, high, pos, neg)
        columns = {"low": unsigned_zeros(low), "high": unsigned_zeros(high), "pos": pos, "neg": neg}
        check.set_fields(self, **{name: check.read_only(column[used]) for name, column in columns.items()})
        check.set_fields(self, wins=tuple(check.read_only(bound[used]) for bound in wins))

    @classmethod
    def from_counts(cls, counts: ThresholdCounts) -> "BinnedCounts":
        """Return BinnedCounts with one bin for each distinct score of exact counts.

        Parameters
        ----------
        counts : ThresholdCounts
            Numbers of positives and negatives at each score.

        Examples
        --------
        >>> from rocscope import ThresholdCounts
        >>> BinnedCounts.from_counts(ThresholdCounts([0.9, 0.6, 0.1], [1, 1, 0], [0, 1, 1])).low
        array([0.9, 0.6, 0.1])
        """
        made = cls(counts.threshold, counts.threshold, counts.pos, counts.neg, holds_hull=True)
        return made.as_sums(counts.weights, counts.dependent)

    @classmethod
    def concatenate(cls, parts: Iterable["BinnedCounts"], *, holds_hull: bool = False) -> "BinnedCounts":
        """Concatenate bins from disjoint ranges of the score, such as the partitions of a computer cluster.

        Parameters
        ----------
        parts : sequence of BinnedCounts
            Bins to concatenate, in any order.
        holds_hull : bool
            True if each vertex of the hull of all parts together is the lower end of a bin. This is not implied by the
            `holds_hull` of the parts.

        Raises
        ------
        ScoreError
            If the ranges of two parts overlap.

        Examples
        --------
        >>> a, b = BinnedCounts([1], [2], [3], [4]), BinnedCounts([5], [6], [1], [0])
        >>> BinnedCounts.concatenate([a, b]).low
        array([5, 1])
        """
        given = []
        for part in parts:  # one by one, because there may be no part
            if not isinstance(part, BinnedCounts):
                raise InputError("parts", expected="BinnedCounts", got=check.shown(part))
            given.append(part)
        ordered = sorted(given, key=lambda part: part.low[0].item(), reverse=True)
        if not ordered:
            raise ShapeError("parts", expected="at least one part", got="0 parts")
        columns = [np.concatenate([getattr(p, name) for p in ordered]) for name in ("low", "high", "pos", "neg")]
        wins = tuple(np.concatenate([part.wins[end] for part in ordered]) for end in (0, 1))
        made = cls(*columns, wins=wins, holds_hull=holds_hull)
        return made.as_sums(ordered[0].weights, any(part.dependent for part in ordered))

    @property
    def threshold(self) -> Array:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Thresholds at which the curve is known: the lowest score of each bin."""
        return self.low

    @cached_property
    def attained(self) -> ThresholdCounts:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Counts in which all scores of a bin are tied. Their hull is a lower bound on the exact hull."""
        return ThresholdCounts.from_ranking(Levels(self.low, self.pos, self.neg)).as_sums(self.weights, self.dependent)

    @property
    def best_case(self) -> ThresholdCounts:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Counts whose hull is an upper bound on the exact ROC curve."""
        return self.attained if self.holds_hull else self.optimistic()

    @cached_property
    def cumulative(self) -> tuple[Array, Array]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Numbers of true and of false positives at the lower ends of the bins, starting with 0 and 0."""
        tp, fp = Levels(self.low, self.pos, self.neg).cumulative()
        return check.read_only(tp), check.read_only(fp)

    @cached_property
    def right_bounds(self) -> tuple[int, int]:
        """Lower and upper bound on twice the number of concordant pairs, plus the number of tied pairs."""
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
        """Lower and upper bound on the AUC. The lower bound is rounded down, and the upper bound is rounded up.

        Examples
        --------
        >>> BinnedCounts([0.5, 0.1], [0.9, 0.4], pos=[3, 1], neg=[1, 3]).auc_bounds
        (0.5625, 0.9375)
        """
        low, high = (Fraction(bound, self._most) for bound in self.right_bounds)
        return rounded(low, -inf), rounded(high, inf)

    @property
    def is_exact_area(self) -> bool:
        """True if the bins determine the AUC exactly."""
        return self.right_bounds[0] == self.right_bounds[1]

    def auc_fraction(self) -> Fraction:
        """Return the exact AUC as a fraction. Tied pairs count one half.

        Raises
        ------
        InexactCountsError
            If the bins do not determine the AUC. The message states its bounds.
        """
        if not self.is_exact_area:
            raise self.inexact("AUC")
        return Fraction(self.right_bounds[0], self._most)

    def pairs(self) -> Pairs:
        """Return numbers of pairs that give the AUC. Raise InexactCountsError if the bins do not determine the AUC."""
        if not self.is_exact_area:
            raise self.inexact("AUC")
        right, _ = self.right_bounds
        return PairsInBins(right // 2, right % 2, self._most // 2, self.inexact)

    @cached_property
    def is_exact(self) -> bool:
        """True if each bin has only one distinct score."""
        return bool((self.low == self.high).all())

    @property
    def holds_levels(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """True if the counts at each distinct score are known; equal to `is_exact`."""
        return self.is_exact

    def require_levels(self, what: str) -> ThresholdCounts:
        """Return the exact counts. Raise InexactCountsError if a bin has several scores.

        Parameters
        ----------
        what : str
            Start of the error message, such as "ROC hull".
        """
        if not self.is_exact:
            raise self.inexact(what)
        return self.attained

    def on_hull(self, what: str = "ROC hull") -> ThresholdCounts:
        """Return counts with the exact ROC hull. Raise InexactCountsError if the bins do not determine the hull.

        Parameters
        ----------
        what : str
            Start of the error message, such as "ROC hull".
        """
        return self.attained if self.holds_hull else self.require_levels(what)

    def counts(self) -> ThresholdCounts:
        """Return the exact counts.

        Raises
        ------
        InexactCountsError
            If a bin has several distinct scores.

        Examples
        --------
        >>> BinnedCounts([0.9, 0.6], [0.9, 0.6], pos=[1, 1], neg=[0, 1]).counts()
        ThresholdCounts(n_pos=2, n_neg=1, levels=2)
        """
        return self.require_levels("counts of every distinct score")

    def inexact(self, what: str) -> InexactCountsError:
        """Return the error that the bins do not determine a result, with the bounds on the AUC and alternatives.

        Parameters
        ----------
        what : str
            Start of the error message, such as "ROC hull".
        """
        got = f"{len(self)} bins, {int((self.low < self.high).sum())} of which contain several scores"
        if self.n_pos and self.n_neg:
            got += ", AUC from {:.9g} to {:.9g}".format(*self.auc_bounds)
        hint = "use .auc_bounds and .envelope(kind), or count the rows exactly (rocscope.ThresholdCounts)"
        return InexactCountsError(what, expected="one score in each bin", got=got, hint=hint)

    def _cells(self, threshold: float) -> tuple[float, float, float, float]:
        whole, begun = (count_at_least(ends, threshold) for ends in (self.low, self.high))
        if begun > whole:
            above = self.low[whole - 1].item() if whole else inf
            got = f"a threshold inside the bin from {self.low[whole].item()!r} to {self.high[whole].item()!r}"
            hint = f"use {self.low[whole].item()!r} or {above!r}, the nearest thresholds between bins"
            raise InexactCountsError(
                f"threshold {threshold!r}", expected="a threshold between two bins", got=got, hint=hint
            )
        tp, fp = (axis[whole].item() for axis in self.cumulative)
        return tp, fp, self.n_pos - tp, self.n_neg - fp

    def envelope(self, kind: str = "roc") -> Band:
        """Return bounds between which the exact curve lies.

        Parameters
        ----------
        kind : {"roc", "gain", "lift_chart", "lift", "precision_recall", "det"}
            Kind of curve.

        Returns
        -------
        Band
            Lower and upper bounds, with a level of 1. Between two points, a bound is a straight line. If an x is
            repeated, the bound jumps at this x.

        Raises
        ------
        OneClassError
            If the counts contain only one class.

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
        """Return counts in which the positives of each bin have its highest score, which gives the largest AUC."""
        return self._resolved(positives_first=True)

    def pessimistic(self) -> ThresholdCounts:
        """Return counts in which the negatives of each bin have its highest score, which gives the smallest AUC."""
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
        levels = Levels(threshold[used], pos[used], neg[used])
        return ThresholdCounts.from_ranking(levels).as_sums(self.weights, self.dependent)

    def merge(self, starts: Sequence[int] | Array) -> "BinnedCounts":
        """Merge adjacent bins. The bounds on the AUC do not change.

        Parameters
        ----------
        starts : array of int
            Indices of the bins that start a merged bin, in increasing order. The first index is 0.

        Raises
        ------
        InputError
            If the indices do not increase, or if the first index is not 0.

        Examples
        --------
        >>> merged = BinnedCounts([3, 2, 1], [3, 2, 1], pos=[1, 1, 0], neg=[0, 1, 1]).merge([0, 2])
        >>> merged.low, merged.high, merged.pos, merged.auc_bounds
        (array([2, 1]), array([3, 1]), array([2, 0]), (0.875, 0.875))
        """
        first = check.check_column(starts, "starts").astype(np.intp)
        if first[0] != 0 or (np.diff(first) <= 0).any() or first[-1] >= len(self):
            expected = f"increasing indices from 0 to {len(self) - 1}, starting with 0"
            raise InputError("starts", expected=expected, got=check.listing(first.tolist()))
        group = np.zeros(len(self), np.intp)
        group[first[1:]] = 1
        above = self.cumulative[0][:-1] - self.cumulative[0][first][np.cumsum(group)]
        across = 2 * product(self.neg, above)
        wins = tuple(group_sums(across + bound, first, self._most) for bound in self.wins)
        last = np.append(first[1:], len(self)) - 1
        pos, neg = (np.add.reduceat(column, first) for column in (self.pos, self.neg))
        return BinnedCounts(self.low[last], self.high[first], pos, neg, wins).as_sums(self.weights, self.dependent)

    def coarsen(self, most: int) -> "BinnedCounts":
        """Merge adjacent bins until about `most` bins remain, which are evenly spaced along the ROC curve.

        Bins that are longer than this spacing remain unchanged.
        """
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
        """Return the bins as a dictionary for JSON.

        Examples
        --------
        The order of the positive and the negative in the second bin is unknown. The bounds on its concordant pairs, in
        halves of a pair, are therefore 0 and 2:

        >>> BinnedCounts([3, 1], [4, 2], pos=[1, 1], neg=[0, 1]).to_dict()
        {'low': [3, 1], 'high': [4, 2], 'pos': [1, 1], 'neg': [0, 1], 'holds_hull': False, 'wins_low': [0, 0],
         'wins_high': [0, 2]}
        """
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
        """Text with the AUC or its bounds, for the repr; empty if a class is missing."""
        if not (self.n_pos and self.n_neg):
            return ""
        low, high = self.auc_bounds
        area = f", auc={low:.6g}" if self.is_exact_area else f", auc from {low:.9g} to {high:.9g}"
        return area + direction(high)
