"""ROC curve: parts of its area, Kolmogorov–Smirnov distance, lines of equal cost; and scikit-learn's figures."""

from fractions import Fraction
from itertools import pairwise
from math import nan

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn import metrics as sk

import oracle
import rocscope as rs
from rocscope.errors import InputError
from strategies import both_paths, float_weights, samples, taking, whole_weights

ends = st.tuples(st.integers(0, 10), st.integers(0, 10)).filter(lambda pair: pair[0] < pair[1])


@both_paths
@given(sample=samples(weight=float_weights))
def test_scikit_learn_agrees_on_points_and_area(path, sample):
    fpr, tpr, threshold = sk.roc_curve(sample.y, sample.score, sample_weight=sample.weight, drop_intermediate=False)
    with taking(path):
        curve = rs.roc(sample.y, sample.score, sample_weight=sample.weight)
        kept = np.isin(threshold, curve.threshold)  # scikit-learn keeps the scores of rows without weight
        np.testing.assert_allclose(curve.x, fpr[kept], atol=1e-14)
        np.testing.assert_allclose(curve.y, tpr[kept], atol=1e-14)
        assert curve.threshold.tolist() == threshold[kept].tolist()
        area = sk.roc_auc_score(sample.y, sample.score, sample_weight=sample.weight)
        assert curve.auc == pytest.approx(area, abs=1e-14)


@given(sample=samples(), tenths=st.integers(1, 9))
def test_scikit_learn_agrees_on_mcclish_area(sample, tenths):
    ours = rs.roc(sample.y, sample.score).partial_auc(max_fpr=tenths / 10, standardized=True)
    assert ours == pytest.approx(sk.roc_auc_score(sample.y, sample.score, max_fpr=tenths / 10), abs=1e-12)


@given(sample=samples(), ends=ends)
def test_partial_areas(sample, ends):
    low, high = (Fraction(end, 10) for end in ends)
    curve = rs.roc(sample.y, sample.score)
    points = oracle.points(oracle.rows(sample.y, sample.score))
    between = (float(low), float(high))

    under = oracle.area_between([(p.fpr, p.tpr) for p in points], low, high)
    assert curve.partial_auc(fpr_range=between) == pytest.approx(float(under), abs=1e-12)
    # To the right of the curve lies what is under the curve of the other class, seen from the other corner.
    mirrored = [(p.tpr, 1 - p.fpr) for p in points]
    right = oracle.area_between(mirrored, low, high)
    assert curve.partial_auc(tpr_range=between) == pytest.approx(float(right), abs=1e-12)


@given(sample=samples(), corner=st.tuples(st.integers(1, 10), st.integers(0, 9)))
def test_two_way_partial_areas(sample, corner):
    """The area above a line: that of the curve raised to it, with a point where it crosses, less the rectangle."""
    right, bottom = (Fraction(tenths, 10) for tenths in corner)
    points = [(point.fpr, point.tpr) for point in oracle.points(oracle.rows(sample.y, sample.score))]
    raised = []
    for (x, y), (next_x, next_y) in pairwise(points):
        raised.append((x, max(y, bottom)))
        if y < bottom < next_y:
            raised.append((x + (next_x - x) * (bottom - y) / (next_y - y), bottom))
    raised.append(points[-1])
    area = oracle.area_between(raised, Fraction(0), right) - bottom * right
    found = rs.roc(sample.y, sample.score).partial_auc(max_fpr=float(right), min_tpr=float(bottom))
    assert found == pytest.approx(float(area), abs=1e-12)


@given(sample=samples())
def test_the_whole_axis_is_the_whole_area(sample):
    curve = rs.roc(sample.y, sample.score)
    for part in ({"max_fpr": 1}, {"min_tpr": 0}, {"fpr_range": (0, 1)}, {"tpr_range": (0, 1)}):
        assert curve.partial_auc(**part) == pytest.approx(curve.auc, abs=1e-12)
        assert curve.partial_auc(**part, standardized=True) == pytest.approx(curve.auc, abs=1e-12)


@pytest.mark.parametrize(
    "part",
    [
        *({"max_fpr": 0.3}, {"min_tpr": 0.6}, {"fpr_range": (0.2, 0.5)}, {"tpr_range": (0, 0.5)}),
        *({"max_fpr": 0.3, "min_tpr": 0.6}, {"max_fpr": 0.8, "min_tpr": 0.6}),
    ],
)
def test_standardized_is_a_half_for_the_diagonal_and_1_for_a_perfect_curve(part):
    assert rs.roc([1, 0], [1, 1]).partial_auc(**part, standardized=True) == pytest.approx(0.5)
    assert rs.roc([1, 0], [2, 1]).partial_auc(**part, standardized=True) == pytest.approx(1)


@pytest.mark.parametrize(
    "part",
    [
        {},
        {"max_fpr": 0.1, "min_tpr": 1.0},
        {"max_fpr": 0.1, "fpr_range": (0, 0.5)},
        {"max_fpr": 0},
        {"max_fpr": 1.1},
        {"min_tpr": 1},
        {"fpr_range": (0.5, 0.2)},
        {"tpr_range": (-0.1, 0.5)},
        {"max_fpr": nan},
    ],
)
def test_parts_that_make_no_sense(part):
    with pytest.raises(InputError, match=r"expected .*, got "):
        rs.roc([1, 0], [2, 1]).partial_auc(**part)


@both_paths
@given(sample=samples(weight=whole_weights))
def test_ks_and_gini(path, sample):
    points = oracle.points(oracle.rows(sample.y, sample.score, sample.weight))
    with taking(path):
        curve = rs.roc(sample.y, sample.score, sample_weight=sample.weight)
        assert curve.ks == pytest.approx(float(max(point.tpr - point.fpr for point in points)), abs=1e-15)
    assert curve.gini == 2 * curve.auc - 1


@given(sample=samples())
def test_bounds_of_the_area(sample):
    """Every way to break ties lies between the two bounds, and half lies between them in the middle."""
    lower, half, upper = (rs.auc(sample.y, sample.score, ties=ties) for ties in ("lower", "half", "upper"))
    for sign in (-1, 1):
        broken = sample.score * 100 + sign * sample.y
        assert rs.auc(sample.y, broken) == (upper if sign == 1 else lower)
    assert half == pytest.approx((lower + upper) / 2)


def test_the_line_of_equal_cost_passes_through_the_best_point():
    curve = rs.roc([1, 1, 0, 0, 0, 1], [6, 5, 4, 3, 2, 1])
    context = rs.Context(cost_fp=1, cost_fn=2)
    line, best = curve.iso_performance_line(context), curve.best(context)
    assert (line.x, line.y, line.slope) == (best.fpr, best.tpr, 0.5)
    assert all(line.at(x) >= y - 1e-12 for x, y in zip(curve.x, curve.y, strict=True))


def test_an_area_below_a_half_is_reported_as_it_is():
    assert rs.auc([1, 0], [1, 2]) == 0.0
    assert rs.roc([1, 0], [1, 2]).gini == -1.0
    assert rs.roc([1, 0], [1, 2]).ks == 0.0
