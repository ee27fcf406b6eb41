"""Describe the columns of a source, and guess their roles, such as label and score.

`describe` returns facts about every column. `guess` assigns roles from the names of columns and the first rows. The
open page has the same rules in `guess.ts`, so that both read a file in the same way. Shared test cases check this.

Order of the file: facts, `describe`, roles of columns, and the positive class.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from rocscope._base import validation as check
from rocscope._base.contract import contract
from rocscope._base.formatting import counted
from rocscope.core import Result, html_table, jsonable
from rocscope.engines import columns as column_roles, formats
from rocscope.engines.opening import TextRelation, open_source
from rocscope.engines.tables import ParquetFiles
from rocscope.errors import ColumnError, InputError, ScoreError, brief, collected_warnings, one_of, warn

# Columns in memory at the same time: few enough for wide data, many enough to parse a CSV file only once or twice.
_COLUMNS_AT_ONCE = 8
_VALUES_AT_ONCE = 1 << 22  # 32 MB of numbers
_MOST_ROWS_TOGETHER = 10_000  # rows; with more rows, sorting a column takes longer than the function calls


# Facts that are columns of the table of a description; the classes of a column are too many for a cell.
_HEADS = ("name", "type", "missing", "infinite", "distinct", "tied", "minimum", "maximum")


@dataclass(frozen=True)
class ColumnFacts(Result):
    """Facts about one column.

    Attributes
    ----------
    name, type : str
        Name of the column, and Arrow's name of its type.
    missing, infinite : int
        Number of rows with a missing value, and number of rows with an infinite value. All other facts describe the
        remaining rows.
    distinct : int or None
        Number of distinct values. None if the values are not numbers and more than 20 are distinct.
    tied : float or None
        For numbers: share of rows that have the same value as another row.
    minimum, maximum : number or None
        Smallest and largest number. None if the values are not numbers.
    classes : dict from value to number of rows, or None
        Number of rows with each value. None if there are more than 20 values.

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
        """True if the column may be a score."""
        return self.tied is not None

    @property
    def is_binary(self) -> bool:
        """True if the column has two distinct values, so that it may be the label."""
        return self.distinct == 2

    @property
    def is_probability_like(self) -> bool:
        """True if the column has more than two distinct numbers, all from 0 to 1."""
        if self.minimum is None or self.maximum is None or self.distinct is None or self.infinite:
            return False
        return self.distinct > 2 and self.minimum >= 0 and self.maximum <= 1

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as a dictionary for JSON. `classes` is a list, so that 1 and "1" remain distinct.

        Examples
        --------
        >>> from rocscope.engines import describe
        >>> describe({"bought": ["yes", "no", "yes"]})["bought"].to_dict()
        {'name': 'bought', 'type': 'string', 'missing': 0, 'infinite': 0, 'distinct': 2, 'tied': None,
         'minimum': None, 'maximum': None, 'classes': [{'value': 'no', 'rows': 1}, {'value': 'yes', 'rows': 2}],
         'is_number': False, 'is_binary': True, 'is_probability_like': False}
        """
        entries: Any = self.classes
        if self.classes:
            plain_types = (bool, int, float, str)
            entries = []
            for value, rows in self.classes.items():
                entries.append({"value": value if isinstance(value, plain_types) else str(value), "rows": rows})
        return super().to_dict() | {"classes": jsonable(entries)}


@dataclass(frozen=True, repr=False)
class Description(Result):
    """Number of rows of a source, and facts about each of its columns.

    Attributes
    ----------
    origin : tuple of str
        Names of the files, or a name for another kind of source.
    rows : int
        Number of rows.
    columns : tuple of ColumnFacts
        Facts about each column.
    problems : tuple of str
        Reasons why the named label or scores cannot be read.

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
        """Names of the columns with two distinct values."""
        return [column.name for column in self.columns if column.is_binary]

    @property
    def score_candidates(self) -> list[str]:
        """Names of the numeric columns with more than two distinct values."""
        return [column.name for column in self.columns if column.is_number and (column.distinct or 0) > 2]

    def __getitem__(self, name: str) -> ColumnFacts:
        facts = {column.name: column for column in self.columns}
        if name not in facts:
            raise ColumnError("column", expected=one_of(name, list(facts)), got=repr(name))
        return facts[name]

    def __repr__(self) -> str:
        facts = f"rows={self.rows}, columns={len(self.columns)}, label_candidates={self.label_candidates}"
        return f"Description({brief(self.origin)}, {facts}, problems={len(self.problems)})"

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame with one row for each column of the source: name, type and the numeric facts.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            Library of the data frame.

        Examples
        --------
        >>> table = describe({"bought": [1, 0, 1], "a": [0.9, 0.4, 0.4]}).to_frame()
        >>> table[["name", "distinct", "minimum", "maximum"]]
             name  distinct  minimum  maximum
        0  bought         2      0.0      1.0
        1       a         2      0.4      0.9
        """
        table: dict[str, Any] = {head: [getattr(column, head) for column in self.columns] for head in _HEADS}
        for head in ("tied", "minimum", "maximum"):  # whole numbers and fractions in one column; None becomes NaN
            table[head] = np.array(table[head], np.float64)
        return check.frame_of(table, backend)

    def _repr_html_(self) -> str:
        return html_table(([_cell(getattr(column, head)) for head in _HEADS] for column in self.columns), _HEADS)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


@contract
def describe(
    source: Any,
    *,
    label: str | None = None,
    scores: str | Sequence[str] | None = None,
    where: str | None = None,
    format: formats.FileFormat | None = None,
    decimal: Literal[".", ","] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    table: str | None = None,
    thousands: Literal[",", ".", " ", "'"] | None = None,
    skip_rows: int | None = None,
    skip_footer: int | None = None,
    header: bool | None = None,
) -> Description:
    """Describe the columns of a source: types, missing values, distinct values, ties and possible labels.

    Parameters
    ----------
    source, where : see `rocscope.read`
    format, decimal, delimiter, encoding, table, thousands, skip_rows, skip_footer, header : see `rocscope.read`
    label : str, optional
        Name of the label column.
    scores : str or sequence of str, optional
        Names of the score columns. If you name a label or scores, only these columns are described, and `problems` of
        the result lists the reasons why they cannot be read.

    Returns
    -------
    Description
        Number of rows of the source, and facts about each column.

    Raises
    ------
    ColumnError, EngineError, InputError, MissingDependencyError
        See `rocscope.read`. Invalid values do not raise an error.

    See Also
    --------
    read

    Notes
    -----
    Each numeric column is sorted once. -0.0 and 0.0 are equal.

    Examples
    --------
    >>> facts = describe({"bought": ["yes", "no", "yes", None], "a": [0.9, 0.4, 0.4, 0.2]})
    >>> facts
    Description(the dict, rows=4, columns=2, label_candidates=['bought'], problems=0)
    >>> facts["bought"].classes, facts["a"].tied
    ({'no': 1, 'yes': 2}, 0.5)
    """
    models = [scores] if isinstance(scores, str) else list(scores or [])
    named = models if label is None else [label, *models]
    layout = formats.FileLayout(format, decimal, delimiter, encoding, table, thousands, skip_rows, skip_footer, header)
    with open_source(source, layout) as opened:
        formats.require_columns(opened, [] if label is None else [label], "label")
        formats.require_columns(opened, models, "score")
        times = Counter(opened.columns)
        repeated = [name for name in times if times[name] > 1]
        names = list(dict.fromkeys(named)) or [name for name in times if times[name] == 1]
        refusals = opened.refusals(names) if isinstance(opened, TextRelation) and not named else {}
        names = [name for name in names if name not in refusals]
        facts: list[ColumnFacts] = []
        rows, at_once = 0, _COLUMNS_AT_ONCE
        if isinstance(opened, ParquetFiles) and len(opened.origin) == 1:
            at_once = _columns_at_once(opened.rows_of_first)
        while names:
            part = opened.fetch(names[:at_once], where)
            names = names[at_once:]
            rows = part.num_rows
            at_once = _columns_at_once(rows)
            facts += facts_of_columns(part, decimal=opened.decimal)
    problems = [f"several columns are named {name!r}" for name in repeated] + [
        str(error) for error in refusals.values()
    ]
    facts_by_name = {column.name: column for column in facts}
    if label is not None:
        problems += _label_problems(facts_by_name[label])
    for model in models:
        problems += _score_problems(facts_by_name[model])
    return Description(opened.origin, rows, tuple(facts), tuple(problems))


def _columns_at_once(rows: int) -> int:
    """Return the number of columns to read together. For many columns with few rows, each call looks at all names."""
    return max(_COLUMNS_AT_ONCE, _VALUES_AT_ONCE // max(rows, 1))


def facts_of_columns(table: pa.Table, *, decimal: str) -> list[ColumnFacts]:
    """Return the facts about all columns of a table. If there are few rows, columns of one type are sorted together."""
    facts: dict[str, ColumnFacts] = {}
    names = table.schema.names  # a tenth of the time of `table.column_names`
    if 0 < table.num_rows <= _MOST_ROWS_TOGETHER:
        kinds = table.schema.types
        positions: dict[int, list[int]] = {}  # by Arrow's number of the type
        for position, kind in enumerate(kinds):
            positions.setdefault(kind.id, []).append(position)
        for of_one_type in positions.values():
            facts |= _facts_of_finite(table, of_one_type, kinds[of_one_type[0]])
    for position, name in enumerate(names):
        if name not in facts:
            facts[name] = facts_of(name, table.column(position), decimal=decimal)
    return [facts[name] for name in names]


def _facts_of_finite(table: pa.Table, positions: list[int], kind: pa.DataType) -> dict[str, ColumnFacts]:
    """Return the facts about columns of one type. Columns with values other than finite numbers are skipped."""
    is_float = pa.types.is_float32(kind) or pa.types.is_float64(kind)
    if pa.types.is_integer(kind):
        positions = [position for position in positions if not table.column(position).null_count]
    elif not is_float:
        return {}
    if not positions:
        return {}
    if len(positions) < table.num_columns:
        table = table.select(positions)
    (batch,) = table.combine_chunks().to_batches()
    # Missing values of floats become NaN.
    ascending = np.sort(batch.to_tensor(null_to_nan=is_float, row_major=False).to_numpy(), axis=0)
    least, most = ascending[0], ascending[-1]  # NaN is sorted to the end
    is_finite = np.isfinite(least) & np.isfinite(most)

    differs = ascending[1:] != ascending[:-1]
    edge = np.ones((1, is_finite.size), np.bool_)
    is_first, is_last = np.concatenate([edge, differs]), np.concatenate([differs, edge])
    distinct = is_first.sum(axis=0)
    tied = 1 - (is_first & is_last).sum(axis=0) / table.num_rows

    # Values with their numbers of rows, column after column: a run of equal values ends where the next run begins.
    few = distinct <= formats.MOST_CLASSES
    start = np.flatnonzero(is_first[:, few].T)
    value = ascending[:, few].T.ravel()[start].tolist()
    rows = np.diff(start, append=few.sum() * table.num_rows).tolist()
    end = np.cumsum(np.where(few, distinct, 0)).tolist()

    facts, type_name = {}, str(kind)
    columns = zip(
        table.schema.names,
        is_finite.tolist(),
        few.tolist(),
        distinct.tolist(),
        tied.tolist(),
        least.tolist(),
        most.tolist(),
        end,
        strict=True,
    )
    for name, finite, has_classes, different, share, minimum, maximum, last in columns:
        if finite:
            runs = slice(last - different, last)
            if not has_classes:
                classes = None
            elif different == table.num_rows:  # faster than pairs of values and ones
                classes = dict.fromkeys(value[runs], 1)
            else:
                classes = dict(zip(value[runs], rows[runs], strict=True))
            facts[name] = ColumnFacts(name, type_name, 0, 0, different, share, minimum, maximum, classes)
    return facts


def facts_of(name: str, column: pa.ChunkedArray, *, decimal: str) -> ColumnFacts:
    """Return the facts about a column or a part of a column."""
    kind = str(column.type)
    try:
        numbers = column_roles.numbers(column, name, ScoreError, decimal=decimal)
    except InputError:
        return _facts_of_names(name, kind, column)
    values, missing, infinite = numbers.values, 0, 0
    if numbers.missing is not None:
        infinite = int(np.isinf(values).sum()) if values.dtype.kind == "f" else 0
        missing = int(numbers.missing.sum()) - infinite
        values = values[~numbers.missing]
    if not values.size:
        return ColumnFacts(name, kind, missing, infinite, distinct=0, tied=0.0, classes={})
    distinct, counts = np.unique(values, return_counts=True)
    classes = None
    if distinct.size <= formats.MOST_CLASSES:
        classes = dict(zip(distinct.tolist(), counts.tolist(), strict=True))
    tied = 1 - int((counts == 1).sum()) / values.size
    minimum = distinct[0].item()
    maximum = distinct[-1].item()
    return ColumnFacts(name, kind, missing, infinite, distinct.size, tied, minimum, maximum, classes)


def _facts_of_names(name: str, kind: str, column: pa.ChunkedArray) -> ColumnFacts:
    missing = column.null_count
    seen: set[Any] = set()
    try:
        for chunk in column.chunks:
            seen |= {value for value in chunk.unique().to_pylist() if value is not None}
            if len(seen) > formats.MOST_CLASSES:
                return ColumnFacts(name, kind, missing)
        counts = {entry["values"]: entry["counts"] for entry in column.value_counts().to_pylist()}
    except (pa.ArrowNotImplementedError, TypeError):  # lists and structures
        return ColumnFacts(name, kind, missing)
    classes = {value: counts[value] for value in sorted(seen)}
    return ColumnFacts(name, kind, missing, distinct=len(classes), classes=classes)


def _label_problems(label: ColumnFacts) -> list[str]:
    bad = label.missing + label.infinite
    problems = [f"label {label.name!r}: {counted(bad, 'missing or infinite value')}"] if bad else []
    if not label.is_binary:
        distinct = "more than 20 classes" if label.distinct is None else counted(label.distinct, "class")
        problems.append(f"label {label.name!r}: expected two classes, got {distinct}")
    return problems


def _score_problems(score: ColumnFacts) -> list[str]:
    if not score.is_number:
        return [f"score {score.name!r}: expected numbers, got values of type {score.type}"]
    bad = score.missing + score.infinite
    problems = [f"score {score.name!r}: {counted(bad, 'missing or infinite value')}"] if bad else []
    if score.distinct == 1:
        problems.append(f"score {score.name!r}: all values are equal")
    return problems


# ---- Roles of columns ----

_LABELS = re.compile(
    r"^(y|y_?true|labels?|target|class|outcome|response|truth|actual|event|status|churn(ed)?|default(ed)?|bought|"
    r"converted)$",
    re.IGNORECASE,
)
_NOT_SCORES = re.compile(r"^(id|index|row|nr|no|date|time|year|month|day|age)$|(^|[_ ])id$", re.IGNORECASE)
_WEIGHTS = re.compile(r"^(w|weights?|(sample|case|row)_?weights?|freq(uency)?|exposure)$", re.IGNORECASE)
_FOLDS = re.compile(r"^(cv_?)?(folds?|split)$", re.IGNORECASE)
_SEGMENTS = re.compile(
    r"segment|region|country|channel|site|centre|center|group|category|cohort|gender|^sex$", re.IGNORECASE
)
MOST_SCORES = 100
"""Largest number of columns that are guessed to be scores. More numeric columns are probably features."""
_FEW_SEGMENTS = 12  # a choice: with more distinct values, a column is unlikely to be a segment
_FEW_ROWS = 20  # a choice: in so few rows, whole numbers may all differ without being identifiers


@dataclass(frozen=True)
class Guess:
    """Guessed columns of labels, scores and weights, the guessed positive label, and the decimal mark.

    The positive label is None if the labels determine it. For more than two classes, there are no scores but a pattern
    for the columns of class probabilities.
    """

    label: str
    scores: list[str]
    weight: str | None
    pos_label: str | None
    decimal: str | None = None
    proba: str | None = None


def guess(
    source: Any,
    layout: formats.FileLayout = formats.DEFAULT_LAYOUT,
    *,
    label: str | None = None,
    scores: Sequence[str] = (),
    weight: str | None = None,
    pos_label: str | None = None,
    where: str | None = None,
) -> Guess:
    """Guess the columns of labels, scores and weights from column names and the first rows of a file.

    Parameters
    ----------
    source, where : see `rocscope.read`
    layout : FileLayout
        Format of the file.
    label, scores, weight, pos_label
        Columns and positive label that are already known.

    Raises
    ------
    ColumnError
        If no column can be the label, or if no column can be a score.
    InputError
        If commas in the only possible score column may be decimal marks or thousands separators.

    Examples
    --------
    >>> guess({"id": [7, 8, 9], "bought": ["yes", "no", "no"], "model a": [0.9, 0.4, 0.2]})
    Guess(label='bought', scores=['model a'], weight=None, pos_label='yes', decimal=None, proba=None)
    """
    with open_source(source, layout) as opened:
        names = [name for name, times in Counter(opened.columns).items() if times == 1]
        refusals = opened.refusals(names) if isinstance(opened, TextRelation) else {}
        for name, error in refusals.items():
            if name in (label, weight, *scores):
                raise error
        names = [name for name in names if name not in refusals]
        with collected_warnings():  # marks are noted when the guessed columns are read
            facts, rows = _facts_of_first_rows(opened, names, where)
        known: dict[str, str] = {}
        proba = None
        if not scores and pos_label is None:
            label, proba = _guess_of_classes(facts, label)
        if label is not None:
            known[label] = "label"
        if weight is not None:
            known[weight] = "weight"
        known |= dict.fromkeys(scores, "score")
        uses = uses_of(facts, rows, known=known)
        labels = [name for name in names if uses[name] == "label"]
        weights = [name for name in names if uses[name] == "weight"]
        label = formats.require_name(opened, "label", labels[0] if labels else None)
        if proba is not None:
            return Guess(label, [], weights[0] if weights else None, None, layout.decimal, proba)
        models = list(scores) or [name for name in names if uses[name] == "score"]
        if not models:
            for error in refusals.values():
                raise error
            formats.require_name(opened, "scores", None)
        decimal = layout.decimal or _decimal_of(opened, models)
        for error in refusals.values():
            warn(f"a column is not used: {error}")
    for column in facts:
        if column.name == label and pos_label is None and column.is_binary:
            pos_label = _guessed_pos_label(column, untyped=bool(opened.decimal))
    return Guess(label, models, weights[0] if weights else None, pos_label, decimal)


def _decimal_of(opened: formats.Source, names: Sequence[str]) -> str | None:
    """Return a comma if the named columns of a text file have decimal commas. Otherwise, return None."""
    if not isinstance(opened, TextRelation) or opened.delimiter == ",":
        return None
    return "," if any(opened.decimal_of(name) == "," for name in names) else None


def _guess_of_classes(columns: Sequence[ColumnFacts], label: str | None) -> tuple[str | None, str | None]:
    """Return a label of several classes and the pattern of their probability columns; otherwise the known label.

    Examples
    --------
    >>> rows = {"seg": ["n", "s", "n"], "y": ["cat", "dog", "eel"]}
    >>> rows |= {f"p_{name}": [0.2, 0.3, 0.4] for name in rows["y"]}
    >>> from rocscope.engines import describe
    >>> _guess_of_classes(describe(rows).columns, None)
    ('y', 'p_*')
    """
    names = [column.name for column in columns]
    shares: dict[str, None] = {}
    for column in columns:
        if column.minimum is not None and column.maximum is not None and 0 <= column.minimum <= column.maximum <= 1:
            shares[column.name] = None
    for candidate in columns:
        classes = [str(value) for value in candidate.classes or ()]
        # Two classes have one score, the probability of the positive class.
        if len(classes) < 3 or candidate.name in shares or label not in (None, candidate.name):
            continue
        for name in shares:
            before, _, after = name.partition(classes[0])
            if name == classes[0] or not shares.keys() >= {f"{before}{cls}{after}" for cls in classes}:
                continue
            pattern = f"{before}*{after}"
            matching = column_roles.probability_columns(names, pattern, [])[column_roles.ONE_MODEL]
            if shares.keys() >= set(matching.values()):
                return candidate.name, pattern
    return label, None


def _facts_of_first_rows(
    opened: formats.Source, names: Sequence[str], where: str | None
) -> tuple[list[ColumnFacts], int]:
    """Return the facts about the first batch of rows, and the number of rows in this batch."""
    for piece in opened.stream(names, where).pieces:
        for batch in piece():
            return facts_of_columns(batch.rename_columns(names), decimal=opened.decimal), batch.num_rows
    return [], 0


def uses_of(columns: Sequence[ColumnFacts], rows: int, *, known: dict[str, str] | None = None) -> dict[str, str]:
    """Return the role of each column: label, weight, fold, segment or score. An empty text means no role."""
    uses = dict.fromkeys((column.name for column in columns), "") | (known or {})

    def take(use: str, candidates: Iterable[ColumnFacts]) -> None:
        """Assign a role to the first candidate, unless another column already has this role."""
        free = [column for column in candidates if not uses[column.name]]
        if free and use not in uses.values():
            uses[free[0].name] = use

    with_classes = [column for column in columns if column.classes is not None]
    binary = [column for column in with_classes if column.is_binary]
    named = [column for column in with_classes if column.classes and _LABELS.match(column.name)]
    # Best candidates first: a binary column with a label's name, one with 0 and 1, any other; then a label's name
    # without two classes.
    take("label", [column for column in named if column.is_binary])
    take("label", filter(_determines_positive, binary))
    take("label", binary)
    take("label", named)
    weights = [column for column in columns if column.minimum is not None and column.minimum >= 0]
    take("weight", [column for column in weights if _WEIGHTS.match(column.name)])
    take("fold", [column for column in with_classes if _FOLDS.match(column.name)])
    few = [column for column in with_classes if 1 < len(column.classes or ()) <= _FEW_SEGMENTS]
    take("segment", [column for column in few if _SEGMENTS.search(column.name)])
    take("segment", [column for column in few if not column.is_number])
    if "score" in uses.values():
        return uses

    numbers: list[ColumnFacts] = []
    for column in columns:
        is_identifier = _is_whole(column) and column.distinct == rows > _FEW_ROWS
        varies = column.is_number and (column.distinct or 0) > 2
        if varies and not (uses[column.name] or is_identifier or _NOT_SCORES.search(column.name)):
            numbers.append(column)
    fractions = [column for column in numbers if not _is_whole(column)]
    scores = [column for column in fractions if column.is_probability_like] or fractions or numbers
    if len(scores) <= MOST_SCORES:
        uses |= {column.name: "score" for column in scores}
    return uses


def _is_whole(column: ColumnFacts) -> bool:
    return isinstance(column.minimum, int)


# ---- The positive class ----


def _words(text: str) -> list[str]:
    return text.split()


_POSITIVE_WORDS = _words(
    """
    true t yes y ja j oui o si sí sì da tak pos positive positiv + event events case cases present disease
    diseased ill sick krank abnormal malignant cancer tumor tumour recurrence relapse dead died death
    deceased fraud fraudulent spam churn churned default defaulted delinquent bought buyer buy purchase
    purchased convert converted conversion responder responded response click clicked subscribed attack
    anomaly defect defective
    """
)
# Events that a risk model predicts; used only if no class has a positive word.
_ADVERSE_WORDS = _words(
    """
    bad poor schlecht mauvais failed failure
    """
)
_NEGATIVE_WORDS = _words(
    """
    0 -1 0.0 -1.0 false f no not non none n nein kein keine nej neg negative negativ - absent without free
    control controls healthy gesund normal benign alive survived genuine legitimate legit ham
    """
)
# Words that are positive in some studies and negative in others.
_AMBIGUOUS_WORDS = _words(
    """
    good won win winner lost high low pass passed male female left right top
    """
)


def _likely_positive(classes: Sequence[str]) -> str | None:
    """Return the class that is probably the positive class, or None if the names of the classes do not show it.

    Parameters
    ----------
    classes : sequence of str
        Names of the classes, starting with the most frequent class.

    Examples
    --------
    >>> _likely_positive(["ja", "nein"]), _likely_positive(["Good", "Poor"]), _likely_positive(["2-Good", "1-Bad"])
    ('ja', 'Poor', '1-Bad')
    >>> _likely_positive(["no disease", "disease"]), _likely_positive(["won", "lost"]), _likely_positive(["a", "b"])
    ('disease', None, 'b')
    """
    negative = [name for name in classes if _contains_word(name, _NEGATIVE_WORDS)]
    others = [name for name in classes if name not in negative]
    for words in (_POSITIVE_WORDS, _ADVERSE_WORDS):
        named = [name for name in others if _contains_word(name, words)]
        if len(named) == 1:
            return named[0]
    if len(others) == 1 and negative:
        return others[0]
    if not classes or any(_contains_word(name, _AMBIGUOUS_WORDS) for name in classes):
        return None
    return classes[-1]  # the least frequent


def _contains_word(name: str, words: Sequence[str]) -> bool:
    """Return True if the name of a class is one of the words or contains one of the words with two or more letters."""
    text = name.strip().lower()
    return text in words or any(len(part) > 1 and part in words for part in re.findall(r"[^\W\d_]+", text))


def _determines_positive(label: ColumnFacts) -> bool:
    """Return True if the labels determine the positive class: {0, 1}, {-1, 1} or {False, True}."""
    texts = {str(value).lower().removesuffix(".0") for value in label.classes or ()}
    return any(texts <= {negative, positive} and positive in texts for negative, positive in _SELF_EXPLANATORY)


_SELF_EXPLANATORY = [("0", "1"), ("-1", "1"), ("false", "true")]


def _guessed_pos_label(label: ColumnFacts, *, untyped: bool) -> str | None:
    """Return the class that is probably positive. Return None if the labels determine it, or if it is not clear."""
    classes = label.classes or {}
    # In a typed source, "0" and "1" as text do not determine the positive label.
    if _determines_positive(label) and (untyped or not any(isinstance(value, str) for value in classes)):
        return None
    by_frequency = sorted(classes, key=lambda value: -classes[value])
    return _likely_positive([str(value) for value in by_frequency])
