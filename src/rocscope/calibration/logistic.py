"""Logistic recalibration: intercept and slope of the outcomes against the logit of the probabilities.

Logistic regression of counts on a few columns, by Newton's method.

Logistic regression of outcomes on a restricted cubic spline of the logit of their probabilities.
"""
# MERGED-DOC: """Confidence intervals of calibration measures: in closed form, and by test inversion."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite, isnan, nan, sqrt
from typing import Any

import numpy as np
from scipy import special
from scipy.special import expit, logit, ndtri

from rocscope import kernels
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.calibration.outcomes import Evidence, Outcomes, Shift, outcomes
from rocscope.core.result import Result
from rocscope.errors import InputError
from rocscope.inference.estimate import FEW_EVENTS, Estimate, few, few_groups
from rocscope.inference.proportions import normal_quantile, of_share
from rocscope.kernels import compiled_pays

_MOST_STEPS = 100  # of Newton's, each of which doubles the digits: a fit that takes more does not exist
_MOST_STEPS_AT_ONCE = 25  # for samples that are fitted together
_MOST_CHANGE = 4.0  # of a coefficient in one step: farther, the quadratic approximation misleads
_LAST_GAIN = 1e-11  # of the likelihood per row: the next step would gain its square
_SURE_GAIN = 1e-6  # so near that a whole step gains: log-odds move by a thousandth or so


@dataclass(frozen=True, eq=False)
class LogisticFit:
    """Coefficients, their covariance, and whether Newton's method converged."""

    coefficients: Array
    covariance: Array
    converged: bool


@np.errstate(over="ignore", invalid="ignore")  # a step too far is halved
def fit_logistic(
    columns: Sequence[Array],
    pos: Array,
    total: Array,
    *,
    offset: Array | float = 0.0,
    start: Array | None = None,
    ridge: float = 0.0,
) -> LogisticFit:
    """Fit the log-odds of the positives among `total` rows as a linear function of columns.

    Parameters
    ----------
    columns : p arrays of k
    pos, total : arrays of k counts, whole or not
    offset : array of k, optional
        Added to the log-odds.
    start : array of p, optional
        Where it is near, one step is taken over all levels.
    ridge : float
        Penalty on the squares of the coefficients.
    """
    beta = np.zeros(len(columns)) if start is None else start
    hessian, rarer = np.eye(beta.size), min(pos.sum(), (total - pos).sum())
    data, value = (columns, pos, total, offset, ridge), None
    for _ in range(_MOST_STEPS):
        chance = special.expit(_sum(beta, columns, offset))
        gradient, hessian = _derivatives(columns, pos - total * chance, total * chance * (1 - chance))
        gradient, hessian = gradient - ridge * beta, hessian + ridge * np.eye(beta.size)
        step = np.linalg.lstsq(hessian, gradient, rcond=None)[0]
        gain = gradient @ step
        if gain <= _LAST_GAIN * rarer:  # each step squares the error, so this one is the last
            return LogisticFit(beta + step, np.linalg.pinv(hessian), converged=True)
        if gain > _SURE_GAIN * rarer:
            before = log_likelihood(beta, *data) if value is None else value
            while (value := log_likelihood(beta + step, *data)) < before and np.abs(step).max() > 1e-12:
                step = step / 2
        else:
            value = None
        beta = beta + step
    return LogisticFit(beta, np.linalg.pinv(hessian), converged=False)


def fit_many(columns: Array, pos: Array, total: Array, *, start: Array, ridge: float) -> Array:
    """Return the coefficients for many samples of labels of the same rows, one sample per row.

    Newton's method on all at once, from a start that is near most; those few that do not come to rest are fitted
    one by one.
    """
    beta = np.tile(start, (len(pos), 1))
    size = start.size
    products = (columns[:, None, :] * columns[None, :, :]).reshape(size * size, -1).T
    open_rows = np.arange(len(pos))
    for _ in range(_MOST_STEPS_AT_ONCE):
        chance = special.expit(beta[open_rows] @ columns)
        gradient = (pos[open_rows] - total * chance) @ columns.T - ridge * beta[open_rows]
        hessian = ((total * chance * (1 - chance)) @ products).reshape(-1, size, size) + ridge * np.eye(size)
        step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        longest = np.abs(step @ columns).max(axis=1)  # log-odds that change by much more overshoot
        beta[open_rows] += step * np.minimum(1, _MOST_CHANGE / np.maximum(longest, _MOST_CHANGE))[:, None]
        open_rows = open_rows[np.einsum("ij,ij->i", gradient, step) > _LAST_GAIN * total.sum()]
        if not open_rows.size:
            return beta
    for row in open_rows:
        beta[row] = fit_logistic(list(columns), pos[row], total, ridge=ridge).coefficients
    return beta


def log_likelihood(
    beta: Array, columns: Sequence[Array], pos: Array, total: Array, offset: Array | float = 0.0, ridge: float = 0.0
) -> float:
    """Return the log-likelihood of coefficients minus the penalty."""
    linear = _sum(beta, columns, offset)
    return float(pos @ linear - total @ np.logaddexp(0, linear) - ridge * (beta @ beta) / 2)


def _sum(beta: Array, columns: Sequence[Array], offset: Array | float) -> Array:
    total = np.asarray(offset, dtype=np.float64)
    for weight, column in zip(beta, columns, strict=True):
        total = total + weight * column
    return total


def _derivatives(columns: Sequence[Array], residual: Array, weight: Array) -> tuple[Array, Array]:
    """Return gradient and (negative) Hessian, without stacking copies of all columns."""
    gradient = np.array([column @ residual for column in columns])
    hessian = np.empty((len(columns), len(columns)))
    for i, column in enumerate(columns):
        weighed = weight * column
        hessian[i, : i + 1] = hessian[: i + 1, i] = [weighed @ other for other in columns[: i + 1]]
    return gradient, hessian


_RECALIBRATION_GROUPS = 4096  # of neighbouring probabilities: two coefficients need no more


@dataclass(frozen=True)
class CoxCalibration(Result):
    """Calibration in the large, intercept and slope.

    Attributes
    ----------
    in_the_large : float
        Intercept where the slope is held at 1; 0 when as many events happen as were predicted, above 0 when more do.
    intercept, slope : float
        Of the joint fit; 0 and 1 for a calibrated model. A slope below 1 means probabilities that are too extreme.
    in_the_large_error, intercept_error, slope_error : float
        Their standard errors.
    """

    in_the_large: float
    intercept: float
    slope: float
    in_the_large_error: float
    intercept_error: float
    slope_error: float

    def interval(self, name: str, level: float = 0.95) -> tuple[float, float]:
        """Return the Wald interval of "in_the_large", "intercept" or "slope"."""
        value, half = getattr(self, name), float(special.ndtri((1 + level) / 2)) * getattr(self, f"{name}_error")
        return value - half, value + half


@contract
def cox_calibration(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> CoxCalibration:
    """Compute calibration in the large, calibration intercept and slope, by logistic recalibration.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Labels and scores, Predictions, ThresholdCounts, OperatingPoint, bins or a sketch; see `rocscope.sample`.

    Returns
    -------
    CoxCalibration
        NaN where the fit does not exist: all scores equal (slope), or a score of 0 that happened or of 1 that did
        not. The slope is infinite where the probabilities separate the classes.

    Raises
    ------
    OneClassError
        If one class is missing.
    ScoreError
        If a score is not a probability.

    Notes
    -----
    logit P(y = 1) = a + b·logit(p). Scores of 0 and 1 that proved right fit for any a and b > 0 and are left out.

    References
    ----------
    Cox 1958, "Two further applications of a model for binary regression", Biometrika 45:562–565. Van Calster et al.
    2016, "A calibration hierarchy for risk models", J. Clin. Epidemiol. 74:167–176.

    Examples
    --------
    Twice the odds that were predicted, at both probabilities:

    >>> from rocscope import ThresholdCounts
    >>> cox = cox_calibration(ThresholdCounts([0.5, 0.2], [20, 10], [10, 20]))
    >>> round(cox.slope, 6), round(cox.intercept, 4), round(float(np.exp(cox.intercept)), 3)
    (1.0, 0.6931, 2.0)
    """
    sample = outcomes(
        y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight, inference="Cox calibration"
    )
    sample.require_both_classes("logistic recalibration")
    uncertain = (sample.score > 0) & (sample.score < 1)
    wrong = np.where(sample.score <= 0, sample.pos, sample.neg)[~uncertain].any()
    kept = sample if uncertain.all() else sample.where(uncertain)
    if wrong or not uncertain.any():
        return CoxCalibration(nan, nan, nan, nan, nan, nan)
    if kept.prevalence in (0, 1):
        shift = inf if kept.prevalence else -inf
        return CoxCalibration(shift, nan, nan, nan, nan, nan)
    direction = _separated(kept)
    groups = kept.pooled(_RECALIBRATION_GROUPS)
    large = _fit(groups, kept, with_slope=False)
    if direction is not None:
        return CoxCalibration(float(large.coefficients[0]), nan, direction, _errors(large)[0], nan, nan)
    both = _fit(groups, kept, with_slope=True)
    return CoxCalibration(*large.coefficients.tolist(), *both.coefficients.tolist(), *_errors(large), *_errors(both))


def _fit(groups: Outcomes, sample: Outcomes, *, with_slope: bool) -> LogisticFit:
    """Fit grouped rows first, so that only one Newton step uses all levels."""

    def fit(part: Outcomes, start: Array | None) -> LogisticFit:
        at, one = special.logit(part.score), np.ones_like(part.score)
        columns, offset = ([one, at], 0.0) if with_slope else ([one], at)
        return fit_logistic(columns, part.pos, part.total, offset=offset, start=start)

    rough = fit(groups, None)
    return rough if groups is sample else fit(sample, rough.coefficients)


def _errors(fit: LogisticFit) -> list[float]:
    return np.sqrt(np.diag(fit.covariance)).tolist()


def _separated(sample: Outcomes) -> float | None:
    """Return the slope of separated classes: ±infinity, NaN for a single level; None if they overlap."""
    pos, neg = np.flatnonzero(sample.pos), np.flatnonzero(sample.neg)
    above, below = pos[0] >= neg[-1], pos[-1] <= neg[0]
    if above and below:
        return nan
    return inf if above else -inf if below else None


CERTAINTY = 1e-9
"""Probabilities are clipped to this distance from 0 and 1 where a logit must be finite."""

_SPLINE_GROUPS = 2048  # of neighbouring probabilities: a few knots need no more
_POINTS = 256  # of the curve as it is drawn: more than one in two pixels of a plot
_RIDGE = 1e-9  # per row, so that a spline of too few rows still has a solution
_KNOTS = {
    3: (0.10, 0.50, 0.90),
    4: (0.05, 0.35, 0.65, 0.95),
    5: (0.05, 0.275, 0.50, 0.725, 0.95),
    6: (0.05, 0.23, 0.41, 0.59, 0.77, 0.95),
    7: (0.025, 0.1833, 0.3417, 0.50, 0.6583, 0.8167, 0.975),
}


@dataclass(frozen=True, eq=False)
class SplineFit:
    """A logistic spline: evaluation points `x`, and its columns at the levels and at `x`."""

    outcomes: Outcomes
    x: Array
    columns: Array
    columns_at_x: Array

    def values(self, pos: Array) -> Array:
        """Return the curve at `x` for positives at each level; rows of a matrix are separate samples."""
        start = self._fitted.coefficients
        fits = fit_many(self.columns, np.atleast_2d(pos), self.outcomes.total, start=start, ridge=self._ridge)
        return np.reshape(expit(fits @ self.columns_at_x), (*pos.shape[:-1], -1))

    def limits(self, level: float) -> tuple[Array, Array]:
        """Return Wald limits of the curve at `x` on the log-odds scale, for coefficients with any covariance."""
        sample, fit = self.outcomes, self._fitted
        chance = expit(fit.coefficients @ self.columns)
        spread = sample.total * chance * (1 - chance)
        once = np.linalg.inv((self.columns * spread) @ self.columns.T + self._ridge * np.eye(len(self.columns)))
        noise = spread * sample.total / np.maximum(sample.effective, 1e-300)
        covariance = once @ ((self.columns * noise) @ self.columns.T + self._ridge * np.eye(len(self.columns))) @ once
        error = np.sqrt(np.einsum("ij,ik,kj->j", self.columns_at_x, covariance, self.columns_at_x).clip(0))
        centre, reach = fit.coefficients @ self.columns_at_x, normal_quantile(level) * error
        return expit(centre - reach), expit(centre + reach)

    @property
    def _ridge(self) -> float:
        return _RIDGE * self.outcomes.n

    @cached_property
    def _fitted(self) -> LogisticFit:
        return fit_logistic(list(self.columns), self.outcomes.pos, self.outcomes.total, ridge=self._ridge)


def spline_fit(sample: Outcomes, knots: int) -> SplineFit:
    """Prepare a restricted cubic spline with `knots` knots at Harrell's quantiles, linear beyond the outer two.

    References
    ----------
    Harrell 2015, Regression Modeling Strategies, 2nd ed., §2.4.5.
    """
    if knots not in _KNOTS:
        raise InputError("knots", expected="a whole number from 3 to 7", got=repr(knots))
    groups = sample.pooled(_SPLINE_GROUPS, ends=1)
    at = _logit(groups.score)
    knot = np.unique(groups.quantile(at, _KNOTS[knots]))
    few = groups.score[np.linspace(0, groups.score.size - 1, min(groups.score.size, _POINTS)).astype(int)]
    x = np.unique(np.concatenate([few, np.linspace(few[0], few[-1], _POINTS)]))
    return SplineFit(groups, x, _columns(at, knot, at), _columns(_logit(x), knot, at))


def _logit(score: Array) -> Array:
    return logit(score.clip(CERTAINTY, 1 - CERTAINTY))


def _columns(at: Array, knot: Array, levels: Array) -> Array:
    """Return 1, the logit and the spline columns; fewer if there are too few distinct levels or knots."""
    columns = [np.ones_like(at)]
    if levels[-1] > levels[0]:
        columns.append((at - levels[0]) / (levels[-1] - levels[0]))
    if knot.size >= 3 and levels.size > knot.size:
        cube = [np.maximum(at - position, 0) ** 3 for position in knot]
        last, before = knot[-1], knot[-2]
        for position, own in zip(knot[:-2], cube[:-2], strict=True):
            bend = (
                own - cube[-2] * (last - position) / (last - before) + cube[-1] * (before - position) / (last - before)
            )
            columns.append(bend / (last - knot[0]) ** 3)
    return np.array(columns)


ONE_CLASS = "one class only"
_CERTAIN = "every prediction was certain and right: nothing varies"


@dataclass(frozen=True, eq=False)
class ClosedForms:
    """Estimates of measures whose variance has a closed form.

    Attributes
    ----------
    evidence : Evidence
    shift : Shift
        To the prevalence that they are for; each class then has its own weight, and its number of rows is given.
    level : float
    """

    evidence: Evidence
    shift: Shift
    level: float

    @cached_property
    def sample(self) -> Outcomes:
        """Outcomes at the target prevalence."""
        return Outcomes.of(self.evidence.counts).at(self.shift.target)

    @cached_property
    def _scale(self) -> tuple[Any, Any]:
        """Weights of a positive and of a negative row at the target prevalence."""
        plain = self.evidence.outcomes
        pos, neg = float(plain.pos.sum()), float(plain.neg.sum())
        if self.shift.target is None:
            return 1.0, 1.0
        return self.shift.target * plain.n / pos, (1 - self.shift.target) * plain.n / neg

    def error(self, of_positive: Any, of_negative: Any) -> float:
        """Return the standard error of a mean over rows, given its terms for both labels at each level."""
        sample = self.sample
        terms = [np.broadcast_to(term, sample.score.size) for term in (of_positive, of_negative)]
        if self.shift.target is not None:  # the share of the classes is given: only what varies within them counts
            sizes = (sample.pos, sample.neg)
            terms = [term - (term @ size) / size.sum() for term, size in zip(terms, sizes, strict=True)]
        scaled = (term * scale for term, scale in zip(terms, self._scale, strict=True))
        return sqrt(max(self.evidence.variance_of_sum(*scaled), 0.0)) / sample.n

    def mean(self, of_positive: Array, of_negative: Array, *, most: float, name: str) -> Estimate:
        """Return a mean over rows of terms between 0 and `most`, with an interval on the log or logit scale."""
        sample = self.sample
        with np.errstate(invalid="ignore"):
            happened, did_not = (
                np.where(size > 0, term * size, 0.0)
                for term, size in ((of_positive, sample.pos), (of_negative, sample.neg))
            )
        value = max(float(np.sum(happened + did_not)) / sample.n, 0.0)
        if not isfinite(value):
            return self.without(value, "infinite: something happened that was given the probability 0")
        finite = [np.where(np.isfinite(term), term, 0.0) for term in (of_positive, of_negative)]
        error = self.error(*(term - value for term in finite))
        if not error > 0:
            return self.without(value, _CERTAIN if value == 0 else "nothing varies")
        if most == inf:
            reach = normal_quantile(self.level) * error / value
            return self.of(value, value * np.exp(-reach), value * np.exp(reach), f"{name}, logarithmic scale", error)
        share = value / most
        if not share * (1 - share) > 0:
            return self.without(value, "as near to its end as numbers can be")
        reach = normal_quantile(self.level) * error / most / (share * (1 - share))
        low, high = (float(most * expit(logit(share) + side * reach)) for side in (-1, 1))
        return self.of(value, low, high, f"{name}, logit scale", error)

    def prevalence(self) -> Estimate:
        """Share of positives, with Wilson's interval on the effective number of rows."""
        share = self.evidence.outcomes.prevalence
        return self.of(share, *self.share(share, self._worth(share)), "Wilson", nan)

    def ratio(self) -> Estimate:
        """Ratio of observed to expected events."""
        sample, share = self.sample, self.sample.prevalence
        expected = sample.mean(sample.score)
        if not expected > 0:
            return self.without(nan, "no event was expected")
        value = share / expected
        if self.shift.target is not None:
            error = self.error(-value * sample.score / expected, -value * sample.score / expected)
            reach = normal_quantile(self.level) * error / value
            return self.of(value, value * np.exp(-reach), value * np.exp(reach), "Wald, logarithmic scale", error)
        error = self.error(1 - value * sample.score, -value * sample.score)
        worth = share * (1 - share) / error**2 if 0 < share < 1 and error**2 > 0 else self._worth(share)
        low, high = (end / expected for end in self.share(share, worth))
        return self.of(value, low, high, "Wilson on what varies beyond the expected", error / expected)

    def difference(self) -> Estimate:
        """Observed minus expected share of events."""
        ratio, expected = self.ratio(), self.sample.mean(self.sample.score)
        if isnan(ratio.value):
            return self.without(self.sample.prevalence, "no event was expected")
        value, low, high = (expected * (end - 1) for end in (ratio.value, ratio.low, ratio.high))
        return self.of(value, low, high, ratio.method, expected * ratio.standard_error)

    def scaled_brier(self, brier: Estimate) -> Estimate:
        """Scaled Brier score: 1 minus the ratio to the Brier score of the prevalence."""
        sample, share = self.sample, self.sample.prevalence
        uncertainty = share * (1 - share)
        if not uncertainty > 0:
            return self.without(nan, ONE_CLASS)
        rest, score = brier.value / uncertainty, sample.score
        value = 1 - rest
        turn = 0.0 if self.shift.target is not None else brier.value / uncertainty**2 * (1 - 2 * share)
        of_positive = -((1 - score) ** 2 - brier.value) / uncertainty + turn * (1 - share)
        of_negative = -(score**2 - brier.value) / uncertainty - turn * share
        error = self.error(of_positive, of_negative)
        if not error > 0:
            return self.without(value, _CERTAIN if value == 1 else "nothing varies")
        reach = normal_quantile(self.level) * error / max(rest, 1e-300)
        with np.errstate(over="ignore"):  # next to a value of 1 the lower limit may be beyond all numbers
            low, high = 1 - rest * np.exp(reach), 1 - rest * np.exp(-reach)
        return self.of(value, low, high, "influence function, logarithmic scale of 1 − value", error)

    def recalibration(self) -> dict[str, Estimate]:
        """Calibration in the large, joint intercept and slope."""
        names = ("in_the_large", "intercept", "slope")
        sample = self.sample
        if not 0 < sample.prevalence < 1:
            return {name: self.without(nan, ONE_CLASS) for name in names}
        cox = cox_calibration(sample)
        errors = self._errors(cox)
        return {name: self._wald(name, cox, errors[name]) for name in names}

    def _wald(self, name: str, cox: CoxCalibration, error: float) -> Estimate:
        value = getattr(cox, name)
        if not isfinite(value) or not error > 0:
            return self.without(value, _why_no_slope(self.sample, cox, name))
        reach = normal_quantile(self.level) * error
        return self.of(value, value - reach, value + reach, "Wald, the larger of two variances", error)

    def _errors(self, cox: CoxCalibration) -> dict[str, float]:
        """Return the larger of model-based and sandwich standard errors; the former assumes that the model fits."""
        found = {name: getattr(cox, f"{name}_error") for name in ("in_the_large", "intercept", "slope")}
        sample = self.sample
        inside = (sample.score > 0) & (sample.score < 1)
        at = logit(np.where(inside, sample.score, 0.5))
        if isfinite(cox.in_the_large):
            found["in_the_large"] = self._sandwich([1.0 * inside], expit(cox.in_the_large + at), found, "in_the_large")[
                0
            ]
        if isfinite(cox.slope) and isfinite(cox.intercept):
            chance = expit(cox.intercept + cox.slope * at)
            both = self._sandwich([1.0 * inside, at * inside], chance, found, "intercept", "slope")
            found |= dict(zip(("intercept", "slope"), both, strict=True))
        return found

    def _sandwich(self, columns: list[Array], chance: Array, known: dict[str, float], *names: str) -> list[float]:
        sample = self.sample
        weight = sample.total * chance * (1 - chance)
        bread = np.linalg.pinv(np.array([[a * weight @ b for b in columns] for a in columns]))
        kept = max(sample.n / max(sample.n - len(columns), 1), 1.0)
        errors = []
        for name, row in zip(names, bread, strict=True):
            turned = sum(share * column for share, column in zip(row, columns, strict=True))
            sandwich = self.error(turned * (1 - chance), -turned * chance) * sample.n * sqrt(kept)
            plain = known[name] * sqrt(self.evidence.outcomes.n / self.evidence.outcomes.effective.sum())
            errors.append(max(sandwich, plain) if isfinite(plain) else sandwich)
        return errors

    def _worth(self, share: float) -> float:
        rows = float(self.evidence.outcomes.effective.sum())
        if not 0 < share < 1:
            return rows
        error = sqrt(self.evidence.variance_of_sum(1 - share, -share)) / self.evidence.outcomes.n
        return share * (1 - share) / error**2 if error**2 > 0 else rows

    def share(self, share: float, worth: float) -> tuple[float, float]:
        """Return Wilson limits of a share for an effective number of rows."""
        low, high = of_share([share * worth], [worth], "wilson", self.level)
        return float(low[0]), float(high[0])

    def of(self, value: float, low: Any, high: Any, method: str, error: float) -> Estimate:
        """Return the estimate, and the reason if it is not reliable."""
        value, low, high = (float(end) + 0.0 for end in (value, low, high))  # never -0.0
        return Estimate(value, low, high, self.level, method, self.evidence.counts.n, float(error), self._doubt)

    @cached_property
    def _doubt(self) -> str:
        plain = self.evidence.outcomes
        expected = plain.mean(plain.score)  # too: samples that happen to have enough cases have more than usual
        rarer = min(*(min(share, 1 - share) for share in (plain.prevalence, expected))) * float(plain.effective.sum())
        return few_groups(self.evidence.groups) or few(rarer, FEW_EVENTS, "cases of a class, seen or expected")

    def without(self, value: float, reason: str) -> Estimate:
        """Return a value without an interval, and the reason."""
        n = self.evidence.counts.n
        return Estimate(float(value) + 0.0, nan, nan, self.level, f"no interval: {reason}", n, reason=reason)


def _why_no_slope(sample: Outcomes, cox: CoxCalibration, name: str) -> str:
    if sample.score.size == 1 and name != "in_the_large":
        return "one distinct probability"
    if np.isinf(cox.slope):
        return "the probabilities separate the classes"
    certain = (sample.score <= 0) | (sample.score >= 1)
    if certain.all():
        return "every probability is 0 or 1"
    wrong = np.where(sample.score <= 0, sample.pos, sample.neg)[certain].any()
    return "something happened that was given the probability 0, or did not that was given 1" if wrong else ONE_CLASS


def squared(score: Array) -> tuple[Array, Array]:
    """Return the squared error of a positive and of a negative row."""
    return (1 - score) ** 2, score**2


def logarithmic(score: Array) -> tuple[Array, Array]:
    """Return the log loss of a positive and of a negative row."""
    with np.errstate(divide="ignore"):
        return -np.log(score), -np.log(1 - score)


Statistics = Callable[[Array], Mapping[str, Array]]
"""Maps positives at each level (one sample per row) to a column or matrix of numbers each."""

# From the probabilities (0) by the fitted curve (1) to twice as far.
_STEPS = np.array([0.0, 0.15, 0.35, 0.6, 0.85, 1.0, 1.2, 1.5, 2.0])
_SHARED = 0.35  # nearer to calibration than this the lower test takes more than half of the error, at 0 all of it
_REACH = 1.96  # standard errors that the upper end reaches at least, as a 95 % interval
_EXACT_BELOW = 6.0  # variance n·p·(1 − p), below which Cornish and Fisher's expansion is off by a case
_NEVER = 1e-9  # in place of an error of 0, whose quantile is infinite


@dataclass(frozen=True, eq=False)
class Inverted:
    """Confidence limits and p-values by measure name."""

    low: Mapping[str, Array]
    high: Mapping[str, Array]
    p_value: Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class Direction:
    """A direction of alternatives: simulated values along a family of curves, and the values without noise."""

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
    """Return the intervals obtained by inverting tests of all distances along some directions.

    Parameters
    ----------
    sample : Outcomes
    shift : Shift
    directions : sequence of Direction
        Curves are chances at the target prevalence.
    draws : int
        From the probabilities themselves, for the p-value.
    draws_along : int
        From each other curve.

    Notes
    -----
    At the distance 0 the whole error is spent on finding more than expected, as there is no smaller distance: so 0 is
    in the interval exactly where the one-sided test does not reject at 1 − level. Half of it goes to either side from
    a third of the way to the curve on, and the share changes evenly in between.
    """
    start, alpha = sample.score, 1 - level
    null = sample.draw(shift.in_sample(start), draws, rng)
    noise = _Noise(sample, rng.random((draws_along, start.size)))
    low: dict[str, Array] = {}
    high: dict[str, Array] = {}
    p_value: dict[str, Array] = {}
    of_null: dict[str, Array] = {}
    for way in directions:
        found = way.statistics(sample.pos[None])
        if not of_null.keys() >= found.keys():  # a direction of fewer statistics shares those of the one before
            of_null = dict(way.statistics(null))
        curves = np.array([np.clip(start + step * (way.curve - start), 0, 1) for step in _STEPS])
        along = noise.drawn(shift.in_sample(curves[1:]))
        value, truth = _columns_of_intervals(found), _columns_of_intervals(way.truth(curves), found)
        samples = [_columns_of_intervals(of_null, found)[None], _columns_of_intervals(way.statistics(along), found)]
        samples[1] = samples[1].reshape(_STEPS.size - 1, draws_along, -1)
        rank = _rank((samples[0][0] >= value - _ROUNDING).T)
        more, less = map(np.concatenate, zip(*(_scores(part, value[0]) for part in samples), strict=True))
        bottom, top = _limits(more, less, truth, alpha)
        bottom = np.where(rank > alpha, 0.0, np.maximum(bottom, np.finfo(float).tiny))
        spread = samples[1][int(np.flatnonzero(_STEPS == 1)[0]) - 1].std(axis=0)
        first = 0
        for name, each in found.items():
            shape = each.shape[1:]
            own = slice(first, first := first + each[0].size)
            upper = np.maximum(top[own], value[0, own])
            if name in way.reach:
                upper = np.maximum(upper, value[0, own] + _REACH * spread[own])
            p_value[name] = rank[own].reshape(shape)
            low[name] = np.minimum(low.get(name, np.inf), bottom[own].reshape(shape))
            high[name] = np.maximum(high.get(name, -np.inf), upper.reshape(shape))
    return Inverted(low, high, p_value)


_ROUNDING = 1e-12  # draws that equal the sample count as equal, whatever the order of their sums


def _columns_of_intervals(numbers: Mapping[str, Array], names: Iterable[str] | None = None) -> Array:
    """Return numbers of samples beside each other, a sample a row: those of all names, or of some."""
    return np.hstack([numbers[name].reshape(len(numbers[name]), -1) for name in names or numbers])


def _scores(drawn: Array, value: Array) -> list[Array]:
    """Return the normal scores of the p-values of a value at least, and at most, as large as observed.

    Samples are along the last axis but one. From ranks; where no draw goes as far, or each does, from mean and spread,
    which show how much farther it is.
    """
    draws = drawn.shape[-2]
    beyond = np.ascontiguousarray(np.swapaxes(drawn - value, -1, -2))  # sums over neighbours take a third of the time
    spread = beyond.std(axis=-1)
    normal = np.divide(beyond.mean(axis=-1), spread, out=np.zeros_like(spread), where=spread > 0)
    scores, least = [], 1 / (1 + draws)
    for as_far, mean in ((beyond >= -_ROUNDING, normal), (beyond <= _ROUNDING, -normal)):
        rank = _rank(as_far)
        score = ndtri(np.minimum(rank, 1 - 1 / (2 + draws)))
        score = np.where(rank <= least, np.minimum(score, mean), score)
        scores.append(np.where(rank >= 1, np.maximum(score, mean), score))
    return scores


def _rank(as_far: Array) -> Array:
    return (1 + np.count_nonzero(as_far, axis=-1)) / (1 + as_far.shape[-1])


def _limits(more: Array, less: Array, truth: Array, alpha: float) -> tuple[Array, Array]:
    """Return the smallest and largest distance along the steps that neither test rejects."""
    share = 0.5 + 0.5 * np.clip(1 - _STEPS / _SHARED, 0, 1)
    more, less = np.maximum.accumulate(more, axis=0), np.minimum.accumulate(less, axis=0)
    excess = (more.T - ndtri(alpha * share)).T
    lack = (less.T - ndtri(np.maximum(alpha * (1 - share), _NEVER))).T
    return _crossing(excess, truth), truth[-1] - _crossing(lack[::-1], truth[-1] - truth[::-1])


def _crossing(excess: Array, truth: Array) -> Array:
    """Return the distance at which an excess first becomes positive, by linear interpolation."""
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
    """Common random numbers for labels at any probabilities, so that samples differ by the probabilities alone."""

    def __init__(self, sample: Outcomes, uniform: Array) -> None:
        self.sample, self.uniform = sample, uniform
        trials = sample.effective * sample.design_effect
        self.trials = np.maximum(np.rint(trials), 1)
        self.single = bool((self.trials == 1).all())
        self.plain = bool((self.trials == sample.total).all())

    @cached_property
    def normal(self) -> tuple[Array, Array]:
        """The same numbers as normal ones, and the term of the second order in them."""
        normal = ndtri(self.uniform)
        return normal, (normal**2 - 1) / 6

    def drawn(self, chances: Array) -> Array:
        """Draw positives at each level, one sample per row, those of the first curve of chances before the others."""
        sample, pos = self.sample, np.empty((len(chances), *self.uniform.shape))
        for curve, chance in enumerate(chances):
            if self.single:
                pos[curve] = self.uniform > 1 - chance
            else:
                self._binomial(chance, pos[curve])
        if not self.plain:
            pos *= sample.total / self.trials
        if sample.design_effect != 1:
            expected = (sample.total * chances)[:, None]
            pos = expected + np.sqrt(sample.design_effect) * (pos - expected)
        return pos.reshape(-1, pos.shape[-1])

    def _binomial(self, chance: Array, found: Array) -> None:
        """Write binomial quantiles: exact where successes or failures are few, else by Cornish–Fisher expansion."""
        trials = self.trials
        spread = trials * chance * (1 - chance)
        few, many = np.flatnonzero(spread < _EXACT_BELOW), np.flatnonzero(~(spread < _EXACT_BELOW))
        if many.size:
            normal, second = (number[:, many] for number in self.normal)
            moved = (trials * chance)[many] + np.sqrt(spread[many]) * normal + (1 - 2 * chance[many]) * second
            found[:, many] = np.rint(moved).clip(0, trials[many])
        rare = np.minimum(chance, 1 - chance)[few]
        flip = (chance > 0.5)[few]
        if compiled_pays(found.size):
            kernels.samples.successes(self.uniform, few, trials[few], rare, flip, found)
            return
        uniform = np.where(flip, 1 - self.uniform[:, few], self.uniform[:, few])
        counted = _few_successes(uniform, trials[few], rare)
        found[:, few] = np.where(flip, trials[few] - counted, counted)


def _few_successes(uniform: Array, trials: Array, chance: Array) -> Array:
    """Return binomial quantiles by summing probabilities from 0."""
    probability = (1 - chance) ** trials
    reached, count = probability.copy(), np.zeros(uniform.shape)
    odds = chance / (1 - chance)
    for successes in range(1, int(trials.max(initial=0)) + 1):
        beyond = uniform > reached
        if not beyond.any():
            break
        count += beyond
        probability = probability * odds * np.maximum(trials - successes + 1, 0) / successes
        reached = reached + probability
    return np.minimum(count, trials)
