"""Confidence sequences for monitored metrics: intervals and tests that remain valid if data are checked repeatedly.

Betting. Assume that values x ≥ a have the mean m. A gambler bets at fair odds that the mean is larger than m, with the
share t of the current wealth on each value. After several values, the wealth is

    W = Π (1 − t + t·(x − a)/(m − a))

If the mean is m, W is a martingale that starts at 1. The probability that W ever reaches 1/α is at most α (Ville's
inequality). A confidence sequence at level 1 − α contains all means m for which a mixture of such bets has not reached
1/α. Its intervals at all times are valid simultaneously. A cost has few possible values, and W depends only on the
number of times that each value occurred. Therefore a monitor stores only counts, and counts of several machines can be
added.

Change points. A change may start at any row. Therefore the stake is divided: one part is bet from the first row on, one
part is bet from each later block of rows on, and one part is kept as cash. The total wealth is also a martingale. The
change is estimated to start at the block from which most of the wealth grew.

Fixed prevalence. The cost per case depends on the prevalence of the new cases. If the prevalence fluctuates, bets on
the cost are not at fair odds, but bets on the costs within each class are. Let μ₁ and μ₀ be the mean costs of positives
and negatives, minus the limit on the cost. At the prevalence π the cost is at its limit if π·μ₁ + (1 − π)·μ₀ = 0. The
evidence against the limit is the product of the wealth of bets against μ₁ and the wealth of bets against μ₀, minimised
over all such pairs (μ₁, μ₀).

AUC. The AUC is estimated from counts in ranges of the score (`RankCounts`), with asymptotic confidence sequences.

The file is in this order: monitored means and their limits, intervals by betting, blocks of rows and the evidence from
each block on, causes of an alarm, fixed prevalence, counts in ranges of the score.

References: Ville 1939; Robbins 1970, Ann. Math. Stat. 41:1397-1409; Waudby-Smith & Ramdas 2024, J. R. Stat. Soc. B
86:1-27; Shin, Ramdas & Rinaldo 2023, "E-detectors".
"""

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from math import log, log1p, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from rocscope._base.arrays import Array, Indices
from rocscope._base.roots import root
from rocscope.core import Context
from rocscope.errors import InputError
from rocscope.figures.conditions import Condition
from rocscope.figures.influence import Figure
from rocscope.figures.registry import figure_named, known
from rocscope.inference.estimate import Estimate
from rocscope.inference.planning.sample_size import auc_variance

# Monitored means, and limits on them

CELLS = ("tp", "fp", "fn", "tn")
POSITIVES, NEGATIVES = (0, 2), (1, 3)
SHOWN = ("tpr", "fpr", "precision", "depth", "error")
"""Rates that are always monitored; other rates are monitored only if a limit names them."""

Shares = Sequence[tuple[str, Sequence[int], Sequence[int]]]

RANKED = {"auc": "auc", "excess_events": "calibration"}
"""Monitored metrics of scores, with their display names."""


@dataclass(frozen=True)
class CellMean:
    """A mean over cells of the confusion matrix, such as the cost per case or the precision.

    Attributes
    ----------
    name : str
        Name of the metric.
    used : tuple of int
        Indices of the cells in the denominator; 0 to 3 are tp, fp, fn and tn.
    values : tuple of float
        Value of a case in each of these cells.
    prevalence : float, optional
        Prevalence at which the mean is computed. By default, the prevalence of the cases.

    Examples
    --------
    >>> precision = cell_means(Context())["precision"]
    >>> precision.of(np.array([30, 10, 5, 55]))
    (0.75, 40.0)
    >>> cell_means(Context(), prevalence=0.5)["precision"].of(np.array([30, 10, 5, 55]))
    (0.8478..., 40.0)
    """

    name: str
    used: tuple[int, ...]
    values: tuple[float, ...]
    prevalence: float | None = None

    @classmethod
    def over(cls, name: str, values: Any, counted: Any, prevalence: float | None = None) -> "CellMean":
        """Return the CellMean whose denominator contains the cells with `counted` = 1.

        Parameters
        ----------
        name : str
            Name of the metric.
        values, counted : sequences of 4
            Value of a case in each of the cells tp, fp, fn and tn; and 1 for cells in the denominator, 0 for others.
        prevalence : float, optional
            Prevalence at which the mean is computed.
        """
        used = np.flatnonzero(counted).tolist()
        return cls(name, tuple(used), tuple(float(values[cell]) for cell in used), prevalence)

    @property
    def mixed(self) -> bool:
        """True if the mean is computed at a fixed prevalence, and its denominator contains both classes."""
        within_a_class = set(self.used) <= {*POSITIVES} or set(self.used) <= {*NEGATIVES}
        return self.prevalence is not None and not within_a_class

    def counts(self, cells: Array) -> Array:
        """Return the counts of the cells in the denominator, given the counts of all four cells (… × 4)."""
        return cells[..., list(self.used)]

    def of(self, cells: Array) -> tuple[float, float]:
        """Return the mean and the number of cases in its denominator. Without cases, the mean is NaN."""
        counts = self.counts(cells)
        n = float(counts.sum())
        if self.mixed:
            tp, fp, fn, tn = map(float, cells)
            tpr = tp / (tp + fn) if tp + fn else np.nan
            fpr = fp / (fp + tn) if fp + tn else np.nan
            return self.at_rates(tpr, fpr), n
        return (float(counts @ np.array(self.values) / n) if n else np.nan), n

    def at_rates(self, tpr: float, fpr: float) -> float:
        """Return the mean at the fixed prevalence, given tpr and fpr. If the denominator is 0, return NaN."""
        assert self.prevalence is not None
        pos, neg = self.prevalence, 1 - self.prevalence
        cells = np.array([pos * tpr, neg * fpr, pos * (1 - tpr), neg * (1 - fpr)])
        counts = self.counts(cells)
        return float(counts @ np.array(self.values) / counts.sum()) if counts.sum() else np.nan


def cell_means(context: Context, names: Iterable[str] = SHOWN, prevalence: float | None = None) -> dict[str, CellMean]:
    """Return a CellMean for the cost per case in a context, and for each named rate.

    Parameters
    ----------
    context : Context
        Costs of tp, fp, fn and tn.
    names : sequence of str
        Names of rates, such as "precision".
    prevalence : float, optional
        Prevalence at which the means are computed.

    Returns
    -------
    dict from name to CellMean
    """
    parts = {name: known(name).parts for name in names if name != "cost"}  # pyright: ignore[reportOptionalMemberAccess]
    everyone = (1,) * len(CELLS)
    means = {}
    for name, (top, bottom) in ({"cost": (tuple(context.costs.values()), everyone)} | parts).items():  # pyright: ignore[reportGeneralTypeIssues]
        means[name] = CellMean.over(name, top, bottom, prevalence)
    return means


def limit_of(text: str, *, of_decision: bool) -> Condition:
    """Parse a limit, the condition that raises an alarm, such as ``cost > .35``.

    Parameters
    ----------
    text : str
        The condition.
    of_decision : bool
        If True, the condition may use the cost or a proportion of cases. If False, only metrics of scores are allowed.

    Examples
    --------
    >>> limit_of("Sensitivity < 80%", of_decision=True), limit_of("calibration > 0", of_decision=False)
    (Condition('tpr < 0.8'), Condition('calibration > 0'))
    """
    limit, *more = Condition.read(text, "fail_if", "cost > .35")
    if more or limit.level is not None or limit.model is not None:
        expected = "one condition without confidence level and without model, such as 'cost > .35'"
        raise InputError("fail_if", expected=expected, got=repr(text), hint="pass several conditions as a list")

    def suits(figure: Figure) -> bool:
        share = figure.unit == "share" and figure.parts is not None and set(figure.parts[0]) == {0, 1}
        return figure.name in RANKED or (of_decision and (share or figure.name == "cost"))

    expected = "the cost, 'auc', 'calibration' or a mean over cases such as 'precision'"
    figure = figure_named(limit.quantity, "fail_if", expected=expected, suits=suits)
    return replace(limit, quantity=RANKED.get(figure.name, figure.name))


# Intervals by betting

# Shares of the wealth to bet, for an interval. Small shares grow fastest if the tested mean is near the observed mean,
# and large shares if it is far away.
SHARES = np.geomspace(1e-3, 0.9, 24)
# The odds are infinite at the smallest value. Therefore roots are searched from this fraction of the range above it.
MARGIN = 1e-9
# Smallest confidence level, used instead of 0, for which the formula divides by 0.
LEAST_LEVEL = 1e-300


def _log_wealth(values: Array, counts: Array, mean: float, least: float, shares: Array = SHARES) -> Array:
    """Return the logarithm of the wealth of bets that the true mean is larger than `mean`.

    The stake is divided equally among bets with different shares of the wealth.

    Parameters
    ----------
    values : array of v
        Possible values of a case.
    counts : array of … × v
        Number of times that each value occurred.
    mean : float
        Mean to test, above `least`.
    least : float
        The smallest possible value.
    shares : array
        Shares of the wealth to bet on each case.

    Examples
    --------
    Nine of ten values are 1, one is 0, and the tested mean is 0.5. A bet of half of the wealth on each value gives
    1.5⁹·0.5:

    >>> float(np.exp(_log_wealth(np.array([0, 1]), np.array([1, 9]), 0.5, 0, np.array([0.5]))))
    19.22...
    """
    gain = 1 - shares[:, None] + shares[:, None] * (values - least) / (mean - least)
    with np.errstate(divide="ignore"):
        log_wealth = counts @ np.log(gain).T
    return np.logaddexp.reduce(log_wealth, axis=-1) - log(shares.size)


def mean_interval(values: Array, counts: Array, level: float) -> tuple[float, float]:
    """Return the current interval of the confidence sequence of a mean.

    Parameters
    ----------
    values : array of v
        Possible values of a case.
    counts : array of v
        Number of times that each value occurred.
    level : float
        Confidence level.

    Notes
    -----
    The interval contains all means that the bets have not rejected. Half of the stake is bet that the mean is larger
    than the tested mean, and half that it is smaller. The wealth of each half decreases if the tested mean approaches
    the observed mean. So each limit of the interval is the root of an equation.

    References
    ----------
    Waudby-Smith & Ramdas 2024, J. R. Stat. Soc. B 86:1–27 (bets); Robbins 1970, Ann. Math. Stat. 41 (mixtures).

    Examples
    --------
    >>> low, high = mean_interval(np.array([0, 1]), np.array([50, 50]), 0.95)
    >>> round(low, 3), round(high, 3)
    (0.335, 0.665)
    """
    values = np.asarray(values, dtype=np.float64)
    low = _lower_end(values, counts, level)
    return low, -_lower_end(-values, counts, level)


def _lower_end(values: Array, counts: Array, level: float) -> float:
    """Return the smallest mean for which the wealth of bets on a larger mean is below 2/(1 − level)."""
    least, total = float(values.min()), counts.sum()
    if not total or values.max() == least:
        return least
    observed = float(values @ counts / total)
    needed = log(2 / (1 - level))

    def excess(mean: float) -> float:
        return float(_log_wealth(values, counts, mean, least)) - needed

    # The wealth decreases from the smallest value to the observed mean, where it is at most 1, so there is one root.
    first = least + MARGIN * (values.max() - least)
    if observed <= first or excess(first) <= 0:
        return least
    return root(excess, first, observed, xtol=1e-10)


def asymptotic_reach(n: float, level: float, best_at: float = 500.0) -> float:
    """Return the half-width of an asymptotic confidence sequence, as a multiple of the standard error.

    Parameters
    ----------
    n : float
        Number of rows so far.
    level : float
        Confidence level 1 − α.
    best_at : float
        Number of rows at which the interval is as short as possible.

    Notes
    -----
    The half-width is √((nρ² + 1)/(nρ²)·2·log(√(nρ² + 1)/α)). The constant ρ² is chosen such that the half-width is as
    small as possible at `best_at` rows. At a tenth of this number of rows, and at ten times this number, the interval
    is 5% wider than the shortest possible one. The sequence is asymptotically valid if the first check is at a large n.

    References
    ----------
    Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas 2024, Ann. Stat. 52:2613–2640, theorem 2.2 and eq. 15.

    Examples
    --------
    >>> round(asymptotic_reach(500, 0.95), 2)
    3.0...
    """
    twice = -2 * log1p(-max(level, LEAST_LEVEL))  # −2 log α, also if α is rounded to 1
    spread = n * (twice + log1p(twice)) / best_at
    return sqrt((spread + 1) / spread * (log1p(spread) + twice))


# Blocks of rows, and the evidence from each block on

# Shares of the wealth to bet against a limit. These shares and the stakes below were found by simulation. With them, a
# change after 0 to 5,000 rows is detected with at most twice the rows that a fixed test needs.
BETS = np.geomspace(0.015, 0.6, 6)
# Share of the stake that is bet from the first row on. The later blocks k = 1, 2, … divide a share of .9 in proportion
# to (k + 3)^−1.3. The sum of these numbers over all k is 2.2861.
STAKE_OF_FIRST, STAKE_OF_LATER = 0.1, 0.9 / 2.2861
STAKE_OFFSET, STAKE_POWER = 3.0, 1.3
# A block has at least 50 rows and 1/48 of all rows, so the number of blocks grows like the logarithm of the rows.
LEAST_BLOCK_ROWS, BLOCKS_BEFORE_GROWTH = 50, 48
# Prior probability that the limit is violated from the first row on. With a smaller value, the estimated start of a
# change at the first row is too late (benchmarks/simulations/monitors.py).
BAD_FROM_FIRST = 0.2
# Expected distance of an AUC from its limit after a change. With four values from .02 to .2, detection took longer.
AUC_EFFECTS = (0.04, 0.12)


@dataclass
class LookBlock:
    """Counts and sums of the rows between two possible change points.

    Attributes
    ----------
    when : any
        Time of the first row.
    cells : array
        Numbers tp, fp, fn and tn at the threshold. For several classes, the cells of the confusion matrix row by row.
    residuals : array of 3
        n, Σ(y − p) and Σ(y − p)² for labels y and probabilities p.
    bets : dict from limit to array
        For each limit on the calibration, the logarithm of the wealth that each bet on these rows gained.
    """

    when: Any
    cells: Array
    residuals: Array
    bets: dict[str, Array]

    @classmethod
    def empty(cls, when: Any, size: int = len(CELLS)) -> "LookBlock":
        """Return a block without rows, with `size` cells."""
        return cls(when, np.zeros(size, np.int64), np.zeros(3), {})

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.cells.sum())

    def plus(self, other: "LookBlock") -> "LookBlock":
        """Return the sum of this block and another block, with the time of this block."""
        bets = self.bets.copy()
        for name, wealth in other.bets.items():
            bets[name] = bets.get(name, np.zeros(BETS.size)) + wealth
        return LookBlock(self.when, self.cells + other.cells, self.residuals + other.residuals, bets)

    def to_dict(self) -> dict[str, Any]:
        """Return the block as a dictionary for JSON."""
        bets = {name: [float(value) for value in wealth] for name, wealth in self.bets.items()}
        return {"when": self.when, "cells": self.cells.tolist(), "residuals": self.residuals.tolist(), "bets": bets}


def begins(blocks: list[LookBlock]) -> bool:
    """Return True if a new block should start: the last block has at least 50 rows and at least 1/48 of all rows."""
    return not blocks or blocks[-1].n >= max(LEAST_BLOCK_ROWS, sum(block.n for block in blocks) / BLOCKS_BEFORE_GROWTH)


def _stakes(blocks: int) -> Array:
    """Return the share of the stake that is bet from each block on, given the number of blocks.

    Examples
    --------
    >>> _stakes(3).round(3)
    array([0.1  , 0.065, 0.049])
    """
    later = np.arange(1, blocks)
    return np.concatenate(([STAKE_OF_FIRST], STAKE_OF_LATER * (later + STAKE_OFFSET) ** -STAKE_POWER))


@dataclass(frozen=True)
class Betting:
    """Evidence that a limit is violated.

    Attributes
    ----------
    wealth : float
        Current wealth of bets against the limit, with an initial stake of 1.
    since : int
        Index of the block in which the change is estimated to start.
    """

    wealth: float
    since: int


def evidence(blocks: list[LookBlock], limit: Condition, mean: CellMean | None) -> Betting:
    """Return the evidence that a limit is violated, for a mean at the observed prevalence or for the calibration.

    Parameters
    ----------
    blocks : list of LookBlock
        Counts of all rows so far.
    limit : Condition
        The condition that raises an alarm.
    mean : CellMean or None
        The limited mean. None if the limit is on the calibration.
    """
    rows = np.array([block.n for block in blocks])
    if mean is None:
        wealth = np.array([block.bets.get(str(limit), np.zeros(BETS.size)) for block in blocks])
        return spread(np.logaddexp.reduce(from_each_on(wealth), axis=1) - log(BETS.size), rows)
    sign = 1.0 if limit.upwards else -1.0
    values = sign * np.array(mean.values)
    counts = from_each_on(np.array([mean.counts(block.cells) for block in blocks]))
    return spread(_log_wealth(values, counts, sign * limit.bound, float(values.min()), BETS), rows)


def spread(grown: Array, rows: Array) -> Betting:
    """Return the wealth of a stake that is divided among starting blocks.

    Parameters
    ----------
    grown : array of blocks
        Logarithm of the wealth of a bet that starts at each block, with a stake of 1.
    rows : array of blocks
        Number of rows in each block.

    References
    ----------
    Ville 1939; Waudby-Smith & Ramdas 2024, J. R. Stat. Soc. B 86:1–27; Shin, Ramdas & Rinaldo 2023, "E-detectors"
    (starting points; there for a run length, here with a stake that bounds the probability of any false alarm).
    """
    stakes = _stakes(grown.size)
    log_wealth = np.logaddexp.reduce(np.log(stakes) + grown)
    # A float overflows above e^709. An alarm is raised at a much smaller wealth.
    wealth = float(np.exp(np.minimum(log_wealth, 700.0)) + 1 - stakes.sum())
    return Betting(wealth, int(_start_of_change(grown, rows)))


def _start_of_change(grown: Array, rows: Array) -> Array:
    """Return the index of the block in which a change is estimated to start: the posterior median.

    Parameters
    ----------
    grown : array of … × blocks
        Logarithm of the wealth of a bet that starts at each block.
    rows : array of blocks
        Number of rows in each block.

    Notes
    -----
    The prior probability of a start is equal for all rows, except for a larger probability of the first row. The wealth
    of a bet that starts at a block is the likelihood ratio for a change in this block.

    Examples
    --------
    >>> int(_start_of_change(np.log([1, 1, 8, 3]), np.array([50, 50, 50, 50])))
    2
    """
    later = rows[1:].sum()
    prior = np.append(BAD_FROM_FIRST, (1 - BAD_FROM_FIRST) * rows[1:] / max(later, 1))
    with np.errstate(divide="ignore"):
        weight = np.exp(grown - grown.max(axis=-1, keepdims=True) + np.log(prior)).cumsum(axis=-1)
    return (weight >= weight[..., -1:] / 2).argmax(axis=-1)


def mixture_evidence(excess: Array, variance: Array) -> Array:
    """Return the logarithm of the evidence that a normally distributed estimate violates its limit.

    Parameters
    ----------
    excess : array
        Estimate minus limit.
    variance : array
        Variance of the estimate.

    Notes
    -----
    Bets are mixed over possible effects λ > 0, which have a half-normal distribution of scale τ. Let I = 1/variance and
    z = excess·√I. The evidence is the integral of exp(λz√I − λ²I/2) over λ, weighted by the density of λ. With r = τ²I,
    it equals 2·Φ(z·√(r/(1 + r)))·exp(z²r/(2(1 + r)))/√(1 + r). The result is the mean for two values of τ.

    References
    ----------
    Robbins 1970, Ann. Math. Stat. 41:1397–1409 (mixtures of bets on a normal mean).
    """
    z = excess / np.sqrt(variance)
    log_wealth = []
    for effect in AUC_EFFECTS:
        r = effect**2 / variance
        log_tail = special.log_ndtr(z * np.sqrt(r / (1 + r)))
        log_wealth.append(log(2) + log_tail - np.log1p(r) / 2 + z**2 * r / (2 * (1 + r)))
    return np.logaddexp.reduce(log_wealth, axis=0) - log(len(AUC_EFFECTS))


def from_each_on(values: Array) -> Array:
    """Return for each block the sum of the values of this block and all later blocks (along the first axis)."""
    return values[::-1].cumsum(axis=0)[::-1]


def bets_on_residuals(residual: Array, weight: Array, limit: Condition) -> Array:
    """Return the logarithm of the wealth of bets that the mean of observed − expected violates a limit.

    Parameters
    ----------
    residual, weight : arrays of n
        Label minus probability of each row, and its weight.
    limit : Condition
        Limit on the mean.

    Returns
    -------
    array
        Logarithm of the wealth for each share in `BETS`.
    """
    sign = 1.0 if limit.upwards else -1.0
    excess = sign * (residual - limit.bound)
    # Residuals are between −1 and 1. The largest possible loss is 1 + |bound|; dividing by it keeps the wealth above 0.
    share = BETS[:, None] / (1 + abs(limit.bound))
    return np.log1p(share * excess) @ weight


# Causes of an alarm

# Familywise error rate of the comparisons before and after a change, divided among the four compared metrics.
CAUSE_ERROR = 0.05
# Rates by name: the cells of the numerator and of the denominator.
SHARES_OF_CELLS = (("class mix", (0, 2), (0, 1, 2, 3)), ("tpr", (0,), (0, 2)), ("fpr", (1,), (1, 3)))
# With fewer rows before the change, the comparison uses the rows on which the decision was chosen.
LEAST_ROWS_BEFORE = 50
# A χ² test over fewer blocks has little power. The error rate is small, because the test is repeated at every check.
LEAST_BLOCKS, VARYING_ERROR = 10, 0.001


def causes_of(blocks: list[LookBlock], since: int, cells: Array | None, shares: Shares = SHARES_OF_CELLS) -> str:
    """Return a text that lists the rates that differ significantly before and after a change.

    Parameters
    ----------
    blocks : list of LookBlock
        Counts of all rows so far.
    since : int
        Index of the first block after the change.
    cells : array, optional
        Confusion matrix of the rows on which the decision was chosen. Used if fewer than 50 rows precede the change.
    shares : sequence of (name, numerator, denominator)
        Rates to compare. Numerator and denominator are indices of cells. The calibration is always compared.
    """
    size = blocks[0].cells.size
    before, after = total(blocks[:since], size), total(blocks[since:], size)
    if before.n < LEAST_ROWS_BEFORE and cells is not None:
        before = LookBlock(None, cells, np.zeros(3), {})
    comparisons = []
    for name, hits, used in shares:
        counts = [(block.cells[list(hits)].sum(), block.cells[list(used)].sum()) for block in (before, after)]
        comparisons.append((name, *_compare_shares(*counts)))
    comparisons.append(("calibration", *_compare_residuals(before.residuals, after.residuals)))
    reach = stats.norm.isf(CAUSE_ERROR / len(comparisons) / 2)
    words = [f"{name} ({first:.3g} → {second:.3g})" for name, first, second, z in comparisons if abs(z) > reach]
    return ", ".join(words)


def total(blocks: list[LookBlock], size: int) -> LookBlock:
    """Return the sum of blocks that have `size` cells."""
    sums = LookBlock.empty(None, size)
    for block in blocks:
        sums = sums.plus(block)
    return sums


def _compare_shares(before: tuple[Any, Any], after: tuple[Any, Any]) -> tuple[float, float, float]:
    """Return the rates before and after a change, and the z statistic of their difference, with pooled variance.

    Each argument is a numerator and a denominator.
    """
    (first_hits, first_n), (second_hits, second_n) = before, after
    if not (first_n and second_n):
        return 0.0, 0.0, 0.0
    first, second = first_hits / first_n, second_hits / second_n
    pooled = (first_hits + second_hits) / (first_n + second_n)
    error = sqrt(pooled * (1 - pooled) * (1 / first_n + 1 / second_n))
    return first, second, (second - first) / error if error else 0.0


def _compare_residuals(before: Array, after: Array) -> tuple[float, float, float]:
    """Return the mean residuals before and after a change, and the z statistic of their difference.

    Each argument contains the number of rows, the sum of the residuals, and the sum of their squares.
    """
    if min(before[0], after[0]) < 2:
        return 0.0, 0.0, 0.0
    means, variance = [], 0.0
    for n, total, squares in (before, after):
        means.append(total / n)
        variance += max(squares / n - (total / n) ** 2, 0) / n
    first, second = means
    return first, second, (second - first) / sqrt(variance) if variance else 0.0


def varying_prevalence(by_class: Array, steady: str = "tpr, fpr and auc") -> str:
    """Return a warning text if the prevalence varies between blocks by more than chance; otherwise an empty text.

    Parameters
    ----------
    by_class : array of blocks × classes
        Number of rows of each class in each block.
    steady : str
        Names of metrics that do not depend on the prevalence, for the text.
    """
    present = by_class[:, by_class.sum(axis=0) > 0]
    if len(by_class) < LEAST_BLOCKS or present.shape[1] < 2:
        return ""
    # Pearson's statistic of homogeneity; divided by its degrees of freedom, it is the variance relative to chance.
    expected = np.outer(present.sum(axis=1), present.sum(axis=0)) / present.sum()
    chi2 = float(((present - expected) ** 2 / expected).sum())
    freedom = (len(present) - 1) * (present.shape[1] - 1)
    if stats.chi2.sf(chi2, freedom) > VARYING_ERROR:
        return ""
    return (
        f"The prevalence varies {sqrt(chi2 / freedom):.2g} times as much between periods as expected by chance. "
        "If this is usual, a limit on the cost near its long-run mean raises more false alarms than stated. "
        f"Limits on {steady} remain valid."
    )


# Fixed prevalence

# The share 0 keeps a part of the stake as cash, so that the wealth in one class stays above 0 if its bets lose.
BETS_OF_CLASS = np.append(0.0, BETS)
# The smallest wealth is searched on grids. Each stage narrows the range 16-fold around the minimum of the last grid.
GRID_POINTS, GRID_STAGES = 33, 3


def interval_of(mean: CellMean, cells: Array, level: float) -> tuple[float, float]:
    """Return the current interval of the confidence sequence of a mean over cells.

    Notes
    -----
    At a fixed prevalence, intervals of tpr and fpr are computed at the level 1 − (1 − level)/2. The mean is a quotient
    of linear functions of tpr and fpr. So its smallest and largest values are at limits of these two intervals.
    """
    if not mean.mixed:
        return mean_interval(np.array(mean.values), mean.counts(cells), level)
    hit_or_not, one_sided = np.array([1.0, 0.0]), (1 + level) / 2
    rates_pos = mean_interval(hit_or_not, cells[list(POSITIVES)], one_sided)
    rates_neg = mean_interval(hit_or_not, cells[list(NEGATIVES)], one_sided)
    ends = [mean.at_rates(tpr, fpr) for tpr in rates_pos for fpr in rates_neg]
    # If the denominator is 0 at a corner, as for precision, the corner is omitted. Without corners, return the range.
    defined = [end for end in ends if not np.isnan(end)] or [min(mean.values), max(mean.values)]
    return min(defined), max(defined)


def evidence_of(blocks: list[LookBlock], limit: Condition, mean: CellMean | None) -> Betting:
    """Return the evidence that a limit is violated, for any mean or for the calibration; see `evidence`."""
    if mean is None or not mean.mixed:
        return evidence(blocks, limit, mean)
    assert mean.prevalence is not None
    # Gain of a bet on each cell: the value minus the bound; 0 for cells outside the mean.
    sign, gain = (1.0 if limit.upwards else -1.0), np.zeros(4)
    gain[list(mean.used)] = sign * (np.array(mean.values) - limit.bound)
    counts = from_each_on(np.array([block.cells for block in blocks]))
    odds = mean.prevalence / (1 - mean.prevalence)
    of_pos = gain[list(POSITIVES)], counts[:, list(POSITIVES)]
    of_neg = gain[list(NEGATIVES)], counts[:, list(NEGATIVES)]
    return spread(_least_on_line(of_pos, of_neg, odds), np.array([block.n for block in blocks]))


def _least_on_line(of_pos: tuple[Array, Array], of_neg: tuple[Array, Array], odds: float) -> Array:
    """Return the smallest log wealth over all pairs of mean gains (μ₁, μ₀) that satisfy the limit.

    Parameters
    ----------
    of_pos, of_neg : (array of 2, array of k × 2)
        Gain of a case in each of the two cells of a class, and counts of the two cells from each of k blocks on.
    odds : float
        Odds π/(1 − π) of the fixed prevalence π. The limit is satisfied if π·μ₁ + (1 − π)·μ₀ ≤ 0, that is, if
        μ₀ ≤ −odds·μ₁.

    Returns
    -------
    array of k
        Logarithm of the wealth of bets from each block on.

    Notes
    -----
    The wealth decreases with the tested means. For each μ₁ it is therefore smallest at the largest allowed μ₀. The
    smallest wealth over μ₁ is searched on a grid, and then on finer grids around the minimum.
    """
    pos, neg = of_pos[0], of_neg[0]
    # At the largest μ₁, μ₀ is the smallest gain of a negative. For a larger μ₁ no μ₀ satisfies the limit.
    low = np.full(len(of_pos[1]), pos.min())
    high = np.full(low.size, min(pos.max(), -neg.min() / odds))
    first, last, least = low, high, low
    for _ in range(GRID_STAGES):
        means = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, GRID_POINTS)
        # The mean gain of negatives is at most their largest gain, and such pairs satisfy the limit.
        means_neg = np.minimum(-odds * means, neg.max())
        log_wealth = _log_wealth_in_class(*of_pos, means) + _log_wealth_in_class(*of_neg, means_neg)
        place = log_wealth.argmin(axis=1)[:, None]
        least = np.take_along_axis(log_wealth, place, axis=1)[:, 0]
        centre = np.take_along_axis(means, place, axis=1)[:, 0]
        reach = (high - low) / (GRID_POINTS - 1)
        low, high = np.maximum(centre - reach, first), np.minimum(centre + reach, last)
    return least


def _log_wealth_in_class(values: Array, counts: Array, means: Array) -> Array:
    """Return the logarithm of the wealth of bets against the mean of one class; 0 if all values are equal.

    Parameters
    ----------
    values : array of v
        Possible values of a case.
    counts : array of k × v
        Number of times that each value occurred.
    means : array of k × g
        Means to test.
    """
    least, width = values.min(), np.ptp(values)
    if not width:
        return np.zeros(means.shape)
    odds = (values - least) / np.maximum(means - least, MARGIN * width)[..., None]
    gain = np.log(1 + BETS_OF_CLASS[:, None, None, None] * (odds - 1))
    return special.logsumexp((gain * counts[:, None]).sum(axis=-1), axis=0) - np.log(BETS_OF_CLASS.size)


# Counts in ranges of the score

# Largest number of ranges. Half of it is enough if any two adjacent ranges contain more than 1/512 of the rows.
MOST_RANGES = 2048
# Largest share of the rows in a merged range. Pairs within a range count as ties, so the AUC changes by at most 1/1024.
LEAST_SHARE = 1 / 512
SIGN_BIT, WIDEST_BITS = np.uint64(1 << 63), 63
# Prior weight, as a number of rows of each class, of the variance for normal scores. It matters if there are few rows.
PRIOR_ROWS = 20
# Smallest number of rows of each class for which the normal approximation of the AUC is used.
ENOUGH_ROWS = 20


def _keys(score: Array) -> NDArray[np.uint64]:
    """Return unsigned integers (keys) that have the same order as the scores.

    Examples
    --------
    >>> np.argsort(_keys(np.array([0.5, -2.0, 0.0, -0.0, 1e300]))).tolist()
    [1, 2, 3, 0, 4]
    """
    # Positive floats have the order of their bits, negative floats the reverse order. Adding 0 makes −0 equal to 0.
    bits = (score.astype(np.float64) + 0.0).view(np.uint64)
    return np.where(bits & SIGN_BIT, ~bits, bits | SIGN_BIT)


class RankCounts:
    """Numbers of positives and negatives in ranges of the score, from which a monitor estimates the AUC.

    If there are few distinct scores, each score is a range. If there are many, ranges with few rows are merged. A range
    contains all floats that share a binary prefix. Therefore ranges of two monitors are either nested or disjoint, and
    their counts can be added. Ranges with many rows remain narrow.

    Attributes
    ----------
    start : array of r
        The smallest key (see `_keys`) of each range, in increasing order.
    bits : array of r
        Number of low bits of the key that vary within each range; 0 for a single score.
    low, high : arrays of r
        The lowest and the highest observed score in each range.
    pos, neg : arrays of blocks × r
        Numbers of positives and negatives in each block of rows (`LookBlock`) and range.
    """

    def __init__(self) -> None:
        self.start = np.zeros(0, np.uint64)
        self.bits = np.zeros(0, np.uint64)
        self.low, self.high = np.zeros(0), np.zeros(0)
        self.pos, self.neg = np.zeros((0, 0), np.int64), np.zeros((0, 0), np.int64)

    def copied(self) -> "RankCounts":
        """Return a copy. Counts can be added to the copy without changing the original."""
        other = copy(self)
        # `start` and `bits` are never changed in place, so both objects can share them.
        other.low, other.high = self.low.copy(), self.high.copy()
        other.pos, other.neg = self.pos.copy(), self.neg.copy()
        return other

    def add(self, block: int, score: Array, pos: Array, neg: Array) -> None:
        """Add rows to a block, given the distinct scores and the numbers of positives and negatives at each score."""
        self._add(block, score.astype(np.float64) + 0.0, score.astype(np.float64) + 0.0, 0, pos, neg)

    def _add(self, block: int, low: Array, high: Array, bits: Any, pos: Array, neg: Array) -> None:
        key = _keys(low)
        bits = np.broadcast_to(np.asarray(bits, np.uint64), key.shape)
        place = self._place(key)
        new = (place < 0) | (self.bits[np.maximum(place, 0)] < bits if self.start.size else True)
        if new.any():
            starts, first = np.unique(key[new] >> bits[new] << bits[new], return_index=True)
            self._insert(starts, bits[new][first], low[new][first], high[new][first])
            place = self._place(key)
        while len(self.pos) <= block:
            none = np.zeros(self.start.size, np.int64)
            self.pos, self.neg = np.vstack([self.pos, none]), np.vstack([self.neg, none])
        np.add.at(self.pos[block], place, pos)
        np.add.at(self.neg[block], place, neg)
        np.minimum.at(self.low, place, low)
        np.maximum.at(self.high, place, high)
        if self.start.size > MOST_RANGES:
            self._join()

    def _place(self, key: Array) -> Indices:
        """Return the index of the range that contains each key; −1 if no range contains it."""
        if not self.start.size:
            return np.full(key.shape, -1)
        place = np.searchsorted(self.start, key, side="right") - 1
        inside = (place >= 0) & ((key ^ self.start[place]) >> self.bits[place] == 0)
        return np.where(inside, place, -1)

    def _insert(self, start: Array, bits: Array, low: Array, high: Array) -> None:
        """Insert new ranges. Existing narrower ranges inside a new range are merged into the new range."""
        begun = np.concatenate([self.start, start])
        order = np.argsort(begun, kind="stable")
        begun, width = begun[order], np.concatenate([self.bits, bits])[order]
        none = np.zeros((len(self.pos), start.size), np.int64)
        low, high = np.concatenate([self.low, low])[order], np.concatenate([self.high, high])[order]
        pos, neg = np.hstack([self.pos, none])[:, order], np.hstack([self.neg, none])[:, order]

        # A range starts a new group unless it lies within an earlier, wider range.
        last = begun | ((np.uint64(1) << width) - np.uint64(1))
        first = np.flatnonzero(np.concatenate([[True], begun[1:] > np.maximum.accumulate(last)[:-1]]))
        self.bits = np.maximum.reduceat(width, first)
        self.start = begun[first] >> self.bits << self.bits
        self.low, self.high = np.minimum.reduceat(low, first), np.maximum.reduceat(high, first)
        if len(pos):
            self.pos, self.neg = np.add.reduceat(pos, first, axis=1), np.add.reduceat(neg, first, axis=1)
        else:
            self.pos, self.neg = np.zeros((0, first.size), np.int64), np.zeros((0, first.size), np.int64)

    def _join(self) -> None:
        """Merge neighbouring ranges with few rows until at most half of the allowed number of ranges remains."""
        share, rows = LEAST_SHARE, (self.pos + self.neg).sum(axis=0)
        start, bits = self.start.copy(), self.bits.copy()
        # Ranges with a common binary prefix are merged, from narrow to wide, if the merged range has few rows. If too
        # many ranges remain, more rows are allowed. This ends, because a prefix of one bit leaves at most two ranges.
        while start.size > MOST_RANGES // 2:
            for width in np.arange(1, WIDEST_BITS + 1, dtype=np.uint64):
                prefix = start >> width
                first = np.flatnonzero(np.concatenate([[True], prefix[1:] != prefix[:-1]]))
                held, size = np.add.reduceat(rows, first), np.diff(np.append(first, start.size))
                joined = (size > 1) & (held <= share * rows.sum())
                if joined.any():
                    of_group = np.repeat(joined, size)
                    begins = ~of_group
                    begins[first] = True
                    kept = np.flatnonzero(begins)
                    rows = np.add.reduceat(rows, kept)
                    start = np.where(of_group, prefix << width, start)[kept]
                    bits = np.where(of_group, width, bits)[kept]
            share *= 2
        place = np.searchsorted(start, self.start, side="right") - 1
        first = np.flatnonzero(np.concatenate([[True], place[1:] != place[:-1]]))
        self.low, self.high = np.minimum.reduceat(self.low, first), np.maximum.reduceat(self.high, first)
        self.pos, self.neg = np.add.reduceat(self.pos, first, axis=1), np.add.reduceat(self.neg, first, axis=1)
        self.start, self.bits = start, bits

    def merge(self, other: "RankCounts") -> None:
        """Add the counts of another RankCounts, block by block."""
        for block, (pos, neg) in enumerate(zip(other.pos, other.neg, strict=True)):
            self._add(block, other.low, other.high, other.bits, pos, neg)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as a dictionary for JSON. Each block lists only the ranges in which it has rows."""
        blocks = []
        for pos, neg in zip(self.pos, self.neg, strict=True):
            used = np.flatnonzero(pos + neg)
            blocks.append({"at": used.tolist(), "pos": pos[used].tolist(), "neg": neg[used].tolist()})
        ranges = {"low": self.low.tolist(), "high": self.high.tolist(), "bits": self.bits.tolist()}
        return ranges | {"blocks": blocks}

    def add_dict(self, content: dict[str, Any]) -> None:
        """Add the counts of another RankCounts, given as a dictionary from `to_dict`."""
        low, high = np.array(content["low"], float), np.array(content["high"], float)
        bits = np.array(content["bits"], np.uint64)
        for block, counts in enumerate(content["blocks"]):
            at, pos, neg = (np.array(counts[name], np.int64) for name in ("at", "pos", "neg"))
            self._add(block, low[at], high[at], bits[at], pos, neg)

    def auc(self, level: float) -> Estimate | None:
        """Return the AUC with the interval of an asymptotic confidence sequence; None if a class is missing.

        Notes
        -----
        The interval is computed on the logit scale with DeLong's variance. Rows in the same range of the score count as
        ties. The interval is widened by the largest change of the AUC that this may cause.
        """
        pos, neg = self.pos.sum(axis=0), self.neg.sum(axis=0)
        n_pos, n_neg = int(pos.sum()), int(neg.sum())
        if not (n_pos and n_neg):
            return None
        area, of_pos, of_neg = map(float, _areas(pos, neg))
        method, n = "asymptotic confidence sequence, logit scale", float(n_pos + n_neg)
        # For few rows without ranking errors DeLong's variance is too small. Use at least the variance of normal
        # scores.
        usual = auc_variance(min(max(area, 1 - area), 1 - 1e-9), n_neg / n_pos) / n_pos
        variance = max(of_pos / n_pos + of_neg / n_neg, usual)
        if not (variance > 0 and 0 < area < 1):
            return Estimate(area, 0.0, 1.0, level, method, n, reason="the variance of the AUC is 0")
        reach = asymptotic_reach(n, level) * np.sqrt(variance) / (area * (1 - area))
        low, high = special.expit(special.logit(area) + np.array([-reach, reach]))
        # The AUC with ties differs from the AUC without them by at most half of the pairs within the same range.
        open_pairs = float((pos * neg)[self.low < self.high].sum() / (2 * n_pos * n_neg))
        few = min(n_pos, n_neg)
        reason = f"only {few} rows of one class" if few < ENOUGH_ROWS else ""
        ends = max(0.0, float(low) - open_pairs), min(1.0, float(high) + open_pairs)
        return Estimate(float(area), *ends, level, method, n, float(np.sqrt(variance)), reason)

    def evidence(self, bound: float, upwards: bool) -> Array:
        """Return the log evidence from each block on that the AUC violates a limit; see `auc_evidence`."""
        return auc_evidence(from_each_on(self.pos), from_each_on(self.neg), bound, upwards)

    def area(self, block: int) -> float:
        """Return the AUC of the rows in a block and all later blocks."""
        return float(_areas(self.pos[block:].sum(axis=0), self.neg[block:].sum(axis=0))[0])


def auc_evidence(pos: Array, neg: Array, bound: float, upwards: bool) -> Array:
    """Return the log evidence that the AUC violates a limit, for the rows from each block on.

    The evidence is 0 if a class has fewer than 20 rows.

    Parameters
    ----------
    pos, neg : arrays of … × blocks × ranges
        Numbers of positives and negatives from each block on, in ranges of increasing score. The first block contains
        all rows.
    bound : float
        Limit of the AUC.
    upwards : bool
        True if an AUC above the limit is a violation; False if an AUC below the limit is a violation.

    Notes
    -----
    The estimated AUC is assumed to be normal, with DeLong's variance from all rows. The variance of the rows after a
    change is not used, because its error is correlated with the error of their AUC. If there are few rows, the variance
    is shrunk towards the variance of normal scores with an AUC at the limit (Obuchowski & McClish 1997).
    """
    n_pos, n_neg = pos.sum(axis=-1), neg.sum(axis=-1)
    enough = np.minimum(n_pos, n_neg) >= ENOUGH_ROWS
    area, of_pos, of_neg = _areas(pos[..., :1, :], neg[..., :1, :])
    # With infinitely many negatives, the variance is due to the positives only. The remainder is due to the negatives.
    usual_pos = auc_variance(max(bound, 1 - bound), np.inf)
    usual_neg = auc_variance(max(bound, 1 - bound), 1) - usual_pos
    of_pos, of_neg = _shrink(of_pos, usual_pos, n_pos), _shrink(of_neg, usual_neg, n_neg)
    area = _areas(pos, neg)[0]
    variance = of_pos / np.maximum(n_pos, 1) + of_neg / np.maximum(n_neg, 1)
    excess = np.where(enough, area - bound, 0) * (1 if upwards else -1)
    return np.where(enough, mixture_evidence(excess, variance), 0.0)


def _shrink(variance: Array, usual: float, n: Array) -> Array:
    """Return the average of the observed variance (weight n) and the usual variance (weight `PRIOR_ROWS`)."""
    return (n[..., :1] * variance + PRIOR_ROWS * usual) / (n[..., :1] + PRIOR_ROWS)


def _areas(pos: Array, neg: Array) -> tuple[Array, Array, Array]:
    """Return the AUC, and the variances of the placements of positives and of negatives.

    Parameters
    ----------
    pos, neg : arrays of … × ranges
        Numbers of positives and negatives in ranges of increasing score.
    """
    n_pos, n_neg = np.maximum(pos.sum(axis=-1, keepdims=True), 1), np.maximum(neg.sum(axis=-1, keepdims=True), 1)
    # The placement of a positive is the share of negatives below it, plus half of those in its range.
    below = (neg.cumsum(axis=-1) - neg / 2) / n_neg
    above = (n_pos - pos.cumsum(axis=-1) + pos / 2) / n_pos
    area = (pos * below).sum(axis=-1, keepdims=True) / n_pos
    of_pos = (pos * (below - area) ** 2).sum(axis=-1) / np.maximum(n_pos[..., 0] - 1, 1)
    of_neg = (neg * (above - area) ** 2).sum(axis=-1) / np.maximum(n_neg[..., 0] - 1, 1)
    return area[..., 0], of_pos, of_neg
