"""Compare methods that learn class weights, on held-out rows.

The script runs a stratified ten-fold cross-validation of naive Bayes on the 25 targets of Lachiche & Flach (2003). In
each training part, the weights are learned from the out-of-fold probabilities of an inner five-fold cross-validation.
With ``--learn-on training``, they are learned from the probabilities that the model predicts for its own training rows.
The script prints the objective on all held-out rows together, in percent, as a mean over repeats. With ``--objective
cost``, it prints the cost per hundred cases. The costs of errors are then random numbers from 1 to 10, different in
each repeat, and "w = 1" predicts the class with the lowest expected cost.

    python examples/papers/class_weights_trial.py                  # the two data sets of several classes in rocscope
    python examples/papers/class_weights_trial.py --data FOLDER    # the 25 targets, as CSV files
"""

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from data import LACHICHE_FLACH, NotFoundError, Table, load
from naive_bayes import BinnedNaiveBayes
from running import fold_probabilities, folds, out_of_fold
from scipy.stats import wilcoxon

import rocscope as rs
from rocscope.multiclass import confusion as tables
from rocscope.multiclass.class_weighting import (
    Objective,
    Problem,
    balanced_weights,
    best_of_starts,
    coordinate_ascent,
    fit_recalibration,
    greedy,
    recalibrate,
)

Decide = Callable[[np.ndarray], np.ndarray]

STATISTICS = {name: tables.STATISTICS[name] for name in ("accuracy", "balanced_accuracy", "macro_f1")}


def targets(folder: Path | None) -> Iterator[tuple[str, Table]]:
    """Yield the name and the table of each target whose data are in the folder or in rocscope."""
    for task in LACHICHE_FLACH:
        try:
            yield task.label, load(task, folder, network=False)
        except NotFoundError as error:
            if folder is not None:
                print(f"{task.label}: {error}")


def learned(
    y: np.ndarray, proba: np.ndarray, objective: str, cost: rs.multiclass.CostMatrix
) -> Iterator[tuple[str, Decide]]:
    """Yield the name of each method and its decision rule, a function from probabilities to class indices."""
    k = proba.shape[1]
    support = np.bincount(y, minlength=k)
    target = cost if objective == "cost" else objective
    problem = Problem(y, proba, np.ones(y.size), Objective.of(target, support, cost.classes))
    by_likelihood, temperature = fit_recalibration(y, proba, np.ones(y.size))
    by_greed = greedy(problem)
    smooth = by_likelihood
    if objective == "balanced_accuracy":
        smooth = balanced_weights(by_likelihood, temperature, support)
    weights = {
        "greedy": by_greed,
        "ascent from 1": coordinate_ascent(problem, np.ones(k)),
        "coordinate": best_of_starts(problem, [by_greed, smooth]),
        "smooth": smooth,
        "smooth, ascent": coordinate_ascent(problem, smooth),
    }
    decisions: dict[str, Decide] = {name: partial(largest, weight) for name, weight in weights.items()}
    if objective == "cost":
        decisions["smooth"] = lambda p: cost.decide(recalibrate(p, by_likelihood, temperature))
        yield "w = 1", cost.decide
    else:
        yield "w = 1", partial(largest, np.ones(k))
    yield from decisions.items()


def largest(weight: np.ndarray, proba: np.ndarray) -> np.ndarray:
    """Return the index of the class with the largest weighted probability."""
    return (proba * weight).argmax(axis=1)


def random_costs(k: int, seed: int) -> rs.multiclass.CostMatrix:
    """Return a cost matrix in which errors have random costs from 1 to 10."""
    cost = np.random.default_rng(seed).integers(1, 11, (k, k))
    np.fill_diagonal(cost, 0)
    return rs.multiclass.CostMatrix(cost, classes=range(k), rows="actual")


def trial(table: Table, seed: int, args: argparse.Namespace) -> dict:
    """Return the confusion matrix of the held-out rows for each method."""
    y, k = table.y, len(table.classes)
    model, cost = BinnedNaiveBayes(nominal=table.nominal, classes=range(k)), random_costs(k, seed)
    counts: dict[str, np.ndarray] = {}
    for train, test in folds(y, 10, seed):
        proba = fold_probabilities(model, table.X, y, k, train, test)
        if args.learn_on == "training":
            inner = fold_probabilities(model, table.X, y, k, train, train)
        else:
            inner = out_of_fold(model, table.X[train], y[train], k, 5, seed)
        for method, decide in learned(y[train], inner, args.objective, cost):
            cell = y[test] * k + decide(proba)
            counts[method] = counts.get(method, 0) + np.bincount(cell, minlength=k * k).reshape(k, k)
    return counts


def value(counts: np.ndarray, objective: str, seed: int) -> float:
    """Return the objective on the held-out rows, or their cost per case."""
    if objective == "cost":
        return (random_costs(len(counts), seed).cost * counts).sum() / counts.sum()
    return float(STATISTICS[objective](counts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of CSV files")
    parser.add_argument("--objective", choices=(*STATISTICS, "cost"), default="accuracy")
    parser.add_argument("--learn-on", choices=("out-of-fold", "training"), default="out-of-fold")
    parser.add_argument("--repeats", type=int, default=1)
    args = parser.parse_args()
    found = {}
    for name, table in targets(args.data):
        runs = [trial(table, seed, args) for seed in range(args.repeats)]
        found[name] = {
            method: 100 * np.mean([value(run[method], args.objective, seed) for seed, run in enumerate(runs)])
            for method in runs[0]
        }
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
            if args.objective == "cost":
                better, worse = worse, better
            print(f"{method} − {other}: {gain.mean():+.2f}, better on {better}, worse on {worse}, Wilcoxon p={p:.3g}")


if __name__ == "__main__":
    main()
