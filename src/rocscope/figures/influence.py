"""Performance measures and their influence functions.

The influence of a row is the change of a measure, times the number of rows, that this row causes to first order. The
variance of a measure is the mean squared influence divided by the number of rows (Hampel 1974, JASA 69). A `Figure` is
a named measure with its direction and its required input. A `Smooth` is a measure with an influence function. Its
`linearise` returns a `Linear`, which has the value and the influence of each row. `inference.influence_estimates`
computes intervals from these.

The file contains, in this order: scales for intervals; intervals of small tables; `Linear` and `Smooth`; `Figure`;
measures of the ranking, such as the AUC; and measures of probabilities, such as the Brier score.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import exp, inf, log
from typing import Any, Literal

import numpy as np

from rocscope._base import special, validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.core import ThresholdCounts
from rocscope.errors import InputError
from rocscope.figures.logistic import recalibration

_LARGEST = 700.0  # whose exponential is a float
SPARE = 0.5
"""Number that is added to each of the four counts of a confusion matrix (Haldane 1956; Anscombe 1956)."""


@dataclass(frozen=True)
class Scale:
    """Range of the values of a measure, and an unbounded scale on which its interval is symmetric.

    Parameters
    ----------
    low, high : float
        Smallest and largest possible value.
    name : str
        Name of the scale for the description of an interval; empty for the plain and the logit scale.
    to, back : functions
        Transformation to the unbounded scale, and its inverse.
    slope : function
        Derivative of `to`.

    Examples
    --------
    >>> SHARE.back(SHARE.to(0.5)), SIGNED.back(-1e9), RATIO.slope(2.0)
    (0.5, -1.0, 0.5)
    """

    low: float
    high: float
    name: str
    to: Callable[[float], float] = field(repr=False)
    back: Callable[[float], float] = field(repr=False)
    slope: Callable[[float], float] = field(repr=False)

    def around(self, value: float, reach: float) -> tuple[float, float]:
        """Return the interval that is symmetric on the unbounded scale and extends by about `reach` to each side."""
        centre, reach = self.to(value), reach * self.slope(value)
        return self.back(centre - reach), self.back(centre + reach)


def between(low: float, high: float) -> Scale:
    """Return the logit scale for values from `low` to `high`."""
    width = high - low

    def to(x: float) -> float:
        return log((x - low) / (high - x))

    def back(x: float) -> float:
        return low + width * float(special.expit(x))

    return Scale(low, high, "", to, back, lambda x: width / ((x - low) * (high - x)))


PLAIN = Scale(-inf, inf, "", lambda x: x, lambda x: x, lambda _: 1.0)
SHARE, SIGNED = between(0, 1), between(-1, 1)
RATIO = Scale(0, inf, "log scale", log, lambda x: exp(min(x, _LARGEST)), lambda x: 1 / x)
UP_TO_ONE = Scale(
    -inf,
    1,
    "log scale of 1 − value",
    lambda x: -log(1 - x),
    lambda x: 1 - exp(min(-x, _LARGEST)),
    lambda x: 1 / (1 - x),
)


@dataclass(frozen=True)
class TwoRates:
    """Metric that compares the tpr with the fpr, such as Youden's J or a likelihood ratio.

    The metric is back(to(tpr) − to(fpr)). If `missed` is True, it is back(to(1 − tpr) − to(1 − fpr)).

    Examples
    --------
    >>> youden = TwoRates(np.positive, np.positive)
    >>> low, high = youden.interval(np.array([8.0, 5.0, 2.0, 85.0]), 1.96)
    >>> round(low, 3), round(high, 3)
    (0.431, 0.9)
    """

    to: Callable[[Any], Any]
    back: Callable[[Any], Any]
    missed: bool = False

    def interval(self, cells: Array, quantile: float) -> tuple[float, float]:
        """Return the MOVER interval of the metric, computed from Jeffreys intervals of tpr and fpr.

        `cells` has the counts tp, fp, fn and tn. The estimates of tpr and fpr add 0.5 to each count.

        References
        ----------
        Donner & Zou 2012, Stat. Methods Med. Res. 21:347–359 (ratios); Brown, Cai & DasGupta 2001 (Jeffreys).
        """
        counted, rest = (cells[2:], cells[:2]) if self.missed else (cells[:2], cells[2:])
        tail = float(special.ndtr(-quantile))
        low = np.where(counted > 0, special.betaincinv(counted + SPARE, rest + SPARE, tail), 0.0)
        high = np.where(rest > 0, special.betaincinv(counted + SPARE, rest + SPARE, 1 - tail), 1.0)
        with np.errstate(divide="ignore"):
            at, low, high = (self.to(x) for x in ((counted + SPARE) / (counted + rest + 2 * SPARE), low, high))
        below = np.hypot(at[0] - low[0], high[1] - at[1])
        above = np.hypot(high[0] - at[0], at[1] - low[1])
        with np.errstate(over="ignore"):
            return float(self.back(at[0] - at[1] - below)), float(self.back(at[0] - at[1] + above))


@dataclass(frozen=True)
class Smoothed:
    """Metric of a confusion matrix with 0.5 added to each of the four counts.

    Parameters
    ----------
    cells : array of 4
        Counts tp, fp, fn and tn as shares of all rows.
    value_and_error : function
        Function of the number of rows that returns the value and its standard error.
    rates : TwoRates, optional
        The same metric as a comparison of tpr and fpr, for independent rows. Its interval is more accurate.
    """

    cells: Array
    value_and_error: Callable[[float], tuple[float, float]]
    rates: TwoRates | None = None

    @property
    def method(self) -> str:
        """Name of the method of the interval."""
        return "MOVER of Jeffreys intervals" if self.rates else "half a row added to each count"

    def interval(self, rows: float, quantile: float, scale: Scale) -> tuple[float, float]:
        """Return the interval for a number of rows.

        `quantile` is the normal quantile of the confidence level, such as 1.96.
        """
        if self.rates is not None:
            return self.rates.interval(self.cells * rows, quantile)
        value, error = self.value_and_error(rows)
        return scale.around(value, quantile * error)


@dataclass(frozen=True)
class Place:
    """Position on a curve at which a statistic is read off: an fpr, a tpr or a depth.

    Parameters
    ----------
    of_pos, of_neg : array of k
        Influence of a positive and of a negative on the position, at each of the k distinct scores.
    shifted : function
        Function of a distance that returns the statistic at this distance from the position.
    """

    of_pos: Array
    of_neg: Array
    shifted: Callable[[float], float] = field(repr=False)

    def swapped(self) -> "Place":
        """Return the position for the curve with exchanged classes and reversed scores."""
        return replace(self, of_pos=self.of_neg[::-1], of_neg=self.of_pos[::-1])

    def read(self, function: Callable[[float], float]) -> "Place":
        """Return the same position for a transformed statistic."""
        return replace(self, shifted=lambda by: function(self.shifted(by)))


@dataclass(frozen=True)
class Linear:
    """Value of a statistic with the influence of each row.

    Parameters
    ----------
    value : float
        Value of the statistic.
    of_pos, of_neg : array of k
        Influence of a positive and of a negative at each of the k distinct scores. The mean over all rows is 0.
    trials : pair of arrays of k, optional
        For a share of cases: 1 at the distinct scores whose positives (or negatives) are in the denominator, and 0 at
        all other scores.
    smoothed : Smoothed, optional
        The same statistic with 0.5 added to each count, if it is a metric of a confusion matrix.
    exact : bool
        True if the share has a binomial distribution for unweighted rows. False if its threshold depends on the rows.
    place : Place, optional
        Position on the curve, if the value is read off a curve.
    fixed : bool
        True if the value is a share of a fixed number of rows with the highest scores. The variance is then smaller
        than for independent rows.
    per : float
        Divisor of the share, such as the depth for a lift.
    bias : float
        Bias of the value, times the number of rows.
    reason : str
        Reason why the value is undefined or infinite; empty otherwise.
    """

    value: float
    of_pos: Array
    of_neg: Array
    trials: tuple[Array, Array] | None = None
    smoothed: Smoothed | None = field(default=None, repr=False)
    exact: bool = True
    place: Place | None = None
    fixed: bool = False
    per: float = 1.0
    bias: float = 0.0
    reason: str = ""


@dataclass(frozen=True)
class Smooth:
    """Statistic of one model with a variance in closed form.

    Call it with ThresholdCounts to get its value. Pass it to functions that accept a function of counts, such as
    `bootstrap`.

    Parameters
    ----------
    name : str
        Name of the statistic.
    linearise : function of ThresholdCounts that returns a Linear
        Function that computes the value and the influence of each row.
    scale : Scale
        Range of possible values, and the scale on which the interval is symmetric.
    tail : pair of float
        Share of the positives and share of the negatives that determine the position at which the statistic is read
        off. For example, a position at a tpr of 0.9 is determined by 0.1 of the positives. Small samples may have too
        few of these rows for an interval.
    of_ranks : bool
        True if the statistic is a mean of ranks. A few rows with very low ranks can then reduce the value strongly.
    of_pairs : bool
        True if the statistic compares pairs of rows. Pairs of rows from the same group then cause a bias.
    is_area : bool
        True for the AUC, whose intervals, comparisons and replicates have formulas of their own.

    Examples
    --------
    >>> from rocscope.figures.influence import brier
    >>> brier()(ThresholdCounts([0.9, 0.2], [1, 0], [0, 1]))
    0.025...
    """

    name: str
    linearise: Callable[[ThresholdCounts], Linear] = field(repr=False)
    scale: Scale = SHARE
    tail: tuple[float, float] = (1.0, 1.0)
    of_ranks: bool = False
    of_pairs: bool = False
    is_area: bool = False

    def __call__(self, counts: ThresholdCounts) -> float:
        return self.linearise(counts.moderate).value

    @property
    def __name__(self) -> str:  # how a comparison names the quantity
        return self.name


@dataclass(frozen=True)
class CountShares:
    """Counts as shares of all rows, and cumulative rates from the highest score down.

    `pos` and `neg` are the shares of positives and negatives with each score among all rows. `tpr`, `fpr` and `depth`
    are the rates if the threshold equals the score.
    """

    counts: ThresholdCounts
    pos: Array
    neg: Array
    prevalence: float
    tpr: Array
    fpr: Array
    depth: Array

    @classmethod
    def of(cls, counts: ThresholdCounts) -> "CountShares":
        """Compute the shares and rates of ThresholdCounts."""
        counts.require_both_classes("a statistic of both classes")
        n = float(counts.n)
        tpr, fpr = counts.tp / float(counts.n_pos), counts.fp / float(counts.n_neg)
        depth = (counts.tp + counts.fp) / n
        return cls(counts, counts.pos / n, counts.neg / n, float(counts.n_pos) / n, tpr, fpr, depth)

    @property
    def tpr_before(self) -> Array:
        """True-positive rate of the rows with higher scores."""
        return self.tpr - self.pos / self.prevalence

    @property
    def fpr_before(self) -> Array:
        """False-positive rate of the rows with higher scores."""
        return self.fpr - self.neg / (1 - self.prevalence)

    @property
    def depth_before(self) -> Array:
        """Share of rows with higher scores."""
        return self.depth - self.pos - self.neg

    def linear(self, value: Any, of_pos: Any, of_neg: Any) -> Linear:
        """Return a Linear. The influences are shifted to have the mean 0, which removes rounding errors."""
        k = self.pos.size
        of_pos, of_neg = (np.broadcast_to(np.asarray(side, float), (k,)) for side in (of_pos, of_neg))
        mean = float(self.pos @ of_pos + self.neg @ of_neg)
        return Linear(float(value), of_pos - mean, of_neg - mean)


def swapped(statistic: Callable[[ThresholdCounts], Linear]) -> Callable[[ThresholdCounts], Linear]:
    """Return the function that computes a statistic after exchanging the classes and reversing the scores."""

    def linearise(counts: ThresholdCounts) -> Linear:
        threshold = -np.arange(len(counts), dtype=np.float64)
        turned = statistic(ThresholdCounts(threshold, counts.neg[::-1], counts.pos[::-1]))
        of_neg, of_pos = turned.of_pos[::-1], turned.of_neg[::-1]
        trials = None if turned.trials is None else (turned.trials[1][::-1], turned.trials[0][::-1])
        place = None if turned.place is None else turned.place.swapped()
        return replace(turned, of_pos=of_pos, of_neg=of_neg, trials=trials, place=place)

    return linearise


def combined(parts: list[Linear], function: Callable[..., float], gradient: list[float]) -> Linear:
    """Return a smooth function of several statistics of the same counts. The influences follow from the chain rule."""
    return Linear(
        float(function(*(part.value for part in parts))),
        np.sum([g * part.of_pos for g, part in zip(gradient, parts, strict=True)], axis=0),
        np.sum([g * part.of_neg for g, part in zip(gradient, parts, strict=True)], axis=0),
    )


Needs = Literal["cells", "ranks", "probabilities", "costs"]
Unit = Literal["share", "ratio", "cases", "money", "number"]
FourNumbers = tuple[Any, Any, Any, Any]
"""One number for each of tp, fp, fn and tn."""

LinearForm = tuple[Any, Any, Any]
"""A linear function of tpr and fpr: the coefficients of tpr and of fpr, and the constant term."""

_WORDS = {
    "cells": "a metric of one threshold",
    "ranks": "a metric of the whole ranking",
    "probabilities": "a metric of probabilities",
    "costs": "a metric that needs the costs in a Context",
}


@dataclass(frozen=True)
class Figure:
    """Named performance measure of a classifier.

    Attributes
    ----------
    name, title : str
        Name in code, and name in tables.
    needs : {"cells", "ranks", "probabilities", "costs"}
        Required input. "cells" are the counts tp, fp, fn and tn at a threshold. "ranks" is the order of the scores.
        "probabilities" are calibrated scores. "costs" are the four counts and their costs.
    sign : {1, -1, 0}
        1 if large values are good, −1 if small values are good, 0 if neither is good.
    unit : {"share", "ratio", "cases", "money", "number"}
        Unit of the value.
    ideal : float, optional
        Value of a perfect model, if it is the same for all data.
    aliases : tuple of str
        Other names, such as the names in scikit-learn, pROC and textbooks. Case, underscores and hyphens are ignored.
    cells : function of tp, fp, fn and tn, optional
        Function that computes the value at a threshold, for numbers and arrays.
    counts : function of ThresholdCounts, optional
        Function that computes the value for a whole ranking.
    smooth : function without arguments that returns a Smooth, optional
        Function that returns the measure with its influence function, from which intervals are computed.
    parts : two tuples of four numbers, optional
        Weights of tp, fp, fn and tn in the numerator and in the denominator, if the value is a ratio of two weighted
        sums. For precision, tp/(tp + fp), they are (1, 0, 0, 0) and (1, 1, 0, 0).
    lines : function from a prevalence to two tuples of three numbers, optional
        Function that is set if the value is a ratio of two linear functions of tpr and fpr. It returns three numbers
        for the numerator and three for the denominator: coefficient of tpr, coefficient of fpr, and constant term.
    mean_of_rows : bool
        True if the value is a mean over rows, such as the accuracy.
    scale : Scale, optional
        Scale of the interval of a metric at a threshold. By default, the scale for the unit.
    rates : TwoRates, optional
        The metric as a comparison of tpr and fpr, if it is one.
    """

    name: str
    title: str
    needs: Needs
    sign: int = 1
    unit: Unit = "share"
    ideal: float | None = None
    aliases: tuple[str, ...] = ()
    cells: Callable[..., Any] | None = None
    counts: Callable[[ThresholdCounts], float] | None = None
    smooth: Callable[[], Smooth] | None = None
    parts: tuple[FourNumbers, FourNumbers] | None = None
    lines: Callable[[Fraction], tuple[LinearForm, LinearForm]] | None = None
    mean_of_rows: bool = False
    scale: Scale | None = None
    rates: TwoRates | None = None

    @property
    def is_area(self) -> bool:
        """True for the AUC, whose intervals, comparisons and replicates have formulas of their own."""
        return self.smooth is not None and self.smooth().is_area

    @property
    def words(self) -> str:
        """Name and kind of the measure, for error messages.

        Examples
        --------
        >>> Figure("auc", "AUC", "ranks").words
        "'auc' (a metric of the whole ranking)"
        """
        return f"{self.name!r} ({_WORDS[self.needs]})"

    def value(self, counts: ThresholdCounts) -> float:
        """Return the value of the measure for counts of all distinct scores."""
        if self.counts is None and self.smooth is not None:
            counts.require_both_classes(self.title)
            return self.smooth()(counts)
        assert self.counts is not None
        return float(self.counts(counts))

    def at_mix(self, share: Fraction) -> tuple[LinearForm, LinearForm] | None:
        """Return the numerator and the denominator of the measure at a prevalence, as linear functions of tpr and fpr.

        Each linear function is a tuple: coefficient of tpr, coefficient of fpr, and constant term. Return None if the
        measure is not a ratio of linear functions.

        Notes
        -----
        At the prevalence π, the counts per case are tp = π·tpr, fn = π·(1 − tpr), fp = (1 − π)·fpr and
        tn = (1 − π)·(1 − fpr). With weights w, the weighted sum of the four counts is therefore
        π·(w_tp − w_fn)·tpr + (1 − π)·(w_fp − w_tn)·fpr + π·w_fn + (1 − π)·w_tn.

        Examples
        --------
        Precision has the numerator tp = π·tpr and the denominator tp + fp = π·tpr + (1 − π)·fpr:

        >>> precision = Figure("precision", "precision", "cells", parts=((1, 0, 0, 0), (1, 1, 0, 0)))
        >>> precision.at_mix(Fraction(1, 4))
        ((Fraction(1, 4), 0, 0), (Fraction(1, 4), Fraction(3, 4), 0))
        """
        if self.lines is not None:
            return self.lines(share)
        return None if self.parts is None else (line(self.parts[0], share), line(self.parts[1], share))


def line(weights: FourNumbers, share: Any) -> LinearForm:
    """Express a weighted sum of tp, fp, fn and tn per case as a linear function of tpr and fpr, at a prevalence.

    Examples
    --------
    If half of the cases are positive, the share of correct predictions is 0.5·tpr − 0.5·fpr + 0.5:

    >>> line((1, 0, 0, 1), 0.5)
    (0.5, -0.5, 0.5)
    """
    tp, fp, fn, tn = weights
    pair = share * (tp - fn), (1 - share) * (fp - tn), share * fn + (1 - share) * tn
    # An exact 0, so that a term that is absent is also absent from exact fractions and their texts.
    return tuple(value if value else 0 for value in pair)  # pyright: ignore[reportReturnType]


def area() -> Smooth:
    """Return the AUC as a statistic: the area under the ROC curve, in which ties count one half.

    Returns
    -------
    Smooth
        Statistic to pass to `estimate_of` or ``compare(statistic=…)``.

    See Also
    --------
    partial_area, estimate_of, auc

    Examples
    --------
    >>> area()(ThresholdCounts([3, 2, 1], [1, 1, 0], [0, 1, 1]))
    0.875
    """
    return Smooth("AUC", lambda counts: _partial(counts, 1.0), of_ranks=True, of_pairs=True, is_area=True)


@contract
def partial_area(*, max_fpr: float | None = None, min_tpr: float | None = None, standardized: bool = False) -> Smooth:
    """Return the partial AUC as a statistic: the area under a part of the ROC curve.

    Parameters
    ----------
    max_fpr, min_tpr : float
        Largest fpr or smallest tpr of the part. Pass exactly one of the two.
    standardized : bool
        If True, rescale the area by McClish's formula. The diagonal then has the value 1/2, and a perfect curve 1.

    Returns
    -------
    Smooth
        Statistic to pass to `estimate_of` or ``compare(statistic=…)``.

    Raises
    ------
    InputError
        If both or none of `max_fpr` and `min_tpr` are passed, or the value is not between 0 and 1.

    See Also
    --------
    area, estimate_of

    Examples
    --------
    >>> partial_area(max_fpr=0.5)(ThresholdCounts([4, 3, 2, 1], [1, 0, 1, 0], [0, 1, 0, 1]))
    0.25
    """
    if (max_fpr is None) == (min_tpr is None):
        got = "neither" if max_fpr is None else "both"
        raise InputError("partial_area", expected="one of max_fpr and min_tpr", got=got)
    part = check.check_share(max_fpr, "max_fpr") if max_fpr is not None else 1 - check.check_share(min_tpr, "min_tpr")
    chance = part**2 / 2

    def upto(counts: ThresholdCounts) -> Linear:
        linear = _partial(counts, part)
        if not standardized:
            return linear
        # McClish (1989): (1 + (area − chance)/(largest − chance))/2.
        scale = 2 * (part - chance)
        value = (1 + (linear.value - chance) / (part - chance)) / 2
        return Linear(value, linear.of_pos / scale, linear.of_neg / scale, bias=linear.bias / scale)

    where = f"fpr ≤ {max_fpr:g}" if max_fpr is not None else f"tpr ≥ {min_tpr:g}"
    name = f"{'standardized ' * bool(standardized)}partial AUC, {where}"
    least = (1 - chance / (part - chance)) / 2 if standardized else 0.0
    scale = between(least, 1.0 if standardized else part)
    if max_fpr is not None:
        return Smooth(name, upto, scale, (1, part), of_ranks=True, of_pairs=True)
    return Smooth(name, swapped(upto), scale, (part, 1), of_ranks=True, of_pairs=True)


def _partial(counts: ThresholdCounts, part: float) -> Linear:
    """Return the area under the ROC curve from fpr 0 to fpr `part`, with the influence of each row.

    Influences of positives have a closed form. Influences of negatives are computed by the jackknife. Their first-order
    approximation treats the tpr at the end of the part as fixed and is too small if few negatives are in the part. With
    the approximation, intervals cover 78 to 88%. With the jackknife, they cover 93 to 97%.
    """
    s = CountShares.of(counts)
    low, high, rise = s.fpr_before, s.fpr, s.tpr - s.tpr_before
    width = high - low
    middle = s.tpr_before + rise / 2
    reach = np.clip(part - low, 0, width)  # what of a level's own fpr is taken in
    inside = np.divide(reach, width, out=(part >= high).astype(float), where=width > 0)
    of_pos = np.clip(part - high, 0, None) + inside * reach / 2
    value = float(s.pos @ of_pos) / s.prevalence

    area = np.cumsum(width * middle) - width * middle  # above each level

    def upto(end: Array, level: Any, width: Array) -> Array:
        """Return the area up to the fpr `end`, which lies within the step of a distinct score with this width."""
        reach = np.clip(end - low[level], 0, width)
        inside = np.divide(reach, width, out=np.zeros_like(reach), where=width > 0)
        return area[level] + reach * (s.tpr_before[level] + inside * rise[level] / 2)

    # The share of one negative; of weighted ones the mean.
    rows = counts.n_neg if counts.neg.dtype.kind in "iu" else np.count_nonzero(width)
    one = np.minimum(1 / rows, width)
    # Without a negative of a level, the part has a share `one` less of the fpr. If the negative is above its end, the
    # levels below it move up, and the area lacks the tpr that it stood for.
    end = part * (1 - one)
    level, level_below = (np.minimum(np.searchsorted(high, x), high.size - 1) for x in (end, end + one))
    if_above = upto(end + one, level_below, width[level_below]) - one * middle
    if_below = upto(end, level, width[level])
    if_at_end = upto(end, slice(None), width - one)
    without = np.where(high <= end + one, if_above, np.where(low >= end, if_below, if_at_end))
    of_neg = np.divide(value * (1 - one) - without, one, out=np.zeros_like(one), where=one > 0)
    bias = -float(s.neg @ of_neg) / (1 - s.prevalence) * float(counts.n)
    linear = s.linear(value, (of_pos - value) / s.prevalence, of_neg / (1 - s.prevalence))
    return replace(linear, bias=bias)


def _at(x: float, along: Array, of: Array) -> float:
    """Return the height at x of a piecewise linear curve that starts at the origin."""
    return float(np.interp(x, np.concatenate(([0.0], along)), np.concatenate(([0.0], of))))


@contract
def tpr_at(fpr: float) -> Smooth:
    """Return the true-positive rate at a given fpr as a statistic, interpolated on the ROC curve.

    Returns
    -------
    Smooth
        Statistic to pass to `estimate_of` or ``compare(statistic=…)``.

    Raises
    ------
    InputError
        If `fpr` is not between 0 and 1.

    See Also
    --------
    fpr_at, estimate_of, rate_intervals

    Notes
    -----
    The variance depends on the slope of the ROC curve at the fpr. The slope is estimated from the curve near this fpr.
    At a kink, the interval of `estimate_of` also contains the curve between the confidence limits of the fpr.

    Examples
    --------
    >>> tpr_at(0.25)(ThresholdCounts([4, 3, 2, 1], [1, 0, 1, 0], [0, 1, 0, 1]))
    0.5
    """
    check.check_share(fpr, "fpr")

    def linearise(counts: ThresholdCounts) -> Linear:
        s = CountShares.of(counts)
        value, slope = _height_and_slope(fpr, s.fpr, s.tpr, float(counts.n_neg))
        above = _inside(s.fpr_before, s.fpr, fpr)
        # Bahadur's representation: negatives move the threshold, and so the tpr by the slope of the curve there.
        of_pos = (above - value) / s.prevalence
        fpr_of_neg = (above - fpr) / (1 - s.prevalence)
        everyone, no_one = np.ones(above.size), np.zeros(above.size)
        place = Place(no_one, fpr_of_neg, lambda by: _at(fpr + by, s.fpr, s.tpr))
        linear = s.linear(value, of_pos, -slope * fpr_of_neg)
        return replace(linear, trials=(everyone, no_one), exact=False, place=place)

    return Smooth(f"tpr at fpr {fpr:g}", linearise, tail=(1, min(fpr, 1 - fpr)))


@contract
def fpr_at(tpr: float) -> Smooth:
    """Return the false-positive rate at a given tpr as a statistic, interpolated on the ROC curve.

    Returns
    -------
    Smooth
        Statistic to pass to `estimate_of` or ``compare(statistic=…)``.

    Raises
    ------
    InputError
        If `tpr` is not between 0 and 1.

    See Also
    --------
    tpr_at, estimate_of, rate_intervals

    Examples
    --------
    >>> fpr_at(0.75)(ThresholdCounts([4, 3, 2, 1], [1, 0, 1, 0], [0, 1, 0, 1]))
    0.5
    """
    turned = swapped(tpr_at(1 - check.check_share(tpr, "tpr")).linearise)

    def linearise(counts: ThresholdCounts) -> Linear:
        linear = turned(counts)
        place = None if linear.place is None else linear.place.read(lambda value: 1 - value)
        return replace(linear, value=1 - linear.value, of_pos=-linear.of_pos, of_neg=-linear.of_neg, place=place)

    return Smooth(f"fpr at tpr {tpr:g}", linearise, tail=(min(tpr, 1 - tpr), 1))


def _inside(before: Array, after: Array, part: float) -> Array:
    """Return, for each distinct score, the share of its step on an axis (from `before` to `after`) below `part`."""
    width = after - before
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(width > 0, np.clip((part - before) / width, 0, 1), (after <= part).astype(float))


def _height_and_slope(x: float, along: Array, of: Array, n: float) -> tuple[float, float]:
    """Return the height of a curve at x, and its slope averaged over the sampling error of x with n rows.

    The slope is the slope of a line fitted to the curve near x. Points are weighted by the normal density of the
    sampling error.
    """
    z = np.linspace(-3, 3, 61)
    weight = np.exp(-(z**2) / 2)
    places = x + z * np.sqrt(x * (1 - x) / n)
    inside = (places > 0) & (places < 1)
    places, weight = places[inside], weight[inside] / weight[inside].sum()
    heights = np.interp(places, np.concatenate(([0.0], along)), np.concatenate(([0.0], of)))
    away = places - weight @ places
    return _at(x, along, of), float((weight * away) @ heights / ((weight * away) @ away))


@contract
def gain_at(depth: float) -> Smooth:
    """Return the gain as a statistic: the true-positive rate at a depth.

    The depth is the share of rows that are predicted positive, starting with the highest scores.

    Returns
    -------
    Smooth
        Statistic to pass to `estimate_of` or ``compare(statistic=…)``.

    Raises
    ------
    InputError
        If `depth` is not between 0 and 1.

    See Also
    --------
    lift_at, precision_at, estimate_of

    Examples
    --------
    >>> gain_at(0.5)(ThresholdCounts([4, 3, 2, 1], [1, 0, 1, 0], [0, 1, 0, 1]))
    0.5
    """
    check.check_share(depth, "depth")

    def linearise(counts: ThresholdCounts) -> Linear:
        s = CountShares.of(counts)
        value, slope = _height_and_slope(depth, s.depth, s.tpr, float(counts.n))
        above = _inside(s.depth_before, s.depth, depth)
        away = above - depth
        linear = s.linear(value, (above - value) / s.prevalence - slope * away, -slope * away)
        # The number of top rows is fixed: class mix and negatives decide how far down they reach for given positives.
        # That is, depth = π·tpr + (1 − π)·fpr at a given tpr. By the product rule a row changes it through π, by 1 − π
        # or −π times tpr − fpr, and a negative also through the fpr, by above − fpr.
        fpr = float(s.neg @ above) / (1 - s.prevalence)
        of_pos = np.full(above.size, (1 - s.prevalence) * (value - fpr))
        of_neg = above - fpr - s.prevalence * (value - fpr)
        place = Place(of_pos, of_neg, lambda by: _at(depth + by, s.depth, s.tpr))
        return replace(linear, trials=(np.ones(above.size), np.zeros(above.size)), exact=False, place=place, fixed=True)

    return Smooth(f"gain at depth {depth:g}", linearise)


@contract
def lift_at(depth: float) -> Smooth:
    """Return the lift as a statistic: the gain at a depth, divided by the depth.

    Parameters
    ----------
    depth : float
        Share of the rows with the highest scores, above 0 and at most 1.

    Returns
    -------
    Smooth
        Statistic to pass to `estimate_of` or ``compare(statistic=…)``.

    See Also
    --------
    gain_at, precision_at, estimate_of

    Examples
    --------
    >>> lift_at(0.25)(ThresholdCounts([4, 3, 2, 1], [1, 0, 1, 0], [0, 1, 0, 1]))
    2.0
    """
    gain = gain_at(depth).linearise

    def linearise(counts: ThresholdCounts) -> Linear:
        linear = gain(counts)
        of_pos, of_neg = linear.of_pos / depth, linear.of_neg / depth
        place = None if linear.place is None else linear.place.read(lambda value: value / depth)
        return replace(linear, value=linear.value / depth, of_pos=of_pos, of_neg=of_neg, place=place, per=depth)

    return Smooth(f"lift at depth {depth:g}", linearise, RATIO)


@contract
def precision_at(depth: float) -> Smooth:
    """Return the precision at a depth as a statistic: the share of positives among the rows with the highest scores.

    Parameters
    ----------
    depth : float
        Share of the rows with the highest scores, above 0 and at most 1.

    Returns
    -------
    Smooth
        Statistic to pass to `estimate_of` or ``compare(statistic=…)``.

    See Also
    --------
    gain_at, lift_at, estimate_of

    Examples
    --------
    >>> precision_at(0.25)(ThresholdCounts([4, 3, 2, 1], [1, 0, 1, 0], [0, 1, 0, 1]))
    1.0
    """
    gain = gain_at(depth).linearise

    def linearise(counts: ThresholdCounts) -> Linear:
        s, linear = CountShares.of(counts), gain(counts)
        # Product rule: a row changes the gain, and by 1 − π or −π the prevalence π that it is multiplied by.
        ratio = s.prevalence / depth
        mix = linear.value / depth
        of_pos, of_neg = ratio * linear.of_pos + mix * (1 - s.prevalence), ratio * linear.of_neg - mix * s.prevalence
        above = _inside(s.depth_before, s.depth, depth)
        return replace(s.linear(ratio * linear.value, of_pos, of_neg), trials=(above, above), exact=False)

    return Smooth(f"precision at depth {depth:g}", linearise)


def average_precision() -> Smooth:
    """Return the average precision as a statistic: the mean, over all positives, of the precision at their score.

    Returns
    -------
    Smooth
        Statistic to pass to `estimate_of` or ``compare(statistic=…)``.

    See Also
    --------
    area, estimate_of, precision_recall

    Examples
    --------
    >>> average_precision()(ThresholdCounts([4, 3, 2, 1], [1, 0, 1, 0], [0, 1, 0, 1]))
    0.8333333333333333
    """

    def linearise(counts: ThresholdCounts) -> Linear:
        s = CountShares.of(counts)
        precision = s.tpr * s.prevalence / s.depth
        value = float(s.pos @ precision) / s.prevalence
        # A row changes the precision at its own level and at all below.
        below, below_precise = (np.cumsum(part[::-1])[::-1] for part in (s.pos / s.depth, s.pos * precision / s.depth))
        of_pos = (precision - value + below - below_precise) / s.prevalence
        # each positive counts itself in the precision at its level: (1 + tp)/(1 + cases) for tp/cases
        bias = float(s.pos @ ((1 - precision) / s.depth)) / s.prevalence
        return replace(s.linear(value, of_pos, -below_precise / s.prevalence), bias=bias)

    return Smooth("average precision", linearise, of_pairs=True)


def brier() -> Smooth:
    """Return the Brier score as a statistic: the mean squared difference between probability and outcome.

    Returns
    -------
    Smooth
        Statistic to pass to `estimate_of` or ``compare(statistic=…)``.

    See Also
    --------
    scaled_brier, log_loss, estimate_of

    Examples
    --------
    >>> brier()(ThresholdCounts([0.9, 0.2], [1, 0], [0, 1])).__round__(3)
    0.025
    """
    return _mean_of_rows("Brier score", lambda p: (1 - p) ** 2, lambda p: p**2)


def log_loss() -> Smooth:
    """Return the log loss as a statistic: the mean negative logarithm of the probability of the observed outcome.

    Returns
    -------
    Smooth
        Statistic to pass to `estimate_of` or ``compare(statistic=…)``.

    See Also
    --------
    brier, estimate_of, rocscope.calibration.log_loss

    Examples
    --------
    >>> round(log_loss()(ThresholdCounts([0.5], [1], [1])), 4)
    0.6931
    """
    return _mean_of_rows("log loss", lambda p: -np.log(p), lambda p: -np.log1p(-p), RATIO)


def excess_events() -> Smooth:
    """Return observed minus expected positives per case as a statistic (calibration in the large).

    Returns
    -------
    Smooth
        Statistic to pass to `estimate_of` or ``compare(statistic=…)``.

    See Also
    --------
    observed_to_expected, estimate_of

    Examples
    --------
    >>> excess_events()(ThresholdCounts([0.75, 0.25], [1, 1], [0, 0]))
    0.5
    """
    return _mean_of_rows("observed − expected", lambda p: 1 - p, lambda p: -p, SIGNED)


def _mean_of_rows(
    name: str, of_pos: Callable[[Array], Array], of_neg: Callable[[Array], Array], scale: Scale = SHARE
) -> Smooth:
    def linearise(counts: ThresholdCounts) -> Linear:
        n, p = float(counts.n), counts.probabilities(name)
        with np.errstate(divide="ignore"):  # a logarithm of 0 counts where a row has it
            pos, neg = np.where(counts.pos > 0, of_pos(p), 0.0), np.where(counts.neg > 0, of_neg(p), 0.0)
        value = float(counts.pos @ pos + counts.neg @ neg) / n
        if value == inf:
            nothing, reason = np.zeros(len(counts)), "infinite, because an observed outcome had the probability 0"
            return Linear(value, nothing, nothing, reason=reason)
        return Linear(value, pos - value, neg - value)

    return Smooth(name, linearise, scale)


def observed_to_expected() -> Smooth:
    """Return the ratio of observed to expected positives as a statistic.

    Returns
    -------
    Smooth
        Statistic to pass to `estimate_of` or ``compare(statistic=…)``.

    See Also
    --------
    excess_events, calibration_intercept, estimate_of

    Examples
    --------
    >>> observed_to_expected()(ThresholdCounts([0.75, 0.25], [2, 1], [0, 1]))
    1.5
    """

    def linearise(counts: ThresholdCounts) -> Linear:
        s, p = CountShares.of(counts), counts.probabilities("observed/expected")
        expected = float((s.pos + s.neg) @ p)
        value = s.prevalence / expected
        return s.linear(value, (1 - value * p) / expected, -value * p / expected)

    return Smooth("observed/expected", linearise, RATIO)


def scaled_brier() -> Smooth:
    """Return the scaled Brier score as a statistic: 1 − Brier score/(prevalence·(1 − prevalence)).

    Returns
    -------
    Smooth
        Statistic to pass to `estimate_of` or ``compare(statistic=…)``.

    See Also
    --------
    brier, discrimination_slope, estimate_of

    Examples
    --------
    >>> round(scaled_brier()(ThresholdCounts([0.9, 0.2], [1, 0], [0, 1])), 3)
    0.9
    """
    plain = brier().linearise

    def linearise(counts: ThresholdCounts) -> Linear:
        s, linear = CountShares.of(counts), plain(counts)
        # Quotient rule: the derivative of the denominator π(1 − π) is 1 − 2π.
        spread = s.prevalence * (1 - s.prevalence)
        mix = linear.value * (1 - 2 * s.prevalence) / spread**2
        of_pos = -linear.of_pos / spread + mix * (1 - s.prevalence)
        return s.linear(1 - linear.value / spread, of_pos, -linear.of_neg / spread - mix * s.prevalence)

    return Smooth("scaled Brier score", linearise, UP_TO_ONE)


def discrimination_slope() -> Smooth:
    """Return the discrimination slope (Yates) as a statistic.

    It is the mean probability of positives minus the mean probability of negatives.

    Returns
    -------
    Smooth
        Statistic to pass to `estimate_of` or ``compare(statistic=…)``.

    See Also
    --------
    scaled_brier, brier, estimate_of

    Examples
    --------
    >>> round(discrimination_slope()(ThresholdCounts([0.9, 0.2], [1, 0], [0, 1])), 3)
    0.7
    """

    def linearise(counts: ThresholdCounts) -> Linear:
        s, p = CountShares.of(counts), counts.probabilities("discrimination slope")
        above, below = float(s.pos @ p) / s.prevalence, float(s.neg @ p) / (1 - s.prevalence)
        return s.linear(above - below, (p - above) / s.prevalence, -(p - below) / (1 - s.prevalence))

    return Smooth("discrimination slope", linearise, SIGNED)


def calibration_slope() -> Smooth:
    """Return the calibration slope (Cox) as a statistic.

    It is the slope of a logistic regression of the outcome on the log-odds of the probability.

    Returns
    -------
    Smooth
        Statistic to pass to `estimate_of` or ``compare(statistic=…)``.

    See Also
    --------
    calibration_intercept, cox_calibration

    Examples
    --------
    >>> round(calibration_slope()(ThresholdCounts([0.5, 0.2], [20, 10], [10, 20])), 6)
    1.0
    """
    return Smooth("calibration slope", lambda counts: _cox(counts, "slope"), PLAIN)


def calibration_intercept() -> Smooth:
    """Return the calibration intercept as a statistic: the intercept of the regression in `calibration_slope`.

    Returns
    -------
    Smooth
        Statistic to pass to `estimate_of` or ``compare(statistic=…)``.

    See Also
    --------
    calibration_slope, observed_to_expected, cox_calibration

    Examples
    --------
    >>> round(calibration_intercept()(ThresholdCounts([0.5, 0.2], [20, 10], [10, 20])), 4)
    0.6931
    """
    return Smooth("calibration intercept", lambda counts: _cox(counts, "intercept"), PLAIN)


def _cox(counts: ThresholdCounts, name: Literal["intercept", "slope"]) -> Linear:
    """Return a coefficient of logistic recalibration, with the influence H⁻¹x(y − μ) of each row."""
    p = counts.probabilities("logistic recalibration")
    s = CountShares.of(counts)
    pos, neg = counts.pos.astype(np.float64), counts.neg.astype(np.float64)
    fit = recalibration(p[::-1], pos[::-1], neg[::-1])
    value = getattr(fit, name)
    if not np.isfinite(value):
        return replace(s.linear(value, 0, 0), reason=fit.reason)
    # Certain predictions that proved right have no influence.
    kept = (p > 0) & (p < 1)
    log_odds = special.logit(p[kept])
    mean = special.expit(fit.intercept + fit.slope * log_odds)
    information = (s.pos + s.neg)[kept] * mean * (1 - mean)
    centre = float(information @ log_odds / information.sum())
    offset = log_odds - centre  # around the centre the Hessian is diagonal
    lever = offset / float(information @ offset**2)
    if name == "intercept":
        lever = 1 / information.sum() - centre * lever
    of_pos, of_neg = np.zeros(len(counts)), np.zeros(len(counts))
    of_pos[kept], of_neg[kept] = lever * (1 - mean), -lever * mean
    return s.linear(value, of_pos, of_neg)
