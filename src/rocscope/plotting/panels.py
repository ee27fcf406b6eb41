"""One Axes with the curves of several models, without a legend; each returns the marks that are to be labelled."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

from rocscope.core.band import Band
from rocscope.core.context import Context
from rocscope.core.cumulative import CumulativeCounts
from rocscope.curves.lift_curves import LiftChart
from rocscope.curves.roc_curve import RocCurve
from rocscope.decisions.choosing import DEFAULT_THRESHOLD, Decision, choose
from rocscope.plotting import theme
from rocscope.plotting.curves import draw
from rocscope.plotting.marks import Mark, draw_line, draw_mark, name_marks, position
from rocscope.plotting.rugs import draw_rug

HULL = "rocscope-hull"
_MOST_HULLS = 3
_MOST_RUGS = 3
_MOST_LABELLED = 2


class Marking(NamedTuple):
    """What is drawn besides the curves."""

    hull: bool = True
    context: Context | None = None
    thresholds: Sequence[float] | None = None


def draw_counts(
    ax: Any, curves: Mapping[str, RocCurve | LiftChart], labels: Sequence[str], what: Marking
) -> list[Mark]:
    """Draw ROC curves or lift charts with hulls, the best point of all and the points of some thresholds."""
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
        return wanted
    are_shares = counts.threshold[0] <= 1 and counts.threshold[-1] >= 0
    return (DEFAULT_THRESHOLD,) if are_shares else ()


def draw_calibration(
    ax: Any,
    curves: Sequence[Any],
    labels: Sequence[str],
    bands: Sequence[Band | None] | None = None,
    *,
    limits: tuple[float, float] = (0, 1),
    statistics: Sequence[str] = (),
) -> None:
    """Draw calibration plots, with a rug for each sample as long as there is room, and facts in the empty corner."""
    samples = {id(curve.counts): curve for curve in curves}  # the last of each, as a line sets limits without a rug
    for curve, label, band in zip(curves, labels, bands or [None] * len(curves), strict=True):
        line = draw(curve, ax, band=band, label=label, decorated=False)
        if samples[id(curve.counts)] is curve and len(samples) <= _MOST_RUGS:
            draw_rug(ax, curve, line.get_color(), limits)
    if limits != (0, 1):
        low, high = limits
        ax.set_xlim(low - 0.02 * (high - low), high + 0.02 * (high - low))
        if len(samples) > _MOST_RUGS:
            ax.set_ylim(ax.get_xlim())
    if statistics:
        place = {
            "transform": ax.transAxes,
            "ha": "right",
            "va": "bottom",
            "fontsize": "x-small",
            "color": theme.palette().ink,
        }
        box = {"facecolor": theme.palette().paper, "edgecolor": "none", "alpha": 0.75, "pad": 2}
        ax.text(0.98, 0.10, "\n".join(statistics), bbox=box, zorder=4, linespacing=1.35, **place)
