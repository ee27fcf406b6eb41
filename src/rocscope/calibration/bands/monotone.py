"""Confidence bands for a curve that never falls, from exact binomial bounds on intervals of rows.

Where the chance of the event never falls with the score, the positives among the rows of any interval are at most
binomial with the chance at its upper end: an exact bound from each of many intervals is a bound on the curve. The
family of intervals depends on the scores alone and shares out the error before any label is seen, so the bands hold
in samples of any size, for every curve that does not fall, steps included.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, betaincinv

from rocscope._types import Array
from rocscope.calibration.outcomes import Outcomes
from rocscope.calibration.pav import pav_values

_SHORTEST = 8
_STARTS = 4
_OCTAVES_BELOW = 10
_FEW_LEVELS = 90
_MOST_LEVELS = 20_000
_POINTS = 2048


@dataclass(frozen=True, eq=False)
class _Sums:
    """Running sums over levels: positives and rows as they count, and how many independent rows these are worth."""

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
        """Return the sums of the negatives, from the highest level down: upper bounds are lower ones there."""
        pos, total, squares = (column[-1] - column[::-1] for column in (self.pos, self.total, self.squares))
        return _Sums(total - pos, total, squares, self.design_effect)

    @property
    def worth(self) -> Array:
        """Independent rows up to each border between levels; the scale on which intervals are laid out."""
        return self.total * (self.total[-1] / self.squares[-1] / self.design_effect)

    def between(self, first: Array, end: Array) -> tuple[Array, Array]:
        """Return successes and trials of the levels from `first` to before `end`, in independent rows."""
        total = self.total[end] - self.total[first]
        trials = total**2 / np.maximum(self.squares[end] - self.squares[first], 1e-300) / self.design_effect
        share = np.clip((self.pos[end] - self.pos[first]) / total, 0, 1)
        return share * trials, trials


def simultaneous_limits(sample: Outcomes, level: float) -> tuple[Array, Array]:
    """Return limits at each level between which a curve that never falls lies everywhere, with at least this level.

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
    """Return limits at the levels of these indices between which a curve that never falls lies at each of them.

    Notes
    -----
    From the intervals of 8·2^i rows, and of all, that end (for the upper limit: begin) at the level, with the shares of
    `simultaneous_limits`; never of zero width.
    """
    sums, tail = _Sums.of(sample), (1 - level) / 2
    last = sample.score.size - 1
    return _lower_at(sums, at, tail), 1 - _lower_at(sums.mirrored(), last - at, tail)


def _lengths(n: float) -> tuple[Array, Array]:
    """Return the lengths of intervals and the share of the error that each has."""
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
    """Yield the intervals of each length, the most telling lengths first, with the error that each may make."""
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
    """Return lower limits at all levels, each interval giving one at its last level and so at all above."""
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
    """Limits of a curve that never falls, at some levels.

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
    """Return limits at up to some 2,000 levels, the outer ones among them.

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
    """Return simultaneous limits at all levels; of very many, those of groups of neighbours hold to their far ends."""
    starts = sample.starts(_MOST_LEVELS) if sample.score.size > _MOST_LEVELS else np.arange(sample.score.size)
    low, high = simultaneous_limits(sample.merged(starts), level)
    group = np.repeat(np.arange(starts.size), np.diff(starts, append=sample.score.size))
    below, above = np.append(0.0, low[:-1])[group], np.append(high[1:], 1.0)[group]
    below[np.append(starts[1:], sample.score.size) - 1] = low
    above[starts] = high
    return below, above
