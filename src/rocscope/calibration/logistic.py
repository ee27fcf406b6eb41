"""Logistic regression of counts on a few columns, by Newton's method."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from rocscope._types import Array

_MOST_STEPS = 100
_MOST_STEPS_AT_ONCE = 25
_MOST_CHANGE = 4.0
_LAST_GAIN = 1e-11


@dataclass(frozen=True, eq=False)
class LogisticFit:
    """Coefficients, their covariance, and whether Newton's method came to rest."""

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
    """Fit the log-odds of the positives among `total` rows as a sum of columns.

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
    for _ in range(_MOST_STEPS):
        chance = special.expit(_sum(beta, columns, offset))
        gradient, hessian = _derivatives(columns, pos - total * chance, total * chance * (1 - chance))
        gradient, hessian = gradient - ridge * beta, hessian + ridge * np.eye(beta.size)
        step = np.linalg.lstsq(hessian, gradient, rcond=None)[0]
        gain = gradient @ step
        if gain <= _LAST_GAIN * rarer:  # each step squares the error, so this one is the last
            return LogisticFit(beta + step, np.linalg.pinv(hessian), converged=True)
        value = log_likelihood(beta, columns, pos, total, offset, ridge)
        while log_likelihood(beta + step, columns, pos, total, offset, ridge) < value and np.abs(step).max() > 1e-12:
            step = step / 2
        beta = beta + step
    return LogisticFit(beta, np.linalg.pinv(hessian), converged=False)


def fit_many(columns: Array, pos: Array, total: Array, *, start: Array, ridge: float) -> Array:
    """Return the coefficients of many samples of labels at the same rows, a sample a row.

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
    """Return the log-likelihood of coefficients, less the penalty."""
    linear = _sum(beta, columns, offset)
    return float(pos @ linear - total @ np.logaddexp(0, linear) - ridge * (beta @ beta) / 2)


def _sum(beta: Array, columns: Sequence[Array], offset: Array | float) -> Array:
    total = np.asarray(offset, dtype=np.float64)
    for weight, column in zip(beta, columns, strict=True):
        total = total + weight * column
    return total


def _derivatives(columns: Sequence[Array], residual: Array, weight: Array) -> tuple[Array, Array]:
    """Return gradient and (negative) Hessian, without a copy of all columns side by side."""
    gradient = np.array([column @ residual for column in columns])
    hessian = np.empty((len(columns), len(columns)))
    for i, column in enumerate(columns):
        weighed = weight * column
        hessian[i, : i + 1] = hessian[: i + 1, i] = [weighed @ other for other in columns[: i + 1]]
    return gradient, hessian
