"""Parts of rows by score, for a sort on all cores: about as many rows in each, so that a cache holds one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rocscope import kernels
from rocscope._threads import in_threads
from rocscope._types import Array

_BUCKET_BITS = 15  # half of the rows may lie in one of thirty octaves of scores
_STRETCH = 1 << 15
_SAMPLED = 1 << 12  # rows of each stretch


@dataclass(frozen=True)
class Parts:
    """Parts that ascend, each of consecutive buckets of scores, whose ordered bits agree in all but the lowest.

    No part has scores of which the highest bit is 0 and others: these are from part `middle` on. `where` tells
    `kernels.parts.deal` the part of a score.
    """

    number: int
    middle: int
    where: tuple[Any, ...]

    @classmethod
    def of(cls, pieces: Sequence[Array], kind: int, number: int, least_shift: int = 0) -> "Parts":
        """Return about so many parts, for scores given by their bits.

        Parameters
        ----------
        pieces : arrays of unsigned whole numbers, none of them empty
        kind : int
            What `kernels.ranks.ordered` calls the type of scores.
        number : int
        least_shift : int
            How many of the lowest bits part nothing.
        """
        ends = in_threads(lambda bits: kernels.parts.ends(bits, kind), pieces)
        lowest, highest = min(int(low) for low, _ in ends), max(int(high) for _, high in ends)
        shift = max((highest - lowest).bit_length() - _BUCKET_BITS, least_shift)
        first, buckets = lowest >> shift, (highest >> shift) - (lowest >> shift) + 1
        where = kind, np.uint64(first), np.uint64(shift)
        sizes = np.zeros(buckets, np.int64)
        for bits in pieces:
            kernels.parts.count(_sample(bits), *where, sizes)
        bounds = np.concatenate([[0], np.cumsum(sizes)])
        middle = min(max(((1 << (8 * pieces[0].itemsize - 1)) >> shift) - first, 0), buckets)
        begins = np.zeros(buckets + 1, np.bool_)
        begins[bounds.searchsorted(np.arange(1, number) * (bounds[-1] / number), side="right") - 1] = True
        begins[[0, middle]] = False, middle > 0
        part = np.cumsum(begins, dtype=np.uint16)
        return cls(int(part[buckets - 1]) + 1, int(part[middle]), (*where, part))


def _sample(bits: Array) -> Array:
    """Return some rows of every stretch."""
    whole = bits[: bits.size // _STRETCH * _STRETCH]
    return whole.reshape(-1, _STRETCH)[:, :_SAMPLED].ravel() if whole.size else bits
