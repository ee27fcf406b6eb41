"""Convert tensors to NumPy arrays, run work in threads, and check whole columns on all cores.

PyTorch and CuPy are recognised without importing them. All cores read slices of a column, so that memory is read only
once. Distinct texts are found by hashing, which is ten times as fast as sorting. Whole numbers remain integers. If
float64 would round a whole number, an error is raised.
"""

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from decimal import Decimal
from functools import cache
from math import inf
from operator import mul
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from rocscope.errors import InputError

Array = NDArray[Any]
Booleans = NDArray[np.bool_]
Indices = NDArray[np.intp]
Ties = Literal["half", "lower", "upper"]


_MOST_ENTRIES = 2**40  # 8 TiB of floats

NUMBERS = ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool")
"""Numeric types that both libraries share with NumPy."""


def library_of(values: Any) -> Any:
    """Return the library of a tensor (torch or CuPy). Return None for all other values."""
    for name, kind in (("torch", "Tensor"), ("cupy", "ndarray")):
        library = sys.modules.get(name)
        if library is not None and isinstance(values, getattr(library, kind, ())):
            return library
    return None


def type_of(tensor: Any) -> str:
    """Return the name of the numeric type of a tensor."""
    return str(tensor.dtype).removeprefix("torch.")


def widened(tensor: Any) -> Any:
    """Return a tensor without its gradient. Floats that NumPy does not have, such as bfloat16, become float32."""
    if not hasattr(tensor, "detach"):
        return tensor
    tensor = tensor.detach()
    return tensor.float() if tensor.is_floating_point() and type_of(tensor) not in NUMBERS else tensor


def as_array(values: Any) -> Array:
    """Convert an array-like object to a NumPy array without rounding numbers.

    Data on a device are copied. Other data are shared if NumPy can share them.

    Examples
    --------
    >>> as_array([1, 2])
    array([1, 2])
    """
    if type(values) is np.ndarray:
        return values
    library = library_of(values)
    if library is None:
        if isinstance(values, range) or (hasattr(values, "__getitem__") and not hasattr(values, "__array__")):
            _require_within_memory(values)
        return np.asarray(values)
    if not hasattr(values, "detach"):
        return values.get()
    tensor = widened(values)
    dense = tensor.to_dense() if tensor.is_sparse else tensor
    return dense.resolve_conj().resolve_neg().cpu().numpy()


def _require_within_memory(values: Any) -> None:
    """Raise an error if the length of a sequence exceeds any memory. NumPy would start to read such a sequence."""
    try:
        too_long = len(values) >= _MOST_ENTRIES
    except (TypeError, OverflowError) as error:
        too_long = isinstance(error, OverflowError)
    if too_long:
        got = f"a {type(values).__name__} of 2^40 entries or more"
        raise InputError("data", expected="a sequence that fits in memory", got=got)


RANK_ANYWHERE = False
"""If True, arrays in memory are treated as arrays on a device. Tests set this if there is no device."""


def ranks_there(values: Any) -> Any:
    """Return the library that can rank a tensor on its device. Return None for data in memory."""
    library = library_of(values)
    if RANK_ANYWHERE:
        return np if isinstance(values, np.ndarray) else library
    return None if getattr(values, "is_cpu", False) else library


Item = TypeVar("Item")
_Result = TypeVar("_Result")


def cores() -> int:
    """Return NUMBA_NUM_THREADS if it is set, otherwise the number of cores that the process can use."""
    affinity = getattr(os, "sched_getaffinity", None)
    available = len(affinity(0)) if affinity else os.cpu_count() or 1
    wanted = os.environ.get("NUMBA_NUM_THREADS", "")
    return max(min(int(wanted), available), 1) if wanted.isdecimal() else available


def in_threads(function: Callable[[Item], _Result], items: Iterable[Item], threads: int | None = None) -> list[_Result]:
    """Apply a function to each item in threads, and return the results in the order of the items.

    The calling thread works too. A single item is processed without other threads. Each thread takes the next item
    itself, because passing small items to threads would take longer.
    """
    items = list(items)
    others = min(threads or cores(), len(items)) - 1
    if others <= 0:
        return [function(item) for item in items]
    left = deque(range(len(items)))
    results: dict[int, _Result] = {}

    def work() -> None:
        try:
            while (number := _next_of(left)) is not None:
                results[number] = function(items[number])
        except BaseException:
            left.clear()
            raise

    with ThreadPoolExecutor(others, "rocscope") as pool:
        # Run in a copy of this context, so that settings such as listeners of warnings apply in the threads.
        helpers = [pool.submit(copy_context().run, work) for _ in range(others)]
        work()
    for helper in helpers:
        helper.result()
    return [results[number] for number in range(len(items))]


def _next_of(left: deque[int]) -> int | None:
    """Return the next number, or None at the end. A separate check for the end would be a race condition."""
    try:
        return left.popleft()
    except IndexError:
        return None


def pieces_of(rows: int, size: int) -> list[slice]:
    """Return slices of at most `size` rows that cover all rows.

    Examples
    --------
    >>> pieces_of(5, 3)
    [slice(0, 3, None), slice(3, 5, None)]
    """
    return [slice(start, min(start + size, rows)) for start in range(0, rows, size)]


_BLAS = threading.Lock()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Compute products of matrices in one thread within a block.

    For many small products, other threads would mostly wait, and waiting takes processor time. The number of threads is
    a setting of the whole process. While one thread has changed the setting, other threads do not change it, because
    they would later restore the changed value.
    """
    if not _BLAS.acquire(blocking=False):
        yield
        return
    try:
        with _linear_algebra().limit(limits=1, user_api="blas"):
            yield
    finally:
        _BLAS.release()


@cache
def _linear_algebra() -> Any:
    """Return the libraries of linear algebra. The result is cached, because the search takes 3 ms."""
    from threadpoolctl import ThreadpoolController  # comes with scikit-learn

    return ThreadpoolController()


_STRETCH = 1 << 16  # rows of a slice for one thread: some hundred kB, which fit the cache
_MANY = 1 << 20  # with fewer rows, starting threads takes longer than the work


def zeros_and_ones(labels: Array) -> Booleans | None:
    """Return whole numbers as booleans if all are 0 or 1. Otherwise, return None.

    Examples
    --------
    >>> zeros_and_ones(np.array([0, 1, 1])), zeros_and_ones(np.array([0, 1, 2]))
    (array([False,  True,  True]), None)
    """
    bits = labels.view(f"u{labels.itemsize}")
    positive = labels.view(np.bool_) if labels.itemsize == 1 else np.empty(labels.size, np.bool_)

    def write(rows: slice) -> bool:
        if labels.itemsize > 1:
            positive[rows] = bits[rows]
        return bits[rows].max() <= 1

    return positive if all(_each_stretch(write, labels)) else None


def all_finite(values: Array) -> bool:
    """Return True if all values are finite."""
    if values.size <= _STRETCH:
        # Counting takes half the time of `all`, which is noticeable for 1,000 values.
        return int(np.count_nonzero(np.isfinite(values))) == values.size
    return all(_each_stretch(lambda rows: np.isfinite(values[rows]).all(), values))


def ends_and_sum(values: Array) -> tuple[float, float, float]:
    """Return the minimum, the maximum and the sum of a column. All three are NaN if a value is NaN.

    Examples
    --------
    >>> ends_and_sum(np.array([2, 1, 4]))
    (1, 4, 7.0)
    """
    with np.errstate(over="ignore", invalid="ignore"):
        stretches = _each_stretch(lambda rows: _ends_and_sum(values[rows]), values)
        lows, highs, sums = map(np.array, zip(*stretches, strict=True))
        return lows.min().item(), highs.max().item(), sums.sum().item()


def _ends_and_sum(values: Array) -> tuple[Any, Any, float]:
    with np.errstate(over="ignore", invalid="ignore"):  # of this thread
        return values.min(), values.max(), values.sum(dtype=np.float64)


def _each_stretch(look: Callable[[slice], _Result], column: Array) -> list[_Result]:
    """Apply a function to each slice of a column, and return the results. There is at least one slice."""
    if column.size <= _STRETCH:
        return [look(slice(None))]
    return in_threads(look, pieces_of(column.size, _STRETCH), None if column.size > _MANY else 1)


MOST_SORTED = 50_000
"""Largest number of texts that NumPy sorts. For more texts, Arrow is imported."""


def encoded_texts(column: Array) -> tuple[Array, NDArray[np.int32]] | None:
    """Return the sorted distinct texts of a column, and for each row the index of its text.

    Return None if the column is short, or if it contains a value that is not a text.

    Examples
    --------
    >>> names, place = encoded_texts(np.array(["s", "north", "s"] * 20_000))
    >>> names.tolist(), place[:3].tolist(), encoded_texts(np.array([5] * 60_000))
    (['north', 's'], [1, 0, 1], None)
    """
    if column.size <= MOST_SORTED or column.dtype.kind not in "USO":
        return None
    encoded = _by_bytes(column) if column.dtype.kind in "US" else _by_text(column)
    if encoded is None:
        return None
    names, place = encoded
    order = np.argsort(names)
    rank = np.empty(order.size, np.int32)
    rank[order] = np.arange(order.size)
    return names[order], rank[place]


def _by_bytes(column: Array) -> tuple[Array, Array]:
    """Encode fixed-width texts by their bytes in memory. Arrow strings would end at the first zero byte."""
    import pyarrow as pa

    flat = np.ascontiguousarray(column)
    fixed = pa.FixedSizeBinaryArray.from_buffers(pa.binary(flat.itemsize), flat.size, [None, pa.py_buffer(flat)])
    coded = fixed.dictionary_encode()
    names = np.frombuffer(coded.dictionary.buffers()[1], column.dtype, count=len(coded.dictionary))
    return names, coded.indices.to_numpy()


def _by_text(column: Array) -> tuple[Array, Array] | None:
    import pyarrow as pa

    try:
        texts: Any = pa.array(column)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):  # of several types, or no UTF-8
        return None
    if not pa.types.is_string(texts.type) or texts.null_count:
        return None
    coded = texts.dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):  # of more than 2 GB
        coded = coded.unify_dictionaries().combine_chunks()
    names = np.empty(len(coded.dictionary), object)
    names[:] = coded.dictionary.to_pylist()
    return names, coded.indices.to_numpy()


FIRST_ROUNDED = 2.0**53
"""Largest magnitude up to which float64 represents every whole number."""
WHOLE_OF_64_BITS = "whole numbers that fit in 64 bits or that float64 represents exactly"
NUMBER_TYPES = (int, float, np.number, Decimal)
DECIMAL_DIGITS = 15
"""Decimals with up to this number of digits remain distinct and in order as float64 (DBL_DIG of IEEE 754)."""
EXACT_NUMBERS = f"{WHOLE_OF_64_BITS}, and decimals of at most {DECIMAL_DIGITS} digits"


def as_written(values: Sequence[Any], array: Array, name: str, error: type[InputError] = InputError) -> Array:
    """Return Python numbers as a NumPy array. Whole numbers are not rounded. Decimals are converted as from a file.

    Examples
    --------
    >>> as_written([2**64 - 1, 2], np.array([1.8e19, 2]), "y_score")
    array([18446744073709551615,                    2], dtype=uint64)
    >>> numbers = [2**64, Decimal("0.1")]
    >>> as_written(numbers, np.array(numbers), "y_score")
    array([1.84467441e+19, 1.00000000e-01])
    """
    if array.ndim != 1 or (array.dtype != object and not _is_large_float(array)):
        return array
    if all(_is_whole(value) for value in values):
        low, high = int(min(values)), int(max(values))
        if low >= -(2**63) and high < (2**63 if low < 0 else 2**64):
            return np.array([int(value) for value in values], np.int64 if high < 2**63 else np.uint64)
    nearest = [_nearest(value) for value in values]
    # A rounded decimal must not meet a longer number that float64 represents exactly. Python compares numbers of
    # different types exactly.
    taken = {near for value, near in zip(values, nearest, strict=True) if isinstance(value, Decimal) and value != near}
    for row, (value, near) in enumerate(zip(values, nearest, strict=True)):
        if isinstance(value, Decimal):
            exact = has_few_digits(value) or (value == near and near not in taken)
        else:
            exact = not isinstance(value, int | np.integer) or (int(value) == near and near not in taken)
        if not exact:
            hint = "if rounding does not matter, convert the number to a float"
            raise error(name, expected=EXACT_NUMBERS, got=inexact(value, row), hint=hint)
    return np.array(nearest)


def inexact(value: Any, row: int | None) -> str:
    """Return the "got" text of an error for a number that would be rounded in the type of its column."""
    text = str(value) if row is None else f"{value} in row {row}"
    fits = _is_whole(value) and -(2**63) <= value < 2**64
    return f"{text}, together with numbers that need another type" if fits else text


def has_few_digits(value: Decimal) -> bool:
    """Return True if float64 keeps a decimal distinct from all others with few digits, and in order.

    Examples
    --------
    >>> has_few_digits(Decimal("0.1200000000000000000")), has_few_digits(Decimal("0.1234567890123456"))
    (True, False)
    """
    return len("".join(map(str, value.as_tuple().digits)).strip("0")) <= DECIMAL_DIGITS


def _is_whole(value: Any) -> bool:
    if isinstance(value, Decimal):
        return value.is_finite() and value == value.to_integral_value()
    return isinstance(value, int | np.integer)


def _nearest(value: Any) -> float:
    """Return the float nearest to a number. Return infinity for numbers above the largest float."""
    try:
        return float(value)
    except OverflowError:
        return inf


def _is_large_float(array: Array) -> bool:
    return array.dtype == np.float64 and bool((np.abs(array) >= FIRST_ROUNDED).any())


def unpacked(values: Array, absent: NDArray[np.bool_], name: str, error: type[InputError]) -> Array:
    """Convert a column of Python objects, such as numbers and None, to numbers. Strings are not parsed."""
    kept = values[~absent].tolist()
    strange = [value for value in kept if not isinstance(value, NUMBER_TYPES)]
    if strange:
        raise error(name, expected="numbers", got=f"{strange[0]!r} of type {type(strange[0]).__name__}")
    numbers = as_written(kept, np.asarray(kept), name, error) if kept else np.empty(0)
    if not absent.any():
        return numbers
    filled = np.full(values.size, np.nan)
    filled[~absent] = numbers
    return filled


_LEAST_TOTAL = 1e-100  # products of two such totals, and of their inverses, stay far from the limits of float64


def is_moderate(total: float) -> bool:
    """Return True if products of two sums that are at most `total` are within the range of floats."""
    return total == 0 or _LEAST_TOTAL < total < 1 / _LEAST_TOTAL


def dot(a: Array, b: Array, most: float) -> float:
    """Return the sum of the products of counts. `most` is an upper bound of this sum.

    If the upper bound exceeds 64 bits, the sum is computed with Python integers.
    """
    if a.dtype.kind == "i":
        return sum(map(mul, a.tolist(), b.tolist())) if most > 2**63 - 1 else a.dot(b).item()
    # Unlike a dot product of floats, the result is the same on every machine.
    return (a * b).sum().item()


def after_infinity(scores: Array) -> Array:
    """Return infinity followed by decreasing scores. Scores that float64 would round remain Python integers."""
    exact = scores.dtype.kind == "f" or (scores[0].item() <= 2**53 and scores[-1].item() >= -(2**53))
    dtype = scores.dtype if scores.dtype.kind == "f" else np.dtype(np.float64 if exact else object)
    return np.concatenate([np.array([np.inf], dtype), scores], dtype=dtype)
