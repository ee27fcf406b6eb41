"""describe: what a source holds, before anything is computed from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from rocscope._types import Array
from rocscope._validation import one_of
from rocscope.core.provenance import brief
from rocscope.core.result import Result, html_table, jsonable
from rocscope.engines.sources import columns
from rocscope.engines.sources.finding import FormatName
from rocscope.engines.sources.layout import FileLayout
from rocscope.engines.sources.naming import require_columns
from rocscope.engines.sources.opening import open_source
from rocscope.errors import ColumnError, InputError, ScoreError

_MOST_CLASSES = 20
_AT_ONCE = 8  # columns in memory: few enough for wide data, many enough to parse a CSV file once or twice


@dataclass(frozen=True)
class ColumnFacts(Result):
    """What a column holds.

    Attributes
    ----------
    name, type : str
        The type as Arrow names it.
    missing, infinite : int
        Rows without a value, and with an infinite one; all else is about the other rows.
    distinct : int or None
        Number of distinct values; None where there are more than 20 and they are not numbers.
    tied : float or None
        Share of rows whose value another row has too; for numbers.
    minimum, maximum : number or None
    classes : dict from value to number of rows, or None where there are more than 20.

    Examples
    --------
    >>> from rocscope.engines import describe
    >>> facts = describe({"a": [0.9, 0.4, 0.4, None]})["a"]
    >>> facts.missing, facts.distinct, facts.minimum, facts.maximum
    (1, 2, 0.4, 0.9)
    """

    _also = ("is_number", "is_binary", "is_probability_like")

    name: str
    type: str
    missing: int
    infinite: int = 0
    distinct: int | None = None
    tied: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    classes: dict[Any, int] | None = None

    @property
    def is_number(self) -> bool:
        """Whether it could be a score."""
        return self.tied is not None

    @property
    def is_binary(self) -> bool:
        """Whether it could be a label: it has two distinct values."""
        return self.distinct == 2

    @property
    def is_probability_like(self) -> bool:
        """Whether it holds more than two distinct numbers, all from 0 to 1."""
        if self.minimum is None or self.maximum is None or self.distinct is None or self.infinite:
            return False
        return self.distinct > 2 and self.minimum >= 0 and self.maximum <= 1

    def to_dict(self) -> dict[str, Any]:
        """Return the facts, safe for JSON; classes as a list, so that 1 and "1" stay apart."""
        classes = self.classes and [{"value": _plain(value), "rows": n} for value, n in self.classes.items()]
        return super().to_dict() | {"classes": jsonable(classes)}


@dataclass(frozen=True, repr=False)
class Description(Result):
    """What a source holds, column by column.

    Attributes
    ----------
    origin : tuple of str
        The files, or what else holds the rows.
    rows : int
    columns : tuple of ColumnFacts
    problems : tuple of str
        What stands in the way of reading the label and the scores that were named, a sentence each.

    Examples
    --------
    >>> from rocscope.engines import describe
    >>> describe({"bought": [1, 0], "a": [0.9, 0.4]}).rows
    2
    """

    _also = ("label_candidates", "score_candidates")

    origin: tuple[str, ...]
    rows: int
    columns: tuple[ColumnFacts, ...]
    problems: tuple[str, ...] = ()

    @property
    def label_candidates(self) -> list[str]:
        """Columns with two distinct values."""
        return [column.name for column in self.columns if column.is_binary]

    @property
    def score_candidates(self) -> list[str]:
        """Columns of numbers with more than two distinct values."""
        return [column.name for column in self.columns if column.is_number and (column.distinct or 0) > 2]

    def __getitem__(self, name: str) -> ColumnFacts:
        facts = {column.name: column for column in self.columns}
        if name not in facts:
            raise ColumnError("column", expected=one_of(name, list(facts)), got=repr(name))
        return facts[name]

    def __repr__(self) -> str:
        facts = f"rows={self.rows}, columns={len(self.columns)}, label_candidates={self.label_candidates}"
        return f"Description({brief(self.origin)}, {facts}, problems={len(self.problems)})"

    def _repr_html_(self) -> str:
        heads = ("name", "type", "missing", "infinite", "distinct", "tied", "minimum", "maximum")
        return html_table(([_cell(getattr(column, head)) for head in heads] for column in self.columns), heads)


def describe(
    source: Any,
    *,
    label: str | None = None,
    scores: str | Sequence[str] | None = None,
    where: str | None = None,
    format: FormatName | None = None,
    decimal: Literal[".", ","] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
) -> Description:
    """Rows, columns, missing values, ties and candidate labels of a source.

    Parameters
    ----------
    source, where, format, decimal, delimiter, encoding : see `rocscope.read`
    label : str, optional
    scores : str or sequence of str, optional
        Where any column is named, only those that are named are described, and `problems` says what is wrong with
        them.

    Raises
    ------
    ColumnError, EngineError, InputError, MissingDependencyError
        As `rocscope.read` does, but not for what the values are.

    Notes
    -----
    One sort a column of numbers. -0.0 equals 0.0.

    Examples
    --------
    >>> facts = describe({"bought": ["yes", "no", "yes", None], "a": [0.9, 0.4, 0.4, 0.2]})
    >>> facts
    Description(dict of columns, rows=4, columns=2, label_candidates=['bought'], problems=0)
    >>> facts["bought"].classes, facts["a"].tied
    ({'no': 1, 'yes': 2}, 0.5)
    """
    models = [scores] if isinstance(scores, str) else list(scores or [])
    with open_source(source, FileLayout(format, decimal, delimiter, encoding)) as opened:
        require_columns(opened, [] if label is None else [label], "label")
        require_columns(opened, models, "score")
        named = [name for name in [label, *models] if name is not None]
        names = list(dict.fromkeys(named or (name for name in opened.columns if list(opened.columns).count(name) == 1)))
        facts: list[ColumnFacts] = []
        rows = 0
        for start in range(0, len(names), _AT_ONCE):
            table = opened.fetch(names[start : start + _AT_ONCE], where)
            rows = table.num_rows
            facts += [facts_of(name, table.column(name), decimal=opened.decimal) for name in table.column_names]
    described = Description(opened.origin, rows, tuple(facts))
    repeated = [name for name in dict.fromkeys(opened.columns) if list(opened.columns).count(name) > 1]
    problems = [f"several columns are named {name!r}" for name in repeated]
    problems += [] if label is None else _label_problems(described[label])
    problems += [problem for model in models for problem in _score_problems(described[model])]
    return Description(opened.origin, rows, tuple(facts), tuple(problems))


def facts_of(name: str, column: pa.ChunkedArray, *, decimal: str) -> ColumnFacts:
    """Return what a column holds, or a part of it."""
    try:
        numbers = columns.numbers(column, name, ScoreError, decimal=decimal)
    except InputError:
        return _facts_of_names(name, column)
    values, kind = numbers.values, str(column.type)
    if numbers.missing is None:
        return _facts_of_numbers(name, kind, values, 0, 0)
    infinite = int(np.isinf(values).sum()) if values.dtype.kind == "f" else 0
    missing = int(numbers.missing.sum()) - infinite
    return _facts_of_numbers(name, kind, values[~numbers.missing], missing, infinite)


def _facts_of_numbers(name: str, kind: str, values: Array, missing: int, infinite: int) -> ColumnFacts:
    """Count finite values."""
    if not values.size:
        return ColumnFacts(name, kind, missing, infinite, distinct=0, tied=0.0, classes={})
    found, counts = np.unique(values, return_counts=True)
    few = found.size <= _MOST_CLASSES
    return ColumnFacts(
        name,
        kind,
        missing,
        infinite,
        distinct=found.size,
        tied=1 - int((counts == 1).sum()) / values.size,
        minimum=found[0].item(),
        maximum=found[-1].item(),
        classes=dict(zip(found.tolist(), counts.tolist(), strict=True)) if few else None,
    )


def _facts_of_names(name: str, column: pa.ChunkedArray) -> ColumnFacts:
    kind, missing = str(column.type), column.null_count
    seen: set[Any] = set()
    try:
        for chunk in column.chunks:
            seen |= {value for value in chunk.unique().to_pylist() if value is not None}
            if len(seen) > _MOST_CLASSES:
                return ColumnFacts(name, kind, missing)
        counts = {entry["values"]: entry["counts"] for entry in column.value_counts().to_pylist()}
    except (pa.ArrowNotImplementedError, TypeError):  # lists and structures
        return ColumnFacts(name, kind, missing)
    classes = {value: counts[value] for value in sorted(seen)}
    return ColumnFacts(name, kind, missing, distinct=len(classes), classes=classes)


def _label_problems(label: ColumnFacts) -> list[str]:
    bad = label.missing + label.infinite
    problems = [f"label {label.name!r}: {bad} missing or infinite"] if bad else []
    if not label.is_binary:
        found = "more than 20" if label.distinct is None else label.distinct
        problems.append(f"label {label.name!r}: expected two classes, got {found}")
    return problems


def _score_problems(score: ColumnFacts) -> list[str]:
    if not score.is_number:
        return [f"score {score.name!r}: expected numbers, got values of type {score.type}"]
    bad = score.missing + score.infinite
    problems = [f"score {score.name!r}: {bad} missing or infinite"] if bad else []
    return problems + ([f"score {score.name!r}: all values are equal"] if score.distinct == 1 else [])


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str) else str(value)


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
