"""Group rows by the values of a column. All groups need only one sort."""

from collections.abc import Callable, Hashable, ItemsView, Iterator, KeysView, Mapping, Sequence, ValuesView
from functools import cached_property
from typing import Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from rocscope import kernels
from rocscope._base import validation as check
from rocscope._base.arrays import Array, Booleans, Indices, encoded_texts, in_threads
from rocscope._base.contract import held_to_contract
from rocscope.errors import InputError

Made = TypeVar("Made")

_SPREAD = 4  # up to so many times as many whole numbers as rows are looked up in a table, which takes no sort
_MOST_SHORT = 2**31 - 1  # places that int32 holds


SEGMENTS = (
    "a segment is a part of the rows, not a model; for all rows together, pass the Predictions, or .pooled() of the "
    "counts; for one segment, pass segments['north']; for all segments at once, see rocscope.segments"
)


@held_to_contract
class ByName(Generic[Made]):
    """Results for each distinct value of a column. A result is computed when it is looked up.

    The class has the methods of a mapping for reading. It is not a Mapping, so that functions do not mistake segments
    for models.

    Attributes
    ----------
    names : array
        The distinct values of the column.
    """

    def __init__(self, names: Array, make: Callable[[int], Made]) -> None:
        self.names = names
        self._make = make

    @cached_property
    def _names(self) -> list[Hashable]:
        return listed(self.names)

    @cached_property
    def _position(self) -> dict[Hashable, int]:
        return {name: i for i, name in enumerate(self._names)}

    def _place(self, name: Any) -> int | None:
        """Return the index of a name. All missing values have the same index."""
        place = self._position.get(name)
        return self._position.get(None) if place is None and check.is_missing(name) else place

    def __getitem__(self, name: Hashable) -> Made:
        place = self._place(name)
        if place is None:
            raise KeyError(name)
        return self._make(place)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._names)

    def __len__(self) -> int:
        return self.names.size

    def __array__(self, *_: Any, **__: Any) -> Array:
        raise InputError("data", expected="an array", got=type(self).__name__, hint=SEGMENTS)

    def __contains__(self, name: object) -> bool:
        return self._place(name) is not None

    def get(self, name: Hashable, default: Any = None) -> Any:
        """Return the result for a name, or `default` if the name is unknown.

        Parameters
        ----------
        name : label
            Name of the part.
        default
            Result for an unknown name.

        Raises
        ------
        InputError
            If the name is not a hashable value.
        """
        try:
            place = self._place(name)
        except TypeError as error:  # such as a signalling NaN, which has no hash
            raise InputError("name", expected="a name", got=repr(name)) from error
        return default if place is None else self._make(place)

    def keys(self) -> KeysView[Hashable]:
        """Return all names."""
        return KeysView(cast(Mapping[Hashable, Made], self))

    def values(self) -> ValuesView[Made]:
        """Return the results for all names."""
        return ValuesView(cast(Mapping[Hashable, Made], self))

    def items(self) -> ItemsView[Hashable, Made]:
        """Return pairs of name and result."""
        return ItemsView(cast(Mapping[Hashable, Made], self))


def listed(names: Array) -> list[Hashable]:
    """Return names in the form in which they are looked up. Dates remain NumPy dates; others become Python objects.

    Examples
    --------
    >>> listed(np.array(["n", "s"]))
    ['n', 's']
    """
    return list(names) if names.dtype.kind in "mM" else names.tolist()


class Parts(ByName[Made], Mapping[Hashable, Made]):
    """Mapping from each fold, repeat or segment to a result that is computed from its rows."""


def parts(name: str, column: Array | None, make: Callable[[Array], Made]) -> Parts[Made]:
    """Return a mapping from each fold, repeat or segment to the result of `make` for its row numbers.

    Examples
    --------
    >>> by_segment = parts("segment", np.array(["s", "n", "s"]), lambda rows: rows.tolist())
    >>> list(by_segment), by_segment["s"]
    (['n', 's'], [0, 2])
    """
    values, code = numbered(name, column)
    order, bounds = deal(code, np.arange(code.size), values.size)
    return Parts(values, lambda i: make(order[bounds[i] : bounds[i + 1]]))


def masks_of(name: str, column: Array | None) -> Parts[Booleans]:
    """Return a mapping from each fold, repeat or segment to a mask of its rows."""

    def mask(rows: Array) -> Booleans:
        mask = np.zeros(0 if column is None else column.size, bool)
        mask[rows] = True
        return mask

    return parts(name, column, mask)


def numbered(name: str, column: Array | None) -> tuple[Array, NDArray[np.signedinteger[Any]]]:
    """Return the sorted distinct values of a fold, repeat or segment column, and for each row the index of its value.

    Rows with a missing segment form a segment named None, which comes last.

    Examples
    --------
    >>> values, place = numbered("segment", np.array([7, 5, 7]))
    >>> values, place.tolist()
    (array([5, 7]), [1, 0, 1])
    """
    if column is None:
        where = "Predictions" if name == "repeat" else "Predictions or rocscope.read"
        raise InputError(f"there is no {name} column", hint=f"pass {name}= to {where}")
    texts = encoded_texts(column)
    if texts is not None:
        return texts
    absent = check.missing(column)
    if not absent.any():
        return _ordered(column)
    if name != "segment":
        check.check_present(column, name, InputError)
    names, known = _ordered(column[~absent]) if not absent.all() else (column[:0], 0)
    code = np.full(column.size, names.size)
    code[~absent] = known
    return np.fromiter([*listed(names), None], object, names.size + 1), code


def _ordered(column: Array) -> tuple[Array, NDArray[np.signedinteger[Any]]]:
    try:
        names, places = number([column])
        return names, places(column)
    except TypeError:  # names of mixed types have no order
        seen: dict[Any, int] = {}
        code = np.array([seen.setdefault(value, len(seen)) for value in column.tolist()])
        return np.fromiter(seen, object, len(seen)), code


def number(chunks: Sequence[Array]) -> tuple[Array, Callable[[Array], Array]]:
    """Return the sorted distinct values of all chunks, and a function from a chunk to indices of these values.

    Examples
    --------
    >>> values, places = number([np.array([7, 5]), np.array([9, 7])])
    >>> values, places(np.array([7, 5])).tolist()
    (array([5, 7, 9]), [1, 0])
    """
    if all(chunk.dtype.kind in "iu" for chunk in chunks):
        lowest, highest = zip(*in_threads(lambda chunk: (chunk.min().item(), chunk.max().item()), chunks), strict=True)
        low, high = min(lowest), max(highest)
        if high - low <= _SPREAD * sum(chunk.size for chunk in chunks):
            return _looked_up(chunks, low, high - low)
    if len(chunks) == 1:
        names, code = np.unique(chunks[0], return_inverse=True)
        return names, lambda _: code
    names = np.unique(np.concatenate([np.unique(chunk) for chunk in chunks]))
    return names, names.searchsorted


def _looked_up(chunks: Sequence[Array], low: int, spread: int) -> tuple[Array, Callable[[Array], Array]]:
    kind = np.result_type(*chunks)
    wide = np.dtype(np.uint64 if kind.kind == "u" else np.int64)

    def above(chunk: Array) -> Array:
        return chunk.astype(wide, copy=False) - wide.type(low) if low else chunk

    def mark(chunk: Array) -> None:
        if chunk.size < kernels.SMALL:
            there[above(chunk)] = True
        else:
            kernels.segments.mark(chunk, wide.type(low), there)

    there = np.zeros(spread + 1, bool)
    in_threads(mark, chunks)
    names = (np.flatnonzero(there).astype(wide) + wide.type(low)).astype(kind)
    if names.size > spread:  # none is missing
        return names, above
    place = np.cumsum(there, dtype=np.int64 if names.size > _MOST_SHORT else np.int32) - 1
    return names, lambda chunk: place[above(chunk)]


def deal(slot: Array, values: Array, slots: int) -> tuple[Array, NDArray[np.int64]]:
    """Sort values stably by slot, and return the sorted values and the bounds of the slots.

    Examples
    --------
    >>> deal(np.array([2, 0, 2]), np.array([5, 6, 7]), 3)
    (array([6, 5, 7]), array([0, 1, 1, 3]))
    """
    if slot.size < kernels.SMALL:  # few are sorted without a compiler
        # Old versions of NumPy do not count unsigned integers of 64 bits.
        rows = np.bincount(slot.astype(np.intp, copy=False), minlength=slots)
        return values[np.argsort(slot, kind="stable")], np.cumsum(np.append(0, rows))
    bounds = np.zeros(slots + 1, np.int64)
    kernels.segments.count(slot, slot.dtype.type(0), bounds[1:])
    np.cumsum(bounds, out=bounds)
    dealt = np.empty_like(values)
    kernels.segments.deal(slot, values, bounds[:-1].copy(), dealt)
    return dealt, bounds


def sum_by(code: Indices, values: Array, size: int) -> Array:
    """Return, for each code, the sum of each column of `values` over the rows with this code."""
    return np.column_stack([np.bincount(code, weights=column, minlength=size) for column in values.T])
