"""Drift of the score distribution in every segment at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rocscope._base.arrays import Array
from rocscope.core.counts import CumulativeCounts
from rocscope.core.result import Result, frame_of
from rocscope.errors import InputError, ScoreError
from rocscope.inference.score_drift import drift
from rocscope.segments.levels import SegmentLevels, quotients
from rocscope.segments.rows import SortedSegments
from rocscope.segments.segmented_counts import SegmentedCounts


@dataclass(frozen=True, eq=False, repr=False)
class SegmentDrift(Result):
    """Drift from the first to the second of two samples, in each of their k common segments.

    Made by `rocscope.inference.drift` of two `SegmentedCounts`. The numbers are those of `Drift`, NaN where a sample
    lacks what they need.

    Attributes
    ----------
    names : array of k segments
    ks, ks_pos, ks_neg, auc_difference, prevalence_difference : arrays of k
    only_first, only_second : arrays of the segments that one sample has
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
        """Return a data frame with one row per segment.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
        """
        columns = ("ks", "ks_pos", "ks_neg", "auc_difference", "prevalence_difference")
        return frame_of({"segment": self.names} | {name: getattr(self, name) for name in columns}, backend)

    def __repr__(self) -> str:
        lost = f", {self.only_first.size} only in the first, {self.only_second.size} only in the second"
        return f"SegmentDrift({self.names.size} segments, largest ks {self.ks.max():.4g}{lost})"


def drift_by_segment(first: SegmentedCounts, second: SegmentedCounts) -> SegmentDrift:
    """Compare two samples of one model segment by segment; see `rocscope.inference.drift`."""
    samples = (first, second)
    here, there = ({name: i for i, name in enumerate(each)} for each in samples)
    both = [(i, there[name]) for name, i in here.items() if name in there]
    if not both:
        raise InputError("segments", expected="some that both samples have", got="none")
    at = np.array(both).T
    only_first, only_second = (np.setdiff1d(np.arange(len(each)), i) for each, i in zip(samples, at, strict=True))
    area = [each.auc()[i] for each, i in zip(samples, at, strict=True)]
    share = [each.prevalence[i] for each, i in zip(samples, at, strict=True)]
    rows = [each.sorted_rows.take(i) for each, i in zip(samples, at, strict=True) if each.sorted_rows]
    if len(rows) == 2:
        ks, ks_pos, ks_neg = _distances(rows)
    else:
        found = [_distances_of(first[name], second[name]) for name in here if name in there]
        ks, ks_pos, ks_neg = np.array(found).T
    return SegmentDrift(
        first.names[at[0]],
        ks,
        ks_pos,
        ks_neg,
        area[1] - area[0],
        share[1] - share[0],
        first.names[only_first],
        second.names[only_second],
    )


def _distances_of(first: CumulativeCounts, second: CumulativeCounts) -> list[float]:
    found = drift(first, second)
    return [np.nan if each is None else each.low for each in (found.ks, found.ks_pos, found.ks_neg)]


def _distances(rows: Sequence[SortedSegments]) -> list[Array]:
    if rows[0].dtype != rows[1].dtype:
        raise ScoreError("samples", expected="scores of one type", got=f"{rows[0].dtype} and {rows[1].dtype}")
    return [_distance(rows, kinds) for kinds in ((0, 1), (0,), (1,))]


def _distance(rows: Sequence[SortedSegments], kinds: tuple[int, ...]) -> Array:
    """Return the largest difference of shares at or above a threshold, for some classes, by segment."""
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
        found[known] = np.concatenate(both.in_pieces(_apart))
    return found


def _apart(levels: SegmentLevels) -> Array:
    first, second = (levels.spread(total) for total in (levels.n_pos, levels.n_neg))
    apart = levels.each(np.maximum, abs(levels.tp * second - levels.fp * first))
    return quotients(apart, levels.n_pos * levels.n_neg)
