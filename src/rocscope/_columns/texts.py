"""Columns of text: which different ones there are, found by hashing where sorting all rows takes ten times as long."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope._types import Array

MOST_SORTED = 50_000
"""As many rows as NumPy sorts before Arrow is loaded."""


def told_apart(column: Array) -> tuple[Array, NDArray[np.int32]] | None:
    """Return the different texts of a column in their order, and the place of each row's.

    None where the column is a short one, or holds anything else, also here and there.

    Examples
    --------
    >>> names, place = told_apart(np.array(["s", "north", "s"] * 20_000))
    >>> names.tolist(), place[:3].tolist(), told_apart(np.array([5] * 60_000))
    (['north', 's'], [1, 0, 1], None)
    """
    if column.size <= MOST_SORTED or column.dtype.kind not in "USO":
        return None
    found = _by_bytes(column) if column.dtype.kind in "US" else _by_text(column)
    if found is None:
        return None
    names, place = found
    order = np.argsort(names)
    rank = np.empty(order.size, np.int32)
    rank[order] = np.arange(order.size)
    return names[order], rank[place]


def _by_bytes(column: Array) -> tuple[Array, Array]:
    """Return texts of one width as they lie in memory: as Arrow's own, they would end at a zero."""
    import pyarrow as pa

    flat = np.ascontiguousarray(column)
    fixed = pa.FixedSizeBinaryArray.from_buffers(pa.binary(flat.itemsize), flat.size, [None, pa.py_buffer(flat)])
    coded = fixed.dictionary_encode()
    names = np.frombuffer(coded.dictionary.buffers()[1], column.dtype, count=len(coded.dictionary))
    return names, coded.indices.to_numpy()


def _by_text(column: Array) -> tuple[Array, Array] | None:
    import pyarrow as pa

    try:
        texts: Any = pa.array(column)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):  # of several types, or no UTF-8
        return None
    if not pa.types.is_string(texts.type) or texts.null_count:
        return None
    coded = texts.dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):  # of more than 2 GB
        coded = coded.unify_dictionaries().combine_chunks()
    names = np.empty(len(coded.dictionary), object)
    names[:] = coded.dictionary.to_pylist()
    return names, coded.indices.to_numpy()
