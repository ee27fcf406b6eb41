"""Time of the evaluations of more than two classes: 10⁶ rows, 10 classes, beside scikit-learn in the same run.

    python benchmarks/bench_multiclass.py [--rows 1000000] [--classes 10]

Each time is the best of three, after a first call that compiles.
"""

import argparse
from collections.abc import Callable

import numpy as np
from sklearn.metrics import roc_auc_score
from timing import took

import rocscope as rs
from rocscope.multiclass.areas import VARIANTS

REPEATS = 3


def simulate(n: int, k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return labels of unequal frequency and over-confident probabilities."""
    rng = np.random.default_rng(seed)
    y = rng.choice(k, n, p=np.arange(1, k + 1) / (k * (k + 1) / 2))
    score = rng.normal(size=(n, k))
    score[np.arange(n), y] += 1.5
    proba = np.exp(score)
    return y, proba / proba.sum(axis=1, keepdims=True)


def timed(function: Callable[[], object], repeats: int = REPEATS) -> tuple[float, float]:
    """Return the shortest elapsed time, and the shortest processor time."""
    found = [took(function) for _ in range(repeats)]
    return min(each.seconds for each in found), min(each.processor for each in found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--classes", type=int, default=10)
    args = parser.parse_args()
    y, proba = simulate(args.rows, args.classes)
    preds = rs.multiclass.MulticlassPredictions(y, proba)
    weight = np.random.default_rng(1).random(args.rows)
    weighted = rs.multiclass.MulticlassPredictions(y, proba, sample_weight=weight)

    def variants(data: rs.multiclass.MulticlassPredictions) -> list[float]:
        auc = rs.multiclass.multiclass_auc(data)
        return [float(auc.average(name)) for name in VARIANTS]

    small = preds.select(np.arange(args.rows) % 10 == 0)
    rs.multiclass.multiclass_auc(small)
    rs.multiclass.class_weights(small, method="coordinate")
    tasks = {
        "scikit-learn, ovo": (lambda: roc_auc_score(y, proba, multi_class="ovo"), 1),
        "input checked": (lambda: rs.multiclass.MulticlassPredictions(y, proba), REPEATS),
        "Hand & Till, arrays in": (lambda: rs.multiclass.multiclass_auc(y, proba).hand_till, REPEATS),
        "all AUC variants": (lambda: variants(preds), REPEATS),
        "all AUC variants, weighted": (lambda: variants(weighted), REPEATS),
        "all variants with intervals": (lambda: [rs.multiclass.multiclass_auc(preds).interval(v) for v in VARIANTS], 1),
        "confusion matrix": (preds.confusion, REPEATS),
        "Dirichlet recalibration, 5 folds": (lambda: rs.multiclass.recalibrate_classes(preds), 1),
        "calibration curves of all classes": (lambda: rs.multiclass.multiclass_calibration_curves(preds), 1),
        "class weights, smooth": (lambda: rs.multiclass.class_weights(preds), 1),
        "class weights, greedy": (lambda: rs.multiclass.class_weights(preds, method="greedy"), 1),
        "class weights, coordinate": (lambda: rs.multiclass.class_weights(preds, method="coordinate"), 1),
        "class weights, macro-F1": (lambda: rs.multiclass.class_weights(preds, objective="macro_f1"), 1),
    }
    print(f"{args.rows:,} rows, {args.classes} classes{'':14}elapsed   processor")
    times = {}
    for name, (task, repeats) in tasks.items():
        times[name] = timed(task, repeats)
        print(f"{name:40}{times[name][0]:8.3f} s{times[name][1]:10.3f} s", flush=True)
    ratio = times["scikit-learn, ovo"][0] / times["Hand & Till, arrays in"][0]
    busy = times["scikit-learn, ovo"][1] / times["Hand & Till, arrays in"][1]
    print(f"scikit-learn's ovo over Hand & Till from the same arrays: {ratio:.1f} (processor time: {busy:.1f})")


if __name__ == "__main__":
    main()
