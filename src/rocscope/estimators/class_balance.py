"""ClassWeightClassifier and ResampledClassifier: class weights, or over- and undersampling before fitting."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import held_to_contract
from rocscope.decisions.prior_shift import correct_probabilities
from rocscope.errors import InputError, MissingDependencyError, OneClassError
from rocscope.estimators.wrapping import WrappingClassifier, check_response, check_rows, take_over_features
from rocscope.evaluation.scoring import class_scores
from rocscope.multiclass.class_weighting import Method, class_weights
from rocscope.multiclass.cost_matrix import CostMatrix
from rocscope.multiclass.weight_search import Name


@held_to_contract
class ClassWeightClassifier(WrappingClassifier):
    """Classifier that predicts argmax of w·p, with class weights chosen on pooled out-of-fold rows.

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
        self.predictions_, refit = self._out_of_fold(
            X, y, weight, groups, params, response="predict_proba", positive=None
        )
        (self.estimator_,) = map(refit, self.predictions_.models)
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
        """Return the class with the largest weighted probability, or the lowest expected cost."""
        proba = class_scores(self._fitted(), X, self.classes_.tolist())
        return self.classes_[self.decision_.predict_index(proba)]


_BY_NAME = {"under": "RandomUnderSampler", "over": "RandomOverSampler"}


@held_to_contract
class ResampledClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Classifier fitted to resampled rows, with probabilities corrected to the original prevalence.

    Parameters
    ----------
    estimator : classifier with predict_proba
    sampler : {"under", "over"} or sampler of imbalanced-learn
        The names stand for its RandomUnderSampler and RandomOverSampler, to equally frequent classes.
    random_state : int, RandomState or None
        Of a sampler given by name.

    Attributes
    ----------
    estimator_ : classifier
        Fitted to the resampled rows; its own probabilities are those of their class mix.
    sampler_ : sampler
    train_prevalence_, prevalence_ : arrays of k shares
        Class mix of the resampled rows, and of all rows.
    classes_ : array of k labels

    Raises
    ------
    MissingDependencyError
        If imbalanced-learn is not installed: ``pip install rocscope[sampling]``.
    InputError
        If the model has no predict_proba, or the sampler left a class out.

    Notes
    -----
    Probabilities are multiplied by π_c/π₀_c, for a class mix π₀ of the resampled rows and π of all rows, and divided by
    their sum; with two classes that is `decisions.correct_probabilities`. It is right where rows of each class are
    resampled alike, whatever their features: random over- and under-sampling. Samplers that make up rows or choose
    them by their place (SMOTE, NearMiss) change the distribution within a class, which nothing corrects.

    `predict` takes the most probable class at the original mix, so that it predicts a rare class about as seldom as a
    model of all rows. Where errors differ in cost, wrap it: ``ThresholdClassifier(ResampledClassifier(…), context=…)``
    resamples inside each fold. Rows are resampled, so there are no weights beside.

    References
    ----------
    Elkan 2001, "The foundations of cost-sensitive learning", IJCAI; Saerens, Latinne & Decaestecker 2002, eq. 2.4.

    Examples
    --------
    >>> from sklearn.naive_bayes import BernoulliNB
    >>> X, y = np.repeat([[0], [1], [0], [1]], [80, 10, 2, 8], axis=0), np.repeat([0, 0, 1, 1], [80, 10, 2, 8])
    >>> model = ResampledClassifier(BernoulliNB(alpha=1e-9), "over").fit(X, y)
    >>> model.train_prevalence_, model.prevalence_
    (array([0.5, 0.5]), array([0.9, 0.1]))
    >>> bool(model.estimator_.predict_proba([[1]])[0, 1] > 0.8), bool(model.predict_proba([[1]])[0, 1] < 0.6)
    (True, True)
    """

    def __init__(self, estimator: Any, sampler: Any = "under", *, random_state: Any = 0) -> None:
        self.estimator = estimator
        self.sampler = sampler
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Resample the rows and fit the model to them.

        Parameters
        ----------
        X : n × d array or frame that the sampler takes
        y : array of n labels
        """
        check_response(self.estimator, "predict_proba")
        X, y, _ = check_rows(X, y, None)
        self.classes_, size = np.unique(y, return_counts=True)
        if size.size < 2:
            raise OneClassError("y", expected="two classes or more", got=f"one class, {self.classes_[0].item()!r}")
        self.sampler_: Any = self._sampler()
        rows, labels = self.sampler_.fit_resample(X, y)
        kept = np.array([(labels == label).sum() for label in self.classes_])
        if not kept.all():
            lost = self.classes_[kept == 0].tolist()
            raise InputError("sampler", expected="rows of every class", got=f"none of {check.listing(lost)}")
        self.train_prevalence_, self.prevalence_ = kept / kept.sum(), size / size.sum()
        model: Any = clone(self.estimator)
        self.estimator_: Any = model.fit(rows, labels)
        take_over_features(self, self.estimator_)
        return self

    def predict_proba(self, X: Any) -> Array:
        """Return the class probabilities (n × k) at the prevalence of all rows."""
        check_is_fitted(self)
        proba = class_scores(self.estimator_, X, self.classes_.tolist())
        if self.classes_.size == 2:
            before, after = self.train_prevalence_[1].item(), self.prevalence_[1].item()
            positive = correct_probabilities(proba[:, 1], train_prevalence=before, target_prevalence=after)
            return np.column_stack([1 - positive, positive])
        corrected = proba * (self.prevalence_ / self.train_prevalence_)
        return corrected / corrected.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> Array:
        """Return the most probable class of each row at the prevalence of all rows."""
        proba = self.predict_proba(X)
        return self.classes_[proba.argmax(axis=1)]

    def _sampler(self) -> Any:
        if not isinstance(self.sampler, str):
            return clone(self.sampler)
        name = _BY_NAME[check.check_choice("sampler", self.sampler, list(_BY_NAME))]
        try:
            from imblearn import over_sampling, under_sampling
        except ImportError as error:
            hint = "pip install rocscope[sampling]"
            raise MissingDependencyError("imbalanced-learn is not installed", hint=hint) from error
        return getattr(under_sampling if self.sampler == "under" else over_sampling, name)(
            random_state=self.random_state
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        tags.input_tags.allow_nan = False
        return tags
