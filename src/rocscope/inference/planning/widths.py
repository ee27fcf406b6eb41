"""Planning a study by the width of its intervals: of an area, of sensitivity and specificity."""

from math import ceil, sqrt
from typing import Any

import numpy as np
from scipy import optimize

from rocscope import _validation as check
from rocscope.errors import InputError
from rocscope.inference.intervals import logit, normal_quantile
from rocscope.inference.planning.power import Plan, auc_variance
from rocscope.inference.proportions import Method, proportion_interval

_MOST_CASES = 10**6


def auc_width_sample_size(auc: float, *, width: float = 0.1, ratio: float = 1.0, level: float = 0.95) -> Plan:
    """Sample size that gives the interval of an AUC a given width.

    Parameters
    ----------
    auc : float
        As it is expected.
    width : float
        Of the whole interval on the logit scale, from end to end.
    ratio : float
        Negatives for each positive.
    level : float

    Notes
    -----
    By `planning.auc_variance`, which errs on the wide side for normal scores: intervals come out up to a fifth shorter.

    Examples
    --------
    >>> auc_width_sample_size(0.8, width=0.1)
    Plan(n_pos=184, n_neg=184, AUC 0.8 to a width of 0.1)
    """
    check.check_share(width, "width")
    variance = auc_variance(auc, ratio)

    def excess(n: float) -> float:
        low, high = logit(auc, sqrt(variance / n), level)
        return high - low - width

    solve: Any = optimize.brentq
    n_pos = max(2, ceil(solve(excess, 1e-3, _MOST_CASES)))
    return Plan(n_pos, ceil(n_pos * ratio), float("nan"), f"AUC {auc:g} to a width of {width:g}")


def rate_sample_size(
    tpr: float,
    tnr: float,
    *,
    width: float = 0.1,
    level: float = 0.95,
    method: Method = "wilson",
    prevalence: float | None = None,
) -> Plan:
    """Sample size that gives sensitivity and specificity intervals of a given width.

    Parameters
    ----------
    tpr, tnr : float
        As they are expected.
    width : float
        Of each whole interval, from end to end.
    level : float
        Confidence level.
    method : {"wilson", "clopper-pearson", "jeffreys", "wald"}
    prevalence : float, optional
        Where positives and negatives cannot be sought out: enough cases are then taken for both classes.

    Notes
    -----
    The smallest number of each class from which on the interval around the expected rate, at the count nearest to it,
    is no wider.

    Examples
    --------
    >>> rate_sample_size(0.9, 0.8, width=0.1)
    Plan(n_pos=141, n_neg=245, rates 0.9 and 0.8 to a width of 0.1)
    """
    check.check_level(level)
    for name, value in (("tpr", tpr), ("tnr", tnr)):
        if not 0 <= value <= 1:
            raise InputError(name, expected="a share from 0 to 1", got=repr(value))
    if not 0 < width < 1:
        raise InputError("width", expected="a number between 0 and 1", got=repr(width))
    n_pos, n_neg = (_cases_for_width(rate, width, level, method) for rate in (tpr, tnr))
    if prevalence is not None:
        check.check_share(prevalence, "prevalence")
        n = max(ceil(n_pos / prevalence), ceil(n_neg / (1 - prevalence)))
        n_pos = round(n * prevalence)
        n_neg = n - n_pos
    return Plan(n_pos, n_neg, float("nan"), f"rates {tpr:g} and {tnr:g} to a width of {width:g}")


def _cases_for_width(rate: float, width: float, level: float, method: Method) -> int:
    unreachable = InputError("width", expected=f"one that {_MOST_CASES:,} cases of a class reach", got=repr(width))
    if (2 * normal_quantile(level) / width) ** 2 * rate * (1 - rate) > _MOST_CASES:
        raise unreachable  # by the normal approximation, before any search
    most = 64
    while True:
        # The width jumps with the nearest count, so look for the last n that is too wide, well below the end.
        n = np.arange(1, most + 1)
        low, high = proportion_interval(np.round(rate * n), n, method=method, level=level)
        last = int(np.flatnonzero(high - low > width)[-1]) + 1 if (high - low > width).any() else 0
        if last < most / 2:
            return last + 1
        most *= 4
        if most > 4 * _MOST_CASES:
            raise unreachable
