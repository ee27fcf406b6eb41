"""Learn then test: find thresholds that satisfy a bound with a guarantee, by multiple testing.

The bound is, for example, a least precision or a largest mean cost. It cannot be checked directly at a threshold that
was chosen on the same rows, because the best of many thresholds looks better than it is. Learn then test (Angelopoulos
et al. 2021) tests for each threshold the hypothesis that the threshold violates the bound. It admits the thresholds
whose hypothesis is rejected (`admitted`). The probability of admitting any threshold that violates the bound is at most
the error rate, such as 5%. For proportions of cases the p-values are exact (`p_of_share`). For mean amounts they are
tests by betting (`p_of_mean`).

The multiple test is the fallback procedure of Wiens & Dmitrienko (2005). Thresholds are tested in the order of their
depth, the number of cases acted on, because this order does not depend on labels. The error rate is divided among
several starting points. If a hypothesis is rejected, its share of the error rate is passed to the next threshold. With
one starting point, the procedure is the fixed sequence test of Bauer (1991).

References
----------
Angelopoulos, Bates, Candès, Jordan & Lei 2021, "Learn then test", arXiv:2110.01052; Waudby-Smith & Ramdas 2024, J. R.
Stat. Soc. B 86:1–27 (betting); Wiens & Dmitrienko 2005, J. Biopharm. Stat. 15:929–942 (fallback); Bauer 1991, Stat.
Med. 10:871–890.
"""

from typing import Literal

import numpy as np

from rocscope._base import special
from rocscope._base.arrays import Array

Order = Literal["deeper", "shallower", "both"]

# For a proportion among the cases acted on, such as precision, tests start at n/16, n/8, n/4 and n/2 cases. Each start
# has four fifths of the error rate that earlier starts leave, because the cases with the highest scores most probably
# satisfy the bound. In five simulated designs with 500 rows, the thresholds had at least 93% of the true positives of
# the better of one fixed sequence and Bonferroni's correction; with half instead of four fifths, at least 68%. For a
# mean over all cases, starts are evenly spaced with equal error rates.
_HALVINGS = 4
_FIRST_SHARE = 0.8
_EVEN_STARTS = 6

# A bet of λ = √(2·ln(1/α)/(n·v)) is best if the variance is v and the p-value is near α. Each of the 12 starts of both
# orders has α = .05/12. The variance is at most bound·(1 − bound), as if all values were 0 or 1; costs have less.
# Compared with the bounds of Hoeffding and Bentkus, these bets admit thresholds with two to five times the true
# positives in designs with 1,500 rows.
_BET_ERROR = 0.004
_VARIANCES = (1.0, 0.5, 0.25)


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


def p_of_mean(counts: Array, values: Array, bound: float) -> Array:
    """Return the p-value of the hypothesis that the mean of values from 0 to 1 is at least `bound`.

    Parameters
    ----------
    counts : array of k × …
        Number of cases of each of k kinds.
    values : array of k values
        Value of the cases of each kind, from 0 to 1.
    bound : float
        Bound of the mean.

    Notes
    -----
    Suppose that a gambler starts with a capital of 1 and bets the share λ of the capital on each case: a case with the
    value x multiplies the capital by 1 + λ·(bound − x). If the hypothesis is true, the expected capital is at most 1.
    By Markov's inequality, the final capital K is at least 1/α with a probability of at most α. The p-value is 1/K. K
    is the mean capital of three gamblers, whose λ are fixed before the values are seen. If all values are 0 or 1, the
    p-value is the exact binomial one.

    Examples
    --------
    The mean of 85 values of 0, 10 values of .2 and 5 values of 1 is .07:

    >>> p_of_mean(np.array([85, 10, 5]), np.array([0, 0.2, 1]), 0.2).round(3)
    np.float64(0.001)
    """
    n = counts.sum(axis=0)
    if not 0 < bound < 1:
        return np.where((np.tensordot(values, counts, 1) < bound * n) & (bound >= 1), 0.0, 1.0)
    if np.isin(values, (0, 1)).all():
        return p_of_share(counts[values == 0].sum(axis=0), n, 1 - bound)
    capital = np.zeros(n.shape)
    with np.errstate(over="ignore", divide="ignore"):
        for share in _VARIANCES:
            stake = np.sqrt(2 * np.log(1 / _BET_ERROR) / (n * share * bound * (1 - bound)))
            # At a stake of 1/(1 − bound), a single case with the value 1 would lose the whole capital.
            stake = np.minimum(stake, 0.9 / (1 - bound))
            factors = [count * np.log1p(stake * (bound - value)) for count, value in zip(counts, values, strict=True)]
            capital += np.exp(sum(factors)) / len(_VARIANCES)
        return np.minimum(1 / capital, 1.0)


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
    left = (1 - _FIRST_SHARE) ** np.arange(_HALVINGS)
    shares = _FIRST_SHARE * left
    shares[-1] = left[-1]  # so that they add up to 1
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
