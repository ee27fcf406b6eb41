"""Review: a third action between acting and leaving, which finds the true class at a cost."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope.core.context import Context, decimal
from rocscope.core.point import OperatingPoint
from rocscope.core.result import Result
from rocscope.decisions.randomized.randomized_rule import RandomizedRule
from rocscope.geometry import Choices, ConvexCombination, TangentPoint, corners_of, settled


@dataclass(frozen=True)
class Review(Result):
    """A review of a case, after which it is treated correctly.

    Parameters
    ----------
    cost : float
        Of one look, beside what the right action costs.
    capacity : float, optional
        Largest number of cases that can be looked at, among the population.

    Raises
    ------
    InputError
        If one of them is below 0.

    Examples
    --------
    The four tied cases are worth a look, and there is time for two of them:

    >>> from rocscope import Context, ThresholdCounts, choose
    >>> counts = ThresholdCounts([3, 2, 1], [3, 2, 0], [0, 2, 3])
    >>> decision = choose(counts, Context(cost_fp=5, cost_fn=5), review=Review(cost=1, capacity=2))
    >>> decision.predict([3, 3, 3, 2, 2, 2, 2, 1, 1, 1], ids=list("abcdefghij"))
    array(['act', 'act', 'act', 'review', 'leave', 'leave', 'review', 'leave',
           'leave', 'leave'], dtype='<U6')
    """

    cost: float
    capacity: float | None = None

    def __post_init__(self) -> None:
        check.settle(self, cost=check.check_number(self.cost, "review cost", "an amount of at least 0", least=0))
        if self.capacity is not None:
            most = check.check_number(self.capacity, "review capacity", "a number of cases of at least 0", least=0)
            check.settle(self, capacity=most)


@dataclass(frozen=True, repr=False)
class Reviewing(Result):
    """The reviewed cases: those that `rule` selects and that are not acted on.

    Attributes
    ----------
    review : Review
    rule : RandomizedRule
        Which cases are acted on or looked at.
    share : Fraction or None
        Of all cases, what the capacity is.
    """

    _content = ("review", "point", "rule", "exact")

    review: Review
    rule: RandomizedRule
    share: Fraction | None

    @property
    def point(self) -> OperatingPoint:
        """Expected counts of the cases that are acted on or reviewed, with the lowest of their scores."""
        return self.rule.point

    @property
    def threshold(self) -> float:
        """Review cases with at least this score."""
        return self.point.threshold

    @property
    def exact(self) -> str | None:
        """The share as text of an exact fraction."""
        return None if self.share is None else str(self.share)

    def predict(self, acting: RandomizedRule, scores: Any, ids: Any, random_state: Any) -> NDArray[np.str_]:
        """Return "act", "review" or "leave" for each case, with at most as many reviews as the capacity."""
        act, look = (rule.predict(scores, ids, random_state=random_state) for rule in (acting, self.rule))
        if self.share is not None:
            room = int(self.share * act.size)
            if acting.randomized:
                number = max(int(look.sum()) - room, acting.reach(scores)[0])
                act = acting.exactly(number, scores, ids, random_state=random_state)
            else:
                number = min(int(act.sum()) + room, self.rule.reach(scores)[1])
                look = self.rule.exactly(number, scores, ids, random_state=random_state)
        return np.where(act, "act", np.where(look, "review", "leave"))

    def __repr__(self) -> str:
        return f"review of {self.rule.shares if self.rule.randomized else f'score >= {self.threshold:.6g}'}"


@dataclass(frozen=True)
class ThreeActions:
    """The best use of three actions with one model."""

    acting: ConvexCombination
    looking: ConvexCombination
    cost: Fraction


@dataclass(frozen=True)
class _Step:
    """Cases between two neighbouring hull vertices, as shares of all cases: positive and negative."""

    positives: Fraction
    negatives: Fraction

    @property
    def size(self) -> Fraction:
        return self.positives + self.negatives


def third_action(
    choices: Choices, context: Context, review: Review, prevalence: Fraction, limit: Fraction | None
) -> ThreeActions:
    """Return which cases to act on and which to review with one model, at the lowest expected cost.

    Parameters
    ----------
    choices : Choices
        Every threshold of the model.
    context : Context
    review : Review
    prevalence : Fraction
    limit : Fraction or None
        Largest share of cases that can be looked at.

    Notes
    -----
    For a cost r of a look, g of a miss and a of a false alarm, acting begins where a line of slope
    (1 − π)(a − r)/(π r) touches the hull, and looking where one of slope (1 − π) r/(π (g − r)) does. With a capacity
    looks go where they save most a case: min(p·g, n·a)/(p + n) − r for a step of the hull with p positives and n
    negatives; the last step at random. Exact; the optimum of the linear program over all mixtures of nested thresholds.
    """
    corners = corners_of(choices).tolist()
    rates = [choices.rates(corner) for corner in corners]
    steps = [
        _Step(prevalence * (up - tpr), (1 - prevalence) * (right - fpr))
        for (tpr, fpr), (up, right) in itertools.pairwise(rates)
    ]
    miss, alarm, look = context.miss_cost, context.false_alarm_cost, decimal(review.cost)
    acted = [step.positives * miss > step.negatives * alarm for step in steps]
    looked = _looks(steps, miss, alarm, look, limit)
    cost = prevalence * decimal(context.costs["fn"]) + (1 - prevalence) * decimal(context.costs["tn"])
    for step, act, share in zip(steps, acted, looked, strict=True):
        cost += share * (look * step.size - step.positives * miss)
        cost += (1 - share) * (step.negatives * alarm - step.positives * miss) * act
    acting = sum((1 - share) * act for act, share in zip(acted, looked, strict=True))
    looking = sum(max(share, Fraction(act)) for act, share in zip(acted, looked, strict=True))
    return ThreeActions(_along(choices, corners, acting), _along(choices, corners, looking), cost)


def _looks(
    steps: Sequence[_Step], miss: Fraction, alarm: Fraction, look: Fraction, limit: Fraction | None
) -> list[Fraction]:
    """Return the share of each step that is reviewed."""
    saved = [min(step.positives * miss, step.negatives * alarm) / step.size - look for step in steps]
    shares, room = [Fraction(0)] * len(steps), limit
    for i in sorted(range(len(steps)), key=lambda i: -saved[i]):
        if saved[i] <= 0 or room == 0:
            break
        shares[i] = Fraction(1) if room is None else min(room / steps[i].size, Fraction(1))
        room = None if room is None else room - shares[i] * steps[i].size
    return shares


def _along(choices: Choices, corners: Sequence[int], steps: Fraction | int) -> ConvexCombination:
    """Return the rule that takes a number of hull steps, the last one partially."""
    whole = int(steps)
    first = TangentPoint(choices, corners[whole])
    part = steps - whole
    return (
        settled(ConvexCombination(first, TangentPoint(choices, corners[whole + 1]), Fraction(part)))
        if part
        else ConvexCombination(first, first)
    )
