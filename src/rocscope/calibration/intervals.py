"""Confidence intervals of calibration measures: in closed form, and by test inversion.

`ClosedForms` computes measures that are means over rows or smooth functions of means: scores, observed over expected,
intercept and slope. Their variance is the variance of a sum of influence values. `Evidence` computes it for weights and
groups. At a target prevalence, each class is weighted separately, so the variance is the sum of the variances within
the two classes.

`invert` computes intervals of distances from calibration. Distances are above 0 even for calibrated models, because of
sampling error, and are not normally distributed. Labels are simulated from a series of curves. The series starts at the
predicted probabilities, which have the distance 0, and continues to the fitted curve and further. A test compares the
distance in the sample with the simulated distances of each curve. The interval contains the true distances of all
curves that the test does not reject.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, isfinite, isnan, nan, sqrt
from typing import Any

import numpy as np
from scipy.special import expit, logit, ndtri

from rocscope import kernels
from rocscope._base.arrays import Array
from rocscope.calibration.outcomes import Evidence, Outcomes, Shift
from rocscope.calibration.scoring_rules import log_losses, mean_loss, squared_errors
from rocscope.figures.logistic import ONE_CLASS, CoxCalibration
from rocscope.inference.estimate import FEW_EVENTS, Estimate, few, few_groups
from rocscope.inference.proportions import binomial_limits, normal_quantile

_CERTAIN = "every prediction is 0 or 1 and correct, so there is no variation"
_CONSTANT = "there is no variation between rows"


@dataclass(frozen=True, eq=False)
class ClosedForms:
    """Calibration measures that have intervals in closed form.

    Attributes
    ----------
    evidence : Evidence
        Numbers of positives and negatives at each probability, with the data for variances.
    shift : Shift
        Conversion to the target prevalence. With a target, each class is weighted separately, and the number of rows in
        each class is treated as fixed.
    level : float
        Confidence level of two-sided intervals.
    """

    evidence: Evidence
    shift: Shift
    level: float

    @cached_property
    def sample(self) -> Outcomes:
        """Outcomes at the target prevalence."""
        return self.evidence.plain.at(self.shift.target)

    def error(self, of_positive: Any, of_negative: Any) -> float:
        """Return the standard error of a mean over rows.

        `of_positive` and `of_negative` are the values of a positive and of a negative at each distinct probability.
        """
        sample = self.sample
        if self.shift.target is not None:
            of_positive = np.broadcast_to(of_positive, sample.score.size)
            of_negative = np.broadcast_to(of_negative, sample.score.size)
            # The shares of the classes are given: only the variation within the classes counts.
            of_positive = of_positive - (of_positive @ sample.pos) / sample.pos.sum()
            of_negative = of_negative - (of_negative @ sample.neg) / sample.neg.sum()
            weight_pos, weight_neg = self.evidence.outcomes.class_weights(self.shift.target)
            of_positive, of_negative = of_positive * weight_pos, of_negative * weight_neg
        variance = self.evidence.variance_of_sum(of_positive, of_negative)
        return sqrt(max(variance, 0.0)) / sample.n

    def mean(self, of_positive: Array, of_negative: Array, *, most: float, name: str) -> Estimate:
        """Return the mean over rows of values between 0 and `most`, with an interval on the log or logit scale.

        `of_positive` and `of_negative` are the values of a positive and of a negative at each distinct probability.
        """
        value = mean_loss(self.sample, of_positive, of_negative)
        if not isfinite(value):
            return self.without(value, "infinite, because an observed outcome had the probability 0")
        # Terms that are still infinite belong to no row, so that any number replaces them.
        finite_pos = np.where(np.isfinite(of_positive), of_positive, 0.0)
        finite_neg = np.where(np.isfinite(of_negative), of_negative, 0.0)
        error = self.error(finite_pos - value, finite_neg - value)
        if not error > 0:
            return self.without(value, _CERTAIN if value == 0 else _CONSTANT)
        # Delta method: the standard error of log(v) is error/v, that of logit(s) is error/(s·(1 − s)).
        z = normal_quantile(self.level)
        if most == inf:
            reach = z * error / value
            return self.of(value, value * np.exp(-reach), value * np.exp(reach), f"{name}, logarithmic scale", error)
        share = value / most
        if not share * (1 - share) > 0:
            return self.without(value, "the value is at the limit of its range, up to rounding")
        reach = z * error / most / (share * (1 - share))
        low = float(most * expit(logit(share) - reach))
        high = float(most * expit(logit(share) + reach))
        return self.of(value, low, high, f"{name}, logit scale", error)

    def mean_scores(self) -> dict[str, Estimate]:
        """Brier score, scaled Brier score and log loss, with intervals."""
        score = self.sample.score
        brier = self.mean(*squared_errors(score), most=1.0, name="influence function")
        log_loss = self.mean(*log_losses(score), most=inf, name="influence function")
        return {"brier": brier, "scaled_brier": self.scaled_brier(brier), "log_loss": log_loss}

    def prevalence(self) -> Estimate:
        """Share of positives, with Wilson's interval for the effective number of rows."""
        share = self.evidence.outcomes.prevalence
        return self.of(share, *self.share(share, self._effective_rows(share)), "Wilson", nan)

    def ratio(self) -> Estimate:
        """Ratio of observed to expected positives, with an interval."""
        sample, share = self.sample, self.sample.prevalence
        expected = sample.mean(sample.score)
        if not expected > 0:
            return self.without(nan, "every probability is 0, so no positive is expected")
        value = share / expected
        if self.shift.target is not None:  # the observed share is given, only the expected one varies
            error = self.error(-value * sample.score / expected, -value * sample.score / expected)
            reach = normal_quantile(self.level) * error / value
            return self.of(value, value * np.exp(-reach), value * np.exp(reach), "Wald, logarithmic scale", error)
        # By the delta method observed/expected varies as (y − value·p)/expected. Wilson's interval of the observed
        # share takes the number of independent rows whose binomial share has that variance.
        error = self.error(1 - value * sample.score, -value * sample.score)
        has_variance = 0 < share < 1 and error**2 > 0
        trials = share * (1 - share) / error**2 if has_variance else self._effective_rows(share)
        low, high = self.share(share, trials)
        method = "Wilson at the effective number of rows"
        return self.of(value, low / expected, high / expected, method, error / expected)

    def difference(self) -> Estimate:
        """Observed minus expected share of positives, with an interval."""
        ratio, expected = self.ratio(), self.sample.mean(self.sample.score)
        if isnan(ratio.value):
            return self.without(self.sample.prevalence, "every probability is 0, so no positive is expected")
        value, low, high = (expected * (end - 1) for end in (ratio.value, ratio.low, ratio.high))
        return self.of(value, low, high, ratio.method, expected * ratio.standard_error)

    def scaled_brier(self, brier: Estimate) -> Estimate:
        """Scaled Brier score: 1 − Brier score / Brier score of predicting the prevalence for every case."""
        sample, share = self.sample, self.sample.prevalence
        uncertainty = share * (1 - share)
        if not uncertainty > 0:
            return self.without(nan, ONE_CLASS)
        ratio, score = brier.value / uncertainty, sample.score
        value = 1 - ratio
        # Influence of a row: through the Brier score, and through the prevalence unless that is given.
        by_prevalence = 0.0
        if self.shift.target is None:
            by_prevalence = brier.value / uncertainty**2 * (1 - 2 * share)
        of_positive = -((1 - score) ** 2 - brier.value) / uncertainty + by_prevalence * (1 - share)
        of_negative = -(score**2 - brier.value) / uncertainty - by_prevalence * share
        error = self.error(of_positive, of_negative)
        if not error > 0:
            return self.without(value, _CERTAIN if value == 1 else _CONSTANT)
        reach = normal_quantile(self.level) * error / max(ratio, 1e-300)
        with np.errstate(over="ignore"):  # next to a value of 1 the lower limit may overflow
            low, high = 1 - ratio * np.exp(reach), 1 - ratio * np.exp(-reach)
        return self.of(value, low, high, "influence function, logarithmic scale of 1 − value", error)

    def recalibration(self) -> dict[str, Estimate]:
        """Calibration in the large, calibration intercept and calibration slope, with intervals."""
        names = ("in_the_large", "intercept", "slope")
        cox, estimates = self.recalibrated, {}
        for name in names:
            value, error = getattr(cox, name), getattr(cox, f"{name}_error")
            if isfinite(value) and error > 0:
                reach = normal_quantile(self.level) * error
                method = "Wald, the larger of two variances"
                estimates[name] = self.of(value, value - reach, value + reach, method, error)
            else:
                estimates[name] = self.without(value, cox.reason or _CONSTANT)
        return estimates

    @cached_property
    def recalibrated(self) -> CoxCalibration:
        """Logistic recalibration. Each standard error is the larger of the model-based and the sandwich error."""
        sample = self.sample
        if not 0 < sample.prevalence < 1:
            return CoxCalibration(nan, nan, nan, reason=ONE_CLASS)
        cox = sample.recalibration
        inside = (sample.score > 0) & (sample.score < 1)
        log_odds = logit(np.where(inside, sample.score, 0.5))
        errors = {}
        if isfinite(cox.in_the_large):
            chance = expit(cox.in_the_large + log_odds)
            (errors["in_the_large_error"],) = self._robust_errors([1.0 * inside], chance, [cox.in_the_large_error])
        if isfinite(cox.slope) and isfinite(cox.intercept):
            chance = expit(cox.intercept + cox.slope * log_odds)
            model_based = [cox.intercept_error, cox.slope_error]
            robust = self._robust_errors([1.0 * inside, log_odds * inside], chance, model_based)
            errors["intercept_error"], errors["slope_error"] = robust
        return replace(cox, **errors)

    def _robust_errors(self, columns: list[Array], chance: Array, model_based: list[float]) -> list[float]:
        """Return, for each coefficient, the larger of the model-based and the sandwich standard error.

        For p coefficients with the Hessian H, the sandwich variance is H⁻¹·Cov(score)·H⁻¹ times the small-sample factor
        n/(n − p).
        """
        sample, effective = self.sample, self.evidence.outcomes.effective_rows
        weight = sample.total * chance * (1 - chance)
        matrix = np.array(columns)
        inverse = np.linalg.pinv((matrix * weight) @ matrix.T)
        correction = effective / max(effective - len(columns), 1)
        errors = []
        for row, plain in zip(inverse, model_based, strict=True):
            influence = row @ matrix
            sandwich = self.error(influence * (1 - chance), -influence * chance) * sample.n * sqrt(correction)
            plain = plain * sqrt(self.evidence.outcomes.n / effective)
            errors.append(max(sandwich, plain) if isfinite(plain) else sandwich)
        return errors

    def _effective_rows(self, share: float) -> float:
        """Return the number of independent rows for which a binomial share has the variance of this share."""
        rows = float(self.evidence.outcomes.effective.sum())
        if not 0 < share < 1:
            return rows
        error = sqrt(self.evidence.variance_of_sum(1 - share, -share)) / self.evidence.outcomes.n
        return share * (1 - share) / error**2 if error**2 > 0 else rows

    def share(self, share: float, trials: float) -> tuple[float, float]:
        """Return the limits of Wilson's interval for a share of `trials` rows."""
        low, high = binomial_limits([share * trials], [trials], "wilson", self.level)
        return float(low[0]), float(high[0])

    def of(self, value: float, low: Any, high: Any, method: str, error: float) -> Estimate:
        """Return the value and its interval as an Estimate, with the reason if the interval is not reliable."""
        value, low, high = (float(end) + 0.0 for end in (value, low, high))  # never -0.0
        return Estimate(value, low, high, self.level, method, self.evidence.counts.n, float(error), self._reason)

    @cached_property
    def _reason(self) -> str:
        """Reason why intervals are not reliable; empty if they are reliable.

        Intervals are not reliable if there are too few groups, or too few observed or expected cases of a class. The
        expected number matters because a sample may have enough cases only by chance.
        """
        plain = self.evidence.outcomes
        expected = plain.mean(plain.score)
        rarer = min(plain.prevalence, 1 - plain.prevalence, expected, 1 - expected)
        cases = rarer * float(plain.effective.sum())
        reason = few_groups(self.evidence.groups) or few(cases, FEW_EVENTS, "observed or expected cases of a class")
        return reason or self.evidence.doubt

    def without(self, value: float, reason: str) -> Estimate:
        """Return a value without an interval as an Estimate, with the reason."""
        n = self.evidence.counts.n
        return Estimate(float(value) + 0.0, nan, nan, self.level, f"no interval: {reason}", n, reason=reason)


# Test inversion

Statistics = Callable[[Array], Mapping[str, Array]]
"""Function that computes statistics of many samples.

The argument has one row per sample, with the number of positives at each distinct probability. The result maps the name
of a statistic to an array with one row per sample."""

DRAWS, DRAWS_ALONG = 999, 199
"""Numbers of simulated samples of labels: for p-values, and for each step in the search of interval limits."""

# Neighbouring rows are grouped above 640 levels, to 250 groups and the 16 levels at each end, which bounds the time of
# 999 draws whatever the number of rows. The ends stay, as steps of PAV are narrow there.
_MOST_LEVELS = 640
_GROUPS = 250
_ENDS = 16

# Coarse groups are 4 times fewer: limits for 1,000 rows then move about as far as with other draws.
_COARSE = 4

# Curves from the probabilities (0) by the fitted curve (1) to twice as far. Between them limits are interpolated.
_STEPS = np.array([0.0, 0.15, 0.35, 0.6, 0.85, 1.0, 1.2, 1.5, 2.0])
_FITTED = int(np.flatnonzero(_STEPS == 1)[0])

# Nearer to calibration than this step the lower test takes more than half of the error, at 0 all of it.
_SHARED = 0.35

# Standard errors that the upper limit of some statistics is above the value at least, as in a 95% interval. In 120
# samples of 300 rows for each of three true curves, the upper limit of a cost was below the truth in 2 to 8% without
# it (2.5% are meant), and in none with it; that of the Brier score's miscalibration was never too low.
_REACH = 1.96
_EXACT_BELOW = 6.0  # variance n·p·(1 − p) below which the expansion of Cornish and Fisher is off by a case
_NEVER = 1e-9  # replaces an error of 0, whose normal quantile is infinite
ROUNDING = 1e-12
"""Draws, or sums of weights, that differ by less are equal, whatever the order of their sums."""


def grouped(sample: Outcomes, *, coarse: bool = False, bins: int = 100) -> Outcomes:
    """Group neighbouring scores into about 250 groups if there are more than 640 distinct scores.

    The 16 lowest and 16 highest scores are not grouped, and no group crosses the edge of a bin. With `coarse`, these
    three numbers are divided by four.
    """
    size, fewer = sample.score.size, _COARSE if coarse else 1
    if size <= _MOST_LEVELS // fewer:
        return sample
    ends = np.append(np.arange(_ENDS // fewer), np.arange(size - _ENDS // fewer, size))
    borders = np.searchsorted(sample.score, np.arange(1, bins) / bins)
    starts = np.unique(np.concatenate([sample.starts(_GROUPS // fewer), borders, ends]))
    return sample.merged(starts[starts < size])


@dataclass(frozen=True, eq=False)
class Inverted:
    """Confidence limits and p-values by the name of the statistic."""

    low: Mapping[str, Array]
    high: Mapping[str, Array]
    p_value: Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class Direction:
    """Series of alternatives to calibration, from the predicted probabilities towards a fitted curve.

    Attributes
    ----------
    curve : array of k
        Fitted probability at each distinct probability.
    statistics : function
        Function that computes the statistics of samples of labels.
    truth : function
        Function that computes the true values of the statistics for given true probabilities.
    reach : sequence of str
        Names of statistics whose upper limit is at least 1.96 standard errors above the value. The standard error is
        the standard deviation over samples simulated from `curve`.
    """

    curve: Array
    statistics: Statistics
    truth: Statistics
    reach: Sequence[str] = ()


def invert(
    sample: Outcomes,
    shift: Shift,
    directions: Sequence[Direction],
    *,
    level: float,
    draws: int,
    draws_along: int,
    rng: np.random.Generator,
) -> Inverted:
    """Return confidence intervals of distances from calibration, and p-values of tests of calibration.

    Parameters
    ----------
    sample : Outcomes
        Distinct probabilities with numbers of positives and negatives.
    shift : Shift
        Conversion to the target prevalence.
    directions : sequence of Direction
        Alternatives to calibration. The curves contain probabilities at the target prevalence. The first one has all
        statistics.
    level : float
        Confidence level.
    draws : int
        Number of samples of labels simulated from the predicted probabilities, for the p-values.
    draws_along : int
        Number of samples of labels simulated from each alternative curve, for the limits.
    rng : Generator
        Random number generator.

    Notes
    -----
    At the distance 0, the test is one-sided with the error probability 1 − level, because no distance is smaller. The
    interval contains 0 if and only if this test does not reject. From 35% of the way to the fitted curve on, the tests
    for the lower and for the upper limit each have half of the error probability. Before that point, the shares change
    linearly.

    With several directions, the interval contains the intervals of all directions.
    """
    start, alpha = sample.score, 1 - level
    null = sample.draw(shift.in_sample(start), draws, rng)
    noise = _Noise(sample, rng.random((draws_along, start.size)))
    # The sample itself first, then the draws at calibration. All directions share these statistics.
    shared = directions[0].statistics(np.concatenate([sample.pos[None], null]))
    low: dict[str, Array] = {}
    high: dict[str, Array] = {}
    p_value: dict[str, Array] = {}
    for direction in directions:
        curves = np.clip(start + _STEPS[:, None] * (direction.curve - start), 0, 1)
        along = direction.statistics(noise.drawn(shift.in_sample(curves[1:])))

        # All statistics as columns of one matrix: the sample's, the truth along the curves, and those of draws.
        at_shared = _side_by_side(shared, along)
        value, at_null = at_shared[0], at_shared[1:]
        truth = _side_by_side(direction.truth(curves), along)
        at_steps = _side_by_side(along, along).reshape(_STEPS.size - 1, draws_along, -1)

        # The limits: the truths that neither test rejects; the p-value is a rank among draws at calibration.
        rank = rank_p_value((at_null >= value - ROUNDING).T)
        more_null, less_null = _scores(at_null[None], value)
        more_steps, less_steps = _scores(at_steps, value)
        more = np.concatenate([more_null, more_steps])
        less = np.concatenate([less_null, less_steps])
        bottom, top = _limits(more, less, truth, alpha)
        # 0 is in the interval exactly if calibration is not rejected.
        bottom = np.where(rank > alpha, 0.0, np.maximum(bottom, np.finfo(float).tiny))
        spread = at_steps[_FITTED - 1].std(axis=0)

        first = 0
        for name, values in along.items():
            shape = values.shape[1:]
            columns = slice(first, first + values[0].size)
            first = columns.stop
            upper = np.maximum(top[columns], value[columns])  # the interval contains the value
            if name in direction.reach:
                upper = np.maximum(upper, value[columns] + _REACH * spread[columns])
            p_value[name] = rank[columns].reshape(shape)  # the same in each direction that has the statistic
            low[name] = np.minimum(low.get(name, np.inf), bottom[columns].reshape(shape))
            high[name] = np.maximum(high.get(name, -np.inf), upper.reshape(shape))
    return Inverted(low, high, p_value)


def _side_by_side(numbers: Mapping[str, Array], names: Mapping[str, Array]) -> Array:
    """Return a matrix with one row per sample and the statistics `names` as columns."""
    return np.hstack([numbers[name].reshape(len(numbers[name]), -1) for name in names])


def _scores(drawn: Array, value: Array) -> tuple[Array, Array]:
    """Return the normal scores of two one-sided p-values: simulated values at least, and at most, the observed value.

    The second-last axis of `drawn` contains the simulated samples.
    """
    # Sums over neighbours in memory take a third of the time.
    excess = np.ascontiguousarray(np.swapaxes(drawn - value, -1, -2))
    mean = excess.mean(axis=-1)
    centred = excess - mean[..., None]
    spread = np.sqrt(np.vecdot(centred, centred) / excess.shape[-1])
    # Draws that differ by rounding are equal; their mean divided by such a spread would be arbitrary.
    normal = np.divide(mean, spread, out=np.zeros_like(spread), where=spread > ROUNDING)
    return _score(excess >= -ROUNDING, normal), _score(excess <= ROUNDING, -normal)


def _score(as_far: Array, by_moments: Array) -> Array:
    """Return the normal score of the share of simulated samples that are at least as extreme as the observed sample.

    If the share is 0 or 1, `by_moments` is used instead. It is computed from the mean and the standard deviation of the
    simulated samples.
    """
    draws, rank = as_far.shape[-1], rank_p_value(as_far)
    score = ndtri(np.minimum(rank, 1 - 1 / (2 + draws)))
    score = np.where(rank <= 1 / (1 + draws), np.minimum(score, by_moments), score)
    return np.where(rank >= 1, np.maximum(score, by_moments), score)


def rank_p_value(as_far: Array) -> Array:
    """Return the p-value (1 + number of extreme simulated samples) / (1 + number of simulated samples)."""
    return (1 + np.count_nonzero(as_far, axis=-1)) / (1 + as_far.shape[-1])


def _limits(more: Array, less: Array, truth: Array, alpha: float) -> tuple[Array, Array]:
    """Return the smallest and the largest true distance that the one-sided tests do not reject."""
    share = 0.5 + 0.5 * np.clip(1 - _STEPS / _SHARED, 0, 1)
    # p-values are monotone in the distance but for the noise of the draws.
    more, less = np.maximum.accumulate(more, axis=0), np.minimum.accumulate(less, axis=0)
    excess = (more.T - ndtri(alpha * share)).T
    lack = (less.T - ndtri(np.maximum(alpha * (1 - share), _NEVER))).T
    return _crossing(excess, truth), truth[-1] - _crossing(lack[::-1], truth[-1] - truth[::-1])


def _crossing(excess: Array, truth: Array) -> Array:
    """Return the true distance at which `excess` first becomes positive, by linear interpolation."""
    shape = excess.shape
    excess, truth = excess.reshape(len(excess), -1), truth.reshape(len(truth), -1)
    column = np.arange(excess.shape[1])
    after = np.where((excess > 0).any(axis=0), (excess > 0).argmax(axis=0), len(excess) - 1)
    before = np.maximum(after - 1, 0)
    below, above = excess[before, column], excess[after, column]
    part = np.divide(-below, above - below, out=np.ones(column.size), where=(above > 0) & (above > below))
    part = np.where(after == 0, 1.0, part.clip(0, 1))
    crossing = truth[before, column] + part * (truth[after, column] - truth[before, column])
    return crossing.reshape(shape[1:])


class _Noise:
    """Simulation of labels from different probabilities with the same random numbers."""

    def __init__(self, sample: Outcomes, uniform: Array) -> None:
        self.sample, self.uniform = sample, uniform
        trials = sample.effective * sample.design_effect
        self.trials = np.maximum(np.rint(trials), 1)
        self.single_rows = bool((self.trials == 1).all())
        self.is_unweighted = bool((self.trials == sample.total).all())

    @cached_property
    def normal(self) -> tuple[Array, Array]:
        """Random numbers as standard normal deviates z, and the Cornish–Fisher term (z² − 1)/6."""
        normal = ndtri(self.uniform)
        return normal, (normal**2 - 1) / 6

    def drawn(self, chances: Array) -> Array:
        """Simulate the number of positives at each distinct probability, one sample per row.

        `chances` has one curve of true probabilities per row. The samples of the first curve come first.
        """
        sample, pos = self.sample, np.empty((len(chances), *self.uniform.shape))
        if self.single_rows:
            np.greater(self.uniform, (1 - chances)[:, None], out=pos)
        else:
            self._write_binomial(chances, pos)
        if not self.is_unweighted:
            pos *= sample.total / self.trials
        if sample.design_effect != 1:
            expected = (sample.total * chances)[:, None]
            pos = expected + np.sqrt(sample.design_effect) * (pos - expected)
        return pos.reshape(-1, pos.shape[-1])

    def _write_binomial(self, chances: Array, pos: Array) -> None:
        """Write binomial quantiles to `pos`.

        They are exact if the variance is small, and otherwise computed by the Cornish–Fisher expansion.
        """
        trials = self.trials
        variances = trials * chances * (1 - chances)
        is_small = variances < _EXACT_BELOW
        for chance, variance, near, drawn in zip(chances, variances, is_small, pos, strict=True):
            large = np.flatnonzero(~near)
            if large.size:
                normal, second = (number[:, large] for number in self.normal)
                quantile = (trials * chance)[large] + np.sqrt(variance[large]) * normal
                quantile += (1 - 2 * chance[large]) * second
                drawn[:, large] = np.rint(quantile).clip(0, trials[large])
        if kernels.compiled_pays(pos.size):
            kernels.samples.successes(self._uniform_by_level, trials, chances, is_small, pos)
            return
        for chance, near, drawn in zip(chances, is_small, pos, strict=True):
            small = np.flatnonzero(near)
            # Count the rarer outcome, whose probabilities are summed from 0.
            flip = (chance > 0.5)[small]
            rare = np.minimum(chance, 1 - chance)[small]
            uniform = np.where(flip, 1 - self.uniform[:, small], self.uniform[:, small])
            counted = _few_successes(uniform, trials[small], rare)
            drawn[:, small] = np.where(flip, trials[small] - counted, counted)

    @cached_property
    def _uniform_by_level(self) -> Array:
        """Random numbers with one row per level."""
        return np.ascontiguousarray(self.uniform.T)


def _few_successes(uniform: Array, trials: Array, chance: Array) -> Array:
    """Return exact binomial quantiles, by summing the probabilities of 0, 1, 2, … successes."""
    probability = (1 - chance) ** trials
    cumulative, count = probability.copy(), np.zeros(uniform.shape)
    odds = chance / (1 - chance)
    for successes in range(1, int(trials.max(initial=0)) + 1):
        above = uniform > cumulative
        if not above.any():
            break
        count += above
        probability = probability * odds * np.maximum(trials - successes + 1, 0) / successes
        cumulative = cumulative + probability
    return np.minimum(count, trials)
