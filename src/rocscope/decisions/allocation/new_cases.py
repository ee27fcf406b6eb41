"""Expected cost of an allocation on new cases: the interval of a sum over segments."""

import math
from typing import Any

import numpy as np
from scipy import special

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.decisions.allocation.segment_costs import Terms
from rocscope.decisions.generalization.chosen_estimate import ChosenEstimate
from rocscope.inference.proportions import normal_quantile


def interval_of(taken: tuple[Array, Array], totals: tuple[Array, Array], terms: Terms, level: float) -> ChosenEstimate:
    """Return the expected total cost over segments, with an interval for fixed thresholds.

    Parameters
    ----------
    taken : true and false positives of each segment, in the sample
    totals : positives and negatives of each segment, in the sample
    terms : Terms
    level : float

    Notes
    -----
    The four cells of a segment are multinomial, and segments are independent: with n cases of mean cost c and mean
    squared cost q a segment adds n (q − c²) to the variance. The interval is normal.
    """
    check.check_level(level)
    every = np.arange(totals[0].size)
    unit = float(terms.largest)  # that `hit` and `alarm` are counted in
    names = ("pos", "neg", "hit", "alarm", "miss", "rest")
    pos, neg, hit, alarm, miss, rest = (terms.column(name, every) for name in names)
    costs = (pos * (miss - unit * hit), neg * (rest + unit * alarm), pos * miss, neg * rest)
    cells = (*taken, *(total - part for total, part in zip(totals, taken, strict=True)))
    spent, squared = (
        np.sum([cell * cost**power for cell, cost in zip(cells, costs, strict=True)], axis=0) for power in (1, 2)
    )
    n = totals[0] + totals[1]
    value, error = float(spent.sum()), math.sqrt(max(float((squared - spent**2 / n).sum()), 0.0))
    idle = float(np.sum(costs[2] * totals[0] + costs[3] * totals[1]))
    reach = normal_quantile(level) * error
    facts: dict[str, Any] = {"level": level, "method": "normal, thresholds as given", "n": float(n.sum())}
    return ChosenEstimate(
        value,
        value - reach,
        value + reach,
        **facts,
        standard_error=error,
        reason="the thresholds are taken as given, not as chosen",
        apparent=value,
        acting=float(special.ndtr((idle - value) / error)) if error else float(value < idle),
    )
