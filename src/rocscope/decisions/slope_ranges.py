"""The range of slopes (cost ratios) for which each vertex of the ROC convex hull is optimal, exactly.

Of any set of points in ROC space, only those on the rising part of its hull can have the lowest expected cost. The set
may be the thresholds of one model or of many, all of them or those that satisfy constraints.
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from rocscope.core.context import nearest
from rocscope.core.point import OperatingPoint
from rocscope.core.result import Result, jsonable
from rocscope.geometry import Choices, corners_of
from rocscope.geometry.hull import label


@dataclass(frozen=True)
class HullVertex(Result):
    """A threshold of a model that has the lowest expected cost in some contexts.

    Attributes
    ----------
    model : str
    point : OperatingPoint
        Its counts and its threshold.
    slope_low, slope_high : float
        It is the best choice where the iso-performance line has a slope from `slope_low` up to `slope_high`.
    negated : bool
        Whether the model's decisions are reversed: positive iff ``score < threshold``.
    tied : tuple of str
        Other models that have a threshold of the same rates.

    Examples
    --------
    >>> vertex = HullVertex("A", OperatingPoint(tp=3, fp=1, fn=1, tn=4))
    >>> vertex.label, vertex.tpr, vertex.fpr
    ('A', 0.75, 0.2)
    """

    model: str
    point: OperatingPoint
    slope_low: float = 0.0
    slope_high: float = math.inf
    negated: bool = False
    tied: tuple[str, ...] = ()

    @property
    def threshold(self) -> float:
        """Predict positive iff ``score >= threshold`` (or below it, if negated)."""
        return self.point.threshold

    @property
    def tpr(self) -> float:
        """True-positive rate."""
        return self.point.tpr

    @property
    def fpr(self) -> float:
        """False-positive rate."""
        return self.point.fpr

    @property
    def label(self) -> str:
        """Name of the model, with "not" if its decisions are reversed."""
        return label(self.model, self.negated)

    @property
    def has_zone(self) -> bool:
        """Whether it is optimal for some slope between 0 and infinity."""
        return self.slope_low < self.slope_high

    def to_dict(self) -> dict[str, Any]:
        """Return the vertex, safe for JSON (an infinite slope or threshold becomes None)."""
        names = ("model", "threshold", "negated", "slope_low", "slope_high", "fpr", "tpr", "tied")
        cells = {name: getattr(self.point, name) for name in ("tp", "fp", "fn", "tn")}
        return jsonable({name: getattr(self, name) for name in names} | cells)


@dataclass(frozen=True)
class SlopeRanges:
    """Vertices in order of decreasing slope, and the exact slopes of the segments between them.

    They tile the slopes from infinity to 0: vertex i is best from ``border[i]`` (included: of two equally good
    choices the one with fewer positive predictions is taken) up to ``border[i - 1]``.
    """

    vertices: tuple[HullVertex, ...]
    borders: tuple[Fraction, ...]

    def find(self, model: str, point: OperatingPoint, negated: bool = False) -> HullVertex | None:
        """Return the vertex at which a model has a point, if it is best for some slope."""
        for vertex in self.vertices:
            same_owner = vertex.negated == negated and model in (vertex.model, *vertex.tied)
            if same_owner and (vertex.point.tp, vertex.point.fp) == (point.tp, point.fp):
                return vertex
        return None


class _Candidate(NamedTuple):
    """A point on a common scale, ordered from left to right, then from the top, then by model."""

    x: Any
    minus_y: Any
    order: int
    position: int

    @property
    def y(self) -> Any:
        return -self.minus_y


def slope_ranges(choices: Sequence[Choices]) -> SlopeRanges:
    """Return the slope ranges of the choices of one or several models.

    Notes
    -----
    Exact, whatever the weights, also of models from samples of different size: O(k) for the k thresholds of each model,
    then O(v log v) for the v vertices of their hulls. Of choices with equal rates the first model owns the vertex.
    """
    corners = [each.take(corners_of(each)) for each in choices if each.index.size]
    chain: list[tuple[_Candidate, list[int]]] = []
    scale = [math.lcm(*totals) for totals in zip(*(each.counts.whole_totals for each in corners), strict=True)]
    for candidate, others in _distinct(_in_common_scale(corners, *scale)):
        if chain and candidate.y <= chain[-1][0].y:
            continue
        while len(chain) > 1 and not _turns_right(chain[-2][0], chain[-1][0], candidate):
            chain.pop()
        chain.append((candidate, others))
    points = [corners[candidate.order].point(candidate.position) for candidate, _ in chain]
    borders = tuple(
        Fraction((right.y - left.y) * scale[1], (right.x - left.x) * scale[0])
        for (left, _), (right, _) in itertools.pairwise(chain)
    )
    limits = [math.inf, *map(nearest, borders), 0.0]
    vertices = [
        HullVertex(
            model=corners[candidate.order].model,
            point=point,
            slope_low=limits[i + 1],
            slope_high=limits[i],
            negated=corners[candidate.order].negated,
            tied=tuple(corners[other].label for other in others),
        )
        for i, ((candidate, others), point) in enumerate(zip(chain, points, strict=True))
    ]
    return SlopeRanges(tuple(vertices), borders)


def _in_common_scale(choices: Sequence[Choices], all_pos: int, all_neg: int) -> list[_Candidate]:
    """Return all points as whole numbers over common totals."""
    candidates = []
    for order, each in enumerate(choices):
        up, right = (total // own for total, own in zip((all_pos, all_neg), each.counts.whole_totals, strict=True))
        rows = zip(*each.whole(np.arange(each.index.size)), strict=True)
        candidates += [_Candidate(fp * right, -tp * up, order, i) for i, (tp, fp) in enumerate(rows)]
    return sorted(candidates)


def _distinct(candidates: Iterable[_Candidate]) -> list[tuple[_Candidate, list[int]]]:
    """Return each distinct point once, with the other choices at it."""
    groups: list[tuple[_Candidate, list[int]]] = []
    for candidate in candidates:
        if groups and (groups[-1][0].x, groups[-1][0].minus_y) == (candidate.x, candidate.minus_y):
            groups[-1][1].append(candidate.order)
        else:
            groups.append((candidate, []))
    return groups


def _turns_right(a: _Candidate, b: _Candidate, c: _Candidate) -> bool:
    return (b.y - a.y) * (c.x - b.x) > (c.y - b.y) * (b.x - a.x)
