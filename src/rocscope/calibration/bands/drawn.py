"""Consistency bands: where the curve of a calibrated model would lie, by drawing labels from its probabilities."""

from typing import Any, Protocol

import numpy as np

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.calibration.outcomes import Outcomes, Shift
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


def consistency_band(
    fit: Fit, shift: Shift, x: Array, *, simultaneous: bool, level: float, draws: int, random_state: Any, what: str
) -> Band:
    """Return where the curve that `fit` draws at `x` would lie if the probabilities were true."""
    check.check_level(level)
    sample = fit.outcomes
    rng = check.check_random_state(random_state)
    drawn = shift.of_chance(_draw(fit, shift.in_sample(sample.score), check.check_whole(draws, "draws"), rng))
    low, high = envelope(drawn, level) if simultaneous else _pointwise(drawn, level)
    return Band(x, low, high, level, f"consistency band of {what}, {draws} draws", simultaneous)


def _draw(fit: Fit, chance: Array, draws: int, rng: np.random.Generator) -> Array:
    size = max(1, _DRAWN_AT_ONCE // chance.size)
    parts = [min(size, draws - done) for done in range(0, draws, size)]
    return np.concatenate([fit.values(fit.outcomes.draw(chance, part, rng)) for part in parts])


def _pointwise(drawn: Array, level: float) -> tuple[Array, Array]:
    """Return quantiles; where they agree, as where nearly all draws are 0, up to the next values that were drawn."""
    tail = (1 - level) / 2
    low = np.quantile(drawn, tail, axis=0, method="lower")
    high = np.quantile(drawn, 1 - tail, axis=0, method="higher")
    same = np.flatnonzero(low == high)
    low[same] = np.where(drawn[:, same] < low[same], drawn[:, same], -np.inf).max(axis=0)
    high[same] = np.where(drawn[:, same] > high[same], drawn[:, same], np.inf).min(axis=0)
    return np.where(np.isfinite(low), low, drawn.min(axis=0)), np.where(np.isfinite(high), high, drawn.max(axis=0))


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
