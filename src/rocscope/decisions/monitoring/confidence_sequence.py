"""Confidence sequences: intervals and tests that hold at every look, by bets that start with each block of rows.

A change need not have been there from the first row. So the stake is spread over beginnings: a part of it is bet from
the first row on, a part from each later block on, the rest stays cash. The whole reaches 1/α ever with a chance of α at
most as long as the limit is kept, whenever it is looked at.

Bets: confidence intervals of a mean at every look, however often one looks.

Someone who believes that the mean of bounded values is m offers bets at fair odds; betting a share t of the wealth on
values above m holds Π (1 − t + t·(x − a)/(m − a)) of it. Were m right, that wealth would ever reach 1/α with a chance
of α at most (Ville). So the means at which no mixture of such bets ever reached 1/α are a confidence sequence: an
interval at every look, all of which hold together.

A cost takes few values, and the wealth depends on how often each came up, not on their order. So counts are all that a
monitor has to remember, and machines add theirs up.
"""

from dataclasses import dataclass
from math import log, log1p, sqrt
from typing import Any

import numpy as np
from scipy import optimize, special

from rocscope._base.arrays import Array
from rocscope.decisions.monitoring.quantities import CellMean
from rocscope.figures.conditions import Condition

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
