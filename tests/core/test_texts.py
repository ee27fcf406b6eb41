"""The different texts of a column, against NumPy's sort of all rows."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rocscope as rs
from rocscope._base import arrays as texts, validation as check
from rocscope._base.grouping import numbered
from rocscope.errors import InputError

words = st.text(st.sampled_from("aé\U0001f600\0 \ud800"), max_size=3)
columns = st.lists(words, min_size=1, max_size=12)
KINDS = {
    "U": lambda given: np.array(given),
    "swapped": lambda given: np.array(given).astype(np.array(given).dtype.newbyteorder(">")),
    "every other": lambda given: np.repeat(np.array(given), 2)[::2],
    "S": lambda given: np.array([each.encode("utf-8", "surrogatepass") for each in given]),
    "objects": lambda given: np.array([*given, None], object)[:-1],
    "bytes as objects": lambda given: np.array(
        [*(each.encode("utf-8", "surrogatepass") for each in given), None], object
    )[:-1],
}


@given(columns, st.sampled_from(sorted(KINDS)))
def test_names_and_places_are_those_of_a_sort(given_texts, kind):
    column = KINDS[kind](given_texts)
    names, place = np.unique(column, return_inverse=True)
    with mock.patch.object(texts, "MOST_SORTED", 0):
        found, where = numbered("segment", column)
        assert (found.tolist(), found.dtype) == (names.tolist(), names.dtype)
        assert where.tolist() == place.tolist()
        assert check.check_groups(column, "groups", column.size).tolist() == place.tolist()
        assert check.distinct(column) == names.tolist()
        told = texts.encoded_texts(column)
    surrogates = any("\ud800" in each for each in given_texts)
    assert (told is None) == (kind == "bytes as objects" or (kind == "objects" and surrogates))


@pytest.mark.parametrize("odd", [None, np.nan, 5, b"b", float("inf"), ("a", "b")])
def test_what_is_not_all_text_goes_the_other_way(odd):
    column = np.empty(3, object)
    column[:] = ["b", odd, "b"]
    with mock.patch.object(texts, "MOST_SORTED", 0):
        assert texts.encoded_texts(column) is None
        if odd is None or odd != odd:
            names, place = numbered("segment", column)
            assert (names.tolist(), place.tolist()) == (["b", None], [0, 1, 0])
            with pytest.raises(InputError, match="fold: expected a value in every row, got 1 missing value, in row 1"):
                numbered("fold", column)
        else:
            assert numbered("segment", column)[1].tolist() == [0, 1, 0]


def test_many_rows_in_text_segments_are_those_in_numbered_ones():
    generator = np.random.default_rng(0)
    user, score = generator.integers(0, 900, 60_000), generator.random(60_000).round(2)
    label = generator.random(60_000) < score
    numbers = rs.Predictions(label, score, segment=user).counts(by="segment")
    for text in (
        np.array([f"{each:04}" for each in range(900)]),
        np.array([f"{each:04}" for each in range(900)], object),
    ):
        grouped = rs.Predictions(label, score, segment=text[user]).counts(by="segment")
        assert grouped.names.tolist() == text[numbers.names].tolist()
        np.testing.assert_array_equal(grouped.auc(), numbers.auc())
        assert grouped[text[7]] == numbers[7]
