"""Rugs of calibration plots: the scores of each class beside the plot, and axes that end where scores do."""

from typing import Any

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.transforms import Affine2D

from rocscope._base.arrays import Array
from rocscope.calibration.bins import rug
from rocscope.plotting import theme

CURVE = "rocscope-curve"
"""Group id of the lines of curves."""
RUG, _SIDE = "rocscope-rug", "rocscope-side"
_CELLS = 200  # of a rug, each half a per cent of the axis
_GAP = 0.03  # between plot and rug, of the axis
_LANE = 0.035  # height of a model's rug, of the axis
_SHORTEST = 0.3  # of a lane: a single case is still seen
_STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)  # between ticks
_MOST_TICKS = 6  # labels of an axis that do not touch
_WHOLE = 0.7  # of the axis: where risks are spread over so much, all of it is shown

Limits = tuple[float, float]


def occurring(ax: Any, curve: Any) -> Limits:
    """Return the part of both axes in which risks occur, predicted or observed, between two ticks."""
    shown = [line.get_xydata().ravel() for line in ax.lines if line.get_gid() == CURVE]
    values = np.concatenate([*shown, curve.counts.threshold[[0, -1]].astype(np.float64)])
    values = values[np.isfinite(values)].clip(0, 1)
    low, high = values.min().item(), values.max().item()
    step = next((each for each in _STEPS if high - low < (_MOST_TICKS - 1) * each), 1.0)
    low, high = np.floor(low / step + 1e-9) * step, np.ceil(high / step - 1e-9) * step
    low, high = max(low, 0.0), min(max(high, low + step), 1.0)
    return (0.0, 1.0) if high - low > _WHOLE else (round(low, 3), round(high, 3))


def show_limits(ax: Any, limits: Limits) -> None:
    """Set both axes to a part of them, between rugs where there are any."""
    low, high = limits
    scale, lanes = high - low, len(_rugs(ax)) // 2
    edge = _GAP + lanes * _LANE + 0.01 if lanes else 0.02
    ax.set_xlim(low - 0.02 * scale, high + 0.02 * scale)
    ax.set_ylim(low - edge * scale, high + edge * scale)
    step = next((each for each in _STEPS if scale <= (_MOST_TICKS - 0.5) * each), 1.0)
    even = np.isclose(scale / step, round(scale / step))
    ax.set_yticks(np.linspace(low, high, round(scale / step) + 1 if even else _MOST_TICKS))
    for collection in _rugs(ax):
        collection.set_transform(Affine2D().scale(1, scale).translate(0, low) + ax.transData)
    if lanes:
        _name_sides(ax, limits)


def has_rug(ax: Any) -> bool:
    """Whether a rug occupies the space above and below the plot."""
    return bool(_rugs(ax))


def _rugs(ax: Any) -> list[Any]:
    return [artist for artist in ax.collections if artist.get_gid() == RUG]


def draw_rug(ax: Any, curve: Any, colour: Any, within: Limits = (0, 1)) -> None:
    """Draw a tick in each cell of a calibration plot's rug that holds a row, longer for more rows.

    Lengths go with the square root of the count, relative to the fullest cell of the same class, and never below a
    visible minimum: a single row among millions shows, and so does the shape of millions.
    """
    number = round(_CELLS / (within[1] - within[0]))
    cells = rug(curve.counts, number)
    start = _GAP + len(_rugs(ax)) // 2 * _LANE
    for count, foot, direction in ((cells.pos, 1 + start, 1), (cells.neg, -start, -1)):
        used = count > 0
        ticks = _ticks(cells.x[used], count[used], foot, direction, 1 / number)
        look = {"facecolor": colour, "edgecolor": colour, "linewidth": 0.4}
        ax.add_collection(PolyCollection(list(ticks), gid=RUG, **look), autolim=False)
    show_limits(ax, within)


def draw_calibrated(ax: Any, curve: Any, colour: Any) -> None:
    """Add the rug of a curve, and show the part of the axes in which its risks and those drawn before occur."""
    draw_rug(ax, curve, colour, occurring(ax, curve))


def _ticks(x: Array, count: Array, foot: float, direction: float, width: float) -> Array:
    """Return the corners of a bar for each cell, of shape (cells, 4, 2); the plot's own square is from 0 to 1."""
    tallest = np.sqrt(count.max(initial=1))
    tip = foot + direction * 0.85 * _LANE * np.maximum(np.sqrt(count) / tallest, _SHORTEST)
    left, right = x - width / 2, x + width / 2
    base = np.full_like(x, foot)
    return np.stack([left, base, right, base, right, tip, left, tip], axis=1).reshape(-1, 4, 2)


def _name_sides(ax: Any, within: Limits) -> None:
    for text in [text for text in ax.texts if text.get_gid() == _SIDE]:
        text.remove()
    low, high = within
    gap = _GAP * (high - low)
    for name, y, side in (("positives", high + gap, "bottom"), ("negatives", low - gap, "top")):
        beside = {"xycoords": ax.get_yaxis_transform(), "xytext": (3, 0), "textcoords": "offset points"}
        ax.annotate(name, (1, y), va=side, fontsize="x-small", color=theme.palette().muted, gid=_SIDE, **beside)
