"""Scores as whole numbers that grow with them: their ordered bits, the codes by which scores are compared."""

import math
from typing import Any, cast

import numpy as np

from rocscope._threads import in_threads, pieces_of
from rocscope._types import Array

KINDS = {"u": 0, "i": 1, "f": 2}
"""What the kernels call unsigned, signed and floating-point scores."""

_AT_ONCE = 1 << 15  # what is made on the way to a score then stays in the cache


def decode(code: Array, dtype: np.dtype[Any], *, in_place: bool = False) -> Array:
    """Return the scores whose ordered bits these are, or bring them in their place; see `kernels.ranks.ordered`.

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
    """Return the ordered bits of scores; the reverse of `decode`, but for -0.0, which becomes 0.0."""
    bits = scores.view(f"u{scores.itemsize}")
    top = bits.dtype.type(1 << (scores.itemsize * 8 - 1))
    if scores.dtype.kind == "u":
        return bits
    return bits ^ top if scores.dtype.kind == "i" else np.where(bits <= top, bits | top, ~bits)


def without_signed_zeros(scores: Array) -> Array:
    """Return scores with 0.0 for -0.0."""
    return scores + scores.dtype.type(0) if scores.dtype.kind == "f" else scores


def count_at_least(threshold: Array, cut: float) -> int:
    """Count the levels whose score is at least `cut`, comparing exactly: `cut` is not rounded to their type."""
    dtype = threshold.dtype
    if dtype.kind == "f":
        lowest, highest = float(np.finfo(dtype).min), float(np.finfo(dtype).max)
    else:
        lowest, highest = np.iinfo(dtype).min, np.iinfo(dtype).max
    if cut > highest:
        return 0
    if cut <= lowest:
        return threshold.size
    below = cast(int, np.searchsorted(threshold[::-1], least_from(cut, dtype), side="left"))
    return threshold.size - int(below)


def least_from(cut: float, dtype: np.dtype[Any]) -> Any:
    """Return the least score of a type that is not below `cut`, which is within what the type holds."""
    smallest = dtype.type(cut if dtype.kind == "f" else math.ceil(cut))
    if smallest.item() < cut:
        with np.errstate(under="ignore"):  # the number after 0 is meant to be tiny
            smallest = np.nextafter(smallest, dtype.type(math.inf))
    return smallest


def after_infinity(scores: Array) -> Array:
    """Return infinity and then the scores, decreasing; as Python integers where float64 would round them."""
    exact = scores.dtype.kind == "f" or (scores[0].item() <= 2**53 and scores[-1].item() >= -(2**53))
    dtype = scores.dtype if scores.dtype.kind == "f" else np.dtype(np.float64 if exact else object)
    return np.concatenate([np.array([np.inf], dtype), scores], dtype=dtype)
