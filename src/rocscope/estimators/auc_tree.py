"""AUCTreeClassifier: a decision tree that splits where the ROC curve of the split has the largest area."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.errors import InputError
from rocscope.estimators.smoothing import KINDS, Smoothing, smoothed
from rocscope.estimators.tree import Growth, Tree, grow


class AUCTreeClassifier(ClassifierMixin, BaseEstimator):
    """Decision tree that takes at each node the split of largest AUC.

    Parameters
    ----------
    max_depth : int, optional
        Most splits between the root and a leaf.
    min_samples_leaf : float
        Least weight of a leaf: rows, where they are not weighted.
    smoothing, m : see `SmoothedTreeClassifier`

    Attributes
    ----------
    tree_ : Tree
    classes_ : array of k labels
    n_features_in_ : int

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    The two sides of a split, ordered by their share of positives, are the ROC curve (0, 0), (fp₁/N, tp₁/P), (1, 1) of
    the node's own rows; its area is ``(1 + |tp₁/P − fp₁/N|)/2``. Unlike impurity it does not depend on the class mix of
    the node. Of splits of equal area the one whose smaller side is largest is taken, then the first feature and the
    lowest cut, so that a tree goes on where no single split helps. Nodes with one class are leaves.

    With more than two classes the area is the mean over all pairs of classes present in the node, each on the rows of
    the pair (Hand & Till's M).

    Splits are of the form x ≤ c, with c halfway between values that occur; the published trees also had a branch for
    each value of a nominal attribute. Rows count by their weights: an integer weight equals repeated rows, and rows
    of weight 0 change nothing. O(d·n log n) a level of the tree, and
    memory for a few times n·d·k numbers.

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
        """Grow the tree.

        Parameters
        ----------
        X, y, sample_weight : see `SmoothedTreeClassifier.fit`
        """
        growth = self._growth()
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        weight = check.check_weights(sample_weight, len(y))
        weight = np.ones(len(y)) if weight is None else weight.astype(np.float64)
        self.classes_, code = np.unique(y, return_inverse=True)
        used = weight > 0
        self.tree_: Tree = grow(X[used], code[used], weight[used], self.classes_.size, growth)
        return self

    def apply(self, X: Any) -> NDArray[np.intp]:
        """Return the node of `tree_` that is the leaf of each row."""
        check_is_fitted(self)
        rows: Any = validate_data(self, X, dtype=np.float64, reset=False)
        return self.tree_.apply(rows)

    def predict_proba(self, X: Any) -> Array:
        """Return the smoothed probabilities of the classes (n × k)."""
        leaf = self.apply(X)
        return smoothed(self.tree_.counts, self.smoothing, self.m)[leaf]

    def predict(self, X: Any) -> Array:
        """Return the most probable class of each row, the first of several."""
        proba = self.predict_proba(X)
        return self.classes_[proba.argmax(axis=1)]

    def get_depth(self) -> int:
        """Return the most splits between the root and a leaf."""
        check_is_fitted(self)
        return int(self.tree_.depth.max())

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self)
        return int((self.tree_.feature < 0).sum())

    def _growth(self) -> Growth:
        check.check_choice("smoothing", self.smoothing, KINDS)
        check.check_number(self.m, "m", "a number of at least 0", least=0)
        least = check.check_number(self.min_samples_leaf, "min_samples_leaf", "a weight of at least 0", least=0)
        if self.max_depth is not None and not (check.is_number(self.max_depth) and self.max_depth >= 0):
            raise InputError("max_depth", expected="None or at least 0", got=repr(self.max_depth))
        return Growth(np.inf if self.max_depth is None else self.max_depth, least)
