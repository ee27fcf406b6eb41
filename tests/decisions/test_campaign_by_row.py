"""Campaigns in which each response brings something else, against brute force over thresholds and lots."""

import itertools
from math import inf

import numpy as np
import pytest

import rocscope as rs
from decision_oracle import prove
from rocscope import Campaign, Predictions
from rocscope.errors import ColumnError, InputError
from strategies import counted, in_parts

FACTS = ("depth", "gain", "cumulative_gain", "lift", "size", "responders", "non_responders", "profit", "threshold")


def drawn(rng):
    n = int(rng.integers(3, 40))
    y = rng.random(n) < rng.uniform(0.1, 0.8)
    y[:2] = [True, False]
    weight = None if rng.random() < 0.5 else rng.integers(1, 4, n)
    margin = np.round(rng.uniform(0, 20, n), int(rng.choice([0, 2])))
    margin[0] += 1
    preds = Predictions(y, rng.integers(0, rng.integers(1, 9), n) + y, sample_weight=weight, columns={"margin": margin})
    campaign = Campaign(
        population=1000,
        unit_cost=round(float(rng.uniform(0, 8)), 1),
        unit_benefit="margin",
        fixed_cost=float(rng.choice([0, 100])),
        response_rate=None if rng.random() < 0.5 else 0.1,
        capacity=None if rng.random() < 0.5 else float(rng.integers(0, 1000)),
    )
    return preds, campaign


def points(preds, campaign):
    """Return size, responders and profit of each threshold, customer by customer."""
    weight = np.ones(len(preds)) if preds.sample_weight is None else preds.sample_weight.astype(float)
    if campaign.response_rate is not None:
        for label, share in ((True, campaign.response_rate), (False, 1 - campaign.response_rate)):
            rows = preds.y_true == label
            weight[rows] *= share / weight[rows].sum()
    weight *= campaign.population / weight.sum()
    score = preds.scores["score"]
    for cut in [inf, *sorted(set(score.tolist()), reverse=True)]:
        sent = score >= cut
        size, responders = weight[sent].sum(), weight[sent & preds.y_true].sum()
        brings = (weight * preds.columns["margin"])[sent & preds.y_true].sum()
        yield cut, size, responders, brings - campaign.unit_cost * size - campaign.fixed_cost


@in_parts(30, 2_000)
def test_no_threshold_and_no_lot_between_two_brings_more(cases, part):
    rng = np.random.default_rng([0, part])
    for _ in counted(cases):
        preds, campaign = drawn(rng)
        plan = rs.plan_campaign(preds, campaign)
        found = list(points(preds, campaign))
        most = campaign.population if campaign.capacity is None else campaign.capacity
        best = [profit for _, size, _, profit in found if size <= most + 1e-9]
        for (_, size, _, profit), (_, more, _, other) in itertools.product(found, found):
            if size < most < more:
                best.append(profit + (most - size) / (more - size) * (other - profit))
        row = plan.best.best
        assert plan.curve.hull_profit == pytest.approx(max(best), rel=1e-9, abs=1e-9)
        assert plan.worthwhile is (plan.curve.hull_profit > 0)
        sizes, profits = [size for _, size, *_ in found], [profit for *_, profit in found]
        assert row.profit == pytest.approx(np.interp(row.size, sizes, profits), rel=1e-9, abs=1e-6)
        assert row.size <= most + 1e-9
        if not plan.curve.rule.randomized:
            size, responders = next(
                (size, found)
                for cut, size, found, _ in found
                if row.threshold in (cut, -inf) and (row.threshold == cut or size == pytest.approx(campaign.population))
            )
            assert (row.size, row.responders) == pytest.approx((size, responders))
        curve = plan.curve
        assert curve.y == pytest.approx([profit for *_, profit in found], rel=1e-9, abs=1e-6)
        assert curve.x == pytest.approx([size / campaign.population for _, size, _, _ in found])
        assert curve.perfect.at(row.depth) >= row.profit - 1e-6
        assert curve.random.at(1.0) == pytest.approx(curve.y[-1])


@pytest.mark.parametrize("capacity", [None, 100, 333, 0])
@pytest.mark.parametrize("rate", [None, 0.05])
def test_the_same_amount_for_all_is_the_plain_campaign(capacity, rate):
    rng = np.random.default_rng(1)
    y = rng.random(300) < 0.3
    preds = Predictions(y, rng.integers(0, 12, 300) + 2 * y, columns={"margin": np.full(300, 4.5)})
    plain = Campaign(1000, 1, 4.5, 100, rate, capacity)
    ours = rs.plan_campaign(preds, Campaign(1000, 1, "margin", 100, rate, capacity))
    plan = rs.plan_campaign(preds, plain)
    assert ours.verdict.split(". Expect ")[0] == plan.verdict.split(". Expect ")[0]
    rows = [(ours.best.best, plan.best.best), *zip(ours.curve.table(7), plan.curve.table(7), strict=True)]
    for row, expected in rows:
        assert [getattr(row, name) for name in FACTS] == pytest.approx([getattr(expected, name) for name in FACTS])
    assert (ours.best.random_profit, ours.best.perfect_profit) == pytest.approx(
        (plan.best.random_profit, plan.best.perfect_profit)
    )
    assert ours.curve.point.tp == pytest.approx(plan.curve.point.tp)
    ids = [f"c{i}" for i in range(300)]
    assert ours.select(preds, ids).tolist() == plan.select(preds, ids).tolist()
    assert ours.curve.break_even_depths == pytest.approx(plan.curve.break_even_depths)
    assert ours.to_dict()["campaigns"]["campaign"]["unit_benefit"] == "margin"


@pytest.mark.parametrize("capacity", [None, 150])
@pytest.mark.parametrize("rate", [None, 0.2])
def test_a_profit_of_amounts_has_its_interval(capacity, rate):
    rng = np.random.default_rng(1)
    y = rng.random(400) < 0.3
    preds = Predictions(
        y, {m: rng.normal(size=400) + y for m in "ab"}, columns={"margin": rng.lognormal(1.5, 0.3, 400)}
    )
    plan = rs.plan_campaign(preds, Campaign(1000, 1, "margin", 10, rate, capacity))
    found = plan.interval(replicates=200)
    assert found.apparent == pytest.approx(plan.best.best.profit, rel=1e-9)
    assert found.low < found.value < found.high
    assert 0.9 < found.acting <= 1
    assert found.reliable is (capacity is None)
    assert plan.profit.level == 0.95


PREDS = Predictions([1, 0, 1, 0], [4, 3, 2, 1], columns={"margin": [9, -1, -1, 0]})
CAMPAIGN = Campaign(100, 1, "margin")


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: rs.plan_campaign(PREDS, CAMPAIGN), InputError, "unit_benefit 'margin': .* in row 2"),
        (
            lambda: rs.plan_campaign(PREDS, Campaign(1, 1, "x")),
            ColumnError,
            "unit_benefit: .* column 'x', got the columns 'margin'",
        ),
        (lambda: rs.plan_campaign(PREDS.counts(), CAMPAIGN), InputError, "rows"),
        (lambda: rs.profit(PREDS, CAMPAIGN), InputError, "plan_campaign with rows"),
        (lambda: CAMPAIGN.profit(1, 1), InputError, "a unit_benefit that is a number"),
        (lambda: CAMPAIGN.break_even_rate, InputError, "a unit_benefit that is a number"),
        (lambda: Campaign(1, 1, ""), InputError, "unit_benefit: expected an amount"),
    ],
)
def test_what_needs_one_benefit_or_rows_says_so(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_margins_that_are_all_0_are_no_campaign(tmp_path):
    preds = Predictions([1, 1, 0, 0, 1, 0], {"a": [6, 5, 4, 3, 2, 1]}, columns={"margin": [0] * 6})
    plan = rs.plan_campaign(preds, Campaign(100, 1, "margin"))
    assert plan.verdict == "Contact nobody. No campaign pays, because the best campaign has a profit of 0."
    assert not prove(plan, preds).refuted and plan.verify(preds).verified and len(plan.apply([1, 2, 3])) == 0
    assert rs.load_plan(plan.save(tmp_path / "plan.json")).to_json() == plan.to_json()
