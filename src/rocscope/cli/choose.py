"""rocscope choose: which model and threshold to use, at what cost, and in which range of costs that holds.

What `rocscope choose` does with more than two classes.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from rocscope._base.formatting import about, alike
from rocscope.cli import options as opt
from rocscope.cli.console import (
    as_json,
    check_figure,
    interval_of,
    note,
    print_interval,
    print_json,
    print_records,
    print_rows,
    write_figure,
    write_text,
)
from rocscope.cli.gate import DecisionJudge, gates_json, gates_of, judged_by, outcome
from rocscope.errors import InputError

CHOICE = Parameter(group=opt.CHOICE)
_CELLS = {
    "true positives": "tp",
    "false positives": "fp",
    "false negatives": "fn",
    "true negatives": "tn",
}
_ALTERNATIVES = {
    "this decision": "expected_cost",
    "best randomised rule (--randomized)": "lot_cost",
    "best of all thresholds": "hull_cost",
    "threshold 0.5": "default_cost",
    "everybody positive": "treat_all_cost",
    "nobody positive": "treat_none_cost",
}


@opt.for_two_classes(
    "--score", "--pos-label", *opt.TWO_CLASS_COSTS, "--capacity", "--population", "--randomized", "--review-cost",
    "--review-capacity", "--negate", "--plot", "--plot-width", "--fail-if",
    instead="costs go to --cost-matrix",
)  # fmt: skip
def choose(
    file: opt.File,
    /,
    *,
    rows: opt.ClassOptions = opt.CLASSES,
    costs: opt.CostOptions = opt.COSTS,
    cost_matrix: Annotated[str | None, CHOICE] = None,
    cost_rows: Annotated[Literal["actual", "predicted"] | None, CHOICE] = None,
    criterion: Annotated[str | None, CHOICE] = None,
    subject_to: Annotated[list[str] | None, CHOICE] = None,
    capacity: Annotated[float | None, CHOICE] = None,
    population: Annotated[float | None, CHOICE] = None,
    randomized: Annotated[opt.Flag, CHOICE] = False,
    looks: opt.ReviewOptions = opt.REVIEW,
    negate: Annotated[opt.Flag, CHOICE] = False,
    output: Annotated[str | None, opt.OUTPUT] = None,
    plot: opt.Plot = None,
    plot_width: opt.PlotWidth = 178,
    fail_if: opt.FailIf = None,
    json: opt.Json = False,
    force: opt.Force = False,
) -> int:
    """Choose the model and threshold of lowest expected cost under constraints, and report the cost.

    Example: rocscope choose scores.csv --label y --score a --cost-fn 20 --target-prevalence 0.005 -o decision.json

    Parameters
    ----------
    cost_matrix
        For more than two classes: CSV file whose first row and column name the classes.
    cost_rows
        What the rows of that file are.
    criterion
        What to maximise in place of lowest cost: f1, youden, mcc, lift@0.1, …; of classes accuracy, macro_f1, ….
    subject_to
        A constraint such as 'tpr >= 0.9', 'tpr >= 0.9 at 95 %' or 'recall(cat) >= 0.8'; repeat it.
    capacity
        Largest number of positive predictions.
    population
        Number of cases it will be used on.
    randomized
        Decide some cases at random, where a constraint leaves no threshold as good.
    negate
        Also try each model with its decisions reversed.
    output
        File to write the decision to, as JSON; - for stdout.
    """
    gates = gates_of(fail_if)
    opt.require_output(output, force=force)
    check_figure(plot, plot_width, force=force)
    rows.require(file, "label", "scores", **({} if rows.has_classes else costs.columns))
    if rows.has_classes:
        weights = choose_weights(rows.classes(file), criterion, cost_matrix, cost_rows, subject_to or [])
        _deliver(weights, weights.to_dict, print_weights, output, json=json, force=force)
        return 0
    if cost_matrix is not None:
        raise InputError("--cost-matrix", expected="--proba too: it is for the probabilities of all classes")
    context, review = costs.context(of_rows=True), looks.review()
    from rocscope.decisions.constraints import Constraint, constraints_of, criterion_of

    constraints, _ = [*constraints_of(subject_to or [])], criterion_of(criterion)
    if context.columns and (negate or rows.memory):
        name = "--negate" if negate else "--memory"
        raise InputError(name, expected="costs that are the same in every row", got=f"{list(context.columns)}")
    if capacity is not None:
        constraints.append(Constraint.capacity(capacity))
    predictions = rows.predictions(file, columns=context.columns) if context.columns else rows.sample(file)
    from rocscope.calibration.outcomes import are_probabilities
    from rocscope.decisions import choose as decide
    from rocscope.decisions import hull
    from rocscope.sample import samples_of

    across = predictions if context.columns else hull(predictions, negate=negate)
    aims: dict[str, Any] = {
        "criterion": criterion,
        "subject_to": constraints,
        "population": population,
        "review": review,
    }
    decision = decide(across, context, **aims, randomized=randomized)
    with_half = are_probabilities(samples_of(predictions).counts()[decision.model])
    judge = DecisionJudge(predictions, {decision.model: decision.threshold}, decision.context, decision)
    judged = judged_by(gates, [decision.model], judge.estimate)
    facts = partial(_with_interval, decision, gates_json(judged) if gates else {})
    _deliver(decision, facts, partial(_print, with_half=with_half), output, json=json, force=force)
    if plot:
        drawn = write_figure(
            plot, lambda ax: _draw(ax, predictions, decision), plot_width, title="ROC curves", force=force
        )
        note(f"Figure: {drawn}")
    return outcome(judged)


def _with_interval(decision: Any, gates: dict[str, Any]) -> dict[str, Any]:
    return decision.to_dict() | as_json(interval_of(decision)) | gates


def _deliver(
    decision: Any,
    facts: Callable[[], dict[str, Any]],
    show: Callable[[Any], None],
    output: str | None,
    *,
    json: bool,
    force: bool,
) -> None:
    """Print a decision of either kind, and save it if requested."""
    if output == "-":
        write_text(decision.to_json())
    elif json:
        print_json("choose", facts())
    else:
        show(decision)
    if output not in (None, "-"):
        note(f"Decision: {decision.save(output, force=force)}")


def _print(decision: Any, *, with_half: bool) -> None:
    _print_choice(decision)
    _print_counts(decision)
    _print_costs(decision, with_half=with_half)
    print_interval(interval_of(decision), "expected cost per case", f"{decision.expected_cost:.4g}")


def _print_choice(decision: Any) -> None:
    rule = decision.rule.replace("threshold", repr(decision.threshold))
    unasked = decision.notes or decision.lot or decision.review or decision.context.columns
    never = "" if unasked else "none: it is never the cheapest"
    rows = {
        "model": "" if decision.trivial else decision.model,
        "positive iff": decision.trivial or rule,
        "review iff": "" if decision.review is None else decision.review.rule.shares,
        "lot": "" if decision.lot is None else decision.lot.shares,
        decision.criterion: f"{decision.criterion_value:.6g}",
        "constraints": " and ".join(decision.subject_to),
        "prevalence": f"{decision.prevalence:.4g}",
        "best for prevalences": _interval(decision.prevalence_interval, never),
        "best for cost ratios fp : fn": _interval(decision.cost_ratio_interval, never),
        "ties": decision.tie_break,
    }
    rows |= {f"note {i}" if i else "note": text for i, text in enumerate(decision.notes)}
    print_rows("Decision", ("", ""), [row for row in rows.items() if row[1]])


def _interval(interval: tuple[float, float] | None, otherwise: str) -> str:
    if interval is None:
        return otherwise
    low, high = interval
    return f"from {low:.4g}" + ("" if math.isinf(high) else f" to {high:.4g}")


def _print_counts(decision: Any) -> None:

    points = {"in the sample": decision.point, "per 1,000": decision.per_thousand}
    if decision.population is not None:
        points[f"in {decision.population:,.10g}"] = decision.in_population
    counts = {name: [getattr(point, cell) for point in points.values()] for name, cell in _CELLS.items()}
    counts["predicted positive"] = [point.tp + point.fp for point in points.values()]
    rows = [[name, f"{own:,.6g}", *map(about, expected)] for name, (own, *expected) in counts.items()]
    print_rows("Expected counts", ("", *points), rows)


def _print_costs(decision: Any, *, with_half: bool) -> None:
    """Print the costs of the alternatives; without the threshold 0.5 if scores are not probabilities."""

    in_all, rows = (["in all"] if decision.population else []), []
    for name, attribute in _ALTERNATIVES.items():
        if attribute == "default_cost" and not with_half:
            continue
        cost = getattr(decision, attribute)
        if cost is None:
            continue
        total = [about(cost * decision.population)] if decision.population else []
        rows.append([name, f"{cost:.4g}", f"{cost - decision.expected_cost:+.4g}", *total])
    print_rows("Expected cost", ("", "per case", "beyond this", *in_all), rows)


def _draw(ax: Any, predictions: Any, decision: Any) -> None:
    from rocscope.plotting import plot_roc

    context = None if decision.context.columns else decision.context
    if context and decision.criterion == "min_cost" and not decision.subject_to:
        plot_roc(predictions, context=context, legend="below", ax=ax)
        return
    marked = [decision.threshold] if math.isfinite(decision.threshold) else []
    plot_roc(predictions, models=[decision.model], context=context, thresholds=marked, legend="below", ax=ax)


def choose_weights(
    predictions: Any, criterion: str | None, cost_matrix: str | None, cost_rows: Any, subject_to: list[str]
) -> Any:
    """Choose class weights."""
    from rocscope.figures.conditions import Condition
    from rocscope.multiclass.class_weighting import class_weights
    from rocscope.multiclass.costs import read_costs

    objective: Any = criterion or "accuracy"
    if cost_matrix is not None:
        if criterion is not None:
            raise InputError("--criterion and --cost-matrix", expected="one of them")
        objective = read_costs(cost_matrix, predictions.classes, rows=cost_rows)
    conditions = (each for text in subject_to for each in Condition.read(text, "--subject-to", "recall(cat) >= 0.8"))
    least = dict(_requirement(each, predictions.classes) for each in conditions)
    return class_weights(predictions, objective=objective, min_recall=least or None)


def print_weights(decision: Any) -> None:
    """Print class weights and their effect."""
    print_records(f"Class weights for {decision.model}, {decision.method}", _weights(decision))
    value, at_one = alike(decision.value, decision.value_at_one)
    note(f"{decision.objective}: {value}; with equal weights {at_one}")


def _requirement(condition: Any, classes: tuple[Any, ...]) -> tuple[Any, float]:
    """Return a class and its minimum recall."""
    from rocscope.figures.registry import known

    figure = known(condition.quantity)
    if figure is None or figure.name != "tpr" or condition.relation != ">=" or condition.model is None:
        raise InputError("--subject-to", expected="a text such as 'recall(cat) >= 0.8'", got=repr(str(condition)))
    by_text = {str(cls): cls for cls in classes}
    return by_text.get(condition.model, condition.model), condition.bound


def _weights(decision: Any) -> list[dict[str, str]]:
    matrix = decision.confusion
    recall, precision = matrix.recall.tolist(), matrix.precision.tolist()
    return [
        {
            "class": str(cls),
            "weight": f"{decision.weight[i]:.4g}",
            "cases": f"{matrix.support[i]:,g}",
            "predicted": f"{matrix.predicted[i]:,g}",
            "recall": f"{recall[i]:.2%}",
            "precision": f"{precision[i]:.2%}",
        }
        for i, cls in enumerate(decision.classes)
    ]
