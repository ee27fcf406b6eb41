"""Class weights: multiply class probabilities p by weights w and predict the class with the largest product.

An `Objective` computes the value of a confusion matrix: accuracy, balanced accuracy, macro-F1 or cost, possibly with a
minimum recall of each class. A `Problem` contains the rows to predict. There are three methods to find the weights:

- "coordinate": `line_search` varies the weight of one class. The prediction of a row changes only where the weighted
  probability of this class equals the largest weighted probability of the other classes. After sorting these n values,
  one pass finds the exact optimum. `coordinate_ascent` repeats the search for all classes in turn, from several starts.
- "greedy": set the weight of one class after another (Lachiche & Flach 2003).
- "smooth": fit a temperature and a bias per class by maximum likelihood (`fit_recalibration`), and decide by Bayes'
  rule.

The public function `class_weights` returns a `ClassWeights`, which predicts classes and can be saved.
"""

import os
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import optimize, special

from rocscope._base import class_names, validation as check
from rocscope._base.arrays import Array, Indices
from rocscope._base.atomic_write import JSON, write_file
from rocscope._base.contract import contract, made_by_contract
from rocscope._base.formatting import alike
from rocscope._base.json_format import Fields, Format
from rocscope.core import Result, html_table, jsonable
from rocscope.errors import InputError, ScoreError, warn
from rocscope.figures.conditions import Condition
from rocscope.multiclass.calibration import LabelledLogs
from rocscope.multiclass.confusion import ConfusionMatrix, averaged_cells, averaged_metric, check_probabilities
from rocscope.multiclass.costs import REJECTED, CostMatrix
from rocscope.multiclass.predictions import MulticlassPredictions, predictions_of

# Objectives

Name = Literal["accuracy", "balanced_accuracy", "macro_f1"]

NAMES = ("accuracy", "balanced_accuracy", "macro_f1")

Score = tuple[float, float]
"""Pair that is compared lexicographically: minus the shortfall of the constraints, and the value to maximise.
"""


@dataclass(frozen=True, eq=False)
class Objective:
    """Value to maximise, with constraints on recalls and on averages over classes.

    Attributes
    ----------
    name : str
        "accuracy", "balanced_accuracy", "macro_f1" or "cost".
    gain : k × k array or None
        Gain from a case of each actual class (row) if it is predicted as each class (column). It is None for macro-F1,
        because macro-F1 is not a sum over cases.
    support : array of k counts
        Number of cases of each class.
    least_recall : array of k shares
        Minimum recall of each class.
    conditions : tuple of Condition
        Bounds on the accuracy, or on averages of a metric over classes, such as ``macro_precision >= 0.8``.
    """

    name: str
    gain: Array | None
    support: Array
    least_recall: Array
    conditions: tuple[Condition, ...] = ()

    @classmethod
    def of(
        cls, target: "Name | CostMatrix", support: Array, classes: Any, min_recall: Any = None, subject_to: Any = ()
    ) -> "Objective":
        """Return the objective for a sample, given its number of cases of each class (`support`)."""
        constraints = _least_recall(min_recall, classes), _conditions(subject_to)
        if isinstance(target, CostMatrix):
            return cls("cost", -target.cost, support, *constraints)
        check.check_choice("objective", target, NAMES)
        if target == "macro_f1":
            return cls(target, None, support, *constraints)
        if target == "accuracy":
            return cls(target, np.eye(support.size, dtype=support.dtype), support, *constraints)
        present = support > 0
        per_case = np.divide(1.0, support * present.sum(), out=np.zeros(support.size), where=present)
        return cls(target, np.diag(per_case), support, *constraints)

    def score(self, counts: Array) -> Score:
        """Return the score of a confusion matrix: minus the shortfall of the constraints, and the value to maximise."""
        hits, predicted = np.diagonal(counts), counts.sum(axis=0)
        value = self.macro_f1(hits, predicted) if self.gain is None else (self.gain * counts).sum()
        return -self.shortfall(hits, predicted).item(), float(value)

    def value(self, score: Score) -> float:
        """Convert the value in a `Score` to the usual unit: a share of the cases, or a cost per case."""
        value = -score[1] if self.name == "cost" else score[1]
        return value / float(self.support.sum()) if self.name in ("accuracy", "cost") else value

    @property
    def is_constrained(self) -> bool:
        """True if the objective has minimum recalls or other constraints."""
        return bool(self.least_recall.any() or self.conditions)

    def shortfall(self, hits: Array, predicted: Array) -> Array:
        """Return the number of additional correct cases needed to satisfy the constraints.

        For a bound on an average, the number is the distance to the bound, multiplied by the number of all cases. If
        the average is undefined, the number is the number of all cases. The last axis of `hits` and `predicted` is the
        class axis.
        """
        # A share that equals its bound must not fail by rounding.
        lacking = np.maximum((self.least_recall - _ROUNDING) * self.support - hits, 0).sum(axis=-1)
        n = float(self.support.sum())
        tp, fp, fn = hits, predicted - hits, self.support - hits
        for condition in self.conditions:
            average, metric = averaged_metric(condition.quantity)
            value = averaged_cells((tp, fp, fn, n - tp - fp - fn), self.support, metric, average)
            distance = np.maximum((condition.bound - value) * (1 if condition.upwards else -1), 0)
            lacking = lacking + n * np.where(condition.holds(value), 0, np.nan_to_num(distance, nan=1) + _STRICT)
        return lacking

    def macro_f1(self, hits: Array, predicted: Array) -> Array:
        """Return the mean F1 of the classes that have cases; the last axis is the class axis."""
        present = self.support > 0
        return (2 * hits[..., present] / (self.support + predicted)[..., present]).mean(axis=-1)


def _least_recall(min_recall: Any, classes: tuple[Hashable, ...]) -> Array:
    given = dict.fromkeys(classes, 0.0) | check.by_name(0.0 if min_recall is None else min_recall, classes)
    bounds = class_names.by_class(given, classes, "min_recall")
    if bounds.ndim != 1 or bounds.dtype.kind not in "biuf" or not ((bounds >= 0) & (bounds <= 1)).all():
        raise InputError("min_recall", expected="shares from 0 to 1", got=check.shown(min_recall))
    return bounds


def _conditions(subject_to: Any) -> tuple[Condition, ...]:
    texts = subject_to if isinstance(subject_to, list | tuple) else [subject_to]
    conditions = [part for text in texts for part in Condition.read(text, "subject_to", "macro_precision >= 0.8")]
    for condition in conditions:
        if averaged_metric(condition.quantity)[0] is None or condition.level or condition.model:
            expected = "a bound on an average over classes (such as 'macro_precision >= 0.8')"
            raise InputError("subject_to", expected=expected, got=repr(str(condition)))
    return tuple(conditions)


# Search along one weight

_ROUNDING = 1e-9
_STRICT = 1e-12  # smallest shortfall of a strict bound (">") that is attained with equality
_NEXT = 1 + 1e-12  # ratio below which two weights are equal up to rounding


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows with class probabilities, and the objective of their predictions.

    Attributes
    ----------
    y : array of n class indices
        True class of each row.
    proba : n × k array
        Predicted probabilities of the classes.
    weight : array of n weights
        Weight of each row.
    objective : Objective
        Value to maximise.
    unit : float
        Mean weight of a row; scales the prior of `fit_recalibration`.
    """

    y: Array
    proba: Array
    weight: Array
    objective: Objective
    unit: float = 1.0

    @property
    def k(self) -> int:
        """Number of classes."""
        return self.proba.shape[1]

    def counts(self, class_weight: Array) -> Array:
        """Return the confusion matrix of the predictions with these class weights."""
        return self.table((self.proba * class_weight).argmax(axis=1))

    def table(self, predicted: Array) -> Array:
        """Return the confusion matrix, given the index of the predicted class of each row."""
        return np.bincount(self.y * self.k + predicted, self.weight, self.k**2).reshape(self.k, self.k)

    def score(self, class_weight: Array) -> Score:
        """Return the objective's score of the predictions with these class weights."""
        return self.objective.score(self.counts(class_weight))

    def rows(self, kept: Array) -> "Problem":
        """Return the problem with a subset of the rows and the same objective."""
        return replace(self, y=self.y[kept], proba=self.proba[kept], weight=self.weight[kept])


def line_search(problem: Problem, class_weight: Array, cls: int) -> Array:
    """Optimise the weight of one class while the weights of all other classes are fixed.

    Notes
    -----
    The score is constant between neighbouring weights at which the prediction of a row changes. If several of these
    intervals have the best score, the widest interval on the log scale is chosen. The new weight is the middle of this
    interval on the log scale. The running time is O(n·k + n log n).
    """
    # Weight at which each row changes from its best other class to this class. It is 0 if all other classes have
    # probability 0 (always this class), and infinite if this class has probability 0 (never this class).
    weighted = problem.proba * class_weight
    weighted[:, cls] = -1.0
    other = weighted.argmax(axis=1)
    rival = np.take_along_axis(weighted, other[:, np.newaxis], axis=1)[:, 0]
    own = problem.proba[:, cls]
    with np.errstate(over="ignore"):
        change = np.divide(rival, own, out=np.full(own.shape, np.inf), where=own > 0)
    order = np.argsort(change)
    sides = change[order]

    # Numbers of changed rows between which the weights differ by more than rounding, and the score of each number.
    first, last = np.searchsorted(sides, 0.0, side="right"), np.searchsorted(sides, np.inf, side="left")
    between = sides[first:last]
    changes = first + np.flatnonzero(between[1:] > between[:-1] * _NEXT) + 1
    steps = np.concatenate([[first], changes, [last] if last > first else []]).astype(np.intp)
    lacking, value = _scores_after(problem, cls, other, order[: steps[-1]], steps)

    best = np.flatnonzero(lacking == lacking.min())
    best = best[value[best] == value[best].max()]
    width = np.zeros(steps.size)  # 0 for the unbounded ranges at both ends
    inner = steps[1:-1]
    width[1:-1] = sides[inner] / sides[inner - 1]
    rows = steps[best[width[best].argmax()]]
    below = sides[rows - 1] if rows else 0.0
    above = sides[rows] if rows < sides.size else np.inf
    moved = class_weight.copy()
    if below > 0 and above < np.inf:
        moved[cls] = np.sqrt(below) * np.sqrt(above)
    elif above < np.inf:
        moved[cls] = above / 2
    elif below > 0:
        moved[cls] = below * 2
    return moved


def _scores_after(problem: Problem, cls: int, other: Array, changed: Array, steps: Array) -> tuple[Array, Array]:
    """Return the shortfall and the value after the first rows of `changed` are predicted as class `cls`.

    `steps` contains numbers of rows; for each number, that many rows are predicted as `cls`. All other rows are
    predicted as their class in `other`.
    """
    objective, counts = problem.objective, problem.table(other)
    y, other, amount = problem.y[changed], other[changed], problem.weight[changed]

    def after(amounts: Array) -> Array:
        return np.concatenate([[0.0], np.cumsum(amounts)])[steps]

    gain = objective.gain
    value = None if gain is None else (gain * counts).sum() + after((gain[y, cls] - gain[y, other]) * amount)
    if value is not None and not objective.is_constrained:
        return np.zeros(steps.size), value
    hits, predicted = np.empty((steps.size, problem.k)), np.empty((steps.size, problem.k))
    for label in range(problem.k):
        gained, lost = (y == label) & (label == cls), other == label
        hits[:, label] = counts[label, label] + after(amount * (gained.astype(np.int8) - (lost & (y == label))))
        predicted[:, label] = counts[:, label].sum() + after(amount * (np.int8(label == cls) - lost.astype(np.int8)))
    value = objective.macro_f1(hits, predicted) if value is None else value
    return objective.shortfall(hits, predicted), value


# Searches over all weights

MANY_ROWS = 20_000
"""Above this number of rows, coordinate ascent first uses a random sample of the rows.
"""

_MOST_SWEEPS = 50  # sweeps over all classes; the search ends earlier if no change of a single weight improves the score
_SWEEPS_OF_MANY = 3  # sweeps on all rows, starting from the best weights on the sample
_RANDOM_STARTS = 4  # random starts in addition to equal and given weights: coordinate ascent may end in a local optimum


def greedy(problem: Problem) -> Array:
    """Optimise the weight of one class after another, without changing earlier weights (Lachiche & Flach 2003).

    Notes
    -----
    Classes are added in order of decreasing frequency. The first class has weight 1. Each step adds a class and
    optimises the weight of this class. It uses only the rows of the classes added so far, and predicts only these
    classes. The paper describes hill-climbing in a pre-defined order. The order by frequency and the choice of rows in
    each step are our interpretation.
    """
    order = np.argsort(-problem.objective.support, kind="stable")
    weight = np.zeros(problem.k)  # classes without a weight yet are not predicted
    for place, cls in enumerate(order.tolist()):
        weight[cls] = 1.0
        rows = np.isin(problem.y, order[: place + 1])
        if place and rows.any():
            weight = line_search(problem.rows(rows), weight, cls)
    return weight


def coordinate_ascent(problem: Problem, start: Array, *, sweeps: int = _MOST_SWEEPS) -> Array:
    """Improve class weights until no change of a single weight increases the score.

    Each step sets one weight to its exact optimum. The step is accepted only if the score increases.
    """
    weight, score, unchanged = start, problem.score(start), 0
    for step in range(sweeps * problem.k):
        moved = line_search(problem, weight, step % problem.k)
        unchanged += 1
        if problem.score(moved) > score:
            weight = _scaled(moved)
            score = problem.score(weight)  # score of the scaled weights: a tied row may change by rounding
            unchanged = 0
        if unchanged == problem.k:
            break
    return weight


def _scaled(weight: Array) -> Array:
    """Return class weights with the geometric mean 1; a common factor does not change decisions."""
    return weight / np.exp(np.log(weight).mean())


def best_of_starts(problem: Problem, starts: Sequence[Array], seed: Any = 0) -> Array:
    """Run coordinate ascent from equal, given and random class weights, and return the best class weights.

    Notes
    -----
    On the rows of the problem, the result is at least as good as every start. With more than 20,000 rows, coordinate
    ascent first runs on a random sample of 20,000 rows. The best weights of this run, or the best start if that is
    better, are then improved on all rows by at most three sweeps over the classes.
    """
    starts = [np.ones(problem.k), *starts]
    random = np.exp(np.random.default_rng(seed).normal(size=(_RANDOM_STARTS, problem.k)))
    part = _part(problem, seed)
    improved = max([coordinate_ascent(part, start) for start in [*starts, *random]], key=part.score)
    if part is problem:
        return improved
    best = max([*starts, improved], key=problem.score)
    return coordinate_ascent(problem, best, sweeps=_SWEEPS_OF_MANY)


def _part(problem: Problem, seed: Any) -> Problem:
    """Return the problem with a random sample of at most 20,000 rows."""
    if problem.y.size <= MANY_ROWS:
        return problem
    rows = np.random.default_rng(seed).choice(problem.y.size, MANY_ROWS, replace=False)
    part = problem.rows(rows)
    support = np.bincount(part.y, part.weight, part.k)
    return replace(part, objective=replace(part.objective, support=support))


# Recalibration

_FLOOR = 1e-12  # replaces a probability of 0; a smaller value is used if smaller probabilities occur: a choice
_BIAS_SPREAD = (
    10.0  # standard deviation of the prior of a bias, which only keeps biases of classes without cases finite
)
_LARGEST_LOG = 700.0  # logarithm of the largest weight, so that its exponential is a finite float64


def recalibrate(proba: Array, class_weight: Array, temperature: float) -> Array:
    """Return recalibrated probabilities, which are proportional to (w·p)^(1/temperature)."""
    with np.errstate(divide="ignore"):
        score = np.log(proba * class_weight, dtype=np.float64) / temperature
    return special.softmax(score, axis=1)


def _weights(log_weight: Array) -> Array:
    """Return the weights with geometric mean 1, given their logarithms; clip them to finite float64 values."""
    return np.exp((log_weight - log_weight.mean()).clip(-_LARGEST_LOG, _LARGEST_LOG))


def balanced_weights(class_weight: Array, temperature: float, support: Array) -> Array:
    """Return the class weights that divide each recalibrated probability by the share of its class."""
    share = np.where(support > 0, support, support.sum()) / support.sum()
    return _weights(np.log(class_weight) - temperature * np.log(share))


def fit_recalibration(y: Array, proba: Array, weight: Array, unit: float = 1.0) -> tuple[Array, float]:
    """Return the maximum-likelihood class weights and temperature for `recalibrate`.

    Notes
    -----
    The model is softmax(log p/temperature + bias). The loss is convex in (1/temperature, bias) and is minimised by
    L-BFGS. A normal prior on the biases, with standard deviation 10, keeps the biases of classes without cases finite.
    Probabilities of 0 are replaced by 1e-12, or by the smallest positive probability if that is lower.

    References
    ----------
    Guo, Pleiss, Sun & Weinberger 2017 (temperature); Alexandari, Kundaje & Shrikumar 2020 (bias-corrected
    temperature scaling).
    """
    k = proba.shape[1]
    least = min(_FLOOR, float(proba[proba > 0].min()))
    rows = LabelledLogs(np.log(np.maximum(proba.T, least), dtype=np.float64, order="C"), y, weight)
    n, pull = weight.sum(), unit / _BIAS_SPREAD**2

    def loss(parameters: Array) -> tuple[float, Array]:
        bias = parameters[1:]
        value, by_factor, by_bias = rows.loss(np.full(k, parameters[0]), bias)
        gradient = np.append(by_factor.sum(), by_bias + pull * bias)
        return (value + pull * (bias @ bias) / 2) / n, gradient / n

    start = np.append(1.0, np.zeros(k))
    bounds = [(1e-3, None), *[(None, None)] * k]
    best = optimize.minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 200}).x
    temperature = float(1 / best[0])
    return _weights(best[1:] * temperature), temperature


# Decisions

FORMAT = Format("rocscope.class_weights", 1, "a decision", "make it again with rocscope.multiclass.class_weights")

# Smallest numbers in a saved decision (their reciprocals are the largest), so that products with probabilities are
# finite.
_LEAST_WEIGHT = 1e-305
_LEAST_TEMPERATURE = 1e-150


@made_by_contract
@dataclass(frozen=True, eq=False, repr=False)
class ClassWeights(Result):
    """Decision rule for several classes, with one weight per class.

    The rule predicts the class with the largest w·p, where p are the class probabilities and w the weights. If `cost`
    is set, the rule predicts the class with the lowest expected cost. Returned by `rocscope.multiclass.class_weights`
    and `ClassWeights.load`.

    Attributes
    ----------
    classes : tuple of k names
        Class names, in the order of the probability columns.
    weight : array of k weights
        Weight w of each class; the geometric mean of the weights is 1.
    temperature : float
        Recalibrated probabilities are proportional to (w·p)^(1/temperature). The temperature is 1 if the method does
        not estimate it.
    cost : CostMatrix or None
        Costs for decisions by lowest expected cost. If None, the class with the largest w·p is predicted.
    objective : str
        Objective that the weights optimise, such as "accuracy" or "cost".
    method : str
        Method that chose the weights: "smooth", "coordinate" or "greedy".
    value : float
        Value of the objective with these weights, on the rows on which the weights were chosen: a cost per case for the
        objective "cost", otherwise a share.
    value_at_one : float
        Value of the objective with equal weights, on the same rows.
    confusion : ConfusionMatrix
        Confusion matrix with these weights, on the same rows.
    model : str
        Name of the model whose probabilities are weighted.

    Examples
    --------
    >>> from rocscope.multiclass import class_weights
    >>> proba = np.array([[9, 1], [8, 2], [9, 1], [7, 3], [6, 4], [6, 4]]) / 10
    >>> decision = class_weights(list("aaaabb"), proba, method="coordinate")
    >>> decision.confusion.counts.tolist(), decision.value, decision.value_at_one
    ([[4, 0], [0, 2]], 1.0, 0.6666666666666666)
    """

    classes: tuple[Hashable, ...]
    weight: Array
    temperature: float
    cost: CostMatrix | None
    objective: str
    method: str
    value: float
    value_at_one: float
    confusion: ConfusionMatrix
    model: str = "score"

    def __post_init__(self) -> None:
        check.set_fields(self, weight=check.read_only(np.asarray(self.weight, dtype=np.float64)))

    def recalibrated(self, proba: Any) -> Array:
        """Return recalibrated probabilities (n × k), which are proportional to (w·p)^(1/temperature).

        Parameters
        ----------
        proba : n × k array or data frame
            Class probabilities, with columns in the order of `classes`. Columns of a data frame are matched by name.

        Raises
        ------
        ShapeError
            If the number of columns is not the number of classes.
        ScoreError
            If a probability is missing or outside 0 to 1.
        """
        checked = check_probabilities(proba, None, self.classes, "proba")
        return recalibrate(checked, self.weight, self.temperature)

    def predict_index(self, proba: Any, *, reject_cost: float | None = None) -> Indices:
        """Return the index of the predicted class of each row; −1 if the case is left undecided (rejected).

        Parameters
        ----------
        proba : n × k array or data frame
            Class probabilities, with columns in the order of `classes`. Columns of a data frame are matched by name.
        reject_cost : float, optional
            Cost of leaving a case undecided. It is allowed only if `cost` is set.

        Raises
        ------
        InputError
            If `reject_cost` is passed, but `cost` is not set.

        Examples
        --------
        The weights separate the rows of the two classes, so the probability 0.3 of class "b" is large enough:

        >>> from rocscope.multiclass import class_weights
        >>> proba = [[0.9, 0.1], [0.8, 0.2], [0.6, 0.4], [0.7, 0.3]]
        >>> weights = class_weights(list("aabb"), proba, method="coordinate")
        >>> weights.predict_index([[0.9, 0.1], [0.7, 0.3]])
        array([0, 1])
        """
        if self.cost is not None:
            return self.cost.decide(self.recalibrated(proba), reject_cost=reject_cost)
        if reject_cost is not None:
            expected = "weights with objective=CostMatrix and method='smooth'"
            raise InputError(
                "reject_cost", expected=expected, got=f"objective={self.objective!r}, method={self.method!r}"
            )
        return (check_probabilities(proba, None, self.classes, "proba") * self.weight).argmax(axis=1)

    def predict(self, proba: Any, *, reject_cost: float | None = None) -> Array:
        """Return the predicted class of each row; None if the case is left undecided (rejected).

        Parameters
        ----------
        proba, reject_cost : see `predict_index`

        Raises
        ------
        ShapeError, ScoreError
            If the number of columns differs from the number of classes, or a row does not contain probabilities.

        Examples
        --------
        >>> from rocscope.multiclass import class_weights
        >>> y = ["a"] * 4 + ["b"] * 2
        >>> proba = np.array([[9, 1], [8, 2], [9, 1], [7, 3], [6, 4], [6, 4]]) / 10
        >>> class_weights(y, proba, method="coordinate").predict([[0.55, 0.45], [0.8, 0.2]]).tolist()
        ['b', 'a']
        """
        index = self.predict_index(proba, reject_cost=reject_cost)
        names = np.array([*self.classes, None], dtype=object)
        return names[index] if (index == REJECTED).any() else np.array(self.classes)[index]

    def verify(self, predictions: MulticlassPredictions) -> dict[str, tuple[float, float]]:
        """Recompute the stored numbers from the original rows, and return the numbers that differ.

        Parameters
        ----------
        predictions : MulticlassPredictions
            Rows on which the weights were chosen. Their classes may be in a different order.

        Returns
        -------
        dict from name to pair of numbers
            Stored and recomputed value of each number that differs; empty if all numbers agree. The cells of the
            confusion matrix and the value of the objective are compared, with a relative tolerance of 1e-9.

        Raises
        ------
        LabelError
            If the classes of `predictions` are not the classes of the weights.

        Examples
        --------
        >>> from rocscope.multiclass import MulticlassPredictions, class_weights
        >>> preds = MulticlassPredictions(["a", "b", "b"], [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
        >>> class_weights(preds).verify(preds)
        {}
        """
        preds = predictions_of(predictions)
        actual, proba = self.rows_of(preds)
        counted = ConfusionMatrix.from_index(actual, self.predict_index(proba), self.classes, preds.design())
        pairs = {}
        if self.cost is not None or self.objective != "cost":  # costs of a coordinate search are not stored
            target = Objective.of(self.cost or self.objective, counted.support, self.classes)  # type: ignore[arg-type]
            pairs["value"] = self.value, target.value(target.score(counted.counts))
        for (i, j), count in np.ndenumerate(counted.counts):
            stored = self.confusion.counts[i, j]
            pairs[f"{self.classes[i]} predicted as {self.classes[j]}"] = stored.item(), count.item()
        return {name: pair for name, pair in pairs.items() if not np.isclose(*pair, rtol=1e-9, atol=1e-12)}

    def rows_of(self, predictions: MulticlassPredictions) -> tuple[Indices, Array]:
        """Return the class indices and probabilities of the rows, with classes in the order of `self.classes`.

        Raises
        ------
        LabelError
            If the classes of `predictions` are not the classes of the weights.
        """
        order = class_names.class_order(predictions.classes, self.classes, "classes of the rows")
        model = self.model if self.model in predictions.proba else None
        return np.argsort(order)[predictions.y_true], predictions.probabilities(model)[:, order]

    def save(self, path: str | os.PathLike[str], *, force: bool = True) -> Path:
        """Save the class weights as a JSON file.

        Parameters
        ----------
        path : str or path
            Name of the file.
        force : bool
            If True, replace an existing file.

        Raises
        ------
        InputError
            If the file cannot be written, the file exists and `force` is False, or a class is neither text nor a
            number.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from rocscope.multiclass import class_weights
        >>> proba = [[0.9, 0.1], [0.8, 0.2], [0.6, 0.4], [0.7, 0.3]]
        >>> weights = class_weights(list("aabb"), proba, method="coordinate")
        >>> with TemporaryDirectory() as folder:
        ...     weights.save(f"{folder}/weights.json").name
        'weights.json'
        """
        return write_file(path, self.to_json(), force=force, endings=JSON)

    def to_json(self) -> str:
        """Return the content of the JSON file that `save` writes.

        Raises
        ------
        InputError
            If a class is neither text nor a number.

        Examples
        --------
        >>> import json
        >>> from rocscope.multiclass import class_weights
        >>> proba = [[0.9, 0.1], [0.8, 0.2], [0.6, 0.4], [0.7, 0.3]]
        >>> weights = class_weights(list("aabb"), proba, method="coordinate")
        >>> json.loads(weights.to_json())["classes"]
        ['a', 'b']
        """
        odd = [cls for cls in self.classes if not isinstance(cls, str | int | float)]
        if odd:
            hint = "rename these classes, because JSON files cannot contain them"
            raise InputError("classes", expected="text or numbers", got=check.listing(odd), hint=hint)
        return FORMAT.text(self.to_dict())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "ClassWeights":
        """Load class weights from a file written by `save`.

        Parameters
        ----------
        path : str or path
            Name of the file.

        Raises
        ------
        StoredError
            If the file is missing, incomplete, written by a newer version, or was changed after it was saved.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from rocscope.multiclass import class_weights
        >>> proba = [[0.9, 0.1], [0.8, 0.2], [0.6, 0.4], [0.7, 0.3]]
        >>> weights = class_weights(list("aabb"), proba, method="coordinate")
        >>> with TemporaryDirectory() as folder:
        ...     ClassWeights.load(weights.save(f"{folder}/weights.json")).classes
        ('a', 'b')
        """
        fields = FORMAT.read(path)
        made = cls.of_fields(fields)
        fields.require_same(fields.make("", made.to_dict))
        return made

    @classmethod
    def of_fields(cls, fields: Fields) -> "ClassWeights":
        """Return the class weights stored in a JSON object, which may be part of another file.

        Parameters
        ----------
        fields : Fields
            Fields of the file.
        """
        classes = fields.make("classes", class_names.check_classes, fields.take("classes", list, "a list of names"))
        cost = None
        if fields.content.get("cost", ...) is not None:
            known = {"classes": classes, "rows": "actual", "allow_rewarded_errors": True}
            cost = fields.make("cost", CostMatrix, fields.array("cost"), **known)
        matrix = fields.array("confusion")
        return cls(
            classes=classes,
            weight=fields.column("weight", _LEAST_WEIGHT, 1 / _LEAST_WEIGHT, size=len(classes)),
            temperature=fields.number("temperature", _LEAST_TEMPERATURE, 1 / _LEAST_TEMPERATURE),
            cost=cost,
            objective=fields.text("objective"),
            method=fields.text("method"),
            value=fields.number("value"),
            value_at_one=fields.number("value_at_one"),
            confusion=fields.make("confusion", ConfusionMatrix, matrix, classes=classes, rows="actual"),
            model=fields.text("model"),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the class weights as a dict that can be written as JSON.

        Examples
        --------
        >>> from rocscope.multiclass import class_weights
        >>> proba = [[0.9, 0.1], [0.8, 0.2], [0.6, 0.4], [0.7, 0.3]]
        >>> weights = class_weights(list("aabb"), proba, method="coordinate")
        >>> weights.to_dict()["confusion"]
        [[2, 0], [0, 2]]
        """
        tables = {"cost": None if self.cost is None else self.cost.cost, "confusion": self.confusion.counts}
        return super().to_dict() | jsonable(tables)

    @property
    def verdict(self) -> str:
        """Decision rule and value of the objective, as text."""
        weights = ", ".join(f"{cls} {w:.4g}" for cls, w in zip(self.classes, self.weight.tolist(), strict=True))
        what = "lowest expected cost" if self.cost is not None else "largest weighted probability"
        value, at_one = alike(self.value, self.value_at_one)
        name = "cost per case" if self.objective == "cost" else self.objective
        rule = f"Predict the class with the {what} (weights: {weights})."
        return f"{rule} In the sample, the {name} is {value}, compared with {at_one} for equal weights."

    def __repr__(self) -> str:
        weights = ", ".join(f"{cls!r}: {w:.4g}" for cls, w in zip(self.classes, self.weight.tolist(), strict=True))
        gain = f"{self.objective}={self.value:.6g} (equal weights: {self.value_at_one:.6g})"
        return f"ClassWeights({{{weights}}}, {gain}, {self.method}, model={self.model!r})"

    def _repr_html_(self) -> str:
        rows = [(cls, f"{weight:.4g}") for cls, weight in zip(self.classes, self.weight, strict=True)]
        return super()._repr_html_() + html_table(rows, ("class", "weight"))


Method = Literal["auto", "smooth", "coordinate", "greedy"]

METHODS = ("auto", "smooth", "coordinate", "greedy")


@contract
def class_weights(
    y_true: Any,
    proba: Any = None,
    *,
    model: str | None = None,
    objective: Name | CostMatrix = "accuracy",
    method: Method = "auto",
    min_recall: Any = None,
    subject_to: Any = (),
    classes: Any = None,
    sample_weight: Any = None,
    random_state: Any = 0,
) -> ClassWeights:
    """Choose one weight per class to optimise an objective such as macro-F1.

    The predicted probability p of each class is multiplied by the weight w of the class. The class with the largest
    product w·p is predicted.

    Parameters
    ----------
    y_true : MulticlassPredictions, or array of n labels
        Labels of rows that the model was not trained on, or predictions for such rows (held-out or out-of-fold).
    proba : n × k array
        Predicted probabilities of the classes; omit if `y_true` is a MulticlassPredictions.
    model : str, optional
        Name of the model whose probabilities are used. By default, the model with the best value of the objective.
    objective : {"accuracy", "balanced_accuracy", "macro_f1"} or CostMatrix
        Metric to maximise, or cost matrix whose expected cost is minimised.
    method : {"auto", "smooth", "coordinate", "greedy"}
        "smooth" fits a temperature and a bias per class by maximum likelihood, and decides by Bayes' rule.
        "coordinate" optimises the objective on these rows by coordinate ascent with exact line search, from several
        starts. "greedy" optimises the objective for one class after another, as described by Lachiche & Flach. "auto"
        uses "coordinate" for macro-F1 and with constraints, otherwise "smooth"; these choices were best on held-out
        folds.
    min_recall : float, or mapping from class to float, optional
        Minimum recall of every class (float) or of the named classes (mapping). Not supported by "smooth".
    subject_to : str or sequence of str
        Bounds on the accuracy, or on averages of a metric over classes, such as
        ``"macro_precision >= 0.8 and accuracy > 0.7"``. Not supported by "smooth".
    classes, sample_weight : see `MulticlassPredictions`
    random_state : int, Generator, RandomState or None
        Seed for the random starts of "coordinate".

    Returns
    -------
    ClassWeights
        Class weights. `ClassWeights.predict` applies the weights to class probabilities of new rows.

    Raises
    ------
    InputError
        If the method does not support the objective. All errors of `MulticlassPredictions` can also be raised.

    Warns
    -----
    RocscopeWarning
        If no weights that satisfy `min_recall` and `subject_to` were found.

    See Also
    --------
    CostMatrix, reject_curve, choose

    Notes
    -----
    The exact line search of "coordinate" finds the best weight w_c of one class c while the weights w_j of all other
    classes j are fixed. A row is predicted as class c if w_c exceeds max(w_j·p_j)/p_c. Therefore, the confusion matrix
    changes only at these n values of w_c. After sorting these values, one pass finds the best w_c.

    On the rows of the sample, coordinate ascent is at least as good as equal or greedy weights. On new rows it may be
    worse. docs/guide/class-weights.md reports a comparison on 25 data sets. With more than 20,000 rows, coordinate
    ascent first runs on a random sample of 20,000 rows, and then continues on all rows from the best weights. The
    running time is O(sweeps·k·(n·k + n log n)).

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
    if isinstance(objective, CostMatrix):
        objective = objective.in_order(preds.classes)
    models = [model] if model is not None or len(preds.models) == 1 else list(preds.proba)
    seed = check.seed_of(random_state)
    target = Objective.of(objective, preds.support, preds.classes, min_recall, subject_to)
    decisions = [_of_model(preds, name, objective, target, method, seed) for name in models]
    if not decisions:
        raise ScoreError("predictions", expected="a model with probabilities", got="predicted labels only")
    return max(decisions, key=lambda decision: target.score(decision.confusion.counts))


def _of_model(
    preds: MulticlassPredictions, model: str | None, objective: Any, target: Objective, method: Method, seed: int
) -> ClassWeights:
    """Choose the class weights for one model."""
    design = preds.design(groups=False)
    y, proba = preds.y_true[design.rows], preds.probabilities(model)[design.rows]
    unit = 1.0 if preds.frequency is not None else float(design.amount.mean())
    problem = Problem(y, np.ascontiguousarray(proba, dtype=np.float64), design.amount, target, unit)

    # Bayes' rule does not maximise an objective with constraints, nor macro-F1, which is not a sum over cases.
    by_rule = target.gain is not None and not target.is_constrained
    if method == "auto":
        method = "smooth" if by_rule else "coordinate"
    if method == "smooth" and not by_rule:
        expected = "objective 'accuracy', 'balanced_accuracy' or a CostMatrix (without constraints)"
        got = "a constraint" if target.is_constrained else "'macro_f1'"
        raise InputError("method='smooth'", expected=expected, got=got, hint="use method='coordinate'")
    cost, temperature = None, 1.0
    if method == "smooth":
        weight, temperature = fit_recalibration(problem.y, problem.proba, problem.weight, problem.unit)
        if isinstance(objective, CostMatrix):
            cost = objective
        elif objective == "balanced_accuracy":
            weight = balanced_weights(weight, temperature, target.support)
    else:
        weight = greedy(problem)
        if method == "coordinate":
            part = _part(problem, seed)  # an approximate start is enough
            smooth, _ = fit_recalibration(part.y, part.proba, part.weight, part.unit)
            weight = best_of_starts(problem, [weight, smooth], seed)
        weight = _scaled(weight)

    if cost is None:
        counts = problem.counts(weight)
    else:
        counts = problem.table(cost.decide(recalibrate(problem.proba, weight, temperature)))
    score = target.score(counts)
    if score[0] < 0:
        warn(f"no class weights satisfy all constraints; the best weights miss them by {-score[0]:g} cases")
    value, at_one = target.value(score), target.value(problem.score(np.ones(problem.k)))
    matrix = ConfusionMatrix(counts.astype(preds.support.dtype), classes=preds.classes, rows="actual")
    name = model or preds.models[0]
    return ClassWeights(preds.classes, weight, temperature, cost, target.name, method, value, at_one, matrix, name)
