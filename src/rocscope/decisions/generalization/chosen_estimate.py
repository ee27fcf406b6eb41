"""ChosenEstimate: what a choice costs or brings, with an interval that allows for its having been chosen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan
from typing import Any

import numpy as np

from rocscope._base.arrays import Array
from rocscope._base.formatting import to_its_error
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

    Notes
    -----
    The value is what the choice costs where it was not made: the threshold of each model is chosen anew on nine
    tenths of the rows (or groups) and judged on the rest, ten folds, five times. The interval is that of Jeffreys
    for the counts so found, at the sample's prevalence or the target's; where they are few it is as skew as they
    are. Errors are added to it: half the optimism of the threshold (by how much it looks better on its own rows),
    the spread of the regret, the optimism of the best of several models, as replicates see it, and a twentieth of
    the variance, for the draw of the folds. Three quarters of the optimism of the model are taken off the value.

    Regret: in each replicate, what the choice costs more than the best there, less a quarter of the optimism of the
    threshold (the best of a replicate is too good by 0.19 of it, by the cube-root law of
    docs/guide/evaluation/price-of-choosing.md) and what was taken off for the model. It is given where cost alone
    decides.

    Probabilities of models: how often, in replicates, each costs least at the threshold chosen for it, its own
    optimism and an error of half of that added, so that a model of many thresholds has no advantage. To act: how
    often a cost from which the interval is made is below that of nobody.

    By simulation of binormal samples, 1,000 a line, 95 % intervals hold the true cost of one model in 94.3 to 97.7 % of
    samples of 100 to 2,000 rows, 1 and 2 % positive included; of the best of five equal models in 96.5 to 98.3 %, of
    unequal ones in 98.1 %. The interval of regret holds it in 94.9 to 98.1 % of samples of one model, in 92.8 % of
    unequal ones, and in 97.9 to 99.9 % where five models are equal (docs/guide/intervals.md). That of a plan holds the
    true profit in 95.4 to 97.9 % (docs/guide/evaluation/price-of-choosing.md).

    Where costs differ from row to row the interval is that of Hall for the mean of what rows cost, which is as skew as
    they are, with the same errors added; of log-normal amounts it holds the cost in 93.1 to 96.9 %.

    Where a class has fewer than 10 rows, amounts say no more than 10 equal ones would, folds leave nothing to choose,
    or lots or reviews are taken as given, the result is not `reliable` and says why. Where there are more than 2,048
    scores or, of several models, 20,000 rows, as many points of the curve and 1,000 blocks of rows stand for them.

    References
    ----------
    Efron & Gong 1983, Am. Stat. 37:36–48; Brown, Cai & DasGupta 2001, Stat. Sci. 16:101–133 (Jeffreys); Hall 1992,
    J. R. Stat. Soc. B 54:221–228; Kim & Pollard 1990, Ann. Stat. 18:191–219.
    """

    apparent: float = nan
    regret: Estimate | None = None
    models: Mapping[str, float] = field(default_factory=dict)
    acting: float = nan

    @classmethod
    def of_draws(cls, values: Array, *, level: float, **facts: Any) -> "ChosenEstimate":
        """Return the estimate whose interval and standard error are those of draws."""
        low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
        return cls(low=float(low), high=float(high), level=level, standard_error=float(values.std()), **facts)

    @property
    def rounded(self) -> tuple[str, str, str]:
        """Value and ends of the interval, as texts without digits that the width of the interval makes meaningless."""
        error = (self.high - self.low) / 2
        value, low, high = (to_its_error(each, error) for each in (self.value, self.low, self.high))
        return value, low, high

    @property
    def words(self) -> str:
        value, low, high = self.rounded
        return f"{value}, {100 * self.level:g} % interval {low} to {high}"

    def __repr__(self) -> str:
        best = f", best: {self.shares}" if len(self.models) > 1 else ""
        facts = f"{self.method}, n={self.n:g}{best}, acting {self.acting:.0%}"
        return f"{type(self).__name__}({self.words}, {facts}{self.doubt})"

    @property
    def doubts(self) -> dict[str, str]:
        """What there is to say of regret and reliability."""
        said = {"not reliable": self.reason}
        if self.regret is not None:
            high = self.regret.high
            beyond = f"{_loosely(self.regret.value)}, at most {_loosely(high)}" if high else "0"
            said = {"beyond the truly best choice": beyond} | said
        return {what: fact for what, fact in said.items() if fact}

    @property
    def shares(self) -> str:
        """Which model is best how probably."""
        return ", ".join(f"{model} {share:.0%}" for model, share in self.models.items())


def _loosely(number: float) -> str:
    """Return two digits of a number that is not known better; whole from 10 on."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"
