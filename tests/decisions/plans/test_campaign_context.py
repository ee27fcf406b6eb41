"""A Campaign is honoured wherever a Context is accepted, or refused where its capacity or fixed cost cannot be."""

import numpy as np
import pytest

import rocscope as rs
from decision_oracle import prove
from rocscope import Campaign, Predictions
from rocscope.errors import InputError
from strategies import counted, in_parts, tied_scores


def profit_of(decision, campaign):
    """Return what a decision brings, by its own expected counts in the population."""
    point = decision.expected(campaign.population)
    acted = point.tp + point.fp
    if decision.lot is None and np.isposinf(decision.threshold):
        return 0.0
    return campaign.unit_benefit * point.tp - campaign.unit_cost * acted - campaign.fixed_cost


@in_parts(5, 1_000)
def test_choose_agrees_with_plan_campaign(cases, part):
    rng = np.random.default_rng([7, part])
    for _ in counted(cases):
        y, scores = tied_scores(rng)
        preds = Predictions(y.astype(int), scores)
        population = float(rng.choice([len(preds), 1000]))
        capacity = None if rng.random() < 0.3 else float(rng.integers(1, int(population) + 1))
        rate = None if rng.random() < 0.5 else 0.2
        fixed = float(rng.choice([0, 0, 5, 1e6]))
        campaign = Campaign(population, float(rng.choice([1, 3])), float(rng.choice([2, 5, 20])), fixed, rate, capacity)
        plan, decision = rs.plan_campaign(preds, campaign), rs.choose(preds, campaign)
        alone = max(offer.best.profit for offer in plan.offers)
        if len(preds.models) == 1:
            expected = max(alone, 0.0)
            assert profit_of(decision, campaign) == pytest.approx(expected, abs=1e-6)
        else:  # a rule of two models may be better than one of each alone
            assert profit_of(decision, campaign) >= max(alone, 0.0) - 1e-6
        point = decision.expected(population)
        assert capacity is None or point.tp + point.fp <= capacity + 1e-6
        assert decision.population == (population if capacity is not None or fixed else None)
        assert prove(decision, preds).holds, prove(decision, preds)
        assert decision.verify(preds).verified, decision.verify(preds)
        if capacity is not None or fixed:
            for refusing in (rs.hull(preds).best, rs.roc(preds.select(models=preds.models[:1])).best):
                with pytest.raises(InputError, match="without capacity and fixed cost"):
                    refusing(campaign)
        elif profit_of(decision, campaign) > 0:
            assert rs.hull(preds).best(campaign).point == decision.point


PREDS = Predictions([1, 1, 0, 1, 0, 0, 0, 0, 0, 0], {"a": [9, 8, 8, 7, 7, 5, 4, 3, 2, 1]}, columns={"worth": range(10)})
PAIR = Predictions(PREDS.y_true, {"a": PREDS.scores["a"], "b": PREDS.scores["a"][::-1]})
LIMITED = Campaign(10, 1, 5, capacity=3)


def test_the_example_of_the_issue():
    """It acted on 600 of 1,000 with a capacity of 300, and with a fixed cost of a million."""
    counts = rs.ThresholdCounts([3, 2, 1], [60, 30, 10], [40, 260, 600])
    decision = rs.choose(counts, Campaign(1000, 1, 10, capacity=300))
    assert decision.in_population.tp + decision.in_population.fp == pytest.approx(300)
    decision = rs.choose(counts, Campaign(1000, 1, 10, fixed_cost=1e6))
    assert decision.trivial.startswith("nobody")
    assert decision.notes[-1] == "acting would gain 510, which does not cover the fixed cost of 1e+06"


@pytest.mark.parametrize(
    "call",
    [
        lambda: rs.summary(PREDS, LIMITED),
        lambda: rs.Report(PREDS, LIMITED),
        lambda: rs.lift_chart(PREDS).best(LIMITED),
        lambda: rs.roc(PREDS).iso_performance_line(LIMITED),
        lambda: rs.hull(PREDS).expected_cost(LIMITED),
        lambda: rs.inference.compare_costs(PAIR, LIMITED),
        lambda: rs.plotting.plot_roc(PREDS, context=LIMITED, iso_line=True),
    ],
)
def test_doors_that_know_no_capacity_refuse_it(call):
    with pytest.raises(InputError, match="without capacity and fixed cost"):
        call()


def test_what_a_campaign_cannot_be_combined_with():
    with pytest.raises(InputError, match=r"population: expected .*, as in the Campaign, got"):
        rs.choose(PREDS, LIMITED, population=20)
    with pytest.raises(InputError, match="a context with equal costs in all rows"):
        rs.choose(PREDS, Campaign(10, 1, "worth", capacity=3))
    assert rs.choose(PREDS, Campaign(10, 1, 5), population=10).population == 10
