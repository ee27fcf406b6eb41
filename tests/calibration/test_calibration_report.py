"""calibration_report: the same numbers as their functions give, and intervals that mean what they say."""

import json
import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings, strategies as st

import rocscope as rs
from rocscope.calibration.distances import Distances
from rocscope.calibration.intervals import grouped
from rocscope.calibration.outcomes import Shift, evidence
from rocscope.calibration.report import plotted_numbers
from rocscope.errors import ColumnError, InputError, ScoreError


def simulated(n=300, seed=0, power=1.5):
    rng = np.random.default_rng(seed)
    score = rng.beta(1, 2, n)
    return (rng.random(n) < score**power).astype(int), score


@pytest.fixture(scope="module")
def report():
    return rs.calibration.calibration_report(*simulated())


def test_numbers_are_those_of_their_functions(report):
    label, score = simulated()
    cox, index, corp = (
        f(label, score)
        for f in (rs.calibration.cox_calibration, rs.calibration.calibration_index, rs.calibration.decompose)
    )
    expected = {
        "brier": rs.calibration.brier(label, score),
        "log_loss": rs.calibration.log_loss(label, score),
        "brier_miscalibration": corp.miscalibration,
        "brier_discrimination": corp.discrimination,
        "murphy_uncertainty": corp.uncertainty,
        "observed_minus_predicted": label.mean() - score.mean(),
        "in_the_large": cox.in_the_large,
        "slope": cox.slope,
        "ici": index.ici,
        "emax": index.emax,
        "ece": rs.calibration.calibration_error(label, score),
        "ece_equal_mass": rs.calibration.calibration_error(label, score, strategy="quantile"),
        "mce": rs.calibration.calibration_error(label, score, norm="max"),
        "smooth_ece": rs.calibration.smooth_calibration_error(label, score),
        "spiegelhalter_z": rs.calibration.spiegelhalter_test(label, score).statistic,
    }
    assert {name: report[name].value for name in expected} == pytest.approx(expected)
    assert report.tests["miscalibration"] == rs.calibration.miscalibration_test(label, score)


AS_THEY_ARE = {"ece_debiased", "smooth_ece", "spiegelhalter_z"}


def test_every_number_has_an_interval_or_says_why_not(report):
    for name, estimate in report.estimates.items():
        if name in AS_THEY_ARE or name.endswith(("discrimination", "uncertainty")) or name.startswith("murphy"):
            assert math.isnan(estimate.low), name
            assert estimate.method.startswith("no interval"), name
        elif name != "log_loss_miscalibration":
            assert estimate.low < estimate.high, name
            assert estimate.low <= estimate.value <= estimate.high, name
    assert 0 not in report["ici"]


def test_closed_forms_are_those_of_other_libraries(report):
    label, score = simulated()
    cox = rs.calibration.cox_calibration(label, score)
    for name in ("slope", "in_the_large", "intercept"):
        low, high = cox.interval(name)
        assert report[name].low <= low
        assert report[name].high >= high
        assert report[name].high - report[name].low == pytest.approx(high - low, rel=0.25)
    log_odds = np.log(score / (1 - score))
    design = sm.GLM(label, sm.add_constant(log_odds), family=sm.families.Binomial())
    robust = design.fit(tol=1e-13, cov_type="HC1").bse
    plain = design.fit(tol=1e-13).bse
    assert report["slope"].standard_error == pytest.approx(max(robust[1], plain[1]), rel=1e-6)
    terms = (score - label) ** 2
    assert report["brier"].standard_error == pytest.approx(terms.std() / math.sqrt(label.size), rel=1e-12)
    ratio = report["observed_over_expected"]
    assert ratio.value == pytest.approx(label.sum() / score.sum(), rel=1e-12)
    error = math.sqrt(((label - ratio.value * score) ** 2).sum()) / score.sum()
    assert ratio.standard_error == pytest.approx(error, rel=1e-12)
    assert (ratio.high - ratio.low) / 2 == pytest.approx(1.96 * error, rel=0.03)


def test_forms_of_input_agree(report):
    label, score = simulated()
    counts = rs.ThresholdCounts.from_scores(label, score)
    preds = rs.Predictions(label, {"a": score, "b": score**2})
    for data, options in ((counts, {}), (preds, {"model": "a"})):
        assert rs.calibration.calibration_report(data, **options).to_dict() == report.to_dict()
    assert rs.calibration.calibration_report(preds, model="b", draws=0)["brier"].value != report["brier"].value


def test_many_probabilities_are_gathered_for_the_draws_only():
    label, score = simulated(8000)
    found = rs.calibration.calibration_report(label, score, draws=99)
    assert found["brier"].value == rs.calibration.brier(label, score)
    assert found["ici"].value == rs.calibration.calibration_index(label, score).ici
    assert found["ici"].low < found["ici"].value < found["ici"].high


@given(st.integers(0, 10_000), st.sampled_from([1.0, 1.15, 1.5]), st.sampled_from([60, 900]))
@settings(max_examples=settings.default.max_examples * 3 // 10)
def test_interval_and_test_never_disagree(seed, power, n):
    label, score = simulated(n, seed, power)
    report = rs.calibration.calibration_report(label, score, draws=99, random_state=seed)
    test = rs.calibration.miscalibration_test(label, score, draws=99, random_state=seed)
    assert test.p_value == report.tests["miscalibration"].p_value
    assert (report["brier_miscalibration"].low > 0) == (test.p_value <= 0.05)


def test_weights_are_those_of_a_sample_and_counts_are_rows():
    label, score = simulated(200)
    plain = rs.calibration.calibration_report(label, score)
    thrice = rs.calibration.calibration_report(label, score, sample_weight=np.full(200, 3))
    counts = rs.ThresholdCounts.from_scores(label, score, sample_weight=np.full(200, 3))
    counted = rs.calibration.calibration_report(counts)
    rows = rs.calibration.calibration_report(np.repeat(label, 3), np.repeat(score, 3))
    weights = rs.calibration.calibration_report(label, score, sample_weight=np.full(200, 0.5))
    thrice_each = np.repeat(np.arange(200), 3)
    groups = rs.calibration.calibration_report(label[thrice_each], score[thrice_each], groups=thrice_each)
    for name in ("slope", "brier", "observed_over_expected"):
        reports = {
            "plain": plain, "thrice": thrice, "counted": counted, "rows": rows, "weights": weights, "groups": groups
        }  # fmt: skip
        width = {key: report[name].high - report[name].low for key, report in reports.items()}
        assert width["counted"] == pytest.approx(width["rows"], rel=1e-9)
        assert width["thrice"] == pytest.approx(width["plain"], rel=1e-9)
        assert width["weights"] == pytest.approx(width["plain"], rel=1e-9)
        assert width["groups"] == pytest.approx(width["plain"], rel=0.02)
        assert width["rows"] < 0.65 * width["plain"]
    for name in ("ici", "brier_miscalibration", "ece"):
        assert groups[name].high == pytest.approx(plain[name].high, rel=0.35)
        assert "design effect 3" in groups[name].method


def test_target_prevalence_is_that_of_weighted_classes():
    label, score = simulated(400)
    weight = np.where(label == 1, 0.1 / label.mean(), 0.9 / (1 - label.mean()))
    target = rs.calibration.calibration_report(label, score, target_prevalence=0.1, draws=99)
    weighted = rs.calibration.calibration_report(label, score, sample_weight=weight, draws=0)
    for name, estimate in weighted.estimates.items():
        if name == "spiegelhalter_z":  # whose variance takes weights for sampling weights
            continue
        assert target[name].value == pytest.approx(estimate.value, rel=1e-9, abs=1e-12), name
    assert target["slope"].low < target["slope"].value < target["slope"].high


def test_what_is_undefined_is_said():
    one_class = rs.calibration.calibration_report([1, 1, 1], [0.2, 0.5, 0.9], draws=9)
    assert math.isnan(one_class["slope"].value)
    assert any("one class" in note for note in one_class.notes)
    equal = rs.calibration.calibration_report([1, 0, 1], [0.5, 0.5, 0.5], draws=9)
    assert any("is undefined" in note for note in equal.notes)
    wrong = rs.calibration.calibration_report([1, 0, 1, 0], [0.0, 0.5, 0.6, 0.1], draws=9)
    assert any("infinite" in note for note in wrong.notes)
    for found in (one_class, equal, wrong):
        assert json.dumps(found.to_dict(), allow_nan=False)
        assert "<table>" in found._repr_html_()
        assert "\n" not in repr(found)


def test_bad_input():
    with pytest.raises(ScoreError, match="recalibrate"):
        rs.calibration.calibration_report([0, 1], [0.5, 2.0])
    with pytest.raises(InputError, match="groups"):
        rs.calibration.calibration_report(rs.ThresholdCounts([0.5], [1], [1]), groups=[0, 1])
    with pytest.raises(InputError, match="level"):
        rs.calibration.calibration_report([0, 1], [0.5, 0.2], level=95)
    with pytest.raises(ColumnError, match="did you mean 'brier'"):
        rs.calibration.calibration_report([0, 1], [0.5, 0.2], draws=0)["briar"]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("target", [None, 0.1])
def test_the_numbers_of_a_figure_are_those_of_the_report(weighted, target):
    label, score = simulated()
    weight = np.random.default_rng(1).random(len(label)) if weighted else None
    preds = rs.Predictions(label, score, sample_weight=weight)
    report = rs.calibration.calibration_report(preds, draws=0, target_prevalence=target)
    found = plotted_numbers(preds.counts(), target)
    assert found == pytest.approx({name: report[name].value for name in found}, rel=1e-12)


def test_the_numbers_of_a_figure_where_only_one_class_is():
    found = plotted_numbers(rs.ThresholdCounts([0.5, 0.0], [0, 0], [2, 2]))
    without_slope = {"intercept": math.nan, "slope": math.nan}
    expected = {"observed_over_expected": 0.0, "ici": 0.25, "ece": 0.25, "brier": 0.125} | without_slope
    assert found == pytest.approx(expected, nan_ok=True)
    assert math.isnan(plotted_numbers(rs.ThresholdCounts([0.0], [0], [2]))["observed_over_expected"])


def test_quantiles_of_distances_are_flagged_where_most_rows_are_too_certain():
    """By the sum of p(1 − p) over the half, or nine tenths, of rows where it is smallest."""
    rng = np.random.default_rng(0)
    for mean, reliable in ((0.05, False), (0.4, True)):
        score = rng.beta(2 * mean, 2 * (1 - mean), 400).clip(1e-4, 1 - 1e-4)
        report = rs.calibration.calibration_report(rng.random(400) < score, score, draws=19)
        spread = np.sort(score * (1 - score))
        assert (spread[:200].sum() >= 5) == reliable == report["e50"].reliable
        assert (spread[:360].sum() >= 5) == report["e90"].reliable
        assert reliable or report["e50"].reason.endswith(
            "cases expected where 50% of the probabilities are, fewer than 5"
        )
        assert report["ici"].reliable


def test_where_a_tenth_of_the_rows_is_off_half_of_them_may_be_right():
    rng = np.random.default_rng(1)
    score = rng.random(2000)
    chance = np.clip(score + 0.3 * (np.abs(score - 0.5) < 0.05), 0, 1)
    found = rs.calibration.calibration_report(rng.random(2000) < chance, score, draws=99)
    assert found["e50"].value > 0.005, "LOESS spreads what is off"
    assert found["e50"].low < 1e-6
    everywhere = rs.calibration.calibration_report(rng.random(2000) < np.clip(score + 0.3, 0, 1), score, draws=99)
    assert 0.1 < everywhere["e50"].low < 0.3 < everywhere["e50"].high + 0.05


def test_intervals_of_many_parts_are_those_of_one_but_for_the_draws():
    """In segments labels are drawn for a quarter of the groups of rows, and a tenth as often."""
    rng = np.random.default_rng(2)
    score = rng.beta(2, 4, 3000)
    label, segment = rng.random(3000) < score**1.3, np.arange(3000) % 2
    rows = rs.summary(rs.Predictions(label, score, segment=segment), by="segment").rows
    parts = {row.part: row for row in rows}
    for number in range(2):
        own, mask = parts[str(number)], segment == number
        (whole,) = rs.summary(rs.Predictions(label[mask], score[mask])).rows
        for name in ("ici", "e90", "ece"):
            few, many = own[name], whole[name]
            assert few.value == pytest.approx(many.value)
            assert (few.low, few.high) == pytest.approx((many.low, many.high), abs=0.35 * (many.high - many.low))


@pytest.mark.parametrize("height", [0.0, 0.35])
def test_a_narrow_bump_is_tried_where_it_is(height):
    """LOESS spreads it over its neighbours; the curve in bins moves only the bins that hold it."""
    rng = np.random.default_rng(5)
    score = np.sort(rng.random(3000))
    chance = np.clip(score + height * (np.abs(score - 0.55) < 0.05), 0, 1)
    label = rng.random(3000) < chance
    known = grouped(evidence(label, score).outcomes)
    found = Distances(known, Shift.of(known, None), 10)
    curve = found._bumps(found._loess["ici"].at_levels(known.pos).clip(0, 1))
    if not height:
        assert curve is None
        return
    moved = known.score[np.abs(curve - known.score) > 1e-12]
    assert moved.min() == pytest.approx(0.5, abs=0.02) and moved.max() == pytest.approx(0.6, abs=0.02)
    report = rs.calibration.calibration_report(label, score, draws=199)
    assert np.abs(chance - score).mean() in report["ece"] and np.abs(chance - score).mean() in report["ici_quadratic"]


@pytest.mark.parametrize(("mean", "reliable"), [(0.01, False), (0.05, True)])
def test_rare_cases_must_be_expected_too(mean, reliable):
    """A sample with ten cases where three were expected is one of those that have the most."""
    score = np.full(300, mean) + np.linspace(-0.005, 0.005, 300)
    report = rs.calibration.calibration_report(np.arange(300) % 20 == 0, score, draws=19)
    assert report["observed_minus_predicted"].reliable == report["ici"].reliable == reliable
    assert reliable or report["ici"].reason == "only 3 observed or expected cases of a class, fewer than 10"
