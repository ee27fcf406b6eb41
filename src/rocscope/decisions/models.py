"""What decisions are made from, and what they are applied to: the counts and the scores of named models."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.core.counts import ThresholdCounts
from rocscope.core.point import OperatingPoint
from rocscope.core.predictions import Predictions
from rocscope.errors import ColumnError, InputError, ShapeError
from rocscope.ranges.binned import BinnedCounts
from rocscope.ranges.known_points import KnownPoints, known_points
from rocscope.ranges.sketch import CountsSketch

Counted = ThresholdCounts | BinnedCounts | CountsSketch | OperatingPoint
Models = Predictions | Counted | Mapping[str, Counted]


def by_model(models: Models) -> dict[str, ThresholdCounts]:
    """Return the exact counts of each model; those of a crisp one have the levels 1 and 0.

    Raises
    ------
    InputError
        If there is no model, or something else is given.
    InexactCountsError
        If bins leave levels open.
    """
    counts = points_by_model(models)
    for name, each in counts.items():
        each.require_levels(f"counts of {name!r}")
    return counts


def points_by_model(models: Models) -> dict[str, ThresholdCounts]:
    """Return what `by_model` does; and of BinnedCounts that leave levels open, the points that they tell."""
    if isinstance(models, Predictions):
        return {model: models.counts(model) for model in models.models}
    if isinstance(models, Counted):
        return {"score": _counts(models, "models")}
    if not isinstance(models, Mapping):
        got, hint = f"a {type(models).__name__}", "of labels and scores make Predictions(y_true, y_score)"
        expected = "Predictions, ThresholdCounts or a mapping of them by name"
        raise InputError("models", expected=expected, got=got, hint=hint)
    if not models:
        raise InputError("models", expected="at least one model", got="none")
    return {str(name): _counts(each, f"models[{name!r}]") for name, each in models.items()}


def _counts(counts: Any, name: str) -> ThresholdCounts:
    if isinstance(counts, OperatingPoint):
        return ThresholdCounts.from_point(counts)
    if isinstance(counts, BinnedCounts | CountsSketch):
        return known_points(counts)
    if not isinstance(counts, ThresholdCounts):
        raise InputError(name, expected="ThresholdCounts or an OperatingPoint", got=f"a {type(counts).__name__}")
    return counts


def attained(counts: ThresholdCounts) -> ThresholdCounts:
    """Return counts whose every point is surely one of the curve."""
    return counts.ends if isinstance(counts, KnownPoints) else counts


def is_open(counts: ThresholdCounts) -> bool:
    """Whether there may be points beyond the hull of those that are known."""
    return isinstance(counts, KnownPoints) and not counts.binned.holds_hull


def best_case(counts: ThresholdCounts) -> ThresholdCounts:
    """Return counts whose hull lies nowhere below that of the curve."""
    return counts.binned.optimistic() if isinstance(counts, KnownPoints) and is_open(counts) else attained(counts)


def scores_of(models: Iterable[str], scores: Any) -> dict[str, Array]:
    """Return the checked scores of the models that are needed.

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


def predict(scores: Array, threshold: float, negated: bool = False) -> NDArray[np.bool_]:
    """Return whether each score is at least the threshold, compared exactly; below it, if negated.

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
