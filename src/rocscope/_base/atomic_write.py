"""Write files atomically, overwrite only on request, and let only one process at a time update a file.

Writers name the endings of the format that they write. A name with the ending of another format is refused.
"""

import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from rocscope.errors import InputError

HTML, JSON, CSV = (".html", ".htm"), (".json",), (".csv",)
# Endings that name a format. Files with other endings, such as .txt, can contain any format.
_OF_FORMATS = {
    ".html", ".htm", ".xhtml", ".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".xlsx", ".xls", ".ods", ".parquet",
    ".arrow", ".feather", ".db", ".duckdb", ".sqlite", ".xml", ".md", ".rst", ".toml", ".yaml", ".yml", ".tex", ".pgf",
    ".svg", ".png", ".pdf", ".jpg", ".jpeg", ".gif", ".webp", ".tif", ".tiff", ".eps", ".ps", ".docx", ".pptx", ".pkl",
    ".pickle", ".joblib", ".npy", ".npz", ".h5", ".onnx", ".rds", ".rdata", ".sas7bdat", ".sav", ".dta", ".zip", ".gz",
    ".bz2", ".xz", ".zst", ".7z", ".tar",
}  # fmt: skip
_LONGEST_NAME = 255  # bytes of a file's name that the usual file systems take
_SHOWN = 60  # characters of a path in a message: a choice
_FORBIDDEN = "\0:" if os.name == "nt" else "\0"  # what follows a colon would be a stream of another file, unseen
_UNFINISHED: set[Path] = set()
_LONGEST_WAIT = 30.0  # seconds for other updates: a choice; a script is better told than kept
# Seconds between two tries. With 0.02, a process that updates in a loop takes the lock again before the others try. Two
# of four such processes then waited for more than 30 s; with 0.002, the longest wait is 0.5 s.
_RETRY = 0.002


def check_writable(path: str | os.PathLike[str], *, force: bool = False, endings: Sequence[str] = ()) -> Path:
    """Return the path if a file can be written there. Call this before the content is computed.

    Parameters
    ----------
    path : str or path
        Name of the file.
    force : bool
        Whether to overwrite an existing file.
    endings : sequence of str
        Endings of the format that is written, the usual ending first.

    Raises
    ------
    InputError
        If the path is a folder or a device, if the folder of the file is missing or not writable, if the file exists
        and `force` is False, or if the path has the ending of another format.
    """
    try:
        _check_ending(Path(path), endings)
        return _checked(Path(path), force=force)
    except (OSError, ValueError) as error:  # a path that is too long, or with a null byte
        if isinstance(error, InputError):
            raise
        got = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{str(path)[:_SHOWN]}…", expected="the name of a file", got=got) from None


def _check_ending(target: Path, endings: Sequence[str]) -> None:
    """Raise an error if a file name has the ending of a format that is not written."""
    ending = target.suffix.lower()
    if endings and ending in _OF_FORMATS and ending not in endings:
        expected = f"a name that ends in {' or '.join(endings)}"
        hint = f"write {target.with_suffix(endings[0])}"
        raise InputError(str(target), expected=expected, got=f"the ending {ending}", hint=hint)


def _checked(target: Path, *, force: bool) -> Path:
    if len(os.fsencode(target.name)) > _LONGEST_NAME:
        got = f"{len(os.fsencode(target.name))} bytes"
        raise InputError(f"{str(target)[:_SHOWN]}…", expected=f"a name of at most {_LONGEST_NAME} bytes", got=got)
    if set(target.name) & set(_FORBIDDEN):
        raise InputError(str(target), expected=f"a name without {_FORBIDDEN!r}", got=target.name)
    if target.exists() and not target.is_file():
        got = "a folder" if target.is_dir() else "a device or a pipe"
        raise InputError(str(target), expected="the name of a file", got=got, hint="add a file name to the path")
    if not target.parent.is_dir():
        hint = "create this folder first"
        raise InputError(str(target), expected="an existing folder", got=str(target.parent), hint=hint)
    if not os.access(target.parent, os.W_OK):
        raise InputError(str(target), expected="a folder that can be written to", got=str(target.parent))
    if target.exists() and not force:
        raise _exists_already(target)
    return target


def _exists_already(target: Path) -> InputError:
    return InputError(f"{target} exists already", hint="choose another name, or overwrite it with force=True (--force)")


def write_file(
    path: str | os.PathLike[str], content: str | bytes, *, force: bool = False, endings: Sequence[str] = ()
) -> Path:
    """Write text (as UTF-8) or bytes to a temporary file, and rename the temporary file to `path`.

    If several processes write the same file without `force`, only one of them succeeds. An overwritten file keeps its
    mode, its extended attributes and, if the process has permission, its owner.

    Returns
    -------
    Path
        The given path.

    Raises
    ------
    InputError
        If `check_writable` raises an error, or if the operating system cannot write the file.
    """
    target = check_writable(path, force=force, endings=endings)
    try:
        data = content.encode() if isinstance(content, str) else content
    except UnicodeEncodeError as error:
        got = repr(error.object[error.start])
        raise InputError(str(target), expected="characters that UTF-8 can encode", got=got) from None
    place = target.resolve()  # of a link, what it leads to
    try:
        with unfinished(place.with_name(f".{place.name[:50]}.{secrets.token_hex(4)}.part")) as part:
            with part.open("xb") as file:
                _keep_attributes(place, part)  # first: the content of a private file is never readable by others
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if force:
                part.replace(place)
            else:
                _move_where_nothing_is(part, place)
    except FileExistsError:
        raise _exists_already(target) from None
    except OSError as error:
        raise InputError(f"{target} could not be written: {error.strerror or error}") from error
    return target


@contextmanager
def updating(path: str | os.PathLike[str]) -> Iterator[None]:
    """Lock a file while it is read, changed and written again.

    The operating system locks the file ``.NAME.lock`` in the same folder. If the process crashes, the operating system
    releases the lock.

    Raises
    ------
    InputError
        If other processes keep the file locked for 30 s.
    """
    target = Path(path).resolve()
    lock = target.with_name(f".{target.name[:50]}.lock")
    end = time.monotonic() + _LONGEST_WAIT
    while (file := _locked(lock)) is None:
        if time.monotonic() > end:
            hint = "try again when that process has ended"
            raise InputError(f"{path}: another process is updating this file", hint=hint)
        time.sleep(_RETRY)
    _UNFINISHED.add(lock)
    with file:
        try:
            yield
        finally:
            # Removed once, while the lock is still held: whoever waits for it finds that its file has lost the name and
            # makes a new one. A second removal would take that one away, and a third process would get a lock too.
            _UNFINISHED.discard(lock)
            with suppress(OSError):
                lock.unlink(missing_ok=True)


def _locked(lock: Path) -> BinaryIO | None:
    """Return the open lock file. Return None if another process has the lock."""
    file = lock.open("ab")
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The process that had the lock removes its file; a lock on a file without a name holds off nobody.
        if os.name == "nt" or os.path.samestat(os.fstat(file.fileno()), lock.stat()):
            return file
    except (BlockingIOError, PermissionError, FileNotFoundError):
        pass
    file.close()
    return None


def _keep_attributes(old: Path, new: Path) -> None:
    """Copy the mode, extended attributes and owner of an existing file to the file that replaces it."""
    if not old.exists():
        return
    shutil.copystat(old, new)
    os.utime(new)
    if hasattr(os, "chown"):
        with suppress(PermissionError):
            os.chown(new, old.stat().st_uid, old.stat().st_gid)


def _move_where_nothing_is(part: Path, place: Path) -> None:
    """Move a file. Raise FileExistsError if the target exists. `Path.replace` would overwrite the target."""
    try:
        os.link(part, place)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: an empty file holds the name until the content replaces it
        place.touch(exist_ok=False)
        try:
            part.replace(place)
        except OSError:
            place.unlink(missing_ok=True)
            raise


@contextmanager
def unfinished(path: Path) -> Iterator[Path]:
    """Remove a file or folder at the end of the block or of the process. Enter the block before creating the file."""
    _UNFINISHED.add(path)
    try:
        yield path
    finally:
        _remove(path)
        _UNFINISHED.discard(path)


def temporary_folder() -> str:
    """Return the directory for temporary files.

    The environment variables and /tmp are tried first. Python's own function writes a test file, which would remain in
    the folder if a signal stopped the process at that moment.
    """
    named = (*map(os.environ.get, ("TMPDIR", "TEMP", "TMP")), "/tmp")
    usable = (folder for folder in named if folder and os.access(folder, os.W_OK | os.X_OK))
    return tempfile.tempdir or next(usable, None) or tempfile.gettempdir()


def remove_unfinished() -> None:
    """Remove all files and folders that `unfinished` and `updating` registered."""
    for path in tuple(_UNFINISHED):
        _remove(path)


def _remove(path: Path) -> None:
    for _ in range(2):  # a call of the system that fails once may succeed
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        with suppress(OSError):
            path.unlink(missing_ok=True)
        if not os.path.lexists(path):
            return
