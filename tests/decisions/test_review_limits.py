"""Reviews with a minimum sensitivity, a capacity for each action or amounts, and limits for weighted rows."""

import itertools

import numpy as np
import pytest
from scipy import optimize, stats

import rocscope as rs
from rocscope import Context, Predictions, Review, ThresholdCounts
from rocscope.decisions import act_by_row
from rocscope.errors import InputError, WeightError


def lowest_cost(counts, context, review, population, most_acted, least_tpr):
    """Solve the linear program over the shares of each score that are acted on and reviewed, with all four costs."""
    pos, neg = counts.pos / counts.n_pos, counts.neg / counts.n_neg
    share = counts.prevalence if context.target_prevalence is None else context.target_prevalence
    pos, neg, size = population * share * pos, population * (1 - share) * neg, len(counts)
    cost = context.costs
    of_review = review.costs(cost)
    act = pos * (cost["tp"] - cost["fn"]) + neg * (cost["fp"] - cost["tn"])
    look = pos * (of_review[0] - cost["fn"]) + neg * (of_review[1] - cost["tn"])
    none, cases = np.zeros(size), pos + neg
    rows, most = [np.append(-pos, -pos)], [-least_tpr * pos.sum()]
    if most_acted is not None:
        rows, most = [*rows, np.append(cases, none)], [*most, most_acted]
    if review.capacity is not None:
        rows, most = [*rows, np.append(none, cases)], [*most, review.capacity]
    for i in range(size):
        one = np.eye(size)[i]
        rows, most = [*rows, np.append(one, one)], [*most, 1]
        if i:
            # A lower score is neither acted on nor treated at all with a larger share.
            fall = one - np.eye(size)[i - 1]
            rows, most = [*rows, np.append(fall, none), np.append(fall, fall)], [*most, 0, 0]
    return optimize.linprog(np.append(act, look), A_ub=np.array(rows), b_ub=most, bounds=(0, 1)).fun


@pytest.mark.parametrize("seed", range(12))
def test_a_review_within_limits_is_the_optimum_of_a_linear_program(seed):
    rng = np.random.default_rng(seed)
    levels = int(rng.integers(3, 9))
    counts = ThresholdCounts(np.arange(levels, 0, -1), *rng.integers(1, 9, (2, levels)))
    target = None if seed % 3 else 0.2
    context = Context(target, cost_fp=rng.integers(2, 6), cost_fn=rng.integers(6, 15), cost_tp=1, cost_tn=-0.5)
    capacity = None if seed % 4 == 3 else float(rng.integers(5, 40))
    reader = (1.0, 1.0) if seed % 2 else (0.9, 0.95)
    review = Review(0.5, capacity, *reader)
    most_acted = None if seed % 4 == 2 else float(rng.integers(30, 60))
    actions = review.actions(context, 100, most_acted)
    expected = lowest_cost(counts, context, review, 100, most_acted, 0)
    plan = rs.allocate(counts, actions=actions)
    assert -plan.profit == pytest.approx(expected, abs=1e-7)
    if most_acted is None or capacity is None:
        least = 0.9
        plan = rs.allocate(counts, actions=actions, subject_to=f"tpr >= {least}")
        assert -plan.profit == pytest.approx(lowest_cost(counts, context, review, 100, most_acted, least), abs=1e-6)
        assert plan.places[0].tpr[0] >= least - 1e-9
    assert most_acted is None or plan.cases["act"].sum() <= most_acted + 1e-6
    assert capacity is None or plan.cases["review"].sum() <= capacity + 1e-6


def test_without_limits_it_is_the_choice_with_a_review():
    counts = ThresholdCounts([4, 3, 2, 1], [9, 6, 4, 1], [1, 4, 8, 17])
    context, review = Context(cost_fp=4, cost_fn=9, cost_tp=1), Review(0.75, 12, 0.95, 0.9)
    decision = rs.choose(counts, context, review=review)
    plan = rs.allocate(counts, actions=review.actions(context, counts.n))
    assert -plan.profit == pytest.approx(counts.n * (decision.expected_cost - decision.treat_none_cost), abs=1e-9)


@pytest.mark.parametrize(
    ("options", "cases"),
    [
        ({"subject_to": "tpr >= .9"}, 20),
        ({"randomized": True}, 20),
        ({"subject_to": "cases <= 3", "population": 90}, 90),
    ],
)
def test_the_refusal_of_a_constraint_names_the_call_that_answers(options, cases):
    counts = ThresholdCounts([2, 1], [6, 4], [3, 7])
    call = rf"allocate\(data, actions=review.actions\(context, {cases}\), subject_to=…\)"
    with pytest.raises(InputError, match=call):
        rs.choose(counts, Context(), review=Review(0.1), **options)


@pytest.mark.parametrize("capacity", [None, 0, 2])
def test_amounts_with_a_review_are_decided_by_row(capacity):
    """Brute force over all actions of seven rows, with at most as many reviews as there is room for."""
    rng = np.random.default_rng(5)
    p, amount = rng.random(7), rng.integers(1, 30, 7)
    context, review = Context(cost_fp=6, cost_fn="amount", cost_tp=1), Review(1, capacity, 0.9, 0.95)
    costs = {
        "act": p * 1 + (1 - p) * 6,
        "leave": p * amount,
        "review": 1 + p * (0.9 * 1 + 0.1 * amount) + (1 - p) * 0.05 * 6,
    }
    best = min(
        sum(costs[action][i] for i, action in enumerate(actions))
        for actions in itertools.product(costs, repeat=7)
        if capacity is None or actions.count("review") <= capacity
    )
    actions = act_by_row(p, context, {"amount": amount}, review=review)
    assert sum(costs[action][i] for i, action in enumerate(actions.tolist())) == pytest.approx(best)
    assert len(set(actions.tolist())) > 1
    rows = Predictions(rng.random(7) < 0.5, p, columns={"amount": amount})
    with pytest.raises(InputError, match=r"act_by_row\(probability, context, columns, review=…\) to decide row by row"):
        rs.choose(rows, context, review=review)


def broken(rng, thinned):
    """Return whether the true tpr of a threshold with a limit is below .8, in a sample with too many easy positives.

    Positives are easy in 30% of the population and in 80% of the sample, so that their weights are .375 and 3.5.
    """
    n = 600
    positive, easy = rng.random(n) < 0.7, rng.random(n) < 0.8
    weight = np.where(positive, np.where(easy, 0.3 / 0.8, 0.7 / 0.2), 1.0)
    score = rng.normal(np.where(positive, np.where(easy, 2, 0.5), 0))
    kept = rng.random(n) < weight / 3.5 if thinned else np.ones(n, bool)
    rows = Predictions(positive[kept], score[kept])
    threshold = rs.choose(rows, Context(cost_fp=9), subject_to="tpr >= .8 at 95%").threshold
    return 0.3 * stats.norm.sf(threshold - 2) + 0.7 * stats.norm.sf(threshold - 0.5) < 0.8


@pytest.mark.parametrize("repeats", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_rows_kept_in_proportion_to_their_weights_have_a_valid_limit(repeats):
    rng = np.random.default_rng(1)
    rows = Predictions([1, 0, 1, 0], [4, 3, 2, 1], sample_weight=[0.5, 1.5, 1, 1])
    with pytest.raises(
        WeightError, match=r"keep each row with the probability w/m \(w: its weight, m: the largest possible weight\)"
    ):
        rs.choose(rows, Context(), subject_to="tpr >= .5 at 95%")
    misses = np.mean([broken(rng, thinned=True) for _ in range(repeats)])
    assert misses <= 0.05 + 3 * (0.05 * 0.95 / repeats) ** 0.5
    assert np.mean([broken(rng, thinned=False) for _ in range(20)]) > 0.9
