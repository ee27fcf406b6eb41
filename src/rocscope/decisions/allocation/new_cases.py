"""Expected cost of an allocation on new cases: the interval of a sum over segments."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import special

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.decisions.allocation.refits import Refitted
from rocscope.decisions.allocation.segment_costs import SegmentUnitCosts
from rocscope.decisions.generalization.chosen_estimate import ChosenEstimate
from rocscope.decisions.generalization.cost_draws import skewed
from rocscope.inference.costs import OF_FOLDS
from rocscope.inference.proportions import normal_quantile
from rocscope.inference.reliability import FEW_EVENTS, few

Cell = tuple[Array, Array]
"""Of one outcome by segment: how many cases of the sample have it, and what each costs."""


def cells_of(
    taken: Sequence[tuple[Array, Array]], totals: tuple[Array, Array], terms: Sequence[SegmentUnitCosts]
) -> tuple[list[Cell], Array]:
    """Return the outcomes of all cases, and what leaving all cases of each segment costs.

    Parameters
    ----------
    taken : true and false positives of each segment, for each action or one after it in the order of actions
    totals : positives and negatives of each segment
    terms : what each action changes beyond the one before it
    """
    every, cells = np.arange(totals[0].size), []
    sizes = [terms[0].column(name, every) for name in ("pos", "neg")]
    costs = [size * terms[0].column(name, every) for size, name in zip(sizes, ("miss", "rest"), strict=True)]
    idle = costs[0] * totals[0] + costs[1] * totals[1]
    left = list(totals)
    for counts, each in zip(taken, terms, strict=True):
        changes = (-each.column("hit", every), each.column("alarm", every))
        for i, change in enumerate(changes):
            cells.append((left[i] - counts[i], costs[i]))
            left[i], costs[i] = counts[i], costs[i] + sizes[i] * float(each.largest) * change
    return [*cells, *zip(left, costs, strict=True)], idle


def interval_of(plan: Any, places: Sequence[Any], level: float, refitted: Refitted | None) -> ChosenEstimate:
    """Return the expected total cost over segments, with an interval.

    Parameters
    ----------
    plan : Allocation or ActionAllocation
    places : the allocations to each of its actions
    level : float
    refitted : Refitted or None
        Where thresholds were chosen anew in folds: the outcomes are then those of held-out cases.

    Notes
    -----
    The cells of a segment are multinomial, and segments are independent: with n cases of mean cost c and mean
    squared cost q a segment adds n (q − c²) to the variance. Likewise skewness adds up; the interval is Hall's.
    Held-out cells add a twentieth of the variance for the random folds, and the square of half the optimism.

    References
    ----------
    Hall 1992, J. R. Stat. Soc. B 54:221–228.
    """
    level = check.check_level(level)
    taken = [each.counts for each in places] if refitted is None else refitted.taken
    terms = [each.terms for each in places] if refitted is None else refitted.terms
    cells, idle = cells_of(taken, places[0].totals, terms)
    if refitted is None or refitted.costs is None:
        n, spent, sums = _moments(cells)
    else:
        n, spent, sums = _moments_of_rows(*refitted.costs, refitted.code, idle.size)
        sums[:2] += refitted.unseen
    second, third, fourth = sums.tolist()
    value = float(spent.sum())
    saved, reason, method = float(idle.sum()) - value, "the thresholds are taken as given, not as chosen", "as given"
    variance = second
    if refitted is not None:
        value, saved, method = value - refitted.limit_cost, saved + refitted.limit_cost, "chosen anew in folds"
        variance = OF_FOLDS * second + (max(value - plan.cost, 0.0) / 2) ** 2
        worth = second**2 / fourth if fourth else np.inf
        few_cases = few(worth, FEW_EVENTS, "cases make up the variance")
        reason = refitted.doubt or (few_cases if refitted.costs is None else "")
    error, z = math.sqrt(max(variance, 0.0)), normal_quantile(level)
    skew = third / second**1.5 if second > 0 else 0.0
    low, high = (value - error * float(skewed(each, skew)) for each in (z, -z))
    return ChosenEstimate(
        value,
        low,
        high,
        level=level,
        method=f"Hall, thresholds {method}",
        n=float(n.sum()),
        standard_error=error,
        reason=reason,
        apparent=plan.cost,
        acting=float(special.ndtr(saved / error)) if error else float(saved > 0),
    )


def _moments(cells: Sequence[Cell]) -> tuple[Array, Array, Array]:
    """Return cases and costs by segment, and the sums of second to fourth powers of deviations from the means."""
    n = np.sum([count for count, _ in cells], axis=0)
    spent = np.sum([count * cost for count, cost in cells], axis=0)
    mean = np.divide(spent, n, out=np.zeros(n.size), where=n > 0)
    sums = [np.sum([count * (cost - mean) ** power for count, cost in cells]) for power in (2, 3, 4)]
    return n, spent, np.array(sums)


def _moments_of_rows(share: Array, acted: Array, left: Array, code: Array, segments: int) -> tuple[Array, Array, Array]:
    """Return the same from the share of each row that is acted on, and what acting on it and leaving it cost."""
    costs, weight, code = np.append(acted, left), np.append(share, 1 - share), np.append(code, code)
    n, spent = np.bincount(code, weight, segments), np.bincount(code, weight * costs, segments)
    away = costs - np.divide(spent, n, out=np.zeros(segments), where=n > 0)[code]
    return n, spent, np.array([weight @ away**power for power in (2, 3, 4)])
