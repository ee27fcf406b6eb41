"""Metrics of one model's predictions, and whether high values are good."""
# MERGED-DOC: """Scorers: what models are judged by inside `evaluate`, as users of scikit-learn write it.
#
# A scorer of scikit-learn is asked about the fitted model, as `cross_validate` does. Anything else is a measure of
# predictions.
# """

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from inspect import Parameter, signature
from math import nan
from typing import Any, ClassVar, cast

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.core.context import Context
from rocscope.core.counts import OperatingPoint
from rocscope.core.predictions import Predictions
from rocscope.errors import InputError, OneClassError
from rocscope.evaluation.fitting import Judged, Task, TestRows, of_one
from rocscope.figures.influence import Figure
from rocscope.figures.registry import figure_named, known
from rocscope.multiclass.areas import VARIANTS, multiclass_auc
from rocscope.multiclass.calibration import multiclass_brier, multiclass_log_loss
from rocscope.multiclass.confusion import STATISTICS, averaged
from rocscope.multiclass.costs import CostMatrix
from rocscope.multiclass.predictions import MulticlassPredictions

Metric = str | Context | CostMatrix | Callable[[Any], float]
"""A figure by name, costs, a function of Predictions, or a scorer of scikit-learn."""

_OF_CLASSES: dict[str, Callable[[MulticlassPredictions], float]] = {
    "auc": lambda preds: multiclass_auc(preds).hand_till.value,
    **{name: lambda preds, name=name: multiclass_auc(preds).average(name).value for name in VARIANTS},
    "brier": multiclass_brier,
    "log_loss": multiclass_log_loss,
}
_AS_SKLEARN = {
    "roc_auc_ovr": "aunu",
    "roc_auc_ovr_weighted": "aunp",
    "roc_auc_ovo": "hand_till",
    "roc_auc_ovo_weighted": "ovo_weighted",
}
_AVERAGES = ("macro", "micro", "weighted")
_EXPECTED = "a figure of which a high or a low value is good, such as 'auc' or 'accuracy'"
_HINT = "or a Context or CostMatrix, or a function of Predictions that returns a number"
_MEANS_OF_ROWS = {"accuracy", "error", "brier", "log_loss"}


@dataclass(frozen=True)
class Measure:
    """What models are evaluated by.

    Attributes
    ----------
    name : str
    function : of predictions and the threshold above which they are positive where they brought no decisions
    sign : int
        −1 where a small number is good.
    mean_of_rows : bool
        Whether it is the mean of a number for each row.
    needs_scores : bool
        Whether labels alone do not define it.
    """

    name: str
    function: Callable[[Any, float], float]
    sign: int = 1
    mean_of_rows: bool = False
    needs_scores: bool = False

    def of(self, preds: Judged, response: str) -> float:
        """Return the value; NaN if a required class is missing.

        Raises
        ------
        InputError
            If it needs scores, and the model gives labels only.
        """
        if self.needs_scores and response == "labels":
            got = f"model {preds.models[0]!r}, which gives labels only"
            hint = "response='predict' takes its labels for scores"
            raise InputError(self.name, expected="scores", got=got, hint=hint)
        try:
            return float(self.function(preds, 0.0 if response == "decision_function" else 0.5))
        except OneClassError:
            return nan


def measure_of(metric: Metric, *, several_classes: bool, larger_is_better: bool | None = None) -> Measure:
    """Return the measure of a name, the expected cost in a context, or a function of predictions.

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
    if hasattr(metric, "_score_func"):
        return _of_scorer(metric)
    if callable(metric):
        name = getattr(metric, "__name__", "metric").replace("<lambda>", "metric")
        return Measure(name, lambda preds, _: metric(preds), -1 if larger_is_better is False else 1)
    if known(str(metric)) is None and (scorer := sklearn_scorer(str(metric))) is not None and metric not in _AS_SKLEARN:
        if several_classes and str(metric).rpartition("_")[2] in _AVERAGES:
            return _of_classes(metric)
        return _of_scorer(scorer)
    return _of_classes(metric) if several_classes else _of_two(metric)


def _of_scorer(scorer: Any) -> Measure:
    """Return the measure of a scikit-learn scorer, `make_scorer(…)` or `get_scorer(…)`: the value of its function.

    The function is given the labels of the rows as 0 and 1 (or as the numbers of the classes), and what the scorer asks
    for: labels, scores or probabilities.
    """
    function, options = scorer._score_func, dict(scorer._kwargs)
    if options.get("pos_label", 1) not in (0, 1, None):
        hint = "rows hold 1 for the positive class and 0 for the other"
        raise InputError("pos_label of the scorer", expected="0 or 1", got=repr(options["pos_label"]), hint=hint)
    asked = getattr(scorer, "_response_method", "predict")
    name = getattr(function, "__name__", "scorer")

    def value(preds: Judged, cut: float) -> float:
        if isinstance(preds, MulticlassPredictions):
            said: Any = preds.predicted() if asked == "predict" else preds.probabilities()
        else:
            (score,) = preds.scores.values()
            said = score if asked != "predict" else next(iter(preds.decisions.values()), score >= cut).astype(int)
        weight = {} if preds.sample_weight is None else {"sample_weight": preds.sample_weight}
        try:
            return float(function(np.asarray(preds.y_true).astype(int), said, **options, **weight))
        except (ValueError, TypeError) as error:
            raise InputError(f"metric {name!r}: {str(error).splitlines()[0]}") from error

    return Measure(name, value, scorer._sign, needs_scores=asked != "predict")


def sklearn_scorer(name: str) -> Any:
    """Return scikit-learn's scorer of that name, or None."""
    from sklearn.metrics import get_scorer, get_scorer_names

    return get_scorer(name) if name in get_scorer_names() else None


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
    """Return the counts of one model's own decisions, or at a threshold if it has none."""
    return preds.point(threshold=None if preds.decisions else threshold)


def _of_two(name: str) -> Measure:
    figure = figure_named(name, "metric", expected=_EXPECTED, suits=_suits, hint=_HINT)
    if figure.needs == "cells":
        return Measure(figure.name, lambda preds, cut: _of_decisions(figure, decided(preds, cut)), *_kind(figure))
    needs_scores = figure.needs in ("ranks", "probabilities")
    return Measure(figure.name, lambda preds, _: figure.value(preds.counts()), *_kind(figure), needs_scores)


def _suits(figure: Figure) -> bool:
    return figure.sign != 0 and figure.needs != "costs"


def _kind(figure: Figure) -> tuple[int, bool]:
    return figure.sign, figure.name in _MEANS_OF_ROWS


def _of_decisions(figure: Figure, point: OperatingPoint) -> float:
    assert figure.cells is not None
    return float(figure.cells(*(np.float64(cell) for cell in (point.tp, point.fp, point.fn, point.tn))))


def _of_classes(name: str) -> Measure:
    name = _AS_SKLEARN.get(str(name).lower(), name)
    if (ending := str(name).rpartition("_"))[2] in _AVERAGES and known(ending[0]):
        name = f"{ending[2]}_{ending[0]}"  # as scikit-learn has them: f1_macro
    figure = known(str(name))
    own = figure.name if figure and name not in _OF_CLASSES else name
    if own in _OF_CLASSES:
        of_probabilities = _OF_CLASSES[own]
        return Measure(own, lambda preds, _: of_probabilities(preds), _sign(own), own in _MEANS_OF_ROWS)
    if own in STATISTICS:
        statistic = STATISTICS[own]
        return Measure(own, lambda preds, _: statistic(preds.confusion().counts), _sign(own), own in _MEANS_OF_ROWS)
    averaging, _, metric = str(name).partition("_")
    each = known(metric)
    if averaging not in _AVERAGES or each is None or each.needs != "cells" or not each.sign:
        averages = [f"{each}_{metric}" for each in _AVERAGES for metric in ("precision", "recall", "f1")]
        listed = check.one_of(str(name), [*_OF_CLASSES, *STATISTICS, *averages])
        raise InputError("metric", expected=listed, got=repr(name), hint=_HINT)
    return Measure(name, lambda preds, _: averaged(preds.confusion().counts, metric, cast(Any, averaging)), each.sign)


def _sign(name: str) -> int:
    figure = known(name)
    return figure.sign if figure else 1


def scorers_of(scoring: Any, task: Task) -> dict[str, Any]:
    """Return functions of a fitted model, its `Scored` rows and these rows, by name.

    Raises
    ------
    InputError
        If two have the same name, or one is none of a name, a scorer, costs and a function.

    Examples
    --------
    >>> from rocscope.evaluation.task import task_of
    >>> task = task_of([[0], [1]], [0, 1], None, None, "auto")
    >>> list(scorers_of(["roc_auc", Context(cost_fn=5)], task)), list(scorers_of({"area": "roc_auc"}, task))
    (['roc_auc', 'expected cost'], ['area'])
    """
    if scoring is None:
        return {}
    pairs: Iterable[tuple[str | None, Any]]
    if isinstance(scoring, Mapping):
        pairs = [(str(name), each) for name, each in scoring.items()]
    else:
        several = isinstance(scoring, Sequence | Set) and not isinstance(scoring, str | Context | CostMatrix)
        pairs = ((None, each) for each in (scoring if several else [scoring]))  # one by one: the first may be none
    found: dict[str, Any] = {}
    for given, each in pairs:
        own, function = _named(each, task)
        name = own if given is None else given
        if name in found:
            hint = "pass a mapping from names of your own to scorers"
            raise InputError("scoring", expected="a different name for each", got=f"{name!r} twice", hint=hint)
        found[name] = function
    return found


def _named(scorer: Any, task: Task) -> tuple[str, Any]:
    fetched = sklearn_scorer(scorer) if isinstance(scorer, str) else None
    if fetched is not None:
        return scorer, _OfModel(fetched, coded=task.positive is not None)
    if (function := getattr(scorer, "_score_func", None)) is not None:
        return getattr(function, "__name__", "scorer"), _OfModel(scorer)
    if callable(scorer) and _positional(scorer) >= 3:
        return getattr(scorer, "__name__", type(scorer).__name__), _OfModel(scorer)
    if not (isinstance(scorer, str | Context | CostMatrix) or callable(scorer)):
        expected = "a name such as 'roc_auc', a scorer, a Context or CostMatrix, or a function of Predictions"
        raise InputError("scoring", expected=expected, got=repr(scorer))
    measure = measure_of(cast(Metric, scorer), several_classes=task.positive is None)
    return measure.name, _OfPredictions(measure, task)


def _positional(function: Callable[..., Any]) -> int:
    """Return how many arguments must be given by place: three to a scorer, one to a function of predictions."""
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):
        return 0
    kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return sum(each.kind in kinds and each.default is Parameter.empty for each in parameters)


@dataclass(frozen=True)
class _OfPredictions:
    """A measure of the predictions of the rows."""

    measure: Measure
    task: Task

    @property
    def sign(self) -> int:
        return self.measure.sign

    def __call__(self, fitted: Any, scored: Any, rows: TestRows) -> float:  # noqa: ARG002 (asks the scores alone)
        return self.measure.of(of_one(self.task, rows.labels, scored, rows.weight), scored.response)


@dataclass(frozen=True)
class _OfModel:
    """A scorer of scikit-learn. A coded one is shown 1 for the positive class, whatever that is called."""

    scorer: Any
    coded: bool = False
    sign: ClassVar[int] = 1

    def __call__(self, fitted: Any, scored: Any, rows: TestRows) -> float:  # noqa: ARG002 (asks the model itself)
        if (function := getattr(self.scorer, "_score_func", None)) is None:
            fitted = fitted.model
        labels, classes = rows.labels, getattr(fitted, "classes_", None)
        if self.coded and classes is not None and not rows.positive == max(classes) == 1:
            fitted, labels = OneForPositive(fitted, rows.positive), (labels == rows.positive).astype(int)
        weighted = rows.weight is not None and function and "sample_weight" in signature(function).parameters
        return float(self.scorer(fitted, rows.X, labels, **({"sample_weight": rows.weight} if weighted else {})))


class OneForPositive(ClassifierMixin, BaseEstimator):
    """A fitted classifier of two classes that calls the positive one 1 and the other one 0."""

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
