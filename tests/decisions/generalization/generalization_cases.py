"""What `optimism` and `Decision.interval` report of a choice, against the true cost of the chosen threshold.

As a script it prints the tables of docs/guide/evaluation/price-of-choosing.md, for the designs of the guide and for 60
designs drawn at random: ``python tests/decisions/generalization/generalization_cases.py [SAMPLES]``.
"""

import numpy as np
from interval_cases import Cases

import rocscope as rs

GUIDE = {
    "one model, 1.0, 50 rows": Cases(50, target=True),
    "one model, 1.0, 100 rows": Cases(100, target=True),
    "one model, 1.0, 400 rows": Cases(400, target=True),
    "one model, 1.0, 2,000 rows": Cases(2000, target=True),
    "one model, 2.0, 100 rows": Cases(100, (2.0,), target=True),
    "one model, 2.0, 400 rows": Cases(400, (2.0,), target=True),
    "one model, 1.0, multiples of ½, 100 rows": Cases(100, step=0.5, target=True),
    "one model, 2.0, multiples of ½, 100 rows": Cases(100, (2.0,), step=0.5, target=True),
    "one model, 2.0, multiples of ½, 400 rows": Cases(400, (2.0,), step=0.5, target=True),
    "five equal models, 100 rows": Cases(100, (1.0,) * 5, target=True),
    "50 equal models, 60 rows": Cases(60, (1.0,) * 50, target=True),
}
BEFORE = {
    "Decision.interval": {"coverage": 0.9618, "rmse": 0.988, "score": 0.894},
    "optimism": {"coverage": 0.8958, "rmse": 1.015, "score": 1.015},
    "compare_costs": {"coverage": 0.8820, "rmse": 0.998, "score": 1.091},
}
"""Of the three separate methods of before, means over `random_designs` with 100 samples each: the coverage of 95%
intervals, and root mean square error and interval score as multiples of the mean of the three."""


def random_designs(number=60, seed=32):
    """Return designs that differ in size, class balance, separation, ties, costs and number of models."""
    rng = np.random.default_rng(seed)
    designs = []
    while len(designs) < number:
        n = round(float(np.exp(rng.uniform(np.log(60), np.log(1500)))))
        prevalence = round(rng.uniform(0.03, 0.5), 2)
        if n * prevalence < 12:  # below about ten rows of a class the result says that it is not reliable
            continue
        models = int(rng.choice([1, 1, 2, 3, 5]))
        cases = Cases(
            n,
            tuple((rng.uniform(0.5, 2.5) + rng.uniform(0, 0.3, models)).round(2).tolist()),
            prevalence,
            round((1 - prevalence) / prevalence * np.exp(rng.uniform(-1, 1)), 1),
            step=float(rng.choice([0, 0, 0.25, 0.5, 1.0])),
            shared=float(rng.choice([0, 0.5, 0.9])),
            target=bool(rng.integers(2)),
        )
        designs.append(cases)
    return designs


def study(cases, samples, seed=0, replicates=200):
    """Return what was found in each sample: the ends of the interval and values, each less the true cost."""
    found = []
    least = cases.least()
    grid = np.arange(-8, 12, cases.step or 0.002)
    best = grid[cases.cost(grid, cases.shifts[0]).argmin()]
    for number in range(samples):
        rows = cases.sample(np.random.default_rng([seed, number, cases.n]))
        result = rs.evaluation.optimism(rows, cases.context, replicates=replicates, random_state=number, progress=False)
        decision, estimate = result.decision, result.estimate
        truth = float(cases.cost(decision.threshold, cases.shifts[int(decision.model[1:])]))
        found.append(
            {
                "true cost": truth,
                "apparent": result.apparent.value - truth,
                "low": estimate.low - truth,
                "value": estimate.value - truth,
                "high": estimate.high - truth,
                "true loss": truth - least,
                "expected loss": result.expected_loss.value,
                "covers the best threshold": best in result.threshold,
            }
        )
    return {name: np.array([each[name] for each in found], float) for name in found[0]}


def figures(found, level=0.95):
    """Return means; coverage; root mean square error; and the interval score of Gneiting & Raftery 2007."""
    low, high, tail = found["low"], found["high"], 2 / (1 - level)
    said = {name: values.mean() for name, values in found.items() if name not in ("low", "high")}
    return said | {
        "coverage": np.mean((low <= 1e-9) & (high >= -1e-9)),
        "rmse": np.sqrt((found["value"] ** 2).mean()),
        "score": np.mean((high - low) + tail * np.maximum(low, 0) + tail * np.maximum(-high, 0)),
    }


PAIRS = [
    Cases(100, (1.0, 1.0)),
    Cases(400, (1.0, 1.3)),
    Cases(400, (2.0, 1.5), step=0.5),
    Cases(1000, (1.5, 1.8), 0.05, 20),
    Cases(400, (1.0, 1.0), shared=0.9),
    Cases(60, (1.0, 2.0)),
]


def difference_covered(cases, samples, seed=9):
    """How often `compare_costs` covers the difference of the true costs of the two chosen thresholds."""
    held = 0
    for number in range(samples):
        rows = cases.sample(np.random.default_rng([seed, number]))
        cost = [
            cases.cost(rs.choose(rows.counts(model), cases.context).threshold, shift)
            for model, shift in zip(rows.models, cases.shifts, strict=True)
        ]
        held += cost[1] - cost[0] in rs.inference.compare_costs(rows, cases.context)[0].difference
    return held / samples


def line(name, found):
    print(f"{name}: " + ", ".join(f"{what} {value:.4f}" for what, value in found.items()), flush=True)


def main(samples):
    for name, cases in GUIDE.items():
        line(f"{name} ({samples} samples)", figures(study(cases, samples)))
    for cases in PAIRS:
        print(f"difference of {cases}: coverage {difference_covered(cases, samples):.3f}", flush=True)
    coverage = [figures(study(cases, samples))["coverage"] for cases in random_designs()]
    print(f"60 random designs: coverage {np.mean(coverage):.4f}, {np.min(coverage):.3f} at least")


if __name__ == "__main__":
    import sys

    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
