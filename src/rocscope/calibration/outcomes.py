"""Outcomes at each predicted probability, with the weights and groups of the rows."""
# MERGED-DOC: """Bins of probabilities: of equal width, of equal size, given by edges, or one per distinct
# probability.
#
# Rug: where the scores of positives and of negatives lie, in few cells however many rows there are.
# """

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import expit, logit

from rocscope import kernels
from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.exact_sums import is_moderate
from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import Predictions, independent_units, require_distinct
from rocscope.core.result import number
from rocscope.errors import InputError, OneClassError, ScoreError, WeightError
from rocscope.geometry import pool
from rocscope.inference.variance import EstimatedWeights, frequencies_of, stratum_of_sample
from rocscope.kernels import compiled_pays
from rocscope.sample import Sample, sample_of

_MOST_DRAWN = 2.0**62  # rows of a level; of more, which vary less, a draw is scaled


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Distinct probabilities in increasing order, with positives and all rows at each, as float64.

    What every number and curve of calibration is computed from; made by `outcomes`.

    Attributes
    ----------
    score, pos, total : arrays of k
    dtype : type of the scores that these were, whose precision decides what is equal to the edge of a bin
    squares : array of k, optional
        Sum of the squared weights at each level; left out where a weight is a number of rows.
    design_effect : float
        How many times as much sums vary as if rows were independent.
    """

    score: Array
    pos: Array
    total: Array
    dtype: Any = field(default=np.float64, repr=False)
    squares: Array | None = field(default=None, repr=False)
    design_effect: float = field(default=1.0, repr=False)

    @classmethod
    def of(cls, counts: ThresholdCounts) -> "Outcomes":
        """Return the levels of counts, for any scores."""
        score, pos, neg = (column[::-1].astype(np.float64) for column in (counts.threshold, counts.pos, counts.neg))
        return cls(score, pos, pos + neg, counts.threshold.dtype)

    @cached_property
    def neg(self) -> Array:
        """Negatives at each probability."""
        return self.total - self.pos

    @cached_property
    def weighed(self) -> Array:
        """Sum of the rows' probabilities at each level."""
        return self.score * self.total

    @cached_property
    def n(self) -> float:
        """Number of rows (sum of weights)."""
        return float(self.total.sum())

    @cached_property
    def prevalence(self) -> float:
        """Share of positives."""
        return float(self.pos.sum()) / self.n

    def mean(self, values: Array) -> float:
        """Return the mean over rows of a value given for each probability."""
        return float(values @ self.total) / self.n

    @cached_property
    def effective(self) -> Array:
        """Effective number of rows at each level, which unequal weights reduce."""
        if self.squares is None:
            return self.total / self.design_effect
        worth = np.divide(self.total**2, self.squares, out=np.zeros_like(self.total), where=self.squares > 0)
        return worth / self.design_effect

    def effective_of(self, total: Array, first: Array) -> Array:
        """Return the effective number of rows of ranges of levels, given their first levels and totals."""
        if self.squares is None:
            return total / self.design_effect
        squares = np.add.reduceat(self.squares, first)
        return total**2 / squares / self.design_effect

    def draw(self, chance: Array, draws: int, rng: np.random.Generator) -> Array:
        """Draw the positives at each level for given probabilities of the event, one sample per row."""
        if self.squares is None:
            drawn = draw_positives(self.total, chance, draws, rng)
        else:
            worth = self.effective * self.design_effect
            drawn = draw_positives(worth, chance, draws, rng) * (self.total / worth)
        if self.design_effect == 1:
            return drawn
        expected = self.total * chance
        return expected + np.sqrt(self.design_effect) * (drawn - expected)

    @cached_property
    def reached(self) -> Array:
        """Number of rows at or below each probability."""
        return np.cumsum(self.total)

    def quantile(self, values: Array, share: Any) -> Array:
        """Return the smallest of increasing `values` that at most a given share of the rows exceed."""
        rows = np.asarray(share) * self.reached[-1] * (1 - 1e-12)
        return values[np.searchsorted(self.reached, rows).clip(max=values.size - 1)]

    def starts(self, groups: int) -> Array:
        """Return the first levels of at most a given number of groups of similar size; levels are never split."""
        before = np.arange(1, groups) * self.reached[-1] / groups
        first = np.searchsorted(self.reached, before) + 1
        return np.unique(np.concatenate([[0], first[first < self.score.size]]))

    def merged(self, starts: Array) -> "Outcomes":
        """Merge the levels from each start to the next at their mean probability."""
        pos, total, score = (np.add.reduceat(column, starts) for column in (self.pos, self.total, self.weighed))
        squares = None if self.squares is None else np.add.reduceat(self.squares, starts)
        return replace(self, score=score / total, pos=pos, total=total, dtype=np.float64, squares=squares)

    def where(self, kept: Array) -> "Outcomes":
        """Return the levels selected by a mask."""
        squares = None if self.squares is None else self.squares[kept]
        return replace(self, score=self.score[kept], pos=self.pos[kept], total=self.total[kept], squares=squares)

    def at(self, target_prevalence: float | None) -> "Outcomes":
        """Return the outcomes reweighted to a prevalence of `target_prevalence`, keeping the number of rows."""
        pos, total = Shift.of(self, target_prevalence).of_counts(self.pos, self.total)
        return self if target_prevalence is None else replace(self, pos=pos, total=total)

    def pooled(self, most: int, ends: int = 0) -> "Outcomes":
        """Return about `most` groups of neighbouring rows of equal size; `ends` levels on each side stay ungrouped."""
        size = self.score.size
        if size <= most + 2 * ends:
            return self
        starts = self.starts(most)
        inner = starts[(starts > ends) & (starts < size - ends)]
        return self.merged(np.concatenate([np.arange(ends + 1), inner, np.arange(size - ends, size)]))

    def require_both_classes(self, what: str) -> None:
        """Raise OneClassError unless there are positives and negatives."""
        if not 0 < self.prevalence < 1:
            missing = "negatives" if self.prevalence else "positives"
            raise OneClassError(what, expected="both classes", got=f"no {missing} among {number(self.n)} rows")


def draw_positives(total: Array, chance: Array, draws: int, rng: np.random.Generator) -> Array:
    """Draw the positives among the rows of each level `draws` times; a fractional row is drawn as a whole."""
    if (total == 1).all():
        return (rng.random((draws, total.size)) < chance).astype(np.float64)
    whole = np.floor(total + 1e-9)
    drawn = np.minimum(whole, _MOST_DRAWN)
    pos = rng.binomial(drawn.astype(np.int64), chance, (draws, total.size)).astype(np.float64)
    pos *= np.maximum(whole / _MOST_DRAWN, 1)
    part = np.maximum(total - whole, 0)
    if part.any():
        pos += part * (rng.random(pos.shape) < chance)
    return pos


def outcomes(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    inference: str = "",
) -> Outcomes:
    """Return the outcomes of one model's data; outcomes are returned unchanged.

    Raises
    ------
    ScoreError
        If a score is not a probability.
    InputError
        If they are for an `inference` that takes entries as independent, and a case has several.

    Examples
    --------
    >>> outcomes([0, 1, 1], [0.2, 0.2, 0.9])
    Outcomes(score=array([0.2, 0.9]), pos=array([1., 1.]), total=array([2., 1.]))
    """
    if isinstance(y_true, Outcomes):
        return y_true
    data = sample_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    if inference:
        require_distinct(data.rows, inference)
    counts = data.counts
    counts.require_probabilities("scores")
    return Outcomes.of(counts)


@dataclass(frozen=True)
class Shift:
    """Shift from the sample's prevalence to the target prevalence, which multiplies the odds.

    Attributes
    ----------
    target : float or None
        The prevalence of use; None where it is the sample's.
    odds : float
        Odds of the target over those of the sample.
    error : float
        Standard error of the logarithm of the sample's odds, which a band there has beside its own.
    """

    target: float | None = None
    odds: float = 1.0
    error: float = 0.0

    @classmethod
    def of(cls, sample: "Outcomes", target_prevalence: float | None) -> "Shift":
        """Return the shift from a sample's prevalence to a target, or None."""
        if target_prevalence is None:
            return cls()
        check.check_share(target_prevalence, "target_prevalence")
        sample.require_both_classes("calibration at another prevalence")
        share = sample.prevalence
        rows = float(sample.effective.sum())
        odds = target_prevalence / (1 - target_prevalence) * (1 - share) / share
        return cls(target_prevalence, odds, (rows * share * (1 - share)) ** -0.5)

    def of_chance(self, chance: Any) -> Any:
        """Return probabilities at the target prevalence for those in the sample."""
        if self.target is None:
            return chance
        inside = np.clip(chance, 0, 1)
        return inside * self.odds / (1 - inside + inside * self.odds)

    def in_sample(self, chance: Any) -> Any:
        """Return probabilities in the sample for those at the target prevalence."""
        return chance if self.target is None else chance / (chance + (1 - chance) * self.odds)

    def of_limits(self, value: Array, low: Array, high: Array, z: float) -> tuple[Array, Array]:
        """Return limits at the target prevalence, widened by the error of the sample's odds."""
        if self.target is None:
            return low, high
        with np.errstate(divide="ignore", invalid="ignore"):
            centre, *ends = (logit(column) for column in (value, low, high))
            moved = []
            for end, side in zip(ends, (-1, 1), strict=True):
                reach, extra = np.abs(end - centre), z * self.error
                wider = np.where(np.isfinite(reach), np.hypot(reach, extra) - reach, extra)
                moved.append(expit(np.where(np.isfinite(end), end + side * wider, end) + np.log(self.odds)))
        return moved[0], moved[1]

    def of_counts(self, pos: Array, total: Array) -> tuple[Array, Array]:
        """Return positives and rows reweighted to the target with the number of rows kept; matrix rows are samples."""
        if self.target is None:
            return pos, total
        n, positives = total.sum(axis=-1, keepdims=True), pos.sum(axis=-1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            weighted = pos * np.where(positives > 0, self.target * n / positives, 0)
            others = (total - pos) * np.where(positives < n, (1 - self.target) * n / (n - positives), 0)
        return weighted, weighted + others


def are_probabilities(counts: ThresholdCounts) -> bool:
    """Whether all scores lie between 0 and 1."""
    try:
        counts.require_probabilities("scores")
    except ScoreError:
        return False
    return True


_GROUPS = 4096  # of neighbouring rows, with which PAV is resampled
_ENDS = 512  # levels left as they are at either end, where steps are narrow
_POINTS = 2048  # of the curve as it is drawn: more than a plot has pixels across


@dataclass(frozen=True, eq=False)
class Blocks:
    """Blocks of neighbouring levels pooled by PAV, by increasing score: lowest and highest score, and counts."""

    low: Array
    high: Array
    pos: Array
    neg: Array

    @property
    def share(self) -> Array:
        """Share of positives, non-decreasing from block to block."""
        return self.pos / (self.pos + self.neg)


def pav_blocks(counts: ThresholdCounts) -> Blocks:
    """Return the blocks of isotonic regression, which are the segments of the ROC hull.

    Examples
    --------
    >>> blocks = pav_blocks(ThresholdCounts.from_scores([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8]))
    >>> blocks.low, blocks.high, blocks.share
    (array([0.1, 0.3, 0.8]), array([0.1, 0.6, 0.8]), array([0. , 0.5, 1. ]))
    """
    hull, score = pool(counts), counts.threshold[::-1]
    low = hull.threshold[::-1]
    last = np.append(np.searchsorted(score, low)[1:], score.size) - 1
    return Blocks(low, score[last], hull.pos[::-1], hull.neg[::-1])


def pav_values(sample: Outcomes) -> Array:
    """Return the fitted share at each level, in floating point, which is fast enough for resampling."""
    return isotonic_regression(sample.pos / sample.total, weights=sample.total).x.clip(0, 1)


def pav_rows(pos: Array, total: Array) -> Array:
    """Return the fitted shares of samples of labels, one a row, whose rows at each level are given alike."""
    if not compiled_pays(pos.size):
        fits = [isotonic_regression(row / rows, weights=rows).x for row, rows in zip(pos, total, strict=True)]
        return np.array(fits).clip(0, 1)
    fitted = np.empty(pos.shape)
    kernels.samples.isotonic(pos, total, fitted)
    return fitted.clip(0, 1, out=fitted)


@dataclass(frozen=True, eq=False)
class PavFit:
    """PAV fit of some outcomes, evaluated at some of their levels."""

    outcomes: Outcomes
    index: Array

    @property
    def x(self) -> Array:
        """Points at which it is evaluated."""
        return self.outcomes.score[self.index]

    def values(self, pos: Array) -> Array:
        """Return the curve at `x` for positives at each level; rows of a matrix are separate samples."""
        total = self.outcomes.total
        rows = [isotonic_regression(row / total, weights=total).x[self.index] for row in np.atleast_2d(pos)]
        return np.reshape(rows, (*pos.shape[:-1], -1))


def pav_fit(sample: Outcomes) -> PavFit:
    """Prepare PAV for resampling: above 5,000 levels, neighbouring rows are grouped except at both ends."""
    groups = sample.pooled(_GROUPS, ends=_ENDS)
    size = groups.score.size
    return PavFit(groups, np.unique(np.linspace(0, size - 1, min(size, _POINTS)).astype(int)))


_LEAST = 2.0**-1074  # of floats


@dataclass(frozen=True, eq=False)
class Evidence:
    """Outcomes together with the variance of sums over their rows.

    Attributes
    ----------
    counts : ThresholdCounts
    squares : array of 2 × k, optional
        Sums of squared weights of the positives and the negatives at each level, where weights are no numbers of rows.
    rows : tuple of arrays, optional
        Level, label (1 or 0), weight and group of each row, where rows are in groups or weights were estimated; the
        group is then that of all rows behind the weights, or None.
    weighting : EstimatedWeights, optional
        How they were estimated.
    """

    counts: ThresholdCounts
    squares: Array | None = None
    rows: tuple[Array, Array, Array, Any] | None = None
    weighting: EstimatedWeights | None = None

    @property
    def counted(self) -> bool:
        """Whether the counts tell all: rows are independent, and a weight is a number of rows."""
        return self.squares is None and self.rows is None

    @cached_property
    def outcomes(self) -> Outcomes:
        """The outcomes with effective numbers of rows."""
        plain = Outcomes.of(self.counts)
        squares = None if self.squares is None else self.squares.sum(axis=0)
        if self.rows is None:
            return replace(plain, squares=squares)
        fitted = pav_values(plain)
        grouped = self.variance_of_sum(1 - fitted, -fitted)
        alone = replace(self, rows=None).variance_of_sum(1 - fitted, -fitted)
        return replace(plain, squares=squares, design_effect=max(grouped / alone, 1.0) if alone else 1.0)

    def variance_of_sum(self, of_positive: Any, of_negative: Any) -> float:
        """Return the variance of a weighted sum of centred terms, given for a positive and a negative at each level.

        Rows of one group are not taken as independent; their sums are, with the factor G/(G − 1) of few groups.
        """
        size = len(self.counts)
        terms = [np.broadcast_to(np.asarray(term, dtype=np.float64), size) for term in (of_positive, of_negative)]
        if self.rows is not None:
            level, label, weight, group = self.rows
            own = weight * np.where(label, terms[0][level], terms[1][level])
            if self.weighting is not None:
                whole = frequencies_of(weight, self.weighting, "auto", label, self.counts.threshold[level]) is not None
                return stratum_of_sample(self.weighting, own[:, None], group, whole, len(own)).covariance.item()
            sums = np.bincount(group, own)
            return float(sums @ sums) * sums.size / max(sums.size - 1, 1)
        columns = (self.counts.pos, self.counts.neg) if self.squares is None else self.squares[:, ::-1]
        return float(sum(column[::-1] @ term**2 for column, term in zip(columns, terms, strict=True)))

    def counts_at(self, target_prevalence: float | None) -> ThresholdCounts:
        """Return the outcomes reweighted to a prevalence of `target_prevalence`, keeping the number of rows."""
        if target_prevalence is None:
            return self.counts
        counts, moved = self.counts, Outcomes.of(self.counts).at(target_prevalence)
        return ThresholdCounts(counts.threshold, moved.pos[::-1], moved.neg[::-1])

    @cached_property
    def groups(self) -> int | None:
        """Number of groups of rows; None if rows are independent."""
        return None if self.rows is None or self.rows[3] is None else int(self.rows[3].max()) + 1


def evidence(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    groups: Any = None,
    probabilities: bool = True,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> Evidence:
    """Return the evidence of labels and probabilities, counts, or one model of Predictions.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Labels and scores, Predictions, ThresholdCounts, OperatingPoint, bins or a sketch; see `rocscope.sample`. A
        weight belongs to one row that stands for so many; ThresholdCounts count rows.
    groups : array of n labels, optional
        What rows belong together, such as the patient of each: then they are not taken as independent.
    probabilities : bool
        Whether to refuse scores that are none.

    Raises
    ------
    ScoreError
        If a score is not a probability.
    """
    data = y_true
    if not isinstance(data, Sample):
        data = sample_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    if data.rows is None:
        if groups is not None:
            data.require_rows("groups")
        found = Evidence(data.counts)
    else:
        found = _of_rows(data.rows, independent_units(data.rows, groups), data.counts)
    if probabilities:
        found.counts.require_probabilities("scores")
    return found


def _of_rows(rows: Predictions, groups: Any, counts: ThresholdCounts) -> Evidence:
    (score,), weight = rows.scores.values(), rows.sample_weight
    used = slice(None) if weight is None else weight > 0
    squares, weighting = None, rows.weighting
    times = frequencies_of(weight, weighting, "auto", rows.y_true, score)
    if weight is not None and (times is None or weighting is not None):
        if not is_moderate(total := weight.sum()):
            hint = "scale them, which changes nothing but their sum"
            raise WeightError("sample_weight", expected="a sum between 1e-100 and 1e100", got=f"{total:.3g}", hint=hint)
        with np.errstate(under="ignore"):
            square = np.maximum(weight[used] ** 2, _LEAST)  # so that no row is lost
            square = square if times is None else square / times[used]
        squared = ThresholdCounts.from_checked(rows.y_true[used], score[used], square)
        squares = np.array([squared.pos, squared.neg])[:, ::-1]
    if groups is None and weighting is None:
        return Evidence(counts, squares)
    code = None if groups is None else check.check_groups(groups, "groups", len(rows))
    level = np.searchsorted(counts.threshold[::-1], score[used])
    amount = np.ones(level.size) if weight is None else weight[used].astype(np.float64)
    if weighting is not None:
        code, weighting = weighting.units(code), weighting.take(used)
    elif code is not None:
        code = code[used]
    return Evidence(counts, squares, (level, rows.y_true[used], amount, code), weighting)


Strategy = Literal["uniform", "quantile", "distinct"]


@dataclass(frozen=True, eq=False)
class Bins:
    """Outcomes gathered in bins ``[edge, next edge)``, the last one closed; an empty bin has counts of 0.

    Attributes
    ----------
    edges : array of b + 1
    first : array of b
        The first level in each bin or, where it is empty, in the next one that is not.
    pos, total, total_score : arrays of b
        Positives, rows and the sum of their probabilities in each bin.
    """

    outcomes: Outcomes
    edges: Array
    first: Array
    pos: Array
    total: Array
    total_score: Array

    @property
    def effective(self) -> Array:
        """Effective number of rows in each bin."""
        filled = self.total > 0
        worth = np.zeros(self.total.size)
        if filled.any():
            worth[filled] = self.outcomes.effective_of(self.total[filled], self.first[filled])
        return worth

    @property
    def x(self) -> Array:
        """Mean probability of each bin; NaN in an empty one."""
        return _ratio(self.total_score, self.total)

    @property
    def share(self) -> Array:
        """Share of positives of each bin; NaN in an empty one."""
        return _ratio(self.pos, self.total)

    def of(self, sample: Outcomes) -> "Bins":
        """Return the same bins for other outcomes at the same levels."""
        columns = (sums(column, self.first) for column in (sample.pos, sample.total, sample.weighed))
        return Bins(sample, self.edges, self.first, *columns)

    def filled(self) -> tuple[Array, Array, Array]:
        """Return rows, mean probability and share of positives of the non-empty bins."""
        used = self.total > 0
        return self.total[used], self.x[used], self.share[used]

    def values(self, pos: Array) -> Array:
        """Return the share in each bin for positives at each level; rows of a matrix are separate samples."""
        return _ratio(sums(pos, self.first), self.total)

    def at_levels(self, pos: Array) -> Array:
        """Return the share of the bin that contains each level."""
        return np.repeat(self.values(pos), np.diff(self.first, append=self.outcomes.score.size), axis=-1)


def _ratio(numerator: Array, denominator: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return numerator / denominator


def sums(column: Array, first: Array) -> Array:
    """Sum the levels of each bin, along the last axis."""
    filled = np.flatnonzero(np.diff(first, append=column.shape[-1]) > 0)
    sums = np.zeros((*column.shape[:-1], first.size))
    sums[..., filled] = np.add.reduceat(column, first[filled], axis=-1)
    return sums


def binned(sample: Outcomes, *, bins: int = 10, strategy: Strategy = "uniform", edges: Any = None) -> Bins:
    """Group outcomes into bins; see `rocscope.calibration_curve` for the options."""
    score = sample.score
    if edges is None and check.check_text("strategy", strategy) == "distinct":
        borders, first = np.concatenate([score, score[-1:]]), np.arange(score.size)
    else:
        if edges is None:
            borders = _borders(sample, check.check_whole(bins, "bins"), strategy)
        else:
            borders = _given_edges(edges, score)
        first = np.searchsorted(score, borders[:-1])
    return Bins(sample, borders, first, *(sums(column, first) for column in (sample.pos, sample.total, sample.weighed)))


def _equal_edges(bins: int) -> Array:
    """Return the edges of bins of equal width, as the floats nearest to the fractions: .3 and not .1 + .2.

    Examples
    --------
    >>> _equal_edges(10).tolist()
    [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    """
    return np.arange(bins + 1) / bins


def _given_edges(edges: Any, score: Array) -> Array:
    borders = check.check_numbers(edges, "edges")
    if borders.size < 2 or not (np.diff(borders) > 0).all():
        raise InputError("edges", expected="at least two increasing numbers", got=repr(borders.tolist()))
    if borders[0] > score[0] or borders[-1] < score[-1]:
        raise InputError(
            "edges",
            expected=f"to cover all scores, {score[0]:g} to {score[-1]:g}",
            got=f"{borders[0]:g} to {borders[-1]:g}",
        )
    return borders


def _borders(sample: Outcomes, bins: int, strategy: str) -> Array:
    if strategy == "uniform":
        return _equal_edges(bins).astype(sample.dtype if np.dtype(sample.dtype).kind == "f" else np.float64)
    if strategy == "quantile":
        return np.concatenate([sample.score[sample.starts(bins)], sample.score[-1:]])
    raise InputError("strategy", expected="'uniform', 'quantile' or 'distinct'", got=repr(strategy))


class Rug(NamedTuple):
    """Non-empty cells of equal width on [0, 1]: midpoints, and the positives and negatives in each."""

    x: Array
    pos: Array
    neg: Array


def rug(counts: ThresholdCounts, cells: int = 200) -> Rug:
    """Count the positives and negatives in narrow cells of the score.

    Parameters
    ----------
    counts : ThresholdCounts
        Of probabilities.
    cells : int
        Of equal width, ``[low, high)``, the last one closed.

    References
    ----------
    Vuk & Curk 2006, §6 and figure 8.

    Examples
    --------
    >>> rug(ThresholdCounts([0.9, 0.8, 0.1], [2, 1, 0], [0, 0, 3]), cells=2)
    Rug(x=array([0.25, 0.75]), pos=array([0., 3.]), neg=array([3., 0.]))
    """
    score = counts.threshold[::-1]
    edges = _equal_edges(cells).astype(score.dtype if score.dtype.kind == "f" else np.float64)
    first = np.concatenate([[0], np.searchsorted(score, edges[1:-1])])
    pos, neg = (sums(column[::-1], first) for column in (counts.pos, counts.neg))
    used = pos + neg > 0
    return Rug((np.flatnonzero(used) + 0.5) / cells, pos[used], neg[used])
