"""Rows sorted by score on all cores: brought into parts that a cache holds first, each of which is sorted there."""

from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rocscope import _validation as check
from rocscope import kernels
from rocscope._cores.keys import KeyPart, numpy_is_faster, sort_halving, sort_pieces
from rocscope._cores.parts import Parts, runs_of_parts
from rocscope._threads import cores, in_threads, pieces_of
from rocscope._types import Array

_LEFT_OUT = 1.5  # so much more may a sort of keys take that need not be brought into parts
_LEAST_PIECE, _MOST_PIECE = 1 << 18, 1 << 19
_PIECES = 16
_PART = 1 << 20  # bytes of rows
_MOST_PARTS = 512  # more would be written to at a time than the processor keeps the pages of


def sorted_keys(positive: NDArray[np.bool_], scores: Array, kind: int) -> tuple[list[KeyPart], list[KeyPart]]:
    """Return the keys of rows in parts that ascend: of scores whose highest ordered bit is 1, and of others.

    `kind` is what `kernels.ranks.ordered` calls the type of scores; for keys see `kernels.parts.pack`.
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
    found = in_threads(lambda part: sort_pieces(part, keys.size), upper + lower)
    return found[: len(upper)], found[len(upper) :]


def sorted_rows(positive: NDArray[np.bool_], scores: Array, weight: Array, kind: int) -> tuple[Array, Array]:
    """Return the ordered bits of scores, increasing, and weights, negative for negatives; equal scores stay in order.

    `kind` is what `kernels.ranks.ordered` calls the type of scores.
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


def _bits(column: Array, kind: DTypeLike) -> Array:
    """Return a column as whole numbers, which are not to be written to: loops then are compiled for this alone."""
    return check.read_only(column.view(kind))


def _parts_of(bits: Array, kind: int, width: int) -> tuple[Parts, list[slice]]:
    """Return parts for scores of rows that take so many bytes, and the pieces in which these are brought into them."""
    number = min(-(-bits.size * width // _PART), _MOST_PARTS)
    pieces = pieces_of(bits.size, min(max(-(-bits.size // _PIECES), _LEAST_PIECE), _MOST_PIECE))
    return Parts.of([bits[rows] for rows in pieces], kind, number), pieces


def _packed(labels: Array, bits: Array, kind: int) -> tuple[Array, Array]:
    """Return the keys of scores whose highest ordered bit is 1, and of others."""
    pieces = pieces_of(bits.size, -(-bits.size // cores()))  # few: no two write to the same large page of memory
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
