"""Several actions: which of them the cases of each hull step get, within one limit (a multiple-choice knapsack).

The better the cases of a step, the more an action with large stakes gains. So of the actions in the order of their
stakes, hit + alarm, each goes to the best cases that those before it go to: a threshold for each action and segment.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.decisions.allocation.parity import SegmentShares
from rocscope.decisions.allocation.segment_costs import Given, SegmentUnitCosts, UnitCosts
from rocscope.errors import InputError
from rocscope.segments.levels import SegmentLevels

_NONE = Fraction(0)


def terms_of_actions(
    actions: Any, hulls: SegmentLevels, population: float | None, *, budget: bool
) -> list[dict[str, UnitCosts]]:
    """Return the terms of each action in each segment, in rising order of stakes.

    Raises
    ------
    InputError
        If actions differ in what leaving a case costs, in the population or in its class mix, or have fixed costs or
        capacities of their own.
    """
    if not isinstance(actions, Mapping) or not actions or not all(isinstance(name, str) and name for name in actions):
        expected = "a mapping from the name of each action to its Campaign or Context, or to one for each segment"
        raise InputError("actions", expected=expected, got=check.shown(actions))
    given = {name: Given(context, population) for name, context in actions.items()}
    every = {name: each.terms(hulls, budget=budget) for name, each in given.items()}
    campaigns = [campaign for each in given.values() for campaign in each.campaigns]
    if any(campaign.fixed_cost or campaign.capacity is not None for campaign in campaigns):
        expected = "campaigns without a fixed cost and a capacity of their own"
        raise InputError("actions", expected=expected, got="one that has them")
    found = []
    for segment in range(hulls.n_pos.size):
        own = {name: terms.of(segment) for name, terms in every.items()}
        if len({(term.pos, term.neg, term.miss, term.rest) for term in own.values()}) > 1:
            expected = "one population, class mix and cost of leaving a case, whatever the action"
            raise InputError("actions", expected=expected, got="different ones")
        found.append(dict(sorted(own.items(), key=lambda each: each[1].hit + each[1].alarm)))
    return found


def increments(terms: list[dict[str, UnitCosts]]) -> list[SegmentUnitCosts]:
    """Return, for each place in the order of actions, what one action changes beyond the one before it."""
    found = []
    for place in range(len(terms[0])):
        each = []
        for own in terms:
            term, *before = [list(own.values())[i] for i in range(place, max(place - 2, -1), -1)]
            if before:
                names = ("hit", "alarm", "use")
                less = {name: getattr(term, name) - getattr(before[0], name) for name in names}
                term = replace(term, miss=_NONE, rest=_NONE, **less)
            each.append(term)
        found.append(SegmentUnitCosts(each, np.arange(len(terms))))
    return found


@dataclass(frozen=True)
class Upgrade:
    """The cases of one step get the action `after` instead of `before` (−1: none), which takes and gains something."""

    segment: int
    step: int
    before: int
    after: int
    use: Fraction
    worth: Fraction


@dataclass(frozen=True)
class ActionSteps:
    """For each action, in the order of stakes, how many steps of each segment get it or one after it.

    Attributes
    ----------
    steps : array of actions × segments
    drawn : Upgrade or None
        The one that a part of its cases get, at random.
    share : Fraction
        That part.
    marginal : Fraction
        What one unit more of the limit would gain.
    """

    steps: Array
    drawn: Upgrade | None
    share: Fraction
    marginal: Fraction

    def parts(self, hulls: SegmentLevels, place: int) -> SegmentShares:
        """Return the points that decide who gets the action at a place in the order, or one after it."""
        drawn = self.drawn
        segment = drawn.segment if drawn is not None and drawn.before < place <= drawn.after else -1
        return SegmentShares.of_steps(hulls, self.steps[place], segment, self.share)


def spread_actions(hulls: SegmentLevels, terms: list[dict[str, UnitCosts]], limit: Fraction | None) -> ActionSteps:
    """Return who gets which action within a limit: the optimum over all randomised rules.

    Notes
    -----
    Of each step only actions on the concave hull of gain over use can be best at any price of the limit. Their
    upgrades are taken in the order of gain per use, over all segments, until the limit is reached: the optimum of the
    linear program (Sinha & Zoltners 1979, Oper. Res. 27:503–515), in fractions.
    """
    every = [each for segment, own in enumerate(terms) for each in _upgrades(hulls, segment, list(own.values()))]
    every.sort(key=lambda each: (-each.worth, each.segment, each.step, each.before))
    steps, room = np.zeros((len(terms[0]), len(terms)), np.int64), limit
    for each in every:
        if room is not None and each.use > room:
            drawn = each if room else None
            return ActionSteps(steps, drawn, room / each.use, each.worth)
        room = None if room is None else room - each.use
        steps[each.before + 1 : each.after + 1, each.segment] += 1
    return ActionSteps(steps, None, _NONE, _NONE)


def _upgrades(hulls: SegmentLevels, segment: int, terms: list[UnitCosts]) -> list[Upgrade]:
    found = []
    for step in range(*hulls.start[segment : segment + 2].tolist()):
        up, right = (Fraction(axis[step].item()) for axis in hulls.steps)
        choices = [(term.taken(up, right), term.gain(up, right)) for term in terms]
        use, gain, place = _NONE, _NONE, -1
        while True:
            better = [((g - gain) / (u - use), g, -i) for i, (u, g) in enumerate(choices) if g > gain and u > use]
            if not better:
                break
            worth, _, after = max(better)
            found.append(Upgrade(segment, step, place, -after, choices[-after][0] - use, worth))
            use, gain, place = *choices[-after], -after
    return found
