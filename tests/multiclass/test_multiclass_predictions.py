"""Rows of more than two classes: what is taken in, what is refused, and the two-class views of them."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, strategies as st

import rocscope as rs
from rocscope._base.class_names import factorized
from rocscope.errors import ColumnError, InputError, LabelError, ScoreError, ShapeError

PROBA = np.array([[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.5, 0.1, 0.4], [0.1, 0.3, 0.6]])
Y = np.array(["a", "b", "c", "c"])


def test_classes_are_the_sorted_labels_when_not_named():
    preds = rs.multiclass.MulticlassPredictions([20, 10, 30, 10], PROBA)
    assert preds.classes == (10, 20, 30)
    assert preds.y_true.tolist() == [1, 0, 2, 0]


def test_several_models_with_probabilities_and_with_labels():
    preds = rs.multiclass.MulticlassPredictions(Y, {"soft": PROBA}, decisions={"crisp": ["a", "a", "c", "b"]})
    assert preds.models == ["soft", "crisp"]
    assert preds.predicted("soft").tolist() == [0, 1, 0, 2]
    assert preds.predicted("crisp").tolist() == [0, 0, 2, 1]
    with pytest.raises(ScoreError, match="predicted labels only"):
        preds.probabilities("crisp")
    with pytest.raises(ColumnError, match="name the model"):
        preds.predicted()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_the_columns_of_a_frame_name_the_classes(frame):
    preds = rs.multiclass.MulticlassPredictions(["y", "x", "y", "x"], frame({"y": PROBA[:, 0], "x": 1 - PROBA[:, 0]}))
    assert preds.classes == ("y", "x")
    assert preds.y_true.tolist() == [0, 1, 0, 1]


def test_text_columns_stand_for_the_numbers_they_spell():
    frame = pd.DataFrame(PROBA, columns=["2", "1", "3"])
    assert rs.multiclass.MulticlassPredictions([1, 2, 1, 2], frame).classes == (2, 1, "3")


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=20), st.data())
def test_binary_scores_a_class_by_its_probability(labels, data):
    proba = np.array([data.draw(st.sampled_from(PROBA.tolist())) for _ in labels])
    weight = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(labels), max_size=len(labels))))
    preds = rs.multiclass.MulticlassPredictions(labels, proba, classes="abc", sample_weight=weight)
    for index, cls in enumerate("abc"):
        expected = rs.ThresholdCounts.from_scores(np.array(labels) == cls, proba[:, index], sample_weight=weight)
        assert preds.binary(cls).counts() == expected


def test_pair_keeps_two_classes_and_all_columns():
    preds = rs.multiclass.MulticlassPredictions(
        Y, PROBA, sample_weight=[1, 2, 3, 4], fold=[0, 0, 1, 1], segment=list("ssst")
    )
    pair = preds.pair("c", "a")
    assert pair.y_true.tolist() == [False, True, True]
    assert pair.scores["score"].tolist() == [0.1, 0.4, 0.6]
    assert (pair.sample_weight.tolist(), pair.fold.tolist(), pair.segment.tolist()) == (
        [1, 3, 4],
        [0, 1, 1],
        ["s", "s", "t"],
    )
    with pytest.raises(LabelError, match="two different"):
        preds.pair("a", "a")


def test_folds_and_segments_keep_classes_that_they_lack():
    preds = rs.multiclass.MulticlassPredictions(Y, PROBA, fold=[0, 0, 1, 1], segment=["u", "v", "u", "v"])
    folds = preds.by_fold()
    assert folds[1].classes == ("a", "b", "c")
    assert folds[1].support.tolist() == [0, 0, 2]
    assert [len(part) for part in preds.by_segment().values()] == [2, 2]
    with pytest.raises(ShapeError, match="class 'a' or 'b'"):
        folds[1].pair("a", "b")
    with pytest.raises(InputError, match="no fold column"):
        rs.multiclass.MulticlassPredictions(Y, PROBA).by_fold()


@given(st.integers(1, 4), st.lists(st.permutations([0.4, 0.3, 0.2, 0.1]), min_size=1, max_size=8), st.randoms())
def test_top_k_accuracy_against_sorting(k, rows, random):
    y = [random.randrange(4) for _ in rows]
    preds = rs.multiclass.MulticlassPredictions(y, np.array(rows), classes=range(4))
    found = [
        label in sorted(range(4), key=lambda cls, row=row: -row[cls])[:k] for label, row in zip(y, rows, strict=True)
    ]
    assert preds.top_k_accuracy(k) == pytest.approx(np.mean(found))


def test_top_1_accuracy_is_the_accuracy_also_where_probabilities_tie():
    preds = rs.multiclass.MulticlassPredictions([0, 1, 2], np.full((3, 3), 1 / 3), sample_weight=[1, 2, 5])
    assert preds.top_k_accuracy(1) == preds.confusion().accuracy == 1 / 8
    with pytest.raises(InputError, match="from 1 to 3"):
        preds.top_k_accuracy(4)


def test_normalize_divides_rows_by_their_sums():
    counts = np.array([[2, 2, 4], [0, 1, 0]])
    with pytest.raises(ScoreError, match=r"sum to 1 within 1e-05.*row 0.*normalize=True"):
        rs.multiclass.MulticlassPredictions(["a", "b"], counts, classes="abc")
    preds = rs.multiclass.MulticlassPredictions(["a", "b"], counts, classes="abc", normalize=True)
    assert preds.probabilities().tolist() == [[0.25, 0.25, 0.5], [0, 1, 0]]
    with pytest.raises(ScoreError, match="1 row with only zeros"):
        rs.multiclass.MulticlassPredictions(["a", "b"], [[0, 0, 0], [1, 0, 0]], classes="abc", normalize=True)


def test_rounded_probabilities_pass_within_the_tolerance():
    rs.multiclass.MulticlassPredictions(["a", "b"], [[0.333333, 0.333333, 0.333333], [1, 0, 0]], classes="abc")


@pytest.mark.parametrize("value", [-0.1, np.nan, np.inf])
@pytest.mark.parametrize("normalize", [False, True])
def test_impossible_probabilities_are_refused(value, normalize):
    bad = PROBA.copy()
    bad[2, 1] = value
    with pytest.raises(ScoreError, match="1 row with a negative, missing or infinite number, row 2"):
        rs.multiclass.MulticlassPredictions(Y, bad, normalize=normalize)


def test_a_class_in_y_without_a_column_is_refused():
    with pytest.raises(LabelError, match=r"y_true: expected labels among the classes 'a', 'b', 'd', got 'c'"):
        rs.multiclass.MulticlassPredictions(Y, PROBA, classes=["a", "b", "d"])
    with pytest.raises(ShapeError, match=r"4 × 3 numbers .*, got 4 × 2"):
        rs.multiclass.MulticlassPredictions(Y, PROBA[:, :2])


def test_columns_of_a_frame_are_matched_by_name():
    frame = pd.DataFrame(PROBA, columns=["c", "b", "a"])
    preds = rs.multiclass.MulticlassPredictions(Y, frame, classes=["a", "b", "c"])
    assert preds.probabilities().tolist() == PROBA[:, ::-1].tolist()
    both = rs.multiclass.MulticlassPredictions(Y, {"one": frame, "two": frame[["a", "b", "c"]]})
    assert both.classes == ("c", "b", "a")
    assert both.probabilities("one").tolist() == both.probabilities("two").tolist() == PROBA.tolist()
    with pytest.raises(LabelError, match=r"columns of proba\['score'\]: expected the classes"):
        rs.multiclass.MulticlassPredictions(Y, frame, classes=["a", "b", "c", "d"])


@pytest.mark.parametrize("classes", [["a", "b", "b"], [1, "1", 2]])
def test_duplicated_class_names_are_refused(classes):
    with pytest.raises(LabelError, match="different class names"):
        rs.multiclass.MulticlassPredictions(Y, PROBA, classes=classes)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y_true": Y}, "at least one model"),
        ({"y_true": ["a", None, "b", "c"], "proba": PROBA}, "a value in every row"),
        ({"y_true": Y, "proba": {1: PROBA, "1": PROBA}}, "a different name for each model"),
        ({"y_true": Y, "proba": PROBA[:3]}, r"4 × 3 numbers .*, got 3 × 3"),
        (
            {"y_true": Y, "proba": {"m": Y}, "decisions": {"m": Y}},
            "one array of labels per model, got two arrays of 'm'",
        ),
        ({"y_true": Y, "decisions": ["a", "b", "c", "x"], "classes": "abc"}, "got 'x'"),
        ({"y_true": Y, "proba": PROBA.astype(str)}, "values of type"),
        ({"y_true": ["a"] * 4, "decisions": ["a"] * 4}, "at least two classes"),
        ({"y_true": Y, "proba": PROBA, "sample_weight": [1, 1, -1, 1]}, "weights of at least 0"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(InputError, match=message):
        rs.multiclass.MulticlassPredictions(**arguments)


def test_results_describe_themselves():
    preds = rs.multiclass.MulticlassPredictions(Y, {"<b>": PROBA})
    assert repr(preds) == "MulticlassPredictions(n=4, classes=['a', 'b', 'c'], models=['<b>'])"
    assert "<b>" not in preds._repr_html_()
    assert json.loads(json.dumps(preds.to_dict()))["support"] == [1, 1, 2]
    with pytest.raises(ValueError, match="read-only"):
        preds.probabilities()[0, 0] = 1


@pytest.mark.parametrize(
    "labels",
    [
        [3, 1, 1, 2],
        np.array([-128, 127, 5], np.int8),
        np.array([2**64 - 1, 2**64 - 3], np.uint64),
        np.array([2**64 - 1, 0, 7], np.uint64),
        [True, False, True],
        [0.5, -1.0, 0.5],
        ["b", "a", "b"],
        np.array(["b", "a"] * 30_000, object),
        np.array(["2026-02-01", "2026-01-01"], "datetime64[D]"),
    ],
)
def test_distinct_labels_and_their_places_are_those_of_a_sort(labels):
    column = np.asarray(labels)
    values, place = factorized(column)
    expected, inverse = np.unique(column, return_inverse=True)
    assert values == expected.tolist() and place.tolist() == inverse.tolist()
