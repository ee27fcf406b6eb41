"""Fitting a copy of a model to some rows, and scoring others with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from rocscope._types import Array
from rocscope.errors import InputError
from rocscope.evaluation.data import rows_of
from rocscope.evaluation.record import Failure
from rocscope.evaluation.scoring import own_labels, score
from rocscope.evaluation.task import Task
from rocscope.protocols.splits import Split

_WANTS_NUMBERS = "Invalid classes inferred from unique values of `y`"
"""What XGBoost says of labels that are not 0, 1, 2, …, and a search around it repeats."""


@dataclass(frozen=True)
class Scored:
    """Scores of the test rows of one split: one a row; or k a row, or predicted labels. And the model's own labels.

    `seconds` are those of the fit, and of all that was asked of it.
    """

    model: str
    split: Split
    scores: Array
    response: str
    decisions: Array | None = None
    seconds: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class Failed:
    """Where a model failed, and its own error."""

    failure: Failure
    cause: Exception


def named_models(models: Any) -> dict[str, Any]:
    """Return models by name: that of a mapping or pair, or of their classes, of which equal ones are numbered.

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
        pairs = [model if _is_pair(model) else (class_name(model), model) for model in each]
        named = dict(zip(_distinct([name for name, _ in pairs]), (model for _, model in pairs), strict=True))
    if not named:
        raise InputError("models", expected="at least one model", got="none")
    for name, model in named.items():
        if isinstance(model, type) or not hasattr(model, "fit"):
            got = f"the class {model.__name__}" if isinstance(model, type) else f"a {type(model).__name__}"
            hint = "make an instance of it" if isinstance(model, type) else ""
            raise InputError(f"models[{name!r}]", expected="an estimator with fit", got=got, hint=hint)
    return named


def _is_pair(model: Any) -> bool:
    return isinstance(model, tuple) and len(model) == 2 and isinstance(model[0], str)


def class_name(model: Any) -> str:
    """Return the name of a model's class; of a pipeline that of its last step."""
    while getattr(model, "steps", None) and not isinstance(model, type):
        model = model.steps[-1][1]
    return type(model).__name__


def _distinct(names: Sequence[str]) -> list[str]:
    return [f"{name} {k}" if (k := names[: i + 1].count(name)) > 1 else name for i, name in enumerate(names)]


def attempt(name: str, model: Any, task: Task, split: Split) -> Scored | Failed:
    """Fit and score as `fit_and_score` does, but return what goes wrong: one model must not lose the others."""
    try:
        return fit_and_score(name, model, task, split)
    except Exception as error:  # noqa: BLE001 (a model may raise anything)
        said = f"{type(error).__name__}: {first_line(error)}"
        return Failed(Failure(name, split.fold, split.repeat, said, split.training_rows), error)


def fit_and_score(name: str, model: Any, task: Task, split: Split) -> Scored:
    """Fit a copy of a model to the training rows and score the test rows; an error gets a note of where it was."""
    try:
        begin = perf_counter()
        fitted = fit(name, model, task, split)
        between = perf_counter()
        X = rows_of(task.X, split.test)
        scores, response = score(fitted, name, X, task.classes, task.positive, task.response)
        decisions = own_labels(fitted, X, task.classes) if task.decided else None
    except Exception as error:
        error.add_note(f"while {name} was cross-validated, in fold {split.fold}")
        raise
    return Scored(name, split, scores, response, decisions, (between - begin, perf_counter() - between))


def first_line(error: Exception) -> str:
    """Return the first line of what an error says."""
    return (str(error).strip() or "no message").splitlines()[0]


def fit(name: str, model: Any, task: Task, split: Split | None = None) -> Any:
    """Return a copy of a model that is fitted to the training rows of a split, or to all rows."""
    from sklearn.base import clone
    from sklearn.utils.validation import _check_method_params

    copy: Any = clone(model)
    arguments = task.arguments.get(name, {})
    if split is None:
        return _fitted(copy, task.X, task.labels, arguments)
    if task.seed is not None:
        _set_seeds(copy, np.random.SeedSequence(task.seed, spawn_key=split.key))
    own = _check_method_params(task.X, dict(arguments), indices=split.train) if arguments else {}
    return _fitted(copy, rows_of(task.X, split.train), task.labels[split.train], own)


def _fitted(model: Any, X: Any, labels: Array, arguments: Mapping[str, Any]) -> Any:
    """Return a fitted model; one that takes no classes but 0, 1, 2, … is given numbers, and names what it answers."""
    try:
        return model.fit(X, labels, **arguments)
    except ValueError as error:
        if _WANTS_NUMBERS not in str(error):
            raise
    classes, code = np.unique(labels, return_inverse=True)
    return Numbered(model.fit(X, code, **arguments), classes)


class Numbered:
    """A fitted model that knows its classes by number, and answers by name.

    Parameters
    ----------
    model : classifier fitted to 0, …, k − 1
    classes : array of k labels
    """

    def __init__(self, model: Any, classes: Array) -> None:
        self.model = model
        self.classes_ = classes

    def predict(self, X: Any) -> Array:
        """Return the label that the model gives each row."""
        return self.classes_[np.asarray(self.model.predict(X), dtype=np.intp)]

    def __getattr__(self, name: str) -> Any:
        if name == "model":  # asked before it is set, as by pickle
            raise AttributeError(name)
        return getattr(self.model, name)


def _set_seeds(model: Any, seeds: np.random.SeedSequence) -> None:
    """Give a seed to each part of a model that draws and has none."""
    parameters = model.get_params(deep=True)
    open_ = sorted(n for n, v in parameters.items() if n.rpartition("__")[2] == "random_state" and v is None)
    model.set_params(**dict(zip(open_, (int(s) >> 1 for s in seeds.generate_state(len(open_))), strict=True)))
