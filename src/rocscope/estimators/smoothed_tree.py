"""SmoothedTreeClassifier: scikit-learn's decision tree with probabilities that small leaves do not push to 0 and 1."""

from typing import Any, Self

import numpy as np
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from rocscope._types import Array
from rocscope.estimators.smoothing import Smoothing, smoothed


class SmoothedTreeClassifier(DecisionTreeClassifier):
    """Decision tree whose leaves give Laplace or m-estimates of the class probabilities.

    Parameters
    ----------
    smoothing : {"laplace", "m", "none"}
    m : float
        Of the m-estimate: how many rows the class mix of all training rows counts for in a leaf.
    criterion, splitter, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_features, \
random_state, max_leaf_nodes, min_impurity_decrease, class_weight, ccp_alpha, monotonic_cst
        See scikit-learn's DecisionTreeClassifier, of which this is one in all else.

    Raises
    ------
    InputError
        If there is no such smoothing, or m is negative.

    Notes
    -----
    A leaf with n_c rows of class c among n, of k classes: Laplace (n_c + 1)/(n + k), m-estimate (n_c + m·π_c)/(n + m)
    with the class mix π of the training rows. Rows count by their weights, class weights included. With Laplace the
    most probable class of a leaf stays what it was; with m-estimates it may not, and `predict` follows them.

    An unpruned tree so smoothed ranks better than a pruned one (Provost & Domingos call it C4.4). There is one
    output only.

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
        """Grow the tree.

        Parameters
        ----------
        X : n × d array
        y : array of n labels
        sample_weight : array of n weights, optional
        check_input : bool
            Whether X may be anything but what the tree uses inside.
        """
        super().fit(X, column_or_1d(y, warn=True), sample_weight=sample_weight, check_input=check_input)
        self._leaf_probabilities()
        return self

    def predict_proba(self, X: Any, check_input: bool = True) -> Array:
        """Return the smoothed probabilities of the classes (n × k)."""
        check_is_fitted(self)
        return self._leaf_probabilities()[self.apply(X, check_input=check_input)]

    def predict(self, X: Any, check_input: bool = True) -> Array:
        """Return the most probable class of each row, the first of several."""
        proba = self.predict_proba(X, check_input=check_input)
        return np.asarray(self.classes_)[proba.argmax(axis=1)]

    def _leaf_probabilities(self) -> Array:
        tree = self.tree_
        counts = tree.value[:, 0, :] * tree.weighted_n_node_samples[:, np.newaxis]
        return smoothed(counts, self.smoothing, self.m)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        tags.classifier_tags.multi_label = False
        return tags
