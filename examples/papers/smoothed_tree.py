"""A decision tree whose leaves are smoothed towards the class shares of the training rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier


class SmoothedTree(DecisionTreeClassifier):
    """Tree with the m-estimate (n_c + m·share_c)/(n + m) in its leaves, m = 2."""

    def predict_proba(self, X: Any, check_input: bool = True) -> NDArray[Any]:  # noqa: N803
        """Return n × k probabilities."""
        n = self.tree_.weighted_n_node_samples[:, np.newaxis]
        share = self.tree_.value[:, 0, :]
        return ((n * share + 2 * share[0]) / (n + 2))[self.apply(X, check_input)]
