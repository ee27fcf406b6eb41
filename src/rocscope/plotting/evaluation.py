"""Plots of evaluations: critical-difference diagrams, learning curves, drift, metrics over time, and uplift."""

from collections.abc import Sequence
from math import ceil, floor
from typing import Any, Literal

import numpy as np
from matplotlib.ticker import FixedLocator, NullLocator

from rocscope._base.contract import contract
from rocscope.errors import InputError
from rocscope.evaluation.comparison import RankComparison
from rocscope.evaluation.learning import LearningCurve
from rocscope.outcomes import Drift, OverTime, UpliftCurve, UpliftTable
from rocscope.plotting import theme
from rocscope.plotting.curves import place_legend

_NEAREST = 0.055
"""Width of a tick label, as a share of the axis."""

_SPELLED = {"auc": "AUC", "mcc": "MCC", "npv": "NPV", "f1": "F1", "f2": "F2", "brier": "Brier score"}


@contract
def plot_over_time(found: OverTime, ax: Any = None, *, label: str | Sequence[str] | None = None) -> Any:
    """Plot a metric of each model against the horizon, with intervals.

    Parameters
    ----------
    found : OverTime
        Result of `rocscope.over_time`.
    ax : Axes, optional
        Axes to draw on; by default the Axes of a new pyplot figure.
    label : str or sequence of str, optional
        Legend labels, one per model; by default the names of the models.

    Returns
    -------
    Axes
        The Axes with one line per model.

    Raises
    ------
    InputError
        If `found` is not a result of `over_time`.

    See Also
    --------
    over_time

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from rocscope.outcomes import over_time
    >>> found = over_time([1, 2, 3, 4, 5, 6] * 5, [1, 1, 0, 1, 1, 0] * 5, [9, 5, 6, 7, 3, 2] * 5, [2, 4])
    >>> plot_over_time(found, Figure().subplots()).lines[0].get_xydata().tolist()
    [[2.0, 0.75], [4.0, 1.0]]
    """
    theme.require("found", found, OverTime, made_by="call rocscope.outcomes.over_time to make one")
    axes = theme.new_axes(5.6, 4.0) if ax is None else ax
    theme.style_axes(axes)
    for index, (model, name) in enumerate(zip(found.models, theme.names(found.models, label), strict=True)):
        look = theme.line_look(index)
        estimates = found.of(model)
        values = [estimate.value for estimate in estimates]
        axes.plot(found.horizons, values, label=name, marker="o", markersize=4, zorder=3, **look)
        fill = {"color": look["color"], "alpha": 0.14, "linewidth": 0, "zorder": 2}
        low = [estimate.low for estimate in estimates]
        axes.fill_between(found.horizons, low, [estimate.high for estimate in estimates], **fill)
    axes.set_xlabel("Horizon")
    axes.set_ylabel(found.quantity)
    place_legend(axes)
    return axes


@contract
def plot_drift(drift: Drift, ax: Any = None) -> Any:
    """Plot the share of reference rows and of current rows in each bin of the population stability index (PSI).

    Parameters
    ----------
    drift : Drift
        Result of `rocscope.drift`.
    ax : Axes, optional
        Axes to draw on; by default the Axes of a new pyplot figure.

    Returns
    -------
    Axes
        Each bin is labelled with its highest score. The title contains the PSI, the Kolmogorov–Smirnov distance and
        p-values.

    Raises
    ------
    InputError
        If `drift` is not a result of `rocscope.drift`, or does not contain bins because the counts were binned.

    See Also
    --------
    drift

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from rocscope import Predictions, drift
    >>> ax = plot_drift(drift(Predictions([0, 1], [1, 2]), [1, 1, 1, 2], bins=2), Figure().subplots())
    >>> [float(bar.get_height()) for bar in ax.patches]
    [0.5, 0.5, 0.75, 0.25]
    """
    theme.require("drift", drift, Drift, made_by="call rocscope.drift to make one")
    if drift.bin_ends is None or drift.reference_share is None or drift.current_share is None:
        hint = "pass exact counts or rows to rocscope.drift"
        raise InputError("drift", expected="bins of the stability index", got="no bins", hint=hint)
    axes = theme.new_axes(5.6, 4.0) if ax is None else ax
    theme.style_axes(axes)
    place = np.arange(drift.reference_share.size)
    muted, hue = theme.palette().muted, theme.palette().hues[0]
    axes.bar(place - 0.2, drift.reference_share, width=0.4, color=muted, alpha=0.6, label="reference", zorder=2)
    axes.bar(place + 0.2, drift.current_share, width=0.4, color=hue, label="current", zorder=2)
    axes.set_xticks(place, [*(f"≤ {end:.3g}" for end in drift.bin_ends.tolist()), "above"], rotation=45)
    axes.set_xlabel("Score")
    axes.set_ylabel("Share of rows")
    facts = drift.facts()
    axes.set_title(f"PSI {facts['psi']}, KS {facts['ks']}", fontsize="medium")
    axes.legend(frameon=False)
    return axes


@contract
def plot_uplift(curve: UpliftCurve, ax: Any = None, *, level: float | None = 0.95, label: str | None = None) -> Any:
    """Plot a Qini or uplift curve against the share of rows contacted.

    The plot also shows a confidence band and the line of random contacts.

    Parameters
    ----------
    curve : UpliftCurve
        Result of `Experiment.qini` or `Experiment.uplift`.
    ax : Axes, optional
        Axes to draw on; by default the Axes of a new pyplot figure. Each further curve on the same Axes has a different
        colour.
    level : float or None
        Confidence level of the pointwise band; None for no band.
    label : str, optional
        Legend label; by default the name of the model.

    Returns
    -------
    Axes
        The Axes with the curve.

    Raises
    ------
    InputError
        If `curve` is not an UpliftCurve.

    See Also
    --------
    plot_uplift_parts, from_experiment

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from rocscope.outcomes import from_experiment
    >>> trial = from_experiment([1, 0, 1, 1], [1, 0, 1, 0], {"a": [4, 3, 2, 1], "b": [1, 2, 3, 4]})
    >>> ax = plot_uplift(trial.qini("a"), Figure().subplots())
    >>> ax.lines[0].get_xydata().tolist()
    [[0.0, 0.0], [0.25, 1.0], [0.5, 1.0], [0.75, 2.0], [1.0, 1.0]]
    >>> [line.get_label() for line in plot_uplift(trial.qini("b"), ax).lines]
    ['a', 'at random', 'b']
    """
    theme.require("curve", curve, UpliftCurve, made_by="call rocscope.outcomes.from_experiment(…).qini()")
    axes = theme.new_axes(5.6, 4.0) if ax is None else ax
    theme.style_axes(axes)
    drawn = [line for line in axes.lines if line.get_gid() == "uplift"]
    look = theme.line_look(len(drawn))
    axes.plot(curve.depth, curve.gained, label=theme.names([curve.model], label)[0], gid="uplift", zorder=3, **look)
    if level is not None:
        band = curve.band(level)
        fill = {"color": look["color"], "alpha": 0.14, "linewidth": 0, "zorder": 2}
        axes.fill_between(band.x, band.low, band.high, label=f"_{curve.model}", **fill)
    # Models of one experiment share the line, because all curves end at the same point (everybody is contacted).
    random = [line for line in axes.lines if line.get_gid() == f"random-{curve.gained[-1]:.9g}"]
    if not random:
        dashed = {"color": theme.palette().muted, "linestyle": "--", "label": "at random"}
        axes.plot([0, 1], [0, curve.gained[-1]], gid=f"random-{curve.gained[-1]:.9g}", zorder=2, **dashed)
    axes.set_xlabel("Share contacted")
    axes.set_ylabel("Responses gained" if curve.kind == "uplift" else "Additional responses of the treated")
    place_legend(axes)
    return axes


@contract
def plot_uplift_parts(uplift: UpliftTable, ax: Any = None) -> Any:
    """Plot the uplift in each part of a ranking (such as deciles) with its interval.

    Parameters
    ----------
    uplift : UpliftTable
        Result of `Experiment.by_decile`.
    ax : Axes, optional
        Axes to draw on; by default the Axes of a new pyplot figure.

    Returns
    -------
    Axes
        The first bar contains the rows with the highest scores. Unreliable intervals are dotted. A part without treated
        rows or without controls has no bar.

    Raises
    ------
    InputError
        If `uplift` is not an UpliftTable.

    See Also
    --------
    plot_uplift, from_experiment

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from rocscope.outcomes import from_experiment
    >>> table = from_experiment([1, 0, 0, 1] * 9, [1, 1, 0, 0] * 9, range(36)).by_decile(parts=2)
    >>> [float(bar.get_height()) for bar in plot_uplift_parts(table, Figure().subplots()).patches]
    [0.0, 0.0]
    """
    theme.require("uplift", uplift, UpliftTable, made_by="call rocscope.outcomes.from_experiment(…).by_decile()")
    axes = theme.new_axes(5.6, 4.0) if ax is None else ax
    theme.style_axes(axes)
    estimates = [part.uplift for part in uplift.parts]
    place = np.arange(1, len(estimates) + 1)
    axes.bar(place, [estimate.value for estimate in estimates], color=theme.palette().hues[0], alpha=0.5, zorder=2)
    for x, estimate in zip(place.tolist(), estimates, strict=True):
        dash = "-" if estimate.reliable else ":"
        axes.vlines(x, estimate.low, estimate.high, color=theme.palette().ink, linestyle=dash, linewidth=1.4, zorder=3)
    axes.axhline(0, color=theme.palette().muted, linewidth=0.9, zorder=1)
    axes.xaxis.set_major_locator(FixedLocator(place.tolist()))
    axes.set_xlabel("Part of the ranking, from the top")
    axes.set_ylabel(f"Uplift, {100 * estimates[0].level:g}% CI")
    return axes


@contract
def plot_learning_curve(
    curve: LearningCurve, ax: Any = None, *, share: float | None = 0.8, label: str | Sequence[str] | None = None
) -> Any:
    """Plot a learning curve: the mean of a metric over runs, against the number of training rows.

    If the curve contains the metric on the training rows, it is drawn as a dotted line.

    Parameters
    ----------
    curve : LearningCurve
        Result of `rocscope.evaluation.learning_curve`.
    ax : Axes, optional
        Axes to draw on; by default the Axes of a new pyplot figure.
    share : float or None
        Share of the runs that lie inside the band; None for no band.
    label : str or sequence of str, optional
        Legend labels, one per model; by default the names of the models.

    Returns
    -------
    Axes
        The x axis is logarithmic if the numbers of training rows form a geometric sequence.

    Raises
    ------
    InputError
        If `curve` is not a LearningCurve.

    See Also
    --------
    learning_curve

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> runs = np.array([[0.6, 0.7, 0.8], [0.7, 0.8, 0.9]])
    >>> curve = LearningCurve("auc", True, [10, 20, 40], {"tree": runs}, [0, 1], [0, 1], True, "holdout")
    >>> ax = plot_learning_curve(curve, Figure().subplots())
    >>> ax.lines[0].get_xydata().round(2).tolist()
    [[10.0, 0.65], [20.0, 0.75], [40.0, 0.85]]
    """
    theme.require("curve", curve, LearningCurve, made_by="call rocscope.evaluation.learning_curve to make one")
    axes = theme.new_axes(5.6, 4.0) if ax is None else ax
    theme.style_axes(axes)
    if curve.logarithmic:
        axes.set_xscale("log")
    for index, (model, name) in enumerate(zip(curve.models, theme.names(curve.models, label), strict=True)):
        look = theme.line_look(index)
        axes.plot(curve.size, curve.mean(model), label=name, marker="o", markersize=4, zorder=3, **look)
        if curve.training:
            on_training = look | {"linestyle": (0, (1, 1.2)), "linewidth": 1.1, "zorder": 2.5}
            axes.plot(curve.size, curve.mean(model, training=True), label=f"{name}, training rows", **on_training)
        if share is not None:
            band = curve.band(model, share=share)
            fill = {"color": look["color"], "alpha": 0.14, "linewidth": 0, "zorder": 2}
            axes.fill_between(band.x, band.low, band.high, label=f"_{name}", **fill)
    _set_ticks(axes, curve)
    axes.set_xlabel("Training rows")
    spelled = _SPELLED.get(curve.metric, curve.metric.replace("_", " ").capitalize())
    axes.set_ylabel(spelled if curve.training else f"{spelled} on test rows")
    if share is not None:
        words = f"{100 * share:g}% of {curve.runs} runs"
        axes.fill_between([], [], color=theme.palette().muted, alpha=0.2, linewidth=0, label=words)
    place_legend(axes)
    return axes


def _set_ticks(axes: Any, curve: LearningCurve) -> None:
    """Place a tick at each number of training rows whose label fits, starting with the largest number."""
    place = np.log(curve.size) if curve.logarithmic else curve.size.astype(np.float64)
    width = float(np.ptp(place)) or 1.0
    shown: list[int] = []
    for index in reversed(range(place.size)):
        if not shown or (place[shown[-1]] - place[index]) / width > _NEAREST:
            shown.append(index)
    axes.xaxis.set_major_locator(FixedLocator(curve.size[shown[::-1]].tolist()))
    axes.xaxis.set_minor_locator(NullLocator())
    theme.style_axes(axes)


_ROW = 0.3  # height of a model's row in inches
_BAR = 0.55  # rows between bars
_WIDTH = 6.4  # inches, Matplotlib's own
_TEXT: dict[str, Any] = {
    "fontsize": "small",
    "color": theme.palette().ink,
    "va": "center",
    "textcoords": "offset points",
    "annotation_clip": False,
}
_TITLE_AT, _CRITICAL_AT, _TOP = -2.5, -1.4, -3.0  # rows above the axis


@contract
def plot_critical_difference(result: RankComparison, ax: Any = None) -> Any:
    """Plot a critical-difference diagram: mean ranks of models, with bars connecting models that do not differ.

    Parameters
    ----------
    result : RankComparison
        Result of `rocscope.evaluation.friedman`.
    ax : Axes, optional
        Axes to draw on. By default, the Axes of a new pyplot figure whose height depends on the number of models.

    Returns
    -------
    Axes
        The best model (lowest mean rank) is on the left. Bars connect models whose mean ranks differ by at most the
        critical difference. A line above the axis shows the critical difference.

    Raises
    ------
    InputError
        If `result` is not a RankComparison.

    See Also
    --------
    friedman, compare_datasets

    References
    ----------
    Demšar 2006, JMLR 7:1–30, figure 1.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from rocscope.evaluation import friedman
    >>> auc = {"a": [0.9, 0.8, 0.7, 0.9], "b": [0.8, 0.7, 0.6, 0.8], "c": [0.7, 0.6, 0.5, 0.85]}
    >>> ax = plot_critical_difference(friedman(auc), ax=Figure().subplots())
    >>> [text.get_text() for text in ax.texts]
    ['Mean rank over 4 data sets (1 is best)', 'critical difference 1.66', 'a  1.00', '2.25  b', '2.75  c']
    """
    theme.require("result", result, RankComparison, made_by="call rocscope.evaluation.friedman to make one")
    best_first = sorted(zip(result.mean_rank.values(), theme.names(result.models), strict=True), key=lambda p: p[0])
    m, groups = len(best_first), result.groups
    first_row = 0.8 + _BAR * len(groups)
    bottom = first_row + ceil(m / 2)
    axes = theme.new_axes(_WIDTH, _ROW * (bottom - _TOP) + 0.2) if ax is None else ax
    best, worst = _ends(best_first[0][0], best_first[-1][0], result.critical_difference, m)
    _draw_frame(axes, result, best, worst)
    for i, group in enumerate(groups):
        ends = [result.mean_rank[name] for name in (group[0], group[-1])]
        line = {"color": theme.palette().hues[0], "linewidth": 4, "solid_capstyle": "round", "gid": f"group-{i}"}
        axes.plot(ends, [0.6 + _BAR * i] * 2, **line)
    margin = 0.03 * (worst - best)
    for place, (rank, name) in enumerate(best_first):
        on_left = place < m // 2
        row = first_row + 0.5 + (place if on_left else m - 1 - place)
        if on_left:
            _draw_model(axes, rank, row, best - margin, f"{name}  {rank:.2f}", "right")
        else:
            _draw_model(axes, rank, row, worst + margin, f"{rank:.2f}  {name}", "left")
    axes.set_ylim(bottom + 0.1, _TOP)
    return axes


def _draw_model(axes: Any, rank: float, row: float, end: float, text: str, align: Literal["left", "right"]) -> None:
    """Draw the line from the rank of a model to its name."""
    axes.plot([rank, rank, end], [0, row, row], color=theme.palette().muted, linewidth=0.9, clip_on=False, gid="model")
    axes.plot([rank], [0], marker="o", markersize=4.5, color=theme.palette().ink, clip_on=False, zorder=3)
    offset = (3 if align == "left" else -3, 0)
    axes.annotate(text, (end, row), offset, ha=align, **_TEXT)


def _ends(best: float, worst: float, critical: float, m: int) -> tuple[int, int]:
    """Return the lowest and the highest rank on the axis, so that all models and the critical difference fit."""
    low, high = max(floor(best), 1), min(ceil(worst), m)
    while high - low < min(critical, m - 1) or high == low:
        if high < m:
            high += 1
        else:
            low -= 1
    return low, high


def _draw_frame(axes: Any, result: RankComparison, best: int, worst: int) -> None:
    """Draw the axis of mean ranks, and the critical difference above the axis."""
    for side in ("left", "right", "bottom"):
        axes.spines[side].set_visible(False)
    axes.spines["top"].set_position(("data", 0))
    axes.spines["top"].set_color(theme.palette().ink)
    axes.xaxis.set_ticks_position("top")
    axes.xaxis.set_label_position("top")
    axes.tick_params(color=theme.palette().ink, labelcolor=theme.palette().ink, labelsize="small", length=4)
    axes.set_yticks([])
    axes.set_xlim(best, worst)
    axes.set_xticks(range(best, worst + 1))
    critical = {"color": theme.line_look(1)["color"], "linewidth": 2, "clip_on": False}
    end = best + result.critical_difference
    axes.plot([best, end], [_CRITICAL_AT] * 2, marker="|", markersize=8, gid="critical-difference", **critical)
    title = f"Mean rank over {len(result.ranks)} data sets (1 is best)"
    axes.annotate(title, (best, _TITLE_AT), (0, 0), **_TEXT | {"fontsize": "medium"})
    label = f"critical difference {result.critical_difference:.2f}"
    axes.annotate(label, (end, _CRITICAL_AT), (6, 0), **_TEXT)
