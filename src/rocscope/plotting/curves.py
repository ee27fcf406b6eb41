"""Draw single curves on Axes, with a style for each kind of curve, and legends that do not cover the curves.

A `Style` contains the reference lines, the legend label and the axis limits of a kind of curve.
"""

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from matplotlib import cbook, lines, ticker
from scipy.special import ndtr, ndtri

from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope._base.formatting import about
from rocscope.core import Band, CumulativeCounts, ThresholdCounts
from rocscope.curves.curve import Curve, cumulative
from rocscope.curves.rate_curves import CountCurve, DetCurve, RocCurve
from rocscope.figures.registry import FIGURES
from rocscope.geometry import hull, thinning
from rocscope.plotting import theme

Transform = Callable[[Array], Array]

MOST = 2000  # points of a curve: more than a figure has pixels in its width
_AT_ONCE = 200_000  # levels above which a thinned curve is drawn: a choice, because time grows with levels
_BEND = 1e-3  # distance of a curve from its chord, as a share of the plot: less than a line's width
_HALVINGS = 10  # share of a curved part: a thousandth of it is invisible
_UNSEEN = 1e-4  # share of an axis: a seventh of a pixel in a figure of five inches at 300 dpi


class Outline(NamedTuple):
    """Coordinates of a polyline; NaN marks a gap."""

    x: Array
    y: Array


def outline(curve: Curve, *, most: int = MOST, scale: Transform | None = None) -> Outline:
    """Return the points of a polyline that draws a curve without visible differences.

    Parameters
    ----------
    curve : Curve
        Curve to draw. Between the points of a precision–recall, lift or DET curve, the numbers of true and false
        positives are interpolated, which gives bent lines. The points of other curves are connected by straight lines.
    most : int
        Approximate maximum number of points; see `rocscope.geometry.thinning.simplify`. All vertices of the ROC hull
        are included.
    scale : function, optional
        Function that transforms x and y to the scale of the axes, such as normal deviates for a DET curve.

    Notes
    -----
    A bent line is drawn as straight pieces. The middle of each piece is closer to the exact curve than 1/1000 of the
    axis length. If no row is predicted positive at the first point, y is 0/0 there. Then the polyline starts with the y
    of the second point, which is the limit of the curve. With more than 200,000 distinct scores, the curve is first
    thinned to 50,000 points, evenly along the ROC curve.

    Examples
    --------
    >>> from rocscope import precision_recall, roc
    >>> outline(roc([1, 0, 1], [3, 2, 1]))
    Outline(x=array([0., 0., 1., 1.]), y=array([0. , 0.5, 0.5, 1. ]))
    >>> outline(precision_recall([1, 1], [2, 1]))
    Outline(x=array([0. , 0.5, 1. ]), y=array([1., 1., 1.]))
    """
    scale = scale or np.asarray
    if isinstance(curve, CountCurve):
        return _of_counts(curve, most, scale)
    x, y = map(np.asarray, curve.drawn())
    if x.size <= most or not np.isfinite(y).all():
        return Outline(x, y)
    shown = thinning.simplify(scale(x), scale(y), most=most, tolerance=_UNSEEN).index
    return Outline(x[shown], y[shown])


def _of_counts(curve: CountCurve, most: int, scale: Transform) -> Outline:
    """Return the outline of a curve in which true and false positives are interpolated between thresholds."""

    def drawn(rows: Array) -> Array:
        return np.column_stack([scale(axis) for axis in _from_limit(*curve.of(rows[:, 1], rows[:, 2]))])

    rows, vertices = _rows(curve.counts)
    if len(rows) > most:
        rows = rows[thinning.simplify(*drawn(rows).T, most=most, keep=vertices, tolerance=_UNSEEN).index]
    points = drawn(rows)
    size = np.where(np.ptp(points, axis=0) > 0, np.ptp(points, axis=0), 1.0)
    for _ in range(_HALVINGS):
        near = np.flatnonzero(np.diff(rows[:, 0]) <= 1)
        middle = (rows[near] + rows[near + 1]) / 2
        between = drawn(middle)
        bent = thinning.distance_to_chord(between / size, points[near] / size, points[near + 1] / size) > _BEND
        if not bent.any():
            break
        rows = np.insert(rows, near[bent] + 1, middle[bent], axis=0)
        points = np.insert(points, near[bent] + 1, between[bent], axis=0)
    return _from_limit(*curve.of(rows[:, 1], rows[:, 2]))


def _rows(counts: CumulativeCounts) -> tuple[Array, Array]:
    """Return rows of (threshold index, tp, fp), and the indices of the rows that are vertices of the ROC hull."""
    attained = counts.attained
    if len(counts) > _AT_ONCE and counts.holds_levels and counts.n_pos and counts.n_neg:
        kept = _evenly(attained)
        level, threshold, tp, fp = kept.index, kept.threshold[1:], kept.tp, kept.fp
    else:
        threshold, (tp, fp) = counts.threshold, cumulative(counts)
        level = np.arange(tp.size)
    vertex_thresholds = hull.pool(attained).threshold.astype(threshold.dtype)
    vertices = threshold.size - np.searchsorted(threshold[::-1], vertex_thresholds)
    return np.column_stack([level, tp, fp]).astype(np.float64), vertices


@hull.remembered
def _evenly(counts: ThresholdCounts) -> thinning.Thinned:
    return thinning.thin(counts, 25 * MOST)


def _from_limit(x: Array, y: Array) -> Outline:
    """Return the points; if the first y is 0/0, replace it by the second y, which is the limit of the curve."""
    if y.size > 1 and np.isnan(y[0]):
        y = np.concatenate([y[1:2], y[1:]])
    return Outline(x, y)


FOLD = "rocscope-fold"
_CROSSES = 9  # points with intervals in both directions: more would overlap
_BESIDE = 1.02  # share of an axis, so that lines at its ends are fully visible


def average_look(curve: Any) -> dict[str, Any]:
    """Return the legend label and the line width of an average curve over folds."""
    label, areas = f"{theme.plain(curve.model)}: {curve.method}, {len(curve.folds)} folds", curve.areas
    if areas is not None:
        of_folds, pooled = theme.number(areas.mean.value), theme.number(areas.pooled.value)
        label += f"\n{areas.name}: mean of folds {of_folds}, pooled {pooled}"
    return {"label": label, "linewidth": 2.2}


def draw_folds(ax: Any, curve: Any, colour: Any) -> None:
    """Draw the curve of each fold, crosses for intervals of threshold averages, and the marks of the pooled curve."""
    if len(curve.folds) > 1:
        strength = max(0.12, min(0.4, 4 / len(curve.folds)))
        look = {"color": colour, "alpha": strength, "linewidth": 0.9, "zorder": 2.5, "gid": FOLD}
        for fold in curve.folds.values():
            ax.plot(*outline(fold), label="_fold", **look)
    if curve.x_band is not None:
        shown = slice(None, None, max(1, curve.x.size // _CROSSES))
        x, y = curve.x[shown], curve.y[shown]
        look = {"color": theme.palette().ink, "linewidth": 1.1, "zorder": 4}
        ax.hlines(y, curve.x_band.low[shown], curve.x_band.high[shown], label="intervals at some thresholds", **look)
        ax.vlines(x, curve.band.low[shown], curve.band.high[shown], **look)
    # Counts and lift have no natural limit, so their axes show all folds.
    for name, set_limit in ((curve.x_name, ax.set_xlim), (curve.y_name, ax.set_ylim)):
        if name in ("fp", "tp", "lift"):
            side = ax.dataLim.intervalx if name == curve.x_name else ax.dataLim.intervaly
            set_limit(-(_BESIDE - 1) * side[1], _BESIDE * side[1])
    decorate_pooled = style_of(curve.pooled).decorate
    if decorate_pooled is not None:
        decorate_pooled(ax, curve.pooled, colour)


_EDGE = 1e-9  # smallest distance of a rate from 0 and 1, which have infinite normal deviates
_HIGHEST = 0.99  # smallest rate shown: thresholds with lower rates are not used in practice
_TICKS = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99)  # about evenly spaced on the deviate scale


def deviate(rate: Any) -> Any:
    """Return the normal deviates of rates; rates of 0 and 1 are replaced by values close to 0 and 1."""
    return ndtri(np.clip(rate, _EDGE, 1 - _EDGE))


def set_deviate_axes(ax: Any, curve: DetCurve) -> None:
    """Set normal-deviate scales on both axes, with ticks in percent, down to half of the smallest possible rate."""
    ax.set_xscale("function", functions=(deviate, ndtr))
    ax.set_yscale("function", functions=(deviate, ndtr))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(ticker.FixedLocator(_TICKS))
        axis.set_minor_locator(ticker.NullLocator())
        axis.set_major_formatter(ticker.FuncFormatter(lambda rate, _: f"{100 * rate:.6g}%"))
    ax.set_xlim(_lowest(curve.counts.n_neg), _HIGHEST)
    ax.set_ylim(_lowest(curve.counts.n_pos), _HIGHEST)


def _lowest(total: float) -> float:
    """Return half of the smallest positive rate with this number of cases, but at least 5e-7 and at most 0.02."""
    return min(max(0.5 / total, 5e-7), 0.02)


_ROOM_FOR_LEGEND = 1.65  # share of the highest bar: space for the legend above it


def threshold_look(curve: Any) -> dict[str, Any]:
    """Return the legend label of a histogram of chosen thresholds, with the share of replicates without a threshold."""
    nobody = f"\nin {curve.nobody:.1%} nobody positive" if curve.nobody else ""
    return {"label": f"{theme.plain(curve.model)}: chosen in replicates{nobody}", "linewidth": 1.2}


def show_thresholds(ax: Any, curve: Any) -> None:
    """Set the limits and the aspect ratio of the plot for a histogram."""
    ax.set_box_aspect(0.6)
    ax.margins(x=0.03)
    ax.set_ylim(0, _ROOM_FOR_LEGEND * (curve.y.max() or 1))
    ax.yaxis.set_major_formatter(ticker.PercentFormatter(1))


def draw_choice(ax: Any, curve: Any, colour: Any) -> None:
    """Fill the histogram of thresholds, and mark the chosen threshold and its confidence interval."""
    ax.fill_between(*outline(curve), color=colour, alpha=0.16, linewidth=0, zorder=2)
    chosen = curve.chosen
    if abs(chosen.value) != float("inf"):
        look = {"color": theme.palette().ink, "linewidth": 1.6, "zorder": 4}
        ax.axvline(chosen.value, label=f"chosen: {theme.number(chosen.value)}", **look)
    label = f"{100 * chosen.level:g}% CI [{_end(chosen.low)}, {_end(chosen.high)}]"
    look = {"color": theme.palette().muted, "linewidth": 1.1, "linestyle": (0, (4, 3)), "zorder": 3}
    for end, name in ((chosen.low, label), (chosen.high, "_interval")):
        if abs(end) != float("inf"):
            ax.axvline(end, label=name, **look)


def _end(value: float) -> str:
    return "∞" if value == float("inf") else theme.number(value)


GUIDE = "rocscope-guide"
"""Group id of reference lines, which are listed last in legends."""

_MOST_THRESHOLDS = 8  # thresholds written next to the hull: more would overlap
_APART = (0.14, 0.05)  # size of a threshold's text, as a share of the axes
_EDGE_OF_TEXT = 0.15  # x below which a text does not fit above the hull; a third of the text's height


def draw_owners(ax: Any, hull: Any, _colour: Any) -> None:
    """Draw the ROC curve of each model, the hull's vertices in the colour of their model, and some thresholds."""
    colours = {}
    for number, (model, counts) in enumerate(hull.counts.items()):
        look = theme.line_look(number) | {"linewidth": 1.1, "zorder": 2.5}
        label = f"{theme.plain(model)} ({_auc(RocCurve(counts))})".replace(" ()", "")
        (line,) = ax.plot(*outline(RocCurve(counts)), label=label, **look)
        colours[model] = line.get_color()
    for vertex in hull.vertices:
        look = {"marker": "o", "markersize": 5, "linestyle": "none", "zorder": 4, "clip_on": False}
        ax.plot([vertex.fpr], [vertex.tpr], color=colours[vertex.model], label="_vertex", **look)
    box = {"boxstyle": "square,pad=0.1", "facecolor": theme.palette().paper, "alpha": 0.8, "linewidth": 0}
    for vertex in _most_often_best(hull):
        inside = vertex.fpr < _EDGE_OF_TEXT or vertex.tpr > 1 - _EDGE_OF_TEXT / 3
        place = {"xytext": (8, -3) if inside else (-5, 4), "textcoords": "offset points"}
        place |= {"ha": "left", "va": "top"} if inside else {"ha": "right", "va": "bottom"}
        look = {"fontsize": "x-small", "color": colours[vertex.model], "bbox": box, "zorder": 5}
        ax.annotate(theme.number(vertex.threshold), (vertex.fpr, vertex.tpr), **place, **look)


def _most_often_best(hull: Any) -> list[Any]:
    """Return the vertices that are best over the widest ranges of slopes, and that are not too close to each other."""
    inner = [vertex for vertex in hull.vertices if abs(vertex.threshold) != float("inf") and vertex.has_zone]
    inner.sort(key=lambda vertex: np.arctan(vertex.slope_low) - np.arctan(vertex.slope_high))
    shown: list[Any] = []
    for vertex in inner:
        near = (abs(vertex.fpr - other.fpr) < _APART[0] and abs(vertex.tpr - other.tpr) < _APART[1] for other in shown)
        if len(shown) < _MOST_THRESHOLDS and not any(near):
            shown.append(vertex)
    return shown


def draw_best(ax: Any, curve: Any, colour: Any) -> None:
    """Mark the capacity of a campaign, and the planned number of contacts."""
    best, campaign, known = curve.best(), curve.campaign, ax.get_legend_handles_labels()[1]
    if campaign.capacity is not None and (label := f"capacity {about(campaign.capacity)}") not in known:
        look = {"color": theme.palette().ink, "linewidth": 0.9, "linestyle": (0, (1, 1.6)), "gid": GUIDE}
        ax.axvline(campaign.capacity / campaign.population, label=label, **look)
    label = "highest profit" if campaign.capacity is None else "planned within it"
    look = {"marker": "D", "markersize": 6, "linestyle": "none", "markeredgecolor": theme.palette().paper}
    ax.plot([best.depth], [best.profit], color=colour, label="_best" if label in known else label, zorder=5, **look)


class Quantity(NamedTuple):
    """Label of an axis, and the limits of its values; a limit is None if it depends on the data."""

    label: str
    low: float | None = None
    high: float | None = None


QUANTITIES = {
    "fpr": Quantity("False-positive rate (1 − specificity)", 0, 1),
    "tpr": Quantity("True-positive rate (sensitivity, recall)", 0, 1),
    "fnr": Quantity("False-negative rate (miss rate)", 0, 1),
    "depth": Quantity("Rate of positive predictions (share contacted)", 0, 1),
    "tp": Quantity("True positives (positives found)", 0),
    "fp": Quantity("False positives (false alarms)", 0),
    "lift": Quantity("Lift (precision / prevalence)", 0),
    "recall": Quantity("Recall (true-positive rate)", 0, 1),
    "precision": Quantity("Precision (positive predictive value)", 0, 1),
    "mean_score": Quantity("Predicted probability", 0, 1),
    "score": Quantity("Predicted probability", 0, 1),
    "share_positive": Quantity("Observed share of positives", 0, 1),
    "probability_cost": Quantity("Probability cost of positives", 0, 1),
    "normalised_cost": Quantity("Normalised expected cost", 0),
    "cost_proportion": Quantity("Cost proportion", 0, 1),
    "loss": Quantity("Expected loss", 0),
    "chosen_threshold": Quantity("Chosen threshold"),
    "share_of_replicates": Quantity("Share of replicates"),
    "threshold_probability": Quantity("Threshold probability", 0, 1),
}


class Guide(NamedTuple):
    """Reference line: dashed for chance or a simple rule, dotted for a perfect model."""

    label: str
    x: Any
    y: Any
    dotted: bool = False

    @classmethod
    def of(cls, label: str, curve: Curve, *, dotted: bool = False) -> "Guide":
        """Make a reference line from a curve."""
        return cls(label, curve.x, curve.y, dotted)


@dataclass(frozen=True)
class Style:
    """Style of a kind of curve.

    Attributes
    ----------
    guides : function
        Returns the reference lines of a curve.
    label : function
        Returns the default legend label of a curve.
    look : function
        Returns Matplotlib options for the line of a curve, such as its width.
    scale : function, optional
        Function that transforms both coordinates to the scale of the axes, if this scale bends or crops lines.
    prepare : function, optional
        Sets the axis limits; called with the Axes and the first curve, before its line is drawn. By default, the limits
        of `QUANTITIES` are used.
    decorate : function, optional
        Adds marks; called with the Axes, the curve and its colour, after its line is drawn.
    band : bool
        If True, `Curve.plot` draws the confidence band of the first two curves by default.
    """

    guides: Callable[[Any], list[Guide]] = lambda _: []
    label: Callable[[Any], str] = lambda _: ""
    look: Callable[[Any], dict[str, Any]] = lambda _: {}
    scale: Callable[[Any], Any] | None = None
    prepare: Callable[[Any, Any], None] | None = None
    decorate: Callable[[Any, Any, Any], None] | None = None
    band: bool = False


def _diagonal(label: str, *, dotted: bool = False) -> list[Guide]:
    return [Guide(label, (0, 1), (0, 1), dotted)]


def _auc(curve: Any) -> str:
    return f"AUC {theme.number(curve.auc)}" if curve.counts.holds_levels else ""


def _average_precision(curve: Any) -> str:
    return f"AP {theme.number(curve.average_precision)}" if curve.counts.holds_levels else ""


def _calibrated(curve: Any) -> str:
    """Return text with the O/E ratio and the calibration slope."""
    if not curve.counts.n_pos or not curve.counts.n_neg:
        return ""
    numbers = {"O/E": "observed_over_expected", "slope": "slope"}
    return ", ".join(f"{key} {FIGURES[name].value(curve.counts):.2f}" for key, name in numbers.items())


def _contacts(curve: Any) -> str:
    best = curve.best()
    return f"{about(best.size)} contacts, profit {about(best.profit)}"


def _of_models(hull: Any) -> str:
    return f"hull of {len(hull.counts)} models" if len(hull.counts) > 1 else "hull"


def _in_ink(_: Any) -> dict[str, Any]:
    return {"color": theme.palette().ink, "linestyle": "solid"}


def _ranking_guides(curve: Any) -> list[Guide]:
    """Return reference lines of a random and a perfect ranking."""
    top = curve.y[-1].item()
    return [
        Guide("chance", (0, 1), (0, top)),
        Guide("perfect", (0, curve.counts.prevalence, 1), (0, top, top), dotted=True),
    ]


def _prevalence(curve: Any) -> list[Guide]:
    share = curve.counts.prevalence
    return [Guide(f"chance (prevalence {share:.3g})", (0, 1), (share, share))]


def _dots(curve: Any) -> dict[str, Any]:
    """Return marker options for a binned curve, and no markers for a smooth curve."""
    return {"marker": "o", "markersize": 5} if hasattr(curve, "edges") else {}


def _profits(curve: Any) -> list[Guide]:
    return [Guide.of("chance", curve.random), Guide.of("perfect", curve.perfect, dotted=True)]


def _treatments(curve: Any) -> list[Guide]:
    return [Guide.of("treat all", curve.treat_all), Guide.of("treat none", curve.treat_none, dotted=True)]


def _cut_off(net_benefit: Any) -> Any:
    """Crop net benefit, because it decreases without limit as the threshold probability approaches 1."""
    return np.clip(net_benefit, -0.2, 1)


def _show_benefit(ax: Any, curve: Any) -> None:
    """Set the axis limits of net benefit: from slightly below 0 to the prevalence, or to 1 if standardized."""
    largest = 1.0 if curve.standardized else curve.prevalence
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.15 * largest, 1.05 * largest)


def _of_pooled(curve: Any) -> list[Guide]:
    """Return the reference lines of an average curve, as for its pooled curve.

    Curves with numbers of cases on an axis have only the chance line or no line, because these numbers differ between
    folds.
    """
    if curve.x_name == "fp":
        return []
    if curve.y_name == "tp":
        return [Guide("chance", (0, 1), (0, curve.y[-1].item()))]
    return style_of(curve.pooled).guides(curve.pooled)


STYLES = {
    "AverageCurve": Style(_of_pooled, look=average_look, decorate=draw_folds),
    "RocCurve": Style(lambda _: _diagonal("chance"), label=_auc),
    "Hull": Style(lambda _: _diagonal("chance"), label=_of_models, look=_in_ink, decorate=draw_owners),
    "LiftChart": Style(_ranking_guides),
    "GainCurve": Style(_ranking_guides),
    "LiftCurve": Style(lambda _: [Guide("chance", (0, 1), (1, 1))]),
    "PrecisionRecallCurve": Style(_prevalence, label=_average_precision),
    "DetCurve": Style(scale=deviate, prepare=set_deviate_axes),
    "CalibrationCurve": Style(
        lambda _: _diagonal("perfect", dotted=True),
        label=_calibrated,
        look=_dots,
        decorate=theme.draw_rug,
        band=True,
    ),
    "ProfitCurve": Style(_profits, label=_contacts, decorate=draw_best),
    "CostCurve": Style(lambda curve: [Guide.of("nobody or everybody", curve.trivial)]),
    "MiscalibrationCostCurve": Style(),
    "ThresholdDistribution": Style(look=threshold_look, prepare=show_thresholds, decorate=draw_choice),
    "NetBenefitCurve": Style(_treatments, scale=_cut_off, prepare=_show_benefit),
}
"""Styles by class name; names are used so that drawing one kind of curve does not import all others."""


def style_of(curve: Curve) -> Style:
    """Return the style of a curve, by its class or its nearest base class with a style."""
    return next((STYLES[kind.__name__] for kind in type(curve).__mro__ if kind.__name__ in STYLES), Style())


def quantity(name: str) -> Quantity:
    """Return the quantity with this name; if the name is unknown, use it as the label."""
    return QUANTITIES.get(name) or Quantity(name.replace("_", " ").capitalize())


BESIDE = {"loc": "upper left", "bbox_to_anchor": (1.03, 1.0), "borderaxespad": 0, "frameon": False}
"""Options that place a legend to the right of the plot."""

_ROWS = 4  # smallest number of columns of a shared legend: a choice


def _entries(ax: Any) -> list[tuple[str, Any]]:
    """Return the legend labels with their artists; reference lines come last."""
    artists, labels = ax.get_legend_handles_labels()
    return sorted(zip(labels, artists, strict=True), key=lambda entry: entry[1].get_gid() == GUIDE)


def _look() -> dict[str, Any]:
    return {
        "fontsize": theme.setting("legend.fontsize", "small"),
        "labelcolor": theme.palette().ink,
        "edgecolor": theme.setting("legend.edgecolor", theme.palette().grid),
        "framealpha": theme.setting("legend.framealpha", 0.92),
        "fancybox": False,
        "handlelength": 2.4,
    }


def place_legend(ax: Any, **where: Any) -> None:
    """Draw the legend at the given position; by default, where it covers least of the curves and no rugs."""
    if not where:
        where = {"loc": "best"}
        if theme.rugs(ax):
            low, high = ax.get_yticks()[[0, -1]]  # the square of the plot, between the rugs of both classes
            where |= {"bbox_to_anchor": (low, low, high - low, high - low), "bbox_transform": ax.transData}
    labels, artists = zip(*_entries(ax), strict=True)
    ax.legend(artists, labels, **_look() | where)


def make_room(ax: Any) -> None:
    """Widen a figure by the width of its legend, so that the plot does not shrink."""
    figure = ax.figure
    if len(figure.axes) == 1 and figure.get_layout_engine() is not None:
        figure.set_figwidth(figure.get_figwidth() + ax.get_legend().get_window_extent().width / figure.dpi)
        for _ in range(2):  # a wide legend next to square axes gets its final position only in the second pass
            figure.draw_without_rendering()


def legend_below(ax: Any) -> None:
    """Place the legend below the only Axes of a figure, in columns, and increase the height of the figure."""
    figure = ax.figure
    if ax.get_legend() is not None:
        ax.get_legend().remove()
    labels, artists = zip(*_entries(ax), strict=True)
    look = _look() | {"loc": "outside lower center", "frameon": False, "borderaxespad": 0}
    narrow = figure.legend(artists, labels, **look)
    columns = int(figure.bbox.width // max(narrow.get_window_extent().width, 1))
    narrow.remove()
    legend = figure.legend(artists, labels, **look, ncols=max(columns, 1))
    figure.set_figheight(figure.get_figheight() + legend.get_window_extent().height / figure.dpi)
    figure.draw_without_rendering()


def shared_legend(figure: Any, all_axes: Sequence[Any], models: int) -> None:
    """Draw one legend below all plots, with models, marks and reference lines in separate columns."""
    others = {label: artist for axes in all_axes for label, artist in _entries(axes)[models:]}
    marks = [entry for entry in others.items() if entry[1].get_gid() != GUIDE]
    guides = [entry for entry in others.items() if entry[1].get_gid() == GUIDE]
    rows = max(_ROWS, (models + 1) // 2)
    blank = ("", lines.Line2D([], [], linestyle="none"))
    columns: list[tuple[str, Any]] = []
    for group in (_entries(all_axes[0])[:models], marks, guides):
        columns += group + [blank] * (-len(group) % rows)
    labels, artists = zip(*columns, strict=True)
    where = {"loc": "outside lower center", "ncols": len(columns) // rows, "frameon": False}
    figure.legend(artists, labels, **_look() | where)


_MARGIN = 0.02  # share of an axis outside its limits, so that lines at the limits are fully visible
_MOST_BANDS = 2  # more hide the curves
_LABEL_WIDTH = 36  # characters of a legend's line, a third of a figure's width


@contract
def plot_curve(curve: Curve, ax: Any = None, *, band: Band | None = None, model: str | None = None, **line: Any) -> Any:
    """Plot a curve of any kind, with reference lines and a legend; called by `Curve.plot`.

    Parameters
    ----------
    curve : Curve
        Curve to plot, such as the result of `rocscope.roc`.
    ax : Axes, optional
        Axes to draw on; by default the Axes of a new pyplot figure.
    band : Band, optional
        Band to draw as a filled area; the legend contains its level and method. By default, a calibration curve is
        drawn with its confidence band, and a curve of binned counts with the limits between which it must lie.
    model : str, optional
        Name of the model, which the default label contains.
    **line
        Options of the line, as in ``Axes.plot``. The default label of a ROC curve is its AUC, and the default label of
        a precision–recall curve is its average precision (AP). The default label of a calibration curve contains O/E
        and slope, and the default label of a profit curve the number of contacts and the profit. By default, each
        further curve on the same Axes has a different colour and dash pattern.

    Returns
    -------
    Axes
        The Axes with the curve.

    Raises
    ------
    InputError
        If `curve` is not a `Curve`.

    See Also
    --------
    band, roc, plot_roc

    Notes
    -----
    The line contains the points of the curve. If the curve has many points, points are omitted without a visible
    change. If the curve is bent between its points, points are added.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from rocscope import roc
    >>> ax = plot_curve(roc([0, 1, 0, 1], [0.1, 0.9, 0.4, 0.3]), ax=Figure().subplots())
    >>> ax.get_xlabel()
    'False-positive rate (1 − specificity)'
    """
    theme.require("curve", curve, Curve, made_by="call rocscope.roc or another curve function to make one")
    ax = theme.new_axes() if ax is None else ax
    if band is None and isinstance(curve, CountCurve):
        band = curve.envelope(most=MOST)
    elif band is None and style_of(curve).band and _drawn(ax) < _MOST_BANDS:
        band = curve.confidence_band()  # pyright: ignore[reportAttributeAccessIssue]
    label = style_of(curve).label(curve)
    if model is not None:
        label = f"{theme.plain(model)} ({label})" if label else theme.plain(model)
    if "label" not in line and label:
        line["label"] = label
    draw(curve, ax, band=band, **line)
    if _entries(ax):
        place_legend(ax)
    return ax


def _drawn(ax: Any) -> int:
    return sum(artist.get_gid() == theme.CURVE for artist in ax.lines)


def draw(curve: Curve, ax: Any, *, band: Band | None = None, decorated: bool = True, **line: Any) -> lines.Line2D:
    """Draw a curve without a legend, and return its line."""
    style = style_of(curve)
    before = _drawn(ax)
    if not before:
        theme.style_axes(ax)
        ax.set_box_aspect(1)
        ax.set_xlabel(quantity(curve.x_name).label)
        ax.set_ylabel(quantity(curve.y_name).label)
        if style.prepare is not None:
            style.prepare(ax, curve)
        for guide in style.guides(curve):
            dashes = (0, (1, 1.6)) if guide.dotted else (0, (4, 3))
            look = {"color": theme.palette().muted, "linewidth": 1.1, "linestyle": dashes, "zorder": 1}
            ax.plot(guide.x, guide.y, gid=GUIDE, label=guide.label, **look)
    look = {"zorder": 3} | theme.line_look(before) | style.look(curve) | cbook.normalize_kwargs(line, lines.Line2D)
    (artist,) = ax.plot(*outline(curve, scale=style.scale), gid=theme.CURVE, **look)
    if band is not None:
        fill = {"color": artist.get_color(), "alpha": 0.16, "linewidth": 0, "zorder": 2}
        label = textwrap.fill(band.label, _LABEL_WIDTH)
        ax.fill_between(*band.drawn(), label=label, **fill)
    if style.prepare is None:
        _fit(ax, quantity(curve.x_name), quantity(curve.y_name))
    if decorated and style.decorate is not None:
        style.decorate(ax, curve, artist.get_color())
    return artist


def _fit(ax: Any, x: Quantity, y: Quantity) -> None:
    """Set the axis limits to the range of possible values (or else to the range of the data), with a margin."""
    for known, seen, set_limits in ((x, ax.dataLim.intervalx, ax.set_xlim), (y, ax.dataLim.intervaly, ax.set_ylim)):
        if known.low is None:
            continue
        high = seen[1] if known.high is None else known.high
        margin = _MARGIN * ((high - known.low) or 1)
        set_limits(known.low - margin, high + margin)
