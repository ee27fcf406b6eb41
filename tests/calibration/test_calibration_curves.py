"""Calibration curves against statsmodels, scikit-learn and slow definitions."""

import json

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression
from statsmodels.nonparametric.smoothers_lowess import lowess
from statsmodels.stats.proportion import proportion_confint

import rocscope as rs
from rocscope.calibration import regression
from rocscope.calibration.outcomes import Outcomes, outcomes, pav_values
from rocscope.errors import InputError, OneClassError, ScoreError
from rocscope.geometry.hull import pool
from strategies import costly

samples = st.lists(st.tuples(st.booleans(), st.integers(0, 10), st.integers(1, 4)), min_size=2, max_size=40)


def columns(rows):
    label, score, weight = (np.array(column) for column in zip(*rows, strict=True))
    return label.astype(int), score / 10, weight


def simulated(n, seed=0, levels=None):
    rng = np.random.default_rng(seed)
    score = rng.random(n) if levels is None else rng.integers(1, levels, n) / levels
    return (rng.random(n) < score).astype(int), score


@pytest.mark.parametrize("levels", [None, 40])
@pytest.mark.parametrize("n", [20, 100, 400])
@pytest.mark.parametrize("span", [0.3, 2 / 3, 1.0])
def test_loess_equals_statsmodels(n, levels, span):
    label, score = simulated(n, levels=levels)
    curve = rs.calibration_curve(label, score, method="loess", span=span)
    reference = dict(zip(score, lowess(label, score, frac=span, it=0, return_sorted=False), strict=True))
    assert curve.y == pytest.approx([reference[x] for x in curve.x], abs=1e-6)


def test_loess_of_many_scores_is_near_the_exact_curve():
    label, score = simulated(3000, seed=1)
    curve = rs.calibration_curve(label, score, method="loess")
    reference = lowess(label, score, it=0, return_sorted=False)
    assert curve.x.size < 300
    assert np.interp(score, curve.x, curve.y) == pytest.approx(reference, abs=5e-4)


def test_loess_of_the_narrowest_window_is_the_share_at_each_probability():
    label, score = simulated(2000)
    curve = rs.calibration_curve(label, score, method="loess", span=1e-9)
    assert not np.isnan(curve.y).any()
    assert curve.y[0] == label[score.argmin()]


def test_loess_bears_probabilities_that_are_next_to_nothing():
    score = np.concatenate([np.arange(90) * 1e-310, np.linspace(0.5, 1, 10)])
    curve = rs.calibration_curve(np.arange(100) % 2, score, method="loess")
    assert curve.y == pytest.approx(0.5, abs=0.3)


def slow_loess(label, score, weight, span, at):
    """The definition, one point at a time: weighted least squares in the nearest rows."""
    distance = np.abs(score - at)
    order = np.argsort(distance)
    wanted = max(np.floor(span * weight.sum() + 1e-10), 1)
    radius = distance[order][np.searchsorted(np.cumsum(weight[order]), wanted)]
    near = np.clip(distance / radius, 0, 1) if radius else (distance > 0).astype(float)
    mass = weight * (1 - near**3) ** 3
    if np.ptp(score[mass > 0]) == 0:
        return mass @ label / mass.sum()
    root = np.sqrt(mass)
    line = np.linalg.lstsq(np.column_stack([root, root * (score - at)]), root * label, rcond=None)[0]
    return line[0]


@given(samples, st.sampled_from([0.4, 2 / 3, 1.0]))
@costly
def test_loess_equals_its_definition_with_ties_and_weights(rows, span):
    label, score, weight = columns(rows)
    curve = rs.calibration_curve(label, score, method="loess", span=span, sample_weight=weight)
    assert curve.y == pytest.approx([slow_loess(label, score, weight, span, at) for at in curve.x], abs=1e-8)


@given(samples, st.sampled_from(["bins", "pav", "loess", "spline"]))
@costly
def test_whole_weights_equal_repeated_rows(rows, method):
    label, score, weight = columns(rows)
    weighted = rs.calibration_curve(label, score, method=method, sample_weight=weight)
    repeated = rs.calibration_curve(np.repeat(label, weight), np.repeat(score, weight), method=method)
    np.testing.assert_array_equal(weighted.x, repeated.x)
    np.testing.assert_allclose(weighted.y, repeated.y, rtol=1e-12)


@given(samples)
@costly
def test_pav_equals_scikit_learn_and_the_hull(rows):
    label, score, weight = columns(rows)
    curve = rs.calibration_curve(label, score, method="pav", sample_weight=weight)
    isotonic = IsotonicRegression().fit(score, label, sample_weight=weight)
    levels = np.unique(score)
    assert np.interp(levels, curve.x, curve.y) == pytest.approx(isotonic.predict(levels), abs=1e-12)
    assert pav_values(outcomes(curve.counts)) == pytest.approx(isotonic.predict(levels), abs=1e-12)


@given(samples.filter(lambda rows: len({row[0] for row in rows}) == 2))
@costly
def test_slopes_of_the_roc_hull_are_the_calibrated_likelihood_ratios(rows):
    label, score, weight = columns(rows)
    counts = rs.ThresholdCounts.from_scores(label, score, sample_weight=weight)
    hull = rs.roc(counts).hull()
    rise, run = np.diff(hull.y) * counts.n_pos, np.diff(hull.x) * counts.n_neg
    slopes = rise / (rise + run)
    values = np.unique(IsotonicRegression().fit(score, label, sample_weight=weight).predict(score).round(12))
    assert slopes[::-1] == pytest.approx(values, abs=1e-11)
    assert len(pool(counts)) == values.size


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_bins_equal_scikit_learn_where_no_score_is_on_an_edge(strategy):
    label, score = simulated(500, seed=3)
    curve = rs.calibration_curve(label, score, bins=8, strategy=strategy)
    share, mean = calibration_curve(label, score, n_bins=8, strategy=strategy)
    if strategy == "uniform":  # its quantiles interpolate between scores, so bins differ by a row
        np.testing.assert_allclose(curve.x, mean, rtol=1e-12)
        np.testing.assert_allclose(curve.y, share, rtol=1e-12)
    else:
        np.testing.assert_allclose(curve.x, mean, atol=0.01)
        np.testing.assert_allclose(curve.pos + curve.neg, 500 / 8, atol=1)


def test_quantile_bins_never_split_a_tie():
    score = np.repeat([0.1, 0.2, 0.7], [50, 3, 47])
    curve = rs.calibration_curve(np.tile([0, 1], 50), score, bins=10, strategy="quantile")
    assert (curve.pos + curve.neg).tolist() == [50, 50]


def test_one_bin_for_each_distinct_score():
    curve = rs.calibration_curve([0, 1, 1, 0], [0.2, 0.2, 0.9, 0.5], strategy="distinct")
    assert curve.x.tolist() == [0.2, 0.5, 0.9]
    assert curve.y.tolist() == [0.5, 0.0, 1.0]


@pytest.mark.parametrize("method", ["wilson", "jeffreys"])
def test_intervals_of_bins_equal_statsmodels(method):
    label, score = simulated(300, seed=5)
    curve = rs.calibration_curve(label, score)
    interval = curve.interval(method=method, level=0.9)
    inner = (curve.pos > 0) & (curve.neg > 0)
    low, high = proportion_confint(curve.pos, curve.pos + curve.neg, alpha=0.1, method=method)
    np.testing.assert_allclose(interval.low[inner], low[inner], rtol=1e-9)
    np.testing.assert_allclose(interval.high[inner], high[inner], rtol=1e-9)
    assert not interval.simultaneous


@pytest.mark.parametrize("method", ["wilson", "jeffreys"])
def test_an_interval_of_nothing_but_positives_reaches_to_one(method):
    interval = rs.calibration_curve([1, 1, 0, 0], [0.9, 0.9, 0.1, 0.1], bins=2).interval(method=method)
    assert (interval.low[0], interval.high[1]) == (0.0, 1.0)
    assert interval.high[0] == pytest.approx(1 - interval.low[1])


def test_spline_is_the_logistic_regression_of_statsmodels_where_it_is_a_line():
    """Three distinct scores leave no room for knots: a line on the logit."""
    import statsmodels.api as sm

    label, score = simulated(300, levels=4)
    curve = rs.calibration_curve(label, score, method="spline")
    design = sm.add_constant(np.log(score / (1 - score)))
    fitted = sm.GLM(label, design, family=sm.families.Binomial()).fit(tol=1e-12).predict(design)
    assert np.interp(score, curve.x, curve.y) == pytest.approx(fitted, abs=1e-6)


def test_spline_follows_a_curve_that_its_knots_can_follow():
    """Labels in the exact proportions of a cubic on the logit between the knots."""
    score = np.linspace(0.02, 0.98, 97)
    truth = 1 / (1 + np.exp(-(0.2 + 0.6 * np.log(score / (1 - score)))))
    counts = rs.ThresholdCounts(score[::-1], (1000 * truth)[::-1], (1000 * (1 - truth))[::-1])
    curve = rs.calibration_curve(counts, method="spline")
    assert np.interp(score, curve.x, curve.y) == pytest.approx(truth, abs=1e-4)


def test_target_prevalence_weighs_the_classes():
    label, score = simulated(200, levels=9)
    weight = np.where(label == 1, 0.1 / label.mean(), 0.9 / (1 - label.mean()))
    for method in ("bins", "pav", "loess"):
        moved = rs.calibration_curve(label, score, method=method, target_prevalence=0.1)
        weighted = rs.calibration_curve(label, score, method=method, sample_weight=weight * 1.0)
        assert moved.y == pytest.approx(weighted.y, abs=0.02 if method == "loess" else 1e-9, nan_ok=True)


@pytest.mark.parametrize("method", ["bins", "pav", "loess", "spline"])
def test_every_curve_is_safe_for_json_and_says_what_it_is(method):
    curve = rs.calibration_curve(*simulated(50), method=method)
    assert json.loads(json.dumps(curve.to_dict(), allow_nan=False))["method"] == curve.method
    assert "n=50" in repr(curve)
    assert "<svg" in curve._repr_html_()


class TestBadInput:
    def test_a_probability_a_little_above_one_is_named_with_its_count(self):
        with pytest.raises(ScoreError, match=r"2 values outside this range, such as 1\.00001; .*recalibrate"):
            rs.calibration_curve([0, 1, 1], [0.5, 1.00001, 1.00001])

    @pytest.mark.parametrize("method", ["bins", "pav", "loess", "spline"])
    def test_one_distinct_score(self, method):
        curve = rs.calibration_curve([0, 1, 1, 1], [0.4] * 4, method=method)
        assert curve.y[~np.isnan(curve.y)] == pytest.approx([0.75])
        for band in (curve.consistency_band(draws=50), curve.confidence_band()):
            assert np.nanmax(band.high) <= 1

    def test_an_empty_bin_is_a_gap(self):
        curve = rs.calibration_curve([0, 1], [0.05, 0.95])
        assert np.isnan(curve.y[1:-1]).all()
        band = curve.consistency_band(simultaneous=True, draws=50)
        assert np.isnan(curve.interval().low).tolist() == np.isnan(band.low).tolist() == np.isnan(curve.y).tolist()

    def test_fewer_rows_than_bins(self):
        curve = rs.calibration_curve([0, 1, 1], [0.1, 0.2, 0.9], bins=100, strategy="quantile")
        assert curve.y.tolist() == [0, 1, 1]

    @pytest.mark.parametrize("method", ["bins", "pav", "loess", "spline"])
    def test_one_class_is_a_curve_at_its_share(self, method):
        curve = rs.calibration_curve([1, 1, 1], [0.1, 0.5, 0.9], method=method)
        assert curve.y[~np.isnan(curve.y)] == pytest.approx(1, abs=1e-3)
        with pytest.raises(OneClassError):
            rs.calibration_curve([1, 1], [0.1, 0.5], target_prevalence=0.5)

    @pytest.mark.parametrize(
        "options",
        [
            {"method": "lowess"},
            {"strategy": "equal"},
            {"bins": 0},
            {"bins": 2.5},
            {"edges": [0.5, 0.2]},
            {"edges": [0.2, 1.0]},
            {"method": "loess", "span": 0},
            {"method": "spline", "knots": 2},
            {"target_prevalence": 1.0},
        ],
    )
    def test_an_option_that_makes_no_sense(self, options):
        with pytest.raises(InputError, match="expected"):
            rs.calibration_curve([0, 1], [0.1, 0.9], **options)

    def test_a_band_of_no_level_or_no_draws(self):
        curve = rs.calibration_curve([0, 1], [0.1, 0.9])
        for options in ({"level": 95}, {"draws": 0}):
            with pytest.raises(InputError):
                curve.consistency_band(**options)
        with pytest.raises(InputError, match="wilson"):
            curve.interval(method="wald")
        with pytest.raises(InputError):
            curve.area()


def test_local_parabolas_solve_their_normal_equations_as_a_pseudo_inverse_does():
    rng = np.random.default_rng(0)
    for score in (rng.beta(0.3, 3, 400), rng.random(60).round(1), np.repeat([0.1, 0.4, 0.9], 9)):
        sample = Outcomes.of(rs.ThresholdCounts.from_scores(rng.random(score.size) < score, score))
        x, radius = np.linspace(0.05, 0.9, 7), np.full(7, 0.3)
        operator = regression._local_parabolas(sample, x, radius)
        kernel = regression._kernel(sample, x, radius)
        for place, centre in enumerate(x):
            value, slope = regression._by_pseudo_inverse(sample, kernel[place], (sample.score - centre) / 0.3)
            np.testing.assert_allclose(operator[[place, place + 7]], [value, slope / 0.3], atol=1e-8)
