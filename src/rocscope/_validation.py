"""Checks at the edge: anything array-like in, one canonical array out, or an error that says how to go on.

Nothing behind this module checks its input again.
"""

import difflib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope.errors import LabelError, ScoreError, ShapeError, WeightError

Array = NDArray[Any]

_BINARY_LABELS = ({0, 1}, {-1, 1}, {0}, {1}, {-1})
_MOST_NAMED = 6
_MOST_NAMES = 24


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


def check_labels(y_true: Any, pos_label: Any = None, name: str = "y_true") -> NDArray[np.bool_]:
    """Return True where a label is the positive one.

    Without `pos_label` only {0, 1}, {-1, 1} and {False, True} are understood.
    """
    labels = check_column(y_true, name)
    _refuse_missing(labels, name)
    if pos_label is None:
        return _binary_labels(labels, name)
    positive = np.asarray(labels == pos_label)
    if positive.shape != labels.shape:
        positive = np.zeros(labels.shape, dtype=bool)
    others = _distinct(labels[~positive])
    if len(others) > 1:
        seen = listing([*others, *([pos_label] if positive.any() else [])])
        if not positive.any():
            raise LabelError(f"pos_label={pos_label!r} is not among the labels", got=seen)
        raise LabelError(name, expected="two classes", got=seen, hint="keep the rows of two classes first")
    return positive.astype(np.bool_, copy=False)


def _binary_labels(labels: Array, name: str) -> NDArray[np.bool_]:
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
    raise LabelError(name, expected="labels 0/1, -1/1 or False/True", got=listing(seen), hint=hint)


def _refuse_missing(labels: Array, name: str) -> None:
    if labels.dtype.kind == "f":
        missing = np.isnan(labels)
    elif labels.dtype.kind == "O":
        missing = np.fromiter((_is_missing(label) for label in labels), dtype=bool, count=labels.size)
    else:
        return
    if missing.any():
        raise LabelError(
            name,
            expected="a label in every row",
            got=count_and_first(missing, "missing"),
            hint="drop those rows first",
        )


def _is_missing(value: Any) -> bool:
    return value is None or value != value or type(value).__name__ in {"NAType", "NaTType"}


def _distinct(values: Array) -> list[Any]:
    try:
        return np.unique(values).tolist()
    except TypeError:  # labels of mixed types have no order
        return list(dict.fromkeys(values.tolist()))


def listing(values: Sequence[Any], most: int = _MOST_NAMED) -> str:
    """Return the first values, and how many more there are."""
    shown = ", ".join(repr(value) for value in values[:most])
    rest = len(values) - most
    return shown + (f" and {rest} more" if rest > 0 else "")


def count_and_first(bad: NDArray[np.bool_], what: str) -> str:
    """Return the words for "got": how many rows are bad, and the first, counted from 0."""
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
            got=count_and_first(~finite, "missing or infinite"),
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
            got=count_and_first(bad, "negative, missing or infinite"),
        )
    if not weight.any():
        raise WeightError("sample_weight", expected="a weight above 0", got="only zeros")
    return weight


def read_only(array: Array) -> Array:
    """Return a view of `array` that cannot be written through."""
    view = array.view()
    view.flags.writeable = False
    return view


def one_of(name: str, known: Sequence[str]) -> str:
    """Return the words for "expected": the known names, and the closest of them whatever its case."""
    by_folded = {entry.casefold(): entry for entry in reversed(known)}
    close = [by_folded[match] for match in difflib.get_close_matches(name.casefold(), by_folded, n=1)]
    listed = "one of " + listing(known, _MOST_NAMES)
    return f"{listed} (closest: {close[0]!r})" if close else listed
