"""Simulated samples of known area, many at once, and how often each kind of interval covers it."""

from itertools import product

import numpy as np
from scipy import special, stats

Z = stats.norm.ppf(0.975)
AREAS = (0.6, 0.7, 0.8, 0.9, 0.95)
SIZES = (50, 100, 200, 1000)
SHARES = (0.5, 0.1)
GRID = list(product(AREAS, SIZES, SHARES))


def shift(area):
    """Return the distance of two normal distributions whose ROC curve has this area."""
    return np.sqrt(2) * special.ndtri(area)


def simulate(area, n, share, samples, seed):
    """Return labels (n) and scores (samples × n) of binormal data."""
    rng = np.random.default_rng([seed, int(1000 * area), n, int(100 * share)])
    label = np.arange(n) < round(n * share)
    return label, rng.standard_normal((samples, n)) + label * shift(area)


def areas_and_variances(label, score):
    """Return the AUC of each row of scores without ties, and its DeLong variance."""
    order = np.argsort(score, axis=1)
    positive = label[order]
    n_pos, n_neg = label.sum(), (~label).sum()
    of_positives = np.cumsum(~positive, axis=1) / n_neg
    of_negatives = 1 - np.cumsum(positive, axis=1) / n_pos
    area = (of_positives * positive).sum(axis=1) / n_pos
    spread = [
        (((placed - area[:, None]) ** 2) * side).sum(axis=1) / (size - 1) / size
        for placed, side, size in ((of_positives, positive, n_pos), (of_negatives, ~positive, n_neg))
    ]
    return area, spread[0] + spread[1]


def newcombe_covers(found, area, n_pos, n_neg):
    """Whether the true area is not rejected, which is what the interval is made of."""
    half = (n_pos + n_neg) / 2 - 1
    spread = 1 + half * ((1 - area) / (2 - area) + area / (1 + area))
    return (found - area) ** 2 <= Z**2 * area * (1 - area) * spread / (n_pos * n_neg)


def coverage(area, n, share, samples, seed=0):
    """Return the share of 95% intervals that cover the area, for each method in closed form."""
    label, score = simulate(area, n, share, samples, seed)
    found, variance = areas_and_variances(label, score)
    score_covers = newcombe_covers(found, area, label.sum(), (~label).sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = Z * np.sqrt(variance)
        plain = abs(found - area) <= reach
        on_logits = abs(special.logit(found) - special.logit(area)) <= reach / (found * (1 - found))
    degenerate = variance <= 0
    return {
        "delong": np.where(degenerate, score_covers, plain).mean(),
        "logit": np.where(degenerate, score_covers, on_logits).mean(),
        "newcombe": score_covers.mean(),
    }
