"""Report the progress of long jobs: a bar on stderr in a terminal, or a callback.

If the progress is unknown, `attended` says after two seconds what is done, and for how long.
"""

import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

T = TypeVar("T")
Tell = Callable[[int, int | None], Any]
"""Called with the work done and the total, or None if the total is unknown."""
Progress = bool | Tell | None
"""None or True: a bar on stderr, where that is a terminal; False: none; a function: called with (done, total)."""

_BAR_AFTER = 1.0  # seconds
_SILENT = 2.0  # without a word, before it is said what runs: a choice
_TICK = 0.5  # between two looks at the clock


def unreported(done: int, total: int | None) -> None:
    """Ignore progress."""


@contextmanager
def reporting(progress: Progress, what: str, unit: str = "") -> Iterator[Tell]:
    """Yield a progress callback; a bar appears if the job takes longer than a second.

    Parameters
    ----------
    progress : bool, None or function
        As the user gave it.
    what, unit : str
        What is done, and what it is counted in, such as "rows"; with a unit its speed is shown.
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
    """Iterate over the parts of a job and report progress after each.

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
    """A progress bar that is shown by the first report after a second."""

    def __init__(self, what: str, unit: str) -> None:
        self.what, self.unit = what, unit
        self.begin, self.bar = time.monotonic(), None

    def __call__(self, done: int, total: int | None) -> None:
        seconds = time.monotonic() - self.begin
        if seconds <= _BAR_AFTER:
            return
        if self.bar is None:
            _attend(+1)
            self.bar = _start_bar(self.what)
        count = f"{done:,}" if total is None else f"{done:,} of {total:,}"
        speed = f"{done / seconds:,.0f} {self.unit}/s" if self.unit and seconds else ""
        self.bar.update(
            self.bar.task_ids[0], completed=done, total=total, count=f"{count} {self.unit}".rstrip(), speed=speed
        )

    def stop(self) -> None:
        if self.bar is not None:
            self.bar.stop()
            _attend(-1)


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


class _Clock(threading.Thread):
    """A line on stderr that shows the current step and the elapsed time."""

    def __init__(self) -> None:
        super().__init__(name="rocscope-clock", daemon=True)
        self.jobs: list[tuple[str, float]] = []
        self.shown, self.bars, self.heard = "", 0, time.monotonic()
        self.lock, self.over = threading.Lock(), threading.Event()

    def run(self) -> None:
        with suppress(OSError, ValueError):  # a terminal that is gone
            while not self.over.wait(_TICK):
                with self.lock:
                    self._say()

    def _say(self) -> None:
        now = time.monotonic()
        if self.jobs and not self.bars and now - self.heard >= _SILENT:
            what, begin = self.jobs[-1]
            line = f"{what}, {now - begin:.0f} s"
            self._write(line[: shutil.get_terminal_size().columns - 1])

    def _write(self, line: str) -> None:
        if line or self.shown:
            sys.stderr.write(f"\r{' ' * len(self.shown)}\r{line}")
            sys.stderr.flush()
        self.shown = line

    def wipe(self, bars: int = 0) -> None:
        """Clear the line while a bar is shown, or for two seconds."""
        with self.lock, suppress(OSError, ValueError):
            self.bars, self.heard = self.bars + bars, time.monotonic()
            self._write("")


_clock: _Clock | None = None


@contextmanager
def attended(what: str) -> Iterator[None]:
    """Show the current step and elapsed time on stderr, in a terminal, if nothing is printed for two seconds.

    Within another one, only what is said changes.
    """
    global _clock
    outer = _clock
    clock = outer or (_Clock() if sys.stderr is not None and sys.stderr.isatty() else None)
    if clock is None:
        yield
        return
    clock.jobs.append(("".join(c for c in what if c.isprintable()), time.monotonic()))
    if outer is None:
        _clock = clock
        clock.start()
    try:
        yield
    finally:
        clock.jobs.pop()
        clock.wipe()
        if outer is None:
            clock.over.set()
            _clock = None


def _attend(bars: int) -> None:
    if _clock is not None:
        _clock.wipe(bars)


def speaking() -> None:
    """Clear the line before something else is printed."""
    _attend(0)
