"""Upper convex hull of a ROC curve, and the point at which a line of equal expected cost touches it.

The vertices of the hull are the thresholds that are optimal for some cost ratio. A lift chart is an affine
transformation of ROC space, so its hull has the same thresholds. A hull is stored as a ThresholdCounts in which all
scores between two vertices are pooled into one score. Isotonic regression (pooling of adjacent violators) pools the
same scores.

The orientation of three points is computed exactly, in integers. Sums of weights are rounded numbers. Therefore rounded
sums remove only points that are certainly below the hull. Exact sums decide about the few other points
(`rocscope._base.exact_sums`).

This module also selects the best point. It has the lowest expected cost. Among points with equal cost, the point with
the fewest positive predictions is selected, and among equal numbers the point of the first model. This rule applies to
all contexts that do not reward both false positives and false negatives, also if a cost is 0.
"""

import bisect
import functools
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from rocscope import kernels
from rocscope._base.arrays import Array, Indices, in_threads, is_moderate
from rocscope._base.exact_sums import Sums, rounded, scale_of
from rocscope.core import Campaign, Context, CumulativeCounts, OperatingPoint, Result, ThresholdCounts, jsonable
from rocscope.core.context import nearest
from rocscope.core.ranking import Block, Levels, Vertices
from rocscope.kernels.weights import LEAST, MARGIN


@dataclass(frozen=True)
class Choices:
    """Thresholds of one model from which to choose, in order of increasing number of positive predictions.

    Attributes
    ----------
    model : str
        Name of the model.
    counts : CumulativeCounts
        Numbers of positives and negatives at each score.
    index : array of k
        Indices of the thresholds in `counts.cumulative`, in increasing order; in decreasing order if negated.
    negated : bool
        True if the decisions are reversed, so that cases below the threshold are predicted positive.
    """

    model: str
    counts: CumulativeCounts
    index: Array
    negated: bool = False

    @property
    def label(self) -> str:
        """Name of the model, preceded by "not" if its decisions are reversed."""
        return label(self.model, self.negated)

    @functools.cached_property
    def cells(self) -> tuple[Array, Array, Array, Array]:
        """Numbers of tp, fp, fn and tn at each of the k thresholds, as four arrays."""
        above, below = self.counts.cumulative, self.counts.remaining
        tp, fp, fn, tn = (axis[self.index] for axis in ((*below, *above) if self.negated else (*above, *below)))
        return tp, fp, fn, tn

    @property
    def strict_cumulative(self) -> tuple[Array, Array]:
        """Two arrays of k numbers that increase exactly where the exact tp and the exact fp increase.

        The rounded sums in `cells` may be equal where the exact sums increase.
        """
        ups, rights = ((-axis if self.negated else axis)[self.index] for axis in self.counts.strict_cumulative)
        return ups, rights

    def exact_sums_at(self, index: Array) -> Sums:
        """Return the exact tp and fp at the thresholds with increasing positions `index`."""
        if not self.negated:
            return self.counts.exact_sums_at(self.index[index])
        # `CumulativeCounts.exact_sums_at` needs increasing indices, but the indices of reversed decisions decrease.
        below = self.counts.exact_sums_at(self.index[index][::-1])
        tp, fp = (
            [total - n for n in reversed(axis)] for axis, total in zip(below, self.counts.exact_totals, strict=True)
        )
        return tp, fp

    def point(self, index: int) -> OperatingPoint:
        """Return the operating point at a position. If all cases are predicted positive, its threshold is −∞."""
        tp, fp, fn, tn = (cell[index].item() for cell in self.cells)
        threshold = score_of(self.counts, int(self.index[index])) if fn or tn else -math.inf
        return self.counts.point_of(tp, fp, fn, tn, threshold)

    def rates(self, index: int) -> tuple[Fraction, Fraction]:
        """Return the exact true and false positive rates at a position; 0 for a class without cases."""
        ((tp,), (fp,)), (n_pos, n_neg) = self.exact_sums_at(np.array([index])), self.counts.exact_totals
        # A class without cases has a rate of 0 = 0 / 1.
        return Fraction(tp, n_pos or 1), Fraction(fp, n_neg or 1)

    def depth(self, index: int) -> Fraction:
        """Return the exact share of cases that the threshold at a position predicts positive."""
        (tp,), (fp,) = self.exact_sums_at(np.array([index]))
        return Fraction(tp + fp, sum(self.counts.exact_totals))

    def take(self, index: Array) -> "Choices":
        """Return the thresholds at the given positions."""
        return replace(self, index=self.index[index])


def label(model: str, negated: bool) -> str:
    """Return the name of a model, preceded by "not" if its decisions are reversed."""
    return f"not {model}" if negated else model


def all_choices(model: str, counts: CumulativeCounts) -> Choices:
    """Return all thresholds of a model. The first predicts no case positive, and the last predicts all cases positive.

    Examples
    --------
    >>> from rocscope import ThresholdCounts
    >>> choices = all_choices("a", ThresholdCounts([0.9, 0.4], [1, 0], [0, 1]))
    >>> [choices.point(index).threshold for index in range(3)]
    [inf, 0.9, -inf]
    """
    return Choices(model, counts, np.arange(len(counts) + 1))


def negation(model: str, counts: CumulativeCounts) -> Choices:
    """Return the thresholds of a model with reversed decisions: positive if score < threshold.

    The two trivial decisions (no case positive, all cases positive) are omitted.
    """
    return Choices(model, counts, np.arange(len(counts) - 1, 0, -1), negated=True)


def score_of(counts: CumulativeCounts, index: int) -> float:
    """Return the threshold at an index of `counts.cumulative`, as a Python number; infinity at index 0."""
    return math.inf if index == 0 else counts.threshold[index - 1].item()


Made = TypeVar("Made")

_FEW = 50
"""Below this number of points plain Python is faster than NumPy."""


def remembered(make: Callable[[ThresholdCounts], Made]) -> Callable[[ThresholdCounts], Made]:
    """Decorate a function of immutable counts to store its result in the counts."""
    name = f"_{make.__name__}"

    @functools.wraps(make)
    def from_memory(counts: ThresholdCounts) -> Made:
        known = vars(counts)
        if name not in known:
            known[name] = make(counts)
        return known[name]

    return from_memory


def pool(counts: CumulativeCounts) -> ThresholdCounts:
    """Return the upper convex hull of the ROC curve, as counts with one score for each segment of the hull.

    Notes
    -----
    The hull is exact for any weights, by integer arithmetic. No three vertices are collinear. For k sorted scores, the
    time is O(k).

    Examples
    --------
    >>> counts = ThresholdCounts.from_scores([1, 1, 0, 0, 0, 1], [6, 5, 4, 3, 2, 1])
    >>> hull = pool(counts)
    >>> hull.threshold, hull.tp, hull.fp
    (array([5, 1]), array([2, 3]), array([0, 3]))

    A perfect model. Two rows have 10¹⁷ times the weight of the other rows:

    >>> pool(ThresholdCounts([4, 3, 2, 1], [1e17, 1, 0, 0], [0, 0, 1, 1e17])).threshold
    array([3, 1])
    """
    return _pooled(counts.on_hull()).as_sums(counts.weights, counts.dependent)


@remembered
def _pooled(counts: ThresholdCounts) -> ThresholdCounts:
    ranking = counts.ranking
    if ranking.weighted:
        return _pool_weighted(counts)
    if not counts.is_exact or ranking.few:
        return _pool_levels(ranking.levels())
    # The vertices of the hull are vertices of hulls of parts of the curve, which are computed in threads.
    hulls = in_threads(lambda blocks: _push(blocks, np.int64), ranking.counted_ranges())
    tp, fp, code = hulls[0] if len(hulls) == 1 else _push(_joined(hulls), np.int64)
    return ThresholdCounts.from_ranking(Levels(ranking.decode(code[1:]), np.diff(tp), np.diff(fp)))


def _push(blocks: Iterator[Block], dtype: type, *scales: float) -> tuple[Array, Array, Array]:
    """Return tp, fp and the code of the score at each vertex of the hull, starting at (0, 0).

    Parameters
    ----------
    blocks : sequence of Block
        Points of the curve by decreasing score.
    dtype : type
        Type of the counts.
    *scales : float
        Factors that bring tp and fp to about 1, for weighted counts. The result may then contain additional points; see
        `kernels.weights.push_hull`.
    """
    tp, fp, code = np.zeros(1, dtype), np.zeros(1, dtype), np.zeros(1, np.uint64)
    top = 0
    for block in blocks:
        needed = top + block.tp.size + 1
        if needed > tp.size:
            tp, fp, code = (_grown(stack, top + 1, needed) for stack in (tp, fp, code))
        if not scales:
            top = kernels.ranks.push_hull(tp, fp, code, top, block.tp, block.fp, block.code)
        else:
            points = (block.tp, block.fp, block.code, block.steps)
            top = kernels.weights.push_hull(tp, fp, code, top, *points, *scales)
    return tp[: top + 1].copy(), fp[: top + 1].copy(), code[: top + 1].copy()  # copies, because the arrays are larger


def _grown(stack: Array, used: int, size: int) -> Array:
    """Return an array of a larger size that starts with the first `used` values of `stack`."""
    longer = np.empty(size, stack.dtype)
    longer[:used] = stack[:used]
    return longer


def _joined(hulls: list[tuple[Array, Array, Array]]) -> Iterator[Block]:
    """Yield the hulls of consecutive parts of a curve, shifted so that each starts at the end of the previous one."""
    above_tp = above_fp = 0
    for tp, fp, code in hulls:
        yield Block(code[1:], tp[1:] + above_tp, fp[1:] + above_fp)
        above_tp, above_fp = above_tp + tp[-1], above_fp + fp[-1]


def _pool_weighted(counts: ThresholdCounts) -> ThresholdCounts:
    """Return the hull of weighted counts: rounded sums exclude most points, exact sums decide about the others."""
    ranking = counts.ranking
    if ranking.few:
        tp, fp = counts.cumulative
        point = _unsure(tp, fp, counts.strict_cumulative)
        tp, fp, code = tp[point], fp[point], ranking.codes_at(point[1:] - 1)
    else:
        tp, fp, code = _push(ranking.blocks(), np.float64, 1.0, 1.0)
        # Products of very large or small totals would overflow or underflow, so scale the totals to about 1.
        if not (is_moderate(tp[-1]) and is_moderate(fp[-1])):
            tp, fp, code = _push(ranking.blocks(), np.float64, scale_of(tp[-1]), scale_of(fp[-1]))
        code = code[1:]
    exact_sums = ranking.exact_sums_at(code)
    corner = _corners(*exact_sums)
    up, right = ([axis[i] for i in corner] for axis in exact_sums)
    pos, neg = (rounded([after - before for before, after in pairwise(axis)]) for axis in (up, right))
    vertices = Vertices((tp[corner], fp[corner]), (up, right))
    return ThresholdCounts.from_ranking(Levels(ranking.decode(code[corner[1:] - 1]), pos, neg, vertices))


def _pool_levels(levels: Levels) -> ThresholdCounts:
    tp, fp = levels.cumulative()
    corner = upper_corners(tp, fp)
    return ThresholdCounts.from_ranking(
        Levels(levels.threshold[corner[1:] - 1], np.diff(tp[corner]), np.diff(fp[corner]))
    )


def corners_of(choices: Choices) -> Indices:
    """Return the positions of the thresholds that are vertices of the upper hull, including the first and the last.

    Examples
    --------
    >>> from rocscope.geometry.hull import all_choices
    >>> corners_of(all_choices("a", ThresholdCounts([3, 2, 1], [1, 0, 1], [0, 2, 0])))
    array([0, 1, 3])
    """
    if choices.counts.exact_unit == 1:
        return upper_corners(*choices.cells[:2])
    point = _unsure(*choices.cells[:2], choices.strict_cumulative)
    return point[_corners(*choices.exact_sums_at(point))]


def upper_corners(tp: Array, fp: Array) -> Indices:
    """Return the indices of the points that are vertices of the upper hull, including the first and the last point.

    Parameters
    ----------
    tp, fp : arrays of k ≥ 1 non-decreasing integers
        Numbers of true and false positives at k thresholds. They need not start at (0, 0).

    Examples
    --------
    >>> upper_corners(np.array([1, 2, 2, 3]), np.array([0, 0, 2, 3]))
    array([0, 1, 3])
    """
    # Cross products of differences are at most tp·fp. If this does not fit in 64 bits, Python integers are used.
    fits = int(tp[-1]) * int(fp[-1]) <= np.iinfo(np.int64).max
    kept = _without_dents(tp, fp, np.arange(tp.size)) if fits else np.arange(tp.size)
    tp, fp, size = tp[kept], fp[kept], kept.size
    if fits and size >= kernels.SMALL:
        up, right, code = np.empty(size, tp.dtype), np.empty(size, fp.dtype), np.zeros(size, np.intp)
        up[0], right[0] = tp[0], fp[0]
        top = kernels.ranks.push_hull(up, right, code, 0, tp[1:], fp[1:], np.arange(1, size)) if size > 1 else 0
        return kept[code[: top + 1]]
    return kept[_corners(tp.tolist(), fp.tolist())]


def _corners(tp: list[int], fp: list[int]) -> Indices:
    """Return the same as `upper_corners`, for Python integers of any size."""
    tp, fp, size = _shortened(tp), _shortened(fp), len(tp)
    up, right, code = tp.copy(), fp.copy(), [0] * size
    top = kernels.ranks.push_hull.python(up, right, code, 0, tp[1:], fp[1:], range(1, size)) if size > 1 else 0
    return np.array(code[: top + 1], np.intp)


def _shortened(numbers: list[int]) -> list[int]:
    """Divide integers by their largest common power of 2. Exact sums of weights may have a thousand trailing zeros."""
    digits = functools.reduce(operator.or_, numbers)
    zeros = (digits & -digits).bit_length() - 1 if digits else 0
    return [number >> zeros for number in numbers] if zeros > 0 else numbers.copy()


def _unsure(tp: Array, fp: Array, strict_cumulative: tuple[Array, Array]) -> Indices:
    """Return the indices of the points that may be vertices of the hull, according to rounded sums.

    Parameters
    ----------
    tp, fp : arrays of k
        Rounded numbers of true and false positives.
    strict_cumulative : two arrays of k
        Numbers that increase exactly where the exact numbers increase.
    """
    up, right = (np.diff(column) > 0 for column in strict_cumulative)
    # Before a vertex, tp increases; after a vertex, fp increases.
    ends = np.ones(min(tp.size, 2), bool)
    kept = np.flatnonzero(np.concatenate([ends[:1], up[:-1] & right[1:], ends[1:]]))
    tp, fp = (axis if is_moderate(axis[-1]) else axis * scale_of(axis[-1]) for axis in (tp, fp))
    return _without_dents(tp, fp, kept)


def _without_dents(tp: Array, fp: Array, kept: Indices) -> Indices:
    """Remove points on or below the line between their neighbours, repeatedly while at least 10% are removed.

    For rounded sums of weights, only points that are certainly below the line are removed.

    Parameters
    ----------
    tp, fp : arrays of k
        Points of the curve.
    kept : array
        Indices of the points to start with.
    """
    while kept.size > _FEW:
        y, x = tp[kept], fp[kept]
        up, right = np.diff(y), np.diff(x)
        # Positive if the slope increases, so that the middle point is below the line; 0 if it is on the line.
        dent = up[1:] * right[:-1] - up[:-1] * right[1:]
        if tp.dtype.kind == "f":
            # The same bound of the rounding error as in `kernels.weights.push_hull`.
            off = (up[1:] + up[:-1]) * x[2:] + (right[1:] + right[:-1]) * y[2:] + MARGIN * x[2:] * y[2:]
            above = ~(dent > MARGIN * off + LEAST)
        else:
            above = dent < 0
        before, kept = kept.size, kept[np.concatenate([[True], above, [True]])]
        # If few points were removed, another round takes longer than it saves.
        if kept.size > 0.9 * before:
            break
    return kept


@dataclass(frozen=True)
class HullVertex(Result):
    """A vertex of the ROC hull: a threshold of a model that has the lowest expected cost in some contexts.

    Attributes
    ----------
    model : str
        Name of the model.
    point : OperatingPoint
        Confusion matrix and threshold.
    slope_low, slope_high : float
        Range of slopes of the iso-performance line for which the vertex has the lowest expected cost.
    negated : bool
        True if the decisions of the model are reversed, so that cases with ``score < threshold`` are predicted
        positive.
    tied : tuple of str
        Names of other models that have a threshold with the same tpr and fpr.

    Examples
    --------
    >>> vertex = HullVertex("A", OperatingPoint(tp=3, fp=1, fn=1, tn=4))
    >>> vertex.label, vertex.tpr, vertex.fpr
    ('A', 0.75, 0.2)
    """

    model: str
    point: OperatingPoint
    slope_low: float = 0.0
    slope_high: float = math.inf
    negated: bool = False
    tied: tuple[str, ...] = ()

    @property
    def threshold(self) -> float:
        """Threshold. Cases with ``score >= threshold`` are predicted positive (``score < threshold`` if negated)."""
        return self.point.threshold

    @property
    def tpr(self) -> float:
        """True-positive rate."""
        return self.point.tpr

    @property
    def fpr(self) -> float:
        """False-positive rate."""
        return self.point.fpr

    @property
    def label(self) -> str:
        """Name of the model, preceded by "not" if its decisions are reversed."""
        return label(self.model, self.negated)

    @property
    def has_zone(self) -> bool:
        """True if the vertex has the lowest expected cost for a range of slopes, not only for a single slope."""
        return self.slope_low < self.slope_high

    def to_dict(self) -> dict[str, Any]:
        """Return the vertex as a dictionary for JSON. An infinite slope or threshold becomes None.

        Examples
        --------
        >>> from rocscope import OperatingPoint
        >>> HullVertex("a", OperatingPoint(tp=3, fp=1, fn=1, tn=3, threshold=0.5)).to_dict()
        {'model': 'a', 'threshold': 0.5, 'negated': False, 'slope_low': 0.0, 'slope_high': None, 'fpr': 0.25,
         'tpr': 0.75, 'tied': [], 'tp': 3, 'fp': 1, 'fn': 1, 'tn': 3}
        """
        names = ("model", "threshold", "negated", "slope_low", "slope_high", "fpr", "tpr", "tied")
        cells = {name: getattr(self.point, name) for name in ("tp", "fp", "fn", "tn")}
        if not math.isnan(self.point.next_score):
            cells["next_score"] = self.point.next_score
        return jsonable({name: getattr(self, name) for name in names} | cells)


@dataclass(frozen=True)
class SlopeRanges:
    """Vertices of the hull of one or more models, and the range of slopes for which each vertex is best.

    Attributes
    ----------
    vertices : tuple of HullVertex
        Vertices from left to right.
    borders : tuple of Fraction
        Exact slopes of the segments between the vertices, in decreasing order. Vertex i is best for slopes from
        ``borders[i]`` to ``borders[i - 1]``. At the slope ``borders[i]``, vertices i and i + 1 have the same expected
        cost, and vertex i, which has fewer positive predictions, is chosen.
    """

    vertices: tuple[HullVertex, ...]
    borders: tuple[Fraction, ...]


@dataclass
class _Corner:
    """A point of one model that may be a vertex of the hull of several models.

    Attributes
    ----------
    x, y : int
        The fpr and the tpr, multiplied by a number common to all models that makes them integers.
    order : int
        Index of the model.
    position : int
        Position of the threshold among those of the model.
    tied : list of int
        Indices of other models with the same rates.
    """

    x: int
    y: int
    order: int
    position: int
    tied: list[int] = field(default_factory=list)


def slope_ranges(choices: Sequence[Choices]) -> SlopeRanges:
    """Return the hull of one or more models, with the range of slopes for which each vertex is best.

    Parameters
    ----------
    choices : sequence of Choices
        Thresholds of each model.

    Notes
    -----
    The slopes are exact for any weights, also if the models have samples of different sizes. If several models have the
    same rates, the vertex belongs to the first of them. The time is O(k) for k thresholds, plus O(v log v) for v
    vertices of the hulls of single models.
    """
    options = [option.take(corners_of(option)) for option in choices if option.index.size]

    # Multiplied by the least common multiple of the class totals, all rates are whole numbers.
    all_pos = math.lcm(*(option.counts.exact_totals[0] for option in options))
    all_neg = math.lcm(*(option.counts.exact_totals[1] for option in options))
    corners: list[_Corner] = []
    for order, option in enumerate(options):
        n_pos, n_neg = option.counts.exact_totals
        right, up = all_neg // n_neg, all_pos // n_pos
        points = zip(*option.exact_sums_at(np.arange(option.index.size)), strict=True)
        corners += [_Corner(fp * right, tp * up, order, i) for i, (tp, fp) in enumerate(points)]

    # Andrew's monotone chain. Points are sorted from left to right, then from top to bottom, then by model. A point
    # that is not above the last vertex is never best: it has more false positives, and not more true positives.
    corners.sort(key=lambda corner: (corner.x, -corner.y, corner.order, corner.position))
    chain: list[_Corner] = []
    for corner in corners:
        if chain and (corner.x, corner.y) == (chain[-1].x, chain[-1].y):
            chain[-1].tied.append(corner.order)
            continue
        if chain and corner.y <= chain[-1].y:
            continue
        while len(chain) > 1 and not _turns_right(chain[-2], chain[-1], corner):
            chain.pop()
        chain.append(corner)

    # y = tpr·all_pos and x = fpr·all_neg, so the slope in ROC space is (dy/all_pos)/(dx/all_neg).
    borders = tuple(
        Fraction((after.y - before.y) * all_neg, (after.x - before.x) * all_pos) for before, after in pairwise(chain)
    )
    limits = [math.inf, *map(nearest, borders), 0.0]
    vertices = []
    for i, corner in enumerate(chain):
        owner = options[corner.order]
        tied = tuple(options[other].label for other in corner.tied)
        point = owner.point(corner.position)
        vertices.append(HullVertex(owner.model, point, limits[i + 1], limits[i], owner.negated, tied))
    return SlopeRanges(tuple(vertices), borders)


def _turns_right(a: _Corner, b: _Corner, c: _Corner) -> bool:
    return (b.y - a.y) * (c.x - b.x) > (c.y - b.y) * (b.x - a.x)


def slopes_at(touch: "TangentPoint", choices: Sequence[Choices]) -> tuple[float, float] | None:
    """Return the range of slopes of the iso-performance line for which a point is best.

    The result is None if the point is not a vertex of the increasing part of the hull.

    Parameters
    ----------
    touch : TangentPoint
        The point.
    choices : sequence of Choices
        Thresholds of all models.

    Notes
    -----
    The upper limit is the smallest slope of a line from the point to any point on its left. The lower limit is the
    largest slope of a line to any point on its right. These limits equal the limits of `slope_ranges`.
    """
    tpr, fpr = touch.rates
    low, high = Fraction(0), None
    for option in choices:
        if not option.index.size:
            continue
        n_pos, n_neg = option.counts.exact_totals
        tp, fp = option.exact_sums_at(corners_of(option))
        for hits, alarms in zip(tp, fp, strict=True):
            rise, run = Fraction(hits, n_pos) - tpr, Fraction(alarms, n_neg) - fpr
            if run > 0:
                low = max(low, rise / run)
            elif run < 0:
                high = rise / run if high is None else min(high, rise / run)
            elif rise > 0:
                return None
    if high is not None and low >= high:
        return None
    return nearest(low), math.inf if high is None else nearest(high)


@dataclass(frozen=True)
class Line:
    """A straight line.

    Attributes
    ----------
    x, y : float
        A point on the line.
    slope : float
        Slope of the line.

    Examples
    --------
    >>> Line(0.5, 0.75, slope=0.5).at(0.0)
    0.5
    """

    x: float
    y: float
    slope: float

    def at(self, x: float) -> float:
        """Return the y of the line at `x`."""
        return self.y + self.slope * (x - self.x)


@dataclass(frozen=True)
class TangentPoint:
    """A threshold of one model, such as the threshold with the lowest expected cost.

    Attributes
    ----------
    choices : Choices
        Thresholds of the model.
    index : int
        Position of this threshold in `choices`.
    tied : tuple of TangentPoint
        Other thresholds with the same expected cost. For each model, only the thresholds with the fewest and with the
        most positive predictions are listed.
    """

    choices: Choices
    index: int
    tied: tuple["TangentPoint", ...] = ()

    @property
    def point(self) -> OperatingPoint:
        """Confusion matrix and threshold of the point."""
        return self.choices.point(self.index)

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """Exact true and false positive rates of the point."""
        return self.choices.rates(self.index)


def touching(choices: Sequence[Choices], context: Context, totals: tuple[int, int] | None = None) -> TangentPoint:
    """Return the threshold with the lowest expected cost.

    Among thresholds with equal cost, the threshold with the fewest positive predictions is returned. Among equal
    numbers, the threshold of the first model is returned.

    Parameters
    ----------
    choices : sequence of one or more Choices
        Thresholds of each model. The vertices of the hull are sufficient, unless `needs_every_threshold` returns True
        for the context.
    context : Context
        Costs and prevalence.
    totals : (int, int), optional
        Numbers of positives and negatives that give the prevalence if the context has no target prevalence. By default,
        the numbers of the first model.

    Raises
    ------
    InputError
        If both false positives and false negatives are rewarded, because the worst classifier would then be best.

    Notes
    -----
    The result is exact for any weights. Costs are compared as fractions, by a binary search over the segments of the
    hull of each model.

    Examples
    --------
    If false positives cost nothing, all thresholds that detect all positives are best. The highest of them is returned:

    >>> from rocscope import ThresholdCounts
    >>> counts = ThresholdCounts([0.9, 0.6, 0.4, 0.2], [2, 2, 0, 0], [0, 1, 2, 3])
    >>> touching([all_choices("a", counts)], Context(cost_fp=0)).point
    OperatingPoint(tp=4, fp=1, fn=0, tn=5, threshold=0.6)
    """
    gain, cost = stakes(choices, context, totals)

    def order(touch: TangentPoint) -> tuple[Fraction, Fraction]:
        tpr, fpr = touch.rates
        return cost * fpr - gain * tpr, touch.choices.depth(touch.index)

    touches = [TangentPoint(option, index) for option in choices for index in _ends(option, gain, cost)]
    if len(touches) == 1:
        return touches[0]
    orders = [order(touch) for touch in touches]
    first = orders.index(min(orders))
    as_good = (touch for i, touch in enumerate(touches) if i != first and orders[i][0] == orders[first][0])
    return TangentPoint(touches[first].choices, touches[first].index, tuple(as_good))


def stakes(
    choices: Sequence[Choices], context: Context, totals: tuple[int, int] | None = None
) -> tuple[Fraction, Fraction]:
    """Return the decrease in expected cost per unit of tpr, and the increase per unit of fpr. See `touching`."""
    n_pos, n_neg = totals or choices[0].counts.exact_totals
    hit, alarm = context.rates_of_exchange(n_pos, n_neg)
    return hit * Fraction(n_pos), alarm * Fraction(n_neg)


def best_point(counts: CumulativeCounts, context: Context | Campaign | None = None) -> OperatingPoint:
    """Return the operating point with the lowest expected cost.

    Parameters
    ----------
    counts : CumulativeCounts
        Numbers of positives and negatives at each score.
    context : Context or Campaign, optional
        Costs and prevalence. By default, each error costs 1, so that the point has the highest accuracy.

    Raises
    ------
    OneClassError
        If the counts contain only one class.
    InputError
        If both false positives and false negatives are rewarded.
    InexactCountsError
        If counts in bins of the score do not determine the point.

    Examples
    --------
    >>> from rocscope import ThresholdCounts
    >>> counts = ThresholdCounts.from_scores([1, 1, 0, 0, 0, 1], [6, 5, 4, 3, 2, 1])
    >>> best_point(counts)
    OperatingPoint(tp=2, fp=0, fn=1, tn=3, threshold=5)
    >>> best_point(counts, Context(cost_fn=9))
    OperatingPoint(tp=3, fp=3, fn=0, tn=0, threshold=-inf)
    """
    counts.require_both_classes("best point")
    context = Context.given(context)
    choices = all_choices("", counts.require_levels("best point") if needs_every_threshold(context) else pool(counts))
    return touching([choices], context).point


def needs_every_threshold(context: Context) -> bool:
    """Return True if the best point may be below the hull.

    This is the case if false positives are rewarded, and true positives are not.

    Examples
    --------
    >>> needs_every_threshold(Context(cost_fp=-1, cost_fn=0)), needs_every_threshold(Context(cost_fp=-1, cost_fn=1))
    (True, False)
    """
    return context.miss_cost == 0 > context.false_alarm_cost


def _ends(choices: Choices, gain: Fraction, cost: Fraction) -> list[int]:
    """Return the positions of the first and of the last threshold with the lowest expected cost.

    Parameters
    ----------
    choices : Choices
        Thresholds of one model.
    gain, cost : Fraction
        Decrease in expected cost per unit of tpr, and increase per unit of fpr.
    """
    if gain == 0 > cost:  # false positives are rewarded and true positives are not: the largest fpr is best
        # Rounded sums may be equal where the exact sums increase, so the strictly increasing numbers are used.
        rights = choices.strict_cumulative[1]
        return sorted({int(rights.searchsorted(rights[-1])), rights.size - 1})
    corners = corners_of(choices)
    tp, fp = choices.exact_sums_at(corners)
    n_pos, n_neg = choices.counts.exact_totals
    per_hit, per_alarm = gain / (n_pos or 1), cost / (n_neg or 1)
    # Multiply by both denominators, because only the sign of a loss matters, and integers are faster than fractions.
    hit, alarm = per_hit.numerator * per_alarm.denominator, per_alarm.numerator * per_hit.denominator

    def loss(segment: int) -> int:
        return alarm * (fp[segment + 1] - fp[segment]) - hit * (tp[segment + 1] - tp[segment])

    # Along an upper hull, the losses of the segments increase: they are below 0 first, then 0, then above 0.
    segments = range(len(tp) - 1)
    ends = {find(segments, 0, key=loss) for find in (bisect.bisect_left, bisect.bisect_right)}
    return [corners[end].item() for end in sorted(ends)]
