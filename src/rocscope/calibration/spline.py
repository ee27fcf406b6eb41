"""Logistic regression of outcomes on a restricted cubic spline of the logit of their probabilities."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit, logit

from rocscope._types import Array
from rocscope.calibration.logistic import LogisticFit, fit_logistic, fit_many
from rocscope.calibration.outcomes import Outcomes
from rocscope.errors import InputError
from rocscope.inference.intervals import normal_quantile

CERTAINTY = 1e-9
"""Probabilities closer to 0 or 1 than this are taken to be that close, where a logit must be finite."""

_GROUPS = 2048
_POINTS = 256
_RIDGE = 1e-9
_KNOTS = {
    3: (0.10, 0.50, 0.90),
    4: (0.05, 0.35, 0.65, 0.95),
    5: (0.05, 0.275, 0.50, 0.725, 0.95),
    6: (0.05, 0.23, 0.41, 0.59, 0.77, 0.95),
    7: (0.025, 0.1833, 0.3417, 0.50, 0.6583, 0.8167, 0.975),
}


@dataclass(frozen=True, eq=False)
class SplineFit:
    """A logistic spline of some outcomes: `x` where it is evaluated, its columns at the levels and at `x`."""

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
        """Return Wald's limits of the curve at `x`, on the scale of log-odds, of coefficients of any sampling."""
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
    """Prepare a spline with `knots` knots at Harrell's quantiles, linear beyond the outer two.

    References
    ----------
    Harrell 2015, Regression Modeling Strategies, 2nd ed., §2.4.5.
    """
    if knots not in _KNOTS:
        raise InputError("knots", expected="a whole number from 3 to 7", got=repr(knots))
    groups = sample.pooled(_GROUPS, ends=1)
    at = _logit(groups.score)
    knot = np.unique(groups.quantile(at, _KNOTS[knots]))
    few = groups.score[np.linspace(0, groups.score.size - 1, min(groups.score.size, _POINTS)).astype(int)]
    x = np.unique(np.concatenate([few, np.linspace(few[0], few[-1], _POINTS)]))
    return SplineFit(groups, x, _columns(at, knot, at), _columns(_logit(x), knot, at))


def _logit(score: Array) -> Array:
    return logit(score.clip(CERTAINTY, 1 - CERTAINTY))


def _columns(at: Array, knot: Array, levels: Array) -> Array:
    """Return 1, the logit and the spline columns; fewer where there are too few distinct levels or knots."""
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
