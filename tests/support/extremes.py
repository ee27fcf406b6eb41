"""Tables small enough to be checked by hand, each at some edge: ties, one level, reversed, the last bit of a score."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Table:
    """Rows, and what must come of them: pairs (concordant, tied, total) and hull vertices (tp, fp) in order."""

    y: list[int]
    score: Any
    pairs: tuple[int, int, int]
    hull: list[tuple[int, int]]
    weight: Any = None


one_step = np.nextafter(np.float32(0.5), np.float32(1))

BOTH_CLASSES = {
    "perfect": Table([1, 1, 0, 0], [4, 3, 2, 1], (4, 0, 4), [(2, 0), (2, 2)]),
    "reversed": Table([0, 0, 1, 1], [4, 3, 2, 1], (0, 0, 4), [(2, 2)]),
    "one level": Table([1, 0, 1, 0, 0], [7, 7, 7, 7, 7], (0, 6, 6), [(2, 3)]),
    "two rows": Table([0, 1], [0.1, 0.9], (1, 0, 1), [(1, 0), (1, 1)]),
    "two rows tied": Table([0, 1], [0.5, 0.5], (0, 1, 1), [(1, 1)]),
    "five rows, one tie": Table([1, 1, 0, 1, 0], [0.9, 0.6, 0.4, 0.4, 0.2], (5, 1, 6), [(2, 0), (3, 1), (3, 2)]),
    "collinear": Table([1, 0, 1, 0, 1, 0], [3, 3, 2, 2, 1, 1], (3, 3, 9), [(3, 3)]),
    "ties at both ends": Table([1, 1, 0, 0, 0], [2, 2, 2, 1, 1], (4, 2, 6), [(2, 1), (2, 3)]),
    "signed zeros": Table([1, 0, 1, 0], [0.0, -0.0, -0.0, 0.0], (0, 4, 4), [(2, 2)]),
    "signed zeros between": Table([1, 0, 1, 0], [1.0, -0.0, 0.0, -1.0], (3, 1, 4), [(1, 0), (2, 1), (2, 2)]),
    "huge and tiny": Table([1, 0, 1, 0], [1.7e308, 5e-324, 0.0, -1.7e308], (3, 0, 4), [(1, 0), (2, 1), (2, 2)]),
    "subnormal neighbours": Table([1, 0], [1e-323, 5e-324], (1, 0, 1), [(1, 0), (1, 1)]),
    "negative neighbours": Table([0, 1], [-1.0, np.nextafter(-1.0, 0)], (1, 0, 1), [(1, 0), (1, 1)]),
    "float32 neighbours": Table([1, 0], np.array([one_step, 0.5], np.float32), (1, 0, 1), [(1, 0), (1, 1)]),
    "float16 ends": Table([1, 0], np.array([65504, -65504], np.float16), (1, 0, 1), [(1, 0), (1, 1)]),
    "int64 beyond 2^53": Table([1, 0], np.array([2**53 + 1, 2**53]), (1, 0, 1), [(1, 0), (1, 1)]),
    "int64 ends": Table([1, 0, 1], np.array([2**63 - 1, 0, -(2**63)]), (1, 0, 2), [(1, 0), (2, 1)]),
    "uint64 ends": Table([1, 0], np.array([2**64 - 1, 2**64 - 2], np.uint64), (1, 0, 1), [(1, 0), (1, 1)]),
    "booleans": Table([1, 0, 1, 0], [True, False, True, True], (2, 2, 4), [(2, 1), (2, 2)]),
    "two weights above 0": Table([1, 0, 1, 0], [1, 2, 3, 4], (6, 0, 6), [(2, 0), (2, 3)], weight=[0, 3, 2, 0]),
    "weights as repetition": Table([1, 0, 1], [3, 2, 1], (4, 0, 12), [(2, 0), (6, 2)], weight=[2, 2, 4]),
}

ONE_CLASS = {
    "positives only": Table([1, 1, 1], [3, 2, 1], (0, 0, 0), [(3, 0)]),
    "negatives only": Table([0, 0, 0], [3, 2, 1], (0, 0, 0), [(0, 3)]),
    "one row": Table([1], [0.5], (0, 0, 0), [(1, 0)]),
    "all weights 0 but one": Table([1, 0, 1], [3, 2, 1], (0, 0, 0), [(1, 0)], weight=[0, 0, 1]),
}

TABLES = BOTH_CLASSES | ONE_CLASS
