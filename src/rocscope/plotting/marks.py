"""Marks on a curve: operating points, the iso-performance line, and labels that do not cover each other."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from matplotlib.transforms import Bbox

from rocscope.core.point import OperatingPoint
from rocscope.curves.curve import Curve
from rocscope.geometry import Line
from rocscope.plotting import theme

_OFFSETS = tuple((side, height) for height in (-4, 5, -13, 14) for side in (9, -9))
"""Where a label may stand, in points: right of and below its mark first, which is under a good curve."""


class Mark(NamedTuple):
    """A point of a curve, and how it is shown."""

    x: float
    y: float
    colour: Any
    text: str = ""
    label: str | None = None
    best: bool = False


def position(curve: Curve, point: OperatingPoint) -> tuple[float, float]:
    """Return where a point lies on a curve, whose axes have the names of its rates and counts."""
    return getattr(point, curve.x_name), getattr(point, curve.y_name)


def draw_mark(ax: Any, mark: Mark) -> None:
    """Draw a filled diamond for a best point, an open circle for any other, large enough to show around a diamond."""
    label, zorder = mark.label or "_mark", 5.5 if mark.best else 5
    ax.plot([mark.x], [mark.y], label=label, zorder=zorder, clip_on=False, **_look(mark.colour, mark.best))


def name_marks(ax: Any, label: str) -> None:
    """Name the open circles of all models in the legend, once."""
    ax.plot([], [], label=label, **_look(theme.palette().muted, best=False))


def _look(colour: Any, best: bool) -> dict[str, Any]:
    look = {"linestyle": "none", "markeredgewidth": 1.4}
    if best:
        return look | {
            "marker": "D",
            "markersize": 6,
            "markerfacecolor": theme.palette().ink,
            "markeredgecolor": theme.palette().paper,
        }
    return look | {"marker": "o", "markersize": 8, "markerfacecolor": theme.palette().paper, "markeredgecolor": colour}


def draw_line(ax: Any, line: Line, label: str) -> None:
    """Draw an iso-performance line through the whole plot."""
    if line.slope == line.slope:
        ax.axline((line.x, line.y), slope=line.slope, color=theme.palette().ink, linewidth=0.9, label=label, zorder=2.5)


def label_marks(ax: Any, marks: Sequence[Mark]) -> None:
    """Write the text of each mark beside it, inside the plot and over no other mark or text, where it covers least.

    A text for which there is no such place is left out.
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
            if _contains(frame, box) and not any(box.overlaps(other) for other in taken)
        ]
        if free:
            taken.append(_move(text, min(free, key=lambda offset: _cost(offset, places[offset], lines))))
        else:
            text.remove()


def _move(text: Any, offset: tuple[float, float]) -> Bbox:
    """Put a text at an offset from its mark and return the pixels that it covers."""
    text.set_position(offset)
    text.set_horizontalalignment("left" if offset[0] > 0 else "right")
    text.set_verticalalignment("top" if offset[1] < 0 else "bottom")
    return text.get_window_extent()


def _cost(offset: tuple[float, float], box: Bbox, lines: Sequence[Any]) -> float:
    """Return how many lines a text would cover, counting one more for each line of text that it is farther away."""
    return sum(line.intersects_bbox(box, filled=False) for line in lines) + abs(offset[1]) / 12


def _contains(frame: Bbox, box: Bbox) -> bool:
    return frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1


def _around(ax: Any, mark: Mark) -> Bbox:
    """Return the pixels that a mark covers."""
    x, y = ax.transData.transform((mark.x, mark.y))
    half = 4 * ax.figure.dpi / 72
    return Bbox.from_extents(x - half, y - half, x + half, y + half)
