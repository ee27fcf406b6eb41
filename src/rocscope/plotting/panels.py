"""One Axes with the curves of several models, without a legend; each returns the marks that are to be labelled."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

from rocscope.core.band import Band
from rocscope.core.context import Context
from rocscope.core.counts import ThresholdCounts
from rocscope.core.point import OperatingPoint
from rocscope.curves.lift import LiftChart
from rocscope.curves.roc import RocCurve
from rocscope.decisions.choose import DEFAULT_THRESHOLD, choose
from rocscope.plotting import theme
from rocscope.plotting.curves import draw
from rocscope.plotting.marks import Mark, draw_line, draw_mark, name_marks, position

HULL = "rocscope-hull"
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
    if what.hull:
        for name, curve in curves.items():
            hull = curve.hull()
            look = {"color": lines[name].get_color(), "linewidth": 0.9, "alpha": 0.6, "zorder": 2}
            ax.plot(hull.x, hull.y, label="_hull", gid=HULL, **look)
        ax.plot([], [], color=theme.MUTED, linewidth=0.9, label="convex hull")
    best = _best(ax, curves, what)
    marks = [best]
    for name, curve in curves.items():
        for threshold in _thresholds(curve.counts, what.thresholds):
            x, y = position(curve, curve.counts.at(threshold))
            text = f"{threshold:.3g}" if what.thresholds is not None and len(curves) <= _MOST_LABELLED else ""
            marks.append(Mark(x, y, lines[name].get_color(), text))
    for mark in marks:
        draw_mark(ax, mark)
    if len(marks) > 1:
        cuts = "given thresholds" if what.thresholds is not None else f"threshold {DEFAULT_THRESHOLD}"
        name_marks(ax, cuts)
    return marks


def _best(ax: Any, curves: Mapping[str, RocCurve | LiftChart], what: Marking) -> Mark:
    context = what.context or Context()
    decision = choose({name: curve.counts for name, curve in curves.items()}, context)
    curve = curves[decision.model]
    if isinstance(curve, RocCurve) or context.target_prevalence is None:
        draw_line(ax, curve.iso_performance_line(context), "iso-performance line")
    goal = "best accuracy" if what.context is None else "lowest cost"
    model = f"{theme.plain(decision.model)}, " if len(curves) > 1 else ""
    cut = _cut(decision.point)
    return Mark(*position(curve, decision.point), theme.INK, cut, f"{goal}: {model}{cut}", best=True)


def _cut(point: OperatingPoint) -> str:
    return f"score ≥ {point.threshold:.3g}" if isfinite(point.threshold) else "nobody positive"


def _thresholds(counts: ThresholdCounts, wanted: Sequence[float] | None) -> Sequence[float]:
    if wanted is not None:
        return wanted
    are_shares = counts.threshold[0] <= 1 and counts.threshold[-1] >= 0
    return (DEFAULT_THRESHOLD,) if are_shares else ()


def draw_calibration(
    ax: Any, curves: Sequence[Any], labels: Sequence[str], bands: Sequence[Band | None] | None = None
) -> None:
    """Draw calibration plots, with a rug for each sample as long as there is room."""
    samples = {id(curve.counts): curve for curve in curves}  # the last of each, as a line sets limits without a rug
    for curve, label, band in zip(curves, labels, bands or [None] * len(curves), strict=True):
        has_rug = samples[id(curve.counts)] is curve and len(samples) <= _MOST_RUGS
        draw(curve, ax, band=band, label=label, decorated=has_rug)
