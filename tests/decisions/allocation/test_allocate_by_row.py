"""Allocations where costs differ from row to row, against a linear program over all thresholds, and as plans."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

import rocscope as rs
from decision_oracle import prove
from decisions.plans.test_tampering import leaves, write
from rocscope import Campaign, Context, Predictions
from rocscope.errors import ColumnError, InputError, RocscopeError
from strategies import counted, in_parts

GAP = 1e-9


def drawn(rng, n=None):
    """Draw rows with amounts in one to three segments, and a context or campaign that names them."""
    n = int(rng.integers(8, 60)) if n is None else n
    label = rng.random(n) < 0.4
    scores = {name: rng.integers(0, 6, n) + label for name in "ab"[: rng.integers(1, 3)]}
    amounts = {"amount": rng.integers(1, 400, n) / 10, "loss": rng.integers(0, 30, n) / 4}
    rows = Predictions(label, scores, segment=rng.integers(0, rng.integers(1, 4), n), columns=amounts)
    given = [
        Context(cost_fn="amount", cost_fp=5),
        Context(cost_fn="amount", cost_fp="loss", cost_tn=1),
        Campaign(500, 2, "amount", fixed_cost=10),
    ][rng.integers(3)]
    return rows, given


def gains_of(rows, given):
    """Return what acting on each row gains, and what leaving all costs, by the definition of the costs."""
    columns = rows.columns
    if isinstance(given, Campaign):
        return np.where(rows.y_true, columns["amount"], 0.0) - given.unit_cost, 0.0
    fp = columns["loss"] if given.cost_fp == "loss" else given.cost_fp
    return np.where(rows.y_true, columns["amount"], given.cost_tn - fp), np.where(
        rows.y_true, columns["amount"], given.cost_tn
    ).sum()


def least(rows, given, limit, use, depth):
    """Return the lowest cost of mixtures of thresholds in each segment, by a linear program."""
    gain, idle = gains_of(rows, given)
    scale = given.population / len(rows) if isinstance(given, Campaign) else 1.0
    cost, taken, segment, share = [], [], [], []
    for g in np.unique(rows.segment):
        own = rows.segment == g
        for score in rows.scores.values():
            for cut in [*np.unique(score[own]), np.inf]:
                acts = own & (score >= cut)
                cost.append(-scale * gain[acts].sum())
                taken.append(scale * use * acts.sum())
                segment.append(g)
                share.append(acts.sum() / own.sum())
    every = [np.array(segment) == g for g in np.unique(rows.segment)]
    cost, share, extra = np.array(cost), np.array(share), int(depth is not None)
    upper, most = ([] if limit is None else [[*taken, *[0] * extra]]), ([] if limit is None else [limit])
    for each in every if extra else ():
        upper += [[*(share * each), -1], [*(-share * each), 1]]
        most += [depth, 0]
    equal = [[*each.astype(float), *[0] * extra] for each in every]
    bounds = {"A_ub": upper, "b_ub": most} if upper else {}
    return linprog([*cost, *[0] * extra], **bounds, A_eq=equal, b_eq=np.ones(len(every)), method="highs").fun + (
        scale * idle
    )


@in_parts(20, 10_000)
def test_no_mixture_of_thresholds_costs_less(cases, part):
    rng, found = np.random.default_rng([36, part]), []
    for _ in counted(cases):
        rows, given = drawn(rng)
        kind = str(rng.choice(["none", "capacity", "budget"] if isinstance(given, Campaign) else ["none", "capacity"]))
        size = given.population if isinstance(given, Campaign) else len(rows)
        use = given.unit_cost if kind == "budget" else 1
        limit = None if kind == "none" else round(rng.uniform(0, 1) * use * size, 1)
        options = {} if limit is None else {kind: limit + (10 if kind == "budget" else 0)}
        depth = round(rng.uniform(0, 0.5), 2) if rng.random() < 0.4 else None
        options |= {} if depth is None else {"max_difference": {"depth": depth}}
        plan = rs.allocate(rows, given, **options)
        best = least(rows, given, limit, use, depth)
        found.append(abs(plan.cost - best) / max(1.0, abs(best)))
        assert found[-1] <= (GAP if depth is None else 1e-7), (given, options)
        assert np.isnan(plan.tpr).all()
        assert kind != "capacity" or plan.cases.sum() <= limit + 1e-6
        proof = prove(plan, rows)
        assert not proof.refuted, proof
        assert plan.verify(rows).verified, plan.verify(rows)
    print(f"largest gap {max(found):.2g} in {len(found)} plans")


def test_equal_amounts_are_an_ordinary_allocation():
    rng = np.random.default_rng(1)
    rows, _ = drawn(rng, 80)
    even = Predictions(rows.y_true, rows.scores, segment=rows.segment, columns={"amount": np.full(80, 7.0)})
    for by_row, plain in (
        (Context(cost_fn="amount"), Context(cost_fn=7)),
        (Campaign(400, 1, "amount"), Campaign(400, 1, 7)),
    ):
        one, other = (rs.allocate(even, each, capacity=20) for each in (by_row, plain))
        assert [one.cost, one.marginal, *one.cases] == pytest.approx([other.cost, other.marginal, *other.cases])
        assert one.predict(even, segment=even.segment).tolist() == other.predict(even, segment=even.segment).tolist()
        intervals = [each.interval() for each in (one, other)]
        ends = [(each.value, each.low, each.high) for each in intervals]
        assert ends[0] == pytest.approx(ends[1])


def test_it_is_saved_proved_applied_and_its_outcomes_are_amounts(tmp_path):
    rows, _ = drawn(np.random.default_rng(3), 200)
    campaign = Campaign(400, 2, "amount", 10)
    plan = rs.allocate(rows, campaign, capacity=60)
    read = rs.load_plan(plan.save(tmp_path / "plan.json"))
    assert read.to_json() == plan.to_json() and read.columns == ("amount",)
    assert read.verify(rows).verified and prove(read, rows).proves
    ids = np.arange(200)
    listed = {"client": ids, **rows.scores, "part": rows.segment, "amount": rows.columns["amount"], "y": rows.y_true}
    assert len(read.apply(listed, "client", segment="part")) == 30
    found = read.outcomes(listed, "client", label="y", segment="part")
    chosen = read.rows(rows.scores, ids, segment=rows.segment)
    gain, _ = gains_of(rows, campaign)
    assert found.gain.value == pytest.approx(gain[chosen].sum() - 10)
    assert plan.promise.gain * plan.cases.sum() == pytest.approx(-plan.interval().value)
    with pytest.raises(InputError, match="an allocation made from unweighted Predictions"):
        read.interval()
    with pytest.raises(ColumnError):
        rs.allocate(rows, Context(cost_fn="price"))


def test_the_command_line_takes_a_column_of_benefits(run, tmp_path):
    rows, _ = drawn(np.random.default_rng(3), 200)
    columns = {"y": rows.y_true.astype(int), "a": rows.scores["a"], "part": rows.segment, **rows.columns}
    lines = [",".join(map(str, each)) for each in zip(*(column.tolist() for column in columns.values()), strict=True)]
    (tmp_path / "pilot.csv").write_text("\n".join([",".join(columns), *lines]) + "\n")
    asked = ("--population", "400", "--unit-cost", "2", "--unit-benefit", "amount", "--capacity", "60")
    code, _, err = run(
        "campaign", "pilot.csv", "--label", "y", "--score", "a", "--segment", "part", *asked, "-o", "plan.json"
    )
    assert code == 0, err
    plan = rs.load_plan(tmp_path / "plan.json")
    assert plan.cost == rs.allocate(rows.select(models=["a"]), Campaign(400, 2, "amount", capacity=60)).cost
    assert run("verify", "plan.json", "pilot.csv", "--label", "y", "--segment", "part")[0] == 0


def test_what_is_changed_is_refused_or_refuted(tmp_path):
    rows, _ = drawn(np.random.default_rng(5), 60)
    plan = rs.allocate(rows, Context(cost_fn="amount", cost_fp=5), capacity=20)
    whole, tried = json.loads(plan.to_json()), 0
    for path in leaves(whole):
        if path[0] in ("format", "version", "checksum", "in_money", "on_new_cases", "promise"):
            continue
        if path[-1] in ("model", "terms"):
            continue
        content = json.loads(plan.to_json())
        place = content
        for key in path[:-1]:
            place = place[key]
        value = place[path[-1]]
        place[path[-1]] = value + 1 if isinstance(value, int | float) else "1/3" if isinstance(value, str) else 1.0
        tried += 1
        write(tmp_path / "other.json", content)
        try:
            changed = rs.load_plan(tmp_path / "other.json")
            proved = [prove(changed, rows).proves, changed.verify(rows).verified]
        except RocscopeError:
            proved = [False]
        assert not any(proved), (path, proved)
    assert tried > 40


@pytest.mark.slow
def test_its_interval_covers_the_true_cost_of_pareto_amounts():
    """The truth is that of the planned shares of a large sample."""
    rng, held = np.random.default_rng(7), []

    def rows_of(n):
        y, segment = rng.random(n) < 0.3, np.arange(n) % 2
        amount = 6 * (1 - 1 / 2.5) * (1 + rng.pareto(2.5, n))
        return Predictions(y, {"a": rng.normal(size=n) + y}, segment=segment, columns={"amount": amount})

    large, campaign = rows_of(400_000), Campaign(1000, 1, "amount", capacity=200)
    gain = np.where(large.y_true, 6.0, 0.0) - 1  # amounts do not depend on the score
    by_depth = []
    for g in (0, 1):
        own = large.segment == g
        by_depth.append(np.cumsum(gain[own][np.argsort(-large.scores["a"][own])]) / own.sum())
    for _ in range(20):
        plan = rs.allocate(rows_of(400), campaign)
        interval = plan.interval()
        held.append(-500 * sum(by_depth[g][int(plan.depth[g] * 200_000) - 1] for g in (0, 1)) in interval)
        assert interval.reliable
    assert np.mean(held) >= 0.75


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"context": Context(0.2, cost_fn="amount")}, "a context without target_prevalence, got .*; omit"),
        ({"context": {0: Context(cost_fn="amount")}}, "one Context or Campaign, got a mapping"),
        ({"context": Context(cost_fn="amount"), "max_difference": "equal_opportunity"}, "bounds on cases or depth"),
        ({"context": Context(cost_fn="amount"), "subject_to": "tpr >= .2"}, "bounds on cases or depth"),
    ],
)
def test_refusals(options, message):
    rows, _ = drawn(np.random.default_rng(2), 40)
    with pytest.raises(InputError, match=message):
        rs.allocate(rows, **options)
    with pytest.raises(InputError, match="Predictions with segments, got counts"):
        rs.allocate({"n": rs.ThresholdCounts([2, 1], [3, 1], [1, 3])}, Context(cost_fn="amount"))
    plan = replace(rs.allocate(rows, Context(cost_fn="amount")), source=None)
    with pytest.raises(InputError, match="rate"):
        plan.difference("tpr")


@pytest.mark.parametrize("given", [Context(cost_fn="amount", cost_fp=5), Campaign(500, 2, "amount", fixed_cost=10)])
def test_where_nobody_is_positive_nobody_is_acted_on(given):
    rows, _ = drawn(np.random.default_rng(5), 30)
    nobody = Predictions(np.zeros(30, bool), rows.scores, segment=rows.segment, columns=rows.columns)
    plan = rs.allocate(nobody, given)
    _, idle = gains_of(nobody, given)
    assert plan.cases.sum() == 0
    assert plan.cost == pytest.approx(idle)
    assert plan.verify(nobody).verified and prove(plan, nobody).proves
