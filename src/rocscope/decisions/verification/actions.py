"""Verification of a plan of several actions: counts, and a linear program over every score of every segment."""

from itertools import pairwise
from math import isnan
from typing import Any

import numpy as np

from rocscope._base.arrays import Array
from rocscope.decisions.verification.allocations import CountedLevels, by_segment, counted_of, told
from rocscope.decisions.verification.findings import Findings, Verification

_NEAR = 1e-7  # relative, of sums that a linear program finds in floats
_STEP = 1e-5  # of the limit, by which it is moved for the marginal value


def verify_actions(plan: Any, data: Any) -> Verification:
    """Check all claims of a plan of several actions against data; see `ActionAllocation.verify`."""
    found, levels = Findings(), by_segment(data, plan.models)
    names = list(plan.actions)
    if set(names) != set(levels):
        strange = sorted(map(str, set(names) ^ set(levels)))
        found.holds("segments", False, f"not in both are {', '.join(strange[:5])}")
        return told(found, levels)
    every = [next(iter(levels[name].values())) for name in names]
    spent, used = 0.0, 0.0
    for number, place in enumerate(plan.places):
        counted, own = counted_of(found, place, levels), 0.0
        for (tp, fp, n_pos, n_neg), (pos, neg, cells, use) in zip(counted, place.unit_costs, strict=True):
            own += pos * (cells[0] * tp + cells[2] * (n_pos - tp)) + neg * (cells[1] * fp + cells[3] * (n_neg - fp))
            used += use * (pos * tp + neg * fp)
        spent += own
        found.near(f"cost of place {number + 1}", place.cost, own, _NEAR * max(1.0, abs(own)))
    plain = all(not each.price and isnan(each.marginal) and not each.max_difference for each in plan.places)
    limits = [None if plan.in_money else plan.limit, *[None] * (len(plan.places) - 1)]
    plain &= [each.limit for each in plan.places] == limits and not any(each.subject_to for each in plan.places)
    found.holds("places", plain and not any(each.fixed_cost or each.in_money for each in plan.places), "bounds in one")
    found.holds("actions are nested", _nested(plan, every), "a case has a later action without the one before")
    limit = None if plan.limit is None else float(plan.limit)
    if limit is not None:
        found.holds("limit", used <= limit + _NEAR * max(1.0, limit), f"{used:.9g} are taken")
    terms = [place.unit_costs for place in plan.places]
    least, scale = _least(every, terms, limit), _NEAR * max(1.0, abs(spent))
    found.holds("no other allocation is cheaper", spent <= least + scale, f"one costs {least:.9g}")
    step = _STEP * max(1.0, limit or 0.0)
    saved = 0.0 if limit is None else (least - _least(every, terms, limit + step)) / step
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


def _least(every: list[CountedLevels], terms: list[Any], limit: float | None) -> float:
    """Return the lowest cost: of each score a share gets each action, not less than of the next score.

    A share for each place, segment and score: of the cases there that get the action at that place or one after it.
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    cost, use, less, more, idle, size = [], [], [], [], 0.0, 0
    for i, each in enumerate(every):
        up, right, n = np.diff(each.tp), np.diff(each.fp), each.threshold.size
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
    entries = np.concatenate(value), (np.concatenate(rows), np.concatenate(columns))
    largest = float(np.abs(spent).max()) or 1.0
    bounds: Any = {"A_ub": coo_array(entries, shape=(most.size, size)), "b_ub": most} if most.size else {}
    solved = linprog(spent / largest, **bounds, bounds=(0, 1), method="highs")
    return float(solved.fun) * largest + idle
