"""A curve as a small picture in HTML, with axes and what chance gives, for a notebook."""

from html import escape

import numpy as np

from rocscope._types import Array

_WIDTH, _HEIGHT, _LEFT, _TOP, _BELOW = 260, 200, 58, 20, 34
_MOST = 200
_ROOM = 0.4  # of what 0 to 1 is: what fills less of it is shown by its own range


def picture(x: Array, y: Array, chance: tuple[Array, Array] | None, *, axes: tuple[str, str], title: str) -> str:
    """Return an inline SVG of a line of at most 200 points, evenly along it.

    Examples
    --------
    >>> drawn = picture(np.array([0, 1]), np.array([0, 1]), None, axes=("fpr", "tpr"), title="a < b")
    >>> drawn[:4], "a &lt; b" in drawn, drawn.count("<polyline")
    ('<svg', True, 1)
    """
    points = _finite(x, y)
    low, high = zip(*(_ends(axis) for axis in points.T), strict=True)
    span = np.subtract(high, low)

    def path(line: Array) -> str:
        across, up = ((line - low) / span).clip(-0.05, 1.05).T
        pairs = zip(_LEFT + _WIDTH * across, _TOP + _HEIGHT * (1 - up), strict=True)
        return " ".join(f"{right:.1f},{down:.1f}" for right, down in pairs)

    lines = [f'<polyline points="{path(_thinned(points, span))}" fill="none" stroke="#0b5fad" stroke-width="2"/>']
    if chance is not None and (of_chance := _finite(*chance)).size:
        look = 'fill="none" stroke="currentColor" stroke-opacity="0.5" stroke-dasharray="5 4"'
        lines.insert(0, f'<polyline points="{path(of_chance)}" {look}><title>chance</title></polyline>')
    frame = f'<rect x="{_LEFT}" y="{_TOP}" width="{_WIDTH}" height="{_HEIGHT}" fill="none" stroke="#8888"/>'
    across, up = (name.replace("_", " ") for name in axes)
    bottom, middle = _TOP + _HEIGHT, _TOP + _HEIGHT / 2
    ticks = [(0, 0.5, 1) if ends == (0.0, 1.0) else (0, 1) for ends in zip(low, high, strict=True)]
    texts = [
        _text(_LEFT, 13, title, "start", weight="bold"),
        *(_text(_LEFT + _WIDTH * at, bottom + 14, _number(low[0] + at * span[0]), "middle") for at in ticks[0]),
        *(_text(_LEFT - 5, bottom - _HEIGHT * at + 4, _number(low[1] + at * span[1]), "end") for at in ticks[1]),
        _text(_LEFT + _WIDTH / 2, bottom + 29, across, "middle"),
        f'<g transform="translate(11 {middle:g}) rotate(-90)">{_text(0, 0, up, "middle")}</g>',
    ]
    width, height = _LEFT + _WIDTH + 14, _TOP + _HEIGHT + _BELOW
    name = escape(f"{title}: {up} against {across}", quote=True)
    start = f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" aria-label="{name}"'
    return "".join([start, ' font-family="sans-serif" font-size="11">', frame, *lines, *texts, "</svg>"])


def _finite(x: Array, y: Array) -> Array:
    points = np.column_stack([x, y]).astype(np.float64)
    return points[np.isfinite(points).all(axis=1)]


def _ends(axis: Array) -> tuple[float, float]:
    """Return from 0 to 1 where the numbers fill some of that; else from the least, or 0, to the largest."""
    least, largest = float(axis.min(initial=0.0)), float(axis.max(initial=0.0))
    if least == 0 and _ROOM < largest <= 1:
        return 0.0, 1.0
    return least, largest if largest > least else least + 1


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _thinned(points: Array, span: Array) -> Array:
    """Return as many points as are seen, evenly along the line, the last included."""
    if len(points) <= _MOST:
        return points
    along = np.concatenate([[0], np.hypot(*(np.diff(points, axis=0) / span).T).cumsum()])
    return points[np.unique(np.searchsorted(along, np.linspace(0, along[-1], _MOST)))]


def _text(x: float, y: float, words: str, anchor: str, *, weight: str = "normal") -> str:
    look = f'text-anchor="{anchor}" font-weight="{weight}" fill="currentColor"'
    return f'<text x="{x:g}" y="{y:g}" {look}>{escape(words)}</text>'
