"""Who is compared with rocscope, and what each is asked: the exact AUC of float32 scores, as its users would ask it.

Some are given arrays (as columns of their own kind, made before the clock starts), others one Parquet file. Nothing is
imported here before it is needed, so that a process that runs one of them has loaded none of the others.
"""

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

PARQUET = "scores.parquet"


@dataclass(frozen=True)
class Peer:
    """A contender: the modules it needs, what it is given from the folder of inputs, and how it answers."""

    name: str
    asked: str
    package: str
    modules: tuple[str, ...]
    given: Callable[[Path], Any]
    answer: Callable[[Any], float]

    @property
    def reads_parquet(self) -> bool:
        """Whether it is given a file, and not arrays."""
        return self.given in (_file, _spark_frame)

    @property
    def missing(self) -> str:
        """What is not installed that it needs, or nothing."""
        roots = dict.fromkeys(module.partition(".")[0] for module in self.modules)
        absent = [root for root in roots if find_spec(root) is None]
        if "pyspark" in self.modules and not (os.environ.get("JAVA_HOME") or shutil.which("java")):
            absent.append("java")
        return ", ".join(absent)


def _arrays(folder: Path) -> tuple[Any, Any]:
    return np.load(folder / "y.npy"), np.load(folder / "score.npy")


def _tensors(folder: Path) -> tuple[Any, Any]:
    import torch

    y, score = _arrays(folder)
    return torch.from_numpy(y), torch.from_numpy(score)


def _polars_frame(folder: Path) -> Any:
    import polars as pl

    y, score = _arrays(folder)
    return pl.DataFrame({"y": y, "score": score})


def _file(folder: Path) -> str:
    return str(folder / PARQUET)


def _spark_frame(folder: Path) -> Any:
    frame = spark_session(os.cpu_count() or 1).read.parquet(_file(folder))
    return frame.withColumn("score", frame["score"].cast("double"))  # all that the evaluator takes


def _rocscope(given: tuple[Any, Any]) -> float:
    import rocscope as rs

    return rs.auc(*given)


def _rocscope_file(path: str) -> float:
    import rocscope as rs

    return rs.auc(rs.read_counts(path, label="y", scores="score")["score"])


def _scikit_learn(given: tuple[Any, Any]) -> float:
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(*given))


def _scipy(given: tuple[Any, Any]) -> float:
    """U over the number of pairs; float32 scores would be ranked in float32, whose integers end at 2²⁴."""
    from scipy.stats import mannwhitneyu

    y, score = given[0] == 1, given[1].astype(np.float64)
    positive, negative = score[y], score[~y]
    return float(mannwhitneyu(positive, negative).statistic) / (positive.size * negative.size)


def _torchmetrics(given: tuple[Any, Any]) -> float:
    from torchmetrics.functional.classification import binary_auroc

    y, score = given
    return binary_auroc(score, y).item()


def _polars_ds(frame: Any) -> float:
    import polars_ds as pds

    return frame.select(pds.query_roc_auc("y", "score")).item()


def duckdb_sql(path: str) -> float:
    """Count each score's labels and add up, in SQL."""
    import duckdb

    with duckdb.connect() as connection:
        found = connection.execute(
            """
            WITH levels AS (SELECT score, sum(y)::BIGINT AS pos, count(*) - sum(y)::BIGINT AS neg
                            FROM read_parquet($path) GROUP BY score),
                 ranked AS (SELECT pos, neg, sum(pos) OVER (ORDER BY score DESC) - pos AS above FROM levels)
            SELECT sum(neg * (above + pos / 2)) / (sum(pos)::DOUBLE * sum(neg)) FROM ranked
            """,
            {"path": path},
        ).fetchone()
    assert found is not None
    return float(found[0])


def polars_group_by(path: str) -> float:
    """Count each score's labels and add up, by the streaming engine."""
    import polars as pl

    pos, neg = pl.col("pos").cast(pl.Float64), pl.col("neg").cast(pl.Float64)
    levels = pl.scan_parquet(path).group_by("score").agg(pos=pl.col("y").cast(pl.Int64).sum(), rows=pl.len())
    ranked = levels.with_columns(neg=pl.col("rows") - pl.col("pos")).sort("score", descending=True)
    area = (neg * (pos.cum_sum() - pos / 2)).sum() / (pos.sum() * neg.sum())
    return ranked.select(area).collect(engine="streaming").item()


def spark_session(cores: int) -> Any:
    """Start Spark in a JVM of this process, on loopback only."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "6g",
        "spark.log.level": "ERROR",
    }
    return SparkSession.builder.master(f"local[{cores}]").config(map=settings).getOrCreate()


def mllib(frame: Any, score: str, label: str, bins: int = 0) -> float:
    """Ask `BinaryClassificationMetrics` for the area under the curve, and nothing else, within the JVM."""
    from pyspark.ml.evaluation import BinaryClassificationEvaluator

    return BinaryClassificationEvaluator(rawPredictionCol=score, labelCol=label, numBins=bins).evaluate(frame)


PEERS = (
    Peer("rocscope", "`auc`", "rocscope", ("rocscope",), _arrays, _rocscope),
    Peer("scikit-learn", "`roc_auc_score`", "scikit-learn", ("sklearn.metrics",), _arrays, _scikit_learn),
    Peer("SciPy", "`mannwhitneyu`", "scipy", ("scipy.stats",), _arrays, _scipy),
    Peer("torchmetrics", "`binary_auroc`", "torchmetrics", ("torch", "torchmetrics"), _tensors, _torchmetrics),
    Peer("polars-ds", "`query_roc_auc`", "polars-ds", ("polars", "polars_ds"), _polars_frame, _polars_ds),
    Peer("rocscope, file", "`read_counts`, `auc`", "rocscope", ("rocscope", "pyarrow"), _file, _rocscope_file),
    Peer("DuckDB", "SQL: `GROUP BY score`, window sum", "duckdb", ("duckdb",), _file, duckdb_sql),
    Peer("Polars", "`group_by('score')`, streaming", "polars", ("polars",), _file, polars_group_by),
    Peer(
        "Spark MLlib",
        "`BinaryClassificationMetrics`",
        "pyspark",
        ("pyspark", "pyspark.ml.evaluation"),
        _spark_frame,
        lambda frame: mllib(frame, "score", "y"),
    ),
)
