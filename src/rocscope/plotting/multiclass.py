"""Plots for several classes: confusion matrix, pairwise AUCs, curves of each class, and the probability simplex."""

from collections.abc import Callable, Hashable, Sequence
from math import ceil, floor
from typing import Any, Literal, NamedTuple

import numpy as np
from matplotlib import colors

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.core import model_name
from rocscope.curves.rate_curves import roc
from rocscope.errors import InputError, OneClassError, ShapeError
from rocscope.multiclass.areas import MulticlassAuc
from rocscope.multiclass.calibration import TOP_LABEL, multiclass_calibration_curves
from rocscope.multiclass.confusion import ConfusionMatrix
from rocscope.multiclass.predictions import MulticlassPredictions, predictions_of
from rocscope.plotting import theme
from rocscope.plotting.curves import draw, place_legend, shared_legend
from rocscope.plotting.figures import LONGEST_PART, draw_calibration, draw_panels

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
"""Corners of the probability simplex of three classes; at each corner, one class has probability 1."""


def _to_plane(proba: Any) -> Array:
    """Return the coordinates (n × 2) of class probabilities (n × 3) in an equilateral triangle with side 1.

    Examples
    --------
    >>> _to_plane([[1, 0, 0], [0, 0.5, 0.5]]).round(3).tolist()
    [[0.0, 0.0], [0.75, 0.433]]
    """
    rows = np.asarray(check.as_array(proba), dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 3:
        raise ShapeError("simplex", expected="probabilities of three classes", got=f"shape {rows.shape}")
    return rows @ CORNERS


class Regions(NamedTuple):
    """Small triangles that cover the simplex.

    Attributes
    ----------
    points : n × 2 array
        Coordinates of the corners of the triangles.
    triangles : m × 3 array
        Indices in `points` of the three corners of each triangle.
    decided : array of m
        Index of the class that is predicted at the centre of each triangle.
    """

    points: Array
    triangles: Array
    decided: Array


def regions(decide: Callable[[Array], Array], steps: int = 60) -> Regions:
    """Divide the simplex into ``steps²`` triangles, and predict a class at the centre of each triangle.

    Parameters
    ----------
    decide : function
        Function that returns class indices for class probabilities (n × 3).
    steps : int
        Number of triangles along a side of the simplex.
    """
    first, second = (index.ravel() for index in np.indices((steps + 1, steps + 1)))
    inside = first + second <= steps
    place = np.full((steps + 1, steps + 1), -1)
    place[first[inside], second[inside]] = np.arange(inside.sum())
    grid = np.column_stack([first, second, steps - first - second])[inside] / steps
    i, j = (index.ravel() for index in np.indices((steps, steps)))
    up, down = i + j < steps, i + j < steps - 1
    triangles = np.concatenate(
        [
            np.column_stack([place[i, j], place[i + 1, j], place[i, j + 1]])[up],
            np.column_stack([place[i + 1, j], place[i + 1, j + 1], place[i, j + 1]])[down],
        ]
    )
    return Regions(_to_plane(grid), triangles, np.asarray(decide(grid[triangles].mean(axis=1))))


Shares = Literal["row", "column", "none"]

_SHADES = colors.LinearSegmentedColormap.from_list("rocscope", ["#ffffff", theme.LIGHT.hues[0]])
_TINT = 0.16  # opacity of a region's colour: points in the full colour are visible on it
_BESIDE = (("top", -5), ("top", -5), ("bottom", 5))


@contract
def plot_confusion(matrix: ConfusionMatrix, *, shares: Shares = "row", ax: Any = None) -> Any:
    """Plot a confusion matrix as a heat map, with the number of cases in each cell.

    Parameters
    ----------
    matrix : ConfusionMatrix
        Confusion matrix to plot.
    shares : {"row", "column", "none"}
        Shares that the colours show. "row": shares of each actual class; the diagonal shows the recall. "column":
        shares of each predicted class; the diagonal shows the precision. "none": shares of all cases.
    ax : Axes, optional
        Axes to draw on; by default the Axes of a new pyplot figure.

    Returns
    -------
    Axes
        The Axes with the heat map.

    Raises
    ------
    InputError
        If `matrix` is not a ConfusionMatrix, or `shares` is unknown.

    See Also
    --------
    ConfusionMatrix

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = plot_confusion(ConfusionMatrix([[8, 2], [2, 8]], classes="ab"), ax=Figure().subplots())
    >>> [text.get_text() for text in ax.texts]
    ['8', '2', '2', '8']
    """
    theme.require("matrix", matrix, ConfusionMatrix, made_by="call predictions.confusion() to make one")
    check.check_choice("shares", shares, ("row", "column", "none"))
    shade = {"row": matrix.row_shares, "column": matrix.column_shares, "none": matrix.counts / matrix.n}[shares]
    texts = [[f"{count:,.6g}" for count in row] for row in matrix.counts.tolist()]
    return _heat_map(ax, shade, texts, matrix.classes, ("Predicted class", "Actual class"), (0.0, 1.0))


@contract
def plot_pairwise_auc(auc: MulticlassAuc, *, ax: Any = None) -> Any:
    """Plot the pairwise AUCs of several classes as a heat map.

    The cell in row i and column j contains A(i|j): the probability that a case of class i has a higher predicted
    probability of class i than a case of class j.

    Parameters
    ----------
    auc : MulticlassAuc
        Result of `rocscope.multiclass.multiclass_auc`.
    ax : Axes, optional
        Axes to draw on; by default the Axes of a new pyplot figure.

    Returns
    -------
    Axes
        The Axes with the heat map. Colours range from 1/2 (chance) to 1. Cells with undefined areas are empty.

    Raises
    ------
    InputError
        If `auc` is not a MulticlassAuc.

    See Also
    --------
    multiclass_auc, plot_class_rocs

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from rocscope.multiclass import multiclass_auc
    >>> preds = MulticlassPredictions(list("aab"), [[0.8, 0.2], [0.6, 0.4], [0.7, 0.3]])
    >>> ax = plot_pairwise_auc(multiclass_auc(preds), ax=Figure().subplots())
    >>> [text.get_text() for text in ax.texts]
    ['', '0.500', '0.500', '']
    """
    theme.require("auc", auc, MulticlassAuc, made_by="call rocscope.multiclass.multiclass_auc to make one")
    texts = [["" if value != value else theme.number(value) for value in row] for row in auc.matrix.tolist()]
    labels = ("… than in a case of", "Probability higher in a case of")
    return _heat_map(ax, auc.matrix, texts, auc.classes, labels, (0.5, 1.0))


def _heat_map(
    ax: Any,
    shade: Array,
    texts: Sequence[Sequence[str]],
    classes: Sequence[Hashable],
    labels: tuple[str, str],
    limits: tuple[float, float],
) -> Any:
    k = len(classes)
    ax = theme.new_axes(2.2 + 0.55 * k, 1.6 + 0.5 * k) if ax is None else ax
    low, high = limits
    ax.imshow(shade, cmap=_SHADES, vmin=low, vmax=high)
    for row in range(k):
        for column in range(k):
            dark = shade[row, column] > (low + high) / 2
            colour = "white" if dark else theme.LIGHT.ink
            ax.text(column, row, texts[row][column], ha="center", va="center", color=colour, fontsize="small")
    names = [theme.plain(name, LONGEST_PART) for name in classes]
    turned = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if max(map(len, names)) > 4 else {}
    ax.set_xticks(range(k), names, **turned)
    ax.set_yticks(range(k), names)
    ax.set_xlabel(labels[0], color=theme.palette().ink)
    ax.set_ylabel(labels[1], color=theme.palette().ink)
    ax.tick_params(length=0, labelcolor=theme.palette().ink, labelsize="small")
    ax.spines[:].set_visible(False)
    return ax


@contract
def plot_class_rocs(
    predictions: MulticlassPredictions,
    *,
    models: Sequence[str] | None = None,
    columns: int | None = None,
    figure: Any = None,
) -> Any:
    """Plot the ROC curves of each class against all others, with one panel per class.

    Parameters
    ----------
    predictions : MulticlassPredictions
        Labels, and class probabilities of one or more models.
    models : sequence of names, optional
        Names of the models to plot; by default all models.
    columns : int, optional
        Number of panels per row. By default at most four, with the fewest empty places in the last row.
    figure : Figure, optional
        Empty figure to draw on; by default a new pyplot figure.

    Returns
    -------
    Figure
        The figure with one panel per class. A class has no panel if all cases, or no cases, belong to it; a text below
        the panels lists these classes.

    Raises
    ------
    InputError
        If `models` is empty or contains an unknown name.

    See Also
    --------
    multiclass_auc

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> preds = MulticlassPredictions(list("aab"), [[0.8, 0.2], [0.6, 0.4], [0.7, 0.3]])
    >>> figure = plot_class_rocs(preds, figure=Figure(figsize=(6, 3)))
    >>> [ax.get_title(loc="left") for ax in figure.axes]
    ['a: AUC 0.500', 'b: AUC 0.500']
    """
    predictions = predictions_of(predictions)
    chosen = predictions.models if models is None else [model_name(predictions.models, name) for name in models]
    if not chosen:
        raise InputError("models", expected="at least one model", got="no model")
    labels = theme.names(chosen)

    def panel(ax: Any, cls: Any, name: str) -> None:
        binary, areas = predictions.binary(cls), []
        for model, label in zip(chosen, labels, strict=True):
            curve = roc(binary.counts(model))
            draw(curve, ax, label=label)
            areas.append(theme.number(curve.auc))
        ax.set_title(f"{name}: AUC {', '.join(areas)}", fontsize="small", loc="left", color=theme.palette().ink)

    figure = _class_panels(predictions, panel, columns, figure, ("False-positive rate", "True-positive rate"))
    if len(chosen) > 1:
        shared_legend(figure, figure.axes, len(chosen))
    return figure


@contract
def plot_class_calibrations(
    predictions: MulticlassPredictions,
    *,
    model: str | None = None,
    columns: int | None = None,
    figure: Any = None,
    **options: Any,
) -> Any:
    """Plot the calibration curve of each class against all others, and of the most probable class.

    Parameters
    ----------
    predictions : MulticlassPredictions
        Labels, and class probabilities of one or more models.
    model : str, optional
        Name of the model. By default, the only model of the predictions.
    columns, figure : see `plot_class_rocs`
    **options
        Arguments of `rocscope.calibration_curve`, such as ``method`` and ``bins``.

    Returns
    -------
    Figure
        The figure with one panel per class, and a panel "top label" for the most probable class. Each curve has a
        confidence band.

    Raises
    ------
    InputError
        If `predictions` is not a MulticlassPredictions.

    See Also
    --------
    multiclass_calibration_curves, plot_class_rocs

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> preds = MulticlassPredictions(list("aab"), [[0.8, 0.2], [0.6, 0.4], [0.7, 0.3]])
    >>> figure = plot_class_calibrations(preds, method="pav", figure=Figure(figsize=(9, 3)))
    >>> [ax.get_title(loc="left") for ax in figure.axes]
    ['a: O/E 0.952', 'b: O/E 1.111', 'top label: O/E 0.952']
    """
    predictions = predictions_of(predictions)
    curves = multiclass_calibration_curves(predictions, model=model, **options)
    # The panels share their axes: limits include all panels, rounded to a tenth.
    values = np.concatenate([[*curve.y, *curve.counts.threshold[[0, -1]]] for curve in curves.values()]).clip(0, 1)
    limits = (floor(10 * np.nanmin(values)) / 10, ceil(10 * np.nanmax(values)) / 10)

    def panel(ax: Any, cls: Any, name: str) -> None:
        curve = curves[cls]
        draw_calibration(ax, [curve], [name], [curve.confidence_band()], limits=limits)
        counts = curve.counts
        ratio = counts.n_pos / float((counts.pos + counts.neg) @ counts.threshold)
        ax.set_title(f"{name}: O/E {theme.number(ratio)}", fontsize="small", loc="left", color=theme.palette().ink)

    axes = ("Predicted probability", "Observed share")
    return _class_panels(predictions, panel, columns, figure, axes, more=[TOP_LABEL])


def _class_panels(
    predictions: MulticlassPredictions,
    draw_panel: Callable[[Any, Any, str], None],
    columns: int | None,
    figure: Any,
    labels: tuple[str, str],
    more: Sequence[Any] = (),
) -> Any:
    """Draw a panel for each class that has positives and negatives, and for each of `more`; list omitted classes."""
    shown = {
        cls: 0 < cases < predictions.n for cls, cases in zip(predictions.classes, predictions.support, strict=True)
    }
    if not any(shown.values()):
        raise OneClassError("predictions", expected="cases of two or more classes", got="cases of one class")
    without = "No cases, or no cases of other classes"
    return draw_panels(shown | dict.fromkeys(more, True), draw_panel, columns, figure, labels, without)


@contract
def plot_simplex(
    predictions: MulticlassPredictions,
    *,
    model: str | None = None,
    decision: Any = None,
    max_points: int = 3000,
    resolution: int = 60,
    ax: Any = None,
) -> Any:
    """Plot class probabilities of three classes as points in a triangle, with decision regions.

    Parameters
    ----------
    predictions : MulticlassPredictions
        Labels and class probabilities for three classes.
    model : str, optional
        Name of the model. By default, the only model of the predictions.
    decision : ClassWeights or CostMatrix, optional
        Decision rule whose regions are drawn. By default, the most probable class is predicted.
    max_points : int
        Maximum number of points. If there are more rows, evenly spaced rows are drawn.
    resolution : int
        Resolution of the decision regions: number of small triangles along a side.
    ax : Axes, optional
        Axes to draw on; by default the Axes of a new pyplot figure.

    Returns
    -------
    Axes
        The Axes with the triangle. At each corner, one class has probability 1. The colour of a point shows its actual
        class.

    Raises
    ------
    InputError
        If `predictions` is not a MulticlassPredictions.

    See Also
    --------
    plot_class_rocs, class_weights

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> preds = MulticlassPredictions(list("abc"), [[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]])
    >>> ax = plot_simplex(preds, ax=Figure().subplots())
    >>> sorted(text.get_text() for text in ax.texts)
    ['a', 'b', 'c']
    """
    predictions = predictions_of(predictions)
    proba = predictions.probabilities(model)
    points = _to_plane(proba)
    filled = regions(_decider(decision), resolution)
    ax = theme.new_axes(5.4, 4.8) if ax is None else ax
    colours = [theme.line_look(i)["color"] for i in range(3)]
    light = [tuple(1 - _TINT * (1 - part) for part in colors.to_rgb(colour)) for colour in colours]
    look = {"cmap": colors.ListedColormap(light), "vmin": 0, "vmax": 2, "edgecolors": "face", "linewidth": 0.3}
    ax.tripcolor(*filled.points.T, filled.triangles, facecolors=filled.decided, **look)
    ax.plot(*CORNERS[[0, 1, 2, 0]].T, color=theme.palette().frame, linewidth=1.0)
    shown = np.unique(np.linspace(0, len(points) - 1, min(max_points, len(points))).astype(int))
    for index, (cls, marker) in enumerate(zip(predictions.classes, "os^", strict=True)):
        own = points[shown[predictions.y_true[shown] == index]]
        style = {"linestyle": "none", "marker": marker, "markersize": 3.5, "alpha": 0.7, "markeredgewidth": 0}
        ax.plot(*own.T, color=colours[index], label=theme.plain(cls), **style)
    for corner, cls, (side, height) in zip(CORNERS, predictions.classes, _BESIDE, strict=True):
        where = {"xytext": (0, height), "textcoords": "offset points", "ha": "center", "va": side}
        ax.annotate(theme.plain(cls), corner, color=theme.palette().ink, fontsize="small", **where)
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.margins(0.08)
    place_legend(ax)
    return ax


def _decider(decision: Any) -> Callable[[Array], Array]:
    if decision is None:
        return lambda proba: proba.argmax(axis=1)
    return decision.predict_index if hasattr(decision, "predict_index") else decision.decide
