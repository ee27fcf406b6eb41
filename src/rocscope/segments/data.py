"""Resolve data arguments of segment functions into counts by segment for each model."""

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from rocscope._base.arrays import Array
from rocscope._base.grouping import Parts
from rocscope.core.predictions import Predictions
from rocscope.errors import InputError, PairingError
from rocscope.sample import NAMELESS, Sample, Samples, kind_of, samples_of
from rocscope.segments.levels import SAME, SegmentLevels, of_models
from rocscope.segments.rows import CountedSegments
from rocscope.segments.segmented_counts import SegmentedCounts

SEGMENTED = "Predictions with segments, SegmentedCounts, or a mapping from segment to data of one or several models"


def counted_by_segment(data: Any) -> dict[str, SegmentedCounts]:
    """Return counts by segment of each model if data are that; otherwise an empty dict.

    Raises
    ------
    PairingError
        If models have other segments, or other numbers of positives and negatives in them.
    """
    given = {NAMELESS: data} if isinstance(data, SegmentedCounts) else data
    if not isinstance(given, Mapping) or isinstance(given, Parts) or not given:
        return {}
    if not all(isinstance(each, SegmentedCounts) for each in given.values()):
        return {}
    return of_the_same_rows({str(model): each for model, each in given.items()})


def segments_of(data: Any, name: str = "segments") -> dict[str, SegmentedCounts]:
    """Return counts by segment of each model, from rows, counts, or a mapping from segment to data.

    Examples
    --------
    >>> from rocscope import ThresholdCounts
    >>> segments_of({"n": ThresholdCounts([2, 1], [3, 1], [1, 5]), "s": ThresholdCounts([2, 1], [2, 1], [2, 5])})
    {'score': SegmentedCounts(2 segments, n_pos=7, n_neg=13)}
    """
    if isinstance(data, Predictions):
        return {model: data.counts(model, by="segment") for model in data.models}
    if counted := counted_by_segment(data):
        return counted
    if not isinstance(data, Mapping) or not data:
        raise InputError(name, expected=SEGMENTED, got="none" if isinstance(data, Mapping) else kind_of(data))
    return _counted_apart(data, name)


def _counted_apart(data: Mapping[Hashable, Any], name: str) -> dict[str, SegmentedCounts]:
    samples = {segment: samples_of(each, name=f"{name}[{segment!r}]") for segment, each in data.items()}
    models = list(next(iter(samples.values())))
    for segment, each in samples.items():
        if list(each) != models:
            raise PairingError(f"{name}[{segment!r}]", expected=f"the models {models}", got=f"{list(each)}")
    return of_the_same_rows({model: _counts_of(model, samples) for model in models})


def _counts_of(model: str, samples: Mapping[Hashable, Mapping[str, Sample]]) -> SegmentedCounts:
    """Return the counts of a model in the segments that have it."""
    own = [segment for segment, each in samples.items() if model in each]
    names = np.empty(len(own), object)
    names[:] = own
    if {type(segment) for segment in own} in ({str}, {int}, {float}):
        names = np.array(own)
    return SegmentedCounts(names, CountedSegments([samples[segment][model].points for segment in own]))


def levels_of(data: Any, *, all_levels: bool) -> SegmentLevels:
    """Return the levels of all models by segment in one table.

    Without `all_levels` those on the hulls are enough, which ranges of the score may know that leave levels open. Each
    segment of a mapping may have models of its own.
    """
    if isinstance(data, Mapping) and data and not counted_by_segment(data):
        samples = {segment: samples_of(each, name=f"segments[{segment!r}]") for segment, each in data.items()}
        if len({tuple(each) for each in samples.values()}) > 1:
            return _levels_of_own_models(samples, all_levels=all_levels)
    by_model = segments_of(data)
    found = {model: each.levels() if all_levels else each.hulls() for model, each in by_model.items()}
    return of_models(next(iter(by_model.values())).names, found)


def _levels_of_own_models(samples: Mapping[Hashable, Samples], *, all_levels: bool) -> SegmentLevels:
    """Return the levels of the models that each segment has; of a model that a segment lacks it has no level."""
    for segment, each in samples.items():
        of_the_same_rows({model: _counts_of(model, {segment: each}) for model in each})
    place, found = {segment: i for i, segment in enumerate(samples)}, {}
    totals = {segment: next(iter(each.values())).points for segment, each in samples.items()}
    n_pos, n_neg = (np.array([getattr(each, name) for each in totals.values()]) for name in ("n_pos", "n_neg"))
    for model in dict.fromkeys(model for each in samples.values() for model in each):
        counts = _counts_of(model, samples)
        levels, sizes = counts.levels() if all_levels else counts.hulls(), np.zeros(len(samples), np.int64)
        sizes[[place[segment] for segment, each in samples.items() if model in each]] = np.diff(levels.start)
        start = np.concatenate([[0], np.cumsum(sizes)])
        found[model] = replace(levels, start=start, n_pos=n_pos, n_neg=n_neg, counted=None)
    every = {segment: {NAMELESS: next(iter(each.values()))} for segment, each in samples.items()}
    return of_models(_counts_of(NAMELESS, every).names, found)


def of_the_same_rows(by_model: dict[str, SegmentedCounts]) -> dict[str, SegmentedCounts]:
    """Return counts by segment; raise for segments or rows that differ from the first model's."""
    (name, first), *others = by_model.items()
    for other, each in others:
        subject = f"{name!r} and {other!r} are not paired"
        if not np.array_equal(each.names, first.names):
            raise PairingError(subject, expected="the same segments", got="different ones")
        if not (_alike(each.n_pos, first.n_pos) and _alike(each.n_neg, first.n_neg)):
            expected = "as many positives and negatives in each segment"
            raise PairingError(subject, expected=expected, got="others")
    return by_model


def _alike(sums: Array, others: Array) -> bool:
    """Whether sums are equal up to the order in which weights were added."""
    return np.allclose(sums, others, SAME, 0)
