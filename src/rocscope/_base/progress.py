"""Report the progress of long computations with a bar on stderr or with a function of the user."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")
Tell = Callable[[int, int | None], Any]
"""Function that is called with the work done and the total work. The total is None if it is unknown."""
Progress = bool | Tell | None
"""None or True shows a bar on stderr in a terminal. False shows no bar. A function is called with (done, total)."""

_BAR_AFTER = 1.0  # seconds

on_bar: Callable[[int], None] | None = None
"""Function that is called with 1 before a bar appears and with -1 after it ends, to delay other messages."""


def unreported(done: int, total: int | None) -> None:
    """Ignore progress."""


@contextmanager
def reporting(progress: Progress, what: str, unit: str = "") -> Iterator[Tell]:
    """Yield a function that reports progress. A bar appears if the block takes longer than a second.

    Parameters
    ----------
    progress : bool, None or function
        None or True shows a bar in a terminal. False shows no bar. A function is called with (done, total).
    what : str
        Name of the work.
    unit : str
        Unit of the progress, such as "rows". Without a unit, the speed is not shown.
    """
    if callable(progress):
        yield progress
    elif progress is False or not sys.stderr.isatty():  # FORCE_COLOR makes rich take anything for a terminal
        yield unreported
    else:
        bar = _Bar(what, unit)
        try:
            yield bar
        finally:
            bar.stop()


def track(parts: Iterable[T], total: int, progress: Progress, what: str) -> Iterator[T]:
    """Iterate over the parts of a computation, and report progress after each part.

    Examples
    --------
    >>> list(track("ab", 2, lambda done, total: print(f"{done} of {total}"), "letters"))
    1 of 2
    2 of 2
    ['a', 'b']
    """
    with reporting(progress, what) as report:
        for done, part in enumerate(parts, 1):
            report(done, total)
            yield part


class _Bar:
    """Progress bar that appears with the first report after one second."""

    def __init__(self, what: str, unit: str) -> None:
        self.what, self.unit = what, unit
        self.begin, self.bar = time.monotonic(), None

    def __call__(self, done: int, total: int | None) -> None:
        seconds = time.monotonic() - self.begin
        if seconds <= _BAR_AFTER:
            return
        if self.bar is None:
            _announce(1)
            self.bar = _start_bar(self.what)
        count = f"{done:,}" if total is None else f"{done:,} of {total:,}"
        speed = f"{done / seconds:,.0f} {self.unit}/s" if self.unit and seconds else ""
        self.bar.update(
            self.bar.task_ids[0], completed=done, total=total, count=f"{count} {self.unit}".rstrip(), speed=speed
        )

    def stop(self) -> None:
        if self.bar is not None:
            self.bar.stop()
            _announce(-1)


def _announce(bars: int) -> None:
    if on_bar is not None:
        on_bar(bars)


def _start_bar(what: str) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    description = TextColumn("{task.description}", markup=False)
    numbers = (TextColumn("{task.fields[count]}"), TextColumn("{task.fields[speed]}"))
    columns = (SpinnerColumn(), description, BarColumn(), *numbers, TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    bar.add_task(what, total=None, count="", speed="")
    bar.start()
    return bar
