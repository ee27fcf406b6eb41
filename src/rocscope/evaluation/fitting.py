"""Fitting a model to some rows and scoring others: seeds, weights, and which of its methods gives the scores."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rocscope import _validation as check
from rocscope.errors import InputError, ModelError
from rocscope.evaluation.data import rows_of
from rocscope.evaluation.record import Failure
from rocscope.protocols.splits import Split

Array = NDArray[Any]
Response = Literal["auto", "predict_proba", "decision_function", "predict"]

RESPONSES = ("auto", "predict_proba", "decision_function", "predict")


@dataclass(frozen=True)
class Task:
    """What all fits share.

    `labels` are as the user gave them and `positive` is the place of the positive class among `classes`, or None
    where there are more than two.
    """

    X: Any
    labels: Array
    classes: tuple[Any, ...]
    positive: int | None
    weight: Array | None
    response: Response
    seed: int | None


@dataclass(frozen=True)
class Scored:
    """Scores of the test rows of one split: one a row; or k a row, or the places of predicted classes."""

    model: str
    split: Split
    scores: Array
    response: str


@dataclass(frozen=True)
class Failed:
    """Where a model failed, and its own error."""

    failure: Failure
    cause: Exception


def named_models(models: Any) -> dict[str, Any]:
    """Return models by name: a mapping's own, or those of their classes, of which equal ones are numbered.

    Raises
    ------
    InputError
        If there is none, or one is no estimator.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> list(named_models([DummyClassifier(), DummyClassifier()]))
    ['DummyClassifier', 'DummyClassifier 2']
    """
    if isinstance(models, Mapping):
        named = {str(name): model for name, model in models.items()}
        if len(named) < len(models):
            raise InputError("models", expected="a different name for each", got="names that are equal as text")
    else:
        each = list(models) if isinstance(models, list | tuple) else [models]
        named = dict(zip(_distinct([class_name(model) for model in each]), each, strict=True))
    if not named:
        raise InputError("models", expected="at least one model", got="none")
    for name, model in named.items():
        if isinstance(model, type) or not hasattr(model, "fit"):
            got = f"the class {model.__name__}" if isinstance(model, type) else f"a {type(model).__name__}"
            hint = "make an instance of it" if isinstance(model, type) else ""
            raise InputError(f"models[{name!r}]", expected="an estimator with fit", got=got, hint=hint)
    return named


def class_name(model: Any) -> str:
    """Return the name of a model's class; of a pipeline that of its last step."""
    while getattr(model, "steps", None) and not isinstance(model, type):
        model = model.steps[-1][1]
    return type(model).__name__


def _distinct(names: Sequence[str]) -> list[str]:
    return [f"{name} {k}" if (k := names[: i + 1].count(name)) > 1 else name for i, name in enumerate(names)]


def fit_and_score(name: str, model: Any, task: Task, split: Split) -> Scored | Failed:
    """Fit a copy of a model to the training rows and score the test rows."""
    try:
        fitted = fit(model, task, split.train, split.key)
        scores, response = score(fitted, name, rows_of(task.X, split.test), task)
    except Exception as error:  # noqa: BLE001 (a model may raise anything, and must not lose the others)
        said = f"{type(error).__name__}: {first_line(error)}"
        failure = Failure(name, split.fold, split.repeat, said, split.training_rows)
        return Failed(failure, error)
    return Scored(name, split, scores, response)


def first_line(error: Exception) -> str:
    """Return the first line of what an error says."""
    return (str(error).strip() or "no message").splitlines()[0]


def fit(model: Any, task: Task, rows: Array, key: tuple[int, ...]) -> Any:
    """Return a copy of a model, fitted to some rows; `key` tells its seed from those of other fits."""
    from sklearn.base import clone

    copy: Any = clone(model)
    if task.seed is not None:
        _set_seeds(copy, np.random.SeedSequence(task.seed, spawn_key=key))
    weights = {} if task.weight is None else weight_arguments(copy, task.weight[rows])
    return copy.fit(rows_of(task.X, rows), task.labels[rows], **weights)


def _set_seeds(model: Any, seeds: np.random.SeedSequence) -> None:
    """Give a seed to each part of a model that draws and has none."""
    parameters = model.get_params(deep=True)
    open_ = sorted(n for n, v in parameters.items() if n.rpartition("__")[2] == "random_state" and v is None)
    model.set_params(**dict(zip(open_, (int(s) >> 1 for s in seeds.generate_state(len(open_))), strict=True)))


def weight_arguments(model: Any, weight: Array) -> dict[str, Any]:
    """Return the arguments of `fit` that bring the weights to the model, none where it takes none.

    With scikit-learn's metadata routing it is the model that says which of its parts asks for them.
    """
    from sklearn import get_config

    if not get_config().get("enable_metadata_routing"):
        name = _weight_name(model)
        return {} if name is None else {name: weight}
    from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

    mapping = MethodMapping().add(caller="fit", callee="fit")
    router = MetadataRouter(owner="rocscope.evaluate").add(model=model, method_mapping=mapping)
    try:
        return process_routing(router, "fit", sample_weight=weight)["model"]["fit"]
    except TypeError:  # no part of it asks for weights
        return {}


def _weight_name(model: Any) -> str | None:
    steps = getattr(model, "steps", None)
    if steps:
        inner = _weight_name(steps[-1][1])
        return inner and f"{steps[-1][0]}__{inner}"
    taken = signature(model.fit).parameters
    if "sample_weight" in taken:
        return "sample_weight"
    passes_on = any(each.kind is Parameter.VAR_KEYWORD for each in taken.values())
    inner = getattr(model, "estimator", None)  # of a search, which hands its arguments to what it fits
    return _weight_name(inner) if passes_on and inner is not None else None


def takes_weights(name: str, model: Any) -> bool:
    """Whether `fit` gets the weights.

    Raises
    ------
    ModelError
        If metadata routing is on and a part of the model does not say whether it asks for them.
    """
    try:
        return bool(weight_arguments(model, np.ones(1)))
    except ValueError as error:
        raise ModelError(f"model {name!r}: {first_line(error)}") from error


def score(fitted: Any, name: str, X: Any, task: Task) -> tuple[Array, str]:
    """Return what a fitted model says of rows, and which of its methods said it."""
    response = _response(fitted, name, task)
    values = np.asarray(getattr(fitted, response)(X))
    if task.positive is None:
        return _of_classes(values, fitted, response, task), response
    scores = _of_positive(values, fitted, response, task)
    return check.check_scores(scores, name=f"{response} of {name!r}"), response


def _response(fitted: Any, name: str, task: Task) -> str:
    if task.response != "auto":
        if not hasattr(fitted, task.response):
            raise ModelError(f"model {name!r}", expected=task.response, got="a model without it")
        return task.response
    wanted = ("predict_proba", "decision_function" if task.positive is not None else "predict")
    found = next((method for method in wanted if hasattr(fitted, method)), None)
    if found is None:
        raise ModelError(
            f"model {name!r}",
            expected=" or ".join(wanted),
            got="a model with neither",
            hint="response='predict' takes its predicted labels",
        )
    return found


def _of_positive(values: Array, fitted: Any, response: str, task: Task) -> Array:
    """Return a score for each row that is higher the more it is positive."""
    positive = task.classes[task.positive or 0]
    if response == "predict":
        return values if _is_regressor(fitted) else np.asarray(values == positive).astype(np.int8)
    known = list(getattr(fitted, "classes_", task.classes))
    if positive not in known:
        return np.zeros(len(values))
    place = known.index(positive)
    if values.ndim == 2:
        return values[:, place]
    return values if place == len(known) - 1 else -values


def _is_regressor(fitted: Any) -> bool:
    from sklearn.base import is_regressor

    return is_regressor(fitted)


def _of_classes(values: Array, fitted: Any, response: str, task: Task) -> Array:
    """Return a probability for each class, 0 for those that the model has not seen; or the predicted labels."""
    if response == "predict":
        return values
    if response == "decision_function":
        expected = "predict_proba or predict for more than two classes"
        raise InputError("response", expected=expected, got="'decision_function'")
    known: list[Hashable] = list(getattr(fitted, "classes_", task.classes))
    full = np.zeros((len(values), len(task.classes)))
    full[:, [task.classes.index(label) for label in known]] = values
    return full
