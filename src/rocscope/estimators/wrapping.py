"""Base classes of classifiers that wrap other models, and checks of their arguments.

- `FoldedClassifier` cross-validates its models inside `fit`. It passes metadata, such as weights and groups, to the
  models. If scikit-learn's metadata routing is off, a model receives the metadata that its `fit` has an argument for.
- `TwoClasses` adds a positive class, and a parameter for each cost of the context, such as ``context__cost_fn``.
- `WrappingClassifier` fits one model and returns the probabilities of this model.
"""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import Bunch, column_or_1d, get_tags, indexable, metaestimators, multiclass, validation
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from rocscope._base import validation as check
from rocscope._base.arrays import Array, Booleans
from rocscope._base.contract import held_to_contract
from rocscope.core import Campaign, Context
from rocscope.decisions.constraints import constraints_of, criterion_of
from rocscope.decisions.model_hull import UncertainContext
from rocscope.errors import InputError, LabelError, OneClassError, ShapeError
from rocscope.evaluation import fitting
from rocscope.protocols.splitters import Folds, splits_of


@held_to_contract
class FoldedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Classifier that cross-validates other models inside its `fit`."""

    classes_: Array
    cv: Any
    random_state: Any
    n_jobs: int | None

    keeps_groups = True
    __metadata_request__fit: ClassVar = {"groups": True}  # the request with which scikit-learn's routing starts

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling, without the out-of-fold scores of the training rows."""
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "predictions_"}

    def _models(self) -> dict[str, Any]:
        """Return the models to fit, by the names that metadata routing uses."""
        raise NotImplementedError

    @property
    def _amount_names(self) -> tuple[str, ...]:
        """Names of the amounts per row that the context needs; `fit` receives them as keyword arguments."""
        context = getattr(self, "context", None)
        return context.columns if isinstance(context, Context) else ()

    def _get_metadata_request(self) -> Any:
        request: Any = super()._get_metadata_request()
        for name in self._amount_names:
            request.fit.add_request(param=name, alias=True)
        return request

    def get_metadata_routing(self) -> MetadataRouter:
        """Return a router that passes the metadata of `fit` to the models' `fit` and the splitter's `split`."""
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        to_split = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=self).add_self_request(self).add(**self._models(), method_mapping=to_fit)
        splitter = getattr(self, "cv", None)
        return router.add(splitter=splitter, method_mapping=to_split) if hasattr(splitter, "split") else router

    def _out_of_fold(
        self,
        X: Any,
        y: Array,
        weight: Array | None,
        groups: Any,
        params: dict[str, Any],
        response: str,
        positive: int | None,
        *,
        repeat: int = 0,
    ) -> tuple[Any, Callable[[str], Any]]:
        """Return out-of-fold predictions, and a function that fits the model with a given name to all rows."""
        models = self._named()
        groups = None if groups is None else check.check_column(groups, "groups", y.size)
        for name in self._amount_names:
            if name not in params:
                subject = f"{type(self).__name__}.fit"
                raise InputError(subject, expected=f"{name}=…, an amount per row that the context names", got="none")
        amounts = {name: check.check_numbers(params[name], name, y.size) for name in self._amount_names}
        params = {name: value for name, value in params.items() if name not in amounts}
        routed = self._routed(weight, groups, params)
        arguments = dict(zip(models, routed.fit, strict=True))
        X, classes = fitting.attributes(X, y.size), tuple(self.classes_.tolist())
        task = fitting.Task(X, y, classes, positive, weight, response, with_labels=False, arguments=arguments)
        experiment = fitting.Fitting(models, task, fitting.sample_of(task, groups), self.n_jobs)
        cv = self.cv
        if isinstance(cv, int | np.integer):
            # Without groups, the rows of a rare class are spread over the folds.
            cv = _folds(y, int(cv)) if groups is None else Folds(int(cv))
        elif routed.split:
            cv = list(cv.split(X, y, **routed.split))
        seed = check.seed_of(self.random_state)
        splits, _ = splits_of(cv, experiment.sample, seed=seed + repeat)
        scored = experiment.run(splits, type(self).__name__, fitting.fit_and_score)

        def refit(name: str) -> Any:
            fitted = fitting.fit(name, models[name], task)
            take_over_features(self, fitted)
            return fitted

        return fitting.assembled(task, splits, scored, list(models), amounts=amounts), refit

    def _named(self) -> dict[str, Any]:
        """Return the models by the names that predictions use."""
        return self._models()

    def _routed(self, weight: Array | None, groups: Array | None, params: dict[str, Any]) -> Bunch:
        """Return the metadata for the `fit` of each model (in the order of the models), and for the splitter."""
        models = self._models()
        # With routing on, models request metadata by name. Otherwise weights and groups go to all models that take
        # them.
        if fitting.routes_metadata():
            routed = process_routing(self, "fit", sample_weight=weight, groups=groups, **params)
            to_splitter = routed.get("splitter", Bunch(split={}))
            return Bunch(fit=[routed[name].fit for name in models], split=to_splitter.split)
        if params:
            allowed = ", ".join(["sample_weight", *self._amount_names])
            subject, expected = f"{type(self).__name__}.fit", f"{allowed} and groups only"
            hint = "call sklearn.set_config(enable_metadata_routing=True) to pass other metadata"
            raise InputError(subject, expected=expected, got=", ".join(params), hint=hint)
        return Bunch(fit=[*fitting.fit_arguments(self._named(), weight, groups).values()], split={})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = [get_tags(model).input_tags for model in self._models().values()]
        for name in ("sparse", "allow_nan", "string", "categorical"):
            setattr(tags.input_tags, name, all(getattr(model_tags, name) for model_tags in inner))
        return tags


@held_to_contract
class TwoClasses(BaseEstimator):
    """Parameters and scores of a binary classifier with a positive class."""

    classes_: Array
    pos_label_: Any

    context: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the classifier.

        If `deep` is True, include the parameters of inner models, and the fields of the context under names such as
        ``context__cost_fn``.
        """
        return self._cost_params(deep) | super().get_params(deep=deep)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; a name such as ``context__cost_fn`` sets one field of the context.

        Parameters
        ----------
        **params
            New values.
        """
        return super().set_params(**self._with_cost_params(params))

    def _cost_params(self, deep: bool) -> dict[str, Any]:
        """Return the fields of the context as parameters with names such as ``context__cost_fn``."""
        context = Context() if self.context is None else self.context
        # scikit-learn asks for parameters before they are checked, so the context may be anything.
        costs = fields(context) if deep and is_dataclass(context) else ()
        return {f"context__{cost.name}": getattr(context, cost.name) for cost in costs}

    def _with_cost_params(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return parameters in which single costs are merged into a new context; the old context is not modified."""
        costs, others = {}, {}
        for name, value in params.items():
            if name.startswith("context__"):
                costs[name.removeprefix("context__")] = value
            else:
                others[name] = value
        if not costs:
            return params
        context: Any = params.get("context", self.context)
        context = context if is_dataclass(context) else Context.given(context)
        for name in costs:
            check.check_choice("context__", name, [cost.name for cost in fields(context)])
        return others | {"context": replace(context, **costs)}

    @property
    def _positive(self) -> int:
        """Index of the positive class."""
        return self.classes_.tolist().index(self.pos_label_)

    def _scores(self, fitted: Any, X: Any, response: str) -> Array:
        """Return one score per row; higher scores indicate the positive class."""
        return fitting.positive_scores(fitted, X, self.classes_.tolist(), self._positive, response)

    def _labels(self, positive: Booleans) -> Array:
        """Return the label of each row: the positive label where `positive` is True, otherwise the negative label."""
        return self.classes_[(positive ^ (self._positive == 0)).astype(np.intp)]

    def __sklearn_tags__(self) -> Any:
        tags: Any = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _has(method: str) -> Callable[[Any], bool]:
    """Return a condition for `available_if`: the wrapper has a method only if the wrapped model has the method."""

    def condition(wrapper: Any) -> bool:
        wrapped = getattr(wrapper, "estimator_", wrapper.estimator)
        getattr(wrapped, method)  # the model's own error states why the method is missing
        return True

    return condition


class WrappingClassifier(FoldedClassifier):
    """Classifier that fits one model and makes its own decisions from the scores of this model."""

    estimator: Any
    estimator_: Any

    @metaestimators.available_if(_has("predict_proba"))
    def predict_proba(self, X: Any) -> Array:
        """Return the fitted model's probability of each class.

        Parameters
        ----------
        X : array, sparse matrix or data frame of n rows
            Features of the rows.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> from rocscope.estimators import ThresholdClassifier
        >>> X, y = np.arange(40.0).reshape(-1, 1), np.repeat([0, 1, 0, 1], [18, 2, 2, 18])
        >>> model = ThresholdClassifier(LogisticRegression(), cv=5).fit(X, y)
        >>> model.predict_proba([[2.0]]) == LogisticRegression().fit(X, y).predict_proba([[2.0]])
        array([[ True,  True]])
        """
        return self._fitted().predict_proba(X)

    @metaestimators.available_if(_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithm of the fitted model's probability of each class.

        Parameters
        ----------
        X : array, sparse matrix or data frame of n rows
            Features of the rows.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> from rocscope.estimators import ThresholdClassifier
        >>> X, y = np.arange(40.0).reshape(-1, 1), np.repeat([0, 1, 0, 1], [18, 2, 2, 18])
        >>> model = ThresholdClassifier(LogisticRegression(), cv=5).fit(X, y)
        >>> model.predict_log_proba([[2.0]]) == np.log(model.predict_proba([[2.0]]))
        array([[ True,  True]])
        """
        return self._fitted().predict_log_proba(X)

    @metaestimators.available_if(_has("decision_function"))
    def decision_function(self, X: Any) -> Array:
        """Return the decision function of the fitted model.

        Parameters
        ----------
        X : array, sparse matrix or data frame of n rows
            Features of the rows.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> from rocscope.estimators import ThresholdClassifier
        >>> X, y = np.arange(40.0).reshape(-1, 1), np.repeat([0, 1, 0, 1], [18, 2, 2, 18])
        >>> model = ThresholdClassifier(LogisticRegression(), cv=5).fit(X, y)
        >>> model.decision_function([[2.0], [38.0]]) > 0
        array([False,  True])
        """
        return self._fitted().decision_function(X)

    def _models(self) -> dict[str, Any]:
        return {"estimator": self.estimator}

    def _named(self) -> dict[str, Any]:
        return {fitting.class_name(self.estimator): self.estimator}

    def _fitted(self) -> Any:
        validation.check_is_fitted(self, "estimator_")
        return self.estimator_


_OF_SCORES = ("predict_proba", "decision_function")
_SYMMETRIC = {"accuracy", "error", "balanced_accuracy", "youden", "ks", "mcc", "kappa", "closest_topleft"}
"""Criteria that stay the same when the two classes are swapped."""


def check_aim(context: Any, criterion: Any, subject_to: Any) -> bool:
    """Return True if the objective does not depend on which class is the positive class.

    Raises
    ------
    InputError
        If the context, criterion or constraints are not valid for `rocscope.choose`.
    """
    if not isinstance(context, Context | Campaign | UncertainContext | None):
        raise InputError("context", expected="a Context, a Campaign or an UncertainContext", got=repr(context))
    figure = criterion_of("accuracy" if criterion is None else criterion)
    symmetric = not callable(criterion) and figure.name in _SYMMETRIC
    return not constraints_of(subject_to) and context is None and symmetric


def check_rows(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Array, Array | None]:
    """Return the features in a form that can be indexed, the labels as a column, and the checked weights."""
    X, y = indexable(X, check.check_column(one_label_a_row(y), "y"))
    multiclass.check_classification_targets(y)
    return X, y, check.check_weights(sample_weight, y.size)


def one_label_a_row(y: Any) -> Any:
    """Return the labels in scikit-learn's format.

    Errors contain the message of scikit-learn, because scikit-learn's estimator checks expect this message.
    """
    try:
        return column_or_1d(y, warn=True)
    except ValueError as error:
        raise ShapeError("y", expected="one label per row", got=type(y).__name__, hint=str(error)) from error


def check_two_classes(y: Array, pos_label: Any, *, symmetric: bool) -> tuple[Array, Any]:
    """Return the two sorted classes, and the positive class.

    Without `pos_label`, the positive class is 1 or True for labels 0/1, −1/1 and False/True. Other labels are accepted
    only if the decision treats both classes equally. Then the second class is positive, as in scikit-learn.

    Raises
    ------
    OneClassError, LabelError
        If the number of classes is not two, or the positive class is unknown.
    """
    classes = np.unique(y)
    if classes.size > 2:
        got = f"{classes.size} classes: {check.listing(classes.tolist())}"
        raise LabelError("Only binary classification is supported", got=got, hint="use ClassWeightClassifier")
    if classes.size < 2:
        raise OneClassError("y", expected="both classes", got=f"only one class, {classes[0].item()!r}")
    if pos_label is not None:
        if pos_label not in classes.tolist():
            raise LabelError(f"pos_label={pos_label!r} is not among the labels", got=check.listing(classes.tolist()))
        return classes, pos_label
    if not symmetric:
        check.check_labels(y)
    return classes, classes[1]


def check_response(estimator: Any, wanted: str = "auto") -> str:
    """Return the name of the model's method that computes scores.

    Raises
    ------
    InputError
        If the estimator does not have the requested method, or has neither `predict_proba` nor `decision_function`.
    """
    response = None
    if wanted in ("auto", *_OF_SCORES):
        response = fitting.response_of(estimator, wanted, _OF_SCORES)
    if response is None:
        expected = "a classifier with " + (wanted if wanted in _OF_SCORES else " or ".join(_OF_SCORES))
        raise InputError("estimator", expected=expected, got=f"{type(estimator).__name__} (response_method={wanted!r})")
    return response


def _folds(y: Array, k: int) -> Folds:
    """Return folds over which the rows of rare classes are spread.

    The number of folds is k, or the size of the largest class if that is smaller.

    Raises
    ------
    InputError
        If fewer than two classes have two or more rows.
    """
    classes, size = np.unique(y, return_counts=True)
    if (size > 1).sum() < 2:
        expected = "at least two rows of each class" if size.size == 2 else "two classes with two or more rows"
        got = f"1 sample of class {classes[size.argmin()].item()!r}"
        raise InputError("y", expected=expected, got=got, hint="pass more rows of this class")
    return Folds(min(k, int(size.max())), rare_classes="spread")


def take_over_features(wrapper: Any, fitted: Any) -> None:
    """Copy the number and names of the features from a fitted model to its wrapper."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(fitted, name):
            setattr(wrapper, name, getattr(fitted, name))
