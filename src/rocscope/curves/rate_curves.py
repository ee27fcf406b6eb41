"""Precision–recall curve.

Detection error trade-off: the two error rates against each other.
"""

from functools import cached_property
from typing import Any

import numpy as np

from rocscope._base.arrays import Array
from rocscope.curves.curve import CountCurve, cumulative, scalar
from rocscope.sample import points_of


class DetCurve(CountCurve):
    """False-negative rate (y) against false-positive rate (x), drawn on normal-deviate axes.

    Made by `rocscope.det`.
    """

    kind = "det"
    title = "DET curve"
    x_name = "fpr"
    y_name = "fnr"
    needs = "both classes"

    def _xy(self, tp: Array, fp: Array) -> tuple[Array, Array]:
        return fp / self.counts.n_neg, (self.counts.n_pos - tp) / self.counts.n_pos

    @cached_property
    def equal_error_rate(self) -> float:
        """The rate at which fpr equals fnr, on the straight line between the two points around it."""
        for tp, fp in self.counts.require_levels("equal error rate").points():
            x, y = self._xy(tp, fp)
            if x[-1] < y[-1]:
                continue
            after = int(np.argmax(x >= y))
            (x0, x1), (y0, y1) = x[after - 1 : after + 1], y[after - 1 : after + 1]
            share = (y0 - x0) / ((y0 - x0) + (x1 - y1))
            return float(x0 + share * (x1 - x0))
        raise AssertionError("every DET curve ends at fpr 1 and fnr 0")

    def _facts(self) -> str:
        return f"equal_error_rate={self.equal_error_rate:.6g}, {super()._facts()}"


def det(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> DetCurve:
    """DET curve: false-negative rate against false-positive rate, at every threshold.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        In any form; see `rocscope.sample`.

    Raises
    ------
    InputError
        See `ThresholdCounts.from_scores`; OneClassError if one class is missing.

    References
    ----------
    Martin et al. 1997, "The DET curve in assessment of detection task performance", Eurospeech.

    Examples
    --------
    >>> curve = det([1, 0, 1, 0], [4, 3, 2, 1])
    >>> curve.y, curve.equal_error_rate
    (array([1. , 0.5, 0.5, 0. , 0. ]), 0.5)
    """
    return DetCurve(points_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight))


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
