"""The tree of Vuk & Curk: a branch for each name, splits by gain ratio, pruning by the m-estimate of the error."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from table_classifier import TableClassifier

Array = NDArray[Any]

_TIE = 1e-12
_NO_ATTRIBUTE = -1


class MultiwayTree(TableClassifier):
    """Decision tree with the defaults of Orange in 2006.

    Parameters
    ----------
    nominal : boolean array of d columns, optional
        Columns that contain codes of names (integers from 0). A split on such a column has a branch for each code, and
        each path uses the column at most once. A split on another column has two branches.
    m : float
        Parameter of the m-estimate (n_c + m·share_c)/(n + m), with which pruning estimates errors. The shares are the
        class shares of all training rows.

    Attributes
    ----------
    attribute_, cut_, first_, width_ : arrays with one value for each node
        `attribute_` is the column of the split, or −1 in a leaf, and `cut_` is the threshold of a numeric split. The
        children are the `width_` nodes from `first_` on: one for each code, or the rows below the threshold and then
        the other rows.
    count_ : nodes × k array
        Number of rows of each class.

    Notes
    -----
    The class follows the source code of Orange in June 2006 (github.com/biolab/orange2, commit 3eced98). A node is
    split until it has only one class or no usable column, even if the split has no gain. If several splits are equally
    good, one of them is chosen at random, with a fixed seed. A subtree is replaced by a leaf if the leaf has fewer
    expected errors (Cestnik & Bratko 1991). Leaves predict the shares of their rows without smoothing, so pure leaves
    predict 0 or 1. If a value is missing, the row goes down every branch with a part of its weight. If no training row
    has the code of a row, the row stops at this node.
    """

    def __init__(self, nominal: Any = None, m: float = 2.0) -> None:
        self.nominal = nominal
        self.m = m

    def fit(self, X: Any, y: Any) -> "MultiwayTree":
        """Grow and prune the tree."""
        X, code, named = self._training(X, y)
        largest = np.nanmax(np.where(np.isnan(X), -1, X), axis=0, initial=-1)
        codes = np.where(named, largest + 1, 2).astype(np.intp)
        grown = _grow(np.ascontiguousarray(X), code, named, codes, self.classes_.size)
        self.attribute_, self.cut_, self.first_, self.width_, self.count_, self.size_ = grown
        _prune(self.attribute_, self.first_, self.width_, self.count_, self.size_, float(self.m))
        return self

    def predict_proba(self, X: Any) -> Array:
        """Return n × k probabilities: the shares of the classes in the leaf of each row."""
        X = self._asked(X)
        nodes = (self.attribute_, self.cut_, self.first_, self.width_, self.count_, self.size_)
        return _shares(np.ascontiguousarray(X), *nodes)


# numba compiles the following functions, and infers the types.


@njit(cache=True)
def _x_log_x(x):
    return x * np.log(x) if x > 0 else 0.0


@njit(cache=True)
def _gain_ratio(table, all_counts, all_spread):
    """Return the gain ratio of a table of branches × classes, or 0 without gain. Missing values reduce the ratio.

    Spreads are entropies times the weight: n·log n of the total minus the sum of n·log n over the parts.
    """
    known, spread, left = 0.0, 0.0, 0.0
    for branch in range(table.shape[0]):
        size = 0.0
        for c in range(table.shape[1]):
            size += table[branch, c]
            left -= _x_log_x(table[branch, c])
        left += _x_log_x(size)
        spread -= _x_log_x(size)
        known += size
    spread = (spread + _x_log_x(known)) / known
    total = all_counts.sum()
    gain = all_spread / total - left / known
    return gain / spread * known / total if gain > _TIE and spread > _TIE else 0.0


@njit(cache=True)
def _wins(ratio, best, draw):
    """Return whether a split replaces the best split. `draw` holds the number of equal splits and a random state."""
    if abs(ratio - best) > _TIE:
        draw[0] = 1
        return ratio > best
    draw[0] += 1
    draw[1] = (draw[1] * 1103515245 + 12345) % 2**31
    return (draw[1] >> 16) % draw[0] == 0


@njit(cache=True)
def _cut(values, code, weight, all_counts, all_spread, draw):
    """Return the best gain ratio of a numeric split and its threshold; the ratio is −1 if all values are equal."""
    order = np.argsort(values)
    table = np.zeros((2, all_counts.size))
    for i in order:
        table[1, code[i]] += weight[i]
    best, cut = -1.0, 0.0
    for place in range(order.size - 1):
        i, after = order[place], order[place + 1]
        table[0, code[i]] += weight[i]
        table[1, code[i]] = max(table[1, code[i]] - weight[i], 0.0)
        if values[after] > values[i]:
            ratio = _gain_ratio(table, all_counts, all_spread)
            if _wins(ratio, best, draw):
                middle = (values[i] + values[after]) / 2
                best, cut = ratio, middle if middle > values[i] else values[after]
    return best, cut


@njit(cache=True)
def _names(X, y, mine, weight, a, table, all_counts, all_spread):
    """Return the gain ratio of a split with a branch for each name in column a; −1 if there is only one name."""
    table[:] = 0
    first, several = -1, False
    for i in range(mine.size):
        value = X[mine[i], a]
        if not np.isnan(value):
            several |= first not in (-1, int(value))
            first = int(value)
            table[first, y[mine[i]]] += weight[i]
    return _gain_ratio(table, all_counts, all_spread) if several else -1.0


@njit(cache=True)
def _best_split(X, y, mine, weight, all_counts, used, named, codes, state):
    """Return the column of the best split and its threshold; the column is −1 if no split is possible."""
    draw, within = np.array([0, state]), np.array([0, state])
    best, chosen, cut = -1.0, _NO_ATTRIBUTE, np.nan
    table = np.zeros((codes.max(), all_counts.size))
    all_spread = _x_log_x(all_counts.sum())
    for count in all_counts:
        all_spread -= _x_log_x(count)
    for a in range(X.shape[1]):
        if used[a]:
            continue
        at = np.nan
        if named[a]:
            ratio = _names(X, y, mine, weight, a, table[: codes[a]], all_counts, all_spread)
        else:
            column = X[mine, a]
            known = ~np.isnan(column)
            ratio, at = _cut(column[known], y[mine[known]], weight[known], all_counts, all_spread, within)
        if ratio >= 0 and _wins(ratio, best, draw):
            best, chosen, cut = ratio, a, at
    return chosen, cut


@njit(cache=True)
def _more(array, least):
    """Return the array. If it has fewer than `least` rows, at least double its size."""
    if array.shape[0] >= least:
        return array
    wide = np.zeros((max(least, 2 * array.shape[0]), *array.shape[1:]), array.dtype)
    wide[: array.shape[0]] = array
    return wide


@njit(cache=True)
def _grow(X, y, named, codes, k):
    """Return the columns, thresholds, first children, widths, counts and known weights of the nodes of a full tree.

    Children come after their parents. `size` is the weight of the rows in a node without the rows whose value at the
    parent is missing.
    """
    n, d = X.shape
    room = 4 * n + 64
    attribute, first, width = np.zeros(room, np.intp), np.zeros(room, np.intp), np.zeros(room, np.intp)
    cut, size, count = np.zeros(room), np.zeros(room), np.zeros((room, k))
    begin, end, used = np.zeros(room, np.intp), np.zeros(room, np.intp), np.zeros((room, d), np.bool_)
    rows, weights = np.arange(n), np.ones(n)
    end[0], size[0], nodes, node = n, n, 1, 0
    while node < nodes:
        mine, weight = rows[begin[node] : end[node]], weights[begin[node] : end[node]]
        code = y[mine]
        for i in range(mine.size):
            count[node, code[i]] += weight[i]
        attribute[node], cut[node] = _NO_ATTRIBUTE, np.nan
        if mine.size > 1 and code.min() != code.max():
            chosen, cut[node] = _best_split(X, y, mine, weight, count[node], used[node], named, codes, n + node)
            attribute[node] = chosen
        if attribute[node] != _NO_ATTRIBUTE:
            first[node], width[node] = nodes, codes[chosen]
            least = nodes + width[node]
            attribute, first, width = _more(attribute, least), _more(first, least), _more(width, least)
            cut, size, count = _more(cut, least), _more(size, least), _more(count, least)
            begin, end, used = _more(begin, least), _more(end, least), _more(used, least)
            place = _places(X[mine, chosen], cut[node])
            sizes = np.zeros(width[node])
            for i in range(mine.size):
                if place[i] >= 0:
                    sizes[place[i]] += weight[i]
            for branch in range(width[node]):
                child, filled = nodes + branch, end[nodes + branch - 1]
                used[child] = used[node]
                used[child, chosen] |= named[chosen]
                goes = np.where(place < 0, sizes[branch] / sizes.sum(), place == branch) * weight
                taken = goes > 0
                size[child], begin[child], end[child] = sizes[branch], filled, filled + taken.sum()
                rows, weights = _more(rows, end[child]), _more(weights, end[child])
                rows[filled : end[child]], weights[filled : end[child]] = mine[taken], goes[taken]
            nodes += width[node]
        node += 1
    return attribute[:nodes], cut[:nodes], first[:nodes], width[:nodes], count[:nodes], size[:nodes]


@njit(cache=True)
def _places(column, cut):
    """Return the branch of each value; −1 if the value is missing."""
    place = np.full(column.size, -1)
    for i in range(column.size):
        if not np.isnan(column[i]):
            place[i] = int(column[i]) if np.isnan(cut) else int(column[i] >= cut)
    return place


@njit(cache=True)
def _prune(attribute, first, width, count, size, m):
    """Replace subtrees by leaves, from the bottom up, if the leaf has fewer expected errors than the subtree."""
    share = count[0] / count[0].sum()
    error = np.zeros(attribute.size)
    for node in range(attribute.size - 1, -1, -1):
        n = count[node].sum()
        if n == 0:
            continue
        error[node] = 1 - np.max(count[node] + m * share) / (n + m)
        if width[node] > 0:
            children = slice(first[node], first[node] + width[node])
            below = (size[children] * error[children]).sum() / size[children].sum()
            if error[node] < below - _TIE:
                attribute[node], width[node] = _NO_ATTRIBUTE, 0
            else:
                error[node] = below


@njit(cache=True)
def _shares(X, attribute, cut, first, width, count, size):
    """Return the weighted mean of the class shares over all leaves that each row reaches."""
    proba = np.zeros((X.shape[0], count.shape[1]))
    waiting, part = np.zeros(attribute.size, np.intp), np.zeros(attribute.size)
    for i in range(X.shape[0]):
        part[0], left = 1.0, 1
        waiting[0] = 0
        while left:
            left -= 1
            node, weight, before = waiting[left], part[left], left
            if width[node]:
                sizes = size[first[node] : first[node] + width[node]]
                place = _places(X[i : i + 1, attribute[node]], cut[node])[0]
                for branch in range(width[node]):
                    if sizes[branch] > 0 and place in (-1, branch):
                        waiting[left] = first[node] + branch
                        part[left] = weight if place == branch else weight * sizes[branch] / sizes.sum()
                        left += 1
            if left == before:
                proba[i] += weight * count[node] / count[node].sum()
    return proba
