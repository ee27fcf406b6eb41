"""Write JSON files of a known format and version, and check every field when a file is read.

Reading a file executes no code. A StoredError of one line names the first invalid field by its path. The checksum
detects only accidental damage, because a person who changes a file can compute a new checksum. Therefore, the value of
every field is checked as well.
"""

import hashlib
import json
import math
import os
import re
import reprlib
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import numpy as np

from rocscope._base.arrays import Array
from rocscope.errors import InputError, StoredError

T = TypeVar("T")

_HEADER = ("format", "version", "checksum")
_RELATIVE_ERROR = 1e-9  # tolerance for sums on different machines; a changed digit differs by more
_ABSOLUTE_ERROR = 1e-12  # tolerance for sums near 0
_ROUNDING = 1e-12  # largest decrease, by rounding of shares, of numbers that are "not falling"
_DEEPEST = 16  # largest depth of nested objects: twice that of our own files, and far from the recursion limit
_LONGEST_PLACE = 100  # characters of a field's name shown in a message, set by hand

# At most 4,000 digits each, because by default Python does not convert texts of more than 4,300 digits to integers.
_FRACTION = re.compile(r"-?\d{1,4000}(/[1-9]\d{0,3999})?")

MOST_BYTES = 1 << 28  # largest size of a file, which is parsed in memory, set by hand
MOST_WHOLE = 2**62  # largest count: the sum of two fits 64 bits

_brief = reprlib.Repr()
_brief.maxstring = _brief.maxlong = _brief.maxother = 80
_brief.maxlevel = 2


_NOTHING: Mapping[str, Collection[str]] = {}


@dataclass(frozen=True)
class FormatUpgrade:
    """Fields that are renamed and added when a file is converted to the next version of its format.

    Attributes
    ----------
    renamed : mapping from str to str
        Mapping from the name of a field in this version to its name in the next version.
    added : mapping from str to value
        Fields that only the next version has, with the values that they get in converted files.
    """

    renamed: Mapping[str, str] = field(default_factory=dict)
    added: Mapping[str, Any] = field(default_factory=dict)

    def apply(self, fields: "Fields") -> dict[str, Any]:
        """Convert the content to the next version of the format.

        Raise StoredError for a field that this version does not have.
        """
        for name in (*self.renamed.values(), *self.added):
            if name in fields.content:
                fields.refuse(name, "a field of this version", "a field of a newer version")
        for name in self.renamed:
            if name not in fields.content:
                fields.refuse(name, "a value", "no value")
        return {self.renamed.get(name, name): value for name, value in fields.content.items()} | dict(self.added)


@dataclass(frozen=True)
class Format:
    """Format of the JSON files that store one kind of object.

    Attributes
    ----------
    name : str
        Value of the field "format" in the file.
    version : int
        Current version of the format.
    what : str
        Name of the object with its article, such as "a decision".
    hint : str
        Hint for errors, on how to make a new file.
    upgrades : mapping from int to FormatUpgrade
        For each earlier version that can be read, the conversion to the next version.
    """

    name: str
    version: int
    what: str
    hint: str
    upgrades: Mapping[int, FormatUpgrade] = field(default_factory=dict)

    def text(self, content: dict[str, Any]) -> str:
        """Return the JSON text of a file."""
        header: dict[str, Any] = {"format": self.name, "version": self.version, "checksum": _checksum(content)}
        text = json.dumps(header | content, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
        if len(text) > MOST_BYTES:
            got = f"a text of {len(text):,} characters"
            raise InputError(self.what, expected=f"a text of at most {MOST_BYTES:,} characters", got=got)
        return text

    def read(self, path: str | os.PathLike[str]) -> "Fields":
        """Return the fields of a file, or raise StoredError. Call `require_same` after reading all fields."""
        fields = parse(read_bytes(path, self.what), str(path), self.what, self.hint)
        if fields.content.get("format") != self.name:
            expected = f'JSON with "format": "{self.name}"'
            raise StoredError(str(path), expected=expected, got="JSON without this entry", hint=self.hint)
        version = fields.content.get("version")
        if type(version) is not int or version < 1:
            raise StoredError(str(path), expected="a version number", got=repr(version), hint=self.hint)
        if version not in self.upgrades:
            require_version(version, self.version, str(path), self.what, self.hint)
        if "checksum" not in fields.content:
            raise StoredError(str(path), expected="a checksum", got="no checksum", hint=self.hint)
        if version == self.version:
            return fields
        # For an earlier version, check the checksum of the file, and compute a new one for the upgraded content.
        fields.require_checksum()
        while version in self.upgrades:
            fields = Fields(self.upgrades[version].apply(fields), fields.source, fields.hint)
            version += 1
        fields.content |= {"version": version, "checksum": _checksum(_without_header(fields.content))}
        return fields


@dataclass(frozen=True)
class StoredText(os.PathLike[str]):
    """The text of a file that is contained in another file. It is accepted in place of a path."""

    text: str
    name: str

    def __fspath__(self) -> str:
        return self.name

    def __str__(self) -> str:
        return self.name


def read_bytes(path: str | os.PathLike[str], what: str) -> bytes:
    """Return the content of a file. Raise StoredError if the file is larger than `MOST_BYTES`."""
    if isinstance(path, StoredText):
        return path.text.encode()
    try:
        place = Path(path)
        if place.exists() and not (place.is_file() or place.is_dir()):
            raise StoredError(str(path), expected=f"{what} file", got="a pipe or a device")  # it might never end
        with place.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # a null byte in the name
        if isinstance(error, StoredError):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise StoredError(f"{path} cannot be read as {what} file: {reason}") from error
    if len(data) > MOST_BYTES:
        raise StoredError(str(path), expected=f"a file of at most {MOST_BYTES:,} bytes", got="a larger file")
    return data


def require_version(version: int, known: int, source: str, what: str, hint: str) -> None:
    """Raise StoredError if the version is not the current version."""
    if version != known:
        age, hint = ("a newer", "update rocscope") if version > known else ("an older", hint)
        got = f"version {version}, saved by {age} rocscope"
        raise StoredError(source, expected=f"{what} of version {known}", got=got, hint=hint)


def parse(data: bytes, source: str, what: str, hint: str) -> "Fields":
    """Parse a JSON object in UTF-8 and return its fields."""
    try:
        content = json.loads(data.decode(), parse_constant=_refuse_constant, object_pairs_hook=_object)
        _require_plain(content)
    except UnicodeDecodeError as error:
        raise StoredError(source, expected=f"{what} file", got="a file that is not UTF-8 text") from error
    except (ValueError, RecursionError) as error:
        raise StoredError(source, expected=f"{what} as JSON", got=f"invalid JSON: {error}", hint=hint) from error
    if not isinstance(content, dict):
        raise StoredError(source, expected=f"{what} as a JSON object", got="another JSON value", hint=hint)
    return Fields(content, source, hint)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("an object has the same name twice")
    return content


def _require_plain(content: Any) -> None:
    """Raise ValueError for content that saved files never have: deep nesting, infinite numbers, unpaired surrogates."""
    level = [content]
    for _ in range(_DEEPEST):
        inner: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                inner += value.keys()
                inner += value.values()
            elif isinstance(value, list):
                inner += value
            elif isinstance(value, str) and not _is_text(value):
                raise ValueError("a text has an incomplete character")
            elif isinstance(value, float) and math.isinf(value):
                raise ValueError("a number is too large for float64")
        level = inner
        if not level:
            return
    raise ValueError(f"objects are nested more than {_DEEPEST} levels deep")


def _is_text(text: str) -> bool:
    """Return True if a text has no unpaired surrogates. JSON allows them, but UTF-8 does not."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _without_header(content: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name not in _HEADER}


def _checksum(content: dict[str, Any]) -> str:
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def is_number(value: Any) -> bool:
    """Return True if a JSON value is a number within the range of floats."""
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


class Fields:
    """The fields of a JSON object. Methods return a field after checking its type and range; errors name the field."""

    def __init__(self, content: dict[str, Any], source: str, hint: str, path: str = "") -> None:
        self.content, self.source, self.hint, self.path = content, source, hint, path

    def refuse(self, name: str, expected: str = "", got: str = "") -> NoReturn:
        """Raise StoredError for a field. By default, `got` is the value in the file."""
        got = got or (_brief.repr(self.content[name]) if name in self.content else "nothing")
        raise StoredError(self._place(name), expected=expected, got=got, hint=self.hint)

    def _place(self, name: str) -> str:
        """Return the path of a field for an error message, shortened and without line breaks."""
        return f"{self.source}: {' '.join(f'{self.path}{name}'.split())[:_LONGEST_PLACE]}"

    def take(self, name: str, kind: type[T], expected: str) -> T:
        """Return a field that must have the type `kind`."""
        value = self.content.get(name)
        return value if type(value) is kind else self.refuse(name, expected)

    def text(self, name: str) -> str:
        """Return a field that must be a string."""
        return self.take(name, str, "a string")

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a field that must be a list of strings."""
        values = self.take(name, list, "a list of strings")
        return tuple(values) if all(type(value) is str for value in values) else self.refuse(name, "a list of strings")

    def number(self, name: str, low: float = -math.inf, high: float = math.inf) -> float:
        """Return a field that must be a finite number from `low` to `high`."""
        value: Any = self.content.get(name)
        if not (is_number(value) and low <= value <= high):
            self.refuse(name, "a number" + _in_range(low, high))
        return value

    def optional(self, name: str, read: Callable[[str], T]) -> T | None:
        """Return a field that is read by a method, or None for null."""
        return None if self.content.get(name, ...) is None else read(name)

    def optional_number(self, name: str) -> float | None:
        """Return a field that must be a finite number or null. Return None for null."""
        return self.optional(name, self.number)

    def number_or_nan(self, name: str) -> float:
        """Return a field that must be a finite number or null. Return NaN for null."""
        number = self.optional_number(name)
        return math.nan if number is None else number

    def whole(self, name: str) -> int:
        """Return a field that must be a non-negative integer, such as a count."""
        value = self.take(name, int, "a whole number")
        return value if 0 <= value <= MOST_WHOLE else self.refuse(name, "a whole number from 0 to 2^62")

    def fraction(self, name: str) -> Fraction:
        """Return a number that is stored as the text of a fraction."""
        text = self.text(name)
        return Fraction(text) if _FRACTION.fullmatch(text) else self.refuse(name, "a fraction, such as '3/4'")

    def share(self, name: str) -> Fraction:
        """Return a share that is stored as the text of a fraction."""
        share = self.fraction(name)
        return share if 0 <= share <= 1 else self.refuse(name, "a fraction from 0 to 1, such as '3/4'")

    def array(self, name: str) -> Array:
        """Return a field that must be a finite number, or lists of finite numbers, as an array."""
        try:
            values = np.asarray(self.content.get(name))
        except ValueError:  # lists of different lengths
            self.refuse(name, "numbers")
        if values.dtype.kind not in "iuf" or not np.isfinite(values).all():
            self.refuse(name, "finite numbers")
        return values.astype(np.float64)

    def column(
        self, name: str, low: float = -math.inf, high: float = math.inf, *, size: int = -1, order: str = ""
    ) -> Array:
        """Return a field that must be a list of numbers from `low` to `high`.

        `size` is the required length; -1 allows any length. `order` is "rising", "not falling" or empty.
        """
        values = self.array(name) if self.content.get(name) != [] else np.empty(0)
        if values.ndim != 1 or size not in (-1, values.size):
            self.refuse(name, "a list of numbers" if size < 0 else f"a list of {size} numbers")
        if values.size and not (low <= values.min() and values.max() <= high):
            self.refuse(name, "numbers" + _in_range(low, high))
        in_order = values[1:] > values[:-1] if order == "rising" else values[1:] >= values[:-1] - _ROUNDING
        if order and not in_order.all():
            self.refuse(name, f"numbers that are {order}")
        return values

    def wholes(self, name: str, high: float, *, size: int = -1, order: str = "") -> Array:
        """Return a list of whole numbers from 0 to `high`; see `column`."""
        values = self.column(name, 0, high, size=size, order=order)
        return self.refuse(name, "whole numbers") if (values % 1).any() else values.astype(np.int64)

    def inner(self, name: str, expected: str) -> "Fields":
        """Return the fields of an object within this object."""
        return Fields(self.take(name, dict, expected), self.source, self.hint, f"{self.path}{name}.")

    def objects(self, name: str) -> "list[Fields]":
        """Return the fields of each object in a list of objects."""
        values = self.take(name, list, "a list of objects")
        if not all(type(value) is dict for value in values):
            self.refuse(name, "a list of objects")
        paths = (f"{self.path}{name}[{number}]." for number in range(len(values)))
        return [Fields(value, self.source, self.hint, path) for value, path in zip(values, paths, strict=True)]

    def make(self, name: str, factory: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """Construct an object from a field. Errors of its constructor are raised as StoredError."""
        try:
            with np.errstate(all="ignore"):  # the caller checks results of very large numbers
                return factory(*args, **kwargs)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            # Omit hints on arguments, which do not apply to a file.
            got = " ".join(str(error).split()).partition("; it takes ")[0] or type(error).__name__
            # Shortened, without the quotes of the repr.
            raise StoredError(self._place(name), got=_brief.repr(got)[1:-1], hint=self.hint) from error

    def require_same(self, made: dict[str, Any], optional: Mapping[str, Collection[str]] = _NOTHING) -> None:
        """Raise StoredError if a field differs from its recomputed value, or if the checksum does not match.

        `made` contains the recomputed values. `optional` contains, for each object, names of fields that may be
        missing. They can be computed from other fields, and earlier versions did not write them. Sentences about other
        fields (`_SENTENCES`) are not compared, because another version may word them differently.
        """
        kept = _without_header(self.content)
        if json.dumps(made, sort_keys=True) != json.dumps(kept, sort_keys=True):  # much faster than field by field
            difference = _differing(made, kept, "", optional)
            if difference is not None:
                name, expected, got = difference
                self.refuse(name, expected, got)
        self.require_checksum()

    def require_checksum(self) -> None:
        """Raise StoredError if the checksum does not match the content."""
        if self.content["checksum"] != _checksum(_without_header(self.content)):
            got = "content that was changed later"
            raise StoredError(self.source, expected="the content that was saved", got=got, hint=self.hint)


def _in_range(low: float, high: float) -> str:
    if math.isinf(high):
        return "" if math.isinf(low) else f" of at least {low:g}"
    return f" from {low:g} to {high:g}"


# Fields that describe other fields in a sentence. The sentence is made again when a file is read.
_SENTENCES = ("verdict", "tie_break")


def _differing(made: Any, kept: Any, path: str, optional: Mapping[str, Collection[str]]) -> tuple[str, str, str] | None:
    """Return the path of the first field that differs, its expected value, and its value in the file."""
    if isinstance(made, dict) and isinstance(kept, dict):
        return _differing_fields(made, kept, path, optional)
    if isinstance(made, list) and isinstance(kept, list):
        if len(made) != len(kept):
            return path, f"{len(made)} entries", f"{len(kept)} entries"
        pairs = enumerate(zip(made, kept, strict=True))
        differences = (_differing(*pair, f"{path}[{index}]", optional) for index, pair in pairs)
        return next(filter(None, differences), None)
    if isinstance(made, float) and is_number(kept):
        same = math.isclose(made, kept, rel_tol=_RELATIVE_ERROR, abs_tol=_ABSOLUTE_ERROR)
    else:
        same = type(made) is type(kept) and made == kept
    return None if same else (path, _brief.repr(made), _brief.repr(kept))


def _differing_fields(
    made: dict[str, Any], kept: dict[str, Any], path: str, optional: Mapping[str, Collection[str]]
) -> tuple[str, str, str] | None:
    for name in dict.fromkeys([*made, *kept]):
        place = f"{path}.{name}".lstrip(".")
        if name not in made:
            return place, "a known field", "an unknown field"
        if name not in kept:
            # By the object's own name, or the name of its list, wherever it is.
            if name not in optional.get(path.rpartition(".")[2].partition("[")[0], ()):
                return place, "a value", "no value"
        elif not (name in _SENTENCES and type(kept[name]) is str):
            difference = _differing(made[name], kept[name], place, optional)
            if difference is not None:
                return difference
    return None
