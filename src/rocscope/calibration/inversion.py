"""Intervals of distances from calibration by inverting tests, so that interval and test never disagree.

A distance between probabilities and a fitted curve is above 0 by chance alone, and no resampling of the rows tells by
how much. So labels are drawn from curves whose distance is known: those between the probabilities and the fitted
curve, and beyond it. The interval holds the distances of the curves that would not surprisingly often give more than
was found, nor less.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from rocscope._base.arrays import Array
from rocscope.calibration.outcomes import Outcomes, Shift

Statistics = Callable[[Array], Mapping[str, Array]]
"""From positives at each level, a sample a row, to a column or matrix of numbers each."""

_STEPS = np.array([0.0, 0.15, 0.35, 0.6, 0.85, 1.0, 1.2, 1.5, 2.0])
_SHARED = 0.35
_REACH = 1.96
_EXACT_BELOW = 6.0
_NEVER = 1e-9


@dataclass(frozen=True, eq=False)
class Inverted:
    """Limits and p-values of numbers, by name."""

    low: Mapping[str, Array]
    high: Mapping[str, Array]
    p_value: Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class Direction:
    """A curve to move towards, the numbers drawn along it, and their values without noise for a curve."""

    curve: Array
    statistics: Statistics
    truth: Statistics
    reach: Sequence[str] = ()


def invert(
    sample: Outcomes,
    shift: Shift,
    directions: Sequence[Direction],
    *,
    level: float,
    draws: int,
    draws_along: int,
    rng: np.random.Generator,
) -> Inverted:
    """Return the intervals that tests of all distances along some directions leave, at this level.

    Parameters
    ----------
    sample : Outcomes
    shift : Shift
    directions : sequence of Direction
        Curves are chances at the target prevalence.
    draws : int
        From the probabilities themselves, for the p-value.
    draws_along : int
        From each other curve.

    Notes
    -----
    At the distance 0 the whole error is spent on finding more than expected, as there is no smaller distance: so 0 is
    in the interval exactly where the one-sided test does not reject at 1 − level. Half of it goes to either side from
    a third of the way to the curve on, and the share changes evenly in between.
    """
    start, alpha = sample.score, 1 - level
    null = sample.draw(shift.in_sample(start), draws, rng)
    noise = _Noise(sample, rng.random((draws_along, start.size)))
    low: dict[str, Array] = {}
    high: dict[str, Array] = {}
    p_value: dict[str, Array] = {}
    for way in directions:
        found = way.statistics(sample.pos[None])
        drawn = [way.statistics(null)]
        curves = [np.clip(start + step * (way.curve - start), 0, 1) for step in _STEPS]
        drawn += [way.statistics(noise.drawn(shift.in_sample(curve))) for curve in curves[1:]]
        truth = way.truth(np.array(curves))
        for name, value in found.items():
            samples = [part[name] for part in drawn]
            p_value[name] = _rank(samples[0] >= value - _ROUNDING)
            more, less = (np.array([_score(part, value[0], side) for part in samples]) for side in (1, -1))
            bottom, top = _limits(more, less, truth[name], alpha)
            bottom = np.where(p_value[name] > alpha, 0.0, np.maximum(bottom, np.finfo(float).tiny))
            if name in way.reach:
                at_curve = samples[int(np.flatnonzero(_STEPS == 1)[0])]
                top = np.maximum(top, value[0] + _REACH * at_curve.std(axis=0))
            low[name] = np.minimum(low.get(name, np.inf), bottom)
            high[name] = np.maximum(high.get(name, -np.inf), np.maximum(top, value[0]))
    return Inverted(low, high, p_value)


_ROUNDING = 1e-12


def _score(drawn: Array, value: Array, side: int) -> Array:
    """Return the normal score of the p-value of finding as much (side 1), or as little (−1), as was found.

    From ranks; where no draw goes as far, or each does, from mean and spread, which tell how much farther it is.
    """
    beyond = side * (drawn - value)
    rank = _rank(beyond >= -_ROUNDING)
    spread = beyond.std(axis=0)
    normal = np.divide(beyond.mean(axis=0), spread, out=np.zeros_like(spread), where=spread > 0)
    score, least = ndtri(np.minimum(rank, 1 - 1 / (2 + len(drawn)))), 1 / (1 + len(drawn))
    score = np.where(rank <= least, np.minimum(score, normal), score)
    return np.where(rank >= 1, np.maximum(score, normal), score)


def _rank(as_far: Array) -> Array:
    return (1 + as_far.sum(axis=0)) / (1 + len(as_far))


def _limits(more: Array, less: Array, truth: Array, alpha: float) -> tuple[Array, Array]:
    """Return the least and the largest distance along the steps that neither test rejects."""
    share = 0.5 + 0.5 * np.clip(1 - _STEPS / _SHARED, 0, 1)
    more, less = np.maximum.accumulate(more, axis=0), np.minimum.accumulate(less, axis=0)
    excess = (more.T - ndtri(alpha * share)).T
    lack = (less.T - ndtri(np.maximum(alpha * (1 - share), _NEVER))).T
    return _crossing(excess, truth), truth[-1] - _crossing(lack[::-1], truth[-1] - truth[::-1])


def _crossing(excess: Array, truth: Array) -> Array:
    """Return the distance at which an excess first rises above 0, on straight lines between the steps."""
    shape = excess.shape
    excess, truth = excess.reshape(len(excess), -1), truth.reshape(len(truth), -1)
    column = np.arange(excess.shape[1])
    after = np.where((excess > 0).any(axis=0), (excess > 0).argmax(axis=0), len(excess) - 1)
    before = np.maximum(after - 1, 0)
    below, above = excess[before, column], excess[after, column]
    part = np.divide(-below, above - below, out=np.ones(column.size), where=(above > 0) & (above > below))
    part = np.where(after == 0, 1.0, part.clip(0, 1))
    crossing = truth[before, column] + part * (truth[after, column] - truth[before, column])
    return crossing.reshape(shape[1:])


class _Noise:
    """One set of uniform numbers that gives labels at any chances, so that these differ by the chances alone."""

    def __init__(self, sample: Outcomes, uniform: Array) -> None:
        self.sample, self.uniform = sample, uniform
        trials = sample.effective * sample.design_effect
        self.trials = np.maximum(np.rint(trials), 1)
        self.single = bool((self.trials == 1).all())
        self.normal = None if self.single else ndtri(uniform)

    def drawn(self, chance: Array) -> Array:
        """Return positives at each level, a sample a row."""
        sample = self.sample
        successes = 1.0 * (self.uniform > 1 - chance) if self.single else self._binomial(chance)
        pos = successes * (sample.total / self.trials)
        if sample.design_effect == 1:
            return pos
        expected = sample.total * chance
        return expected + np.sqrt(sample.design_effect) * (pos - expected)

    def _binomial(self, chance: Array) -> Array:
        """Quantiles of binomials: exact where successes or failures are few, by Cornish and Fisher elsewhere."""
        trials, normal = self.trials, self.normal
        assert normal is not None
        spread = trials * chance * (1 - chance)
        moved = trials * chance + np.sqrt(spread) * normal + (1 - 2 * chance) * (normal**2 - 1) / 6
        found = np.rint(moved).clip(0, trials)
        few = np.flatnonzero(spread < _EXACT_BELOW)
        rare = np.minimum(chance, 1 - chance)[few]
        flip = (chance > 0.5)[few]
        uniform = np.where(flip, 1 - self.uniform[:, few], self.uniform[:, few])
        counted = _few_successes(uniform, trials[few], rare)
        found[:, few] = np.where(flip, trials[few] - counted, counted)
        return found


def _few_successes(uniform: Array, trials: Array, chance: Array) -> Array:
    """Return quantiles of binomials by summing their probabilities from 0 on."""
    probability = (1 - chance) ** trials
    reached, count = probability.copy(), np.zeros(uniform.shape)
    odds = chance / (1 - chance)
    for successes in range(1, int(trials.max(initial=0)) + 1):
        beyond = uniform > reached
        if not beyond.any():
            break
        count += beyond
        probability = probability * odds * np.maximum(trials - successes + 1, 0) / successes
        reached = reached + probability
    return np.minimum(count, trials)
