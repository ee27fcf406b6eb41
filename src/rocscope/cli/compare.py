"""rocscope compare: which model is better, and how sure that is."""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any

import typer

from rocscope.cli import options as opt
from rocscope.cli.console import note, print_json, print_table
from rocscope.cli.gates import Gate, parse_gate
from rocscope.errors import ColumnError, InputError, heard
from rocscope.inference.estimate import Comparison, Comparisons, Estimate

FAILED = 1

Compare = Callable[[float], Comparisons]


def compare(
    file: opt.File,
    label: opt.Label = None,
    score: opt.Scores = None,
    weight: opt.Weight = None,
    fold: opt.Fold = None,
    pos_label: opt.PosLabel = None,
    where: opt.Where = None,
    missing: opt.Missing = "error",
    file_format: opt.Format = None,
    groups: Annotated[
        str | None,
        typer.Option("--groups", help="Column of the patient or customer that several rows belong to."),
    ] = None,
    folds: Annotated[
        str | None, typer.Option("--folds", help="pooled, or mean of the folds' AUCs (with --fold).")
    ] = None,
    level: Annotated[float, typer.Option("--level", help="Confidence level of all intervals.")] = 0.95,
    alternative: Annotated[
        str, typer.Option("--alternative", help="two-sided, greater, less, superior or noninferior.")
    ] = "two-sided",
    margin: Annotated[float, typer.Option("--margin", help="For superior and noninferior.")] = 0.0,
    correction: Annotated[
        str, typer.Option("--correction", help="Of p-values for several pairs: holm, bh or none.")
    ] = "holm",
    at_context: Annotated[
        bool, typer.Option("--at-context", help="Compare expected costs as well, each model at its best threshold.")
    ] = False,
    cost_fp: opt.CostFp = 1,
    cost_fn: opt.CostFn = 1,
    cost_tp: opt.CostTp = 0,
    cost_tn: opt.CostTn = 0,
    target_prevalence: opt.TargetPrevalence = None,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-if",
            help="Exit with code 1 under this condition: 'auc(a)<0.8' judges the estimate, "
            "'auc(b)-auc(a)<-0.01 at 95%' whether the whole interval lies beyond; also cost(…) with --at-context.",
        ),
    ] = None,
    json: opt.Json = False,
) -> None:
    """Show each model's AUC with its interval, and each two models' difference with its test.

    Example: rocscope compare scores.csv --label y --score a --score b --fail-if "auc(b)-auc(a)<-0.01 at 95%"
    """
    import rocscope as rs

    gates = [parse_gate(text) for text in fail_if or []]
    predictions = opt.read_predictions(
        file,
        label=label,
        scores=score,
        weight=weight,
        fold=fold,
        segment=groups,
        pos_label=pos_label,
        where=where,
        missing=missing,
        format=file_format,
    )
    context = rs.Context(target_prevalence, cost_fp, cost_fn, cost_tp, cost_tn)
    areas: dict[str, Any] = {"folds": folds}
    test: dict[str, Any] = {"alternative": alternative, "margin": margin, "correction": correction}
    test["groups"] = None if groups is None else predictions.segment
    of_quantity: dict[str, Compare] = {"auc": lambda at: rs.compare(predictions, level=at, **areas, **test)}
    if at_context:
        of_quantity["cost"] = lambda at: rs.inference.compare_costs(predictions, context, level=at, **_two_sided(test))
    with heard() as said:
        results = {quantity: make(level) for quantity, make in of_quantity.items()}
        judged = [(gate, _estimate(gate, of_quantity, level)) for gate in gates]
    for message in said:
        note(f"Warning: {message}")
    if json:
        content = {quantity: result.to_dict() for quantity, result in results.items()}
        print_json("compare", content | {"gates": [gate.to_dict(estimate) for gate, estimate in judged]})
    else:
        for result in results.values():
            _print(result, predictions.n)
    failed = [(gate, estimate) for gate, estimate in judged if gate.fails(estimate)]
    for gate, estimate in failed:
        note(f"Failed: {gate.text}: {_interval(estimate)} ({100 * estimate.level:g} %)")
    if failed:
        raise typer.Exit(FAILED)


def _two_sided(test: dict[str, Any]) -> dict[str, Any]:
    """Costs are compared two-sidedly: margins and directions are meant for areas."""
    return test | {"alternative": "two-sided", "margin": 0.0}


def _estimate(gate: Gate, of_quantity: dict[str, Compare], level: float) -> Estimate:
    """Return what a gate judges, at its own level; the difference the way round that the gate has it."""
    if gate.quantity not in of_quantity:
        hint = "give --at-context to compare costs" if gate.quantity == "cost" else ""
        raise InputError("--fail-if", expected=" or ".join(of_quantity), got=gate.quantity, hint=hint)
    result = of_quantity[gate.quantity](gate.level or level)
    for model in (gate.model, gate.minus or gate.model):
        if model not in result.estimates:
            raise ColumnError("--fail-if", expected=f"models among {list(result.estimates)}", got=repr(model))
    if gate.minus is None:
        return result.estimates[gate.model]
    if gate.minus == gate.model:
        raise InputError("--fail-if", expected="two different models", got=repr(gate.text))
    pair = result[gate.model, gate.minus]
    return pair.difference if pair.second == gate.model else _negative(pair.difference)


def _negative(difference: Estimate) -> Estimate:
    return replace(difference, value=-difference.value, low=-difference.high, high=-difference.low)


def _print(result: Comparisons, n: float) -> None:
    from rich.table import Table
    from rich.text import Text

    models = Table(title=f"{result.quantity}, {n:,g} rows")
    for heading in ("model", result.quantity, "interval", "method"):
        models.add_column(heading, overflow="fold")
    for name, estimate in result.estimates.items():
        cells = (name, f"{estimate.value:.4f}", _ends(estimate), estimate.method)
        models.add_row(*(Text(cell) for cell in cells))
    print_table(models)
    pairs = Table(title=f"Differences in {result.quantity}")
    for heading in ("pair", "difference", "interval", "p", f"p ({result.correction})", "test"):
        pairs.add_column(heading, overflow="fold")
    for pair in result:
        pairs.add_row(*(Text(cell) for cell in _cells(pair)))
    print_table(pairs)


def _cells(pair: Comparison) -> list[str]:
    test = pair.method if pair.alternative == "two-sided" else f"{pair.method}, {pair.alternative}"
    return [
        f"{pair.second} − {pair.first}",
        f"{pair.difference.value:+.4f}",
        _ends(pair.difference),
        f"{pair.p_value:.3g}",
        f"{pair.adjusted_p_value:.3g}",
        test,
    ]


def _ends(estimate: Estimate) -> str:
    return f"{estimate.low:.4f} to {estimate.high:.4f}"


def _interval(estimate: Estimate) -> str:
    return f"{estimate.value:.4g}, interval {estimate.low:.4g} to {estimate.high:.4g}"
