"""Costs, gains and use of the budget for a case of each segment.

Spreading: the steps of all hulls are taken in the order of what they gain for what they take, until nothing is left.

Along a hull each further step gains less for what it takes: the best steps of all segments are the first of each.
"""
# MERGED-DOC: """Limits on differences between segments: a linear program over the vertices of each segment's hull."""
# MERGED-DOC: """Several actions: which of them the cases of each hull step get, within one limit (a multiple-choice
# knapsack).
#
# The better the cases of a step, the more an action with large stakes gains. So of the actions in the order of their
# stakes, hit + alarm, each goes to the best cases that those before it go to: a threshold for each action and
# segment.
# """
# MERGED-DOC: """Several actions within limits on differences and segments: a linear program over the scores of all
# segments.
#
# The limits are on the cases that get any action. At each score a share of the cases gets an action or one after it;
# the
# share does not fall as the score rises, and is not above that of the action before it.
# """
# MERGED-DOC: """ListedCases: the cases of a list that an allocation is applied to, by segment."""

import math
from bisect import bisect_right
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.core.context import Context, decimal, nearest
from rocscope.curves.profit_curve import Campaign
from rocscope.decisions.constraints import constraints_of
from rocscope.decisions.randomized import in_units, whole_numbers
from rocscope.errors import InfeasibleError, InputError, OneClassError, RocscopeError
from rocscope.figures.registry import known
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
            end = max(bisect_right(used, math.floor(room * unit)) - 1, 0)
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


RATES = ("tpr", "fpr", "depth")
_WORDS = {
    "equal_opportunity": ("tpr",),
    "equalized_odds": ("tpr", "fpr"),
    "demographic_parity": ("depth",),
    "selection_rate_parity": ("depth",),
    "true_positive_rate_parity": ("tpr",),
    "false_negative_rate_parity": ("tpr",),
    "false_positive_rate_parity": ("fpr",),
    "true_negative_rate_parity": ("fpr",),
}
_KEPT = 1e-12  # relative: rounding alone
_LEAST = 1e-12
"""Weights below this are rounding errors."""


def differences_of(given: Any) -> dict[str, float]:
    """Return the largest allowed difference of each rate, from a mapping or a text.

    Examples
    --------
    >>> differences_of("equalized_odds"), differences_of({"selection rate": 0.1})
    ({'tpr': 0.0, 'fpr': 0.0}, {'depth': 0.1})
    """
    if given is None:
        return {}
    if isinstance(given, str):
        given = {given: 0.0}
    if not isinstance(given, Mapping):
        expected = "a mapping such as {'tpr': 0.05}, or a text such as 'equalized_odds'"
        raise InputError("max_difference", expected=expected, got=check.shown(given))
    found: dict[str, float] = {}
    for name, most in given.items():
        figure = known(str(name))
        own = figure.name if figure else str(name)
        rates = (own,) if own in RATES else _WORDS.get(own)
        if rates is None:
            expected = check.one_of(own, [*RATES, *_WORDS])
            raise InputError("max_difference", expected=expected, got=check.shown(name))
        check.check_number(most, f"max_difference of {name}", "a difference from 0 to 1", least=0)
        found |= {rate: float(min(most, found.get(rate, 1.0))) for rate in rates}
    return found


def rate_of(name: str, points: SegmentLevels, terms: SegmentUnitCosts, segment: Array, tp: Array, fp: Array) -> Array:
    """Return a rate for each segment; NaN without cases of its class."""
    n_pos, n_neg = points.n_pos[segment], points.n_neg[segment]
    if name == "depth":
        pos, neg = terms.column("pos", segment), terms.column("neg", segment)
        return (pos * tp + neg * fp) / (pos * n_pos + neg * n_neg)
    found, total = (tp, n_pos) if name == "tpr" else (fp, n_neg)
    return np.divide(found, total, out=np.full(np.shape(found), np.nan), where=total > 0)


@dataclass(frozen=True)
class SegmentShares:
    """Which points decide which share of each segment's cases, by segment.

    Attributes
    ----------
    segment : array of numbers of segments
    point : array of points; −1 where nobody is predicted positive
    share : list of Fraction
    """

    segment: Array
    point: Array
    share: list[Fraction]

    @classmethod
    def of_steps(cls, hulls: SegmentLevels, steps: Array, drawn: int, part: Fraction) -> "SegmentShares":
        """Return who is predicted positive after so many hull steps, and a part of one more where `drawn` is not −1."""
        segments, point = np.arange(steps.size), np.where(steps > 0, hulls.start[:-1] + steps - 1, -1)
        share = [Fraction(1)] * steps.size
        if drawn < 0:
            return cls(segments, point, share)
        after, following = drawn + 1, hulls.start[drawn] + steps[drawn]
        share[drawn:after] = [1 - part, part]
        return cls(np.insert(segments, after, drawn), np.insert(point, after, following), share)


@dataclass(frozen=True)
class Floor:
    """A constraint that a segment keeps by itself: up · tp + right · fp ≤ most, in counts of the sample."""

    segment: int
    text: str
    up: float
    right: float
    most: float

    def kept(self, tp: Array, fp: Array) -> bool:
        """Whether expected counts by segment keep it."""
        return self.up * tp[self.segment] + self.right * fp[self.segment] <= self.most + _KEPT * max(
            1.0, abs(self.most)
        )


def floors_of(subject_to: Any, points: SegmentLevels, terms: SegmentUnitCosts) -> list[Floor]:
    """Return the constraints of each segment: the same for all, or of a mapping those of its segment.

    Segments without positives have no tpr, those without negatives no fpr, and are bound by none.
    """
    by_segment = isinstance(subject_to, Mapping)
    if by_segment and (unknown := [name for name in subject_to if name not in points.keys]):
        raise InputError("subject_to", expected="segments that are allocated to", got=check.listing(unknown))
    named = subject_to.items() if by_segment else ((name, subject_to) for name in points.keys)
    read = constraints_of(()) if by_segment else constraints_of(subject_to)
    found = []
    for name, own in named:
        segment = points.keys[name]
        n_pos, n_neg = (Fraction(axis[segment].item()) for axis in (points.n_pos, points.n_neg))
        term = terms.of(segment)
        cases = term.cases(n_pos, n_neg)
        for constraint in constraints_of(own) if by_segment else read:
            if constraint.figure.needs != "cells":
                expected = "a bound on a figure of the four counts, such as tpr, precision or cases"
                raise InputError("subject_to", expected=expected, got=str(constraint))
            bound = constraint.straight(term.pos * n_pos / cases, cases)
            if (bound.tpr_weight and not n_pos) or (bound.fpr_weight and not n_neg):
                continue
            up, right = (float(w / n) if n else 0.0 for w, n in ((bound.tpr_weight, n_pos), (bound.fpr_weight, n_neg)))
            found.append(Floor(segment, str(constraint), up, right, float(bound.most)))
    return found


def bounded(
    points: SegmentLevels,
    terms: SegmentUnitCosts,
    limit: Fraction | None,
    differences: Mapping[str, float],
    floors: Sequence[Floor] = (),
) -> tuple[SegmentLevels, SegmentShares]:
    """Return the points of lowest cost within limits, and the share of cases that each decides.

    Raises
    ------
    InfeasibleError
        If there are none; it says what the constraints of the segments take at least.

    Notes
    -----
    Every mixture of the thresholds of a segment is one of the vertices of their outline. The program has a variable for
    each of these, and one for the lowest rate of any segment; HiGHS solves it.
    """
    from scipy.sparse import coo_array

    outline, nobody = _both(points)
    segment, segments = outline.segment, outline.n_pos.size
    segment = np.concatenate([segment, np.arange(segments)])
    tp, fp = (np.concatenate([axis, np.zeros(segments, axis.dtype)]) for axis in (outline.tp, outline.fp))
    pos, neg, hit, alarm, use = (terms.column(name, segment) for name in ("pos", "neg", "hit", "alarm", "use"))
    cases = float(terms.total("cases", np.arange(segments), outline.n_pos, outline.n_neg))
    size, names = segment.size, list(differences)
    program = ProgramRows(size + len(names))
    taken = use * (pos * tp + neg * fp) / cases
    order = np.argsort(segment, kind="stable")
    begin = segment[order].searchsorted(np.arange(segments + 1))
    for bound in floors:
        own = order[begin[bound.segment] : begin[bound.segment + 1]]
        value = bound.up * tp[own] + bound.right * fp[own]
        program.at_most(own, value, np.zeros(own.size, np.intp), [bound.most])
    for i, name in enumerate(names):
        rate = rate_of(name, outline, terms, segment, tp, fp)
        known = np.flatnonzero(~np.isnan(rate))
        own, number = np.unique(segment[known], return_inverse=True)
        lowest = np.full(own.size, size + i)
        column, row = np.concatenate([known, lowest]), np.concatenate([number, np.arange(own.size)])
        value = np.concatenate([rate[known], np.full(own.size, -1.0)])
        program.at_most(column, value, row, np.full(own.size, differences[name]))
        program.at_most(column, -value, row, np.zeros(own.size))
    each = coo_array((np.ones(size), (segment, np.arange(size))), shape=(segments, size + len(names)))
    alone = {"A_eq": each, "b_eq": np.ones(segments)}
    found = solved(program, (alarm * neg * fp - hit * pos * tp) / cases, taken, limit, cases, floors, **alone)
    return outline, shares_of(found[:size], segment, nobody[0], tp + fp)


def solved(
    program: "ProgramRows", cost: Array, taken: Array, limit: Fraction | None, cases: float, floors: Any, **others: Any
) -> Array:
    """Return the solution of lowest cost of a program, within a limit on what is taken, as a share of all cases.

    Raises
    ------
    InfeasibleError
        If there is none; it says what the constraints of the segments take at least.
    """
    from scipy.optimize import linprog

    rest = np.zeros(program.variables - cost.size)
    least = linprog(np.append(taken, rest), **program.bounds, **others, method="highs") if floors else None
    if limit is not None:
        program.at_most(np.arange(taken.size), taken, np.zeros(taken.size, np.intp), [float(limit) / cases])
    found = linprog(np.append(cost, rest), **program.bounds, **others, method="highs")
    if found.x is None and least is not None:
        floor_words = " and ".join(dict.fromkeys(floor.text for floor in floors))
        takes = "no limit would do" if least.x is None else f"they take at least {least.fun * cases:.6g}"
        raise InfeasibleError(f"no allocation keeps {floor_words} in its segments within the limit", hint=takes)
    if found.x is None:
        raise RocscopeError("allocation", expected="an optimum of the linear program", got=str(found.message))
    return found.x


class ProgramRows:
    """Rows of a linear program with upper bounds."""

    def __init__(self, variables: int) -> None:
        self.variables, self.rows = variables, 0
        self._entries: list[tuple[Array, Array, Array]] = []
        self._most: list[Array] = []

    def at_most(self, column: Array, value: Array, row: Array, most: Any) -> None:
        """Add rows given by their entries."""
        self._entries.append((value, row + self.rows, column))
        self._most.append(np.asarray(most, np.float64))
        self.rows += len(most)

    @property
    def bounds(self) -> dict[str, Any]:
        """Arguments for linprog."""
        from scipy.sparse import coo_array

        if not self._entries:
            return {}
        value, row, column = (np.concatenate(parts) for parts in zip(*self._entries, strict=True))
        matrix = coo_array((value, (row, column)), shape=(self.rows, self.variables))
        return {"A_ub": matrix, "b_ub": np.concatenate(self._most)}


def _both(points: SegmentLevels) -> tuple[SegmentLevels, Array]:
    """Return the vertices of both hulls of each segment, and the indices of "nobody positive"."""
    upper, lower = points.upper, points.lower
    number = np.concatenate([upper.segment, lower.segment])
    inner = np.ones(number.size, bool)
    inner[upper.tp.size - 1 + lower.start[1:]] = False
    order = np.flatnonzero(inner)[np.argsort(number[inner], kind="stable")]
    start = np.concatenate([[0], np.cumsum(np.bincount(number[order], minlength=points.n_pos.size))])
    columns = {
        name: np.concatenate([getattr(each, name) for each in (upper, lower)])[order]
        for name in ("threshold", "model", "tp", "fp")
    }
    return replace(points, start=start, counted=None, **columns), order.size + np.arange(points.n_pos.size)


def shares_of(weight: Array, segment: Array, nobody: int, depth: Array) -> SegmentShares:
    """Return the parts that each decide a share of the cases, from fewest positive predictions.

    Entries from `nobody` on act on nobody.
    """
    used = np.flatnonzero(weight > _LEAST)
    used = used[np.lexsort((depth[used], segment[used]))]
    total = np.bincount(segment[used], weight[used])
    share = [Fraction(each).limit_denominator(10**15) for each in (weight[used] / total[segment[used]]).tolist()]
    last = np.append(np.diff(segment[used]) > 0, True)
    left = Fraction(1)
    for i in range(used.size):  # the last of a segment has what the others leave
        if last[i]:
            share[i], left = left, Fraction(1)
        else:
            left -= share[i]
    return SegmentShares(segment[used], np.where(used < nobody, used, -1), share)


_NONE = Fraction(0)


def terms_of_actions(
    actions: Any, hulls: SegmentLevels, population: float | None, *, budget: bool
) -> list[dict[str, UnitCosts]]:
    """Return the terms of each action in each segment, in rising order of stakes.

    Raises
    ------
    InputError
        If actions differ in what leaving a case costs, in the population or in its class mix, or have fixed costs or
        capacities of their own.
    """
    if not isinstance(actions, Mapping) or not actions or not all(isinstance(name, str) and name for name in actions):
        expected = "a mapping from the name of each action to its Campaign or Context, or to one for each segment"
        raise InputError("actions", expected=expected, got=check.shown(actions))
    given = {name: Given(context, population) for name, context in actions.items()}
    every = {name: each.terms(hulls, budget=budget) for name, each in given.items()}
    campaigns = [campaign for each in given.values() for campaign in each.campaigns]
    if any(campaign.fixed_cost or campaign.capacity is not None for campaign in campaigns):
        expected = "campaigns without a fixed cost and a capacity of their own"
        raise InputError("actions", expected=expected, got="one that has them")
    found = []
    for segment in range(hulls.n_pos.size):
        own = {name: terms.of(segment) for name, terms in every.items()}
        if len({(term.pos, term.neg, term.miss, term.rest) for term in own.values()}) > 1:
            expected = "one population, class mix and cost of leaving a case, whatever the action"
            raise InputError("actions", expected=expected, got="different ones")
        found.append(dict(sorted(own.items(), key=lambda each: each[1].hit + each[1].alarm)))
    return found


def increments(terms: list[dict[str, UnitCosts]]) -> list[SegmentUnitCosts]:
    """Return, for each place in the order of actions, what one action changes beyond the one before it."""
    found = []
    for place in range(len(terms[0])):
        each = []
        for own in terms:
            term, *before = [list(own.values())[i] for i in range(place, max(place - 2, -1), -1)]
            if before:
                names = ("hit", "alarm", "use")
                less = {name: getattr(term, name) - getattr(before[0], name) for name in names}
                term = replace(term, miss=_NONE, rest=_NONE, **less)
            each.append(term)
        found.append(SegmentUnitCosts(each, np.arange(len(terms))))
    return found


@dataclass(frozen=True)
class Upgrade:
    """The cases of one step get the action `after` instead of `before` (−1: none), which takes and gains something."""

    segment: int
    step: int
    before: int
    after: int
    use: Fraction
    worth: Fraction


@dataclass(frozen=True)
class ActionSteps:
    """For each action, in the order of stakes, how many steps of each segment get it or one after it.

    Attributes
    ----------
    steps : array of actions × segments
    drawn : Upgrade or None
        The one that a part of its cases get, at random.
    share : Fraction
        That part.
    marginal : Fraction
        What one unit more of the limit would gain.
    """

    steps: Array
    drawn: Upgrade | None
    share: Fraction
    marginal: Fraction

    def parts(self, hulls: SegmentLevels, place: int) -> SegmentShares:
        """Return the points that decide who gets the action at a place in the order, or one after it."""
        drawn = self.drawn
        segment = drawn.segment if drawn is not None and drawn.before < place <= drawn.after else -1
        return SegmentShares.of_steps(hulls, self.steps[place], segment, self.share)


def spread_actions(hulls: SegmentLevels, terms: list[dict[str, UnitCosts]], limit: Fraction | None) -> ActionSteps:
    """Return who gets which action within a limit: the optimum over all randomised rules.

    Notes
    -----
    Of each step only actions on the concave hull of gain over use can be best at any price of the limit. Their
    upgrades are taken in the order of gain per use, over all segments, until the limit is reached: the optimum of the
    linear program (Sinha & Zoltners 1979, Oper. Res. 27:503–515), in fractions.
    """
    every = [each for segment, own in enumerate(terms) for each in _upgrades(hulls, segment, list(own.values()))]
    every.sort(key=lambda each: (-each.worth, each.segment, each.step, each.before))
    steps, room = np.zeros((len(terms[0]), len(terms)), np.int64), limit
    for each in every:
        if room is not None and each.use > room:
            drawn = each if room else None
            return ActionSteps(steps, drawn, room / each.use, each.worth)
        room = None if room is None else room - each.use
        steps[each.before + 1 : each.after + 1, each.segment] += 1
    return ActionSteps(steps, None, _NONE, _NONE)


def _upgrades(hulls: SegmentLevels, segment: int, terms: list[UnitCosts]) -> list[Upgrade]:
    found = []
    for step in range(*hulls.start[segment : segment + 2].tolist()):
        up, right = (Fraction(axis[step].item()) for axis in hulls.steps)
        choices = [(term.taken(up, right), term.gain(up, right)) for term in terms]
        use, gain, place = _NONE, _NONE, -1
        while True:
            better = [((g - gain) / (u - use), g, -i) for i, (u, g) in enumerate(choices) if g > gain and u > use]
            if not better:
                break
            worth, _, after = max(better)
            found.append(Upgrade(segment, step, place, -after, choices[-after][0] - use, worth))
            use, gain, place = *choices[-after], -after
    return found


_NOISE = 1e-9  # of shares that the program finds in floats


def bounded_actions(
    points: SegmentLevels,
    changes: Sequence[SegmentUnitCosts],
    limit: Fraction | None,
    differences: Mapping[str, float],
    floors: Sequence[Floor],
) -> list[SegmentShares]:
    """Return, for each place in the order of actions, the points that decide who gets it or one after it.

    Raises
    ------
    InfeasibleError
        If nothing keeps the limits; it says what the constraints of the segments take at least.
    """
    segment, levels, begin = points.segment, points.tp.size, points.start
    first = np.zeros(levels, bool)
    first[begin[:-1]] = True
    up, right = (np.diff(axis.astype(float), prepend=0.0) for axis in (points.tp, points.fp))
    up[first], right[first] = points.tp[first], points.fp[first]
    size, names = levels * len(changes), list(differences)
    rows, cost, taken = ProgramRows(size + len(names)), [], []
    cases = float(changes[0].total("cases", np.arange(points.n_pos.size), points.n_pos, points.n_neg))
    for i, terms in enumerate(changes):
        pos, neg, hit, alarm, use = (terms.column(name, segment) for name in ("pos", "neg", "hit", "alarm", "use"))
        cost.append(float(terms.largest) * (alarm * neg * right - hit * pos * up))
        taken.append(use * (pos * up + neg * right) / cases)
        own = i * levels + np.arange(levels)
        _at_most_equal(rows, own[~first], own[~first] - 1)
        if i:
            _at_most_equal(rows, own, own - levels)
    for bound in floors:
        own = np.arange(*begin[bound.segment : bound.segment + 2])
        rows.at_most(own, bound.up * up[own] + bound.right * right[own], np.zeros(own.size, np.intp), [bound.most])
    for i, name in enumerate(names):
        rate = rate_of(name, points, changes[0], segment, up, right)
        known = np.flatnonzero(~np.isnan(rate))
        own, number = np.unique(segment[known], return_inverse=True)
        column = np.concatenate([known, np.full(own.size, size + i)])
        row, value = np.concatenate([number, np.arange(own.size)]), np.append(rate[known], np.full(own.size, -1.0))
        rows.at_most(column, value, row, np.full(own.size, differences[name]))
        rows.at_most(column, -value, row, np.zeros(own.size))
    spent = np.concatenate(cost) / (max(map(abs, np.concatenate(cost))) or 1.0)
    share = solved(rows, spent, np.concatenate(taken), limit, cases, floors, bounds=(0, 1))[:size]
    return [_shares(points, share[i * levels : (i + 1) * levels]) for i in range(len(changes))]


def _at_most_equal(rows: ProgramRows, smaller: Array, larger: Array) -> None:
    """Add that some variables are not above others."""
    number = np.arange(smaller.size)
    value = np.repeat([1.0, -1.0], smaller.size)
    rows.at_most(np.append(smaller, larger), value, np.append(number, number), np.zeros(smaller.size))


def _shares(points: SegmentLevels, reached: Array) -> SegmentShares:
    """Return the share of cases that each point decides, from the share at each score that is acted on."""
    segments = np.arange(points.n_pos.size)
    last = points.start[1:] - 1
    after = np.append(reached[1:], 0.0)
    after[last] = 0.0
    weight = np.append(reached - after, 1 - reached[points.start[:-1]])
    weight = np.where(weight > _NOISE, weight, 0.0)
    depth = np.append(points.tp + points.fp, np.zeros(segments.size))
    return shares_of(weight, np.append(points.segment, segments), reached.size, depth)


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
