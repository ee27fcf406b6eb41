"""Cost space: expected cost against the operating condition, as lower envelope and as Brier curve."""

from typing import Any

import numpy as np

from rocscope._types import Array
from rocscope.core.context import Context
from rocscope.core.counts import ThresholdCounts
from rocscope.curves.curve import Curve, cumulative, scalar
from rocscope.curves.several import of_one_or_several
from rocscope.geometry import pool
from rocscope.sample import counts_of


class CostCurve(Curve):
    """Normalised expected cost of the best threshold (y) against the probability cost of positives (x).

    Made by `rocscope.cost_curve`. Each threshold is a straight line from its fpr at x = 0 to its fnr at x = 1; this is
    the lower envelope of all of them, the dual of the ROC hull.

    Attributes
    ----------
    counts : ThresholdCounts
    fpr, fnr : arrays, one entry a threshold
        Left and right ends of all the lines, in order of decreasing threshold.
    """

    title = "cost curve"
    x_name = "probability_cost"
    y_name = "normalised_cost"

    def __init__(self, counts: ThresholdCounts) -> None:
        counts.require_both_classes(self.title)
        self.counts = counts
        tp, fp = cumulative(pool(counts))
        rise, run = np.diff(tp) / counts.n_pos, np.diff(fp) / counts.n_neg
        # Two neighbours on the hull cost the same where the slope (1 − x)/x is that of the segment between them.
        border = run / (rise + run)
        fpr, fnr = fp / counts.n_neg, (counts.n_pos - tp) / counts.n_pos
        x = np.concatenate(([0.0], border, [1.0]))
        owner = np.concatenate((np.arange(tp.size), [tp.size - 1]))
        threshold = np.concatenate(([np.inf], pool(counts).threshold.astype(np.float64)))
        super().__init__(x, x * fnr[owner] + (1 - x) * fpr[owner], threshold[owner])

    def recount(self, counts: ThresholdCounts) -> "CostCurve":
        """Return the curve of other counts, such as those of a resample."""
        return CostCurve(counts)

    @property
    def fpr(self) -> Array:
        """False-positive rate of each threshold: height of its line at x = 0."""
        return cumulative(self.counts)[1] / self.counts.n_neg

    @property
    def fnr(self) -> Array:
        """False-negative rate of each threshold: height of its line at x = 1."""
        return (self.counts.n_pos - cumulative(self.counts)[0]) / self.counts.n_pos

    @staticmethod
    def probability_cost(context: Context, prevalence: float) -> float:
        """Return where a context stands on the x axis: x = 1/(1 + m) for the slope m of its iso-performance line.

        Examples
        --------
        >>> CostCurve.probability_cost(Context(cost_fp=1, cost_fn=2), prevalence=1 / 3)
        0.5
        """
        return 1 / (1 + context.slope(prevalence))

    @property
    def trivial(self) -> Curve:
        """The better of "nobody" and "everybody" positive, min(x, 1 − x)."""
        return Curve([0.0, 0.5, 1.0], [0.0, 0.5, 0.0], [np.inf, np.inf, -np.inf])

    def _facts(self) -> str:
        return f"area={self.area():.6g}, n_pos={self.counts.n_pos:g}, n_neg={self.counts.n_neg:g}"


def cost_curve(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> Any:
    """Cost curve: expected cost of the best threshold for every mix of classes and costs.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model, or of several
        In any form; see `rocscope.sample`.

    Returns
    -------
    CostCurve, or Curves of several models of which none is named

    Raises
    ------
    InputError
        See `ThresholdCounts.from_scores`; OneClassError if one class is missing.

    Notes
    -----
    x = π·cost_fn / (π·cost_fn + (1 − π)·cost_fp) for costs beyond those of correct predictions, and
    y = x·fnr + (1 − x)·fpr, the expected cost over the largest there can be. The area is the expected normalised cost
    where every x is equally likely.

    References
    ----------
    Drummond & Holte 2006, "Cost curves: an improved method for visualizing classifier performance", Machine
    Learning 65.

    Examples
    --------
    >>> curve = cost_curve([1, 0, 1, 0], [4, 3, 2, 1])
    >>> curve.x, curve.y
    (array([0. , 0. , 0.5, 1. , 1. ]), array([0.  , 0.  , 0.25, 0.  , 0.  ]))
    """
    how = {"model": model, "pos_label": pos_label, "sample_weight": sample_weight}
    return of_one_or_several(lambda _, counts: CostCurve(counts), y_true, y_score, **how)


class BrierCurve(Curve):
    """Expected loss (y) of using probabilities as they are, against the cost proportion (x).

    Made by `rocscope.curves.brier_curve`. A case is predicted positive iff its probability is at least x. The curve
    jumps where cases lie: at such an x the first of its two points holds, the second just beyond.

    Attributes
    ----------
    counts : ThresholdCounts
    """

    title = "Brier curve"
    x_name = "cost_proportion"
    y_name = "loss"

    def __init__(self, counts: ThresholdCounts) -> None:
        counts.require_probabilities(self.title)
        self.counts = counts
        scores = counts.threshold[::-1].astype(np.float64)
        tp, fp = (column[::-1] for column in cumulative(counts))  # at or above the first score, the second, …
        edges = np.concatenate(([0.0], scores, [1.0]))
        x = np.repeat(edges, 2)[1:-1]
        tp, fp = np.repeat(tp, 2), np.repeat(fp, 2)
        loss = 2 * ((1 - x) * (counts.n_pos - tp) + x * fp) / counts.n
        super().__init__(x, loss, x)

    def recount(self, counts: ThresholdCounts) -> "BrierCurve":
        """Return the curve of other counts, such as those of a resample."""
        return BrierCurve(counts)

    def at(self, x: Any) -> Any:
        """Return the loss at a cost proportion."""
        wanted = np.asarray(x, dtype=np.float64)
        tp, fp = (column[::-1] for column in cumulative(self.counts))
        below = np.searchsorted(self.counts.threshold[::-1].astype(np.float64), wanted, side="left")
        loss = 2 * ((1 - wanted) * (self.counts.n_pos - tp[below]) + wanted * fp[below]) / self.counts.n
        return scalar(np.where((wanted >= 0) & (wanted <= 1), loss, np.nan))

    def _facts(self) -> str:
        return f"area={self.area():.6g}, n_pos={self.counts.n_pos:g}, n_neg={self.counts.n_neg:g}"


def brier_curve(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> BrierCurve:
    """Brier curve: expected loss of trusting the probabilities, for every cost proportion; its area is the Brier score.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        In any form; see `rocscope.sample`.

    Raises
    ------
    ScoreError
        If a score is not a probability; see also `ThresholdCounts.from_scores`.

    Notes
    -----
    y = 2·[(1 − x)·fn + x·fp]/n at the threshold x = cost_fp/(cost_fp + cost_fn). Between it and the envelope (twice
    the cost curve's cost at the class mix of the sample) lies what calibration would save.

    References
    ----------
    Hernández-Orallo, Flach & Ferri 2011, "Brier curves: a new cost-based visualisation of classifier performance",
    ICML.

    Examples
    --------
    >>> curve = brier_curve([1, 0], [0.8, 0.4])
    >>> round(curve.area(), 12), curve.at(0.4), curve.at(0.5)
    (0.1, 0.4, 0.0)
    """
    return BrierCurve(counts_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight))
