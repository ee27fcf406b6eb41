"""p-values that allow for the number of comparisons made."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.errors import InputError
from rocscope.inference.estimate import Comparison

PValueAdjust = Literal["holm", "bh", "none"]
Adjust = Literal["holm", "bh", "max-t", "none"]

ADJUSTMENTS = ("holm", "bh", "none")
OF_ESTIMATES = ("holm", "bh", "max-t", "none")

_DRAWS = 100_000


def adjust_p_values(p_values: Any, method: PValueAdjust = "holm") -> NDArray[np.float64]:
    """p-values adjusted for several comparisons.

    Parameters
    ----------
    p_values : array of m p-values
    method : {"holm", "bh", "none"}
        Holm's step-down method keeps the chance of any false finding below the level (family-wise error);
        Benjamini–Hochberg's keeps the share of false ones among the findings below it (false discovery rate).

    Returns
    -------
    array of m adjusted p-values

    Raises
    ------
    InputError
        If a p-value is not from 0 to 1.

    References
    ----------
    Holm 1979, Scand. J. Stat. 6:65–70; Benjamini & Hochberg 1995, J. R. Stat. Soc. B 57:289–300.

    Examples
    --------
    >>> adjust_p_values([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    >>> adjust_p_values([0.01, 0.04, 0.03], "bh")
    array([0.03, 0.04, 0.04])
    """
    check.check_choice("method", method, ADJUSTMENTS)
    p = np.asarray(check.check_column(p_values, "p_values"), dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise InputError("p_values", expected="numbers from 0 to 1", got=repr(p[~((p >= 0) & (p <= 1))][0].item()))
    if method == "none":
        return p
    order = np.argsort(p)
    adjusted = np.empty_like(p)
    if method == "bh":
        times = p.size / np.arange(1, p.size + 1)  # at least 1, so that no product is rounded below its p-value
        adjusted[order] = np.minimum.accumulate((p[order] * times)[::-1])[::-1]
    else:
        adjusted[order] = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1)).clip(max=1)
    return adjusted


def with_adjusted(pairs: Sequence[Comparison], method: PValueAdjust) -> list[Comparison]:
    """Return the comparisons with adjusted p-values."""
    return _adjusted(pairs, adjust_p_values([pair.p_value for pair in pairs], method)) if pairs else []


def with_adjusted_together(pairs: Sequence[Comparison], method: Adjust, covariance: Array) -> list[Comparison]:
    """Return the comparisons of all pairs of m estimates with adjusted p-values, by the estimates' covariance."""
    if method != "max-t" or not pairs:
        return with_adjusted(pairs, method if method != "max-t" else "none")
    one_sided = pairs[0].alternative != "two-sided" or pairs[0].test != "difference"
    return _adjusted(pairs, max_t(np.array([pair.p_value for pair in pairs]), covariance, one_sided))


def _adjusted(pairs: Sequence[Comparison], adjusted: Array) -> list[Comparison]:
    return [replace(pair, adjusted_p_value=float(p)) for pair, p in zip(pairs, adjusted, strict=True)]


def max_t(p: Array, covariance: Array, one_sided: bool) -> Array:
    """Return p-values by the law of the largest of several correlated differences, step by step down from the largest.

    Notes
    -----
    A p-value is taken as that of a normal statistic, so that what it allows for few rows stays allowed for. 100,000
    draws: an adjusted p-value of .05 has a standard error of .0007.

    References
    ----------
    Westfall & Young 1993, Resampling-Based Multiple Testing; Hothorn, Bretz & Westfall 2008, Biom. J. 50:346–363.
    """
    m = covariance.shape[0]
    i, j = np.triu_indices(m, 1)
    contrast = np.eye(m)[j] - np.eye(m)[i]
    both = contrast @ covariance @ contrast.T
    spread = np.sqrt(np.where(np.diag(both) > 0, np.diag(both), 1.0))
    values, vectors = np.linalg.eigh(both / np.outer(spread, spread))
    root = vectors * np.sqrt(values.clip(min=0))
    drawn = np.random.default_rng(0).standard_normal((_DRAWS, root.shape[1])) @ root.T
    drawn, statistic = (drawn, -special.ndtri(p)) if one_sided else (abs(drawn), -special.ndtri(p / 2))
    order = np.argsort(p)
    largest = np.maximum.accumulate(drawn[:, order[::-1]], axis=1)[:, ::-1]  # of a pair and all of larger p-values
    reached = (largest >= statistic[order]).mean(axis=0)
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(np.fmax(reached, p[order]))
    return adjusted
