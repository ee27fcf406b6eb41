"""Files for the open page, made from a number: what each column is for, and what Python is asked of the same file."""

import codecs
import gzip
import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from reading_cases import KINDS, NAMES

SUFFIXES = (".csv", ".csv", ".csv", ".tsv", ".jsonl", ".json", ".parquet", ".parquet")
LABELS: tuple[tuple[str | None, tuple[Any, Any]], ...] = (
    (None, (0, 1)), (None, (-1, 1)), (None, (False, True)), ("yes", ("no", "yes")), ("b", ("a", "b")), ("1", (0, 1)),
    ("2", (1, 2)), ("é", ("e", "é")), (None, (0, 2)), ("c", ("a", "b")), (None, ("no", "yes")),
)  # fmt: skip
TYPES = {
    "small": (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.decimal128(9, 0)),
    "int64": (pa.int64(), pa.decimal128(20, 0)),
    "uint64": (pa.uint64(), pa.decimal128(25, 0)),
    "ties": (pa.float64(), pa.float32()),
    "decimals": (pa.float64(), pa.float32()),
    "money": (pa.decimal128(12, 2), pa.float64()),
}
MORE = {
    "ties": lambda rng: rng.choice((0.0, -0.0, 0.25, 0.5, 1.0)),
    "money": lambda rng: rng.randint(-999, 99999) / 100,
}


@dataclass
class Case:
    """A file and what is asked of it."""

    path: Path
    scores: list[str]
    positive: str | None
    weight: str | None = None
    decimal: str = "."
    kinds: list[str] = field(default_factory=list)

    @property
    def roles(self) -> dict[str, Any]:
        """What the page is told of columns."""
        others = {"weight": self.weight, "segment": None, "fold": None}
        return {"label": "label", "positive": self.positive, "scores": self.scores} | others

    @property
    def layout(self) -> dict[str, Any]:
        """What the page is told of the file."""
        return {"decimal": self.decimal, "delimiter": None, "encoding": "utf-8"}

    @property
    def asked(self) -> dict[str, Any]:
        """What Python is told of both."""
        text = any(suffix in (".csv", ".tsv") for suffix in self.path.suffixes)
        decimal = {"decimal": self.decimal} if text else {}
        columns = {"label": "label", "scores": self.scores, "weight": self.weight}
        return columns | {"pos_label": self.positive, "missing": "drop"} | decimal


def make_case(number: int, folder: Path) -> Case:
    """Write the file of that number into a folder."""
    rng = random.Random(number)
    suffix, rows = rng.choice(SUFFIXES), rng.choice((1, 2, 3, 8, 30, 120))
    positive, labels = rng.choice(LABELS)
    names = rng.sample([name for name in NAMES if suffix != ".parquet" or name != "1"], rng.choice((1, 1, 2)))
    kinds = [rng.choice([*KINDS, *MORE]) for _ in names]
    table: dict[str, list[Any]] = {"label": [rng.choice(labels) for _ in range(rows)]}
    for name, kind in zip(names, kinds, strict=True):
        table[name] = [(MORE | KINDS)[kind](rng) for _ in range(rows)]
    weight = rng.choice((None, None, "weight of a row"))
    if weight:
        kinds.append(rng.choice(("whole", "fractions")))
        table[weight] = [
            rng.randint(0, 4) if kinds[-1] == "whole" else rng.choice((0.1, 0.5, 1.7)) for _ in range(rows)
        ]
    for column in table.values():
        if rng.random() < 0.2 and rows > 2:
            column[rng.randrange(rows)] = None
    decimal = "," if suffix in (".csv", ".tsv") and rng.random() < 0.25 else "."
    case = Case(folder / f"case {number}{suffix}", names, positive, weight, decimal, kinds)
    _WRITERS[suffix](rng, case, table)
    return case


def _cell(rng: random.Random, value: Any, decimal: str) -> str:
    if value is None:
        return rng.choice(("", "", "NA", "null", '""'))
    if isinstance(value, bool | str):
        return str(value)
    text = repr(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e6 and rng.random() < 0.2:
        text = text.removesuffix(".0")
    if rng.random() < 0.05:
        text = rng.choice((f" {text}", f"{text} ", f"\u00a0{text}", text.upper()))
    return text.replace(".", decimal)


def _write_text(rng: random.Random, case: Case, table: dict[str, list[Any]]) -> None:
    delimiter = "\t" if case.path.suffix == ".tsv" else rng.choice(",;|\t".replace(case.decimal, ""))
    end, always = rng.choice(("\n", "\r\n")), rng.random() < 0.3

    def field_of(text: str) -> str:
        plain = text == '""' or not (set(text) & {delimiter, '"', "\n", "\r"} or always)
        return text if plain else '"' + text.replace('"', '""') + '"'

    rows = [
        list(table),
        *zip(*([_cell(rng, value, case.decimal) for value in column] for column in table.values()), strict=True),
    ]
    text = end.join(delimiter.join(map(field_of, row)) for row in rows) + rng.choice((end, ""))
    _write(rng, case, (codecs.BOM_UTF8 if rng.random() < 0.2 else b"") + text.encode())


def _write_json(rng: random.Random, case: Case, table: dict[str, list[Any]]) -> None:
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    dumped = [json.dumps(row, ensure_ascii=rng.random() < 0.5) for row in rows]
    text = "[" + ",".join(dumped) + "]" if case.path.suffix == ".json" else "\n".join(dumped) + rng.choice(("\n", ""))
    _write(rng, case, text.encode())


def _write(rng: random.Random, case: Case, content: bytes) -> None:
    way = rng.choice(("", "", ".gz", ".zst"))
    case.path = case.path.with_name(case.path.name + way)
    if way == ".zst":
        with pa.CompressedOutputStream(str(case.path), "zstd") as out:
            out.write(content)
    else:
        case.path.write_bytes(gzip.compress(content) if way == ".gz" else content)


def _write_parquet(rng: random.Random, case: Case, table: dict[str, list[Any]]) -> None:
    columns: dict[str, pa.Array] = {}
    kinds = dict(zip(case.scores, case.kinds, strict=False))
    for name, values in table.items():
        kind = rng.choice(TYPES.get(kinds.get(name, ""), (None,)))
        if pa.types.is_decimal(kind or pa.null()):
            values = [None if value is None else f"{value:.{kind.scale}f}" for value in values]
            columns[name] = pa.array(values, pa.string()).cast(kind)
        else:
            columns[name] = pa.array(values, kind)
    pa.parquet.write_table(
        pa.table(columns),
        case.path,
        compression=rng.choice(("none", "snappy", "gzip", "zstd", "lz4")),
        use_dictionary=rng.random() < 0.5,
        row_group_size=rng.choice((1, 7, 1000)),
        data_page_version=rng.choice(("1.0", "2.0")),
        version="2.6",
        store_decimal_as_integer=rng.random() < 0.5,
    )


_WRITERS = {
    ".csv": _write_text, ".tsv": _write_text, ".jsonl": _write_json, ".json": _write_json, ".parquet": _write_parquet,
}  # fmt: skip
