"""Naive Bayes on nominal and numeric attributes with missing values, similar to the learners of both papers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from table_classifier import TableClassifier

Array = NDArray[Any]


class BinnedNaiveBayes(TableClassifier):
    """Naive Bayes from counts of attribute values and bins, smoothed by Laplace's rule.

    Parameters
    ----------
    nominal : boolean array of d columns, optional
        Columns that contain codes (integers from 0). Each code is counted separately. By default, no column is nominal.
    bins : int
        Number of bins of each numeric column. Each bin has about the same number of training rows; equal values are in
        the same bin.
    alpha : float
        Number of cases added to each value of an attribute and to each class.
    classes : array of k labels, optional
        All classes, if the training rows may not contain all of them. By default, the classes of the training rows.

    Notes
    -----
    `fit` learns the edges of the bins from the training rows. NaN and codes that are not in the training rows share a
    separate category. If an attribute has v different values in the training rows and a class has n_c rows, then
    P(value | class) = (count + alpha) / (n_c + alpha·(v + 1)). Fitting takes O(n·d·log n) steps.

    Examples
    --------
    >>> model = BinnedNaiveBayes(nominal=[True]).fit([[0], [0], [1], [1]], ["a", "a", "a", "b"])
    >>> model.predict_proba([[0], [1]]).round(3).tolist()
    [[0.8, 0.2], [0.571, 0.429]]
    """

    def __init__(self, nominal: Any = None, bins: int = 10, alpha: float = 1.0, classes: Any = None) -> None:
        self.nominal = nominal
        self.bins = bins
        self.alpha = alpha
        self.classes = classes

    def fit(self, X: Any, y: Any) -> "BinnedNaiveBayes":
        """Learn the bins, and count the values of each attribute in each class."""
        X, code, nominal = self._training(X, y, self.classes)
        self.is_named_ = nominal
        self.edges_ = _edges(X[:, ~nominal], self.bins)
        largest = np.nanmax(X[:, nominal], axis=0, initial=-1) if nominal.any() else np.empty(0)
        self.size_ = np.empty(X.shape[1], np.intp)  # of each attribute's part of the table; its last is for NaN
        self.size_[nominal] = largest.astype(np.intp) + 2
        self.size_[~nominal] = len(self.edges_) + 2
        self.start_ = np.concatenate([[0], np.cumsum(self.size_)[:-1]])
        k, total = self.classes_.size, int(self.size_.sum())
        cell = self._places(X) * k + code[:, None]
        count = np.bincount(cell.ravel(), minlength=total * k).reshape(total, k)
        support = np.bincount(code, minlength=k)
        seen = np.add.reduceat(count.any(axis=1), self.start_)
        divisor = support + self.alpha * (seen + 1)[:, None]
        self.log_share_ = np.log(count + self.alpha) - np.log(np.repeat(divisor, self.size_, axis=0))
        self.log_prior_ = np.log((support + self.alpha) / (code.size + self.alpha * k))
        return self

    def _places(self, X: Array) -> NDArray[np.intp]:
        """Return the row of the count table for each value."""
        place = np.empty(X.shape, np.intp)
        known = ~np.isnan(X)
        numbers = X[:, ~self.is_named_]
        place[:, ~self.is_named_] = sum((numbers >= edge for edge in self.edges_), np.zeros(numbers.shape, np.intp))
        with np.errstate(invalid="ignore"):
            place[:, self.is_named_] = np.where(known, X, 0)[:, self.is_named_].astype(np.intp)
        last = self.size_ - 1
        return np.where(known & (place >= 0) & (place < last), place, last) + self.start_

    def predict_proba(self, X: Any) -> Array:
        """Return n × k probabilities, a column for each of `classes_`."""
        X = self._asked(X)
        score = self.log_share_[self._places(X)].sum(axis=1) + self.log_prior_
        score = np.exp(score - score.max(axis=1, keepdims=True))
        return score / score.sum(axis=1, keepdims=True)


def _edges(X: Array, bins: int) -> Array:
    """Return (bins − 1) × d edges: the lowest value of each bin after the first; NaN if a column has no values."""
    ordered = np.sort(X, axis=0)  # NaN last
    known = len(X) - np.isnan(X).sum(axis=0)
    position = np.arange(1, bins)[:, None] / bins * known
    place = np.minimum(position.astype(np.intp), np.maximum(known - 1, 0))
    return np.take_along_axis(ordered, place, axis=0)
