"""allocate: divide one capacity or budget among segments."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.contract import answering
from rocscope.core.context import Context, nearest
from rocscope.core.predictions import Predictions
from rocscope.curves.profit_curve import Campaign
from rocscope.decisions.allocation.action_allocation import ActionAllocation
from rocscope.decisions.allocation.action_steps import increments, spread_actions, terms_of_actions
from rocscope.decisions.allocation.allocation import Allocation
from rocscope.decisions.allocation.bounded_actions import bounded_actions
from rocscope.decisions.allocation.parity import Floor, SegmentShares, bounded, differences_of, floors_of
from rocscope.decisions.allocation.refits import AllocationSource
from rocscope.decisions.allocation.row_amounts import RowAmounts
from rocscope.decisions.allocation.segment_costs import Given, SegmentUnitCosts, limit_of, spread
from rocscope.decisions.constraints import constraints_of
from rocscope.errors import InputError
from rocscope.sample import Models
from rocscope.segments.data import levels_of
from rocscope.segments.levels import SegmentLevels

_SAME = 1e-12  # of rates: rounding alone


@answering
def allocate(
    segments: Predictions | Mapping[Hashable, Models],
    context: Context | Campaign | Mapping[Hashable, Context | Campaign] | None = None,
    *,
    capacity: float | None = None,
    budget: float | None = None,
    max_difference: Mapping[str, float] | str | None = None,
    subject_to: Any = (),
    population: float | None = None,
    actions: Mapping[str, Any] | None = None,
) -> Allocation | ActionAllocation:
    """Divide one capacity or budget among segments at the lowest total cost.

    Parameters
    ----------
    segments : Predictions with segments, SegmentedCounts, or mapping from segment to data of one or several models
        The segments that share the budget: segments, regions, models, campaigns. Of each model as accepted by other
        functions; see `rocscope.sample`. Where a segment has several models, each of them decides where it is best.
        Segments of a mapping may have models of their own.
    context : Context or Campaign, or mapping from segment to one, optional
        Costs and class mix, by default equal costs. One for all has the class mix of all segments together; a Campaign
        for each has its own population. One for all may name columns of the rows as costs, or as benefit.
    capacity : float, optional
        Largest number of positive predictions, in all segments; by default that of the Campaign.
    budget : float, optional
        Money for fixed and unit costs of campaigns.
    max_difference : mapping from rate to number, or str, optional
        How far any two segments may differ, as in ``{"tpr": 0.05}``: in tpr (``"equal_opportunity"``), in fpr, in both
        (``"equalized_odds"``) or in depth (``"demographic_parity"``). A text alone means not at all.
    subject_to : constraints, or mapping from segment to constraints, optional
        What each segment keeps by itself, such as ``"tpr >= .3"``, ``"precision >= .2"`` or ``"cases >= 50"``.
    population : float, optional
        Number of cases that it will be used on; by default those of the sample.
    actions : mapping from name to context, optional
        Instead of `context`, several actions such as a letter and a call: a Context or Campaign for each, or a mapping
        from segment to one. Each case gets one of them or none.

    Returns
    -------
    Allocation or ActionAllocation
        The threshold or randomised rule of each segment (and action), with total cost and marginal value.

    Raises
    ------
    InputError
        If false alarms are rewarded, both limits are given, or there is no unit cost to a budget; if a segment has
        several models, beside several actions.
    InfeasibleError
        If no allocation within the limit keeps the constraints of all segments; the message says what they take.
    PairingError
        If the models of a segment were not counted on the same rows.

    Notes
    -----
    The optimum over all rules, also randomised ones, of all models in all segments. Without bounds on differences the
    steps of all hulls are taken in the order of what they gain for what they take, until the budget ends: at one slope
    in all segments, and within one step at random. Exact, after the ranking in O(v log v) for the v vertices of all
    hulls.

    With such bounds HiGHS solves a linear program over the vertices, upper and lower, of all segments, to 9 digits;
    where the allocation without them keeps them, that is taken. Segments without positives have no tpr, those without
    negatives no fpr, and are bound by none. At equalised odds up to three thresholds decide shares of one segment.

    Several actions are a multiple-choice knapsack over the steps of the upper hulls, solved in fractions. Bounds on
    differences and segments are then on the cases that get any action, in a linear program over all scores.

    It is the best in this sample: in new cases it costs more, and segments differ more.

    References
    ----------
    Hardt, Price & Srebro 2016, "Equality of opportunity in supervised learning", NeurIPS; fairlearn's
    ``ThresholdOptimizer``, which searches a grid of rates and knows no budget.

    Examples
    --------
    Four contacts in the north find three positives; the last one is a case of the tie in the south, drawn at random:

    >>> from rocscope import ThresholdCounts
    >>> north, south = ThresholdCounts([2, 1], [3, 1], [1, 3]), ThresholdCounts([2, 1], [1, 1], [1, 5])
    >>> campaign = Campaign(population=16, unit_cost=1, unit_benefit=4)
    >>> allocation = allocate({"n": north, "s": south}, campaign, capacity=5)
    >>> allocation
    Allocation(2 segments, 5 cases, cost=-9, one case more saves 1)
    >>> [str(rule) for rule in allocation.rules("s")], allocation.profit
    (['0.5 × nobody', '0.5 × score≥2 of score'], 9.0)

    The south is to have at least two contacts:

    >>> allocate({"n": north, "s": south}, campaign, capacity=5, subject_to={"s": "cases >= 2"})
    Allocation(2 segments, 5 cases, cost=-8, price of bounds=1)

    Both segments are to find the same share of their positives:

    >>> allocate({"n": north, "s": south}, campaign, capacity=5, max_difference="equal_opportunity")
    Allocation(2 segments, 5 cases, cost=-7.46154, price of bounds=1.53846)

    A call costs more than a letter, and brings more:

    >>> actions = {"letter": campaign, "call": Campaign(population=16, unit_cost=3, unit_benefit=10)}
    >>> allocate({"n": north, "s": south}, actions=actions, budget=13)
    ActionAllocation(2 segments, 4 × call, 1 × letter, cost=-19, one unit more saves 1)
    """
    if actions is not None and context is not None:
        raise InputError("actions", expected="none beside context", got="both")
    if population is not None:
        check.check_number(population, "population", "a number of cases above 0", above=0)
    if actions is None:
        make = partial(_allocate_one, context, capacity, budget, max_difference, subject_to)
    else:
        make = partial(_allocate_actions, actions, capacity, budget, max_difference, subject_to)
    plan, marginal = make(population, segments)
    amounts = plan.amounts if isinstance(plan, Allocation) else None
    contexts = [context] if actions is None else actions.values()
    if population is None and not any(Given(each, None).campaigns for each in contexts):
        # that of the sample, whatever part of it is allocated to
        population = float(sum(map(np.sum, plan.totals))) if amounts is None else amounts.rows
    again = partial(make, population)
    return replace(plan, source=AllocationSource(segments, lambda data: again(data)[0], marginal))


def _allocate_one(
    context: Any,
    capacity: float | None,
    budget: float | None,
    max_difference: Any,
    subject_to: Any,
    population: float | None,
    segments: Any,
) -> tuple[Allocation, float]:
    """Return an allocation of one action, and the marginal value of the limit without bounds on segments."""
    differences, constrained = differences_of(max_difference), _constrains(subject_to)
    amounts = RowAmounts.of(segments, context)
    if amounts is not None:
        _require_cases(differences, _asked(subject_to) if constrained else ())
        segments, context = amounts.doubled(segments), amounts.even
        if population is None and isinstance(context, Context):
            population = amounts.rows
    given = Given(context, population)
    points = levels_of(segments, all_levels=bool(differences) or constrained)
    terms = given.terms(points.upper, budget=budget is not None)
    limit = limit_of(given, capacity, budget, terms)
    floors = floors_of(subject_to, points, terms) if constrained else []
    found = spread(points.upper, terms, limit)
    taken = SegmentShares.of_steps(points.upper, found.steps, found.drawn, found.share)
    free = _allocation(points.upper, taken, terms, limit, in_money=budget is not None)
    asked = {"max_difference": differences, "subject_to": _asked(subject_to)}
    free = replace(free, marginal=found.marginal, amounts=amounts, **asked)
    if _keeps(free, differences, floors):
        return free, found.marginal
    outline, parts = bounded(points, terms, limit, differences, floors)
    best = _allocation(outline, parts, terms, limit, in_money=budget is not None)
    price = best.cost - free.cost
    return replace(best, price=price, marginal=np.nan, amounts=amounts, **asked), found.marginal


def _allocate_actions(
    actions: Any,
    capacity: float | None,
    budget: float | None,
    max_difference: Any,
    subject_to: Any,
    population: float | None,
    segments: Any,
) -> tuple[ActionAllocation, float]:
    """Return an allocation of several actions, and the marginal value of the limit without bounds on segments."""
    differences, constrained = differences_of(max_difference), _constrains(subject_to)
    points = levels_of(segments, all_levels=bool(differences) or constrained)
    if len(set(zip(points.segment.tolist(), points.model.tolist(), strict=True))) > points.n_pos.size:
        hint = "choose one of them first, with rocscope.choose"
        expected = "one model in each, where there are several actions"
        raise InputError("segments", expected=expected, got="several", hint=hint)
    hulls = points.upper
    terms = terms_of_actions(actions, hulls, population, budget=budget is not None)
    changes, in_money = increments(terms), budget is not None
    limit = limit_of(Given(Context(), None), capacity, budget, changes[0])
    floors = floors_of(subject_to, points, changes[0]) if constrained else []
    found = spread_actions(hulls, terms, limit)
    order = {name: tuple(own) for name, own in zip(hulls.keys, terms, strict=True)}
    bounds: Any = {"max_difference": differences, "subject_to": _asked(subject_to)}

    def plan(levels: SegmentLevels, parts: list[SegmentShares], marginal: float) -> ActionAllocation:
        places = [
            replace(_allocation(levels, own, each, None, in_money=False), marginal=np.nan)
            for own, each in zip(parts, changes, strict=True)
        ]
        places[0] = replace(places[0], limit=None if in_money else limit, **bounds)
        return ActionAllocation(order, tuple(places), marginal, limit, in_money)

    marginal = nearest(found.marginal)
    free = plan(hulls, [found.parts(hulls, i) for i in range(len(changes))], marginal)
    if _keeps(free.places[0], differences, floors):
        return free, marginal
    best = plan(points, bounded_actions(points, changes, limit, differences, floors), np.nan)
    price = best.cost - free.cost
    return replace(best, places=(replace(best.places[0], price=price), *best.places[1:])), marginal


def _constrains(subject_to: Any) -> bool:
    """Whether there are constraints at all; an empty text or collection has none."""
    return not (subject_to is None or (isinstance(subject_to, str | Sequence | Mapping) and not subject_to))


def _keeps(plan: Allocation, differences: Mapping[str, float], floors: Sequence[Floor]) -> bool:
    """Whether an allocation without bounds on segments happens to keep them."""
    alike = not any(plan.difference(rate) > most + _SAME for rate, most in differences.items())
    return alike and all(floor.kept(*plan.counts) for floor in floors)


def _require_cases(differences: Mapping[str, float], floors: Sequence[tuple[Hashable, str]]) -> None:
    """Raise for bounds on rates of the classes, which doubled rows do not have."""
    bounds = [each for own in floors for each in constraints_of(own[1])]
    strange = [each for each in differences if each != "depth"]
    strange += [str(each) for each in bounds if each.quantity not in ("cases", "depth")]
    if strange:
        expected = "bounds on cases and depth, where costs are columns"
        raise InputError("subject_to and max_difference", expected=expected, got=strange[0])


def _asked(subject_to: Any) -> tuple[tuple[Hashable, str], ...]:
    """Return the constraints as texts, each with its segment; None for all."""
    named = subject_to.items() if isinstance(subject_to, Mapping) else [(None, subject_to)]
    return tuple((name, str(each)) for name, own in named for each in constraints_of(own))


def _allocation(
    points: SegmentLevels, parts: SegmentShares, terms: SegmentUnitCosts, limit: Fraction | None, *, in_money: bool
) -> Allocation:
    """Return an allocation with its exact cost, rounded once."""
    left = terms.total("left", np.arange(points.n_pos.size), points.n_pos, points.n_neg)
    whole = np.array([share == 1 for share in parts.share])
    sure = (parts.point >= 0) & whole
    at = parts.point[sure]
    gain = terms.total("gain", parts.segment[sure], points.tp[at], points.fp[at])
    for i in np.flatnonzero((parts.point >= 0) & ~whole).tolist():
        tp, fp = (Fraction(axis[parts.point[i]].item()) for axis in (points.tp, points.fp))
        gain += parts.share[i] * terms.of(int(parts.segment[i])).gain(tp, fp)
    return Allocation(points, parts, terms, nearest(left - gain), 0.0, 0.0, float(terms.fixed), limit, in_money, {})
