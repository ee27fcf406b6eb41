"""FileLayout: how a file is written, where neither its name nor its content tells."""

import codecs
from collections.abc import Iterable
from dataclasses import dataclass

from rocscope.engines.sources.finding import FORMATS
from rocscope.errors import InputError

_TEXT = {"decimal": ("csv", "tsv"), "delimiter": ("csv",), "encoding": ("csv", "tsv", "jsonl")}
_TAB = ("\\t", "tab")  # as it can be typed


@dataclass(frozen=True)
class FileLayout:
    """The arguments of `rocscope.read` that say how a source is written; see there.

    Examples
    --------
    >>> FileLayout(decimal=",").delimiters
    ';\\t|'
    """

    format: str | None = None
    decimal: str | None = None
    delimiter: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in FORMATS:
            raise InputError("format", expected=f"one of {', '.join(FORMATS)}", got=repr(self.format))
        if self.decimal not in (None, ".", ","):
            raise InputError("decimal", expected="'.' or ','", got=repr(self.decimal))
        if self.delimiter is not None and (len(self.delimiters) != 1 or self.delimiters in f'"\r\n{self.decimal_mark}'):
            expected = "one character, which neither quotes nor is the decimal mark"
            raise InputError("delimiter", expected=expected, got=repr(self.delimiter))
        if self.encoding is not None and not _is_encoding(self.encoding):
            raise InputError("encoding", expected="one that Python knows, such as 'latin-1'", got=repr(self.encoding))

    @property
    def decimal_mark(self) -> str:
        """What numbers are written with."""
        return self.decimal or "."

    @property
    def delimiters(self) -> str:
        """What fields may be apart by; the one that makes most of them is taken."""
        if self.delimiter is not None:
            return "\t" if self.delimiter in _TAB else self.delimiter
        return ",;\t|".replace(self.decimal_mark, "")

    def refuse(self, kind: str, names: Iterable[str] = ("format", *_TEXT)) -> None:
        """Raise InputError for arguments that mean nothing to a kind of source."""
        for name in names:
            if (given := getattr(self, name)) is not None:
                raise InputError(name, expected=f"none for {kind}", got=repr(given))

    def require_meaning(self, format: str) -> None:
        """Raise InputError for arguments that mean nothing to a format."""
        self.refuse(f"{format} files", (name for name, formats in _TEXT.items() if format not in formats))


def _is_encoding(name: object) -> bool:
    try:
        return isinstance(name, str) and codecs.lookup(name)._is_text_encoding
    except (LookupError, ValueError):  # a null byte
        return False


AS_IT_TELLS = FileLayout()
