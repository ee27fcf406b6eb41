"""Estimated weights: each row also affects an estimate through the weights of other rows."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rocscope._base.arrays import Array
from rocscope._base.grouping import sum_by


@dataclass(frozen=True, eq=False)
class EstimatedWeights:
    """How row weights were estimated, and the effect of that on the variance of anything computed with them.

    Parameters
    ----------
    size : int
        Rows N of the sample that the weights were estimated from, those of weight 0 included.
    note : str
        What the weights are for, as the name of a method says it.
    base : array of N weights, optional
        The user's own weights, by which the estimated ones are multiplied.
    index : array of n, optional
        The place in that sample of each row of the data; by default the data are the sample.

    Notes
    -----
    With own moves mᵢ = ∂θ/∂log wᵢ of an estimate θ, row j moves it by mⱼ + vⱼ·Σᵢ mᵢ·ψⱼ(log wᵢ). Here ψⱼ(log wᵢ) is
    the influence of row j on the logarithm of the estimated weight of row i and vⱼ its own weight. A kind of weights
    says what the sum is; everything else is the same for all of them, and for every statistic whose moves are known.

    References
    ----------
    Newey & McFadden 1994, Handbook of Econometrics 4, ch. 36 (two-step estimators); Blanche, Dartigues &
    Jacqmin-Gadda 2013, Stat. Med. 32:5381–5397 (areas under censoring).
    """

    size: int
    note: str
    base: Array | None = None
    index: NDArray[np.intp] | None = None

    def through_weights(self, moves: Array) -> Array:
        """Return Σᵢ mᵢ·ψⱼ(log wᵢ) for each row j of the sample, given influences m (N × m)."""
        raise NotImplementedError

    def estimate(self, frequency: Array | None) -> Array:
        """Return the estimated weight of each row of the sample, if rows were drawn this often (None: once)."""
        raise NotImplementedError

    def take(self, rows: Any) -> Self:
        """Return the same for some rows of the data, by mask, slice or indices."""
        if isinstance(rows, slice) and rows == slice(None):
            return self
        return replace(self, index=self._places[rows])

    def moves(self, own: Array) -> Array:
        """Return the influence of each row of the sample on the estimates, given those with fixed weights."""
        moves = own
        if self.index is not None:
            moves = sum_by(self.index, own, self.size)
        through = self.through_weights(moves)
        return moves + (through if self.base is None else through * self.base[:, None])

    def units(self, unit: NDArray[np.intp] | None) -> NDArray[np.intp] | None:
        """Return the unit of each row of the sample, given that of each row of the data; others are their own."""
        if unit is None or self.index is None:
            return unit
        units = int(unit.max()) + 1 + np.arange(self.size)
        units[self.index] = unit
        return np.unique(units, return_inverse=True)[1]

    def redrawn(self, weight: Array, whole: bool) -> Callable[[Array], Array]:
        """Return a function from numbers of draws (one draw per row) to re-estimated weights.

        `weight` are those of the data as they are; `whole` says that the user's own weights count equal rows, so that
        they are drawn. Rows of the sample that the data do not hold are left out.
        """
        places, base = self._places, None if whole else self.base
        now = self.estimate(self.base)[places]
        kept = np.divide(weight, now, out=np.zeros(places.size), where=now > 0)
        if whole and self.base is not None:
            kept = kept / np.where(self.base[places] > 0, self.base[places], 1)

        def weights(drawn: Array) -> Array:
            found = np.empty(drawn.shape)
            for each, times in zip(found, drawn, strict=True):
                frequency = np.bincount(places, times, self.size)
                each[:] = self.estimate(frequency if base is None else frequency * base)[places]
            return found * kept

        return weights

    @property
    def _places(self) -> NDArray[np.intp]:
        return np.arange(self.size) if self.index is None else self.index
