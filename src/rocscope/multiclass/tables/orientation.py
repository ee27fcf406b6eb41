"""Orientation: which way round a k × k matrix is written must be said, unless it makes no difference."""

from typing import Any, Literal

import numpy as np

from rocscope._types import Array
from rocscope.errors import InputError, ShapeError

RowsAre = Literal["actual", "predicted"]


def rows_actual(matrix: Any, name: str, rows: RowsAre | None) -> Array:
    """Return a square matrix of finite numbers with actual classes in rows, predicted ones in columns."""
    array = np.asarray(matrix)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.shape[0] < 2:
        raise ShapeError(
            name,
            expected="a square matrix, one row and one column per class",
            got=" × ".join(map(str, array.shape)) or "a single number",
        )
    if array.dtype.kind not in "biuf" or not np.isfinite(array).all():
        raise InputError(name, expected="finite numbers", got=repr(array.tolist()))
    if rows not in ("actual", "predicted", None):
        raise InputError("rows", expected="'actual' or 'predicted'", got=repr(rows))
    if rows is None and not np.array_equal(array, array.T):
        raise InputError(
            name,
            expected="to know what the rows of a matrix are that is not symmetric",
            got="no rows=",
            hint="pass rows='actual' (as scikit-learn writes it) or rows='predicted'",
        )
    oriented = array.T if rows == "predicted" else array
    return np.array(oriented, dtype=np.float64 if array.dtype.kind == "f" else np.int64)
