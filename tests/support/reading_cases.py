"""Files of every kind that are read, made from a number, and every way to read them.

A case knows its rows before they are written: the oracle is what Python made of the same text.
"""

import codecs
import gzip
import io
import json
import random
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
from pyarrow import json as arrow_json

import rocscope as rs

NAMES = (
    "s", "Score", "two words", " led", 'qu"ote', "apo'strophe", "comma,", "semi;colon", "tab\there", "é", "e\u0301",
    "🎯", "select", "a.b", "p*", "[1]", "x=7", "%20", "\\n", "$1", "{x}", "1", "-", "#", "null", "line\nbreak",
    "ß" * 40,
)  # fmt: skip
FILES = (
    "plain", "two words", "qu'ote", 'double"quote', "star*", "[1]", "question?", "sémi;colon", "🎯", "hash#", "%41",
    "per{cent}", "back\\slash", "-dash", "~tilde", "a.b", "x" * 120, "$HOME", "new\nline", "=", "comma,",
)  # fmt: skip
SUFFIXES = (".csv", ".csv", ".csv", ".tsv", ".jsonl", ".json", ".parquet", ".feather", ".arrows")
BIG = 2**53
EXACT = {"float_precision": "round_trip"} if pd.__version__ < "3" else {}


def _decimal(rng):
    return round(rng.uniform(0, 1), rng.randint(1, 17))


def _bits(rng):
    while True:
        value = rng.choice((1, -1)) * rng.random() * 10.0 ** rng.randint(-300, 300)
        if value == value and abs(value) != float("inf"):
            return value


KINDS = {
    "small": lambda rng: rng.randint(-5, 5),
    "int64": lambda rng: rng.choice((rng.randint(-(2**63), 2**63 - 1), BIG + rng.randint(-2, 2))),
    "uint64": lambda rng: rng.choice((2**64 - 1 - rng.randint(0, 3), rng.randint(2**63, 2**64 - 1))),
    "decimals": _decimal,
    "floats": _bits,
    "near": lambda rng: 0.1 + rng.randint(0, 3) * 2.0**-56,
    "tiny": lambda rng: rng.choice((5e-324, 2.2250738585072014e-308, -0.0, 0.0, 1.7976931348623157e308)),
    "mixed": lambda rng: rng.choice((1, 0, 0.5, 1e-7, 123456.789)),
}
ARROW_TYPES = {"small": (pa.int8(), pa.int32(), pa.int64()), "int64": (pa.int64(),), "uint64": (pa.uint64(),)}


@dataclass(frozen=True)
class Case:
    """A file that was written, and what it holds."""

    path: Path
    kind: str
    name: str
    labels: list[int]
    scores: list[float | int | None]
    delimiter: str

    @property
    def rows(self):
        """The rows that are whole."""
        return [(label, score) for label, score in zip(self.labels, self.scores, strict=True) if score is not None]


def make_case(number, folder):
    """Write the file of that number into a folder."""
    rng = random.Random(number)
    suffix, kind = rng.choice(SUFFIXES), rng.choice(list(KINDS))
    rows = rng.choice((1, 2, 3, 8, 30))
    labels = [rng.randint(0, 1) for _ in range(rows)]
    scores = [KINDS[kind](rng) for _ in range(rows)]
    if rng.random() < 0.2 and rows > 2:
        scores[rng.randrange(1, rows)] = None
    name = rng.choice(NAMES)
    path = Path(folder, rng.choice(FILES) + suffix)
    delimiter = "\t" if suffix == ".tsv" else rng.choice(",,;|\t") if suffix == ".csv" else ""
    path = _WRITERS[suffix](rng, path, name, labels, scores, kind, delimiter)
    return Case(path, kind, name, labels, scores, delimiter)


def _number(rng, value):
    """Return one of the ways to write a number."""
    if value is None:
        return rng.choice(("", "", "NA", "null"))
    text = repr(value)
    if isinstance(value, float) and "e" in text and rng.random() < 0.3:
        text = text.upper()
    return text


def _write_text(rng, path, name, labels, scores, kind, delimiter):
    end = rng.choice(("\n", "\r\n"))
    always = rng.random() < 0.3

    def field(text):
        plain = not (set(text) & {delimiter, '"', "\n", "\r"} or always)
        return text if plain else '"' + text.replace('"', '""') + '"'

    other = rng.choice(("id", "y 2", "ÿ"))
    lines = [
        [other, "y", name],
        *([f"r{i}", str(y), _number(rng, s)] for i, (y, s) in enumerate(zip(labels, scores, strict=True))),
    ]
    text = end.join(delimiter.join(map(field, line)) for line in lines) + rng.choice((end, ""))
    return _compressed(rng, path, (codecs.BOM_UTF8 if rng.random() < 0.1 else b"") + text.encode())


def _write_json(rng, path, name, labels, scores, kind, delimiter):
    rows = [{"y": y, name: s} for y, s in zip(labels, scores, strict=True)]
    dumped = [json.dumps(row, ensure_ascii=rng.random() < 0.5) for row in rows]
    text = "[" + ",".join(dumped) + "]" if path.suffix == ".json" else "\n".join(dumped) + rng.choice(("\n", ""))
    return _compressed(rng, path, text.encode())


def _compressed(rng, path, content):
    way = rng.choice(("", "", ".gz", ".zst"))
    path = path.with_name(path.name + way)
    if way == ".gz":
        content = gzip.compress(content)
    if way == ".zst":
        with pa.CompressedOutputStream(str(path), "zstd") as out:
            out.write(content)
    else:
        path.write_bytes(content)
    return path


def _table(rng, name, labels, scores, kind):
    types = ARROW_TYPES.get(kind, (pa.float64(),))
    label_type = rng.choice((pa.int8(), pa.int64(), pa.bool_()))
    return pa.table({"y": pa.array(labels).cast(label_type), name: pa.array(scores, rng.choice(types))})


def _write_parquet(rng, path, name, labels, scores, kind, delimiter):
    options = {
        "compression": rng.choice(("none", "snappy", "gzip", "zstd", "brotli", "lz4")),
        "use_dictionary": rng.random() < 0.5,
        "row_group_size": rng.choice((1, 7, 1000)),
        "data_page_version": rng.choice(("1.0", "2.0")),
        "version": rng.choice(("1.0", "2.4", "2.6")) if kind != "uint64" else "2.6",
    }
    pa.parquet.write_table(_table(rng, name, labels, scores, kind), path, **options)
    return path


def _write_arrow(rng, path, name, labels, scores, kind, delimiter):
    table = _table(rng, name, labels, scores, kind)
    if path.suffix == ".feather":
        pa.feather.write_feather(table, path, compression=rng.choice(("lz4", "zstd", "uncompressed")))
        return path
    options = pa.ipc.IpcWriteOptions(compression=rng.choice((None, "lz4", "zstd")))
    with pa.ipc.new_stream(path, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=rng.choice((1, 4, 1000)))
    return path


_WRITERS = {
    ".csv": _write_text, ".tsv": _write_text, ".jsonl": _write_json, ".json": _write_json,
    ".parquet": _write_parquet, ".feather": _write_arrow, ".arrows": _write_arrow,
}  # fmt: skip


def _bytes(case):
    with pa.input_stream(str(case.path), compression="detect") as stream:
        return io.BytesIO(stream.read())


def _kind(case):
    return next(suffix for suffix in reversed(case.path.suffixes) if suffix in _WRITERS)


def _with_pandas(case):
    if _kind(case) in (".csv", ".tsv"):
        return pd.read_csv(_bytes(case), sep=case.delimiter, dtype_backend="pyarrow", **EXACT)
    return {".parquet": pd.read_parquet, ".feather": pd.read_feather}[_kind(case)](case.path, dtype_backend="pyarrow")


def _with_polars(case):
    if _kind(case) in (".csv", ".tsv"):
        nulls = ["", "NA", "null"]
        return pl.read_csv(_bytes(case), separator=case.delimiter, null_values=nulls, infer_schema_length=None)
    readers = {".jsonl": pl.read_ndjson, ".json": pl.read_json, ".parquet": pl.read_parquet}
    readers |= {".feather": pl.read_ipc, ".arrows": pl.read_ipc_stream}
    return readers[_kind(case)](_bytes(case))


def _with_arrow(case):
    if _kind(case) in (".csv", ".tsv"):
        parse = pa.csv.ParseOptions(delimiter=case.delimiter, newlines_in_values=True)
        return pa.csv.read_csv(_bytes(case), parse_options=parse)
    readers = {".jsonl": arrow_json.read_json, ".parquet": pa.parquet.read_table}
    readers |= {".feather": pa.feather.read_table, ".arrows": lambda file: pa.ipc.open_stream(file).read_all()}
    return readers[_kind(case)](_bytes(case))


def _with_duckdb(case):
    with duckdb.connect() as connection:
        return connection.sql("FROM read_parquet($path)", params={"path": glob_free(case.path)}).to_arrow_table()


def glob_free(path):
    """Return a path in which DuckDB sees no pattern."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in str(path))


WAYS = {
    "file": lambda case: case.path,
    "pandas": _with_pandas,
    "Polars": _with_polars,
    "Arrow": _with_arrow,
    "DuckDB": _with_duckdb,
}
UNREAD = {
    "pandas": (".jsonl", ".json", ".arrows"),  # it rounds, and guesses dates
    "Arrow": (".json",),
    "DuckDB": (".csv", ".tsv", ".jsonl", ".json", ".feather", ".arrows"),  # of these it is the way of `file`
}


def rule_for(case, way):
    """Return the rule of docs/guide/engines/files.md by which a library cannot give the rows of a text file, if any."""
    if _kind(case) not in (".csv", ".tsv", ".jsonl", ".json"):
        return None
    if case.kind == "uint64" and way in ("Polars", "Arrow", "pandas"):
        return "whole numbers beyond int64"
    return "quotes in a name" if way == "Polars" and case.delimiter and '"' in case.name else None


def read_by(case, way):
    """Return the rows as the library gives them, or None where there is no such way."""
    if _kind(case) in UNREAD.get(way, ()):
        return None
    read = rs.read(WAYS[way](case), label="y", scores=case.name, missing="drop")
    return list(zip(read.y_true.tolist(), read.scores[case.name].tolist(), strict=True))


def count_by(case):
    """Return the levels of the file as it is streamed."""
    counts = rs.read_counts(case.path, label="y", scores=[case.name], missing="drop")[case.name]
    return list(zip(counts.threshold.tolist(), counts.pos.tolist(), counts.neg.tolist(), strict=True))
