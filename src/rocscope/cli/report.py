"""rocscope report: one HTML file with the charts, the models and the best points."""

from typing import Annotated

import typer

from rocscope.cli import options as opt
from rocscope.cli.console import note
from rocscope.errors import InputError


def report(
    command: typer.Context,
    file: opt.File,
    label: opt.Label = None,
    score: opt.Scores = None,
    proba: opt.Proba = None,
    predicted: opt.Predicted = None,
    output: opt.Output = "report.html",
    weight: opt.Weight = None,
    fold: opt.Fold = None,
    segment: opt.Segment = None,
    pos_label: opt.PosLabel = None,
    where: opt.Where = None,
    missing: opt.Missing = "error",
    file_format: opt.Format = None,
    memory: opt.Memory = None,
    cost_fp: opt.CostFp = 1,
    cost_fn: opt.CostFn = 1,
    cost_tp: opt.CostTp = 0,
    cost_tn: opt.CostTn = 0,
    target_prevalence: opt.TargetPrevalence = None,
    title: Annotated[str, typer.Option("--title", help="Title of the report; the file's name by default.")] = "",
    notes: Annotated[str, typer.Option("--notes", help="A paragraph to put under the title.")] = "",
    force: opt.Force = False,
) -> None:
    """Write a report that opens offline in any browser.

    Example: rocscope report scores.parquet --label y --score a --score b -o report.html
    """
    from rocscope._output import check_writable
    from rocscope.core.context import Context
    from rocscope.report import Report

    if output != "-":
        check_writable(output, force=force)
    columns = {"label": label, "weight": weight, "where": where, "missing": missing, "format": file_format}
    parts = {name: column for name, column in {"fold": fold, "segment": segment}.items() if column}
    if parts and memory:
        raise InputError("--memory", expected="neither --fold nor --segment with it: they need rows")
    context = Context(target_prevalence, cost_fp, cost_fn, cost_tp, cost_tn)
    if proba or predicted:
        opt.require_defaults(command, ("score", "pos_label"), "the page shows each class against the rest")
        predictions = opt.read_multiclass(file, proba=proba, predicted=predicted, **columns, **parts)
    elif parts:
        predictions = opt.read_predictions(file, scores=score, pos_label=pos_label, **columns, **parts)
    else:
        predictions = opt.read_sample(file, scores=score, pos_label=pos_label, memory=memory, **columns)
    page = Report(predictions, context=context, title=title or file, notes=notes)
    if output == "-":
        typer.echo(page.html)
    else:
        note(f"Report: {page.save(output, force=force)}")
