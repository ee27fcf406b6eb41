"""Choices: thresholds of one model among which the best is looked for."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from rocscope._types import Array
from rocscope.core.cumulative import CumulativeCounts
from rocscope.core.point import OperatingPoint


@dataclass(frozen=True)
class Choices:
    """Some thresholds of one model, from fewest positive predictions to most.

    Attributes
    ----------
    model : str
    tp, fp : arrays of k counts
    n_pos, n_neg : float
        Totals of the sample.
    score : function from a position to the lowest score that is predicted positive there
    negated : bool
        Whether cases below the threshold are the positive ones.
    """

    model: str
    tp: Array
    fp: Array
    n_pos: float
    n_neg: float
    score: Callable[[int], float]
    negated: bool = False

    @property
    def label(self) -> str:
        """Name of the model, with "not" where its decisions are reversed."""
        return label(self.model, self.negated)

    def point(self, index: int) -> OperatingPoint:
        """Return the operating point at a position; where everybody is predicted positive its threshold is −∞."""
        tp, fp = self.tp[index].item(), self.fp[index].item()
        fn, tn = self.n_pos - tp, self.n_neg - fp
        return OperatingPoint(tp, fp, fn, tn, self.score(index) if fn or tn else -math.inf)

    def rates(self, index: int) -> tuple[Fraction, Fraction]:
        """Return the exact true and false positive rate at a position; that of a class without cases is 0."""
        tp, fp = Fraction(self.tp[index].item()), Fraction(self.fp[index].item())
        return tp / Fraction(self.n_pos or 1), fp / Fraction(self.n_neg or 1)

    def depth(self, index: int) -> Fraction:
        """Return the exact share of the sample that is predicted positive at a position."""
        positive = Fraction(self.tp[index].item()) + Fraction(self.fp[index].item())
        return positive / (Fraction(self.n_pos) + Fraction(self.n_neg))

    def take(self, index: Array) -> "Choices":
        """Return the choices at some positions."""
        return replace(self, tp=self.tp[index], fp=self.fp[index], score=lambda i: self.score(int(index[i])))


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
    tp, fp = counts.cumulative
    return Choices(model, tp, fp, counts.n_pos, counts.n_neg, score_of(counts))


def score_of(counts: CumulativeCounts) -> Callable[[int], float]:
    """Return the function from a position to the score there, in the type that the scores have."""
    return lambda index: math.inf if index == 0 else counts.threshold[index - 1].item()
