"""Convert Arrow columns to NumPy losslessly: no score is rounded, no missing value is filled."""
# MERGED-DOC: """Roles of columns, and probability columns of classes.
#
# Roles: which column of a source is the label, which are scores, and how each is converted and checked.
# """

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import FIRST_ROUNDED, WHOLE_OF_64_BITS, Array
from rocscope.core.predictions import Provenance
from rocscope.engines.formats import NA_WORDS, HasColumns, Scores, Source, given, models_of
from rocscope.errors import ColumnError, InputError, LabelError, ScoreError, WeightError, brief

if TYPE_CHECKING:
    from rocscope.multiclass.predictions import MulticlassPredictions


_MOST_LABELS = 30  # more are listed by nobody
_STRANGE = "\u00b7"
"""Stands for a sign that no number has."""
_MARKS = {
    ".": (
        (r"[+-]?\d{1,3}(,\d{3})+\.\d*", "write numbers without commas between thousands"),
        (r"[+-]?[\d.]*,\d+", "name the decimal mark: decimal=',' (--decimal ,)"),
    ),
    ",": ((r"[+-]?[\d.]*\.\d+(,\d*)?", "write numbers without points between thousands, or name the decimal mark"),),
}
"""What to do about numbers with other marks, by the decimal mark that was named."""
_TEXT_KINDS = (pa.int64(), pa.uint64(), pa.float64())
_WHOLE_KINDS = (pa.int64(), pa.uint64())
_DECIMAL_DIGITS = 15  # so many are distinct, and in order, as float64
_DECIMAL_PLACES = 22  # ten to this power is exact as float64


@dataclass(frozen=True)
class Column:
    """Values of a column, and a mask of missing or infinite ones (None if none).

    `classes` holds the distinct values of a column of labels or groups that NumPy has no type for; `values` are then
    positions in it. They stay Arrow arrays: hashing many names there is faster than creating Python objects.
    """

    values: Array
    missing: NDArray[np.bool_] | None = None
    classes: pa.Array | None = None

    @cached_property
    def names(self) -> Array:
        """The classes as Python objects."""
        return objects(self.classes)

    def keep(self, rows: NDArray[np.bool_]) -> "Column":
        """Return the rows selected by a mask, which must not be missing."""
        return replace(self, values=self.values[rows], missing=None)

    def decoded(self) -> Array:
        """Return the decoded values."""
        return self.values if self.classes is None else self.names[self.values]

    def or_none(self) -> "Column":
        """Return the decoded values, with None where one is missing."""
        if self.missing is None:
            return self
        values = np.full(self.missing.size, None, object)
        values[~self.missing] = self.keep(~self.missing).decoded()
        return Column(values)

    def as_scores(self) -> Array:
        """Return numbers to rank, contiguous in memory; booleans become 0 and 1."""
        return np.ascontiguousarray(self.values.view(np.uint8) if self.values.dtype == np.bool_ else self.values)


@dataclass(frozen=True)
class ColumnPart:
    """Facts about the whole column for converting a part of it: its type, and the part's first row."""

    kind: pa.DataType | None = None
    first_row: int = 0


WHOLE_COLUMN = ColumnPart()


def kinds_of(column: pa.ChunkedArray, kind: pa.DataType, *, decimal: str) -> list[pa.DataType]:
    """Return the possible types of a column of some kind; all values must be read to know one.

    Those that `column`, a part of it, rules out are left out. There are none where the kind tells enough.
    """
    if pa.types.is_decimal(kind) and kind.scale <= 0:
        return [wanted for wanted in _WHOLE_KINDS if _casts(column, wanted)]
    if decimal and _is_text(kind):
        return [wanted for wanted in _TEXT_KINDS if _casts(_blanked(column, decimal), wanted)]
    return []


def numbers(
    column: pa.ChunkedArray,
    subject: str,
    error: type[InputError],
    *,
    decimal: str = "",
    part: ColumnPart = WHOLE_COLUMN,
) -> Column:
    """Return a column of numbers in its own type.

    Whole decimals become integers, and others float64 where that is exact in order. In a file of text, where numbers
    are written with a `decimal` mark, words for "not available" are missing values.
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if _is_text(column.type):
        column = _parsed(column, subject, error, decimal, part)
    if pa.types.is_decimal(column.type):
        column = _from_decimal(column, subject, error, part)
    if not _is_number(column.type):
        raise error(subject, expected="numbers", got=f"values of type {column.type}")
    return _plain(column)


def labels(column: pa.ChunkedArray, subject: str) -> Column:
    """Return a column of labels: numbers and booleans unchanged, others as indices of their classes."""
    if pa.types.is_dictionary(column.type) and not _is_text(column.type.value_type):
        column = column.cast(column.type.value_type)
    if pa.types.is_decimal(column.type):
        column = _from_decimal(column, subject, LabelError)
    return _plain(column) if _is_number(column.type) else _encoded(column, subject)


def groups(column: pa.ChunkedArray, subject: str) -> Column:
    """Return a column of folds or segments."""
    if pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
        values = column.to_numpy()
        return Column(values, _or_none(np.isnat(values)))
    return labels(column, subject)


def positives(column: Column, pos_label: Any, subject: str, *, untyped: bool = False) -> NDArray[np.bool_]:
    """Return True for the positive label, which may be given as text for numeric labels."""
    positive, seen = sighted(column, pos_label, untyped=untyped)
    check_sighted(seen, pos_label, subject, untyped=untyped)
    return positive


def sighted(column: Column, pos_label: Any, *, untyped: bool) -> tuple[NDArray[np.bool_], dict[Any, int]]:
    """Return which labels are positive, if there are two classes, and the first row of each label.

    Of very many labels, only some are returned.
    """
    if column.classes is None:
        values = column.values
        wanted = 1 if pos_label is None else written(pos_label, values.dtype)
        return check.equal_to(values, wanted), _first_rows(values)
    pos_label = None if pos_label is None else check.check_label(pos_label, "pos_label")
    seen = {column.names[code]: row for code, row in _first_rows(column.values).items()}
    is_positive = np.array([_is_positive(name, pos_label, untyped) for name in column.names], dtype=np.bool_)
    return is_positive[column.values], seen


def _is_positive(name: Any, pos_label: Any, untyped: bool) -> bool:
    if untyped and not isinstance(pos_label, str):
        return str(name).casefold() == str(True if pos_label is None else pos_label).casefold()
    return bool(name == pos_label)


def _first_rows(values: Array) -> dict[Any, int]:
    """Return the first row of each distinct value, in row order; of some, if there are many."""
    rows: dict[Any, int] = {}
    left = np.ones(values.shape, np.bool_)
    while left.any() and len(rows) < _MOST_LABELS:
        row = int(left.argmax())
        rows[values[row].item()] = row
        left &= values != values[row]
    return rows


def check_sighted(seen: dict[Any, int], pos_label: Any, subject: str, *, untyped: bool) -> None:
    """Raise LabelError unless labels, given by the first row of each, are two classes."""
    labels = np.array(list(seen)) if all(isinstance(label, bool | int | float) for label in seen) else None
    if labels is None:
        labels = np.empty(len(seen), dtype=object)
        labels[:] = list(seen)
        if untyped and not isinstance(pos_label, str) and {str(name).casefold() for name in seen} <= {"true", "false"}:
            labels = np.array([str(name).casefold() == "true" for name in seen])
    elif isinstance(pos_label, str):
        pos_label = written(pos_label, labels.dtype)
    check.check_labels(labels, pos_label, subject, list(seen.values()))


def written(label: Any, dtype: np.dtype[Any]) -> Any:
    """Return the label that a text stands for among labels of a type, or the label itself where it stands for none."""
    if not isinstance(label, str):
        return label
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
        values = _to_numpy(column.fill_null(float("nan")) if column.null_count else column)
        return Column(values, _or_none(~np.isfinite(values)))
    missing = None
    if column.null_count:
        missing = _to_numpy(column.is_null())
        column = column.fill_null(False if pa.types.is_boolean(column.type) else 0)
    return Column(_to_numpy(column), missing)


def _to_numpy(column: pa.ChunkedArray) -> Array:
    """Return non-null numbers or booleans; Arrow's own conversion would load pandas."""
    if pa.types.is_boolean(column.type):
        return _to_numpy(column.cast(pa.uint8())).view(np.bool_)
    chunks = [np.from_dlpack(chunk) for chunk in column.chunks]
    if len(chunks) == 1:
        return chunks[0]
    return np.concatenate(chunks) if chunks else np.zeros(0, column.type.to_pandas_dtype())


def _encoded(column: pa.ChunkedArray, subject: str) -> Column:
    if pa.types.is_dictionary(column.type) and any(chunk.dictionary.null_count for chunk in column.chunks):
        column = column.cast(column.type.value_type)  # a row is missing by its entry too
    if not pa.types.is_dictionary(column.type):
        try:
            column = column.dictionary_encode()
        except pa.ArrowNotImplementedError:
            got = f"values of type {column.type}"
            raise InputError(subject, expected="text, numbers or dates", got=got, hint="write it as text") from None
    column = column.unify_dictionaries()
    classes = column.chunk(0).dictionary if column.num_chunks else pa.array([], column.type.value_type)
    codes = pa.chunked_array([chunk.indices.cast(pa.int32()) for chunk in column.chunks], pa.int32())
    return replace(_plain(codes), classes=classes)


def objects(values: Any) -> Array:
    """Return Arrow values as an array of Python objects."""
    found = np.empty(len(values), dtype=object)
    found[:] = values.to_pylist()
    return found


def _parsed(
    column: pa.ChunkedArray, subject: str, error: type[InputError], decimal: str, part: ColumnPart
) -> pa.ChunkedArray:
    """Parse text as numbers if the file format has only text; raise if it has numbers."""
    hint = "convert the column to numbers first"
    written = column
    if decimal:
        hint = "correct such values, or leave their rows out with where="
        column = _blanked(column, decimal)
        for kind in _TEXT_KINDS if part.kind is None else (part.kind,):
            if _casts(column, kind):
                found = column.cast(kind)
                _require_kept(column, found, subject, error, part.first_row)
                return found
    row = _first_not_number(column, untyped=bool(decimal))
    value = written[row].as_py() if row < len(written) else None
    if decimal and value is not None:
        value = value.strip()
        hint = next((words for pattern, words in _MARKS[decimal] if re.fullmatch(pattern, value)), hint)
    raise error(subject, expected="numbers", got=f"text, such as {value!r} in row {part.first_row + row}", hint=hint)


def _require_kept(
    text: pa.ChunkedArray, numbers: pa.ChunkedArray, subject: str, error: type[InputError], first_row: int
) -> None:
    """Raise if whole numbers would change as float64."""
    if not pa.types.is_float64(numbers.type):
        return
    values = numbers.to_numpy()
    for row in np.flatnonzero(np.abs(values) >= FIRST_ROUNDED).tolist():
        written = text[row].as_py()
        if re.fullmatch(r"[+-]?\d+", written) and (abs(values[row]) == np.inf or int(values[row]) != int(written)):
            hint = "write it with a point or an exponent if it is not exact"
            raise error(subject, expected=WHOLE_OF_64_BITS, got=f"{written} in row {first_row + row}", hint=hint)


def _blanked(column: pa.ChunkedArray, decimal: str) -> pa.ChunkedArray:
    """Return text without surrounding spaces, and empty for words that mean "not available"."""
    from pyarrow import compute as module  # which takes ten megabytes

    compute: Any = module  # its functions are made when it is imported, unseen by type checkers
    column = compute.utf8_trim_whitespace(column)
    words = "|".join(map(re.escape, NA_WORDS))
    blank = compute.match_substring_regex(column, f"^(?:{words})?$")
    if decimal != ".":
        column = compute.replace_substring(compute.replace_substring(column, ".", _STRANGE), decimal, ".")
    column = compute.replace_substring_regex(column, "[xX]", _STRANGE)  # Arrow takes 0x1A for 26
    return compute.if_else(blank, pa.nulls(1, column.type)[0], column)  # making values of Python's loads pandas


def _casts(values: Any, kind: pa.DataType) -> bool:
    try:
        values.cast(kind)
    except pa.ArrowInvalid:
        return False
    return True


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
    column: pa.ChunkedArray, subject: str, error: type[InputError], part: ColumnPart = WHOLE_COLUMN
) -> pa.ChunkedArray:
    scale = column.type.scale
    kinds = _WHOLE_KINDS if part.kind is None else (part.kind,)
    whole = next((kind for kind in kinds if scale <= 0 and _casts(column, kind)), None)
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


MISSING = ("error", "drop")
"""What to do with rows with a missing or infinite value."""

_ERRORS: dict[str, type[InputError]] = {
    "label": LabelError,
    "score": ScoreError,
    "weight": WeightError,
    "fold": InputError,
    "segment": InputError,
    "groups": InputError,
    "columns": InputError,
    "proba": ScoreError,
    "predicted": LabelError,
}


@dataclass(frozen=True)
class Role:
    """The use of a column."""

    argument: str
    column: str
    model: str | None = None
    cls: str | None = None

    def subject(self, source: HasColumns) -> str:
        """Return the column's name for messages."""
        return f"{self.argument} {self.column!r} of {brief(source.origin)}"

    def convert(self, source: Source, table: pa.Table, part: ColumnPart = WHOLE_COLUMN) -> Column:
        """Return the column as NumPy values."""
        column, subject = table.column(self.column), self.subject(source)
        if self.argument in ("label", "predicted"):
            return labels(column, subject)
        if self.argument in ("fold", "segment", "groups"):
            return groups(column, subject)
        return numbers(column, subject, _ERRORS[self.argument], decimal=source.decimal, part=part)

    def incomplete(self, source: HasColumns, got: str) -> InputError:
        """Return the error for values that are missing or infinite; `got` counts them."""
        return incomplete(self.argument, self.subject(source), got)


def incomplete(argument: str, subject: str, got: str) -> InputError:
    """Return the error for missing or infinite values in a column used for `argument`."""
    hint = "leave such rows out with missing='drop'"
    return _ERRORS[argument](subject, expected="a finite value in every row", got=got, hint=hint)


def roles_of_columns(source: HasColumns, label: str | None, **others: str | None) -> list[Role]:
    """Return the role of each column other than scores."""
    roles = [Role("label", given(source, "label", label))]
    return roles + [Role(argument, str(column)) for argument, column in others.items() if column is not None]


def roles_of_numbers(columns: Sequence[str] | str | None) -> list[Role]:
    """Return the role of each further column of numbers."""
    if columns is None:
        return []
    if not isinstance(columns, Sequence) or isinstance(columns, bytes | range):
        raise InputError("columns", expected="names of columns", got=check.shown(columns))
    names = [columns] if isinstance(columns, str) else map(str, columns)
    return [Role("columns", name) for name in dict.fromkeys(names)]


def roles_of_scores(source: HasColumns, scores: Scores | None) -> list[Role]:
    """Return the role of the column of each model."""
    return [Role("score", column, model) for model, column in models_of(source, "scores", scores).items()]


Proba = str | Mapping[str, str | Mapping[Any, str]]
ByClass = dict[str, str]

ONE_MODEL = "score"


def probability_columns(names: Sequence[str], proba: Proba, taken: Iterable[str | None]) -> dict[str, ByClass]:
    """Return the column of each class of each model.

    Parameters
    ----------
    names : sequence of str
        Columns that there are.
    proba : str, or mapping from model name to str or to a mapping from class to column
        A text is a pattern with one ``*``, which stands for the name of the class.
    taken : column names
        Columns of labels, weights and the like, which no pattern means.

    Examples
    --------
    >>> probability_columns(["y", "p_cat", "p_dog", "q_cat"], "p_*", ["y"])
    {'score': {'cat': 'p_cat', 'dog': 'p_dog'}}
    """
    models = {ONE_MODEL: proba} if isinstance(proba, str) else proba
    if not models:
        raise InputError("proba", expected="at least one model", got="none")
    free = [name for name in names if name not in set(taken)]
    return {
        str(model): _matching(free, given)
        if isinstance(given, str)
        else {str(cls): str(column) for cls, column in given.items()}
        for model, given in models.items()
    }


def _matching(names: Sequence[str], pattern: str) -> ByClass:
    before, star, after = pattern.partition("*")
    if not star or "*" in after:
        raise InputError("proba", expected="a pattern with one *, such as 'p_*'", got=repr(pattern))
    length = len(before) + len(after)
    found = {
        name[len(before) : len(name) - len(after)]: name
        for name in names
        if len(name) > length and name.startswith(before) and name.endswith(after)
    }
    if len(found) < 2:
        listed = check.listing(list(found.values())) if found else "none"
        raise ColumnError("proba", expected=f"two columns or more like {pattern!r}", got=listed)
    return found


def class_predictions(
    labels: Array,
    proba: Mapping[str, Mapping[str, Array]],
    predicted: Mapping[str, Array],
    *,
    classes: Any,
    normalize: bool,
    source: Provenance,
    **others: Any,
) -> "MulticlassPredictions":
    """Return predictions from columns by model and class; the first model, or `classes`, gives the order."""
    from rocscope.multiclass.predictions import MulticlassPredictions

    order = [str(cls) for cls in classes] if classes is not None else list(next(iter(proba.values()), ()))
    frames = {model: _in_order(columns, order) for model, columns in proba.items()}
    given = cast(Any, frames) if frames else None
    labelled = dict(predicted) or None
    return MulticlassPredictions(
        labels, given, decisions=labelled, classes=classes, normalize=normalize, source=source, **others
    )


def _in_order(columns: Mapping[str, Array], order: Sequence[str]) -> pa.Table:
    """Return a table whose columns have the class names; mismatches are left for the caller to report."""
    names = [name for name in dict.fromkeys([*order, *columns]) if name in columns]
    return pa.table({name: columns[name] for name in names})
