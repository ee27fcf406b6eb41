"""Distances from calibration of many samples of labels at once, and their intervals by inverted tests."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.calibration.bins import binned
from rocscope.calibration.intervals.inversion import Direction, Inverted, invert
from rocscope.calibration.loess import DEFAULT_SPAN, LoessFit, loess_fit
from rocscope.calibration.outcomes import Outcomes, Shift
from rocscope.calibration.pav import pav_values

DRAWS, DRAWS_ALONG = 999, 199
"""From the probabilities, for a p-value, and from each curve on the way, for the ends of intervals."""

_MOST_LEVELS, _GROUPS, _ENDS, _HUNDREDTHS = 640, 250, 16, np.arange(1, 100) / 100
INDEX = {"ici": 1, "ici_quadratic": 2}
"""The index by the degree of its LOESS."""


def grouped(sample: Outcomes) -> Outcomes:
    """Gather neighbouring rows above 640 levels: 250 groups, split at hundredths, and both ends as they are."""
    size = sample.score.size
    if size <= _MOST_LEVELS:
        return sample
    ends = np.append(np.arange(_ENDS), np.arange(size - _ENDS, size))
    starts = np.unique(np.concatenate([sample.starts(_GROUPS), np.searchsorted(sample.score, _HUNDREDTHS), ends]))
    return sample.merged(starts[starts < size])


def miscalibration(sample: Outcomes, pos: Array, shift: Shift | None = None) -> Array:
    """Return the Brier score less that of the PAV values, of each sample of labels; squares of labels cancel."""
    score, total = sample.score, sample.total
    fitted = np.array([isotonic_regression(row / total, weights=total).x for row in pos]).clip(0, 1)
    weighted, rows = (pos, total) if shift is None else shift.of_counts(pos, total)
    if shift is not None:
        fitted = shift.of_chance(fitted)
    beyond = score - fitted
    return np.sum(beyond * (rows * (score + fitted) - 2 * weighted), axis=-1) / sample.n


def quantiles(distance: Array, rows: Array, shares: Any) -> Array:
    """Return quantiles of distances over rows, between neighbouring rows as R and NumPy have them (type 7)."""
    order = np.argsort(distance, axis=-1)
    distance = np.take_along_axis(distance, order, axis=-1)
    reached = np.cumsum(np.take_along_axis(np.broadcast_to(rows, distance.shape), order, axis=-1), axis=-1)
    columns = []
    for share in shares:
        place = share * np.maximum(reached[..., -1:] - 1, 0)
        below = np.floor(place + 1e-9)
        ends = []
        for row in (below, below + 1):
            level = (reached <= row + 1e-9).sum(axis=-1, keepdims=True).clip(max=distance.shape[-1] - 1)
            ends.append(np.take_along_axis(distance, level, axis=-1)[..., 0])
        part = (place - below)[..., 0].clip(0, 1)
        columns.append(ends[0] + part * (ends[1] - ends[0]))
    return np.stack(columns, axis=-1)


@dataclass(frozen=True, eq=False)
class Distances:
    """How to find all distances of samples of labels at the probabilities of some outcomes.

    Attributes
    ----------
    sample : Outcomes
    shift : Shift
    bins : int
        Of the expected calibration errors.
    """

    sample: Outcomes
    shift: Shift
    bins: int

    @cached_property
    def _fits(self) -> Mapping[str, LoessFit]:
        return {name: loess_fit(self.sample, DEFAULT_SPAN[degree], degree) for name, degree in INDEX.items()}  # pyright: ignore[reportArgumentType]

    @cached_property
    def _first(self) -> Mapping[str, Array]:
        ways: Any = {"ece": "uniform", "ece_equal_mass": "quantile"}
        starts = {name: binned(self.sample, bins=self.bins, strategy=way).first for name, way in ways.items()}
        return {name: np.unique(first[first < self.sample.score.size]) for name, first in starts.items()}

    def from_bins(self, chance: Array, rows: Array) -> dict[str, Array]:
        """Return the expected calibration errors of shares at each level."""
        excess, n = (chance - self.sample.score) * rows, rows.sum(axis=-1)
        found = {}
        for name, first in self._first.items():
            total = np.abs(np.add.reduceat(excess, first, axis=-1))
            found[name] = total.sum(axis=-1) / n
            if name == "ece":
                size = np.add.reduceat(np.broadcast_to(rows, excess.shape), first, axis=-1)
                found["mce"] = np.divide(total, size, out=np.zeros_like(total), where=size > 0).max(axis=-1)
        return found

    def from_curve(self, chance: Array, rows: Array, name: str = "ici") -> dict[str, Array]:
        """Return the distances between probabilities and a curve: mean over rows, quantiles, largest."""
        distance = np.abs(chance - self.sample.score)
        found = {name: (distance * rows).sum(axis=-1) / rows.sum(axis=-1)}
        if name == "ici":
            middle = quantiles(distance, rows, (0.5, 0.9))
            found |= {"e50": middle[..., 0], "e90": middle[..., 1], "emax": distance.max(axis=-1)}
        return found

    def of_labels(self, pos: Array) -> dict[str, Array]:
        """Return all but the miscalibration of the Brier score, for samples of labels."""
        weighted, rows = self.shift.of_counts(pos, self.sample.total)
        found = self.from_bins(np.divide(weighted, rows, out=np.zeros_like(pos), where=rows > 0), rows)
        for name, fit in self._fits.items():
            curve = self.shift.of_chance(fit.at_levels(pos).clip(0, 1))
            found |= self.from_curve(curve, rows, name)
        return found

    def of_chances(self, chance: Array) -> dict[str, Array]:
        """Return the same without noise, and the miscalibration, for curves of true chances."""
        total = self.sample.total
        rows = self.shift.of_counts(self.shift.in_sample(chance) * total, total)[1]
        found = self.from_bins(chance, rows)
        for name in INDEX:
            found |= self.from_curve(chance, rows, name)
        squared = ((chance - self.sample.score) ** 2 * rows).sum(axis=-1) / self.sample.n
        return found | {"miscalibration": squared}

    def inverted(self, *, level: float, draws: int, random_state: Any) -> Inverted:
        """Return intervals and p-values of all distances."""
        sample, shift = self.sample, self.shift
        smooth = self._fits["ici"].at_levels(sample.pos).clip(0, 1)
        steps = Direction(
            shift.of_chance(pav_values(sample)),
            lambda pos: self.of_labels(pos) | {"miscalibration": miscalibration(sample, pos, shift)},
            self.of_chances,
            reach=("miscalibration",),
        )
        curve = Direction(shift.of_chance(smooth), self.of_labels, self.of_chances)
        rng = check.check_random_state(random_state)
        options = {"level": level, "draws": draws, "draws_along": DRAWS_ALONG, "rng": rng}
        return invert(sample, shift, (steps, curve), **options)
