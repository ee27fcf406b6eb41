"""Rank tests: Mann–Whitney test of the AUC against one half, and Venkatraman's test of two ROC curves."""

from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope._base.progress import Progress
from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import Predictions
from rocscope.core.rows import require_distinct
from rocscope.errors import InputError, WeightError
from rocscope.inference.areas.auc import auc_interval
from rocscope.inference.comparing import compare, join_rows
from rocscope.inference.estimate import Comparison
from rocscope.inference.hypothesis import ALTERNATIVES, Alternative
from rocscope.inference.influence.units import require_whole
from rocscope.inference.resampling.draws import in_chunks
from rocscope.sample import Models, sample_of, samples_of

Method = Literal["auto", "exact", "asymptotic"]

_MOST_EXACT = 10_000  # rows times rows of the rarer class, up to which the whole distribution takes a moment


@contract
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
        Labels and scores, Predictions, ThresholdCounts, OperatingPoint, bins or a sketch; see `rocscope.sample`.
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
    """Return twice the midrank of each level, an integer, and its number of rows."""
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
    """Return the probability of each rank sum of `size` rows drawn without replacement."""
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


_CHUNK_CELLS = 2**19  # ranks permuted at once: 4 MB
_ROUNDING = 1e-12  # relative: permutations that equal the sample count as equal, whatever the order of their sums
_JITTER = 1e-9  # breaks ties between places, which are no closer than the smallest share of a row


@contract
def compare_curves(
    predictions: Models,
    *,
    paired: bool | None = None,
    replicates: int = 2000,
    level: float = 0.95,
    random_state: Any = 0,
    progress: Progress = None,
) -> Comparison:
    """Test whether two ROC curves are equal everywhere, and not only in area, by permutation.

    Parameters
    ----------
    predictions : Predictions of two models, or Predictions of each of two by name
        The same rows (paired), or two samples (unpaired, unless `paired` says that the rows are the same).
    paired : bool, optional
    replicates : int
        Permutations.
    level : float
        Of the interval of the difference of the areas, which comes along.
    random_state, progress : see `bootstrap`

    Returns
    -------
    Comparison
        The difference is that of the areas; statistic and p-value are those of the curves.

    Raises
    ------
    InputError
        If there are not two models.
    WeightError
        If rows have weights: those cannot be exchanged.
    PairingError
        See `compare`.

    Notes
    -----
    Paired: ``E = Σ_k |errors of the first − errors of the second|`` with the k highest ranks called positive; under the
    null hypothesis the two ranks of a row can be exchanged. Unpaired: both samples are put on the scale of the share of
    a common mixture of classes that ranks lower, E is the area between the error rates along it, and rows of one
    class are exchanged between the samples. Ties are broken at random, anew in each permutation.
    p = (1 + permutations with an E as large)/(1 + replicates).

    References
    ----------
    Venkatraman & Begg 1996, Biometrika 83:835–848 (paired); Venkatraman 2000, Biometrics 56:1134–1138 (unpaired).

    Examples
    --------
    Two curves that cross and have the same area:

    >>> y = [1] * 20 + [0] * 20
    >>> one, other = [*range(50, 60), *range(0, 10), *range(20, 40)], [*range(20, 40), *range(40, 50), *range(0, 10)]
    >>> test = compare_curves(Predictions(y, {"a": one, "b": other}), replicates=500)
    >>> test.difference.value, test.p_value < 0.05
    (0.0, True)
    """
    arms = samples_of(predictions, name="predictions")
    if paired and arms.rows is None:
        arms, _ = join_rows(arms)
    if len(arms) != 2:
        raise InputError("models to compare", expected="two", got=f"{len(arms)}")
    if arms.rows is not None:
        exchange = _Paired.of(arms.rows)
    else:
        exchange = _Unpaired.of(*(arm.require_rows(f"the permutation test of {name!r}") for name, arm in arms.items()))
    areas = compare(predictions, paired=paired, level=level)[0]
    seed = check.seed_of(random_state)
    observed = exchange.permuted(np.random.default_rng([seed, 1]), 1, permute=False)[0]
    chunk = int(np.clip(_CHUNK_CELLS // exchange.n, 1, 100))
    drawn = in_chunks(exchange.permuted, replicates, chunk, seed=seed, threads=1, progress=progress)
    p_value = (1 + int((drawn >= observed * (1 - _ROUNDING)).sum())) / (1 + replicates)
    method = f"Venkatraman–Begg, {exchange.kind}, {replicates} permutations"
    return Comparison(areas.first, areas.second, areas.difference, float(observed), p_value, method)


@dataclass(frozen=True)
class _Paired:
    """Both models' ranks on the same rows."""

    positive: NDArray[np.bool_]
    ranks: tuple[Array, ...]

    kind = "paired"

    @classmethod
    def of(cls, predictions: Predictions) -> "_Paired":
        _refuse_weights(predictions)
        return cls(predictions.y_true, tuple(_dense(score) for score in predictions.scores.values()))

    @property
    def n(self) -> int:
        return self.positive.size

    def permuted(self, rng: np.random.Generator, size: int, permute: bool = True) -> Array:
        """Return the statistic E for `size` permutations, or for the data."""
        first, second = (_break_ties(rank, rng, size) for rank in self.ranks)
        if permute:
            swapped = rng.random(first.shape) < 0.5
            first, second = np.where(swapped, second, first), np.where(swapped, first, second)
            first, second = (_break_ties(rank, rng, size) for rank in (first, second))
        found = [self.positive[np.argsort(rank, axis=1)].cumsum(axis=1) for rank in (first, second)]
        return 2 * np.abs(found[0] - found[1]).sum(axis=1)


@dataclass(frozen=True)
class _Unpaired:
    """Two samples; `share` is the proportion of positives in the mixture on which both are compared."""

    positive: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    rank: tuple[Array, Array]
    share: float

    kind = "unpaired"

    @classmethod
    def of(cls, first: Predictions, second: Predictions) -> "_Unpaired":
        for predictions in (first, second):
            _refuse_weights(predictions)
        a, b = first.y_true, second.y_true
        share = (a.sum() + b.sum()) / (a.size + b.size)
        ranks = [_dense(arm.scores[arm.models[0]]) for arm in (first, second)]
        return cls((a, b), (ranks[0], ranks[1]), float(share))

    @property
    def n(self) -> int:
        return self.positive[0].size + self.positive[1].size

    def permuted(self, rng: np.random.Generator, size: int, permute: bool = True) -> Array:
        """Return the area between the error curves for `size` permutations, or for the data."""
        places = [self._place(arm, _break_ties(self.rank[arm], rng, size)) for arm in (0, 1)]
        if permute:
            places = self._exchange(places, rng)
        curves = [self._error_curve(arm, place + _JITTER * rng.random(place.shape)) for arm, place in enumerate(places)]
        return np.array([_area_between(*[(t[r], e[r]) for t, e in curves]) for r in range(size)])

    def _mass(self, arm: int) -> Array:
        positive = self.positive[arm]
        n_pos = positive.sum()
        return np.where(positive, self.share / n_pos, (1 - self.share) / (positive.size - n_pos))

    def _place(self, arm: int, rank: Array) -> Array:
        """Return, for each row, the share of the mixture that is ranked lower."""
        order = np.argsort(rank, axis=1)
        mass = self._mass(arm)[order]
        place = np.empty(rank.shape)
        np.put_along_axis(place, order, mass.cumsum(axis=1) - mass / 2, axis=1)
        return place

    def _exchange(self, places: list[Array], rng: np.random.Generator) -> list[Array]:
        exchanged = [np.empty(place.shape) for place in places]
        for of_class in (True, False):
            columns = [np.flatnonzero(positive == of_class) for positive in self.positive]
            pooled = np.concatenate([place[:, c] for place, c in zip(places, columns, strict=True)], axis=1)
            pooled = rng.permuted(pooled, axis=1)
            exchanged[0][:, columns[0]] = pooled[:, : columns[0].size]
            exchanged[1][:, columns[1]] = pooled[:, columns[0].size :]
        return exchanged

    def _error_curve(self, arm: int, place: Array) -> tuple[Array, Array]:
        """Return the thresholds' positions in the mixture and error rates, from all positive to none."""
        order = np.argsort(place, axis=1)
        mass, positive = self._mass(arm)[order], self.positive[arm][order]
        start = np.zeros((place.shape[0], 1))
        along = np.concatenate([start, mass.cumsum(axis=1)], axis=1)
        change = np.where(positive, mass, -mass).cumsum(axis=1)
        return along, 1 - self.share + np.concatenate([start, change], axis=1)


def _area_between(first: tuple[Array, Array], second: tuple[Array, Array]) -> float:
    along = np.union1d(first[0], second[0])
    gap = np.abs(np.interp(along, *first) - np.interp(along, *second))
    return float((np.diff(along) * (gap[1:] + gap[:-1])).sum() / 2)


def _dense(score: Array) -> Array:
    return np.unique(score, return_inverse=True)[1].astype(np.float64)


def _break_ties(rank: Array, rng: np.random.Generator, size: int) -> Array:
    """Return `size` rows of ranks from 0 with ties broken at random."""
    if rank.ndim == 1 and np.unique(rank).size == rank.size:
        return np.tile(rank, (size, 1))
    keys = np.broadcast_to(rank, (size, rank.shape[-1])) + (rng.random((size, rank.shape[-1])) - 0.5)
    ranks = np.empty(keys.shape)
    np.put_along_axis(ranks, np.argsort(keys, axis=1), np.broadcast_to(np.arange(keys.shape[1]), keys.shape), axis=1)
    return ranks


def _refuse_weights(predictions: Predictions) -> None:
    require_distinct(predictions, "the permutation test")
    if predictions.sample_weight is not None:
        raise WeightError("the permutation test", expected="no weights", got="rows that do not count alike")
