"""Local regression with tricube weights (LOESS) of outcomes on probabilities, as in R's lowess and loess."""
# MERGED-DOC: """Confidence bands for monotone calibration curves, from exact binomial bounds on intervals of rows.
#
# If the probability of the event never falls with the score, the number of positives in an interval of rows is at
# most
# binomial, with the probability at its upper end. An exact bound from each of many intervals is thus a bound on the
# curve. The family of intervals depends on the scores alone and shares out the error before any label is seen, so the
# bands hold in samples of any size, for every curve that does not fall, steps included.
#
# Consistency bands: where the curve of a calibrated model would lie, by drawing labels from its probabilities.
#
# Pointwise confidence bands of smooth calibration curves: LOESS with its bias, and splines.
# """
# MERGED-DOC: """Calibration curves as results: points, counts and uncertainty.
#
# calibration_curve: the calibration plot by bins, PAV, LOESS or a spline.
# """

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, Protocol

import numpy as np
from scipy.special import betainc, betaincinv

from rocscope import kernels
from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import answering
from rocscope.calibration.logistic import SplineFit, spline_fit
from rocscope.calibration.outcomes import (
    Bins,
    Blocks,
    Outcomes,
    Shift,
    Strategy,
    binned,
    evidence,
    outcomes,
    pav_blocks,
    pav_fit,
    pav_values,
)
from rocscope.core.counts import ThresholdCounts
from rocscope.core.result import Band, number
from rocscope.curves.curve import Curve, interpolate
from rocscope.errors import InputError
from rocscope.inference.proportions import normal_quantile, of_share
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


_DRAWN_AT_ONCE = 2_000_000  # labels: 16 MB as floats
_TRIFLE = 1e-9  # so that nothing is divided by a spread of 0


class Fit(Protocol):
    """A way to fit a calibration curve: its values at `x` for any labels at the probabilities of `outcomes`."""

    @property
    def outcomes(self) -> Outcomes: ...

    @property
    def x(self) -> Array: ...

    def values(self, pos: Array) -> Array:
        """Return the curve at `x` for positives at each level; rows of a matrix are separate samples."""
        ...


def consistency_band(
    fit: Fit, shift: Shift, x: Array, *, simultaneous: bool, level: float, draws: int, random_state: Any, what: str
) -> Band:
    """Return where the curve that `fit` draws at `x` would lie if the probabilities were true."""
    level = check.check_level(level)
    sample = fit.outcomes
    rng = check.check_random_state(random_state)
    drawn = shift.of_chance(_draw(fit, shift.in_sample(sample.score), check.check_whole(draws, "draws"), rng))
    low, high = envelope(drawn, level) if simultaneous else _pointwise(drawn, level)
    return Band(x, low, high, level, f"consistency band of {what}, {draws} draws", simultaneous)


def _draw(fit: Fit, chance: Array, draws: int, rng: np.random.Generator) -> Array:
    size = max(1, _DRAWN_AT_ONCE // chance.size)
    parts = [min(size, draws - done) for done in range(0, draws, size)]
    return np.concatenate([fit.values(fit.outcomes.draw(chance, part, rng)) for part in parts])


def _pointwise(drawn: Array, level: float) -> tuple[Array, Array]:
    """Return quantiles; if they coincide, widen them to the nearest other values that were drawn."""
    tail = (1 - level) / 2
    low = np.quantile(drawn, tail, axis=0, method="lower")
    high = np.quantile(drawn, 1 - tail, axis=0, method="higher")
    same = np.flatnonzero(low == high)
    low[same] = np.where(drawn[:, same] < low[same], drawn[:, same], -np.inf).max(axis=0)
    high[same] = np.where(drawn[:, same] > high[same], drawn[:, same], np.inf).min(axis=0)
    return np.where(np.isfinite(low), low, drawn.min(axis=0)), np.where(np.isfinite(high), high, drawn.max(axis=0))


def envelope(curves: Array, level: float) -> tuple[Array, Array]:
    """Return limits that contain a further simulated curve everywhere with probability `level`.

    Notes
    -----
    Half of the curves give the centre at each point and the spread to either side of it, as these are skewed where
    few rows are; the other half say how many spreads wide the band must be. As that half and a further curve can be
    exchanged, the probability holds whatever the shape of the curves.

    References
    ----------
    Myllymäki, Mrkvička, Grabarnik, Seijo & Hahn 2017, "Global envelope tests for spatial processes", JRSS B
    79:381–404 (the directional envelope).
    """
    first, second = curves[::2], curves[1::2] if len(curves) > 1 else curves
    centre = first.mean(axis=0)
    up, down = _spread(first - centre), _spread(centre - first)
    away = second - centre
    with np.errstate(divide="ignore", invalid="ignore"):
        spreads = np.where(away > 0, away / up, -away / down)
    farthest = np.sort(np.nanmax(np.where(away == 0, 0.0, spreads), axis=1))
    width = farthest[min(int(np.ceil(level * (farthest.size + 1))), farthest.size) - 1]
    with np.errstate(invalid="ignore"):
        low, high = centre - width * down, centre + width * up
    return np.maximum(low, min(0.0, np.nanmin(curves))), np.minimum(high, max(1.0, np.nanmax(curves)))


def _spread(away: Array) -> Array:
    """Root mean square of the positive deviations in each column, bounded away from 0."""
    above = np.maximum(away, 0)
    return np.sqrt((above**2).sum(axis=0) / np.maximum((above > 0).sum(axis=0), 1)) + _TRIFLE


_SHORTEST = 8  # rows: of fewer an exact interval says next to nothing
_STARTS = 4  # intervals of a length overlap by three quarters
_OCTAVES_BELOW = 10  # shorter ones would get less than a hundredth of the error each
_FEW_LEVELS = 90  # of so many levels all 4,095 intervals are looked at
_MOST_LEVELS_of_bands = 20_000  # of more, neighbours are pooled
_POINTS_of_bands = 2048  # at which a band is evaluated: more than a screen has columns


@dataclass(frozen=True, eq=False)
class _Sums:
    """Running sums over levels: positives, rows as weighted, and effective numbers of rows."""

    pos: Array
    total: Array
    squares: Array
    design_effect: float

    @classmethod
    def of(cls, sample: Outcomes) -> "_Sums":
        squares = sample.total if sample.squares is None else sample.squares
        pos, total, squares = (np.append(0.0, np.cumsum(column)) for column in (sample.pos, sample.total, squares))
        return cls(pos, total, squares, sample.design_effect)

    def mirrored(self) -> "_Sums":
        """Return the sums of the negatives from the highest level down, which turns upper bounds into lower ones."""
        pos, total, squares = (column[-1] - column[::-1] for column in (self.pos, self.total, self.squares))
        return _Sums(total - pos, total, squares, self.design_effect)

    @property
    def worth(self) -> Array:
        """Effective number of rows up to each boundary between levels; intervals are laid out on this scale."""
        return self.total * (self.total[-1] / self.squares[-1] / self.design_effect)

    def between(self, first: Array, end: Array) -> tuple[Array, Array]:
        """Return successes and trials between two levels, in effective rows."""
        total = self.total[end] - self.total[first]
        trials = total**2 / np.maximum(self.squares[end] - self.squares[first], 1e-300) / self.design_effect
        share = np.clip((self.pos[end] - self.pos[first]) / total, 0, 1)
        return share * trials, trials


def simultaneous_limits(sample: Outcomes, level: float) -> tuple[Array, Array]:
    """Return limits at each level that contain a monotone curve everywhere with at least this confidence.

    Notes
    -----
    Intervals of 8·2^i rows, and of all, begin every quarter of their length; length m has the share
    1/(1 + |log₂(m/n^⅔)|)² of the error, an equal part for each of its intervals. Both ends move to the nearest border
    between levels. Of few levels all intervals are taken, with equal shares. O(n).

    References
    ----------
    Dimitriadis, Dümbgen, Henzi, Puke & Ziegel 2023, "Honest calibration assessment for binary outcome predictions",
    Biometrika 110:663–680, who take all intervals; with weighted ones the band is narrower by a tenth to a quarter.
    """
    sums, tail = _Sums.of(sample), (1 - level) / 2
    return _lower(sums, tail), 1 - _lower(sums.mirrored(), tail)[::-1]


def pointwise_limits(sample: Outcomes, at: Array, level: float) -> tuple[Array, Array]:
    """Return limits at the given levels that contain a monotone curve pointwise.

    Notes
    -----
    From the intervals of 8·2^i rows, and of all, that end (for the upper limit: begin) at the level, with the shares of
    `simultaneous_limits`; never of zero width.
    """
    sums, tail = _Sums.of(sample), (1 - level) / 2
    last = sample.score.size - 1
    return _lower_at(sums, at, tail), 1 - _lower_at(sums.mirrored(), last - at, tail)


def _lengths(n: float) -> tuple[Array, Array]:
    """Return lengths of intervals and the share of the error assigned to each."""
    typical = max(n, 1.0) ** (2 / 3)
    shortest = max(_SHORTEST, 2.0 ** (np.floor(np.log2(typical)) - _OCTAVES_BELOW))
    count = max(int(np.ceil(np.log2(max(n / shortest, 1.0)))), 0)
    lengths = np.append(shortest * 2.0 ** np.arange(count), n)
    weight = 1 / (1 + np.abs(np.log2(lengths / typical))) ** 2
    return lengths, weight / weight.sum()


def _nearest(borders: Array, at: Array) -> Array:
    after = np.searchsorted(borders, at).clip(1, borders.size - 1)
    return after - (at - borders[after - 1] <= borders[after] - at)


def _family(worth: Array) -> Iterator[tuple[Array, Array, float]]:
    """Yield intervals by length, most informative lengths first, with their share of the error."""
    n, levels = worth[-1], worth.size - 1
    if levels <= _FEW_LEVELS or levels * (levels + 1) <= n:
        first, last = np.triu_indices(levels)
        yield first, last + 1, 1 / first.size
        return
    lengths, weights = _lengths(n)
    for index in np.argsort(-weights, kind="stable"):
        length = float(lengths[index])
        start = np.append(np.arange(0, n - length, max(1.0, length / _STARTS)), n - length)
        first, end = _nearest(worth, start), _nearest(worth, start + length)
        kept = np.append(True, (np.diff(first) > 0) | (np.diff(end) > 0)) & (end > first)
        if kept.any():
            yield first[kept], end[kept], weights[index] / kept.sum()


def _lower(sums: _Sums, tail: float) -> Array:
    """Return lower limits at all levels; each interval bounds its last level and all above it."""
    limit = np.zeros(sums.total.size - 1)
    for first, end, share in _family(sums.worth):
        successes, trials = sums.between(first, end)
        known = limit[end - 1]
        open_ = np.flatnonzero(successes > known * trials)
        failures = trials[open_] - successes[open_] + 1
        telling = betainc(successes[open_], failures, known[open_]) < tail * share
        open_, failures = open_[telling], failures[telling]
        np.maximum.at(limit, end[open_] - 1, betaincinv(successes[open_], failures, tail * share))
        np.maximum.accumulate(limit, out=limit)
    return limit


def _lower_at(sums: _Sums, at: Array, tail: float) -> Array:
    worth, end = sums.worth, at + 1
    limit = np.zeros(at.size)
    for length, weight in zip(*_lengths(worth[-1]), strict=True):
        first = np.minimum(_nearest(worth, worth[end] - length), at)
        successes, trials = sums.between(first, end)
        some = successes > 0
        bound = betaincinv(successes[some], trials[some] - successes[some] + 1, tail * weight)
        limit[some] = np.maximum(limit[some], bound)
    return limit


@dataclass(frozen=True, eq=False)
class MonotoneBand:
    """Confidence limits of a monotone curve at some levels.

    Attributes
    ----------
    x, low, high : arrays
    note : str
        What speaks against a curve that never falls, if anything does.
    """

    x: Array
    low: Array
    high: Array
    note: str


def monotone_band(sample: Outcomes, level: float, *, simultaneous: bool) -> MonotoneBand:
    """Return limits at up to about 2,000 levels, including the first and last.

    Where no curve that never falls fits between the limits, they are exchanged and hold the PAV curve too.
    """
    size = sample.score.size
    at = np.unique(np.linspace(0, size - 1, min(size, _POINTS_of_bands)).astype(int))
    if simultaneous:
        low, high = (limit[at] for limit in _limits_of_many(sample, level))
    else:
        low, high = pointwise_limits(sample, at, level)
    fitted = pav_values(sample)[at]
    note, empty, left_out = "", low >= high, (fitted < low) | (fitted > high)
    if empty.any():
        if simultaneous:
            note = f"no curve that never falls fits near {sample.score[at][empty][0]:.3g}: the truth may fall there"
        low, high = np.minimum(np.minimum(low, high), fitted), np.maximum(np.maximum(low, high), fitted)
    elif left_out.any() and simultaneous:
        note = f"leaves out the PAV curve near {sample.score[at][left_out][0]:.3g}: the truth may fall there"
    return MonotoneBand(sample.score[at], low, high, note)


def _limits_of_many(sample: Outcomes, level: float) -> tuple[Array, Array]:
    """Return simultaneous limits at all levels; for many levels, neighbours are grouped and share limits."""
    starts = (
        sample.starts(_MOST_LEVELS_of_bands)
        if sample.score.size > _MOST_LEVELS_of_bands
        else np.arange(sample.score.size)
    )
    low, high = simultaneous_limits(sample.merged(starts), level)
    group = np.repeat(np.arange(starts.size), np.diff(starts, append=sample.score.size))
    below, above = np.append(0.0, low[:-1])[group], np.append(high[1:], 1.0)[group]
    below[np.append(starts[1:], sample.score.size) - 1] = low
    above[starts] = high
    return below, above


_SPAN = 2 / 3  # R's default of lowess
_ROWS_OF_SPAN = 300  # up to so many rows the whole span; then it shrinks as n^(-1/5), the rate of least squared error


def loess_limits(sample: Outcomes, x: Array, level: float) -> tuple[Array, Array]:
    """Return limits of the true curve at each x from a local quadratic fit: z standard errors plus its estimated bias.

    Notes
    -----
    The span is ⅔·min(1, (300/n)^⅕), so that the bias shrinks with more rows. What the fit makes of a pilot curve of
    half that span, less the pilot, is taken for its bias. The variance is that of a binomial share of as many rows as
    the weights at x are worth, two successes and two failures added, so it is never 0.
    """
    rows = float(sample.effective.sum())
    span = _SPAN * min(1.0, (_ROWS_OF_SPAN / rows) ** 0.2)
    fit, pilot = loess_fit(sample, span, 2), loess_fit(sample, span / 2, 2)
    known = fit.outcomes
    weights = fit.weights_at(x)
    value = weights @ known.pos
    guess = pilot.at_levels(pilot.outcomes.pos).clip(0, 1)
    bias = np.abs(weights @ (guess * known.total) - pilot.at(x, pilot.outcomes.pos).clip(0, 1))
    worth = 1 / ((weights * known.total) ** 2 @ (1 / known.effective))
    share = (worth * value.clip(0, 1) + 2) / (worth + 4)
    reach = normal_quantile(level) * np.sqrt(share * (1 - share) / worth) + bias
    return (value - reach).clip(0, 1), (value + reach).clip(0, 1)


DRAWS = 999  # with the sample itself 1,000, so that the ends of a 95 % band are the 25th draws; time grows with it
BinMethod = Literal["jeffreys", "wilson", "clopper-pearson"]
_BIN_METHODS = ("jeffreys", "wilson", "clopper-pearson")
_OF_BINS = "of the mean true probability in each bin"


@dataclass(frozen=True, eq=False)
class Basis:
    """What the bands of a curve are computed from.

    Attributes
    ----------
    sample : Outcomes
        At the sample's own prevalence.
    shift : Shift
        To the prevalence that the curve is drawn at.
    fit : function
        From outcomes to the way the curve is drawn.
    limits : function, optional
        Pointwise limits at the x of such a fit; without it those of a curve that never falls.
    """

    sample: Outcomes
    shift: Shift
    fit: Callable[[Outcomes], Any]
    limits: Callable[[Any, float], tuple[Array, Array]] | None = None

    @property
    def facts(self) -> str:
        """Notes on dependent or weighted rows for a band."""
        facts = ""
        if self.sample.design_effect > 1:
            facts += f", design effect {self.sample.design_effect:.3g}"
        if self.sample.squares is not None:
            facts += f", effective n {self.sample.effective.sum():.0f}"
        return facts + ("" if self.shift.target is None else f", at prevalence {self.shift.target:g}")


class CalibrationCurve(Curve):
    """Share of positives (y) against the predicted probability (x).

    Made by `rocscope.calibration_curve`.

    Attributes
    ----------
    counts : ThresholdCounts
        What the curve was drawn from; its levels are the rug (`rocscope.calibration.bins`).
    method : str
        How, as a legend names it.
    """

    _content = ("method",)

    title = "calibration plot"
    x_name = "score"
    y_name = "share_positive"

    def __init__(self, counts: ThresholdCounts, method: str, basis: Basis, x: Array, y: Array) -> None:
        super().__init__(x, y, x)
        self.counts = counts
        self.method = method
        self._basis = basis

    @cached_property
    def _fit(self) -> Fit:
        return self._basis.fit(self._basis.sample)

    def consistency_band(
        self, *, simultaneous: bool = False, level: float = 0.95, draws: int = DRAWS, random_state: Any = 0
    ) -> Band:
        """Return a band that contains the curve of a calibrated model with these probabilities.

        Parameters
        ----------
        simultaneous : bool
            True: the whole curve of a calibrated model lies inside with probability `level`. False: each of its
            points does.
        level : float
        draws : int
            How often labels are drawn from the probabilities.
        random_state : int, Generator, RandomState or None

        Notes
        -----
        Given the probabilities; of no width where these are 0 or 1. Above about 5,000 distinct ones neighbouring rows
        are gathered first.

        References
        ----------
        Bröcker & Smith 2007, "Increasing the reliability of reliability diagrams", Wea. Forecasting 22:651–661;
        Dimitriadis, Gneiting & Jordan 2021, PNAS 118:e2016191118.
        """
        options = {"simultaneous": simultaneous, "level": level, "draws": draws, "random_state": random_state}
        return consistency_band(self._fit, self._basis.shift, x=self._places, what=self.method, **options)

    def confidence_band(self, *, simultaneous: bool = False, level: float = 0.95) -> Band:
        """Return a confidence band for the true curve: the probability of the event at each predicted probability.

        Parameters
        ----------
        simultaneous : bool
            True: the whole true curve lies inside with at least this confidence, for any curve that never falls.
            False: each of its points does.
        level : float

        Returns
        -------
        Band
            Never of zero width, and within 0 and 1. Its note states where it does not hold.

        Notes
        -----
        PAV: exact binomial bounds on many intervals of rows, which hold in samples of any size wherever the true curve
        does not fall, at steps too. LOESS: pointwise z standard errors and the smoothing bias of a local quadratic fit
        whose span shrinks as rows grow, and up to the drawn curve; spline: Wald's, on the scale of log-odds. Both are
        too narrow at a step, which no smooth curve follows, so where all of a curve is asked for they give the band of
        PAV. Coverage by simulation is in docs/guide/calibration.md.

        Rows that stand for unequal numbers of others count as fewer (Kish), and so do rows in groups (their design
        effect); then, and at a target prevalence, whose error is included, the band holds in large samples only.

        References
        ----------
        Dimitriadis, Dümbgen, Henzi, Puke & Ziegel 2023, Biometrika 110:663–680; Cleveland & Loader 1996, "Smoothing by
        local regression", §10.

        Examples
        --------
        >>> from rocscope import calibration_curve
        >>> curve = calibration_curve([0, 1] * 20, [0.2, 0.8] * 20, method="pav")
        >>> band = curve.confidence_band(simultaneous=True)
        >>> band.low.round(3), band.high.round(3)
        (array([0.   , 0.787]), array([0.213, 1.   ]))
        """
        level = check.check_level(level)
        sample, shift = self._basis.sample, self._basis.shift
        if simultaneous or self._basis.limits is None:
            found = monotone_band(sample, level, simultaneous=simultaneous)
            x, note, steps = found.x, found.note, True
            centre, method = np.interp(x, sample.score, pav_values(sample)), "exact for rising curves"
            low, high = shift.of_limits(centre, found.low, found.high, normal_quantile(level))
        else:
            (x, low, high), steps = self.smooth_limits(level), False
            method, note = "with smoothing bias" if "LOESS" in self.method else "Wald", self._too_smooth
        method = f"confidence, {method}" + self._basis.facts
        return Band(x, low, high, level, method, simultaneous, note, steps)

    def smooth_limits(self, level: float) -> tuple[Array, Array, Array]:
        """Return where a smooth curve is fitted, and its limits there; the band has them with a note."""
        if self._basis.limits is None:
            raise InputError("smooth_limits", expected="a smooth curve", got=self.method)
        x, fit = self._fit.x, self._fit
        low, high = self._basis.limits(fit, level)
        centre = fit.values(fit.outcomes.pos).clip(0, 1)
        low, high = self._basis.shift.of_limits(centre, low, high, normal_quantile(level))
        drawn = np.interp(x, self.x, self.y).clip(0, 1)  # bias is most where the drawn curve leaves them
        return x, np.minimum(low, drawn), np.maximum(high, drawn)

    @property
    def _places(self) -> Array:
        return self._fit.x

    @cached_property
    def _too_smooth(self) -> str:
        """Whether the smooth curve leaves the limits for monotone curves, which shows that the truth is steeper."""
        sure = monotone_band(self._basis.sample, 0.95, simultaneous=True)
        y = np.interp(sure.x, self._fit.x, self._fit.values(self._fit.outcomes.pos).clip(0, 1))
        outside = (y < sure.low) | (y > sure.high)
        if not outside.any() or sure.note:
            return ""
        return f"the truth is steeper than this curve shows near {sure.x[outside][0]:.3g}: see method='pav'"

    def at(self, x: Any) -> Any:
        """Return the share of positives at a score, by linear interpolation."""
        known = ~np.isnan(self.y)
        return interpolate(self.x[known], self.y[known], x)

    def area(self) -> float:
        raise InputError("a calibration plot has no area that means anything")

    def columns(self) -> dict[str, Array]:
        """Return the points of the curve."""
        return {self.x_name: self.x, self.y_name: self.y}

    def _facts(self) -> str:
        return f"{self.method}, {self.x.size} points, n={number(self.counts.n)}"


class BinnedCalibrationCurve(CalibrationCurve):
    """Share of positives (y) against the mean probability (x) in each bin; NaN in an empty one.

    Attributes
    ----------
    edges : array of b + 1 bin edges, increasing
    pos, neg : arrays of b counts
    """

    x_name = "mean_score"

    def __init__(self, counts: ThresholdCounts, method: str, basis: Basis, bins: Bins) -> None:
        super().__init__(counts, method, basis, bins.x, bins.share)
        self.threshold = check.read_only(bins.edges[:-1])
        columns = (bins.edges, bins.pos, bins.total - bins.pos)
        self.edges, self.pos, self.neg = (check.read_only(column) for column in columns)

    def confidence_band(self, *, simultaneous: bool = False, level: float = 0.95) -> Band:
        """Return a confidence band for the mean true probability of each bin: Jeffreys intervals, or simultaneous exact
        ones.

        Parameters and what is returned as for other curves (`CalibrationCurve.confidence_band`); NaN for an empty bin.
        """
        method = "clopper-pearson" if simultaneous else "jeffreys"
        return self.interval(method=method, simultaneous=simultaneous, level=level)

    def interval(self, *, method: BinMethod = "jeffreys", simultaneous: bool = False, level: float = 0.95) -> Band:
        """Return an interval of the mean true probability in each bin.

        Parameters
        ----------
        method : {"jeffreys", "wilson", "clopper-pearson"}
            The equal-tailed interval of a Beta(1/2, 1/2) prior, which reaches to 0 (or 1) where no (or every) row is
            positive; the score interval; the exact one, which covers at least as often as stated.
        simultaneous : bool
            Whether all bins at once are to be covered: each then has the level to the power of 1/bins. Only the exact
            interval holds so far out.
        level : float

        References
        ----------
        Brown, Cai & DasGupta 2001, "Interval estimation for a binomial proportion", Stat. Sci. 16:101–133.

        Examples
        --------
        >>> from rocscope import calibration_curve
        >>> interval = calibration_curve([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8], bins=2).interval()
        >>> interval.low.round(3), interval.high.round(3)
        (array([0.061, 0.061]), array([0.939, 0.939]))
        """
        level = check.check_level(level)
        check.check_choice("method", method, _BIN_METHODS)
        bins = self._fit
        assert isinstance(bins, Bins)
        used = bins.total > 0
        each = level ** (1 / used.sum()) if simultaneous else level
        worth, share = bins.effective[used], bins.share[used]
        found = of_share(share * worth, worth, method, each)
        low, high = np.full((2, used.size), np.nan)
        low[used], high[used] = self._basis.shift.of_limits(share, *found, normal_quantile(each))
        name = "–".join(part.capitalize() for part in method.split("-"))
        return Band(self.x, low, high, level, name + self._basis.facts, simultaneous, _OF_BINS)

    @property
    def _places(self) -> Array:
        return self.x  # mean scores move with the prevalence, as rows are weighted to it

    def columns(self) -> dict[str, Array]:
        """Return one row per bin."""
        edges = {"low": self.edges[:-1], "high": self.edges[1:], "pos": self.pos, "neg": self.neg}
        return edges | super().columns()

    def _facts(self) -> str:
        return f"{self.x.size} bins, n={number(self.counts.n)}"


class PavCalibrationCurve(CalibrationCurve):
    """Isotonic regression: constant within a block of scores, a straight line between blocks.

    Attributes
    ----------
    low, high : arrays of b scores
        Lowest and highest score of each block.
    pos, neg : arrays of b counts
    """

    def __init__(self, counts: ThresholdCounts, basis: Basis, blocks: Blocks) -> None:
        ends = np.repeat(blocks.low, 2).astype(np.float64)
        ends[1::2] = blocks.high
        kept = np.append(True, np.diff(ends) > 0)
        super().__init__(counts, "PAV", basis, ends[kept], np.repeat(blocks.share, 2)[kept])
        columns = (blocks.low, blocks.high, blocks.pos, blocks.neg)
        self.low, self.high, self.pos, self.neg = (check.read_only(column) for column in columns)

    def _facts(self) -> str:
        return f"PAV, {self.low.size} blocks, n={number(self.counts.n)}"


Method = Literal["bins", "pav", "loess", "spline"]


@answering
def calibration_curve(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    method: Method = "bins",
    bins: int = 10,
    strategy: Strategy = "uniform",
    edges: Any = None,
    span: float | None = None,
    degree: Degree = 1,
    knots: int = 5,
    target_prevalence: float | None = None,
    groups: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> CalibrationCurve:
    """Compute the calibration plot: observed share of positives against predicted probability.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Labels and scores, Predictions, ThresholdCounts, OperatingPoint, bins or a sketch; see `rocscope.sample`.
    method : {"bins", "pav", "loess", "spline"}
        Shares in bins, as in the papers; isotonic regression, the CORP reliability diagram, which has no bins to
        choose; local linear regression, the papers' choice for small samples; logistic regression on a spline of
        the logit, which is smooth and stays within 0 and 1.
    bins : int
        How many bins, for the first two strategies.
    strategy : {"uniform", "quantile", "distinct"}
        Bins of equal width; of about equally many rows, where a tie is never split (so there may be fewer); or
        one for each distinct score.
    edges : array, optional
        Increasing bin edges that cover all scores, in place of a strategy.
    span : float, optional
        Share of the rows in each window of LOESS; by default ⅔ for lines and ¾ for parabolas.
    degree : {1, 2}
        Lines, as R's lowess and val.prob fit, or parabolas, as R's loess and Austin & Steyerberg (2019).
    knots : int
        Of the spline, 3 to 7.
    target_prevalence : float, optional
        Share of positives where the model will be used: classes are weighted to it.
    groups : array of n labels, optional
        What rows belong together, such as the patient of each: bands then do not take them as independent.

    Returns
    -------
    CalibrationCurve
        With the bands `consistency_band()` and `confidence_band()`; of bins also with `interval()`.

    Raises
    ------
    ScoreError
        If a score is not a probability.
    InputError
        If an option makes no sense; see also `ThresholdCounts.from_scores`.

    Notes
    -----
    Bins are ``[low, high)``, the last one closed; a point stands at the mean score of its bin, and an empty bin is a
    gap (NaN). What bins show depends on the bins; PAV has no such choice. LOESS is not iterated for robustness and
    may leave [0, 1]. O(k) after ranking.

    References
    ----------
    Vuk & Curk 2006, §6. Dimitriadis, Gneiting & Jordan 2021, "Stable reliability diagrams for probabilistic
    classifiers", PNAS 118:e2016191118. Cleveland 1979, JASA 74:829–836.

    Examples
    --------
    >>> curve = calibration_curve([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8], bins=2)
    >>> curve.x, curve.y
    (array([0.2, 0.7]), array([0.5, 0.5]))
    >>> curve = calibration_curve([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8], method="pav")
    >>> curve.x, curve.y
    (array([0.1, 0.3, 0.6, 0.8]), array([0. , 0.5, 0.5, 1. ]))
    """
    known = evidence(y_true, y_score, model=model, groups=groups, pos_label=pos_label, sample_weight=sample_weight)
    sample = known.outcomes
    shift, counts = Shift.of(sample, target_prevalence), known.counts_at(target_prevalence)
    check.check_text("method", method)
    plain = replace(sample, squares=None, design_effect=1.0) if counts is known.counts else outcomes(counts)
    if method == "bins":
        cells = binned(plain, bins=bins, strategy=strategy, edges=edges)
        name = _name(cells.total.size, strategy, edges)
        return BinnedCalibrationCurve(counts, name, Basis(sample, shift, cells.of), cells)
    if method == "pav":
        return PavCalibrationCurve(counts, Basis(sample, shift, pav_fit), pav_blocks(counts))
    if method == "loess":
        span = DEFAULT_SPAN.get(degree, 1.0) if span is None else span
        basis = Basis(sample, shift, partial(loess_fit, span=span, degree=degree), _loess_limits)
        return _smooth(counts, plain, f"LOESS, {'quadratic, ' if degree == 2 else ''}span {span:.3g}", basis)
    if method == "spline":
        basis = Basis(sample, shift, partial(spline_fit, knots=knots), SplineFit.limits)
        return _smooth(counts, plain, f"logistic spline, {knots} knots", basis)
    raise InputError("method", expected="'bins', 'pav', 'loess' or 'spline'", got=repr(method))


def _loess_limits(fit: LoessFit, level: float) -> tuple[Array, Array]:
    return loess_limits(fit.outcomes, fit.x, level)


def _smooth(counts: ThresholdCounts, sample: Outcomes, name: str, basis: Basis) -> CalibrationCurve:
    fit = basis.fit(sample)
    return CalibrationCurve(counts, name, basis, fit.x, fit.values(fit.outcomes.pos))


def _name(size: int, strategy: str, edges: Any) -> str:
    return f"{size} given bins" if edges is not None else f"{size} {strategy} bins"
