"""Isotonic regression of outcomes on probabilities by pooling of adjacent violators (PAV): the CORP diagram."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression

from rocscope._types import Array
from rocscope.calibration.outcomes import Outcomes
from rocscope.core.counts import ThresholdCounts
from rocscope.geometry import pool

_GROUPS = 4096
_ENDS = 512
_POINTS = 2048


@dataclass(frozen=True, eq=False)
class Blocks:
    """Neighbouring levels that PAV pools, by increasing score: their lowest and highest score, and their counts."""

    low: Array
    high: Array
    pos: Array
    neg: Array

    @property
    def share(self) -> Array:
        """Share of positives, which never decreases from block to block."""
        return self.pos / (self.pos + self.neg)


def pav_blocks(counts: ThresholdCounts) -> Blocks:
    """Return the blocks of isotonic regression, which are the segments of the ROC hull.

    Examples
    --------
    >>> blocks = pav_blocks(ThresholdCounts.from_scores([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8]))
    >>> blocks.low, blocks.high, blocks.share
    (array([0.1, 0.3, 0.8]), array([0.1, 0.6, 0.8]), array([0. , 0.5, 1. ]))
    """
    hull, score = pool(counts), counts.threshold[::-1]
    low = hull.threshold[::-1]
    last = np.append(np.searchsorted(score, low)[1:], score.size) - 1
    return Blocks(low, score[last], hull.pos[::-1], hull.neg[::-1])


def pav_values(sample: Outcomes) -> Array:
    """Return the fitted share at each level; in floating point, where resamples need speed and not exactness."""
    return isotonic_regression(sample.pos / sample.total, weights=sample.total).x.clip(0, 1)


@dataclass(frozen=True, eq=False)
class PavFit:
    """PAV of some outcomes, evaluated at some of their levels."""

    outcomes: Outcomes
    index: Array

    @property
    def x(self) -> Array:
        """Where it is evaluated."""
        return self.outcomes.score[self.index]

    def values(self, pos: Array) -> Array:
        """Return the curve at `x` for positives at each level; rows of a matrix are separate samples."""
        total = self.outcomes.total
        rows = [isotonic_regression(row / total, weights=total).x[self.index] for row in np.atleast_2d(pos)]
        return np.reshape(rows, (*pos.shape[:-1], -1))


def pav_fit(sample: Outcomes) -> PavFit:
    """Prepare PAV for resampling: neighbouring rows are gathered above 5,000 levels, except at both ends."""
    groups = sample.pooled(_GROUPS, ends=_ENDS)
    size = groups.score.size
    return PavFit(groups, np.unique(np.linspace(0, size - 1, min(size, _POINTS)).astype(int)))
