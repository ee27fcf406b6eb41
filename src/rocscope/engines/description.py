"""Which of two classes is the positive one, as far as names and sizes tell: the twin of the open page's `guess.ts`."""
# MERGED-DOC: """describe: the content of a source, before anything is computed from it.
#
# What each column of a file is for, as far as names and first rows tell: the twin of the open page's `guess.ts`.
# """

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.core.result import Result, html_table, jsonable
from rocscope.engines import columns
from rocscope.engines.formats import AS_IT_TELLS, MOST_CLASSES, FileFormat, FileLayout, given, require_columns
from rocscope.engines.opening import open_source
from rocscope.errors import ColumnError, InputError, RocscopeError, ScoreError, brief, one_of


def _words(text: str) -> list[str]:
    return text.split()


POSITIVE_WORDS = _words(
    """
    true t yes y ja j oui o si sí sì da tak pos positive positiv + event events case cases present disease
    diseased ill sick krank abnormal malignant cancer tumor tumour recurrence relapse dead died death
    deceased fraud fraudulent spam churn churned default defaulted delinquent bought buyer buy purchase
    purchased convert converted conversion responder responded response click clicked subscribed attack
    anomaly defect defective
    """
)
ADVERSE_WORDS = _words(
    """
    bad poor schlecht mauvais failed failure
    """
)
"""Words for what a model of risk looks for; they count only where no class is named by a word above."""
NEGATIVE_WORDS = _words(
    """
    0 -1 0.0 -1.0 false f no not non none n nein kein keine nej neg negative negativ - absent without free
    control controls healthy gesund normal benign alive survived genuine legitimate legit ham
    """
)
AMBIGUOUS_WORDS = _words(
    """
    good won win winner lost high low pass passed male female left right top
    """
)
"""Words that name the class looked for in one study and the other class in the next."""


def likely_positive(classes: Sequence[str]) -> str | None:
    """Return the class that is likely positive, or None if that must be asked.

    Parameters
    ----------
    classes : sequence of str
        The most frequent first.

    Examples
    --------
    >>> likely_positive(["ja", "nein"]), likely_positive(["Good", "Poor"]), likely_positive(["2-Good", "1-Bad"])
    ('ja', 'Poor', '1-Bad')
    >>> likely_positive(["no disease", "disease"]), likely_positive(["won", "lost"]), likely_positive(["a", "b"])
    ('disease', None, 'b')
    """
    negative = [each for each in classes if _names(each, NEGATIVE_WORDS)]
    for words in (POSITIVE_WORDS, ADVERSE_WORDS):
        found = [each for each in classes if each not in negative and _names(each, words)]
        if len(found) == 1:
            return found[0]
    others = [each for each in classes if each not in negative]
    if len(others) == 1 and negative:
        return others[0]
    return None if any(_names(each, AMBIGUOUS_WORDS) for each in classes) or not classes else classes[-1]


def _names(text: str, words: Sequence[str]) -> bool:
    """Whether a class is named by one of some words: as a whole, or by a word of two letters or more in it."""
    whole = text.strip().lower()
    return whole in words or any(len(part) > 1 and part in words for part in re.findall(r"[^\W\d_]+", whole))


_AT_ONCE = 8  # columns in memory: few enough for wide data, many enough to parse a CSV file once or twice


@dataclass(frozen=True)
class ColumnFacts(Result):
    """Facts about one column.

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
        """Return the facts, safe for JSON; classes as a list, which keeps 1 and "1" distinct."""
        classes = self.classes and [{"value": _plain(value), "rows": n} for value, n in self.classes.items()]
        return super().to_dict() | {"classes": jsonable(classes)}


@dataclass(frozen=True, repr=False)
class Description(Result):
    """The content of a source, column by column.

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


@contract
def describe(
    source: Any,
    *,
    label: str | None = None,
    scores: str | Sequence[str] | None = None,
    where: str | None = None,
    format: FileFormat | None = None,
    decimal: Literal[".", ","] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    table: str | None = None,
) -> Description:
    """Describe a source: rows, columns, missing values, ties and candidate labels.

    Parameters
    ----------
    source, where, format, decimal, delimiter, encoding, table : see `rocscope.read`
    label : str, optional
    scores : str or sequence of str, optional
        Where any column is named, only those that are named are described, and `problems` says what is wrong with
        them.

    Returns
    -------
    Description
        Rows and facts of each column.

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
    with open_source(source, FileLayout(format, decimal, delimiter, encoding, table)) as opened:
        require_columns(opened, [] if label is None else [label], "label")
        require_columns(opened, models, "score")
        named = [name for name in [label, *models] if name is not None]
        names = list(dict.fromkeys(named or (name for name in opened.columns if list(opened.columns).count(name) == 1)))
        facts: list[ColumnFacts] = []
        rows = 0
        for start in range(0, len(names), _AT_ONCE):
            part = opened.fetch(names[start : start + _AT_ONCE], where)
            rows = part.num_rows
            facts += [facts_of(name, part.column(name), decimal=opened.decimal) for name in part.column_names]
    described = Description(opened.origin, rows, tuple(facts))
    repeated = [name for name in dict.fromkeys(opened.columns) if list(opened.columns).count(name) > 1]
    problems = [f"several columns are named {name!r}" for name in repeated]
    problems += [] if label is None else _label_problems(described[label])
    problems += [problem for model in models for problem in _score_problems(described[model])]
    return Description(opened.origin, rows, tuple(facts), tuple(problems))


def facts_of(name: str, column: pa.ChunkedArray, *, decimal: str) -> ColumnFacts:
    """Return the facts about a column, or part of it."""
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
    few = found.size <= MOST_CLASSES
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
            if len(seen) > MOST_CLASSES:
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


LABELS = re.compile(
    r"^(y|y_?true|labels?|target|class|outcome|response|truth|actual|event|status|churn(ed)?|default(ed)?|bought|"
    r"converted)$",
    re.IGNORECASE,
)
NOT_SCORES = re.compile(r"^(id|index|row|nr|no|date|time|year|month|day|age)$|(^|[_ ])id$", re.IGNORECASE)
WEIGHTS = re.compile(r"^(w|weights?|(sample|case|row)_?weights?|freq(uency)?|exposure)$", re.IGNORECASE)
FOLDS = re.compile(r"^(cv_?)?(folds?|split)$", re.IGNORECASE)
SEGMENTS = re.compile(
    r"segment|region|country|channel|site|centre|center|group|category|cohort|gender|^sex$", re.IGNORECASE
)
MOST_SCORES = 100
"""A file with more columns that may be scores has attributes, not models: none is guessed."""
_TELLING = [("0", "1"), ("-1", "1"), ("false", "true")]
# Choices: more values are no segments at a glance; of so few rows whole numbers may all differ.
_FEW_SEGMENTS, _FEW_ROWS = 12, 20


@dataclass(frozen=True)
class Guess:
    """Guessed columns of a binary sample, the positive label if labels do not determine it, and the decimal mark."""

    label: str
    scores: list[str]
    weight: str | None
    pos_label: str | None
    decimal: str | None = None


def guess(
    source: Any,
    layout: FileLayout = AS_IT_TELLS,
    *,
    label: str | None = None,
    scores: Sequence[str] = (),
    weight: str | None = None,
    pos_label: str | None = None,
    where: str | None = None,
) -> Guess:
    """Guess the roles of unnamed columns from the first rows of a file.

    Parameters
    ----------
    source, where : see `rocscope.read`
    layout : FileLayout
        Where it does not name the decimal mark and no score is found with a point, a comma is tried.
    label, scores, weight, pos_label
        What is known.

    Raises
    ------
    ColumnError
        If nothing can be taken for the label, or for a score.

    Examples
    --------
    >>> guess({"id": [7, 8, 9], "bought": ["yes", "no", "no"], "model a": [0.9, 0.4, 0.2]})
    Guess(label='bought', scores=['model a'], weight=None, pos_label='yes', decimal=None)
    """
    with open_source(source, layout) as opened:
        names = [name for name in opened.columns if list(opened.columns).count(name) == 1]
        table = next((batch for piece in opened.stream(names, where).pieces for batch in piece()), None)
        facts = [] if table is None else [facts_of(name, table[name], decimal=opened.decimal) for name in names]
        rows = 0 if table is None else table.num_rows
        known = {label: "label", weight: "weight"} | dict.fromkeys(scores, "score")
        uses = uses_of(facts, rows, known={name: use for name, use in known.items() if name is not None})
        by_use = {use: [name for name in names if uses[name] == use] for use in ("label", "weight", "score")}
        label = given(opened, "label", next(iter(by_use["label"]), None))
        found = list(scores) or by_use["score"]
        if not found and opened.decimal == "." and layout.decimal is None:
            with suppress(RocscopeError):
                return guess(
                    source, replace(layout, decimal=","), label=label, weight=weight, pos_label=pos_label, where=where
                )
        found = found or [given(opened, "scores", None)]
    of_label = next((column for column in facts if column.name == label), None)
    if pos_label is None and of_label is not None and of_label.is_binary:
        pos_label = _likely_positive(of_label, untyped=bool(opened.decimal))
    return Guess(label, found, next(iter(by_use["weight"]), None), pos_label, layout.decimal)


def uses_of(columns: Sequence[ColumnFacts], rows: int, *, known: dict[str, str] | None = None) -> dict[str, str]:
    """Return the role of each column: label, weight, fold, segment, score, or none."""
    uses = dict.fromkeys((column.name for column in columns), "") | (known or {})

    def free(test: Callable[[ColumnFacts], Any]) -> list[ColumnFacts]:
        return [column for column in columns if not uses[column.name] and test(column)]

    def take(use: str, candidates: Iterable[ColumnFacts]) -> None:
        if use not in uses.values() and (first := next(iter(candidates), None)):
            uses[first.name] = use

    binary = free(lambda each: each.classes is not None and each.is_binary)
    named = [column for column in binary if LABELS.match(column.name)]
    other = free(lambda each: each.classes and LABELS.match(each.name))
    take("label", [*named, *filter(tells_positive, binary), *binary, *other])
    take("weight", free(lambda each: WEIGHTS.match(each.name) and each.minimum is not None and each.minimum >= 0))
    take("fold", free(lambda each: FOLDS.match(each.name) and each.classes is not None))
    few = free(lambda each: each.classes is not None and 1 < len(each.classes) <= _FEW_SEGMENTS)
    take("segment", [column for column in few if SEGMENTS.search(column.name)])
    take("segment", [column for column in few if not column.is_number])
    if "score" in uses.values():
        return uses
    numbers = free(lambda each: each.is_number and (each.distinct or 0) > 2 and not NOT_SCORES.search(each.name))
    numbers = [column for column in numbers if not (_is_whole(column) and column.distinct == rows > _FEW_ROWS)]
    fractions = [column for column in numbers if not _is_whole(column)]
    likely = [column for column in fractions if column.is_probability_like] or fractions or numbers
    return uses | {column.name: "score" for column in likely if len(likely) <= MOST_SCORES}


def _is_whole(column: ColumnFacts) -> bool:
    return isinstance(column.minimum, int)


def tells_positive(label: ColumnFacts) -> bool:
    """Return whether labels determine the positive one: {0, 1}, {-1, 1} or {False, True}."""
    texts = {str(value).lower().removesuffix(".0") for value in label.classes or ()}
    return any(texts <= set(two) and two[1] in texts for two in _TELLING)


def _likely_positive(label: ColumnFacts, *, untyped: bool) -> str | None:
    """Return the class that is likely positive; None where labels determine it, or where it must be asked."""
    classes = label.classes or {}
    if tells_positive(label) and (untyped or not any(isinstance(value, str) for value in classes)):
        return None
    return likely_positive([str(value) for value, _ in sorted(classes.items(), key=lambda each: -each[1])])
