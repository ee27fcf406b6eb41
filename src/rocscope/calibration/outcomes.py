"""Numbers of positives and negatives at each predicted probability, with the weights and groups of the rows.

All calibration measures are computed from `Outcomes`. It contains the distinct probabilities in increasing order, and
the numbers of positives and negatives at each probability. A distinct probability is also called a level.

- `Evidence` adds the data for variances: unequal weights and groups of rows. Both reduce the effective number of rows.
  For weights w, the effective number is Kish's (Σw)²/Σw². For groups, it is n divided by the design effect. The design
  effect is the variance with groups, divided by the variance of independent rows.
- `Shift` converts probabilities from the prevalence of the sample to a target prevalence. It multiplies the odds by a
  constant.
- `pav_values` and `pav_blocks` compute isotonic regression by the pool-adjacent-violators algorithm (PAV).
- `Bins` groups the levels into bins.
- `rug` returns the distribution of the scores of both classes for plots.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import special

from rocscope import kernels
from rocscope._base import validation as check
from rocscope._base.arrays import Array, is_moderate
from rocscope.core import Predictions, ThresholdCounts, independent_units, number, require_kinds
from rocscope.errors import InputError, OneClassError
from rocscope.figures.logistic import CoxCalibration, recalibration
from rocscope.geometry.hull import pool
from rocscope.inference import variance
from rocscope.sample import Sample, sample_of

# Trials that a binomial draw of 64-bit integers takes; draws of more are scaled up, which varies a little more.
_MAX_TRIALS = 2.0**62
_MOST_INVERTED = 30.0  # expected number of cases up to which NumPy draws a binomial number as a quantile
_WHOLE = 1e-9  # nearer to a whole number than this, a number of rows is one


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Distinct probabilities in increasing order, with the numbers of positives and negatives at each probability.

    The function `outcomes` returns this object. A distinct probability is also called a level.

    Attributes
    ----------
    score, pos, neg : arrays of k
        Distinct probabilities, numbers of positives and numbers of negatives, as float64.
    dtype : dtype
        Data type of the original scores. Its precision determines which scores are equal to an edge of a bin.
    squares : array of k, optional
        Sum of the squared weights at each probability; None if weights are numbers of rows.
    is_count : bool
        True if `pos` and `neg` are numbers of rows, False if they are sums of other weights.
    design_effect : float
        Variance of sums over rows, divided by the variance that they would have with independent rows.
    """

    score: Array
    pos: Array
    neg: Array
    dtype: DTypeLike = field(default=np.float64, repr=False)
    squares: Array | None = field(default=None, repr=False)
    design_effect: float = field(default=1.0, repr=False)
    is_count: bool = field(default=True, repr=False)

    @classmethod
    def of(cls, counts: ThresholdCounts) -> "Outcomes":
        """Convert ThresholdCounts to Outcomes. Very large or small sums of weights are scaled by a power of two."""
        counts = counts.moderate
        score = counts.threshold[::-1].astype(np.float64)
        if check.are_probabilities(score):
            score = score.clip(0, 1)
        pos = counts.pos[::-1].astype(np.float64)
        neg = counts.neg[::-1].astype(np.float64)
        is_count = counts.weights in ("cases", "frequency", "priced")
        return cls(score, pos, neg, counts.threshold.dtype, is_count=is_count)

    @cached_property
    def total(self) -> Array:
        """Number of rows at each probability."""
        return self.pos + self.neg

    @cached_property
    def expected(self) -> Array:
        """Expected number of positives at each probability: the probability times the number of rows."""
        return self.score * self.total

    @cached_property
    def n(self) -> float:
        """Number of rows (sum of weights)."""
        return float(self.total.sum())

    @cached_property
    def prevalence(self) -> float:
        """Share of positives."""
        return float(self.pos.sum()) / self.n

    @cached_property
    def cumulative(self) -> Array:
        """Number of rows at or below each probability."""
        return np.cumsum(self.total)

    def mean(self, values: Array) -> float:
        """Return the mean over rows of `values`, which has one value for each distinct probability."""
        return float(values @ self.total) / self.n

    @cached_property
    def recalibration(self) -> CoxCalibration:
        """Intercept and slope of logistic recalibration, with the standard errors of independent rows."""
        return recalibration(self.score, self.pos, self.neg)

    @cached_property
    def effective(self) -> Array:
        """Effective number of rows at each probability. Unequal weights and groups reduce it."""
        if self.squares is None:
            return self.total / self.design_effect
        kish = np.divide(self.total**2, self.squares, out=np.zeros_like(self.total), where=self.squares > 0)
        return kish / self.design_effect

    @cached_property
    def effective_rows(self) -> float:
        """Effective number of all rows: Kish's (Σw)²/Σw², divided by the design effect of groups."""
        squares = self.n if self.squares is None else float(self.squares.sum())
        return self.n**2 / squares / self.design_effect

    def effective_of(self, total: Array, first: Array) -> Array:
        """Return the effective number of rows in each bin.

        `total` has the number of rows in each bin, and `first` the index of its first distinct probability.
        """
        if self.squares is None:
            return total / self.design_effect
        squares = np.add.reduceat(self.squares, first)
        return total**2 / squares / self.design_effect

    def draw(self, chance: Array, draws: int, rng: np.random.Generator) -> Array:
        """Simulate the number of positives at each distinct probability, if the true probabilities are `chance`.

        The result has one row per simulated sample.
        """
        if self.squares is None:
            drawn = draw_positives(self.total, chance, draws, rng)
        else:
            trials = self.effective * self.design_effect
            drawn = draw_positives(trials, chance, draws, rng) * (self.total / trials)
        if self.design_effect == 1:
            return drawn
        # Groups multiply the variance: the distance from the expectation grows by the root of the design effect.
        expected = self.total * chance
        return expected + np.sqrt(self.design_effect) * (drawn - expected)

    def quantile(self, values: Array, share: Any) -> Array:
        """Return a quantile over rows of the increasing `values`, which has one value per distinct probability."""
        # A share that ends at a level exactly must not miss it by rounding.
        rows = np.asarray(share) * self.cumulative[-1] * (1 - 1e-12)
        return values[np.searchsorted(self.cumulative, rows).clip(max=values.size - 1)]

    def starts(self, groups: int) -> Array:
        """Group neighbouring probabilities into at most `groups` groups with about equal numbers of rows.

        Return the index of the first distinct probability in each group.
        """
        # A group that ends at a level exactly must not miss it by rounding.
        before = np.arange(1, groups) * self.cumulative[-1] / groups * (1 - 1e-12)
        first = np.searchsorted(self.cumulative, before) + 1
        return np.unique(np.concatenate([[0], first[first < self.score.size]]))

    def merged(self, starts: Array) -> "Outcomes":
        """Merge neighbouring probabilities into groups with their mean probability.

        `starts` contains the index of the first distinct probability in each group.
        """
        pos = np.add.reduceat(self.pos, starts)
        neg = np.add.reduceat(self.neg, starts)
        score = np.add.reduceat(self.expected, starts) / np.add.reduceat(self.total, starts)
        squares = None if self.squares is None else np.add.reduceat(self.squares, starts)
        return replace(self, score=score, pos=pos, neg=neg, dtype=np.float64, squares=squares)

    def where(self, kept: Array) -> "Outcomes":
        """Return the outcomes for the distinct probabilities that a boolean mask selects."""
        squares = None if self.squares is None else self.squares[kept]
        return replace(self, score=self.score[kept], pos=self.pos[kept], neg=self.neg[kept], squares=squares)

    def at(self, target_prevalence: float | None) -> "Outcomes":
        """Return the outcomes with classes reweighted to the target prevalence; the number of rows does not change."""
        if target_prevalence is None:
            return self
        check.check_share(target_prevalence, "target_prevalence")
        self.require_both_classes("calibration at another prevalence")
        of_pos, of_neg = self.class_weights(target_prevalence)
        return replace(self, pos=self.pos * of_pos, neg=self.neg * of_neg, is_count=False)

    def class_weights(self, target_prevalence: float | None) -> tuple[float, float]:
        """Return the weight of a positive row and of a negative row that give the target prevalence."""
        if target_prevalence is None:
            return 1.0, 1.0
        of_positive = target_prevalence * self.n / float(self.pos.sum())
        return of_positive, (1 - target_prevalence) * self.n / float(self.neg.sum())

    def pooled(self, most: int, ends: int = 0) -> "Outcomes":
        """Merge neighbouring probabilities into about `most` groups of equal size.

        The `ends` lowest and the `ends` highest probabilities are not merged.
        """
        size = self.score.size
        if size <= most + 2 * ends:
            return self
        starts = self.starts(most)
        inner = starts[(starts > ends) & (starts < size - ends)]
        return self.merged(np.concatenate([np.arange(ends + 1), inner, np.arange(size - ends, size)]))

    def require_both_classes(self, what: str) -> None:
        """Raise a OneClassError if there are no positives or no negatives."""
        if not 0 < self.prevalence < 1:
            missing = "negatives" if self.prevalence else "positives"
            raise OneClassError(what, expected="both classes", got=f"no {missing} among {number(self.n)} rows")


def draw_positives(total: Array, chance: Array, draws: int, rng: np.random.Generator) -> Array:
    """Simulate the number of positives among `total` rows if each row is positive with the probability `chance`.

    The result has one row per simulated sample. A fraction of a row is either positive or negative.
    """
    # Effective rows are rounded quotients: whether there is a fraction to draw must not depend on that.
    nearest = np.rint(total)
    total = np.where(np.abs(total - nearest) < _WHOLE, nearest, total)
    if (total == 1).all():
        return (rng.random((draws, total.size)) < chance).astype(np.float64)
    whole_rows = np.floor(total)
    trials = np.minimum(whole_rows, _MAX_TRIALS)
    pos = _draw_binomial(trials, chance, draws, rng)
    pos *= np.maximum(whole_rows / _MAX_TRIALS, 1)
    fraction = total - whole_rows
    if fraction.any():
        pos += fraction * (rng.random(pos.shape) < chance)
    return pos


def _draw_binomial(trials: Array, chance: Array, draws: int, rng: np.random.Generator) -> Array:
    """Draw the same binomial numbers as `Generator.binomial`, in a tenth of the time where few cases are expected.

    NumPy draws them from one uniform number each, as a quantile, if the expected number of the rarer outcome is at most
    30. But it computes the probabilities again for each draw.
    """
    is_rarer_positive = chance <= 0.5
    rarer = np.where(is_rarer_positive, chance, 1 - chance)
    if not ((trials * rarer <= _MOST_INVERTED).all() and kernels.compiled_pays(draws * trials.size)):
        return rng.binomial(trials.astype(np.int64), chance, (draws, trials.size)).astype(np.float64)
    # NumPy draws no number where there is nothing to draw.
    is_drawn = (trials > 0) & (chance > 0)
    uniform = np.ones((trials.size, draws))
    uniform[is_drawn] = rng.random((draws, np.count_nonzero(is_drawn))).T
    # The kernel takes the quantile of the failures at 1 - u, and NumPy at u.
    uniform = np.where(is_rarer_positive[:, None], uniform, 1 - uniform)
    drawn = np.empty((1, draws, trials.size))
    kernels.samples.successes(uniform, trials, chance[None], np.ones((1, trials.size), np.bool_), drawn)
    return drawn[0]


def outcomes(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> Outcomes:
    """Convert the data of one model to Outcomes.

    Raises
    ------
    ScoreError
        If a score is not a probability.

    Examples
    --------
    >>> outcomes([0, 1, 1], [0.2, 0.2, 0.9])
    Outcomes(score=array([0.2, 0.9]), pos=array([1., 1.]), neg=array([1., 0.]))
    """
    if isinstance(y_true, Outcomes):
        return y_true
    data = sample_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    counts = data.counts
    counts.probabilities("scores")
    return Outcomes.of(counts)


def are_probabilities(counts: ThresholdCounts) -> bool:
    """Return True if all scores are between 0 and 1, up to rounding."""
    return check.are_probabilities(counts.threshold)


@dataclass(frozen=True)
class Shift:
    """Conversion of probabilities from the prevalence of the sample to a target prevalence.

    The conversion multiplies the odds of each probability by a constant. `of_chance` converts probabilities to the
    target prevalence, and `in_sample` converts them back. `of_counts` reweights numbers of positives and negatives.

    Attributes
    ----------
    target : float or None
        Target prevalence; None for the prevalence of the sample.
    odds : float
        Odds of the target prevalence, divided by the odds of the prevalence in the sample.
    error : float
        Standard error of the log-odds of the prevalence p in the sample, 1/√(n·p·(1 − p)). Bands include this error.
    """

    target: float | None = None
    odds: float = 1.0
    error: float = 0.0

    @classmethod
    def of(cls, sample: "Outcomes", target_prevalence: float | None) -> "Shift":
        """Return the conversion for a sample; with None as the target, probabilities do not change."""
        if target_prevalence is None:
            return cls()
        check.check_share(target_prevalence, "target_prevalence")
        sample.require_both_classes("calibration at another prevalence")
        share = sample.prevalence
        rows = float(sample.effective.sum())
        odds = target_prevalence / (1 - target_prevalence) * (1 - share) / share
        return cls(target_prevalence, odds, (rows * share * (1 - share)) ** -0.5)

    def of_chance(self, chance: Any) -> Any:
        """Convert probabilities from the prevalence of the sample to the target prevalence."""
        if self.target is None:
            return chance
        inside = np.clip(chance, 0, 1)
        return inside * self.odds / (1 - inside + inside * self.odds)

    def in_sample(self, chance: Any) -> Any:
        """Convert probabilities from the target prevalence to the prevalence of the sample."""
        return chance if self.target is None else chance / (chance + (1 - chance) * self.odds)

    def of_limits(self, value: Array, low: Array, high: Array, z: float) -> tuple[Array, Array]:
        """Convert interval limits to the target prevalence, and widen them by the error of the sample's prevalence."""
        if self.target is None:
            return low, high
        return self._of_limit(value, low, -1, z), self._of_limit(value, high, 1, z)

    def _of_limit(self, value: Array, limit: Array, side: int, z: float) -> Array:
        """Convert one limit; `side` is −1 for a lower limit and 1 for an upper limit.

        On the log-odds scale, the error of the curve and the error of the prevalence are independent. The distance of
        the limit from the value is therefore √(distance² + (z·error)²).
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            end = special.logit(limit)
            distance, extra = np.abs(end - special.logit(value)), z * self.error
            wider = np.where(np.isfinite(distance), np.hypot(distance, extra) - distance, extra)
            # Limits of 0 and 1 have infinite log-odds and stay.
            return special.expit(np.where(np.isfinite(end), end + side * wider, end) + np.log(self.odds))

    def of_counts(self, pos: Array, total: Array) -> tuple[Array, Array]:
        """Reweight numbers of positives and of rows to the target prevalence, without changing the sum over levels.

        Each row of a matrix is one sample.
        """
        if self.target is None:
            return pos, total
        n, n_pos = total.sum(axis=-1, keepdims=True), pos.sum(axis=-1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            weighted_pos = pos * np.where(n_pos > 0, self.target * n / n_pos, 0)
            weighted_neg = (total - pos) * np.where(n_pos < n, (1 - self.target) * n / (n - n_pos), 0)
        return weighted_pos, weighted_pos + weighted_neg


# Isotonic regression

_PAV_GROUPS = 4096  # groups of neighbouring rows when PAV is resampled, finer than any figure shows
_PAV_ENDS = 512  # levels at either end that stay ungrouped: the steps of PAV are narrow there
_PAV_POINTS = 2048  # points at which the curve is evaluated: more than a plot has pixels across


@dataclass(frozen=True, eq=False)
class Blocks:
    """Blocks of isotonic regression: ranges of neighbouring scores with the same fitted probability, in order.

    Attributes
    ----------
    low, high : arrays
        Lowest and highest score of each block.
    pos, neg : arrays
        Number of positives and negatives in each block.
    """

    low: Array
    high: Array
    pos: Array
    neg: Array

    @property
    def share(self) -> Array:
        """Share of positives in each block, which never decreases from one block to the next."""
        return self.pos / (self.pos + self.neg)

    @property
    def corners(self) -> tuple[Array, Array]:
        """Points of the isotonic curve: scores, and shares of positives.

        Each block has a point at its lowest score and a point at its highest score.
        """
        score = np.repeat(self.low, 2).astype(np.float64)
        score[1::2] = self.high
        kept = np.append(True, np.diff(score) > 0)
        return score[kept], np.repeat(self.share, 2)[kept]


def pav_blocks(counts: ThresholdCounts) -> Blocks:
    """Return the blocks of isotonic regression, which correspond to the line segments of the ROC hull.

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
    """Return the fit of isotonic regression at each distinct probability."""
    return pav_rows(sample.pos[None], sample.total)[0]


def pav_rows(pos: Array, total: Array) -> Array:
    """Return the fit of isotonic regression at each distinct probability, one row per sample.

    `pos` and `total` are the numbers of positives and of rows at each distinct probability.
    """
    return _isotonic_rows(pos, total).clip(0, 1)


def _isotonic_rows(pos: Array, total: Array) -> Array:
    """Return isotonic fits like `pav_rows`. Values are outside 0 and 1 if `pos` is outside 0 and `total`.

    SciPy has the same function, but importing its module takes longer than a short summary.
    """
    pos, total = np.ascontiguousarray(pos, np.float64), np.broadcast_to(total, pos.shape)
    is_compiled = kernels.compiled_pays(pos.size)
    if not is_compiled and len(pos) > 1:
        return _pooled_together(pos, total)
    fitted = np.empty(pos.shape)
    (kernels.samples.isotonic if is_compiled else kernels.samples.isotonic.python)(pos, total, fitted)
    return fitted


def _pooled_together(pos: Array, total: Array) -> Array:
    """Return isotonic fits of many samples, without a loop over samples and levels.

    Neighbouring blocks whose shares do not increase belong together in the fit, in whatever order they are pooled. So
    each pass pools all of them in all samples. It takes about ten passes, and at most as many as there are levels.
    """
    happened, size = pos.ravel(), total.ravel()
    levels = np.ones(pos.size, np.int64)  # number of levels in each block
    is_first = np.arange(pos.size) % pos.shape[1] == 0  # blocks of different samples are not pooled
    while True:
        share = happened / size
        is_start = is_first.copy()
        is_start[1:] |= share[1:] > share[:-1]
        if is_start.all():
            return np.repeat(share, levels).reshape(pos.shape)
        start = np.flatnonzero(is_start)
        happened, size, levels = (np.add.reduceat(values, start) for values in (happened, size, levels))
        is_first = is_first[start]


@dataclass(frozen=True, eq=False)
class PavFit:
    """Isotonic regression (PAV) for resampling, evaluated at the levels `index` of `outcomes`."""

    outcomes: Outcomes
    index: Array

    @property
    def x(self) -> Array:
        """Probabilities at which the fit is evaluated."""
        return self.outcomes.score[self.index]

    def values(self, pos: Array) -> Array:
        """Return the isotonic curve at `x`, given the number of positives at each distinct probability.

        Each row of a matrix is one sample.
        """
        curves = _isotonic_rows(np.atleast_2d(pos), self.outcomes.total)[:, self.index]
        return curves.reshape(*pos.shape[:-1], -1)


def pav_fit(sample: Outcomes) -> PavFit:
    """Prepare isotonic regression for resampling.

    If there are more than about 5,000 distinct probabilities, neighbouring probabilities are merged, except at both
    ends.
    """
    groups = sample.pooled(_PAV_GROUPS, ends=_PAV_ENDS)
    size = groups.score.size
    return PavFit(groups, np.unique(np.linspace(0, size - 1, min(size, _PAV_POINTS)).astype(int)))


# Weights and groups


class WeightedOutcomes(NamedTuple):
    """Index of the distinct probability, label, weight and group of each row; `group` is None for independent rows.

    If the weights were estimated, `group` also covers the rows of weight 0, which were used in the estimation.
    """

    level: NDArray[np.intp]
    positive: NDArray[np.bool_]
    weight: Array
    group: NDArray[np.intp] | None
    is_frequency: bool


@dataclass(frozen=True, eq=False)
class Evidence:
    """Numbers of positives and negatives at each probability, with the data for variances of sums over rows.

    Attributes
    ----------
    counts : ThresholdCounts
        Numbers of positives and negatives at each probability.
    squares : array of 2 × k, optional
        Sum of the squared weights at each of the k probabilities, for positives and for negatives. None if weights are
        frequencies.
    rows : WeightedOutcomes, optional
        Data of the single rows, if the rows are in groups or have estimated weights.
    weighting : EstimatedWeights, optional
        Method by which the weights were estimated.
    from_counts : bool
        True if the data were passed as counts without rows.
    """

    counts: ThresholdCounts
    squares: Array | None = None
    rows: WeightedOutcomes | None = None
    weighting: variance.EstimatedWeights | None = None
    from_counts: bool = False

    @cached_property
    def doubt(self) -> str:
        """Reason why intervals are not reliable; empty if they are reliable.

        Counts of dependent rows cause a warning.
        """
        if self.from_counts:
            return require_kinds("an interval from counts", self.counts)
        return "" if self.weighting is None else self.weighting.doubt

    @property
    def counted(self) -> bool:
        """True if `counts` is sufficient for variances: rows are independent, and weights are numbers of rows."""
        return self.squares is None and self.rows is None

    @cached_property
    def plain(self) -> Outcomes:
        """Outcomes in which each weight is used as a number of rows."""
        return Outcomes.of(self.counts)

    @cached_property
    def outcomes(self) -> Outcomes:
        """Outcomes with effective numbers of rows.

        The design effect is the design effect of the mean residual from the isotonic curve. It is therefore also valid
        for models that are not calibrated.
        """
        plain = self.plain
        if self.counted:
            return plain
        squares = None if self.squares is None else self.squares.sum(axis=0)
        if self.rows is None:
            return replace(plain, squares=squares)
        fitted = pav_values(plain)
        grouped = self.variance_of_sum(1 - fitted, -fitted)
        independent = replace(self, rows=None).variance_of_sum(1 - fitted, -fitted)
        # 1 where there is no variance (one group, or a perfect fit), or a smaller one by chance.
        effect = grouped / independent if independent else 1.0
        return replace(plain, squares=squares, design_effect=effect if effect > 1 else 1.0)

    def outcomes_at(self, target_prevalence: float | None) -> Outcomes:
        """Return the outcomes at a target prevalence, with effective numbers of rows."""
        plain = self.outcomes
        if target_prevalence is None:
            return plain
        pos, neg = plain.pos, plain.neg
        if self.squares is not None:
            pos, neg = self.squares
        of_pos, of_neg = plain.class_weights(target_prevalence)
        return replace(plain.at(target_prevalence), squares=of_pos**2 * pos + of_neg**2 * neg)

    def variance_of_sum(self, of_positive: Any, of_negative: Any) -> float:
        """Return the variance of the sum Σ w·t over rows with weights w and terms t.

        `of_positive` contains the term of a positive at each distinct probability, and `of_negative` the term of a
        negative. The mean of the terms over rows must be 0. For independent rows, the variance is Σ w²·t². For G
        groups, it is computed from the sums within groups, with the small-sample factor G/(G − 1). It is NaN for a
        single group.
        """
        size = len(self.counts)
        of_positive = np.broadcast_to(np.asarray(of_positive, dtype=np.float64), size)
        of_negative = np.broadcast_to(np.asarray(of_negative, dtype=np.float64), size)
        return self.covariance_of_sums(of_positive[None], of_negative[None])[0].item()

    def covariance_of_sums(self, of_positive: Array, of_negative: Array) -> tuple[Array, float]:
        """Return the covariance matrix of m sums Σ w·t over rows, and degrees of freedom.

        `of_positive` and `of_negative` are arrays of m × k. They contain the terms t of positives and of negatives for
        each of the m sums at each of the k distinct probabilities. The degrees of freedom of a variance are the size of
        a normal sample that estimates a variance with the same precision. The function returns the smallest degrees of
        freedom of the m variances.
        """
        if self.rows is None:
            if self.squares is None:  # w = 1, so that counts are sums of w²
                squares_pos, squares_neg = self.plain.pos, self.plain.neg
            else:
                squares_pos, squares_neg = self.squares
            of_pos, of_neg = of_positive * squares_pos, of_negative * squares_neg
            covariance = of_pos @ of_positive.T + of_neg @ of_negative.T
            return covariance, self.plain.n if self.squares is None else self.outcomes.effective_rows
        level, positive, weight, group, is_frequency = self.rows
        moves = (weight * np.where(positive, of_positive[:, level], of_negative[:, level])).T
        if self.weighting is None:
            stratum = variance.stratum_of_moves(moves, group)
        else:
            stratum = variance.stratum_of_sample(self.weighting, moves, group, is_frequency, len(moves))
        return stratum.covariance, min(map(stratum.informative_units, stratum.moves.T))

    def counts_at(self, target_prevalence: float | None) -> ThresholdCounts:
        """Return the counts with classes reweighted to the target prevalence; the number of rows does not change."""
        if target_prevalence is None:
            return self.counts
        moved = self.plain.at(target_prevalence)
        counts = ThresholdCounts(self.counts.threshold, moved.pos[::-1], moved.neg[::-1])
        return counts.as_sums("sampling", self.counts.dependent)

    @cached_property
    def groups(self) -> int | None:
        """Number of groups of rows; None if rows are independent."""
        return None if self.rows is None or self.rows.group is None else int(self.rows.group.max()) + 1


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
    """Convert labels and probabilities, counts, or the predictions of one model to Evidence.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters. A weight is a sampling weight of one row. Counts in ThresholdCounts are numbers of rows.
    groups : array of n labels, optional
        Group of each row, such as the patient. Rows of the same group are treated as dependent.
    probabilities : bool
        If True, raise a ScoreError for scores that are not probabilities.

    Raises
    ------
    ScoreError
        If `probabilities` is True and a score is not a probability.
    """
    data = y_true
    if not isinstance(data, Sample):
        data = sample_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    if data.rows is not None:
        result = _evidence_of_rows(data.rows, independent_units(data.rows, groups), data.counts)
    else:
        if groups is not None:
            data.require_rows("groups")
        result = Evidence(data.counts, from_counts=True)
    if probabilities:
        result.counts.probabilities("scores")
    return result


def _evidence_of_rows(rows: Predictions, group: NDArray[np.intp] | None, counts: ThresholdCounts) -> Evidence:
    """Return the Evidence for the predictions of one model, given the group of each row and the counts of all rows."""
    (score,) = rows.scores.values()
    weight, weighting = rows.sample_weight, rows.weighting
    # Rows of weight 0 are no level of the counts.
    used = slice(None) if weight is None else weight > 0

    # Squared weights: of several equal rows (times), each has the square of its own part.
    squares = None
    times = rows.frequency
    if weight is not None and times is None and not is_moderate(counts.n):
        weight = np.ldexp(weight, -np.frexp(counts.n)[1])  # exact, and as `counts.moderate`
    if weight is not None and (times is None or weighting is not None):
        with np.errstate(under="ignore"):
            # Never 0, so that the levels of the squares are those of the counts.
            square = np.maximum(weight[used] ** 2, np.finfo(np.float64).smallest_subnormal)
            if times is not None:
                square = square / times[used]
        squared = ThresholdCounts.from_checked(rows.y_true[used], score[used], square)
        squares = np.array([squared.pos, squared.neg])[:, ::-1]
    if group is None and weighting is None:
        return Evidence(counts, squares)

    # Single rows: for sums over groups, or over all rows behind estimated weights.
    level = np.searchsorted(counts.threshold[::-1], score[used])
    amount = np.ones(level.size) if weight is None else weight[used].astype(np.float64)
    if weighting is not None:
        # The groups of all rows of the sample, not only of the used ones: rows of weight 0 also moved the estimated
        # weights, and so are part of the variance (EstimatedWeights.moves).
        group, weighting = weighting.units(group), weighting.take(used)
    elif group is not None:
        group = np.unique(group[used], return_inverse=True)[1]
    weighted_rows = WeightedOutcomes(level, rows.y_true[used], amount, group, times is not None)
    return Evidence(counts, squares, weighted_rows, weighting)


# Bins

Strategy = Literal["uniform", "quantile", "distinct"]


@dataclass(frozen=True, eq=False)
class Bins:
    """Outcomes grouped into bins of the score.

    Each bin contains its lower edge. Only the last bin also contains its upper edge.

    Attributes
    ----------
    outcomes : Outcomes
        Distinct probabilities with numbers of positives and negatives.
    edges : array of b + 1
        Edges of the b bins.
    first : array of b
        Index of the first level in each bin. For an empty bin, it is the index for the next non-empty bin.
    """

    outcomes: Outcomes
    edges: Array
    first: Array

    @cached_property
    def pos(self) -> Array:
        """Number of positives in each bin."""
        return sums_by_bin(self.outcomes.pos, self.first)

    @cached_property
    def total(self) -> Array:
        """Number of rows in each bin."""
        return sums_by_bin(self.outcomes.total, self.first)

    @property
    def effective(self) -> Array:
        """Effective number of rows in each bin."""
        filled = self.total > 0
        effective = np.zeros(self.total.size)
        if filled.any():
            effective[filled] = self.outcomes.effective_of(self.total[filled], self.first[filled])
        return effective

    @property
    def x(self) -> Array:
        """Mean probability in each bin; NaN for an empty bin."""
        return _ratio(sums_by_bin(self.outcomes.expected, self.first), self.total)

    @property
    def share(self) -> Array:
        """Share of positives in each bin; NaN for an empty bin."""
        return _ratio(self.pos, self.total)

    def of(self, sample: Outcomes) -> "Bins":
        """Return the same bins for other outcomes with the same distinct probabilities."""
        return Bins(sample, self.edges, self.first)

    def filled(self) -> tuple[Array, Array, Array]:
        """Return the number of rows, mean probability and share of positives of each non-empty bin."""
        used = self.total > 0
        return self.total[used], self.x[used], self.share[used]

    def values(self, pos: Array) -> Array:
        """Return the share of positives in each bin, given the number of positives at each distinct probability.

        Each row of a matrix is one sample.
        """
        return _ratio(sums_by_bin(pos, self.first), self.total)


def _ratio(numerator: Array, denominator: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return numerator / denominator


def sums_by_bin(column: Array, first: Array) -> Array:
    """Return the sum of `column` over the distinct probabilities in each bin, along the last axis."""
    # reduceat gives an empty range its first element, so that empty bins are left at 0.
    filled = np.flatnonzero(np.diff(first, append=column.shape[-1]) > 0)
    sums = np.zeros((*column.shape[:-1], first.size))
    sums[..., filled] = np.add.reduceat(column, first[filled], axis=-1)
    return sums


def binned(sample: Outcomes, *, bins: int = 10, strategy: Strategy = "uniform", edges: Any = None) -> Bins:
    """Group outcomes into bins; for the arguments see `rocscope.calibration_curve`."""
    score = sample.score
    if edges is not None:
        borders = _given_edges(edges, score)
        return Bins(sample, borders, np.searchsorted(score, borders[:-1]))
    if check.check_text("strategy", strategy) == "distinct":
        return Bins(sample, np.append(score, score[-1]), np.arange(score.size))
    check.check_whole(bins, "bins")
    if strategy == "uniform":
        borders = _equal_edges(bins, sample.dtype)
    elif strategy == "quantile":
        borders = np.append(score[sample.starts(bins)], score[-1])
    else:
        raise InputError("strategy", expected="'uniform', 'quantile' or 'distinct'", got=repr(strategy))
    return Bins(sample, borders, np.searchsorted(score, borders[:-1]))


def _equal_edges(bins: int, dtype: DTypeLike = np.float64) -> Array:
    """Return the edges of bins of equal width on [0, 1], without accumulated rounding errors.

    Edges have the data type of the scores, so a float32 score of 0.3 equals the edge 0.3.

    Examples
    --------
    >>> _equal_edges(10).tolist()
    [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    """
    edges = np.arange(bins + 1) / bins
    return edges.astype(dtype) if np.dtype(dtype).kind == "f" else edges


def _given_edges(edges: Any, score: Array) -> Array:
    borders = check.check_numbers(edges, "edges")
    if borders.size < 2 or not (np.diff(borders) > 0).all():
        raise InputError("edges", expected="at least two increasing numbers", got=repr(borders.tolist()))
    if borders[0] > score[0] or borders[-1] < score[-1]:
        expected = f"a range that contains all scores ({score[0]:g} to {score[-1]:g})"
        raise InputError("edges", expected=expected, got=f"the range {borders[0]:g} to {borders[-1]:g}")
    return borders


class Rug(NamedTuple):
    """Histogram of the scores in narrow cells: midpoint, positives and negatives of each non-empty cell."""

    x: Array
    pos: Array
    neg: Array


def rug(counts: ThresholdCounts, cells: int = 200) -> Rug:
    """Count the positives and negatives in narrow cells of equal width on [0, 1].

    Parameters
    ----------
    counts : ThresholdCounts
        Numbers of positives and negatives at each probability.
    cells : int
        Number of cells. Each cell contains its lower edge, and only the last cell also contains its upper edge.

    References
    ----------
    Vuk & Curk 2006, §6 and figure 8.

    Examples
    --------
    >>> rug(ThresholdCounts([0.9, 0.8, 0.1], [2, 1, 0], [0, 0, 3]), cells=2)
    Rug(x=array([0.25, 0.75]), pos=array([0., 3.]), neg=array([3., 0.]))
    """
    score = counts.threshold[::-1]
    edges = _equal_edges(cells, score.dtype)
    first = np.concatenate([[0], np.searchsorted(score, edges[1:-1])])
    pos = sums_by_bin(counts.pos[::-1], first)
    neg = sums_by_bin(counts.neg[::-1], first)
    used = pos + neg > 0
    return Rug((np.flatnonzero(used) + 0.5) / cells, pos[used], neg[used])
