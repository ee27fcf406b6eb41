"""One curve on an Axes: line, band, reference lines, limits and labels."""

import textwrap
from typing import Any

from matplotlib import cbook
from matplotlib.lines import Line2D

from rocscope.core.result import Band
from rocscope.curves.curve import CountCurve, Curve
from rocscope.plotting import theme
from rocscope.plotting.legends import GUIDE, place_legend
from rocscope.plotting.outline import MOST, outline
from rocscope.plotting.styles import Quantity, quantity, style_of

CURVE = "rocscope-curve"
_MARGIN = 0.02
_LABEL_WIDTH = 36


def plot_curve(curve: Curve, ax: Any = None, *, band: Band | None = None, **line: Any) -> Any:
    """Draw a curve; see `Curve.plot`, which calls it.

    Parameters
    ----------
    curve : Curve
    ax : Axes, optional
        Where to draw; a new pyplot figure when left out.
    band : Band, optional
        Drawn as a fill; the legend names its level and method. Where bins leave the curve open, by default what it
        surely lies within.
    **line
        For the line, as in ``Axes.plot``; the label of a ROC curve is its AUC, unless one is given. Without a colour
        and dashes each further curve on an Axes gets the next.

    Returns
    -------
    Axes

    Notes
    -----
    The data of the line are the points of the curve, thinned without visible change where they are many, and with
    points between them where the curve is not straight (see `rocscope.plotting.outline`).

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from rocscope import roc
    >>> ax = plot_curve(roc([0, 1, 0, 1], [0.1, 0.9, 0.4, 0.3]), ax=Figure().subplots())
    >>> ax.get_xlabel()
    'False-positive rate (1 − specificity)'
    """
    theme.require("curve", curve, Curve, made_by="rocscope.roc and those like it make one")
    if band is None and isinstance(curve, CountCurve):
        band = curve.envelope(most=MOST)
    if "label" not in line and (label := style_of(curve).label(curve)):
        line["label"] = label
    artist = draw(curve, theme.new_axes() if ax is None else ax, band=band, **line)
    if band is not None or not str(artist.get_label()).startswith("_"):
        place_legend(artist.axes)
    return artist.axes


def draw(curve: Curve, ax: Any, *, band: Band | None = None, decorated: bool = True, **line: Any) -> Line2D:
    """Draw a curve without a legend and return its line."""
    style = style_of(curve)
    before = sum(artist.get_gid() == CURVE for artist in ax.lines)
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
    """Set limits to the natural ends of both quantities, or to the data where there is none, with a little margin."""
    for known, seen, set_limits in ((x, ax.dataLim.intervalx, ax.set_xlim), (y, ax.dataLim.intervaly, ax.set_ylim)):
        if known.low is None:
            continue
        high = seen[1] if known.high is None else known.high
        margin = _MARGIN * ((high - known.low) or 1)
        set_limits(known.low - margin, high + margin)
