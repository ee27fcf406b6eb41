"""Files as a Source: which format they have, and how each is opened.

CSV and JSON are opened in `text_files`, each other format in a module of its name.
"""

import codecs
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from rocscope._base.atomic_write import temporary_folder, unfinished
from rocscope.engines.sources.file_formats import FileLayout, format_of
from rocscope.engines.sources.source import Source, one_line_errors
from rocscope.errors import EngineError

_MAGIC_SUFFIX = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst"}


@contextmanager
def open_files(paths: Sequence[str], layout: FileLayout, *, origin: Sequence[str] = ()) -> Iterator[Source]:
    """Open files of one format; `origin` is what messages call them, by default their paths."""
    if not paths:
        raise EngineError("files", expected="at least one", got="none")
    origin = tuple(origin or paths)
    for path, name in zip(paths, origin, strict=True):
        with one_line_errors(name), Path(path).open("rb") as file:
            empty = not file.read(1)
        if empty:
            raise EngineError(f"{name}: the file is empty")
    format = layout.format or _common_format(paths)
    layout.require_meaning(format)
    with ExitStack() as stack:
        if layout.encoding is not None:
            paths = stack.enter_context(_recoded(paths, origin, layout.encoding))
        module, opener = _OPENERS[format]
        yield getattr(import_module(f"rocscope.engines.sources.{module}"), opener)(list(paths), origin, layout)


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
    """Copy a stream to a temporary file, which is removed in the end, and yield its path."""
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


@contextmanager
def _recoded(paths: Sequence[str], origin: Sequence[str], encoding: str) -> Iterator[list[str]]:
    """Copy files to temporary ones in UTF-8, which are removed in the end, and yield their paths."""
    with _folder() as folder:
        copies = [folder / str(number) for number in range(len(paths))]
        for path, name, copy in zip(paths, origin, copies, strict=True):
            with one_line_errors(name), pa.input_stream(path, compression="detect") as source, copy.open("wb") as file:
                decoder = codecs.getincrementaldecoder(encoding)()
                while data := source.read(1 << 20):
                    file.write(decoder.decode(data).encode())
                file.write(decoder.decode(b"", final=True).encode())
        yield [str(copy) for copy in copies]


@contextmanager
def _folder() -> Iterator[Path]:
    """Make a temporary folder that nobody else can read, and yield it; it is removed however the process ends."""
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
    "parquet": ("parquet", "open_parquet"),
    "arrow": ("arrow", "open_ipc"),
    "excel": ("excel", "open_excel"),
}
"""The module of each format, loaded when it is asked for, and what opens its files."""
