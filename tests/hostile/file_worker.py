"""Run commands that are given as JSON on stdin, a line each, within limits; answer each with a line of JSON.

An answer has the exit code, what was said on stderr, the largest memory so far and the bytes left in the folder for
temporary files. Whoever started this process sees from a missing answer that a command aborted or hangs.
"""

import contextlib
import io
import json
import os
import resource
import sys
import tempfile
import traceback
from pathlib import Path

from rocscope import cli
from rocscope.errors import RocscopeError
from rocscope.ranges import CountsSketch

GIGABYTE = 1 << 30
LARGEST_FILE = GIGABYTE // 4  # no input is half as large


def answer(arguments):
    """Run a command, or restore a sketch, and return its exit code and what it says on stderr."""
    out, err = io.StringIO(), io.StringIO()
    out.buffer = io.BytesIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            if arguments[0] == "sketch":
                CountsSketch.from_bytes(Path(arguments[1]).read_bytes())
                code = 0
            else:
                code = cli.run(arguments)
        except RocscopeError as error:
            code = 2
            print(f"rocscope: {error}", file=err)
        except BaseException:  # noqa: BLE001 (whatever it is, it is reported)
            code = 101
            traceback.print_exc(file=err)
    return code, err.getvalue()


def most_memory():
    """Return the largest memory of this program so far, in KiB; ru_maxrss may be that of the process that forked it."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM"))


def main():
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    replies = os.fdopen(os.dup(1), "w")
    folder = Path(tempfile.gettempdir())
    for line in sys.stdin:
        code, err = answer(json.loads(line))
        peak = 1024 * most_memory()
        left = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        print(json.dumps({"code": code, "err": err, "peak": peak, "left": left}), file=replies, flush=True)


if __name__ == "__main__":
    main()
