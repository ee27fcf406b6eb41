"""Several actions in many segments, against a linear program over all ways to set their thresholds, and as a plan."""

import json
from contextlib import suppress
from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy.optimize import linprog

import rocscope as rs
from decision_oracle import prove
from decisions.plans.test_tampering import write
from rocscope import Campaign, Context, Predictions, ThresholdCounts
from rocscope.decisions import ActionAllocation
from rocscope.decisions.allocation import costs_of_outcomes
from rocscope.errors import InfeasibleError, InputError
from strategies import counted, in_parts

GAP = 1e-9
NORTH, SOUTH = ThresholdCounts([3, 2, 1], [40, 20, 10], [10, 80, 190]), ThresholdCounts([2, 1], [20, 10], [40, 280])
BRANCHES = {"n": NORTH, "s": SOUTH}
ACTIONS = {"letter": Campaign(700, 1, 4), "call": Campaign(700, 5, 12), "visit": Campaign(700, 30, 40)}


def drawn(rng):
    """Draw rows of few scores in one to three segments, and one to three actions, their limit and its kind."""
    n, count = int(rng.integers(6, 60)), int(rng.integers(1, 4))
    label = rng.random(n) < 0.4
    segment = rng.integers(0, rng.integers(1, 4), n)
    rows = Predictions(label, {"a": rng.integers(0, 5, n) + label}, segment=segment)
    kind = str(rng.choice(["none", "capacity", "budget"]))
    if rng.random() < 0.3:
        actions = {f"a{i}": Context(cost_fp=float(rng.choice([0.5, 1, 3])), cost_fn=5.0) for i in range(count)}
        actions = {
            name: Context(cost_fp=each.cost_fp, cost_fn=5.0, cost_tp=i)
            for i, (name, each) in enumerate(actions.items())
        }
        kind = kind if kind != "budget" else "capacity"
    else:
        actions = {f"a{i}": Campaign(500, *rng.choice([0.5, 1, 2, 5, 20, 60], 2).tolist()) for i in range(count)}
    return rows, actions, kind


def terms_of(action, share, kind):
    """Return what a positive and a negative of the sample cost if acted on, above leaving them, and take."""
    context = action.context if isinstance(action, Campaign) else action
    use = action.unit_cost if kind == "budget" else 1
    return share * (context.cost_tp - context.cost_fn), share * (context.cost_fp - context.cost_tn), share * use


def least(rows, actions, kind, limit, share, differences=None, floor=None):
    """Return the lowest cost of mixtures, in each segment, of actions by rising stakes at any rising thresholds.

    Differences between segments, and the floor on the cases of each, are of those that get any action.
    """
    cost, use, segment = [], [], []
    rates = {"tpr": [], "fpr": [], "depth": []}
    terms = {name: terms_of(each, share, kind) for name, each in actions.items()}
    order = sorted(terms, key=lambda name: terms[name][1] - terms[name][0])
    for g in np.unique(rows.segment):
        own = rows.segment == g
        score, y = rows.scores["a"][own], rows.y_true[own]
        for cuts in combinations_with_replacement([-np.inf, *np.unique(score), np.inf], len(order)):
            spent, taken, above = 0.0, 0.0, np.inf
            for name, cut in zip(order[::-1], cuts[::-1], strict=True):  # the largest stakes first
                yes = (score >= cut) & (score < above)
                tp, fp = (yes & y).sum(), (yes & ~y).sum()
                pos, neg, each = terms[name]
                spent, taken, above = spent + pos * tp + neg * fp, taken + each * (tp + fp), cut
            cost.append(spent)
            use.append(taken)
            segment.append(g)
            any_action = score >= cuts[0]
            rates["tpr"].append((any_action & y).sum() / y.sum() if y.any() else np.nan)
            rates["fpr"].append((any_action & ~y).sum() / (~y).sum() if not y.all() else np.nan)
            rates["depth"].append(any_action.mean())
    each = [np.array(segment) == g for g in np.unique(rows.segment)]
    extra = np.zeros(len(differences or {}))
    upper, most = ([], []) if limit is None else ([[*use, *extra]], [limit])
    for i, (name, apart) in enumerate((differences or {}).items()):
        for own in each:
            rate = np.where(own, rates[name], 0.0)
            if not np.isnan(rate).any():
                lowest = np.eye(extra.size)[i]
                upper += [[*rate, *-lowest], [*-rate, *lowest]]
                most += [apart, 0.0]
    for own in each if floor is not None else ():
        size = share * (rows.segment == segment[own.argmax()]).sum()
        upper.append([*(-size * np.where(own, rates["depth"], 0.0)), *extra])
        most.append(-floor)
    bound = {"A_ub": np.array(upper), "b_ub": most} if upper else {}
    equal = np.column_stack([np.array(each, float), np.zeros((len(each), extra.size))])
    return linprog([*cost, *extra], **bound, A_eq=equal, b_eq=np.ones(len(each)), method="highs")


def idle_of(rows, actions, share):
    """Return what leaving all cases costs."""
    context = next(iter(actions.values()))
    context = context.context if isinstance(context, Campaign) else context
    return share * (context.cost_fn * rows.y_true.sum() + context.cost_tn * (~rows.y_true).sum())


@in_parts(20, 10_000)
def test_no_mixture_that_keeps_bounds_on_segments_costs_less(cases, part):
    rng, found = np.random.default_rng([37, part]), []
    for _ in counted(cases):
        rows, actions, kind = drawn(rng)
        share = 500 / len(rows) if all(isinstance(each, Campaign) for each in actions.values()) else 1
        most = max(each.unit_cost for each in actions.values()) if kind == "budget" else 1
        limit = None if kind == "none" else float(round(rng.uniform(0, 1) * most * share * len(rows), 1))
        names = rng.choice(["tpr", "fpr", "depth"], rng.integers(0, 3), replace=False)
        differences = {str(name): float(round(rng.uniform(0, 0.4), 2)) for name in names}
        floor = float(rng.integers(1, 3) * share) if rng.random() < 0.5 or not differences else None
        options = {} if limit is None else {kind: limit}
        options |= {"max_difference": differences} if differences else {}
        options |= {} if floor is None else {"subject_to": f"cases >= {floor}"}
        best = least(rows, actions, kind, limit, share, differences, floor)
        try:
            plan = rs.allocate(rows, actions=actions, **options)
        except InfeasibleError:
            assert best.fun is None, (actions, options)
            continue
        cost = best.fun + idle_of(rows, actions, share)
        found.append(abs(plan.cost - cost) / max(1.0, abs(cost)))
        assert found[-1] <= 1e-7, (actions, options)
        proof = prove(plan, rows)
        assert not proof.refuted, (proof, actions, options)
        assert plan.verify(rows).verified, (plan.verify(rows), actions, options)
        given = plan.assign(rows, rng.permutation(len(rows)))
        for name, planned in plan.cases.items():
            got = np.array([((given == name) & (rows.segment == g)).sum() for g in plan.names])
            assert (np.abs(got - planned / share) < 1 + 1e-6).all()
    print(f"largest gap {max(found):.2g} in {len(found)} plans")


@in_parts(20, 10_000)
def test_no_mixture_of_thresholds_for_several_actions_costs_less(cases, part):
    rng, found = np.random.default_rng([35, part]), []
    for _ in counted(cases):
        rows, actions, kind = drawn(rng)
        campaigns = all(isinstance(each, Campaign) for each in actions.values())
        share = 500 / len(rows) if campaigns else 1
        most = max(each.unit_cost for each in actions.values()) if kind == "budget" else 1
        limit = None if kind == "none" else float(round(rng.uniform(0, 1) * most * share * len(rows), 1))
        plan = rs.allocate(rows, actions=actions, **({} if limit is None else {kind: limit}))
        best = least(rows, actions, kind, limit, share).fun + idle_of(rows, actions, share)
        found.append(abs(plan.cost - best) / max(1.0, abs(best)))
        assert found[-1] <= GAP, (actions, kind, limit)
        ids = rng.permutation(len(rows))
        given = plan.assign(rows, ids)
        total = sum(each.sum() for each in plan.cases.values()) / share
        assert kind == "budget" or (given != "").sum() == int(total + 1e-6)
        for name, planned in plan.cases.items():
            got = np.array([((given == name) & (rows.segment == g)).sum() for g in plan.names])
            assert (np.abs(got - planned / share) < 1 + 1e-6).all()
        order = rng.permutation(len(rows))
        turned = plan.assign(rows.scores["a"][order], ids[order], segment=rows.segment[order])
        assert turned.tolist() == given[order].tolist()
    print(f"largest gap {max(found):.2g} in {len(found)} plans")


def test_one_action_is_an_allocation_and_none_too_many():
    one = rs.allocate(BRANCHES, actions={"letter": ACTIONS["letter"]}, capacity=100)
    plain = rs.allocate(BRANCHES, ACTIONS["letter"], capacity=100)
    assert (one.cost, one.marginal) == (plain.cost, plain.marginal)
    assert one.cases["letter"].tolist() == plain.cases.tolist()
    intervals = [each.interval() for each in (replace(one, source=None), replace(plain, source=None))]
    assert len({(each.value, round(each.low, 9), round(each.high, 9), each.acting) for each in intervals}) == 1
    assert one.promise == pytest.approx(plain.promise)
    more = [rs.allocate(BRANCHES, actions=dict(list(ACTIONS.items())[:n]), budget=900).cost for n in (1, 2, 3)]
    assert more == sorted(more, reverse=True)


def test_actions_may_differ_by_segment():
    plan = rs.allocate(
        BRANCHES,
        actions={
            "letter": {"n": Campaign(350, 1, 4), "s": Campaign(350, 2, 30)},
            "call": {"n": Campaign(350, 5, 12), "s": Campaign(350, 5, 12)},
        },
        budget=400,
    )
    assert plan.actions == {"n": ("letter", "call"), "s": ("call", "letter")}
    assert plan.verify(BRANCHES).verified and prove(plan, BRANCHES).proves


def test_without_its_data_the_interval_is_that_of_all_outcomes():
    plan = replace(rs.allocate(BRANCHES, actions=ACTIONS, budget=900), source=None)
    rng, costs = np.random.default_rng(0), []
    counts, terms = [place.counts for place in plan.places], [place.terms for place in plan.places]
    outcomes = costs_of_outcomes(counts, plan.totals, terms)
    for _ in range(2000):
        total = 0.0
        for g in range(2):
            counts = outcomes.size[outcomes.segment == g]
            drawn_counts = rng.multinomial(350, counts / counts.sum())
            total += drawn_counts @ outcomes.cost[outcomes.segment == g]
        costs.append(total)
    found = plan.interval()
    assert found.value == pytest.approx(plan.cost) == pytest.approx(np.mean(costs), abs=5 * np.std(costs) / 2000**0.5)
    assert found.standard_error == pytest.approx(np.std(costs), rel=0.1)
    assert not found.reliable and "ignores how the thresholds were chosen" in found.reason


def test_it_is_saved_proved_and_applied(run, tmp_path):
    plan = rs.allocate(BRANCHES, actions=ACTIONS, budget=1100)
    assert {name for name, each in plan.cases.items() if each.sum()} == {"call", "letter"}
    read = rs.load_plan(plan.save(tmp_path / "plan.json"))
    assert isinstance(read, ActionAllocation) and read.to_json() == plan.to_json()
    assert read.verify(BRANCHES).verified and prove(read, BRANCHES).proves
    rng = np.random.default_rng(1)
    lines = [f"{i:04d},{rng.integers(1, 4)},{rng.choice(['n', 's'])}" for i in range(50)]
    (tmp_path / "next.csv").write_text("\n".join(["client,score,branch", *lines]) + "\n")
    code, _, err = run("apply", "plan.json", "next.csv", "--id", "client", "--segment", "branch", "-o", "list.csv")
    assert code == 0, err
    applied = read.apply(tmp_path / "next.csv", "client", segment="branch")
    content = [line.replace('"', "").split(",") for line in (tmp_path / "list.csv").read_text().splitlines()]
    assert content == [["client", "action"], *map(list, zip(applied.ids, applied.columns["action"], strict=True))]


def test_outcomes_are_those_of_the_action_that_each_case_got():
    plan = rs.allocate(BRANCHES, actions=ACTIONS, budget=1100)
    rng, n = np.random.default_rng(6), 400
    rows = {"client": rng.permutation(n), "score": rng.integers(1, 4, n), "branch": rng.choice(["n", "s"], n)}
    rows["bought"] = (rng.random(n) < 0.2).astype(int)
    asked = {"label": "bought", "segment": "branch"}
    action = plan.assign(rows["score"], rows["client"], segment=rows["branch"])
    brought = {name: np.where(rows["bought"], each.unit_benefit, 0) - each.unit_cost for name, each in ACTIONS.items()}

    def gains(given):
        return np.array([0.0 if name == "" else brought[name][i] for i, name in enumerate(given)])

    found = plan.outcomes(rows, "client", **asked)
    assert found.gain.value == pytest.approx(gains(action).sum()) and found.acted == (action != "").sum()
    planned = sum(each.sum() for each in plan.cases.values())
    assert found.promised_gain / found.acted == pytest.approx(-plan.cost / planned)
    got = np.where(action == "letter", "visit", np.where(action == "", None, action))
    other = plan.outcomes(rows | {"got": got}, "client", acted="got", **asked)
    assert other.gain.value == pytest.approx(gains(np.where(action == "letter", "visit", action)).sum())
    with pytest.raises(InputError, match="acted: expected 'call', 'letter', 'visit', got 'mail'"):
        plan.outcomes(rows | {"got": np.full(n, "mail")}, "client", acted="got", **asked)
    with pytest.raises(InputError, match="acted: expected the name of the column with the action"):
        plan.outcomes(rows, "client", acted="all", **asked)


@pytest.mark.every(2)
@pytest.mark.parametrize("bounds", [{}, {"max_difference": {"tpr": 0.05}, "subject_to": {"s": "cases >= 60"}}])
def test_what_is_changed_is_refused_or_refuted(bounds, tmp_path):
    plan = rs.allocate(BRANCHES, actions=ACTIONS, budget=1105.5, **bounds)
    assert bool(plan.price) == bool(bounds)
    whole = json.loads(plan.to_json())
    premises, tried = {"terms", "actions", "in_money", "models", "model", "on_new_cases", "promise"}, 0
    for path in paths(whole):
        if premises & set(path) or path[0] in ("format", "version", "checksum") or path[-1] in ("fixed", "name"):
            continue
        content = json.loads(plan.to_json())
        place = content
        for key in path[:-1]:
            place = place[key]
        value = place[path[-1]]
        place[path[-1]] = other(value)
        tried += 1
        write(tmp_path / "other.json", content)
        with suppress(rs.errors.RocscopeError):
            changed = rs.load_plan(tmp_path / "other.json")
            assert not changed.verify(BRANCHES).verified, path
            assert not prove(changed, BRANCHES).proves, path
    assert tried > 100


def other(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return "1/3"
    return 1.0 if value is None else value + 1 if isinstance(value, int | float) else None


def paths(content, path=()):
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in items:
        if isinstance(value, dict | list) and value:
            yield from paths(value, (*path, key))
        else:
            yield (*path, key)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"actions": {}}, "^actions: expected a mapping from action name"),
        ({"actions": ["letter"]}, "^actions: expected a mapping from action name"),
        ({"actions": ACTIONS, "context": Context()}, "^actions and context: expected only one of"),
        ({"actions": ACTIONS, "subject_to": "auc >= .1"}, "^constraint: expected a metric of one threshold"),
        ({"actions": {"a": Campaign(9, 1, 2), "b": Campaign(8, 1, 2)}}, "the same population, prevalence and cost"),
        ({"actions": {"a": Context(), "b": Context(cost_fn=2)}}, "the same population, prevalence and cost"),
        ({"actions": {"a": Context()}, "budget": 3}, "^budget: expected campaigns with a unit cost"),
        ({"actions": ACTIONS, "capacity": 3, "budget": 3}, "^budget: expected a capacity or a budget"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(InputError, match=message):
        rs.allocate(BRANCHES, **options)


def test_several_models_of_a_segment_are_refused():
    with pytest.raises(InputError, match="segments with one model each, got a segment with several models"):
        rs.allocate({"n": {"a": NORTH, "b": NORTH}}, actions=ACTIONS, budget=5)
    own = {"n": {"a": NORTH}, "s": {"b": SOUTH}}
    plan = rs.allocate(own, actions=ACTIONS, budget=900)
    assert plan.cost == rs.allocate(BRANCHES, actions=ACTIONS, budget=900).cost
    assert plan.models == ("a", "b") and plan.verify(own).verified and prove(plan, own).proves
