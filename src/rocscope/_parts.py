"""Rows by the values of a column: the rows of all values are found by one sort, however many there are."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rocscope import _validation as check
from rocscope import kernels
from rocscope._types import Array
from rocscope.errors import InputError

Made = TypeVar("Made")

_SPREAD = 4  # up to so many times as many whole numbers as rows are looked up in a table, which takes no sort
_MOST_SHORT = 2**31 - 1


class Named(Mapping[Hashable, Made]):
    """A mapping from the values of a column, in their order, to what is made of the rows of each when asked for.

    Attributes
    ----------
    names : array of the distinct values
    """

    def __init__(self, names: Array, make: Callable[[int], Made]) -> None:
        self.names = names
        self._make = make

    @cached_property
    def _names(self) -> list[Hashable]:
        return list(self.names) if self.names.dtype.kind in "mM" else self.names.tolist()

    @cached_property
    def _position(self) -> dict[Hashable, int]:
        return {name: i for i, name in enumerate(self._names)}

    def __getitem__(self, name: Hashable) -> Made:
        return self._make(self._position[name])

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._names)

    def __len__(self) -> int:
        return self.names.size


def parts(name: str, column: Array | None, make: Callable[[Array], Made]) -> Named[Made]:
    """Return what `make` makes of the numbers of the rows of each fold, repeat or segment.

    Examples
    --------
    >>> found = parts("segment", np.array(["s", "n", "s"]), lambda rows: rows.tolist())
    >>> list(found), found["s"]
    (['n', 's'], [0, 2])
    """
    values, code = numbered(name, column)
    order, bounds = deal(code, np.arange(code.size), values.size)
    return Named(values, lambda i: make(order[bounds[i] : bounds[i + 1]]))


def masks_of(name: str, column: Array | None) -> Named[NDArray[np.bool_]]:
    """Return the mask of each value of a fold, repeat or segment column."""

    def mask(rows: Array) -> NDArray[np.bool_]:
        found = np.zeros(0 if column is None else column.size, bool)
        found[rows] = True
        return found

    return parts(name, column, mask)


def numbered(name: str, column: Array | None) -> tuple[Array, NDArray[np.int64]]:
    """Return the distinct values of a fold, repeat or segment column in their order, and the place of each row's.

    Examples
    --------
    >>> values, place = numbered("segment", np.array([7, 5, 7]))
    >>> values, place.tolist()
    (array([5, 7]), [1, 0, 1])
    """
    if column is None:
        where = "Predictions" if name == "repeat" else "Predictions or rocscope.read"
        raise InputError(f"there is no {name} column", hint=f"pass {name}= to {where}")
    check.check_present(column, name, InputError)
    try:
        names, (code,) = number([column])
    except TypeError:  # names of mixed types have no order
        places: dict[Any, int] = {}
        code = np.array([places.setdefault(value, len(places)) for value in column.tolist()])
        names = np.empty(len(places), object)
        names[:] = list(places)
    return names, code


def number(chunks: Sequence[Array]) -> tuple[Array, list[Array]]:
    """Return the distinct values of all chunks in their order, and the place of each entry's, chunk by chunk.

    Examples
    --------
    >>> values, places = number([np.array([7, 5]), np.array([9, 7])])
    >>> values, [place.tolist() for place in places]
    (array([5, 7, 9]), [[1, 0], [2, 1]])
    """
    if all(chunk.dtype.kind in "iu" for chunk in chunks):
        low, high = min(chunk.min().item() for chunk in chunks), max(chunk.max().item() for chunk in chunks)
        if high - low <= _SPREAD * sum(chunk.size for chunk in chunks):
            return _looked_up(chunks, low, high - low)
    if len(chunks) == 1:
        names, code = np.unique(chunks[0], return_inverse=True)
        return names, [code]
    names = np.unique(np.concatenate([np.unique(chunk) for chunk in chunks]))
    return names, [names.searchsorted(chunk) for chunk in chunks]


def _looked_up(chunks: Sequence[Array], low: int, spread: int) -> tuple[Array, list[Array]]:
    kind = np.result_type(*chunks)
    wide = np.dtype(np.uint64 if kind.kind == "u" else np.int64)
    there = np.zeros(spread + 1, bool)
    for chunk in chunks:
        there[chunk.astype(wide, copy=False) - wide.type(low)] = True
    names = (np.flatnonzero(there).astype(wide) + wide.type(low)).astype(kind)
    if names.size > spread:  # none is missing
        return names, [chunk.astype(wide, copy=False) - wide.type(low) if low else chunk for chunk in chunks]
    place = np.cumsum(there, dtype=np.int64 if names.size > _MOST_SHORT else np.int32) - 1
    return names, [place[chunk.astype(wide, copy=False) - wide.type(low)] for chunk in chunks]


def deal(slot: Array, values: Array, slots: int) -> tuple[Array, NDArray[np.int64]]:
    """Return values by their slot, in each as they came, and where every slot begins (and the last ends).

    Examples
    --------
    >>> deal(np.array([2, 0, 2]), np.array([5, 6, 7]), 3)
    (array([6, 5, 7]), array([0, 1, 1, 3]))
    """
    bounds = bounds_of([slot], slots)
    return deal_chunks([(slot, values)], bounds), bounds


def bounds_of(chunks: Sequence[Array], slots: int) -> NDArray[np.int64]:
    """Return where every slot begins, and the last ends, if slots are filled from all chunks."""
    if sum(slot.size for slot in chunks) < kernels.SMALL:
        return np.cumsum(np.bincount(np.concatenate([*chunks]) + 1, minlength=slots + 1))
    bounds = np.zeros(slots + 2, np.int64)
    for slot in chunks:
        kernels.groups.count(slot, bounds)
    return np.cumsum(bounds[1:])


def deal_chunks(chunks: Iterable[tuple[Array, Array]], bounds: NDArray[np.int64]) -> Array:
    """Return the values of all chunks by their slot, in each as they came; few are sorted without a compiler."""
    chunks = iter(chunks)
    first = next(chunks)
    if bounds[-1] < kernels.SMALL:
        slot, values = (np.concatenate(column) for column in zip(first, *chunks, strict=True))
        return values[np.argsort(slot, kind="stable")]
    filled = np.concatenate([[0], bounds])
    dealt = np.empty(bounds[-1], first[1].dtype)
    for slot, values in chain([first], chunks):
        kernels.groups.deal(slot, values, filled, dealt)
    return dealt
