"""Whatever is typed, and wherever output goes: one line and exit code 0, 1, 2 or 130, never a traceback."""

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

COLUMNS = ("--label", "y", "--score", "a")
COMMANDS = {
    "summary": COLUMNS,
    "choose": COLUMNS,
    "compare": (*COLUMNS, "--score", "b"),
    "report": (*COLUMNS, "-o", "-"),
    "campaign": (*COLUMNS, "--population", "9", "--unit-cost", "1", "--unit-benefit", "2"),
    "calibrate": (*COLUMNS, "-o", "c.json"),
    "validate": COLUMNS,
}
VALUES = (
    "",
    "x",
    "-1",
    "nan",
    "inf",
    "1e400",
    "9" * 40,
    "'; DROP TABLE x",
    "y" * 5000,
    "é\u202e",
    "\x1b[31m",
    "[1, 2]",
    "a\nb",
)
OPTIONS = (
    *("--label", "--score", "--where", "--weight", "--pos-label", "--missing", "--format", "--decimal", "--delimiter"),
    *("--encoding", "--cost-fp", "--target-prevalence", "--memory", "--fold", "--level", "--fail-if", "--criterion"),
    *("--subject-to", "--capacity", "--steps", "--method", "--folds", "--random-state", "-o", "--plot"),
)
FILES = {
    "nothing.csv": b"",
    "header.csv": b"y,a\n",
    "one class.csv": b"y,a\n1,.5\n1,.6\n",
    "nan.csv": b"y,a\n1,nan\n0,.6\n",
    "inf.csv": b"y,a\n1,inf\n0,.6\n",
    "text.csv": b"y,a\n1,high\n0,low\n",
    "commas.csv": b'y,a\n1,"0,5"\n0,"0,6"\n',
    "huge.csv": b"y,a\n1,9007199254740993\n0,0.5\n",
    "latin.csv": "y,a,n\n1,.5,é\n0,.6,e\n".encode("latin-1"),
    "twice.csv": b"y,a,a\n1,.5,.5\n0,.6,.5\n",
    "quote.csv": b'y,a\n1,".5\n',
    "bytes.csv": bytes(range(256)),
    "three.csv": b"y,a\n1,.5\n2,.6\n3,.7\n",
    "nested.jsonl": b"[" * 5000,
    "deep.jsonl": b'{"y":1,"a":' + b"[" * 3000 + b"]" * 3000 + b"}\n",
    "no.parquet": b"PAR1PAR1",
    "no.arrow": b"ARROW1\0\0",
    "no.csv.gz": b"\x1f\x8b\x08",
}
WORDS_OF_PYTHON = re.compile(r"\b(missing|decimal|delimiter|encoding|format|pos_label|label|force)=")


def script(shell):
    code = "from rocscope.cli import main; main()"
    command = ["bash", "-c", shell.replace("ROCSCOPE", '"$0" -c "$1"'), sys.executable, code]
    return subprocess.run(command, capture_output=True, text=True, timeout=90)


def typed(every):
    """Yield hostile command lines, all or one of every so many: options with values, and files, by all commands."""
    for number, (option, value) in list(enumerate(itertools.product(OPTIONS, VALUES)))[::every]:
        name = list(COMMANDS)[number % len(COMMANDS)]
        yield (
            name,
            "good.csv",
            *COMMANDS[name],
            f"{option}={value}" if option.startswith("--") else option,
            *([value] if option == "-o" else []),
        )
    for file, (name, columns) in list(itertools.product(FILES, COMMANDS.items()))[::every]:
        yield (name, file, *columns)


@pytest.mark.parametrize("every", [13, pytest.param(1, marks=pytest.mark.slow)])
def test_hostile_command_lines_end_in_one_line(run, tmp_path, every):
    (tmp_path / "good.csv").write_text("y,a,b\n1,.9,.1\n0,.4,.2\n1,.6,.4\n0,.7,.3\n")
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    codes = dict.fromkeys((0, 1, 2), 0)
    for arguments in typed(every):
        code, out, err = run(*arguments)
        assert code in codes, (arguments, err)
        codes[code] += 1
        assert "Traceback" not in err
        if code == 2 and "Problem:" not in err:
            assert (out, err.count("\n")) == ("", 1), (arguments, err)
            assert err.startswith("rocscope: ")
            assert not WORDS_OF_PYTHON.search(err.partition("Python: ")[0]), err
    print(f"{sum(codes.values())} command lines by exit code: {codes}")
    assert sum(codes.values()) > 450 / every
    assert codes[2] > 250 / every


@pytest.mark.parametrize(
    ("file", "options", "words"),
    [
        ("nan.csv", (), "pass --missing drop to drop such rows"),
        ("commas.csv", ("--decimal", "."), "pass the decimal mark: --decimal ,"),
        ("good.csv", ("--target-prevalence", "2"), "--target-prevalence: expected a share"),
        ("good.csv", ("--pos-label", "7"), "--pos-label: expected a value of column 'y': one of '0', '1', got '7'"),
        ("good.csv", ("--delimiter", ";;"), "--delimiter: expected one character"),
        ("good.csv", ("--where", "s >"), "--where 's >': syntax error"),
    ],
)
def test_errors_are_in_the_words_that_were_typed(run, tmp_path, file, options, words):
    (tmp_path / file).write_bytes(FILES.get(file, b"y,a\n1,.9\n0,.4\n"))
    code, _, err = run("summary", file, *COLUMNS, *options)
    assert (code, words in err) == (2, True), err


def test_a_warning_of_the_reader_is_one_line_after_the_result(run, tmp_path):
    (tmp_path / "latin.csv").write_bytes(FILES["latin.csv"])
    code, out, err = run("summary", "latin.csv", *COLUMNS)
    assert code == 0 and "a" in out
    assert err.splitlines()[-1].startswith("Warning: latin.csv: the text is not UTF-8 and is read as Windows-1252")


def test_rows_without_a_segment_are_one(run, tmp_path):
    (tmp_path / "s.csv").write_text("y,s,branch\n1,.9,north\n0,.4,north\n1,.3,\n0,.6,\n")
    asked = ("summary", "s.csv", "--label", "y", "--score", "s", "--segment", "branch", "--json")
    code, _, err = run(*asked)
    assert code == 2 and "branch" in err
    code, out, _ = run(*asked, "--missing", "segment")
    assert code == 0
    assert [row["part"] for row in json.loads(out)["summary"]["rows"]] == ["all", "north", "None"]


@pytest.mark.every(4)
@pytest.mark.parametrize("command", COMMANDS)
def test_rows_that_are_left_out_are_counted(run, tmp_path, command):
    rows = "".join(f"{i % 2},{(i * 7 % 11) / 11},{i / 40}\n" for i in range(40))
    (tmp_path / "gaps.csv").write_text(f"y,a,b\n{rows}1,,1\n0,inf,1\n,.5,1\n")
    if command != "validate":  # which counts what is missing in each column
        code, _, err = run(command, "gaps.csv", *COMMANDS[command], "--missing", "drop")
        assert code == 0
        assert "Dropped: 3 of 43 rows, because they have a missing or infinite value\n" in err


def test_problems_are_a_failure_of_validate(run, tmp_path):
    (tmp_path / "f.csv").write_text("y,a\n1,.5\n2,\n3,.1\n")
    code, out, err = run("validate", "f.csv", *COLUMNS)
    assert (code, "Problem: label 'y': expected two classes, got 3 classes" in err, "a" in out) == (2, True, True)
    assert run("validate", "f.csv", *COLUMNS, "--json")[0] == 2
    assert run("validate", "f.csv")[0] == 0


def test_a_name_that_is_too_long(run, scores):
    options = (
        ("report", "-o", "html"),
        ("choose", "-o", "json"),
        ("choose", "--plot", "svg"),
        ("calibrate", "-o", "json"),
    )
    for command, option, ending in options:
        name = "x" * 300 + f".{ending}"
        code, out, err = run(command, scores, *COLUMNS, option, name)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert f"expected a name of at most 255 bytes, got {len(name)} bytes" in err


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("command", "where", "words"),
    [
        ("choose", ">/dev/full", "No space left"),
        ("report", ">&-", "stdout"),
        ("--help", ">/dev/full", "No space left"),
    ],
)
def test_stdout_that_takes_nothing(scores, command, where, words):
    name, *options = command.split()
    arguments = "--help" if name == "--help" else " ".join([name, str(scores), *COMMANDS[name], *options])
    run = script(f"ROCSCOPE {arguments} {where}")
    assert (run.returncode, run.stderr.count("\n")) == (2, 1), run
    assert words in run.stderr


@pytest.mark.every(2)
@pytest.mark.parametrize(("gate", "code"), [("auc(a)<0.1", 0), ("auc(a)<1", 1)])
def test_a_reader_that_leaves_changes_nothing_of_a_gate(scores, gate, code):
    options = " ".join(COMMANDS["compare"])
    run = script(f"ROCSCOPE compare {scores} {options} --fail-if '{gate}' | :; exit ${{PIPESTATUS[0]}}")
    assert (run.returncode, "Traceback" in run.stderr, "internal" in run.stderr) == (code, False, False)


@pytest.mark.slow(reason="what starts other programs")
def test_what_a_shell_pipes_and_pipes_of_a_name(run, scores, tmp_path):
    columns = " ".join(COLUMNS)
    piped = script(f"ROCSCOPE summary <(cat {scores}) {columns} --format csv --json")
    assert piped.returncode == 0, piped.stderr
    assert '"auc"' in piped.stdout
    piped = script(f"ROCSCOPE summary <(cat {scores}) {columns}")
    assert (piped.returncode, "pass --format with one of csv, tsv" in piped.stderr) == (2, True), piped.stderr
    os.mkfifo(tmp_path / "pipe.csv")
    code, _, err = run("summary", tmp_path / "pipe.csv", *COLUMNS)
    assert (code, "neither a file nor a folder; pass its content on standard input" in err) == (2, True)
    assert run("choose", scores, *COLUMNS, "-o", tmp_path / "pipe.csv")[0] == 2


@pytest.mark.parametrize("delay", [0.1, 0.4])
def test_an_interrupt_is_one_word(delay):
    code = "import sys; from rocscope.cli import main; print('begun', flush=True); main()"
    shell = f'exec "$0" -c "$1" summary - --format csv {" ".join(COLUMNS)}'
    with subprocess.Popen(
        ["bash", "-c", shell, sys.executable, code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "begun\n"
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "rocscope: interrupted\n")
