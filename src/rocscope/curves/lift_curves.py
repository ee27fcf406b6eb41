"""Lift chart and its relatives: what is found among the share of cases with the highest scores."""

from typing import Any, Literal

import numpy as np

from rocscope._base.arrays import Array
from rocscope.core.context import Context
from rocscope.core.counts import dot
from rocscope.core.point import OperatingPoint
from rocscope.curves.campaign import Campaign
from rocscope.curves.curve import CountCurve, scalar
from rocscope.errors import InputError
from rocscope.geometry import Line, best_point, pool
from rocscope.sample import points_of


class LiftChart(CountCurve):
    """Number of true positives (y) against the share of positive predictions (x), as in the papers.

    Made by `rocscope.lift_chart`. It is an affine image of the ROC curve and has the same hull and best points.
    """

    kind = "lift_chart"
    title = "lift chart"
    x_name = "depth"
    y_name = "tp"

    def _xy(self, tp: Array, fp: Array) -> tuple[Array, Array]:
        return (tp + fp) / self.counts.n, tp

    def area(self, method: Literal["trapezoid", "step"] = "trapezoid") -> float:
        """Return the area under the chart, in positives.

        Parameters
        ----------
        method : {"trapezoid", "step"}
            ``"trapezoid"`` joins the points with straight lines, (P²/2 + P·N·AUC)/(P + N); ``"step"`` is
            P·Pr(a random positive has a higher score than a random example).

        References
        ----------
        Vuk & Curk 2006, eq. 5.3–5.5.

        Examples
        --------
        >>> chart = lift_chart([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2])
        >>> chart.area(), chart.area("step")
        (2.0, 1.6666666666666667)
        """
        pairs, n_pos, n = self.counts.pairs(), self.counts.n_pos, self.counts.n
        if method == "trapezoid":
            return (n_pos * n_pos + 2 * pairs.concordant + pairs.tied) / (2 * n)
        if method == "step":
            steps = (np.diff(tp) for tp, _ in self.counts.require_levels("area of steps").points())
            ordered_positives = n_pos * n_pos - sum(dot(pos, pos, n_pos * n_pos) for pos in steps)
            return (2 * pairs.concordant + ordered_positives) / (2 * n)
        raise InputError("method", expected="'trapezoid' or 'step'", got=repr(method))

    def hull(self) -> "LiftChart":
        """Return the upper convex hull; its points are vertices of this chart."""
        return LiftChart(pool(self.counts))

    def best(self, context: Context | Campaign | None = None) -> OperatingPoint:
        """Return the point of lowest cost, or of highest accuracy without a context; the same as on the ROC curve.

        Raises
        ------
        InputError
            If the context has another prevalence than the sample: a lift chart shows counts of the sample.
        """
        return best_point(self.counts, _at_sample_prevalence(context))

    def iso_performance_line(self, context: Context | Campaign | None = None) -> Line:
        """Return the line of equal cost through the best point (eq. 5.7: slope n/2 for accuracy).

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
        raise InputError(
            "lift chart",
            expected="a context at the prevalence of the sample",
            got=f"target_prevalence={context.target_prevalence}",
            hint="use roc(...).best(context), or gain and lift, which do not depend on it in this way",
        )
    return context


class GainCurve(CountCurve):
    """Share of all positives that are found (y) against the share of cases contacted (x).

    Made by `rocscope.gain`. Also called cumulative gains, CAP, or lift chart.
    """

    kind = "gain"
    title = "gain curve"
    x_name = "depth"
    y_name = "tpr"
    needs = "positives"

    def _xy(self, tp: Array, fp: Array) -> tuple[Array, Array]:
        return (tp + fp) / self.counts.n, tp / self.counts.n_pos


class LiftCurve(CountCurve):
    """Lift factor (y) against the share of cases contacted (x); NaN where nobody is.

    Made by `rocscope.lift`.
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
        raise InputError("a lift curve has no area that means anything", hint="take that of gain or lift_chart")

    def at(self, x: Any) -> Any:
        """Return the lift at a depth, as the ratio of interpolated gain to depth."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return scalar(np.asarray(GainCurve(self.counts).at(x)) / np.asarray(x, dtype=np.float64))


def lift_chart(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> LiftChart:
    """Lift chart in the papers' sense: true positives against the rate of positive predictions.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        In any form; see `rocscope.sample`.

    Raises
    ------
    InputError
        See `ThresholdCounts.from_scores`.

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


def gain(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> GainCurve:
    """Gain curve: share of the positives found against the share of cases contacted.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        In any form; see `rocscope.sample`.

    Raises
    ------
    InputError
        See `ThresholdCounts.from_scores`; OneClassError without positives.

    Examples
    --------
    >>> gain([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]).at(1 / 3)
    0.6666666666666666
    """
    return GainCurve(points_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight))


def lift(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> LiftCurve:
    """Lift curve: how many times richer in positives the contacted cases are than all cases.

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
    COMP9417 note, §2.

    Examples
    --------
    >>> lift([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]).at(1 / 3)
    2.0
    """
    return LiftCurve(points_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight))
