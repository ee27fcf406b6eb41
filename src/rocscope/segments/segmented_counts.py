"""Counts of one model in every segment (`SegmentedCounts`), with metrics, best thresholds, means and tests.

The best thresholds of all segments are computed together, in exact integer arithmetic. In means over segments, the
segments are the sampling units. `differing` tests for each segment whether its AUC differs from the AUCs of the other
segments, also in small segments, and shrinks the AUCs towards their mean.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from math import inf, lcm, nan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rocscope import kernels
from rocscope._base import special, validation as check
from rocscope._base.arrays import FIRST_ROUNDED, Array, Booleans, Indices, Ties
from rocscope._base.public_names import reach
from rocscope._base.roots import root
from rocscope.core import Campaign, Context, CumulativeCounts, Provenance, Result, ThresholdCounts, html_table, number
from rocscope.core.context import CELLS, decimal, nearest
from rocscope.curves.rate_curves import PrecisionRecallCurve, RocCurve
from rocscope.errors import InputError, OneClassError, ScoreError
from rocscope.geometry.hull import best_point
from rocscope.inference.estimate import FEW_GROUPS, FEW_INFORMATIVE, Estimate, adjust_p_values, few
from rocscope.sample import BySegment
from rocscope.segments.levels import SegmentLevels, SegmentRows, SegmentWeight, SortedSegments, quotients, ratios

if TYPE_CHECKING:
    from rocscope.inference.estimate import PValueAdjust
    from rocscope.inference.variance import OverFolds


# Limit for which sums and differences of two such numbers fit into 64 bits.
_FITS = 2**62


def cheapest(rows: SegmentRows, known: Booleans, context: Context) -> dict[str, Array]:
    """Return the cheapest threshold of each segment, with tp, fp, fn, tn and cost per case; NaN if not `known`."""
    columns = _all_at_once(rows, context) if rows.at_once else _one_by_one(rows, known, context)
    return {name: np.where(known, column, nan) for name, column in columns.items()}


def _one_by_one(rows: SegmentRows, known: Booleans, context: Context) -> dict[str, Array]:
    points = [best_point(rows.counts(segment), context) if known[segment] else None for segment in range(known.size)]
    cells = {cell: np.array([getattr(point, cell, nan) for point in points]) for cell in CELLS}
    cost = np.array([nan if point is None else nearest(context.exact_cost(point)) for point in points])
    threshold = [nan if point is None else point.threshold for point in points]
    return {"threshold": _unrounded(np.array(threshold, object)), **cells, "cost": cost}


def _unrounded(scores: Array) -> Array:
    """Convert scores to float64, or to Python objects if float64 would round a score."""
    floats = scores.astype(np.float64)
    rounded = scores.dtype.kind != "f" and (abs(floats) >= FIRST_ROUNDED)[abs(floats) < inf].any()
    return scores.astype(object) if rounded else floats


def _all_at_once(rows: SegmentRows, context: Context) -> dict[str, Array]:
    """Return the result of `cheapest`, computed for all segments together; meaningless for segments of one class.

    The cost of a threshold, minus the cost of predicting all rows negative, is alarm · fp − hit · tp. At a target
    prevalence π, it is (1 − π) · alarm · fp / n_neg − π · hit · tp / n_pos. Costs are compared as integers in a common
    unit.
    """
    cell_costs, unit = _whole([decimal(cost) for cost in context.costs.values()])
    gain = context.miss_cost
    alarm = context.false_alarm_cost
    share = None
    if context.target_prevalence is not None:
        share = decimal(context.target_prevalence)
        gain, alarm = share * gain, (1 - share) * alarm
    (hit, alarm), _ = _whole([gain, alarm])
    n_pos, n_neg = rows.totals
    largest = max(int(n_pos.max()), int(n_neg.max()))
    heaviest = max(map(abs, (*cell_costs, hit, alarm, unit))) * (share.denominator if share else 1)
    kind = np.int64 if 4 * heaviest * largest ** (2 if share else 1) < _FITS else object
    best = partial(_best_levels, hit=hit, alarm=alarm, by_share=share is not None, kind=kind)
    threshold, tp, fp = (np.concatenate(column) for column in zip(*rows.in_pieces(best), strict=True))
    cells = dict(zip(CELLS, (tp, fp, n_pos - tp, n_neg - fp), strict=True))
    cost = _cost({name: column.astype(kind) for name, column in cells.items()}, cell_costs, unit, share)
    # "Nobody positive" has a threshold above all scores, "everybody positive" a threshold below.
    ends = [tp + fp == 0, tp + fp == n_pos + n_neg]
    return {"threshold": np.select(ends, [inf, -inf], _unrounded(threshold)), **cells, "cost": cost}


def _best_levels(levels: SegmentLevels, *, hit: int, alarm: int, by_share: bool, kind: Any) -> tuple[Array, ...]:
    """Return the first cheapest threshold of each segment, with tp and fp (0 if all-negative is cheaper)."""
    tp, fp = levels.tp.astype(kind), levels.fp.astype(kind)
    if by_share:
        tp, fp = tp * levels.spread(levels.n_neg), fp * levels.spread(levels.n_pos)
    loss = alarm * fp - hit * tp
    least = levels.reduce(np.minimum, loss)
    equal = np.flatnonzero(loss == levels.spread(least))
    first = equal[equal.searchsorted(levels.start[:-1])]
    some = least < 0
    return levels.threshold[first], np.where(some, levels.tp[first], 0), np.where(some, levels.fp[first], 0)


def _cost(cells: dict[str, Array], cell_costs: Sequence[int], unit: int, share: Fraction | None) -> Array:
    tp, fp, fn, tn = cells.values()
    cost_tp, cost_fp, cost_fn, cost_tn = cell_costs
    positives = cost_tp * tp + cost_fn * fn
    negatives = cost_fp * fp + cost_tn * tn
    if share is None:
        return quotients(positives + negatives, unit * (tp + fp + fn + tn))
    n_pos, n_neg = tp + fn, fp + tn
    ours, others = share.numerator, share.denominator - share.numerator
    pairs = np.maximum(n_pos * n_neg, 1)
    return quotients(ours * positives * n_neg + others * negatives * n_pos, (ours + others) * unit * pairs)


def _whole(numbers: Sequence[Fraction]) -> tuple[list[int], int]:
    """Convert fractions to integers in a common unit; return the integers, and the number of units in 1."""
    unit = lcm(*(number.denominator for number in numbers))
    return [int(number * unit) for number in numbers], unit


# Number of segments in a notebook display: a choice.
_SHOWN = 10
# Number of trials for an area that is 0 or 1 in nearly every segment, as for segments with a single pair.
_LEAST_TRIALS = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class SegmentDifferences(Result):
    """AUC of each of k segments, compared with the mean AUC of all other segments.

    Returned by `SegmentedCounts.differing`. All arrays are in the order of `names`. They contain NaN for segments with
    a single class.

    Attributes
    ----------
    names : array of k
        Names of the segments.
    auc : array of k
        AUC of each segment.
    rest : array of k
        Mean AUC of all other segments.
    standard_error : array of k
        Standard error of the AUC of each segment, given its numbers of positives and negatives.
    shrunken : array of k
        AUC of each segment, shrunk towards the mean of all segments. AUCs from fewer rows are shrunk more strongly.
    p_value : array of k
        P-value of each segment.
    adjusted_p_value : array of k
        P-values, adjusted for the number of segments.
    adjust : str
        Method of the adjustment.
    spread : float
        Estimated standard deviation of the true AUCs of the segments.
    level : float
        Segments with an adjusted p-value of at most 1 − level are significant.
    """

    names: Array
    auc: Array
    rest: Array
    standard_error: Array
    shrunken: Array
    p_value: Array
    adjusted_p_value: Array
    adjust: str
    spread: float
    level: float

    @cached_property
    def order(self) -> Indices:
        """Indices that sort segments by p-value, then by decreasing difference from `rest`; untested segments last."""
        return np.lexsort((-abs(self.auc - self.rest), self.p_value))

    @property
    def found(self) -> Array:
        """Names of the segments that differ significantly, most significant first."""
        return self.names[[i for i in self.order if self.adjusted_p_value[i] <= 1 - self.level]]

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame with one row per segment, most significant first.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            Library of the data frame.

        Examples
        --------
        >>> from rocscope import Predictions
        >>> preds = Predictions([1, 1, 0, 0] * 2, [4, 3, 2, 1, 1, 4, 2, 3], segment=["n"] * 4 + ["s"] * 4)
        >>> preds.counts(by="segment").differing().to_frame()[["segment", "auc", "rest"]]
          segment  auc  rest
        0       n  1.0   0.5
        1       s  0.5   1.0
        """
        columns = ("auc", "rest", "standard_error", "shrunken", "p_value", "adjusted_p_value")
        order = self.order
        numbers = {name: getattr(self, name)[order] for name in columns}
        return check.frame_of({"segment": self.names[order]} | numbers, backend)

    def __repr__(self) -> str:
        tested = int((~np.isnan(self.p_value)).sum())
        said = f"{self.found.size} of {tested} differ at {100 * (1 - self.level):g}% ({self.adjust})"
        return f"SegmentDifferences({said}, spread of areas {self.spread:.3g})"

    def _repr_html_(self) -> str:
        head = ("segment", "AUC", "the rest", "shrunken", "adjusted p")
        columns = (self.auc, self.rest, self.shrunken, self.adjusted_p_value)
        rows = [(self.names[i], *(f"{column[i]:.3g}" for column in columns)) for i in self.order[:_SHOWN].tolist()]
        return super()._repr_html_() + html_table(rows, head)


def differences(
    names: Array, auc: Array, n_pos: Array, n_neg: Array, sums: Array, *, adjust: Any, level: float
) -> SegmentDifferences:
    """Test the segments for different AUCs, given AUC, class sizes and the sums of `scatter` for each segment."""
    known = ~np.isnan(auc)
    if known.sum() < 2:
        raise InputError("segments", expected="two or more segments with both classes", got=str(known.sum()))
    area, sizes = auc[known], (n_pos[known].astype(np.float64), n_neg[known].astype(np.float64))
    variance = _variance(area, *sizes, sums[known])
    spread, mean = _between(area, variance)
    weight = _weights(variance, spread**2)
    others = weight.sum() - weight
    rest = ((weight * area).sum() - weight * area) / others
    of_rest = np.maximum((weight**2 * variance).sum() - weight**2 * variance, 0) / others**2
    p = _p_values(area - rest, mean, variance, of_rest, *sizes)
    trust = spread**2 / (spread**2 + variance) if spread else np.zeros(area.size)
    columns = (rest, np.sqrt(variance), trust * area + (1 - trust) * mean, p, adjust_p_values(p, adjust))
    rest_of, error, shrunk, alone, adjusted = (_spread_out(column, known) for column in columns)
    return SegmentDifferences(names, auc, rest_of, error, shrunk, alone, adjusted, adjust, spread, level)


def _spread_out(values: Array, known: Booleans) -> Array:
    column = np.full(known.size, np.nan)
    column[known] = values
    return check.read_only(column)


def scatter(levels: SegmentLevels) -> Array:
    """Return three sums for each segment, for the variance of its AUC.

    The sums are the squared deviations of the placements of the positives, the squared deviations of the placements of
    the negatives, and the number of tied pairs.

    Examples
    --------
    >>> two = np.array([2]), np.array([2])
    >>> levels = SegmentLevels(np.array([0, 3]), *np.array([[3, 2, 1], [1, 2, 2], [0, 1, 2]]), *two)
    >>> scatter(levels)
    array([[0.03125, 0.03125, 1.     ]])
    """
    # Segments without both classes are omitted later; 1 only avoids a division by 0.
    n_pos = np.maximum(levels.n_pos, 1).astype(np.float64)
    n_neg = np.maximum(levels.n_neg, 1).astype(np.float64)
    above = levels.tp - levels.pos / 2
    area = levels.reduce(np.add, levels.neg * above) / (n_pos * n_neg)
    of_pos = 1 - (levels.fp - levels.neg / 2) / levels.spread(n_neg) - levels.spread(area)
    of_neg = above / levels.spread(n_pos) - levels.spread(area)
    columns = levels.pos * of_pos**2, levels.neg * of_neg**2, levels.pos * levels.neg.astype(np.float64)
    return np.stack([levels.reduce(np.add, column) for column in columns], axis=1)


def _variance(area: Array, n_pos: Array, n_neg: Array, sums: Array) -> Array:
    """Return the variance of the AUC of each segment, given its class sizes and estimates from all segments."""
    pairs = n_pos * n_neg
    weight = pairs / (n_pos + n_neg)
    mean = (weight * area).sum() / weight.sum()
    of_pairs = max(mean * (1 - mean) - sums[:, 2].sum() / pairs.sum() / 4, 0.0)
    more_pos, more_neg = n_pos - 1, n_neg - 1
    matrix = np.array(
        [
            [(more_pos * more_neg / n_neg).sum(), -(more_pos / n_neg).sum()],
            [-(more_neg / n_pos).sum(), (more_pos * more_neg / n_pos).sum()],
        ]
    )
    if not matrix[0, 0] > 0:
        expected = "at least one segment with two positives and two negatives"
        raise InputError("segments", expected=expected, got="no such segment")
    scatters = sums[:, :2].sum(axis=0) - of_pairs * np.array([(more_pos / n_neg).sum(), (more_neg / n_pos).sum()])
    components = np.linalg.lstsq(matrix, scatters)[0].clip(0, of_pairs)
    # The variance of a single pair is at least the sum of its two components (Hoeffding).
    if components.sum() > of_pairs:
        components = components * of_pairs / components.sum()
    of_pos, of_neg = components
    return (of_pairs + more_neg * of_pos + more_pos * of_neg) / pairs


def _between(area: Array, variance: Array) -> tuple[float, float]:
    """Estimate the standard deviation and the mean of the true AUCs of the segments (Paule–Mandel)."""

    def excess(between: float) -> float:
        weight = _weights(variance, between)
        apart = area - (weight * area).sum() / weight.sum()
        return float((weight * apart**2).sum()) - (area.size - 1)

    between = 0.0
    if np.ptp(area) > 0 and (not variance.any() or excess(0.0) > 0):
        highest = float(((area - area.mean()) ** 2).sum())
        between = root(excess, 0.0, highest, xtol=1e-14) if variance.any() else highest / (area.size - 1)
    weight = _weights(variance, between)
    return float(np.sqrt(between)), float((weight * area).sum() / weight.sum())


def _weights(variance: Array, between: float) -> Array:
    total = variance + between
    return 1 / total if total.all() else np.ones(variance.size)


def _p_values(apart: Array, mean: float, variance: Array, of_rest: Array, n_pos: Array, n_neg: Array) -> Array:
    """Return the two-sided p-value of each difference from the other segments, with a continuity correction.

    The distribution of an AUC is more skewed than the normal distribution and less skewed than the beta distribution
    with the same mean and variance. The p-value uses the larger of the two tail probabilities. In small segments, the
    distribution has longer tails. Therefore, the variance is multiplied by 1 + 1/(2m), where m is the size of the
    smaller class. The continuity correction is half a pair.
    """
    if not 0 < mean < 1:
        return np.ones(apart.size)
    variance = variance * (1 + 0.5 / np.minimum(n_pos, n_neg)) + of_rest
    trials = np.maximum(mean * (1 - mean) / variance - 1, _LEAST_TRIALS)
    a, b, half, error = mean * trials, (1 - mean) * trials, 0.5 / (n_pos * n_neg), np.sqrt(variance)
    lower, upper = apart + half, apart - half
    below = np.fmax(special.betainc(a, b, np.clip(mean + lower, 0, 1)), special.ndtr(lower / error))
    above = np.fmax(special.betaincc(a, b, np.clip(mean + upper, 0, 1)), special.ndtr(-upper / error))
    return np.minimum(2 * np.minimum(below, above), 1.0)


_WORDS = {"n": " weighted by rows", "n_pos": " weighted by positives", None: ""}


@dataclass(frozen=True)
class SegmentMeans:
    """Weighted means of m values over k segments, with their covariance.

    Attributes
    ----------
    values : m × k array
        Values of each segment, such as the AUCs of m models.
    mass : array of k
        Weight of each segment.
    words : str
        Description of the mean: number of segments, their weights, and number of omitted segments.
    crossed : bool
        True if rows of the same group are in different segments, so that segments are not independent.
    """

    values: Array
    mass: Array
    words: str
    crossed: bool = False

    @classmethod
    def of(cls, values: Array, mass: Array, weight: SegmentWeight, crossed: bool = False) -> "SegmentMeans":
        """Compute the means over the segments whose values are not NaN."""
        kept = ~np.isnan(values[0])
        if not kept.any():
            raise OneClassError(
                "mean AUC", expected="a segment with both classes", got=f"no such segment among {kept.size}"
            )
        k, lost = int(kept.sum()), kept.size - int(kept.sum())
        words = f"{k} segments" + _WORDS[weight] + (f", {lost} of one class omitted" if lost else "")
        # Contiguous, so that sums have the same rounding as for a single row.
        return cls(np.ascontiguousarray(values[:, kept]), mass[kept], words, crossed)

    @property
    def k(self) -> int:
        """Number of segments."""
        return self.mass.size

    @cached_property
    def mean(self) -> Array:
        """Weighted mean of each of the m values."""
        return (self.mass * self.values).sum(axis=1) / self.mass.sum()

    @cached_property
    def share(self) -> Array:
        """Share of each segment in the total weight."""
        return self.mass / self.mass.sum()

    @cached_property
    def covariance(self) -> Array:
        """Covariance matrix of the m means, from omitting each segment in turn (CR3); NaN for a single segment."""
        apart = self._without_segment
        products = np.array([[(one * other).sum() for other in apart] for one in apart])
        return (self.k - 1) / self.k * products if self.k > 1 else np.full(products.shape, np.nan)

    @cached_property
    def _without_segment(self) -> Array:
        """Difference between each mean and the mean without each segment (m × k)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.share / (1 - self.share) * (self.values - self.mean[:, None])

    @cached_property
    def df(self) -> float:
        """Degrees of freedom of the t test: the effective number of segments, minus one.

        In simulations of two equally good models (4,000 samples, 15 to 150 segments of lognormal sizes), tests at the
        5% level rejected in 4.7 to 6.1% of the samples. With k − 1 degrees of freedom they rejected in 5.3 to 7.6%, and
        with Satterthwaite's degrees of freedom in 1.5 to 2.7%.
        """
        return max(self.effective_segments - 1, 1.0)

    @property
    def effective_segments(self) -> float:
        """Effective number of segments (Kish); with equal weights, the number of segments."""
        return min(1 / float(self.share @ self.share), self.k) if np.ptp(self.mass) else self.k

    def estimate(self, index: int, level: float) -> Estimate:
        """Return the mean with this index, with a t interval on the logit scale.

        If the mean AUC is high, a few segments with a low AUC dominate the variance. In simulations with means near .95
        and 20 to 100 segments, these 95% intervals covered 94%. Without the logit scale and with all degrees of
        freedom, 95% intervals covered 89 to 93%.
        """
        mean, error = float(self.mean[index]), self.error(index)
        if not (error > 0 and 0 < mean < 1):
            ends = (mean, mean) if self.k > 1 else (0.0, 1.0)
            return Estimate(mean, *ends, level, "t over " + self.words, self.k, error, self.doubt(error))
        squares = self._without_segment[index] ** 2
        kurtosis = self.k * float((squares**2).sum()) / float(squares.sum()) ** 2
        informative = min(self.df, 2 * self.k / max(kurtosis - 1, 2 / self.k))
        half_width = float(special.stdtrit(max(informative, 1.0), (1 + level) / 2)) * error / (mean * (1 - mean))
        centre = special.logit(mean)
        ends = float(special.expit(centre - half_width)), float(special.expit(centre + half_width))
        doubt = self.doubt(error) or few(informative, FEW_INFORMATIVE, "segments that determine the variance")
        return Estimate(mean, *ends, level, "t on the logit scale over " + self.words, self.k, error, doubt)

    def error(self, index: int) -> float:
        """Return the standard error of the mean with this index."""
        return float(np.sqrt(self.covariance[index, index]))

    def doubt(self, error: float, alike: str = "all segments have the same AUC") -> str:
        """Return the reason why an interval with this standard error is unreliable; empty if it is reliable."""
        if self.crossed:
            return "rows of the same group are in different segments, so segments are not independent"
        return few(self.effective_segments, FEW_GROUPS, "segments of equal weight") or ("" if error > 0 else alike)


# Calibration and intervals are imported on use, so that counting a file does not import SciPy.

# Limit for which twice the number of pairs (a tie counts one) fits into 64 bits.
_MOST_PAIRS = 2.0**61


class SegmentedCounts(BySegment, Result):
    """Numbers of positives and negatives at each threshold, for one model in many segments.

    Returned by ``Predictions.counts(by="segment")`` and ``read_counts(…, segment=)``. ``segments[name]`` is the
    ThresholdCounts of a segment. Methods return arrays in the order of `names`; metrics that need both classes are NaN
    for segments with a single class. `rocscope.allocate`, `rocscope.summary`, `rocscope.Report`, `rocscope.drift` and
    `compare_segments` return results by segment. All other functions use the rows of all segments together.

    Attributes
    ----------
    names : array of k
        Names of the segments, in the order of all results.
    source : Provenance or None
        Source of the rows.
    weights : str
        Kind of the row weights, such as "sampling" or "frequency"; "cases" without row weights.
    dependent : bool
        True if some rows belong to the same group, or to the same case.
    crossed : bool
        True if rows of the same group, or of the same case, are in different segments.

    Notes
    -----
    The numbers are exactly equal to the numbers computed from a separate ThresholdCounts for each segment. If the rows
    have no weights, the scores are stored once, and two integers are stored for each segment. Weighted rows are stored
    with scores, labels and weights, and the rows of a segment are sorted only when its counts are requested.

    Examples
    --------
    >>> from rocscope import Predictions
    >>> user = ["ann", "ann", "ann", "bob", "bob", "cy"]
    >>> segments = Predictions([1, 0, 1, 0, 1, 1], [4, 3, 2, 1, 2, 5], segment=user).counts(by="segment")
    >>> segments
    SegmentedCounts(3 segments, n_pos=4, n_neg=2, 1 of one class)
    >>> segments["ann"].tp, segments.auc()
    (array([1, 1, 2]), array([0.5, 1. , nan]))
    >>> segments.mean_auc(weight="n").value, segments.one_class
    (0.7, array(['cy'], dtype='<U3'))
    """

    _content = ("names", "n_pos", "n_neg", "source")

    def __init__(
        self,
        names: Array,
        rows: SegmentRows,
        source: Provenance | None = None,
        in_folds: "Callable[[], InFolds] | None" = None,
        weights: str = "cases",
        dependent: bool = False,
        crossed: bool = False,
    ) -> None:
        super().__init__(check.read_only(names), lambda segment: rows.counts(segment).as_sums(weights, dependent))
        self._rows = rows
        self.source, self.weights, self.dependent, self.crossed = source, weights, dependent, crossed
        self._count_in_folds = in_folds

    @cached_property
    def _totals(self) -> tuple[Array, Array]:
        n_pos, n_neg = self._rows.totals
        return check.read_only(n_pos), check.read_only(n_neg)

    @property
    def sorted_rows(self) -> SortedSegments | None:
        """Sorted rows of all segments; None if the rows have weights or were counted before."""
        return self._rows if isinstance(self._rows, SortedSegments) else None

    def plot(self, figure: Any = None, *, columns: int | None = None) -> Any:
        """Plot the ROC curve of each segment in a panel of its own; see `rocscope.plotting.plot_segments`.

        Parameters
        ----------
        figure : Figure, optional
            Empty figure to draw on. By default, a new figure is created.
        columns : int, optional
            Number of panels per row.

        Returns
        -------
        Figure
            The figure with one panel per segment.
        """
        return reach("plotting").plot_segments(self, columns=columns, figure=figure)

    def levels(self) -> SegmentLevels:
        """Return a table of the distinct scores of all segments, with cumulative counts."""
        return SegmentLevels.joined(self._rows.in_pieces(lambda levels: levels))

    def hulls(self) -> SegmentLevels:
        """Return a table of the vertices of the ROC hull of each segment."""
        if self._rows.at_once:
            return SegmentLevels.joined(self._rows.in_pieces(lambda levels: levels.upper))
        return SegmentLevels.of_segments([counts.on_hull("an allocation") for counts in self.values()]).upper

    def select(self, kept: Booleans) -> "SegmentedCounts":
        """Return a subset of the segments.

        Parameters
        ----------
        kept : boolean array of k
            True for the segments to keep.

        Raises
        ------
        InputError
            If `kept` is not a boolean array of k, or does not contain True.

        Examples
        --------
        >>> from rocscope import Predictions
        >>> segments = Predictions([1, 0, 1, 0, 1], [2, 2, 1, 3, 4], segment=[7, 7, 8, 8, 9]).counts(by="segment")
        >>> segments.select(segments.n > 1)
        SegmentedCounts(2 segments, n_pos=2, n_neg=2)
        """
        mask = np.asarray(kept)
        if mask.dtype != np.bool_ or mask.shape != self.names.shape or not mask.any():
            expected = f"{len(self)} booleans, at least one of them True"
            raise InputError("kept", expected=expected, got=check.shown(kept), hint="use for example segments.n >= 100")
        in_folds = None if self._count_in_folds is None else partial(_of_kept, self._count_in_folds, mask)
        rows = self._rows.take(np.flatnonzero(mask))
        facts = self.weights, self.dependent, self.crossed
        return SegmentedCounts(self.names[mask], rows, self.source, in_folds, *facts)

    def as_sums(self, weights: str, dependent: bool = False) -> "SegmentedCounts":
        """Return the same counts with a different kind of row weights (`weights`) and a different `dependent`.

        Examples
        --------
        >>> from rocscope import Predictions
        >>> segments = Predictions([1, 0, 1, 0], [2, 2, 1, 3], segment=[7, 7, 8, 8]).counts(by="segment")
        >>> segments.weights, segments.as_sums("sampling").weights
        ('cases', 'sampling')
        """
        facts = weights, dependent, self.crossed
        return SegmentedCounts(self.names, self._rows, self.source, self._count_in_folds, *facts)

    def pooled(self) -> ThresholdCounts:
        """Return the counts of the rows of all segments together."""
        return self._rows.pooled().as_sums(self.weights, self.dependent)

    @property
    def n_pos(self) -> Array:
        """Number of positives of each segment; with row weights, the sum of the weights."""
        return self._totals[0]

    @property
    def n_neg(self) -> Array:
        """Number of negatives of each segment; with row weights, the sum of the weights."""
        return self._totals[1]

    @property
    def n(self) -> Array:
        """Number of rows of each segment; with row weights, the sum of the weights."""
        return self.n_pos + self.n_neg

    @property
    def prevalence(self) -> Array:
        """Share of positives in each segment."""
        return self.n_pos / self.n

    @cached_property
    def _has_both(self) -> Booleans:
        return (self.n_pos > 0) & (self.n_neg > 0)

    @cached_property
    def _whole_pairs(self) -> bool:
        """True if 64 bits can represent the number of pairs of every segment."""
        return (self.n_pos * self.n_neg.astype(float)).max() < _MOST_PAIRS

    @property
    def one_class(self) -> Array:
        """Names of the segments without positives or without negatives; their AUC is undefined."""
        return self.names[~self._has_both]

    def auc(self, ties: Ties = "half") -> Array:
        """Return the AUC of each segment; see `rocscope.auc` for `ties`.

        Raises
        ------
        InputError
            If `ties` is unknown.

        Examples
        --------
        >>> from rocscope import Predictions
        >>> segments = Predictions([1, 0, 1, 0], [2, 2, 1, 3], segment=[7, 7, 8, 8]).counts(by="segment")
        >>> segments.auc(), segments.auc("upper")
        (array([0.5, 0. ]), array([1., 0.]))
        """
        check.check_choice("ties", ties, ("half", "lower", "upper"))
        return self._auc.copy() if ties == "half" else self._area(ties)

    @cached_property
    def _auc(self) -> Array:
        return self._area("half")

    def _area(self, ties: Ties) -> Array:
        credit = {"lower": 0, "half": 1, "upper": 2}[ties]
        rows = self._rows
        if isinstance(rows, SortedSegments) and rows.codes.size >= kernels.SMALL and self._whole_pairs:
            below, not_above = rows.pairs()
            doubled_wins = (2 - credit) * below + credit * not_above
            return np.where(self._has_both, quotients(doubled_wins, 2 * self.n_pos * self.n_neg), np.nan)
        return self._answer(lambda levels: levels.area(credit), lambda counts: counts.pairs().auc(ties), self._has_both)

    def ks(self) -> Array:
        """Return the Kolmogorov–Smirnov distance of each segment: the largest tpr − fpr, at least 0."""
        return self._answer(SegmentLevels.ks, lambda counts: RocCurve(counts).ks, self._has_both)

    def average_precision(self) -> Array:
        """Return the average precision of each segment; NaN for segments without positives."""

        def of_counts(counts: CumulativeCounts) -> float:
            return PrecisionRecallCurve(counts).average_precision

        return self._answer(SegmentLevels.average_precision, of_counts, self.n_pos > 0, summed=True)

    def brier(self) -> Array:
        """Return the Brier score of each segment; raises ScoreError if a score is not a probability."""
        from rocscope.calibration.scoring_rules import brier

        return self._answer(SegmentLevels.brier, brier, np.ones(len(self), bool), summed=True)

    def observed_over_expected(self) -> Array:
        """Return the observed/expected ratio of each segment: positives divided by the sum of probabilities.

        The ratio is NaN if the sum of probabilities is 0.

        Raises
        ------
        ScoreError
            If a score is not a probability.
        """

        def of_counts(counts: CumulativeCounts) -> float:
            known = counts.require_levels("O/E")
            rows = known.pos + known.neg
            return ratios(known.n_pos, known.probabilities("scores") @ rows).item()

        return self._answer(SegmentLevels.observed_over_expected, of_counts, np.ones(len(self), bool), summed=True)

    def at(self, threshold: float) -> dict[Literal["tp", "fp", "fn", "tn"], Array]:
        """Return tp, fp, fn and tn of each segment at a threshold.

        Parameters
        ----------
        threshold : float
            Lowest score that is predicted positive.

        Raises
        ------
        ScoreError
            If the threshold is not a number.

        Examples
        --------
        >>> from rocscope import Predictions
        >>> segments = Predictions([1, 0, 1, 0], [2, 2, 1, 3], segment=[7, 7, 8, 8]).counts(by="segment")
        >>> segments.at(2)["fp"]
        array([1, 1])
        """
        if not check.is_number(threshold):
            raise ScoreError("threshold", expected="a number", got=repr(threshold))
        if not isinstance(self._rows, SortedSegments):
            points = [counts.at(threshold) for counts in self.values()]
            names: tuple[Literal["tp", "fp", "fn", "tn"], ...] = ("tp", "fp", "fn", "tn")
            return {name: np.array([getattr(point, name) for point in points]) for name in names}
        tp, fp = self._rows.at_least(threshold)
        return {"tp": tp, "fp": fp, "fn": self.n_pos - tp, "tn": self.n_neg - fp}

    def best(self, context: Context | Campaign | None = None) -> dict[str, Array]:
        """Return the threshold with the lowest expected cost for each segment, with tp, fp, fn, tn and cost per case.

        Parameters
        ----------
        context : Context, optional
            Costs and prevalence. By default, false positives and false negatives have the same cost, and the prevalence
            is that of each segment.

        Returns
        -------
        dict of arrays of k
            Keys "threshold", "tp", "fp", "fn", "tn" and "cost" (per case). Values are floats, and NaN for segments with
            a single class. Thresholds are Python integers if float64 would round them.

        Raises
        ------
        InputError
            If false positives and false negatives both cost less than correct decisions, or a cost is a column name.

        Notes
        -----
        `rocscope.choose` returns the same threshold for a single segment. The cost is optimistic, because the threshold
        is chosen on the same rows, especially in small segments.

        Examples
        --------
        >>> from rocscope import Context, Predictions
        >>> segments = Predictions([1, 0, 1, 0], [2, 2, 1, 3], segment=[7, 7, 8, 8]).counts(by="segment")
        >>> best = segments.best(Context(cost_fn=5))
        >>> best["threshold"], best["cost"]
        (array([-inf, -inf]), array([0.5, 0.5]))
        """
        return cheapest(self._rows, self._has_both, Context.given(context))

    def mean_auc(
        self, weight: SegmentWeight = "n", *, folds: "OverFolds | None" = None, level: float = 0.95
    ) -> Estimate:
        """Estimate the mean AUC over segments, with a confidence interval.

        Segments with a single class are omitted.

        Parameters
        ----------
        weight : {"n", "n_pos", None}
            Weight of a segment in the mean: its number of rows ("n", GAUC), its number of positives ("n_pos", wuAUC),
            or equal weights (None).
        folds : {"pooled", "mean"}, optional
            If "mean", compare the scores of a segment only within folds. The AUC of a segment is then the mean over its
            folds, weighted as by `weight`. Otherwise, scores of different folds are compared, so they must have the
            same scale.
        level : float
            Confidence level.

        Raises
        ------
        OneClassError
            If no segment has both classes; with ``folds="mean"``, if no segment has both classes in any fold.
        InputError
            If `folds` is "mean", but the rows have no folds.

        Notes
        -----
        Segments, such as users, are the sampling units; rows of the same segment may be dependent. The variance is
        estimated by omitting each segment in turn (CR3). The interval is symmetric on the logit scale and uses
        Student's t distribution. For k segments with weights w, the degrees of freedom are (Σw)²/Σw² − 1, or 2k/(κ − 1)
        if this is smaller, where κ is the kurtosis of the segments' influences on the mean. The interval is marked as
        unreliable if the effective number of segments is below 10, if fewer than 4 segments determine the variance, or
        if rows of the same group are in different segments.

        References
        ----------
        Zhu et al. 2017, Optimized cost per click in Taobao display advertising, KDD, §4 (GAUC); Cochran 1977, Sampling
        Techniques, 3rd ed., §6.
        """
        level = check.check_level(level)
        area, mass = areas_of(self, weight, folds)
        return SegmentMeans.of(area[None], mass, weight, self.crossed).estimate(0, level)

    def differing(self, *, adjust: "PValueAdjust" = "holm", level: float = 0.95) -> "SegmentDifferences":
        """Test for each segment whether its AUC differs from the AUCs of the other segments.

        The result also contains the AUCs shrunk towards their mean.

        Parameters
        ----------
        adjust : {"holm", "bh", "none"}
            Adjustment of p-values for the number of segments. "holm" limits the probability of any false discovery to 1
            − level. "bh" (Benjamini & Hochberg) limits the expected share of false discoveries, and has more power.
        level : float
            Confidence level. A segment is significant if its adjusted p-value is at most 1 − level.

        Returns
        -------
        SegmentDifferences
            AUC, p-value and shrunken AUC of each segment.

        Raises
        ------
        InputError
            If fewer than two segments have both classes, or no segment has two rows of each class.
        WeightError
            If the row weights are not integers. Integer weights are treated as frequencies.

        Notes
        -----
        The AUC of each segment is compared with the mean AUC of the other segments. The AUC of a segment with P
        positives and N negatives has the variance of a Mann–Whitney statistic, (ξ₁₁ + (N − 1)ξ₁₀ + (P − 1)ξ₀₁)/(PN).
        The variance components ξ are estimated from all segments together, because the estimate from a small segment
        with a perfect ranking is 0. P-values come from the tails of the beta distribution, or of the normal
        distribution if they are larger.

        For `shrunken`, the true AUCs are assumed to be normally distributed with standard deviation τ (Paule–Mandel).
        The difference between an AUC and the mean is multiplied by τ²/(τ² + variance).

        The test was simulated without differences between segments, for ten designs of 10 to 1,000 segments with 2 to
        60 rows and AUCs of 0.5 to 0.97. At most 5% of the samples had any significant segment, with either adjustment.
        The test is not valid if rows of a segment are dependent (such as repeated measurements), or if the variance of
        placements differs between segments with the same AUC. `shrunken` is not valid if the distribution of the true
        AUCs is far from normal, for example if they are near 1. The AUC of a significant segment is usually more
        extreme than its true AUC, because the segment was selected. For such segments, report `shrunken`.

        References
        ----------
        DeLong, DeLong & Clarke-Pearson 1988, Biometrics 44:837–845; Lee 1990, U-Statistics, §1.3; Paule & Mandel 1982,
        J. Res. Natl. Bur. Stand. 87:377–385; Morris 1983, J. Am. Stat. Assoc. 78:47–55 (empirical Bayes).

        Examples
        --------
        Nine branches have an AUC of 0.625, and the tenth branch has an AUC of 0.375:

        >>> import numpy as np
        >>> from rocscope import Predictions
        >>> branch = np.repeat([f"b{i}" for i in range(10)], 80)
        >>> y = np.tile(np.repeat([1, 0], 40), 10)
        >>> score = np.tile(np.repeat([2, 1, 2, 1], [30, 10, 20, 20]), 10)
        >>> score[-80:] = 3 - score[-80:]
        >>> found = Predictions(y, score, segment=branch).counts(by="segment").differing()
        >>> found, found.found.tolist()
        (SegmentDifferences(1 of 10 differ at 5% (holm), spread of areas 0.0587), ['b9'])
        """
        from rocscope.inference.estimate import ADJUSTMENTS

        check.check_choice("adjust", adjust, ADJUSTMENTS)
        level = check.check_level(level)
        if self.n_pos.dtype.kind == "f":
            check.require_whole_weights(self.n_pos)
        sums = np.concatenate(self._rows.in_pieces(scatter))
        return differences(self.names, self.auc(), self.n_pos, self.n_neg, sums, adjust=adjust, level=level)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame with one row per segment.

        The columns are segment, n_pos, n_neg, prevalence, auc, ks and average_precision.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            Library of the data frame.

        Examples
        --------
        >>> from rocscope import Predictions
        >>> preds = Predictions([1, 0, 1, 0], [4, 3, 1, 2], segment=["x", "x", "y", "y"])
        >>> preds.counts(by="segment").to_frame()[["segment", "n_pos", "n_neg"]]
          segment  n_pos  n_neg
        0       x      1      1
        1       y      1      1
        """
        columns = {"segment": self.names, "n_pos": self.n_pos, "n_neg": self.n_neg, "prevalence": self.prevalence}
        numbers = {"auc": self.auc(), "ks": self.ks(), "average_precision": self.average_precision()}
        return check.frame_of(columns | numbers, backend)

    def _answer(
        self,
        of_levels: Callable[[SegmentLevels], Array],
        of_counts: Callable[[Any], float],
        known: Booleans,
        *,
        summed: bool = False,
    ) -> Array:
        """Compute a metric of each `known` segment, from the table of all segments or the counts of each segment.

        If `summed` is True, large segments are computed from their counts, because NumPy adds long arrays in blocks.
        """
        rows = self._rows
        if rows.at_once and self._whole_pairs:
            figure = np.where(known, np.concatenate(rows.in_pieces(of_levels)), np.nan)
            again = np.flatnonzero(known & (self.n >= kernels.SMALL)) if summed else np.zeros(0, int)
        else:
            figure = np.full(len(self), np.nan)
            again = np.flatnonzero(known)
        for segment in again.tolist():
            figure[segment] = of_counts(self._make(segment))
        return figure

    def __repr__(self) -> str:
        totals = f"n_pos={number(self.n_pos.sum().item())}, n_neg={number(self.n_neg.sum().item())}"
        lost = f", {self.one_class.size} of one class" if self.one_class.size else ""
        return f"SegmentedCounts({len(self)} segment{'s' * (len(self) != 1)}, {totals}{lost})"


InFolds = tuple[SegmentedCounts, Indices]
"""Counts of each segment in each of its folds, and the index of the segment to which they belong."""


def _of_kept(count: Callable[[], InFolds], kept: Booleans) -> InFolds:
    parts, segment = count()
    return parts.select(kept[segment]), (np.cumsum(kept) - 1)[segment[kept[segment]]]


def areas_of(segments: SegmentedCounts, weight: SegmentWeight, folds: "OverFolds | None" = None) -> tuple[Array, Array]:
    """Return the AUC and the weight of each segment; see `SegmentedCounts.mean_auc`."""
    if weight is not None:
        check.check_choice("weight", weight, ("n", "n_pos"))
    if folds is not None:
        check.check_choice("folds", folds, ("pooled", "mean"))
    even = np.ones(len(segments))
    if folds != "mean":
        return segments.auc(), even if weight is None else getattr(segments, weight).astype(np.float64)
    if segments._count_in_folds is None:
        hint = "use Predictions from rocscope.evaluate(…, segment=)"
        raise InputError("folds='mean'", expected="Predictions with fold and segment", got="no folds", hint=hint)
    parts, segment = segments._count_in_folds()
    area, mass = areas_of(parts, weight)
    known = ~np.isnan(area)
    total = np.bincount(segment[known], mass[known], len(segments))
    moment = np.bincount(segment[known], (mass * area)[known], len(segments))
    with np.errstate(invalid="ignore"):
        return moment / total, even if weight is None else total
