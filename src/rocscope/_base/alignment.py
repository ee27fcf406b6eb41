"""Check that columns which carry an index (pandas, xarray) carry the same one.

rocscope compares rows by position. Two series of the same rows in another order would give a wrong figure without
warning.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from rocscope.errors import PairingError


def check_same_index(**columns: Any) -> None:
    """Raise PairingError if two columns of one length have an index, and these differ.

    Columns without an index fit any. Columns of different lengths are refused elsewhere, by their length.

    Parameters
    ----------
    **columns : array, frame, mapping from name to array, or None
        By the name of their argument.

    Examples
    --------
    >>> import pandas as pd
    >>> labels, scores = pd.Series([0, 1], index=["a", "b"]), pd.Series([0.9, 0.1], index=["b", "a"])
    >>> check_same_index(y_true=labels, y_score=scores.loc[labels.index])
    >>> check_same_index(y_true=labels, y_score=scores.to_numpy())
    >>> check_same_index(y_true=labels, y_score=scores)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    rocscope.errors.PairingError: y_score: expected the index of y_true, got 'b' in row 0 where y_true has 'a' …
    """
    first: tuple[str, Any] | None = None
    for name, column in columns.items():
        for label, index in _indexes(name, column):
            if first is None:
                first = label, index
            elif index is not first[1] and len(index) == len(first[1]) and not first[1].equals(index):
                raise _misaligned(*first, label, index)


def _indexes(name: str, column: Any) -> Iterator[tuple[str, Any]]:
    """Yield the index of a column, or of each column of a mapping."""
    if isinstance(column, Mapping):
        for key, each in column.items():
            yield from _indexes(f"{name}[{key!r}]", each)
        return
    index = getattr(column, "index", None)  # of a list, a method
    if hasattr(index, "equals"):
        yield name, index
    elif hasattr(column, "indexes") and getattr(column, "dims", ()):  # xarray: only of dimensions that have one
        index = column.indexes.get(column.dims[0])
        if index is not None:
            yield name, index


def _misaligned(first: str, expected: Any, name: str, got: Any) -> PairingError:
    row = next((row for row, pair in enumerate(zip(expected, got, strict=True)) if not _same(*pair)), 0)
    difference = f"{_shown(got[row])} in row {row} where {first} has {_shown(expected[row])}"
    hint = (
        f"if the rows are in the same order, drop the index ({name}.to_numpy() or .reset_index(drop=True)); "
        f"if not, align them: {name}.loc[{first}.index]"
    )
    return PairingError(name, expected=f"the index of {first}", got=difference, hint=hint)


def _same(a: Any, b: Any) -> bool:
    return bool(a == b or (a != a and b != b))


def _shown(label: Any) -> str:
    return repr(label.item() if isinstance(label, np.generic) else label)
