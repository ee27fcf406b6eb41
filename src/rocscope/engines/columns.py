"""From Arrow columns to NumPy, value by value as they are: no score is rounded, no missing value is filled unseen."""

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from rocscope import _validation as check
from rocscope.errors import InputError, LabelError

Array = NDArray[Any]

_compute: Any = pyarrow.compute  # its functions are made when it is imported, unseen by type checkers

_NA_WORDS = ("NA", "N/A", "#N/A", "NULL", "null", "None", ".")
_DECIMAL_DIGITS = 15  # so many are distinct, and in order, as float64
_DECIMAL_PLACES = 22  # ten to this power is exact as float64


@dataclass(frozen=True)
class Column:
    """Values of a column, and where they are missing or infinite (None: nowhere).

    `classes` holds the distinct values of a column of labels or groups that NumPy has no type for; `values` are then
    positions in it.
    """

    values: Array
    missing: NDArray[np.bool_] | None = None
    classes: Array | None = None

    def keep(self, rows: NDArray[np.bool_]) -> "Column":
        """Return the rows where the mask is true, which must not be missing ones."""
        return replace(self, values=self.values[rows], missing=None)

    def decoded(self) -> Array:
        """Return the values themselves."""
        return self.values if self.classes is None else self.classes[self.values]


def numbers(column: pa.ChunkedArray, subject: str, error: type[InputError], *, untyped: bool = False) -> Column:
    """Return a column of numbers in its own type.

    Whole decimals become integers, and others float64 where that is exact in order. In a file of untyped text, words
    for "not available" are missing values.
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if _is_text(column.type):
        column = _parsed(column, subject, error, untyped=untyped)
    if pa.types.is_decimal(column.type):
        column = _from_decimal(column, subject, error)
    if not _is_number(column.type):
        raise error(subject, expected="numbers", got=f"values of type {column.type}")
    return _plain(column)


def labels(column: pa.ChunkedArray, subject: str) -> Column:
    """Return a column of labels: numbers and truth values as they are, others as positions among their classes."""
    if pa.types.is_dictionary(column.type) and not _is_text(column.type.value_type):
        column = column.cast(column.type.value_type)
    if pa.types.is_decimal(column.type):
        column = _from_decimal(column, subject, LabelError)
    return _plain(column) if _is_number(column.type) else _encoded(column, subject)


def groups(column: pa.ChunkedArray, subject: str) -> Column:
    """Return a column that names folds or segments."""
    if pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
        values = column.to_numpy()
        return Column(values, _or_none(np.isnat(values)))
    return labels(column, subject)


def positives(column: Column, pos_label: Any, subject: str, *, untyped: bool = False) -> NDArray[np.bool_]:
    """Return True where a label is the positive one, which may be given as text where labels are numbers."""
    if column.classes is None:
        if isinstance(pos_label, str):
            pos_label = written(pos_label, column.values.dtype)
        return check.check_labels(column.values, pos_label, subject)
    used = np.flatnonzero(np.bincount(column.values, minlength=column.classes.size))
    classes = column.classes[used]
    if untyped and not isinstance(pos_label, str) and {str(name).casefold() for name in classes} <= {"true", "false"}:
        classes = np.array([str(name).casefold() == "true" for name in classes])
    is_positive = np.zeros(column.classes.size, dtype=np.bool_)
    is_positive[used] = check.check_labels(classes, pos_label, subject)
    return is_positive[column.values]


def written(label: str, dtype: np.dtype[Any]) -> Any:
    """Return the label that a text stands for among labels of a type, or the text where it stands for none."""
    if dtype == np.bool_:
        return {"true": True, "false": False}.get(label.casefold(), label)
    try:
        return int(label) if dtype.kind in "iu" else float(label)
    except ValueError:
        return label


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def _is_number(kind: pa.DataType) -> bool:
    checks = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_null)
    return any(check_type(kind) for check_type in checks)


def _or_none(missing: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    return missing if missing.any() else None


def _plain(column: pa.ChunkedArray) -> Column:
    if pa.types.is_null(column.type):
        return Column(np.zeros(len(column)), _or_none(np.ones(len(column), dtype=np.bool_)))
    if pa.types.is_floating(column.type):
        values = column.to_numpy()  # nulls become NaN
        return Column(values, _or_none(~np.isfinite(values)))
    missing = None
    if column.null_count:
        missing = column.is_null().to_numpy()
        column = column.fill_null(False if pa.types.is_boolean(column.type) else 0)
    return Column(column.to_numpy(), missing)


def _encoded(column: pa.ChunkedArray, subject: str) -> Column:
    if not pa.types.is_dictionary(column.type):
        try:
            column = column.dictionary_encode()
        except pa.ArrowNotImplementedError:
            got = f"values of type {column.type}"
            raise InputError(subject, expected="text, numbers or dates", got=got, hint="write it as text") from None
    column = column.unify_dictionaries()
    names = column.chunk(0).dictionary.to_pylist() if column.num_chunks else []
    classes = np.empty(len(names), dtype=object)
    classes[:] = names
    codes = pa.chunked_array([chunk.indices.cast(pa.int32()) for chunk in column.chunks], pa.int32())
    coded = _plain(codes)
    return replace(coded, classes=classes)


def _parsed(column: pa.ChunkedArray, subject: str, error: type[InputError], *, untyped: bool) -> pa.ChunkedArray:
    """Read text as numbers where the file holds nothing but text; refuse it where the file knows numbers."""
    hint = "convert the column to numbers first"
    if untyped:
        hint = "correct such values, or leave their rows out with where="
        column = _compute.utf8_trim_whitespace(column)
        column = _compute.if_else(_compute.is_in(column, pa.array(["", *_NA_WORDS], column.type)), None, column)
        for kind in (pa.int64(), pa.float64()):
            if _casts(column, kind):
                return column.cast(kind)
    row, value = _first_not_number(column, untyped=untyped)
    if untyped and value is not None and re.fullmatch(r"[+-]?\d+,\d+", value):
        hint = "write decimals with a point"
    raise error(subject, expected="numbers", got=f"text, such as {value!r} in row {row}", hint=hint)


def _casts(values: Any, kind: pa.DataType) -> bool:
    try:
        values.cast(kind)
    except pa.ArrowInvalid:
        return False
    return True


def _first_not_number(column: pa.ChunkedArray, *, untyped: bool) -> tuple[int, str | None]:
    start = 0
    for chunk in column.chunks:
        if chunk.null_count < len(chunk) and not (untyped and _casts(chunk, pa.float64())):
            for row, value in enumerate(chunk, start):
                if value.is_valid and not (untyped and _casts(value, pa.float64())):
                    return row, value.as_py()
        start += len(chunk)
    return 0, None


def _from_decimal(column: pa.ChunkedArray, subject: str, error: type[InputError]) -> pa.ChunkedArray:
    scale = column.type.scale
    whole = next((kind for kind in (pa.int64(), pa.uint64()) if scale <= 0 and _casts(column, kind)), None)
    if whole is not None:
        return column.cast(whole)
    few_digits = pa.decimal128(_DECIMAL_DIGITS, scale)
    if not (0 < scale <= _DECIMAL_PLACES and _casts(column, few_digits)):
        hint = "convert the column to DOUBLE or BIGINT first, if that loses nothing that matters"
        expected = f"numbers of 64 bits, or decimals of at most {_DECIMAL_DIGITS} digits"
        raise error(subject, expected=expected, got=f"values of type {column.type}", hint=hint)
    # Arrow's own cast multiplies by 0.1^scale and is off by one bit in many values; a quotient of exact numbers is not.
    return pa.chunked_array([_quotients(chunk.cast(few_digits), scale) for chunk in column.chunks], pa.float64())


def _quotients(decimals: pa.Array, scale: int) -> pa.Array:
    words = np.frombuffer(decimals.buffers()[1], dtype="<i8")
    unscaled = words[2 * decimals.offset : 2 * (decimals.offset + len(decimals)) : 2]
    return pa.array(unscaled / 10.0**scale, mask=decimals.is_null().to_numpy(zero_copy_only=False))
