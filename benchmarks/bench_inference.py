"""How fast intervals and tests are: ratios to what one would write without rocscope, measured in one run.

Run with ``python benchmarks/bench_inference.py``. Each time is the best of three after a warm-up; the bounds are those
that the project set itself, on two cores.
"""

import numpy as np
from sklearn.metrics import roc_auc_score
from timing import best_of

import rocscope as rs

REPLICATES = 2_000


def sample(n: int, levels: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and scores, rounded to at most so many distinct values."""
    rng = np.random.default_rng(n)
    label = rng.integers(0, 2, n)
    score = label + rng.normal(size=n)
    if levels:
        score = np.clip((score + 5) * levels / 11, 0, levels - 1).astype(np.int64)
    return label, score


def resample_rows(label: np.ndarray, score: np.ndarray, replicates: int) -> list[float]:
    """Bootstrap as it is usually written."""
    rng = np.random.default_rng(0)
    areas = []
    for _ in range(replicates):
        rows = rng.integers(0, label.size, label.size)
        areas.append(roc_auc_score(label[rows], score[rows]))
    return areas


def report(what: str, figure: str, bound: str, holds: bool) -> None:
    print(f"{what:<72} {figure:>12}   {bound:<10} {'holds' if holds else 'MISSED'}")


def main() -> None:
    label, first = sample(1_000_000)
    second = first + np.random.default_rng(1).normal(size=label.size)
    both = rs.Predictions(label, {"a": first, "b": second})
    paired = best_of(lambda: rs.compare(both))
    report("paired DeLong test of two models, 1,000,000 rows", f"{paired:.2f} s", "≤ 1 s", paired <= 1)

    label, score = sample(10_000)
    counts = rs.ThresholdCounts.from_scores(label, score)
    ours = best_of(lambda: rs.bootstrap(counts, rs.auc, replicates=REPLICATES))
    rows = 50
    theirs = best_of(lambda: resample_rows(label, score, rows), rounds=1) * REPLICATES / rows
    ratio = theirs / ours
    what = f"{REPLICATES:,} replicates of AUC, 10,000 rows, against rows and scikit-learn"
    report(what, f"{ratio:.0f} ×", "≥ 50 ×", ratio >= 50)

    label, score = sample(1_000_000, levels=10_000)
    counts = rs.ThresholdCounts.from_scores(label, score)
    large = best_of(lambda: rs.bootstrap(counts, rs.auc, replicates=REPLICATES), rounds=1)
    what = f"{REPLICATES:,} replicates of AUC, 1,000,000 rows, {len(counts):,} distinct scores"
    report(what, f"{large:.2f} s", "≤ 5 s", large <= 5)

    label, score = sample(1_000)
    small = best_of(lambda: rs.auc_interval(label, score))
    slow = best_of(lambda: roc_auc_score(label, score))
    what = "AUC with its interval, 1,000 rows, against scikit-learn's AUC alone"
    report(what, f"{slow / small:.1f} ×", "≥ 1 ×", slow >= small)


if __name__ == "__main__":
    main()
