"""Read predictions, or count them, from files, streams, data frames, relations and cluster tables.

`read` keeps the rows; `read_counts` keeps only positives and negatives by distinct score. For the latter each kind of
source has an engine, a function `count(source, request)` that returns a `CountedModels`: `spark`, `sql` for relations
and tables of a database, and `streaming` for everything else.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, cast, overload

import numpy as np
import pyarrow as pa

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope._base.progress import Progress, reporting
from rocscope.core import Context, CountedModels, Predictions, Provenance, Weights
from rocscope.core.predictions import WEIGHTS
from rocscope.engines import columns as column_roles
from rocscope.engines import formats
from rocscope.engines.opening import open_source
from rocscope.errors import InputError, ScoreError, brief
from rocscope.outcomes.time_to_event import at_horizon
from rocscope.segments.segmented_counts import SegmentedCounts

if TYPE_CHECKING:
    from rocscope.multiclass.predictions import MulticlassPredictions

_MISSING = (*column_roles.MISSING, "segment")
_PREDICTIONS_ARGUMENT = {"weight": "sample_weight", "fold": "fold", "segment": "segment", "groups": "groups"}


class _Rows(TypedDict, total=False):
    """Columns and options for reading rows of any number of classes."""

    label: str | None
    weight: str | None
    weights: Weights
    fold: str | None
    segment: str | None
    groups: str | None
    where: str | None
    missing: Literal["error", "drop", "segment"]
    format: formats.FileFormat | None
    decimal: Literal[".", ","] | None
    delimiter: str | None
    encoding: str | None
    table: str | None
    thousands: Literal[",", ".", " ", "'"] | None
    skip_rows: int | None
    skip_footer: int | None
    header: bool | None


@overload
def read(
    source: Any,
    *,
    scores: formats.Scores | None = None,
    pos_label: Any = None,
    columns: Sequence[str] | None = None,
    **rows: Unpack[_Rows],
) -> Predictions: ...
@overload
def read(
    source: Any,
    *,
    proba: column_roles.Proba | None = None,
    predicted: formats.Scores | None = None,
    classes: Any = None,
    normalize: bool = False,
    **rows: Unpack[_Rows],
) -> "MulticlassPredictions": ...
@contract
def read(
    source: Any,
    *,
    label: str | None = None,
    scores: formats.Scores | None = None,
    weight: str | None = None,
    weights: Weights = "auto",
    fold: str | None = None,
    segment: str | None = None,
    groups: str | None = None,
    columns: Sequence[str] | None = None,
    where: str | None = None,
    missing: Literal["error", "drop", "segment"] = "error",
    pos_label: Any = None,
    format: formats.FileFormat | None = None,
    decimal: Literal[".", ","] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    table: str | None = None,
    thousands: Literal[",", ".", " ", "'"] | None = None,
    skip_rows: int | None = None,
    skip_footer: int | None = None,
    header: bool | None = None,
    proba: column_roles.Proba | None = None,
    predicted: formats.Scores | None = None,
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
        `format`, as does any other stream. A table of Delta Lake or Iceberg as its library opens it; a pandas, Polars
        (lazy too) or PyArrow frame, a DuckDB relation, or another type that narwhals supports; a mapping from column
        name to array.
    label : str
        Column of labels.
    scores : str, sequence of str, or mapping from model name to column
        One column for each model. Higher means more positive.
    weight, fold, segment, groups : str, optional
        Columns; see `Predictions`.
    weights : {"auto", "frequency", "sampling", "money"}
        Meaning of a weight; see `Predictions`.
    columns : sequence of str, optional
        Further columns of numbers, such as amounts, that a `Context` may name as costs; see `Predictions`.
    where : str, optional
        Keep the rows for which this condition holds, in DuckDB's SQL: ``region = 'EU' AND "last contact" > 3``.
    missing : {"error", "drop", "segment"}
        Treatment of rows with a missing or infinite value in a column used: raise an error, or drop them for all
        models, so that models are still compared on the same rows. Their number is in ``.source.rows_dropped``. With
        "segment", rows that only lack a segment form one, called None; others raise an error.
    pos_label : label, optional
        The positive label; required unless labels are {0, 1}, {-1, 1} or {False, True}. Numbers may be given as text.
    format : {"csv", "tsv", "jsonl", "parquet", "arrow", "excel", "duckdb", "sqlite"}, optional
        By default, from the suffix.
    decimal : {".", ","}, optional
        Decimal mark of CSV and TSV files. By default, the one that fits all values of a column.
    delimiter : str, optional
        The character between fields of CSV files; by default the one of ``, ; | tab`` that yields most columns.
    encoding : str, optional
        Encoding of text files, such as "latin-1". By default, the first bytes decide between UTF-8 and UTF-16;
        other text is read as Windows-1252, with a warning.
    table : str, optional
        The table or view of a DuckDB or SQLite database, or the sheet of a workbook; optional if there is only one.
    thousands : {",", ".", " ", "'"}, optional
        Mark between thousands in CSV and TSV files. By default any that fits; if a column has two readings, as 2,687
        does, an error asks for `thousands` or `decimal`.
    skip_rows, skip_footer : int, optional
        Rows above the column names, and rows below the table, to leave out of CSV, TSV and Excel files. By default,
        names are in the first row in which most columns have one, and a last row of totals raises an error.
    header : bool, optional
        False if the first row holds values; columns are then named column1, column2 and so on.
    proba : str, or mapping from model name to str or to a mapping from class to column, optional
        For more than two classes, instead of `scores`: columns of class probabilities, as a pattern such as
        ``"p_*"`` whose ``*`` stands for the class.
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
        If a column does not exist, or several have its name.
    EngineError
        If a file cannot be read or the condition is not valid.
    LabelError, ScoreError, WeightError, InputError
        If a column holds invalid values, or `missing` is "error" and a value is missing. Rows are counted from 0,
        after the filter.
    MissingDependencyError
        If a library that the source needs is not installed.

    See Also
    --------
    read_counts, describe, read_at_horizon

    Notes
    -----
    Only the columns used are read. Scores keep their type: float32 stays float32 and int64 stays int64. Decimals,
    which NumPy lacks, become integers if all are whole, and float64 if they have at most 15 digits, so that no two
    become equal; other decimals raise an error. A column of numbers in a CSV file becomes integers if all values are
    whole, and the nearest float64 otherwise; this is decided from every value, not from a sample. Whole numbers that
    neither 64 bits nor float64 can hold raise an error. In columns of numbers in CSV files, "NA" and similar words
    are missing values.

    The condition can read only the source: DuckDB is denied other files, the network, extensions and temporary
    files. Only streams and text in other encodings than UTF-8 are copied to temporary files. A DuckDB relation is
    filtered by the connection that it belongs to, with that connection's rights.

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
    layout = formats.FileLayout(format, decimal, delimiter, encoding, table, thousands, skip_rows, skip_footer, header)
    others = {"weight": weight, "fold": fold, "segment": segment, "groups": groups}
    several_classes = proba is not None or predicted is not None
    with open_source(source, layout) as opened:
        roles = column_roles.roles_of_columns(opened, label, **others)
        if several_classes:
            for name, value in (("scores", scores), ("pos_label", pos_label), ("columns", columns)):
                if value is not None:
                    expected = "none with proba= or predicted=, which are for any number of classes"
                    raise InputError(name, expected=expected)
            if proba is not None:
                taken = (label, *others.values())
                for model, by_class in column_roles.probability_columns(list(opened.columns), proba, taken).items():
                    roles += [column_roles.Role("proba", column, model, cls) for cls, column in by_class.items()]
            if predicted is not None:
                predicted_columns = formats.models_of(opened, "predicted", predicted)
                roles += [column_roles.Role("predicted", column, model) for model, column in predicted_columns.items()]
        else:
            roles += column_roles.roles_of_scores(opened, scores) + column_roles.roles_of_numbers(columns)
        by_role, arguments = _fetch(opened, roles, where, missing)
    labels = by_role[roles[0]]
    if several_classes:
        from rocscope.multiclass.predictions import MulticlassPredictions

        proba_of: dict[str, dict[str, Array]] = {}
        predicted_of: dict[str, Array] = {}
        for role, column in by_role.items():
            if role.model is not None and role.cls is not None:
                proba_of.setdefault(role.model, {})[role.cls] = column.values
            elif role.argument == "predicted":
                predicted_of[str(role.model)] = column.decoded()
        # The first model, or `classes`, gives the order of the classes.
        order = list(next(iter(proba_of.values()), ()) if classes is None else map(str, classes))
        return MulticlassPredictions(
            labels.decoded(),
            {model: _in_order(by_class, order) for model, by_class in proba_of.items()} or cast(Any, None),
            decisions=predicted_of or None,
            classes=classes,
            normalize=normalize,
            weights=weights,
            **arguments,
        )
    subject = roles[0].subject(opened)
    return Predictions(
        column_roles.positives(labels, pos_label, subject, untyped=bool(opened.decimal)),
        {role.model: column.values for role, column in by_role.items() if role.model is not None},
        columns={role.column: column.values for role, column in by_role.items() if role.argument == "columns"},
        weights=weights,
        **arguments,
    )


@contract
def read_at_horizon(
    source: Any,
    *,
    time: str,
    event: str,
    horizon: float,
    scores: formats.Scores | None = None,
    event_codes: Sequence[Any] | None = None,
    competing: Literal["negative", "exclude"] = "negative",
    censoring: Sequence[str] | None = None,
    weight: str | None = None,
    weights: Weights = "auto",
    fold: str | None = None,
    segment: str | None = None,
    groups: str | None = None,
    where: str | None = None,
    missing: Literal["error", "drop", "segment"] = "error",
    layout: formats.FileLayout | None = None,
) -> Predictions:
    """Read times to event as rows at a horizon, weighted for censoring.

    Parameters
    ----------
    source : path, data frame, relation or mapping of columns
        As `rocscope.read` takes them.
    time, event : str
        Columns of the time, and of 0 (censored), 1 (the event) or 2 and above (competing events).
    horizon, event_codes, competing : see `rocscope.outcomes.at_horizon`
        Codes of numbers and booleans may be given as text.
    censoring : sequence of str, optional
        Columns of covariates that censoring depends on, by Cox's model.
    scores, weight, weights, fold, segment, groups, where, missing : see `rocscope.read`
    layout : FileLayout, optional
        Format of a text file.

    Returns
    -------
    Predictions

    Raises
    ------
    InputError
        If a time is negative, no row reaches the horizon, or `missing` is unknown; see `read`.

    See Also
    --------
    read, at_horizon

    Examples
    --------
    >>> patients = {"years": [1, 2, 3, 4, 5], "event": [1, 0, 1, 2, 0], "risk": [0.9, 0.5, 0.6, 0.3, 0.2]}
    >>> read_at_horizon(patients, time="years", event="event", horizon=4, scores="risk")
    Predictions(n=5, n_pos=2.33333, n_neg=2.66667, models=['risk'])
    """
    check.check_choice("missing", missing, _MISSING)
    with open_source(source, layout or formats.FileLayout()) as opened:
        outcome = {"time": column_roles.Role("time", time), "event": column_roles.Role("event", event)}
        roles = [*outcome.values(), *column_roles.roles_of_scores(opened, scores)]
        others = {"weight": weight, "fold": fold, "segment": segment, "groups": groups}
        roles += [column_roles.Role(argument, column) for argument, column in others.items() if column is not None]
        covariates = [column_roles.Role("columns", column) for column in censoring or ()]
        by_role, arguments = _fetch(opened, [*roles, *covariates], where, missing)
    if censoring:
        arguments["censoring"] = {role.column: by_role[role].values for role in covariates}
    times, events = (by_role[role].decoded() for role in outcome.values())
    if event_codes is not None:
        event_codes = [column_roles.parsed_label(code, events.dtype) for code in event_codes]
    models = {role.model: column.values for role, column in by_role.items() if role.model is not None}
    source = arguments.pop("source")
    arguments |= {"event_codes": event_codes, "competing": competing, "weights": weights}
    rows = at_horizon(times, events, models, horizon, **arguments)
    rows.source = replace(source, horizon=horizon)
    return rows


def _in_order(by_class: Mapping[str, Array], order: Sequence[str]) -> pa.Table:
    """Return class probabilities in order; other classes remain, so that MulticlassPredictions reports them."""
    names = [name for name in dict.fromkeys([*order, *by_class]) if name in by_class]
    return pa.table({name: by_class[name] for name in names})


def _fetch(
    opened: formats.Source, roles: Sequence[column_roles.Role], where: str | None, missing: str
) -> tuple[dict[column_roles.Role, column_roles.Column], dict[str, Any]]:
    """Return the complete rows of the columns of some roles, and further arguments of Predictions."""
    for role in roles:
        formats.require_columns(opened, [role.column], role.argument)
    table = opened.fetch(list(dict.fromkeys(role.column for role in roles)), where)
    rows = table.num_rows
    origin = brief(opened.origin)
    if not rows:
        raise formats.no_rows(origin, where)
    by_role: dict[column_roles.Role, column_roles.Column] = {}
    for role in roles:
        column = role.convert(opened, table)
        as_segment = missing == "segment" and role.argument == "segment"
        by_role[role] = column.or_none() if as_segment else column
    # Arrow's copy of the rows is freed before NumPy copies the complete ones.
    del table

    complete = np.ones(rows, np.bool_)
    for role, column in by_role.items():
        if column.missing is not None:
            if missing != "drop":
                raise role.incomplete(opened, check.count_and_first(column.missing, "missing or infinite"))
            complete &= ~column.missing
    kept = int(complete.sum())
    if not kept:
        raise formats.no_complete_rows(origin, rows)
    if kept < rows:
        by_role = {role: column.keep(complete) for role, column in by_role.items()}

    arguments: dict[str, Any] = {"source": Provenance(opened.origin, rows, rows - kept, where)}
    for role, column in by_role.items():
        if role.argument in _PREDICTIONS_ARGUMENT:
            arguments[_PREDICTIONS_ARGUMENT[role.argument]] = column.decoded()
    return by_role, arguments


@contract
def read_counts(
    source: Any,
    *,
    label: str | None = None,
    scores: formats.Scores | None = None,
    weight: str | None = None,
    weights: Weights = "auto",
    where: str | None = None,
    segment: str | None = None,
    pos_label: Any = None,
    missing: Literal["error", "drop"] = "error",
    format: formats.FileFormat | None = None,
    decimal: Literal[".", ","] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    table: str | None = None,
    thousands: Literal[",", ".", " ", "'"] | None = None,
    skip_rows: int | None = None,
    skip_footer: int | None = None,
    header: bool | None = None,
    memory: int | str | None = None,
    progress: Progress = None,
    tol: float | None = None,
    context: Context | None = None,
) -> CountedModels | SegmentedCounts:
    """Count positives and negatives by distinct score, for each model, without keeping the rows.

    Parameters
    ----------
    source, label, scores, weight, where, pos_label, missing : see `rocscope.read`
    format, decimal, delimiter, encoding, table, thousands, skip_rows, skip_footer, header : see `rocscope.read`
    weights : {"auto", "frequency", "sampling", "money"}
        What a weight stands for. "auto" and "frequency": so many equal rows. Counts of other weights are marked as sums
        of them, and intervals that need the number of rows are refused.
    segment : str, optional
        Column of segments, which are counted separately.
    memory : int or str, optional
        Memory limit for ranked rows, in bytes or as in ``"2 GB"``; half of the free memory by default. Above it, rows
        go to a temporary file and stay there as long as the counts are used. Everything else takes some 300 MB.
    progress : bool, None or function
        None or True: after a second, show a bar on stderr if that is a terminal; False: show none. A function is
        called regularly with the number of rows done and of all rows (None if unknown).
    tol : float, optional
        For tables of a database and lazy frames with very many distinct scores: count them in ranges that determine
        the AUC to within this tolerance, as `BinnedCounts`. Other sources are always counted exactly.
    context : Context, optional
        Costs, at least one of which is the name of a column: rows are counted in money, as described in
        `rocscope.decisions.in_money`. A target prevalence requires a first pass, which sums the classes. Not
        supported for Spark DataFrames.

    Returns
    -------
    dict from model to ThresholdCounts
        Its ``.source`` states where the rows came from and how many were dropped.
    SegmentedCounts, or a dict from model to it if there are several, if `segment` is given
        A mapping from segment to ThresholdCounts, and arrays by segment; see `rocscope.segments.SegmentedCounts`.

    Raises
    ------
    ColumnError, EngineError, LabelError, ScoreError, WeightError, InputError, MissingDependencyError
        As `rocscope.read`. EngineError also if there is no room for the temporary file.

    See Also
    --------
    read, read_sketch

    Notes
    -----
    The counts equal those of `rocscope.read`, and scores keep their type. For each model and row, one integer as wide
    as the score is kept until the rows are ranked, 4 bytes for float32; with `weight`, score and weight are kept, and
    three times as much while they are ranked. Parquet files are read by Arrow, row group by row group on all cores;
    other files, and any with `where`, by DuckDB.

    The temporary file (in ``TMPDIR``) has no name, so that nothing of it remains, however the process ends. Scores that
    are frequent in the first rows are only counted there and take no room. From counts on disk, areas, hulls, single
    points and summaries are computed in passes over the file; arrays such as ``.tp`` are made in memory.

    See docs/guide/engines/large-files.md for time and memory.

    A Spark DataFrame is counted on its cluster, in one shuffle. A model with more than 100,000 distinct scores is
    returned as `BinnedCounts`, whose area, hull and choices by cost are exact.

    Examples
    --------
    >>> rows = {"y": [1, 1, 0, 1, 0], "a": [0.9, 0.6, 0.4, 0.4, 0.2], "region": ["n", "n", "s", "s", "n"]}
    >>> read_counts(rows, label="y", scores="a")
    {'a': ThresholdCounts(n_pos=3, n_neg=2, levels=4)}
    >>> read_counts(rows, label="y", scores="a", segment="region")["s"]
    ThresholdCounts(n_pos=1, n_neg=1, levels=1)
    >>> read_counts(rows | {"w": [2.5, 1, 2, 1, 1]}, label="y", scores="a", weight="w", weights="sampling")["a"]
    ThresholdCounts(n_pos=4.5, n_neg=3, levels=4, sampling weights)
    """
    from rocscope.engines import row_buffers, streaming

    check.check_choice("weights", weights, WEIGHTS)
    check.check_choice("missing", missing, column_roles.MISSING)
    limit = None if memory is None else row_buffers.memory_limit(memory)
    if context is not None:
        # Costs that are the same for all rows apply to counts of rows; only row costs are counted in money.
        context = Context.given(context)
        if not context.columns:
            expected = "a cost that is a column of the rows"
            hint = "counts of rows take any other: choose(counts, context)"
            raise InputError("context", expected=expected, got=repr(context), hint=hint)
    kind = type(source)
    if kind.__module__.startswith("pyspark.sql.") and kind.__name__ == "DataFrame":
        from rocscope.engines.spark import count
    elif kind.__name__ == "DuckDBPyRelation":
        from rocscope.engines.sql import count_relation as count
    elif _is_lazy(source):
        from rocscope.engines.sql import count
    else:
        count = streaming.count
    with reporting(progress, streaming.progress_title(source), "rows") as report:
        layout = formats.FileLayout(
            format, decimal, delimiter, encoding, table, thousands, skip_rows, skip_footer, header
        )
        request = column_roles.CountRequest(
            label, scores, weight, where, segment, pos_label, missing, layout, limit, report, tol, context
        )
        counts = count(source, request)
    if weight is None or weights == "auto":
        return counts
    if isinstance(counts, SegmentedCounts):
        return counts.as_sums(weights)
    by_model = {model: of_model.as_sums(weights) for model, of_model in counts.items()}
    return CountedModels(by_model, counts.source)


def _is_lazy(source: Any) -> bool:
    """Return whether rows are stored or computed elsewhere, so that counting there is cheaper than fetching them."""
    if isinstance(source, str | PathLike | list | tuple):
        return False
    import narwhals as nw

    narwhal = nw.from_native(source, pass_through=True)
    return isinstance(narwhal, nw.LazyFrame) and narwhal.implementation is not nw.Implementation.DUCKDB


def add_column(
    source: Any,
    function: Callable[[Array], Array],
    *,
    score: str,
    name: str,
    where: str | None = None,
    layout: formats.FileLayout = formats.DEFAULT_LAYOUT,
) -> pa.Table:
    """Return all columns of a source and a last one computed from the scores.

    Parameters
    ----------
    source, where : see `rocscope.read`
    layout : how the source is written
    function : from an array of scores to an array of the same size
    score, name : str
        The column of scores, and the name of the new one.

    Raises
    ------
    ColumnError
        If the column of scores does not exist.
    InputError
        If a column has the new name already.
    ScoreError
        If a score is missing, infinite or not a number.

    Examples
    --------
    >>> add_column({"m": [1, 2]}, lambda scores: scores / 2, score="m", name="half").to_pydict()
    {'m': [1, 2], 'half': [0.5, 1.0]}
    """
    with open_source(source, layout) as opened:
        formats.require_columns(opened, [score], "score")
        if name in opened.columns:
            raise InputError(f"{brief(opened.origin)} has a column {name!r} already", hint="choose another name")
        table = opened.fetch(list(dict.fromkeys(opened.columns)), where)
        scores = _finite_scores(opened, table, score)
    return table.append_column(name, pa.array(function(scores.values)))


def read_scores(
    source: Any,
    *,
    score: str,
    segment: str | None = None,
    where: str | None = None,
    layout: formats.FileLayout = formats.DEFAULT_LAYOUT,
) -> Array | dict[Any, Array]:
    """Return a column of scores without labels, by segment if a column of segments is named; raises as `add_column`.

    Examples
    --------
    >>> read_scores({"m": [1.5, 2.5]}, score="m")
    array([1.5, 2.5])
    """
    with open_source(source, layout) as opened:
        names = [score] if segment is None else [score, segment]
        formats.require_columns(opened, names, "score or segment")
        table = opened.fetch(list(dict.fromkeys(names)), where)
        scores = _finite_scores(opened, table, score).as_scores()
    if segment is None:
        return scores
    segments = column_roles.groups(table.column(segment), f"segment {segment!r}").decoded()
    return {name: scores[segments == name] for name in np.unique(segments).tolist()}


def _finite_scores(opened: formats.Source, table: pa.Table, score: str) -> column_roles.Column:
    """Return a column of scores; ScoreError if one is missing, infinite or not a number."""
    subject = f"score {score!r} of {brief(opened.origin)}"
    scores = column_roles.numbers(table.column(score), subject, ScoreError, decimal=opened.decimal)
    if scores.missing is not None:
        got = check.count_and_first(scores.missing, "missing or infinite")
        raise ScoreError(subject, expected="a finite value in every row", got=got, hint="leave rows out with where=")
    return scores
