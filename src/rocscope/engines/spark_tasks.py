"""Tasks that run in Spark's Python workers: sort rows into runs, split runs at the borders of ranges, and count ranges.

A *run* contains the sorted levels of up to a million rows. A level is a distinct score with its numbers of positives
and negatives. A *group* is one model in one segment. Tasks send facts about invalid data to the driver, which raises
the errors.

Executors import this module without the other engines. Order of the file: the formats, the three tasks `rank_rows`,
`cut_runs` and `bin_ranges`, and the packing of rows.
"""

import pickle
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from rocscope._base.arrays import Array, Booleans
from rocscope.core import Levels, ThresholdCounts
from rocscope.core.ranking import Ranking, collapse, rank
from rocscope.engines import columns
from rocscope.errors import InputError, ScoreError, WeightError
from rocscope.geometry.hull import upper_corners
from rocscope.ranges.binned import BinnedCounts

Batches = Iterable[pa.RecordBatch]

_INT, _LONG, _BINARY = pa.int32(), pa.int64(), pa.binary()
_LEVELS = {"score": _BINARY, "pos": _BINARY, "neg": _BINARY}

RUN = {"model": _INT, "n_pos": _LONG, "n_neg": _LONG, "levels": _LONG, "sample": _BINARY, **_LEVELS, "facts": _BINARY}
"""Columns of a run. If there are segments, the first column is the segment."""
PIECE = {"place": _INT, "group": _INT, "range": _INT, **_LEVELS}
"""Columns of a piece, the part of a run in one range of scores."""
BINS = {"group": _INT, "bins": _BINARY}
"""Columns of a range after counting."""


@dataclass
class Facts:
    """Facts about the rows of a partition, which the driver needs for checks.

    Attributes
    ----------
    bad : dict
        Number of missing or infinite values of each column.
    negative : int
        Number of negative weights.
    labels : dict
        A few distinct labels.
    weight : float
        Sum of the weights. It is a float, so that it cannot overflow.
    errors : list of InputError
        Errors of values that cannot be converted. The messages begin with the name of the column on the workers.
    """

    rows: int = 0
    dropped: int = 0
    bad: Counter[str] = field(default_factory=Counter)
    labels: list[Any] = field(default_factory=list)
    negative: int = 0
    weight: float = 0.0
    errors: list[InputError] = field(default_factory=list)

    def add(self, other: "Facts") -> None:
        """Add the facts about other rows."""
        self.rows += other.rows
        self.dropped += other.dropped
        self.bad.update(other.bad)
        self.labels += [label for label in other.labels if label not in self.labels]
        self.negative += other.negative
        self.weight += other.weight
        self.errors += other.errors


@dataclass(frozen=True)
class Layout:
    """Columns of the rows on the workers: `label`, `score0` and so on, and optionally `weight` and `segment`.

    Attributes
    ----------
    dtypes : sequence of str
        NumPy type of the scores of each model.
    """

    dtypes: Sequence[str]
    weighted: bool
    segment: pa.DataType | None
    pos_label: Any
    drop: bool
    rows_per_run: int = 2**20


@dataclass(frozen=True)
class Group:
    """Ranges of scores of one model in one segment, and the partitions that count the ranges.

    Attributes
    ----------
    dtype : type
        Type of the scores.
    borders : array
        Increasing scores that separate the ranges. A range contains its lower border but not its upper border.
    places : array
        Partition that counts each range. There is one more range than borders.
    n_pos, n_neg : int
        Total number of positives and total number of negatives.
    most_levels : int
        Largest number of levels of a range that is returned without bins.
    most_bins : int
        Approximate number of bins of all ranges together, not counting bins that the hull needs.
    """

    number: int
    dtype: str
    borders: Array
    places: Array
    n_pos: int
    n_neg: int
    most_levels: int
    most_bins: int


# ---- First task: sort rows into runs ----

_MOST_SAMPLED = 256  # number of sampled scores of a run, from which ranges are derived
_LEVELS_PER_SAMPLE = 64  # distinct scores per sampled score
_MOST_LABELS = 8  # number of distinct labels in a message


@dataclass(frozen=True)
class _Rows:
    """Complete rows as arrays. `segment` contains indices into `segments`."""

    positive: Array
    scores: list[Array]
    weight: Array | None
    segment: Array | None
    segments: pa.Array


def rank_rows(batches: Batches, layout: Layout) -> Iterator[pa.RecordBatch]:
    """Sort rows into runs and yield the runs. Finally, yield the facts about the rows."""
    facts = Facts()
    for table in _tables(batches, layout.rows_per_run):
        rows = _read(table, layout, facts)
        if rows is not None:
            for runs in _together(_runs(rows)):
                yield _run_batch(layout, rows.segments, runs)
    none = pa.nulls(1, layout.segment or pa.null())
    yield _run_batch(layout, none, [(0, -1, 0, 0, 0, b"", b"", b"", b"", pickle.dumps(facts))])


def _tables(batches: Batches, size: int) -> Iterator[pa.Table]:
    """Combine batches into tables of at least `size` rows."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= size:
            yield pa.Table.from_batches(waiting)
            waiting, rows = [], 0
    if rows:
        yield pa.Table.from_batches(waiting)


def _read(table: pa.Table, layout: Layout, facts: Facts) -> _Rows | None:
    """Return the complete rows. Return None if no row is complete, or if the driver will raise an error."""
    score_names = [f"score{number}" for number in range(len(layout.dtypes))]
    try:
        # Rows have no numbers, because their order is not determined.
        by_name = {"label": columns.labels(table["label"], "label", first_row=None)}
        for name, dtype in zip(score_names, layout.dtypes, strict=True):
            kind = pa.from_numpy_dtype(np.dtype(dtype))
            by_name[name] = columns.numbers(table[name], name, ScoreError, kind=kind, first_row=None)
        if layout.weighted:
            by_name["weight"] = columns.numbers(table["weight"], "weight", WeightError)
    except InputError as error:
        facts.errors.append(error)
        return None
    missing = {name: column.missing for name, column in by_name.items() if column.missing is not None}
    segments = None
    if layout.segment is not None:
        # Spark may send text of Arrow's large type, so it is cast first.
        segments = table["segment"].cast(layout.segment).combine_chunks().dictionary_encode()
        if segments.null_count:
            missing["segment"] = segments.is_null().to_numpy(zero_copy_only=False)
    facts.rows += table.num_rows
    facts.bad.update({name: int(rows.sum()) for name, rows in missing.items()})
    complete = None
    if missing:
        complete = ~np.logical_or.reduce(list(missing.values()))
        facts.dropped += complete.size - int(complete.sum())
        if not layout.drop or not complete.any():
            return None
        by_name = {name: column.keep(complete) for name, column in by_name.items()}
    weight = None
    if layout.weighted:
        weight = by_name["weight"].values.astype(np.int64)
        facts.negative += int((weight < 0).sum())
        facts.weight += float(weight.sum(dtype=np.float64))
    segment = None
    if segments is not None:
        indices = segments.indices.fill_null(0).to_numpy(zero_copy_only=False)
        segment = indices if complete is None else indices[complete]
    positive = _positive(by_name["label"], layout.pos_label, facts)
    scores = [by_name[name].as_scores() for name in score_names]
    return _Rows(positive, scores, weight, segment, pa.nulls(1) if segments is None else segments.dictionary)


def _positive(label: columns.Column, pos_label: Any, facts: Facts) -> Booleans:
    """Return a mask of the rows with the positive label (1 by default), and record the distinct labels."""
    rest = label.values
    while rest.size and len(facts.labels) < _MOST_LABELS:
        value = rest[0]
        name = value.item() if label.classes is None else label.names[value]
        if name not in facts.labels:
            facts.labels.append(name)
        rest = rest[rest != value]
    if label.classes is None:
        wanted = columns.parsed_label(pos_label, label.values.dtype)
        return np.asarray(label.values == (1 if wanted is None else wanted), dtype=np.bool_)
    is_positive = np.array([name == pos_label for name in label.names], dtype=np.bool_)
    return is_positive[label.values]


def _runs(rows: _Rows) -> Iterator[tuple[Any, ...]]:
    """Yield a run for each segment and model: the index of the segment, followed by the columns in `RUN`."""
    for position, chosen in _rows_by_segment(rows):
        positive = rows.positive[chosen]
        weight = None if rows.weight is None else rows.weight[chosen]
        if weight is not None and not (weight > 0).any():
            continue
        for model, scores in enumerate(rows.scores):
            yield position, *_run(model, rank(positive, scores[chosen], weight))


def _rows_by_segment(rows: _Rows) -> Iterator[tuple[int, Any]]:
    """Yield the index of each segment, and its rows."""
    if rows.segment is None:
        yield 0, slice(None)
        return
    order = np.argsort(rows.segment, kind="stable")
    positions, starts = np.unique(rows.segment[order], return_index=True)
    yield from zip(positions.tolist(), np.split(order, starts[1:]), strict=True)


def _run(model: int, ranking: Ranking) -> tuple[Any, ...]:
    """Return the columns in `RUN` for the ranking of one model."""
    levels = ranking.levels()
    n_pos, n_neg = ranking.totals()
    size = levels.threshold.size
    number = min(_MOST_SAMPLED, size // _LEVELS_PER_SAMPLE + 1)
    # A sampled score lies in the middle of the levels that it represents.
    sampled = ((np.arange(number) + 0.5) * size / number).astype(np.intp)
    sample = levels.threshold[sampled].tobytes()
    return model, n_pos, n_neg, size, sample, *_packed(levels), None


def _run_batch(layout: Layout, segments: pa.Array, runs: list[tuple[Any, ...]]) -> pa.RecordBatch:
    batch = _batch(RUN, [run[1:] for run in runs])
    if layout.segment is None:
        return batch
    positions = pa.array([run[0] for run in runs], pa.int64())
    return pa.RecordBatch.from_arrays([segments.take(positions), *batch.columns], ["segment", *RUN])


# ---- Second task: split runs by score range ----


def cut_runs(batches: Batches, groups: Mapping[Hashable, Mapping[int, Group]]) -> Iterator[pa.RecordBatch]:
    """Split runs at the borders of ranges. `groups` is a mapping from segment to the groups of its models."""

    def pieces() -> Iterator[tuple[Any, ...]]:
        for batch in batches:
            for run in batch.to_pylist():
                if run["model"] >= 0:  # the others hold facts
                    yield from _pieces(groups[run.get("segment")][run["model"]], run)

    for rows in _together(pieces()):
        yield _batch(PIECE, rows)


def _pieces(group: Group, run: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the columns in `PIECE` for each range in which a run has levels."""
    threshold, pos, neg = _unpacked(group.dtype, run)
    below = np.searchsorted(threshold[::-1], group.borders)
    ends = np.concatenate([[0], below, [threshold.size]])
    for number in np.flatnonzero(np.diff(ends)).tolist():
        part = slice(threshold.size - ends[number + 1], threshold.size - ends[number])
        packed = _packed(Levels(threshold[part], pos[part], neg[part]))
        yield int(group.places[number]), group.number, number, *packed


# ---- Third task: count ranges ----


def bin_ranges(batches: Batches, groups: Sequence[Group]) -> Iterator[pa.RecordBatch]:
    """Merge the pieces of each range, and combine their levels into bins."""
    pieces: dict[tuple[int, int], list[tuple[Array, Array, Array]]] = {}
    for batch in batches:
        for piece in batch.to_pylist():
            levels = _unpacked(groups[piece["group"]].dtype, piece)
            pieces.setdefault((piece["group"], piece["range"]), []).append(levels)

    def bins() -> Iterator[tuple[int, bytes]]:
        for (group, _), parts in pieces.items():
            yield group, pickle.dumps(_binned(_merged(parts), groups[group]))

    for rows in _together(bins()):
        yield _batch(BINS, rows)


def _merged(parts: list[tuple[Array, Array, Array]]) -> Levels:
    """Merge several parts of levels. The levels of each part are sorted."""
    threshold = np.concatenate([part[0] for part in parts])
    pos = np.concatenate([part[1] for part in parts]).astype(np.int64, copy=False)
    neg = np.concatenate([part[2] for part in parts]).astype(np.int64, copy=False)
    order = np.argsort(threshold, kind="stable")[::-1]  # a stable sort merges sorted parts in linear time
    return collapse(threshold[order], pos[order], neg[order])


def _binned(levels: Levels, group: Group) -> BinnedCounts:
    """Combine levels into bins that are evenly spaced along the ROC curve. No vertex of the hull is inside a bin."""
    exact = BinnedCounts.from_counts(ThresholdCounts.from_ranking(levels))
    if levels.threshold.size <= group.most_levels:
        return exact
    tp, fp = levels.cumulative()
    # The curve from (0, 0) to (1, 1) has length 2 if measured along the axes.
    along = tp / max(group.n_pos, 1) + fp / max(group.n_neg, 1)
    cell = np.floor(along * (group.most_bins / 2))
    evenly = np.flatnonzero(np.diff(cell)) + 1
    starts = np.union1d(upper_corners(tp, fp), evenly)
    return exact.merge(starts[starts < levels.threshold.size])


# ---- How rows are packed ----

_BYTES_PER_BATCH = 1 << 20  # bytes of pieces that are sent between workers in one batch: a megabyte
_BYTES_PER_ROW = 64  # approximate bytes of a row, in addition to its pieces


def _together(rows: Iterable[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    """Combine rows into batches. One batch for each segment would take longer than the counting."""
    waiting: list[tuple[Any, ...]] = []
    size = 0
    for row in rows:
        waiting.append(row)
        size += _BYTES_PER_ROW + sum(len(value) for value in row if isinstance(value, bytes))
        if size >= _BYTES_PER_BATCH:
            yield waiting
            waiting, size = [], 0
    if waiting:
        yield waiting


def _batch(types: Mapping[str, pa.DataType], rows: list[tuple[Any, ...]]) -> pa.RecordBatch:
    values = zip(*rows, strict=True)
    arrays = [pa.array(column, kind) for column, kind in zip(values, types.values(), strict=True)]
    return pa.RecordBatch.from_arrays(arrays, list(types))


def _packed(levels: Levels) -> tuple[bytes, bytes, bytes]:
    """Return scores, positives and negatives as bytes. Counts have the smallest type that is large enough."""
    return levels.threshold.tobytes(), _narrow(levels.pos).tobytes(), _narrow(levels.neg).tobytes()


def _narrow(counts: Array) -> Array:
    return counts.astype(np.min_scalar_type(counts.max()))


def _unpacked(dtype: str, row: Mapping[str, Any]) -> tuple[Array, Array, Array]:
    """Return scores, positives and negatives from their bytes."""
    threshold = np.frombuffer(row["score"], dtype)
    pos = np.frombuffer(row["pos"], f"u{len(row['pos']) // threshold.size}")
    neg = np.frombuffer(row["neg"], f"u{len(row['neg']) // threshold.size}")
    return threshold, pos, neg
