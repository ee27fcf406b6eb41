"""Learning curves: a line a model over training rows, with the spread of runs."""

from typing import Any

import numpy as np
from matplotlib.ticker import FixedLocator, NullLocator

from rocscope.evaluation.learning_result import LearningCurve
from rocscope.plotting import theme
from rocscope.plotting.legends import place_legend

_NEAREST = 0.055
"""Share of the axis that a label needs."""

_SPELLED = {"auc": "AUC", "mcc": "MCC", "npv": "NPV", "f1": "F1", "f2": "F2", "brier": "Brier score"}


def plot_learning_curve(curve: LearningCurve, ax: Any = None, *, share: float | None = 0.8) -> Any:
    """Draw a learning curve: the mean over runs at each number of training rows, and a band.

    Parameters
    ----------
    curve : LearningCurve
    ax : Axes, optional
        Where to draw; a new pyplot figure when left out.
    share : float or None
        Of the runs that lie inside the band; None for no band.

    Returns
    -------
    Axes
        Ticks are at the sizes that were tried, so far as there is room; geometric ones are on a logarithmic axis.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> runs = np.array([[0.6, 0.7, 0.8], [0.7, 0.8, 0.9]])
    >>> curve = LearningCurve("auc", True, [10, 20, 40], {"tree": runs}, [0, 1], [0, 1], True, "holdout")
    >>> ax = plot_learning_curve(curve, Figure().subplots())
    >>> ax.lines[0].get_xydata().round(2).tolist()
    [[10.0, 0.65], [20.0, 0.75], [40.0, 0.85]]
    """
    theme.require("curve", curve, LearningCurve, made_by="rocscope.evaluation.learning_curve makes one")
    axes = theme.new_axes(5.6, 4.0) if ax is None else ax
    theme.dress(axes)
    if curve.logarithmic:
        axes.set_xscale("log")
    for index, (model, label) in enumerate(zip(curve.models, theme.names(curve.models), strict=True)):
        look = theme.line_look(index)
        axes.plot(curve.size, curve.mean(model), label=label, marker="o", markersize=4, zorder=3, **look)
        if share is not None:
            band = curve.band(model, share=share)
            fill = {"color": look["color"], "alpha": 0.14, "linewidth": 0, "zorder": 2}
            axes.fill_between(band.x, band.low, band.high, label=f"_{label}", **fill)
    _set_ticks(axes, curve)
    axes.set_xlabel("Training rows")
    spelled = _SPELLED.get(curve.metric, curve.metric.replace("_", " ").capitalize())
    axes.set_ylabel(f"{spelled} on test rows")
    if share is not None:
        axes.fill_between(
            [], [], color=theme.palette().muted, alpha=0.2, linewidth=0, label=f"{100 * share:g} % of {curve.runs} runs"
        )
    place_legend(axes)
    return axes


def _set_ticks(axes: Any, curve: LearningCurve) -> None:
    """Put ticks at the sizes, from the largest down, where the label of each has room."""
    place = np.log(curve.size) if curve.logarithmic else curve.size.astype(np.float64)
    width = float(np.ptp(place)) or 1.0
    shown: list[int] = []
    for index in reversed(range(place.size)):
        if not shown or (place[shown[-1]] - place[index]) / width > _NEAREST:
            shown.append(index)
    axes.xaxis.set_major_locator(FixedLocator(curve.size[shown[::-1]].tolist()))
    axes.xaxis.set_minor_locator(NullLocator())
    theme.dress(axes)
