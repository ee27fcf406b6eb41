"""The acceleration of BCa: how skew the influence of single units on a statistic is."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rocscope._types import Array
from rocscope.inference.resampling.draws import Design, Statistic, Tally, tally_all

_MOST_GROUPS = 1_000


@dataclass(frozen=True)
class LeftOut:
    """The numbers of a statistic without each unit (or group) of one stratum, and how many units are like it."""

    values: Array
    frequency: Array


def leave_one_out(design: Design, statistic: Statistic) -> list[LeftOut]:
    """Return the left-out values of each stratum, without those that could not be computed."""
    found = []
    for stratum in design.strata:
        values, frequency = _left_out(design, statistic, stratum)
        known = ~np.isnan(values).any(axis=1)
        found.append(LeftOut(values[known], frequency[known]))
    return found


def acceleration(parts: Iterable[tuple[LeftOut, Array]]) -> float:
    """Return the acceleration of a sum of statistics with coefficients, over all strata.

    Notes
    -----
    a = Σ d³ / (6·(Σ d²)^1.5), where d = (mean of the left-out values in the stratum) − (left-out value)
    (Davison & Hinkley 1997, §5.3). Zero where nothing varies.

    Examples
    --------
    >>> left_out = LeftOut(np.array([[1.0], [1.0], [4.0]]), np.array([1, 1, 1]))
    >>> acceleration([(left_out, np.array([1.0]))])
    -0.06804138174397717
    """
    cubes = squares = 0.0
    for left_out, coefficients in parts:
        values, frequency = left_out.values @ coefficients, left_out.frequency
        if not frequency.any():
            continue
        deviation = frequency @ values / frequency.sum() - values
        squares += float(frequency @ deviation**2)
        cubes += float(frequency @ deviation**3)
    return cubes / (6 * squares**1.5) if squares > 0 else 0.0


def _left_out(design: Design, statistic: Statistic, stratum: slice) -> tuple[Array, Array]:
    """Return the statistic without each unit (or group of units) of a stratum, and how many units are like it."""
    units = np.flatnonzero(design.frequency[stratum]) + stratum.start
    frequency = design.frequency[units]
    if statistic.function is None and design.one_row_a_unit:
        tallied = tally_all(design, design.frequency[None, :])
        columns = [_areas_without_a_row(design.tallies[model], *counts) for model, counts in tallied.items()]
        return np.column_stack(columns)[units], frequency
    if units.size <= _MOST_GROUPS:
        removed = (np.arange(units.size), units)
        return _without(design, statistic, removed, units.size), frequency
    drawn = np.repeat(units, frequency)
    group = np.random.default_rng(0).permutation(drawn.size) % _MOST_GROUPS
    return _without(design, statistic, (group, drawn), _MOST_GROUPS), np.ones(_MOST_GROUPS, np.int64)


def _without(design: Design, statistic: Statistic, removed: tuple[Array, Array], groups: int) -> Array:
    group, unit = removed
    parts = []
    for first in range(0, groups, design.chunk):
        last = min(first + design.chunk, groups)
        kept = np.tile(design.frequency, (last - first, 1))
        mine = (group >= first) & (group < last)
        np.subtract.at(kept, (group[mine] - first, unit[mine]), 1)
        parts.append(statistic.of_matrices(tally_all(design, kept), design, compiled=False))
    return np.concatenate(parts)


def _areas_without_a_row(tally: Tally, pos: Array, neg: Array) -> Array:
    """Return the AUC without one row of each unit, (P·A − placement)/(P − 1): no area is counted again."""
    pos, neg = pos[0], neg[0]
    n_pos, n_neg = pos.sum(), neg.sum()
    tp, fp = np.cumsum(pos), np.cumsum(neg)
    of_positives = (2 * (n_neg - fp) + neg) / 2  # negatives that a positive of this level is ranked right against
    of_negatives = (2 * tp - pos) / 2
    right = pos @ of_positives
    target, weight = tally.of_units()
    credit = np.concatenate([of_positives, of_negatives])[target] * weight
    is_pos = target < tally.threshold.size
    with np.errstate(invalid="ignore", divide="ignore"):
        return (right - credit) / np.where(is_pos, (n_pos - weight) * n_neg, n_pos * (n_neg - weight))
