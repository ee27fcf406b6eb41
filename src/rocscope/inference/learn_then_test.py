"""Thresholds that satisfy a bound with a guarantee, by multiple testing.

A bound on precision, accuracy or cost cannot be checked at a threshold that was chosen on the same rows, because the
best of many thresholds looks better than it is. Learn then test (Angelopoulos et al. 2021) tests for each threshold the
hypothesis that it violates the bound. It admits the thresholds whose hypothesis is rejected. The probability of
admitting any threshold that violates the bound is at most the error rate, such as 5% (`admitted`). The p-values are
exact for shares of cases (`p_of_share`), and by Hoeffding and Bentkus for mean amounts (`p_of_mean`).

The multiple test is a fallback procedure (Wiens & Dmitrienko 2005): thresholds are tested in the order of their depth,
which does not depend on labels. The error rate is divided among several starting points. A threshold whose hypothesis
is rejected passes its share of the error rate to the next threshold. With one starting point, it is the fixed sequence
test of Bauer (1991).

References
----------
Angelopoulos, Bates, Candès, Jordan & Lei 2021, "Learn then test", arXiv:2110.01052; Bates, Angelopoulos, Lei, Malik &
Jordan 2021, J. ACM 68:43 (Hoeffding–Bentkus); Wiens & Dmitrienko 2005, J. Biopharm. Stat. 15:929–942 (fallback); Bauer
1991, Stat. Med. 10:871–890.
"""

from math import e as euler
from typing import Literal

import numpy as np

from rocscope._base import special
from rocscope._base.arrays import Array

Order = Literal["deeper", "shallower", "both"]

# For a share of the cases acted on, tests start at n/16, n/8, n/4 and n/2 cases. The first start has half of the error
# rate, each further start half of the remainder, as the cases with the highest scores most probably satisfy the bound.
# If all cases count, starts are evenly spaced and have equal error rates.
_HALVINGS = 4
_EVEN_STARTS = 6


def p_of_share(counted: Array, n: Array, share: float) -> Array:
    """Return the p-value of the hypothesis of a share of at most `share`: the binomial P(X ≥ counted); 1 if n is 0.

    Examples
    --------
    All of 29 cases are positive, and .9 to the power 29 is less than .05:

    >>> p_of_share(np.array([29, 28]), np.array([29, 29]), 0.9).round(3)
    array([0.047, 0.199])
    """
    with np.errstate(invalid="ignore"):
        # P(X ≥ k) of a binomial is the incomplete beta function I_p(k, n − k + 1).
        chance = special.betainc(counted, n - counted + 1, share)
    return np.where(counted > 0, chance, 1.0)


def p_of_mean(mean: Array, n: Array, bound: float) -> Array:
    """Return the p-value of the hypothesis of a mean of at least `bound`, for n values from 0 to 1.

    Notes
    -----
    The p-value is the smaller of Hoeffding's exp(−n·kl(mean, bound)) and Bentkus' e·P(Bin(n, bound) ≤ ⌈n·mean⌉).

    Examples
    --------
    >>> p_of_mean(np.array([0.1, 0.3]), np.array([100, 100]), 0.2).round(4)
    array([0.0155, 1.    ])
    """
    if not 0 < bound < 1:
        return np.where(mean < bound, 0.0, 1.0) if bound >= 1 else np.ones(np.shape(mean))
    below = np.minimum(mean, bound)
    with np.errstate(divide="ignore", invalid="ignore"):
        divergence = special.xlogy(below, below / bound) + special.xlogy(1 - below, (1 - below) / (1 - bound))
    hoeffding = np.exp(-n * divergence)
    most = np.ceil(n * mean - 1e-9)  # a whole number that rounding may have moved
    bentkus = euler * np.where(most >= n, 1.0, special.betainc(np.maximum(n - most, 1), most + 1, 1 - bound))
    return np.where(mean < bound, np.minimum(np.minimum(hoeffding, bentkus), 1), 1.0)


def admitted(p_values: Array, depth: Array, n: Array, error: float, order: Order) -> Array:
    """Return a mask of the rejected hypotheses, with a familywise error rate.

    Parameters
    ----------
    p_values : array of … × k
        p-values of thresholds in the order of depth.
    depth : array of … × k
        Number of cases acted on at each threshold.
    n : array of … × 1
        Number of all cases.
    order : {"deeper", "shallower", "both"}
        Order of the tests. With "both", each order has half of the error rate.

    Examples
    --------
    The tests continue from the starting point at half of the cases until a test is not significant:

    >>> p = np.array([0.001, 0.001, 0.2, 0.001])
    >>> admitted(p, np.arange(1, 5), np.array([4]), 0.05, "deeper")
    array([ True,  True, False, False])
    """
    if order == "both":
        starts = np.arange(1, _EVEN_STARTS + 1) / (_EVEN_STARTS + 1)
        shares = np.full(_EVEN_STARTS, error / 2 / _EVEN_STARTS)
        return _passed(p_values, depth, n, shares, starts, True) | _passed(p_values, depth, n, shares, starts, False)
    starts = 0.5 ** np.arange(_HALVINGS, 0, -1)
    shares = 0.5 ** np.arange(1, _HALVINGS + 1)
    shares[-1] *= 2  # so that they add up to 1
    deeper = order == "deeper"
    return _passed(p_values, depth, n, error * shares, starts if deeper else 1 - starts, deeper)


def _passed(p_values: Array, depth: Array, n: Array, errors: Array, starts: Array, deeper: bool) -> Array:
    """Return the rejected hypotheses of one order."""
    budget = np.zeros(p_values.shape)
    for start, error in zip(starts, errors, strict=True):
        # The first threshold that acts on so many cases.
        first = (depth >= np.ceil(start * n)).argmax(axis=-1)
        np.put_along_axis(budget, first[..., None], np.take_along_axis(budget, first[..., None], -1) + error, axis=-1)
    size = p_values.shape[-1]
    rejected = np.zeros(p_values.shape, bool)
    carried = np.zeros(p_values.shape[:-1])
    for place in range(size) if deeper else range(size - 1, -1, -1):
        carried = carried + budget[..., place]
        passes = p_values[..., place] <= carried
        rejected[..., place] = passes & (carried > 0)
        carried = np.where(passes, carried, 0.0)
    return rejected
