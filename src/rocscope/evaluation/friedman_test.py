"""Friedman's test of the ranks of several models over several data sets, with Nemenyi's pairwise test.

The exact distribution of Friedman's statistic: the ranks of every data set dealt out in every order.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, permutations
from math import inf, isinf, nan, sqrt
from typing import Any

import numpy as np
from scipy import stats

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.core.result import Result, html_table, number
from rocscope.errors import InputError
from rocscope.evaluation.dataset_comparison import ROUNDING, result_table
from rocscope.evaluation.measures import Metric
from rocscope.inference.estimate import Comparison, Comparisons, Estimate

FEW_DATASETS, FEW_MODELS = 10, 5
"""Up to this size all orders are counted; the approximations are for more (Demšar 2006)."""


def is_few(ranks: Array) -> bool:
    """Whether all orders are counted."""
    n, m = ranks.shape
    return n <= FEW_DATASETS and m <= FEW_MODELS


def _exact_p_value(ranks: Array) -> float:
    """Return the share of all orders within rows (n × m) whose rank sums differ at least as much.

    Friedman's χ² and Iman & Davenport's F grow with the sum of squares of these sums alone, ties being as they are, so
    that both have this p-value.

    Notes
    -----
    Rows are added one at a time to all different sorted sums that there are so far, with how likely each is: the same
    columns in another order are as likely. Doubled ranks are whole numbers, so that nothing is decided by rounding.

    Examples
    --------
    Two data sets that agree on the order of three models, as they do in one of six cases:

    >>> round(_exact_p_value(np.array([[1, 2, 3], [1, 2, 3]])), 12)
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


@dataclass(frozen=True, eq=False, repr=False)
class RankComparison(Result):
    """Ranks of m models on N data sets, with Friedman's test and Nemenyi's test of each pair.

    Made by `rocscope.evaluation.friedman`; `rocscope.plotting.plot_critical_difference` draws it.

    Attributes
    ----------
    models : tuple of m names
    ranks : N × m array
        In each data set 1 is the best; equal models share the mean of their ranks.
    statistic, p_value : float
        Friedman's χ², corrected for ties; p from its exact distribution, or of m − 1 degrees of freedom.
    f_statistic, f_p_value : float
        Iman & Davenport's F; p from its exact distribution, which is the same, or of m − 1 and (m − 1)(N − 1) degrees
        of freedom, which is then the better test.
    critical_difference : float
        Nemenyi's: mean ranks further apart than this differ, at `level`.
    level : float
    pairs : Comparisons
        Differences of mean ranks (a lower rank is better), with Nemenyi's simultaneous intervals and p-values.
    quantity : str
        What was ranked.
    """

    _also = ("mean_rank", "groups")

    models: tuple[str, ...]
    ranks: Array
    statistic: float
    p_value: float
    f_statistic: float
    f_p_value: float
    critical_difference: float
    level: float
    pairs: Comparisons
    quantity: str

    def __post_init__(self) -> None:
        check.settle(self, ranks=check.read_only(self.ranks))

    @property
    def mean_rank(self) -> dict[str, float]:
        """Mean rank by model, in the order given."""
        return dict(zip(self.models, self.ranks.mean(axis=0).tolist(), strict=True))

    @property
    def groups(self) -> list[tuple[str, ...]]:
        """Largest sets of neighbours by mean rank within the critical difference."""
        best_first = sorted(self.mean_rank.items(), key=lambda item: item[1])
        found: list[tuple[str, ...]] = []
        reached = 0
        for start, (_, rank) in enumerate(best_first):
            stop = start + sum(other - rank <= self.critical_difference for _, other in best_first[start:])
            if stop > reached and stop - start > 1:
                found.append(tuple(name for name, _ in best_first[start:stop]))
            reached = max(reached, stop)
        return found

    def __repr__(self) -> str:
        ranks = ", ".join(f"{name} {rank:.4g}" for name, rank in self.mean_rank.items())
        return (
            f"RankComparison(mean ranks: {ranks}; {len(self.ranks)} data sets, Friedman p={self.p_value:.3g}, "
            f"Iman–Davenport p={self.f_p_value:.3g}, critical difference {self.critical_difference:.4g})"
        )

    def _repr_html_(self) -> str:
        best_first = sorted(self.mean_rank.items(), key=lambda item: item[1])
        return super()._repr_html_() + html_table([(n, number(rank)) for n, rank in best_first], ("", "mean rank"))


@contract
def friedman(
    results: Any, *, metric: Metric = "auc", larger_is_better: bool | None = None, level: float = 0.95
) -> RankComparison:
    """Test whether several models differ over several data sets by their ranks, and which of them do.

    Parameters
    ----------
    results, metric : see `compare_datasets`
    larger_is_better : bool, optional
        False for errors, losses and costs; left out, what the named metric of predictions is, and True for arrays.
    level : float
        Of the critical difference and the intervals: 0.95 for a test at 5 %.

    Returns
    -------
    RankComparison
        Mean ranks, the omnibus test and pairwise differences.

    Raises
    ------
    InputError
        If there are fewer than three models; two are compared by `compare_datasets`.

    Notes
    -----
    χ² = 12N/(m(m+1))·(ΣR̄² − m(m+1)²/4), divided by the correction for ties; F = (N − 1)χ²/(N(m − 1) − χ²), which is
    less conservative. Up to ten data sets and five models the p-value of both is the share of all orders within the
    data sets that make as large a difference; beyond, those of χ² and F are approximations. Values that are equal to 13
    digits of the largest of their data set tie.

    Critical difference q·√(m(m+1)/(6N)), with the quantile of the studentised range of m groups and infinite degrees of
    freedom, divided by √2. Nemenyi's test looks at ranks, so that adding a model can change what it says of two others:
    for pairs `compare_datasets` with Holm's correction does not have that flaw (Benavoli, Corani & Mangili 2016).

    References
    ----------
    Friedman 1937; Iman & Davenport 1980, Commun. Stat. A9:571–595; Nemenyi 1963; Demšar 2006, JMLR 7:1–30, §3.2.

    Examples
    --------
    >>> auc = {"a": [0.9, 0.8, 0.7, 0.9], "b": [0.8, 0.7, 0.6, 0.8], "c": [0.7, 0.6, 0.5, 0.85]}
    >>> result = friedman(auc)
    >>> result
    RankComparison(mean ranks: a 1, b 2.25, c 2.75; 4 data sets, Friedman p=0.0417, Iman–Davenport p=0.0417,
    critical difference 1.657)
    >>> result.groups
    [('a', 'b'), ('b', 'c')]
    """
    level = check.check_level(level)
    table = result_table(results, metric)
    n, m = table.values.shape
    if m < 3:
        hint = "compare_datasets compares two"
        raise InputError("models to rank", expected="three or more", got=str(m), hint=hint)
    descending = table.sign > 0 if larger_is_better is None else larger_is_better
    ranks = _ranks(-table.values if descending else table.values)
    if np.ptp(ranks):
        statistic, p_value = map(float, stats.friedmanchisquare(*ranks.T))
    else:  # all models equal on all data sets
        statistic, p_value = 0.0, 1.0
    rest = n * (m - 1) - statistic
    f_statistic = (n - 1) * statistic / rest if rest > 1e-12 * n * m else inf
    f_p_value = 0.0 if isinf(f_statistic) else float(stats.f.sf(f_statistic, m - 1, (m - 1) * (n - 1)))
    if is_few(ranks):
        p_value = f_p_value = _exact_p_value(ranks)
    scale = sqrt(m * (m + 1) / (6 * n))
    reach = _studentized_range(level, m) / sqrt(2) * scale
    pairs = _nemenyi(table.models, ranks, scale, reach, level)
    return RankComparison(
        table.models, ranks, statistic, p_value, f_statistic, f_p_value, reach, level, pairs, table.quantity
    )


def _ranks(values: Array) -> Array:
    """Rank each row; values that differ only by rounding are tied."""
    order = np.argsort(values, axis=1)
    steps = np.diff(np.take_along_axis(values, order, axis=1), axis=1)
    apart = steps > abs(values).max(axis=1, keepdims=True) * ROUNDING
    level = np.empty(values.shape)
    np.put_along_axis(level, order, np.cumsum(np.pad(apart, ((0, 0), (1, 0))), axis=1), axis=1)
    return stats.rankdata(level, axis=1)


@lru_cache(maxsize=64)
def _studentized_range(level: float, m: int) -> float:
    return float(stats.studentized_range.ppf(level, m, inf))


def _nemenyi(models: tuple[str, ...], ranks: Array, scale: float, reach: float, level: float) -> Comparisons:
    mean, (n, m), method = ranks.mean(axis=0), ranks.shape, "Nemenyi"
    pairs = []
    for i, j in combinations(range(m), 2):
        value = float(mean[j] - mean[i])
        statistic = abs(value) / scale
        p_value = float(stats.studentized_range.sf(statistic * sqrt(2), m, inf))
        difference = Estimate(value, value - reach, value + reach, level, method, n, scale)
        pairs.append(Comparison(models[i], models[j], difference, statistic, p_value, method, adjusted_p_value=p_value))
    estimates = {
        name: Estimate(float(rank), nan, nan, level, "mean rank", n) for name, rank in zip(models, mean, strict=True)
    }
    return Comparisons("mean rank", estimates, np.cov(ranks, rowvar=False) / n, pairs, "nemenyi")
