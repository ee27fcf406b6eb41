"""Metrics of one model's predictions, and scorers of fitted models.

`measure_of` converts a metric of any accepted type to a `Measure`, which computes the metric from the Predictions of
one model. A metric is the name of a rocscope metric or of a scikit-learn scorer, costs (a `Context` for two classes, a
`CostMatrix` for more), a scorer object, or a function of Predictions.

`scorers_of` converts the `scoring` argument of `evaluate` to functions of a fitted model. Scorers of scikit-learn
receive the fitted model, as in `cross_validate`. Every other metric is computed from the predictions of the model.

Metrics of decisions use the labels that a model predicts. If a model predicts no labels, the threshold is 0 for a
decision function and 0.5 otherwise.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any, ClassVar, cast

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from rocscope._base.arrays import Array
from rocscope.core import Context, OperatingPoint, Predictions
from rocscope.errors import InputError, OneClassError
from rocscope.evaluation import fitting
from rocscope.figures.registry import figure_named, known
from rocscope.multiclass import CostMatrix, MulticlassPredictions
from rocscope.multiclass.confusion import AVERAGINGS
from rocscope.multiclass.figures import NAMES_OF_AVERAGED_AUC, class_figure

Metric = str | Context | CostMatrix | Callable[[Any], float]
"""Type of a metric: a name, costs, a function of Predictions, or a scikit-learn scorer."""


_EXPECTED = "a metric with a direction (high or low values are good), such as 'auc' or 'accuracy'"
_HINT = "a Context, a CostMatrix and a function of Predictions are also accepted"


@dataclass(frozen=True)
class Measure:
    """Metric that is computed from the Predictions of one model.

    Attributes
    ----------
    name : str
        Name of the metric.
    function : callable
        Function ``function(predictions, threshold)`` that returns the value. It ignores the threshold if the
        predictions contain labels.
    sign : int
        1 if large values are good, −1 if small values are good.
    mean_of_rows : bool
        True if the metric is a mean over rows.
    needs_scores : bool
        True if the metric cannot be computed from predicted labels.
    """

    name: str
    function: Callable[[Any, float], float]
    sign: int = 1
    mean_of_rows: bool = False
    needs_scores: bool = False

    def of(self, preds: fitting.AnyPredictions, response: str) -> float:
        """Return the metric of predictions; NaN if the predictions lack a class that the metric needs.

        Raises
        ------
        InputError
            If the metric needs scores but the model predicts only labels.
        """
        if self.needs_scores and response == "labels":
            got = f"only predicted labels of model {preds.models[0]!r}"
            hint = "pass response='predict' to use the labels as scores"
            raise InputError(self.name, expected="scores", got=got, hint=hint)
        try:
            return float(self.function(preds, usual_threshold(response)))
        except OneClassError:
            return np.nan


def usual_threshold(response: str) -> float:
    """Return the threshold from which scikit-learn's models predict the positive label."""
    return 0.0 if response == "decision_function" else 0.5


def own_decisions(preds: Predictions, threshold: float) -> Array:
    """Return True for each row that the only model predicts positive.

    If the predictions contain no labels, rows with scores at or above the threshold are predicted positive.
    """
    if preds.decisions:
        (decisions,) = preds.decisions.values()
        return np.asarray(decisions)
    (score,) = preds.scores.values()
    return np.asarray(score >= threshold)


def _own_counts(preds: Predictions, threshold: float) -> OperatingPoint:
    return preds.point(threshold=None if preds.decisions else threshold)


def measure_of(
    metric: Metric, *, several_classes: bool, larger_is_better: bool | None = None, directed: bool = True
) -> Measure:
    """Convert a name, costs, a scorer or a function of predictions to a Measure.

    `larger_is_better` only applies to functions, because all other metrics have a known direction. With
    ``directed=False``, metrics are also accepted for which neither high nor low values are good.

    Raises
    ------
    InputError
        If the name is unknown, or if the metric is not defined for this number of classes.

    Examples
    --------
    >>> measure_of("brier", several_classes=False).sign, measure_of(Context(cost_fn=5), several_classes=False).name
    (-1, 'expected cost')
    """
    if isinstance(metric, Context | CostMatrix):
        return _cost(metric, several_classes)
    if hasattr(metric, "_score_func"):
        return _of_scorer(metric)
    if callable(metric):
        name = getattr(metric, "__name__", "metric").replace("<lambda>", "metric")
        return Measure(name, lambda preds, _: metric(preds), -1 if larger_is_better is False else 1)
    name = str(metric)
    # rocscope's own metrics come first, because they also have intervals. `_named_scorer` has the opposite order.
    if known(name) is None and name not in NAMES_OF_AVERAGED_AUC:
        # An average over classes, such as f1_macro, is computed from the confusion matrix instead.
        is_average = several_classes and name.rpartition("_")[2] in AVERAGINGS
        scorer = None if is_average else sklearn_scorer(name)
        if scorer is not None:
            return _of_scorer(scorer)
    return _of_classes(name) if several_classes else _of_two(name, directed)


def _of_scorer(scorer: Any) -> Measure:
    """Convert a scorer from scikit-learn's `make_scorer` or `get_scorer` to a Measure.

    The metric function of the scorer receives the true labels as 0 and 1 (for more classes, as class numbers), and the
    predicted labels, scores or probabilities, as the scorer requires.
    """
    function, options = scorer._score_func, dict(scorer._kwargs)
    if options.get("pos_label", 1) not in (0, 1, None):
        hint = "use 1 for the positive class or 0 for the negative class"
        raise InputError("pos_label of the scorer", expected="0 or 1", got=repr(options["pos_label"]), hint=hint)
    response = getattr(scorer, "_response_method", "predict")
    name = getattr(function, "__name__", "scorer")

    def value(preds: fitting.AnyPredictions, threshold: float) -> float:
        if isinstance(preds, MulticlassPredictions):
            predicted: Any = preds.predicted() if response == "predict" else preds.probabilities()
        elif response == "predict":
            predicted = own_decisions(preds, threshold).astype(int)
        else:
            (predicted,) = preds.scores.values()
            if options.get("pos_label") == 0:
                # The function treats class 0 as positive. As in scikit-learn its scores are 1 − p, or the negated
                # decision function.
                predicted = (1.0 if response == "predict_proba" else 0.0) - predicted
        weight = {} if preds.sample_weight is None else {"sample_weight": preds.sample_weight}
        try:
            return float(function(np.asarray(preds.y_true).astype(int), predicted, **options, **weight))
        except (ValueError, TypeError) as error:
            raise InputError(f"metric {name!r}: {str(error).splitlines()[0]}") from error

    return Measure(name, value, scorer._sign, needs_scores=response != "predict")


def sklearn_scorer(name: str) -> Any:
    """Return the scikit-learn scorer with this name; None if the name is unknown."""
    from sklearn.metrics import get_scorer, get_scorer_names

    return get_scorer(name) if name in get_scorer_names() else None


def _cost(metric: Context | CostMatrix, several_classes: bool) -> Measure:
    got = f"a {type(metric).__name__}"
    if isinstance(metric, CostMatrix):
        if not several_classes:
            raise InputError("metric", expected="a Context (two classes)", got=got, hint="use Context.from_cost_matrix")
        return Measure("expected cost", lambda preds, _: metric.expected(preds.confusion()), -1, mean_of_rows=True)
    if several_classes:
        raise InputError("metric", expected="a CostMatrix (several classes)", got=got)

    def cost_per_row(preds: Predictions, threshold: float) -> float:
        point = _own_counts(preds, threshold)
        if metric.target_prevalence is None:
            return metric.cost(point) / point.n
        return metric.expected_cost(point.tpr, point.fpr, point.prevalence)

    # At a different prevalence the cost is a weighted mean of the class means, not a mean over all rows.
    return Measure("expected cost", cost_per_row, -1, mean_of_rows=metric.target_prevalence is None)


def _of_two(name: str, directed: bool) -> Measure:
    """Return the Measure for the name of a two-class metric."""
    figure = figure_named(
        name,
        "metric",
        expected=_EXPECTED,
        suits=lambda figure: (figure.sign != 0 or not directed) and figure.needs != "costs",
        hint=_HINT,
    )
    cells = figure.cells
    if figure.needs != "cells" or cells is None:
        needs_scores = figure.needs in ("ranks", "probabilities")

        def value(preds: Predictions, _: float) -> float:
            return figure.value(preds.counts())

        return Measure(figure.name, value, figure.sign, figure.mean_of_rows, needs_scores)

    def of_decisions(preds: Predictions, threshold: float) -> float:
        point = _own_counts(preds, threshold)
        return float(cells(np.float64(point.tp), np.float64(point.fp), np.float64(point.fn), np.float64(point.tn)))

    return Measure(figure.name, of_decisions, figure.sign, figure.mean_of_rows)


def _of_classes(name: str) -> Measure:
    """Return the Measure for the name of a metric of more than two classes."""
    figure = class_figure(name, "metric", _HINT)
    return Measure(figure.name, lambda preds, _: figure.value(preds, None), figure.sign, figure.mean_of_rows)


def scorers_of(scoring: Any, task: fitting.Task) -> dict[str, Any]:
    """Convert the argument `scoring` of `evaluate` to a dict from name to scorer.

    Each scorer is called with a fitted model, the predictions as `Scored`, and the test rows.

    Raises
    ------
    InputError
        If two scorers have the same name, or if the type of a scorer is not accepted.

    Examples
    --------
    >>> from rocscope.evaluation.fitting import task_of
    >>> task = task_of([[0], [1]], [0, 1], None, None, "auto")
    >>> list(scorers_of(["roc_auc", Context(cost_fn=5)], task)), list(scorers_of({"area": "roc_auc"}, task))
    (['roc_auc', 'expected cost'], ['area'])
    """
    pairs: list[tuple[str | None, Any]]
    if isinstance(scoring, Mapping):
        pairs = [(str(name), scorer) for name, scorer in scoring.items()]
    elif isinstance(scoring, Sequence | Set) and not isinstance(scoring, str | Context | CostMatrix):
        pairs = [(None, scorer) for scorer in scoring]
    else:
        pairs = [(None, scoring)]
    scorers: dict[str, Any] = {}
    for given, scorer in pairs:
        own, function = _named_scorer(scorer, task)
        name = own if given is None else given
        if name in scorers:
            hint = "pass a dict from name to scorer"
            raise InputError("scoring", expected="distinct names of scorers", got=f"{name!r} twice", hint=hint)
        scorers[name] = function
    return scorers


def _named_scorer(scorer: Any, task: fitting.Task) -> tuple[str, Any]:
    """Return the name of a scorer, and a function that applies the scorer to a fitted model."""
    if hasattr(scorer, "measure"):  # of `rocscope.scorer`
        return scorer.figure, _PredictionsScorer(scorer.measure(several_classes=task.positive is None), task)
    if isinstance(scorer, str):
        # scikit-learn's scorers come first here, so that `evaluate` returns the same values as `cross_validate`.
        from_sklearn = sklearn_scorer(scorer)
        if from_sklearn is not None:
            return scorer, _ModelScorer(from_sklearn, coded=task.positive is not None)
    function = getattr(scorer, "_score_func", None)
    if function is not None:
        return getattr(function, "__name__", "scorer"), _ModelScorer(scorer)
    if callable(scorer) and _required_arguments(scorer) >= 3:
        return getattr(scorer, "__name__", type(scorer).__name__), _ModelScorer(scorer)
    if not (isinstance(scorer, str | Context | CostMatrix) or callable(scorer)):
        expected = "a name such as 'roc_auc', a scorer, a Context, a CostMatrix or a function of Predictions"
        raise InputError("scoring", expected=expected, got=repr(scorer))
    measure = measure_of(cast(Metric, scorer), several_classes=task.positive is None)
    return measure.name, _PredictionsScorer(measure, task)


def _required_arguments(function: Callable[..., Any]) -> int:
    """Return the number of required positional arguments of a function.

    A scorer has three (model, X, y), and a function of Predictions has one.
    """
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):
        return 0
    kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    required = [parameter for parameter in parameters if parameter.default is Parameter.empty]
    return sum(parameter.kind in kinds for parameter in required)


@dataclass(frozen=True)
class _PredictionsScorer:
    """Scorer that computes a metric from the predictions of a fitted model."""

    measure: Measure
    task: fitting.Task

    @property
    def sign(self) -> int:
        return self.measure.sign

    def __call__(self, fitted: Any, scored: fitting.Scored, rows: fitting.TestRows) -> float:  # noqa: ARG002
        preds = fitting.predictions_of_model(self.task, rows.labels, scored, rows.weight)
        return self.measure.of(preds, scored.response)


@dataclass(frozen=True)
class _ModelScorer:
    """Scorer that calls a scikit-learn scorer, or a function of (model, X, y).

    `coded` is True for a scorer that was passed by name. Such a scorer needs the positive class 1, so labels are
    translated to 0 and 1. A scorer object is not coded, because the user chose its `pos_label`. Scorers of scikit-learn
    return negated losses, so `sign` is always 1.
    """

    scorer: Any
    coded: bool = False
    sign: ClassVar[int] = 1

    def __call__(self, fitted: Any, scored: Any, rows: fitting.TestRows) -> float:  # noqa: ARG002
        function = getattr(self.scorer, "_score_func", None)
        if function is None:
            fitted = fitted.model  # a user's function gets the model, not the wrapper that caches predictions
        labels = rows.labels
        classes = getattr(fitted, "classes_", None)
        if self.coded and classes is not None:
            # A named scorer takes the last class as positive and calls it 1.
            is_as_named = rows.positive == 1 and max(classes) == 1
            if not is_as_named:
                labels = (labels == rows.positive).astype(int)
                fitted = PositiveAsOne(fitted, rows.positive)
        options = {}
        if rows.weight is not None and function and "sample_weight" in signature(function).parameters:
            options["sample_weight"] = rows.weight
        return float(self.scorer(fitted, rows.X, labels, **options))


class PositiveAsOne(ClassifierMixin, BaseEstimator):
    """Wrapper of a fitted two-class classifier: the positive class becomes 1 and the negative class 0."""

    def __init__(self, fitted: Any, positive: Any) -> None:
        self.fitted, self.positive = fitted, positive
        self.classes_ = np.array([0, 1])

    def predict(self, X: Any) -> Array:
        return (np.asarray(self.fitted.predict(X)).ravel() == self.positive).astype(int)

    @available_if(lambda self: hasattr(self.fitted, "predict_proba"))
    def predict_proba(self, X: Any) -> Array:
        values = np.asarray(self.fitted.predict_proba(X))
        return values if self._is_last else values[:, ::-1]

    @available_if(lambda self: hasattr(self.fitted, "decision_function"))
    def decision_function(self, X: Any) -> Array:
        values = np.asarray(self.fitted.decision_function(X))
        return values if self._is_last else -values

    @property
    def _is_last(self) -> bool:
        return list(self.fitted.classes_).index(self.positive) == 1
