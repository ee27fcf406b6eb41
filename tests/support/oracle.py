"""Slow, exact answers, found by other means than the library's: nothing is sorted once, packed or compiled.

Everything is plain Python on `Fraction`s. Pairs are counted pair by pair, a confusion matrix by looking at every row,
a hull by gift wrapping, a best point by looking at every threshold.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import inf

import numpy as np


@dataclass(frozen=True)
class Row:
    """A labelled, scored and weighted case; scores are Python numbers, whose comparisons are exact."""

    positive: bool
    score: int | float
    weight: Fraction = Fraction(1)


@dataclass(frozen=True)
class Point:
    """A confusion matrix and the threshold that gives it."""

    threshold: int | float
    tp: Fraction
    fp: Fraction
    fn: Fraction
    tn: Fraction

    @property
    def tpr(self):
        return self.tp / (self.tp + self.fn)

    @property
    def fpr(self):
        return self.fp / (self.fp + self.tn)

    @property
    def depth(self):
        return (self.tp + self.fp) / self.n

    @property
    def n(self):
        return self.tp + self.fp + self.fn + self.tn

    @property
    def accuracy(self):
        return (self.tp + self.tn) / self.n


def rows(y, score, weight=None):
    """Return Rows of columns, without those of weight 0."""
    weight = [1] * len(y) if weight is None else weight
    columns = (np.asarray(column).tolist() for column in (y, score, weight))
    return [Row(bool(label), value, Fraction(mass)) for label, value, mass in zip(*columns, strict=True) if mass]


def total(cases):
    return sum((row.weight for row in cases), Fraction(0))


def positives(cases):
    return [row for row in cases if row.positive]


def negatives(cases):
    return [row for row in cases if not row.positive]


def at(cases, threshold):
    """Return the confusion matrix of "positive iff score >= threshold"."""
    above = [row for row in cases if row.score >= threshold]
    below = [row for row in cases if not row.score >= threshold]
    cells = (total(positives(above)), total(negatives(above)), total(positives(below)), total(negatives(below)))
    return Point(threshold, *cells)


def thresholds(cases):
    """Return infinity and every score, decreasing."""
    return [inf, *sorted({row.score for row in cases}, reverse=True)]


def points(cases):
    return [at(cases, threshold) for threshold in thresholds(cases)]


@dataclass(frozen=True)
class Pairs:
    concordant: Fraction
    tied: Fraction
    total: Fraction

    def auc(self, ties="half"):
        return (self.concordant + {"lower": 0, "half": Fraction(1, 2), "upper": 1}[ties] * self.tied) / self.total


def pairs(cases):
    """Look at every pair of a positive and a negative."""
    both = list(product(positives(cases), negatives(cases)))
    mass = {
        name: sum((p.weight * n.weight for p, n in both if holds(p.score, n.score)), Fraction(0))
        for name, holds in {"concordant": lambda p, n: p > n, "tied": lambda p, n: p == n}.items()
    }
    return Pairs(**mass, total=sum((p.weight * n.weight for p, n in both), Fraction(0)))


def area(corners):
    """Area under straight lines through (x, y)."""
    return sum(((x1 - x0) * (y0 + y1) / 2 for (x0, y0), (x1, y1) in pairwise(corners)), Fraction(0))


def hull(candidates):
    """Wrap the points from "nobody positive" to "all positive": each next vertex is seen under the steepest angle.

    Of several in one direction the farthest is next, so that no three vertices are collinear.
    """
    here, wrapped = candidates[0], [candidates[0]]
    while (here.tp, here.fp) != (candidates[-1].tp, candidates[-1].fp):
        there = None
        for point in candidates:
            up, right = point.tp - here.tp, point.fp - here.fp
            if up < 0 or right < 0 or up + right == 0:
                continue
            if there is None:
                there = point
                continue
            turn = up * (there.fp - here.fp) - right * (there.tp - here.tp)
            farther = up + right > there.tp - here.tp + there.fp - here.fp
            if turn > 0 or (turn == 0 and farther):
                there = point
        here = there
        wrapped.append(here)
    return wrapped


def roc_area(vertices):
    return area([(point.fpr, point.tpr) for point in vertices])


def lift_area(cases, kind):
    """Area under the lift chart in positives; `step` counts the pairs of a positive and a lower example."""
    if kind == "trapezoid":
        return area([(point.depth, point.tp) for point in points(cases)])
    won = [p.weight * other.weight for p, other in product(positives(cases), cases) if p.score > other.score]
    return sum(won, Fraction(0)) / total(cases)


def best(candidates, value):
    """Return every candidate of highest value."""
    highest = max(value(point) for point in candidates)
    return [point for point in candidates if value(point) == highest]


def exact(number):
    """A cost or prevalence as it is written: 0.1 is a tenth."""
    return Fraction(str(number))


def expected_cost(context, tpr, fpr, prevalence):
    """Average cost of the four kinds of case, by their shares."""
    positive = prevalence if context.target_prevalence is None else exact(context.target_prevalence)
    shares = {
        "cost_tp": positive * tpr,
        "cost_fn": positive * (1 - tpr),
        "cost_fp": (1 - positive) * fpr,
        "cost_tn": (1 - positive) * (1 - fpr),
    }
    return sum((share * exact(getattr(context, name)) for name, share in shares.items()), Fraction(0))


def slope(context, prevalence):
    """Rise per run that leaves the expected cost as it is; the cost is linear, so differences are derivatives."""

    def cost(tpr, fpr):
        return expected_cost(context, Fraction(tpr), Fraction(fpr), prevalence)

    run, rise = cost(0, 1) - cost(0, 0), cost(0, 0) - cost(1, 0)
    return run / rise


def on_line(x0, y0, x1, y1, x):
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0)


def height(corners, x):
    """Height of straight lines through (x, y) with x increasing; of several points of one x the last counts."""
    there = [y for at_x, y in corners if at_x == x]
    if there:
        return there[-1]
    return next(on_line(x0, y0, x1, y1, x) for (x0, y0), (x1, y1) in pairwise(corners) if x0 < x < x1)


def area_between(corners, low, high):
    """Area under straight lines within [low, high], cut segment by segment."""
    inside = Fraction(0)
    for (x0, y0), (x1, y1) in pairwise(corners):
        left, right = max(x0, low), min(x1, high)
        if left < right:
            ends = (on_line(x0, y0, x1, y1, left), on_line(x0, y0, x1, y1, right))
            inside += (right - left) * sum(ends) / 2
    return inside


def average_precision(cases):
    """Mean over the positives of the precision among the rows that score at least as much."""
    found = (
        row.weight * at(cases, row.score).tp / (lambda p: p.tp + p.fp)(at(cases, row.score)) for row in positives(cases)
    )
    return sum(found, Fraction(0)) / total(positives(cases))


def equal_error_rate(cases):
    """Where the lines between (fpr, fnr) cross the diagonal."""
    corners = [(point.fpr, 1 - point.tpr) for point in points(cases)]
    for (x0, y0), (x1, y1) in pairwise(corners):
        if x0 <= y0 and x1 >= y1:
            before, after = y0 - x0, x1 - y1
            return x0 + (x1 - x0) * before / (before + after)
    raise AssertionError("a curve from (0, 1) to (1, 0) crosses the diagonal")


def bins(cases, edges):
    """Positives, negatives and sum of scores in each ``[low, high)``, the last one closed."""
    found = []
    for index, (low, high) in enumerate(pairwise(edges)):
        last = index == len(edges) - 2
        inside = [row for row in cases if low <= row.score < high or (last and row.score == high)]
        scores = sum((row.weight * Fraction(row.score) for row in inside), Fraction(0))
        found.append((total(positives(inside)), total(negatives(inside)), scores))
    return found
