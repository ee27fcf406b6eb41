"""Count rows, or counts of segments, by segment."""

from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.grouping import numbered
from rocscope._base.threads import in_threads
from rocscope.core.counts import ThresholdCounts
from rocscope.core.levels import Levels
from rocscope.core.predictions import Predictions
from rocscope.core.ranking import SortedScores
from rocscope.core.rows import CountedModels, Provenance
from rocscope.segments.drift import drift_by_segment as drift_by_segment
from rocscope.segments.levels import SegmentLevels
from rocscope.segments.rows import CountedSegments, SegmentRows, SortedSegments, WeightedSegments, slots_of
from rocscope.segments.segmented_counts import InFolds, SegmentedCounts

_ROWS_AT_ONCE = 1 << 18  # of a column: some MB, which a cache holds


def count_by(rows: Predictions, model: str, by: str) -> SegmentedCounts:
    """Return a model's counts in each segment, fold or repeat, with one sort of all rows."""
    check.check_choice("by", by, ("segment", "fold", "repeat"))
    segments, code = numbered(by, getattr(rows, by))
    in_folds = partial(_in_folds, rows, model, code) if by == "segment" and rows.fold is not None else None
    return SegmentedCounts(segments, _sorted(rows, model, code, segments.size), rows.source, in_folds)


def _sorted(rows: Predictions, model: str, code: Array, segments: int) -> SegmentRows:
    positive, scores, weight = rows.y_true, rows.scores[model], rows.sample_weight
    if weight is None:
        return SortedSegments.of(*_in_pieces(code, positive, scores, segments), segments, scores.dtype)
    return WeightedSegments.of(code, segments, positive, scores, weight)


def _in_folds(rows: Predictions, model: str, code: Array) -> InFolds:
    names, fold = numbered("fold", rows.fold)
    folds = np.int64(names.size)
    parts, place = numbered("segment", code * folds + fold)
    return SegmentedCounts(parts, _sorted(rows, model, place, parts.size)), parts // folds


def _in_pieces(
    code: Array, positive: NDArray[np.bool_], scores: Array, segments: int
) -> tuple[list[Array], list[Array]]:
    """Return slots and scores in pieces of a few hundred thousand rows, computed in threads."""
    pieces = [slice(start, start + _ROWS_AT_ONCE) for start in range(0, code.size, _ROWS_AT_ONCE)]
    slots = in_threads(lambda piece: slots_of(code[piece], positive[piece], segments), pieces)
    return slots, [scores[piece] for piece in pieces]


def of_segments(
    by_segment: Mapping[Hashable, Mapping[str, Any]], source: Provenance | None
) -> CountedModels | SegmentedCounts:
    """Return counts made segment by segment, in order."""
    models = next(iter(by_segment.values()))
    names = array_of(list(by_segment))
    rows = {model: _together([counts[model] for counts in by_segment.values()]) for model in models}
    return of_models(names, rows, source)


def _together(each: list[Any]) -> SegmentRows:
    """Return the counts of segments, with all levels in one table if they are in memory and of one type."""
    rankings: list[Any] = [getattr(counts, "ranking", None) for counts in each]
    if not all(isinstance(ranking, Levels | SortedScores) and not ranking.weighted for ranking in rankings):
        return CountedSegments(each)
    ranked = [ranking.levels() for ranking in rankings]
    if len({levels.threshold.dtype for levels in ranked}) > 1:
        return CountedSegments(each)
    columns = ([getattr(levels, name) for levels in ranked] for name in ("threshold", "pos", "neg"))
    start = np.cumsum([0, *(levels.threshold.size for levels in ranked)])
    return SegmentLevels.of_counts(start, *map(np.concatenate, columns))


def of_sums(by_model: Mapping[str, Sequence[Array]], source: Provenance | None) -> CountedModels | SegmentedCounts:
    """Return counts from sums by segment and score: segments, scores, positives, negatives for each model."""
    rows: dict[str, SegmentRows] = {}
    names: Any = None
    for model, (segment, score, pos, neg) in by_model.items():
        names, code = numbered("segment", segment)
        rows[model] = _summed(code, names.size, score, pos, neg)
    return of_models(names if names.dtype.kind in "mM" else array_of(names.tolist()), rows, source)


def _summed(segment: Array, segments: int, score: Array, pos: Array, neg: Array) -> SegmentRows:
    """Sort sums by segment (numbered from 0) and score, and merge equal scores."""
    order = np.lexsort((score, -segment))[::-1]
    order = order[(pos + neg)[order] > 0]
    segment, score = segment[order], score[order]
    first = np.flatnonzero(np.append(True, (segment[1:] != segment[:-1]) | (score[1:] != score[:-1])))
    check.check_some_weight(bool((np.bincount(segment, minlength=segments) > 0).all()))
    start, score = segment[first].searchsorted(np.arange(segments + 1)), score[first]
    pos, neg = (np.add.reduceat(column[order], first) for column in (pos, neg))
    if pos.dtype.kind == "i":
        return SegmentLevels.of_counts(start, score, pos, neg)
    some = [slice(*ends) for ends in pairwise(start.tolist())]
    return CountedSegments([ThresholdCounts.from_ranking(Levels(score[i], pos[i], neg[i])) for i in some])


def of_models(
    names: Any, rows: Mapping[str, SegmentRows], source: Provenance | None
) -> CountedModels | SegmentedCounts:
    """Return counts by segment of one model, or of several by name."""
    found = {model: SegmentedCounts(names, own, source) for model, own in rows.items()}
    return CountedModels(found, source) if len(found) > 1 else next(iter(found.values()))


def array_of(names: Sequence[Hashable]) -> Any:
    """Return names as an array that preserves their types."""
    column = np.array(names)
    if column.dtype.kind not in "biufmM":
        column = np.empty(len(names), dtype=object)
        column[:] = names
    return column
