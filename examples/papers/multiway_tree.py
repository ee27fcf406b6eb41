"""The paper's kind of tree: a branch for each name, splits by gain ratio, pruned by the m-estimate of error."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from table_classifier import TableClassifier

Array = NDArray[Any]

_TIE = 1e-12
_NO_ATTRIBUTE = -1


class MultiwayTree(TableClassifier):
    """Decision tree as Orange grew it by default in 2006.

    Parameters
    ----------
    nominal : boolean array of d columns, optional
        Which columns hold codes (whole numbers from 0) of names, each of which gets a branch and is used once on a
        path; the others are cut in two.
    m : float
        Of the m-estimate (n_c + m·share_c)/(n + m) by which pruning judges errors; the shares are those of all
        training rows.

    Attributes
    ----------
    attribute_, cut_, first_, width_ : arrays, one value a node
        The column that a node divides by (−1 in a leaf), where a number is cut, and its children, which are `width_`
        nodes from `first_` on: one for each code, or below the cut and not below.
    count_ : nodes × k array
        Rows by class.

    Notes
    -----
    Read from Orange's program of June 2006 (github.com/biolab/orange2, commit 3eced98). A node is divided until it has
    one class or nothing to divide by, also where nothing is gained; among equal splits one is drawn, the same at each
    fit. A subtree is replaced by a leaf where that is expected to make fewer errors (Cestnik & Bratko 1991). Leaves
    give the shares of their rows as they are, so that pure ones say 0 or 1. A row whose value is missing goes down
    every branch with a part of its weight, and a code that no training row had ends where it is met.
    """

    def __init__(self, nominal: Any = None, m: float = 2.0) -> None:
        self.nominal = nominal
        self.m = m

    def fit(self, X: Any, y: Any) -> "MultiwayTree":
        """Grow the tree, and prune it."""
        X, code, named = self._training(X, y)
        largest = np.nanmax(np.where(np.isnan(X), -1, X), axis=0, initial=-1)
        codes = np.where(named, largest + 1, 2).astype(np.intp)
        grown = _grow(np.ascontiguousarray(X), code, named, codes, self.classes_.size)
        self.attribute_, self.cut_, self.first_, self.width_, self.count_, self.size_ = grown
        _prune(self.attribute_, self.first_, self.width_, self.count_, self.size_, float(self.m))
        return self

    def predict_proba(self, X: Any) -> Array:
        """Return n × k shares of the classes in the leaves."""
        X = self._asked(X)
        nodes = (self.attribute_, self.cut_, self.first_, self.width_, self.count_, self.size_)
        return _shares(np.ascontiguousarray(X), *nodes)


# What follows is compiled; numba finds the types.


@njit(cache=True)
def _x_log_x(x):
    return x * np.log(x) if x > 0 else 0.0


@njit(cache=True)
def _gain_ratio(table, all_counts, all_spread):
    """Return the gain ratio of branches × classes, less where other rows of the node have no value; 0 for no gain.

    Spreads are entropies times the weight: Σ n·log n of the whole less that of the parts.
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
    """Return whether a split takes the place of the best; `draw` holds how many are equal, and a random state."""
    if abs(ratio - best) > _TIE:
        draw[0] = 1
        return ratio > best
    draw[0] += 1
    draw[1] = (draw[1] * 1103515245 + 12345) % 2**31
    return (draw[1] >> 16) % draw[0] == 0


@njit(cache=True)
def _cut(values, code, weight, all_counts, all_spread, draw):
    """Return the best gain ratio of cutting numbers in two, and where; −1 where they are all equal."""
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
    """Return the gain ratio of a branch for each name in column a; −1 where there is one only."""
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
    """Return the column to divide rows by, −1 for none, and where it is cut."""
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
    """Return the array, in twice the space or more where it has less than `least`."""
    if array.shape[0] >= least:
        return array
    wide = np.zeros((max(least, 2 * array.shape[0]), *array.shape[1:]), array.dtype)
    wide[: array.shape[0]] = array
    return wide


@njit(cache=True)
def _grow(X, y, named, codes, k):
    """Return the columns, cuts, first children, widths, counts and known weights of the nodes of a full tree.

    Children come after their parents. `size` is the weight of the rows that took a branch because of their value.
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
    """Return which branch each value takes; −1 for a missing one."""
    place = np.full(column.size, -1)
    for i in range(column.size):
        if not np.isnan(column[i]):
            place[i] = int(column[i]) if np.isnan(cut) else int(column[i] >= cut)
    return place


@njit(cache=True)
def _prune(attribute, first, width, count, size, m):
    """Make leaves, from below, of the nodes that are expected to make fewer errors than what hangs from them."""
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
    """Return the shares of the classes for each row, over all leaves that it reaches."""
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
