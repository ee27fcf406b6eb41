"""Local regression with tricube weights (LOESS) of outcomes on probabilities, as in R's lowess and loess."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from rocscope import kernels
from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.calibration.outcomes import Outcomes
from rocscope.errors import InputError
from rocscope.kernels import compiled_pays

Degree = Literal[1, 2]

DEFAULT_SPAN: dict[int, float] = {1: 2 / 3, 2: 0.75}
"""Settings by degree, as in R's lowess and loess."""

_MOST_LEVELS = 4096  # of more, neighbours are pooled
_NEAR = 0.01  # delta of R's lowess, as a share of the range
_FEWEST_IN_CELL = 0.2  # cell of R's loess.control
_MARGIN = 0.005  # by which R's loess widens the range
_POINTS = 200  # at which the curve is given
_ROUNDING = 1e-30  # above 0, so that a window of one score has no slope
_SMALLEST = 5e-324  # float above 0: in place of a radius of 0, all that is not there is beyond it
_FLAT = 1e-6  # weighted variance, as a share of the squared range, without which a slope is not defined


@dataclass(frozen=True, eq=False)
class LoessFit:
    """A local regression as a linear operator on the labels: other labels cost one matrix product.

    Attributes
    ----------
    outcomes : Outcomes
    knots : array of v
        Where it is fitted.
    operator : array of v, or 2v, rows and a column a level
        Turns positives at each level into fitted values at the knots and, for cubics between them, into slopes there.
    x : array
        Where it is evaluated.
    """

    outcomes: Outcomes
    knots: Array
    operator: Array
    x: Array

    def values(self, pos: Array) -> Array:
        """Return the curve at `x` for positives at each level; rows of a matrix are separate samples."""
        return self.at(self.x, pos)

    def at_levels(self, pos: Array) -> Array:
        """Return the curve at the levels of the outcomes."""
        if self._of_levels is None:
            return self.at(self.outcomes.score, pos)
        with np.errstate(invalid="ignore"):
            return pos @ self._of_levels

    @cached_property
    def _of_levels(self) -> Array | None:
        """The matrix that maps positives to the curve at the levels, unless it is much larger than the operator."""
        return self.weights_at(self.outcomes.score).T if 2 * len(self.operator) >= self.outcomes.score.size else None

    def at(self, x: Array, pos: Array) -> Array:
        """Return the curve at any probabilities."""
        with np.errstate(invalid="ignore"):  # slopes may be beyond all numbers
            fitted = pos @ self.operator.T
            if fitted.shape == self.knots.shape and self.knots[0] <= x.min() and x.max() <= self.knots[-1]:
                return np.interp(x, self.knots, fitted)
            if fitted.ndim == 2 and compiled_pays(len(fitted) * x.size):
                found = np.empty((len(fitted), x.size))
                kernels.samples.combine(fitted, *map(np.array, zip(*self._between(x), strict=True)), found)
                return found
            return sum(part * fitted[..., rows] for rows, part in self._between(x))  # pyright: ignore[reportReturnType]

    def weights_at(self, x: Array) -> Array:
        """Return the matrix that maps positives at each level to the curve at each x."""
        return sum(part[:, None] * self.operator[rows] for rows, part in self._between(x))  # pyright: ignore[reportReturnType]

    def _between(self, x: Array) -> list[tuple[Array, Array]]:
        """Return the rows of the operator that are interpolated at each x, and their shares."""
        knot, size = self.knots, self.knots.size
        left = (np.searchsorted(knot, x, side="right") - 1).clip(0, max(size - 2, 0))
        right = np.minimum(left + 1, size - 1)
        width = knot[right] - knot[left]
        t = np.divide(x - knot[left], width, out=np.zeros(x.size), where=width > 0)
        s = 1 - t
        if len(self.operator) == size:
            return [(left, s), (right, t)]
        slopes = [(size + left, width * t * s * s), (size + right, -width * t * t * s)]
        return [(left, s * s * (1 + 2 * t)), (right, t * t * (1 + 2 * s)), *slopes]  # Hermite's cubics


def loess_fit(sample: Outcomes, span: float, degree: Degree = 1) -> LoessFit:
    """Prepare a smoother whose window at each point contains the share `span` of the rows.

    Notes
    -----
    Degree 1 is R's ``lowess(iter=0)``, fitted at levels a hundredth of the range apart and on straight lines between
    them; degree 2 is R's ``loess``, fitted at the borders of the cells of a tree that hold a fifth of a window, with
    cubics between them. Neighbouring rows are gathered above some 4,000 levels, which no figure shows. No iterations
    for robustness, which would take the rarer class of 0/1 outcomes for outliers.

    References
    ----------
    Cleveland 1979, "Robust locally weighted regression and smoothing scatterplots", JASA 74:829–836; Cleveland &
    Grosse 1991, "Computational methods for local regression", Stat. Comput. 1:47–62.
    """
    if not (check.is_number(span) and 0 < span <= 1):
        raise InputError("span", expected="a share of the rows, above 0 and at most 1", got=check.shown(span))
    if degree not in (1, 2):
        raise InputError("degree", expected="1 (linear) or 2 (quadratic)", got=repr(degree))
    groups = sample.pooled(_MOST_LEVELS, ends=1)
    if degree == 1:
        x = groups.score[_apart(groups.score)]
        return LoessFit(groups, x, _linear(groups, x, _radius(groups, x, span, 1e-7)), x)
    knots = _cell_borders(groups, span)
    x = np.union1d(groups.score[np.linspace(0, groups.score.size - 1, _POINTS).astype(int)], knots[1:-1])
    return LoessFit(groups, knots, _quadratic(groups, knots, _radius(groups, knots, span, 1e-5)), x)


def _apart(score: Array) -> Array:
    """Return the levels at which lowess fits; between them, within a hundredth of the range, it interpolates."""
    near = _NEAR * np.ptp(score)
    farthest = np.searchsorted(score, score + near, side="right") - 1
    following = np.maximum(farthest, np.arange(1, score.size + 1)).tolist()
    chosen = [0]
    while chosen[-1] < score.size - 1:
        chosen.append(following[chosen[-1]])
    return np.array(chosen)


def _cell_borders(sample: Outcomes, span: float) -> Array:
    """Return the vertices of loess's cells, which are halved until each holds at most a fifth of a window."""
    score, reached = sample.score, sample.reached
    most = np.floor(reached[-1] * span * _FEWEST_IN_CELL)
    margin = _MARGIN * max(np.ptp(score), np.abs(score[[0, -1]]).max() * 1e-3 + 1e-30)
    low, high = score[0] - margin, score[-1] + margin
    borders, cells = [low, high], [(0.0, reached[-1], low, high)]
    while cells:
        before, end, left, right = cells.pop()
        if end - before <= max(most, 1):
            continue
        level = _middle(sample, before, end)
        if level is None or score[level] in (left, right):
            continue
        borders.append(score[level])
        cells += [(before, reached[level], left, score[level]), (reached[level], end, score[level], right)]
    return np.array(sorted(borders))


def _middle(sample: Outcomes, before: float, end: float) -> int | None:
    """Return the level that halves the rows from `before` to `end` without splitting a tie."""
    reached = sample.reached
    middle = np.floor((before + 1 + end) / 2)  # counted from 1, as R does
    level = int(np.searchsorted(reached, middle - 1e-9))
    if reached[level] <= middle + 1e-9:
        return level
    below = reached[level] - sample.total[level]  # the tie goes to one side: the nearer of its ends, first upwards
    up, down = reached[level] - middle, middle - below
    inside = [(up, 0, level)] if reached[level] < end else []
    inside += [(down, 1, level - 1)] if below > before else []
    return min(inside)[2] if inside else None


def _kernel(sample: Outcomes, x: Array, radius: Array) -> Array:
    """Return tricube weights, a row for each x."""
    near = sample.score - x[:, None]
    np.abs(near, out=near)
    with np.errstate(over="ignore"):
        near /= np.where(radius > 0, radius, _SMALLEST)[:, None]
    np.minimum(near, 1, out=near)
    kernel = _cube(1 - _cube(near))
    none = kernel.max(axis=1) == 0  # as where the only level within reach is at its end
    kernel[none] = near[none] <= near[none].min(axis=1, keepdims=True)
    return kernel


def _linear(sample: Outcomes, x: Array, radius: Array) -> Array:
    """Return the matrix that maps positives at each level to values of local lines at each x."""
    kernel = _kernel(sample, x, radius)
    kernel /= (kernel @ sample.total)[:, None]
    centre = kernel @ sample.weighed
    offset = sample.score - centre[:, None]
    spread = (offset * offset * kernel) @ sample.total
    sloped = spread > _FLAT * np.ptp(sample.score) ** 2 + _ROUNDING
    slope = np.divide(x - centre, spread, out=np.zeros_like(x), where=sloped)
    offset *= slope[:, None]
    offset += 1
    kernel *= offset
    return kernel


def _quadratic(sample: Outcomes, x: Array, radius: Array) -> Array:
    """Return the matrix that maps positives at each level to values, then slopes, of local parabolas."""
    values, slopes = [], []
    for at, reach, kernel in zip(x, radius, _kernel(sample, x, radius), strict=True):
        scale = reach or 1.0
        root = np.sqrt(kernel * sample.total)
        inside = np.flatnonzero(root)
        offset = (sample.score[inside] - at) / scale
        columns = root[inside, None] * np.column_stack([np.ones(inside.size), offset, offset**2])
        solved = np.zeros((2, root.size))
        solved[:, inside] = np.linalg.pinv(columns, rcond=1e-12)[:2] * np.sqrt(kernel[inside] / sample.total[inside])
        values.append(solved[0])
        with np.errstate(over="ignore"):
            slopes.append(solved[1] / scale)
    return np.array(values + slopes)


def _cube(values: Array) -> Array:
    """Cube by multiplication, which is much faster than powers of arrays."""
    return values * values * values


def _radius(sample: Outcomes, x: Array, span: float, rounding: float) -> Array:
    """Return the distance within which each x has the share `span` of the rows."""
    score, reached = sample.score, sample.reached
    wanted = span * reached[-1]
    if (sample.total == np.floor(sample.total)).all():
        wanted = max(np.floor(wanted + rounding), 1.0)
    wanted *= 1 - 1e-12

    def last(first: Array) -> Array:
        """Return the last levels of windows that begin at given levels and hold enough rows."""
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
