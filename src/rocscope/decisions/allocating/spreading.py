"""Spreading: the steps of all hulls are taken in the order of what they gain for what they take, until nothing is left.

Along a hull each further step gains less for what it takes, so that the best steps of all groups are the first of each.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from rocscope._types import Array
from rocscope.core.context import nearest
from rocscope.decisions.allocating.outlines import Outlines
from rocscope.decisions.allocating.terms import Terms

_NEAR = 1e-9


@dataclass(frozen=True)
class HullSteps:
    """How far along its hull each group goes.

    Attributes
    ----------
    steps : array of so many whole steps by group
    drawn : int
        Group in which a part of one step more is taken, by lot; −1 where none is.
    share : Fraction
        That part.
    marginal : float
        What one unit more of the budget would gain.
    """

    steps: NDArray[np.int64]
    drawn: int
    share: Fraction
    marginal: float


def spread(hulls: Outlines, terms: Terms, limit: Fraction | None) -> HullSteps:
    """Return how far each group goes where all together take at most `limit`: the optimum over all rules by lot.

    Notes
    -----
    Sorted by what a step gains for what it takes, in floats; the few steps where the budget ends, or that gain about
    nothing, are compared as fractions. Of equal ones that of the first group is taken.
    """
    return _Steps(hulls, terms).spread(limit)


class _Steps:
    def __init__(self, hulls: Outlines, terms: Terms) -> None:
        self.hulls, self.terms = hulls, terms
        self.up, self.right = hulls.steps
        pos, neg, hit, alarm, use = (terms.column(name, hulls.group) for name in ("pos", "neg", "hit", "alarm", "use"))
        positives, negatives = pos * self.up, neg * self.right
        self.takes = use * (positives + negatives)
        self.worth = (hit * positives - alarm * negatives) / self.takes
        self.none = _NEAR * float(((hit + alarm) / use).max(initial=0))
        """What is worth less may be worth nothing."""

    def spread(self, limit: Fraction | None) -> HullSteps:
        """Take the steps that are surely worth it, and of those that are about the last the best."""
        order = np.argsort(-self.worth, kind="stable")
        order = order[self.worth[order] >= -self.none]
        worth, known = self.worth[order], self.worth > self.none
        if limit is None or not worth.size:
            return self._taken(known, order[worth <= self.none], None)[0]
        end = int(np.searchsorted(np.cumsum(self.takes[order]), float(limit)))
        high, low = (worth[min(max(each, 0), worth.size - 1)] for each in (end - 1, end + 1))
        sure = self.worth > max(high + _NEAR * abs(high), self.none)
        near = (worth >= low - _NEAR * abs(low)) | (worth <= self.none)
        found, complete = self._taken(sure, order[near & ~sure[order]], limit)
        return found if complete else self._taken(np.zeros(sure.size, bool), order, limit)[0]

    def _taken(self, sure: NDArray[np.bool_], doubtful: Array, limit: Fraction | None) -> tuple[HullSteps, bool]:
        """Take what is sure and the best of what is doubtful; say whether that is neither too much nor too little."""
        room = None if limit is None else limit - self._use(np.flatnonzero(sure))
        taken, drawn, share, marginal = sure.copy(), -1, Fraction(0), Fraction(0)
        ranked = sorted(((*self._step(i), i) for i in doubtful.tolist()), key=lambda each: -each[1])
        for use, worth, i in (each for each in ranked if each[1] > 0):
            if room is not None and use > room:
                drawn, share, marginal = (int(self.hulls.group[i]) if room else -1), room / use, worth
                break
            taken[i] = True
            room = None if room is None else room - use
        complete = not (room is not None and room < 0) and bool(
            marginal or not np.any(~taken & (self.worth > self.none))
        )
        steps = np.add.reduceat(taken, self.hulls.start[:-1], dtype=np.int64)
        return HullSteps(steps, drawn, share, nearest(marginal)), complete

    def _use(self, index: Array) -> Fraction:
        return self.terms.total("taken", self.hulls.group[index], self.up[index], self.right[index])

    def _step(self, i: int) -> tuple[Fraction, Fraction]:
        """Return what a step takes, and what it gains for each unit of that."""
        term = self.terms.of(int(self.hulls.group[i]))
        up, right = (Fraction(axis[i].item()) for axis in (self.up, self.right))
        use = term.taken(up, right)
        return use, term.gain(up, right) / use
