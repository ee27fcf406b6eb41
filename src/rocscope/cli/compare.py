"""rocscope compare: which model is better, and how sure that is."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from rocscope._base.formatting import p_value
from rocscope.cli import options as opt
from rocscope.cli.console import note, print_json, print_rows
from rocscope.cli.gates import Gate, parse_gate
from rocscope.errors import ColumnError, InputError, heard

FAILED = 1

if TYPE_CHECKING:
    from rocscope.inference.estimate import Comparison, Comparisons, Estimate

    Compare = Callable[[float], Comparisons]


def compare(
    file: opt.File,
    /,
    *,
    rows: opt.SampleOptions = opt.SAMPLE,
    fold: opt.Fold = None,
    groups: Annotated[str | None, Parameter(group=opt.COLUMNS)] = None,
    costs: opt.CostOptions = opt.COSTS,
    folds: str | None = None,
    level: float = 0.95,
    alternative: str = "two-sided",
    test: str = "difference",
    margin: float = 0.0,
    adjust: str = "holm",
    at_context: opt.Flag = False,
    fail_if: list[str] | None = None,
    json: opt.Json = False,
) -> int:
    """Show each model's AUC with its interval, and each two models' difference with its test.

    Example: rocscope compare scores.csv --label y --score a --score b --fail-if "auc(b)-auc(a)<-0.01 at 95%"

    Parameters
    ----------
    groups
        Column of the patient or customer that several rows belong to.
    folds
        pooled, or mean of the folds' AUCs (with --fold).
    level
        Confidence level of all intervals.
    alternative
        What to show of second − first: two-sided, greater or less.
    test
        difference, superiority, noninferiority or equivalence, by --margin.
    margin
        Of the last three.
    adjust
        Of p-values for several pairs: holm, bh, max-t or none.
    at_context
        Compare expected costs as well, each model at its best threshold.
    fail_if
        Exit with code 1 where 'auc(a)<0.8', or surely 'auc(b)-auc(a)<-0.01 at 95%'; also cost(…) with --at-context.
    """
    gates = [parse_gate(text) for text in fail_if or []]
    rows.require(file, "label", "scores", fold=fold, groups=groups)
    context = costs.context(of_rows=at_context)
    predictions = rows.predictions(file, fold=fold, groups=groups, columns=context.columns or None)
    import rocscope as rs
    from rocscope.ranges.binned import direction

    areas: dict[str, Any] = {"folds": folds}
    how: dict[str, Any] = {"alternative": alternative, "test": test, "margin": margin, "adjust": adjust}
    of_quantity: dict[str, Compare] = {"auc": lambda at: rs.compare(predictions, level=at, **areas, **how)}
    if at_context:
        two_sided = how | {"alternative": "two-sided", "test": "difference", "margin": 0.0}  # directions are of areas
        of_quantity["cost"] = lambda at: rs.inference.compare_costs(predictions, context, level=at, **two_sided)
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
        for name, area in results["auc"].estimates.items():
            if below := direction(area.value):
                note(f"{name}: AUC {area.value:.4g}{below}")
    failed = [(gate, estimate) for gate, estimate in judged if gate.fails(estimate)]
    for gate, estimate in failed:
        note(f"Failed: {gate.text}: {_interval(estimate)} ({100 * estimate.level:g} %)")
    return FAILED if failed else 0


def _estimate(gate: Gate, of_quantity: "dict[str, Compare]", level: float) -> "Estimate":
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


def _negative(difference: "Estimate") -> "Estimate":
    return replace(difference, value=-difference.value, low=-difference.high, high=-difference.low)


def _print(result: "Comparisons", n: float) -> None:
    headings = ("model", result.quantity, "interval", "method")
    rows = [
        [name, f"{each.value:.4f}", _ends(each), each.method + each.doubt] for name, each in result.estimates.items()
    ]
    print_rows(f"{result.quantity}, {n:,g} rows", headings, rows, left=("model", "method"))
    headings = ("pair", "difference", "interval", "p", f"p ({result.adjust})", "test")
    print_rows(f"Differences in {result.quantity}", headings, map(_cells, result), left=("pair", "test"))


def _cells(pair: "Comparison") -> list[str]:
    test = pair.method if pair.aim == "two-sided" else f"{pair.method}, {pair.aim}"
    test += pair.difference.doubt
    return [
        f"{pair.second} − {pair.first}",
        f"{pair.difference.value:+.4f}",
        _ends(pair.difference),
        p_value(pair.p_value),
        p_value(pair.adjusted_p_value),
        test,
    ]


def _ends(estimate: "Estimate") -> str:
    return f"{estimate.low:.4f} to {estimate.high:.4f}"


def _interval(estimate: "Estimate") -> str:
    return f"{estimate.value:.4g}, interval {estimate.low:.4g} to {estimate.high:.4g}"
