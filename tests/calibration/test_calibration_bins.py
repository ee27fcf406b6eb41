"""Calibration by bins: each row in its bin, by looking at every row; and scikit-learn's figures."""

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.calibration import calibration_curve

import oracle
import rocscope as rs
from rocscope.errors import InputError, ScoreError
from strategies import both_paths, probabilities, samples, taking, whole_weights

forecasts = samples(score=probabilities, dtype=np.float64, weight=whole_weights)


def assert_binned(curve, sample):
    found = oracle.bins(oracle.rows(sample.y, sample.score, sample.weight), curve.edges.tolist())
    assert curve.pos.tolist() == [pos for pos, _, _ in found]
    assert curve.neg.tolist() == [neg for _, neg, _ in found]
    for x, y, (pos, neg, scores) in zip(curve.x, curve.y, found, strict=True):
        if pos + neg:
            assert x == pytest.approx(float(scores / (pos + neg)), abs=1e-15)
            assert y == float(pos / (pos + neg))
        else:
            assert np.isnan([x, y]).all()


@pytest.mark.every(2)
@both_paths
@given(sample=forecasts, bins=st.sampled_from([1, 2, 3, 10]))
def test_bins_of_equal_width(path, sample, bins):
    with taking(path):
        curve = rs.calibration_curve(sample.y, sample.score, bins=bins, sample_weight=sample.weight)
    np.testing.assert_allclose(curve.edges, np.arange(bins + 1) / bins, atol=1e-15)
    assert_binned(curve, sample)


@given(sample=forecasts, edges=st.sets(st.sampled_from([0.1, 0.3, 0.5, 0.55, 0.9]), max_size=4))
def test_given_edges(sample, edges):
    curve = rs.calibration_curve(sample.y, sample.score, edges=[0, *sorted(edges), 1], sample_weight=sample.weight)
    assert_binned(curve, sample)


@given(sample=forecasts, bins=st.integers(1, 6))
def test_quantile_bins_never_split_a_tie(sample, bins):
    curve = rs.calibration_curve(sample.y, sample.score, bins=bins, strategy="quantile", sample_weight=sample.weight)
    assert_binned(curve, sample)
    size = curve.pos + curve.neg
    assert (size > 0).all()
    assert len(size) <= bins
    heaviest = max(sample.weight[sample.score == score].sum() for score in set(sample.score))
    assert size.max() <= sample.weight.sum() / bins + heaviest


@given(sample=forecasts)
def test_one_bin_for_each_distinct_score(sample):
    curve = rs.calibration_curve(sample.y, sample.score, strategy="distinct", sample_weight=sample.weight)
    counts = curve.counts
    np.testing.assert_allclose(curve.x, counts.threshold[::-1], rtol=1e-15)
    assert (curve.pos.tolist(), curve.neg.tolist()) == (counts.pos[::-1].tolist(), counts.neg[::-1].tolist())


@given(sample=samples(score=st.sampled_from([0.02, 0.13, 0.28, 0.44, 0.61, 0.97]), dtype=np.float64))
def test_scikit_learn_agrees_where_no_score_is_an_edge(sample):
    share, mean = calibration_curve(sample.y, sample.score, n_bins=5)
    curve = rs.calibration_curve(sample.y, sample.score, bins=5)
    filled = curve.pos + curve.neg > 0
    np.testing.assert_allclose(curve.y[filled], share, rtol=1e-15)
    np.testing.assert_allclose(curve.x[filled], mean, rtol=1e-14)


def test_between_bins_that_hold_any_lies_a_straight_line():
    curve = rs.calibration_curve([0, 0, 1, 1], [0.1, 0.1, 0.9, 0.9], bins=10)
    assert curve.at(0.5) == pytest.approx(0.5)
    assert curve.at([0.1, 0.9]).tolist() == [0.0, 1.0]
    assert np.isnan(curve.at([0.0, 1.0])).all()


def test_many_empty_bins_are_shown():
    curve = rs.calibration_curve([0, 1], [0.2, 0.3], bins=100_000)
    assert "nan" not in curve._repr_html_()
    assert json.dumps(curve.to_dict(), allow_nan=False)
    assert list(curve.to_frame("polars").columns) == list(curve.columns())
    assert all(low < high for low, high in pairwise(curve.edges))


@pytest.mark.parametrize(
    ("score", "options", "kind", "message"),
    [
        (
            [0.5, 1.5, -0.5],
            {},
            ScoreError,
            "got 2 values outside this range, such as ",
        ),
        ([0.1, 0.2, 0.3], {"bins": 0}, InputError, "bins: expected a whole number of at least 1, got 0"),
        ([0.1, 0.2, 0.3], {"bins": 2.5}, InputError, "got 2.5"),
        (
            [0.1, 0.2, 0.3],
            {"strategy": "equal"},
            InputError,
            "'quantile' or 'distinct', got 'equal'",
        ),
        ([0.1, 0.2, 0.3], {"edges": [0.5]}, InputError, "at least two increasing numbers"),
        ([0.1, 0.2, 0.3], {"edges": [0, 0.5, 0.5, 1]}, InputError, "at least two increasing numbers"),
        ([0.1, 0.2, 0.3], {"edges": [0, np.nan, 1]}, InputError, "edges: expected finite numbers"),
        ([0.1, 0.2, 0.3], {"edges": [0.15, 1]}, InputError, "all scores (0.1 to 0.3), got the range 0.15 to 1"),
    ],
)
def test_refusals(score, options, kind, message):
    with pytest.raises(kind) as caught:
        rs.calibration_curve([0, 1, 1], score, **options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
