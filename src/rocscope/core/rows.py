"""Rows: what every container of predictions, of two classes or more, does with them."""

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.core.provenance import Provenance
from rocscope.core.result import Result
from rocscope.errors import ColumnError, InputError, ShapeError


class Rows(Result):
    """The columns that rows have beside labels and scores, and the parts that they make.

    Attributes
    ----------
    sample_weight, fold, repeat, segment, row : array of n entries, or None
        `row` is the case that an entry is of, such as its place in the data: equal for all entries of one case.
    source : Provenance or None
    """

    sample_weight: Array | None
    fold: Array | None
    repeat: Array | None
    segment: Array | None
    row: Array | None
    source: Provenance | None

    def _keep(self, n: int, sample_weight: Any, source: Provenance | None, **columns: Any) -> None:
        """Check the columns and keep them."""
        weight = check.check_weights(sample_weight, n)
        self.sample_weight = None if weight is None else check.read_only(weight)
        for name, column in columns.items():
            setattr(self, name, None if column is None else check.read_only(check.check_column(column, name, n)))
        self.source = source

    def _taken(self, mask: Any) -> dict[str, Any]:
        """Return the selected rows of each column, and the source."""
        columns = {name: take(getattr(self, name), mask) for name in ("sample_weight", *_COLUMNS)}
        return columns | {"source": self.source}

    def select(self, rows: Any = None, *, models: Sequence[str] | None = None) -> Self:
        """Return the rows where a mask is true."""
        raise NotImplementedError

    @cached_property
    def repeated(self) -> bool:
        """True where a case has several entries, as after repeated cross-validation: they are not independent."""
        return self.row is not None and np.unique(self.row).size < self.row.size

    def by_segment(self) -> dict[Hashable, Self]:
        """Return the rows of each segment.

        Raises
        ------
        InputError
            If there is no segment column.
        """
        return self._by("segment")

    def by_fold(self) -> dict[Hashable, Self]:
        """Return the rows of each fold; folds of different repeats have different numbers.

        Raises
        ------
        InputError
            If there is no fold column.
        """
        return self._by("fold")

    def by_repeat(self) -> dict[Hashable, Self]:
        """Return the rows of each repeat of an evaluation, in which a case occurs once.

        Raises
        ------
        InputError
            If there is no repeat column.
        """
        return self._by("repeat")

    def _by(self, name: str) -> dict[Hashable, Self]:
        return {value: self.select(mask) for value, mask in masks_of(name, getattr(self, name)).items()}


_COLUMNS = ("fold", "repeat", "segment", "row")


def independent_units(rows: Rows, groups: Any) -> Any:
    """Return the groups given; where there are none and cases have several entries, the case of each entry."""
    return rows.row if groups is None and rows.repeated else groups


def require_distinct(rows: Any, what: str) -> None:
    """Refuse entries that are not independent, for inference that takes them to be."""
    if isinstance(rows, Rows) and rows.repeated:
        raise InputError(
            what,
            expected="each case once",
            got="several entries of a case, from repeats",
            hint="take one repeat: predictions.by_repeat()[0]",
        )


def model_name(models: Sequence[str], model: str | None) -> str:
    """Return the model meant, which may be left out when there is only one."""
    if model is None and len(models) == 1:
        return models[0]
    if model is None:
        hint = f"name the model: model={models[0]!r}"
        raise ColumnError("model", expected=f"one of {list(models)}", got="no name", hint=hint)
    if model not in models:
        raise ColumnError("model", expected=check.one_of(model, models), got=repr(model))
    return model


def row_mask(rows: Any, n: int) -> Array:
    """Return `rows` as a mask of `n` entries that selects at least one."""
    mask = check.check_column(rows, "rows", n)
    if mask.dtype != np.bool_:
        raise ShapeError("rows", expected="a mask of True and False", got=f"values of type {mask.dtype}")
    if not mask.any():
        raise ShapeError("rows", expected="at least one row selected", got="none")
    return mask


def masks_of(name: str, column: Array | None) -> dict[Hashable, Array]:
    """Return the mask of each value of a fold, repeat or segment column."""
    if column is None:
        where = "Predictions" if name == "repeat" else "Predictions or rocscope.read"
        raise InputError(f"there is no {name} column", hint=f"pass {name}= to {where}")
    check.check_present(column, name, InputError)
    return {value: column == value for value in check.distinct(column)}


def take(column: Array | None, mask: Any) -> Array | None:
    """Return the selected rows of a column that may not be there."""
    return None if column is None else column[mask]
