"""Calibration plot by bins: how often an event happened that was predicted with about this probability."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rocscope import _validation as check
from rocscope.core.counts import ThresholdCounts
from rocscope.core.curve import Curve, as_counts, interpolate
from rocscope.core.text import number
from rocscope.errors import InputError, ScoreError

Array = NDArray[Any]
Strategy = Literal["uniform", "quantile", "distinct"]


class CalibrationCurve(Curve):
    """Share of positives (y) against the mean score (x) in each bin; NaN in an empty one.

    Made by `rocscope.calibration`.

    Attributes
    ----------
    counts : ThresholdCounts
        What was binned; its levels are the rug.
    edges : array of b + 1 bin edges, increasing
    pos, neg : arrays of b counts
    """

    title = "calibration plot"
    x_name = "mean_score"
    y_name = "share_positive"

    def __init__(self, counts: ThresholdCounts, edges: Array, pos: Array, neg: Array, total_score: Array) -> None:
        self.counts = counts
        self.edges, self.pos, self.neg = (check.read_only(column) for column in (edges, pos, neg))
        with np.errstate(invalid="ignore"):
            super().__init__(total_score / (pos + neg), pos / (pos + neg), edges[:-1])

    def columns(self) -> dict[str, Array]:
        """Return one row a bin."""
        return {
            "low": self.edges[:-1],
            "high": self.edges[1:],
            "pos": self.pos,
            "neg": self.neg,
            self.x_name: self.x,
            self.y_name: self.y,
        }

    def at(self, x: Any) -> Any:
        """Return the share of positives at a score, on straight lines between the bins that hold any."""
        filled = self.pos + self.neg > 0
        return interpolate(self.x[filled], self.y[filled], x)

    def area(self) -> float:
        raise InputError("a calibration plot has no area that means anything")

    def _facts(self) -> str:
        return f"{self.x.size} bins, n={number(self.counts.n)}"


def calibration(
    y_true: Any,
    y_score: Any = None,
    *,
    bins: int = 10,
    strategy: Strategy = "uniform",
    edges: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> CalibrationCurve:
    """Calibration plot of predicted probabilities by bins.

    Parameters
    ----------
    y_true : array of n labels, ThresholdCounts or OperatingPoint
    y_score : array of n probabilities
    bins : int
        How many, for the first two strategies.
    strategy : {"uniform", "quantile", "distinct"}
        Bins of equal width; of about equally many rows, where a tie is never split (so there may be fewer); or
        one for each distinct score.
    edges : array, optional
        Increasing bin edges that cover all scores, in place of a strategy.
    pos_label, sample_weight : see `ThresholdCounts.from_scores`

    Returns
    -------
    CalibrationCurve

    Raises
    ------
    ScoreError
        If a score is not a probability.
    InputError
        If bins, strategy or edges make no sense; see also `ThresholdCounts.from_scores`.

    Notes
    -----
    Bins are ``[low, high)``, the last one closed. A point stands at the mean score of its bin. What is seen
    depends on the bins.

    References
    ----------
    Vuk & Curk 2006, §6.

    Examples
    --------
    >>> curve = calibration([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8], bins=2)
    >>> curve.x, curve.y
    (array([0.2, 0.7]), array([0.5, 0.5]))
    """
    counts = as_counts(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
    check_probabilities(counts)
    score, pos, neg = (column[::-1].astype(np.float64) for column in (counts.threshold, counts.pos, counts.neg))
    total = pos + neg
    if edges is not None:
        borders = _given_edges(edges, score)
    elif strategy == "distinct":
        borders = np.concatenate([score, score[-1:]])
    else:
        borders = _borders(score, total, _check_bins(bins), strategy)
    bin_of = np.arange(score.size) if edges is None and strategy == "distinct" else _bin_of(score, borders)
    size = borders.size - 1
    sums = (np.bincount(bin_of, column, size) for column in (pos, neg, score * total))
    return CalibrationCurve(counts, borders, *sums)


def check_probabilities(counts: ThresholdCounts) -> None:
    """Raise ScoreError unless all scores lie in [0, 1]."""
    outside = (counts.threshold < 0) | (counts.threshold > 1)
    if outside.any():
        rows = (counts.pos + counts.neg)[outside].sum()
        raise ScoreError(
            "scores",
            expected="probabilities from 0 to 1",
            got=f"{number(rows)} outside, such as {counts.threshold[outside][0]!r}",
            hint="calibration needs probabilities; recalibrate the scores first",
        )


def _check_bins(bins: int) -> int:
    if not isinstance(bins, int | np.integer) or bins < 1:
        raise InputError("bins", expected="a whole number of at least 1", got=repr(bins))
    return int(bins)


def _given_edges(edges: Any, score: Array) -> Array:
    borders = check.check_column(edges, "edges").astype(np.float64)
    if borders.size < 2 or not (np.diff(borders) > 0).all():
        raise InputError("edges", expected="at least two increasing numbers", got=repr(borders.tolist()))
    if borders[0] > score[0] or borders[-1] < score[-1]:
        raise InputError(
            "edges",
            expected=f"to cover all scores, {score[0]:g} to {score[-1]:g}",
            got=f"{borders[0]:g} to {borders[-1]:g}",
        )
    return borders


def _borders(score: Array, total: Array, bins: int, strategy: str) -> Array:
    if strategy == "uniform":
        return np.linspace(0.0, 1.0, bins + 1)
    if strategy == "quantile":
        before = np.cumsum(total) - total
        bin_of = np.floor(bins * before / total.sum())
        starts = np.flatnonzero(np.concatenate([[True], np.diff(bin_of) > 0]))
        return np.concatenate([score[starts], score[-1:]])
    raise InputError("strategy", expected="'uniform', 'quantile' or 'distinct'", got=repr(strategy))


def _bin_of(score: Array, borders: Array) -> Array:
    return np.minimum(np.searchsorted(borders, score, side="right") - 1, borders.size - 2)
