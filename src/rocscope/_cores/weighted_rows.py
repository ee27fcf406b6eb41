"""Weighted rows sorted by score on all cores: brought into buckets first, each of which is sorted in the cache."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope import kernels
from rocscope._cores.digits import by_digits
from rocscope._cores.threads import in_threads
from rocscope._types import Array

_PIECE = 1 << 18
_BUCKET_BITS = 11
_PART = 1 << 16


def sorted_rows(positive: NDArray[np.bool_], scores: Array, weight: Array, kind: int) -> tuple[Array, Array]:
    """Return the ordered bits of scores, increasing, and weights, negative for negatives; equal scores stay in order.

    `kind` is what `kernels.ranks.ordered` calls the type of scores.
    """
    labels, bits = positive.view(np.uint8), scores.view(f"u{scores.itemsize}")
    pieces = [slice(start, start + _PIECE) for start in range(0, bits.size, _PIECE)]
    found = in_threads(lambda piece: kernels.weights.ends(bits[piece], kind), pieces)
    lowest, highest = min(int(low) for low, _ in found), max(int(high) for _, high in found)
    shift = max((highest - lowest).bit_length() - _BUCKET_BITS, 0)
    where: Any = np.uint64(lowest), np.uint64(shift)

    def count(piece: slice) -> Array:
        sizes = np.zeros(((highest - lowest) >> shift) + 1, np.int64)
        kernels.weights.count_rows(bits[piece], kind, *where, sizes)
        return sizes

    sizes = np.array(in_threads(count, pieces))
    bounds = np.concatenate([[0], np.cumsum(sizes.sum(axis=0))])
    filled = bounds[:-1] + np.cumsum(sizes, axis=0) - sizes
    codes, signed = np.empty(bits.size, np.uint64), np.empty_like(weight)

    def fill(number: int) -> None:
        piece = pieces[number]
        columns = bits[piece], labels[piece], weight[piece]
        kernels.weights.part_rows(*columns, kind, *where, filled[number], codes, signed)

    in_threads(fill, range(len(pieces)))
    cuts = np.unique(bounds.searchsorted(np.arange(0, bits.size, _PART), side="right") - 1)
    parts = pairwise([*bounds[cuts].tolist(), bits.size])
    in_threads(lambda part: _sort(codes[slice(*part)], signed[slice(*part)]), parts)
    return codes, signed


def _sort(codes: Array, signed: Array) -> None:
    """Sort rows in place."""
    codes[:], signed[:] = by_digits(codes, signed)
