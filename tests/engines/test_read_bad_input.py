"""Sources that cannot be read: one line that names the source and says what is wrong, whatever library found it."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import rocscope as rs
from readers import FRAMES, WRITERS
from rocscope.engines import describe, tables as database
from rocscope.engines.formats import condense, one_line_errors
from rocscope.errors import (
    ColumnError,
    EngineError,
    InputError,
    LabelError,
    MissingDependencyError,
    RocscopeError,
    ScoreError,
    ShapeError,
    WeightError,
)

TABLE = pa.table({"y": [1, 0, 1], "s": [0.9, 0.8, 0.7]})


def failing(source, error, words=None, **options):
    """Check that reading fails with one line that a user can act on, and no cause behind it."""
    with pytest.raises(error, match=words or None) as caught:
        rs.read(source, **{"label": "y", "scores": "s"} | options)
    message = str(caught.value)
    assert isinstance(caught.value, RocscopeError)
    assert "\n" not in message
    assert len(message) < 600
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return message


def parquet_bytes(table=TABLE):
    sink = io.BytesIO()
    pa.parquet.write_table(table, sink)
    return sink.getvalue()


def feather_bytes():
    sink = io.BytesIO()
    pa.feather.write_feather(TABLE, sink)
    return sink.getvalue()


CONTENTS = {
    "empty.csv": (b"", "the file is empty"),
    "empty.parquet": (b"", "the file is empty"),
    "blank.csv": (b"\n\n", ""),
    "quote.csv": (b'y,s\n1,0.5\n0,"0.25\n1,0.75\n', "line 3: .*unterminated quote"),
    "header quote.csv": (b'y,"s\n1,0.5\n0,0.25\n', ""),
    "long.csv": (b"y,s\n1,0.5\n0,0.25,7\n", "line 3: Expected Number of Columns: 2 Found: 3"),
    "short.csv": (b"y,s\n1,0.5\n0\n", "line 3: Expected Number of Columns: 2 Found: 1"),
    "bytes.csv": (bytes(range(256)) * 8, "expected UTF-8 text"),
    "mixed ends.csv": (b"y,s\r\n1,0.5\n0,0.1\r\n", "two kinds of line endings"),
    "late latin1.csv": (b"y,s,g\n" + b"1,0.5,x\n" * 200_000 + b"0,0.1,caf\xe9\n", "(?i)unicode|utf-?8"),
    "not.csv.gz": (b"y,s\n1,0.5\n", "expected a file compressed by gzip, got another kind of file"),
    "cut.csv.gz": (None, "(?i)truncated|unexpected end"),
    "not.parquet": (b"y,s\n1,0.5\n" * 10, "(?i)magic|parquet"),
    "cut.parquet": (parquet_bytes()[:-20], "(?i)magic|parquet"),
    "footer.parquet": (b"PAR1" + b"x" * 100 + b"PAR1", "(?i)footer"),
    "not.feather": (b"not an Arrow file at all, by any means", ""),
    "cut.feather": (feather_bytes()[:200], ""),
    "broken.jsonl": (b'{"y":1,"s":0.5}\n{"y":0,"s":\n', "(?i)malformed|json"),
    "not.json": (b"y,s\n1,0.5\n", "(?i)malformed|json"),
}


@pytest.mark.every(4)
@pytest.mark.parametrize("name", CONTENTS)
def test_a_broken_file_is_an_engine_error_that_names_it(tmp_path, name):
    content, words = CONTENTS[name]
    path = tmp_path / name
    if content is None:
        WRITERS["scores.csv.gz"](TABLE, path)
        content = path.read_bytes()[:-12]
    path.write_bytes(content)
    assert str(path) in failing(path, EngineError, words)
    with pytest.raises(EngineError, match=re.escape(str(path))):
        describe(path)


def test_flipped_bytes_in_a_parquet_file_never_leak_an_exception_of_a_library(tmp_path):
    good = parquet_bytes(pa.table({"y": np.arange(50) % 2, "s": np.arange(50) / 7}))
    random = np.random.default_rng(0)
    for _ in range(50):
        broken = bytearray(good)
        for position in random.integers(4, len(good), 3):
            broken[position] = random.integers(256)
        (tmp_path / "a.parquet").write_bytes(broken)
        try:
            rs.read(tmp_path / "a.parquet", label="y", scores="s")
        except RocscopeError as error:
            assert "\n" not in str(error)


def test_places_where_there_is_nothing_to_read(tmp_path):
    (tmp_path / "README.md").write_text("x")
    (tmp_path / "_temporary").mkdir()
    (tmp_path / "_temporary" / "a.csv").write_text("y,s\n1,0.5\n")
    failing(tmp_path, EngineError, "this folder contains no data file; names of data files end in .csv")
    failing(tmp_path / "a.csv", EngineError, "a.csv: no such file or folder")
    failing(str(tmp_path / "*.csv"), EngineError, "no file matches this pattern")
    failing("s3://bucket/a.parquet", EngineError, "no such file or folder; download the file first, because only local")
    failing(
        tmp_path / "README.md",
        EngineError,
        r"in a known extension; pass format= with one of csv, tsv",
    )
    failing([], EngineError, "files: expected at least one file, got no file")
    failing(tmp_path / ("x" * 300), EngineError)
    failing("a\0b.csv", EngineError)


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.feather"])
def test_a_file_that_may_not_be_read(tmp_path, name):
    path = tmp_path / name
    WRITERS[name.replace("a.", "scores.")](TABLE, path)
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read any file")
    failing(path, EngineError, f"{name}: Permission denied")


def test_files_of_several_formats_are_refused(tmp_path):
    for name in ("scores.csv", "scores.parquet"):
        WRITERS[name](TABLE, tmp_path / name)
    failing(tmp_path, EngineError, r"files: expected files of one format, got csv \(.*\) and parquet \(")


@pytest.mark.parametrize("name", ["scores.parquet", "scores.feather", "scores.jsonl"])
def test_files_of_different_schemas_are_refused_where_it_matters(tmp_path, name):
    suffix = name.removeprefix("scores")
    WRITERS[name](TABLE, tmp_path / f"a{suffix}")
    other = pa.table({"s": ["high", "low"], "y": [1, 0], "z": [0.5, 0.25]})
    WRITERS[name](other, tmp_path / f"b{suffix}")
    failing(tmp_path, EngineError, "column 's'")
    WRITERS[name](other.drop_columns("s"), tmp_path / f"b{suffix}")
    failing(tmp_path, EngineError, "b.*column 's'")
    failing(tmp_path, EngineError, "column 's'", scores="y", where="s > 0")
    assert len(rs.read(tmp_path, label="y", scores="y")) == 5


def test_whole_and_other_numbers_in_parquet_files_are_not_cast_to_the_type_of_the_first(tmp_path):
    for number, scores in enumerate(([1, 2], [0.5, 0.25])):
        pa.parquet.write_table(pa.table({"y": [1, 0], "s": scores}), tmp_path / f"{number}.parquet")
    failing(tmp_path, EngineError, "1.parquet: column 's' has type BIGINT in .*0.parquet, but has type DOUBLE here")


def test_csv_files_of_different_columns_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("y,s\n1,0.5\n")
    (tmp_path / "b.csv").write_text("s,y\n0.5,1\n")
    failing(tmp_path, EngineError, "b.csv: expected the columns .* of .*a.csv, got")


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("", "where=''"),
        ("s >", "where='s >': syntax error"),
        ("nope > 1", "Referenced column .nope. not found"),
        ("s > 0); DROP TABLE x; --", "where="),
        ("s > 0; SELECT 1", "where="),
        ("sum(s) OVER () > 1", "window"),
        ("s > 0) UNION SELECT 1, 2 --", "where="),
        ("sum(s) > 1", "cannot contain aggregates"),
        ("s = 'high'", "Could not convert string 'high' to DOUBLE"),
        ("s > (SELECT 0 FROM other)", "Table with name other does not exist"),
        ("s > (SELECT count(*) FROM read_csv('{file}'))", "disabled by configuration"),
        ("s > (SELECT count(*) FROM '{file}')", "disabled by configuration|does not exist"),
        ("length((SELECT content FROM read_text('{file}'))) > 0", "disabled by configuration"),
        ("s > (SELECT count(*) FROM glob('{folder}/*'))", "(?i)disabled by configuration"),
        ("s > (SELECT count(*) FROM TABLE)", ""),
        ("nosuchfunction(s)", "nosuchfunction does not exist"),
    ],
)
@pytest.mark.parametrize("name", ["scores.parquet", "scores.csv", "pandas"])
def test_a_filter_is_one_condition_that_reads_nothing_else(tmp_path, name, where, words):
    secret = tmp_path / "secret" / "other.csv"
    secret.parent.mkdir()
    secret.write_text("a\n1\n")
    where = where.format(file=secret, folder=secret.parent)
    source = FRAMES[name](TABLE) if name in FRAMES else tmp_path / name
    if name in WRITERS:
        WRITERS[name](TABLE, source)
    failing(source, EngineError, words, where=where)


def test_the_database_reads_its_files_and_writes_none(tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("y\n1\n")
    connection = database.connect([str(tmp_path / "a.csv")])
    assert connection.sql(f"FROM read_csv('{tmp_path}/a.csv')").fetchall() == [(1,)]
    for statement in (
        f"FROM read_csv('{tmp_path}/b.csv')",
        f"COPY (SELECT 1) TO '{tmp_path}/c.csv'",
        f"ATTACH '{tmp_path}/d.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET temp_directory = '/tmp'",
    ):
        with pytest.raises(duckdb.Error):
            connection.execute(statement)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "b.csv"]


def test_no_row_passes_the_filter(tmp_path):
    WRITERS["scores.csv"](TABLE, tmp_path / "a.csv")
    failing(tmp_path / "a.csv", ShapeError, "a.csv: expected at least one row, got no rows with s > 5", where="s > 5")
    (tmp_path / "a.csv").write_text("y,s\n")
    failing(tmp_path / "a.csv", ShapeError, "a.csv: expected at least one row, got no rows$")


@pytest.mark.parametrize("name", ["scores.csv", "scores.parquet", "Polars", "dict of lists"])
def test_labels_and_scores_that_are_neither(tmp_path, name):
    table = pa.table({"y": [1, 0, 2], "s": ["0.5", "high", None], "t": ["a", "b", "c"], "w": [-1, 1, 1]})
    source = FRAMES[name](table) if name in FRAMES else tmp_path / name
    if name in WRITERS:
        WRITERS[name](table, source)
    shown = "'high' in row 1; correct" if name == "scores.csv" else "'0.5' in row 0; convert"
    failing(source, ScoreError, f"score 's' of .*: expected numbers, got text, such as {shown}")
    failing(
        source,
        LabelError,
        r"label 'y' of .*got the labels 0, 1, 2 \(2 first occurs in row 2\); select",
        scores="w",
    )
    failing(
        source,
        LabelError,
        "label 't' of .*'b', 'c' .'c' first occurs in row 2.",
        label="t",
        scores="w",
    )
    failing(
        source,
        LabelError,
        "one of the labels 0, 1, got 7",
        scores="w",
        where="y < 2",
        pos_label="7",
    )
    failing(source, WeightError, "sample_weight: .*got 1 negative", scores="y", weight="w", where="y < 2")


def test_a_file_without_a_header_shows_what_its_first_row_is(tmp_path):
    (tmp_path / "a.csv").write_text("1,0.5\n0,0.25\n")
    failing(tmp_path / "a.csv", EngineError, r"first row, got the values '1', '0.5'.*\(--no-header\)")


@pytest.mark.parametrize(
    "source", [3, None, np.ones((2, 2)), object(), pd.Series([1])], ids=lambda source: type(source).__name__
)
def test_what_is_no_source(source):
    failing(source, EngineError, "source: expected a path, a pattern, '-', .*, got")


@pytest.mark.parametrize(
    "source",
    [
        {"y": [1, 0], "s": [1, 2, 3]},
        {"y": [1, 0], "s": [1, "high"]},
        {"y": [1, 0], "s": [2**70 + 1, 1]},
        {"y": [1, 0], "s": np.ones(2, "longdouble")},
        {"y": [1, 0], "s": np.ones((2, 2))},
        {"y": [1, 0], "s": [1 + 2j, 1]},
        {"y": [1, 0], "s": 3},
        {"y": [1, 0], "s": [[1], [2]]},
        {"y": [{"a": 1}, {"a": 2}], "s": [1, 2]},
        pd.DataFrame({"y": [1, 0], "s": [0.5, "high"]}),
        pd.DataFrame({"y": [1, 0], "s": pd.to_datetime(["2024-01-01", "2024-01-02"])}),
        pd.DataFrame([[1, 2, 3]], columns=["y", "s", "s"]),
    ],
    ids=lambda source: type(source).__name__,
)
def test_columns_that_no_score_or_label_can_be(source):
    failing(source, (EngineError, ScoreError, InputError, ColumnError))


def test_streams_need_a_format_and_bytes(monkeypatch):
    failing(
        io.BytesIO(b"y,s\n1,2\n"),
        InputError,
        r"expected the format of the stream, got no format; pass format=",
    )
    failing("-", InputError, "<stdin>: expected the format")
    failing(io.StringIO("y,s\n1,2\n"), EngineError, "StringIO: expected a file opened in binary mode", format="csv")
    failing(io.BytesIO(b""), EngineError, "BytesIO: the file is empty", format="parquet")
    failing(io.BytesIO(b"y,s\n1,2\n"), EngineError, "BytesIO: .*(?i:magic|parquet)", format="parquet")


def test_big_endian_columns_and_series_are_read():
    read = rs.read({"y": pd.Series([1, 0]), "s": np.array([0.5, 0.25], ">f8")}, label="y", scores="s")
    assert read.scores["s"].tolist() == [0.5, 0.25]


def test_a_library_that_is_not_installed_is_named_with_its_extra():
    for module, words in (("polars", r"pip install 'rocscope\[polars\]'"), ("pytz", "pip install pytz")):
        with pytest.raises(MissingDependencyError, match=words), one_line_errors("frame"):
            raise ModuleNotFoundError(f"No module named {module!r}", name=module)


def test_messages_are_cut_to_a_line():
    assert condense("") == ""
    assert len(condense("x" * 5000)) == 300


@pytest.mark.slow(reason="what starts other programs")
def test_reading_a_frame_loads_no_database(tmp_path):
    code = (
        "import sys, rocscope as rs; rs.read({'y': [1, 0], 's': [1, 2]}, label='y', scores='s');"
        "print(*[name for name in ('duckdb', 'matplotlib', 'scipy') if name in sys.modules])"
    )
    environment = {"PYTHONPATH": str(Path(rs.__file__).parents[1])}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("\n", "")
