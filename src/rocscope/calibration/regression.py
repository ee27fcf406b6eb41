"""Regressions of outcomes on probabilities: LOESS and restricted cubic splines.

LOESS is local regression with tricube weights, as in R's ``lowess`` and ``loess``. The fitted curve is a linear
function of the labels. `LoessFit` contains the matrix of this function, so other labels for the same probabilities need
only one matrix product.

`SplineFit` is logistic regression on a spline of the logit. It gives a smooth calibration curve between 0 and 1.
`fit_many` fits many samples of labels at once.

If there are more than a few thousand distinct probabilities, neighbouring probabilities are grouped. The effect on the
curve is too small to see in a plot.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.special import expit, logit

from rocscope import kernels
from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.calibration.outcomes import Outcomes
from rocscope.errors import InputError
from rocscope.figures.logistic import LogisticFit, fit_logistic
from rocscope.inference.proportions import normal_quantile

# LOESS

Degree = Literal[1, 2]

DEFAULT_SPAN: dict[int, float] = {1: 2 / 3, 2: 0.75}
"""Default share of the rows in a window for each degree, as in R's lowess (degree 1) and loess (degree 2)."""

_MOST_LEVELS = 4096  # levels above which neighbours are grouped
_NEAR = 0.01  # `delta` of R's lowess, as a share of the range
_CELL_SHARE = 0.2  # `cell` of R's loess.control: rows of a cell as a share of those of a window
_MARGIN = 0.005  # share of the range by which R's loess widens it
_LOESS_POINTS = 200  # points at which a curve of degree 2 is given
_SMALLEST = np.finfo(np.float64).smallest_subnormal  # replaces a radius of 0: all other scores are then outside

# A local line needs a weighted variance of the scores above this share of the squared range (plus a constant above 0,
# so that a window of one score has no slope).
_FLAT = 1e-6
_ROUNDING = 1e-30
# Normal equations of a local parabola are solved if their smallest curvature is above this share of the largest, which
# leaves ten digits; others, of few distinct scores, by a pseudo-inverse, which takes a hundred times as long.
_REGULAR = 1e-6


@dataclass(frozen=True, eq=False)
class LoessFit:
    """Local regression as a linear function of the labels.

    Attributes
    ----------
    outcomes : Outcomes
        Distinct probabilities ("levels") with numbers of positives and negatives.
    knots : array of v
        Probabilities at which local polynomials are fitted. Between them, the curve is interpolated.
    operator : array of v × levels or 2v × levels
        Matrix that multiplies the numbers of positives at the levels. The first v rows give the fitted values at the
        knots. For cubic interpolation, v more rows give the slopes at the knots.
    x : array
        Probabilities at which the curve is evaluated.
    """

    outcomes: Outcomes
    knots: Array
    operator: Array
    x: Array

    def values(self, pos: Array) -> Array:
        """Return the curve at `x`, given the number of positives at each distinct probability.

        Each row of a matrix is one sample.
        """
        return self.at(self.x, pos)

    def at_levels(self, pos: Array) -> Array:
        """Return the curve at the distinct probabilities, given the number of positives at each of them."""
        if self._level_matrix is None:
            return self.at(self.outcomes.score, pos)
        with np.errstate(invalid="ignore"):
            return pos @ self._level_matrix

    @cached_property
    def _level_matrix(self) -> Array | None:
        """Matrix that converts numbers of positives to the curve at the distinct probabilities; None if too large."""
        is_small = self.outcomes.score.size <= 2 * len(self.operator)
        return self.weights_at(self.outcomes.score).T if is_small else None

    def at(self, x: Array, pos: Array) -> Array:
        """Return the curve at the probabilities `x`, given the number of positives at each distinct probability."""
        with np.errstate(invalid="ignore"):  # slopes may overflow
            fitted = pos @ self.operator.T
            if fitted.shape == self.knots.shape and self.knots[0] <= x.min() and x.max() <= self.knots[-1]:
                return np.interp(x, self.knots, fitted)
            rows, shares = self._interpolation(x)
            if fitted.ndim == 2 and kernels.compiled_pays(len(fitted) * x.size):
                curve = np.empty((len(fitted), x.size))
                kernels.samples.combine(fitted, rows, shares, curve)
                return curve
            curve = np.zeros((*fitted.shape[:-1], x.size))
            for row, share in zip(rows, shares, strict=True):
                curve += share * fitted[..., row]
            return curve

    def weights_at(self, x: Array) -> Array:
        """Return the matrix that converts the numbers of positives to the curve at each x."""
        matrix = np.zeros((x.size, self.operator.shape[1]))
        for row, share in zip(*self._interpolation(x), strict=True):
            matrix += share[:, None] * self.operator[row]
        return matrix

    def _interpolation(self, x: Array) -> tuple[Array, Array]:
        """Return the rows of `operator` and the weights from which the curve at each x is interpolated.

        Linear interpolation uses two rows, and cubic interpolation uses four rows.
        """
        knot, size = self.knots, self.knots.size
        left = (np.searchsorted(knot, x, side="right") - 1).clip(0, max(size - 2, 0))
        right = np.minimum(left + 1, size - 1)
        width = knot[right] - knot[left]
        t = np.divide(x - knot[left], width, out=np.zeros(x.size), where=width > 0)
        s = 1 - t
        if len(self.operator) == size:
            return np.array([left, right]), np.array([s, t])
        # Cubic Hermite interpolation of values and slopes.
        rows = np.array([left, right, size + left, size + right])
        values = [s * s * (1 + 2 * t), t * t * (1 + 2 * s)]
        slopes = [width * t * s * s, -width * t * t * s]
        return rows, np.array([*values, *slopes])


def loess_fit(sample: Outcomes, span: float | None = None, degree: Degree = 1) -> LoessFit:
    """Prepare a local regression in which each window contains the share `span` of the rows.

    The default is ⅔ for degree 1 and ¾ for degree 2.

    Notes
    -----
    Degree 1 is R's ``lowess(iter=0)``. Lines are fitted at points that are a hundredth of the range apart, with linear
    interpolation between them. Degree 2 is R's ``loess``. Parabolas are fitted at the borders of cells that contain at
    most a fifth of the rows of a window, with cubic interpolation between them. If there are more than about 4,000
    distinct probabilities, neighbouring probabilities are grouped. Robustness iterations are not used, because they
    would treat the rarer class as outliers.

    References
    ----------
    Cleveland 1979, "Robust locally weighted regression and smoothing scatterplots", JASA 74:829–836; Cleveland &
    Grosse 1991, "Computational methods for local regression", Stat. Comput. 1:47–62.
    """
    span = DEFAULT_SPAN.get(degree, 1.0) if span is None else span
    if not (check.is_number(span) and 0 < span <= 1):
        raise InputError("span", expected="a share of the rows (above 0 and at most 1)", got=check.shown(span))
    if degree not in (1, 2):
        raise InputError("degree", expected="1 (linear) or 2 (quadratic)", got=repr(degree))
    groups = sample.pooled(_MOST_LEVELS, ends=1)
    # The last argument is what R adds to n·span before it takes the whole number of rows: 1e-7 and 1e-5.
    if degree == 1:
        x = groups.score[_lowess_points(groups.score)]
        return LoessFit(groups, x, _local_lines(groups, x, _radius(groups, x, span, 1e-7)), x)
    knots = _cell_borders(groups, span)
    shown = groups.score[np.linspace(0, groups.score.size - 1, _LOESS_POINTS).astype(int)]
    x = np.union1d(shown, knots[1:-1])
    return LoessFit(groups, knots, _local_parabolas(groups, knots, _radius(groups, knots, span, 1e-5)), x)


def _lowess_points(score: Array) -> Array:
    """Return the indices of the distinct scores at which lowess fits a line.

    Neighbouring points are at most a hundredth of the range apart, if there are such scores.
    """
    near = _NEAR * np.ptp(score)
    farthest = np.searchsorted(score, score + near, side="right") - 1
    following = np.maximum(farthest, np.arange(1, score.size + 1)).tolist()
    chosen = [0]
    while chosen[-1] < score.size - 1:
        chosen.append(following[chosen[-1]])
    return np.array(chosen)


def _cell_borders(sample: Outcomes, span: float) -> Array:
    """Return the borders of the cells of R's loess.

    A cell is halved as long as it contains more than a fifth of the rows of a window.
    """
    score, cumulative = sample.score, sample.cumulative
    most = cumulative[-1] * span * _CELL_SHARE
    if sample.is_count:
        most = max(np.floor(most), 1)
    # As in R's loess: a margin around the range, also where all scores are equal.
    margin = _MARGIN * max(np.ptp(score), np.abs(score[[0, -1]]).max() * 1e-3 + 1e-30)
    low, high = score[0] - margin, score[-1] + margin
    borders = [low, high]
    cells = [(0.0, cumulative[-1], low, high)]  # rows up to its beginning and its end, and its borders
    while cells:
        before, end, left, right = cells.pop()
        if end - before <= most:
            continue
        level = _middle(sample, before, end)
        # All rows of the cell are one tie, or lie on one of its borders: it cannot be halved.
        if level is None or score[level] in (left, right):
            continue
        borders.append(score[level])
        cells.append((before, cumulative[level], left, score[level]))
        cells.append((cumulative[level], end, score[level], right))
    return np.array(sorted(borders))


def _middle(sample: Outcomes, before: float, end: float) -> int | None:
    """Return the index of the distinct score that halves the rows from `before` to `end` without splitting ties.

    Return None if the rows cannot be halved.
    """
    cumulative = sample.cumulative
    middle, rounding = (before + end) / 2, 1e-12 * cumulative[-1]
    if sample.is_count:
        middle, rounding = np.floor((before + 1 + end) / 2), 1e-9  # counted from 1, as R does
    level = int(np.searchsorted(cumulative, middle - rounding))
    if cumulative[level] <= middle + rounding:
        return level
    # A tie around the middle goes to one side: to the nearer of its ends, upwards if both are equally near.
    below = cumulative[level] - sample.total[level]
    can_go_up, can_go_down = cumulative[level] < end, below > before
    if can_go_up and can_go_down:
        return level if cumulative[level] - middle <= middle - below else level - 1
    if can_go_up:
        return level
    return level - 1 if can_go_down else None


def _kernel(sample: Outcomes, x: Array, radius: Array) -> Array:
    """Return a matrix of tricube weights (1 − (distance/radius)³)³, with one row for each x."""
    near = sample.score - x[:, None]
    np.abs(near, out=near)
    with np.errstate(over="ignore"):
        near /= np.where(radius > 0, radius, _SMALLEST)[:, None]
    np.minimum(near, 1, out=near)
    kernel = _cube(1 - _cube(near))
    # If the only level within reach is at the border of the window, its weight is 0: take the nearest level.
    none = kernel.max(axis=1) == 0
    kernel[none] = near[none] <= near[none].min(axis=1, keepdims=True)
    return kernel


def _cube(values: Array) -> Array:
    """Return the cubes of the values; multiplication is much faster than the power operator."""
    cubes = values * values
    cubes *= values
    return cubes


def _local_lines(sample: Outcomes, x: Array, radius: Array) -> Array:
    """Return the matrix that converts the numbers of positives to the value of a local line at each x.

    The value of a weighted line at x is Σ kernel·(1 + (score − centre)·(x − centre)/variance)·y. The sum of the kernel
    weights over rows is 1.
    """
    kernel = _kernel(sample, x, radius)
    kernel /= (kernel @ sample.total)[:, None]
    centre = kernel @ sample.expected
    offset = sample.score - centre[:, None]
    squares = offset * offset
    squares *= kernel
    spread = squares @ sample.total
    sloped = spread > _FLAT * np.ptp(sample.score) ** 2 + _ROUNDING
    slope = np.divide(x - centre, spread, out=np.zeros_like(x), where=sloped)
    offset *= slope[:, None]
    offset += 1
    kernel *= offset
    return kernel


def _local_parabolas(sample: Outcomes, x: Array, radius: Array) -> Array:
    """Return the matrix that converts the numbers of positives to values and slopes of local parabolas.

    The first half of the rows gives the values of the parabolas at each x, and the second half gives their slopes.
    """
    kernel = _kernel(sample, x, radius)
    scale = np.where(radius > 0, radius, 1.0)[:, None]
    with np.errstate(over="ignore", invalid="ignore"):
        offset = (sample.score - x[:, None]) / scale
        # Normal equations of the columns 1, offset and offset², of sums of weight·offset^0, …, weight·offset^4.
        moments = np.empty((5, x.size))
        weighted = kernel * sample.total
        for power in range(5):
            moments[power] = weighted.sum(axis=1)
            weighted *= offset
    normal = moments[np.add.outer(np.arange(3), np.arange(3))].transpose(2, 0, 1)
    normal[~np.isfinite(normal).all(axis=(1, 2))] = 0
    curvature = np.linalg.eigvalsh(normal)
    regular = curvature[:, 0] > _REGULAR * curvature[:, 2]
    solution = np.zeros((x.size, 2, 3))
    solution[regular] = np.linalg.inv(normal[regular])[:, :2]
    solved = np.empty((2, *kernel.shape))
    with np.errstate(over="ignore", invalid="ignore"):
        for row, (constant, linear, quadratic) in enumerate(solution.transpose(1, 2, 0)[..., None]):
            solved[row] = kernel * (constant + offset * (linear + offset * quadratic))
        for place in np.flatnonzero(~regular):
            solved[:, place] = _by_pseudo_inverse(sample, kernel[place], offset[place])
        return np.concatenate([solved[0], solved[1] / scale])


def _by_pseudo_inverse(sample: Outcomes, kernel: Array, offset: Array) -> Array:
    """Return the rows of the matrix for the value and the slope of one local parabola.

    This function is for windows with too few distinct probabilities to determine a parabola.
    """
    root = np.sqrt(kernel * sample.total)
    inside = np.flatnonzero(root)
    near = offset[inside]
    columns = root[inside, None] * np.column_stack([np.ones(inside.size), near, near**2])
    # Rows 0 and 1 of the pseudo-inverse: value and slope at the centre. Directions that the few distinct scores do not
    # determine are dropped, as in R.
    solved = np.zeros((2, root.size))
    solved[:, inside] = np.linalg.pinv(columns, rcond=1e-12)[:2] * np.sqrt(kernel[inside] / sample.total[inside])
    return solved


def _radius(sample: Outcomes, x: Array, span: float, rounding: float) -> Array:
    """Return, for each x, the distance within which the share `span` of all rows lies."""
    score, cumulative = sample.score, sample.cumulative
    wanted = span * cumulative[-1]
    if sample.is_count and (sample.total == np.floor(sample.total)).all():
        wanted = max(np.floor(wanted + rounding), 1.0)
    wanted *= 1 - 1e-12  # rows that suffice exactly must not fail by rounding

    # Scores at the two ends of the smallest window that starts at each level and has enough rows.
    most = int(np.searchsorted(cumulative, cumulative[-1] - wanted, side="right"))
    first = score[: most + 1]
    last = score[np.searchsorted(cumulative, cumulative[: most + 1] - sample.total[: most + 1] + wanted)]
    # The middles of the windows ascend. The narrowest window around x is the first one whose middle is not left of x,
    # or the one before it.
    after = np.searchsorted((first + last)[:most], 2 * x)
    before = np.maximum(after - 1, 0)
    reach_before = np.maximum(x - first[before], last[before] - x)
    reach_after = np.maximum(x - first[after], last[after] - x)
    return np.minimum(reach_before, reach_after)


# Logistic regression

_MOST_STEPS_AT_ONCE = 25  # Newton steps for samples that are fitted together
_MOST_CHANGE = 4.0  # log-odds in one step: beyond, the quadratic approximation is not valid
_LAST_GAIN = 1e-11  # gain in likelihood per row of the last step: the next one would gain its square


def fit_many(columns: Array, pos: Array, total: Array, *, start: Array, ridge: float) -> Array:
    """Fit a logistic regression to each of many samples of labels. Return the coefficients, one row per sample.

    Newton's method runs for all samples at once, from the same start. Samples that do not converge are then fitted one
    by one.
    """
    beta = np.tile(start, (len(pos), 1))
    size = start.size
    penalty = ridge * np.eye(size)
    products = (columns[:, None, :] * columns[None, :, :]).reshape(size * size, -1).T
    open_rows = np.arange(len(pos))
    for _ in range(_MOST_STEPS_AT_ONCE):
        chance = expit(beta[open_rows] @ columns)
        gradient = (pos[open_rows] - total * chance) @ columns.T - ridge * beta[open_rows]
        hessian = ((total * chance * (1 - chance)) @ products).reshape(-1, size, size) + penalty
        step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        longest = np.abs(step @ columns).max(axis=1)
        beta[open_rows] += step * np.minimum(1, _MOST_CHANGE / np.maximum(longest, _MOST_CHANGE))[:, None]
        gain = np.einsum("ij,ij->i", gradient, step)
        open_rows = open_rows[gain > _LAST_GAIN * total.sum()]
        if not open_rows.size:
            return beta
    for row in open_rows:
        beta[row] = fit_logistic(list(columns), pos[row], total, ridge=ridge).coefficients
    return beta


# Logistic spline

CERTAINTY = 1e-9
"""Probabilities are clipped to this distance from 0 and 1 if their logit must be finite."""

_SPLINE_GROUPS = 2048  # groups of neighbouring probabilities: a few knots need no more
_SPLINE_POINTS = 256  # points of the drawn curve: more than one in two pixels of a plot
RIDGE = 1e-9  # per row, so that a spline of too few rows still has a solution

# Quantiles at which knots are placed: Harrell 2015, table 2.3.
_KNOTS = {
    3: (0.10, 0.50, 0.90),
    4: (0.05, 0.35, 0.65, 0.95),
    5: (0.05, 0.275, 0.50, 0.725, 0.95),
    6: (0.05, 0.23, 0.41, 0.59, 0.77, 0.95),
    7: (0.025, 0.1833, 0.3417, 0.50, 0.6583, 0.8167, 0.975),
}


@dataclass(frozen=True, eq=False)
class SplineFit:
    """Logistic regression on a restricted cubic spline of the logit.

    Attributes
    ----------
    outcomes : Outcomes
        Distinct probabilities ("levels") with numbers of positives and negatives.
    x : array
        Probabilities at which the curve is evaluated.
    columns, columns_at_x : arrays
        Columns of the spline at the levels and at `x`; see `spline_columns`.
    """

    outcomes: Outcomes
    x: Array
    columns: Array
    columns_at_x: Array

    def values(self, pos: Array) -> Array:
        """Return the curve at `x`, given the number of positives at each distinct probability.

        Each row of a matrix is one sample.
        """
        start = self._fit.coefficients
        coefficients = fit_many(self.columns, np.atleast_2d(pos), self.outcomes.total, start=start, ridge=self._ridge)
        return np.reshape(expit(coefficients @ self.columns_at_x), (*pos.shape[:-1], -1))

    def limits(self, level: float) -> tuple[Array, Array]:
        """Return Wald limits of the curve at `x`, computed on the log-odds scale.

        The covariance of the coefficients is the sandwich H⁻¹·V·H⁻¹, which uses the effective number of rows.
        """
        sample = self.outcomes
        beta = self._fit.coefficients
        penalty = self._ridge * np.eye(len(self.columns))
        chance = expit(beta @ self.columns)
        information = sample.total * chance * (1 - chance)
        inverse = np.linalg.inv((self.columns * information) @ self.columns.T + penalty)
        noise = information * sample.total / np.maximum(sample.effective, 1e-300)
        penalty = penalty * sample.n / sample.effective_rows  # of squared weights, as the noise
        covariance = inverse @ ((self.columns * noise) @ self.columns.T + penalty) @ inverse
        error = np.sqrt(np.einsum("ij,ik,kj->j", self.columns_at_x, covariance, self.columns_at_x).clip(0))
        centre = beta @ self.columns_at_x
        reach = normal_quantile(level) * error
        return expit(centre - reach), expit(centre + reach)

    @property
    def _ridge(self) -> float:
        return RIDGE * self.outcomes.n

    @cached_property
    def _fit(self) -> LogisticFit:
        return fit_logistic(list(self.columns), self.outcomes.pos, self.outcomes.total, ridge=self._ridge)


def spline_fit(sample: Outcomes, knots: int) -> SplineFit:
    """Prepare a logistic spline with knots at Harrell's quantiles of the logit.

    References
    ----------
    Harrell 2015, Regression Modeling Strategies, 2nd ed., §2.4.5.
    """
    groups = sample.pooled(_SPLINE_GROUPS, ends=1)
    levels = clipped_logit(groups.score)
    knot = knots_of(groups, levels, knots)
    size = groups.score.size
    few = groups.score[np.linspace(0, size - 1, min(size, _SPLINE_POINTS)).astype(int)]
    x = np.unique(np.concatenate([few, np.linspace(few[0], few[-1], _SPLINE_POINTS)]))
    span = levels[[0, -1]]
    at_x = spline_columns(clipped_logit(x), knot, span)
    return SplineFit(groups, x, spline_columns(levels, knot, span), at_x)


def knots_of(sample: Outcomes, levels: Array, knots: int) -> Array:
    """Return the positions of the knots; an empty array if there are too few distinct scores for a spline."""
    if knots not in _KNOTS:
        raise InputError("knots", expected="a whole number from 3 to 7", got=repr(knots))
    knot = np.unique(sample.quantile(levels, _KNOTS[knots]))
    return knot if knot.size >= 3 and levels.size > knot.size else knot[:0]


def clipped_logit(score: Array) -> Array:
    """Return the log-odds of probabilities, with finite values for 0 and 1."""
    return logit(score.clip(CERTAINTY, 1 - CERTAINTY))


def spline_columns(log_odds: Array, knot: Array, span: Array) -> Array:
    """Return the columns of a restricted cubic spline at the log-odds x: a constant, x, and the knots.

    `span` has the lowest and the highest log-odds of the training rows; x is scaled to this range. Let t₋₂ and t₋₁ be
    the last two knots, and u₊ = max(u, 0). Each knot tⱼ except
    the last two has a column
    (x − tⱼ)₊³ − (x − t₋₂)₊³·(t₋₁ − tⱼ)/(t₋₁ − t₋₂) + (x − t₋₁)₊³·(t₋₂ − tⱼ)/(t₋₁ − t₋₂), divided by the cubed distance
    between the first and the last knot.
    """
    columns = [np.ones_like(log_odds)]
    lowest, highest = span
    if highest > lowest:
        columns.append((log_odds - lowest) / (highest - lowest))
    if knot.size:
        before, last = knot[-2], knot[-1]
        cube_before = np.maximum(log_odds - before, 0) ** 3
        cube_last = np.maximum(log_odds - last, 0) ** 3
        for position in knot[:-2]:
            cube = np.maximum(log_odds - position, 0) ** 3
            bend = cube - cube_before * (last - position) / (last - before)
            bend = bend + cube_last * (before - position) / (last - before)
            columns.append(bend / (last - knot[0]) ** 3)
    return np.array(columns)
