"""Means over cells at a fixed class mix: evidence and intervals that hold however prevalence varies.

A cost per case depends on the class mix of the cases that come. Where that swings for weeks at a time, rows are not
independent, and bets on the cost are not at fair odds. Bets on positives alone are, and so are bets on negatives.

A limit on a mean at prevalence π is a limit on π·μ₁ + (1 − π)·μ₀, of the mean gains of both classes. If it is kept, the
line π·μ₁ + (1 − π)·μ₀ = 0 has a pair of means that are at least the true ones. So the evidence is the least product,
over that line, of the wealth of bets against μ₁ and against μ₀.
"""

import numpy as np
from scipy import special

from rocscope._base.arrays import Array
from rocscope.decisions.monitoring.confidence_sequence import (
    BETS,
    Betting,
    LookBlock,
    evidence,
    from_each_on,
    mean_interval,
    spread,
)
from rocscope.decisions.monitoring.quantities import NEGATIVES, POSITIVES, CellMean
from rocscope.figures.conditions import Condition

_BETS = np.append(0.0, BETS)  # some is kept as cash, so that wealth in one class cannot ruin that in the other
_POINTS, _STAGES = 33, 3  # of the line: each stage narrows it 16-fold about its least point
_CLOSE = 1e-9


def interval_of(mean: CellMean, cells: Array, level: float) -> tuple[float, float]:
    """Return the confidence sequence of a mean over cells.

    Notes
    -----
    At a fixed class mix both rates have a sequence at level 1 − (1 − level)/2. A mean over cells is a quotient that is
    linear in both, so that its extremes lie at their ends.
    """
    if not mean.mixed:
        return mean_interval(np.array(mean.values), mean.counts(cells), level)
    rates = [mean_interval(np.array([1.0, 0.0]), cells[list(own)], (1 + level) / 2) for own in (POSITIVES, NEGATIVES)]
    ends = [mean.at_rates(tpr, fpr) for tpr in rates[0] for fpr in rates[1]]
    known = [each for each in ends if not np.isnan(each)] or [min(mean.values), max(mean.values)]
    return min(known), max(known)


def evidence_of(blocks: list[LookBlock], limit: Condition, mean: CellMean | None) -> Betting:
    """Return the evidence that a limit on a mean over cells, or on the calibration, is broken."""
    if mean is None or not mean.mixed:
        return evidence(blocks, limit, mean)
    assert mean.prevalence is not None
    sign, gain = (1.0 if limit.upwards else -1.0), np.zeros(4)
    gain[list(mean.used)] = sign * (np.array(mean.values) - limit.bound)
    counts = from_each_on(np.array([block.cells for block in blocks]))
    odds = mean.prevalence / (1 - mean.prevalence)
    of_pos, of_neg = ((gain[list(each)], counts[:, list(each)]) for each in (POSITIVES, NEGATIVES))
    return spread(_least_on_line(of_pos, of_neg, odds), np.array([block.n for block in blocks]))


def _least_on_line(of_pos: tuple[Array, Array], of_neg: tuple[Array, Array], odds: float) -> Array:
    """Return the least log wealth over all pairs of means that keep the limit, for each row of counts."""
    (pos, _), (neg, _) = of_pos, of_neg
    low = np.full(len(of_pos[1]), pos.min())
    high = np.full(low.size, min(pos.max(), -neg.min() / odds))
    first, last, least = low, high, low
    for _ in range(_STAGES):
        means = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, _POINTS)
        grown = _log_wealth(*of_pos, means) + _log_wealth(*of_neg, np.minimum(-odds * means, neg.max()))
        at = grown.argmin(axis=1)[:, None]
        least, centre = (np.take_along_axis(each, at, axis=1)[:, 0] for each in (grown, means))
        reach = (high - low) / (_POINTS - 1)
        low, high = np.maximum(centre - reach, first), np.minimum(centre + reach, last)
    return least


def _log_wealth(values: Array, counts: Array, means: Array) -> Array:
    """Return the log wealth of bets against means, mixed over stakes; of values that are all equal nothing is won."""
    least, width = values.min(), np.ptp(values)
    if not width:
        return np.zeros(means.shape)
    odds = (values - least) / np.maximum(means - least, _CLOSE * width)[..., None]
    grown = np.log(1 + _BETS[:, None, None, None] * (odds - 1))
    return special.logsumexp((grown * counts[:, None]).sum(axis=-1), axis=0) - np.log(_BETS.size)
