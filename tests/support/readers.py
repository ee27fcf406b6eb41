"""One table in every form that rocscope.read takes, and a slow count of it to compare with."""

import gzip
import io
import json
from collections import Counter

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet


def counted(labels, scores):
    """Positives and negatives at each score, by decreasing score, the slow way."""
    pos, neg = Counter(), Counter()
    for label, score in zip(labels, scores, strict=True):
        (pos if label else neg)[score] += 1
    return [(score, pos[score], neg[score]) for score in sorted({*pos, *neg}, reverse=True)]


def levels(counts):
    """The same of a ThresholdCounts."""
    return list(zip(counts.threshold.tolist(), counts.pos.tolist(), counts.neg.tolist(), strict=True))


def write_csv(table, path, delimiter=","):
    pa.csv.write_csv(table, path, pa.csv.WriteOptions(delimiter=delimiter, quoting_style="needed"))


def write_gzip(table, path):
    plain = io.BytesIO()
    write_csv(table, plain)
    path.write_bytes(gzip.compress(plain.getvalue()))


def write_zstd(table, path):
    with pa.CompressedOutputStream(path, "zstd") as stream:
        write_csv(table, stream)


def write_jsonl(table, path):
    path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))


def write_json(table, path):
    path.write_text(json.dumps(table.to_pylist()))


def write_stream(table, path):
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)


WRITERS = {
    "scores.csv": write_csv,
    "semicolons.csv": lambda table, path: write_csv(table, path, ";"),
    "scores.tsv": lambda table, path: write_csv(table, path, "\t"),
    "scores.csv.gz": write_gzip,
    "scores.csv.zst": write_zstd,
    "scores.jsonl": write_jsonl,
    "scores.json": write_json,
    "scores.parquet": pa.parquet.write_table,
    "scores.feather": pa.feather.write_feather,
    "scores.arrows": write_stream,
}

FRAMES = {
    "pandas": lambda table: table.to_pandas(),
    "pandas, Arrow types": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "Polars": pl.from_arrow,
    "Polars, lazy": lambda table: pl.from_arrow(table).lazy(),
    "PyArrow": lambda table: table,
    "DuckDB": duckdb.from_arrow,
    "dict of lists": lambda table: table.to_pydict(),
    "dict of arrays": lambda table: {name: table[name].to_numpy() for name in table.column_names},
    "dict of series": lambda table: {name: pl.from_arrow(table)[name] for name in table.column_names},
}
