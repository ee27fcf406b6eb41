"""The same rows in every format and library: one statistic, to the last bit."""

import io
import subprocess
import sys
import types

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import rocscope as rs
from readers import FRAMES, WRITERS, counted, levels, write_csv
from rocscope.core.predictions import Provenance

every_file = pytest.mark.parametrize("name", WRITERS)
every_frame = pytest.mark.parametrize("name", FRAMES)
same_folder = settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

TYPED_FRAMES = [name for name in FRAMES if name != "dict of lists"]

SCORES = {
    "float64": st.floats(allow_nan=False, allow_infinity=False),
    "ties": st.sampled_from([-0.0, 0.0, 0.1, 0.1 + 0.2, 0.3, 5e-324, 1e300]),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "neighbours above 2^53": st.integers(2**53, 2**53 + 3),
}


@st.composite
def tables(draw, kind):
    scores = draw(st.lists(SCORES[kind], min_size=1, max_size=20))
    labels = draw(st.lists(st.integers(0, 1), min_size=len(scores), max_size=len(scores)))
    return pa.table({"y": labels, "s": scores})


@pytest.mark.every(11)
@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("name", WRITERS)
@same_folder
@given(data=st.data())
def test_a_file_gives_the_counts_of_its_rows(tmp_path, name, kind, data):
    table = data.draw(tables(kind))
    WRITERS[name](table, tmp_path / name)
    read = rs.read(tmp_path / name, label="y", scores="s")
    assert levels(read.counts()) == counted(*table.to_pydict().values())
    assert read.source == Provenance((str(tmp_path / name),), rows_read=table.num_rows)


@pytest.mark.every(4)
@every_frame
@pytest.mark.parametrize("kind", SCORES)
@same_folder
@given(data=st.data())
def test_a_frame_gives_the_counts_of_its_rows(name, kind, data):
    table = data.draw(tables(kind))
    read = rs.read(FRAMES[name](table), label="y", scores=["s"])
    assert levels(read.counts("s")) == counted(*table.to_pydict().values())
    assert read.scores["s"].dtype == table["s"].to_numpy().dtype


@pytest.mark.every(5)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
@pytest.mark.parametrize("name", ["scores.parquet", "scores.feather", "scores.arrows", *TYPED_FRAMES])
def test_scores_keep_their_type(tmp_path, name, dtype):
    scores = np.array([1, 0, 3, 2], dtype) / 1 if dtype[0] == "f" else np.array([1, 0, 3, 2], dtype)
    scores[0] = np.finfo(dtype).max if dtype[0] == "f" else np.iinfo(dtype).max
    table = pa.table({"y": np.array([1, 0, 1, 0], np.int8), "s": scores.astype(dtype)})
    source = tmp_path / name if name in WRITERS else None
    if source is None:
        if dtype == "f2" and name in ("Polars", "Polars, lazy", "dict of series", "DuckDB"):
            pytest.skip(f"{name}: this library takes no float16")
        source = FRAMES[name](table)
    elif source.suffix == ".feather" and dtype == "f2":
        WRITERS["scores.arrows"](table, source)
    else:
        WRITERS[name](table, source)
    read = rs.read(source, label="y", scores="s").scores["s"]
    widened = dtype == "f2" and name == "scores.parquet"  # DuckDB has no float16; float32 holds it
    assert read.dtype == ("f4" if widened else dtype)
    assert read.tolist() == scores.astype(dtype).tolist()


def rows(n=6):
    return pa.table({"y": [1, 0, 1, 0, 1, 0][:n], "s": [0.9, 0.8, 0.7, 0.6, 0.5, 0.4][:n], "g": list("aabbcc")[:n]})


@pytest.mark.parametrize("name", ["scores.csv", "scores.jsonl", "scores.parquet", "scores.feather"])
def test_globs_folders_and_lists_are_read_in_alphabetical_order(tmp_path, name):
    folder = tmp_path / "out [1]*"
    folder.mkdir()
    suffix = name.removeprefix("scores")
    for part, start in (("b", 3), ("a", 0)):
        WRITERS[name](rows().slice(start, 3), folder / f"part-{part}{suffix}")
    (folder / "_SUCCESS").write_text("")
    (folder / ".part.crc").write_text("x")
    (folder / "README.md").write_text("x")
    parts = [folder / f"part-{part}{suffix}" for part in "ab"]
    glob = str(tmp_path / "out ?1[]][*]" / f"part-?{suffix}")
    for source in (folder, glob, parts):
        read = rs.read(source, label="y", scores="s", segment="g")
        assert read.scores["s"].tolist() == rows()["s"].to_pylist()
        assert read.segment.tolist() == list("aabbcc")
        assert read.source.origin == tuple(map(str, parts))


def test_a_path_that_exists_is_not_a_pattern(tmp_path):
    write_csv(rows(2), tmp_path / "s*.csv")
    write_csv(rows(6), tmp_path / "scores.csv")
    assert len(rs.read(tmp_path / "s*.csv", label="y", scores="s", where="true")) == 2


def test_folders_named_key_value_are_columns_unless_the_files_have_them(tmp_path):
    for region, start in (("eu", 0), ("us", 3)):
        folder = tmp_path / f"region={region}" / "g=x"
        folder.mkdir(parents=True)
        pa.parquet.write_table(rows().slice(start, 3).drop_columns("g"), folder / "part.parquet")
    read = rs.read(tmp_path, label="y", scores="s", segment="region", where="region <> 'eu'")
    assert read.segment.tolist() == ["us"] * 3
    pa.parquet.write_table(rows(), tmp_path / "region=eu" / "g=x" / "part.parquet")
    one = rs.read(tmp_path / "region=eu" / "g=x" / "part.parquet", label="y", scores="s", segment="g")
    assert one.segment.tolist() == list("aabbcc")


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("scores.csv", "csv"),
        ("scores.csv.gz", "csv"),
        ("scores.csv.zst", "csv"),
        ("scores.tsv", "tsv"),
        ("scores.jsonl", "jsonl"),
        ("scores.parquet", "parquet"),
        ("scores.feather", "arrow"),
        ("scores.arrows", "arrow"),
    ],
)
def test_streams_are_read_like_files(tmp_path, monkeypatch, name, format):
    WRITERS[name](rows(), tmp_path / name)
    content = (tmp_path / name).read_bytes()
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(content)))
    before = set(tmp_path.iterdir())
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    from_stdin = rs.read("-", label="y", scores="s", where="s > 0.5", format=format)
    from_stream = rs.read(io.BytesIO(content), label="y", scores="s", where="s > 0.5", format=format)
    assert levels(from_stdin.counts()) == levels(from_stream.counts()) == counted([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6])
    assert from_stdin.source == Provenance(("<stdin>",), rows_read=4, where="s > 0.5")
    assert from_stream.source.origin == ("BytesIO",)
    assert set(tmp_path.iterdir()) == before


def test_the_format_can_be_told_where_the_name_does_not_tell_it(tmp_path):
    (tmp_path / "part-0000").write_text("y\ts\n1\t0.5\n0\t0.25\n")
    for source in (tmp_path / "part-0000", tmp_path):
        assert rs.read(source, label="y", scores="s", format="tsv").scores["s"].tolist() == [0.5, 0.25]


def test_row_order_survives_threads(tmp_path):
    n = 400_000
    table = pa.table({"y": np.arange(n) % 2, "s": np.arange(n)})
    pa.parquet.write_table(table, tmp_path / "a.parquet", row_group_size=10_000)
    write_csv(table, tmp_path / "a.csv")
    for source in (tmp_path / "a.parquet", tmp_path / "a.csv", table, pl.from_arrow(table)):
        assert np.array_equal(rs.read(source, label="y", scores="s", where="s >= 7").scores["s"], np.arange(7, n))


def test_only_the_columns_used_are_read(tmp_path):
    frame = pd.DataFrame({"y": [1, 0], "s": [0.5, 0.2], "junk": [object(), [1]]})
    assert len(rs.read(frame, label="y", scores="s", where="s > 0")) == 2


def test_numbers_may_change_after_any_number_of_whole_ones(tmp_path):
    lines = ["1,0"] * 60_000 + ["0,0.5"]
    (tmp_path / "late.csv").write_text("\n".join(["y,s", *lines]))
    (tmp_path / "late.jsonl").write_text("\n".join('{{"y":{},"s":{}}}'.format(*line.split(",")) for line in lines))
    for name in ("late.csv", "late.jsonl"):
        assert levels(rs.read(tmp_path / name, label="y", scores="s").counts()) == [(0.5, 0, 1), (0.0, 60_000, 0)]


def test_text_files_may_hold_whole_numbers_in_one_and_others_in_the_next(tmp_path):
    for number, score in enumerate(("1", "0.5")):
        (tmp_path / f"{number}.csv").write_text(f"y,s\n1,{score}\n")
        (tmp_path / f"{number}.jsonl").write_text(f'{{"y":1,"s":{score}}}\n')
    for pattern in ("*.csv", "*.jsonl"):
        assert rs.read(str(tmp_path / pattern), label="y", scores="s").scores["s"].tolist() == [1.0, 0.5]


def test_reading_leaves_nothing_behind_and_needs_no_home(tmp_path):
    write_csv(rows(), tmp_path / "scores.csv")
    code = "import rocscope as rs; print(len(rs.read('scores.csv', label='y', scores='s', where='s > 0.5')))"
    environment = {"PYTHONPATH": ":".join(sys.path), "HOME": "/nowhere", "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("4\n", "")
    assert [path.name for path in tmp_path.iterdir()] == ["scores.csv"]
