"""explore: open the live workbench over any data that can be read, as a widget in a notebook or on a local server."""

import sys
from collections.abc import Mapping
from os import PathLike
from typing import Any, Literal

from rocscope._base import validation as check
from rocscope.core import Context, Predictions, Weights
from rocscope.engines.formats import FileFormat, Scores
from rocscope.errors import InputError, MissingDependencyError
from rocscope.sample import is_segmented, refusal
from rocscope.workbench.session import DataSource, Session


def explore(
    source: Any,
    *,
    label: str | None = None,
    scores: Scores | None = None,
    weight: str | None = None,
    weights: Weights = "auto",
    fold: str | None = None,
    segment: str | None = None,
    where: str | None = None,
    missing: Literal["error", "drop"] = "error",
    pos_label: Any = None,
    format: FileFormat | None = None,
    decimal: Literal[".", ","] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    table: str | None = None,
    memory: int | str | None = None,
    context: Context | None = None,
    title: str = "",
    browser: bool = True,
    port: int = 0,
) -> Any:
    """Open the interactive page over live data, with filters, segments, tests and bands.

    In a notebook it is a widget, whose `decision`, `context` and `threshold` are read and set from Python. Anywhere
    else it is served to the browser of this machine, until Ctrl-C.

    Parameters
    ----------
    source : Predictions, or what `rocscope.read` takes; or a mapping of names to these
        The models of several files are compared as separate samples: last month's file and this month's.
    label, scores, weight, weights, fold, segment, where, missing, pos_label : see `rocscope.read`
        Predictions contain their own. The page can be split by any other column too.
    format, decimal, delimiter, encoding, table : see `rocscope.read`
    memory : int or str, optional
        Count rows without holding them, within this number of bytes (see `rocscope.read_counts`); by default only where
        they would take more than a tenth of the free memory.
    context : Context, optional
        Initial position of the sliders.
    title : str
    browser : bool
        Whether the browser is opened; the address is printed anyway.
    port : int
        Port of the address, such as one that is forwarded from another machine; by default any that is free.

    Returns
    -------
    Widget, in a notebook

    Raises
    ------
    MissingDependencyError
        If the server package is not installed: ``pip install 'rocscope[explore]'``, or ``rocscope[notebook]``.
    InputError, ColumnError, EngineError
        As `rocscope.read` does.

    Notes
    -----
    The server listens on 127.0.0.1 and answers only clients with the address, which contains a token, and only pages
    served by itself. A filter is a condition in SQL, applied as by `rocscope.read`. Nothing is written but what the
    reader of the page saves.

    Examples
    --------
    >>> explore("scores.parquet", label="bought", scores=["old", "new"])  # doctest: +SKIP
    Workbench: http://127.0.0.1:40001/… (Ctrl-C ends it)
    """
    check.check_whole(port, "port", least=0)
    columns = {"label": label, "scores": scores, "weight": weight, "fold": fold, "segment": segment}
    columns |= {"weights": weights}
    layout = {"format": format, "decimal": decimal, "delimiter": delimiter, "encoding": encoding, "table": table}
    options: dict[str, Any] = columns | layout | {"missing": missing, "pos_label": pos_label}
    if is_segmented(source):
        raise refusal("source", "rows: Predictions, a file or a frame, or a mapping of them by model", source)
    # A mapping of columns is one source; a mapping of files or predictions holds several.
    sources: Mapping[Any, Any] = {"": source}
    if isinstance(source, Mapping) and all(isinstance(data, Predictions | str | PathLike) for data in source.values()):
        sources = source
    if not sources:
        raise InputError("source", expected="at least one", got="none")
    data_sources = []
    for name, data in sources.items():
        data_sources.append(DataSource.of(str(name), data, where=where, memory=memory, **options))
    session = Session(data_sources, context=context, title=title)
    if _in_notebook():
        from rocscope.workbench.widget import Widget

        return Widget(session)
    try:
        from rocscope.workbench.server import Serving
    except ModuleNotFoundError as error:
        hint = "pip install 'rocscope[explore]'"
        raise MissingDependencyError(f"the workbench: {error.name} is not installed", hint=hint) from None
    Serving(session, port).run(browser=browser, tell=lambda line: print(line, file=sys.stderr, flush=True))
    return None


def _in_notebook() -> bool:
    """Return whether a notebook kernel (Jupyter or marimo) displays a cell's result."""
    # A notebook has loaded its own library; nothing is imported to find out.
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", None)
    if get_ipython is not None and type(get_ipython()).__name__ == "ZMQInteractiveShell":
        return True
    marimo = sys.modules.get("marimo")
    return marimo is not None and marimo.running_in_notebook()
