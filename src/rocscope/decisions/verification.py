"""Verify a plan: count the rows, ask the plan's question again, and compare every number.

A plan stores what was asked (context, constraints, criterion, population, review; campaigns; costs and limits of
segments) and what was answered. `verify` gives the question to the function that made the plan, with the rows at hand,
and compares the two answers number by number. Three outcomes are possible:

- The answers are equal: the plan is verified.
- They differ. Several choices may be equally good, and which of them is taken depends on the order of models and
  segments. So the stored choice itself is counted and priced in the rows. If its numbers are right, it keeps all
  constraints and nothing is better, then the plan is verified, and the tie is reported.
- Otherwise the plan is refuted, with the stored and the recomputed values.

A question that cannot be asked again raises InputError: rows lack a model or a column, or the criterion is a function.

Order of the file: the result and the comparison; `verify`; then decisions, campaign plans and allocations.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np

from rocscope import geometry
from rocscope.core import CELLS, Context, OperatingPoint, Predictions, Result, jsonable, number
from rocscope.decisions import allocating, choosing, constraints, segment_costs
from rocscope.decisions.allocating import ActionAllocation
from rocscope.decisions.allocation import Allocation
from rocscope.decisions.apportionment import SegmentShares
from rocscope.decisions.campaign import CampaignPlan, plan_campaign
from rocscope.decisions.decision import Decision, Question
from rocscope.decisions.model_hull import hull_of
from rocscope.decisions.plan import Plan
from rocscope.decisions.sampling_model import PricedRows
from rocscope.errors import ColumnError, InfeasibleError, InputError
from rocscope.sample import Samples, samples_of
from rocscope.segments.by_segment import levels_of
from rocscope.segments.levels import SegmentLevels

# Sums of floats differ by some 1e-12 between machines and orders of rows; a digit that someone changed differs by more.
SAME = 1e-9
# Linear programs are solved to 9 digits: two equally good solutions differ by about as much.
SAME_PROGRAM = 1e-7
# What an exact cost of weighted rows may differ by: their sums are rounded to float64 before they are compared.
ROUNDED = 1e-12


@dataclass(frozen=True)
class Check(Result):
    """One number or name of a plan, as it is stored and as it was recomputed from the rows."""

    name: str
    stored: Any
    recomputed: Any
    agrees: bool

    def __str__(self) -> str:
        return f"{self.name}: stored {_text(self.stored)}, recomputed {_text(self.recomputed)}"


@dataclass(frozen=True, repr=False)
class Verification(Result):
    """Whether rows give the plan that was stored.

    Made by `Decision.verify` and the `verify` of other plans.

    Attributes
    ----------
    n : float
        Number of rows that were counted (sum of their weights).
    checks : tuple of Check
        Every number and name of the plan, as stored and as recomputed.
    ties : tuple of str
        Other choices that are exactly as good.
    remarks : tuple of str
        Notes of the plan that rows cannot show, such as the condition that selected them. The verdict ignores them.
    """

    _content = ("verified", "n", "refuted", "ties", "remarks")

    n: float
    checks: tuple[Check, ...]
    ties: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def verified(self) -> bool:
        """Whether every number agrees."""
        return all(checked.agrees for checked in self.checks)

    @property
    def refuted(self) -> tuple[str, ...]:
        """The numbers that do not agree, with the stored and the recomputed value."""
        return tuple(str(checked) for checked in self.checks if not checked.agrees)

    def __repr__(self) -> str:
        tied = f", tied with {'; '.join(self.ties)}" if self.ties else ""
        verdict = f"refuted: {'; '.join(self.refuted)}"
        if self.verified:
            verdict = f"{len(self.checks)} numbers verified"
        return f"Verification({number(self.n)} rows, {verdict}{tied})"


def _text(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def compare(stored: Any, recomputed: Any, name: str = "") -> Iterator[Check]:
    """Yield a check for each value in two trees of plain data."""
    if isinstance(stored, dict) and isinstance(recomputed, dict):
        for key in dict.fromkeys([*stored, *recomputed]):
            yield from compare(stored.get(key), recomputed.get(key), f"{name}.{key}".removeprefix("."))
    elif isinstance(stored, list) and isinstance(recomputed, list) and len(stored) == len(recomputed):
        for place, pair in enumerate(zip(stored, recomputed, strict=True)):
            yield from compare(*pair, f"{name}[{place}]")
    else:
        # Scores are compared exactly, so that the next score is another threshold.
        exact = name.endswith("threshold")
        yield Check(name, stored, recomputed, stored == recomputed if exact else _equal(stored, recomputed))


def _equal(stored: Any, recomputed: Any, tolerance: float = SAME) -> bool:
    if type(stored) in (int, float) and type(recomputed) in (int, float):
        return math.isclose(stored, recomputed, rel_tol=tolerance, abs_tol=tolerance / 1000)
    return type(stored) is type(recomputed) and stored == recomputed


def verify(plan: Plan, data: Any) -> Verification:
    """Make a plan again from data and compare; see `Plan.verify`."""
    if isinstance(plan, Decision):
        return _verify_decision(plan, data)
    if isinstance(plan, CampaignPlan):
        return _verify_campaign(plan, data)
    assert isinstance(plan, Allocation | ActionAllocation)
    return _verify_allocation(plan, data)


def _require_models(models: Any, samples: Samples) -> None:
    for model in models:
        if model not in samples:
            raise ColumnError("model", expected=f"one of {list(samples)}", got=repr(model))


def _same_list(plan: Plan, again: Plan, rows: Predictions | None) -> list[Check]:
    """Check that both plans select the same rows, in the same order."""
    if rows is None:
        return []
    stored, recomputed = plan.rows(rows), again.rows(rows)
    return [Check("rows selected", stored.size, recomputed.size, np.array_equal(stored, recomputed))]


# Decisions

# Thresholds that were set and not chosen: by hand in a report or workbench, and by `ThresholdClassifier(shrinkage=)`.
GIVEN_THRESHOLDS = ("chosen by hand", "shrunk min_cost")
# What was asked, and what is compared on its own.
NOT_COMPARED = ("context", "point", "default_point", "notes")
# A report's file leaves these out: they make no claim where they are empty.
OPTIONAL = ("slope_interval", "lot_cost", "tied")


def _verify_decision(plan: Decision, data: Any) -> Verification:
    samples = samples_of(data, name="data")
    ends = [] if plan.lot is None else list(plan.lot.ends)
    if plan.review is not None:
        ends += plan.review.rule.ends
    _require_models([plan.model, *(end.model for end in ends)], samples)
    if plan.context.columns and samples.shared_rows is None:
        raise InputError("data", expected="rows (Predictions), where costs are columns", got="counts")
    # A file tells which models are negated, but not whether negated models were compared: then both are tried.
    negated = plan.negated or any(end.negated for end in ends)
    first = _ask_again(plan, _problem(plan, samples, negate=negated))
    if first.verified or negated or plan.context.columns:
        return first
    second = _ask_again(plan, _problem(plan, samples, negate=True))
    return second if second.verified else first


def _problem(plan: Decision, samples: Samples, *, negate: bool) -> choosing.ChoiceProblem:
    """Return the question of a decision, with the data that it is asked of."""
    # A report writes its capacity in words.
    texts = [re.sub(r"at most (\S+) of \S+ cases", r"cases <= \1", text) for text in plan.subject_to]
    bounds = constraints.constraints_of(texts, plan.context)
    review = plan.offered_review if plan.review is None else plan.review.review
    question = Question(plan.context, population=plan.population, review=review)
    criterion = choosing.MIN_COST
    if review is None and plan.criterion not in GIVEN_THRESHOLDS:
        asked: Any = plan.criterion
        if plan.question is not None and callable(plan.question.criterion):
            asked = plan.question.criterion
        try:
            criterion = constraints.criterion_of(asked)
        except InputError as error:
            expected = "a figure that rocscope computes; a file does not hold a function"
            hint = "choose again with the function, and compare the two decisions"
            raise InputError("criterion", expected=expected, got=repr(asked), hint=hint) from error
        question = replace(question, criterion=asked, subject_to=bounds, randomized=plan.lot is not None)
    rows = samples.shared_rows
    priced = PricedRows(rows, plan.context) if plan.context.columns and rows is not None else None
    hull = hull_of(samples, negate=negate)
    return choosing.ChoiceProblem(
        question, hull, plan.context, criterion, bounds, plan.population, priced, question.randomized
    )


def _ask_again(plan: Decision, problem: choosing.ChoiceProblem) -> Verification:
    """Ask the question of a decision again, and compare the answers."""
    rows = problem.hull.samples.shared_rows
    n = float(problem.hull.counts[plan.model].n)
    source: Any = problem.hull if problem.priced is None else rows
    try:
        again = choosing.choose(source, plan.context, **problem.question.options)
    except InfeasibleError as error:
        return Verification(n, (Check("subject_to", list(plan.subject_to), str(error), agrees=False),))
    # Notes that rows do not give are remarks, unless one stands in the place of a note that they give.
    missing = [note for note in again.notes if note not in plan.notes]
    remarks = tuple(note for note in plan.notes if note not in again.notes)
    notes = Check("notes", list(plan.notes), list(again.notes), agrees=not (missing and remarks))
    checks = [*compare(_decision_facts(plan), _decision_facts(again)), notes]
    if all(checked.agrees for checked in checks):
        if plan.lot is not None or plan.review is not None:
            checks += _same_list(plan, again, rows)
        return Verification(n, tuple(checks), again.tied, remarks)
    if plan.review is not None:
        return Verification(n, tuple(checks), remarks=remarks)

    expected = _at_stored_choice(plan, again, problem)
    checks = [*compare(_decision_facts(plan), _decision_facts(expected)), notes, *_admissible(expected, problem)]
    ties: tuple[str, ...] = ()
    if plan.criterion not in GIVEN_THRESHOLDS and not _of_ranges(plan, problem):
        checks.append(_as_good(expected, again, problem))
        ties = again.tied
        if (again.model, again.point) != (expected.model, expected.point):
            chosen = choosing.in_words(again.model, again.point) if again.lot is None else again.lot.shares
            ties = (chosen, *ties)
    result = Verification(n, tuple(checks), remarks=remarks)
    return replace(result, ties=ties) if result.verified else result


def _of_ranges(plan: Decision, problem: choosing.ChoiceProblem) -> bool:
    """Whether the plan compared ends of score ranges, while the rows show all thresholds.

    Then the rows show the stored numbers, and the cost of the best threshold within its stored bounds.
    """
    compared = choosing.RANGE_ENDS_COMPARED in plan.notes or plan.best_cost_interval is not None
    return compared and problem.hull.holds_levels


def _at_stored_choice(plan: Decision, again: Decision, problem: choosing.ChoiceProblem) -> Decision:
    """Return the decision that makes the stored choice, with the numbers that it has in the rows."""
    given, of_ranges = plan.criterion in GIVEN_THRESHOLDS, _of_ranges(plan, problem)

    def counted(model: str, threshold: float, negated: bool) -> OperatingPoint:
        point = problem.hull.counts[model].at(threshold)
        return OperatingPoint(point.fn, point.tn, point.tp, point.fp, threshold) if negated else point

    rule, point = None, counted(plan.model, plan.threshold, plan.negated)
    if plan.lot is not None:
        ends = [replace(end, point=counted(end.model, end.threshold, end.negated)) for end in plan.lot.ends]
        rule = replace(plan.lot, ends=tuple(ends))
        rule = replace(rule, at_most=problem.filled_share(*rule.rates))
        point = rule.point
    # Among the ties of a choice stands the other one, under the name of its model or of its threshold.
    names = {*again.tied, choosing.in_words(again.model, again.point), *problem.hull.models}
    names |= {f"not {name}" for name in names}
    other = (again.model, again.point) != (plan.model, point) and set(plan.tied) <= names
    choice = choosing.Choice(
        model=plan.model,
        point=point,
        slopes=None if given or again.slope_interval is None else _slopes(plan, point, problem),
        criterion_value=problem.value_at(point),
        negated=plan.negated,
        tied=plan.tied if given or other else again.tied,
        randomized_rule=rule,
    )
    expected = problem.decision(choice, ())
    if given:
        expected = replace(expected, criterion=plan.criterion, criterion_value=math.nan)
    if of_ranges:
        default = counted(plan.model, plan.default_point.threshold, negated=False)
        expected = replace(expected, default_point=default, default_cost=float(plan.context.exact_cost(default)))
    for name in OPTIONAL:
        if of_ranges or not getattr(plan, name):
            expected = replace(expected, **{name: getattr(plan, name)})
    if of_ranges and plan.best_cost_interval is not None:
        low, high = plan.best_cost_interval
        within = low - SAME <= again.hull_cost <= high + SAME
        interval = plan.best_cost_interval if within else (again.hull_cost, again.hull_cost)
        expected = replace(expected, best_cost_interval=interval, hull_cost=high)
    return replace(expected, subject_to=plan.subject_to)


def _slopes(plan: Decision, point: OperatingPoint, problem: choosing.ChoiceProblem) -> tuple[float, float] | None:
    """Return the slopes of the iso-performance line for which the stored choice is the best admissible one."""
    options, target = problem.hull.choices, plan.context.target_prevalence
    if problem.constraints or not problem.criterion.equivalent:
        options = choosing.admissible(problem.hull, problem.constraints, target, plan.population)
    for choices in problem.hull.every_choice:
        if (choices.model, choices.negated) == (plan.model, plan.negated):
            tp, fp, _, _ = choices.cells
            place = np.flatnonzero((tp == point.tp) & (fp == point.fp))
            if place.size:
                return geometry.slopes_at(geometry.TangentPoint(choices, int(place[0])), options)
    return None


def _admissible(expected: Decision, problem: choosing.ChoiceProblem) -> Iterator[Check]:
    """Yield a check for each constraint: whether the stored choice keeps it."""
    cells: Any = tuple(np.array([getattr(expected.point, cell)]) for cell in CELLS)
    target, population = problem.context.target_prevalence, problem.population
    for bound in problem.constraints:
        value = bound.value(cells, target, population).item()
        if expected.lot is None:
            kept = bound.admits(cells, target, population, len(problem.hull.every_choice)).item()
        else:
            tpr, fpr = expected.lot.rates
            line = bound.straight(*problem.mix)
            kept = line.tpr_weight * tpr + line.fpr_weight * fpr <= line.most + Fraction(ROUNDED)
        yield Check("constraint", str(bound), value, bool(kept))


def _as_good(expected: Decision, again: Decision, problem: choosing.ChoiceProblem) -> Check:
    """Check that the stored choice is as good as the recomputed one."""
    criterion, slack = problem.criterion, ROUNDED
    if problem.priced is not None and criterion.name == "min_cost":
        costs: list[Any] = [expected.expected_cost, again.expected_cost]
    elif criterion.equivalent:
        context = criterion.equivalent(problem.context)
        costs = [_exact_cost(context, expected), _exact_cost(context, again)]
        # Counts of rows are whole numbers, and their costs are compared exactly.
        if all(isinstance(count, int) for count in (again.default_point.n_pos, again.default_point.n_neg)):
            slack = 0.0
    else:
        costs = [-criterion.sign * problem.value_at(decision.point) for decision in (expected, again)]
    stored, best = map(Fraction, costs)
    as_good = stored <= best + Fraction(slack) * max(1, abs(best))
    return Check("cost of the best choice", float(stored), float(best), bool(as_good))


def _exact_cost(context: Context, decision: Decision) -> Fraction:
    """Return the exact cost per case of a choice; the counts of randomised rules are fractions."""
    if decision.lot is None:
        return context.exact_cost(decision.point)
    (tpr, fpr), end = decision.lot.rates, decision.lot.second.point
    n_pos, n_neg = Fraction(end.n_pos), Fraction(end.n_neg)
    tp, fp = n_pos * tpr, n_neg * fpr
    expected: Any = SimpleNamespace(tp=tp, fp=fp, fn=n_pos - tp, tn=n_neg - fp)
    return context.exact_cost(expected)


def _decision_facts(decision: Decision) -> dict[str, Any]:
    """Return the numbers and names of a decision that do not follow from others."""
    names = [field.name for field in fields(decision) if field.compare and field.name not in NOT_COMPARED]
    facts = {name: getattr(decision, name) for name in ("model", "threshold", *names)}
    for name in ("point", "default_point"):
        facts[name] = {cell: getattr(getattr(decision, name), cell) for cell in CELLS}
    return jsonable(facts)


# Campaign plans


def _verify_campaign(plan: CampaignPlan, data: Any) -> Verification:
    samples = samples_of(data, name="data")
    _require_models(plan.models, samples)
    # Among equally profitable models the first is taken: ask in the order of the plan.
    ordered: Any = Samples({model: samples[model] for model in plan.models}, samples.rows, samples.kind)
    again = plan_campaign(ordered, dict(plan.campaigns), level=plan.level)
    stored, recomputed = plan.stored(), again.stored()
    checks: list[Check] = []
    for name in ("best", "offers", "table", "rule", "depth"):
        checks += compare(stored[name], recomputed[name], name)
    if all(checked.agrees for checked in checks):
        checks += _same_list(plan, again, samples.shared_rows)
    return Verification(float(samples[plan.best.model].points.n), tuple(checks))


# Allocations, of one action or of several


def _verify_allocation(plan: Allocation | ActionAllocation, data: Any) -> Verification:
    places = plan.places if isinstance(plan, ActionAllocation) else (plan,)
    first, amounts = places[0], None
    rows = data.select(models=plan.models) if isinstance(data, Predictions) else None
    source = data if rows is None else rows
    if first.amounts is not None:
        amounts = segment_costs.RowAmounts.of(source, first.amounts.given)
        assert amounts is not None
        source = amounts.doubled(source)
    limits = _limits(plan, first)
    points = levels_of(source, all_levels=limits.bounded)
    n = float(sum(map(np.sum, points.totals))) if amounts is None else amounts.rows
    if set(points.keys) != set(first.keys):
        stored, recomputed = sorted(map(str, first.keys)), sorted(map(str, points.keys))
        return Verification(n, (Check("segments", stored, recomputed, agrees=False),))
    costs = [_unit_costs(place, points, amounts) for place in places]
    try:
        if isinstance(plan, ActionAllocation):
            again, _ = allocating.best_actions(points, _costs_by_action(plan, points, costs), plan.limit, limits)
            best = again.places
        else:
            again, _ = allocating.best_allocation(points, costs[0], plan.limit, limits, amounts)
            best = (again,)
    except InfeasibleError as error:
        return Verification(n, (Check("subject_to", list(first.subject_to), str(error), agrees=False),))
    checks = [*compare(_totals(plan), _totals(again))]
    for place, expected in zip(places, best, strict=True):
        checks += compare(_allocation_facts(place), _allocation_facts(expected))
    if all(checked.agrees for checked in checks):
        return Verification(n, (*checks, *_same_list(plan, again, rows)))

    # Other thresholds may cost as little: count and price those that are stored.
    levels = levels_of(source, all_levels=True)
    at_stored: list[Allocation] = []
    for place, cost, expected in zip(places, costs, best, strict=True):
        counted = allocating.allocation_of(levels, _shares(place, levels), cost, place.limit, in_money=place.in_money)
        kept = {name: getattr(expected, name) for name in ("marginal", "max_difference", "subject_to", "amounts")}
        at_stored.append(replace(counted, **kept))
    total = math.fsum(place.cost for place in at_stored)
    at_stored[0] = replace(at_stored[0], price=again.price + total - again.cost)
    checks = [*compare(_totals(plan), _totals(again) | {"cost": total})]
    for place, expected in zip(places, at_stored, strict=True):
        checks += compare(_allocation_facts(place), _allocation_facts(expected))
    checks += _within_limits(plan, at_stored, limits.segment_bounds(levels, costs[0]))
    checks += [_nested(place, after, levels) for place, after in pairwise(places)]
    as_good = total <= again.cost + SAME_PROGRAM * max(1.0, abs(again.cost))
    checks.append(Check("cost of the best plan", total, again.cost, as_good))
    result = Verification(n, tuple(checks))
    return replace(result, ties=("other thresholds in some segments",)) if result.verified else result


def _limits(plan: Allocation | ActionAllocation, first: Allocation) -> allocating.AllocationLimits:
    """Return the stored bounds as `allocate` takes them; the limit itself is stored exactly."""
    constraints_of_all = [text for segment, text in first.subject_to if segment is None]
    by_segment: dict[Any, list[str]] = {}
    for segment, text in first.subject_to:
        by_segment.setdefault(segment, []).append(text)
    subject_to: Any = constraints_of_all or by_segment
    return allocating.AllocationLimits(None, 0.0 if plan.in_money else None, first.max_difference, subject_to)


def _unit_costs(
    plan: Allocation, points: SegmentLevels, amounts: segment_costs.RowAmounts | None
) -> segment_costs.SegmentUnitCosts:
    """Return the stored unit costs, in the order of the segments; costs by row follow from the rows."""
    if amounts is not None:
        asked = plan.terms.distinct[0]
        costs = segment_costs.GivenCosts(amounts.uniform_costs, None).by_segment(points.upper, budget=plan.in_money)
        unit = costs.distinct[0]
        if not amounts.is_campaign:  # the population is asked for
            unit = replace(unit, pos=asked.pos, neg=asked.pos)
        return replace(costs, distinct=[unit])
    place = {name: i for i, name in enumerate(plan.keys)}
    return replace(plan.terms, index=plan.terms.index[[place[name] for name in points.keys]])


def _costs_by_action(
    plan: ActionAllocation, points: SegmentLevels, increments: list[segment_costs.SegmentUnitCosts]
) -> list[dict[str, segment_costs.UnitCosts]]:
    """Return the unit costs of each action: a place stores what its action changes beyond the one before."""
    by_segment = []
    for name, segment in points.keys.items():
        total = increments[0].of(segment)
        by_action = {plan.actions[name][0]: total}
        for action, increment in zip(plan.actions[name][1:], increments[1:], strict=True):
            step = increment.of(segment)
            total = replace(total, hit=total.hit + step.hit, alarm=total.alarm + step.alarm, use=total.use + step.use)
            by_action[action] = total
        by_segment.append(by_action)
    return by_segment


def _shares(plan: Allocation, levels: SegmentLevels) -> SegmentShares:
    """Return the levels of the rows at which the stored thresholds stand, with their shares; −1 is nobody."""
    segments, places, shares = [], [], []
    for name, segment in levels.keys.items():
        rule, begin = plan.rule(name), int(levels.start[segment])
        inside = slice(begin, int(levels.start[segment + 1]))
        for share, end in zip(rule.weights, rule.ends, strict=True):
            of_model = levels.model[inside] == levels.models.index(end.model)
            reached = np.flatnonzero(of_model & (levels.threshold[inside] >= end.threshold))
            segments.append(segment)
            places.append(begin + int(reached[-1]) if reached.size else -1)
            shares.append(share)
    return SegmentShares(np.array(segments), np.array(places), shares)


def _within_limits(plan: Any, places: list[Allocation], bounds: Any) -> Iterator[Check]:
    """Yield checks that the stored thresholds keep the limit, and the bounds on segments."""
    used, first = 0.0, places[0]
    for place in places:
        segments = np.arange(place.names.size)
        used += float(place.terms.total(segment_costs.UnitCosts.used, segments, *place.counts))
    if plan.limit is not None:
        limit = float(plan.limit)
        yield Check("limit", limit, used, used <= limit + SAME_PROGRAM * max(1.0, limit))
    for rate, most in first.max_difference.items():
        difference = first.difference(rate)
        yield Check(f"max_difference.{rate}", most, difference, not difference > most + SAME_PROGRAM)
    tp, fp = first.counts
    for bound in bounds:
        value = float(bound.up * tp[bound.segment] + bound.right * fp[bound.segment])
        kept = value <= bound.most + SAME_PROGRAM * max(1.0, abs(bound.most))
        yield Check(f"constraint {bound.text}", bound.most, value, kept)


def _nested(place: Allocation, after: Allocation, levels: SegmentLevels) -> Check:
    """Check that at every score at most as many cases get the later of two actions."""
    share = {id(plan): np.zeros(levels.tp.size) for plan in (place, after)}
    for name, segment in levels.keys.items():
        inside = slice(int(levels.start[segment]), int(levels.start[segment + 1]))
        for plan in (place, after):
            rule = plan.rule(name)
            for weight, end in zip(rule.weights, rule.ends, strict=True):
                share[id(plan)][inside] += float(weight) * (levels.threshold[inside] >= end.threshold)
    excess = float((share[id(after)] - share[id(place)]).max(initial=0.0))
    return Check("share with the later of two actions alone", 0.0, excess, excess <= SAME_PROGRAM)


def _totals(plan: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {"cost": plan.cost, "marginal": plan.marginal}
    if isinstance(plan, ActionAllocation):
        facts["actions"] = {str(name): list(actions) for name, actions in plan.actions.items()}
    return jsonable(facts)


def _allocation_facts(plan: Allocation) -> dict[str, Any]:
    """Return the numbers of an allocation, by segment."""
    facts = plan.to_dict()
    segments = dict(zip(map(str, plan.keys), facts.pop("segments"), strict=True))
    for name, key in zip(segments, plan.keys, strict=True):
        rule, parts = plan.rule(key), []
        for share, end in zip(rule.weights, rule.ends, strict=True):
            cells = {cell: getattr(end.point, cell) for cell in CELLS}
            parts.append({"share": float(share), "model": end.model, "threshold": end.threshold, **cells})
        segments[name]["rules"] = parts
    if plan.amounts is not None:
        facts["amounts"] = {name: getattr(plan.amounts, name) for name in ("hit", "alarm", "left", "rows")}
        facts["unit_costs"] = [
            {name: float(value) for name, value in vars(unit).items()} for unit in plan.terms.distinct
        ]
    return jsonable(facts | {"segments": segments})
