"""ROC curve: true-positive rate against false-positive rate."""

from functools import cached_property
from typing import Any, Literal

import numpy as np

from rocscope import kernels
from rocscope._base import validation as check
from rocscope._base.arrays import Array, Ties
from rocscope._base.contract import answering
from rocscope._base.registry import reach
from rocscope._base.threads import in_threads
from rocscope.core.context import Context
from rocscope.core.point import OperatingPoint
from rocscope.curves.curve import CountCurve, interpolate
from rocscope.curves.profit_curve import Campaign
from rocscope.errors import InputError, RocscopeError, heard
from rocscope.geometry import Line, best_point, pool
from rocscope.ranges.binned import direction
from rocscope.sample import points_of


class RocCurve(CountCurve):
    """True-positive rate (y) against false-positive rate (x), one vertex for each distinct score.

    Made by `rocscope.roc`. Ties are one level, so the curve runs diagonally through them.
    """

    kind = "roc"
    title = "ROC curve"
    x_name = "fpr"
    y_name = "tpr"
    needs = "both classes"

    def _xy(self, tp: Array, fp: Array) -> tuple[Array, Array]:
        parts = (fp, self.counts.n_neg), (tp, self.counts.n_pos)
        x, y = in_threads(lambda part: part[0] / part[1], parts, None if tp.size >= kernels.SMALL else 1)
        return x, y

    @property
    def fpr(self) -> Array:
        """False-positive rate at each threshold: `x`."""
        return self.x

    @property
    def tpr(self) -> Array:
        """True-positive rate at each threshold: `y`."""
        return self.y

    @property
    def thresholds(self) -> Array:
        """Thresholds, decreasing from infinity: `threshold`."""
        return self.threshold

    @cached_property
    def auc(self) -> float:
        """Area under the curve: share of pairs ranked right, ties counting half."""
        return self.area()

    def area(self, ties: Ties = "half") -> float:
        """Return the area; see `rocscope.auc` for what `ties` means."""
        return self.counts.pairs().auc(ties)

    def _headline(self) -> str:
        try:
            with heard():
                area = reach("areas").auc_interval(self.counts)
            return f"AUC {area.value:.4f}, {100 * area.level:g} % interval {area.low:.3f} to {area.high:.3f}"
        except RocscopeError:  # counts that tell an area and no interval, or neither
            return ""

    @property
    def gini(self) -> float:
        """2·AUC − 1."""
        return 2 * self.auc - 1

    @cached_property
    def ks(self) -> float:
        """Kolmogorov–Smirnov distance: the largest tpr − fpr, at least 0."""
        counts = self.counts.on_hull("largest difference of the rates")
        n_pos, n_neg = counts.n_pos, counts.n_neg
        return max(float((tp / n_pos - fp / n_neg).max()) for tp, fp in counts.points())

    def hull(self) -> "RocCurve":
        """Return the upper convex hull; its points are vertices of this curve.

        Examples
        --------
        >>> hull = roc([1, 1, 0, 0, 0, 1], [6, 5, 4, 3, 2, 1]).hull()
        >>> hull.x, hull.y, hull.threshold
        (array([0., 0., 1.]), array([0. , 0.66666667, 1. ]), array([inf, 5., 1.]))
        """
        return RocCurve(pool(self.counts))

    def best(self, context: Context | Campaign | None = None) -> OperatingPoint:
        """Return the point of lowest expected cost in a context, or of highest accuracy without one.

        Of equally good points the one with fewest positive predictions is taken. The threshold of "everybody" is −∞.
        """
        return best_point(self.counts, context)

    def iso_performance_line(self, context: Context | Campaign | None = None) -> Line:
        """Return the line of equal expected cost through the best point.

        Examples
        --------
        >>> roc([1, 1, 0, 0, 0, 1], [6, 5, 4, 3, 2, 1]).iso_performance_line()
        Line(x=0.0, y=0.6666666666666666, slope=1.0)
        """
        context = Context.given(context)
        point = self.best(context)
        return Line(point.fpr, point.tpr, context.slope(self.counts.prevalence))

    def partial_auc(
        self,
        *,
        max_fpr: float | None = None,
        min_tpr: float | None = None,
        fpr_range: tuple[float, float] | None = None,
        tpr_range: tuple[float, float] | None = None,
        standardized: bool = False,
    ) -> float:
        """Return the area over a part of one axis.

        Parameters
        ----------
        max_fpr : float, optional
            Area under the curve for fpr from 0 to `max_fpr`.
        min_tpr : float, optional
            Area to the right of the curve for tpr from `min_tpr` to 1.
        fpr_range, tpr_range : (low, high), optional
            The same over any part of the axis.
        standardized : bool
            McClish's scale: 1/2 for the diagonal, 1 for a perfect curve.

        Raises
        ------
        InputError
            Unless exactly one part is given and it lies within [0, 1].

        References
        ----------
        McClish 1989, "Analyzing a portion of the ROC curve", Med. Decis. Making 9:190–195.

        Examples
        --------
        >>> curve = roc([1, 0, 1, 0], [4, 3, 2, 1])
        >>> curve.partial_auc(max_fpr=0.5), curve.partial_auc(max_fpr=0.5, standardized=True)
        (0.25, 0.6666666666666666)
        """
        self.counts.require_levels("partial AUC")
        parts = {
            "max_fpr": None if max_fpr is None else ("fpr", 0.0, max_fpr),
            "min_tpr": None if min_tpr is None else ("tpr", min_tpr, 1.0),
            "fpr_range": None if fpr_range is None else ("fpr", *_ends(fpr_range)),
            "tpr_range": None if tpr_range is None else ("tpr", *_ends(tpr_range)),
        }
        given = [part for part in parts.values() if part is not None]
        if len(given) != 1:
            raise InputError("partial_auc", expected=f"exactly one of {', '.join(parts)}", got=f"{len(given)} of them")
        axis, *ends = given[0]
        if len(ends) != 2 or not all(map(check.is_number, ends)):
            raise InputError("partial_auc", expected=f"numbers for the {axis}", got=check.shown(ends))
        low, high = ends
        if not 0 <= low < high <= 1:
            raise InputError("partial_auc", expected=f"0 ≤ low < high ≤ 1 for the {axis}", got=f"{low} to {high}")
        if axis == "fpr":
            area = _area_between(self.x, self.y, low, high)
            chance = (high**2 - low**2) / 2
        else:
            area = (high - low) - _area_between(self.y, self.x, low, high)
            chance = (high - low) - (high**2 - low**2) / 2
        if not standardized:
            return area
        return (1 + (area - chance) / ((high - low) - chance)) / 2

    def _facts(self) -> str:
        return f"auc={self.auc:.6g}{direction(self.auc)}, {super()._facts()}"


def _ends(part: Any) -> tuple[Any, ...]:
    return tuple(part) if isinstance(part, tuple | list) else (part,)


def _area_between(x: Array, y: Array, low: float, high: float) -> float:
    """Area under straight lines between points of non-decreasing x, restricted to [low, high]."""
    inside = (x > low) & (x < high)
    start, stop = interpolate(x, y, low), -interpolate(-x[::-1], -y[::-1], -high)
    return float(np.trapezoid(np.concatenate([[start], y[inside], [stop]]), np.concatenate([[low], x[inside], [high]])))


@answering
def roc(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> RocCurve:
    """Compute the ROC curve: true-positive rate against false-positive rate, at every threshold.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Labels and scores, Predictions, ThresholdCounts, OperatingPoint, bins or a sketch; see `rocscope.sample`.

    Returns
    -------
    RocCurve

    Raises
    ------
    InputError
        See `ThresholdCounts.from_scores`; OneClassError if one class is missing.

    References
    ----------
    Vuk & Curk 2006, §4.

    Examples
    --------
    >>> curve = roc([1, 1, 0, 1, 0], [0.9, 0.6, 0.4, 0.4, 0.2])
    >>> curve.x, curve.threshold
    (array([0. , 0. , 0. , 0.5, 1. ]), array([inf, 0.9, 0.6, 0.4, 0.2]))
    >>> curve.auc
    0.9166666666666666
    """
    return RocCurve(points_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight))


@answering
def auc(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    ties: Literal["half", "lower", "upper"] = "half",
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Compute the area under the ROC curve: the probability that a random positive scores above a random negative.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Labels and scores, Predictions, ThresholdCounts, OperatingPoint, bins or a sketch; see `rocscope.sample`.
    ties : {"half", "lower", "upper"}
        What a tied pair counts: 1/2 (Vuk & Curk's A_ROC2), 0 (their A_ROC1) or 1. The last two bound what any
        breaking of ties could give.

    Returns
    -------
    float
        Correctly rounded for unweighted data; below 1/2 when the scores rank the wrong way, never flipped.

    Raises
    ------
    InputError
        See `ThresholdCounts.from_scores`; OneClassError if one class is missing.

    References
    ----------
    Vuk & Curk 2006, eq. 4.3–4.7.

    Examples
    --------
    >>> auc([1, 1, 0, 1, 0], [0.9, 0.6, 0.4, 0.4, 0.2])
    0.9166666666666666
    >>> auc([1, 1, 0, 1, 0], [0.9, 0.6, 0.4, 0.4, 0.2], ties="lower")
    0.8333333333333334
    """
    counts = points_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    counts.require_both_classes("AUC")
    return counts.pairs().auc(ties)
