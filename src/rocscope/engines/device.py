"""Rank scores on a GPU, with the sort of the array library that holds them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rocscope import kernels
from rocscope._base.arrays import NUMBERS, Array, ranks_there, type_of, widened
from rocscope._base.radix import encode, without_signed_zeros
from rocscope.core.ranking import Levels, Ranking


@dataclass(frozen=True, eq=False)
class DeviceScores(Ranking):
    """Scores of positives and negatives, each sorted on their device; levels are copied to the host on request.

    Attributes
    ----------
    library : module
        torch, CuPy, or NumPy in tests.
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
        below, up_to = (self._places(self.neg, self.pos, side).sum().item() for side in ("left", "right"))
        return below, up_to - below

    def _places(self, scores: Any, values: Any, side: str) -> Any:
        return self.library.searchsorted(scores, values, side=side)

    @cached_property
    def _on_host(self) -> Levels:
        values = self.library.unique(self.library.concatenate([self.pos, self.neg]))
        below = (_host(self._places(scores, values, "left")) for scores in (self.pos, self.neg))
        tp, fp = (total - each[::-1].astype(np.int64) for total, each in zip(self.totals(), below, strict=True))
        threshold = without_signed_zeros(_host(values)[::-1].astype(self.dtype))
        return Levels(threshold, np.diff(tp, prepend=0), np.diff(fp, prepend=0))

    def levels(self) -> Levels:
        return self._on_host

    def blocks(self) -> Any:
        return self.levels().blocks_of(encode(np.ascontiguousarray(self.thresholds())))


def rank(y_true: Any, y_score: Any) -> DeviceScores | None:
    """Rank labels and scores on their device.

    None where they are not, or where they cannot be used as they are: what then fails states why, from a copy.
    """
    library = ranks_there(y_score)
    if library is None or ranks_there(y_true) is not library or y_true.shape != y_score.shape:
        return None
    if y_score.ndim != 1 or not y_score.shape[0] or getattr(y_true, "device", None) != getattr(y_score, "device", None):
        return None
    labels, scores = widened(y_true), widened(y_score)
    name = type_of(scores)
    if name not in NUMBERS or name == "bool" or ("float" in name and not library.isfinite(scores).all()):
        return None
    positive = labels if type_of(labels) == "bool" else labels == 1
    if not any((positive | (labels == negative)).all() for negative in (0, -1)):
        return None
    wide = _as_float32(scores) if name == "float16" else scores
    pos, neg = (_sorted(library, wide[rows]) for rows in (positive, ~positive))
    return DeviceScores(library, pos, neg, np.dtype(name))


def _sorted(library: Any, values: Any) -> Any:
    found = library.sort(values)
    return found[0] if isinstance(found, tuple) else found


def _as_float32(tensor: Any) -> Any:
    return tensor.float() if hasattr(tensor, "float") else tensor.astype("float32")


def _host(tensor: Any) -> Array:
    return tensor.get() if hasattr(tensor, "get") else np.asarray(tensor.cpu() if hasattr(tensor, "cpu") else tensor)
