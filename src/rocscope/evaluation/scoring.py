"""Get scores or class probabilities from a fitted model."""

from collections.abc import Hashable, Sequence
from functools import wraps
from typing import Any, Literal

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.errors import InputError, ModelError
from rocscope.multiclass.classes import factorized

Response = Literal["auto", "predict_proba", "decision_function", "predict"]

LABELS = "labels"
"""The response of a model of two classes that has neither probabilities nor a decision function: 1 or 0 a row."""

RESPONSES = ("auto", "predict_proba", "decision_function", "predict")


class AskedOnce:
    """A fitted model that answers once for each table, and remembers: scores, labels and scorers ask the same.

    Parameters
    ----------
    model : fitted estimator
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self._answers: dict[tuple[str, int], tuple[Any, Any]] = {}

    @property
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return type(self.model)  # whose name stands in messages

    def __getattr__(self, name: str) -> Any:
        if name in ("model", "_answers"):  # asked before they are set, as by pickle
            raise AttributeError(name)
        own = getattr(self.model, name)
        if name not in RESPONSES:
            return own

        @wraps(own)
        def ask(X: Any) -> Any:
            place = name, id(X)
            if place not in self._answers:
                self._answers[place] = own(X), X  # a table that is kept has its id for itself
            return self._answers[place][0]

        return ask


def response_of(model: Any, wanted: str, known: Sequence[str]) -> str | None:
    """Return the method that provides scores: the requested one, or the first known one that the model has."""
    return next((method for method in (known if wanted == "auto" else (wanted,)) if hasattr(model, method)), None)


def score(
    fitted: Any, name: str, X: Any, classes: Sequence[Hashable], positive: int | None, wanted: str
) -> tuple[Array, str]:
    """Return a fitted model's scores for rows, and the method used.

    `positive` is the place of the positive class, or None where each class has an entry.
    """
    known = ("predict_proba", "decision_function" if positive is not None else "predict")
    response = response_of(fitted, wanted, known)
    if response is None and wanted == "auto" and hasattr(fitted, "predict") and not _is_regressor(fitted):
        return positive_scores(fitted, X, classes, positive or 0, "predict"), LABELS
    if response is None and wanted != "auto":
        raise ModelError(f"model {name!r}", expected=wanted, got="a model without it")
    if response is None:
        hint = "response='predict' takes its predicted labels"
        raise ModelError(f"model {name!r}", expected=" or ".join(known), got="a model with neither", hint=hint)
    if positive is None:
        return class_scores(fitted, X, classes, response), response
    scores = positive_scores(fitted, X, classes, positive, response)
    return check.check_scores(scores, name=f"{response} of {name!r}"), response


def positive_scores(fitted: Any, X: Any, classes: Sequence[Hashable], positive: int, response: str) -> Array:
    """Return one score per row; a model fitted without the positive class gives it probability 0."""
    values = np.asarray(getattr(fitted, response)(X))
    label = classes[positive]
    if response == "predict":
        return values if _is_regressor(fitted) else np.asarray(values == label).astype(np.int8)
    known = list(getattr(fitted, "classes_", classes))
    if label not in known:
        return np.zeros(len(values))
    place = known.index(label)
    if values.ndim == 2:
        return values[:, place]
    return values if place == len(known) - 1 else -values


def own_labels(fitted: Any, X: Any, classes: Sequence[Hashable]) -> Array | None:
    """Return a fitted model's own labels for rows; None if they are not the classes."""
    if not hasattr(fitted, "predict") or _is_regressor(fitted):
        return None
    labels = np.asarray(fitted.predict(X))
    if labels.ndim == 2 and labels.shape[1] == 1:  # as some boosting libraries give them
        labels = labels[:, 0]
    known = labels.ndim == 1 and set(factorized(labels)[0]) <= set(classes)
    return labels if known else None


def _is_regressor(fitted: Any) -> bool:
    from sklearn.base import is_regressor

    return is_regressor(fitted)


def class_scores(fitted: Any, X: Any, classes: Sequence[Hashable], response: str = "predict_proba") -> Array:
    """Return a probability per class, 0 for classes missing in fitting; or the predicted labels."""
    if response == "decision_function":
        expected = "predict_proba or predict for more than two classes"
        raise InputError("response", expected=expected, got="'decision_function'")
    values = np.asarray(getattr(fitted, response)(X))
    if response == "predict":
        return values
    known = list(getattr(fitted, "classes_", classes))
    if known == list(classes):
        return values
    full = np.zeros((len(values), len(classes)), values.dtype)
    full[:, [classes.index(label) for label in known]] = values
    return full
