"""Labels, scores and weights as they occur: probabilities, logits, heavy ties; balanced and rare."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

KINDS = ("float32", "float64", "logits", "ties", "weighted")
SHARES = (0.5, 0.01)


@dataclass(frozen=True)
class Input:
    """What is measured; `kind` is one of KINDS and `share` that of the positives."""

    kind: str
    share: float
    y: NDArray[np.int64]
    score: NDArray[np.floating]
    weight: NDArray[np.float64] | None

    @property
    def nbytes(self) -> int:
        """Size of all columns."""
        return sum(column.nbytes for column in (self.y, self.score, self.weight) if column is not None)


def make(kind: str, rows: int, share: float) -> Input:
    """Draw scores of two overlapping classes, reproducibly."""
    generator = np.random.default_rng([rows, KINDS.index(kind), int(share * 100)])
    y = (generator.random(rows) < share).astype(np.int64)
    y[:2] = 0, 1
    logits = generator.standard_normal(rows) * 1.5 + 2 * y - 1
    probability = 1 / (1 + np.exp(-logits))
    score = {
        "float32": lambda: probability.astype(np.float32),
        "logits": lambda: logits,
        "ties": lambda: np.round(probability, 2),
    }.get(kind, lambda: probability)()
    return Input(kind, share, y, score, generator.random(rows) + 0.5 if kind == "weighted" else None)
