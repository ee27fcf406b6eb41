"""Bands around calibration curves: what they hold, and how often."""

import numpy as np
import pytest
from scipy import special

import rocscope as rs
from rocscope.calibration.curve import envelope
from rocscope.calibration.outcomes import draw_positives
from rocscope.calibration.regression import fit_logistic

METHODS = ("bins", "pav", "loess", "spline")


def calibrated(rng, n=400):
    score = rng.beta(1, 2, n)
    return rng.random(n) < score, score


def values_at(curve, band):
    return curve.y if curve.method.endswith("bins") else curve.at(band.x)


def share_inside(method, runs, draws, n=400, seed=5):
    """Share of calibrated samples whose whole curve lies in the simultaneous consistency band."""
    rng = np.random.default_rng(seed)
    inside = 0
    for _ in range(runs):
        curve = rs.calibration_curve(*calibrated(rng, n), method=method)
        band = curve.consistency_band(simultaneous=True, draws=draws, random_state=rng)
        y = values_at(curve, band)
        inside += bool(np.all((y >= band.low - 1e-12) & (y <= band.high + 1e-12) | np.isnan(y)))
    return inside / runs


@pytest.mark.every(4)
@pytest.mark.parametrize(("method", "runs"), [("bins", 100), ("pav", 100), ("loess", 50), ("spline", 30)])
def test_simultaneous_consistency_band_holds_the_whole_curve(method, runs):
    assert share_inside(method, runs, draws=200, n=200) >= 0.86


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_simultaneous_consistency_band_holds_the_whole_curve_in_93_of_100_runs(method):
    share = share_inside(method, runs=1000, draws=1000)
    print(f"\nsimultaneous consistency band, {method}: whole curve inside in {share:.1%} of 1,000 runs")
    assert share >= 0.93


def test_pointwise_consistency_band_of_loess_agrees_with_its_variance():
    """LOESS is linear in the labels, so its variance is known."""
    rng = np.random.default_rng(2)
    label, score = calibrated(rng, 300)
    curve = rs.calibration_curve(label, score, method="loess")
    weights, chance = curve._fit.weights_at(curve.x), np.sort(score)
    half = 1.96 * np.sqrt(weights**2 @ (chance * (1 - chance)))
    band = curve.consistency_band(draws=4000)
    assert band.low == pytest.approx(weights @ chance - half, abs=0.02)
    assert band.high == pytest.approx(weights @ chance + half, abs=0.02)


def test_pointwise_consistency_band_of_bins_is_binomial():
    from scipy.stats import binom

    counts = rs.ThresholdCounts([0.7, 0.2], [7, 20], [3, 80])
    band = rs.calibration_curve(counts, strategy="distinct").consistency_band(draws=20_000)
    assert band.low * [100, 10] == pytest.approx(binom.ppf(0.025, [100, 10], [0.2, 0.7]), abs=1)
    assert band.high * [100, 10] == pytest.approx(binom.ppf(0.975, [100, 10], [0.2, 0.7]), abs=1)


@pytest.mark.parametrize("method", METHODS)
def test_a_simultaneous_band_holds_the_pointwise_one_and_says_so(method):
    curve = rs.calibration_curve(*calibrated(np.random.default_rng(1)), method=method)
    narrow, wide = (curve.confidence_band(simultaneous=flag) for flag in (False, True))
    assert "95% simultaneous" in repr(wide)
    assert "95% pointwise" in repr(narrow)
    assert np.nanmean(wide.high - wide.low) > np.nanmean(narrow.high - narrow.low)
    for band in (narrow, wide):
        y = curve.y if method == "bins" else curve.at(band.x)
        assert ((y >= band.low) & (y <= band.high) | np.isnan(y)).all()


def test_a_band_is_repeatable_and_leaves_the_diagonal_to_an_overconfident_model():
    rng = np.random.default_rng(3)
    label, score = calibrated(rng, 2000)
    extreme = score**2 / (score**2 + (1 - score) ** 2)
    curve = rs.calibration_curve(label, extreme, method="pav")
    band = curve.consistency_band(simultaneous=True)
    again = curve.consistency_band(simultaneous=True)
    assert np.array_equal(band.low, again.low)
    y = curve.at(band.x)
    assert ((y < band.low) | (y > band.high)).any()


def test_many_scores_are_gathered_before_drawing():
    label, score = calibrated(np.random.default_rng(4), 60_000)
    curve = rs.calibration_curve(label, score, method="pav")
    band = curve.consistency_band(draws=50)
    assert band.x.size <= 2048
    assert (band.x[0], band.x[-1]) == (score.min(), score.max())


def test_envelope_of_the_same_curves_is_those_curves():
    low, high = envelope(np.full((20, 3), 0.4), 0.95)
    assert low == pytest.approx(0.4)
    assert high == pytest.approx(0.4)


def test_a_part_of_a_row_is_drawn_whole_or_not_at_all():
    rng = np.random.default_rng(0)
    drawn = draw_positives(np.array([0.25, 2.5]), np.array([0.5, 0.5]), 4000, rng)
    assert set(np.unique(drawn[:, 0])) == {0.0, 0.25}
    assert drawn.mean(axis=0) == pytest.approx([0.125, 1.25], abs=0.03)


def test_splines_of_many_samples_at_once_are_those_of_each():
    rng = np.random.default_rng(6)
    curve = rs.calibration_curve(*calibrated(rng, 60), method="spline")
    fit = curve._fit
    drawn = draw_positives(fit.outcomes.total, fit.outcomes.score, 40, rng)
    drawn[0] = fit.outcomes.total  # one class only
    drawn[1] = np.arange(60) >= 30  # separated
    together = fit.values(drawn)
    for pos, values in zip(drawn, together, strict=True):
        alone = fit_logistic(list(fit.columns), pos, fit.outcomes.total, ridge=1e-9 * 60).coefficients
        assert values == pytest.approx(special.expit(alone @ fit.columns_at_x), abs=1e-5)
