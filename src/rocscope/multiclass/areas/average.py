"""Average: a mean over classes or pairs of classes that names the ones it could not take in."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rocscope._types import Array
from rocscope.core.result import Result


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
