"""Learn then test: find thresholds that satisfy a bound with a guarantee, by multiple testing.

The bound is, for example, a least precision or a largest mean cost. It cannot be checked directly at a threshold that
was chosen on the same rows, because the best of many thresholds looks better than it is. Learn then test (Angelopoulos
et al. 2021) tests for each threshold the hypothesis that the threshold violates the bound. It admits the thresholds
whose hypothesis is rejected (`admitted`). The probability of admitting any threshold that violates the bound is at most
the error rate, such as 5%. For proportions of cases the p-values are exact (`p_of_share`). For mean amounts they use
the bounds of Hoeffding and Bentkus (`p_of_mean`).

The multiple test is the fallback procedure of Wiens & Dmitrienko (2005). Thresholds are tested in the order of their
depth, the number of cases acted on, because this order does not depend on labels. The error rate is divided among
several starting points. If a hypothesis is rejected, its share of the error rate is passed to the next threshold. With
one starting point, the procedure is the fixed sequence test of Bauer (1991).

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

# For a proportion among the cases acted on, such as precision, tests start at n/16, n/8, n/4 and n/2 cases. The first
# start has half of the error rate, and each further start half of the remainder, because the cases with the highest
# scores most probably satisfy the bound. For a mean over all cases, starts are evenly spaced with equal error rates.
_HALVINGS = 4
_EVEN_STARTS = 6


def p_of_share(counted: Array, n: Array, share: float) -> Array:
    """Return the p-value of the hypothesis that a proportion is at most `share`: the binomial P(X ≥ counted).

    Parameters
    ----------
    counted, n : arrays
        Numbers of successes and of trials. Without trials, the p-value is 1.
    share : float
        Bound of the proportion.

    Examples
    --------
    If all of 29 cases are positive, the p-value is .9²⁹ = .047:

    >>> p_of_share(np.array([29, 28]), np.array([29, 29]), 0.9).round(3)
    array([0.047, 0.199])
    """
    with np.errstate(invalid="ignore"):
        # P(X ≥ k) of a binomial is the incomplete beta function I_p(k, n − k + 1).
        chance = special.betainc(counted, n - counted + 1, share)
    return np.where(counted > 0, chance, 1.0)


def p_of_mean(mean: Array, n: Array, bound: float) -> Array:
    """Return the p-value of the hypothesis that the mean of values from 0 to 1 is at least `bound`.

    Parameters
    ----------
    mean, n : arrays
        Observed means, and numbers of values.
    bound : float
        Bound of the mean.

    Notes
    -----
    The p-value is the smaller of Hoeffding's exp(−n·kl(mean, bound)) and Bentkus' e·P(Bin(n, bound) ≤ ⌈n·mean⌉), where
    kl is the Kullback–Leibler divergence of two Bernoulli distributions.

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
    """Return a mask of the thresholds for which the hypothesis of a violated bound is rejected.

    Parameters
    ----------
    p_values : array of … × k
        p-values of k thresholds, from the smallest to the largest depth.
    depth : array of … × k
        Number of cases acted on at each threshold.
    n : array of … × 1
        Total number of cases.
    error : float
        Familywise error rate: the largest probability of admitting any threshold that violates the bound.
    order : {"deeper", "shallower", "both"}
        Order of the tests: towards larger depths or towards smaller depths. With "both", each order has half of the
        error rate.

    Examples
    --------
    With 4 thresholds, tests start at 1 case and at 2 cases. They continue to larger depths until a test is not
    significant:

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
    """Return a mask of the rejected hypotheses if tests proceed in one order.

    Parameters
    ----------
    p_values, depth, n : see `admitted`
    errors, starts : arrays
        Error rate of each starting point, and its depth as a share of n.
    deeper : bool
        True if tests proceed to larger depths.
    """
    budget = np.zeros(p_values.shape)
    for start, error in zip(starts, errors, strict=True):
        # The first threshold that acts on at least this share of the cases.
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
