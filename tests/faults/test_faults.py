"""A call of the system fails, or a signal comes, at any moment of any command: it ends in one line, nothing left over.

The shim stands before libc, so that reads and writes of DuckDB and Arrow fail too. Calls that fail are those on the
user's files, on temporary files and on stdout; allocations those of 64 KiB or more; signals come at any call at all.
Some libraries do not survive an allocation of their own that fails. The process may then end as they have it, but no
file may be half written, and no answer be another one.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet

import rocscope as rs

pytestmark = pytest.mark.skipif(
    int(version("duckdb").split(".")[0]) < 2, reason="DuckDB before 2.0 aborts at the end of a process that was forked"
)
HERE = Path(__file__).parent
PRELOADED = (
    "rocscope.cli.app", "rocscope.report", "rocscope.inference", "rocscope.calibration", "rocscope.plotting",
    "rocscope.engines.reading", "rocscope.engines.opening", "rocscope.engines.tables",
    "duckdb", "pyarrow.parquet", "pyarrow.csv", "pyarrow.feather", "numba", "scipy.stats", "sklearn.isotonic",
    "matplotlib.figure", "rich.table",
)  # fmt: skip
FOR_MONITOR = (
    "rocscope.cli.app",
    "rocscope.engines.opening",
    "rocscope.decisions.monitoring",
    "pyarrow.csv",
)
KINDS = {
    "calls": (1, 0),
    "full disk": (2, 0),
    "memory": (3, 0),
    "SIGINT": (4, signal.SIGINT),
    "SIGTERM": (4, signal.SIGTERM),
}
MOST_ALLOCATIONS = 60  # of a thousand or more, spread evenly; of calls of the system all are tried
MOST_OF_DEMO = 300  # of the demo, a second each, as many signals: what it does other commands do one by one
MORTAL = ("_duckdb", "libllvmlite", "libscipy_openblas")
FILE = "../in/scores"
COMMANDS = {
    "validate": f"validate {FILE}.csv",
    "validate folder": "validate ../in/parts",
    "summary": f"summary {FILE}.csv -l y -s a -s b",
    "summary gz": f"summary {FILE}.csv.gz -l y -s a --json",
    "summary jsonl": f"summary {FILE}.jsonl -l y -s a --md",
    "summary stdin": "summary - --format csv -l y -s a --json",
    "summary streamed": f"summary {FILE}.parquet -l y -s a --json --memory 32MB",
    "report": f"report {FILE}.parquet -l y -s a -o new.html",
    "report over": f"report {FILE}.arrow -l y -s a -o old.html --force",
    "report stdout": f"report {FILE}.parquet -l y -s a -o -",
    "choose": f"choose {FILE}.csv -l y -s a -o new.json --plot new.svg",
    "campaign": f"campaign {FILE}.parquet -l y -s a --population 1e6 --unit-cost 1 --unit-benefit 5 --plot new.png",
    "compare": f"compare {FILE}.parquet -l y -s a -s b",
    "calibrate": f"calibrate {FILE}.csv -l y -s a -m platt -o new.json",
    "apply": f"calibrate {FILE}.csv -s a --apply ../in/platt.json -o new.csv",
    "apply to stdout": f"calibrate {FILE}.parquet -s a --apply ../in/platt.json",
    "monitor": f"monitor ../in/decision.json {FILE}.csv -l y --state old.state",
    "verify": f"verify ../in/decision.json {FILE}.csv -l y -s a",
    "page": "page -o new.html",
    "guessed": f"{FILE}.csv",
    "demo": "demo --folder .",
}
OLD = {"old.html": "old", "old.state": ""}


@pytest.fixture(scope="session")
def shim(tmp_path_factory):
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("faults are injected with a C compiler on Linux")
    path = tmp_path_factory.mktemp("shim") / "shim.so"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", path, HERE / "shim.c", "-ldl"], check=True)
    return path


@pytest.fixture(scope="session")
def root(tmp_path_factory):
    """A folder of `in`, what commands read, and `before`, what is where they write."""
    root = tmp_path_factory.mktemp("faults") / "root"
    given = root / "in"
    (given / "parts").mkdir(parents=True)
    random = np.random.default_rng(0)
    label = random.integers(0, 2, 400)
    table = pa.table({"y": label, "a": label + random.normal(size=400).round(2), "b": random.normal(size=400)})
    csv.write_csv(table, given / "scores.csv")
    with pa.CompressedOutputStream(given / "scores.csv.gz", "gzip") as stream:
        csv.write_csv(table, stream)
    parquet.write_table(table, given / "scores.parquet")
    feather.write_feather(table, given / "scores.arrow")
    (given / "scores.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    for number in range(2):
        parquet.write_table(table.slice(200 * number, 200), given / "parts" / f"{number}.parquet")
    predictions = rs.read(given / "scores.csv", label="y", scores="a")
    decision = rs.choose(predictions)
    decision.save(given / "decision.json")
    rs.calibration.recalibrate(predictions, "platt").recalibrators["a"].save(given / "platt.json")
    (root / "before").mkdir()
    (root / "before" / "old.html").write_text("old")
    rs.monitor(decision).save(root / "before" / "old.state")
    return root


@pytest.fixture(scope="session")
def drivers(shim, tmp_path_factory):
    """Processes that run commands under the shim: one that has imported next to nothing, and one most of it."""
    environment = os.environ | {"LD_PRELOAD": str(shim), "PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "200"}
    environment |= {"OPENBLAS_NUM_THREADS": "1", "MPLCONFIGDIR": str(tmp_path_factory.mktemp("matplotlib"))}
    environment.pop("PYTHONUNBUFFERED", None)  # output in pieces of one word

    def start(*modules):
        command = [sys.executable, HERE / "driver.py", *modules]
        return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    started = {}
    yield lambda *modules: started[modules] if modules in started else started.setdefault(modules, start(*modules))
    for driver in started.values():
        driver.communicate()


def outcomes(driver, root, command, kind, most):
    """Yield how a command ended, first without a fault, then with each that was tried."""
    what, signum = KINDS[kind]
    stdin = "scores.csv" if "stdin" in command else ""
    task = {"root": str(root), "argv": COMMANDS[command].split(), "stdin": stdin}
    print(json.dumps(task | {"kind": what, "signal": signum, "most": most}), file=driver.stdin, flush=True)
    while (line := driver.stdout.readline()).strip():
        yield json.loads(line)
    assert line, "the driver has ended"


def faults_of(outcome, whole):
    """Say what is wrong with how a command ended, given how it ends where nothing fails."""
    code, err = outcome["code"], outcome["err"]
    died = code not in (0, 2, 130) and outcome["asked"].startswith(MORTAL)
    if code not in (0, 2, 130) and not died:
        yield f"exit {code}: {err[-300:]}"
    if code == 0 and outcome["out"] != whole["out"]:
        yield "exit 0 with another output"
    if code == 0 and outcome["files"] != whole["files"]:
        yield "exit 0 with other files"
    *before, last = err.splitlines() or [""]
    if code != 0 and not died and not (last.startswith("rocscope: ") and set(before) <= set(whole["err"].splitlines())):
        yield f"no single line: {err}"
    if (outcome["left"] and not died) or outcome["processes"]:
        yield f"left over: {outcome['left']} {outcome['processes']}"
    for name, content in outcome["files"].items():
        if content not in (whole["files"].get(name), whole["before"].get(name)):
            yield f"{name} is neither whole nor as before"


def check(driver, root, command, kind, most):
    before = {path.name: path.read_bytes().hex() for path in (root / "before").iterdir()}
    whole, *others = outcomes(driver, root, command, kind, most)
    assert (whole["code"], whole["left"], whole["processes"]) == (0, [], False), whole["err"]
    bad = [
        f"n={each['n']} {each['asked']}: {fault}"
        for each in others
        for fault in faults_of(each, whole | {"before": before})
    ]
    ended = dict(sorted(Counter(str(each["code"]) for each in others).items()))
    print(f"{command}, {kind}: {len(others)} of {whole['calls']} tried, exits {ended}, {len(bad)} bad")
    assert not bad, "\n".join(bad)


@pytest.mark.every(3)
@pytest.mark.parametrize("kind", ["SIGTERM", "calls", "memory"])
def test_some_faults_end_in_one_line_and_leave_nothing_over(drivers, root, kind):
    check(drivers(*FOR_MONITOR), root, "monitor", kind, 3)  # of the commands that write over a file the fastest


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_fault_ends_in_one_line_and_leaves_nothing_over(drivers, root, command, kind):
    most = MOST_OF_DEMO if command == "demo" else 10_000
    check(drivers(*PRELOADED), root, command, kind, MOST_ALLOCATIONS if kind == "memory" else most)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["SIGINT", "SIGTERM"])
def test_a_signal_while_libraries_are_loaded_leaves_nothing_over(drivers, root, kind):
    check(drivers(), root, "choose", kind, 60)
