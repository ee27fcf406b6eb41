"""The choice in the sample, and in samples drawn from it again: what it costs there, and what the best there costs."""

from dataclasses import dataclass

import numpy as np

from rocscope._progress import Progress
from rocscope._types import Array
from rocscope.decisions.certainty.options import Options, Points
from rocscope.decisions.certainty.threshold_choice import pick
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
