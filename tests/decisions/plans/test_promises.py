"""Simulation of promises: the profit of a verdict against what the plan brings in the population that it came from."""

import numpy as np
import pytest

import rocscope as rs
from rocscope import Campaign

CASES = 300_000  # of a population, whose profit at each depth is known almost exactly


def population(rng, share, distances):
    """Return the cumulated labels of a population, by the score of each model from the highest down."""
    y = rng.random(CASES) < share
    return {name: np.cumsum(y[np.argsort(-rng.normal(y * distance))]) for name, distance in distances.items()}


def biases(pilot, repeats):
    """Return stated minus true profit, and whether the interval holds the true one, over samples of a random pilot."""
    rng = np.random.default_rng([58, pilot])
    n, share = int(rng.integers(400, 1500)), rng.uniform(0.04, 0.3)
    distances = dict(zip("ab"[: 1 + pilot % 2], rng.uniform(0.8, 2, 2), strict=False))
    capacity = None if pilot % 3 else 0.15 * CASES
    campaign = Campaign(CASES, 1, rng.uniform(0.8, 1.5) / share, capacity=capacity)
    found = population(rng, share, distances)
    missed, held = [], []
    for _ in range(repeats):
        y = rng.random(n) < share
        scores = {name: rng.normal(y * distance) for name, distance in distances.items()}
        plan = rs.plan_campaign(rs.Predictions(y.astype(int), scores), campaign)
        contacted = int(plan.depth * CASES) if plan.worthwhile else 0
        truth = campaign.unit_benefit * found[plan.best.model][contacted - 1] - contacted if contacted else 0.0
        missed.append(plan.on_new_cases.value - truth)
        held.append(truth in plan.on_new_cases)
        assert plan.best.best.profit >= plan.on_new_cases.value - 1e-6 * CASES
    return np.array(missed), np.array(held)


@pytest.mark.parametrize("pilot", [0, 1, *(pytest.param(k, marks=pytest.mark.slow) for k in range(2, 12))])
def test_the_profit_of_a_verdict_is_not_biased(pilot, request):
    """Two pilots of 10 samples; slowly, 12 of 200: with -s the bias in standard errors and the coverage are printed."""
    repeats = 200 if request.config.getoption("--slow", default=False) else 10
    missed, held = biases(pilot, repeats)
    error = missed.std(ddof=1) / repeats**0.5
    print(f"pilot {pilot}: bias {missed.mean() / error:+.2f} standard errors, covered {held.mean():.3f}")
    # One of twelve true promises is off by more than two standard errors in 46 of 100 runs; by three in 3 of 100.
    assert abs(missed.mean()) < 3 * error
    assert held.mean() > 0.95 - 3 * (0.05 * 0.95 / repeats) ** 0.5
