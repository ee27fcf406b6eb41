"""Checks at the edge: anything array-like in, one canonical array out, or an error that says how to go on.

Nothing behind this module checks its input again.
"""

import difflib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope.errors import InputError, LabelError, ScoreError, ShapeError, WeightError

Array = NDArray[Any]

_BINARY_LABELS = ({0, 1}, {-1, 1}, {0}, {1}, {-1})
_MOST_NAMED = 6


def check_column(values: Any, name: str, n: int | None = None) -> Array:
    """Return `values` as a one-dimensional array, of `n` entries when `n` is given."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        masked = int(np.ma.getmaskarray(values).sum())
        raise ShapeError(name, expected="no masked entries", got=str(masked), hint="drop them first")
    array = np.asarray(values)
    if array.ndim == 2 and 1 in array.shape:
        array = array.reshape(-1)
    if array.ndim != 1:
        hint = "pass a mapping from model name to column to give several models" if array.ndim == 2 else ""
        raise ShapeError(name, expected="a one-dimensional array", got=f"shape {array.shape}", hint=hint)
    if array.size == 0:
        raise ShapeError(name, expected="at least one row", got="none")
    if n is not None and array.size != n:
        raise ShapeError(
            name,
            expected=f"one entry per label ({n})",
            got=str(array.size),
            hint="labels and columns must come from the same rows",
        )
    return array


def check_labels(y_true: Any, pos_label: Any = None) -> NDArray[np.bool_]:
    """Return True where a label is the positive one.

    Without `pos_label` only {0, 1}, {-1, 1} and {False, True} are understood.
    """
    labels = check_column(y_true, "y_true")
    _refuse_missing(labels)
    if pos_label is None:
        return _binary_labels(labels)
    positive = np.asarray(labels == pos_label)
    if positive.shape != labels.shape:
        positive = np.zeros(labels.shape, dtype=bool)
    others = _distinct(labels[~positive])
    if len(others) > 1:
        seen = _listing([*others, *([pos_label] if positive.any() else [])])
        if not positive.any():
            raise LabelError(f"pos_label={pos_label!r} is not among the labels", got=seen)
        raise LabelError("y_true", expected="two classes", got=seen, hint="keep the rows of two classes first")
    return positive.astype(np.bool_, copy=False)


def _binary_labels(labels: Array) -> NDArray[np.bool_]:
    if labels.dtype == np.bool_:
        return labels
    if labels.dtype.kind in "iu" and labels.min() >= 0 and labels.max() <= 1:
        return labels.astype(np.bool_)
    seen = _distinct(labels)
    if labels.dtype.kind in "biuf" and set(seen) in _BINARY_LABELS:
        return labels == 1
    if all(isinstance(label, bool | np.bool_) for label in seen):
        return labels.astype(np.bool_)
    hint = "name the positive class with pos_label" if len(seen) <= 2 else "keep the rows of two classes first"
    raise LabelError("y_true", expected="labels 0/1, -1/1 or False/True", got=_listing(seen), hint=hint)


def _refuse_missing(labels: Array) -> None:
    if labels.dtype.kind == "f":
        missing = np.isnan(labels)
    elif labels.dtype.kind == "O":
        missing = np.fromiter((_is_missing(label) for label in labels), dtype=bool, count=labels.size)
    else:
        return
    if missing.any():
        raise LabelError(
            "y_true",
            expected="a label in every row",
            got=_count_and_first(missing, "missing"),
            hint="drop those rows first",
        )


def _is_missing(value: Any) -> bool:
    return value is None or value != value or type(value).__name__ in {"NAType", "NaTType"}


def _distinct(values: Array) -> list[Any]:
    try:
        return np.unique(values).tolist()
    except TypeError:  # labels of mixed types have no order
        return list(dict.fromkeys(values.tolist()))


def _listing(values: Sequence[Any]) -> str:
    shown = ", ".join(repr(value) for value in values[:_MOST_NAMED])
    rest = len(values) - _MOST_NAMED
    return shown + (f" and {rest} more" if rest > 0 else "")


def _count_and_first(bad: NDArray[np.bool_], what: str) -> str:
    return f"{int(bad.sum())} {what}, the first in row {int(bad.argmax())}"


def check_scores(y_score: Any, n: int | None = None, name: str = "y_score") -> Array:
    """Return finite scores in their own type; booleans become 0 and 1."""
    scores = check_column(y_score, name, n)
    if scores.dtype == np.bool_:
        return scores.view(np.uint8)
    if scores.dtype.kind == "O":
        scores = _numbers(scores, name)
    if scores.dtype.kind not in "iuf" or scores.dtype.itemsize > 8:
        raise ScoreError(name, expected="numbers of at most 64 bits", got=f"values of type {scores.dtype}")
    if scores.dtype.kind == "f" and not (finite := np.isfinite(scores)).all():
        raise ScoreError(
            name,
            expected="finite scores",
            got=_count_and_first(~finite, "missing or infinite"),
            hint="drop those rows first (rocscope.read has missing='drop')",
        )
    return np.ascontiguousarray(scores, dtype=scores.dtype.newbyteorder("="))


def _numbers(scores: Array, name: str) -> Array:
    """Unpack an object column, such as one with None among its numbers, without guessing at strings."""
    missing = np.fromiter((_is_missing(score) for score in scores), dtype=bool, count=scores.size)
    kept = scores[~missing].tolist()
    strange = [score for score in kept if not isinstance(score, int | float | np.number)]
    if strange:
        raise ScoreError(name, expected="numbers", got=f"{strange[0]!r} of type {type(strange[0]).__name__}")
    unpacked = np.asarray(kept) if kept else np.empty(0)
    if not missing.any():
        return unpacked
    filled = np.full(scores.size, np.nan)
    filled[~missing] = unpacked
    return filled


def check_weights(sample_weight: Any, n: int) -> Array | None:
    """Return weights as int64 (exact counts) or float64, or None where none are given."""
    if sample_weight is None:
        return None
    weight = check_column(sample_weight, "sample_weight", n)
    if weight.dtype.kind not in "biuf":
        raise WeightError("sample_weight", expected="numbers", got=f"values of type {weight.dtype}")
    weight = weight.astype(np.float64 if weight.dtype.kind == "f" else np.int64)
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        raise WeightError(
            "sample_weight",
            expected="finite weights of at least 0",
            got=_count_and_first(bad, "negative, missing or infinite"),
        )
    if not weight.any():
        raise WeightError("sample_weight", expected="a weight above 0", got="only zeros")
    return weight


def check_level(level: float) -> float:
    """Return a confidence level, a number between 0 and 1."""
    if not 0 < level < 1:
        hint = f"write {level:g} % as {level / 100:g}" if 1 < level < 100 else ""
        raise InputError("level", expected="a number between 0 and 1", got=repr(level), hint=hint)
    return float(level)


def check_choice(name: str, value: Any, known: Sequence[str]) -> str:
    """Return `value` if it is one of the known names."""
    if value not in known:
        raise InputError(name, expected=one_of(str(value), known), got=repr(value))
    return value


def read_only(array: Array) -> Array:
    """Return a view of `array` that cannot be written through."""
    view = array.view()
    view.flags.writeable = False
    return view


def one_of(name: str, known: Sequence[str]) -> str:
    """Return the words for "expected": the closest of the known names first."""
    close = difflib.get_close_matches(name, known, n=1)
    listed = "one of " + ", ".join(repr(entry) for entry in known)
    return f"{listed} (closest: {close[0]!r})" if close else listed
