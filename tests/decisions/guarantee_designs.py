"""Share of samples in which a threshold with a guarantee breaks its bound, and the true positives that it has.

``python tests/decisions/guarantee_designs.py FIRST LAST SAMPLES`` prints both for designs drawn at random, with
the true positives of the thresholds that Bonferroni's correction over 50 depths and one fixed sequence admit.
"""

import sys
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, expit

import rocscope as rs
from rocscope.decisions.constraints import Constraint

CONTEXT = rs.Context(cost_fn=5)
QUANTITIES = ("precision", "accuracy", "cost", "npv")


@dataclass(frozen=True)
class Design:
    """Risk at a normal score, and the bound of each quantity that is a little worse than the best one possible."""

    intercept: float
    slope: float
    rows: int
    step: float

    @classmethod
    def draw(cls, number):
        rng = np.random.default_rng(number)
        steps = (0.0, 0.0, 0.25)
        return cls(rng.uniform(-2, 0), rng.uniform(1.5, 3), int(rng.choice([500, 1500, 4000])), steps[number % 3])

    def scores(self, rng, n):
        score = rng.normal(size=n)
        return np.round(score / self.step) * self.step if self.step else score

    def sample(self, rng, n):
        score = self.scores(rng, n)
        return rng.random(n) < expit(self.intercept + self.slope * score), score

    def population(self, rows=1_000_000):
        score = np.sort(self.scores(np.random.default_rng(0), rows))[::-1]
        risk = expit(self.intercept + self.slope * score)
        tp, fp = np.cumsum(risk), np.cumsum(1 - risk)
        fn, tn = tp[-1] - tp, fp[-1] - fp
        with np.errstate(invalid="ignore"):
            values = {"precision": tp / (tp + fp), "accuracy": (tp + tn) / tp.size}
            values |= {"cost": (5 * fn + fp) / tp.size, "npv": tn / (tn + fn)}
        return score, tp / tp[-1], values


def bounds(values):
    """Return bounds near the middle of what precision and npv can be, and a little from the best accuracy and cost."""
    precision, npv = values["precision"], values["npv"][:-1]
    return {
        "precision": f"precision >= {0.4 * precision[-1] + 0.6 * precision[1000]:.3f}",
        "npv": f"npv >= {0.4 * npv[0] + 0.6 * npv[-1000]:.3f}",
        "accuracy": f"accuracy >= {values['accuracy'].max() - 0.04:.3f}",
        "cost": f"cost <= {values['cost'].min() * 1.25:.3f}",
    }


def chosen(y, score, bound):
    """Return the deepest threshold that keeps a bound; None if there is none."""
    rows = rs.Predictions(y, score)
    try:
        return rs.choose(rows, CONTEXT, subject_to=bound + " at 95%", criterion="tpr").threshold
    except rs.errors.InfeasibleError:
        return None


def deepest_by(method, y, score, share):
    """Return the deepest threshold of a precision by Bonferroni's correction or one fixed sequence, or None."""
    order = np.argsort(-score, kind="stable")
    tp, ranked = np.cumsum(y[order]), score[order]
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    if method == "bonferroni":
        wanted = np.unique(ends[np.searchsorted(ends, np.linspace(0, ends[-1], 51)[1:])])
        error = 0.05 / wanted.size
    else:
        wanted, error = ends[ends >= y.size // 20], 0.05
    passed = betainc(tp[wanted], wanted + 1 - tp[wanted] + 1, share) <= error
    if method != "bonferroni":
        passed = np.cumprod(passed) > 0
    return ranked[wanted[np.flatnonzero(passed)[-1]]] if passed.any() else None


def simulate(design, samples, seed, quantities=QUANTITIES, population=1_000_000):
    """Return per quantity the share of samples that break the bound, and the mean tpr; of precision by others too."""
    score, tpr, values = design.population(population)
    rng, result = np.random.default_rng(seed), {}
    wanted = bounds(values)
    broken, reached = {q: [] for q in quantities}, {q: [] for q in (*quantities, "bonferroni", "fixed sequence")}
    for _ in range(samples):
        y, s = design.sample(rng, design.rows)
        for quantity in quantities:
            text = wanted[quantity]
            threshold = chosen(y, s, text)
            place = -1 if threshold is None else np.searchsorted(-score, -threshold, side="right") - 1
            bound = Constraint.parse(text)
            broken[quantity].append(place >= 0 and not bound.holds(values[quantity][place]))
            reached[quantity].append(tpr[place] if place >= 0 else 0.0)
        if "precision" in quantities:
            share = Constraint.parse(wanted["precision"]).bound
            for method in ("bonferroni", "fixed sequence"):
                threshold = deepest_by(method, y, s, share)
                place = None if threshold is None else np.searchsorted(-score, -threshold, side="right") - 1
                reached[method].append(0.0 if place is None else tpr[place])
    for quantity in quantities:
        result[quantity] = float(np.mean(broken[quantity]))
    return result, {name: float(np.mean(values)) for name, values in reached.items() if values}


if __name__ == "__main__":
    first, last, samples = map(int, sys.argv[1:4])
    for number in range(first, last):
        design = Design.draw(number)
        broken, reached = simulate(design, samples, number)
        print(number, design.rows, design.step, broken, {k: round(v, 3) for k, v in reached.items()}, flush=True)
