"""Predictions: rows and their columns, selecting, splitting, and what is refused."""

from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import rocscope as rs
from rocscope import Predictions, ThresholdCounts
from rocscope.errors import ColumnError, InputError, LabelError, ScoreError, ShapeError, WeightError
from strategies import samples, whole_weights

COLUMNS = {"a": [4, 3, 2, 1], "b": [1, 2, 3, 4]}
Y = [1, 0, 1, 0]


@pytest.mark.parametrize(
    "scores", [COLUMNS, pd.DataFrame(COLUMNS), pl.DataFrame(COLUMNS), pa.table(COLUMNS)], ids=lambda s: type(s).__name__
)
def test_models_of_a_mapping_or_any_frame(scores):
    preds = Predictions(Y, scores)
    assert preds.models == ["a", "b"]
    assert preds.counts("a") == ThresholdCounts.from_scores(Y, COLUMNS["a"])
    assert preds.counts("b") == ThresholdCounts.from_scores(Y, COLUMNS["b"])


def test_an_array_is_one_model_that_needs_no_name():
    preds = Predictions(Y, COLUMNS["a"])
    assert preds.models == ["score"]
    assert preds.counts() == preds.counts("score")


@given(sample=samples(weight=whole_weights))
def test_totals(sample):
    preds = Predictions(sample.y, sample.score, sample_weight=sample.weight)
    counts = preds.counts()
    assert (preds.n, preds.n_pos, preds.n_neg) == (counts.n, counts.n_pos, counts.n_neg)
    assert preds.prevalence == counts.prevalence
    assert len(preds) == sample.y.size


@given(sample=samples(one_class=True), data=st.data())
def test_segments_merge_to_the_whole(sample, data):
    segment = data.draw(st.lists(st.sampled_from("xyz"), min_size=sample.y.size, max_size=sample.y.size))
    preds = Predictions(sample.y, sample.score, segment=segment, fold=segment)
    for parts in (preds.by_segment(), preds.by_fold()):
        assert list(parts) == sorted(set(segment))
        merged = [part.counts() for part in parts.values()]
        assert sum(merged[1:], start=merged[0]) == preds.counts()


@pytest.mark.parametrize(
    "segment",
    [
        [2, 1, 1, 2],
        [0.5, 0.1, 0.1, 0.5],
        [True, False, False, True],
        np.array(["b", "a", "a", "b"], object),
        np.array([1, "a", "a", 1], object),
        [date(2021, 1, 1), date(2020, 1, 1), date(2020, 1, 1), date(2021, 1, 1)],
        np.array(["2021-01-01", "2020-01-01", "2020-01-01", "2021-01-01"], "M8[ns]"),
        pd.Series(["b", "a", "a", "b"], dtype="category"),
    ],
)
def test_segments_of_any_type(segment):
    parts = Predictions(Y, COLUMNS, segment=segment).by_segment()
    assert [len(part) for part in parts.values()] == [2, 2]
    assert {key: part.y_true.tolist() for key, part in parts.items()} == {
        key: [bool(Y[row]) for row in range(4) if segment[row] == key] for key in parts
    }


def test_select_keeps_every_column():
    preds = Predictions(
        Y,
        COLUMNS,
        sample_weight=[1, 2, 3, 4],
        fold=[1, 1, 2, 2],
        segment=["x", "y", "x", "y"],
        repeat=[0, 0, 1, 1],
        row=[7, 8, 7, 8],
    )
    part = preds.select([True, False, False, True], models=["b"])
    assert part.models == ["b"]
    assert part.scores["b"].tolist() == [1, 4]
    assert part.sample_weight.tolist() == [1, 4]
    assert (part.fold.tolist(), part.segment.tolist()) == ([1, 2], ["x", "y"])
    assert (part.repeat.tolist(), part.row.tolist()) == ([0, 1], [7, 8])
    assert preds.select().counts("a") == preds.counts("a")


def test_repeats_hold_each_row_once():
    preds = Predictions(Y, COLUMNS["a"], repeat=[1, 0, 1, 0], row=["x", "y", "y", "x"])
    assert preds.repeated
    parts = preds.by_repeat()
    assert list(parts) == [0, 1]
    assert not any(part.repeated for part in parts.values())
    assert not Predictions(Y, COLUMNS["a"]).repeated


def test_columns_cannot_be_written():
    preds = Predictions(np.array(Y), COLUMNS["a"], sample_weight=[1, 1, 1, 1], fold=[1, 1, 2, 2])
    for column in (preds.y_true, preds.scores["score"], preds.sample_weight, preds.fold):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = column[1]


refused = {
    "no model": (lambda: Predictions(Y, {}), ShapeError, "scores: expected at least one model, got no models"),
    "matrix": (
        lambda: Predictions(Y, np.ones((4, 2))),
        ShapeError,
        "pass the column of the positive class: score[:, 1]",
    ),
    "short model": (
        lambda: Predictions(Y, {"a": [1], "b": Y}),
        ShapeError,
        "scores['a']: expected one entry per label",
    ),
    "bad score": (
        lambda: Predictions(Y, COLUMNS | {"c": [1, 2, 3, np.nan]}),
        ScoreError,
        "scores['c']: expected finite",
    ),
    "equal names": (lambda: Predictions(Y, {1: Y, "1": Y}), InputError, "models whose names differ as text, got"),
    "labels": (lambda: Predictions(["a", "b", "a", "b"], COLUMNS), LabelError, "name the positive class"),
    "weights": (lambda: Predictions(Y, COLUMNS, sample_weight=[1]), ShapeError, "sample_weight: expected one entry"),
    "folds": (
        lambda: Predictions(Y, COLUMNS, fold=[1]),
        ShapeError,
        "fold: expected one entry per label (4 labels)",
    ),
    "which model": (lambda: Predictions(Y, COLUMNS).counts(), ColumnError, "expected one of ['a', 'b'], got no name"),
    "other model": (lambda: Predictions(Y, COLUMNS).counts("c"), ColumnError, "expected one of 'a', 'b', got 'c'"),
    "select model": (lambda: Predictions(Y, COLUMNS).select(models=["c"]), ColumnError, "got 'c'"),
    "no rows": (
        lambda: Predictions(Y, COLUMNS).select([False] * 4),
        ShapeError,
        "for at least one row, got only False",
    ),
    "row numbers": (lambda: Predictions(Y, COLUMNS).select([0, 1, 2, 3]), ShapeError, "a mask of True and False"),
    "short mask": (lambda: Predictions(Y, COLUMNS).select([True]), ShapeError, "rows: expected one entry per label"),
    "weightless": (
        lambda: Predictions(Y, COLUMNS, sample_weight=[1, 0, 0, 0]).select([False, True, True, True]),
        WeightError,
        "at least one weight above 0",
    ),
    "no segments": (
        lambda: Predictions(Y, COLUMNS).by_segment(),
        InputError,
        "there is no segment column; pass segment=",
    ),
    "no repeats": (lambda: Predictions(Y, COLUMNS).by_repeat(), InputError, "there is no repeat column"),
    "rows": (
        lambda: Predictions(Y, COLUMNS, row=[1]),
        ShapeError,
        "row: expected one entry per label (4 labels)",
    ),
    "no folds": (lambda: Predictions(Y, COLUMNS).by_fold(), InputError, "there is no fold column; pass fold="),
    "fold None": (
        lambda: Predictions(Y, COLUMNS, fold=["x", None, "x", "y"]).by_fold(),
        InputError,
        "fold: expected a value in every row, got 1 missing value, in row 1",
    ),
    "fold NaN": (
        lambda: Predictions(Y, COLUMNS, fold=[1.0, 2.0, np.nan, 1.0]).by_fold(),
        InputError,
        "fold: expected a value in every row, got 1 missing value, in row 2",
    ),
}


@pytest.mark.parametrize("case", refused)
def test_refusals(case):
    call, kind, message = refused[case]
    with pytest.raises(kind) as caught:
        call()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_shown_as_facts():
    preds = Predictions(Y, {"<b>": COLUMNS["a"]})
    assert repr(preds) == "Predictions(n=4, n_pos=2, n_neg=2, models=['<b>'])"
    assert "&lt;b&gt;" in preds._repr_html_()
    assert "<b>" not in preds._repr_html_()
    totals = {"n": 4, "n_pos": 2, "n_neg": 2, "prevalence": 0.5, "models": ["<b>"]}
    assert preds.to_dict() == totals | {"n_groups": None, "source": None}
    assert rs.Predictions is Predictions
