"""Rows sorted by score on all cores: brought into parts that a cache holds first, each of which is sorted there."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope import kernels
from rocscope._cores.threads import in_threads, pieces_of
from rocscope._types import Array

_PIECE = 1 << 18
_BUCKET_BITS = 15  # half of the rows may lie in one of thirty octaves of scores
_SAMPLE = 1 << 12
_SAMPLED = 1 << 15
_LEAST_PART = 1 << 16
_MOST_PARTS = 512  # more would be written to at a time than the processor keeps the pages of


def sorted_keys(positive: NDArray[np.bool_], scores: Array, kind: int) -> tuple[Array, Array]:
    """Return the keys of rows, increasing, of scores whose highest ordered bit is 1, and of others.

    `kind` is what `kernels.ranks.ordered` calls the type of scores; for keys see `kernels.ranks.pack`.
    """
    keys = np.empty(scores.size, f"u{scores.itemsize}")
    border = _sort(positive, scores, None, kind, keys, None)
    return keys[border:], keys[:border]


def sorted_rows(positive: NDArray[np.bool_], scores: Array, weight: Array, kind: int) -> tuple[Array, Array]:
    """Return the ordered bits of scores, increasing, and weights, negative for negatives; equal scores stay in order.

    `kind` is what `kernels.ranks.ordered` calls the type of scores.
    """
    codes, signed = np.empty(scores.size, np.uint64), np.empty_like(weight)
    _sort(positive, scores, weight, kind, codes, signed)
    return codes, signed


@dataclass(frozen=True)
class _Parts:
    """Parts of scores that ascend, each of consecutive buckets, whose ordered bits agree in all but the lowest.

    No part has scores of which the highest bit is 0 and others: these are from part `middle` on. `where` tells kernels
    the bucket of a score, and the part of a bucket.
    """

    number: int
    middle: int
    where: Any

    @classmethod
    def of(cls, bits: Array, pieces: list[slice], kind: int) -> "_Parts":
        """Return parts of about as many rows as a cache holds."""
        ends = in_threads(lambda piece: kernels.parts.ends(bits[piece], kind), pieces)
        lowest, highest = min(int(low) for low, _ in ends), max(int(high) for _, high in ends)
        shift = max((highest - lowest).bit_length() - _BUCKET_BITS, 0)
        first, buckets = lowest >> shift, (highest >> shift) - (lowest >> shift) + 1
        where = kind, np.uint64(first), np.uint64(shift)
        sizes = np.zeros(buckets, np.int64)
        kernels.parts.count(_sample(bits), *where, sizes)
        bounds = np.concatenate([[0], np.cumsum(sizes)])
        parts = min(-(-bits.size // _LEAST_PART), _MOST_PARTS)
        middle = min(max(((1 << (8 * bits.itemsize - 1)) >> shift) - first, 0), buckets)
        begins = np.zeros(buckets + 1, np.bool_)
        begins[bounds.searchsorted(np.arange(parts) * (bounds[-1] / parts), side="right") - 1] = True
        begins[[0, middle]] = False, middle > 0
        part = np.cumsum(begins, dtype=np.uint16)
        return cls(int(part[buckets - 1]) + 1, int(part[middle]), (*where, part))


def _sample(bits: Array) -> Array:
    """Return some rows of every stretch of them."""
    if bits.size < _SAMPLED:
        return bits
    return bits[: bits.size // _SAMPLED * _SAMPLED].reshape(-1, _SAMPLED)[:, :_SAMPLE].ravel()


def _sort(
    positive: NDArray[np.bool_], scores: Array, weight: Array | None, kind: int, codes: Array, signed: Array | None
) -> int:
    """Write sorted rows, as keys or as ordered bits and weights; return the first whose highest ordered bit is 1."""
    labels, bits = positive.view(np.uint8), scores.view(f"u{scores.itemsize}")
    pieces = pieces_of(bits.size, _PIECE)
    parts = _Parts.of(bits, pieces, kind)
    bounds = np.empty((len(pieces), parts.number + 1), np.int64)
    dealt = np.empty_like(codes), None if signed is None else np.empty_like(signed)

    def deal(i: int) -> None:
        rows = pieces[i]
        kernels.parts.deal(rows.start, rows.stop, bits, labels, weight, *parts.where, bounds[i], *dealt)

    in_threads(deal, range(len(pieces)))
    begins = (bounds - bounds[:, :1]).sum(axis=0).tolist()

    def settle(part: int) -> None:
        kernels.parts.settle(*dealt, bounds[:, part : part + 2], begins[part], codes, signed)

    in_threads(settle, range(parts.number))
    return begins[parts.middle]
