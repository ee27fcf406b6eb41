"""Speed and memory beside scikit-learn and a bare sort, as ratios that are measured in one run.

``make bench`` measures up to 10⁷ rows and prints a table; ``--rows`` says which sizes instead, ``--large`` adds 10⁸
(about 20 GB), ``--json`` writes everything that was measured. Contenders take turns, and a ratio is the median over
turns, so that a machine busy with other work changes all of them alike.
"""

import argparse
import gc
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from inputs import KINDS, SHARES, Input, make
from machine import environment
from memory import growth
from sklearn.exceptions import UndefinedMetricWarning
from tasks import TASKS, Task
from timing import took, touch_memory

SIZES = [10**3, 10**4, 10**5, 10**6, 10**7]
SHORTEST = 0.02  # seconds that one turn lasts at least
MUCH = 10**8  # bytes
TIMES_SKLEARN = {
    ("auc", "float32"): 75,
    ("auc", "float64"): 45,
    ("auc", "logits"): 40,
    ("auc", "weighted"): 25,
    ("hull", "float32"): 15,
    ("hull", "float64"): 15,
} | {("curve", kind): 8 for kind in KINDS}


@dataclass(frozen=True)
class Result:
    """Seconds of the least disturbed turn; scikit-learn's over ours and ours over the sort's, medians over turns."""

    task: str
    kind: str
    share: float
    rows: int
    seconds: float
    sklearn_ratio: float
    sort_ratio: float


@dataclass(frozen=True)
class Target:
    """A bound on one figure of the run."""

    name: str
    value: float
    bound: float
    at_least: bool

    @property
    def met(self) -> bool:
        """Whether the bound holds."""
        return self.value >= self.bound if self.at_least else self.value <= self.bound


def seconds_of(call: Callable[[], Any], memory: int) -> float:
    """Return the seconds of one call, over as many as fill the shortest turn; it finds so much memory at hand."""
    gc.collect()
    if memory > MUCH:
        touch_memory(memory)
    calls, taken = 0, 0.0
    start = time.perf_counter()
    while taken < SHORTEST:
        call()
        calls += 1
        taken = time.perf_counter() - start
    return taken / calls


def measure(task: Task, data: Input, turns: int) -> Result:
    """Let rocscope, scikit-learn and a bare sort take turns."""
    contenders = (lambda: task.ours(data), lambda: task.theirs(data), lambda: np.sort(data.score))
    task.ours(data)
    taken = [[seconds_of(call, 6 * data.nbytes) for call in contenders] for _ in range(turns)]
    return Result(
        task.name,
        data.kind,
        data.share,
        data.y.size,
        min(ours for ours, _, _ in taken),
        median(theirs / ours for ours, theirs, _ in taken),
        median(ours / sort for ours, _, sort in taken),
    )


def import_seconds(statement: str, turns: int = 5) -> float:
    """Return the seconds by which a statement makes a fresh interpreter's life longer."""

    def life(script: str) -> float:
        return took(lambda: subprocess.run([sys.executable, "-c", script], check=True)).seconds

    life(statement)
    return median(life(statement) - life("pass") for _ in range(turns))


def memory_ratios(rows: int, tasks: Sequence[Task], kinds: Sequence[str]) -> dict[str, float]:
    """Return the peak of each task and kind beside the scores and labels, over their size."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind in kinds:
            data = make(kind, rows, 0.5)
            for task in tasks:
                found[f"{task.name} {kind}"] = growth(task.name, data, Path(folder)) / data.nbytes
    return found


def targets(results: list[Result], memory: dict[str, float], imports: dict[str, float]) -> list[Target]:
    """Return the bounds that the figures of this run can be held to."""
    checks = [Target("import rocscope, seconds", imports["rocscope"], 0.25, False)]
    for result in results:
        place = (result.task, result.kind, result.rows)
        if result.share != 0.5:
            continue
        if place == ("auc", "float64", 1_000):
            checks.append(Target("AUC of 1,000 rows, microseconds", 1e6 * result.seconds, 40, False))
        if (bound := TIMES_SKLEARN.get(place[:2])) and result.rows == 10**7:
            name = f"{result.task} {result.kind}, 10⁷ rows: times scikit-learn"
            checks.append(Target(name, result.sklearn_ratio, bound, True))
        if result.task == "auc" and result.rows == 10**7 and result.kind in ("float32", "float64", "logits"):
            checks.append(Target(f"auc {result.kind}, 10⁷ rows: times a bare sort", result.sort_ratio, 4, False))
    if "auc float32" in memory:
        checks.append(Target("auc float32: peak memory beside the input, times it", memory["auc float32"], 2, False))
    return checks


def table(results: list[Result]) -> str:
    """Return one line for each result."""
    head = f"{'task':8} {'kind':9} {'positive':>8} {'rows':>12} {'ms':>10} {'× sklearn':>10} {'× sort':>8}"
    lines = [
        f"{r.task:8} {r.kind:9} {r.share:8.0%} {r.rows:12,} {1e3 * r.seconds:10.3f} "
        f"{r.sklearn_ratio:10.1f} {r.sort_ratio:8.1f}"
        for r in results
    ]
    return "\n".join([head, *lines])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=SIZES, help="how many rows to measure")
    parser.add_argument("--large", action="store_true", help="also 10⁸ rows of float32 scores")
    parser.add_argument("--turns", type=int, default=3, help="how often contenders take turns")
    parser.add_argument("--kind", choices=KINDS, nargs="+", default=KINDS, help="only scores of these kinds")
    parser.add_argument("--task", choices=[task.name for task in TASKS], nargs="+", help="only these tasks")
    parser.add_argument("--json", type=Path, help="where to write everything that was measured")
    parser.add_argument("--check", action="store_true", help="exit with 1 unless all targets are met")
    options = parser.parse_args()
    warnings.simplefilter("ignore", UndefinedMetricWarning)  # scikit-learn's, where the best is to predict nobody

    wanted = [(kind, rows, share) for rows in options.rows for kind in options.kind for share in SHARES]
    wanted += [("float32", 10**8, share) for share in SHARES] if options.large else []
    tasks = [task for task in TASKS if options.task is None or task.name in options.task]
    results: list[Result] = []
    print(table([]), flush=True)
    for kind, rows, share in wanted:
        data = make(kind, rows, share)
        for task in tasks:
            results.append(measure(task, data, options.turns if rows < 10**8 else 1))
            print(table(results[-1:]).splitlines()[1], flush=True)
    memory = memory_ratios(max(options.rows), tasks, options.kind)
    imports = {name: import_seconds(f"import {name}") for name in ("numpy", "rocscope", "sklearn.metrics")}
    checks = targets(results, memory, imports)

    print("\npeak memory beside the input, as a multiple of its size (growth of ru_maxrss in a process of its own)")
    print("\n".join(f"  {name:18} {ratio:6.2f}" for name, ratio in memory.items()))
    print("\nimport, seconds beyond a bare interpreter")
    print("\n".join(f"  {name:18} {seconds:6.3f}" for name, seconds in imports.items()))
    print("\ntargets")
    for check in checks:
        sign = "≥" if check.at_least else "≤"
        print(f"  {'met   ' if check.met else 'MISSED'} {check.name:52} {check.value:8.2f} {sign} {check.bound:g}")
    if options.json:
        depends = environment(("numpy", "numba", "scikit-learn"))
        everything = {"environment": depends, "results": [asdict(result) for result in results]}
        everything |= {"memory": memory, "import": imports, "targets": [asdict(check) for check in checks]}
        options.json.write_text(json.dumps(everything, indent=1) + "\n", encoding="utf-8")
    return int(options.check and not all(check.met for check in checks))


if __name__ == "__main__":
    sys.exit(main())
