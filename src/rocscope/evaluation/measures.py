"""Measures: one number of the predictions of one model, and whether a large one is good."""

from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from typing import Any, cast

import numpy as np

from rocscope._base import validation as check
from rocscope.calibration.scores import brier, log_loss
from rocscope.core.context import Context
from rocscope.core.point import OperatingPoint
from rocscope.core.predictions import Predictions
from rocscope.curves.rate_curves import precision_recall
from rocscope.curves.roc_curve import auc
from rocscope.decisions.criteria import criterion_of
from rocscope.errors import InputError, OneClassError
from rocscope.evaluation.assembly import Judged
from rocscope.metrics import METRICS
from rocscope.multiclass.calibration import multiclass_brier, multiclass_log_loss
from rocscope.multiclass.class_areas import VARIANTS, multiclass_auc
from rocscope.multiclass.cost_matrix import CostMatrix
from rocscope.multiclass.predictions import MulticlassPredictions
from rocscope.multiclass.table_statistics import ALIASES, STATISTICS, averaged

Metric = str | Context | CostMatrix | Callable[[Any], float]

_OF_SCORES: dict[str, Callable[[Predictions], float]] = {
    "auc": auc,
    "average_precision": lambda preds: precision_recall(preds).average_precision,
    "brier": brier,
    "log_loss": log_loss,
}
_OF_DECISIONS = ["youden", "closest_topleft", "f1", "f2", *(name for name in METRICS if name != "prevalence")]
_OF_CLASSES: dict[str, Callable[[MulticlassPredictions], float]] = {
    "auc": lambda preds: multiclass_auc(preds).hand_till.value,
    **{name: lambda preds, name=name: multiclass_auc(preds).average(name).value for name in VARIANTS},
    "brier": multiclass_brier,
    "log_loss": multiclass_log_loss,
}
_AVERAGES = ("macro", "micro", "weighted")
_SMALL_IS_GOOD = {"brier", "log_loss", "error"}
_MEANS_OF_ROWS = {"accuracy", "error", "brier", "log_loss"}


@dataclass(frozen=True)
class Measure:
    """What models are judged by.

    Attributes
    ----------
    name : str
    function : of predictions and the threshold above which they are positive where they brought no decisions
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
    """Return the measure of that name, the expected cost in a context, or what a function of predictions makes.

    Raises
    ------
    InputError
        If the name is not known, or not for so many classes.

    Examples
    --------
    >>> measure_of("brier", several_classes=False).sign, measure_of(Context(cost_fn=5), several_classes=False).name
    (-1, 'expected cost')
    """
    if isinstance(metric, Context | CostMatrix):
        return _cost(metric, several_classes)
    if callable(metric):
        name = getattr(metric, "__name__", "metric").replace("<lambda>", "metric")
        return Measure(name, lambda preds, _: metric(preds), -1 if larger_is_better is False else 1)
    return _of_classes(metric) if several_classes else _of_two(metric)


def _cost(metric: Context | CostMatrix, several_classes: bool) -> Measure:
    if several_classes != isinstance(metric, CostMatrix):
        expected, hint = (
            ("a CostMatrix", "") if several_classes else ("a Context", "Context.from_cost_matrix makes one")
        )
        raise InputError("metric", expected=expected, got=f"a {type(metric).__name__}", hint=hint)
    if isinstance(metric, CostMatrix):
        return Measure("expected cost", lambda preds, _: metric.expected(preds.confusion()), -1, True)
    whole = metric.target_prevalence is None
    return Measure("expected cost", lambda preds, cut: _expected_cost(metric, decided(preds, cut)), -1, whole)


def _expected_cost(context: Context, point: OperatingPoint) -> float:
    if context.target_prevalence is None:
        return context.cost(point) / point.n
    return context.expected_cost(point.tpr, point.fpr, point.prevalence)


def decided(preds: Predictions, threshold: float) -> OperatingPoint:
    """Return the counts of one model as it decides itself; at a threshold where it brought no decisions."""
    return preds.point(threshold=None if preds.decisions else threshold)


def _of_two(name: str) -> Measure:
    if name in _OF_SCORES:
        of_scores = _OF_SCORES[name]
        return Measure(name, lambda preds, _: of_scores(preds), _sign(name), name in _MEANS_OF_ROWS)
    if name not in _OF_DECISIONS:
        raise _unknown(name, [*_OF_SCORES, *_OF_DECISIONS])
    criterion = criterion_of(name)

    def value(preds: Predictions, threshold: float) -> float:
        point = decided(preds, threshold)
        return float(criterion.value(*(np.float64(cell) for cell in (point.tp, point.fp, point.fn, point.tn))))

    return Measure(name, value, criterion.sign, name in _MEANS_OF_ROWS)


def _of_classes(name: str) -> Measure:
    if name in _OF_CLASSES:
        of_probabilities = _OF_CLASSES[name]
        return Measure(name, lambda preds, _: of_probabilities(preds), _sign(name), name in _MEANS_OF_ROWS)
    if name in STATISTICS:
        statistic = STATISTICS[name]
        return Measure(name, lambda preds, _: statistic(preds.confusion().counts), _sign(name), name in _MEANS_OF_ROWS)
    averaging, _, metric = str(name).partition("_")
    metric = "f_score" if metric == "f1" else ALIASES.get(metric, metric)
    if averaging not in _AVERAGES or metric not in METRICS:
        averages = [f"{each}_{metric}" for each in _AVERAGES for metric in ("precision", "recall", "f1")]
        raise _unknown(name, [*_OF_CLASSES, *STATISTICS, *averages])
    sign = 1 if metric == "f_score" else criterion_of(metric).sign
    return Measure(name, lambda preds, _: averaged(preds.confusion().counts, metric, cast(Any, averaging)), sign)


def _sign(name: str) -> int:
    return -1 if name in _SMALL_IS_GOOD else 1


def _unknown(name: Any, known: list[str]) -> InputError:
    hint = "or a Context or CostMatrix, or a function of Predictions that returns a number"
    return InputError("metric", expected=check.one_of(str(name), known), got=repr(name), hint=hint)
