"""How fast averages over folds and the price of choosing are: ratios to what one would write without rocscope.

Run with ``python benchmarks/bench_evaluation.py``. Both times of a ratio are taken in one run.
"""

import numpy as np
from sklearn.metrics import roc_curve
from timing import best_of

import rocscope as rs

REPLICATES = 2_000
SHOWN = 50
COST_FN = 5


def sample(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    label = (rng.random(n) < 0.3).astype(int)
    return label, label + rng.normal(size=n)


def choose_on_rows(label: np.ndarray, score: np.ndarray, replicates: int) -> list[float]:
    """Draw rows, rank them, choose, and judge the choice on the sample, as it is usually written."""
    rng = np.random.default_rng(0)
    optimism = []
    for _ in range(replicates):
        rows = rng.integers(0, label.size, label.size)
        fpr, tpr, threshold = roc_curve(label[rows], score[rows], drop_intermediate=False)
        share = label[rows].mean()
        cost = share * COST_FN * (1 - tpr) + (1 - share) * fpr
        best = cost.argmin()
        said = score >= threshold[best]
        there = (COST_FN * (~said & (label == 1)) + (said & (label == 0))).mean()
        optimism.append(there - cost[best])
    return optimism


def average_on_grid(label: np.ndarray, score: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """Average at 101 points, as scikit-learn's example does."""
    grid = np.linspace(0, 1, 101)
    return np.mean([np.interp(grid, *roc_curve(label[fold == k], score[fold == k])[:2]) for k in range(10)], axis=0)


def report(what: str, ours: float, theirs: float) -> None:
    print(f"{what:<76} {ours:7.2f} s   {theirs / ours:6.1f} times as fast as row by row")


def time_choice(n: int, rounds: int) -> None:
    label, score = sample(n)
    preds = rs.Predictions(label, score)
    slow = best_of(lambda: choose_on_rows(label, score, SHOWN), 1) * REPLICATES / SHOWN
    fast = best_of(lambda: rs.evaluation.optimism(preds, rs.Context(cost_fn=COST_FN), progress=False), rounds)
    report(f"optimism with 5 × 10-fold cross-validation, 2,000 replicates, {n:,} rows", fast, slow)


def main() -> None:
    for n, rounds in ((1_000, 3), (10_000, 3), (100_000, 1)):
        time_choice(n, rounds)
    label, score = sample(1_000_000)
    fold = np.arange(label.size) % 10
    preds = rs.Predictions(label, score, fold=fold)
    fast, slow = (
        best_of(call, 2)
        for call in (lambda: rs.evaluation.average_curve(preds), lambda: average_on_grid(label, score, fold))
    )
    report("vertical average of ten folds with band and both AUCs, 1,000,000 rows", fast, slow)


if __name__ == "__main__":
    main()
