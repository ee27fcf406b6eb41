"""Resampling of a choice: apparent, bootstrap and cross-validated.

Each part returns cells (tp, fp, n_pos, n_neg) for each candidate; what these are worth is computed from them later, so
that cost and criterion come from the same draws.
"""

from dataclasses import dataclass

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.progress import Progress
from rocscope.decisions.generalization.candidates import Candidates, Points
from rocscope.decisions.generalization.threshold_choice import pick
from rocscope.errors import InputError
from rocscope.inference.resampling.draws import Design, in_chunks, tally_all

FOLDS = 10  # as is usual: a choice trained on nine tenths is close to that on all rows
REPEATS = 5  # of the cross-validation; what the random folds then add to the variance is `inference.costs.OF_FOLDS`
_MANY = 100_000
"""From this many rows on, one repeat of the cross-validation is as precise as five."""
# Rows: up to here folds of equal size are drawn; of more, a fold's share varies by less than .3 %.
_MOST_PERMUTED = 1_000_000


@dataclass(frozen=True)
class InSample:
    """The choice on the sample.

    Attributes
    ----------
    number : int
        The candidate that is chosen.
    points, acting_points : lists of m points, as `Rule.best` gives them
        The point of each candidate; the best of those that predict somebody positive.
    cells, acting : arrays of m × 4
        Cells of these points; NaN where none is admissible.
    """

    number: int
    points: list[Array]
    acting_points: list[Array]
    cells: Array
    acting: Array


@dataclass(frozen=True)
class Replicates:
    """Bootstrap replicates that contain both classes, r of them.

    Attributes
    ----------
    cells, acting : arrays of r × m × 4
        What `InSample.points` and `acting_points` give in each replicate.
    number, point : arrays of r and, where points are mixed, r × 3
        The candidate and its point that are chosen anew.
    chosen : array of r × 4
        Cells of that choice; NaN where none is admissible.
    left_out : int
        Replicates without one of the classes.
    """

    cells: Array
    acting: Array
    number: Array
    point: Array
    chosen: Array
    left_out: int


@dataclass(frozen=True)
class HeldOut:
    """Cells of held-out cases, averaged over repeats.

    Attributes
    ----------
    cells, acting : arrays of m × 4
        Of the threshold chosen for each candidate; of the one chosen among those that predict somebody positive.
    failed : array of m
        Share of folds without which nothing could be chosen.
    folds, repeats : int
    """

    cells: Array
    acting: Array
    failed: Array
    folds: int
    repeats: int


def in_sample(design: Design, candidates: Candidates) -> InSample:
    """Choose on the whole sample."""
    whole = candidates.points(tally_all(design, design.frequency[None, :]))
    found = [
        [candidate.best(points, acting=acting) for candidate, points in zip(candidates.each, whole, strict=True)]
        for acting in (False, True)
    ]
    cells = [
        np.array([_cells(at, best.point, best.goodness)[0] for at, best in zip(whole, each, strict=True)])
        for each in found
    ]
    points, acting_points = ([best.point for best in each] for each in found)
    return InSample(int(candidates.choose(whole).model[0]), points, acting_points, cells[0], cells[1])


def bootstrap_choice(
    design: Design, candidates: Candidates, sample: InSample, replicates: int, seed: int, progress: Progress
) -> Replicates:
    """Draw replicates, choose in each, and evaluate the sample's choice in each."""
    compiled = design.worth_compiling(replicates)
    size = len(candidates.each)

    def work(rng: np.random.Generator, many: int) -> Array:
        drawn = candidates.points(tally_all(design, design.draw(rng, many, compiled)))
        again = candidates.choose(drawn)
        cells, chosen = [], np.full((many, 4), np.nan)
        for number, points in enumerate(drawn):
            each = (sample.points[number], sample.acting_points[number])
            cells += [_cells(points, np.repeat(point, many, axis=0)) for point in each]
            here = (again.model == number) & np.isfinite(again.worth)
            chosen[here] = _cells((points[0][here], points[1][here]), again.point[here])
        return np.column_stack([*cells, chosen, again.model, again.point])

    found = in_chunks(work, replicates, design.chunk, seed=seed, threads=None if compiled else 1, progress=progress)
    pairs = found[:, : 8 * size].reshape(-1, size, 2, 4)
    both = (pairs[:, sample.number, 0, 2:] > 0).all(axis=1)
    if not both.any():
        raise InputError("replicates", expected="some with both classes", got=f"none of {replicates}")
    pairs, chosen, number, point = pairs[both], *np.split(found[both, 8 * size :], [4, 5], axis=1)
    number, left_out = number[:, 0].astype(np.intp), int((~both).sum())
    point = point[:, 0] if point.shape[1] == 1 else point
    return Replicates(pairs[:, :, 0], pairs[:, :, 1], number, point, chosen, left_out)


def _cells(points: Points, point: Array, goodness: Array | None = None) -> Array:
    """Return the cells of one point in each sample, one sample per row; NaN where it is not admissible."""
    tp, fp = points
    cells = np.column_stack([pick(tp, point), pick(fp, point), tp[:, -1], fp[:, -1]]).astype(np.float64)
    if goodness is not None:
        cells[~np.isfinite(goodness)] = np.nan
    return cells


def cross_validate(
    design: Design, candidates: Candidates, seed: int, folds: int = FOLDS, repeats: int = REPEATS
) -> HeldOut:
    """Choose on all folds but one and evaluate on that one; folds are stratified by class and keep groups whole."""
    if not check.check_whole(folds, "cv") >= 2:
        raise InputError("cv", expected="2 folds or more", got=repr(folds))
    repeats = check.check_whole(repeats, "repeats") if design.draws < _MANY else 1
    rng = np.random.default_rng([seed, 1])
    kind = _kinds(design)
    sums, failed = np.zeros((2, len(candidates.each), 4)), np.zeros(len(candidates.each))
    for _ in range(repeats):
        parts = _parted(design.frequency, kind, folds, rng)  # tallied apart: estimated weights depend on the rows
        tests, others = (candidates.points(tally_all(design, each)) for each in (parts, design.frequency - parts))
        for number, (candidate, test, trained) in enumerate(zip(candidates.each, tests, others, strict=True)):
            for acting in (False, True):
                best = candidate.best(trained, acting=acting)
                sums[int(acting), number] += np.nansum(_cells(test, best.point, best.goodness), axis=0) / repeats
                failed[number] += 0 if acting else (~np.isfinite(best.goodness)).mean() / repeats
    return HeldOut(sums[0], sums[1], failed, folds, repeats)


def _kinds(design: Design) -> Array:
    """Return the strata of units: their stratum, and whether they contain positives."""
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


def _parted(frequency: Array, kind: Array, folds: int, rng: np.random.Generator) -> Array:
    """Return how many of each unit are in each fold, a fold a row."""
    parts = np.zeros((folds, frequency.size), np.int64)
    if frequency.sum() > _MOST_PERMUTED:  # each row goes into any fold, which is as good among so many
        left = frequency.copy()
        for fold in range(folds - 1):
            parts[fold] = rng.binomial(left, 1 / (folds - fold))
            left -= parts[fold]
        parts[-1] = left
        return parts
    unit = rng.permutation(np.repeat(np.arange(frequency.size), frequency))
    unit = unit[np.argsort(kind[unit], kind="stable")]
    np.add.at(parts, (np.arange(unit.size) % folds, unit), 1)
    return parts
