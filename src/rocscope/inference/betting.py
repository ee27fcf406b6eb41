"""Bets: how sure one may be of a mean at every look, however often one looks.

Someone who believes that the mean of bounded values is m offers bets at fair odds; who bets a share t of the wealth on
values above m holds Π (1 − t + t·(x − a)/(m − a)) of it. Were m right, that wealth would ever reach 1/α with a chance
of α at most (Ville). So the means at which no mixture of such bets ever reached 1/α are a confidence sequence: an
interval at every look, all of which hold together.

A cost takes few values, and the wealth depends on how often each came up, not on their order. So counts are all that a
monitor has to remember, and machines add theirs up.
"""

from math import log, log1p, sqrt
from typing import Any

import numpy as np
from scipy import optimize, special

from rocscope._types import Array

_SHARES = np.geomspace(1e-3, 0.9, 24)
_CLOSE = 1e-9
_LEAST_LEVEL = 1e-300


def log_wealth(values: Array, counts: Array, mean: float, least: float, shares: Array = _SHARES) -> Array:
    """Return the log wealth of bets that the mean is above `mean`, mixed evenly over shares; a row of counts each.

    Parameters
    ----------
    values : array of v
        What can come up.
    counts : array of … × v
        How often each did.
    mean : float
        What is bet against, above `least`.
    least : float
        The smallest value possible.

    Examples
    --------
    Nine of ten are 1 where half of them should be, with one bet of half the wealth: 1.5⁹·0.5.

    >>> float(np.exp(log_wealth(np.array([0, 1]), np.array([1, 9]), 0.5, 0, np.array([0.5]))))
    19.22...
    """
    gain = 1 - shares[:, None] + shares[:, None] * (values - least) / (mean - least)
    with np.errstate(divide="ignore"):
        each = counts @ np.log(gain).T
    return special.logsumexp(each, axis=-1) - log(shares.size)


def mean_interval(values: Array, counts: Array, level: float) -> tuple[float, float]:
    """Return the means that no bet has refuted so far: an interval that holds at every look.

    Notes
    -----
    Bets on either side get half of the wealth. Each side's wealth falls as the mean that it bets against nears what was
    found, so that the ends are roots.

    References
    ----------
    Waudby-Smith & Ramdas 2024, J. R. Stat. Soc. B 86:1–27 (bets); Robbins 1970, Ann. Math. Stat. 41 (mixtures).

    Examples
    --------
    >>> low, high = mean_interval(np.array([0, 1]), np.array([50, 50]), 0.95)
    >>> round(low, 3), round(high, 3)
    (0.335, 0.665)
    """
    values = np.asarray(values, dtype=np.float64)
    low = _lower_end(values, counts, level)
    return low, -_lower_end(-values, counts, level)


def _lower_end(values: Array, counts: Array, level: float) -> float:
    least, total = float(values.min()), counts.sum()
    if not total or values.max() == least:
        return least
    found = float(values @ counts / total)
    needed = log(2 / (1 - level))
    close = _CLOSE * (values.max() - least)

    def excess(mean: float) -> float:
        return float(log_wealth(values, counts, mean, least)) - needed

    first = least + close
    if found <= first or excess(first) <= 0:
        return least
    solve: Any = optimize.brentq
    return solve(excess, first, found, xtol=1e-10)


def asymptotic_reach(n: float, level: float, best_at: float = 500.0) -> float:
    """Return how many standard errors to each side make an interval that holds at every look, for large n.

    Parameters
    ----------
    n : float
        Rows so far.
    level : float
    best_at : float
        Rows at which it is shortest.

    Notes
    -----
    √((nρ² + 1)/(nρ²)·2·log(√(nρ² + 1)/α)), with ρ² such that it is shortest at `best_at` rows: 5 % wider than the best
    at a tenth and at ten times as many. Holds in the limit of a late first look, as the normal interval of one look
    does for large n.

    References
    ----------
    Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas 2024, Ann. Stat. 52:2613–2640, theorem 2.2 and eq. 15.

    Examples
    --------
    >>> round(asymptotic_reach(500, 0.95), 2)
    3.0...
    """
    twice = -2 * log1p(-max(level, _LEAST_LEVEL))  # −2 log α, also where α is 1 in floats
    spread = n * (twice + log1p(twice)) / best_at
    return sqrt((spread + 1) / spread * (log1p(spread) + twice))
