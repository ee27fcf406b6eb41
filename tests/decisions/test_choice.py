"""choose: never beaten by any threshold of any model, at any costs."""

import json
from math import inf

import numpy as np
import pytest
from hypothesis import given, strategies as st

import oracle
import rocscope as rs
from rocscope import Context, Predictions, ThresholdCounts, choose
from rocscope.errors import InputError, OneClassError
from strategies import both_paths, costs, prevalences, samples, taking, whole_weights

contexts = st.builds(Context, prevalences, costs, costs, costs.map(lambda c: -c), costs.map(lambda c: -c))


def cost_of(point, context):
    return oracle.expected_cost(context, point.tpr, point.fpr, (point.tp + point.fn) / point.n)


@both_paths
@given(sample=samples(weight=whole_weights), data=st.data(), context=contexts)
def test_no_threshold_of_any_model_is_better(path, sample, data, context):
    other = data.draw(st.lists(st.integers(-3, 3), min_size=sample.y.size, max_size=sample.y.size))
    scores = {"a": sample.score, "b": other}
    with taking(path):
        decision = choose(Predictions(sample.y, scores, sample_weight=sample.weight), context)
    cases = {name: oracle.rows(sample.y, score, sample.weight) for name, score in scores.items()}
    minimum = min(cost_of(point, context) for rows in cases.values() for point in oracle.points(rows))
    chosen = oracle.at(cases[decision.model], decision.threshold)
    assert cost_of(chosen, context) == minimum
    assert (decision.point.tp, decision.point.fp) == (chosen.tp, chosen.fp)
    assert decision.expected_cost == pytest.approx(float(minimum), rel=1e-9, abs=1e-12)
    assert decision.default_cost >= decision.expected_cost - 1e-9


@given(sample=samples(weight=whole_weights))
def test_without_a_context_it_is_accuracy(sample):
    points = oracle.points(oracle.rows(sample.y, sample.score, sample.weight))
    best = oracle.best(points, lambda point: point.accuracy)
    decision = choose(sample.counts())
    assert decision.threshold == (best[0].threshold if best[0].fn or best[0].tn else -inf)
    assert decision.point.accuracy == float(best[0].accuracy)
    assert decision.model == "score"


def test_ties_go_to_fewer_positive_predictions_and_then_to_the_first_model():
    better, same = ThresholdCounts([2, 1], [1, 1], [0, 2]), ThresholdCounts([9, 8], [1, 1], [0, 2])
    wider = ThresholdCounts([2, 1], [2, 0], [1, 1])
    assert choose({"same": same, "better": better}).model == "same"
    assert choose({"wider": wider, "better": better}).model == "better"


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: choose({}), InputError, "expected at least one model, got an empty mapping"),
        (lambda: choose(ThresholdCounts([1], [1], [0])), OneClassError, "both classes, got no negatives"),
        (lambda: choose(ThresholdCounts([1], [1], [1]), Context(cost_fp=-1, cost_fn=-1)), InputError, "rewards errors"),
    ],
)
def test_refusals(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_a_decision_is_plain_data():
    decision = choose(ThresholdCounts.from_scores([0, 0, 1], [3, 2, 1]), Context(cost_fp=5))
    assert decision.threshold == np.inf
    plain = json.loads(json.dumps(decision.to_dict(), allow_nan=False))
    assert plain["threshold"] is None
    assert plain["point"]["fn"] == 1
    assert "\n" not in repr(decision)
    assert "<table>" in decision._repr_html_()
    assert rs.choose is choose


def test_labels_and_scores_are_taken_as_predictions_are():
    rows = rs.Predictions([1, 0], [0.9, 0.1])
    assert rs.choose([1, 0], [0.9, 0.1]).to_dict() == rs.choose(rows).to_dict()
