"""Validate input: convert array-like input to a NumPy array, or raise an error with a hint on how to fix the input.

All input is checked in this module. rocscope matches rows by position. Two series with the same rows in different
orders would give a wrong result without a warning. Therefore, all columns with an index must have the same index.
`frame_of` converts in the opposite direction, from named columns to a data frame.
"""

import math
import re
import secrets
import sys
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from importlib import import_module
from numbers import Real
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rocscope import errors
from rocscope._base import arrays
from rocscope._base.answers import value_meant
from rocscope._base.arrays import Array, Booleans, Indices, as_array, unpacked, zeros_and_ones
from rocscope._base.formatting import counted
from rocscope.errors import listing, one_of

_MOST_WHOLE = 2**62  # the sum of two such numbers fits 64 bits
_SEED_BITS = 32  # bits of a seed of NumPy's RandomState
_MOST_TIMES = 2**31  # largest number of repetitions, bins or rows of a table; more are a mistake
_MOST_SHOWN = 120  # characters of a value shown in a message, set by hand: about a line of a terminal


def check_column(values: Any, name: str, n: int | None = None) -> Array:
    """Return `values` as a one-dimensional array. If `n` is given, the array must have `n` entries."""
    array = values if type(values) is np.ndarray else _as_array(values, name)
    if array.ndim == 0:
        raise errors.ShapeError(name, expected="a one-dimensional array", got=type(values).__name__)
    if array.dtype.kind == "V":
        # Such as the outcomes of scikit-survival, y["event"] and y["time"].
        fields = ", ".join(f"y[{field!r}]" for field in array.dtype.names or ())
        hint = f"pass one column: {fields}"
        got = "an array of records with several columns"
        raise errors.ShapeError(name, expected="a one-dimensional array", got=got, hint=hint)
    if array.ndim == 2 and 1 in array.shape:
        array = array.reshape(-1)
    if array.ndim != 1:
        columns = 0 if hasattr(values, "columns") else array.shape[-1]
        hint = _hint_for_columns(name, columns) if array.ndim == 2 else ""
        raise errors.ShapeError(name, expected="a one-dimensional array", got=f"shape {array.shape}", hint=hint)
    if array.size == 0:
        raise errors.ShapeError(name, expected="at least one row", got="no rows")
    if n is not None and array.size != n:
        hint = f"pass labels and {name} of the same rows"
        expected = f"one entry per label ({counted(n, 'label')})"
        raise errors.ShapeError(name, expected=expected, got=counted(array.size, "entry"), hint=hint)
    return array


def _as_array(values: Any, name: str) -> Array:
    """Return a column of any library as an array. Raise a ShapeError if the value is not a column."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        got = counted(np.ma.getmaskarray(values).sum(), "masked entry")
        expected = "an array without masked entries"
        raise errors.ShapeError(name, expected=expected, got=got, hint="drop the masked rows first")
    try:
        array = as_array(values)
    except errors.InputError:  # results by segment are not arrays; their `__array__` raises an error with advice
        raise
    except ValueError as error:  # rows of different lengths
        raise errors.ShapeError(name, expected="a one-dimensional array", got="rows of different lengths") from error
    except Exception as error:  # what an array of another library says of itself
        got = f"{type(values).__name__}: {error}"
        raise errors.ShapeError(name, expected="a one-dimensional array", got=got) from error
    # NumPy rounds large whole numbers in a list to float64. `unpacked` checks whole numbers among objects.
    if isinstance(values, list | tuple) and array.dtype != object:
        array = arrays.as_written(values, array, name)
    return array


def _hint_for_columns(name: str, columns: int) -> str:
    if columns == 2:  # such as predict_proba returns
        return f"pass the column of the positive class: {name}[:, 1]"
    several = "rs.multiclass.multiclass_auc(y, probabilities)"
    mapping = "a mapping from model name to column" if columns else "{name: table[name] for name in table.columns}"
    return f"for several models, pass {mapping}; for several classes, call {several}"


def check_labels(
    y_true: Any, pos_label: Any = None, name: str = "y_true", rows: Sequence[int] | None = None, scores: Any = None
) -> Booleans:
    """Return a boolean array that is True for the positive label.

    Without `pos_label`, only the labels {0, 1}, {-1, 1} and {False, True} are accepted. If row numbers in errors do not
    start at 0, pass them as `rows`. `scores` are the scores of the same rows. If there are more than two classes, the
    error names the function that accepts these scores.
    """
    labels = check_column(y_true, name)
    check_present(labels, name, errors.LabelError)
    if pos_label is None:
        return _binary_labels(labels, name, rows, scores)
    positive = equal_to(labels, pos_label)
    others = labels[~positive]
    if others.size and not np.asarray(others == others[0]).all():
        seen = listing([*distinct(others), *([pos_label] if positive.any() else [])])
        if not positive.any():
            raise errors.LabelError("pos_label", expected=f"one of the labels {seen}", got=shown(pos_label))
        got = f"the labels {seen}{_third(labels, rows)}"
        hint = _for_classes(distinct(labels), pos_label, scores)
        raise errors.LabelError(name, expected="labels of two classes", got=got, hint=hint)
    return positive.astype(np.bool_, copy=False)


def equal_to(labels: Array, pos_label: Any) -> Booleans:
    """Return a mask of the labels that equal `pos_label`, which must be a string, a number or a date."""
    pos_label = check_label(pos_label, "pos_label")
    try:
        positive = np.asarray(labels == pos_label, dtype=np.bool_)
    except OverflowError:  # the number is beyond the labels' type, so no label equals it
        return np.zeros(labels.shape, dtype=np.bool_)
    except Exception as error:  # of an array of another library
        raise errors.LabelError("pos_label", expected="a single label", got=shown(pos_label)) from error
    # NumPy returns a single False if types cannot be compared.
    return positive if positive.shape == labels.shape else np.zeros(labels.shape, dtype=np.bool_)


def check_label(value: Any, name: str) -> Any:
    """Return a label, which must be a string, a number or a date. Raise an error for NaN and other missing values."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    try:
        hash(value)
        is_one = bool(value == value)
    except Exception:  # noqa: BLE001 (of lists, frames, NA and signalling NaN, whatever they say)
        is_one = False
    if not is_one:
        raise errors.LabelError(name, expected="a single label", got=shown(value))
    return value


def _binary_labels(labels: Array, name: str, rows: Sequence[int] | None, scores: Any) -> Booleans:
    if labels.dtype == np.bool_:
        return labels
    if labels.dtype.kind in "iu" and (positive := zeros_and_ones(labels)) is not None:
        return positive
    if labels.dtype.kind in "iufO":
        positive = np.asarray(labels == 1, dtype=np.bool_)
        if any((positive | (labels == negative)).all() for negative in (0, -1)):
            return positive
    seen = distinct(labels)
    if len(seen) <= 2:
        label = _plain_repr(seen[-1])
        hint = f"name the positive class, such as pos_label={label} (--pos-label {label})"
    elif labels.dtype.kind == "f" and (labels % 1 != 0).any():
        hint = "pass the labels first, then the scores: (y_true, y_score)"
        if labels[0] == 0 and labels[-1] == 1 and (np.diff(labels) >= 0).all():  # rates, as in auc(fpr, tpr)
            hint = "for the area of a curve, use rs.roc(y, s).auc instead of its points"
    else:
        hint = _for_classes(seen, seen[-1], scores)
    got = f"the labels {listing(seen)}{_third(labels, rows)}"
    raise errors.LabelError(name, expected="labels 0/1, -1/1 or False/True", got=got, hint=hint)


def _for_classes(seen: Sequence[Any], label: Any, scores: Any) -> str:
    """Return a hint that names a function for several classes. This function accepts the given scores."""
    given = next(iter(scores.values()), None) if isinstance(scores, Mapping) else scores
    if given is None:
        return "select the rows of two classes first"
    column = _as_array(given, "y_score")
    label = _plain_repr(label)
    rest = f"pass one class against the rest: np.asarray(y) == {label}"
    if column.ndim == 2 and column.shape[1] > 1:
        classes = f"rs.multiclass.MulticlassPredictions(y, P).binary({label})"
        return f"call rs.multiclass.multiclass_auc(y, P), or pass one class against the rest: {classes}"
    if set(distinct(column)) <= set(seen):
        return f"call rs.multiclass.ConfusionMatrix.from_labels(y, predicted), or {rest}"
    return f"for ordered classes call rs.multiclass.vus(y, s), or {rest}" if len(seen) == 3 else rest


def _third(labels: Array, rows: Sequence[int] | None) -> str:
    """Return a description of the first row with a third label, or an empty text."""
    others = np.asarray(labels != labels[0])
    if others.any():
        others &= np.asarray(labels != labels[others.argmax()])
    if not others.any():
        return ""
    place = int(others.argmax())
    label = labels[place]
    return f" ({_plain_repr(label)} first occurs in row {place if rows is None else rows[place]})"


def check_present(column: Array, subject: str, error: type[errors.InputError]) -> None:
    """Raise `error` if a column has missing entries."""
    if column.dtype.kind in "biu":
        return
    absent = missing(column)
    if absent.any():
        hint = "drop these rows first"
        raise error(subject, expected="a value in every row", got=count_and_first(absent, "missing value"), hint=hint)


def missing(column: Array) -> Booleans:
    """Return a mask of the entries that are None, NaN, NaT or NA."""
    if column.dtype.kind in "fmM":
        return np.isnan(column)
    if column.dtype.kind != "O":
        return np.zeros(column.shape, dtype=bool)
    return np.fromiter((is_missing(value) for value in column), dtype=bool, count=column.size)


def is_missing(value: Any) -> bool:
    """Return True if a value is None, NaN, NaT or NA."""
    if isinstance(value, Decimal):
        return value.is_nan()  # a signalling one cannot be compared
    return value is None or type(value).__name__ in {"NAType", "NaTType"} or value != value


def distinct(values: Array) -> list[Any]:
    """Return the distinct values of an array, sorted if the values can be ordered."""
    texts = arrays.encoded_texts(values)
    try:
        unique = np.unique(values) if texts is None else texts[0]
        return list(unique) if unique.dtype.kind in "mM" else unique.tolist()
    except (TypeError, OverflowError):  # labels of mixed types, or beyond 64 bits beside others, have no order
        return list({repr(value): value for value in values.tolist()}.values())


def count_and_first(bad: Booleans, noun: str, which: str = "") -> str:
    """Return the "got" text of an error: the number of bad rows, and the index of the first bad row."""
    count, first = count_and_place(bad)
    return so_many(count, noun, first, which)


def count_and_place(bad: Booleans) -> tuple[int, int]:
    """Return the number of bad rows and the index of the first bad row."""
    return int(bad.sum()), int(bad.argmax())


def so_many(count: int, noun: str, first: int, which: str = "") -> str:
    """Return the "got" text of an error from the number of bad rows and the index of the first bad row.

    Examples
    --------
    >>> so_many(3, "missing score", 7), so_many(1, "row", 4, " with only zeros")
    ('3 missing scores, the first in row 7', '1 row with only zeros, row 4')
    """
    place = f"row {first}" if noun.endswith("row") else f"in row {first}"
    if count > 1:
        place = f"the first is {place}" if noun.endswith("row") else f"the first {place}"
    return f"{counted(count, noun)}{which}, {place}"


def check_scores(y_score: Any, n: int | None = None, name: str = "y_score") -> Array:
    """Return finite scores in their own type; booleans become 0 and 1. Raise a ScoreError for other values."""
    scores = check_column(y_score, name, n)
    if scores.dtype.kind == "O":
        scores = unpacked(scores, missing(scores), name, errors.ScoreError)
    if scores.dtype == np.bool_:
        return scores.view(np.uint8)
    if scores.dtype.kind not in "iuf" or scores.dtype.itemsize > 8:
        raise errors.ScoreError(name, expected="numbers of at most 64 bits", got=f"values of type {scores.dtype}")
    if scores.dtype.kind == "f" and not arrays.all_finite(scores):
        got = count_and_first(~np.isfinite(scores), "missing or infinite score")
        hint = "drop these rows first, or call rocscope.read(..., missing='drop')"
        raise errors.ScoreError(name, expected="finite scores", got=got, hint=hint)
    return np.ascontiguousarray(scores, dtype=scores.dtype.newbyteorder("="))


def check_weights(sample_weight: Any, n: int) -> Array | None:
    """Return weights as int64 or float64. Return None if there are no weights."""
    if sample_weight is None:
        return None
    weight = check_column(sample_weight, "sample_weight", n)
    if weight.dtype.kind == "O":
        weight = unpacked(weight, missing(weight), "sample_weight", errors.WeightError)
    if weight.dtype.kind not in "biuf":
        raise errors.WeightError("sample_weight", expected="numbers", got=f"values of type {weight.dtype}")
    lowest, highest, total = arrays.ends_and_sum(weight)
    _check_total("sample_weight", total, weight)
    weight = weight.astype(np.float64 if weight.dtype.kind == "f" else np.int64, copy=False)
    if not lowest >= 0 or highest == np.inf:  # also where they are NaN
        raise weights_error(*count_and_place(~(np.isfinite(weight) & (weight >= 0))))
    check_some_weight(highest > 0)
    return weight


def require_whole_weights(weight: Array | None) -> None:
    """Raise a WeightError if weights are not integers."""
    if weight is not None and weight.dtype.kind == "f":
        hint = "scale the weights to whole numbers"
        raise errors.WeightError("sample_weight", expected="whole numbers", got="fractions", hint=hint)


def weights_error(count: int, first: int) -> errors.WeightError:
    """Return the error for invalid weights, with their number and the row of the first invalid weight."""
    got = so_many(count, "negative, missing or infinite weight", first)
    return errors.WeightError("sample_weight", expected="finite weights of at least 0", got=got)


def check_some_weight(any_above_zero: bool) -> None:
    """Raise a WeightError if no weight is above 0."""
    if not any_above_zero:
        raise errors.WeightError("sample_weight", expected="at least one weight above 0", got="only zeros")


def check_level(level: float) -> float:
    """Return a confidence level, a number between 0 and 1."""
    if not (is_number(level) and 0 < level < 1):
        percentage = float(level[:-1]) if isinstance(level, str) and re.fullmatch(r"\d+(\.\d+)?%", level) else level
        is_percentage = is_number(percentage) and 1 < percentage < 100
        hint = f"write {percentage:g}% as {percentage / 100:g}" if is_percentage else ""
        raise errors.InputError("level", expected="a number above 0 and below 1", got=repr(level), hint=hint)
    return float(level)


def check_choice(name: str, value: Any, known: Sequence[str]) -> str:
    """Return `value` if it is one of the known names."""
    if not (isinstance(value, str) and value in known):
        meant = value_meant(value) if isinstance(value, str) else []
        uses = [
            ours if ours.startswith("rs.") else f"{name}={ours!r}" for ours in meant if "(" in ours or ours in known
        ]
        hint = f"use {uses[0]}" if uses else ""
        raise errors.InputError(name, expected=one_of(str(value), known), got=shown(value), hint=hint)
    return value


def check_text(name: str, value: Any) -> str:
    """Return the value if it is a string. The caller checks its content."""
    if not isinstance(value, str):
        raise errors.InputError(name, expected="a string", got=shown(value))
    return value


def check_legend_labels(label: str | Sequence[str], models: int) -> list[str]:
    """Return the legend labels of a plot, one per model."""
    labels = [label] if isinstance(label, str) else list(label)
    if len(labels) != models:
        expected = "1 label" if models == 1 else f"{models} labels, one per model"
        raise errors.InputError("label", expected=expected, got=str(len(labels)), hint="pass a list of labels")
    return labels


def check_groups(values: Any, name: str, n: int) -> Indices:
    """Return an integer for each row that identifies its group. Groups are numbered from 0."""
    column = check_column(values, name, n)
    texts = arrays.encoded_texts(column)
    if texts is not None:
        return texts[1].astype(np.intp)
    check_present(column, name, errors.InputError)
    try:
        return np.unique(column, return_inverse=True)[1]
    except TypeError:  # names of mixed types have no order
        codes: dict[Any, int] = {}
        return np.array([codes.setdefault(value, len(codes)) for value in column.tolist()], dtype=np.intp)


def check_total(subject: str, *columns: Array) -> None:
    """Raise a WeightError if cumulative sums of weights or counts might overflow 64 bits."""
    with np.errstate(over="ignore", invalid="ignore"):
        _check_total(subject, sum(column.sum(dtype=np.float64).item() for column in columns), *columns)


def _check_total(subject: str, total: float, *columns: Array) -> None:
    expected, hint = "numbers with a finite sum", "scale the weights down: only their ratios matter"
    if all(column.dtype.kind != "f" for column in columns):
        check_whole_total(subject, total)
    elif total == np.inf and all(np.isfinite(column).all() for column in columns):
        raise errors.WeightError(subject, expected=expected, got="numbers with a sum above 1.8e308", hint=hint)


def check_whole_total(subject: str, total: float) -> None:
    """Raise a WeightError if a sum of integer weights might overflow 64 bits."""
    if total > _MOST_WHOLE:
        expected = "whole numbers with a sum of at most 2^62"
        hint = "scale the numbers down, or pass them as floats"
        raise errors.WeightError(subject, expected=expected, got=f"a sum of {total:.6g}", hint=hint)


def is_number(value: Any) -> bool:
    """Return True if a value is a real number and not NaN."""
    return isinstance(value, (float, int, Real)) and value == value  # plain ones first: asking an ABC takes longer


def check_number(
    value: Any, name: str, expected: str = "a finite number", *, least: float = -math.inf, above: float = -math.inf
) -> Any:
    """Return a finite number that is at least `least` and above `above`. `expected` describes this range in errors."""
    in_range = is_number(value) and abs(value) <= sys.float_info.max and value >= least and value > above
    if isinstance(value, bool) or not in_range:
        raise errors.InputError(name, expected=expected, got=repr(value))
    return value.item() if isinstance(value, np.generic) else value


def check_whole(value: Any, name: str, least: int = 1) -> int:
    """Return an integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise errors.InputError(name, expected=f"a whole number of at least {least}", got=shown(value))
    if value >= _MOST_TIMES:
        raise errors.InputError(name, expected="a whole number below 2^31", got=shown(value))
    return int(value)


def check_numbers(values: Any, name: str, n: int | None = None) -> NDArray[np.float64]:
    """Return a column of finite numbers as float64. `n` is the required length. Booleans become 0 and 1."""
    numbers = check_column(values, name, n)
    if numbers.dtype.kind not in "biuf":
        raise errors.InputError(name, expected="finite numbers", got=shown(values))
    unusable = np.flatnonzero(~np.isfinite(numbers))
    if unusable.size:
        share = f"{unusable.size:,} of {numbers.size:,} numbers are not finite"
        got = f"{numbers[unusable[0]]} in row {unusable[0]} ({share})"
        raise errors.InputError(name, expected="finite numbers", got=got)
    return numbers.astype(np.float64)


def check_function(value: Any, name: str) -> Any:
    """Return the value if it is callable."""
    if not callable(value):
        raise errors.InputError(name, expected="a function", got=shown(value))
    return value


def seed_of(random_state: Any) -> int:
    """Return an integer seed: the given integer, a number drawn from the given generator, or a random one for None."""
    if random_state is None:
        return secrets.randbits(_SEED_BITS)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**_SEED_BITS))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**_SEED_BITS, dtype=np.int64))
    whole = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool)
    if not (whole and 0 <= random_state < 2**_SEED_BITS):
        expected = f"a whole number from 0 to 2^{_SEED_BITS} - 1, a Generator, a RandomState or None"
        raise errors.InputError("random_state", expected=expected, got=repr(random_state))
    return int(random_state)


def check_random_state(random_state: Any) -> "np.random.Generator":  # quoted: numpy.random is imported on first use
    """Return a NumPy Generator for a seed, a generator or None."""
    return np.random.default_rng(seed_of(random_state))


def check_proportion(value: Any, name: str) -> Any:
    """Return a share from 0 to 1."""
    if isinstance(value, bool) or not (is_number(value) and 0 <= value <= 1):
        raise errors.InputError(name, expected="a share from 0 to 1", got=repr(value))
    return value


def refuse_percentages(shares: Any, name: str) -> None:
    """Raise an InputError if a share is 2 or more, which is a percentage or a number of cases.

    Smaller values above 1 may be rounding errors.
    """
    largest = np.max(shares, initial=0.0)
    if largest >= 2:
        hint = f"write {largest:g}% as {largest / 100:g}"
        raise errors.InputError(name, expected="shares from 0 to 1", got=f"{largest:g}", hint=hint)


def check_share(value: Any, name: str) -> float:
    """Return a share strictly between 0 and 1."""
    if not (is_number(value) and 0 < value < 1):
        raise errors.InputError(name, expected="a share above 0 and below 1", got=repr(value), hint="write 5% as 0.05")
    return float(value)


ROUNDING_OF_PROBABILITIES = 1e-6
"""Tolerance for rounding. A probability less than this below 0 or above 1 is replaced by 0 or 1."""


def are_probabilities(scores: Array) -> bool:
    """Return True if all scores are between 0 and 1, within the tolerance for rounding."""
    return bool((scores >= -ROUNDING_OF_PROBABILITIES).all() and (scores <= 1 + ROUNDING_OF_PROBABILITIES).all())


def check_probabilities(scores: Array, name: str, rows: Array | None = None) -> Array:
    """Return probabilities as float64. Values slightly below 0 or above 1 are replaced by 0 or 1.

    `rows` contains the number of rows with each score. By default, each score occurs in one row.

    Examples
    --------
    >>> check_probabilities(np.array([0.5, 1.0000000000000002]), "scores").tolist()
    [0.5, 1.0]
    """
    if not are_probabilities(scores):
        outside = (scores < -ROUNDING_OF_PROBABILITIES) | (scores > 1 + ROUNDING_OF_PROBABILITIES)
        number = outside.sum() if rows is None else rows[outside].sum()
        got = f"{counted(number, 'value')} outside this range, such as {scores[outside][0].item()!r}"
        # The default method of recalibration is for probabilities only.
        hint = "recalibrate them: rs.calibration.recalibrate(rs.Predictions(y, s), method='platt').predictions"
        raise errors.ScoreError(name, expected="probabilities from 0 to 1", got=got, hint=hint)
    return scores.astype(np.float64).clip(0, 1)


def is_frame(values: Any) -> bool:
    """Return True if a value is a data frame of any library."""
    columns = getattr(values, "columns", None)
    return hasattr(values, "column_names") or not (columns is None or callable(columns) or isinstance(columns, Mapping))


def frame_columns(frame: Any) -> dict[Any, Array]:
    """Return a mapping from column name to column of a data frame. In pandas, a name may be a number."""
    import narwhals as nw

    return {column.name: column.to_numpy() for column in nw.from_native(frame, eager_only=True).iter_columns()}


def by_name(value: Any, names: Iterable[Hashable]) -> dict[Any, Any]:
    """Return a mapping from name to value. A mapping is returned unchanged; any other value is used for all names.

    Examples
    --------
    >>> by_name(0.5, ["a", "b"]), by_name({"a": 0.5}, ["a", "b"])
    ({'a': 0.5, 'b': 0.5}, {'a': 0.5})
    """
    return dict(cast(Mapping[Any, Any], value)) if isinstance(value, Mapping) else dict.fromkeys(names, value)


def set_fields(instance: object, **values: Any) -> None:
    """Set attributes of a frozen dataclass in `__post_init__`, to store checked values."""
    for name, value in values.items():
        object.__setattr__(instance, name, value)


def read_only(array: Array) -> Array:
    """Return a read-only view of `array`."""
    view = array.view()
    view.flags.writeable = False
    return view


def shown(value: Any) -> str:
    """Return the repr of a value as one short line for an error message."""
    text = " ".join(repr(value).split())
    return text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 1] + "…"


def check_same_index(**columns: Any) -> None:
    """Raise a PairingError if two columns have different indexes.

    Columns without an index are not checked. Columns of different lengths are not checked either, because another check
    raises an error for them.

    Parameters
    ----------
    **columns : array, frame, mapping from name to array, or None
        Columns, passed under the names of the user's arguments.

    Examples
    --------
    >>> import pandas as pd
    >>> labels, scores = pd.Series([0, 1], index=["a", "b"]), pd.Series([0.9, 0.1], index=["b", "a"])
    >>> check_same_index(y_true=labels, y_score=scores.loc[labels.index])
    >>> check_same_index(y_true=labels, y_score=scores.to_numpy())
    >>> check_same_index(y_true=labels, y_score=scores)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    rocscope.errors.PairingError: y_score: expected the same index as y_true, got 'b' in row 0, where y_true has 'a' …
    """
    first: tuple[str, Any] | None = None
    for name, column in columns.items():
        if column is None or type(column) is np.ndarray:  # most often, and calls on few rows feel the difference
            continue
        for label, index in _indexes(name, column):
            if first is None:
                first = label, index
            elif index is not first[1] and len(index) == len(first[1]) and not first[1].equals(index):
                raise _misaligned(*first, label, index)


def _indexes(name: str, column: Any) -> Iterator[tuple[str, Any]]:
    """Yield the index of a column, or of each column of a mapping."""
    if isinstance(column, Mapping):
        for key, part in column.items():
            yield from _indexes(f"{name}[{key!r}]", part)
        return
    index = getattr(column, "index", None)  # of a list, a method
    if hasattr(index, "equals"):
        yield name, index
    elif hasattr(column, "indexes") and getattr(column, "dims", ()):  # xarray: only of dimensions that have one
        index = column.indexes.get(column.dims[0])
        if index is not None:
            yield name, index


def _misaligned(first: str, expected: Any, name: str, got: Any) -> errors.PairingError:
    row = next((row for row, pair in enumerate(zip(expected, got, strict=True)) if not _same(*pair)), 0)
    difference = f"{_plain_repr(got[row])} instead of {_plain_repr(expected[row])} in row {row}"
    hint = (
        f"if the rows are in the same order, drop the index ({name}.to_numpy() or .reset_index(drop=True)); "
        f"if not, align them: {name}.loc[{first}.index]"
    )
    return errors.PairingError(name, expected=f"the same index as {first}", got=difference, hint=hint)


def _same(a: Any, b: Any) -> bool:
    return bool(a == b or (a != a and b != b))


def _plain_repr(label: Any) -> str:
    """Return the repr of a label, without NumPy's type."""
    return repr(label.item() if isinstance(label, np.generic) else label)


_INSTALL = {
    "pandas": "run pip install 'rocscope[pandas]'",
    "polars": "run pip install 'rocscope[polars]'",
    "pyarrow": "run pip install pyarrow",
}


def frame_of(columns: Mapping[str, Any], backend: str) -> Any:
    """Return named columns as a data frame; `backend` is "pandas", "polars" or "pyarrow".

    Examples
    --------
    >>> frame_of({"x": [1, 2]}, "polars").columns
    ['x']
    """
    import narwhals as nw

    check_choice("backend", backend, tuple(_INSTALL))
    try:
        import_module(backend)
        return nw.from_dict(dict(columns), backend=backend).to_native()  # pyright: ignore[reportArgumentType]
    except ModuleNotFoundError as error:
        raise errors.MissingDependencyError(
            f"to_frame(backend={backend!r})", expected=f"{backend} to be installed", hint=_INSTALL[backend]
        ) from error
