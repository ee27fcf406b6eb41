"""Rows: the base class of Predictions and MulticlassPredictions (weights, folds, groups, segments, selection).

Provenance: where the rows of Predictions came from, and how many were left out on the way.

CountedModels: counts by model (or by segment and model), and where their rows came from.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.grouping import Parts, parts
from rocscope.core.result import Result
from rocscope.errors import ColumnError, InputError, ShapeError, warn
from rocscope.errors import brief as brief


@dataclass(frozen=True, repr=False)
class Provenance(Result):
    """Source of predictions that were read, and the number of rows read and dropped.

    Parameters
    ----------
    origin : tuple of str
        The files read, or what held the rows, such as "pandas DataFrame".
    rows_read : int
        Rows that the source held, or those of them that `where` kept.
    rows_dropped : int
        Rows among `rows_read` that were left out because a value in them was missing or infinite.
    where : str or None
        The filter, in SQL.
    doubt : str
        Why intervals of what such rows cost are not to be trusted, whatever the rows show; empty where they may be.

    Examples
    --------
    >>> Provenance(("scores.csv",), rows_read=100, rows_dropped=3, where="region = 'EU'")
    Provenance(scores.csv, where "region = 'EU'", rows_read=100, rows_dropped=3)
    """

    origin: tuple[str, ...]
    rows_read: int
    rows_dropped: int = 0
    where: str | None = None
    doubt: str = ""

    @property
    def name(self) -> str:
        """Short name of the source: the first file, and the number of further ones."""
        return brief(self.origin)

    def __repr__(self) -> str:
        condition = "" if self.where is None else f", where {self.where!r}"
        return f"Provenance({self.name}{condition}, rows_read={self.rows_read}, rows_dropped={self.rows_dropped})"


class CountedModels(dict[Any, Any]):
    """A dictionary from model to ThresholdCounts, or from segment to such a dictionary.

    Attributes
    ----------
    source : Provenance or None
        What was read, how many rows, and how many of them were left out.

    Examples
    --------
    >>> CountedModels({"a": 1}, Provenance(("scores.parquet",), rows_read=3)).source
    Provenance(scores.parquet, rows_read=3, rows_dropped=0)
    """

    def __init__(self, by_name: dict[Any, Any], source: Provenance | None = None) -> None:
        super().__init__(by_name)
        self.source = source


class Rows(Result):
    """The columns of rows besides labels and scores, and the subsets that they define.

    Attributes
    ----------
    sample_weight, fold, repeat, segment, groups, row : array of n entries, or None
        Rows that belong together, such as those of one patient, are of one of the `groups`. `row` is the case that an
        entry is of, such as its place in the data: equal for all entries of one case.
    weighting : EstimatedWeights or None
        How the weights were estimated, if they were.
    source : Provenance or None
    """

    sample_weight: Array | None
    fold: Array | None
    repeat: Array | None
    segment: Array | None
    groups: Array | None
    row: Array | None
    weighting: Any
    source: Provenance | None
    models: Any

    def _keep(
        self, n: int, sample_weight: Any, source: Provenance | None, weighting: Any = None, **columns: Any
    ) -> None:
        """Check and store the columns."""
        self.weighting = weighting
        weight = check.check_weights(sample_weight, n)
        self.sample_weight = None if weight is None else check.read_only(weight)
        for name, column in columns.items():
            setattr(self, name, None if column is None else check.read_only(check.check_column(column, name, n)))
        if self.groups is not None:
            check.check_present(self.groups, "groups", InputError)
        self.source = source

    def row_columns(self, rows: Any = slice(None)) -> dict[str, Any]:
        """Return some rows of each column, and the source."""
        columns = {name: take(getattr(self, name), rows) for name in ("sample_weight", *_COLUMNS)}
        weighting = None if self.weighting is None else self.weighting.take(rows)
        return columns | {"weighting": weighting, "source": self.source}

    def __len__(self) -> int:
        raise NotImplementedError

    def select(self, rows: Any = None, *, models: Sequence[str] | None = None) -> Self:
        """Return the rows where a mask is true, for the named models; by default all.

        Raises
        ------
        ShapeError
            If no row is selected, or the mask does not have an entry a row.
        ColumnError
            If a model is not there.

        Examples
        --------
        >>> from rocscope import Predictions
        >>> Predictions([1, 0, 1], [3, 2, 1]).select([True, True, False])
        Predictions(n=2, n_pos=1, n_neg=1, models=['score'])
        """
        mask = slice(None) if rows is None else row_mask(rows, len(self))
        return self._take(mask, self.models if models is None else [model_name(self.models, each) for each in models])

    def _take(self, rows: Any, models: Sequence[str]) -> Self:
        """Return some rows (by mask, slice or indices) of some models."""
        raise NotImplementedError

    @cached_property
    def repeated(self) -> bool:
        """Whether a case has several entries, as after repeated cross-validation; these are not independent."""
        return self.row is not None and np.unique(self.row).size < self.row.size

    @cached_property
    def n_groups(self) -> int | None:
        """Number of groups, or None."""
        return None if self.groups is None else len(check.distinct(self.groups))

    @property
    def grouped(self) -> bool:
        """Whether a group has several rows; these are not independent."""
        return self.groups is not None and self.n_groups != self.groups.size

    def by_segment(self) -> Parts[Self]:
        """Return a mapping from segment to its rows, computed on access.

        Raises
        ------
        InputError
            If there is no segment column.
        """
        return self._by("segment")

    def by_fold(self) -> Parts[Self]:
        """Return the rows of each fold; folds of different repeats are distinct. Raises as `by_segment`."""
        return self._by("fold")

    def by_repeat(self) -> Parts[Self]:
        """Return the rows of each repeat of an evaluation, in which each case occurs once. Raises as `by_segment`."""
        return self._by("repeat")

    def _by(self, name: str) -> Parts[Self]:
        return parts(name, getattr(self, name), lambda rows: self._take(rows, self.models))


_COLUMNS = ("fold", "repeat", "segment", "groups", "row")


def independent_units(rows: Rows, groups: Any = None) -> NDArray[np.intp] | None:
    """Return the independent unit of each row as a number from 0, or None where every row is one.

    Units are the groups given; by default those of the rows; with False, or where there are none, the rows themselves,
    and all entries of a case together, for repeats are no new data.

    Raises
    ------
    InputError
        If groups part the entries of a case.
    """
    groups = rows.groups if groups is None else groups
    case = check.check_groups(rows.row, "row", len(rows)) if rows.repeated else None
    if groups is None or groups is False:
        return case
    unit = check.check_groups(groups, "groups", len(rows))
    if case is not None:
        of_case = np.empty_like(unit)
        of_case[case] = unit
        if (parted := of_case[case] != unit).any():
            got = check.count_and_first(parted, "entries in another one than their case")
            raise InputError("groups", expected="all entries of a case in one group", got=got)
    return unit


def refuse_repeats(rows: Any, what: str) -> None:
    """Raise if a case has several entries, whether for one model or several."""
    if any(one.repeated for one in _containers(rows)):
        raise InputError(
            what,
            expected="each case once",
            got="several entries of a case, from repeats",
            hint="take one repeat: predictions.by_repeat()[0]",
        )


def require_distinct(rows: Any, what: str) -> None:
    """Raise if a case has several entries, for inference that assumes independence; warn of groups."""
    refuse_repeats(rows, what)
    if any(one.grouped for one in _containers(rows)):
        warn(f"{what} takes rows to be independent and knows no groups: its result looks surer than it is")


def _containers(rows: Any) -> list[Rows]:
    each = list(cast(Mapping[str, Any], rows).values()) if isinstance(rows, Mapping) else [rows]
    return [one for one in each if isinstance(one, Rows)]


def model_name(models: Sequence[str], model: Any) -> str:
    """Return the model's name, which may be omitted if there is only one."""
    if model is None and len(models) == 1:
        return models[0]
    if model is None:
        hint = f"name the model: model={models[0]!r}"
        raise ColumnError("model", expected=f"one of {list(models)}", got="no name", hint=hint)
    if not isinstance(model, str) or model not in models:
        raise ColumnError("model", expected=check.one_of(str(model), models), got=check.shown(model))
    return model


def row_mask(rows: Any, n: int) -> Array:
    """Return `rows` as a mask of `n` entries that selects at least one."""
    mask = check.check_column(rows, "rows", n)
    if mask.dtype != np.bool_:
        raise ShapeError("rows", expected="a mask of True and False", got=f"values of type {mask.dtype}")
    if not mask.any():
        raise ShapeError("rows", expected="at least one row selected", got="none")
    return mask


def take(column: Array | None, mask: Any) -> Array | None:
    """Return the selected rows of an optional column."""
    return None if column is None else column[mask]
