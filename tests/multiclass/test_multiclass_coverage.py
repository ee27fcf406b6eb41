"""Coverage of multi-class intervals over random designs: 3 to 10 unbalanced classes, weights and groups."""

from functools import cache

import numpy as np
import pytest

import rocscope as rs
from rocscope.multiclass import confusion

FIGURES = ("balanced_accuracy", "kappa", "macro_f1", "hand_till", "brier")
KINDS = ("plain", "weighted", "grouped")
LEAST = 0.93


def rows(seed, n, kind, rng):
    """Return predictions of n rows of a random design, whose numbers follow from the seed."""
    design = np.random.default_rng(seed)
    k = int(design.integers(3, 11))
    share = 0.3 / k + 0.7 * design.dirichlet(np.full(k, 1.5))
    signal = design.uniform(1.0, 3.0, k)
    size = int(design.integers(2, 6)) if kind == "grouped" else 1
    group = np.repeat(np.arange(-(-n // size)), size)[:n]
    y = rng.choice(k, n, p=share)
    noise = rng.normal(size=(n, k))
    if kind == "grouped":
        # A group shares its class in half of the rows, and a part of its noise.
        first = y[np.searchsorted(group, group)]
        y = np.where(rng.random(n) < 0.5, first, y)
        noise = 0.8 * noise + 0.6 * rng.normal(size=(n, k))[np.searchsorted(group, group)]
    logit = noise + np.log(share)
    logit[np.arange(n), y] += signal[y]
    proba = np.exp(logit)
    columns = {}
    if kind == "grouped":
        columns["groups"] = group
    if kind == "weighted":
        # Rows were sampled by a probability that depends on the noise; weights are its reciprocal.
        columns["sample_weight"] = np.where(noise[:, 0] > 0, 1.0, 3.0)
        kept = rng.random(n) < np.where(noise[:, 0] > 0, 1.0, 1 / 3)
        y, proba, columns["sample_weight"] = y[kept], proba[kept], columns["sample_weight"][kept]
    return rs.multiclass.MulticlassPredictions(y, proba, classes=range(k), normalize=True, **columns)


def estimate(preds, figure):
    if figure == "brier":
        return rs.multiclass.multiclass_score(preds)
    if figure == "hand_till":
        return rs.multiclass.multiclass_auc(preds).interval()
    return preds.confusion().interval(figure)


@cache
def truth(seed, kind):
    """Return the figures of the population, from 200,000 rows (without weights)."""
    preds = rows(seed, 200_000, "plain" if kind == "weighted" else kind, np.random.default_rng(1000 + seed))
    counts = preds.confusion().counts
    values = {name: float(confusion.STATISTICS[name](counts)) for name in FIGURES[:3]}
    values["hand_till"] = rs.multiclass.multiclass_auc(preds).hand_till.value
    return values | {"brier": rs.multiclass.multiclass_brier(preds)}


def coverage(seed, samples):
    """Return, for each figure, the share of reliable intervals that cover, and their number."""
    kind = KINDS[seed % 3]
    rng = np.random.default_rng(seed)
    n = int(np.random.default_rng(100 + seed).integers(120, 500))
    expected = truth(seed, kind)
    covered = {figure: [] for figure in FIGURES}
    for _ in range(samples):
        preds = rows(seed, n, kind, rng)
        for figure in FIGURES:
            result = estimate(preds, figure)
            if result.reliable:
                covered[figure].append(result.low <= expected[figure] <= result.high)
    return {figure: (np.mean(hits), len(hits)) for figure, hits in covered.items() if hits}


def check(seed, samples):
    for figure, (share, reliable) in coverage(seed, samples).items():
        least = LEAST - 2 * np.sqrt(LEAST * (1 - LEAST) / reliable)
        assert share >= least, (figure, KINDS[seed % 3], share, reliable)


@pytest.mark.slow(reason="full simulations")
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.filterwarnings("ignore")
def test_intervals_cover(seed):
    check(seed, 500)


@pytest.mark.filterwarnings("ignore")
def test_intervals_cover_in_a_few_samples():
    check(2, 60)
