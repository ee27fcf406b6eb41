"""Spreading: the steps of all hulls are taken in the order of what they gain for what they take, until nothing is left.

Along a hull each further step gains less for what it takes, so that the best steps of all groups are the first of each.
"""

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import floor, lcm

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
        best, kind, distinct = self._ranked(doubtful)
        end = best.size
        if room is not None:
            unit = lcm(*(use.denominator for use, _ in distinct))
            uses = [int(use * unit) for use, _ in distinct]
            used = list(accumulate((uses[each] for each in kind), initial=0))
            end = max(bisect_right(used, floor(room * unit)) - 1, 0)
            room -= Fraction(used[end], unit)
            if end < best.size:
                use, marginal = distinct[kind[end]]
                drawn, share = (int(self.hulls.group[best[end]]) if room else -1), room / use
        taken[best[:end]] = True
        complete = room is None or room >= 0
        complete = complete and bool(marginal or not np.any(~taken & (self.worth > self.none)))
        steps = np.add.reduceat(taken, self.hulls.start[:-1], dtype=np.int64)
        return HullSteps(steps, drawn, share, nearest(marginal)), complete

    def _ranked(self, index: Array) -> tuple[Array, list[int], list[tuple[Fraction, Fraction]]]:
        """Return the steps that gain something, the best first, and of equal ones that of the first group.

        Also which of the distinct steps each is, and what these take and gain: very many groups of few rows have few
        distinct ones, and only they are compared as fractions.
        """
        keys = self.right[index], self.up[index], self.terms.kind[self.hulls.group[index]]
        order = np.lexsort(keys)
        other = np.any([each[order][1:] != each[order][:-1] for each in keys], axis=0)
        kind = np.empty(index.size, np.intp)
        kind[order] = np.cumsum(np.append(False, other))[: index.size]
        first = order[np.append(True, other)[: index.size]]
        distinct = [self._step(i) for i in index[first].tolist()]
        place = {worth: i for i, worth in enumerate(sorted({-worth for _, worth in distinct if worth > 0}))}
        rank = np.array([place.get(-worth, -1) for _, worth in distinct], np.intp)[kind]
        best = np.lexsort((index, rank))[np.count_nonzero(rank < 0) :]
        return index[best], kind[best].tolist(), distinct

    def _use(self, index: Array) -> Fraction:
        return self.terms.total("taken", self.hulls.group[index], self.up[index], self.right[index])

    def _step(self, i: int) -> tuple[Fraction, Fraction]:
        """Return what a step takes, and what it gains for each unit of that."""
        term = self.terms.of(int(self.hulls.group[i]))
        up, right = (Fraction(axis[i].item()) for axis in (self.up, self.right))
        use = term.taken(up, right)
        return use, term.gain(up, right) / use
