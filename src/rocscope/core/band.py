"""Band: an interval of y for each x, as it is drawn around a curve."""

from dataclasses import dataclass

import numpy as np

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.core.result import Result


@dataclass(frozen=True, eq=False, repr=False)
class Band(Result):
    """Lower and upper ends of y over x.

    Parameters
    ----------
    x, low, high : arrays of one length
    level : float
        Confidence level, such as 0.95; 1 where the ends hold surely.
    method : str
        How it was made, as the legend and the report name it.
    simultaneous : bool
        True where the whole curve lies inside with that confidence; False where each point does.
    note : str
        Where it does not hold, or what it shows beside itself; empty where there is nothing to say.
    steps : bool
        True where between two x the lower end stays that of the left one and the upper end is that of the right one,
        as for a curve that never falls; False where straight lines join them.

    Examples
    --------
    >>> Band([0.0, 1.0], [0.1, 0.9], [0.3, 1.0], level=0.95, method="Wilson")
    Band(2 points, 95 % pointwise, Wilson)
    """

    x: Array
    low: Array
    high: Array
    level: float
    method: str
    simultaneous: bool = False
    note: str = ""
    steps: bool = False

    def __post_init__(self) -> None:
        columns = {name: np.asarray(getattr(self, name), dtype=np.float64) for name in ("x", "low", "high")}
        check.settle(self, **{name: check.read_only(column) for name, column in columns.items()})

    @property
    def label(self) -> str:
        """What a legend says."""
        if self.level == 1:
            return self.method
        kind = "simultaneous" if self.simultaneous else "pointwise"
        return f"{100 * self.level:g} % {kind}, {self.method}"

    def drawn(self) -> tuple[Array, Array, Array]:
        """Return x, low and high that look like the band when straight lines join them.

        Examples
        --------
        >>> Band([0.1, 0.5], [0.0, 0.2], [0.4, 0.9], level=0.95, method="PAV", steps=True).drawn()
        (array([0.1, 0.1, 0.5, 0.5]), array([0. , 0. , 0. , 0.2]), array([0.4, 0.9, 0.9, 0.9]))
        """
        if not self.steps:
            return self.x, self.low, self.high
        low, high = np.repeat(self.low, 2), np.repeat(self.high, 2)
        return np.repeat(self.x, 2), np.append(low[:1], low[:-1]), np.append(high[1:], high[-1:])

    def __repr__(self) -> str:
        return f"Band({self.x.size} points, {self.label})"
