"""The bar that reading draws: on stderr, if that is a terminal, with rows, rows a second and the time left."""

import io
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rocscope as rs
from rocscope._base import progress as _progress
from rocscope.cli import console

ROWS = 300_000


class Screen(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(_progress, "_BAR_AFTER", -1)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("progress") / "rows.parquet"
    table = pa.table({"y": np.arange(ROWS) % 2, "s": np.arange(ROWS) % 1000})
    pq.write_table(table, path, row_group_size=ROWS // 3)
    return path


@pytest.mark.parametrize("read", [rs.read_counts, rs.engines.read_sketch])
@pytest.mark.parametrize("progress", [None, True])
def test_on_a_terminal(monkeypatch, capsys, path, read, progress):
    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("COLUMNS", "200")
    read(path, label="y", scores="s", progress=progress)
    shown = screen.getvalue()
    assert f"Reading {path}" in shown
    assert f"{ROWS:,} of {ROWS:,} rows" in shown
    assert "rows/s" in shown
    assert "0:00:00" in shown  # left
    assert not capsys.readouterr().out


@pytest.mark.parametrize("read", [rs.read_counts, rs.engines.read_sketch])
@pytest.mark.parametrize(("kind", "progress"), [(io.StringIO, True), (io.StringIO, None), (Screen, False)])
def test_nowhere_else_and_not_where_declined(monkeypatch, path, read, kind, progress):
    stderr = kind()
    monkeypatch.setattr("sys.stderr", stderr)
    monkeypatch.setenv("FORCE_COLOR", "1")  # makes rich take anything for a terminal
    read(path, label="y", scores="s", progress=progress)
    assert not stderr.getvalue()


@pytest.mark.parametrize("is_terminal", [True, False])
def test_of_any_job(monkeypatch, is_terminal):
    stderr = Screen() if is_terminal else io.StringIO()
    monkeypatch.setattr("sys.stderr", stderr)
    monkeypatch.setenv("COLUMNS", "120")
    with _progress.reporting(None, "Reading", "rows") as report:
        assert (report is _progress.unreported) != is_terminal
        report(1_000, 4_000)
        report(2_000, 4_000)
    assert ("2,000 of 4,000 rows" in stderr.getvalue()) == is_terminal


def test_a_short_job_shows_none(monkeypatch):
    monkeypatch.setattr(_progress, "_BAR_AFTER", 1.0)
    stderr = Screen()
    monkeypatch.setattr("sys.stderr", stderr)
    with _progress.reporting(True, "Reading", "rows") as report:
        report(4_000, 4_000)
    assert not stderr.getvalue()


def on_screen(written):
    """Return the lines that a terminal shows."""
    lines = [[]]
    for character in written:
        if character == "\n":
            lines.append([])
        elif character == "\r":
            lines[-1].append(0)
        else:
            lines[-1].append(character)
    shown = []
    for line in lines:
        cells, at = {}, 0
        for character in line:
            if character == 0:
                at = 0
            else:
                cells[at], at = character, at + 1
        shown.append("".join(cells.values()).rstrip())
    return shown


def test_what_tells_nothing_is_said_to_be_at_work(monkeypatch):
    monkeypatch.setattr(console, "_SILENT", 0)
    monkeypatch.setattr(console, "_TICK", 0.001)
    monkeypatch.setenv("COLUMNS", "20")
    stderr = Screen()
    monkeypatch.setattr("sys.stderr", stderr)

    def seen(text):
        end = time.monotonic() + 20
        while text not in on_screen(stderr.getvalue())[-1] and time.monotonic() < end:
            time.sleep(0.001)
        return text in on_screen(stderr.getvalue())[-1]

    with console.attended("rocscope summary"):
        assert seen("rocscope summary, 0")
        with console.attended("Reading a\nb"):
            assert seen("Reading ab, 0 s")
            with _progress.reporting(None, "Counting") as report:
                report(1, 2)
                at_the_bar = stderr.getvalue()
                time.sleep(0.02)
                assert "Reading" not in stderr.getvalue()[len(at_the_bar) :]
            assert seen("Reading ab, 0 s")
        assert seen("rocscope summary, 0")
        monkeypatch.setattr(console, "_SILENT", 1000)
        console._make_room()
        stderr.write("a table\n")
    *before, last = on_screen(stderr.getvalue())
    assert before[-1].endswith("a table")
    assert last == ""
    assert console._clock is None


def test_nothing_is_said_where_nobody_looks(monkeypatch):
    monkeypatch.setattr(console, "_SILENT", 0)
    for stream in (io.StringIO(), None):
        monkeypatch.setattr("sys.stderr", stream)
        with console.attended("Reading"):
            assert console._clock is None
        assert stream is None or not stream.getvalue()
