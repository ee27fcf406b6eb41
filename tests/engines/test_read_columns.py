"""Which columns are read and what their values become: names, filters, missing values, types, labels."""

import csv
import datetime
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

import rocscope as rs
from readers import FRAMES, WRITERS, counted, levels
from rocscope.errors import ColumnError, InputError, LabelError, ScoreError, ShapeError, WeightError

same_folder = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

odd_names = st.sampled_from(
    [
        'a "b"',
        "it's",
        "select",
        "order by",
        "😀 x",
        " ",
        "a,b",
        "x;y",
        "ä",
        "A",
        "a",
        "1",
        "--",
        "/*",
        'x"); DROP',
        "%",
        "\\",
    ]
) | st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6)


@st.composite
def different_names(draw):
    return draw(st.lists(odd_names, min_size=3, max_size=3, unique=True))


@pytest.mark.every(7)
@pytest.mark.parametrize("name", ["scores.csv", "scores.parquet", "scores.feather", "scores.jsonl", *FRAMES])
@same_folder
@given(names=different_names())
def test_columns_are_found_by_any_name(tmp_path, name, names):
    label, score, segment = names
    columns = {label: [1, 0, 1], score: [0.5, 0.25, 0.125], segment: [7, 8, 9]}
    if name == "DuckDB":  # such a relation has no two names that differ in case only
        assume(len({each.lower() for each in names}) == 3)
    if name == "scores.csv":
        assume(all(each.strip() for each in names))
        with (tmp_path / name).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, quoting=csv.QUOTE_ALL).writerows([list(columns), *zip(*columns.values(), strict=True)])
        source = tmp_path / name
    elif name in WRITERS:
        WRITERS[name](pa.table(columns), tmp_path / name)
        source = tmp_path / name
    else:
        source = FRAMES[name](pa.table(columns))
    read = rs.read(source, label=label, scores={"model": score}, segment=segment)
    assert read.y_true.tolist() == [True, False, True]
    assert read.scores["model"].tolist() == columns[score]
    assert read.segment.tolist() == columns[segment]


TABLE = pa.table(
    {
        "y": [1, 0, 1, 0],
        "a": [0.9, None, 0.3, float("inf")],
        "b": [4, 3, None, 1],
        "w": [1, 2, 3, 4],
        "k": [0, 0, 1, None],
        "last contact": ["eu", "us", "eu", None],
    }
)
SOURCES = ["scores.csv", "scores.parquet", "scores.feather", "pandas", "Polars, lazy", "DuckDB", "dict of arrays"]


@pytest.fixture(params=SOURCES)
def source(request, tmp_path):
    """The table above; CSV and pandas write its last columns in their own ways."""
    if request.param in FRAMES:
        return FRAMES[request.param](TABLE)
    WRITERS[request.param](TABLE, tmp_path / request.param)
    return tmp_path / request.param


def test_missing_and_infinite_values_are_refused_by_name_count_and_first_row(source):
    with pytest.raises(ScoreError, match=r"score 'a' of .*: expected a finite value in every row, got 2 .*in row 1;"):
        rs.read(source, label="y", scores="a")
    with pytest.raises(ScoreError, match=r"score 'b' of .*got 1 missing or infinite score, in row 2; .*'drop'"):
        rs.read(source, label="y", scores=["b"])
    with pytest.raises(LabelError, match=r"label 'k' of .*, in row 3;"):
        rs.read(source, label="k", scores="w")
    with pytest.raises(WeightError, match=r"weight 'k' of"):
        rs.read(source, label="y", scores="w", weight="k")
    for argument in ("fold", "segment"):
        with pytest.raises(InputError, match=f"{argument} 'last contact' of .*got 1 missing"):
            rs.read(source, label="y", scores="w", **{argument: "last contact"})


def test_rows_are_dropped_as_a_whole_and_counted(source):
    read = rs.read(source, label="y", scores=["a", "b"], missing="drop")
    assert (read.scores["a"].tolist(), read.scores["b"].tolist()) == ([0.9], [4])
    assert (read.source.rows_read, read.source.rows_dropped) == (4, 3)
    whole = rs.read(source, label="y", scores="w", segment="last contact", missing="drop")
    assert (whole.scores["w"].tolist(), whole.segment.tolist()) == ([1, 2, 3], ["eu", "us", "eu"])
    assert whole.scores["w"].dtype == np.int64
    assert whole.source.rows_dropped == 1
    assert rs.read(source, label="y", scores="w", missing="drop").source.rows_dropped == 0


def test_integers_beside_a_missing_value_stay_exact(tmp_path):
    table = pa.table({"y": [1, 0, 1], "s": pa.array([2**53 + 1, 2**53, None])})
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    for source in (table, tmp_path / "a.parquet", {"y": [1, 0, 1], "s": [2**53 + 1, 2**53, None]}):
        read = rs.read(source, label="y", scores="s", missing="drop")
        assert levels(read.counts()) == [(2**53 + 1, 1, 0), (2**53, 0, 1)]


def test_dropping_every_row_is_an_error():
    with pytest.raises(ShapeError, match=r"the dict: expected at least one row .*, got no such row among 2 rows"):
        rs.read({"y": [1, None], "s": [None, 1.0]}, label="y", scores="s", missing="drop")


@pytest.mark.every(4)
@pytest.mark.parametrize(
    "where", ["w > 1 AND \"last contact\" = 'eu'", "W > 1 and \"LAST contact\" LIKE 'e%'", "b IS NULL"]
)
def test_a_filter_keeps_the_rows_where_it_holds(source, where):
    read = rs.read(source, label="y", scores="w", where=where)
    assert read.scores["w"].tolist() == [3]
    assert (read.source.rows_read, read.source.where) == (1, where)


def test_a_filter_cannot_tell_two_columns_apart_that_differ_in_case_but_read_can(tmp_path):
    pa.parquet.write_table(pa.table([[1, 0], [0.1, 0.2], [5.0, 6.0]], names=["y", "s", "S"]), tmp_path / "a.parquet")
    for name, scores in (("s", [0.1, 0.2]), ("S", [5.0, 6.0])):
        assert rs.read(tmp_path / "a.parquet", label="y", scores=name).scores[name].tolist() == scores


def test_provenance_survives_a_selection_and_goes_into_json(source):
    read = rs.read(source, label="y", scores=["w"], where="w < 4")
    assert read.select([True, False, True]).source is read.select(models=["w"]).source is read.source
    assert read.to_dict()["source"]["rows_read"] == 3
    assert "rows dropped" in read._repr_html_()
    assert rs.Predictions([1, 0], [1, 2]).to_dict()["source"] is None


def test_models_take_the_names_of_a_mapping_or_of_their_columns():
    columns = {"y": [1, 0], "a": [0.5, 0.2], "b": [1, 2]}
    assert rs.read(columns, label="y", scores=["b", "a"]).models == ["b", "a"]
    assert rs.read(columns, label="y", scores={"old": "a", "new": "b", "twin": "a"}).models == ["old", "new", "twin"]
    assert rs.read(pd.DataFrame({0: [1, 0], 1: [0.5, 0.2]}), label="0", scores="1").models == ["1"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, r"label: expected the name of a column of the dict \('y', 'score_a', 'score_b'\), got no name"),
        ({"label": "y"}, "scores: expected the name of a column of the dict .*, got no name"),
        ({"label": "y", "scores": "SCORE_A"}, "score of the dict: .*did you mean 'score_a'.*got 'SCORE_A'"),
        ({"label": "Y", "scores": "score_a"}, "label of the dict: .*did you mean 'y'"),
        ({"label": "y", "scores": "score_a", "weight": "w"}, "weight of .* one of 'y', 'score_a', 'score_b', got 'w'"),
        ({"label": "y", "scores": "score_a", "fold": "w"}, "fold of .*, got 'w'"),
    ],
)
def test_a_column_that_is_left_out_or_wrong_lists_those_there_are(options, words):
    with pytest.raises(ColumnError, match=words):
        rs.read({"y": [1, 0], "score_a": [1, 2], "score_b": [1, 2]}, **options)


def test_a_name_that_several_columns_have_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("y,s,s\n1,0.5,0.25\n0,0.1,0.75\n")
    pa.parquet.write_table(pa.table([[1, 0], [1, 2], [3, 4]], names=["y", "s", "s"]), tmp_path / "a.parquet")
    for source in (tmp_path / "a.csv", tmp_path / "a.parquet"):
        with pytest.raises(ColumnError, match=r"score of .*: expected one column named 's', got 2 columns; give each"):
            rs.read(source, label="y", scores="s")
    assert len(rs.read(tmp_path / "a.csv", label="y", scores="y")) == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"missing": "ignore"}, "missing: expected one of 'error', 'drop', 'segment', got 'ignore'"),
        ({"format": "xlsx"}, "format: expected one of csv, tsv"),
        ({"scores": []}, "scores: expected at least one column, got no column"),
        ({"scores": ["s", "s"]}, "scores: expected columns with different names"),
    ],
)
def test_options_are_checked(options, words):
    with pytest.raises(InputError, match=words):
        rs.read({"y": [1, 0], "s": [1, 2]}, **{"label": "y", "scores": "s"} | options)


@given(st.lists(st.integers(-(10**15) + 1, 10**15 - 1), min_size=1, max_size=30), st.integers(1, 15))
def test_decimals_of_15_digits_are_the_nearest_float64(units, places):
    decimals = [Decimal(unit).scaleb(-places) for unit in units]
    table = pa.table({"y": [1] * len(units), "s": pa.array(decimals, pa.decimal128(38, places))})
    for sliced in (table, table.slice(len(units) // 2)):
        read = rs.read(sliced, label="y", scores="s").scores["s"]
        assert read.tolist() == [float(str(value)) for value in sliced["s"].to_pylist()]


def test_whole_decimals_are_integers_and_wide_ones_are_refused():
    sums = duckdb.sql("SELECT y, sum(s) AS s FROM (VALUES (1, 9007199254740993), (0, 2)) t(y, s) GROUP BY y ORDER BY y")
    assert rs.read(sums, label="y", scores="s").scores["s"].tolist() == [2, 2**53 + 1]
    for value in (Decimal("0.1234567890123456"), Decimal(2**64 + 1)):
        with pytest.raises(ScoreError, match=rf"score 's' of the dict: .*got {value} in row 0; .*DOUBLE"):
            rs.read({"y": [1], "s": [value]}, label="y", scores="s")
    rows = pa.table({"y": [1, 0, 1], "s": pa.array([Decimal("0.5"), None, Decimal("-0.1")], pa.decimal128(20, 1))})
    assert rs.read(rows, label="y", scores="s", missing="drop").scores["s"].tolist() == [0.5, -0.1]


EXACT = {
    "above 64 bits": [2**64, 2**70, 3, -(2**80)],
    "unsigned": [2**63, 2**63 + 1, 1, 2],
    "decimals": [Decimal("0.1"), Decimal("0.30"), Decimal("0.7"), Decimal("12.9")],
    "whole decimals": [Decimal(2**53 + 1), Decimal(2**53), Decimal(7), Decimal(-1)],
    "one beyond float64": [2**64, 2**64 + 1, 3, 5],
    "zeros at the end": [Decimal("0.100000000000000000"), Decimal("0.300000000000000000"), Decimal(7), Decimal("0.1")],
    "large and small": [Decimal("0.123456789012345"), Decimal("123456789012.1"), Decimal(-1), Decimal("5.5")],
    "wide decimals": [Decimal("0.1234567890123456789"), Decimal("0.5"), Decimal(1), Decimal(2)],
    "no common type": [2**53 + 1, 2**53, 2**64, -1],
}


@pytest.mark.parametrize("case", EXACT)
def test_numbers_of_any_size_are_exact_or_refused_at_every_door(case, tmp_path):
    """The reference is Python's own order of whole numbers and decimals."""
    y, values = [1, 0, 1, 0], EXACT[case]
    wins = sum((a > b) + (a == b) / 2 for a in values[::2] for b in values[1::2])
    arrow = pa.array([Decimal(value) for value in values])
    table = pa.table({"y": y, "s": arrow})
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("y,s\n" + "".join(f"{a},{b}\n" for a, b in zip(y, values, strict=True)))
    columns = {"label": "y", "scores": "s"}
    objects = pd.Series(values, dtype=object)
    doors = {
        "list": lambda: rs.auc(y, values),
        "objects": lambda: rs.auc(y, objects),
        "Arrow array": lambda: rs.auc(y, arrow),
        "dict": lambda: rs.auc(rs.read({"y": y, "s": values}, **columns)),
        "pandas": lambda: rs.auc(rs.read(pd.DataFrame({"y": y, "s": objects}), **columns)),
        "Arrow": lambda: rs.auc(rs.read(table, **columns)),
        "Parquet": lambda: rs.auc(rs.read(tmp_path / "t.parquet", **columns)),
        "counts": lambda: rs.auc(rs.read_counts(tmp_path / "t.parquet", **columns)["s"]),
    }
    if isinstance(values[0], int):
        doors["CSV"] = lambda: rs.auc(rs.read(tmp_path / "t.csv", **columns))
    for door, area in doors.items():
        if case in ("one beyond float64", "wide decimals", "no common type"):
            with pytest.raises(InputError, match=r"float64 represents exactly,? .*decimals of at most 15 digits, got "):
                area()
        else:
            assert area() == wins / 4, door


def test_whole_decimals_without_a_common_type_are_refused_when_they_are_read_in_parts(tmp_path):
    """Part by part, they would be int64 and float64, and 2⁵³ and 2⁵³ + 1 would become equal."""
    scores = pa.array([Decimal(value) for value in (2**53 + 1, 2**53, 2**64, -1)], pa.decimal128(38, 0))
    pa.parquet.write_table(pa.table({"y": [1, 0, 1, 0], "s": scores}), tmp_path / "t.parquet", row_group_size=2)
    with pytest.raises(ScoreError, match=r"got 9007199254740993 in row 0, together with numbers that need another"):
        rs.read_counts(tmp_path / "t.parquet", label="y", scores="s", memory=10**7)


def test_a_rounded_decimal_is_not_tied_with_a_longer_one():
    """The float64 nearest to 0.1 is above 0.1."""
    longer = Decimal.from_float(0.1)
    assert longer > Decimal("0.1")
    with pytest.raises(ScoreError, match=f"got {longer} in row 0"):
        rs.auc([1, 0], [longer, Decimal("0.1")])
    assert rs.auc([1, 0], [longer, Decimal("0.5")]) == 0


LABELS = {
    "text": (["yes", "no", "yes"], "yes"),
    "truth values": ([True, False, True], None),
    "signs": ([1, -1, 1], None),
    "floats": ([1.0, 0.0, 1.0], None),
    "other numbers": ([2, 4, 2], 2),
    "a number as text": ([2, 4, 2], "2"),
    "dates": ([datetime.date(2024, 1, day) for day in (1, 2, 1)], datetime.date(2024, 1, 1)),
    "decimals": ([Decimal(1), Decimal(0), Decimal(1)], None),
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_of_any_kind(name):
    labels, pos_label = LABELS[name]
    for source in ({"y": labels, "s": [1, 2, 3]}, pd.DataFrame({"y": labels, "s": [1, 2, 3]}).convert_dtypes()):
        read = rs.read(source, label="y", scores="s", pos_label=pos_label)
        assert read.y_true.tolist() == [True, False, True]


def test_categories_are_labels_scores_and_segments():
    frame = pd.DataFrame({"y": ["b", "a", "b"], "n": [1, 0, 1], "s": [3, 2, 1]}).astype("category")
    for source in (
        frame,
        pl.DataFrame({"y": ["b", "a", "b"], "n": [1, 0, 1], "s": [3, 2, 1]}).cast({"y": pl.Categorical}),
    ):
        text = rs.read(source, label="y", scores="s", segment="y", pos_label="b")
        assert levels(text.counts()) == [(3, 1, 0), (2, 0, 1), (1, 1, 0)]
        assert text.segment.tolist() == ["b", "a", "b"]
        assert rs.read(source, label="n", scores="s").y_true.tolist() == [True, False, True]


def test_a_class_whose_rows_are_all_dropped_does_not_count():
    columns = {"y": ["yes", "no", "unknown"], "s": [0.9, 0.1, None]}
    assert rs.read(columns, label="y", scores="s", missing="drop", pos_label="yes").y_true.tolist() == [True, False]
    with pytest.raises(
        LabelError,
        match=r"label 'y' of the dict: .* of two classes, got the labels 'no', 'unknown', 'yes'",
    ):
        rs.read(columns | {"s": [1, 2, 3]}, label="y", scores="s", pos_label="yes")


def test_text_labels_ask_for_the_positive_one(tmp_path):
    (tmp_path / "a.csv").write_text("y,s\nyes,0.9\nno,0.1\n")
    with pytest.raises(LabelError, match=r"a.csv: .*got the labels 'no', 'yes'; name the positive class"):
        rs.read(tmp_path / "a.csv", label="y", scores="s")
    assert rs.read(tmp_path / "a.csv", label="y", scores="s", pos_label="yes").y_true.tolist() == [True, False]


@pytest.mark.parametrize("words", [("True", "False"), ("true", "false"), ("TRUE", "FALSE")])
def test_truth_values_in_text_files(tmp_path, words):
    (tmp_path / "a.csv").write_text("y,s\n{},0.9\n{},0.1\n".format(*words))
    for pos_label in (None, True, words[0]):
        assert rs.read(tmp_path / "a.csv", label="y", scores="s", pos_label=pos_label).y_true.tolist() == [True, False]


def test_words_for_not_available_are_missing_scores_in_csv_but_text_in_a_segment(tmp_path):
    (tmp_path / "a.csv").write_text("y,s,w,country\n1,NA,1, NA\n0,0.5,2,NA\n1, 0.25,NULL,DE\n1,9e-1,3,NA\n")
    with pytest.raises(ScoreError, match="got 1 missing or infinite score, in row 0"):
        rs.read(tmp_path / "a.csv", label="y", scores="s")
    read = rs.read(tmp_path / "a.csv", label="y", scores="s", weight="w", segment="country", missing="drop")
    assert (read.scores["s"].tolist(), read.sample_weight.tolist()) == ([0.5, 0.9], [2, 3])
    assert read.segment.tolist() == ["NA", "NA"]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("text", ["a", "b", "a"]),
        ("int64", [3, 4, 3]),
        ("bool", [False, True, False]),
        ("dates", [datetime.date(2024, 1, day) for day in (1, 2, 1)]),
        ("times", [datetime.datetime(2024, 1, 1, hour) for hour in (1, 2, 1)]),
    ],
)
def test_segments_and_folds_of_any_kind_split_the_rows(kind, values):
    read = rs.read({"y": [1, 0, 1], "s": [1, 2, 3], "g": values}, label="y", scores="s", segment="g", fold="g")
    assert [len(part) for part in read.by_segment().values()] == [2, 1]
    assert [len(part) for part in read.by_fold().values()] == [2, 1]


def test_weights_count_rows():
    read = rs.read({"y": [1, 0], "s": [0.5, 0.2], "w": [3, 0]}, label="y", scores="s", weight="w")
    assert levels(read.counts()) == counted([1] * 3, [0.5] * 3)
