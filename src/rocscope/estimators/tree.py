"""A binary tree in arrays, and its growth by the AUC of splits."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocscope import _validation as check
from rocscope._types import Array

LEAF = -1

_TIE = 1e-12
"""Areas that differ by less are equal: two ways to compute one may round differently."""


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """A binary tree; its root is node 0.

    Attributes
    ----------
    feature : array of one column a node
        Which decides there; −1 in a leaf.
    threshold : array of one cut a node
        Rows with ``x <= threshold`` go left.
    left, right : arrays of nodes
        −1 in a leaf.
    counts : nodes × k array
        Weight of each class among the node's rows.
    depth : array of the number of splits above each node
    auc : array of the area of each split
        NaN in a leaf.
    """

    feature: NDArray[np.intp]
    threshold: Array
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    counts: Array
    depth: NDArray[np.intp]
    auc: Array

    def apply(self, X: Array) -> NDArray[np.intp]:
        """Return the leaf of each row."""
        node = np.zeros(len(X), np.intp)
        moving = np.flatnonzero(self.feature[node] != LEAF)
        while moving.size:
            at = node[moving]
            goes_left = X[moving, self.feature[at]] <= self.threshold[at]
            node[moving] = np.where(goes_left, self.left[at], self.right[at])
            moving = moving[self.feature[node[moving]] != LEAF]
        return node

    def __repr__(self) -> str:
        leaves = int((self.feature == LEAF).sum())
        return f"Tree({leaves} leaves, depth={self.depth.max()})"


class Growth(NamedTuple):
    """When to stop growing."""

    max_depth: float
    min_leaf: float


class Cut(NamedTuple):
    """Rows with ``x <= threshold`` in a column go left."""

    feature: int
    threshold: float
    auc: float


def grow(X: Array, code: NDArray[np.intp], weight: Array, k: int, growth: Growth) -> Tree:
    """Return the tree of rows of class `code`, each node split where the AUC of the split is largest."""
    onehot = np.zeros((len(X), k))
    onehot[np.arange(len(X)), code] = weight
    nodes: list[list[Any]] = []
    waiting = [(np.arange(len(X)), 0, LEAF, 0)]  # rows, depth, parent, the parent's field that names the node
    while waiting:
        rows, depth, parent, field = waiting.pop()
        split = best_split(X[rows], onehot[rows], growth.min_leaf) if depth < growth.max_depth else None
        if parent != LEAF:
            nodes[parent][field] = len(nodes)
        feature, threshold, auc = split or (LEAF, np.nan, np.nan)
        nodes.append([feature, threshold, LEAF, LEAF, onehot[rows].sum(axis=0), depth, auc])
        if split:
            goes_left = X[rows, feature] <= threshold
            own = len(nodes) - 1
            waiting += [(rows[~goes_left], depth + 1, own, 3), (rows[goes_left], depth + 1, own, 2)]
    columns = [np.array(column) for column in zip(*nodes, strict=True)]
    return Tree(*(check.read_only(column) for column in columns))


def best_split(X: Array, counts: Array, min_leaf: float) -> Cut | None:
    """Return the split of largest AUC of a node, or None where it must be a leaf.

    Parameters
    ----------
    X : n × d array
    counts : n × k array
        The weight of each row, in the column of its class.
    min_leaf : float
        Least weight on either side.

    Notes
    -----
    One sort of each column and one cumulative sum for all: nothing is computed cut by cut.
    """
    total = counts.sum(axis=0)
    counts, total = counts[:, total > 0], total[total > 0]
    if total.size < 2:
        return None
    order = np.argsort(X, axis=0, kind="stable")
    x = np.take_along_axis(X, order, axis=0)
    left = np.cumsum(counts[order], axis=0)[:-1]  # cuts × features × classes
    weight = left.sum(axis=2)
    smaller = np.minimum(weight, total.sum() - weight)
    allowed = (x[1:] > x[:-1]) & (smaller >= max(min_leaf, 0))
    if not allowed.any():
        return None
    auc = np.where(allowed, _area(left / total), -np.inf)
    tied = np.where(auc >= auc.max() - _TIE, smaller, -np.inf)
    feature, cut = np.unravel_index(tied.T.argmax(), tied.T.shape)
    low, high = x[cut, feature].item(), x[cut + 1, feature].item()
    threshold = low / 2 + high / 2  # which cannot overflow
    return Cut(int(feature), threshold if low <= threshold < high else low, auc[cut, feature].item())


def _area(share: Array) -> Array:
    """Return the AUC of splits from the share of each class that goes left, mean over pairs of classes.

    Notes
    -----
    Of a pair with shares a and b it is (1 + |a − b|)/2; in ascending order the shares a₀ … a₍ₖ₋₁₎ differ by
    Σ (2i − k + 1)·aᵢ in all.

    Examples
    --------
    >>> _area(np.array([[1.0, 0.25], [0.5, 0.5]])), _area(np.array([[1.0, 0.6, 0.0]])).round(4)
    (array([0.875, 0.5  ]), array([0.8333]))
    """
    k = share.shape[-1]
    if k == 2:
        return (1 + np.abs(share[..., 0] - share[..., 1])) / 2
    difference = np.sort(share, axis=-1) @ (2.0 * np.arange(k) - k + 1)
    return (1 + difference / (k * (k - 1) / 2)) / 2
