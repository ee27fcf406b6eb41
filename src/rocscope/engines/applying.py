"""Apply a plan to new cases: arrays, files and folders, frames, relations and cluster tables."""

import csv
import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.atomic_write import write_file
from rocscope._base.validation import frame_of
from rocscope.core.predictions import Predictions
from rocscope.core.result import Result
from rocscope.decisions.plan import PlanOutcomes, outcomes_of
from rocscope.engines import columns
from rocscope.engines.counting import read_counts
from rocscope.engines.formats import FileLayout, Source, no_rows, require_columns
from rocscope.engines.opening import open_source
from rocscope.engines.reading import read
from rocscope.errors import ColumnError, InputError, LabelError, ScoreError, brief


@dataclass(frozen=True, eq=False, repr=False)
class AppliedPlan(Result):
    """The list of cases that a plan acts on.

    Made by `Plan.apply`.

    Attributes
    ----------
    n : int
        Cases that the plan was applied to.
    rows : array
        Numbers of the rows that are acted on, from 0, best first.
    columns : dict from name to array
        The list itself: identifiers (row numbers where there are none) and the columns that were kept; of a plan with
        reviews or several actions also the action. With `every_row` all cases in their order, the decision about each
        and, where the label is known, its outcome.
    note : str
        What was done, in one sentence.
    """

    _content = ("n", "note", "columns")

    n: int
    rows: Array
    columns: dict[str, Array]
    note: str

    @property
    def ids(self) -> Array:
        """Identifiers of the list."""
        return next(iter(self.columns.values()))

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the list as a frame of "pandas", "polars" or "pyarrow"."""
        return frame_of(self.columns, backend)

    def to_csv(self) -> str:
        """Return the list as the text of a CSV file."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL).writerow(self.columns)
        csv.writer(text, lineterminator="\n").writerows(
            zip(*(column.tolist() for column in self.columns.values()), strict=True)
        )
        return text.getvalue()

    def save(self, path: str | os.PathLike[str], *, force: bool = True) -> Path:
        """Save the list as a CSV file; an existing file is replaced unless `force` is False."""
        return write_file(path, self.to_csv(), force=force)

    def __len__(self) -> int:
        return self.rows.size

    def __repr__(self) -> str:
        return f"AppliedPlan({self.note})"


def apply_plan(
    plan: Any,
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
    """Return the list of cases of a source that a plan acts on; see `Plan.apply`."""
    keep = [keep] if isinstance(keep, str) else list(keep)
    if label is not None and not every_row:
        raise InputError("label", expected="every_row too: only then outcomes are listed")
    wanted: list[str] = list(dict.fromkeys([*keep, *([] if label is None else [label])]))
    if isinstance(source, Predictions):
        segment = source.segment if segment is None else segment
        source = dict(source.scores) | dict(source.columns)
    if _is_array(source):
        source = {plan.needs[0] if plan.needs else "score": check.check_column(source, "source")}
    with open_source(source, FileLayout(*(layout.get(each) for each in _LAYOUT))) as opened:
        found = _fetched(plan, opened, ids, segment, scores, wanted, where)
    chosen = {"scores": found.scores, "ids": found.ids, "random_state": random_state}
    chosen_in = chosen | ({"segment": found.segment} if plan.by_segment else {})
    rows = plan.rows(**chosen_in)
    looked = plan.reviewed(**chosen)
    note = plan.said(rows.size, found.n) + (f", and review {looked.size:,}" if looked.size else "")
    every = np.concatenate([rows, looked])
    shown = np.arange(found.n) if every_row else every
    listed = {found.name: shown if found.ids is None else np.asarray(found.ids)[shown]}
    listed |= {name: column[shown] for name, column in found.kept.items()}
    if every_row:
        decided = _decided(found.n, rows, looked)
        listed[_free("decision", listed)] = decided
        if label is not None:
            listed[_free("outcome", listed)] = _outcome(decided, *_truth(found.kept[label], label, pos_label))
    elif looked.size:
        listed["action"] = np.repeat(["act", "review"], [rows.size, looked.size])
    if plan.several_actions:
        listed["action"] = plan.assign(**chosen_in)[shown]
    return AppliedPlan(found.n, every, listed, note)


def _free(name: str, taken: Mapping[str, Any]) -> str:
    """Return a name that no column has, as the open page makes it."""
    return _free(f"{name}_", taken) if name in taken else name


def _decided(n: int, rows: Array, looked: Array) -> Array:
    """Return the decision about each case."""
    decided = np.full(n, "negative")
    decided[rows], decided[looked] = "positive", "review"
    return decided


def _outcome(decided: Array, positive: Array, known: Array) -> Array:
    """Return the outcome of each decision, such as "true positive"; empty where it is not known."""
    right = np.where((decided == "positive") == positive, "true ", "false ")
    return np.where(known & (decided != "review"), np.char.add(right, decided), "")


def outcomes(
    plan: Any, source: Any, ids: Any = None, *, label: str, acted: str | None, pos_label: Any, level: float,
    scores: Any, segment: Any, where: str | None, random_state: Any, **layout: Any,
) -> PlanOutcomes:  # fmt: skip
    """Return what acting by a plan has brought; see `Plan.outcomes`."""
    level = check.check_level(level)
    check.check_text("label", label)
    wanted = [label, *plan.columns, *([] if acted in (None, "all") else [str(acted)])]
    with open_source(source, FileLayout(*(layout.get(each) for each in _LAYOUT))) as opened:
        found = _fetched(plan, opened, ids, segment, scores, wanted, where)
    chosen = {"scores": found.scores} | ({"segment": found.segment} if plan.by_segment else {})
    taken, given = _acted(plan, found, chosen | {"ids": found.ids, "random_state": random_state}, acted)
    positive, known = _truth(found.kept[label], label, pos_label)
    amounts = {name: _amounts(found.kept[name], name, positive & known) for name in plan.columns}
    gains = np.asarray(plan.gains(positive, amounts, found.segment, **given), float)
    return outcomes_of(plan.promise, taken, positive, known, plan.strata(**chosen), gains, level)


def _acted(plan: Any, found: "_Cases", chosen: dict[str, Any], acted: str | None) -> tuple[Array, dict[str, Array]]:
    """Return which rows were acted on; of a plan of several actions also which action each got."""
    if not plan.several_actions:
        if acted is None:
            taken = np.zeros(found.n, bool)
            taken[plan.rows(**chosen)] = True
            return taken, {}
        return (np.ones(found.n, bool) if acted == "all" else _truth(found.kept[acted], acted, None)[0]), {}
    if acted == "all":
        raise InputError("acted", expected="the column of the action that each case got", got="'all'")
    action = plan.assign(**chosen)
    if acted is not None:
        texts = ["" if each is None else str(each).strip() for each in found.kept[acted].tolist()]
        action = np.array(["" if each.casefold() in _ABSENT else each for each in texts])
    return action != "", {"action": action}


_TRUTH = {"1": True, "true": True, "0": False, "-1": False, "false": False}
_ABSENT = ("", "none", "nan", "na", "null", "<na>")


def _truth(column: Array, name: str, pos_label: Any) -> tuple[Array, Array]:
    """Return which rows are positive, and which outcomes are known."""
    texts = [_text_of(each) for each in column.tolist()]
    known = np.array([text not in _ABSENT for text in texts], bool)
    words = _TRUTH if pos_label is None else {text: text == _text_of(pos_label) for text in texts}
    if strange := [text for text, one in zip(texts, known, strict=True) if one and text not in words]:
        hint = "name the positive one with pos_label"
        raise LabelError(f"column {name!r}", expected="0/1, -1/1 or true/false", got=repr(strange[0]), hint=hint)
    return np.array([one and words[text] for text, one in zip(texts, known, strict=True)], bool), known


def _text_of(value: Any) -> str:
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if whole else value).strip().casefold()


def _amounts(column: Array, name: str, needed: Array) -> Array:
    """Return a column of amounts, which may be missing where none is needed."""
    found = np.array([np.nan if _text_of(each) in _ABSENT else float(each) for each in column.tolist()])
    if np.isnan(found[needed]).any():
        raise InputError(f"column {name!r}", expected="an amount for each positive case", got="a missing value")
    return np.nan_to_num(found)


def labelled(plan: Any, source: Any, *, label: str, scores: Any = None, **columns: Any) -> Any:
    """Return the rows of a source for `Plan.verify`, or counts of them where it is a table of a cluster."""
    scores = list(plan.models) if scores is None else scores
    if plan.columns:
        columns["columns"] = plan.columns
    if plan.by_segment and columns.get("segment") is None:
        raise InputError("segment", expected="the column of the segments, which the plan needs", got="none")
    counted = type(source).__module__.startswith("pyspark.") and not plan.columns
    return (read_counts if counted else read)(source, label=label, scores=scores, **columns)


_LAYOUT = ("format", "decimal", "delimiter", "encoding", "table")


@dataclass(frozen=True)
class _Cases:
    """The cases of a source: scores, identifiers, segments, and columns to keep."""

    n: int
    scores: dict[str, Array]
    name: str
    ids: Any
    segment: Any
    kept: dict[str, Array]


def _is_array(source: Any) -> bool:
    """Whether scores are an array, and not a source of columns."""
    if isinstance(source, list | tuple):
        return not source or not isinstance(source[0], str | os.PathLike)
    known = isinstance(source, np.ndarray) or hasattr(source, "__array__") or hasattr(source, "__dlpack__")
    return known and not hasattr(source, "columns")


def _fetched(
    plan: Any, source: Source, ids: Any, segment: Any, scores: Any, keep: Sequence[str], where: str | None
) -> _Cases:
    models = _columns_of(plan, source, scores)
    named = {"ids": ids, "segment": segment if plan.by_segment else None}
    if plan.by_segment and segment is None:
        raise InputError("segment", expected="the column of the segments, which the plan needs", got="none")
    wanted = {role: column for role, column in named.items() if isinstance(column, str)}
    require_columns(source, list(models.values()), "scores")
    for role, column in (*wanted.items(), *(("keep", column) for column in keep)):
        require_columns(source, [column], role)
    needed = list(dict.fromkeys([*models.values(), *wanted.values(), *keep])) or list(source.columns)[:1]
    table = source.fetch(needed, where)
    if not table.num_rows:
        raise no_rows(brief(source.origin), where)
    given = {
        role: _values(table.column(column), source, column)
        if isinstance(column, str)
        else None
        if column is None
        else check.check_column(column, role, table.num_rows)
        for role, column in named.items()
    }
    return _Cases(
        table.num_rows,
        {model: _scores(source, table, column) for model, column in models.items()} or _nobody(table.num_rows),
        ids if isinstance(ids, str) else "row" if ids is None else "id",
        given["ids"],
        given["segment"],
        {column: _values(table.column(column), source, column) for column in keep},
    )


def _columns_of(plan: Any, source: Source, scores: Any) -> dict[str, str]:
    """Return the column of each model that the plan needs."""
    needs = list(plan.needs)
    if isinstance(scores, Mapping):
        given = {str(model): str(column) for model, column in scores.items()}
    elif not isinstance(scores, str | list | tuple | None):
        raise InputError(
            "scores", expected="the name of a column, or a mapping from model to one", got=check.shown(scores)
        )
    else:
        listed = [scores] if isinstance(scores, str) else list(map(str, scores or ()))
        given = dict(zip(needs, listed, strict=False)) if len(needs) == 1 else {}
    found: dict[str, str] = {model: given.get(model) or model for model in needs}
    for model, column in found.items():
        if column not in source.columns:
            hint = f"name the column of its scores: {check.listing(list(source.columns))}"
            raise ColumnError(f"scores of model {model!r}", expected="a column of that name", got="none", hint=hint)
    return found


def _nobody(size: int) -> dict[str, Array]:
    """Return placeholder scores if everybody or nobody is acted on."""
    return {"score": np.zeros(size)}


def _scores(source: Source, table: pa.Table, column: str) -> Array:
    subject = f"score {column!r} of {brief(source.origin)}"
    found = columns.numbers(table.column(column), subject, ScoreError, decimal=source.decimal)
    if found.missing is not None:
        got, hint = check.count_and_first(found.missing, "missing or infinite"), "leave such rows out with where="
        raise ScoreError(subject, expected="a finite score in every row", got=got, hint=hint)
    return found.as_scores()


def _values(column: pa.ChunkedArray, source: Source, name: str) -> Array:
    """Return a column without conversion: text stays text, whole numbers stay whole."""
    if column.null_count == 0 and not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        try:
            return columns.groups(column, f"column {name!r} of {brief(source.origin)}").decoded()
        except (InputError, pa.ArrowException):
            pass
    values = np.empty(len(column), object)
    values[:] = column.to_pylist()
    return values
