"""Time and memory with hundreds of classes: areas beside scikit-learn, intervals of tables, and a report.

    python benchmarks/bench_many_classes.py

Processor seconds, each after a first small call. scikit-learn's "ovo" computes two areas for each pair of classes: of a
thousand random pairs the mean time is measured, and multiplied by the number of pairs. Memory is the highest that
Python allocated in a second run (tracemalloc).
"""

import tracemalloc
from collections.abc import Callable
from time import process_time

import numpy as np
from bench_multiclass import simulate
from sklearn.metrics import roc_auc_score

import rocscope as rs
from rocscope.report import Report

PAIRS = 1_000


def seconds(function: Callable[[], object]) -> float:
    """Return the processor time of one call."""
    start = process_time()
    function()
    return process_time() - start


def seconds_of_pairs(y: np.ndarray, proba: np.ndarray) -> float:
    """Return the time of scikit-learn's "ovo" for all pairs of classes, from some of them."""
    rng, k = np.random.default_rng(0), proba.shape[1]

    def areas_of_pairs() -> None:
        for _ in range(PAIRS):
            a, b = rng.choice(k, 2, replace=False)
            rows = (y == a) | (y == b)
            roc_auc_score(y[rows] == a, proba[rows, a])
            roc_auc_score(y[rows] == b, proba[rows, b])

    return seconds(areas_of_pairs) * k * (k - 1) / 2 / PAIRS


def compare_areas(n: int, k: int) -> None:
    """Print the times of all averages of areas, and of scikit-learn's."""
    y, proba = simulate(n, k)
    y[:k] = np.arange(k)  # scikit-learn needs a case of each class
    preds = rs.multiclass.MulticlassPredictions(y, proba)
    ours = seconds(lambda: rs.multiclass.multiclass_auc(preds).aunu)
    interval = seconds(lambda: rs.multiclass.multiclass_auc(preds).interval("hand_till"))
    against_rest = seconds(lambda: roc_auc_score(y, proba, multi_class="ovr"))
    print(f"{n:,} × {k:,}: areas of all pairs and against the rest {ours:.2f} s, with an interval {interval:.2f} s;")
    print(f"  scikit-learn: ovr {against_rest:.2f} s, ovo {seconds_of_pairs(y, proba):,.0f} s", flush=True)


def main() -> None:
    rs.multiclass.multiclass_auc(*simulate(500, 5)).interval()
    for n, k in ((5_000, 300), (20_000, 1_000)):
        compare_areas(n, k)

    rng, k = np.random.default_rng(0), 1_000
    matrix = rs.multiclass.ConfusionMatrix(rng.poisson(0.02 + 20 * np.eye(k)), rows="actual")
    for name in ("balanced_accuracy", "kappa", "mcc", "macro_f1"):
        elapsed = seconds(lambda name=name: matrix.interval(name))
        tracemalloc.start()
        matrix.interval(name)
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        print(f"interval of {name}, {k:,} classes: {elapsed:.2f} s, {peak:.0f} MiB", flush=True)

    preds = rs.multiclass.MulticlassPredictions(*simulate(20_000, 100))
    print(f"report, 20,000 × 100: {seconds(lambda: Report(preds).html):.1f} s")


if __name__ == "__main__":
    main()
