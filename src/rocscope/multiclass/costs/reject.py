"""Reject option: leave a case undecided where every decision is expected to cost more than that."""

from typing import Any

import numpy as np

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.curves.curve import Curve
from rocscope.errors import InputError
from rocscope.multiclass.costs.matrix import CostMatrix
from rocscope.multiclass.predictions import MulticlassPredictions, predictions_of


class RejectCurve(Curve):
    """Cost per case (y) against the cost of leaving a case undecided (x), and the share left undecided.

    Made by `rocscope.multiclass.reject_curve`. Between points the curve is straight; where a case changes from
    undecided to decided it jumps, and has two points of one x.

    Attributes
    ----------
    rejected : array
        Share of cases left undecided, at each point.
    decided_cost : array
        Mean cost of the cases that are decided; NaN where none is.
    """

    title = "cost of decisions with a reject option"
    x_name = "reject_cost"
    y_name = "cost_per_case"

    def __init__(self, reject_cost: Array, cost: Array, rejected: Array, decided_cost: Array) -> None:
        super().__init__(reject_cost, cost, reject_cost)
        self.rejected, self.decided_cost = check.read_only(rejected), check.read_only(decided_cost)

    def at(self, x: Any) -> Any:
        """Return the cost per case at a reject cost; above all risks every case is decided."""
        x = np.asarray(x, dtype=np.float64)
        inside = super().at(x.clip(self.x[0], self.x[-1]))
        value = np.where(x < self.x[0], x, inside)
        return value.item() if value.ndim == 0 else value

    def rejected_at(self, reject_cost: float) -> float:
        """Return the share of cases left undecided at a reject cost."""
        after = int(np.searchsorted(self.x, reject_cost, side="right"))
        return 1.0 if after == 0 else float(self.rejected[after - 1])

    def columns(self) -> dict[str, Array]:
        """Return one row a point."""
        return {self.x_name: self.x, self.y_name: self.y, "rejected": self.rejected, "decided_cost": self.decided_cost}

    def area(self) -> float:
        raise InputError("a cost curve over reject costs has no area that means anything")


def reject_curve(predictions: MulticlassPredictions, cost: CostMatrix, *, model: str | None = None) -> RejectCurve:
    """Cost per case and share of undecided cases against the cost of leaving a case undecided.

    Parameters
    ----------
    predictions : MulticlassPredictions
    cost : CostMatrix
    model : str, optional

    Notes
    -----
    A case is decided as its least expected cost says, unless that is above the reject cost (Chow's rule). Exact:
    every case at which the rule changes is a point. O(n log n).

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
    proba = predictions.probabilities(model)
    risks = cost.risks(proba)
    decided = risks.argmin(axis=1)
    risk, weight = risks.min(axis=1), predictions.sample_weight
    weight = np.ones(risk.size) if weight is None else weight.astype(np.float64)
    levels, place = np.unique(risk, return_inverse=True)
    at_level = np.bincount(place, weight)
    paid = np.bincount(place, weight * cost.of_rows(predictions.y_true, decided))
    below, total = (np.concatenate([[0.0], np.cumsum(column)]) for column in (at_level, paid))
    # Each level twice: before its cases are decided, and after.
    state = (np.arange(2 * levels.size) + 1) // 2
    x = np.repeat(levels, 2)
    if levels[0] > 0:
        x, state = np.concatenate([[0.0], x]), np.concatenate([[0], state])
    n = below[-1]
    rejected = (n - below[state]) / n
    with np.errstate(invalid="ignore"):
        return RejectCurve(x, total[state] / n + x * rejected, rejected, total[state] / below[state])
