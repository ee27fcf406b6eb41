"""Files that commands write, figures and tables: checked before any work is done."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rocscope._output import check_writable, write_file
from rocscope.errors import InputError

_SUFFIXES = (".svg", ".png", ".pdf")


def check_figure(path: str | None, *, force: bool) -> None:
    """Refuse a figure that could not be written."""
    if path is None:
        return
    if Path(path).suffix.lower() not in _SUFFIXES:
        raise InputError("--plot", expected=f"a name that ends in one of {', '.join(_SUFFIXES)}", got=path)
    check_writable(path, force=force)


def write_figure(path: str, draw: Callable[[Any], Any], *, title: str, force: bool) -> Path:
    """Draw on new axes and write the figure."""
    from matplotlib.figure import Figure

    from rocscope.plotting import svg

    figure = Figure(figsize=(7, 6), layout="constrained")
    draw(figure.subplots())
    if path.lower().endswith(".svg"):
        return write_file(path, svg(figure, title=title), force=force)
    stream = io.BytesIO()
    figure.savefig(stream, format=Path(path).suffix[1:].lower(), dpi=150)
    return write_file(path, stream.getvalue(), force=force)


def table_bytes(table: Any, kind: str) -> bytes:
    """Return an Arrow table as CSV or Parquet."""
    from pyarrow import csv, parquet

    stream = io.BytesIO()
    (parquet.write_table if kind == "parquet" else csv.write_csv)(table, stream)
    return stream.getvalue()
