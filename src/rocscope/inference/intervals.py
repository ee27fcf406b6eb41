"""Intervals that counts, standard errors or other intervals say at once."""

from collections.abc import Sequence
from math import hypot
from typing import Any, Literal

import numpy as np
from scipy import special

from rocscope._types import Array
from rocscope.inference.estimate import Estimate

ShareMethod = Literal["wilson", "clopper-pearson", "jeffreys", "wald"]


def normal_quantile(level: float) -> float:
    """Return z for a two-sided interval."""
    return float(special.ndtri((1 + level) / 2))


def wald(value: float, standard_error: float, level: float) -> tuple[float, float]:
    """Return value ± z·se, cut at 0 and 1."""
    reach = normal_quantile(level) * standard_error
    return max(value - reach, 0.0), min(value + reach, 1.0)


def logit(value: float, standard_error: float, level: float) -> tuple[float, float]:
    """Return the interval that is symmetric on the logit scale."""
    reach = normal_quantile(level) * standard_error / (value * (1 - value))
    centre = special.logit(value)
    return float(special.expit(centre - reach)), float(special.expit(centre + reach))


def of_share(count: Any, n: Any, method: ShareMethod, level: float) -> tuple[Array, Array]:
    """Return the interval of a binomial share of n, of numbers or arrays; see `proportion_interval`.

    Examples
    --------
    >>> low, high = of_share([0, 10], 10, "wilson", 0.95)
    >>> low.round(3), high.round(3)
    (array([0.   , 0.722]), array([0.278, 1.   ]))
    """
    count, n = np.asarray(count, dtype=np.float64), np.asarray(n, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        if method in ("clopper-pearson", "jeffreys"):
            shift, tail = (0.5 if method == "jeffreys" else 0.0), (1 - level) / 2
            low = special.betaincinv(count + shift, n - count + (shift or 1), tail)
            high = special.betaincinv(count + (shift or 1), n - count + shift, 1 - tail)
        else:
            z, share = normal_quantile(level), count / n
            pull = z * z if method == "wilson" else 0.0
            centre = (count + pull / 2) / (n + pull)
            reach = z * np.sqrt(n * share * (1 - share) + pull / 4) / (n + pull)
            low, high = np.maximum(centre - reach, 0), np.minimum(centre + reach, 1)
    return np.where(count > 0, low, 0.0), np.where(count < n, high, 1.0)


def mover(parts: Sequence[tuple[float, Estimate]]) -> tuple[float, float, float]:
    """Return a sum of independent estimates with factors, and its interval from theirs.

    For dependent ones, such as of models on the same rows, it can only be too wide.

    References
    ----------
    Zou & Donner 2008, Stat. Med. 27:1693–1702.

    Examples
    --------
    >>> first, second = (Estimate(value, value - 3, value + 4, 0.95, "", 1) for value in (10.0, 20.0))
    >>> mover([(1, second), (-1, first)])
    (10.0, 5.0, 15.0)
    """
    value = sum(factor * each.value for factor, each in parts)
    below = (factor * (each.value - (each.low if factor > 0 else each.high)) for factor, each in parts)
    above = (factor * ((each.high if factor > 0 else each.low) - each.value) for factor, each in parts)
    return value, value - hypot(*below), value + hypot(*above)


def mover_difference(first: Estimate, second: Estimate, method: str, n: float) -> Estimate:
    """Return second − first, both areas, with an interval from theirs, for want of a variance."""
    value, low, high = mover([(1, second), (-1, first)])
    standard_error = (high - low) / (2 * normal_quantile(first.level))
    return Estimate(value, max(low, -1.0), min(high, 1.0), first.level, method, n, standard_error)
