"""ClassWeightClassifier: weights of the classes, chosen by cross-validation, before the most probable is taken."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from rocscope._base.arrays import Array
from rocscope.errors import OneClassError
from rocscope.estimators.wrapping import WrappingClassifier, check_response, check_rows
from rocscope.evaluation.scoring import class_scores
from rocscope.multiclass.class_weighting import Method, class_weights
from rocscope.multiclass.cost_matrix import CostMatrix
from rocscope.multiclass.weight_objective import Name


class ClassWeightClassifier(WrappingClassifier):
    """Classifier of two classes or more that predicts argmax of w·p, with weights chosen from merged out-of-fold rows.

    Parameters
    ----------
    estimator : classifier with predict_proba
    objective : {"accuracy", "balanced_accuracy", "macro_f1"} or CostMatrix
        A cost matrix names the classes in the order of `classes_`.
    method : {"auto", "smooth", "coordinate", "greedy"}
        See `rocscope.multiclass.class_weights`.
    min_recall : float, or mapping from class to float, optional
        Least share of a class that must be found.
    cv, n_jobs : see `ThresholdClassifier`
    random_state : int, Generator, RandomState or None
        Of the folds, and of the search for weights.

    Attributes
    ----------
    decision_ : ClassWeights
        The weights, and what they predict out of fold.
    class_weight_ : array of k weights
    predictions_ : MulticlassPredictions
        The merged out-of-fold probabilities they were chosen from.
    estimator_ : classifier
        Fitted to all rows. `predict_proba` is its own: the weights decide, but do not recalibrate
        (``decision_.recalibrated`` does).
    classes_ : array of k labels

    Raises
    ------
    OneClassError
        If there is one class only.
    InputError
        If not even two classes have a second member, or the model has no predict_proba.

    Notes
    -----
    Probability 0 stands for a class that is absent from the training rows of a fold, as one of a single member is where
    it is tested. Weights of rows are treated as in
    `ThresholdClassifier`.

    References
    ----------
    Lachiche & Flach 2003, "Improving accuracy and cost of two-class and multi-class probabilistic classifiers using
    ROC curves", ICML.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> y = np.repeat(["common", "rare"], [90, 10])
    >>> X = np.random.default_rng(0).normal(size=(100, 1)) + 1.5 * (y == "rare")[:, np.newaxis]
    >>> model = ClassWeightClassifier(GaussianNB(), objective="balanced_accuracy").fit(X, y)
    >>> model.predict([[0.0], [1.3]]).tolist(), GaussianNB().fit(X, y).predict([[1.3]]).tolist()
    (['common', 'rare'], ['common'])
    """

    def __init__(
        self,
        estimator: Any,
        *,
        objective: Name | CostMatrix = "accuracy",
        method: Method = "auto",
        min_recall: float | Mapping[Any, float] | None = None,
        cv: Any = 10,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.objective: Name | CostMatrix = objective
        self.method: Method = method
        self.min_recall = min_recall
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **params: Any) -> Self:
        """Choose the weights out of fold, and fit the model to all rows.

        Parameters
        ----------
        y : array of n labels
        X, sample_weight, groups, **params : see `ThresholdClassifier.fit`
        """
        X, y, weight = check_rows(X, y, sample_weight)
        self.classes_ = np.unique(y)
        if self.classes_.size < 2:
            raise OneClassError("y", expected="two classes or more", got=f"one class, {self.classes_[0].item()!r}")
        check_response(self.estimator, "predict_proba")
        self.predictions_, fitted = self._out_of_fold(
            X, y, weight, groups, params, response="predict_proba", positive=None
        )
        (self.estimator_,) = fitted.values()
        self.decision_ = class_weights(
            self.predictions_,
            objective=self.objective,
            method=self.method,
            min_recall=self.min_recall,
            random_state=self.random_state,
        )
        self.class_weight_ = self.decision_.weight
        return self

    def predict(self, X: Any) -> Array:
        """Return the class of largest weighted probability, or of least expected cost."""
        proba = class_scores(self._fitted(), X, self.classes_.tolist())
        return self.classes_[self.decision_.predict_index(proba)]
