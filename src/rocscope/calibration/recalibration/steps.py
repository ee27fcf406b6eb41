"""Recalibration by shares of positives: isotonic regression, histogram binning and Venn–Abers."""

from typing import Any

import numpy as np

from rocscope import kernels
from rocscope._stored import Fields
from rocscope._types import Array
from rocscope.calibration.bins import binned
from rocscope.calibration.outcomes import Outcomes
from rocscope.calibration.pav import pav_blocks
from rocscope.calibration.recalibration.base import Recalibrator
from rocscope.core.counts import ThresholdCounts


class IsotonicRecalibrator(Recalibrator):
    """Isotonic regression (PAV): never decreasing, otherwise free; for scores of any range.

    Notes
    -----
    Constant within a block of scores, a straight line between blocks, as in scikit-learn. On the rows of the fit the
    ROC curve of its probabilities is the hull of that of the scores.

    References
    ----------
    Zadrozny & Elkan 2002, "Transforming classifier scores into accurate multiclass probability estimates", KDD.

    Examples
    --------
    >>> IsotonicRecalibrator().fit([1, 2, 3, 4], [0, 1, 0, 1]).predict([0, 1.5, 3, 9])
    array([0.  , 0.25, 0.5 , 1.  ])
    """

    method = "isotonic"
    _state = ("score_", "chance_")

    score_: Array
    chance_: Array

    def _fit(self, counts: ThresholdCounts) -> None:
        blocks = pav_blocks(counts)
        ends = np.column_stack([blocks.low, blocks.high]).astype(np.float64).ravel()
        kept = np.append(True, np.diff(ends) > 0)
        self.score_, self.chance_ = ends[kept], np.repeat(blocks.share, 2)[kept]

    def _restore(self, state: Fields) -> None:
        self.score_ = state.column("score_", order="rising")
        self.chance_ = state.column("chance_", 0, 1, size=self.score_.size, order="not falling")
        if not self.score_.size:
            state.refuse("score_", "at least one number")

    def _map(self, scores: Array) -> Array:
        return np.interp(scores, self.score_, self.chance_)


class HistogramRecalibrator(Recalibrator):
    """Histogram binning: the share of positives among the scores of a bin, for scores of any range.

    Parameters
    ----------
    bins : int
        About equally many rows each; a tie is never split, so there may be fewer.

    Notes
    -----
    Neighbouring bins may be out of order, so that the ranking can change.

    References
    ----------
    Zadrozny & Elkan 2001, "Obtaining calibrated probability estimates from decision trees and naive Bayesian
    classifiers", ICML.

    Examples
    --------
    >>> HistogramRecalibrator(bins=2).fit([1, 2, 3, 4], [0, 1, 1, 1]).predict([1, 2.5, 3])
    array([0.5, 0.5, 1. ])
    """

    method = "histogram"
    _state = ("edge_", "chance_")

    edge_: Array
    chance_: Array

    def __init__(self, bins: int = 10) -> None:
        self.bins = bins

    def _fit(self, counts: ThresholdCounts) -> None:
        cells = binned(Outcomes.of(counts), bins=self.bins, strategy="quantile")
        self.edge_, self.chance_ = cells.edges[1:-1], cells.share

    def _restore(self, state: Fields) -> None:
        self.edge_ = state.column("edge_", order="not falling")
        self.chance_ = state.column("chance_", 0, 1, size=self.edge_.size + 1)

    def _map(self, scores: Array) -> Array:
        return self.chance_[np.searchsorted(self.edge_, scores, side="right")]


class VennAbersRecalibrator(Recalibrator):
    """Venn–Abers: two probabilities, one of which is calibrated whatever the distribution; for scores of any range.

    Notes
    -----
    p0 and p1 are what isotonic regression gives a row if it is added as a negative and as a positive. `predict`
    merges them to p1/(1 − p0 + p1), which has the smallest regret in log loss; `predict_interval` returns both. Of
    the two, the one of the true label is perfectly calibrated for exchangeable rows.

    References
    ----------
    Vovk & Petej 2014, "Venn–Abers predictors", UAI. Vovk, Petej & Fedorova 2015, "Large-scale probabilistic
    predictors with and without guarantees of validity", NeurIPS.

    Examples
    --------
    >>> venn = VennAbersRecalibrator().fit([1, 2, 3, 4], [0, 0, 1, 1])
    >>> venn.predict_interval([1, 4])
    (array([0.        , 0.66666667]), array([0.33333333, 1.        ]))
    >>> venn.predict([1, 4])
    array([0.25, 0.75])
    """

    method = "venn-abers"
    _state = ("score_", "low_", "high_")

    score_: Array
    low_: Array
    high_: Array

    def _fit(self, counts: ThresholdCounts) -> None:
        score, pos, neg = (column[::-1] for column in (counts.threshold, counts.pos, counts.neg))
        self.score_ = score.astype(np.float64)
        total = pos + neg
        self.low_, self.high_ = np.empty(score.size), np.empty(score.size)
        pool = kernels.ranks.venn_abers.python if score.size < kernels.SMALL else kernels.ranks.venn_abers
        pool(pos, total, self.low_, self.high_)

    def _restore(self, state: Fields) -> None:
        self.score_ = state.column("score_", order="not falling")
        size = self.score_.size
        self.low_, self.high_ = (state.column(name, 0, 1, size=size, order="not falling") for name in ("low_", "high_"))
        if not (size and (self.low_ <= self.high_ + 1e-12).all()):
            state.refuse("low_", "probabilities that are not above those of high_")

    def predict_interval(self, X: Any) -> tuple[Array, Array]:  # noqa: N803
        """Return p0 and p1 of each score: its probability if it were a negative, and if it were a positive."""
        low, high = self._both(self._scores(X))
        return self._shifted(low), self._shifted(high)

    def _both(self, scores: Array) -> tuple[Array, Array]:
        # a negative between two levels pools with the lower one, a positive with the upper one
        below = np.searchsorted(self.score_, scores, side="right") - 1
        above = np.searchsorted(self.score_, scores, side="left")
        low = np.where(below >= 0, self.low_[below], 0.0)
        return low, np.append(self.high_, 1.0)[above]

    def _map(self, scores: Array) -> Array:
        low, high = self._both(scores)
        return high / (1 - low + high)
