"""Slices of a report: all rows, a segment, a fold, or one class against the rest."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.grouping import listed, masks_of, numbered
from rocscope.core.context import Context
from rocscope.core.counts import CumulativeCounts, ThresholdCounts
from rocscope.core.predictions import Predictions
from rocscope.core.result import Result
from rocscope.errors import InputError
from rocscope.evaluation.summarising import MOST_PARTS
from rocscope.report.summary import AreaEstimates, ModelSummary, area_estimates, summarise
from rocscope.sample import samples_of
from rocscope.segments.segmented_counts import SegmentedCounts

SMALL = 10
"""Warn if a class has fewer cases than this."""

POINTS = 60
"""Points per curve, which limits the size of files with many views."""

MOST_FOLDS = 50
"""With more folds than this, folds are not shown: leave-one-out has one per row."""

MOST_SEGMENTS = 40
"""With more segments than this, only the largest are shown, and the rest pooled."""

_MOST_NAMED = 8  # names in a warning: a choice, about two lines


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
        """The rows, as text."""
        return self.name if self.kind == "all" else f"{self.kind} {self.name}"


@dataclass
class Slices:
    """Views collected so far, with notes on them."""

    context: Context
    made: list[Slice] = field(default_factory=list)
    _one_class: list[str] = field(default_factory=list)
    _said: dict[str, list[str]] = field(default_factory=dict)

    def add(
        self,
        kind: str,
        name: Any,
        predictions: Predictions | Mapping[str, CumulativeCounts],
        *,
        most: int = POINTS,
        compared: bool = False,
        labels_only: Iterable[str] = (),
        detailed: bool = True,
    ) -> None:
        """Add the models on the rows or counts of `predictions`, unless a class is missing."""
        samples = samples_of(predictions)
        counts = samples.counts()
        first = next(iter(counts.values()))
        if not self.shows(kind, name, first.n_pos, first.n_neg):
            return
        sure = area_estimates(samples, compared=compared) if detailed else AreaEstimates({}, {})
        models = [
            summarise(
                model,
                counts[model],
                self.context,
                interval=sure.intervals.get(model),
                most=most,
                calibrated=detailed and model not in labels_only,
                decided=sample.rows.point() if sample.rows and sample.rows.decisions else None,
            )
            for model, sample in samples.items()
        ]
        self.made.append(Slice(kind, str(name), models, sure.comparisons))
        for text in sure.warnings:
            self.say(text, f"{kind} {name}")

    def shows(self, kind: str, name: Any, n_pos: float, n_neg: float) -> bool:
        """Return whether rows have both classes; if not, note that they are left out."""
        if not (n_pos and n_neg):
            self._one_class.append(f"{kind} {name} (no {'negatives' if n_pos else 'positives'})")
        return bool(n_pos and n_neg)

    def say(self, text: str, where: str) -> None:
        """Add a warning, once."""
        self._said.setdefault(text, []).append(where)

    @property
    def warnings(self) -> list[str]:
        """Notes on what was left out, and warnings."""
        left_out = [f"Left out, as one class is missing: {_listed(self._one_class)}."] if self._one_class else []
        return left_out + [f"{text} ({_listed(where)})" for text, where in self._said.items()]


def _classes(counted: ThresholdCounts | ModelSummary) -> tuple[tuple[str, float], ...]:
    return ("positive", counted.n_pos), ("negative", counted.n_neg)


def by_rows(predictions: Predictions, context: Context) -> Slices:
    """Return the models on each segment and each fold."""
    slices = Slices(context)
    for kind, name, rows in parts_of(predictions, slices):
        slices.add(kind, name, predictions.select(rows))
    return slices


def by_counts(segments: Mapping[str, SegmentedCounts], context: Context, is_small: Callable[[Any], bool]) -> Slices:
    """Return the models on each segment; if there are many, on the largest ones and on all others pooled.

    Intervals and calibration are left out where counts are not `is_small`.
    """
    slices = Slices(context)
    for name, counted in parts_of_counts(segments, slices):
        counts = counted()
        slices.add("segment", name, counts, detailed=is_small(counts))
    return slices


def parts_of_counts(
    by_model: Mapping[str, SegmentedCounts], slices: Slices
) -> Iterator[tuple[str, Callable[[], dict[str, CumulativeCounts]]]]:
    """Yield each shown segment with both classes, and a function that makes its counts by model; all others pooled."""

    def own(name: Any) -> dict[str, CumulativeCounts]:
        return {model: each[name] for model, each in by_model.items()}

    first = next(iter(by_model.values()))
    shown = _largest(first.n, slices)
    for i, name in zip(shown.tolist(), listed(first.names[shown]), strict=True):
        if slices.shows("segment", name, first.n_pos[i].item(), first.n_neg[i].item()):
            yield str(name), partial(own, name)
    if shown.size < len(first):
        rest = np.isin(np.arange(len(first)), shown, invert=True)
        name = _others(int(rest.sum()))
        if slices.shows("segment", name, first.n_pos[rest].sum().item(), first.n_neg[rest].sum().item()):
            yield name, lambda: {model: each.select(rest).pooled() for model, each in by_model.items()}


def parts_of(predictions: Predictions, slices: Slices) -> Iterator[tuple[str, str, Array]]:
    """Yield kind, name and row mask of each segment and fold; `slices` records what is left out.

    Of many segments the largest come, and all others as one.
    """
    if predictions.segment is not None:
        yield from (("segment", *found) for found in _segments(predictions, slices))
    if predictions.fold is None:
        return
    if (folds := _values(predictions.fold)) > MOST_FOLDS:
        slices.say(f"More than {MOST_FOLDS} folds are not shown apart", f"{folds} folds")
        return
    yield from (("fold", str(name), mask) for name, mask in masks_of("fold", predictions.fold).items())


def require_segments(predictions: Predictions, subject: str = "segment") -> None:
    """Raise if a column of segments identifies single cases; messages call it `subject`.

    Raises
    ------
    InputError
        If it has more than 1,000 values.
    """
    if predictions.segment is not None and (found := _values(predictions.segment)) > MOST_PARTS:
        hint = "measures of very many segments: Predictions.counts(by='segment')"
        raise InputError(subject, expected=f"at most {MOST_PARTS:,} segments", got=f"{found:,}", hint=hint)


def _values(column: Array) -> int:
    return len(set(column.tolist())) if column.dtype.kind in "OUS" else np.unique(column).size


def _segments(predictions: Predictions, slices: Slices) -> Iterator[tuple[str, Array]]:
    """Yield the shown segments, and the pooled rows of all others."""
    names, code = numbered("segment", predictions.segment)
    shown = _largest(np.bincount(code, predictions.sample_weight), slices)
    for i in shown.tolist():
        yield str(listed(names)[i]), code == i
    if shown.size < names.size:
        yield _others(names.size - shown.size), np.isin(code, shown, invert=True)


def _largest(sizes: Array, slices: Slices) -> Array:
    """Return the indices of the segments with the largest weights, in their order."""
    if sizes.size <= MOST_SEGMENTS:
        return np.arange(sizes.size)
    shown = np.sort(np.argsort(-sizes, kind="stable")[: MOST_SEGMENTS - 1])
    others = f"{sizes.size - shown.size:,} others"
    slices.say(f"The {shown.size} largest segments are shown apart, all others as one", others)
    return shown


def _others(number: int) -> str:
    return f"others ({number:,} segments)"


def small_cells(slices: Sequence[Slice]) -> list[str]:
    """Warn where rates are based on few cases, or where points may identify single rows.

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
    if bare and slices[0].kind == "all" and slices[0].where in bare:
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
