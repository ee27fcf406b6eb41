"""Local linear regression with tricube weights (LOESS) of outcomes on their probabilities."""

from dataclasses import dataclass

import numpy as np

from rocscope._types import Array
from rocscope.calibration.outcomes import Outcomes
from rocscope.errors import InputError

_EXACT_LEVELS = 512
_GROUPS = 1024
_POINTS = 192
_ROUNDING = 1e-30


@dataclass(frozen=True, eq=False)
class LoessFit:
    """A local linear smoother of some outcomes: `x` where it is evaluated, and its weights there.

    It is linear in the labels, so other labels at the same probabilities cost one product of matrices.
    """

    outcomes: Outcomes
    x: Array
    weights: Array

    def values(self, pos: Array) -> Array:
        """Return the curve at `x` for positives at each level; rows of a matrix are separate samples."""
        return self.weights @ pos if pos.ndim == 1 else pos @ self.weights.T

    def at_levels(self, values: Array) -> Array:
        """Return the curve at the levels of the outcomes, from its values at `x`."""
        return np.interp(self.outcomes.score, self.x, values)


def loess_fit(sample: Outcomes, span: float) -> LoessFit:
    """Prepare a smoother whose window at each point holds the share `span` of the rows.

    Notes
    -----
    With at most 512 distinct probabilities it is evaluated at each, exactly; with more, at about 200 points, after
    neighbouring rows are gathered into about 1,000 groups: O(k) and off by less than what a plot can show. No
    iterations for robustness, which would take the rarer class of 0/1 outcomes for outliers.

    References
    ----------
    Cleveland 1979, "Robust locally weighted regression and smoothing scatterplots", JASA 74:829–836.
    """
    if not 0 < span <= 1:
        raise InputError("span", expected="a share of the rows, above 0 and at most 1", got=repr(span))
    if sample.score.size <= _EXACT_LEVELS:
        return LoessFit(sample, sample.score, _weights(sample, sample.score, _radius(sample, sample.score, span)))
    groups = sample.pooled(_GROUPS, ends=1)
    crowded = np.linspace(0, groups.score.size - 1, 3 * _POINTS // 4).astype(int)
    even = np.searchsorted(groups.score, np.linspace(groups.score[0], groups.score[-1], _POINTS // 4))
    x = groups.score[np.union1d(crowded, even.clip(max=groups.score.size - 1))]
    return LoessFit(groups, x, _weights(groups, x, _radius(sample, x, span)))


def _weights(sample: Outcomes, x: Array, radius: Array) -> Array:
    """Return the matrix that turns positives at each level into fitted values at each x."""
    radius = radius[:, None]
    kernel = np.abs(sample.score - x[:, None])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        kernel = np.where(radius > 0, kernel / radius, kernel > 0)
    kernel = _cube(1 - _cube(kernel.clip(max=1, out=kernel)))
    kernel /= (kernel @ sample.total)[:, None]
    centre = kernel @ sample.weighed
    offset = sample.score - centre[:, None]
    spread = np.einsum("ij,ij,ij,j->i", kernel, offset, offset, sample.total)
    sloped = spread > 1e-12 * np.ptp(sample.score) ** 2 + _ROUNDING
    slope = np.divide(x - centre, spread, out=np.zeros_like(x), where=sloped)
    offset *= slope[:, None]
    offset += 1
    kernel *= offset
    return kernel


def _cube(values: Array) -> Array:
    """Third power by products, which are far quicker than powers of arrays."""
    return values * values * values


def _radius(sample: Outcomes, x: Array, span: float) -> Array:
    """Return the distance within which each x has the share `span` of the rows."""
    score, reached = sample.score, sample.reached
    wanted = span * reached[-1]
    if (sample.total == np.floor(sample.total)).all():
        wanted = max(np.floor(wanted + 1e-10), 1.0)
    wanted *= 1 - 1e-12

    def last(first: Array) -> Array:
        """Return where windows that begin at some levels hold enough rows."""
        return np.searchsorted(reached, reached[first] - sample.total[first] + wanted)

    # windows move right with their first level; the narrowest around x is one of two, left and right of its middle
    low = np.zeros(x.size, np.intp)
    high = np.full(x.size, np.searchsorted(reached, reached[-1] - wanted, side="right"))
    most = high.copy()
    while (low < high).any():
        middle = (low + high) // 2
        beyond = score[middle] + score[last(middle)] >= 2 * x
        low, high = np.where(beyond, low, middle + 1), np.where(beyond, middle, high)
    firsts = (np.maximum(low - 1, 0), np.minimum(low, most))
    return np.minimum(*(np.maximum(x - score[first], score[last(first)] - x) for first in firsts))
