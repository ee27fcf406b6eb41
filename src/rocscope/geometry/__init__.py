"""Geometry of ROC space and lift chart: hulls, tangents and thinning."""

from rocscope.geometry.bounded import Bound, ConvexCombination, settled, touching_within
from rocscope.geometry.hull import (
    Choices,
    Line,
    TangentPoint,
    all_choices,
    best_point,
    corners_of,
    needs_every_threshold,
    negation,
    pool,
    remembered,
    touching,
    upper_corners,
)
from rocscope.geometry.thinning import Thinned, distance_to_chord, simplify, thin

__all__ = [
    "Bound",
    "Choices",
    "ConvexCombination",
    "Line",
    "TangentPoint",
    "Thinned",
    "all_choices",
    "best_point",
    "corners_of",
    "distance_to_chord",
    "needs_every_threshold",
    "negation",
    "pool",
    "remembered",
    "settled",
    "simplify",
    "thin",
    "touching",
    "touching_within",
    "upper_corners",
]
