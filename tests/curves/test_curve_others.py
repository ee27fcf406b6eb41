"""Lift, precision–recall and DET: figures of their own, by hand, by the oracle and by scikit-learn."""

from fractions import Fraction
from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn import metrics as sk

import oracle
import rocscope as rs
from rocscope import Context, ThresholdCounts
from rocscope.errors import InputError
from strategies import both_paths, float_weights, samples, taking, whole_weights


@both_paths
@given(sample=samples(weight=whole_weights))
def test_lift_areas(path, sample):
    cases = oracle.rows(sample.y, sample.score, sample.weight)
    with taking(path):
        chart = rs.lift_chart(sample.y, sample.score, sample_weight=sample.weight)
        for kind in ("trapezoid", "step"):
            assert chart.area(kind) == float(oracle.lift_area(cases, kind))


def test_lift_areas_of_counts_whose_squares_64_bits_do_not_hold():
    counts = ThresholdCounts([2, 1], [2**40, 2**40], [3, 5])
    n_pos, n = 2**41, 2**41 + 8
    won = Fraction(2**40 * (2**40 + 5), n)
    assert rs.lift_chart(counts).area("step") == float(won)
    concordant, tied = 2**40 * 5, 2**40 * 3 + 2**40 * 5
    assert rs.lift_chart(counts).area() == float(Fraction(n_pos**2 + 2 * concordant + tied, 2 * n))


@given(sample=samples(), x=st.fractions(0, 1, max_denominator=12))
def test_lift_at_a_depth_is_the_gain_there_over_the_depth(sample, x):
    curve = rs.lift(sample.y, sample.score)
    if not x:
        assert np.isnan(curve.at(0))
        return
    points = oracle.points(oracle.rows(sample.y, sample.score))
    gain = oracle.height([(point.depth, point.tpr) for point in points], x)
    assert curve.at(float(x)) == pytest.approx(float(gain / x), abs=1e-12)


def test_a_lift_chart_knows_only_the_mix_of_its_sample():
    chart = rs.lift_chart([1, 1, 0], [3, 2, 1])
    for call in (chart.best, chart.iso_performance_line):
        with pytest.raises(InputError, match=r"got target_prevalence=0.1; omit it, or use roc\(...\).best"):
            call(Context(target_prevalence=0.1))
    line = chart.iso_performance_line()
    assert (line.x, line.y, line.slope) == (2 / 3, 2, 1.5)
    with pytest.raises(InputError, match="expected 'trapezoid' or 'step', got 'simpson'"):
        chart.area("simpson")


@both_paths
@given(sample=samples(weight=whole_weights))
def test_average_precision(path, sample):
    expected = float(oracle.average_precision(oracle.rows(sample.y, sample.score, sample.weight)))
    with taking(path):
        curve = rs.precision_recall(sample.y, sample.score, sample_weight=sample.weight)
        assert curve.area() == curve.average_precision == pytest.approx(expected, rel=1e-13)
    theirs = sk.average_precision_score(sample.y, sample.score, sample_weight=sample.weight)
    assert curve.average_precision == pytest.approx(theirs, rel=1e-13)


@given(sample=samples())
def test_scikit_learn_agrees_on_precision_and_recall(sample):
    precision, recall, threshold = sk.precision_recall_curve(sample.y, sample.score)
    curve = rs.precision_recall(sample.y, sample.score)
    np.testing.assert_allclose(curve.y[:0:-1], precision[:-1], rtol=1e-15)
    np.testing.assert_allclose(curve.x[:0:-1], recall[:-1], rtol=1e-15)
    assert curve.threshold[:0:-1].tolist() == threshold.tolist()


@given(sample=samples(weight=float_weights), share=st.sampled_from([0.1, 0.5, 0.8]))
def test_precision_between_two_points_is_that_of_a_mixture_of_their_counts(sample, share):
    """Of two neighbouring thresholds each is used for its share of the cases (Davis & Goadrich 2006)."""
    curve = rs.precision_recall(sample.y, sample.score, sample_weight=sample.weight)
    points = oracle.points(oracle.rows(sample.y, sample.score, sample.weight))
    for before, after in pairwise(points):
        if after.tp == before.tp:
            continue
        part = Fraction(share)
        tp, fp = ((1 - part) * getattr(before, cell) + part * getattr(after, cell) for cell in ("tp", "fp"))
        recall = float((1 - part) * before.tpr + part * after.tpr)
        assert curve.at(recall) == pytest.approx(float(tp / (tp + fp)), rel=1e-9)


def test_precision_at_no_recall_or_beyond_is_undefined():
    curve = rs.precision_recall([1, 0], [2, 1])
    assert np.isnan(curve.at([-0.1, 0.0, 1.1, np.nan])).all()
    assert curve.at(1e-300) == 1.0


@both_paths
@given(sample=samples(weight=whole_weights))
def test_equal_error_rate(path, sample):
    expected = float(oracle.equal_error_rate(oracle.rows(sample.y, sample.score, sample.weight)))
    with taking(path):
        curve = rs.det(sample.y, sample.score, sample_weight=sample.weight)
        assert curve.equal_error_rate == pytest.approx(expected, abs=1e-14)


@given(sample=samples(), size=st.integers(1, 3))
def test_equal_error_rate_of_points_in_blocks(sample, size):
    """Wherever the crossing lies: a block begins with the last point of the one before it."""
    counts = sample.counts()
    ((tp, fp),) = counts.points()
    blocks = [(tp[at : at + size + 1], fp[at : at + size + 1]) for at in range(0, tp.size - 1, size)]
    expected = rs.det(counts).equal_error_rate
    with mock.patch.object(ThresholdCounts, "points", lambda _: iter(blocks)):
        assert rs.det(counts).equal_error_rate == expected


@given(sample=samples())
def test_scikit_learn_agrees_on_det(sample):
    """Scikit-learn leaves out the ends beyond which only one of both rates changes."""
    fpr, fnr, threshold = sk.det_curve(sample.y, sample.score)
    curve = rs.det(sample.y, sample.score)
    ours = dict(zip(curve.threshold.tolist(), zip(curve.x, curve.y, strict=True), strict=True))
    for rate, missed, cut in zip(fpr, fnr, threshold, strict=True):
        assert ours[cut] == pytest.approx((rate, missed), abs=1e-15)


@both_paths
@given(sample=samples(weight=whole_weights))
def test_curves_of_one_sample_are_views_of_the_same_counts(path, sample):
    with taking(path):
        counts = sample.counts()
        roc, det, gain, pr = (function(counts) for function in (rs.roc, rs.det, rs.gain, rs.precision_recall))
        np.testing.assert_array_equal(roc.x, det.x)
        np.testing.assert_allclose(roc.y, 1 - det.y, atol=1e-15)
        np.testing.assert_array_equal(gain.y, pr.x)
        prevalence = counts.prevalence
        np.testing.assert_allclose(gain.x, prevalence * roc.y + (1 - prevalence) * roc.x, atol=1e-15)
