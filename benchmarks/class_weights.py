"""Which way of setting class weights wins on rows that it has not seen.

Naive Bayes (see naive_bayes.py), stratified ten-fold cross-validation. Within each training part the weights are
learned from probabilities that an inner five-fold cross-validation gives its rows; with ``--learn-on training`` from
those that the model gives the rows it was made of, as Lachiche & Flach did. What is printed is the objective over all
held-out rows together, in percent, and the mean over repeats.

    python benchmarks/class_weights.py                    # the two data sets of several classes that rocscope has
    python benchmarks/class_weights.py --data FOLDER      # the 25 targets of Lachiche & Flach (2003), as CSV files
"""

import argparse
import csv
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from naive_bayes import NaiveBayes
from scipy.stats import wilcoxon
from sklearn.model_selection import StratifiedKFold

from rocscope import datasets
from rocscope.multiclass import tables
from rocscope.multiclass.line_search import Problem
from rocscope.multiclass.objective import Objective
from rocscope.multiclass.smooth import fit_recalibration
from rocscope.multiclass.weight_search import best_of_starts, coordinate_ascent, greedy

BRIDGES = ("T-OR-D", "MATERIAL", "SPAN", "REL-L", "TYPE")
FLARE = ("common", "moderate", "severe")
COLIC = ("surgical_lesion", "site", "type", "subtype", "code")
COLIC_UNUSED = ("hospital_number", "lesion_1", "lesion_2", "lesion_3", "cp_data", "outcome")
SINGLE = ("audiology", "car", "crx", "dermatology", "ecoli", "flag", "glass")
SINGLE += ("segmentation", "mushroom", "nursery", "post-operative", "voting")
# File, target, columns that must not be used: identifiers and the other targets.
TARGETS = [
    *((name, "class", ()) for name in SINGLE),
    *(("bridges2", target, ("IDENTIF", "LOCATION", *BRIDGES)) for target in BRIDGES),
    *(("flare2", target, FLARE) for target in FLARE),
    *(("horse-colic", target, (*COLIC_UNUSED, *COLIC)) for target in COLIC),
]
STATISTICS = {name: tables.STATISTICS[name] for name in ("accuracy", "balanced_accuracy", "macro_f1")}


def targets(folder: Path | None) -> Iterator[tuple[str, list[np.ndarray], np.ndarray]]:
    """Yield the name, the attributes and the class of each target."""
    if folder is None:
        for data in map(datasets.load, ("car", "nursery")):
            yield data.name, [np.asarray(column).astype(str) for column in data.X.values()], data.y
        return
    for name, target, unused in TARGETS:
        with (folder / f"{name}.csv").open(newline="") as file:
            rows = [row for row in csv.DictReader(file) if row[target]]
        used = [column for column in rows[0] if column not in {target, *unused}]
        label = name if target == "class" else f"{name} {target}"
        yield label, [np.array([row[c] for row in rows]) for c in used], np.array([row[target] for row in rows])


def folds(y: np.ndarray, splits: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield training and test rows; a class of fewer cases than folds is spread as far as it goes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from StratifiedKFold(splits, shuffle=True, random_state=seed).split(y, y)


def out_of_fold(attributes: list[np.ndarray], y: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Return probabilities of rows from models that were made without them."""
    proba = np.empty((y.size, k))
    for train, test in folds(y, 5, seed):
        model = NaiveBayes([column[train] for column in attributes], y[train], k)
        proba[test] = model.probabilities([column[test] for column in attributes])
    return proba


def learned(y: np.ndarray, proba: np.ndarray, objective: str) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the class weights that each method learns from rows."""
    k = proba.shape[1]
    support = np.bincount(y, minlength=k)
    problem = Problem(y, proba, np.ones(1), Objective.of(objective, support, tuple(range(k))))
    recalibration = fit_recalibration(y, proba, np.ones(y.size))
    by_greed, smooth = greedy(problem), recalibration.class_weight
    if objective == "balanced_accuracy":
        smooth = smooth * np.where(support > 0, support / y.size, 1.0) ** -recalibration.temperature
    yield "w = 1", np.ones(k)
    yield "greedy", by_greed
    yield "ascent from 1", coordinate_ascent(problem, np.ones(k))
    yield "coordinate", best_of_starts(problem, [by_greed, smooth])
    yield "smooth", smooth
    yield "smooth, ascent", coordinate_ascent(problem, smooth)


def trial(attributes: list[np.ndarray], y: np.ndarray, k: int, seed: int, args: argparse.Namespace) -> dict:
    """Return the confusion matrix of the held-out rows by method."""
    counts: dict[str, np.ndarray] = {}
    for train, test in folds(y, 10, seed):
        known = [column[train] for column in attributes]
        model = NaiveBayes(known, y[train], k)
        proba = model.probabilities([column[test] for column in attributes])
        inner = model.probabilities(known) if args.learn_on == "training" else out_of_fold(known, y[train], k, seed)
        for method, weight in learned(y[train], inner, args.objective):
            cell = y[test] * k + (proba * weight).argmax(axis=1)
            counts[method] = counts.get(method, 0) + np.bincount(cell, minlength=k * k).reshape(k, k)
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of CSV files")
    parser.add_argument("--objective", choices=STATISTICS, default="accuracy")
    parser.add_argument("--learn-on", choices=("out-of-fold", "training"), default="out-of-fold")
    parser.add_argument("--repeats", type=int, default=1)
    args = parser.parse_args()
    found = {}
    for name, attributes, labels in targets(args.data):
        classes, y = np.unique(labels, return_inverse=True)
        runs = [trial(attributes, y, classes.size, seed, args) for seed in range(args.repeats)]
        statistic = STATISTICS[args.objective]
        found[name] = {method: 100 * np.mean([statistic(run[method]) for run in runs]) for method in runs[0]}
        if len(found) == 1:
            print(" " * 28 + "".join(f"{method:>15}" for method in found[name]))
        print(f"{name:28}" + "".join(f"{value:15.2f}" for value in found[name].values()), flush=True)
    methods = list(next(iter(found.values())))
    table = np.array([list(row.values()) for row in found.values()])
    print(f"{'mean':28}" + "".join(f"{value:15.2f}" for value in table.mean(axis=0)))
    for i, method in enumerate(methods):
        for j, other in enumerate(methods[:i]):
            gain = table[:, i] - table[:, j]
            p = wilcoxon(gain).pvalue if gain.any() else 1.0
            better, worse = (gain > 0).sum(), (gain < 0).sum()
            print(f"{method} − {other}: {gain.mean():+.2f}, better on {better}, worse on {worse}, Wilcoxon p={p:.3g}")


if __name__ == "__main__":
    main()
