"""Selection of the cases with the highest scores, with ties ordered by the hash of their identifiers.

The hash of an identifier is used as its random number. A selection is therefore reproducible and does not depend on the
order of the rows. All plans, reviews and the workbench's contact list use these functions.
"""

import re
from collections import Counter
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array, Booleans, Indices
from rocscope._base.grouping import deal
from rocscope.errors import InputError

# In a million identifiers the probability that two have the same hash of 8 bytes is 3e-8.
HASH_BYTES = 8
HASHES = 2.0**64

# A whole number as text: sign, leading zeros, digits, and decimals that are all 0.
_WHOLE_NUMBER = re.compile(r"([+-]?)0*([0-9]+)(?:\.0*)?")

Hashes = Callable[[Array], NDArray[np.uint64]]
"""A function from row numbers to hashes."""


# Hashes of identifiers.


def hashes_of(ids: Any, size: int, random_state: Any = 0) -> Hashes:
    """Return a function that maps row numbers to hashes of the rows' identifiers.

    Without identifiers, the row numbers are hashed.

    Notes
    -----
    The hash is the 8-byte BLAKE2b hash of the identifier's text, with the random state as the key. Libraries may read
    the same identifier as text, as an integer or as a float. The text of a whole number is therefore hashed without
    leading zeros and decimals.

    Raises
    ------
    ShapeError, InputError
        If the number of identifiers differs from the number of cases, or if an identifier is missing or repeated.

    Examples
    --------
    >>> rows = np.arange(2)
    >>> len({hashes_of(ids, 2)(rows)[0] for ids in (["00123", "a"], [123, 7], [123.0, 7.0])})
    1
    """
    key = check.seed_of(random_state).to_bytes(HASH_BYTES, "big")
    if ids is None:
        return lambda rows: _digests([str(row) for row in rows.tolist()], key)
    column = check.check_column(ids, "ids", size)
    check.check_present(column, "ids", InputError)
    texts = _hashed_texts(column)
    return lambda rows: _digests([texts[row] for row in rows.tolist()], key)


def _hashed_texts(column: Array) -> list[str]:
    """Return the text that is hashed for each identifier."""
    texts = []
    for identifier in column.tolist():
        # Some libraries read a column of integers with a missing value as floats.
        if isinstance(identifier, float) and identifier.is_integer():
            identifier = int(identifier)
        texts.append(str(identifier))
    for text, times in Counter(texts).items():
        if times > 1:
            raise InputError("ids", expected="a different identifier in each row", got=f"{text!r} twice")
    if column.dtype.kind in "iuf":
        return texts

    # Whole numbers written as text are hashed without leading zeros, plus sign and decimals.
    shortened = []
    for text in texts:
        # This test comes before the regular expression to save time: most identifiers cannot be shortened.
        number = _WHOLE_NUMBER.fullmatch(text) if text[:1] in "+-0" or "." in text else None
        shortened.append(text if number is None else number[1].replace("+", "") + number[2])
    # A list with both "7" and "07" has two different cases, so their texts are hashed unchanged.
    rows_of = Counter(shortened)
    return [short if rows_of[short] == 1 else text for short, text in zip(shortened, texts, strict=True)]


def _digests(texts: list[str], key: bytes) -> NDArray[np.uint64]:
    keyed = blake2b(digest_size=HASH_BYTES, key=key)
    digests = bytearray()
    for text in texts:
        digest = keyed.copy()
        digest.update(text.encode())
        digests += digest.digest()
    return np.frombuffer(bytes(digests), dtype=">u8").astype(np.uint64)


# Draws.


def draw(goodness: Array, group: Array, number: Array, hashes: Hashes) -> Booleans:
    """Return True for the selected cases: a given number of the best cases of each group, with ties ordered by hash.

    Parameters
    ----------
    goodness : array of n
        Score of each case; higher is better.
    group : array of n integers
        Index of each case's group, from 0.
    number : array of integers
        Number of cases to select in each group, at most the size of the group.
    hashes : function from row numbers to hashes
        Called only for tied cases, if some but not all of them are selected.

    Examples
    --------
    >>> drawn = draw(np.array([5, 7, 6, 6]), np.array([0, 1, 1, 1]), np.array([1, 2]), hashes_of(None, 4))
    >>> drawn[:2].tolist(), drawn[2:].sum()  # one of the last two, which are equal
    ([True, True], np.int64(1))
    """
    number = np.minimum(number, np.bincount(group, minlength=number.size))
    if not number.any():
        return np.zeros(goodness.size, bool)

    # Find the score of the last case selected in each group: better cases are selected, cases of this score are tied.
    order = np.argsort(goodness)
    rows, bounds = deal(group[order], order, number.size)
    last_row = np.clip(bounds[1:] - np.maximum(number, 1), 0, rows.size - 1)
    last = goodness[rows[last_row]][group]
    drawn, equal = goodness > last, goodness == last

    # If all tied cases of a group fit, all are selected; otherwise those with the smallest hashes are selected.
    room = number - np.bincount(group[drawn], minlength=number.size)
    all_fit = np.bincount(group[equal], minlength=number.size) <= room
    drawn |= equal & all_fit[group]
    tied = np.flatnonzero(equal & (~all_fit & (room > 0))[group])
    by_hash = tied[np.lexsort((hashes(tied), group[tied]))]
    starts = group[by_hash].searchsorted(np.arange(number.size))
    place = np.arange(tied.size) - starts[group[by_hash]]
    drawn[by_hash[place < room[group[by_hash]]]] = True
    return drawn


def ordered(goodness: Array, chosen: Indices, hashes: Hashes) -> Indices:
    """Return row numbers sorted by decreasing goodness; ties are ordered by hash.

    Examples
    --------
    >>> ordered(np.array([3, 9, 4]), np.array([0, 1, 2]), hashes_of(None, 3)).tolist()
    [1, 2, 0]
    """
    rank = np.unique(goodness[chosen], return_inverse=True)[1]
    return chosen[np.lexsort((hashes(chosen), -rank))]
