"""Files as a Source: their formats, and how each is opened.

CSV and JSON are opened in `text_files`, each other format in a module of its name.
"""
# MERGED-DOC: """Open any data as a Source."""

import codecs
import os
import secrets
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

from rocscope._base.atomic_write import temporary_folder, unfinished
from rocscope.engines.formats import (
    AS_IT_TELLS,
    FALLBACK,
    FORMATS,
    LOOKED_AT,
    FileLayout,
    Source,
    encoding_of,
    find_files,
    format_of,
    is_pipe,
    one_line_errors,
    refuse_lakes,
    refuse_other_kinds,
)
from rocscope.engines.tables import ArrowColumns
from rocscope.errors import EngineError, InputError, warn

_TEXT = {"csv": "CSV text", "tsv": "TSV text", "jsonl": "JSON text"}
_PARQUET = b"PAR1"
_MAGIC_SUFFIX = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst"}


@contextmanager
def open_files(paths: Sequence[str], layout: FileLayout, *, origin: Sequence[str] = ()) -> Iterator[Source]:
    """Open files of one format; `origin` names them in messages, by default by their paths."""
    if not paths:
        raise EngineError("files", expected="at least one", got="none")
    origin = tuple(origin or paths)
    starts: list[bytes] = []
    for path, name in zip(paths, origin, strict=True):
        with one_line_errors(name), Path(path).open("rb") as file:
            starts.append(file.read(16))
        if not starts[-1]:
            raise EngineError(f"{name}: the file is empty")
    format = layout.format or _common_format(paths)
    layout.require_meaning(format)
    with ExitStack() as stack:
        for path, name, start in zip(paths, origin, starts, strict=True):
            if format == "parquet":
                _require_parquet(path, name, start)
            elif format in _TEXT:
                _require_text(Path(path).suffix.lower(), name, start, _TEXT[format])
        if format in _TEXT:
            named = zip(paths, origin, strict=True)
            encodings = [layout.encoding or _guessed(path, name, format) for path, name in named]
            paths = stack.enter_context(_recoded(paths, origin, encodings))
        module, opener = _OPENERS[format]
        yield getattr(import_module(f"rocscope.engines.{module}"), opener)(list(paths), origin, layout)


def _common_format(paths: Sequence[str]) -> str:
    by_format: dict[str | None, str] = {}
    for path in paths:
        by_format.setdefault(format_of(Path(path)), path)
    if None in by_format:
        hint = f"give format= {' | '.join(_OPENERS)}"
        raise EngineError(f"{by_format[None]}: the name does not tell the format", hint=hint)
    if len(by_format) > 1:
        got = " and ".join(f"{known} ({path})" for known, path in by_format.items())
        raise EngineError("files", expected="one format", got=got)
    return next(known for known in by_format if known)


@contextmanager
def spooled(stream: BinaryIO, name: str) -> Iterator[str]:
    """Copy a stream to a temporary file, yield its path, and remove it at the end."""
    with _folder() as folder:
        path = folder / "stream"
        head = stream.read(4)
        if not isinstance(head, bytes):
            raise EngineError(f"{name}: expected a file opened in binary mode", hint="open it with mode 'rb'")
        path = path.with_suffix(next((suffix for magic, suffix in _MAGIC_SUFFIX.items() if head.startswith(magic)), ""))
        with one_line_errors(name), path.open("wb") as file:
            file.write(head)
            shutil.copyfileobj(stream, file, 1 << 20)
        yield str(path)


def _require_parquet(path: str, name: str, start: bytes) -> None:
    """Raise EngineError unless a file begins and ends as Parquet files do."""
    if not start.startswith(_PARQUET):
        refuse_other_kinds(start, name, "a Parquet file")
        raise EngineError(name, expected="a Parquet file", got="other bytes", hint="end its name in .csv if it is text")
    with one_line_errors(name), Path(path).open("rb") as file:
        file.seek(max(len(_PARQUET), Path(path).stat().st_size - len(_PARQUET)))
        whole = file.read() == _PARQUET
    if not whole:
        got = "one whose end is missing"
        raise EngineError(name, expected="a whole Parquet file", got=got, hint="copy or write it again")


def _require_text(suffix: str, name: str, start: bytes, expected: str) -> None:
    """Raise EngineError for a file that is not compressed as its name says, or begins as one of another kind."""
    magic = next((magic for magic, known in _MAGIC_SUFFIX.items() if known == suffix), None)
    if magic is None:
        refuse_other_kinds(start, name, expected)
    elif not start.startswith(magic):
        kind = {".gz": "gzip", ".zst": "zstd"}[suffix]
        raise EngineError(
            name, expected=f"data compressed by {kind}", got="other bytes", hint=f"take {suffix} off its name"
        )


def _guessed(path: str, name: str, format: str) -> str:
    """Return the encoding of a text file, and warn of one that is not certain."""
    with one_line_errors(name), pa.input_stream(path, compression="detect") as stream:
        start = stream.read(LOOKED_AT)
    encoding = encoding_of(start)
    if format == "jsonl" and start.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"  # DuckDB takes the mark for a part of the first value
    if encoding == FALLBACK:
        warn(f"{name}: not UTF-8; read as Windows-1252; encoding={FALLBACK!r} (--encoding) says so")
    return encoding


@contextmanager
def _recoded(paths: Sequence[str], origin: Sequence[str], encodings: Sequence[str]) -> Iterator[list[str]]:
    """Copy files of other encodings to temporary ones in UTF-8, which are removed in the end, and yield all paths."""
    if set(encodings) <= {"utf-8"}:
        yield list(paths)
        return
    with _folder() as folder:
        copies = [folder / str(number) for number in range(len(paths))]
        for path, name, copy, encoding in zip(paths, origin, copies, encodings, strict=True):
            with one_line_errors(name), pa.input_stream(path, compression="detect") as source, copy.open("wb") as file:
                decoder = codecs.getincrementaldecoder(encoding)()
                while data := source.read(1 << 20):
                    file.write(decoder.decode(data).encode())
                file.write(decoder.decode(b"", final=True).encode())
        yield [str(copy) for copy in copies]


@contextmanager
def _folder() -> Iterator[Path]:
    """Create and yield a private temporary folder that is removed however the process ends."""
    with unfinished(Path(temporary_folder(), f"rocscope-{secrets.token_hex(8)}")) as folder:
        try:
            folder.mkdir(mode=0o700)
        except OSError as error:
            raise EngineError("temporary folder", got=error.strerror or str(error), hint="set TMPDIR") from None
        yield folder


_OPENERS = {
    "csv": ("text_files", "open_csv"),
    "tsv": ("text_files", "open_tsv"),
    "jsonl": ("text_files", "open_json"),
    "parquet": ("tables", "open_parquet"),
    "arrow": ("tables", "open_ipc"),
    "excel": ("tables", "open_excel"),
    "duckdb": ("tables", "open_duckdb"),
    "sqlite": ("tables", "open_sqlite"),
}
"""The module and function that open each format; modules are loaded on first use."""


@contextmanager
def open_source(source: Any, layout: FileLayout = AS_IT_TELLS) -> Iterator[Source]:
    """Open anything that `read` accepts; an open Source is returned unchanged."""
    with ExitStack() as stack:
        name = str(getattr(source, "name", type(source).__name__))
        if isinstance(source, str | PathLike) and is_pipe(fspath(source)):
            name = fspath(source)
            source = stack.enter_context(Path(name).open("rb"))
        elif isinstance(source, str) and source == "-":
            if sys.stdin is None:
                raise EngineError("<stdin>", expected="data on standard input", got="none: it is closed")
            source, name = sys.stdin.buffer, "<stdin>"
        if isinstance(source, str | PathLike | list | tuple):
            places = cast(Sequence[Any], source) if isinstance(source, list | tuple) else [source]
            found = [path for place in places for path in find_files(_path(place), layout.format)]
            refuse_lakes(found)
            yield stack.enter_context(open_files(found, layout))
        elif callable(getattr(source, "read", None)):
            if layout.format is None:
                hint = f"give format= {' | '.join(FORMATS)}"
                raise InputError(name, expected="the format of a stream", got="none", hint=hint)
            path = stack.enter_context(spooled(source, name))
            yield stack.enter_context(open_files([path], layout, origin=[name]))
        elif isinstance(source, ArrowColumns):
            yield source
        else:
            from rocscope.engines import tables as frames

            layout.refuse("what is no file")
            yield frames.open_mapping(source) if isinstance(source, Mapping) else frames.open_frame(source)


def _path(place: Any) -> str:
    try:
        return os.fsdecode(place)
    except TypeError:
        raise InputError("source", expected="paths of files", got=type(place).__name__) from None
