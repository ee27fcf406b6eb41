"""Check class names and probability columns, and average over classes."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.columns import told_apart
from rocscope.core.result import Result, html_table
from rocscope.errors import InputError, LabelError, ScoreError, ShapeError, warn
from rocscope.inference.areas.auc import newcombe
from rocscope.inference.estimate import Estimate
from rocscope.inference.proportions import logit, of_share

SUM_TOLERANCE = 1e-5
"""Largest accepted difference from 1 of a row's sum of probabilities."""


def check_classes(classes: Any, name: str = "classes") -> tuple[Hashable, ...]:
    """Return at least two distinct class names, distinct also as text."""
    column = check.check_column(classes if hasattr(classes, "__array__") else list(classes), name)
    check.check_present(column, name, LabelError)
    names = tuple(classes.tolist() if isinstance(classes, np.ndarray) else classes)
    texts = [str(entry) for entry in names]
    repeated = sorted({text for text in texts if texts.count(text) > 1})
    if repeated:
        raise LabelError(name, expected="a different name for each class", got=f"more than once: {', '.join(repeated)}")
    if len(names) < 2:
        raise LabelError(name, expected="at least two classes", got=check.listing(names))
    return names


def label_column(values: Any, name: str, n: int | None = None) -> Array:
    """Return a column of labels without missing ones."""
    column = check.check_column(values, name, n)
    check.check_present(column, name, LabelError)
    return column


def distinct_labels(*columns: Array) -> list[Any]:
    """Return the distinct labels of several columns, sorted if they can be."""
    try:
        return check.distinct(np.concatenate(columns))
    except TypeError as error:  # dates beside numbers
        kinds = " and ".join(dict.fromkeys(str(column.dtype) for column in columns))
        raise LabelError("labels", expected="labels of one type", got=kinds) from error


def class_index(labels: Array, classes: Sequence[Hashable], name: str) -> NDArray[np.intp]:
    """Return the index of each label among the classes."""
    seen, inverse = factorized(labels)
    place = {label: index for index, label in enumerate(classes)}
    strange = [label for label in seen if label not in place]
    if strange:
        raise LabelError(
            name,
            expected=f"labels among the classes {check.listing(classes)}",
            got=check.listing(strange),
            hint="every class needs its column; name all of them with classes=",
        )
    return np.array([place[label] for label in seen], np.intp)[inverse]


def factorized(labels: Array) -> tuple[list[Any], NDArray[np.signedinteger[Any]]]:
    """Return the distinct labels, sorted if they can be, and the index of each row's label."""
    texts = told_apart(labels)
    if texts is not None:
        return texts[0].tolist(), texts[1]
    if labels.dtype.kind in "iu" and (low := int(labels.min())) + labels.size > int(labels.max()):
        offset = np.subtract(labels, low, dtype=np.int64, casting="unsafe")  # of few values: a table takes no sort
        there = np.bincount(offset) > 0
        return [low + each for each in np.flatnonzero(there).tolist()], (np.cumsum(there) - 1)[offset]
    try:
        values, inverse = np.unique(labels, return_inverse=True)
        return values.tolist(), inverse.reshape(-1)
    except TypeError:  # labels of mixed types have no order
        values = list(dict.fromkeys(labels.tolist()))
        place = {label: index for index, label in enumerate(values)}
        return values, np.array([place[label] for label in labels.tolist()], np.intp)


def position(cls: Any, classes: Sequence[Hashable]) -> int:
    """Return the index of one class."""
    if check.check_label(cls, "class") not in classes:
        raise LabelError("class", expected=f"one of {check.listing(classes)}", got=repr(cls))
    return classes.index(cls)


def check_probabilities(values: Any, n: int, k: int, name: str, *, normalize: bool = False) -> Array:
    """Return n rows of k probabilities that sum to 1, in their own floating-point type.

    With `normalize` any non-negative rows are divided by their sums.
    """
    proba = check.as_array(values)
    if proba.shape != (n, k):
        raise ShapeError(
            name,
            expected=f"one row per label and one column per class, {n} × {k}",
            got=" × ".join(map(str, proba.shape)) or "a single number",
            hint="name the classes of the columns with classes=" if proba.shape[:1] == (n,) else "",
        )
    if proba.dtype.kind == "O":
        proba = np.column_stack([check.check_scores(column, name=name) for column in proba.T])
    if proba.dtype.kind not in "biuf" or proba.dtype.itemsize > 8:
        raise ScoreError(name, expected="probabilities", got=f"values of type {proba.dtype}")
    if proba.dtype.kind != "f":
        proba = proba.astype(np.float64)
    total = proba.sum(axis=1, dtype=np.float64)
    # The sum of a row is finite and its least entry is not negative exactly if all its entries are both.
    bad = ~(np.isfinite(total) & (proba.min(axis=1) >= 0))
    if bad.any():
        what = check.count_and_first(bad, "rows with an entry negative, missing or infinite")
        raise ScoreError(name, expected="finite probabilities of at least 0", got=what)
    return _normalized(proba, total, name) if normalize else _summing_to_one(proba, total, name)


def _normalized(proba: Array, total: Array, name: str) -> Array:
    if not total.all():
        raise ScoreError(
            name, expected="a positive entry in every row", got=check.count_and_first(total == 0, "rows without")
        )
    return proba / total.astype(proba.dtype)[:, np.newaxis]


def _summing_to_one(proba: Array, total: Array, name: str) -> Array:
    off = np.abs(total - 1) > SUM_TOLERANCE
    if off.any():
        row = int(off.argmax())
        raise ScoreError(
            name,
            expected=f"rows that sum to 1 within {SUM_TOLERANCE:g}",
            got=f"{check.count_and_first(off, 'that do not')} ({total[row]:.6g})",
            hint="normalize=True divides each row by its sum",
        )
    return proba


def class_table(values: Array, classes: Sequence[Hashable], corner: str, digits: str = "g") -> str:
    """Return an HTML table of one value for each pair of classes."""
    rows = [(name, *(format(value, digits) for value in row)) for name, row in zip(classes, values, strict=True)]
    return html_table(rows, (corner, *classes))


RowsAre = Literal["actual", "predicted"]


def rows_actual(matrix: Any, name: str, rows: RowsAre | None) -> Array:
    """Return a square matrix of finite numbers, with actual classes in rows and predicted ones in columns."""
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


@dataclass(frozen=True, repr=False)
class Average(Result):
    """A weighted mean over defined entries, with the names of undefined ones.

    Parameters
    ----------
    value : float
        NaN when no entry is defined.
    over, undefined : tuples of class names, or of pairs of them
        What went in, and what has no value: a class without cases, or one that is never predicted.

    Examples
    --------
    >>> average([0.5, 1.0, float("nan")], names=["a", "b", "c"])
    Average(0.75 over 2 of 3; undefined: 'c')
    >>> float(average([0.5, 1.0], weight=[3, 1], names=["a", "b"]))
    0.625
    """

    value: float
    over: tuple[Hashable, ...]
    undefined: tuple[Hashable, ...] = ()

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        if not self.undefined:
            return f"Average({self.value:.6g} over {len(self.over)})"
        total = len(self.over) + len(self.undefined)
        missing = ", ".join(map(repr, self.undefined))
        return f"Average({self.value:.6g} over {len(self.over)} of {total}; undefined: {missing})"


def average(values: Any, *, names: Sequence[Hashable], weight: Any = None) -> Average:
    """Return the weighted mean of entries that are not NaN, naming the others."""
    values = np.asarray(values, dtype=np.float64)
    weight = np.ones(values.size) if weight is None else np.asarray(weight, dtype=np.float64)
    defined = ~np.isnan(values)
    return Average(
        float(weighted_mean(values, weight)),
        tuple(name for name, known in zip(names, defined, strict=True) if known),
        tuple(name for name, known in zip(names, defined, strict=True) if not known),
    )


def weighted_mean(values: Array, weight: Array) -> Any:
    """Return the mean of non-NaN values over the last axis; NaN without weight."""
    defined = ~np.isnan(values)
    total = np.where(defined, weight, 0.0).sum(axis=-1)
    with np.errstate(invalid="ignore"):
        return np.where(defined, weight * values, 0.0).sum(axis=-1) / total


def by_logit(value: float, standard_error: float, level: float, name: str, n: float) -> Estimate:
    """Return the interval that is symmetric on the logit scale."""
    low, high = logit(value, standard_error, level)
    return Estimate(value, low, high, level, f"{name}, logit scale", n, standard_error)


def share_of_pairs(value: float, size: float, level: float, unit: str, n: float) -> Estimate:
    """Return Wilson's interval for as many independent pairs or trios as the smallest class has cases."""
    _warn(value, f"Wilson's for {size:g} independent {unit}")
    low, high = of_share(value * size, size, "wilson", level)
    return Estimate(value, float(low), float(high), level, f"Wilson for {size:g} independent {unit}", n)


def two_smallest(value: float, first: float, second: float, level: float, n: float) -> Estimate:
    """Return Newcombe's interval for an area with the two smallest classes only."""
    name = f"Newcombe's score interval, classes of {first:g} and {second:g}"
    _warn(value, name)
    low, high = newcombe(value, first, second, level)
    return Estimate(value, low, high, level, name, n)


def _warn(value: float, instead: str) -> None:
    warn(f"{value:g}: its variance is 0 or undefined, so the interval is {instead}")
