"""Apply plans and class weights to new cases in arrays, files, data frames, relations and cluster tables.

`Plan.apply` lists the cases to act on. `Plan.outcomes` compares the actual outcomes with the forecast. `Plan.verify`
reads labelled rows. All three are implemented here, because plans cannot import the engines.

A plan contains the names of its models. `_fetch_cases` finds and checks the score columns of these models, and reads
them together with identifiers, segments and further columns.
"""

import csv
import io
import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rocscope._base import class_names, validation as check
from rocscope._base.arrays import Array, Booleans
from rocscope._base.atomic_write import CSV, write_file
from rocscope.core import Predictions, Result
from rocscope.decisions.plan import Plan
from rocscope.engines import columns, formats
from rocscope.engines.opening import open_source
from rocscope.engines.reading import read, read_counts
from rocscope.errors import ColumnError, InputError, LabelError, ScoreError, brief, listing, one_of
from rocscope.multiclass.class_weighting import ClassWeights
from rocscope.multiclass.confusion import check_probabilities
from rocscope.outcomes.plan_outcomes import PlanOutcomes, outcomes_of

# Characters that begin a formula in Excel, LibreOffice and Google Sheets (OWASP, "CSV injection").
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, eq=False, repr=False)
class AppliedPlan(Result):
    """List of the cases that a plan selects for action.

    Returned by `Plan.apply`.

    Attributes
    ----------
    n : int
        Number of cases that the plan was applied to.
    rows : array of int
        Row numbers of the selected cases, best cases first.
    columns : dict from name to array
        Columns of the list: identifiers (by default, row numbers), the columns in `keep`, and the action if the plan
        has reviews or several actions. With `every_row`, the list contains all cases in their original order, the
        decision for each case, and the outcome of the decision if labels are given.
    note : str
        Summary in one sentence.
    """

    _content = ("n", "note", "columns")

    n: int
    rows: Array
    columns: dict[str, Array]
    note: str

    @property
    def ids(self) -> Array:
        """Identifiers of the listed cases."""
        return next(iter(self.columns.values()))

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the list as a data frame. `backend` is "pandas", "polars" or "pyarrow".

        Raises
        ------
        MissingDependencyError
            If this library is not installed.

        Examples
        --------
        >>> from rocscope import ThresholdCounts, choose
        >>> decision = choose(ThresholdCounts([2, 1], [3, 1], [1, 5]))
        >>> apply_plan(decision, {"id": ["a", "b", "c"], "score": [2, 1, 3]}, "id").to_frame()
          id
        0  c
        1  a
        """
        return check.frame_of(self.columns, backend)

    def to_csv(self, *, safe_ids: bool = False) -> str:
        """Return the list as the text of a CSV file.

        Parameters
        ----------
        safe_ids : bool
            If True, put an apostrophe before texts that a spreadsheet would treat as a formula, such as ``=1+1``,
            ``+1`` or ``@SUM(A1)``.

        Examples
        --------
        >>> from rocscope import ThresholdCounts, choose
        >>> decision = choose(ThresholdCounts([2, 1], [3, 1], [1, 5]))
        >>> applied = apply_plan(decision, {"id": ["=1+1", "b", "c"], "score": [2, 1, 3]}, "id")
        >>> print(applied.to_csv(safe_ids=True), end="")
        "id"
        c
        '=1+1
        """
        text = io.StringIO()
        csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL).writerow(self.columns)
        values = [column.tolist() for column in self.columns.values()]
        if safe_ids:
            values = [[_without_formula(value) for value in column] for column in values]
        csv.writer(text, lineterminator="\n").writerows(zip(*values, strict=True))
        return text.getvalue()

    def save(self, path: str | os.PathLike[str], *, force: bool = True, safe_ids: bool = False) -> Path:
        """Save the list as a CSV file (see `to_csv`). With ``force=False``, an existing file is not overwritten.

        Parameters
        ----------
        path : str or path
            Name of the file.
        force : bool
            If True, replace an existing file.
        safe_ids : bool
            If True, put an apostrophe before texts that a spreadsheet would treat as a formula; see `to_csv`.

        Raises
        ------
        InputError
            If the file cannot be written, or the file exists and `force` is False.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from rocscope import ThresholdCounts, choose
        >>> decision = choose(ThresholdCounts([2, 1], [3, 1], [1, 5]))
        >>> applied = apply_plan(decision, {"id": ["a", "b", "c"], "score": [2, 1, 3]}, "id")
        >>> with TemporaryDirectory() as folder:
        ...     print(applied.save(f"{folder}/list.csv").read_text(), end="")
        "id"
        c
        a
        """
        return write_file(path, self.to_csv(safe_ids=safe_ids), force=force, endings=CSV)

    def __len__(self) -> int:
        return self.rows.size

    def __repr__(self) -> str:
        return f"AppliedPlan({self.note})"


def _without_formula(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def apply_plan(
    plan: Plan,
    source: Any,
    ids: Any = None,
    *,
    scores: Any = None,
    segment: Any = None,
    keep: Sequence[str] = (),
    where: str | None = None,
    random_state: Any = 0,
    every_row: bool = False,
    label: str | None = None,
    pos_label: Any = None,
    **layout: Any,
) -> AppliedPlan:
    """Return the list of cases that a plan selects from a source; see `Plan.apply`."""
    keep = [keep] if isinstance(keep, str) else list(keep)
    if label is not None:
        if not every_row:
            hint = "pass every_row=True (--every-row) to list the cases with their outcomes"
            raise InputError("label", expected="every_row=True in the same call", got="every_row=False", hint=hint)
        keep.append(label)
    if isinstance(source, Predictions):
        segment = source.segment if segment is None else segment
        source = dict(source.scores) | dict(source.columns)
    if _is_array(source):
        model = plan.needs[0] if plan.needs else "score"
        source = {model: check.check_column(source, "source")}
    cases = _fetch_cases(plan, source, layout, ids, segment, scores, keep, where)

    arguments = {"scores": cases.scores, "ids": cases.ids, "random_state": random_state}
    arguments_by_segment = arguments | {"segment": cases.segment} if plan.by_segment else arguments
    acted = plan.rows(**arguments_by_segment)
    reviewed = plan.reviewed(**arguments)
    note = plan.said(acted.size, cases.n)
    if reviewed.size:
        note += f", and review {reviewed.size:,}"

    rows = np.concatenate([acted, reviewed])
    listed = np.arange(cases.n) if every_row else rows
    table = {cases.id_name: listed if cases.ids is None else np.asarray(cases.ids)[listed]}
    table |= {name: column[listed] for name, column in cases.kept.items()}
    if every_row:
        decision = np.full(cases.n, "negative")
        decision[acted] = "positive"
        decision[reviewed] = "review"
        table[_unused_name("decision", table)] = decision
        if label is not None:
            positive, known = _truth(cases.kept[label], label, pos_label)
            # The outcome of a decision, such as "true positive"; empty if the label is unknown or the case is reviewed.
            is_right = np.where((decision == "positive") == positive, "true ", "false ")
            outcome = np.where(known & (decision != "review"), np.char.add(is_right, decision), "")
            table[_unused_name("outcome", table)] = outcome
    elif reviewed.size:
        table["action"] = np.repeat(["act", "review"], [acted.size, reviewed.size])
    if plan.several_actions:
        table["action"] = plan.assign(**arguments_by_segment)[listed]
    return AppliedPlan(cases.n, rows, table, note)


def _unused_name(name: str, columns: Mapping[str, Any]) -> str:
    """Return a name that no column has yet. The open page makes such names by the same rule."""
    while name in columns:
        name += "_"
    return name


def _is_array(source: Any) -> bool:
    """Return True if the source is an array of scores, and not an object with named columns."""
    if isinstance(source, list | tuple):
        return not source or not isinstance(source[0], str | os.PathLike)
    has_values = isinstance(source, np.ndarray) or hasattr(source, "__array__") or hasattr(source, "__dlpack__")
    return has_values and not hasattr(source, "columns")


def apply_class_weights(
    weights: ClassWeights,
    source: Any,
    ids: str | None = None,
    *,
    proba: columns.Proba,
    keep: Sequence[str] = (),
    where: str | None = None,
    normalize: bool = False,
    **layout: Any,
) -> AppliedPlan:
    """Return a list with the class that is predicted for each case of a source.

    Parameters
    ----------
    weights : ClassWeights
        Class weights, by which the class probabilities are multiplied.
    source, proba, where, normalize, **layout : see `rocscope.read`
    ids : str, optional
        Name of the identifier column. By default, row numbers are the identifiers.
    keep : sequence of str
        Names of further columns to copy to the list.

    Raises
    ------
    ColumnError, LabelError, ScoreError
        If a column is missing, if the columns do not match the classes of the weights, or if a row does not contain
        probabilities.

    Examples
    --------
    >>> from rocscope.multiclass import class_weights
    >>> weights = class_weights(list("abab"), np.array([[9, 1], [2, 8], [8, 2], [3, 7]]) / 10, method="coordinate")
    >>> apply_class_weights(weights, {"p_b": [0.9, 0.1], "p_a": [0.1, 0.9]}, proba="p_*").columns["predicted"].tolist()
    ['b', 'a']
    """
    kept = list(dict.fromkeys(keep if ids is None else [ids, *keep]))
    file_layout = formats.FileLayout(**layout)
    options: dict[str, Any] = {"normalize": normalize, "where": where, "layout": file_layout}
    probabilities, table = class_probabilities(source, proba, weights.classes, weights.model, kept, **options)
    predicted = weights.predict(probabilities)
    rows = np.arange(len(predicted))
    listed = {} if ids is not None else {"row": rows}
    listed |= {name: columns.objects(table.column(name)) for name in kept} | {"predicted": predicted}
    return AppliedPlan(rows.size, rows, listed, f"Class predicted for {rows.size:,} cases")


def class_probabilities(
    source: Any,
    proba: columns.Proba,
    classes: Sequence[Hashable],
    model: str = "",
    others: Sequence[str] | None = None,
    *,
    normalize: bool = False,
    where: str | None = None,
    layout: formats.FileLayout = formats.DEFAULT_LAYOUT,
) -> tuple[Array, pa.Table]:
    """Return the class probabilities of a model, and a table with these and other columns.

    The probabilities are in the order of `classes`. If no model has the name `model`, the first model is used.

    Examples
    --------
    >>> class_probabilities({"id": [7], "p_cat": [0.9], "p_dog": [0.1]}, "p_*", ["dog", "cat"])[0]
    array([[0.1, 0.9]])
    """
    with open_source(source, layout) as opened:
        names = list(dict.fromkeys(opened.columns))
        column_of = columns.probability_columns(names, proba, others or ())
        of_model = column_of.get(model) or next(iter(column_of.values()))
        needed = names if others is None else [*of_model.values(), *others]
        formats.require_columns(opened, needed, "keep")
        table = opened.fetch(needed, where)
        if not table.num_rows:
            raise formats.no_rows(brief(opened.origin), where)
        by_class = {}
        for cls, name in of_model.items():
            by_class[cls] = columns.numbers(table.column(name), name, ScoreError, decimal=opened.decimal).values
    ordered = class_names.by_class(by_class, classes, "proba")
    return check_probabilities(ordered.T, None, classes, "proba", normalize=normalize), table


def outcomes(
    plan: Plan,
    source: Any,
    ids: Any = None,
    *,
    label: str,
    acted: str | None,
    pos_label: Any,
    level: float,
    scores: Any,
    segment: Any,
    where: str | None,
    random_state: Any,
    **layout: Any,
) -> PlanOutcomes:
    """Compare the actual outcomes of a plan with its forecast; see `Plan.outcomes`."""
    level = check.check_level(level)
    check.check_text("label", label)
    keep = [label, *plan.columns]
    if acted not in (None, "all"):
        keep.append(str(acted))
    cases = _fetch_cases(plan, source, layout, ids, segment, scores, keep, where)

    # The cases that were acted on and, for a plan with several actions, the action of each case.
    arguments: dict[str, Any] = {"scores": cases.scores}
    if plan.by_segment:
        arguments["segment"] = cases.segment
    choice = {"ids": cases.ids, "random_state": random_state}
    actions: dict[str, Array] = {}
    if plan.several_actions:
        if acted == "all":
            raise InputError("acted", expected="the name of the column with the action of each case", got="'all'")
        action = plan.assign(**arguments, **choice)
        if acted is not None:
            action = _actions(cases.kept[acted])
        actions["action"] = action
        taken = action != ""
    elif acted is None:
        taken = np.zeros(cases.n, bool)
        taken[plan.rows(**arguments, **choice)] = True
        _check_whole_list(plan, taken, plan.strata(**arguments))
    elif acted == "all":
        taken = np.ones(cases.n, bool)
    else:
        taken = _truth(cases.kept[acted], acted, None)[0]

    positive, known = _truth(cases.kept[label], label, pos_label)
    amounts = {name: _amounts(cases.kept[name], name, positive & known) for name in plan.columns}
    gains = np.asarray(plan.gains(positive, amounts, cases.segment, **actions), float)
    return outcomes_of(plan.promise, taken, positive, known, plan.strata(**arguments), gains, level)


def _check_whole_list(plan: Plan, taken: Booleans, strata: Array) -> None:
    """Raise an InputError if the data seem to contain only the cases acted on.

    From such data, the plan would select a second time. The data are suspicious if the number of cases is exactly the
    planned number, or if it is smaller and all scores are at least the lowest score that the plan selects.
    """
    planned = plan.planned_number
    none_below = bool((strata[~taken] >= 0).all())
    suspicious = planned is not None and (taken.size == planned or (taken.size < planned and none_below))
    if not suspicious or taken.all() or not taken.any():
        return
    got = f"{taken.size:,} cases, which may be only the cases acted on"
    hint = 'if all cases were acted on, pass acted="all" (--acted all); otherwise name the column with the actions'
    raise InputError("outcomes", expected="all cases that the plan was applied to", got=got, hint=hint)


def labelled(plan: Plan, source: Any, *, label: str, scores: Any = None, **columns: Any) -> Any:
    """Return the rows of a source for `Plan.verify`. Return only counts for a Spark DataFrame."""
    scores = list(plan.models) if scores is None else scores
    if plan.columns:
        columns["columns"] = plan.columns
    if plan.by_segment and columns.get("segment") is None:
        raise InputError("segment", expected="the name of the column with the segments of this plan", got="no name")
    if type(source).__module__.startswith("pyspark.") and not plan.columns:
        return read_counts(source, label=label, scores=scores, **columns)
    return read(source, label=label, scores=scores, **columns)


# ---- Values of columns that are not scores ----

_TRUTH = {"1": True, "true": True, "0": False, "-1": False, "false": False}
_ABSENT = ("", "none", "nan", "na", "null", "<na>")


def _truth(column: Array, name: str, pos_label: Any) -> tuple[Booleans, Booleans]:
    """Return a mask of the rows with a positive outcome, and a mask of the rows with a known outcome."""
    texts = [_text_of(value) for value in column.tolist()]
    known = np.array([text not in _ABSENT for text in texts], bool)
    positive = np.zeros(len(texts), bool)
    positive_text = None if pos_label is None else _text_of(pos_label)
    for row in np.flatnonzero(known).tolist():
        if positive_text is not None:
            positive[row] = texts[row] == positive_text
        elif texts[row] in _TRUTH:
            positive[row] = _TRUTH[texts[row]]
        else:
            expected, hint = "0/1, -1/1 or true/false", "pass the positive label as pos_label"
            raise LabelError(f"column {name!r}", expected=expected, got=repr(texts[row]), hint=hint)
    return positive, known


def _text_of(value: Any) -> str:
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if is_whole else value).strip().casefold()


def _actions(column: Array) -> Array:
    """Return the action of each case as text. An empty text means that no action was taken."""
    texts = ["" if value is None else str(value).strip() for value in column.tolist()]
    return np.array(["" if text.casefold() in _ABSENT else text for text in texts])


def _amounts(column: Array, name: str, needed: Booleans) -> NDArray[np.float64]:
    """Return a column of amounts. Amounts must be present in the rows in which `needed` is True."""
    amounts = np.array([np.nan if _text_of(value) in _ABSENT else float(value) for value in column.tolist()])
    if np.isnan(amounts[needed]).any():
        raise InputError(f"column {name!r}", expected="an amount for each positive case", got="a missing value")
    return np.nan_to_num(amounts)


# ---- The cases of a source ----


@dataclass(frozen=True)
class _Cases:
    """Columns of the cases of a source: scores, identifiers and their name, segments, and columns to copy."""

    n: int
    scores: dict[str, Array]
    id_name: str
    ids: Any
    segment: Any
    kept: dict[str, Array]


_PLAN_ARGUMENTS = ("ids", "scores", "segment", "keep", "where", "random_state", "every_row", "label", "pos_label")


def _fetch_cases(
    plan: Plan, source: Any, layout: Any, ids: Any, segment: Any, scores: Any, keep: Sequence[str], where: str | None
) -> _Cases:
    """Read the columns that a plan needs, and the columns in `keep`. `ids` and `segment` are arrays or column names."""
    keep = list(dict.fromkeys(keep))
    names = [field.name for field in fields(formats.FileLayout)]
    for option in layout:
        if option not in names:
            expected = one_of(option, names, also=_PLAN_ARGUMENTS)
            raise InputError("argument", expected=expected, got=repr(option))
    file_layout = formats.FileLayout(**layout)
    with open_source(source, file_layout) as opened:
        models = _score_columns(plan, opened, scores)
        if not plan.by_segment:
            segment = None
        elif segment is None:
            raise InputError("segment", expected="the name of the column with the segments of this plan", got="no name")
        roles = [("scores", column) for column in models.values()]
        roles += [(role, column) for role, column in (("ids", ids), ("segment", segment)) if isinstance(column, str)]
        roles += [("keep", column) for column in keep]
        for role, column in roles:
            formats.require_columns(opened, [column], role)
        needed = list(dict.fromkeys(column for _, column in roles))
        # A plan that acts on everybody or nobody may need no column; any column gives the number of rows.
        table = opened.fetch(needed or list(opened.columns)[:1], where)
        origin = brief(opened.origin)
        decimal = opened.decimal
    rows = table.num_rows
    if not rows:
        raise formats.no_rows(origin, where)
    id_name = "row" if ids is None else "id"
    if isinstance(ids, str):
        id_name, ids = ids, _values(table.column(ids), origin, ids)
    elif ids is not None:
        ids = check.check_column(ids, "ids", rows)
    if isinstance(segment, str):
        segment = _values(table.column(segment), origin, segment)
    elif segment is not None:
        segment = check.check_column(segment, "segment", rows)
    scores_of = {model: _scores(table.column(column), origin, column, decimal) for model, column in models.items()}
    kept = {column: _values(table.column(column), origin, column) for column in keep}
    return _Cases(rows, scores_of or {"score": np.zeros(rows)}, id_name, ids, segment, kept)


def _score_columns(plan: Plan, source: formats.Source, scores: Any) -> dict[str, str]:
    """Return a mapping from model to its score column. By default, the column has the name of the model."""
    column_of: dict[str, str] = {}
    if isinstance(scores, Mapping):
        column_of = {str(model): str(column) for model, column in scores.items()}
    elif not isinstance(scores, str | list | tuple | None):
        expected = "the name of a column or a mapping from model names to columns"
        raise InputError("scores", expected=expected, got=check.shown(scores))
    elif scores and len(plan.needs) == 1:
        column_of[plan.needs[0]] = scores if isinstance(scores, str) else str(scores[0])
    models: dict[str, str] = {}
    for model in plan.needs:
        models[model] = column_of.get(model) or model
        if models[model] not in source.columns:
            hint = f"name one of these columns: {listing(list(source.columns))}"
            expected = f"a column {models[model]!r} with the scores of model {model!r}"
            raise ColumnError("scores", expected=expected, got="no such column", hint=hint)
    return models


def _scores(column: pa.ChunkedArray, origin: str, name: str, decimal: str) -> Array:
    subject = f"score {name!r} of {origin}"
    numbers = columns.numbers(column, subject, ScoreError, decimal=decimal)
    if numbers.missing is not None:
        got = check.count_and_first(numbers.missing, "missing or infinite score")
        hint = "pass where= to exclude such rows"
        raise ScoreError(subject, expected="a finite score in every row", got=got, hint=hint)
    return numbers.as_scores()


def _values(column: pa.ChunkedArray, origin: str, name: str) -> Array:
    """Return a column without conversion. Texts remain texts, and whole numbers remain whole numbers."""
    is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    if column.null_count == 0 and not is_text:
        try:
            return columns.groups(column, f"column {name!r} of {origin}").decoded()
        except (InputError, pa.ArrowException):
            pass
    return columns.objects(column)
