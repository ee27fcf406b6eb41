"""The look that all figures share: colours, dashes, text, and an Axes to draw on."""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from matplotlib import font_manager, rcParams
from matplotlib.colors import to_rgb
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter

from rocscope.errors import InputError
from rocscope.sample import kind_of

DASHES: tuple[Any, ...] = ("solid", (0, (6, 1.6)), (0, (1.6, 1.3)), (0, (7, 1.5, 1.6, 1.5)), (0, (3, 1.2)))
"""With the colours these make 25 lines of which no two look the same, and the first five differ without colour."""

LONGEST_NAME = 32


@dataclass(frozen=True)
class Palette:
    """Five hues of at least 4.5:1 contrast on the paper, and the greys of all else.

    Any two hues are at least 13 units of CIELAB apart as those see them who lack red, green or blue cones
    (Machado, Oliveira & Fernandes 2009), and 22 as all others do.
    """

    hues: tuple[str, ...]
    ink: str
    muted: str
    frame: str
    grid: str
    paper: str


LIGHT = Palette(
    ("#0b5fad", "#c8501a", "#08826d", "#9c337e", "#6f4b1a"), "#24292f", "#5f6873", "#aab1ba", "#eceef1", "white"
)
DARK = Palette(
    ("#5aa9f5", "#f0894a", "#a1eca9", "#db8fb7", "#eeec50"), "#e6e8eb", "#a3abb5", "#5b636d", "#2b3036", "black"
)


def palette() -> Palette:
    """Return the colours for the style that matplotlib now draws with: of its axes' background."""
    red, green, blue = to_rgb(rcParams["axes.facecolor"])
    return LIGHT if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else DARK


def line_look(index: int) -> dict[str, Any]:
    """Return colour and dashes of the model at `index`; they repeat after 25."""
    lap = index // len(LIGHT.hues)
    dash = DASHES[(index + lap) % len(DASHES)]
    return {"color": palette().hues[index % len(LIGHT.hues)], "linestyle": dash, "linewidth": 1.8}


def plain(text: Any, longest: int = LONGEST_NAME) -> str:
    """Return text that matplotlib draws as it is written: on one line, shortened in the middle, without mathematics.

    Characters that the current fonts lack become □, so that no warning is given; with ``font.family`` set to fonts
    that have them they stay.

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


def names(models: Iterable[str]) -> list[str]:
    """Return a label for each model, distinct also where shortening makes two names equal.

    Examples
    --------
    >>> names(["tree", "t" * 40, "t" * 50])
    ['tree', 'tttttttttttttttt…ttttttttttttttt', 'tttttttttttttttt…ttttttttttttttt (2)']
    """
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
    """Return the installed fonts that matplotlib looks into, in its order."""
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
    """Return a number for a label; one that is not 1 or 0 is never rounded to it.

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
    """Raise InputError for what cannot be drawn so, naming what makes it."""
    if not isinstance(value, kinds):
        raise InputError(name, expected=" or ".join(kind.__name__ for kind in kinds), got=kind_of(value), hint=made_by)


def new_figure(width: float, height: float) -> Any:
    """Return a new pyplot figure, of a size in inches."""
    from matplotlib import pyplot as plt

    return plt.figure(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08))


def new_axes(width: float = 5.0, height: float = 4.8) -> Any:
    """Return the Axes of a new pyplot figure, of a size in inches."""
    return new_figure(width, height).add_subplot()


def dress(ax: Any) -> None:
    """Give an Axes its quiet frame and grid."""
    colours = palette()
    ax.set_axisbelow(True)
    ax.grid(visible=True, which="major", color=colours.grid, linewidth=0.8)
    for spine in ax.spines.values():
        spine.set_color(colours.frame)
        spine.set_linewidth(0.8)
    ax.tick_params(which="both", color=colours.frame, labelcolor=colours.ink, labelsize="small", length=3)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_color(colours.ink)
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    ax.title.set_color(colours.ink)
