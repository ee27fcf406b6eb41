"""The histogram of the thresholds that are chosen when the sample is drawn again."""

from typing import Any

from matplotlib.ticker import PercentFormatter

from rocscope.curves.outline import outline
from rocscope.plotting import theme

_ROOM_FOR_LEGEND = 1.65


def threshold_look(curve: Any) -> dict[str, Any]:
    """Return the label of the histogram, which tells what does not fit on its axis."""
    nobody = f"\nin {curve.nobody:.1%} nobody positive" if curve.nobody else ""
    return {"label": f"{theme.plain(curve.model)}: chosen in replicates{nobody}", "linewidth": 1.2}


def show_thresholds(ax: Any, curve: Any) -> None:
    """Give the plot the shape of a histogram, with limits that the data say."""
    ax.set_box_aspect(0.6)
    ax.margins(x=0.03)
    ax.set_ylim(0, _ROOM_FOR_LEGEND * (curve.y.max() or 1))
    ax.yaxis.set_major_formatter(PercentFormatter(1))


def draw_choice(ax: Any, curve: Any, colour: Any) -> None:
    """Fill the histogram, and mark the chosen threshold and its interval."""
    ax.fill_between(*outline(curve), color=colour, alpha=0.16, linewidth=0, zorder=2)
    chosen = curve.chosen
    if abs(chosen.value) != float("inf"):
        look = {"color": theme.palette().ink, "linewidth": 1.6, "zorder": 4}
        ax.axvline(chosen.value, label=f"chosen: {theme.number(chosen.value)}", **look)
    label = f"{100 * chosen.level:g} % interval {_end(chosen.low)} to {_end(chosen.high)}"
    look = {"color": theme.palette().muted, "linewidth": 1.1, "linestyle": (0, (4, 3)), "zorder": 3}
    for end, name in ((chosen.low, label), (chosen.high, "_interval")):
        if abs(end) != float("inf"):
            ax.axvline(end, label=name, **look)


def _end(value: float) -> str:
    return "∞" if value == float("inf") else theme.number(value)
