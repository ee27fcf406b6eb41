"""Run the core of the tests in environments that are not the usual one, each by itself.

    python .ci/environments.py [NAME...]

Prints one line for each, and what failed; `make test-environments` runs all.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
CORE = (
    "tests/core/test_counts.py", "tests/core/test_predictions.py", "tests/core/test_point.py",
    "tests/curves/test_curve_roc.py", "tests/decisions/test_choice.py", "tests/decisions/test_decision.py",
    "tests/cli/test_cli_decisions.py", "tests/cli/test_output.py", "tests/engines/test_read_formats.py",
)  # fmt: skip
PYTEST = (
    "-q", "-p", "no:cacheprovider", "-o", "addopts=--strict-markers --strict-config",
    "-W", "ignore:assertions not in test modules",  # those in them are rewritten, and hold under -O
)  # fmt: skip
RUN = "import sys, pytest; sys.exit(pytest.main(sys.argv[1:]))"
COMMA = "de_DE.UTF-8"
PLAIN = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
ENVIRONMENTS: dict[str, tuple[list[str], dict[str, str | None], str]] = {
    "-W error": (["-W", "error"], {}, ""),
    "-O": (["-O"], {}, ""),
    "-bb": (["-bb"], {}, ""),
    "NumPy raises": ([], {}, "import numpy; numpy.seterr(all='raise'); "),
    "locale C": ([], PLAIN | {"LC_ALL": "C"}, ""),
    "locale with a comma": (
        [],
        {"LC_ALL": None, "LC_CTYPE": COMMA, "LC_NUMERIC": COMMA},
        "import locale; locale.setlocale(locale.LC_ALL, ''); ",
    ),
    "ASCII output": ([], {"PYTHONIOENCODING": "ascii"}, ""),
    "no HOME": ([], {"HOME": None, "MPLCONFIGDIR": None, "XDG_CACHE_HOME": None}, ""),
    "read-only folders": ([], {}, ""),
}
"""The options of Python, the variables, and what is executed first."""


def environment_of(name: str, folder: Path) -> dict[str, str]:
    """Return the variables of an environment; locales that are not installed are compiled into the folder."""
    changes = ENVIRONMENTS[name][1]
    variables = os.environ | {"PYTHONPATH": str(ROOT / "src"), "OPENBLAS_NUM_THREADS": "1", "TMPDIR": str(folder)}
    if changes.get("LC_NUMERIC") == COMMA and shutil.which("localedef"):
        subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", folder / COMMA], check=False, capture_output=True)
        variables["LOCPATH"] = str(folder)
    variables |= {key: value for key, value in changes.items() if value is not None}
    return {key: value for key, value in variables.items() if changes.get(key, "") is not None}


@contextmanager
def read_only(folder: Path) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Yield a command's prefix, and variables, with which package and home cannot be written to, even by root."""
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "home").mkdir()
    for name in ("src", "home"):
        for path in (folder / name, *(folder / name).rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
    prefix = ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []
    try:
        yield prefix, {"PYTHONPATH": str(folder / "src"), "HOME": str(folder / "home")}
    finally:
        for path in folder.rglob("*"):
            if path.is_dir():
                path.chmod(0o755)


def run(name: str) -> bool:
    """Run the core in an environment, print how that went, and return whether it passed."""
    flags, _, first = ENVIRONMENTS[name]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        variables, prefix, began = environment_of(name, folder), [], time.monotonic()
        command = [sys.executable, *flags, "-c", first + RUN, *PYTEST, *CORE]
        if name == "read-only folders":
            with read_only(folder) as (prefix, more):
                command += ["-o", "pythonpath=tests"]
                done = subprocess.run([*prefix, *command], cwd=ROOT, env=variables | more, capture_output=True)
        else:
            done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True)
    lines = done.stdout.decode(errors="replace").splitlines()
    print(
        f"{name}: exit {done.returncode}, {lines[-1] if lines else ''} ({time.monotonic() - began:.0f} s)", flush=True
    )
    if done.returncode:
        print("\n".join(lines[-60:]), done.stderr.decode(errors="replace")[-2000:], sep="\n", flush=True)
    return done.returncode == 0


if __name__ == "__main__":
    passed = [run(name) for name in sys.argv[1:] or ENVIRONMENTS]
    sys.exit(not all(passed))
