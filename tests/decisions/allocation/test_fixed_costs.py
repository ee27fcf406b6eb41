"""Which campaigns to run: fixed costs in the objective and in budgets, and capacities of their own.

The oracle is a mixed-integer program of HiGHS over all scores of all segments, and its optimum for the set that it
chooses; for few segments also every set by itself.
"""

import itertools

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

import rocscope as rs
from rocscope import Campaign, ThresholdCounts
from rocscope.errors import InputError

LABELS = np.arange(1000) < 50
COUNTS = ThresholdCounts.from_scores(LABELS, np.random.default_rng(0).normal(LABELS * 1.0))


def matrices(segments, campaigns, limit, in_money):
    """Return gain, use and order of the share of each score that is acted on, and the rows that bound it."""
    gain, use, owner, first = [], [], [], []
    for index, name in enumerate(segments):
        counts, campaign = segments[name], campaigns[name]
        scale = campaign.population / counts.n
        first.append(len(gain))
        for pos, neg in zip(counts.pos.tolist(), counts.neg.tolist(), strict=True):
            cases = scale * (pos + neg)
            gain.append(campaign.unit_benefit * scale * pos - campaign.unit_cost * cases)
            use.append(campaign.unit_cost * cases if in_money else cases)
            owner.append(index)
    size, runs = len(gain), len(segments)
    fixed = np.array([campaigns[name].fixed_cost for name in segments])
    rows, most = [], []
    for level in range(size):
        row = np.zeros(size + runs)
        row[level] = 1
        row[size + owner[level] if level in first else level - 1] = -1
        rows.append(row)
        most.append(0)
    rows.append(np.append(use, fixed * in_money))
    most.append(limit)
    for index, name in enumerate(segments):
        if campaigns[name].capacity is not None:
            row = np.zeros(size + runs)
            own = np.array(owner) == index
            unit_cost = campaigns[name].unit_cost if in_money else 1
            row[:size][own] = np.array(use)[own] / unit_cost
            rows.append(row)
            most.append(campaigns[name].capacity)
    return np.append(-np.array(gain), fixed), np.array(rows), np.array(most, float), size


def profit_by_highs(segments, campaigns, limit, in_money):
    cost, rows, most, size = matrices(segments, campaigns, limit, in_money)
    whole = np.arange(cost.size) >= size
    limits = LinearConstraint(rows, -np.inf, most)
    program = milp(cost, constraints=limits, integrality=whole, bounds=Bounds(0, 1), options={"mip_rel_gap": 0})
    return profit_of_runs(cost, rows, most, np.round(program.x[size:]))


def profit_of_runs(cost, rows, most, runs):
    size = cost.size - runs.size
    ends = [(0, 1)] * size + [(run, run) for run in runs]
    solution = linprog(cost, A_ub=rows, b_ub=most, bounds=ends)
    return -solution.fun if solution.success else -np.inf


def generated(seed):
    rng = np.random.default_rng(seed)
    names = "abcde"[: rng.integers(2, 6)]
    segments, campaigns = {}, {}
    for name in names:
        levels = int(rng.integers(2, 7))
        counts = 1 + rng.integers(0, 9, (2, levels))
        segments[name] = ThresholdCounts(np.arange(levels, 0, -1), *counts)
        population = float(rng.integers(20, 200))
        capacity = float(rng.integers(5, 60)) if rng.random() < 0.4 else None
        campaigns[name] = Campaign(
            population, rng.integers(1, 4), rng.integers(3, 12), rng.integers(0, 150), None, capacity
        )
    in_money = bool(rng.random() < 0.5)
    return segments, campaigns, float(rng.integers(20, 500)), in_money


@pytest.mark.parametrize("seeds", [range(20), pytest.param(range(1000), marks=pytest.mark.slow)], ids=["few", "1000"])
def test_the_campaigns_that_are_run_are_those_of_a_mixed_integer_program(seeds):
    for seed in seeds:
        segments, campaigns, limit, in_money = generated(seed)
        plan = rs.allocate(segments, campaigns, **{"budget" if in_money else "capacity": limit})
        expected = profit_by_highs(segments, campaigns, limit, in_money)
        assert plan.profit == pytest.approx(expected, rel=1e-9, abs=1e-7), seed


@pytest.mark.parametrize("seed", range(8))
def test_no_other_set_of_campaigns_is_better(seed):
    segments, campaigns, limit, in_money = generated(seed)
    plan = rs.allocate(segments, campaigns, **{"budget" if in_money else "capacity": limit})
    cost, rows, most, _ = matrices(segments, campaigns, limit, in_money)
    sets = itertools.product([0.0, 1.0], repeat=len(segments))
    assert plan.profit == pytest.approx(
        max(profit_of_runs(cost, rows, most, np.array(runs)) for runs in sets), abs=1e-7
    )


def test_a_segment_whose_fixed_cost_is_not_worth_paying_is_left_out():
    campaigns = {"n": Campaign(1000, 1, 10, fixed_cost=1000), "s": Campaign(1000, 1, 10)}
    plan = rs.allocate({"n": COUNTS, "s": COUNTS}, campaigns, capacity=200)
    alone = rs.allocate({"s": COUNTS}, Campaign(1000, 1, 10), capacity=200)
    assert (plan.profit, plan.fixed_cost, plan.left_out) == (alone.profit, 0, ("n",))
    assert "not run: 'n', because the fixed cost exceeds the gain" in repr(plan)
    payable = rs.allocate({"n": COUNTS, "s": COUNTS}, campaigns, budget=400)
    assert payable.profit == alone.profit
    cheap = rs.allocate({"n": COUNTS, "s": COUNTS}, campaigns | {"n": Campaign(1000, 1, 10, fixed_cost=20)}, budget=400)
    assert (cheap.fixed_cost, cheap.left_out) == (20, ())
    assert cheap.profit == pytest.approx(2 * alone.profit - 20)
    assert "fixed costs=20" in repr(cheap)


def test_one_fixed_cost_for_all_segments_is_paid_or_nothing_is_done():
    segments = {"n": COUNTS, "s": COUNTS}
    paid = rs.allocate(segments, Campaign(2000, 1, 10, fixed_cost=200))
    idle = rs.allocate(segments, Campaign(2000, 1, 10, fixed_cost=2000))
    assert (paid.fixed_cost, paid.left_out, idle.fixed_cost, idle.left_out) == (200, (), 0, ("n", "s"))
    assert (idle.profit, float(idle.cases.sum())) == (0, 0)


def test_bounds_of_segments_hold_among_the_campaigns_that_are_run():
    campaigns = {"n": Campaign(1000, 1, 10, fixed_cost=30), "s": Campaign(1000, 1, 10, fixed_cost=30)}
    plan = rs.allocate({"n": COUNTS, "s": COUNTS}, campaigns, capacity=200, subject_to={"n": "cases <= 60"})
    assert plan.cases[0] == pytest.approx(60)
    assert plan.fixed_cost == 60
    with pytest.raises(InputError, match="subject_to: expected a mapping from segment"):
        rs.allocate({"n": COUNTS}, {"n": Campaign(1000, 1, 10, capacity=5)}, subject_to="cases >= 1")


@pytest.mark.parametrize("limit", [{"capacity": 200}, {"budget": 400}])
def test_a_plan_with_fixed_costs_is_saved_verified_and_estimated(limit, tmp_path):
    campaigns = {"n": Campaign(1000, 1, 10, fixed_cost=90), "s": Campaign(1000, 1, 10, fixed_cost=30)}
    segments = {"n": COUNTS, "s": COUNTS}
    plan = rs.allocate(segments, campaigns, **limit)
    loaded = rs.load_plan(plan.save(tmp_path / "plan.json"))
    assert (loaded.profit, loaded.left_out, loaded.fixed_cost) == (plan.profit, plan.left_out, plan.fixed_cost)
    assert loaded.verify(segments).verified
    text = (tmp_path / "plan.json").read_text()
    assert '"runs"' in text
    estimate = plan.interval()
    assert estimate.low < estimate.value < estimate.high
    assert estimate.value > plan.cost
