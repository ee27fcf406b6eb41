"""Logistic regression of counts, and logistic recalibration: calibration in the large, intercept and slope.

`fit_logistic` computes the maximum likelihood fit by Newton's method, from the numbers of positives and of rows at k
distinct values. `recalibration` computes the calibration intercept and slope.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, nan

import numpy as np

from rocscope._base import special
from rocscope._base.arrays import Array
from rocscope.core import Result

_MOST_STEPS = 100  # Newton steps, each of which doubles the correct digits: no fit that exists takes more
_LAST_GAIN = 1e-11  # gain in likelihood per row of the last step: the next one would gain its square
_SURE_GAIN = 1e-6  # below, a full step always gains: log-odds change by about a thousandth


@dataclass(frozen=True, eq=False)
class LogisticFit:
    """Coefficients of a logistic regression.

    `converged` is False if Newton's method did not converge.
    """

    coefficients: Array
    converged: bool = True


@np.errstate(over="ignore", invalid="ignore")  # a step that overflows is halved
def fit_logistic(
    columns: Sequence[Array],
    pos: Array,
    total: Array,
    *,
    offset: Array | float = 0.0,
    start: Array | None = None,
    ridge: float = 0.0,
) -> LogisticFit:
    """Fit a logistic regression in which the log-odds are a linear function of p columns.

    Parameters
    ----------
    columns : p arrays of k
        Predictor variables.
    pos, total : arrays of k
        Number of positives and number of rows at each of the k values. Fractional numbers are accepted.
    offset : array of k, optional
        Constant that is added to the log-odds.
    start : array of p, optional
        Initial coefficients. Newton's method needs fewer steps if they are near the solution.
    ridge : float
        Penalty on the squared coefficients.
    """
    beta = np.zeros(len(columns)) if start is None else start
    penalty = ridge * np.eye(beta.size)
    rarer = min(pos.sum(), (total - pos).sum())
    data = (columns, pos, total, offset, ridge)
    likelihood = None  # of `beta`, where the last step computed it
    for _ in range(_MOST_STEPS):
        chance = special.expit(_linear(beta, columns, offset))
        gradient, hessian = _derivatives(columns, pos - total * chance, total * chance * (1 - chance))
        gradient, hessian = gradient - ridge * beta, hessian + penalty
        step = np.linalg.lstsq(hessian, gradient, rcond=None)[0]
        gain = gradient @ step
        if gain <= _LAST_GAIN * rarer:
            return LogisticFit(beta + step)
        if gain <= _SURE_GAIN * rarer:
            likelihood = None
        else:
            before = log_likelihood(beta, *data) if likelihood is None else likelihood
            likelihood = log_likelihood(beta + step, *data)
            while likelihood < before and np.abs(step).max() > 1e-12:
                step = step / 2
                likelihood = log_likelihood(beta + step, *data)
        beta = beta + step
    return LogisticFit(beta, converged=False)


def log_likelihood(
    beta: Array, columns: Sequence[Array], pos: Array, total: Array, offset: Array | float = 0.0, ridge: float = 0.0
) -> float:
    """Return the log-likelihood of the coefficients `beta`, minus the ridge penalty."""
    linear = _linear(beta, columns, offset)
    return float(pos @ linear - total @ np.logaddexp(0, linear) - ridge * (beta @ beta) / 2)


def _linear(beta: Array, columns: Sequence[Array], offset: Array | float) -> Array:
    total = np.asarray(offset, dtype=np.float64)
    for weight, column in zip(beta, columns, strict=True):
        total = total + weight * column
    return total


def _derivatives(columns: Sequence[Array], residual: Array, weight: Array) -> tuple[Array, Array]:
    """Return the gradient and the negative Hessian of the log-likelihood, without copies of all columns."""
    gradient = np.array([column @ residual for column in columns])
    hessian = np.empty((len(columns), len(columns)))
    for i, column in enumerate(columns):
        weighted = weight * column
        for j in range(i + 1):
            hessian[i, j] = hessian[j, i] = weighted @ columns[j]
    return gradient, hessian


# Logistic recalibration

_COARSE_LEVELS = 4096  # neighbouring probabilities in the fit that the one of all levels starts from
_LARGEST_RESIDUAL = 1e-6  # of the score equations per row of the rarer class: a fit that is not a maximum has more

SEPARATED = "the probabilities separate the classes"
ONE_CLASS = "one class only"
_CONTRADICTED = "a positive has probability 0, or a negative has probability 1"


@dataclass(frozen=True)
class CoxCalibration(Result):
    """Result of logistic recalibration: calibration in the large, calibration intercept and calibration slope.

    Attributes
    ----------
    in_the_large : float
        Intercept of a fit with the slope fixed at 1. It is 0 if the number of positives equals the expected number, and
        positive if there are more positives than expected.
    intercept, slope : float
        Intercept and slope of a joint fit. A calibrated model has the intercept 0 and the slope 1. A slope below 1
        means that the probabilities are too close to 0 and 1.
    in_the_large_error, intercept_error, slope_error : float
        Standard error of each value.
    reason : str
        Reason why values are undefined or infinite, or why standard errors are too small; otherwise empty.
    """

    in_the_large: float
    intercept: float
    slope: float
    in_the_large_error: float = nan
    intercept_error: float = nan
    slope_error: float = nan
    reason: str = ""

    def interval(self, name: str, level: float = 0.95) -> tuple[float, float]:
        """Return the limits of Wald's interval; `name` is "in_the_large", "intercept" or "slope".

        Parameters
        ----------
        name : {"in_the_large", "intercept", "slope"}
            Coefficient.
        level : float
            Confidence level.

        Examples
        --------
        The interval contains 0, so these probabilities may be right on average:

        >>> from rocscope.calibration import cox_calibration
        >>> fit = cox_calibration([1, 0, 1, 0, 1, 0], [0.6, 0.4, 0.7, 0.6, 0.3, 0.2])
        >>> low, high = fit.interval("in_the_large")
        >>> round(low, 2), round(high, 2)
        (-1.56, 1.87)
        """
        value = getattr(self, name)
        reach = float(special.ndtri((1 + level) / 2)) * getattr(self, f"{name}_error")
        return value - reach, value + reach


def recalibration(score: Array, pos: Array, neg: Array) -> CoxCalibration:
    """Fit logit P(y = 1) = a + b·logit(p) for probabilities p, once with free b and once with b = 1.

    Standard errors are model-based.

    Parameters
    ----------
    score, pos, neg : arrays of k
        Distinct probabilities in increasing order, and the numbers of positives and of negatives at each probability.

    Notes
    -----
    Probabilities of 0 and 1 have infinite log-odds. If such a probability is correct, its likelihood is 1 for any a and
    any b > 0. It is therefore omitted, as in val.prob of R's rms. If such a probability is wrong, its likelihood is 0,
    and the fit has no solution. If the remaining probabilities separate the classes, the likelihood increases without
    limit as the slope increases.

    Examples
    --------
    At both probabilities, the observed odds are twice the predicted odds, so the intercept is log 2:

    >>> fit = recalibration(np.array([0.2, 0.5]), np.array([10.0, 20.0]), np.array([20.0, 10.0]))
    >>> round(fit.slope, 6), round(fit.intercept, 4)
    (1.0, 0.6931)
    """
    inside = (score > 0) & (score < 1)
    if np.where(score <= 0, pos, neg)[~inside].any():
        return CoxCalibration(nan, nan, nan, reason=_CONTRADICTED)
    if not inside.any():
        return CoxCalibration(nan, nan, nan, reason="every probability is 0 or 1")
    log_odds, pos, neg = special.logit(score[inside]), pos[inside], neg[inside]
    total = pos + neg
    with_pos, with_neg = np.flatnonzero(pos), np.flatnonzero(neg)
    if not (with_pos.size and with_neg.size):
        reason = ONE_CLASS if inside.all() else "one class only among probabilities other than 0 and 1"
        return CoxCalibration(inf if with_pos.size else -inf, nan, nan, reason=reason)

    large = _fit_recalibration(log_odds, pos, total, with_slope=False)
    if large is None:
        return CoxCalibration(nan, nan, nan, reason="the fit does not converge")
    (in_the_large,), (error,) = large
    if log_odds[0] == log_odds[-1]:
        return CoxCalibration(in_the_large, nan, nan, error, reason="all probabilities are equal")
    if with_pos[0] >= with_neg[-1] or with_pos[-1] <= with_neg[0]:
        slope = inf if with_pos[0] >= with_neg[-1] else -inf
        return CoxCalibration(in_the_large, nan, slope, error, reason=SEPARATED)
    both = _fit_recalibration(log_odds, pos, total, with_slope=True)
    if both is None:
        return CoxCalibration(in_the_large, nan, nan, error, reason="the fit does not converge")
    (intercept, slope), (intercept_error, slope_error) = both
    return CoxCalibration(in_the_large, intercept, slope, error, intercept_error, slope_error)


def _fit_recalibration(
    log_odds: Array, pos: Array, total: Array, *, with_slope: bool
) -> tuple[list[float], list[float]] | None:
    """Return the coefficients and their standard errors; None if the fit did not converge.

    The log-odds are centred and scaled. The Hessian is therefore well conditioned for narrow ranges of log-odds, such
    as 20 to 20.001, and for wide ranges, such as −700 to 700.
    """
    centre, spread = 0.0, 1.0
    if with_slope:
        centre = float(total @ log_odds / total.sum())
        spread = float(np.sqrt(total @ (log_odds - centre) ** 2 / total.sum())) or 1.0

    def fit(log_odds: Array, pos: Array, total: Array, start: Array | None) -> LogisticFit:
        one = np.ones_like(log_odds)
        if with_slope:
            return fit_logistic([one, (log_odds - centre) / spread], pos, total, start=start)
        return fit_logistic([one], pos, total, offset=log_odds, start=start)

    start = None
    if log_odds.size > 2 * _COARSE_LEVELS:
        # Fit neighbours together first, so that only one or two steps use all levels.
        first = np.linspace(0, log_odds.size, _COARSE_LEVELS, endpoint=False).astype(int)
        rows = np.add.reduceat(total, first)
        coarse = np.add.reduceat(log_odds * total, first) / rows, np.add.reduceat(pos, first), rows
        start = fit(*coarse, None).coefficients
    result = fit(log_odds, pos, total, start)

    # The score equations Σ x·(y − n·chance) = 0, which a start far off or a flat likelihood would leave open.
    columns = np.array([np.ones_like(log_odds), (log_odds - centre) / spread])[: 1 + with_slope]
    linear = result.coefficients @ columns + (0 if with_slope else log_odds)
    chance = special.expit(linear)
    residual = np.abs(columns @ (pos - total * chance)).max()
    if not (result.converged and residual <= _LARGEST_RESIDUAL * min(pos.sum(), (total - pos).sum())):
        return None
    # Back from centred and scaled log-odds: slope/spread, and intercept − centre·slope/spread.
    back = np.array([[1, -centre / spread], [0, 1 / spread]]) if with_slope else np.eye(1)
    covariance = np.linalg.pinv(columns * (total * chance * (1 - chance)) @ columns.T)
    errors = np.sqrt(np.diag(back @ covariance @ back.T))
    return (back @ result.coefficients).tolist(), errors.tolist()
