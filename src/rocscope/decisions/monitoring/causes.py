"""Causes of an alarm: which of class mix, rates and calibration changed when the evidence began to grow."""

from math import sqrt
from typing import Any

import numpy as np
from scipy import stats

from rocscope._base.arrays import Array
from rocscope.decisions.monitoring.confidence_sequence import LookBlock

_ERROR = 0.05  # shared among the four that are compared
_FEW = 50  # rows before the change, below which the rows that the decision was chosen on are compared
# A χ² test over fewer has little power; a note at every look needs a small error: choices.
_LEAST_BLOCKS, _SURE = 10, 0.001


def causes_of(blocks: list[LookBlock], since: int, cells: Array | None) -> str:
    """Return which of class mix, tpr, fpr and calibration differ between the rows before and since a block.

    Parameters
    ----------
    blocks : list of LookBlock
    since : int
        The first block after the change.
    cells : array of 4, optional
        tp, fp, fn and tn of the rows that the decision was chosen on, for a change from the first rows on.
    """
    before, after = _total(blocks[:since]), _total(blocks[since:])
    if before.n < _FEW and cells is not None:
        before = LookBlock(None, cells, np.zeros(3), {})
    found = []
    for name, used, hits in (("class mix", (0, 1, 2, 3), (0, 2)), ("tpr", (0, 2), (0,)), ("fpr", (1, 3), (1,))):
        counts = [(block.cells[list(hits)].sum(), block.cells[list(used)].sum()) for block in (before, after)]
        found.append((name, *_means_of_counts(counts)))
    found.append(("calibration", *_means_of_residuals([before.residuals, after.residuals])))
    reach = stats.norm.isf(_ERROR / len(found) / 2)
    words = [f"{name} ({first:.3g} → {second:.3g})" for name, first, second, z in found if abs(z) > reach]
    return ", ".join(words)


def _total(blocks: list[LookBlock]) -> LookBlock:
    total = LookBlock.empty(None)
    for block in blocks:
        total.add(block)
    return total


def _means_of_counts(counts: list[tuple[Any, Any]]) -> tuple[float, float, float]:
    (hits, n), (more, m) = counts
    if not (n and m):
        return 0.0, 0.0, 0.0
    pooled = (hits + more) / (n + m)
    error = sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    return hits / n, more / m, (more / m - hits / n) / error if error else 0.0


def _means_of_residuals(residuals: list[Array]) -> tuple[float, float, float]:
    if min(n for n, _, _ in residuals) < 2:
        return 0.0, 0.0, 0.0
    (first, a), (second, b) = (
        (total / n, max(squares / n - (total / n) ** 2, 0) / n) for n, total, squares in residuals
    )
    return first, second, (second - first) / sqrt(a + b) if a + b else 0.0


def varying_prevalence(blocks: list[LookBlock]) -> str:
    """Return a note where the share of positives varies between blocks by more than chance; empty where it does not."""
    cells = np.array([block.cells for block in blocks]).reshape(-1, 4)
    n, positive = cells.sum(axis=1), cells[:, [0, 2]].sum(axis=1)
    total = positive.sum() / max(n.sum(), 1)
    if len(blocks) < _LEAST_BLOCKS or not 0 < total < 1:
        return ""
    chi2 = float(((positive - n * total) ** 2 / (n * total * (1 - total))).sum())
    if stats.chi2.sf(chi2, len(blocks) - 1) > _SURE:
        return ""
    return (
        f"Prevalence varies {sqrt(chi2 / (len(blocks) - 1)):.2g} times as much between periods as by chance. "
        "If that is usual, a limit on the cost near its long-run mean raises more false alarms than stated; "
        "limits on tpr, fpr and auc hold all the same."
    )
