"""Choices: thresholds of one model among which the best is looked for."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from rocscope._types import Array
from rocscope._whole import Sums
from rocscope.core.cumulative import CumulativeCounts
from rocscope.core.point import OperatingPoint


@dataclass(frozen=True)
class Choices:
    """Some thresholds of one model, from fewest positive predictions to most.

    Attributes
    ----------
    model : str
    counts : CumulativeCounts
    index : array of k points of `counts.cumulative`
        Increasing; decreasing where negated.
    negated : bool
        Whether cases below the threshold are the positive ones.
    """

    model: str
    counts: CumulativeCounts
    index: Array
    negated: bool = False

    @property
    def label(self) -> str:
        """Name of the model, with "not" where its decisions are reversed."""
        return label(self.model, self.negated)

    @cached_property
    def cells(self) -> tuple[Array, Array, Array, Array]:
        """True and false positives, false and true negatives, k of each."""
        above, below = self.counts.cumulative, self.counts.remaining
        tp, fp, fn, tn = (axis[self.index] for axis in ((*below, *above) if self.negated else (*above, *below)))
        return tp, fp, fn, tn

    @property
    def climbs(self) -> tuple[Array, Array]:
        """Counts of points that increase where true and false positives do, be it by less than rounded sums show."""
        ups, rights = ((-axis if self.negated else axis)[self.index] for axis in self.counts.climbs)
        return ups, rights

    def whole(self, index: Array) -> Sums:
        """Return exact true and false positives at increasing positions; see `CumulativeCounts.whole`."""
        if not self.negated:
            return self.counts.whole(self.index[index])
        below = self.counts.whole(self.index[index][::-1])
        tp, fp = (
            [total - n for n in reversed(axis)] for axis, total in zip(below, self.counts.whole_totals, strict=True)
        )
        return tp, fp

    def point(self, index: int) -> OperatingPoint:
        """Return the operating point at a position; where everybody is predicted positive its threshold is −∞."""
        tp, fp, fn, tn = (cell[index].item() for cell in self.cells)
        return OperatingPoint(tp, fp, fn, tn, score_of(self.counts, int(self.index[index])) if fn or tn else -math.inf)

    def rates(self, index: int) -> tuple[Fraction, Fraction]:
        """Return the exact true and false positive rate at a position; that of a class without cases is 0."""
        ((tp,), (fp,)), (n_pos, n_neg) = self.whole(np.array([index])), self.counts.whole_totals
        return Fraction(tp, n_pos or 1), Fraction(fp, n_neg or 1)

    def depth(self, index: int) -> Fraction:
        """Return the exact share of the sample that is predicted positive at a position."""
        (tp,), (fp,) = self.whole(np.array([index]))
        return Fraction(tp + fp, sum(self.counts.whole_totals))

    def take(self, index: Array) -> "Choices":
        """Return the choices at some positions."""
        return replace(self, index=self.index[index])


def label(model: str, negated: bool) -> str:
    """Return how a model is called where it may be negated."""
    return f"not {model}" if negated else model


def all_choices(model: str, counts: CumulativeCounts) -> Choices:
    """Return every threshold of a model, from "nobody positive" on.

    Examples
    --------
    >>> from rocscope import ThresholdCounts
    >>> choices = all_choices("a", ThresholdCounts([0.9, 0.4], [1, 0], [0, 1]))
    >>> [choices.point(index).threshold for index in range(3)]
    [inf, 0.9, -inf]
    """
    return Choices(model, counts, np.arange(len(counts) + 1))


def negation(model: str, counts: CumulativeCounts) -> Choices:
    """Return the choices "positive iff score < threshold", without the two that any model has."""
    return Choices(model, counts, np.arange(len(counts) - 1, 0, -1), negated=True)


def score_of(counts: CumulativeCounts, index: int) -> float:
    """Return the score at a point of `counts.cumulative`, in the type that the scores have."""
    return math.inf if index == 0 else counts.threshold[index - 1].item()
