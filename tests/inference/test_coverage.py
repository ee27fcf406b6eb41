"""How often intervals that say 95% cover the truth, by simulation, where their docstrings claim it and where not.

The reduced form runs always; the full one, which gave the figures in the docstrings, with --slow.
"""

import warnings
from itertools import product
from math import sqrt

import numpy as np
import pytest
from scipy import special, stats

import rocscope as rs
from coverage_cases import AREAS, GRID, areas_and_variances, coverage, shift, simulate
from rocscope.errors import RocscopeWarning
from rocscope.inference.proportions import proportion_interval
from rocscope.inference.resampling import (
    AREAS as EACH_AREA,
    _deviations,
    design_of,
    interval,
    leave_one_out,
    replicate,
)

CLAIMED = (0.93, 0.97)

# Where each method claims 93 to 97%, by area, rows and share of positives.
CLAIMS = {
    "newcombe": lambda area, n, share: area <= 0.9,
    "logit": lambda area, n, share: share == 0.5,
    "delong": lambda area, n, share: share == 0.5 and (n >= 1000 or (n >= 100 and area <= 0.8)),
    "percentile": lambda area, n, share: share == 0.5 and n >= 100 and area <= 0.9,
    "bca": lambda area, n, share: share == 0.5,
}

# What the docstrings admit elsewhere.
ADMITTED = {"newcombe": (0.94, 0.98), "logit": (0.90, 0.98), "delong": (0.79, 0.96)}


def within(found, bounds, samples):
    """Whether a simulated coverage is inside bounds, allowing for three standard errors of the simulation."""
    error = 3 * sqrt(0.05 * 0.95 / samples)
    return bounds[0] - error <= found <= bounds[1] + error


def check_closed_forms(case, samples):
    for method, found in coverage(*case, samples).items():
        bounds = CLAIMED if CLAIMS[method](*case) else ADMITTED[method]
        assert within(found, bounds, samples), (method, case, found)


@pytest.mark.parametrize("case", [case for case in GRID if case[1] <= 200 and case[0] in (0.6, 0.8, 0.95)])
def test_closed_forms_cover(case):
    check_closed_forms(case, 1000)


@pytest.mark.slow
@pytest.mark.parametrize("case", GRID)
def test_closed_forms_cover_in_full(case):
    check_closed_forms(case, 10_000)


@pytest.mark.filterwarnings("ignore:AUC")
@pytest.mark.parametrize("method", ["delong", "logit", "newcombe"])
def test_the_simulation_judges_the_same_intervals(method):
    for area, share in product((0.7, 0.95), (0.5, 0.1)):
        label, score = simulate(area, 50, share, 40, seed=9)
        covered = [area in rs.auc_interval(label, row, method=method) for row in score]
        assert np.mean(covered) == coverage(area, 50, share, 40, seed=9)[method]
        _, variance = areas_and_variances(label, score)
        errors = [rs.auc_interval(label, row, method="delong").standard_error for row in score]
        np.testing.assert_allclose(np.nan_to_num(errors) ** 2, variance, atol=1e-12)


def bootstrap_coverage(area, n, share, samples, replicates):
    label, score = simulate(area, n, share, samples, seed=1)
    covered = dict.fromkeys(("percentile", "basic", "bca"), 0)
    for number, row in enumerate(score):
        counts = rs.ThresholdCounts.from_scores(label, row)
        design = design_of(counts, stratified=True)
        drawn = replicate(design, EACH_AREA, replicates, random_state=number, threads=1)[:, 0]
        deviations = _deviations((part, np.ones(1)) for part in leave_one_out(design, EACH_AREA))
        for method in covered:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RocscopeWarning)
                covered[method] += area in interval(rs.auc(counts), drawn, method, 0.95, design, deviations, None)
    return {method: count / samples for method, count in covered.items()}


def check_bootstrap(case, samples, replicates):
    found = bootstrap_coverage(*case, samples, replicates)
    print(case, found)
    for method in ("percentile", "bca"):
        bounds = CLAIMED if CLAIMS[method](*case) else (0.76, 0.98)
        assert within(found[method], bounds, samples), (method, case, found)


@pytest.mark.every(2)
@pytest.mark.parametrize("case", [(0.7, 200, 0.5), (0.9, 100, 0.5)])
def test_bootstrap_covers(case):
    check_bootstrap(case, 150, 400)


@pytest.mark.slow
@pytest.mark.parametrize("case", GRID)
def test_bootstrap_covers_in_full(case):
    check_bootstrap(case, 1000, 999)


def difference_coverage(n, share, samples, *, groups=False, paired=True):
    """Coverage for two models of areas 0.75 and 0.85, whose scores correlate."""
    rng = np.random.default_rng([n, int(10 * share), samples])
    label = np.arange(n) % round(1 / share) == 0
    covered = 0
    for _ in range(samples):
        common = rng.normal(size=n)
        group = np.repeat(np.arange(n // 4), 4) if groups else None
        if groups:
            common += 1.5 * rng.normal(size=n // 4)[group]
        scale = sqrt(1 + 1 + (1.5**2 if groups else 0))
        scores = {
            name: label * shift(area) * scale + common + rng.normal(size=n) for name, area in (("a", 0.75), ("b", 0.85))
        }
        if not paired:
            half = rng.permutation(n) < n / 2
            both = rs.Predictions(label, scores)
            data = {"a": both.select(half, models=["a"]), "b": both.select(~half, models=["b"])}
        else:
            data = rs.Predictions(label, scores)
        covered += 0.1 in rs.compare(data, groups=group)[0].difference
    return covered / samples


DIFFERENCES = {
    "paired": {"n": 100, "share": 0.5},
    "paired, few positives": {"n": 200, "share": 0.2},
    "unpaired": {"n": 200, "share": 0.5, "paired": False},
    "50 groups": {"n": 200, "share": 0.5, "groups": True},
}


@pytest.mark.every(4)
@pytest.mark.parametrize("options", DIFFERENCES.values(), ids=DIFFERENCES)
def test_differences_are_covered(options):
    assert within(difference_coverage(samples=400, **options), CLAIMED, 400)


@pytest.mark.slow
@pytest.mark.parametrize("options", DIFFERENCES.values(), ids=DIFFERENCES)
def test_differences_are_covered_in_full(options):
    assert within(difference_coverage(samples=4000, **options), CLAIMED, 4000)


def clustered_coverage(samples, ignore):
    """Coverage of an area with four rows a group that share most of their noise and their label."""
    rng = np.random.default_rng(samples)
    area, covered = 0.8, 0
    group = np.repeat(np.arange(60), 4)
    for _ in range(samples):
        label = (np.arange(60) % 2 == 0)[group]
        noise = (2 * rng.normal(size=60)[group] + rng.normal(size=240)) / sqrt(5)
        covered += area in rs.auc_interval(label, label * shift(area) + noise, groups=None if ignore else group)
    return covered / samples


def test_clusters_are_covered_and_would_not_be_without():
    assert within(clustered_coverage(400, ignore=False), CLAIMED, 400)
    assert clustered_coverage(400, ignore=True) < 0.8


def fold_coverage(samples):
    """Coverage of the mean over folds, where each fold's scores have a scale of their own."""
    rng = np.random.default_rng(samples)
    area, covered = 0.8, 0
    fold = np.repeat(np.arange(5), 40)
    label = np.arange(200) % 2 == 0
    for _ in range(samples):
        score = label * shift(area) + rng.normal(size=200) + 3 * fold
        covered += area in rs.auc_interval(rs.Predictions(label, score, fold=fold), folds="mean")
    return covered / samples


def test_means_over_folds_are_covered():
    assert within(fold_coverage(400), CLAIMED, 400)


@pytest.mark.parametrize(("method", "least"), [("wilson", 0.92), ("jeffreys", 0.88), ("clopper-pearson", 0.95)])
def test_proportions_cover_as_their_docstring_says(method, least):
    for n in (20, 50, 200):
        count = np.arange(n + 1)
        low, high = proportion_interval(count, n, method=method)
        rates = np.linspace(0.05, 0.95, 181)
        covered = [stats.binom.pmf(count, n, p)[(low <= p) & (p <= high)].sum() for p in rates]
        assert min(covered) >= least
        assert np.mean(covered) >= 0.945


def band_coverage(samples, *, area=0.8, n=200, **options):
    """Where binormal samples hold the true curve, a sample a row, for fpr from 0.05 to 0.95."""
    label, score = simulate(area, n, 0.5, samples, seed=4)
    grid = np.linspace(0.05, 0.95, 31)
    truth = special.ndtr(shift(area) + special.ndtri(grid))
    inside = []
    for number, row in enumerate(score):
        found = rs.inference.band(rs.roc(label, row), grid=grid, random_state=number, **options)
        inside.append((found.low <= truth) & (truth <= found.high))
    return np.array(inside)


@pytest.mark.slow
def test_bands_hold_the_true_curve():
    assert band_coverage(200, method="ks").all(axis=1).mean() >= 0.95 - 3 * sqrt(0.05 * 0.95 / 200)
    assert within(band_coverage(40, replicates=200, simultaneous=True).all(axis=1).mean(), (0.94, 1), 40)
    assert within(band_coverage(40, replicates=200).mean(), (0.93, 0.99), 40)


@pytest.mark.slow
@pytest.mark.parametrize(("area", "n"), [(0.7, 120), (0.8, 200), (0.8, 600), (0.9, 600), (0.7, 2000)])
def test_bands_hold_the_true_curve_in_full(area, n):
    options = {"area": area, "n": n, "replicates": 700}
    whole = band_coverage(400, simultaneous=True, **options).all(axis=1).mean()
    each = band_coverage(400, **options)
    print(area, n, whole, each.mean(), each.all(axis=1).mean())
    assert within(whole, (0.94, 1), 400)
    assert within(each.mean(), (0.93, 0.99), 400)


def binormal_coverage(area, n, samples):
    label, score = simulate(area, n, 0.5, samples, seed=6)
    return np.mean([area in rs.inference.smooth_roc(label, row).auc_interval() for row in score])


def test_binormal_areas_are_covered():
    assert within(binormal_coverage(0.8, 100, 100), CLAIMED, 100)


@pytest.mark.slow
@pytest.mark.parametrize(("area", "n"), [(area, n) for area in AREAS[:4] for n in (100, 1000)])
def test_binormal_areas_are_covered_in_full(area, n):
    found = binormal_coverage(area, n, 1500)
    print(area, n, found)
    assert within(found, CLAIMED, 1500)
