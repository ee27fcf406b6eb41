"""Columns of labels as truth values."""

import numpy as np
from numpy.typing import NDArray

from rocscope._types import Array

_STRETCH = 1 << 15  # rows that are looked at twice within the cache


def zeros_and_ones(labels: Array) -> NDArray[np.bool_] | None:
    """Return whole numbers as truth values if they are: a stretch at a time, so that memory is read once."""
    bits = labels.view(f"u{labels.itemsize}")
    positive = labels.view(np.bool_) if labels.itemsize == 1 else np.empty(labels.size, np.bool_)
    for start in range(0, labels.size, _STRETCH):
        own = slice(start, start + _STRETCH)
        if bits[own].max() > 1:
            return None
        if labels.itemsize > 1:
            positive[own] = bits[own]
    return positive
