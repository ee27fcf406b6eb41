"""Verify a plan: compute it again from its data, and compare every number.

A plan stores its inputs (such as context, constraints, criterion, campaigns or limits) and its results. `verify`
computes the plan again from the same inputs and the given rows, and compares each stored number with the recomputed
number. Three outcomes are possible:

- The results are equal: the plan is verified.
- The results differ, but the stored choice is equally good. Among equally good choices, the order of models and
  segments determines the result. The counts and the cost of the stored choice are therefore computed from the rows. The
  plan is verified if these numbers agree, if the choice satisfies all constraints, and if no other choice is better.
  The tie is then reported.
- Otherwise the plan is refuted, with the stored and the recomputed values.

An InputError is raised if the plan cannot be computed again because the rows lack a model or a column, or because the
criterion is a function.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from rocscope._base.arrays import Array
from rocscope.core import CELLS, Context, OperatingPoint, Predictions, Result, jsonable, number
from rocscope.decisions import allocating, choosing, constraints, segment_costs
from rocscope.decisions.allocating import ActionAllocation
from rocscope.decisions.allocation import Allocation
from rocscope.decisions.apportionment import AllocationLimits, SegmentBound, SegmentShares
from rocscope.decisions.campaign import CampaignPlan, plan_campaign
from rocscope.decisions.decision import GIVEN_THRESHOLDS, Decision, Question
from rocscope.decisions.model_hull import hull_of
from rocscope.decisions.plan import Plan
from rocscope.decisions.segment_costs import RowAmounts, SegmentUnitCosts, UnitCosts
from rocscope.errors import ColumnError, InfeasibleError, InputError
from rocscope.geometry import hull as geometry
from rocscope.geometry.hull import Choices
from rocscope.sample import Samples, samples_of
from rocscope.segments.by_segment import levels_of
from rocscope.segments.levels import SegmentLevels

# Sums of floats differ by about 1e-12 between machines and orders of rows; a changed digit differs by more.
SAME = 1e-9
# Linear programs are solved to 9 digits, so two equally good solutions may differ by this.
SAME_PROGRAM = 1e-7
# Tolerance for costs of weighted rows, whose sums are rounded to float64 before they are compared.
ROUNDED = 1e-12


@dataclass(frozen=True)
class Check(Result):
    """One number or name of a plan, with the stored value and the value that is recomputed from the rows.

    Attributes
    ----------
    name : str
        Name of the number in the plan.
    stored, recomputed
        Stored value, and value that is recomputed from the rows.
    agrees : bool
        True if both values agree up to rounding, or if the stored value is in `interval`.
    interval : pair of floats, or None
        Recomputed interval, for a value that depends on random folds; None for all other values.
    """

    name: str
    stored: Any
    recomputed: Any
    agrees: bool
    interval: tuple[float, float] | None = None

    def __str__(self) -> str:
        stored, recomputed = (f"{it:.9g}" if isinstance(it, float) else it for it in (self.stored, self.recomputed))
        text = f"{self.name}: stored {stored}, recomputed {recomputed}"
        if self.interval is None:
            return text
        low, high = self.interval
        place = "in" if low <= self.stored <= high else "not in"
        return f"{text} from other folds; the stored value is {place} the interval [{low:.9g}, {high:.9g}]"


@dataclass(frozen=True, repr=False)
class Verification(Result):
    """Comparison of a stored plan with the plan that is computed again from its data; returned by `Plan.verify`.

    Attributes
    ----------
    n : float
        Number of rows, or the sum of their weights.
    checks : tuple of Check
        The stored and the recomputed value of each number and name of the plan.
    ties : tuple of str
        Other choices that are equally good.
    remarks : tuple of str
        Notes of the plan that cannot be checked with the rows, such as the condition that selected the rows. Remarks do
        not change the verdict.
    """

    _content = ("verified", "n", "refuted", "ties", "remarks")

    n: float
    checks: tuple[Check, ...]
    ties: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def verified(self) -> bool:
        """True if every stored value agrees with the recomputed value."""
        return all(checked.agrees for checked in self.checks)

    @property
    def refuted(self) -> tuple[str, ...]:
        """Texts with the stored and the recomputed value of each number that does not agree."""
        return tuple(str(checked) for checked in self.checks if not checked.agrees)

    def __repr__(self) -> str:
        tied = f", tied with {'; '.join(self.ties)}" if self.ties else ""
        verdict = f"refuted: {'; '.join(self.refuted)}"
        if self.verified:
            verdict = f"{len(self.checks)} numbers verified"
        return f"Verification({number(self.n)} rows, {verdict}{tied})"


def compare(stored: Any, recomputed: Any, name: str = "") -> Iterator[Check]:
    """Yield a check for each value in two nested structures of dicts and lists."""
    if isinstance(stored, dict) and isinstance(recomputed, dict):
        for key in dict.fromkeys([*stored, *recomputed]):
            yield from compare(stored.get(key), recomputed.get(key), f"{name}.{key}".removeprefix("."))
    elif isinstance(stored, list) and isinstance(recomputed, list) and len(stored) == len(recomputed):
        for place, pair in enumerate(zip(stored, recomputed, strict=True)):
            yield from compare(*pair, f"{name}[{place}]")
    else:
        # Thresholds are compared exactly, because even the next score is another threshold.
        exact = name.endswith("threshold")
        yield Check(name, stored, recomputed, stored == recomputed if exact else _equal(stored, recomputed))


def _equal(stored: Any, recomputed: Any, tolerance: float = SAME) -> bool:
    if type(stored) in (int, float) and type(recomputed) in (int, float):
        return math.isclose(stored, recomputed, rel_tol=tolerance, abs_tol=tolerance / 1000)
    return type(stored) is type(recomputed) and stored == recomputed


def verify(plan: Plan, data: Any) -> Verification:
    """Compute a plan again from data, and compare the numbers; see `Plan.verify`."""
    if isinstance(plan, Decision):
        return _verify_decision(plan, data)
    if isinstance(plan, CampaignPlan):
        return _verify_campaign(plan, data)
    assert isinstance(plan, Allocation | ActionAllocation)
    return _verify_allocation(plan, data)


def _samples_of(data: Any, models: Sequence[str]) -> Samples:
    """Return the data as samples; raise an error if a model is missing."""
    samples = samples_of(data, name="data")
    for model in models:
        if model not in samples:
            raise ColumnError("model", expected=f"one of {list(samples)}", got=repr(model))
    return samples


def _same_list(plan: Plan, again: Plan, rows: Predictions | None) -> list[Check]:
    """Return a check that both plans select the same rows in the same order."""
    if rows is None:
        return []
    stored, recomputed = plan.rows(rows), again.rows(rows)
    return [Check("rows selected", stored.size, recomputed.size, np.array_equal(stored, recomputed))]


def _on_new_cases(plan: Plan, again: Plan) -> list[Check]:
    """Return a check that the stored value on new cases lies in the recomputed interval.

    The two values need not be equal, because cross-validation folds depend on the order of the rows.
    """
    stored, recomputed = vars(plan).get("on_new_cases"), again.on_new_cases
    if stored is None or recomputed is None:
        return []
    agrees = stored.value in recomputed or _equal(stored.value, recomputed.value)
    # Without other folds the two values are equal, and the interval plays no part.
    interval = None if _equal(stored.value, recomputed.value) else (recomputed.low, recomputed.high)
    return [Check("value on new cases", stored.value, recomputed.value, agrees, interval)]


# Decisions

# Fields that belong to the question, and fields that are compared separately.
NOT_COMPARED = ("context", "point", "default_point", "notes")
# A file from a report may omit these fields; empty ones are not compared.
OPTIONAL = ("slope_interval", "lot_cost", "tied")


def _verify_decision(plan: Decision, data: Any) -> Verification:
    """Compute a decision again with all models and, if needed, with reversed decisions of the models."""
    samples, question = _samples_of(data, plan.models), _question(plan)
    if plan.context.columns:
        return _ask_again(plan, choosing.problem_of(samples, question))
    # A file does not state whether negated models were compared, so both possibilities are tried.
    negated = plan.negated or (plan.lot is not None and plan.lot.first.negated)
    first = _ask_again(plan, choosing.problem_of(hull_of(samples, negate=negated), question))
    if first.verified or negated:
        return first
    second = _ask_again(plan, choosing.problem_of(hull_of(samples, negate=True), question))
    return second if second.verified else first


def _question(plan: Decision) -> Question:
    """Return the question that a decision answers. For a threshold set by the user, omit constraints."""
    review = plan.offered_review if plan.review is None else plan.review.review
    question = Question(plan.context, population=plan.population, review=review)
    if review is not None or plan.criterion in GIVEN_THRESHOLDS:
        return question
    asked = None if plan.question is None else plan.question.criterion
    criterion = asked if callable(asked) else plan.criterion
    try:
        constraints.criterion_of(criterion)
    except InputError as error:
        expected = "the name of a criterion"
        hint = "call rocscope.choose with the function and compare the decisions, as a file cannot contain a function"
        raise InputError("criterion", expected=expected, got=repr(criterion), hint=hint) from error
    return replace(question, criterion=criterion, subject_to=_texts(plan), randomized=plan.lot is not None)


def _texts(plan: Decision) -> tuple[str, ...]:
    """Return the constraints of a decision as texts for `choose`.

    Reports write a capacity as "at most 5 of 100 cases", which is converted.
    """
    return tuple(re.sub(r"at most (\S+) of \S+ cases", r"cases <= \1", text) for text in plan.subject_to)


def _ask_again(plan: Decision, problem: choosing.ChoiceProblem) -> Verification:
    """Solve the optimisation problem again, and compare the result with the stored decision."""
    n = float(problem.hull.counts[plan.model].n)
    try:
        again = problem.decide()
    except InfeasibleError as error:
        return Verification(n, (Check("subject_to", list(plan.subject_to), str(error), agrees=False),))
    # Stored notes without a recomputed counterpart are remarks.
    missing = [note for note in again.notes if note not in plan.notes]
    remarks = tuple(note for note in plan.notes if note not in again.notes)
    notes = Check("notes", list(plan.notes), list(again.notes), agrees=not (missing and remarks))
    checks = [*compare(_decision_facts(plan), _decision_facts(again)), notes]
    if all(checked.agrees for checked in checks):
        checks += _on_new_cases(plan, again)
        if plan.lot is not None or plan.review is not None:
            checks += _same_list(plan, again, problem.hull.samples.shared_rows)
        return Verification(n, tuple(checks), again.tied, remarks)
    if plan.review is not None:
        return Verification(n, tuple(checks), remarks=remarks)

    # A threshold set by the user need not be the best, but it must satisfy its constraints. A review has none.
    if problem.question.review is None:
        problem = replace(problem, constraints=constraints.constraints_of(_texts(plan), plan.context))
    expected = _at_stored_choice(plan, again, problem)
    checks = [*compare(_decision_facts(plan), _decision_facts(expected)), notes, *_admissible(expected, problem)]
    ties: tuple[str, ...] = ()
    if plan.criterion not in GIVEN_THRESHOLDS and not _of_ranges(plan, problem):
        checks.append(_as_good(expected, again, problem))
        ties = again.tied
        if (again.model, again.point) != (expected.model, expected.point):
            ties = (choosing.in_words(again.model, again.point) if again.lot is None else again.lot.shares, *ties)
    result = Verification(n, tuple(checks), remarks=remarks)
    return replace(result, ties=ties) if result.verified else result


def _at_stored_choice(plan: Decision, again: Decision, problem: choosing.ChoiceProblem) -> Decision:
    """Return a decision with the stored choice, but with all numbers recomputed from the rows."""

    def counted(model: str, threshold: float, negated: bool = False) -> OperatingPoint:
        point = problem.hull.counts[model].at(threshold)
        return replace(point, tp=point.fn, fp=point.tn, fn=point.tp, tn=point.fp) if negated else point

    rule, point = None, counted(plan.model, plan.threshold, plan.negated)
    if plan.lot is not None:
        ends = [replace(end, point=counted(end.model, end.threshold, end.negated)) for end in plan.lot.ends]
        rule = replace(plan.lot, ends=tuple(ends))
        rule = replace(rule, at_most=problem.filled_share(*rule.rates))
        point = rule.point
    given = plan.criterion in GIVEN_THRESHOLDS
    reviewed = problem.question.review is not None
    # A file of an earlier version may list the models of ties without all their thresholds.
    complete = reviewed or (again.model, again.point) == (plan.model, point)
    choice = choosing.Choice(
        model=plan.model,
        point=point,
        slopes=None if given or again.slope_interval is None else _slopes(plan, point, problem),
        criterion_value=problem.value_at(point),
        negated=plan.negated,
        tied=plan.tied if given or _same_ties(plan, again, complete=complete) else again.tied,
        randomized_rule=rule,
    )
    expected = problem.decision(choice, ())
    if not reviewed:
        expected = replace(expected, subject_to=plan.subject_to)
    if given:
        expected = replace(expected, criterion=plan.criterion, criterion_value=math.nan)
    of_ranges = _of_ranges(plan, problem)
    if of_ranges:
        default = counted(plan.model, plan.default_point.threshold)
        expected = replace(expected, default_point=default, default_cost=float(plan.context.exact_cost(default)))
        if plan.best_cost_interval is not None:
            low, high = plan.best_cost_interval
            interval = min(low, again.hull_cost), max(high, again.hull_cost)
            expected = replace(expected, best_cost_interval=interval, hull_cost=high)
    # A report writes no reviews, so a plan with a review is complete.
    optional = () if reviewed else OPTIONAL
    silent = {name: getattr(plan, name) for name in optional if of_ranges or not getattr(plan, name)}
    return replace(expected, **silent)


def _same_ties(plan: Decision, again: Decision, *, complete: bool) -> bool:
    """Return True if the stored choice and its ties are the recomputed choice and its ties, in another order.

    If `complete` is False, ties may be missing from the stored choice.

    A tie is named by its model alone if it has the rates of the chosen point, and by its model and threshold otherwise.
    """
    label = f"not {again.model}" if again.negated else again.model
    equal = {choosing.in_words(label, again.point), *again.tied}
    stored = set(plan.tied)
    named = all(name in equal or any(tie.startswith(f"{name} at ") for tie in equal) for name in stored)
    return named and (not complete or len(stored) == len(plan.tied) == len(again.tied))


def _of_ranges(plan: Decision, problem: choosing.ChoiceProblem) -> bool:
    """Return True if the plan compared only the ends of score bins, and all thresholds are known now.

    The recomputed numbers must then equal the stored numbers, and the lowest cost must lie within its stored bounds.
    """
    compared = choosing.RANGE_ENDS_COMPARED in plan.notes or plan.best_cost_interval is not None
    return compared and problem.hull.holds_levels


def _slopes(plan: Decision, point: OperatingPoint, problem: choosing.ChoiceProblem) -> tuple[float, float] | None:
    """Return the range of slopes of the iso-performance line for which the stored choice is optimal."""
    for choices in problem.hull.every_choice:
        if (choices.model, choices.negated) == (plan.model, plan.negated):
            place = _places(choices, point)
            if place.size:
                return geometry.slopes_at(geometry.TangentPoint(choices, int(place[0])), problem.options)
    return None


def _places(choices: Choices, point: OperatingPoint) -> Array:
    """Return the indices of the thresholds with the same counts as a point."""
    tp, fp, _, _ = choices.cells
    return np.flatnonzero((tp == point.tp) & (fp == point.fp))


def _admissible(expected: Decision, problem: choosing.ChoiceProblem) -> Iterator[Check]:
    """Yield, for each constraint, a check that the stored choice satisfies the constraint."""
    cells: Any = tuple(np.array([getattr(expected.point, cell)]) for cell in CELLS)
    mix = problem.context.target_prevalence, problem.population
    for bound in problem.constraints:
        if bound.tested:
            kept = any(_places(option, expected.point).size for option in problem.options)
        elif expected.lot is None:
            kept = bound.admits(cells, *mix, len(problem.hull.every_choice)).item()
        else:
            tpr, fpr = expected.lot.rates
            line = bound.straight(*problem.mix)
            kept = line.tpr_weight * tpr + line.fpr_weight * fpr <= line.most + Fraction(ROUNDED)
        yield Check("constraint", str(bound), bound.value(cells, *mix).item(), bool(kept))


def _as_good(expected: Decision, again: Decision, problem: choosing.ChoiceProblem) -> Check:
    """Return a check that the stored choice is at least as good as the recomputed choice."""
    criterion, slack = problem.criterion, ROUNDED
    if problem.priced is not None and criterion.name == "min_cost":
        stored, best = Fraction(expected.expected_cost), Fraction(again.expected_cost)
    elif criterion.equivalent:
        context = criterion.equivalent(problem.context)
        stored, best = _exact_cost(context, expected), _exact_cost(context, again)
        # Costs of unweighted rows are compared exactly.
        if all(isinstance(count, int) for count in (again.default_point.n_pos, again.default_point.n_neg)):
            slack = 0.0
    else:
        values = (problem.value_at(decision.point) for decision in (expected, again))
        stored, best = (Fraction(-criterion.sign * value) for value in values)
    as_good = stored <= best + Fraction(slack) * max(1, abs(best))
    return Check("cost of the best choice", float(stored), float(best), bool(as_good))


def _exact_cost(context: Context, decision: Decision) -> Fraction:
    """Return the exact cost per case of a choice; for a randomised rule, the weighted mean over its thresholds."""
    if decision.lot is None:
        return context.exact_cost(decision.point)
    costs = (context.exact_cost(end.point) for end in decision.lot.ends)
    return sum((share * cost for share, cost in zip(decision.lot.weights, costs, strict=True)), Fraction(0))


def _decision_facts(decision: Decision) -> dict[str, Any]:
    """Return the numbers and names of a decision, without derived numbers."""
    names = [field.name for field in fields(decision) if field.compare and field.name not in NOT_COMPARED]
    facts = {name: getattr(decision, name) for name in ("model", "threshold", *names)}
    for name in ("point", "default_point"):
        facts[name] = {cell: getattr(getattr(decision, name), cell) for cell in CELLS}
    return jsonable(facts)


# Campaign plans


def _verify_campaign(plan: CampaignPlan, data: Any) -> Verification:
    samples = _samples_of(data, plan.models)
    # Of equally profitable models the first is taken, so use the order of the plan.
    ordered: Any = Samples({model: samples[model] for model in plan.models}, samples.rows, samples.kind)
    again = plan_campaign(ordered, dict(plan.campaigns), level=plan.level)
    stored, recomputed = plan.stored(), again.stored()
    checks: list[Check] = []
    for name in ("best", "worthwhile", "offers", "table", "rule", "depth"):
        checks += compare(stored[name], recomputed[name], name)
    if all(checked.agrees for checked in checks):
        checks += [*_same_list(plan, again, samples.shared_rows), *_on_new_cases(plan, again)]
    return Verification(float(samples[plan.best.model].points.n), tuple(checks))


# Allocations, of one action or of several

AnyAllocation = Allocation | ActionAllocation


def _verify_allocation(plan: AnyAllocation, data: Any) -> Verification:
    """Compute an allocation again with the stored unit costs, and compare the numbers.

    If the thresholds differ, compute the numbers of the stored thresholds from the rows and compare these numbers.
    """
    first = plan.allocations[0]
    rows = data.select(models=plan.models) if isinstance(data, Predictions) else None
    source = data if rows is None else rows
    if isinstance(plan, ActionAllocation):
        source = allocating.one_list(source)
    amounts = None if first.amounts is None else RowAmounts.of(source, first.amounts.given)
    if amounts is not None:
        source = amounts.doubled(source)
    limits = _limits(plan)
    points = levels_of(source, all_levels=limits.bounded)
    n = float(sum(map(np.sum, points.totals))) if amounts is None else amounts.rows
    if set(points.keys) != set(first.keys):
        stored, recomputed = sorted(map(str, first.keys)), sorted(map(str, points.keys))
        return Verification(n, (Check("segments", stored, recomputed, agrees=False),))
    costs = [_unit_costs(place, points, amounts) for place in plan.allocations]
    try:
        if isinstance(plan, ActionAllocation):
            by_action = segment_costs.cumulative_costs(costs, [plan.actions[name] for name in points.keys])
            again, _ = allocating.best_actions(points, by_action, limits, plan.campaigns)
        else:
            again, _ = allocating.best_allocation(points, costs[0], limits, amounts)
    except InfeasibleError as error:
        return Verification(n, (Check("subject_to", list(first.subject_to), str(error), agrees=False),))
    checks = [*compare(_allocation_facts(plan), _allocation_facts(again))]
    if all(checked.agrees for checked in checks):
        return Verification(n, (*checks, *_same_list(plan, again, rows)))

    levels = levels_of(source, all_levels=True)
    expected = _at_stored_thresholds(plan, again, levels, costs)
    checks = [*compare(_allocation_facts(plan), _allocation_facts(expected))]
    checks += _within_limits(expected, limits.segment_bounds(levels, costs[0]))
    checks += [_nested(place, after) for place, after in pairwise(plan.allocations)]
    # With fixed costs, a profit is the negative cost.
    as_good = expected.profit >= again.profit - SAME_PROGRAM * max(1.0, abs(again.profit))
    checks.append(Check("cost of the best plan", 0.0 - expected.profit, 0.0 - again.profit, as_good))
    result = Verification(n, tuple(checks))
    return replace(result, ties=("other thresholds in some segments",)) if result.verified else result


def _limits(plan: AnyAllocation) -> AllocationLimits:
    """Return the stored limit (a budget includes fixed costs) and the stored bounds on segments."""
    first, by_segment = plan.allocations[0], dict[Any, tuple[constraints.Constraint, ...]]()
    for segment, text in first.subject_to:
        by_segment[segment] = (*by_segment.get(segment, ()), *constraints.constraints_of(text))
    limit = plan.limit
    if limit is not None and plan.in_money:
        limit += first.terms.fixed
    return AllocationLimits(limit, plan.in_money, first.max_difference, by_segment)


def _unit_costs(plan: Allocation, points: SegmentLevels, amounts: RowAmounts | None) -> SegmentUnitCosts:
    """Return the stored unit costs in the order of the segments.

    If costs differ between rows, compute the unit costs from the rows.
    """
    if amounts is None:
        place = {name: i for i, name in enumerate(plan.keys)}
        everyone = (True,) * len(plan.terms.runs)  # the campaigns to run are selected again
        return replace(plan.terms, index=plan.terms.index[[place[name] for name in points.keys]], runs=everyone)
    # A campaign has a population, a context does not.
    population = None if amounts.is_campaign else float(plan.total(UnitCosts.cases, plan.totals))
    return segment_costs.costs_by_segment(amounts.uniform_costs, points.upper, population, budget=plan.in_money)


def _at_stored_thresholds(
    plan: AnyAllocation, again: AnyAllocation, levels: SegmentLevels, costs: list[SegmentUnitCosts]
) -> AnyAllocation:
    """Return an allocation with the stored thresholds, but with all numbers recomputed from the rows."""
    places = []
    for place, best, cost in zip(plan.allocations, again.allocations, costs, strict=True):
        shares = _shares(place, levels)
        cost = replace(cost, runs=place.terms.runs)
        limits = AllocationLimits(place.limit, best.in_money, best.max_difference, {})
        counted = allocating.allocation_of(levels, shares, cost, limits, best.amounts)
        places.append(replace(counted, marginal=best.marginal, subject_to=best.subject_to))
    total = math.fsum(place.cost for place in places)
    places[0] = replace(places[0], price=again.price + total - again.cost)
    if isinstance(again, ActionAllocation) and isinstance(plan, ActionAllocation):
        return replace(again, places=tuple(places), campaigns=plan.campaigns)
    return places[0]


def _shares(plan: Allocation, levels: SegmentLevels) -> SegmentShares:
    """Return the stored thresholds as indices of scores, with their shares; −1 means nobody."""
    segments, points, shares = [], [], []
    for name, segment in levels.keys.items():
        begin, end = levels.start[segment : segment + 2].tolist()
        for part in plan.rules(name):
            of_model = levels.model[begin:end] == levels.models.index(part.model)
            reached = np.flatnonzero(of_model & (levels.threshold[begin:end] >= part.threshold))
            segments.append(segment)
            points.append(begin + int(reached[-1]) if reached.size else -1)
            shares.append(part.share)
    return SegmentShares(np.array(segments), np.array(points), shares)


def _within_limits(plan: AnyAllocation, bounds: Sequence[SegmentBound]) -> Iterator[Check]:
    """Yield checks that the thresholds satisfy the capacity or budget, and the bounds on segments."""
    first = plan.allocations[0]
    if plan.limit is not None:
        limit = float(plan.limit)
        used = float(sum(place.total(UnitCosts.used, place.counts) for place in plan.allocations))
        yield Check("limit", limit, used, used <= limit + SAME_PROGRAM * max(1.0, limit))
    for rate, most in first.max_difference.items():
        difference = first.difference(rate)
        yield Check(f"max_difference.{rate}", most, difference, not difference > most + SAME_PROGRAM)
    if isinstance(plan, ActionAllocation):
        kept = plan.keeps_capacities(SAME_PROGRAM)
        yield Check("capacities of campaigns", True, kept, kept)
    for bound in bounds:
        kept = bound.holds(*first.counts, SAME_PROGRAM)
        yield Check(f"constraint {bound.text}", bound.most, bound.value(*first.counts), kept)


def _nested(place: Allocation, after: Allocation) -> Check:
    """Return a check that, at each score, the later action gets at most the share of cases of the earlier action."""
    # The share of the later action changes only at its own thresholds.
    excess = Fraction(0)
    for name in after.keys:
        earlier, later = place.rules(name), after.rules(name)
        for score in (part.threshold for part in later):
            shares = (sum(part.share for part in parts if part.threshold <= score) for parts in (later, earlier))
            excess = max(excess, next(shares) - next(shares))
    return Check("share with the later of two actions alone", 0.0, float(excess), excess <= SAME_PROGRAM)


def _allocation_facts(plan: AnyAllocation) -> dict[str, Any]:
    """Return the numbers and names of an allocation, by segment."""
    if isinstance(plan, ActionAllocation):
        facts: dict[str, Any] = {"cost": plan.cost, "marginal": plan.marginal}
        facts["actions"] = {str(name): actions for name, actions in plan.actions.items()}
        facts["places"] = [_allocation_facts(place) for place in plan.allocations]
        return jsonable(facts)
    facts = plan.to_dict()
    segments = dict(zip(map(str, plan.keys), facts["segments"], strict=True))
    for name, key in zip(segments, plan.keys, strict=True):
        segments[name]["counts"] = [{cell: getattr(end.point, cell) for cell in CELLS} for end in plan.rule(key).ends]
    if plan.amounts is not None:
        facts["amounts"] = plan.amounts.stored()
        facts["unit_costs"] = [
            {name: float(value) for name, value in vars(unit).items()} for unit in plan.terms.distinct
        ]
    return jsonable(facts | {"segments": segments})
