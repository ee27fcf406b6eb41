"""The one rule for `reliable`: how many rows, groups, cases and informative units an interval needs.

All limits were found by simulation (`make coverage`, docs/coverage.md): with fewer, 95 % intervals that called
themselves reliable covered less than 93 %; with as many, ordinary samples are hardly ever flagged.
"""

from math import isnan

FEW_ROWS = 5  # of a class, or that a share is of
FEW_WEIGHTED = 8  # rows that a class is worth whose weights are estimated, for an area
FEW_GROUPS = 10  # groups of equal size, or as many unequal ones as are worth that
FEW_INFORMATIVE = 4  # rows of a normal sample that would tell a variance as well
FEW_BEYOND = 2  # rows expected beyond the point that a figure looks at, such as positives above a tpr of .9
FEW_FOR_LIMIT = 25  # rows that tell a variance, or equal groups, from which on the limit theorem needs no help
FEW_RESAMPLED = 20  # of a class, for percentiles of a bootstrap, and AUC intervals that no prior helps
SHRUNK = 3.0  # rows that tell how ranks vary, with fewer of which a prior says more than the data
FEW_EVENTS = 10  # cases of the rarer class, for calibration; equal rows that large costs are worth; rows with amounts

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
