"""What a monitor watches: means over the cells of a threshold, and limits that they should not be beyond."""

import re
from dataclasses import dataclass

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.core.context import Context
from rocscope.errors import InputError

CELLS = ("tp", "fp", "fn", "tn")
_SHARES = {
    "tpr": (1, None, 0, None),
    "fpr": (None, 1, None, 0),
    "precision": (1, 0, None, None),
    "depth": (1, 1, 0, 0),
    "error": (0, 1, 1, 0),
}
_CONDITION = re.compile(r"\s*([a-z]+)\s*(<|>)\s*([-+−]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*")


@dataclass(frozen=True)
class CellMean:
    """A mean over some of the cells tp, fp, fn, tn, such as the cost per case or the precision.

    Examples
    --------
    >>> precision = cell_means(Context())["precision"]
    >>> precision.of(np.array([30, 10, 5, 55]))
    (0.75, 40.0)
    """

    name: str
    used: tuple[int, ...]
    values: tuple[float, ...]

    def counts(self, cells: Array) -> Array:
        """Return the cells that the mean is over."""
        return cells[..., list(self.used)]

    def of(self, cells: Array) -> tuple[float, float]:
        """Return the mean, NaN where it is over nothing, and the number of cases that it is over."""
        counts = self.counts(cells)
        n = float(counts.sum())
        return (float(counts @ np.array(self.values) / n) if n else np.nan), n


def cell_means(context: Context) -> dict[str, CellMean]:
    """Return all means that a decision of this context is watched by."""
    costs = {"cost": tuple(context.costs.values())}
    means = {}
    for name, values in (costs | _SHARES).items():
        used = tuple(i for i, value in enumerate(values) if value is not None)
        means[name] = CellMean(name, used, tuple(float(values[i]) for i in used))
    return means


@dataclass(frozen=True)
class Limit:
    """A bound that a quantity should not be beyond: an alarm is raised once that is beyond doubt.

    Examples
    --------
    >>> Limit.parse("cost > .35")
    Limit(quantity='cost', sign='>', bound=0.35)
    """

    quantity: str
    sign: str
    bound: float

    @classmethod
    def parse(cls, text: str, known: tuple[str, ...] = ()) -> "Limit":
        """Read a condition such as ``cost > .35``."""
        found = _CONDITION.fullmatch(text)
        if found is None:
            raise InputError("fail_if", expected="a condition such as 'cost > .35'", got=repr(text))
        if known:
            check.check_choice("fail_if", found[1], known)
        return cls(found[1], found[2], float(found[3].replace("−", "-")))

    @property
    def up(self) -> bool:
        """Whether values above the bound are beyond it."""
        return self.sign == ">"

    def __str__(self) -> str:
        return f"{self.quantity} {self.sign} {self.bound:g}"
