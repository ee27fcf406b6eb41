"""The map of contexts: which choice is best for each pair of cost ratio and prevalence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.core.result import Result
from rocscope.decisions.randomized.review import Review
from rocscope.decisions.slope_ranges import HullVertex, SlopeRanges
from rocscope.errors import InputError
from rocscope.geometry import Choices, corners_of

_DECADES, _STEPS = 3, 121  # of cost ratio and odds to either side of 1, and 20 steps a decade: a choice


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
    looked : array of shape (p, r), or None
        Where a closer look was offered: the share of cases that are worth it, with the model that is best then.
    """

    _content = ("cost_ratio", "prevalence", "index", "vertices", "looked")

    cost_ratio: Array
    prevalence: Array
    vertices: tuple[HullVertex, ...]
    index: Array
    looked: Array | None = None

    @property
    def model(self) -> Array:
        """Name of the best model, of shape (p, r)."""
        return np.array([vertex.label for vertex in self.vertices], dtype=object)[self.index]

    @property
    def threshold(self) -> Array:
        """Threshold of the best model, of shape (p, r)."""
        return np.array([vertex.threshold for vertex in self.vertices])[self.index]

    def border(self, vertex: int) -> Array:
        """Return, for each cost ratio, the prevalence at which a vertex and the next one cost the same.

        Notes
        -----
        π = r/(r + m) for the slope m between the two: on a logarithmic axis of odds a straight line.
        """
        slope = self.vertices[vertex].slope_low
        return self.cost_ratio / (self.cost_ratio + slope)

    def __repr__(self) -> str:
        models = list(dict.fromkeys(self.model.ravel().tolist()))
        return f"RegionMap({self.cost_ratio.size} cost ratios × {self.prevalence.size} prevalences, models={models})"


def region_map(
    slope_ranges: SlopeRanges, cost_ratio: Any, prevalence: Any, review: Review | None, every: Sequence[Choices]
) -> RegionMap:
    """Return the best vertex for each pair, and the share of reviews with `every` model; see `Hull.region_map`."""
    if cost_ratio is None:
        cost_ratio = np.logspace(-_DECADES, _DECADES, _STEPS)
    if prevalence is None:
        odds = np.logspace(-_DECADES, _DECADES, _STEPS)
        prevalence = odds / (1 + odds)
    ratio = check.check_numbers(cost_ratio, "cost_ratio")
    share = check.check_numbers(prevalence, "prevalence")
    if not (ratio > 0).all():
        raise InputError("cost_ratio", expected="finite ratios above 0", got=repr(ratio[:5].tolist()))
    if review is not None and (not isinstance(review, Review) or review.capacity is not None):
        raise InputError("review", expected="a Review without a capacity", got=check.shown(review))
    if not ((share > 0) & (share < 1)).all():
        raise InputError("prevalence", expected="shares between 0 and 1", got=repr(share[:5].tolist()))
    slope = ratio * ((1 - share) / share)[:, None]
    borders = np.array([float(border) for border in slope_ranges.borders])
    index = np.searchsorted(-borders, -slope, side="left")
    looked = None if review is None else check.read_only(_looked(every, ratio, share[:, None], review))
    return RegionMap(
        check.read_only(ratio), check.read_only(share), slope_ranges.vertices, check.read_only(index), looked
    )


def _looked(every: Sequence[Choices], ratio: Array, prevalence: Array, review: Review) -> Array:
    """Return the share of cases reviewed with the best model, if a miss costs 1 and a false alarm `ratio`.

    Of each step between two vertices of a model's hull positives are missed, negatives disturbed, or all looked at.
    """
    least = looked = None
    for choices in every:
        tpr, fpr = (np.diff(rate[corners_of(choices)]) for rate in _rates(choices))
        cost, share = (np.zeros(np.broadcast_shapes(ratio.shape, prevalence.shape)) for _ in range(2))
        for up, right in zip(tpr.tolist(), fpr.tolist(), strict=True):
            positives, negatives = prevalence * up, (1 - prevalence) * right
            unseen, look = np.minimum(positives, negatives * ratio), review.cost * (positives + negatives)
            cost += np.minimum(unseen, look)
            share += np.where(look < unseen, positives + negatives, 0)
        better = np.ones(cost.shape, bool) if least is None else cost < least
        least = cost if least is None else np.minimum(cost, least)
        looked = share if looked is None else np.where(better, share, looked)
    assert looked is not None
    return looked


def _rates(choices: Choices) -> tuple[Array, Array]:
    tp, fp, fn, tn = (np.asarray(cell, np.float64) for cell in choices.cells)
    return tp / (tp + fn), fp / (fp + tn)
