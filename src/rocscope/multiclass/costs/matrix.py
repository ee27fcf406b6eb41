"""CostMatrix: what each prediction costs for each actual class, and the decision of least expected cost."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.core.result import Result, html_table, jsonable
from rocscope.errors import InputError, LabelError, ShapeError
from rocscope.multiclass.classes import check_classes
from rocscope.multiclass.tables.confusion import ConfusionMatrix
from rocscope.multiclass.tables.orientation import RowsAre, rows_actual

REJECTED = -1
"""Class index of a case that is left undecided."""


@dataclass(frozen=True, eq=False, repr=False, init=False)
class CostMatrix(Result):
    """Cost of predicting each class for a case of each class; gains are negative costs.

    Parameters
    ----------
    cost : k × k array
        In any unit.
    classes : sequence of k class names
    rows : {"actual", "predicted"}
        What the rows of `cost` are; may be left out only for a symmetric matrix. They are stored as actual.
    allow_rewarded_errors : bool
        Accept a matrix in which some error costs less than the right prediction.

    Raises
    ------
    InputError
        If the orientation is not said; or if an error costs less than the right prediction, which is most often a
        matrix written the other way round, or of benefits.
    ShapeError, LabelError
        If the matrix is not square or names do not fit.

    Notes
    -----
    What decides is how much more each prediction costs than another for the same actual class: a constant may be
    added to the costs of a class, and all costs multiplied by a positive number, without changing any decision.

    References
    ----------
    Hernández-Orallo 2004, "Extension to More than Two Classes"; Elkan 2001, "The foundations of cost-sensitive
    learning", IJCAI.

    Examples
    --------
    The example of Hernández-Orallo, in which costs and counts have the predicted class in rows:

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
        self, cost: Any, *, classes: Any, rows: RowsAre | None = None, allow_rewarded_errors: bool = False
    ) -> None:
        matrix = rows_actual(cost, "cost", rows)
        names = check_classes(classes)
        if len(names) != len(matrix):
            raise ShapeError("cost", expected=f"one row and one column per class ({len(names)})", got=str(len(matrix)))
        if not allow_rewarded_errors:
            _refuse_rewarded_errors(matrix, names)
        check.settle(self, cost=check.read_only(matrix), classes=names)

    @classmethod
    def from_benefits(cls, benefit: Any, *, classes: Any, rows: RowsAre | None = None) -> "CostMatrix":
        """Make costs of benefits, whose signs are turned.

        Examples
        --------
        >>> CostMatrix.from_benefits([[3, 0], [0, 1]], classes=["a", "b"]).cost.tolist()
        [[-3, 0], [0, -1]]
        """
        return cls(-np.asarray(benefit), classes=classes, rows=rows)

    @classmethod
    def errors(cls, classes: Any) -> "CostMatrix":
        """Return the matrix in which every error costs 1: its expected cost is the error rate."""
        names = check_classes(classes)
        return cls(1 - np.eye(len(names), dtype=np.int64), classes=names)

    def total(self, matrix: ConfusionMatrix) -> float:
        """Return the total cost over the counts of a confusion matrix; exact, with costs read as decimals."""
        self.require_classes(matrix.classes)
        return _number(_fractions(self.cost, matrix.counts))

    def expected(self, matrix: ConfusionMatrix, *, target_prior: Mapping[Any, float] | None = None) -> float:
        """Return the cost per case.

        Parameters
        ----------
        matrix : ConfusionMatrix
        target_prior : mapping from class to share, optional
            Class mix where the classifier will be used; that of the counts when left out. NaN if it asks for a
            class of which there are no cases.
        """
        self.require_classes(matrix.classes)
        if target_prior is None:
            return float(_fractions(self.cost, matrix.counts) / Fraction(matrix.n))
        prior = check_prior(target_prior, self.classes)
        by_class = np.einsum("ij,ij->i", matrix.row_shares, self.cost)
        return float(prior[prior > 0] @ by_class[prior > 0])

    def risks(self, proba: Any) -> Array:
        """Return the expected cost of each prediction (n × k) for cases with these class probabilities."""
        return self._rows(proba) @ self.cost

    def decide(self, proba: Any, *, reject_cost: float | None = None) -> NDArray[np.intp]:
        """Return the index of the class of least expected cost; −1 where leaving a case undecided costs less.

        Parameters
        ----------
        proba : n × k array
            Calibrated probabilities, in the order of the classes. For another class mix than that in which they
            were learned, convert them by `shift_prior` first.
        reject_cost : float, optional
            Cost of leaving one case undecided.

        Notes
        -----
        Of equal expected costs the first class is taken, and a decision is preferred to none (Chow's rule).

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
        limit = check_reject_cost(reject_cost)
        return np.where(risks.min(axis=1) > limit, REJECTED, chosen)

    def of_rows(self, actual: Array, decided: Array, *, reject_cost: float | None = None) -> Array:
        """Return the cost of each row, given indices of its actual and decided class (−1: undecided)."""
        return np.where(decided == REJECTED, reject_cost or 0.0, self.cost[actual, decided])

    def _rows(self, proba: Any) -> Array:
        rows = check.as_array(proba)
        if rows.ndim != 2 or rows.shape[1] != len(self.classes):
            expected = f"one column per class ({len(self.classes)})"
            raise ShapeError("proba", expected=expected, got=f"shape {rows.shape}")
        return rows

    def require_classes(self, classes: tuple[Hashable, ...]) -> None:
        """Raise unless the costs are for these classes in this order."""
        if classes != self.classes:
            raise LabelError(
                "cost matrix",
                expected=f"the classes {check.listing(classes)}",
                got=check.listing(self.classes),
                hint="write it for the same classes in the same order",
            )

    def to_dict(self) -> dict[str, Any]:
        """Return classes and costs (rows actual), safe for JSON."""
        return jsonable({"classes": self.classes, "rows": "actual", "cost": self.cost})

    def __repr__(self) -> str:
        low, high = self.cost.min(), self.cost.max()
        return f"CostMatrix(classes={list(self.classes)}, rows='actual', from {low:g} to {high:g})"

    def _repr_html_(self) -> str:
        rows = [(name, *(f"{cost:g}" for cost in row)) for name, row in zip(self.classes, self.cost, strict=True)]
        return html_table(rows, ("actual \\ predicted", *self.classes))


def check_prior(prior: Mapping[Any, float], classes: tuple[Hashable, ...], name: str = "target_prior") -> Array:
    """Return the share of each class, from a mapping that names every class."""
    if set(check.by_name(prior, ())) != set(classes):
        raise InputError(name, expected=f"a share for each of {check.listing(classes)}", got=repr(prior))
    shares = np.array([prior[cls] for cls in classes], dtype=np.float64)
    if not (shares >= 0).all() or abs(shares.sum() - 1) > 1e-9:
        raise InputError(name, expected="shares of at least 0 that sum to 1", got=f"a sum of {shares.sum():g}")
    return shares


def shift_prior(proba: Any, train_prior: Any, target_prior: Any) -> Array:
    """Return class probabilities (n × k) for another class mix than that in which they were learned.

    Parameters
    ----------
    proba : n × k array
    train_prior, target_prior : arrays of k shares
        Class mix of the training sample, and where the classifier will be used.

    Notes
    -----
    p'ₖ ∝ pₖ·targetₖ/trainₖ: valid where only the class mix differs, not the cases within a class.

    References
    ----------
    Saerens, Latinne & Decaestecker 2002, eq. 2.4; Elkan 2001, theorem 2.

    Examples
    --------
    >>> shift_prior([[0.5, 0.5]], [0.5, 0.5], [0.9, 0.1]).tolist()
    [[0.9, 0.1]]
    """
    train, target = (np.asarray(shares, dtype=np.float64) for shares in (train_prior, target_prior))
    if (train <= 0).any():
        raise InputError("train_prior", expected="a share above 0 for each class", got=repr(train.tolist()))
    shifted = np.asarray(proba) * (target / train)
    return shifted / shifted.sum(axis=1, keepdims=True)


def check_reject_cost(reject_cost: float) -> float:
    """Return a finite cost."""
    if not np.isfinite(reject_cost):
        raise InputError("reject_cost", expected="a finite cost", got=repr(reject_cost))
    return float(reject_cost)


def _refuse_rewarded_errors(matrix: Array, classes: tuple[Hashable, ...]) -> None:
    right = np.diag(matrix)
    cheaper = matrix < right[:, np.newaxis]
    if not cheaper.any():
        return
    actual, predicted = (int(index) for index in np.argwhere(cheaper)[0])
    transposed_fits = bool((matrix >= right).all())
    benefits_fit = bool((matrix <= right[:, np.newaxis]).all())
    hint = (
        "it fits the other way round: check rows="
        if transposed_fits
        else "benefits go to CostMatrix.from_benefits"
        if benefits_fit
        else "allow_rewarded_errors=True accepts it"
    )
    raise InputError(
        "cost",
        expected="no error to cost less than the right prediction",
        got=f"{matrix[actual, predicted]:g} for a case of {classes[actual]!r} predicted as {classes[predicted]!r}, "
        f"but {right[actual]:g} predicted right",
        hint=hint,
    )


def _fractions(cost: Array, counts: Array) -> Fraction:
    pairs = zip(cost.ravel().tolist(), counts.ravel().tolist(), strict=True)
    return sum((Fraction(repr(price)) * Fraction(count) for price, count in pairs), Fraction(0))


def _number(exact: Fraction) -> float:
    return exact.numerator if exact.denominator == 1 else float(exact)
