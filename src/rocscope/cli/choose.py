"""rocscope choose: which model and threshold to use, at what cost, and for how long that stays right."""

import math
from typing import Annotated, Any

import typer

from rocscope.cli import options as opt
from rocscope.cli.console import note, print_json, print_table
from rocscope.cli.figure import check_figure, write_figure
from rocscope.cli.multiclass import TWO_CLASS_CHOICES, TWO_CLASS_COSTS, choose_weights
from rocscope.errors import InputError

_CHOICE = "Choice"
_CELLS = {
    "true positives": "tp",
    "false positives": "fp",
    "false negatives": "fn",
    "true negatives": "tn",
}
_ALTERNATIVES = {
    "this decision": "expected_cost",
    "best of all thresholds": "hull_cost",
    "threshold 0.5": "default_cost",
    "everybody positive": "treat_all_cost",
    "nobody positive": "treat_none_cost",
}


def choose(
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
    cost_matrix: Annotated[
        str | None,
        typer.Option(
            "--cost-matrix",
            help="For more than two classes: CSV file whose first row and column name the classes.",
            rich_help_panel=_CHOICE,
        ),
    ] = None,
    cost_rows: Annotated[
        str | None,
        typer.Option(
            "--cost-rows", help="What the rows of that file are: actual or predicted.", rich_help_panel=_CHOICE
        ),
    ] = None,
    criterion: Annotated[
        str | None,
        typer.Option(
            "--criterion",
            help="What to maximise in place of lowest cost: f1, youden, mcc, lift@0.1, …; of more than two classes "
            "accuracy, balanced_accuracy or macro_f1.",
            rich_help_panel=_CHOICE,
        ),
    ] = None,
    subject_to: Annotated[
        list[str] | None,
        typer.Option(
            "--subject-to",
            help="A constraint such as 'tpr >= 0.9', or 'recall(cat) >= 0.8'; repeat it.",
            rich_help_panel=_CHOICE,
        ),
    ] = None,
    at_most: Annotated[
        float | None,
        typer.Option("--at-most", help="Largest number of positive predictions.", rich_help_panel=_CHOICE),
    ] = None,
    population: Annotated[
        float | None,
        typer.Option("--population", help="Number of cases it will be used on.", rich_help_panel=_CHOICE),
    ] = None,
    negate: Annotated[
        bool,
        typer.Option("--negate", help="Also try each model with its decisions reversed.", rich_help_panel=_CHOICE),
    ] = False,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="File to write the decision to, as JSON; - for stdout.")
    ] = None,
    plot: opt.Plot = None,
    json: opt.Json = False,
    force: opt.Force = False,
) -> None:
    """Choose the model and threshold of lowest expected cost, within constraints, and say what it costs.

    Example: rocscope choose scores.csv --label y --score a --cost-fn 20 --target-prevalence 0.005 -o decision.json
    """
    from rocscope._output import check_writable
    from rocscope.core.context import Context
    from rocscope.decisions.choosing import choose as decide
    from rocscope.decisions.constraints import Constraint
    from rocscope.decisions.model_hull import hull

    columns = {"label": label, "weight": weight, "where": where, "missing": missing, "format": file_format}
    if output not in (None, "-"):
        check_writable(output, force=force)
    if proba or predicted:
        unused = ("score", "pos_label", *TWO_CLASS_COSTS, *TWO_CLASS_CHOICES)
        opt.require_defaults(command, unused, "costs go to --cost-matrix")
        several = opt.read_multiclass(file, proba=proba, predicted=predicted, **columns)
        files: dict[str, Any] = {"cost_matrix": cost_matrix, "cost_rows": cost_rows, "output": output, "force": force}
        choose_weights(several, criterion=criterion, subject_to=subject_to or [], json=json, **files)
        return
    if cost_matrix is not None:
        raise InputError("--cost-matrix", expected="--proba too: it is for the probabilities of all classes")
    context = Context(target_prevalence, cost_fp, cost_fn, cost_tp, cost_tn)
    constraints = [Constraint.parse(text) for text in subject_to or []]
    if at_most is not None:
        constraints.append(Constraint.capacity(at_most))
    check_figure(plot, force=force)
    predictions = opt.read_sample(file, scores=score, pos_label=pos_label, memory=memory, **columns)
    across = hull(predictions, negate=negate)
    decision = decide(across, context, criterion=criterion, subject_to=constraints, population=population)
    if output == "-":
        typer.echo(decision.to_json(), nl=False)
    elif json:
        print_json("choose", decision.to_dict())
    else:
        _print(decision)
    if output not in (None, "-"):
        note(f"Decision: {decision.save(output, force=force)}")
    if plot:
        drawn = write_figure(plot, lambda ax: _draw(ax, predictions, decision), title="ROC curves", force=force)
        note(f"Figure: {drawn}")


def _print(decision: Any) -> None:
    print_table(_choice_table(decision))
    print_table(_counts_table(decision))
    print_table(_costs_table(decision))


def _choice_table(decision: Any) -> Any:
    table = _table("Decision", "", "")
    rule = decision.rule.replace("threshold", repr(decision.threshold))
    never = "" if decision.notes else "none: it is never the cheapest"
    rows = {
        "model": decision.model,
        "positive iff": rule,
        decision.criterion: f"{decision.criterion_value:.6g}",
        "constraints": " and ".join(decision.subject_to),
        "prevalence": f"{decision.prevalence:.4g}",
        "best for prevalences": _interval(decision.prevalence_interval, never),
        "best for cost ratios fp : fn": _interval(decision.cost_ratio_interval, never),
        "ties": decision.tie_break,
    }
    rows |= {f"note {i}" if i else "note": text for i, text in enumerate(decision.notes)}
    for name, value in rows.items():
        if value:
            _row(table, name, value)
    return table


def _interval(interval: tuple[float, float] | None, otherwise: str) -> str:
    if interval is None:
        return otherwise
    low, high = interval
    return f"from {low:.4g}" + ("" if math.isinf(high) else f" to {high:.4g}")


def _counts_table(decision: Any) -> Any:
    points = {"in the sample": decision.point, "per 1,000": decision.per_thousand}
    if decision.population is not None:
        points[f"in {decision.population:,.10g}"] = decision.in_population
    table = _table("Expected counts", "", *points)
    for name, cell in _CELLS.items():
        _row(table, name, *(f"{getattr(point, cell):,.6g}" for point in points.values()))
    _row(table, "predicted positive", *(f"{point.tp + point.fp:,.6g}" for point in points.values()))
    return table


def _costs_table(decision: Any) -> Any:
    table = _table("Expected cost", "", "per case", "beyond this", *(["in all"] if decision.population else []))
    for name, attribute in _ALTERNATIVES.items():
        cost = getattr(decision, attribute)
        total = [f"{cost * decision.population:,.6g}"] if decision.population else []
        _row(table, name, f"{cost:.6g}", f"{cost - decision.expected_cost:+.4g}", *total)
    return table


def _table(title: str, *headings: str) -> Any:
    from rich.table import Table

    table = Table(title=title, show_header=any(headings))
    for i, heading in enumerate(headings):
        table.add_column(heading, justify="right" if i and heading else "left", overflow="fold")
    return table


def _row(table: Any, *cells: str) -> None:
    from rich.text import Text

    table.add_row(*(Text(cell) for cell in cells))


def _draw(ax: Any, predictions: Any, decision: Any) -> None:
    from rocscope.plotting import plot_roc

    if decision.criterion == "min_cost" and not decision.subject_to:
        plot_roc(predictions, context=decision.context, ax=ax)
        return
    marked = [decision.threshold] if math.isfinite(decision.threshold) else []
    plot_roc(predictions, models=[decision.model], context=decision.context, thresholds=marked, ax=ax)
