"""Smooth statistics and their influence functions: how far a row at each level moves the value."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rocscope._base.arrays import Array
from rocscope.core.counts import ThresholdCounts


@dataclass(frozen=True)
class Linear:
    """A statistic of counts to first order: value + the mean of the influences of all rows.

    Parameters
    ----------
    value : float
    of_pos, of_neg : array of k
        Influence of a positive and of a negative at each level of the score; their mean over all rows is 0.
    """

    value: float
    of_pos: Array
    of_neg: Array


@dataclass(frozen=True)
class Smooth:
    """A smooth statistic of one model's counts, whose variance has a closed form.

    Called with counts it is its value, so that it goes wherever a function of counts does, such as `bootstrap`.

    Parameters
    ----------
    name : str
    linearise : function of ThresholdCounts that returns a Linear
    share : bool
        Whether it lies between 0 and 1, so that its interval is made on the logit scale.

    Examples
    --------
    >>> from rocscope.figures.probabilities import brier
    >>> brier()(ThresholdCounts([0.9, 0.2], [1, 0], [0, 1]))
    0.025...
    """

    name: str
    linearise: Callable[[ThresholdCounts], Linear] = field(repr=False)
    share: bool = True

    def __call__(self, counts: ThresholdCounts) -> float:
        return self.linearise(counts).value

    @property
    def __name__(self) -> str:  # how a comparison names the quantity
        return self.name


@dataclass(frozen=True)
class CountShares:
    """Counts as shares of all rows: of each level and class, cumulated from the highest score on."""

    counts: ThresholdCounts
    pos: Array
    neg: Array
    prevalence: float
    tpr: Array
    fpr: Array
    depth: Array

    @classmethod
    def of(cls, counts: ThresholdCounts) -> "CountShares":
        """Return the shares of counts of both classes."""
        counts.require_both_classes("a statistic of both classes")
        n = float(counts.n)
        tpr, fpr = counts.tp / float(counts.n_pos), counts.fp / float(counts.n_neg)
        depth = (counts.tp + counts.fp) / n
        return cls(counts, counts.pos / n, counts.neg / n, float(counts.n_pos) / n, tpr, fpr, depth)

    @property
    def tpr_before(self) -> Array:
        """The tpr without the level itself."""
        return self.tpr - self.pos / self.prevalence

    @property
    def fpr_before(self) -> Array:
        """The fpr without the level itself."""
        return self.fpr - self.neg / (1 - self.prevalence)

    @property
    def depth_before(self) -> Array:
        """The depth without the level itself."""
        return self.depth - self.pos - self.neg

    def linear(self, value: Any, of_pos: Any, of_neg: Any) -> Linear:
        """Return a Linear, with what rounding leaves of the mean influence taken off."""
        k = self.pos.size
        of_pos, of_neg = (np.broadcast_to(np.asarray(each, float), (k,)) for each in (of_pos, of_neg))
        mean = float(self.pos @ of_pos + self.neg @ of_neg)
        return Linear(float(value), of_pos - mean, of_neg - mean)


def swapped(statistic: Callable[[ThresholdCounts], Linear]) -> Callable[[ThresholdCounts], Linear]:
    """Return a statistic of counts whose classes, and whose order, are turned round."""

    def linearise(counts: ThresholdCounts) -> Linear:
        threshold = -np.arange(len(counts), dtype=np.float64)
        turned = statistic(ThresholdCounts(threshold, counts.neg[::-1], counts.pos[::-1]))
        return Linear(turned.value, turned.of_neg[::-1], turned.of_pos[::-1])

    return linearise


def combined(parts: list[Linear], function: Callable[..., float], gradient: list[float]) -> Linear:
    """Return a smooth function of several statistics of the same counts, by the chain rule."""
    return Linear(
        float(function(*(part.value for part in parts))),
        sum((g * part.of_pos for g, part in zip(gradient, parts, strict=True)), np.zeros(())),
        sum((g * part.of_neg for g, part in zip(gradient, parts, strict=True)), np.zeros(())),
    )
