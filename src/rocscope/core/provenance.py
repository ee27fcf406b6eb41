"""Provenance: where the rows of Predictions came from, and how many were left out on the way."""

from dataclasses import dataclass

from rocscope.core.result import Result
from rocscope.errors import brief as brief


@dataclass(frozen=True, repr=False)
class Provenance(Result):
    """Source of predictions that were read, and what became of its rows.

    Parameters
    ----------
    origin : tuple of str
        The files read, or what held the rows, such as "pandas DataFrame".
    rows_read : int
        Rows that the source held, or those of them that `where` kept.
    rows_dropped : int
        Rows among `rows_read` that were left out because a value in them was missing or infinite.
    where : str or None
        The filter, in SQL.

    Examples
    --------
    >>> Provenance(("scores.csv",), rows_read=100, rows_dropped=3, where="region = 'EU'")
    Provenance(scores.csv, where "region = 'EU'", rows_read=100, rows_dropped=3)
    """

    origin: tuple[str, ...]
    rows_read: int
    rows_dropped: int = 0
    where: str | None = None

    @property
    def name(self) -> str:
        """The origin in a few words: the first file, and how many more there are."""
        return brief(self.origin)

    def __repr__(self) -> str:
        condition = "" if self.where is None else f", where {self.where!r}"
        return f"Provenance({self.name}{condition}, rows_read={self.rows_read}, rows_dropped={self.rows_dropped})"
