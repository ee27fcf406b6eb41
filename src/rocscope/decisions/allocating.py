"""Divide one capacity or budget among segments, for one action or for several actions.

`allocate` returns an `Allocation` for one action, or an `ActionAllocation` for several actions. Several actions are
sorted by their stakes: the gain from acting on a positive plus the loss from acting on a negative. Each action is
allocated to some of the cases that got the previous action.

The greedy optimum without bounds on segments is computed first. If this optimum satisfies the bounds, it is the result.
Otherwise a linear program is solved. The price of the bounds is the cost of its solution minus the cost of the greedy
optimum. The methods are in `rocscope.decisions.apportionment`.
"""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import compress, repeat
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array, Indices
from rocscope._base.contract import contract
from rocscope._base.grouping import listed
from rocscope._base.hashed_order import hashes_of
from rocscope._base.json_format import Fields, Format
from rocscope.core import Campaign, Context, Predictions, ThresholdCounts, jsonable, number, require_kinds
from rocscope.core.context import nearest
from rocscope.decisions import allocation, apportionment, segment_costs
from rocscope.decisions.allocation import Allocation, AllocationSource, ListedCases, SegmentPlan
from rocscope.decisions.apportionment import ActionCosts, AllocationLimits, SegmentShares
from rocscope.decisions.plan import Note, notes_on_capacity
from rocscope.decisions.randomized import NEAR, UNIT
from rocscope.decisions.segment_costs import ActionCampaign, RowAmounts, SegmentUnitCosts, UnitCosts, campaigns_of
from rocscope.errors import InputError
from rocscope.sample import Models
from rocscope.segments.by_segment import levels_of
from rocscope.segments.levels import SegmentLevels

_FORMAT = Format("rocscope.actions", 1, "a plan of several actions", "call rocscope.allocate(actions=…) again")

# Name of the segment for data without segments.
ONE_LIST = "all"

# Relative tolerance for rounding errors in a difference of rates.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class ActionAllocation(SegmentPlan):
    """One threshold per segment and action, jointly optimal under one capacity or budget.

    ``rocscope.allocate(…, actions=…)`` returns these plans.

    Attributes
    ----------
    actions : dict from segment to names
        Names of the actions in increasing order of stakes (gain from a positive plus loss from a negative). The cases
        with the highest scores get the last action.
    places : tuple of Allocation
        One allocation per position in the order of actions. Allocation i contains the cases that get the i-th action of
        their segment or a later action. Its costs are the cost differences between the i-th action and the previous
        action. Only the first allocation contains the bounds on segments.
    marginal : float
        Saving if the capacity is one case larger, or the budget one unit larger; NaN with bounds on segments.
    limit : Fraction or None
        The capacity, or the budget minus fixed costs.
    in_money : bool
        True if the limit is a budget.
    campaigns : tuple of ActionCampaign
        Campaigns that have a fixed cost or a capacity. `ActionCampaign.runs` is True if the campaign is run.
    source : AllocationSource or None
        The data of the plan; None if the plan was read from a file.

    Examples
    --------
    >>> from rocscope import Campaign, ThresholdCounts, allocate
    >>> north, south = ThresholdCounts([2, 1], [4, 1], [1, 9]), ThresholdCounts([2, 1], [2, 1], [2, 10])
    >>> actions = {"letter": Campaign(30, unit_cost=1, unit_benefit=4), "call": Campaign(30, 5, 12)}
    >>> plan = allocate({"n": north, "s": south}, actions=actions, budget=29)
    >>> plan
    ActionAllocation(2 segments, 5 × call, 4 × letter, cost=-27)
    >>> plan.assign([1, 2, 1, 1, 1, 2, 1], segment=list("nnnssss")).tolist()
    ['', 'call', '', '', '', 'letter', '']
    """

    file_format = _FORMAT
    several_actions = True

    actions: dict[Hashable, tuple[str, ...]]
    places: tuple[Allocation, ...]
    marginal: float
    limit: Fraction | None
    in_money: bool
    campaigns: tuple[ActionCampaign, ...] = ()
    source: AllocationSource | None = None

    @property
    def allocations(self) -> tuple[Allocation, ...]:
        """One allocation per position in the order of actions; an alias of `places`."""
        return self.places

    @property
    def cost(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Total expected cost of all cases."""
        return math.fsum(place.cost for place in self.places)

    @property
    def price(self) -> float:
        """Cost of the bounds on segments: total cost minus the cost of the best plan without these bounds."""
        return self.places[0].price

    @property
    def left_out(self) -> tuple[str, ...]:
        """Labels of the campaigns that are not run, because their gain does not cover their fixed cost."""
        return tuple(campaign.label for campaign in self.campaigns if not campaign.runs)

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on capacities that exceed their number of cases or are far below it."""
        notes = super().notes
        for campaign in self.campaigns:
            if campaign.capacity is not None:
                covered = campaign.places(self.actions) >= 0
                notes += notes_on_capacity(float(campaign.capacity), float(self.population[covered].sum()))
        return tuple(dict.fromkeys(notes))

    def keeps_capacities(self, tolerance: float = _ROUNDING) -> bool:
        """Return True if no campaign has more cases than its capacity, up to a relative tolerance.

        Parameters
        ----------
        tolerance : float
            Largest allowed excess, as a share of the capacity.
        """
        for campaign in self.campaigns:
            covered = campaign.places(self.actions) >= 0
            cases = float(self.cases[campaign.action][covered].sum())
            if campaign.capacity is not None and cases > float(campaign.capacity) * (1 + tolerance):
                return False
        return True

    @cached_property
    def cases(self) -> dict[str, Array]:
        """Dict from action name to the expected number of cases with this action in each segment."""
        orders = list(self.actions.values())
        # No action follows the last one.
        reached = np.array([*(place.cases for place in self.places), np.zeros(len(orders))])
        of_place = reached[:-1] - reached[1:]
        cases = {}
        for name in sorted(orders[0]):
            places = [order.index(name) for order in orders]
            cases[name] = of_place[places, np.arange(len(orders))]
        return cases

    @property
    def needs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(model for place in self.places for model in place.needs))

    @property
    def by_segment(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.places[0].keys != (ONE_LIST,)

    def assign(self, scores: Any, ids: Any = None, *, segment: Any = None, random_state: Any = 0) -> NDArray[np.str_]:
        """Return the action for each case; an empty string for cases without an action.

        Parameters
        ----------
        scores, ids, segment, random_state : see `Allocation.predict`

        Returns
        -------
        array of n strings

        Notes
        -----
        The number of cases that get any action is determined as in `Allocation.predict`. The cases for each later
        action are selected among the cases for the previous action. Their number is the planned share of the segment,
        rounded down. The number is rounded up if the previous action would otherwise get more cases than planned.

        Examples
        --------
        Half of the cases have the score 2. A call to such a case costs 3 and earns 3/4 · 10, which is more than a
        letter earns:

        >>> from rocscope import Campaign, ThresholdCounts, allocate
        >>> actions = {"letter": Campaign(8, unit_cost=1, unit_benefit=4), "call": Campaign(8, 3, 10)}
        >>> allocate(ThresholdCounts([2, 1], [3, 1], [1, 3]), actions=actions).assign([2, 1, 1, 2]).tolist()
        ['call', '', '', 'call']
        """
        cases = self.places[0].listed(scores, segment)
        hashes = hashes_of(ids, cases.code.size, random_state)
        place_of_row, rows = np.full(cases.code.size, -1), np.arange(cases.code.size)
        for place, planned in zip(self.places, self._numbers(cases), strict=True):
            candidates = cases.take(rows)
            most = np.minimum(planned, candidates.sizes)
            rows = rows[place.drawn(candidates, most, allocation.hashes_within(hashes, rows))]
            place_of_row[rows] += 1
        order = np.array([(*names, "") for names in self.actions.values()])  # index −1 means no action
        return order[cases.segments[cases.code], place_of_row]

    def _numbers(self, cases: ListedCases) -> list[Array]:
        """Return, for each action, the number of cases per segment that get this action or a later action."""
        first, *later = self.places
        numbers, planned = [first.numbers(cases, down=self.in_money)], first.planned(cases)
        for place in later:
            number_of_place, planned_of_place = place.numbers(cases, down=True), place.planned(cases)
            if not self.in_money:
                # The previous action gets the difference of the two numbers. If this exceeds its plan by a case or
                # more, this action gets one case more.
                for i, before in enumerate(numbers[-1].tolist()):
                    got = (before - int(number_of_place[i])) * UNIT
                    if got - (planned[i] - planned_of_place[i]) >= UNIT - NEAR:
                        number_of_place[i] += 1
            numbers.append(number_of_place)
            planned = planned_of_place
        return numbers

    def rows(self, scores: Any, ids: Any = None, *, segment: Any = None, random_state: Any = 0) -> Indices:
        """Return the indices of the rows that get an action, in the order of the input.

        Parameters
        ----------
        scores, ids, segment, random_state : see `Plan.select`

        Examples
        --------
        >>> from rocscope import Campaign, ThresholdCounts, allocate
        >>> actions = {"letter": Campaign(8, unit_cost=1, unit_benefit=2), "call": Campaign(8, 3, 5)}
        >>> plan = allocate(ThresholdCounts([2, 1], [3, 1], [1, 3]), actions=actions)
        >>> plan.assign([1, 2, 2, 1]).tolist(), plan.rows([1, 2, 2, 1]).tolist()
        (['', 'call', 'call', ''], [1, 2])
        """
        return np.flatnonzero(self.assign(scores, ids, segment=segment, random_state=random_state) != "")

    def gains(self, positive: Array, amounts: Any, segment: Any = None, *, action: Any = ()) -> Array:
        """Return the gain from each row's action, relative to no action; 0 for rows without an action.

        Parameters
        ----------
        positive : array of n booleans
            True for the positive cases.
        amounts : mapping from column name to array of n numbers
            Costs that differ between rows.
        segment : array of n segments, optional
            Segment of each case.
        action : array of n actions
            Action for each case. An empty string means no action.

        Raises
        ------
        InputError
            If an action is unknown.
        """
        given = np.asarray(action).tolist()
        segment = segment if self.by_segment else np.repeat(self.names, len(given))
        unknown = {*given} - {"", *self.cases}
        if unknown:
            expected, got = check.listing(list(self.cases)), check.listing(sorted(unknown))
            raise InputError("acted", expected=expected, got=got)
        orders = {name: ("", *order) for name, order in self.actions.items()}
        rank = np.array([orders[name].index(own) for name, own in zip(listed(segment), given, strict=True)])
        gain = np.zeros(rank.size)
        for i, place in enumerate(self.places):
            gain += (rank > i) * place.gains(positive, amounts, segment)
        return gain

    @property
    def _planned(self) -> str:
        return ", ".join(f"{number(round(float(cases.sum()), 9))} × {name}" for name, cases in self.cases.items())

    @classmethod
    def of_fields(cls, fields: Fields) -> Self:
        places = tuple(Allocation.of_fields(place) for place in fields.objects("places"))
        orders = [segment.texts("actions") for segment in fields.objects("segments")]
        if not places or any(place.keys != places[0].keys or len(place.keys) != len(orders) for place in places):
            fields.refuse("places", "allocations with the same segments")
        if any({*order} != {*orders[0]} or len({*order}) != len(places) for order in orders):
            fields.refuse("segments", f"{len(places)} different actions in each segment")
        limit = fields.optional("limit", fields.fraction)
        in_money = fields.take("in_money", bool, "true or false")
        actions = dict(zip(places[0].keys, orders, strict=True))
        campaigns = []
        for stored in fields.objects("campaigns") if "campaigns" in fields.content else ():
            segment = stored.optional("segment", partial(allocation.segment_name, stored))
            amounts = stored.fraction("fixed_cost"), stored.optional("capacity", stored.fraction)
            runs = stored.take("runs", bool, "true or false")
            campaign = ActionCampaign(stored.text("action"), segment, *amounts, runs)
            if campaign.action not in orders[0] or campaign.segment not in (None, *actions):
                fields.refuse("campaigns", "actions and segments of the plan")
            campaigns.append(campaign)
        return cls(actions, places, fields.number_or_nan("marginal"), limit, in_money, tuple(campaigns))

    def to_dict(self) -> dict[str, Any]:
        """Return the cost, the limit and the actions of all segments as JSON-compatible data.

        Examples
        --------
        >>> from rocscope import Campaign, ThresholdCounts, allocate
        >>> actions = {"letter": Campaign(8, unit_cost=1, unit_benefit=2), "call": Campaign(8, 3, 5)}
        >>> allocate(ThresholdCounts([2, 1], [3, 1], [1, 3]), actions=actions).to_dict()["segments"]
        [{'segment': 'all', 'actions': ['letter', 'call'], 'cases': {'letter': 0.0, 'call': 4.0}}]
        """
        content: dict[str, Any] = {name: getattr(self, name) for name in ("cost", "profit", "marginal", "in_money")}
        content |= {"limit": self.limit, "segments": []}
        if self.campaigns:
            content["campaigns"] = [vars(campaign) for campaign in self.campaigns]
        for i, order in enumerate(self.actions.values()):
            cases = {action: self.cases[action][i] for action in order}
            segment = allocation.plain(self.names, i)
            content["segments"].append({"segment": segment, "actions": list(order), "cases": cases})
        return jsonable(content)

    def stored(self) -> dict[str, Any]:
        return self.to_dict() | {"places": [place.stored() for place in self.places]}

    @property
    def _fixed_costs_in_words(self) -> str:
        paid = [campaign for campaign in self.campaigns if campaign.runs and campaign.fixed_cost]
        runs = [f"{campaign.label} {float(campaign.fixed_cost):.6g}" for campaign in paid]
        return f"{super()._fixed_costs_in_words} ({' + '.join(runs)})"


@contract
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

    Each segment gets a threshold or a randomised rule; with several actions, one for each action.

    Parameters
    ----------
    segments : Predictions with segments, SegmentedCounts, or mapping from segment to data of one or several models
        Data of the segments that share the capacity or budget, such as regions or branches; see `rocscope.sample`. If a
        segment has several models, its thresholds may come from different models. In a mapping, segments may have
        different models.
    context : Context, Campaign, or mapping from segment to Context or Campaign, optional
        Costs and prevalence. By default, equal costs and the prevalence of each segment are used. A single Context or
        Campaign applies to all segments together; its costs or benefits may be names of columns in the rows. In a
        mapping, the population of each Campaign is the population of its segment.
    capacity : float, optional
        Largest total number of positive predictions over all segments. By default, the capacity of the Campaign.
    budget : float, optional
        Largest total cost of the campaigns: fixed costs plus unit costs. A campaign whose gain does not cover its fixed
        cost is not run.
    max_difference : mapping from rate to number, or str, optional
        Largest allowed difference of a rate between any two segments, as in ``{"tpr": 0.05}``. The names are ``"tpr"``
        or ``"equal_opportunity"``, ``"fpr"``, ``"equalized_odds"`` (tpr and fpr), and ``"depth"`` or
        ``"demographic_parity"``. A name without a number means a difference of 0.
    subject_to : constraints, or mapping from segment to constraints, optional
        Constraints on each segment, such as ``"tpr >= .3"``, ``"precision >= .2"`` or ``"cases >= 50"``.
    population : float, optional
        Number of cases on which the allocation will be used. By default, the number of cases in the sample.
    actions : mapping from name to context, optional
        Several actions, such as a letter and a call; replaces `context`. The value of each action is a Context, a
        Campaign, or a mapping from segment to Context or Campaign. Each case gets at most one action. Campaigns may
        have fixed costs and capacities; the most profitable set of campaigns is run. Data without segments are treated
        as one segment named "all".

    Returns
    -------
    Allocation or ActionAllocation
        The threshold or randomised rule of each segment, with the total cost and the saving from one more unit of the
        capacity or budget. With several actions, an ActionAllocation with rules for each action.

    Raises
    ------
    InputError
        If false alarms have a negative cost, if both a capacity and a budget are given, or if a budget is given without
        unit costs. Also if a segment has several models and there are several actions.
    InfeasibleError
        If no allocation within the capacity or budget satisfies the constraints of all segments. The message gives the
        smallest sufficient capacity or budget, if there is one.
    PairingError
        If the models of a segment were not counted on the same rows.

    See Also
    --------
    choose, plan_campaign, load_plan

    Notes
    -----
    The result is optimal among all rules, including randomised rules, of all models in all segments. In each segment, a
    step from one vertex of the ROC convex hull to the next selects more cases. Without bounds on segments, the steps of
    all segments are sorted by gain per case (or per unit of the budget), and taken until the limit is reached. Part of
    the last step may be taken, by a randomised rule. This method is exact. After ranking, it takes O(v log v) time,
    where v is the number of vertices of all hulls.

    If this allocation violates bounds on differences, HiGHS solves a linear program over the upper and lower hull
    vertices of all segments, to 9 digits. A bound on tpr does not apply to segments without positives. A bound on fpr
    does not apply to segments without negatives. With equalised odds, a segment may have a randomised rule with up to
    three thresholds.

    Each campaign that is run has a fixed cost. A campaign applies to all segments or to one segment. HiGHS selects the
    campaigns to run by solving a mixed-integer program. The allocation among the selected campaigns is exact. The
    capacity of a campaign for one segment is a constraint on this segment.

    With several actions, the allocation is a multiple-choice knapsack problem over the steps of the upper hulls, solved
    in exact fractions. Bounds on differences and on segments apply to the cases that get any action, and need a linear
    program over all scores. The campaigns to run are selected by a mixed-integer program. If a campaign would exceed
    its capacity, a linear program over the steps replaces the knapsack algorithm.

    The allocation is chosen on this sample. On new cases, expect a higher cost and larger differences between segments.
    A bound on differences holds only in this sample; the repr of the result shows a 95% confidence interval of the
    difference on new cases.

    References
    ----------
    Hardt, Price & Srebro 2016, "Equality of opportunity in supervised learning", NeurIPS; fairlearn's
    ``ThresholdOptimizer``, which searches a grid of rates and does not support a budget.

    Examples
    --------
    Four contacts in the north reach three positives. The fifth contact is drawn at random from two tied cases in the
    south:

    >>> from rocscope import ThresholdCounts
    >>> north, south = ThresholdCounts([2, 1], [3, 1], [1, 3]), ThresholdCounts([2, 1], [1, 1], [1, 5])
    >>> campaign = Campaign(population=16, unit_cost=1, unit_benefit=4)
    >>> allocation = allocate({"n": north, "s": south}, campaign, capacity=5)
    >>> allocation
    Allocation(2 segments, 5 cases, cost=-9, one case more saves 1)
    >>> [str(rule) for rule in allocation.rules("s")], allocation.profit
    (['0.5 × nobody', '0.5 × score≥2 of score'], 9.0)

    Require at least two contacts in the south:

    >>> allocate({"n": north, "s": south}, campaign, capacity=5, subject_to={"s": "cases >= 2"})
    Allocation(2 segments, 5 cases, cost=-8, price of bounds=1)

    Require the same true-positive rate in both segments:

    >>> allocate({"n": north, "s": south}, campaign, capacity=5, max_difference="equal_opportunity")
    Allocation(2 segments, 5 cases, cost=-7.46154, price of bounds=1.53846,
    tpr difference on new cases: 95% CI [0, 0.846])

    A call costs more than a letter, and has a larger benefit:

    >>> actions = {"letter": campaign, "call": Campaign(population=16, unit_cost=3, unit_benefit=10)}
    >>> allocate({"n": north, "s": south}, actions=actions, budget=13)
    ActionAllocation(2 segments, 4 × call, 1 × letter, cost=-19, one unit more saves 1)

    Without segments, four calls gain 10 more than letters, which does not cover their fixed cost of 20:

    >>> actions = {"letter": Campaign(population=8, unit_cost=1, unit_benefit=4), "call": Campaign(8, 3, 10, 20)}
    >>> allocate(north, actions=actions)
    ActionAllocation(1 segment, 0 × call, 4 × letter, cost=-8, not run: 'call', because the fixed cost
    exceeds the gain)
    """
    if actions is not None and context is not None:
        hint = "omit one of them"
        raise InputError("actions and context", expected="only one of these arguments", got="both", hint=hint)
    if population is not None:
        check.check_number(population, "population", "a number of cases above 0", above=0)
    require_kinds("allocate", segments)
    # The capacity of an action is a constraint on its campaign, not the limit.
    limits = AllocationLimits.given(context, capacity, budget, max_difference, subject_to)
    if actions is not None:
        segments = one_list(segments)

    def allocated(data: Any) -> tuple[Allocation | ActionAllocation, float]:
        if actions is None:
            return _allocate_one(context, limits, population, data)
        return _allocate_actions(actions, limits, population, data)

    plan, marginal = allocated(segments)
    amounts = plan.allocations[0].amounts
    # In cross-validation each part of the data represents the population of the whole sample.
    contexts = [context] if actions is None else actions.values()
    if population is None and not any(campaigns_of(own) for own in contexts):
        population = float(sum(map(np.sum, plan.totals))) if amounts is None else amounts.rows
    return replace(plan, source=AllocationSource(segments, lambda data: allocated(data)[0].allocations, marginal))


def one_list(data: Any) -> Any:
    """Return data without segments as a single segment; return other data unchanged."""
    without = isinstance(data, ThresholdCounts) or (isinstance(data, Predictions) and data.segment is None)
    return {ONE_LIST: data} if without else data


def _allocate_one(
    context: Any, limits: AllocationLimits, population: float | None, segments: Any
) -> tuple[Allocation, float]:
    """Return an allocation for one action, and the marginal value of the capacity or budget."""
    amounts = RowAmounts.of(segments, context)
    if amounts is not None:
        limits.require_cases()
        segments, context = amounts.doubled(segments), amounts.uniform_costs
        if population is None and isinstance(context, Context):
            population = amounts.rows
    points = levels_of(segments, all_levels=limits.bounded)
    costs = segment_costs.costs_by_segment(context, points.upper, population, budget=limits.in_money)
    return best_allocation(points, costs, limits, amounts)


def best_allocation(
    points: SegmentLevels, costs: SegmentUnitCosts, limits: AllocationLimits, amounts: RowAmounts | None = None
) -> tuple[Allocation, float]:
    """Return the allocation with the lowest cost, and the marginal value of the capacity or budget.

    A budget in `limits` includes fixed costs. If there are fixed costs, a mixed-integer program selects the campaigns
    to run. Because the solver has a tolerance, campaigns are then added or removed one at a time, as long as the exact
    optimum improves.
    """

    def with_runs(runs: tuple[bool, ...], rest: AllocationLimits) -> tuple[Allocation, float]:
        return _best_of_runs(points, replace(costs, runs=runs), rest, amounts)

    chosen = costs.runs
    if chosen:
        _, _, chosen, _ = apportionment.constrained_shares(points, costs, limits, choose_runs=True)
    return _best_set(with_runs, chosen, costs.fixed_costs, limits)


PlanAndValue = TypeVar("PlanAndValue", bound=tuple[Allocation | ActionAllocation, float])


def _best_set(
    with_runs: Callable[[tuple[bool, ...], AllocationLimits], PlanAndValue],
    chosen: tuple[bool, ...],
    fixed_costs: Sequence[Fraction],
    limits: AllocationLimits,
) -> PlanAndValue:
    """Return the best plan: add or remove one campaign at a time, as long as the profit increases.

    Parameters
    ----------
    with_runs : function of (runs, limits)
        Returns the best plan for a set of campaigns, given the limits that remain after their fixed costs.
    chosen : tuple of bool
        First set of campaigns to run, one boolean per campaign. This set satisfies the bounds. With bounds on segments,
        the set is not changed.
    fixed_costs : sequence of Fraction
        Fixed cost of each campaign. A campaign with a fixed cost of 0 is always run.
    limits : AllocationLimits
    """

    def payable(runs: tuple[bool, ...]) -> PlanAndValue | None:
        rest = limits.limit
        if rest is not None and limits.in_money:
            rest -= sum(compress(fixed_costs, runs or repeat(True)), Fraction(0))
        return None if rest is not None and rest < 0 else with_runs(runs, replace(limits, limit=rest))

    best, index = payable(chosen), 0
    if best is None:
        got = f"{float(limits.limit or 0):g}"
        raise InputError("budget", expected="an amount that covers the fixed costs", got=got)
    while index < len(chosen) and not limits.bounded:
        other = (*chosen[:index], not chosen[index], *chosen[index + 1 :])
        tried = payable(other) if fixed_costs[index] else None
        index += 1
        if tried is not None and tried[0].profit > best[0].profit:
            chosen, best, index = other, tried, 0
    return best


def _satisfies(plan: Allocation, limits: AllocationLimits, points: SegmentLevels) -> bool:
    """Return True if an allocation that ignores the bounds on segments satisfies these bounds."""
    for rate, most in limits.differences.items():
        if plan.difference(rate) > most + _ROUNDING:
            return False
    return all(bound.holds(*plan.counts) for bound in limits.segment_bounds(points, plan.terms))


def _best_of_runs(
    points: SegmentLevels, costs: SegmentUnitCosts, limits: AllocationLimits, amounts: RowAmounts | None
) -> tuple[Allocation, float]:
    """Return the allocation with the lowest cost for a given set of campaigns, and the marginal value of the limit.

    The marginal value is 0 if bounds on segments leave part of the limit unused.
    """
    greedy = apportionment.greedy_steps(points.upper, costs, limits.limit)
    shares = SegmentShares.of_steps(points.upper, greedy.steps, greedy.partial, greedy.part)
    free = allocation_of(points.upper, shares, costs, limits, amounts)
    if _satisfies(free, limits, points):
        return replace(free, marginal=greedy.marginal), greedy.marginal
    vertices, shares, _, dual = apportionment.constrained_shares(points, costs, limits)
    best = allocation_of(vertices, shares, costs, limits, amounts)
    return replace(best, price=best.cost - free.cost), dual


def _allocate_actions(
    actions: Any, limits: AllocationLimits, population: float | None, segments: Any
) -> tuple[ActionAllocation, float]:
    """Return an allocation for several actions, and the marginal value of the capacity or budget."""
    points = levels_of(segments, all_levels=limits.bounded)
    if len(set(zip(points.segment.tolist(), points.model.tolist(), strict=True))) > points.n_pos.size:
        hint = "select one model per segment, for example with rocscope.choose"
        got = "a segment with several models"
        raise InputError("segments", expected="segments with one model each", got=got, hint=hint)
    costs, campaigns = segment_costs.costs_by_action(actions, points.upper, population, budget=limits.in_money)
    return best_actions(points, costs, limits, campaigns)


def best_actions(
    points: SegmentLevels,
    costs: list[dict[str, UnitCosts]],
    limits: AllocationLimits,
    campaigns: tuple[ActionCampaign, ...],
) -> tuple[ActionAllocation, float]:
    """Return the allocation of actions with the lowest cost, and the marginal value of the capacity or budget.

    For each segment, `costs` maps each action to its unit costs, in increasing order of stakes. A budget in `limits`
    includes fixed costs. The campaigns to run are selected as in `best_allocation`.
    """
    by_segment = dict(zip(points.keys, costs, strict=True))

    def with_runs(runs: tuple[bool, ...], rest: AllocationLimits) -> tuple[ActionAllocation, float]:
        of_runs = tuple(replace(campaign, runs=run) for campaign, run in zip(campaigns, runs, strict=True))
        return _best_actions_of_runs(points, by_segment, rest, of_runs)

    fixed_costs = [campaign.fixed_cost for campaign in campaigns]
    chosen = (True,) * len(campaigns)
    if any(fixed_costs):
        levels = points if limits.bounded else points.upper
        _, solved, _ = apportionment.constrained_action_shares(levels, by_segment, limits, campaigns, choose_runs=True)
        chosen = tuple(campaign.runs for campaign in solved)
    return _best_set(with_runs, chosen, fixed_costs, limits)


def _best_actions_of_runs(
    points: SegmentLevels, costs: ActionCosts, limits: AllocationLimits, campaigns: tuple[ActionCampaign, ...]
) -> tuple[ActionAllocation, float]:
    """Return the best allocation of actions for a given set of campaigns, and the marginal value of the limit."""
    hulls, increments = points.upper, segment_costs.incremental_costs(list(costs.values()))
    paid = sum((campaign.fixed_cost for campaign in campaigns if campaign.runs), Fraction(0))
    increments[0] = replace(increments[0], fixed_costs=[paid])
    order = {name: tuple(by_action) for name, by_action in costs.items()}
    # The limit and the bounds apply to the cases that get any action; a budget applies to all actions together.
    of_first = replace(limits, limit=None, in_money=False) if limits.in_money else limits
    no_limits = replace(of_first.without_bounds, limit=None)

    def plan(levels: SegmentLevels, shares: list[SegmentShares], marginal: float) -> ActionAllocation:
        places = []
        for of_place, increment in zip(shares, increments, strict=True):
            places.append(allocation_of(levels, of_place, increment, no_limits if places else of_first))
        return ActionAllocation(order, tuple(places), marginal, limits.limit, limits.in_money, campaigns)

    greedy = apportionment.greedy_actions(hulls, costs, limits.limit, campaigns)
    marginal = nearest(greedy.marginal)
    best = plan(hulls, [greedy.shares(hulls, place) for place in range(len(increments))], marginal)
    if not best.keeps_capacities():
        shares, _, marginal = apportionment.constrained_action_shares(hulls, costs, limits.without_bounds, campaigns)
        best = plan(hulls, shares, np.nan)
    if _satisfies(best.places[0], limits, points):
        return best, marginal
    free = best
    shares, _, marginal = apportionment.constrained_action_shares(points, costs, limits, campaigns)
    best = plan(points, shares, np.nan)
    first = replace(best.places[0], price=best.cost - free.cost)
    return replace(best, places=(first, *best.places[1:])), marginal


def allocation_of(
    points: SegmentLevels,
    shares: SegmentShares,
    costs: SegmentUnitCosts,
    limits: AllocationLimits,
    amounts: RowAmounts | None = None,
) -> Allocation:
    """Return an allocation with its total cost, without a marginal value.

    The cost is computed in fractions and rounded once.
    """
    left = costs.total(UnitCosts.cost_of_leaving, points.n_pos, points.n_neg)
    acting = shares.point >= 0
    whole = np.array([share == 1 for share in shares.share])
    # Segments with one threshold are summed as integers; only the few randomised segments need fractions.
    point = shares.point[acting & whole]
    gain = costs.total(UnitCosts.gain, points.tp[point], points.fp[point], shares.segment[acting & whole])
    for i in np.flatnonzero(acting & ~whole).tolist():
        point = shares.point[i]
        tp, fp = Fraction(points.tp[point].item()), Fraction(points.fp[point].item())
        gain += shares.share[i] * costs.of(int(shares.segment[i])).gain(tp, fp)
    numbers = nearest(left - gain), 0.0, np.nan, limits.limit, limits.in_money
    bounds = dict(limits.differences), limits.constraint_texts
    return Allocation(points, shares, costs, *numbers, *bounds, amounts=amounts)
