"""explore: open the workbench for any data that rocscope can read, in a notebook or in a browser."""

import sys
from collections.abc import Mapping
from dataclasses import asdict
from os import PathLike
from typing import Any, Literal

from rocscope._base import validation as check
from rocscope._base.contract import contract
from rocscope.core import Context, Predictions, Weights
from rocscope.engines.formats import FileFormat, FileLayout, Scores
from rocscope.errors import InputError, MissingDependencyError
from rocscope.sample import is_segmented, refusal
from rocscope.workbench.session import DataSource, Session


@contract
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
    thousands: Literal[",", ".", " ", "'"] | None = None,
    skip_rows: int | None = None,
    skip_footer: int | None = None,
    header: bool | None = None,
    memory: int | str | None = None,
    context: Context | None = None,
    title: str = "",
    browser: bool = True,
    port: int = 0,
) -> Any:
    """Open an interactive page for the data, with filters, segments, tests and confidence bands.

    In a notebook, the page is a widget. Its attributes `decision`, `context` and `threshold` can be read and set from
    Python. Otherwise, the page opens in the browser, and the call ends when you press Ctrl-C.

    Parameters
    ----------
    source : Predictions, any source of `rocscope.read`, or mapping from name to such a source
        Data to explore. If there are several sources, such as last month's file and this month's file, models of
        different sources are compared as independent samples.
    label, scores, weight, weights, fold, segment, where, missing, pos_label : see `rocscope.read`
        Names of columns and options for reading. Do not pass names of columns for Predictions. On the page, the reader
        can also use any other column as segments.
    format, decimal, delimiter, encoding, table, thousands, skip_rows, skip_footer, header : see `rocscope.read`
    memory : int or str, optional
        Memory limit in bytes, or as a text such as "2 GB". If it is set, rows are only counted and not kept in memory;
        see `rocscope.read_counts`. By default, rows are only counted if they need more than a tenth of the free memory.
    context : Context, optional
        Costs and prevalence that the page shows first.
    title : str
        Title of the page.
    browser : bool
        If True, open the page in the browser. The address of the page is always printed.
    port : int
        Port of the server, such as a port that is forwarded from another machine. The default, 0, uses any free port.

    Returns
    -------
    Widget or None
        A Widget in a notebook, otherwise None.

    Raises
    ------
    MissingDependencyError
        If a package for the page is missing. Install ``rocscope[explore]``, or ``rocscope[notebook]`` for notebooks.
    InputError, ColumnError, EngineError
        See `rocscope.read`.

    See Also
    --------
    read, Report

    Notes
    -----
    The server listens on 127.0.0.1, so the page is not reachable from other machines. The address contains a secret
    token. The server answers only requests with this token from its own pages. A filter on the page is an SQL
    condition; see `where` in `rocscope.read`. Files are written only if the reader saves something on the page.

    Examples
    --------
    >>> explore("scores.parquet", label="bought", scores=["old", "new"])  # doctest: +SKIP
    Workbench: http://127.0.0.1:40001/… (Ctrl-C ends it)
    """
    check.check_whole(port, "port", least=0)
    columns = {"label": label, "scores": scores, "weight": weight, "fold": fold, "segment": segment}
    columns |= {"weights": weights}
    layout = FileLayout(format, decimal, delimiter, encoding, table, thousands, skip_rows, skip_footer, header)
    options: dict[str, Any] = columns | asdict(layout) | {"missing": missing, "pos_label": pos_label}
    if is_segmented(source):
        raise refusal("source", "rows: Predictions, a file or a frame, or a mapping of them by model", source)
    # A mapping of columns is one source; a mapping of files or predictions has several sources.
    sources: Mapping[Any, Any] = {"": source}
    if isinstance(source, Mapping) and all(isinstance(data, Predictions | str | PathLike) for data in source.values()):
        sources = source
    if not sources:
        raise InputError("source", expected="at least one source", got="an empty mapping")
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
        hint = "run pip install 'rocscope[explore]'"
        raise MissingDependencyError(f"the workbench: {error.name} is not installed", hint=hint) from None
    Serving(session, port).run(browser=browser, tell=lambda line: print(line, file=sys.stderr, flush=True))
    return None


def _in_notebook() -> bool:
    """Return True if a notebook kernel (Jupyter or marimo) displays the result of a cell."""
    # A running notebook has already imported its library, so no import is needed for this check.
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", None)
    if get_ipython is not None and type(get_ipython()).__name__ == "ZMQInteractiveShell":
        return True
    marimo = sys.modules.get("marimo")
    return marimo is not None and marimo.running_in_notebook()
