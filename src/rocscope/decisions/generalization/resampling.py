"""The choice in the sample, and in samples drawn from it again: what it costs there, and what the best there costs.

The choice made on all folds but one and judged on that one: counts of cases that it was not made on.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rocscope._base.arrays import Array
from rocscope._base.progress import Progress
from rocscope.decisions.generalization.candidates import Options, Points
from rocscope.decisions.generalization.threshold_choice import pick
from rocscope.errors import InputError
from rocscope.inference.resampling.draws import Design, in_chunks, tally_all


@dataclass(frozen=True)
class InSample:
    """What is chosen in the sample.

    Attributes
    ----------
    option : int
        The one that is chosen.
    points, acting : lists of m arrays of 1
        The point of each option; the best of those that predict somebody positive.
    cells : array of m × 4
        Counts tp, fp, n_pos and n_neg of `points`.
    cost, worth, worth_of_acting : arrays of m
        NaN where nothing can be chosen.
    """

    option: int
    points: list[Array]
    acting: list[Array]
    cells: Array
    cost: Array
    worth: Array
    worth_of_acting: Array


@dataclass(frozen=True)
class Redrawn:
    """What replicates say.

    Attributes
    ----------
    cost : array of replicates × m
        Of the threshold of each option that is chosen in the sample.
    acting : array of replicates × m
        Worth of the best that predicts somebody positive.
    least : array of replicates
        Cost of what is chosen anew.
    """

    cost: Array
    acting: Array
    least: Array


def in_sample(design: Design, options: Options) -> InSample:
    """Return what is chosen in the sample."""
    whole = options.points(tally_all(design, design.frequency[None, :]))
    pairs = list(zip(options.each, whole, strict=True))
    found = [option.best(points) for option, points in pairs]
    acting = [option.best(points, acting=True) for option, points in pairs]
    worth, of_acting = (
        np.array([options.sign * best.goodness[0] if np.isfinite(best.goodness[0]) else np.nan for best in each])
        for each in (found, acting)
    )
    cells = np.array([_cells(points, best.point)[:, 0] for points, best in zip(whole, found, strict=True)])
    cost = [option.cost(*each) for option, each in zip(options.each, cells, strict=True)]
    option = int(options.choose(whole).model[0])
    points = [best.point for best in found]
    return InSample(
        option,
        points,
        [best.point for best in acting],
        cells,
        np.where(np.isnan(worth), np.nan, cost),
        worth,
        of_acting,
    )


def drawn_again(
    design: Design, options: Options, sample: InSample, replicates: int, seed: int, progress: Progress
) -> Redrawn:
    """Draw replicates, and choose in each."""
    compiled = design.worth_compiling(replicates)
    size = len(options.each)

    def work(rng: np.random.Generator, many: int) -> Array:
        drawn = options.points(tally_all(design, design.draw(rng, many, compiled)))
        again = options.choose(drawn)
        costs, acting, least = [], [], np.full(many, np.nan)
        for number, (option, points) in enumerate(zip(options.each, drawn, strict=True)):
            costs.append(option.cost(*_cells(points, np.repeat(sample.points[number], many))))
            acting.append(option.worth(*_cells(points, np.repeat(sample.acting[number], many))))
            here = (again.model == number) & np.isfinite(again.worth)
            least[here] = option.cost(*_cells((points[0][here], points[1][here]), again.point[here]))
        return np.column_stack([*costs, *acting, least])

    threads = None if compiled else 1
    found = in_chunks(work, replicates, design.chunk, seed=seed, threads=threads, progress=progress)
    found = found[np.isfinite(found[:, sample.option])]
    if not found.size:
        raise InputError("replicates", expected="some with both classes", got=f"none of {replicates}")
    return Redrawn(found[:, :size], found[:, size : 2 * size], found[:, -1])


def _cells(points: Points, point: Array) -> Array:
    tp, fp = points
    return np.array([pick(tp, point), pick(fp, point), tp[:, -1], fp[:, -1]], dtype=np.float64)


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
                sums[number] += _fold_cells(test, best.point, usable) / repeats
                failed[number] += 0 if only_acting else (~usable).mean() / repeats
    return HeldOut(chosen, acting, repeats, failed)


def _fold_cells(test: Points, point: Array, here: NDArray[np.bool_]) -> Array:
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
