"""Hulls and best points against gift wrapping and a look at every threshold."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import isotonic_regression

import oracle
import rocscope as rs
from extremes import TABLES
from rocscope import Context, ThresholdCounts
from rocscope.errors import OneClassError
from rocscope.geometry.hull import Line, all_choices, best_point, pool
from rocscope.geometry.thinning import thin
from strategies import both_paths, costs, float_weights, prevalences, samples, taking, whole_weights


def corners(hull):
    columns = (hull.threshold, hull.tp, hull.fp)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def wrapped(cases):
    return [(point.threshold, point.tp, point.fp) for point in oracle.hull(oracle.points(cases))[1:]]


@both_paths
@pytest.mark.parametrize("name", TABLES)
def test_hulls_of_tables(path, name):
    table = TABLES[name]
    with taking(path):
        hull = pool(ThresholdCounts.from_scores(table.y, table.score, sample_weight=table.weight))
        assert [(tp, fp) for _, tp, fp in corners(hull)] == table.hull


@pytest.mark.every(4)
@both_paths
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
@given(data=st.data())
def test_hull_is_what_gift_wrapping_finds(path, dtype, data):
    weight = data.draw(st.none() | st.just(whole_weights))
    sample = data.draw(samples(dtype=dtype, weight=weight, score=st.integers(-9, 9), one_class=True))
    with taking(path):
        hull = pool(sample.counts())
        assert corners(hull) == wrapped(oracle.rows(sample.y, sample.score, sample.weight))
        assert (hull.pos.dtype, hull.threshold.dtype) == (np.int64, dtype)


level = st.tuples(st.integers(0, 40), st.integers(0, 40)).filter(any)


@both_paths
@given(levels=st.lists(level, min_size=1, max_size=15), scale=st.sampled_from([1, 2**26, 2**35]))
def test_hull_of_counts_of_any_size(path, levels, scale):
    """Beyond 2^31 × 2^31 the products need more than 64 bits; so large counts must take the exact path."""
    pos, neg = (np.array(column) * scale + (np.arange(len(levels)) % 2) for column in zip(*levels, strict=True))
    counts = ThresholdCounts(np.arange(len(levels))[::-1], pos, neg)
    cumulative = zip(counts.threshold.tolist(), counts.tp.tolist(), counts.fp.tolist(), strict=True)
    points = [oracle.Point(np.inf, 0, 0, 0, 0), *(oracle.Point(t, tp, fp, 0, 0) for t, tp, fp in cumulative)]
    expected = [(point.threshold, point.tp, point.fp) for point in oracle.hull(points)[1:]]
    with taking(path):
        assert corners(pool(counts)) == expected


many_levels = {
    "random": lambda generator: generator.integers(0, 3, (2, 400)),
    "convex": lambda generator: np.array([np.arange(200, 0, -1), np.arange(1, 201)]),
    "hollow": lambda generator: np.array([np.arange(1, 201), np.arange(200, 0, -1)]),
    "straight": lambda generator: np.ones((2, 300), int),
    "saw": lambda generator: np.array([[5, 0] * 150, [0, 4] * 150]),
    "two bows": lambda generator: np.array([[*range(99, 0, -1)] * 2, [*range(1, 100)] * 2]),
}


@both_paths
@pytest.mark.parametrize("shape", many_levels)
@pytest.mark.parametrize("seed", range(3))
def test_hull_of_many_levels(path, shape, seed):
    pos, neg = many_levels[shape](np.random.default_rng(seed))
    counts = ThresholdCounts(np.arange(pos.size)[::-1], pos, neg)
    cumulative = zip(counts.threshold.tolist(), counts.tp.tolist(), counts.fp.tolist(), strict=True)
    points = [oracle.Point(np.inf, 0, 0, 0, 0), *(oracle.Point(t, tp, fp, 0, 0) for t, tp, fp in cumulative)]
    with taking(path):
        assert corners(pool(counts)) == [(point.threshold, point.tp, point.fp) for point in oracle.hull(points)[1:]]
        assert corners(pool(ThresholdCounts(counts.threshold, counts.pos / 4, counts.neg / 4))) == [
            (threshold, tp / 4, fp / 4) for threshold, tp, fp in corners(pool(counts))
        ]


@both_paths
@given(sample=samples(weight=float_weights))
def test_hull_of_float_weights_lies_above_every_point(path, sample):
    with taking(path):
        curve = rs.roc(sample.y, sample.score, sample_weight=sample.weight)
        hull = curve.hull()
    assert (hull.at(curve.x) >= curve.y - 1e-12).all()
    expected = oracle.roc_area(oracle.hull(oracle.points(oracle.rows(sample.y, sample.score, sample.weight))))
    assert hull.auc == pytest.approx(float(expected), rel=1e-12)


@both_paths
@given(sample=samples(score=st.integers(-9, 9)))
def test_hull_and_isotonic_regression_are_the_same_object(path, sample):
    """The share of positives on each segment is what pooling of adjacent violators gives its rows."""
    with taking(path):
        hull = pool(sample.counts())
    order = np.argsort(sample.score, kind="stable")
    levels = np.unique(sample.score[order], return_inverse=True)[1]
    size = np.bincount(levels)
    share = np.bincount(levels, sample.y[order]) / size
    fitted = isotonic_regression(share, weights=size).x
    segment = np.searchsorted(hull.threshold[::-1], np.unique(sample.score), side="right") - 1
    np.testing.assert_allclose(fitted, (hull.pos / (hull.pos + hull.neg))[::-1][segment], atol=1e-12)


@given(sample=samples())
def test_hull_of_a_hull_is_itself(sample):
    hull = pool(sample.counts())
    assert pool(hull) == hull
    assert (hull.n_pos, hull.n_neg) == (sample.counts().n_pos, sample.counts().n_neg)


contexts = st.builds(Context, prevalences, costs, costs, costs.map(lambda c: -c), costs.map(lambda c: -c))


def cost_of(context, point, cases):
    prevalence = oracle.total(oracle.positives(cases)) / oracle.total(cases)
    return oracle.expected_cost(context, point.tpr, point.fpr, prevalence)


@both_paths
@given(sample=samples(score=st.integers(-9, 9), weight=whole_weights), context=contexts)
def test_no_threshold_is_better_than_the_best_point(path, sample, context):
    cases = oracle.rows(sample.y, sample.score, sample.weight)
    cheapest = oracle.best(oracle.points(cases), lambda point: -cost_of(context, point, cases))
    with taking(path):
        found = best_point(sample.counts(), context)
    assert (found.tp, found.fp) == (cheapest[0].tp, cheapest[0].fp)  # of equals the fewest positive predictions
    assert found.threshold == (cheapest[0].threshold if found.fn or found.tn else -np.inf)


@both_paths
@given(sample=samples(weight=whole_weights))
def test_lift_chart_and_roc_curve_have_the_same_best_point(path, sample):
    with taking(path):
        counts = sample.counts()
        assert rs.lift_chart(counts).best() == rs.roc(counts).best()
        assert corners(rs.lift_chart(counts).hull().counts) == corners(rs.roc(counts).hull().counts)


def test_best_point_where_an_error_is_rewarded():
    counts = ThresholdCounts.from_scores([1, 1, 0, 0, 0, 1], [6, 5, 4, 3, 2, 1])
    assert best_point(counts, Context(cost_fp=-1)).tpr == 1
    assert best_point(counts, Context(cost_fn=-1)).tpr == 0
    assert best_point(counts, Context(cost_fp=0, cost_fn=0)).threshold == np.inf
    assert best_point(counts, Context(cost_fp=-1, cost_fn=0)).threshold == 2
    with pytest.raises(OneClassError, match="best point: expected both classes, got no negatives"):
        best_point(ThresholdCounts([1], [1], [0]))


def test_costs_are_compared_as_decimals():
    """A segment of slope 1/3 at costs of 0.1 and 0.3 is a tie, which goes to nobody; floats would say otherwise."""
    counts = ThresholdCounts([2, 1], [1, 0], [3, 1])
    assert 0.1 * 3 > 0.3
    assert best_point(counts, Context(cost_fp=0.1, cost_fn=0.3)).threshold == np.inf
    assert best_point(counts, Context(cost_fp=0.1, cost_fn=0.31)).threshold == 2


def test_choices_count_from_nobody_to_everybody():
    choices = all_choices("a", ThresholdCounts.from_scores([1, 0], [2, 1]))
    assert [choices.point(index).threshold for index in range(3)] == [np.inf, 2, -np.inf]


def test_a_line_has_its_slope_everywhere():
    assert Line(1, 1, slope=2).at(3) - Line(1, 1, slope=2).at(2) == 2


@both_paths
@given(data=st.data(), most=st.integers(2, 40))
def test_thinned_curves_keep_the_hull_and_know_how_far_the_rest_is(path, data, most):
    weight = data.draw(st.sampled_from([None, whole_weights, float_weights]))
    sample = data.draw(samples(score=st.integers(-50, 50), most=60, weight=weight))
    with taking(path):
        counts = sample.counts()
        kept, curve = thin(counts, most), rs.roc(counts)
        hull = {(tp, fp) for _, tp, fp in corners(pool(counts))}
    assert (np.diff(kept.index) > 0).all()
    assert kept.index[0] == 0
    assert kept.index[-1] == len(counts)
    for column in ("tp", "fp", "threshold"):
        whole = np.concatenate([[np.inf if column == "threshold" else 0], getattr(counts, column)])
        assert getattr(kept, column).tolist() == whole[kept.index].tolist()
    assert hull <= set(zip(kept.tp.tolist(), kept.fp.tolist(), strict=True))
    s = curve.y + curve.x
    reached = {int((s >= place).argmax()) for place in np.linspace(0, 2, most)}
    assert set(kept.index.tolist()) >= (set(range(s.size)) if len(counts) < most else reached)
    assert Fraction(len(kept.index)) <= len(counts) + 1


@both_paths
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("weighted", [False, True])
def test_the_deviation_is_that_of_the_point_farthest_from_its_line(path, seed, weighted):
    rng = np.random.default_rng(seed)
    y, score = np.arange(60) % 2, rng.integers(-50, 50, 60)
    with taking(path):
        counts = ThresholdCounts.from_scores(y, score, sample_weight=rng.random(60) if weighted else None)
        kept, curve = thin(counts, int(rng.integers(2, 12))), rs.roc(counts)
        deviation = kept.deviation
    # It is measured along the direction in which tpr and fpr change alike.
    s, d = curve.y + curve.x, curve.y - curve.x
    off = abs(np.interp(s, s[kept.index], d[kept.index]) - d).max() / 2
    assert deviation == pytest.approx(off, abs=1e-15) != 0
