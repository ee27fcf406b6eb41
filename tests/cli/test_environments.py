"""The command line where Python warns, asserts nothing, has no home and knows ASCII only; `make test-environments`
runs the core of all tests in each of these by itself."""

import json
import os
import subprocess
import sys

import pytest

SCRIPT = "from rocscope.cli import main; main()"
MISSING = ("HOME", "XDG_CACHE_HOME", "MPLCONFIGDIR", "PYTHONUTF8", "LANG", "LC_CTYPE")


def run_in_all(tmp_path, command, *options, **variables):
    (tmp_path / "é.csv").write_text("y,≥\n1,0.9\n0,0.1\n1,0.4\n0,0.6\n", encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name not in MISSING}
    environment |= {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"} | variables
    flags = ("-O", "-bb", "-W", "error")
    call = [sys.executable, *flags, "-c", SCRIPT, command, "é.csv", "-l", "y", "-s", "≥", *options]
    return subprocess.run([os.fsencode(word) for word in call], cwd=tmp_path, env=environment, capture_output=True)


@pytest.mark.slow(reason="what starts other programs")
def test_commands_hold_in_all_unusual_environments_at_once(tmp_path):
    summary = run_in_all(tmp_path, "summary", "--json")
    assert summary.returncode == 0, summary.stderr.decode()
    assert json.loads(summary.stdout.decode("utf-8"))["models"][0]["name"] == "≥"
    chosen = run_in_all(tmp_path, "choose", "-o", "décision.json")
    assert chosen.returncode == 0, chosen.stderr.decode()
    assert json.loads((tmp_path / "décision.json").read_text(encoding="utf-8"))["model"] == "≥"


def test_names_that_the_locale_cannot_hold_are_bad_input(tmp_path):
    done = run_in_all(tmp_path, "summary", PYTHONUTF8="0")
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert b"expected UTF-8 text; rename the file or column, or set" in done.stderr
