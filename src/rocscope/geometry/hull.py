"""Upper convex hull of a ROC curve, and the lines of equal cost that touch it.

The vertices of the hull are the thresholds that are optimal for some cost ratio. A lift chart is an affine image of
ROC space, so both have the same hull. A hull is again a ThresholdCounts: the levels between two vertices are pooled
into one level, as isotonic regression (pooling of adjacent violators) does with the labels.

The orientation of three points is computed in integers. Sums of weights are rounded. Points that are certainly below
the hull are removed by rounded sums, and the few others by exact sums (`rocscope._base.exact_sums`).

Best points are selected only in this module. The best point has the lowest expected cost; among points of equal cost it
has the fewest positive predictions; then it is that of the first model. This rule applies to every context that does
not reward both kinds of errors, also if a cost is 0 or if one action is right for all scores.
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
    """Some thresholds of one model, from fewest positive predictions to most.

    Attributes
    ----------
    model : str
    counts : CumulativeCounts
    index : array of k points of `counts.cumulative`
        Increasing, or decreasing if negated.
    negated : bool
        True if cases below the threshold are predicted positive.
    """

    model: str
    counts: CumulativeCounts
    index: Array
    negated: bool = False

    @property
    def label(self) -> str:
        """Name of the model, with "not" if its decisions are reversed."""
        return label(self.model, self.negated)

    @functools.cached_property
    def cells(self) -> tuple[Array, Array, Array, Array]:
        """True positives, false positives, false negatives and true negatives, as arrays of k."""
        above, below = self.counts.cumulative, self.counts.remaining
        tp, fp, fn, tn = (axis[self.index] for axis in ((*below, *above) if self.negated else (*above, *below)))
        return tp, fp, fn, tn

    @property
    def strict_cumulative(self) -> tuple[Array, Array]:
        """Counts that increase wherever the exact sums do, even by less than the rounding of the sums."""
        ups, rights = ((-axis if self.negated else axis)[self.index] for axis in self.counts.strict_cumulative)
        return ups, rights

    def exact_sums_at(self, index: Array) -> Sums:
        """Return exact true and false positives at increasing positions; see `CumulativeCounts.exact_sums_at`."""
        if not self.negated:
            return self.counts.exact_sums_at(self.index[index])
        # Exact sums are asked for at increasing points; those of a negation decrease.
        below = self.counts.exact_sums_at(self.index[index][::-1])
        tp, fp = (
            [total - n for n in reversed(axis)] for axis, total in zip(below, self.counts.exact_totals, strict=True)
        )
        return tp, fp

    def point(self, index: int) -> OperatingPoint:
        """Return the operating point at a position. Its threshold is −∞ if everybody is predicted positive."""
        tp, fp, fn, tn = (cell[index].item() for cell in self.cells)
        threshold = score_of(self.counts, int(self.index[index])) if fn or tn else -math.inf
        return self.counts.point_of(tp, fp, fn, tn, threshold)

    def rates(self, index: int) -> tuple[Fraction, Fraction]:
        """Return the exact true and false positive rates at a position; 0 for a class without cases."""
        ((tp,), (fp,)), (n_pos, n_neg) = self.exact_sums_at(np.array([index])), self.counts.exact_totals
        # A class without cases has a rate of 0 = 0 / 1.
        return Fraction(tp, n_pos or 1), Fraction(fp, n_neg or 1)

    def depth(self, index: int) -> Fraction:
        """Return the exact share of the sample that is predicted positive at a position."""
        (tp,), (fp,) = self.exact_sums_at(np.array([index]))
        return Fraction(tp + fp, sum(self.counts.exact_totals))

    def take(self, index: Array) -> "Choices":
        """Return the choices at given positions."""
        return replace(self, index=self.index[index])


def label(model: str, negated: bool) -> str:
    """Return the name of a model, with "not" if its decisions are reversed."""
    return f"not {model}" if negated else model


def all_choices(model: str, counts: CumulativeCounts) -> Choices:
    """Return every threshold of a model, from "nobody positive" on.

    Examples
    --------
    >>> from rocscope import ThresholdCounts
    >>> choices = all_choices("a", ThresholdCounts([0.9, 0.4], [1, 0], [0, 1]))
    >>> [choices.point(index).threshold for index in range(3)]
    [inf, 0.9, -inf]
    """
    return Choices(model, counts, np.arange(len(counts) + 1))


def negation(model: str, counts: CumulativeCounts) -> Choices:
    """Return the choices "positive iff score < threshold", without "nobody" and "everybody positive"."""
    return Choices(model, counts, np.arange(len(counts) - 1, 0, -1), negated=True)


def score_of(counts: CumulativeCounts, index: int) -> float:
    """Return the score at a point of `counts.cumulative`, in the type of the scores."""
    return math.inf if index == 0 else counts.threshold[index - 1].item()


Made = TypeVar("Made")

_FEW = 50
"""Below this number of points plain Python is faster than NumPy."""


def remembered(make: Callable[[ThresholdCounts], Made]) -> Callable[[ThresholdCounts], Made]:
    """Cache a result on counts, which are immutable, because the same hull is needed repeatedly."""
    name = f"_{make.__name__}"

    @functools.wraps(make)
    def from_memory(counts: ThresholdCounts) -> Made:
        known = vars(counts)
        if name not in known:
            known[name] = make(counts)
        return known[name]

    return from_memory


def pool(counts: CumulativeCounts) -> ThresholdCounts:
    """Return the upper convex hull, as counts whose levels are the segments of the hull.

    Notes
    -----
    The hull is computed in exact integer arithmetic for any weights. No three vertices are collinear. The time is O(k)
    after ranking.

    Examples
    --------
    >>> counts = ThresholdCounts.from_scores([1, 1, 0, 0, 0, 1], [6, 5, 4, 3, 2, 1])
    >>> hull = pool(counts)
    >>> hull.threshold, hull.tp, hull.fp
    (array([5, 1]), array([2, 3]), array([0, 3]))

    A perfect model, where two rows weigh 10¹⁷ times as much as the others:

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
    # The vertices of the hull are among those of the hulls of its stretches, which are made in threads.
    hulls = in_threads(lambda blocks: _push(blocks, np.int64), ranking.counted_ranges())
    tp, fp, code = hulls[0] if len(hulls) == 1 else _push(_joined(hulls), np.int64)
    return ThresholdCounts.from_ranking(Levels(ranking.decode(code[1:]), np.diff(tp), np.diff(fp)))


def _push(blocks: Iterator[Block], dtype: type, *scales: float) -> tuple[Array, Array, Array]:
    """Return true and false positives of the vertices of the hull, starting at (0, 0), and their codes.

    With the `scales` of weights there may be additional points; see `kernels.weights.push_hull`.
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
    return tp[: top + 1].copy(), fp[: top + 1].copy(), code[: top + 1].copy()  # the stacks are much larger


def _grown(stack: Array, used: int, size: int) -> Array:
    """Return a stack with doubled capacity; only the used part takes memory."""
    longer = np.empty(size, stack.dtype)
    longer[:used] = stack[:used]
    return longer


def _joined(hulls: list[tuple[Array, Array, Array]]) -> Iterator[Block]:
    """Yield hulls of consecutive ranges, each starting at the last point of the previous one."""
    above_tp = above_fp = 0
    for tp, fp, code in hulls:
        yield Block(code[1:], tp[1:] + above_tp, fp[1:] + above_fp)
        above_tp, above_fp = above_tp + tp[-1], above_fp + fp[-1]


def _pool_weighted(counts: ThresholdCounts) -> ThresholdCounts:
    """Return the hull of weighted counts: exclude points by rounded sums if certain, and others by exact sums."""
    ranking = counts.ranking
    if ranking.few:
        tp, fp = counts.cumulative
        point = _unsure(tp, fp, counts.strict_cumulative)
        tp, fp, code = tp[point], fp[point], ranking.codes_at(point[1:] - 1)
    else:
        tp, fp, code = _push(ranking.blocks(), np.float64, 1.0, 1.0)
        # Products of very large or small totals would overflow or underflow: a power of 2 brings these to about 1.
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
    """Return the indices of the thresholds that are vertices of the upper hull, including both ends.

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
    """Return the indices of the points of a monotone chain that are vertices of its upper hull, including both ends.

    Parameters
    ----------
    tp, fp : non-decreasing arrays of equal length, at least 1
        Whole counts at any thresholds of one model. They need not begin at (0, 0).

    Examples
    --------
    >>> upper_corners(np.array([1, 2, 2, 3]), np.array([0, 0, 2, 3]))
    array([0, 1, 3])
    """
    # No cross product of differences exceeds tp·fp, so that 64 bits do not overflow. Else plain integers decide.
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
    """Compute the same as `upper_corners`, for integers of any size."""
    tp, fp, size = _shortened(tp), _shortened(fp), len(tp)
    up, right, code = tp.copy(), fp.copy(), [0] * size
    top = kernels.ranks.push_hull.python(up, right, code, 0, tp[1:], fp[1:], range(1, size)) if size > 1 else 0
    return np.array(code[: top + 1], np.intp)


def _shortened(numbers: list[int]) -> list[int]:
    """Return integers without their common trailing binary zeros; exact weights have about a thousand."""
    digits = functools.reduce(operator.or_, numbers)
    zeros = (digits & -digits).bit_length() - 1 if digits else 0
    return [number >> zeros for number in numbers] if zeros > 0 else numbers.copy()


def _unsure(tp: Array, fp: Array, strict_cumulative: tuple[Array, Array]) -> Indices:
    """Return the points that rounded sums do not exclude from the hull, including both ends.

    `strict_cumulative` increase wherever the exact sums do, even by less than the rounding of the sums.
    """
    up, right = (np.diff(column) > 0 for column in strict_cumulative)
    # A vertex between the ends is reached upwards and left to the right.
    ends = np.ones(min(tp.size, 2), bool)
    kept = np.flatnonzero(np.concatenate([ends[:1], up[:-1] & right[1:], ends[1:]]))
    tp, fp = (axis if is_moderate(axis[-1]) else axis * scale_of(axis[-1]) for axis in (tp, fp))
    return _without_dents(tp, fp, kept)


def _without_dents(tp: Array, fp: Array, kept: Indices) -> Indices:
    """Repeatedly remove points on or below the line between their neighbours, as long as many are removed.

    For sums of weights, only points that are certainly below the line are removed, as in `kernels.weights.push_hull`.
    """
    while kept.size > _FEW:
        y, x = tp[kept], fp[kept]
        up, right = np.diff(y), np.diff(x)
        # Positive where the slope increases, hence where the middle point lies below the line; 0 where it lies on it.
        dent = up[1:] * right[:-1] - up[:-1] * right[1:]
        if tp.dtype.kind == "f":
            # The same bound of the rounding error as in the compiled loop.
            off = (up[1:] + up[:-1]) * x[2:] + (right[1:] + right[:-1]) * y[2:] + MARGIN * x[2:] * y[2:]
            above = ~(dent > MARGIN * off + LEAST)
        else:
            above = dent < 0
        before, kept = kept.size, kept[np.concatenate([[True], above, [True]])]
        # Another round costs as much as the caller saves by it.
        if kept.size > 0.9 * before:
            break
    return kept


@dataclass(frozen=True)
class HullVertex(Result):
    """A threshold of a model that has the lowest expected cost in some contexts.

    Attributes
    ----------
    model : str
    point : OperatingPoint
        Counts and threshold.
    slope_low, slope_high : float
        Range of slopes of the iso-performance line for which the vertex is the best choice.
    negated : bool
        True if the decisions of the model are reversed: positive iff ``score < threshold``.
    tied : tuple of str
        Other models that have a threshold with the same rates.

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
        """Cases are predicted positive iff ``score >= threshold``, or ``score < threshold`` if negated."""
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
        """Name of the model, with "not" if its decisions are reversed."""
        return label(self.model, self.negated)

    @property
    def has_zone(self) -> bool:
        """True if the vertex is optimal for some slope between 0 and infinity."""
        return self.slope_low < self.slope_high

    def to_dict(self) -> dict[str, Any]:
        """Return the vertex, safe for JSON (an infinite slope or threshold becomes None)."""
        names = ("model", "threshold", "negated", "slope_low", "slope_high", "fpr", "tpr", "tied")
        cells = {name: getattr(self.point, name) for name in ("tp", "fp", "fn", "tn")}
        if not math.isnan(self.point.next_score):
            cells["next_score"] = self.point.next_score
        return jsonable({name: getattr(self, name) for name in names} | cells)


@dataclass(frozen=True)
class SlopeRanges:
    """Vertices in order of decreasing slope, and the exact slopes of the segments between them.

    Vertex i is best for slopes from ``border[i]`` up to ``border[i - 1]``. At ``border[i]`` two vertices are equally
    good, and the vertex with fewer positive predictions is chosen.
    """

    vertices: tuple[HullVertex, ...]
    borders: tuple[Fraction, ...]


@dataclass
class _Corner:
    """A candidate for a vertex of the hull of several models, in integers on axes common to all models."""

    x: int
    y: int
    order: int
    position: int
    tied: list[int] = field(default_factory=list)


def slope_ranges(choices: Sequence[Choices]) -> SlopeRanges:
    """Return the slope ranges of the choices of one or several models.

    Notes
    -----
    The slopes are exact for any weights, also for models from samples of different sizes. The time is O(k) for the k
    thresholds of each model, and O(v log v) for the v vertices of their hulls. If several models have the same rates,
    the vertex belongs to the first model.
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

    # Andrew's monotone chain, from left to right, then from the top, then by model. Points that are not above the last
    # vertex can never be best: they have more false positives, and no more true ones.
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

    # y = tpr · all_pos and x = fpr · all_neg: the slope in rates is (dy / all_pos) / (dx / all_neg).
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
    """Return the range of slopes of the iso-performance line for which a choice is best.

    The result is None if the choice is not a vertex of the increasing part of the hull.

    Notes
    -----
    The upper limit is the smallest slope of a line to any choice on the left, and the lower limit is the largest slope
    of a line to any choice on the right. They equal the limits of `slope_ranges`, without computing the whole hull.
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
    """A straight line through (x, y) with a slope.

    Examples
    --------
    >>> Line(0.5, 0.75, slope=0.5).at(0.0)
    0.5
    """

    x: float
    y: float
    slope: float

    def at(self, x: float) -> float:
        """Return the height of the line at `x`."""
        return self.y + self.slope * (x - self.x)


@dataclass(frozen=True)
class TangentPoint:
    """The threshold of one model at which a line of equal cost touches its points."""

    choices: Choices
    index: int
    tied: tuple["TangentPoint", ...] = ()
    """Tied points: for each model, those with the fewest and with the most positive predictions."""

    @property
    def point(self) -> OperatingPoint:
        """Counts and threshold of the point."""
        return self.choices.point(self.index)

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """Exact true and false positive rates of the point."""
        return self.choices.rates(self.index)


def touching(choices: Sequence[Choices], context: Context, totals: tuple[int, int] | None = None) -> TangentPoint:
    """Return the choice of lowest cost; of equal costs, the one with the fewest positive predictions, then the first.

    Parameters
    ----------
    choices : Choices of one or several models, at least one
        Any thresholds. The vertices of the hull are sufficient, except if `needs_every_threshold` is true.
    context : Context
    totals : (positives, negatives), optional
        Totals for the prevalence of a context without target, such as `counts.exact_totals`; by default those of the
        first choice.

    Raises
    ------
    InputError
        If both kinds of errors are rewarded, because the worst classifier would then be best.

    Notes
    -----
    The result is exact for any weights: gains and costs are compared as fractions, by a binary search over the segments
    of the hull of each model.

    Examples
    --------
    If false alarms cost nothing, every threshold that detects all positives is best. The highest is returned:

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
    """Return the gain per unit of tpr and the cost per unit of fpr; see `touching`."""
    n_pos, n_neg = totals or choices[0].counts.exact_totals
    hit, alarm = context.rates_of_exchange(n_pos, n_neg)
    return hit * Fraction(n_pos), alarm * Fraction(n_neg)


def best_point(counts: CumulativeCounts, context: Context | Campaign | None = None) -> OperatingPoint:
    """Return the point of lowest expected cost in a context, or of highest accuracy without a context.

    Raises
    ------
    OneClassError
        If the counts contain only one class.
    InputError
        If both kinds of errors are rewarded.
    InexactCountsError
        If counts in ranges of the score do not determine the point.

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
    """Return True if the best point may be below the hull, that is, if false alarms are rewarded and hits are not.

    Examples
    --------
    >>> needs_every_threshold(Context(cost_fp=-1, cost_fn=0)), needs_every_threshold(Context(cost_fp=-1, cost_fn=1))
    (True, False)
    """
    return context.miss_cost == 0 > context.false_alarm_cost


def _ends(choices: Choices, gain: Fraction, cost: Fraction) -> list[int]:
    """Return the first and the last (if different) of the cheapest choices of one model."""
    if gain == 0 > cost:  # all false alarms are wanted, hits do not count: the one line that touches the lower hull
        # Rounded sums may stand still where the exact ones increase, which the strict ones do not.
        rights = choices.strict_cumulative[1]
        return sorted({int(rights.searchsorted(rights[-1])), rights.size - 1})
    corners = corners_of(choices)
    tp, fp = choices.exact_sums_at(corners)
    n_pos, n_neg = choices.counts.exact_totals
    per_hit, per_alarm = gain / (n_pos or 1), cost / (n_neg or 1)
    # Multiplied by both denominators: only the sign of a loss matters, and whole numbers have it without a division.
    hit, alarm = per_hit.numerator * per_alarm.denominator, per_alarm.numerator * per_hit.denominator

    def loss(segment: int) -> int:
        return alarm * (fp[segment + 1] - fp[segment]) - hit * (tp[segment + 1] - tp[segment])

    # Along an upper hull a further step pays less and less: losses are below 0, then 0, then above.
    segments = range(len(tp) - 1)
    ends = {find(segments, 0, key=loss) for find in (bisect.bisect_left, bisect.bisect_right)}
    return [corners[end].item() for end in sorted(ends)]
