"""Confusion matrices against scikit-learn, hand tables and counts made row by row."""

import json
import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn import metrics as sk

import rocscope as rs
from rocscope.errors import InputError, LabelError, ShapeError, WeightError
from rocscope.multiclass import confusion as tables

# Pedreschi & Guidotti, "Multiclass Evaluation": TP-A a b / c TP-B d / e f TP-C
LETTERS = {"A": 100, "a": 1, "b": 2, "c": 4, "B": 200, "d": 8, "e": 16, "f": 32, "C": 400}
TABLE = [[100, 1, 2], [4, 200, 8], [16, 32, 400]]

rows = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40)


def test_binary_reductions_of_the_slides():
    matrix = rs.multiclass.ConfusionMatrix(TABLE, classes="ABC", rows="actual")
    n = LETTERS
    assert matrix.binary("A") == rs.OperatingPoint(
        tp=n["A"], fn=n["a"] + n["b"], fp=n["c"] + n["e"], tn=n["B"] + n["C"] + n["d"] + n["f"]
    )
    assert matrix.binary("B") == rs.OperatingPoint(
        tp=n["B"], fn=n["c"] + n["d"], fp=n["a"] + n["f"], tn=n["A"] + n["C"] + n["b"] + n["e"]
    )
    assert matrix.binary("C") == rs.OperatingPoint(
        tp=n["C"], fn=n["e"] + n["f"], fp=n["b"] + n["d"], tn=n["A"] + n["B"] + n["a"] + n["c"]
    )


@given(rows)
def test_against_scikit_learn(rows):
    y, predicted, weight = np.array(rows).T
    weight = weight + 1
    matrix = rs.multiclass.ConfusionMatrix.from_labels(y, predicted, classes=range(4), sample_weight=weight)
    options = {"labels": range(4), "sample_weight": weight}
    assert np.array_equal(matrix.counts, sk.confusion_matrix(y, predicted, **options))
    assert matrix.accuracy == pytest.approx(sk.accuracy_score(y, predicted, sample_weight=weight))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where a class does not occur
        undefined = {"zero_division": np.nan}
        precision, recall, f_half, support = sk.precision_recall_fscore_support(
            y, predicted, beta=0.5, **options, **undefined
        )
        jaccard = sk.jaccard_score(y, predicted, average=None, zero_division=0, **options)
        balanced = sk.balanced_accuracy_score(y, predicted, sample_weight=weight)
        kappas = [sk.cohen_kappa_score(y, predicted, weights=w, **options) for w in (None, "linear", "quadratic")]
        mcc = sk.matthews_corrcoef(y, predicted, sample_weight=weight)
    np.testing.assert_allclose(matrix.precision, precision)
    np.testing.assert_allclose(matrix.recall, recall)
    defined = ~np.isnan(matrix.f_score(0.5))
    np.testing.assert_allclose(matrix.f_score(0.5)[defined], f_half[defined])
    np.testing.assert_allclose(np.nan_to_num(matrix.jaccard), jaccard)
    assert np.array_equal(matrix.support, support)
    assert float(matrix.balanced_accuracy) == pytest.approx(balanced)
    for ours, theirs in zip((matrix.kappa(w) for w in (None, "linear", "quadratic")), kappas, strict=True):
        assert ours == pytest.approx(theirs, nan_ok=True)
    assert np.nan_to_num(matrix.mcc) == pytest.approx(mcc)  # 0 there stands for undefined


@given(rows)
def test_micro_averages_are_the_accuracy(rows):
    y, predicted, _ = np.array(rows).T
    matrix = rs.multiclass.ConfusionMatrix.from_labels(y, predicted, classes=range(4))
    for metric in ("precision", "recall", "f_score"):
        assert matrix.micro(metric) == pytest.approx(matrix.accuracy)
    assert float(matrix.weighted("recall")) == pytest.approx(matrix.accuracy)


@given(rows)
def test_integer_weights_are_repeated_rows(rows):
    y, predicted, weight = np.array(rows).T
    weight = weight + 1
    weighted = rs.multiclass.ConfusionMatrix.from_labels(y, predicted, classes=range(4), sample_weight=weight)
    repeated = rs.multiclass.ConfusionMatrix.from_labels(
        *(np.repeat(c, weight) for c in (y, predicted)), classes=range(4)
    )
    assert weighted == repeated
    assert weighted.counts.dtype == np.int64


@given(rows, rows)
def test_matrices_add_like_their_rows(first, second):
    parts = [
        rs.multiclass.ConfusionMatrix.from_labels(*np.array(part).T[:2], classes=range(4)) for part in (first, second)
    ]
    assert parts[0] + parts[1] == rs.multiclass.ConfusionMatrix.from_labels(
        *np.array(first + second).T[:2], classes=range(4)
    )


def test_averages_name_the_classes_that_have_no_value():
    matrix = rs.multiclass.ConfusionMatrix.from_labels(["a", "b", "a"], ["a", "a", "a"], classes="abc")
    recall = matrix.macro("recall")
    assert (recall.value, recall.over, recall.undefined) == (0.5, ("a", "b"), ("c",))
    precision = matrix.weighted("precision")
    assert (precision.value, precision.over, precision.undefined) == (pytest.approx(2 / 3), ("a",), ("b", "c"))
    assert "undefined: 'c'" in repr(matrix.balanced_accuracy)
    assert json.loads(json.dumps(recall.to_dict())) == {"value": 0.5, "over": ["a", "b"], "undefined": ["c"]}


def test_shares_of_rows_and_columns():
    matrix = rs.multiclass.ConfusionMatrix(TABLE, classes="ABC", rows="actual")
    np.testing.assert_allclose(matrix.row_shares.sum(axis=1), 1)
    np.testing.assert_allclose(matrix.column_shares.sum(axis=0), 1)
    np.testing.assert_allclose(np.diag(matrix.row_shares), matrix.recall)
    np.testing.assert_allclose(np.diag(matrix.column_shares), matrix.precision)


def test_one_definition_serves_a_table_and_a_stack_of_them():
    stack = np.random.default_rng(0).integers(0, 9, (50, 3, 3))
    for name, statistic in tables.STATISTICS.items():
        np.testing.assert_array_equal(statistic(stack), [statistic(table) for table in stack], err_msg=name)


def test_orientation_must_be_said_unless_it_makes_no_difference():
    with pytest.raises(InputError, match="rows='actual'"):
        rs.multiclass.ConfusionMatrix(TABLE)
    turned = rs.multiclass.ConfusionMatrix(np.transpose(TABLE), rows="predicted")
    assert turned == rs.multiclass.ConfusionMatrix(TABLE, rows="actual")
    assert rs.multiclass.ConfusionMatrix([[2, 1], [1, 3]]).accuracy == pytest.approx(5 / 7)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: rs.multiclass.ConfusionMatrix([[1, 2, 3], [4, 5, 6]], rows="actual"), ShapeError, "square"),
        (lambda: rs.multiclass.ConfusionMatrix([[1, -2], [3, 4]], rows="actual"), WeightError, "at least 0"),
        (
            lambda: rs.multiclass.ConfusionMatrix(TABLE, classes="AB", rows="actual"),
            ShapeError,
            "2 rows and columns .one per class.",
        ),
        (lambda: rs.multiclass.ConfusionMatrix(TABLE, rows="columns"), InputError, "'actual' or 'predicted'"),
        (lambda: rs.multiclass.ConfusionMatrix(TABLE, rows="actual").binary(3), LabelError, "one of 0, 1, 2"),
        (lambda: rs.multiclass.ConfusionMatrix(TABLE, rows="actual").macro("recal"), InputError, "recall"),
        (lambda: rs.multiclass.ConfusionMatrix(TABLE, rows="actual").kappa("cubic"), InputError, "'quadratic'"),
        (lambda: rs.multiclass.ConfusionMatrix.from_labels([0, 1], [0, 2], classes=[0, 1]), LabelError, "y_pred"),
        (lambda: rs.multiclass.ConfusionMatrix.from_labels([0, 1], [0]), ShapeError, "one entry per label"),
    ],
)
def test_bad_input_is_named(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_results_describe_themselves():
    matrix = rs.multiclass.ConfusionMatrix(TABLE, classes=["<A>", "B", "C"], rows="actual")
    assert repr(matrix) == "ConfusionMatrix(classes=['<A>', 'B', 'C'], n=763, accuracy=0.917431)"
    assert "<A>" not in matrix._repr_html_()
    assert json.loads(json.dumps(matrix.to_dict()))["counts"] == TABLE
