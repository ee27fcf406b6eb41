"""What the results of this package have in common."""

from html import escape
from typing import Any

from rocscope.core.jsonable import jsonable


class Result:
    """A frozen dataclass of facts: JSON-safe, and shown in a notebook by its one line."""

    def to_dict(self) -> dict[str, Any]:
        """Return the facts, safe for JSON (NaN and infinities become None)."""
        return jsonable(dict(vars(self)))

    def _repr_html_(self) -> str:
        return f"<code>{escape(repr(self))}</code>"
