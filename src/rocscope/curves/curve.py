"""Base classes: `Curve` for the curve of one model, and `Curves` for the curves of several models.

The last part of the file draws the SVG preview of a curve in a notebook.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from html import escape
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.grouping import Parts
from rocscope._base.public_names import reach
from rocscope.core import Band, CumulativeCounts, Predictions, Result, jsonable
from rocscope.sample import with_scores

Function = TypeVar("Function", bound=Callable[..., Any])


class CurveColumns(dict[str, Array]):
    """Mapping from the name of a column to an array. In earlier versions, it was returned by a method."""

    def __call__(self) -> Self:
        """Return the mapping itself, so that ``curve.columns()`` works too."""
        return self


class Curve(Result):
    """A curve of points (x, y), one for each threshold.

    Parameters
    ----------
    x, y : arrays of n
        Coordinates of the points, in order of decreasing threshold.
    threshold : array of n
        Threshold of each point. At the first threshold, infinity, no case is predicted positive.

    Examples
    --------
    >>> curve = Curve([0.0, 0.5, 1.0], [0.0, 0.8, 1.0], [np.inf, 0.7, 0.1])
    >>> curve.at(0.25), curve.area()
    (0.4, 0.65)
    """

    title: ClassVar[str] = "curve"
    x_name: ClassVar[str] = "x"
    y_name: ClassVar[str] = "y"

    def __init__(self, x: Any, y: Any, threshold: Any) -> None:
        columns = (np.asarray(column) for column in (x, y, threshold))
        self.x, self.y, self.threshold = (check.read_only(column) for column in columns)

    x: Array
    y: Array
    threshold: Array

    def at(self, x: Any) -> Any:
        """Return y at each value of `x` by linear interpolation between the points.

        If several points have this x, the y of the last of them is returned. Outside the range of the curve, the result
        is NaN.

        Examples
        --------
        >>> curve = Curve([0.0, 0.5, 1.0], [0.0, 0.8, 1.0], [3.0, 2.0, 1.0])
        >>> curve.at(0.25), curve.at([0.5, 0.75])
        (0.4, array([0.8, 0.9]))
        """
        return interpolate(self.x, self.y, x)

    def __call__(self) -> Self:
        """Return the curve itself, so that curves of curves, such as ``curve.treat_all()``, may be called."""
        return self

    def area(self) -> float:
        """Return the area under the curve. Points are joined by straight lines."""
        return float(np.trapezoid(self.y, self.x))

    def plot(self, ax: Any = None, *, band: Band | None = None, **line: Any) -> Any:
        """Draw the curve with matplotlib.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on. By default, a new figure is created.
        band : Band, optional
            Band to draw as a filled area. Its level and method are shown in the legend. By default, no band is drawn,
            except the confidence band of a calibration curve.
        **line
            Options of the line, such as ``label`` and ``color``, passed to ``Axes.plot``.

        Returns
        -------
        Axes
            The axes with the curve.
        """
        return reach("plotting").plot_curve(self, ax, band=band, **line)

    def drawn(self) -> tuple[Array, Array]:
        """Return the x and y of points that give the curve if they are joined by straight lines."""
        return self.x, self.y

    @property
    def columns(self) -> "CurveColumns":
        """Columns of `to_frame`, by name. ``curve.columns()`` returns the same.

        Examples
        --------
        >>> list(Curve([0.0, 1.0], [0.0, 1.0], [2.0, 1.0]).columns)
        ['x', 'y', 'threshold']
        """
        return CurveColumns(self._columns())

    def _columns(self) -> dict[str, Array]:
        return {self.x_name: self.x, self.y_name: self.y, "threshold": self.threshold}

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the points as a data frame with one row per point.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            Library of the data frame.

        Raises
        ------
        MissingDependencyError
            If this library is not installed.

        Examples
        --------
        >>> Curve([0.0, 1.0], [0.0, 1.0], [2.0, 1.0]).to_frame()
             x    y  threshold
        0  0.0  0.0        2.0
        1  1.0  1.0        1.0
        """
        return check.frame_of(self._columns(), backend)

    def to_dict(self) -> dict[str, Any]:
        """Return the title, the points and further attributes as a dictionary for JSON.

        Infinite thresholds and NaN become None.

        Examples
        --------
        >>> Curve([0.0, 1.0], [0.0, 1.0], [np.inf, 1.0]).to_dict()
        {'curve': 'curve', 'x': [0.0, 1.0], 'y': [0.0, 1.0], 'threshold': [None, 1.0]}
        """
        facts = {name: getattr(self, name) for name in self._content}  # the attributes that a subclass lists
        return jsonable({"curve": self.title} | self._columns() | facts)

    def _facts(self) -> str:
        return f"{self.x.size} points"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._facts()})"

    def _repr_html_(self) -> str:
        drawing = _picture(self.x, self.y, self._by_chance(), axes=(self.x_name, self.y_name), title=self.title)
        facts = escape(" · ".join(fact for fact in (self._headline(), repr(self)) if fact))
        return f"<figure>{drawing}<figcaption>{facts}</figcaption></figure>"

    def _headline(self) -> str:
        """Return the text that the notebook display shows before the repr; empty by default."""
        return ""

    def _by_chance(self) -> tuple[Array, Array] | None:
        """Return x and y of the curve of a random ranking; None if it is undefined."""
        return None


def cumulative(counts: CumulativeCounts) -> tuple[Array, Array]:
    """Return the numbers of true positives and of false positives at each threshold, starting with 0 and 0."""
    return counts.cumulative


def interpolate(x: Array, y: Array, at: Any) -> Any:
    """Interpolate linearly between points (x, y) with non-decreasing x; NaN outside the range of x.

    If several points have the same x, the y of the last of them is returned.

    Parameters
    ----------
    x, y : arrays of n
        The points.
    at : number or array
        Values of x at which to interpolate.
    """
    at = np.asarray(at, dtype=np.float64)
    after = cast(Array, np.searchsorted(x, at, side="right"))
    left = (after - 1).clip(0, x.size - 1)
    right = np.minimum(left + 1, x.size - 1)
    width = np.where(x[right] > x[left], x[right] - x[left], 1.0)
    share = np.where(at == x[left], 0.0, (at - x[left]) / width)
    with np.errstate(invalid="ignore"):
        value = np.where(share == 0, y[left], y[left] + share * (y[right] - y[left]))
    return scalar(np.where((at >= x[0]) & (at <= x[-1]), value, np.nan))


def scalar(array: Array) -> Any:
    """Return a zero-dimensional array as a number, and other arrays unchanged."""
    return array.item() if array.ndim == 0 else array


class Curves(Mapping[str, Curve], Result):
    """Curves of several models: a mapping from model name to Curve.

    Examples
    --------
    >>> from rocscope import Predictions, cost_curve
    >>> curves = cost_curve(Predictions([1, 0, 1, 0], {"a": [4, 3, 2, 1], "b": [4, 2, 3, 1]}))
    >>> curves
    Curves(a=CostCurve(area=0.125, n_pos=2, n_neg=2), b=CostCurve(area=0, n_pos=2, n_neg=2))
    >>> curves["a"].at(0.5)
    0.25
    """

    def __init__(self, curves: Mapping[str, Curve]) -> None:
        self._curves = dict(curves)

    def __getitem__(self, model: str) -> Any:
        return self._curves[model]

    def __iter__(self) -> Iterator[str]:
        return iter(self._curves)

    def __len__(self) -> int:
        return len(self._curves)

    def plot(self, ax: Any = None, *, label: str | Sequence[str] | None = None, **line: Any) -> Any:
        """Draw all curves into one matplotlib figure with a legend.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on. By default, a new figure is created.
        label : str or sequence of str, optional
            Legend labels, one per model. By default, the names of the models with their AUC or average precision.
        **line
            Options of the lines, passed to ``Axes.plot``.

        Returns
        -------
        Axes
            The axes with the curves.

        Raises
        ------
        InputError
            If the number of labels is not the number of models.
        """
        labels = None if label is None else iter(check.check_legend_labels(label, len(self)))
        for model, curve in self._curves.items():
            if labels is not None:
                line["label"] = next(labels)
            ax = curve.plot(ax, model=model, **line)
        return ax

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the points of all curves as one data frame. The column "model" contains the name of the model.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            Library of the data frame.

        Examples
        --------
        >>> curve = Curve([0.0, 1.0], [0.0, 1.0], [2.0, 1.0])
        >>> Curves({"a": curve, "b": curve}).to_frame()[["model", "x", "y"]]
          model    x    y
        0     a  0.0  0.0
        1     a  1.0  1.0
        2     b  0.0  0.0
        3     b  1.0  1.0
        """
        columns = {model: curve.columns for model, curve in self._curves.items()}
        names = next(iter(columns.values()))
        joined = {name: np.concatenate([column[name] for column in columns.values()]) for name in names}
        model = np.repeat(list(columns), [column["threshold"].size for column in columns.values()])
        return check.frame_of({"model": model} | joined, backend)

    def to_dict(self) -> dict[str, Any]:
        """Return all curves as a dictionary for JSON.

        Examples
        --------
        >>> from rocscope import Predictions, cost_curve
        >>> curves = cost_curve(Predictions([1, 0, 1, 0], {"a": [4, 3, 2, 1], "b": [4, 2, 3, 1]})).to_dict()
        >>> list(curves), list(curves["a"])
        (['a', 'b'], ['curve', 'probability_cost', 'normalised_cost', 'threshold'])
        """
        return jsonable(self._curves)

    def __repr__(self) -> str:
        return f"Curves({', '.join(f'{model}={curve!r}' for model, curve in self._curves.items())})"


def for_each_model(function: Function) -> Function:
    """Decorate a function that computes the curve of one model.

    If the data contain several models and `model` is None, the function returns `Curves` with the curve of each model.
    The parameters for the data, `y_true` and `y_score`, come first; `rocscope.sample` describes them.
    """

    @wraps(function)
    def curves(*args: Any, **options: Any) -> Any:
        given = dict(zip(("y_true", "y_score"), args, strict=False)) | options
        data, scores = given.get("y_true"), given.get("y_score")
        models: list[Any] = []
        if isinstance(data, Predictions):
            models = data.models
        elif isinstance(data, Mapping) and not isinstance(data, Parts):
            models = [str(name) for name in data]
        elif isinstance(scores, Mapping):
            models = [str(name) for name in scores]
        if len(models) < 2 or options.get("model") is not None:
            return function(*args, **options)
        if isinstance(scores, Mapping):
            columns = {name: options.pop(name, None) for name in ("pos_label", "sample_weight")}
            args = (with_scores(data, scores, **columns), *args[2:])
            options = {name: value for name, value in options.items() if name not in ("y_true", "y_score")}
        return Curves({name: function(*args, **options | {"model": name}) for name in models})

    return cast(Function, curves)


# ---- Preview in a notebook ----

_WIDTH, _HEIGHT, _LEFT, _TOP, _BELOW = 260, 200, 58, 20, 34  # layout of the preview, in pixels
_MOST = 200  # most points of the line: about one for two pixels along the curve
_ROOM = 0.4  # if the largest value is smaller, the axis shows the range of the values instead of 0 to 1


def _picture(x: Array, y: Array, chance: tuple[Array, Array] | None, *, axes: tuple[str, str], title: str) -> str:
    """Return an inline SVG of a curve, with at most about 200 points.

    Parameters
    ----------
    x, y : arrays of n
        Points of the curve.
    chance : (array, array) or None
        Points of the curve of a random ranking, drawn as a dashed line.
    axes : (str, str)
        Names of the axes.
    title : str
        Title of the picture.

    Examples
    --------
    >>> drawn = _picture(np.array([0, 1]), np.array([0, 1]), None, axes=("fpr", "tpr"), title="a < b")
    >>> drawn[:4], "a &lt; b" in drawn, drawn.count("<polyline")
    ('<svg', True, 1)
    """
    points = _finite(x, y)
    low, high = zip(*(_ends(axis) for axis in points.T), strict=True)
    span = np.subtract(high, low)

    def path(line: Array) -> str:
        # The line of a random ranking may leave the frame slightly, but distant points would widen the picture.
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
    """Return the limits of an axis: 0 to 1 if this range suits the values, otherwise the range of 0 and the values."""
    least, largest = float(axis.min(initial=0.0)), float(axis.max(initial=0.0))
    if least == 0 and _ROOM < largest <= 1:
        return 0.0, 1.0
    return least, largest if largest > least else least + 1


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _thinned(points: Array, span: Array) -> Array:
    """Select about 200 points at even distances along the line, including the last point."""
    if len(points) <= _MOST:
        return points
    along = np.concatenate([[0], np.hypot(*(np.diff(points, axis=0) / span).T).cumsum()])
    return points[np.unique(np.searchsorted(along, np.linspace(0, along[-1], _MOST)))]


def _text(x: float, y: float, words: str, anchor: str, *, weight: str = "normal") -> str:
    look = f'text-anchor="{anchor}" font-weight="{weight}" fill="currentColor"'
    return f'<text x="{x:g}" y="{y:g}" {look}>{escape(words)}</text>'
