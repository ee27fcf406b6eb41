"""Rows sorted by score on all cores: brought into parts that a cache holds first, each of which is sorted there."""

import numpy as np
from numpy.typing import NDArray

from rocscope import _validation as check
from rocscope import kernels
from rocscope._cores.keys import KeyPart, sort_pieces
from rocscope._cores.parts import Parts
from rocscope._threads import in_threads, pieces_of
from rocscope._types import Array

_LEAST_PIECE, _MOST_PIECE = 1 << 18, 1 << 19  # rows that are brought into parts within the cache
_PIECES = 16
_LEAST_PART = 1 << 17
_MOST_PARTS = 512  # more would be written to at a time than the processor keeps the pages of


def sorted_keys(positive: NDArray[np.bool_], scores: Array, kind: int) -> tuple[list[KeyPart], list[KeyPart]]:
    """Return the keys of rows in parts that ascend: of scores whose highest ordered bit is 1, and of others.

    `kind` is what `kernels.ranks.ordered` calls the type of scores; for keys see `kernels.ranks.pack`.
    """
    keys = np.empty(scores.size, f"u{scores.itemsize}")
    bounds, middle = _deal(positive, scores, None, kind, keys, None)
    runs = (bounds[:, part : part + 2].tolist() for part in range(bounds.shape[1] - 1))
    parts = [tuple(keys[begin:end] for begin, end in own if begin < end) for own in runs]
    upper, lower = [part for part in parts[middle:] if part], [part for part in parts[:middle] if part]
    found = in_threads(lambda part: sort_pieces(part, keys.size), upper + lower)
    return found[: len(upper)], found[len(upper) :]


def sorted_rows(positive: NDArray[np.bool_], scores: Array, weight: Array, kind: int) -> tuple[Array, Array]:
    """Return the ordered bits of scores, increasing, and weights, negative for negatives; equal scores stay in order.

    `kind` is what `kernels.ranks.ordered` calls the type of scores.
    """
    dealt = np.empty(scores.size, np.uint64), np.empty_like(weight)
    codes, signed = (np.empty_like(column) for column in dealt)
    bounds, _ = _deal(positive, scores, weight, kind, *dealt)
    begins = (bounds - bounds[:, :1]).sum(axis=0).tolist()

    def settle(part: int) -> None:
        own = slice(begins[part], begins[part + 1])
        kernels.parts.settle(*dealt, bounds[:, part : part + 2], codes[own], signed[own])

    in_threads(settle, range(len(begins) - 1))
    return codes, signed


def _deal(
    positive: NDArray[np.bool_], scores: Array, weight: Array | None, kind: int, codes: Array, signed: Array | None
) -> tuple[NDArray[np.int64], int]:
    """Write rows, as keys or as ordered bits and weights, piece by piece in parts that ascend.

    Returns where each piece has each part (and where it ends), and the first part whose highest ordered bit is 1.
    """
    # Read-only, whatever they were: the loop is then compiled once, which takes a second.
    labels, bits = check.read_only(positive.view(np.uint8)), check.read_only(scores.view(f"u{scores.itemsize}"))
    pieces = pieces_of(bits.size, min(max(-(-bits.size // _PIECES), _LEAST_PIECE), _MOST_PIECE))
    number = min(-(-bits.size // _LEAST_PART), _MOST_PARTS)
    parts = Parts.of([bits[rows] for rows in pieces], kind, number)
    bounds = np.empty((len(pieces), parts.number + 1), np.int64)

    def deal(i: int) -> None:
        rows = pieces[i]
        kernels.parts.deal(rows.start, rows.stop, bits, labels, weight, *parts.where, bounds[i], codes, signed)

    in_threads(deal, range(len(pieces)))
    return bounds, parts.middle
