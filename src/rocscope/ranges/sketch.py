"""CountsSketch: numbers of positives and negatives by score in fixed memory, with exact bounds on curves and the AUC.

Rows are counted in cells, which are ranges of the score. Each cell results from repeated halving of the range of all
scores, so two cells are either nested or disjoint. When the memory is full, the cells with the least influence on the
ROC curve are merged. `CountsSketch.binned` returns the cells as `BinnedCounts`. The file also defines the byte format
of a sketch.
"""

import hashlib
import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NoReturn, cast

import numpy as np

from rocscope import kernels
from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.json_format import Fields, parse, require_version
from rocscope._base.radix import KeyPart, decode, encode
from rocscope.core import Result, jsonable, number
from rocscope.core.ranking import SortedKeys, rank, running_sums
from rocscope.errors import InputError, LabelError, ScoreError, ShapeError, StoredError
from rocscope.ranges.binned import BinnedCounts, group_sums, product

Coded = tuple[Array, Array, Array]
"""Codes of distinct scores (64 ordered bits) in decreasing order, with numbers of positives and of negatives."""


@dataclass(frozen=True)
class Cells:
    """Cells of the score and their counts. Two cells are either nested or disjoint.

    A row is counted in only one cell. Scores are represented by codes, which are unsigned integers in the order of the
    scores.

    Attributes
    ----------
    start : array of c
        The smallest code that belongs to each cell, in increasing order. Of cells with equal starts, the largest is
        first.
    shift : array of c
        Number of low bits of the code that vary within each cell; 0 for a cell of a single score.
    pos, neg : arrays of c
        Numbers of positives and negatives counted in each cell.
    low, high : arrays of c
        The lowest and the highest code counted in each cell.
    """

    start: Array
    shift: Array
    pos: Array
    neg: Array
    low: Array
    high: Array

    @classmethod
    def of_levels(cls, code: Array, pos: Array, neg: Array) -> "Cells":
        """Return one cell for each distinct score, given the codes in increasing order and their counts."""
        return cls(code, np.zeros(code.size, np.uint8), pos, neg, code, code)

    def columns(self) -> list[Array]:
        """Return the arrays of all attributes."""
        return [getattr(self, field.name) for field in fields(self)]

    def __len__(self) -> int:
        return self.start.size

    def head(self, size: int) -> "Cells":
        """Return a view of the first `size` cells."""
        return Cells(*(column[:size] for column in self.columns()))

    def copy(self) -> "Cells":
        """Return a copy of the cells."""
        return Cells(*(column.copy() for column in self.columns()))

    def __add__(self, other: "Cells") -> "Cells":
        if not (len(self) and len(other)):
            return self.head(len(self)) if len(self) else other.head(len(other))
        start, shift, pos, neg, low, high = map(np.concatenate, zip(self.columns(), other.columns(), strict=True))
        order = np.lexsort((-shift.astype(np.int64), start))
        start, shift = start[order], shift[order]
        first = np.flatnonzero(np.concatenate([[True], (np.diff(start) > 0) | (shift[1:] != shift[:-1])]))
        pos, neg = (np.add.reduceat(column[order], first) for column in (pos, neg))
        low, high = np.minimum.reduceat(low[order], first), np.maximum.reduceat(high[order], first)
        return Cells(start[first], shift[first], pos, neg, low, high)

    def insert(self, levels: "Cells") -> "Cells":
        """Return these cells together with further cells, which must not be among them."""
        at = np.searchsorted(self.start, levels.start, side="right")
        return Cells(*(np.insert(m, at, t) for m, t in zip(self.columns(), levels.columns(), strict=True)))


_COLUMNS = ("<u8", "u1", "<i8", "<i8", "<u8", "<u8")  # types of the columns of cells, in memory and in a file
CELL_BYTES = sum(np.dtype(kind).itemsize for kind in _COLUMNS)


def ranked_levels(positive: Array, scores: Array, weight: Array | None) -> Coded:
    """Return the codes of the distinct scores in decreasing order, with numbers of positives and of negatives."""
    ranking = rank(positive, scores, weight)
    if isinstance(ranking, SortedKeys):
        return levels_of_keys(ranking.parts)
    levels = ranking.levels()
    return encode(levels.threshold).astype(np.uint64), levels.pos.copy(), levels.neg.copy()


def levels_of_keys(parts: Sequence[KeyPart]) -> Coded:
    """Return the codes of the distinct scores with their counts, from parts of sorted keys by decreasing score."""
    size = sum(part.size for part in parts)
    code, pos, neg = (np.empty(size, kind) for kind in ("u8", "i8", "i8"))
    size = 0
    for part in parts:
        size = kernels.cells.count_levels(part.load(), np.uint64(part.high_bit), size, code, pos, neg)
    return code[:size], pos[:size], neg[:size]


_ROW_BYTES = 20  # bytes for a row while it is counted: score, label, index and memory for sorting
_ASIDE = 8  # scores without a cell are collected until their number exceeds the capacity divided by this number
_APART = 4  # number of batches into which scores are divided as long as each score gets its own cell
_FILLED = 0.7  # share of the capacity in use after a merge; with a smaller share, merges are less frequent
_GROWTH = 4  # a cell counts new rows up to this multiple of the mass `_light`; further rows go to cells inside it
_HEAVIER = 1.25  # factor by which `_light` is increased until the cells fit into the memory
_MOST_MASS = 4  # all rows have a mass of 2, so `_light` is below 2·1.25; a file with a larger value is damaged
_FACTS = ("memory", "pos_label", "n_pos", "n_neg")
_DTYPES = ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")


class CountsSketch(Result):
    """Count positives and negatives by score in fixed memory, one batch of rows after another.

    The ROC curve is exact if the memory is large enough for all distinct scores. Otherwise, bounds on the curve and on
    the AUC are computed.

    Parameters
    ----------
    memory : float
        Memory for the sketch in bytes. During an update, about three times this memory is used.
    pos_label : label, optional
        The positive label. Required if the labels are not 0/1, −1/1 or false/true.

    Attributes
    ----------
    n_pos, n_neg : int
        Numbers of positives and negatives counted so far.

    Raises
    ------
    InputError
        If `memory` is below 4096 bytes.

    Notes
    -----
    If the memory is not large enough for all distinct scores, adjacent scores are counted in one cell, a range of the
    score. Cells result from repeated halving of the range of all scores. Therefore cells of two sketches are either
    nested or disjoint, and ``a + b`` is the sketch of the rows of both. Cells with the smallest shares of positives and
    negatives are merged. If a cell contains too many rows, new rows are counted in smaller cells inside it. A score
    with many rows has its own cell, so its point on the curve is exact.

    Counting takes about 30 ns per row. `binned` returns disjoint ranges with the lowest and the highest score of each
    range. The curve is exact at the lower end of each range.

    Examples
    --------
    >>> sketch = CountsSketch()
    >>> sketch.update([1, 1, 0], [0.9, 0.6, 0.4])
    >>> sketch.update([1, 0], [0.4, 0.2])
    >>> sketch
    CountsSketch(n_pos=3, n_neg=2, auc=0.916667)
    >>> (sketch + sketch).binned().pos
    array([2, 2, 2, 0])
    """

    def __init__(self, memory: float = 16e6, *, pos_label: Any = None) -> None:
        self.memory = int(check.check_number(memory, "memory", "at least 4096 bytes", least=4096))
        self.pos_label = pos_label
        self.dtype: np.dtype[Any] | None = None
        self._cells = Cells.of_levels(*(np.empty(0, kind) for kind in ("u8", "i8", "i8")))
        # The mass of a cell is its share of the positives plus its share of the negatives. Merged cells have a mass of
        # at most `_light`, which is 0 as long as each distinct score has its own cell.
        self._light = 0.0
        self._pending: list[tuple[Array, Array, Array | None]] = []
        self._aside: list[Cells] = []
        self.n_pos = self.n_neg = 0
        self._placed = np.zeros(2, np.int64)  # numbers of positives and negatives, without pending rows

    @property
    def capacity(self) -> int:
        """Largest number of cells, and largest number of rows that are counted at once."""
        return self.memory // (CELL_BYTES + _ROW_BYTES)

    @property
    def n(self) -> int:
        """Number of rows counted so far."""
        return self.n_pos + self.n_neg

    def update(self, y_true: Any, y_score: Any, sample_weight: Any = None) -> None:
        """Count a batch of rows.

        Parameters
        ----------
        y_true : array of n
            Labels.
        y_score : array of n
            Scores. All batches must have the same numeric type.
        sample_weight : array of n whole numbers, optional
            Number of times that each row is counted. By default, once.

        Raises
        ------
        ShapeError, LabelError, ScoreError, WeightError
            If the batch is invalid. In this case, no row of the batch is counted.
        """
        check.check_same_index(y_true=y_true, y_score=y_score, sample_weight=sample_weight)
        positive = check.check_labels(y_true, self.pos_label)
        scores = check.check_scores(y_score, positive.size)
        weight = check.check_weights(sample_weight, positive.size)
        check.require_whole_weights(weight)
        self._require_type(scores.dtype)
        self._add_totals(*_totals(positive, weight))
        self.dtype = scores.dtype
        rows = self.capacity
        if scores.size < rows:
            self._pending.append((positive.copy(), scores.copy(), weight if weight is None else weight.copy()))
            if sum(batch[0].size for batch in self._pending) >= rows:
                self._count_pending()
            return
        for first in range(0, scores.size, rows):
            part = slice(first, first + rows)
            self._count(positive[part], scores[part], None if weight is None else weight[part])

    def _require_type(self, dtype: np.dtype[Any]) -> None:
        if self.dtype is not None and self.dtype != dtype:
            hint = f"convert the scores to {self.dtype}"
            raise ScoreError("y_score", expected=f"scores of type {self.dtype}", got=f"type {dtype}", hint=hint)

    def _add_totals(self, pos: int, neg: int) -> None:
        check.check_total("rows", np.array([self.n_pos, self.n_neg]), np.array([pos, neg]))
        self.n_pos, self.n_neg = self.n_pos + pos, self.n_neg + neg

    def _flush(self) -> None:
        """Count all pending rows into cells."""
        if self._pending:
            self._count_pending()
        self._settle()

    def _count_pending(self) -> None:
        positive, scores, weights = zip(*self._pending, strict=True)
        self._pending = []
        weight = None
        if any(part is not None for part in weights):
            parts = []
            for rows, part in zip(positive, weights, strict=True):
                parts.append(np.ones(rows.size, np.int64) if part is None else part)
            weight = np.concatenate(parts)
        self._count(np.concatenate(positive), np.concatenate(scores), weight)

    def _count(self, positive: Array, scores: Array, weight: Array | None) -> None:
        if weight is not None and not weight.any():
            return
        self._place(ranked_levels(positive, scores, weight))

    def add_levels(self, dtype: np.dtype[Any], ranked: Coded) -> None:
        """Count a batch of rows that is already sorted.

        Parameters
        ----------
        dtype : dtype
            Type of the scores.
        ranked : Coded
            Codes of the distinct scores in decreasing order, with numbers of positives and of negatives.

        Raises
        ------
        ScoreError
            If the type of the scores differs from the type of earlier rows.
        """
        self._require_type(dtype)
        self._add_totals(int(ranked[1].sum()), int(ranked[2].sum()))
        self.dtype = dtype
        self._place(ranked)

    def _place(self, levels: Coded) -> None:
        """Count distinct scores into cells. As long as each score gets its own cell, this is done in small portions."""
        stride = 1 if self._light else max(_APART * levels[0].size // self.capacity, 1)
        for first in range(stride):
            some = (np.ascontiguousarray(column[first::stride]) for column in levels)
            self._place_some((*some,) if stride > 1 else levels)

    def _place_some(self, levels: tuple[Array, ...]) -> None:
        self._placed += (levels[1].sum(), levels[2].sum())
        cells, (per_pos, per_neg) = self._cells, self._shares()
        absorb = self._compiled(kernels.cells.absorb)
        left = absorb(*cells.columns(), *levels, per_pos, per_neg, _GROWTH * self._light)
        if left:
            # `absorb` moves scores without a cell to the end of the arrays, in order of decreasing score.
            self._aside.append(Cells.of_levels(*(column[column.size - left :][::-1].copy() for column in levels)))
            if sum(map(len, self._aside)) > self.capacity // _ASIDE:
                self._settle()

    def _settle(self) -> None:
        """Make a new cell for each collected score that no cell contains."""
        if self._aside:
            first, *others = self._aside
            self._aside = []
            self._cells = self._cells.insert(sum(others, first))
        self._fit()

    def _compiled(self, kernel: kernels.Kernel) -> Any:
        """Return the compiled function. For few rows, return its Python version, to avoid loading the compiler."""
        return kernel if self.n >= kernels.SMALL else kernel.python

    def _shares(self) -> tuple[float, float]:
        """Return the mass of one positive and of one negative: 1 divided by the number of counted rows of the class."""
        pos, neg = np.maximum(self._placed, 1).tolist()
        return 1 / pos, 1 / neg

    def _fit(self) -> None:
        """If there are too many cells, merge cells until at most 70% of the capacity is used."""
        if len(self._cells) <= self.capacity:
            return
        most = int(_FILLED * self.capacity)
        self._light = max(self._light, 1 / self.capacity)
        coarsen = self._compiled(kernels.cells.coarsen)
        while True:
            cells = self._cells
            # Running sums, whose differences give the mass of several adjacent cells.
            sums = map(running_sums, (cells.pos, cells.neg))
            size = coarsen(*cells.columns(), *sums, *self._shares(), self._light, _GROWTH * self._light)
            self._cells = cells.head(size)
            if size <= most:
                break
            self._light *= _HEAVIER
        self._cells = self._cells.copy()  # a view would keep the memory of all previous cells

    def __add__(self, other: object) -> "CountsSketch":
        if not isinstance(other, type(self)):
            return NotImplemented
        both = CountsSketch(max(self.memory, other.memory), pos_label=_common_label(self, other))
        both.dtype = other.dtype if self.dtype is None else self.dtype
        for sketch in (self, other):
            if sketch.dtype is not None:
                both._require_type(sketch.dtype)
            sketch._flush()
            both._add_totals(sketch.n_pos, sketch.n_neg)
            both._placed += sketch._placed
        both._cells = self._cells + other._cells
        both._light = max(self._light, other._light)
        both._fit()
        return both

    def binned(self) -> BinnedCounts:
        """Return the sketch as BinnedCounts: disjoint ranges of the score with their counts.

        Raises
        ------
        ShapeError
            If no row has been counted.

        Notes
        -----
        Cells with overlapping scores are merged into one range. The order of two rows from disjoint cells of a range is
        known, so the bounds on concordant pairs are narrower than for the range as a whole.
        """
        if self.dtype is None or not self.n:
            raise ShapeError("sketch", expected="at least one row", got="0 rows", hint="call update first")
        self._flush()
        return _binned(self._cells, self.dtype, 2 * self.n_pos * self.n_neg)

    def to_bytes(self) -> bytes:
        """Return the sketch as bytes that any computer can read with `from_bytes`.

        Raises
        ------
        InputError
            If the positive label is not a string, a number or a boolean.

        Examples
        --------
        >>> sketch = CountsSketch()
        >>> sketch.update([1, 0], [0.9, 0.2])
        >>> CountsSketch.from_bytes(sketch.to_bytes()).n
        2
        """
        self._flush()
        facts = {name: getattr(self, name) for name in _FACTS} | {"light": self._light}
        return to_checked_bytes(
            facts | {"dtype": None if self.dtype is None else self.dtype.str[1:]}, self._cells.columns()
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> "CountsSketch":
        """Restore a sketch from the bytes that `to_bytes` returned.

        Parameters
        ----------
        data : bytes
            Result of `to_bytes`.

        Raises
        ------
        StoredError
            If the bytes are not a sketch, have another version of the format, are incomplete, or were changed.

        Examples
        --------
        >>> sketch = CountsSketch()
        >>> sketch.update([1, 0], [0.9, 0.2])
        >>> CountsSketch.from_bytes(sketch.to_bytes())
        CountsSketch(n_pos=1, n_neg=1, auc=1)
        """
        facts, columns = from_checked_bytes(data)
        label = facts.content.get("pos_label")
        if isinstance(label, dict | list):
            facts.refuse("pos_label", "a string, a number or a boolean")
        sketch = facts.make("memory", cls, facts.whole("memory"), pos_label=label)
        sketch.dtype = _dtype(facts)
        _require_scores(facts, sketch.dtype, *columns[4:])
        sketch.n_pos = facts.whole("n_pos")
        sketch.n_neg = facts.whole("n_neg")
        sketch._light = facts.number("light", 0, _MOST_MASS)
        sketch._placed += (sketch.n_pos, sketch.n_neg)
        sketch._cells = Cells(*columns)
        return sketch

    def to_dict(self) -> dict[str, Any]:
        """Return a summary as a dictionary for JSON. It does not contain the counts; see `to_bytes`.

        Examples
        --------
        >>> sketch = CountsSketch()
        >>> sketch.update([1, 0], [0.9, 0.2])
        >>> summary = sketch.to_dict()
        >>> summary["n"], summary["scores"], summary["auc_bounds"]
        (2, 'float64', [1.0, 1.0])
        """
        facts = {name: getattr(self, name) for name in ("n", "n_pos", "n_neg", "memory")}
        bounds = self.binned().auc_bounds if self.n_pos and self.n_neg else None
        return jsonable(facts | {"scores": str(self.dtype), "auc_bounds": bounds})

    def __repr__(self) -> str:
        area = self.binned().area_fact if self.n else ""
        return f"CountsSketch(n_pos={number(self.n_pos)}, n_neg={number(self.n_neg)}{area})"


def _common_label(first: CountsSketch, second: CountsSketch) -> Any:
    """Return the common positive label of two sketches. An empty sketch without a label matches any label."""
    labels = [sketch.pos_label for sketch in (first, second) if sketch.n or sketch.pos_label is not None]
    # Without a positive label the labels are {0, 1}, {-1, 1} or {False, True}, and 1 or True is positive.
    if len({1 if label is None else label for label in labels}) > 1:
        raise LabelError("pos_label", expected="the same label in both sketches", got=check.listing(labels))
    return next((label for label in labels if label is not None), None)


def _dtype(facts: Fields) -> np.dtype[Any] | None:
    name = facts.content.get("dtype", "")
    if name is None or name in _DTYPES:
        return None if name is None else np.dtype(name)
    return facts.refuse("dtype", "the name of a numeric type")


def _require_scores(facts: Fields, dtype: np.dtype[Any] | None, low: Array, high: Array) -> None:
    """Raise StoredError if the ends of the cells are not finite scores of the given type."""
    if not low.size:
        return
    if dtype is None:
        facts.refuse("dtype", "the type of the scores")
    limits = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    first, last = encode(np.array([limits.min, limits.max], dtype)).tolist()
    minus_zero = (1 << (8 * dtype.itemsize - 1)) - 1 if dtype.kind == "f" else None
    ends = np.concatenate([low, high])
    if not (first <= int(ends.min()) and int(ends.max()) <= last) or (
        minus_zero is not None and (ends == minus_zero).any()
    ):
        facts.refuse("dtype", f"finite scores of type {dtype} in all cells", "other scores")


def _totals(positive: Array, weight: Array | None) -> tuple[int, int]:
    if weight is None:
        pos = int(np.count_nonzero(positive))
        return pos, positive.size - pos
    return int(weight[positive].sum()), int(weight[~positive].sum())


def _binned(cells: Cells, dtype: np.dtype[Any], most: int) -> BinnedCounts:
    """Return BinnedCounts with one bin for each run of overlapping cells.

    Parameters
    ----------
    cells : Cells
        Cells with their counts.
    dtype : dtype
        Type of the scores.
    most : int
        Upper bound on twice the number of pairs, from which the type for exact sums is chosen.
    """
    order = np.argsort(cells.low, kind="stable")
    low, high, pos, neg = (column[order] for column in (cells.low, cells.high, cells.pos, cells.neg))
    reach = np.maximum.accumulate(high)
    first = np.flatnonzero(np.concatenate([[True], low[1:] > reach[:-1]]))
    ends = low[first], reach[np.append(first[1:], low.size) - 1]
    wins = _wins(low, high, pos, neg, first, most)
    bins = [np.add.reduceat(column, first) for column in (pos, neg)]
    columns = (*(decode(end[::-1], dtype) for end in ends), *(b[::-1] for b in bins))
    return BinnedCounts(*columns, wins=tuple(bound[::-1] for bound in wins))


def _wins(low: Array, high: Array, pos: Array, neg: Array, first: Array, most: int) -> tuple[Array, Array]:
    """Return the lower and upper bounds of `BinnedCounts.wins` for each bin.

    Parameters
    ----------
    low, high, pos, neg : arrays of c
        Lowest and highest code of each cell, and its counts, in order of increasing `low`.
    first : array
        Index of the first cell of each bin.
    most : int
        Upper bound on twice the number of pairs.
    """
    inside = np.zeros(low.size, np.intp)
    inside[first[1:]] = 1
    group = np.cumsum(inside)
    negatives_below = np.append(0, np.cumsum(neg))
    by_high = np.argsort(high, kind="stable")
    surely_below = np.append(0, np.cumsum(neg[by_high]))[np.searchsorted(high[by_high], low, side="left")]
    before = negatives_below[first][group]
    until = negatives_below[np.append(first[1:], low.size)][group]
    surely_above = until - negatives_below[np.searchsorted(low, high, side="right")]
    own = product(pos, np.where(low == high, neg, 0))
    least = 2 * product(pos, surely_below - before) + own
    largest = 2 * product(pos, until - before - surely_above) - own
    return group_sums(least, first, most), group_sums(largest, first, most)


MAGIC = b"rocscope.sketch\n"
VERSION = 1
_HEAD = struct.Struct("<16sIQ")
_CHECKSUM = 32  # bytes of SHA-256
_WIDEST = 63  # largest width of a cell in bits; scores have 64 bits
_HINT = "count the rows again"


def to_checked_bytes(facts: dict[str, Any], columns: Sequence[Array]) -> bytes:
    """Return the bytes of a sketch: header, attributes, arrays of the cells, and checksum."""
    label = facts["pos_label"]
    plain = jsonable(label)
    if not (plain is None or isinstance(plain, str | int | float)):
        got = repr(label)
        raise InputError("pos_label", expected="a string, a number or a boolean", got=got)
    header = json.dumps(jsonable(facts) | {"cells": int(columns[0].size)}, sort_keys=True).encode()
    parts = [_HEAD.pack(MAGIC, VERSION, len(header)), header]
    parts += [column.astype(kind).tobytes() for column, kind in zip(columns, _COLUMNS, strict=True)]
    content = b"".join(parts)
    return content + hashlib.sha256(content).digest()


def from_checked_bytes(data: Any) -> tuple[Fields, list[Array]]:
    """Return the attributes and the arrays of the cells from `to_checked_bytes`; raise StoredError for others."""
    content = bytes(cast(bytes, data)) if isinstance(data, bytes | bytearray | memoryview) else b""
    if len(content) < _HEAD.size or not content.startswith(MAGIC):
        _refuse("the bytes of a sketch", "other data")
    _, version, length = _HEAD.unpack_from(content)
    require_version(version, VERSION, "sketch", "a sketch", _HINT)
    content, checksum = content[:-_CHECKSUM], content[-_CHECKSUM:]
    if hashlib.sha256(content).digest() != checksum:
        _refuse("the bytes as stored", "incomplete or changed bytes")
    begin, columns = _HEAD.size + length, list[Array]()
    facts = parse(content[_HEAD.size : begin], "sketch", "a sketch", _HINT)
    cells, rows = facts.whole("cells"), [facts.whole("n_pos"), facts.whole("n_neg")]
    if begin + cells * CELL_BYTES != len(content):
        _refuse(f"{begin + cells * CELL_BYTES} bytes of content", f"{len(content)} bytes")
    for kind in _COLUMNS:
        columns.append(np.frombuffer(content, kind, cells, begin).astype(np.dtype(kind).newbyteorder("=")))
        begin += columns[-1].nbytes
    if not _are_cells(*columns) or [sum(column.tolist()) for column in columns[2:4]] != rows:
        _refuse("valid cells in order", "invalid or unordered cells")
    return facts, columns


def _are_cells(start: Array, shift: Array, pos: Array, neg: Array, low: Array, high: Array) -> bool:
    """Return True if cells are in order, are nested or disjoint, and have valid counts, as compiled code requires."""
    if (shift > _WIDEST).any():
        return False
    inside = (np.uint64(1) << shift.astype(np.uint64)) - np.uint64(1)
    whole = not (start & inside).any() and (low <= high).all() and (pos >= 0).all() and (neg >= 0).all()
    within = (low >= start).all() and (high <= start + inside).all()
    later = (start[1:] > start[:-1]) | ((start[1:] == start[:-1]) & (shift[1:] < shift[:-1]))
    return bool(whole and within and later.all())


def _refuse(expected: str, got: str) -> NoReturn:
    raise StoredError("sketch", expected=expected, got=got, hint=_HINT)
