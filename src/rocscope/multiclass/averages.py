"""Average: a mean over classes or pairs of classes that names the ones it could not take in.

From a value and its standard error to an Estimate, also where the variance says nothing.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rocscope._base.arrays import Array
from rocscope.core.result import Result
from rocscope.errors import warn
from rocscope.inference.areas.auc import newcombe
from rocscope.inference.estimate import Estimate
from rocscope.inference.proportions import logit, of_share


@dataclass(frozen=True, repr=False)
class Average(Result):
    """A weighted mean over the entries that are defined, and the names of all others.

    Parameters
    ----------
    value : float
        NaN when no entry is defined.
    over, undefined : tuples of class names, or of pairs of them
        What went in, and what has no value: a class without cases, or one that is never predicted.

    Examples
    --------
    >>> average([0.5, 1.0, float("nan")], names=["a", "b", "c"])
    Average(0.75 over 2 of 3; undefined: 'c')
    >>> float(average([0.5, 1.0], weight=[3, 1], names=["a", "b"]))
    0.625
    """

    value: float
    over: tuple[Hashable, ...]
    undefined: tuple[Hashable, ...] = ()

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        if not self.undefined:
            return f"Average({self.value:.6g} over {len(self.over)})"
        total = len(self.over) + len(self.undefined)
        missing = ", ".join(map(repr, self.undefined))
        return f"Average({self.value:.6g} over {len(self.over)} of {total}; undefined: {missing})"


def average(values: Any, *, names: Sequence[Hashable], weight: Any = None) -> Average:
    """Return the weighted mean of the entries that are not NaN, naming the others."""
    values = np.asarray(values, dtype=np.float64)
    weight = np.ones(values.size) if weight is None else np.asarray(weight, dtype=np.float64)
    defined = ~np.isnan(values)
    return Average(
        float(weighted_mean(values, weight)),
        tuple(name for name, known in zip(names, defined, strict=True) if known),
        tuple(name for name, known in zip(names, defined, strict=True) if not known),
    )


def weighted_mean(values: Array, weight: Array) -> Any:
    """Return the mean over the last axis of what is not NaN; NaN where nothing with a weight is left."""
    defined = ~np.isnan(values)
    total = np.where(defined, weight, 0.0).sum(axis=-1)
    with np.errstate(invalid="ignore"):
        return np.where(defined, weight * values, 0.0).sum(axis=-1) / total


def by_logit(value: float, standard_error: float, level: float, name: str, n: float) -> Estimate:
    """Return the interval that is symmetric on the logit scale."""
    low, high = logit(value, standard_error, level)
    return Estimate(value, low, high, level, f"{name}, logit scale", n, standard_error)


def share_of_pairs(value: float, size: float, level: float, unit: str, n: float) -> Estimate:
    """Return Wilson's interval for as many independent pairs or trios as the smallest class has cases."""
    _warn(value, f"Wilson's for {size:g} independent {unit}")
    low, high = of_share(value * size, size, "wilson", level)
    return Estimate(value, float(low), float(high), level, f"Wilson for {size:g} independent {unit}", n)


def two_smallest(value: float, first: float, second: float, level: float, n: float) -> Estimate:
    """Return Newcombe's interval for an area that rests on the two smallest classes alone."""
    name = f"Newcombe's score interval, classes of {first:g} and {second:g}"
    _warn(value, name)
    low, high = newcombe(value, first, second, level)
    return Estimate(value, low, high, level, name, n)


def _warn(value: float, instead: str) -> None:
    warn(f"{value:g}: its variance is 0 or undefined, so the interval is {instead}")
