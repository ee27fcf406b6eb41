"""Measures: one number of the predictions of one model, and whether a large one is good."""

from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from rocscope import _validation as check
from rocscope.calibration.scores import brier, log_loss
from rocscope.core.predictions import Predictions
from rocscope.curves.precision_recall_curve import precision_recall
from rocscope.curves.roc_curve import auc
from rocscope.decisions.criteria import criterion_of
from rocscope.errors import InputError, OneClassError
from rocscope.evaluation.assembly import Judged
from rocscope.metrics import METRICS
from rocscope.multiclass.areas.auc import multiclass_auc
from rocscope.multiclass.predictions import MulticlassPredictions

Metric = str | Callable[[Any], float]

_OF_SCORES: dict[str, Callable[[Predictions], float]] = {
    "auc": auc,
    "average_precision": lambda preds: precision_recall(preds).average_precision,
    "brier": brier,
    "log_loss": log_loss,
}
_AT_THRESHOLD = ["youden", "closest_topleft", "f1", "f2", *(name for name in METRICS if name != "prevalence")]
_OF_CLASSES: dict[str, Callable[[MulticlassPredictions], float]] = {
    "auc": lambda preds: multiclass_auc(preds).hand_till.value,
    "accuracy": lambda preds: 1 - _error(preds),
    "error": lambda preds: _error(preds),
}
_SMALL_IS_GOOD = {"brier", "log_loss"}
_MEANS_OF_ROWS = {"accuracy", "error", "brier", "log_loss"}


def _error(preds: MulticlassPredictions) -> float:
    return float(np.average(preds.predicted() != preds.y_true, weights=preds.sample_weight))


@dataclass(frozen=True)
class Measure:
    """What models are judged by.

    Attributes
    ----------
    name : str
    function : of predictions and the threshold above which they are positive
    sign : int
        −1 where a small number is good.
    mean_of_rows : bool
        Whether it is the mean of a number for each row.
    """

    name: str
    function: Callable[[Any, float], float]
    sign: int = 1
    mean_of_rows: bool = False

    def of(self, preds: Judged, response: str) -> float:
        """Return the number; NaN where a class is missing that it needs."""
        try:
            return float(self.function(preds, 0.0 if response == "decision_function" else 0.5))
        except OneClassError:
            return nan


def measure_of(metric: Metric, *, several_classes: bool, larger_is_better: bool | None = None) -> Measure:
    """Return the measure of that name, or made of a function of predictions.

    Raises
    ------
    InputError
        If the name is not known, or not for more than two classes.

    Examples
    --------
    >>> measure_of("brier", several_classes=False).sign
    -1
    """
    if callable(metric):
        name = getattr(metric, "__name__", "metric").replace("<lambda>", "metric")
        return Measure(name, lambda preds, _: metric(preds), -1 if larger_is_better is False else 1)
    if several_classes:
        check.check_choice("metric", metric, list(_OF_CLASSES))
        function = _OF_CLASSES[metric]
        return Measure(metric, lambda preds, _: function(preds), -1 if metric == "error" else 1, metric != "auc")
    if metric in _OF_SCORES:
        of_scores = _OF_SCORES[metric]
        sign = -1 if metric in _SMALL_IS_GOOD else 1
        return Measure(metric, lambda preds, _: of_scores(preds), sign, metric in _MEANS_OF_ROWS)
    if metric not in _AT_THRESHOLD:
        hint = "or a function of Predictions that returns a number"
        expected = check.one_of(str(metric), [*_OF_SCORES, *_AT_THRESHOLD])
        raise InputError("metric", expected=expected, got=repr(metric), hint=hint)
    criterion = criterion_of(metric)
    return Measure(metric, _at_threshold(criterion.value), criterion.sign, metric in _MEANS_OF_ROWS)


def _at_threshold(value: Callable[..., Any]) -> Callable[[Predictions, float], float]:
    def function(preds: Predictions, threshold: float) -> float:
        point = preds.counts().at(threshold)
        return float(value(*(np.float64(cell) for cell in (point.tp, point.fp, point.fn, point.tn))))

    return function
