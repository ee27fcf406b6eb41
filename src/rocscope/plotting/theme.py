"""Common style of all figures: colours, dashes, text, Axes, SVG output, and the rugs of calibration plots.

A rug is a row of ticks along the edge of a plot that shows the distribution of the scores of one class.
"""

import hashlib
import io
import re
import threading
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any
from xml.etree import ElementTree

import numpy as np
from matplotlib import (
    axes,
    collections,
    colors,
    font_manager,
    layout_engine,
    rc_context,
    rcParams,
    rcParamsDefault,
    ticker,
    transforms,
)
from matplotlib.figure import FigureBase

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.calibration.outcomes import rug
from rocscope.errors import InputError
from rocscope.sample import kind_of, with_article

DASHES: tuple[Any, ...] = ("solid", (0, (6, 1.6)), (0, (1.6, 1.3)), (0, (7, 1.5, 1.6, 1.5)), (0, (3, 1.2)))
"""Dash patterns. With n colours, there are 5 n different lines. Neighbouring lines differ even without colour."""

LONGEST_NAME = 32  # characters of a model's name in a legend: a choice


@dataclass(frozen=True)
class Palette:
    """Twelve hues with a contrast of at least 4.5:1 to the background, and greys.

    Any two hues differ by at least 22 CIELAB units. For readers without red, green or blue cones, they differ by at
    least 13 units (Machado, Oliveira & Fernandes 2009).
    """

    hues: tuple[str, ...]
    ink: str
    muted: str
    frame: str
    grid: str
    paper: str


# Each hue is the farthest from the previous ones, among colours with this contrast, as these readers see them.
_FURTHER_LIGHT = ("#9600ff", "#1e0087", "#5a001e", "#3c0f5a", "#784be1", "#003c4b", "#69784b")
_FURTHER_DARK = ("#968769", "#00f0ff", "#9669ff", "#f02dc3", "#f0fff0", "#4b961e", "#3cd269")

LIGHT = Palette(
    ("#0b5fad", "#c8501a", "#08826d", "#9c337e", "#6f4b1a", *_FURTHER_LIGHT),
    *("#24292f", "#5f6873", "#aab1ba", "#eceef1", "white"),
)
DARK = Palette(
    ("#5aa9f5", "#f0894a", "#a1eca9", "#db8fb7", "#eeec50", *_FURTHER_DARK),
    *("#e6e8eb", "#a3abb5", "#5b636d", "#2b3036", "black"),
)


def setting(name: str, ours: Any) -> Any:
    """Return a setting of Matplotlib if the user or a style sheet changed it; otherwise return our value."""
    current: Any = rcParams
    default: Any = rcParamsDefault
    return ours if current[name] == default[name] else current[name]


def _cycle() -> dict[str, list[Any]]:
    """Return the properties of the user's cycle of lines; empty if the cycle is Matplotlib's default."""
    cycle = setting("axes.prop_cycle", None)
    return {} if cycle is None else cycle.by_key()


def palette() -> Palette:
    """Return the light or dark palette by the background of the current style, with the colours that the style sets."""
    paper = rcParams["axes.facecolor"]
    red, green, blue = colors.to_rgb(paper)
    ours = LIGHT if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else DARK
    return replace(
        ours,
        hues=tuple(map(colors.to_hex, _cycle().get("color", ours.hues))),
        ink=setting("text.color", ours.ink),
        frame=setting("axes.edgecolor", ours.frame),
        grid=rcParams["grid.color"] if rcParams["axes.grid"] else ours.grid,
        paper=paper,
    )


def line_look(index: int) -> dict[str, Any]:
    """Return colour, dashes and width of the line of the model with this index.

    Colours and other properties of the user's `axes.prop_cycle` replace ours.
    """
    hues = palette().hues
    lap, place = divmod(index, len(hues))
    dash = DASHES[(place + lap) % len(DASHES)]
    own = {name: values[index % len(values)] for name, values in _cycle().items() if name != "color"}
    return {"color": hues[place], "linestyle": dash, "linewidth": setting("lines.linewidth", 1.8)} | own


def plain(text: Any, longest: int = LONGEST_NAME) -> str:
    """Return text that Matplotlib draws literally: one line, shortened in the middle, without mathtext.

    Characters that the current fonts do not contain are replaced by □, to avoid a warning. To keep such characters, set
    ``font.family`` to fonts that contain them.

    Examples
    --------
    >>> print(plain("cost in $ and 1_000 $", longest=15))
    cost in…1_000 \\$
    """
    line = " ".join("".join(c for c in str(text) if unicodedata.category(c) != "Cf").split()) or "(no name)"
    if len(line) > longest:
        line = f"{line[: longest // 2]}…{line[-((longest - 1) // 2) :]}"
    if line.startswith("_"):  # legends leave out such labels; a hair space before it does not show
        line = f"\N{HAIR SPACE}{line}"
    fonts = _fonts(tuple(font_manager.FontProperties().get_family()))
    missing = "□" if _drawable("□", fonts) else "?"
    return "".join(c if _drawable(c, fonts) else missing for c in line).replace("$", r"\$")


def names(models: Iterable[str], label: str | Sequence[str] | None = None) -> list[str]:
    """Return a label for each model; all labels are different, even if long names are shortened to the same text.

    Labels that the user passes as `label` are returned unchanged.

    Examples
    --------
    >>> names(["tree", "t" * 40, "t" * 50])
    ['tree', 'tttttttttttttttt…ttttttttttttttt', 'tttttttttttttttt…ttttttttttttttt (2)']
    """
    if label is not None:
        return check.check_legend_labels(label, len(list(models)))
    labels: list[str] = []
    for model in models:
        label, copy = plain(model), 2
        while label in labels:
            label, copy = f"{plain(model)} ({copy})", copy + 1
        labels.append(label)
    return labels


def _drawable(character: str, fonts: list[Any]) -> bool:
    if character.isascii():
        return character.isprintable()
    return any(font.get_char_index(ord(character)) for font in fonts)


def _fonts(families: tuple[str, ...]) -> list[Any]:
    """Return the installed fonts of these families, in the order in which Matplotlib searches them."""
    generic: Any = rcParams
    sought = [name for family in families for name in generic.get(f"font.{family}", (family,))]
    return [font for name in sought for font in _installed(name)]


@lru_cache(maxsize=64)
def _installed(name: str) -> tuple[Any, ...]:
    try:
        return (font_manager.get_font(font_manager.fontManager.findfont(name, fallback_to_default=False)),)
    except ValueError:
        return ()


def number(value: float, digits: int = 3) -> str:
    """Format a number for a label; numbers close to 0 or 1 are not rounded to 0 or 1.

    Examples
    --------
    >>> number(0.75), number(0.99999), number(1.0), number(1e-7), number(12345.678)
    ('0.750', '>0.999', '1.000', '<0.001', '12,345.678')
    """
    smallest = 10.0**-digits
    if 0 < value < smallest / 2:
        return f"<{smallest:.{digits}f}"
    if 1 - smallest / 2 < value < 1:
        return f">{1 - smallest:.{digits}f}"
    return f"{value:,.{digits}f}"


def require(name: str, value: Any, *kinds: type, made_by: str) -> None:
    """Raise InputError if `value` has none of the given types; the hint `made_by` names the function to call."""
    if not isinstance(value, kinds):
        raise InputError(name, expected=" or ".join(map(with_article, kinds)), got=kind_of(value), hint=made_by)


def new_figure(width: float, height: float) -> Any:
    """Return a new pyplot figure; width and height are in inches."""
    from matplotlib import pyplot as plt

    return plt.figure(figsize=(width, height), layout=layout_engine.ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08))


def new_axes(width: float = 5.0, height: float = 4.8) -> Any:
    """Return the Axes of a new pyplot figure; width and height are in inches."""
    return new_figure(width, height).add_subplot()


def style_axes(ax: Any) -> None:
    """Apply the common style to the frame, ticks and grid of an Axes."""
    colours = palette()
    ax.set_axisbelow(True)
    if not rcParams["axes.grid"]:
        ax.grid(visible=True, which="major", color=colours.grid, linewidth=0.8)
    for spine in ax.spines.values():
        spine.set_color(colours.frame)
    look = {"color": setting("xtick.color", colours.frame), "labelcolor": setting("xtick.color", colours.ink)}
    ax.tick_params(which="both", labelsize=setting("xtick.labelsize", "small"), length=3, **look)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_color(setting("axes.labelcolor", colours.ink))
        axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.10g}"))
    ax.title.set_color(colours.ink)


_SVG = "http://www.w3.org/2000/svg"
_HREF = "{http://www.w3.org/1999/xlink}href"
_NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}
_SETTINGS = (
    threading.RLock()
)  # matplotlib's settings are global: without the lock, threads would restore each other's settings
_AS_TEXT: dict[Any, str] = {"svg.fonttype": "none", "svg.hashsalt": "rocscope"}
_FONT_SIZE = re.compile(r"([\d.]+px) ")


@contract
def svg(figure: Any, *, title: str = "", prefix: str | None = None) -> str:
    """Convert a figure to an ``<svg>`` element for an HTML page.

    Parameters
    ----------
    figure : Figure or Axes
        Figure to convert, or the Axes of a figure.
    title : str
        Title of the picture for screen readers. Special characters are escaped.
    prefix : str, optional
        Prefix of the ids in the SVG. By default a hash of the picture, so that different pictures in one page have
        different ids.

    Returns
    -------
    str
        SVG that is allowed under a strict content security policy: it has no XML prolog, metadata, style sheets, style
        attributes or external references. Text is stored as text, not as shapes. The same figure always gives the same
        string.

    Raises
    ------
    InputError
        If `figure` is not a Figure or Axes.

    See Also
    --------
    plot_curve, plot_roc

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> picture = svg(Figure(figsize=(1, 1)), title="a < b")
    >>> picture[:4], "<title>a &lt; b</title>" in picture
    ('<svg', True)
    """
    require("figure", figure, FigureBase, axes.Axes, made_by="pass the result of a plot_… function")
    check.check_text("title", title)
    stream = io.StringIO()
    with _SETTINGS, rc_context(_AS_TEXT):
        figure.get_figure().canvas.figure.savefig(stream, format="svg", metadata=_NO_METADATA)
    drawing = stream.getvalue()
    root = ElementTree.fromstring(drawing)
    _clean(root, prefix or f"r{hashlib.sha256(drawing.encode()).hexdigest()[:10]}-")
    # The fonts of the first text are declared once, for the entire picture.
    texts = [element.attrib for element in root.iter() if "font-family" in element.attrib]
    if texts:
        root.attrib["font-family"] = texts[0]["font-family"]
    for attributes in texts:
        if attributes["font-family"] == root.attrib["font-family"]:
            del attributes["font-family"]
    root.attrib |= {"xmlns": _SVG, "role": "img", "stroke-linejoin": "round", "stroke-linecap": "butt"}
    if title:
        name = ElementTree.Element("title")
        name.text = title
        root.insert(0, name)
    return ElementTree.tostring(root, encoding="unicode")


def _clean(root: ElementTree.Element, prefix: str) -> None:
    """Remove style sheets and metadata, convert style attributes, and remove ids that are not referenced."""
    used: set[str] = set()
    for element in root.iter():
        element.tag = element.tag.removeprefix(f"{{{_SVG}}}")
        for child in [child for child in element if child.tag.endswith(("}style", "}metadata"))]:
            element.remove(child)
        attributes = element.attrib
        attributes |= _plain_style(attributes.pop("style", ""))
        if _HREF in attributes:
            attributes["href"] = attributes.pop(_HREF)
        for name, value in attributes.items():
            if target := _target(name, value):
                used.add(target)
                attributes[name] = value.replace(f"#{target}", f"#{prefix}{target}")
    for element in root.iter():
        name = element.attrib.pop("id", None)
        if name in used:
            element.set("id", f"{prefix}{name}")


def _target(name: str, value: str) -> str:
    """Return the id to which an attribute refers; empty if it does not refer to an id."""
    if name == "href" and value.startswith("#"):
        return value[1:]
    return value[5:-1] if value.startswith("url(#") else ""


def _plain_style(style: str) -> dict[str, str]:
    """Convert a style attribute to separate attributes; `font` is split into style, weight, size and family."""
    declared = dict(entry.strip().split(": ", 1) for entry in style.split(";") if entry.strip())
    if "font" in declared:
        before, size, family = _FONT_SIZE.split(declared.pop("font"))
        declared |= {"font-size": size, "font-family": family}
        for word in before.split():
            declared["font-style" if word in {"italic", "oblique"} else "font-weight"] = word
    return declared


CURVE = "rocscope-curve"
"""Group id of the lines of curves."""
RUG, _SIDE = "rocscope-rug", "rocscope-side"
_CELLS = 200  # cells of a rug; each is half a per cent of the axis
_GAP = 0.03  # gap between plot and rug, as a share of the axis
_LANE = 0.035  # height of a model's rug, as a share of the axis
_SHORTEST = 0.3  # smallest height of a tick, as a share of the rug: a single case is visible
_STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)  # between ticks
_MOST_TICKS = 6  # labels of an axis that do not overlap
_WHOLE = 0.7  # share of the axis: if risks cover more than this, the full axis is shown

Limits = tuple[float, float]


def occurring(ax: Any, curve: Any) -> Limits:
    """Return limits for both axes that contain all predicted and observed risks, rounded outwards to ticks."""
    shown = [line.get_xydata().ravel() for line in ax.lines if line.get_gid() == CURVE]
    values = np.concatenate([*shown, curve.counts.threshold[[0, -1]].astype(np.float64)])
    values = values[np.isfinite(values)].clip(0, 1)
    low, high = values.min().item(), values.max().item()
    step = next((width for width in _STEPS if high - low < (_MOST_TICKS - 1) * width), 1.0)
    low, high = np.floor(low / step + 1e-9) * step, np.ceil(high / step - 1e-9) * step
    low, high = max(low, 0.0), min(max(high, low + step), 1.0)
    return (0.0, 1.0) if high - low > _WHOLE else (round(low, 3), round(high, 3))


def show_limits(ax: Any, limits: Limits) -> None:
    """Set the limits of both axes of a calibration plot, with space for rugs."""
    low, high = limits
    scale, lanes = high - low, len(rugs(ax)) // 2
    edge = _GAP + lanes * _LANE + 0.01 if lanes else 0.02
    ax.set_xlim(low - 0.02 * scale, high + 0.02 * scale)
    ax.set_ylim(low - edge * scale, high + edge * scale)
    step = next((width for width in _STEPS if scale <= (_MOST_TICKS - 0.5) * width), 1.0)
    even = np.isclose(scale / step, round(scale / step))
    ax.set_yticks(np.linspace(low, high, round(scale / step) + 1 if even else _MOST_TICKS))
    for collection in rugs(ax):
        collection.set_transform(transforms.Affine2D().scale(1, scale).translate(0, low) + ax.transData)
    if lanes:
        for text in [text for text in ax.texts if text.get_gid() == _SIDE]:
            text.remove()
        gap = _GAP * scale
        for name, y, side in (("positives", high + gap, "bottom"), ("negatives", low - gap, "top")):
            beside = {"xycoords": ax.get_yaxis_transform(), "xytext": (3, 0), "textcoords": "offset points"}
            ax.annotate(name, (1, y), va=side, fontsize="x-small", color=palette().muted, gid=_SIDE, **beside)


def rugs(ax: Any) -> list[Any]:
    """Return all rugs of the plot: one above and one below for each model."""
    return [artist for artist in ax.collections if artist.get_gid() == RUG]


def draw_rug(ax: Any, curve: Any, colour: Any, within: Limits | None = None) -> None:
    """Draw the rugs of a calibration curve: a tick for each small range of scores that contains rows.

    The length of a tick is proportional to the square root of the number of rows, relative to the longest tick of the
    class, with a visible minimum. Therefore, both single rows and the distribution of millions of rows are visible. If
    `within` is None, both axes show the range of the risks drawn so far.
    """
    within = within or occurring(ax, curve)
    number = round(_CELLS / (within[1] - within[0]))
    cells = rug(curve.counts, number)
    start = _GAP + len(rugs(ax)) // 2 * _LANE
    for count, foot, direction in ((cells.pos, 1 + start, 1), (cells.neg, -start, -1)):
        used = count > 0
        ticks = _ticks(cells.x[used], count[used], foot, direction, 1 / number)
        look = {"facecolor": colour, "edgecolor": colour, "linewidth": 0.4}
        ax.add_collection(collections.PolyCollection(list(ticks), gid=RUG, **look), autolim=False)
    show_limits(ax, within)


def _ticks(x: Array, count: Array, foot: float, direction: float, width: float) -> Array:
    """Return the corners of the tick in each cell, of shape (cells, 4, 2); the plot has side 1."""
    tallest = np.sqrt(count.max(initial=1))
    tip = foot + direction * 0.85 * _LANE * np.maximum(np.sqrt(count) / tallest, _SHORTEST)
    left, right = x - width / 2, x + width / 2
    base = np.full_like(x, foot)
    return np.stack([left, base, right, base, right, tip, left, tip], axis=1).reshape(-1, 4, 2)
