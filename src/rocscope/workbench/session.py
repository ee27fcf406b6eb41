"""Session: the models and rows that the workbench page shows, read or counted on demand and cached."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from threading import Lock
from typing import Any

import numpy as np

from rocscope import kernels
from rocscope._base.threads import in_threads
from rocscope.core.context import Context
from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import Predictions
from rocscope.errors import InputError
from rocscope.report.model import MOST_DETAILED
from rocscope.report.slices import POINTS, Slices, parts_of, parts_of_counts, require_segments
from rocscope.report.summary import MOST_POINTS, ModelOutline, outline
from rocscope.sample import Models, Sample, Samples, samples_of
from rocscope.segments.data import counted_by_segment
from rocscope.workbench.data_source import DataSource
from rocscope.workbench.request_queue import CancelToken

ALL = ("all", "all rows")
SECONDS = 30
"""Seconds after which a condition on held rows is stopped: ten million of them take one."""
_KEPT = 2
"""Filters whose rows are cached: the one that is shown, and one that Python or another tab asks for."""
_MOST_ANSWERS = 64
"""Cached answers, a few kilobytes each: going back to what was shown needs no rows."""


@dataclass(frozen=True)
class RowSelection:
    """Selected rows: those that satisfy a filter, or one part of them where they are split by a column."""

    where: str | None = None
    by: str | None = None
    kind: str = ALL[0]
    name: str = ALL[1]

    @property
    def whole(self) -> bool:
        """Whether all parts are selected."""
        return self.kind == ALL[0]


class CountedRows:
    """Rows of one source that were read, or counted, for one filter.

    Attributes
    ----------
    parts : dict from (kind, name) to what finds the rows or the counts of that part
    warnings : list of str
        Notes of the parts.
    """

    def __init__(self, parts: dict[tuple[str, str], Any], warnings: Sequence[str]) -> None:
        self.parts, self.warnings = parts, list(warnings)
        self._known: dict[tuple[str, str], Models] = {}
        self._samples: dict[tuple[str, str], Samples] = {}

    def samples(self, part: tuple[str, str]) -> Samples:
        """Return each model's data, ranked once for all requests."""
        if part not in self._samples:
            self._samples[part] = samples_of(self.rows(part))
        return self._samples[part]

    def rows(self, part: tuple[str, str]) -> Models:
        """Return the rows of a segment, or their counts if rows are not kept.

        Raises
        ------
        InputError
            If no row is of that part.
        """
        if part not in self.parts:
            raise InputError(f"{part[0]} {part[1]}", expected="rows of both classes", got="none")
        if part not in self._known:
            self._known[part] = self.parts[part]()
        return self._known[part]


class Session:
    """Models of one or several data sources, and their rows and counts for the page.

    Parameters
    ----------
    sources : sequence of DataSource
    context : Context, optional
    title : str
    """

    def __init__(self, sources: Sequence[DataSource], *, context: Context | None = None, title: str = "") -> None:
        self.sources, self.context = list(sources), Context.given(context)
        self.title = title or ", ".join(each.name for each in sources if each.name) or "rocscope"
        self._kept: dict[tuple[str, str | None, str | None], CountedRows] = {}
        self._answers: dict[tuple[str, RowSelection], Any] = {}
        self._lock = Lock()

    @property
    def seconds(self) -> float:
        """How long a condition may take: held rows are filtered in seconds, files of billions of rows in minutes."""
        return SECONDS if all(source.held for source in self.sources) else 20 * SECONDS

    @cached_property
    def columns(self) -> list[str]:
        """By which rows can be split: the columns of the only source."""
        return self.sources[0].columns if len(self.sources) == 1 else []

    def prepare(self, token: CancelToken) -> None:
        """Load the compiler in advance if it will be needed, which takes as long as reading ten million rows."""
        if any(source.size is not None and source.size >= kernels.SMALL for source in self.sources):
            token()
            kernels.ranks.count_levels(np.zeros(1, np.uint32))

    def outlines(self, asked: RowSelection, token: CancelToken) -> list[ModelOutline]:
        """Return what the page shows first of some rows."""
        return self.cached("outlines", asked, lambda: self._outlines(asked, token))

    def cached(self, what: str, asked: RowSelection, find: Callable[[], Any]) -> Any:
        """Return a cached answer, or compute it."""
        with self._lock:
            known = self._answers.get((what, asked))
        if known is None:
            known = find()
            with self._lock:
                self._answers = dict([*self._answers.items(), ((what, asked), known)][-_MOST_ANSWERS:])
        return known

    def _outlines(self, asked: RowSelection, token: CancelToken) -> list[ModelOutline]:
        most = MOST_POINTS if asked.whole else POINTS
        samples = self._samples(asked, token)

        def drawn(model: str) -> ModelOutline:
            token()
            counts = samples[model].counts
            return outline(model, counts, most=most, bins=counts.n <= MOST_DETAILED)

        return in_threads(drawn, samples)

    def counts(self, asked: RowSelection, token: CancelToken) -> dict[str, ThresholdCounts]:
        """Return the counts of every model on some rows."""
        found: dict[str, ThresholdCounts] = {}
        for name, sample in self._samples(asked, token).items():
            token()
            sample.counts.require_both_classes(name)
            found[name] = sample.counts
        return found

    def _samples(self, asked: RowSelection, token: CancelToken) -> dict[str, Sample]:
        part = (asked.kind, asked.name)
        with self._limited(asked, token):
            return {
                self.name_of(source, name): each
                for source in self.sources
                for name, each in self._counted(source, asked, token).samples(part).items()
            }

    def rows(
        self, asked: RowSelection, model: str, token: CancelToken, column: str | None = None
    ) -> tuple[Predictions, str]:
        """Return the rows of a model and its name there; groups are those of a column, if named.

        Raises
        ------
        InputError
            If rows are not held, or there is no such model.
        """
        part = (asked.kind, asked.name)
        for source in self.sources:
            own = next((name for name in source.models if self.name_of(source, name) == model), None)
            if own is None:
                continue
            if not source.held:
                raise InputError("rows", expected="rows that memory holds", got="a file that was only counted")
            with self._limited(asked, token):
                if column is not None:
                    with_groups = replace(source, options=source.options | {"groups": column})
                    found = _held(with_groups, asked, token).rows(part)
                else:
                    found = self._counted(source, asked, token).rows(part)
            assert isinstance(found, Predictions)
            return found, own
        raise InputError("model", expected="one that is shown", got=repr(model))

    def data(self, asked: RowSelection, token: CancelToken) -> list[Models]:
        """Return the rows, or counts, of each source."""
        part = (asked.kind, asked.name)
        with self._limited(asked, token):
            return [self._counted(source, asked, token).rows(part) for source in self.sources]

    def parts(self, by: str | None, token: CancelToken) -> tuple[list[tuple[str, str]], list[str]]:
        """Return all views of the rows, and what was left out."""
        asked = RowSelection(by=by)
        with self._limited(asked, token):
            found = self._counted(self.sources[0], asked, token)
        return list(found.parts), found.warnings

    def name_of(self, source: DataSource, model: str) -> str:
        """Return the name of a model beside those of other sources."""
        if len(self.sources) == 1:
            return model
        return source.name if len(source.models) == 1 else f"{source.name}: {model}"

    def _counted(self, source: DataSource, asked: RowSelection, token: CancelToken) -> CountedRows:
        key = (source.name, asked.where, asked.by)
        with self._lock:
            known = self._kept.get(key)
        if known is None:
            token()
            known = (_held if source.held else _streamed)(source, asked, token)
            token()
            with self._lock:
                self._kept[key] = known
                while len(self._kept) > _KEPT * len(self.sources):
                    del self._kept[next(iter(self._kept))]
        return known

    def _limited(self, asked: RowSelection, token: CancelToken) -> AbstractContextManager[None]:
        """Return what stops a condition that takes too long, or that nobody waits for any more."""
        return token.limited(self.seconds if asked.where else inf)


def _held(source: DataSource, asked: RowSelection, token: CancelToken) -> CountedRows:
    preds = source.rows(asked.where, asked.by)
    token()
    require_segments(preds, f"segment {asked.by or source.by!r}")
    slices = Slices(Context())
    parts: dict[tuple[str, str], Any] = {ALL: lambda: preds}

    def taken(mask: Any) -> Callable[[], Predictions]:
        return lambda: preds.select(mask)

    for kind, name, mask in parts_of(preds, slices):
        hits = preds.y_true[mask].sum()
        if slices.shows(kind, name, hits, mask.sum() - hits):
            parts[kind, name] = taken(mask)
    return CountedRows(parts, slices.warnings)


def _streamed(source: DataSource, asked: RowSelection, token: CancelToken) -> CountedRows:
    parts: dict[tuple[str, str], Any] = {ALL: lambda: source.counts(asked.where, None, token)}
    warnings = ["Rows are counted, not held: there are no paired tests, and no lists of rows."]
    slices = Slices(Context())
    if asked.by is not None:
        for name, counted in parts_of_counts(counted_by_segment(source.counts(asked.where, asked.by, token)), slices):
            parts["segment", name] = counted
    return CountedRows(parts, warnings + slices.warnings)
