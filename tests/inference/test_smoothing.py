"""Smoothed curves against general optimisers, double loops and pROC."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import optimize, special, stats

import rocscope as rs
from coverage_cases import simulate
from proc_values import SETS, VALUES
from rocscope.errors import InputError, OneClassError
from rocscope.inference import bands as smoothing

RNG = np.random.default_rng(2)
LABEL = (np.arange(150) % 3 == 0).astype(int)
SCORE = (LABEL * 1.2 + RNG.normal(size=150) * (1 + 0.4 * LABEL)).round(1)
GRID = np.linspace(0.01, 0.99, 30)


def negative_likelihood(theta, pos, neg):
    """Minus the log-likelihood of ordered categories, with cut points as increments (Dorfman & Alf 1969)."""
    a, log_b, first, *increments = theta
    cut = first + np.concatenate([[0], np.cumsum(np.exp(increments))])
    edges = np.concatenate([[-np.inf], cut, [np.inf]])
    of_neg = np.diff(stats.norm.cdf(edges))
    of_pos = np.diff(stats.norm.cdf(np.exp(log_b) * edges - a))
    return -(special.xlogy(pos, of_pos).sum() + special.xlogy(neg, of_neg).sum())


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("pos", "neg"),
    [([3, 5, 9, 12, 30], [40, 22, 10, 6, 4]), ([5, 11, 6, 11, 20], [33, 6, 6, 11, 2])],  # the second: Hanley & McNeil
)
def test_maximum_likelihood_is_found_by_a_general_optimiser_too(pos, neg):
    counts = rs.ThresholdCounts(range(5, 0, -1), pos[::-1], neg[::-1])
    found = rs.inference.smooth_roc(counts).binormal
    start = [1.0, 0.0, -1.0, -0.5, -0.5, -0.5]
    options = {"xatol": 1e-10, "fatol": 1e-12, "maxiter": 20_000, "maxfev": 20_000}
    theirs = optimize.minimize(negative_likelihood, start, args=(pos, neg), method="Nelder-Mead", options=options)
    theirs = optimize.minimize(negative_likelihood, theirs.x, args=(pos, neg), method="Nelder-Mead", options=options)
    assert (found.a, np.log(found.b)) == pytest.approx(tuple(theirs.x[:2]), abs=1e-5)


def test_steps_that_overshoot_do_not_go_on_for_ever():
    label, score = simulate(0.9, 100, 0.5, 254, seed=6)
    counts = rs.ThresholdCounts.from_scores(label, score[253])  # full steps swing around the maximum here
    found = rs.inference.smooth_roc(counts).binormal
    assert found.auc == pytest.approx(rs.auc(counts), abs=0.02)
    again = rs.inference.smooth_roc(1 - label, -score[253]).binormal  # another path to the same maximum
    assert (again.auc, again.b) == pytest.approx((found.auc, 1 / found.b), rel=1e-3)


def test_three_categories_are_fitted_exactly():
    counts = rs.ThresholdCounts([3, 2, 1], [50, 30, 20], [5, 25, 70])
    curve = rs.inference.smooth_roc(counts)
    np.testing.assert_allclose(curve.at(rs.roc(counts).x[1:3]), rs.roc(counts).y[1:3], rtol=1e-6)
    by_line = rs.inference.smooth_roc(counts, fit="ls")
    assert curve.auc == pytest.approx(by_line.auc, rel=1e-6)


def test_area_is_that_under_the_curve():
    for options in ({}, {"fit": "ls"}, {"method": "kernel"}):
        curve = rs.inference.smooth_roc(LABEL, SCORE, **options)
        x = np.linspace(0, 1, 200_001)
        y = curve.at(x)
        assert curve.area() == pytest.approx(float((y[1:] + y[:-1]).sum() / 2 / 200_000), abs=2e-4)
        assert (curve.at(0.0), curve.at(1.0)) == (0, 1)
        assert np.isnan(curve.at(1.1))


def test_only_the_ranking_matters_to_the_binormal_curve():
    curve = rs.inference.smooth_roc(LABEL, SCORE)
    assert rs.inference.smooth_roc(LABEL, np.exp(3 * SCORE)).auc == pytest.approx(curve.auc, rel=1e-9)


def test_swapping_classes_mirrors_the_binormal_curve():
    curve, mirrored = rs.inference.smooth_roc(LABEL, SCORE), rs.inference.smooth_roc(1 - LABEL, -SCORE)
    assert mirrored.auc == pytest.approx(curve.auc, rel=1e-6)
    assert mirrored.binormal.b == pytest.approx(1 / curve.binormal.b, rel=1e-5)


def test_least_squares_is_a_straight_line_on_deviate_axes():
    curve = rs.roc(LABEL, SCORE)
    inside = (curve.x > 0) & (curve.x < 1) & (curve.y > 0) & (curve.y < 1)
    slope, intercept = np.polyfit(special.ndtri(curve.x[inside]), special.ndtri(curve.y[inside]), 1)
    found = rs.inference.smooth_roc(LABEL, SCORE, fit="ls").binormal
    assert (found.b, found.a) == pytest.approx((slope, intercept), rel=1e-9)


@pytest.mark.parametrize("name", ["medium", "large"])
def test_fits_are_close_to_procs(name):
    # pROC fits the same line the other way round (fpr on tpr), so areas agree to sampling error only.
    counts = SETS[name].counts("b")
    for fit in ("ml", "ls"):
        assert rs.inference.smooth_roc(counts, fit=fit).auc == pytest.approx(VALUES[name, "smooth auc b"], abs=0.01)


def test_standard_error_is_that_of_the_curvature():
    pos, neg = np.array([3, 5, 9, 12, 30]), np.array([40, 22, 10, 6, 4])
    counts = rs.ThresholdCounts(range(5, 0, -1), pos[::-1], neg[::-1])
    curve = rs.inference.smooth_roc(counts)

    def profile(auc):
        """The largest likelihood of curves of one area."""

        def given(theta):
            log_b, *rest = theta
            a = special.ndtri(auc) * np.sqrt(1 + np.exp(2 * log_b))
            return negative_likelihood([a, log_b, *rest], pos, neg)

        return optimize.minimize(given, [0.0, -1.0, -0.5, -0.5, -0.5], method="BFGS", options={"gtol": 1e-9}).fun

    step = 0.01
    curvature = (profile(curve.auc + step) - 2 * profile(curve.auc) + profile(curve.auc - step)) / step**2
    assert curve.auc_interval().standard_error == pytest.approx(1 / np.sqrt(curvature), rel=0.05)


def test_intervals_are_near_delongs():
    expected = rs.auc_interval(LABEL, SCORE)
    for options in ({}, {"fit": "ls"}, {"method": "kernel"}):
        found = rs.inference.smooth_roc(LABEL, SCORE, **options).auc_interval(replicates=300)
        assert found.low < expected.value < found.high
        assert found.high - found.low == pytest.approx(expected.high - expected.low, rel=0.3)
        assert "bootstrap" in found.method or "likelihood" in found.method


def test_many_ranks_are_joined_without_moving_the_curve():
    label = RNG.integers(0, 2, 4000)
    score = label + RNG.normal(size=4000)
    curve = rs.inference.smooth_roc(label, score)
    assert curve.auc == pytest.approx(rs.auc(label, score), abs=0.01)
    assert curve.auc_interval().standard_error == pytest.approx(rs.auc_interval(label, score).standard_error, rel=0.1)


@given(st.lists(st.integers(0, 5), min_size=2, max_size=6), st.lists(st.integers(0, 5), min_size=2, max_size=6))
def test_kernel_area_is_its_definition(pos, neg):
    curve = rs.inference.smooth_roc([1] * len(pos) + [0] * len(neg), pos + neg, method="kernel", bandwidth=(0.7, 0.4))
    both = np.sqrt(0.7**2 + 0.4**2)
    expected = np.mean([stats.norm.cdf((p - n) / both) for p in pos for n in neg])
    assert curve.auc == pytest.approx(expected, rel=1e-12)
    for i in (50, 200, 300):
        t = curve.threshold[i]
        assert curve.y[i] == pytest.approx(np.mean(stats.norm.sf(t, pos, 0.7)), rel=1e-9)
        assert curve.x[i] == pytest.approx(np.mean(stats.norm.sf(t, neg, 0.4)), rel=1e-9)


def test_bandwidths_are_the_rule_of_thumb():
    curve = rs.inference.smooth_roc(LABEL, SCORE, method="kernel")
    for width, side in zip(curve.bandwidth, (1, 0), strict=True):
        own = SCORE[side == LABEL]
        quartiles = np.quantile(own, [0.25, 0.75], method="inverted_cdf")
        spread = min(own.std(ddof=1), np.ptp(quartiles) / 1.34)
        assert width == pytest.approx(0.9 * spread * own.size**-0.2)


def test_bandwidths_given_are_kept_in_replicates():
    counts = rs.ThresholdCounts.from_scores(LABEL, SCORE + 1)
    given_ones = rs.inference.smooth_roc(LABEL, SCORE, method="kernel", bandwidth=(0.7, 0.4)).recount(counts)
    assert given_ones.bandwidth == (0.7, 0.4)
    assert rs.inference.smooth_roc(LABEL, SCORE, method="kernel").recount(counts).bandwidth != (0.7, 0.4)


def test_many_scores_are_spread_over_a_grid(monkeypatch):
    exact = rs.inference.smooth_roc(LABEL, SCORE + 0.001 * np.arange(150), method="kernel", bandwidth=(0.5, 0.5)).auc
    monkeypatch.setattr(smoothing, "_MOST_SCORES", 100)
    assert rs.inference.smooth_roc(
        LABEL, SCORE + 0.001 * np.arange(150), method="kernel", bandwidth=(0.5, 0.5)
    ).auc == (pytest.approx(exact, abs=1e-3))


def test_a_smooth_curve_has_a_band():
    found = rs.inference.band(rs.inference.smooth_roc(LABEL, SCORE, fit="ls"), grid=GRID, replicates=100)
    at = rs.inference.smooth_roc(LABEL, SCORE, fit="ls").at(GRID)
    assert ((found.low <= at) & (at <= found.high)).mean() > 0.9


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: rs.inference.smooth_roc([1, 1], [1, 2]), OneClassError, "no negatives"),
        (lambda: rs.inference.smooth_roc([1, 1, 0, 0], [4, 3, 2, 1]), InputError, "two points"),
        (lambda: rs.inference.smooth_roc([1, 1, 0, 0], [1, 1, 1, 1], method="kernel"), InputError, "two scores"),
        (lambda: rs.inference.smooth_roc(LABEL, SCORE, method="spline"), InputError, "method"),
        (lambda: rs.inference.smooth_roc(LABEL, SCORE, fit="map"), InputError, "fit"),
        (lambda: rs.inference.smooth_roc(LABEL, SCORE, bandwidth=(1, 1)), InputError, "None for"),
        (lambda: rs.inference.smooth_roc(LABEL, SCORE, method="kernel", bandwidth=(0, 1)), InputError, "above 0"),
        (lambda: rs.inference.smooth_roc(LABEL, SCORE).auc_interval(level=95), InputError, "level"),
        (
            lambda: rs.inference.smooth_roc(LABEL, SCORE, sample_weight=LABEL + 0.5).auc_interval(),
            InputError,
            "expected numbers of cases",
        ),
    ],
)
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
