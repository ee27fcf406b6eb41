"""Lots: which cases are taken where scores leave it open, the same for the same identifiers, and exactly so many."""

from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.errors import InputError

_BYTES = 8


def lots(ids: Any, size: int, seed: int, rows: Array | None = None) -> NDArray[np.uint64]:
    """Return the lot of each case: a whole number below 2⁶⁴ that the text of its identifier and the seed fix.

    Those of some rows only, if they are given; numbers of rows are the identifiers where there are none.

    Raises
    ------
    ShapeError, InputError
        If there is not one identifier a case, or one is missing or stands twice.

    Examples
    --------
    >>> lots(["b", "a"], 2, 0).tolist() == lots(["a", "b"], 2, 0).tolist()[::-1]
    True
    """
    column = np.arange(size) if ids is None else check.check_column(ids, "ids", size)
    if ids is not None:
        check.check_present(column, "ids", InputError)
        names = [str(each) for each in column.tolist()]
        if len(set(names)) < size:
            seen: set[str] = set()
            twice = next(name for name in names if name in seen or seen.add(name))
            raise InputError("ids", expected="a different one in each row", got=f"{twice!r} twice")
    texts = [str(each) for each in (column if rows is None else column[rows]).tolist()]
    salted = blake2b(digest_size=_BYTES, key=seed.to_bytes(_BYTES, "big"))
    digests = bytearray()
    for text in texts:
        case = salted.copy()
        case.update(text.encode())
        digests += case.digest()
    return np.frombuffer(bytes(digests), dtype=">u8").astype(np.uint64)


def between(fewer: Array, more: Array, number: int, lot: Array, share: float) -> NDArray[np.bool_]:
    """Return which cases are taken where exactly a number of them is, of two answers to each.

    Parameters
    ----------
    fewer, more : arrays of n booleans
        What the two classifiers answer; the number lies between their numbers of yes.
    lot : array of n
        Cases of the lowest lots get the second answer.
    share : float
        Of those on which they differ, about how many get it: which of several numbers is meant.
    """
    differing = np.flatnonzero(fewer != more)
    differing = differing[np.argsort(lot[differing], kind="stable")]
    steps = np.where(more[differing], 1, -1)
    taken = int(fewer.sum()) + np.concatenate(([0], np.cumsum(steps)))
    exact = np.flatnonzero(taken == number)
    turned = differing[: exact[np.argmin(np.abs(exact - share * differing.size))]]
    answer = fewer.copy()
    answer[turned] = more[turned]
    return answer


def exactly(number: int, answer: Array, goodness: Array, lot: Array) -> NDArray[np.bool_]:
    """Return the cases that are taken with the best others, or without the worst, so that they are exactly a number."""
    order = np.lexsort((lot, -np.unique(goodness, return_inverse=True)[1], ~answer))
    taken = np.zeros(answer.size, dtype=np.bool_)
    taken[order[:number]] = True
    return taken
