"""Findings: which claims of a plan hold in some data, and how that was seen."""

import math
from dataclasses import dataclass, field
from typing import Any

CLOSE = 1e-9  # relative: rounding of sums leaves 1e-12, and a digit that someone changed is larger
_SLACK = 1e-12  # absolute, where 0 is expected


@dataclass(frozen=True)
class Proof:
    """What an oracle found: which claims hold in the data.

    Attributes
    ----------
    n : float
        Rows that were counted (sum of their weights).
    thresholds : int
        How many thresholds of all models were looked at.
    proved : tuple of str
        The claims that hold.
    refuted : tuple of str
        Those that do not, and what the data say instead.
    left_open : tuple of str
        Those that data cannot tell, such as that it is best by a function of the user.
    trace : tuple of str
        The steps of the proof: what the plan says, and what was counted or computed in its place.
    """

    n: float
    thresholds: int
    proved: tuple[str, ...]
    refuted: tuple[str, ...]
    left_open: tuple[str, ...] = ()
    trace: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether no claim is refuted."""
        return not self.refuted

    @property
    def proves(self) -> bool:
        """Whether every claim holds and none is left open."""
        return not self.refuted and not self.left_open


@dataclass(frozen=True)
class Findings:
    """Results of checks, claim by claim."""

    proved: list[str] = field(default_factory=list)
    refuted: list[str] = field(default_factory=list)
    left_open: list[str] = field(default_factory=list)
    trace: list[str] = field(default_factory=list)

    def holds(self, claim: str, held: bool, otherwise: str, how: str = "") -> None:
        """Take down a claim, what is so where it does not hold, and how that was seen."""
        (self.proved if held else self.refuted).append(claim if held else f"{claim}: {otherwise}")
        self.trace.append(f"{claim}: {how or ('holds' if held else otherwise)}")

    def equal(self, claim: str, said: float, found: float) -> None:
        """Record whether a number equals the recomputed one."""
        self._compared(claim, said, found, _close(said, found))

    def next_score(self, claim: str, point: Any, score: float) -> None:
        """Record whether the next lower score of a point, where it is stated, is the recounted one."""
        if not (math.isnan(point.next_score) or point.next_score == score):
            self.holds(f"{claim}: next score", False, f"it is {score}, not {point.next_score}")

    def near(self, claim: str, said: float, found: float, slack: float) -> None:
        """Record whether a number approximately equals the recomputed one."""
        self._compared(claim, said, found, abs(said - found) <= slack)

    def _compared(self, claim: str, said: float, found: float, same: bool) -> None:
        how = f"says {said:.12g}, found {found:.12g}"
        self.holds(claim, same, f"{found:.9g} was found, not {said:.9g}", how)

    def least(self, claim: str, own: float, least: float) -> None:
        """Record whether a cost is the lowest."""
        held = own <= least + CLOSE * max(1.0, abs(least))
        self.holds(
            claim, held, f"one costs {least:.9g} instead of {own:.9g}", f"costs {own:.12g}, the least is {least:.12g}"
        )

    def proof(self, n: float, thresholds: int) -> Proof:
        """Return what was found of all claims."""
        found = (tuple(each) for each in (self.proved, self.refuted, self.left_open, self.trace))
        return Proof(n, thresholds, *found)


def _close(said: float, found: float) -> bool:
    return said == found or math.isclose(said, found, rel_tol=CLOSE, abs_tol=_SLACK)
