"""read_counts of very many segments: what their rows give in memory, however they come."""

from unittest import mock

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv, feather

import rocscope as rs
from rocscope.engines import streaming
from rocscope.errors import InputError


@pytest.mark.every(11)
@pytest.mark.parametrize("kind", ["whole", "far apart", "negative", "text", "text that comes late"])
@pytest.mark.parametrize("memory", [None, "300 kB", 1])
@pytest.mark.parametrize("weight", [None, "w"])
def test_many_segments_in_many_batches(tmp_path, kind, memory, weight):
    generator = np.random.default_rng(3)
    n = 30_000
    user = generator.integers(0, 40 if memory else 2_000, n)
    names = {
        "whole": user,
        "far apart": user * 2**50,
        "negative": user - 5,
        "text": np.char.add("user ", user.astype(str)),
        "text that comes late": np.char.add("user ", (user + np.arange(n) // 3_000).astype(str)),
    }
    y, s = generator.random(n) < 0.4, generator.standard_normal(n).round(1).astype(np.float32)
    table = pa.table({"y": y, "s": s, "g": names[kind], "w": generator.integers(1, 4, n) / 4})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=4_000)
    found = rs.read_counts(tmp_path, label="y", scores="s", segment="g", weight=weight, memory=memory)
    mass = None if weight is None else table["w"].to_numpy()
    whole = rs.Predictions(y, s, segment=names[kind], sample_weight=mass).counts(by="segment")
    assert list(found) == list(whole)
    np.testing.assert_array_equal(found.auc(), whole.auc())
    assert found.source.rows_read == n


def test_a_segment_without_weight_is_refused():
    rows = {"y": [0, 1, 1], "s": [1, 2, 3], "w": [0, 1, 1], "g": ["a", "b", "b"]}
    with pytest.raises(InputError, match="expected at least one weight above 0, got only zeros"):
        rs.read_counts(rows, label="y", scores="s", weight="w", segment="g")


WORDS = ["", "b", "a\0", "a", "ä", "\U0001f600", "\uffff", None]


def _coded(words):
    """Return a dictionary column in two chunks, with one entry twice and one that no row has."""
    entries = pa.array([*WORDS[:-1], "a", "none"])
    place = [
        None if word is None else 7 if word == "a" and i % 2 else WORDS.index(word) for i, word in enumerate(words)
    ]
    some = [pa.DictionaryArray.from_arrays(pa.array(part, pa.int8()), entries) for part in (place[:70], place[70:])]
    return pa.chunked_array(some)


def _saved(table, path):
    feather.write_feather(table, path, chunksize=30)
    return path


TEXT_COLUMNS = {
    "string": pa.array,
    "large": lambda words: pa.array(words, pa.large_string()),
    "view": lambda words: pa.array(words, pa.string_view()),
    "dictionary": _coded,
}
SOURCES = {
    "table": lambda table, path: table,
    "chunks": lambda table, path: pa.Table.from_batches(table.to_batches(max_chunksize=30)),
    "Arrow file": lambda table, path: _saved(table, path / "a.arrow"),
    "Parquet": lambda table, path: pq.write_table(table, path / "a.parquet", row_group_size=50) or path / "a.parquet",
    "DuckDB": lambda table, path: duckdb.from_arrow(table),
    "CSV": lambda table, path: csv.write_csv(table, path / "a.csv") or path / "a.csv",
}


@pytest.mark.every(5)
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("kind", TEXT_COLUMNS)
@pytest.mark.parametrize("memory", [None, 1])
def test_text_segments_however_they_come(tmp_path, kind, source, memory):
    words = [WORDS[i] for i in np.random.default_rng(0).integers(0, 8, 200)]
    score = np.arange(200) * 7 % 60
    label = (score + np.arange(200) % 50) > 50
    table = pa.table({"y": label.astype(int), "s": score, "g": TEXT_COLUMNS[kind](words)})
    if source == "CSV":
        table = table.set_column(2, "g", table["g"].cast(pa.string()))
        words = [word or None for word in words]
    opened = SOURCES[source](table, tmp_path)
    with mock.patch.object(streaming, "_ROWS_TO_SORT", 64):
        found = rs.read_counts(opened, label="y", scores="s", segment="g", memory=memory, missing="drop")
    assert list(found) == sorted({word for word in words if word is not None})
    assert found.source.rows_dropped == words.count(None)
    for name, counts in found.items():
        own = [i for i, word in enumerate(words) if word == name]
        above = [(label[own] & (score[own] >= t)).sum() for t in sorted(set(score[own]), reverse=True)]
        assert counts.tp.tolist() == above
    with pytest.raises(InputError, match=f"got {words.count(None)} missing or infinite"):
        rs.read_counts(opened, label="y", scores="s", segment="g", memory=memory)


@pytest.mark.parametrize("read", [rs.read_counts, lambda *a, **k: rs.read(*a, **k).counts(by="segment")])
def test_a_row_is_missing_by_its_entry_too(read):
    segment = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0], pa.int8()), pa.array(["a", None, "b"]))
    table = pa.table({"y": [0, 1, 0, 1], "s": [1, 2, 3, 4], "g": segment})
    found = read(table, label="y", scores="s", segment="g", missing="drop")
    assert (found.names.tolist(), found.n.tolist(), found.source.rows_dropped) == (["a", "b"], [2, 1], 1)
    with pytest.raises(InputError, match="got 1 missing or infinite value, in row 1"):
        read(table, label="y", scores="s", segment="g")
