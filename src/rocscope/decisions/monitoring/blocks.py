"""Blocks of rows between which evidence may begin, and the bets from each of them on.

A change need not have been there from the first row. So the stake is spread over beginnings: a part of it is bet from
the first row on, a part from each later block on, the rest stays cash. The whole reaches 1/α ever with a chance of α at
most as long as the limit is kept, whenever it is looked at.
"""

from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from rocscope._types import Array
from rocscope.decisions.monitoring.quantities import CellMean, Limit
from rocscope.inference.betting import log_wealth

BETS = np.geomspace(0.005, 0.8, 10)  # shares of the wealth that are bet
_FIRST = 0.25  # of the stake, from the first row on
_LATER, _OFFSET, _POWER = 0.75 / 1.0664, 3.0, 1.5  # the others share .75: Σ (k + 3)^−1.5 = 1.0664
_LEAST_ROWS, _GROWTH = 50, 16


@dataclass
class LookBlock:
    """Rows between two possible beginnings of a change: cells of the threshold, and what calibration needs.

    `residuals` are n, Σ(y − p) and Σ(y − p)²; `bets` the log wealth that these rows multiply by, for each limit of the
    calibration and each bet.
    """

    when: Any
    cells: Array
    residuals: Array
    bets: dict[str, Array]

    @classmethod
    def empty(cls, when: Any) -> "LookBlock":
        """Return a block without rows."""
        return cls(when, np.zeros(4, np.int64), np.zeros(3), {})

    @property
    def n(self) -> int:
        """Rows."""
        return int(self.cells.sum())

    def add(self, other: "LookBlock") -> None:
        """Count the rows of another block as well."""
        self.cells = self.cells + other.cells
        self.residuals = self.residuals + other.residuals
        for name, wealth in other.bets.items():
            self.bets[name] = self.bets.get(name, np.zeros(BETS.size)) + wealth

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        bets = {name: [float(value) for value in wealth] for name, wealth in self.bets.items()}
        return {"when": self.when, "cells": self.cells.tolist(), "residuals": self.residuals.tolist(), "bets": bets}


def begins(blocks: list[LookBlock]) -> bool:
    """Whether the next rows are a block of their own: after 50 rows, and a sixteenth of all, in the last one."""
    return not blocks or blocks[-1].n >= max(_LEAST_ROWS, sum(block.n for block in blocks) / _GROWTH)


def _stakes(blocks: int) -> Array:
    """Return the part of the stake that is bet from each block on.

    Examples
    --------
    >>> _stakes(3).round(3)
    array([0.25 , 0.088, 0.063])
    """
    later = np.arange(1, blocks)
    return np.concatenate(([_FIRST], _LATER * (later + _OFFSET) ** -_POWER))


@dataclass(frozen=True)
class Betting:
    """How much a stake of 1 has become that bets against a limit being kept, and from which block on it grew most."""

    wealth: float
    since: int


def evidence(blocks: list[LookBlock], limit: Limit, mean: CellMean | None) -> Betting:
    """Return the evidence that a limit is broken.

    References
    ----------
    Ville 1939; Waudby-Smith & Ramdas 2024, J. R. Stat. Soc. B 86:1–27; Shin, Ramdas & Rinaldo 2023, "E-detectors"
    (beginnings; there for a run length, here with a stake that bounds the chance of any false alarm).
    """
    if mean is None:
        wealth = np.array([block.bets.get(str(limit), np.zeros(BETS.size)) for block in blocks])
        grown = np.logaddexp.reduce(_from_each_on(wealth), axis=1) - log(BETS.size)
    else:
        sign = 1.0 if limit.up else -1.0
        values = sign * np.array(mean.values)
        counts = _from_each_on(np.array([mean.counts(block.cells) for block in blocks]))
        grown = log_wealth(values, counts, sign * limit.bound, float(values.min()), BETS)
    each = np.log(_stakes(len(blocks))) + grown
    cash = 1 - _stakes(len(blocks)).sum()
    return Betting(float(np.exp(np.minimum(np.logaddexp.reduce(each), 700.0)) + cash), int(each.argmax()))


def _from_each_on(values: Array) -> Array:
    return values[::-1].cumsum(axis=0)[::-1]


def bets_on_residuals(residual: Array, limit: Limit) -> Array:
    """Return the log wealth that rows multiply each bet by that observed − expected is beyond a limit."""
    sign = 1.0 if limit.up else -1.0
    excess = sign * (residual - limit.bound)
    share = BETS[:, None] / (1 + abs(limit.bound))
    return np.log1p(share * excess).sum(axis=1)
