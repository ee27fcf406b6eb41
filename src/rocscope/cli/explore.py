"""rocscope explore: the report's page over live rows, in the browser of this machine.

rocscope page: the report's page without data, for who has a file of scores and a browser.
"""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from rocscope._base.atomic_write import write_file
from rocscope.cli import options as opt
from rocscope.cli.console import note, write_text
from rocscope.errors import InputError


def explore(
    file: opt.File,
    /,
    *others: opt.File,
    rows: opt.CountOptions = opt.COUNTS,
    fold: opt.Fold = None,
    segment: Annotated[str | None, Parameter(group=opt.COLUMNS)] = None,
    costs: opt.CostOptions = opt.COSTS,
    title: str | None = None,
    browser: Annotated[opt.Flag, Parameter(negative="--no-browser")] = True,
) -> None:
    """Explore rows of any number in the browser: filters in SQL, segments, tests and bands when asked; Ctrl-C ends it.

    Of several files, such as last month's and this one, the models stand beside each other.

    Example: rocscope explore march.parquet april.parquet --label y --score a

    Parameters
    ----------
    segment
        Column that rows are split by first; the page can take any other.
    title
        Title of the page; the names of the files by default.
    browser
        Open the browser; the address is printed anyway.
    """
    files = (file, *others)
    for each in files:
        if each == "-":
            raise InputError("-", expected="a file: it is read at every question", got="stdin")
        rows.require(each)
    context = costs.context()
    from rocscope.workbench.exploring import explore as open_workbench

    sources: Any = file if len(files) == 1 else _named(files)
    options: dict[str, Any] = {"pos_label": rows.pos_label, "memory": rows.memory, "fold": fold, "segment": segment}
    page = {"title": title or ", ".join(Path(each).name for each in files), "context": context, "browser": browser}
    open_workbench(sources, scores=rows.score, **rows.arguments, **options, **page)


def _named(files: tuple[str, ...]) -> dict[str, str]:
    """Return the files by their names, or by their paths where these are alike."""
    stems = [Path(each).stem for each in files]
    names = stems if len(set(stems)) == len(files) else list(files)
    if len(set(names)) < len(names):
        raise InputError("files", expected="different files", got=", ".join(files))
    return dict(zip(names, files, strict=True))


def page(*, output: Annotated[str, opt.OUTPUT] = "open.html", force: opt.Force = False) -> None:
    """Write a page that makes a report of any file that is dropped on it, in any browser and offline.

    Example: rocscope page -o open.html

    Parameters
    ----------
    output
        File to write; - for stdout.
    """
    opt.require_output(output, force=force)
    from rocscope.report.page import open_page

    if output == "-":
        write_text(open_page())
    else:
        note(f"Page: {write_file(output, open_page(), force=force)}")
