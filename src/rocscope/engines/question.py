"""Question: what `read_counts` is asked, and the memory it may use, for any engine."""

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from rocscope._base.progress import Tell, unreported
from rocscope.core.context import Context
from rocscope.engines.sources.column_names import Scores
from rocscope.engines.sources.file_formats import AS_IT_TELLS, FileLayout
from rocscope.errors import InputError

BY_ROWS = "make what is at stake a weight and whether acting gains the label, or read the rows with rocscope.read"


@dataclass(frozen=True)
class Question:
    """The arguments of `read_counts` as given.

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
        """Raise InputError for arguments that do not apply to an engine, with hints.

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
    """Return the text of the progress bar for a source."""
    return f"Reading {fspath(source)}" if isinstance(source, str | PathLike) else "Reading"


SHARE = 0.5
"""Share of the free memory that rows may take by default."""

_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_LEAST = 1 << 20
_UNKNOWN = 4 << 30


def memory_limit(memory: int | str | None) -> int:
    """Parse a memory limit: a number of bytes, a text such as "2 GB", or None for half of the free memory.

    Examples
    --------
    >>> memory_limit("1.5 GB") == 3 * 2**29
    True
    """
    if memory is None:
        return max(int(available() * SHARE), _LEAST)
    if isinstance(memory, str) and (found := re.fullmatch(r"([\d.]+)\s*([kmgt]?)(?:i?b)?", memory.strip(), re.I)):
        with suppress(ValueError):
            memory = int(float(found[1]) * _UNITS[found[2].lower()])
    if isinstance(memory, bool) or not isinstance(memory, int) or memory <= 0:
        raise InputError("memory", expected="bytes, or a text such as '2 GB'", got=repr(memory))
    return memory


def available() -> int:
    """Return the bytes available without swapping, as reported by the system."""
    found = [free for free in (_of_machine(), _of_group()) if free is not None]
    return min(found, default=_UNKNOWN)


def _of_machine() -> int | None:
    facts = Path("/proc/meminfo")
    if facts.exists() and (line := re.search(r"MemAvailable:\s*(\d+) kB", facts.read_text())):
        return int(line[1]) * 1024
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _of_group() -> int | None:
    """Return the remaining memory of the container."""
    try:
        most = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        used = Path("/sys/fs/cgroup/memory.current").read_text().strip()
    except OSError:
        return None
    return max(int(most) - int(used), 0) if most.isdigit() and used.isdigit() else None
