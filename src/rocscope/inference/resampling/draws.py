"""Resampling: multinomial counts over ranked levels, without sorting again.

A design states which units are drawn (levels of one model, rows, groups), in which strata, and how a draw becomes
counts at each level of each model. Replicates come in chunks of a size that depends on the data alone, each with its
own seed, so that they do not depend on how many threads share the work.

Which units a bootstrap draws: levels of counts, rows of several models, rows that stand for many, groups.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope import kernels
from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.progress import Progress, track
from rocscope._base.threads import cores
from rocscope.core.counts import ThresholdCounts
from rocscope.core.levels import Levels
from rocscope.core.predictions import Predictions
from rocscope.core.rows import independent_units
from rocscope.errors import OneClassError
from rocscope.inference.influence.estimated_weights import EstimatedWeights
from rocscope.inference.influence.row_levels import RowLevels
from rocscope.inference.influence.units import WEIGHTS, WeightKind, require_whole, times_of

CountsOf = Mapping[str, ThresholdCounts]

_CHUNK_CELLS = 2**17  # counts drawn at once: 1 MB, which a cache holds
_CHUNK_MOST = 100  # replicates: 2,000 then make 20 chunks for the cores to share
_DRAWS_A_UNIT = 12  # with more of them, binomials unit by unit are sooner drawn than rows one by one
_COMPILED_FROM = 10_000_000  # draws in all, below which NumPy answers before a compiler is loaded
_BLOCK = 2**8  # rows in a block: a power of two, so that one random byte draws a row


@dataclass(frozen=True)
class RowsByTarget:
    """Rows ordered by target: their level for positives, k + their level for negatives.

    `unit` and `weight` (or None) are of each row; `targets` are those that occur and `starts` where each begins.
    Estimated weights are estimated anew in each draw: by `redrawn`, from how often each row is drawn.
    """

    unit: Array
    weight: Array | None
    starts: Array
    targets: Array
    redrawn: Callable[[Array], Array] | None = None


@dataclass(frozen=True)
class Tally:
    """Converts numbers of draws of units to positives and negatives at each of k levels of one model.

    Without rows the units are the targets themselves, or `cells` has what each unit adds to each of them.
    """

    threshold: Array
    rows: RowsByTarget | None = None
    cells: Array | None = None

    def counts(self, drawn: Array) -> tuple[Array, Array]:
        """Return matrices of positives and of negatives: one replicate per row, one level per column."""
        k = self.threshold.size
        if self.cells is not None:
            drawn = drawn @ self.cells
        if self.rows is None:
            return drawn[:, :k], drawn[:, k:]
        amount = drawn[:, self.rows.unit]
        if self.rows.redrawn is not None:
            amount = amount * self.rows.redrawn(amount)
        elif self.rows.weight is not None:
            amount = amount * self.rows.weight
        cells = np.zeros((drawn.shape[0], 2 * k), amount.dtype)
        cells[:, self.rows.targets] = np.add.reduceat(amount, self.rows.starts, axis=1)
        return cells[:, :k], cells[:, k:]

    def of_units(self) -> tuple[Array, Array]:
        """Return target and weight of each unit, if every unit is one row."""
        rows = self.rows
        if rows is None:
            return np.arange(2 * self.threshold.size), np.ones(2 * self.threshold.size)
        target, weight = np.empty_like(rows.unit), np.ones(rows.unit.size)
        target[rows.unit] = np.repeat(rows.targets, np.diff(rows.starts, append=rows.unit.size))
        if rows.weight is not None:
            weight[rows.unit] = rows.weight
        return target, weight

    @classmethod
    def of_rows(
        cls,
        positive: NDArray[np.bool_],
        score: Array,
        unit: Array | None = None,
        weight: Array | None = None,
        weighting: EstimatedWeights | None = None,
        whole: bool = False,
    ) -> "Tally":
        """Rank rows once; without `unit` every row is a unit."""
        ranked = RowLevels.of(positive, score)
        threshold, level = ranked.threshold, ranked.level
        target = np.where(positive, level, threshold.size + level)
        order = np.argsort(target, kind="stable")
        starts = np.flatnonzero(np.diff(target[order], prepend=-1))
        unit = order if unit is None else unit[order]
        weight = None if weight is None else weight[order]
        redrawn = None if weighting is None or weight is None else weighting.take(order).redrawn(weight, whole)
        return cls(threshold, RowsByTarget(unit, weight, starts, target[order][starts], redrawn))


@dataclass(frozen=True)
class Design:
    """Units with frequencies, in consecutive strata that are resampled separately, and a Tally for each model."""

    frequency: Array
    strata: tuple[slice, ...]
    tallies: Mapping[str, Tally]
    n: float
    note: str = ""
    one_row_a_unit: bool = True

    @cached_property
    def draws(self) -> int:
        """Number of units drawn for one replicate."""
        return sum(self._sizes)

    @cached_property
    def _sizes(self) -> list[int]:
        """Number of units drawn from each stratum."""
        return [int(self.frequency[stratum].sum()) for stratum in self.strata]

    def draw(self, rng: np.random.Generator, replicates: int, compiled: bool) -> Array:
        """Return how often each unit is drawn, one replicate per row."""
        drawn = np.zeros((replicates, self.frequency.size), np.int64)
        for stratum, unit in zip(self.strata, self._units, strict=True):
            _draw(rng, self.frequency[stratum], unit, drawn[:, stratum], compiled)
        return drawn

    def draw_areas(self, rng: np.random.Generator, replicates: int) -> Array:
        """Return the AUC in each replicate without counts of levels, if there are `better_positives`."""
        assert self.better_positives is not None
        n_pos, above, not_below = self.better_positives
        reached, right, row = np.zeros((replicates, n_pos + 1), np.uint32), np.zeros(replicates, np.int64), 0
        for total in self._sizes:
            drawn = _draw_rows(rng, total, replicates)
            kernels.ranks.tally_right(*drawn, _BLOCK, row, above, not_below, reached, right)
            row += total
        pos = reached[:, -1].astype(np.int64)
        return _shares(right, pos, self.draws - pos)[:, None]

    @cached_property
    def better_positives(self) -> tuple[int, Array, Array] | None:
        """Number of positive rows; for each negative row, how many of them are above it, and how many not below it.

        None if units are not rows at the levels of one model, or are drawn by binomials, or if 32 bits do not do.
        """
        tally = next(iter(self.tallies.values()))
        single = len(self.tallies) == 1 and tally.rows is None and tally.cells is None
        if not single or self.draws >= 2**32 or not all(_by_rows(self.frequency[each]) for each in self.strata):
            return None
        pos, neg = self.frequency.reshape(2, -1)
        reached = np.cumsum(pos)
        above, not_below = (np.repeat(each.astype(np.uint32), neg) for each in (reached - pos, reached))
        return int(reached[-1]), above, not_below

    @cached_property
    def _units(self) -> list[Array]:
        """For each stratum the unit of each row; empty if units are drawn by binomials."""
        sizes = [self.frequency[stratum] for stratum in self.strata]
        return [np.repeat(np.arange(size.size), size if _by_rows(size) else 0) for size in sizes]

    @property
    def smallest_class(self) -> float:
        """Number of rows in the smaller class."""
        pos, neg = next(iter(self.tallies.values())).counts(self.frequency[None, :])
        return min(pos.sum().item(), neg.sum().item())

    def worth_compiling(self, replicates: int) -> bool:
        """Whether a number of replicates justifies loading the compiler."""
        return self.draws * check.check_whole(replicates, "replicates") >= _COMPILED_FROM

    @property
    def chunk(self) -> int:
        """Number of replicates in a chunk."""
        width = max(self.draws if _by_rows(self.frequency) else 0, self.frequency.size)
        return int(np.clip(_CHUNK_CELLS // width, 1, _CHUNK_MOST))


def _by_rows(frequency: Array) -> bool:
    """Whether to draw rows one by one, which is faster than binomials for units of few rows."""
    return frequency.sum() <= _DRAWS_A_UNIT * frequency.size


def _draw(rng: np.random.Generator, frequency: Array, unit: Array, drawn: Array, compiled: bool) -> None:
    """Add the draws of one stratum to each row of `drawn`, by rows where their units are given."""
    replicates = drawn.shape[0]
    if not unit.size:
        total = int(frequency.sum())
        drawn[:] = rng.multinomial(total, frequency / total, size=replicates)
        return
    number, place = _draw_rows(rng, unit.size, replicates)
    if compiled:
        kernels.ranks.tally(number, place, _BLOCK, unit, drawn)
        return
    block = np.tile(np.arange(number.shape[1]), replicates)
    row = place.astype(np.intp) + np.repeat(_BLOCK * block, number.ravel()).reshape(place.shape)  # one type: unbuffered
    first = frequency.size * np.arange(replicates)[:, None]
    drawn += np.bincount((unit[row] + first).ravel(), minlength=drawn.size).reshape(drawn.shape)


def _draw_rows(rng: np.random.Generator, total: int, replicates: int) -> tuple[Array, Array]:
    """Draw as many rows as there are: a number from each block of neighbours, then rows within the block.

    The numbers are multinomial, and within a block each row is as likely: the distribution of rows that are drawn one
    by one, without leaps all over memory.
    """
    size = np.diff(np.append(np.arange(0, total, _BLOCK), total))
    number = rng.multinomial(total, size / total, size=replicates)
    eight = rng.integers(2**64, size=-(-replicates * total // 8), dtype=np.uint64)  # each byte draws a row
    place = eight.astype("<u8", copy=False).view(np.uint8)[: replicates * total].reshape(replicates, total)
    place &= np.uint8(_BLOCK - 1)
    if size[-1] < _BLOCK:
        last = number[:, -1:]  # the rows of each replicate from the block that is not full, behind all others
        end = place[:, total - last.max() :]
        drawn = rng.integers(0, size[-1], size=last.sum(), dtype=np.uint8)
        end[np.arange(end.shape[1]) >= end.shape[1] - last] = drawn
    return number, place


@dataclass(frozen=True)
class Statistic:
    """A statistic of the counts of all models: `size` numbers, from `function` or the AUC of each model."""

    function: Callable[[CountsOf], Any] | None
    size: int

    def of_matrices(self, tallied: Mapping[str, tuple[Array, Array]], design: Design, compiled: bool) -> Array:
        """Return the statistic of each replicate, one per row; NaN if a required class was not drawn."""
        if self.function is None:
            return np.column_stack([areas(pos, neg, compiled) for pos, neg in tallied.values()])
        replicates = next(iter(tallied.values()))[0].shape[0]
        values = np.full((replicates, self.size), np.nan)
        for r in range(replicates):
            try:
                values[r] = self.function(
                    {
                        model: counts_of(design.tallies[model].threshold, pos[r], neg[r])
                        for model, (pos, neg) in tallied.items()
                    }
                )
            except OneClassError:
                continue
        return values


AREAS = Statistic(None, 0)
"""The AUC of each model, computed for all replicates at once."""


def counts_of(threshold: Array, pos: Array, neg: Array) -> ThresholdCounts:
    """Return counts without levels that were not drawn."""
    used = (pos + neg) > 0
    return ThresholdCounts.from_ranking(Levels(threshold[used], pos[used], neg[used]))


def areas(pos: Array, neg: Array, compiled: bool) -> Array:
    """Return the AUC of each row of counts; NaN if a class is missing."""
    if compiled:
        right = np.empty(pos.shape[0], pos.dtype)
        kernels.ranks.count_right(pos, neg, right)
    else:
        right = (neg * (2 * np.cumsum(pos, axis=1) - pos)).sum(axis=1)
    return _shares(right, pos.sum(axis=1), neg.sum(axis=1))


def _shares(right: Array, n_pos: Array, n_neg: Array) -> Array:
    """Return half of the pairs as shares; NaN if a class is missing."""
    with np.errstate(invalid="ignore"):
        return right / (2 * n_pos * n_neg)


def replicate(
    design: Design,
    statistic: Statistic,
    replicates: int,
    *,
    random_state: Any = 0,
    stream: int | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Array:
    """Return the statistic of each replicate, one per row; each `stream` of a random state is different."""
    compiled = design.worth_compiling(replicates)

    def work(rng: np.random.Generator, size: int) -> Array:
        if compiled and statistic.function is None and design.better_positives is not None:
            return design.draw_areas(rng, size)
        return statistic.of_matrices(tally_all(design, design.draw(rng, size, compiled)), design, compiled)

    threads = threads if statistic.function is None else 1
    seed = [check.seed_of(random_state), *([] if stream is None else [stream])]
    return in_chunks(work, replicates, design.chunk, seed=seed, threads=threads, progress=progress)


def in_chunks(
    work: Callable[[np.random.Generator, int], Array],
    replicates: int,
    chunk: int,
    *,
    seed: int | list[int],
    threads: int | None,
    progress: Progress,
) -> Array:
    """Apply `work` to each chunk with its own generator, sequentially."""
    check.check_whole(replicates, "replicates")
    sizes = [min(chunk, replicates - done) for done in range(0, replicates, chunk)]
    seeds = np.random.SeedSequence(seed).spawn(len(sizes))

    def one(number: int) -> Array:
        return work(np.random.Generator(np.random.SFC64(seeds[number])), sizes[number])

    parts = _in_threads(one, len(sizes), threads)
    return np.concatenate(list(track(parts, len(sizes), progress, "bootstrap")))


def tally_all(design: Design, drawn: Array) -> dict[str, tuple[Array, Array]]:
    """Return the counts of each model."""
    return {model: tally.counts(drawn) for model, tally in design.tallies.items()}


def _in_threads(work: Callable[[int], Array], chunks: int, threads: int | None) -> Iterator[Array]:
    """Yield the chunks in order; Python statistics hold the interpreter lock and gain nothing from threads."""
    threads = min(cores() if threads is None else check.check_whole(threads, "threads"), chunks)
    if threads == 1:
        yield from map(work, range(chunks))
        return
    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(work, range(chunks))


def design_of_counts(counts: ThresholdCounts, *, stratified: bool, model: str = "score") -> Design:
    """Return the design that resamples rows of one model, given as counts by level."""
    require_whole(counts.pos, counts.neg)
    frequency = np.concatenate([counts.pos, counts.neg]).astype(np.int64)
    k = len(counts)
    strata = (slice(0, k), slice(k, 2 * k)) if stratified else (slice(0, 2 * k),)
    return Design(
        frequency, _with_rows(strata, frequency), {model: Tally(counts.threshold)}, counts.n, _note(stratified)
    )


def design_of_rows(predictions: Predictions, *, stratified: bool, groups: Any, weights: WeightKind) -> Design:
    """Return the design that resamples common rows, or groups of rows."""
    check.check_choice("weights", weights, WEIGHTS)
    weight = predictions.sample_weight
    unit = independent_units(predictions, groups)
    if unit is not None:
        return _design_of_groups(predictions, unit, stratified)
    if weight is None and len(predictions.models) == 1:
        model = predictions.models[0]
        return design_of_counts(predictions.counts(model), stratified=stratified, model=model)
    frequency, weighting = np.ones(len(predictions), np.int64), predictions.weighting
    times = times_of(weight, weighting, weights, predictions.y_true, *predictions.scores.values())
    if times is not None:
        frequency, weight = times.astype(np.int64), None if weighting is None else weight
    order = np.argsort(~predictions.y_true, kind="stable")
    positive = predictions.y_true[order]
    n_pos = int(positive.sum())
    strata = (slice(0, n_pos), slice(n_pos, positive.size)) if stratified else (slice(0, positive.size),)
    tallies = {
        model: Tally.of_rows(
            positive,
            score[order],
            weight=None if weight is None else weight[order],
            weighting=None if weighting is None else weighting.take(order),
            whole=times is not None,
        )
        for model, score in predictions.scores.items()
    }
    frequency = frequency[order]
    kind = "sampling weights" * (weight is not None) if weighting is None else weighting.note
    note = _note(stratified, kind)
    return Design(frequency, _with_rows(strata, frequency), tallies, frequency.sum().item(), note)


def _design_of_groups(predictions: Predictions, code: NDArray[np.intp], stratified: bool) -> Design:
    """Return the design that resamples whole groups, stratified by the classes they contain."""
    size = int(code.max()) + 1
    holds = [np.bincount(code[mask], minlength=size) > 0 for mask in (predictions.y_true, ~predictions.y_true)]
    kind = holds[0] + 2 * holds[1] if stratified else np.zeros(size, np.int64)
    order = np.argsort(kind, kind="stable")
    position = np.empty_like(order)
    position[order] = np.arange(size)
    borders = np.flatnonzero(np.diff(kind[order], prepend=-1, append=4)).tolist()
    strata = tuple(slice(low, high) for low, high in pairwise(borders))
    tallies = {
        model: Tally.of_rows(
            predictions.y_true, score, position[code], predictions.sample_weight, predictions.weighting
        )
        for model, score in predictions.scores.items()
    }
    note = _note(stratified, f"{size} groups")
    return Design(np.ones(size, np.int64), strata, tallies, len(predictions), note, one_row_a_unit=False)


def _with_rows(strata: tuple[slice, ...], frequency: Array) -> tuple[slice, ...]:
    return tuple(stratum for stratum in strata if frequency[stratum].any())


def _note(stratified: bool, *more: str) -> str:
    return ", ".join(part for part in ("stratified" * bool(stratified), *more) if part)
