"""Naive Bayes with the defaults of Orange in 2006: LOESS for numeric, relative frequencies for nominal attributes."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from table_classifier import TableClassifier

Array = NDArray[Any]

_MOST_POINTS = 100
_LEAST_VARIANCE = 1e-10


class LoessNaiveBayes(TableClassifier):
    """Naive Bayes with the probabilities P(c)·Π P(c | value)/P(c). Each factor is learned from one attribute.

    Parameters
    ----------
    nominal : boolean array of d columns, optional
        Columns that contain codes (integers from 0). For these columns, P(c | value) is the share of class c among the
        rows with this value. For the other columns, P(c | value) is estimated by local linear regression (LOESS).
    window : float
        Share of the rows in the window of each local regression.

    Notes
    -----
    The class follows the source code of Orange in June 2006 (github.com/biolab/orange2, commit 3eced98), including its
    peculiarities:

    - Shares are not smoothed. If only one class has a value, this value decides. If the product is 0 for all classes,
      it is replaced by equal probabilities.
    - LOESS shares above 0.9 or below 0.1 are moved into (0, 1) by a smooth function.
    - The window grows until it contains exactly its share of the rows. With tied values, it often misses this number
      of rows, and then contains all rows.
    - Missing values are ignored.

    Unlike Orange, this class fits the regression at no more than a hundred of the distinct values, and interpolates
    between these values. Orange uses all distinct values, and two further points between neighbouring values.

    Examples
    --------
    >>> model = LoessNaiveBayes(nominal=[True]).fit([[0], [0], [1], [1]], ["a", "a", "a", "b"])
    >>> model.predict_proba([[0], [1]]).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """

    def __init__(self, nominal: Any = None, window: float = 0.5) -> None:
        self.nominal = nominal
        self.window = window

    def fit(self, X: Any, y: Any) -> "LoessNaiveBayes":
        """Learn the share of each class at each value of each attribute."""
        X, code, self.is_named_ = self._training(X, y)
        k = self.classes_.size
        self.prior_ = np.bincount(code, minlength=k) / code.size
        self.at_, self.share_ = [], []
        for column, named in zip(X.T, self.is_named_, strict=True):
            known = ~np.isnan(column)
            value, place = np.unique(column[known], return_inverse=True)
            count = np.bincount(place * k + code[known], minlength=value.size * k).reshape(-1, k)
            if named or value.size < 2:
                self.at_.append(value)
                self.share_.append(count / count.sum(axis=1, keepdims=True))
                continue
            steps = np.linspace(0, value.size - 1, min(value.size, _MOST_POINTS)).astype(np.intp)
            self.at_.append(value[steps])
            self.share_.append(local_shares(value, count.astype(np.float64), value[steps], self.window))
        return self

    def predict_proba(self, X: Any) -> Array:
        """Return n × k probabilities, a column for each of `classes_`."""
        X = self._asked(X)
        proba = np.tile(self.prior_, (len(X), 1))
        for column, named, at, share in zip(X.T, self.is_named_, self.at_, self.share_, strict=True):
            known = ~np.isnan(column)
            if at.size == 0 or not known.any():
                continue
            values = column[known]
            if named:
                place = np.minimum(np.searchsorted(at, values), at.size - 1)
                seen = at[place] == values
                factor = np.where(seen[:, None], share[place], 1 / self.prior_.size)
            else:
                factor = np.column_stack([np.interp(values, at, one) for one in share.T])
            product = proba[known] * factor / self.prior_
            total = product.sum(axis=1, keepdims=True)
            proba[known] = np.where(total > 0, product / np.where(total > 0, total, 1), 1 / self.prior_.size)
        return proba


@njit(cache=True)
def _bent(p):
    """Return the share; if it is above 0.9 or below 0.1, move it into (0, 1)."""
    if p > 0.9:
        return 1 / (1 + np.exp(-np.log(9.0) * (10 * (p - 0.9) + 1)))
    if p < 0.1:
        return 1 / (1 + np.exp(np.log(9.0) * (10 * (0.1 - p) + 1)))
    return p


@njit(cache=True)
def _first_window(cases, proportion):
    """Return the end of the window of the lowest value. If ties skip its exact size, the window contains all rows."""
    need = max(3.0, np.ceil(cases.sum() * proportion))
    if need >= cases.sum():
        return cases.size
    stop = 1
    while need != 0 and stop < cases.size:
        stop += 1
        if stop < cases.size:
            need -= cases[stop]
    return stop


@njit(cache=True)
def local_shares(x, count, at, proportion):
    """Return the share of each of k classes at the values `at`, from u distinct values and their u × k counts."""
    u, k = count.shape
    cases = count.sum(axis=1)
    start, stop, surplus = 0, _first_window(cases, proportion), 0.0
    share = np.zeros((at.size, k))
    for i in range(at.size):
        while stop < u and (at[i] - x[start]) > (x[stop] - at[i]):
            if surplus > 0:
                start += 1
                surplus -= cases[start]
            else:
                stop += 1
                surplus += cases[stop] if stop < u else 0.0
        width = max(at[i] - x[start], x[stop - 1] - at[i])
        n, first, second = 0.0, 0.0, 0.0
        product = np.zeros(k)
        for j in range(start, stop):
            away = (x[j] - at[i]) / width if width > 0 else 0.0
            weight = (1 - abs(away) ** 3) ** 3
            n += weight * cases[j]
            first += weight * away * cases[j]
            second += weight * away * away * cases[j]
            for c in range(k):
                share[i, c] += weight * count[j, c]
                product[c] += weight * away * count[j, c]
        variance = (second - first * first / n) / n
        slope = (product - first * share[i] / n) / n / variance if variance > _LEAST_VARIANCE else np.zeros(k)
        share[i] = share[i] / n - slope * (first / n)
        for c in range(k):
            share[i, c] = _bent(share[i, c])
        share[i] /= share[i].sum()
    return share
