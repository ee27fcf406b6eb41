"""Roles of columns, and probability columns of classes.

Roles: which column of a source is the label, which are scores, and how each is converted and checked.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.core.rows import Provenance, brief
from rocscope.engines.sources import columns
from rocscope.engines.sources.column_names import HasColumns, Scores, given, models_of
from rocscope.engines.sources.columns import Column
from rocscope.engines.sources.source import Source
from rocscope.errors import ColumnError, InputError, LabelError, ScoreError, WeightError

if TYPE_CHECKING:
    from rocscope.multiclass.predictions import MulticlassPredictions


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

    def convert(self, source: Source, table: pa.Table, part: columns.ColumnPart = columns.WHOLE_COLUMN) -> Column:
        """Return the column as NumPy values."""
        column, subject = table.column(self.column), self.subject(source)
        if self.argument in ("label", "predicted"):
            return columns.labels(column, subject)
        if self.argument in ("fold", "segment", "groups"):
            return columns.groups(column, subject)
        return columns.numbers(column, subject, _ERRORS[self.argument], decimal=source.decimal, part=part)

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
