"""Seconds of exact counts on Spark beside MLlib's BinaryClassificationMetrics, from one Parquet folder in one run.

``python benchmarks/bench_spark.py`` writes 10⁷ rows to a temporary folder and reads them in ``local[2]``; ``--check``
exits with 1 unless rocscope is at least 6 times faster than MLlib without bins and its AUC is the exact fraction.
``--groups 100000`` has rows in so many groups counted instead, beside scikit-learn's area by ``applyInPandas``, which
should take 5 times as long.
"""

import argparse
import sys
import tempfile
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)

from peers import mllib, spark_session  # noqa: E402
from pyspark.sql import DataFrame  # noqa: E402
from timing import took  # noqa: E402

import rocscope as rs  # noqa: E402

TIMES_FASTER, TIMES_FASTER_BY_GROUP = 6, 5
FILES = 8
MODELS = 3


def draw(rows: int) -> pa.Table:
    """Draw labels, a segment, and models of growing quality; the last one gives half of the rows one score."""
    generator = np.random.default_rng(rows)
    label = generator.random(rows) < 0.3
    columns = {"label": label.astype(np.int8), "segment": generator.integers(0, 4, rows, dtype=np.int32)}
    for i in range(MODELS):
        logit = generator.standard_normal(rows) * 1.5 + (i + 1) * label - 1
        columns[f"m{i}"] = 1 / (1 + np.exp(-logit))
    columns["skewed"] = np.where(generator.random(rows) < 0.5, 0.25, columns["m0"])
    return pa.table(columns)


def write(table: pa.Table, folder: Path) -> None:
    """Write a table as several files, as Spark would."""
    size = -(-table.num_rows // FILES)
    for i in range(FILES):
        pq.write_table(table.slice(i * size, size), folder / f"part-{i}.parquet")


def exact(table: pa.Table, model: str) -> Fraction:
    """Return the AUC from the arrays themselves."""
    counts = rs.ThresholdCounts.from_scores(table["label"].to_numpy(), table[model].to_numpy())
    return counts.pairs().fraction()


def ours(frame: DataFrame, models: list[str], segment: str | None = None) -> Any:
    """Count everything that there is to know of the models."""
    return rs.read_counts(frame, label="label", scores=models, segment=segment)


def area(counts: Any, table: pa.Table, model: str) -> str:
    """Tell whether an area is the exact fraction."""
    return "equal" if counts.auc_fraction() == exact(table, model) else "WRONG"


def measure(frame: DataFrame, table: pa.Table, bins: list[int]) -> tuple[float, bool]:
    """Print a table; return how many times faster than MLlib, and whether every AUC is exact."""
    models = [f"m{i}" for i in range(MODELS)]
    begin = took(lambda: ours(frame, ["m0"]))
    first, areas = begin.seconds, [area(begin.answer["m0"], table, "m0")]
    print(f"{'':44} {'seconds':>8} {'of first':>9}  AUC beside the exact one")

    def show(name: str, seconds: float, found: str = "") -> None:
        print(f"{name:44} {seconds:8.2f} {seconds / first:9.2f}  {found}", flush=True)

    show("rocscope: curve, hull, AUC", first, areas[0])
    slowest = took(lambda: mllib(frame, "m0", "label"))
    show("MLlib: AUC", slowest.seconds, f"off by {abs(slowest.answer - float(exact(table, 'm0'))):.0e}")
    for number in bins:
        binned = took(lambda number=number: mllib(frame, "m0", "label", number))
        off = f"off by {abs(binned.answer - float(exact(table, 'm0'))):.0e}"
        show(f"MLlib: AUC from {number:,} bins", binned.seconds, off)
    several = took(lambda: ours(frame, models))
    areas += [area(several.answer[model], table, model) for model in models]
    show(f"rocscope: {MODELS} models in one job", several.seconds, areas[-1])
    skewed = took(lambda: ours(frame, ["skewed"]))
    areas.append(area(skewed.answer["skewed"], table, "skewed"))
    show("rocscope: half of all rows with one score", skewed.seconds, areas[-1])
    show("rocscope: 4 segments in one job", took(lambda: ours(frame, ["m0"], "segment")).seconds)
    return slowest.seconds / first, set(areas) == {"equal"}


def by_group(frame: DataFrame, rows: pa.Table) -> bool:
    """Print how long areas by group take, and tell whether they are right and at least 5 times faster."""

    def area(part: Any) -> Any:
        import pandas as pd
        from sklearn.metrics import roc_auc_score

        found = roc_auc_score(part["label"], part["m0"]) if 0 < part["label"].sum() < len(part) else np.nan
        return pd.DataFrame({"user": part["user"].iloc[:1], "auc": [found]})

    def theirs() -> Any:
        return frame.groupBy("user").applyInPandas(area, "user int, auc double").toPandas().sort_values("user")["auc"]

    found = took(lambda: rs.read_counts(frame, label="label", scores="m0", segment="user").auc())
    beside = took(theirs)
    local = rs.read_counts(rows, label="label", scores="m0", segment="user").auc()
    times = beside.seconds / found.seconds
    alike = np.array_equal(found.answer, local, equal_nan=True) and np.allclose(
        found.answer, beside.answer, equal_nan=True
    )
    print(
        f"{found.answer.size:,} groups: {found.seconds:.1f} s, applyInPandas {beside.seconds:.1f} s, {times:.1f} times"
    )
    return alike and times >= TIMES_FASTER_BY_GROUP


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--bins", type=int, nargs="*", default=[1000], help="also MLlib with so many bins")
    parser.add_argument("--check", action="store_true", help="exit with 1 unless the targets are met")
    parser.add_argument("--groups", type=int, help="rows in so many groups instead")
    options = parser.parse_args()
    spark = spark_session(options.cores)
    if options.groups:
        with tempfile.TemporaryDirectory() as folder:
            user = np.random.default_rng(0).integers(0, options.groups, options.rows, dtype=np.int32)
            rows = draw(options.rows).select(["label", "m0"]).append_column("user", pa.array(user))
            write(rows, Path(folder))
            met = by_group(spark.read.parquet(folder), rows)
        spark.stop()
        return int(options.check and not met)
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder, "small"), Path(folder, "large")
        for path, rows in ((small, 200_000), (large, options.rows)):
            path.mkdir()
            write(draw(rows), path)
        warm = spark.read.parquet(str(small))
        ours(warm, ["m0"])  # starts workers, compiles
        mllib(warm, "m0", "label")
        times, alike = measure(spark.read.parquet(str(large)), draw(options.rows), options.bins)
    spark.stop()
    verdict = "met" if times >= TIMES_FASTER and alike else "MISSED"
    print(f"{options.rows:,} rows: {times:.1f} times faster than MLlib (at least {TIMES_FASTER}): {verdict}")
    return int(options.check and not (times >= TIMES_FASTER and alike))


if __name__ == "__main__":
    sys.exit(main())
