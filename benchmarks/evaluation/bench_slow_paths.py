"""Seconds of the processor that calls take which were slow once, each beside its bound.

``python benchmarks/evaluation/bench_slow_paths.py`` measures in this process, after a call that does not count, which
loads a compiler, and says beside each figure how long 10⁷ squares take. ``--large`` adds 10⁸ rows from Parquet.
``--check`` exits with 1 unless all bounds hold, which are for a machine that takes .6 s for the squares.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

import rocscope as rs

sys.path.append(str(Path(__file__).parents[1]))
from timing import best_of, took

FRESH = """
import time
import numpy as np
import rocscope as rs
label = np.arange(1_000) % 3 == 0
rs.choose(rs.Predictions(label, label + np.random.default_rng(0).normal(size=1_000)), rs.Context(cost_fn=5))
print(time.process_time())
"""
FIRST_AUC = """
import time
import numpy as np
label = np.arange(200_000) % 3 == 0
score = label + np.random.default_rng(0).normal(size=200_000)
start = time.process_time()
import rocscope as rs
rs.auc(label, score)
print(time.process_time() - start)
"""
UNIT = 0.6
"""Seconds of `squares` on the machine that the bounds are for; on others they are in proportion."""
missed: list[str] = []


def squares() -> int:
    """Add up 10⁷ squares, which tells how fast the machine is at this moment."""
    return sum(number * number for number in range(10**7))


def report(what: str, seconds: float, bound: float, unit: str = "s") -> None:
    """Print a figure, its bound, and the squares of the same moment: others may use the machine too."""
    loop = busy(squares)
    bound *= max(1.0, loop / UNIT)
    holds = seconds <= bound
    verdict = "holds" if holds else "MISSED"
    print(f"{what:<66} {seconds:9.3g} {unit:<2} ≤ {bound:<6.3g} {verdict:<6} (squares {loop:.2f} s)", flush=True)
    if not holds:
        missed.append(what)


def busy(call: Callable[[], object]) -> float:
    """Return the seconds of the processor that one call takes."""
    return took(call).processor


def rows(n: int, models: int, segments: int | None = None) -> rs.Predictions:
    """Return labels and the probabilities of models that tell something of them."""
    rng = np.random.default_rng(n)
    label = rng.random(n) < 0.3
    scores = {f"m{i}": 1 / (1 + np.exp(1.2 - label * (1 + 0.1 * i) - rng.normal(size=n))) for i in range(models)}
    return rs.Predictions(label, scores, segment=None if segments is None else np.arange(n) % segments)


def many_classes(n: int = 10_000, classes: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """Return classes, and probabilities that are sharper than they should be."""
    rng = np.random.default_rng(0)
    logs = 2 * rng.normal(size=(n, classes))
    said, true = (np.exp(each) / np.exp(each).sum(axis=1, keepdims=True) for each in (logs, 0.6 * logs))
    return (true.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1).clip(max=classes - 1), said


def write_csv(path: Path, data: rs.Predictions) -> Path:
    """Write labels and scores."""
    pa.csv.write_csv(pa.table({"y": data.y_true.astype(np.int8), **data.scores}), path)
    return path


def write_wide(path: Path, columns: int) -> Path:
    """Write 20 rows of very many columns, the first of them a label."""
    values = [np.tile([0, 1], 10), *np.random.default_rng(0).random((columns - 1, 20))]
    pq.write_table(pa.table(values, names=["y", *(f"column {k}" for k in range(columns - 1))]), path)
    return path


def command(*arguments: str) -> float:
    """Return the seconds of the processor of a command, the second time it runs."""
    for _ in range(2):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "rocscope", *arguments], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def fresh(code: str, **environment: str) -> float:
    """Return the seconds of the processor that a fresh process prints."""
    options = {"check": True, "capture_output": True, "text": True, "env": os.environ | environment}
    return float(subprocess.run([sys.executable, "-c", code], **options).stdout)


def from_parquet(n: int = 10**8) -> float:
    """Return the seconds, by the clock, of the AUC of a file."""
    schema, rng = pa.schema([("y", pa.int8()), ("s", pa.float32())]), np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.parquet")
        with pq.ParquetWriter(path, schema) as writer:
            for _ in range(n // 10**7):
                label = rng.integers(0, 2, 10**7).astype(np.int8)
                score = label + rng.normal(size=10**7).astype(np.float32)
                writer.write_table(pa.table([label, score], schema=schema), row_group_size=1 << 20)
        return best_of(lambda: rs.auc(rs.read_counts(path, label="y", score="s")), 2)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="also 10⁸ rows from Parquet")
    parser.add_argument("--check", action="store_true", help="exit with 1 unless all bounds hold")
    options = parser.parse_args()
    report("a fresh process that chooses a threshold of 1,000 rows", fresh(FRESH), 1.0)
    report("first AUC of a process, 200,000 rows", fresh(FIRST_AUC), 0.6)
    with tempfile.TemporaryDirectory() as folder:
        report("first AUC where no loop is compiled yet", fresh(FIRST_AUC, NUMBA_CACHE_DIR=folder), 1.0)

    small = rows(10_000, 2)
    rs.Report(small)
    report("report of a model, 10,000 rows", busy(lambda: rs.Report(small.select(models=["m0"]))), 0.6)
    report("summary of two models, 10,000 rows", busy(lambda: rs.summary(small)), 1.0)
    for segments, models, bound in ((100, 1, 2.0), (100, 2, 3.0), (1_000, 1, 10.0)):
        data = rows(1_000 * segments, models, segments)
        what = f"summary of {segments:,} segments of 1,000 rows, models: {models}"
        report(what, busy(lambda data=data: rs.summary(data, by="segment")), bound)
    label, said = many_classes()
    scaling = {"method": "temperature"}
    report(
        "temperature scaling of 100 classes, 10,000 rows, cross-fitted",
        busy(lambda: rs.multiclass.recalibrate_classes(label, said, **scaling)),
        1.0,
    )
    large = rows(1_000_000, 5)
    report("summary of two models, 1,000,000 rows", busy(lambda: rs.summary(large.select(models=["m0", "m1"]))), 6.0)
    report("report of five models, 1,000,000 rows", busy(lambda: rs.Report(large)), 6.0)
    counts = rs.Predictions(large.y_true, large.scores["m0"]).counts()
    report("2,000 replicates of AUC, 1,000,000 rows", busy(lambda: rs.bootstrap(counts, rs.auc, replicates=2_000)), 8.0)
    label, score = small.y_true[:1_000], small.scores["m0"][:1_000]
    report(
        "AUC of 1,000 rows",
        1e3 * min(busy(lambda: [rs.auc(label, score) for _ in range(1_000)]) for _ in range(5)),
        40,
        "µs",
    )
    with tempfile.TemporaryDirectory() as folder:
        path = str(write_csv(Path(folder, "rows.csv"), small))
        report("summary command, CSV of 10,000 rows", command("summary", path, "--label", "y", "--score", "m0"), 1.0)
        path = str(write_wide(Path(folder, "wide.parquet"), 100_000))
        report("validate command, Parquet of 100,000 columns", command("validate", path), 3.0)
    if options.large:
        report("AUC of 10⁸ rows from Parquet, by the clock", from_parquet(), 1.5)
    return int(options.check and bool(missed))


if __name__ == "__main__":
    sys.exit(main())
