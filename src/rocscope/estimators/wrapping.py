"""What classifiers that fit others have in common: routing of metadata, delegation, checks of rows and labels."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import Bunch, column_or_1d, get_tags, indexable
from sklearn.utils._metadata_requests import _routing_enabled
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples, check_is_fitted, has_fit_parameter

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.core.context import Context
from rocscope.core.predictions import Predictions
from rocscope.core.rows import take
from rocscope.decisions.constraints import constraints_of
from rocscope.decisions.criteria import criterion_of
from rocscope.decisions.uncertain import UncertainContext
from rocscope.errors import InputError, LabelError, OneClassError, warn
from rocscope.estimators.folds import out_of_fold, splits
from rocscope.estimators.scores import positive_scores


class FoldedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier that cross-validates others inside its fit."""

    classes_: Array
    pos_label_: Any
    cv: Any
    random_state: Any
    n_jobs: int | None

    def _models(self) -> dict[str, Any]:
        """Return the models that are fitted, by the name under which metadata reach them."""
        raise NotImplementedError

    def get_metadata_routing(self) -> MetadataRouter:
        """Return where `fit` sends its metadata: to the models' `fit` and the splitter's `split`."""
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        to_split = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=self).add_self_request(self).add(**self._models(), method_mapping=to_fit)
        splitter = getattr(self, "cv", None)
        return router.add(splitter=splitter, method_mapping=to_split) if hasattr(splitter, "split") else router

    def _routed(self, sample_weight: Any, params: dict[str, Any]) -> Bunch:
        """Return what goes to each model's `fit` and to the splitter."""
        models = self._models()
        if _routing_enabled():
            routed = process_routing(self, "fit", sample_weight=sample_weight, **params)
            return Bunch(fit=[routed[name].fit for name in models], split=routed.get("splitter", Bunch(split={})).split)
        if params:
            raise InputError(
                f"{type(self).__name__}.fit",
                expected="sample_weight only",
                got=", ".join(params),
                hint="sklearn.set_config(enable_metadata_routing=True) lets others through",
            )
        if sample_weight is None:
            return Bunch(fit=[{} for _ in models], split={})
        takes = {name: has_fit_parameter(model, "sample_weight") for name, model in models.items()}
        if not all(takes.values()):
            warn(
                f"{', '.join(type(models[name]).__name__ for name in takes if not takes[name])} takes no sample_weight "
                "in fit: the weights serve the choice only (steps of a pipeline get them by metadata routing)"
            )
        return Bunch(fit=[{"sample_weight": sample_weight} if each else {} for each in takes.values()], split={})

    def _out_of_fold(
        self, models: Mapping[str, Any], methods: Iterable[str], X: Any, y: Array, weight: Array | None, routed: Bunch
    ) -> Predictions:
        """Return the scores of two classes that models give to rows which they were not fitted to."""
        parts = splits(self.cv, X, y, self.random_state, routed.split)
        respond = [partial(positive_scores, pos_label=self.pos_label_, method=method) for method in methods]
        found = out_of_fold([*models.values()], respond, X, y, parts, routed.fit, self.n_jobs)
        return Predictions(
            y[found.row] == self.pos_label_,
            dict(zip(models, found.responses, strict=True)),
            sample_weight=take(weight, found.row),
            fold=found.fold,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = [get_tags(model).input_tags for model in self._models().values()]
        for name in ("sparse", "allow_nan", "string", "categorical"):
            setattr(tags.input_tags, name, all(getattr(each, name) for each in inner))
        return tags


def _has(method: str) -> Callable[[Any], bool]:
    """Return the condition under which a wrapper has a method: that what it wraps has it."""

    def condition(wrapper: Any) -> bool:
        getattr(getattr(wrapper, "estimator_", wrapper.estimator), method)
        return True

    return condition


class WrappingClassifier(FoldedClassifier):
    """A classifier that fits one other, has its scores, and decides differently from them."""

    estimator: Any
    estimator_: Any

    @available_if(_has("predict_proba"))
    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities that the fitted model gives each class."""
        return self._fitted().predict_proba(X)

    @available_if(_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of the probabilities that the fitted model gives each class."""
        return self._fitted().predict_log_proba(X)

    @available_if(_has("decision_function"))
    def decision_function(self, X: Any) -> Array:
        """Return the decision function of the fitted model."""
        return self._fitted().decision_function(X)

    def _models(self) -> dict[str, Any]:
        return {"estimator": self.estimator}

    def _fitted(self) -> Any:
        check_is_fitted(self, "estimator_")
        return self.estimator_


_SYMMETRIC = {None, "accuracy", "error", "balanced_accuracy", "youden", "ks", "mcc", "kappa", "closest_topleft"}


def check_aim(context: Any, criterion: Any, subject_to: Any) -> bool:
    """Return whether a choice is the same whichever of two classes is called the positive one.

    Raises
    ------
    InputError
        If context, criterion or constraints are not what `rocscope.choose` takes; before anything is fitted.
    """
    if not isinstance(context, Context | UncertainContext | None):
        raise InputError("context", expected="a Context or an UncertainContext", got=repr(context))
    criterion_of(criterion)
    return not constraints_of(subject_to) and context is None and criterion in _SYMMETRIC


def check_rows(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Array, Array | None]:
    """Return rows that can be indexed, labels as a column, and checked weights."""
    X, y = indexable(X, check.check_column(column_or_1d(y, warn=True), "y"))
    check_classification_targets(y)
    return X, y, check.check_weights(sample_weight, _num_samples(X))


def check_two_classes(y: Array, pos_label: Any, *, symmetric: bool) -> tuple[Array, Any]:
    """Return both classes, sorted, and which of them is the positive one.

    Where the decision treats both alike, the second one is, as in scikit-learn; else it is inferred only from 0/1,
    −1/1 and False/True.

    Raises
    ------
    OneClassError, LabelError
        If there are not two classes, or the positive one is not known.
    """
    classes = np.unique(y)
    if classes.size > 2:
        got = f"{classes.size} classes: {check.listing(classes.tolist())}"
        raise LabelError("Only binary classification is supported", got=got, hint="see ClassWeightClassifier")
    if classes.size < 2:
        raise OneClassError("y", expected="both classes", got=f"one class, {classes[0].item()!r}")
    if pos_label is not None:
        if pos_label not in classes.tolist():
            raise LabelError(f"pos_label={pos_label!r} is not among the labels", got=check.listing(classes.tolist()))
        return classes, pos_label
    if not symmetric:
        check.check_labels(y)
    return classes, classes[1]


def take_over_features(wrapper: Any, fitted: Any) -> None:
    """Give a wrapper the number and names of the features that a fitted model has seen."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(fitted, name):
            setattr(wrapper, name, getattr(fitted, name))


def two_labels(positive: NDArray[np.bool_], classes: Array, pos_label: Any) -> Array:
    """Return the positive label where a case is predicted positive, else the other one."""
    first_is_positive = classes[0] == pos_label
    return classes[(positive ^ first_is_positive).astype(np.intp)]
