"""External sort: rows that exceed the memory limit are partitioned by score on disk and ranked part by part.

They go to one temporary file that has no name (or loses it at once), so that nothing is left over, however
the process ends. The system frees it with the last reference to the counts, or with the process.
"""
# MERGED-DOC: """Buffers of the streamed rows of one model, which are sorted in parts and ranked at the end.
#
# Few rows stay columns, so that no compiler is loaded for them. Many unweighted rows are keys of one
# integer each, in the arrays of the batches, which are sorted in place; many weighted ones are scores and signed
# weights.
#
# Columns of rows as they come in, kept in few large arrays.
#
# Sorting whole numbers on all cores, in place, however many arrays they came in.
#
# Each array, or piece of a large one, is brought into the same hundreds of parts, by one thread or another. A part
# then
# is put together from all arrays, sorted by digits in a cache, and written back. That reads and writes memory twice,
# whatever the size, asks nothing of the processor, and takes no more room than a part a thread.
# """

import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rocscope import kernels
from rocscope._base.arrays import Array, in_threads, pieces_of
from rocscope._base.atomic_write import temporary_folder
from rocscope._base.radix import KINDS, BucketParts, KeyPart, encode, runs_of_parts, sort_pieces
from rocscope.core.ranking import Block, Ranking, SortedKeys, WeightedRows, key_parts, rank, scan_parts
from rocscope.errors import EngineError

_PARTS = 64  # ranges of the score that rows on disk are parted into at once
_SAMPLES = 64  # scores of a piece, which tell where a range is cut
_LEAST_PART = 1 << 16  # bytes: smaller parts cost a system call each and save no memory


@dataclass(frozen=True)
class Extent:
    """A range of bytes in the file."""

    offset: int
    nbytes: int


class Spill:
    """A temporary file of arrays."""

    def __init__(self) -> None:
        self._folder = temporary_folder()
        self._lock = threading.Lock()
        self._end = 0
        try:
            self._file = tempfile.TemporaryFile(prefix="rocscope-", dir=self._folder, buffering=0)  # noqa: SIM115
        except OSError as error:
            raise self._error(error) from None
        weakref.finalize(self, self._file.close)

    def _error(self, error: OSError) -> EngineError:
        hint = f"{self._end:,} bytes were written; set TMPDIR to a folder with more room, or raise memory="
        return EngineError(f"temporary file in {self._folder}: {error.strerror or error}", hint=hint)

    def write(self, array: Array) -> Extent:
        """Append an array."""
        extent = Extent(self._end, array.nbytes)
        self.rewrite(extent, array)
        self._end += array.nbytes
        return extent

    def rewrite(self, extent: Extent, array: Array) -> None:
        """Overwrite an array of the same size."""
        left = memoryview(np.ascontiguousarray(array).view(np.uint8).data)
        with self._lock:
            try:
                self._file.seek(extent.offset)
                while left:
                    left = left[self._file.write(left) :]
            except OSError as error:
                raise self._error(error) from None

    def read(self, extent: Extent, out: Array) -> None:
        """Read an extent."""
        left = memoryview(out.view(np.uint8).data)
        with self._lock:
            self._file.seek(extent.offset)
            while left:
                done = self._file.readinto(left)
                if not done:
                    raise EngineError(f"temporary file in {self._folder}: it is shorter than what was written to it")
                left = left[done:]


@dataclass
class SpilledPart:
    """Rows with codes from `low` to `high`: columns on disk in pieces, or sums for a single code."""

    low: int
    high: int
    dtypes: tuple[Any, ...]
    pieces: list[tuple[Extent, ...]] = field(default_factory=list)
    pos: Any = 0
    neg: Any = 0

    @property
    def is_level(self) -> bool:
        """Whether all rows have one score, so that counting is enough."""
        return self.low == self.high

    @property
    def nbytes(self) -> int:
        """Size of all columns."""
        return sum(extent.nbytes for piece in self.pieces for extent in piece)

    @property
    def rows(self) -> int:
        """Number of rows on disk."""
        return sum(piece[0].nbytes for piece in self.pieces) // self.dtypes[0].itemsize

    def load(self, spill: Spill) -> list[Array]:
        """Load the columns."""
        columns = [np.empty(self.rows, dtype) for dtype in self.dtypes]
        self._each(spill.read, columns)
        return columns

    def store(self, spill: Spill, columns: list[Array]) -> None:
        """Overwrite the columns with others of the same size."""
        self._each(spill.rewrite, columns)

    def _each(self, use: Callable[[Extent, Array], None], columns: list[Array]) -> None:
        """Iterate over the pieces of the file with their rows of a column."""
        for extents, column in zip(zip(*self.pieces, strict=True), columns, strict=True):
            done = 0
            for extent in extents:
                size = extent.nbytes // column.itemsize
                use(extent, column[done : done + size])
                done += size


class PartitionedRows:
    """Rows partitioned by code.

    What is written must be sorted, and the first column tells the code. Where to part is decided by what is written
    first; a score that is frequent there is a part of its own, which takes no room.
    """

    def __init__(self, spill: Spill, dtypes: tuple[Any, ...], low: int, high: int, cuts: Array | None = None) -> None:
        self.spill = spill
        self._dtypes = dtypes
        self._low, self._high = low, high
        self._parts = [] if cuts is None else self._parts_between(cuts)

    def codes(self, first: Array) -> Array:
        """Return the codes in the first column."""
        return first

    def count(self, columns: list[Array]) -> tuple[Any, Any]:
        """Return the sums of positives and of negatives."""
        positive = columns[1] > 0
        return columns[1][positive].sum(), -columns[1][~positive].sum()

    def sort(self, columns: list[Array]) -> list[Array]:
        """Sort columns by code; the sort is stable."""
        order = np.argsort(columns[0], kind="stable")
        return [column[order] for column in columns]

    def _parts_between(self, cuts: Array) -> list[SpilledPart]:
        """Return parts that begin at given codes; a frequent code occurs twice among them."""
        codes = [int(code) for code in cuts]
        frequent = {code for code, after in pairwise(codes) if code == after}
        starts = {self._low, *codes, *(code + 1 for code in frequent)}
        lows = sorted(code for code in starts if self._low <= code <= self._high)
        highs = [*(low - 1 for low in lows[1:]), self._high]
        return [SpilledPart(low, high, self._dtypes) for low, high in zip(lows, highs, strict=True)]

    def write(self, *columns: Array) -> None:
        """Append sorted rows."""
        codes = self.codes(columns[0])
        if not self._parts:
            self._parts = self._parts_between(codes[np.linspace(0, codes.size - 1, _PARTS).astype(np.intp)])
        starts = np.searchsorted(codes, np.array([part.low for part in self._parts], codes.dtype))
        for part, start, end in zip(self._parts, starts, [*starts[1:], codes.size], strict=True):
            if start == end:
                continue
            piece = [column[start:end] for column in columns]
            if part.is_level:
                pos, neg = self.count(piece)
                part.pos, part.neg = part.pos + pos, part.neg + neg
            else:
                part.pieces.append(tuple(self.spill.write(column) for column in piece))

    def ranked(self, limit: int) -> list[SpilledPart]:
        """Sort the parts on disk and return them by decreasing score; large parts are partitioned first."""
        limit = max(limit, _LEAST_PART)
        parts: list[SpilledPart] = []
        while self._parts:
            part = self._parts.pop()
            if part.nbytes > limit:
                parts += self._parted(part, limit).ranked(limit)
            elif part.pieces:
                part.store(self.spill, self.sort(part.load(self.spill)))
                parts.append(part)
            elif part.is_level and part.pos + part.neg:
                parts.append(part)
        return parts

    def _parted(self, part: SpilledPart, limit: int) -> "PartitionedRows":
        samples = [self._sample(extents[0]) for extents in part.pieces]
        codes = np.sort(self.codes(np.concatenate(samples)))
        cuts = codes[np.linspace(0, codes.size - 1, _PARTS).astype(np.intp)].tolist()
        middle = (part.low + part.high + 1) // 2  # so that parts become smaller whatever the sample is
        parted = type(self)(self.spill, self._dtypes, part.low, part.high, np.array([*cuts, middle], object))
        at_once = max(limit // 4 // sum(dtype.itemsize for dtype in self._dtypes), 1)
        for extents in part.pieces:
            rows = extents[0].nbytes // self._dtypes[0].itemsize
            for start in range(0, rows, at_once):
                size = min(at_once, rows - start)
                piece = tuple(
                    Extent(extent.offset + start * dtype.itemsize, size * dtype.itemsize)
                    for extent, dtype in zip(extents, self._dtypes, strict=True)
                )
                parted.write(*SpilledPart(part.low, part.high, self._dtypes, [piece]).load(self.spill))
        return parted

    def _sample(self, extent: Extent) -> Array:
        dtype = self._dtypes[0]
        rows = extent.nbytes // dtype.itemsize
        out = np.empty(min(_SAMPLES, rows), dtype)
        for i, row in enumerate(np.linspace(0, rows - 1, out.size).astype(np.intp).tolist()):
            self.spill.read(Extent(extent.offset + row * dtype.itemsize, dtype.itemsize), out[i : i + 1])
        return out


class PartitionedKeys(PartitionedRows):
    """Unweighted rows as keys with the label as lowest bit; `high_bit` is the highest bit of all codes."""

    high_bit: Any = 0

    @classmethod
    def like(cls, spill: Spill, parts: Sequence[KeyPart]) -> "PartitionedKeys":
        """Return storage for keys with a distribution like that of given ascending parts."""
        keys = parts[0].pieces[0].dtype
        ends = np.cumsum([part.size for part in parts])
        rows = np.linspace(0, ends[-1] - 1, _PARTS).astype(np.intp)
        inside = np.split(rows, np.searchsorted(rows, ends[:-1]))
        samples = [
            part.load()[chosen - end] for part, chosen, end in zip(parts, inside, ends, strict=True) if chosen.size
        ]
        cuts = np.concatenate(samples) >> keys.type(1)
        parted = cls(spill, (keys,), 0, (1 << (keys.itemsize * 8 - 1)) - 1, cuts)
        parted.high_bit = parts[0].high_bit
        return parted

    def codes(self, first: Array) -> Array:
        """Return the codes without labels."""
        return first >> first.dtype.type(1)

    def count(self, columns: list[Array]) -> tuple[Any, Any]:
        """Return the number of positives and of negatives."""
        keys = columns[0]
        positives = int((keys & keys.dtype.type(1)).sum(dtype=np.int64))
        return positives, keys.size - positives

    def sort(self, columns: list[Array]) -> list[Array]:
        """Sort the keys in place."""
        columns[0].sort()
        return columns


@dataclass(frozen=True)
class _Spilled(Ranking):
    """Levels of parts on disk by decreasing score, one part in memory at a time."""

    dtype: np.dtype[Any]
    parts: list[tuple[Spill, SpilledPart, Any]]
    """Parts, each with its file and the code bits that the file omits."""


class SpilledKeys(_Spilled):
    """Unweighted rows on disk."""

    def blocks(self) -> Iterator[Block]:
        positives = rows = 0
        for spill, part, high_bit in self.parts:
            if part.is_level:
                positives, rows = positives + part.pos, rows + part.pos + part.neg
                code = np.array([part.low], part.dtypes[0]) | high_bit
                yield Block(code, np.array([positives]), np.array([rows - positives]))
                continue
            (keys,) = part.load(spill)
            positives, rows = yield from scan_parts([(keys, high_bit)], keys.dtype, positives, rows)


class SpilledRows(_Spilled, WeightedRows):
    """Weighted rows on disk."""

    @property
    def weighted(self) -> bool:
        return self.parts[0][1].dtypes[1].kind == "f"

    def parts_of_rows(self) -> Iterator[tuple[Array, Array]]:
        for spill, part, _ in self.parts:
            if part.is_level:
                yield np.full(2, part.low, np.uint64), np.array([part.pos, -part.neg])
                continue
            codes, signed = part.load(spill)
            yield codes.astype(np.uint64), signed


_FIRST = 1 << 16  # rows of the first array; each next one has room for as many as there are
_MOST_ROWS = 1 << 23  # rows of one array, so that little is left empty


class GrowingRows:
    """Rows stored in arrays that double in size, so that there are few.

    The system gives memory that is asked for at once in large pages, in half the time; what is not filled takes none.
    """

    def __init__(self) -> None:
        self._full: list[tuple[Array, ...]] = []
        self._last: tuple[Array, ...] = ()
        self._used = 0
        self._rows = 0
        self.nbytes = 0

    def __bool__(self) -> bool:
        return self._rows > 0

    def add(self, *columns: Array) -> None:
        """Add a copy of rows; columns of new types get their own arrays."""
        rows = columns[0].size
        if not rows:
            return
        if not self._fits(columns):
            self._full += self._filled()
            room = max(min(max(self._rows, _FIRST), _MOST_ROWS), rows)
            self._last, self._used = tuple(np.empty(room, column.dtype) for column in columns), 0
        for array, column in zip(self._last, columns, strict=True):
            array[self._used : self._used + rows] = column
        self._used += rows
        self._rows += rows
        self.nbytes += sum(column.nbytes for column in columns)

    def _fits(self, columns: tuple[Array, ...]) -> bool:
        if not self._last or self._last[0].size - self._used < columns[0].size:
            return False
        return all(array.dtype == column.dtype for array, column in zip(self._last, columns, strict=True))

    def _filled(self) -> list[tuple[Array, ...]]:
        return [tuple(array[: self._used] for array in self._last)] if self._used else []

    def take(self) -> list[tuple[Array, ...]]:
        """Return all rows and clear the buffer."""
        found = self._full + self._filled()
        self.__init__()
        return found


Pieces = tuple[Array, ...]

_FEW = 1 << 17  # numbers that are no parts
_LARGEST = 1 << 20  # numbers of a part: more do not fit into a cache
_PARTS_of_row_buffers = 512  # at most, as more are written to at random
_LEAST_SLICE = 1 << 20  # smaller ones are brought into parts sooner, and put together later
_SLICES = 256  # at most, into which arrays are cut for the cores to share


def sort(arrays: Sequence[Array], threads: int | None = None) -> list[KeyPart]:
    """Sort keys in place, and return them in ascending parts; equal scores are in one part."""
    total = sum(array.size for array in arrays)
    most = max(total // _SLICES, _LEAST_SLICE)
    arrays = [array[rows] for array in arrays for rows in pieces_of(array.size, most)]
    if not total:
        return []
    if total <= _FEW:
        return [sort_pieces(arrays, total)]
    return list(_sort_parted(arrays, min(max(total // _PARTS_of_row_buffers, _FEW), _LARGEST), threads))


def _sort_parted(arrays: Sequence[Array], most: int, threads: int | None) -> Iterator[KeyPart]:
    """Sort in parts of limited size; larger parts are split again unless they hold a single score."""
    total = sum(array.size for array in arrays)
    parts = _parted(arrays, -(-total // most), threads)
    large = [len(parts) > 1 and sum(piece.size for piece in part) > 2 * most for part in parts]

    def settle(part: Pieces) -> KeyPart:
        if sum(piece.size for piece in part) > 2 * _LARGEST and _is_one_score(part):
            return _sort_two(part)
        return sort_pieces(part, total)

    small = (part for part, is_large in zip(parts, large, strict=True) if not is_large)
    settled = iter(in_threads(settle, small, threads))
    for part, is_large in zip(parts, large, strict=True):
        yield from _sort_parted(part, most, threads) if is_large else [next(settled)]


def _parted(arrays: Sequence[Array], number: int, threads: int | None) -> list[Pieces]:
    """Partition arrays into the same ascending score ranges, about a given number."""
    parts = BucketParts.of(arrays, 0, number, least_shift=1)

    dealt = in_threads(lambda array: parts.deal(array.copy(), None, array), arrays, threads)
    return [part for part in runs_of_parts(dealt) if part]


def _is_one_score(pieces: Sequence[Array]) -> bool:
    """Whether keys differ only in the lowest bit."""
    return len({end >> end.dtype.type(1) for piece in pieces for end in (piece.min(), piece.max())}) == 1


def _sort_two(pieces: Pieces) -> KeyPart:
    """Sort the keys of a single score in place."""
    one = pieces[0].dtype.type(1)
    low = pieces[0][0] & ~one
    pos = sum(int((piece & one).sum(dtype=np.int64)) for piece in pieces)
    neg = left = sum(piece.size for piece in pieces) - pos
    for piece in pieces:
        n = min(left, piece.size)
        piece[:n], piece[n:] = low, low | one
        left -= n
    return KeyPart(pieces, counted=(0, pos * neg, pos, neg))


_LEAST_GROWTH = 1 << 16  # numbers by which an array grows at least
_ROWS_AT_ONCE = 1 << 20  # bounds what converting takes beside the rows to some MB
_SORTED_APART = 3  # as much memory as columns take while they are sorted by another one
_MOST_WAITING = 16  # small arrays that wait before they are joined


@dataclass(frozen=True)
class PackedRows:
    """Rows of a batch as keys of lower and upper scores, or as columns."""

    size: int
    dtype: np.dtype[Any]
    weighted: bool = False
    lower: Array | None = None
    upper: Array | None = None
    n_pos: int = 0
    columns: tuple[Array, ...] = ()


def pack(positive: NDArray[np.bool_], scores: Array, weight: Array | None) -> PackedRows:
    """Return rows as a buffer takes them; this is the part of the work that any thread can do."""
    if weight is not None:
        kept = weight > 0
        signed = np.where(positive, weight, -weight)
        return PackedRows(int(kept.sum()), scores.dtype, True, columns=(scores[kept], signed[kept]))
    if scores.size < kernels.SMALL:
        return PackedRows(scores.size, scores.dtype, columns=(scores, positive))
    return _as_keys(positive, scores)


def _as_keys(positive: NDArray[np.bool_], scores: Array) -> PackedRows:
    bits = scores.view(f"u{scores.itemsize}")
    keys = np.empty_like(bits)
    border = kernels.parts.pack(bits, positive.view(np.uint8), KINDS[scores.dtype.kind], keys)
    return PackedRows(scores.size, scores.dtype, False, keys[:border], keys[border:], int(np.count_nonzero(positive)))


class RowBuffer(Protocol):
    """Rows of one model."""

    rows: int
    """How many there are, of a weight above 0."""

    @property
    def nbytes(self) -> int:
        """Return the memory used, in bytes."""
        ...

    def add(self, packed: PackedRows) -> None:
        """Add the rows of a batch."""
        ...

    def spill(self, spill: Spill) -> None:
        """Write the rows to disk and free their memory."""
        ...

    def ranking(self, limit: int) -> Ranking:
        """Rank the rows, those on disk in parts of at most `limit` bytes; the buffer is used up."""
        ...


class _Growing:
    """An array that grows in place where the system supports it."""

    def __init__(self, dtype: Any) -> None:
        self._array = np.empty(0, dtype)
        self.dtype = self._array.dtype
        self.size = 0

    @property
    def nbytes(self) -> int:
        return self._array.nbytes

    def extend(self, values: Array) -> None:
        needed = self.size + values.size
        if needed > self._array.size:
            growth = max(self.size // 8, min(self.size, _LEAST_GROWTH))
            self._array.resize(max(needed, self.size + growth), refcheck=False)
        self._array[self.size : needed] = values
        self.size = needed

    def take(self) -> Array:
        """Return the rows so far, and start again."""
        array, size = self._array, self.size
        self._array, self.size = np.empty(0, array.dtype), 0
        array.resize(size, refcheck=False)
        return array


class _Waiting:
    """Columns of the few rows so far."""

    def __init__(self) -> None:
        self._batches: list[tuple[Array, ...]] = []
        self.rows = 0
        self.nbytes = 0

    def add(self, columns: tuple[Array, ...]) -> None:
        self._batches.append(columns)
        self.rows += columns[0].size
        self.nbytes += sum(column.nbytes for column in columns)
        if len(self._batches) >= _MOST_WAITING and self.rows < kernels.SMALL:
            self._batches = [self._joined()]

    def take(self) -> tuple[Array, ...]:
        joined = self._joined()
        self.__init__()
        return joined

    def _joined(self) -> tuple[Array, ...]:
        return tuple(np.concatenate(column) for column in zip(*self._batches, strict=True))


class KeyBuffer:
    """Unweighted rows."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.rows = 0
        self._dtype = dtype
        self._halves = {"upper": GrowingRows(), "lower": GrowingRows()}
        self._n_pos = 0
        self._waiting = _Waiting()
        self._spilled: dict[str, PartitionedKeys] = {}

    @property
    def nbytes(self) -> int:
        return self._waiting.nbytes + sum(half.nbytes for half in self._halves.values())

    def add(self, packed: PackedRows) -> None:
        self.rows += packed.size
        if packed.columns:
            self._waiting.add(packed.columns)
            if self._waiting.rows < kernels.SMALL:
                return
            packed = self._packed_waiting()
        self._add_keys(packed)

    def _packed_waiting(self) -> PackedRows:
        scores, positive = self._waiting.take()
        return _as_keys(positive, scores)

    def _add_keys(self, packed: PackedRows) -> None:
        self._n_pos += packed.n_pos
        for name, half in self._halves.items():
            half.add(getattr(packed, name))

    def _sorted(self, *names: str) -> tuple[KeyPart, ...]:
        """Return the keys of both halves in parts by decreasing score, and clear them."""
        halves = {name: sort([keys for (keys,) in self._halves[name].take()]) for name in names}
        return key_parts(halves.get("upper", []), halves.get("lower", []), self._dtype)

    def spill(self, spill: Spill) -> None:
        if self._waiting.rows:
            self._add_keys(self._packed_waiting())
        for name in self._halves:
            parts = list(reversed(self._sorted(name)))
            if parts and name not in self._spilled:
                self._spilled[name] = PartitionedKeys.like(spill, parts)
            while parts:
                self._spilled[name].write(parts.pop(0).load())

    def ranking(self, limit: int) -> Ranking:
        if self._spilled:
            self.spill(next(iter(self._spilled.values())).spill)
            names = [name for name in ("upper", "lower") if name in self._spilled]
            parted = [self._spilled[name] for name in names]
            return SpilledKeys(self._dtype, [(p.spill, part, p.high_bit) for p in parted for part in p.ranked(limit)])
        if not any(self._halves.values()):
            scores, positive = self._waiting.take()
            return rank(positive, scores)
        if self._waiting.rows:
            self._add_keys(self._packed_waiting())
        return SortedKeys(self._sorted(*self._halves), self._dtype, self._n_pos)


class WeightedRowBuffer:
    """Weighted rows."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.rows = 0
        self._dtype = dtype
        self._columns: list[_Growing] = []
        self._spilled: PartitionedRows | None = None

    @property
    def nbytes(self) -> int:
        return sum(column.nbytes for column in self._columns)

    def add(self, packed: PackedRows) -> None:
        self.rows += packed.size
        if not self._columns:
            self._columns = [_Growing(column.dtype) for column in packed.columns]
        for growing, values in zip(self._columns, packed.columns, strict=True):
            growing.extend(values)

    def _take(self) -> Sequence[Array]:
        return [column.take() for column in self._columns]

    def spill(self, spill: Spill) -> None:
        if not self.nbytes:
            return
        scores, signed = self._take()
        if self._spilled is None:
            width = np.dtype(f"u{scores.itemsize}")
            self._spilled = PartitionedRows(spill, (width, signed.dtype), 0, (1 << (scores.itemsize * 8)) - 1)
        for start in range(0, scores.size, _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            self._spilled.write(*self._spilled.sort([encode(scores[rows]), signed[rows]]))

    def ranking(self, limit: int) -> Ranking:
        if self._spilled is not None:
            self.spill(self._spilled.spill)
            parts = self._spilled.ranked(limit // _SORTED_APART)
            return SpilledRows(self._dtype, [(self._spilled.spill, part, 0) for part in parts])
        scores, signed = self._take()
        return rank(signed > 0, scores, np.abs(signed))
