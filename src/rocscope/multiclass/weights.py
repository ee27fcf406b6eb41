"""class_weights: one weight per class, chosen for a target on rows, and the decision that comes of it."""

import os
import warnings
from collections.abc import Hashable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rocscope import _validation as check
from rocscope._output import write_file
from rocscope.core.jsonable import jsonable
from rocscope.decisions import decision_file
from rocscope.errors import DecisionFileError, InputError, RocscopeWarning
from rocscope.multiclass.classes import check_classes, check_probabilities
from rocscope.multiclass.confusion import ConfusionMatrix
from rocscope.multiclass.costs import REJECTED, CostMatrix
from rocscope.multiclass.line_search import Problem
from rocscope.multiclass.objective import NAMES, Name, Objective
from rocscope.multiclass.predictions import MulticlassPredictions
from rocscope.multiclass.smooth import Recalibration, fit_recalibration, recalibrate
from rocscope.multiclass.weight_search import best_of_starts, greedy, some_rows

Array = NDArray[Any]
Method = Literal["auto", "smooth", "coordinate", "greedy"]

_FORMAT = "rocscope.class_weights"

METHODS = ("auto", "smooth", "coordinate", "greedy")


@dataclass(frozen=True, eq=False, repr=False)
class ClassWeights:
    """A decision among more than two classes: argmax of w·p, or the least expected cost of recalibrated p.

    Made by `rocscope.class_weights`, or read from a file by `ClassWeights.load`.

    Attributes
    ----------
    classes : tuple of k names
    weight : array of k weights
        Their geometric mean is 1.
    temperature : float
        Recalibrated probabilities are in proportion to (w·p)^(1/temperature); 1 where no method gave one.
    cost : CostMatrix or None
        Set where the class of least expected cost is predicted, and not the one of largest w·p.
    objective, method : str
    value, value_at_one : float
        The objective on the rows that the weights were chosen on, and of equal weights there: shares, or the cost
        per case.
    confusion : ConfusionMatrix
        What the weights predict on those rows.

    Examples
    --------
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", check.read_only(np.asarray(self.weight, dtype=np.float64)))

    def recalibrated(self, proba: Any) -> Array:
        """Return probabilities (n × k) in proportion to (w·p)^(1/temperature)."""
        return recalibrate(self._checked(proba), self.weight, self.temperature)

    def predict_index(self, proba: Any, *, reject_cost: float | None = None) -> NDArray[np.intp]:
        """Return the index of the class predicted for each row; −1 where it is left undecided.

        Parameters
        ----------
        proba : n × k array
            In the order of `classes`.
        reject_cost : float, optional
            Cost of leaving a case undecided, where decisions are by least expected cost.
        """
        rows = self._checked(proba)
        if self.cost is not None:
            return self.cost.decide(recalibrate(rows, self.weight, self.temperature), reject_cost=reject_cost)
        if reject_cost is not None:
            expected = "a decision by least expected cost (objective=CostMatrix, method='smooth')"
            raise InputError("reject_cost", expected=expected, got=f"{self.objective!r} by {self.method!r}")
        return (rows * self.weight).argmax(axis=1)

    def predict(self, proba: Any, *, reject_cost: float | None = None) -> Array:
        """Return the class predicted for each row; None where it is left undecided.

        Raises
        ------
        ShapeError, ScoreError
            If there is not one column per class, or a row holds what are no probabilities.

        Examples
        --------
        >>> y = ["a"] * 4 + ["b"] * 2
        >>> proba = np.array([[9, 1], [8, 2], [9, 1], [7, 3], [6, 4], [6, 4]]) / 10
        >>> class_weights(y, proba, method="coordinate").predict([[0.55, 0.45], [0.8, 0.2]]).tolist()
        ['b', 'a']
        """
        index = self.predict_index(proba, reject_cost=reject_cost)
        names = np.array([*self.classes, None], dtype=object)
        return names[index] if (index == REJECTED).any() else np.array(self.classes)[index]

    def _checked(self, proba: Any) -> Array:
        rows = np.asarray(proba)
        return check_probabilities(rows, len(rows), len(self.classes), "proba")

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write the decision as JSON; an existing file is kept unless `force` is set.

        Raises
        ------
        InputError
            If the file cannot be written, or a class is neither text nor a number.
        """
        odd = [cls for cls in self.classes if not isinstance(cls, str | int | float)]
        if odd:
            raise InputError("classes", expected="text or numbers, which JSON can hold", got=check.listing(odd))
        return write_file(path, decision_file.seal(self.to_dict(), _FORMAT), force=force)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "ClassWeights":
        """Read a decision that `save` wrote.

        Raises
        ------
        DecisionFileError
            If the file is not there, is of a newer version, is incomplete, or was changed after it was saved.
        """
        source = str(path)
        content = decision_file.unseal(decision_file.read(path), source, _FORMAT)
        decision_file.require_seal(content, source)
        try:
            return cls._from_dict(content)
        except (KeyError, TypeError, InputError) as error:
            raise DecisionFileError(source, expected="a complete decision", got=str(error)) from error

    @classmethod
    def _from_dict(cls, content: dict[str, Any]) -> "ClassWeights":
        classes = check_classes(content["classes"])
        matrix = ConfusionMatrix(content["confusion"], classes=classes, rows="actual")
        cost = content["cost"]
        if cost is not None:
            cost = CostMatrix(cost, classes=classes, rows="actual", allow_rewarded_errors=True)
        same = {name: content[name] for name in ("temperature", "objective", "method", "value", "value_at_one")}
        return cls(classes=classes, weight=content["weight"], cost=cost, confusion=matrix, **same)

    def to_dict(self) -> dict[str, Any]:
        """Return the decision, safe for JSON."""
        return jsonable(
            {
                "classes": self.classes,
                "weight": self.weight,
                "temperature": self.temperature,
                "cost": None if self.cost is None else self.cost.cost,
                "objective": self.objective,
                "method": self.method,
                "value": self.value,
                "value_at_one": self.value_at_one,
                "confusion": self.confusion.counts,
            }
        )

    def __repr__(self) -> str:
        weights = ", ".join(f"{cls!r}: {w:.4g}" for cls, w in zip(self.classes, self.weight.tolist(), strict=True))
        gain = f"{self.objective}={self.value:.6g} (equal weights: {self.value_at_one:.6g})"
        return f"ClassWeights({{{weights}}}, {gain}, {self.method})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{escape(str(cls))}</th><td>{w:.4g}</td></tr>"
            for cls, w in zip(self.classes, self.weight.tolist(), strict=True)
        )
        return f"<p>{escape(repr(self))}</p><table><tr><th>class</th><th>weight</th></tr>{rows}</table>"


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
    seed: int = 0,
) -> ClassWeights:
    """Weights of the classes for which predicting argmax of w·p does best.

    Parameters
    ----------
    y_true : MulticlassPredictions, or array of n labels
        Rows that the model was not trained on: from another sample, or out of fold.
    proba : n × k array
    model : str, optional
        Which model of the predictions.
    objective : {"accuracy", "balanced_accuracy", "macro_f1"} or CostMatrix
    method : {"auto", "smooth", "coordinate", "greedy"}
        "smooth" fits a temperature and a bias per class by likelihood and decides by Bayes' rule. "coordinate" is
        ascent with exact line search from several starts, "greedy" the method of Lachiche & Flach; both look at the
        objective on the rows alone. "auto" takes what does best on held-out folds: "smooth"; "coordinate" for
        macro-F1, and under constraints.
    min_recall : float, or mapping from class to float, optional
        Least share of a class that must be found, with "coordinate" or "greedy".
    classes, sample_weight : see `MulticlassPredictions`
    seed : int
        Of the random starts.

    Returns
    -------
    ClassWeights

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
    or greedy ones; that it is better there need not hold elsewhere. See docs/class-weights.md for a trial over 25
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
    ClassWeights({'a': 0.7311, 'b': 1.368}, accuracy=1 (equal weights: 0.666667), greedy)
    """
    check.check_choice("method", method, METHODS)
    preds = y_true
    if not isinstance(preds, MulticlassPredictions):
        preds = MulticlassPredictions(y_true, proba, classes=classes, sample_weight=sample_weight)
    problem = _problem(preds, model, objective, min_recall)
    if method == "auto":
        method = "coordinate" if problem.objective.least_hits.any() or objective == "macro_f1" else "smooth"
    if method == "smooth":
        return _smooth(problem, preds, objective)
    weight = greedy(problem)
    if method == "coordinate":
        smooth = fit_recalibration(*some_rows(problem, seed)).class_weight
        weight = best_of_starts(problem, [weight, smooth], seed)
    return _decision(problem, preds, weight / np.exp(np.log(weight).mean()), method)


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
    if isinstance(objective, CostMatrix):
        return _cost_decision(problem, preds, found, objective)
    weight = found.class_weight
    if objective == "balanced_accuracy":
        share = problem.objective.support / problem.total
        weight = weight * np.where(share > 0, share, 1.0) ** -found.temperature
    return _decision(problem, preds, weight / np.exp(np.log(weight).mean()), "smooth", found.temperature)


def _decision(
    problem: Problem, preds: MulticlassPredictions, weight: Array, method: str, temperature: float = 1.0
) -> ClassWeights:
    counts, objective = problem.counts(weight), problem.objective
    score = objective.score(counts)
    if score[0] < 0:
        warnings.warn(
            f"no class weights were found that meet min_recall; {-score[0]:g} cases are lacking",
            RocscopeWarning,
            stacklevel=3,
        )
    value, at_one = objective.value(score), objective.value(problem.score(np.ones(problem.k)))
    matrix = ConfusionMatrix(_whole(counts, preds), classes=preds.classes, rows="actual")
    return ClassWeights(preds.classes, weight, temperature, None, objective.name, method, value, at_one, matrix)


def _cost_decision(
    problem: Problem, preds: MulticlassPredictions, found: Recalibration, cost: CostMatrix
) -> ClassWeights:
    objective = problem.objective
    chosen = cost.decide(found.probabilities(problem.proba))
    counts = problem.table(chosen)
    value, at_one = (objective.value(objective.score(c)) for c in (counts, problem.counts(np.ones(problem.k))))
    matrix = ConfusionMatrix(_whole(counts, preds), classes=preds.classes, rows="actual")
    weight, temperature = found.class_weight, found.temperature
    return ClassWeights(preds.classes, weight, temperature, cost, "cost", "smooth", value, at_one, matrix)


def _whole(counts: Array, preds: MulticlassPredictions) -> Array:
    whole = preds.sample_weight is None or preds.sample_weight.dtype.kind == "i"
    return counts.astype(np.int64) if whole else counts
