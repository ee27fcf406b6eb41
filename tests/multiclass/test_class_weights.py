"""Class weights: the searches against trying everything, and the decision that comes of them."""

import json
import warnings
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import minimize

import rocscope as rs
from rocscope.errors import InputError, LabelError, RocscopeWarning, ScoreError, ShapeError, StoredError
from rocscope.multiclass.class_weighting import (
    FORMAT,
    MANY_ROWS,
    NAMES,
    Objective,
    Problem,
    best_of_starts,
    coordinate_ascent,
    fit_recalibration,
    greedy,
    line_search,
)
from strategies import costly

COST = rs.multiclass.CostMatrix([[0, 1, 3], [2, 0, 1], [9, 4, 0]], classes=(0, 1, 2), rows="actual")
TARGETS = [*NAMES, COST]


@st.composite
def problems(draw, least=3, most=9, weighted=True):
    n = draw(st.integers(least, most))
    rows = st.lists(st.integers(0, 4), min_size=3, max_size=3).filter(any)
    counts = np.array(draw(st.lists(rows, min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    weight = (
        np.array(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)), dtype=float) if weighted else np.ones(n)
    )
    support = np.bincount(y, weight, 3)
    recall = draw(st.sampled_from([None, None, {0: 0.5}, 0.6]))
    target = Objective.of(draw(st.sampled_from(TARGETS)), support, (0, 1, 2), recall)
    return Problem(y, counts / counts.sum(axis=1, keepdims=True), weight, target)


def score_by_hand(problem, class_weight):
    """The definition of each objective, row by row."""
    predicted = [max(range(3), key=lambda c, p=p: class_weight[c] * p[c]) for p in problem.proba]
    rows = list(zip(problem.y, predicted, problem.weight, strict=True))
    hits = [sum(w for y, z, w in rows if y == z == c) for c in range(3)]
    total = [sum(w for y, _, w in rows if y == c) for c in range(3)]
    called = [sum(w for _, z, w in rows if z == c) for c in range(3)]
    least = problem.objective.least_recall * problem.objective.support - 1e-9 * problem.objective.support
    lacking = sum(max(0, needed - hit) for needed, hit in zip(least, hits, strict=True))
    present = [c for c in range(3) if total[c]]
    value = {
        "accuracy": sum(hits),
        "balanced_accuracy": np.mean([hits[c] / total[c] for c in present]),
        "macro_f1": np.mean([2 * hits[c] / (total[c] + called[c]) for c in present]),
        "cost": -sum(w * COST.cost[y, z] for y, z, w in rows),
    }
    return -lacking, value[problem.objective.name]


def all_weights_of(problem, class_weight, cls):
    """One weight from each range in which nothing changes."""
    others = [c for c in range(3) if c != cls]
    sides = {
        max(class_weight[c] * p[c] for c in others) / p[cls]
        for p in problem.proba
        if p[cls] and any(p[c] for c in others)
    }
    sides = sorted(sides)
    between = [np.sqrt(a * b) for a, b in pairwise(sides) if b > a * (1 + 1e-9)]
    return [sides[0] / 2, *between, sides[-1] * 2] if sides else [class_weight[cls]]


@given(problems(), st.integers(0, 2), st.lists(st.sampled_from([0.5, 1.0, 1.7]), min_size=3, max_size=3))
def test_scores_are_what_the_objectives_say(problem, cls, class_weight):
    ours, expected = problem.score(np.array(class_weight)), score_by_hand(problem, class_weight)
    assert ours == (pytest.approx(expected[0], abs=1e-6), pytest.approx(expected[1]))


@given(problems(), st.integers(0, 2), st.lists(st.sampled_from([0.5, 1.0, 1.7]), min_size=3, max_size=3))
def test_the_line_search_equals_trying_every_weight(problem, cls, class_weight):
    class_weight = np.array(class_weight)
    tried = []
    for weight in all_weights_of(problem, class_weight, cls):
        moved = class_weight.copy()
        moved[cls] = weight
        tried.append(problem.score(moved))
    found = problem.score(line_search(problem, class_weight, cls))
    best = max(tried, key=lambda score: (round(score[0], 6), score[1]))
    assert found == (pytest.approx(best[0], abs=1e-6), pytest.approx(best[1], abs=1e-12))


@costly
@given(problems(most=20))
def test_equal_and_greedy_weights_are_never_better_than_coordinate_ascent(problem):
    ones, by_greed = problem.score(np.ones(3)), problem.score(greedy(problem))
    one_start = problem.score(coordinate_ascent(problem, np.ones(3)))
    found = problem.score(best_of_starts(problem, [greedy(problem)]))
    assert one_start >= ones
    assert found >= max(ones, by_greed, one_start)


@costly
@given(problems(most=6))
def test_no_weights_of_a_fine_grid_are_better_along_any_axis(problem):
    weight = best_of_starts(problem, [])
    score = problem.score(weight)
    for cls, factor in product(range(3), np.exp(np.linspace(-3, 3, 41))):
        moved = weight.copy()
        moved[cls] *= factor
        lacking, value = problem.score(moved)
        assert (round(lacking, 6), value) <= (round(score[0], 6), score[1] + 1e-9) or is_on_a_tie(problem, moved)


def is_on_a_tie(problem, weight):
    top = np.sort(problem.proba * weight, axis=1)
    return np.isclose(top[:, -1], top[:, -2], rtol=1e-9).any()


@costly
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 6)), min_size=2, max_size=30))
def test_two_classes_are_the_best_threshold_of_the_binary_side(rows):
    y, score = np.array(rows).T
    if y.min() == y.max() or set(score) & {0, 6}:
        return
    proba = np.column_stack([6 - score, score]) / 6
    best = rs.choose(rs.ThresholdCounts.from_scores(y, proba[:, 1])).point.accuracy
    for method in ("greedy", "coordinate"):
        assert rs.multiclass.class_weights(y, proba, method=method).value == pytest.approx(best)


def rows_of(n=600, k=3, seed=0, bias=(1.0, 3.0, 0.5), sharpness=2.0):
    """Labels drawn from known probabilities, and those probabilities after a known distortion."""
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.ones(k), n)
    y = np.array([rng.choice(k, p=p) for p in truth])
    distorted = truth**sharpness * np.array(bias)
    return y, distorted / distorted.sum(axis=1, keepdims=True), truth


def test_recalibration_undoes_a_known_distortion():
    y, distorted, truth = rows_of(n=20_000)
    weight, temperature = fit_recalibration(y, distorted, np.ones(y.size))
    assert temperature == pytest.approx(2.0, rel=0.05)
    np.testing.assert_allclose(weight / weight[0], [1, 1 / 3, 2], rtol=0.15)
    decision = rs.multiclass.class_weights(y, distorted, classes=range(3))
    np.testing.assert_allclose(decision.recalibrated(distorted), truth, atol=0.03)
    assert (decision.method, decision.value > decision.value_at_one) == ("smooth", True)


def test_recalibration_against_a_slow_minimum():
    y, proba, _ = rows_of(n=80)

    def loss(parameters):
        total = 0.0
        for label, p in zip(y, proba, strict=True):
            score = np.log(p) * parameters[0] + parameters[1:]
            total -= score[label] - np.log(np.exp(score).sum())
        return total + (parameters[1:] ** 2).sum() / 200

    slow = minimize(
        loss, [1.0, 0, 0, 0], method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-10, "maxiter": 4000}
    )
    weight, temperature = fit_recalibration(y, proba, np.ones(80))
    assert 1 / temperature == pytest.approx(slow.x[0], rel=1e-3)
    np.testing.assert_allclose(np.log(weight) / temperature, slow.x[1:] - slow.x[1:].mean(), atol=2e-3)


def test_recalibration_survives_zeros_and_absent_classes():
    y = np.array([0, 0, 1, 1, 0])
    proba = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 0], [0.2, 0.3, 0.5], [0.6, 0.4, 0]])
    weight, temperature = fit_recalibration(y, proba, np.ones(5))
    assert np.isfinite(np.log(weight) / temperature).all()
    assert (rs.multiclass.class_weights(y, proba, classes=range(3)).predict(proba) != 2).all()


def test_weights_stay_finite_where_probabilities_point_the_wrong_way():
    y = np.array([0] * 40 + [1] * 10)
    proba = np.array([[0.05, 0.95]] * 40 + [[0.95, 0.05]] * 10)  # no temperature mends it: all are called 0
    decision = rs.multiclass.class_weights(y, proba, classes=range(2))
    assert np.isfinite(decision.weight).all()
    assert (decision.value, decision.value_at_one) == (0.8, 0.0)
    assert np.isfinite(
        rs.multiclass.class_weights(y, proba, objective="balanced_accuracy", classes=range(2)).weight
    ).all()


@pytest.mark.parametrize("target", ["accuracy", "balanced_accuracy", COST])
def test_the_smooth_method_decides_by_bayes_rule(target):
    y, proba, _ = rows_of()
    decision = rs.multiclass.class_weights(y, proba, objective=target, classes=range(3))
    calibrated = decision.recalibrated(proba)
    share = np.bincount(y) / y.size
    expected = {
        "accuracy": lambda p: p.argmax(axis=1),
        # Recalibrated probabilities of this decision are those of a mix with equal shares.
        "balanced_accuracy": lambda p: p.argmax(axis=1),
    }
    if target is COST:
        np.testing.assert_array_equal(decision.predict(proba), COST.decide(calibrated))
    else:
        np.testing.assert_array_equal(decision.predict(proba), expected[target](calibrated))
    if target == "balanced_accuracy":
        plain = rs.multiclass.class_weights(y, proba, classes=range(3)).recalibrated(proba)
        adjusted = plain / share
        np.testing.assert_allclose(calibrated, adjusted / adjusted.sum(axis=1, keepdims=True), atol=1e-9)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("method", ["auto", "coordinate", "greedy"])
def test_the_decision_reports_what_it_predicts(target, method):
    y, proba, _ = rows_of(n=200)
    decision = rs.multiclass.class_weights(y, proba, objective=target, method=method, classes=range(3))
    matrix = rs.multiclass.ConfusionMatrix.from_labels(y, decision.predict(proba), classes=range(3))
    assert matrix == decision.confusion
    equal = rs.multiclass.ConfusionMatrix.from_labels(y, proba.argmax(axis=1), classes=range(3))
    value = {
        "accuracy": lambda m: m.accuracy,
        "balanced_accuracy": lambda m: m.balanced_accuracy.value,
        "macro_f1": lambda m: m.macro("f_score").value,
    }.get(target if isinstance(target, str) else "", COST.expected)
    assert decision.value == pytest.approx(value(matrix))
    assert decision.value_at_one == pytest.approx(value(equal))
    assert np.prod(decision.weight) == pytest.approx(1)


@pytest.mark.parametrize("method", ["smooth", "coordinate", "greedy"])
def test_integer_weights_are_repeated_rows(method):
    y, proba, _ = rows_of(n=60)
    weight = np.random.default_rng(1).integers(0, 4, y.size)
    counted = {"sample_weight": weight, "weights": "frequency", "classes": range(3)}
    weighted = rs.multiclass.class_weights(rs.multiclass.MulticlassPredictions(y, proba, **counted), method=method)
    repeated = rs.multiclass.class_weights(
        np.repeat(y, weight), np.repeat(proba, weight, axis=0), method=method, classes=range(3)
    )
    np.testing.assert_allclose(weighted.weight, repeated.weight, rtol=1e-4)
    assert weighted.confusion == repeated.confusion


def test_least_recalls_are_met_or_said_to_be_out_of_reach():
    y, proba, _ = rows_of()
    free = rs.multiclass.class_weights(y, proba, method="coordinate", classes=range(3))
    bound = rs.multiclass.class_weights(y, proba, min_recall={2: 0.8}, classes=range(3))
    assert free.confusion.recall[2] < 0.8 <= bound.confusion.recall[2]
    assert bound.method == "coordinate"
    assert bound.value <= free.value
    with pytest.warns(RocscopeWarning, match="no class weights satisfy all constraints"):
        rs.multiclass.class_weights(y, proba, min_recall=1.0, classes=range(3))


def test_bounds_on_averages_are_met_by_their_definition():
    y, proba, _ = rows_of()
    free = rs.multiclass.class_weights(y, proba, method="coordinate", classes=range(3))
    bound = free.confusion.macro("precision").value + 0.01
    decision = rs.multiclass.class_weights(y, proba, subject_to=f"macro_precision >= {bound}", classes=range(3))
    hits, called = np.diag(decision.confusion.counts), decision.confusion.counts.sum(axis=0)
    assert np.mean(hits / called) >= bound
    assert decision.method == "coordinate" and decision.value <= free.value
    recalled = rs.multiclass.class_weights(y, proba, subject_to="balanced_accuracy >= .5", classes=range(3))
    assert recalled.confusion.balanced_accuracy.value >= 0.5
    with pytest.warns(RocscopeWarning, match="satisfy all constraints"):
        rs.multiclass.class_weights(y, proba, subject_to="error < 0", classes=range(3))


@pytest.mark.parametrize("text", ["kappa > .5", "brier < .1", "macro_f1 > .5 at 95%", "macro_f1(a) > .5"])
def test_other_bounds_are_refused(text):
    y, proba, _ = rows_of(n=30)
    with pytest.raises(InputError, match="a bound on an average over classes"):
        rs.multiclass.class_weights(y, proba, subject_to=text, classes=range(3))


@pytest.mark.parametrize("objective", ["accuracy", COST])
def test_of_several_models_the_best_is_taken(objective):
    y, proba, _ = rows_of(n=300)
    models = {"worse": np.roll(proba, 1, axis=0), "better": proba}
    preds = rs.multiclass.MulticlassPredictions(y, models, decisions={"crisp": y}, classes=range(3))
    chosen = rs.multiclass.class_weights(preds, objective=objective)
    assert chosen.model == "better"
    assert chosen.to_dict() == rs.multiclass.class_weights(preds, model="better", objective=objective).to_dict()
    with pytest.raises(ScoreError, match="predicted labels only"):
        rs.multiclass.class_weights(preds.select(models=["crisp"]))


def test_a_recall_that_is_met_exactly_is_met():
    y, proba = [0, 0, 0, 1, 1, 1], [[0.9, 0.1]] * 2 + [[0.2, 0.8]] + [[0.4, 0.6]] * 3
    decision = rs.multiclass.class_weights(y, proba, min_recall={0: 2 / 3}, classes=[0, 1])
    assert decision.confusion.recall.tolist() == [2 / 3, 1]


def test_many_rows_start_from_a_part_and_are_never_worse_than_their_starts():
    y, proba, _ = rows_of(n=200)
    many = MANY_ROWS // 200 + 5
    y, proba = np.tile(y, many), np.tile(proba, (many, 1))
    equal, best = (proba.argmax(axis=1) == y).mean(), rs.multiclass.class_weights(y, proba, method="coordinate")
    by_greed = rs.multiclass.class_weights(y, proba, method="greedy")
    assert best.value >= max(equal, by_greed.value)


def test_labels_are_predicted_by_name_and_cases_left_undecided():
    names = np.array(["low", "mid", "high"])
    y, proba, _ = rows_of()
    cost = rs.multiclass.CostMatrix([[0, 1, 3], [2, 0, 1], [9, 4, 0]], classes=names, rows="actual")
    decision = rs.multiclass.class_weights(names[y], proba, objective=cost, classes=names)
    undecided = decision.predict(proba, reject_cost=0.3)
    risk = cost.risks(decision.recalibrated(proba)).min(axis=1)
    assert [label is None for label in undecided] == (risk > 0.3).tolist()
    assert set(decision.predict(proba)) <= set(names)
    with pytest.raises(InputError, match="objective=CostMatrix"):
        rs.multiclass.class_weights(names[y], proba, classes=names).predict(proba, reject_cost=0.3)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"objective": "macro-f1"}, InputError, "did you mean 'macro_f1'"),
        ({"method": "ascent"}, InputError, "'coordinate'"),
        ({"objective": "macro_f1", "method": "smooth"}, InputError, "use method='coordinate'"),
        ({"min_recall": 0.5, "method": "smooth"}, InputError, "use method='coordinate'"),
        ({"min_recall": {3: 0.5}}, LabelError, "min_recall"),
        ({"min_recall": 50}, InputError, "shares from 0 to 1"),
        (
            {"objective": rs.multiclass.CostMatrix.errors("abc")},
            LabelError,
            "0, 1, 2, got the classes 'a', 'b', 'c'",
        ),
    ],
)
def test_bad_input_is_named(options, error, message):
    y, proba, _ = rows_of(n=30)
    with pytest.raises(error, match=message):
        rs.multiclass.class_weights(y, proba, classes=range(3), **options)


def test_a_decision_refuses_what_are_no_probabilities():
    y, proba, _ = rows_of(n=30)
    decision = rs.multiclass.class_weights(y, proba, classes=range(3))
    with pytest.raises(ShapeError, match="30 × 3"):
        decision.predict(proba[:, :2])
    with pytest.raises(ScoreError, match="sum to 1"):
        decision.predict(2 * proba)


def test_results_describe_themselves():
    y, proba, _ = rows_of(n=40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        decision = rs.multiclass.class_weights(np.array(["<a>", "b", "c"])[y], proba, classes=["<a>", "b", "c"])
    assert repr(decision).startswith("ClassWeights({'<a>': ")
    assert "<a>" not in decision._repr_html_()
    assert json.loads(json.dumps(decision.to_dict()))["method"] == "smooth"


@pytest.mark.parametrize("objective", ["accuracy", COST])
def test_a_decision_that_was_saved_predicts_the_same(tmp_path, objective):
    y, proba, _ = rows_of(n=80)
    decision = rs.multiclass.class_weights(y, proba, objective=objective, classes=range(3))
    loaded = rs.multiclass.ClassWeights.load(decision.save(tmp_path / "weights.json"))
    assert loaded.to_dict() == decision.to_dict()
    np.testing.assert_array_equal(loaded.predict(proba), decision.predict(proba))
    with pytest.raises(InputError, match="exists already"):
        decision.save(tmp_path / "weights.json", force=False)
    decision.save(tmp_path / "weights.json")


def test_a_file_that_was_changed_or_is_none_is_refused(tmp_path):
    y, proba, _ = rows_of(n=80)
    path = rs.multiclass.class_weights(y, proba, classes=range(3)).save(tmp_path / "weights.json")
    for before, after, said in (
        ("[0, 1, 2]", "[0, 1, 3]", "changed later"),
        ("temperature", "temperatur", "got nothing"),
    ):
        changed = tmp_path / "changed.json"
        changed.write_text("".join(path.read_text().split()).replace(before.replace(" ", ""), after.replace(" ", "")))
        with pytest.raises(StoredError, match=said):
            rs.multiclass.ClassWeights.load(changed)
    with pytest.raises(StoredError, match="a decision file"):
        rs.multiclass.ClassWeights.load(tmp_path / "nothing.json")
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(StoredError, match="without this entry"):
        rs.multiclass.ClassWeights.load(tmp_path / "other.json")


def test_a_sealed_file_without_a_field_is_refused(tmp_path):
    y, proba, _ = rows_of(n=80)
    content = rs.multiclass.class_weights(y, proba, classes=range(3)).to_dict()
    del content["weight"]
    (tmp_path / "part.json").write_text(FORMAT.text(content))
    with pytest.raises(StoredError, match="weight"):
        rs.multiclass.ClassWeights.load(tmp_path / "part.json")


def test_classes_that_json_cannot_hold_are_not_saved(tmp_path):
    y, proba, _ = rows_of(n=80)
    names = [("a",), ("b",), ("c",)]
    column = np.empty(80, dtype=object)
    column[:] = [names[label] for label in y]
    classes = np.empty(3, dtype=object)
    classes[:] = names
    with pytest.raises(InputError, match="JSON files cannot contain"):
        rs.multiclass.class_weights(column, proba, classes=classes).save(tmp_path / "weights.json")
