"""Run commands again and again, each time with another call of the system failing; print what came of it.

    LD_PRELOAD=shim.so python driver.py MODULE...

Modules are imported first; then each line of stdin is a task, a JSON object: `root`, a folder of which `work` and `tmp`
are made anew for each run; `argv` of the command, and the file that is its `stdin`; `kind` and `signal` of the fault;
`most`, how many faults to try at most, spread evenly. Each run is a fork of this process, so that Python starts once.
The first line printed for a task is of a run without fault, and an empty line ends it.
"""

import atexit
import ctypes
import gc
import importlib
import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path

SHIM = ctypes.CDLL(None)  # what is preloaded is found there
LONGEST = 300  # seconds, of which a busy machine gives few


def start(task, root, number):
    """Become the command: its streams, its folder, its fault."""
    atexit.register(gc.unfreeze)  # or bindings would complain of what is left in the end
    os.setpgid(0, 0)
    for name, descriptor in ((root / "stdout", 1), (root.with_suffix(".stderr"), 2)):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
    os.dup2(os.open(root / "in" / task["stdin"] if task["stdin"] else os.devnull, os.O_RDONLY), 0)
    os.chdir(root / "work")
    os.environ["TMPDIR"] = str(root / "tmp")
    sys.argv = ["rocscope", *task["argv"]]
    SHIM.arm(task["kind"], task["signal"], ctypes.c_long(number), os.fsencode(f"{root}/"))


def wait(child):
    """Return the exit code of the command, or a word for how else it ended."""
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "hangs"


def has_processes(group):
    """Whether the command has left a process behind."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def attempt(task, root, number):
    """Run the command with the call of that number failing, none for 0; in the child, None is returned to run it."""
    for name in ("work", "tmp"):
        shutil.rmtree(root / name, ignore_errors=True)
        shutil.copytree(root / "before", root / name) if name == "work" else (root / name).mkdir()
    child = os.fork()
    if not child:
        start(task, root, number)
        return None
    code = wait(child)
    return {
        "n": number,
        "code": code,
        "calls": SHIM.calls_seen(),
        "asked": Path(os.fsdecode(SHIM.who_asked())).name,
        "out": (root / "stdout").read_bytes().decode(errors="replace"),
        "err": root.with_suffix(".stderr").read_text(encoding="utf-8", errors="replace"),
        "files": {path.name: path.read_bytes().hex() for path in sorted((root / "work").iterdir())},
        "left": [path.name for path in (root / "tmp").iterdir()],
        "processes": has_processes(child),
    }


def numbers(total, most):
    """Return which calls are to fail: all, or so many spread over them."""
    return range(1, total + 1) if total <= most else sorted({1 + i * (total - 1) // (most - 1) for i in range(most)})


def main():
    SHIM.prepare()
    SHIM.who_asked.restype = ctypes.c_char_p
    for name in ("rocscope.cli", *sys.argv[1:]):
        importlib.import_module(name)
    gc.freeze()  # no run looks through what was imported, and so copies it
    report = sys.stdout
    for line in iter(sys.stdin.readline, ""):
        task = json.loads(line)
        pending = [0]
        while pending:
            outcome = attempt(task, Path(task["root"]), pending.pop(0))
            if outcome is None:
                return importlib.import_module("rocscope.cli").main()
            if outcome["n"] == 0:
                pending = list(numbers(outcome["calls"], task["most"]))
            print(json.dumps(outcome), file=report, flush=True)
        print(file=report, flush=True)
    return None


if __name__ == "__main__":
    main()
