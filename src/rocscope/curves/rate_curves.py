"""Curves of rates: ROC, precision–recall, detection error trade-off (DET), gain, lift, and lift chart.

The x and y of each curve are functions of the numbers of true and false positives at each threshold (`CountCurve`). So
all curves of a model have the same thresholds. They differ only in their axes.
"""

from copy import copy
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np

from rocscope import kernels
from rocscope._base import validation as check
from rocscope._base.arrays import Array, Ties, after_infinity, dot, in_threads
from rocscope._base.contract import contract
from rocscope._base.formatting import direction
from rocscope._base.public_names import reach
from rocscope.core import (
    Band,
    CallableFloat,
    Campaign,
    Context,
    CumulativeCounts,
    OperatingPoint,
    number,
    require_kinds,
)
from rocscope.curves.curve import Curve, cumulative, for_each_model, interpolate, scalar
from rocscope.errors import InputError, RocscopeError, collected_warnings
from rocscope.geometry.hull import Line, best_point, pool
from rocscope.ranges.binned import BinnedCounts
from rocscope.sample import points_of


class CountCurve(Curve):
    """A curve whose x and y are functions of the numbers of true and false positives at each threshold.

    The points are computed on first access. The first point has the threshold infinity, at which no case is predicted
    positive. A subclass defines the method `_xy`, and `needs`, the classes that the data must contain: "both classes",
    or a word for positives.

    Attributes
    ----------
    counts : ThresholdCounts
        Numbers of positives and negatives at each score.
    """

    kind: ClassVar[str] = ""
    needs: ClassVar[str] = ""

    def __init__(self, counts: CumulativeCounts) -> None:
        if self.needs == "both classes":
            counts.require_both_classes(self.title)
        elif self.needs:
            counts.require_positives(self.title, self.needs)
        self.counts = counts

    def _xy(self, tp: Array, fp: Array) -> tuple[Array, Array]:
        raise NotImplementedError

    def recount(self, counts: CumulativeCounts) -> Self:
        """Return a curve of the same kind for other counts, such as the counts of a bootstrap replicate.

        Parameters
        ----------
        counts : ThresholdCounts
            Numbers of positives and negatives at each score.
        """
        twin = copy(self)
        for name in list(vars(twin)):
            if isinstance(getattr(type(self), name, None), cached_property):
                delattr(twin, name)
        twin.counts = counts
        return twin

    @cached_property
    def _points(self) -> tuple[Array, Array]:
        x, y = self._xy(*cumulative(self.counts))
        return check.read_only(x), check.read_only(y)

    @property
    def x(self) -> Array:  # pyright: ignore[reportIncompatibleVariableOverride]
        """x of the points, in order of decreasing threshold."""
        return self._points[0]

    @property
    def y(self) -> Array:  # pyright: ignore[reportIncompatibleVariableOverride]
        """y of the points, in order of decreasing threshold."""
        return self._points[1]

    @cached_property
    def threshold(self) -> Array:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Thresholds: infinity, and then the distinct scores in decreasing order.

        They are Python integers if float64 would round the scores.
        """
        return check.read_only(after_infinity(self.counts.threshold))

    def of(self, tp: Array, fp: Array) -> tuple[Array, Array]:
        """Return x and y for given numbers of true and false positives.

        The numbers may lie between the numbers of two neighbouring thresholds. A random choice between these two
        thresholds has such numbers on average.

        Parameters
        ----------
        tp, fp : arrays of k
            Numbers of true positives and of false positives.

        Examples
        --------
        >>> from rocscope import precision_recall
        >>> precision_recall([1, 0, 0, 1], [4, 3, 2, 1]).of(tp=np.array([1.5]), fp=np.array([2.0]))
        (array([0.75]), array([0.42857143]))
        """
        return self._xy(tp, fp)

    def at(self, x: Any) -> Any:
        self.counts.require_levels(f"{self.title} between its points")
        check.refuse_percentages(x, "x")
        return super().at(x)

    def area(self) -> float:
        self.counts.require_levels(f"area under the {self.title}")
        return super().area()

    def envelope(self, *, most: int | None = None) -> Band | None:
        """Return bounds between which the exact curve lies, for a curve from binned counts; None if it is exact.

        Parameters
        ----------
        most : int, optional
            Approximate number of bins to use, for drawing. By default, all bins.
        """
        if not isinstance(self.counts, BinnedCounts):
            return None
        binned = self.counts
        return (binned if most is None else binned.coarsen(most)).envelope(self.kind)

    def __repr__(self) -> str:
        return super().__repr__() if self.counts.holds_levels else f"{type(self).__name__}({self.counts!r})"

    def _by_chance(self) -> tuple[Array, Array] | None:
        if not (self.counts.n_pos and self.counts.n_neg):
            return None
        # A random ranking selects equal shares of both classes. At a share of 0, precision and lift are 0/0. 33 points
        # give a smooth line in a preview.
        share = np.linspace(1e-9, 1, 33)
        return self.of(share * float(self.counts.n_pos), share * float(self.counts.n_neg))

    def _facts(self) -> str:
        return f"n_pos={number(self.counts.n_pos)}, n_neg={number(self.counts.n_neg)}"


class RocCurve(CountCurve):
    """ROC curve: true-positive rate (y) against false-positive rate (x), with one point for each distinct score.

    Computed by `rocscope.roc`. All cases with the same score have one point. If they belong to both classes, the
    segment to this point is diagonal.
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
        """False-positive rate at each threshold, equal to `x`."""
        return self.x

    @property
    def tpr(self) -> Array:
        """True-positive rate at each threshold, equal to `y`."""
        return self.y

    @property
    def thresholds(self) -> Array:
        """Thresholds in decreasing order, equal to `threshold`. The first one is infinity."""
        return self.threshold

    @cached_property
    def auc(self) -> float:
        """Area under the curve: the share of concordant pairs of a positive and a negative; ties count one half."""
        return CallableFloat(self.area())

    def area(self, ties: Ties = "half") -> float:
        """Return the area under the curve. `rocscope.auc` describes `ties`."""
        return self.counts.pairs().auc(ties)

    def _headline(self) -> str:
        try:
            with collected_warnings():
                area = reach("auc_intervals").auc_interval(self.counts)
            return f"AUC {area.value:.4f}, {100 * area.level:g}% CI [{area.low:.3f}, {area.high:.3f}]"
        except RocscopeError:  # the counts do not determine the AUC or its interval
            return ""

    @property
    def gini(self) -> float:
        """Gini coefficient: 2·AUC − 1."""
        return CallableFloat(2 * self.auc - 1)

    @cached_property
    def ks(self) -> float:
        """Kolmogorov–Smirnov distance: the largest difference tpr − fpr at any threshold."""
        counts = self.counts.on_hull("largest difference of the rates")
        n_pos, n_neg = counts.n_pos, counts.n_neg
        return CallableFloat(max((tp / n_pos - fp / n_neg).max() for tp, fp in counts.points()))

    def hull(self) -> "RocCurve":
        """Return the upper convex hull of the curve. All its points are points of this curve.

        Examples
        --------
        >>> hull = roc([1, 1, 0, 0, 0, 1], [6, 5, 4, 3, 2, 1]).hull()
        >>> hull.x, hull.y, hull.threshold
        (array([0., 0., 1.]), array([0. , 0.66666667, 1. ]), array([inf, 5., 1.]))
        """
        return RocCurve(pool(self.counts))

    def best(self, context: Context | Campaign | None = None) -> OperatingPoint:
        """Return the point with the lowest expected cost.

        If several points are equally good, the point with the fewest positive predictions is returned. If all cases are
        predicted positive at this point, its threshold is −∞.

        Parameters
        ----------
        context : Context or Campaign, optional
            Costs and prevalence. By default, each error costs 1, so that the point has the highest accuracy.

        Examples
        --------
        >>> from rocscope import Context
        >>> curve = roc([1, 1, 0, 0, 0, 1], [6, 5, 4, 3, 2, 1])
        >>> curve.best().threshold, curve.best(Context(cost_fn=4)).threshold
        (5, -inf)
        """
        return best_point(self.counts, context)

    def iso_performance_line(self, context: Context | Campaign | None = None) -> Line:
        """Return the line through the best point on which all points have the same expected cost.

        Parameters
        ----------
        context : Context or Campaign, optional
            Costs and prevalence. By default, each error costs 1.

        Raises
        ------
        InputError
            If a campaign has a capacity or a fixed cost, because a context would ignore it.

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
        """Return the partial area under the curve.

        Pass exactly one of `max_fpr`, `min_tpr`, `fpr_range` and `tpr_range`, or pass both `max_fpr` and `min_tpr`.

        Parameters
        ----------
        max_fpr : float, optional
            Compute the area under the curve for fpr from 0 to `max_fpr`. With `min_tpr`, compute the two-way partial
            area: the area below the curve and above `min_tpr`, for fpr from 0 to `max_fpr`.
        min_tpr : float, optional
            Compute the area to the right of the curve for tpr from `min_tpr` to 1.
        fpr_range : (float, float), optional
            Compute the area under the curve for fpr between these limits.
        tpr_range : (float, float), optional
            Compute the area to the right of the curve for tpr between these limits.
        standardized : bool
            If True, rescale the area such that the diagonal has 1/2 and a perfect curve has 1 (McClish).

        Returns
        -------
        float
            The partial area.

        Raises
        ------
        InputError
            If no range or several ranges are given, or if a range is not within 0 and 1.

        References
        ----------
        McClish 1989, "Analyzing a portion of the ROC curve", Med. Decis. Making 9:190–195; Yang, Lu, Zhang & Tang 2017,
        "Two-way partial AUC and its properties", Stat. Methods Med. Res. 28:184–195.

        Examples
        --------
        >>> curve = roc([1, 0, 1, 0], [4, 3, 2, 1])
        >>> curve.partial_auc(max_fpr=0.5), curve.partial_auc(max_fpr=0.5, standardized=True)
        (0.25, 0.6666666666666666)
        >>> curve.partial_auc(max_fpr=0.5, min_tpr=0.25)  # a rectangle of 0.5 × 0.25
        0.125
        """
        self.counts.require_levels("partial AUC")
        parts = {
            "max_fpr": None if max_fpr is None else ("fpr", 0.0, max_fpr),
            "min_tpr": None if min_tpr is None else ("tpr", min_tpr, 1.0),
            "fpr_range": None if fpr_range is None else ("fpr", *_ends(fpr_range)),
            "tpr_range": None if tpr_range is None else ("tpr", *_ends(tpr_range)),
        }
        given = {name: part for name, part in parts.items() if part is not None}
        two_way = list(given) == ["max_fpr", "min_tpr"]
        if len(given) != 1 and not two_way:
            expected = f"one of {', '.join(parts)} or the pair max_fpr and min_tpr"
            raise InputError("partial_auc", expected=expected, got=", ".join(given) or "none of them")
        for axis, *ends in given.values():
            if len(ends) != 2 or not all(map(check.is_number, ends)):
                raise InputError("partial_auc", expected=f"numbers as limits of {axis}", got=check.shown(ends))
            low, high = ends
            if not 0 <= low < high <= 1:
                raise InputError("partial_auc", expected=f"0 ≤ low < high ≤ 1 for {axis}", got=f"{low} and {high}")
        axis, low, high = next(iter(given.values()))
        most = high - low
        if two_way:
            assert max_fpr is not None and min_tpr is not None
            # Start at the fpr at which the curve reaches the lower bound.
            start = float(interpolate(self.y, self.x, min_tpr))
            area = 0.0
            if start < max_fpr:
                area = _area_between(self.x, self.y, start, max_fpr) - min_tpr * (max_fpr - start)
            most, chance = max_fpr * (1 - min_tpr), max(max_fpr - min_tpr, 0) ** 2 / 2
        elif axis == "fpr":
            area = _area_between(self.x, self.y, low, high)
            chance = (high**2 - low**2) / 2
        else:
            area = most - _area_between(self.y, self.x, low, high)
            chance = most - (high**2 - low**2) / 2
        return (1 + (area - chance) / (most - chance)) / 2 if standardized else area

    def _facts(self) -> str:
        return f"auc={self.auc:.6g}{direction(self.auc)}, {super()._facts()}"


def _ends(part: Any) -> tuple[Any, ...]:
    return tuple(part) if isinstance(part, tuple | list) else (part,)


def _area_between(x: Array, y: Array, low: float, high: float) -> float:
    """Return the area between `low` and `high` under straight lines that join points with non-decreasing x."""
    inside = (x > low) & (x < high)
    start, stop = interpolate(x, y, low), -interpolate(-x[::-1], -y[::-1], -high)
    return float(np.trapezoid(np.concatenate([[start], y[inside], [stop]]), np.concatenate([[low], x[inside], [high]])))


@for_each_model
@contract
def roc(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> RocCurve:
    """Compute the ROC curve: true-positive rate against false-positive rate at each threshold.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one or more models
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters.

    Returns
    -------
    RocCurve or Curves
        The curve, with one point for each distinct score.
        If the data contain several models and `model` is None, the curves of all models.

    Raises
    ------
    InputError
        If the data are invalid; see `ThresholdCounts.from_scores`.
    OneClassError
        If the data contain only one class.

    See Also
    --------
    auc, hull, precision_recall, plot_roc, band

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


@contract
def auc(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    ties: Literal["half", "lower", "upper"] = "half",
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Compute the area under the ROC curve (AUC).

    The AUC is the probability that a random positive has a higher score than a random negative.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters.
    ties : {"half", "lower", "upper"}
        Value of a pair of a positive and a negative with equal scores. "half" is 1/2 (A_ROC2 of Vuk & Curk), "lower" is
        0 (A_ROC1) and "upper" is 1. For any way of breaking ties, the AUC is between "lower" and "upper".

    Returns
    -------
    float
        The AUC. For unweighted data it is correctly rounded. An AUC below 1/2 may mean that positives have the lower
        scores. Scores are never reversed automatically.

    Raises
    ------
    InputError
        If the data are invalid; see `ThresholdCounts.from_scores`.
    OneClassError
        If the data contain only one class.

    See Also
    --------
    roc, auc_interval, compare

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


class DetCurve(CountCurve):
    """DET curve: false-negative rate (y) against false-positive rate (x), drawn on normal-deviate axes.

    Computed by `rocscope.det`.
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
        """Equal error rate: the rate at which fpr equals fnr, by linear interpolation between two points."""
        for tp, fp in self.counts.require_levels("equal error rate").points():
            x, y = self._xy(tp, fp)
            if x[-1] < y[-1]:
                continue
            after = int(np.argmax(x >= y))
            (x0, x1), (y0, y1) = x[after - 1 : after + 1], y[after - 1 : after + 1]
            share = (y0 - x0) / ((y0 - x0) + (x1 - y1))
            return CallableFloat(x0 + share * (x1 - x0))
        raise AssertionError("every DET curve ends at fpr 1 and fnr 0")

    def _facts(self) -> str:
        return f"equal_error_rate={self.equal_error_rate:.6g}, {super()._facts()}"


@for_each_model
@contract
def det(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> DetCurve:
    """Compute the DET curve: false-negative rate against false-positive rate at each threshold.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one or more models
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters.

    Returns
    -------
    DetCurve or Curves
        The curve, with one point for each distinct score.
        If the data contain several models and `model` is None, the curves of all models.

    Raises
    ------
    InputError
        If the data are invalid; see `ThresholdCounts.from_scores`.
    OneClassError
        If the data contain only one class.

    See Also
    --------
    roc

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
    """Precision–recall curve: precision (y) against recall (x), with one point for each distinct score.

    Computed by `rocscope.precision_recall`. If no case is predicted positive, the precision is NaN. No threshold
    achieves points on the straight line between two points of the curve (Davis & Goadrich 2006). Therefore `at`
    interpolates the numbers of true and false positives, and `area` returns the average precision.
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
        """Average precision: the sum over thresholds of the increase in recall times the precision."""
        counts = self.counts.require_levels("average precision").moderate
        gained = ((np.diff(tp) * (tp[1:] / (tp + fp)[1:])).sum() for tp, fp in counts.points())
        return CallableFloat(sum(gained) / counts.n_pos)

    def area(self) -> float:
        """Return the average precision."""
        return self.average_precision

    def at(self, x: Any) -> Any:
        """Return the precision at each recall in `x`, by interpolation of the numbers of true and false positives.

        A random choice between the two neighbouring thresholds has this precision. If several points have the same
        recall, the precision of the first one is returned; it is the highest.

        Examples
        --------
        >>> curve = precision_recall([1, 0, 0, 1], [4, 3, 2, 1])
        >>> curve.at(0.5), curve.at(0.75)
        (1.0, 0.42857142857142855)
        """
        self.counts.require_levels(f"{self.title} between its points")
        check.refuse_percentages(x, "x")
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


@for_each_model
@contract
def precision_recall(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> PrecisionRecallCurve:
    """Compute the precision–recall curve: precision against recall at each threshold.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one or more models
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters.

    Returns
    -------
    PrecisionRecallCurve or Curves
        The curve, with one point for each distinct score.
        If the data contain several models and `model` is None, the curves of all models.

    Raises
    ------
    InputError
        If the data are invalid; see `ThresholdCounts.from_scores`.
    OneClassError
        If the data contain no positives.

    See Also
    --------
    roc, average_precision

    References
    ----------
    Davis & Goadrich 2006, "The relationship between precision-recall and ROC curves", ICML.

    Examples
    --------
    >>> curve = precision_recall([1, 0, 1], [3, 2, 1])
    >>> curve.x, curve.average_precision
    (array([0. , 0.5, 0.5, 1. ]), 0.8333333333333333)
    """
    points = points_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    return PrecisionRecallCurve(points)


class LiftChart(CountCurve):
    """Lift chart of Vuk & Curk: number of true positives (y) against the share of cases predicted positive (x).

    Computed by `rocscope.lift_chart`. The chart is an affine transformation of the ROC curve, so both have the same
    thresholds on the hull and the same best threshold.
    """

    kind = "lift_chart"
    title = "lift chart"
    x_name = "depth"
    y_name = "tp"

    def _xy(self, tp: Array, fp: Array) -> tuple[Array, Array]:
        return (tp + fp) / self.counts.n, tp

    def area(self, method: Literal["trapezoid", "step"] = "trapezoid") -> float:
        """Return the area under the chart, as a number of positives.

        Parameters
        ----------
        method : {"trapezoid", "step"}
            ``"trapezoid"`` joins the points by straight lines. The area is (P²/2 + P·N·AUC)/(P + N) for P positives and
            N negatives. ``"step"`` joins them by steps. The area is P·Pr(a random positive has a higher score than a
            random case).

        Raises
        ------
        InputError
            If `method` is unknown.

        References
        ----------
        Vuk & Curk 2006, eq. 5.3–5.5.

        Examples
        --------
        >>> chart = lift_chart([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2])
        >>> chart.area(), chart.area("step")
        (2.0, 1.6666666666666667)
        """
        counts = self.counts.moderate
        pairs, n_pos, n = counts.pairs(), counts.n_pos, counts.n
        if method == "trapezoid":
            positives = (n_pos * n_pos + 2 * pairs.concordant + pairs.tied) / (2 * n)
        elif method == "step":
            steps = (np.diff(tp) for tp, _ in counts.require_levels("area of steps").points())
            ordered_positives = n_pos * n_pos - sum(dot(pos, pos, n_pos * n_pos) for pos in steps)
            positives = (2 * pairs.concordant + ordered_positives) / (2 * n)
        else:
            raise InputError("method", expected="'trapezoid' or 'step'", got=repr(method))
        return positives * (self.counts.n_pos / n_pos)

    @property
    def random(self) -> Curve:
        """Chart of a random ranking: a straight line from 0 to P positives, with the area P/2."""
        return self._reference([0.0, 1.0], [0.0, 1.0])

    @property
    def perfect(self) -> Curve:
        """Chart of a perfect ranking, which contains all P positives at a depth of P/n.

        Its area is P − P²/(2n). The paper states P.

        Examples
        --------
        >>> chart = lift_chart([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2])
        >>> chart.random.area(), chart.area(), chart.perfect.area()
        (1.5, 2.0, 2.25)
        """
        return self._reference([0.0, self.counts.prevalence, 1.0], [0.0, 1.0, 1.0])

    def _reference(self, depth: list[float], share: list[float]) -> Curve:
        positives = self.counts.n_pos * np.array(share)
        return Curve(depth, positives, np.full(len(depth), np.nan))

    def hull(self) -> "LiftChart":
        """Return the upper convex hull of the chart. All its points are points of this chart.

        Examples
        --------
        >>> lift_chart([1, 0, 1, 0], [4, 3, 2, 1]).hull().y
        array([0, 1, 2, 2])
        """
        return LiftChart(pool(self.counts))

    def best(self, context: Context | Campaign | None = None) -> OperatingPoint:
        """Return the point with the lowest expected cost, as `RocCurve.best` does.

        Parameters
        ----------
        context : Context or Campaign, optional
            Costs. By default, each error costs 1, so that the point has the highest accuracy.

        Raises
        ------
        InputError
            If the context has a target prevalence, because a lift chart shows numbers of the sample.

        Examples
        --------
        At the threshold 0.6, both predicted positives are right, and one positive is missed:

        >>> lift_chart([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]).best()
        OperatingPoint(tp=2, fp=0, fn=1, tn=3, threshold=0.6)
        """
        return best_point(self.counts, _at_sample_prevalence(context))

    def iso_performance_line(self, context: Context | Campaign | None = None) -> Line:
        """Return the line through the best point on which all points have the same expected cost.

        Without a context, its slope is n/2 for n cases (eq. 5.7).

        Parameters
        ----------
        context : Context or Campaign, optional
            Costs. By default, each error costs 1.

        Raises
        ------
        InputError
            If the context has a target prevalence, because a lift chart shows numbers of the sample.

        Examples
        --------
        >>> lift_chart([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]).iso_performance_line()
        Line(x=0.3333333333333333, y=2, slope=3.0)
        """
        context = _at_sample_prevalence(context)
        point = self.best(context)
        return Line(point.depth, point.tp, context.lift_slope(self.counts.n))


def _at_sample_prevalence(context: Context | Campaign | None) -> Context:
    context = Context.given(context)
    if context.target_prevalence is not None:
        got = f"target_prevalence={context.target_prevalence}"
        hint = "omit it, or use roc(...).best(context)"
        raise InputError("lift chart", expected="a context without target_prevalence", got=got, hint=hint)
    return context


class GainCurve(CountCurve):
    """Gain curve: true-positive rate (y) against depth, the share of cases predicted positive (x).

    Computed by `rocscope.gain`. Other names are cumulative gains curve, CAP and lift chart.
    """

    kind = "gain"
    title = "gain curve"
    x_name = "depth"
    y_name = "tpr"
    needs = "positives"

    def _xy(self, tp: Array, fp: Array) -> tuple[Array, Array]:
        return (tp + fp) / self.counts.n, tp / self.counts.n_pos


class LiftCurve(CountCurve):
    """Lift curve: lift (y) against depth, the share of cases predicted positive (x).

    Computed by `rocscope.lift`. The lift is the precision divided by the prevalence. At a depth of 0, it is NaN.
    """

    kind = "lift"
    title = "lift curve"
    x_name = "depth"
    y_name = "lift"
    needs = "positives"

    def _xy(self, tp: Array, fp: Array) -> tuple[Array, Array]:
        depth = (tp + fp) / self.counts.n
        with np.errstate(invalid="ignore"):
            return depth, tp / self.counts.n_pos / depth

    def area(self) -> float:
        raise InputError("the area under a lift curve has no meaning", hint="use the area of gain or lift_chart")

    def at(self, x: Any) -> Any:
        """Return the lift at each depth in `x`: the interpolated true-positive rate divided by the depth.

        Examples
        --------
        >>> curve = lift([1, 0, 1, 0], [4, 3, 2, 1])
        >>> curve.at(0.25), curve.at(1)
        (2.0, 1.0)
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            return scalar(np.asarray(GainCurve(self.counts).at(x)) / np.asarray(x, dtype=np.float64))


@for_each_model
@contract
def lift_chart(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> LiftChart:
    """Compute the lift chart of Vuk & Curk: true positives against the share of cases predicted positive.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one or more models
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters.

    Returns
    -------
    LiftChart or Curves
        The chart, with one point for each distinct score.
        If the data contain several models and `model` is None, the curves of all models.

    Raises
    ------
    InputError
        If the data are invalid; see `ThresholdCounts.from_scores`.

    See Also
    --------
    gain, roc, plot_lift_chart, partial_lift_chart

    References
    ----------
    Vuk & Curk 2006, §5; Witten & Frank 2000.

    Examples
    --------
    >>> chart = lift_chart([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2])
    >>> chart.y, chart.at(0.5)
    (array([0, 1, 2, 2, 3, 3]), 2.0)
    """
    return LiftChart(points_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight))


@for_each_model
@contract
def gain(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> GainCurve:
    """Compute the gain curve: true-positive rate against the share of cases predicted positive.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one or more models
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters.

    Returns
    -------
    GainCurve or Curves
        The curve, with one point for each distinct score.
        If the data contain several models and `model` is None, the curves of all models.

    Raises
    ------
    InputError
        If the data are invalid; see `ThresholdCounts.from_scores`.
    OneClassError
        If the data contain no positives.

    See Also
    --------
    lift, lift_chart, profit

    Examples
    --------
    >>> gain([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]).at(1 / 3)
    0.6666666666666666
    """
    require_kinds("gain", y_true)
    return GainCurve(points_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight))


@for_each_model
@contract
def lift(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> LiftCurve:
    """Compute the lift curve: lift against the share of cases predicted positive.

    The lift is the precision divided by the prevalence.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one or more models
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters.

    Returns
    -------
    LiftCurve or Curves
        The curve, with one point for each distinct score.
        If the data contain several models and `model` is None, the curves of all models.

    Raises
    ------
    InputError
        If the data are invalid; see `ThresholdCounts.from_scores`.
    OneClassError
        If the data contain no positives.

    See Also
    --------
    gain, lift_chart

    References
    ----------
    COMP9417 note, §2.

    Examples
    --------
    >>> lift([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]).at(1 / 3)
    2.0
    """
    require_kinds("lift", y_true)
    return LiftCurve(points_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight))
