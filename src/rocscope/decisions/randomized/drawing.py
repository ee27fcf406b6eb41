"""Drawing: select the best cases of a list; ties are ordered by a hash of their identifiers.

Every list of people comes from here: `select` and `predict` of all plans, reviews, and the workbench's contact list.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from hashlib import blake2b
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.grouping import deal
from rocscope.errors import InputError

UNIT = 1 << 128
"""Numbers of cases are multiples of this unit, which keeps denominators of sums small."""

NEAR = UNIT // 10**9
_SAME = 64  # bits, by which numbers differ that are the same but for how they were rounded


def in_units(number: Fraction | int, of: int = 1) -> int:
    """Return a quotient in multiples of the unit."""
    return number.numerator * UNIT // (number.denominator * of)


def whole_numbers(*axes: Any) -> list[list[int]]:
    """Return exact numbers as integers in a common unit.

    Examples
    --------
    >>> whole_numbers([1, 3], [0.5, 2.0])
    [[2, 6], [1, 4]]
    """
    ratios = [[each.as_integer_ratio() for each in np.asarray(axis).tolist()] for axis in axes]
    unit = lcm(*{below for axis in ratios for _, below in axis})
    return [[above * (unit // below) for above, below in axis] for axis in ratios]


def rounded_to(total: int, planned: Sequence[int]) -> list[int]:
    """Return integers with a given sum: each number rounded down, those with the largest remainders up.

    Examples
    --------
    >>> rounded_to(3, [in_units(Fraction(1, 2)), in_units(Fraction(3, 4)), in_units(Fraction(7, 4))])
    [0, 1, 2]
    """
    found = [(each + NEAR) // UNIT for each in planned]
    lost = [(each - whole * UNIT + (1 << _SAME >> 1)) >> _SAME for each, whole in zip(planned, found, strict=True)]
    for i in sorted(range(len(lost)), key=lost.__getitem__, reverse=True)[: max(total - sum(found), 0)]:
        found[i] += 1
    return found


Hashes = Callable[[Array], NDArray[np.uint64]]
"""A function from row numbers to hashes."""

HASHES = 2.0**64  # as many as 8 bytes have
_BYTES = 8  # of a hash: two of a million identifiers share one with probability 3e-8
_WHOLE = re.compile(r"([+-]?)0*([0-9]+)(?:\.0*)?")


def hashes_of(ids: Any, size: int, random_state: Any = 0) -> Hashes:
    """Return the function that hashes the identifiers of given rows; without identifiers, row numbers.

    Notes
    -----
    BLAKE2b of the identifier's text with the random state as the key, 8 bytes. Readers turn the same identifier into a
    text, an integer or a float, so the text of a whole number has no leading zeros and no decimals.

    Raises
    ------
    ShapeError, InputError
        If there is not one identifier per case, or one is missing or repeated.

    Examples
    --------
    >>> rows = np.arange(2)
    >>> len({hashes_of(ids, 2)(rows)[0] for ids in (["00123", "a"], [123, 7], [123.0, 7.0])})
    1
    """
    key = check.seed_of(random_state).to_bytes(_BYTES, "big")
    if ids is None:
        return lambda rows: _digests([str(row) for row in rows.tolist()], key)
    column = check.check_column(ids, "ids", size)
    check.check_present(column, "ids", InputError)
    texts = _texts(column)
    return lambda rows: _digests([texts[row] for row in rows.tolist()], key)


def _texts(column: Array) -> list[str]:
    """Return the text that is hashed for each identifier."""
    written = [
        str(int(each)) if isinstance(each, float) and each.is_integer() else str(each) for each in column.tolist()
    ]
    if len(set(written)) < len(written):
        twice = next(text for text, number in Counter(written).items() if number > 1)
        raise InputError("ids", expected="a different one in each row", got=f"{twice!r} twice")
    if column.dtype.kind in "iuf":
        return written
    texts = [_number_text(each) if each[:1] in "+-0" or "." in each else each for each in written]
    if len(set(texts)) < len(texts):  # "7" and "07" in one list
        times = Counter(texts)
        texts = [text if times[text] == 1 else own for text, own in zip(texts, written, strict=True)]
    return texts


def _number_text(text: str) -> str:
    whole = _WHOLE.fullmatch(text)
    return text if whole is None else whole[1].replace("+", "") + whole[2]


def _digests(texts: list[str], key: bytes) -> NDArray[np.uint64]:
    keyed, digests = blake2b(digest_size=_BYTES, key=key), bytearray()
    for text in texts:
        case = keyed.copy()
        case.update(text.encode())
        digests += case.digest()
    return np.frombuffer(bytes(digests), dtype=">u8").astype(np.uint64)


def draw(goodness: Array, group: Array, number: Array, hashes: Hashes) -> NDArray[np.bool_]:
    """Return a given number of the best cases of each group; ties are ordered by hash.

    Parameters
    ----------
    goodness : array of n
    group : array of n
        Number of the group of each case, from 0.
    number : array of whole numbers
        How many cases of each group are drawn, at most the group's size.
    hashes : function from rows to their hashes
        Asked only for the cases whose tie it decides.

    Examples
    --------
    >>> drawn = draw(np.array([5, 7, 6, 6]), np.array([0, 1, 1, 1]), np.array([1, 2]), hashes_of(None, 4))
    >>> drawn[:2].tolist(), drawn[2:].sum()  # one of the last two, which are equal
    ([True, True], np.int64(1))
    """
    number = np.minimum(number, np.bincount(group, minlength=number.size))
    if not number.any():
        return np.zeros(goodness.size, bool)
    order = np.argsort(goodness)
    rows, bounds = deal(group[order], order, number.size)
    last = goodness[rows[np.clip(bounds[1:] - np.maximum(number, 1), 0, rows.size - 1)]][group]
    drawn, equal = goodness > last, goodness == last
    left = number - np.bincount(group[drawn], minlength=number.size)
    enough = np.bincount(group[equal], minlength=number.size) <= left
    drawn |= equal & enough[group]
    tied = np.flatnonzero(equal & (~enough & (left > 0))[group])
    by_hash = tied[np.lexsort((hashes(tied), group[tied]))]
    place = np.arange(tied.size) - group[by_hash].searchsorted(np.arange(number.size))[group[by_hash]]
    drawn[by_hash[place < left[group[by_hash]]]] = True
    return drawn


def ordered(goodness: Array, chosen: NDArray[np.intp], hashes: Hashes) -> NDArray[np.intp]:
    """Return rows best first; ties are ordered by hash.

    Examples
    --------
    >>> ordered(np.array([3, 9, 4]), np.array([0, 1, 2]), hashes_of(None, 3)).tolist()
    [1, 2, 0]
    """
    rank = np.unique(goodness[chosen], return_inverse=True)[1]
    return chosen[np.lexsort((hashes(chosen), -rank))]
