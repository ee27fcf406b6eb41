"""Strata: kinds of units that are drawn apart, and how far each unit moves each of m estimates.

Whatever an estimate is and whatever its rows stand for, its variance comes from the same sums: a unit is a row, as many
equal rows, a row that stands for many of a population, or a group of rows.
"""

from dataclasses import dataclass
from math import nan

from rocscope._types import Array


@dataclass(frozen=True)
class Stratum:
    """Independent units of one kind.

    Parameters
    ----------
    moves : array of u × m
        How far a unit moves each estimate: its influence divided by what it is a mean over. They sum to 0.
    times : array of u, or None
        How many equal units an entry stands for.
    units, df : float
        Units in all, and what their variance is estimated from: one less, or one less for each fold.
    size : float
        The equal units that a mean over these is as sure as: fewer where weights differ.
    inside : array of 2 × m
        For areas: the units whose placement is below 1, and those whose placement is above 0.
    holding : pair of float
        For groups: how many hold rows of each class.

    Examples
    --------
    >>> import numpy as np
    >>> stratum = Stratum(np.array([[-0.1], [0.1]]), None, units=2, df=1, size=2)
    >>> stratum.covariance
    array([[0.04]])
    """

    moves: Array
    times: Array | None
    units: float
    df: float
    size: float
    inside: Array | None = None
    holding: tuple[float, float] = (nan, nan)

    @property
    def covariance(self) -> Array:
        """Of the m estimates, as far as these units vary; NaN where one unit says nothing about that."""
        moves = self.moves if self.times is None else self.moves * self.times[:, None]
        return self.scale * (self.moves.T @ moves)

    @property
    def scale(self) -> float:
        """What makes a sum of squared moves a variance."""
        return self.units / self.df if self.df > 0 else nan

    @property
    def freedom(self) -> float:
        """Degrees of freedom of that variance: of as many units as these are worth."""
        return self.df * min(1.0, self.size / self.units)

    def variance(self, model: int) -> float:
        """Return the variance of one estimate."""
        return self.scale * self.total(self.moves[:, model] ** 2)

    def variance_of_difference(self, first: int, second: int) -> float:
        """Return the variance of second − first."""
        return self.scale * self.total((self.moves[:, second] - self.moves[:, first]) ** 2)

    def total(self, values: Array) -> float:
        """Return the sum of values of all units."""
        return float(values.sum() if self.times is None else self.times @ values)
