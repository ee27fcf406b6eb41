"""Intervals of allocations: coverage of true costs, held-out counts by a slow loop, and what has none."""

from dataclasses import replace

import numpy as np
import pytest
from allocation_cases import ACTIONS, DESIGNS, covered, sample

import rocscope as rs
from rocscope.decisions.allocation import held_out_outcomes


@pytest.mark.slow
@pytest.mark.parametrize("name", ["capacity of a sixth", "two actions"])
def test_intervals_cover_the_true_cost(name):
    assert covered(name, 15, 200) >= 0.7


@pytest.mark.slow
@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("n", [200, 600])
def test_intervals_cover_the_true_cost_in_many_samples(name, n):
    assert covered(name, 300, n) >= 0.93 - 2 * np.sqrt(0.05 * 0.95 / 300)


def test_held_out_counts_equal_a_slow_loop():
    rows, context = sample(np.random.default_rng(1), 120), rs.Campaign(1000, 1, 6)
    plan = rs.allocate(rows, context, capacity=300)
    found = held_out_outcomes([plan], plan.source, plan.limit, 3)
    rng, expected = np.random.default_rng([3, 1]), np.zeros((2, 3))
    for _ in range(5):
        fold = rng.permutation(120) % 10
        for k in range(10):
            part = rs.allocate(rows.select(fold != k), context, capacity=300)
            for row in np.flatnonzero(fold == k):
                name = rows.segment[row]
                share = sum(float(each.share) * (rows.scores["a"][row] >= each.threshold) for each in part.rules(name))
                expected[int(not rows.y_true[row]), plan.names.tolist().index(name)] += share / 5
    *_, positives, negatives = found.size.reshape(4, 3)  # those left come first
    assert [positives, negatives] == [pytest.approx(of_class) for of_class in expected]
    assert found.limit_cost == plan.marginal * 300


def test_counts_say_as_much_as_rows_and_other_data_have_fixed_thresholds(tmp_path):
    rows = sample(np.random.default_rng(2), 300)
    counted = {name: each.counts("a") for name, each in rows.by_segment().items()}
    for options in ({"context": rs.Context(cost_fn=4)}, {"actions": ACTIONS, "budget": 300}):
        plans = [rs.allocate(data, **options) for data in (rows, counted, rows.counts("a", by="segment"))]
        intervals = [each.interval() for each in plans]
        assert all(each.reliable for each in intervals)
        errors = [each.standard_error for each in intervals]
        assert errors == pytest.approx([errors[0]] * 3, rel=0.25), "folds are of other rows"
        assert errors[1] == errors[2]
        read = rs.load_plan(plans[0].save(tmp_path / "plan.json")).interval()
        assert not read.reliable and read.value == pytest.approx(plans[0].cost)
    weighted = rs.Predictions(rows.y_true, rows.scores, sample_weight=np.full(300, 0.5), segment=rows.segment)
    assert "ignores how the thresholds were chosen" in rs.allocate(weighted).interval().reason
    few = rs.allocate({"n": rs.ThresholdCounts([2, 1], [5, 3], [1, 30])}).interval()
    assert few.reason == "a class has 8 rows only, fewer than 10"
    plan = rs.allocate(rows, rs.Context(cost_fn=4))
    assert replace(plan, source=None).interval().apparent == plan.interval().apparent == plan.cost
