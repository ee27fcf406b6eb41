"""Statistics at a fixed threshold: any metric of the four counts, cost and net benefit."""

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
from rocscope.figures.influence import PLAIN, RATIO, SHARE, SIGNED, SPARE, Linear, Scale, Smooth, Smoothed, TwoRates
from rocscope.figures.registry import figure_named, spelled

_STEP = 1e-6  # near the cube root of float64's 10⁻¹⁶, where both errors of a central difference are small
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
    scale, parts, rates = PLAIN, None, None
    metric = spelled(metric)
    if isinstance(metric, str):
        figure = figure_named(metric, "metric", expected=_EXPECTED, suits=_is_share_of_counts)
        name, function = figure.name, check.check_function(figure.cells, "metric")
        scale, parts = _SCALES.get(figure.name, _UNITS.get(figure.unit, PLAIN)), figure.parts
        rates = _TWO_RATES.get(figure.name)
    else:
        name, function = getattr(metric, "__name__", "metric"), check.check_function(metric, "metric")
    return _at(threshold, name, function, scale, parts, rates)


_UNITS = {"share": SHARE, "ratio": RATIO}
_SCALES: dict[str, Scale] = dict.fromkeys(("youden", "mcc", "kappa", "markedness"), SIGNED)


def _log_odds(share: Array) -> Array:
    return np.log(share) - np.log1p(-share)


_HALVED = TwoRates(lambda x: x / 2, lambda x: x + 0.5)
_TWO_RATES = {
    "odds_ratio": TwoRates(_log_odds, np.exp),
    "lr_positive": TwoRates(np.log, np.exp),
    "lr_negative": TwoRates(np.log, np.exp, missed=True),
    "youden": TwoRates(np.positive, np.positive),
    "balanced_accuracy": _HALVED,
    "macro_average": _HALVED,
}


def _at(
    threshold: float,
    name: str,
    function: Callable[..., Any],
    scale: Scale,
    parts: Any = None,
    rates: TwoRates | None = None,
) -> Smooth:
    def linearise(counts: ThresholdCounts) -> Linear:
        pos, neg = counts.pos / float(counts.n), counts.neg / float(counts.n)
        reached = np.arange(len(counts)) < count_at_least(counts.threshold, threshold)
        cells = np.array([pos[reached].sum(), neg[reached].sum(), pos[~reached].sum(), neg[~reached].sum()])
        value, slope = _value_and_slopes(function, cells)
        of_pos, of_neg = (np.where(reached, slope[i], slope[i + 2]) for i in (0, 1))
        mean = float(pos @ of_pos + neg @ of_neg)

        def smoothed(rows: float) -> tuple[float, float]:
            more = (cells * rows + SPARE) / (rows + 4 * SPARE)
            value, slope = _value_and_slopes(function, more)
            return value, float(np.sqrt(max(more @ slope**2 - (more @ slope) ** 2, 0.0) / (rows + 4 * SPARE)))

        trials = None
        if parts is not None and set(map(float, (*parts[0], *parts[1]))) <= {0.0, 1.0}:
            of = parts[1]
            trials = np.where(reached, of[0], of[2]), np.where(reached, of[1], of[3])
        return Linear(value, of_pos - mean, of_neg - mean, trials, Smoothed(cells, smoothed, rates))

    return Smooth(f"{name} at {threshold:g}", linearise, scale)


def _value_and_slopes(function: Callable[..., Any], cells: Array) -> tuple[float, Array]:
    """Return a metric and its derivatives by the four cells; no slopes where it has no finite value."""
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(function(*cells))
        slope = np.array([_slope(function, cells, i) for i in range(4)])
    return value, slope if np.isfinite(value) and np.isfinite(slope).all() else np.zeros(4)


def _slope(function: Callable[..., Any], cells: Array, i: int) -> float:
    """Return the derivative with respect to one cell, two-sided if the cell is not empty."""
    step = np.zeros(4)
    step[i] = _STEP
    back = step if cells[i] > _STEP else 0 * step
    return float(function(*(cells + step)) - function(*(cells - back))) / (_STEP + back[i])


@contract
def cost_at(threshold: float, context: Context | HasContext | None = None) -> Smooth:
    """Return the statistic: expected cost per case at a threshold, at the context's target prevalence if set.

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

    return _at(threshold, "cost", cost, PLAIN)


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

    return _at(threshold, "net benefit", benefit, PLAIN)
