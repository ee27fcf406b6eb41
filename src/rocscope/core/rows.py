"""Rows: what every container of predictions, of two classes or more, does with them."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope import _validation as check
from rocscope.errors import ColumnError, InputError, ShapeError

Array = NDArray[Any]


def model_name(models: Sequence[str], model: str | None) -> str:
    """Return the model meant, which may be left out when there is only one."""
    if model is None and len(models) == 1:
        return models[0]
    if model is None:
        raise ColumnError("model", expected=f"one of {list(models)}", got="no name", hint="name the model")
    if model not in models:
        raise ColumnError("model", expected=check.one_of(model, models), got=repr(model))
    return model


def row_mask(rows: Any, n: int) -> Array:
    """Return `rows` as a mask of `n` entries that selects at least one."""
    mask = check.check_column(rows, "rows", n)
    if mask.dtype != np.bool_:
        raise ShapeError("rows", expected="a mask of True and False", got=f"values of type {mask.dtype}")
    if not mask.any():
        raise ShapeError("rows", expected="at least one row selected", got="none")
    return mask


def groups(name: str, column: Array | None) -> dict[Hashable, Array]:
    """Return the mask of each value of a fold or segment column."""
    if column is None:
        raise InputError(f"there is no {name} column", hint=f"pass {name}= to Predictions or rocscope.read")
    check.check_present(column, name, InputError)
    return {value: column == value for value in check.distinct(column)}


def take(column: Array | None, mask: Any) -> Array | None:
    """Return the selected rows of a column that may not be there."""
    return None if column is None else column[mask]
