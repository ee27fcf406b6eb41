"""How scores rank, remembered in little: counts at coarse scores, which merge and fit a small file."""

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rocscope._base.arrays import Array
from rocscope.core.counts import ThresholdCounts
from rocscope.decisions.monitoring.confidence_sequence import asymptotic_reach
from rocscope.inference.areas.placements import sample_of_counts
from rocscope.inference.estimate import Estimate

_BITS = 9  # of the mantissa: scores within a thousandth of each other are taken as equal
_ENOUGH = 25  # rows that tell how much ranks vary, from which on the limit theorem is leaned on


def _coarse(score: Array) -> NDArray[np.float64]:
    """Return scores rounded to nine binary digits; their order stays, but for new ties.

    Examples
    --------
    >>> _coarse(np.array([0.3, 0.30001, 0.301]))
    array([0.29980469, 0.29980469, 0.30078125])
    """
    mantissa, exponent = np.frexp(score.astype(np.float64))
    return np.ldexp(np.rint(mantissa * 2**_BITS) / 2**_BITS, exponent) + 0.0


class RankWatch:
    """Positives and negatives at each coarse score."""

    def __init__(self) -> None:
        self.counts: dict[float, list[int]] = {}

    def add(self, positive: NDArray[np.bool_], score: Array) -> None:
        """Count rows."""
        levels, inverse = np.unique(_coarse(score), return_inverse=True)
        pos = np.bincount(inverse, positive, levels.size).astype(np.int64)
        neg = np.bincount(inverse, ~positive, levels.size).astype(np.int64)
        self._add(levels.tolist(), pos.tolist(), neg.tolist())

    def _add(self, levels: list[float], pos: list[int], neg: list[int]) -> None:
        for level, more_pos, more_neg in zip(levels, pos, neg, strict=True):
            held = self.counts.setdefault(level, [0, 0])
            held[0] += more_pos
            held[1] += more_neg

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        levels = sorted(self.counts, reverse=True)
        pos, neg = ([self.counts[level][side] for level in levels] for side in (0, 1))
        return {"score": levels, "pos": pos, "neg": neg}

    def add_dict(self, content: dict[str, Any]) -> None:
        """Count what another one returned as plain data."""
        self._add(content["score"], content["pos"], content["neg"])

    def auc(self, level: float) -> Estimate | None:
        """Return the AUC with an interval that holds at every look once many rows are in; None without both classes.

        Notes
        -----
        On the logit scale, with DeLong's variance and the reach of an asymptotic confidence sequence.
        """
        content = self.to_dict()
        pos, neg = np.array(content["pos"], np.int64), np.array(content["neg"], np.int64)
        if not (pos.any() and neg.any()):
            return None
        sample = sample_of_counts(ThresholdCounts(np.array(content["score"]), pos, neg))
        size, variance = sample.size(0), float(sample.covariance[0, 0])
        auc, method = size.auc, "asymptotic confidence sequence, logit scale"
        if not (variance > 0 and 0 < auc < 1):
            return Estimate(auc, 0.0, 1.0, level, method, sample.n, reason="the ranks do not vary yet")
        reach = asymptotic_reach(sample.n, level) * sqrt(max(variance, size.variance)) / (auc * (1 - auc))
        low, high = special.expit(special.logit(auc) + np.array([-reach, reach]))
        few = size.informative < _ENOUGH
        reason = f"only {size.informative:.2g} rows tell how much the ranks vary so far" if few else ""
        return Estimate(auc, float(low), float(high), level, method, sample.n, sqrt(variance), reason)
