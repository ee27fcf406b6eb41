"""Exact AUC and hull of a Parquet file: time and peak memory beside the exact SQL of DuckDB and Polars.

``python benchmarks/bench_files.py --rows 1e8`` writes a file (float32 score, int8 label, zstd; about 4.3 bytes a row)
to a temporary folder, row group by row group, runs every contender in a process of its own, and removes the file.
Times are of the work with all imports and compiled code loaded from the cache, and of the whole process; the peak is
the largest resident set of the process. Every contender must find the same AUC.

``--csv`` writes 5·10⁶ rows of two models as CSV instead, and lets counting them take turns with DuckDB, which reads and
sums the same columns.

``--commands`` prints processor seconds of whole commands on files with very many columns or few rows, and their ratio
to a loop of 10⁷ additions in Python, which tells how busy the machine is.

The file can be kept and used again with ``--keep FILE``. Beyond 2·10⁸ rows the others are left out unless asked for.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from peers import duckdb_sql, polars_group_by
from timing import in_turns, took, touch_memory

BYTES_A_ROW = 4.6
GROUP = 1 << 20
MOST_FOR_PEERS = 2e8


def write(path: Path, rows: int) -> None:
    """Write scores of two overlapping classes, a group of rows at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    generator = np.random.default_rng(0)
    schema = pa.schema([("y", pa.int8()), ("score", pa.float32())])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, rows, GROUP):
            size = min(GROUP, rows - start)
            y = generator.random(size, dtype=np.float32) < 0.3
            logits = generator.standard_normal(size, dtype=np.float32) * 1.5 + 2 * y - 1
            score = (1 / (1 + np.exp(-logits))).astype(np.float32)
            writer.write_table(pa.table({"y": y.astype(np.int8), "score": score}, schema=schema))


def rocscope(path: str, memory: str | None = None) -> float:
    """AUC and hull."""
    import rocscope as rs

    counts = rs.read_counts(path, label="y", scores="score", memory=memory)["score"]
    curve = rs.roc(counts)
    assert curve.hull().threshold.size
    return curve.auc


TASKS = {
    "rocscope": rocscope,
    "rocscope, parted on disk": lambda path: rocscope(path, os.environ["BENCH_MEMORY"]),
    "DuckDB": duckdb_sql,
    "Polars": polars_group_by,
}


def task(name: str, path: str) -> None:
    """Run one contender, after a run on few rows, and print what it took as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder, "small.parquet")
        write(small, 100_000)
        TASKS[name](str(small))
    found = took(lambda: TASKS[name](path))
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    print(json.dumps({"auc": found.answer, "wall": found.seconds, "cpu": found.processor, "peak": peak}))


def run(name: str, path: Path, memory: int) -> dict[str, float]:
    """Run one contender in a process of its own."""
    command = [sys.executable, __file__, "--task", name, "--keep", str(path)]
    environment = os.environ | {"BENCH_MEMORY": str(memory)}
    touch_memory(4 * path.stat().st_size)
    process = took(lambda: subprocess.run(command, capture_output=True, text=True, env=environment))
    done = process.answer
    if done.returncode:
        print(f"{name}: failed\n{done.stderr[-2000:]}")
        return {}
    return json.loads(done.stdout) | {"process": process.seconds}


def show(results: dict[str, dict[str, float]]) -> None:
    """Print a table; ratios are to rocscope's own."""
    first = results["rocscope"]
    print(f"{'':26}{'wall':>9}{'process':>10}{'CPU':>9}{'peak':>11}{'times rocscope':>17}")
    for name, found in results.items():
        if found:
            assert abs(found["auc"] - first["auc"]) < 1e-9, (name, found["auc"], first["auc"])
            numbers = f"{found['wall']:8.2f}s{found['process']:9.2f}s{found['cpu']:8.2f}s{found['peak'] / 1e6:8.0f} MB"
            print(f"{name:26}{numbers}{found['wall'] / first['wall']:17.1f}")
    print(f"AUC {first['auc']:.9f}, the same for all")


def beside_sums(path: Path, rows: int = 5 * 10**6, turns: int = 5) -> None:
    """Print how long counts of two models take from a CSV file, and sums of the same columns."""
    import duckdb
    import pyarrow as pa
    import pyarrow.csv

    import rocscope as rs

    generator = np.random.default_rng(rows)
    label = generator.random(rows) < 0.3
    scores = [(1 / (1 + np.exp(-generator.standard_normal(rows) - label))).astype(np.float32) for _ in range(2)]
    columns = {"id": np.arange(rows), "label": label.astype(np.int8), "a": scores[0], "b": scores[1]}
    pyarrow.csv.write_csv(pa.table(columns), path)
    touch_memory(6 * path.stat().st_size)
    seconds = in_turns(
        {
            "rocscope": lambda: rs.read_counts(path, label="label", scores=["a", "b"]),
            "DuckDB": lambda: duckdb.sql(f"SELECT sum(label), sum(a), sum(b) FROM '{path}'").fetchall(),
        },
        turns,
    )
    print(f"{rows:,} rows of CSV, two models: " + ", ".join(f"{name} {each:.2f} s" for name, each in seconds.items()))
    print(f"counting takes {seconds['rocscope'] / seconds['DuckDB']:.2f} times as long as reading and adding up")


def commands(folder: Path) -> None:
    """Print processor seconds of whole commands, and their ratio to a loop of 10⁷ additions."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    generator = np.random.default_rng(0)

    def table(rows: int, columns: int) -> pa.Table:
        numbers = {f"x{number}": generator.random(rows).round(3) for number in range(columns - 1)}
        return pa.table({"y": np.arange(rows) % 2} | numbers)

    pq.write_table(table(10, 10**5), folder / "wide.parquet")
    for columns in (4_000, 8_000, 16_000):
        pyarrow.csv.write_csv(table(10, columns), folder / f"wide{columns}.csv")
    pyarrow.csv.write_csv(table(10**4, 3), folder / "rows.csv")
    code = "from rocscope.cli import main; main()"
    asked = [["validate", "wide.parquet"]]
    asked += [["validate", f"wide{columns}.csv"] for columns in (4_000, 8_000, 16_000)]
    asked += [["summary", "rows.csv", "--label", "y"]]

    def processor(command: list[str]) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", *command], cwd=folder, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    for arguments in asked:
        unit = processor(["total = 0\nfor i in range(10**7): total += i"])
        seconds = processor([code, *arguments])
        print(
            f"{' '.join(arguments):32}{seconds:7.2f} s of processor, {seconds / unit:6.1f} unit loops of {unit:.2f} s"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--repeat", type=int, default=1, help="turns; the fastest of each counts")
    parser.add_argument("--only", nargs="+", choices=TASKS, help="contenders; rocscope is always one")
    parser.add_argument("--keep", help="file to write, or to use if it is there")
    parser.add_argument("--task", choices=TASKS, help=argparse.SUPPRESS)
    parser.add_argument("--csv", action="store_true", help="counts of a CSV file beside sums of its columns")
    parser.add_argument("--commands", action="store_true", help="processor seconds of whole commands")
    options = parser.parse_args()
    if options.commands:
        with tempfile.TemporaryDirectory(prefix="rocscope-bench-") as folder:
            commands(Path(folder))
        return
    if options.csv:
        with tempfile.TemporaryDirectory(prefix="rocscope-bench-") as folder:
            beside_sums(Path(folder, "scores.csv"))
        return
    if options.task:
        task(options.task, options.keep)
        return
    rows = int(options.rows)
    peers = list(TASKS) if rows <= MOST_FOR_PEERS else ["rocscope", "rocscope, parted on disk"]
    names = [name for name in TASKS if name in {"rocscope", *(options.only or peers)}]
    with tempfile.TemporaryDirectory(prefix="rocscope-bench-") as folder:
        path = Path(options.keep or Path(folder, "scores.parquet"))
        needed, free = rows * (BYTES_A_ROW + 4), shutil.disk_usage(path.parent).free
        if not path.exists():
            if needed > free:
                parser.error(f"{needed / 1e9:.1f} GB of disk are needed in {path.parent}, {free / 1e9:.1f} are free")
            write(path, rows)
        print(f"{rows:,} rows, {path.stat().st_size / 1e6:,.0f} MB, {os.cpu_count()} cores")
        turns = [{name: run(name, path, rows) for name in names} for _ in range(options.repeat)]
    fastest = {
        name: min((turn[name] for turn in turns if turn[name]), key=lambda took: took["wall"], default={})
        for name in names
    }
    show(fastest)


if __name__ == "__main__":
    main()
