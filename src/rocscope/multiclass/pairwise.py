"""Ranking of each class against each other by the probability of one of them: what every AUC variant is made of.

For classes i and j, A(i|j) is the probability that a case of i has a higher probability of i than a case of j has
(Hand & Till 2001), ties counting half. One class against the rest by the same column is their mean over j by the
number of cases, so that one-vs-one and one-vs-rest AUCs are weighted means of the same k × k matrix.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rocscope import kernels
from rocscope._base.arrays import Array


@dataclass(frozen=True, eq=False)
class ClassColumns:
    """Rows of weight above 0 in the order of their classes, and the probability of each class in that order.

    `start` has k + 1 entries: rows of class i are ``start[i]:start[i + 1]``.
    """

    order: NDArray[np.intp]
    start: NDArray[np.intp]
    columns: Array
    weight: Array | None

    @classmethod
    def of(cls, y: Array, proba: Array, weight: Array | None = None) -> "ClassColumns":
        """Sort rows by class, given checked indices, probabilities and weights."""
        k = proba.shape[1]
        key = y.astype(np.min_scalar_type(k))
        if weight is not None and not weight.all():
            used = np.flatnonzero(weight)
            order = used[np.argsort(key[used], kind="stable")]
        else:
            order = np.argsort(key, kind="stable")
        sizes = np.bincount(y[order], minlength=k)
        start = np.concatenate([[0], np.cumsum(sizes)])
        return cls(order, start, np.ascontiguousarray(proba.T), None if weight is None else weight[order])

    @property
    def k(self) -> int:
        """Number of classes."""
        return self.start.size - 1

    def groups(self, column: int) -> list[Array]:
        """Return the probabilities of class `column` that the rows of each class have."""
        values = self.columns[column][self.order]
        return [values[self._rows(cls)] for cls in range(self.k)]

    def weights(self, cls: int) -> Array | None:
        """Return the weights of the rows of a class."""
        return None if self.weight is None else self.weight[self._rows(cls)]

    def _rows(self, cls: int) -> slice:
        return slice(self.start[cls], self.start[cls + 1])

    @cached_property
    def support(self) -> Array:
        """Cases of each class (sums of weights)."""
        if self.weight is None:
            return np.diff(self.start)
        return np.array([self.weight[self._rows(cls)].sum() for cls in range(self.k)])


def doubled_concordance(rows: ClassColumns) -> Array:
    """Return the k × k matrix of twice the pairs ranked right plus the tied ones; whole numbers stay whole."""
    dtype = np.float64 if rows.weight is not None and rows.weight.dtype.kind == "f" else np.int64
    doubled = np.zeros((rows.k, rows.k), dtype)
    for cls in range(rows.k):
        groups = [_Ranked.of(values, rows.weights(other)) for other, values in enumerate(rows.groups(cls))]
        for other in range(rows.k):
            if other != cls:
                doubled[cls, other] = groups[cls].doubled_above(groups[other])
    return doubled


@dataclass(frozen=True, eq=False)
class _Ranked:
    """Scores of one class in increasing order, with their weights."""

    scores: Array
    weight: Array | None

    @classmethod
    def of(cls, scores: Array, weight: Array | None) -> "_Ranked":
        if weight is None:
            return cls(np.sort(scores), None)
        order = np.argsort(scores)
        return cls(scores[order], weight[order])

    @cached_property
    def cumulative(self) -> Array:
        assert self.weight is not None
        return np.concatenate([np.zeros(1, self.weight.dtype), np.cumsum(self.weight)])

    def doubled_above(self, other: "_Ranked") -> float:
        """Return twice the pairs in which this class has the higher score plus the tied ones."""
        pos, neg = self.scores, other.scores
        if self.weight is None or other.weight is None:
            return 2 * pos.size * neg.size - _ranks_sum(pos, neg)
        upto = [self.cumulative[np.searchsorted(pos, neg, side)] for side in ("left", "right")]
        return ((2 * self.cumulative[-1] - upto[0] - upto[1]) * other.weight).sum()


def _ranks_sum(pos: Array, neg: Array) -> int:
    if pos.size + neg.size < kernels.SMALL // 10:
        return int(np.searchsorted(pos, neg, "left").sum() + np.searchsorted(pos, neg, "right").sum())
    return kernels.classes.ranks_sum(pos, neg)


def row_components(rows: ClassColumns, weight_of: Array) -> Array:
    """Return what each row, in class order, contributes to a weighted sum of A(i|j), besides its class mean.

    Parameters
    ----------
    rows : ClassColumns
    weight_of : k × k array
        Coefficients of A(i|j); 0 for those that are not defined.

    Notes
    -----
    The placements of DeLong, DeLong & Clarke-Pearson (1988), added up over the pairs that a row takes part in: the
    sum over pairs is a k-sample U-statistic, and the variance of these components within the classes is that of
    the statistic.
    """
    component = np.zeros(rows.order.size)
    for cls in range(rows.k):
        values = rows.groups(cls)
        orders = [np.argsort(group) for group in values]
        weights = (rows.weights(other) for other in range(rows.k))
        ranked = [
            _Ranked(group[order], None if weight is None else weight[order])
            for group, order, weight in zip(values, orders, weights, strict=True)
        ]
        for other in np.flatnonzero(weight_of[cls]):
            factor = weight_of[cls, other]
            component[rows.start[cls] + orders[cls]] += factor * _share_below(ranked[other], ranked[cls].scores)
            component[rows.start[other] + orders[other]] += factor * (
                1 - _share_below(ranked[cls], ranked[other].scores)
            )
    return component


def _share_below(ranked: _Ranked, values: Array) -> Array:
    """Return the share of a class below each value, which increase: that is sooner than in any order."""
    places = [np.searchsorted(ranked.scores, values, side) for side in ("left", "right")]
    if ranked.weight is None:
        return (places[0] + places[1]) / (2 * ranked.scores.size)
    return (ranked.cumulative[places[0]] + ranked.cumulative[places[1]]) / (2 * ranked.cumulative[-1])


def covariance_of_components(rows: ClassColumns, components: Array) -> Array:
    """Return the m × m covariance of statistics whose row components (n × m) are given; NaN for a class of one row.

    Notes
    -----
    Σ over classes of the sample covariance within the class over its size. Weights are numbers of equal rows.
    """
    total = np.zeros((components.shape[1],) * 2)
    for cls in np.flatnonzero(np.diff(rows.start)):
        part = components[rows.start[cls] : rows.start[cls + 1]]
        weight = rows.weights(int(cls))
        weight = np.ones(len(part)) if weight is None else weight
        size = weight.sum()
        centred = part - weight @ part / size
        spread = (centred.T * weight) @ centred
        total += spread / (size * (size - 1)) if size > 1 else np.where(np.any(part, axis=0), np.nan, 0.0)
    return total
