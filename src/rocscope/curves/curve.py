"""Curve: points in order of decreasing threshold, and what their axes mean."""

from copy import copy
from functools import cached_property
from html import escape
from typing import Any, ClassVar, Self, cast

import numpy as np

from rocscope import _validation as check
from rocscope._cores.ordered import after_infinity
from rocscope._frame import frame_of
from rocscope._hooks import reach
from rocscope._types import Array
from rocscope.core.band import Band
from rocscope.core.cumulative import CumulativeCounts
from rocscope.core.result import Result, jsonable, number
from rocscope.curves.picture import picture
from rocscope.errors import OneClassError
from rocscope.ranges.binned import BinnedCounts


class Curve(Result):
    """Points (x, y), each with the threshold that it belongs to.

    Parameters
    ----------
    x, y, threshold : arrays of one length
        In order of decreasing threshold; the first is infinite where nothing is predicted positive.

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
        """Return y at `x` on the straight lines between points; where the curve is vertical, its last point.

        NaN outside the range of the curve.
        """
        return interpolate(self.x, self.y, x)

    def area(self) -> float:
        """Return the area under the straight lines between points."""
        return float(np.trapezoid(self.y, self.x))

    def plot(self, ax: Any = None, *, band: Band | None = None, **line: Any) -> Any:
        """Draw the curve with matplotlib.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure when left out.
        band : Band, optional
            An interval around the curve, drawn as a fill; the legend names its level and method.
        **line
            For the line, as in ``Axes.plot``: ``label``, ``color``, …

        Returns
        -------
        Axes
        """
        return reach("plotting").plot_curve(self, ax, band=band, **line)

    def drawn(self) -> tuple[Array, Array]:
        """Return points that look like the curve when straight lines join them."""
        return self.x, self.y

    def columns(self) -> dict[str, Array]:
        """Return the points as named columns."""
        return {self.x_name: self.x, self.y_name: self.y, "threshold": self.threshold}

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the points as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            The library of the frame.

        Raises
        ------
        MissingDependencyError
            If that library is not installed.
        """
        return frame_of(self.columns(), backend)

    def to_dict(self) -> dict[str, Any]:
        """Return title, columns and facts, safe for JSON (infinite thresholds and NaN become None)."""
        facts = {name: getattr(self, name) for name in self._content}
        return jsonable({"curve": self.title} | self.columns() | facts)

    def _facts(self) -> str:
        return f"{self.x.size} points"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._facts()})"

    def _repr_html_(self) -> str:
        drawing = picture(self.x, self.y, self._by_chance(), axes=(self.x_name, self.y_name), title=self.title)
        facts = escape(" · ".join(fact for fact in (self._headline(), repr(self)) if fact))
        return f"<figure>{drawing}<figcaption>{facts}</figcaption></figure>"

    def _headline(self) -> str:
        """Return what a notebook says of the curve first."""
        return ""

    def _by_chance(self) -> tuple[Array, Array] | None:
        """Return the curve of a ranking by chance, if there is one."""
        return None


class CountCurve(Curve):
    """A curve as a pair of functions of the counts, evaluated at every level when first asked for.

    Subclasses give `_xy`, and in `needs` which cases there must be: "both classes", or what the positives are called.
    The first point predicts nothing positive and has the threshold infinity.
    """

    kind: ClassVar[str] = ""
    needs: ClassVar[str] = ""

    def __init__(self, counts: CumulativeCounts) -> None:
        if self.needs == "both classes":
            counts.require_both_classes(self.title)
        elif self.needs and not counts.n_pos:
            raise OneClassError(self.title, expected=self.needs, got=f"none among {number(counts.n)} rows")
        self.counts = counts

    def _xy(self, tp: Array, fp: Array) -> tuple[Array, Array]:
        raise NotImplementedError

    def recount(self, counts: CumulativeCounts) -> Self:
        """Return the curve that is made in the same way from other counts, such as those of a resample."""
        twin = copy(self)
        for name in list(vars(twin)):
            if isinstance(getattr(type(self), name, None), cached_property):
                del twin.__dict__[name]
        twin.counts = counts
        return twin

    @cached_property
    def _points(self) -> tuple[Array, Array]:
        x, y = self._xy(*cumulative(self.counts))
        return check.read_only(x), check.read_only(y)

    @property
    def x(self) -> Array:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Abscissae, from the highest threshold to the lowest."""
        return self._points[0]

    @property
    def y(self) -> Array:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Ordinates, from the highest threshold to the lowest."""
        return self._points[1]

    @cached_property
    def threshold(self) -> Array:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Infinity, then the scores in decreasing order (Python integers where float64 would round)."""
        return check.read_only(after_infinity(self.counts.threshold))

    def of(self, tp: Array, fp: Array) -> tuple[Array, Array]:
        """Return x and y of cumulative counts, also of such that no threshold gives.

        Counts between those of two neighbouring thresholds are what a random mixture of the two attains.

        Examples
        --------
        >>> from rocscope import precision_recall
        >>> precision_recall([1, 0, 0, 1], [4, 3, 2, 1]).of(tp=np.array([1.5]), fp=np.array([2.0]))
        (array([0.75]), array([0.42857143]))
        """
        return self._xy(tp, fp)

    def at(self, x: Any) -> Any:
        self.counts.require_levels(f"{self.title} between its points")
        return super().at(x)

    def area(self) -> float:
        self.counts.require_levels(f"area under the {self.title}")
        return super().area()

    def envelope(self, *, most: int | None = None) -> Band | None:
        """Return between which values the curve surely lies where bins leave it open; None where it is exact.

        Parameters
        ----------
        most : int, optional
            About how many bins to tell apart, as for a drawing; all when left out.
        """
        if not isinstance(self.counts, BinnedCounts):
            return None
        binned = self.counts
        return (binned if most is None else binned.coarsen(most)).envelope(self.kind)

    def __repr__(self) -> str:
        return super().__repr__() if self.counts.holds_levels else f"{type(self).__name__}({self.counts!r})"

    def _by_chance(self) -> tuple[Array, Array] | None:
        if not (self.counts.n_pos and self.counts.n_neg):
            return None
        share = np.linspace(1e-9, 1, 33)  # at 0 itself precision and lift are 0/0
        return self.of(share * float(self.counts.n_pos), share * float(self.counts.n_neg))

    def _facts(self) -> str:
        return f"n_pos={number(self.counts.n_pos)}, n_neg={number(self.counts.n_neg)}"


def cumulative(counts: CumulativeCounts) -> tuple[Array, Array]:
    """Return true and false positives from (0, 0) on, one point more than there are levels."""
    return counts.cumulative


def interpolate(x: Array, y: Array, at: Any) -> Any:
    """Interpolate between points of non-decreasing x; the last of several points of one x counts."""
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
    """Return the number in an array without dimensions; any other array as it is."""
    return array.item() if array.ndim == 0 else array
