"""Uncertain contexts to the end: costs in money, joint draws, estimates, intervals, minimax regret, and information."""

import itertools

import numpy as np
import pytest
from scipy import stats

import rocscope as rs
from rocscope import Context
from rocscope.decisions import Beta, LogNormal, UncertainContext, Uniform
from rocscope.errors import InputError
from rocscope.inference.proportions import proportion

RNG = np.random.default_rng(1)
LABELS = RNG.random(1500) < 0.1
COUNTS = rs.ThresholdCounts.from_scores(LABELS, np.round(RNG.normal(LABELS * 1.5), 1))
MONEY = {"cost_fp": Uniform(5, 15), "cost_fn": LogNormal(100, 0.5), "cost_tp": (10, 20), "cost_tn": -1}


def cost_by_hand(costs, share, tpr, fpr):
    of_positives = costs["tp"] * tpr + costs["fn"] * (1 - tpr)
    return share * of_positives + (1 - share) * (costs["fp"] * fpr + costs["tn"] * (1 - fpr))


def all_rates():
    points = [COUNTS.at(threshold) for threshold in [np.inf, *COUNTS.threshold]]
    return [(float(point.tpr), float(point.fpr)) for point in points]


def test_the_mean_of_independent_costs_in_money_is_the_context_of_the_choice():
    context = UncertainContext(**MONEY, target_prevalence=Beta(2, 38))
    assert context.mean == Context(0.05, cost_fp=10, cost_fn=100 * np.exp(0.125), cost_tp=15, cost_tn=-1)
    assert rs.choose(COUNTS, context).threshold == rs.choose(COUNTS, context.mean).threshold


def test_of_joint_draws_the_choice_is_the_best_on_average_over_all_of_them():
    share, cost_fn = RNG.beta(2, 30, 300), RNG.lognormal(1, 1, 300)
    cost_fn = np.sort(cost_fn)[np.argsort(np.argsort(share))]  # misses cost most where most are positive
    context = UncertainContext(cost_fn=cost_fn, target_prevalence=share)
    mean = [cost_by_hand({"fp": 1, "fn": cost_fn, "tp": 0, "tn": 0}, share, *at).mean() for at in all_rates()]
    decision = rs.choose(COUNTS, context)
    assert decision.expected_cost == pytest.approx(min(mean), rel=1e-12)
    independent = Context(share.mean(), cost_fn=cost_fn.mean())
    assert rs.choose(COUNTS, independent).threshold != decision.threshold


def test_an_estimate_is_a_prevalence_with_its_error():
    estimate = proportion(30, 600)
    context = UncertainContext(cost_ratio=0.1, target_prevalence=estimate)
    drawn = context.draw(np.random.default_rng(0), 200_000).target_prevalence
    assert drawn.mean() == pytest.approx(0.05, rel=0.01)
    assert drawn.std() == pytest.approx(estimate.standard_error, rel=0.02)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: UncertainContext(cost_ratio=2, cost_fn=5), "cost_ratio: expected a cost ratio or costs, got both"),
        (lambda: UncertainContext(cost_fn=[1, 2], cost_fp=[1, 2, 3]), "draws: expected arrays of equal length"),
        (lambda: UncertainContext(cost_fn="high"), "cost_fn: expected a number, a range or a distribution"),
        (lambda: rs.choose(COUNTS, Context(), criterion="minimax_regret"), "expected an UncertainContext"),
    ],
)
def test_what_cannot_be_a_context_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_minimax_regret_is_that_of_a_grid_over_all_contexts():
    context = UncertainContext(cost_fp=(1, 20), cost_fn=[20] * 30 + [900], target_prevalence=(0.001, 0.2))
    rates = all_rates()
    worst = np.zeros(len(rates))
    for fp, fn, share in itertools.product(np.linspace(1, 20, 5), (20, 900), np.linspace(0.001, 0.2, 5)):
        costs = np.array([cost_by_hand({"fp": fp, "fn": fn, "tp": 0, "tn": 0}, share, *at) for at in rates])
        worst = np.maximum(worst, costs - costs.min())
    decision = rs.choose(COUNTS, context, criterion="minimax_regret")
    assert decision.criterion_value == pytest.approx(worst.min(), rel=1e-9)
    assert decision.point.tpr == rates[int(worst.argmin())][0]
    assert decision.threshold != rs.choose(COUNTS, context).threshold


def test_information_is_worth_what_choosing_later_saves_among_admissible_thresholds():
    context = UncertainContext(cost_ratio=(0.02, 0.5), target_prevalence=Beta(2, 38))
    assert "would save 0 per case" in rs.choose(COUNTS, context, subject_to="cases <= 0").notes[-1]
    rng = np.random.default_rng(0)
    ratio, share = rng.uniform(0.02, 0.5, 40_000), rng.beta(2, 38, 40_000)
    admitted = [at for at in all_rates() if at[0] >= 0.6]
    costs = np.array([cost_by_hand({"fp": ratio, "fn": 1, "tp": 0, "tn": 0}, share, *at) for at in admitted])
    saved = costs.mean(axis=1).min() - costs.min(axis=0).mean()
    (note,) = rs.choose(COUNTS, context, subject_to="tpr >= .6").notes
    assert note.parameters["saved"] == pytest.approx(saved, rel=0.02)


def test_an_uncertain_context_adds_its_note_to_those_on_the_constraints():
    context = UncertainContext(cost_ratio=(0.02, 0.5))
    constraints = ["precision >= .2 at 95%", "cases <= 5000"]
    guarantee, capacity, uncertain = rs.choose(COUNTS, context, subject_to=constraints).notes
    assert [guarantee, capacity] == list(rs.choose(COUNTS, context.mean, subject_to=constraints).notes)
    assert uncertain.code == "uncertain_context"


def test_the_hull_averages_the_lowest_cost_over_money():
    context = UncertainContext(**MONEY, target_prevalence=0.1)
    rng = np.random.default_rng(5)
    fp, fn = rng.uniform(5, 15, 60_000), 100 * np.exp(0.5 * rng.normal(size=60_000))
    drawn = {"fp": fp, "fn": fn, "tp": rng.uniform(10, 20, 60_000), "tn": -1}
    costs = [cost_by_hand(drawn, 0.1, *at) for at in all_rates()]
    assert rs.hull(COUNTS).expected_cost(context) == pytest.approx(np.min(costs, axis=0).mean(), rel=0.01)


@pytest.mark.parametrize("repeats", [12, pytest.param(400, marks=pytest.mark.slow)])
def test_intervals_cover_the_cost_in_the_context_that_turns_up(repeats):
    rng = np.random.default_rng(3)
    context = UncertainContext(cost_fn=LogNormal(20, 0.4), cost_fp=(1, 3), target_prevalence=Beta(20, 180))
    covered = at_the_mean = 0
    for seed in range(repeats):
        labels = rng.random(600) < 0.15
        counts = rs.ThresholdCounts.from_scores(labels, rng.normal(labels * 1.5))
        decision = rs.choose(counts, context)
        tpr, fpr = stats.norm.sf(decision.threshold - 1.5), stats.norm.sf(decision.threshold)
        costs = {"fp": rng.uniform(1, 3), "fn": 20 * np.exp(0.4 * rng.normal()), "tp": 0, "tn": 0}
        truth = cost_by_hand(costs, rng.beta(20, 180), tpr, fpr)
        estimate = decision.interval(replicates=100, random_state=seed)
        covered += estimate.low <= truth <= estimate.high
        alone = rs.choose(counts, context.mean).interval(replicates=100, random_state=seed)
        at_the_mean += alone.low <= truth <= alone.high
    assert abs(covered / repeats - 0.95) < 3 * np.sqrt(0.05 * 0.95 / repeats)
    assert at_the_mean / repeats < 0.7


def test_intervals_of_randomised_rules_and_reviews_cover_the_context_too():
    context = UncertainContext(cost_fn=LogNormal(20, 0.6), cost_fp=1, target_prevalence=0.1)
    wide = rs.choose(COUNTS, context, review=rs.Review(cost=0.5)).interval()
    narrow = rs.choose(COUNTS, context.mean, review=rs.Review(cost=0.5)).interval()
    assert wide.value == pytest.approx(narrow.value)
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)


def test_a_mean_context_answers_for_an_uncertain_one_in_a_file(tmp_path):
    decision = rs.choose(COUNTS, UncertainContext(**MONEY, target_prevalence=0.1))
    loaded = rs.load_plan(decision.save(tmp_path / "plan.json"))
    assert loaded.context == decision.context
    assert loaded.verify(COUNTS).verified
