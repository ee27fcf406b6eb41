"""Hostile and damaged files: each is answered or refused in one line, without abort, hang, or much memory."""

import json
import os
import selectors
import subprocess
import sys
from pathlib import Path

import pytest

from hostile.hostile_files import commands_of, good_files, hostile_files, mutant, written

MUTANTS = 40  # of each format
SECONDS = 60  # for one command; none takes more than a second or two
WORKER = Path(__file__).with_name("file_worker.py")


class Worker:
    """A process that runs commands; started again after one that aborted or hangs."""

    def __init__(self, folder):
        self.temporary = folder / "temporary"
        self.temporary.mkdir(exist_ok=True)
        self.process = None

    def ask(self, arguments):
        """Return the answer to a command, or what happened to the process."""
        if self.process is None:
            environment = os.environ | {"TMPDIR": str(self.temporary), "PYTHONPATH": os.pathsep.join(sys.path)}
            self.process = subprocess.Popen(
                [sys.executable, str(WORKER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
            )
        self.process.stdin.write(json.dumps(arguments) + "\n")
        self.process.stdin.flush()
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            line = self.process.stdout.readline() if selector.select(SECONDS) else None
        if line:
            return json.loads(line)
        self.close()
        return {"code": "hangs" if line is None else "aborts", "err": "", "peak": 0, "left": 0}

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
        self.process = None


@pytest.fixture(scope="module")
def worker(tmp_path_factory):
    made = Worker(tmp_path_factory.mktemp("worker"))
    yield made
    made.close()


def harm(answer):
    """Return what is wrong with an answer, or nothing."""
    code, lines = answer["code"], answer["err"].splitlines()
    refusals = [line for line in lines if line.startswith("rocscope: ")]
    if code not in (0, 1, 2):
        return f"{code}: {answer['err'][-300:]}"
    if code == 2 and len(refusals) != 1:
        return f"{len(refusals)} refusals in {lines}"
    if answer["peak"] > 1 << 30:
        return f"{answer['peak'] / 1e9:.2f} GB of memory"
    return f"{answer['left']} bytes left over" if answer["left"] else ""


def harms(worker, paths):
    """Return the commands that do harm, with what they do."""
    wrong = {}
    for path in paths:
        for arguments in commands_of(path):
            if reason := harm(worker.ask(arguments)):
                wrong[f"{arguments[0]} {path.name}"] = reason
    return wrong


def mutants(every):
    """Return mutants of good files by name, all or one of every so many, with another fault for each format."""
    files = {}
    for number, (name, content) in enumerate(good_files().items()):
        stem, _, ending = name.partition(".")
        for seed in range(number % every, MUTANTS, every):
            files[f"{stem} {seed}.{ending}"] = mutant(content, seed)
    return files


SLOW = pytest.mark.slow(reason="all hostile files")


@SLOW
def test_good_files_are_answered(worker, tmp_path):
    for path in written(tmp_path, good_files()):
        for arguments in commands_of(path):
            answer = worker.ask(arguments)
            assert answer["code"] == (2 if path.suffix == ".zip" else 0), (path.name, answer)


@pytest.mark.parametrize("every", [12, pytest.param(1, marks=SLOW)])
def test_hostile_files_harm_nobody(worker, tmp_path, every):
    files = dict(list(hostile_files().items())[::every])
    assert harms(worker, written(tmp_path, files)) == {}


@pytest.mark.parametrize("every", [40, pytest.param(1, marks=SLOW)])
def test_mutants_harm_nobody(worker, tmp_path, every):
    assert harms(worker, written(tmp_path, mutants(every))) == {}
