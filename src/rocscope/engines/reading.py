"""read: predictions from files, streams, data frames and relations."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.core.predictions import Predictions, Provenance
from rocscope.engines import columns
from rocscope.engines.columns import (
    MISSING,
    Column,
    Proba,
    Role,
    class_predictions,
    positives,
    probability_columns,
    roles_of_columns,
    roles_of_numbers,
    roles_of_scores,
)
from rocscope.engines.formats import (
    AS_IT_TELLS,
    FileFormat,
    FileLayout,
    Scores,
    Source,
    models_of,
    no_complete_rows,
    no_rows,
    require_columns,
)
from rocscope.engines.opening import open_source
from rocscope.errors import InputError, ScoreError, brief
from rocscope.outcomes.time_to_event import at_horizon

if TYPE_CHECKING:
    from rocscope.multiclass.predictions import MulticlassPredictions


_MISSING = (*MISSING, "segment")
_PREDICTIONS_ARGUMENT = {"weight": "sample_weight", "fold": "fold", "segment": "segment", "groups": "groups"}


class _Rows(TypedDict, total=False):
    """Columns and options for reading rows of any number of classes."""

    label: str | None
    weight: str | None
    fold: str | None
    segment: str | None
    groups: str | None
    where: str | None
    missing: Literal["error", "drop", "segment"]
    format: FileFormat | None
    decimal: Literal[".", ","] | None
    delimiter: str | None
    encoding: str | None
    table: str | None


@overload
def read(
    source: Any,
    *,
    scores: Scores | None = None,
    pos_label: Any = None,
    columns: Sequence[str] | None = None,
    **rows: Unpack[_Rows],
) -> Predictions: ...
@overload
def read(
    source: Any,
    *,
    proba: Proba | None = None,
    predicted: Scores | None = None,
    classes: Any = None,
    normalize: bool = False,
    **rows: Unpack[_Rows],
) -> "MulticlassPredictions": ...
@contract
def read(
    source: Any,
    *,
    label: str | None = None,
    scores: Scores | None = None,
    weight: str | None = None,
    fold: str | None = None,
    segment: str | None = None,
    groups: str | None = None,
    columns: Sequence[str] | None = None,
    where: str | None = None,
    missing: Literal["error", "drop", "segment"] = "error",
    pos_label: Any = None,
    format: FileFormat | None = None,
    decimal: Literal[".", ","] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    table: str | None = None,
    proba: Proba | None = None,
    predicted: Scores | None = None,
    classes: Any = None,
    normalize: bool = False,
) -> Any:
    """Read Predictions from the columns of a file, a stream, a data frame or a relation.

    Parameters
    ----------
    source : path, list of paths, binary file, data frame, relation or mapping
        A file, a glob (`"scores/*.parquet"`) or a folder of CSV, TSV, JSON lines, Parquet or Arrow (Feather) files,
        text also as `.gz` or `.zst`; folders named key=value add columns to Parquet files. All files of a folder must
        have the columns used. A DuckDB or SQLite database (`.duckdb`, `.sqlite`). `"-"` is standard input, which needs
        `format`, as does any other stream. A table of Delta Lake or Iceberg as its library opens it; a pandas,
        Polars (lazy too) or PyArrow frame, a DuckDB relation or whatever else narwhals knows; a mapping from column
        name to array.
    label : str
        Column of labels.
    scores : str, sequence of str, or mapping from model name to column
        One column for each model. Higher means more positive.
    weight, fold, segment, groups : str, optional
        Columns; see `Predictions`.
    columns : sequence of str, optional
        Further columns of numbers, such as amounts, that a `Context` may name as costs; see `Predictions`.
    where : str, optional
        Keep the rows for which this condition holds, in DuckDB's SQL: ``region = 'EU' AND "last contact" > 3``.
    missing : {"error", "drop", "segment"}
        What to do about rows with a missing or infinite value in a column used: refuse them, or leave each out as a
        whole, so that all models are still compared on the same rows. Their number is in ``.source.rows_dropped``.
        With "segment", rows that only lack a segment are one, called None; others are refused.
    pos_label : label, optional
        The positive one; needed unless labels are {0, 1}, {-1, 1} or {False, True}. Text will do for a number: "1".
    format : {"csv", "tsv", "jsonl", "parquet", "arrow", "excel", "duckdb", "sqlite"}, optional
        By default, from the suffix.
    decimal : {".", ","}, optional
        What decimals are written with in CSV and TSV files; a point by default.
    delimiter : str, optional
        The character between fields of CSV files; by default the one of ``, ; | tab`` that makes most columns.
    encoding : str, optional
        Of text files, such as "latin-1"; by default UTF-8 or UTF-16, as the first bytes tell, or else Windows-1252,
        with a warning.
    table : str, optional
        The table or view of a DuckDB or SQLite database; may be left out where it has one.
    proba : str, or mapping from model name to str or to a mapping from class to column, optional
        For more than two classes, in place of `scores`: a pattern such as ``"p_*"``, whose ``*`` is the name of the
        class that a column holds the probabilities of.
    predicted : str, sequence of str, or mapping from model name to column, optional
        Columns of predicted classes.
    classes, normalize : see `rocscope.multiclass.MulticlassPredictions`

    Returns
    -------
    Predictions, or MulticlassPredictions with `proba` or `predicted`
        In the order of the rows; ``.source`` states where they came from.

    Raises
    ------
    ColumnError
        If a column is not there, or several have its name.
    EngineError
        If a file cannot be read or the condition is not valid.
    LabelError, ScoreError, WeightError, InputError
        If a column holds what it may not, or `missing` is "error" and a value is missing. Rows are counted from 0,
        after the filter.
    MissingDependencyError
        If a library that the source needs is not installed.

    Notes
    -----
    Only the columns used are read. Scores keep their type: float32 stays float32 and int64 stays int64. Decimals,
    which NumPy does not know, become integers where they are whole, and float64 where they have at most 15 digits,
    so that none are rounded together; others are refused. Text in a CSV file is taken for whole numbers where all
    values of the column are, and for the nearest float64 otherwise; every value is looked at, not a sample. Whole
    numbers that neither 64 bits nor float64 can hold are refused. In columns of numbers in CSV files, "NA" and the
    like are missing values.

    The condition can read the source and nothing else: DuckDB is denied other files, the network, extensions and
    temporary files. Only a stream is copied, to a temporary file. A DuckDB relation is filtered by the connection
    that it belongs to, with that connection's rights.

    Examples
    --------
    >>> customers = {"bought": ["yes", "no", "yes", "no"], "a": [0.9, 0.4, None, 0.2], "b": [3, 2, 1, 0]}
    >>> preds = read(customers, label="bought", scores=["a", "b"], pos_label="yes", missing="drop")
    >>> preds
    Predictions(n=3, n_pos=1, n_neg=2, models=['a', 'b'])
    >>> preds.source
    Provenance(dict of columns, rows_read=4, rows_dropped=1)
    """
    check.check_choice("missing", missing, _MISSING)
    layout = FileLayout(format, decimal, delimiter, encoding, table)
    several = proba is not None or predicted is not None
    with open_source(source, layout) as opened:
        roles = roles_of_columns(opened, label, weight=weight, fold=fold, segment=segment, groups=groups)
        if several:
            _refuse_two_class_options(scores=scores, pos_label=pos_label, columns=columns)
            roles += _roles_of_classes(opened, proba, predicted, taken=(label, weight, fold, segment, groups))
        else:
            roles += roles_of_scores(opened, scores) + roles_of_numbers(columns)
        found, others = _fetch(opened, roles, where, missing)
    labels = next(role for role in roles if role.argument == "label")
    if several:
        proba_of, predicted_of = _by_model(found)
        options = {"classes": classes, "normalize": normalize}
        return class_predictions(found[labels].decoded(), proba_of, predicted_of, **options, **others)
    return Predictions(
        positives(found[labels], pos_label, labels.subject(opened), untyped=bool(opened.decimal)),
        {role.model: column.values for role, column in found.items() if role.model is not None},
        columns={role.column: column.values for role, column in found.items() if role.argument == "columns"},
        **others,
    )


@contract
def read_at_horizon(
    source: Any,
    *,
    time: str,
    event: str,
    horizon: float,
    scores: Scores | None = None,
    competing: Literal["negative", "exclude"] = "negative",
    weight: str | None = None,
    segment: str | None = None,
    groups: str | None = None,
    where: str | None = None,
    missing: Literal["error", "drop", "segment"] = "error",
    layout: FileLayout | None = None,
) -> Predictions:
    """Read times to event as rows at a horizon, weighted for censoring.

    Parameters
    ----------
    source : path, data frame, relation or mapping of columns
        As `rocscope.read` takes them.
    time, event : str
        Columns of the time, and of 0 (censored), 1 (the event) or 2 and above (competing events).
    horizon, competing : see `rocscope.outcomes.at_horizon`
    scores, weight, segment, groups, where, missing : see `rocscope.read`
    layout : FileLayout, optional
        How a text file is written.

    Returns
    -------
    Predictions

    Examples
    --------
    >>> patients = {"years": [1, 2, 3, 4, 5], "event": [1, 0, 1, 2, 0], "risk": [0.9, 0.5, 0.6, 0.3, 0.2]}
    >>> read_at_horizon(patients, time="years", event="event", horizon=4, scores="risk")
    Predictions(n=5, n_pos=2.33333, n_neg=2.66667, models=['risk'])
    """
    check.check_choice("missing", missing, _MISSING)
    with open_source(source, layout or FileLayout()) as opened:
        given = {"weight": weight, "segment": segment, "groups": groups}
        roles = roles_of_numbers([time, event]) + roles_of_scores(opened, scores)
        roles += [Role(argument, column) for argument, column in given.items() if column is not None]
        found, others = _fetch(opened, roles, where, missing)
    numbers = {role.column: column.values for role, column in found.items() if role.argument == "columns"}
    models = {role.model: column.values for role, column in found.items() if role.model is not None}
    read_from = others.pop("source")
    preds = at_horizon(numbers[time], numbers[event], models, horizon, competing=competing, **others)
    preds.source = read_from
    return preds


def _fetch(
    opened: Source, roles: Sequence[Role], where: str | None, missing: str
) -> tuple[dict[Role, Column], dict[str, Any]]:
    """Return the complete rows of the columns of some roles, and further arguments of Predictions."""
    for role in roles:
        require_columns(opened, [role.column], role.argument)
    table = opened.fetch(list(dict.fromkeys(role.column for role in roles)), where)
    if not table.num_rows:
        raise no_rows(brief(opened.origin), where)
    found = {role: role.convert(opened, table) for role in roles}
    if missing == "segment":
        found |= {role: column.or_none() for role, column in found.items() if role.argument == "segment"}
    rows = table.num_rows
    del table
    found, dropped = _complete(opened, found, drop=missing == "drop")
    others: dict[str, Any] = {
        _PREDICTIONS_ARGUMENT[role.argument]: column.decoded()
        for role, column in found.items()
        if role.argument in _PREDICTIONS_ARGUMENT
    }
    return found, others | {"source": Provenance(opened.origin, rows, dropped, where)}


def _roles_of_classes(
    source: Source, proba: Proba | None, predicted: Scores | None, *, taken: Sequence[str | None]
) -> list[Role]:
    """Return the columns of class probabilities and of predicted classes."""
    roles = []
    if proba is not None:
        by_model = probability_columns(list(source.columns), proba, taken)
        roles += [Role("proba", column, model, cls) for model, by in by_model.items() for cls, column in by.items()]
    if predicted is not None:
        roles += [
            Role("predicted", column, model) for model, column in models_of(source, "predicted", predicted).items()
        ]
    return roles


def _refuse_two_class_options(**given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise InputError(name, expected="none with proba= or predicted=, which are for any number of classes")


def _by_model(found: Mapping[Role, Column]) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    proba: dict[str, dict[str, Any]] = {}
    predicted: dict[str, Any] = {}
    for role, column in found.items():
        if role.model is not None and role.cls is not None:
            proba.setdefault(role.model, {})[role.cls] = column.values
        elif role.argument == "predicted":
            predicted[str(role.model)] = column.decoded()
    return proba, predicted


def _complete(source: Source, found: dict[Role, Column], *, drop: bool) -> tuple[dict[Role, Column], int]:
    """Return the rows without missing or infinite values, and the number of others, which must be allowed."""
    complete: NDArray[np.bool_] | None = None
    for role, column in found.items():
        if column.missing is None:
            continue
        if not drop:
            raise role.incomplete(source, check.count_and_first(column.missing, "missing or infinite"))
        complete = ~column.missing if complete is None else complete & ~column.missing
    if complete is None:
        return found, 0
    if not complete.any():
        raise no_complete_rows(brief(source.origin), complete.size)
    kept = {role: column.keep(complete) for role, column in found.items()}
    return kept, complete.size - int(complete.sum())


def add_column(
    source: Any,
    function: Callable[[Array], Array],
    *,
    score: str,
    name: str,
    where: str | None = None,
    layout: FileLayout = AS_IT_TELLS,
) -> pa.Table:
    """Return all columns of a source and a last one computed from the scores.

    Parameters
    ----------
    source, where : see `rocscope.read`
    layout : how the source is written
    function : from an array of scores to an array of as many values
    score, name : str
        The column of scores, and what the new one is called.

    Raises
    ------
    ColumnError
        If the column of scores is not there.
    InputError
        If there is a column of the new name already.
    ScoreError
        If a score is missing, infinite or no number.

    Examples
    --------
    >>> add_column({"m": [1, 2]}, lambda scores: scores / 2, score="m", name="half").to_pydict()
    {'m': [1, 2], 'half': [0.5, 1.0]}
    """
    with open_source(source, layout) as opened:
        require_columns(opened, [score], "score")
        if name in opened.columns:
            raise InputError(f"{brief(opened.origin)} has a column {name!r} already", hint="choose another name")
        table = opened.fetch(list(dict.fromkeys(opened.columns)), where)
        subject = f"score {score!r} of {brief(opened.origin)}"
        scores = columns.numbers(table.column(score), subject, ScoreError, decimal=opened.decimal)
    if scores.missing is not None:
        got = check.count_and_first(scores.missing, "missing or infinite")
        raise ScoreError(subject, expected="a finite value in every row", got=got)
    return table.append_column(name, pa.array(function(scores.values)))
