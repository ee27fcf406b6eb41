"""Question: what `read_counts` was asked, for whichever engine answers."""

from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

from rocscope._base.progress import Tell, unreported
from rocscope.core.context import Context
from rocscope.engines.sources.column_names import Scores
from rocscope.engines.sources.file_formats import AS_IT_TELLS, FileLayout
from rocscope.errors import InputError

BY_ROWS = "make what is at stake a weight and whether acting gains the label, or read the rows with rocscope.read"


@dataclass(frozen=True)
class Question:
    """The arguments of `read_counts`, as they were given; see there.

    Attributes
    ----------
    memory : bytes, or None where nothing was said
    progress : function of the rows done and of all rows (None where unknown)
    """

    label: str | None
    scores: Scores | None
    weight: str | None = None
    where: str | None = None
    segment: str | None = None
    pos_label: Any = None
    missing: str = "error"
    layout: FileLayout = AS_IT_TELLS
    memory: int | None = None
    progress: Tell = unreported
    tol: float | None = None
    context: Context | None = None

    def refuse(self, origin: str, **hints: str) -> None:
        """Raise InputError for arguments that mean nothing to an engine; `hints` say of each how to go on.

        Examples
        --------
        >>> Question("y", "score", memory=9).refuse("Spark DataFrame", memory="Spark has its own")
        Traceback (most recent call last):
        rocscope.errors.InputError: memory: expected none for a Spark DataFrame, got 9; Spark has its own
        """
        self.layout.refuse(f"a {origin}")
        for name, hint in hints.items():
            given = getattr(self, name)
            if given is not None:
                raise InputError(name, expected=f"none for a {origin}", got=repr(given), hint=hint)


def bar_of(source: Any) -> str:
    """Return what a bar says of reading a source."""
    return f"Reading {fspath(source)}" if isinstance(source, str | PathLike) else "Reading"
