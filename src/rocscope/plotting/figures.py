"""Plots of one or more models: ROC curves, lift charts and calibration plots.

The first part of the file draws the curves of several models on one Axes, with operating points, the iso-performance
line, and labels that do not overlap.
"""

from collections.abc import Callable, Mapping, Sequence
from math import ceil, isfinite
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from matplotlib.transforms import Bbox

from rocscope._base import validation as check
from rocscope._base.arrays import Ties
from rocscope._base.contract import contract
from rocscope.calibration.curve import CalibrationCurve, Method, calibration_curve
from rocscope.calibration.outcomes import Strategy
from rocscope.calibration.regression import Degree
from rocscope.calibration.report import plotted_numbers
from rocscope.core import Band, Context, OperatingPoint, ThresholdCounts
from rocscope.curves.curve import Curve
from rocscope.curves.rate_curves import LiftChart, RocCurve, lift_chart, roc
from rocscope.decisions.choosing import Decision, choose
from rocscope.errors import ColumnError, InputError, OneClassError
from rocscope.figures import registry
from rocscope.plotting import theme
from rocscope.plotting.curves import (
    BESIDE,
    draw,
    legend_below,
    make_room,
    outline,
    place_legend,
    quantity,
    shared_legend,
)
from rocscope.sample import Labels, Models, Scores, samples_of, with_scores
from rocscope.segments import SegmentedCounts

_OFFSETS = tuple((side, height) for height in (-4, 5, -13, 14) for side in (9, -9))
"""Candidate positions of a label relative to its mark, in points. The first is to the right and below, away from a good
curve."""


class Mark(NamedTuple):
    """Marked point of a curve, with its colour, its text and its legend label."""

    x: float
    y: float
    colour: Any
    text: str = ""
    label: str | None = None
    best: bool = False


def position(curve: Curve, point: OperatingPoint) -> tuple[float, float]:
    """Return the coordinates of an operating point in the plot of a curve."""
    return getattr(point, curve.x_name), getattr(point, curve.y_name)


def draw_mark(ax: Any, mark: Mark) -> None:
    """Draw a filled diamond for a best point, or an open circle for another point."""
    label, zorder = mark.label or "_mark", 5.5 if mark.best else 5
    ax.plot([mark.x], [mark.y], label=label, zorder=zorder, clip_on=False, **_look(mark.colour, mark.best))


def _look(colour: Any, best: bool) -> dict[str, Any]:
    look, palette = {"linestyle": "none", "markeredgewidth": 1.4}, theme.palette()
    if best:
        return look | {"marker": "D", "markersize": 6, "markerfacecolor": palette.ink, "markeredgecolor": palette.paper}
    return look | {"marker": "o", "markersize": 8, "markerfacecolor": palette.paper, "markeredgecolor": colour}


def label_marks(ax: Any, marks: Sequence[Mark]) -> None:
    """Write the text of each mark next to the mark, without covering other marks and texts.

    A text is omitted if there is no free position inside the plot.
    """
    lines = [line.get_path().transformed(line.get_transform()) for line in ax.lines if len(line.get_path().vertices)]
    frame = ax.get_window_extent()
    taken = [_around(ax, mark) for mark in marks]
    for mark in (mark for mark in marks if mark.text):
        text = ax.annotate(
            mark.text,
            (mark.x, mark.y),
            xytext=(0, 0),
            textcoords="offset points",
            fontsize="small",
            color=mark.colour,
            bbox={"boxstyle": "square,pad=0.1", "facecolor": theme.palette().paper, "alpha": 0.8, "linewidth": 0},
            zorder=6,
        )
        places = {offset: _move(text, offset) for offset in _OFFSETS}
        free = [
            offset
            for offset, box in places.items()
            if frame.contains(*box.min) and frame.contains(*box.max) and not any(box.overlaps(other) for other in taken)
        ]
        if free:
            taken.append(_move(text, min(free, key=lambda offset: _cost(offset, places[offset], lines))))
        else:
            text.remove()


def _move(text: Any, offset: tuple[float, float]) -> Bbox:
    """Move a text to an offset from its mark, and return the rectangle of pixels that it covers."""
    text.set_position(offset)
    text.set_horizontalalignment("left" if offset[0] > 0 else "right")
    text.set_verticalalignment("top" if offset[1] < 0 else "bottom")
    return text.get_window_extent()


def _cost(offset: tuple[float, float], box: Bbox, lines: Sequence[Any]) -> float:
    """Return the cost of a position: the number of curves that the text covers, plus its distance in text lines."""
    return sum(line.intersects_bbox(box, filled=False) for line in lines) + abs(offset[1]) / 12


def _around(ax: Any, mark: Mark) -> Bbox:
    """Return the rectangle of pixels that a mark covers."""
    x, y = ax.transData.transform((mark.x, mark.y))
    half = 4 * ax.figure.dpi / 72
    return Bbox.from_extents(x - half, y - half, x + half, y + half)


HULL = "rocscope-hull"
_MOST_HULLS = 3  # models with a hull: more hulls would hide the curves
_MOST_RUGS = 3  # models with a rug: there is no space for more
_MOST_LABELLED = 2  # models with labels: more labels would overlap


class Marking(NamedTuple):
    """Options for hulls, the iso-performance line, marked points and tie handling; see `plot_roc`."""

    hull: bool = False
    iso_line: bool = False
    context: Context | None = None
    thresholds: Sequence[float] | None = None
    ties: Ties = "half"


def draw_counts(
    ax: Any, curves: Mapping[str, RocCurve | LiftChart], labels: Sequence[str], what: Marking
) -> list[Mark]:
    """Draw ROC curves or lift charts with the best point and the requested marks; return the marked points."""
    lines = {name: draw(curve, ax, label=label) for (name, curve), label in zip(curves.items(), labels, strict=True)}
    colours = {name: line.get_color() for name, line in lines.items()}
    if what.ties != "half":
        for name, curve in curves.items():
            _draw_steps(ax, curve, what.ties, colours[name])
    decision = choose({name: curve.counts for name, curve in curves.items()}, what.context)
    if what.hull:
        outlined = curves if len(curves) <= _MOST_HULLS else {decision.model: curves[decision.model]}
        for name, curve in outlined.items():
            hull = curve.hull()
            look = {"color": colours[name], "linewidth": 0.9, "alpha": 0.6, "zorder": 2}
            ax.plot(hull.x, hull.y, label="_hull", gid=HULL, **look)
        ax.plot([], [], color=theme.palette().muted, linewidth=0.9, label="convex hull")
    marks = [_draw_best(ax, curves, decision, what)]
    given = [] if what.thresholds is None else list(what.thresholds)
    thresholds = check.check_column(given, "thresholds").tolist() if given else []
    for name, curve in curves.items():
        for threshold in thresholds:
            point = curve.counts.at(threshold)
            text = point.threshold_text if len(curves) <= _MOST_LABELLED else ""
            marks.append(Mark(*position(curve, point), colours[name], text))
            draw_mark(ax, marks[-1])
    if len(marks) > 1:  # one legend entry for the open circles of all models
        label = "given thresholds" if len(thresholds) > 1 else f"threshold {thresholds[0]:g}"
        ax.plot([], [], label=label, **_look(theme.palette().muted, best=False))
    return marks


def _draw_steps(ax: Any, curve: RocCurve | LiftChart, ties: Ties, colour: Any) -> None:
    """Draw the step curve on which all tied pairs count as errors ("lower") or as correct ("upper"), with its area."""
    if ties == "lower":
        where, height, name = "post", curve.y[:-1], "ties as errors"
    else:
        where, height, name = "pre", curve.y[1:], "ties as right"
    area = theme.number(float((np.diff(curve.x) * height).sum()))
    look = {"color": colour, "linewidth": 1.1, "linestyle": (0, (1, 1.2)), "zorder": 2.5}
    ax.step(*outline(curve), where=where, label=f"{name} (area {area})", **look)


def _draw_best(ax: Any, curves: Mapping[str, RocCurve | LiftChart], decision: Decision, what: Marking) -> Mark:
    curve, point = curves[decision.model], decision.point
    if what.iso_line and (isinstance(curve, RocCurve) or decision.context.target_prevalence is None):
        line = curve.iso_performance_line(what.context)
        if line.slope == line.slope:
            look = {"color": theme.palette().ink, "linewidth": 0.9, "zorder": 2.5}
            ax.axline((line.x, line.y), slope=line.slope, label="iso-performance line", **look)
    goal = "best accuracy" if what.context is None else "lowest cost"
    model = f"{theme.plain(decision.model)}, " if len(curves) > 1 else ""
    everybody_or_nobody = "nobody positive" if point.threshold > 0 else "everybody positive"
    cut = f"score ≥ {point.threshold_text}" if isfinite(point.threshold) else everybody_or_nobody
    mark = Mark(*position(curve, point), theme.palette().ink, cut, f"{goal}: {model}{cut}", best=True)
    draw_mark(ax, mark)
    return mark


def draw_calibration(
    ax: Any,
    curves: Sequence[Any],
    labels: Sequence[str],
    bands: Sequence[Band | None] | None = None,
    *,
    limits: theme.Limits | None = None,
) -> None:
    """Draw calibration curves, with rugs for up to three models; by default the axes show the range of the risks."""
    samples = {
        id(curve.counts): curve for curve in curves
    }  # the last line of each model, because lines without a rug set limits
    lines = [
        draw(curve, ax, band=band, label=label, decorated=False)
        for curve, label, band in zip(curves, labels, bands or [None] * len(curves), strict=True)
    ]
    ends = [theme.occurring(ax, curve) for curve in curves]
    limits = limits or (min(low for low, _ in ends), max(high for _, high in ends))
    if len(samples) > _MOST_RUGS:
        theme.show_limits(ax, limits)
        return
    for curve, line in zip(curves, lines, strict=True):
        if samples[id(curve.counts)] is curve:
            theme.draw_rug(ax, curve, line.get_color(), limits)


Legend = Literal["inside", "beside", "below", "none"]
_MOST_BANDS, _MOST_FACTS = 2, 3  # models: more bands would hide the curves, and more numbers would fill the legend
_LEGENDS: tuple[Legend, ...] = get_args(Legend)
_TIES: tuple[Ties, ...] = get_args(Ties)


@contract
def plot_roc(
    predictions: Models | Labels,
    y_score: Scores | None = None,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    models: Sequence[str] | None = None,
    hull: bool = False,
    iso_line: bool = False,
    context: Context | None = None,
    thresholds: Sequence[float] | None = None,
    ties: Ties = "half",
    label: str | Sequence[str] | None = None,
    legend: Legend | None = None,
    ax: Any = None,
) -> Any:
    """Plot the ROC curves of one or more models, with the best point, and hulls and thresholds on request.

    Parameters
    ----------
    predictions, y_score, pos_label, sample_weight : data of one or more models
        Pass labels as `predictions` and scores as `y_score`. Alternatively, pass Predictions, or a mapping from model
        name to counts or operating points, as `predictions`; see `rocscope.sample`.
    models : sequence of names, optional
        Names of the models to plot, in this order; by default all models.
    hull : bool
        If True, draw the convex hull of each curve. With more than three models, only the hull of the best model is
        drawn.
    iso_line : bool
        If True, draw the iso-performance line through the best point. All points of the line have the same cost.
    context : Context, optional
        Costs and prevalence that determine the best point and the iso-performance line. By default, false positives and
        false negatives have the same cost and the prevalence is that of the sample; the best point then maximises
        accuracy.
    thresholds : sequence of float, optional
        Thresholds to mark on each curve, such as ``[0.5]``; by default none.
    ties : {"half", "lower", "upper"}
        Treatment of positives and negatives with equal scores. With "half", a tie is a straight line, and a tied pair
        counts half in the AUC. "lower" also draws a step curve on which all tied pairs count as errors, and "upper" a
        step curve on which they count as correct. The legend contains both areas.
    label : str or sequence of str, optional
        Legend labels, one per model; by default the names with the AUC.
    legend : {"inside", "beside", "below", "none"}, optional
        Position of the legend. By default, "inside" if `ax` is given, otherwise "beside". "below" increases the height
        of a figure with a single Axes and keeps its width.
    ax : Axes, optional
        Axes to draw on; by default the Axes of a new pyplot figure.

    Returns
    -------
    Axes
        The Axes with the curves.

    Raises
    ------
    OneClassError
        If all labels are the same.
    ColumnError
        If `models` contains an unknown name.

    See Also
    --------
    roc, plot_three, plot_isometrics

    References
    ----------
    Vuk & Curk 2006, §4 and figure 9.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from rocscope import Predictions
    >>> ax = plot_roc(Predictions([1, 1, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.2]), ax=Figure().subplots())
    >>> for text in ax.get_legend().get_texts():
    ...     print(text.get_text())
    score (AUC 0.833)
    best accuracy: score ≥ 0.6
    chance
    """
    chosen = _select(with_scores(predictions, y_score, pos_label=pos_label, sample_weight=sample_weight), models)
    curves = {name: roc(counts) for name, counts in chosen.items()}
    check.check_choice("ties", ties, _TIES)
    what = Marking(hull, iso_line, context, thresholds, ties)
    labels = _with_auc(curves) if label is None else theme.names(curves, label)
    return _on_axes(ax, lambda axes: draw_counts(axes, curves, labels, what), legend)


@contract
def plot_lift_chart(
    predictions: Models | Labels,
    y_score: Scores | None = None,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    models: Sequence[str] | None = None,
    hull: bool = False,
    iso_line: bool = False,
    context: Context | None = None,
    thresholds: Sequence[float] | None = None,
    ties: Ties = "half",
    label: str | Sequence[str] | None = None,
    legend: Legend | None = None,
    ax: Any = None,
) -> Any:
    """Plot the lift charts of one or more models: true positives against the rate of positive predictions.

    Parameters
    ----------
    predictions, y_score, pos_label, sample_weight, models, ties, label, legend, ax : see `plot_roc`
    hull, iso_line, context, thresholds : see `plot_roc`
        If the context has a target prevalence, no iso-performance line is drawn, because the axes show numbers of the
        sample. The area with ``ties="lower"`` is ``LiftChart.area("step")``.

    Returns
    -------
    Axes
        The Axes with the lift charts.

    Raises
    ------
    OneClassError
        If all labels are the same.
    ColumnError
        If `models` contains an unknown name.

    See Also
    --------
    lift_chart, plot_three

    References
    ----------
    Vuk & Curk 2006, §5.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from rocscope import Predictions
    >>> ax = plot_lift_chart(Predictions([1, 1, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.2]), ax=Figure().subplots())
    >>> ax.get_ylabel(), ax.lines[-1].get_label()
    ('True positives (positives found)', 'best accuracy: score ≥ 0.6')
    >>> tied = [1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]
    >>> ax = plot_lift_chart(*tied, ties="lower", ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()][:2]
    ['score (area 2.000)', 'ties as errors (area 1.667)']
    """
    chosen = _select(with_scores(predictions, y_score, pos_label=pos_label, sample_weight=sample_weight), models)
    curves = {name: lift_chart(counts) for name, counts in chosen.items()}
    check.check_choice("ties", ties, _TIES)
    what, labels = Marking(hull, iso_line, context, thresholds, ties), theme.names(curves, label)
    if ties != "half" and label is None:
        areas = [theme.number(chart.area()) for chart in curves.values()]
        labels = [f"{name} (area {area})" for name, area in zip(labels, areas, strict=True)]
    return _on_axes(ax, lambda axes: draw_counts(axes, curves, labels, what), legend)


@contract
def plot_calibration(
    predictions: Models | Labels,
    y_score: Scores | None = None,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    models: Sequence[str] | None = None,
    method: Method | Sequence[Method] = "bins",
    bins: int = 10,
    strategy: Strategy = "uniform",
    edges: Any = None,
    span: float | None = None,
    degree: Degree = 1,
    knots: int = 5,
    target_prevalence: float | None = None,
    band: Literal["confidence", "consistency", "none"] | None = None,
    simultaneous: bool = False,
    level: float = 0.95,
    limits: tuple[float, float] | None = None,
    statistics: bool = True,
    label: str | Sequence[str] | None = None,
    legend: Legend | None = None,
    ax: Any = None,
) -> Any:
    """Plot the calibration curves of one or more models: observed share of positives against predicted probability.

    For up to three models, rugs show the distribution of the predicted probabilities: of positives above the plot, and
    of negatives below the plot.

    Parameters
    ----------
    predictions, y_score, pos_label, sample_weight, models, label, legend, ax : see `plot_roc`
    method : {"bins", "pav", "loess", "spline"} or several of them
        Method to estimate the calibration curve. With several methods, one curve per method is drawn on the same Axes.
    bins, strategy, edges, span, degree, knots, target_prevalence : see `rocscope.calibration_curve`
    band : {"confidence", "consistency", "none"}, optional
        Band around each curve. "confidence" is a confidence band of the curve. "consistency" is the band in which the
        curve would lie if the model were calibrated. By default, "confidence" for up to two curves, otherwise "none".
    simultaneous : bool
        If True, the band contains the entire curve with probability `level`. If False, it contains each point of the
        curve with this probability.
    level : float
        Confidence level of the band.
    limits : (float, float), optional
        Range of both axes, such as (0, 0.3); by default the range of the predicted and observed risks.
    statistics : bool
        If True, the legend contains O/E, calibration slope, ICI and Brier score of up to three models.

    Returns
    -------
    Axes
        The Axes with the calibration curves.

    Raises
    ------
    ScoreError
        If a score is not a probability.
    ColumnError
        If `models` contains an unknown name.
    InputError
        If `method` or `band` is unknown.

    See Also
    --------
    calibration_curve, plot_three

    References
    ----------
    Vuk & Curk 2006, §6 and figures 8 and 10. Dimitriadis, Gneiting & Jordan 2021 (PAV and consistency band).

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from rocscope import Predictions
    >>> predictions = Predictions([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8])
    >>> ax = plot_calibration(predictions, bins=2, ax=Figure().subplots())
    >>> ax.lines[-1].get_xydata().tolist()
    [[0.2, 0.5], [0.7, 0.5]]
    """
    predictions = with_scores(predictions, y_score, pos_label=pos_label, sample_weight=sample_weight)
    counted = _select(predictions, models)
    if limits is not None and not 0 <= limits[0] < limits[1] <= 1:
        raise InputError("limits", expected="two increasing numbers from 0 to 1", got=repr(limits))
    methods: Sequence[Method] = [method] if isinstance(method, str) else method
    if not isinstance(methods, list | tuple) or not methods:
        raise InputError("method", expected="one or more names of methods", got=check.shown(method))
    kind = band or ("confidence" if len(counted) * len(methods) <= _MOST_BANDS else "none")
    check.check_choice("band", kind, ("confidence", "consistency", "none"))
    chosen = counted if kind == "none" else _rows_or_counts(predictions, list(counted))  # only a band asks for rows
    options: dict[str, Any] = {"bins": bins, "strategy": strategy, "edges": edges, "span": span, "degree": degree}
    options |= {"knots": knots, "target_prevalence": target_prevalence}
    curves = [curve for data in chosen.values() for curve in _curves(data, methods, options)]
    names = theme.names(chosen, label)
    labels = list(names)
    if len(methods) > 1:
        ways = [curve.method for curve in curves[: len(methods)]]
        labels = [f"{name}, {way}" for name in names for way in ways] if len(chosen) > 1 else ways
    bands = [_band(curve, kind, simultaneous, level) for curve in curves]
    if statistics and len(chosen) <= _MOST_FACTS:
        # Only the label of a model's first curve contains its numbers.
        for model, counts in enumerate(counted.values()):
            labels[model * len(methods)] += "\n" + _facts(counts, target_prevalence)
    return _on_axes(ax, lambda axes: draw_calibration(axes, curves, labels, bands, limits=limits), legend)


def _curves(data: Any, methods: Sequence[Method], options: dict[str, Any]) -> list[CalibrationCurve]:
    """Return the calibration curves of one model, one per method; all have the same counts, and therefore one rug."""
    curves = [calibration_curve(data, method=method, **options) for method in methods]
    for curve in curves[1:]:
        curve.counts = curves[0].counts
    return curves


def _rows_or_counts(predictions: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return the rows of each model, because rows contain weights and groups; without rows, return the counts."""
    samples = samples_of(predictions, name="predictions")
    return {name: samples[name].counts if samples[name].rows is None else samples[name].rows for name in names}


def _facts(counts: ThresholdCounts, target_prevalence: float | None) -> str:
    """Return O/E, slope, ICI and Brier score of a model for the legend, in two lines."""
    numbers = plotted_numbers(counts, target_prevalence)
    ratios = f"O/E {numbers['observed_over_expected']:.2f}, slope {numbers['slope']:.2f}"
    return f"{ratios}\nICI {theme.number(numbers['ici'])}, Brier {theme.number(numbers['brier'])}"


def _band(curve: CalibrationCurve, kind: str, simultaneous: bool, level: float) -> Band | None:
    if kind == "none":
        return None
    make = curve.consistency_band if kind == "consistency" else curve.confidence_band
    return make(simultaneous=simultaneous, level=level)


_GRID = 201  # points of each axis at which isometrics are computed


@contract
def plot_isometrics(
    metric: str = "accuracy",
    *,
    target_prevalence: float | None = None,
    lines: int | Sequence[float] = 9,
    ax: Any = None,
) -> Any:
    """Plot the isometrics of a metric in ROC space: lines on which the metric has the same value.

    Parameters
    ----------
    metric : str
        Metric that depends on a threshold, such as ``"accuracy"``, ``"precision"`` or ``"f1"``.
    target_prevalence : float, optional
        Prevalence at which the metric is computed; by default 0.5.
    lines : int or sequence of float
        Maximum number of lines, or the values of the metric for which lines are drawn.
    ax : Axes, optional
        Axes to draw on, such as the Axes of a ROC curve; by default the Axes of a new pyplot figure.

    Returns
    -------
    Axes
        The Axes with the lines.

    Raises
    ------
    InputError
        If the metric is unknown or threshold-free, or `target_prevalence` is not between 0 and 1.

    See Also
    --------
    plot_roc, plot_regions

    References
    ----------
    Flach 2003, "The geometry of ROC space", ICML, 194–201.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = plot_isometrics("accuracy", target_prevalence=0.2, lines=[0.5, 0.8], ax=Figure().subplots())
    >>> ax.get_title()
    'Isometrics of accuracy, 20% positive'
    """
    share = 0.5 if target_prevalence is None else check.check_share(target_prevalence, "target_prevalence")
    expected = "a metric of one threshold"
    figure = registry.figure_named(metric, "metric", expected=expected, suits=lambda figure: figure.cells)
    assert figure.cells is not None
    axes = theme.new_axes() if ax is None else ax
    rate = np.linspace(0, 1, _GRID)
    fpr, tpr = np.meshgrid(rate, rate)
    value = figure.cells(share * tpr, (1 - share) * fpr, share * (1 - tpr), (1 - share) * (1 - fpr))
    theme.style_axes(axes)
    axes.set_box_aspect(1)
    palette = theme.palette()
    value = np.ma.masked_invalid(value)  # undefined in a corner, such as precision if nothing is predicted positive
    drawn = axes.contour(fpr, tpr, value, lines, colors=[palette.muted], linewidths=0.9, zorder=1.5)
    axes.clabel(drawn, fontsize="small", colors=[palette.ink])
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel=quantity("fpr").label, ylabel=quantity("tpr").label)
    axes.set_title(f"Isometrics of {figure.title}, {100 * share:g}% positive")
    return axes


@contract
def plot_three(
    predictions: Models | Labels,
    y_score: Scores | None = None,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    models: Sequence[str] | None = None,
    hull: bool = False,
    iso_line: bool = False,
    context: Context | None = None,
    thresholds: Sequence[float] | None = None,
    bins: int = 10,
    strategy: Strategy = "uniform",
    title: str = "",
    figure: Any = None,
) -> Any:
    """Plot ROC curves, lift charts and calibration plots side by side.

    Parameters
    ----------
    predictions, y_score, pos_label, sample_weight, models, hull, iso_line, context, thresholds : see `plot_roc`
    bins, strategy : see `rocscope.calibration_curve`
    title : str
        Title of the figure.
    figure : Figure, optional
        Empty figure to draw on; by default a new pyplot figure.

    Returns
    -------
    Figure
        The figure with three Axes.

    Raises
    ------
    OneClassError
        If all labels are the same.
    ScoreError
        If a score is not a probability.
    ColumnError
        If `models` contains an unknown name.

    See Also
    --------
    plot_roc, plot_lift_chart, plot_calibration

    References
    ----------
    Vuk & Curk 2006.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from rocscope import Predictions
    >>> figure = plot_three(Predictions([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8]), figure=Figure(figsize=(12, 5)))
    >>> [ax.get_title(loc="left") for ax in figure.axes]
    ['ROC curve', 'Lift chart', 'Calibration plot']
    """
    chosen = _select(with_scores(predictions, y_score, pos_label=pos_label, sample_weight=sample_weight), models)
    curves = {name: roc(counts) for name, counts in chosen.items()}
    charts = {name: lift_chart(counts) for name, counts in chosen.items()}
    calibrations = [calibration_curve(counts, bins=bins, strategy=strategy) for counts in chosen.values()]
    what, labels = (
        Marking(hull, iso_line, context, thresholds),
        _with_auc(curves),
    )  # the three plots share a legend, and therefore the labels
    figure = theme.new_figure(12.6, 5.0) if figure is None else figure
    if figure.get_layout_engine() is None:
        figure.set_layout_engine("constrained")
    roc_axes, lift_axes, calibration_axes = figure.subplots(1, 3)
    marks = {
        roc_axes: draw_counts(roc_axes, curves, labels, what),
        lift_axes: draw_counts(lift_axes, charts, labels, what),
    }
    draw_calibration(calibration_axes, calibrations, labels)
    for axes, name in ((roc_axes, "ROC curve"), (lift_axes, "Lift chart"), (calibration_axes, "Calibration plot")):
        axes.set_title(name, fontsize="medium", loc="left", fontweight="bold")
    if title:
        figure.suptitle(theme.plain(title, longest=100), x=0.01, ha="left", color=theme.palette().ink)
    shared_legend(figure, (roc_axes, lift_axes, calibration_axes), len(chosen))
    # Positions of texts next to marks depend on pixels, so the layout comes first.
    figure.draw_without_rendering()
    for axes, its_marks in marks.items():
        label_marks(axes, its_marks)
    return figure


LONGEST_PART = 14  # characters of the name of a class or segment: a choice
_MOST_COLUMNS = 4  # panels side by side, with the width that a plot needs


def draw_panels(
    parts: Mapping[Any, bool],
    draw_panel: Callable[[Any, Any, str], None],
    columns: int | None,
    figure: Any,
    labels: tuple[str, str],
    without: str,
) -> Any:
    """Draw a panel for each part that has both classes; list the other parts below the panels after `without`."""
    shown = [part for part, has_both in parts.items() if has_both]
    missing = [theme.plain(part, LONGEST_PART) for part, has_both in parts.items() if not has_both]
    columns = _columns_of(len(shown)) if columns is None else min(check.check_whole(columns, "columns"), len(shown))
    rows = ceil(len(shown) / columns)
    figure = theme.new_figure(2.7 * columns + 0.8, 2.8 * rows + 0.8) if figure is None else figure
    if figure.get_layout_engine() is None:
        figure.set_layout_engine("constrained")
    panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
    for ax, part in zip(panels, shown, strict=False):
        draw_panel(ax, part, theme.plain(part, LONGEST_PART))
    for ax in panels[len(shown) :]:
        ax.remove()
    lowest = panels[len(shown) - columns : len(shown)].tolist()  # x label of each column, also above an empty cell
    for ax in figure.axes:
        ax.set_xlabel(labels[0] if ax in lowest else "", fontsize="small")
        ax.tick_params(labelbottom=ax in lowest)
        ax.set_ylabel(labels[1] if ax.get_subplotspec().is_first_col() else "", fontsize="small")
    if missing:
        figure.supxlabel(f"{without}: {', '.join(missing)}", fontsize="small", color=theme.palette().ink)
    return figure


def _columns_of(panels: int) -> int:
    """Return the number of columns that leaves the fewest places in the last row empty."""
    most = range(min(ceil(panels**0.5), _MOST_COLUMNS), _MOST_COLUMNS + 1)
    return min(most, key=lambda columns: -panels % columns)


@contract
def plot_segments(segments: SegmentedCounts, *, columns: int | None = None, figure: Any = None) -> Any:
    """Plot the ROC curve of each segment in a panel of its own, with the curve of all segments together in grey.

    Parameters
    ----------
    segments : SegmentedCounts
        Result of ``Predictions.counts(by="segment")``.
    columns : int, optional
        Number of panels per row. By default at most four, with the fewest empty places in the last row.
    figure : Figure, optional
        Empty figure to draw on; by default a new pyplot figure.

    Returns
    -------
    Figure
        The figure with one panel per segment, which is titled with the AUC. A text below the panels lists the segments
        without positives or without negatives.

    Raises
    ------
    InputError
        If `segments` is not a SegmentedCounts.
    OneClassError
        If no segment has both classes.

    See Also
    --------
    plot_roc, plot_class_rocs

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from rocscope import Predictions
    >>> user = ["ann", "ann", "ann", "bob", "bob", "cy"]
    >>> preds = Predictions([1, 0, 1, 0, 1, 1], [4, 3, 2, 1, 2, 5], segment=user)
    >>> figure = plot_segments(preds.counts(by="segment"), figure=Figure(figsize=(6, 3)))
    >>> [ax.get_title(loc="left") for ax in figure.axes]
    ['ann: AUC 0.500', 'bob: AUC 1.000']
    """
    theme.require("segments", segments, SegmentedCounts, made_by='call Predictions.counts(by="segment") to make one')
    has_both = dict(zip(segments.names.tolist(), (segments.n_pos > 0) & (segments.n_neg > 0), strict=True))
    if not any(has_both.values()):
        raise OneClassError("segments", expected="a segment with both classes", got="segments of one class")
    together = roc(segments.pooled())

    def panel(ax: Any, segment: Any, name: str) -> None:
        curve = roc(segments[segment])
        draw(curve, ax)
        ax.plot(*outline(together), color=theme.palette().muted, linewidth=1.1, alpha=0.6, zorder=2)
        ax.set_title(f"{name}: {_auc_of(curve)}", fontsize="small", loc="left", color=theme.palette().ink)

    axes = ("False-positive rate", "True-positive rate")
    return draw_panels(has_both, panel, columns, figure, axes, "Without positives or without negatives")


def _select(predictions: Any, models: Sequence[str] | None) -> dict[str, ThresholdCounts]:
    known = samples_of(predictions, name="predictions").counts()
    names = list(known) if models is None else list(models)
    if not names:
        raise InputError("models", expected="at least one model", got="no model")
    for name in names:
        if name not in known:
            raise ColumnError("models", expected=check.one_of(name, list(known)), got=repr(name))
    return {name: known[name] for name in names}


def _with_auc(curves: Mapping[str, Any]) -> list[str]:
    return [f"{name} ({_auc_of(curve)})" for name, curve in zip(theme.names(curves), curves.values(), strict=True)]


def _auc_of(curve: RocCurve) -> str:
    return f"AUC {theme.number(curve.auc)}"


def _on_axes(ax: Any, draw: Callable[[Any], list[Mark] | None], legend: Legend | None) -> Any:
    """Draw on the given Axes, or on a new figure; place the legend, and label the marks."""
    legend = legend or ("beside" if ax is None else "inside")
    check.check_choice("legend", legend, _LEGENDS)
    ax = theme.new_axes() if ax is None else ax
    marks = draw(ax)
    if legend == "beside":
        below_rug = 0.88 if theme.rugs(ax) else 1.0
        place_legend(ax, **BESIDE | {"bbox_to_anchor": (1.03, below_rug)})
        make_room(ax)
    elif legend == "below":
        legend_below(ax)
    elif legend == "inside":
        place_legend(ax)
    label_marks(ax, marks or [])
    return ax
