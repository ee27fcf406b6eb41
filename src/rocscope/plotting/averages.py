"""The single folds behind an average, faintly below it, and crosses where it was taken at thresholds."""

from typing import Any

from rocscope.curves.outline import outline
from rocscope.plotting import theme

FOLD = "rocscope-fold"
_CROSSES = 9
_BESIDE = 1.02


def average_look(curve: Any) -> dict[str, Any]:
    """Return label and strength of the line of an average."""
    folds = len(curve.folds)
    areas = "" if curve.areas is None else f"\n{_areas(curve)}"
    return {"label": f"{theme.plain(curve.model)}: {curve.method}, {folds} folds{areas}", "linewidth": 2.2}


def _areas(curve: Any) -> str:
    areas = curve.areas
    return f"{areas.name}: mean of folds {theme.number(areas.mean.value)}, pooled {theme.number(areas.pooled.value)}"


def draw_folds(ax: Any, curve: Any, colour: Any) -> None:
    """Draw the curve of each fold, and the crosses of a threshold average."""
    if len(curve.folds) > 1:
        strength = max(0.12, min(0.4, 4 / len(curve.folds)))
        look = {"color": colour, "alpha": strength, "linewidth": 0.9, "zorder": 2.5, "gid": FOLD}
        for fold in curve.folds.values():
            ax.plot(*outline(fold), label="_fold", **look)
    if curve.x_band is not None:
        _draw_crosses(ax, curve)
    _make_room(ax, curve)


def _draw_crosses(ax: Any, curve: Any) -> None:
    """Show at a few thresholds how far the folds agree in both directions."""
    shown = slice(None, None, max(1, curve.x.size // _CROSSES))
    x, y = curve.x[shown], curve.y[shown]
    look = {"color": theme.palette().ink, "linewidth": 1.1, "zorder": 4}
    ax.hlines(y, curve.x_band.low[shown], curve.x_band.high[shown], label="intervals at some thresholds", **look)
    ax.vlines(x, curve.band.low[shown], curve.band.high[shown], **look)


def _make_room(ax: Any, curve: Any) -> None:
    """Let the axes of counts and of lift, which have no natural end, hold all folds."""
    for name, set_limit in ((curve.x_name, ax.set_xlim), (curve.y_name, ax.set_ylim)):
        if name in ("fp", "tp", "lift"):
            side = ax.dataLim.intervalx if name == curve.x_name else ax.dataLim.intervaly
            set_limit(-(_BESIDE - 1) * side[1], _BESIDE * side[1])
