"""Figures and their influence functions.

The influence function is the change of a figure by a row at each level of the score. The variance of the figure is the
mean square of the influences divided by the number of rows (Hampel 1974, JASA 69). A `Figure` is a named measure with
its direction and its required input. A `Smooth` is a statistic with an influence function: its `linearise` returns a
`Linear`, a value with the influence of each row. `inference.influence_estimates` computes intervals from these.

In order: scales for intervals; intervals of small tables; `Linear` and `Smooth`; `Figure`; statistics of ranks (areas,
average precision and others); statistics of probabilities (Brier score, log loss, calibration and others).
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import exp, inf, log
from typing import Any, Literal

import numpy as np

from rocscope._base import special
from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.core import ThresholdCounts
from rocscope.errors import InputError
from rocscope.figures.logistic import recalibration

_LARGEST = 700.0  # whose exponential is a float
SPARE = 0.5
"""Number added to each of the four counts if the value may be at an end of its range (Haldane 1956; Anscombe 1956)."""


@dataclass(frozen=True)
class Scale:
    """Range of possible values, and an unbounded scale on which an interval is symmetric.

    Parameters
    ----------
    low, high : float
        The ends of the range.
    name : str
        Text added to the method of an interval; empty for the plain and the logit scale.
    to, back : functions
        Transformation to the scale and its inverse; `slope` is the derivative of `to`.

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
        """Return the interval around a value that extends, to first order, by `reach` on each side."""
        centre, reach = self.to(value), reach * self.slope(value)
        return self.back(centre - reach), self.back(centre + reach)


def between(low: float, high: float) -> Scale:
    """Return the logit scale of a range; from −1 to 1 it is Fisher's z times a constant."""
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
    """A metric of the four counts that compares tpr with fpr, or 1 − tpr with 1 − fpr.

    The metric is back(to(tpr) − to(fpr)) or, if `missed`, back(to(1 − tpr) − to(1 − fpr)).

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
        """Return the MOVER interval, computed from Jeffreys intervals of tpr and fpr.

        For the estimates of tpr and fpr, 0.5 is added to each of the four counts.

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
    """A metric of the four counts, with 0.5 added to each count.

    Parameters
    ----------
    cells : array of the four counts as shares of all rows
    value_and_error : function from a number of rows to the value and its standard error
    rates : TwoRates, optional
        Set if the metric compares tpr with fpr and rows are independent; gives a better interval.
    """

    cells: Array
    value_and_error: Callable[[float], tuple[float, float]]
    rates: TwoRates | None = None

    @property
    def method(self) -> str:
        """Method of the interval."""
        return "MOVER of Jeffreys intervals" if self.rates else "half a row added to each count"

    def interval(self, rows: float, quantile: float, scale: Scale) -> tuple[float, float]:
        """Return the interval for a number of rows; it extends by `quantile` standard errors on each side."""
        if self.rates is not None:
            return self.rates.interval(self.cells * rows, quantile)
        value, error = self.value_and_error(rows)
        return scale.around(value, quantile * error)


@dataclass(frozen=True)
class Place:
    """Position on a curve at which a statistic is read: an fpr, a tpr or a depth. It depends on the rows.

    Parameters
    ----------
    of_pos, of_neg : array of k
        Influence on the position of a positive and of a negative at each level of the score.
    shifted : function from a distance to the statistic read at this distance from the position
    """

    of_pos: Array
    of_neg: Array
    shifted: Callable[[float], float] = field(repr=False)

    def swapped(self) -> "Place":
        """Return the position on the curve with classes and order reversed."""
        return replace(self, of_pos=self.of_neg[::-1], of_neg=self.of_pos[::-1])

    def read(self, function: Callable[[float], float]) -> "Place":
        """Return the position for a function of the statistic."""
        return replace(self, shifted=lambda by: function(self.shifted(by)))


@dataclass(frozen=True)
class Linear:
    """A statistic of counts to first order: the value plus the mean of the influences of all rows.

    Parameters
    ----------
    value : float
    of_pos, of_neg : array of k
        Influence of a positive and of a negative at each level of the score; their mean over all rows is 0.
    trials : pair of arrays of k, optional
        Positives and negatives in the denominator of a share of cases.
    smoothed : Smoothed, optional
        Set for a metric of the four counts.
    exact : bool
        True if a share of `trials` is binomial for equal rows; False if its threshold depends on the rows.
    place : Place, optional
        Set if the value is read off a curve.
    fixed : bool
        True if the value is a share of a fixed number of rows with the highest scores. Its variance is then smaller
        than with independent draws.
    per : float
        Divisor of a share of `trials`, such as the depth for a lift.
    bias : float
        Bias of the value times the number of rows.
    reason : str
        Reason why the value is undefined or infinite.
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
    """A smooth statistic of the counts of one model, with a variance in closed form.

    It can be called with counts and then returns its value. Use it where a function of counts is accepted, such as in
    `bootstrap`.

    Parameters
    ----------
    name : str
    linearise : function of ThresholdCounts that returns a Linear
    scale : Scale
        Range of possible values, and the scale of its interval.
    tail : pair of float
        Shares of positives and of negatives on the rarer side of the position where the statistic is read, such as 0.1
        for a tpr of 0.9. Small samples may have no such rows.
    of_ranks : bool
        True if the statistic is a mean of ranks. A few rows with the lowest ranks can reduce it much.
    of_pairs : bool
        True if the statistic compares pairs of rows. Pairs within groups of rows then cause a bias.

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

    def __call__(self, counts: ThresholdCounts) -> float:
        return self.linearise(counts.moderate).value

    @property
    def __name__(self) -> str:  # how a comparison names the quantity
        return self.name


@dataclass(frozen=True)
class CountShares:
    """Counts by level and class as shares of all rows, cumulated from the highest score."""

    counts: ThresholdCounts
    pos: Array
    neg: Array
    prevalence: float
    tpr: Array
    fpr: Array
    depth: Array

    @classmethod
    def of(cls, counts: ThresholdCounts) -> "CountShares":
        """Return the counts as shares."""
        counts.require_both_classes("a statistic of both classes")
        n = float(counts.n)
        tpr, fpr = counts.tp / float(counts.n_pos), counts.fp / float(counts.n_neg)
        depth = (counts.tp + counts.fp) / n
        return cls(counts, counts.pos / n, counts.neg / n, float(counts.n_pos) / n, tpr, fpr, depth)

    @property
    def tpr_before(self) -> Array:
        """The tpr excluding the level itself."""
        return self.tpr - self.pos / self.prevalence

    @property
    def fpr_before(self) -> Array:
        """The fpr excluding the level itself."""
        return self.fpr - self.neg / (1 - self.prevalence)

    @property
    def depth_before(self) -> Array:
        """The depth excluding the level itself."""
        return self.depth - self.pos - self.neg

    def linear(self, value: Any, of_pos: Any, of_neg: Any) -> Linear:
        """Return a Linear with influences centred, which removes rounding errors."""
        k = self.pos.size
        of_pos, of_neg = (np.broadcast_to(np.asarray(side, float), (k,)) for side in (of_pos, of_neg))
        mean = float(self.pos @ of_pos + self.neg @ of_neg)
        return Linear(float(value), of_pos - mean, of_neg - mean)


def swapped(statistic: Callable[[ThresholdCounts], Linear]) -> Callable[[ThresholdCounts], Linear]:
    """Return a statistic of counts with classes and order reversed."""

    def linearise(counts: ThresholdCounts) -> Linear:
        threshold = -np.arange(len(counts), dtype=np.float64)
        turned = statistic(ThresholdCounts(threshold, counts.neg[::-1], counts.pos[::-1]))
        of_neg, of_pos = turned.of_pos[::-1], turned.of_neg[::-1]
        trials = None if turned.trials is None else (turned.trials[1][::-1], turned.trials[0][::-1])
        place = None if turned.place is None else turned.place.swapped()
        return replace(turned, of_pos=of_pos, of_neg=of_neg, trials=trials, place=place)

    return linearise


def combined(parts: list[Linear], function: Callable[..., float], gradient: list[float]) -> Linear:
    """Return a smooth function of several statistics of the same counts, by the chain rule."""
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
    "cells": "a figure of one threshold",
    "ranks": "a figure of the whole ranking, the same at every threshold",
    "probabilities": "a figure of probabilities, the same at every threshold",
    "costs": "a figure of the costs in a Context",
}


@dataclass(frozen=True)
class Figure:
    """A named measure of a classifier.

    Attributes
    ----------
    name, title : str
        Names in code and in tables.
    needs : {"cells", "ranks", "probabilities", "costs"}
        Input of the computation: the four counts at a threshold, the order of the scores, probabilities, or the four
        counts and their costs.
    sign : {1, -1, 0}
        1 if larger values are better, −1 if smaller values are better, 0 if neither.
    unit : {"share", "ratio", "cases", "money", "number"}
        Unit of the value.
    ideal : float, optional
        Value of a perfect model, if it is the same for all data.
    aliases : tuple of str
        Other names, such as those in scikit-learn, pROC and textbooks. Case, underscores and hyphens are ignored.
    cells : function of tp, fp, fn and tn, optional
        Computes the value at a threshold, for numbers and arrays.
    counts : function of ThresholdCounts, optional
        Computes the value for a whole ranking.
    smooth : function without arguments that returns a Smooth, optional
        Returns the figure with its influence function, which gives an interval in closed form.
    parts : two tuples of four numbers, optional
        Set if the value is a ratio of two weighted sums of the four counts: the weights in the numerator and in the
        denominator. For precision, tp/(tp + fp), they are (1, 0, 0, 0) and (1, 1, 0, 0).
    lines : function from a prevalence to two tuples of three numbers, optional
        Set if the value is a ratio of two linear functions of tpr and fpr. Returns the coefficients of the numerator
        and of the denominator: of tpr, of fpr, and the constant term.
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

    @property
    def words(self) -> str:
        """Description of the kind of figure, for errors.

        Examples
        --------
        >>> Figure("auc", "AUC", "ranks").words
        "'auc', a figure of the whole ranking, the same at every threshold"
        """
        return f"{self.name!r}, {_WORDS[self.needs]}"

    def value(self, counts: ThresholdCounts) -> float:
        """Return the value of the figure for a whole ranking."""
        if self.counts is None and self.smooth is not None:
            counts.require_both_classes(self.title)
            return self.smooth()(counts)
        assert self.counts is not None
        return float(self.counts(counts))

    def at_mix(self, share: Fraction) -> tuple[LinearForm, LinearForm] | None:
        """Return numerator and denominator of the figure at a prevalence, as linear functions of tpr and fpr.

        Notes
        -----
        With tp = π·tpr, fn = π·(1 − tpr), fp = (1 − π)·fpr and tn = (1 − π)·(1 − fpr), a sum of weights w of the four
        counts is π·(w_tp − w_fn)·tpr + (1 − π)·(w_fp − w_tn)·fpr + π·w_fn + (1 − π)·w_tn.

        Examples
        --------
        For precision they are tp = π·tpr, and tp + fp = π·tpr + (1 − π)·fpr:

        >>> precision = Figure("precision", "precision", "cells", parts=((1, 0, 0, 0), (1, 1, 0, 0)))
        >>> precision.at_mix(Fraction(1, 4))
        ((Fraction(1, 4), 0, 0), (Fraction(1, 4), Fraction(3, 4), 0))
        """
        if self.lines is not None:
            return self.lines(share)
        return None if self.parts is None else (line(self.parts[0], share), line(self.parts[1], share))


def line(weights: FourNumbers, share: Any) -> LinearForm:
    """Express a weighted sum of the four counts per case as a linear function of tpr and fpr, at a prevalence.

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
    """Return the statistic: area under the ROC curve, with ties counting one half.

    Returns
    -------
    Smooth
        Pass it to `estimate_of` or ``compare(statistic=…)``.

    Examples
    --------
    >>> area()(ThresholdCounts([3, 2, 1], [1, 1, 0], [0, 1, 1]))
    0.875
    """
    return Smooth("AUC", lambda counts: _partial(counts, 1.0), of_ranks=True, of_pairs=True)


@contract
def partial_area(*, max_fpr: float | None = None, min_tpr: float | None = None, standardized: bool = False) -> Smooth:
    """Return the statistic: area under the ROC curve up to an fpr, or from a tpr.

    Parameters
    ----------
    max_fpr, min_tpr : float
        Largest fpr, or smallest tpr, of the area; pass one of them.
    standardized : bool
        If True, rescale the area (McClish): 1/2 for the diagonal, 1 for a perfect curve.

    Returns
    -------
    Smooth
        Pass it to `estimate_of` or ``compare(statistic=…)``.

    Raises
    ------
    InputError
        Unless exactly one of `max_fpr` and `min_tpr` is given, between 0 and 1.

    Examples
    --------
    >>> partial_area(max_fpr=0.5)(ThresholdCounts([4, 3, 2, 1], [1, 0, 1, 0], [0, 1, 0, 1]))
    0.25
    """
    if (max_fpr is None) == (min_tpr is None):
        raise InputError("partial_area", expected="one of max_fpr and min_tpr", got="none or both")
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
    """Return the area up to fpr `part`, with influences of positives in closed form and of negatives by the jackknife.

    First-order influences of negatives treat the tpr at the end of the part as fixed, and are too small if few
    negatives are above it. Intervals then cover 78 to 88%; with influences and bias of the jackknife they cover 93 to
    97%.
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
        """Return the area up to an fpr that lies in a level of some width."""
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
    """Return the height of a curve that starts at the origin."""
    return float(np.interp(x, np.concatenate(([0.0], along)), np.concatenate(([0.0], of))))


@contract
def tpr_at(fpr: float) -> Smooth:
    """Return the statistic: true-positive rate at an fpr, interpolated as on the ROC curve.

    Returns
    -------
    Smooth
        Pass it to `estimate_of` or ``compare(statistic=…)``.

    Raises
    ------
    InputError
        If `fpr` is not between 0 and 1.

    Notes
    -----
    The variance depends on the slope of the curve at the fpr, which is estimated from the curve nearby. At a kink it is
    the mean of two slopes. The interval of `estimate_of` then includes the curve between the limits of the fpr.

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
    """Return the statistic: false-positive rate at a true-positive rate.

    Returns
    -------
    Smooth
        Pass it to `estimate_of` or ``compare(statistic=…)``.

    Raises
    ------
    InputError
        If `tpr` is not between 0 and 1.

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
    """Return the share of each level that lies before a position on an axis: 1, 0, or a fraction for one level."""
    width = after - before
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(width > 0, np.clip((part - before) / width, 0, 1), (after <= part).astype(float))


def _height_and_slope(x: float, along: Array, of: Array, n: float) -> tuple[float, float]:
    """Return the height of a curve, and its slope averaged over the sampling error of x with n rows.

    The slope is that of the line that fits the curve best, weighted by the normal distribution of the quantile around
    x.
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
    """Return the statistic: true-positive rate at a depth, the share of positives in the top rows.

    Returns
    -------
    Smooth
        Pass it to `estimate_of` or ``compare(statistic=…)``.

    Raises
    ------
    InputError
        If `depth` is not between 0 and 1.

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
    """Return the statistic: lift at a depth, gain/depth.

    Returns
    -------
    Smooth
        Pass it to `estimate_of` or ``compare(statistic=…)``.

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
    """Return the statistic: precision among the top rows, prevalence·gain/depth.

    Returns
    -------
    Smooth
        Pass it to `estimate_of` or ``compare(statistic=…)``.

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
        return s.linear(ratio * linear.value, of_pos, of_neg)

    return Smooth(f"precision at depth {depth:g}", linearise)


def average_precision() -> Smooth:
    """Return the statistic: mean of the precision at each positive, level by level.

    Returns
    -------
    Smooth
        Pass it to `estimate_of` or ``compare(statistic=…)``.

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
    """Return the statistic: mean squared difference between probability and outcome.

    Returns
    -------
    Smooth
        Pass it to `estimate_of` or ``compare(statistic=…)``.

    Examples
    --------
    >>> brier()(ThresholdCounts([0.9, 0.2], [1, 0], [0, 1])).__round__(3)
    0.025
    """
    return _mean_of_rows("Brier score", lambda p: (1 - p) ** 2, lambda p: p**2)


def log_loss() -> Smooth:
    """Return the statistic: mean negative log-likelihood of the probabilities.

    Returns
    -------
    Smooth
        Pass it to `estimate_of` or ``compare(statistic=…)``.

    Examples
    --------
    >>> round(log_loss()(ThresholdCounts([0.5], [1], [1])), 4)
    0.6931
    """
    return _mean_of_rows("log loss", lambda p: -np.log(p), lambda p: -np.log1p(-p), RATIO)


def excess_events() -> Smooth:
    """Return the statistic: observed − expected events per case (calibration in the large).

    Returns
    -------
    Smooth
        Pass it to `estimate_of` or ``compare(statistic=…)``.

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
            nothing, reason = np.zeros(len(counts)), "infinite: an event occurred that had the probability 0"
            return Linear(value, nothing, nothing, reason=reason)
        return Linear(value, pos - value, neg - value)

    return Smooth(name, linearise, scale)


def observed_to_expected() -> Smooth:
    """Return the statistic: observed events divided by expected events.

    Returns
    -------
    Smooth
        Pass it to `estimate_of` or ``compare(statistic=…)``.

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
    """Return the statistic: Brier skill score, 1 − Brier score/(prevalence·(1 − prevalence)).

    Returns
    -------
    Smooth
        Pass it to `estimate_of` or ``compare(statistic=…)``.

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
    """Return the statistic: mean probability of positives minus mean probability of negatives (Yates).

    Returns
    -------
    Smooth
        Pass it to `estimate_of` or ``compare(statistic=…)``.

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
    """Return the statistic: slope of the logistic regression of the outcome on the log-odds (Cox).

    Returns
    -------
    Smooth
        Pass it to `estimate_of` or ``compare(statistic=…)``.

    Examples
    --------
    >>> round(calibration_slope()(ThresholdCounts([0.5, 0.2], [20, 10], [10, 20])), 6)
    1.0
    """
    return Smooth("calibration slope", lambda counts: _cox(counts, "slope"), PLAIN)


def calibration_intercept() -> Smooth:
    """Return the statistic: intercept of the regression of `calibration_slope`.

    Returns
    -------
    Smooth
        Pass it to `estimate_of` or ``compare(statistic=…)``.

    Examples
    --------
    >>> round(calibration_intercept()(ThresholdCounts([0.5, 0.2], [20, 10], [10, 20])), 4)
    0.6931
    """
    return Smooth("calibration intercept", lambda counts: _cox(counts, "intercept"), PLAIN)


def _cox(counts: ThresholdCounts, name: Literal["intercept", "slope"]) -> Linear:
    """Return a coefficient of logistic recalibration, with the influence H⁻¹x(y − μ)."""
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
