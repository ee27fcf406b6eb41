"""Inverse-probability-of-censoring weights, and the variance due to estimating them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rocscope._base.arrays import Array
from rocscope._base.threads import in_threads, pieces_of
from rocscope.inference.influence.estimated_weights import EstimatedWeights
from rocscope.kernels import SMALL
from rocscope.kernels.samples import find_places

RowNumbers = NDArray[np.intp]
_PIECE = 1 << 20  # rows that a thread takes at a time
_CELLS = 2  # for each distinct time, in which times are looked up: with 1 it takes a third longer, with 4 no less


@dataclass(frozen=True, eq=False)
class CensoringCurve:
    """Kaplan–Meier estimate of remaining uncensored in one stratum, as a function of row multiplicities.

    At tied times events come before censorings: a row with an event at u is not at risk of being censored at u.

    Attributes
    ----------
    happened, event_time : arrays
        Rows with an event of any kind by the last horizon, and its time.
    passed : array
        How many of the distinct censoring times come before each event.
    censored, censored_at : arrays
        Rows censored by the last horizon, and when.
    time, ended : arrays
        The distinct censoring times, and how many rows end at each.
    """

    happened: RowNumbers
    event_time: Array
    passed: RowNumbers
    censored: RowNumbers
    censored_at: Array
    time: Array
    ended: RowNumbers

    @cached_property
    def place(self) -> RowNumbers:
        """Which of the distinct times each censored row has."""
        return _places(self.time, self.censored_at)

    @classmethod
    def of(cls, time: Array, event: Array, until: float, rows: NDArray[np.bool_] | None) -> "CensoringCurve":
        """Return the curve of some rows, for horizons up to `until`."""

        def ended(piece: slice) -> list[RowNumbers]:
            by_then = time[piece] <= until
            if rows is not None:
                by_then &= rows[piece]
            none = event[piece] == 0
            return [np.flatnonzero(by_then & kind) + piece.start for kind in (none, ~none)]

        found = in_threads(ended, pieces_of(time.size, _PIECE))
        censored, happened = (np.concatenate([*each, np.empty(0, np.intp)]) for each in zip(*found, strict=True))
        event_time, censored_at = time[happened], time[censored]
        at, ended_at = np.unique(censored_at, return_counts=True)
        return cls(happened, event_time, _places(at, event_time), censored, censored_at, at, ended_at)

    def reached(self, horizon: float) -> int:
        """Return the number of distinct censoring times up to a horizon."""
        return int(np.searchsorted(self.time, horizon, side="right"))

    def fill(self, weight: Array, inverse: Array) -> None:
        """Write the weights of events from 1/G after none, one, … of the censoring times; later events get the last."""

        def write(piece: slice) -> None:
            weight[self.happened[piece]] = inverse.take(self.passed[piece], mode="clip")

        in_threads(write, pieces_of(self.happened.size, _PIECE))

    def hazard(self, frequency: Array | None, total: float) -> tuple[Array, Array]:
        """Return the hazard of censoring at each time, h(u) = d(u)/Y(u), and the number at risk, Y(u)."""
        k = self.time.size
        ended = self.ended if frequency is None else np.bincount(self.place, frequency[self.censored], k)
        happened = np.bincount(self.passed, None if frequency is None else frequency[self.happened], k + 1)
        beyond = total - ended.sum() - happened.sum()
        at_risk = _from_each_on(ended) + _from_each_on(happened)[1:] + beyond
        return np.divide(ended, at_risk, out=np.zeros(k), where=at_risk > 0), at_risk


def _places(ascending: Array, values: Array) -> RowNumbers:
    """Return how many of some distinct numbers are below each value."""
    if values.size < SMALL or ascending.size < 2:
        return np.searchsorted(ascending, values)
    cells = _CELLS * ascending.size
    scale = cells / (ascending[-1] - ascending[0])
    if not np.isfinite(scale):
        return np.searchsorted(ascending, values)
    cell = np.minimum((ascending - ascending[0]) * scale, cells - 1).astype(np.intp)
    starts = np.concatenate([[0], np.bincount(cell, minlength=cells).cumsum()])
    places = np.empty(values.size, np.intp)
    in_threads(
        lambda piece: find_places(ascending, starts, scale, values[piece], places[piece]),
        pieces_of(values.size, _PIECE),
    )
    return places


def _from_each_on(values: Array) -> Array:
    return values[::-1].cumsum(axis=0)[::-1]


def inverse_probability(hazard: Array) -> Array:
    """Return 1/G after none, one, … of the censoring times; 0 once nobody is at risk."""
    with np.errstate(divide="ignore"):
        inverse = 1 / np.concatenate([[1.0], np.cumprod(1 - hazard)])
    inverse[~np.isfinite(inverse)] = 0
    return inverse


@dataclass(frozen=True, eq=False, kw_only=True)
class CensoringWeights(EstimatedWeights):
    """Weights 1/G at a horizon, with the Kaplan–Meier estimate G of remaining uncensored.

    Attributes
    ----------
    horizon : float
    curves : tuple of CensoringCurve
        One a stratum.
    stratum : array of N codes, or None
    beyond : array of N
        Whether a row is observed beyond the horizon.
    excluded : array, or None
        Rows that have no weight although their outcome is known.
    most : float
        Largest weight; larger ones are cut to it.

    Notes
    -----
    log wᵢ = −Σ log(1 − h(u)) over the censoring times u that row i outlived, with h(u) = d(u)/Y(u). With B(u) the sum
    of the moves of all rows whose weight rests on u, row j moves the estimate through the weights by
    Σ_u B(u)/((1 − h(u))·Y(u)) · (1{j censored at u} − 1{j at risk at u}·h(u)).
    """

    horizon: float
    curves: tuple[CensoringCurve, ...]
    stratum: NDArray[np.intp] | None
    beyond: NDArray[np.bool_]
    excluded: RowNumbers | None = None
    most: float = np.inf

    def estimate(self, frequency: Array | None) -> Array:
        """Return 1/G where the outcome is known, for given row multiplicities."""
        inverses = []
        for curve, total in zip(self.curves, self._totals(frequency), strict=True):
            hazard = curve.hazard(frequency, total)[0][: curve.reached(self.horizon)]
            inverses.append(np.minimum(inverse_probability(hazard), self.most))
        after = np.array([inverse[-1] for inverse in inverses])
        found = self.beyond * (after[0] if self.stratum is None else after[self.stratum])
        for curve, inverse in zip(self.curves, inverses, strict=True):
            curve.fill(found, inverse)
        if self.excluded is not None:
            found[self.excluded] = 0
        return found

    def through_weights(self, moves: Array) -> Array:
        """Return the influence of each row through the weights of others."""
        through = np.zeros(moves.shape)
        for number, (curve, total) in enumerate(zip(self.curves, self._totals(self.base), strict=True)):
            beyond = np.flatnonzero(self.beyond if self.stratum is None else self.beyond & (self.stratum == number))
            last, by_then = curve.reached(self.horizon), np.flatnonzero(curve.event_time <= self.horizon)
            hazard, at_risk = (each[:last, None] for each in curve.hazard(self.base, total))
            happened, passed = curve.happened[by_then], curve.passed[by_then]
            uncut = inverse_probability(hazard[:, 0]) < self.most
            resting = (moves[happened] * uncut[passed, None]).T
            rest = np.column_stack([np.bincount(passed, each, last + 1) for each in resting])
            rest[last] += moves[beyond].sum(axis=0) * uncut[last]
            scale = (1 - hazard) * at_risk
            step = np.divide(_from_each_on(rest)[1:], scale, out=np.zeros((last, moves.shape[1])), where=scale > 0)
            drift = np.concatenate([np.zeros((1, moves.shape[1])), np.cumsum(step * hazard, axis=0)])
            through[happened] = -drift[passed]
            ended = np.flatnonzero(curve.place < last)
            place = curve.place[ended]
            through[curve.censored[ended]] = step[place] - drift[place + 1]
            through[beyond] = -drift[last]
        return through

    def _totals(self, frequency: Array | None) -> list[float]:
        """Return the number of rows in each stratum."""
        if self.stratum is None:
            return [self.size if frequency is None else frequency.sum()]
        return np.bincount(self.stratum, frequency, len(self.curves)).tolist()
