"""Question: what `read_counts` was asked, for whichever engine answers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rocscope.engines.roles import Scores

Progress = Callable[[int, int | None], None]


@dataclass(frozen=True)
class Question:
    """The arguments of `read_counts`, as they were given; see there.

    Attributes
    ----------
    memory : bytes, or None where nothing was said
    progress : function of the rows done and of all rows (None where unknown), or None
    """

    label: str | None
    scores: Scores | None
    weight: str | None = None
    where: str | None = None
    segment: str | None = None
    pos_label: Any = None
    missing: str = "error"
    format: str | None = None
    memory: int | None = None
    progress: Progress | None = None
    tol: float | None = None
