"""Columns of more than two classes: which column holds the probability of which class."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.core.provenance import Provenance
from rocscope.errors import ColumnError, InputError

if TYPE_CHECKING:
    from rocscope.multiclass.predictions import MulticlassPredictions

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
    """Return a table whose columns have the names of the classes; what does not fit, its user refuses by name."""
    names = [name for name in dict.fromkeys([*order, *columns]) if name in columns]
    return pa.table({name: columns[name] for name in names})
