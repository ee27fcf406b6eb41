"""Open files, streams, data frames and relations as a `Source`. Whole numbers in CSV and JSON are not rounded.

`open_source` finds the files of a path, checks that their content matches their names, converts text to UTF-8, and
opens the files. This module reads CSV and JSON. The module `tables` reads other formats.

Text has no types, so the type of a column is inferred from all its values. With a type from a sample of whole numbers,
DuckDB would round a later 0.5. A CSV column contains whole numbers, numbers or text. Values such as yes or 2024-05-01
are text, not booleans or dates. DuckDB reads large whole numbers as DOUBLE, which rounds them. A DOUBLE column with
numbers of at least 2^53 is therefore read again as text. If all its numbers are whole, it becomes an integer column. If
only some numbers are whole, float64 must represent these numbers exactly.

Order of the file: any source, files, temporary copies, CSV, JSON, and relations with inferred types.
"""

import codecs
import csv
import glob
import io
import os
import re
import secrets
import shutil
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np
import pyarrow as pa

from rocscope._base.arrays import FIRST_ROUNDED, WHOLE_OF_64_BITS
from rocscope._base.atomic_write import temporary_folder, unfinished
from rocscope.engines import formats, numerals, table_bounds, tables
from rocscope.errors import EngineError, InputError, brief, warn

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

_TEXT_FORMATS = {"csv": "CSV text", "tsv": "TSV text", "jsonl": "JSON text"}
_PARQUET = b"PAR1"  # the first and the last bytes of every Parquet file
# Name and first bytes of each compression, by suffix.
_COMPRESSION = {".gz": ("gzip", b"\x1f\x8b"), ".zst": ("zstd", b"\x28\xb5\x2f\xfd")}
_COPIED_AT_ONCE = 1 << 20  # bytes
_END = 1 << 14  # bytes at the end of a file that are searched for totals: tens of rows, or more
_LEAST_FREE = 1 << 28  # bytes of disk space that a stream leaves for other programs: a choice


@contextmanager
def open_source(source: Any, layout: formats.FileLayout = formats.DEFAULT_LAYOUT) -> Iterator[formats.Source]:
    """Open any source that `read` accepts. An open Source is returned unchanged."""
    with ExitStack() as stack:
        name = str(getattr(source, "name", type(source).__name__))
        if isinstance(source, str | os.PathLike) and formats.is_pipe(os.fspath(source)):
            name = os.fspath(source)
            source = stack.enter_context(Path(name).open("rb"))
        elif isinstance(source, str) and source == "-":
            if sys.stdin is None:
                raise EngineError("<stdin>", expected="an open standard input", got="a closed standard input")
            source, name = sys.stdin.buffer, "<stdin>"
        if isinstance(source, str | os.PathLike | list | tuple):
            places = cast(Sequence[Any], source) if isinstance(source, list | tuple) else [source]
            paths: list[str] = []
            for place in places:
                if not isinstance(place, str | bytes | os.PathLike):
                    raise InputError("source", expected="paths of files", got=f"a value of type {type(place).__name__}")
                paths += formats.find_files(os.fsdecode(place), layout.format)
            formats.refuse_lakes(paths)
            yield stack.enter_context(_open_files(paths, tuple(paths), layout))
        elif callable(getattr(source, "read", None)):
            if layout.format is None:
                hint = f"pass format= with one of {', '.join(formats.FORMATS)}"
                raise InputError(name, expected="the format of the stream", got="no format", hint=hint)
            path = stack.enter_context(_spooled(source, name, layout.format))
            yield stack.enter_context(_open_files([path], (name,), layout))
        elif isinstance(source, tables.ArrowColumns):
            yield source
        else:
            layout.refuse("an object that is not a file")
            yield tables.open_mapping(source) if isinstance(source, Mapping) else tables.open_frame(source)


@contextmanager
def _open_files(paths: list[str], origin: tuple[str, ...], layout: formats.FileLayout) -> Iterator[formats.Source]:
    """Open files of one format. `origin` contains the names of the files for messages."""
    if not paths:
        raise EngineError("files", expected="at least one file", got="no file")
    starts: list[bytes] = []
    identities: list[tuple[int, ...]] = []
    for path, name in zip(paths, origin, strict=True):
        with formats.one_line_errors(name), Path(path).open("rb") as file:
            identities.append(_identity(path))
            starts.append(file.read(16))
        if not starts[-1]:
            raise EngineError(f"{name}: the file is empty")
    format = layout.format or _common_format(paths)
    layout.require_meaning(format)
    for path, name, start in zip(paths, origin, starts, strict=True):
        if format == "parquet":
            _require_parquet(path, name, start)
        elif format in _TEXT_FORMATS:
            _require_text(path, name, start, _TEXT_FORMATS[format])
    read_from = paths
    with ExitStack() as stack:
        if format in _TEXT_FORMATS:
            read_from = stack.enter_context(_in_utf8(paths, origin, layout.encoding, format))
        if format in ("csv", "tsv"):
            read_from, layout = stack.enter_context(_tables_alone(read_from, origin, layout, format))
        yield _OPENERS[format](read_from, origin, layout)
    for name, path, before in zip(origin, paths, identities, strict=True):
        with formats.one_line_errors(name):
            if _identity(path) != before:
                hint = "read it again when it is complete, or read a copy"
                raise EngineError(
                    name, expected="a file that does not change while it is read", got="a file that changed", hint=hint
                )


def _identity(path: str) -> tuple[int, ...]:
    """Return size, time and inode of a file. At least one of them changes if the file is modified or replaced."""
    facts = Path(path).stat()
    return facts.st_size, facts.st_mtime_ns, facts.st_ino


def _common_format(paths: Sequence[str]) -> str:
    by_format: dict[str | None, str] = {}
    for path in paths:
        by_format.setdefault(formats.format_of(Path(path)), path)
    if None in by_format:
        hint = f"pass format= with one of {', '.join(formats.FORMATS)}"
        raise EngineError(f"{by_format[None]}: the name of the file does not end in a known extension", hint=hint)
    if len(by_format) > 1:
        got = " and ".join(f"{format} ({path})" for format, path in by_format.items())
        raise EngineError("files", expected="files of one format", got=got)
    return str(next(iter(by_format)))


def _require_parquet(path: str, name: str, start: bytes) -> None:
    """Raise EngineError if a file does not begin and end with the bytes of a Parquet file."""
    if not start.startswith(_PARQUET):
        formats.refuse_other_formats(start, name, "a Parquet file")
        hint = "if the file is text, change its extension to .csv"
        raise EngineError(name, expected="a Parquet file", got="another kind of file", hint=hint)
    with formats.one_line_errors(name), Path(path).open("rb") as file:
        file.seek(max(len(_PARQUET), Path(path).stat().st_size - len(_PARQUET)))
        end = file.read()
    if end != _PARQUET:
        got = "an incomplete Parquet file"
        raise EngineError(name, expected="a complete Parquet file", got=got, hint="copy or write the file again")


def _require_text(path: str, name: str, start: bytes, expected: str) -> None:
    """Raise EngineError if the compression of a file does not match its name, or if the file has another format."""
    suffix = Path(path).suffix.lower()
    if suffix not in _COMPRESSION:
        formats.refuse_other_formats(start, name, expected)
        return
    compression, signature = _COMPRESSION[suffix]
    if not start.startswith(signature):
        hint = f"remove {suffix} from the name of the file"
        got = "another kind of file"
        raise EngineError(name, expected=f"a file compressed by {compression}", got=got, hint=hint)


# ---- Temporary copies ----


@contextmanager
def _spooled(stream: BinaryIO, name: str, format: str) -> Iterator[str]:
    """Copy a stream to a temporary file, yield the path of the file, and remove the file at the end.

    A stream may be endless. An error is raised if text has no line ends, or if little disk space remains for other
    programs.
    """
    with _folder() as folder:
        head = stream.read(4)
        if not isinstance(head, bytes):
            expected, got = "a file opened in binary mode", "a file opened in text mode"
            raise EngineError(name, expected=expected, got=got, hint="open the file with mode 'rb'")
        path = folder / "stream"
        for suffix, (_, signature) in _COMPRESSION.items():
            if head.startswith(signature):
                path = path.with_suffix(suffix)
        with formats.one_line_errors(name), path.open("wb") as file:
            file.write(head)
            # JSON may be one array in one line, so commas also prove that it is text.
            mark = {"csv": b"\n", "tsv": b"\n", "jsonl": b","}.get(format, b"") if not path.suffix else b""
            since_mark = 0
            while data := stream.read(_COPIED_AT_ONCE):
                since_mark = 0 if mark in data else since_mark + len(data)
                if since_mark >= formats.LONGEST_LINE:
                    expected, missing = ("text in lines", "a line end") if mark == b"\n" else ("JSON", "a comma")
                    raise EngineError(name, expected=expected, got=f"{since_mark:,} bytes without {missing}")
                if shutil.disk_usage(folder).free < _LEAST_FREE + len(data):
                    subject = f"temporary file in {folder.parent}: no disk space left after {file.tell():,} bytes"
                    raise EngineError(subject, hint="set TMPDIR to a folder with more space")
                file.write(data)
        yield str(path)


@contextmanager
def _in_utf8(paths: list[str], origin: Sequence[str], encoding: str | None, format: str) -> Iterator[list[str]]:
    """Yield paths of files in UTF-8. Files in other encodings are copied, and the copies are removed at the end."""
    encodings: list[str] = []
    for path, name in zip(paths, origin, strict=True):
        encodings.append(encoding or _guessed_encoding(path, name, format))
    # For other spellings, such as UTF8, the file is copied unnecessarily.
    if set(encodings) <= {"utf-8"}:
        yield paths
        return
    # Files in UTF-8 are copied too: copies are not compressed, and all files of a query are read with the same options.
    with _folder() as folder:
        copies = [folder / str(number) for number in range(len(paths))]
        for path, name, copy, its_encoding in zip(paths, origin, copies, encodings, strict=True):
            with (
                formats.one_line_errors(name),
                pa.input_stream(path, compression="detect") as source,
                copy.open("wb") as file,
            ):
                decoder = codecs.getincrementaldecoder(its_encoding)()  # a chunk may end within a character
                while data := source.read(_COPIED_AT_ONCE):
                    file.write(decoder.decode(data).encode())
                file.write(decoder.decode(b"", final=True).encode())
        yield [str(copy) for copy in copies]


@contextmanager
def _tables_alone(
    paths: list[str], origin: Sequence[str], layout: formats.FileLayout, format: str
) -> Iterator[tuple[list[str], formats.FileLayout]]:
    """Yield paths of text files that contain only a table, and their layout.

    Files with rows above or below the table are copied without these rows.
    """
    delimiters = "\t" if format == "tsv" else layout.searched_delimiters
    cut_from: list[int] = []
    for path, name in zip(paths, origin, strict=True):
        start = _start(path, name)
        bounds = table_bounds.bounds_of(start, delimiters)
        above = bounds.above if layout.skip_rows is None else layout.skip_rows
        if layout.skip_rows is None and above:
            layout = replace(layout, delimiter=bounds.delimiter if format == "csv" else None)
            if not re.match("sep=", start, re.IGNORECASE):
                warn(f"{name}: skipped {above} {'line' if above == 1 else 'lines'} above the column names")
        if layout.header is None and layout.skip_rows is None:
            for delimiter in bounds.delimiter or delimiters:
                table_bounds.require_names(table_bounds.rows_of(start, delimiter)[0][above:], name)
        if layout.skip_footer is None and bounds.rows:
            _refuse_totals(path, name, delimiters, bounds)
        cut_from.append(above)
    if not any(cut_from) and not layout.skip_footer and layout.header is not False:
        yield paths, layout
        return
    with _folder() as folder:
        copies = [folder / str(number) for number in range(len(paths))]
        for path, name, copy, above in zip(paths, origin, copies, cut_from, strict=True):
            names = b""
            if layout.header is False:
                table = "\n".join(_start(path, name).split("\n")[above:])
                line, mark = formats.generated_names(table, delimiters)
                layout = replace(layout, delimiter=mark if format == "csv" else None)
                names = f"{line}\n".encode()
            _copy_table(path, name, copy, above, layout.skip_footer or 0, names)
        yield [str(copy) for copy in copies], layout


def _copy_table(path: str, name: str, copy: Path, above: int, below: int, names: bytes) -> None:
    """Copy a text without empty lines and without the lines above and below its table. `names` is a line of names."""
    held: deque[bytes] = deque()
    with formats.one_line_errors(name), pa.input_stream(path, compression="detect") as source, copy.open("wb") as file:
        file.write(names)
        for number, line in enumerate(io.BufferedReader(cast(Any, source))):
            text = line.removeprefix(codecs.BOM_UTF8) if number == 0 else line
            if number >= above and text.strip():
                held.append(text)
            if len(held) > below:
                file.write(held.popleft())


def _refuse_totals(path: str, name: str, delimiters: str, bounds: table_bounds.TableBounds) -> None:
    """Raise EngineError if the last row of an uncompressed file is a row of totals or not part of the table."""
    if Path(path).suffix.lower() in _COMPRESSION:
        return
    with Path(path).open("rb") as file:
        file.seek(max(0, Path(path).stat().st_size - _END))
        end = file.read().decode(errors="replace")
    # The first line may be incomplete.
    lines = end.splitlines()[1:]
    delimiter = bounds.delimiter or formats.header(_start(path, name), delimiters)[1]
    with suppress(csv.Error):
        rows = list(csv.reader(lines, delimiter=delimiter))
        table_bounds.refuse_totals(rows, len(bounds.rows[0]), name, delimiter)


def _guessed_encoding(path: str, name: str, format: str) -> str:
    """Return the encoding of a text file. Warn if the encoding is uncertain."""
    with formats.one_line_errors(name), pa.input_stream(path, compression="detect") as stream:
        start = stream.read(formats.LOOKED_AT)
    encoding = formats.encoding_of(start)
    if format == "jsonl" and start.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"  # DuckDB would take the mark for a part of the first value
    if encoding == formats.FALLBACK:
        silence = f"to silence this warning, pass encoding={encoding!r} (--encoding)"
        warn(f"{name}: the text is not UTF-8 and is read as Windows-1252; {silence}")
    return encoding


@contextmanager
def _folder() -> Iterator[Path]:
    """Create and yield a private temporary folder. It is removed even if the process is terminated."""
    with unfinished(Path(temporary_folder(), f"rocscope-{secrets.token_hex(8)}")) as folder:
        try:
            folder.mkdir(mode=0o700)
        except OSError as error:
            hint = "set TMPDIR to a folder that can be written to"
            subject = f"temporary folder: {error.strerror or error}"
            raise EngineError(subject, hint=hint) from None
        yield folder


# ---- CSV ----

# Types of CSV columns; each type can represent the values of the previous types.
_CSV_TYPES = ("BIGINT", "DOUBLE", "VARCHAR")
_SAMPLE = 10_000  # number of rows from which types are guessed; a wrong guess is detected and costs a second pass
_DIALECT = "quote = '\"', escape = '\"', header = true, skip = 0, comment = ''"


def open_csv(paths: list[str], origin: tuple[str, ...], layout: formats.FileLayout) -> formats.Source:
    """Open CSV files with the same column names. The delimiter is the one that gives the most columns."""
    columns, delimiter, line_end, first_rows = _header(paths[0], origin[0], layout.delimiters)
    if len(columns) == 1 and layout.delimiter is None:
        # Decimal commas may be quoted in a file with commas between fields.
        columns, delimiter, line_end, first_rows = _header(paths[0], origin[0], ",")
    for path, name in zip(paths, origin, strict=True):
        columns_here = _header(path, name, delimiter)[0]
        if columns_here != columns:
            expected = f"the columns {columns} of {origin[0]}"
            raise EngineError(name, expected=expected, got=str(columns_here))
    connection = tables.connect(paths)
    kinds, mark = _CSV_TYPES, layout.decimal_mark
    if delimiter == mark:
        # DuckDB does not allow a comma for both, so numbers that are not whole are read from text.
        kinds, mark = ("BIGINT", "VARCHAR"), "."
    dialect = f"delim = {tables.text(delimiter)}, decimal_separator = {tables.text(mark)}, {_DIALECT}"
    dialect += f", {_file_options(paths)}"
    if line_end == "\r\n" and any("\n" in column for column in columns):
        # DuckDB would treat the line break in a column name as the end of a row.
        dialect += ", new_line = '\\r\\n'"

    def types_by_sample(sample: int) -> dict[str, str]:
        """Return a type for each column that fits all files, inferred from `sample` rows (-1 for all rows)."""
        by_file = []
        for path, name in zip(paths, origin, strict=True):
            by_file.append(_csv_types(connection, path, name, dialect, kinds, len(columns), sample))
        widest: dict[str, str] = {}
        for column in by_file[0]:
            widest[column] = max((types[column] for types in by_file), key=_CSV_TYPES.index)
        return widest

    def query(declared: str) -> str:
        return f"FROM read_csv({tables.file_list(paths)}, {declared}, {dialect})"

    guess = types_by_sample(_SAMPLE)
    types = partial(types_by_sample, -1)
    values = {column: [row[place] for row in first_rows] for place, column in enumerate(guess)}
    written = WrittenNumbers(values, layout, delimiter)
    with formats.one_line_errors(origin[0]):
        return TextRelation(origin, connection, query, guess, types=types, columns=columns, written=written)


def open_tsv(paths: list[str], origin: tuple[str, ...], layout: formats.FileLayout) -> formats.Source:
    """Open tab-separated files."""
    return open_csv(paths, origin, replace(layout, delimiter="\t"))


def _start(path: str, name: str) -> str:
    """Return the start of a text in UTF-8."""
    with formats.one_line_errors(name), pa.input_stream(path, compression="detect") as stream:
        return codecs.getincrementaldecoder("utf-8-sig")().decode(formats.start_of(stream))


def _header(path: str, name: str, delimiters: str) -> tuple[list[str], str, str, list[list[str]]]:
    """Return the fields of the first row, the delimiter, the line ending, and the next rows."""
    start = _start(path, name)
    try:
        fields, delimiter, line_end = formats.header(start, delimiters)
    except csv.Error as error:
        raise EngineError(f"{name}: the column names in the first row cannot be read: {error}") from None
    if not fields:
        raise EngineError(name, expected="column names in the first row", got="an empty row")
    return fields, delimiter, line_end, formats.first_rows(start, delimiter, len(fields))


def _csv_types(
    connection: "DuckDBPyConnection", path: str, name: str, dialect: str, kinds: Sequence[str], width: int, sample: int
) -> dict[str, str]:
    """Return the type that DuckDB infers for each column from `sample` rows (-1 for all rows)."""
    import duckdb

    candidates = ", ".join(map(tables.text, kinds))
    options = f"{dialect}, auto_type_candidates = [{candidates}], sample_size = {sample}"
    file = tables.text(glob.escape(path))
    with formats.one_line_errors(name):
        try:
            rows = connection.sql(f"SELECT Columns FROM sniff_csv({file}, {options})").fetchall()
        except duckdb.Error:
            # Reading every field as text fails with the line and the reason, which type inference does not report.
            as_text = _declared(dict.fromkeys(map(str, range(width)), "VARCHAR"))
            connection.sql(f"SELECT count(*) FROM read_csv([{file}], {as_text}, {dialect})").fetchall()
            raise
    return {column["name"]: column["type"] for column in rows[0][0]}


# ---- JSON ----

_WHOLE = ("BIGINT", "UBIGINT", "HUGEINT")


def open_json(paths: list[str], origin: tuple[str, ...], _layout: formats.FileLayout) -> formats.Source:
    """Open JSON files with one object per line, or with one array of objects."""
    connection = tables.connect(paths)
    schemas: list[dict[str, str]] = []
    for path, name in zip(paths, origin, strict=True):
        with formats.one_line_errors(name):
            options = f"sample_size = -1, {_file_options([path])}"
            relation = connection.sql(f"FROM read_json({tables.file_list([path])}, {options})")
            schemas.append(dict(zip(relation.columns, map(str, relation.types), strict=True)))
    types, conflicts = _merged(schemas, origin)
    files, options = tables.file_list(paths), _file_options(paths)

    def query(declared: str) -> str:
        return f"FROM read_json({files}, format = 'auto', {declared}, {options})"

    with formats.one_line_errors(origin[0]):
        return TextRelation(origin, connection, query, types, conflicts=conflicts)


def _merged(schemas: Sequence[dict[str, str]], origin: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return a type for each column that fits all files, and the reasons why some columns have no such type."""
    types: dict[str, str] = {}
    conflicts: dict[str, str] = {}
    for column in dict.fromkeys(chain.from_iterable(schemas)):
        lacking = [name for name, schema in zip(origin, schemas, strict=True) if column not in schema]
        kinds = {schema[column] for schema in schemas if column in schema}
        if lacking:
            conflicts[column] = f"{lacking[0]}: column {column!r} is missing, but other files have it"
        elif len(kinds) > 1 and not kinds <= {*_WHOLE, "DOUBLE"}:
            conflicts[column] = f"column {column!r}: expected one type in all files, got {' and '.join(sorted(kinds))}"
        if len(kinds) == 1:
            types[column] = kinds.pop()
        elif "DOUBLE" in kinds:
            types[column] = "DOUBLE"
        else:
            types[column] = "HUGEINT" if kinds <= set(_WHOLE) else "JSON"
    return types, conflicts


# ---- Relations of text ----


def _file_options(paths: Sequence[str]) -> str:
    """Return SQL options with which DuckDB reads exactly the named files, whatever characters their names have."""
    # Folders with the name of a column must not replace its values.
    options = "hive_partitioning = false"
    # DuckDB ignores the suffix of a compression if the name contains a question mark.
    kinds = {_COMPRESSION.get(Path(path).suffix.lower(), ("uncompressed",))[0] for path in paths}
    return f"{options}, compression = {tables.text(kinds.pop())}" if len(kinds) == 1 else options


def _declared(types: Mapping[str, str]) -> str:
    """Return the SQL arguments that declare the type of each column."""
    columns = ", ".join(f"{tables.text(name)}: {tables.text(kind)}" for name, kind in types.items())
    return f"auto_detect = false, columns = {{{columns}}}"


class GuessedRelation(tables.Relation):
    """Columns with types guessed from the first rows. WrongGuessError is raised if a later row does not match.

    A row does not match if a whole number has an unusual notation, or if float64 would round it.
    """

    def stream(self, names: Sequence[str], where: str | None = None) -> formats.Stream:
        """Return the named columns in batches."""
        unchecked = super().stream(names, where)

        def checked(piece: Callable[[], Generator[pa.Table]]) -> Generator[pa.Table]:
            try:
                with closing(piece()) as batches:
                    for table in batches:
                        if any(map(_has_large, table.columns)):
                            raise formats.WrongGuessError
                        yield table
            except EngineError:
                raise formats.WrongGuessError from None

        return replace(unchecked, pieces=[partial(checked, piece) for piece in unchecked.pieces])


@dataclass(frozen=True)
class WrittenNumbers:
    """Notation of the numbers in a CSV file, inferred from its first rows and from the arguments of `read`.

    Attributes
    ----------
    first_values : mapping from column name to list of str
        Values in the first rows.
    layout : FileLayout
        Arguments of `read`.
    delimiter : str
        Column separator.
    """

    first_values: Mapping[str, Sequence[str]]
    layout: formats.FileLayout
    delimiter: str

    @property
    def plain(self) -> str:
        """Decimal mark of the numbers that DuckDB reads. Empty if DuckDB reads only whole numbers."""
        return "" if self.delimiter == self.layout.decimal_mark else self.layout.decimal_mark

    def is_open(self, column: str, kind: str) -> bool:
        """Return True if all values of a column must be read to find its decimal mark and thousands separator."""
        values = self.first_values[column]
        if kind == "VARCHAR":
            return numerals.may_be_numerals(values, self.layout.decimal)
        return kind == "DOUBLE" and self.layout.decimal is None and not numerals.settles_point(values)


class TextRelation(tables.Relation):
    """A relation with types that are inferred from text.

    Parameters
    ----------
    origin, connection, columns, conflicts : see `Relation`
    query : function
        Function from SQL arguments that declare types to the query.
    guess : mapping from column name to type
        Types inferred from the first rows.
    types : function, optional
        Function that returns the types inferred from all rows. It is called when they are needed. By default, the
        guessed types are used.
    written : WrittenNumbers, optional
        Notation of the numbers in CSV files.
    """

    def __init__(
        self,
        origin: tuple[str, ...],
        connection: "DuckDBPyConnection",
        query: Callable[[str], str],
        guess: Mapping[str, str],
        *,
        types: Callable[[], Mapping[str, str]] | None = None,
        columns: Sequence[str] | None = None,
        conflicts: Mapping[str, str] | None = None,
        written: WrittenNumbers | None = None,
    ) -> None:
        self._run = connection.sql
        self._query = query
        self._guess = guess
        self._types = dict(guess)
        self._types_of_all_rows = types
        self._are_inferred = types is None
        self._decimal_columns: set[str] = set()  # columns known to contain no hexadecimal numbers
        self._written = written
        self.delimiter = written.delimiter if written else ""
        self._readings: dict[str, numerals.Reading] = {}
        relation = self._declare(guess)
        decimal = written.layout.decimal_mark if written else ""
        super().__init__(origin, relation, columns=columns, conflicts=conflicts, decimal=decimal, connection=connection)

    def guessed(self, names: Sequence[str]) -> GuessedRelation | None:
        """Return the named columns with guessed types. Return None unless all guessed types are numeric."""
        if self._types_of_all_rows is None or len(self._sql_name) < len(self.columns):
            return None
        kinds = {name: self._guess[self._sql_name[name]] for name in names if name in self._sql_name}
        if not set(kinds.values()) <= {"BIGINT", "DOUBLE"}:
            return None
        if self._written and any(self._written.is_open(self._sql_name[name], kind) for name, kind in kinds.items()):
            return None
        types = {name: "VARCHAR" if kind == "BIGINT" else kind for name, kind in self._guess.items()}
        projected: list[str] = []
        for name, kind in kinds.items():
            value = column = tables.identifier(self._sql_name[name])
            if kind == "BIGINT":
                # Whole numbers are read as text; a number in a notation that DuckDB would not write is a wrong guess.
                whole = f"TRY_CAST({column} AS BIGINT)"
                value = f"CASE WHEN {whole}::VARCHAR IS DISTINCT FROM {column} THEN error('') ELSE {whole} END"
            projected.append(f"{value} AS {tables.identifier(name)}")
        with formats.one_line_errors(self.origin[0]):
            relation = self._declare(types).project(", ".join(projected))
        return GuessedRelation(
            self.origin, relation, columns=list(kinds), decimal=self.decimal, connection=self._connection
        )

    def fetch(self, names: Sequence[str], where: str | None = None) -> pa.Table:
        """Return the named columns of all rows that satisfy the SQL condition `where`, in the order of the source."""
        self._prepare(names, where)
        table = super().fetch(names, where)
        large = [name for name in names if _has_large(table.column(name))]
        return super().fetch(names, where) if self._widen(large) else table

    def stream(self, names: Sequence[str], where: str | None = None) -> formats.Stream:
        """Return the same rows as `fetch` in batches."""
        self._prepare(names, where)
        fractions = [name for name in names if self._types[self._sql_name[name]] == "DOUBLE"]
        if fractions:
            query = ", ".join(f"max(abs({tables.identifier(self._sql_name[name])}))" for name in fractions)
            with formats.one_line_errors(self.origin[0]):
                largest = self._relation.aggregate(query).fetchall()[0]
            large = []
            for name, value in zip(fractions, largest, strict=True):
                if value is not None and value >= FIRST_ROUNDED:
                    large.append(name)
            self._widen(large)
        return super().stream(names, where)

    def refusals(self, names: Sequence[str]) -> dict[str, InputError]:
        """Return the errors of the named columns whose numbers are ambiguous or have different units."""
        self._infer_types(names)
        by_name: dict[str, InputError] = {}
        for name in names:
            reading = self._readings.get(self._sql_name.get(name, ""))
            if reading is not None and reading.expected:
                subject = f"column {name!r} of {brief(self.origin)}"
                by_name[name] = InputError(subject, expected=reading.expected, got=reading.got, hint=reading.hint)
        return by_name

    def decimal_of(self, name: str) -> str:
        """Return the decimal mark of a column. Return an empty text if the values do not show it."""
        reading = self._readings.get(self._sql_name.get(name, ""))
        return "" if reading is None else reading.decimal

    def _prepare(self, names: Sequence[str], where: str | None) -> None:
        """Infer the types of columns. Warn how numbers with marks are read; raise an error if they are ambiguous."""
        used = dict.fromkeys([*names, *formats.mentioned(self.columns, where or "")])
        refusals = self.refusals([name for name in used if name in self._sql_name])
        for error in refusals.values():
            raise error
        layout = self._written and self._written.layout
        for name in used:
            reading = self._readings.get(self._sql_name.get(name, ""))
            if reading is not None and reading.note and not (layout and (layout.decimal or layout.thousands)):
                warn(f"{brief(self.origin)}: column {name!r}: {reading.note}")

    def _declare(self, types: Mapping[str, str]) -> "DuckDBPyRelation":
        query = self._query(_declared(types))
        replaced: list[str] = []
        for column, reading in self._readings.items():
            if reading.expression:
                replaced.append(f"{reading.expression} AS {tables.identifier(column)}")
        return self._run(f"SELECT * REPLACE ({', '.join(replaced)}) {query}" if replaced else query)

    def _retype(self, columns: Sequence[str], kind: str) -> None:
        self._types |= dict.fromkeys(columns, kind)
        self._relation = self._declare(self._types)

    def _infer_types(self, names: Sequence[str]) -> None:
        """Infer types from all rows. Columns with numbers such as 0x1A or 0b11 become text."""
        if not self._are_inferred and self._types_of_all_rows is not None:
            self._types = dict(self._types_of_all_rows())
            self._relation = self._declare(self._types)
            self._are_inferred = True
        if not self._written:  # JSON has no such numbers
            return
        self._read_marks(self._written, [self._sql_name[name] for name in names if name in self._sql_name])
        columns = {self._sql_name[name] for name in names if name in self._sql_name} - self._decimal_columns
        integers = [column for column in columns if self._types.get(column) == "BIGINT"]
        if not integers:
            return
        query = ", ".join(f"bool_or(regexp_matches({tables.identifier(column)}, '[xXbB]'))" for column in integers)
        with formats.one_line_errors(self.origin[0]):
            as_text = self._declare(self._types | dict.fromkeys(integers, "VARCHAR"))
            has_letters = as_text.aggregate(query).fetchall()[0]
        self._decimal_columns |= set(integers)
        hexadecimal = [column for column, letters in zip(integers, has_letters, strict=True) if letters]
        if hexadecimal:
            self._retype(hexadecimal, "VARCHAR")

    def _read_marks(self, written: WrittenNumbers, columns: Sequence[str]) -> None:
        """Determine from all values how to read columns of numbers with decimal marks or thousands separators."""
        undecided: dict[str, str] = {}
        for column in columns:
            if column not in self._readings and written.is_open(column, self._types[column]):
                undecided[column] = tables.identifier(column)
        if not undecided:
            return
        layout = written.layout
        marks = {"decimal": layout.decimal, "thousands": layout.thousands, "plain": written.plain}
        with formats.one_line_errors(self.origin[0]):
            as_text = self._run(self._query(_declared(self._types | dict.fromkeys(undecided, "VARCHAR"))))
            self._readings |= numerals.readings(as_text, undecided, **marks)
            self._relation = self._declare(self._types)

    def _widen(self, names: Sequence[str]) -> bool:
        """Read columns of large whole numbers as integers. Return True if there is such a column."""
        integers = [self._sql_name[name] for name in names if self._holds_whole_numbers(name)]
        if integers:
            self._retype(integers, "HUGEINT")
        return bool(integers)

    def _holds_whole_numbers(self, name: str) -> bool:
        """Return True if all numbers of a column are whole.

        If only some are whole, and float64 would round one of them, raise an error.
        """
        column = self._sql_name[name]
        value = f"nullif(trim(CAST({tables.identifier(column)} AS VARCHAR)), '')"
        whole = f"regexp_full_match({value}, '[+-]?[0-9]+')"
        huge = f"TRY_CAST({value} AS HUGEINT)"
        # float64 represents a whole number exactly if conversion to float64 and back does not change it.
        exact = f"coalesce(TRY_CAST(TRY_CAST({value} AS DOUBLE) AS HUGEINT) = {huge}, false)"
        all_whole = f"bool_and({whole} AND {huge} IS NOT NULL) FILTER ({value} IS NOT NULL)"
        rounded = f"min({value}) FILTER ({whole} AND NOT {exact})"
        as_text = self._types | {column: "VARCHAR" if self.decimal else "JSON"}
        with formats.one_line_errors(self.origin[0]):
            is_whole, example = self._declare(as_text).aggregate(f"{all_whole}, {rounded}").fetchall()[0]
        if example is not None and not is_whole:
            subject = f"{self.origin[0]}: column {name!r}"
            hint = "write the number with a decimal point or an exponent, if rounding does not matter"
            raise EngineError(subject, expected=WHOLE_OF_64_BITS, got=example, hint=hint)
        return bool(is_whole)


def _has_large(column: pa.ChunkedArray) -> bool:
    """Return True if a column of floats contains numbers so large that float64 rounds whole numbers."""
    if not pa.types.is_float64(column.type):
        return False
    filled = column.fill_null(0.0) if column.null_count else column
    # `to_numpy` of a chunked array would import pandas.
    return any((np.abs(np.from_dlpack(chunk)) >= FIRST_ROUNDED).any() for chunk in filled.chunks)


_OPENERS: dict[str, Callable[[list[str], tuple[str, ...], formats.FileLayout], formats.Source]] = {
    "csv": open_csv,
    "tsv": open_tsv,
    "jsonl": open_json,
    "parquet": tables.open_parquet,
    "arrow": tables.open_ipc,
    "excel": tables.open_excel,
    "duckdb": tables.open_duckdb,
    "sqlite": tables.open_sqlite,
}
