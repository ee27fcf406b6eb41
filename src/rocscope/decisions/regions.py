"""The map of contexts: which choice is best for each pair of cost ratio and prevalence."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.core.result import Result
from rocscope.decisions.zones import HullVertex, Zones
from rocscope.errors import InputError

_DECADES, _STEPS = 3, 121


@dataclass(frozen=True, eq=False, repr=False)
class RegionMap(Result):
    """Which vertex of a hull is best, over cost ratio and prevalence.

    Made by `Hull.region_map`.

    Attributes
    ----------
    cost_ratio : array of r
        Cost of a false alarm over cost of a miss.
    prevalence : array of p
    vertices : tuple of HullVertex
        Those that have a zone.
    index : array of shape (p, r)
        Position in `vertices` of the best one.
    """

    _content = ("cost_ratio", "prevalence", "index", "vertices")

    cost_ratio: Array
    prevalence: Array
    vertices: tuple[HullVertex, ...]
    index: Array

    @property
    def model(self) -> Array:
        """Name of the best model, of shape (p, r)."""
        return np.array([vertex.label for vertex in self.vertices], dtype=object)[self.index]

    @property
    def threshold(self) -> Array:
        """Threshold of the best model, of shape (p, r)."""
        return np.array([vertex.threshold for vertex in self.vertices])[self.index]

    def border(self, vertex: int) -> Array:
        """Return the prevalence, one for each cost ratio, at which a vertex and the next one cost the same.

        Notes
        -----
        π = r/(r + m) for the slope m between the two: on a logarithmic axis of odds a straight line.
        """
        slope = self.vertices[vertex].slope_low
        return self.cost_ratio / (self.cost_ratio + slope)

    def __repr__(self) -> str:
        models = list(dict.fromkeys(self.model.ravel().tolist()))
        return f"RegionMap({self.cost_ratio.size} cost ratios × {self.prevalence.size} prevalences, models={models})"


def region_map(zones: Zones, cost_ratio: Any, prevalence: Any) -> RegionMap:
    """Return the best vertex for each pair; see `Hull.region_map`."""
    if cost_ratio is None:
        cost_ratio = np.logspace(-_DECADES, _DECADES, _STEPS)
    if prevalence is None:
        odds = np.logspace(-_DECADES, _DECADES, _STEPS)
        prevalence = odds / (1 + odds)
    ratio = check.check_column(cost_ratio, "cost_ratio").astype(np.float64)
    share = check.check_column(prevalence, "prevalence").astype(np.float64)
    if not (np.isfinite(ratio) & (ratio > 0)).all():
        raise InputError("cost_ratio", expected="finite ratios above 0", got=repr(ratio[:5].tolist()))
    if not ((share > 0) & (share < 1)).all():
        raise InputError("prevalence", expected="shares between 0 and 1", got=repr(share[:5].tolist()))
    slope = ratio * ((1 - share) / share)[:, None]
    borders = np.array([float(border) for border in zones.borders])
    index = np.searchsorted(-borders, -slope, side="left")
    return RegionMap(check.read_only(ratio), check.read_only(share), zones.vertices, check.read_only(index))
