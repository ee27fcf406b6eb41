"""Bands around a calibration curve by drawing labels at the same probabilities.

Two kinds, which answer different questions. A consistency band lies around the diagonal: labels are drawn from the
probabilities themselves, and a curve that leaves it speaks against calibration. A confidence band lies around the
curve: labels are drawn from the curve, and it shows how precisely calibration is known.
"""

from typing import Any, Protocol

import numpy as np

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.calibration.outcomes import Outcomes
from rocscope.core.band import Band

_DRAWN_AT_ONCE = 2_000_000
_TRIFLE = 1e-9


class Fit(Protocol):
    """A way to draw a calibration curve: at `x`, from any labels at the probabilities of `outcomes`."""

    @property
    def outcomes(self) -> Outcomes: ...

    @property
    def x(self) -> Array: ...

    def values(self, pos: Array) -> Array:
        """Return the curve at `x` for positives at each level; rows of a matrix are separate samples."""
        ...

    def at_levels(self, values: Array) -> Array:
        """Return the curve at the levels of the outcomes, from its values at `x`."""
        ...


def band(
    fit: Fit, *, consistency: bool, simultaneous: bool, level: float, draws: int, random_state: Any, what: str
) -> Band:
    """Return a band of either kind around the curve that `fit` draws."""
    check.check_level(level)
    sample, curve = fit.outcomes, fit.values(fit.outcomes.pos)
    chance = sample.score if consistency else fit.at_levels(curve).clip(0, 1)
    drawn = _draw(fit, chance, check.check_whole(draws, "draws"), check.check_random_state(random_state))
    low, high = envelope(drawn, level) if simultaneous else _pointwise(drawn, level)
    if not consistency:  # a curve lies in its own confidence band, also where drawing again flattens it
        low, high = np.minimum(low, curve), np.maximum(high, curve)
    kind = "consistency" if consistency else "confidence"
    return Band(fit.x, low, high, level, f"{kind} band of {what}, {draws} draws", simultaneous)


def draw_positives(total: Array, chance: Array, draws: int, rng: np.random.Generator) -> Array:
    """Draw the positives among the rows of each level, `draws` times; a fraction of a row is all or nothing."""
    whole = np.floor(total + 1e-9)
    pos = rng.binomial(whole.astype(np.int64), chance, (draws, total.size)).astype(np.float64)
    part = np.maximum(total - whole, 0)
    if part.any():
        pos += part * (rng.random(pos.shape) < chance)
    return pos


def _draw(fit: Fit, chance: Array, draws: int, rng: np.random.Generator) -> Array:
    total = fit.outcomes.total
    size = max(1, _DRAWN_AT_ONCE // total.size)
    parts = [min(size, draws - done) for done in range(0, draws, size)]
    return np.concatenate([fit.values(draw_positives(total, chance, part, rng)) for part in parts])


def _pointwise(drawn: Array, level: float) -> tuple[Array, Array]:
    tail = (1 - level) / 2
    low = np.quantile(drawn, tail, axis=0, method="lower")
    return low, np.quantile(drawn, 1 - tail, axis=0, method="higher")


def envelope(curves: Array, level: float) -> tuple[Array, Array]:
    """Return limits between which a further curve, drawn alike, lies everywhere with probability `level`.

    Notes
    -----
    Half of the curves give the centre at each point and the spread to either side of it, as these are skewed where
    few rows are; the other half say how many spreads wide the band must be. As that half and a further curve can be
    exchanged, the probability holds whatever the shape of the curves.

    References
    ----------
    Myllymäki, Mrkvička, Grabarnik, Seijo & Hahn 2017, "Global envelope tests for spatial processes", JRSS B
    79:381–404 (the directional envelope).
    """
    first, second = curves[::2], curves[1::2] if len(curves) > 1 else curves
    centre = first.mean(axis=0)
    up, down = _spread(first - centre), _spread(centre - first)
    away = second - centre
    with np.errstate(divide="ignore", invalid="ignore"):
        spreads = np.where(away > 0, away / up, -away / down)
    farthest = np.sort(np.nanmax(np.where(away == 0, 0.0, spreads), axis=1))
    width = farthest[min(int(np.ceil(level * (farthest.size + 1))), farthest.size) - 1]
    with np.errstate(invalid="ignore"):
        low, high = centre - width * down, centre + width * up
    return np.maximum(low, min(0.0, np.nanmin(curves))), np.minimum(high, max(1.0, np.nanmax(curves)))


def _spread(away: Array) -> Array:
    """Root mean square of the deviations above 0, for each column; at least a trifle."""
    above = np.maximum(away, 0)
    return np.sqrt((above**2).sum(axis=0) / np.maximum((above > 0).sum(axis=0), 1)) + _TRIFLE
