"""Files of a path, pattern or folder, and their formats, found before any library is loaded.

FileLayout: how a file is written, where neither its name nor its content tells.
"""
# MERGED-DOC: """Source: named columns that can be fetched as Arrow data from any storage."""
# MERGED-DOC: """Column names of files, checked before any library is loaded."""

import codecs
import csv
import glob
import gzip
import io
import os
import re
import stat
import sys
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, islice
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

from rocscope.errors import (
    ColumnError,
    EngineError,
    InputError,
    MissingDependencyError,
    ShapeError,
    brief,
    listing,
    one_of,
)

# The command line checks paths and columns with this module before it loads NumPy or Arrow.
if TYPE_CHECKING:
    import pyarrow as pa

LOOKED_AT = 1 << 20
"""Bytes at the beginning that are looked at: thousands of rows, read in a millisecond."""
FALLBACK = "cp1252"
"""What Excel and most other programs of Windows write in Europe and America where it is not UTF-8."""
_UNDEFINED = b"\x81\x8d\x8f\x90\x9d"
"""Bytes that Windows-1252 has no sign for: Python refuses them, and browsers make invisible signs of them."""

UNLIKE_TEXT = [
    [
        "PK\x03\x04",
        "an Excel workbook or a ZIP archive",
        "in Excel choose File > Save As > CSV UTF-8; unpack an archive",
    ],
    ["\xd0\xcf\x11\xe0", "an old Excel workbook", "in Excel choose File > Save As > CSV UTF-8"],
    ["%PDF", "a PDF file", "export the table as CSV"],
    ["\x1f\x8b", "data compressed by gzip", "end its name in .gz"],
    ["\x28\xb5\x2f\xfd", "data compressed by zstd", "end its name in .zst"],
    ["BZh91AY", "data compressed by bzip2", "unpack it first"],
    ["\xfd7zXZ", "data compressed by xz", "unpack it first"],
    ["7z\xbc\xaf", "a 7z archive", "unpack it first"],
    ["PAR1\x15", "a Parquet file", "end its name in .parquet"],
    ["ARROW1\0\0", "an Arrow file", "end its name in .arrow"],
    ["SQLite format 3\0", "an SQLite database", "export the table as CSV"],
]
"""Files of other kinds by how they begin (as Latin-1), and what to do with them."""


def refuse_other_kinds(start: bytes, name: str, expected: str) -> None:
    r"""Raise EngineError if a file begins as one of another kind.

    Examples
    --------
    >>> refuse_other_kinds(b"PAR1\x15...", "scores.csv", "CSV text")
    Traceback (most recent call last):
    rocscope.errors.EngineError: scores.csv: expected CSV text, got a Parquet file; end its name in .parquet
    """
    text = start[:16].decode("latin-1")
    for magic, got, hint in UNLIKE_TEXT:
        if text.startswith(magic):
            raise EngineError(name, expected=expected, got=got, hint=hint)


def encoding_of(start: bytes) -> str:
    r"""Return the encoding that the beginning of a text is written in.

    A byte order mark, or zeros in every other byte, tells UTF-16. Anything that is no UTF-8 is taken for Windows-1252,
    unless it has bytes that this has no signs for.

    Examples
    --------
    >>> encoding_of("größe".encode()), encoding_of("größe".encode("latin-1")), encoding_of("y".encode("utf-16"))
    ('utf-8', 'cp1252', 'utf-16')
    """
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-8" if start.startswith(codecs.BOM_UTF32_LE) else "utf-16"  # which refuses UTF-32
    pairs = start[:4].ljust(4, b"x")
    if pairs[1] == pairs[3] == 0 != pairs[0]:
        return "utf-16-le"
    if pairs[0] == pairs[2] == 0 != pairs[1]:
        return "utf-16-be"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return "utf-8" if set(start) & {0, *_UNDEFINED} else FALLBACK
    return "utf-8"


FileFormat = Literal["csv", "tsv", "jsonl", "parquet", "arrow", "excel", "duckdb", "sqlite"]
FORMATS: tuple[FileFormat, ...] = get_args(FileFormat)

_FORMAT_OF = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".xlsb": "excel",
    ".xls": "excel",
    ".ods": "excel",
    ".duckdb": "duckdb",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
}


def find_files(place: str, format: str | None = None) -> list[str]:
    """Return the files of a path, glob or folder, in alphabetical order."""
    try:
        return _find(place, Path(place).expanduser(), format)
    except OSError as error:
        raise EngineError(f"{place}: {error.strerror or error}") from None
    except (RuntimeError, ValueError) as error:  # no home folder, a null byte
        raise EngineError(f"{place}: {error}") from None


_LAKE_READER = {
    "Delta Lake": "deltalake.DeltaTable(folder)",
    "Iceberg": "pyiceberg.table.StaticTable.from_metadata(file)",
    "Hudi": "hudi.HudiTable(folder).read_snapshot()",
}
"""Table formats whose folders contain deleted or replaced files, and what reads one snapshot of each."""


def refuse_lakes(paths: Iterable[str]) -> None:
    """Raise EngineError if files belong to a table whose metadata lists its valid files."""
    for folder in {parent for path in paths for parent in Path(path).absolute().parents}:
        if (kind := _lake_of(folder)) is not None:
            got = f"files of a {kind} table, some of which may hold deleted rows"
            hint = f"read one snapshot and pass it on: rocscope.read({_LAKE_READER[kind]}, …)"
            raise EngineError(str(folder), expected="files that all count", got=got, hint=hint)


def _lake_of(folder: Path) -> str | None:
    if (folder / "_delta_log").is_dir():
        return "Delta Lake"
    if (folder / ".hoodie").is_dir():
        return "Hudi"
    return "Iceberg" if next((folder / "metadata").glob("*.metadata.json"), None) else None


def _find(place: str, path: Path, format: str | None) -> list[str]:
    if path.is_dir():
        found = sorted(str(file) for file in path.rglob("*") if _is_data(file.relative_to(path), format, file))
        if not found:
            raise EngineError(f"{place}: no data file in this folder", hint=f"known suffixes: {', '.join(_FORMAT_OF)}")
        return found
    if path.exists():
        if not (path.is_file() or is_pipe(place)):
            raise EngineError(f"{place}: neither a file nor a folder", hint="read it as a stream: rocscope … - < it")
        return [str(path)]
    if not glob.has_magic(place):
        hint = "only local files are read" if "://" in place else ""
        raise EngineError(f"{place}: no such file or folder", hint=hint)
    matches = glob.glob(str(path), recursive=True)  # noqa: PTH207 (Path.glob takes no absolute pattern)
    found = sorted(match for match in matches if Path(match).is_file())
    if not found:
        raise EngineError(f"{place}: no file matches this pattern")
    return found


def is_pipe(place: str) -> bool:
    """Return whether a path comes from a shell's `<(command)`: a stream that can be read once.

    A pipe of another name is none: nobody may ever write to it.
    """
    if place != "/dev/stdin" and not place.startswith(("/dev/fd/", "/proc/self/fd/")):
        return False
    try:
        return stat.S_ISFIFO(Path(place).stat().st_mode)
    except OSError:
        return False


def partition_keys(paths: Sequence[str]) -> set[str]:
    """Return the keys of folders named key=value, in lower case."""
    return {part.split("=")[0].casefold() for path in paths for part in Path(path).parts[:-1] if "=" in part}


def _is_data(inside: Path, format: str | None, file: Path) -> bool:
    """Whether a file is data, and not a file that writers leave beside it: _SUCCESS, .crc files, a README."""
    if any(part.startswith((".", "_")) for part in inside.parts) or not file.is_file():
        return False
    known = format_of(inside)
    return known not in (None, *_DATABASES) if format is None else known in (format, None)


def format_of(path: Path) -> str | None:
    """Return the format implied by a file's name, if any."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in (".gz", ".zst"):
        suffixes.pop()
    return _FORMAT_OF.get(suffixes[-1]) if suffixes else None


_DATABASES = ("duckdb", "sqlite")
_OWN = {
    "decimal": ("csv", "tsv"),
    "delimiter": ("csv",),
    "encoding": ("csv", "tsv", "jsonl"),
    "table": _DATABASES,
}
"""Arguments that only some formats have."""
_TAB = ("\\t", "tab")  # as it can be typed


@dataclass(frozen=True)
class FileLayout:
    """How a source is written: arguments of `rocscope.read`.

    Examples
    --------
    >>> FileLayout(decimal=",").delimiters
    ';\\t|'
    """

    format: str | None = None
    decimal: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    table: str | None = None

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in FORMATS:
            raise InputError("format", expected=f"one of {', '.join(FORMATS)}", got=repr(self.format))
        if self.decimal not in (None, ".", ","):
            raise InputError("decimal", expected="'.' or ','", got=repr(self.decimal))
        if self.delimiter is not None and (len(self.delimiters) != 1 or self.delimiters in f'"\r\n{self.decimal_mark}'):
            expected = "one character, which neither quotes nor is the decimal mark"
            raise InputError("delimiter", expected=expected, got=repr(self.delimiter))
        if self.encoding is not None and not _is_encoding(self.encoding):
            raise InputError("encoding", expected="one that Python knows, such as 'latin-1'", got=repr(self.encoding))

    @property
    def decimal_mark(self) -> str:
        """Decimal mark of numbers."""
        return self.decimal or "."

    @property
    def delimiters(self) -> str:
        """Candidate delimiters; the one that yields most fields is used."""
        if self.delimiter is not None:
            return "\t" if self.delimiter in _TAB else self.delimiter
        return ",;\t|".replace(self.decimal_mark, "")

    def refuse(self, kind: str, names: Iterable[str] = ("format", *_OWN)) -> None:
        """Raise InputError for arguments that do not apply to a kind of source."""
        for name in names:
            if (given := getattr(self, name)) is not None:
                raise InputError(name, expected=f"none for {kind}", got=repr(given))

    def require_meaning(self, format: str) -> None:
        """Raise InputError for arguments that do not apply to a format."""
        self.refuse(f"{format} files", (name for name, formats in _OWN.items() if format not in formats))


def _is_encoding(name: object) -> bool:
    try:
        return isinstance(name, str) and codecs.lookup(name)._is_text_encoding
    except (LookupError, ValueError):  # a null byte
        return False


AS_IT_TELLS = FileLayout()


MOST_ROWS = 5_000_000
"""More rows than this make Parquet files large."""
MOST_BYTES = 250_000_000
"""More bytes than this make other files large."""

_BYTES_OF_A_ROW = 16  # as text, a label and one score


def is_large(source: Any, *, format: str | None = None) -> bool:
    """Return whether files hold more than 5 million rows (Parquet) or 250 MB (other formats).

    Examples
    --------
    >>> is_large({"y": [0, 1]})
    False
    """
    if not isinstance(source, str | PathLike) or format not in (None, *FORMATS):
        return False
    place = os.fsdecode(source)
    if place == "-" or is_pipe(place):
        return False
    found = find_files(place, format)
    if (format or format_of(Path(found[0]))) == "parquet":
        return _exceeds(_rows(found), MOST_ROWS)
    return _exceeds((Path(path).stat().st_size for path in found), MOST_BYTES)


def rows_of_files(source: Any, *, format: str | None = None) -> int | None:
    """Return the approximate number of rows of files (exact for Parquet), or None for data in memory.

    Examples
    --------
    >>> rows_of_files({"y": [0, 1]}) is None
    True
    """
    if isinstance(source, list | tuple):
        known = [rows_of_files(each, format=format) for each in source]
        return sum(each for each in known if each is not None)
    if not isinstance(source, str | PathLike):
        return None
    found = find_files(os.fsdecode(source), format)
    if (format or format_of(Path(found[0]))) == "parquet":
        return sum(_rows(found))
    return sum(Path(path).stat().st_size for path in found) // _BYTES_OF_A_ROW


def _rows(paths: list[str]) -> Iterator[int]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for path in paths:
        try:
            yield pq.read_metadata(path).num_rows
        except (OSError, pa.ArrowException):
            return  # whoever reads the file says what is wrong with it


def _exceeds(sizes: Iterator[int], most: int) -> bool:
    return any(total > most for total in accumulate(sizes))  # no file is looked at beyond the one that decides


_LONGEST = 300  # characters of a library's message: a choice
_ANOTHER_ENCODING = "name its encoding: encoding='latin-1' (--encoding)"
_EXTRAS = ("pandas", "polars")
_ERRORS_OF_LIBRARIES = (
    ("duckdb", "Error"),
    ("sqlite3", "Error"),
    ("narwhals.exceptions", "NarwhalsError"),
    ("polars.exceptions", "PolarsError"),
    ("ibis.common.exceptions", "IbisError"),
    ("psycopg", "Error"),
    ("deltalake.exceptions", "DeltaError"),
)


BATCH_ROWS = 1 << 17
"""Rows per batch: few enough for the cache, many enough to hide Python's overhead."""


@dataclass(frozen=True)
class Stream:
    """Columns in batches.

    Attributes
    ----------
    schema : pyarrow.Schema
    pieces : iterable of functions without arguments
        Each iterates over the tables of one piece of the source, in order; pieces may be read at the same time.
    rows : int or None
        How many there are, where that is known beforehand.
    """

    schema: "pa.Schema"
    pieces: "Iterable[Callable[[], Generator[pa.Table]]]"
    rows: int | None = None


def stream_table(table: "pa.Table") -> Stream:
    """Yield a table in batches."""

    def batch(start: int) -> "Generator[pa.Table]":
        yield table.slice(start, BATCH_ROWS)

    pieces = (partial(batch, start) for start in range(0, table.num_rows, BATCH_ROWS))
    return Stream(table.schema, pieces, table.num_rows)


class WrongGuessError(Exception):
    """A later row does not have the type guessed from the first rows."""


class Source(Protocol):
    """Rows with named columns.

    Attributes
    ----------
    origin : tuple of str
        The files, or what else holds the rows.
    columns : sequence of str
        Their names as they are written there, which may repeat.
    decimal : str
        Where every value was written as text, as in a CSV file: the decimal mark of numbers; else nothing.
    """

    origin: tuple[str, ...]
    columns: Sequence[str]
    decimal: str

    def fetch(self, names: Sequence[str], where: str | None = None) -> "pa.Table":
        """Return the named columns of rows that satisfy the SQL condition `where`, in order."""
        ...

    def stream(self, names: Sequence[str], where: str | None = None) -> Stream:
        """Yield the same in batches, so that not all rows are in memory at once."""
        ...


def no_rows(origin: str, where: str | None = None) -> ShapeError:
    """Return the error for a source without rows, or without any that satisfy the condition."""
    return ShapeError(origin, expected="at least one row", got="none" if where is None else f"none where {where}")


def no_complete_rows(origin: str, rows: int) -> ShapeError:
    """Return the error for a source whose rows would all be dropped."""
    return ShapeError(origin, expected="a row without missing or infinite values", got=f"none of {rows}")


def mentioned(columns: Sequence[str], where: str) -> list[str]:
    """Return the columns whose names occur in a condition, which include those that it uses."""
    text = where.replace('""', '"').casefold()
    return [name for name in dict.fromkeys(columns) if name.casefold() in text]


@contextmanager
def one_line_errors(subject: str) -> Iterator[None]:
    """Convert errors of DuckDB, Arrow, narwhals and the system to one line that names the subject."""
    try:
        yield
    except OSError as error:
        raise EngineError(f"{subject}: {error.strerror or condense(str(error))}") from None
    except UnicodeDecodeError as error:
        got = f"byte {error.object[error.start]:#04x} at position {error.start}"
        name = error.encoding.upper()
        raise EngineError(subject, expected=f"{name} text", got=got, hint=_ANOTHER_ENCODING) from None
    except OverflowError as error:
        from rocscope._base.arrays import WHOLE_OF_64_BITS

        hint = "make them floats if they are not exact"
        raise EngineError(subject, expected=WHOLE_OF_64_BITS, got=condense(str(error)), hint=hint) from None
    except _library_errors() as error:
        hint = _ANOTHER_ENCODING if re.search("(?i)unicode|utf-8", str(error)) else ""
        raise EngineError(f"{subject}: {condense(str(error))}", hint=hint) from None
    except ModuleNotFoundError as error:
        hint = f"pip install 'rocscope[{error.name}]'" if error.name in _EXTRAS else f"pip install {error.name}"
        raise MissingDependencyError(f"{subject}: {error.name} is not installed", hint=hint) from None


def _library_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions of the libraries loaded so far; evaluated only when something was raised.

    RuntimeError is among them because older DuckDB lets those of its Parquet reader through.
    """
    import pyarrow as pa

    found = (getattr(sys.modules.get(module), name, None) for module, name in _ERRORS_OF_LIBRARIES)
    return pa.ArrowException, RuntimeError, *(error for error in found if error is not None)


def condense(message: str) -> str:
    """Return the informative line of a multi-line message.

    Examples
    --------
    >>> condense('Binder Error: Column "scor" not found!\\nCandidate bindings: "score"\\n\\nLINE 1: SELECT ...')
    'Column "scor" not found! Candidate bindings: "score"'
    >>> condense("Input Error: CSV Error on Line: 3\\nOriginal Line: 0,1,7\\nToo many columns\\nPossible fixes:\\n*")
    'line 3: Too many columns'
    """
    facts = re.split(r"\n\s*(?:Possible |LINE \d|The search space )", message)[0]
    lines = [line.strip() for line in facts.splitlines() if line.strip()] or [""]
    if "state machine" in lines[0]:
        return "not a CSV file, or one with line ends of two kinds"
    lines[0] = re.sub(r"^(?:[A-Z]\w*[ -])+Error: ", "", lines[0])
    if at_line := re.match(r"CSV Error on Line: (\d+)", lines[0]):
        line = f"line {at_line[1]}: {lines[-1]}"
    else:
        line = " ".join(lines[:3])
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


Scores = str | Sequence[str] | Mapping[str, str]
NA_WORDS = ("NA", "N/A", "#N/A", "NULL", "null", "None", ".")
"""Words for a missing value in files of text."""
MOST_CLASSES = 20
"""A column of more distinct values is not taken for classes."""
_MOST_LISTED = 24  # columns that a message names: a choice, three lines of a terminal
_MOST_MODELS = 10**6  # more names are a mistake


class HasColumns(Protocol):
    """Anything with named columns."""

    @property
    def origin(self) -> tuple[str, ...]:
        """The files, or another source of the rows."""
        ...

    @property
    def columns(self) -> Sequence[str]:
        """Column names as written, possibly repeated."""
        ...


@dataclass(frozen=True)
class NamedColumns:
    """Files and their columns, before anything else is known."""

    origin: tuple[str, ...]
    columns: Sequence[str]


def named_columns(paths: Sequence[str], layout: FileLayout) -> NamedColumns | None:
    """Return the columns of files if the start of the first file shows them; if not, its reader raises the error."""
    format = layout.format or format_of(Path(paths[0]))
    try:
        if format in ("csv", "tsv"):
            columns = header(_text(paths[0], layout), "\t" if format == "tsv" else layout.delimiters)[0]
        elif format == "parquet" and not partition_keys(paths):
            import pyarrow.parquet as pq

            columns = pq.read_schema(paths[0]).names
        else:
            return None
    except (OSError, EOFError, ValueError, RuntimeError, csv.Error):
        return None
    return NamedColumns(tuple(paths), columns) if columns else None


def first_values(paths: Sequence[str], layout: FileLayout) -> dict[str, set[str]]:
    """Return the values of each column at the start of a text file, as written; empty for other formats.

    Examples
    --------
    >>> first_values(["scores.parquet"], FileLayout())
    {}
    """
    if (format := layout.format or format_of(Path(paths[0]))) not in ("csv", "tsv"):
        return {}
    try:
        start = _text(paths[0], layout)
        fields, delimiter, _ = header(start, "\t" if format == "tsv" else layout.delimiters)
        whole = start[: start.rfind("\n") + 1]
        rows = csv.reader(io.StringIO(whole, newline=""), delimiter=delimiter)
        complete = [row for row in islice(rows, 1, None) if len(row) == len(fields)]
    except (OSError, EOFError, ValueError, csv.Error):
        return {}
    return {field: {row[place].strip() for row in complete} for place, field in enumerate(fields)}


def require_candidate(paths: Sequence[str], layout: FileLayout) -> None:
    """Raise ColumnError if the beginning of a text file shows that no column can be the label: none has few values."""
    values = first_values(paths, layout)
    if values and all(len(found) > MOST_CLASSES for found in values.values()):
        given(NamedColumns(tuple(paths), list(values)), "label", None)


def _text(path: str, layout: FileLayout) -> str:
    start = _start(path)
    decoder = codecs.getincrementaldecoder(layout.encoding or encoding_of(start))()
    return decoder.decode(start).removeprefix("\ufeff")


def _start(path: str) -> bytes:
    """Return the start of a text file; empty for compression that Python does not support."""
    suffix = Path(path).suffix.lower()
    if suffix == ".zst":
        return b""
    with gzip.open(path, "rb") if suffix == ".gz" else Path(path).open("rb") as file:
        return file.read(LOOKED_AT)


def header(start: str, delimiters: str) -> tuple[list[str], str, str]:
    """Return the fields of the first row, the delimiter that yields most of them, and the line ending.

    If quotes enclose whole fields, as they should, delimiters inside them do not count.

    Examples
    --------
    >>> header('y,"a;b;c"', ",;")
    (['y', 'a;b;c'], ',', '\\n')
    """
    rows = {mark: _first_row(start, mark) for mark in delimiters}
    delimiter = max(delimiters, key=lambda mark: (_quotes_whole_fields(rows[mark][1], mark), len(rows[mark][0])))
    fields, line = rows[delimiter]
    return fields, delimiter, "\r\n" if line.endswith("\r\n") else "\n"


def _first_row(start: str, delimiter: str) -> tuple[list[str], str]:
    lines = io.StringIO(start, newline="")
    return next(csv.reader(lines, delimiter=delimiter), []), start[: lines.tell()]


def _quotes_whole_fields(line: str, delimiter: str) -> bool:
    field = rf'("(?:[^"]|"")*"|[^"{re.escape(delimiter)}]*)'
    return re.fullmatch(f"{field}(?:{re.escape(delimiter)}{field})*", line.rstrip("\r\n")) is not None


def require_columns(source: HasColumns, names: Sequence[str], role: str) -> None:
    """Raise ColumnError unless each name matches exactly one column."""
    for name in names:
        found = list(source.columns).count(name)
        if found == 0:
            expected = one_of(name, list(source.columns))
            hint = "fields may be apart by another sign: delimiter= (--delimiter)" if len(source.columns) == 1 else ""
            raise ColumnError(f"{role} of {brief(source.origin)}", expected=expected, got=repr(name), hint=hint)
        if found > 1:
            raise ColumnError(
                f"{role} of {brief(source.origin)}",
                expected=f"one column named {name!r}",
                got=str(found),
                hint="give each column a name of its own",
            )


def given(source: HasColumns, argument: str, value: Any) -> str:
    """Return a required column name; it is not guessed."""
    if value is None:
        expected = f"the name of a column of {brief(source.origin)}: {listing(list(source.columns), _MOST_LISTED)}"
        hint = f"give {argument}= (--{argument.removesuffix('s')})"
        raise ColumnError(argument, expected=expected, got="none", hint=hint)
    return str(value)


def models_of(source: HasColumns, argument: str, scores: Scores | None) -> dict[str, str]:
    """Return the column of each model."""
    if isinstance(scores, Mapping):
        models = {str(model): str(column) for model, column in scores.items()}
    elif scores is None or isinstance(scores, str):
        name = given(source, argument, scores)
        models = {name: name}
    elif not isinstance(scores, Collection) or len(scores) > _MOST_MODELS:
        raise InputError(argument, expected="names of columns", got=type(scores).__name__)
    else:
        models = {str(name): str(name) for name in scores}
        if len(models) < len(scores):
            raise InputError(argument, expected="different columns", got=listing(list(scores)))
    if not models:
        raise InputError(argument, expected="at least one column", got="none")
    return models
