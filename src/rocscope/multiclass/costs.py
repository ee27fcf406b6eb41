"""Costs of decisions among several classes: cost matrices, the reject option, and comparison of models by cost.

A cost matrix contains costᵢⱼ, the cost of predicting class j for a case of class i. With calibrated class probabilities
pᵢ, the expected cost of predicting class j is Σᵢ pᵢ·costᵢⱼ. The decision is the class with the lowest expected cost. A
case is rejected (left undecided) if the lowest expected cost exceeds the cost of rejecting a case (Chow's rule).
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np

from rocscope._base import class_names, validation as check
from rocscope._base.arrays import Array, Indices
from rocscope._base.contract import contract
from rocscope.core import Result, jsonable, require_kinds
from rocscope.curves.curve import Curve
from rocscope.errors import InputError, LabelError, ScoreError, ShapeError, warn
from rocscope.inference import estimate as inference
from rocscope.inference.proportions import binomial_limits, normal_quantile
from rocscope.inference.variance import moves_of_mean
from rocscope.multiclass import confusion
from rocscope.multiclass.confusion import ConfusionMatrix, RowsAre, check_probabilities
from rocscope.multiclass.predictions import MulticlassPredictions, predictions_of

# Cost matrices

REJECTED = -1
"""Class index of a rejected case."""


@dataclass(frozen=True, eq=False, repr=False, init=False)
class CostMatrix(Result):
    """Cost matrix: cost of each prediction for cases of each actual class; gains are negative costs.

    Parameters
    ----------
    cost : k × k array or data frame
        Costs, in any unit. Rows and columns of a data frame with an index are matched by name.
    classes : sequence of k class names
        Class names, in the order of the rows; may be omitted for a data frame.
    rows : {"actual", "predicted"}
        Meaning of the rows of `cost`: actual or predicted classes. It may be omitted only for a symmetric matrix. The
        stored matrix always has the actual classes in rows.
    allow_rewarded_errors : bool
        If True, accept a matrix in which an error costs less than the correct prediction.

    Raises
    ------
    InputError
        If `rows` is missing for a matrix that is not symmetric, or an error costs less than the correct prediction.
        Such a matrix is usually transposed, or contains benefits.
    ShapeError, LabelError
        If the matrix is not square, or the class names do not match.

    Notes
    -----
    Only differences between costs for the same actual class influence a decision. Adding a constant to all costs of an
    actual class does not change any decision. Multiplying all costs by a positive number does not change any decision
    either.

    References
    ----------
    Hernández-Orallo 2004, "Extension to More than Two Classes"; Elkan 2001, "The foundations of cost-sensitive
    learning", IJCAI.

    Examples
    --------
    Example of Hernández-Orallo. The rows of both matrices are predicted classes:

    >>> names = ["low", "medium", "high"]
    >>> cost = CostMatrix([[0, 5, 2], [200, -2000, 10], [10, 1, -15]], classes=names, rows="predicted")
    >>> cost.total(ConfusionMatrix([[20, 0, 13], [5, 15, 4], [4, 7, 60]], classes=names, rows="predicted"))
    -29787
    >>> cost.decide([[0.5, 0.1, 0.4], [0.95, 0.05, 0.0]]).tolist()
    [1, 0]
    """

    cost: Array
    classes: tuple[Hashable, ...]

    def __init__(
        self, cost: Any, *, classes: Any = None, rows: RowsAre | None = None, allow_rewarded_errors: bool = False
    ) -> None:
        matrix, names = confusion.rows_actual(cost, classes, "cost", rows)
        if names is None:
            raise LabelError("classes", expected="a name for each row and column of cost", got="None")
        if not allow_rewarded_errors:
            _refuse_rewarded_errors(matrix, names)
        check.set_fields(self, cost=check.read_only(matrix), classes=names)

    @classmethod
    def from_benefits(cls, benefit: Any, *, classes: Any, rows: RowsAre | None = None) -> "CostMatrix":
        """Return the cost matrix for a matrix of benefits; costs are negative benefits.

        Parameters
        ----------
        benefit : k × k array
            Benefit of each prediction for each actual class.
        classes : sequence of labels
            Classes in order.
        rows : {"actual", "predicted"}
            Meaning of the rows of the matrix.

        Examples
        --------
        >>> CostMatrix.from_benefits([[3, 0], [0, 1]], classes=["a", "b"]).cost.tolist()
        [[-3, 0], [0, -1]]
        """
        return cls(-np.asarray(benefit), classes=classes, rows=rows)

    @classmethod
    def errors(cls, classes: Any) -> "CostMatrix":
        """Return the cost matrix in which every error costs 1, so that the cost per case is the error rate.

        Parameters
        ----------
        classes : sequence of labels
            Classes in order.

        Raises
        ------
        LabelError
            If there are fewer than two classes, or if a class occurs twice.

        Examples
        --------
        >>> CostMatrix.errors(["a", "b"]).decide([[0.7, 0.3], [0.4, 0.6]])
        array([0, 1])
        """
        names = class_names.check_classes(classes)
        return cls(1 - np.eye(len(names), dtype=np.int64), classes=names)

    def total(self, matrix: ConfusionMatrix) -> float:
        """Return the total cost of all cases in a confusion matrix, computed in exact decimal arithmetic.

        Parameters
        ----------
        matrix : ConfusionMatrix
            Numbers of cases by actual and predicted class.

        Examples
        --------
        One error costs 1, and two errors cost 5 each:

        >>> cost = CostMatrix([[0, 1], [5, 0]], classes=["a", "b"], rows="actual")
        >>> cost.total(ConfusionMatrix([[4, 1], [2, 3]], classes=["a", "b"], rows="actual"))
        11
        """
        exact = _exact_total(self.in_order(matrix.classes).cost, matrix.counts)
        return exact.numerator if exact.denominator == 1 else float(exact)

    def expected(self, matrix: ConfusionMatrix, *, target_prior: Mapping[Any, float] | None = None) -> float:
        """Return the mean cost per case of a confusion matrix.

        Parameters
        ----------
        matrix : ConfusionMatrix
            Confusion matrix with the same classes as the costs.
        target_prior : mapping from class to share, optional
            Class shares in the population in which the classifier will be used; by default the class shares in
            `matrix`. The result is NaN if a class with a positive share has no cases in `matrix`.
        """
        cost = self.in_order(matrix.classes).cost
        if target_prior is None:
            return float(_exact_total(cost, matrix.counts) / Fraction(matrix.n))
        prior = check_prior(target_prior, matrix.classes, "target_prior")
        by_class = np.einsum("ij,ij->i", matrix.row_shares, cost)
        return float(prior[prior > 0] @ by_class[prior > 0])

    def risks(self, proba: Any) -> Array:
        """Return the expected cost of predicting each class for each row (n × k), given class probabilities.

        Columns of a data frame are matched by name. Columns of an array must be in the order of `classes`.

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

        Examples
        --------
        Predicting "b" for the first row costs 0.9 · 1, and predicting "a" costs 0.1 · 5:

        >>> CostMatrix([[0, 1], [5, 0]], classes=["a", "b"], rows="actual").risks([[0.9, 0.1], [0.5, 0.5]])
        array([[0.5, 0.9],
               [2.5, 0.5]])
        """
        return check_probabilities(proba, None, self.classes, "proba") @ self.cost

    def decide(self, proba: Any, *, reject_cost: float | None = None) -> Indices:
        """Return the class index with the lowest expected cost for each row; −1 if rejecting the case is cheaper.

        Parameters
        ----------
        proba : n × k array or data frame
            Calibrated class probabilities, with columns in the order of `classes` or with class names as columns. If
            the class shares in use differ from the class shares in the training data, apply `shift_prior` first.
        reject_cost : float, optional
            Cost of leaving one case undecided.

        Notes
        -----
        If classes have equal expected costs, the first of them is predicted. If predicting and rejecting cost the same,
        the case is not rejected (Chow's rule).

        References
        ----------
        Chow 1970, "On optimum recognition error and reject tradeoff".

        Examples
        --------
        >>> CostMatrix.errors(["a", "b", "c"]).decide([[0.9, 0.1, 0.0], [0.4, 0.3, 0.3]], reject_cost=0.2).tolist()
        [0, -1]
        """
        risks = self.risks(proba)
        chosen = risks.argmin(axis=1)
        if reject_cost is None:
            return chosen
        limit = check.check_number(reject_cost, "reject_cost", "a finite cost")
        return np.where(risks.min(axis=1) > limit, REJECTED, chosen)

    def of_rows(self, actual: Array, decided: Array, *, reject_cost: float | None = None) -> Array:
        """Return the cost of each row, given the indices of its actual and its predicted class (−1 if rejected).

        Parameters
        ----------
        actual, decided : arrays of n int
            Index of the actual and of the predicted class of each row.
        reject_cost : float, optional
            Cost of a rejected row.
        """
        return np.where(decided == REJECTED, reject_cost or 0.0, self.cost[actual, decided])

    def in_order(self, classes: Sequence[Hashable]) -> "CostMatrix":
        """Return the cost matrix with its classes in the given order.

        Parameters
        ----------
        classes : sequence of labels
            Classes in the new order.

        Raises
        ------
        LabelError
            If the given classes are not the classes of the matrix.

        Examples
        --------
        >>> CostMatrix([[0, 1], [5, 0]], classes=["a", "b"], rows="actual").in_order(["b", "a"]).cost.tolist()
        [[0, 5], [1, 0]]
        """
        order = class_names.class_order(self.classes, classes, "cost matrix")
        cost = self.cost[np.ix_(order, order)]
        return CostMatrix(cost, classes=classes, rows="actual", allow_rewarded_errors=True)

    def to_dict(self) -> dict[str, Any]:
        """Return the classes and costs (actual classes in rows) as a dict that can be written as JSON.

        Examples
        --------
        >>> CostMatrix([[0, 1], [5, 0]], classes=["a", "b"], rows="actual").to_dict()
        {'classes': ['a', 'b'], 'rows': 'actual', 'cost': [[0, 1], [5, 0]]}
        """
        return jsonable({"classes": self.classes, "rows": "actual", "cost": self.cost})

    def __repr__(self) -> str:
        low, high = self.cost.min(), self.cost.max()
        return f"CostMatrix(classes={list(self.classes)}, rows='actual', from {low:g} to {high:g})"

    def _repr_html_(self) -> str:
        return confusion.class_table(self.cost, self.classes, "actual \\ predicted")


def check_prior(prior: Any, classes: Sequence[Hashable], name: str) -> Array:
    """Return checked class shares in the order of `classes`, from a mapping by class or an array."""
    shares = np.asarray(class_names.by_class(prior, classes, name), dtype=np.float64)
    if shares.shape != (len(classes),):
        raise ShapeError(name, expected=f"one share per class ({check.listing(classes)})", got=check.shown(prior))
    if not (shares >= 0).all() or abs(shares.sum() - 1) > confusion.SUM_TOLERANCE:
        raise InputError(name, expected="shares of at least 0 that sum to 1", got=check.shown(prior))
    return shares


@contract
def shift_prior(proba: Any, train_prior: Any, target_prior: Any, *, classes: Any = None) -> Array:
    """Convert class probabilities from the class shares in training to other class shares.

    Parameters
    ----------
    proba : n × k array or data frame
        Class probabilities of a model trained with the class shares `train_prior`.
    train_prior : array of k shares, or mapping from class to share
        Class shares in the training sample.
    target_prior : array of k shares, or mapping from class to share
        Class shares in the population in which the model will be used.
    classes : sequence of k class names, optional
        Class of each column of `proba`, needed if the shares are mappings. By default, the column names of a data
        frame.

    Returns
    -------
    float array of shape (n, k)
        Converted class probabilities; each row sums to 1.

    Raises
    ------
    ShapeError, ScoreError, LabelError, InputError
        If the rows of `proba` are not probabilities, or `train_prior` or `target_prior` does not contain one share per
        class.

    See Also
    --------
    recalibrate_classes, class_weights

    Notes
    -----
    The probability pₖ of class k is multiplied by target_priorₖ/train_priorₖ. Then the products are divided by their
    sum. This is valid if only the class shares differ, and the distribution of the features within each class is
    unchanged.

    References
    ----------
    Saerens, Latinne & Decaestecker 2002, eq. 2.4; Elkan 2001, theorem 2.

    Examples
    --------
    >>> shift_prior([[0.5, 0.5]], [0.5, 0.5], [0.9, 0.1]).tolist()
    [[0.9, 0.1]]
    >>> shift_prior([[0.5, 0.5]], {"b": 0.2, "a": 0.8}, {"a": 0.5, "b": 0.5}, classes=["a", "b"]).tolist()
    [[0.2, 0.8]]
    """
    if classes is None and check.is_frame(proba):
        classes = list(check.frame_columns(proba))
    if classes is None:
        if isinstance(train_prior, Mapping) or isinstance(target_prior, Mapping):
            raise InputError(
                "classes", expected="the class of each column, because the shares are mappings", got="None"
            )
        classes = range(len(train_prior))
    classes = class_names.check_classes(classes)
    train = check_prior(train_prior, classes, "train_prior")
    target = check_prior(target_prior, classes, "target_prior")
    if (train == 0).any():
        raise InputError("train_prior", expected="a share above 0 for each class", got=check.shown(train_prior))
    shifted = check_probabilities(proba, None, classes, "proba") * (target / train)
    total = shifted.sum(axis=1, keepdims=True)
    if not total.all():
        without = check.count_and_first(total[:, 0] == 0, "row", " without one")
        raise ScoreError("proba", expected="rows with a positive probability of a class in target_prior", got=without)
    return shifted / total


def _refuse_rewarded_errors(matrix: Array, classes: tuple[Hashable, ...]) -> None:
    right = np.diag(matrix)
    for actual, predicted in np.argwhere(matrix < right[:, np.newaxis]):
        hint = "for benefits use CostMatrix.from_benefits; to accept this matrix pass allow_rewarded_errors=True"
        if (matrix >= right).all():
            hint = "check rows=, because the transposed matrix is valid"
        got = (
            f"cost {matrix[actual, predicted]:g} for a case of {classes[actual]!r} predicted as {classes[predicted]!r}"
        )
        got += f", and cost {right[actual]:g} for a correct prediction"
        raise InputError("cost", expected="errors that cost no less than correct predictions", got=got, hint=hint)


def _exact_total(cost: Array, counts: Array) -> Fraction:
    # Costs are read as decimals, so that 0.1 is exactly 1/10.
    cells = zip(cost.ravel().tolist(), counts.ravel().tolist(), strict=True)
    return sum((Fraction(repr(price)) * Fraction(count) for price, count in cells), Fraction(0))


# Reject option


class RejectCurve(Curve):
    """Curve of the cost per case (y) against the cost of rejecting one case (x).

    Returned by `rocscope.multiclass.reject_curve`. The curve is linear between neighbouring points. It jumps where a
    case changes from rejected to decided, and then has two points with the same x.

    Attributes
    ----------
    rejected : array
        Share of rejected (undecided) cases at each point.
    decided_cost : array
        Mean cost of the decided cases at each point; NaN if no case is decided.
    """

    title = "cost of decisions with a reject option"
    x_name = "reject_cost"
    y_name = "cost_per_case"

    def __init__(self, reject_cost: Array, cost: Array, rejected: Array, decided_cost: Array) -> None:
        super().__init__(reject_cost, cost, reject_cost)
        self.rejected, self.decided_cost = check.read_only(rejected), check.read_only(decided_cost)

    def at(self, x: Any) -> Any:
        """Return the cost per case if rejecting one case costs `x`.

        Examples
        --------
        >>> preds = MulticlassPredictions(["a", "b"], [[0.9, 0.1], [0.6, 0.4]], classes=["a", "b"])
        >>> reject_curve(preds, CostMatrix.errors(["a", "b"])).at([0.1, 0.5])
        array([0.05, 0.5 ])
        """
        x = np.asarray(x, dtype=np.float64)
        inside = super().at(x.clip(self.x[0], self.x[-1]))
        value = np.where(x < self.x[0], x, inside)
        return value.item() if value.ndim == 0 else value

    def rejected_at(self, reject_cost: float) -> float:
        """Return the share of rejected cases if rejecting one case costs `reject_cost`.

        Examples
        --------
        The expected costs of the predictions are 0.1, 0.2 and 0.4. The last case is rejected if a rejection costs 0.3:

        >>> preds = MulticlassPredictions(["a", "b", "b"], [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
        >>> reject_curve(preds, CostMatrix.errors(["a", "b"])).rejected_at(0.3)
        0.3333333333333333
        """
        after = int(np.searchsorted(self.x, reject_cost, side="right"))
        return 1.0 if after == 0 else float(self.rejected[after - 1])

    def _columns(self) -> dict[str, Array]:
        return {self.x_name: self.x, self.y_name: self.y, "rejected": self.rejected, "decided_cost": self.decided_cost}

    def area(self) -> float:
        raise InputError("no area is defined for a cost curve over reject costs")


@contract
def reject_curve(predictions: MulticlassPredictions, cost: CostMatrix, *, model: str | None = None) -> RejectCurve:
    """Compute the cost per case and the share of rejected cases for every cost of rejecting a case.

    Parameters
    ----------
    predictions : MulticlassPredictions
        Labels and calibrated class probabilities.
    cost : CostMatrix
        Cost of each prediction for each actual class.
    model : str, optional
        Name of the model. By default, the only model of the predictions.

    Returns
    -------
    RejectCurve
        Cost per case (y) against the cost of rejecting one case (x).

    Raises
    ------
    InputError
        If `predictions` is not a MulticlassPredictions.

    See Also
    --------
    CostMatrix, class_weights

    Notes
    -----
    For each case, the class with the lowest expected cost is predicted. The case is rejected if this expected cost
    exceeds the cost of rejecting a case (Chow's rule). The curve is exact: it has a point at every reject cost at which
    a decision changes. The running time is O(n log n).

    References
    ----------
    Chow 1970, "On optimum recognition error and reject tradeoff", IEEE Trans. Inf. Theory 16:41–46.

    Examples
    --------
    >>> preds = MulticlassPredictions(["a", "b", "b"], [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    >>> curve = reject_curve(preds, CostMatrix.errors(["a", "b"]))
    >>> curve.at(0.3), curve.rejected_at(0.3), curve.at(0.4)
    (0.09999999999999999, 0.3333333333333333, 0.3333333333333333)
    """
    predictions = predictions_of(predictions)
    cost = cost.in_order(predictions.classes)
    risks = cost.risks(predictions.probabilities(model))
    decided = risks.argmin(axis=1)
    risk = risks.min(axis=1)
    weight = predictions.sample_weight
    weight = np.ones(risk.size) if weight is None else weight.astype(np.float64)
    levels, place = np.unique(risk, return_inverse=True)
    at_level = np.bincount(place, weight)
    paid = np.bincount(place, weight * cost.of_rows(predictions.y_true, decided))
    below = np.append(0.0, np.cumsum(at_level))
    total = np.append(0.0, np.cumsum(paid))
    # Each level occurs twice: before and after its cases are decided.
    state = (np.arange(2 * levels.size) + 1) // 2
    x = np.repeat(levels, 2)
    if levels[0] > 0:
        x, state = np.concatenate([[0.0], x]), np.concatenate([[0], state])
    n = below[-1]
    rejected = (n - below[state]) / n
    with np.errstate(invalid="ignore"):
        return RejectCurve(x, total[state] / n + x * rejected, rejected, total[state] / below[state])


# Comparison of models


@contract
def compare_multiclass_costs(
    predictions: MulticlassPredictions,
    cost: CostMatrix,
    *,
    decide: bool = True,
    reject_cost: float | None = None,
    groups: Any = None,
    alternative: inference.Alternative = "two-sided",
    level: float = 0.95,
    adjust: inference.PValueAdjust = "holm",
) -> inference.Comparisons:
    """Compare the cost per case of two or more models on the same rows.

    Parameters
    ----------
    predictions : MulticlassPredictions
        Labels, and predictions of two or more models.
    cost : CostMatrix
        Cost of each prediction for each actual class.
    decide : bool
        If True, each model predicts the class with the lowest expected cost; if False, the most probable class. For
        models without probabilities, the predicted labels are evaluated.
    reject_cost : float, optional
        Cost of leaving a case undecided. It is used only if `decide` is True.
    groups : array of n labels, optional
        Group of each row, such as the patient. Rows of different groups are independent. By default, the groups of the
        predictions. If False, all rows are treated as independent.
    alternative, level, adjust : see `rocscope.compare`
        ``alternative="less"`` tests whether the second model is cheaper.

    Returns
    -------
    Comparisons
        Difference in cost per case between the models of each pair, with interval and test.

    Raises
    ------
    InputError
        If there are fewer than two models.

    Warns
    -----
    RocscopeWarning
        If all rows have the same cost. Rows with other costs may exist, so Wilson's interval for their share
        determines the width of the interval.

    See Also
    --------
    compare_multiclass_auc, class_weights

    Notes
    -----
    Each comparison uses the paired t interval and the paired t test of the cost difference per row. With groups, the
    independent units are groups instead of rows.

    Examples
    --------
    >>> decisions = {"x": list("aabbca") * 10, "y": list("abbccc") * 10}
    >>> preds = MulticlassPredictions(list("aabbcc") * 10, decisions=decisions)
    >>> compare_multiclass_costs(preds, CostMatrix.errors("abc"))["x", "y"].difference.value
    0.16666666666666666
    """
    predictions = predictions_of(predictions)
    require_kinds("comparison of multi-class costs", predictions)
    models = predictions.models
    if len(models) < 2:
        raise InputError("models to compare", expected="two or more models", got=f"{len(models)}")
    hypothesis = inference.Hypothesis(alternative, level=level)
    cost = cost.in_order(predictions.classes)
    design = predictions.design(groups)
    paid = np.empty((len(predictions), len(models)))
    for column, model in enumerate(models):
        decided = predictions.predicted(model)
        if decide and model in predictions.proba:
            decided = cost.decide(predictions.proba[model], reject_cost=reject_cost)
        paid[:, column] = cost.of_rows(predictions.y_true, decided, reject_cost=reject_cost)
    paid = paid[design.rows]

    def mean(values: Array, possible_cost: float) -> tuple[inference.Estimate, float]:
        """Return the mean with an interval, and its df; if all values are equal, use Wilson's interval."""
        estimate, df = design.mean_and_df(values, level)
        if np.ptp(values) > 0:
            return estimate, df
        warn("all rows have the same cost; the interval is Wilson's interval for unseen rows with other costs")
        unseen = 1 - float(binomial_limits(design.effective, design.effective, "wilson", level)[0])
        error, method = possible_cost * unseen / normal_quantile(level), "Wilson for unseen rows"
        return replace(hypothesis.wald(estimate.value, error, design.n, method), reason=design.reason), inf

    spread = float(np.ptp([*cost.cost.ravel(), *([] if reject_cost is None else [reject_cost])]))
    estimates = {model: mean(paid[:, i], spread)[0] for i, model in enumerate(models)}

    def compare(i: int, j: int) -> inference.Comparison:
        difference, df = mean(paid[:, j] - paid[:, i], 2 * spread)
        return hypothesis.compare(models[i], models[j], difference, df=df, method=f"paired {difference.method}")

    covariance = design.stratum(moves_of_mean(paid, design.amount)).covariance
    return inference.compare_each_two("cost per case", estimates, covariance, compare, adjust)
