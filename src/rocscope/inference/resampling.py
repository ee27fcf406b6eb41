"""The bootstrap: resampling of rows or groups, and confidence intervals of any statistic.

A bootstrap replicate draws the same number of units as the sample has, with replacement, and computes the statistic. A
unit is a row, a group of rows, or one of several identical rows. All statistics are functions of `ThresholdCounts`, the
numbers of positives and negatives at each distinct score. So scores are sorted once, and replicates need no sorting.

A `Design` defines the units, their frequencies, and the strata. A `Tally` converts the number of draws of each unit to
counts at each distinct score of a model. A `Statistic` converts counts to numbers. `replicate` combines these steps.

Replicates are computed in chunks. The size of a chunk depends only on the data, and each chunk has its own seed.
Therefore the replicates do not depend on the number of threads.

The limits of an interval are quantiles of the replicates (percentile), or these quantiles reflected at the estimate
(basic). BCa intervals correct the quantiles for bias and skewness. The skewness correction is called acceleration
(`leave_one_out`, `_acceleration`). Expanded intervals use the tail probability of a t quantile.

The file is in this order: units and tallies, statistics and replicates, designs of data, acceleration, intervals,
differences.
"""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from rocscope import kernels
from rocscope._base import special, validation as check
from rocscope._base.arrays import Array, Booleans, Indices, cores
from rocscope._base.contract import PASS_PREDICTIONS, contract
from rocscope._base.progress import Progress, track
from rocscope.core import Levels, Predictions, ThresholdCounts, independent_units, jsonable
from rocscope.core.predictions import require_kinds
from rocscope.curves.rate_curves import auc
from rocscope.errors import InputError, OneClassError, warn
from rocscope.figures.registry import scorer_name, statistic_named
from rocscope.inference import estimate as inference, variance
from rocscope.sample import Models, Sample, Samples, samples_of

CountsOf = Mapping[str, ThresholdCounts]
BootstrapMethod = Literal["auto", "percentile", "basic", "bca"]

_CHUNK_CELLS = 2**17  # numbers of draws in a chunk: 1 MB, which fits into a processor cache
_CHUNK_MOST = 100  # most replicates in a chunk: 2,000 replicates then make 20 chunks for the processors to share
_DRAWS_A_UNIT = 12  # rows per unit above which one binomial per unit is faster than draws of single rows
_COMPILED_FROM = 10_000_000  # total number of draws below which NumPy is faster than loading the compiler

_BLOCK = 2**8  # rows in a block: a power of two, so that one random byte draws a row


# Units and tallies


@dataclass(frozen=True)
class RowsByTarget:
    """Rows in an order that allows sums by score and class.

    A model has k distinct scores. The target of a positive is the index of its score. The target of a negative is k
    plus the index of its score. Rows are sorted by target.

    Attributes
    ----------
    unit : array of n
        Unit of each row.
    weight : array of n, or None
        Weight of each row.
    starts : array
        Index of the first row of each target that occurs.
    targets : array
        The targets that occur, in increasing order.
    reestimated : function, optional
        Function that estimates the weights again in each replicate, from the number of draws of each row.
    """

    unit: Array
    weight: Array | None
    starts: Array
    targets: Array
    reestimated: Callable[[Array], Array] | None = None


@dataclass(frozen=True)
class Tally:
    """Converts numbers of draws of units to numbers of positives and negatives at each distinct score of a model.

    Attributes
    ----------
    threshold : array of k
        Distinct scores of the model, decreasing.
    rows : RowsByTarget, optional
        The rows, if units are rows or groups of rows. By default, there are 2k units: the positives at each score, and
        then the negatives at each score.
    cells : array of units × 2k, optional
        Numbers of positives and of negatives at each score that one draw of each unit adds.
    """

    threshold: Array
    rows: RowsByTarget | None = None
    cells: Array | None = None

    def counts(self, drawn: Array) -> tuple[Array, Array]:
        """Return two matrices, the numbers of positives and of negatives: a row per replicate, a column per score.

        Parameters
        ----------
        drawn : array of replicates × units
            Number of draws of each unit in each replicate.
        """
        k = self.threshold.size
        if self.cells is not None:
            drawn = drawn @ self.cells
        if self.rows is None:
            return drawn[:, :k], drawn[:, k:]
        amount = drawn[:, self.rows.unit]
        if self.rows.reestimated is not None:
            amount = amount * self.rows.reestimated(amount)
        elif self.rows.weight is not None:
            amount = amount * self.rows.weight
        cells = np.zeros((drawn.shape[0], 2 * k), amount.dtype)
        cells[:, self.rows.targets] = np.add.reduceat(amount, self.rows.starts, axis=1)
        return cells[:, :k], cells[:, k:]

    def of_units(self) -> tuple[Array, Array]:
        """Return the target and the weight of each unit, for units that are single rows; see `RowsByTarget`."""
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
        positive: Booleans,
        score: Array,
        unit: Array | None = None,
        weight: Array | None = None,
        weighting: variance.EstimatedWeights | None = None,
        frequency: bool = False,
    ) -> "Tally":
        """Return the tally of n rows. Scores are sorted here, once for all replicates.

        `unit` contains the unit of each row; by default, each row is a unit. If `weighting` is given, weights are
        estimated again in each replicate. Pass ``frequency=True`` if the user's weights are frequencies.
        """
        ranked = variance.RowLevels.of(positive, score)
        target = np.where(positive, ranked.level, ranked.threshold.size + ranked.level)
        order = np.argsort(target, kind="stable")
        starts = np.flatnonzero(np.diff(target[order], prepend=-1))
        unit = order if unit is None else unit[order]
        weight = None if weight is None else weight[order]
        reestimated = None
        if weighting is not None and weight is not None:
            reestimated = weighting.take(order).reestimated(weight, frequency)
        rows = RowsByTarget(unit, weight, starts, target[order][starts], reestimated)
        return cls(ranked.threshold, rows)


@dataclass(frozen=True)
class Design:
    """Units that the bootstrap draws, with their frequencies and strata.

    Attributes
    ----------
    frequency : array of units
        Number of times that each unit occurs in the data. A unit is a row, a group of rows, or all rows with the same
        label and score.
    strata : tuple of slice
        Consecutive ranges of units that are resampled separately.
    tallies : mapping from model name to Tally
        Conversion of numbers of draws to counts at each score.
    n : float
        Number of rows.
    note : str
        Description of strata, groups and weights. It is added to the name of a method.
    one_row_a_unit : bool
        True if a unit is one row, or one of several identical rows. False for groups.
    doubt : str
        Reason why intervals from this design are not reliable. Empty if they are reliable.
    """

    frequency: Array
    strata: tuple[slice, ...]
    tallies: Mapping[str, Tally]
    n: float
    note: str = ""
    one_row_a_unit: bool = True
    doubt: str = ""

    @cached_property
    def draws(self) -> int:
        """Number of draws for one replicate."""
        return sum(self._sizes)

    @cached_property
    def _sizes(self) -> list[int]:
        """Number of draws from each stratum."""
        return [int(self.frequency[stratum].sum()) for stratum in self.strata]

    @property
    def first_tally(self) -> Tally:
        """Tally of the first model."""
        return next(iter(self.tallies.values()))

    def draw(self, rng: np.random.Generator, replicates: int, compiled: bool) -> Array:
        """Draw bootstrap samples. Return the number of draws of each unit (replicates × units).

        Parameters
        ----------
        rng : Generator
            Random generator.
        replicates : int
            Number of samples.
        compiled : bool
            If True, use compiled functions.
        """
        drawn = np.zeros((replicates, self.frequency.size), np.int64)
        for stratum, unit in zip(self.strata, self._unit_of_row, strict=True):
            if unit is None:
                frequency = self.frequency[stratum]
                total = int(frequency.sum())
                drawn[:, stratum] = rng.multinomial(total, frequency / total, size=replicates)
            else:
                _add_drawn_rows(rng, unit, drawn[:, stratum], compiled)
        return drawn

    def draw_areas(self, rng: np.random.Generator, replicates: int) -> Array:
        """Draw bootstrap samples and return their AUCs (replicates × 1), without a Tally. Needs `better_positives`."""
        assert self.better_positives is not None
        n_pos, above, not_below = self.better_positives
        reached = np.zeros((replicates, n_pos + 1), np.uint32)
        right = np.zeros(replicates, np.int64)
        row = 0
        for total in self._sizes:
            drawn = _draw_rows(rng, total, replicates)
            kernels.ranks.tally_right(*drawn, _BLOCK, row, above, not_below, reached, right)
            row += total
        pos = reached[:, -1].astype(np.int64)
        return _shares(right, pos, self.draws - pos)[:, None]

    @cached_property
    def better_positives(self) -> tuple[int, Array, Array] | None:
        """Numbers of positives with higher scores, from which AUCs are computed.

        A tuple of the number of positives and, for each negative, the number of positives with a higher score and the
        number of positives with a higher or equal score. None if there are several models, weights or groups, if units
        are drawn by binomials, or if the numbers need more than 32 bits.
        """
        tally = self.first_tally
        is_counts = len(self.tallies) == 1 and tally.rows is None and tally.cells is None
        by_rows = all(unit is not None for unit in self._unit_of_row)
        if not is_counts or not by_rows or self.draws >= 2**32:
            return None
        pos, neg = self.frequency.reshape(2, -1)
        reached = np.cumsum(pos)
        above = np.repeat((reached - pos).astype(np.uint32), neg)
        not_below = np.repeat(reached.astype(np.uint32), neg)
        return int(reached[-1]), above, not_below

    @cached_property
    def _unit_of_row(self) -> list[Array | None]:
        """Unit of each row, for each stratum; None for a stratum whose units are drawn by binomials."""
        units: list[Array | None] = []
        for stratum in self.strata:
            frequency = self.frequency[stratum]
            units.append(np.repeat(np.arange(frequency.size), frequency) if _by_rows(frequency) else None)
        return units

    @property
    def smallest_class(self) -> float:
        """Number of rows in the smaller class. With weights, the effective number (Σw)²/Σw²."""
        tally = self.first_tally
        totals = [counts.sum() for counts in tally.counts(self.frequency[None, :])]
        if tally.rows is None or tally.rows.weight is None:
            return float(min(totals))
        squared = replace(tally.rows, weight=tally.rows.weight**2, reestimated=None)
        squares = [counts.sum() for counts in replace(tally, rows=squared).counts(self.frequency[None, :])]
        return float(min(total**2 / square if square else 0.0 for total, square in zip(totals, squares, strict=True)))

    def worth_compiling(self, replicates: int) -> bool:
        """Return True if there are enough draws to justify the time for loading the compiler."""
        return self.draws * check.check_whole(replicates, "replicates") >= _COMPILED_FROM

    @property
    def chunk(self) -> int:
        """Number of replicates in a chunk."""
        width = max(self.draws if _by_rows(self.frequency) else 0, self.frequency.size)
        return int(np.clip(_CHUNK_CELLS // width, 1, _CHUNK_MOST))


def _by_rows(frequency: Array) -> bool:
    """Return True if drawing single rows is faster than drawing a binomial number for each unit."""
    return frequency.sum() <= _DRAWS_A_UNIT * frequency.size


def _add_drawn_rows(rng: np.random.Generator, unit: Array, drawn: Array, compiled: bool) -> None:
    """Draw rows of a stratum, and add the number of draws of each unit to `drawn` (replicates × units)."""
    replicates, units = drawn.shape
    number, place = _draw_rows(rng, unit.size, replicates)
    if compiled:
        kernels.ranks.tally(number, place, _BLOCK, unit, drawn)
        return
    block = np.tile(np.arange(number.shape[1]), replicates)
    first_row = np.repeat(_BLOCK * block, number.ravel()).reshape(place.shape)
    row = place.astype(np.intp) + first_row  # NumPy adds arrays of one type without buffers
    # Count all replicates at once, with different cells for each replicate.
    cell = unit[row] + units * np.arange(replicates)[:, None]
    drawn += np.bincount(cell.ravel(), minlength=drawn.size).reshape(drawn.shape)


def _draw_rows(rng: np.random.Generator, total: int, replicates: int) -> tuple[Array, Array]:
    """Draw samples of `total` rows with replacement, in two steps that avoid random memory access.

    Rows are divided into blocks of consecutive rows. The first step draws the number of rows from each block, which is
    multinomial. The second step draws rows within each block. The distribution is the same as for single draws.

    Returns
    -------
    number : array of replicates × blocks
        Number of rows drawn from each block.
    place : array of replicates × total
        Index of each drawn row within its block.
    """
    size = np.diff(np.append(np.arange(0, total, _BLOCK), total))
    number = rng.multinomial(total, size / total, size=replicates)
    words = rng.integers(2**64, size=-(-replicates * total // 8), dtype=np.uint64)
    # Each byte of a word draws a row. Little-endian, so that all machines draw the same.
    place = words.astype("<u8", copy=False).view(np.uint8)[: replicates * total].reshape(replicates, total)
    place &= np.uint8(_BLOCK - 1)
    if size[-1] < _BLOCK:
        # The rows of each replicate from the block that is not full come last, and are drawn again from fewer rows.
        last = number[:, -1:]
        end = place[:, total - last.max() :]
        drawn = rng.integers(0, size[-1], size=last.sum(), dtype=np.uint8)
        end[np.arange(end.shape[1]) >= end.shape[1] - last] = drawn
    return number, place


# Statistics and replicates


@dataclass(frozen=True)
class Statistic:
    """A statistic of the counts of one or more models.

    Attributes
    ----------
    function : function or None
        Function of a dict from model name to ThresholdCounts. It returns `size` numbers. None computes the AUC of each
        model.
    size : int
        Number of values.
    """

    function: Callable[[CountsOf], Any] | None
    size: int

    def of_matrices(self, tallied: Mapping[str, tuple[Array, Array]], design: Design, compiled: bool) -> Array:
        """Return the statistic of each replicate (replicates × size); NaN if a required class was not drawn.

        Parameters
        ----------
        tallied : mapping from model name to two matrices
            Numbers of positives and of negatives at each score (replicates × scores).
        design : Design
            Provides the distinct scores of each model.
        compiled : bool
            If True, use compiled functions.
        """
        if self.function is None:
            return np.column_stack([areas(pos, neg, compiled) for pos, neg in tallied.values()])
        replicates = next(iter(tallied.values()))[0].shape[0]
        values = np.full((replicates, self.size), np.nan)
        for number in range(replicates):
            counts = {}
            for model, (pos, neg) in tallied.items():
                counts[model] = counts_of(design.tallies[model].threshold, pos[number], neg[number])
            try:
                values[number] = self.function(counts)
            except OneClassError:
                continue
        return values


AREAS = Statistic(None, 0)
"""The AUC of each model, computed for all replicates at once."""


def counts_of(threshold: Array, pos: Array, neg: Array) -> ThresholdCounts:
    """Return the ThresholdCounts of one replicate, without scores that were not drawn."""
    used = (pos + neg) > 0
    return ThresholdCounts.from_ranking(Levels(threshold[used], pos[used], neg[used]))


def areas(pos: Array, neg: Array, compiled: bool) -> Array:
    """Return the AUC of each replicate, given its counts (replicates × scores); NaN if a class is missing."""
    if compiled:
        right = np.empty(pos.shape[0], pos.dtype)
        kernels.ranks.count_right(pos, neg, right)
    else:
        right = (neg * (2 * np.cumsum(pos, axis=1) - pos)).sum(axis=1)
    return _shares(right, pos.sum(axis=1), neg.sum(axis=1))


def _shares(right: Array, n_pos: Array, n_neg: Array) -> Array:
    """Return the AUC, given twice the number of concordant pairs (`right`); NaN if a class is missing."""
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
    """Draw bootstrap replicates, and return the statistic of each replicate (replicates × size).

    Parameters
    ----------
    design : Design
        Units to draw.
    statistic : Statistic
        Statistic to compute.
    replicates : int
        Number of replicates.
    random_state : int, Generator, RandomState or None
        Seed.
    stream : int, optional
        Number that is added to the seed. Designs with different numbers have independent draws.
    threads : int, optional
        Number of threads. By default, one per processor.
    progress : bool, None or function
        Progress display; see `bootstrap`.
    """
    compiled = design.worth_compiling(replicates)

    def work(rng: np.random.Generator, size: int) -> Array:
        if compiled and statistic.function is None and design.better_positives is not None:
            return design.draw_areas(rng, size)
        return statistic.of_matrices(tally_all(design, design.draw(rng, size, compiled)), design, compiled)

    if statistic.function is not None:
        threads = 1  # Python functions hold the interpreter lock, so threads do not make them faster
    seed = [check.seed_of(random_state)]
    if stream is not None:
        seed.append(stream)
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
    """Compute replicates in chunks, and return all replicates in order.

    Parameters
    ----------
    work : function of a Generator and a number
        Function that returns this number of replicates.
    replicates, chunk : int
        Total number of replicates, and number of replicates in a chunk.
    seed : int or list of int
        Seed from which the generator of each chunk is derived.
    threads : int, optional
        Number of threads. By default, one per processor.
    progress : bool, None or function
        Progress display; see `bootstrap`.
    """
    check.check_whole(replicates, "replicates")
    sizes = [min(chunk, replicates - done) for done in range(0, replicates, chunk)]
    seeds = np.random.SeedSequence(seed).spawn(len(sizes))

    def one(number: int) -> Array:
        return work(np.random.Generator(np.random.SFC64(seeds[number])), sizes[number])

    threads = min(cores() if threads is None else check.check_whole(threads, "threads"), len(sizes))
    if threads == 1:
        return np.concatenate(list(track(map(one, range(len(sizes))), len(sizes), progress, "bootstrap")))
    with ThreadPoolExecutor(threads) as pool:
        return np.concatenate(list(track(pool.map(one, range(len(sizes))), len(sizes), progress, "bootstrap")))


def tally_all(design: Design, drawn: Array) -> dict[str, tuple[Array, Array]]:
    """Return the numbers of positives and negatives at each score of each model, given the numbers of draws."""
    return {model: tally.counts(drawn) for model, tally in design.tallies.items()}


# Designs of data


def design_of_counts(counts: ThresholdCounts, *, stratified: bool, model: str = "score") -> Design:
    """Return the design that resamples rows of one model, given the counts at each score."""
    counts.require_cases()
    frequency = np.concatenate([counts.pos, counts.neg]).astype(np.int64)
    strata = _strata_of_classes(frequency, len(counts), stratified)
    return Design(frequency, strata, {model: Tally(counts.threshold)}, counts.n, "stratified" if stratified else "")


def design_of_rows(predictions: Predictions, *, stratified: bool, groups: Any) -> Design:
    """Return the design that resamples rows, or groups of rows. All models are computed on the same drawn rows."""
    weight, weighting = predictions.sample_weight, predictions.weighting
    doubt = "" if weighting is None else weighting.doubt
    unit = independent_units(predictions, groups)
    if unit is None and weighting is not None:
        unit = weighting.drawn_units
    if unit is not None:
        return replace(_design_of_groups(predictions, unit, stratified), doubt=doubt)
    if weight is None and len(predictions.models) == 1:
        model = predictions.models[0]
        return design_of_counts(predictions.counts(model), stratified=stratified, model=model)

    frequency = np.ones(len(predictions), np.int64)
    counted = predictions.frequency
    if counted is not None:
        frequency = counted.astype(np.int64)
        weight = None if weighting is None else weight
    note = ""
    if weighting is not None:
        note = weighting.note
    elif weight is not None:
        note = "sampling weights"

    order = np.argsort(~predictions.y_true, kind="stable")  # positives first, because strata are consecutive
    positive, frequency = predictions.y_true[order], frequency[order]
    weight = None if weight is None else weight[order]
    weighting = None if weighting is None else weighting.take(order)
    tallies = {
        model: Tally.of_rows(positive, score[order], None, weight, weighting, frequency=counted is not None)
        for model, score in predictions.scores.items()
    }
    strata = _strata_of_classes(frequency, int(positive.sum()), stratified)
    note = inference.joined("stratified" if stratified else "", note)
    return Design(frequency, strata, tallies, frequency.sum().item(), note, doubt=doubt)


def _design_of_groups(predictions: Predictions, code: Indices, stratified: bool) -> Design:
    """Return the design that resamples entire groups, optionally stratified by the classes that a group contains."""
    groups = int(code.max()) + 1
    classes = np.zeros(groups, np.int64)  # 1: positives only, 2: negatives only, 3: both; 0 if all are one stratum
    if stratified:
        has_pos = np.bincount(code[predictions.y_true], minlength=groups) > 0
        has_neg = np.bincount(code[~predictions.y_true], minlength=groups) > 0
        classes = has_pos + 2 * has_neg
    order = np.argsort(classes, kind="stable")
    position = np.empty_like(order)
    position[order] = np.arange(groups)
    borders = np.flatnonzero(np.diff(classes[order], prepend=-1, append=4)).tolist()
    strata = tuple(slice(start, stop) for start, stop in pairwise(borders))
    tallies = {
        model: Tally.of_rows(
            predictions.y_true, score, position[code], predictions.sample_weight, predictions.weighting
        )
        for model, score in predictions.scores.items()
    }
    note = inference.joined("stratified" if stratified else "", f"{groups} groups")
    return Design(np.ones(groups, np.int64), strata, tallies, len(predictions), note, one_row_a_unit=False)


def _strata_of_classes(frequency: Array, positives: int, stratified: bool) -> tuple[slice, ...]:
    """Return the strata of units that are sorted by class, positives first. Empty strata are omitted."""
    strata = [slice(0, frequency.size)]
    if stratified:
        strata = [slice(0, positives), slice(positives, frequency.size)]
    return tuple(stratum for stratum in strata if frequency[stratum].any())


def design_of(data: Any, model: str | None = None, *, stratified: bool, groups: Any = None) -> Design:
    """Return the resampling design of data of any type.

    Parameters
    ----------
    data : data of one or more models
        Predictions or another type that `rocscope.sample` describes.
    model : str, optional
        Name of a model. By default, all models of Predictions, or the only model of other data.
    stratified : bool
        If True, positives and negatives are resampled separately.
    groups : array of n labels, or False, optional
        Group of each row.
    """
    samples = samples_of(data, name="data")
    if samples.rows is not None and model is None:
        return design_of_rows(samples.rows, stratified=stratified, groups=groups)
    return design_of_sample(samples.one(model), stratified=stratified, groups=groups)


def design_of_sample(sample: Sample, *, stratified: bool, groups: Any) -> Design:
    """Return the resampling design of the data of one model."""
    rows = sample.rows if groups is None or groups is False else sample.require_rows("groups")
    if rows is None:
        doubt = require_kinds("an interval from counts", sample.counts)
        return replace(design_of_counts(sample.counts, stratified=stratified), doubt=doubt)
    return design_of_rows(rows, stratified=stratified, groups=groups)


# Acceleration

_MOST_GROUPS = 1_000  # most leave-one-out values for the acceleration of BCa


@dataclass(frozen=True)
class LeftOut:
    """Leave-one-out values of a statistic in one stratum.

    Attributes
    ----------
    values : array of u × size
        Values of the statistic if one unit is omitted, for each of u units.
    frequency : array of u
        Number of identical units that each unit represents.
    """

    values: Array
    frequency: Array


def leave_one_out(design: Design, statistic: Statistic) -> list[LeftOut]:
    """Return the leave-one-out values of each stratum. Undefined and infinite values are omitted."""
    parts = []
    for stratum in design.strata:
        units = np.flatnonzero(design.frequency[stratum]) + stratum.start
        frequency = design.frequency[units]
        if statistic.function is None and design.one_row_a_unit:
            tallied = tally_all(design, design.frequency[None, :])
            columns = [_areas_without_a_row(design.tallies[model], *counts) for model, counts in tallied.items()]
            values = np.column_stack(columns)[units]
        elif units.size <= _MOST_GROUPS:
            values = _without(design, statistic, np.arange(units.size), units)
        else:
            # There are too many units to omit one at a time, so omit random groups of units.
            drawn = np.repeat(units, frequency)
            group = np.random.default_rng(0).permutation(drawn.size) % _MOST_GROUPS
            values = _without(design, statistic, group, drawn)
            frequency = np.ones(_MOST_GROUPS, np.int64)
        known = np.isfinite(values).all(axis=1)
        parts.append(LeftOut(values[known], frequency[known]))
    return parts


def _left_out(design: Design, statistic: Statistic, method: BootstrapMethod) -> list[LeftOut]:
    """Return the leave-one-out values that an interval needs. For the AUC, only "auto" and "bca" need them."""
    return [] if statistic is AREAS and method in ("percentile", "basic") else leave_one_out(design, statistic)


def _deviations(parts: Iterable[tuple[LeftOut, Array]]) -> variance.Stratum:
    """Return how much each unit moves a linear combination of statistics, as one stratum of moves.

    The move of a unit is the mean of the leave-one-out values of its stratum minus the leave-one-out value of the unit.

    Parameters
    ----------
    parts : sequence of (LeftOut, array)
        Leave-one-out values of each stratum, and the coefficients of the combination.
    """
    moves, frequencies = [np.empty(0)], [np.empty(0, np.int64)]
    for left_out, coefficients in parts:
        values, frequency = left_out.values @ coefficients, left_out.frequency
        if frequency.any():
            moves.append(frequency @ values / frequency.sum() - values)
            frequencies.append(frequency)
    frequency = np.concatenate(frequencies)
    units = float(frequency.sum())
    return variance.Stratum(np.concatenate(moves)[:, None], frequency, units, units - 1, units)


def _acceleration(deviations: variance.Stratum) -> float:
    """Return the acceleration of BCa, Σ d³ / (6·(Σ d²)^1.5) for deviations d; 0 if all d are 0 (Davison & Hinkley).

    Examples
    --------
    >>> left_out = LeftOut(np.array([[1.0], [1.0], [4.0]]), np.array([1, 1, 1]))
    >>> _acceleration(_deviations([(left_out, np.array([1.0]))]))
    -0.06804138174397717
    """
    moves = deviations.moves[:, 0]
    squares = deviations.total(moves**2)
    return deviations.total(moves**3) / (6 * squares**1.5) if squares > 0 else 0.0


def _without(design: Design, statistic: Statistic, group: Array, unit: Array) -> Array:
    """Return the statistic after each group of units is omitted (groups × size).

    Parameters
    ----------
    design, statistic : Design, Statistic
    group, unit : arrays of the same size
        Group number and unit of each omission.
    """
    groups = int(group.max()) + 1
    parts = []
    for first in range(0, groups, design.chunk):
        last = min(first + design.chunk, groups)
        kept = np.tile(design.frequency, (last - first, 1))
        removed = (group >= first) & (group < last)
        np.subtract.at(kept, (group[removed] - first, unit[removed]), 1)
        parts.append(statistic.of_matrices(tally_all(design, kept), design, compiled=False))
    return np.concatenate(parts)


def _areas_without_a_row(tally: Tally, pos: Array, neg: Array) -> Array:
    """Return the AUC after one row of each unit is omitted: (P·A − placement)/(P − 1) for one of P positives."""
    pos, neg = pos[0], neg[0]
    n_pos, n_neg = pos.sum(), neg.sum()
    tp, fp = np.cumsum(pos), np.cumsum(neg)
    of_positives = (2 * (n_neg - fp) + neg) / 2  # number of negatives with a lower score; ties count one half
    of_negatives = (2 * tp - pos) / 2
    right = pos @ of_positives
    target, weight = tally.of_units()
    credit = np.concatenate([of_positives, of_negatives])[target] * weight
    is_pos = target < tally.threshold.size
    with np.errstate(invalid="ignore", divide="ignore"):
        return (right - credit) / np.where(is_pos, (n_pos - weight) * n_neg, n_pos * (n_neg - weight))


# Intervals

INTERVALS = ("percentile", "basic", "bca")
_LEAST_DENOMINATOR = 1e-9  # of a BCa quantile, which is then at an end of the replicates
_MOST_FAILED = 0.05  # largest share of undefined replicates, because these may be the extreme ones


@dataclass(frozen=True, repr=False)
class BootstrapEstimate(inference.Estimate):
    """An Estimate with its bootstrap replicates.

    Attributes
    ----------
    replicates : array
        Value of the statistic in each replicate; NaN if it is undefined.
    failed : int
        Number of replicates in which the statistic is undefined.
    """

    replicates: Array = field(default_factory=lambda: np.empty(0))
    failed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate as a dictionary for JSON. It contains the number of replicates, not their values.

        Examples
        --------
        >>> from rocscope import Predictions, auc, bootstrap
        >>> estimate = bootstrap(Predictions([1, 1, 0, 0] * 5, [4, 2, 3, 1] * 5), auc, replicates=50).to_dict()
        >>> estimate["value"], estimate["replicates"]
        (0.75, 50)
        """
        return jsonable(vars(self) | {"replicates": self.replicates.size})


@contract
def bootstrap(
    data: Models,
    statistic: str | Callable[[Any], Any],
    *,
    model: str | None = None,
    replicates: int = 2000,
    method: BootstrapMethod = "auto",
    level: float = 0.95,
    stratified: bool = False,
    groups: Any = None,
    random_state: Any = 0,
    threads: int | None = None,
    progress: Progress = None,
) -> BootstrapEstimate:
    """Compute a bootstrap confidence interval of a metric or any other statistic.

    Parameters
    ----------
    data : data of one model, or Predictions of several models
        Predictions, ThresholdCounts, an OperatingPoint or another type that `rocscope.sample` describes.
    statistic : str or function
        Name of a metric such as "auc", or a function that returns a number. For one model, the argument of the function
        is a ThresholdCounts. For Predictions of several models without `model`, it is a dict from model name to
        ThresholdCounts.
    model : str, optional
        Name of the model. By default, all models of `data`.
    replicates : int
        Number of bootstrap samples.
    method : {"auto", "percentile", "basic", "bca"}
        "percentile" uses quantiles of the replicates. "basic" reflects these quantiles at the estimate. "bca" corrects
        them for bias and skewness. "auto" is "bca", and also expands the quantiles if few rows determine the variance.
    level : float
        Confidence level, between 0 and 1.
    stratified : bool
        If True, positives and negatives are drawn separately, so that their numbers are fixed. If rows are in groups,
        three kinds of groups are drawn separately: groups with only positives, groups with only negatives, and groups
        with both classes. Pass True if the sample was collected with fixed numbers of positives and negatives. If
        False, the prevalence varies between replicates.
    groups : array of n labels, or False, optional
        Group of each row, such as the patient or customer. Entire groups are drawn. By default, the groups of the
        Predictions. Pass False to draw single rows.
    random_state : int, Generator, RandomState or None
        Seed. The same integer gives the same replicates for any number of threads.
    threads : int, optional
        Number of threads. By default, one per processor. Only the statistic `rocscope.auc` is faster with threads.
    progress : bool, None or function
        None or True shows a progress bar on stderr after one second, if stderr is a terminal. False shows none. A
        function is called with the number of finished chunks of replicates and the total number of chunks.

    Returns
    -------
    BootstrapEstimate
        The statistic with its interval and replicates.

    Raises
    ------
    InputError
        If the number of replicates or the level is invalid, or if the statistic is undefined in all replicates.

    Warns
    -----
    RocscopeWarning
        If the statistic is undefined in some replicates, for example because a class is missing. Such replicates are
        omitted and counted in `failed`.
    RocscopeWarning
        If all replicates are equal.

    See Also
    --------
    estimate_of, auc_interval

    Notes
    -----
    Scores are sorted once, and a replicate draws numbers of rows at each distinct score. For `rocscope.auc`, all
    replicates are computed together, without one function call per replicate. The acceleration of BCa is computed by
    omitting one unit at a time. For the AUC there is a closed form. For other statistics, units are omitted in at most
    1,000 groups. The same values give 2n/(kurtosis − 1), the number of rows that determine the variance. "auto"
    replaces the normal quantile of BCa by a t quantile with this number of degrees of freedom (Hesterberg).

    Coverage of 95% intervals of the AUC was measured in simulations of binormal samples. The AUC was 0.6 to 0.95, with
    50 to 1,000 rows and 999 stratified replicates:

    - "bca": 93.5 to 97.2% with classes of equal size. With 10% positives, coverage was 92.7 to 95.6% for 100 positives
      among 1,000 rows, but only 86.4% in the worst case (an AUC of 0.95, 5 positives among 50 rows).
    - "percentile": 92.8 to 95.5% with classes of equal size, at least 100 rows and AUCs up to 0.9. For an AUC of 0.95,
      coverage was 88.5% with 25 rows of each class, and 76.9% with 5 positives among 50 rows.
    - "basic": for an AUC of 0.95, coverage was 81.7% with 25 rows of each class, and 63.6% with 5 positives among 50
      rows. Do not use "basic" for rates near 0 or 1.

    The interval of an AUC is marked as not reliable if a limit lies inside the interval of `auc_interval` by more than
    a tenth of the width of that interval. For example, with 30 positives, 300 negatives and an AUC of 0.95, the
    coverage of "percentile" is 86%, and the coverage of "bca" is 89%.

    The interval of another statistic is marked as not reliable in two cases. One more row, ranked first or last, moves
    the statistic out of the interval: a sample may lack positives with low scores, and the partial AUC is then too high
    in all replicates. Or few rows determine the variance: fewer than 4 for "auto", fewer than 25 for other methods.

    In 10 designs drawn at random, with 160 to 2,760 rows and 300 samples each, the partial AUC at an fpr of at most
    0.05, the partial AUC at a tpr of at least 0.9 and the average precision were functions. Intervals marked as
    reliable covered in 91 to 98% of samples for "auto", and in 88 to 99% for "percentile" without the second case.

    The bootstrap is not valid for extremes, such as the largest score. It is not valid either for a threshold or model
    that was chosen as the best on the same data. The intervals are then too narrow, because the best threshold varies
    less between replicates than between new samples.

    References
    ----------
    Efron & Tibshirani 1993, ch. 12–14; Davison & Hinkley 1997, §5.3 (acceleration of stratified samples); Hesterberg
    2015, Am. Stat. 69:371–386 (expanded percentiles).

    Examples
    --------
    >>> from rocscope import ThresholdCounts
    >>> counts = ThresholdCounts.from_scores([1, 1, 0, 1, 0, 1, 0, 0] * 5, list(range(40, 0, -1)))
    >>> bootstrap(counts, lambda c: c.at(20.5).accuracy, replicates=500)
    BootstrapEstimate(0.55, 95% CI [0.375, 0.7], n=40)
    """
    statistic = scorer_name(statistic)
    by_name = isinstance(statistic, str)
    if by_name:
        figure, statistic = statistic_named(statistic)
        statistic = auc if figure.is_area else statistic
    if not callable(statistic):
        hint = "pass a function such as rocscope.auc or lambda counts: counts.at(0.5).accuracy"
        if hasattr(statistic, "__len__"):  # the scores, after the labels
            hint = PASS_PREDICTIONS
        raise InputError("statistic", expected="a metric's name or a function", got=check.shown(statistic), hint=hint)
    level = check.check_level(level)
    check.check_choice("method", method, ("auto", *INTERVALS))
    require_kinds("bootstrap", data)
    design = design_of(data, model, stratified=stratified, groups=groups)
    if by_name and len(design.tallies) > 1:
        got = f"{len(design.tallies)} models"
        raise InputError("statistic", expected="data of one model", got=got, hint="pass model=")

    plan = Statistic(statistic, 1)
    if len(design.tallies) == 1:
        function, (name,) = statistic, design.tallies
        plan = AREAS if statistic is auc else Statistic(lambda counts: function(counts[name]), 1)
    observed = at_sample(design, plan)
    drawn = replicate(design, plan, replicates, random_state=random_state, threads=threads, progress=progress)
    deviations = _deviations((part, np.ones(1)) for part in _left_out(design, plan, method))
    extremes = None if plan is AREAS else with_one_more_row(design, plan)[:, 0]
    estimate = interval(observed[0], drawn[:, 0], method, level, design, deviations, extremes)
    if plan is not AREAS or not estimate.reliable:
        return estimate
    from rocscope.inference.areas import auc_sample, short_of  # which load SciPy; other statistics need not wait

    size = auc_sample(samples_of(data, name="data").one(model), groups=groups).size(0)
    return replace(estimate, reason=size.reason or short_of(size, (estimate.low, estimate.high), level))


def at_sample(design: Design, statistic: Statistic) -> Array:
    """Return the statistic of the sample itself. An error in the user's function is raised here, before resampling."""
    counts = {}
    for model, (pos, neg) in tally_all(design, design.frequency[None, :]).items():
        counts[model] = counts_of(design.tallies[model].threshold, pos[0], neg[0])
    if statistic.function is None:
        return np.array([auc(part) for part in counts.values()], dtype=np.float64)
    return np.atleast_1d(np.asarray(statistic.function(counts), dtype=np.float64))


def with_one_more_row(design: Design, statistic: Statistic) -> Array:
    """Return the statistic of the sample with one more row (4 × size).

    The row is a positive or a negative that all models rank first or last. It has the mean weight of the rows.

    Examples
    --------
    >>> design = design_of_counts(ThresholdCounts([3, 2], [1, 2], [2, 1]), stratified=False)
    >>> with_one_more_row(design, Statistic(lambda counts: counts["score"].tp[0], 1)).ravel()
    array([2., 1., 1., 1.])
    """
    tallied = {}
    for model, counts in tally_all(design, design.frequency[None, :]).items():
        pos, neg = (np.tile(part, (4, 1)) for part in counts)
        weight = pos.dtype.type((pos[0].sum() + neg[0].sum()) / design.n)
        for number, (of_class, place) in enumerate(((pos, 0), (pos, -1), (neg, 0), (neg, -1))):
            of_class[number, place] += weight
        tallied[model] = pos, neg
    return statistic.of_matrices(tallied, design, compiled=False)


def interval(
    value: float,
    drawn: Array,
    method: BootstrapMethod,
    level: float,
    design: Design,
    deviations: variance.Stratum,
    extremes: Array | tuple[()] | None,
) -> BootstrapEstimate:
    """Return an estimate with an interval from its replicates. Undefined replicates are counted and omitted.

    Parameters
    ----------
    value : float
        The statistic of the sample.
    drawn : array
        The statistic of each replicate.
    method : {"auto", "percentile", "basic", "bca"}
        Method of the interval.
    level : float
        Confidence level.
    design : Design
        The resampled units.
    deviations : Stratum
        Moves of the units; see `_deviations`. Without units, the number of rows that determine the variance is unknown.
    extremes : array or None
        Values of the statistic with one more row; see `with_one_more_row`. None for an AUC, which `short_of` judges.
    """
    usable = drawn[~np.isnan(drawn)]
    failed = drawn.size - usable.size
    if not usable.size:
        raise InputError(
            "statistic", expected="defined values in some replicates", got=f"NaN in all {drawn.size} replicates"
        )
    if failed:
        warn(f"{failed} of {drawn.size} replicates are undefined and are omitted from the interval")
    all_equal = usable.size > 1 and bool((usable == usable[0]).all())
    if all_equal:
        warn(f"all replicates equal {usable[0]:g}, so the bootstrap cannot estimate the uncertainty")

    informative = deviations.informative_units(deviations.moves[:, 0]) if deviations.moves.size else np.inf
    quantile = inference.normal_quantile(level)
    if method == "auto":
        quantile = inference.t_quantile(quantile, max(informative, inference.FEW_INFORMATIVE))
    tails = special.ndtr(np.array([-quantile, quantile]))
    if method in ("auto", "bca"):
        tails = _bca_tails(value, usable, tails, _acceleration(deviations))
    low, high = np.quantile(usable, tails, method=quantile_method(usable))
    if method == "basic":
        low, high = 2 * value - high, 2 * value - low
    name = "bca, expanded" if method == "auto" else method
    facts = inference.joined(name, f"{drawn.size} replicates", design.note)
    spread = float(usable.std(ddof=1)) if usable.size > 1 and np.isfinite(usable).all() else float("nan")

    smallest, reason = design.smallest_class, ""
    if all_equal:
        reason = "all replicates are equal"
    elif usable.size < (1 - _MOST_FAILED) * drawn.size:
        reason = f"only {usable.size} of {drawn.size} replicates are defined"
    elif smallest < inference.FEW_RESAMPLED:
        reason = f"a class has only {smallest:g} rows, fewer than {inference.FEW_RESAMPLED}"
    elif extremes is not None and any(each < low or each > high for each in extremes):
        # A sample without rows that a model ranks last has too high a value, and all of its replicates lack these rows.
        reason = "one more row that is ranked first or last could move the value out of the interval"
    elif extremes is not None:
        least = inference.FEW_INFORMATIVE if method == "auto" else inference.FEW_FOR_LIMIT
        reason = inference.few(informative, least, "rows determine its variance")
    reason = reason or design.doubt
    value, low, high, drawn = float(value), float(low), float(high), check.read_only(drawn)
    name = f"bootstrap ({facts})"
    return BootstrapEstimate(value, low, high, level, name, design.n, spread, reason, drawn, failed)


def quantile_method(drawn: Array) -> Any:
    """Return NumPy's method for quantiles of the replicates: without interpolation if a replicate is infinite."""
    return "inverted_cdf" if np.isinf(drawn).any() else "linear"


def _bca_tails(value: float, usable: Array, tails: Array, skew: float) -> Array:
    """Return the probabilities of the BCa quantiles: Φ(b + (b + z)/(1 − a(b + z))) for bias b and acceleration a."""
    # Replicates equal to the estimate count half. If all R replicates are on one side of the estimate, the other side
    # gets a share of 1/(2R), so that the bias is finite.
    below = ((usable < value).mean() + (usable <= value).mean()) / 2
    bias = special.ndtri(np.clip(below, 1 / (2 * usable.size), 1 - 1 / (2 * usable.size)))
    reach = bias + special.ndtri(tails)
    # Far in the tail, the denominator reaches 0 and the quantile is infinite; beyond it, the sign would be wrong.
    return special.ndtr(bias + reach / np.maximum(1 - skew * reach, _LEAST_DENOMINATOR))


# Differences


def differences(
    arms: Samples,
    statistic: Callable[[ThresholdCounts], float],
    hypothesis: inference.Hypothesis,
    adjust: inference.Adjust,
    *,
    groups: Any = None,
    replicates: int = 2000,
    method: BootstrapMethod = "auto",
    stratified: bool = False,
    random_state: Any = 0,
    threads: int | None = None,
    progress: Progress = None,
) -> inference.Comparisons:
    """Compare a bootstrapped statistic between models on the same rows, or on independent samples.

    Parameters
    ----------
    arms : Samples
        Data of each model.
    statistic : function of ThresholdCounts
        Statistic to compare.
    hypothesis : Hypothesis
        Hypothesis about each difference, and the confidence level.
    adjust : {"holm", "bh", "max-t", "none"}
        Adjustment of p-values.
    groups, replicates, method, stratified, random_state, threads, progress : see `bootstrap`
    """
    check.check_choice("method", method, ("auto", *INTERVALS))
    names = list(arms)
    if arms.rows is not None:
        designs = [design_of_rows(arms.rows, stratified=stratified, groups=groups)]
    else:
        designs = [design_of_sample(arm, stratified=stratified, groups=groups.get(name)) for name, arm in arms.items()]
    seed = check.seed_of(random_state)
    values, drawn, left_out, extremes = [], [], [], []
    for number, design in enumerate(designs):
        plan = _of_each_model(statistic, design)
        stream = None if len(designs) == 1 else number  # independent draws for independent samples
        options = {"random_state": seed, "stream": stream, "threads": threads, "progress": progress}
        values.append(at_sample(design, plan))
        extremes.append(with_one_more_row(design, plan))
        drawn.append(replicate(design, plan, replicates, **options))
        left_out.append(_left_out(design, plan, method))
    columns = np.concatenate(values), np.column_stack(drawn), np.column_stack(extremes)
    sample = _Replicates(names, designs, *columns, left_out, method, hypothesis)
    known = sample.drawn[~np.isnan(sample.drawn).any(axis=1)]
    covariance = np.full((len(names), len(names)), np.nan)
    if len(known) > 1:
        covariance = np.atleast_2d(np.cov(known, rowvar=False))
    quantity = getattr(statistic, "__name__", "statistic").replace("<lambda>", "statistic")
    estimates = {name: sample.contrast({i: 1.0}) for i, name in enumerate(names)}
    return inference.compare_each_two(quantity, estimates, covariance, sample.compare, adjust)


def _of_each_model(statistic: Callable[[ThresholdCounts], Any], design: Design) -> Statistic:
    if statistic is auc:
        return AREAS
    check.check_function(statistic, "statistic")
    return Statistic(lambda counts: [statistic(part) for part in counts.values()], len(design.tallies))


@dataclass(frozen=True)
class _Replicates:
    """Values and replicates of a statistic for m models.

    Attributes
    ----------
    names : list of m str
        Names of the models.
    designs : list of Design
        One design for all models (paired), or one design per model (unpaired).
    values : array of m
        Value of the statistic for each model.
    drawn : array of replicates × m
        Value of the statistic in each replicate.
    extremes : array of 4 × m
        Value of the statistic with one more row; see `with_one_more_row`.
    left_out : list of list of LeftOut
        Leave-one-out values of each design; see `_left_out`.
    method : {"auto", "percentile", "basic", "bca"}
        Method of the intervals.
    hypothesis : Hypothesis
        Hypothesis about each difference.
    """

    names: list[str]
    designs: list[Design]
    values: Array
    drawn: Array
    extremes: Array
    left_out: list[list[LeftOut]]
    method: BootstrapMethod
    hypothesis: inference.Hypothesis

    def compare(self, i: int, j: int) -> inference.Comparison:
        difference = self.contrast({i: -1.0, j: 1.0})
        method = "bootstrap, paired" if len(self.designs) == 1 else "bootstrap, unpaired"
        return self.hypothesis.compare(self.names[i], self.names[j], difference, method=method)

    def contrast(self, coefficients: dict[int, float]) -> inference.Estimate:
        """Return a linear combination of the models' values with its interval, given coefficients by model index."""
        factor = np.zeros(len(self.names))
        factor[list(coefficients)] = list(coefficients.values())
        used = np.flatnonzero(factor)
        value, drawn = float(self.values[used] @ factor[used]), self.drawn[:, used] @ factor[used]
        if len(self.designs) == 1:
            designs = self.designs
            parts = [(part, factor) for part in self.left_out[0]]
        else:
            designs = [self.designs[i] for i in used]
            parts = [(part, factor[i : i + 1]) for i in used for part in self.left_out[i]]
        doubt = next((design.doubt for design in designs if design.doubt), "")
        design = replace(designs[0], n=sum(design.n for design in designs), doubt=doubt)
        # A difference inherits the reasons of both estimates.
        extremes = self.extremes[:, used[0]] if len(used) == 1 else ()
        return interval(value, drawn, self.method, self.hypothesis.level, design, _deviations(parts), extremes)
