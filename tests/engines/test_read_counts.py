"""read_counts: files larger than memory, broken ones, full disks, and processes that are killed."""

import errno
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import rocscope as rs
from readers import WRITERS
from rocscope.core.predictions import CountedModels
from rocscope.engines import formats as file_formats, row_buffers as spill, streaming
from rocscope.engines.row_buffers import KeyBuffer, SpilledKeys, SpilledRows, memory_limit, pack
from rocscope.errors import EngineError, InputError, LabelError, RocscopeError

ROWS = 300_000


def scores(kind="logits", rows=ROWS):
    generator = np.random.default_rng(0)
    y = (generator.random(rows) < 0.3).astype(np.int8)
    logits = generator.standard_normal(rows) + y
    return y, {
        "logits": logits,
        "increasing": np.sort(logits),
        "decreasing": -np.sort(logits),
        "one level": np.zeros(rows),
        "one large level": np.where(logits < 1.5, -1.0, logits),
        "next to each other": 1 + (logits > 0) * 2.0**-52 + np.arange(rows) % 7 * 2.0**-50,
        "heavy tails": np.exp(20 * logits),
    }[kind]


@pytest.fixture
def large(tmp_path):
    """A Parquet file of more keys than `memory="1 MB"` holds."""
    y, score = scores()
    path = tmp_path / "large.parquet"
    pa.parquet.write_table(pa.table({"y": y, "s": score}), path, row_group_size=50_000)
    return path


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """An empty folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    return folder


@pytest.mark.every(6)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["increasing", "decreasing", "one level", "one large level", "next to each other"])
def test_what_the_first_rows_do_not_foretell_is_parted_again(monkeypatch, kind, weighted):
    monkeypatch.setattr(spill, "_LEAST_PART", 1 << 14)
    y, score = scores(kind, 100_000)
    weight = np.arange(y.size) % 3 + 1 if weighted else None
    columns = {"y": y, "s": score} | ({"w": weight} if weighted else {})
    found = rs.read_counts(columns, label="y", scores="s", weight="w" if weighted else None, memory=200_000)["s"]
    assert isinstance(found.ranking, SpilledRows if weighted else SpilledKeys)
    assert max((part.nbytes for _, part, _ in found.ranking.parts), default=0) <= max(200_000 // 4, 1 << 14)
    expected = rs.ThresholdCounts.from_scores(y, score, sample_weight=weight)
    assert found.pairs() == expected.pairs()
    assert found.at(0.5) == expected.at(0.5)
    assert len(found) == len(expected)
    assert found == expected


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_rows_take_no_more_than_their_scores_and_a_third(kind):
    y, score = scores()
    buffer = KeyBuffer(np.dtype(kind))
    for rows in range(1, 11):
        buffer.add(pack(y == 1, score.astype(kind), None))
        assert buffer.nbytes <= 1.3 * rows * ROWS * kind().itemsize
    ranking = buffer.ranking(1)
    arrays = {id(piece.base): piece.base for part in ranking.parts for piece in part.pieces}
    asked_for = sum(array.nbytes for array in arrays.values())  # of which what is never filled takes no memory
    assert asked_for <= 2 * 10 * ROWS * kind().itemsize


def test_progress_is_told_to_a_function(large):
    told = []
    rs.read_counts(large, label="y", scores="s", progress=lambda *rows: told.append(rows))
    assert told[-1] == (ROWS, ROWS)
    assert told == sorted(told)
    assert rs.read_counts(large, label="y", scores="s", progress=True)["s"].n == ROWS  # no terminal: nothing is shown


def test_everything_is_computed_from_parts_on_disk(large):
    y, score = scores()
    expected = rs.ThresholdCounts.from_scores(y, score)
    found = rs.read_counts(large, label="y", scores="s", memory="1 MB")["s"]
    assert rs.auc(found) == rs.auc(expected)
    assert rs.roc(found).hull().threshold.tolist() == rs.roc(expected).hull().threshold.tolist()
    assert rs.choose({"s": found}).threshold == rs.choose({"s": expected}).threshold
    assert found + expected == expected + expected
    data = rs.Report({"s": found}).data
    assert data.models[0].auc == rs.Report({"s": expected}).data.models[0].auc


def test_the_temporary_file_is_gone_with_the_counts(large, temporary):
    found = rs.read_counts(large, label="y", scores="s", memory="1 MB")["s"]
    assert isinstance(found.ranking, SpilledKeys)
    assert not list(temporary.iterdir())  # it has no name
    file = found.ranking.parts[0][0]._file
    del found
    assert file.closed


def test_interrupted_from_the_keyboard(large, temporary):
    def interrupt(done, total):
        assert total == ROWS
        if done > ROWS // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rs.read_counts(large, label="y", scores="s", memory="1 MB", progress=interrupt)
    assert not list(temporary.iterdir())
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("rocscope")]


KILLED = """
import os, signal, sys
import rocscope as rs
def kill(done, total):
    if done > total * 0.8:
        os.kill(os.getpid(), signal.SIGKILL)
rs.read_counts(sys.argv[1], label="y", scores="s", memory="1 MB", progress=kill)
"""


@pytest.mark.slow(reason="what starts other programs")
def test_killed_in_the_middle_of_a_spill(large, temporary):
    done = subprocess.run([sys.executable, "-c", KILLED, str(large)], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not list(temporary.iterdir())
    y, score = scores()
    again = rs.read_counts(large, label="y", scores="s", memory="1 MB")["s"]
    assert again == rs.ThresholdCounts.from_scores(y, score)


FULL = """
import resource, sys
import rocscope as rs
from rocscope.errors import EngineError
resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, 1_500_000))
try:
    rs.read_counts(sys.argv[1], label="y", scores="s", memory="1 MB")
except EngineError as error:
    print(error)
"""


def test_a_file_that_may_not_grow_is_an_error_that_says_how_to_go_on(large, temporary):
    done = subprocess.run([sys.executable, "-c", FULL, str(large)], capture_output=True, text=True, check=True)
    assert "File too large; " in done.stdout
    assert "set TMPDIR to a folder with more space than" in done.stdout
    assert not list(temporary.iterdir())


def test_a_full_disk_is_an_error_that_says_how_to_go_on(large, temporary, monkeypatch):
    class Full(spill.Spill):
        def __init__(self):
            super().__init__()
            self._file.close()
            self._file = self

        def seek(self, offset):
            pass

        def write(self, content):
            if isinstance(content, memoryview):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().write(content)

    monkeypatch.setattr("rocscope.engines.row_buffers.Spill", Full)
    with pytest.raises(EngineError, match=r"No space left on device; set TMPDIR"):
        rs.read_counts(large, label="y", scores="s", memory="1 MB")


def test_no_temporary_folder(large, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", "/nowhere at all")
    with pytest.raises(EngineError, match="temporary file in /nowhere at all: No such file"):
        rs.read_counts(large, label="y", scores="s", memory="1 MB")


@pytest.mark.parametrize("lost", ["middle", "end"])
def test_a_truncated_parquet_file_is_named(tmp_path, large, lost):
    content = large.read_bytes()
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "a.parquet").write_bytes(content)
    half = len(content) // 2
    (folder / "b.parquet").write_bytes(content[: half - 5_000] + content[half:] if lost == "middle" else content[:half])
    with pytest.raises(EngineError, match=r"^\S*/parts/b\.parquet: "):
        rs.read_counts(folder, label="y", scores="s")


FEW_HANDLES = """
import resource, sys
import pyarrow, duckdb
import rocscope as rs
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
found = rs.read_counts(sys.argv[1], label="y", scores="s")["s"]
print(found.n)
"""


@pytest.mark.every(3)
@pytest.mark.parametrize(("name", "files"), [("scores.parquet", 300), ("scores.feather", 150), ("scores.csv", 100)])
def test_many_files_do_not_exhaust_file_handles(tmp_path, name, files):
    table = pa.table({"y": [0, 1], "s": [0.25, 0.5]})
    WRITERS[name](table, tmp_path / name)
    content = (tmp_path / name).read_bytes()
    folder = tmp_path / "parts"
    folder.mkdir()
    suffix = name.removeprefix("scores")
    for number in range(files):
        (folder / f"{number}{suffix}").write_bytes(content)
    command = [sys.executable, "-c", FEW_HANDLES, str(folder / f"*{suffix}")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == f"{2 * files}\n", done.stderr


BAD = {
    "third label": ({"y": [0, 1] * 40_000 + [2], "s": [0.5] * 80_001}, {}),
    "one odd label": ({"y": [0, 5, 0], "s": [1, 2, 3]}, {}),
    "text labels": ({"y": ["a", "b", "a"], "s": [1, 2, 3]}, {}),
    "positive label not there": ({"y": ["a", "b", "a"], "s": [1, 2, 3]}, {"pos_label": "c"}),
    "third text label": ({"y": ["a", "b", "c"], "s": [1, 2, 3]}, {"pos_label": "a"}),
    "missing labels": ({"y": [0, None, 1, None], "s": [1.0, 2.0, 3.0, 4.0]}, {}),
    "missing and infinite scores": ({"y": [0, 1] * 200_000, "s": [0.5] * 399_997 + [None, float("inf"), 1.0]}, {}),
    "nothing left": ({"y": [0, 1], "s": [None, float("nan")]}, {"missing": "drop"}),
    "text scores": ({"y": [0, 1], "s": ["low", "high"]}, {}),
    "no rows": ({"y": np.array([], np.int8), "s": np.array([])}, {}),
    "no column": ({"y": [0, 1], "t": [1, 2]}, {}),
    "no label": ({"y": [0, 1], "s": [1, 2]}, {"label": None}),
    "negative weights": ({"y": [0, 1, 0], "s": [1, 2, 3], "w": [1.0, -1.0, -2.0]}, {"weight": "w"}),
    "no weight": ({"y": [0, 1, 0], "s": [1, 2, 3], "w": [0, 0, 0]}, {"weight": "w"}),
    "heavy weights": ({"y": [0, 1], "s": [1, 2], "w": [2**62, 2**62]}, {"weight": "w"}),
    "missing": ({"y": [0, 1], "s": [1, 2]}, {"missing": "ignore"}),
}


@pytest.mark.parametrize("name", BAD)
def test_errors_are_those_of_read(name):
    columns, options = BAD[name]
    with pytest.raises(RocscopeError) as expected:
        rs.read(columns, **{"label": "y", "scores": "s"} | options)
    with pytest.raises(type(expected.value)) as found:
        rs.read_counts(columns, **{"label": "y", "scores": "s"} | options)
    assert str(found.value) == str(expected.value).replace("'drop', 'segment'", "'drop'")  # which read alone has


def test_a_third_label_deep_in_a_file_is_named_with_its_row(tmp_path):
    y = np.arange(400_000) % 2
    y[399_990] = 7
    pa.parquet.write_table(pa.table({"y": y, "s": y / 2}), tmp_path / "a.parquet", row_group_size=100_000)
    with pytest.raises(LabelError, match=r"got the labels 0, 1, 7 \(7 first occurs in row 399990\)"):
        rs.read_counts(tmp_path / "a.parquet", label="y", scores="s")


def test_types_that_change_between_files(tmp_path):
    for name, kind in (("a", np.float32), ("b", np.float64)):
        table = pa.table({"y": [0, 1], "s": np.array([0.5, 0.25], kind)})
        pa.parquet.write_table(table, tmp_path / f"{name}.parquet")
    for way in (rs.read, rs.read_counts):
        with pytest.raises(EngineError, match=r"b\.parquet: column 's' has type FLOAT in .*, but has type DOUBLE here"):
            way(tmp_path, label="y", scores="s")


def test_folders_name_columns(tmp_path):
    for year in (2024, 2025):
        folder = tmp_path / f"year={year}"
        folder.mkdir()
        pa.parquet.write_table(pa.table({"y": [0, 1], "s": [0.5, year / 4096]}), folder / "a.parquet")
    found = rs.read_counts(tmp_path, label="y", scores="s", segment="year")
    assert list(found) == [2024, 2025]
    assert rs.read_counts(tmp_path, label="y", scores="s", where="year = 2025")["s"].threshold[-1] == 2025 / 4096


@pytest.mark.parametrize(
    ("values", "kind"),
    [(["1", "2", "NA"], np.int64), (["1", "2.5", "N/A"], np.float64), (["9223372036854775808", "1"], np.uint64)],
)
def test_text_is_of_the_type_that_all_its_values_have(tmp_path, values, kind, monkeypatch):
    monkeypatch.setattr("rocscope.engines.formats.BATCH_ROWS", 1)
    path = tmp_path / "a.csv"
    path.write_text("y,s\n" + "".join(f"{i % 2},{value}\n" for i, value in enumerate([*values, "0"])))
    found = rs.read_counts(path, label="y", scores="s", missing="drop")
    assert found["s"] == rs.read(path, label="y", scores="s", missing="drop").counts()
    assert found["s"].threshold.dtype == kind
    assert found.source.rows_dropped == sum(value.startswith("N") for value in values)


def test_the_source_is_told(tmp_path):
    rows = {"y": [0, 1, 1], "s": [0.5, None, 0.25], "t": [1.0, 2.0, 3.0]}
    found = rs.read_counts(rows, label="y", scores={"S": "s", "T": "t"}, missing="drop")
    assert isinstance(found, CountedModels)
    assert list(found) == ["S", "T"]
    assert (found.source.rows_read, found.source.rows_dropped) == (3, 1)


@pytest.mark.parametrize(
    ("given", "found"), [(1000, 1000), ("2 GB", 2 << 30), ("1.5MB", 3 << 19), ("10 kiB", 10_240), ("7", 7)]
)
def test_memory_is_said_in_bytes_or_words(given, found):
    assert memory_limit(given) == found


@pytest.mark.parametrize("given", [0, -1, "much", "1.2.3 GB", True, 1.5])
def test_memory_that_is_none(given):
    with pytest.raises(InputError, match="memory: expected a number of bytes, or a text such as '2 GB'"):
        rs.read_counts({"y": [0, 1], "s": [1, 2]}, label="y", scores="s", memory=given)


def test_pieces_are_in_order_and_few_are_under_way():
    under_way, most = 0, 0
    lock = threading.Lock()

    def piece(number):
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        yield from ((number, batch) for batch in range(5))
        with lock:
            under_way -= 1

    pieces = ((lambda number=number: piece(number)) for number in range(50))
    found = list(streaming.in_order(pieces, lambda batch: batch, threads=3))
    assert found == [(number, batch) for number in range(50) for batch in range(5)]
    assert most <= 3


def test_commands_count_large_files_by_themselves(run, tmp_path, monkeypatch):
    monkeypatch.setattr(file_formats, "MOST_ROWS", 1000)
    y, score = scores(rows=2000)
    probability = 1 / (1 + np.exp(-score))
    pa.parquet.write_table(pa.table({"y": y, "a": probability, "b": score}), tmp_path / "s.parquet")
    monkeypatch.setattr("rocscope.engines.reading.read", None)
    columns = ("s.parquet", "--label", "y", "--score", "a", "--score", "b")
    code, out, err = run("summary", *columns)
    assert code == 0, err
    assert "AUC" in out
    code, _, err = run("report", *columns, "-o", "r.html")
    assert code == 0, err
    assert "Models are not compared in pairs" in (tmp_path / "r.html").read_text()
    code, _, err = run("choose", *columns, "--memory", "1 MB", "-o", "d.json", "--plot", "d.svg")
    assert code == 0, err
    code, _, err = run("campaign", *columns, "--population", "1e4", "--unit-cost", "1", "--unit-benefit", "9")
    assert code == 0, err


def test_summary_of_very_many_levels_says_what_it_leaves_out(run, tmp_path, monkeypatch):
    monkeypatch.setattr("rocscope.report.model.MOST_DETAILED", 1000)
    y, score = scores(rows=2000)
    pa.parquet.write_table(pa.table({"y": y, "a": score}), tmp_path / "s.parquet")
    code, out, err = run("summary", "s.parquet", "--label", "y", "--score", "a", "--memory", "1 MB")
    assert code == 0, err
    assert "omitted above" in err
    assert "[" not in out
