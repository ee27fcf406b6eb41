"""Value of a chosen threshold on new cases: cross-validated, with an interval that includes the error of choosing."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rocscope._base.arrays import Array
from rocscope.decisions.generalization.candidates import Candidates, CostOrCriterion
from rocscope.decisions.generalization.chosen_estimate import ChosenEstimate
from rocscope.decisions.generalization.cost_draws import DrawsOfCounts, DrawsOfRows
from rocscope.decisions.generalization.resampling import HeldOut, InSample, Replicates
from rocscope.inference.estimate import Estimate
from rocscope.inference.resampling.bootstrap import BootstrapEstimate
from rocscope.inference.resampling.draws import Design

# Chosen by simulation: with these, 95 % intervals of cost hold the truth in 93 % of samples or more in every design of
# tests/decisions/generalization/interval_cases.py, and those of regret in 92.2 % or more.
_ERROR_OF_CHOICE = 0.5
_OF_MODELS = 0.75
_JAGGED = 0.25


@dataclass(frozen=True)
class Generalization:
    """A choice on the sample, cross-validated and bootstrapped, and its consequences for new cases.

    `quantity` is what the choice is judged by: its expected cost, or the criterion it was chosen by. Losses are costs,
    or the criterion with the sign that makes less better.
    """

    design: Design
    candidates: Candidates
    sample: InSample
    held_out: HeldOut
    replicates: Replicates
    law: DrawsOfCounts | DrawsOfRows
    quantity: CostOrCriterion
    level: float
    seed: int

    def estimate(self) -> ChosenEstimate:
        """Return the value of the choice on new cases, with an interval."""
        draws = self._draws(self.held_out.cells)
        values = self._sign * (self._sign * draws[0] + self._gain_of_best)
        undefined = float(np.isnan(values).mean())
        found, repeats = self.held_out, self.held_out.repeats
        often = f"{repeats} times" if repeats > 1 else "once"
        method = f"chosen anew in {found.folds} folds, {often}, and {len(self.replicates.cells)} replicates"
        reasons = [
            self.law.doubt,
            f"nothing could be chosen in {found.failed[self._number]:.0%} of the folds"
            * bool(found.failed[self._number]),
            f"{self.candidates.criterion.name} is not defined in {undefined:.0%} of the draws" * bool(undefined),
        ]
        return ChosenEstimate.of_draws(
            values,
            level=self.level,
            value=self._sign * (float(self._held_out_loss[self._number]) + self._gain_of_best),
            method=", ".join(part for part in (method, self.law.note) if part),
            n=self.law.n,
            reason=next(filter(None, reasons), ""),
            apparent=self._sign * float(self._apparent_loss[self._number]),
            regret=self._regret(),
            models=self._probability_of_best(),
            acting=self._probability_of_acting(),
        )

    def apparent(self) -> Estimate:
        """Return the value on the rows used to choose, with the percentile interval of the fixed threshold."""
        drawn = self.candidates.each[self._number].value(self.replicates.cells[:, self._number], self.quantity)
        low, high = np.nanquantile(drawn, self._tails).tolist()
        method = self._bootstrap("percentile, threshold as given")
        value = self._sign * float(self._apparent_loss[self._number])
        return Estimate(value, low, high, self.level, method, self.design.n, float(np.nanstd(drawn)))

    def threshold(self) -> BootstrapEstimate:
        """Return the chosen threshold, and those of replicates that choose the same candidate."""
        chosen, number, found = self.candidates.each[self._number], self._number, self.replicates
        threshold = chosen.thresholds(self.design.tallies[chosen.model].threshold)
        values = threshold[found.point[found.number == number].astype(np.intp)]
        low = high = spread = np.nan
        if values.size:  # always thresholds that were observed
            low, high = np.quantile(values, self._tails, method="inverted_cdf").tolist()
        if values.size > 1 and np.isfinite(values).all():
            spread = float(values.std(ddof=1))
        value = float(threshold[int(self.sample.points[number][0])])
        method = self._bootstrap("percentile", values.size)
        return BootstrapEstimate(value, low, high, self.level, method, self.design.n, spread, replicates=values)

    def _bootstrap(self, what: str, replicates: int | None = None) -> str:
        used = len(self.replicates.cells) if replicates is None else replicates
        parts = (what, f"{used} replicates", self.design.note)
        return f"bootstrap ({', '.join(part for part in parts if part)})"

    @property
    def _number(self) -> int:
        return self.sample.number

    @property
    def _tails(self) -> list[float]:
        return [(1 - self.level) / 2, (1 + self.level) / 2]

    @property
    def _sign(self) -> int:
        """1 if lower values are better, −1 otherwise: value = sign × loss."""
        return 1 if self.quantity == "cost" else -self.candidates.criterion.sign

    def _loss(self, cells: Array) -> Array:
        return self._sign * self.candidates.values(cells, self.quantity)

    @cached_property
    def _apparent_loss(self) -> Array:
        return self._loss(self.sample.cells)

    @cached_property
    def _held_out_loss(self) -> Array:
        return self._loss(self.held_out.cells)

    @property
    def _optimism(self) -> Array:
        """Optimism of each candidate's threshold on its own rows."""
        return np.maximum(self._held_out_loss - self._apparent_loss, 0)

    @cached_property
    def _gain_of_best(self) -> float:
        """How much lower the cost of the best of several models is in replicates than in the sample."""
        best = self._first(self._worth(self.replicates.acting))[:, None]
        drawn = self._loss(self.replicates.cells)
        moved = np.take_along_axis(drawn - np.nanmean(drawn, axis=0), best, axis=1)
        return max(-float(np.nanmean(moved)), 0.0)

    def _draws(self, cells: Array, number: int | None = None) -> tuple[Array, Array]:
        """Return draws of the values of a candidate and of nobody, including selection error."""
        number = self._number if number is None else number
        error = (_ERROR_OF_CHOICE * self._optimism[number]) ** 2 + self._gain_of_best**2 + float(self._beyond.var())
        return self.law.draws(number, cells[number], float(np.nan_to_num(error)), self.quantity, self.seed)

    @cached_property
    def _beyond(self) -> Array:
        """Excess loss of the choice over the best of each replicate, corrected for the replicate's optimism."""
        found, least = self.replicates, np.full(len(self.replicates.cells), np.nan)
        for number, candidate in enumerate(self.candidates.each):
            here = found.number == number
            least[here] = self._sign * candidate.value(found.chosen[here], self.quantity)
        beyond = self._loss(found.cells)[:, self._number] - least
        beyond = beyond[np.isfinite(beyond)] - _JAGGED * self._optimism[self._number] - _OF_MODELS * self._gain_of_best
        return np.maximum(beyond, 0) if beyond.size else np.zeros(1)

    def _regret(self) -> Estimate | None:
        if self.quantity == "cost" and not self.candidates.by_cost_alone:
            return None
        low, high = np.quantile(self._beyond, self._tails)
        method = f"bootstrap, {self._beyond.size} replicates"
        return Estimate(float(self._beyond.mean()), float(low), float(high), self.level, method, self.law.n)

    def _worth(self, cells: Array) -> Array:
        """Return the value by which candidates are compared; more is better."""
        return self.candidates.criterion.sign * self.candidates.values(cells, "criterion")

    @cached_property
    def _held_out_worth(self) -> Array:
        """Value of each candidate's best threshold on held-out cases."""
        return self._worth(self.held_out.acting)

    def _first(self, worth: Array) -> Any:
        """Return the index of the best candidate along the last axis; candidates that cannot act are never best."""
        return np.where(np.isnan(worth), -np.inf, worth).argmax(axis=-1)

    def _probability_of_best(self) -> dict[str, float]:
        """Return how often each is best in replicates, at its own threshold and corrected for its own optimism."""
        drawn = self._worth(self.replicates.acting)
        optimism = self._held_out_worth - self._worth(self.sample.acting)
        error = np.random.default_rng([self.seed, 6]).standard_normal(drawn.shape)
        best = self._first(drawn + optimism * (1 + _ERROR_OF_CHOICE * error))
        return {candidate.label: float((best == n).mean()) for n, candidate in enumerate(self.candidates.each)}

    def _probability_of_acting(self) -> float:
        """Return the probability that the choice costs less than acting on nobody, or than the best alternative."""
        if self.candidates.each[0].rule.context.columns:
            return np.nan
        if self.quantity != "cost":
            return replace(self, quantity="cost")._probability_of_acting()
        number = self._number
        if not self.sample.cells[number, :2].any():
            number = int(self._first(self._held_out_worth))
        values, nobody = self._draws(self.held_out.acting, number)
        idle = nobody if self.candidates.idle is None else self.candidates.idle
        return float((values + self._gain_of_best < idle).mean())
