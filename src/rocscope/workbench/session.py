"""RequestQueue: compute requests in two threads, and cancel those that newer requests replace."""
# MERGED-DOC: """DataSource: rows that the workbench reads again for each filter, with `rocscope.read` or
# `read_counts`."""
# MERGED-DOC: """Session: the models and rows that the workbench page shows, read or counted on demand and cached."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from os import PathLike, fspath
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any, Protocol

import numpy as np

from rocscope import kernels
from rocscope._base.arrays import in_threads
from rocscope.core.context import Context
from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import Predictions
from rocscope.engines.formats import FileLayout, rows_of_files
from rocscope.engines.opening import open_source
from rocscope.engines.reading import read, read_counts
from rocscope.engines.row_buffers import memory_limit
from rocscope.engines.tables import ParquetFiles, interruptible, require_condition
from rocscope.errors import EngineError, InputError
from rocscope.report.model import (
    MOST_DETAILED,
    MOST_POINTS,
    POINTS,
    ModelOutline,
    Slices,
    outline,
    parts_of,
    parts_of_counts,
    require_segments,
)
from rocscope.sample import Models, Sample, Samples, samples_of
from rocscope.segments.by_segment import counted_by_segment

_BETWEEN = 0.02
"""Seconds between two looks at the clock: too few to be felt, too many to take time."""


class SupersededError(Exception):
    """Raised in a job that a newer request has replaced, or that nobody waits for."""


@dataclass(frozen=True)
class CancelToken:
    """Cancel one request: its job calls the token now and then, which raises once the request is cancelled."""

    _cancelled: Event = field(default_factory=Event)

    def __call__(self, _done: int = 0, _total: int | None = None) -> None:
        """Raise SupersededError where the token is over; the form is that of `progress=`."""
        if self._cancelled.is_set():
            raise SupersededError

    def cancel(self) -> None:
        """End the token."""
        self._cancelled.set()

    @contextmanager
    def limited(self, seconds: float) -> Iterator[None]:
        """Interrupt the SQL of what is done in here when the token is over, or after some seconds.

        Raises
        ------
        EngineError
            If the time was over.
        """
        done, late = Event(), Event()
        with interruptible() as interrupt:

            def watch() -> None:
                end = monotonic() + seconds
                while not done.wait(_BETWEEN):  # again and again: a query that has not begun yet hears nothing
                    if self._cancelled.is_set() or monotonic() > end:
                        late.set()
                        with suppress(Exception):  # of a connection that was closed meanwhile
                            interrupt()

            watching = Thread(target=watch, name="rocscope-workbench-watch", daemon=True)
            watching.start()
            try:
                yield
            except EngineError:
                if not late.is_set():
                    raise
                self()
                hint = "narrow the condition down, or filter the file before"
                raise EngineError("where", expected=f"an answer within {seconds:g} s", got="none", hint=hint) from None
            finally:
                done.set()
                watching.join()


class Job(Protocol):
    """What is to be done in a token."""

    def __call__(self, token: CancelToken) -> Any:
        """Do it, and ask the token on the way."""
        ...


class RequestQueue:
    """Two threads, one for counts that are shown and one for other questions, and the newest request of each lane."""

    def __init__(self) -> None:
        self._threads = {aside: ThreadPoolExecutor(1, "rocscope-workbench") for aside in (False, True)}
        self._newest: dict[str, CancelToken] = {}
        self._running: dict[int, CancelToken] = {}
        self._lock = Lock()
        self._ended = False

    def begin(self, job: Job, *, lane: str = "", aside: bool = False) -> "Future[Any]":
        """Do a job; one that has a lane ends the token of the one before it there."""
        token = CancelToken()
        with self._lock:
            if lane in self._newest:
                self._newest[lane].cancel()
            if lane:
                self._newest[lane] = token
            self._running[id(token)] = token
            if self._ended:
                token.cancel()
            return self._threads[aside].submit(self._take, token, job, lane)

    def _take(self, token: CancelToken, job: Job, lane: str) -> Any:
        try:
            token()
            return job(token)
        finally:
            with self._lock:
                del self._running[id(token)]
                if self._newest.get(lane) is token:
                    del self._newest[lane]

    def end(self) -> None:
        """Cancel all requests, and those that begin from now on."""
        with self._lock:
            self._ended = True
            for token in self._running.values():
                token.cancel()

    def close(self) -> None:
        """Cancel all requests, and end the threads."""
        self.end()
        for threads in self._threads.values():
            threads.shutdown(wait=True, cancel_futures=True)


SHARE_OF_MEMORY = 5
"""Rows are kept in memory if they take at most this share of the limit, since filtering copies them."""


@dataclass(frozen=True)
class DataSource:
    """What is read, and the roles of its columns.

    Attributes
    ----------
    name : str
        What its models are called after, where there are several sources.
    source : file, frame or columns
    options : dict
        The arguments of `rocscope.read` that stay the same.
    where : str or None
        A condition on all rows.
    columns : list of str
        By which the rows can be split.
    held : bool
        Whether rows are held in memory between questions, or only counted.
    size : int or None
        About how many rows there are, where files tell.
    """

    name: str
    source: Any
    options: dict[str, Any]
    where: str | None = None
    columns: list[str] = field(default_factory=list)
    held: bool = True
    size: int | None = None

    @classmethod
    def of(
        cls, name: str, source: Any, *, where: str | None = None, memory: Any = None, **options: Any
    ) -> "DataSource":
        """Return a data source of anything that `rocscope.read` takes, or of Predictions.

        Raises
        ------
        InputError
            If it can be read only once, as standard input.
        """
        if isinstance(source, Predictions):
            return _of_predictions(name, source, where, options)
        if source == "-" or callable(getattr(source, "read", None)):
            raise InputError("source", expected="a file or a frame: it is read at every question", got="a stream")
        layout = FileLayout(*(options.get(each) for each in FileLayout.__dataclass_fields__))
        size = rows_of_files(source, format=layout.format)
        with open_source(source, layout) as opened:
            made = cls(name or _name_of(source), source, options, where, list(opened.columns), size=size)
            if memory is not None or not made._fits():
                return replace(made, held=False)
            return replace(made, source=opened.held()) if isinstance(opened, ParquetFiles) else made

    def _fits(self) -> bool:
        return self.size is None or self.size * 8 * (len(self.models) + 2) * SHARE_OF_MEMORY <= memory_limit(None)

    @property
    def by(self) -> str | None:
        """Default segment column."""
        return self.options.get("segment")

    def filters(self, where: str | None) -> str | None:
        """Combine the condition on all rows with another one."""
        if not (self.where and where):
            return where or self.where
        require_condition(where)
        return f"({self.where}\n) AND ({where}\n)"

    def rows(self, where: str | None, by: str | None) -> Predictions:
        """Return the rows that satisfy a condition, with the segment column."""
        options: dict[str, Any] = self.options | ({"segment": by} if by else {})
        return read(self.source, where=self.filters(where), **options)

    def counts(self, where: str | None, by: str | None, token: CancelToken) -> Mapping[str, Any]:
        """Return the counts of these rows without keeping them, by model, and by segment if split."""
        options = {name: value for name, value in self.options.items() if name not in ("fold", "groups", "segment")}
        found: Any = read_counts(self.source, where=self.filters(where), segment=by, progress=token, **options)
        return {self.models[0]: found} if by is not None and len(self.models) == 1 else found

    @property
    def models(self) -> list[str]:
        """Names of the models."""
        scores = self.options.get("scores")
        return [scores] if isinstance(scores, str) else list(scores or ())


def _of_predictions(name: str, preds: Predictions, where: str | None, options: dict[str, Any]) -> DataSource:
    for option, value in options.items():
        if value is not None and value != "error":
            raise InputError(option, expected="none with Predictions, which know their columns", got=repr(value))
    columns: dict[str, Any] = dict(preds.columns)

    def keep(wanted: str, column: Any) -> str | None:
        if column is None:
            return None
        while wanted in columns:
            wanted += "_"
        columns[wanted] = column
        return wanted

    scores = {model: keep(model, column) for model, column in preds.scores.items()}
    roles = {
        "label": keep("y_true", preds.y_true),
        "weight": keep("sample_weight", preds.sample_weight),
        "fold": keep("fold", preds.fold),
        "groups": keep("groups", preds.groups),
        "segment": keep("segment", preds.segment),
    }
    return DataSource(name, columns, {"scores": scores} | roles, where, list(columns))


def _name_of(source: Any) -> str:
    return Path(fspath(source)).name if isinstance(source, str | PathLike) else ""


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
