"""What results have in common: plain data for JSON, one line of facts, and one line or a table in a notebook."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from html import escape
from numbers import Integral
from typing import Any, ClassVar, cast

import numpy as np


class Result:
    """Facts by name: plain data by `to_dict`, and shown in a notebook by their one line.

    Plain data has the fields of the dataclass and the properties named in `_also`; or only what `_content` names.
    """

    _content: ClassVar[tuple[str, ...]] = ()
    _also: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the facts, safe for JSON (NaN and infinities become None)."""
        names = self._content or (*(field.name for field in fields(self)), *self._also)  # type: ignore[arg-type]
        return jsonable({name: getattr(self, name) for name in names})

    def _repr_html_(self) -> str:
        return f"<code>{escape(repr(self))}</code>"


def html_table(rows: Iterable[Sequence[Any]], head: Sequence[Any] = ()) -> str:
    """Return a table in HTML, escaped; the first cell of a row is its name.

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


def jsonable(value: Any) -> Any:
    """Return `value` as lists, dicts, strings and numbers; NaN and infinities become None.

    Anything with a `to_dict` becomes what that returns.

    Examples
    --------
    >>> jsonable({"threshold": np.array([np.inf, 0.5]), "n": np.int64(3)})
    {'threshold': [None, 0.5], 'n': 3}
    """
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
    return value


def number(value: float) -> str:
    """Return a whole number in full, any other to six digits.

    Examples
    --------
    >>> number(12_345_678), number(1 / 3)
    ('12345678', '0.333333')
    """
    return str(value) if isinstance(value, Integral) else f"{value:.6g}"
