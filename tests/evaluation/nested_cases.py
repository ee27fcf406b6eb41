"""Samples whose models' true worth is known, light models, and how often nested intervals hold it.

As a script (``python nested_cases.py [DESIGN ...]``) it prints the table of docs/guide/evaluation/evaluation.md.
"""

import sys
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin

import rocscope as rs
from rocscope.evaluation.nested import NestedValues, interval, unbiased_covariance
from rocscope.inference.estimate import Hypothesis

FRESH = 4000


class Light(ClassifierMixin, BaseEstimator):
    """A classifier of labels 0 and 1 by log-odds that NumPy finds at once."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        self.learn(X[y == 1], X[y == 0])
        return self

    def predict_proba(self, X):
        positive = expit(self.decision_function(X))
        return np.column_stack([1 - positive, positive])

    def predict(self, X):
        return (self.decision_function(X) >= 0).astype(int)


class Discriminant(Light):
    """Linear discriminant analysis, or the nearest mean where covariances are left out."""

    def __init__(self, covariance=True):
        self.covariance = covariance

    def learn(self, pos, neg):
        high, low = pos.mean(axis=0), neg.mean(axis=0)
        weight = high - low
        if self.covariance:
            within = (pos - high).T @ (pos - high) + (neg - low).T @ (neg - low)
            weight = np.linalg.solve(within / (len(pos) + len(neg) - 2) + 1e-6 * np.eye(high.size), weight)
        self.weight, self.offset = weight, np.log(len(pos) / len(neg)) - weight @ (high + low) / 2

    def decision_function(self, X):
        return X @ self.weight + self.offset


class SelectedBayes(Light):
    """Gaussian naive Bayes on the attributes of largest t."""

    def __init__(self, attributes=10):
        self.attributes = attributes

    def learn(self, pos, neg):
        high, low, spread, other = pos.mean(axis=0), neg.mean(axis=0), pos.var(axis=0), neg.var(axis=0)
        t = np.abs(high - low) / np.sqrt(spread / len(pos) + other / len(neg))
        self.kept = np.argsort(-t)[: self.attributes]
        self.of_pos, self.of_neg = ((mean[self.kept], var[self.kept]) for mean, var in ((high, spread), (low, other)))
        self.prior = np.log(len(pos) / len(neg))

    def decision_function(self, X):
        def density(mean, var):
            return -((X[:, self.kept] - mean) ** 2 / var + np.log(var)).sum(axis=1) / 2

        return self.prior + density(*self.of_pos) - density(*self.of_neg)


@dataclass(frozen=True)
class Design:
    """Normal attributes of which the first five differ by `shift` between classes; neighbours are correlated."""

    models: dict[str, Any]
    metric: Any
    n: int
    attributes: int
    shift: float = 0.0
    correlation: float = 0.0
    prevalence: float = 0.5

    def sample(self, n, rng, mix=None):
        y = ((rng.random(n) if mix is None else mix) < self.prevalence).astype(int)
        noise = rng.standard_normal((n, self.attributes))
        X = noise + self.correlation * np.roll(noise, 1, axis=1)
        X[:, :5] += self.shift * y[:, None]
        return X, y


def area(y, score):
    positive = y == 1
    return _right(score, positive).mean()


def _right(score, positive):
    high, low = score[positive][:, None], score[~positive]
    return (high > low) + 0.5 * (high == low)


def losses(metric, y, score):
    """Return what each row counts, by log-odds."""
    if metric == "brier":
        return (expit(score) - y) ** 2
    if metric == "log_loss":
        return np.logaddexp(0, np.where(y == 1, -score, score))
    said = score >= 0
    if metric == "accuracy":
        return (said == (y == 1)).astype(float)
    return np.where(y == 1, metric.cost_fn * ~said, metric.cost_fp * said)


def value(metric, y, score):
    return area(y, score) if metric == "auc" else losses(metric, y, score).mean()


def covariance(metric, y, scores):
    if metric == "auc":
        return unbiased_covariance(y == 1, scores)
    return np.atleast_2d(np.cov([losses(metric, y, score) for score in scores])) / y.size


LINES = {"discriminant": Discriminant(), "nearest mean": Discriminant(covariance=False)}
BAYES = {"bayes": SelectedBayes(10), "discriminant": Discriminant()}
DESIGNS = {
    "selection on noise": Design({"ten": SelectedBayes(10), "forty": SelectedBayes(40)}, "auc", 120, 200),
    "AUC": Design(LINES, "auc", 100, 20, 0.5, 0.5, 0.4),
    "accuracy": Design(LINES, "accuracy", 100, 20, 0.5, 0.5),
    "cost": Design(BAYES, rs.Context(cost_fn=3), 120, 10, 0.6, 0.3, 0.3),
    "Brier score": Design(BAYES, "brier", 100, 10, 0.5),
    "log loss": Design(BAYES, "log_loss", 200, 10, 0.5, 0.3),
}


def nested_values(design, X, y, splits):
    """Return what folds say, as `nested_cross_validation` finds it, by the short way: no clones, no checks."""
    models, found = list(design.models.values()), []
    for fold in splits:
        k = int(fold.max()) + 1
        outer, spread = np.empty((k, len(models))), []
        across = np.full((k, k, len(models)), np.nan)
        for one in range(k):
            test = fold == one
            scores = [model.fit(X[~test], y[~test]).decision_function(X[test]) for model in models]
            outer[one] = [value(design.metric, y[test], score) for score in scores]
            spread.append(covariance(design.metric, y[test], scores))
        for one, other in combinations(range(k), 2):
            train = (fold != one) & (fold != other)
            for column, model in enumerate(models):
                model.fit(X[train], y[train])
                for left, judged in ((one, other), (other, one)):
                    test = fold == judged
                    score = model.decision_function(X[test])
                    across[left, judged, column] = value(design.metric, y[test], score)
        found.append((outer, np.nanmean(across, axis=1), np.array(spread)))
    return NestedValues(*(np.stack(columns) for columns in zip(*found, strict=True)))


def drawn_folds(y, k, rng):
    """Return the fold of each row, stratified."""
    fold = np.empty(y.size, int)
    order = rng.permutation(y.size)
    fold[order[np.argsort(y[order], kind="stable")]] = (np.arange(y.size) + rng.integers(k)) % k
    return fold


CONTRASTS = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 1.0]])


def study(design, samples, *, cv=5, repeats=10, seed=0):
    """Return for both models and their difference: nested interval held, the one without inflation held, error."""
    rng = np.random.default_rng([seed, design.n, design.attributes])
    fresh, labels = design.sample(FRESH, rng, np.arange(FRESH) / FRESH)
    found = np.empty((samples, 3, 4))
    for number in range(samples):
        X, y = design.sample(design.n, rng)
        splits = [drawn_folds(y, cv, rng) for _ in range(repeats)]
        values = nested_values(design, X, y, splits)
        worth = [
            value(design.metric, labels, model.fit(X, y).decision_function(fresh)) for model in design.models.values()
        ]
        for place, contrast in enumerate(CONTRASTS):
            estimate, true = interval(values, contrast, Hypothesis(), y.size, ""), contrast @ worth
            inflation = float(estimate.method.rpartition(" ")[2])
            off = true - estimate.value
            held = abs(off) <= (estimate.high - estimate.low) / 2 / inflation
            found[number, place] = true in estimate, held, -off, inflation
    return found


if __name__ == "__main__":
    for name in sys.argv[1:] or DESIGNS:
        found = study(DESIGNS[name], 2000)
        for column, what in enumerate((*DESIGNS[name].models, "difference")):
            held, plain, off, inflation = found[:, column].mean(axis=0)
            line = f"{name} | {what} | {100 * plain:.1f}% | {100 * held:.1f}% | {off:+.4f} | {inflation:.2f}"
            print(line, flush=True)
