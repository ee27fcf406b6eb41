"""External sort: rows that exceed the memory limit are partitioned by score on disk and ranked part by part.

They go to one temporary file that has no name (or loses it at once), so that nothing is left over, however
the process ends. The system frees it with the last reference to the counts, or with the process.
"""

import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from rocscope._base.arrays import Array
from rocscope._base.atomic_write import temporary_folder
from rocscope._base.radix import KeyPart
from rocscope.core.levels import Block, Ranking
from rocscope.core.ranking import WeightedRows, scan_parts
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
