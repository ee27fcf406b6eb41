"""Which set of actions to run on a list: fixed costs and capacities of each, against HiGHS and every set by itself.

The oracle's mixed-integer program has a variable for each score of the data and each action: the share of its cases
that get this action itself. The library's variables are shares of an action or a later one, over hulls.
"""

import itertools

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

import rocscope as rs
from rocscope import Campaign, ThresholdCounts


def generated(seed):
    rng = np.random.default_rng(seed)
    segments = {}
    for name in "ab"[: rng.integers(1, 3)]:
        levels = int(rng.integers(2, 7))
        segments[name] = ThresholdCounts(np.arange(levels, 0, -1), *(1 + rng.integers(0, 9, (2, levels))))
    actions = {}
    population = float(rng.integers(50, 300))
    for index in range(rng.integers(2, 5)):
        capacity = float(rng.integers(5, 80)) if rng.random() < 0.5 else None
        fixed = float(rng.integers(0, 120)) if rng.random() < 0.8 else 0.0
        own = Campaign(population, float(rng.integers(1, 6)), float(rng.integers(4, 16)), fixed, None, capacity)
        actions[f"a{index}"] = own
    kind = str(rng.choice(["none", "capacity", "budget"]))
    limit = {} if kind == "none" else {kind: float(rng.integers(20, 500))}
    return segments, actions, limit


def programs(segments, actions, limit):
    """Return the cost of the oracle's variables, and its rows with their bounds."""
    rows = sum(counts.n for counts in segments.values())
    steps = [
        step for counts in segments.values() for step in zip(counts.pos.tolist(), counts.neg.tolist(), strict=True)
    ]
    size, runs = len(steps) * len(actions), len(actions)
    cost, constraints, most = np.zeros(size + runs), [], []
    use = np.zeros(size + runs)
    for index, action in enumerate(actions.values()):
        own = slice(index * len(steps), (index + 1) * len(steps))
        scale = action.population / rows
        cases = np.array([scale * (pos + neg) for pos, neg in steps])
        positives = np.array([scale * pos for pos, _ in steps])
        cost[own] = action.unit_cost * cases - action.unit_benefit * positives
        cost[size + index] = action.fixed_cost
        in_money = "budget" in limit
        use[own] = action.unit_cost * cases if in_money else cases
        use[size + index] = action.fixed_cost if in_money else 0
        row = np.zeros(size + runs)
        row[own] = cases
        row[size + index] = -(cases.sum() if action.capacity is None else action.capacity)
        constraints.append(row)
        most.append(0)
    for step in range(len(steps)):
        row = np.zeros(size + runs)
        row[step : size : len(steps)] = 1
        constraints.append(row)
        most.append(1)
    # Of no action and those with a lower benefit, a higher score has no larger share than a lower one.
    ends = set(itertools.accumulate((len(counts) for counts in segments.values()), initial=0))
    for action in actions.values():
        for step in set(range(len(steps))) - ends:
            row = np.zeros(size + runs)
            for index, other in enumerate(actions.values()):
                if other.unit_benefit >= action.unit_benefit:
                    row[index * len(steps) + step] = 1
                    row[index * len(steps) + step - 1] = -1
            constraints.append(row)
            most.append(0)
    for amount in limit.values():
        constraints.append(use)
        most.append(amount)
    return cost, LinearConstraint(np.array(constraints), -np.inf, most), size


def profit_by_highs(segments, actions, limit, runs=None):
    cost, constraints, size = programs(segments, actions, limit)
    ends = Bounds(np.zeros(cost.size), np.ones(cost.size))
    if runs is not None:
        ends.lb[size:] = ends.ub[size:] = runs
    options = {"constraints": constraints, "bounds": ends, "options": {"mip_rel_gap": 0}}
    program = milp(cost, integrality=np.arange(cost.size) >= size, **options)
    if runs is None:
        # The program's tolerance allows a little of a campaign that is not run: solve for its set once more.
        return profit_by_highs(segments, actions, limit, np.round(program.x[size:]))
    return -program.fun if program.success else -np.inf


@pytest.mark.parametrize("seeds", [range(12), pytest.param(range(1000), marks=pytest.mark.slow)], ids=["few", "1000"])
def test_the_set_of_actions_is_that_of_a_mixed_integer_program(seeds):
    for seed in seeds:
        segments, actions, limit = generated(seed)
        plan = rs.allocate(segments, actions=actions, **limit)
        expected = profit_by_highs(segments, actions, limit)
        assert plan.profit == pytest.approx(expected, rel=1e-9, abs=1e-9), seed
        for name, action in actions.items():
            cases = float(plan.cases[name].sum())
            assert action.capacity is None or cases <= action.capacity * (1 + 1e-9), (seed, name)
            assert name not in plan.left_out or cases == 0, (seed, name)


@pytest.mark.parametrize("seed", range(4))
def test_no_other_set_of_actions_is_better(seed):
    segments, actions, limit = generated(seed)
    plan = rs.allocate(segments, actions=actions, **limit)
    sets = itertools.product([0.0, 1.0], repeat=len(actions))
    best = max(profit_by_highs(segments, actions, limit, np.array(runs)) for runs in sets)
    assert plan.profit == pytest.approx(best, rel=1e-9, abs=1e-9)


CLIENTS = ThresholdCounts([3, 2, 1], [60, 30, 10], [40, 170, 690])
LETTER = Campaign(1000, 1, 10, fixed_cost=50)
CALL = Campaign(1000, 4, 20, fixed_cost=100, capacity=100)
VISIT = Campaign(1000, 9, 30, fixed_cost=3000)
SET = {"letter": LETTER, "call": CALL, "visit": VISIT}


def test_a_set_for_one_list_brings_more_than_the_best_single_action(tmp_path):
    """By hand: 100 calls find 60 of 20 for 4 each, 200 letters 30 of 10 for 1 each; visits cost 3,000 to begin."""
    plan = rs.allocate(CLIENTS, actions=SET)
    assert plan.profit == 60 * 20 - 100 * 4 - 100 + 30 * 10 - 200 - 50
    assert plan.fixed_cost == 150
    assert plan.left_out == ("visit",)
    assert "fixed costs=150 (letter 50 + call 100), not run: 'visit'" in repr(plan)
    loaded = rs.load_plan(plan.save(tmp_path / "plan.json"))
    assert (loaded.profit, loaded.campaigns, repr(loaded)) == (plan.profit, plan.campaigns, repr(plan))
    assert loaded.verify(CLIENTS).verified
    assert loaded.assign([1] * 7 + [2] * 2 + [3]).tolist() == [""] * 7 + ["letter"] * 2 + ["call"]
    applied = loaded.apply({"score": [1] * 7 + [2] * 2 + [3]})
    assert applied.columns["action"].tolist() == ["letter", "letter", "call"]


def test_a_campaign_of_one_segment_is_run_by_itself():
    """Calls in the south, of the same rows at twice the fixed cost, are not worth it; those in the north are."""
    south = Campaign(1000, 4, 20, fixed_cost=2000)
    actions = {"letter": Campaign(2000, 1, 10), "call": {"n": Campaign(1000, 4, 20, fixed_cost=100), "s": south}}
    actions["letter"] = {"n": Campaign(1000, 1, 10), "s": Campaign(1000, 1, 10)}
    plan = rs.allocate({"n": CLIENTS, "s": CLIENTS}, actions=actions)
    assert plan.left_out == ("call in s",)
    assert plan.cases["call"].tolist() == [100, 0]
    assert plan.cases["letter"].tolist() == [200, 300]
    assert plan.profit == (60 * 20 - 400 - 100 + 100) + (90 * 10 - 300)


def test_a_limit_that_capacities_leave_unused_saves_nothing_on_new_cases():
    """With a shared capacity out of reach the interval is that without one; it was better than the sample's cost."""
    rng = np.random.default_rng(0)
    label = rng.random(400) < 0.2
    rows = rs.Predictions(label, {"s": label + rng.normal(size=400)}, segment=np.repeat(["a", "b"], 200))
    campaigns = dict.fromkeys("ab", Campaign(200, 1, 20, capacity=10))
    limited, free = rs.allocate(rows, campaigns, capacity=100), rs.allocate(rows, campaigns)
    assert limited.cost == pytest.approx(free.cost)
    assert limited.interval().value == pytest.approx(free.interval().value, rel=1e-9)
    actions = {"letter": Campaign(400, 1, 20, capacity=10), "call": Campaign(400, 2, 25, capacity=5)}
    for capacity in (12, 100):
        plan = rs.allocate(rows, actions=actions, capacity=capacity)
        more = rs.allocate(rows, actions=actions, capacity=capacity + 0.25)
        assert plan.source.marginal == pytest.approx(4 * (plan.cost - more.cost), rel=1e-6, abs=1e-9)
