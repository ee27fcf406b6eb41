"""Cost matrices, decisions, rejection and comparisons of costs, against sums made row by row."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rocscope as rs
from rocscope.errors import InputError, LabelError, RocscopeWarning, ShapeError
from rocscope.multiclass.costs import REJECTED, compare_multiclass_costs, reject_curve, shift_prior

NAMES = ["low", "medium", "high"]
# Hernández-Orallo 2004, "Extension to More than Two Classes": both have the predicted class in rows.
COST = [[0, 5, 2], [200, -2000, 10], [10, 1, -15]]
COUNTS = [[20, 0, 13], [5, 15, 4], [4, 7, 60]]
SHARED = Path(__file__).parents[2].parent / "shared" / "worked_examples.json"

matrices = st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=3, max_size=3)


def with_least_diagonal(numbers):
    cost = np.array(numbers)
    return cost - np.diag(np.diag(cost))


def rows_of(n=200, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    proba = rng.dirichlet(np.ones(3), n)
    proba[np.arange(n), y] += 0.3
    return y, proba / proba.sum(axis=1, keepdims=True)


def test_the_three_classes_of_hernandez_orallo():
    cost = rs.multiclass.CostMatrix(COST, classes=NAMES, rows="predicted")
    matrix = rs.multiclass.ConfusionMatrix(COUNTS, classes=NAMES, rows="predicted")
    assert cost.total(matrix) == -29787
    assert cost.expected(matrix) == -29787 / 128


@pytest.mark.skipif(not SHARED.exists(), reason="the worked examples are not beside this repository")
def test_the_worked_example_as_it_was_recomputed():
    example = json.loads(SHARED.read_text())["decisions"]["multiclass_cost"]
    cost = rs.multiclass.CostMatrix(example["cost"], classes=example["labels"], rows="predicted")
    counts = rs.multiclass.ConfusionMatrix(example["counts"], classes=example["labels"], rows="predicted")
    assert cost.total(counts) == example["total"]


def test_decimal_costs_are_read_as_decimals():
    cost = rs.multiclass.CostMatrix([[0, 0.1], [0.2, 0]], classes="ab", rows="actual")
    assert cost.total(rs.multiclass.ConfusionMatrix([[1, 3], [1, 1]], classes="ab", rows="actual")) == float(
        Fraction(1, 2)
    )


@given(matrices, matrices)
def test_total_and_expected_against_the_sum_over_cells(numbers, counts):
    counts = np.array(counts) + 1
    cost = rs.multiclass.CostMatrix(with_least_diagonal(numbers), classes="abc", rows="actual")
    matrix = rs.multiclass.ConfusionMatrix(counts, classes="abc", rows="actual")
    assert cost.total(matrix) == sum(cost.cost[i, j] * counts[i, j] for i in range(3) for j in range(3))
    assert cost.expected(matrix) == pytest.approx(cost.total(matrix) / counts.sum())
    own = dict(zip("abc", counts.sum(axis=1) / counts.sum(), strict=True))
    assert cost.expected(matrix, target_prior=own) == pytest.approx(cost.expected(matrix))


def test_target_prior_weighs_the_classes():
    cost = rs.multiclass.CostMatrix([[0, 1], [4, 0]], classes="ab", rows="actual")
    matrix = rs.multiclass.ConfusionMatrix([[90, 10], [5, 5]], classes="ab", rows="actual")
    assert cost.expected(matrix, target_prior={"a": 0.5, "b": 0.5}) == pytest.approx(0.5 * 0.1 + 0.5 * 0.5 * 4)
    empty = rs.multiclass.ConfusionMatrix([[9, 1], [0, 0]], classes="ab", rows="actual")
    assert np.isnan(cost.expected(empty, target_prior={"a": 0.5, "b": 0.5}))
    assert cost.expected(empty, target_prior={"a": 1, "b": 0}) == pytest.approx(0.1)
    with pytest.raises(InputError, match="target_prior: expected the classes 'a', 'b', got the classes 'a'"):
        cost.expected(matrix, target_prior={"a": 1})
    with pytest.raises(InputError, match="sum to 1"):
        cost.expected(matrix, target_prior={"a": 0.5, "b": 0.6})


@given(matrices, st.integers(0, 99), st.integers(0, 5))
def test_bayes_decisions_against_the_least_of_all_sums(numbers, seed, reject_cost):
    _, proba = rows_of(20, seed)
    cost = rs.multiclass.CostMatrix(with_least_diagonal(numbers), classes="abc", rows="actual")
    for p, chosen, or_not in zip(proba, cost.decide(proba), cost.decide(proba, reject_cost=reject_cost), strict=True):
        sums = [sum(p[i] * cost.cost[i, j] for i in range(3)) for j in range(3)]
        assert sums[chosen] == pytest.approx(min(sums))
        if min(sums) > reject_cost + 1e-9:
            assert or_not == REJECTED
        if min(sums) < reject_cost - 1e-9:
            assert or_not == chosen


def test_errors_of_one_cost_are_decided_as_the_most_probable():
    _, proba = rows_of()
    assert np.array_equal(rs.multiclass.CostMatrix.errors("abc").decide(proba), proba.argmax(axis=1))


def test_shifted_priors_are_bayes_rule():
    likelihood = np.array([[0.2, 0.5, 0.1], [0.7, 0.1, 0.3]])
    source, target = np.array([0.2, 0.3, 0.5]), np.array([0.6, 0.3, 0.1])
    before, after = (likelihood * prior / (likelihood * prior).sum(axis=1, keepdims=True) for prior in (source, target))
    np.testing.assert_allclose(shift_prior(before, source, target), after)
    with pytest.raises(InputError, match="above 0"):
        shift_prior(before, [0, 0.5, 0.5], target)


@given(st.integers(0, 99), st.floats(-0.2, 2.5))
def test_reject_curve_against_deciding_anew(seed, reject_cost):
    y, proba = rows_of(15, seed)
    weight = np.random.default_rng(seed).integers(1, 4, y.size)
    preds = rs.multiclass.MulticlassPredictions(
        y, np.round(proba * 8) + 1, classes=range(3), normalize=True, sample_weight=weight
    )
    cost = rs.multiclass.CostMatrix([[0, 1, 3], [2, 0, 1], [4, 4, 0]], classes=range(3), rows="actual")
    curve = reject_curve(preds, cost)
    decided = cost.decide(preds.probabilities(), reject_cost=reject_cost)
    paid = np.average(cost.of_rows(preds.y_true, decided, reject_cost=reject_cost), weights=weight)
    assert curve.at(reject_cost) == pytest.approx(paid)
    assert curve.rejected_at(reject_cost) == pytest.approx(np.average(decided == REJECTED, weights=weight))
    assert (np.diff(curve.rejected) <= 1e-12).all()
    assert curve.rejected[-1] == 0
    with pytest.raises(InputError, match="no area"):
        curve.area()


def test_orientation_must_be_said_unless_it_makes_no_difference():
    with pytest.raises(InputError, match=r"not symmetric.*rows='actual'"):
        rs.multiclass.CostMatrix(COST, classes=NAMES)
    turned = rs.multiclass.CostMatrix(np.transpose(COST), classes=NAMES, rows="actual")
    assert np.array_equal(turned.cost, rs.multiclass.CostMatrix(COST, classes=NAMES, rows="predicted").cost)
    assert rs.multiclass.CostMatrix([[0, 2], [2, 0]], classes="ab").cost.tolist() == [[0, 2], [2, 0]]


def test_a_matrix_that_is_written_the_other_way_round_is_noticed():
    cost = [[0, 5], [3, 4]]
    with pytest.raises(InputError, match=r"3 for a case of 'b' predicted as 'a', and cost 4.*check rows="):
        rs.multiclass.CostMatrix(cost, classes="ab", rows="actual")
    assert rs.multiclass.CostMatrix(cost, classes="ab", rows="predicted").cost.tolist() == [[0, 3], [5, 4]]
    with pytest.raises(InputError, match="from_benefits"):
        rs.multiclass.CostMatrix([[3, 0], [0, 1]], classes="ab")
    with pytest.raises(InputError, match="allow_rewarded_errors"):
        rs.multiclass.CostMatrix([[1, 0, 2], [0, 0, 1], [2, 1, 0]], classes="abc")
    assert rs.multiclass.CostMatrix([[1, 0], [0, 0]], classes="ab", allow_rewarded_errors=True).cost[0, 0] == 1


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: rs.multiclass.CostMatrix([[0, 1, 2], [1, 0, 2]], classes="ab", rows="actual"), ShapeError, "square"),
        (
            lambda: rs.multiclass.CostMatrix([[0, 1], [1, 0]], classes="abc"),
            ShapeError,
            r"3 rows and columns .one per class.",
        ),
        (
            lambda: rs.multiclass.CostMatrix([[0, 1], [1, 0]], classes="aa"),
            LabelError,
            "expected different class names",
        ),
        (lambda: rs.multiclass.CostMatrix([[0, np.inf], [1, 0]], classes="ab", rows="actual"), InputError, "finite"),
        (
            lambda: rs.multiclass.CostMatrix.errors("abc").decide([[0.5, 0.5]]),
            ShapeError,
            r"expected 1 × 3 numbers \(labels × classes\), got 1 × 2",
        ),
        (
            lambda: rs.multiclass.CostMatrix.errors("ab").decide([[0.5, 0.5]], reject_cost=np.nan),
            InputError,
            "finite cost",
        ),
        (
            lambda: rs.multiclass.CostMatrix.errors("ab").total(
                rs.multiclass.ConfusionMatrix([[1, 0], [0, 1]], classes="bc")
            ),
            LabelError,
            "cost matrix: expected the classes 'b', 'c', got the classes 'a', 'b'",
        ),
    ],
)
def test_bad_input_is_named(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_results_describe_themselves():
    cost = rs.multiclass.CostMatrix([[0, 1], [5, 0]], classes=["<a>", "b"], rows="actual")
    assert repr(cost) == "CostMatrix(classes=['<a>', 'b'], rows='actual', from 0 to 5)"
    assert "<a>" not in cost._repr_html_()
    assert json.loads(json.dumps(cost.to_dict()))["cost"] == [[0, 1], [5, 0]]


def two_models(n=150):
    y, first = rows_of(n, 1)
    _, second = rows_of(n, 2)
    return rs.multiclass.MulticlassPredictions(
        y, {"a": first, "b": first / 2 + second / 2}, decisions={"c": (y + (first[:, 0] > 0.2)) % 3}
    )


def test_comparison_of_costs_against_drawing_rows():
    preds = two_models()
    cost = rs.multiclass.CostMatrix([[0, 1, 3], [2, 0, 1], [4, 4, 0]], classes=range(3), rows="actual")
    result = compare_multiclass_costs(preds, cost)
    paid = {m: cost.of_rows(preds.y_true, cost.decide(preds.proba[m])) for m in ("a", "b")}
    paid["c"] = cost.of_rows(preds.y_true, preds.decisions["c"])
    rng = np.random.default_rng(5)
    for pair in result:
        difference = paid[pair.second] - paid[pair.first]
        drawn = [difference[rng.integers(0, len(preds), len(preds))].mean() for _ in range(4000)]
        assert pair.difference.value == pytest.approx(difference.mean())
        assert pair.difference.standard_error == pytest.approx(np.std(drawn), rel=0.06)
        low, high = np.quantile(drawn, [0.025, 0.975])
        assert (pair.difference.low, pair.difference.high) == (
            pytest.approx(low, abs=0.03),
            pytest.approx(high, abs=0.03),
        )
    spread = np.sqrt(np.diag(result.covariance))
    expected = [paid[m].std(ddof=1) / np.sqrt(len(preds)) for m in preds.models]
    np.testing.assert_allclose(spread, expected)


def test_reject_cost_and_most_probable_classes_in_a_comparison():
    preds = two_models()
    cost = rs.multiclass.CostMatrix.errors(range(3))
    with pytest.warns(RocscopeWarning, match="all rows have the same cost"):
        free = compare_multiclass_costs(preds, cost, reject_cost=0.0)
    assert free.estimates["a"].value == 0
    assert 0 < free.estimates["a"].high < 0.05
    assert free["a", "b"].p_value == 1
    plain = compare_multiclass_costs(preds, cost, decide=False)
    for model in preds.models:
        assert plain.estimates[model].value == pytest.approx(preds.confusion(model).error)
    with pytest.raises(InputError, match="two or more"):
        compare_multiclass_costs(preds.select(models=["a"]), cost)


def test_whole_weights_give_the_cost_of_repeated_rows_and_a_wider_interval():
    preds = two_models(40)
    weight = np.random.default_rng(0).integers(1, 4, 40)
    weighted = rs.multiclass.MulticlassPredictions(preds.y_true, preds.proba, classes=range(3), sample_weight=weight)
    repeated = rs.multiclass.MulticlassPredictions(
        np.repeat(preds.y_true, weight), {m: np.repeat(p, weight, axis=0) for m, p in preds.proba.items()}
    )
    cost = rs.multiclass.CostMatrix.errors(range(3))
    ours, theirs = (compare_multiclass_costs(data, cost)["a", "b"].difference for data in (weighted, repeated))
    assert ours.value == pytest.approx(theirs.value, rel=1e-12)
    assert ours.standard_error > 1.2 * theirs.standard_error, "40 rows, not 79"


def test_fractional_weights_go_along_with_their_rows():
    preds = two_models(60)
    weight = np.random.default_rng(0).random(60)
    weighted = rs.multiclass.MulticlassPredictions(preds.y_true, preds.proba, classes=range(3), sample_weight=weight)
    cost = rs.multiclass.CostMatrix.errors(range(3))
    pair = compare_multiclass_costs(weighted, cost)["a", "b"].difference
    wrong = [(preds.predicted(m) != preds.y_true).astype(float) for m in ("a", "b")]
    difference = wrong[1] - wrong[0]
    rng = np.random.default_rng(3)
    rows = (rng.integers(0, 60, 60) for _ in range(4000))
    drawn = [np.average(difference[r], weights=weight[r]) for r in rows]
    assert pair.value == pytest.approx(np.average(difference, weights=weight))
    assert pair.standard_error == pytest.approx(np.std(drawn), rel=0.06)
