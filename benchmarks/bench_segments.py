"""Seconds and memory of the AUC of every segment beside DuckDB's window SQL, from one Parquet file in one run.

``python benchmarks/bench_segments.py`` writes 10⁷ rows in 10⁵ segments to a temporary folder; ``--rows`` and
``--segments`` say how many else (10⁸ in 10⁶ is what ``--check`` promises: 6 s, 2.5 GB, 4 times faster than DuckDB, and
10⁷ rows of 10⁵ segments in memory in 1.5 s). It exits with 1 where that is not kept, or where an area differs from
DuckDB's.
"""

import argparse
import resource
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from timing import took, touch_memory

import rocscope as rs

SECONDS, IN_MEMORY, GIGABYTES, TIMES_FASTER = 6.0, 1.5, 2.5, 4.0
ROW_GROUP = 1 << 20
SQL = """
WITH levels AS (
    SELECT user, score, sum(label)::BIGINT AS pos, sum(1 - label)::BIGINT AS neg FROM '{path}' GROUP BY user, score
), running AS (
    SELECT user, pos, neg, sum(pos) OVER (PARTITION BY user ORDER BY score DESC) - pos AS above FROM levels
)
SELECT user, sum(neg * (2 * above + pos)) / (2.0 * sum(pos) * sum(neg)) AS auc, sum(pos + neg) AS n
FROM running GROUP BY user HAVING sum(pos) > 0 AND sum(neg) > 0 ORDER BY user
"""


def write(path: Path, rows: int, segments: int) -> None:
    """Write rows a group of rows at a time: a user, a label, and a score that tells something of it."""
    generator = np.random.default_rng(rows)
    schema = pa.schema([("user", pa.int64()), ("label", pa.int8()), ("score", pa.float32())])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, ROW_GROUP):
            n = min(ROW_GROUP, rows - start)
            label = generator.random(n) < 0.3
            score = 1 / (1 + np.exp(-generator.standard_normal(n, np.float32) - label))
            columns = [generator.integers(0, segments, n), label.astype(np.int8), score.astype(np.float32)]
            writer.write_table(pa.table(columns, schema=schema))


def from_file(path: Path) -> tuple[Any, Any, rs.segments.SegmentedCounts]:
    """Return every AUC and their mean, with the counts of all segments."""
    segments = rs.read_counts(path, label="label", scores="score", segment="user")
    return segments.auc(), segments.mean_auc("n"), segments


def in_memory(path: Path) -> Any:
    """Return how long the AUC of all segments takes from columns in memory."""
    table = pq.read_table(path)
    label, score, user = (table.column(name).to_numpy() for name in ("label", "score", "user"))
    return took(lambda: rs.Predictions(label, score, segment=user).counts(by="segment").auc())


def plan(segments: rs.segments.SegmentedCounts) -> rs.decisions.Allocation:
    """Spread calls to a fifth of all rows over the segments."""
    campaign = rs.Campaign(population=int(segments.n.sum()), unit_cost=1, unit_benefit=4)
    return rs.allocate(segments, campaign, capacity=campaign.population // 5)


def main() -> int:
    """Run, print the figures, and say whether promises were kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--segments", type=int, default=10**5)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        warm, path = Path(folder) / "warm.parquet", Path(folder) / "rows.parquet"
        write(warm, 10**5, 10**3)
        write(path, options.rows, options.segments)
        few = from_file(warm)[-1]
        plan(few), rs.Report(few)
        touch_memory(2 * path.stat().st_size)
        ours = took(lambda: from_file(path))
        gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        touch_memory(2 * path.stat().st_size)
        theirs = took(lambda: duckdb.sql(SQL.format(path=path)).fetchnumpy())
        memory = in_memory(path)
    auc, mean, segments = ours.answer
    same = np.array_equal(auc[~np.isnan(auc)], theirs.answer["auc"])
    gauc = np.average(theirs.answer["auc"], weights=theirs.answer["n"].astype(float))
    times = theirs.seconds / ours.seconds
    print(f"{options.rows:,} rows in {options.segments:,} segments, Parquet")
    print(f"rocscope: {ours.seconds:.2f} s ({ours.processor:.2f} s of the processor), {gigabytes:.2f} GB; {mean}")
    print(f"DuckDB's window SQL: {theirs.seconds:.2f} s, {times:.1f} times as long; areas equal: {same}")
    print(f"columns in memory: {memory.seconds:.2f} s ({memory.processor:.2f} s of the processor)")
    for name, asked in {"one budget for all": plan, "a report": rs.Report}.items():
        found = took(partial(asked, segments))
        print(f"{name}: {found.seconds:.2f} s ({found.processor:.2f} s of the processor)")
    right = same and abs(gauc - mean.value) < 1e-12
    kept = ours.seconds <= SECONDS and gigabytes <= GIGABYTES and times >= TIMES_FASTER
    kept = kept and (options.rows > 10**7 or memory.seconds <= IN_MEMORY)
    return int(not right or (options.check and not kept))


if __name__ == "__main__":
    sys.exit(main())
