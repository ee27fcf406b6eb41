"""RowLevels: which level of the score each row has, to carry sums from rows to levels, and results back."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rocscope._base.arrays import Array
from rocscope._base.radix import levels_of_rows


@dataclass(frozen=True, eq=False)
class RowLevels:
    """The distinct scores and the place of each row among them.

    Attributes
    ----------
    threshold : array of k
        Distinct scores, decreasing.
    level : array of n
        Which of them a row has.
    cell : array of n
        2·level, plus 1 for a negative: its place in a table of levels × classes. One place for both takes half as many
        looks at memory in no order, which is what these steps wait for.
    """

    threshold: Array
    level: NDArray[np.intp]
    cell: NDArray[np.intp]

    @classmethod
    def of(cls, positive: NDArray[np.bool_], score: Array) -> "RowLevels":
        """Rank rows once.

        Examples
        --------
        >>> ranked = RowLevels.of(np.array([True, False, True]), np.array([0.5, 0.1, 0.1]))
        >>> ranked.threshold, ranked.counts(np.array([1, 1, 4])), ranked.of_rows(np.array([7, 8]), np.array([0, 9]))
        (array([0.5, 0.1]), (array([1, 4]), array([0, 1])), array([7, 9, 8]))
        """
        rising, place = levels_of_rows(score)
        level = rising.size - 1 - place
        return cls(rising[::-1], level, 2 * level + ~positive)

    def taken(self, rows: Array) -> "RowLevels":
        """Return the same levels for some rows."""
        return RowLevels(self.threshold, self.level[rows], self.cell[rows])

    def counts(self, amount: Array) -> tuple[Array, Array]:
        """Return the positives and negatives of each level, given the weight of each row."""
        table = np.bincount(self.cell, amount, 2 * self.threshold.size).astype(amount.dtype)
        return table[::2], table[1::2]

    def of_rows(self, of_pos: Array, of_neg: Array) -> Array:
        """Return each row's value, given those of positives and negatives of each level."""
        return np.column_stack([of_pos, of_neg]).ravel()[self.cell]
