"""How honest the figure of a search's winner is: bias and coverage over runs of 50 candidates.

python benchmarks/estimators/honest_search.py [--runs 500]

Each candidate is a linear discriminant of two of 20 attributes, of which few tell the classes apart. The truth of a
run is the figure of its winner, as fitted to all rows, on 20,000 new cases. A figure is unbiased if the mean of the
estimates is that of the truths.
"""

import argparse
from itertools import combinations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

import rocscope as rs
from rocscope import Context
from rocscope.estimators import Search

ATTRIBUTES, NEW = 20, 20_000
GOALS = {
    "cost 1 : 5": {"context": Context(cost_fn=5), "one_standard_error": True},
    "cost 1 : 5, best": {"context": Context(cost_fn=5)},
    "cost at a prevalence of 5%": {"context": Context(0.05, cost_fn=20), "one_standard_error": True},
    "auc": {"criterion": "auc", "one_standard_error": True},
    "auc, best": {"criterion": "auc"},
    "average_precision": {"criterion": "average_precision", "one_standard_error": True},
    "f1": {"criterion": "f1", "one_standard_error": True},
}


class Discriminant(ClassifierMixin, BaseEstimator):
    """Fisher's linear discriminant of some columns."""

    def __init__(self, columns=(0, 1)):
        self.columns = columns

    def fit(self, rows, y):
        self.classes_ = np.unique(y)
        own = rows[:, self.columns]
        within = sum(np.cov(own[y == c].T) for c in self.classes_)
        self.direction_ = np.linalg.solve(within, own[y == 1].mean(axis=0) - own[y == 0].mean(axis=0))
        return self

    def decision_function(self, rows):
        return rows[:, self.columns] @ self.direction_

    def predict(self, rows):
        return (self.decision_function(rows) > 0).astype(int)


def draw(rng, n, share, gap):
    y = (rng.random(n) < share).astype(int)
    y[:4] = [0, 1, 0, 1]
    rows = rng.normal(size=(n, ATTRIBUTES))
    rows[:, :4] += gap * y[:, None] * np.array([1, 0.8, 0.6, 0.4])
    return rows, y


def truth(found, rows, y):
    scores = found.estimator_.decision_function(rows)
    if found.criterion == "auc":
        return rs.auc(y, scores)
    if found.criterion == "average_precision":
        return rs.precision_recall(y, scores).average_precision
    point = rs.ThresholdCounts.from_scores(y, scores).at(found.threshold_)
    if found.criterion == "f1":
        return float(rs.metrics.f_score(point.tp, point.fp, point.fn, point.tn))
    prevalence = found.context.target_prevalence
    return found.context.expected_cost(point.tpr, point.fpr, y.mean() if prevalence is None else prevalence)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    heads = ("truth", "honest", "bias %", "± %", "apparent %", "cover %", "reliable")
    print(f"{'goal':<30} {'n':>5}", *(f"{head:>10}" for head in heads))
    for name, goal in GOALS.items():
        if options.only and not name.startswith(options.only):
            continue
        for n, share, gap in ((200, 0.3, 0.6), (600, 0.15, 0.8)):
            rng = np.random.default_rng(1)
            rows = []
            for _ in range(options.runs):
                pairs = rng.permutation([*combinations(range(ATTRIBUTES), 2)])[:50]
                models = {f"{a}, {b}": Discriminant((a, b)) for a, b in pairs.tolist()}
                found = Search(models, cv=5, **goal).fit(*draw(rng, n, share, gap))
                real = truth(found, *draw(rng, NEW, share, gap))
                each = found.estimate_
                rows.append((real, each.value, found.apparent_, each.low <= real <= each.high, each.reliable))
            real, value, apparent, inside, reliable = np.array(rows, float).T
            bias = 100 * (value.mean() / real.mean() - 1)
            error = 100 * (value - real).std() / len(rows) ** 0.5 / real.mean()
            looks = 100 * (apparent.mean() / real.mean() - 1)
            covered = 100 * inside[reliable > 0].mean()
            figures = (real.mean(), value.mean(), bias, error, looks, covered, reliable.mean())
            print(f"{name:<30} {n:>5}", *(f"{figure:10.4g}" for figure in figures), flush=True)


if __name__ == "__main__":
    main()
