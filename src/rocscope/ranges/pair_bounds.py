"""Bounds of the pairs that bins hold, as whole numbers of any size."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import nextafter
from typing import Any, cast

import numpy as np

from rocscope import _validation as check
from rocscope._types import Array, Ties
from rocscope.core.counts import Pairs
from rocscope.errors import InexactCountsError, ShapeError, WeightError

_INT64_MAX = 2**63 - 1


@dataclass(frozen=True)
class PairsInBins(Pairs):
    """Pairs ranked right, a tied one counting half, of which it is not known which are tied."""

    inexact: Callable[[str], InexactCountsError]

    def _right(self, ties: Ties) -> tuple[float, float]:
        if ties in ("lower", "upper"):
            raise self.inexact(f"AUC with ties={ties!r}")
        return super()._right(ties)


def whole_counts(values: Any, name: str, n: int) -> Array:
    """Return checked whole counts."""
    counts = check.check_column(values, name, n)
    if counts.dtype.kind not in "iu" or (counts < 0).any():
        got = repr(counts[:5].tolist())
        raise WeightError(name, expected="whole counts of at least 0", got=got, hint="weighted rows cannot be binned")
    return counts.astype(np.int64)


def wins_within(wins: Any, low: Array, high: Array, pos: Array, neg: Array) -> tuple[Array, Array]:
    """Return the bounds of pairs won in each bin: those given, which must agree with what the counts say."""
    pairs = product(pos, neg)
    single = low == high
    least, most = np.where(single, pairs, 0), np.where(single, pairs, 2 * pairs)
    if wins is None:
        return least, most
    if not (isinstance(wins, tuple | list) and len(cast(Sequence[Any], wins)) == 2):
        raise ShapeError("wins", expected="a pair of arrays, the lowest and the highest", got="something else")
    given = [_wide(check.check_column(bound, "wins", low.size)) for bound in cast(Sequence[Any], wins)]
    wrong = (given[0] > given[1]) | (given[0] > most) | (given[1] < least)
    wrong |= (given[0] < 0) | (given[1] > 2 * pairs)
    if wrong.any():
        first = int(wrong.argmax())
        raise WeightError(
            "wins",
            expected=f"bounds within {least[first]} to {most[first]} in bin {first}",
            got=f"{given[0][first]} to {given[1][first]}",
        )
    return np.maximum(given[0], least), np.minimum(given[1], most)


def _wide(bound: Array) -> Array:
    if bound.dtype.kind not in "iuO":
        raise WeightError("wins", expected="whole numbers", got=f"values of type {bound.dtype}")
    return bound if bound.dtype.kind == "O" else bound.astype(np.int64)


def product(a: Array, b: Array) -> Array:
    """Return products of counts, as Python's integers where twice one would not fit 64 bits."""
    if int(a.max()) * int(b.max()) > _INT64_MAX // 4:
        return a.astype(object) * b.astype(object)
    return a * b


def group_sums(values: Array, starts: Array, most: int) -> Array:
    """Return the sums of groups of pairs, which are at most `most`."""
    return np.add.reduceat(values.astype(object) if most > _INT64_MAX else values, starts)


def total(values: Array, most: int) -> int:
    """Return the sum of pairs, which is at most `most`."""
    return sum(values.tolist()) if most > _INT64_MAX else int(values.sum())


def rounded(exact: Fraction, towards: float) -> float:
    """Return the nearest float on one side of an exact value."""
    value = float(exact)
    wrong = value > exact if towards < 0 else value < exact
    return nextafter(value, towards) if wrong else value
