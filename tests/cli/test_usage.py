"""What is typed: options of every command, faults in them, answered at once, and where defaults come from."""

import gzip
import io
import json
import os
import re
import subprocess
import sys

import pyarrow as pa
import pytest
from pyarrow import parquet

COMMANDS = ("demo", "validate", "summary", "report", "choose", "campaign", "compare", "calibrate", "page")
OF_A_FILE = COMMANDS[1:-1]
CAMPAIGN = ("--population", "9", "--unit-cost", "1", "--unit-benefit", "2")
LIBRARIES = {"numpy", "pyarrow", "duckdb", "scipy", "sklearn", "matplotlib", "narwhals"}
END = "\0"
SCRIPT = f"""
import json, sys
from rocscope.cli import run
for arguments in json.loads(sys.argv[1]):
    print(run(arguments), end={END!r})
print(*{{name.partition(".")[0] for name in sys.modules}})
"""


def answers(folder, *typed):
    """Run commands in a process of their own; return what each prints and its code, stderr, and what was loaded."""
    environment = os.environ | {"COLUMNS": "80"}
    command = [sys.executable, "-c", SCRIPT, json.dumps(typed)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)
    *printed, loaded = done.stdout.split(END)
    return printed, done.stderr, set(loaded.split())


@pytest.fixture(scope="module")
def helps(tmp_path_factory):
    """The help of each command in 80 columns, which another process may have been shown in another width."""
    commands = [(name, "--help") for name in COMMANDS] + [("--help",), ()]
    printed, err, _ = answers(tmp_path_factory.mktemp("helps"), *commands)
    assert ({text[-1] for text in printed}, err) == ({"0"}, "")
    return dict(zip(commands, [text[:-1] for text in printed], strict=True))


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_on_a_terminal_and_says_something_of_every_option(helps, command):
    out = helps[command, "--help"]
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    assert ("Example: " in out) == (command != "demo")
    options = [line for line in lines if line.startswith(("│ --", "│ *  "))]
    assert options
    assert all(len(line.strip("│ ").split("  ")) > 1 for line in options), "an option without words"


def test_help_names_every_command(helps):
    out = helps["--help",]
    assert helps[()] == out
    for command in COMMANDS:
        assert re.search(rf"│ {command} +[A-Z]", out)


def test_completion_is_installed_for_the_shell(run, tmp_path):
    code, _, _ = run("--install-completion", HOME=str(tmp_path), SHELL="/bin/bash")
    (script,) = tmp_path.glob(".local/share/bash-completion/completions/rocscope")
    assert (code, "--target-prevalence" in script.read_text()) == (0, True)


def test_version(run):
    import rocscope

    assert run("--version") == (0, f"rocscope {rocscope.__version__}\n", "")
    asked = subprocess.run([sys.executable, "-m", "rocscope", "--version"], capture_output=True, text=True)
    assert (asked.returncode, asked.stdout) == (0, f"rocscope {rocscope.__version__}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("summary",), "FILE requires an argument; see rocscope summary --help"),
        (("sumary", "f.csv"), 'Neither a command nor a file: "sumary". Did you mean "summary"?'),
        (("summary", "f.csv", "--lable", "y"), "--lable. Did you mean --label?"),
        (("summary", "--lable", "y"), "--lable is no option of this command"),
        (("summary", "a.csv", "b.csv"), "got also 'b.csv'; a pattern such as 'part-*.csv' belongs in quotes"),
        (("summary", "f.csv", "--label"), "--label requires an argument"),
        (("summary", "f.csv", "--missing", "skip"), '"skip" for --missing. Choose from: "error", "drop"'),
        (("summary", "f.csv", "--format", "xls"), '"xls" for --format'),
        (
            ("summary", "f.csv", "--target-prevalence", "much"),
            'for --target-prevalence: unable to convert "much" into float',
        ),
        (("summary", "f.csv", "--json", "--md"), "--json and --md: expected one of them"),
        (("campaign", "f.csv"), "--population requires an argument"),
        (("campaign", "f.csv", *CAMPAIGN, "--steps", "0"), "--steps"),
        (("choose", "f.csv", "--cost-rows", "columns"), '"columns" for --cost-rows'),
        (("calibrate", "f.csv", "--score", "s", "-o", "-"), "--output: expected the name of a file"),
        (("summary", "no*.csv"), "no*.csv: no file matches this pattern"),
        (("summary", "s3://bucket/f.csv"), "only local files are read"),
    ],
)
def test_a_fault_is_one_line_and_exit_code_2(run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("rocscope: ")
    assert message in err


WRONG = {
    "path": (("missing.csv", "--label", "y"), "missing.csv: no such file"),
    "option": (("missing.csv", "--label", "y", "--scroe", "s"), "--scroe"),
    "label": (("rows.csv", "--label", "z"), "label of rows.csv: expected one of 'y', 's', got 'z'"),
    "score": (
        ("rows.csv.gz", "--label", "y", "--score", "t"),
        "score of rows.csv.gz: expected one of 'y', 's', got 't'",
    ),
    "no label": (("rows.csv",), "--label: expected the name of a column of rows.csv: 'y', 's', got none"),
}


@pytest.mark.parametrize("fault", WRONG)
def test_what_is_wrong_is_answered_before_any_library_is_loaded(tmp_path, fault):
    (tmp_path / "rows.csv").write_text("y,s\n1,0.9\n0,0.1\n")
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress((tmp_path / "rows.csv").read_bytes()))
    typed, message = WRONG[fault]
    commands = OF_A_FILE[1:] if fault == "no label" else OF_A_FILE
    lines = []
    for command in commands:
        required = CAMPAIGN if command == "campaign" else ()
        required += ("--score", "s") if "--score" not in typed and command != "validate" else ()
        lines.append((command, *typed, *required))
    codes, err, loaded = answers(tmp_path, *lines)
    assert codes == ["2"] * len(commands), err
    assert [message in line for line in err.splitlines()] == [True] * len(commands), err
    assert not loaded & LIBRARIES


def test_of_parquet_only_what_reads_its_names_is_loaded(tmp_path):
    parquet.write_table(pa.table({"y": [1, 0], "s": [0.9, 0.1]}), tmp_path / "rows.parquet")
    codes, err, loaded = answers(tmp_path, ("summary", "rows.parquet", "--label", "y", "--score", "t"))
    assert (codes, "score of rows.parquet: expected one of 'y', 's', got 't'" in err) == (["2"], True)
    assert not loaded & (LIBRARIES - {"numpy", "pyarrow"})


def test_any_option_may_stand_in_the_environment_or_in_the_settings(run, scores, tmp_path):
    columns = ("summary", scores, "--label", "y", "--score", "a", "--json")

    def threshold(*extra, **environment):
        return json.loads(run(*columns, *extra, **environment)[1])["decision"]["threshold"]

    assert threshold() == 0.6
    (tmp_path / "rocscope.toml").write_text("cost-fn = 10\nfolder = 'of another command'\n")
    assert threshold() == 0.4
    (tmp_path / "rocscope.toml").write_text("cost_fn = 10\n[summary]\ncost_fn = 1\n[report]\ntitle = 'x'\n")
    assert threshold() == 0.6
    assert threshold(ROCSCOPE_COST_FN="10") == 0.4
    assert threshold("--cost-fn", "1", ROCSCOPE_COST_FN="10") == 0.6


def test_several_columns_in_the_environment(run, scores):
    out = run("summary", scores, "--json", ROCSCOPE_LABEL="y", ROCSCOPE_SCORE="a b")[1]
    assert [model["name"] for model in json.loads(out)["models"]] == ["a", "b"]


def test_settings_that_are_no_toml_are_named(run, scores, tmp_path):
    (tmp_path / "rocscope.toml").write_text("label = y")
    code, _, err = run("summary", scores)
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith("rocscope: rocscope.toml: expected valid TOML, got ")


def test_settings_may_begin_with_a_mark_of_their_encoding_as_editors_of_windows_set_it(run, scores, tmp_path):
    (tmp_path / "rocscope.toml").write_bytes(b'\xef\xbb\xbflabel = "y"\r\nscore = ["a"]\r\n')
    assert run("summary", scores, "--json")[0] == 0


def test_settings_for_two_classes_may_stay_where_there_are_more(run, tmp_path):
    (tmp_path / "rows.csv").write_text("y,p_a,p_b,p_c\na,.6,.2,.2\nb,.2,.6,.2\nc,.3,.3,.4\na,.5,.4,.1\n")
    (tmp_path / "rocscope.toml").write_text("cost_fn = 5\nscore = ['s']\n")
    arguments = ("summary", "rows.csv", "--label", "y", "--proba", "p_*", "--json", "--no-detail")
    assert run(*arguments)[0] == 0
    assert run(*arguments, ROCSCOPE_COST_FP="5")[0] == 0
    code, _, err = run(*arguments, "--cost-fn", "5")
    assert (code, "--cost-fn: expected none with --proba" in err) == (2, True)


def test_a_minus_reads_stdin(run, scores, monkeypatch):
    class Stdin:
        buffer = io.BytesIO(scores.read_bytes())

    monkeypatch.setattr("sys.stdin", Stdin)
    code, out, err = run("summary", "-", "--format", "csv", "-l", "y", "-s", "a", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["decision"]["threshold"] == 0.6


def test_values_may_begin_with_a_minus(run, scores):
    columns = ("--label", "y", "--score", "a", "--json")
    assert run("summary", scores, *columns, "--where", "-a < 0")[0] == 0
    assert json.loads(run("choose", scores, *columns, "--cost-tp", "-2")[1])["context"]["cost_tp"] == -2


def test_no_color_is_honoured(run, scores, monkeypatch):
    arguments = ("summary", scores, "--label", "y", "--score", "a")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert "\x1b[1m" in run(*arguments, FORCE_COLOR="1", TERM="xterm")[1]
    plain = run(*arguments, NO_COLOR="1")[1]
    assert "\x1b[3" not in plain


def test_a_reader_that_leaves_is_no_fault(scores):
    script = "from rocscope.cli import main; main()"
    command = [sys.executable, "-c", script, "summary", str(scores), "-l", "y", "-s", "a", "--json"]
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        run = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, text=True)
    assert "rocscope: internal" not in run.stderr
