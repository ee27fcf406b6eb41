"""Roles: which column of a source is the label, which are scores, and how each is converted and checked."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from rocscope import _validation as check
from rocscope.core.provenance import brief
from rocscope.engines.sources import columns
from rocscope.engines.sources.columns import Column
from rocscope.engines.sources.naming import HasColumns, Scores, given, models_of
from rocscope.engines.sources.source import Source
from rocscope.errors import InputError, LabelError, ScoreError, WeightError

MISSING = ("error", "drop")
"""What to do about rows with a missing or infinite value."""

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
    """What a column is used for."""

    argument: str
    column: str
    model: str | None = None
    cls: str | None = None

    def subject(self, source: HasColumns) -> str:
        """Return what messages call the column."""
        return f"{self.argument} {self.column!r} of {brief(source.origin)}"

    def convert(self, source: Source, table: pa.Table, part: columns.Part = columns.WHOLE_COLUMN) -> Column:
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
    """Return the error for missing or infinite values in a column that is used as `argument` says."""
    hint = "leave such rows out with missing='drop'"
    return _ERRORS[argument](subject, expected="a finite value in every row", got=got, hint=hint)


def roles_of_columns(source: HasColumns, label: str | None, **others: str | None) -> list[Role]:
    """Return what each column besides those of models is for."""
    roles = [Role("label", given(source, "label", label))]
    return roles + [Role(argument, str(column)) for argument, column in others.items() if column is not None]


def roles_of_numbers(columns: Sequence[str] | str | None) -> list[Role]:
    """Return the role of each further column of numbers."""
    if columns is None:
        return []
    if not isinstance(columns, Sequence) or isinstance(columns, bytes):
        raise InputError("columns", expected="names of columns", got=check.shown(columns))
    names = [columns] if isinstance(columns, str) else map(str, columns)
    return [Role("columns", name) for name in dict.fromkeys(names)]


def roles_of_scores(source: HasColumns, scores: Scores | None) -> list[Role]:
    """Return the role of the column of each model."""
    return [Role("score", column, model) for model, column in models_of(source, "scores", scores).items()]
