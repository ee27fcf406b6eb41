"""Files as programs export them, made from a number: encodings, delimiters, decimal marks, labels, formats, writers."""

import codecs
import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

TEXT_WRITERS = ("by hand", "by hand", "by hand", "pyarrow", "polars", "duckdb")
WRITERS = {
    ".csv": TEXT_WRITERS,
    ".tsv": TEXT_WRITERS,
    ".jsonl": ("by hand", "polars", "duckdb"),
    ".json": ("by hand", "polars", "duckdb"),
    ".parquet": ("pyarrow", "polars", "duckdb v1", "duckdb v2", "duckdb v2"),
}
ENCODINGS = ("utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "cp1252")
LABELS: tuple[tuple[Any, Any], ...] = (
    (0, 1), (-1, 1), (False, True), ("0", "1"), ("False", "True"), ("no", "yes"), ("nein", "ja"), ("Good", "Poor"),
    ("2-Good", "1-Bad"),    ("gesund", "kränk"), ("é", "e"), (1, 2), (0.0, 1.0), ("a b", 'a"b'), ("lost", "won"),
)  # fmt: skip
SCORES = ("share", "share", "float32", "tenths", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
          "uint64", "money", "thousands", "hexadecimal", "all equal")  # fmt: skip


@dataclass
class Export:
    """A file and what is asked of it."""

    path: Path
    positive: str | None
    decimal: str = "."
    kinds: dict[str, str] = field(default_factory=dict)

    @property
    def is_text(self) -> bool:
        return self.path.suffix in (".csv", ".tsv")

    @property
    def asked(self) -> dict[str, Any]:
        """What Python is asked."""
        decimal = {"decimal": self.decimal} if self.is_text else {}
        return {"label": "label", "scores": ["score"], "pos_label": self.positive, "missing": "drop"} | decimal

    @property
    def roles(self) -> dict[str, Any]:
        """What the page is told of columns."""
        others = {"weight": None, "segment": None, "fold": None}
        return {"label": "label", "scores": ["score"], "positive": self.positive} | others

    @property
    def layout(self) -> dict[str, Any]:
        """What the page is told of the file."""
        return {"decimal": self.decimal, "delimiter": None, "encoding": None}


def make_export(number: int, folder: Path) -> Export:
    """Write the file of that number into a folder."""
    rng = random.Random(number)
    suffix = rng.choice(list(WRITERS))
    writer, encoding, rows = rng.choice(WRITERS[suffix]), "utf-8", rng.choice((2, 3, 9, 40, 300, 1500))
    two, kind = rng.choice(LABELS), rng.choice(SCORES)
    positive = rng.choice((None, str(two[1]), str(two[1]), str(two[0])))
    case = Export(
        folder / f"export {number}{suffix}", positive, "," if suffix in (".csv", ".tsv") and rng.random() < 0.5 else "."
    )
    labels = [rng.choice(two) for _ in range(rows)]
    scores = _scores(np.random.default_rng(number), kind, rows)
    if writer == "by hand" and suffix in (".csv", ".tsv"):
        encoding = rng.choice(ENCODINGS)
        _write_text(rng, case, labels, scores, kind, encoding)
    else:
        _write(rng, case, writer, pa.table({"name": ["Süd"] * rows, "label": labels, "score": _missing(rng, scores)}))
    case.kinds = {"writer": writer, "encoding": encoding, "labels": f"{two}", "scores": kind}
    return case


def _scores(rng: np.random.Generator, kind: str, rows: int) -> np.ndarray:
    if kind in ("share", "float32"):
        return rng.random(rows).astype("float32" if kind == "float32" else "float64")
    if kind in ("tenths", "money", "all equal"):
        return {"tenths": rng.integers(0, 11, rows) / 10, "money": rng.integers(0, 10**7, rows) / 100}.get(
            kind, np.full(rows, 0.5)
        )
    if kind in ("thousands", "hexadecimal"):
        return rng.integers(1000, 10**7, rows)
    limits = np.iinfo(kind)
    return rng.integers(limits.min, limits.max, rows, dtype=kind, endpoint=True)


def _missing(rng: random.Random, scores: np.ndarray) -> pa.Array:
    gaps = np.array([rng.random() < 0.1 for _ in scores]) if rng.random() < 0.3 and len(scores) > 5 else None
    return pa.array(scores, mask=gaps)


def _cell(value: Any, kind: str, decimal: str) -> str:
    if kind == "hexadecimal":
        return hex(value)
    if kind == "thousands":
        return f"{value:,}".replace(",", "." if decimal == "," else ",")
    if kind == "money":
        return f"{value:.2f}".replace(".", decimal)
    return str(value).replace(".", decimal)


def _write_text(rng: random.Random, case: Export, labels: list, scores: np.ndarray, kind: str, encoding: str) -> None:
    delimiter = "\t" if case.path.suffix == ".tsv" else rng.choice(",;|\t".replace(case.decimal, ""))
    end = rng.choice(("\n", "\r\n"))

    def quoted(text: str) -> str:
        return '"' + text.replace('"', '""') + '"' if set(text) & {delimiter, '"'} else text

    lines = [
        delimiter.join(
            map(
                quoted,
                (
                    "Süd",
                    str(label).replace(".", case.decimal),
                    rng.choice(("", "NA")) if rng.random() < 0.03 else _cell(score, kind, case.decimal),
                ),
            )
        )
        for label, score in zip(labels, scores.tolist(), strict=True)
    ]
    text = end.join([delimiter.join(("name", "label", "score")), *lines, ""])
    mark = codecs.BOM_UTF16_BE if encoding == "utf-16-be" and rng.random() < 0.5 else b""
    case.path.write_bytes(mark + text.encode(encoding))


def _write(rng: random.Random, case: Export, writer: str, table: pa.Table) -> None:
    path, suffix = case.path, case.path.suffix
    delimiter = "\t" if suffix == ".tsv" else rng.choice(",;|\t".replace(case.decimal, ""))
    if suffix == ".parquet":
        _write_parquet(rng, path, writer, table)
    elif writer == "duckdb":
        options = f"DELIMITER '{delimiter}', HEADER" if case.is_text else f"FORMAT json, ARRAY {suffix == '.json'}"
        duckdb.sql(f"COPY (FROM \"table\") TO '{path}' ({options})")
        case.decimal = "."
    elif writer == "polars" and case.is_text:
        pl.from_arrow(table).write_csv(path, separator=delimiter, decimal_comma=case.decimal == ",")
    elif writer == "polars":
        frame = pl.from_arrow(table)
        frame.write_json(path) if suffix == ".json" else frame.write_ndjson(path)
    elif writer == "pyarrow":
        pyarrow.csv.write_csv(table, path, pyarrow.csv.WriteOptions(delimiter=delimiter))
        case.decimal = "."
    else:
        rows = [
            {key: value for key, value in row.items() if value is not None or rng.random() < 0.5}
            for row in table.to_pylist()
        ]
        dumped = [json.dumps(row, ensure_ascii=rng.random() < 0.5) for row in rows]
        text = "[" + ",\n".join(dumped) + "]" if suffix == ".json" else "\n".join(dumped)
        path.write_bytes(text.encode(rng.choice(("utf-8", "utf-8-sig", "utf-16"))))


def _write_parquet(rng: random.Random, path: Path, writer: str, table: pa.Table) -> None:
    if writer == "pyarrow":
        delta = (
            "DELTA_BINARY_PACKED"
            if pa.types.is_integer(table["score"].type) and table["score"].type.bit_width >= 32
            else "PLAIN"
        )
        own = {"use_dictionary": False, "column_encoding": {"score": delta}} if rng.random() < 0.3 else {}
        options = {"row_group_size": rng.choice((7, 100, 10**6)), **own}
        codec = rng.choice(("none", "snappy", "zstd", "gzip", "lz4"))
        pyarrow.parquet.write_table(table, path, compression=codec, **options)
    elif writer == "polars":
        pl.from_arrow(table).write_parquet(path, compression=rng.choice(("uncompressed", "snappy", "zstd", "gzip")))
    else:
        version, codec = writer[-2:], rng.choice(("snappy", "zstd", "gzip", "uncompressed"))
        duckdb.sql(
            f"COPY (FROM \"table\") TO '{path}' (FORMAT parquet, PARQUET_VERSION {version}, COMPRESSION {codec})"
        )
