"""Parts of rows by score, for a sort on all cores: about as many rows in each, so that a cache holds one."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope import kernels
from rocscope._types import Array

_BUCKET_BITS = 15  # half of the rows may lie in one of thirty octaves of scores
_STRETCH = 1 << 15
_SAMPLED = 1 << 10  # rows of each stretch
_MOST_SAMPLED = 1 << 20  # about: some thousand tell where a part ends, however many rows there are


@dataclass(frozen=True)
class Parts:
    """Parts that ascend, each of consecutive buckets of scores, whose ordered bits agree in all but the lowest.

    No part has scores of which the highest bit is 0 and others: these are from part `middle` on. `where` tells
    `kernels.parts.find_parts` the part of a score.
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
        """Write the keys of scores, part by part, and return those of each part; without labels bits are keys."""
        where, sizes = np.empty(bits.size, np.uint16), np.zeros(self.number, np.uint64)
        kernels.parts.find_parts(bits, *self.where, where, sizes)
        ends = np.cumsum(sizes, dtype=np.uint64)
        kernels.parts.deal(bits, positive, None, self.where[0], where, ends - sizes, keys, None)
        return [keys[begin:end] for begin, end in pairwise([0, *ends.tolist()])]


def runs_of_parts(dealt: Sequence[Sequence[Array]]) -> list[tuple[Array, ...]]:
    """Return what each part has of pieces, which were dealt one by one."""
    return [tuple(run for run in runs if run.size) for runs in zip(*dealt, strict=True)]


def _ends(sample: Array, kind: int) -> Array:
    """Return the lowest and the highest ordered bits of each half; one next to the other half where there are none."""
    top = 1 << (8 * sample.itemsize - 1)
    ends = np.array([[2 * top - 1, 0], [2 * top - 1, 0]], np.uint64)
    kernels.parts.widen(sample, kind, ends)
    for half, nearest in enumerate((top - 1, top)):
        if ends[half, 0] > ends[half, 1]:
            ends[half] = nearest
    return ends


def _sample(bits: Array) -> Array:
    """Return some rows of every stretch."""
    whole = bits[: bits.size // _STRETCH * _STRETCH]
    return whole.reshape(-1, _STRETCH)[:, :_SAMPLED].ravel() if whole.size else bits
