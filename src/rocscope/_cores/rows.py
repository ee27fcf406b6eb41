"""Rows sorted by score on all cores: brought into parts that a cache holds first, each of which is sorted there."""

import numpy as np
from numpy.typing import NDArray

from rocscope import kernels
from rocscope._cores.parts import Parts
from rocscope._cores.threads import in_threads, pieces_of
from rocscope._types import Array

_PIECE = 1 << 18  # rows that are brought into parts within the cache
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


def _sort(
    positive: NDArray[np.bool_], scores: Array, weight: Array | None, kind: int, codes: Array, signed: Array | None
) -> int:
    """Write sorted rows, as keys or as ordered bits and weights; return the first whose highest ordered bit is 1."""
    labels, bits = positive.view(np.uint8), scores.view(f"u{scores.itemsize}")
    pieces = pieces_of(bits.size, _PIECE)
    number = min(-(-bits.size // _LEAST_PART), _MOST_PARTS)
    parts = Parts.of([bits[rows] for rows in pieces], kind, number)
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
