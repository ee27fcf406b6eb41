"""From a fitted classifier to one score a row, higher for the positive class."""

from typing import Any

import numpy as np

from rocscope._types import Array
from rocscope.errors import InputError, LabelError

METHODS = ("predict_proba", "decision_function")


def response_method(estimator: Any, wanted: str = "auto", methods: tuple[str, ...] = METHODS) -> str:
    """Return the method that scores come from: the first of those known that the estimator has.

    Raises
    ------
    InputError
        If it has none, or not the one that is wanted.
    """
    known = methods if wanted == "auto" else (wanted,)
    for method in known:
        if method in methods and hasattr(estimator, method):
            return method
    expected = "a classifier with " + " or ".join(known if wanted in ("auto", *methods) else methods)
    raise InputError("estimator", expected=expected, got=f"{type(estimator).__name__}, response_method={wanted!r}")


def positive_scores(model: Any, X: Any, pos_label: Any, method: str) -> Array:
    """Return a score a row; a model that was fitted without the positive class gives it probability 0."""
    response = np.asarray(getattr(model, method)(X))
    place = np.flatnonzero(model.classes_ == pos_label)
    if method == "predict_proba":
        return response[:, place[0]] if place.size else np.zeros(len(response))
    if len(model.classes_) != 2 or not place.size:
        raise LabelError("decision_function", expected="a model fitted to both classes", got=repr(model.classes_))
    response = response.reshape(-1)
    return response if place[0] == 1 else -response


def all_probabilities(model: Any, X: Any, classes: Array) -> Array:
    """Return a column a class, 0 for classes that the model was fitted without."""
    proba = np.asarray(model.predict_proba(X))
    if len(model.classes_) == len(classes):
        return proba
    full = np.zeros((len(proba), len(classes)), proba.dtype)
    full[:, np.searchsorted(classes, model.classes_)] = proba
    return full
