"""Parallel radix sort of rows by score: divide the rows into parts that fit in the cache, and sort each part.

The *ordered bits* of a score, also called its *code*, are an unsigned integer. Codes have the same order as scores. A
*key* contains the ordered bits of the score and the label of a row (see `kernels.parts.pack`). `BucketParts` divides
rows by score into parts of similar size, which are sorted on all cores.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rocscope import kernels
from rocscope._base import validation as check
from rocscope._base.arrays import Array, cores, in_threads, pieces_of

KINDS = {"u": 0, "i": 1, "f": 2}
"""Number that the kernels use for each kind of scores: unsigned, signed and floating-point."""

_AT_ONCE = 1 << 15  # rows per piece: intermediate arrays then stay in the cache


def decode(code: Array, dtype: np.dtype[Any], *, in_place: bool = False) -> Array:
    """Return the scores with the given ordered bits (see `kernels.ranks.ordered`). If `in_place`, overwrite `code`.

    Examples
    --------
    >>> decode(encode(np.array([-1.5, 0.0, 2.0])), np.dtype(np.float64)).tolist()
    [-1.5, 0.0, 2.0]
    """
    scores = code.view(dtype) if in_place else np.empty(code.size, dtype)
    bits = scores.view(f"u{dtype.itemsize}")
    top = bits.dtype.type(1 << (dtype.itemsize * 8 - 1))

    def write(rows: slice) -> None:
        own = code[rows].astype(bits.dtype, copy=False)
        if dtype.kind == "f":
            bits[rows] = np.where(own >= top, own ^ top, ~own)
        else:
            bits[rows] = own ^ top if dtype.kind == "i" else own

    in_threads(write, pieces_of(code.size, _AT_ONCE))
    return scores


def encode(scores: Array) -> Array:
    """Return the ordered bits of scores. -0.0 is treated as 0.0. `decode` is the inverse function."""
    bits = scores.view(f"u{scores.itemsize}")
    top = bits.dtype.type(1 << (scores.itemsize * 8 - 1))
    if scores.dtype.kind == "u":
        return bits
    return bits ^ top if scores.dtype.kind == "i" else np.where(bits <= top, bits | top, ~bits)


PairCounts = tuple[int, int, int, int]
"""Numbers of concordant pairs, tied pairs, positives and negatives."""

_TRIED = 1 << 16  # keys in a trial, which takes a few milliseconds and runs once
_TRIES = 3  # runs of each sort; the fastest counts, because other programs disturb a run
_WORTH_A_TRY = 1 << 20  # with fewer keys, a trial and threads cost more time than they save
_PART_ROWS = 1 << 19  # rows in a part


@dataclass(frozen=True)
class KeyPart:
    """Sorted keys of a range of scores, in ascending pieces.

    `high_bit` is the highest bit of the codes, which keys do not contain. `counted` contains the numbers of pairs if
    they are already known.
    """

    pieces: tuple[Array, ...]
    high_bit: Any = 0
    counted: PairCounts | None = None

    @property
    def size(self) -> int:
        """Number of rows."""
        return sum(piece.size for piece in self.pieces)

    def load(self) -> Array:
        """Return all keys in one array."""
        return self.pieces[0] if len(self.pieces) == 1 else np.concatenate(self.pieces)

    @property
    def pairs(self) -> PairCounts:
        """Numbers of concordant pairs, tied pairs, positives and negatives."""
        return self.counted or count_pairs(self.load())


def count_pairs(keys: Array) -> PairCounts:
    """Return the numbers of concordant pairs, tied pairs, positives and negatives, given sorted keys.

    Examples
    --------
    >>> count_pairs(np.array([2 * 3, 2 * 4, 2 * 4 + 1], np.uint8))  # 3 and 4 without, 4 with a label
    (1, 1, 1, 2)
    """
    concordant, not_above, neg = kernels.ranks.count_key_pairs(keys)
    return concordant, not_above - concordant, keys.size - neg, neg


def sort_pieces(pieces: Sequence[Array], total: int) -> KeyPart:
    """Sort the keys of several pieces together in place, and count their pairs while they are in the cache.

    `total` is the number of keys in all parts. It determines which sorting algorithm is used.

    Examples
    --------
    >>> keys = np.array([4, 9, 1, 3], np.uint8)
    >>> part = sort_pieces([keys[:2], keys[3:]], 4)
    >>> keys.tolist(), part.size
    ([3, 4, 1, 9], 3)
    """
    keys = np.concatenate(pieces)
    if numpy_is_faster(keys.dtype, total):
        keys.sort()
    else:
        kernels.parts.sort_rows(keys, None)
    start = 0
    for piece in pieces:
        piece[:] = keys[start : start + piece.size]
        start += piece.size
    return KeyPart(tuple(pieces), counted=count_pairs(keys))


def sort_halving(keys: Array) -> list[KeyPart]:
    """Sort keys in place on all cores, and return the sorted keys as parts.

    Examples
    --------
    >>> [part] = sort_halving(np.array([4, 9, 1, 3], np.uint8))
    >>> part.load().tolist(), part.pairs
    ([1, 3, 4, 9], (1, 0, 3, 1))
    """
    _halve(keys, cores())
    number = -(-keys.size // _PART_ROWS)
    at = (keys[keys.size * part // number] for part in range(1, number))
    bounds = [0, *(int(keys.searchsorted(key & ~keys.dtype.type(1))) for key in at), keys.size]
    return [KeyPart((keys[begin:end],)) for begin, end in pairwise(bounds) if begin < end]


def _halve(keys: Array, threads: int) -> None:
    """Divide keys at the median, and sort each half with half of the threads."""
    if threads <= 1 or keys.size < _WORTH_A_TRY:
        return keys.sort()
    middle = keys.size // 2
    keys.partition(middle)
    in_threads(lambda half: _halve(half, (threads + 1) // 2), (keys[:middle], keys[middle:]), 2)
    return None


def numpy_is_faster(dtype: np.dtype[Any], rows: int, margin: float = 1.0) -> bool:
    """Return True if NumPy's sort takes less than `margin` times the time of the radix sort.

    The result depends on the processor and is measured in a trial. With few rows, there is no trial, and the result is
    False.
    """
    return rows >= _WORTH_A_TRY and _numpy_to_ours(dtype) < margin


@cache
def _numpy_to_ours(dtype: np.dtype[Any]) -> float:
    keys = np.random.default_rng(0).integers(0, np.iinfo(dtype).max, _TRIED, dtype)

    def seconds(sort: Any) -> float:
        own = keys.copy()
        start = perf_counter()
        sort(own)
        return perf_counter() - start

    sorts = np.ndarray.sort, lambda own: kernels.parts.sort_rows(own, None)
    by_numpy, by_digits = (min(seconds(sort) for _ in range(_TRIES)) for sort in sorts)
    return by_numpy / by_digits


_BUCKET_BITS = 15  # enough buckets even if half of the rows are in one of thirty octaves of scores
_STRETCH = 1 << 15  # the first rows of each stretch of this length are sampled, which costs 3% of a pass
_SAMPLED = 1 << 10  # sampled rows of each stretch
_MOST_SAMPLED = 1 << 20  # approximate limit: about a thousand sampled rows suffice to place the end of a part


@dataclass(frozen=True)
class BucketParts:
    """Division of scores into ascending parts.

    A *bucket* contains all scores with the same high bits, and each part consists of neighbouring buckets. Parts before
    `middle` contain scores whose highest ordered bit is 0. All other parts contain scores whose highest bit is 1.
    `where` contains arguments of `kernels.parts.find_parts`, which computes the part of a score.
    """

    number: int
    middle: int
    where: tuple[Any, ...]

    @classmethod
    def of(cls, pieces: Sequence[Array], kind: int, number: int, least_shift: int = 0) -> "BucketParts":
        """Divide scores, which are given as bits, into about `number` parts.

        Parameters
        ----------
        pieces : sequence of arrays of unsigned integers
            Bits of the scores; no array may be empty.
        kind : int
            Type of the scores, as in `kernels.ranks.ordered`.
        number : int
            Requested number of parts.
        least_shift : int
            Number of low bits that are the same in all rows.
        """
        step = max(sum(bits.size for bits in pieces) * _SAMPLED // (_STRETCH * _MOST_SAMPLED), 1)
        sample = np.concatenate([_sample(bits)[::step] for bits in pieces])
        ends = _ends(sample, kind)
        spread = sum(int(last) - int(first) for first, last in ends)
        shift = max(spread.bit_length() - _BUCKET_BITS, least_shift)
        ends >>= np.uint64(shift)
        top = 1 << (8 * sample.itemsize - 1)
        ends[:, 0] -= ends[:, 0] > np.array([0, top >> shift], np.uint64)  # a bucket more for what no sample shows
        ends[:, 1] += ends[:, 1] < np.array([(top - 1) >> shift, (2 * top - 1) >> shift], np.uint64)
        where = kind, ends, np.uint64(shift)
        bucket = np.empty(sample.size, np.uint16)
        kernels.parts.find_buckets(sample, *where, bucket)
        middle, others = (ends[:, 1] - ends[:, 0] + np.uint64(1)).tolist()
        buckets = middle + others
        bounds = np.concatenate([[0], np.cumsum(np.bincount(bucket, minlength=buckets))])
        begins = np.zeros(buckets + 1, np.bool_)
        begins[bounds.searchsorted(np.arange(1, number) * (bounds[-1] / number), side="right") - 1] = True
        begins[[1, middle - 1, middle, middle + 1, buckets - 1]] = True  # these buckets are parts of their own
        begins[0] = False
        part = np.cumsum(begins, dtype=np.uint16)
        return cls(int(part[buckets - 1]) + 1, int(part[middle]), (*where, part))

    def deal(self, bits: Array, positive: NDArray[np.uint8] | None, keys: Array) -> list[Array]:
        """Write the keys of rows in the order of their parts, and return the keys of each part.

        If `positive` is None, the keys are the ordered bits.
        """
        where, sizes = np.empty(bits.size, np.uint16), np.zeros(self.number, np.uint64)
        kernels.parts.find_parts(bits, *self.where, where, sizes)
        ends = np.cumsum(sizes, dtype=np.uint64)
        kernels.parts.deal(bits, positive, None, self.where[0], where, ends - sizes, keys, None)
        return [keys[begin:end] for begin, end in pairwise([0, *ends.tolist()])]


def runs_of_parts(dealt: Sequence[Sequence[Array]]) -> list[tuple[Array, ...]]:
    """Return the keys of each part as a tuple with one array from each piece. Each piece was divided separately."""
    return [tuple(run for run in runs if run.size) for runs in zip(*dealt, strict=True)]


def _ends(sample: Array, kind: int) -> Array:
    """Return the minimum and maximum ordered bits of scores with highest bit 0, and of scores with highest bit 1.

    If there are no scores with one of these bits, the value nearest to the other scores is returned.
    """
    top = 1 << (8 * sample.itemsize - 1)
    ends = np.array([[2 * top - 1, 0], [2 * top - 1, 0]], np.uint64)
    kernels.parts.widen(sample, kind, ends)
    for half, nearest in enumerate((top - 1, top)):
        if ends[half, 0] > ends[half, 1]:
            ends[half] = nearest
    return ends


def _sample(bits: Array) -> Array:
    """Return a sample of the rows: the first rows of each section."""
    whole = bits[: bits.size // _STRETCH * _STRETCH]
    return whole.reshape(-1, _STRETCH)[:, :_SAMPLED].ravel() if whole.size else bits


_LEFT_OUT = 1.5  # NumPy's sort may take this many times as long, because it needs no partition into parts
_LEAST_PIECE, _MOST_PIECE = 1 << 18, 1 << 19  # keys in a piece: they fit in a cache and keep a thread busy
_PIECES = 16  # minimum number of pieces if there are enough rows: no core then waits long for the last piece
_PART_BYTES = 1 << 20  # bytes in a part
_MOST_PARTS = 512  # with more parts, writing would use more memory pages than the processor caches


def sorted_keys(positive: NDArray[np.bool_], scores: Array, kind: int) -> tuple[list[KeyPart], list[KeyPart]]:
    """Return the sorted keys of rows in two lists of ascending parts.

    The first list contains scores whose highest ordered bit is 1. The second list contains scores whose highest bit is
    0. `kind` is the type of the scores; see `kernels.ranks.ordered`. `kernels.parts.pack` describes keys.
    """
    labels, bits = _bits(positive, np.uint8), _bits(scores, f"u{scores.itemsize}")
    if numpy_is_faster(bits.dtype, bits.size, _LEFT_OUT):
        upper, lower = map(sort_halving, _packed(labels, bits, kind))
        return upper, lower
    keys = np.empty_like(bits)
    parts, pieces = _parts_of(bits, kind, bits.itemsize)
    dealt = in_threads(lambda rows: parts.deal(bits[rows], labels[rows], keys[rows]), pieces)
    runs = runs_of_parts(dealt)
    upper, lower = ([part for part in half if part] for half in (runs[parts.middle :], runs[: parts.middle]))
    sorted_parts = in_threads(lambda part: sort_pieces(part, keys.size), upper + lower)
    return sorted_parts[: len(upper)], sorted_parts[len(upper) :]


def sorted_rows(positive: NDArray[np.bool_], scores: Array, weight: Array, kind: int) -> tuple[Array, Array]:
    """Sort rows stably by score; return the increasing ordered bits, and the weights, with a minus sign for negatives.

    `kind` is the type of scores, as in `kernels.ranks.ordered`.
    """
    labels, bits = _bits(positive, np.uint8), _bits(scores, f"u{scores.itemsize}")
    codes, signed = np.empty(bits.size, np.uint64), np.empty_like(weight)
    parts, pieces = _parts_of(bits, kind, codes.itemsize + signed.itemsize)
    where, sizes = np.empty(bits.size, np.uint16), np.zeros((len(pieces), parts.number), np.uint64)

    def find(piece: int) -> None:
        rows = pieces[piece]
        kernels.parts.find_parts(bits[rows], *parts.where, where[rows], sizes[piece])

    def deal(piece: int) -> None:
        rows = pieces[piece]
        own = bits[rows], labels[rows], weight[rows], kind, where[rows]
        kernels.parts.deal(*own, filled[piece], codes, signed)

    in_threads(find, range(len(pieces)))
    filled = np.cumsum(sizes.T, dtype=np.uint64).reshape(sizes.T.shape).T - sizes
    bounds = [*filled[0].tolist(), bits.size]
    in_threads(deal, range(len(pieces)))
    slices = [slice(begin, end) for begin, end in pairwise(bounds)]
    in_threads(lambda own: kernels.parts.sort_rows(codes[own], signed[own]), slices)
    return codes, signed


def levels_of_rows(scores: Array) -> tuple[Array, NDArray[np.intp]]:
    """Return the distinct scores in increasing order, and the index of each row's score among them.

    Examples
    --------
    >>> levels_of_rows(np.array([0.5, 0.1, 0.5]))
    (array([0.1, 0.5]), array([1, 0, 1]))
    """
    kind = KINDS.get(scores.dtype.kind)
    if scores.size < kernels.SMALL or kind is None:
        return np.unique(scores, return_inverse=True)
    number = np.arange(scores.size, dtype=np.float64)  # row numbers, sorted in place of weights
    codes, number = sorted_rows(np.ones(scores.size, np.bool_), np.ascontiguousarray(scores), number, kind)
    begins = np.concatenate([[True], codes[1:] != codes[:-1]])
    level = np.empty(scores.size, np.intp)
    level[number.astype(np.intp)] = np.cumsum(begins) - 1
    return decode(codes[begins], scores.dtype), level


def _bits(column: Array, kind: DTypeLike) -> Array:
    """View a column as read-only integers, so that loops are compiled for one type only."""
    return check.read_only(column.view(kind))


def _parts_of(bits: Array, kind: int, width: int) -> tuple[BucketParts, list[slice]]:
    """Return the parts for rows of `width` bytes, and the pieces of rows that threads partition."""
    number = min(-(-bits.size * width // _PART_BYTES), _MOST_PARTS)
    pieces = pieces_of(bits.size, min(max(-(-bits.size // _PIECES), _LEAST_PIECE), _MOST_PIECE))
    return BucketParts.of([bits[rows] for rows in pieces], kind, number), pieces


def _packed(labels: Array, bits: Array, kind: int) -> tuple[Array, Array]:
    """Return the keys of scores whose highest ordered bit is 1, and the keys of those whose highest bit is 0."""
    pieces = pieces_of(bits.size, -(-bits.size // cores()))  # one per core: no two threads write to the same large page
    keys = np.empty_like(bits)
    borders = in_threads(lambda rows: kernels.parts.pack(bits[rows], labels[rows], kind, keys[rows]), pieces)
    at = [0, *accumulate(borders)]
    if at[-1] in (0, keys.size):
        return keys[at[-1] :], keys[: at[-1]]
    upper, lower = np.empty(keys.size - at[-1], keys.dtype), np.empty(at[-1], keys.dtype)

    def bring_together(piece: int) -> None:
        own, border, before = keys[pieces[piece]], borders[piece], at[piece]
        above = pieces[piece].start - before
        lower[before : before + border] = own[:border]
        upper[above : above + own.size - border] = own[border:]

    in_threads(bring_together, range(len(pieces)))
    return upper, lower
