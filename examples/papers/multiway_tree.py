"""The paper's kind of tree: a branch for each name, splits by gain ratio, pruned by the m-estimate of error."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

Array = NDArray[Any]

_LEAST_GAIN = 1e-12


@dataclass(eq=False)
class Node:
    """Rows by class; and, unless it is a leaf, what they are divided by and where each value leads."""

    count: Array
    attribute: int = -1
    cut: float = np.nan
    branches: dict[float, "Node"] = field(default_factory=dict)

    def leaf(self, row: Array) -> "Node":
        """Return where a row ends: here, if its value is missing or had no training rows."""
        value = row[self.attribute]
        key = value if np.isnan(self.cut) else np.nan if np.isnan(value) else float(value >= self.cut)
        branch = self.branches.get(key)
        return self if branch is None else branch.leaf(row)


class MultiwayTree(ClassifierMixin, BaseEstimator):
    """Decision tree as Orange grew it by default in 2006, as far as its paper tells.

    Parameters
    ----------
    nominal : boolean array of d columns, optional
        Which columns hold codes of names, each of which gets a branch and is used once on a path; the others are cut
        in two.
    m : float
        Of the m-estimate (n_c + m·share_c)/(n + m) by which pruning judges errors; the shares are those of all
        training rows.

    Notes
    -----
    A subtree is replaced by a leaf where that is not expected to make more errors (Cestnik & Bratko 1991). Leaves give
    the shares of their rows as they are, so that pure ones say 0 or 1. A row whose value is missing, or has no branch,
    goes no further down; Orange sent fractions of a row with a missing value down every branch.
    """

    def __init__(self, nominal: Any = None, m: float = 2.0) -> None:
        self.nominal = nominal
        self.m = m

    def fit(self, X: Any, y: Any) -> "MultiwayTree":
        """Grow the tree, and prune it."""
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        check_classification_targets(y)
        self.classes_, code = np.unique(y, return_inverse=True)
        self.is_named_ = np.zeros(X.shape[1], bool) if self.nominal is None else np.asarray(self.nominal, bool)
        self.share_ = np.bincount(code) / code.size
        self.root_ = self._grow(X, code, frozenset())
        self._prune(self.root_)
        return self

    def _grow(self, X: Array, code: Array, used: frozenset[int]) -> Node:
        node = Node(np.bincount(code, minlength=self.share_.size))
        left = [a for a in range(X.shape[1]) if a not in used]
        if node.count.max() == code.size or not left:
            return node
        ratio, attribute, cut = max((self._split(X[:, a], code, a) for a in left), key=lambda split: split[0])
        if ratio <= 0:
            return node
        node.attribute, node.cut = attribute, cut
        column = X[:, attribute]
        known = ~np.isnan(column)
        place = column if self.is_named_[attribute] else (column >= cut).astype(float)
        used = used | {attribute} if self.is_named_[attribute] else used
        for value in np.unique(place[known]).tolist():
            rows = known & (place == value)
            node.branches[value] = self._grow(X[rows], code[rows], used)
        return node

    def _split(self, column: Array, code: Array, attribute: int) -> tuple[float, int, float]:
        """Return the gain ratio of dividing by an attribute, the attribute, and where a number is cut."""
        known = ~np.isnan(column)
        column, code = column[known], code[known]
        k = self.share_.size
        if column.size < 2:
            return 0.0, attribute, np.nan
        if self.is_named_[attribute]:
            place = column.astype(np.intp)
            table = np.bincount(place * k + code, minlength=(place.max() + 1) * k).reshape(-1, k)
            table = table[table.any(axis=1)]
            return (_gain_ratio(table[np.newaxis])[0] if len(table) > 1 else 0.0), attribute, np.nan
        order = np.argsort(column, kind="stable")
        values = column[order]
        ends = np.flatnonzero(values[1:] > values[:-1])
        if not ends.size:
            return 0.0, attribute, np.nan
        below = np.cumsum(code[order][:, np.newaxis] == np.arange(k), axis=0)
        tables = np.stack([below[ends], below[-1] - below[ends]], axis=1)
        ratio = _gain_ratio(tables)
        best = int(ratio.argmax())
        return float(ratio[best]), attribute, float(values[ends[best]] + values[ends[best] + 1]) / 2

    def _prune(self, node: Node) -> float:
        """Prune below, then here; return the share of errors to expect."""
        n = node.count.sum()
        error = 1 - float((node.count.max() + self.m * self.share_[node.count.argmax()]) / (n + self.m))
        if not node.branches:
            return error
        below = np.average(
            [self._prune(child) for child in node.branches.values()],
            weights=[child.count.sum() for child in node.branches.values()],
        )
        if error <= below:
            node.branches, node.attribute = {}, -1
            return error
        return float(below)

    def predict_proba(self, X: Any) -> Array:
        """Return n × k shares of the classes in the leaves."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        proba = np.empty((len(X), self.share_.size))
        for i, row in enumerate(X):
            count = self.root_.leaf(row).count
            proba[i] = count / count.sum()
        return proba

    def predict(self, X: Any) -> Array:
        """Return the commonest class of each row's leaf."""
        proba = self.predict_proba(X)
        return self.classes_[proba.argmax(axis=1)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _entropy(counts: Array) -> Array:
    """Return the entropy along the last axis, in bits."""
    share = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1)
    return -(share * np.log2(np.where(share > 0, share, 1))).sum(axis=-1)


def _gain_ratio(tables: Array) -> Array:
    """Return the gain ratio of each of s tables of branches × classes; 0 where there is no gain."""
    sizes = tables.sum(axis=2)
    n = sizes.sum(axis=1)
    gain = _entropy(tables.sum(axis=1)) - (sizes * _entropy(tables)).sum(axis=1) / n
    return np.where(gain > _LEAST_GAIN, gain / np.maximum(_entropy(sizes), _LEAST_GAIN), 0.0)
