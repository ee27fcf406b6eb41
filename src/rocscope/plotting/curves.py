"""Draw curves on Axes, with legends that do not cover them."""

import textwrap
from collections.abc import Sequence
from typing import Any

from matplotlib import cbook
from matplotlib.lines import Line2D

from rocscope._base.contract import contract
from rocscope.core.result import Band
from rocscope.curves.curve import CountCurve, Curve
from rocscope.plotting import theme
from rocscope.plotting.rugs import CURVE, has_rug
from rocscope.plotting.styles import GUIDE, MOST, Quantity, outline, quantity, style_of

BESIDE = {"loc": "upper left", "bbox_to_anchor": (1.03, 1.0), "borderaxespad": 0, "frameon": False}
"""Where a legend goes beside the plot."""

_ROWS = 4  # of a shared legend at least: a choice


def _entries(ax: Any) -> list[tuple[str, Any]]:
    """Return labels with their artists, reference lines last."""
    artists, labels = ax.get_legend_handles_labels()
    return sorted(zip(labels, artists, strict=True), key=lambda entry: entry[1].get_gid() == GUIDE)


def _look() -> dict[str, Any]:
    return {
        "fontsize": "small",
        "labelcolor": theme.palette().ink,
        "edgecolor": theme.palette().grid,
        "framealpha": 0.92,
        "fancybox": False,
        "handlelength": 2.4,
    }


def place_legend(ax: Any, **where: Any) -> None:
    """Place the legend where it covers least, never over a rug, unless a position is given."""
    if not where:
        where = {"loc": "best"}
        if has_rug(ax):
            low, high = ax.get_yticks()[[0, -1]]  # the plot's own square, between the rug of either class
            where |= {"bbox_to_anchor": (low, low, high - low, high - low), "bbox_transform": ax.transData}
    labels, artists = zip(*_entries(ax), strict=True)
    ax.legend(artists, labels, **_look() | where)


def make_room(ax: Any) -> None:
    """Widen a figure by its legend, so that the plot keeps its size."""
    figure = ax.figure
    if len(figure.axes) == 1 and figure.get_layout_engine() is not None:
        figure.set_figwidth(figure.get_figwidth() + ax.get_legend().get_window_extent().width / figure.dpi)
        for _ in range(2):  # a wide legend beside square axes is in its place only at the second pass
            figure.draw_without_rendering()


def legend_below(ax: Any) -> None:
    """Place the legend of a figure's only Axes below it in columns, and increase the figure's height."""
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
    """Place one legend below, with models, marks and reference lines in separate columns."""
    others = {label: artist for axes in all_axes for label, artist in _entries(axes)[models:]}
    marks = [entry for entry in others.items() if entry[1].get_gid() != GUIDE]
    guides = [entry for entry in others.items() if entry[1].get_gid() == GUIDE]
    rows = max(_ROWS, (models + 1) // 2)
    blank = ("", Line2D([], [], linestyle="none"))
    columns: list[tuple[str, Any]] = []
    for group in (_entries(all_axes[0])[:models], marks, guides):
        columns += group + [blank] * (-len(group) % rows)
    labels, artists = zip(*columns, strict=True)
    where = {"loc": "outside lower center", "ncols": len(columns) // rows, "frameon": False}
    figure.legend(artists, labels, **_look() | where)


_MARGIN = 0.02  # of an axis beyond its limits, so that lines on them are seen whole
_MOST_BANDS = 2  # more hide the curves
_LABEL_WIDTH = 36  # characters of a legend's line: a third of a figure's width


@contract
def plot_curve(curve: Curve, ax: Any = None, *, band: Band | None = None, **line: Any) -> Any:
    """Draw a curve; called by `Curve.plot`.

    Parameters
    ----------
    curve : Curve
    ax : Axes, optional
        Where to draw; a new pyplot figure when left out.
    band : Band, optional
        Drawn as a fill; the legend names its level and method. By default the confidence band of a calibration plot,
        and where bins leave the curve open, what it is guaranteed to lie within.
    **line
        For the line, as in ``Axes.plot``. Its label is by default the AUC of a ROC curve, O/E and slope of a
        calibration plot, contacts and profit of a campaign. Without a colour and dashes each further curve gets the
        next.

    Returns
    -------
    Axes

    Notes
    -----
    The data of the line are the points of the curve, thinned without visible change where they are many, and with
    points between them where the curve is not straight (see `rocscope.plotting.styles`).

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from rocscope import roc
    >>> ax = plot_curve(roc([0, 1, 0, 1], [0.1, 0.9, 0.4, 0.3]), ax=Figure().subplots())
    >>> ax.get_xlabel()
    'False-positive rate (1 − specificity)'
    """
    theme.require("curve", curve, Curve, made_by="rocscope.roc and those like it make one")
    ax = theme.new_axes() if ax is None else ax
    if band is None and isinstance(curve, CountCurve):
        band = curve.envelope(most=MOST)
    elif band is None and style_of(curve).band and _drawn(ax) < _MOST_BANDS:
        band = curve.confidence_band()  # pyright: ignore[reportAttributeAccessIssue]
    if "label" not in line and (label := style_of(curve).label(curve)):
        line["label"] = label
    draw(curve, ax, band=band, **line)
    if _entries(ax):
        place_legend(ax)
    return ax


def _drawn(ax: Any) -> int:
    return sum(artist.get_gid() == CURVE for artist in ax.lines)


def draw(curve: Curve, ax: Any, *, band: Band | None = None, decorated: bool = True, **line: Any) -> Line2D:
    """Draw a curve without a legend and return its line."""
    style = style_of(curve)
    before = _drawn(ax)
    if not before:
        _prepare(ax, curve)
    look = theme.line_look(before) | style.look(curve) | cbook.normalize_kwargs(line, Line2D)
    (artist,) = ax.plot(*outline(curve, scale=style.scale), gid=CURVE, zorder=3, **look)
    if band is not None:
        fill = {"color": artist.get_color(), "alpha": 0.16, "linewidth": 0, "zorder": 2}
        label = textwrap.fill(band.label, _LABEL_WIDTH)
        ax.fill_between(*band.drawn(), label=label, **fill)
    if style.prepare is None:
        _fit(ax, quantity(curve.x_name), quantity(curve.y_name))
    if decorated and style.decorate is not None:
        style.decorate(ax, curve, artist.get_color())
    return artist


def _prepare(ax: Any, curve: Curve) -> None:
    style = style_of(curve)
    theme.dress(ax)
    ax.set_box_aspect(1)
    ax.set_xlabel(quantity(curve.x_name).label)
    ax.set_ylabel(quantity(curve.y_name).label)
    if style.prepare is not None:
        style.prepare(ax, curve)
    for guide in style.guides(curve):
        dashes = (0, (1, 1.6)) if guide.dotted else (0, (4, 3))
        look = {"color": theme.palette().muted, "linewidth": 1.1, "linestyle": dashes, "zorder": 1}
        ax.plot(guide.x, guide.y, gid=GUIDE, label=guide.label, **look)


def _fit(ax: Any, x: Quantity, y: Quantity) -> None:
    """Set axis limits to the natural range of both quantities, or to that of the data, with a margin."""
    for known, seen, set_limits in ((x, ax.dataLim.intervalx, ax.set_xlim), (y, ax.dataLim.intervaly, ax.set_ylim)):
        if known.low is None:
            continue
        high = seen[1] if known.high is None else known.high
        margin = _MARGIN * ((high - known.low) or 1)
        set_limits(known.low - margin, high + margin)
