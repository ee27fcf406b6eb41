"""The one rule for `reliable`: how many rows, groups, cases and informative units an interval needs.

All limits were found by simulation (`make coverage`, docs/coverage.md): with fewer, 95 % intervals that called
themselves reliable covered less than 93 %; with as many, ordinary samples are hardly ever flagged.
"""

from math import inf, isnan, sqrt

import numpy as np

from rocscope._base.arrays import Array

FEW_ROWS = 5  # of a class, or that a share is of
FEW_GROUPS = 10  # groups of equal size, or as many unequal ones as are worth that
FEW_INFORMATIVE = 4  # rows of a normal sample that would tell a variance as well
FEW_BEYOND = 2  # rows expected beyond the point that a figure looks at, such as positives above a tpr of .9
FEW_FOR_LIMIT = 25  # rows that tell a variance, from which on the limit theorem needs no help
FEW_RESAMPLED = 20  # of a class, for percentiles of a bootstrap
SHRUNK = 3.0  # rows that tell how ranks vary, with fewer of which a prior says more than the data
OF_TAIL = 0.6  # exponent of the number of amounts: so many of the largest tell how heavy their tail is
SURE_OF_TAIL = 1.5  # standard errors; with 1, twice as many of samples with Pareto amounts of shape 2.2 seemed reliable
FEW_EVENTS = 10  # cases of the rarer class, for calibration; and equal rows that large costs are worth

UNSEEN = 3.0  # rows of a class of s that may be ranked last and not have been drawn: a share of 3/s, at 95 %
MOST_UNSEEN = 2.0  # times the interval's reach, by which these may lower a mean of ranks


def few(amount: float, least: float, what: str) -> str:
    """Return that there are fewer than needed; empty where there are enough.

    Examples
    --------
    >>> few(3.21, 5, "positives"), few(5, 5, "positives")
    ('only 3.2 positives, fewer than 5', '')
    """
    return f"only {amount:.2g} {what}, fewer than {least:g}" if amount < least else ""


def few_groups(amount: float | None) -> str:
    """Return that there are too few groups; empty where there are enough, or none."""
    return "" if amount is None or isnan(amount) else few(amount, FEW_GROUPS, "groups of equal size")


def unseen(smallest: float, value: float, reach: float, units: str = "rows") -> str:
    """Return that rows ranked last may be missing, which would lower a mean of ranks to far outside its interval.

    Examples
    --------
    >>> unseen(15, 0.97, 0.1), unseen(50, 0.8, 0.1)
    ('', '')
    >>> unseen(15, 0.99, 0.05)
    'rows ranked last, one of 5 of a class, may not have been drawn'
    """
    if UNSEEN / smallest * value <= MOST_UNSEEN * reach:
        return ""
    return f"{units} ranked last, one of {smallest / UNSEEN:.0f} of a class, may not have been drawn"


def heavy_tail(amounts: Array) -> str:
    """Return that amounts may have no variance, as in samples whose rare large ones are missing; empty where they have.

    Notes
    -----
    Hill's estimate of the tail index from the k = n^0.6 largest amounts, less 1.5 of its standard errors, is to be at
    least 2. An interval of a mean covers too seldom in those samples where no extreme is seen and it looks sure.

    References
    ----------
    Hill 1975, Ann. Stat. 3:1163–1174.

    Examples
    --------
    >>> heavy_tail(np.arange(50, 150)), heavy_tail(1 / np.linspace(1, 0.01, 100) ** 0.5)
    ('', 'amounts may have no variance: tail index 2.2, sure to be above 1.3 only')
    """
    ordered = np.sort(amounts[amounts > 0])
    k = int(ordered.size**OF_TAIL)
    beyond = float(np.log(ordered[-k:] / ordered[-k - 1]).mean()) if 1 < k < ordered.size else 0.0
    index = 1 / beyond if beyond else inf
    sure = index * (1 - SURE_OF_TAIL / sqrt(max(k, 1)))
    if index == inf or sure >= 2:
        return ""
    return f"amounts may have no variance: tail index {index:.2g}, sure to be above {max(sure, 0):.2g} only"
