"""Scorers: what models are judged by inside `evaluate`, as users of scikit-learn write it.

A scorer of scikit-learn is asked about the fitted model, as `cross_validate` does. Anything else is a measure of
predictions.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any, ClassVar, cast

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from rocscope._base.arrays import Array
from rocscope.core.context import Context
from rocscope.errors import InputError
from rocscope.evaluation.assembly import of_one
from rocscope.evaluation.measures import Measure, Metric, measure_of, sklearn_scorer
from rocscope.evaluation.task import Task, TestRows
from rocscope.multiclass.cost_matrix import CostMatrix


def scorers_of(scoring: Any, task: Task) -> dict[str, Any]:
    """Return functions of a fitted model, its `Scored` rows and these rows, by name.

    Raises
    ------
    InputError
        If two have the same name, or one is none of a name, a scorer, costs and a function.

    Examples
    --------
    >>> from rocscope.evaluation.task import task_of
    >>> task = task_of([[0], [1]], [0, 1], None, None, "auto")
    >>> list(scorers_of(["roc_auc", Context(cost_fn=5)], task)), list(scorers_of({"area": "roc_auc"}, task))
    (['roc_auc', 'expected cost'], ['area'])
    """
    if scoring is None:
        return {}
    pairs: Iterable[tuple[str | None, Any]]
    if isinstance(scoring, Mapping):
        pairs = [(str(name), each) for name, each in scoring.items()]
    else:
        several = isinstance(scoring, Sequence | Set) and not isinstance(scoring, str | Context | CostMatrix)
        pairs = ((None, each) for each in (scoring if several else [scoring]))  # one by one: the first may be none
    found: dict[str, Any] = {}
    for given, each in pairs:
        own, function = _named(each, task)
        name = own if given is None else given
        if name in found:
            hint = "pass a mapping from names of your own to scorers"
            raise InputError("scoring", expected="a different name for each", got=f"{name!r} twice", hint=hint)
        found[name] = function
    return found


def _named(scorer: Any, task: Task) -> tuple[str, Any]:
    fetched = sklearn_scorer(scorer) if isinstance(scorer, str) else None
    if fetched is not None:
        return scorer, _OfModel(fetched, coded=task.positive is not None)
    if (function := getattr(scorer, "_score_func", None)) is not None:
        return getattr(function, "__name__", "scorer"), _OfModel(scorer)
    if callable(scorer) and _positional(scorer) >= 3:
        return getattr(scorer, "__name__", type(scorer).__name__), _OfModel(scorer)
    if not (isinstance(scorer, str | Context | CostMatrix) or callable(scorer)):
        expected = "a name such as 'roc_auc', a scorer, a Context or CostMatrix, or a function of Predictions"
        raise InputError("scoring", expected=expected, got=repr(scorer))
    measure = measure_of(cast(Metric, scorer), several_classes=task.positive is None)
    return measure.name, _OfPredictions(measure, task)


def _positional(function: Callable[..., Any]) -> int:
    """Return how many arguments must be given by place: three to a scorer, one to a function of predictions."""
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):
        return 0
    kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return sum(each.kind in kinds and each.default is Parameter.empty for each in parameters)


@dataclass(frozen=True)
class _OfPredictions:
    """A measure of the predictions of the rows."""

    measure: Measure
    task: Task

    @property
    def sign(self) -> int:
        return self.measure.sign

    def __call__(self, fitted: Any, scored: Any, rows: TestRows) -> float:  # noqa: ARG002 (asks the scores alone)
        return self.measure.of(of_one(self.task, rows.labels, scored, rows.weight), scored.response)


@dataclass(frozen=True)
class _OfModel:
    """A scorer of scikit-learn. A coded one is shown 1 for the positive class, whatever that is called."""

    scorer: Any
    coded: bool = False
    sign: ClassVar[int] = 1

    def __call__(self, fitted: Any, scored: Any, rows: TestRows) -> float:  # noqa: ARG002 (asks the model itself)
        if (function := getattr(self.scorer, "_score_func", None)) is None:
            fitted = fitted.model
        labels, classes = rows.labels, getattr(fitted, "classes_", None)
        if self.coded and classes is not None and not rows.positive == max(classes) == 1:
            fitted, labels = OneForPositive(fitted, rows.positive), (labels == rows.positive).astype(int)
        weighted = rows.weight is not None and function and "sample_weight" in signature(function).parameters
        return float(self.scorer(fitted, rows.X, labels, **({"sample_weight": rows.weight} if weighted else {})))


class OneForPositive(ClassifierMixin, BaseEstimator):
    """A fitted classifier of two classes that calls the positive one 1 and the other one 0."""

    def __init__(self, fitted: Any, positive: Any) -> None:
        self.fitted, self.positive = fitted, positive
        self.classes_ = np.array([0, 1])

    def predict(self, X: Any) -> Array:
        return (np.asarray(self.fitted.predict(X)).ravel() == self.positive).astype(int)

    @available_if(lambda self: hasattr(self.fitted, "predict_proba"))
    def predict_proba(self, X: Any) -> Array:
        values = np.asarray(self.fitted.predict_proba(X))
        return values if self._is_last else values[:, ::-1]

    @available_if(lambda self: hasattr(self.fitted, "decision_function"))
    def decision_function(self, X: Any) -> Array:
        values = np.asarray(self.fitted.decision_function(X))
        return values if self._is_last else -values

    @property
    def _is_last(self) -> bool:
        return list(self.fitted.classes_).index(self.positive) == 1
