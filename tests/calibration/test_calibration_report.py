"""calibration_report: the same numbers as their functions give, and intervals that mean what they say."""

import json
import math

import numpy as np
import pytest

import rocscope as rs
from rocscope.errors import ColumnError, InputError, ScoreError


def simulated(n=300, seed=0, power=1.5):
    rng = np.random.default_rng(seed)
    score = rng.beta(1, 2, n)
    return (rng.random(n) < score**power).astype(int), score


@pytest.fixture(scope="module")
def report():
    return rs.calibration.calibration_report(*simulated(), replicates=60)


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


def test_every_number_has_an_interval(report):
    for name, estimate in report.estimates.items():
        assert estimate.low <= estimate.high, name
        assert "60 replicates" in estimate.method
        assert estimate.low >= 0 or name in {"slope", "intercept", "in_the_large"} | {
            "observed_minus_predicted",
            "spiegelhalter_z",
        }
    assert 1 not in report["smooth_ece"]


def test_intervals_agree_with_wald_and_are_repeatable(report):
    label, score = simulated()
    again = rs.calibration.calibration_report(label, score, replicates=60)
    assert again.to_dict() == report.to_dict()
    more = rs.calibration.calibration_report(label, score, replicates=300, draws=9)
    cox = rs.calibration.cox_calibration(label, score)
    for name in ("slope", "in_the_large"):
        low, high = cox.interval(name)
        assert more[name].high - more[name].low == pytest.approx(high - low, rel=0.25)


@pytest.mark.slow
def test_intervals_cover():
    """Calibrated data: slope 1, intercept 0 and an expected Brier score that is known."""
    rng = np.random.default_rng(1)
    runs, truth = 300, {"slope": 1.0, "in_the_large": 0.0, "observed_minus_predicted": 0.0, "brier": 1 / 6}
    covered = dict.fromkeys(truth, 0)
    for seed in range(runs):
        score = rng.random(400)
        report = rs.calibration.calibration_report(
            rng.random(400) < score, score, replicates=200, draws=1, random_state=seed
        )
        for name, value in truth.items():
            covered[name] += value in report[name]
    for name, count in covered.items():
        print(f"\nbootstrap interval of {name}: holds the truth in {count / runs:.1%} of {runs} runs")
        assert 0.90 <= count / runs <= 0.99


def test_forms_of_input_agree(report):
    label, score = simulated()
    counts = rs.ThresholdCounts.from_scores(label, score)
    preds = rs.Predictions(label, {"a": score, "b": score**2})
    for data, options in ((counts, {}), (preds, {"model": "a"})):
        assert rs.calibration.calibration_report(data, replicates=60, **options).to_dict() == report.to_dict()
    assert (
        rs.calibration.calibration_report(preds, model="b", replicates=0, draws=1)["brier"].value
        != report["brier"].value
    )


def test_many_probabilities_are_gathered_in_the_replicates_only():
    label, score = simulated(8000)
    found = rs.calibration.calibration_report(label, score, replicates=10, draws=9)
    assert found["brier"].value == rs.calibration.brier(label, score)
    assert found["brier"].low < found["brier"].value < found["brier"].high


def test_no_replicates_and_weights_without_rows_leave_intervals_out():
    label, score = simulated(60)
    weight = np.linspace(0.5, 1.5, 60)
    without = rs.calibration.calibration_report(label, score, replicates=0, draws=1)
    counts = rs.ThresholdCounts.from_scores(label, score, sample_weight=weight)
    fractions = rs.calibration.calibration_report(counts, draws=1)
    for found in (without, fractions):
        assert math.isnan(found["brier"].low)
        assert any("no intervals" in note for note in found.notes)
    columns = rs.calibration.calibration_report(label, score, sample_weight=weight, replicates=20, draws=1)
    rows = rs.calibration.calibration_report(rs.Predictions(label, score, sample_weight=weight), replicates=20, draws=1)
    assert rows.to_dict() == columns.to_dict()
    assert rows["brier"].value == pytest.approx(fractions["brier"].value)
    assert rows["brier"].low < rows["brier"].high


def test_what_is_undefined_is_said():
    one_class = rs.calibration.calibration_report([1, 1, 1], [0.2, 0.5, 0.9], replicates=5, draws=9)
    assert math.isnan(one_class["slope"].value)
    assert any("one class" in note for note in one_class.notes)
    equal = rs.calibration.calibration_report([1, 0, 1], [0.5, 0.5, 0.5], replicates=5, draws=9)
    assert any("do not exist" in note for note in equal.notes)
    wrong = rs.calibration.calibration_report([1, 0, 1, 0], [0.0, 0.5, 0.6, 0.1], replicates=5, draws=9)
    assert any("infinite" in note for note in wrong.notes)
    for found in (one_class, equal, wrong):
        assert json.dumps(found.to_dict(), allow_nan=False)
        assert "<table>" in found._repr_html_()
        assert "\n" not in repr(found)


def test_bad_input():
    with pytest.raises(ScoreError, match="recalibrate"):
        rs.calibration.calibration_report([0, 1], [0.5, 2.0])
    with pytest.raises(InputError, match="replicates"):
        rs.calibration.calibration_report([0, 1], [0.5, 0.2], replicates=-1)
    with pytest.raises(InputError, match="level"):
        rs.calibration.calibration_report([0, 1], [0.5, 0.2], level=95)
    with pytest.raises(ColumnError, match="closest: 'brier'"):
        rs.calibration.calibration_report([0, 1], [0.5, 0.2], replicates=0, draws=1)["briar"]
