"""ListedCases: the cases of a list that an allocation is applied to, by segment."""

from dataclasses import dataclass

import numpy as np

from rocscope._base.arrays import Array


@dataclass(frozen=True, eq=False)
class ListedCases:
    """New cases by segment.

    Attributes
    ----------
    segments : array of the allocation's numbers of the segments that occur
    code : array of the place of each case's segment among them
    scores : mapping from model to array
    """

    segments: Array
    code: Array
    scores: dict[str, Array]

    @property
    def sizes(self) -> Array:
        """Cases of each segment."""
        return np.bincount(self.code, minlength=self.segments.size)

    def take(self, rows: Array) -> "ListedCases":
        """Return some of the cases."""
        scores = {model: column[rows] for model, column in self.scores.items()}
        return ListedCases(self.segments, self.code[rows], scores)
