"""How far a long job is: a bar on a terminal, or what the caller makes of it."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")
Progress = bool | None | Callable[[int, int], Any]
"""None or True: a bar on stderr, where that is a terminal; False: none; a function: called with (done, total)."""

_BAR_AFTER = 1.0  # seconds


def track(parts: Iterable[T], total: int, progress: Progress, what: str) -> Iterator[T]:
    """Pass the parts on as they come; after a second show a bar on stderr, where that is a terminal.

    Examples
    --------
    >>> list(track("ab", 2, lambda done, total: print(f"{done} of {total}"), "letters"))
    1 of 2
    2 of 2
    ['a', 'b']
    """
    if callable(progress):
        for done, part in enumerate(parts, 1):
            progress(done, total)
            yield part
        return
    wanted = progress is not False and sys.stderr.isatty()
    begin, bar = time.monotonic(), None
    try:
        for done, part in enumerate(parts, 1):
            if wanted and bar is None and time.monotonic() - begin > _BAR_AFTER:
                bar = _start_bar(total, what)
            if bar is not None:
                bar.update(bar.task_ids[0], completed=done)
            yield part
    finally:
        if bar is not None:
            bar.stop()


def _start_bar(total: int, what: str) -> Any:
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True)
    bar.add_task(what, total=total)
    bar.start()
    return bar
