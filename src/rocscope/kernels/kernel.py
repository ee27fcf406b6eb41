"""Kernel: a loop that is compiled when it is first called on large input.

Each is a plain Python function that numba compiles on the first large call, so that small inputs never
wait for a compiler: they run the same function on lists, where Python's integers cannot overflow.
"""

import sys
from collections.abc import Callable
from functools import cache, cached_property
from types import FunctionType
from typing import Any

from rocscope.errors import InputError, warn

SMALL = 50_000
"""With fewer rows or levels than this, NumPy and plain Python are faster than loading the compiler."""


WORTH_LOADING = 1_000_000
"""NumPy ranks so many rows in about the time that the compiler takes to load (.6 s, or 5 s with nothing cached)."""


class _Tally:
    """Rows that NumPy has ranked while the compiler was not loaded."""

    rows = 0


def few(rows: int) -> bool:
    """Return whether NumPy shall rank so many rows.

    While the compiler is not loaded, NumPy ranks larger inputs too, up to so many rows in all: a script that computes
    one figure does not wait for a compiler, and one that computes many loads it soon.
    """
    if rows < SMALL:
        return True
    if "numba" in sys.modules or _Tally.rows + rows > WORTH_LOADING:
        return False
    _Tally.rows += rows
    return True


def compiled_pays(numbers: int) -> bool:
    """Return whether a compiled loop over this many values is faster than NumPy, the compiler's own start included."""
    return numbers >= SMALL or "numba" in sys.modules


@cache
def _warn_of_compiling() -> None:
    """Warn once that nothing is kept."""
    warn(
        "compiled loops cannot be kept, so that every process compiles them for seconds; "
        "set NUMBA_CACHE_DIR to a folder that can be written"
    )


class Kernel:
    """A loop compiled on its first call, together with its callees; releases the GIL and is cached on disk."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.python = function
        self.__doc__ = function.__doc__

    @cached_property
    def _compiled(self) -> Callable[..., Any]:
        try:
            import numba
        except ValueError as error:  # its settings in the environment, such as NUMBA_NUM_THREADS=0
            raise InputError("environment of numba", expected="valid settings (NUMBA_…)", got=str(error)) from error

        # The compiler does not know this class: compiled callees replace kernels in a copy of the global names.
        code, names = self.python.__code__, self.python.__globals__
        called = {name: names[name] for name in code.co_names if isinstance(names.get(name), Kernel)}
        scope = names | {name: kernel._compiled for name, kernel in called.items()}
        function = FunctionType(code, scope, self.python.__name__)
        try:
            return numba.njit(cache=True, nogil=True)(function)
        except RuntimeError:  # nowhere to keep it: a zip on a cluster's worker, a home that cannot be written
            _warn_of_compiling()
            return numba.njit(nogil=True)(function)

    def __call__(self, *args: Any) -> Any:
        return self._compiled(*args)
