"""How often bands around averages over folds, and around learning curves, hold what they are about.

As a script (``python band_cases.py [SAMPLES]``) it prints the tables of docs/guide/evaluation/averages-over-folds.md
and evaluation.md.
"""

import sys
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm
from sklearn.model_selection import StratifiedShuffleSplit

import rocscope as rs
from nested_cases import DESIGNS, LINES, Design, drawn_folds

FPR = np.array([0.05, 0.1, 0.2, 0.4])
SHIFT = 1.5
THRESHOLD = SHIFT - norm.ppf(0.6 + 0.3 * np.arange(2))  # true positive rates of 0.6 and 0.9
METHODS = ("vertical", "threshold", "pooled")
FRESH = 20_000
LEARNED = Design(LINES, "auc", 300, 10, 0.6, 0.3, 0.4)
RUNS = 20


@dataclass(frozen=True)
class Folds:
    """Rows of a sample, `repeats` times in folds; scores of a fixed model, or of one learned without the fold."""

    n: int
    folds: int
    learned: bool
    repeats: int = 1
    holdout: float = 0.0


CASES = {
    "a fixed model, 10 folds of 50": Folds(500, 10, False),
    "a fixed model, 5 folds of 40": Folds(200, 5, False),
    "learned, 10 folds of 30": Folds(300, 10, True),
    "learned, 10 folds of 30, 3 repeats": Folds(300, 10, True, 3),
    "learned, 20 holdouts of a third": Folds(300, 20, True, 1, 1 / 3),
}


def splits(case, y, rng):
    """Return the rows, folds and repeats of all tested rows, in one long table."""
    if case.holdout:
        seed = int(rng.integers(2**31))
        parts = StratifiedShuffleSplit(case.folds, test_size=case.holdout, random_state=seed).split(y, y)
        tested = [test for _, test in parts]
        return np.concatenate(tested), *[np.repeat(np.arange(len(tested)), [t.size for t in tested])] * 2
    fold = [drawn_folds(y, case.folds, rng) + case.folds * repeat for repeat in range(case.repeats)]
    repeat = np.repeat(np.arange(case.repeats), y.size) if case.repeats > 1 else None
    return np.tile(np.arange(y.size), case.repeats), np.concatenate(fold), repeat


def sampled(case, rng, fresh):
    """Return predictions by fold, and the true curve: the true positive rate at `FPR`, and both rates at thresholds."""
    if not case.learned:
        y = (rng.random(case.n) < 0.4).astype(int)
        score = rng.standard_normal(case.n) + SHIFT * y
        row, fold, repeat = splits(case, y, rng)
        preds = rs.Predictions(y[row], score[row], fold=fold, row=row, repeat=repeat)
        return preds, norm.cdf(norm.ppf(FPR) + SHIFT), THRESHOLD, (norm.sf(THRESHOLD), norm.sf(THRESHOLD - SHIFT))
    X, y = LEARNED.sample(case.n, rng)
    row, fold, repeat = splits(case, y, rng)
    model, score = LINES["discriminant"], np.empty(row.size)
    for one in np.unique(fold):
        test = row[fold == one]
        train = np.setdiff1d(np.arange(case.n), test)
        score[fold == one] = model.fit(X[train], y[train]).decision_function(X[test])
    preds = rs.Predictions(y[row], score, fold=fold, row=row, repeat=repeat)
    model.fit(X, y)
    high, low = (model.decision_function(fresh[0][fresh[1] == label]) for label in (1, 0))
    cut = np.quantile(low, 1 - FPR)
    at = np.array([-0.5, 0.5])
    rates = tuple((values[:, None] >= at).mean(axis=0) for values in (low, high))
    return preds, (high[:, None] >= cut).mean(axis=0), at, rates


def held(band, x, truth):
    """Return whether a band holds the truth at x: on the straight lines between its points."""
    low, high = (np.interp(x, band.x, end) for end in (band.low, band.high))
    return (low <= truth) & (truth <= high)


def study(case, samples, seed=0):
    """Return by method the share of points, over samples and places, at which the band held the truth."""
    rng = np.random.default_rng([seed, case.n, case.folds, case.repeats])
    fresh = LEARNED.sample(FRESH, rng) if case.learned else None
    found = dict.fromkeys((*METHODS, "threshold, x"), 0.0)
    for _ in range(samples):
        preds, rate, at, (fpr, tpr) = sampled(case, rng, fresh)
        vertical = rs.evaluation.average_curve(preds, grid=FPR)
        by_threshold = rs.evaluation.average_curve(preds, method="threshold", grid=at)
        pooled = rs.evaluation.average_curve(preds, method="pooled")
        place = np.searchsorted(-by_threshold.threshold, -at)
        y, x = by_threshold.band, by_threshold.x_band
        found["vertical"] += held(vertical.band, FPR, rate).mean()
        found["threshold"] += ((y.low[place] <= tpr) & (tpr <= y.high[place])).mean()
        found["threshold, x"] += ((x.low[place] <= fpr) & (fpr <= x.high[place])).mean()
        found["pooled"] += held(pooled.band, FPR, rate).mean()
    return {name: total / samples for name, total in found.items()}


def learning(samples, runs=RUNS, seed=0):
    """Return how often the 80% band of a learning curve held one further run: on the same rows, and on new ones."""
    rng = np.random.default_rng(seed)
    design, sizes = DESIGNS["AUC"], [20, 66]
    model, found = design.models["nearest mean"], np.zeros(2)
    for _ in range(samples):
        X, y = design.sample(design.n, rng)
        other_X, other_y = design.sample(design.n, rng)
        seeds = rng.integers(2**31, size=3)
        curve, same, other = (
            rs.evaluation.learning_curve(
                {"m": model}, *rows, sizes=sizes, repeats=repeats, random_state=int(one), progress=False
            )
            for rows, repeats, one in zip(((X, y), (X, y), (other_X, other_y)), (runs, 1, 1), seeds, strict=True)
        )
        band = curve.band()
        for place, further in enumerate((same, other)):
            found[place] += ((band.low <= further.values["m"][0]) & (further.values["m"][0] <= band.high)).mean()
    return found / samples


if __name__ == "__main__":
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    for name, case in CASES.items():
        print(
            name, *(f"{what} {100 * share:.1f}" for what, share in study(case, samples).items()), sep=" | ", flush=True
        )
    print("learning curve, same rows and new ones", *(f"{100 * share:.1f}" for share in learning(samples)), sep=" | ")
