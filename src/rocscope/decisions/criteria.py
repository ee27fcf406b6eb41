"""Criteria: the figures that `choose(criterion=...)` can optimise."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.core.context import Context
from rocscope.errors import InputError
from rocscope.figures.figure import Figure
from rocscope.figures.registry import figure_named, spelled

Function = Callable[..., Any]


@dataclass(frozen=True)
class Criterion:
    """A figure to maximise.

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
        """Return the value to maximise at several points; −∞ where it is undefined."""
        value = np.asarray(self.value(*cells), dtype=np.float64)
        if value.shape != cells[0].shape:
            raise InputError(
                f"criterion {self.name!r}",
                expected=f"one value for each of {cells[0].size} points",
                got=f"shape {value.shape}",
                hint="it is called with arrays: write it with NumPy functions",
            )
        return np.where(np.isnan(value), -math.inf, self.sign * value)


def criterion_of(criterion: str | Function | None) -> Criterion:
    """Return the criterion of a name, or of a function of tp, fp, fn and tn.

    Raises
    ------
    InputError
        If the name is not known.
    """
    criterion = spelled(criterion)
    if callable(criterion):
        return Criterion(getattr(criterion, "__name__", "function"), criterion)
    if criterion is not None and not isinstance(criterion, str):
        raise InputError("criterion", expected="a name or a function of tp, fp, fn, tn", got=check.shown(criterion))
    if criterion is None:
        criterion = "cost"
    figure = figure_named(criterion, "criterion", expected=_EXPECTED, suits=_suits)
    value = _unknown_cost if figure.cells is None else figure.cells
    name = "min_cost" if figure.name == "cost" else figure.name
    return Criterion(name, value, figure.sign, _EQUIVALENT.get(figure.name))


def _suits(figure: Figure) -> bool:
    return figure.sign != 0 and (figure.cells is not None or figure.name == "cost")


def _unknown_cost(*_cells: Array) -> Array:
    raise InputError("min_cost", expected="a context", got="none")


def _even(_context: Context) -> Context:
    return Context(0.5)


_EXPECTED = "a figure of one threshold of which a high or a low value is good, such as 'accuracy' or 'f1'"
_EQUIVALENT: dict[str, Callable[[Context], Context]] = {
    "cost": lambda context: context,
    "accuracy": lambda context: Context(context.target_prevalence),
    # Only the height above the diagonal decides: accuracy if both classes were equally frequent.
    **dict.fromkeys(("youden", "ks", "balanced_accuracy", "macro_average"), _even),
}
"""Contexts for figures that are linear in the counts: the choice of lowest cost is the best by the figure."""
