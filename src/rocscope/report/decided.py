"""The decision as a card of the report: what it costs on new cases, how sure that is, and who is acted on."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from rocscope._base.formatting import chance
from rocscope.core.result import Result
from rocscope.decisions.choosing import Decision, choose
from rocscope.decisions.generalization.chosen_estimate import ChosenEstimate
from rocscope.decisions.randomized.review import Review
from rocscope.errors import InputError
from rocscope.sample import Models, samples_of

MOST_ROWS = 200_000
"""More rows than these are not drawn again: that would take longer than all else, to say what hardly differs from 0."""
_REPLICATES = 200
_MARGIN = 4
_FEWER = "no interval beyond 200,000 rows; rocscope.choose(…).interval() has it"


class Bar(NamedTuple):
    """A line of a table: what, how much, and from where to where that reaches on the scale of its table, in percent."""

    what: str
    says: str
    low: float
    high: float
    at: float | None = None


class Bars(NamedTuple):
    """Lines on one scale."""

    heading: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Decided(Result):
    """What is known of a decision beside its counts.

    Attributes
    ----------
    interval : ChosenEstimate or None
    missing : str
        Why there is no interval.
    reviewed : Decision or None
        The same with a closer look at some cases, where one was offered.
    """

    interval: ChosenEstimate | None
    missing: str
    reviewed: Decision | None

    def tables(self, decision: Decision) -> list[Bars]:
        """Return what the card shows."""
        return [*self._costs(decision), *self._chances(), self._zones(self.reviewed or decision)]

    def captions(self, decision: Decision) -> list[str]:
        """Return what is to be said beside them."""
        said = ["At the costs and the class mix that this report was made for, on all rows."]
        if self.interval is None:
            said.append(f"There is {self.missing}.")
        else:
            said += [f"{what[0].upper()}{what[1:]}: {fact}." for what, fact in self.interval.doubts.items()]
        if self.reviewed and self.reviewed.review:
            costs = f"{self.reviewed.expected_cost:.4g} per case in place of {decision.expected_cost:.4g}"
            said.append(f"With a closer look at {self.reviewed.review.review.cost:g} a case: {costs}.")
        elif self.reviewed:
            said += [f"{note[0].upper()}{note[1:]}." for note in self.reviewed.notes]
        return said

    def _costs(self, decision: Decision) -> Iterable[Bars]:
        if self.interval is None:
            return
        told, value = self.interval, decision.expected_cost
        others = {"nobody positive": decision.treat_none_cost, "everybody positive": decision.treat_all_cost}
        ends = (told.low, told.high, value, min(others.values()))
        low, high = min(ends), max(ends)
        shown = {"on the rows it was chosen on": value} | {n: cost for n, cost in others.items() if cost <= high}

        def place(cost: float) -> float:
            return _MARGIN + (100 - 2 * _MARGIN) * (cost - low) / (high - low or 1.0)

        middle, *between = told.rounded
        first = Bar(
            f"on new cases, {100 * told.level:g}% interval",
            f"{middle} [{', '.join(between)}]",
            *map(place, (told.low, told.high, told.value)),
        )
        rest = (Bar(name, f"{cost:.4g}", place(cost), place(cost), place(cost)) for name, cost in shown.items())
        yield Bars("Expected cost per case", (first, *rest))

    def _chances(self) -> Iterable[Bars]:
        if self.interval is not None:
            several = self.interval.models if len(self.interval.models) > 1 else {}
            chances = {f"{model} is the best": share for model, share in several.items()}
            chances["acting pays"] = self.interval.acting
            yield Bars(
                "Probability that",
                tuple(Bar(what, chance(p).replace(" %", "%"), 0, 100 * p) for what, p in chances.items()),
            )

    @staticmethod
    def _zones(decision: Decision) -> Bars:
        """Return who is acted on, looked at and left, from the highest scores down."""
        acted = 100 * decision.point.at_prevalence(decision.prevalence).depth
        review = decision.review
        looked = acted if review is None else 100 * review.point.at_prevalence(decision.prevalence).depth
        reach = [("act", acted, decision.lot.shares if decision.lot else _from(decision.threshold))]
        if review is not None:
            rule = review.rule
            reach.append(("look closer", looked, rule.shares if rule.by_lot else _from(review.threshold)))
        if looked < 100:
            reach.append(("leave", 100.0, "all others" if acted else "everybody"))
        bars, start = [], 0.0
        for action, end, whom in reach:
            bars.append(Bar(f"{action}: {whom}", f"{end - start:.1f}%", start, end))
            start = end
        return Bars("Share of cases to", tuple(bars))


def decided(predictions: Models, decision: Decision, review: Review | None, *, sure: bool) -> Decided:
    """Return what the card of a decision says; drawing again may be left out."""
    reviewed = None if review is None else choose(predictions, decision.context, review=review)
    rows = samples_of(predictions).rows
    if not sure or (rows is not None and len(rows) > MOST_ROWS):
        return Decided(None, _FEWER, reviewed)
    try:
        return Decided(decision.interval(replicates=_REPLICATES, progress=False), "", reviewed)
    except InputError as error:
        return Decided(None, f"no interval: {error}", reviewed)


def _from(threshold: float) -> str:
    if math.isinf(threshold):
        return "nobody" if threshold > 0 else "everybody"
    return f"score ≥ {threshold:.6g}"
