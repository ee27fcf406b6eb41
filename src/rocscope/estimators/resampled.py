"""ResampledClassifier: fitted to over- or under-sampled rows, with probabilities at the original class mix."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.decisions.prior_shift import correct_probabilities
from rocscope.errors import InputError, MissingDependencyError, OneClassError
from rocscope.estimators.wrapping import check_response, check_rows, take_over_features
from rocscope.evaluation.scoring import class_scores

_BY_NAME = {"under": "RandomUnderSampler", "over": "RandomOverSampler"}


class ResampledClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Classifier fitted to resampled rows, whose probabilities are corrected back to the class mix of all rows.

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
        """Return the probabilities of the classes (n × k) at the class mix of all rows."""
        check_is_fitted(self)
        proba = class_scores(self.estimator_, X, self.classes_.tolist())
        if self.classes_.size == 2:
            before, after = self.train_prevalence_[1].item(), self.prevalence_[1].item()
            positive = correct_probabilities(proba[:, 1], train_prevalence=before, target_prevalence=after)
            return np.column_stack([1 - positive, positive])
        corrected = proba * (self.prevalence_ / self.train_prevalence_)
        return corrected / corrected.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> Array:
        """Return the most probable class of each row at the class mix of all rows."""
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
