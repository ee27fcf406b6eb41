"""Decision trees for ranking and for probabilities.

- `AUCTreeClassifier` splits each node where the ROC curve of the split has the largest area. A split sends the share a
  of the positives and the share b of the negatives to the left. Its ROC curve has one corner, and the area under this
  curve is (1 + abs(a − b))/2 (Ferri, Flach & Hernández-Orallo 2002).
- `SmoothedTreeClassifier` is scikit-learn's tree with smoothed probabilities.

Both trees smooth the class shares in the leaves, because small leaves have extreme shares. Laplace's estimate adds one
row of each class to a leaf. The m-estimate adds m rows, divided among the classes as in all training rows.

`Tree` stores a tree as arrays with one entry per node.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import multiclass, validation

from rocscope._base import validation as check
from rocscope._base.arrays import Array, Indices
from rocscope._base.contract import held_to_contract
from rocscope.errors import InputError
from rocscope.estimators import wrapping

Smoothing = Literal["laplace", "m", "none"]

KINDS = ("laplace", "m", "none")


def _smoothed(counts: Array, smoothing: Smoothing, m: float) -> Array:
    """Return the smoothed class probabilities of each node (nodes × k).

    `counts` contains the weight of each class in each node; its first row is the root. `SmoothedTreeClassifier` gives
    the formulas.

    Raises
    ------
    InputError
        If the smoothing is unknown, or m is negative.

    Examples
    --------
    >>> counts = np.array([[6, 2], [3, 0]])
    >>> _smoothed(counts, "laplace", 0)[1], _smoothed(counts, "m", 1)[1]
    (array([0.8, 0.2]), array([0.9375, 0.0625]))
    """
    check.check_choice("smoothing", smoothing, KINDS)
    check.check_number(m, "m", "a number of at least 0", least=0)
    if smoothing == "laplace":
        added = np.ones(counts.shape[1])
    else:
        added = (m if smoothing == "m" else 0) * counts[0] / counts[0].sum()
    return (counts + added) / (counts.sum(axis=1, keepdims=True) + added.sum())


LEAF = -1

_TIE = 1e-12
"""Areas closer than this are equal up to rounding."""


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """A binary tree; its root is node 0.

    Attributes
    ----------
    feature : array
        Index of the feature that splits each node; −1 in a leaf.
    threshold : array
        Threshold of the split at each node: rows with ``x <= threshold`` go left.
    left, right : arrays
        Child nodes of each node; −1 in a leaf.
    counts : nodes × k array
        Weight of the training rows of each class in each node.
    depth : array
        Depth of each node; 0 for the root.
    auc : array
        AUC of the split at each node; NaN in a leaf.
    """

    feature: Indices
    threshold: Array
    left: Indices
    right: Indices
    counts: Array
    depth: Indices
    auc: Array

    def apply(self, X: Array) -> Indices:
        """Return the index of the leaf that each row of X reaches."""
        # All rows move down together, one level at a time, until all rows are in leaves.
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


class Cut(NamedTuple):
    """A split: rows whose feature is at most `threshold` go left; `auc` is the area of the split."""

    feature: int
    threshold: float
    auc: float


_LEFT, _RIGHT = 2, 3  # fields of a node that contain its children


def grow(X: Array, code: Indices, weight: Array, k: int, max_depth: float, min_leaf: float) -> Tree:
    """Grow a tree that splits each node at the largest AUC; `code` contains class indices from 0 to k − 1."""
    onehot = np.zeros((len(X), k))
    onehot[np.arange(len(X)), code] = weight
    nodes: list[list[Any]] = []
    waiting = [(np.arange(len(X)), 0, LEAF, _LEFT)]  # rows, depth, parent, field of the parent that contains the node
    while waiting:
        rows, depth, parent, field = waiting.pop()
        split = best_split(X[rows], onehot[rows], min_leaf) if depth < max_depth else None
        node = len(nodes)
        if parent != LEAF:
            nodes[parent][field] = node
        feature, threshold, auc = split or (LEAF, np.nan, np.nan)
        nodes.append([feature, threshold, LEAF, LEAF, onehot[rows].sum(axis=0), depth, auc])
        if split:
            goes_left = X[rows, feature] <= threshold
            waiting.append((rows[~goes_left], depth + 1, node, _RIGHT))
            waiting.append((rows[goes_left], depth + 1, node, _LEFT))
    columns = [check.read_only(np.array(column)) for column in zip(*nodes, strict=True)]
    return Tree(*columns)


def best_split(X: Array, counts: Array, min_leaf: float) -> Cut | None:
    """Return the split with the largest AUC for the rows of a node; None if no split is possible.

    Parameters
    ----------
    X : n × d array
    counts : n × k array
        Weight of each row in the column of its class; 0 in all other columns.
    min_leaf : float
        Minimum weight of the rows on each side of the split.

    Notes
    -----
    Each feature is sorted once. A cumulative sum of `counts` then gives the areas of all splits.
    """
    total = counts.sum(axis=0)
    occurring = total > 0
    counts, total = counts[:, occurring], total[occurring]
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
    # Among equal areas take the most even split; transposed, so that argmax takes the first feature, then the lowest
    # cut.
    evenness = np.where(auc >= auc.max() - _TIE, smaller, -np.inf).T
    feature, cut = np.unravel_index(evenness.argmax(), evenness.shape)
    low, high = x[cut, feature].item(), x[cut + 1, feature].item()
    threshold = low / 2 + high / 2  # a sum could overflow; between neighbouring floats the mean may be `high`
    return Cut(int(feature), threshold if low <= threshold < high else low, auc[cut, feature].item())


def _area(share: Array) -> Array:
    """Return the AUC of splits, averaged over pairs of classes, given the share of each class that goes left.

    Notes
    -----
    For a pair of classes with shares a and b, the area is (1 + abs(a − b))/2. If the shares a₀ … a₍ₖ₋₁₎ are in
    ascending order, the sum of all pairwise differences is Σ (2i − k + 1)·aᵢ.

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


@held_to_contract
class AUCTreeClassifier(ClassifierMixin, BaseEstimator):
    """Decision tree that splits each node at the largest AUC.

    Parameters
    ----------
    max_depth : int, optional
        Maximum depth of the tree; by default unlimited.
    min_samples_leaf : float
        Minimum weight of the rows in a leaf; without row weights, the minimum number of rows.
    smoothing, m : see `SmoothedTreeClassifier`

    Attributes
    ----------
    tree_ : Tree
        The fitted tree, as arrays with one entry per node.
    classes_ : array of k labels
        Class labels, sorted.
    n_features_in_ : int
        Number of features.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    Let P and N be the numbers of positives and negatives in a node. A split sends tp₁ of the positives and fp₁ of the
    negatives to the side with the larger share of positives. It defines the ROC curve (0, 0), (fp₁/N, tp₁/P), (1, 1),
    with the area ``(1 + |tp₁/P − fp₁/N|)/2``. Unlike impurity, the area does not depend on the class shares in the
    node. If several splits have the same area, the most even split is chosen, then the first feature, then the lowest
    threshold. A node is split even if no split improves the area. A node with a single class is a leaf.

    With more than two classes, the area is the mean of the areas of all pairs of classes in the node (Hand & Till's M).

    Splits have the form x ≤ c, where c is the midpoint between two neighbouring values. Unlike the published trees,
    this tree does not split a nominal feature into one branch per value. An integer weight is equal to repeated rows,
    and rows of weight 0 have no effect. For n rows with d features, the running time is O(d·n log n) per level of the
    tree. The memory is a small multiple of n·d·k numbers.

    References
    ----------
    Ferri, Flach & Hernández-Orallo 2002, "Learning decision trees using the area under the ROC curve", ICML; Hand &
    Till 2001, for several classes.

    Examples
    --------
    >>> X, y = [[1, 5], [2, 1], [3, 4], [4, 2], [5, 3]], [0, 0, 1, 0, 1]
    >>> model = AUCTreeClassifier(max_depth=1).fit(X, y)
    >>> model.tree_.feature[0].item(), model.tree_.threshold[0].item()
    (0, 2.5)
    >>> model.predict_proba([[1, 1], [5, 5]])
    array([[0.75, 0.25],
           [0.4 , 0.6 ]])
    """

    n_features_in_: int

    def __init__(
        self,
        *,
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        smoothing: Smoothing = "laplace",
        m: float = 2.0,
    ) -> None:
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.smoothing: Smoothing = smoothing
        self.m = m

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree on the training rows.

        Parameters
        ----------
        X, y, sample_weight : see `SmoothedTreeClassifier.fit`

        Raises
        ------
        InputError
            If a parameter of the tree is invalid.

        Examples
        --------
        >>> X, y = [[1], [2], [3], [4]], ["a", "a", "a", "b"]
        >>> AUCTreeClassifier(max_depth=1).fit(X, y).get_n_leaves()
        2
        """
        check.check_choice("smoothing", self.smoothing, KINDS)
        check.check_number(self.m, "m", "a number of at least 0", least=0)
        least = check.check_number(self.min_samples_leaf, "min_samples_leaf", "a weight of at least 0", least=0)
        if self.max_depth is not None and not (check.is_number(self.max_depth) and self.max_depth >= 0):
            raise InputError("max_depth", expected="None or at least 0", got=repr(self.max_depth))
        max_depth = np.inf if self.max_depth is None else self.max_depth
        X, y = validation.validate_data(self, X, wrapping.one_label_a_row(y), dtype=np.float64)
        multiclass.check_classification_targets(y)
        weight = check.check_weights(sample_weight, len(y))
        weight = np.ones(len(y)) if weight is None else weight.astype(np.float64)
        self.classes_, code = np.unique(y, return_inverse=True)
        used = weight > 0
        self.tree_: Tree = grow(X[used], code[used], weight[used], self.classes_.size, max_depth, least)
        return self

    def apply(self, X: Any) -> Indices:
        """Return the leaf that each row reaches, as a node index of `tree_`.

        Parameters
        ----------
        X : array, sparse matrix or data frame of n rows
            Features of the rows.

        Examples
        --------
        >>> X, y = [[1], [2], [3], [4]], ["a", "a", "a", "b"]
        >>> AUCTreeClassifier(max_depth=1).fit(X, y).apply(X)
        array([1, 1, 1, 2])
        """
        validation.check_is_fitted(self)
        rows: Any = validation.validate_data(self, X, dtype=np.float64, reset=False)
        return self.tree_.apply(rows)

    def predict_proba(self, X: Any) -> Array:
        """Return the smoothed probability of each class (n × k).

        Parameters
        ----------
        X : array, sparse matrix or data frame of n rows
            Features of the rows.

        Examples
        --------
        The first leaf has three rows of class "a". Laplace smoothing adds one row of each class:

        >>> X, y = [[1], [2], [3], [4]], ["a", "a", "a", "b"]
        >>> AUCTreeClassifier(max_depth=1).fit(X, y).predict_proba([[1]])
        array([[0.8, 0.2]])
        """
        leaf = self.apply(X)
        return _smoothed(self.tree_.counts, self.smoothing, self.m)[leaf]

    def predict(self, X: Any) -> Array:
        """Return the most probable class of each row; if classes are tied, the first one.

        Parameters
        ----------
        X : array, sparse matrix or data frame of n rows
            Features of the rows.

        Examples
        --------
        >>> X, y = [[1], [2], [3], [4]], ["a", "a", "a", "b"]
        >>> AUCTreeClassifier(max_depth=1).fit(X, y).predict([[1], [9]]).tolist()
        ['a', 'b']
        """
        proba = self.predict_proba(X)
        return self.classes_[proba.argmax(axis=1)]

    def get_depth(self) -> int:
        """Return the depth of the tree."""
        validation.check_is_fitted(self)
        return int(self.tree_.depth.max())

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        validation.check_is_fitted(self)
        return int((self.tree_.feature < 0).sum())

    @property
    def feature_importances_(self) -> Array:
        """Share of each feature in the AUC that the splits add; all 0 if no split improves the AUC.

        A split with the area A of a node with p positives and n negatives adds (A − 1/2)·p·n/(P·N) to the area of the
        tree. With more than two classes, p·n is the number of pairs of rows of different classes.
        """
        validation.check_is_fitted(self)
        tree, is_split = self.tree_, self.tree_.feature != LEAF
        counts = tree.counts[is_split]
        pairs = (counts.sum(axis=1) ** 2 - (counts**2).sum(axis=1)) / 2
        added = np.bincount(tree.feature[is_split], (tree.auc[is_split] - 0.5) * pairs, self.n_features_in_)
        return added / added.sum() if added.sum() > 0 else added

    def export_text(self, feature_names: Sequence[str] | None = None, decimals: int = 2) -> str:
        """Return the rules of the tree as text, in the format of `sklearn.tree.export_text`.

        Parameters
        ----------
        feature_names : list of str, optional
            Names of the features. By default, the names of the columns of the training data, or feature_0, feature_1, …
        decimals : int
            Number of decimal digits of the thresholds.

        Raises
        ------
        InputError
            If the number of names differs from the number of features.

        Examples
        --------
        >>> X, y = [[1], [2], [3], [4]], ["a", "a", "a", "b"]
        >>> print(AUCTreeClassifier(max_depth=1).fit(X, y).export_text(["age"]))
        |--- age <= 3.50
        |   |--- class: a
        |--- age >  3.50
        |   |--- class: b
        <BLANKLINE>
        """
        validation.check_is_fitted(self)
        check.check_whole(decimals, "decimals", 0)
        tree, d = self.tree_, self.n_features_in_
        default: Any = getattr(self, "feature_names_in_", [f"feature_{i}" for i in range(d)])
        names = default if feature_names is None else feature_names
        if len(names) != d:
            raise InputError("feature_names", expected=f"{d} names, one per feature", got=str(len(names)))
        text = ""
        waiting = [(0, "")]  # nodes, and the line with the condition that leads to the node
        while waiting:
            node, condition = waiting.pop()
            text += condition
            indent = "|   " * tree.depth[node] + "|--- "
            if tree.feature[node] == LEAF:
                text += f"{indent}class: {self.classes_[tree.counts[node].argmax()]}\n"
                continue
            name, threshold = names[tree.feature[node]], f"{tree.threshold[node]:.{decimals}f}"
            waiting.append((tree.right[node], f"{indent}{name} >  {threshold}\n"))
            waiting.append((tree.left[node], f"{indent}{name} <= {threshold}\n"))
        return text


@held_to_contract
class SmoothedTreeClassifier(DecisionTreeClassifier):
    """Decision tree of scikit-learn with smoothed class probabilities in the leaves.

    Parameters
    ----------
    smoothing : {"laplace", "m", "none"}
        Smoothing of the class shares in a leaf: Laplace's estimate, the m-estimate, or no smoothing.
    m : float
        Number of rows that the m-estimate adds to each leaf. These rows have the class shares of all training rows.
    criterion, splitter, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_features, \
random_state, max_leaf_nodes, min_impurity_decrease, class_weight, ccp_alpha, monotonic_cst
        As in scikit-learn's DecisionTreeClassifier.

    Raises
    ------
    InputError
        If the smoothing is unknown, or m is negative.

    Notes
    -----
    Let a leaf contain n rows, and n_c rows of class c, one of k classes. Laplace's estimate is (n_c + 1)/(n + k). The
    m-estimate is (n_c + m·π_c)/(n + m), where π_c is the share of class c in the training rows. The numbers of rows are
    sums of row weights multiplied by class weights. Laplace's estimate does not change the most probable class of a
    leaf, but the m-estimate may change it. `predict` uses the smoothed probabilities.

    An unpruned tree with smoothing ranks better than a pruned tree (C4.4 of Provost & Domingos). Multi-output targets
    are not supported.

    References
    ----------
    Provost & Domingos 2003, "Tree induction for probability-based ranking", Machine Learning 52, §3; Cestnik 1990.

    Examples
    --------
    >>> X, y = [[0], [1], [2], [3], [4]], [0, 0, 0, 1, 1]
    >>> SmoothedTreeClassifier().fit(X, y).predict_proba([[0], [4]])
    array([[0.8 , 0.2 ],
           [0.25, 0.75]])
    >>> SmoothedTreeClassifier(smoothing="m", m=1).fit(X, y).predict_proba([[0]])
    array([[0.9, 0.1]])
    """

    def __init__(
        self,
        *,
        smoothing: Smoothing = "laplace",
        m: float = 2.0,
        criterion: Any = "gini",
        splitter: Any = "best",
        max_depth: int | None = None,
        min_samples_split: Any = 2,
        min_samples_leaf: Any = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        random_state: Any = 0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
    ) -> None:
        super().__init__(
            criterion=criterion,
            splitter=splitter,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            random_state=random_state,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            class_weight=class_weight,
            ccp_alpha=ccp_alpha,
            monotonic_cst=monotonic_cst,
        )
        self.smoothing: Smoothing = smoothing
        self.m = m

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Self:
        """Grow the tree on the training rows.

        Parameters
        ----------
        X : n × d array
            Features of the training rows.
        y : array of n labels
            True classes.
        sample_weight : array of n weights, optional
            Row weights; by default all weights are 1.
        check_input : bool
            If False, X is not validated and must be a float32 array in the internal format of scikit-learn's trees.

        Raises
        ------
        ShapeError
            If `y` does not have one label per row.

        Examples
        --------
        >>> X, y = [[1], [2], [3], [4]], ["a", "a", "a", "b"]
        >>> int(SmoothedTreeClassifier().fit(X, y).get_n_leaves())
        2
        """
        super().fit(X, wrapping.one_label_a_row(y), sample_weight=sample_weight, check_input=check_input)
        self._leaf_probabilities()
        return self

    def predict_proba(self, X: Any, check_input: bool = True) -> Array:
        """Return the smoothed probability of each class (n × k).

        Parameters
        ----------
        X : array, sparse matrix or data frame of n rows
            Features of the rows.
        check_input : bool
            If False, X is not validated; see `fit`.

        Examples
        --------
        >>> tree = SmoothedTreeClassifier().fit([[0], [0], [1]], [0, 0, 1])
        >>> tree.predict_proba([[0]]).round(2).tolist()
        [[0.75, 0.25]]
        """
        validation.check_is_fitted(self)
        return self._leaf_probabilities()[self.apply(X, check_input=check_input)]

    def predict(self, X: Any, check_input: bool = True) -> Array:
        """Return the most probable class of each row; if classes are tied, the first one.

        Parameters
        ----------
        X : array, sparse matrix or data frame of n rows
            Features of the rows.
        check_input : bool
            If False, X is not validated; see `fit`.

        Examples
        --------
        >>> X, y = [[1], [2], [3], [4]], ["a", "a", "a", "b"]
        >>> SmoothedTreeClassifier().fit(X, y).predict([[1], [9]]).tolist()
        ['a', 'b']
        """
        proba = self.predict_proba(X, check_input=check_input)
        return np.asarray(self.classes_)[proba.argmax(axis=1)]

    def _leaf_probabilities(self) -> Array:
        tree = self.tree_
        # scikit-learn stores the class shares of a node, and its weight.
        counts = tree.value[:, 0, :] * tree.weighted_n_node_samples[:, np.newaxis]
        return _smoothed(counts, self.smoothing, self.m)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        tags.classifier_tags.multi_label = False
        return tags
