"""ClassWeights: a weighted argmax over class probabilities, which predicts and can be saved.

class_weights: one weight per class, chosen for a target on rows.
"""

import os
from collections.abc import Hashable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.atomic_write import write_file
from rocscope._base.contract import contract
from rocscope._base.json_format import Fields, Format
from rocscope.core.result import Result, html_table, jsonable
from rocscope.errors import InputError, ScoreError, warn
from rocscope.multiclass.classes import check_classes, check_probabilities
from rocscope.multiclass.confusion import ConfusionMatrix
from rocscope.multiclass.cost_matrix import REJECTED, CostMatrix
from rocscope.multiclass.predictions import MulticlassPredictions, predictions_of
from rocscope.multiclass.weight_search import (
    NAMES,
    Name,
    Objective,
    Problem,
    best_of_starts,
    fit_recalibration,
    greedy,
    recalibrate,
    some_rows,
)

FORMAT = Format("rocscope.class_weights", 1, "a decision", "make it anew with rocscope.multiclass.class_weights")

_LEAST_WEIGHT, _LEAST_TEMPERATURE = 1e-305, 1e-150  # their reciprocals, the largest ones, are floats too


@dataclass(frozen=True, eq=False, repr=False)
class ClassWeights(Result):
    """A decision rule for several classes: argmax of w·p, or lowest expected cost of recalibrated p.

    Made by `rocscope.multiclass.class_weights`, or read from a file by `ClassWeights.load`.

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
    model : str
        Whose probabilities they are for.

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
        check.settle(self, weight=check.read_only(np.asarray(self.weight, dtype=np.float64)))

    def recalibrated(self, proba: Any) -> Array:
        """Return probabilities (n × k) proportional to (w·p)^(1/temperature)."""
        return recalibrate(self._checked(proba), self.weight, self.temperature)

    def predict_index(self, proba: Any, *, reject_cost: float | None = None) -> NDArray[np.intp]:
        """Return the index of the predicted class of each row; −1 if rejected.

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
        """Return the predicted class of each row; None if rejected.

        Raises
        ------
        ShapeError, ScoreError
            If there is not one column per class, or a row holds what are no probabilities.

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

    def _checked(self, proba: Any) -> Array:
        rows = check.as_array(proba)
        return check_probabilities(rows, len(rows) if rows.ndim else 1, len(self.classes), "proba")

    def save(self, path: str | os.PathLike[str], *, force: bool = True) -> Path:
        """Write the decision as JSON; an existing file is replaced, unless `force` is False.

        Raises
        ------
        InputError
            If the file cannot be written, or a class is neither text nor a number.
        """
        return write_file(path, self.to_json(), force=force)

    def to_json(self) -> str:
        """Return the text of the file that `save` writes."""
        odd = [cls for cls in self.classes if not isinstance(cls, str | int | float)]
        if odd:
            raise InputError("classes", expected="text or numbers, which JSON can hold", got=check.listing(odd))
        return FORMAT.text(self.to_dict())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "ClassWeights":
        """Load a decision saved with `save`.

        Raises
        ------
        StoredError
            If the file is not there, is of a newer version, is incomplete, or was changed after it was saved.
        """
        fields = FORMAT.read(path)
        classes = fields.make("classes", check_classes, fields.take("classes", list, "a list of names"))
        made = cls(
            classes=classes,
            weight=fields.column("weight", _LEAST_WEIGHT, 1 / _LEAST_WEIGHT, size=len(classes)),
            temperature=fields.number("temperature", _LEAST_TEMPERATURE, 1 / _LEAST_TEMPERATURE),
            cost=_cost(fields, classes),
            objective=fields.text("objective"),
            method=fields.text("method"),
            value=fields.number("value"),
            value_at_one=fields.number("value_at_one"),
            confusion=fields.make(
                "confusion", ConfusionMatrix, fields.array("confusion"), classes=classes, rows="actual"
            ),
            model=fields.text("model"),
        )
        fields.require_same(fields.make("", made.to_dict))
        return made

    def to_dict(self) -> dict[str, Any]:
        """Return the decision, safe for JSON."""
        tables = {"cost": None if self.cost is None else self.cost.cost, "confusion": self.confusion.counts}
        return super().to_dict() | jsonable(tables)

    def __repr__(self) -> str:
        weights = ", ".join(f"{cls!r}: {w:.4g}" for cls, w in zip(self.classes, self.weight.tolist(), strict=True))
        gain = f"{self.objective}={self.value:.6g} (equal weights: {self.value_at_one:.6g})"
        return f"ClassWeights({{{weights}}}, {gain}, {self.method}, model={self.model!r})"

    def _repr_html_(self) -> str:
        rows = [(cls, f"{weight:.4g}") for cls, weight in zip(self.classes, self.weight, strict=True)]
        return super()._repr_html_() + html_table(rows, ("class", "weight"))


def _cost(fields: Fields, classes: tuple[Hashable, ...]) -> CostMatrix | None:
    if fields.content.get("cost", ...) is None:
        return None
    known = {"classes": classes, "rows": "actual", "allow_rewarded_errors": True}
    return fields.make("cost", CostMatrix, fields.array("cost"), **known)


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
    classes: Any = None,
    sample_weight: Any = None,
    random_state: Any = 0,
) -> ClassWeights:
    """Choose class weights w for which predicting argmax of w·p optimises an objective.

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

    Returns
    -------
    ClassWeights
        The weights; its `predict` takes probabilities.

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
