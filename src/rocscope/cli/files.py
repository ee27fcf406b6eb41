"""Files that commands write, figures and tables: checked before any work is done."""

import io
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rocscope._base.atomic_write import check_writable, write_file
from rocscope.errors import InputError

_SUFFIXES = (".svg", ".png", ".pdf", ".pgf")
_LATEX = ("xelatex", "lualatex", "pdflatex")
_NARROW = 120  # millimetres, where text of 8 points is as large as that around it
_DPI = 300


def check_figure(path: str | None, width: float, *, force: bool) -> None:
    """Refuse a figure that could not be written, of a width in millimetres."""
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
    """Return a LaTeX that is installed: .pgf is text that it has measured."""
    return next((name for name in _LATEX if shutil.which(name)), None)


def write_figure(path: str, draw: Callable[[Any], Any], width: float, *, title: str, force: bool) -> Path:
    """Draw on new axes and write the figure, of a width in millimetres."""
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
