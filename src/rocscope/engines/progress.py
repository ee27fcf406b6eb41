"""A progress bar on stderr, where that is a terminal: rows done, rows a second, time left."""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from os import PathLike, fspath
from typing import Any

from rocscope.engines.question import Progress


def reporting(source: Any, progress: bool | Progress | None) -> AbstractContextManager[Progress | None]:
    """Return a context that yields what an engine reports its progress to; None where nobody watches."""
    if callable(progress):
        return nullcontext(progress)
    if progress is False or not sys.stderr.isatty():  # FORCE_COLOR makes rich take anything for one
        return nullcontext()
    return progress_bar(f"Reading {fspath(source)}" if isinstance(source, str | PathLike) else "Reading")


@contextmanager
def progress_bar(what: str, console: Any = None) -> Iterator[Progress | None]:
    """Yield what `read_counts` reports its progress to; None where nobody watches."""
    from rich.console import Console

    console = console or Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    parts = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[rows]} rows"),
        TextColumn("{task.fields[speed]}"),
        TimeRemainingColumn(),
    )
    with Bars(*parts, console=console, transient=True) as bars:
        task = bars.add_task(what, total=None, rows="0", speed="")

        def report(done: int, total: int | None) -> None:
            speed = bars.tasks[0].speed
            shown = f"{speed:,.0f} rows/s" if speed else ""
            rows = f"{done:,}" if total is None else f"{done:,} of {total:,}"
            bars.update(task, completed=done, total=total, rows=rows, speed=shown)

        yield report
