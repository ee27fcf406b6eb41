"""One best point: every function that names one names the same, and it is what trying every threshold finds.

The rule: lowest cost; among equals fewest predicted positive; then the model given first.
"""

import re
from fractions import Fraction
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import oracle
import rocscope as rs
from rocscope.core.predictions import Predictions
from rocscope.report.model import report_data

Y = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
SCORE = [0.9, 0.9, 0.6, 0.6, 0.6, 0.4, 0.4, 0.2, 0.2, 0.2]
FREE_ALARMS = rs.Context(cost_fp=0)
RIGHT = "trivial: at these costs all positive is right whatever the scores"


def cells(point):
    return point.threshold, point.tp, point.fp


def every_choice(preds, context):
    """Return cost, predicted positive, model's place, name, threshold and counts of every threshold of every model."""
    for place, model in enumerate(preds.models):
        rows = oracle.rows(preds.y_true, preds.scores[model], preds.sample_weight)
        share = oracle.total(oracle.positives(rows)) / oracle.total(rows)
        for point in oracle.points(rows):
            cost = oracle.expected_cost(context, point.tpr, point.fpr, share)
            threshold = -inf if point.fn == point.tn == 0 else point.threshold
            yield cost, point.tp + point.fp, place, model, (threshold, point.tp, point.fp)


def best_of(choices, model=None):
    """Return the model, and threshold and counts, of the best choice of all, or of one model."""
    return min(choice for choice in choices if model in (None, choice[3]))[3:]


@st.composite
def cases(draw):
    """Predictions of one to three models, with ties within and between them, some weighted."""
    n = draw(st.integers(2, 12))
    y = draw(st.lists(st.booleans(), min_size=n, max_size=n).filter(lambda labels: 0 < sum(labels) < n))
    column = st.lists(st.sampled_from([0.1, 0.2, 0.4, 0.5, 0.9]), min_size=n, max_size=n)
    scores = {name: draw(column) for name in "abc"[: draw(st.integers(1, 3))]}
    weight = draw(st.none() | st.lists(st.sampled_from([0.125, 0.5, 1, 3]), min_size=n, max_size=n))
    return Predictions(
        np.array(y, int), {name: np.array(score) for name, score in scores.items()}, sample_weight=weight
    )


errors = st.sampled_from([-1, 0, 0, 0.1, 0.3, 1, 1, 2, 20])
hits = st.sampled_from([-1, -0.5, 0, 0, 0, 0.1, 1])
prevalences = st.sampled_from([None, None, 0.005, 0.3, 0.5])
drawn = st.tuples(prevalences, errors, errors, hits, hits)
contexts = drawn.filter(lambda costs: costs[1] >= costs[4] or costs[2] >= costs[3]).map(
    lambda costs: rs.Context(*costs)
)
searched = settings(max_examples=min(2 * settings.default.max_examples, 2_000))


@searched
@given(preds=cases(), context=contexts)
def test_every_function_names_what_trying_every_threshold_finds(preds, context):
    choices = list(every_choice(preds, context))
    model, expected = best_of(choices)
    decision, best = rs.choose(preds, context), rs.hull(preds).best(context)
    assert (decision.model, cells(decision.point)) == (best.model, cells(best.point)) == (model, expected)
    assert any("whatever the scores" in note for note in decision.notes) == bool(context.always_right)
    for name in preds.models:
        counts, (_, alone) = preds.counts(name), best_of(choices, name)
        assert cells(rs.roc(counts).best(context)) == cells(rs.hull(counts).best(context).point) == alone
        if context.target_prevalence is None:
            assert cells(rs.lift_chart(counts).best(context)) == alone


@searched
@given(preds=cases(), context=contexts)
def test_the_report_and_the_summary_name_the_same(preds, context):
    choices, data = list(every_choice(preds, context)), report_data(preds, context=context, detailed=False)
    assert (data.decision.model, cells(data.decision.point)) == best_of(choices)
    for summary in data.models:
        assert cells(summary.best) == best_of(choices, summary.name)[1]
        assert (summary.best.tp, summary.best.fp) in set(zip(summary.points.tp, summary.points.fp, strict=True))


@searched
@given(preds=cases(), context=contexts, limit=st.sampled_from([0, 0.2, 0.5, 1]))
def test_under_a_constraint_the_rule_is_the_same(preds, context, limit):
    decision = rs.choose(preds, context, subject_to=f"fpr <= {limit}")
    n_neg = Fraction(decision.point.n_neg)
    allowed = [choice for choice in every_choice(preds, context) if choice[4][2] <= oracle.exact(limit) * n_neg]
    assert (decision.model, cells(decision.point)) == best_of(allowed)


@searched
@given(
    preds=cases(),
    cost=st.sampled_from([0, 0.1, 1, 2]),
    benefit=st.sampled_from([0, 0.1, 1, 3, 40]),
    rate=prevalences,
)
def test_a_campaign_is_planned_by_the_same_rule(preds, cost, benefit, rate):
    campaign = rs.Campaign(population=1000, unit_cost=cost, unit_benefit=benefit, response_rate=rate)
    model, expected = best_of(every_choice(preds, campaign.context))
    plan = rs.plan_campaign(preds, campaign)
    assert (plan.best.model, cells(plan.curve.point)) == (model, expected)
    assert plan.best.best.threshold == expected[0]


EXAMPLE = {
    "roc": lambda counts: rs.roc(counts).best(FREE_ALARMS),
    "lift chart": lambda counts: rs.lift_chart(counts).best(FREE_ALARMS),
    "hull": lambda counts: rs.hull(counts).best(FREE_ALARMS).point,
    "choose": lambda counts: rs.choose(counts, FREE_ALARMS).point,
    "choose among admissible": lambda counts: rs.choose(counts, FREE_ALARMS, subject_to="tpr >= 0.1").point,
    "summary": lambda counts: report_data(counts, context=FREE_ALARMS).models[0].best,
    "report": lambda counts: rs.Report(counts, context=FREE_ALARMS).data.decision.point,
    "profit": lambda counts: rs.profit(counts, rs.Campaign(population=9, unit_cost=0, unit_benefit=1)).point,
}


@pytest.mark.parametrize("door", EXAMPLE)
def test_where_false_alarms_cost_nothing_the_highest_threshold_that_finds_all_is_best(door):
    found = EXAMPLE[door](rs.ThresholdCounts.from_scores(Y, SCORE))
    assert found == rs.OperatingPoint(tp=4, fp=1, fn=0, tn=5, threshold=0.6)


def test_a_trivial_choice_says_that_the_action_is_right_whatever_the_scores():
    counts = rs.ThresholdCounts.from_scores(Y, SCORE)
    assert rs.choose(counts, FREE_ALARMS).notes == (RIGHT,)
    assert rs.choose(counts, FREE_ALARMS, subject_to="tpr >= 0.1").notes == (RIGHT,)
    (note,) = rs.choose(counts, FREE_ALARMS, subject_to="fpr <= 0.1").notes
    assert note == "at these costs all positive would be optimal, but the constraints exclude it"
    verdict = report_data(counts, context=FREE_ALARMS).verdict
    assert verdict.startswith("Best: score at threshold 0.6, ")
    assert "Trivial: at these costs all positive is right whatever the scores." in verdict


def test_the_summary_prints_a_table_and_a_verdict_that_agree(run, tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("y,s\n" + "".join(f"{label},{score}\n" for label, score in zip(Y, SCORE, strict=True)))
    code, out, err = run("summary", str(path), "--label", "y", "--score", "s", "--cost-fp", "0", "--md")
    assert code == 0
    header, _, row = (line.split("|") for line in out.splitlines()[:3])
    cell = dict(zip((name.strip() for name in header), (text.strip() for text in row), strict=True))
    assert (cell["best threshold"], cell["TPR"], cell["FPR"]) == ("0.6", "100.00%", "16.67%")
    code, out, err = run("summary", str(path), "--label", "y", "--score", "s", "--cost-fp", "0")
    assert re.search(r"Best: s at threshold 0\.6, .*Trivial: at these costs all positive is right", err, re.DOTALL)


def test_false_alarms_rewarded_and_hits_indifferent_is_the_one_case_below_the_hull():
    counts = rs.ThresholdCounts([4, 3, 2, 1], [1, 0, 2, 1], [1, 3, 0, 0])
    context = rs.Context(cost_fp=-1, cost_fn=0)
    expected = rs.OperatingPoint(tp=1, fp=4, fn=3, tn=0, threshold=3)
    assert rs.roc(counts).best(context) == rs.choose(counts, context).point == expected
    assert rs.hull(counts).best(context).point == expected
    assert rs.hull(counts).best(context) not in rs.hull(counts).vertices


def test_everybody_is_everybody_whatever_new_scores_are():
    counts = rs.ThresholdCounts.from_scores(Y, SCORE)
    context = rs.Context(cost_fn=50)
    first, second = rs.ThresholdCounts.from_scores([1, 0, 1], [3, 2, 1]), rs.Context(cost_fn=9)
    for sample, costs in ((first, second), (counts, rs.Context(cost_fp=-1))):
        assert rs.roc(sample).best(costs).threshold == rs.hull(sample).best(costs).threshold == -inf
        assert rs.choose(sample, costs).predict([-100.0]).tolist() == [True]
    assert rs.choose(counts, context).threshold == 0.6


def test_models_of_equal_choices_are_named_in_the_order_given():
    counts = rs.ThresholdCounts.from_scores(Y, SCORE)
    same = {"second": counts, "first": counts}
    decision = rs.choose(same, rs.Context())
    assert (decision.model, decision.tied) == ("second", ("first",))
    assert rs.hull(same).best(rs.Context()).model == "second"
