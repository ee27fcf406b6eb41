"""What a choice may cost: drawn as counts of rows vary, or as the costs of the rows themselves do."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rocscope._base.arrays import Array
from rocscope.decisions.generalization.candidates import Option, Options
from rocscope.decisions.generalization.resampling import InSample, Redrawn
from rocscope.inference.means import MeanSample
from rocscope.inference.resampling.draws import Design

_DRAWS = 20_000
PRIOR = 0.5
_OF_FOLDS = 1.05
_FEWEST = 10
_STRAIGHT = 1e-6


@dataclass(frozen=True)
class CostsOfCounts:
    """Costs from Jeffreys' posterior of prevalence and rates."""

    design: Design
    options: Options
    sample: InSample
    redrawn: Redrawn

    @property
    def n(self) -> float:
        """Rows."""
        return self.design.n

    @property
    def note(self) -> str:
        """What the rows are, as the name of a method says it."""
        return self.design.note

    @property
    def doubt(self) -> str:
        """Why they may not hold."""
        few = self.design.smallest_class
        return f"a class has {few:g} rows only, fewer than {_FEWEST}" if few < _FEWEST else ""

    def draws(self, number: int, cells: Array, error: float, seed: int) -> tuple[Array, Array]:
        """Return costs of an option and of nobody; the error of choosing counts as information that is missing."""
        option = self.options.each[number]
        plain, _ = _posterior(np.random.default_rng([seed, 3]), option, cells, 1.0)
        variance = float(plain.var())
        wanted = _OF_FOLDS * variance * self._effect_of_design(seed) + error
        return _posterior(np.random.default_rng([seed, 4]), option, cells, variance / wanted if variance else 1.0)

    def _effect_of_design(self, seed: int) -> float:
        """By how much groups and weights make the cost of one threshold vary more than as many rows would."""
        tallies = self.design.tallies.values()
        if self.design.one_row_a_unit and not any(each.rows and each.rows.weight is not None for each in tallies):
            return 1.0
        number = self.sample.option
        rng = np.random.default_rng([seed, 5])
        plain, _ = _posterior(rng, self.options.each[number], self.sample.cells[number], 1.0)
        variance = float(plain.var())
        return float(self.redrawn.cost[:, number].var()) / variance if variance else 1.0


@dataclass(frozen=True)
class CostsOfRows:
    """Costs as means of what each row costs, which differs.

    Attributes
    ----------
    options : Options
        On rows in money.
    means : MeanSample of 2m + 1 values
        What each of m options costs, what its best threshold that acts costs more than nobody does, and what nobody
        costs.
    least : float
        No option costs less.
    chosen : int
        The number of the option that was chosen.
    """

    options: Options
    means: MeanSample
    least: float
    chosen: int

    @property
    def n(self) -> float:
        """Rows."""
        return self.means.n

    @property
    def note(self) -> str:
        """What the rows are, as the name of a method says it."""
        return ", ".join(part for part in ("costs of each row", self.means.note) if part)

    @property
    def doubt(self) -> str:
        """Why they may not hold."""
        few = self.means.worth(self.chosen)
        return f"a few rows are most of the cost: as good as {few:.0f} equal ones" if few < _FEWEST else ""

    def draws(self, number: int, cells: Array, error: float, seed: int) -> tuple[Array, Array]:
        """Return costs of an option; and of nobody, such that each difference is as likely as it is."""
        cost, more = float(self.options.each[number].cost(*cells)), number + len(self.options.each)
        values = np.maximum(cost + self.off(number, seed, _OF_FOLDS, error), self.least)
        gain = cost - float(self.means.mean[-1]) + self.off(more, seed, _OF_FOLDS, error)
        return values, values - gain

    def off(self, number: int, seed: int, times: float = 1.0, added: float = 0.0) -> Array:
        """Return by how much the truth may be above a mean, with so much more variance.

        Its quantiles are the ends of Hall's interval, whose skewness is that of the rows.
        """
        normal = np.random.default_rng([seed, 4]).standard_normal(_DRAWS)
        spread = np.sqrt(times * self.means.covariance[number, number] + added)
        skew = self.means.skewness(number)
        if abs(skew) < _STRAIGHT:
            return -spread * normal
        return -spread * 3 / skew * (np.cbrt(1 + skew * (normal - skew / 6)) - 1)


def _posterior(rng: np.random.Generator, option: Option, cells: Array, information: float) -> tuple[Array, Array]:
    """Return costs, of an option and of nobody, drawn from Jeffreys' posterior of prevalence and rates.

    Each case has so much information.
    """
    tp, fp, n_pos, n_neg = (information * cell for cell in cells)
    everybody_or_nobody = np.isclose(tp + fp, (0, n_pos + n_neg)).any()  # whatever the scores
    sure = everybody_or_nobody and n_pos > 0 and n_neg > 0

    def share(count: float, of: float) -> Any:
        return count / of if sure else rng.beta(count + PRIOR, max(of - count, 0.0) + PRIOR, _DRAWS)

    tpr, fpr = share(tp, n_pos), share(fp, n_neg)
    prevalence = rng.beta(n_pos + PRIOR, n_neg + PRIOR, _DRAWS)
    nothing = np.zeros(_DRAWS)
    return (
        option.cost(prevalence * tpr, (1 - prevalence) * fpr, prevalence, 1 - prevalence),
        option.cost(nothing, nothing, prevalence, 1 - prevalence),
    )
