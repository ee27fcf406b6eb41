"""Compiled loops over drawn samples find what NumPy and SciPy find, which small samples are left to."""

import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from scipy.stats import binom

from rocscope import kernels
from rocscope.calibration import cost_of_miscalibration as costs, intervals, outcomes
from rocscope.calibration.distances import Distances, quantiles
from rocscope.calibration.goodness_of_fit import miscalibration
from rocscope.calibration.outcomes import Outcomes, Shift


def sample_of(levels, *, most, seed):
    """Return outcomes at some levels of up to `most` rows, and 40 samples of labels for them."""
    rng = np.random.default_rng(seed)
    total = rng.integers(1, most + 1, levels).astype(float)
    score = np.sort(rng.beta(1, 3, levels))
    pos = rng.binomial(total.astype(int), score, (40, levels)).astype(float)
    pos[0, [0, -1]] = 0, total[-1]  # both classes
    return Outcomes(score, pos[0], total - pos[0]), pos


def both(monkeypatch, function):
    """Return what a function finds with compiled loops and without."""
    found = []
    for compiled in (True, False):
        monkeypatch.setattr(kernels, "compiled_pays", lambda numbers, compiled=compiled: compiled)
        found.append(function())
    return found


@pytest.mark.parametrize("target", [None, 0.2])
@pytest.mark.parametrize(("levels", "most"), [(2, 30), (7, 1), (90, 5), (300, 40)])
def test_loops_find_the_distances_costs_and_fits_of_numpy(levels, most, target, monkeypatch):
    sample, pos = sample_of(levels, most=most, seed=levels)
    shift = Shift.of(sample, target)
    of_labels = Distances(sample, shift, 10).of_labels
    fast, slow = both(monkeypatch, lambda: of_labels(pos))
    for name, value in slow.items():
        assert fast[name] == pytest.approx(value, abs=1e-12), name
    for function in (
        lambda: outcomes.pav_rows(pos, np.broadcast_to(sample.total, pos.shape)),
        lambda: miscalibration(sample, pos, shift),
        lambda: costs._costs_of_labels(sample, shift, np.array([0.05, 0.3, 0.5, 0.95]))(pos)["cost"],
    ):
        fast, slow = both(monkeypatch, function)
        assert fast == pytest.approx(slow, abs=1e-12)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_isotonic_fits_are_those_of_scipy_at_any_scale_of_weights(compiled, scale, monkeypatch):
    monkeypatch.setattr(kernels, "compiled_pays", lambda numbers: compiled)
    sample, pos = sample_of(50, most=6, seed=8)
    pos[1] = sample.total * (1 - np.abs(np.linspace(-1, 1, 50)))  # shares that rise and fall are pooled step by step
    total = sample.total * scale
    exact = [isotonic_regression(row / sample.total, weights=sample.total).x for row in pos]
    assert outcomes.pav_rows(pos * scale, total) == pytest.approx(np.array(exact), abs=1e-12)


def test_the_cost_of_pav_values_is_that_of_the_best_level():
    sample, pos = sample_of(60, most=4, seed=3)
    at = np.linspace(0.01, 0.99, 25)
    for labels, found in zip(pos, costs._costs_of_labels(sample, Shift(), at)(pos)["cost"], strict=True):
        own = Outcomes(sample.score, labels, sample.total - labels)
        assert found == pytest.approx(costs._excess_cost(own, outcomes.pav_values(own), at, "left"), abs=1e-12)


@pytest.mark.parametrize("most", [1, 3, 12, 13, 40, 3000])
def test_successes_are_quantiles_of_binomials(most):
    rng = np.random.default_rng(most)
    trials = rng.integers(1, most + 1, 60).astype(float)
    chance = np.minimum(rng.random(60), 5.4 / trials)
    chance[:3] = 0, 1, 0.5
    uniform = rng.random((200, 60))
    tables = np.full((2, *uniform.shape), np.nan)
    exact = np.ones((2, 60), np.bool_)
    exact[1, ::2] = False
    kernels.samples.successes(np.ascontiguousarray(uniform.T), trials, np.array([chance, chance]), exact, tables)
    assert np.isnan(tables[1, :, ::2]).all()
    found = tables[0]
    assert (tables[1, :, 1::2] == found[:, 1::2]).all()
    flipped = trials - binom.ppf(1 - uniform, trials, 1 - chance)
    exact = np.where(chance > 0.5, flipped, binom.ppf(uniform, trials, chance))
    assert np.mean(found != np.clip(exact, 0, trials)) < 1e-3  # SciPy's quantile is off by one here and there
    assert np.abs(found - np.clip(exact, 0, trials)).max() <= 1


@pytest.mark.parametrize("most", [2, 30, 59])
def test_drawn_positives_are_the_binomial_numbers_of_numpy(most, monkeypatch):
    total = np.random.default_rng(most).integers(0, most + 1, 80).astype(float)
    chance = np.linspace(0, 1, 80)
    drawn = both(monkeypatch, lambda: outcomes.draw_positives(total, chance, 300, np.random.default_rng(1)))
    expected = np.random.default_rng(1).binomial(total.astype(int), chance, (300, 80))
    for found in drawn:
        assert (found == expected).all()


def test_draws_that_differ_by_rounding_have_the_scores_of_equal_draws():
    equal = np.full((1, 99, 2), 0.3)
    rounded = equal.copy()
    rounded[0, ::2] = np.nextafter(0.3, 1)
    value = np.array([0.1, 0.5])
    expected = intervals._scores(equal, value)
    for found, exact in zip(intervals._scores(rounded, value), expected, strict=True):
        assert found == pytest.approx(exact, abs=1e-12)
        assert np.abs(found).max() < 3  # the normal score of one in a hundred


@pytest.mark.parametrize("size", ["ones", "counts", "weights"])
def test_quantiles_of_distances_are_those_between_rows(size, monkeypatch):
    rng = np.random.default_rng(5)
    distance = np.abs(rng.standard_t(2, (30, 80))).round(2)
    distance[0], distance[1] = 0, 0.25
    rows = {"ones": np.ones(80), "counts": rng.integers(0, 4, 80) + 0.0, "weights": rng.random(80) + 0.1}[size]
    fast, slow = both(monkeypatch, lambda: quantiles(distance, rows, (0.0, 0.5, 0.9, 1.0)))
    assert fast == pytest.approx(slow, rel=1e-12)
    if size != "weights":
        each = np.repeat(distance, rows.astype(int), axis=1)
        assert slow == pytest.approx(np.quantile(each, (0.0, 0.5, 0.9, 1.0), axis=1).T, abs=1e-12)
