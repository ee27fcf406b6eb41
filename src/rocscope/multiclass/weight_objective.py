"""What class weights are chosen for: a value of a confusion matrix, and shares of classes that must be found."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.errors import InputError, LabelError
from rocscope.multiclass.cost_matrix import CostMatrix

Name = Literal["accuracy", "balanced_accuracy", "macro_f1"]

NAMES = ("accuracy", "balanced_accuracy", "macro_f1")

Score = tuple[float, float]
"""Minus the cases that constraints still lack, then the value: more is better, compared in this order."""


@dataclass(frozen=True, eq=False)
class Objective:
    """A value to be as large as possible, under least recalls.

    Attributes
    ----------
    name : str
        "accuracy", "balanced_accuracy", "macro_f1" or "cost".
    gain : k × k array or None
        What a case of a class (row) adds when it is predicted as each (column); None for macro-F1, which is no sum
        over cases.
    support : array of k counts
    least_hits : array of k counts
        Cases of each class that must be found.
    """

    name: str
    gain: Array | None
    support: Array
    least_hits: Array

    @classmethod
    def of(
        cls, target: "Name | CostMatrix", support: Array, classes: tuple[Hashable, ...], min_recall: Any = None
    ) -> "Objective":
        """Return the objective for a sample of which the class counts are given."""
        least = _least_hits(min_recall, support, classes)
        k = support.size
        if isinstance(target, CostMatrix):
            target.require_classes(classes)
            return cls("cost", -target.cost, support, least)
        check.check_choice("objective", target, NAMES)
        if target == "macro_f1":
            return cls(target, None, support, least)
        if target == "accuracy":
            return cls(target, np.eye(k, dtype=support.dtype), support, least)
        present = support > 0
        per_case = np.divide(1.0, support * present.sum(), out=np.zeros(k), where=present)
        return cls(target, np.diag(per_case), support, least)

    def score(self, counts: Array) -> Score:
        """Return the score of a confusion matrix."""
        hits = np.diagonal(counts)
        value = self.macro_f1(hits, counts.sum(axis=0)) if self.gain is None else (self.gain * counts).sum()
        return -self.shortfall(hits).item(), float(value)

    def value(self, score: Score) -> float:
        """Return the value of a score as it is known: a share, or a cost per case."""
        total = float(self.support.sum())
        scale = {"accuracy": 1 / total, "cost": -1 / total}.get(self.name, 1.0)
        return score[1] * scale

    def shortfall(self, hits: Array) -> Array:
        """Return how many more cases must be found; `hits` has the classes in its last axis."""
        return np.maximum(self.least_hits - hits, 0).sum(axis=-1)

    def macro_f1(self, hits: Array, predicted: Array) -> Array:
        """Return the mean F1 of the classes that have cases; the last axis holds the classes."""
        present = self.support > 0
        return (2 * hits[..., present] / (self.support + predicted)[..., present]).mean(axis=-1)


def _least_hits(min_recall: Any, support: Array, classes: tuple[Hashable, ...]) -> Array:
    if min_recall is None:
        return np.zeros(support.size)
    given = check.by_name(min_recall, classes)
    strange = [cls for cls in given if cls not in classes]
    if strange:
        raise LabelError("min_recall", expected=f"classes among {check.listing(classes)}", got=check.listing(strange))
    if not all(map(check.is_number, given.values())):
        raise InputError("min_recall", expected="shares from 0 to 1", got=check.shown(min_recall))
    bounds = np.array([given.get(cls, 0.0) for cls in classes], dtype=np.float64)
    if not ((bounds >= 0) & (bounds <= 1)).all():
        raise InputError("min_recall", expected="shares from 0 to 1", got=repr(min_recall))
    # Forgives the rounding of a share that is met exactly.
    return np.maximum(bounds * support - 1e-9 * support, 0)
