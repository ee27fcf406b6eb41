"""Hostile columns: what is understood, and the one line that says why the rest is not."""

from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rocscope as rs
from rocscope import ThresholdCounts
from rocscope._base import validation as check
from rocscope.errors import InputError, LabelError, RocscopeError, ScoreError, ShapeError, WeightError

understood = {
    "0/1": [0, 1, 1],
    "-1/1": [-1, 1, 1],
    "booleans": [False, True, True],
    "floats": [0.0, 1.0, 1.0],
    "unsigned": np.array([0, 1, 1], np.uint8),
    "big-endian": np.array([0, 1, 1], ">i4"),
    "a column of objects": np.array([0, 1, 1], object),
    "objects of two types": np.array([False, 1, np.True_], object),
    "a 2-d column": np.array([[0], [1], [1]]),
    "pandas": pd.Series([0, 1, 1], index=[5, 3, 9]),
    "pandas nullable": pd.array([0, 1, 1], dtype="Int64"),
    "pandas nullable booleans": pd.array([False, True, True], dtype="boolean"),
    "pandas categories": pd.Categorical([0, 1, 1]),
    "polars": pl.Series([0, 1, 1]),
    "a mask that masks nothing": np.ma.array([0, 1, 1], mask=[0, 0, 0]),
}


@pytest.mark.parametrize("name", understood)
def test_labels_that_need_no_pos_label(name):
    assert check.check_labels(understood[name]).tolist() == [False, True, True]
    assert rs.auc(understood[name], [1, 2, 3]) == 1.0


@pytest.mark.parametrize("label", [0, 1, -1])
def test_one_class_of_the_known_labels(label):
    assert check.check_labels([label, label]).tolist() == [label == 1] * 2


@pytest.mark.parametrize(
    ("labels", "pos_label"),
    [
        (["no", "yes", "yes"], "yes"),
        (np.array(["no", "yes", "yes"], object), "yes"),
        ([2, 1, 1], 1),
        ([1, 0, 0], 0),
        ([True, False, False], False),
        (np.array(["a", 1, 1], object), 1),
        (pd.Series(["no", "yes", "yes"], dtype="category"), "yes"),
        (np.array([b"n", b"y", b"y"]), b"y"),
        ([date(2020, 1, 1), date(2021, 1, 1), date(2021, 1, 1)], date(2021, 1, 1)),
    ],
)
def test_pos_label_names_the_positive_class(labels, pos_label):
    assert check.check_labels(labels, pos_label).tolist() == [False, True, True]


def test_a_sample_of_negatives_alone_may_name_a_label_it_does_not_hold():
    assert check.check_labels(["no", "no"], "yes").tolist() == [False, False]


labels_refused = {
    "two words": (
        ["a", "b"],
        None,
        "or False/True, got the labels 'a', 'b'; name the positive class",
    ),
    "two numbers": ([1, 2], None, "got the labels 1, 2; name the positive class, such as pos_label=2"),
    "three classes": (
        [0, 1, 2],
        None,
        "got the labels 0, 1, 2 (2 first occurs in row 2); select the rows",
    ),
    "many classes": (list(range(9)), None, "got the labels 0, 1, 2, 3, 4, 5 and 3 more"),
    "-1, 0 and 1": ([-1, 0, 1], None, "got the labels -1, 0, 1"),
    "numbers as text": (["0", "1"], None, "got the labels '0', '1'"),
    "mixed": (np.array([0, "1"], object), None, "got the labels 0, '1'"),
    "unhashable": (np.array([{}, {"a": 1}], object), None, "got the labels {}, {'a': 1}"),
    "three with pos_label": (["a", "b", "c"], "a", "expected labels of two classes, got the labels 'b', 'c', 'a'"),
    "absent pos_label": (["a", "b"], "c", "pos_label: expected one of the labels 'a', 'b', got 'c'"),
    "pos_label of another type": (["a", "b"], 1, "pos_label: expected one of the labels 'a', 'b', got 1"),
    "NaN": ([0, 1, np.nan], None, "expected a value in every row, got 1 missing value, in row 2"),
    "None": (np.array([0, None, None], object), None, "got 2 missing values, the first in row 1"),
    "NA": (pd.array([True, None], dtype="boolean"), None, "got 1 missing value, in row 1"),
    "NaT": (np.array(["2020-01-01", "NaT"], "M8[D]"), None, "got 1 missing value, in row 1"),
}


@pytest.mark.parametrize("case", labels_refused)
def test_labels_refused(case):
    labels, pos_label, message = labels_refused[case]
    with pytest.raises(LabelError) as caught:
        check.check_labels(labels, pos_label)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


columns_refused = {
    "nothing": (None, "got NoneType"),
    "a number": (3, "got int"),
    "a set": ({1, 0}, "got set"),
    "an object": (object(), "got object"),
    "empty": ([], "expected at least one row, got no rows"),
    "two columns": ([[1, 2], [3, 4]], "got shape (2, 2); pass the column of the positive class"),
    "three dimensions": (np.zeros((2, 2, 2)), "got shape (2, 2, 2)"),
    "ragged": ([[1], [1, 2]], "got rows of different lengths"),
    "masked": (
        np.ma.array([1, 2], mask=[0, 1]),
        "expected an array without masked entries, got 1 masked entry; drop the",
    ),
    "too short": (
        [1],
        "expected one entry per label (2 labels), got 1 entry; pass labels and ",
    ),
    "too long": ([1, 2, 3], "expected one entry per label (2 labels), got 3 entries"),
}


@pytest.mark.parametrize(
    ("case", "role"),
    [(case, "y_score") for case in columns_refused]
    + [(case, "sample_weight") for case in columns_refused if case != "nothing"],
)
def test_columns_refused(case, role):
    values, message = columns_refused[case]
    columns = {"y_score": [1, 2], "sample_weight": [1, 1]} | {role: values}
    with pytest.raises(ShapeError) as caught:
        ThresholdCounts.from_scores([1, 0], **columns)
    assert str(caught.value).startswith(f"{role}: ")
    assert message in str(caught.value)


scores_refused = {
    "NaN": ([0.1, np.nan, np.nan], "expected finite scores, got 2 missing or infinite scores, the first in row 1"),
    "inf": ([0.1, 0.2, -np.inf], "got 1 missing or infinite score, in row 2; drop these rows first"),
    "None": ([0.1, None, 0.3], "got 1 missing or infinite score, in row 1"),
    "all None": ([None, None, None], "got 3 missing or infinite scores, the first in row 0"),
    "text": (["0.1", "0.2", "0.3"], "expected numbers of at most 64 bits, got values of type <U3"),
    "text among numbers": (np.array([1, "2", 3], object), "expected numbers, got '2' of type str"),
    "wide decimals": ([Decimal("0.1234567890123456")] * 3, "decimals of at most 15 digits, got 0.1234567890123456 in"),
    "missing decimals": (
        [Decimal("sNaN"), Decimal("NaN"), Decimal(1)],
        "got 2 missing or infinite scores, the first in row",
    ),
    "too large": (
        [2**70 + 1, 1, 2],
        "64 bits or that float64 represents exactly, and decimals of at most 15 digits, got 118",
    ),
    "complex": ([1j, 2j, 3j], "got values of type complex128"),
    "dates": (np.array(["2020-01-01"] * 3, "M8[D]"), "got values of type datetime64[D]"),
    "extended": (np.array([1, 2, 3], np.longdouble), "expected numbers of at most 64 bits"),
}


@pytest.mark.parametrize("case", scores_refused)
def test_scores_refused(case):
    score, message = scores_refused[case]
    with pytest.raises(ScoreError) as caught:
        rs.auc([1, 0, 1], score)
    assert str(caught.value).startswith("y_score: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_objects_that_are_numbers_are_scores():
    assert check.check_scores(np.array([1, 2.5, np.float32(3)], object)).tolist() == [1.0, 2.5, 3.0]
    assert check.check_scores(pd.array([1, 2], dtype="Int64")).tolist() == [1, 2]
    assert check.check_scores(np.array([True, False], object)).tolist() == [1, 0]
    assert check.check_labels(np.array([True, False], object)).tolist() == [True, False]
    with pytest.raises(ScoreError, match="1 missing or infinite score, in row 1"):
        check.check_scores(np.array([True, None], object))
    assert check.check_scores(np.array([2**63, 2**64 - 1], object)).tolist() == [2**63, 2**64 - 1]


weights_refused = {
    "negative": (
        [1, -1, 1],
        "weights of at least 0, got 1 negative, missing or infinite weight, in row 1",
    ),
    "NaN": ([1, np.nan, 1], "weight, in row 1"),
    "infinite": ([np.inf, 1, np.inf], "got 2 negative, missing or infinite weights, the first in row 0"),
    "zeros": ([0, 0, 0], "expected at least one weight above 0, got only zeros"),
    "text": (["1", "1", "1"], "expected numbers, got values of type <U1"),
    "text among numbers": (np.array([1, "1", 1], object), "expected numbers, got '1' of type str"),
    "None": ([1.0, None, 1.0], "got 1 negative, missing or infinite weight, in row 1"),
}


@pytest.mark.parametrize("case", weights_refused)
def test_weights_refused(case):
    weight, message = weights_refused[case]
    with pytest.raises(WeightError) as caught:
        rs.auc([1, 0, 1], [1, 2, 3], sample_weight=weight)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("weight", "dtype"),
    [
        ([1, 2], np.int64),
        ([True, True], np.int64),
        (np.array([1, 2], np.uint8), np.int64),
        (np.array([1, 2], object), np.int64),
        ([0.5, 2], np.float64),
        (np.array([1, 2], np.float16), np.float64),
        (np.array([1, 2], np.longdouble), np.float64),
    ],
)
def test_weights_are_whole_or_float64(weight, dtype):
    assert check.check_weights(weight, 2).dtype == dtype


def test_every_error_says_what_to_catch():
    with pytest.raises(ValueError, match="y_score"):
        rs.auc([1, 0], [1])
    with pytest.raises(RocscopeError):
        rs.auc([1, 0], [1])
    assert str(InputError("x", got="1", hint="do")) == "x: got 1; do"
    assert str(InputError("only a sentence")) == "only a sentence"


def test_the_closest_known_name_is_offered():
    assert check.one_of("acuracy", ["accuracy", "f1"]) == "one of 'accuracy', 'f1' (did you mean 'accuracy'?)"
    assert check.one_of("zzz", ["accuracy", "f1"]) == "one of 'accuracy', 'f1'"


@pytest.mark.parametrize("kind", [int, np.int64, np.random.default_rng, np.random.RandomState])
def test_a_random_state_of_any_kind_gives_the_same_draws_again(kind):
    drawn = [check.check_random_state(kind(7)).random(3).tolist() for _ in range(2)]
    assert drawn[0] == drawn[1]


def test_a_generator_goes_on_and_none_draws_by_chance():
    for state in (np.random.default_rng(7), np.random.RandomState(7), None):
        assert check.seed_of(state) != check.seed_of(state)
    assert check.check_random_state(7).random() == np.random.default_rng(7).random()


@pytest.mark.parametrize("state", [-1, 2**32, 1.5, True, "7", [1, 2]])
def test_what_is_no_random_state(state):
    with pytest.raises(InputError, match=r"random_state: expected a whole number from 0 to 2\^32 - 1, a Generator, a "):
        check.check_random_state(state)


@pytest.mark.parametrize("kind", ["i1", "u2", "i8"])
def test_a_third_label_far_behind_is_found(kind):
    labels = np.arange(100_000).astype(kind) & 1
    assert check.check_labels(labels).tolist() == (labels == 1).tolist()
    labels[-1] = 2
    with pytest.raises(LabelError, match="2 first occurs in row 99999"):
        check.check_labels(labels)
