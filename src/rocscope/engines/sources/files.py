"""Files as a Source: which ones are meant, what format they have, and how each format is opened.

CSV and JSON are opened in `text_files`, Arrow in `arrow`, Parquet in `parquet`.
"""

import glob
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

from rocscope.engines.sources.source import Source, one_line_errors
from rocscope.errors import EngineError

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
}
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


def find_files(place: str, format: str | None = None) -> list[str]:
    """Return the files that a path, a glob or a folder stands for, in alphabetical order."""
    with one_line_errors(place):
        return _find(place, Path(place).expanduser(), format)


def _find(place: str, path: Path, format: str | None) -> list[str]:
    if path.is_dir():
        found = sorted(str(file) for file in path.rglob("*") if _is_data(file.relative_to(path), format, file))
        if not found:
            raise EngineError(f"{place}: no data file in this folder", hint=f"known suffixes: {', '.join(_FORMAT_OF)}")
        return found
    if path.exists():
        return [str(path)]
    if not glob.has_magic(place):
        hint = "only local files are read" if "://" in place else ""
        raise EngineError(f"{place}: no such file or folder", hint=hint)
    matches = glob.glob(str(path), recursive=True)  # noqa: PTH207 (Path.glob takes no absolute pattern)
    found = sorted(match for match in matches if Path(match).is_file())
    if not found:
        raise EngineError(f"{place}: no file matches this pattern")
    return found


def _is_data(inside: Path, format: str | None, file: Path) -> bool:
    """Tell data from what writers of data sets leave beside it: _SUCCESS, .crc files, a README."""
    if any(part.startswith((".", "_")) for part in inside.parts) or not file.is_file():
        return False
    known = format_of(inside)
    return known is not None if format is None else known in (format, None)


def format_of(path: Path) -> str | None:
    """Return the format that the name of a file tells, if it does."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in (".gz", ".zst"):
        suffixes.pop()
    return _FORMAT_OF.get(suffixes[-1]) if suffixes else None


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
