"""Precision–recall curve."""

from functools import cached_property
from typing import Any

import numpy as np

from rocscope._types import Array
from rocscope.curves.curve import CountCurve, cumulative, scalar
from rocscope.sample import points_of


class PrecisionRecallCurve(CountCurve):
    """Precision (y) against recall (x), one point for each distinct score; precision is NaN where nothing is predicted.

    Made by `rocscope.precision_recall`. Straight lines between its points would promise what no classifier can
    give (Davis & Goadrich 2006), so `at` interpolates counts and `area` is the average precision.
    """

    kind = "precision_recall"
    title = "precision–recall curve"
    x_name = "recall"
    y_name = "precision"
    needs = "positives"

    def _xy(self, tp: Array, fp: Array) -> tuple[Array, Array]:
        with np.errstate(invalid="ignore"):
            return tp / self.counts.n_pos, tp / (tp + fp)

    @cached_property
    def average_precision(self) -> float:
        """Sum over levels of the recall gained times the precision there (no interpolation)."""
        points = self.counts.require_levels("average precision").points()
        gained = ((np.diff(tp) * (tp[1:] / (tp + fp)[1:])).sum() for tp, fp in points)
        return float(sum(gained)) / self.counts.n_pos

    def area(self) -> float:
        """Return the average precision."""
        return self.average_precision

    def at(self, x: Any) -> Any:
        """Return the precision at a recall, with false positives interpolated between the points.

        That is what a random mixture of the two neighbouring thresholds attains. At a recall that several points
        have, the first (of highest precision) counts.

        Examples
        --------
        >>> curve = precision_recall([1, 0, 0, 1], [4, 3, 2, 1])
        >>> curve.at(0.5), curve.at(0.75)
        (1.0, 0.42857142857142855)
        """
        self.counts.require_levels(f"{self.title} between its points")
        tp, fp = cumulative(self.counts)
        x = np.asarray(x, dtype=np.float64)
        after = np.searchsorted(self.x, x, side="left").clip(max=tp.size - 1)
        before = np.maximum(after - 1, 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = (x - self.x[before]) / (self.x[after] - self.x[before])
            true, false = (count[before] + share * (count[after] - count[before]) for count in (tp, fp))
            return scalar(np.where((x > 0) & (x <= 1), true / (true + false), np.nan))

    def _facts(self) -> str:
        return f"average_precision={self.average_precision:.6g}, {super()._facts()}"


def precision_recall(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> PrecisionRecallCurve:
    """Precision–recall curve: precision against recall, at every threshold.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        In any form; see `rocscope.sample`.

    Raises
    ------
    InputError
        See `ThresholdCounts.from_scores`; OneClassError without positives.

    References
    ----------
    Davis & Goadrich 2006, "The relationship between precision-recall and ROC curves", ICML.

    Examples
    --------
    >>> curve = precision_recall([1, 0, 1], [3, 2, 1])
    >>> curve.x, curve.average_precision
    (array([0. , 0.5, 0.5, 1. ]), 0.8333333333333333)
    """
    return PrecisionRecallCurve(
        points_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    )
