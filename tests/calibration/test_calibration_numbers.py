"""Scores, decompositions, discrepancies and tests of calibration against other definitions and published values."""

import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, strategies as st
from scipy import integrate, stats
from sklearn.metrics import brier_score_loss, log_loss as sklearn_log_loss

import rocscope as rs
from rocscope.calibration.outcomes import Outcomes, outcomes, pav_values
from rocscope.calibration.scoring_rules import _decompose
from rocscope.errors import InputError, OneClassError, ScoreError
from strategies import costly

samples = st.lists(st.tuples(st.booleans(), st.integers(1, 9), st.integers(1, 4)), min_size=2, max_size=40)

NUMBERS = {
    "brier": rs.calibration.brier,
    "log_loss": rs.calibration.log_loss,
    "decompose": lambda *a, **k: rs.calibration.decompose(*a, **k).miscalibration,
    "murphy": lambda *a, **k: rs.calibration.decompose(*a, method="murphy", **k).discrimination,
    "ece": rs.calibration.calibration_error,
    "ece_mass": lambda *a, **k: rs.calibration.calibration_error(*a, strategy="quantile", **k),
    "ece_debiased": lambda *a, **k: rs.calibration.calibration_error(*a, debiased=True, **k),
    "smooth": rs.calibration.smooth_calibration_error,
    "ici": lambda *a, **k: rs.calibration.calibration_index(*a, **k).ici,
    "e90": lambda *a, **k: rs.calibration.calibration_index(*a, **k).e90,
    "spiegelhalter": lambda *a, **k: rs.calibration.spiegelhalter_test(*a, **k).statistic,
    "hosmer": lambda *a, **k: rs.calibration.hosmer_lemeshow_test(*a, **k).statistic,
}


def columns(rows):
    label, score, weight = (np.array(column) for column in zip(*rows, strict=True))
    return label.astype(int), score / 10, weight


def simulated(n, seed=0, power=1.0):
    rng = np.random.default_rng(seed)
    score = rng.beta(1, 2, n)
    return (rng.random(n) < score**power).astype(int), score


@given(samples, st.sampled_from(sorted(NUMBERS)))
@costly
def test_whole_weights_equal_repeated_rows_in_every_number(rows, name):
    label, score, weight = columns(rows)
    number = NUMBERS[name]
    weighted = number(rs.ThresholdCounts.from_scores(label, score, sample_weight=weight))
    assert weighted == pytest.approx(number(np.repeat(label, weight), np.repeat(score, weight)), rel=1e-9, abs=1e-9)


@given(samples)
def test_scores_equal_scikit_learn(rows):
    label, score, weight = columns(rows)
    options = {"sample_weight": weight}
    assert rs.calibration.brier(label, score, **options) == pytest.approx(
        brier_score_loss(label, score, **options), abs=1e-14
    )
    expected = sklearn_log_loss(label, score, labels=[0, 1], **options)
    assert rs.calibration.log_loss(label, score, **options) == pytest.approx(expected, rel=1e-12)


def test_certainty_that_was_wrong_costs_infinity_and_that_was_right_nothing():
    assert rs.calibration.log_loss([0, 1], [0.0, 1.0]) == 0
    assert rs.calibration.log_loss([1, 1], [0.0, 1.0]) == math.inf
    assert rs.calibration.decompose([1, 0, 1], [0.0, 0.5, 1.0], rule="log_loss").to_dict()["score"] is None


@given(samples, st.sampled_from(["brier", "log_loss"]), st.sampled_from(["corp", "murphy"]))
@costly
def test_parts_add_up_and_are_never_negative(rows, rule, method):
    label, score, weight = columns(rows)
    parts = rs.calibration.decompose(label, score, rule=rule, method=method, sample_weight=weight)
    assert parts.score == pytest.approx(parts.miscalibration - parts.discrimination + parts.uncertainty, abs=1e-12)
    assert min(parts.miscalibration, parts.discrimination, parts.uncertainty) >= 0
    if method == "corp":
        own = {"brier": rs.calibration.brier, "log_loss": rs.calibration.log_loss}[rule]
        assert parts.score == own(label, score, sample_weight=weight)


def test_corp_decomposition_of_a_published_example():
    """The example in the documentation of model-diagnostics 1.4 (`decompose`), whose scores are not probabilities."""
    sample = Outcomes(np.array([-1.0, 1.0, 2.0]), np.array([0.0, 1.0, 1.0]), np.array([1.0, 1.0, 0.0]))
    parts = _decompose(sample, pav_values(sample), "brier", "CORP")
    assert (parts.miscalibration, parts.discrimination, parts.uncertainty, parts.score) == (0.625, 0.125, 0.25, 0.75)


# Forecasts of precipitation: Wilks, Statistical Methods in the Atmospheric Sciences, table 7.3, as in the examples of
# the R package verification.
WILKS_SCORE = np.array([0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1])
WILKS_SHARE = np.array([0.006, 0.019, 0.059, 0.15, 0.277, 0.377, 0.511, 0.587, 0.723, 0.779, 0.934, 0.933])
WILKS_ROWS = 12402 * np.array(
    [0.4112, 0.0671, 0.1833, 0.0986, 0.0616, 0.0366, 0.0303, 0.0275, 0.0245, 0.022, 0.017, 0.0203]
)


def test_murphy_decomposition_of_a_published_table():
    pos = WILKS_SHARE * WILKS_ROWS
    counts = rs.ThresholdCounts(WILKS_SCORE[::-1], pos[::-1], (WILKS_ROWS - pos)[::-1])
    murphy = rs.calibration.decompose(counts, method="murphy", strategy="distinct")
    prevalence = pos.sum() / WILKS_ROWS.sum()
    assert prevalence == pytest.approx(0.162, abs=5e-4)  # as published
    weight = WILKS_ROWS / WILKS_ROWS.sum()
    assert murphy.miscalibration == pytest.approx(weight @ (WILKS_SCORE - WILKS_SHARE) ** 2, rel=1e-12)
    assert murphy.discrimination == pytest.approx(weight @ (WILKS_SHARE - prevalence) ** 2, rel=1e-12)
    assert murphy.uncertainty == pytest.approx(prevalence * (1 - prevalence), rel=1e-12)
    corp = rs.calibration.decompose(counts)  # only the last two shares are out of order, by 0.001
    assert corp.score == pytest.approx(murphy.score, rel=1e-12)
    assert 0 < murphy.miscalibration - corp.miscalibration < 1e-6


# Four bins of width 1/4: 4, 2, 2 and 2 rows; mean probability 0.15, 0.35, 0.65, 0.85; share 0.25, 0.5, 0.5, 1.
HAND = {"y": [0, 0, 0, 1, 0, 1, 1, 0, 1, 1], "p": [0.1, 0.1, 0.2, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9]}


def test_calibration_errors_of_a_hand_table():
    y, p = HAND.values()
    assert rs.calibration.calibration_error(y, p, bins=4) == pytest.approx(0.4 * 0.1 + 0.2 * (0.15 + 0.15 + 0.15))
    assert rs.calibration.calibration_error(y, p, bins=4, norm="max") == pytest.approx(0.15)
    assert rs.calibration.calibration_error(y, p, bins=4, norm="l2") ** 2 == pytest.approx(0.4 * 0.01 + 0.6 * 0.0225)
    # ȳ(1 − ȳ)/(n − 1): 0.0625, 0.25, 0.25 and 0; what is left is below 0
    assert rs.calibration.calibration_error(y, p, bins=4, norm="l2", debiased=True) == 0
    # five bins of two rows: |0.1 − 0|, |0.2 − 0.5|, |0.35 − 0.5|, |0.65 − 0.5|, |0.85 − 1|
    assert rs.calibration.calibration_error(y, p, bins=5, strategy="quantile") == pytest.approx((0.1 + 0.3 + 0.45) / 5)


def test_debiased_squared_error_takes_off_the_variance_of_shares():
    # bins [0, .5) and [.5, 1]: shares 1/4 of 4 rows and 1/3 of 3, mean probabilities .1 and .9
    y, p = [0, 0, 1, 0, 0, 0, 1], [0.9] * 3 + [0.1] * 4
    low = (0.25 - 0.1) ** 2 - 0.25 * 0.75 / (4 - 1)
    high = (1 / 3 - 0.9) ** 2 - (1 / 3) * (2 / 3) / (3 - 1)
    found = rs.calibration.calibration_error(y, p, bins=2, norm="l2", debiased=True)
    assert found**2 == pytest.approx((4 * low + 3 * high) / 7)


def test_debiased_mean_error_takes_off_the_bias_of_normal_shares():
    label, score = simulated(4000, power=1.5)
    rng = np.random.default_rng(0)
    curve = rs.calibration_curve(label, score)
    rows = curve.pos + curve.neg
    noisy = rng.normal(curve.y, np.sqrt(curve.y * (1 - curve.y) / (rows - 1)), (200_000, rows.size))
    plugin = rs.calibration.calibration_error(label, score)
    expected = 2 * plugin - (np.abs(noisy - curve.x) @ (rows / rows.sum())).mean()
    assert rs.calibration.calibration_error(label, score, debiased=True) == pytest.approx(expected, abs=2e-4)


def test_debiased_errors_of_calibrated_models_are_near_zero():
    plain, debiased = (
        np.mean(
            [
                rs.calibration.calibration_error(*simulated(500, seed), norm="l2", debiased=flag) ** 2
                for seed in range(200)
            ]
        )
        for flag in (False, True)
    )
    assert debiased < plain / 2


def slow_smooth_error(label, score, width):
    """The definition by quadrature: images of the kernel reflected at 0 and 1."""
    images = np.arange(-3, 4)[:, None] * 2

    def density(at):
        kernel = stats.norm.pdf(at - score - images, scale=width) + stats.norm.pdf(at + score - images, scale=width)
        return abs((kernel.sum(axis=0) * (label - score)).mean())

    at = np.linspace(0, 1, 4001)
    return integrate.trapezoid([density(point) for point in at], at)


@pytest.mark.every(4)
@pytest.mark.parametrize("seed", range(4))
def test_smooth_error_is_the_fixed_point_of_its_definition(seed):
    label, score = simulated(30, seed, power=0.5)
    found = rs.calibration.smooth_calibration_error(label, score)
    assert slow_smooth_error(label, score, found) == pytest.approx(found, abs=1e-4)


def test_calibration_index_is_the_distance_to_the_curve():
    label, score = simulated(200, power=1.5)
    curve = rs.calibration_curve(label, score, method="loess")
    distance = np.abs(curve.at(score) - score)
    index = rs.calibration.calibration_index(label, score)
    assert index.ici == pytest.approx(distance.mean())
    quantiles = np.quantile(distance, [0.5, 0.9, 1])
    assert [index.e50, index.e90, index.emax] == pytest.approx(quantiles.tolist())


def test_cox_calibration_equals_statsmodels():
    label, score = simulated(20_000, power=1.3)
    cox = rs.calibration.cox_calibration(label, score)
    log_odds, family = np.log(score / (1 - score)), sm.families.Binomial()
    both = sm.GLM(label, sm.add_constant(log_odds), family=family).fit(tol=1e-13)
    assert [cox.intercept, cox.slope] == pytest.approx(both.params.tolist(), abs=1e-9)
    assert [cox.intercept_error, cox.slope_error] == pytest.approx(both.bse.tolist(), rel=1e-6)
    assert cox.interval("slope") == pytest.approx(both.conf_int()[1].tolist(), rel=1e-6)
    large = sm.GLM(label, np.ones((label.size, 1)), family=family, offset=log_odds).fit(tol=1e-13)
    assert cox.in_the_large == pytest.approx(large.params[0], abs=1e-9)
    assert cox.in_the_large_error == pytest.approx(large.bse[0], rel=1e-6)


@pytest.mark.parametrize(
    ("label", "score", "slope"),
    [
        ([0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4], math.inf),
        ([0, 0, 1, 1], [0.1, 0.2, 0.2, 0.4], math.inf),
        ([1, 1, 0, 0], [0.1, 0.2, 0.3, 0.4], -math.inf),
        ([0, 1, 0, 1], [0.3, 0.3, 0.3, 0.3], math.nan),
        ([1, 0, 1, 0], [0.0, 0.3, 0.4, 0.5], math.nan),
        ([0, 1], [0.0, 1.0], math.nan),
    ],
)
def test_slopes_that_do_not_exist(label, score, slope):
    assert rs.calibration.cox_calibration(label, score).slope == pytest.approx(slope, nan_ok=True)


def test_certain_scores_that_were_right_change_no_slope():
    label, score = simulated(300)
    with_certain = rs.calibration.cox_calibration([*label, 0, 1], [*score, 0.0, 1.0])
    assert with_certain.slope == pytest.approx(rs.calibration.cox_calibration(label, score).slope, rel=1e-9)


def test_spiegelhalter_by_its_definition():
    label, score = simulated(50)
    z = ((label - score) * (1 - 2 * score)).sum() / math.sqrt(((1 - 2 * score) ** 2 * score * (1 - score)).sum())
    test = rs.calibration.spiegelhalter_test(label, score)
    assert test.statistic == pytest.approx(z)
    assert test.p_value == pytest.approx(2 * stats.norm.sf(abs(z)))
    assert math.isnan(rs.calibration.spiegelhalter_test([0, 1], [0.5, 0.5]).p_value)


def test_hosmer_lemeshow_by_its_definition():
    label, score = simulated(200)
    order = np.argsort(score)
    groups = [order[start : start + 20] for start in range(0, 200, 20)]
    observed, expected = (np.array([column[rows].sum() for rows in groups]) for column in (label, score))
    chi2 = ((observed - expected) ** 2 / (expected * (1 - expected / 20))).sum()
    test = rs.calibration.hosmer_lemeshow_test(label, score)
    assert test.statistic == pytest.approx(chi2)
    assert test.p_value == pytest.approx(stats.chi2.sf(chi2, 10))
    assert rs.calibration.hosmer_lemeshow_test(label, score, fitted_on_same_rows=True).p_value < test.p_value
    assert "depends on the bins" in test.note


def rejections(runs, seed=1, n=300, draws=99):
    """How often each test rejects at 5% what is calibrated."""
    rng = np.random.default_rng(seed)
    found = dict.fromkeys(("Spiegelhalter", "Hosmer–Lemeshow", "CORP"), 0)
    for _ in range(runs):
        score = rng.uniform(0.02, 0.98, n)
        label = rng.random(n) < score
        results = (
            rs.calibration.spiegelhalter_test(label, score),
            rs.calibration.hosmer_lemeshow_test(label, score),
            rs.calibration.miscalibration_test(label, score, draws=draws, random_state=rng),
        )
        for name, test in zip(found, results, strict=True):
            found[name] += test.p_value <= 0.05
    return {name: count / runs for name, count in found.items()}


@pytest.mark.slow
def test_tests_reject_what_is_calibrated_about_as_often_as_they_say():
    for name, share in rejections(250).items():
        assert 0.02 <= share <= 0.09, name


@pytest.mark.slow
def test_tests_reject_what_is_calibrated_in_4_to_6_of_100_runs():
    shares = rejections(10_000, draws=199)
    for name, share in shares.items():
        print(f"\n{name}: rejects {share:.2%} of 10,000 calibrated samples at 5%")
    assert all(0.04 <= share <= 0.06 for share in shares.values())


def test_tests_find_what_is_not_calibrated():
    label, score = simulated(1000, power=2)
    for test in (
        rs.calibration.spiegelhalter_test,
        rs.calibration.hosmer_lemeshow_test,
        rs.calibration.miscalibration_test,
    ):
        assert test(label, score).p_value < 0.01


class TestBadInput:
    @pytest.mark.parametrize("name", sorted(NUMBERS))
    def test_scores_that_are_no_probabilities_are_refused_with_a_hint(self, name):
        with pytest.raises(ScoreError, match=r"1 value outside this range, such as -0\.5; .*recalibrate"):
            NUMBERS[name]([0, 1], [-0.5, 0.5])

    @pytest.mark.parametrize("name", sorted(NUMBERS))
    def test_one_class_and_one_score_give_numbers(self, name):
        assert math.isfinite(NUMBERS[name]([1, 1], [0.4, 0.6]))
        assert math.isfinite(NUMBERS[name]([0, 1], [0.4, 0.4]))

    def test_a_slope_needs_both_classes(self):
        with pytest.raises(OneClassError, match="no negatives among 2 rows"):
            rs.calibration.cox_calibration([1, 1], [0.4, 0.6])

    @pytest.mark.parametrize("options", [{"norm": "l3"}, {"norm": "max", "debiased": True}, {"bins": 0}])
    def test_errors_of_no_meaning(self, options):
        with pytest.raises(InputError):
            rs.calibration.calibration_error([0, 1], [0.1, 0.9], **options)

    @pytest.mark.parametrize("options", [{"rule": "mse"}, {"method": "pav"}])
    def test_decompositions_of_no_meaning(self, options):
        with pytest.raises(InputError):
            rs.calibration.decompose([0, 1], [0.1, 0.9], **options)


@given(samples, st.integers(1, 9), st.integers(0, 3))
def test_gathering_keeps_rows_events_probabilities_and_both_ends(rows, groups, ends):
    label, score, weight = columns(rows)
    whole = outcomes(label, score, sample_weight=weight)
    pooled = whole.pooled(groups, ends=ends)
    assert pooled.score.size <= max(groups, 1) + 2 * ends + 2
    for column in ("pos", "total", "expected"):
        assert getattr(pooled, column).sum() == pytest.approx(getattr(whole, column).sum())
    assert (np.diff(pooled.score) > 0).all()
    np.testing.assert_allclose(pooled.score[:ends], whole.score[:ends])
    np.testing.assert_allclose(pooled.score[pooled.score.size - ends :], whole.score[whole.score.size - ends :])
