"""Store streamed rows until they are ranked: sorted in memory, or on disk above the memory limit.

A *buffer* contains the rows of one model. A few rows are stored as columns, so that the compiler is not imported. Many
unweighted rows are stored as *keys*. A key is one integer with the bits of the score and, as lowest bit, the label, so
that sorting keys ranks the rows. Keys of low and of high scores are in separate arrays (see `kernels.parts.pack`). Many
weighted rows are stored as scores and signed weights. The weight of a negative row has a minus sign.

Keys are sorted on all cores, in place. First, threads divide each array into the same hundreds of ranges of scores.
Then each range is collected from all arrays, sorted by digits in the cache, and written back. So memory is read and
written only twice, and the additional memory is one range per thread.

Above the memory limit, rows are divided by score into parts on disk, and each part is sorted separately (an external
sort). The temporary file has no name, so nothing remains if the process ends. The operating system deletes the file
when the counts are no longer used.

Order of the file: the memory limit, the temporary file, rows partitioned on disk, their rankings, sorting in memory,
buffers.
"""

import os
import re
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from rocscope import kernels
from rocscope._base import radix
from rocscope._base.arrays import Array, Booleans, Indices, in_threads, pieces_of
from rocscope._base.atomic_write import temporary_folder
from rocscope.core import ranking
from rocscope.core.ranking import Ranking
from rocscope.errors import EngineError, InputError

# ---- The memory limit ----

SHARE = 0.5
"""Share of the free memory that rows can use by default."""

_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_LEAST_LIMIT = 1 << 20  # smallest limit in bytes: every machine has a megabyte
_UNKNOWN = 4 << 30  # bytes assumed to be free if the system does not report free memory: a choice


def memory_limit(memory: int | str | None) -> int:
    """Return a memory limit in bytes, given a number of bytes, a text such as "2 GB", or None.

    None means half of the free memory.

    Examples
    --------
    >>> memory_limit("1.5 GB") == 3 * 2**29
    True
    """
    if memory is None:
        return max(int(_free_memory() * SHARE), _LEAST_LIMIT)
    limit = memory
    if isinstance(memory, str):
        parts = re.fullmatch(r"([\d.]+)\s*([kmgt]?)(?:i?b)?", memory.strip(), re.IGNORECASE)
        if parts is not None:
            with suppress(ValueError):  # two decimal points
                limit = int(float(parts[1]) * _UNITS[parts[2].lower()])
    if isinstance(limit, bool) or not isinstance(limit, int) or limit <= 0:
        raise InputError("memory", expected="a number of bytes, or a text such as '2 GB'", got=repr(limit))
    return limit


def _free_memory() -> int:
    """Return the free memory of the machine or of the container, whichever is smaller, in bytes."""
    free = [size for size in (_free_in_machine(), _free_in_container()) if size is not None]
    return min(free, default=_UNKNOWN)


def _free_in_machine() -> int | None:
    facts = Path("/proc/meminfo")
    if facts.exists():
        line = re.search(r"MemAvailable:\s*(\d+) kB", facts.read_text())
        if line is not None:
            return int(line[1]) * 1024
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _free_in_container() -> int | None:
    """Return the free memory of the control group in bytes. Return None if the group has no limit."""
    try:
        most = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        used = Path("/sys/fs/cgroup/memory.current").read_text().strip()
    except OSError:
        return None
    return max(int(most) - int(used), 0) if most.isdigit() and used.isdigit() else None


# ---- The temporary file ----


@dataclass(frozen=True)
class Extent:
    """A range of bytes in the temporary file."""

    offset: int
    nbytes: int


class Spill:
    """A temporary file that contains arrays."""

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
        hint = f"set TMPDIR to a folder with more space than {self._end:,} bytes, or pass a larger memory="
        return EngineError(f"temporary file in {self._folder}: {error.strerror or error}", hint=hint)

    def write(self, array: Array) -> Extent:
        """Append an array, and return its range of bytes."""
        extent = Extent(self._end, array.nbytes)
        self.rewrite(extent, array)
        self._end += array.nbytes
        return extent

    def rewrite(self, extent: Extent, array: Array) -> None:
        """Overwrite an array in the file with an array of the same size."""
        left = memoryview(np.ascontiguousarray(array).view(np.uint8).data)
        with self._lock:
            try:
                self._file.seek(extent.offset)
                while left:
                    left = left[self._file.write(left) :]
            except OSError as error:
                raise self._error(error) from None

    def read(self, extent: Extent, out: Array) -> None:
        """Read a range of bytes into an array."""
        left = memoryview(out.view(np.uint8).data)
        with self._lock:
            self._file.seek(extent.offset)
            while left:
                size = self._file.readinto(left)
                if not size:
                    raise EngineError(f"temporary file in {self._folder}: it is shorter than the data written to it")
                left = left[size:]


# ---- Rows partitioned on disk ----

_PARTS_ON_DISK = 64  # number of score ranges in one partitioning of rows on disk
_SAMPLES = 64  # number of scores sampled from a piece, to find the cuts
_LEAST_PART = 1 << 16  # bytes of a part: smaller parts cost more system calls and do not save memory


@dataclass
class SpilledPart:
    """Rows with codes from `low` to `high`. If `low` equals `high`, only sums are stored; otherwise rows on disk."""

    low: int
    high: int
    dtypes: tuple[Any, ...]
    pieces: list[tuple[Extent, ...]] = field(default_factory=list)
    pos: Any = 0
    neg: Any = 0

    @property
    def is_level(self) -> bool:
        """True if all rows have the same score, so that counts are enough."""
        return self.low == self.high

    @property
    def nbytes(self) -> int:
        """Size of all columns in bytes."""
        return sum(extent.nbytes for piece in self.pieces for extent in piece)

    @property
    def rows(self) -> int:
        """Number of rows on disk."""
        return sum(piece[0].nbytes for piece in self.pieces) // self.dtypes[0].itemsize

    def load(self, spill: Spill) -> list[Array]:
        """Read the columns from disk."""
        columns = [np.empty(self.rows, dtype) for dtype in self.dtypes]
        self._transfer(spill.read, columns)
        return columns

    def store(self, spill: Spill, columns: list[Array]) -> None:
        """Overwrite the columns on disk with columns of the same size."""
        self._transfer(spill.rewrite, columns)

    def _transfer(self, read_or_write: Callable[[Extent, Array], None], columns: list[Array]) -> None:
        for extents, column in zip(zip(*self.pieces, strict=True), columns, strict=True):
            start = 0
            for extent in extents:
                end = start + extent.nbytes // column.itemsize
                read_or_write(extent, column[start:end])
                start = end


class PartitionedRows:
    """Rows on disk, divided into parts by their code, an integer in the order of the scores.

    Rows must be sorted before they are written. Their first column determines the code. The first rows that are written
    determine the limits of the parts. A score that is frequent in the first rows becomes a part of its own. Rows in
    such a part are only counted and need no space.
    """

    def __init__(self, spill: Spill, dtypes: tuple[Any, ...], low: int, high: int, cuts: Array | None = None) -> None:
        self.spill = spill
        self._dtypes = dtypes
        self._low, self._high = low, high
        self._parts = [] if cuts is None else self._parts_between(cuts)

    def codes(self, first: Array) -> Array:
        """Return the codes, given the first column of rows."""
        return first

    def count(self, columns: list[Array]) -> tuple[Any, Any]:
        """Return the sum of weights of positives and the sum of weights of negatives."""
        positive = columns[1] > 0
        return columns[1][positive].sum(), -columns[1][~positive].sum()

    def sort(self, columns: list[Array]) -> list[Array]:
        """Sort columns by code with a stable sort."""
        order = np.argsort(columns[0], kind="stable")
        return [column[order] for column in columns]

    def _parts_between(self, cuts: Array) -> list[SpilledPart]:
        """Return parts that begin at the given codes. A code that occurs twice in `cuts` is a part of its own."""
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
            self._parts = self._parts_between(codes[_evenly(codes.size, _PARTS_ON_DISK)])
        starts = np.searchsorted(codes, np.array([part.low for part in self._parts], codes.dtype))
        for part, start, end in zip(self._parts, starts, [*starts[1:], codes.size], strict=True):
            if start == end:
                continue
            piece = [column[start:end] for column in columns]
            if part.is_level:
                pos, neg = self.count(piece)
                part.pos += pos
                part.neg += neg
            else:
                part.pieces.append(tuple(self.spill.write(column) for column in piece))

    def ranked(self, limit: int) -> list[SpilledPart]:
        """Sort the parts on disk, and return them in decreasing order of scores. Large parts are first divided."""
        limit = max(limit, _LEAST_PART)
        parts: list[SpilledPart] = []
        while self._parts:
            part = self._parts.pop()
            if part.nbytes > limit:
                parts += self._partitioned(part, limit).ranked(limit)
            elif part.pieces:
                part.store(self.spill, self.sort(part.load(self.spill)))
                parts.append(part)
            elif part.is_level and part.pos + part.neg:
                parts.append(part)
        return parts

    def _partitioned(self, part: SpilledPart, limit: int) -> "PartitionedRows":
        """Divide the rows of a part that is larger than the limit into smaller parts."""
        samples = [self._sample(extents[0]) for extents in part.pieces]
        codes = np.sort(self.codes(np.concatenate(samples)))
        cuts = codes[_evenly(codes.size, _PARTS_ON_DISK)].tolist()
        # The middle is also a cut, so that parts become smaller for any sample.
        middle = (part.low + part.high + 1) // 2
        rows_of_part = type(self)(self.spill, self._dtypes, part.low, part.high, np.array([*cuts, middle], object))
        at_once = max(limit // 4 // sum(dtype.itemsize for dtype in self._dtypes), 1)
        for extents in part.pieces:
            rows = extents[0].nbytes // self._dtypes[0].itemsize
            for start in range(0, rows, at_once):
                size = min(at_once, rows - start)
                piece = []
                for extent, dtype in zip(extents, self._dtypes, strict=True):
                    piece.append(Extent(extent.offset + start * dtype.itemsize, size * dtype.itemsize))
                rows_of_part.write(*SpilledPart(part.low, part.high, self._dtypes, [tuple(piece)]).load(self.spill))
        return rows_of_part

    def _sample(self, extent: Extent) -> Array:
        dtype = self._dtypes[0]
        rows = extent.nbytes // dtype.itemsize
        sample = np.empty(min(_SAMPLES, rows), dtype)
        for i, row in enumerate(_evenly(rows, sample.size).tolist()):
            self.spill.read(Extent(extent.offset + row * dtype.itemsize, dtype.itemsize), sample[i : i + 1])
        return sample


def _evenly(size: int, number: int) -> Indices:
    """Return evenly spaced positions, including the first and the last."""
    return np.linspace(0, size - 1, number).astype(np.intp)


class PartitionedKeys(PartitionedRows):
    """Unweighted rows on disk as keys with the label as lowest bit. `high_bit` is the highest bit of all codes."""

    high_bit: Any = 0

    @classmethod
    def like(cls, spill: Spill, parts: Sequence[radix.KeyPart]) -> "PartitionedKeys":
        """Return empty parts on disk for keys that are distributed like the keys of the given ascending parts."""
        dtype = parts[0].pieces[0].dtype
        ends = np.cumsum([part.size for part in parts])
        rows = _evenly(ends[-1], _PARTS_ON_DISK)
        rows_of_parts = np.split(rows, np.searchsorted(rows, ends[:-1]))
        samples = []
        for part, rows_of_part, end in zip(parts, rows_of_parts, ends, strict=True):
            if rows_of_part.size:
                samples.append(part.load()[rows_of_part - end])  # counted from the part's end
        # The label is the lowest bit of a key; the code is the key without this bit.
        cuts = np.concatenate(samples) >> dtype.type(1)
        keys = cls(spill, (dtype,), 0, (1 << (dtype.itemsize * 8 - 1)) - 1, cuts)
        keys.high_bit = parts[0].high_bit
        return keys

    def codes(self, first: Array) -> Array:
        """Return the codes of keys, without the labels."""
        return first >> first.dtype.type(1)

    def count(self, columns: list[Array]) -> tuple[Any, Any]:
        """Return the number of positives and the number of negatives."""
        keys = columns[0]
        positives = int((keys & keys.dtype.type(1)).sum(dtype=np.int64))
        return positives, keys.size - positives

    def sort(self, columns: list[Array]) -> list[Array]:
        """Sort the keys in place."""
        columns[0].sort()
        return columns


# ---- Rankings of rows on disk ----


@dataclass(frozen=True)
class _Spilled(Ranking):
    """Ranking of rows in parts on disk. Only one part is in memory at a time."""

    dtype: np.dtype[Any]
    parts: list[tuple[Spill, SpilledPart, Any]]
    """Each part, its temporary file, and the highest bit of its codes, which is not stored in the file."""


class SpilledKeys(_Spilled):
    """Ranking of unweighted rows on disk."""

    def blocks(self) -> Iterator[ranking.Block]:
        positives = rows = 0
        for spill, part, high_bit in self.parts:
            if part.is_level:
                positives += part.pos
                rows += part.pos + part.neg
                code = np.array([part.low], part.dtypes[0]) | high_bit
                yield ranking.Block(code, np.array([positives]), np.array([rows - positives]))
            else:
                (keys,) = part.load(spill)
                positives, rows = yield from ranking.scan_parts([(keys, high_bit)], keys.dtype, positives, rows)


class SpilledRows(_Spilled, ranking.WeightedRows):
    """Ranking of weighted rows on disk."""

    @property
    def weighted(self) -> bool:
        return self.parts[0][1].dtypes[1].kind == "f"

    def parts_of_rows(self) -> Iterator[tuple[Array, Array]]:
        for spill, part, _ in self.parts:
            if part.is_level:
                yield np.full(2, part.low, np.uint64), np.array([part.pos, -part.neg])
            else:
                codes, signed_weights = part.load(spill)
                yield codes.astype(np.uint64), signed_weights


# ---- Sorting in memory ----

_FIRST_ROWS = 1 << 16  # rows of the first array; each further array has twice the size
_MOST_ROWS = 1 << 23  # maximum number of rows of an array, so that little memory remains empty


class GrowingRows:
    """Rows stored in a few arrays. Each array has twice the size of the previous array.

    The operating system allocates large arrays in large pages, which halves the time. Memory that is not filled is not
    used.
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
        """Add a copy of rows. Columns with new types get their own arrays."""
        rows = columns[0].size
        if not rows:
            return
        dtypes = [column.dtype for column in columns]
        has_room = bool(self._last) and self._last[0].size - self._used >= rows
        if not has_room or [array.dtype for array in self._last] != dtypes:
            self._full += self._filled()
            room = max(min(max(self._rows, _FIRST_ROWS), _MOST_ROWS), rows)
            self._last = tuple(np.empty(room, dtype) for dtype in dtypes)
            self._used = 0
        for array, column in zip(self._last, columns, strict=True):
            array[self._used : self._used + rows] = column
        self._used += rows
        self._rows += rows
        self.nbytes += sum(column.nbytes for column in columns)

    def _filled(self) -> list[tuple[Array, ...]]:
        return [tuple(array[: self._used] for array in self._last)] if self._used else []

    def take(self) -> list[tuple[Array, ...]]:
        """Return all rows and clear the buffer."""
        arrays = self._full + self._filled()
        self.__init__()
        return arrays


Pieces = tuple[Array, ...]

_FEW = 1 << 17  # number of keys up to which they are sorted as one part
_LARGEST = 1 << 20  # number of keys in a part: more do not fit into a cache
_MOST_PARTS = 512  # maximum number of parts: with more, memory is accessed at random
_LEAST_SLICE = 1 << 20  # number of keys in a slice: smaller slices are distributed faster, but gathered slower
_SLICES = 256  # maximum number of slices of all arrays, for the cores to share


def sort(arrays: Sequence[Array], threads: int | None = None) -> list[radix.KeyPart]:
    """Sort keys in place, and return them in ascending parts. Equal scores are in the same part."""
    total = sum(array.size for array in arrays)
    if not total:
        return []
    most = max(total // _SLICES, _LEAST_SLICE)
    slices = [array[rows] for array in arrays for rows in pieces_of(array.size, most)]
    if total <= _FEW:
        return [radix.sort_pieces(slices, total)]
    keys_per_part = min(max(total // _MOST_PARTS, _FEW), _LARGEST)
    return list(_sort_in_parts(slices, keys_per_part, threads))


def _sort_in_parts(arrays: Sequence[Array], most: int, threads: int | None) -> Iterator[radix.KeyPart]:
    """Sort keys in parts of about `most` keys. Larger parts with several scores are divided again."""
    total = sum(array.size for array in arrays)
    buckets = radix.BucketParts.of(arrays, 0, -(-total // most), least_shift=1)
    dealt = in_threads(lambda array: buckets.deal(array.copy(), None, array), arrays, threads)
    parts = [part for part in radix.runs_of_parts(dealt) if part]
    # A single part cannot be split: its keys share all bits but the lowest.
    large = [len(parts) > 1 and sum(piece.size for piece in part) > 2 * most for part in parts]

    def sort_part(part: Pieces) -> radix.KeyPart:
        if sum(piece.size for piece in part) > 2 * _LARGEST and _is_one_score(part):
            return _sort_by_label(part)
        return radix.sort_pieces(part, total)

    small = [part for part, is_large in zip(parts, large, strict=True) if not is_large]
    sorted_parts = iter(in_threads(sort_part, small, threads))
    for part, is_large in zip(parts, large, strict=True):
        if is_large:
            yield from _sort_in_parts(part, most, threads)
        else:
            yield next(sorted_parts)


def _is_one_score(pieces: Sequence[Array]) -> bool:
    """Return True if all keys have the same score, so that they differ only in the lowest bit, the label."""
    one = pieces[0].dtype.type(1)
    lowest = min(piece.min() for piece in pieces)
    highest = max(piece.max() for piece in pieces)
    return lowest >> one == highest >> one


def _sort_by_label(pieces: Pieces) -> radix.KeyPart:
    """Sort the keys of a single score in place, with negatives before positives."""
    one = pieces[0].dtype.type(1)
    negative_key = pieces[0][0] & ~one
    pos = sum(int((piece & one).sum(dtype=np.int64)) for piece in pieces)
    neg = sum(piece.size for piece in pieces) - pos
    left = neg
    for piece in pieces:
        size = min(left, piece.size)
        piece[:size] = negative_key
        piece[size:] = negative_key | one
        left -= size
    return radix.KeyPart(pieces, counted=(0, pos * neg, pos, neg))


# ---- Buffers ----

_LEAST_GROWTH = 1 << 16  # minimum number of rows by which an array grows
_ROWS_AT_ONCE = 1 << 20  # limits the additional memory for converting rows to a few MB
_SORT_MEMORY = 3  # memory for sorting columns by another column, in multiples of their size
_MOST_WAITING = 16  # number of small arrays that are collected before they are joined


@dataclass(frozen=True)
class PackedRows:
    """Rows of a batch in the format of a buffer: as keys or as columns.

    A key contains the ordered bits of a score without the highest bit and, as its lowest bit, the label.

    Attributes
    ----------
    size : int
        Number of rows.
    lower, upper : array of keys, or None
        Keys of the scores whose highest ordered bit is 0, and keys of the scores whose highest ordered bit is 1.
    columns : (scores, labels) or (scores, weights), or None
        Rows as columns. The weight of a negative row has a minus sign.
    """

    size: int
    dtype: np.dtype[Any]
    weighted: bool = False
    lower: Array | None = None
    upper: Array | None = None
    n_pos: int = 0
    columns: tuple[Array, ...] = ()


def pack(positive: Booleans, scores: Array, weight: Array | None) -> PackedRows:
    """Convert rows to the format of a buffer. This can run in any thread."""
    if weight is not None:
        kept = weight > 0
        signed_weights = np.where(positive, weight, -weight)
        return PackedRows(int(kept.sum()), scores.dtype, True, columns=(scores[kept], signed_weights[kept]))
    if scores.size < kernels.SMALL:
        return PackedRows(scores.size, scores.dtype, columns=(scores, positive))
    return _as_keys(positive, scores)


def _as_keys(positive: Booleans, scores: Array) -> PackedRows:
    bits = scores.view(f"u{scores.itemsize}")
    keys = np.empty_like(bits)
    border = kernels.parts.pack(bits, positive.view(np.uint8), radix.KINDS[scores.dtype.kind], keys)
    return PackedRows(scores.size, scores.dtype, False, keys[:border], keys[border:], int(np.count_nonzero(positive)))


class _GrowingArray:
    """An array that grows in place if the operating system supports this."""

    def __init__(self, dtype: Any) -> None:
        self._array = np.empty(0, dtype)
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
        """Return all values, and clear the array."""
        array = self._array
        array.resize(self.size, refcheck=False)
        self.__init__(array.dtype)
        return array


class _WaitingRows:
    """Rows stored as columns, as long as there are few rows."""

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
    """Buffer of the unweighted rows of one model.

    Attributes
    ----------
    rows : int
        Number of rows.
    nbytes : int
        Size of the rows in memory, in bytes.
    """

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.rows = 0
        self._dtype = dtype
        self._halves = {"upper": GrowingRows(), "lower": GrowingRows()}
        self._n_pos = 0
        self._waiting = _WaitingRows()
        self._spilled: dict[str, PartitionedKeys] = {}

    @property
    def nbytes(self) -> int:
        return self._waiting.nbytes + sum(half.nbytes for half in self._halves.values())

    def add(self, packed: PackedRows) -> None:
        """Add the rows of a batch."""
        self.rows += packed.size
        if not packed.columns:
            self._add_keys(packed)
            return
        self._waiting.add(packed.columns)
        if self._waiting.rows >= kernels.SMALL:
            self._add_waiting()

    def _add_waiting(self) -> None:
        scores, positive = self._waiting.take()
        self._add_keys(_as_keys(positive, scores))

    def _add_keys(self, packed: PackedRows) -> None:
        assert packed.upper is not None and packed.lower is not None
        self._n_pos += packed.n_pos
        self._halves["upper"].add(packed.upper)
        self._halves["lower"].add(packed.lower)

    def _sorted(self, *names: str) -> tuple[radix.KeyPart, ...]:
        """Return the sorted keys in parts, in decreasing order of scores, and clear the buffer."""
        halves = {name: sort([keys for (keys,) in self._halves[name].take()]) for name in names}
        return ranking.key_parts(halves.get("upper", []), halves.get("lower", []), self._dtype)

    def spill(self, spill: Spill) -> None:
        """Write the rows to disk and free their memory."""
        if self._waiting.rows:
            self._add_waiting()
        for name in self._halves:
            parts = list(reversed(self._sorted(name)))
            if parts and name not in self._spilled:
                self._spilled[name] = PartitionedKeys.like(spill, parts)
            while parts:  # whose memory is freed one by one
                self._spilled[name].write(parts.pop(0).load())

    def ranking(self, limit: int) -> Ranking:
        """Rank the rows and clear the buffer. Rows on disk are ranked in parts of at most `limit` bytes."""
        if self._spilled:
            self.spill(next(iter(self._spilled.values())).spill)
            ranked = []
            for name in ("upper", "lower"):
                if name in self._spilled:
                    keys = self._spilled[name]
                    ranked += [(keys.spill, part, keys.high_bit) for part in keys.ranked(limit)]
            return SpilledKeys(self._dtype, ranked)
        if not any(self._halves.values()):
            scores, positive = self._waiting.take()
            return ranking.rank(positive, scores)
        if self._waiting.rows:
            self._add_waiting()
        return ranking.SortedKeys(self._sorted(*self._halves), self._dtype, self._n_pos)


class WeightedRowBuffer:
    """Buffer of the weighted rows of one model.

    Attributes
    ----------
    rows : int
        Number of rows with a weight above 0.
    nbytes : int
        Size of the rows in memory, in bytes.
    """

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.rows = 0
        self._dtype = dtype
        self._columns: list[_GrowingArray] = []
        self._spilled: PartitionedRows | None = None

    @property
    def nbytes(self) -> int:
        return sum(column.nbytes for column in self._columns)

    def add(self, packed: PackedRows) -> None:
        """Add the rows of a batch."""
        self.rows += packed.size
        if not self._columns:
            self._columns = [_GrowingArray(column.dtype) for column in packed.columns]
        for growing, values in zip(self._columns, packed.columns, strict=True):
            growing.extend(values)

    def spill(self, spill: Spill) -> None:
        """Write the rows to disk and free their memory."""
        if not self.nbytes:
            return
        scores, signed_weights = [column.take() for column in self._columns]
        if self._spilled is None:
            dtypes = np.dtype(f"u{scores.itemsize}"), signed_weights.dtype
            self._spilled = PartitionedRows(spill, dtypes, 0, (1 << (scores.itemsize * 8)) - 1)
        for start in range(0, scores.size, _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            self._spilled.write(*self._spilled.sort([radix.encode(scores[rows]), signed_weights[rows]]))

    def ranking(self, limit: int) -> Ranking:
        """Rank the rows and clear the buffer. Rows on disk are ranked in parts of at most `limit` bytes."""
        if self._spilled is not None:
            self.spill(self._spilled.spill)
            parts = self._spilled.ranked(limit // _SORT_MEMORY)
            return SpilledRows(self._dtype, [(self._spilled.spill, part, 0) for part in parts])
        scores, signed_weights = [column.take() for column in self._columns]
        return ranking.rank(signed_weights > 0, scores, np.abs(signed_weights))


RowBuffer = KeyBuffer | WeightedRowBuffer
"""Buffer of the rows of one model."""
