"""Task: checked labels and attributes that the fits of all models share.

Attributes of any kind: how many rows they have, and some of the rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.errors import LabelError, ShapeError
from rocscope.evaluation.scoring import RESPONSES, Response
from rocscope.multiclass.classes import class_index, factorized, label_column
from rocscope.protocols.splits import SplitRows


def attributes(X: Any, n: int) -> Any:
    """Return attributes of n rows in a form for `rows_of`: a sparse matrix, a frame of any library, or an array."""
    if hasattr(X, "tocsr"):
        X = X.tocsr()
    elif not _is_frame(X):
        X = _array(X)
    rows = X.shape[0]
    if rows != n:
        raise ShapeError("X", expected=f"one row per label ({n})", got=str(rows), hint="X and y must have equal rows")
    return X


def _array(values: Any) -> Array:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ShapeError("X", expected="a table", got="rows of different lengths") from error
    if array.ndim == 0:
        raise ShapeError("X", expected="a table of attributes", got=type(values).__name__)
    return array


def _is_frame(X: Any) -> bool:
    return hasattr(X, "iloc") or hasattr(X, "__dataframe__") or hasattr(X, "column_names")


def rows_of(X: Any, index: Array) -> Any:
    """Return rows in the order of `index`, in the same kind of table.

    Examples
    --------
    >>> import pandas as pd
    >>> rows_of(pd.DataFrame({"a": [1, 2, 3]}), np.array([2, 0])).a.tolist()
    [3, 1]
    """
    if hasattr(X, "iloc"):
        return X.iloc[index]
    if isinstance(X, np.ndarray) or hasattr(X, "tocsr"):
        return X[index]
    import narwhals as nw

    return nw.from_native(X, eager_only=True)[index.tolist()].to_native()


@dataclass(frozen=True)
class Task:
    """Settings shared by all fits.

    `labels` are as the user gave them and `positive` is the place of the positive class among `classes`, or None
    where each class has a score. `decided` states whether models are asked for labels, too. `scorers` judge each
    fitted model. `arguments` are those of the `fit` of each model beside rows and labels. Where there is no seed,
    models keep their own random state.
    """

    X: Any
    labels: Array
    classes: tuple[Any, ...]
    positive: int | None
    weight: Array | None
    response: str | Mapping[str, str] = "auto"
    seed: int | None = None
    decided: bool = True
    scorers: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class TestRows:
    """Attributes, labels and weights of the rows that a fold tests."""

    __test__ = False  # no test of pytest

    X: Any
    labels: Array
    weight: Array | None
    positive: Any = None


def task_of(
    X: Any,
    y: Any,
    pos_label: Any,
    sample_weight: Any,
    response: Response | Mapping[str, Response],
    seed: int | None = None,
    known: Sequence[Any] = (),
) -> Task:
    """Check the data; `known` are classes that y need not contain."""
    for each in response.values() if isinstance(response, Mapping) else [response]:
        check.check_choice("response", each, RESPONSES)
    labels = label_column(y, "y")
    classes: tuple[Any, ...] = tuple(check.distinct(np.array([*factorized(labels)[0], *known], object)))
    if len(classes) == 1:
        raise LabelError("y", expected="two classes or more", got=f"only {labels.tolist()[0]!r}")
    if len(classes) > 2 and pos_label is not None:
        hint = "leave it out: predictions.binary(cls) is one class against the rest"
        raise LabelError("pos_label", expected="none for more than two classes", got=repr(pos_label), hint=hint)
    positive = None
    if len(classes) == 2:
        positive = int(np.argmax(check.check_labels(list(classes), pos_label, "y")))
    weight = check.check_weights(sample_weight, labels.size)
    return Task(attributes(X, labels.size), labels, classes, positive, weight, response, seed)


def response_for(task: Task, model: str) -> str:
    """Return what the scores of a model are asked to be."""
    return task.response if isinstance(task.response, str) else task.response.get(model, "auto")


def sample_of(task: Task, groups: Any = None) -> SplitRows:
    """Return what protocols need to know about the data."""
    codes = None if groups is None else check.check_groups(groups, "groups", task.labels.size)
    return SplitRows(task.X, class_index(task.labels, task.classes, "y"), task.classes, codes)
