"""What describe says of a source, against a slow count of each column."""

import json
import math
import time
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, strategies as st

from readers import FRAMES, WRITERS
from rocscope.engines import describe
from rocscope.engines.formats import FileLayout
from rocscope.engines.tables import open_parquet
from rocscope.errors import ColumnError, EngineError

TABLE = pa.table(
    {
        "y": ["yes", "no", "no", None, "no"],
        "p": [0.9, 0.5, 0.5, 0.1, None],
        "n": [3, 1, 2, 3, 3],
        "x": [0.0, float("inf"), 1.0, 0.5, 0.25],
        "free text": [f"customer {i}" for i in range(5)],
    }
)


@pytest.mark.parametrize("name", ["scores.csv", "scores.parquet", "scores.feather", *FRAMES])
def test_facts_of_each_column(tmp_path, name):
    source = FRAMES[name](TABLE) if name in FRAMES else tmp_path / name
    if name in WRITERS:
        WRITERS[name](TABLE, source)
    found = describe(source)
    assert (found.rows, [column.name for column in found.columns]) == (5, TABLE.column_names)
    assert (found.label_candidates, found.score_candidates) == (["y"], ["p", "n", "x"])
    assert (found["y"].missing, found["y"].classes, found["y"].is_number) == (1, {"no": 3, "yes": 1}, False)
    assert (found["p"].missing, found["p"].distinct, found["p"].tied, found["p"].maximum) == (1, 3, 0.5, 0.9)
    assert (found["n"].classes, found["n"].tied, found["n"].is_probability_like) == ({1: 1, 2: 1, 3: 3}, 0.6, False)
    assert (found["x"].infinite, found["x"].missing, found["x"].maximum) == (1, 0, 1.0)
    assert [column.name for column in found.columns if column.is_probability_like] == ["p"]
    assert found["free text"].distinct == 5
    assert found.problems == ()


@given(st.lists(st.none() | st.sampled_from([-0.0, 0.0, 0.5, 1.0, math.inf, math.nan]) | st.floats(), max_size=40))
def test_numbers_are_counted_as_one_by_one(values):
    facts = describe({"s": pa.array(values, pa.float64()).to_numpy(zero_copy_only=False)})["s"]
    finite = [value for value in values if value is not None and math.isfinite(value)]
    levels = Counter(finite)
    assert facts.infinite == sum(value is not None and math.isinf(value) for value in values)
    assert facts.missing == len(values) - facts.infinite - len(finite)
    assert facts.distinct == len(levels)
    assert facts.tied == pytest.approx(sum(n for n in levels.values() if n > 1) / max(len(finite), 1))
    assert (facts.minimum, facts.maximum) == ((min(finite), max(finite)) if finite else (None, None))
    assert facts.classes == (dict(levels) if len(levels) <= 20 else None)


@pytest.mark.parametrize("distinct", [19, 20, 21])
def test_classes_are_listed_up_to_twenty(distinct):
    facts = describe({"t": [str(i) for i in range(distinct)] * 2, "n": list(range(distinct)) * 2})
    assert facts["t"].distinct == (distinct if distinct <= 20 else None)
    assert (facts["t"].classes is None) == (facts["n"].classes is None) == (distinct > 20)
    assert facts["n"].distinct == distinct


def test_labels_of_many_classes_are_a_problem_without_their_number():
    table = {"y": [f"class {number}" for number in range(30)], "s": list(range(30))}
    problems = describe(table, label="y").problems
    assert problems == ("label 'y': expected two classes, got more than 20 classes",)


def test_named_columns_alone_are_described_with_their_problems():
    source = {"y": [1, 0, 2, None], "a": [0.5, None, 0.5, math.inf], "t": ["x", "y", "x", "y"], "c": [1, 1, 1, 1]}
    found = describe(source, label="y", scores=["a", "t", "c"])
    assert [column.name for column in found.columns] == ["y", "a", "t", "c"]
    assert found.problems == (
        "label 'y': 1 missing or infinite value",
        "label 'y': expected two classes, got 3 classes",
        "score 'a': 2 missing or infinite values",
        "score 'a': all values are equal",
        "score 't': expected numbers, got values of type string",
        "score 'c': all values are equal",
    )
    assert [column.name for column in describe(source, scores="a").columns] == ["a"]
    assert (
        describe(source, label="t", scores="a", where="a = 0.5 AND y = 1")
        .problems[0]
        .endswith("two classes, got 1 class")
    )


def test_wide_sources_are_described_column_by_column():
    columns = {f"c{i}": [i, i + 1] for i in range(30)}
    found = describe(columns, where="c0 >= 0")
    assert [column.minimum for column in found.columns] == list(range(30))


def test_columns_that_cannot_be_told_apart_are_named_as_a_problem(tmp_path):
    (tmp_path / "a.csv").write_text("y,s,s\n1,0.5,0.25\n0,0.1,0.75\n")
    found = describe(tmp_path / "a.csv")
    assert ([column.name for column in found.columns], found.problems) == (["y"], ("several columns are named 's'",))
    with pytest.raises(ColumnError, match="expected one column named 's', got 2 columns"):
        describe(tmp_path / "a.csv", scores="s")


def test_columns_that_are_neither_numbers_nor_names_are_listed(tmp_path):
    table = pa.table({"y": [1, 0], "l": [[1], None], "r": [{"a": 1}, {"a": 2}], "nothing": pa.nulls(2)})
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    for source in (table, tmp_path / "a.parquet"):
        found = describe(source)
        assert (found["l"].missing, found["l"].distinct, found["r"].is_number) == (1, None, False)
        assert (found["nothing"].missing, found["nothing"].distinct) == (2, 0)


def test_a_description_is_safe_for_json_and_for_html():
    found = describe(pd.DataFrame({"<b>": [True, False], "p": [0.1, float("-inf")]}))
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert content["columns"][0]["classes"] == [{"value": False, "rows": 1}, {"value": True, "rows": 1}]
    assert (content["rows"], content["label_candidates"], content["columns"][1]["infinite"]) == (2, ["<b>"], 1)
    assert "&lt;b&gt;" in found._repr_html_()
    assert "<b>" not in found._repr_html_()
    assert repr(found) == "Description(pandas DataFrame, rows=2, columns=2, label_candidates=['<b>'], problems=0)"


def test_names_that_are_not_there():
    with pytest.raises(ColumnError, match=r"label of the dict: expected 'y', got 'z'"):
        describe({"y": [1, 0]}, label="z")
    with pytest.raises(ColumnError, match="column: expected 'y'"):
        describe({"y": [1, 0]})["z"]
    with pytest.raises(EngineError, match="no such file"):
        describe("nowhere.csv")


def test_the_time_for_a_column_does_not_depend_on_the_number_of_others(tmp_path):
    names = [f"attribute {number}" for number in range(2_000)]
    pyarrow.parquet.write_table(pa.table({name: [1, 0] for name in names}), tmp_path / "wide.parquet")
    begin = time.process_time()
    facts = describe(tmp_path / "wide.parquet")
    assert [column.name for column in facts.columns] == names
    assert time.process_time() - begin < 8, "a second or so; one query for every eight columns took 50 s"


def test_columns_that_are_sorted_together_have_the_facts_of_each_alone(monkeypatch):
    generator = np.random.default_rng(7)
    large = np.array([2**53, 2**53 + 1, 2**63 + 5, 0] * 8, np.uint64)
    columns = {
        "few": pa.array(generator.integers(0, 3, 32)),
        "many": pa.array(generator.integers(0, 1_000, 32)),
        "tied": pa.array(generator.integers(0, 30, 32).astype(float)),
        "float32": pa.array(generator.random(32).astype(np.float32)),
        "constant": pa.array(np.full(32, 0.5)),
        "large": pa.array(large),
        "signed zero": pa.array([0.0, -0.0] * 16),
        "nan": pa.array([np.nan, *generator.random(31)]),
        "infinite": pa.array([-np.inf, *generator.random(31)]),
        "missing": pa.array([None, *range(31)]),
        "boolean": pa.array([True, False] * 16),
        "text": pa.array(["a", "b"] * 16),
    }
    table = pa.concat_tables([pa.table(columns).slice(0, 10), pa.table(columns).slice(10)])
    together = describe(table).columns
    monkeypatch.setattr("rocscope.engines.description._MOST_ROWS_TOGETHER", 0)
    assert together == describe(table).columns
    assert together[0].classes == dict(sorted(Counter(columns["few"].to_pylist()).items()))
    assert (together[5].distinct, together[5].minimum, together[5].maximum) == (4, 0, 2**63 + 5)


def test_very_many_columns_of_a_parquet_file_are_described_as_in_memory(tmp_path, run):
    """Floats, whole numbers of two encodings and text, in another order than in the file."""
    rng = np.random.default_rng(0)
    columns = {"y": pa.array([0, 1, 1, 0], pa.int64()), "name": ["a", "b", "a", "b"]}
    columns |= {f"x{number}": rng.random(4).round(1) for number in range(300)}
    columns |= {"small": pa.array([1, -5, 7, 7], pa.int16()), "deltas": pa.array([7, 5, 2**31 - 1, 3], pa.int32())}
    table = pa.table(columns)
    path = tmp_path / "wide.parquet"
    encodings = {"deltas": "DELTA_BINARY_PACKED"}
    pa.parquet.write_table(table, path, use_dictionary=False, column_encoding=encodings)
    assert describe(path).columns == describe(table).columns
    chosen = ["x7", "y", "deltas"]
    assert describe(path, label="y", scores=["deltas", "x7"]).columns == tuple(
        describe(table)[name] for name in ("y", "deltas", "x7")
    )
    assert table.select(chosen).equals(open_parquet([str(path)], ("wide",), FileLayout()).fetch(chosen))
    code, out, _ = run("validate", path, "--json")
    assert (code, len(json.loads(out)["columns"])) == (0, 304)


def test_validate_refuses_a_missing_file_though_no_column_is_named(run):
    code, out, err = run("validate", "nothing.parquet")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "nothing.parquet" in err
