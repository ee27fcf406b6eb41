"""Proof of a plan of several actions: counts, and a linear program over every score of every segment."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import isnan
from typing import Any

import numpy as np

from decision_oracle.allocations import (
    STEP,
    CountedLevels,
    beyond,
    by_segment,
    counted_of,
    differences_of,
    floors_of,
    rate_of,
    same_segments,
    spent_and_used,
    told,
    unit_costs,
)
from decision_oracle.findings import Findings, Proof
from decision_oracle.objective import ParsedBound
from rocscope._base.arrays import Array

_NEAR = 1e-7  # relative, of sums that a linear program finds in floats


def verify_actions(plan: Any, data: Any) -> Proof:
    """Check all claims of a plan of several actions against data."""
    found, levels = Findings(), by_segment(data, plan.models)
    names = list(plan.actions)
    if not same_segments(found, names, levels):
        return told(found, levels)
    every = [next(iter(levels[name].values())) for name in names]
    spent, used = 0.0, 0.0
    for number, place in enumerate(plan.places):
        own, taken = spent_and_used(counted_of(found, place, levels), unit_costs(place))
        spent, used = spent + own, used + taken
        found.near(f"cost of place {number + 1}", place.cost, own, _NEAR * max(1.0, abs(own)))
    later = plan.places[1:]
    plain = all(isnan(each.marginal) for each in plan.places)
    plain &= not any(each.price or each.max_difference or each.subject_to for each in later)
    limits = [None if plan.in_money else plan.limit, *[None] * (len(plan.places) - 1)]
    plain &= [each.limit for each in plan.places] == limits
    found.holds("places", plain and not any(each.fixed_cost or each.in_money for each in plan.places), "bounds in one")
    found.holds("actions are nested", _nested(plan, every), "a case has a later action without the one before")
    limit = None if plan.limit is None else float(plan.limit)
    if limit is not None:
        found.holds("limit", used <= limit + _NEAR * max(1.0, limit), f"{used:.9g} are taken")
    first, terms = plan.places[0], [unit_costs(place) for place in plan.places]
    counted = counted_of(Findings(), first, levels)
    differences_of(found, first, counted, terms[0])
    floors = floors_of(found, first, names, counted, terms[0])
    free, scale = _least(every, terms, limit), _NEAR * max(1.0, abs(spent))
    bounded = bool(first.max_difference or floors)
    least = _least(every, terms, limit, first.max_difference, floors) if bounded else free
    found.holds("no other allocation is cheaper", spent <= least + scale, f"one costs {least:.9g}")
    found.near("price", first.price, max(spent - free, 0.0), 2 * scale)
    if (first.max_difference or first.subject_to) and isnan(plan.marginal):
        found.holds("marginal: none beside bounds on segments", True, "")
        return told(found, levels)
    step = STEP * max(1.0, limit or 0.0)
    saved = 0.0 if limit is None else (free - _least(every, terms, limit + step)) / step
    if abs(saved - plan.marginal) <= 1e-3 * max(1.0, abs(saved)):
        found.holds("marginal", True, "")
    else:
        found.left_open.append(f"marginal: {saved:.6g} was found, not {plan.marginal:.6g}")
    return told(found, levels)


def _nested(plan: Any, every: list[CountedLevels]) -> bool:
    """Whether at every score at most as many get a later action as get one before it."""
    for name, each in zip(plan.actions, every, strict=True):
        reached = []
        for place in plan.places:
            rule, share = place.rule(name), np.zeros(each.threshold.size)
            for weight, end in zip(rule.weights, rule.ends, strict=True):
                share[: each.at(end.threshold)] += float(weight)
            reached.append(share)
        if any((after > before + _NEAR).any() for before, after in pairwise(reached)):
            return False
    return True


def _least(
    every: list[CountedLevels],
    terms: list[Any],
    limit: float | None,
    differences: Mapping[str, float] | None = None,
    floors: Sequence[tuple[int, ParsedBound]] = (),
) -> float:
    """Return the lowest cost: of each score a share gets each action, not less than of the next score.

    A share for each place, segment and score: of the cases there that get the action at that place or one after it.
    Bounds are on those that get any action, at the first place.
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    cost, use, less, more, idle, size, begin = [], [], [], [], 0.0, 0, []
    for i, each in enumerate(every):
        up, right, n = np.diff(each.tp), np.diff(each.fp), each.threshold.size
        begin.append(size)
        for place, own in enumerate(terms):
            pos, neg, cells, take = own[i]
            idle += pos * cells[2] * each.tp[-1] + neg * cells[3] * each.fp[-1]
            cost.append(pos * (cells[0] - cells[2]) * up + neg * (cells[1] - cells[3]) * right)
            use.append(take * (pos * up + neg * right))
            at = size + np.arange(n)
            less += [at[1:], at] if place else [at[1:]]
            more += [at[:-1], at - n] if place else [at[:-1]]
            size += n
    spent, smaller, larger = (np.concatenate(parts) for parts in (cost, less, more))
    row = np.arange(smaller.size)
    value: list[Array] = [np.ones(row.size), -np.ones(row.size)]
    rows, columns, most = [row, row], [smaller, larger], np.zeros(row.size)
    if limit is not None:
        value, columns = [*value, np.concatenate(use)], [*columns, np.arange(size)]
        rows, most = [*rows, np.full(size, row.size)], np.append(most, limit)
    for at, coefficients, bound in _bounds(every, terms[0], begin, size, differences or {}, floors):
        value, columns = [*value, coefficients], [*columns, at]
        rows, most = [*rows, np.full(at.size, most.size)], np.append(most, bound)
    entries = np.concatenate(value), (np.concatenate(rows), np.concatenate(columns))
    largest, extra = float(np.abs(spent).max()) or 1.0, len(differences or {})
    bounds: Any = {"A_ub": coo_array(entries, shape=(most.size, size + extra)), "b_ub": most} if most.size else {}
    solved = linprog(np.append(spent / largest, np.zeros(extra)), **bounds, bounds=(0, 1), method="highs")
    return np.inf if solved.fun is None else float(solved.fun) * largest + idle


def _bounds(
    every: list[CountedLevels],
    costs: Any,
    begin: list[int],
    size: int,
    differences: Mapping[str, float],
    floors: Sequence[tuple[int, ParsedBound]],
) -> Iterator[tuple[Array, Array, float]]:
    """Yield rows of the program: variables, what they are multiplied by, and the most that is allowed."""
    for i, bound in floors:
        each = every[i]
        totals = each.tp[-1], each.fp[-1]
        none, hit, alarm = (
            beyond(bound, np.array([tp]), np.array([fp]), totals, costs[i])
            for tp, fp in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))
        )
        assert none is not None and hit is not None and alarm is not None
        scale = max(1.0, abs(bound.most))
        value = ((hit - none) * np.diff(each.tp) + (alarm - none) * np.diff(each.fp)) / scale
        yield begin[i] + np.arange(value.size), value, float(-none[0] / scale)
    for j, (name, most) in enumerate(differences.items()):
        for i, each in enumerate(every):
            totals = each.tp[-1], each.fp[-1]
            rates = [
                rate_of(name, (up, right, *totals), costs[i])
                for up, right in zip(np.diff(each.tp), np.diff(each.fp), strict=True)
            ]
            if None not in rates:
                at = np.append(begin[i] + np.arange(len(rates)), size + j)
                for sign, allowed in ((1.0, most), (-1.0, 0.0)):
                    yield at, sign * np.append(np.array(rates, float), -1.0), allowed
