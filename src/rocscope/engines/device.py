"""Rank scores on a GPU with the sort of the array library that holds the scores.

Positives and negatives are sorted separately. A binary search of the positives among the negatives counts the pairs for
the AUC. A binary search of the distinct scores gives the counts at each score. Only these counts are copied to the
host.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rocscope import kernels
from rocscope._base.arrays import NUMBERS, Array, ranks_there, type_of, widened
from rocscope._base.radix import encode
from rocscope.core import Levels
from rocscope.core.ranking import Ranking, unsigned_zeros


@dataclass(frozen=True, eq=False)
class DeviceScores(Ranking):
    """Ranking on a GPU, with the sorted scores of positives and the sorted scores of negatives.

    The counts at each distinct score are copied to the host when they are needed.

    Attributes
    ----------
    library : module
        Array library: torch, CuPy, or NumPy in tests.
    pos, neg : tensors of floats or integers, increasing
    dtype : type of the scores
    """

    library: Any
    pos: Any
    neg: Any
    dtype: np.dtype[Any]

    @property
    def few(self) -> bool:
        return sum(self.totals()) < kernels.SMALL

    def totals(self) -> tuple[float, float]:
        return self.pos.shape[0], self.neg.shape[0]

    def count_pairs(self) -> tuple[float, float]:
        # For each positive, the number of negatives below, and below or equal.
        below = self.library.searchsorted(self.neg, self.pos, side="left").sum().item()
        up_to = self.library.searchsorted(self.neg, self.pos, side="right").sum().item()
        return below, up_to - below

    @cached_property
    def _on_host(self) -> Levels:
        values = self.library.unique(self.library.concatenate([self.pos, self.neg]))
        threshold = unsigned_zeros(_host(values)[::-1].astype(self.dtype))
        return Levels(threshold, self._rows_at(self.pos, values), self._rows_at(self.neg, values))

    def _rows_at(self, scores: Any, values: Any) -> Array:
        """Return, for each distinct value, the number of scores equal to it. The highest value comes first."""
        below = _host(self.library.searchsorted(scores, values, side="left"))
        at_or_above = scores.shape[0] - below[::-1].astype(np.int64)
        return np.diff(at_or_above, prepend=0)

    def levels(self) -> Levels:
        return self._on_host

    def blocks(self) -> Any:
        # The codes of a block are the scores as unsigned integers in the same order, the format of `decode` in Ranking.
        return self.levels().blocks_of(encode(np.ascontiguousarray(self.thresholds())))


def rank(y_true: Any, y_score: Any) -> DeviceScores | None:
    """Rank labels and scores on the GPU.

    Return None if they are not on a GPU, or if they need a conversion. The caller then copies them to the host, where
    errors are raised.
    """
    library = ranks_there(y_score)
    if library is None or ranks_there(y_true) is not library or y_true.shape != y_score.shape:
        return None
    if y_score.ndim != 1 or not y_score.shape[0] or getattr(y_true, "device", None) != getattr(y_score, "device", None):
        return None
    labels = widened(y_true)  # without gradients, and with bfloat16 as float32
    scores = widened(y_score)
    name = type_of(scores)
    if name not in NUMBERS or name == "bool" or ("float" in name and not library.isfinite(scores).all()):
        return None
    positive = labels if type_of(labels) == "bool" else labels == 1
    if not any((positive | (labels == negative)).all() for negative in (0, -1)):
        return None
    # Some libraries cannot sort or search float16; float32 represents all its values.
    wide = (scores.float() if hasattr(scores, "float") else scores.astype("float32")) if name == "float16" else scores
    return DeviceScores(library, _sorted(library, wide[positive]), _sorted(library, wide[~positive]), np.dtype(name))


def _sorted(library: Any, values: Any) -> Any:
    result = library.sort(values)
    return result[0] if isinstance(result, tuple) else result  # torch also returns the order


def _host(tensor: Any) -> Array:
    if hasattr(tensor, "get"):  # CuPy
        return tensor.get()
    return np.asarray(tensor.cpu() if hasattr(tensor, "cpu") else tensor)
