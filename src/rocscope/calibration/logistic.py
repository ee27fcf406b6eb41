"""Logistic recalibration: intercept and slope of the outcomes against the logit of the probabilities.

Logistic regression of counts on a few columns, by Newton's method.

Logistic regression of outcomes on a restricted cubic spline of the logit of their probabilities.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, nan
from typing import Any

import numpy as np
from scipy import special
from scipy.special import expit, logit

from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.calibration.outcomes import Outcomes, outcomes
from rocscope.core.result import Result
from rocscope.errors import InputError
from rocscope.inference.proportions import normal_quantile

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
