"""Files as a Source: which format they have, and how each is opened.

CSV and JSON are opened in `text_files`, Arrow in `arrow`, Parquet in `parquet`.
"""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

from rocscope.engines.sources.finding import format_of
from rocscope.engines.sources.source import Source, one_line_errors
from rocscope.errors import EngineError

_MAGIC_SUFFIX = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst"}


def open_files(paths: Sequence[str], format: str | None = None, *, origin: Sequence[str] = ()) -> Source:
    """Open files of one format; `origin` is what messages call them, by default their paths."""
    if not paths:
        raise EngineError("files", expected="at least one", got="none")
    origin = tuple(origin or paths)
    for path, name in zip(paths, origin, strict=True):
        with one_line_errors(name), Path(path).open("rb") as file:
            empty = not file.read(1)
        if empty:
            raise EngineError(f"{name}: the file is empty")
    module, opener = _OPENERS[format or _common_format(paths)]
    return getattr(import_module(f"rocscope.engines.sources.{module}"), opener)(list(paths), origin)


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
    with tempfile.TemporaryDirectory(prefix="rocscope-") as folder:
        path = Path(folder, "stream")
        head = stream.read(4)
        if not isinstance(head, bytes):
            raise EngineError(f"{name}: expected a file opened in binary mode", hint="open it with mode 'rb'")
        path = path.with_suffix(next((suffix for magic, suffix in _MAGIC_SUFFIX.items() if head.startswith(magic)), ""))
        with one_line_errors(name), path.open("wb") as file:
            file.write(head)
            shutil.copyfileobj(stream, file, 1 << 20)
        yield str(path)


_OPENERS = {
    "csv": ("text_files", "open_csv"),
    "tsv": ("text_files", "open_tsv"),
    "jsonl": ("text_files", "open_json"),
    "parquet": ("parquet", "open_parquet"),
    "arrow": ("arrow", "open_ipc"),
}
"""The module of each format, loaded when it is asked for, and what opens its files."""
