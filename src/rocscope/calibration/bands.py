"""Confidence bands for monotone calibration curves, from exact binomial bounds on intervals of rows.

If the probability of the event never falls with the score, the number of positives in an interval of rows is at most
binomial, with the probability at its upper end. An exact bound from each of many intervals is thus a bound on the
curve. The family of intervals depends on the scores alone and shares out the error before any label is seen, so the
bands hold in samples of any size, for every curve that does not fall, steps included.

Consistency bands: where the curve of a calibrated model would lie, by drawing labels from its probabilities.

Pointwise confidence bands of smooth calibration curves: LOESS with its bias, and splines.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.special import betainc, betaincinv

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.calibration.loess import loess_fit
from rocscope.calibration.outcomes import Outcomes, Shift, pav_values
from rocscope.core.result import Band
from rocscope.inference.proportions import normal_quantile

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
_MOST_LEVELS = 20_000  # of more, neighbours are pooled
_POINTS = 2048  # at which a band is evaluated: more than a screen has columns


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
    at = np.unique(np.linspace(0, size - 1, min(size, _POINTS)).astype(int))
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
    starts = sample.starts(_MOST_LEVELS) if sample.score.size > _MOST_LEVELS else np.arange(sample.score.size)
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
