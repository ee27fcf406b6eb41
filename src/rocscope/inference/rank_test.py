"""The Wilcoxon–Mann–Whitney test: is the AUC one half?"""

from math import sqrt
from typing import Any, Literal

import numpy as np
from scipy import special

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.core.counts import ThresholdCounts
from rocscope.core.rows import require_distinct
from rocscope.inference.areas.auc import auc_interval
from rocscope.inference.estimate import Comparison
from rocscope.inference.hypothesis import ALTERNATIVES, Alternative
from rocscope.inference.influence.units import require_whole
from rocscope.sample import sample_of

Method = Literal["auto", "exact", "asymptotic"]

_MOST_EXACT = 10_000  # rows times rows of the rarer class, up to which the whole distribution takes a moment


def mann_whitney(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    alternative: Alternative = "two-sided",
    method: Method = "auto",
    level: float = 0.95,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> Comparison:
    """Test whether the AUC is 1/2: do positives and negatives have the same distribution of scores?

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        In any form; see `rocscope.sample`.
    alternative : {"two-sided", "greater", "less"}
        What is to be shown of the AUC, compared with 1/2.
    method : {"auto", "exact", "asymptotic"}
        All ways to label the rows counted out, with the ties as they are; or the normal approximation with tie and
        continuity corrections. "auto" is exact while rows × rows of the rarer class are at most 10,000.
    level : float
        Confidence level of the interval of AUC − 1/2, which is that of `auc_interval`.

    Returns
    -------
    Comparison
        Of the model with chance: the difference is AUC − 1/2, the statistic is U, the pairs that are ranked right.

    Raises
    ------
    InputError
        If weights are not whole numbers; OneClassError if one class is missing.

    Notes
    -----
    U = P·N·AUC, ties counting one half. The null hypothesis is that of equal distributions, which is stronger than an
    AUC of 1/2; the interval does not assume it. Exact two-sided p: all labellings as far from the mean as the observed.

    References
    ----------
    Mann & Whitney 1947, Ann. Math. Stat. 18:50–60; Hernández-Orallo 2004 (AUC as the Wilcoxon statistic).

    Examples
    --------
    Of the 20 ways to choose 3 of 6, one is as extreme as this and one as much so on the other side:

    >>> test = mann_whitney([1, 1, 1, 0, 0, 0], [6, 5, 3, 4, 2, 1])
    >>> test.statistic, test.p_value
    (8.0, 0.2)
    """
    check.check_choice("alternative", alternative, ALTERNATIVES)
    check.check_choice("method", method, ("auto", "exact", "asymptotic"))
    data = sample_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    require_distinct(data.rows, "Wilcoxon–Mann–Whitney test")
    counts = data.counts
    counts.require_both_classes("Wilcoxon–Mann–Whitney test")
    require_whole(counts.pos, counts.neg)
    difference = auc_interval(counts, level=level)
    statistic = counts.pairs().auc() * counts.n_pos * counts.n_neg
    if method == "auto":
        method = "exact" if counts.n * min(counts.n_pos, counts.n_neg) <= _MOST_EXACT else "asymptotic"
    p_value = (_exact if method == "exact" else _asymptotic)(counts, alternative)
    name = f"Wilcoxon–Mann–Whitney, {method}"
    return Comparison("chance", "model", difference.shifted(-0.5), statistic, p_value, name, alternative)


def _doubled_ranks(counts: ThresholdCounts) -> tuple[Array, Array]:
    """Return twice the midrank of each level, a whole number, and how many rows have it."""
    rows = (counts.pos + counts.neg).astype(np.int64)
    below = int(counts.n) - np.cumsum(rows)
    return 2 * below + rows + 1, rows


def _exact(counts: ThresholdCounts, alternative: Alternative) -> float:
    rank, rows = _doubled_ranks(counts)
    rarer = counts.pos if counts.n_pos <= counts.n_neg else counts.neg
    size, total = int(rarer.sum()), int(rarer.astype(np.int64) @ rank)
    share = _distribution(np.repeat(rank, rows), size)
    sums = np.arange(share.size)
    if alternative == "two-sided":
        centre = size * (int(counts.n) + 1)
        return float(min(share[abs(sums - centre) >= abs(total - centre)].sum(), 1.0))
    upwards = (alternative == "greater") == (counts.n_pos <= counts.n_neg)
    return float(min(share[sums >= total if upwards else sums <= total].sum(), 1.0))


def _distribution(rank: Array, size: int) -> Array:
    """Return the probability of each sum of the ranks of `size` rows that are drawn without replacement."""
    most = int(np.sort(rank)[-size:].sum())
    share = np.zeros((size + 1, most + 1))
    share[0, 0] = 1.0
    # Row by row: share[j, s] is the probability that j of the rows so far are drawn and have the sum s.
    for seen, value in enumerate(rank):
        left = rank.size - seen
        chosen = np.arange(size + 1)
        draw = ((size - chosen) / left).clip(0, 1)[:, None]
        moved = share * draw
        share -= moved
        share[1:, value:] += moved[:-1, : most + 1 - value]
    return share[size]


def _asymptotic(counts: ThresholdCounts, alternative: Alternative) -> float:
    n_pos, n_neg, n = int(counts.n_pos), int(counts.n_neg), int(counts.n)
    rows = (counts.pos + counts.neg).astype(np.float64)
    ties = float((rows**3 - rows).sum()) / (n * (n - 1)) if n > 1 else 0.0
    spread = sqrt(n_pos * n_neg / 12 * (n + 1 - ties))
    excess = (counts.pairs().auc() - 0.5) * n_pos * n_neg
    if spread == 0:
        return 1.0
    if alternative == "two-sided":
        return float(min(2 * special.ndtr((0.5 - abs(excess)) / spread), 1.0))
    towards = excess if alternative == "greater" else -excess
    return float(special.ndtr((0.5 - towards) / spread))
