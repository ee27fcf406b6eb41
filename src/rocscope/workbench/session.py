"""Data of the workbench page: requests that can be cancelled, data sources, and cached rows.

`RequestQueue` computes requests in two threads. A `CancelToken` cancels a request if a newer request replaces it.
`DataSource` reads or counts the rows of a source for each filter. `Session` contains the models and rows that the page
shows. Rows are read with `rocscope.read`. If they do not fit in memory, they are counted with `rocscope.read_counts`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from math import inf
from os import PathLike, fspath
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any

import numpy as np

import rocscope as rs
from rocscope import kernels
from rocscope._base.arrays import in_threads
from rocscope.core import Context, Predictions, ThresholdCounts
from rocscope.engines import formats
from rocscope.engines.opening import open_source
from rocscope.engines.row_buffers import memory_limit
from rocscope.engines.tables import ParquetFiles, interruptible, require_condition
from rocscope.errors import EngineError, InputError
from rocscope.report import model as report
from rocscope.report.model import ModelOutline, Slices
from rocscope.sample import Models, Sample, Samples, samples_of
from rocscope.segments.by_segment import counted_by_segment

# Seconds between two checks for cancellation: too short to be noticed, and long enough to cost almost no time.
_WATCH_INTERVAL = 0.02


class SupersededError(Exception):
    """Error in the computation of a request that was cancelled or replaced by a newer request."""


@dataclass(frozen=True)
class CancelToken:
    """Object that cancels a request. The computation calls it regularly. After cancellation, calls raise an error."""

    _cancelled: Event = field(default_factory=Event)

    def __call__(self, _done: int = 0, _total: int | None = None) -> None:
        """Raise SupersededError if the request was cancelled. The token can be passed as `progress=`."""
        if self._cancelled.is_set():
            raise SupersededError

    def cancel(self) -> None:
        """Cancel the request."""
        self._cancelled.set()

    @contextmanager
    def limited(self, seconds: float) -> Iterator[None]:
        """Interrupt SQL queries within a block if the request is cancelled, or after the given number of seconds.

        Raises
        ------
        EngineError
            If the time limit was exceeded.
        """
        done = Event()
        interrupted = Event()
        with interruptible() as interrupt:

            def watch() -> None:
                end = monotonic() + seconds
                # Interrupt repeatedly, because an interrupt does not affect a query that has not started yet.
                while not done.wait(_WATCH_INTERVAL):
                    if self._cancelled.is_set() or monotonic() > end:
                        interrupted.set()
                        # The connection may have been closed meanwhile.
                        with suppress(Exception):
                            interrupt()

            watching = Thread(target=watch, name="rocscope-workbench-watch", daemon=True)
            watching.start()
            try:
                yield
            except EngineError:
                if not interrupted.is_set():
                    raise
                self()
                hint = "use a simpler condition, or filter the file first"
                expected = f"a condition that is evaluated within {seconds:g} s"
                raise EngineError("where", expected=expected, got="a slower condition", hint=hint) from None
            finally:
                done.set()
                watching.join()


class RequestQueue:
    """Computes requests in two threads: one for counts, and one for slower requests.

    Requests of the same lane replace each other: a new request cancels the previous request of its lane.
    """

    def __init__(self) -> None:
        self._threads = {aside: ThreadPoolExecutor(1, "rocscope-workbench") for aside in (False, True)}
        self._newest: dict[str, CancelToken] = {}
        self._running: dict[int, CancelToken] = {}
        self._lock = Lock()
        self._ended = False

    def begin(self, job: Callable[[CancelToken], Any], *, lane: str = "", aside: bool = False) -> "Future[Any]":
        """Start a request, and cancel the previous request of the same lane. `aside` selects the second thread."""
        token = CancelToken()
        with self._lock:
            if lane in self._newest:
                self._newest[lane].cancel()
            if lane:
                self._newest[lane] = token
            self._running[id(token)] = token
            if self._ended:
                token.cancel()
            return self._threads[aside].submit(self._run, token, job, lane)

    def _run(self, token: CancelToken, job: Callable[[CancelToken], Any], lane: str) -> Any:
        try:
            token()
            return job(token)
        finally:
            with self._lock:
                del self._running[id(token)]
                if self._newest.get(lane) is token:
                    del self._newest[lane]

    def end(self) -> None:
        """Cancel all current and future requests."""
        with self._lock:
            self._ended = True
            for token in self._running.values():
                token.cancel()

    def close(self) -> None:
        """Cancel all requests, and end the threads."""
        self.end()
        for threads in self._threads.values():
            threads.shutdown(wait=True, cancel_futures=True)


# ---- Data sources ----

SHARE_OF_MEMORY = 5
"""Rows are kept in memory if they need at most the memory limit divided by this number, because filters copy rows."""


# Arguments of `rocscope.read` that `rocscope.read_counts` lacks.
_OF_ROWS = ("fold", "groups", "segment")


@dataclass(frozen=True)
class DataSource:
    """A file or a data frame, and the arguments with which its columns are read.

    Attributes
    ----------
    name : str
        Name of the source. If there are several sources, it is the prefix of the names of its models.
    source : file, data frame or columns
        The data.
    options : dict
        Arguments of `rocscope.read` for all requests.
    where : str or None
        SQL condition that applies to all requests.
    columns : list of str
        Names of the columns by which rows can be split.
    held : bool
        True if rows are kept in memory between requests. False if rows are only counted.
    size : int or None
        Approximate number of rows. None if it is not known.
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
        """Return a data source for Predictions, or for any source of `rocscope.read`.

        Raises
        ------
        InputError
            If the source can be read only once, such as standard input.
        """
        if isinstance(source, Predictions):
            return _of_predictions(name, source, where, options)
        if (isinstance(source, str) and source == "-") or callable(getattr(source, "read", None)):
            raise InputError("source", expected="data that can be read several times", got="a stream")
        names = [option.name for option in fields(formats.FileLayout)]
        layout = formats.FileLayout(**{name: options.get(name) for name in names})
        size = formats.rows_of_files(source, format=layout.format)
        if not name and isinstance(source, str | PathLike):
            name = Path(fspath(source)).name
        with open_source(source, layout) as opened:
            made = cls(name, source, options, where, list(opened.columns), size=size)
            # Eight bytes each for label, weight and every score.
            needed = (size or 0) * 8 * (len(made.models) + 2)
            if memory is not None or needed * SHARE_OF_MEMORY > memory_limit(None):
                return replace(made, held=False)
            # Parquet files are loaded once; other sources are kept unchanged.
            return replace(made, source=opened.held()) if isinstance(opened, ParquetFiles) else made

    @property
    def by(self) -> str | None:
        """Name of the column by which rows are split at first."""
        return self.options.get("segment")

    def filters(self, where: str | None) -> str | None:
        """Return the condition for all requests, combined with the condition of one request."""
        if not (self.where and where):
            return where or self.where
        require_condition(where)
        return f"({self.where}\n) AND ({where}\n)"

    def rows(self, where: str | None, by: str | None) -> Predictions:
        """Return the rows that satisfy a condition, with the column `by` as segments."""
        options: dict[str, Any] = self.options | ({"segment": by} if by else {})
        return rs.read(self.source, where=self.filters(where), **options)

    def counts(self, where: str | None, by: str | None, token: CancelToken) -> Mapping[str, Any]:
        """Return the counts of each model for the rows that satisfy a condition. With `by`, count each segment."""
        options = {name: value for name, value in self.options.items() if name not in _OF_ROWS}
        counts: Any = rs.read_counts(self.source, where=self.filters(where), segment=by, progress=token, **options)
        # Segments of a single model come without a model name.
        return {self.models[0]: counts} if by is not None and len(self.models) == 1 else counts

    @property
    def models(self) -> list[str]:
        """Names of the models."""
        scores = self.options.get("scores")
        return [scores] if isinstance(scores, str) else list(scores or ())


def _of_predictions(name: str, preds: Predictions, where: str | None, options: dict[str, Any]) -> DataSource:
    for option, value in options.items():
        if value not in (None, "error", "auto"):
            expected = "no value with Predictions (they contain all columns)"
            raise InputError(option, expected=expected, got=repr(value))
    columns: dict[str, Any] = dict(preds.columns)

    def add(name: str, column: Any) -> str | None:
        """Add a column under a name that no other column has, and return this name."""
        if column is None:
            return None
        while name in columns:
            name += "_"
        columns[name] = column
        return name

    options = {
        "scores": {model: add(model, column) for model, column in preds.scores.items()},
        "label": add("y_true", preds.y_true),
        "weight": add("sample_weight", preds.sample_weight),
        "weights": preds.weights,
        "fold": add("fold", preds.fold),
        "groups": add("groups", preds.groups),
        "segment": add("segment", preds.segment),
    }
    return DataSource(name, columns, options, where, list(columns))


# ---- The session ----

ALL = ("all", "all rows")
SECONDS = 30
"""Time limit in seconds for a condition on rows in memory. Ten million rows take one second."""
# Number of filters with cached rows: the filter on the page, and one for Python or another tab.
_CACHED_FILTERS = 2
# Number of cached answers, of a few kilobytes each; an earlier view is then available without rows.
_CACHED_ANSWERS = 64


@dataclass(frozen=True)
class RowSelection:
    """Selection of rows: a filter and, if rows are split by a column, one part of the filtered rows."""

    where: str | None = None
    by: str | None = None
    kind: str = ALL[0]
    name: str = ALL[1]

    @property
    def part(self) -> tuple[str, str]:
        """Kind and name of the selected part of the rows."""
        return self.kind, self.name


class FilteredRows:
    """Rows or counts of one source that satisfy a filter, divided into parts.

    Attributes
    ----------
    parts : dict from (kind, name) to function
        For each part, a function that returns its rows or counts.
    warnings : list of str
        Notes on omitted parts.
    """

    def __init__(self, parts: dict[tuple[str, str], Any], warnings: Sequence[str]) -> None:
        self.parts = parts
        self.warnings = list(warnings)
        self._rows: dict[tuple[str, str], Models] = {}
        self._samples: dict[tuple[str, str], Samples] = {}

    def samples(self, part: tuple[str, str]) -> Samples:
        """Return the data of each model. They are sorted only once for all requests."""
        if part not in self._samples:
            self._samples[part] = samples_of(self.rows(part))
        return self._samples[part]

    def rows(self, part: tuple[str, str]) -> Models:
        """Return the rows of a part. Return counts if rows are not kept in memory.

        Raises
        ------
        InputError
            If the part has no rows.
        """
        if part not in self.parts:
            raise InputError(f"{part[0]} {part[1]}", expected="both classes", got="one class or no rows")
        if part not in self._rows:
            self._rows[part] = self.parts[part]()
        return self._rows[part]


class Session:
    """Models and rows that the workbench page shows, from one or several data sources.

    Parameters
    ----------
    sources : sequence of DataSource
        The data.
    context : Context, optional
        Costs and prevalence that the page shows first.
    title : str
        Title of the page. By default, the names of the sources.
    """

    def __init__(self, sources: Sequence[DataSource], *, context: Context | None = None, title: str = "") -> None:
        self.sources = list(sources)
        self.context = Context.given(context)
        names = [source.name for source in sources if source.name]
        self.title = title or ", ".join(names) or "rocscope"
        self._filtered: dict[tuple[str, str | None, str | None], FilteredRows] = {}
        self._answers: dict[tuple[str, RowSelection], Any] = {}
        self._lock = Lock()

    @property
    def seconds(self) -> float:
        """Time limit for a condition in seconds. It is longer if rows are not in memory."""
        return SECONDS if all(source.held for source in self.sources) else 20 * SECONDS

    @cached_property
    def columns(self) -> list[str]:
        """Names of the columns by which rows can be split. Empty if there are several sources."""
        return self.sources[0].columns if len(self.sources) == 1 else []

    def prepare(self, token: CancelToken) -> None:
        """Import the compiler early if it will be needed. The import takes as long as reading ten million rows."""
        if any(source.size is not None and source.size >= kernels.SMALL for source in self.sources):
            token()
            kernels.ranks.count_levels(np.zeros(1, np.uint32))

    def cached(self, what: str, selection: RowSelection, compute: Callable[[], Any]) -> Any:
        """Return the cached answer to a request for a selection of rows. If there is none, compute it."""
        return self._remembered(self._answers, (what, selection), compute, _CACHED_ANSWERS)

    def _remembered(self, results: dict[Any, Any], key: Any, compute: Callable[[], Any], most: int) -> Any:
        """Return a cached result, or compute it without holding the lock. Keep only the `most` newest results."""
        with self._lock:
            result = results.get(key)
        if result is None:
            result = compute()
            with self._lock:
                results[key] = result
                while len(results) > most:
                    del results[next(iter(results))]
        return result

    def outlines(self, selection: RowSelection, token: CancelToken) -> list[ModelOutline]:
        """Return the curves of the models that the page draws first."""

        def compute() -> list[ModelOutline]:
            most = report.MOST_POINTS if selection.part == ALL else report.POINTS
            samples = self._samples(selection, token)

            def draw(model: str) -> ModelOutline:
                token()
                counts = samples[model].counts
                bins = counts.n <= report.MOST_DETAILED
                points = report.MOST_EXACT if len(counts) < report.MOST_EXACT else most
                return report.outline(
                    model, counts, most=points, bins=bins, target_prevalence=self.context.target_prevalence
                )

            return in_threads(draw, samples)

        return self.cached("outlines", selection, compute)

    def counts(self, selection: RowSelection, token: CancelToken) -> dict[str, ThresholdCounts]:
        """Return the counts of each model for a selection of rows."""
        counts: dict[str, ThresholdCounts] = {}
        for name, sample in self._samples(selection, token).items():
            token()
            sample.counts.require_both_classes(name)
            counts[name] = sample.counts
        return counts

    def _samples(self, selection: RowSelection, token: CancelToken) -> dict[str, Sample]:
        samples: dict[str, Sample] = {}
        with self._limited(selection, token):
            for source in self.sources:
                filtered = self._filter(source, selection, token)
                for name, sample in filtered.samples(selection.part).items():
                    samples[self.name_of(source, name)] = sample
        return samples

    def rows(
        self, selection: RowSelection, model: str, token: CancelToken, column: str | None = None
    ) -> tuple[Predictions, str]:
        """Return the selected rows of a model, and the name of the model in these rows.

        `column` is the name of a column to read as groups.

        Raises
        ------
        InputError
            If rows are not kept in memory, or if the model is unknown.
        """
        for source in self.sources:
            for name in source.models:
                if self.name_of(source, name) == model:
                    return self._rows(source, selection, token, column), name
        raise InputError("model", expected="a model that the page shows", got=repr(model))

    def _rows(self, source: DataSource, selection: RowSelection, token: CancelToken, column: str | None) -> Predictions:
        if not source.held:
            raise InputError("rows", expected="rows in memory", got="rows that were only counted")
        with self._limited(selection, token):
            if column is None:
                filtered = self._filter(source, selection, token)
            else:
                with_groups = replace(source, options=source.options | {"groups": column})
                filtered = _read_parts(with_groups, selection, token)
            rows = filtered.rows(selection.part)
        assert isinstance(rows, Predictions)
        return rows

    def data(self, selection: RowSelection, token: CancelToken) -> list[Models]:
        """Return the selected rows or counts of each source."""
        with self._limited(selection, token):
            return [self._filter(source, selection, token).rows(selection.part) for source in self.sources]

    def parts(self, by: str | None, token: CancelToken) -> tuple[list[tuple[str, str]], list[str]]:
        """Return kind and name of all parts of the rows, and notes on omitted parts."""
        selection = RowSelection(by=by)
        with self._limited(selection, token):
            filtered = self._filter(self.sources[0], selection, token)
        return list(filtered.parts), filtered.warnings

    def name_of(self, source: DataSource, model: str) -> str:
        """Return the name of a model. If there are several sources, it begins with the name of the source."""
        if len(self.sources) == 1:
            return model
        return source.name if len(source.models) == 1 else f"{source.name}: {model}"

    def _filter(self, source: DataSource, selection: RowSelection, token: CancelToken) -> FilteredRows:
        """Return the rows of a source that satisfy the filter of a selection. The result is cached."""

        def compute() -> FilteredRows:
            token()
            read_parts = _read_parts if source.held else _count_parts
            filtered = read_parts(source, selection, token)
            token()
            return filtered

        key = (source.name, selection.where, selection.by)
        return self._remembered(self._filtered, key, compute, _CACHED_FILTERS * len(self.sources))

    def _limited(self, selection: RowSelection, token: CancelToken) -> AbstractContextManager[None]:
        """Return a context manager that stops a condition if it is too slow or if its request is cancelled."""
        return token.limited(self.seconds if selection.where else inf)


def _read_parts(source: DataSource, selection: RowSelection, token: CancelToken) -> FilteredRows:
    """Read the rows that satisfy a filter, and divide them into parts."""
    preds = source.rows(selection.where, selection.by)
    token()
    report.require_segments(preds, f"segment {selection.by or source.by!r}")
    slices = Slices(Context())
    parts: dict[tuple[str, str], Any] = {ALL: lambda: preds}
    for kind, name, mask in report.parts_of(preds, slices):
        positives = preds.y_true[mask].sum()
        if slices.shows(kind, name, positives, mask.sum() - positives):
            parts[kind, name] = partial(preds.select, mask)
    return FilteredRows(parts, slices.warnings)


def _count_parts(source: DataSource, selection: RowSelection, token: CancelToken) -> FilteredRows:
    """Count the rows that satisfy a filter. If rows are split by a column, count each segment."""
    parts: dict[tuple[str, str], Any] = {ALL: lambda: source.counts(selection.where, None, token)}
    warnings = ["Rows are counted, not kept in memory: paired tests and lists of rows are not available."]
    slices = Slices(Context())
    if selection.by is not None:
        segments = counted_by_segment(source.counts(selection.where, selection.by, token))
        for name, make_counts in report.parts_of_counts(segments, slices):
            parts["segment", name] = make_counts
    return FilteredRows(parts, warnings + slices.warnings)
