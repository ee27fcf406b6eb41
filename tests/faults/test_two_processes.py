"""Two processes that save one file at the same moment: one succeeds, and whoever overwrites keeps what the file was."""

import os
import subprocess
import sys
import time
from contextlib import suppress

import pytest

import rocscope as rs

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
