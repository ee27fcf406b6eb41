"""Names of the classes, and functions that match them with labels, data frames, matrices and priors.

Data that contain class names (labels, columns of a frame, rows and columns of a matrix, keys of a mapping) are matched
by name. Other data, such as arrays, must be in the order of the classes.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array, Indices, encoded_texts
from rocscope.errors import LabelError, ShapeError


def check_classes(classes: Any, name: str = "classes") -> tuple[Hashable, ...]:
    """Return the class names. Raise an error unless there are at least two names that also differ as text."""
    column = check.check_column(classes if hasattr(classes, "__array__") else list(classes), name)
    check.check_present(column, name, LabelError)
    names = tuple(classes.tolist() if isinstance(classes, np.ndarray) else classes)
    texts = [str(entry) for entry in names]
    repeated = sorted({text for text in texts if texts.count(text) > 1})
    if repeated:
        raise LabelError(name, expected="different class names", got=f"repeated names: {', '.join(repeated)}")
    if len(names) < 2:
        raise LabelError(name, expected="at least two classes", got=check.listing(names))
    return names


def label_column(values: Any, name: str, n: int | None = None) -> Array:
    """Return a column of labels. Raise an error if a label is missing."""
    if getattr(values, "ndim", 1) == 2 and min(values.shape) > 1:
        got = f"shape {tuple(values.shape)}"
        hint = "for one-hot labels, pass y.argmax(axis=1); for several labels per row, evaluate each column separately"
        raise ShapeError(name, expected="one label per row", got=got, hint=hint)
    column = check.check_column(values, name, n)
    check.check_present(column, name, LabelError)
    return column


def ordered_categories(*columns: Any) -> list[Any] | None:
    """Return the categories of the first column with ordered categories (pandas or Polars Enum), in their order."""
    for values in columns:
        kind: Any = getattr(values, "dtype", None)
        if getattr(kind, "ordered", False) or type(kind).__name__ == "Enum":
            return list(kind.categories)
    return None


def distinct_labels(*columns: Array) -> list[Any]:
    """Return the distinct labels of several columns. They are sorted if labels can be compared."""
    try:
        return check.distinct(np.concatenate(columns))
    except TypeError as error:  # dates beside numbers
        kinds = " and ".join(dict.fromkeys(str(column.dtype) for column in columns))
        hint = "convert all labels to one type"
        raise LabelError("labels", expected="labels of one type", got=f"labels of types {kinds}", hint=hint) from error


def classes_of(classes: Any, given: Iterable[Any], columns: Iterable[Array]) -> tuple[Hashable, ...]:
    """Return the given classes. By default, return the ordered categories of the columns or the sorted labels."""
    if classes is None:
        classes = ordered_categories(*given) or distinct_labels(*columns)
    return check_classes(classes)


def class_index(labels: Array, classes: Sequence[Hashable], name: str) -> Indices:
    """Return the index of each label among the classes."""
    seen, inverse = factorized(labels)
    place = {label: index for index, label in enumerate(classes)}
    strange = [label for label in seen if label not in place]
    if strange:
        expected = f"labels among the classes {check.listing(classes)}"
        hint = "pass all classes as classes=, and one column of probabilities for each class"
        if {str(label) for label in strange} <= {str(cls) for cls in classes}:
            hint = "convert the labels and the classes to the same type, because text and numbers differ"
        raise LabelError(name, expected=expected, got=check.listing(strange), hint=hint)
    return np.array([place[label] for label in seen], np.intp)[inverse]


def class_order(names: Iterable[Any], classes: Sequence[Hashable], subject: str) -> Indices:
    """Return the indices that sort names into the order of the classes. A name is a class or its text.

    Raises
    ------
    LabelError
        If the names are not exactly the classes.
    """
    names = list(names)
    place = {str(cls): index for index, cls in enumerate(classes)} | {cls: i for i, cls in enumerate(classes)}
    places = [place.get(name, place.get(str(name), -1)) for name in names]
    if sorted(places) != list(range(len(classes))):
        got = f"the classes {check.listing(names)}" if names else "no classes"
        raise LabelError(subject, expected=f"the classes {check.listing(classes)}", got=got)
    return np.argsort(places)


def by_class(values: Any, classes: Sequence[Hashable], subject: str) -> Any:
    """Return the columns of a data frame, or the values of a mapping, as an array in the order of the classes."""
    if isinstance(values, Mapping):
        order = class_order(values, classes, subject)
        return np.array(list(values.values()))[order]
    if not check.is_frame(values):
        return check.as_array(values)
    columns = check.frame_columns(values)
    order = class_order(columns, classes, f"columns of {subject}")
    return np.column_stack([*columns.values()])[:, order]


def square_by_class(matrix: Any, classes: Any, subject: str) -> tuple[Any, tuple[Hashable, ...] | None]:
    """Return a square matrix and its classes. Rows and columns of a data frame are matched by name."""
    if not check.is_frame(matrix):
        return matrix, None if classes is None else check_classes(classes)
    if not hasattr(matrix, "index"):
        got, hint = "a data frame without an index", "pass an array in the order of classes="
        raise LabelError(subject, expected="a name for each row and column", got=got, hint=hint)
    table = matrix.fillna(0)
    if classes is None:  # a crosstab has no column or row for a class that is never predicted or does not occur
        classes = ordered_categories(table.index, table.columns) or distinct_labels(
            np.array([*table.index, *table.columns])
        )
        table = table.reindex(index=classes, columns=classes, fill_value=0)
    classes = check_classes(classes)
    rows = class_order(table.index, classes, f"rows of {subject}")
    columns = class_order(table.columns, classes, f"columns of {subject}")
    return table.to_numpy()[np.ix_(rows, columns)], classes


def factorized(labels: Array) -> tuple[list[Any], NDArray[np.signedinteger[Any]]]:
    """Return the distinct labels, sorted if labels can be compared, and the index of the label of each row."""
    texts = encoded_texts(labels)  # None unless it is a long column of texts
    if texts is not None:
        return texts[0].tolist(), texts[1]
    if labels.dtype.kind in "iu":
        low, high = int(labels.min()), int(labels.max())
        if high - low < labels.size:  # few values: a table is faster than a sort
            offset = np.subtract(labels, low, dtype=np.int64, casting="unsafe")
            occurs = np.bincount(offset) > 0
            values = [low + step for step in np.flatnonzero(occurs).tolist()]
            return values, (np.cumsum(occurs) - 1)[offset]
    try:
        values, inverse = np.unique(labels, return_inverse=True)
        return values.tolist(), inverse.reshape(-1)  # NumPy 2.0 gives it the shape of the labels
    except TypeError:  # labels of mixed types have no order
        values = list(dict.fromkeys(labels.tolist()))
        place = {label: index for index, label in enumerate(values)}
        return values, np.array([place[label] for label in labels.tolist()], np.intp)


def position(cls: Any, classes: Sequence[Hashable]) -> int:
    """Return the index of one class."""
    if check.check_label(cls, "class") not in classes:
        raise LabelError("class", expected=f"one of {check.listing(classes)}", got=repr(cls))
    return classes.index(cls)
