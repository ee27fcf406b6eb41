"""What is written in files arrives as it is: folders set nothing over it, whole numbers stay whole, marks are named."""

import io
import os
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import rocscope as rs
from readers import FRAMES, WRITERS, counted, levels
from rocscope.engines import describe, read_sketch
from rocscope.errors import (
    ColumnError,
    EngineError,
    InputError,
    RocscopeError,
    RocscopeWarning,
    ScoreError,
    collected_warnings,
)

COLUMNS = {"label": "y", "scores": "s"}
LABELS = [1, 0, 1]
WHOLE = {
    "int64": [2**53 + 1, 2**53, -(2**63)],
    "uint64": [2**64 - 1, 2**64 - 2, 0],
}
ROUNDED = {
    "beside fractions": [2**53 + 1, 2**53, 0.5],
    "of both signs": [2**63 + 1, -1, 0],
    "beyond": [2**70 + 1, 1, 0],
}
IN_TEXT = ("scores.csv", "scores.tsv", "scores.jsonl", "scores.json")


def write(folder, name, scores):
    """Write numbers as Python does; Arrow has no column for some of these."""
    rows = list(zip(LABELS, scores, strict=True))
    if name.endswith(("csv", "tsv")):
        mark = "," if name.endswith("csv") else "\t"
        lines = [f"y{mark}s", *(f"{label}{mark}{score!r}" for label, score in rows)]
    else:
        lines = [f'{{"y": {label}, "s": {score!r}}}' for label, score in rows]
    text = "[" + ",".join(lines) + "]" if name == "scores.json" else "\n".join(lines)
    (folder / name).write_text(text + "\n")
    return folder / name


@pytest.mark.every(4)
@pytest.mark.parametrize("name", ["scores.csv", "scores.tsv", "scores.jsonl", "scores.json", "scores.parquet"])
@pytest.mark.parametrize("folder", ["s=7", "S=7", "y=1", "s=7/y=0"])
def test_no_folder_sets_a_column_over_one_that_a_file_holds(tmp_path, name, folder):
    place = tmp_path / folder
    place.mkdir(parents=True)
    WRITERS[name](pa.table({"y": LABELS, "s": [0.5, 0.25, 0.75]}), place / name)
    assert rs.read(place / name, **COLUMNS).scores["s"].tolist() == [0.5, 0.25, 0.75]
    assert levels(rs.read_counts(place / name, **COLUMNS)["s"]) == counted(LABELS, [0.5, 0.25, 0.75])


def test_a_column_of_folders_and_of_a_later_file_is_refused(tmp_path):
    for name in ("k=1", "k=2"):
        (tmp_path / name).mkdir()
        table = pa.table({"y": [1, 0], "s": [0.5, 0.25]} | ({"k": [9, 9]} if name == "k=2" else {}))
        WRITERS["scores.parquet"](table, tmp_path / name / "a.parquet")
    assert len(rs.read(tmp_path, **COLUMNS)) == 4
    with pytest.raises(EngineError, match=r"k=2/a.parquet: column 'k' is in this file, and the names"):
        rs.read(tmp_path, **COLUMNS, segment="k")


@pytest.mark.every(4)
@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize("way", [*IN_TEXT, *FRAMES, "lists"])
def test_whole_numbers_stay_what_they_are(tmp_path, way, kind):
    scores = WHOLE[kind]
    if way == "lists":
        assert levels(rs.ThresholdCounts.from_scores(LABELS, scores)) == counted(LABELS, scores)
        return
    source = (
        write(tmp_path, way, scores)
        if way in IN_TEXT
        else FRAMES[way](pa.table({"y": LABELS, "s": pa.array(scores, kind)}))
    )
    found = rs.read(source, **COLUMNS).scores["s"]
    assert (found.dtype, found.tolist()) == (kind, scores)
    assert levels(rs.read_counts(source, **COLUMNS)["s"]) == counted(LABELS, scores)


@pytest.mark.every(5)
@pytest.mark.parametrize("kind", ROUNDED)
@pytest.mark.parametrize("way", [*IN_TEXT, "scores.csv with NA", "lists", "dict of lists", "pandas objects"])
def test_whole_numbers_that_float64_would_round_are_refused(tmp_path, way, kind):
    scores = ROUNDED[kind]
    with pytest.raises(
        (EngineError, InputError), match=r"64 bits|float64|double precision|negative|unsigned"
    ) as caught:
        if way == "lists":
            rs.auc(LABELS, scores)
        elif way in ("dict of lists", "pandas objects"):
            column = scores if way == "dict of lists" else pd.Series(scores, dtype=object)
            rs.read({"y": LABELS, "s": column}, **COLUMNS)
        else:
            path = write(tmp_path, way.split()[0], scores)
            if way.endswith("NA"):
                path.write_text(path.read_text() + "0,NA\n")
            rs.read(path, **COLUMNS, missing="drop")
    assert "\n" not in str(caught.value)
    if way in IN_TEXT:
        with pytest.raises(RocscopeError):
            rs.read_counts(tmp_path / way, **COLUMNS)


def test_floats_that_are_large_stay_floats(tmp_path):
    for scores in ([2.0**53 + 2, 0.5, 1e300], [float(2**60), 1e20, -1e25]):
        for name in IN_TEXT:
            assert rs.read(write(tmp_path, name, scores), **COLUMNS).scores["s"].tolist() == scores


def test_decimal_commas(tmp_path):
    content = 'y;s;t\n1;0,5;1,5\n0;"0,25";NA\n1;1e-3;-2,5\n'
    path = tmp_path / "a.csv"
    path.write_text(content)
    with pytest.warns(RocscopeWarning, match=r"a.csv: column 's': '0,25' is read as 0.25"):
        assert rs.read(path, **COLUMNS).scores["s"].tolist() == [0.5, 0.25, 0.001]
    with pytest.raises(ScoreError, match=r"such as '0,5' in row 0; pass the decimal mark: decimal=','"):
        rs.read(path, **COLUMNS, decimal=".")
    assert rs.read(path, **COLUMNS, decimal=",").scores["s"].tolist() == [0.5, 0.25, 0.001]
    assert rs.read(path, label="y", scores="t", decimal=",", missing="drop").scores["t"].tolist() == [1.5, -2.5]
    assert levels(rs.read_counts(path, **COLUMNS, decimal=",")["s"]) == counted(LABELS, [0.5, 0.25, 0.001])
    assert describe(path, decimal=",")["s"].minimum == 0.001
    assert rs.read(io.BytesIO(content.encode()), **COLUMNS, decimal=",", format="csv").n == 3


@pytest.mark.parametrize("mark", ["^", "\\t", "tab", " ", ":"])
def test_a_delimiter_is_named_where_it_is_not_found(tmp_path, mark):
    sign = "\t" if mark in ("\\t", "tab") else mark
    (tmp_path / "a.csv").write_text(f"y{sign}s\n1{sign}0.5\n0{sign}.25\n")
    if sign != "\t":
        with pytest.raises(
            ColumnError, match=r"got 'y'; if the file has another column separator, pass delimiter= \(--delimiter\)"
        ):
            rs.read(tmp_path / "a.csv", **COLUMNS)
    assert rs.read(tmp_path / "a.csv", **COLUMNS, delimiter=mark).scores["s"].tolist() == [0.5, 0.25]


@pytest.mark.every(4)
@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-32", "cp037"])
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.csv.gz"])
def test_an_encoding_is_named_where_it_is_not_utf_8(tmp_path, name, encoding):
    text = "y,s,g\n1,0.5,é\n0,0.25,e\n" if "csv" in name else '{"y":1,"s":0.5,"g":"é"}\n{"y":0,"s":0.25,"g":"e"}\n'
    with (
        pa.CompressedOutputStream(tmp_path / name, "gzip")
        if name.endswith("gz")
        else (tmp_path / name).open("wb") as file
    ):
        file.write(text.encode(encoding))
    if encoding in ("latin-1", "cp1252", "utf-16"):  # their first bytes tell
        with collected_warnings() as said:
            assert rs.read(tmp_path / name, **COLUMNS, segment="g").segment.tolist() == ["é", "e"]
        assert len(said) == (encoding != "utf-16")
    elif "csv" in name and encoding == "utf-32":
        with pytest.raises(
            EngineError,
            match=r"expected UTF-8 text, .*; pass the encoding of the file, such as encoding=",
        ):
            rs.read(tmp_path / name, **COLUMNS)
    read = rs.read(tmp_path / name, **COLUMNS, segment="g", encoding=encoding)
    assert (read.scores["s"].tolist(), read.segment.tolist()) == ([0.5, 0.25], ["é", "e"])
    assert read.source.origin == (str(tmp_path / name),)
    with pytest.raises(EngineError, match="expected ASCII text, got byte"):
        rs.read(tmp_path / name, **COLUMNS, encoding="ascii")


def test_what_says_nothing_of_a_source_is_refused(tmp_path):
    WRITERS["scores.parquet"](pa.table({"y": [1, 0], "s": [1, 2]}), tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text("y,s\n1,.5\n")
    for options, words in (
        ({"decimal": ";"}, r"decimal: expected '\.' or ',', got ';'"),
        ({"delimiter": ",,"}, "delimiter: expected one character"),
        ({"delimiter": "."}, "delimiter: expected one character that is neither a quote nor the decimal mark"),
        ({"encoding": "hex"}, "encoding: expected an encoding that Python supports"),
        ({"encoding": "a\0"}, "encoding: expected an encoding that Python supports"),
        ({"format": "xls"}, "format: expected one of csv, tsv"),
    ):
        with pytest.raises(InputError, match=words):
            rs.read(tmp_path / "a.csv", **COLUMNS, **options)
    for options in ({"decimal": ","}, {"delimiter": ";"}, {"encoding": "latin-1"}):
        for source, kind in (
            (tmp_path / "a.parquet", "parquet files"),
            ({"y": [1, 0], "s": [1, 2]}, "an object that is not a file"),
        ):
            for read in (rs.read, rs.read_counts, read_sketch):
                with pytest.raises(InputError, match=f": expected no value for {kind}, got"):
                    read(source, **COLUMNS, **options)


@pytest.mark.parametrize("name", ["scores.parquet", "scores.feather", "scores.csv"])
def test_a_strangers_file_is_named_before_any_row_is_read(tmp_path, name):
    suffix = name.removeprefix("scores")
    for number in range(3):
        WRITERS[name](pa.table({"y": [1, 0], "s": [0.5, 0.25]}), tmp_path / f"{number}{suffix}")
    WRITERS[name](pa.table({"y": [1, 0], "s": ["high", "low"]}), tmp_path / f"9{suffix}")
    seen = []
    with pytest.raises(RocscopeError, match=rf"9{suffix}|such as 'high'"):
        rs.read_counts(tmp_path, **COLUMNS, progress=lambda done, _: seen.append(done))
    assert name == "scores.csv" or seen == []
    WRITERS[name](pa.table({"id": [1]}), tmp_path / f"9{suffix}")
    with pytest.raises(RocscopeError, match=f"9{suffix}: "):
        rs.read_counts(tmp_path, **COLUMNS, progress=lambda done, _: seen.append(done))
    assert name == "scores.csv" or seen == []


def test_what_a_shell_pipes_is_read_and_a_pipe_of_a_name_refused(tmp_path):
    reading, writing = os.pipe()
    threading.Thread(target=lambda: (os.write(writing, b"y,s\n1,0.5\n0,0.25\n"), os.close(writing))).start()
    try:
        assert rs.read(f"/dev/fd/{reading}", **COLUMNS, format="csv").scores["s"].tolist() == [0.5, 0.25]
    finally:
        os.close(reading)
    os.mkfifo(tmp_path / "pipe.csv")
    script = "import sys, rocscope as rs; rs.read(sys.argv[1], label='y', scores='s')"
    for place in (tmp_path / "pipe.csv", "/dev/null"):
        run = subprocess.run([sys.executable, "-c", script, place], capture_output=True, text=True, timeout=60)
        assert f"EngineError: {place}: neither a file nor a folder; pass its content on standard input" in run.stderr


def test_numpy_arrays_are_never_looked_at_as_python_numbers():
    assert rs.auc([1, 0], np.array([2**53 + 1, 0.5])) == 1
