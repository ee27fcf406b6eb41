"""ListedCases: the cases of a list that an allocation is applied to, by segment."""

from dataclasses import dataclass

import numpy as np

from rocscope._base.arrays import Array
from rocscope.decisions.allocation.parity import SegmentShares
from rocscope.decisions.allocation.segment_costs import SegmentUnitCosts
from rocscope.decisions.randomized.drawing import in_units, whole_numbers
from rocscope.segments.levels import SegmentLevels


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

    def planned(self, points: SegmentLevels, parts: SegmentShares, terms: SegmentUnitCosts, begin: Array) -> list[int]:
        """Return the planned share of each segment's cases, in multiples of `UNIT`."""
        starts = begin.tolist()
        axes = (np.append(axis, 0)[parts.point] for axis in (points.tp, points.fp))  # none at −1, nobody
        tp, fp, n_pos, n_neg = whole_numbers(*axes, points.n_pos, points.n_neg)
        share = [each.numerator if each.denominator == 1 else each for each in parts.share]
        weights, kind = [whole_numbers([term.pos], [term.neg]) for term in terms.every], terms.kind.tolist()
        found: list[int] = []
        for segment, size in zip(self.segments.tolist(), self.sizes.tolist(), strict=True):
            (pos,), (neg,) = weights[kind[segment]]
            taken = sum(share[i] * (pos * tp[i] + neg * fp[i]) for i in range(starts[segment], starts[segment + 1]))
            found.append(in_units(taken * size, pos * n_pos[segment] + neg * n_neg[segment]))
        return found
