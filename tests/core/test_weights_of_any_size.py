"""Weights of any size: hull, choice, area and cells are those of exact fractions, however far the weights span."""

import numpy as np
import pytest

import rocscope as rs
from rocscope.errors import WeightError
from rocscope.figures.logistic import SEPARATED
from rocscope.geometry.hull import best_point, pool
from strategies import both_paths, taking
from weight_cases import KINDS, draw, faults, faults_of_all

_ALL = 20
"""Of so many cases one is looked at more closely."""


def wrong(cases, seed):
    """Return the faulty ones of so many cases, evenly of all kinds."""
    generator = np.random.default_rng(seed)
    found = []
    for number in range(cases):
        kind = list(KINDS)[number % len(KINDS)]
        case = draw(generator, kind)
        if names := faults(case) + (faults_of_all(case) if number // len(KINDS) % _ALL == 0 else []):
            found.append((kind, names, case))
    return found


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(3))
def test_exact_fractions_say_the_same(seed):
    assert wrong(200, seed) == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(100))
def test_exact_fractions_say_the_same_of_a_million_cases(part):
    assert wrong(10_000, 1000 + part) == []


@pytest.mark.every(5)
@pytest.mark.parametrize("kind", KINDS)
def test_compiled_loops_say_the_same(kind):
    generator = np.random.default_rng(7)
    with taking("compiled"):
        for _ in range(20):
            case = draw(generator, kind)
            assert faults(case) == []
            assert faults_of_all(case) == []


@both_paths
def test_a_perfect_model_of_weights_that_span_more_than_2_to_the_53(path):
    with taking(path):
        counts = rs.ThresholdCounts.from_scores([1, 1, 0, 0], [4, 3, 2, 1], sample_weight=[1e17, 1, 1, 1e17])
        assert rs.choose(counts).threshold == 3
        assert rs.hull(counts).area() == rs.auc(counts) == 1
        assert counts.fn.tolist() == [1, 0, 0, 0]
        assert counts.at(4).fn == 1


@both_paths
@pytest.mark.parametrize("seed", range(10))
def test_hull_of_weights_that_decay(path, seed):
    """The reference is the hull of the same weights as whole numbers, 0.9^k · 10^60, in Python's integers."""
    generator = np.random.default_rng(seed)
    weight = 0.9 ** np.arange(600.0)
    y = generator.integers(0, 2, weight.size)
    score = generator.normal(size=weight.size).round(2) + y
    points = [(np.inf, 0, 0)]
    for level in np.unique(score)[::-1]:
        _, tp, fp = points[-1]
        for label, mass in zip(y[score == level].tolist(), weight[score == level].tolist(), strict=True):
            over, under = mass.as_integer_ratio()
            tp, fp = tp + label * over * (2**1074 // under), fp + (1 - label) * over * (2**1074 // under)
        points.append((level, tp, fp))
    stack = points[:1]
    for point in points[1:]:
        while len(stack) > 1 and turn(stack[-2], stack[-1], point) >= 0:
            stack.pop()
        stack.append(point)
    with taking(path):
        hull = pool(rs.ThresholdCounts.from_scores(y, score, sample_weight=weight))
    assert hull.threshold.tolist() == [level for level, _, _ in stack[1:]]


def turn(a, b, c):
    return (c[1] - b[1]) * (b[2] - a[2]) - (b[1] - a[1]) * (c[2] - b[2])


@pytest.mark.parametrize("total", [1e-320, 1e-200, 1e160, 1e307])
def test_totals_at_the_ends_of_float64_change_nothing_but_the_unit(total):
    generator = np.random.default_rng(3)
    y, score = generator.integers(0, 2, 40), generator.integers(0, 12, 40)
    mass = 2.0 ** (np.frexp(total)[1] - 6) * generator.integers(1, 4, 40)
    plain, scaled = (rs.ThresholdCounts.from_scores(y, score, sample_weight=w) for w in (mass / mass.min(), mass))
    assert rs.auc(plain) == rs.auc(scaled)
    assert rs.hull(plain).area() == rs.hull(scaled).area()
    assert pool(plain).threshold.tolist() == pool(scaled).threshold.tolist()
    context = rs.Context(cost_fn=3)
    assert best_point(plain, context).threshold == best_point(scaled, context).threshold
    rates = ("tpr", "precision", "mcc", "kappa", "odds_ratio", "f_score", "lift", "markedness")
    ours, theirs = (best_point(counts, context).to_dict() for counts in (plain, scaled))
    assert {name: ours.get(name) for name in rates} == pytest.approx({name: theirs.get(name) for name in rates})


def test_many_small_weights_are_not_lost_beside_a_large_one():
    """Ten million times 0.1 is a million; added one by one in float64 it is 999,999.9998."""
    n = 10_000_000
    counts = rs.ThresholdCounts.from_scores(np.arange(n) % 2, np.arange(n) // 1000, sample_weight=np.full(n, 0.1))
    assert counts.n_pos == pytest.approx(500_000, rel=1e-15)
    assert counts.tp[-1] == counts.n_pos


def test_unions_keep_every_row_s_weight():
    """Of few distinct scores only a few numbers each are kept, however many parts are added."""
    generator = np.random.default_rng(5)
    y, score = generator.integers(0, 2, (2, 4000))
    weight = 10.0 ** generator.uniform(-30, 30, 4000)
    parts = [
        rs.ThresholdCounts.from_scores(y[rows], score[rows], sample_weight=weight[rows])
        for rows in np.array_split(np.arange(4000), 40)
    ]
    whole = rs.ThresholdCounts.from_scores(y, score, sample_weight=weight)
    union = sum(parts[1:], parts[0])
    assert union.pos == pytest.approx(whole.pos, rel=1e-15)
    assert union.exact_sums_at(np.arange(3)) == whole.exact_sums_at(np.arange(3))
    assert union.ranking.rows()[0].size < 60


too_heavy = {
    "rows": lambda: rs.auc([1, 0], [1, 2], sample_weight=[1e308, 1e308]),
    "levels": lambda: rs.ThresholdCounts([1], [1e308], [1e308]),
}


@pytest.mark.parametrize("weights", too_heavy)
def test_weights_whose_sum_is_no_float_are_refused(weights):
    with pytest.raises(
        WeightError, match=r"a finite sum, got numbers with a sum above 1\.8e308; scale the weights down"
    ):
        too_heavy[weights]()


def test_negatives_are_summed_not_subtracted():
    curve = rs.calibration_curve([1, 0, 1, 0], [0.85, 0.86, 0.2, 0.3], sample_weight=[1e15, 0.1, 1.0, 1.0], bins=10)
    assert curve.neg.tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 0.1, 0]
    # Beside 1e17 a weight of 1 is lost in the total, though it makes the class.
    counts = rs.ThresholdCounts([0.8, 0.4, 0.2], [1e17, 1.0, 0.0], [1.0, 0.0, 1e17])
    assert rs.calibration.cox_calibration(counts).reason != SEPARATED


@pytest.mark.parametrize("unit", [5e-324, 2.0**-1000, 2.0**-600, 2.0**1015])
def test_areas_of_weights_whose_products_are_no_floats(unit):
    y, score, weight = [1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], np.full(4, unit)
    of_rows = {"sample_weight": weight}
    assert rs.precision_recall(y, score, **of_rows).area() == pytest.approx(5 / 6)  # (1 + 2/3)/2
    chart = rs.lift_chart(y, score, **of_rows)
    # (P²/2 + P·N·AUC)/(P + N) = (2 + 3)/4 positives, and (2·3 concordant + 2 ordered pairs of positives)/8
    assert (chart.area() / unit, chart.area("step") / unit) == (pytest.approx(1.25, abs=0.5 if unit < 1e-310 else 0), 1)
    assert np.isfinite(rs.lift(y, score, **of_rows).y[1:]).all()
