"""What results have in common: plain data for JSON, and one line or a table in a notebook."""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from html import escape
from typing import Any, ClassVar

from rocscope.core.jsonable import jsonable


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
