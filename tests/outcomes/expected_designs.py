"""Designs drawn at random in which new cases have other scores than the reference, and the same risk at each score.

`python tests/outcomes/expected_designs.py FIRST LAST SAMPLES` prints the coverage of expected figures.
"""

import sys
from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.special import expit

import rocscope as rs
from rocscope.inference import estimate_of, statistics

CONTEXT = rs.Context(cost_fn=5)
FIGURES = ("auc", "precision", "recall", "cost")


@dataclass(frozen=True)
class Design:
    """Risk at a score, and how the scores of new cases are drawn."""

    kind: str
    intercept: float
    slope: float
    bend: float
    shift: float
    spread: float
    cases: int
    rows: int

    @classmethod
    def draw(cls, number):
        rng = np.random.default_rng(number)
        kind = ("shifted", "truncated", "mixed")[number % 3]
        form = rng.uniform(-2, -0.5), rng.uniform(0.8, 2), rng.uniform(-0.3, 0.3)
        new = rng.uniform(-0.7, 0.7), rng.uniform(0.7, 1.1)
        return cls(kind, *form, *new, cases=int(rng.choice([500, 2000])), rows=int(rng.choice([500, 1000, 2000])))

    def risk(self, score):
        return expit(self.intercept + self.slope * score + self.bend * np.arctan(2 * score))

    def scores(self, rng, n):
        if self.kind == "shifted":
            return rng.normal(self.shift, self.spread, n)
        standard = rng.normal(size=4 * n)
        if self.kind == "truncated":
            kept = standard > -0.5 if self.shift > 0 else standard < 0.8
            return standard[kept][:n]
        return np.where(rng.random(n) < 0.4, rng.normal(self.shift, 0.5, n), standard[:n])

    def threshold(self):
        return float(np.quantile(self.scores(np.random.default_rng(0), 100_000), 0.7))

    def density(self, score):
        """Return the density of the scores of new cases, up to a constant."""
        standard = stats.norm.pdf(score)
        if self.kind == "shifted":
            return stats.norm.pdf(score, self.shift, self.spread)
        if self.kind == "truncated":
            return standard * (score > -0.5 if self.shift > 0 else score < 0.8)
        return 0.4 * stats.norm.pdf(score, self.shift, 0.5) + 0.6 * standard

    def truth(self, threshold):
        """Return AUC, precision, recall and cost of all cases, by sums over a fine grid of scores."""
        score = np.linspace(9, -9, 180_001)
        weight, risk = self.density(score), self.risk(score)
        positive, negative = weight * risk, weight * (1 - risk)
        tp, n_pos, n_neg = np.cumsum(positive), positive.sum(), negative.sum()
        acted = score >= threshold
        auc = negative @ (tp - positive / 2) / (n_pos * n_neg)
        precision = positive[acted].sum() / weight[acted].sum()
        recall = positive[acted].sum() / n_pos
        cost = (5 * positive[~acted].sum() + negative[acted].sum()) / weight.sum()
        return np.array([auc, precision, recall, cost])

    def sample(self, rng, threshold, **options):
        """Return the estimates of AUC, precision, recall and cost from one sample."""
        score = rng.normal(size=self.rows)
        reference = rs.Predictions(rng.random(self.rows) < self.risk(score), score)
        cases = rs.expected(reference, self.scores(rng, self.cases), random_state=rng, **options)
        return [
            rs.auc_interval(cases),
            estimate_of(cases, statistics.at(threshold, "precision")),
            estimate_of(cases, statistics.at(threshold, "tpr")),
            estimate_of(cases, statistics.cost_at(threshold, CONTEXT)),
        ]


def simulate(design, samples, seed, **options):
    """Return the coverage of each figure's interval, and the bias in standard errors of the simulation."""
    threshold = design.threshold()
    truth = design.truth(threshold)
    rng = np.random.default_rng(seed)
    estimates = [design.sample(rng, threshold, **options) for _ in range(samples)]
    covered = np.mean([[t in e for t, e in zip(truth, row, strict=True)] for row in estimates], axis=0)
    values = np.array([[e.value for e in row] for row in estimates])
    error = values.std(axis=0, ddof=1)
    return covered, (values.mean(axis=0) - truth) / error


if __name__ == "__main__":
    first, last, samples = map(int, sys.argv[1:4])
    for number in range(first, last):
        design = Design.draw(number)
        covered, bias = simulate(design, samples, seed=number, replicates=40)
        print(number, design.kind, design.rows, design.cases, np.round(covered, 3), np.round(bias, 2), flush=True)
