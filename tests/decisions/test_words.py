"""Words that others use: a campaign for a context, other names of metrics, and what the line of a decision shows."""

from math import inf

import pytest

import rocscope as rs
from rocscope import Campaign, Context, ThresholdCounts
from rocscope.decisions import Constraint
from rocscope.errors import InputError
from rocscope.figures.registry import FIGURES

COUNTS = ThresholdCounts([5, 4, 3], [60, 80, 10], [140, 320, 390])
MAILING = Campaign(1000, 1, 10)
SYNONYMS = {alias: each for each in FIGURES.values() if each.needs == "cells" for alias in each.aliases}
ROWS = ([1, 1, 0, 0, 1, 0], [0.9, 0.8, 0.7, 0.4, 0.3, 0.2])

OF_CONTEXT = {
    "choose": lambda context: rs.choose(COUNTS, context).to_dict(),
    "hull": lambda context: rs.hull(COUNTS).best(context),
    "expected cost": lambda context: rs.hull(COUNTS).expected_cost(context),
    "roc": lambda context: rs.roc(COUNTS).best(context),
    "line": lambda context: rs.roc(COUNTS).iso_performance_line(context),
    "lift chart": lambda context: rs.lift_chart(COUNTS).best(context),
    "lift line": lambda context: rs.lift_chart(COUNTS).iso_performance_line(context),
    "report": lambda context: rs.Report(COUNTS, context=context).data.decision.to_dict(),
    "summary": lambda context: rs.summary(rs.Predictions(*ROWS), context).to_dict(),
}


@pytest.mark.parametrize("name", OF_CONTEXT)
def test_a_campaign_is_a_context(name):
    assert repr(OF_CONTEXT[name](MAILING)) == repr(OF_CONTEXT[name](MAILING.context))


@pytest.mark.parametrize("name", OF_CONTEXT)
def test_anything_else_is_refused_in_one_line(name):
    with pytest.raises(InputError, match="context: expected a Context or a Campaign, got 20"):
        OF_CONTEXT[name](20)


@pytest.mark.parametrize("word", SYNONYMS)
def test_other_names_are_understood_and_answered_in_ours(word):
    figure = SYNONYMS[word]
    for form in (word, word.title(), word.replace(" ", "_")):
        if figure.sign:
            assert rs.choose(COUNTS, criterion=form).criterion == figure.name
        assert str(Constraint.parse(f"{form} >= 5%")) == f"{figure.name} >= 0.05"
        assert Constraint(form, ">=", 0.5).quantity == figure.name
    sensitive = rs.choose(COUNTS, subject_to="sensitivity >= .9")
    assert (sensitive.subject_to, sensitive.threshold) == (("tpr >= 0.9",), 4)


def test_the_line_shows_what_was_optimised_and_the_accuracy_at_the_target():
    decision = rs.choose(COUNTS, criterion="f1")
    assert f"f1={2 * decision.point.tp / (2 * decision.point.tp + decision.point.fp + decision.point.fn):.6g}" in repr(
        decision
    )
    there = rs.choose(COUNTS, Context(0.5))
    accuracy = (there.point.tpr + 1 - there.point.fpr) / 2
    assert f"accuracy={accuracy:.6g}" in repr(there)
    assert repr(there).count("accuracy") == 1


@pytest.mark.parametrize(
    ("context", "threshold", "words"), [(Context(cost_fn=50), -inf, "everybody"), (Context(), inf, "nobody")]
)
def test_the_two_ends_need_no_model(context, threshold, words):
    decision = rs.choose({"a": COUNTS}, context)
    assert decision.threshold == threshold
    assert repr(decision).startswith(f"Decision({words} positive, whatever the scores, expected_cost=")
    yes = words == "everybody"
    for scores in ([-1e9, 1e9], {"other": [1, 2]}, rs.Predictions([0, 1], {"b": [5, 6]})):
        assert decision.predict(scores).tolist() == [yes, yes]
    verdict = rs.Report({"a": COUNTS}, context=context).data.verdict
    assert verdict.startswith(f"Best: predict {words} positive, whatever the scores (threshold {threshold})")
    assert " a " not in verdict
