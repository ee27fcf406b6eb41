"""What a report can be turned to: all rows, a segment, a fold, or one class against the rest."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rocscope import _validation as check
from rocscope._parts import masks_of
from rocscope._types import Array
from rocscope.core.context import Context
from rocscope.core.predictions import Predictions
from rocscope.core.result import Result
from rocscope.errors import InputError
from rocscope.evaluation.summary.summarising import MOST_PARTS
from rocscope.report.inference import certainty
from rocscope.report.summary import ModelSummary, summarise
from rocscope.sample import samples_of

SMALL = 10
"""Fewer cases of a class than this are warned about."""

POINTS = 60
"""Of each curve: there may be many slices in a file that is to stay small."""

MOST_FOLDS = 50
"""More folds than these are not shown apart: leaving one out has as many as rows."""

MOST_SEGMENTS = 40
"""Of more segments than these the largest are shown apart, and the rest as one."""

_MOST_NAMED = 8


@dataclass(frozen=True)
class Slice(Result):
    """The models on some rows.

    Attributes
    ----------
    kind : {"all", "segment", "fold", "class"}
    name : str
    models : list of ModelSummary
    comparisons : list of dict
        Difference in AUC of each two models, with its interval and p-value.
    """

    kind: str
    name: str
    models: list[ModelSummary]
    comparisons: list[dict[str, Any]] = field(default_factory=list)

    @property
    def where(self) -> str:
        """The rows in words."""
        return self.name if self.kind == "all" else f"{self.kind} {self.name}"


@dataclass
class Slices:
    """Slices as they are made, and what there is to say about them."""

    context: Context
    made: list[Slice] = field(default_factory=list)
    _one_class: list[str] = field(default_factory=list)
    _said: dict[str, list[str]] = field(default_factory=dict)

    def add(
        self,
        kind: str,
        name: Any,
        predictions: Predictions,
        *,
        most: int = POINTS,
        compared: bool = False,
        labels_only: Iterable[str] = (),
    ) -> None:
        """Add the models on the rows of `predictions`, unless one class is missing there."""
        if missing := [word for word, n in _classes(predictions) if not n]:
            self._one_class.append(f"{kind} {name} (no {missing[0]}s)")
            return
        sure = certainty(samples_of(predictions), compared=compared)
        models = [
            summarise(
                model,
                predictions.counts(model),
                self.context,
                interval=sure.intervals.get(model),
                most=most,
                calibrated=model not in labels_only,
                decided=predictions.point(model) if model in predictions.decisions else None,
            )
            for model in predictions.models
        ]
        self.made.append(Slice(kind, str(name), models, sure.comparisons))
        for text in sure.warnings:
            self.say(text, f"{kind} {name}")

    def say(self, text: str, where: str) -> None:
        """Warn of what holds in several places."""
        self._said.setdefault(text, []).append(where)

    @property
    def warnings(self) -> list[str]:
        """What was left out, and what was warned about on the way."""
        left_out = [f"Left out, as one class is missing: {_listed(self._one_class)}."] if self._one_class else []
        return left_out + [f"{text} ({_listed(where)})" for text, where in self._said.items()]


def _classes(counted: Predictions | ModelSummary) -> tuple[tuple[str, float], ...]:
    return ("positive", counted.n_pos), ("negative", counted.n_neg)


def by_rows(predictions: Predictions, context: Context) -> Slices:
    """Return the models on each segment and each fold."""
    slices = Slices(context)
    for kind, name, rows in parts_of(predictions, slices):
        slices.add(kind, name, predictions.select(rows))
    return slices


def parts_of(predictions: Predictions, slices: Slices) -> Iterator[tuple[str, str, Array]]:
    """Yield the kind, the name and the mask of the rows of each segment and each fold; `slices` hear what is left out.

    Of many segments the largest come, and all others as one.
    """
    if predictions.segment is not None:
        yield from (("segment", *found) for found in _segments(predictions.segment, slices))
    if predictions.fold is None:
        return
    if (folds := _values(predictions.fold)) > MOST_FOLDS:
        slices.say(f"More than {MOST_FOLDS} folds are not shown apart", f"{folds} folds")
        return
    yield from (("fold", str(name), mask) for name, mask in masks_of("fold", predictions.fold).items())


def require_segments(predictions: Predictions, subject: str = "segment") -> None:
    """Refuse a column of segments, which messages call `subject`, that names single cases.

    Raises
    ------
    InputError
        If it has more than 1,000 values.
    """
    if predictions.segment is not None and (found := _values(predictions.segment)) > MOST_PARTS:
        hint = "measures of very many groups: Predictions.counts(by='segment')"
        raise InputError(subject, expected=f"at most {MOST_PARTS:,} segments", got=f"{found:,}", hint=hint)


def _values(column: Array) -> int:
    return len(set(column.tolist())) if column.dtype.kind in "OUS" else np.unique(column).size


def _segments(column: Array, slices: Slices) -> Iterator[tuple[str, Array]]:
    """Yield the segments, or where they are many the largest, and the rows of all others as one."""
    if _values(column) <= MOST_SEGMENTS:
        yield from ((str(name), mask) for name, mask in masks_of("segment", column).items())
        return
    code = check.check_groups(column, "segment", column.size)
    sizes = np.bincount(code)
    shown = np.sort(np.argsort(-sizes, kind="stable")[: MOST_SEGMENTS - 1])
    for number in shown.tolist():
        mask = code == number
        yield str(column[mask.argmax()]), mask
    rest = sizes.size - shown.size
    slices.say(f"The {shown.size} largest segments are shown apart, all others as one", f"{rest} others")
    yield f"others ({rest} segments)", ~np.isin(code, shown)


def small_cells(slices: Sequence[Slice]) -> list[str]:
    """Say where rates rest on few cases, and where points are so near each other that they show single rows.

    Examples
    --------
    >>> from rocscope.core.context import Context
    >>> slices = by_rows(Predictions([1, 0, 1, 0], [4, 3, 2, 1], segment=["x", "x", "y", "y"]), Context())
    >>> small_cells(slices.made)[0]
    'Rates are uncertain, with fewer than 10 cases of a class: segment x (1 negative), segment y (1 negative).'
    """
    fewest = {part.where: min((n, word) for word, n in _classes(part.models[0])) for part in slices}
    few = [f"{where} ({n:g} {word}{'' if n == 1 else 's'})" for where, (n, word) in fewest.items() if n < SMALL]
    bare = [part.where for part in slices if any(_shows_rows(model) for model in part.models)]
    if slices[0].where in bare and slices[0].kind == "all":
        bare = bare[:1]
    said = []
    if few:
        said.append(f"Rates are uncertain, with fewer than {SMALL} cases of a class: {_listed(few)}.")
    if bare:
        said.append(
            f"Scores of single rows can be read from this file, as most points lie fewer than {SMALL} cases apart: "
            f"{_listed(bare)}."
        )
    return said


def _shows_rows(model: ModelSummary) -> bool:
    depth = np.add(model.points.tp, model.points.fp)
    return bool(np.median(np.diff(depth)) < SMALL)


def _listed(names: Sequence[str]) -> str:
    return check.listing(names, _MOST_NAMED, shown=str)
