"""Bounds (envelopes) of a curve whose points are known only at the edges of bins.

Bounds of the pairs that bins hold, as whole numbers of any size.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import nextafter
from typing import Any, Literal, cast

import numpy as np

from rocscope import metrics
from rocscope._base import validation as check
from rocscope._base.arrays import Array, Ties
from rocscope.core.levels import Pairs
from rocscope.core.result import Band
from rocscope.errors import InexactCountsError, ShapeError, WeightError

_INT64_MAX = 2**63 - 1  # beyond it products and sums are made of Python's integers


@dataclass(frozen=True)
class PairsInBins(Pairs):
    """Bounds of concordant pairs, a tied pair counting half."""

    inexact: Callable[[str], InexactCountsError]

    def _right(self, ties: Ties) -> tuple[float, float]:
        if ties in ("lower", "upper"):
            raise self.inexact(f"AUC with ties={ties!r}")
        return super()._right(ties)


def whole_counts(values: Any, name: str, n: int) -> Array:
    """Return checked integer counts."""
    counts = check.check_column(values, name, n)
    if counts.dtype.kind not in "iu" or (counts < 0).any():
        got = repr(counts[:5].tolist())
        raise WeightError(name, expected="whole counts of at least 0", got=got, hint="weighted rows cannot be binned")
    return counts.astype(np.int64)


def wins_within(wins: Any, low: Array, high: Array, pos: Array, neg: Array) -> tuple[Array, Array]:
    """Return bounds of concordant pairs in each bin: the given ones, checked against the counts."""
    pairs = product(pos, neg)
    single = low == high
    least, most = np.where(single, pairs, 0), np.where(single, pairs, 2 * pairs)
    if wins is None:
        return least, most
    if not (isinstance(wins, tuple | list) and len(cast(Sequence[Any], wins)) == 2):
        raise ShapeError("wins", expected="a pair of arrays, the lowest and the highest", got="something else")
    given = [_wide(check.check_column(bound, "wins", low.size)) for bound in cast(Sequence[Any], wins)]
    wrong = (given[0] > given[1]) | (given[0] > most) | (given[1] < least)
    wrong |= (given[0] < 0) | (given[1] > 2 * pairs)
    if wrong.any():
        first = int(wrong.argmax())
        raise WeightError(
            "wins",
            expected=f"bounds within {least[first]} to {most[first]} in bin {first}",
            got=f"{given[0][first]} to {given[1][first]}",
        )
    return np.maximum(given[0], least), np.minimum(given[1], most)


def _wide(bound: Array) -> Array:
    if bound.dtype.kind not in "iuO":
        raise WeightError("wins", expected="whole numbers", got=f"values of type {bound.dtype}")
    return bound if bound.dtype.kind == "O" else bound.astype(np.int64)


def product(a: Array, b: Array) -> Array:
    """Return products of counts, as Python integers if twice one would overflow 64 bits."""
    if int(a.max()) * int(b.max()) > _INT64_MAX // 4:
        return a.astype(object) * b.astype(object)
    return a * b


def group_sums(values: Array, starts: Array, most: int) -> Array:
    """Return the sums of groups of pairs, at most `most` each."""
    return np.add.reduceat(values.astype(object) if most > _INT64_MAX else values, starts)


def total(values: Array, most: int) -> int:
    """Return the sum of pairs, at most `most`."""
    return sum(values.tolist()) if most > _INT64_MAX else int(values.sum())


def rounded(exact: Fraction, towards: float) -> float:
    """Return the nearest float on one side of an exact value."""
    value = float(exact)
    wrong = value > exact if towards < 0 else value < exact
    return nextafter(value, towards) if wrong else value


TpFp = tuple[Array, Array]


@dataclass(frozen=True)
class Boxes:
    """Corners (tp, fp) of the curve, starting at (0, 0), and which pieces between them are straight."""

    tp: Array
    fp: Array
    straight: Array


@dataclass(frozen=True)
class _View:
    """A curve: the count that determines its x, its axes, and whether straight lines of counts bend."""

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
    """Return lower and upper bounds of y at each x, to be joined by straight lines.

    Notes
    -----
    Of each box four points: where it is entered, the two corners, where it is left. On a curve that bends (lift,
    precision–recall) the lines between the corners take the worse of both ends, since a quotient of counts that
    change evenly goes up or down between them, but not straight.
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
    """Let both bounds run straight through a box without inner points."""
    rows = boxes.straight
    for counts, known in ((lowest[0], boxes.tp), (lowest[1], boxes.fp), (highest[0], boxes.tp), (highest[1], boxes.fp)):
        before, after = _ends(known)
        counts[rows] = _columns(before, before, after, after)[rows]
    return lowest, highest


_PATHS = {"fp": _across_fp, "tp": _across_tp, "depth": _across_depth}


def _stepped(x: Array, low: Array, high: Array, straight: Array) -> tuple[Array, Array, Array]:
    """Repeat the ends of lines between four points, with the worse value of both."""
    left, right = x[:, :-1], x[:, 1:]
    stepped = [np.stack([left, right], axis=2).reshape(len(x), -1)]
    for values, worse in ((low, np.fmin), (high, np.fmax)):
        ends = (values[:, :-1], values[:, 1:])
        both = worse(*ends)
        pieces = [np.where(straight[:, None], end, both) for end in ends]
        stepped.append(np.stack(pieces, axis=2).reshape(len(x), -1))
    return stepped[0], stepped[1], stepped[2]
