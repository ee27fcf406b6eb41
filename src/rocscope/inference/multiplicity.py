"""p-values that allow for the number of comparisons made."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from rocscope import _validation as check
from rocscope.errors import InputError
from rocscope.inference.estimate import Comparison

Correction = Literal["holm", "bh", "none"]

CORRECTIONS = ("holm", "bh", "none")


def adjust_p_values(p_values: Any, method: Correction = "holm") -> NDArray[np.float64]:
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
    check.check_choice("method", method, CORRECTIONS)
    p = np.asarray(check.check_column(p_values, "p_values"), dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise InputError("p_values", expected="numbers from 0 to 1", got=repr(p[~((p >= 0) & (p <= 1))][0].item()))
    if method == "bh":
        return stats.false_discovery_control(p)
    if method == "none":
        return p
    order = np.argsort(p)
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1)).clip(max=1)
    return adjusted


def with_adjusted(pairs: Sequence[Comparison], method: Correction) -> list[Comparison]:
    """Return the comparisons with adjusted p-values."""
    adjusted = adjust_p_values([pair.p_value for pair in pairs], method)
    return [replace(pair, adjusted_p_value=float(p)) for pair, p in zip(pairs, adjusted, strict=True)]
