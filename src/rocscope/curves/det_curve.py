"""Detection error trade-off: the two error rates against each other."""

from functools import cached_property
from typing import Any

import numpy as np

from rocscope._types import Array
from rocscope.curves.curve import CountCurve
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
