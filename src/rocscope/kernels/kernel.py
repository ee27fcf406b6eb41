"""Kernel: a Python function with a loop that numba compiles when it is first called with large input.

With small input, the same function runs as plain Python on lists, without waiting for the compiler. Python integers
cannot overflow.
"""

import sys
from collections.abc import Callable
from functools import cache, cached_property
from types import FunctionType
from typing import Any

from rocscope.errors import InputError, warn

SMALL = 50_000
"""With fewer rows or levels, NumPy and plain Python take less time than loading the compiler."""


WORTH_LOADING = 8_000_000
"""NumPy works through this many numbers in about the time that the compiler takes to load (0.6 s, or 5 s uncached)."""

_RANKED = 8
"""NumPy ranks one row in the time that it needs for this many numbers: a million rows in 0.6 s."""


class _Tally:
    """Number of values that NumPy has worked through without the compiler."""

    numbers = 0


def few(rows: int) -> bool:
    """Return True if NumPy should rank this number of rows."""
    return rows < SMALL or not compiled_pays(_RANKED * rows)


def compiled_pays(numbers: int) -> bool:
    """Return True if a loop over this many values should be compiled, because the time to load numba pays.

    Until the compiler is loaded, NumPy works through up to `WORTH_LOADING` values in total. So a script that computes
    one AUC or one summary does not wait for the compiler, and a script that computes many soon loads it.
    """
    if "numba" in sys.modules:
        return True
    _Tally.numbers += numbers
    return _Tally.numbers > WORTH_LOADING


@cache
def _warn_of_compiling() -> None:
    """Warn once that compiled loops cannot be cached."""
    warn(
        "compiled loops cannot be cached, so every process spends seconds on compiling them; "
        "set NUMBA_CACHE_DIR to a writable folder"
    )


class Kernel:
    """A function with a loop that is compiled on its first call, together with the kernels that it calls.

    The compiled loop releases the GIL and is cached on disk.
    """

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
        except RuntimeError:  # no writable cache: a zip file on a cluster's worker, or a read-only home folder
            _warn_of_compiling()
            return numba.njit(nogil=True)(function)

    def __call__(self, *args: Any) -> Any:
        return self._compiled(*args)
