"""rocscope summary: how good each model is and where to cut."""

from typing import Annotated, Any

import typer

from rocscope.cli import options as opt
from rocscope.cli.console import markdown_table, note, print_json, print_table
from rocscope.cli.multiclass import COSTS_INSTEAD, TWO_CLASS_COSTS, summarise
from rocscope.errors import InputError

MOST_DETAILED = 1_000_000


def _interval(model: Any) -> str:
    interval = model.auc_interval
    return f" [{interval['low']:.3f}, {interval['high']:.3f}]" if interval else ""


_COLUMNS = {
    "AUC": lambda model: f"{model.auc['half']:.4f}{_interval(model)}",
    "KS": lambda model: f"{model.ks:.4f}",
    "average precision": lambda model: f"{model.average_precision:.4f}",
    "best threshold": lambda model: f"{model.best.threshold:.6g}",
    "accuracy there": lambda model: f"{model.best.accuracy:.2%}",
    "TPR": lambda model: f"{model.best.tpr:.2%}",
    "FPR": lambda model: f"{model.best.fpr:.2%}",
    "cost per case": lambda model: f"{model.best_cost:.4g}",
    "accuracy at 0.5": lambda model: f"{model.default.accuracy:.2%}",
}


def summary(
    command: typer.Context,
    file: opt.File,
    label: opt.Label = None,
    score: opt.Scores = None,
    proba: opt.Proba = None,
    predicted: opt.Predicted = None,
    weight: opt.Weight = None,
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
    detail: Annotated[
        bool | None,
        typer.Option(
            "--detail/--no-detail",
            help="Intervals and calibration too; by default up to a million rows.",
            show_default=False,
        ),
    ] = None,
    json: opt.Json = False,
    markdown: Annotated[bool, typer.Option("--md", help="Print a Markdown table.")] = False,
) -> None:
    """Show how good each model is, the best threshold, and what the default of 0.5 would give.

    Example: rocscope summary scores.parquet --label y --score a --score b
    """
    from rocscope.core.context import Context
    from rocscope.report.model import LEFT_OUT, is_small, report_data

    if json and markdown:
        raise InputError("--json and --md", expected="one of them")
    columns = {"label": label, "weight": weight, "where": where, "missing": missing, "format": file_format}
    if proba or predicted:
        opt.require_defaults(command, ("score", "pos_label", *TWO_CLASS_COSTS), COSTS_INSTEAD)
        several = opt.read_multiclass(file, proba=proba, predicted=predicted, **columns)
        detailed = len(several) <= MOST_DETAILED if detail is None else detail
        summarise(several, title=file, detailed=detailed, json=json, markdown=markdown)
        return
    context = Context(target_prevalence, cost_fp, cost_fn, cost_tp, cost_tn)
    predictions = opt.read_sample(file, scores=score, pos_label=pos_label, memory=memory, **columns)
    detailed = is_small(predictions) if detail is None else detail
    data = report_data(predictions, context=context, title=file, detailed=detailed)
    if json:
        print_json("summary", data.to_dict())
    elif markdown:
        print(_markdown(data))
    else:
        _print(data)
        if not detailed and detail is None:
            note(f"{LEFT_OUT} --detail adds what can be had.")


def _rows(data: Any) -> list[list[str]]:
    return [[model.name, *(cell(model) for cell in _COLUMNS.values())] for model in data.models]


def _print(data: Any) -> None:
    from rich.table import Table
    from rich.text import Text

    from rocscope.report.calibration import calibration_table

    first = data.models[0]
    table = Table(title=f"{first.n_pos:,g} positives, {first.n_neg:,g} negatives")
    table.add_column("model", overflow="fold")
    for heading in _COLUMNS:
        table.add_column(heading, justify="right")
    for model, row in zip(data.models, _rows(data), strict=True):
        chosen = model.name == data.decision.model
        table.add_row(*(Text(cell, style="bold" if chosen else "") for cell in row))
    print_table(table)
    rows = calibration_table(data.models)
    if rows:
        shown = Table(title="Calibration")
        for heading in rows[0]:
            shown.add_column(heading, justify="left" if heading == "model" else "right", overflow="fold")
        for row in rows:
            shown.add_row(*(Text(cell) for cell in row.values()))
        print_table(shown)
    note(data.verdict)


def _markdown(data: Any) -> str:
    from rocscope.report.calibration import calibration_table

    tables = [markdown_table(["model", *_COLUMNS], _rows(data))]
    rows = calibration_table(data.models)
    if rows:
        tables.append(markdown_table(list(rows[0]), [list(row.values()) for row in rows]))
    return "\n\n".join(tables)
