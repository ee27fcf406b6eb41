"""Probabilities of leaves: counts of classes, drawn towards what is known without them."""

from typing import Literal

import numpy as np

from rocscope import _validation as check
from rocscope._types import Array

Smoothing = Literal["laplace", "m", "none"]

KINDS = ("laplace", "m", "none")


def smoothed(counts: Array, smoothing: Smoothing, m: float) -> Array:
    """Return probabilities of k classes from counts (leaves × k), of which the first row is the root's.

    See `SmoothedTreeClassifier` for how.

    Raises
    ------
    InputError
        If there is no such smoothing, or m is negative.

    Examples
    --------
    >>> counts = np.array([[6, 2], [3, 0]])
    >>> smoothed(counts, "laplace", 0)[1], smoothed(counts, "m", 1)[1]
    (array([0.8, 0.2]), array([0.9375, 0.0625]))
    """
    check.check_choice("smoothing", smoothing, KINDS)
    check.check_number(m, "m", "a number of at least 0", least=0)
    if smoothing == "laplace":
        added = np.ones(counts.shape[1])
    else:
        added = (m if smoothing == "m" else 0) * counts[0] / counts[0].sum()
    return (counts + added) / (counts.sum(axis=1, keepdims=True) + added.sum())
