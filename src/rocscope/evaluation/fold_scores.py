"""One value per model and fold: what comparisons over folds start from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope import _validation as check
from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import Predictions
from rocscope.curves.roc import auc
from rocscope.errors import InputError, OneClassError, PairingError, ScoreError, ShapeError
from rocscope.metrics import METRICS

Array = NDArray[Any]
Metric = str | Callable[[ThresholdCounts], Any]

DEFAULT_THRESHOLD = 0.5


@dataclass(frozen=True, eq=False)
class FoldScores:
    """A metric of m models on the same n folds.

    Attributes
    ----------
    models : tuple of m names
    values : m × n array
        Folds of one repeat are neighbours.
    repeats : int or None
        How many repeats of equally many folds these are; None where that is not known.
    test_share : float or None
        Share of the rows that a fold tests; None where that is not known.
    quantity : str
    """

    models: tuple[str, ...]
    values: Array
    repeats: int | None
    test_share: float | None
    quantity: str

    def require_test_share(self) -> float:
        """Return the share of the rows that a fold tests.

        Raises
        ------
        InputError
            If it was not given and does not follow from the folds.
        """
        if self.test_share is None:
            hint = "0.1 for ten-fold cross-validation; or pass arrays of repeats × folds"
            raise InputError("test_share", expected="the share of the rows that a fold tests", hint=hint)
        return self.test_share


def fold_scores(scores: Any, metric: Metric = "auc", test_share: float | None = None) -> FoldScores:
    """Return the values of at least two models from arrays of them, or from predictions with folds.

    Raises
    ------
    PairingError
        If models have different numbers of folds.
    InputError
        If there are fewer than two models or folds, or no fold column.
    ScoreError
        If a value is missing or infinite.
    """
    if test_share is not None:
        check.check_share(test_share, "test_share")
    if isinstance(scores, Predictions):
        found = _of_predictions(scores, metric)
    elif isinstance(scores, Mapping):
        found = _of_arrays(scores)
    else:
        raise InputError("scores", expected="Predictions, or a mapping from model to array", got=type(scores).__name__)
    if len(found.models) < 2:
        raise InputError("models to compare", expected="two or more", got=f"{len(found.models)}")
    if found.values.shape[1] < 2:
        raise InputError("folds", expected="two or more", got=f"{found.values.shape[1]}")
    share = found.test_share if test_share is None else float(test_share)
    return FoldScores(found.models, check.read_only(found.values), found.repeats, share, found.quantity)


def _of_arrays(scores: Mapping[Any, Any]) -> FoldScores:
    arrays = {str(name): np.asarray(values) for name, values in scores.items()}
    if not arrays:
        raise InputError("models to compare", expected="two or more", got="0")
    (first, shape), *_ = [(name, values.shape) for name, values in arrays.items()]
    if len(shape) not in (1, 2):
        raise ShapeError(f"scores[{first!r}]", expected="folds, or repeats × folds", got=f"{len(shape)} dimensions")
    for name, values in arrays.items():
        if values.shape != shape:
            raise PairingError("scores", expected=f"{shape} as of {first!r}", got=f"{values.shape} of {name!r}")
        if values.dtype.kind not in "iuf" or not np.isfinite(values).all():
            raise ScoreError(f"scores[{name!r}]", expected="finite numbers", got=_what_is_wrong(values))
    stacked = np.stack([values.ravel() for values in arrays.values()]).astype(np.float64)
    if len(shape) == 1:
        return FoldScores(tuple(arrays), stacked, None, None, "score")
    return FoldScores(tuple(arrays), stacked, shape[0], 1 / shape[1] if shape[1] > 1 else None, "score")


def _what_is_wrong(values: Array) -> str:
    if values.dtype.kind not in "iuf":
        return f"values of type {values.dtype}"
    return check.count_and_first(~np.isfinite(values.ravel()), "missing or infinite").replace("row", "fold")


def _of_predictions(preds: Predictions, metric: Metric) -> FoldScores:
    function, quantity = metric_of(metric)
    parts = list(preds.by_fold().items())
    repeats = [_repeat_of(part) for _, part in parts]
    order = sorted(range(len(parts)), key=lambda i: (repeats[i], i))
    values = np.empty((len(preds.models), len(parts)))
    for row, model in enumerate(preds.models):
        for column, i in enumerate(order):
            values[row, column] = _value(function, *parts[i], model, quantity)
    each, count = np.unique(repeats, return_counts=True)
    equal = bool((count == count[0]).all())
    # Folds of one repeat share its rows out; a single one leaves open how many rows trained it.
    share = 1 / int(count[0]) if equal and count[0] > 1 and _complete(preds, each.size) else None
    return FoldScores(tuple(preds.models), values, each.size if equal else None, share, quantity)


def _value(function: Callable[..., Any], fold: Any, part: Predictions, model: str, quantity: str) -> float:
    try:
        value = float(function(part.counts(model)))
    except OneClassError as error:
        raise OneClassError(f"{quantity} of {model!r} in fold {fold!r}: {error}") from None
    if not np.isfinite(value):
        raise ScoreError(f"{quantity} of {model!r}", expected="a value in each fold", got=f"{value} in {fold!r}")
    return value


def _repeat_of(part: Predictions) -> Any:
    repeat = getattr(part, "repeat", None)
    return 0 if repeat is None else repeat[0]


def _complete(preds: Predictions, repeats: int) -> bool:
    """Whether each repeat tests all rows once, as far as the predictions tell."""
    source = preds.source
    return source is None or len(preds) == repeats * (source.rows_read - source.rows_dropped)


def metric_of(metric: Metric) -> tuple[Callable[[ThresholdCounts], Any], str]:
    """Return a function of counts, and its name; metrics of a 2 × 2 table are taken at threshold 0.5."""
    if callable(metric):
        return metric, getattr(metric, "__name__", "metric").replace("<lambda>", "metric")
    if metric == "auc":
        return auc, "AUC"
    check.check_choice("metric", metric, ("auc", *METRICS))
    return lambda counts: getattr(counts.at(DEFAULT_THRESHOLD), metric), metric
