"""The rug of a calibration plot: positives above the plot, negatives below, one lane for each model."""

from typing import Any

import numpy as np
from matplotlib.collections import PolyCollection

from rocscope._types import Array
from rocscope.calibration.rug import rug
from rocscope.plotting import theme

RUG = "rocscope-rug"
_CELLS = 200
_GAP = 0.03
_LANE = 0.035
_SHORTEST = 0.3


def has_rug(ax: Any) -> bool:
    """Whether a rug takes up the space above and below the plot."""
    return any(artist.get_gid() == RUG for artist in ax.collections)


def draw_rug(ax: Any, curve: Any, colour: Any, within: tuple[float, float] = (0, 1)) -> None:
    """Draw a tick in each narrow cell of a calibration plot's scores that holds a row, longer where there are more.

    Lengths go with the square root of the count, relative to the fullest cell of the same class, and never below a
    visible minimum: a single row among millions shows, and so does the shape of millions.
    """
    low, high = within
    scale = high - low
    lane = sum(artist.get_gid() == RUG for artist in ax.collections) // 2
    start = _GAP + lane * _LANE
    cells = rug(curve.counts, _CELLS)
    seen = (cells.x >= low) & (cells.x <= high)
    for count, foot, direction in ((cells.pos, high + scale * start, scale), (cells.neg, low - scale * start, -scale)):
        used = seen & (count > 0)
        ticks = _ticks(cells.x[used], count[used], foot, direction)
        look = {"facecolor": colour, "edgecolor": colour, "linewidth": 0.4}
        ax.add_collection(PolyCollection(list(ticks), gid=RUG, **look), autolim=False)
    edge = scale * (start + _LANE + 0.01)
    ax.set_ylim(low - edge, high + edge)
    ax.set_yticks(np.linspace(low, high, 6))
    if not lane:
        _name_sides(ax, within)


def _ticks(x: Array, count: Array, foot: float, direction: float) -> Array:
    """Return the corners of a bar for each cell, of shape (cells, 4, 2)."""
    tallest = np.sqrt(count.max(initial=1))
    tip = foot + direction * 0.85 * _LANE * np.maximum(np.sqrt(count) / tallest, _SHORTEST)
    left, right = x - 0.5 / _CELLS, x + 0.5 / _CELLS
    base = np.full_like(x, foot)
    return np.stack([left, base, right, base, right, tip, left, tip], axis=1).reshape(-1, 4, 2)


def _name_sides(ax: Any, within: tuple[float, float]) -> None:
    low, high = within
    gap = _GAP * (high - low)
    for name, y, side in (("positives", high + gap, "bottom"), ("negatives", low - gap, "top")):
        beside = {"xycoords": ax.get_yaxis_transform(), "xytext": (3, 0), "textcoords": "offset points"}
        ax.annotate(name, (1, y), va=side, fontsize="x-small", color=theme.palette().muted, **beside)
