"""What is stored and read again, strictly: JSON of a known format and version, and its fields one at a time.

A reader trusts nothing and executes nothing. The first thing that is wrong is named by its path, in one line and by one
kind of error.
"""

import hashlib
import json
import math
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import numpy as np

from rocscope._types import Array
from rocscope.errors import InputError, StoredError

T = TypeVar("T")

_HEADER = ("format", "version", "checksum")
_RELATIVE_ERROR = 1e-9


@dataclass(frozen=True)
class Format:
    """A kind of stored object.

    Attributes
    ----------
    name : what stands under "format"
    version : the one that is known
    what : what it holds, with its article
    anew : how to go on with one that cannot be read
    sealed : whether it has a checksum of its content
    """

    name: str
    version: int
    what: str
    anew: str
    sealed: bool = True

    def text(self, content: dict[str, Any]) -> str:
        """Return the text of a file of content that is safe for JSON."""
        header: dict[str, Any] = {"format": self.name, "version": self.version}
        if self.sealed:
            header["checksum"] = _checksum(content)
        return json.dumps(header | content, ensure_ascii=False, allow_nan=False, indent=1) + "\n"

    def read(self, path: str | os.PathLike[str]) -> "Fields":
        """Return the fields of a file, or raise StoredError."""
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise StoredError(str(path), expected=f"{self.what} file", got=error.strerror or str(error)) from error
        fields = parse(data, str(path), self.what, self.anew)
        if fields.content.get("format") != self.name:
            expected = f'JSON with "format": "{self.name}"'
            raise StoredError(str(path), expected=expected, got="something else", hint=self.anew)
        version = fields.content.get("version")
        if type(version) is not int or version < 1:
            raise StoredError(str(path), expected="a version number", got=repr(version), hint=self.anew)
        require_version(version, self.version, str(path), self.what, self.anew)
        return fields


def require_version(version: int, known: int, source: str, what: str, anew: str) -> None:
    """Raise unless a version is the one that is known."""
    if version != known:
        age, hint = ("a newer", "update rocscope") if version > known else ("an older", anew)
        got = f"version {version}, made by {age} rocscope"
        raise StoredError(source, expected=f"{what} of version {known}", got=got, hint=hint)


def parse(data: bytes, source: str, what: str, anew: str) -> "Fields":
    """Return the fields of a JSON object in UTF-8."""
    try:
        content = json.loads(data.decode(), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise StoredError(source, expected=f"{what} file", got="not UTF-8 text") from error
    except (ValueError, RecursionError) as error:
        raise StoredError(source, expected=f"{what} as JSON", got=str(error), hint=anew) from error
    if not isinstance(content, dict):
        raise StoredError(source, expected=f"{what} as a JSON object", got="something else", hint=anew)
    return Fields(content, source, anew)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _checksum(content: dict[str, Any]) -> str:
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def is_number(value: Any) -> bool:
    """Whether a value of JSON is a number that a float can hold."""
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


class Fields:
    """The fields of a JSON object: each is asked for by its type and range, and refused by its name."""

    def __init__(self, content: dict[str, Any], source: str, anew: str, path: str = "") -> None:
        self.content, self.source, self.anew, self.path = content, source, anew, path

    def refuse(self, name: str, expected: str = "", got: str = "") -> NoReturn:
        """Raise StoredError for a field."""
        got = got or (repr(self.content[name]) if name in self.content else "nothing")
        raise StoredError(f"{self.source}: {self.path}{name}", expected=expected, got=got, hint=self.anew)

    def take(self, name: str, kind: type[T], expected: str) -> T:
        """Return a field of one type."""
        value = self.content.get(name)
        return value if type(value) is kind else self.refuse(name, expected)

    def text(self, name: str) -> str:
        """Return a text."""
        return self.take(name, str, "a text")

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts."""
        values = self.take(name, list, "a list of texts")
        return tuple(values) if all(type(value) is str for value in values) else self.refuse(name, "a list of texts")

    def number(self, name: str) -> float:
        """Return a finite number."""
        value: Any = self.content.get(name)
        if not is_number(value):
            self.refuse(name, "a number")
        return value

    def optional_number(self, name: str) -> float | None:
        """Return a finite number, or None where null stands."""
        return None if self.content.get(name, ...) is None else self.number(name)

    def whole(self, name: str) -> int:
        """Return a whole number of at least 0."""
        value = self.take(name, int, "a whole number")
        return value if value >= 0 else self.refuse(name, "a whole number of at least 0")

    def array(self, name: str) -> Array:
        """Return a finite number, or lists of them, as an array."""
        try:
            values = np.asarray(self.content.get(name))
        except ValueError:  # lists of different lengths
            self.refuse(name, "numbers")
        if values.dtype.kind not in "iuf" or not np.isfinite(values).all():
            self.refuse(name, "finite numbers")
        return values.astype(np.float64)

    def inner(self, name: str, expected: str) -> "Fields":
        """Return the fields of an object within."""
        return Fields(self.take(name, dict, expected), self.source, self.anew, f"{self.path}{name}.")

    def make(self, name: str, factory: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """Return what is made of a field, whose own checks say what is wrong with it."""
        try:
            return factory(*args, **kwargs)
        except (InputError, TypeError) as error:
            raise StoredError(f"{self.source}: {self.path}{name}", got=str(error), hint=self.anew) from error

    def require_seal(self) -> None:
        """Raise unless the content is, value by value, what was stored."""
        if self.content.get("checksum") != _checksum(self._without_header()):
            got = "a file that was changed since"
            raise StoredError(self.source, expected="the content that was saved", got=got, hint=self.anew)

    def require_same(self, made: dict[str, Any]) -> None:
        """Raise unless all that follows from what was read stands in the file as it follows."""
        found = _difference(made, self._without_header(), "")
        if found is not None:
            name, expected, got = found
            self.refuse(name, expected, got)

    def _without_header(self) -> dict[str, Any]:
        return {name: value for name, value in self.content.items() if name not in _HEADER}


def _difference(made: Any, kept: Any, path: str) -> tuple[str, str, str] | None:
    """Return where the first difference is, what is expected there and what stands there."""
    if isinstance(made, dict) and isinstance(kept, dict):
        names = list(dict.fromkeys([*made, *kept]))
        inner = {name: f"{path}.{name}".lstrip(".") for name in names}
        for name in names:
            if name not in made:
                return inner[name], "no such field", "one"
            if name not in kept:
                return inner[name], "this field", "none"
        found = (_difference(made[name], kept[name], inner[name]) for name in names)
        return next((each for each in found if each is not None), None)
    if isinstance(made, float) and is_number(kept):
        same = math.isclose(made, kept, rel_tol=_RELATIVE_ERROR, abs_tol=1e-12)
    else:
        same = type(made) is type(kept) and made == kept
    return None if same else (path, repr(made), repr(kept))
