"""Run work in threads: how many cores there are, a parallel map, and linear algebra that keeps to one core."""

import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, TypeVar

Item = TypeVar("Item")
_Result = TypeVar("_Result")


def cores() -> int:
    """Return the number of usable cores: NUMBA_NUM_THREADS if set, or else that of the system."""
    affinity = getattr(os, "sched_getaffinity", None)
    found = len(affinity(0)) if affinity else os.cpu_count() or 1
    wanted = os.environ.get("NUMBA_NUM_THREADS", "")
    return max(min(int(wanted), found), 1) if wanted.isdecimal() else found


def in_threads(function: Callable[[Item], _Result], items: Iterable[Item], threads: int | None = None) -> list[_Result]:
    """Apply a function to each item in threads and return the results in order; a single item runs in this thread.

    Threads, this one included, help themselves to the next item: to hand over each takes longer than a small one.
    """
    items = list(items)
    others = min(threads or cores(), len(items)) - 1
    if others <= 0:
        return [function(item) for item in items]
    left = deque(range(len(items)))
    found: dict[int, _Result] = {}

    def work() -> None:
        try:
            while (number := _next_of(left)) is not None:
                found[number] = function(items[number])
        except BaseException:
            left.clear()
            raise

    with ThreadPoolExecutor(others, "rocscope") as pool:
        helpers = [pool.submit(work) for _ in range(others)]
        work()
    for helper in helpers:
        helper.result()
    return [found[number] for number in range(len(items))]


def _next_of(left: deque[int]) -> int | None:
    """Return the next number, or None at the end; a separate check beforehand would be a race."""
    try:
        return left.popleft()
    except IndexError:
        return None


def pieces_of(rows: int, size: int) -> list[slice]:
    """Return slices of at most the given number of rows.

    Examples
    --------
    >>> pieces_of(5, 3)
    [slice(0, 3, None), slice(3, 5, None)]
    """
    return [slice(start, min(start + size, rows)) for start in range(0, rows, size)]


def one_blas_thread() -> AbstractContextManager[Any]:
    """Have products of matrices keep to this core: of many small ones, other threads would wait longer than they work.

    They wait in a loop, which takes as much processor time again.
    """
    return _linear_algebra().limit(limits=1, user_api="blas")


@cache
def _linear_algebra() -> Any:
    from threadpoolctl import ThreadpoolController  # comes with scikit-learn

    return ThreadpoolController()
