"""How far two samples lie apart in every group at once."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rocscope._base.arrays import Array
from rocscope.core.result import Result, frame_of
from rocscope.errors import InputError, ScoreError
from rocscope.segments.levels import SegmentLevels, quotients
from rocscope.segments.rows import SortedSegments
from rocscope.segments.segmented_counts import SegmentedCounts


@dataclass(frozen=True, eq=False, repr=False)
class SegmentDrift(Result):
    """How far the second of two samples is from the first, in each of the k groups that both have.

    Made by `rocscope.inference.drift` of two `SegmentedCounts`. The numbers are those of `Drift`, NaN where a sample
    lacks what they need.

    Attributes
    ----------
    names : array of k groups
    ks, ks_pos, ks_neg, auc_difference, prevalence_difference : arrays of k
    only_first, only_second : arrays of the groups that one sample has
    """

    names: Array
    ks: Array
    ks_pos: Array
    ks_neg: Array
    auc_difference: Array
    prevalence_difference: Array
    only_first: Array
    only_second: Array

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame with a row for each group.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
        """
        columns = ("ks", "ks_pos", "ks_neg", "auc_difference", "prevalence_difference")
        return frame_of({"group": self.names} | {name: getattr(self, name) for name in columns}, backend)

    def __repr__(self) -> str:
        lost = f", {self.only_first.size} only in the first, {self.only_second.size} only in the second"
        return f"SegmentDrift({self.names.size} groups, largest ks {self.ks.max():.4g}{lost})"


def drift_by_group(first: Any, second: Any) -> SegmentDrift:
    """Return how two samples of one model differ, group by group; see `rocscope.inference.drift`."""
    samples = (first, second)
    for each in samples:
        if not (isinstance(each, SegmentedCounts) and each.sorted_rows):
            hint = "of few groups: drift(first[group], second[group])"
            raise InputError("samples", expected="two SegmentedCounts of rows without weights", got="others", hint=hint)
    dtypes = [each.sorted_rows.dtype for each in samples]
    if dtypes[0] != dtypes[1]:
        raise ScoreError("samples", expected="scores of one type", got=f"{dtypes[0]} and {dtypes[1]}")
    here, there = ({name: i for i, name in enumerate(each)} for each in samples)
    both = [(i, there[name]) for name, i in here.items() if name in there]
    if not both:
        raise InputError("groups", expected="some that both samples have", got="none")
    at = np.array(both).T
    only_first, only_second = (np.setdiff1d(np.arange(len(each)), i) for each, i in zip(samples, at, strict=True))
    rows = [each.sorted_rows.take(i) for each, i in zip(samples, at, strict=True)]
    area = [each.auc()[i] for each, i in zip(samples, at, strict=True)]
    share = [each.prevalence[i] for each, i in zip(samples, at, strict=True)]
    return SegmentDrift(
        first.names[at[0]],
        _distance(rows, (0, 1)),
        _distance(rows, (0,)),
        _distance(rows, (1,)),
        area[1] - area[0],
        share[1] - share[0],
        first.names[only_first],
        second.names[only_second],
    )


def _distance(rows: list[SortedSegments], kinds: tuple[int, ...]) -> Array:
    """Return by group the largest difference of the shares at or above a threshold, of positives, negatives or both."""
    sizes = [np.diff(each.bounds).reshape(-1, 2) for each in rows]
    known = np.all([each[:, kinds].sum(axis=1) > 0 for each in sizes], axis=0)
    found = np.full(known.size, np.nan)
    if known.any():
        slots, codes = [], []
        for sample, each in enumerate(rows):
            own = each.take(np.flatnonzero(known))
            slot = np.repeat(np.arange(own.bounds.size - 1), np.diff(own.bounds))
            kept = np.isin(slot % 2, kinds)
            slots.append(slot[kept] // 2 * 2 + sample)  # one sample in place of the positives, one of the negatives
            codes.append(own.codes[kept])
        both = SortedSegments.of(slots, codes, int(known.sum()), rows[0].dtype)
        found[known] = both.answer(_apart)
    return found


def _apart(levels: SegmentLevels) -> Array:
    first, second = (levels.spread(total) for total in (levels.n_pos, levels.n_neg))
    apart = levels.each(np.maximum, abs(levels.tp * second - levels.fp * first))
    return quotients(apart, levels.n_pos * levels.n_neg)
