"""Data of decisions: the counts and scores of named models, and predictions at a threshold."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.core.predictions import Predictions
from rocscope.errors import ColumnError, ShapeError


def scores_of(models: Iterable[str], scores: Any) -> dict[str, Array]:
    """Return the checked scores of the required models.

    Parameters
    ----------
    models : names
    scores : array, mapping from model name to array, Predictions, or data frame
        An array will do where one model is needed.

    Raises
    ------
    ColumnError
        If a model is missing.
    ShapeError, ScoreError
        If the scores are of different length or not finite numbers.
    """
    names = list(dict.fromkeys(models))
    if isinstance(scores, Predictions):
        scores = scores.scores
    columns = getattr(scores, "columns", None)
    if columns is None and not isinstance(scores, Mapping):
        if len(names) > 1:
            raise ColumnError("scores", expected=f"a mapping with the models {names}", got="one array")
        return {names[0]: check.check_scores(scores)}
    present = [str(name) for name in (scores if columns is None else columns)]
    for name in names:
        if name not in present:
            raise ColumnError(
                f"scores of model {name!r} are missing", expected="them among the scores", got=str(present)
            )
    checked = {name: check.check_scores(np.asarray(scores[name]), name=f"scores[{name!r}]") for name in names}
    if len({column.size for column in checked.values()}) > 1:
        sizes = ", ".join(f"{name}: {column.size}" for name, column in checked.items())
        raise ShapeError("scores", expected="one score a case from each model", got=sizes)
    return checked


def size_of(scores: Any) -> int:
    """Return the number of cases in scores, in any form that `scores_of` accepts."""
    if isinstance(scores, Predictions):
        return len(scores)
    columns = scores if isinstance(scores, Mapping) else getattr(scores, "columns", None)
    if columns is None:
        return check.check_scores(scores).size
    names = list(columns)
    if not names:
        raise ColumnError("scores", expected="a column for each model", got="none")
    return check.check_column(scores[names[0]], f"scores[{names[0]!r}]").size


def predict(scores: Array, threshold: float, negated: bool = False) -> NDArray[np.bool_]:
    """Return whether each score is at least the threshold (compared exactly); below it, if negated.

    Examples
    --------
    A float32 score just above the threshold is not rounded onto it, nor the threshold onto the score:

    >>> predict(np.array([0.1, 0.2], np.float32), 0.1)
    array([ True,  True])
    >>> predict(np.array([2**53, 2**53 + 1]), 2**53 + 1)
    array([False,  True])
    """
    if math.isinf(threshold):
        positive = np.full(scores.size, threshold < 0)
    elif scores.dtype.kind == "f":
        cut = float(threshold)
        positive = scores >= np.float64(cut if cut >= threshold else math.nextafter(cut, math.inf))
    else:
        limits = np.iinfo(scores.dtype)
        whole = math.ceil(threshold)
        inside = limits.min <= whole <= limits.max
        positive = scores >= scores.dtype.type(whole) if inside else np.full(scores.size, whole < 0)
    return ~positive if negated else positive
