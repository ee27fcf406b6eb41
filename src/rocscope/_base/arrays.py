"""Convert tensors of torch and CuPy to NumPy without importing either library.

Names of types that the whole package uses.
"""

import sys
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rocscope.errors import InputError

Array = NDArray[Any]
Ties = Literal["half", "lower", "upper"]


_MOST_ENTRIES = 2**40  # 8 TiB of floats

NUMBERS = ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool")
"""Numeric types that both libraries share with NumPy."""


def library_of(values: Any) -> Any:
    """Return the library whose tensor this is: torch, CuPy, or None for anything else."""
    for name, kind in (("torch", "Tensor"), ("cupy", "ndarray")):
        library = sys.modules.get(name)
        if library is not None and isinstance(values, getattr(library, kind, ())):
            return library
    return None


def type_of(tensor: Any) -> str:
    """Return the name of the type of a tensor's numbers."""
    return str(tensor.dtype).removeprefix("torch.")


def widened(tensor: Any) -> Any:
    """Return a tensor without its gradient; floats that NumPy lacks, such as bfloat16, become float32."""
    if not hasattr(tensor, "detach"):
        return tensor
    tensor = tensor.detach()
    return tensor.float() if tensor.is_floating_point() and type_of(tensor) not in NUMBERS else tensor


def as_array(values: Any) -> Array:
    """Convert anything array-like to a NumPy array, without rounding any number.

    Those of a device are copied, all others are shared where NumPy can.

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
    """Refuse a sequence that states a length which no memory holds: NumPy would begin to read it."""
    try:
        too_long = len(values) >= _MOST_ENTRIES
    except (TypeError, OverflowError) as error:
        too_long = isinstance(error, OverflowError)
    if too_long:
        raise InputError(
            "data", expected="a sequence that memory holds", got=f"a {type(values).__name__} of 2^40 entries or more"
        )


RANK_ANYWHERE = False
"""If True, arrays in memory take the code path of a device; tests use it where there is no device."""


def ranks_there(values: Any) -> Any:
    """Return the library that ranks scores on their device, for a tensor on a device; otherwise None."""
    library = library_of(values)
    if RANK_ANYWHERE:
        return np if isinstance(values, np.ndarray) else library
    return None if getattr(values, "is_cpu", False) else library
