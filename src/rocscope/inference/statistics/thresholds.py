"""Statistics at a threshold: any metric of its four counts, cost and net benefit."""

from collections.abc import Callable
from typing import Any

import numpy as np

from rocscope import metrics
from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.radix import count_at_least
from rocscope.core.context import Context
from rocscope.core.counts import ThresholdCounts
from rocscope.curves.campaign import Campaign
from rocscope.errors import InputError
from rocscope.inference.influence.linear import CountShares, Linear, Smooth

_STEP = 1e-6


def at(threshold: float, metric: str | Callable[..., Any] = "accuracy") -> Smooth:
    """Any metric of tp, fp, fn and tn at a threshold.

    Parameters
    ----------
    threshold : float
    metric : name of one of `rocscope.metrics`, or a function of (tp, fp, fn, tn)
        It must not change when all four are multiplied.

    Examples
    --------
    >>> at(2.5, "precision")(ThresholdCounts([4, 3, 2, 1], [1, 0, 1, 0], [0, 1, 0, 1]))
    0.5
    """
    function: Any = getattr(metrics, metric, None) if isinstance(metric, str) else metric
    if not callable(function):
        raise InputError("metric", expected="a metric of rocscope.metrics or a function", got=repr(metric))
    name = metric if isinstance(metric, str) else getattr(metric, "__name__", "metric")

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


def cost_at(threshold: float, context: Context | Campaign | None = None) -> Smooth:
    """Expected cost per case at a threshold, at the target prevalence if there is one.

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


def net_benefit_at(threshold: float) -> Smooth:
    """Net benefit of treating from a probability on: (tp − fp·t/(1 − t))/n.

    Examples
    --------
    >>> net_benefit_at(0.5)(ThresholdCounts([0.9, 0.6, 0.2], [2, 1, 1], [0, 1, 3]))
    0.25
    """
    odds = check.check_share(threshold, "threshold") / (1 - threshold)

    def benefit(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        return (tp - odds * fp) / (tp + fp + fn + tn)

    return Smooth(f"net benefit at {threshold:g}", at(threshold, benefit).linearise, share=False)
