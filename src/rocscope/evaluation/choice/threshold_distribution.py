"""ThresholdDistribution: which thresholds are chosen when the sample is drawn again, as a histogram."""

import numpy as np

from rocscope._types import Array
from rocscope.curves.curve import Curve
from rocscope.errors import InputError
from rocscope.inference.estimate import Estimate

_FEWEST_BINS = 12
_MOST_BINS = 60


class ThresholdDistribution(Curve):
    """Share of replicates (y) that choose a threshold around x.

    Attributes
    ----------
    x, y : arrays of b
        Middle of each bin, and the share of all replicates in it.
    edges : array of b + 1
    nobody : float
        Share of replicates in which predicting nobody positive is best.
    model : str
    threshold : array of b
        The same as x.
    chosen : Estimate
        The threshold chosen on the sample, with its interval.
    """

    _content = ("model", "edges", "nobody", "chosen")

    title = "distribution of the chosen threshold"
    x_name = "chosen_threshold"
    y_name = "share_of_replicates"

    def __init__(self, model: str, chosen: Estimate, replicates: Array) -> None:
        finite = replicates[np.isfinite(replicates)].astype(np.float64)
        self.model, self.chosen = model, chosen
        self.nobody = 1 - finite.size / max(replicates.size, 1)
        self.edges = _edges(finite)
        inside = np.histogram(finite, self.edges)[0] / max(replicates.size, 1)
        middle = (self.edges[:-1] + self.edges[1:]) / 2
        super().__init__(middle, inside, middle)

    def area(self) -> float:
        raise InputError("a distribution of thresholds has no area that means anything")

    def drawn(self) -> tuple[Array, Array]:
        """Return the outline of the histogram."""
        return np.repeat(self.edges, 2), np.concatenate([[0.0], np.repeat(self.y, 2), [0.0]])


def _edges(values: Array) -> Array:
    """Return the edges of equally wide bins: as many as there is detail for, within what an eye can tell apart."""
    if not values.size:
        return np.array([0.0, 1.0])
    low, high = values.min(), values.max()
    if low == high:
        return low + np.array([-0.05, 0.05]) * (abs(low) or 1.0)
    bins = np.histogram_bin_edges(values, "fd").size - 1
    return np.linspace(low, high, int(np.clip(bins, _FEWEST_BINS, _MOST_BINS)) + 1)
