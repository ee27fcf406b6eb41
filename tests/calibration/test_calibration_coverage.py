"""How often bands and intervals of calibration hold the truth, simulated; docs/guide/calibration.md has the figures."""

import numpy as np
import pytest
from scipy.special import expit, logit

import rocscope as rs
from rocscope.calibration.distances import Distances
from rocscope.calibration.outcomes import Outcomes, Shift

CURVES = {
    "calibrated": lambda p: p,
    "over-confident": lambda p: expit(0.5 * logit(p)),
    "under-confident": lambda p: expit(2 * logit(p)),
    "shifted": lambda p: expit(logit(p) - 1),
    "step": lambda p: np.where(p < 0.5, 0.2, 0.8),
    "flat": lambda p: np.full(p.size, 0.3),
}
METHODS = ("bins", "pav", "loess", "spline")
NUMBERS = ("brier_miscalibration", "ici", "e90", "ece", "slope", "observed_over_expected")


def sample(curve, n, rng):
    score = rng.beta(1, 1.5, n).clip(0.001, 0.999)
    return rng.random(n) < CURVES[curve](score), score


def truth_at(curve, method, drawn, band):
    """Return the chance of the event at the x of a band; of bins its mean over the rows of each."""
    if method != "bins":
        return CURVES[curve](band.x)
    score = drawn.counts.threshold.astype(float)
    rows = np.asarray(drawn.counts.pos + drawn.counts.neg, dtype=float)
    cell = np.searchsorted(drawn.edges[1:-1], score, side="right")
    size = drawn.edges.size - 1
    with np.errstate(invalid="ignore"):
        return np.bincount(cell, rows * CURVES[curve](score), size) / np.bincount(cell, rows, size)


def coverage(curve, method, n, runs, seed=0):
    """Return how often a whole band and how often its points hold the truth, and how many ends meet."""
    rng, whole, points, none = np.random.default_rng(seed), 0, [], 0
    for _ in range(runs):
        drawn = rs.calibration_curve(*sample(curve, n, rng), method=method)
        for simultaneous in (True, False):
            band = drawn.confidence_band(simultaneous=simultaneous)
            truth = truth_at(curve, method, drawn, band)
            known = ~np.isnan(band.low)
            inside = ((band.low <= truth + 1e-12) & (truth - 1e-12 <= band.high))[known]
            whole += simultaneous and inside.all()
            if not simultaneous:
                points.append(inside.mean())
            none += int((band.high <= band.low)[known].sum())
            assert band.low[known].min() >= 0
            assert band.high[known].max() <= 1
    return whole / runs, float(np.mean(points)), none


@pytest.mark.every(5)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("curve", ["calibrated", "step", "flat"])
def test_bands_hold_the_truth(curve, method):
    whole, points, none = coverage(curve, method, 150, 25)
    assert none == 0
    assert whole >= 0.84
    if not (curve == "step" and method in ("loess", "spline")):  # what no smooth curve follows
        assert points >= 0.90


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("n", "runs"), [(100, 1000), (1000, 400), (10_000, 100), (100_000, 25)])
def test_bands_hold_the_truth_as_often_as_they_say(n, runs, method):
    for curve in CURVES:
        whole, points, none = coverage(curve, method, n, runs)
        print(f"\n{method}, n={n}, {curve}: whole band {whole:.1%}, points {points:.1%} of {runs} runs")
        assert none == 0
        assert whole >= 0.93 - 2 * (0.05 * 0.95 / runs) ** 0.5
        bent = curve == "step" or (curve == "under-confident" and n == 100_000 and method == "spline")
        if method not in ("loess", "spline") or not bent:  # what five knots, or no smooth curve, can follow
            assert points >= 0.92


def misses(curve, n, runs, draws, seed=0):
    """Return how often the interval of each number misses the truth, and how often interval and test disagree."""
    rng, missed, disagree = np.random.default_rng(seed), dict.fromkeys(NUMBERS, 0), 0
    slope = slope_of(curve)
    for run in range(runs):
        label, score = sample(curve, n, rng)
        report = rs.calibration.calibration_report(label, score, draws=draws, random_state=run)
        at, rows = np.unique(score, return_counts=True)
        chance = CURVES[curve](at)
        whole = Outcomes(at, chance * rows, (1 - chance) * rows)
        truth = {name: value[0] for name, value in Distances(whole, Shift(), 10).of_chances(chance[None]).items()}
        truth |= {"brier_miscalibration": truth["miscalibration"], "slope": slope}
        truth["observed_over_expected"] = (chance @ rows) / (at @ rows)
        for name in NUMBERS:
            missed[name] += not report[name].low - 1e-12 <= truth[name] <= report[name].high + 1e-12
        p_value = report.tests["miscalibration"].p_value
        disagree += (report["brier_miscalibration"].low > 0) != (p_value <= 0.05)
    return {name: count / runs for name, count in missed.items()}, disagree


def slope_of(curve, many=400_000):
    """Return the slope that logistic recalibration tends to."""
    score = (np.arange(many) + 0.5) / many  # the quantiles of the beta distribution, by inversion
    score = (1 - (1 - score) ** (1 / 1.5)).clip(0.001, 0.999)
    at, first = np.unique(score.round(4), return_index=True)
    rows = np.diff(np.append(first, many)).astype(float)
    chance = CURVES[curve](at)
    counts = rs.ThresholdCounts(at[::-1], (chance * rows)[::-1], ((1 - chance) * rows)[::-1])
    return rs.calibration.cox_calibration(counts).slope


@pytest.mark.slow
@pytest.mark.parametrize("curve", ["calibrated", "shifted"])
def test_intervals_hold_the_truth(curve):
    missed, disagree = misses(curve, 200, 30, draws=99)
    assert disagree == 0
    assert max(missed.values()) <= 0.2


@pytest.mark.slow
@pytest.mark.parametrize("n", [300, 1500])
@pytest.mark.parametrize("curve", ["calibrated", "over-confident", "shifted", "flat", "step"])
def test_intervals_miss_the_truth_as_rarely_as_they_say(curve, n):
    missed, disagree = misses(curve, n, 1000, draws=199)
    print(f"\nn={n}, {curve}: misses " + ", ".join(f"{name} {share:.1%}" for name, share in missed.items()))
    assert disagree == 0
    assert max(missed.values()) <= (0.10 if curve == "step" else 0.07)


def check_widths(samples):
    """Whether any interval or band of small samples with ties, of one class or one level, is without width."""
    rng = np.random.default_rng(3)
    for run in range(samples):
        n = int(rng.integers(1, 40))
        score = rng.choice([0.0, 0.1, 0.5, 0.9, 1.0, *rng.random(3)], n)
        label = rng.random(n) < rng.choice([0, 0.1, 0.5, 1])
        report = rs.calibration.calibration_report(label, score, draws=19, random_state=run)
        for name, estimate in report.estimates.items():
            assert np.isnan(estimate.low) or estimate.low < estimate.high, (name, label, score)
            assert "-0.0" not in (str(estimate.low), str(estimate.value))
            if name in ("ici", "e50", "e90", "emax", "ece", "mce"):
                assert np.isnan(estimate.high) or estimate.high <= 1
        for method in METHODS:
            for simultaneous in (False, True):
                band = rs.calibration_curve(label, score, method=method).confidence_band(simultaneous=simultaneous)
                known = ~np.isnan(band.low)
                assert (band.low < band.high)[known].all(), (method, label, score)
                assert band.low[known].min() >= 0
                assert band.high[known].max() <= 1
        if 0 < label.sum() < n:
            cost = rs.calibration.miscalibration_cost(label, score).confidence_band(draws=19, points=9)
            assert (cost.low < cost.high).all(), (label, score)
    print(f"{samples:,} samples without an interval of zero width")


@pytest.mark.slow
def test_no_interval_has_zero_width():
    check_widths(40)


@pytest.mark.slow
def test_no_interval_of_many_samples_has_zero_width():
    check_widths(10_000)
