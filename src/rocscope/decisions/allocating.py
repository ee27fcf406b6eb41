"""ActionAllocation: which of several actions the cases of each segment get, within one capacity or budget."""
# MERGED-DOC: """allocate: divide one capacity or budget among segments."""

import math
import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import answering
from rocscope._base.grouping import listed
from rocscope._base.json_format import Format
from rocscope.core.context import Context, nearest
from rocscope.core.predictions import Predictions
from rocscope.core.result import jsonable, number
from rocscope.curves.profit_curve import Campaign
from rocscope.decisions.allocation import Allocation
from rocscope.decisions.allocation_intervals import AllocationSource, RowAmounts, cells_of, interval_of, refitted
from rocscope.decisions.apportionment import (
    Floor,
    Given,
    ListedCases,
    SegmentShares,
    SegmentUnitCosts,
    bounded,
    bounded_actions,
    differences_of,
    floors_of,
    increments,
    limit_of,
    spread,
    spread_actions,
    terms_of_actions,
)
from rocscope.decisions.constraints import constraints_of
from rocscope.decisions.generalization import ChosenEstimate
from rocscope.decisions.plan import Plan, Promise
from rocscope.decisions.randomized import NEAR, UNIT, hashes_of
from rocscope.decisions.verification.actions import verify_actions
from rocscope.decisions.verification.findings import Verification
from rocscope.errors import InputError
from rocscope.sample import Models
from rocscope.segments.by_segment import levels_of
from rocscope.segments.levels import SegmentLevels

_FORMAT = Format("rocscope.actions", 1, "a plan of several actions", "make one anew with rocscope.allocate(actions=…)")


@dataclass(frozen=True, eq=False, repr=False)
class ActionAllocation(Plan):
    """A threshold for each action in each segment, jointly optimal within one limit.

    Made by ``rocscope.allocate(…, actions=…)``.

    Attributes
    ----------
    actions : dict from segment to names
        In rising order of stakes: the last one is for the best cases.
    places : tuple of Allocation
        For each place in that order the cases that get the action there, or one after it; its costs are what that
        action changes beyond the one before.
    marginal : float
        What one case more of the capacity, or one unit more of the budget, would save; NaN under bounds on segments,
        which the first place holds.
    limit : Fraction or None
    in_money : bool
    source : AllocationSource or None
        The data; None where the plan was read from a file.

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

    actions: dict[Hashable, tuple[str, ...]]
    places: tuple[Allocation, ...]
    marginal: float
    limit: Fraction | None
    in_money: bool
    source: AllocationSource | None = None

    @property
    def names(self) -> Array:
        """The segments in order."""
        return self.places[0].names

    @property
    def cost(self) -> float:
        """Expected cost of all cases together."""
        return math.fsum(each.cost for each in self.places)

    @property
    def price(self) -> float:
        """What bounds on segments cost: how much less the best plan without them does."""
        return self.places[0].price

    @property
    def profit(self) -> float:
        """Expected profit relative to acting on nobody."""
        return -self.cost

    @property
    def totals(self) -> tuple[Array, Array]:
        """Positives and negatives of each segment, in the sample."""
        return self.places[0].totals

    @cached_property
    def cases(self) -> dict[str, Array]:
        """Expected number of cases that get each action, by segment."""
        reached = [each.cases for each in self.places]
        found = {name: np.zeros(self.names.size) for name in sorted({*sum(self.actions.values(), ())})}
        for segment, own in enumerate(self.actions.values()):
            for place, name in enumerate(own):
                beyond = reached[place + 1][segment] if place + 1 < len(own) else 0.0
                found[name][segment] = reached[place][segment] - beyond
        return found

    @property
    def models(self) -> tuple[str, ...]:
        return self.places[0].models

    @property
    def needs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(model for each in self.places for model in each.needs))

    @property
    def by_segment(self) -> bool:
        return True

    @property
    def several_actions(self) -> bool:
        return True

    def assign(self, scores: Any, ids: Any = None, *, segment: Any = None, random_state: Any = 0) -> NDArray[np.str_]:
        """Return the action of each case; an empty text where there is none.

        Parameters
        ----------
        scores, ids, segment, random_state : see `Allocation.predict`

        Notes
        -----
        The cases of each action are drawn among those of the action before it: with one action or more, exactly as many
        as `Allocation.predict` draws; with a later one the planned share of each segment, rounded down, or up where the
        action before it would else get a case too many.
        """
        cases = self.places[0].listed(scores, segment)
        hashes = hashes_of(ids, cases.code.size, random_state)
        place, rows = np.full(cases.code.size, -1), np.arange(cases.code.size)
        for each, planned in zip(self.places, self._numbers(cases), strict=True):
            within, own = cases.take(rows), rows
            most = np.minimum(planned, within.sizes)
            rows = own[each.drawn(within, most, lambda chosen, own=own: hashes(own[chosen]))]
            place[rows] += 1
        order = np.array([(*own, "") for own in self.actions.values()])
        return order[cases.segments[cases.code], place]

    def _numbers(self, cases: ListedCases) -> list[Array]:
        """Return how many cases of each segment get each action or a later one."""
        numbers, planned = [self.places[0].numbers(cases, down=self.in_money)], self.places[0].planned(cases)
        for each in self.places[1:]:
            further, least = each.planned(cases), each.numbers(cases, down=True)
            if not self.in_money:  # the action before gets the difference, which stays within one case of its plan
                columns = (numbers[-1].tolist(), planned, least.tolist(), further)
                over = [(a - b) * UNIT - (all_of - rest) for a, all_of, b, rest in zip(*columns, strict=True)]
                least = least + np.array([excess >= UNIT - NEAR for excess in over])
            numbers.append(least)
            planned = further
        return numbers

    def rows(self, scores: Any, ids: Any = None, *, segment: Any = None, random_state: Any = 0) -> NDArray[np.intp]:
        """Return the rows that get an action, in input order."""
        return np.flatnonzero(self.assign(scores, ids, segment=segment, random_state=random_state) != "")

    @property
    def promise(self) -> Promise:
        cases = float(self.places[0].cases.sum())
        found = float((self.places[0].terms.column("pos", np.arange(self.names.size)) * self.places[0].counts[0]).sum())
        idle = float(self._cells[1].sum())
        return Promise(found / cases, (idle - self.cost) / cases) if cases else Promise(math.nan, 0.0)

    def gains(self, positive: Array, amounts: Any, segment: Any = None, *, action: Any = ()) -> Array:
        """Return what the action that each row got brings, above leaving it; of a case without one nothing."""
        known = {name: {"": -1} | {each: i for i, each in enumerate(own)} for name, own in self.actions.items()}
        given = np.asarray(action).tolist()
        if strange := {*given} - {"", *self.cases}:
            raise InputError("acted", expected=check.listing(list(self.cases)), got=check.listing(sorted(strange)))
        place = np.array([known[name][each] for name, each in zip(listed(segment), given, strict=True)], np.intp)
        each = [(place >= i) * own.gains(positive, amounts, segment) for i, own in enumerate(self.places)]
        return np.sum(each, axis=0)

    def said(self, chosen: int, cases: int) -> str:
        return f"{super().said(chosen, cases)}: {self._planned} were planned in {self.names.size} segments"

    @property
    def _planned(self) -> str:
        return ", ".join(f"{number(round(float(each.sum()), 9))} × {name}" for name, each in self.cases.items())

    @property
    def _cells(self) -> Any:
        return cells_of(
            [each.counts for each in self.places], self.places[0].totals, [each.terms for each in self.places]
        )

    def interval(self, level: float = 0.95, *, random_state: Any = 0, **_: Any) -> ChosenEstimate:
        """Return the expected cost on new cases; see `Allocation.interval`."""
        found = refitted(self.places, self.source, self.limit, check.seed_of(random_state))
        return interval_of(self, self.places, level, found)

    def verify(self, data: Any, **columns: Any) -> Verification:
        """Check every claim of the plan against data, as `Allocation.verify` does."""
        return verify_actions(self, self._labelled(data, columns))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "ActionAllocation":
        """Read a plan that `save` wrote; see `rocscope.load_plan`."""
        fields = _FORMAT.read(path)
        places = tuple(Allocation.of_fields(each) for each in fields.objects("places"))
        order = [each.texts("actions") for each in fields.objects("segments")]
        if not places or any(each.keys != places[0].keys or len(each.keys) != len(order) for each in places):
            fields.refuse("places", "an allocation to the same segments for each action")
        if any(len({*each}) != len(places) for each in order):
            fields.refuse("segments", "as many different actions as there are places")
        limit = None if fields.content.get("limit") is None else fields.make("limit", Fraction, fields.text("limit"))
        in_money = fields.take("in_money", bool, "true or false")
        actions = dict(zip(places[0].keys, order, strict=True))
        marginal = fields.optional_number("marginal")
        found = cls(actions, places, math.nan if marginal is None else marginal, limit, in_money)
        fields.require_same(fields.make("", found.stored))
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return cost, limit and the actions of all segments, safe for JSON."""
        segments = [
            {"segment": name, "actions": list(own), "cases": {each: self.cases[each][i] for each in own}}
            for i, (name, own) in enumerate(zip(self.names.tolist(), self.actions.values(), strict=True))
        ]
        limit = None if self.limit is None else str(self.limit)
        facts = {name: getattr(self, name) for name in ("cost", "profit", "marginal", "in_money")}
        return jsonable(facts | {"limit": limit, "segments": segments})

    def stored(self) -> dict[str, Any]:
        return self.to_dict() | {"places": [each.stored() for each in self.places]}

    def __repr__(self) -> str:
        facts = [f"{self.names.size} segments", self._planned, f"cost={self.cost:.6g}"]
        if self.price:
            facts.append(f"price of bounds={self.price:.6g}")
        if self.marginal > 0:
            facts.append(f"one {'unit' if self.in_money else 'case'} more saves {self.marginal:.6g}")
        return f"ActionAllocation({', '.join(facts)})"


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
