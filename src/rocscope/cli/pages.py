"""rocscope report, page and explore: the interactive page as a file, without data, and over live rows."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from rocscope._base.atomic_write import write_file
from rocscope.cli import options as opt
from rocscope.cli.console import note, write_text
from rocscope.errors import InputError


@opt.for_two_classes(
    "--score",
    "--pos-label",
    "--review-cost",
    "--review-capacity",
    instead="the page shows each class against the rest",
)
def report(
    file: opt.File,
    /,
    *,
    rows: opt.ClassOptions = opt.CLASSES,
    fold: opt.Fold = None,
    segment: Annotated[str | None, Parameter(group=opt.COLUMNS)] = None,
    costs: opt.CostOptions = opt.COSTS,
    looks: opt.ReviewOptions = opt.REVIEW,
    output: Annotated[str, opt.OUTPUT] = "report.html",
    title: str | None = None,
    notes: str | None = None,
    force: opt.Force = False,
) -> None:
    """Write a report that opens offline in any browser.

    Example: rocscope report scores.parquet --label y --score a --score b -o report.html

    Parameters
    ----------
    segment
        Column of the segment, such as a region.
    output
        File to write; - for stdout.
    title
        Title of the report, after which files saved from it are named; the file's name without its ending by default.
    notes
        A paragraph to put under the title.
    """
    opt.require_output(output, force=force)
    parts = {name: column for name, column in {"fold": fold, "segment": segment}.items() if column}
    if parts and rows.memory:
        raise InputError("--memory", expected="neither --fold nor --segment with it: they need rows")
    rows.require(file, "label", "scores", fold=fold, segment=segment)
    context, review = costs.context(), looks.review()
    if rows.has_classes:
        predictions = rows.classes(file, **parts)
    else:
        predictions = rows.predictions(file, **parts) if parts else rows.sample(file)
    from rocscope.report import Report
    from rocscope.report.slices import require_segments

    if segment and not rows.has_classes:
        require_segments(predictions, f"--segment {segment!r}")
    page = Report(predictions, context=context, title=title or Path(file).stem, notes=notes or "", review=review)
    if output == "-":
        write_text(page.html)
    else:
        note(f"Report: {page.save(output, force=force)}")


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
    """Explore any number of rows in the browser, with SQL filters, segments, tests and bands; Ctrl-C ends it.

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
    """Return the files by name, or by path if names coincide."""
    stems = [Path(each).stem for each in files]
    names = stems if len(set(stems)) == len(files) else list(files)
    if len(set(names)) < len(names):
        raise InputError("files", expected="different files", got=", ".join(files))
    return dict(zip(names, files, strict=True))


def page(*, output: Annotated[str, opt.OUTPUT] = "open.html", force: opt.Force = False) -> None:
    """Write an offline page that makes a report of any file dropped on it, in any browser.

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
