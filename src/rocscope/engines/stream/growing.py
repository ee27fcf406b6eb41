"""Columns of rows as they come in, kept in few large arrays."""

import numpy as np

from rocscope._types import Array

_FIRST = 1 << 16
_MOST_ROWS = 1 << 23


class GrowingRows:
    """Rows that are kept in arrays, each as long as all before it together, so that there are few.

    The system gives memory that is asked for at once in large pages, in half the time; what is not filled takes none.
    """

    def __init__(self) -> None:
        self._full: list[tuple[Array, ...]] = []
        self._last: tuple[Array, ...] = ()
        self._used = 0
        self._rows = 0
        self.nbytes = 0

    def __bool__(self) -> bool:
        return self._rows > 0

    def add(self, *columns: Array) -> None:
        """Take a copy of rows; columns of other types than before get arrays of their own."""
        rows = columns[0].size
        if not rows:
            return
        if not self._fits(columns):
            self._full += self._filled()
            room = max(min(max(self._rows, _FIRST), _MOST_ROWS), rows)
            self._last, self._used = tuple(np.empty(room, column.dtype) for column in columns), 0
        for array, column in zip(self._last, columns, strict=True):
            array[self._used : self._used + rows] = column
        self._used += rows
        self._rows += rows
        self.nbytes += sum(column.nbytes for column in columns)

    def _fits(self, columns: tuple[Array, ...]) -> bool:
        if not self._last or self._last[0].size - self._used < columns[0].size:
            return False
        return all(array.dtype == column.dtype for array, column in zip(self._last, columns, strict=True))

    def _filled(self) -> list[tuple[Array, ...]]:
        return [tuple(array[: self._used] for array in self._last)] if self._used else []

    def take(self) -> list[tuple[Array, ...]]:
        """Give all away."""
        found = self._full + self._filled()
        self.__init__()
        return found
