"""Geometry of ROC space and lift chart: the only place that knows where a line of equal cost touches a curve."""

from rocscope.geometry.blending import Blend, Bound, blending, settled
from rocscope.geometry.choices import Choices, all_choices, negation
from rocscope.geometry.hull import corners_of, pool, remembered, upper_corners
from rocscope.geometry.thinning import Thinned, distance_to_chord, simplify, thin
from rocscope.geometry.touching import Line, Touch, best_point, needs_every_threshold, touching

__all__ = [
    "Blend",
    "Bound",
    "Choices",
    "Line",
    "Thinned",
    "Touch",
    "all_choices",
    "best_point",
    "blending",
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
    "upper_corners",
]
