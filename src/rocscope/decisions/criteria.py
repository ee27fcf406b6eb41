"""Criteria: what a choice maximises where no costs are given."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.validation import one_of
from rocscope.core.context import Context
from rocscope.errors import InputError
from rocscope.metrics import METRICS, ours

Function = Callable[..., Any]

_SMALLER_IS_BETTER = {"fnr", "fpr", "error", "lr_negative"}
_CHANCE = {"youden", "ks", "balanced_accuracy", "macro_average"}
"""Criteria that only the height above the diagonal decides: accuracy if both classes were equally frequent."""

_F_SCORE = re.compile(r"f(\d+(?:\.\d+)?)")
_LIFT_AT = re.compile(r"lift@(0?\.\d+|1(?:\.0*)?)")


@dataclass(frozen=True)
class Criterion:
    """What is maximised.

    Attributes
    ----------
    name : str
    value : function of tp, fp, fn, tn
        At the class mix of the target.
    sign : int
        −1 where a small value is better.
    equivalent : function from a context to the one in which the same choice has the lowest cost, or None
        Given where the criterion is linear in the counts, so that its best choice lies on the hull.
    """

    name: str
    value: Function
    sign: int = 1
    equivalent: Callable[[Context], Context] | None = None

    def goodness(self, cells: tuple[Array, Array, Array, Array]) -> Array:
        """Return what is to be maximised at each of several points; −∞ where it is not defined."""
        value = np.asarray(self.value(*cells), dtype=np.float64)
        if value.shape != cells[0].shape:
            raise InputError(
                f"criterion {self.name!r}",
                expected=f"one value for each of {cells[0].size} points",
                got=f"shape {value.shape}",
                hint="it is called with arrays: write it with NumPy functions",
            )
        return np.where(np.isnan(value), -math.inf, self.sign * value)


def closest_topleft(tp: Array, fp: Array, fn: Array, tn: Array) -> Array:
    """Distance in ROC space from the point (0, 1) of a perfect classifier."""
    return np.hypot(METRICS["fpr"](tp, fp, fn, tn), METRICS["fnr"](tp, fp, fn, tn))


def lift_at(depth: float) -> Function:
    """Lift among the share `depth` of cases with the highest scores: NaN for points that go deeper.

    Of the thresholds that select no more than that share, the one that finds most positives has the highest value;
    its positives are compared with what random contact of the whole share would find.
    """

    def lift(tp: Array, fp: Array, fn: Array, tn: Array) -> Array:
        inside = (tp + fp) <= depth * (tp + fp + fn + tn) * (1 + 1e-12)
        return np.where(inside, METRICS["tpr"](tp, fp, fn, tn) / depth, np.nan)

    return lift


def criterion_of(criterion: str | Function | None) -> Criterion:
    """Return the criterion of that name, or made of a function of tp, fp, fn and tn.

    Raises
    ------
    InputError
        If the name is not known.
    """
    if callable(criterion):
        return Criterion(getattr(criterion, "__name__", "function"), criterion)
    if criterion is not None and not isinstance(criterion, str):
        raise InputError("criterion", expected="a name or a function of tp, fp, fn, tn", got=check.shown(criterion))
    criterion = None if criterion is None else ours(criterion)
    if criterion in (None, "min_cost"):
        return Criterion("min_cost", _unknown_cost, -1, equivalent=lambda context: context)
    if criterion == "accuracy":
        return Criterion("accuracy", METRICS["accuracy"], equivalent=lambda c: Context(c.target_prevalence))
    if criterion in _CHANCE:
        value = METRICS["youden" if criterion == "ks" else criterion]
        return Criterion(criterion, value, equivalent=lambda _: Context(0.5))
    if criterion == "closest_topleft":
        return Criterion(criterion, closest_topleft, -1)
    if criterion in METRICS and criterion != "prevalence":
        return Criterion(criterion, METRICS[criterion], -1 if criterion in _SMALLER_IS_BETTER else 1)
    return _with_parameter(criterion)


def _with_parameter(name: Any) -> Criterion:
    if match := _F_SCORE.fullmatch(str(name)):
        beta = float(match[1])
        return Criterion(name, lambda *cells: METRICS["f_score"](*cells, beta=beta))
    if match := _LIFT_AT.fullmatch(str(name)):
        return Criterion(name, lift_at(float(match[1])))
    known = ["min_cost", "ks", "closest_topleft", "f1", "f2", "lift@0.1", *METRICS]
    known.remove("prevalence")
    raise InputError("criterion", expected=one_of(str(name), known), got=repr(name))


def _unknown_cost(*_cells: Array) -> Array:
    raise InputError("min_cost", expected="a context", got="none")
