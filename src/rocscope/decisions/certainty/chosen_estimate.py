"""ChosenEstimate: what a choice costs or brings, with an interval that allows for its having been chosen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan

from rocscope._numerals import to_its_error
from rocscope.inference.estimate import Estimate


@dataclass(frozen=True, repr=False)
class ChosenEstimate(Estimate):
    """What a choice costs or brings on new cases, corrected for having been chosen on the same rows.

    Made by `Decision.interval` and `CampaignPlan.interval`.

    Attributes
    ----------
    apparent : float
        The same on the rows that it was chosen on.
    regret : Estimate or None
        By how much the choice is worse than the truly best one of all models; None where it is chosen by something else
        than cost alone.
    models : mapping from model to float
        The probability that it, at the threshold chosen for it, is the best of them.
    acting : float
        The probability that to act is better than to act on nobody.
    """

    apparent: float = nan
    regret: Estimate | None = None
    models: Mapping[str, float] = field(default_factory=dict)
    acting: float = nan

    @property
    def to_its_error(self) -> tuple[str, str, str]:
        """Value and ends of the interval, as texts without digits that the width of the interval makes meaningless."""
        error = (self.high - self.low) / 2
        return tuple(to_its_error(each, error) for each in (self.value, self.low, self.high))  # pyright: ignore[reportReturnType]

    @property
    def words(self) -> str:
        value, low, high = self.rounded
        return f"{value}, {100 * self.level:g} % interval {low} to {high}"

    def __repr__(self) -> str:
        best = f", best: {self.shares}" if len(self.models) > 1 else ""
        facts = f"{self.method}, n={self.n:g}{best}, acting {self.acting:.0%}"
        return f"{type(self).__name__}({self.words}, {facts}{self.doubt})"

    @property
    def shares(self) -> str:
        """Which model is best how probably."""
        return ", ".join(f"{model} {share:.0%}" for model, share in self.models.items())
