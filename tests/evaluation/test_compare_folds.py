"""Comparisons of learners over the folds of one data set."""

import json
from math import nan, sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

import rocscope as rs
from rocscope.errors import InputError, PairingError, ScoreError, ShapeError

MLXTEND = json.loads((Path(__file__).parents[1] / "reference" / "learner_comparison.json").read_text())["mlxtend"]
TWO = {"a": [[0.80, 0.75], [0.70, 0.75]], "b": [[0.90, 0.80], [0.85, 0.85]]}

folds = st.lists(st.tuples(*[st.integers(0, 9)] * 2), min_size=10, max_size=10).map(lambda rows: np.array(rows).T / 10)


def oracle(d, ratio):
    """Nadeau & Bengio's t and its p, written out."""
    n, mean = len(d), sum(d) / len(d)
    variance = sum((x - mean) ** 2 for x in d) / (n - 1)
    t = mean / sqrt(variance * (1 / n + ratio))
    return t, 2 * stats.t.sf(abs(t), n - 1)


def test_the_corrected_t_is_that_of_nadeau_and_bengio():
    found = rs.evaluation.compare_folds(TWO)["a", "b"]
    t, p = oracle([0.1, 0.05, 0.15, 0.1], 1)  # two-fold: as many rows test as train
    assert (found.statistic, found.p_value, found.df) == (pytest.approx(t), pytest.approx(p), 3)
    assert found.difference.value == pytest.approx(0.1)
    flat = {name: np.ravel(values) for name, values in TWO.items()}
    tenth = rs.evaluation.compare_folds(flat, test_share=0.1)["a", "b"]
    assert tenth.statistic == pytest.approx(oracle([0.1, 0.05, 0.15, 0.1], 1 / 9)[0])


@given(folds)
def test_the_interval_holds_0_where_the_test_keeps_it_and_mirrors(values):
    first, second = values.reshape(2, 2, 5)
    found = rs.evaluation.compare_folds({"a": first, "b": second})["a", "b"]
    mirrored = rs.evaluation.compare_folds({"b": second, "a": first})["a", "b"]
    assert mirrored.difference.value == -found.difference.value
    if np.ptp(first - second) > 1e-9:
        assert mirrored.p_value == pytest.approx(found.p_value)
        assert (0 in found.difference) == (found.p_value >= 0.05) or abs(found.p_value - 0.05) < 1e-9


def test_estimates_and_covariance_belong_to_the_difference():
    result = rs.evaluation.compare_folds(TWO)
    contrast = np.array([-1, 1])
    assert result["a", "b"].difference.standard_error == pytest.approx(sqrt(contrast @ result.covariance @ contrast))
    assert result.estimates["b"].value == pytest.approx(0.85)
    assert result.estimates["a"].standard_error == pytest.approx(sqrt(result.covariance[0, 0]))


def test_five_by_two_equals_mlxtend():
    scores = {"second": MLXTEND["second"], "first": MLXTEND["first"]}
    t = rs.evaluation.compare_folds(scores, method="5x2_t")["second", "first"]
    f = rs.evaluation.compare_folds(scores, method="5x2_f")["second", "first"]
    np.testing.assert_allclose([t.statistic, t.p_value], MLXTEND["t_and_p_of_first_minus_second"], rtol=1e-12)
    np.testing.assert_allclose([f.statistic, f.p_value], MLXTEND["f_and_p"], rtol=1e-12)
    assert t.difference.value == pytest.approx(np.mean(MLXTEND["first"]) - np.mean(MLXTEND["second"]))
    assert np.isnan(t.difference.low)
    assert "CI" not in repr(t)


def test_five_by_two_of_equal_and_of_always_different_models():
    scores = np.arange(10).reshape(5, 2) / 10
    equal = rs.evaluation.compare_folds({"a": scores, "b": scores}, method="5x2_f").pairs[0]
    assert (equal.statistic, equal.p_value) == (0, 1)
    shifted = rs.evaluation.compare_folds({"a": np.zeros((5, 2)), "b": np.full((5, 2), 0.5)}, method="5x2_f").pairs[0]
    assert (shifted.statistic, shifted.p_value) == (np.inf, 0)


@pytest.mark.parametrize("rope", [0, 0.01, 0.1])
@pytest.mark.parametrize("runs", [1, 2, 5])
def test_probabilities_are_those_of_baycomp(rope, runs):
    baycomp = pytest.importorskip("baycomp", reason="baycomp is not installed (rocscope[test])")
    rng = np.random.default_rng(runs)
    a, b = rng.normal(0.8, 0.05, 10), rng.normal(0.83, 0.05, 10)
    theirs = baycomp.CorrelatedTTest.probs(a, b, rope=rope, runs=runs)
    shape = (runs, 10 // runs)
    found = rs.evaluation.practical_equivalence({"a": a.reshape(shape), "b": b.reshape(shape)}, rope)["a", "b"]
    ours = (found.first_better, found.equivalent, found.second_better)
    np.testing.assert_allclose(ours, theirs if rope else (theirs[0], 0, theirs[1]), atol=1e-12)


def test_without_a_rope_the_probability_is_the_one_sided_p_value():
    found = rs.evaluation.practical_equivalence(TWO, 0)["a", "b"]
    assert found.first_better == pytest.approx(
        rs.evaluation.compare_folds(TWO, alternative="greater")["a", "b"].p_value
    )
    assert found.first_better + found.second_better == pytest.approx(1)


@pytest.mark.parametrize(
    ("shift", "rope", "expected"),
    [(0.0, 0, (0.5, 0, 0.5)), (0.0, 0.1, (0, 1, 0)), (0.25, 0.1, (0, 0, 1)), (-0.25, 0.1, (1, 0, 0))],
)
def test_probabilities_where_no_fold_differs_from_another(shift, rope, expected):
    scores = np.array([0.5, 0.25, 0.75])
    found = rs.evaluation.practical_equivalence({"a": scores, "b": scores + shift}, rope, test_share=0.5).pairs[0]
    assert (found.first_better, found.equivalent, found.second_better) == expected


def test_practical_results_show_themselves_and_are_safe_for_json():
    result = rs.evaluation.practical_equivalence(TWO, 0.01)
    assert "p=" not in repr(result)
    assert "b better" in result._repr_html_()
    content = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert content["pairs"][0]["rope"] == 0.01
    assert content["pairs"][0]["p_value"] is None


def predictions(seed=0, n=60, k=3):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1], n // 2))
    fold = np.empty(n, int)
    for cls in (0, 1):
        fold[y == cls] = np.arange(n // 2) % k
    scores = {"a": y + rng.normal(size=n), "b": rng.normal(size=n)}
    return rs.Predictions(y, scores, fold=fold), y, scores, fold


def test_predictions_give_the_metric_of_each_fold():
    preds, y, scores, fold = predictions()
    by_hand = {name: [[rs.auc(y[fold == f], s[fold == f]) for f in range(3)]] for name, s in scores.items()}
    assert (
        rs.evaluation.compare_folds(preds)["a", "b"].p_value == rs.evaluation.compare_folds(by_hand)["a", "b"].p_value
    )
    accuracy = {
        name: [[np.mean((s >= 0.5)[fold == f] == y[fold == f]) for f in range(3)]] for name, s in scores.items()
    }
    found = rs.evaluation.compare_folds(preds, metric="accuracy")
    assert found.quantity == "accuracy"
    assert found["a", "b"].difference.value == pytest.approx(np.subtract(accuracy["b"], accuracy["a"]).mean())
    partial = rs.evaluation.compare_folds(preds, metric=lambda part: rs.roc(part).partial_auc(max_fpr=0.5))
    assert partial.quantity == "metric"


def test_the_plain_t_test_finds_too_much_where_folds_share_rows_and_the_corrected_does_not():
    """Ten repeats of ten folds on labels that are noise, of two learners that differ in nothing but luck."""
    from sklearn.model_selection import RepeatedStratifiedKFold

    corrected = plain = 0
    runs = 60
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(60, 2)), rng.permutation(np.repeat([0, 1], 30))
        values = np.empty((2, 20))
        for i, (train, test) in enumerate(
            RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=seed).split(x, y)
        ):
            for model in (0, 1):  # nearest class mean on one attribute each
                centre = [x[train][y[train] == c, model].mean() for c in (0, 1)]
                said = abs(x[test, model] - centre[1]) < abs(x[test, model] - centre[0])
                values[model, i] = np.mean(said == y[test])
        scores = {"a": values[0].reshape(4, 5), "b": values[1].reshape(4, 5)}
        corrected += rs.evaluation.compare_folds(scores).pairs[0].p_value < 0.05
        plain += stats.ttest_rel(*values).pvalue < 0.05
    assert plain / runs > 0.2
    assert corrected / runs < 0.15


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: rs.evaluation.compare_folds({"a": [0.1, 0.2], "b": [0.1, 0.3]}), InputError, "0.1 for ten-fold"),
        (lambda: rs.evaluation.compare_folds({"a": [[0.1], [0.2]], "b": [[0.1], [0.3]]}), InputError, "test_share"),
        (
            lambda: rs.evaluation.compare_folds({"a": [0.1, 0.2]}, test_share=0.1),
            InputError,
            "two or more models, got 1",
        ),
        (lambda: rs.evaluation.compare_folds({}, test_share=0.1), InputError, "two or more models, got 0"),
        (
            lambda: rs.evaluation.compare_folds({"a": [0.1], "b": [0.2]}, test_share=0.1),
            InputError,
            "folds: expected two or more",
        ),
        (
            lambda: rs.evaluation.compare_folds({"a": [1, 2], "b": [1, 2, 3]}, test_share=0.1),
            PairingError,
            r"shape \(3,\) for 'b'",
        ),
        (
            lambda: rs.evaluation.compare_folds({"a": [1, 2], "b": [1, nan]}, test_share=0.1),
            ScoreError,
            r"the first at index \[1\]",
        ),
        (
            lambda: rs.evaluation.compare_folds({"a": ["x", "y"], "b": ["x", "y"]}, test_share=0.1),
            ScoreError,
            "values of type",
        ),
        (lambda: rs.evaluation.compare_folds({"a": 1, "b": 2}, test_share=0.1), ShapeError, "0 dimensions"),
        (lambda: rs.evaluation.compare_folds([1, 2]), InputError, "got a list"),
        (lambda: rs.evaluation.compare_folds(TWO, test_share=10), InputError, "a share above 0 and below 1"),
        (lambda: rs.evaluation.compare_folds(TWO, method="5x2_t"), ShapeError, "5 repeats of 2 folds"),
        (lambda: rs.evaluation.compare_folds(TWO, method="t"), InputError, "corrected_t"),
        (lambda: rs.evaluation.practical_equivalence(TWO, -1), InputError, "at least 0"),
        (lambda: rs.evaluation.compare_folds(rs.Predictions([0, 1], {"a": [1, 2], "b": [2, 1]})), InputError, "fold"),
        (lambda: rs.evaluation.compare_folds(predictions()[0], metric="acuracy"), InputError, "accuracy"),
    ],
)
def test_bad_input_is_told_in_one_line(call, error, words):
    with pytest.raises(error, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_one_sided_f_test_is_refused():
    scores = {"a": np.zeros((5, 2)), "b": np.ones((5, 2))}
    with pytest.raises(InputError, match="5x2_t"):
        rs.evaluation.compare_folds(scores, method="5x2_f", alternative="greater")


def test_a_fold_of_one_class_is_named():
    preds = rs.Predictions([0, 1, 0, 0], {"a": [1, 2, 3, 4], "b": [1, 2, 3, 4]}, fold=[0, 0, 1, 1])
    with pytest.raises(ScoreError, match="auc of 'a' in fold 1: expected a number, got nan"):
        rs.evaluation.compare_folds(preds)
    with pytest.raises(ScoreError, match="precision of 'a'"):
        rs.evaluation.compare_folds(
            rs.Predictions([0, 1, 0, 1], {"a": [0] * 4, "b": [1] * 4}, fold=[0, 0, 1, 1]), metric="precision"
        )


def evaluated(classes=2, **protocol):
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(0)
    y = np.tile(np.arange(classes), 30)
    X = rng.normal(size=(y.size, 2)) + y[:, np.newaxis]
    models = {"bayes": GaussianNB(), "stump": DecisionTreeClassifier(max_depth=1, random_state=0)}
    return rs.evaluate(models, X, y, progress=False, **protocol)


def test_what_evaluate_returns_says_its_share_of_test_rows():
    preds = evaluated(cv=5, repeats=3)
    found = rs.evaluation.compare_folds(preds)["bayes", "stump"]
    by_hand = {
        name: np.reshape([rs.auc(part.select(models=[name])) for part in preds.by_fold().values()], (3, 5))
        for name in preds.models
    }
    expected = rs.evaluation.compare_folds(by_hand, test_share=0.2)["bayes", "stump"]
    assert (found.statistic, found.df) == (pytest.approx(expected.statistic), 14)
    assert rs.evaluation.compare_folds(evaluated(cv=2, repeats=5), method="5x2_f").pairs[0].df == 5
    assert rs.evaluation.practical_equivalence(preds, 0.05).pairs[0].equivalent > 0


@pytest.mark.parametrize("protocol", [{"cv": "holdout", "repeats": 4}, {"cv": "out_of_bag", "repeats": 4}])
def test_a_share_that_predictions_do_not_say_must_be_given(protocol):
    preds = evaluated(**protocol)
    with pytest.raises(InputError, match="test_share"):
        rs.evaluation.compare_folds(preds)
    assert rs.evaluation.compare_folds(preds, test_share=0.25).pairs[0].df == 3


def test_more_than_two_classes_and_losses():
    preds = evaluated(classes=3, cv=5)
    found = rs.evaluation.compare_folds(preds, metric="accuracy")
    shares = [np.mean(part.predicted("bayes") == part.y_true) for part in preds.by_fold().values()]
    assert found.estimates["bayes"].value == pytest.approx(np.mean(shares))
    assert rs.evaluation.compare_folds(evaluated(cv=5), metric="brier").quantity == "brier"
