"""The same rows through every way in give identical counts.

A way in is a function of a table, a folder to write to and options; it returns counts by model, or by segment and
model. To add an engine, add its function to WAYS.
"""

from collections import defaultdict
from functools import partial
from unittest import mock

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

import rocscope as rs
from readers import FRAMES, WRITERS
from rocscope.engines import sql as relation
from rocscope.errors import LabelError, RocscopeError
from strategies import taking

MODELS = ("a", "b")
DTYPES = {"a": ("float32", "float64"), "b": ("int64", "float64")}


def through_read(table, folder, *, weight=None, segment=None):
    preds = rs.read(table, label="y", scores=MODELS, weight=weight, segment=segment, missing="drop")
    return {model: preds.counts(model, by=segment and "segment") for model in MODELS}


def through_arrays(table, folder, *, weight=None, segment=None):
    used = [*MODELS, "y", *(name for name in (weight, segment) if name is not None)]
    whole = table.select(used).drop_null()
    columns = {name: whole[name].to_numpy(zero_copy_only=False) for name in used}
    mass, group = (None if name is None else columns[name] for name in (weight, segment))
    scores = {model: columns[model] for model in MODELS}
    preds = rs.Predictions(columns["y"], scores, sample_weight=mass, segment=group)
    return {model: preds.counts(model, by=segment and "segment") for model in MODELS}


def counted(source, **options):
    return rs.read_counts(source, label="y", scores=MODELS, missing="drop", **options)


def through_file(name, table, folder, **options):
    WRITERS[name](table, folder / name)
    return counted(folder / name, **options)


def through_frame(kind, table, folder, **options):
    return counted(FRAMES[kind](table), **options)


def through_many_files(table, folder, **options):
    """Files of three rows in groups of two, and files without rows among them."""
    for number, start in enumerate(range(0, table.num_rows, 3)):
        pa.parquet.write_table(table.slice(start, 3), folder / f"{number:03}.parquet", row_group_size=2)
        pa.parquet.write_table(table.slice(0, 0), folder / f"{number:03}-empty.parquet")
    return counted(str(folder / "*.parquet"), **options)


WAYS = {
    "arrays": through_arrays,
    "read": through_read,
    "frame": partial(through_frame, "PyArrow"),
    "frame, on disk": lambda table, folder, **options: counted(table, memory=1, **options),
    "pandas": partial(through_frame, "pandas, Arrow types"),
    "Polars": partial(through_frame, "Polars"),
    "DuckDB": partial(through_frame, "DuckDB"),
    "CSV": partial(through_file, "scores.csv"),
    "JSON": partial(through_file, "scores.jsonl"),
    "Parquet": partial(through_file, "scores.parquet"),
    "Parquet, filtered": lambda table, folder, **options: through_file(
        "scores.parquet", table, folder, where="y >= 0 OR y IS NULL", **options
    ),
    "Parquet, on disk": lambda table, folder, **options: through_file(
        "scores.parquet", table, folder, memory=1, **options
    ),
    "many files": through_many_files,
    "Arrow": partial(through_file, "scores.feather"),
    "Arrow stream": partial(through_file, "scores.arrows"),
}


def oracle(table, *, weight=None, segment=None):
    """Sums of weights by score, one row after the other."""
    sums = defaultdict(lambda: defaultdict(lambda: defaultdict(lambda: [0, 0])))
    for row in table.to_pylist():
        used = [row[name] for name in ("y", *MODELS, *(name for name in (weight, segment) if name))]
        if None not in used:
            mass = 1 if weight is None else row[weight]
            for model in MODELS:
                sums[row[segment] if segment else None][model][row[model]][1 - row["y"]] += mass
    found = {
        name: {
            model: [(score, *by_score[score]) for score in sorted(by_score, reverse=True) if any(by_score[score])]
            for model, by_score in models.items()
        }
        for name, models in sums.items()
    }
    return found if segment else found[None]


def levels(counts):
    return list(zip(counts.threshold.tolist(), counts.pos.tolist(), counts.neg.tolist(), strict=True))


@st.composite
def tables(draw):
    n = draw(st.integers(2, 12))

    def column(values, *, gaps=True):
        return draw(st.lists(st.one_of(values, st.none()) if gaps else values, min_size=n, max_size=n))

    eighths = st.integers(-8, 8).map(lambda number: number / 8)
    whole = {"b": st.integers(-3, 3), "a": eighths}
    scores = {model: draw(st.sampled_from(DTYPES[model])) for model in MODELS}
    table = pa.table(
        {
            "y": pa.array(column(st.integers(0, 1), gaps=draw(st.booleans())), pa.int8()),
            "a": pa.array(column(whole["a"]), pa.from_numpy_dtype(scores["a"])),
            "b": pa.array(column(whole["b"]), pa.from_numpy_dtype(scores["b"])),
            "w": pa.array(column(st.sampled_from([0.25, 0.5, 1.0, 2.0])), pa.float64()),
            "k": pa.array(column(st.integers(1, 3), gaps=False), pa.int64()),
            "g": pa.array(column(st.sampled_from(["east", "west", "nord"])), pa.string()),
        }
    )
    # One row without gaps, so that something is left.
    row = {"y": 1, "a": 0.5, "b": 1, "w": 1.0, "k": 2, "g": "east"}
    return pa.concat_tables([table, pa.Table.from_pylist([row], table.schema)])


OPTIONS = [
    {},
    {"weight": "w"},
    {"weight": "k"},
    {"segment": "g"},
    {"segment": "g", "weight": "w"},
]


@pytest.mark.every(7)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("path", ["small", "compiled"])
@settings(max_examples=settings.default.max_examples // 5)  # of each of many ways
@given(data=st.data())
def test_counts_are_identical(tmp_path_factory, path, way, data):
    table, options = data.draw(tables()), data.draw(st.sampled_from(OPTIONS))
    with taking(path):
        found = WAYS[way](table, tmp_path_factory.mktemp("way"), **options)
        expected = oracle(table, **options)
        if "segment" not in options:
            assert {model: levels(counts) for model, counts in found.items()} == expected
            return
        for model in MODELS:
            assert list(found[model]) == sorted(expected)
            assert {name: levels(part) for name, part in found[model].items()} == {
                name: by_model[model] for name, by_model in expected.items()
            }


@pytest.mark.every(2)
@pytest.mark.parametrize("memory", [None, "1 MB"])
def test_many_rows_are_ranked_alike_in_memory_and_on_disk(tmp_path, memory):
    generator = np.random.default_rng(0)
    n = 300_000
    y = generator.random(n) < 0.3
    logits = generator.standard_normal(n)
    scores = {
        "probability": (1 / (1 + np.exp(-logits))).astype(np.float32),
        "logit": logits,
        "one level": np.where(logits < 1, 0.0, logits),
        "whole": generator.integers(-(2**62), 2**62, n),
    }
    weight = generator.integers(0, 3, n)
    table = pa.table({"y": y, "w": weight, **scores})
    pa.parquet.write_table(table, tmp_path / "many.parquet", row_group_size=50_000)
    plain = rs.read_counts(tmp_path / "many.parquet", label="y", scores=list(scores), memory=memory)
    weighted = rs.read_counts(tmp_path / "many.parquet", label="y", scores=list(scores), weight="w", memory=memory)
    for name, values in scores.items():
        assert plain[name].pairs() == rs.ThresholdCounts.from_scores(y, values).pairs()
        assert plain[name] == rs.ThresholdCounts.from_scores(y, values)
        assert plain[name].threshold.dtype == values.dtype
        assert weighted[name] == rs.ThresholdCounts.from_scores(y, values, sample_weight=weight)


@pytest.mark.parametrize("read", [rs.read_counts, rs.engines.read_sketch])
def test_a_refused_relation_leaves_its_connection_free(read):
    connection = duckdb.connect()
    relation = connection.sql("SELECT range % 2 + 2 * (range = 900000)::INT AS y, range AS a FROM range(1000000)")

    def progress(rows, of):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as interrupted:
        read(relation, label="y", scores="a", progress=progress)
    assert connection.sql("SELECT 1").fetchall() == [(1,)]
    with pytest.raises(LabelError) as refused:
        read(relation, label="y", scores="a")
    assert connection.sql("SELECT 1").fetchall() == [(1,)]
    assert interrupted.traceback
    assert refused.traceback  # what was under way is held by these, and is closed all the same


@pytest.mark.every(4)
@pytest.mark.parametrize("options", [{}, {"segment": "g"}, {"segment": "k"}, {"where": "a > -0.5"}])
@settings(max_examples=settings.default.max_examples // 2)
@given(table=tables(), model=st.sampled_from(MODELS))
def test_what_duckdb_adds_up_is_what_it_streams(options, table, model):
    asked = {"label": "y", "scores": model, "missing": "drop"} | options
    expected = rs.read_counts(table, **asked)
    with mock.patch.object(relation, "SAMPLED", 1), mock.patch.object(relation.streaming, "count", None):
        found = rs.read_counts(duckdb.from_arrow(table), **asked)
    named = ("rows_read", "rows_dropped", "where")
    assert [getattr(found.source, name) for name in named] == [getattr(expected.source, name) for name in named]
    pairs = [(found[name], expected[name]) for name in expected]
    assert list(found) == list(expected)
    for ours, theirs in pairs:
        assert ours == theirs
        assert ours.threshold.dtype == theirs.threshold.dtype
        assert type(ours.n) is type(theirs.n)


@pytest.mark.parametrize(
    ("score", "asked", "added"),
    [
        ("range % 100", {}, True),
        ("(range % 100)::FLOAT", {"segment": "g"}, True),
        ("range", {}, False),
        ("range % 100", {"memory": "1 GB"}, False),
        ("range % 100", {"weight": "g"}, False),
        ("(range % 100)::DECIMAL(9, 2)", {}, False),
        ("(range % 100)::DOUBLE / (range % 100 - 3)", {"missing": "drop"}, True),
    ],
)
def test_duckdb_adds_up_rows_of_few_scores(monkeypatch, score, asked, added):
    rows = duckdb.sql(f"SELECT range % 3 = 0 AS y, {score} AS a, range % 7 + 1 AS g FROM range(150000)")
    whole = rows.to_arrow_table()
    expected = rs.read_counts(whole, label="y", scores="a", **asked)
    streamed = []
    original = relation.streaming.count
    monkeypatch.setattr(relation.streaming, "count", lambda *given: streamed.append(1) or original(*given))
    found = rs.read_counts(rows, label="y", scores="a", **asked)
    assert dict(found) == dict(expected)
    assert bool(streamed) != added


def test_what_is_wrong_with_a_relation_is_told_as_of_any_source():
    rows = duckdb.sql("SELECT range % 3 AS y, range % 9 AS a, nullif(range % 9, 4) AS b FROM range(150000)")
    for scores, label in (("a", "y"), ("b", "y"), ("c", "y"), ("a", "a")):
        errors = []
        for source in (rows, rows.to_arrow_table()):
            with pytest.raises(RocscopeError) as caught:
                rs.read_counts(source, label=label, scores=scores)
            errors.append(str(caught.value).replace("DuckDB relation", "").replace("pyarrow Table", ""))
        assert errors[0] == errors[1]
