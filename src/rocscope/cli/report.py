"""rocscope report: one HTML file with the charts, the models and the best points."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

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
