"""Confidence sequences: intervals and tests of monitored quantities that are valid at all looks together.

Bets. Assume that bounded values x >= a have the mean m, and bet at fair odds that the mean is larger. A gambler who
bets the share t of the current wealth on each value has, after several values, the wealth

    W = Π (1 − t + t·(x − a)/(m − a))

If the mean is m, W is a martingale that starts at 1. The probability that it ever reaches 1/α is at most α (Ville's
inequality). The means against which a mixture of such bets has not reached 1/α are therefore a confidence sequence: the
intervals at all looks are valid together. A cost takes few values, and W depends only on the number of times that each
value occurred. A monitor therefore stores only counts, and counts of several machines can be added.

Change points. A change may start at any row. The stake is therefore divided among starting points: a part is bet from
the first row on, a part from each later block of rows on, and a part is kept as cash. The total is also a martingale.
The estimated start of the change is the block from which most of the wealth grew.

Fixed class mix. The cost per case depends on the prevalence of the new cases. If the class mix fluctuates, bets on the
cost are not at fair odds, but bets within each class are. A limit on a mean at prevalence π is a limit on π·μ₁ +
(1 − π)·μ₀, where μ₁ and μ₀ are the means of the two classes. Consider all pairs of means with π·μ₁ + (1 − π)·μ₀ = 0.
The evidence against the limit is the least product, over these pairs, of the wealth of bets against μ₁ and against μ₀.

Ranks. AUCs are estimated from counts in ranges of the score (`RankCounts`), with asymptotic confidence sequences.

The file has this order: monitored means and their limits; intervals by bets; blocks of rows and the evidence from each
block on; causes of an alarm; a fixed class mix; counts by score.

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
from scipy import optimize, special, stats

from rocscope._base.arrays import Array, Indices
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
"""Monitored figures of scores, with their display names."""


@dataclass(frozen=True)
class CellMean:
    """A mean over some of the cells tp, fp, fn, tn, such as the cost per case or the precision.

    With a `prevalence` it is the mean at this prevalence instead of that of the cases.

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
        """Return the mean of values over the cells with `counted` = 1."""
        used = np.flatnonzero(counted).tolist()
        return cls(name, tuple(used), tuple(float(values[cell]) for cell in used), prevalence)

    @property
    def mixed(self) -> bool:
        """True if the mean is at a fixed prevalence and depends on it."""
        within_a_class = set(self.used) <= {*POSITIVES} or set(self.used) <= {*NEGATIVES}
        return self.prevalence is not None and not within_a_class

    def counts(self, cells: Array) -> Array:
        """Return the counts of the cells in the denominator."""
        return cells[..., list(self.used)]

    def of(self, cells: Array) -> tuple[float, float]:
        """Return the mean (NaN without cases) and its number of cases."""
        counts = self.counts(cells)
        n = float(counts.sum())
        if self.mixed:
            tp, fp, fn, tn = map(float, cells)
            tpr = tp / (tp + fn) if tp + fn else np.nan
            fpr = fp / (fp + tn) if fp + tn else np.nan
            return self.at_rates(tpr, fpr), n
        return (float(counts @ np.array(self.values) / n) if n else np.nan), n

    def at_rates(self, tpr: float, fpr: float) -> float:
        """Return the mean at the fixed class mix for given rates; NaN without cases."""
        assert self.prevalence is not None
        pos, neg = self.prevalence, 1 - self.prevalence
        cells = np.array([pos * tpr, neg * fpr, pos * (1 - tpr), neg * (1 - fpr)])
        counts = self.counts(cells)
        return float(counts @ np.array(self.values) / counts.sum()) if counts.sum() else np.nan


def cell_means(context: Context, names: Iterable[str] = SHOWN, prevalence: float | None = None) -> dict[str, CellMean]:
    """Return the cost per case in a context, and shares of cases, by name."""
    parts = {name: known(name).parts for name in names if name != "cost"}  # pyright: ignore[reportOptionalMemberAccess]
    everyone = (1,) * len(CELLS)
    means = {}
    for name, (top, bottom) in ({"cost": (tuple(context.costs.values()), everyone)} | parts).items():  # pyright: ignore[reportGeneralTypeIssues]
        means[name] = CellMean.over(name, top, bottom, prevalence)
    return means


def limit_of(text: str, *, of_decision: bool) -> Condition:
    """Parse a limit such as ``cost > .35``, the condition that raises an alarm.

    Examples
    --------
    >>> limit_of("Sensitivity < 80%", of_decision=True), limit_of("calibration > 0", of_decision=False)
    (Condition('tpr < 0.8'), Condition('calibration > 0'))
    """
    limit, *more = Condition.read(text, "fail_if", "cost > .35")
    if more or limit.level is not None or limit.model is not None:
        expected = "one condition without a level and a model, such as 'cost > .35'"
        raise InputError("fail_if", expected=expected, got=repr(text), hint="pass a list of limits")

    def suits(figure: Figure) -> bool:
        share = figure.unit == "share" and figure.parts is not None and set(figure.parts[0]) == {0, 1}
        return figure.name in RANKED or (of_decision and (share or figure.name == "cost"))

    expected = "the cost, a mean over cases such as 'precision', 'auc' or 'calibration'"
    figure = figure_named(limit.quantity, "fail_if", expected=expected, suits=suits)
    return replace(limit, quantity=RANKED.get(figure.name, figure.name))


# Intervals by bets

# Shares of the wealth to bet, for an interval. Small shares are best against means near the observed mean, large shares
# against distant means.
SHARES = np.geomspace(1e-3, 0.9, 24)
# The odds are infinite at the smallest value, so roots are searched from this share of the range above it.
MARGIN = 1e-9
# Smallest level, used instead of 0, whose logarithm is infinite.
LEAST_LEVEL = 1e-300


def _log_wealth(values: Array, counts: Array, mean: float, least: float, shares: Array = SHARES) -> Array:
    """Return the log wealth of bets that the mean exceeds `mean`, mixed uniformly over stakes; one row per count
    vector.

    Parameters
    ----------
    values : array of v
        Possible outcomes.
    counts : array of … × v
        Number of times of each outcome.
    mean : float
        Limit that is tested, above `least`.
    least : float
        The smallest value possible.

    Examples
    --------
    Nine of ten values are 1, and the tested mean is 0.5. Betting half of the wealth each time gives 1.5⁹·0.5:

    >>> float(np.exp(_log_wealth(np.array([0, 1]), np.array([1, 9]), 0.5, 0, np.array([0.5]))))
    19.22...
    """
    gain = 1 - shares[:, None] + shares[:, None] * (values - least) / (mean - least)
    with np.errstate(divide="ignore"):
        log_wealth = counts @ np.log(gain).T
    return np.logaddexp.reduce(log_wealth, axis=-1) - log(shares.size)


def mean_interval(values: Array, counts: Array, level: float) -> tuple[float, float]:
    """Return the confidence sequence of a mean: the interval of all means that the bets have not rejected.

    Notes
    -----
    Half of the stake is bet that the mean is larger, half that it is smaller. The wealth of each half decreases as the
    tested mean approaches the observed mean, so each end of the interval is the root of an equation.

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
    """Return the smallest mean for which the wealth is below 2/(1 − level); half of the stake is bet on each side."""
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
    solve: Any = optimize.brentq
    return solve(excess, first, observed, xtol=1e-10)


def asymptotic_reach(n: float, level: float, best_at: float = 500.0) -> float:
    """Return the half-width, in standard errors, of an asymptotic confidence sequence.

    Parameters
    ----------
    n : float
        Number of rows so far.
    level : float
    best_at : float
        Number of rows for which the interval is shortest.

    Notes
    -----
    The half-width is √((nρ² + 1)/(nρ²)·2·log(√(nρ² + 1)/α)), with ρ² chosen so that it is shortest at `best_at` rows.
    At a tenth of this number and at ten times this number it is 5% wider than the shortest possible one. The sequence
    is valid in the limit of a late first look, as a normal interval is valid for large n.

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

# Shares of the wealth to bet against a limit. These and the stakes below were found by simulation, so that changes
# after 0 to 5,000 rows without a change are detected with at most twice the rows of a fixed test.
BETS = np.geomspace(0.015, 0.6, 6)
# Share of the stake that is bet from the first row on. Later blocks k = 1, 2, … share .9 in proportion to (k + 3)^−1.3,
# whose sum over all k is 2.2861.
STAKE_OF_FIRST, STAKE_OF_LATER = 0.1, 0.9 / 2.2861
STAKE_OFFSET, STAKE_POWER = 3.0, 1.3
# A block has at least 50 rows and 1/48 of all rows, so the number of blocks grows like the logarithm of the rows.
LEAST_BLOCK_ROWS, BLOCKS_BEFORE_GROWTH = 50, 48
# Prior probability that the limit is broken from the first row on. With a smaller value, changes from the start are
# dated too late (benchmarks/simulations/monitors.py).
BAD_FROM_FIRST = 0.2
# Expected distance of an AUC from its limit after a change; with four values from .02 to .2 detection took longer.
AUC_EFFECTS = (0.04, 0.12)


@dataclass
class LookBlock:
    """Rows between two possible change points: counts in cells at the threshold, and sums for calibration.

    The cells are tp, fp, fn and tn or, for several classes, the cells of the confusion matrix row by row. `residuals`
    are n, Σ(y − p) and Σ(y − p)². `bets` are, for each limit on the calibration and each bet, the logarithms of the
    factors by which these rows multiply the wealth.
    """

    when: Any
    cells: Array
    residuals: Array
    bets: dict[str, Array]

    @classmethod
    def empty(cls, when: Any, size: int = len(CELLS)) -> "LookBlock":
        """Return an empty block of `size` cells."""
        return cls(when, np.zeros(size, np.int64), np.zeros(3), {})

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.cells.sum())

    def plus(self, other: "LookBlock") -> "LookBlock":
        """Return the block with the counts of another block added."""
        bets = self.bets.copy()
        for name, wealth in other.bets.items():
            bets[name] = bets.get(name, np.zeros(BETS.size)) + wealth
        return LookBlock(self.when, self.cells + other.cells, self.residuals + other.residuals, bets)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        bets = {name: [float(value) for value in wealth] for name, wealth in self.bets.items()}
        return {"when": self.when, "cells": self.cells.tolist(), "residuals": self.residuals.tolist(), "bets": bets}


def begins(blocks: list[LookBlock]) -> bool:
    """Return True if a new block should start: the last block has at least 50 rows, and 1/48 of all rows."""
    return not blocks or blocks[-1].n >= max(LEAST_BLOCK_ROWS, sum(block.n for block in blocks) / BLOCKS_BEFORE_GROWTH)


def _stakes(blocks: int) -> Array:
    """Return the share of the stake that is bet from each block on.

    Examples
    --------
    >>> _stakes(3).round(3)
    array([0.1  , 0.065, 0.049])
    """
    later = np.arange(1, blocks)
    return np.concatenate(([STAKE_OF_FIRST], STAKE_OF_LATER * (later + STAKE_OFFSET) ** -STAKE_POWER))


@dataclass(frozen=True)
class Betting:
    """The wealth of bets against a limit with an initial stake of 1, and the block in which the change began."""

    wealth: float
    since: int


def evidence(blocks: list[LookBlock], limit: Condition, mean: CellMean | None) -> Betting:
    """Return the evidence that a limit on a mean over cells, or on the calibration, is broken."""
    rows = np.array([block.n for block in blocks])
    if mean is None:
        wealth = np.array([block.bets.get(str(limit), np.zeros(BETS.size)) for block in blocks])
        return spread(np.logaddexp.reduce(from_each_on(wealth), axis=1) - log(BETS.size), rows)
    sign = 1.0 if limit.upwards else -1.0
    values = sign * np.array(mean.values)
    counts = from_each_on(np.array([mean.counts(block.cells) for block in blocks]))
    return spread(_log_wealth(values, counts, sign * limit.bound, float(values.min()), BETS), rows)


def spread(grown: Array, rows: Array) -> Betting:
    """Return the wealth of a stake that is divided among starting blocks, given the log wealth from each block on.

    Parameters
    ----------
    grown : array, log wealth of bets from each block on
    rows : array, number of rows in each block

    References
    ----------
    Ville 1939; Waudby-Smith & Ramdas 2024, J. R. Stat. Soc. B 86:1–27; Shin, Ramdas & Rinaldo 2023, "E-detectors"
    (starting points; there for a run length, here with a stake that bounds the probability of any false alarm).
    """
    stakes = _stakes(grown.size)
    log_wealth = np.logaddexp.reduce(np.log(stakes) + grown)
    # Above e^700 a float overflows; alarms are raised far below.
    wealth = float(np.exp(np.minimum(log_wealth, 700.0)) + 1 - stakes.sum())
    return Betting(wealth, int(_began(grown, rows)))


def _began(grown: Array, rows: Array) -> Array:
    """Return the block in which a change started: the median of the evidence for each block, along the last axis.

    A priori, a change starts at each row with equal probability, except at the first row, which has a larger one. The
    wealth of bets from a block on is the likelihood ratio for a start in this block.

    Examples
    --------
    >>> int(_began(np.log([1, 1, 8, 3]), np.array([50, 50, 50, 50])))
    2
    """
    later = rows[1:].sum()
    prior = np.append(BAD_FROM_FIRST, (1 - BAD_FROM_FIRST) * rows[1:] / max(later, 1))
    with np.errstate(divide="ignore"):
        weight = np.exp(grown - grown.max(axis=-1, keepdims=True) + np.log(prior)).cumsum(axis=-1)
    return (weight >= weight[..., -1:] / 2).argmax(axis=-1)


def mixture_evidence(excess: Array, variance: Array) -> Array:
    """Return the log evidence that a normal estimate breaks its limit, by bets mixed over half-normal effects.

    Notes
    -----
    The evidence is the integral of exp(λz√I − λ²I/2) over λ > 0 with the density of a half-normal distribution of scale
    τ, where I = 1/variance and z = excess·√I. With r = τ²I it equals
    2·Φ(z·√(r/(1 + r)))·exp(z²r/(2(1 + r)))/√(1 + r).

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
    """Return, for each block, the sums over this block and all later ones."""
    return values[::-1].cumsum(axis=0)[::-1]


def bets_on_residuals(residual: Array, weight: Array, limit: Condition) -> Array:
    """Return the log wealth of bets that observed − expected exceeds a limit."""
    sign = 1.0 if limit.upwards else -1.0
    excess = sign * (residual - limit.bound)
    # Residuals lie within ±1. Stakes are relative to the largest loss, 1 + |bound|, so that the wealth stays above 0.
    share = BETS[:, None] / (1 + abs(limit.bound))
    return np.log1p(share * excess) @ weight


# Causes of an alarm

# Error probability of the comparison before and after a change, divided among the four quantities compared.
CAUSE_ERROR = 0.05
# Rates by name: the cells of the numerator and of the denominator.
SHARES_OF_CELLS = (("class mix", (0, 2), (0, 1, 2, 3)), ("tpr", (0,), (0, 2)), ("fpr", (1,), (1, 3)))
# With fewer rows before the change, the rows on which the decision was chosen are used for comparison.
LEAST_ROWS_BEFORE = 50
# Set by hand: a χ² test over fewer blocks has little power, and a note made at every look needs a small error.
LEAST_BLOCKS, VARYING_ERROR = 10, 0.001


def causes_of(blocks: list[LookBlock], since: int, cells: Array | None, shares: Shares = SHARES_OF_CELLS) -> str:
    """Return, as text, the rates (and the calibration) that differ significantly before and after a change.

    Parameters
    ----------
    blocks : list of LookBlock
    since : int
        Index of the first block after the change.
    cells : array, optional
        Counts of the rows on which the decision was chosen, to compare with if the change is at the first rows.
    shares : sequence of (name, cells of the numerator, cells of the denominator)
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
    """Return the sums of blocks of `size` cells."""
    sums = LookBlock.empty(None, size)
    for block in blocks:
        sums = sums.plus(block)
    return sums


def _compare_shares(before: tuple[Any, Any], after: tuple[Any, Any]) -> tuple[float, float, float]:
    """Return two rates, given numerators and denominators, and the z statistic of a pooled test of equality."""
    (first_hits, first_n), (second_hits, second_n) = before, after
    if not (first_n and second_n):
        return 0.0, 0.0, 0.0
    first, second = first_hits / first_n, second_hits / second_n
    pooled = (first_hits + second_hits) / (first_n + second_n)
    error = sqrt(pooled * (1 - pooled) * (1 / first_n + 1 / second_n))
    return first, second, (second - first) / error if error else 0.0


def _compare_residuals(before: Array, after: Array) -> tuple[float, float, float]:
    """Return two mean residuals and the z statistic of their difference, given n, sum and sum of squares of each."""
    if min(before[0], after[0]) < 2:
        return 0.0, 0.0, 0.0
    means, variance = [], 0.0
    for n, total, squares in (before, after):
        means.append(total / n)
        variance += max(squares / n - (total / n) ** 2, 0) / n
    first, second = means
    return first, second, (second - first) / sqrt(variance) if variance else 0.0


def varying_prevalence(by_class: Array, steady: str = "tpr, fpr and auc") -> str:
    """Return a note if the class mix varies between blocks by more than chance, else an empty text.

    Parameters
    ----------
    by_class : array of blocks × classes
        Number of rows of each class in each block.
    steady : str
        Figures that do not depend on the class mix, for the note.
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
        f"Prevalence varies {sqrt(chi2 / freedom):.2g} times as much between periods as by chance. "
        "If that is usual, a limit on the cost near its long-run mean raises more false alarms than stated; "
        f"limits on {steady} remain valid."
    )


# A fixed class mix

# The share 0 keeps some cash, so that losses of bets on one class do not destroy the wealth of the other.
BETS_OF_CLASS = np.append(0.0, BETS)
# The least wealth on the line of means is searched on grids; each stage narrows the range 16-fold around its minimum.
GRID_POINTS, GRID_STAGES = 33, 3


def interval_of(mean: CellMean, cells: Array, level: float) -> tuple[float, float]:
    """Return the confidence sequence of a mean over cells.

    Notes
    -----
    At a fixed prevalence, tpr and fpr each have a sequence at level 1 − (1 − level)/2. A mean over cells is a quotient
    of linear functions of both, so its extremes are at the ends of these sequences.
    """
    if not mean.mixed:
        return mean_interval(np.array(mean.values), mean.counts(cells), level)
    hit_or_not, one_sided = np.array([1.0, 0.0]), (1 + level) / 2
    rates_pos = mean_interval(hit_or_not, cells[list(POSITIVES)], one_sided)
    rates_neg = mean_interval(hit_or_not, cells[list(NEGATIVES)], one_sided)
    ends = [mean.at_rates(tpr, fpr) for tpr in rates_pos for fpr in rates_neg]
    # If the denominator may be 0, as for precision, this corner is undefined; without defined corners nothing is known.
    defined = [end for end in ends if not np.isnan(end)] or [min(mean.values), max(mean.values)]
    return min(defined), max(defined)


def evidence_of(blocks: list[LookBlock], limit: Condition, mean: CellMean | None) -> Betting:
    """Return the evidence that a limit on a mean over cells, or on the calibration, is broken."""
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
    """Return, for each row of counts, the least log wealth over all pairs of mean gains μ₁ and μ₀ within the limit.

    Parameters
    ----------
    of_pos, of_neg : (gains of the two cells of a class, their counts)
    odds : float
        Odds π/(1 − π). The limit is kept if π·μ₁ + (1 − π)·μ₀ ≤ 0, which means μ₀ ≤ −odds·μ₁.

    Notes
    -----
    The wealth decreases with the tested mean, so it is least at the border, with the largest μ₀ for each μ₁. The search
    narrows the range of μ₁ by grids, each around the minimum of the previous grid.
    """
    pos, neg = of_pos[0], of_neg[0]
    # At the largest μ₁, μ₀ is the smallest gain of a negative; for a larger μ₁ no μ₀ is within the limit.
    low = np.full(len(of_pos[1]), pos.min())
    high = np.full(low.size, min(pos.max(), -neg.min() / odds))
    first, last, least = low, high, low
    for _ in range(GRID_STAGES):
        means = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, GRID_POINTS)
        # The mean of negatives is at most their largest gain; such pairs lie inside the limit.
        means_neg = np.minimum(-odds * means, neg.max())
        log_wealth = _log_wealth_in_class(*of_pos, means) + _log_wealth_in_class(*of_neg, means_neg)
        place = log_wealth.argmin(axis=1)[:, None]
        least = np.take_along_axis(log_wealth, place, axis=1)[:, 0]
        centre = np.take_along_axis(means, place, axis=1)[:, 0]
        reach = (high - low) / (GRID_POINTS - 1)
        low, high = np.maximum(centre - reach, first), np.minimum(centre + reach, last)
    return least


def _log_wealth_in_class(values: Array, counts: Array, means: Array) -> Array:
    """Return the log wealth of bets against means, mixed over stakes; 0 if all values are equal."""
    least, width = values.min(), np.ptp(values)
    if not width:
        return np.zeros(means.shape)
    odds = (values - least) / np.maximum(means - least, MARGIN * width)[..., None]
    gain = np.log(1 + BETS_OF_CLASS[:, None, None, None] * (odds - 1))
    return special.logsumexp((gain * counts[:, None]).sum(axis=-1), axis=0) - np.log(BETS_OF_CLASS.size)


# Counts by score

# Largest number of ranges of scores. Half of it suffices for ranges that hold more than 1/512 of the rows in pairs.
MOST_RANGES = 2048
# Largest share of the rows in merged ranges. Their pairs count as ties, which changes the AUC by at most 1/1024.
LEAST_SHARE = 1 / 512
SIGN_BIT, WIDEST_BITS = np.uint64(1 << 63), 63
# Weight, in rows of each class, of the variance of normal scores at the limit, used while there are few rows.
PRIOR_ROWS = 20
# Rows of each class from which on a normal approximation of the AUC is used.
ENOUGH_ROWS = 20


def _keys(score: Array) -> NDArray[np.uint64]:
    """Return whole numbers in the order of the scores.

    Examples
    --------
    >>> np.argsort(_keys(np.array([0.5, -2.0, 0.0, -0.0, 1e300]))).tolist()
    [1, 2, 3, 0, 4]
    """
    # Positive floats have the order of their bits, negative floats the reverse order. Adding 0 makes −0 equal to 0.
    bits = (score.astype(np.float64) + 0.0).view(np.uint64)
    return np.where(bits & SIGN_BIT, ~bits, bits | SIGN_BIT)


class RankCounts:
    """Positives and negatives by block of rows and by range of scores, from which a monitor estimates the AUC.

    As long as there are few distinct scores, each score is a range. Later, ranges with few rows are merged. The ends of
    ranges are aligned: each is half of all floats, a quarter, and so on. Ranges of two monitors are therefore nested or
    disjoint, and counts can be added. Ranges with many rows remain narrow.

    Attributes
    ----------
    start : array of r
        The smallest key (see `_keys`) of each range, increasing.
    bits : array of r
        Number of low bits in which the keys of a range differ: 0 for a single score.
    low, high : arrays of r
        The lowest and the highest score in each range.
    pos, neg : arrays of blocks × r
        Counts in each block of rows (`LookBlock`) and range.
    """

    def __init__(self) -> None:
        self.start = np.zeros(0, np.uint64)
        self.bits = np.zeros(0, np.uint64)
        self.low, self.high = np.zeros(0), np.zeros(0)
        self.pos, self.neg = np.zeros((0, 0), np.int64), np.zeros((0, 0), np.int64)

    def copied(self) -> "RankCounts":
        """Return a copy, to which counts can be added."""
        other = copy(self)
        # Other arrays are never changed in place: they are replaced when counts are added.
        other.low, other.high = self.low.copy(), self.high.copy()
        other.pos, other.neg = self.pos.copy(), self.neg.copy()
        return other

    def add(self, block: int, score: Array, pos: Array, neg: Array) -> None:
        """Add numbers of positives and negatives at each score to a block."""
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
        """Return the index of the range of each key; −1 if no range contains the key."""
        if not self.start.size:
            return np.full(key.shape, -1)
        place = np.searchsorted(self.start, key, side="right") - 1
        inside = (place >= 0) & ((key ^ self.start[place]) >> self.bits[place] == 0)
        return np.where(inside, place, -1)

    def _insert(self, start: Array, bits: Array, low: Array, high: Array) -> None:
        """Insert further ranges; existing narrower ranges inside a wide one are merged into it."""
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
        """Merge ranges with few rows, the closest first, to half of the allowed number, so that merges are rare."""
        share, rows = LEAST_SHARE, (self.pos + self.neg).sum(axis=0)
        start, bits = self.start.copy(), self.bits.copy()
        # Ranges with a common prefix are merged, from narrow to wide, if the result has few rows. If too many ranges
        # remain, more rows are allowed. This ends because the widest prefix is a single bit, with at most two ranges.
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
        """Return the counts as plain data; each block has only the ranges in which it has rows."""
        blocks = []
        for pos, neg in zip(self.pos, self.neg, strict=True):
            used = np.flatnonzero(pos + neg)
            blocks.append({"at": used.tolist(), "pos": pos[used].tolist(), "neg": neg[used].tolist()})
        ranges = {"low": self.low.tolist(), "high": self.high.tolist(), "bits": self.bits.tolist()}
        return ranges | {"blocks": blocks}

    def add_dict(self, content: dict[str, Any]) -> None:
        """Add the counts of another RankCounts, given as plain data."""
        low, high = np.array(content["low"], float), np.array(content["high"], float)
        bits = np.array(content["bits"], np.uint64)
        for block, counts in enumerate(content["blocks"]):
            at, pos, neg = (np.array(counts[name], np.int64) for name in ("at", "pos", "neg"))
            self._add(block, low[at], high[at], bits[at], pos, neg)

    def auc(self, level: float) -> Estimate | None:
        """Return the AUC with an asymptotic confidence sequence; None without both classes.

        Notes
        -----
        The sequence is computed on the logit scale with DeLong's variance. Rows in the same range count as ties; the
        interval is widened by the largest change that this may cause.
        """
        pos, neg = self.pos.sum(axis=0), self.neg.sum(axis=0)
        n_pos, n_neg = int(pos.sum()), int(neg.sum())
        if not (n_pos and n_neg):
            return None
        area, of_pos, of_neg = map(float, _areas(pos, neg))
        method, n = "asymptotic confidence sequence, logit scale", float(n_pos + n_neg)
        # For few rows without ranking errors DeLong's variance is too small; use at least that of normal scores.
        usual = auc_variance(min(max(area, 1 - area), 1 - 1e-9), n_neg / n_pos) / n_pos
        variance = max(of_pos / n_pos + of_neg / n_neg, usual)
        if not (variance > 0 and 0 < area < 1):
            return Estimate(area, 0.0, 1.0, level, method, n, reason="the ranks do not vary yet")
        reach = asymptotic_reach(n, level) * np.sqrt(variance) / (area * (1 - area))
        low, high = special.expit(special.logit(area) + np.array([-reach, reach]))
        # The AUC with ties differs from the true AUC by at most half of the pairs within ranges of several scores.
        open_pairs = float((pos * neg)[self.low < self.high].sum() / (2 * n_pos * n_neg))
        few = min(n_pos, n_neg)
        reason = f"only {few} rows of one class" if few < ENOUGH_ROWS else ""
        ends = max(0.0, float(low) - open_pairs), min(1.0, float(high) + open_pairs)
        return Estimate(float(area), *ends, level, method, n, float(np.sqrt(variance)), reason)

    def evidence(self, bound: float, upwards: bool) -> Array:
        """Return the log evidence that the AUC of the rows from each block on exceeds a bound; 0 for few rows."""
        return auc_evidence(from_each_on(self.pos), from_each_on(self.neg), bound, upwards)

    def area(self, block: int) -> float:
        """Return the AUC of the rows from a block on."""
        return float(_areas(self.pos[block:].sum(axis=0), self.neg[block:].sum(axis=0))[0])


def auc_evidence(pos: Array, neg: Array, bound: float, upwards: bool) -> Array:
    """Return the log evidence that the AUC of the rows from each block on exceeds a bound; 0 for few rows.

    Parameters
    ----------
    pos, neg : array of … × blocks × levels
        Counts by increasing score of the rows from each block on, starting with all rows.
    bound : float
    upwards : bool

    Notes
    -----
    The estimate is taken as normal, with DeLong's variance of placements over all rows. The variance of the rows after
    a change is not used, because its error is correlated with the error of their AUC. With few rows the variance is
    shrunk towards that of normal scores at the bound (Obuchowski & McClish 1997).
    """
    n_pos, n_neg = pos.sum(axis=-1), neg.sum(axis=-1)
    enough = np.minimum(n_pos, n_neg) >= ENOUGH_ROWS
    area, of_pos, of_neg = _areas(pos[..., :1, :], neg[..., :1, :])
    # With infinitely many negatives only the placements of positives have variance; the remainder is due to negatives.
    usual_pos = auc_variance(max(bound, 1 - bound), np.inf)
    usual_neg = auc_variance(max(bound, 1 - bound), 1) - usual_pos
    of_pos, of_neg = _shrink(of_pos, usual_pos, n_pos), _shrink(of_neg, usual_neg, n_neg)
    area = _areas(pos, neg)[0]
    variance = of_pos / np.maximum(n_pos, 1) + of_neg / np.maximum(n_neg, 1)
    excess = np.where(enough, area - bound, 0) * (1 if upwards else -1)
    return np.where(enough, mixture_evidence(excess, variance), 0.0)


def _shrink(variance: Array, usual: float, n: Array) -> Array:
    """Return the mean of a variance and the usual variance, weighted by n and `PRIOR_ROWS` rows."""
    return (n[..., :1] * variance + PRIOR_ROWS * usual) / (n[..., :1] + PRIOR_ROWS)


def _areas(pos: Array, neg: Array) -> tuple[Array, Array, Array]:
    """Return the AUC of counts by increasing score, and the variances of the placements of positives and negatives."""
    n_pos, n_neg = np.maximum(pos.sum(axis=-1, keepdims=True), 1), np.maximum(neg.sum(axis=-1, keepdims=True), 1)
    # The placement of a positive is the share of negatives below it, plus half of those in its range.
    below = (neg.cumsum(axis=-1) - neg / 2) / n_neg
    above = (n_pos - pos.cumsum(axis=-1) + pos / 2) / n_pos
    area = (pos * below).sum(axis=-1, keepdims=True) / n_pos
    of_pos = (pos * (below - area) ** 2).sum(axis=-1) / np.maximum(n_pos[..., 0] - 1, 1)
    of_neg = (neg * (above - area) ** 2).sum(axis=-1) / np.maximum(n_neg[..., 0] - 1, 1)
    return area[..., 0], of_pos, of_neg
