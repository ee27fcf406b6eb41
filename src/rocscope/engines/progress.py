"""A progress bar on stderr, where that is a terminal: rows done, rows a second, time left."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def progress_bar(what: str, console: Any = None) -> Iterator[Callable[[int, int | None], None] | None]:
    """Yield what `read_counts` reports its progress to; None where nobody watches."""
    from rich.console import Console

    console = console or Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    parts = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[rows]} rows"),
        TextColumn("{task.fields[speed]}"),
        TimeRemainingColumn(),
    )
    with Progress(*parts, console=console, transient=True) as bars:
        task = bars.add_task(what, total=None, rows="0", speed="")

        def report(done: int, total: int | None) -> None:
            speed = bars.tasks[0].speed
            shown = f"{speed:,.0f} rows/s" if speed else ""
            rows = f"{done:,}" if total is None else f"{done:,} of {total:,}"
            bars.update(task, completed=done, total=total, rows=rows, speed=shown)

        yield report
