"""Is B better than A over several data sets: the signed-rank test of each two models."""

import warnings
from functools import lru_cache
from itertools import combinations
from math import nan
from operator import itemgetter
from typing import Any, Literal

import numpy as np
from scipy import stats

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.evaluation.across_datasets.result_table import ROUNDING, result_table
from rocscope.evaluation.measures import Metric
from rocscope.inference.estimate import Comparison, Comparisons, Estimate
from rocscope.inference.hypothesis import Alternative, Hypothesis, Test
from rocscope.inference.multiplicity import ADJUSTMENTS, PValueAdjust, with_adjusted

Zeros = Literal["split", "drop", "pratt"]

_ZERO_METHODS = {"split": "zsplit", "drop": "wilcox", "pratt": "pratt"}
_MOST_EXACT = 50


def compare_datasets(
    results: Any,
    *,
    metric: Metric = "auc",
    zeros: Zeros = "split",
    alternative: Alternative = "two-sided",
    test: Test = "difference",
    margin: float = 0.0,
    level: float = 0.95,
    adjust: PValueAdjust = "holm",
) -> Comparisons:
    """Differences of models over several data sets, second − first, with Wilcoxon's signed-rank test.

    Parameters
    ----------
    results : mapping from model name to array of N values, one a data set; data frame of such columns; or mapping
        from data set name to predictions with folds, of which the mean over folds is taken
    metric : see `compare_folds`
    zeros : {"split", "drop", "pratt"}
        Data sets where two models are equal: their ranks go half to each side (Demšar), they are left out (Wilcoxon),
        or they are ranked and then left out (Pratt).
    alternative, test, margin, level, adjust : see `compare`

    Returns
    -------
    Comparisons
        The difference of a pair is the Hodges–Lehmann estimate, the median of the means of each two differences; the
        estimates of models are medians over the data sets, without an interval.

    Raises
    ------
    PairingError, ScoreError
        If a model lacks a value for a data set.

    Notes
    -----
    `scipy.stats.wilcoxon`, exact for at most 50 data sets without ties and zeros, else by the normal approximation.
    Differences that are equal to 13 digits of the largest value are ties: 0.3 − 0.2 and 0.2 − 0.1 are not in
    binary.
    The interval is that of the Walsh averages which the exact test without ties does not reject: as wide as it must be
    for its level, and infinite where so few data sets cannot reach it (five, at 95 %). Of more than two models ask
    `friedman` first.

    References
    ----------
    Wilcoxon 1945, Biometrics 1:80–83; Hodges & Lehmann 1963; Demšar 2006, JMLR 7:1–30, §3.1.3.

    Examples
    --------
    >>> auc = {"tree": [0.70, 0.80, 0.60, 0.75, 0.90, 0.65], "bayes": [0.72, 0.81, 0.66, 0.80, 0.94, 0.68]}
    >>> compare_datasets(auc)["tree", "bayes"]
    Comparison(bayes − tree: 0.035, 95 % interval 0.01 to 0.06, p=0.0312, two-sided, Wilcoxon signed ranks)
    """
    check.check_choice("zeros", zeros, tuple(_ZERO_METHODS))
    check.check_choice("adjust", adjust, ADJUSTMENTS)
    hypothesis = Hypothesis(alternative, test, margin, level)
    table = result_table(results, metric)
    columns = dict(zip(table.models, table.values.T, strict=True))
    pairs = [_pair(a, b, _difference(columns[a], columns[b]), hypothesis, zeros) for a, b in combinations(columns, 2)]
    estimates = {
        name: Estimate(float(np.median(values)), nan, nan, level, "median", values.size)
        for name, values in columns.items()
    }
    no_covariance = np.full((len(columns),) * 2, nan)
    return Comparisons(table.quantity, estimates, no_covariance, with_adjusted(pairs, adjust), adjust)


def _difference(first: Array, second: Array) -> Array:
    """Return second − first without what rounding adds, so that equal differences tie and none is a difference."""
    largest = max(abs(first).max(), abs(second).max())
    if largest == 0:
        return second - first
    step = 2.0 ** np.floor(np.log2(largest)) * ROUNDING
    return np.round((second - first) / step) * step


def _pair(first: str, second: str, difference: Array, hypothesis: Hypothesis, zeros: Zeros) -> Comparison:
    found = {
        side: _signed_ranks(difference - null, side, zeros)
        for side, null in zip(("greater", "less"), hypothesis.nulls, strict=True)
        if null is not None
    }
    if hypothesis.test == "difference" and len(found) == 2:
        statistic, p_value = _signed_ranks(difference, "two-sided", zeros)
    else:
        statistic, p_value = max(found.values(), key=itemgetter(1))
    name = "Wilcoxon signed ranks"
    estimate = _hodges_lehmann(difference, hypothesis.level, name)
    return hypothesis.comparison(first, second, estimate, statistic, p_value, name)


def _signed_ranks(excess: Array, side: str, zeros: Zeros) -> tuple[float, float]:
    if not excess.any():  # nothing to rank
        return nan, 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # older SciPy warns when it approximates
        found: Any = stats.wilcoxon(excess, zero_method=_ZERO_METHODS[zeros], alternative=side)
    return float(found.statistic), float(found.pvalue)


def _hodges_lehmann(difference: Array, level: float, method: str) -> Estimate:
    """Return the median of the Walsh averages, and those that a test of this level does not reject."""
    n = difference.size
    i, j = np.triu_indices(n)
    walsh = np.sort((difference[i] + difference[j]) / 2)
    left_out = _quantile(n, (1 - level) / 2)
    low, high = (-np.inf, np.inf) if left_out == 0 else (walsh[left_out - 1], walsh[-left_out])
    return Estimate(float(np.median(walsh)), float(low), float(high), level, method, n)


@lru_cache(maxsize=256)
def _quantile(n: int, tail: float) -> int:
    """Return how many Walsh averages to leave out on either side: the least t with P(T ≤ t) > tail."""
    if n > _MOST_EXACT:
        centre, spread = n * (n + 1) / 4, (n * (n + 1) * (2 * n + 1) / 24) ** 0.5
        return max(int(np.floor(centre + stats.norm.ppf(tail) * spread)), 0)
    ways = np.ones(1)
    for rank in range(1, n + 1):  # each rank is in the sum or not
        ways = np.concatenate([ways, np.zeros(rank)]) + np.concatenate([np.zeros(rank), ways])
    return int(np.searchsorted(np.cumsum(ways) / 2.0**n, tail, side="right"))
