"""Output of commands. Data are written to stdout. Notes, warnings and errors are written to stderr.

This module prints tables, Markdown, notes and a progress line, and writes plots to files. A table that is too wide for
the terminal is transposed, printed without frames, or split into several tables, so that numbers are never wrapped.
"""

import errno
import io
import json
import os
import shutil
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocscope import __version__
from rocscope._base import progress
from rocscope._base.atomic_write import check_writable, write_file
from rocscope._base.formatting import chance
from rocscope.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Column, Table

    from rocscope.decisions.generalization import ChosenEstimate

JSON_VERSION = 1
# A terminal width, in characters, that no table reaches: the natural width of a table is measured at it.
_UNLIMITED_WIDTH = 10_000
# Width of a line in a pipe, in characters, unless COLUMNS is set.
_PIPE_WIDTH = 200
# Most rows of a table with frames, because rich takes milliseconds for each row. Longer tables are for programs.
_MOST_FRAMED_ROWS = 500
# Space between columns of a table without frames.
_GAP = "  "
# Seconds without output after which the current step is shown.
_SILENT = 2.0
# Seconds between updates of the elapsed time.
_TICK = 0.5
READER_HAS_LEFT = (errno.EPIPE, errno.EINVAL) if os.name == "nt" else (errno.EPIPE,)
"""Error numbers of a closed pipe; Windows uses the second."""


@contextmanager
def written() -> Iterator[None]:
    """Run a block that writes to stdout, and raise an InputError if writing fails.

    If the reader closes the pipe early, as `head` does, no error is raised.
    """
    try:
        try:
            yield
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except OSError as error:
        discard()
        if error.errno in READER_HAS_LEFT:
            return
        raise InputError(f"stdout could not be written: {error.strerror or error}") from None


def discard() -> None:
    """Discard pending output, so that flushing it at exit does not fail."""
    # The stream may be closed, or None.
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write(content: str | bytes) -> None:
    """Write to stdout."""
    if sys.stdout is None:
        raise InputError("stdout", expected="an open stream", got="a closed stream")
    _make_room()
    with written():
        if isinstance(content, str):
            sys.stdout.write(content)
        else:
            sys.stdout.buffer.write(content)


def print_json(command: str, content: dict[str, Any]) -> None:
    """Print a JSON object with the content, the version of its format, and the name of the command."""
    header = {"rocscope": __version__, "version": JSON_VERSION, "command": command}
    print_text(json.dumps(header | content, ensure_ascii=False, allow_nan=False, indent=1))


def print_text(content: str) -> None:
    """Write text to stdout as UTF-8, even if the terminal has another encoding. A notebook takes text only."""
    text = content.rstrip("\n") + "\n"
    write(text.encode() if hasattr(sys.stdout, "buffer") else text)


def print_rows(
    title: str,
    headings: Sequence[str],
    rows: Iterable[Iterable[str]],
    *,
    left: Collection[str] | None = None,
    bold: int | None = None,
) -> None:
    """Print a table of texts.

    `left` has the headings of columns that are aligned left, by default the first. `bold` is the index of a bold row.
    """
    left = left or headings[:1]
    rows = [list(row) for row in rows]
    if len(rows) > _MOST_FRAMED_ROWS:
        write(_aligned(title, headings, rows, left))
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, show_header=any(headings))
    for heading in headings:
        table.add_column(heading, justify="left" if heading in left else "right", overflow="fold")
    for number, row in enumerate(rows):
        style = "bold" if number == bold else ""
        table.add_row(*[Text(cell, style=style) for cell in row])
    print_table(table)


def _aligned(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], left: Collection[str]) -> str:
    """Return a long table as lines of aligned text."""
    columns = []
    for heading, column in zip(headings, zip(*rows, strict=True), strict=True):
        cells = [heading, *column]
        text = "".join(cells)  # one check of all cells is faster than a check of each cell
        if not text.isprintable():
            cells = [_one_line(cell) for cell in cells]
        width_of = len
        if not text.isascii():
            from rich.cells import cell_len as width_of
        sizes = list(map(width_of, cells))
        width = max(sizes)
        if heading in left:
            columns.append([cell + " " * (width - size) for cell, size in zip(cells, sizes, strict=True)])
        else:
            columns.append([" " * (width - size) + cell for cell, size in zip(cells, sizes, strict=True)])
    lines = [_GAP.join(line).rstrip() for line in zip(*columns, strict=True)]
    return "\n".join([_one_line(title), *lines, ""])


def _one_line(text: str) -> str:
    """Replace each line break and other unprintable character by a space."""
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def print_records(title: str, records: Sequence[Mapping[str, str]]) -> None:
    """Print a table whose rows are given as dictionaries."""
    print_rows(title, list(records[0]), [record.values() for record in records])


def print_table(table: "Table") -> None:
    """Print a table with its title on stdout. Transpose or split the table if it is too wide.

    The title is omitted if it equals the first heading. On a terminal, a blank line follows.
    """
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console = Console(width=console.width if os.environ.get("COLUMNS") else _PIPE_WIDTH, no_color=True)
    if console.width < 1:
        # COLUMNS=0 means an unknown width; rich would print nothing.
        console = Console(width=_PIPE_WIDTH)
    title = table.title
    table.title = None
    # rich only formats the table; `write` handles errors of stdout.
    with console.capture() as captured:
        if title and str(title).casefold() != str(table.columns[0].header).casefold():
            console.print(title, markup=False, highlight=False, soft_wrap=not console.is_terminal)
        for part in _fitting(table, console):
            console.print(part)
            if console.is_terminal:
                console.print()
    write(captured.get())


def _fitting(table: "Table", console: "Console") -> "list[Table]":
    """Return one or several tables that fit the terminal without wrapping a number.

    The first form that fits is returned: unchanged, transposed, without frames, or split.
    """

    def fits(candidate: "Table") -> bool:
        unlimited = console.options.update(width=_UNLIMITED_WIDTH)
        return console.measure(candidate, options=unlimited).maximum <= console.width

    if fits(table):
        return [table]
    transposed = _transposed(table)
    is_wide = table.row_count < len(table.columns)
    if is_wide and fits(transposed):
        return [transposed]
    if len(table.columns) > 2:
        for candidate in (table, transposed):
            if _least_width(candidate.columns) <= console.width:
                return [_compact(candidate.columns, console.width)]
    # Split: every part begins with the column of names, followed by the further columns that fit.
    names, *others = (transposed if is_wide else table).columns
    names_width = _widths(names)[1]
    if names_width <= console.width // 2:
        names.min_width = names_width
    parts: list[list[Column]] = [[names]]
    for column in others:
        if len(parts[-1]) > 1 and _least_width([*parts[-1], column]) > console.width:
            parts.append([names])
        parts[-1].append(column)
    return [_compact(part, console.width) for part in parts]


def _transposed(table: "Table") -> "Table":
    from rich.table import Column, Table

    names, *others = table.columns
    models = [Column(header=name, justify="right", overflow="fold") for name in names.cells]
    transposed = Table(Column(header=names.header), *models)
    for column in others:
        transposed.add_row(column.header, *column.cells)
    return transposed


def _least_width(columns: "Sequence[Column]") -> int:
    """Return the minimum width of adjacent columns."""
    return sum(_widths(column)[0] for column in columns) + len(_GAP) * (len(columns) - 1)


def _widths(column: "Column") -> tuple[int, int]:
    """Return the minimum and the full width of a column. At the minimum width, only text is wrapped, not numbers."""
    from rich.cells import cell_len

    heading = str(column.header)
    cells = [str(cell) for cell in column.cells]
    # Columns of numbers are aligned right; their cells stay in one piece.
    pieces = heading.split()
    if column.justify == "right":
        pieces += cells
    else:
        for cell in cells:
            pieces += cell.split()
    least = max(map(cell_len, pieces), default=0)
    full = max(map(cell_len, [heading, *cells]))
    return max(column.min_width or 1, least), full


def _compact(columns: "Sequence[Column]", total: int) -> "Table":
    """Return a table without frames that divides the total width among its columns. Long text is wrapped."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Column, Table

    widths = [_widths(column)[0] for column in columns]
    full_widths = [_widths(column)[1] for column in columns]
    room = total - _least_width(columns)
    # If the total is too small even for the least widths, make the widest column narrower.
    while room < 0:
        widths[widths.index(max(widths))] -= 1
        room += 1
    # Spare width goes first to the columns that need least of it to show all their text.
    for number in sorted(range(len(columns)), key=full_widths.__getitem__):
        more = min(room, max(0, full_widths[number] - widths[number]))
        widths[number] += more
        room -= more
    compact = []
    for column, width in zip(columns, widths, strict=True):
        compact.append(Column(header=column.header, justify=column.justify, overflow="fold", width=width))
    has_header = any(str(column.header) for column in columns)
    table = Table(
        *compact, box=SIMPLE_HEAD, show_header=has_header, collapse_padding=True, pad_edge=False, show_edge=False
    )
    for row in zip(*[column.cells for column in columns], strict=True):
        table.add_row(*row)
    return table


def markdown_records(records: Sequence[Mapping[str, str]]) -> str:
    """Return a Markdown table whose rows are given as dictionaries."""
    return markdown_table(list(records[0]), [list(record.values()) for record in records])


def markdown_table(headings: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table. The first column is aligned left, all other columns are aligned right."""

    rule = ["---"] + ["---:"] * (len(headings) - 1)
    lines = []
    for row in [headings, rule, *rows]:
        cells = [cell.replace("|", "\\|").replace("\n", " ") for cell in row]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def note(message: str, *, to_be_copied: bool = False) -> None:
    """Print a note on stderr. In a terminal, wrap it at spaces unless `to_be_copied` is True."""
    if sys.stderr is None:
        return
    if sys.stderr.isatty() and not to_be_copied:
        width = shutil.get_terminal_size().columns
        wrapper = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False)
        message = "\n".join(wrapper.fill(line) for line in message.splitlines())
    _make_room()
    print(message, file=sys.stderr)


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
    """In a terminal, show the current step and the elapsed time on stderr if nothing is printed for two seconds.

    Inside another `attended` block, only the name of the step changes.
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
        progress.on_bar = clock.wipe
        clock.start()
    try:
        yield
    finally:
        clock.jobs.pop()
        clock.wipe()
        if outer is None:
            clock.over.set()
            progress.on_bar = _clock = None


def _make_room() -> None:
    """Clear the progress line before something else is printed."""
    if _clock is not None:
        _clock.wipe()


def interval_of(result: Any) -> "ChosenEstimate | None":
    """Return the interval of a decision or plan. If there is no interval, print the reason and return None."""
    try:
        return result.interval(result.level)
    except InputError as error:
        note(f"No interval: {error}")
        return None


def interval_json(interval: "ChosenEstimate | None") -> dict[str, Any]:
    """Return the field with the interval for the JSON output of a command."""
    return {"interval": None if interval is None else interval.to_dict()}


def print_interval(interval: "ChosenEstimate | None", figure: str, apparent: str) -> None:
    """Print the estimate for new cases, and the estimate on the rows from which the decision was chosen."""
    if interval is None:
        return
    facts = {figure: interval.words, "on the rows used for the choice": apparent}
    if len(interval.models) > 1:
        facts["probability of being the best"] = interval.shares
    facts["probability that acting pays"] = chance(interval.acting)
    print_rows("Uncertainty", ("", ""), [*facts.items(), *interval.doubts.items()])


_SUFFIXES = (".svg", ".png", ".pdf", ".pgf")
_LATEX = ("xelatex", "lualatex", "pdflatex")
# Figures narrower than this many millimetres are printed in one column of a page, beside text of about 8 points.
_NARROW = 120
# Dots per inch of PNG files, as journals require.
_DPI = 300


def check_figure(path: str | None, width: float, *, force: bool) -> None:
    """Raise an error if a plot with this width in millimetres cannot be written to the file."""
    if path is None:
        return
    suffix = Path(path).suffix.lower()
    if suffix not in _SUFFIXES:
        raise InputError("--plot", expected=f"a name that ends in one of {', '.join(_SUFFIXES)}", got=path)
    if not 40 <= width <= 1000:
        raise InputError("--plot-width", expected="a width from 40 to 1000 millimetres", got=f"{width:g}")
    if suffix == ".pgf" and not _latex():
        hint = "write a .pdf file, which \\includegraphics accepts too"
        expected = f"an installed LaTeX program ({', '.join(_LATEX)}) for a .pgf file"
        raise InputError("--plot", expected=expected, got="no such program", hint=hint)
    check_writable(path, force=force)


def _latex() -> str | None:
    """Return the name of an installed LaTeX program, which is needed for .pgf files. Return None if there is none."""
    for name in _LATEX:
        if shutil.which(name):
            return name
    return None


def write_figure(path: str, draw: Callable[[Any], Any], width: float, *, title: str, force: bool) -> Path:
    """Draw a plot on new axes, and write it to a file with the given width in millimetres."""
    try:
        from matplotlib import rc_context
    except ValueError as error:  # Matplotlib reads the environment variable on import
        got = os.environ.get("MPLBACKEND", "")
        hint = "remove this environment variable"
        raise InputError("MPLBACKEND", expected="a backend of Matplotlib", got=repr(got), hint=hint) from error
    from matplotlib.figure import Figure

    from rocscope.plotting import svg

    suffix = Path(path).suffix[1:].lower()
    inches = width / 25.4
    # Type 42 embeds fonts as TrueType, so that text in the PDF can be edited.
    style: dict[Any, Any] = {"font.size": 8 if width < _NARROW else 10, "pdf.fonttype": 42}
    if suffix == "pgf":
        # The figure uses the fonts of the surrounding text.
        style |= {"pgf.texsystem": _latex(), "pgf.rcfonts": False}
    with rc_context(style):
        figure = Figure(figsize=(inches, inches * 6 / 7), layout="constrained")
        draw(figure.subplots())
        if suffix == "svg":
            return write_file(path, svg(figure, title=title), force=force)
        stream = io.BytesIO()
        figure.savefig(stream, format=suffix, dpi=_DPI)
    return write_file(path, stream.getvalue(), force=force)


def table_bytes(table: Any, kind: str) -> bytes:
    """Return an Arrow table as CSV or Parquet."""
    from pyarrow import csv, parquet

    stream = io.BytesIO()
    write_table = parquet.write_table if kind == "parquet" else csv.write_csv
    write_table(table, stream)
    return stream.getvalue()
