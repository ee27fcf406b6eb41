"""Convert Arrow columns to NumPy arrays without rounding scores and without filling missing values.

Every column that is read has a `Role`, such as label, score of a model, weight or segment. The role determines the type
of the array and the class of errors for invalid values. A converted `Column` has a mask of missing values.

Numbers keep their type. Types that NumPy does not have are converted if distinct values remain distinct. Decimal
numbers become integers if all are whole, and float64 if each has at most 15 significant digits. A numeric column of a
text file gets the first of the types int64, uint64 and float64 that can represent all its values.

Order of the file: `Column`, numbers, labels and groups, positive labels, roles, `CountRequest`, and class
probabilities.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from rocscope import errors
from rocscope._base import arrays, validation as check
from rocscope._base.arrays import Array, Booleans
from rocscope._base.progress import Tell, unreported
from rocscope.core import Context
from rocscope.engines import formats

_TEXT_KINDS = (pa.int64(), pa.uint64(), pa.float64())
_WHOLE_KINDS = (pa.int64(), pa.uint64(), pa.float64())
_DECIMAL_PLACES = 22  # the largest power of ten that float64 represents exactly: 5^22 < 2^53
_NOT_NUMERIC = "\u00b7"  # replaces a character that no number may contain

# Advice for numbers with other marks, by the given decimal mark.
_ADVICE_ON_MARKS = {
    ".": (
        (r"[+-]?\d{1,3}(,\d{3})+\.\d*", "write the numbers without thousands separators"),
        (r"[+-]?[\d.]*,\d+", "pass the decimal mark: decimal=',' (--decimal ,)"),
    ),
    ",": ((r"[+-]?[\d.]*\.\d+(,\d*)?", "write the numbers without thousands separators, or pass the decimal mark"),),
}


@dataclass(frozen=True)
class Column:
    """Values of a column, and a mask of missing or infinite values. The mask is None if all values are finite.

    If the labels or groups in a column are not numbers, `classes` contains their distinct values, and `values` contains
    indices into `classes`. Both stay Arrow arrays, because this is faster than creating Python objects.
    """

    values: Array
    missing: Booleans | None = None
    classes: pa.Array | None = None

    @cached_property
    def names(self) -> Array:
        """The classes as Python objects."""
        return objects(self.classes)

    def keep(self, rows: Booleans) -> "Column":
        """Return the rows selected by a mask. The selected values must not be missing."""
        return replace(self, values=self.values[rows], missing=None)

    def decoded(self) -> Array:
        """Return the values. Indices are replaced by the classes that they refer to."""
        return self.values if self.classes is None else self.names[self.values]

    def or_none(self) -> "Column":
        """Return the values as in `decoded`, with None for missing values."""
        if self.missing is None:
            return self
        values = np.full(self.missing.size, None, object)
        values[~self.missing] = self.keep(~self.missing).decoded()
        return Column(values)

    def as_scores(self) -> Array:
        """Return the values as a contiguous array of numbers. Booleans become 0 and 1."""
        return np.ascontiguousarray(self.values.view(np.uint8) if self.values.dtype == np.bool_ else self.values)


def objects(values: Any) -> Array:
    """Return Arrow values as an array of Python objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = values.to_pylist()
    return array


# ---- Numbers ----


def kinds_of(column: pa.ChunkedArray, kind: pa.DataType, *, decimal: str) -> list[pa.DataType]:
    """Return the numeric types that can represent a part of a column of type `kind`.

    The list is empty if the type alone determines the conversion. Otherwise, all parts must be read.
    """
    if pa.types.is_decimal(kind) and kind.scale <= 0:
        return [wanted for wanted in _WHOLE_KINDS if _holds(column, wanted)]
    if decimal and _is_text(kind):
        return [wanted for wanted in _TEXT_KINDS if _casts(_blanked(column, decimal), wanted)]
    return []


def numbers(
    column: pa.ChunkedArray,
    subject: str,
    error: type[errors.InputError],
    *,
    decimal: str = "",
    kind: pa.DataType | None = None,
    first_row: int | None = 0,
) -> Column:
    """Return a column of numbers in its own type.

    If `column` is a part of a column, `kind` is the numeric type of the whole column, and `first_row` is the number of
    its first row for messages, or None if rows have no numbers.

    Decimal numbers become integers if all are whole. They become float64 if this preserves distinct values and their
    order. In text files, which have a `decimal` mark, words such as "NA" are missing values.
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if _is_text(column.type):
        column = _parsed(column, subject, error, decimal, kind, first_row or 0)
    if pa.types.is_decimal(column.type):
        column = _from_decimal(column, subject, error, kind, first_row)
    if not _is_number(column.type):
        raise error(subject, expected="numbers", got=f"values of type {column.type}")
    return _plain(column)


def _parsed(
    column: pa.ChunkedArray,
    subject: str,
    error: type[errors.InputError],
    decimal: str,
    kind: pa.DataType | None,
    first_row: int,
) -> pa.ChunkedArray:
    """Parse text as numbers if the file format stores only text. Raise an error for text in other formats."""
    hint = "convert the column to numbers first"
    text = column
    if decimal:
        hint = "correct such values, or exclude their rows with where="
        column = _blanked(column, decimal)
        for wanted in _TEXT_KINDS if kind is None else (kind,):
            if _casts(column, wanted):
                parsed = column.cast(wanted)
                _require_exact(column, parsed, subject, error, first_row)
                return parsed
    row = _first_not_number(column, untyped=bool(decimal))
    value = text[row].as_py() if row < len(text) else None
    if decimal and value is not None:
        value = value.strip()
        for pattern, advice in _ADVICE_ON_MARKS[decimal]:
            if re.fullmatch(pattern, value):
                hint = advice
                break
    raise error(subject, expected="numbers", got=f"text, such as {value!r} in row {first_row + row}", hint=hint)


def _require_exact(
    text: pa.ChunkedArray, parsed: pa.ChunkedArray, subject: str, error: type[errors.InputError], first_row: int
) -> None:
    """Raise an error if float64 would round whole numbers."""
    if not pa.types.is_float64(parsed.type):
        return
    values = parsed.to_numpy()
    for row in np.flatnonzero(np.abs(values) >= arrays.FIRST_ROUNDED).tolist():
        digits = text[row].as_py()
        if re.fullmatch(r"[+-]?\d+", digits) and (abs(values[row]) == np.inf or int(values[row]) != int(digits)):
            hint = "write the number with a decimal point or an exponent, if rounding does not matter"
            raise error(subject, expected=arrays.WHOLE_OF_64_BITS, got=f"{digits} in row {first_row + row}", hint=hint)


def _blanked(column: pa.ChunkedArray, decimal: str) -> pa.ChunkedArray:
    """Return text without surrounding spaces. Words such as "NA" become missing values."""
    from pyarrow import compute as module  # takes ten megabytes

    compute: Any = module  # its functions are created on import, so type checkers do not know them
    column = compute.utf8_trim_whitespace(column)
    words = "|".join(map(re.escape, formats.NA_WORDS))
    blank = compute.match_substring_regex(column, f"^(?:{words})?$")
    if decimal != ".":
        # Text is cast with a point as decimal mark, so a point with another meaning must not be accepted.
        column = compute.replace_substring(column, ".", _NOT_NUMERIC)
        column = compute.replace_substring(column, decimal, ".")
    # Arrow would read 0x1A as 26.
    column = compute.replace_substring_regex(column, "[xX]", _NOT_NUMERIC)
    # Use Arrow's null: converting Python's None would import pandas.
    return compute.if_else(blank, pa.nulls(1, column.type)[0], column)


def _casts(values: Any, kind: pa.DataType) -> bool:
    try:
        values.cast(kind)
    except pa.ArrowInvalid:
        return False
    return True


def _holds(column: pa.ChunkedArray, kind: pa.DataType) -> bool:
    """Return True if a type represents all whole numbers of a decimal column exactly."""
    if not pa.types.is_floating(kind) or _casts(column, pa.decimal128(arrays.DECIMAL_DIGITS, 0)):
        return _casts(column, kind)
    # Python compares whole numbers and floats exactly.
    return all(value is None or int(value) == float(value) for value in column.to_pylist())


def _first_not_number(column: pa.ChunkedArray, *, untyped: bool) -> int:
    start = 0
    for chunk in column.chunks:
        if chunk.null_count < len(chunk) and not (untyped and _casts(chunk, pa.float64())):
            for row, value in enumerate(chunk, start):
                if value.is_valid and not (untyped and _casts(value, pa.float64())):
                    return row
        start += len(chunk)
    return 0


def _from_decimal(
    column: pa.ChunkedArray,
    subject: str,
    error: type[errors.InputError],
    kind: pa.DataType | None = None,
    first_row: int | None = 0,
) -> pa.ChunkedArray:
    if column.type.scale <= 0:
        for wanted in _WHOLE_KINDS if kind is None else (kind,):
            if _holds(column, wanted):
                return column.cast(wanted)
    # Zeros at the end of all values, such as those of a scale of 18, are not needed.
    for places in range(min(column.type.scale, _DECIMAL_PLACES), 0, -1):
        if _casts(column, pa.decimal128(arrays.DECIMAL_DIGITS, places)):
            return _quotients(column.cast(pa.decimal128(arrays.DECIMAL_DIGITS, places)))

    # Large and small values together need more places, but each value may have few digits.
    values = column.to_pylist()
    for row, value in enumerate(values):
        if value is None or (column.type.scale > 0 and arrays.has_few_digits(value)):
            continue
        if column.type.scale > 0 or int(value) != float(value):
            got = arrays.inexact(value, None if first_row is None else first_row + row)
            hint = "convert the column to DOUBLE or BIGINT first, if rounding does not matter"
            raise error(subject, expected=arrays.EXACT_NUMBERS, got=got, hint=hint)
    floats = [None if value is None else float(value) for value in values]
    return pa.chunked_array([pa.array(floats, pa.float64())])


def _quotients(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return decimals of few digits as the nearest float64.

    Arrow's cast multiplies by 0.1^scale, which has an error of one bit for many values. The quotient of two numbers
    that float64 represents exactly is rounded once, to the nearest float64.
    """
    quotients = []
    for decimals in column.chunks:
        words = np.frombuffer(decimals.buffers()[1], dtype="<i8")
        # Decimals have 128 bits; the lower 64 bits (every other word) are sufficient for 15 digits.
        unscaled = words[2 * decimals.offset : 2 * (decimals.offset + len(decimals)) : 2]
        missing = decimals.is_null().to_numpy(zero_copy_only=False)
        quotients.append(pa.array(unscaled / 10.0**column.type.scale, mask=missing))
    return pa.chunked_array(quotients, pa.float64())


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def _is_number(kind: pa.DataType) -> bool:
    is_real = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return is_real or pa.types.is_boolean(kind) or pa.types.is_null(kind)


def _plain(column: pa.ChunkedArray) -> Column:
    """Return numbers or booleans, and a mask of missing or infinite values."""
    if pa.types.is_null(column.type):
        return Column(np.zeros(len(column)), _mask(np.ones(len(column), dtype=np.bool_)))
    if pa.types.is_floating(column.type):
        values = _to_numpy(column.fill_null(float("nan")) if column.null_count else column)
        return Column(values, _mask(~np.isfinite(values)))
    missing = None
    if column.null_count:
        missing = _to_numpy(column.is_null())
        column = column.fill_null(False if pa.types.is_boolean(column.type) else 0)
    return Column(_to_numpy(column), missing)


def _mask(missing: Booleans) -> Booleans | None:
    return missing if missing.any() else None


def _to_numpy(column: pa.ChunkedArray) -> Array:
    """Return numbers or booleans without nulls as a NumPy array. Arrow's own conversion would import pandas."""
    if pa.types.is_boolean(column.type):
        return _to_numpy(column.cast(pa.uint8())).view(np.bool_)
    chunks = [np.from_dlpack(chunk) for chunk in column.chunks]
    if len(chunks) == 1:
        return chunks[0]
    return np.concatenate(chunks) if chunks else np.zeros(0, column.type.to_pandas_dtype())


# ---- Labels and groups ----


def labels(column: pa.ChunkedArray, subject: str, *, first_row: int | None = 0) -> Column:
    """Return a column of labels. Numbers and booleans are unchanged; other labels become indices of their classes."""
    if pa.types.is_dictionary(column.type) and not _is_text(column.type.value_type):
        column = column.cast(column.type.value_type)
    if pa.types.is_decimal(column.type):
        column = _from_decimal(column, subject, errors.LabelError, first_row=first_row)
    return _plain(column) if _is_number(column.type) else _encoded(column, subject)


def groups(column: pa.ChunkedArray, subject: str) -> Column:
    """Return a column of folds or segments."""
    if pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
        values = column.to_numpy()
        return Column(values, _mask(np.isnat(values)))
    return labels(column, subject)


def _encoded(column: pa.ChunkedArray, subject: str) -> Column:
    """Return a column as indices of its distinct values."""
    if pa.types.is_dictionary(column.type) and any(chunk.dictionary.null_count for chunk in column.chunks):
        # A row is also missing if its index refers to a missing entry; decoding and encoding removes such entries.
        column = column.cast(column.type.value_type)
    if not pa.types.is_dictionary(column.type):
        try:
            column = column.dictionary_encode()
        except pa.ArrowNotImplementedError:
            expected, got = "text, numbers or dates", f"values of type {column.type}"
            raise errors.InputError(subject, expected=expected, got=got, hint="write it as text") from None
    column = column.unify_dictionaries()
    classes = column.chunk(0).dictionary if column.num_chunks else pa.array([], column.type.value_type)
    codes = pa.chunked_array([chunk.indices.cast(pa.int32()) for chunk in column.chunks], pa.int32())
    return replace(_plain(codes), classes=classes)


# ---- Positive labels ----

_MOST_LABELS = 30  # number of distinct labels to find; a message lists fewer


def positives(column: Column, pos_label: Any, subject: str, *, untyped: bool = False) -> Booleans:
    """Return a mask of the positive rows. For numeric labels, the positive label may be given as text."""
    positive, first_rows = positives_and_labels(column, pos_label, untyped=untyped)
    check_two_classes(first_rows, pos_label, subject, untyped=untyped)
    return positive


def positives_and_labels(column: Column, pos_label: Any, *, untyped: bool) -> tuple[Booleans, dict[Any, int]]:
    """Return a mask of the positive rows, and the first row of each distinct label.

    The mask has a meaning only if there are two classes. If there are very many labels, only some are returned.
    """
    if column.classes is None:
        values = column.values
        wanted = 1 if pos_label is None else parsed_label(pos_label, values.dtype)
        return check.equal_to(values, wanted), _first_rows(values)
    pos_label = None if pos_label is None else check.check_label(pos_label, "pos_label")
    first_rows = {column.names[code]: row for code, row in _first_rows(column.values).items()}
    is_positive = np.array([_is_positive(name, pos_label, untyped) for name in column.names], dtype=np.bool_)
    return is_positive[column.values], first_rows


def _is_positive(name: Any, pos_label: Any, untyped: bool) -> bool:
    if untyped and not isinstance(pos_label, str):
        return str(name).casefold() == str(True if pos_label is None else pos_label).casefold()
    return bool(name == pos_label)


def _first_rows(values: Array) -> dict[Any, int]:
    """Return a mapping from distinct value to its first row. If there are many values, return only some of them."""
    rows: dict[Any, int] = {}
    left = np.ones(values.shape, np.bool_)
    while left.any() and len(rows) < _MOST_LABELS:
        row = int(left.argmax())
        rows[values[row].item()] = row
        left &= values != values[row]
    return rows


def check_two_classes(first_rows: dict[Any, int], pos_label: Any, subject: str, *, untyped: bool) -> None:
    """Raise LabelError unless there are two classes. `first_rows` contains the first row of each distinct label."""
    names = list(first_rows)
    if all(isinstance(name, bool | int | float) for name in names):
        distinct = np.array(names)
        if isinstance(pos_label, str):
            pos_label = parsed_label(pos_label, distinct.dtype)
    elif untyped and not isinstance(pos_label, str) and {str(name).casefold() for name in names} <= {"true", "false"}:
        distinct = np.array([str(name).casefold() == "true" for name in names])
    else:
        distinct = np.empty(len(names), dtype=object)
        distinct[:] = names
    check.check_labels(distinct, pos_label, subject, list(first_rows.values()))


def parsed_label(label: Any, dtype: np.dtype[Any]) -> Any:
    """Convert a label given as text to the type `dtype`. Return any other label unchanged."""
    if not isinstance(label, str):
        return label
    if dtype == np.bool_:
        return {"true": True, "false": False}.get(label.casefold(), label)
    try:
        return int(label) if dtype.kind in "iu" else float(label)
    except ValueError:
        return label


# ---- Roles ----

MISSING = ("error", "drop")
"""Values of the argument `missing`: how to treat rows with a missing or infinite value."""

_ERRORS: dict[str, type[errors.InputError]] = {
    "label": errors.LabelError,
    "score": errors.ScoreError,
    "weight": errors.WeightError,
    "proba": errors.ScoreError,
    "predicted": errors.LabelError,
}


@dataclass(frozen=True)
class Role:
    """Use of a column: the argument that names the column, and the model and class for scores and probabilities."""

    argument: str
    column: str
    model: str | None = None
    cls: str | None = None

    def subject(self, source: formats.HasColumns) -> str:
        """Return the name of the column for messages."""
        return f"{self.argument} {self.column!r} of {errors.brief(source.origin)}"

    def convert(
        self, source: formats.Source, table: pa.Table, kind: pa.DataType | None = None, first_row: int = 0
    ) -> Column:
        """Return the column of a table as NumPy values. The arguments are explained in `numbers`."""
        column = table.column(self.column)
        subject = self.subject(source)
        if self.argument in ("label", "predicted", "event"):
            return labels(column, subject)
        if self.argument in ("fold", "segment", "groups"):
            return groups(column, subject)
        error = _ERRORS.get(self.argument, errors.InputError)
        return numbers(column, subject, error, decimal=source.decimal, kind=kind, first_row=first_row)

    @property
    def missing_value(self) -> str:
        """Name of a missing or infinite value of this column, for messages."""
        return f"missing or infinite {self.argument if self.argument in ('label', 'score', 'weight') else 'value'}"

    def incomplete(self, source: formats.HasColumns, got: str) -> errors.InputError:
        """Return the error for missing or infinite values. `got` is the text with their number."""
        error = _ERRORS.get(self.argument, errors.InputError)
        hint = "pass missing='drop' to drop such rows"
        return error(self.subject(source), expected="a finite value in every row", got=got, hint=hint)


def role_of(roles: Sequence[Role], argument: str) -> Role | None:
    """Return the role that belongs to an argument. Return None if there is no such role."""
    for role in roles:
        if role.argument == argument:
            return role
    return None


def roles_of_columns(source: formats.HasColumns, label: str | None, **others: str | None) -> list[Role]:
    """Return the roles of the columns that are not scores: label, weight, segment and others."""
    roles = [Role("label", formats.require_name(source, "label", label))]
    return roles + [Role(argument, str(column)) for argument, column in others.items() if column is not None]


def roles_of_scores(source: formats.HasColumns, scores: formats.Scores | None) -> list[Role]:
    """Return the roles of the score columns."""
    models = formats.models_of(source, "scores", scores)
    return [Role("score", column, model) for model, column in models.items()]


def roles_of_numbers(columns: Sequence[str] | str | None) -> list[Role]:
    """Return the roles of further numeric columns."""
    if columns is None:
        return []
    if not isinstance(columns, Sequence) or isinstance(columns, bytes | range):
        raise errors.InputError("columns", expected="names of columns", got=check.shown(columns))
    names = [columns] if isinstance(columns, str) else map(str, columns)
    return [Role("columns", name) for name in dict.fromkeys(names)]


@dataclass(frozen=True)
class CountRequest:
    """Arguments of `read_counts`.

    Attributes
    ----------
    memory : int or None
        Memory limit in bytes, if given.
    progress : function
        Function that is called with the number of finished rows and the number of all rows (None if unknown).
    """

    label: str | None
    scores: formats.Scores | None
    weight: str | None = None
    where: str | None = None
    segment: str | None = None
    pos_label: Any = None
    missing: str = "error"
    layout: formats.FileLayout = formats.DEFAULT_LAYOUT
    memory: int | None = None
    progress: Tell = unreported
    tol: float | None = None
    context: Context | None = None

    def roles(self, source: formats.HasColumns) -> list[Role]:
        """Return the roles of all columns to read, label first. Raise ColumnError if a column does not exist."""
        roles = roles_of_columns(source, self.label, weight=self.weight, segment=self.segment)
        roles += roles_of_scores(source, self.scores)
        roles += roles_of_numbers(self.context and self.context.columns)
        for role in roles:
            formats.require_columns(source, [role.column], role.argument)
        return roles

    def refuse(self, origin: str, **hints: str) -> None:
        """Raise InputError if an argument was given that an engine does not support.

        `hints` contains the unsupported arguments, each with a hint for the message.

        Examples
        --------
        >>> CountRequest("y", "score", memory=9).refuse("Spark DataFrame", memory="Spark has its own")
        Traceback (most recent call last):
        rocscope.errors.InputError: memory: expected no value for a Spark DataFrame, got 9; Spark has its own
        """
        self.layout.refuse(f"a {origin}")
        for name, hint in hints.items():
            value = getattr(self, name)
            if value is not None:
                raise errors.InputError(name, expected=f"no value for a {origin}", got=repr(value), hint=hint)


# ---- Class probabilities ----

Proba = str | Mapping[str, str | Mapping[Any, str]]
ByClass = dict[str, str]

ONE_MODEL = "score"
"""Name of the model if `proba` is a single pattern."""


def probability_columns(names: Sequence[str], proba: Proba, taken: Iterable[str | None]) -> dict[str, ByClass]:
    """Return, for each model, a mapping from class to the name of its probability column.

    Parameters
    ----------
    names : sequence of str
        Names of all columns of the source.
    proba : str, or mapping from model name to str or to a mapping from class to column name
        A text is a pattern in which ``*`` stands for the class.
    taken : sequence of str
        Names of columns with other roles, such as labels and weights. Patterns do not match these columns.

    Examples
    --------
    >>> probability_columns(["y", "p_cat", "p_dog", "q_cat"], "p_*", ["y"])
    {'score': {'cat': 'p_cat', 'dog': 'p_dog'}}
    """
    models = {ONE_MODEL: proba} if isinstance(proba, str) else proba
    if not models:
        raise errors.InputError("proba", expected="at least one model", got="no model")
    taken = set(taken)
    free = [name for name in names if name not in taken]
    by_model = {}
    for model, columns in models.items():
        if isinstance(columns, str):
            by_model[str(model)] = _matching(free, columns)
        else:
            by_model[str(model)] = {str(cls): str(column) for cls, column in columns.items()}
    return by_model


def _matching(names: Sequence[str], pattern: str) -> ByClass:
    """Return a mapping from class to the name of its column. ``*`` in the pattern stands for the class."""
    before, star, after = pattern.partition("*")
    if not star or "*" in after:
        raise errors.InputError("proba", expected="a pattern with one *, such as 'p_*'", got=repr(pattern))
    by_class = {}
    for name in names:
        if len(name) > len(before) + len(after) and name.startswith(before) and name.endswith(after):
            by_class[name[len(before) : len(name) - len(after)]] = name
    if len(by_class) < 2:
        got = f"only {errors.listing(list(by_class.values()))}" if by_class else "no such column"
        raise errors.ColumnError("proba", expected=f"at least two columns that match {pattern!r}", got=got)
    return by_class
