"""Which units a bootstrap draws: levels of counts, rows of several models, rows that stand for many, groups."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import Predictions
from rocscope.core.rows import independent_units
from rocscope.inference.influence.units import WEIGHTS, WeightKind, is_frequency, require_whole
from rocscope.inference.resampling.draws import Design, Tally


def design_of_counts(counts: ThresholdCounts, *, stratified: bool, model: str = "score") -> Design:
    """Draw rows of one model, of which the counts at each level say everything."""
    require_whole(counts.pos, counts.neg)
    frequency = np.concatenate([counts.pos, counts.neg]).astype(np.int64)
    k = len(counts)
    strata = (slice(0, k), slice(k, 2 * k)) if stratified else (slice(0, 2 * k),)
    return Design(
        frequency, _with_rows(strata, frequency), {model: Tally(counts.threshold)}, counts.n, _note(stratified)
    )


def design_of_rows(predictions: Predictions, *, stratified: bool, groups: Any, weights: WeightKind) -> Design:
    """Draw rows, so that all models see the same ones; or groups of rows."""
    check.check_choice("weights", weights, WEIGHTS)
    weight = predictions.sample_weight
    unit = independent_units(predictions, groups)
    if unit is not None:
        return _design_of_groups(predictions, unit, stratified)
    if weight is None and len(predictions.models) == 1:
        model = predictions.models[0]
        return design_of_counts(predictions.counts(model), stratified=stratified, model=model)
    frequency = np.ones(len(predictions), np.int64)
    if weight is not None and is_frequency(weight, weights):
        frequency, weight = weight.astype(np.int64), None
    order = np.argsort(~predictions.y_true, kind="stable")
    positive = predictions.y_true[order]
    n_pos = int(positive.sum())
    strata = (slice(0, n_pos), slice(n_pos, positive.size)) if stratified else (slice(0, positive.size),)
    tallies = {
        model: Tally.of_rows(positive, score[order], weight=None if weight is None else weight[order])
        for model, score in predictions.scores.items()
    }
    frequency = frequency[order]
    note = _note(stratified, "sampling weights" * (weight is not None))
    return Design(frequency, _with_rows(strata, frequency), tallies, frequency.sum().item(), note)


def _design_of_groups(predictions: Predictions, code: NDArray[np.intp], stratified: bool) -> Design:
    """Draw groups whole; strata are groups of one class, of the other, and of both."""
    size = int(code.max()) + 1
    holds = [np.bincount(code[mask], minlength=size) > 0 for mask in (predictions.y_true, ~predictions.y_true)]
    kind = holds[0] + 2 * holds[1] if stratified else np.zeros(size, np.int64)
    order = np.argsort(kind, kind="stable")
    position = np.empty_like(order)
    position[order] = np.arange(size)
    borders = np.flatnonzero(np.diff(kind[order], prepend=-1, append=4)).tolist()
    strata = tuple(slice(low, high) for low, high in pairwise(borders))
    tallies = {
        model: Tally.of_rows(predictions.y_true, score, position[code], predictions.sample_weight)
        for model, score in predictions.scores.items()
    }
    note = _note(stratified, f"{size} groups")
    return Design(np.ones(size, np.int64), strata, tallies, len(predictions), note, one_row_a_unit=False)


def _with_rows(strata: tuple[slice, ...], frequency: Array) -> tuple[slice, ...]:
    return tuple(stratum for stratum in strata if frequency[stratum].any())


def _note(stratified: bool, *more: str) -> str:
    return ", ".join(part for part in ("stratified" * stratified, *more) if part)
