"""Legends that hide nothing: inside where there is room, beside one plot, or below several."""

from collections.abc import Sequence
from typing import Any

from matplotlib.lines import Line2D

from rocscope.plotting import theme
from rocscope.plotting.styles import has_rug

GUIDE = "rocscope-guide"
"""Group id of reference lines, which legends name last."""

_ROWS = 4


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
    """Put the legend where it hides least, and never over a rug, unless it is said where."""
    if not where:
        where = {"loc": "best"}
        if has_rug(ax):
            low, high = ax.get_yticks()[[0, -1]]  # the plot's own square, between the rug of either class
            where |= {"bbox_to_anchor": (low, low, high - low, high - low), "bbox_transform": ax.transData}
    labels, artists = zip(*_entries(ax), strict=True)
    ax.legend(artists, labels, **_look() | where)


def make_room(ax: Any) -> None:
    """Widen a figure by its legend, so that the plot keeps its size, and settle the layout."""
    figure = ax.figure
    if len(figure.axes) == 1 and figure.get_layout_engine() is not None:
        figure.set_figwidth(figure.get_figwidth() + ax.get_legend().get_window_extent().width / figure.dpi)
        for _ in range(2):  # a wide legend beside square axes is in its place only at the second pass
            figure.draw_without_rendering()


def legend_below(ax: Any) -> None:
    """Put the legend of the only Axes of a figure below it, in as many columns as fit, and make the figure higher."""
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
    """Put one legend below: models, marks and reference lines each in columns of their own."""
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
