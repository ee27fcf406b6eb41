"""Writing files: whole or not at all, and never over another one without being told to."""

import os
from pathlib import Path

from rocscope.errors import InputError


def check_writable(path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Return the path if a file can be written there, before any work is spent on its content.

    Raises
    ------
    InputError
        If it is a folder, its folder is not there or not writable, or it exists and `force` is not set.
    """
    target = Path(path)
    if target.is_dir():
        raise InputError(str(target), expected="the name of a file", got="a folder", hint="add a file name")
    if not target.parent.is_dir():
        raise InputError(str(target), expected="a folder that exists", got=str(target.parent), hint="create it first")
    if not os.access(target.parent, os.W_OK):
        raise InputError(str(target), expected="a folder that can be written to", got=str(target.parent))
    if target.exists() and not force:
        raise InputError(
            f"{target} exists already", hint="choose another name or allow overwriting (--force, force=True)"
        )
    return target


def write_file(path: str | os.PathLike[str], content: str | bytes, *, force: bool = False) -> Path:
    """Write text (UTF-8) or bytes under a temporary name and move it into place.

    Raises
    ------
    InputError
        As `check_writable`, and when the disk refuses.
    """
    target = check_writable(path, force=force)
    data = content.encode() if isinstance(content, str) else content
    part = target.with_name(f".{target.name[:50]}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise InputError(f"{target} could not be written", got=error.strerror or str(error)) from error
    except KeyboardInterrupt:
        part.unlink(missing_ok=True)
        raise
    return target
