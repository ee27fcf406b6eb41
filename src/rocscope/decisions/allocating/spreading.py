"""Spreading: the steps of all hulls are taken in the order of what they gain for what they take, until nothing is left.

Along a hull each further step gains less for what it takes, so that the best steps of all groups are the first of each.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from rocscope._types import Array
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
        order = np.argsort(-self.worth, kind="stable")
        order = order[self.worth[order] >= -self.none]
        worth = self.worth[order]
        if limit is None:
            return self._taken(self.worth > self.none, order[worth <= self.none], None)
        end = int(np.searchsorted(np.cumsum(self.takes[order]), float(limit)))
        high, low = (worth[min(max(each, 0), worth.size - 1)] if worth.size else 0.0 for each in (end - 1, end + 1))
        high, low = high + _NEAR * abs(high), low - _NEAR * abs(low)
        sure = self.worth > max(high, self.none)
        found = self._taken(sure, order[(worth >= low) & ~sure[order] | (np.abs(worth) <= self.none)], limit)
        return found or self._taken(np.zeros(sure.size, bool), order, limit) or self._nothing()

    def _taken(self, sure: NDArray[np.bool_], doubtful: Array, limit: Fraction | None) -> HullSteps | None:
        """Take what is sure, and of what is doubtful the best; None if that is too much, or not all that there is."""
        room = None if limit is None else limit - self._use(np.flatnonzero(sure))
        if room is not None and room < 0:
            return None
        taken, drawn, share, marginal = sure.copy(), -1, Fraction(0), 0.0
        ranked = sorted(((self._worth(i), i) for i in doubtful.tolist()), key=lambda each: -each[0])
        for worth, i in (each for each in ranked if each[0] > 0):
            use = self._use(np.array([i]))
            if room is not None and use > room:
                drawn, share, marginal = (int(self.hulls.group[i]) if room else -1), room / use, float(worth)
                break
            taken[i] = True
            room = None if room is None else room - use
        if limit is not None and not marginal and np.any(~taken & (self.worth > self.none)):
            return None
        steps = np.add.reduceat(taken, self.hulls.start[:-1], dtype=np.int64)
        return HullSteps(steps, drawn, share, marginal)

    def _nothing(self) -> HullSteps:
        return HullSteps(np.zeros(self.hulls.n_pos.size, np.int64), -1, Fraction(0), 0.0)

    def _use(self, index: Array) -> Fraction:
        return self.terms.total("taken", self.hulls.group[index], self.up[index], self.right[index])

    def _worth(self, i: int) -> Fraction:
        term = self.terms.of(int(self.hulls.group[i]))
        up, right = (Fraction(axis[i].item()) for axis in (self.up, self.right))
        return term.gain(up, right) / term.taken(up, right)
