"""rocscope choose, campaign, apply and outcomes: make a plan, apply it, and compare its outcomes with its forecast.

`choose` finds the model and threshold with the lowest expected cost. For more than two classes, it finds class weights.
`campaign` finds how many customers to contact. Both can save a plan as JSON. `apply` lists the cases of a new file that
the plan selects. `outcomes` compares the actual outcomes of a plan with its forecast.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

import rocscope as rs
from rocscope._base.atomic_write import CSV, JSON
from rocscope._base.formatting import about
from rocscope.cli import console, gate as gating, options as opt
from rocscope.errors import InputError

if TYPE_CHECKING:
    from rocscope.decisions.campaign import CampaignPlan
    from rocscope.figures.conditions import Condition

CHOICE = Parameter(group=opt.CHOICE)
CAMPAIGN = Parameter(group=opt.CAMPAIGN)


@opt.for_two_classes(
    "--score", "--pos-label", *opt.TWO_CLASS_COSTS, "--capacity", "--population", "--randomized", "--review-cost",
    "--review-capacity", "--review-sensitivity", "--review-specificity", "--negate", "--plot", "--plot-width",
    "--groups", "--level", "--fail-if", instead="use --cost-matrix for costs",
)  # fmt: skip
def choose(
    file: opt.File,
    /,
    *,
    rows: opt.SampleOptions = opt.SAMPLE,
    memory: opt.Memory = None,
    classes: opt.ClassOptions = opt.CLASSES,
    groups: opt.Groups = None,
    costs: opt.CostOptions = opt.COSTS,
    cost_matrix: opt.CostMatrixFile = None,
    cost_rows: opt.CostRows = None,
    criterion: Annotated[str | None, CHOICE] = None,
    subject_to: Annotated[list[str] | None, CHOICE] = None,
    capacity: Annotated[float | None, CHOICE] = None,
    population: Annotated[float | None, CHOICE] = None,
    randomized: Annotated[opt.Flag, CHOICE] = False,
    reviewing: opt.ReviewOptions = opt.REVIEW,
    negate: Annotated[opt.Flag, CHOICE] = False,
    level: opt.Level = 0.95,
    output: opt.Output = None,
    plot: opt.Plot = None,
    plot_width: opt.PlotWidth = 178,
    fail_if: opt.FailIf = None,
    json: opt.Json = False,
    force: opt.Force = False,
) -> int:
    """Choose the model and threshold with the lowest expected cost, optionally under constraints.

    Example: rocscope choose scores.csv --label y --score a --cost-fn 20 --target-prevalence 0.005 -o decision.json

    Parameters
    ----------
    cost_matrix
        For more than two classes: CSV file of a cost matrix. The first row and the first column contain the class
        names.
    criterion
        Maximise this metric instead of minimising the cost, such as f1, youden, mcc or lift@0.1. For more than two
        classes, use a metric such as macro_f1.
    subject_to
        Constraint, such as 'tpr >= 0.9'. With 'tpr >= 0.9 at 95%', new cases satisfy the constraint with 95%
        confidence. For more than two classes, set a minimum recall of a class, such as 'recall(cat) >= 0.8'. Repeat the
        option for several constraints.
    capacity
        Largest number of cases that may be predicted positive. The total number of cases is --population.
    population
        Number of cases on which you will use the model. By default, the number of rows.
    randomized
        Decide some cases at random if this is cheaper than every threshold that satisfies the constraints.
    negate
        Also consider the reverse of each model. A reversed model predicts positive for scores below the threshold.
    output
        JSON file for the decision. Type - to print the JSON instead.
    """
    # Check the options, the columns and the costs.
    gates = gating.parse_gates(fail_if)
    opt.require_output(output, JSON, force=force)
    console.check_figure(plot, plot_width, force=force)
    cost_columns: dict[str, Any] = {} if classes.given else {**costs.columns}
    rows = rows.settled(file, "label", "scores", classes=classes, groups=groups, **cost_columns)
    if classes.given:
        predictions = classes.read(file, rows)
        weights = _choose_weights(predictions, criterion, cost_matrix, cost_rows, subject_to or [])
        _deliver(weights, weights.to_dict, _print_weights, output, json=json, force=force)
        return 0
    opt.read_cost_matrix(cost_matrix, cost_rows, None)
    context = costs.context(of_rows=True)
    review = reviewing.review()
    from rocscope.decisions.constraints import Constraint, constraints_of, criterion_of

    constraints = list(constraints_of(subject_to or []))
    criterion_of(criterion)  # raises for an unknown name
    if context.columns and (negate or memory):
        option = "--negate" if negate else "--memory"
        expected = "costs that are the same in every row"
        raise InputError(option, expected=expected, got=f"the cost column {context.columns[0]!r}")
    if capacity is not None:
        constraints.append(Constraint.capacity(capacity))

    # Read the rows and choose: from the hull, or row by row where costs differ.
    from rocscope.calibration.outcomes import are_probabilities
    from rocscope.sample import samples_of

    if context.columns:
        predictions = candidates = rows.read(file, columns=context.columns, groups=groups)
    else:
        predictions = rows.read_or_count(file, memory, groups=groups)
        candidates = rs.hull(predictions, negate=negate)
    objective: Any = criterion
    decision = rs.choose(
        candidates,
        context,
        criterion=objective,
        subject_to=constraints,
        population=population,
        review=review,
        randomized=randomized,
    )
    opt.remember(decision, level, rows.remembered(groups=groups))
    judge = gating.DecisionJudge(predictions, {decision.model: decision.threshold}, decision.context, decision)
    judged = gating.judge_gates(gates, [decision.model], judge.estimate)

    # Print, save and draw the decision.
    def facts() -> dict[str, Any]:
        gate_results = gating.gates_json(judged) if gates else {}
        interval = console.interval_of(decision)
        content = {"verdict": decision.verdict} | decision.to_dict()
        return content | console.interval_json(interval) | gate_results

    # The threshold 0.5 is shown for comparison only if scores are probabilities.
    with_half = are_probabilities(samples_of(predictions).counts()[decision.model])
    show = partial(_print_decision, with_half=with_half)
    _deliver(decision, facts, show, output, json=json, force=force)
    if plot:
        draw = partial(_draw_roc, predictions, decision)
        path = console.write_figure(plot, draw, plot_width, title="ROC curves", force=force)
        console.note(f"Figure: {path}")
    return gating.exit_code(judged)


def _deliver(
    decision: Any,
    facts: Callable[[], dict[str, Any]],
    show: Callable[[Any], None],
    output: str | None,
    *,
    json: bool,
    force: bool,
) -> None:
    """Print a decision for two or more classes. Save it if `output` is given."""
    if output == "-":
        console.print_text(decision.to_json())
    elif json:
        console.print_json("choose", facts())
    else:
        show(decision)
    if output not in (None, "-"):
        console.note(f"Decision: {decision.save(output, force=force)}")


def _print_decision(decision: "rs.Decision", *, with_half: bool) -> None:
    # The rule, and the range of prevalences and cost ratios in which it is the best.
    rule = f"score {'<' if decision.negated else '>='} {decision.threshold!r}"
    if decision.lot is not None:
        rule = decision.lot.shares
    elif math.isinf(decision.threshold):
        # With a review, it is possible that nobody is predicted positive without a review.
        rule = "nobody" if decision.threshold > 0 else "everybody"
    # With a constraint, a review or costs by row no range is computed, so a missing range does not mean "never".
    restricted = decision.notes or decision.lot or decision.review or decision.context.columns
    never = "" if restricted else "none, because it is never the cheapest"
    facts = {
        "model": "" if decision.trivial else decision.model,
        "positive if": decision.trivial or rule,
        "otherwise review if": "" if decision.review is None else decision.review.rule.shares,
        decision.criterion: f"{decision.criterion_value:.6g}",
        "constraints": " and ".join(decision.subject_to),
        "prevalence": f"{decision.prevalence:.4g}",
        "best for prevalences": _range(decision.prevalence_interval, never),
        "best for cost ratios fp : fn": _range(decision.cost_ratio_interval, never),
        "equally good": "; ".join(decision.tied) or "no other threshold",
    }
    for number, text in enumerate(decision.notes):
        facts[f"note {number}" if number else "note"] = text
    console.print_rows("Decision", ("", ""), [fact for fact in facts.items() if fact[1]])

    # Its expected counts: in the sample, per 1,000 cases, and in the population.
    points: dict[str, Any] = {"in the sample": decision.point, "per 1,000": decision.per_thousand}
    if decision.population is not None:
        points[f"in {decision.population:,.10g}"] = decision.in_population
    counts = {
        "true positives": [point.tp for point in points.values()],
        "false positives": [point.fp for point in points.values()],
        "false negatives": [point.fn for point in points.values()],
        "true negatives": [point.tn for point in points.values()],
        "predicted positive": [point.tp + point.fp for point in points.values()],
    }
    lines = []
    for name, (in_sample, *expected) in counts.items():
        lines.append([name, f"{in_sample:,.6g}", *map(about, expected)])
    console.print_rows("Expected counts", ("", *points), lines)

    # Its expected cost, and the costs of the alternatives.
    alternatives = {
        "this decision": decision.expected_cost,
        "best randomised rule (--randomized)": decision.lot_cost,
        "best of all thresholds": decision.hull_cost,
        "threshold 0.5": decision.default_cost if with_half else None,
        "everybody positive": decision.treat_all_cost,
        "nobody positive": decision.treat_none_cost,
    }
    headings = ["", "per case", "difference"]
    if decision.population:
        headings.append("in all")
    lines = []
    for name, cost in alternatives.items():
        if cost is None:
            continue
        line = [name, f"{cost:.4g}", f"{cost - decision.expected_cost:+.4g}"]
        if decision.population:
            line.append(about(cost * decision.population))
        lines.append(line)
    console.print_rows("Expected cost", headings, lines)

    interval = console.interval_of(decision)
    console.print_interval(interval, "expected cost per case", f"{decision.expected_cost:.4g}")
    console.note(decision.verdict)


def _range(interval: tuple[float, float] | None, otherwise: str) -> str:
    if interval is None:
        return otherwise
    low, high = interval
    return f"from {low:.4g}" + ("" if math.isinf(high) else f" to {high:.4g}")


def _draw_roc(predictions: Any, decision: "rs.Decision", ax: Any) -> None:

    # Without constraints the plot marks the best points of a context. Costs by row have no iso-performance line.
    context = None if decision.context.columns else decision.context
    if context and decision.criterion == "min_cost" and not decision.subject_to:
        rs.plotting.plot_roc(predictions, context=context, legend="below", ax=ax)
        return
    marks = [decision.threshold] if math.isfinite(decision.threshold) else []
    rs.plotting.plot_roc(predictions, models=[decision.model], context=context, thresholds=marks, legend="below", ax=ax)


def _choose_weights(
    predictions: "rs.multiclass.MulticlassPredictions",
    criterion: str | None,
    cost_matrix: str | None,
    cost_rows: Any,
    subject_to: list[str],
) -> Any:
    """Choose class weights."""
    from rocscope.figures.conditions import Condition
    from rocscope.figures.registry import known

    objective: Any = criterion or "accuracy"
    if cost_matrix is not None:
        if criterion is not None:
            raise InputError("--criterion and --cost-matrix", expected="only one of these options", got="both")
        objective = opt.read_cost_matrix(cost_matrix, cost_rows, predictions)

    # Constraints are minimum recalls of classes, which are named as text.
    class_of_text = {str(cls): cls for cls in predictions.classes}
    example = "recall(cat) >= 0.8"
    min_recall = {}
    for text in subject_to:
        for condition in Condition.read(text, "--subject-to", example):
            figure = known(condition.quantity)
            is_recall = figure is not None and figure.name == "tpr"
            if not is_recall or condition.relation != ">=" or condition.model is None:
                raise InputError("--subject-to", expected=f"a constraint such as '{example}'", got=repr(str(condition)))
            min_recall[class_of_text.get(condition.model, condition.model)] = condition.bound
    return rs.multiclass.class_weights(predictions, objective=objective, min_recall=min_recall or None)


def _print_weights(decision: Any) -> None:
    """Print class weights, and the recall and precision of each class with these weights."""
    matrix = decision.confusion
    recall = matrix.recall.tolist()
    precision = matrix.precision.tolist()
    records = []
    for i, cls in enumerate(decision.classes):
        record = {
            "class": str(cls),
            "weight": f"{decision.weight[i]:.4g}",
            "cases": f"{matrix.support[i]:,g}",
            "predicted": f"{matrix.predicted[i]:,g}",
            "recall": f"{recall[i]:.2%}",
            "precision": f"{precision[i]:.2%}",
        }
        records.append(record)
    console.print_records(f"Class weights for {decision.model}, {decision.method}", records)
    console.note(decision.verdict)


# Figures of a campaign that --fail-if accepts in addition to the figures of the registry.
_CAMPAIGN_FIGURES = ("profit", "contacts", "cases")


def campaign(
    file: opt.File,
    /,
    *,
    rows: opt.SampleOptions = opt.SAMPLE,
    memory: opt.Memory = None,
    population: Annotated[float, CAMPAIGN],
    unit_cost: Annotated[float, CAMPAIGN],
    unit_benefit: Annotated[float | str, CAMPAIGN],
    fixed_cost: Annotated[float, CAMPAIGN] = 0,
    response_rate: Annotated[float | None, CAMPAIGN] = None,
    capacity: Annotated[float | None, CAMPAIGN] = None,
    segment: opt.Column = None,
    groups: opt.Groups = None,
    budget: Annotated[float | None, CAMPAIGN] = None,
    max_difference: Annotated[list[str] | None, CAMPAIGN] = None,
    subject_to: Annotated[list[str] | None, CAMPAIGN] = None,
    steps: Annotated[int, Parameter(validator=Number(gte=1, lte=1000))] = 10,
    id: opt.Column = None,
    select: str | None = None,
    apply_to: str | None = None,
    keep: opt.Columns = None,
    output: opt.Output = None,
    random_state: Annotated[int, CAMPAIGN] = 0,
    level: opt.Level = 0.95,
    plot: opt.Plot = None,
    plot_width: opt.PlotWidth = 178,
    fail_if: list[str] | None = None,
    json: opt.Json = False,
    force: opt.Force = False,
) -> int:
    """Find the number of customers to contact that gives the highest profit.

    Customers with the highest scores are contacted first. A table shows the profit for several shares of contacted
    customers.

    Example: rocscope campaign scores.csv --label y --score a --population 1e6 --unit-cost 1 --unit-benefit 45

    With --segment, rocscope divides the contacts among segments to maximise the total profit.

    Parameters
    ----------
    population
        Number of customers who could be contacted.
    unit_cost
        Cost of contacting one customer.
    unit_benefit
        Benefit of one response: a number, or the name of a column with the benefit of each row.
    fixed_cost
        Fixed cost of the campaign, which does not depend on the number of contacts.
    response_rate
        Share of the population that would respond, from 0 to 1. By default, the share of positives in the file.
    capacity
        Largest number of contacts.
    segment
        Column of the segments, such as branches. Each segment gets its own threshold.
    budget
        Largest total cost: the fixed cost plus the cost of all contacts.
    max_difference
        With --segment: largest allowed difference of a rate between segments, such as tpr=0.05 or depth=0.1. Repeat the
        option for several rates.
    subject_to
        With --segment: constraint on each segment, such as 'tpr >= 0.2' or 'cases >= 50'. Repeat the option for several
        constraints.
    steps
        Number of rows in the table of profits.
    id
        Column of customer identifiers. The identifiers also determine the order of customers with equal scores.
    select
        CSV file for the list of customers to contact. Without --segment, the best customers come first.
    apply_to
        With --select: file of the customers from which the list is selected. By default, this file is FILE.
    keep
        With --select and --apply-to: another column to copy to the list. Repeat the option for several columns.
    output
        JSON file for the plan, which 'rocscope apply' can read. Type - to print the JSON instead.
    random_state
        Random seed that changes the order of customers with equal scores.
    fail_if
        Exit with code 1 if this condition is true, such as 'profit < 1000', 'profit < 0 at 90%' or 'contacts > 5000'.
    """
    # Check the options, the outputs and the columns.
    gates = gating.parse_gates(fail_if, also=_CAMPAIGN_FIGURES)
    console.check_figure(plot, plot_width, force=force)
    opt.require_output(select, CSV, force=force)
    opt.require_output(output, JSON, force=force)
    groups = _require_list_options(select, id, apply_to, keep, groups)
    if segment is None and (max_difference or subject_to):
        option = "--max-difference" if max_difference else "--subject-to"
        raise InputError(option, expected="--segment in the same command", got="no --segment")
    if segment is None and budget is not None:
        affordable = _affordable(budget, fixed_cost, unit_cost)
        capacity = affordable if capacity is None else min(capacity, affordable)
    if segment is not None and plot is not None:
        raise InputError("--plot and --segment", expected="only one of these options", got="both")
    own_columns: dict[str, Any] = {"id": id if apply_to is None else None, "groups": groups, "segment": segment}
    own_columns |= opt.columns_of(unit_benefit=unit_benefit)
    rows = rows.settled(file, "label", "scores", classes=opt.CLASSES, **own_columns)
    # The condition --where applies to the pilot only; the format options apply to both files.
    layout = replace(rows.layout, where=None)
    if apply_to is not None:
        layout.require(apply_to, id=[id], keep=keep or [], segment=[segment])

    # Read the rows and plan.
    planned = rs.Campaign(population, unit_cost, unit_benefit, fixed_cost, response_rate, capacity)
    sample = _read_pilot(file, rows, memory, planned.context.columns, groups=groups, segment=segment)
    plan: Any
    if segment is None:
        plan = rs.plan_campaign(sample, planned)
    else:
        differences = dict(map(_parse_difference, max_difference or []))
        plan = rs.allocate(sample, planned, budget=budget, max_difference=differences, subject_to=subject_to or ())
    opt.remember(plan, level, rows.remembered(segment=segment, id=id, groups=groups))
    judge = _CampaignJudge(sample, plan=plan)
    judged = gating.judge_gates(gates, plan.needs[:1] or plan.models[:1], judge.estimate)

    # Print, save, list and draw the plan.
    gate_results = gating.gates_json(judged) if gates else {}
    _print_plan(plan, steps, gate_results, json=json)
    if output == "-":
        console.print_text(plan.to_json())
    elif output is not None:
        console.note(f"Plan: {plan.save(output, force=force)}")
    if select and apply_to is None:
        cases = plan.apply(sample, sample.groups, random_state=random_state)
        note = "The outcomes of these customers are already known. To select new customers, add --apply-to FILE."
        _write_list(replace(cases, columns={str(id): cases.ids}), select, note, force=force)
    elif select:
        cases = _apply_plan(plan, apply_to, layout, id, None, segment, keep, random_state=random_state)
        _write_list(cases, select, f"{cases.note}.", force=force)
    if plot:
        draw = partial(_draw_profit, plan)
        console.note(f"Figure: {console.write_figure(plot, draw, plot_width, title='Profit', force=force)}")
    return gating.exit_code(judged)


def _affordable(budget: float, fixed_cost: float, unit_cost: float) -> float:
    """Return the number of contacts that the budget allows: (budget − fixed cost) / unit cost, rounded down."""
    if unit_cost <= 0:
        raise InputError("--unit-cost", expected="a cost above 0 with --budget", got=f"{unit_cost:g}")
    number = math.floor((budget - fixed_cost) / unit_cost)
    if number < 1:
        expected = f"at least {fixed_cost + unit_cost:g} (the cost of a campaign with one contact)"
        raise InputError("--budget", expected=expected, got=f"{budget:g}")
    return number


def _require_list_options(
    select: str | None, id: str | None, apply_to: str | None, keep: list[str] | None, groups: str | None
) -> str | None:
    """Return the column of the groups. Raise an error if an option for the list is missing."""
    if select is not None and id is None:
        raise InputError("--select", expected="--id with the column of customer identifiers", got="no --id")
    if select is None and apply_to is not None:
        raise InputError("--apply-to", expected="--select with the file for the list", got="no --select")
    if apply_to is None and keep:
        hint = "add --apply-to, or use rocscope apply --keep"
        raise InputError("--keep", expected="--apply-to in the same command", got="no --apply-to", hint=hint)
    if select is None or apply_to is not None:
        return groups
    # A list of the pilot's own rows needs their identifiers, which are read as groups.
    if groups not in (None, id):
        hint = "add --apply-to with the file of the customers for the list"
        raise InputError("--groups", expected=f"the column of --id, {id!r}, with --select", got=repr(groups), hint=hint)
    return id


def _read_pilot(file: str, rows: opt.SampleOptions, memory: str | None, benefits: Any, **columns: str | None) -> Any:
    """Read the rows of a pilot. Only count them if the file is large and single rows are not needed."""
    if benefits:
        return rows.read(file, columns=benefits, **columns)
    return rows.read_or_count(file, memory, count_by=columns.pop("segment"), **columns)


def _print_plan(plan: Any, steps: int, gate_results: dict[str, Any], *, json: bool) -> None:
    """Print the plan of a campaign, with or without segments."""
    by_segment = not hasattr(plan, "best")
    notes = {"notes": list(map(str, plan.notes))}
    if by_segment and json:
        console.print_json("campaign", {"verdict": plan.verdict} | plan.to_dict() | notes | gate_results)
    elif by_segment:
        _print_allocation(plan)
    elif json:
        interval = console.interval_json(console.interval_of(plan))
        console.print_json("campaign", plan.to_dict(steps) | interval | notes | gate_results)
    else:
        _print_campaign(plan, steps)


def _write_list(cases: Any, path: str, note: str, *, force: bool) -> None:
    console.note(f"List of {len(cases):,} customers: {cases.save(path, force=force)}")
    console.note(note)


def _draw_profit(plan: "CampaignPlan", ax: Any) -> None:
    from rocscope.plotting.curves import legend_below

    for (model, _), curve in plan.curves.items():
        curve.plot(ax, label=model)
    legend_below(ax)


@dataclass(frozen=True)
class _CampaignJudge(gating.Judge):
    """Estimate the quantities in conditions on a campaign: profit, number of contacts, and metrics such as the AUC."""

    plan: Any = None

    def estimate(self, condition: "Condition") -> "rs.inference.Estimate":
        name = condition.quantity.lower()
        level = condition.level
        if name not in _CAMPAIGN_FIGURES:
            return super().estimate(condition)
        by_segment = not hasattr(self.plan, "best")
        if name == "profit" and level is not None:
            if not by_segment:
                return self.plan.interval(level)
            return self.plan.interval(level).as_profit(self.plan.fixed_cost)
        expected = self.plan.on_new_cases
        if by_segment:
            value = self.plan.profit if expected is None else expected.as_profit(self.plan.fixed_cost).value
            cases = float(self.plan.cases.sum())
        else:
            value = self.plan.best.best.profit if expected is None else expected.value
            cases = self.plan.best.best.size
        value = value if name == "profit" else cases
        return rs.inference.Estimate(value, math.nan, math.nan, level or 0.95, "as planned", len(self.plan.models))


def _parse_difference(text: str) -> tuple[str, float]:
    """Return the rate and the largest difference between segments from a text such as tpr=0.05."""
    name, _, most = text.partition("=")
    try:
        return name.strip(), float(most)
    except ValueError:
        expected = "a rate and a number, such as tpr=0.05"
        raise InputError("--max-difference", expected=expected, got=repr(text)) from None


def _print_campaign(plan: "CampaignPlan", steps: int) -> None:
    """Print the best campaign of each model, and the profit of the best model at several shares contacted."""
    if len(plan.offers) > 1:
        lines = []
        for offer in plan.offers:
            best = offer.best
            line = [offer.model, about(best.size), f"{best.depth:.2%}", f"{best.threshold:.6g}"]
            lines.append(line + [about(profit) for profit in (best.profit, offer.random_profit, offer.perfect_profit)])
        headings = ("model", "size", "depth", "threshold", "profit", "profit at random", "profit of a perfect model")
        console.print_rows("Models", headings, lines)
    lines = []
    for row in plan.curve.table(steps):
        line = [f"{row.depth:.4g}", f"{row.gain:.1%}", f"{row.cumulative_gain:.1%}", f"{row.lift:.3f}"]
        lines.append(line + [about(n) for n in (row.size, row.responders, row.non_responders, row.profit)])
    headings = ("depth", "gain", "cumulative", "lift", "size", "responders", "non-responders", "profit")
    console.print_rows(f"{plan.best.model}: profit by depth", headings, lines, left=("model",))
    console.print_interval(console.interval_of(plan), "profit", about(plan.best.best.profit))
    _print_notes(plan)
    console.note(plan.verdict)


def _print_notes(plan: Any) -> None:
    for note in plan.notes:
        console.note(f"Note: {note}.")


def _print_allocation(plan: "rs.decisions.Allocation") -> None:
    """Print the number of contacts in each segment."""
    columns = plan.to_frame("pyarrow").to_pydict()
    lines = []
    for i, segment in enumerate(columns["segment"]):
        line = [str(segment), str(columns["rule"][i]), about(columns["cases"][i])]
        # If each row has its own benefit, responders are weighted by it, so their number is not shown.
        if plan.amounts is None:
            tpr = f"{columns['tpr'][i]:.2%}"
            line += [about(columns["tp"][i]), f"{columns['depth'][i]:.2%}", tpr]
        else:
            line.append(f"{columns['depth'][i]:.2%}")
        lines.append(line)
    headings = ("segment", "who", "contacts", "depth")
    if plan.amounts is None:
        headings = ("segment", "who", "contacts", "responders", "depth", "of all responders")
    console.print_rows("Contacts by segment", headings, lines, left=headings[:2])
    _print_notes(plan)
    console.note(plan.verdict)
    if plan.max_difference or plan.subject_to:
        console.note(f"The constraints on segments reduce the profit in the sample by {about(plan.price)}.")


def apply(
    plan: opt.SavedDecision,
    file: opt.File,
    /,
    *,
    layout: opt.LayoutOptions = opt.LAYOUT,
    classes: opt.ClassOptions = opt.CLASSES,
    id: opt.Column = None,
    score: opt.Scores = None,
    segment: opt.Column = None,
    keep: opt.Columns = None,
    every_row: Annotated[opt.Flag, CHOICE] = False,
    label: Annotated[str | None, Parameter(alias="-l", group=opt.CHOICE)] = None,
    pos_label: Annotated[str | None, CHOICE] = None,
    output: opt.Output = None,
    random_state: int = 0,
    safe_ids: opt.Flag = False,
    json: opt.Json = False,
    force: opt.Force = False,
) -> None:
    """Apply a saved plan to new data, and list the cases to act on. The best cases come first.

    Example: rocscope apply plan.json april.csv --id client -o contacts.csv

    The file needs no labels. If the plan contains a number of cases, the list has exactly this number of cases.

    Parameters
    ----------
    id
        Column of case identifiers. The identifiers also determine the order of cases with equal scores. By default, the
        column that was saved with the plan, or row numbers.
    score
        Column of the scores. Needed only if the column does not have the name of the model. For a plan with several
        models, type MODEL=COLUMN, such as a=new_a.
    segment
        For a plan with segments: column of the segments. By default, the column that was saved with the plan.
    keep
        Another column to copy to the list. Repeat the option for several columns.
    every_row
        List all cases in the order of the file, with the decision for each case.
    label
        With --every-row: column of the true labels. The list then shows the outcome, such as false positive.
    pos_label
        With --label: the positive label. Not needed if labels are 0/1, -1/1 or true/false.
    output
        CSV file for the list. By default, the list is printed.
    random_state
        Random seed that changes the order of cases with equal scores.
    safe_ids
        Put an apostrophe before texts that a spreadsheet would read as a formula, such as =1+1.
    """
    opt.require_output(output, CSV, force=force)
    if label is not None and not every_row:
        hint = "add --every-row to list the cases with their outcomes"
        raise InputError("--label", expected="--every-row in the same command", got="no --every-row", hint=hint)
    saved = opt.load_plan(plan, classes)
    kept = opt.recall(saved)
    id, segment = id or kept.get("id"), segment or kept.get("segment")
    rows = opt.SampleOptions(layout=layout, pos_label=pos_label).recalled(saved)
    layout, pos_label = rows.layout, rows.pos_label
    layout.require(file, id=[id], keep=keep or [], segment=[segment], label=[label])
    options = {"every_row": every_row, "label": label, "pos_label": pos_label, "random_state": random_state}
    with console.attended(f"Reading {file}"):
        if classes.given:
            from rocscope.engines.applying import apply_class_weights

            of_classes: dict[str, Any] = {"proba": classes.patterns() or "", "normalize": classes.normalize}
            cases = apply_class_weights(saved, file, id, keep=keep or [], **of_classes, **layout.arguments)
        else:
            cases = _apply_plan(saved, file, layout, id, score, segment, keep, **options)
    if json:
        console.print_json("apply", cases.to_dict())
    elif output in (None, "-"):
        console.print_text(cases.to_csv(safe_ids=safe_ids))
    if output in (None, "-"):
        console.note(f"{cases.note}.")
    else:
        console.note(f"{cases.note}. List: {cases.save(output, force=force, safe_ids=safe_ids)}")


def _apply_plan(
    plan: Any,
    file: str | None,
    layout: opt.LayoutOptions,
    id: str | None,
    score: list[str] | None,
    segment: str | None,
    keep: list[str] | None,
    **options: Any,
) -> Any:
    """Return the list of cases in a file that a plan selects."""
    _require_segment(plan, segment)
    columns = {"scores": _score_columns(score), "segment": segment, "keep": keep or []}
    return plan.apply(file, id, **columns, **options, **layout.arguments)


def _require_segment(plan: Any, segment: str | None) -> None:
    if plan.by_segment and segment is None:
        raise InputError("--segment", expected="the column of the segments of this plan", got="no --segment")


def _score_columns(score: list[str] | None) -> Any:
    """Return the columns of scores as a list. Return a dict by model for texts such as a=new_a."""
    models = []
    columns = []
    for text in score or []:
        model, _, column = text.partition("=")
        models.append(model)
        columns.append(column)
    if not any(columns):
        return models
    return {model: column or model for model, column in zip(models, columns, strict=True)}


def outcomes(
    plan: opt.SavedDecision,
    file: opt.File,
    /,
    *,
    layout: opt.LayoutOptions = opt.LAYOUT,
    label: Annotated[str | None, Parameter(alias="-l", group=opt.COLUMNS)] = None,
    id: opt.Column = None,
    acted: opt.Column = None,
    score: opt.Scores = None,
    segment: opt.Column = None,
    pos_label: opt.Column = None,
    level: opt.Level = 0.95,
    random_state: int = 0,
    json: opt.Json = False,
) -> None:
    """Compare the actual outcomes of a saved plan with the forecast of the plan.

    Example: rocscope outcomes plan.json april_answers.csv --id client --label bought

    FILE must contain the cases to which the plan was applied, and a column with the outcomes of these cases.

    Parameters
    ----------
    label
        Column of the outcomes. If the outcome of a case is unknown, leave the cell empty.
    id
        Column of the case identifiers. Use the same column as for 'rocscope apply'.
    acted
        Needed if you did not follow the plan: column that states which cases were acted on. For a plan with several
        actions, the column contains the action of each case. Type 'all' if the file contains only cases that were acted
        on.
    score
        Column of the scores. Needed only if the column does not have the name of the model. For a plan with several
        models, type MODEL=COLUMN, such as a=new_a.
    segment
        For a plan with segments: column of the segments. By default, the column that was saved with the plan.
    pos_label
        The positive outcome. Not needed if outcomes are 0/1, -1/1 or true/false.
    random_state
        Random seed. Use the same seed as for 'rocscope apply'.
    """
    acted_column = None if acted == "all" else acted
    saved: Any = rs.decisions.load_plan(plan)
    kept = opt.recall(saved)
    id, segment = id or kept.get("id"), segment or kept.get("segment")
    rows = opt.SampleOptions(layout=layout, label=label, pos_label=pos_label).recalled(saved)
    rows.require(file, "label", id=id, segment=segment, acted=acted_column)
    layout, label, pos_label = rows.layout, rows.label, rows.pos_label
    _require_segment(saved, segment)
    options = {"label": label, "acted": acted, "pos_label": pos_label, "level": level, "random_state": random_state}
    result = saved.outcomes(file, id, scores=_score_columns(score), segment=segment, **options, **layout.arguments)
    if json:
        console.print_json("outcomes", result.to_dict())
        return
    lines = [
        ("share of positives", result.rate.words, f"{result.promised_rate:.4g}"),
        ("gain of acting", result.gain.words, result.promise.words),
    ]
    if result.effect is not None:
        lines.append(("effect on the share", result.effect.words, ""))
    title = f"{result.known:,} known outcomes among {result.acted:,} cases acted on ({result.n:,} cases in total)"
    headings = ("cases acted on", "achieved", "promised")
    console.print_rows(title, headings, lines, left=headings)
    reasons = set()
    for estimate in (result.gain, result.effect):
        if estimate is not None and estimate.reason:
            reasons.add(estimate.reason)
    for reason in sorted(reasons):
        console.note(f"Not reliable: {reason}")
