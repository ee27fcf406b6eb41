"""What results have in common: plain data for JSON, and one line in a notebook."""

from html import escape
from typing import Any

from rocscope.core.jsonable import jsonable


class Result:
    """Facts by name: plain data by `to_dict`, and shown in a notebook by their one line."""

    def to_dict(self) -> dict[str, Any]:
        """Return the facts, safe for JSON (NaN and infinities become None)."""
        return jsonable(dict(vars(self)))

    def _repr_html_(self) -> str:
        return f"<code>{escape(repr(self))}</code>"
