"""class_weights: one weight per class, chosen for a target on rows."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.errors import InputError, ScoreError, warn
from rocscope.multiclass.costs.matrix import CostMatrix
from rocscope.multiclass.predictions import MulticlassPredictions, predictions_of
from rocscope.multiclass.tables.confusion import ConfusionMatrix
from rocscope.multiclass.weights.class_decision import ClassWeights
from rocscope.multiclass.weights.line_search import Problem
from rocscope.multiclass.weights.objective import NAMES, Name, Objective
from rocscope.multiclass.weights.search import best_of_starts, greedy, some_rows
from rocscope.multiclass.weights.smooth import fit_recalibration

Method = Literal["auto", "smooth", "coordinate", "greedy"]

METHODS = ("auto", "smooth", "coordinate", "greedy")


def class_weights(
    y_true: Any,
    proba: Any = None,
    *,
    model: str | None = None,
    objective: Name | CostMatrix = "accuracy",
    method: Method = "auto",
    min_recall: Any = None,
    classes: Any = None,
    sample_weight: Any = None,
    random_state: Any = 0,
) -> ClassWeights:
    """Weights of the classes for which predicting argmax of w·p does best.

    Parameters
    ----------
    y_true : MulticlassPredictions, or array of n labels
        Rows that the model was not trained on: from another sample, or out of fold.
    proba : n × k array
    model : str, optional
        Which model of the predictions; of several the one with the best objective on these rows when left out.
    objective : {"accuracy", "balanced_accuracy", "macro_f1"} or CostMatrix
    method : {"auto", "smooth", "coordinate", "greedy"}
        "smooth" fits a temperature and a bias per class by likelihood and decides by Bayes' rule. "coordinate" is
        ascent with exact line search from several starts, "greedy" the method of Lachiche & Flach; both look at the
        objective on the rows alone. "auto" takes what does best on held-out folds: "smooth"; "coordinate" for
        macro-F1, and under constraints.
    min_recall : float, or mapping from class to float, optional
        Least share of a class that must be found, with "coordinate" or "greedy".
    classes, sample_weight : see `MulticlassPredictions`
    random_state : int, Generator, RandomState or None
        Of the random starts.

    Raises
    ------
    InputError
        If the method does not serve the objective; see also `MulticlassPredictions`.

    Warns
    -----
    RocscopeWarning
        Where no weights were found that meet `min_recall`.

    Notes
    -----
    Along one weight the confusion matrix is constant between neighbouring values of max(w_j·p_j)/p_c, so that one
    sort finds the global optimum of that weight. Coordinate ascent is never worse, on these rows, than equal weights
    or greedy ones; that it is better there need not hold elsewhere. See docs/guide/class-weights.md for a trial over 25
    data sets. With more than 20,000 rows the starts are improved on a random part. O(sweeps·k·(n·k + n log n)).

    References
    ----------
    Lachiche & Flach 2003, "Improving accuracy and cost of two-class and multi-class probabilistic classifiers using
    ROC curves", ICML; Alexandari, Kundaje & Shrikumar 2020 (bias-corrected temperature scaling).

    Examples
    --------
    >>> y = ["a"] * 4 + ["b"] * 2
    >>> proba = np.array([[9, 1], [8, 2], [9, 1], [7, 3], [6, 4], [6, 4]]) / 10
    >>> class_weights(y, proba, method="greedy")
    ClassWeights({'a': 0.7311, 'b': 1.368}, accuracy=1 (equal weights: 0.666667), greedy, model='score')
    """
    check.check_choice("method", method, METHODS)
    preds = predictions_of(y_true, proba, name="y_true", classes=classes, sample_weight=sample_weight)
    models = [model] if model is not None or len(preds.models) == 1 else list(preds.proba)
    seed = check.seed_of(random_state)
    found = [_of_model(preds, name, objective, method, min_recall, seed) for name in models]
    if not found:
        raise ScoreError("models", expected="probabilities of at least one", got="predicted labels only")
    target = Objective.of(objective, preds.support, preds.classes, min_recall)
    return max(found, key=lambda decision: target.score(decision.confusion.counts))


def _of_model(
    preds: MulticlassPredictions, model: str | None, objective: Any, method: Method, min_recall: Any, seed: int
) -> ClassWeights:
    problem = _problem(preds, model, objective, min_recall)
    name = model or preds.models[0]
    if method == "auto":
        method = "coordinate" if problem.objective.least_hits.any() or objective == "macro_f1" else "smooth"
    if method == "smooth":
        return replace(_smooth(problem, preds, objective), model=name)
    weight = greedy(problem)
    if method == "coordinate":
        smooth = fit_recalibration(*some_rows(problem, seed)).class_weight
        weight = best_of_starts(problem, [weight, smooth], seed)
    return replace(_decision(problem, preds, weight / np.exp(np.log(weight).mean()), method), model=name)


def _problem(preds: MulticlassPredictions, model: str | None, objective: Any, min_recall: Any) -> Problem:
    proba, weight = preds.probabilities(model), preds.sample_weight
    y, support = preds.y_true, preds.support
    if weight is None:
        weight = np.ones(1)
    elif not weight.all():
        y, proba, weight = y[weight > 0], proba[weight > 0], weight[weight > 0]
    target = Objective.of(objective, support, preds.classes, min_recall)
    return Problem(y, np.ascontiguousarray(proba, dtype=np.float64), weight.astype(np.float64), target)


def _smooth(problem: Problem, preds: MulticlassPredictions, objective: Name | CostMatrix) -> ClassWeights:
    if problem.objective.gain is None or problem.objective.least_hits.any():
        raise InputError(
            "method='smooth'",
            expected=f"one of {NAMES[:2]} or a cost matrix, and no constraint",
            got="min_recall" if problem.objective.least_hits.any() else "'macro_f1'",
            hint="use method='coordinate'",
        )
    found = fit_recalibration(problem.y, problem.proba, problem.weight)
    balanced = objective == "balanced_accuracy"
    weight = found.balanced_weight(problem.objective.support) if balanced else found.class_weight
    cost = objective if isinstance(objective, CostMatrix) else None
    counts = None if cost is None else problem.table(cost.decide(found.probabilities(problem.proba)))
    return replace(_decision(problem, preds, weight, "smooth", counts), temperature=found.temperature, cost=cost)


def _decision(
    problem: Problem, preds: MulticlassPredictions, weight: Array, method: str, counts: Array | None = None
) -> ClassWeights:
    objective = problem.objective
    counts = problem.counts(weight) if counts is None else counts
    score = objective.score(counts)
    if score[0] < 0:
        warn(f"no class weights were found that meet min_recall; {-score[0]:g} cases are lacking")
    value, at_one = objective.value(score), objective.value(problem.score(np.ones(problem.k)))
    matrix = ConfusionMatrix(counts.astype(preds.support.dtype), classes=preds.classes, rows="actual")
    return ClassWeights(preds.classes, weight, 1.0, None, objective.name, method, value, at_one, matrix)
