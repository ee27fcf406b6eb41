"""Compare models over several data sets with Wilcoxon's signed-rank test.

One value per data set and model: what comparisons over data sets start from.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import nan
from operator import itemgetter
from typing import Any, Literal

import numpy as np
from scipy import stats

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope._base.grouping import Parts
from rocscope.core.rows import Rows
from rocscope.errors import InputError, PairingError, ScoreError, ShapeError
from rocscope.evaluation.folds.comparison import fold_scores
from rocscope.evaluation.measures import Metric
from rocscope.inference.estimate import Comparison, Comparisons, Estimate
from rocscope.inference.hypothesis import ADJUSTMENTS, Alternative, Hypothesis, PValueAdjust, Test, compare_each_two
from rocscope.sample import is_segmented, refusal

ROUNDING = 2.0**-44
"""Relative tolerance below which values are equal, since rounding affects the lowest of 52 bits."""


@dataclass(frozen=True, eq=False)
class ResultTable:
    """A metric of m models on N data sets.

    Attributes
    ----------
    models : tuple of m names
    values : N × m array
    quantity : str
    sign : int
        −1 where a small value is good.
    """

    models: tuple[str, ...]
    values: Array
    quantity: str
    sign: int = 1


def result_table(results: Any, metric: Metric = "auc") -> ResultTable:
    """Return the table from arrays by model, a frame with a column per model, or predictions by data set.

    Raises
    ------
    InputError
        If there are fewer than two models or data sets.
    PairingError
        If models have different numbers of data sets, or data sets different models.
    ScoreError
        If a value is missing or infinite.
    """
    if check.is_frame(results):
        results = check.frame_columns(results)
    elif not isinstance(results, Mapping) or _counted_by_segment(results):
        expected = "a mapping from model to values or from data set to Predictions, or a data frame"
        raise refusal("results", expected, results)
    if any(isinstance(value, Rows) for value in results.values()):
        table = _of_predictions(results, metric)
    else:
        table = _of_arrays(results)
    n, m = table.values.shape
    for what, number in (("models to compare", m), ("data sets", n)):
        if number < 2:
            raise InputError(what, expected="two or more", got=str(number))
    return ResultTable(table.models, check.read_only(table.values), table.quantity, table.sign)


def _counted_by_segment(results: Any) -> bool:
    return is_segmented(results) and not isinstance(results, Parts)  # of rows by segment each may be a data set


def _of_arrays(results: Mapping[Any, Any]) -> ResultTable:
    columns = {str(name): np.asarray(values) for name, values in results.items()}
    if not columns:
        raise InputError("models to compare", expected="two or more", got="0")
    first = next(iter(columns))
    for name, values in columns.items():
        if values.ndim != 1:
            got = f"{values.ndim} dimensions"
            raise ShapeError(f"results[{name!r}]", expected="one value a data set", got=got, hint="average over folds")
        if values.size != columns[first].size:
            expected = f"{columns[first].size} values as of {first!r}"
            raise PairingError("results", expected=expected, got=f"{values.size} of {name!r}")
        if values.dtype.kind not in "iuf":
            raise ScoreError(f"results[{name!r}]", expected="numbers", got=f"values of type {values.dtype}")
        if not np.isfinite(values).all():
            got = check.count_and_first(~np.isfinite(values), "missing or infinite")
            hint = "leave out data sets that a model has no value for"
            raise ScoreError(f"results[{name!r}]", expected="finite values", got=got, hint=hint)
    return ResultTable(tuple(columns), np.column_stack(list(columns.values())).astype(np.float64), "score")


def _of_predictions(results: Mapping[Any, Any], metric: Metric) -> ResultTable:
    rows: list[Array] = []
    models, quantity, sign = None, "", 1
    for name, preds in results.items():
        if not isinstance(preds, Rows):
            raise InputError(f"results[{name!r}]", expected="predictions as of the others", got=type(preds).__name__)
        found = fold_scores(preds, metric)
        models, quantity, sign = models or found.models, found.quantity, found.sign
        if found.models != models:
            raise PairingError(f"results[{name!r}]", expected=f"the models {models}", got=f"{found.models}")
        rows.append(found.values.mean(axis=1))
    return ResultTable(models or (), np.array(rows), quantity, sign)


Zeros = Literal["split", "drop", "pratt"]

_ZERO_METHODS = {"split": "zsplit", "drop": "wilcox", "pratt": "pratt"}
_MOST_EXACT = 50  # data sets up to which SciPy's test counts all signs too


@contract
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
    """Compare models over several data sets: second − first, with Wilcoxon's signed-rank test.

    Parameters
    ----------
    results : mapping from model name to array of N values, one a data set; data frame of such columns; or mapping
        from data set name to predictions with folds, whose mean over folds is taken
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
    estimates = {
        name: Estimate(float(np.median(values)), nan, nan, level, "median", values.size)
        for name, values in columns.items()
    }

    def compare(i: int, j: int) -> Comparison:
        (a, first), (b, second) = (list(columns.items())[each] for each in (i, j))
        return _pair(a, b, _difference(first, second), hypothesis, zeros)

    return compare_each_two(table.quantity, estimates, np.full((len(columns),) * 2, nan), compare, adjust)


def _difference(first: Array, second: Array) -> Array:
    """Return second − first with rounding removed, so that equal differences are ties."""
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
    """Return the median of the Walsh averages, and the interval of values not rejected at this level."""
    n = difference.size
    i, j = np.triu_indices(n)
    walsh = np.sort((difference[i] + difference[j]) / 2)
    left_out = _quantile(n, (1 - level) / 2)
    low, high = (-np.inf, np.inf) if left_out == 0 else (walsh[left_out - 1], walsh[-left_out])
    return Estimate(float(np.median(walsh)), float(low), float(high), level, method, n)


@lru_cache(maxsize=256)
def _quantile(n: int, tail: float) -> int:
    """Return how many Walsh averages to omit on either side: the smallest t with P(T ≤ t) > tail."""
    if n > _MOST_EXACT:
        centre, spread = n * (n + 1) / 4, (n * (n + 1) * (2 * n + 1) / 24) ** 0.5
        return max(int(np.floor(centre + stats.norm.ppf(tail) * spread)), 0)
    ways = np.ones(1)
    for rank in range(1, n + 1):  # each rank is in the sum or not
        ways = np.concatenate([ways, np.zeros(rank)]) + np.concatenate([np.zeros(rank), ways])
    return int(np.searchsorted(np.cumsum(ways) / 2.0**n, tail, side="right"))
