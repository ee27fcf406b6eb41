"""Costs, gains and use of the budget for a case of each segment.

Spreading: the steps of all hulls are taken in the order of what they gain for what they take, until nothing is left.

Along a hull each further step gains less for what it takes: the best steps of all segments are the first of each.
"""

from bisect import bisect_right
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import floor, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.core.context import Context, decimal, nearest
from rocscope.curves.profit_curve import Campaign
from rocscope.errors import InputError, OneClassError
from rocscope.segments.levels import SegmentLevels

_ONE = Fraction(1)


@dataclass(frozen=True)
class UnitCosts:
    """A context's terms for the cases of a segment.

    Attributes
    ----------
    pos, neg : Fraction
        For how many cases one positive, and one negative, of the sample stands.
    hit, alarm : Fraction
        What is gained by a true positive, and lost by a false one.
    miss, rest : Fraction
        What positives and negatives cost that are not predicted positive.
    use : Fraction
        What a case that is predicted positive takes of the budget.
    """

    pos: Fraction
    neg: Fraction
    hit: Fraction
    alarm: Fraction
    miss: Fraction
    rest: Fraction
    use: Fraction = _ONE

    @classmethod
    def of(cls, context: Context, use: Fraction, pos: Fraction, neg: Fraction) -> "UnitCosts":
        hit, alarm = context.miss_cost, context.false_alarm_cost
        if alarm < 0 or hit + alarm < 0:
            hint = "check the signs of the costs (gains are negative)"
            raise InputError("context", expected="false alarms that cost something", got=repr(context), hint=hint)
        miss, rest = (decimal(context.costs[cell]) for cell in ("fn", "tn"))
        return cls(pos, neg, hit, alarm, miss, rest, use)

    def gain(self, tp: Any, fp: Any) -> Fraction:
        """Return the saving of some positive predictions relative to predicting none."""
        return self.hit * self.pos * tp - self.alarm * self.neg * fp

    def taken(self, tp: Any, fp: Any) -> Fraction:
        """Return their use of the budget."""
        return self.use * self.cases(tp, fp)

    def cases(self, tp: Any, fp: Any) -> Fraction:
        """Return the number of cases that some counts represent."""
        return self.pos * tp + self.neg * fp

    def left(self, n_pos: Any, n_neg: Any) -> Fraction:
        """Return the cost of predicting nobody positive."""
        return self.pos * self.miss * n_pos + self.neg * self.rest * n_neg


@dataclass(frozen=True, eq=False)
class SegmentUnitCosts:
    """The terms of all segments: `kind[g]` is the index of segment g's terms."""

    every: Sequence[UnitCosts]
    kind: NDArray[np.intp]
    fixed: Fraction = Fraction(0)

    @cached_property
    def largest(self) -> Fraction:
        """Largest absolute gain or loss, used as the unit that keeps floats in range."""
        return max(max(abs(term.hit), abs(term.alarm)) for term in self.every) or _ONE

    def column(self, name: str, segment: Array) -> Array:
        """Return one of the terms for entries of segments, as floats; gains and losses in units of `largest`."""
        unit = self.largest if name in ("hit", "alarm") else _ONE
        return np.array([float(getattr(term, name) / unit) for term in self.every])[self.kind[segment]]

    def of(self, segment: int) -> UnitCosts:
        """Return the terms of a segment."""
        return self.every[self.kind[segment]]

    def total(self, name: str, segment: Array, tp: Array, fp: Array) -> Fraction:
        """Return the exact sum over segments of a term's method applied to their counts."""
        kind, most = self.kind[segment], len(self.every)
        sums = [_by_kind(axis, kind, most) for axis in (tp, fp)]
        return _sum([getattr(term, name)(*counts) for term, *counts in zip(self.every, *sums, strict=True)])


def _sum(parts: list[Fraction]) -> Fraction:
    """Return an exact sum, added in pairs, which keeps common denominators small."""
    while len(parts) > 1:
        parts = [sum(parts[i : i + 2], Fraction(0)) for i in range(0, len(parts), 2)]
    return parts[0]


def _by_kind(axis: Array, kind: Array, kinds: int) -> list[Any]:
    """Return exact sums of counts by kind; for weights, whose sums are rounded, as fractions."""
    if axis.dtype.kind == "f":
        return [Fraction(each) for each in np.bincount(kind, axis, kinds).tolist()]
    sums = np.zeros(kinds, np.int64)
    np.add.at(sums, kind, axis)
    return sums.tolist()


@dataclass(frozen=True)
class Given:
    """Costs as given: one context for all segments, or one for each."""

    context: Any
    population: float | None

    @cached_property
    def campaigns(self) -> list[Campaign]:
        each = self.context.values() if isinstance(self.context, Mapping) else [self.context]
        return [one for one in each if isinstance(one, Campaign)]

    def terms(self, hulls: SegmentLevels, *, budget: bool) -> SegmentUnitCosts:
        """Return the terms of segments with known hulls."""
        if budget and not (self.campaigns and all(campaign.unit_cost > 0 for campaign in self.campaigns)):
            hint = "without unit costs pass capacity="
            raise InputError("budget", expected="campaigns with a unit cost above 0", got="none", hint=hint)
        if self.population is not None and self.campaigns:
            raise InputError("population", expected="none beside a Campaign, which names its own", got="one")
        segments = hulls.n_pos.size
        if not isinstance(self.context, Mapping):
            term, fixed = self._term(self.context, *_totals(hulls.n_pos, hulls.n_neg), budget=budget)
            return SegmentUnitCosts([term], np.zeros(segments, np.intp), fixed)
        found = []
        share = _ONE
        if self.population is not None:
            share = decimal(self.population) / sum(_totals(hulls.n_pos, hulls.n_neg))
        for name, segment in hulls.keys.items():
            totals = _totals(hulls.n_pos[segment], hulls.n_neg[segment])
            found.append(self._term(self._own(name), *totals, budget=budget, share=share))
        return SegmentUnitCosts(
            [term for term, _ in found], np.arange(segments), sum((fixed for _, fixed in found), Fraction(0))
        )

    def _own(self, name: Hashable) -> Any:
        if name not in self.context:
            raise InputError("context", expected=f"one for each segment, also {name!r}", got=f"{len(self.context)}")
        return self.context[name]

    def _term(
        self, given: Any, n_pos: Fraction, n_neg: Fraction, *, budget: bool, share: Fraction | None = None
    ) -> tuple[UnitCosts, Fraction]:
        """Return the terms in a context for given numbers of positives and negatives, and the unavoidable cost."""
        context = given.context if isinstance(given, Campaign) else Context.given(given)
        n, use, fixed = n_pos + n_neg, _ONE, Fraction(0)
        population = n if share is None else n * share
        if isinstance(given, Campaign):
            population, fixed = decimal(given.population), decimal(given.fixed_cost)
            use = decimal(given.unit_cost) if budget else use
        elif self.population is not None and share is None:
            population = decimal(self.population)
        if context.target_prevalence is None:
            return UnitCosts.of(context, use, population / n, population / n), fixed
        if not (n_pos and n_neg):
            raise OneClassError("allocation at a target prevalence", expected="both classes", got="one")
        prevalence = decimal(context.target_prevalence)
        return UnitCosts.of(context, use, prevalence * population / n_pos, (1 - prevalence) * population / n_neg), fixed


def _totals(n_pos: Array, n_neg: Array) -> tuple[Fraction, Fraction]:
    pos, neg = (Fraction(np.sum(axis).item()) for axis in (n_pos, n_neg))
    return pos, neg


def limit_of(given: Given, capacity: float | None, budget: float | None, terms: SegmentUnitCosts) -> Fraction | None:
    """Return the limit in cases or in money, or None."""
    if isinstance(given.context, Campaign) and capacity is None:
        capacity = given.context.capacity
    elif any(campaign.capacity is not None for campaign in given.campaigns):
        raise InputError("capacity", expected="one for all segments", got="one of a campaign too")
    if capacity is not None and budget is not None:
        raise InputError("budget", expected="none beside a capacity", got="both")
    if capacity is not None:
        return decimal(check.check_number(capacity, "capacity", "a number of cases of at least 0", least=0))
    if budget is None:
        return None
    fixed = float(terms.fixed)
    words = f"an amount of at least the fixed costs, {fixed:g}"
    return decimal(check.check_number(budget, "budget", words, least=fixed)) - terms.fixed


_NEAR = 1e-9  # relative, of values in floats; what is nearer is decided in fractions, so more would only take time


@dataclass(frozen=True)
class HullSteps:
    """Number of hull steps taken in each segment.

    Attributes
    ----------
    steps : array of so many whole steps by segment
    drawn : int
        Segment in which a part of one step more is taken, at random; −1 where none is.
    share : Fraction
        That part.
    marginal : float
        What one unit more of the budget would gain.
    """

    steps: NDArray[np.int64]
    drawn: int
    share: Fraction
    marginal: float


def spread(hulls: SegmentLevels, terms: SegmentUnitCosts, limit: Fraction | None) -> HullSteps:
    """Return the steps of each segment within a total `limit`: the optimum over all randomised rules.

    Notes
    -----
    Sorted by what a step gains for what it takes, in floats; the few steps where the budget ends, or that gain about
    nothing, are compared as fractions. Of equal ones that of the first segment is taken.
    """
    return _Steps(hulls, terms).spread(limit)


class _Steps:
    def __init__(self, hulls: SegmentLevels, terms: SegmentUnitCosts) -> None:
        self.hulls, self.terms = hulls, terms
        self.up, self.right = hulls.steps
        pos, neg, hit, alarm, use = (
            terms.column(name, hulls.segment) for name in ("pos", "neg", "hit", "alarm", "use")
        )
        positives, negatives = pos * self.up, neg * self.right
        self.takes = use * (positives + negatives)
        self.worth = (hit * positives - alarm * negatives) / self.takes
        self.none = _NEAR * float(((hit + alarm) / use).max(initial=0))
        """Steps below this value may be worthless after rounding."""

    def spread(self, limit: Fraction | None) -> HullSteps:
        """Take all steps that certainly fit, and the best of those near the limit."""
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
        """Take the certain steps and the best of the doubtful ones; return whether the limit is met."""
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
                drawn, share = (int(self.hulls.segment[best[end]]) if room else -1), room / use
        taken[best[:end]] = True
        complete = room is None or room >= 0
        complete = complete and bool(marginal or not np.any(~taken & (self.worth > self.none)))
        steps = np.add.reduceat(taken, self.hulls.start[:-1], dtype=np.int64)
        return HullSteps(steps, drawn, share, nearest(marginal)), complete

    def _ranked(self, index: Array) -> tuple[Array, list[int], list[tuple[Fraction, Fraction]]]:
        """Return the steps with a gain, best first; among equal steps, those of earlier segments.

        Also which of the distinct steps each is, and what these take and gain: very many segments of few rows have few
        distinct ones, and only they are compared as fractions.
        """
        keys = self.right[index], self.up[index], self.terms.kind[self.hulls.segment[index]]
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
        return self.terms.total("taken", self.hulls.segment[index], self.up[index], self.right[index])

    def _step(self, i: int) -> tuple[Fraction, Fraction]:
        """Return a step's use of the budget, and its gain per unit of it."""
        term = self.terms.of(int(self.hulls.segment[i]))
        up, right = (Fraction(axis[i].item()) for axis in (self.up, self.right))
        use = term.taken(up, right)
        return use, term.gain(up, right) / use
