"""Planning a study by its precision: sample sizes for intervals of a given width, of areas and of rates."""

from math import ceil, sqrt
from typing import Any

import numpy as np
from scipy import optimize

from rocscope._base import validation as check
from rocscope._base.contract import contract
from rocscope.errors import InputError
from rocscope.inference.planning.power import StudyPlan, auc_variance, check_ratio
from rocscope.inference.proportions import ShareMethod, logit, normal_quantile, proportion_interval

_MOST_CASES = 10**6  # of a class; more are no study that is planned


@contract
def auc_width_sample_size(auc: float, *, width: float = 0.1, ratio: float = 1.0, level: float = 0.95) -> StudyPlan:
    """Compute the sample size needed for an interval of an AUC of a given width.

    Parameters
    ----------
    auc : float
        The expected value.
    width : float
        Of the whole interval on the logit scale, from end to end.
    ratio : float
        Negatives for each positive.
    level : float

    Returns
    -------
    StudyPlan
        Numbers of positives and negatives.

    Notes
    -----
    By `planning.auc_variance`: the exact one for normal scores of equal spread.

    Examples
    --------
    >>> auc_width_sample_size(0.8, width=0.1)
    StudyPlan(n_pos=146, n_neg=146, AUC 0.8 to a width of 0.1)
    """
    check.check_share(width, "width")
    check_ratio(ratio)
    level = check.check_level(level)

    def excess(n: float) -> float:
        low, high = logit(auc, sqrt(auc_variance(auc, ratio, positives=n) / n), level)
        return high - low - width

    if excess(_MOST_CASES) > 0:
        raise _unreachable(width)
    solve: Any = optimize.brentq
    n_pos = 2 if excess(2) <= 0 else ceil(solve(excess, 2, _MOST_CASES))
    return StudyPlan(n_pos, ceil(n_pos * ratio), float("nan"), f"AUC {auc:g} to a width of {width:g}")


@contract
def rate_sample_size(
    tpr: float,
    tnr: float,
    *,
    width: float = 0.1,
    level: float = 0.95,
    method: ShareMethod = "wilson",
    prevalence: float | None = None,
) -> StudyPlan:
    """Compute the sample size needed for intervals of sensitivity and specificity of a given width.

    Parameters
    ----------
    tpr, tnr : float
        The expected values.
    width : float
        Of each whole interval, from end to end.
    level : float
        Confidence level.
    method : {"wilson", "clopper-pearson", "jeffreys", "wald"}
    prevalence : float, optional
        Where positives and negatives cannot be sought out: enough cases are then taken for both classes.

    Returns
    -------
    StudyPlan
        Numbers of positives and negatives.

    Notes
    -----
    The smallest number of each class from which on the interval around the expected rate, at the count nearest to it,
    is no wider.

    Examples
    --------
    >>> rate_sample_size(0.9, 0.8, width=0.1)
    StudyPlan(n_pos=141, n_neg=245, rates 0.9 and 0.8 to a width of 0.1)
    """
    level = check.check_level(level)
    for name, value in (("tpr", tpr), ("tnr", tnr)):
        if not 0 <= value <= 1:
            raise InputError(name, expected="a share from 0 to 1", got=repr(value))
    check.check_share(width, "width")
    n_pos, n_neg = (_cases_for_width(rate, width, level, method) for rate in (tpr, tnr))
    if prevalence is not None:
        check.check_share(prevalence, "prevalence")
        check_ratio(1 / prevalence - 1, "prevalence")
        n = max(ceil(n_pos / prevalence), ceil(n_neg / (1 - prevalence)))
        n_pos = round(n * prevalence)
        n_neg = n - n_pos
    return StudyPlan(n_pos, n_neg, float("nan"), f"rates {tpr:g} and {tnr:g} to a width of {width:g}")


def _unreachable(width: float) -> InputError:
    return InputError("width", expected=f"one that {_MOST_CASES:,} cases of a class reach", got=repr(width))


def _cases_for_width(rate: float, width: float, level: float, method: ShareMethod) -> int:
    if (2 * normal_quantile(level) / width) ** 2 * rate * (1 - rate) > _MOST_CASES:
        raise _unreachable(width)  # by the normal approximation, before any search
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
            raise _unreachable(width)
