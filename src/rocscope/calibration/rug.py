"""Rug: where the scores of positives and of negatives lie, in few cells however many rows there are."""

from typing import NamedTuple

import numpy as np

from rocscope._types import Array
from rocscope.calibration.bins import equal_edges, sums
from rocscope.core.counts import ThresholdCounts


class Rug(NamedTuple):
    """Cells of equal width over [0, 1] that hold a row: their middles, and the positives and negatives in each."""

    x: Array
    pos: Array
    neg: Array


def rug(counts: ThresholdCounts, cells: int = 200) -> Rug:
    """Count the positives and negatives in narrow cells of the score.

    Parameters
    ----------
    counts : ThresholdCounts
        Of probabilities.
    cells : int
        Of equal width, ``[low, high)``, the last one closed.

    References
    ----------
    Vuk & Curk 2006, §6 and figure 8.

    Examples
    --------
    >>> rug(ThresholdCounts([0.9, 0.8, 0.1], [2, 1, 0], [0, 0, 3]), cells=2)
    Rug(x=array([0.25, 0.75]), pos=array([0., 3.]), neg=array([3., 0.]))
    """
    score = counts.threshold[::-1]
    edges = equal_edges(cells).astype(score.dtype if score.dtype.kind == "f" else np.float64)
    first = np.concatenate([[0], np.searchsorted(score, edges[1:-1])])
    pos, neg = (sums(column[::-1], first) for column in (counts.pos, counts.neg))
    used = pos + neg > 0
    return Rug((np.flatnonzero(used) + 0.5) / cells, pos[used], neg[used])
