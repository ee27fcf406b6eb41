"""ActionAllocation: which of several actions the cases of each segment get, within one capacity or budget."""

import math
import os
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.grouping import listed
from rocscope._base.json_format import Format
from rocscope.core.result import jsonable, number
from rocscope.decisions.allocation.allocation import Allocation
from rocscope.decisions.allocation.listed_cases import ListedCases
from rocscope.decisions.allocation.new_cases import cells_of, interval_of
from rocscope.decisions.allocation.refits import AllocationSource, refitted
from rocscope.decisions.generalization.chosen_estimate import ChosenEstimate
from rocscope.decisions.plans.outcomes import Promise
from rocscope.decisions.plans.plan import Plan
from rocscope.decisions.randomized.drawing import NEAR, UNIT, hashes_of
from rocscope.decisions.verification.actions import verify_actions
from rocscope.decisions.verification.findings import Verification
from rocscope.errors import InputError

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
