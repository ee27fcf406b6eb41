"""From rows, or from the counts of groups, to counts by group."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.grouping import numbered
from rocscope._base.threads import in_threads
from rocscope.core.levels import Levels
from rocscope.core.predictions import Predictions
from rocscope.core.rows import CountedModels, Provenance
from rocscope.segments.drift import drift_by_group as drift_by_group
from rocscope.segments.rows import CountedLevels, CountedSegments, SegmentRows, SortedSegments, WeightedSegments
from rocscope.segments.segmented_counts import SegmentedCounts
from rocscope.segments.slots import slots_of

_ROWS_AT_ONCE = 1 << 18


def count_by(rows: Predictions, model: str, by: str) -> SegmentedCounts:
    """Return the counts of a model in each segment, fold or repeat: one sort of all rows."""
    check.check_choice("by", by, ("segment", "fold", "repeat"))
    groups, code = numbered(by, getattr(rows, by))
    positive, scores, weight = rows.y_true, rows.scores[model], rows.sample_weight
    found: SegmentRows
    if weight is None:
        found = SortedSegments.of(*_in_pieces(code, positive, scores, groups.size), groups.size, scores.dtype)
    else:
        found = WeightedSegments.of(code, groups.size, positive, scores, weight)
    return SegmentedCounts(groups, found, rows.source)


def _in_pieces(code: Array, positive: NDArray[np.bool_], scores: Array, groups: int) -> tuple[list[Array], list[Array]]:
    """Return slots and scores of some hundred thousand rows at a time, for as many threads."""
    pieces = [slice(start, start + _ROWS_AT_ONCE) for start in range(0, code.size, _ROWS_AT_ONCE)]
    slots = in_threads(lambda piece: slots_of(code[piece], positive[piece], groups), pieces)
    return slots, [scores[piece] for piece in pieces]


def of_segments(
    by_segment: Mapping[Hashable, Mapping[str, Any]], source: Provenance | None
) -> CountedModels | SegmentedCounts:
    """Return what was counted group by group, in their order."""
    models = next(iter(by_segment.values()))
    names = array_of(list(by_segment))
    rows = {model: _together([counts[model] for counts in by_segment.values()]) for model in models}
    return of_models(names, rows, source)


def _together(each: list[Any]) -> SegmentRows:
    """Return the counts of groups, with all their levels in one place where these are at hand and of one type."""
    ranked: list[Any] = [getattr(counts, "ranking", None) for counts in each]
    if not all(isinstance(levels, Levels) and not levels.weighted for levels in ranked):
        return CountedSegments(each)
    if len({levels.threshold.dtype for levels in ranked}) > 1:
        return CountedSegments(each)
    columns = ([getattr(levels, name) for levels in ranked] for name in ("threshold", "pos", "neg"))
    start = np.cumsum([0, *(levels.threshold.size for levels in ranked)])
    return CountedLevels(start, *map(np.concatenate, columns))


def of_sums(by_model: Mapping[str, Sequence[Array]], source: Provenance | None) -> CountedModels | SegmentedCounts:
    """Return what was summed by segment and score: of each model columns of segments, scores, positives, negatives."""
    rows: dict[str, SegmentRows] = {}
    names: Any = None
    for model, (segment, score, pos, neg) in by_model.items():
        names, code = numbered("segment", segment)
        rows[model] = CountedLevels.of(code, names.size, score, pos, neg)
    return of_models(names if names.dtype.kind in "mM" else array_of(names.tolist()), rows, source)


def of_models(
    names: Any, rows: Mapping[str, SegmentRows], source: Provenance | None
) -> CountedModels | SegmentedCounts:
    """Return the counts by group of one model, or of several by their names."""
    found = {model: SegmentedCounts(names, own, source) for model, own in rows.items()}
    return CountedModels(found, source) if len(found) > 1 else next(iter(found.values()))


def array_of(names: Sequence[Hashable]) -> Any:
    """Return names in an array from which they come back as they were."""
    column = np.array(names)
    if column.dtype.kind not in "biufmM":
        column = np.empty(len(names), dtype=object)
        column[:] = names
    return column
