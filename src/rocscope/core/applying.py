"""Scores of new cases, in any form in which users pass them, and predictions at a threshold."""

import math
from collections.abc import Iterable, Mapping
from typing import Any, cast

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array, Booleans
from rocscope.core.predictions import Predictions
from rocscope.errors import ColumnError, ShapeError


def scores_of(models: Iterable[str], scores: Any) -> dict[str, Array]:
    """Return the checked scores of the required models.

    Parameters
    ----------
    models : iterable of str
        Names of the required models.
    scores : array, mapping from model name to array, Predictions, or data frame
        Scores with one array per model. If only one model is required, a single array is allowed.

    Raises
    ------
    ColumnError
        If a required model has no scores.
    ShapeError, ScoreError
        If the scores have different lengths or are not finite numbers.
    """
    names = list(dict.fromkeys(models))
    columns = _columns_of(scores)
    if columns is None:
        if len(names) > 1:
            raise ColumnError("scores", expected=f"a mapping with the models {names}", got="one array")
        return {names[0]: check.check_scores(scores, name="scores")}
    if isinstance(scores, Predictions):
        scores = scores.scores
    present = [str(name) for name in columns]
    for name in names:
        if name not in present:
            got = f"the columns {present}"
            raise ColumnError(f"scores of model {name!r}", expected=f"a column {name!r}", got=got)
    checked = {name: check.check_scores(np.asarray(scores[name]), name=f"scores[{name!r}]") for name in names}
    if len({column.size for column in checked.values()}) > 1:
        sizes = ", ".join(f"{column.size} of {name!r}" for name, column in checked.items())
        raise ShapeError("scores", expected="the same number of scores from each model", got=sizes)
    return checked


def size_of(scores: Any) -> int:
    """Return the number of cases, given scores of any type that `scores_of` accepts."""
    if isinstance(scores, Predictions):
        return len(scores)
    columns = _columns_of(scores)
    if columns is None:
        return check.check_scores(scores).size
    if not columns:
        raise ColumnError("scores", expected="a column for each model", got="no columns")
    return check.check_column(scores[columns[0]], f"scores[{columns[0]!r}]").size


def _columns_of(scores: Any) -> list[Any] | None:
    """Return the names of the columns of a data frame or mapping; None for a single array."""
    given: Any = scores.scores if isinstance(scores, Predictions) else scores
    columns: Any = getattr(given, "columns", None)  # of a data frame
    if columns is None and isinstance(given, Mapping):
        return list(cast("Mapping[Any, Any]", given))
    return None if columns is None else list(columns)


def predict(scores: Array, threshold: float, negated: bool = False) -> Booleans:
    """Return True for each score that is at least the threshold; if negated, for each score below the threshold.

    Examples
    --------
    The comparison is exact: a float32 score and a float64 threshold are not rounded to a common type.

    >>> predict(np.array([0.1, 0.2], np.float32), 0.1)
    array([ True,  True])
    >>> predict(np.array([2**53, 2**53 + 1]), 2**53 + 1)
    array([False,  True])
    """
    if math.isinf(threshold):
        positive = np.full(scores.size, threshold < 0)
    elif scores.dtype.kind == "f":
        # If float64 rounds the threshold down, such as a large integer, take the next float above it.
        # With a float64 threshold NumPy does not round the threshold to float32 scores.
        least = float(threshold)
        if least < threshold:
            least = math.nextafter(least, math.inf)
        positive = scores >= np.float64(least)
    else:
        # Integers are compared as integers, because float64 would round integers above 2^53.
        least = math.ceil(threshold)
        limits = np.iinfo(scores.dtype)
        if limits.min <= least <= limits.max:
            positive = scores >= scores.dtype.type(least)
        else:
            positive = np.full(scores.size, least < 0)
    return ~positive if negated else positive
