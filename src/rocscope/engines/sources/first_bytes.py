"""What the beginning of a file tells: that it is not what its name says, and the encoding of a text.

The open page has the same rules (`first_bytes.ts`).
"""

import codecs

from rocscope.errors import EngineError

LOOKED_AT = 1 << 20
"""Bytes at the beginning that are looked at: thousands of rows, read in a millisecond."""
FALLBACK = "cp1252"
"""What Excel and most other programs of Windows write in Europe and America where it is not UTF-8."""
_UNDEFINED = b"\x81\x8d\x8f\x90\x9d"
"""Bytes that Windows-1252 has no sign for: Python refuses them, and browsers make invisible signs of them."""

UNLIKE_TEXT = [
    [
        "PK\x03\x04",
        "an Excel workbook or a ZIP archive",
        "in Excel choose File > Save As > CSV UTF-8; unpack an archive",
    ],
    ["\xd0\xcf\x11\xe0", "an old Excel workbook", "in Excel choose File > Save As > CSV UTF-8"],
    ["%PDF", "a PDF file", "export the table as CSV"],
    ["\x1f\x8b", "data compressed by gzip", "end its name in .gz"],
    ["\x28\xb5\x2f\xfd", "data compressed by zstd", "end its name in .zst"],
    ["BZh91AY", "data compressed by bzip2", "unpack it first"],
    ["\xfd7zXZ", "data compressed by xz", "unpack it first"],
    ["7z\xbc\xaf", "a 7z archive", "unpack it first"],
    ["PAR1\x15", "a Parquet file", "end its name in .parquet"],
    ["ARROW1\0\0", "an Arrow file", "end its name in .arrow"],
    ["SQLite format 3\0", "an SQLite database", "export the table as CSV"],
]
"""Files of other kinds by how they begin (as Latin-1), and what to do with them."""


def refuse_other_kinds(start: bytes, name: str, expected: str) -> None:
    r"""Raise EngineError if a file begins as one of another kind.

    Examples
    --------
    >>> refuse_other_kinds(b"PAR1\x15...", "scores.csv", "CSV text")
    Traceback (most recent call last):
    rocscope.errors.EngineError: scores.csv: expected CSV text, got a Parquet file; end its name in .parquet
    """
    text = start[:16].decode("latin-1")
    for magic, got, hint in UNLIKE_TEXT:
        if text.startswith(magic):
            raise EngineError(name, expected=expected, got=got, hint=hint)


def encoding_of(start: bytes) -> str:
    r"""Return the encoding that the beginning of a text is written in.

    A byte order mark, or zeros in every other byte, tells UTF-16. Anything that is no UTF-8 is taken for Windows-1252,
    unless it has bytes that this has no signs for.

    Examples
    --------
    >>> encoding_of("größe".encode()), encoding_of("größe".encode("latin-1")), encoding_of("y".encode("utf-16"))
    ('utf-8', 'cp1252', 'utf-16')
    """
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-8" if start.startswith(codecs.BOM_UTF32_LE) else "utf-16"  # which refuses UTF-32
    pairs = start[:4].ljust(4, b"x")
    if pairs[1] == pairs[3] == 0 != pairs[0]:
        return "utf-16-le"
    if pairs[0] == pairs[2] == 0 != pairs[1]:
        return "utf-16-be"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return "utf-8" if set(start) & {0, *_UNDEFINED} else FALLBACK
    return "utf-8"
