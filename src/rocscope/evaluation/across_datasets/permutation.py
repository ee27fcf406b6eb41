"""The exact distribution of Friedman's statistic: the ranks of every data set dealt out in every order."""

from itertools import permutations

import numpy as np

from rocscope._types import Array

FEW_DATASETS, FEW_MODELS = 10, 5
"""Up to so many all orders are counted; the approximations are for more (Demšar 2006)."""


def is_few(ranks: Array) -> bool:
    """Whether all orders are counted."""
    n, m = ranks.shape
    return n <= FEW_DATASETS and m <= FEW_MODELS


def exact_p_value(ranks: Array) -> float:
    """Return the share of all orders within the rows (n × m) in which the sums of ranks differ as much or more.

    Friedman's χ² and Iman & Davenport's F grow with the sum of squares of these sums alone, ties being as they are, so
    that both have this p-value.

    Notes
    -----
    Rows are added one at a time to all different sorted sums that there are so far, with how likely each is: the same
    columns in another order are as likely. Doubled ranks are whole numbers, so that nothing is decided by rounding.

    Examples
    --------
    Two data sets that agree on the order of three models, as they do in one of six cases:

    >>> round(exact_p_value(np.array([[1, 2, 3], [1, 2, 3]])), 12)
    0.166666666667
    """
    doubled = np.rint(2 * ranks).astype(np.int64)
    base = int(doubled.sum()) + 1
    place = base ** np.arange(doubled.shape[1])
    sums, chance = np.sort(doubled[:1], axis=1), np.ones(1)
    for row in doubled[1:]:
        orders = np.array(list(permutations(row.tolist())))
        reached = np.sort(sums[:, np.newaxis] + orders, axis=2).reshape(-1, row.size)
        _, first, number = np.unique(reached @ place, return_index=True, return_inverse=True)
        chance = np.bincount(number, np.repeat(chance / len(orders), len(orders)))
        sums = reached[first]
    observed = (doubled.sum(axis=0) ** 2).sum()
    return min(float(chance[(sums**2).sum(axis=1) >= observed].sum()), 1.0)
