"""Expected cost of an allocation on new cases: the interval of a sum over segments."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import special

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.decisions.allocation.segment_costs import SegmentUnitCosts
from rocscope.decisions.generalization.chosen_estimate import ChosenEstimate
from rocscope.inference.proportions import normal_quantile

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


def interval_of(cells: Sequence[Cell], idle: Array, level: float) -> ChosenEstimate:
    """Return the expected total cost over segments, with an interval for fixed thresholds.

    Parameters
    ----------
    cells : outcomes, see `cells_of`
    idle : what leaving all cases of each segment costs
    level : float

    Notes
    -----
    The cells of a segment are multinomial, and segments are independent: with n cases of mean cost c and mean
    squared cost q a segment adds n (q − c²) to the variance. The interval is normal.
    """
    check.check_level(level)
    n = np.sum([count for count, _ in cells], axis=0)
    spent, squared = (np.sum([count * cost**power for count, cost in cells], axis=0) for power in (1, 2))
    value, error = float(spent.sum()), math.sqrt(max(float((squared - spent**2 / n).sum()), 0.0))
    reach = normal_quantile(level) * error
    facts: dict[str, Any] = {"level": level, "method": "normal, thresholds as given", "n": float(n.sum())}
    saved = float(idle.sum()) - value
    return ChosenEstimate(
        value,
        value - reach,
        value + reach,
        **facts,
        standard_error=error,
        reason="the thresholds are taken as given, not as chosen",
        apparent=value,
        acting=float(special.ndtr(saved / error)) if error else float(saved > 0),
    )
