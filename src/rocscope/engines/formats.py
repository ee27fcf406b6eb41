"""Formats of files, and checks of paths and column names before a reader is imported.

A *source* is anything with named columns: files, a stream, a data frame or a database relation. A `FileLayout` contains
the arguments of `rocscope.read` about the format of files. This module reads at most the first megabyte of a file, so
that a wrong path, option or column name raises an error within milliseconds. The module `opening` reads the files.

Order of the file: formats by file name, encodings and signatures of other formats, `FileLayout`, files of a path, their
size, the protocols `Source` and `Stream`, one-line errors, and column names.
"""

import codecs
import csv
import glob
import gzip
import io
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

from rocscope import errors
from rocscope._base.formatting import counted
from rocscope.engines.numerals import NA_WORDS as NA_WORDS

# The command line checks paths and columns with this module before it imports NumPy or Arrow.
if TYPE_CHECKING:
    import pyarrow as pa

FileFormat = Literal["csv", "tsv", "jsonl", "parquet", "arrow", "excel", "duckdb", "sqlite"]
FORMATS: tuple[FileFormat, ...] = get_args(FileFormat)
_DATABASES = ("duckdb", "sqlite")

_SUFFIXES = {
    "csv": (".csv", ".txt"),
    "tsv": (".tsv", ".tab"),
    "jsonl": (".jsonl", ".ndjson", ".json"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".arrows", ".feather", ".ipc"),
    "excel": (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
    "duckdb": (".duckdb",),
    "sqlite": (".sqlite", ".sqlite3"),
}
_FORMAT_OF_SUFFIX = {suffix: format for format, suffixes in _SUFFIXES.items() for suffix in suffixes}


def format_of(path: Path) -> str | None:
    """Return the format that the extension of a file name implies. Return None if the extension is unknown."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in (".gz", ".zst"):
        suffixes.pop()
    return _FORMAT_OF_SUFFIX.get(suffixes[-1]) if suffixes else None


def names_file(text: str) -> bool:
    """Return whether a text is the name of a table by its extension, or of anything that exists."""
    return format_of(Path(text)) is not None or exists(text)


def exists(text: str) -> bool:
    """Return whether a file or folder with this name exists."""
    try:
        return Path(text).exists()
    except (OSError, ValueError):  # a name that is too long, or with a null byte
        return False


# ---- Encodings, and files of other formats ----

LOOKED_AT = 1 << 20
"""Number of bytes read from the start of a file: thousands of rows, in one millisecond."""
LONGEST_LINE = 1 << 21
"""Maximum number of bytes in a line of text; DuckDB has the same limit."""
FALLBACK = "cp1252"
"""Encoding of Excel and most Windows programs in Europe and America, if it is not UTF-8."""
# Bytes without a character in Windows-1252: Python rejects them, and browsers map them to control characters.
_UNDEFINED = b"\x81\x8d\x8f\x90\x9d"

_SAVE_AS = "in Excel choose File > Save As > CSV UTF-8"
# First bytes of files in other formats (as Latin-1), name of the format, and advice.
_SIGNATURES = [
    ("PK\x03\x04", "an Excel workbook or a ZIP archive", f"{_SAVE_AS}, or unpack the archive"),
    ("\xd0\xcf\x11\xe0", "an old Excel workbook", _SAVE_AS),
    ("%PDF", "a PDF file", "export the table as CSV"),
    ("\x1f\x8b", "a file compressed by gzip", "add .gz to the name of the file"),
    ("\x28\xb5\x2f\xfd", "a file compressed by zstd", "add .zst to the name of the file"),
    ("BZh91AY", "a file compressed by bzip2", "unpack the file first"),
    ("\xfd7zXZ", "a file compressed by xz", "unpack the file first"),
    ("7z\xbc\xaf", "a 7z archive", "unpack the archive first"),
    ("PAR1\x15", "a Parquet file", "change the extension of the file to .parquet"),
    ("ARROW1\0\0", "an Arrow file", "change the extension of the file to .arrow"),
    ("FEA1", "a Feather file of version 1", "save the table as Parquet"),
    ("SQLite format 3\0", "an SQLite database", "export the table as CSV"),
]


MARKUP = r"\s*<(!doctype|html|head|body|table|meta|\?xml)"
"""Pattern for the start of a web page. Some programs save web pages as .csv or .xls files."""


def refuse_other_formats(start: bytes, name: str, expected: str) -> None:
    r"""Raise EngineError if a file begins with the signature of another format.

    Examples
    --------
    >>> refuse_other_formats(b"BZh91AY...", "scores.csv", "CSV text")
    Traceback (most recent call last):
    rocscope.errors.EngineError: scores.csv: expected CSV text, got a file compressed by bzip2; unpack the file first
    """
    text = start[:16].decode("latin-1")
    for signature, got, hint in _SIGNATURES:
        if text.startswith(signature):
            raise errors.EngineError(name, expected=expected, got=got, hint=hint)
    if re.match(MARKUP, text.removeprefix("\u00ef\u00bb\u00bf"), re.IGNORECASE):
        raise errors.EngineError(name, expected=expected, got="a web page or XML", hint=_SAVE_AS)


def encoding_of(start: bytes) -> str:
    r"""Guess the encoding of a text from its first bytes.

    A text with a byte order mark, or with zeros in every other byte, is UTF-16. Other text that is not valid UTF-8 is
    treated as Windows-1252 if all of its bytes are defined in Windows-1252.

    Examples
    --------
    >>> encoding_of("größe".encode()), encoding_of("größe".encode("latin-1")), encoding_of("y".encode("utf-16"))
    ('utf-8', 'cp1252', 'utf-16')
    """
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        # The mark of UTF-32 begins with the mark of UTF-16. Such a file is treated as UTF-8, which the decoder rejects.
        return "utf-8" if start.startswith(codecs.BOM_UTF32_LE) else "utf-16"
    # UTF-16 without a mark: in a header of ASCII characters, every other byte is 0.
    first = start[:4].ljust(4, b"x")
    if first[1] == first[3] == 0 != first[0]:
        return "utf-16-le"
    if first[0] == first[2] == 0 != first[1]:
        return "utf-16-be"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return "utf-8" if set(start) & {0, *_UNDEFINED} else FALLBACK
    return "utf-8"


# ---- Layout of a file ----

# Arguments that apply only to some formats.
_TAKEN_BY = {
    "decimal": ("csv", "tsv"),
    "thousands": ("csv", "tsv"),
    "delimiter": ("csv",),
    "encoding": ("csv", "tsv", "jsonl"),
    "table": (*_DATABASES, "excel"),
    **dict.fromkeys(("skip_rows", "skip_footer", "header"), ("csv", "tsv", "excel")),
}
# Thousands separators, with the decimal mark that each of them implies.
_DECIMAL_BESIDE = {",": ".", ".": ",", " ": None, "'": None}
_TAB = ("\\t", "tab")  # ways to type it on a command line


@dataclass(frozen=True)
class FileLayout:
    """Format of a file. The fields are arguments of `rocscope.read`.

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
    thousands: str | None = None
    skip_rows: int | None = None
    skip_footer: int | None = None
    header: bool | None = None

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in FORMATS:
            raise errors.InputError("format", expected=f"one of {', '.join(FORMATS)}", got=repr(self.format))
        if self.decimal not in (None, ".", ","):
            raise errors.InputError("decimal", expected="'.' or ','", got=repr(self.decimal))
        if self.thousands not in (None, *_DECIMAL_BESIDE):
            expected = "a comma, a point, an apostrophe or a space"
            raise errors.InputError("thousands", expected=expected, got=repr(self.thousands))
        if self.thousands is not None and self.decimal is None:
            object.__setattr__(self, "decimal", _DECIMAL_BESIDE[self.thousands])
        elif self.thousands is not None and self.thousands == self.decimal:
            expected = "a character other than the decimal mark"
            raise errors.InputError("thousands", expected=expected, got=repr(self.thousands))
        for name in ("skip_rows", "skip_footer"):
            value = getattr(self, name)
            if not (value is None or (type(value) is int and value >= 0)):
                raise errors.InputError(name, expected="a whole number of rows, at least 0", got=repr(value))
        if self.delimiter is not None and (
            len(self.delimiters) != 1 or self.delimiters in '"\r\n' + self.decimal_mark.rstrip(",")
        ):
            expected = "one character that is neither a quote nor the decimal mark"
            raise errors.InputError("delimiter", expected=expected, got=repr(self.delimiter))
        if self.encoding is not None and not _is_encoding(self.encoding):
            expected = "an encoding that Python supports, such as 'latin-1'"
            raise errors.InputError("encoding", expected=expected, got=repr(self.encoding))

    @property
    def decimal_mark(self) -> str:
        """Decimal mark of numbers."""
        return self.decimal or "."

    @property
    def delimiters(self) -> str:
        """Possible column separators. The separator that gives the most columns is used."""
        if self.delimiter is None:
            return ",;\t|".replace(self.decimal_mark, "")
        return "\t" if self.delimiter in _TAB else self.delimiter

    @property
    def searched_delimiters(self) -> str:
        """Possible column separators in the search for a table. They include the comma: numbers may be quoted."""
        marks = self.delimiters + ("," if self.delimiter is None and self.decimal == "," else "")
        # In a row of values, commas are decimal marks rather than delimiters, so the comma is tried last.
        return marks if self.header is not False else "".join(sorted(marks, key=",".__eq__))

    def refuse(self, kind: str, names: Iterable[str] = ("format", *_TAKEN_BY)) -> None:
        """Raise InputError if one of the named arguments was given. `kind` describes the source in the message."""
        for name in names:
            value = getattr(self, name)
            if value is not None:
                raise errors.InputError(name, expected=f"no value for {kind}", got=repr(value), hint="omit it")

    def require_meaning(self, format: str) -> None:
        """Raise InputError if an argument was given that does not apply to the format."""
        names = [name for name, formats in _TAKEN_BY.items() if format not in formats]
        self.refuse(f"{format} files", names)


DEFAULT_LAYOUT = FileLayout()
"""Layout without arguments: everything is detected from the file."""


def _is_encoding(name: object) -> bool:
    try:
        return isinstance(name, str) and codecs.lookup(name)._is_text_encoding
    except (LookupError, ValueError):  # ValueError: the name contains a null byte
        return False


# ---- Files of a path ----

# Table formats whose folders may contain deleted or replaced files, with the call that reads one snapshot.
_LAKE_READER = {
    "Delta Lake": "deltalake.DeltaTable(folder)",
    "Iceberg": "pyiceberg.table.StaticTable.from_metadata(file)",
    "Hudi": "hudi.HudiTable(folder).read_snapshot()",
}


def find_files(place: str, format: str | None = None) -> list[str]:
    """Return the files that a path, glob or folder refers to, in alphabetical order."""
    try:
        return _find_files(place, Path(place).expanduser(), format)
    except OSError as error:
        raise errors.EngineError(f"{place}: {error.strerror or error}") from None
    except (RuntimeError, ValueError) as error:  # no home folder; a null byte
        raise errors.EngineError(f"{place}: {error}") from None


def _find_files(place: str, path: Path, format: str | None) -> list[str]:
    if path.is_dir():
        files = [file for file in path.rglob("*") if _is_data(file, file.relative_to(path), format)]
        if not files:
            hint = f"names of data files end in {', '.join(_FORMAT_OF_SUFFIX)}"
            raise errors.EngineError(f"{place}: this folder contains no data file", hint=hint)
        return sorted(map(str, files))
    if path.exists():
        if not (path.is_file() or is_pipe(place)):
            hint = f"pass its content on standard input: rocscope … - < {place}"
            raise errors.EngineError(f"{place}: neither a file nor a folder", hint=hint)
        return [str(path)]
    if not glob.has_magic(place):
        hint = "download the file first, because only local files are read" if "://" in place else ""
        raise errors.EngineError(f"{place}: no such file or folder", hint=hint)
    matches = glob.glob(str(path), recursive=True)  # noqa: PTH207 (Path.glob takes no absolute pattern)
    files = [match for match in matches if Path(match).is_file()]
    if not files:
        raise errors.EngineError(f"{place}: no file matches this pattern")
    return sorted(files)


def _is_data(file: Path, path_in_folder: Path, format: str | None) -> bool:
    """Return True if a file in a folder is a data file. Files such as _SUCCESS, .crc and README are not data files."""
    hidden = any(part.startswith((".", "_")) for part in path_in_folder.parts)
    if hidden or not file.is_file():
        return False
    implied = format_of(path_in_folder)
    if format is None:
        # A text file in a folder of data is more often a note than a table.
        return implied is not None and implied not in _DATABASES and not file.name.lower().endswith(".txt")
    return implied in (format, None)


def is_pipe(place: str) -> bool:
    """Return True if a path comes from a shell's `<(command)`, which can be read only once.

    Other pipes are not accepted, because reading would never end if no program writes to the pipe.
    """
    if place != "/dev/stdin" and not place.startswith(("/dev/fd/", "/proc/self/fd/")):
        return False
    try:
        return stat.S_ISFIFO(Path(place).stat().st_mode)
    except OSError:
        return False


def refuse_lakes(paths: Iterable[str]) -> None:
    """Raise EngineError if files belong to a Delta Lake, Iceberg or Hudi table, which may contain deleted rows."""
    for folder in {parent for path in paths for parent in Path(path).absolute().parents}:
        lake = _lake_of(folder)
        if lake is not None:
            got = f"files of a {lake} table, which may contain deleted rows"
            hint = f"read a snapshot of the table: rocscope.read({_LAKE_READER[lake]}, …)"
            raise errors.EngineError(str(folder), expected="files without deleted rows", got=got, hint=hint)


def _lake_of(folder: Path) -> str | None:
    if (folder / "_delta_log").is_dir():
        return "Delta Lake"
    if (folder / ".hoodie").is_dir():
        return "Hudi"
    return "Iceberg" if any((folder / "metadata").glob("*.metadata.json")) else None


def partition_keys(paths: Sequence[str]) -> set[str]:
    """Return the keys, in lower case, of all folders named key=value."""
    folders = {part for path in paths for part in Path(path).parts[:-1]}
    return {folder.split("=")[0].casefold() for folder in folders if "=" in folder}


# ---- Size of files ----

MOST_ROWS = 5_000_000
"""Number of rows above which Parquet files are large."""
MOST_BYTES = 250_000_000
"""Number of bytes above which other files are large."""
_BYTES_PER_ROW = 16  # as text: a label and one score


def is_large(source: Any, *, format: str | None = None) -> bool:
    """Return True if files have more than 5 million rows (Parquet) or more than 250 MB (other formats).

    Examples
    --------
    >>> is_large({"y": [0, 1]})
    False
    """
    if not isinstance(source, str | os.PathLike) or format not in (None, *FORMATS):
        return False
    place = os.fsdecode(source)
    if place == "-" or is_pipe(place):
        return False
    paths = find_files(place, format)
    # `any` stops at the first file that exceeds the limit: a folder may contain thousands of files.
    if (format or format_of(Path(paths[0]))) == "parquet":
        return any(rows > MOST_ROWS for rows in accumulate(_parquet_rows(paths)))
    return any(size > MOST_BYTES for size in accumulate(map(os.path.getsize, paths)))


def rows_of_files(source: Any, *, format: str | None = None) -> int | None:
    """Return the number of rows of Parquet files, or estimate it for other files. Return None for data in memory.

    Examples
    --------
    >>> rows_of_files({"y": [0, 1]}) is None
    True
    """
    if isinstance(source, list | tuple):
        return sum(rows_of_files(file, format=format) or 0 for file in source)
    if not isinstance(source, str | os.PathLike):
        return None
    paths = find_files(os.fsdecode(source), format)
    if (format or format_of(Path(paths[0]))) == "parquet":
        return sum(_parquet_rows(paths))
    return sum(map(os.path.getsize, paths)) // _BYTES_PER_ROW


def _parquet_rows(paths: list[str]) -> Iterator[int]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for path in paths:
        try:
            yield pq.read_metadata(path).num_rows
        except (OSError, pa.ArrowException):
            return  # the reader of the file reports the error


# ---- Sources and streams ----

BATCH_ROWS = 1 << 17
"""Number of rows per batch: few enough for the cache, many enough to hide Python's overhead."""


@dataclass(frozen=True)
class Stream:
    """Columns of a source in batches.

    Attributes
    ----------
    schema : pyarrow.Schema
        Names and types of the columns.
    pieces : iterable of functions without arguments
        Each function yields the tables of one piece of the source, in order. Pieces may be read in parallel.
    rows : int or None
        Number of rows; None if it is not known in advance.
    """

    schema: "pa.Schema"
    pieces: "Iterable[Callable[[], Generator[pa.Table]]]"
    rows: int | None = None


class WrongGuessError(Exception):
    """A row does not have the type that was guessed from the first rows."""


class HasColumns(Protocol):
    """An object with named columns."""

    @property
    def origin(self) -> tuple[str, ...]:
        """Names of the files, or a name for another kind of source."""
        ...

    @property
    def columns(self) -> Sequence[str]:
        """Names of the columns. Names may be repeated."""
        ...


class Source(Protocol):
    """Data with rows and named columns.

    Attributes
    ----------
    origin : tuple of str
        Names of the files, or a name for another kind of source.
    columns : sequence of str
        Names of the columns. Names may be repeated.
    decimal : str
        Decimal mark of numbers if the format stores all values as text, such as CSV. Empty for other formats.
    """

    origin: tuple[str, ...]
    columns: Sequence[str]
    decimal: str

    def fetch(self, names: Sequence[str], where: str | None = None) -> "pa.Table":
        """Return the named columns of all rows that satisfy the SQL condition `where`, in the order of the source."""
        ...

    def stream(self, names: Sequence[str], where: str | None = None) -> Stream:
        """Return the same rows as `fetch` in batches, so that memory never contains all rows."""
        ...


def mentioned(columns: Sequence[str], where: str) -> list[str]:
    """Return all columns that a condition may use: columns whose names occur in its text."""
    text = where.replace('""', '"').casefold()
    return [name for name in dict.fromkeys(columns) if name.casefold() in text]


# ---- Errors ----

_LONGEST = 300  # maximum number of characters of a library's message: a choice
_ENCODING_HINT = "pass the encoding of the file, such as encoding='latin-1' (--encoding)"
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


def no_rows(origin: str, where: str | None = None) -> errors.ShapeError:
    """Return the error for a source without rows, or without rows that satisfy the condition."""
    got = "no rows" if where is None else f"no rows with {where}"
    return errors.ShapeError(origin, expected="at least one row", got=got)


def no_complete_rows(origin: str, rows: int) -> errors.ShapeError:
    """Return the error for a source in which all rows have missing or infinite values."""
    expected, got = "at least one row without missing or infinite values", f"no such row among {counted(rows, 'row')}"
    return errors.ShapeError(origin, expected=expected, got=got)


@contextmanager
def one_line_errors(subject: str) -> Iterator[None]:
    """Convert errors of the operating system and of libraries to an EngineError of one line, with a subject."""
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or condense(str(error))
        raise errors.EngineError(f"{subject}: {reason}") from None
    except UnicodeDecodeError as error:
        expected = f"{error.encoding.upper()} text"
        got = f"byte {error.object[error.start]:#04x} at position {error.start}"
        raise errors.EngineError(subject, expected=expected, got=got, hint=_ENCODING_HINT) from None
    except OverflowError as error:
        from rocscope._base.arrays import WHOLE_OF_64_BITS  # imports NumPy, which this module avoids

        hint = "convert the numbers to floats, if rounding does not matter"
        raise errors.EngineError(subject, expected=WHOLE_OF_64_BITS, got=condense(str(error)), hint=hint) from None
    except _library_errors() as error:
        hint = f"if the text is not UTF-8, {_ENCODING_HINT}" if re.search("(?i)unicode|utf-8", str(error)) else ""
        raise errors.EngineError(f"{subject}: {condense(str(error))}", hint=hint) from None
    except ModuleNotFoundError as error:
        hint = f"run pip install 'rocscope[{error.name}]'" if error.name in _EXTRAS else f"run pip install {error.name}"
        raise errors.MissingDependencyError(f"{subject}: {error.name} is not installed", hint=hint) from None


def _library_errors() -> tuple[type[Exception], ...]:
    """Return the exception classes of the libraries that are already imported.

    Python evaluates an `except` clause only after an exception was raised, so no library is imported for this.
    """
    import pyarrow as pa

    loaded = []
    for module, name in _ERRORS_OF_LIBRARIES:
        error = getattr(sys.modules.get(module), name, None)
        if error is not None:
            loaded.append(error)
    # Older versions of DuckDB do not convert a RuntimeError of their Parquet reader.
    return pa.ArrowException, RuntimeError, *loaded


def condense(message: str) -> str:
    """Return the most informative line of a message with several lines.

    Examples
    --------
    >>> condense('Binder Error: Column "scor" not found!\\nCandidate bindings: "score"\\n\\nLINE 1: SELECT ...')
    'Column "scor" not found! Candidate bindings: "score"'
    >>> condense("Input Error: CSV Error on Line: 3\\nOriginal Line: 0,1,7\\nToo many columns\\nPossible fixes:\\n*")
    'line 3: Too many columns'
    """
    facts = re.split(r"\n\s*(?:Possible |LINE \d|The search space )", message)[0]
    lines = [line.strip() for line in facts.splitlines() if line.strip()] or [""]
    if "state machine" in lines[0]:  # DuckDB's CSV parser gave up on the line ends
        return "not a CSV file, or a CSV file with two kinds of line endings"
    lines[0] = re.sub(r"^(?:[A-Z]\w*[ -])+Error: ", "", lines[0])
    at_line = re.match(r"CSV Error on Line: (\d+)", lines[0])
    line = " ".join(lines[:3]) if at_line is None else f"line {at_line[1]}: {lines[-1]}"
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


# ---- Column names ----

Scores = str | Sequence[str] | Mapping[str, str]
MOST_CLASSES = 20
"""Number of distinct values above which a column does not contain classes."""
_MOST_LISTED = 24  # number of columns in a message: a choice, three lines of a terminal
_MOST_MODELS = 10**6  # a larger number of names is a mistake


@dataclass(frozen=True)
class NamedColumns:
    """Names of files, and the column names at the start of the first file."""

    origin: tuple[str, ...]
    columns: Sequence[str]


def named_columns(paths: Sequence[str], layout: FileLayout) -> NamedColumns | None:
    """Return the column names at the start of the first file. Return None if they cannot be read this way."""
    format = layout.format or format_of(Path(paths[0]))
    try:
        if format in ("csv", "tsv"):
            columns = header(_start_of_text(paths[0], layout, format), _delimiters(layout, format))[0]
        elif format == "parquet" and not partition_keys(paths):
            import pyarrow.parquet as pq

            # Four times as fast as `read_schema` if there are very many columns.
            columns = pq.read_metadata(paths[0]).schema.to_arrow_schema().names
        else:
            return None
    except (OSError, EOFError, ValueError, RuntimeError, csv.Error, zlib.error):
        return None
    return NamedColumns(tuple(paths), columns) if columns else None


def first_values(paths: Sequence[str], layout: FileLayout) -> dict[str, set[str]]:
    """Return the values of each column at the start of a text file. Return an empty dictionary for other formats.

    Examples
    --------
    >>> first_values(["scores.parquet"], FileLayout())
    {}
    """
    format = layout.format or format_of(Path(paths[0]))
    if format not in ("csv", "tsv"):
        return {}
    try:
        start = _start_of_text(paths[0], layout, format)
        fields, delimiter, _ = header(start, _delimiters(layout, format))
        # The last line may be incomplete.
        complete_lines = start[: start.rfind("\n") + 1]
        rows = csv.reader(io.StringIO(complete_lines, newline=""), delimiter=delimiter)
        complete_rows = [row for row in islice(rows, 1, None) if len(row) == len(fields)]
    except (OSError, EOFError, ValueError, csv.Error, zlib.error):
        return {}
    return {field: {row[place].strip() for row in complete_rows} for place, field in enumerate(fields)}


def require_candidate(paths: Sequence[str], layout: FileLayout) -> None:
    """Raise ColumnError if no column of a text file can be the label, because all have many distinct values."""
    values = first_values(paths, layout)
    if values and all(len(distinct) > MOST_CLASSES for distinct in values.values()):
        require_name(NamedColumns(tuple(paths), list(values)), "label", None)


def _delimiters(layout: FileLayout, format: str) -> str:
    return "\t" if format == "tsv" else layout.delimiters


def _start_of_text(path: str, layout: FileLayout, format: str) -> str:
    """Return the decoded start of the table in a text file, with a line of column names.

    Return an empty text for zstd, which Python cannot decompress.
    """
    from rocscope.engines.table_bounds import bounds_of

    suffix = Path(path).suffix.lower()
    if suffix == ".zst":
        return ""
    with gzip.open(path, "rb") if suffix == ".gz" else Path(path).open("rb") as file:
        start = start_of(file)
    # An incremental decoder accepts an incomplete character at the end.
    decoder = codecs.getincrementaldecoder(layout.encoding or encoding_of(start))()
    text = decoder.decode(start).removeprefix("\ufeff")
    delimiters = "\t" if format == "tsv" else layout.searched_delimiters
    above = bounds_of(text, delimiters).above if layout.skip_rows is None else layout.skip_rows
    lines = text.split("\n", above)
    table = lines[above] if len(lines) > above else ""
    return f"{generated_names(table, delimiters)[0]}\n{table}" if layout.header is False and table else table


def start_of(file: Any) -> bytes:
    """Return the first bytes of a text file, including the complete first line unless it is very long."""
    start = file.read(LOOKED_AT)
    return start if b"\n" in start else start + file.read(LONGEST_LINE - LOOKED_AT)


_FIRST_ROWS = 100  # read to detect marks in numbers, in less than a millisecond


def first_rows(start: str, delimiter: str, width: int) -> list[list[str]]:
    """Return the complete rows of a text below its first row.

    Examples
    --------
    >>> first_rows("y,p\\n1,0.5\\n0,0.2", ",", 2)
    [['1', '0.5']]
    """
    complete_lines = start[: start.rfind("\n") + 1]
    rows = csv.reader(io.StringIO(complete_lines, newline=""), delimiter=delimiter)
    try:
        return [row for row in islice(rows, 1, _FIRST_ROWS) if len(row) == width]
    except csv.Error:
        return []


def header(start: str, delimiters: str) -> tuple[list[str], str, str]:
    """Return the fields of the first row, the delimiter, and the line ending.

    The delimiter is the one that gives the most fields. Delimiters inside quotes are not counted.

    Examples
    --------
    >>> header('y,"a;b;c"', ",;")
    (['y', 'a;b;c'], ',', '\\n')
    """
    best = (False, 0)
    fields, delimiter, ending = [], delimiters[0], "\n"
    for mark in delimiters:
        lines = io.StringIO(start, newline="")
        try:
            row = next(csv.reader(lines, delimiter=mark), [])
        except csv.Error:
            # A long header without this delimiter would be one field, above Python's limit for a field.
            if mark == delimiters[-1] and not fields:
                raise
            continue
        line = start[: lines.tell()]  # a row may span several lines, if names contain line breaks
        merit = (_quotes_enclose_fields(line, mark), len(row))
        if merit > best:
            best = merit
            fields, delimiter, ending = row, mark, "\r\n" if line.endswith("\r\n") else "\n"
    return fields, delimiter, ending


def generated_names(start: str, delimiters: str) -> tuple[str, str]:
    """Return a line of column names for a text whose first row contains data, and the delimiter of the text.

    Examples
    --------
    >>> generated_names("1;0,5\\n0;0,2", ";\\t|,")
    ('column1;column2', ';')
    """
    fields, delimiter, _ = header(start, delimiters)
    return delimiter.join(f"column{place}" for place in range(1, len(fields) + 1)), delimiter


def _quotes_enclose_fields(line: str, delimiter: str) -> bool:
    mark = re.escape(delimiter)
    field = rf'("(?:[^"]|"")*"|[^"{mark}]*)'
    return re.fullmatch(f"{field}(?:{mark}{field})*", line.rstrip("\r\n")) is not None


def require_columns(source: HasColumns, names: Sequence[str], role: str) -> None:
    """Raise ColumnError for a name that no column has, or that several columns have."""
    for name in names:
        matches = list(source.columns).count(name)
        if matches == 1:
            continue
        subject = f"{role} of {errors.brief(source.origin)}"
        if matches > 1:
            expected, got = f"one column named {name!r}", f"{matches} columns"
            raise errors.ColumnError(subject, expected=expected, got=got, hint="give each column a different name")
        hint = ""
        if len(source.columns) == 1:
            hint = "if the file has another column separator, pass delimiter= (--delimiter)"
        parts = name.split(",") if isinstance(name, str) else []
        if len(parts) > 1 and all(part in source.columns for part in parts):
            hint = f"name each column: scores={parts!r} ({' '.join(f'--score {part}' for part in parts)})"
        expected = errors.one_of(name, list(source.columns))
        raise errors.ColumnError(subject, expected=expected, got=repr(name), hint=hint)


def require_name(source: HasColumns, argument: str, name: Any) -> str:
    """Return the name of a required column. Raise ColumnError if it is None."""
    if name is None:
        columns = errors.listing(list(source.columns), _MOST_LISTED)
        expected = f"the name of a column of {errors.brief(source.origin)} ({columns})"
        hint = f"pass {argument}= (--{argument.removesuffix('s')})"
        raise errors.ColumnError(argument, expected=expected, got="no name", hint=hint)
    return str(name)


def models_of(source: HasColumns, argument: str, scores: Scores | None) -> dict[str, str]:
    """Return a mapping from model name to column name."""
    if isinstance(scores, Mapping):
        models = {str(model): str(column) for model, column in scores.items()}
    elif scores is None or isinstance(scores, str):
        name = require_name(source, argument, scores)
        models = {name: name}
    elif not isinstance(scores, Collection) or len(scores) > _MOST_MODELS:
        raise errors.InputError(argument, expected="names of columns", got=type(scores).__name__)
    else:
        models = {str(name): str(name) for name in scores}
        if len(models) < len(scores):
            got = errors.listing(list(scores))
            raise errors.InputError(argument, expected="columns with different names", got=got)
    if not models:
        raise errors.InputError(argument, expected="at least one column", got="no column")
    return models
