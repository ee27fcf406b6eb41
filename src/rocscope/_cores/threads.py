"""Work on all cores: how many there are, and what they do at the same time."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
_Result = TypeVar("_Result")


def cores() -> int:
    """Return the number of cores that this process may use: as NUMBA_NUM_THREADS says, or else the system."""
    affinity = getattr(os, "sched_getaffinity", None)
    found = len(affinity(0)) if affinity else os.cpu_count() or 1
    wanted = os.environ.get("NUMBA_NUM_THREADS", "")
    return max(min(int(wanted), found), 1) if wanted.isdecimal() else found


def in_threads(function: Callable[[Item], _Result], items: Iterable[Item], threads: int | None = None) -> list[_Result]:
    """Return what a function makes of each item, in their order; one item takes no thread."""
    items = list(items)
    threads = min(threads or cores(), len(items))
    if threads <= 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(threads, "rocscope") as pool:
        return list(pool.map(function, items))


def pieces_of(rows: int, size: int) -> list[slice]:
    """Return the slices of at most so many rows.

    Examples
    --------
    >>> pieces_of(5, 3)
    [slice(0, 3, None), slice(3, 5, None)]
    """
    return [slice(start, min(start + size, rows)) for start in range(0, rows, size)]
