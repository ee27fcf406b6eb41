"""Weights of any size, and what exact fractions say of them: every point is looked at, and hulls are gift-wrapped."""

import itertools
import math
from dataclasses import dataclass

import numpy as np

import oracle
import rocscope as rs
from rocscope.geometry.hull import best_point, pool

SMALLEST = 2**1074
COSTS = [0, 1, 1, 1, 2, 3, 0.1, 0.3, -1, 1e-300, 1e17, 1e300]
PREVALENCES = [None, None, None, 0.3, 0.5, 1e-9]
MIXED = np.array([1e17, 1e17, 1.0, 1.0, 2.0, 0.1, 0.3, 1e-17, 5e-324, 1e300])

KINDS = {
    "any size": lambda generator, n: 10.0 ** generator.uniform(-300, 300, n),
    "mixed": lambda generator, n: generator.choice(MIXED, n),
    "powers of two": lambda generator, n: 2.0 ** generator.integers(-1000, 1000, n),
    "decay": lambda generator, n: 0.9 ** generator.integers(0, 6000, n),
    "last digits": lambda generator, n: 1 + generator.integers(0, 4, n) * 2.0**-52,
    "beyond 2^53": lambda generator, n: 2**58 + generator.integers(-3, 4, n),
    "beyond 2^53, as floats": lambda generator, n: 2.0**58 + 64 * generator.integers(-3, 4, n),
    "tiny totals": lambda generator, n: 1e-200 * generator.integers(1, 5, n),
    "smallest": lambda generator, n: 5e-324 * generator.integers(1, 5, n),
    "huge totals": lambda generator, n: 1e300 * generator.integers(1, 5, n) * generator.choice([1, 1e-290], n),
}


@dataclass(frozen=True)
class Case:
    """A sample and a context, and its points from (0, 0) on in exact fractions."""

    y: np.ndarray
    score: np.ndarray
    weight: np.ndarray
    context: rs.Context

    def counts(self, rows=slice(None)):
        return rs.ThresholdCounts.from_scores(self.y[rows], self.score[rows], sample_weight=self.weight[rows])

    def points(self):
        """Return threshold, true and false positives of each point, in units of 2^-1074."""
        mass = {}
        for label, score, weight in zip(self.y.tolist(), self.score.tolist(), self.weight.tolist(), strict=True):
            over, under = weight.as_integer_ratio()
            mass.setdefault(score, [0, 0])[1 - label] += over * (SMALLEST // under)
        tp = fp = 0
        found = [(np.inf, tp, fp)]
        for score in sorted(mass, reverse=True):
            tp, fp = tp + mass[score][0], fp + mass[score][1]
            found.append((score, tp, fp))
        return found


def draw(generator, kind, most=8):
    """Return a Case with both classes, ties, and -0.0 among its scores."""
    n = int(generator.integers(2, most + 1))
    y = generator.integers(0, 2, n)
    y[:2] = [0, 1]
    score = generator.choice([-1.0, -0.0, 0.0, 0.25, 0.5, 0.75, 1.0, 2.0], n)
    while True:
        costs = [COSTS[i] for i in generator.integers(0, len(COSTS), 2)]
        if min(costs) >= 0 or max(costs) >= 0:
            break
    tp, tn = ([0, 0, 0, -1][i] for i in generator.integers(0, 4, 2))
    context = rs.Context(PREVALENCES[generator.integers(len(PREVALENCES))], *costs, tp, tn)
    if context.miss_cost < 0 and context.false_alarm_cost < 0:
        context = rs.Context()
    return Case(y, score, KINDS[kind](generator, n), context)


def wrapped(points):
    """Return the vertices of the upper hull: the next is seen under the steepest angle, the farthest of several."""
    chain = [points[0]]
    while chain[-1] is not points[-1]:
        _, y, x = chain[-1]
        ahead = [point for point in points if point[1] + point[2] > y + x]
        steepest = ahead[0]
        for point in ahead[1:]:
            if (point[1] - y) * (steepest[2] - x) >= (steepest[1] - y) * (point[2] - x):
                steepest = point
        chain.append(steepest)
    return chain


def cheapest(points, context):
    """Return the point of lowest cost; of several that of fewest positive predictions."""
    _, n_pos, n_neg = points[-1]
    costs = [oracle.exact(getattr(context, f"cost_{cell}")) for cell in ("tp", "fn", "fp", "tn")]
    if context.target_prevalence is not None:
        share = oracle.exact(context.target_prevalence)
        costs = [cost * part for cost, part in zip(costs, [share * n_neg] * 2 + [(1 - share) * n_pos] * 2, strict=True)]
    scale = math.lcm(*(cost.denominator for cost in costs))
    tp_cost, fn_cost, fp_cost, tn_cost = (int(cost * scale) for cost in costs)

    def order(point):
        _, tp, fp = point
        return tp_cost * tp + fn_cost * (n_pos - tp) + fp_cost * fp + tn_cost * (n_neg - fp), tp + fp

    return min(points, key=order)


def near(found, over, under=SMALLEST):
    """Whether a float is a fraction to 12 digits; those below the smallest floats have fewer."""
    p, q = found.as_integer_ratio()
    off = abs(p * under - over * q) * SMALLEST
    return off * 10**12 <= over * q * SMALLEST + q * under * 10**12


def faults(case):
    """Return what the library says otherwise than exact fractions do."""
    points, counts = case.points(), case.counts()
    hull, best = pool(counts), best_point(counts, case.context)
    threshold, tp, fp = cheapest(points, case.context)
    _, n_pos, n_neg = points[-1]
    everybody = tp + fp == n_pos + n_neg
    twice = sum((f1 - f0) * (t0 + t1) for (_, t0, f0), (_, t1, f1) in itertools.pairwise(points))
    cells = zip((best.tp, best.fp, best.fn, best.tn), (tp, fp, n_pos - tp, n_neg - fp), strict=True)
    checks = {
        "hull": hull.threshold.tolist() == [point[0] for point in wrapped(points)[1:]],
        "best": best.threshold == (-np.inf if everybody else threshold),
        "cells": all(near(found, exact) for found, exact in cells),
        "auc": near(rs.auc(counts), twice, 2 * n_pos * n_neg),
    }
    return [name for name, right in checks.items() if not right]


def faults_of_all(case):
    """Return what else the library says otherwise: every point, a hull of the hull, a union, a choice of two models."""
    points, counts = case.points(), case.counts()
    _, n_pos, n_neg = points[-1]
    merged = case.counts(slice(0, None, 2)) + case.counts(slice(1, None, 2))
    cells = zip(*(getattr(counts, cell).tolist() for cell in ("tp", "fp", "fn", "tn")), strict=True)
    exact = [(tp, fp, n_pos - tp, n_neg - fp) for _, tp, fp in points[1:]]
    hull = pool(counts)
    constant = rs.ThresholdCounts.from_scores(case.y, 0 * case.score, sample_weight=case.weight)
    chosen = rs.choose({"constant": constant, "model": counts}, case.context)
    first, best = cheapest(points, case.context)[1:], (chosen.point.tp, chosen.point.fp)
    limited = rs.choose(counts, case.context, subject_to="fpr <= 1")
    whole = [list(axis) for axis in zip(*(point[1:] for point in points), strict=True)]
    checks = {
        "points": all(near(*each) for row in zip(cells, exact, strict=True) for each in zip(*row, strict=True)),
        "hull of the hull": pool(hull).threshold.tolist() == hull.threshold.tolist(),
        "union": [
            [n * (SMALLEST // merged.exact_unit) for n in axis] for axis in merged.exact_sums_at(np.arange(len(points)))
        ]
        == whole,
        "two models": all(near(*each) for each in zip(best, first, strict=True)),
        "constrained": all(near(*each) for each in zip((limited.point.tp, limited.point.fp), first, strict=True)),
    }
    return [name for name, right in checks.items() if not right]
