"""What each column of a file is for, as far as names and first rows tell: the twin of the open page's `guess.ts`."""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from rocscope.engines.description import ColumnFacts, facts_of
from rocscope.engines.sources.layout import AS_IT_TELLS, FileLayout
from rocscope.engines.sources.naming import given
from rocscope.engines.sources.opening import open_source
from rocscope.errors import RocscopeError

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
POSITIVES = re.compile(
    r"^(1|1\.0|true|yes|y|pos(itive)?|p|event|case|bad|fraud|churn(ed)?|default(ed)?|bought|buyer|malignant|m|dead|died|"
    r"good|win|won|spam|sick)$",
    re.IGNORECASE,
)
_TELLING = [("0", "1"), ("-1", "1"), ("false", "true")]
_FEW_SEGMENTS, _FEW_ROWS = 12, 20


@dataclass(frozen=True)
class Guess:
    """Columns of a sample of two classes, the positive label where labels do not tell it, and the decimal mark."""

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
    """Return what the columns that are not named are for, from the first rows of a file.

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
    if pos_label is None and of_label is not None and of_label.is_binary and not tells_positive(of_label):
        pos_label = _likely_positive(of_label)
    return Guess(label, found, next(iter(by_use["weight"]), None), pos_label, layout.decimal)


def uses_of(columns: Sequence[ColumnFacts], rows: int, *, known: dict[str, str] | None = None) -> dict[str, str]:
    """Return what each column is for: label, weight, fold, segment, score, or nothing."""
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
    likely = [column for column in fractions if column.is_probability_like]
    return uses | {column.name: "score" for column in likely or fractions or numbers}


def _is_whole(column: ColumnFacts) -> bool:
    return isinstance(column.minimum, int)


def tells_positive(label: ColumnFacts) -> bool:
    """Say whether labels tell which one is positive: {0, 1}, {-1, 1} or {False, True}."""
    texts = {str(value).lower().removesuffix(".0") for value in label.classes or ()}
    return any(texts <= set(two) and two[1] in texts for two in _TELLING)


def _likely_positive(label: ColumnFacts) -> str:
    """Return a class whose name says so, or else the rarer one."""
    texts = [str(value) for value, _ in sorted((label.classes or {}).items(), key=lambda each: -each[1])]
    return next(filter(POSITIVES.match, texts), texts[-1])
