"""Attributes of any kind: how many rows they have, and some of the rows."""

from typing import Any

import numpy as np

from rocscope._types import Array
from rocscope.errors import ShapeError


def attributes(X: Any, n: int) -> Any:
    """Return attributes of n rows as what `rows_of` takes: a sparse matrix, a frame of any library, or an array."""
    if hasattr(X, "tocsr"):
        X = X.tocsr()
    elif not _is_frame(X):
        X = _array(X)
    rows = X.shape[0]
    if rows != n:
        raise ShapeError("X", expected=f"one row per label ({n})", got=str(rows), hint="X and y must have equal rows")
    return X


def _array(values: Any) -> Array:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ShapeError("X", expected="a table", got="rows of different lengths") from error
    if array.ndim == 0:
        raise ShapeError("X", expected="a table of attributes", got=type(values).__name__)
    return array


def _is_frame(X: Any) -> bool:
    return hasattr(X, "iloc") or hasattr(X, "__dataframe__") or hasattr(X, "column_names")


def rows_of(X: Any, index: Array) -> Any:
    """Return some rows, in the order of `index`, as the same kind of table.

    Examples
    --------
    >>> import pandas as pd
    >>> rows_of(pd.DataFrame({"a": [1, 2, 3]}), np.array([2, 0])).a.tolist()
    [3, 1]
    """
    if hasattr(X, "iloc"):
        return X.iloc[index]
    if isinstance(X, np.ndarray) or hasattr(X, "tocsr"):
        return X[index]
    import narwhals as nw

    return nw.from_native(X, eager_only=True)[index.tolist()].to_native()
