"""ChosenEstimate: the value of a choice on new cases; FixedRule: a rule that is not re-chosen."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import nan
from typing import Any

import numpy as np

from rocscope._base.arrays import Array
from rocscope._base.formatting import to_its_error
from rocscope.inference.estimate import Estimate


@dataclass(frozen=True, repr=False)
class ChosenEstimate(Estimate):
    """The value of a choice on new cases (cost, profit or criterion), corrected for selection on the same rows.

    Made by `Decision.interval`, `CampaignPlan.interval`, `rocscope.evaluation.optimism` and, for each model at its
    cheapest threshold, `rocscope.inference.compare_costs`.

    Attributes
    ----------
    apparent : float
        The value on the rows of the choice.
    regret : Estimate or None
        How much worse the choice is than the truly best one of all models; None where the value is a cost and something
        else than cost decided.
    models : mapping from model to float
        The probability that each model, at the threshold chosen for it, is the best.
    acting : float
        The probability that acting costs less than acting on nobody; NaN for a criterion where costs differ by row.

    Notes
    -----
    The threshold of each model is chosen on nine tenths of the rows (or groups) and judged on the rest: ten folds, five
    times. The value is that of the held-out counts. The interval is that of Jeffreys' posterior at these counts, at the
    prevalence of the sample or the target; it is skewed where counts are small. Where costs differ from row to row, it
    is Hall's interval of the mean cost.

    Its variance includes the error of choosing: a twentieth for the random folds; the square of half the optimism of
    the threshold (held-out minus apparent value); the variance of the regret; and the square of the optimism of the
    best of several models in the replicates. The latter is also taken off the value.

    Regret: in each replicate, the loss of the choice above that of the best there, less a quarter of the optimism of
    the threshold and three quarters of what was taken off for the model. (The best of a replicate is too good by
    0.19 of the optimism, by the cube-root law.)

    Probabilities of models: how often each is the best in replicates, with its own optimism and an error of half of
    that added, so that a model of many thresholds has no advantage.

    By simulation of binormal samples, 1,000 a line, 95 % intervals cover the true cost of one model in 94.3 to 97.7 %
    of samples of 100 to 2,000 rows, 1 and 2 % positive included; of the best of five equal models in 95.4 to 98.6 %,
    of unequal ones in 98.6 %. The interval of regret covers it in 94.9 to 98.1 % of samples of one model, in 92.2 % of
    unequal ones, and in 97.2 to 100 % where five models are equal (docs/guide/intervals.md). That of a plan covers the
    true profit in 95.4 to 98.0 % (docs/guide/evaluation/price-of-choosing.md); that of log-normal costs of rows in 95
    to 99 % of 100 samples, of Pareto costs in 93 to 97 %.

    The result is not `reliable`, and states why, where a class has fewer than 10 rows, where folds leave nothing to
    choose, or where randomised rules or reviews are taken as given. Where costs differ from row to row, its variance
    and skewness include large amounts that the sample may lack (`rocscope.inference.pareto_tail`); it is not reliable
    where fewer than 10 rows bear amounts, or amounts may have no mean. Above 2,048 scores or, for several models,
    20,000 rows, as many points of the curve and 1,000 blocks of rows are resampled.

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
        """Return the estimate with interval and standard error from those draws that are defined."""
        known = values[np.isfinite(values)]
        tails = [(1 - level) / 2, (1 + level) / 2]
        low, high = np.quantile(known, tails).tolist() if known.size else (nan, nan)
        spread = float(known.std()) if known.size else nan
        return cls(low=low, high=high, level=level, standard_error=spread, **facts)

    @property
    def rounded(self) -> tuple[str, str, str]:
        """Value and limits of the interval as texts, rounded to what the width of the interval supports."""
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
        """Notes on regret and reliability."""
        said = {"not reliable": self.reason}
        if self.regret is not None:
            high = self.regret.high
            beyond = f"{_loosely(self.regret.value)}, at most {_loosely(high)}" if high else "0"
            said = {"beyond the truly best choice": beyond} | said
        return {what: fact for what, fact in said.items() if fact}

    @property
    def shares(self) -> str:
        """Probability that each model is best."""
        return ", ".join(f"{model} {share:.0%}" for model, share in self.models.items())


@dataclass(frozen=True)
class FixedRule:
    """A rule that is taken as given and not re-chosen in resamples.

    Attributes
    ----------
    value : float
        What it costs in the sample.
    draw : function of a number of replicates and a seed
        Returns draws of its cost and of the cost of acting on nobody.
    method, n, why : str, float, str
        How the draws are made, from how many rows, and why the rule is not chosen anew.
    """

    value: float
    draw: Callable[[int, int], tuple[Array, Array]]
    method: str
    n: float
    why: str

    def estimate(self, level: float, replicates: int, seed: int) -> ChosenEstimate:
        """Return the estimated cost of the rule."""
        values, nobody = self.draw(replicates, seed)
        facts: dict[str, Any] = {"method": self.method, "n": self.n, "reason": self.why, "apparent": self.value}
        acting = float((values < nobody).mean())
        return ChosenEstimate.of_draws(values, level=level, value=self.value, acting=acting, **facts)


def _loosely(number: float) -> str:
    """Round a rough number to two significant digits; whole from 10 on."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"
