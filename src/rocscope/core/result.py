"""Result: base class of all results, with conversion to JSON, a one-line repr and a notebook display.

`Band` contains an interval for y at each x, drawn around a curve.
"""

import math
from abc import ABCMeta
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from html import escape
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import MissingAttributeError, contract, held_to_contract


class Answering(ABCMeta):
    """Metaclass of classes whose errors for unknown attributes name the call to use.

    An example is the name of a constructor in another library. It extends ABCMeta, because some results are mappings.
    """

    if not TYPE_CHECKING:

        def __getattr__(cls, name: str) -> Any:
            raise MissingAttributeError(cls, name)


class Result(metaclass=Answering):
    """Base class of results, with `to_dict` and a notebook display of one line.

    `to_dict` returns the fields of the dataclass and the properties named in `_also`. If a class sets `_content`,
    `to_dict` returns only the attributes named in `_content`.
    """

    _content: ClassVar[tuple[str, ...]] = ()
    _also: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        held_to_contract(cls)

    @contract
    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary for JSON. NaN and infinities become None.

        Examples
        --------
        >>> Band([0.0, 1.0], [0.1, 0.9], [0.3, np.inf], level=0.95, method="Wilson").to_dict()
        {'x': [0.0, 1.0], 'low': [0.1, 0.9], 'high': [0.3, None], 'level': 0.95, 'method': 'Wilson',
         'simultaneous': False, 'note': '', 'steps': False}
        """
        names = self._content or (*(field.name for field in fields(self)), *self._also)  # type: ignore[arg-type]
        return jsonable({name: getattr(self, name) for name in names})

    def _repr_html_(self) -> str:
        return f"<code>{escape(repr(self))}</code>"


class CallableFloat(float):
    """Number of a result. A call returns the number, so that ``curve.auc()`` works like ``curve.auc``."""

    def __call__(self) -> float:
        return float(self)


class ComparedByValue(Result):
    """Mixin for dataclasses with ``eq=False`` whose copies are equal even if they contain NaN.

    In Python 3.13 and later, a dataclass that contains NaN does not equal itself.
    """

    @property
    def _compared(self) -> tuple[Any, ...]:
        compared = (field.name for field in fields(self) if field.compare)  # type: ignore[arg-type]  # a dataclass
        values = (getattr(self, name) for name in compared)
        return tuple("NaN" if isinstance(value, float) and math.isnan(value) else value for value in values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ComparedByValue) or type(other) is not type(self):
            return NotImplemented
        return self._compared == other._compared

    def __hash__(self) -> int:
        return hash(self._compared)


def html_table(rows: Iterable[Sequence[Any]], head: Sequence[Any] = ()) -> str:
    """Return an HTML table of the given cells. The first cell of each row is a header cell.

    Examples
    --------
    >>> html_table([("a<b", 0.5)])
    '<table><tr><th>a&lt;b</th><td>0.5</td></tr></table>'
    """
    lines = [_row(head, len(head))] if head else []
    return "".join(["<table>", *lines, *(_row(row, 1) for row in rows), "</table>"])


def _row(cells: Sequence[Any], names: int) -> str:
    tags = ["th" if i < names else "td" for i in range(len(cells))]
    return f"<tr>{''.join(f'<{tag}>{escape(str(cell))}</{tag}>' for tag, cell in zip(tags, cells, strict=True))}</tr>"


_PLAIN = (str, int, bool, type(None))


def jsonable(value: Any) -> Any:
    """Convert `value` to lists, dictionaries, strings and numbers for JSON. NaN and infinities become None.

    Fractions become text. An object with a method `to_dict` is converted by this method.

    Examples
    --------
    >>> jsonable({"threshold": np.array([np.inf, 0.5]), "n": np.int64(3)})
    {'threshold': [None, 0.5], 'n': 3}
    """
    if type(value) in _PLAIN:  # most values: the checks below take ten times as long
        return value
    if hasattr(value, "to_dict"):
        return jsonable(value.to_dict())
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in cast(Mapping[Any, Any], value).items()}
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in cast(list[Any], value)]
    if isinstance(value, np.ndarray):
        return jsonable(cast(list[Any], value.tolist()))
    if isinstance(value, np.generic):
        return jsonable(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, Fraction) else value


def number(value: float) -> str:
    """Format a whole number in full, and any other number with six significant digits.

    Examples
    --------
    >>> number(12_345_678), number(1 / 3)
    ('12345678', '0.333333')
    """
    return str(value) if isinstance(value, Integral) else f"{value:.6g}"


@dataclass(frozen=True, eq=False, repr=False)
class Band(Result):
    """Confidence band of a curve: lower and upper limits of y at each x.

    Parameters
    ----------
    x, low, high : arrays of n numbers
        Values of x, and the lower and the upper limit of y at each x.
    level : float
        Confidence level, such as 0.95. 1 if the limits are guaranteed.
    method : str
        Name of the method, shown in the legend and the report.
    simultaneous : bool
        True if the confidence level applies to the whole curve, False if it applies to each point separately.
    note : str
        Limitations of the band. Empty if there are none.
    steps : bool
        If False, straight lines connect the limits. If True, the band is a step function: between two values of x, the
        lower limit is the limit at the left value, and the upper limit is the limit at the right value. Such a band
        requires a curve that does not decrease.

    Examples
    --------
    >>> Band([0.0, 1.0], [0.1, 0.9], [0.3, 1.0], level=0.95, method="Wilson")
    Band(2 points, 95% pointwise, Wilson)
    """

    x: Array
    low: Array
    high: Array
    level: float
    method: str
    simultaneous: bool = False
    note: str = ""
    steps: bool = False

    def __post_init__(self) -> None:
        columns = {name: np.asarray(getattr(self, name), dtype=np.float64) for name in ("x", "low", "high")}
        check.set_fields(self, **{name: check.read_only(column) for name, column in columns.items()})

    @property
    def label(self) -> str:
        """Text for the legend of a plot."""
        if self.level == 1:
            return self.method
        kind = "simultaneous" if self.simultaneous else "pointwise"
        return f"{100 * self.level:g}% {kind}, {self.method}"

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame with the columns x, low and high.

        `backend` is the library of the data frame: "pandas", "polars" or "pyarrow".

        Raises
        ------
        MissingDependencyError
            If this library is not installed.

        Examples
        --------
        >>> Band([0.0], [0.1], [0.3], level=0.95, method="Wilson").to_frame()
             x  low  high
        0  0.0  0.1   0.3
        """
        return check.frame_of({"x": self.x, "low": self.low, "high": self.high}, backend)

    def drawn(self) -> tuple[Array, Array, Array]:
        """Return x, low and high for drawing. Connect the points with straight lines to draw the band.

        Examples
        --------
        >>> Band([0.1, 0.5], [0.0, 0.2], [0.4, 0.9], level=0.95, method="PAV", steps=True).drawn()
        (array([0.1, 0.1, 0.5, 0.5]), array([0. , 0. , 0. , 0.2]), array([0.4, 0.9, 0.9, 0.9]))
        """
        if not self.steps:
            return self.x, self.low, self.high
        low, high = np.repeat(self.low, 2), np.repeat(self.high, 2)
        return np.repeat(self.x, 2), np.append(low[:1], low[:-1]), np.append(high[1:], high[-1:])

    def __repr__(self) -> str:
        return f"Band({self.x.size} points, {self.label})"
