"""Base class of the learners of both papers, for nominal and numeric columns with missing values."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

Array = NDArray[Any]


class TableClassifier(ClassifierMixin, BaseEstimator):
    """Classifier with `predict_proba` and a parameter `nominal` that marks the columns with codes of names."""

    nominal: Any

    def _training(self, X: Any, y: Any, classes: Any = None) -> tuple[Array, NDArray[np.intp], NDArray[np.bool_]]:
        """Return the checked rows, the index of each row's class in `classes_`, and which columns are nominal."""
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        check_classification_targets(y)
        self.classes_ = np.unique(y if classes is None else classes)
        named = np.zeros(X.shape[1], bool) if self.nominal is None else np.asarray(self.nominal, bool)
        return X, np.searchsorted(self.classes_, y), named

    def _asked(self, X: Any) -> Array:
        """Check the rows for a prediction and return them."""
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)

    def predict(self, X: Any) -> Array:
        """Return the most probable class of each row."""
        proba = self.predict_proba(X)
        return self.classes_[proba.argmax(axis=1)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
