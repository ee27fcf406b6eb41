"""Recounted thresholds: exact counts at every threshold of a model, from sorted scores."""

import math
import re
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rocscope._base.arrays import Array
from rocscope.errors import OneClassError
from rocscope.sample import Sample

_NUMBER = re.compile(r"-?[0-9.]+(e[-+]?[0-9]+)?")


class CountsAt(NamedTuple):
    """Exact counts at a threshold."""

    tp: int
    fp: int


@dataclass(frozen=True)
class EveryThreshold:
    """All thresholds of a model from fewest positive predictions on, with exact counts; `unit` of them are one case."""

    model: str
    level: Array
    tp: Array
    fp: Array
    totals: tuple[int, int]
    unit: int
    negated: bool = False

    @classmethod
    def of(cls, name: str, sample: Sample) -> "EveryThreshold":
        """Count the rows of a model; counts are returned unchanged."""
        rows, unit = sample.rows, 1
        if rows is None:
            counts = sample.counts
            level, unit = counts.threshold, counts.exact_unit
            tp, fp = counts.cumulative
            if unit > 1:
                tp, fp = (np.array(axis, object) for axis in counts.exact_sums_at(np.arange(level.size + 1)))
        elif rows.sample_weight is None:
            (score,) = rows.scores.values()
            level = np.unique(score)[::-1]
            tp, fp = (_at_least(np.sort(score[yes]), level) for yes in (rows.y_true, ~rows.y_true))
        else:
            (score,) = rows.scores.values()
            level, tp, fp, unit = _weighed(score, rows.y_true, rows.sample_weight)
        totals = int(tp[-1]), int(fp[-1])
        if not all(totals):
            raise OneClassError(f"verification of {name!r}", expected="both classes", got="one")
        return cls(name, level, tp, fp, totals, unit)

    @property
    def negation(self) -> "EveryThreshold":
        """Return the same with all decisions reversed, except everybody and nobody."""
        inner = np.arange(self.level.size - 1, 0, -1)
        tp, fp = self.totals[0] - self.tp[inner], self.totals[1] - self.fp[inner]
        return EveryThreshold(self.model, self.level[inner - 1], tp, fp, self.totals, self.unit, negated=True)

    def at(self, threshold: float, negated: bool) -> CountsAt:
        """Return the counts of "positive iff score >= threshold", compared exactly; below it, if negated."""
        levels = bisect_left(self.level, True, key=lambda score: score.item() < threshold)  # pyright: ignore
        above = CountsAt(int(self.tp[levels]), int(self.fp[levels]))
        return CountsAt(self.totals[0] - above.tp, self.totals[1] - above.fp) if negated else above

    def rates(self, at: CountsAt) -> tuple[Fraction, Fraction]:
        """Return exact true and false positive rates."""
        return Fraction(at.tp, self.totals[0]), Fraction(at.fp, self.totals[1])

    @cached_property
    def cells(self) -> tuple[Array, Array, Array, Array]:
        """The four counts of each threshold, as floats."""
        (n_pos, n_neg), tp, fp = self.totals, self.tp, self.fp
        tp, fp, fn, tn = ((axis / self.unit).astype(np.float64) for axis in (tp, fp, n_pos - tp, n_neg - fp))
        return tp, fp, fn, tn

    def named(self, index: int) -> str:
        """Return the threshold at a position as a decision writes it."""
        ends = {0: math.inf, self.tp.size - 1: -math.inf} if not self.negated else {}
        score = ends.get(index, self.level[index - (not self.negated)].item() if index not in ends else 0)
        return f"{self.label} at {score}"

    def renamed(self, text: str) -> str:
        """Return a text such as "a at 0.1234" with the score that the written threshold selects."""
        name, _, written = text.rpartition(" at ")
        if name not in (self.model, f"not {self.model}") or not _NUMBER.fullmatch(written):
            return text
        threshold = float(written) if set(written) & set(".en") else int(written)
        above = [score for score in self.level.tolist() if score >= threshold]
        return f"{name} at {min(above)}" if above else text

    def next_score(self, threshold: float) -> float:
        """Return the highest score below a threshold."""
        return max((score for score in self.level.tolist() if score < threshold), default=-math.inf)

    @property
    def label(self) -> str:
        return f"not {self.model}" if self.negated else self.model


def _at_least(scores: Array, level: Array) -> Array:
    """Return how many sorted scores are at least each level, starting with none."""
    return np.concatenate([[0], scores.size - scores.searchsorted(level)])


def _weighed(score: Array, positive: Array, weight: Array) -> tuple[Array, Array, Array, int]:
    """Return levels with exact cumulative sums of weights as integers, and the number of units in 1."""
    score, positive, weight = (column[weight > 0] for column in (score, positive, weight))
    order = np.argsort(score, kind="stable")[::-1]
    (whole,), unit = in_whole(weight[order].astype(np.float64))
    last = np.flatnonzero(np.append(np.diff(score[order]) != 0, True))
    tp, fp = (np.append(np.array([0], object), np.cumsum(whole * yes)[last]) for yes in _classes(positive[order]))
    return score[order][last], tp, fp, unit


def in_whole(*values: Array) -> tuple[list[Array], int]:
    """Return floats as exact integers of one unit, and the number of units in 1."""
    split = [np.frexp(each) for each in values]
    least = min(*(int(exponent.min()) - 53 for _, exponent in split), 0)
    whole = [
        (digits * 2.0**53).astype(np.int64).astype(object) * [1 << each for each in (exponent - 53 - least).tolist()]
        for digits, exponent in split
    ]
    return whole, 1 << -least


def _classes(positive: Array) -> tuple[Array, Array]:
    return positive.astype(object), (~positive).astype(object)
