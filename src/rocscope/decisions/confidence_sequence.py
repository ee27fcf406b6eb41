"""Monitored quantities: means over the cells at a threshold, and limits on them."""
# MERGED-DOC: """Confidence sequences: intervals and tests that hold at every look, by bets that start with each block
# of rows.
#
# A change need not have been there from the first row. So the stake is spread over beginnings: a part of it is bet
# from
# the first row on, a part from each later block on, the rest stays cash. The whole reaches 1/α ever with a chance of
# α at
# most as long as the limit is kept, whenever it is looked at.
#
# Bets: confidence intervals of a mean at every look, however often one looks.
#
# Someone who believes that the mean of bounded values is m offers bets at fair odds; betting a share t of the wealth
# on
# values above m holds Π (1 − t + t·(x − a)/(m − a)) of it. Were m right, that wealth would ever reach 1/α with a
# chance
# of α at most (Ville). So the means at which no mixture of such bets ever reached 1/α are a confidence sequence: an
# interval at every look, all of which hold together.
#
# A cost takes few values, and the wealth depends on how often each came up, not on their order. So counts are all
# that a
# monitor has to remember, and machines add theirs up.
# """
# MERGED-DOC: """Causes of an alarm: which of class mix, rates and calibration changed when the evidence began to
# grow."""
# MERGED-DOC: """Means over cells at a fixed class mix: evidence and intervals that hold however prevalence varies.
#
# A cost per case depends on the class mix of the cases that come. Where that swings for weeks at a time, rows are not
# independent, and bets on the cost are not at fair odds. Bets on positives alone are, and so are bets on negatives.
#
# A limit on a mean at prevalence π is a limit on π·μ₁ + (1 − π)·μ₀, of the mean gains of both classes. If it is kept,
# the
# line π·μ₁ + (1 − π)·μ₀ = 0 has a pair of means that are at least the true ones. So the evidence is the least
# product,
# over that line, of the wealth of bets against μ₁ and against μ₀.
# """
# MERGED-DOC: """RankCounts: positives and negatives in few ranges of the score, from which a monitor estimates AUCs.
#
# Every score is a level of its own until there are many. Then ranges of few rows become one, with aligned ends in the
# order of the floats: half of all floats, a quarter, and so on. So of two ranges of two
# monitors one holds the other, or they are apart, and both add up. Crowded scores keep narrow ranges, wherever they
# lie.
# """

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import log, log1p, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special, stats

from rocscope._base.arrays import Array
from rocscope.core.context import Context
from rocscope.errors import InputError
from rocscope.figures.conditions import Condition
from rocscope.figures.influence import Figure
from rocscope.figures.registry import figure_named, known
from rocscope.inference.estimate import Estimate
from rocscope.inference.planning.sample_size import auc_variance

CELLS = ("tp", "fp", "fn", "tn")
_CLASSES = POSITIVES, NEGATIVES = (0, 2), (1, 3)
SHOWN = ("tpr", "fpr", "precision", "depth", "error")
"""Shares that are always monitored; others only if a limit names them."""

RANKED = {"auc": "auc", "excess_events": "calibration"}
"""Monitored figures of scores, with their display names."""


@dataclass(frozen=True)
class CellMean:
    """A mean over some of the cells tp, fp, fn, tn, such as the cost per case or the precision.

    With a `prevalence` it is the mean at that class mix, whatever the mix of the cases.

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

    @property
    def mixed(self) -> bool:
        """Whether it depends on a class mix that is fixed."""
        return self.prevalence is not None and not any(set(self.used) <= {*own} for own in (POSITIVES, NEGATIVES))

    def counts(self, cells: Array) -> Array:
        """Return the cells in the denominator."""
        return cells[..., list(self.used)]

    def of(self, cells: Array) -> tuple[float, float]:
        """Return the mean (NaN without cases) and its number of cases."""
        counts = self.counts(cells)
        n = float(counts.sum())
        if self.mixed:
            rates = (cells[own[0]] / total if (total := cells[list(own)].sum()) else np.nan for own in _CLASSES)
            return self.at_rates(*rates), n
        return (float(counts @ np.array(self.values) / n) if n else np.nan), n

    def at_rates(self, tpr: float, fpr: float) -> float:
        """Return the mean at the fixed class mix for given rates; NaN without cases."""
        assert self.prevalence is not None
        share = self.prevalence, 1 - self.prevalence
        cells = np.array([share[0] * tpr, share[1] * fpr, share[0] * (1 - tpr), share[1] * (1 - fpr)])
        counts = self.counts(cells)
        return float(counts @ np.array(self.values) / counts.sum()) if counts.sum() else np.nan


def cell_means(context: Context, names: Iterable[str] = SHOWN, prevalence: float | None = None) -> dict[str, CellMean]:
    """Return the cost per case in a context, and shares of cases, by name."""
    parts = {name: known(name).parts for name in names if name != "cost"}  # pyright: ignore[reportOptionalMemberAccess]
    everyone = (1,) * len(CELLS)
    means = {}
    for name, (top, bottom) in ({"cost": (tuple(context.costs.values()), everyone)} | parts).items():  # pyright: ignore[reportGeneralTypeIssues]
        used = tuple(i for i, counted in enumerate(bottom) if counted)
        means[name] = CellMean(name, used, tuple(float(top[i]) for i in used), prevalence)
    return means


def limit_of(text: str, *, of_decision: bool) -> Condition:
    """Parse a limit such as ``cost > .35``, which a monitored figure should not exceed.

    Examples
    --------
    >>> limit_of("Sensitivity < 80 %", of_decision=True), limit_of("calibration > 0", of_decision=False)
    (Condition('tpr < 0.8'), Condition('calibration > 0'))
    """
    limit, *more = Condition.read(text, "fail_if", "cost > .35")
    if more or limit.level is not None or limit.model is not None:
        expected = "one condition without a level and a model, such as 'cost > .35'"
        raise InputError("fail_if", expected=expected, got=repr(text), hint="pass each limit by itself")

    def suits(figure: Figure) -> bool:
        share = figure.unit == "share" and figure.parts is not None and set(figure.parts[0]) == {0, 1}
        return figure.name in RANKED or (of_decision and (share or figure.name == "cost"))

    expected = "the cost, a mean over cases such as 'precision', 'auc' or 'calibration'"
    figure = figure_named(limit.quantity, "fail_if", expected=expected, suits=suits)
    return replace(limit, quantity=RANKED.get(figure.name, figure.name))


_SHARES = np.geomspace(1e-3, 0.9, 24)
_CLOSE = 1e-9  # relative, of values from a grid: ties but for rounding
_LEAST_LEVEL = 1e-300  # above 0, whose logarithm is finite


def _log_wealth(values: Array, counts: Array, mean: float, least: float, shares: Array = _SHARES) -> Array:
    """Return the log wealth of bets that the mean exceeds `mean`, mixed uniformly over stakes; one row per count
    vector.

    Parameters
    ----------
    values : array of v
        What can come up.
    counts : array of … × v
        How often each did.
    mean : float
        What is bet against, above `least`.
    least : float
        The smallest value possible.

    Examples
    --------
    Nine of ten are 1 where half of them should be, with one bet of half the wealth: 1.5⁹·0.5.

    >>> float(np.exp(_log_wealth(np.array([0, 1]), np.array([1, 9]), 0.5, 0, np.array([0.5]))))
    19.22...
    """
    gain = 1 - shares[:, None] + shares[:, None] * (values - least) / (mean - least)
    with np.errstate(divide="ignore"):
        each = counts @ np.log(gain).T
    return np.logaddexp.reduce(each, axis=-1) - log(shares.size)


def mean_interval(values: Array, counts: Array, level: float) -> tuple[float, float]:
    """Return the confidence sequence of a mean: all values that no bet has refuted.

    Notes
    -----
    Bets on either side get half of the wealth. Each side's wealth falls as the mean that it bets against nears what was
    found, so that the ends are roots.

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
    least, total = float(values.min()), counts.sum()
    if not total or values.max() == least:
        return least
    found = float(values @ counts / total)
    needed = log(2 / (1 - level))
    close = _CLOSE * (values.max() - least)

    def excess(mean: float) -> float:
        return float(_log_wealth(values, counts, mean, least)) - needed

    first = least + close
    if found <= first or excess(first) <= 0:
        return least
    solve: Any = optimize.brentq
    return solve(excess, first, found, xtol=1e-10)


def asymptotic_reach(n: float, level: float, best_at: float = 500.0) -> float:
    """Return the half-width, in standard errors, of an asymptotic confidence sequence.

    Parameters
    ----------
    n : float
        Rows so far.
    level : float
    best_at : float
        Rows at which it is shortest.

    Notes
    -----
    √((nρ² + 1)/(nρ²)·2·log(√(nρ² + 1)/α)), with ρ² such that it is shortest at `best_at` rows: 5 % wider than the best
    at a tenth and at ten times as many. Holds in the limit of a late first look, as the normal interval of one look
    does for large n.

    References
    ----------
    Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas 2024, Ann. Stat. 52:2613–2640, theorem 2.2 and eq. 15.

    Examples
    --------
    >>> round(asymptotic_reach(500, 0.95), 2)
    3.0...
    """
    twice = -2 * log1p(-max(level, _LEAST_LEVEL))  # −2 log α, also where α is 1 in floats
    spread = n * (twice + log1p(twice)) / best_at
    return sqrt((spread + 1) / spread * (log1p(spread) + twice))


# Found by simulation, so that changes after 0 to 5,000 quiet rows are found within twice the rows of a fixed test.
BETS = np.geomspace(0.015, 0.6, 6)  # shares of the wealth that are bet
_FIRST = 0.1  # of the stake, from the first row on
_LATER, _OFFSET, _POWER = 0.9 / 2.2861, 3.0, 1.3  # the others share .9: Σ (k + 3)^−1.3 = 2.2861
# Of a block; so there are 48 and a logarithm of the rows of them, which bounds the memory.
_LEAST_ROWS, _GROWTH = 50, 48
_BAD_FROM_FIRST = 0.2  # by benchmarks/simulations/monitors.py: with less, changes from the start are dated too late
_EFFECTS = (0.04, 0.12)  # how far beyond its limit an AUC may be; four effects from .02 to .2 were found later


@dataclass
class LookBlock:
    """Rows between two candidate change points: cells at the threshold, and sums for calibration.

    `residuals` are n, Σ(y − p) and Σ(y − p)²; `bets` the log wealth that these rows multiply by, for each limit of the
    calibration and each bet.
    """

    when: Any
    cells: Array
    residuals: Array
    bets: dict[str, Array]

    @classmethod
    def empty(cls, when: Any) -> "LookBlock":
        """Return an empty block."""
        return cls(when, np.zeros(4, np.int64), np.zeros(3), {})

    @property
    def n(self) -> int:
        """Rows."""
        return int(self.cells.sum())

    def add(self, other: "LookBlock") -> None:
        """Add the counts of another block."""
        self.cells = self.cells + other.cells
        self.residuals = self.residuals + other.residuals
        for name, wealth in other.bets.items():
            self.bets[name] = self.bets.get(name, np.zeros(BETS.size)) + wealth

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        bets = {name: [float(value) for value in wealth] for name, wealth in self.bets.items()}
        return {"when": self.when, "cells": self.cells.tolist(), "residuals": self.residuals.tolist(), "bets": bets}


def begins(blocks: list[LookBlock]) -> bool:
    """Whether the next rows are a block of their own: after 50 rows, and a forty-eighth of all, in the last one."""
    return not blocks or blocks[-1].n >= max(_LEAST_ROWS, sum(block.n for block in blocks) / _GROWTH)


def _stakes(blocks: int) -> Array:
    """Return the share of the stake that is bet from each block on.

    Examples
    --------
    >>> _stakes(3).round(3)
    array([0.1  , 0.065, 0.049])
    """
    later = np.arange(1, blocks)
    return np.concatenate(([_FIRST], _LATER * (later + _OFFSET) ** -_POWER))


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
    """Return what a stake becomes that is spread over beginnings, given the log wealth that each of them grew to.

    Parameters
    ----------
    grown : array of so many blocks
    rows : array of the rows of each block

    References
    ----------
    Ville 1939; Waudby-Smith & Ramdas 2024, J. R. Stat. Soc. B 86:1–27; Shin, Ramdas & Rinaldo 2023, "E-detectors"
    (beginnings; there for a run length, here with a stake that bounds the chance of any false alarm).
    """
    each = np.log(_stakes(grown.size)) + grown
    cash = 1 - _stakes(grown.size).sum()
    return Betting(float(np.exp(np.minimum(np.logaddexp.reduce(each), 700.0)) + cash), int(_began(grown, rows)))


def _began(grown: Array, rows: Array) -> Array:
    """Return the block in which a change began: the median of the evidence for each, along the last axis.

    A change is as likely to begin at any row as at any other, but for the first one, with which a stream is bad from
    the beginning. The wealth that grew from a block on is its likelihood ratio.

    Examples
    --------
    >>> int(_began(np.log([1, 1, 8, 3]), np.array([50, 50, 50, 50])))
    2
    """
    later = rows[1:].sum()
    prior = np.append(_BAD_FROM_FIRST, (1 - _BAD_FROM_FIRST) * rows[1:] / max(later, 1))
    with np.errstate(divide="ignore"):
        weight = np.exp(grown - grown.max(axis=-1, keepdims=True) + np.log(prior)).cumsum(axis=-1)
    return (weight >= weight[..., -1:] / 2).argmax(axis=-1)


def mixture_evidence(excess: Array, variance: Array) -> Array:
    """Return the log evidence that a normal estimate breaks its limit: bets mixed over half-normal effects.

    Notes
    -----
    ∫ exp(λz√I − λ²I/2) dλ over λ > 0 with the density of |N(0, τ²)|, where I = 1/variance and z = excess·√I, is
    2·Φ(z·√(r/(1 + r)))·exp(z²r/(2(1 + r)))/√(1 + r) with r = τ²I.

    References
    ----------
    Robbins 1970, Ann. Math. Stat. 41:1397–1409 (mixtures of bets on a normal mean).
    """
    z = excess / np.sqrt(variance)
    each = []
    for effect in _EFFECTS:
        r = effect**2 / variance
        each.append(log(2) + special.log_ndtr(z * np.sqrt(r / (1 + r))) - np.log1p(r) / 2 + z**2 * r / (2 * (1 + r)))
    return np.logaddexp.reduce(each, axis=0) - log(len(_EFFECTS))


def from_each_on(values: Array) -> Array:
    """Return the sums of the rows from each block on."""
    return values[::-1].cumsum(axis=0)[::-1]


def bets_on_residuals(residual: Array, weight: Array, limit: Condition) -> Array:
    """Return the log wealth of bets that observed − expected exceeds a limit."""
    sign = 1.0 if limit.upwards else -1.0
    excess = sign * (residual - limit.bound)
    share = BETS[:, None] / (1 + abs(limit.bound))
    return np.log1p(share * excess) @ weight


_ERROR = 0.05  # shared among the four that are compared
_FEW = 50  # rows before the change, below which the rows that the decision was chosen on are compared
# A χ² test over fewer has little power; a note at every look needs a small error: choices.
_LEAST_BLOCKS, _SURE = 10, 0.001


def causes_of(blocks: list[LookBlock], since: int, cells: Array | None) -> str:
    """Return which of class mix, tpr, fpr and calibration differ between the rows before and since a block.

    Parameters
    ----------
    blocks : list of LookBlock
    since : int
        The first block after the change.
    cells : array of 4, optional
        tp, fp, fn and tn of the rows that the decision was chosen on, for a change from the first rows on.
    """
    before, after = _total(blocks[:since]), _total(blocks[since:])
    if before.n < _FEW and cells is not None:
        before = LookBlock(None, cells, np.zeros(3), {})
    found = []
    for name, used, hits in (("class mix", (0, 1, 2, 3), (0, 2)), ("tpr", (0, 2), (0,)), ("fpr", (1, 3), (1,))):
        counts = [(block.cells[list(hits)].sum(), block.cells[list(used)].sum()) for block in (before, after)]
        found.append((name, *_means_of_counts(counts)))
    found.append(("calibration", *_means_of_residuals([before.residuals, after.residuals])))
    reach = stats.norm.isf(_ERROR / len(found) / 2)
    words = [f"{name} ({first:.3g} → {second:.3g})" for name, first, second, z in found if abs(z) > reach]
    return ", ".join(words)


def _total(blocks: list[LookBlock]) -> LookBlock:
    total = LookBlock.empty(None)
    for block in blocks:
        total.add(block)
    return total


def _means_of_counts(counts: list[tuple[Any, Any]]) -> tuple[float, float, float]:
    (hits, n), (more, m) = counts
    if not (n and m):
        return 0.0, 0.0, 0.0
    pooled = (hits + more) / (n + m)
    error = sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    return hits / n, more / m, (more / m - hits / n) / error if error else 0.0


def _means_of_residuals(residuals: list[Array]) -> tuple[float, float, float]:
    if min(n for n, _, _ in residuals) < 2:
        return 0.0, 0.0, 0.0
    (first, a), (second, b) = (
        (total / n, max(squares / n - (total / n) ** 2, 0) / n) for n, total, squares in residuals
    )
    return first, second, (second - first) / sqrt(a + b) if a + b else 0.0


def varying_prevalence(blocks: list[LookBlock]) -> str:
    """Return a note where the share of positives varies between blocks by more than chance; empty where it does not."""
    cells = np.array([block.cells for block in blocks]).reshape(-1, 4)
    n, positive = cells.sum(axis=1), cells[:, [0, 2]].sum(axis=1)
    total = positive.sum() / max(n.sum(), 1)
    if len(blocks) < _LEAST_BLOCKS or not 0 < total < 1:
        return ""
    chi2 = float(((positive - n * total) ** 2 / (n * total * (1 - total))).sum())
    if stats.chi2.sf(chi2, len(blocks) - 1) > _SURE:
        return ""
    return (
        f"Prevalence varies {sqrt(chi2 / (len(blocks) - 1)):.2g} times as much between periods as by chance. "
        "If that is usual, a limit on the cost near its long-run mean raises more false alarms than stated; "
        "limits on tpr, fpr and auc hold all the same."
    )


_BETS = np.append(0.0, BETS)  # some is kept as cash, so that wealth in one class cannot ruin that in the other
_POINTS, _STAGES = 33, 3  # of the line: each stage narrows it 16-fold about its least point
_CLOSE_of_class_mix = 1e-9


def interval_of(mean: CellMean, cells: Array, level: float) -> tuple[float, float]:
    """Return the confidence sequence of a mean over cells.

    Notes
    -----
    At a fixed class mix both rates have a sequence at level 1 − (1 − level)/2. A mean over cells is a quotient that is
    linear in both, so that its extremes lie at their ends.
    """
    if not mean.mixed:
        return mean_interval(np.array(mean.values), mean.counts(cells), level)
    rates = [mean_interval(np.array([1.0, 0.0]), cells[list(own)], (1 + level) / 2) for own in (POSITIVES, NEGATIVES)]
    ends = [mean.at_rates(tpr, fpr) for tpr in rates[0] for fpr in rates[1]]
    known = [each for each in ends if not np.isnan(each)] or [min(mean.values), max(mean.values)]
    return min(known), max(known)


def evidence_of(blocks: list[LookBlock], limit: Condition, mean: CellMean | None) -> Betting:
    """Return the evidence that a limit on a mean over cells, or on the calibration, is broken."""
    if mean is None or not mean.mixed:
        return evidence(blocks, limit, mean)
    assert mean.prevalence is not None
    sign, gain = (1.0 if limit.upwards else -1.0), np.zeros(4)
    gain[list(mean.used)] = sign * (np.array(mean.values) - limit.bound)
    counts = from_each_on(np.array([block.cells for block in blocks]))
    odds = mean.prevalence / (1 - mean.prevalence)
    of_pos, of_neg = ((gain[list(each)], counts[:, list(each)]) for each in (POSITIVES, NEGATIVES))
    return spread(_least_on_line(of_pos, of_neg, odds), np.array([block.n for block in blocks]))


def _least_on_line(of_pos: tuple[Array, Array], of_neg: tuple[Array, Array], odds: float) -> Array:
    """Return the least log wealth over all pairs of means that keep the limit, for each row of counts."""
    (pos, _), (neg, _) = of_pos, of_neg
    low = np.full(len(of_pos[1]), pos.min())
    high = np.full(low.size, min(pos.max(), -neg.min() / odds))
    first, last, least = low, high, low
    for _ in range(_STAGES):
        means = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, _POINTS)
        grown = _log_wealth_of_class_mix(*of_pos, means) + _log_wealth_of_class_mix(
            *of_neg, np.minimum(-odds * means, neg.max())
        )
        at = grown.argmin(axis=1)[:, None]
        least, centre = (np.take_along_axis(each, at, axis=1)[:, 0] for each in (grown, means))
        reach = (high - low) / (_POINTS - 1)
        low, high = np.maximum(centre - reach, first), np.minimum(centre + reach, last)
    return least


def _log_wealth_of_class_mix(values: Array, counts: Array, means: Array) -> Array:
    """Return the log wealth of bets against means, mixed over stakes; of values that are all equal nothing is won."""
    least, width = values.min(), np.ptp(values)
    if not width:
        return np.zeros(means.shape)
    odds = (values - least) / np.maximum(means - least, _CLOSE_of_class_mix * width)[..., None]
    grown = np.log(1 + _BETS[:, None, None, None] * (odds - 1))
    return special.logsumexp((grown * counts[:, None]).sum(axis=-1), axis=0) - np.log(_BETS.size)


_MOST_LEVELS = 2048  # ranges of scores: half of it is what joining down to pairs of more than a 512th of the rows needs
_LEAST_SHARE = 1 / 512  # of the rows: what is joined has at most this, so that the AUC is within 1/1024
_SIGN, _WIDEST = np.uint64(1 << 63), 63
_PRIOR = 20  # rows of the smaller class that the variance of normal scores at the limit counts for
_ENOUGH = 20  # rows of each class, from which on the limit theorem is leaned on


def _keys(score: Array) -> NDArray[np.uint64]:
    """Return whole numbers that are in the order of the scores.

    Examples
    --------
    >>> np.argsort(_keys(np.array([0.5, -2.0, 0.0, -0.0, 1e300]))).tolist()
    [1, 2, 3, 0, 4]
    """
    bits = (score.astype(np.float64) + 0.0).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


class RankCounts:
    """Positives and negatives by block of rows and by range of scores."""

    def __init__(self) -> None:
        self.start = np.zeros(0, np.uint64)
        self.bits = np.zeros(0, np.uint64)
        self.low, self.high = np.zeros(0), np.zeros(0)
        self.pos, self.neg = np.zeros((0, 0), np.int64), np.zeros((0, 0), np.int64)

    def add(self, block: int, score: Array, pos: Array, neg: Array) -> None:
        """Count so many positives and negatives at each score, in a block."""
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
        if self.start.size > _MOST_LEVELS:
            self._join()

    def _place(self, key: Array) -> NDArray[np.intp]:
        """Return the range of each key; −1 where none holds it."""
        if not self.start.size:
            return np.full(key.shape, -1)
        place = np.searchsorted(self.start, key, side="right") - 1
        inside = (place >= 0) & ((key ^ self.start[place]) >> self.bits[place] == 0)
        return np.where(inside, place, -1)

    def _insert(self, start: Array, bits: Array, low: Array, high: Array) -> None:
        """Have further ranges; a wide one takes in those that lie in it."""
        begun = np.concatenate([self.start, start])
        order = np.argsort(begun, kind="stable")
        begun, width = begun[order], np.concatenate([self.bits, bits])[order]
        none = np.zeros((len(self.pos), start.size), np.int64)
        columns = [np.hstack([each, none])[:, order] for each in (self.pos, self.neg)]
        ends = [np.concatenate(pair)[order] for pair in ((self.low, low), (self.high, high))]
        self._set(begun, width, ends[0], ends[1], columns)

    def _set(self, start: Array, bits: Array, low: Array, high: Array, columns: list[Array]) -> None:
        """Keep ranges in order, those within a wider one joined to it."""
        last = start | ((np.uint64(1) << bits) - np.uint64(1))
        first = np.flatnonzero(np.concatenate([[True], start[1:] > np.maximum.accumulate(last)[:-1]]))
        self.bits = np.maximum.reduceat(bits, first)
        self.start = start[first] >> self.bits << self.bits
        self.low, self.high = np.minimum.reduceat(low, first), np.maximum.reduceat(high, first)
        self.pos, self.neg = (
            np.add.reduceat(each, first, axis=1) if len(each) else np.zeros((0, first.size), np.int64)
            for each in columns
        )

    def _join(self) -> None:
        """Join ranges of few rows, the closest first."""
        share, rows = _LEAST_SHARE, (self.pos + self.neg).sum(axis=0)
        start, bits = self.start.copy(), self.bits.copy()
        while start.size > _MOST_LEVELS // 2:
            for width in np.arange(1, _WIDEST + 1, dtype=np.uint64):
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
        self.pos, self.neg = (np.add.reduceat(each, first, axis=1) for each in (self.pos, self.neg))
        self.start, self.bits = start, bits

    def merge(self, other: "RankCounts") -> None:
        """Count what another one counted, block by block."""
        for block, (pos, neg) in enumerate(zip(other.pos, other.neg, strict=True)):
            self._add(block, other.low, other.high, other.bits, pos, neg)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain data: of each block only the ranges that it has rows in."""
        blocks = []
        for pos, neg in zip(self.pos, self.neg, strict=True):
            there = np.flatnonzero(pos + neg)
            blocks.append({"at": there.tolist(), "pos": pos[there].tolist(), "neg": neg[there].tolist()})
        ranges = {"low": self.low.tolist(), "high": self.high.tolist(), "bits": self.bits.tolist()}
        return ranges | {"blocks": blocks}

    def add_dict(self, content: dict[str, Any]) -> None:
        """Add the counts of another one, given as plain data."""
        low, high = np.array(content["low"], float), np.array(content["high"], float)
        bits = np.array(content["bits"], np.uint64)
        for block, each in enumerate(content["blocks"]):
            at, pos, neg = (np.array(each[name], np.int64) for name in ("at", "pos", "neg"))
            self._add(block, low[at], high[at], bits[at], pos, neg)

    def auc(self, level: float) -> Estimate | None:
        """Return the AUC with an asymptotic confidence sequence; None without both classes.

        Notes
        -----
        On the logit scale, with DeLong's variance and the reach of an asymptotic confidence sequence. Rows in one range
        of several scores count as ties; the interval is wider by what that may change.
        """
        pos, neg = self.pos.sum(axis=0), self.neg.sum(axis=0)
        n_pos, n_neg = int(pos.sum()), int(neg.sum())
        if not (n_pos and n_neg):
            return None
        area, of_pos, of_neg = map(float, _areas(pos, neg))
        method, n = "asymptotic confidence sequence, logit scale", float(n_pos + n_neg)
        usual = auc_variance(min(max(area, 1 - area), 1 - 1e-9), n_neg / n_pos) / n_pos
        variance = max(of_pos / n_pos + of_neg / n_neg, usual)
        if not (variance > 0 and 0 < area < 1):
            return Estimate(area, 0.0, 1.0, level, method, n, reason="the ranks do not vary yet")
        reach = asymptotic_reach(n, level) * np.sqrt(variance) / (area * (1 - area))
        low, high = special.expit(special.logit(area) + np.array([-reach, reach]))
        open_pairs = float((pos * neg)[self.low < self.high].sum() / (2 * n_pos * n_neg))
        few = min(n_pos, n_neg)
        reason = f"only {few} rows of one class" if few < _ENOUGH else ""
        ends = max(0.0, float(low) - open_pairs), min(1.0, float(high) + open_pairs)
        return Estimate(float(area), *ends, level, method, n, float(np.sqrt(variance)), reason)

    def evidence(self, bound: float, upwards: bool) -> Array:
        """Return the log evidence that the AUC of the rows from each block on is beyond a bound; 0 for few rows."""
        pos, neg = (each[::-1].cumsum(axis=0)[::-1] for each in (self.pos, self.neg))
        return auc_evidence(pos, neg, bound, upwards)

    def area(self, block: int) -> float:
        """Return the AUC of the rows from a block on."""
        return float(_areas(self.pos[block:].sum(axis=0), self.neg[block:].sum(axis=0))[0])


def auc_evidence(pos: Array, neg: Array, bound: float, upwards: bool) -> Array:
    """Return the log evidence that the AUC of the rows from each block on is beyond a bound; 0 for few rows.

    Parameters
    ----------
    pos, neg : array of … × blocks × levels
        Counts at rising levels of the rows from each block on, those of all rows first.
    bound : float
    upwards : bool

    Notes
    -----
    Normal, with DeLong's variance of a placement over all rows, as that of the rows since a change errs together with
    their area. It is shrunk towards that of normal scores at the bound (Obuchowski & McClish 1997) while rows are few.
    """
    n_pos, n_neg = pos.sum(axis=-1), neg.sum(axis=-1)
    enough = np.minimum(n_pos, n_neg) >= _ENOUGH
    area, of_pos, of_neg = _areas(pos[..., :1, :], neg[..., :1, :])
    usual = auc_variance(max(bound, 1 - bound), np.inf)
    placed = [_shrunk(of_pos, usual, n_pos), _shrunk(of_neg, auc_variance(max(bound, 1 - bound), 1) - usual, n_neg)]
    area = _areas(pos, neg)[0]
    variance = placed[0] / np.maximum(n_pos, 1) + placed[1] / np.maximum(n_neg, 1)
    excess = np.where(enough, area - bound, 0) * (1 if upwards else -1)
    return np.where(enough, mixture_evidence(excess, variance), 0.0)


def _shrunk(variance: Array, usual: float, n: Array) -> Array:
    return (n[..., :1] * variance + _PRIOR * usual) / (n[..., :1] + _PRIOR)


def _areas(pos: Array, neg: Array) -> tuple[Array, Array, Array]:
    """Return the AUC of counts at rising levels, and the variances of the placements of positives and negatives."""
    n_pos, n_neg = (np.maximum(each.sum(axis=-1, keepdims=True), 1) for each in (pos, neg))
    below = (neg.cumsum(axis=-1) - neg / 2) / n_neg
    above = (n_pos - pos.cumsum(axis=-1) + pos / 2) / n_pos
    area = (pos * below).sum(axis=-1, keepdims=True) / n_pos
    of_pos = (pos * (below - area) ** 2).sum(axis=-1) / np.maximum(n_pos[..., 0] - 1, 1)
    of_neg = (neg * (above - area) ** 2).sum(axis=-1) / np.maximum(n_neg[..., 0] - 1, 1)
    return area[..., 0], of_pos, of_neg
