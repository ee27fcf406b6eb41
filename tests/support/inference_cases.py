"""Slow definitions that the intervals and tests are compared with, and small cases full of ties."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st


@st.composite
def cases(draw, *, models=1, most=14, least=2, weight=None, groups=None):
    """Draw labels with `least` rows of each class, scores of some models, and perhaps weights and groups."""
    n = draw(st.integers(2 * least, most))
    label = draw(st.permutations([1] * least + [0] * least + draw(_list(st.integers(0, 1), n - 2 * least))))
    scores = {name: np.array(draw(_list(st.integers(-3, 3), n))) for name in "abcd"[:models]}
    extra = [np.array(draw(_list(strategy, n))) for strategy in (weight, groups) if strategy is not None]
    return np.array(label), scores, *extra


def _list(element, n):
    return st.lists(element, min_size=n, max_size=n)


def heaviside(positive, negative):
    """What a pair counts: 1, 1/2 or 0."""
    return Fraction(int(positive > negative) * 2 + int(positive == negative), 2)


def components(label, score):
    """Return the placements of positives and negatives, pair by pair, by the O(P·N) definition."""
    pos, neg = [score[label == side].tolist() for side in (1, 0)]
    of_positives = [sum((heaviside(p, n) for n in neg), Fraction(0)) / len(neg) for p in pos]
    of_negatives = [sum((heaviside(p, n) for p in pos), Fraction(0)) / len(pos) for n in neg]
    return of_positives, of_negatives


def mean(values):
    return sum(values, Fraction(0)) / len(values)


def delong_covariance(label, first, second):
    """Return the covariance of two AUCs as an exact fraction (DeLong et al. 1988, eq. 4–5)."""
    total = Fraction(0)
    for one, other in zip(components(label, first), components(label, second), strict=True):
        products = [(a - mean(one)) * (b - mean(other)) for a, b in zip(one, other, strict=True)]
        total += sum(products, Fraction(0)) / (len(one) - 1) / len(one)
    return total


def obuchowski_covariance(label, first, second, groups):
    """Return the covariance of two AUCs of clustered rows (Obuchowski 1997), group by group."""
    sides = [components(label, score) for score in (first, second)]
    names = [groups[label == side].tolist() for side in (1, 0)]
    n_pos, n_neg = map(len, names)
    distinct = sorted(set(groups.tolist()))

    def residual(model, side, name):
        values = sides[model][side]
        centre = mean(values)
        return sum((v - centre for v, owner in zip(values, names[side], strict=True) if owner == name), Fraction(0))

    def spread(side_a, side_b, count):
        total = sum((residual(0, side_a, name) * residual(1, side_b, name) for name in distinct), Fraction(0))
        return Fraction(count, count - 1) * total

    holding = [len(set(side)) for side in names]
    return (
        spread(0, 0, holding[0]) / n_pos**2
        + spread(1, 1, holding[1]) / n_neg**2
        + (spread(0, 1, len(distinct)) + spread(1, 0, len(distinct))) / (n_pos * n_neg)
    )
