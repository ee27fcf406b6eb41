"""The choice made on all folds but one and judged on that one: counts of cases that it was not made on."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rocscope._types import Array
from rocscope.decisions.certainty.options import Options, Points
from rocscope.decisions.certainty.threshold_choice import pick
from rocscope.inference.resampling.draws import Design, tally_all

FOLDS = 10
_REPEATS = 5
_MANY = 100_000
"""Rows from which on one repeat says the same as five."""
_MOST_PERMUTED = 1_000_000


@dataclass(frozen=True)
class HeldOut:
    """Counts tp, fp, n_pos, n_neg of cases that thresholds were not chosen on, in a mean over repeats.

    Attributes
    ----------
    chosen : array of m × 4
        Of the threshold that is chosen for each option.
    acting : array of m × 4
        Of the one that is chosen among those that predict somebody positive.
    repeats : int
    failed : array of m
        Share of folds without which nothing could be chosen.
    """

    chosen: Array
    acting: Array
    repeats: int
    failed: Array


def held_out(design: Design, options: Options, seed: int) -> HeldOut:
    """Choose and judge in folds of units that keep the class mix."""
    rng = np.random.default_rng([seed, 1])
    repeats = _REPEATS if design.draws < _MANY else 1
    whole = options.points(tally_all(design, design.frequency[None, :]))
    kind = _kinds(design)
    chosen, acting, failed = (np.zeros((len(options.each), *shape)) for shape in ((4,), (4,), ()))
    for _ in range(repeats):
        tests = options.points(tally_all(design, _parted(design.frequency, kind, rng)))
        for number, (option, test, all_) in enumerate(zip(options.each, tests, whole, strict=True)):
            trained = (all_[0] - test[0], all_[1] - test[1])
            for sums, only_acting in ((chosen, False), (acting, True)):
                best = option.best(trained, acting=only_acting)
                usable = np.isfinite(best.goodness)
                sums[number] += _cells(test, best.point, usable) / repeats
                failed[number] += 0 if only_acting else (~usable).mean() / repeats
    return HeldOut(chosen, acting, repeats, failed)


def _cells(test: Points, point: Array, here: NDArray[np.bool_]) -> Array:
    tp, fp = (axis[here] for axis in test)
    return np.array([pick(tp, point[here]).sum(), pick(fp, point[here]).sum(), tp[:, -1].sum(), fp[:, -1].sum()])


def _kinds(design: Design) -> Array:
    """Return which units are alike: of one stratum, and with or without positives."""
    kinds = np.zeros(design.frequency.size, np.intp)
    for number, stratum in enumerate(design.strata):
        kinds[stratum] = 2 * number
    for tally in design.tallies.values():
        k = tally.threshold.size
        if tally.cells is not None:
            return kinds
        if tally.rows is None:
            kinds[:k] += 1
        else:
            positive = np.repeat(tally.rows.targets, np.diff(tally.rows.starts, append=tally.rows.unit.size)) < k
            kinds[np.unique(tally.rows.unit[positive])] |= 1
    return kinds


def _parted(frequency: Array, kind: Array, rng: np.random.Generator) -> Array:
    """Return how many of each unit are in each fold, a fold a row."""
    parts = np.zeros((FOLDS, frequency.size), np.int64)
    if frequency.sum() > _MOST_PERMUTED:  # each row goes into any fold, which is as good among so many
        left = frequency.copy()
        for fold in range(FOLDS - 1):
            parts[fold] = rng.binomial(left, 1 / (FOLDS - fold))
            left -= parts[fold]
        parts[-1] = left
        return parts
    unit = rng.permutation(np.repeat(np.arange(frequency.size), frequency))
    unit = unit[np.argsort(kind[unit], kind="stable")]
    np.add.at(parts, (np.arange(unit.size) % FOLDS, unit), 1)
    return parts
