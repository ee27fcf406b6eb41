"""ClassWeights: the decision among more than two classes, which predicts and is saved."""

import os
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope import _validation as check
from rocscope._output import write_file
from rocscope._stored import Fields, Format
from rocscope._types import Array
from rocscope.core.result import Result, html_table, jsonable
from rocscope.errors import InputError
from rocscope.multiclass.classes import check_classes, check_probabilities
from rocscope.multiclass.costs.matrix import REJECTED, CostMatrix
from rocscope.multiclass.tables.confusion import ConfusionMatrix
from rocscope.multiclass.weights.smooth import recalibrate

FORMAT = Format("rocscope.class_weights", 1, "a decision", "make it anew with rocscope.multiclass.class_weights")

_LEAST_WEIGHT, _LEAST_TEMPERATURE = 1e-305, 1e-150


@dataclass(frozen=True, eq=False, repr=False)
class ClassWeights(Result):
    """A decision among more than two classes: argmax of w·p, or the least expected cost of recalibrated p.

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
        return check_probabilities(rows, len(rows), len(self.classes), "proba")

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
        """Read a decision that `save` wrote.

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
