"""Output: data to stdout; progress, warnings and errors to stderr.

The uncertainty of a decision or a plan, as `choose` and `campaign` print it.
"""

import errno
import io
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocscope import __version__
from rocscope._base.atomic_write import check_writable, write_file
from rocscope._base.formatting import chance
from rocscope._base.progress import speaking
from rocscope.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Column, Table


JSON_VERSION = 1
MOST_WIDE = 10_000  # columns: wider than any table, so that its own width is measured
_PIPED = 200  # columns, where there is no terminal to ask and COLUMNS does not say
_GAP = "  "  # between columns without frames
READER_HAS_LEFT = (errno.EPIPE, errno.EINVAL) if os.name == "nt" else (errno.EPIPE,)
"""Error numbers of a closed pipe; Windows uses the second."""


@contextmanager
def written() -> Iterator[None]:
    """Run a block that writes to stdout, and report errors of the stream.

    A reader that leaves early, as `head` does, is no fault, and changes nothing of what a command finds.
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
        raise InputError("stdout could not be written", got=error.strerror or str(error)) from None


def discard() -> None:
    """Discard pending output, so that exiting does not fail on it."""
    with suppress(OSError, ValueError, AttributeError):  # a stream that is closed, or none at all
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write(content: str | bytes) -> None:
    """Write to stdout."""
    if sys.stdout is None:
        raise InputError("stdout", expected="a stream that is open", got="a closed one")
    speaking()
    with written():
        if isinstance(content, str):
            sys.stdout.write(content)
        else:
            sys.stdout.buffer.write(content)


def print_json(command: str, content: dict[str, Any]) -> None:
    """Print one JSON object that names its version and the command that made it."""
    header = {"rocscope": __version__, "version": JSON_VERSION, "command": command}
    write_text(json.dumps(header | content, ensure_ascii=False, allow_nan=False, indent=1))


def write_text(content: str) -> None:
    """Write machine-readable text to stdout as UTF-8, whatever the terminal's encoding."""
    write(content.rstrip("\n").encode() + b"\n")


def print_rows(
    title: str,
    headings: Sequence[str],
    rows: Iterable[Iterable[str]],
    *,
    left: Collection[str] | None = None,
    bold: int | None = None,
) -> None:
    """Print a table of texts; `left` names the columns to align left, by default the first."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, show_header=any(headings))
    for heading in headings:
        table.add_column(heading, justify="left" if heading in (left or headings[:1]) else "right", overflow="fold")
    for number, row in enumerate(rows):
        table.add_row(*(Text(cell, style="bold" if number == bold else "") for cell in row))
    print_table(table)


def print_records(title: str, records: Sequence[Mapping[str, str]]) -> None:
    """Print rows given as dicts."""
    print_rows(title, list(records[0]), (record.values() for record in records))


def print_table(table: "Table") -> None:
    """Print a titled table on stdout, transposed or split if it is too wide.

    A title that its first heading repeats is left out. On a terminal a blank line follows.
    """
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console = Console(width=console.width if os.environ.get("COLUMNS") else _PIPED, no_color=True)
    title, table.title = table.title, None
    with console.capture() as captured:  # which leaves the writing, and its faults, to us
        if title and str(title).casefold() != str(table.columns[0].header).casefold():
            console.print(title, markup=False, highlight=False, soft_wrap=not console.is_terminal)
        for part in _fitting(table, console):
            console.print(part)
            if console.is_terminal:
                console.print()
    write(captured.get())


def _fitting(table: "Table", console: "Console") -> "list[Table]":
    """Return tables in which no number is broken: unchanged, transposed, compact or split, whichever fits first."""

    def fits(candidate: "Table") -> bool:
        return console.measure(candidate, options=console.options.update(width=MOST_WIDE)).maximum <= console.width

    if fits(table):
        return [table]
    turned = _on_its_side(table)
    is_wide = table.row_count < len(table.columns)
    if is_wide and fits(turned):
        return [turned]
    if len(table.columns) > 2:
        for candidate in (table, turned):
            if _least(candidate.columns) <= console.width:
                return [_close(candidate.columns, console.width)]
    first, *others = (turned if is_wide else table).columns
    if (names := _widths(first)[1]) <= console.width // 2:
        first.min_width = names
    parts: list[list[Column]] = [[first]]
    for column in others:
        if len(parts[-1]) > 1 and _least([*parts[-1], column]) > console.width:
            parts.append([first])
        parts[-1].append(column)
    return [_close(part, console.width) for part in parts]


def _on_its_side(table: "Table") -> "Table":
    from rich.table import Column, Table

    names, *others = table.columns
    models = (Column(header=name, justify="right", overflow="fold") for name in names.cells)
    turned = Table(Column(header=names.header), *models)
    for column in others:
        turned.add_row(column.header, *column.cells)
    return turned


def _least(columns: "Sequence[Column]") -> int:
    """Return the minimum width of adjacent columns."""
    return sum(_widths(column)[0] for column in columns) + len(_GAP) * (len(columns) - 1)


def _widths(column: "Column") -> tuple[int, int]:
    """Return the width that a column needs if numbers stay whole and text wraps at spaces, and its full width."""
    from rich.cells import cell_len

    cells, heading = [str(cell) for cell in column.cells], str(column.header)
    broken = [heading] if column.justify == "right" else [heading, *cells]
    whole = [word for text in broken for word in text.split()] + (cells if column.justify == "right" else [])
    return max(column.min_width or 1, *map(cell_len, whole)), max(map(cell_len, [heading, *cells]))


def _close(columns: "Sequence[Column]", width: int) -> "Table":
    """Return a table without frames whose columns share the available width; longer text is folded."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Column, Table

    given = [_widths(column)[0] for column in columns]
    room = width - _least(columns)
    while room < 0:
        given[given.index(max(given))] -= 1
        room += 1
    for number, column in sorted(enumerate(columns), key=lambda each: _widths(each[1])[1]):
        more = min(room, max(0, _widths(column)[1] - given[number]))
        given[number], room = given[number] + more, room - more
    made = (
        Column(header=column.header, justify=column.justify, overflow="fold", width=wide)
        for column, wide in zip(columns, given, strict=True)
    )
    shown = any(str(column.header) for column in columns)
    table = Table(*made, box=SIMPLE_HEAD, show_header=shown, collapse_padding=True, pad_edge=False, show_edge=False)
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*row)
    return table


def markdown_records(records: Sequence[Mapping[str, str]]) -> str:
    """Return a Markdown table of rows given as dicts."""
    return markdown_table(list(records[0]), [list(record.values()) for record in records])


def markdown_table(headings: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table with its first column aligned left."""

    def line(cells: list[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    rule = ["---", *("---:" for _ in headings[1:])]
    return "\n".join([line(headings), line(rule), *(line(row) for row in rows)])


def note(message: str, *, to_be_copied: bool = False) -> None:
    """Print a note on stderr; in a terminal it is wrapped at spaces, unless it is meant to be copied."""
    if sys.stderr is not None:
        if sys.stderr.isatty() and not to_be_copied:
            width = {"width": shutil.get_terminal_size().columns, "break_long_words": False, "break_on_hyphens": False}
            message = "\n".join(textwrap.fill(line, **width) for line in message.splitlines())
        speaking()
        print(message, file=sys.stderr)


def interval_of(result: Any) -> Any:
    """Return the interval of a decision or plan, or None after printing why there is none."""
    try:
        return result.interval()
    except InputError as error:
        note(f"No interval: {error}")
        return None


def as_json(interval: Any) -> dict[str, Any]:
    """Return the fields that are added to a command's JSON object."""
    return {"interval": None if interval is None else interval.to_dict()}


def print_interval(interval: Any, what: str, apparent: str) -> None:
    """Print the estimate for new cases beside the figure on the rows used to choose."""
    if interval is None:
        return
    rows = {what: interval.words, "on the rows it was chosen on": apparent}
    if len(interval.models) > 1:
        rows["probability of being the best"] = interval.shares
    rows["probability that acting pays"] = chance(interval.acting)
    print_rows("How sure that is", ("", ""), [*rows.items(), *interval.doubts.items()])


_SUFFIXES = (".svg", ".png", ".pdf", ".pgf")
_LATEX = ("xelatex", "lualatex", "pdflatex")
_NARROW = 120  # millimetres, where text of 8 points is as large as that around it
_DPI = 300  # of PNG files: what journals ask for


def check_figure(path: str | None, width: float, *, force: bool) -> None:
    """Raise unless a figure of a given width in millimetres can be written to a file."""
    if path is None:
        return
    suffix = Path(path).suffix.lower()
    if suffix not in _SUFFIXES:
        raise InputError("--plot", expected=f"a name that ends in one of {', '.join(_SUFFIXES)}", got=path)
    if not 40 <= width <= 1000:
        raise InputError("--plot-width", expected="40 to 1,000 millimetres", got=f"{width:g}")
    if suffix == ".pgf" and not _latex():
        hint = "write .pdf, which \\includegraphics takes"
        raise InputError("--plot", expected=f"one of {', '.join(_LATEX)} for .pgf", got="none", hint=hint)
    check_writable(path, force=force)


def _latex() -> str | None:
    """Return an installed LaTeX, which .pgf needs to measure text."""
    return next((name for name in _LATEX if shutil.which(name)), None)


def write_figure(path: str, draw: Callable[[Any], Any], width: float, *, title: str, force: bool) -> Path:
    """Draw on new axes and write the figure with a width in millimetres."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    from rocscope.plotting import svg

    suffix, inches = Path(path).suffix[1:].lower(), width / 25.4
    style: dict[Any, Any] = {"font.size": 8 if width < _NARROW else 10, "pdf.fonttype": 42}
    if suffix == "pgf":
        style |= {"pgf.texsystem": _latex(), "pgf.rcfonts": False}  # the fonts of the text around it
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
    (parquet.write_table if kind == "parquet" else csv.write_csv)(table, stream)
    return stream.getvalue()
