"""Tables on terminals of any width: no number is cut."""

import contextlib
import io
import json
import os
import subprocess
import sys

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rocscope.cli import console


def table(rows, columns):
    made = Table(title="title")
    for heading in ("model", *(f"quantity {number}" for number in range(columns))):
        made.add_column(heading, overflow="fold")
    for row in range(rows):
        made.add_row(Text(f"model {row}", style="bold"), *(Text(f"{row}.{number:07}") for number in range(columns)))
    return made


@pytest.fixture
def shown(monkeypatch, capsys):
    def show(made, width):
        monkeypatch.setattr(
            "rich.console.Console", lambda: Console(width=width, force_terminal=True, color_system=None)
        )
        console.print_table(made)
        return capsys.readouterr().out

    return show


@pytest.mark.parametrize(("rows", "columns", "width"), [(2, 3, 80), (2, 9, 80), (3, 12, 80), (11, 6, 80), (1, 30, 40)])
def test_every_number_is_whole_and_no_line_is_wider_than_the_terminal(shown, rows, columns, width):
    out = shown(table(rows, columns), width)
    assert max(map(len, out.splitlines())) <= width
    for row in range(rows):
        assert f"model {row}" in out
        assert all(f"{row}.{number:07}" in out for number in range(columns))


def test_a_table_stands_on_its_side_only_where_it_must(shown):
    def heads(out):
        return [line for line in out.splitlines() if "model 0" in line and "model 1" in line]

    assert not heads(shown(table(2, 3), 80))
    assert heads(shown(table(2, 9), 80))


NAMES = "≥ 🎯"


@pytest.mark.slow(reason="what starts other programs")
def test_a_narrow_encoding_is_no_fault_and_json_is_utf_8(tmp_path):
    (tmp_path / "odd.csv").write_text(f"y,{NAMES}\n1,0.9\n0,0.1\n", encoding="utf-8")
    script = """
import sys
from rocscope.cli import run
for kind in ("--json", "--detail", "--md"):
    print(run([*sys.argv[1:], kind]), end="\\0", flush=True)
"""
    command = [sys.executable, "-c", script, "summary", "odd.csv", "-l", "y", "-s", NAMES]
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "COLUMNS": "200"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True)
    of_json, *others, end = done.stdout.split(b"\0")
    assert (done.returncode, end, len(others)) == (0, b"", 2), done.stderr
    assert json.loads(of_json.removesuffix(b"0").decode("utf-8"))["models"][0]["name"] == NAMES
    for out in others:
        assert rb"\u2265 \U0001f3af" in out
        assert out.endswith(b"0")


def test_notes_and_titles_end_their_lines_between_words(monkeypatch, capsys, shown):
    monkeypatch.setenv("COLUMNS", "40")
    words = "Best: gradient boosting at threshold 0.48361, expected cost 0.0785 per case."
    console.note(words)
    assert capsys.readouterr().err == f"{words}\n", "a pipe gets one line"
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    console.note(words)
    err = capsys.readouterr().err
    assert max(map(len, err.splitlines())) <= 40
    assert err.split() == words.split()
    console.note(words, to_be_copied=True)
    assert capsys.readouterr().err == f"{words}\n"
    made = table(1, 1)
    made.title = words
    title = shown(made, 40).partition(" model")[0].splitlines()[:-1]
    assert " ".join(title).split()[: len(words.split())] == words.split()
    assert max(map(len, title)) <= 40


def test_a_title_that_the_first_heading_repeats_is_left_out(shown):
    made = table(1, 1)
    made.title = "Model"
    assert "Model" not in shown(made, 80)
    assert shown(made, 80).endswith("\n\n"), "a blank line parts it from what follows"


def test_an_unknown_width_prints_the_table(run, scores):
    code, out, _ = run("validate", scores, COLUMNS="0")
    assert (code, "label: 0 × 3, 1 × 3" in out) == (0, True)


def test_a_long_table_has_the_same_cells_without_frames(monkeypatch, capsys):
    names = ["plain", "≥ 🎯", "two\nlines", "bell\a", *(f"column {number}" for number in range(20))]
    rows = [[name, f"{number:,}"] for number, name in enumerate(names)]
    monkeypatch.setattr(console, "_MOST_FRAMED_ROWS", 10)
    console.print_rows("names", ("name", "value"), rows)
    title, heading, *lines = capsys.readouterr().out.splitlines()
    assert (title, heading.split()) == ("names", ["name", "value"])
    assert [line.split()[-1] for line in lines] == [value for _, value in rows]
    assert len({cell_len(line) for line in [heading, *lines]}) == 1, "numbers end in one column"
    assert lines[2].startswith("two lines ")


def test_json_goes_to_a_stream_of_text_as_in_a_notebook():
    with contextlib.redirect_stdout(io.StringIO()) as out:
        console.print_json("summary", {"auc": 0.5, "name": "größte"})
    assert json.loads(out.getvalue())["name"] == "größte"
