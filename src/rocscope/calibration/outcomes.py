"""Outcomes: how often the event happened at each predicted probability, from the lowest upwards."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.core.counts import ThresholdCounts
from rocscope.core.result import number
from rocscope.core.rows import require_distinct
from rocscope.errors import OneClassError
from rocscope.sample import sample_of


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Distinct probabilities in increasing order with the positives and all rows at each, as float64.

    What every number and curve of calibration is computed from; made by `outcomes`.
    """

    score: Array
    pos: Array
    total: Array

    @classmethod
    def of(cls, counts: ThresholdCounts) -> "Outcomes":
        """Return the levels of counts, whatever their scores."""
        score, pos, neg = (column[::-1].astype(np.float64) for column in (counts.threshold, counts.pos, counts.neg))
        return cls(score, pos, pos + neg)

    @cached_property
    def neg(self) -> Array:
        """Negatives at each probability."""
        return self.total - self.pos

    @cached_property
    def weighed(self) -> Array:
        """Sum of the probabilities of the rows at each level."""
        return self.score * self.total

    @cached_property
    def n(self) -> float:
        """Number of rows (sum of weights)."""
        return float(self.total.sum())

    @cached_property
    def prevalence(self) -> float:
        """Share of positives."""
        return float(self.pos.sum()) / self.n

    def mean(self, values: Array) -> float:
        """Mean over rows of a value given for each probability."""
        return float(values @ self.total) / self.n

    @cached_property
    def reached(self) -> Array:
        """Rows at or below each probability."""
        return np.cumsum(self.total)

    def quantile(self, values: Array, share: Any) -> Array:
        """Smallest of increasing `values` that at least a share of the rows do not exceed."""
        rows = np.asarray(share) * self.reached[-1] * (1 - 1e-12)
        return values[np.searchsorted(self.reached, rows).clip(max=values.size - 1)]

    def starts(self, groups: int) -> Array:
        """First levels of at most so many groups of about equally many rows; a level is never split."""
        before = np.arange(1, groups) * self.reached[-1] / groups
        first = np.searchsorted(self.reached, before) + 1
        return np.unique(np.concatenate([[0], first[first < self.score.size]]))

    def merged(self, starts: Array) -> "Outcomes":
        """Merge the levels from each start to the next, at their mean probability."""
        pos, total, score = (np.add.reduceat(column, starts) for column in (self.pos, self.total, self.weighed))
        return Outcomes(score / total, pos, total)

    def where(self, kept: NDArray[np.bool_]) -> "Outcomes":
        """Return the levels where a mask is true."""
        return Outcomes(self.score[kept], self.pos[kept], self.total[kept])

    def pooled(self, most: int, ends: int = 0) -> "Outcomes":
        """Return about `most` groups of equally many neighbouring rows; `ends` levels on each side stay as they are."""
        size = self.score.size
        if size <= most + 2 * ends:
            return self
        starts = self.starts(most)
        inner = starts[(starts > ends) & (starts < size - ends)]
        return self.merged(np.concatenate([np.arange(ends + 1), inner, np.arange(size - ends, size)]))

    def require_both_classes(self, what: str) -> None:
        """Raise OneClassError unless there are positives and negatives."""
        if not 0 < self.prevalence < 1:
            missing = "negatives" if self.prevalence else "positives"
            raise OneClassError(what, expected="both classes", got=f"no {missing} among {number(self.n)} rows")


def outcomes(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    inference: str = "",
) -> Outcomes:
    """Return the outcomes of data of one model, or outcomes as they are.

    Raises
    ------
    ScoreError
        If a score is not a probability.
    InputError
        If they are for an `inference` that takes entries as independent, and a case has several.

    Examples
    --------
    >>> outcomes([0, 1, 1], [0.2, 0.2, 0.9])
    Outcomes(score=array([0.2, 0.9]), pos=array([1., 1.]), total=array([2., 1.]))
    """
    if isinstance(y_true, Outcomes):
        return y_true
    data = sample_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    if inference:
        require_distinct(data.rows, inference)
    counts = data.counts
    counts.require_probabilities("scores")
    return Outcomes.of(counts)


def at_prevalence(counts: ThresholdCounts, target_prevalence: float | None) -> ThresholdCounts:
    """Return as many rows, weighted so that the share `target_prevalence` of them is positive."""
    if target_prevalence is None:
        return counts
    check.check_share(target_prevalence, "target_prevalence")
    counts.require_both_classes("a calibration plot at another prevalence")
    pos = counts.pos * (target_prevalence * counts.n / counts.n_pos)
    neg = counts.neg * ((1 - target_prevalence) * counts.n / counts.n_neg)
    return ThresholdCounts(counts.threshold, pos, neg)
