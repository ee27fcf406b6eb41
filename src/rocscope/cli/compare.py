"""rocscope compare: compare models, with intervals and tests."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from rocscope._base.formatting import p_value
from rocscope.cli import options as opt
from rocscope.cli.console import note, print_json, print_rows
from rocscope.cli.gates import Gate, gates_json, judged_by, outcome
from rocscope.errors import ColumnError, InputError, heard, one_of

if TYPE_CHECKING:
    from rocscope.figures.conditions import Condition
    from rocscope.inference.estimate import Comparison, Comparisons, Estimate


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
    """Show each model's AUC with an interval, and the difference of each pair with a test.

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
        Exit with code 1 where 'auc(a)<0.8', or significantly 'auc(b)-auc(a)<-0.01 at 95%'; also brier(…), slope(…) and
        other figures of a ranking or of probabilities, cost(…) with --at-context, and conditions joined by 'and'.
    """
    gates = [Gate.parse(text) for text in fail_if or []]
    names = {each.quantity: _figure_of(each, at_context) for gate in gates for each in gate.conditions}
    rows.require(file, "label", "scores", fold=fold, groups=groups, **(costs.columns if at_context else {}))
    _require_models(gates, rows.score or [])
    context = costs.context(of_rows=at_context)
    predictions = rows.predictions(file, fold=fold, groups=groups, columns=context.columns or None)
    import rocscope as rs
    from rocscope.ranges.binned import direction

    how: dict[str, Any] = {"alternative": alternative, "test": test, "margin": margin, "adjust": adjust}
    two_sided = how | {"alternative": "two-sided", "test": "difference", "margin": 0.0}  # directions are of areas

    def compared(quantity: str, at: float) -> "Comparisons":
        if quantity == "cost":
            return rs.inference.compare_costs(predictions, context, level=at, **two_sided)
        wanted = how if quantity == "auc" else two_sided
        return rs.compare(predictions, statistic=quantity, folds=folds, level=at, **wanted)  # pyright: ignore[reportArgumentType]

    with heard() as said:
        results = {quantity: compared(quantity, level) for quantity in ("auc", *["cost"] * at_context)}
        judged = judged_by(
            gates,
            predictions.models,
            lambda each: _estimate(each, compared(names[each.quantity], each.level or level)),
        )
    for message in said:
        note(f"Warning: {message}")
    if json:
        content = {quantity: result.to_dict() for quantity, result in results.items()}
        print_json("compare", content | gates_json(judged))
    else:
        for result in results.values():
            _print(result, predictions.n)
        for name, area in results["auc"].estimates.items():
            if below := direction(area.value):
                note(f"{name}: AUC {area.value:.4g}{below}")
    return outcome(judged)


def _figure_of(condition: "Condition", at_context: bool) -> str:
    """Return the figure that a gate judges; InputError if the comparison does not compute it."""
    from rocscope.figures.registry import known, statistic_named

    figure = known(condition.quantity)
    if figure is None or figure.name != "cost":
        return statistic_named(condition.quantity, "--fail-if")[0].name
    if not at_context:
        raise InputError("--fail-if", expected="--at-context beside it", got=str(condition), hint="it compares costs")
    return "cost"


def _require_models(gates: list[Gate], models: list[str]) -> None:
    """Raise ColumnError for a gate on a model that is not compared."""
    for condition in (each for gate in gates for each in gate.conditions):
        for model in (condition.model, condition.minus):
            if model is not None and model not in models:
                raise ColumnError("--fail-if", expected=f"a model, {one_of(model, models)}", got=repr(model))


def _estimate(condition: "Condition", result: "Comparisons") -> "Estimate":
    """Return the estimate of a condition, with the sign of a difference as the condition has it."""
    assert condition.model is not None
    if condition.minus is None:
        return result.estimates[condition.model]
    pair = result[condition.model, condition.minus]
    return pair.difference if pair.second == condition.model else _negative(pair.difference)


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
