"""From rows, or from the counts of groups, to counts by group."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from rocscope import _validation as check
from rocscope._parts import numbered
from rocscope.core.counted import CountedModels
from rocscope.core.levels import encode
from rocscope.core.predictions import Predictions
from rocscope.core.provenance import Provenance
from rocscope.evaluation.groups.counted import GroupedCounts
from rocscope.evaluation.groups.drifting import drift_by_group as drift_by_group
from rocscope.evaluation.groups.rows import CountedGroups, GroupRows, SortedGroups, WeightedGroups, slots_of


def count_by(rows: Predictions, model: str, by: str) -> GroupedCounts:
    """Return the counts of a model in each segment, fold or repeat: one sort of all rows."""
    check.check_choice("by", by, ("segment", "fold", "repeat"))
    groups, code = numbered(by, getattr(rows, by))
    positive, scores, weight = rows.y_true, rows.scores[model], rows.sample_weight
    found: GroupRows
    if weight is None:
        found = SortedGroups.of([slots_of(code, positive, groups.size)], [encode(scores)], groups.size, scores.dtype)
    else:
        found = WeightedGroups.of(code, groups.size, positive, scores, weight)
    return GroupedCounts(groups, found, rows.source)


def of_segments(
    by_segment: Mapping[Hashable, Mapping[str, Any]], source: Provenance | None
) -> CountedModels | GroupedCounts:
    """Return what was counted group by group, in their order."""
    models = next(iter(by_segment.values()))
    names = array_of(list(by_segment))
    rows = {model: CountedGroups([counts[model] for counts in by_segment.values()]) for model in models}
    return of_models(names, rows, source)


def of_models(names: Any, rows: Mapping[str, GroupRows], source: Provenance | None) -> CountedModels | GroupedCounts:
    """Return the counts by group of one model, or of several by their names."""
    found = {model: GroupedCounts(names, own, source) for model, own in rows.items()}
    return CountedModels(found, source) if len(found) > 1 else next(iter(found.values()))


def array_of(names: Sequence[Hashable]) -> Any:
    """Return names in an array from which they come back as they were."""
    column = np.array(names)
    if column.dtype.kind not in "biufmM":
        column = np.empty(len(names), dtype=object)
        column[:] = names
    return column
