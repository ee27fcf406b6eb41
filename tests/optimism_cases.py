"""Samples of binormal scores, whose true expected cost at each threshold is known, and what `optimism` says of them.

As a script it prints the table of docs/guide/evaluation/price-of-choosing.md: ``python tests/optimism_cases.py``.
"""

from dataclasses import dataclass

import numpy as np
from scipy import optimize
from scipy.special import ndtr

import rocscope as rs


@dataclass(frozen=True)
class Population:
    """Negatives are standard normal, positives normal around `shift`; perhaps rounded up to multiples of a step."""

    shift: float
    step: float = 0.0
    prevalence: float = 0.3
    cost_fn: float = 2

    @property
    def context(self):
        return rs.Context(cost_fn=self.cost_fn, target_prevalence=self.prevalence)

    def cost(self, threshold):
        cut = np.asarray(threshold) - self.step
        misses = self.prevalence * self.cost_fn * ndtr(cut - self.shift)
        return misses + (1 - self.prevalence) * ndtr(-cut)

    def best(self):
        if self.step:
            levels = self.step * np.arange(-round(6 / self.step), round(6 / self.step))
            return levels[self.cost(levels).argmin()]
        return optimize.minimize_scalar(self.cost, bounds=(-6, 6), method="bounded", options={"xatol": 1e-10}).x

    def sample(self, n, rng):
        positive = np.arange(n) < round(n * self.prevalence)
        score = rng.standard_normal(n) + self.shift * positive
        return rs.Predictions(positive, self.step * np.ceil(score / self.step) if self.step else score)


CASES = [(Population(shift, step), n) for step in (0.0, 0.5) for shift in (1.0, 2.0) for n in (50, 100, 400, 2000)]


def study(population, n, samples, *, replicates=200, seed=0):
    """Return mean errors of the figures, and how often their 95 % intervals hold the truth."""
    rng = np.random.default_rng([seed, n, int(10 * population.shift), int(10 * population.step)])
    best = population.best()
    found = []
    for number in range(samples):
        result = rs.evaluation.optimism(
            population.sample(n, rng),
            population.context,
            replicates=replicates,
            repeats=2,
            random_state=number,
            progress=False,
        )
        true = float(population.cost(result.decision.threshold))
        found.append(
            {
                "apparent": result.apparent.value - true,
                "corrected": result.corrected.value - true,
                "cross_validated": result.cross_validated.value - true,
                "true_loss": true - population.cost(best),
                "expected_loss": result.expected_loss.value,
                "apparent_covers": true in result.apparent,
                "corrected_covers": true in result.corrected,
                "cross_validated_covers": true in result.cross_validated,
                "threshold_covers": best in result.threshold,
            }
        )
    return {name: np.array([each[name] for each in found], dtype=float) for name in found[0]}


if __name__ == "__main__":
    for population, n in CASES:
        means = {name: values.mean() for name, values in study(population, n, 1000).items()}
        line = "  ".join(f"{name} {value:.4f}" for name, value in means.items())
        print(f"{population} n={n} best cost {population.cost(population.best()):.4f}: {line}", flush=True)
