"""Reading more than two classes: patterns of columns, predicted classes, and what is refused."""

import numpy as np
import pandas as pd
import pytest

import rocscope as rs
from rocscope.errors import ColumnError, InputError, LabelError, ScoreError

TABLE = {
    "y": ["cat", "dog", "cow", "dog"],
    "p_cat": [0.5, 0.25, 0.25, 0.0],
    "p_dog": [0.25, 0.5, 0.25, 1.0],
    "p_cow": [0.25, 0.25, 0.5, 0.0],
    "tree": ["cat", "dog", "dog", "dog"],
    "w": [1, 2, 1, 1],
    "part": ["u", "v", "u", "v"],
}


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_pattern_names_the_classes_by_their_columns(tmp_path, suffix):
    path = tmp_path / f"rows.{suffix}"
    frame = pd.DataFrame(TABLE)
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    preds = rs.read(path, label="y", proba="p_*", weight="w", segment="part")
    assert preds.classes == ("cat", "dog", "cow")
    assert preds.models == ["score"]
    assert preds.y_true.tolist() == [0, 1, 2, 1]
    np.testing.assert_array_equal(preds.probabilities(), frame[["p_cat", "p_dog", "p_cow"]])
    assert preds.sample_weight.tolist() == TABLE["w"]
    assert list(preds.by_segment()) == ["u", "v"]
    assert preds.source.rows_read == 4
    assert preds.to_dict()["source"]["rows_dropped"] == 0


def test_several_models_with_columns_in_any_order_and_predicted_classes():
    table = TABLE | {f"{cls}.q": TABLE[f"p_{cls}"][::-1] for cls in ("cow", "cat", "dog")}
    preds = rs.read(table, label="y", proba={"first": "p_*", "second": "*.q"}, predicted="tree")
    assert preds.models == ["first", "second", "tree"]
    np.testing.assert_array_equal(preds.probabilities("second"), preds.probabilities("first")[::-1])
    assert preds.predicted("tree").tolist() == [0, 1, 1, 1]
    chosen = rs.read(TABLE, label="y", proba="p_*", classes=["cow", "cat", "dog"])
    assert chosen.probabilities()[0].tolist() == [0.25, 0.5, 0.25]


def test_columns_may_be_named_class_by_class():
    table = {"y": [1, 2, 1], "one": [0.9, 0.2, 0.6], "two": [0.1, 0.8, 0.4]}
    preds = rs.read(table, label="y", proba={"m": {1: "one", 2: "two"}})
    assert preds.classes == (1, 2)
    assert preds.predicted().tolist() == [0, 1, 0]


def test_numbers_are_the_classes_that_the_columns_spell(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("y,p_0,p_1,p_2\n2,0.2,0.3,0.5\n0,0.6,0.2,0.2\n")
    assert rs.read(path, label="y", proba="p_*").classes == (0, "1", 2)
    assert rs.read(path, label="y", proba="p_*", classes=[0, 1, 2]).y_true.tolist() == [2, 0]


def test_predicted_classes_alone():
    preds = rs.read(TABLE, label="y", predicted={"t": "tree"})
    assert preds.classes == ("cat", "cow", "dog")
    assert preds.confusion().accuracy == 0.75


def test_a_pattern_does_not_take_the_columns_of_labels_and_weights():
    table = {"p_y": list("ab"), "p_w": [1, 2], "p_a": [0.5, 0.1], "p_b": [0.5, 0.9]}
    assert rs.read(table, label="p_y", weight="p_w", proba="p_*").classes == ("a", "b")


def test_rows_that_lack_a_value_are_left_out_as_a_whole():
    table = TABLE | {"p_dog": [0.25, None, 0.25, 1.0]}
    with pytest.raises(ScoreError, match="missing='drop'"):
        rs.read(table, label="y", proba="p_*")
    preds = rs.read(table, label="y", proba="p_*", missing="drop")
    assert (len(preds), preds.source.rows_dropped) == (3, 1)


def test_normalize_and_where_reach_the_rows():
    table = TABLE | {f"p_{cls}": [8 * p for p in TABLE[f"p_{cls}"]] for cls in ("cat", "dog", "cow")}
    with pytest.raises(ScoreError, match="normalize=True"):
        rs.read(table, label="y", proba="p_*")
    preds = rs.read(table, label="y", proba="p_*", normalize=True, where="part = 'u'")
    assert preds.probabilities().tolist() == [[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"proba": "q_*"}, ColumnError, "at least two columns that match 'q_\\*', got no such"),
        ({"proba": "p_cat*"}, ColumnError, "got no such column"),
        ({"proba": "p_c*"}, LabelError, "'dog'"),
        ({"proba": "p_cat"}, InputError, "a pattern with one"),
        ({"proba": "*_*"}, InputError, "a pattern with one"),
        ({"proba": {}}, InputError, "at least one model"),
        ({"proba": {"m": {"cat": "p_cat", "dog": "p_hen"}}}, ColumnError, "p_hen"),
        (
            {"proba": {"a": "p_*", "b": {"cat": "p_cat", "dog": "p_dog"}}},
            LabelError,
            "got the classes 'cat', 'dog'",
        ),
        ({"proba": "p_*", "scores": "p_cat"}, InputError, "scores: expected no value in a call with proba="),
        (
            {"predicted": "tree", "pos_label": "cat"},
            InputError,
            "pos_label: expected no value in a call with",
        ),
        ({"proba": "p_*", "predicted": "trees"}, ColumnError, "tree"),
    ],
)
def test_bad_input_is_named(options, error, message):
    with pytest.raises(error, match=message):
        rs.read(TABLE, label="y", **options)
