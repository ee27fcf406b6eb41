"""Tasks in Spark's Python workers: sort rows into runs, split runs by score range, count ranges.

A *run* is the levels of up to a million rows, sorted; a *group* is one model in one segment. Between the steps travel
a few rows of bytes. Nothing is raised here for what the data hold: the facts travel along, and the driver speaks.
"""

import pickle
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rocscope._base.arrays import Array
from rocscope.core.counts import ThresholdCounts
from rocscope.core.ranking import Levels, Ranking, collapse, rank
from rocscope.engines import columns
from rocscope.errors import ScoreError, WeightError
from rocscope.geometry import upper_corners
from rocscope.ranges.binned import BinnedCounts

Batches = Iterable[pa.RecordBatch]

_MOST_SAMPLED = 256  # scores of a run, from which ranges are found
_LEVELS_PER_SAMPLE = 64  # distinct scores for each that is sampled
_MOST_LABELS = 8  # different labels that a message names
_BYTES_A_BATCH = 1 << 20  # of rows that hold pieces: a megabyte goes from worker to worker at a time
_BYTES_A_ROW = 64  # about, beside its pieces

_INT, _LONG, _BINARY = pa.int32(), pa.int64(), pa.binary()
_LEVELS = {"score": _BINARY, "pos": _BINARY, "neg": _BINARY}

RUN = {"model": _INT, "n_pos": _LONG, "n_neg": _LONG, "levels": _LONG, "sample": _BINARY, **_LEVELS, "facts": _BINARY}
"""Columns of a run, after that of its segment if there are segments."""
PIECE = {"place": _INT, "group": _INT, "range": _INT, **_LEVELS}
"""Columns of the part of a run in one score range."""
BINS = {"group": _INT, "bins": _BINARY}
"""Columns of a counted range."""


@dataclass
class Facts:
    """Facts about one partition's rows, besides counts.

    Attributes
    ----------
    bad : how many rows of each column are missing or infinite
    negative : how many weights are
    labels : the different ones, the first few
    weight : sum of the weights, as a float that cannot overflow
    """

    rows: int = 0
    dropped: int = 0
    bad: Counter[str] = field(default_factory=Counter)
    labels: list[Any] = field(default_factory=list)
    negative: int = 0
    weight: float = 0.0

    def add(self, other: "Facts") -> None:
        """Add the facts of other rows."""
        self.rows += other.rows
        self.dropped += other.dropped
        self.bad.update(other.bad)
        self.labels += [label for label in other.labels if label not in self.labels]
        self.negative += other.negative
        self.weight += other.weight


@dataclass(frozen=True)
class Layout:
    """How to read the rows: columns `label`, `score0` and so on, optionally `weight` and `segment`."""

    models: int
    weighted: bool
    segment: pa.DataType | None
    pos_label: Any
    drop: bool
    rows_per_run: int = 2**20


@dataclass(frozen=True)
class Group:
    """How the levels of one model in one segment are distributed.

    Attributes
    ----------
    dtype : of the scores
    borders : increasing scores; a range holds those below one, from the one before it on
    places : the partition of each range, one more than there are borders
    n_pos, n_neg : totals
    most_levels : up to how many are kept one by one in a range
    most_bins : about how many bins the whole is made of otherwise, besides those that the hull needs
    """

    number: int
    dtype: str
    borders: Array
    places: Array
    n_pos: int
    n_neg: int
    most_levels: int
    most_bins: int


@dataclass(frozen=True)
class _Rows:
    """Complete rows as arrays; `segment` indexes `segments`."""

    positive: Array
    scores: list[Array]
    weight: Array | None
    segment: Array | None
    segments: pa.Array


def rank_rows(batches: Batches, layout: Layout) -> Iterator[pa.RecordBatch]:
    """Convert rows to runs, and yield the facts about them at the end."""
    facts = Facts()
    for table in _chunks(batches, layout.rows_per_run):
        rows = _read(table, layout, facts)
        if rows is not None:
            yield from (_run_batch(layout, rows.segments, runs) for runs in _together(_runs(rows)))
    none = pa.nulls(1, layout.segment or pa.null())
    yield _run_batch(layout, none, [(0, -1, 0, 0, 0, b"", b"", b"", b"", pickle.dumps(facts))])


def _chunks(batches: Batches, size: int) -> Iterator[pa.Table]:
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows >= size:
            yield pa.Table.from_batches(held)
            held, rows = [], 0
    if rows:
        yield pa.Table.from_batches(held)


def _read(table: pa.Table, layout: Layout, facts: Facts) -> _Rows | None:
    """Return the complete rows, or None if there are none or they will be refused."""
    label = columns.labels(table["label"], "label")
    scores = {f"score{i}": columns.numbers(table[f"score{i}"], "score", ScoreError) for i in range(layout.models)}
    found = {"label": label, **scores}
    if layout.weighted:
        found["weight"] = columns.numbers(table["weight"], "weight", WeightError)
    missing = {name: column.missing for name, column in found.items() if column.missing is not None}
    segments = None if layout.segment is None else _encoded(table["segment"], layout.segment)
    if segments is not None and segments.null_count:
        missing["segment"] = segments.is_null().to_numpy(zero_copy_only=False)
    facts.rows += table.num_rows
    facts.bad.update({name: int(rows.sum()) for name, rows in missing.items()})
    complete = None
    if missing:
        complete = ~np.logical_or.reduce(list(missing.values()))
        facts.dropped += complete.size - int(complete.sum())
        if not layout.drop or not complete.any():
            return None
        found = {name: column.keep(complete) for name, column in found.items()}
    weight = found["weight"].values.astype(np.int64) if layout.weighted else None
    if weight is not None:
        facts.negative += int((weight < 0).sum())
        facts.weight += float(weight.sum(dtype=np.float64))
    segment = None
    if segments is not None:
        indices = segments.indices.fill_null(0).to_numpy(zero_copy_only=False)
        segment = indices if complete is None else indices[complete]
    return _Rows(
        _positive(found["label"], layout.pos_label, facts),
        [found[name].as_scores() for name in scores],
        weight,
        segment,
        pa.nulls(1) if segments is None else segments.dictionary,
    )


def _encoded(segment: pa.ChunkedArray, kind: pa.DataType) -> pa.DictionaryArray:
    return segment.cast(kind).combine_chunks().dictionary_encode()  # Spark may send text of the large type


def _positive(label: columns.Column, pos_label: Any, facts: Facts) -> NDArray[np.bool_]:
    """Return where the label is the positive one (1 by default), and record which labels occur."""
    rest = label.values
    while rest.size and len(facts.labels) < _MOST_LABELS:
        value = rest[0]
        name = value.item() if label.classes is None else label.names[value]
        if name not in facts.labels:
            facts.labels.append(name)
        rest = rest[rest != value]
    if label.classes is None:
        wanted = columns.written(pos_label, label.values.dtype) if isinstance(pos_label, str) else pos_label
        return np.asarray(label.values == (1 if wanted is None else wanted), dtype=np.bool_)
    is_positive = np.array([name == pos_label for name in label.names], dtype=np.bool_)
    return is_positive[label.values]


def _runs(rows: _Rows) -> Iterator[tuple[Any, ...]]:
    """Yield a segment's entry and the columns named by `RUN`."""
    for entry, chosen in _by_segment(rows):
        positive = rows.positive[chosen]
        weight = None if rows.weight is None else rows.weight[chosen]
        if weight is not None and not (weight > 0).any():
            continue
        for model, scores in enumerate(rows.scores):
            yield entry, *_run(model, rank(positive, scores[chosen], weight))


def _by_segment(rows: _Rows) -> Iterator[tuple[int, Any]]:
    """Yield each segment's entry and its rows."""
    if rows.segment is None:
        yield 0, slice(None)
        return
    order = np.argsort(rows.segment, kind="stable")
    entries, starts = np.unique(rows.segment[order], return_index=True)
    yield from zip(entries.tolist(), np.split(order, starts[1:]), strict=True)


def _run(model: int, ranking: Ranking) -> tuple[Any, ...]:
    levels = ranking.levels()
    n_pos, n_neg = ranking.totals()
    size = levels.threshold.size
    number = min(_MOST_SAMPLED, size // _LEVELS_PER_SAMPLE + 1)
    sampled = ((np.arange(number) + 0.5) * size / number).astype(np.intp)  # each amid the levels that it stands for
    sample = levels.threshold[sampled].tobytes()
    return model, n_pos, n_neg, size, sample, *_packed(levels), None


def _together(rows: Iterable[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    """Combine rows into one batch; one batch per segment would be slower than counting."""
    held: list[tuple[Any, ...]] = []
    size = 0
    for row in rows:
        held.append(row)
        size += _BYTES_A_ROW + sum(len(value) for value in row if isinstance(value, bytes))
        if size >= _BYTES_A_BATCH:
            yield held
            held, size = [], 0
    if held:
        yield held


def _run_batch(layout: Layout, segments: pa.Array, runs: list[tuple[Any, ...]]) -> pa.RecordBatch:
    arrays = _arrays(RUN, [run[1:] for run in runs])
    names = list(RUN)
    if layout.segment is not None:
        arrays.insert(0, segments.take(pa.array([run[0] for run in runs], pa.int64())))
        names.insert(0, "segment")
    return pa.RecordBatch.from_arrays(arrays, names)


def _arrays(types: Mapping[str, pa.DataType], rows: list[tuple[Any, ...]]) -> list[pa.Array]:
    return [pa.array(column, kind) for column, kind in zip(zip(*rows, strict=True), types.values(), strict=True)]


def _packed(levels: Levels) -> tuple[bytes, bytes, bytes]:
    """Return levels as bytes, with counts in the narrowest sufficient type."""
    return levels.threshold.tobytes(), _narrow(levels.pos).tobytes(), _narrow(levels.neg).tobytes()


def _narrow(counts: Array) -> Array:
    return counts.astype(np.min_scalar_type(counts.max()))


def _unpack(dtype: str, score: bytes, *counts: bytes) -> tuple[Array, Array, Array]:
    threshold = np.frombuffer(score, dtype)
    pos, neg = (np.frombuffer(column, f"u{len(column) // threshold.size}") for column in counts)
    return threshold, pos, neg


def cut_runs(batches: Batches, groups: Mapping[Hashable, Mapping[int, Group]]) -> Iterator[pa.RecordBatch]:
    """Split runs at the borders of their group's ranges; `groups` are the models of each segment."""
    runs = (run for batch in batches for run in batch.to_pylist() if run["model"] >= 0)
    pieces = (piece for run in runs for piece in _pieces(groups[run.get("segment")][run["model"]], run))
    yield from (_batch(PIECE, some) for some in _together(pieces))


def _pieces(group: Group, run: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    threshold, pos, neg = _unpack(group.dtype, run["score"], run["pos"], run["neg"])
    below = np.searchsorted(threshold[::-1], group.borders)
    ends = np.concatenate([[0], below, [threshold.size]])
    for i in np.flatnonzero(np.diff(ends)).tolist():
        part = slice(threshold.size - ends[i + 1], threshold.size - ends[i])
        packed = _packed(Levels(threshold[part], pos[part], neg[part]))
        yield int(group.places[i]), group.number, i, *packed


def bin_ranges(batches: Batches, groups: Sequence[Group]) -> Iterator[pa.RecordBatch]:
    """Merge the pieces of each range, and bin the result."""
    pieces: dict[tuple[int, int], list[tuple[Array, Array, Array]]] = {}
    for batch in batches:
        for piece in batch.to_pylist():
            group = groups[piece["group"]]
            unpacked = _unpack(group.dtype, piece["score"], piece["pos"], piece["neg"])
            pieces.setdefault((group.number, piece["range"]), []).append(unpacked)
    binned = ((number, pickle.dumps(_binned(_merged(parts), groups[number]))) for (number, _), parts in pieces.items())
    yield from (_batch(BINS, some) for some in _together(binned))


def _merged(parts: list[tuple[Array, Array, Array]]) -> Levels:
    threshold = np.concatenate([part[0] for part in parts])
    pos, neg = (np.concatenate([part[i] for part in parts]).astype(np.int64, copy=False) for i in (1, 2))
    order = np.argsort(threshold, kind="stable")[::-1]  # merges what is sorted in parts
    return collapse(threshold[order], pos[order], neg[order])


def _binned(levels: Levels, group: Group) -> BinnedCounts:
    """Bin levels evenly along the ROC curve, without a hull vertex inside a bin."""
    exact = BinnedCounts.from_counts(ThresholdCounts.from_ranking(levels))
    if levels.threshold.size <= group.most_levels:
        return exact
    tp, fp = levels.cumulative()
    along = tp / max(group.n_pos, 1) + fp / max(group.n_neg, 1)
    cell = np.floor(along * (group.most_bins / 2))
    evenly = np.flatnonzero(np.diff(cell)) + 1
    starts = np.union1d(upper_corners(tp, fp), evenly)
    return exact.merge(starts[starts < levels.threshold.size])


def _batch(types: Mapping[str, pa.DataType], rows: list[tuple[Any, ...]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(_arrays(types, rows), list(types))
