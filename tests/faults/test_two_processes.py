"""Two processes that save one file at the same moment: one succeeds, and whoever overwrites keeps what the file was."""

import os
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import pytest

import rocscope as rs
from rocscope._base.atomic_write import updating

WRITER = """
import errno, os, sys, time
import rocscope as rs
from rocscope.errors import InputError

name, links, force = sys.argv[1:]
if links == "no":
    def refuse(*paths):
        raise OSError(errno.EPERM, "no links here")
    os.link = refuse
decision = rs.choose([0, 1, 0, 1], {name * 5_000: [0.1, 0.4, 0.35, 0.8]})
print("ready", flush=True)
for line in sys.stdin:
    path, start = line.split()
    while time.monotonic() < float(start):  # of one clock, by which both begin
        pass
    try:
        decision.save(path, force=force == "yes")
        print("written", flush=True)
    except InputError as error:
        print("kept" if "exists already" in str(error) else error, flush=True)
"""
ROUNDS = [20, pytest.param(1_000, marks=pytest.mark.slow)]


@pytest.fixture
def writers(request):
    """Two processes that save a decision of their own where and when they are told."""
    links, force = request.param
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    found = [subprocess.Popen([sys.executable, "-c", WRITER, name, links, force], **options) for name in "ab"]
    try:
        assert [process.stdout.readline() for process in found] == ["ready\n"] * 2
        yield found
    finally:
        for process in found:
            process.stdin.close()
            process.wait(60)
            process.stdout.close()


def _save_at_once(writers, path):
    start = time.monotonic() + 0.01
    for process in writers:
        process.stdin.write(f"{path} {start}\n")
        process.stdin.flush()
    return [process.stdout.readline().strip() for process in writers]


def _writer_of(path):
    """Return who wrote a file, which loads only if it is whole."""
    return rs.load_plan(path).model[0]


@pytest.mark.every(2)
@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("writers", [("yes", "no"), ("no", "no")], indirect=True, ids=["links", "no links"])
def test_of_two_that_do_not_force_exactly_one_succeeds(writers, rounds, tmp_path):
    for number in range(rounds):
        path = tmp_path / f"{number}.json"
        said = _save_at_once(writers, path)
        assert sorted(said) == ["kept", "written"]
        assert _writer_of(path) == "ab"[said.index("written")]
        path.unlink()
    assert not list(tmp_path.iterdir())


@pytest.mark.slow(reason="what starts other programs")
@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("writers", [("yes", "yes")], indirect=True, ids=["force"])
def test_of_two_that_force_the_file_is_of_one_and_stays_private(writers, rounds, tmp_path):
    path = rs.choose([0, 1], [0.1, 0.9]).save(tmp_path / "plan.json")
    path.chmod(0o600)
    with suppress(PermissionError, AttributeError):  # who is not root gives no file away
        os.chown(path, 12345, 54321)
    with suppress(OSError, AttributeError):  # a file system without attributes
        os.setxattr(path, "user.origin", b"audit")
    marks = _marks(path)
    for _ in range(rounds):
        assert _save_at_once(writers, path) == ["written"] * 2
        assert _writer_of(path) in "ab"
        assert _marks(path) == marks
    assert list(tmp_path.iterdir()) == [path]


def _marks(path):
    kept = path.stat()
    attributes = {name: os.getxattr(path, name) for name in getattr(os, "listxattr", lambda _: [])(path)}
    return oct(kept.st_mode), kept.st_uid, kept.st_gid, attributes


UPDATER = """
import sys
from rocscope.cli import run

options = ["--label", "y", "--score", "a", "--state", "s.json", "--json"]
codes = {run(["monitor", "decision.json", f"{name}.csv", *options, "--when", name]) for name in sys.argv[1:]}
print(*codes, file=sys.stderr)
"""


@pytest.fixture
def counted(tmp_path):
    """A saved decision, and a function that writes files of four rows each and returns their names."""
    rs.choose([0, 1, 0, 1], {"a": [0.1, 0.4, 0.35, 0.8]}).save(tmp_path / "decision.json")

    def files(process, batches):
        names = [f"{process}-{number}" for number in range(batches)]
        for name in names:
            (tmp_path / f"{name}.csv").write_text("y,a\n1,.9\n0,.1\n1,.2\n0,.6\n")
        return names

    return files


COUNTER = """
from pathlib import Path
from rocscope._base.atomic_write import updating, write_file

for _ in range(100):
    with updating("n"):
        write_file("n", str(int(Path("n").read_text()) + 1), force=True)
"""


def test_processes_that_update_one_file_wait_for_each_other(tmp_path):
    (tmp_path / "n").write_text("0")
    running = [subprocess.Popen([sys.executable, "-c", COUNTER], cwd=tmp_path) for _ in range(4)]
    assert [process.wait(60) for process in running] == [0] * 4
    assert (tmp_path / "n").read_text() == "400"
    assert [file.name for file in tmp_path.iterdir()] == ["n"], "no lock file is left"


def test_the_lock_that_another_makes_at_the_removal_of_ours_stays(tmp_path, monkeypatch):
    held = {".n.lock"}
    unlink = type(tmp_path).unlink

    def unlink_and_be_overtaken(path, missing_ok=False):
        unlink(path, missing_ok=missing_ok)
        if path.name in held:
            held.remove(path.name)
            path.touch()  # what a process that waits does as soon as the name is free

    with updating(tmp_path / "n"):
        monkeypatch.setattr(type(tmp_path), "unlink", unlink_and_be_overtaken)
    assert [file.name for file in tmp_path.iterdir()] == [".n.lock"]


def test_a_monitor_adds_to_the_state_that_it_finds_under_the_lock(counted, run, tmp_path, monkeypatch):
    first, second = counted("a", 2)
    options = ("--label", "y", "--state", "s.json", "--when")

    @contextmanager
    def overtaken(state):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("rocscope.cli.checks.updating", updating)
            assert run("monitor", "decision.json", f"{second}.csv", *options, "second")[0] == 0
        with updating(state):
            yield

    monkeypatch.setattr("rocscope.cli.checks.updating", overtaken)
    assert run("monitor", "decision.json", f"{first}.csv", *options, "first")[0] == 0
    assert rs.decisions.Monitor.load(tmp_path / "s.json").n == 8


@pytest.mark.slow(reason="400 runs")
def test_monitors_that_update_one_state_lose_no_rows(counted, tmp_path):
    batches = 100
    named = [counted(process, batches) for process in "abcd"]
    options = {"cwd": tmp_path, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    running = [subprocess.Popen([sys.executable, "-c", UPDATER, *names], **options) for names in named]
    assert [process.communicate(timeout=280)[1].split()[-1] for process in running] == ["0"] * 4
    state = rs.decisions.Monitor.load(tmp_path / "s.json")
    assert (state.n, state.looks) == (16 * batches, 4 * batches)
    assert not list(tmp_path.glob(".*")), "no lock file is left"


HOLDER = """
import time
from rocscope._base.atomic_write import updating

with updating("s.json"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_lock_refuses_others_and_ends_with_its_process(counted, run, tmp_path, monkeypatch):
    monkeypatch.setattr("rocscope._base.atomic_write._LONGEST_WAIT", 0.1)
    (name,) = counted("a", 1)
    update = ("monitor", "decision.json", f"{name}.csv", "--label", "y", "--state", "s.json")
    with subprocess.Popen([sys.executable, "-c", HOLDER], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        code, _, err = run(*update)
        assert (code, "s.json: another process is updating this file; try again" in err) == (2, True)
        holder.kill()
    assert list(tmp_path.glob(".s.json.lock")), "whoever is killed leaves the file, and no lock"
    assert run(*update)[0] == 0
    assert not list(tmp_path.glob(".s.json.lock"))
