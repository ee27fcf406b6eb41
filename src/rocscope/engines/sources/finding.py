"""Which files a path, a pattern or a folder stands for, and their formats: asked before any library is loaded."""

import glob
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

from rocscope.errors import EngineError

FormatName = Literal["csv", "tsv", "jsonl", "parquet", "arrow", "excel"]
FORMATS: tuple[FormatName, ...] = get_args(FormatName)

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
}


def find_files(place: str, format: str | None = None) -> list[str]:
    """Return the files that a path, a glob or a folder stands for, in alphabetical order."""
    try:
        return _find(place, Path(place).expanduser(), format)
    except OSError as error:
        raise EngineError(f"{place}: {error.strerror or error}") from None
    except (RuntimeError, ValueError) as error:  # no home folder, a null byte
        raise EngineError(f"{place}: {error}") from None


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
    """Say whether a path is what a shell hands over for `<(command)`: a stream, which can be read once.

    A pipe of another name is none: nobody may ever write to it.
    """
    if place != "/dev/stdin" and not place.startswith(("/dev/fd/", "/proc/self/fd/")):
        return False
    try:
        return stat.S_ISFIFO(Path(place).stat().st_mode)
    except OSError:
        return False


def partition_keys(paths: Sequence[str]) -> set[str]:
    """Return what folders named key=value have for keys, in lower case."""
    return {part.split("=")[0].casefold() for path in paths for part in Path(path).parts[:-1] if "=" in part}


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
