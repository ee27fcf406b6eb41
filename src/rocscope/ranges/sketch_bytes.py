"""The bytes of a CountsSketch: versioned, with a checksum, and refused unless all is as it was stored."""

import hashlib
import json
import struct
from collections.abc import Sequence
from typing import Any, NoReturn, cast

import numpy as np

from rocscope._base.arrays import Array
from rocscope._base.json_format import Fields, parse, require_version
from rocscope.core.result import jsonable
from rocscope.errors import InputError, StoredError

MAGIC = b"rocscope.sketch\n"
VERSION = 1
_HEAD = struct.Struct("<16sIQ")
_CHECKSUM = 32
_WIDEST = 63
_COLUMNS = ("<u8", "u1", "<i8", "<i8", "<u8", "<u8")
_CELL = sum(np.dtype(kind).itemsize for kind in _COLUMNS)
_ANEW = "count the rows anew"


def seal(facts: dict[str, Any], columns: Sequence[Array]) -> bytes:
    """Return facts and the columns of the cells as bytes, the same on every machine."""
    label = facts["pos_label"]
    plain = jsonable(label)
    if not (plain is None or isinstance(plain, str | int | float)):
        got = repr(label)
        raise InputError("pos_label", expected="a text, a number or a boolean to be stored", got=got)
    header = json.dumps(jsonable(facts) | {"cells": int(columns[0].size)}, sort_keys=True).encode()
    parts = [_HEAD.pack(MAGIC, VERSION, len(header)), header]
    parts += [column.astype(kind).tobytes() for column, kind in zip(columns, _COLUMNS, strict=True)]
    content = b"".join(parts)
    return content + hashlib.sha256(content).digest()


def unseal(data: Any) -> tuple[Fields, list[Array]]:
    """Return what `seal` was given, or raise StoredError."""
    content = bytes(cast(bytes, data)) if isinstance(data, bytes | bytearray | memoryview) else b""
    if len(content) < _HEAD.size or not content.startswith(MAGIC):
        _refuse("the bytes of a sketch", "something else")
    _, version, length = _HEAD.unpack_from(content)
    require_version(version, VERSION, "sketch", "a sketch", _ANEW)
    content, checksum = content[:-_CHECKSUM], content[-_CHECKSUM:]
    if hashlib.sha256(content).digest() != checksum:
        _refuse("the bytes that were stored", "bytes that were cut or changed")
    begin, columns = _HEAD.size + length, list[Array]()
    facts = parse(content[_HEAD.size : begin], "sketch", "a sketch", _ANEW)
    cells, rows = facts.whole("cells"), [facts.whole("n_pos"), facts.whole("n_neg")]
    if begin + cells * _CELL != len(content):
        _refuse(f"{begin + cells * _CELL} bytes of content", str(len(content)))
    for kind in _COLUMNS:
        columns.append(np.frombuffer(content, kind, cells, begin).astype(np.dtype(kind).newbyteorder("=")))
        begin += columns[-1].nbytes
    if not _are_cells(*columns) or [sum(column.tolist()) for column in columns[2:4]] != rows:
        _refuse("cells in order that hold all rows", "others")
    return facts, columns


def _are_cells(start: Array, shift: Array, pos: Array, neg: Array, low: Array, high: Array) -> bool:
    """Whether cells are nested or apart, in order, and rows within them: compiled loops rely on it."""
    if (shift > _WIDEST).any():
        return False
    inside = (np.uint64(1) << shift.astype(np.uint64)) - np.uint64(1)
    whole = not (start & inside).any() and (low <= high).all() and (pos >= 0).all() and (neg >= 0).all()
    within = (low >= start).all() and (high <= start + inside).all()
    later = (start[1:] > start[:-1]) | ((start[1:] == start[:-1]) & (shift[1:] < shift[:-1]))
    return bool(whole and within and later.all())


def _refuse(expected: str, got: str) -> NoReturn:
    raise StoredError("sketch", expected=expected, got=got, hint=_ANEW)
