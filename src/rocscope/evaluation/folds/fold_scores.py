"""One value per model and fold: what comparisons over folds start from."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any, cast

import numpy as np

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.core.rows import Rows
from rocscope.errors import InputError, PairingError, ScoreError, ShapeError
from rocscope.evaluation.measures import Judged, Metric, measure_of
from rocscope.sample import refusal


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
    sign : int
        −1 where a small value is good.
    """

    models: tuple[str, ...]
    values: Array
    repeats: int | None
    test_share: float | None
    quantity: str
    sign: int = 1

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

    @property
    def variance_factor(self) -> float:
        """By what the variance over folds is multiplied for that of their mean, as they share training rows.

        1/n + ρ/(1 − ρ) for n folds that each test the share ρ of the rows (Nadeau & Bengio 2003).
        """
        share = self.require_test_share()
        return 1 / self.values.shape[1] + share / (1 - share)

    def mean_difference(self, i: int, j: int) -> tuple[float, float]:
        """Return the mean over folds of model j less model i, and its standard error.

        It is of the differences themselves, so that equal ones have exactly none.
        """
        difference = self.values[j] - self.values[i]
        variance = difference.var(ddof=1) * self.variance_factor if np.ptp(difference) else 0.0
        return float(difference.mean()), sqrt(variance)


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
    if isinstance(scores, Rows):
        found = _of_predictions(cast(Judged, scores), metric)
    elif hasattr(scores, "items"):
        found = _of_arrays(scores)
    else:
        raise refusal("scores", "Predictions with folds, or a mapping from model to array", scores)
    if len(found.models) < 2:
        raise InputError("models to compare", expected="two or more", got=f"{len(found.models)}")
    if found.values.shape[1] < 2:
        raise InputError("folds", expected="two or more", got=f"{found.values.shape[1]}")
    share = found.test_share if test_share is None else float(test_share)
    return FoldScores(found.models, check.read_only(found.values), found.repeats, share, found.quantity, found.sign)


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


def _of_predictions(preds: Judged, metric: Metric) -> FoldScores:
    measure = measure_of(metric, several_classes=hasattr(preds, "classes"))
    responses = getattr(preds.source, "responses", {})
    parts = list(preds.by_fold().items())
    repeats = [_repeat_of(part) for _, part in parts]
    order = sorted(range(len(parts)), key=lambda i: (repeats[i], i))
    values = np.empty((len(preds.models), len(parts)))
    for row, model in enumerate(preds.models):
        for column, i in enumerate(order):
            fold, part = parts[i]
            value = measure.of(part.select(models=[model]), responses.get(model, ""))
            if not np.isfinite(value):
                subject = f"{measure.name} of {model!r} in fold {fold!r}"
                hint = "it has none where the fold lacks a class that it needs"
                raise ScoreError(subject, expected="a number", got=f"{value}", hint=hint)
            values[row, column] = value
    each, count = np.unique(repeats, return_counts=True)
    equal = bool((count == count[0]).all())
    # Folds of one repeat share its rows out; a single one leaves open how many rows trained it.
    share = 1 / int(count[0]) if equal and count[0] > 1 and _complete(preds, each.size) else None
    models = tuple(preds.models)
    return FoldScores(models, values, each.size if equal else None, share, measure.name, measure.sign)


def _repeat_of(part: Judged) -> Any:
    repeat = getattr(part, "repeat", None)
    return 0 if repeat is None else repeat[0]


def _complete(preds: Judged, repeats: int) -> bool:
    """Whether each repeat tests all rows once, as far as the predictions tell."""
    source = preds.source
    return source is None or len(preds) == repeats * (source.rows_read - source.rows_dropped)
