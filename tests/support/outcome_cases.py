"""Cohorts with censoring and competing risks, as those were made that R's figures are of."""

import numpy as np


def cohort(seed, n, competing=False, ties=False, censoring=2.0):
    """Return time, event (0 censored, 1, and 2 if competing) and the scores of two models."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=n), rng.normal(size=n)
    first = rng.exponential(np.exp(-x))
    censored = rng.exponential(censoring, size=n)
    other = rng.exponential(2 * np.exp(0.3 * z)) if competing else np.full(n, np.inf)
    a = 1 / (1 + np.exp(-(x + 0.5 * rng.normal(size=n))))
    b = 1 / (1 + np.exp(-(0.6 * x + 0.8 * rng.normal(size=n))))
    time = np.minimum(np.minimum(first, other), censored).round(1 if ties else 3)
    event = np.where((censored < first) & (censored < other), 0, np.where(first <= other, 1, 2))
    if ties:
        a, b = a.round(1), b.round(1)
    return np.maximum(time, 0.05 if ties else 0.001), event, {"a": a, "b": b}


def mailing(seed, n, share=0.5, ties=False, effect=0.1):
    """Return responses, treatment and the score of an experiment in which contact helps those with a high score."""
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    treated = rng.random(n) < share
    response = rng.random(n) < 0.1 + 0.1 * (1 - x) + effect * treated * (2 * x - 0.5)
    score = x + 0.3 * rng.normal(size=n)
    return response.astype(int), treated.astype(int), score.round(1) if ties else score
