"""Draws of the cost of a chosen threshold, from the posterior of its rates or from the rows' own costs."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rocscope._base.arrays import Array
from rocscope.decisions.generalization.candidates import Candidate, Candidates, CostOrCriterion
from rocscope.decisions.generalization.resampling import InSample, Replicates
from rocscope.inference.costs import OF_FOLDS, MeanSample
from rocscope.inference.resampling.draws import Design

_DRAWS = 20_000  # a choice: the ends of a 95 % interval then vary by half a per cent of its width
PRIOR = 0.5
"""Prior count of Jeffreys' Beta and Dirichlet posteriors."""
_FEWEST = 10
"""With fewer rows in a class, intervals under-cover in the simulations of docs/guide/intervals.md."""
_STRAIGHT = 1e-6
"""A smaller skewness does not change any digit of an interval; avoids division by 0."""


@dataclass(frozen=True)
class DrawsOfCounts:
    """Draws of costs or criterion values from Jeffreys' posterior of prevalence and rates."""

    design: Design
    candidates: Candidates
    sample: InSample
    replicates: Replicates
    stratified: bool

    @property
    def n(self) -> float:
        """Rows."""
        return self.design.n

    @property
    def note(self) -> str:
        """Description of the rows for the name of the method."""
        return self.design.note

    @property
    def doubt(self) -> str:
        """Reason why the interval may not be reliable."""
        few = self.design.smallest_class
        return f"a class has {few:g} rows only, fewer than {_FEWEST}" if few < _FEWEST else ""

    def draws(
        self, number: int, cells: Array, error: float, quantity: CostOrCriterion, seed: int
    ) -> tuple[Array, Array]:
        """Return values of a candidate and of nobody; selection error is counted as missing information."""
        plain, _ = self._posterior([seed, 3], number, cells, quantity, 1.0)
        variance = float(np.nanvar(plain))
        wanted = OF_FOLDS * variance * self._effect_of_design(quantity, seed) + error
        return self._posterior([seed, 4], number, cells, quantity, variance / wanted if variance else 1.0)

    def _effect_of_design(self, quantity: CostOrCriterion, seed: int) -> float:
        """Design effect: the variance of one threshold with groups and weights relative to independent rows."""
        tallies = self.design.tallies.values()
        if self.design.one_row_a_unit and not any(each.rows and each.rows.weight is not None for each in tallies):
            return 1.0
        number = self.sample.number
        plain, _ = self._posterior([seed, 5], number, self.sample.cells[number], quantity, 1.0)
        variance = float(np.nanvar(plain))
        drawn = self.candidates.each[number].value(self.replicates.cells[:, number], quantity)
        spread = float(np.nanvar(drawn))  # 0 where every draw is decided without error
        return spread / variance if variance and spread else 1.0

    def _posterior(
        self, seed: list[int], number: int, cells: Array, quantity: CostOrCriterion, information: float
    ) -> tuple[Array, Array]:
        """Return posterior values of a candidate and of nobody, given the information per case.

        TPR ~ Beta(tp + ½, fn + ½), FPR ~ Beta(fp + ½, tn + ½) and, unless strata fix it, prevalence ~
        Beta(n_pos + ½, n_neg + ½).
        """
        rng, candidate = np.random.default_rng(seed), self.candidates.each[number]
        n = (cells[2] + cells[3]) or 1.0  # 1 where nothing could be chosen in any fold
        tp, fp, n_pos, n_neg = (information * cell for cell in cells)
        everybody_or_nobody = np.isclose(tp + fp, (0, n_pos + n_neg)).any()  # whatever the scores
        sure = everybody_or_nobody and n_pos > 0 and n_neg > 0

        def share(count: float, of: float) -> Any:
            return count / of if sure else rng.beta(count + PRIOR, max(of - count, 0.0) + PRIOR, _DRAWS)

        tpr, fpr = share(tp, n_pos), share(fp, n_neg)
        prevalence = rng.beta(n_pos + PRIOR, n_neg + PRIOR, _DRAWS)
        if self.stratified:
            prevalence = np.full(_DRAWS, n_pos / (n_pos + n_neg))
        return (
            _valued(candidate, prevalence * tpr, (1 - prevalence) * fpr, prevalence, n, quantity),
            _valued(candidate, np.zeros(_DRAWS), np.zeros(_DRAWS), prevalence, n, quantity),
        )


def _valued(
    candidate: Candidate, tp: Array, fp: Array, prevalence: Array, n: float, quantity: CostOrCriterion
) -> Array:
    """Return values at shares of n cases; a criterion may depend on their number."""
    return candidate.value(n * np.column_stack([tp, fp, prevalence, 1 - prevalence]), quantity)


@dataclass(frozen=True)
class DrawsOfRows:
    """Draws of mean costs if costs differ by row.

    Attributes
    ----------
    candidates : Candidates
        On rows in money.
    means : MeanSample of 2m + 1 values
        What each of m candidates costs, what its best threshold that acts costs more than nobody does, and what nobody
        costs.
    least : float
        No candidate costs less.
    chosen : int
        The number of the candidate that was chosen.
    unseen : array of 2m + 1 rows of 2
        Second and third moments of each mean that large amounts would add which the sample happens not to hold.
    doubt : str
        Reason why the interval may not be reliable.
    """

    candidates: Candidates
    means: MeanSample
    least: float
    chosen: int
    unseen: Array
    doubt: str = ""

    @property
    def n(self) -> float:
        """Rows."""
        return self.means.n

    @property
    def note(self) -> str:
        """Description of the rows for the name of the method."""
        return ", ".join(part for part in ("costs of each row", self.means.note) if part)

    def draws(
        self, number: int, cells: Array, error: float, quantity: CostOrCriterion, seed: int
    ) -> tuple[Array, Array]:
        """Return costs of a candidate and of nobody, with the right joint distribution of their difference."""
        cost, more = float(self.candidates.each[number].value(cells, quantity)), number + len(self.candidates.each)
        values = np.maximum(cost + self.off(number, seed, OF_FOLDS, error), self.least)
        gain = cost - float(self.means.mean[-1]) + self.off(more, seed, OF_FOLDS, error)
        return values, values - gain

    def off(self, number: int, seed: int, times: float = 1.0, added: float = 0.0) -> Array:
        """Return the deviation of the truth from a mean, with added variance.

        Its quantiles are the ends of Hall's interval. Variance and skewness are those of the rows, and of large amounts
        that may be missing among them.
        """
        normal = np.random.default_rng([seed, 4]).standard_normal(_DRAWS)
        second, third = self.unseen[number]
        spread = np.sqrt(times * (self.means.covariance[number, number] + second) + added)
        skew = self.means.skewness(number, second, third)
        return -spread * skewed(normal, skew)


def skewed(normal: Any, skew: float) -> Any:
    """Return what a mean of skewed values is at each normal deviate, in standard errors.

    References
    ----------
    Hall 1992, J. R. Stat. Soc. B 54:221–228.

    Examples
    --------
    >>> round(float(skewed(1.96, 0.2)), 3), skewed(1.96, 0)
    (1.722, 1.96)
    """
    return normal if abs(skew) < _STRAIGHT else 3 / skew * (np.cbrt(1 + skew * (normal - skew / 6)) - 1)
