"""Smooth statistics and their influence functions: how far a row at each level moves the value."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import exp, inf, log
from typing import Any

import numpy as np

from rocscope._base import special
from rocscope._base.arrays import Array
from rocscope.core.counts import ThresholdCounts

_LARGEST = 700.0  # whose exponential is a float
SPARE = 0.5
"""Rows added to each cell of a table where a value may be at an end of its range (Haldane 1956, Anscombe 1956)."""


@dataclass(frozen=True)
class Scale:
    """What values are possible, and a scale without ends, on which an interval is symmetric.

    Parameters
    ----------
    low, high : float
        The ends of the range.
    name : str
        How a method names the scale; empty for the plain one, and for the logit one of a range with two ends.
    to, back : functions
        Onto the scale and back; and the `slope` of the first.

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
        """Return the interval of a value inside the range that reaches so far, to first order, on either side."""
        centre, reach = self.to(value), reach * self.slope(value)
        return self.back(centre - reach), self.back(centre + reach)


def between(low: float, high: float) -> Scale:
    """Return the logit scale of a range; from −1 to 1 it is Fisher's z, but for a factor."""
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
    """A metric of the four counts that contrasts a share of positives with the same share of negatives.

    It is back(to(share of positives) − to(share of negatives)); the share is the tpr and the fpr, or what they lack.

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
        """Return the MOVER interval from Jeffreys limits of both shares, around half a row more in each count.

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
    """A metric of the four counts with half a row added to each of them.

    Parameters
    ----------
    cells : array of the four counts as shares of all rows
    value_and_error : function from a number of rows to both
    rates : TwoRates, optional
        Where it contrasts two shares of independent rows, which tells more than its standard error.
    """

    cells: Array
    value_and_error: Callable[[float], tuple[float, float]]
    rates: TwoRates | None = None

    @property
    def method(self) -> str:
        """How the interval is made."""
        return "MOVER of Jeffreys intervals" if self.rates else "half a row added to each count"

    def interval(self, rows: float, quantile: float, scale: Scale) -> tuple[float, float]:
        """Return the interval for so many rows that reaches so many standard errors."""
        if self.rates is not None:
            return self.rates.interval(self.cells * rows, quantile)
        value, error = self.value_and_error(rows)
        return scale.around(value, quantile * error)


@dataclass(frozen=True)
class Place:
    """Where on a curve a statistic is read, which the rows decide: at an fpr, a tpr or a depth.

    Parameters
    ----------
    of_pos, of_neg : array of k
        Influence of a positive and of a negative at each level of the score on the place.
    shifted : function from a distance to the statistic that is read so far from the place
    """

    of_pos: Array
    of_neg: Array
    shifted: Callable[[float], float] = field(repr=False)

    def swapped(self) -> "Place":
        """Return the place on the curve of the classes and order reversed."""
        return replace(self, of_pos=self.of_neg[::-1], of_neg=self.of_pos[::-1])

    def read(self, function: Callable[[float], float]) -> "Place":
        """Return the place for a function of what is read there."""
        return replace(self, shifted=lambda by: function(self.shifted(by)))


@dataclass(frozen=True)
class Linear:
    """A statistic of counts to first order: value + the mean of the influences of all rows.

    Parameters
    ----------
    value : float
    of_pos, of_neg : array of k
        Influence of a positive and of a negative at each level of the score; their mean over all rows is 0.
    trials : pair of arrays of k, optional
        Of a share of cases: which positives and negatives it is a share of.
    smoothed : Smoothed, optional
        Of a metric of the four counts.
    exact : bool
        Whether equal rows make a share of `trials` binomial: not where its threshold depends on the rows.
    place : Place, optional
        Of what is read off a curve.
    fixed : bool
        Whether it is read among a fixed number of top rows, which makes a share surer than that of so many draws.
    per : float
        What a share of `trials` is divided by, as a gain is by its depth for a lift.
    bias : float
        Expected excess of the value, times the number of rows.
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


@dataclass(frozen=True)
class Smooth:
    """A smooth statistic of one model's counts, whose variance has a closed form.

    Called with counts it is its value, so that it goes wherever a function of counts does, such as `bootstrap`.

    Parameters
    ----------
    name : str
    linearise : function of ThresholdCounts that returns a Linear
    scale : Scale
        What values are possible, and on which scale its interval is made.
    tail : pair of float
        The share of positives and of negatives that lie on the rarer side of where it looks, such as 0.1 for a tpr of
        0.9: of few rows these are none.
    of_ranks : bool
        Whether it is a mean of ranks, which a few rows that are ranked last lower much.
    of_pairs : bool
        Whether it compares rows with each other, so that pairs within groups of rows make it biased.

    Examples
    --------
    >>> from rocscope.figures.probabilities import brier
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
        return self.linearise(counts).value

    @property
    def __name__(self) -> str:  # how a comparison names the quantity
        return self.name


@dataclass(frozen=True)
class CountShares:
    """Counts as shares of all rows: by level and class, cumulated from the highest score."""

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
        of_pos, of_neg = (np.broadcast_to(np.asarray(each, float), (k,)) for each in (of_pos, of_neg))
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
        sum((g * part.of_pos for g, part in zip(gradient, parts, strict=True)), np.zeros(())),
        sum((g * part.of_neg for g, part in zip(gradient, parts, strict=True)), np.zeros(())),
    )
