"""Read predictions, or count them, from files, streams, data frames, relations and cluster tables.

`read` returns all rows. `read_counts` returns only the numbers of positives and negatives at each distinct score. Three
modules implement `read_counts` for different sources: `spark` for Spark DataFrames, `sql` for relations and database
tables, and `streaming` for all other sources. Each has a function `count(source, request)`.
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
from rocscope.engines import columns as column_roles, formats
from rocscope.engines.opening import open_source
from rocscope.errors import InputError, ScoreError, brief
from rocscope.outcomes.time_to_event import at_horizon
from rocscope.segments.segmented_counts import SegmentedCounts

if TYPE_CHECKING:
    from rocscope.multiclass.predictions import MulticlassPredictions

_MISSING = (*column_roles.MISSING, "segment")
_PREDICTIONS_ARGUMENT = {"weight": "sample_weight", "fold": "fold", "segment": "segment", "groups": "groups"}


class _Rows(TypedDict, total=False):
    """Arguments of `read` for data with two or more classes."""

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
    """Read labels and scores from the columns of a file, a stream, a data frame or a relation.

    Parameters
    ----------
    source : path, list of paths, binary file, data frame, relation or mapping
        One of these sources:

        - a CSV, TSV, JSON lines, Parquet, Arrow (Feather) or Excel file, a glob such as ``"scores/*.parquet"``, or a
          folder. Text files may be compressed (``.gz`` or ``.zst``). All files must have the named columns. Folders
          named ``key=value`` add a column to Parquet files.
        - a DuckDB or SQLite database (``.duckdb``, ``.sqlite``).
        - ``"-"`` for standard input, or an open binary file. Both require `format`.
        - a pandas, Polars or PyArrow data frame, a Polars lazy frame, a DuckDB relation, or another type that narwhals
          supports.
        - a Delta Lake or Iceberg table that was opened with its own library.
        - a mapping from column name to array.
    label : str
        Name of the label column.
    scores : str, sequence of str, or mapping from model name to column name
        Name of the score column of each model. Higher scores must indicate positives.
    weight, fold, segment, groups : str, optional
        Names of the columns with weights, folds, segments and groups; see `Predictions`.
    weights : {"auto", "frequency", "sampling", "money"}
        Meaning of the weights; see `Predictions`.
    columns : sequence of str, optional
        Names of further numeric columns, such as amounts. A `Context` can use these columns as costs.
    where : str, optional
        Read only rows that satisfy this SQL condition (DuckDB's dialect), such as
        ``region = 'EU' AND "last contact" > 3``.
    missing : {"error", "drop", "segment"}
        Treatment of rows with a missing or infinite value in a column that is read. "error" raises an error. "drop"
        drops these rows for all models, so that all models are compared on the same rows; their number is
        ``.source.rows_dropped``. "segment" puts rows without a segment in a segment named None, and raises an error for
        other missing values.
    pos_label : label, optional
        Label of the positive class. Not needed for labels {0, 1}, {-1, 1} or {False, True}. A number may be given as
        text.
    format : {"csv", "tsv", "jsonl", "parquet", "arrow", "excel", "duckdb", "sqlite"}, optional
        Format of the file. By default, the extension of the file name determines the format.
    decimal : {".", ","}, optional
        Decimal mark of CSV and TSV files. By default, the mark with which all values of a column are numbers.
    delimiter : str, optional
        Column separator of CSV files. By default, the comma, semicolon, vertical bar or tab that gives the most
        columns.
    encoding : str, optional
        Encoding of text files, such as "latin-1". By default, UTF-8 or UTF-16, depending on the first bytes. Other text
        is read as Windows-1252, and a warning is issued.
    table : str, optional
        Name of the table or view in a database, or of the sheet in a workbook. Not needed if there is only one.
    thousands : {",", ".", " ", "'"}, optional
        Thousands separator of CSV and TSV files. By default, the separator is detected. If a number such as 2,687 could
        be read in two ways, an error asks for `thousands` or `decimal`.
    skip_rows : int, optional
        Number of rows to skip above the column names of CSV, TSV and Excel files. By default, the column names are in
        the first row that has a name for most columns.
    skip_footer : int, optional
        Number of rows to skip at the end of CSV, TSV and Excel files. By default, a row of totals at the end raises an
        error.
    header : bool, optional
        Pass False if the first row contains data. Columns are then named column1, column2 and so on.
    proba : str, or mapping from model name to str or to a mapping from class to column name, optional
        For more than two classes: columns of class probabilities, instead of `scores`. A text is a pattern, such as
        ``"p_*"``, in which ``*`` stands for the class.
    predicted : str, sequence of str, or mapping from model name to column name, optional
        For more than two classes: names of the columns with predicted classes.
    classes, normalize : see `rocscope.multiclass.MulticlassPredictions`

    Returns
    -------
    Predictions or MulticlassPredictions
        Rows in the order of the source. MulticlassPredictions if `proba` or `predicted` is given. The attribute
        `source` has the file names and the number of dropped rows.

    Raises
    ------
    ColumnError
        If a column does not exist, or if several columns have the same name.
    EngineError
        If a file cannot be read, or if `where` is not a valid condition.
    LabelError, ScoreError, WeightError, InputError
        If a column contains invalid values, or if a value is missing and `missing` is "error". Row numbers in messages
        start at 0 and count only rows that satisfy `where`.
    MissingDependencyError
        If a library that is needed for the source is not installed.

    See Also
    --------
    read_counts, describe, read_at_horizon

    Notes
    -----
    Only the named columns are read. Scores keep their type: float32 stays float32, and int64 stays int64.

    NumPy has no decimal type. A decimal column becomes an integer column if all values are whole. It becomes float64 if
    each value has at most 15 significant digits, so that distinct values remain distinct. Other decimals raise an
    error.

    A numeric column of a CSV file becomes an integer column if all its values are whole, and float64 otherwise. Whole
    numbers that neither 64-bit integers nor float64 can represent raise an error. "NA" and similar words are missing
    values.

    The condition `where` can only read the source. DuckDB has no access to other files, the network or extensions. Only
    streams, and text that is not UTF-8, are copied to temporary files. A DuckDB relation is filtered by its own
    connection.

    Examples
    --------
    >>> customers = {"bought": ["yes", "no", "yes", "no"], "a": [0.9, 0.4, None, 0.2], "b": [3, 2, 1, 0]}
    >>> preds = read(customers, label="bought", scores=["a", "b"], pos_label="yes", missing="drop")
    >>> preds
    Predictions(n=3, n_pos=1, n_neg=2, models=['a', 'b'])
    >>> preds.source
    Provenance(the dict, rows_read=4, rows_dropped=1)
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
                    given = "predicted" if proba is None else "proba"
                    expected, got = f"no value in a call with {given}=", check.shown(value)
                    raise InputError(name, expected=expected, got=got)
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
        # The first model, or `classes`, determines the order of the classes.
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
    """Read follow-up times, and return the cases at a horizon with weights that correct for censoring.

    Parameters
    ----------
    source : see `rocscope.read`
    time : str
        Name of the column with the time to the event or to the end of observation.
    event : str
        Name of the column with the outcome: 0 (censored), 1 (the event), or 2 and above (competing events).
    horizon, event_codes, competing : see `rocscope.outcomes.at_horizon`
        Event codes that are numbers or booleans may be given as text.
    censoring : sequence of str, optional
        Names of numeric columns on which censoring depends. They are the covariates of a Cox model of censoring.
    scores, weight, weights, fold, segment, groups, where, missing : see `rocscope.read`
    layout : FileLayout, optional
        Format of a text file.

    Returns
    -------
    Predictions

    Raises
    ------
    InputError
        If a time is negative, if no row reaches the horizon, or if `missing` is invalid. See also `read`.

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
    """Return a table of class probabilities with the classes in the given order. Other classes follow."""
    names = [name for name in dict.fromkeys([*order, *by_class]) if name in by_class]
    return pa.table({name: by_class[name] for name in names})


def _fetch(
    opened: formats.Source, roles: Sequence[column_roles.Role], where: str | None, missing: str
) -> tuple[dict[column_roles.Role, column_roles.Column], dict[str, Any]]:
    """Return the columns with the given roles, without dropped rows, and further arguments of Predictions."""
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
    # Free Arrow's copy of the rows before NumPy copies the complete rows.
    del table

    complete = np.ones(rows, np.bool_)
    for role, column in by_role.items():
        if column.missing is not None:
            if missing != "drop":
                raise role.incomplete(opened, check.count_and_first(column.missing, role.missing_value))
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
    """Count the positives and negatives at each distinct score of each model, without keeping all rows in memory.

    Parameters
    ----------
    source, label, scores, weight, where, pos_label, missing : see `rocscope.read`
    format, decimal, delimiter, encoding, table, thousands, skip_rows, skip_footer, header : see `rocscope.read`
    weights : {"auto", "frequency", "sampling", "money"}
        Meaning of the weights. "auto" and "frequency" mean numbers of equal rows. With "sampling" and "money",
        intervals that need the number of rows raise an error.
    segment : str, optional
        Name of the segment column. Each segment is then counted separately.
    memory : int or str, optional
        Memory limit for rows: a number of bytes, or a text such as ``"2 GB"``. By default, half of the free memory.
        Rows above this limit are written to a temporary file, which is deleted when the counts are no longer used.
        Other data need about 300 MB of memory.
    progress : bool, None or function
        None or True: show a progress bar after one second if stderr is a terminal. False: show no progress bar. A
        function is called regularly with the number of finished rows and the number of all rows (None if unknown).
    tol : float, optional
        For database tables and lazy frames with very many distinct scores: count the rows in ranges of scores, so that
        the AUC is known to within `tol`. The result is then a `BinnedCounts`. Other sources ignore `tol` and are
        counted exactly.
    context : Context, optional
        Context in which at least one cost is the name of a column. Rows are then weighted by money; see
        `rocscope.decisions.in_money`. A target prevalence requires an additional pass over the rows. Spark DataFrames
        do not support this argument.

    Returns
    -------
    dict from model name to ThresholdCounts
        Counts of each model. The attribute `source` has the file names and the number of dropped rows.
    SegmentedCounts, or dict from model name to SegmentedCounts
        Only if `segment` is given: counts of each segment, for one model or for several models.

    Raises
    ------
    ColumnError, EngineError, LabelError, ScoreError, WeightError, InputError, MissingDependencyError
        See `rocscope.read`. EngineError is also raised if there is no disk space for the temporary file.

    See Also
    --------
    read, read_sketch

    Notes
    -----
    The counts are equal to ``rocscope.read(...).counts()``. Without weights, memory holds one integer for each row and
    model, which has the size of a score (4 bytes for float32). With weights, memory holds a score and a weight, and
    sorting needs three times this memory.

    The temporary file is in the folder ``TMPDIR``. It has no name, so nothing remains if the process ends. The AUC, the
    hull, single points and summaries are computed in passes over the file. Arrays such as ``.tp`` are created in
    memory.

    docs/guide/engines/large-files.md reports time and memory.

    A Spark DataFrame is counted on its cluster, in one shuffle. A model with more than 100,000 distinct scores is
    returned as `BinnedCounts`. The AUC, the hull and the choice of a threshold by cost are exact nevertheless.

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
        # Costs that are the same for all rows apply to counts of rows; only costs per row need counts in money.
        context = Context.given(context)
        if not context.columns:
            expected = "a context with the name of a column as a cost"
            hint = "omit context=, and pass the context to rocscope.choose(counts, context)"
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
    """Return True if a database or another process holds the rows, so that it should also count them."""
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
    """Return all columns of a source, followed by a new column that is computed from the scores.

    Parameters
    ----------
    source, where : see `rocscope.read`
    function : function
        Function from an array of scores to an array of the same size.
    score : str
        Name of the score column.
    name : str
        Name of the new column.
    layout : FileLayout
        Format of the source.

    Raises
    ------
    ColumnError
        If the score column does not exist.
    InputError
        If a column named `name` already exists.
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
            raise InputError(f"{brief(opened.origin)} already has a column {name!r}", hint="choose another name")
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
    """Return a column of scores without labels, by segment if `segment` is given; raises the errors of `add_column`.

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
    """Return a column of scores. Raise ScoreError if a score is missing, infinite or not a number."""
    subject = f"score {score!r} of {brief(opened.origin)}"
    scores = column_roles.numbers(table.column(score), subject, ScoreError, decimal=opened.decimal)
    if scores.missing is not None:
        got = check.count_and_first(scores.missing, "missing or infinite score")
        hint = "pass where= to exclude such rows"
        raise ScoreError(subject, expected="a finite value in every row", got=got, hint=hint)
    return scores
