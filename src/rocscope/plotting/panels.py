"""One Axes with the curves of several models, without legend; functions return the marks to label.

Marks on a curve: operating points, the iso-performance line, and labels that do not cover each other.
"""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

from matplotlib.transforms import Bbox

from rocscope._base import validation as check
from rocscope.core.context import Context
from rocscope.core.counts import CumulativeCounts
from rocscope.core.point import OperatingPoint
from rocscope.core.result import Band
from rocscope.curves.curve import Curve
from rocscope.curves.rate_curves import LiftChart
from rocscope.curves.roc_curve import RocCurve
from rocscope.decisions.choosing import DEFAULT_THRESHOLD, Decision, choose
from rocscope.geometry import Line
from rocscope.plotting import theme
from rocscope.plotting.curves import draw
from rocscope.plotting.rugs import Limits, draw_rug, occurring, show_limits

_OFFSETS = tuple((side, height) for height in (-4, 5, -13, 14) for side in (9, -9))
"""Candidate label positions in points; first right of and below the mark, which lies under a good curve."""


class Mark(NamedTuple):
    """A marked point of a curve."""

    x: float
    y: float
    colour: Any
    text: str = ""
    label: str | None = None
    best: bool = False


def position(curve: Curve, point: OperatingPoint) -> tuple[float, float]:
    """Return the position of a point on a curve, whose axes are named after its rates and counts."""
    return getattr(point, curve.x_name), getattr(point, curve.y_name)


def draw_mark(ax: Any, mark: Mark) -> None:
    """Draw a filled diamond for a best point, or an open circle large enough to surround a diamond."""
    label, zorder = mark.label or "_mark", 5.5 if mark.best else 5
    ax.plot([mark.x], [mark.y], label=label, zorder=zorder, clip_on=False, **_look(mark.colour, mark.best))


def name_marks(ax: Any, label: str) -> None:
    """Add one legend entry for the open circles of all models."""
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
    """Draw an iso-performance line across the plot."""
    if line.slope == line.slope:
        ax.axline((line.x, line.y), slope=line.slope, color=theme.palette().ink, linewidth=0.9, label=label, zorder=2.5)


def label_marks(ax: Any, marks: Sequence[Mark]) -> None:
    """Write each mark's text beside it, inside the plot, avoiding other marks and texts.

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
    """Move a text to an offset from its mark, and return the pixels that it covers."""
    text.set_position(offset)
    text.set_horizontalalignment("left" if offset[0] > 0 else "right")
    text.set_verticalalignment("top" if offset[1] < 0 else "bottom")
    return text.get_window_extent()


def _cost(offset: tuple[float, float], box: Bbox, lines: Sequence[Any]) -> float:
    """Return the number of lines that a text would cover, plus one per line of distance."""
    return sum(line.intersects_bbox(box, filled=False) for line in lines) + abs(offset[1]) / 12


def _contains(frame: Bbox, box: Bbox) -> bool:
    return frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1


def _around(ax: Any, mark: Mark) -> Bbox:
    """Return the pixels that a mark covers."""
    x, y = ax.transData.transform((mark.x, mark.y))
    half = 4 * ax.figure.dpi / 72
    return Bbox.from_extents(x - half, y - half, x + half, y + half)


HULL = "rocscope-hull"
_MOST_HULLS = 3  # models: more hulls hide the curves
_MOST_RUGS = 3  # models: a rug for each has no more room
_MOST_LABELLED = 2  # models: more labels cover each other


class Marking(NamedTuple):
    """What is drawn in addition to the curves."""

    hull: bool = True
    context: Context | None = None
    thresholds: Sequence[float] | None = None


def draw_counts(
    ax: Any, curves: Mapping[str, RocCurve | LiftChart], labels: Sequence[str], what: Marking
) -> list[Mark]:
    """Draw ROC curves or lift charts with hulls, the best point and the points of given thresholds."""
    lines = {name: draw(curve, ax, label=label) for (name, curve), label in zip(curves.items(), labels, strict=True)}
    colours = {name: line.get_color() for name, line in lines.items()}
    decision = choose({name: curve.counts for name, curve in curves.items()}, what.context)
    if what.hull:
        outlined = curves if len(curves) <= _MOST_HULLS else {decision.model: curves[decision.model]}
        _draw_hulls(ax, outlined, colours)
    best = _draw_best(ax, curves, decision, what)
    others = _draw_thresholds(ax, curves, colours, what)
    return [best, *others]


def _draw_hulls(ax: Any, curves: Mapping[str, RocCurve | LiftChart], colours: Mapping[str, Any]) -> None:
    for name, curve in curves.items():
        hull = curve.hull()
        look = {"color": colours[name], "linewidth": 0.9, "alpha": 0.6, "zorder": 2}
        ax.plot(hull.x, hull.y, label="_hull", gid=HULL, **look)
    ax.plot([], [], color=theme.palette().muted, linewidth=0.9, label="convex hull")


def _draw_best(ax: Any, curves: Mapping[str, RocCurve | LiftChart], decision: Decision, what: Marking) -> Mark:
    curve, point = curves[decision.model], decision.point
    if isinstance(curve, RocCurve) or decision.context.target_prevalence is None:
        draw_line(ax, curve.iso_performance_line(what.context), "iso-performance line")
    goal = "best accuracy" if what.context is None else "lowest cost"
    model = f"{theme.plain(decision.model)}, " if len(curves) > 1 else ""
    everybody_or_nobody = "nobody positive" if point.threshold > 0 else "everybody positive"
    cut = f"score ≥ {point.threshold:.3g}" if isfinite(point.threshold) else everybody_or_nobody
    mark = Mark(*position(curve, point), theme.palette().ink, cut, f"{goal}: {model}{cut}", best=True)
    draw_mark(ax, mark)
    return mark


def _draw_thresholds(
    ax: Any, curves: Mapping[str, RocCurve | LiftChart], colours: Mapping[str, Any], what: Marking
) -> list[Mark]:
    marks: list[Mark] = []
    for name, curve in curves.items():
        for threshold in _thresholds(curve.counts, what.thresholds):
            text = f"{threshold:.3g}" if what.thresholds is not None and len(curves) <= _MOST_LABELLED else ""
            marks.append(Mark(*position(curve, curve.counts.at(threshold)), colours[name], text))
            draw_mark(ax, marks[-1])
    if marks:
        name_marks(ax, "given thresholds" if what.thresholds is not None else f"threshold {DEFAULT_THRESHOLD}")
    return marks


def _thresholds(counts: CumulativeCounts, wanted: Sequence[float] | None) -> Sequence[float]:
    if wanted is not None:
        return check.check_column(wanted, "thresholds").tolist() if len(wanted) else ()
    are_shares = counts.threshold[0] <= 1 and counts.threshold[-1] >= 0
    return (DEFAULT_THRESHOLD,) if are_shares else ()


def draw_calibration(
    ax: Any,
    curves: Sequence[Any],
    labels: Sequence[str],
    bands: Sequence[Band | None] | None = None,
    *,
    limits: Limits | None = None,
) -> None:
    """Draw calibration plots, with a rug for each sample where there is room, as far as risks occur or as told."""
    samples = {id(curve.counts): curve for curve in curves}  # the last of each, as a line sets limits without a rug
    lines = [
        draw(curve, ax, band=band, label=label, decorated=False)
        for curve, label, band in zip(curves, labels, bands or [None] * len(curves), strict=True)
    ]
    ends = [occurring(ax, curve) for curve in curves]
    limits = limits or (min(low for low, _ in ends), max(high for _, high in ends))
    if len(samples) > _MOST_RUGS:
        show_limits(ax, limits)
        return
    for curve, line in zip(curves, lines, strict=True):
        if samples[id(curve.counts)] is curve:
            draw_rug(ax, curve, line.get_color(), limits)
