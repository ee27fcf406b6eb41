"""Statistics at a threshold: any metric of its four counts, cost and net benefit."""

from collections.abc import Callable
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope._base.radix import count_at_least
from rocscope.core.context import Context, HasContext
from rocscope.core.counts import ThresholdCounts
from rocscope.figures.figure import Figure
from rocscope.figures.influence import CountShares, Linear, Smooth
from rocscope.figures.registry import figure_named

_STEP = 1e-6
_EXPECTED = "a figure of one threshold that does not grow with the number of cases, such as 'precision'"


def _is_share_of_counts(figure: Figure) -> bool:
    return figure.needs == "cells" and figure.unit != "cases"


@contract
def at(threshold: float, metric: str | Callable[..., Any] = "accuracy") -> Smooth:
    """Return the statistic: any metric of tp, fp, fn and tn at a threshold.

    Parameters
    ----------
    threshold : float
    metric : name of a figure of one threshold, such as "precision", or a function of (tp, fp, fn, tn)
        It must not change when all four are multiplied.

    Returns
    -------
    Smooth
        For `estimate_of` and ``compare(statistic=…)``.

    Examples
    --------
    >>> at(2.5, "precision")(ThresholdCounts([4, 3, 2, 1], [1, 0, 1, 0], [0, 1, 0, 1]))
    0.5
    """
    if isinstance(metric, str):
        figure = figure_named(metric, "metric", expected=_EXPECTED, suits=_is_share_of_counts)
        name, function = figure.name, check.check_function(figure.cells, "metric")
    else:
        name, function = getattr(metric, "__name__", "metric"), check.check_function(metric, "metric")

    def linearise(counts: ThresholdCounts) -> Linear:
        s = CountShares.of(counts)
        reached = np.arange(len(counts)) < count_at_least(counts.threshold, threshold)
        cells = np.array([s.pos[reached].sum(), s.neg[reached].sum(), s.pos[~reached].sum(), s.neg[~reached].sum()])
        slope = np.array([_slope(function, cells, i) for i in range(4)])
        return s.linear(function(*cells), np.where(reached, slope[0], slope[2]), np.where(reached, slope[1], slope[3]))

    return Smooth(f"{name} at {threshold:g}", linearise, share=False)


def _slope(function: Callable[..., Any], cells: Array, i: int) -> float:
    """Return the derivative by one cell, from both sides where the cell is not empty."""
    step = np.zeros(4)
    step[i] = _STEP
    back = step if cells[i] > _STEP else 0 * step
    return float(function(*(cells + step)) - function(*(cells - back))) / (_STEP + back[i])


@contract
def cost_at(threshold: float, context: Context | HasContext | None = None) -> Smooth:
    """Return the statistic: expected cost per case at a threshold, at the target prevalence if there is one.

    Returns
    -------
    Smooth
        For `estimate_of` and ``compare(statistic=…)``.

    Examples
    --------
    >>> cost_at(2.5, Context(cost_fn=5))(ThresholdCounts([4, 3, 2, 1], [1, 0, 1, 0], [0, 1, 0, 1]))
    1.5
    """
    context = Context.given(context)
    costs = context.costs

    def cost(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        share = context.prevalence((tp + fn) / (tp + fp + fn + tn))
        of_pos = (costs["tp"] * tp + costs["fn"] * fn) / (tp + fn)
        return share * of_pos + (1 - share) * (costs["fp"] * fp + costs["tn"] * tn) / (fp + tn)

    return Smooth(f"cost at {threshold:g}", at(threshold, cost).linearise, share=False)


@contract
def net_benefit_at(threshold: float) -> Smooth:
    """Return the statistic: net benefit at a threshold probability t, (tp − fp·t/(1 − t))/n.

    Returns
    -------
    Smooth
        For `estimate_of` and ``compare(statistic=…)``.

    Examples
    --------
    >>> net_benefit_at(0.5)(ThresholdCounts([0.9, 0.6, 0.2], [2, 1, 1], [0, 1, 3]))
    0.25
    """
    odds = check.check_share(threshold, "threshold") / (1 - threshold)

    def benefit(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        return (tp - odds * fp) / (tp + fp + fn + tn)

    return Smooth(f"net benefit at {threshold:g}", at(threshold, benefit).linearise, share=False)
