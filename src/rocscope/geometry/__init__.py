"""Geometry of ROC space and lift chart: the only place that knows where a line of equal cost touches a curve."""

from rocscope.geometry.choices import Choices, all_choices
from rocscope.geometry.hull import pool, upper_corners
from rocscope.geometry.thinning import distance_to_chord, simplify, thin
from rocscope.geometry.touching import Line, Touch, best_point, needs_every_threshold, touching

__all__ = [
    "Choices",
    "Line",
    "Touch",
    "all_choices",
    "best_point",
    "distance_to_chord",
    "needs_every_threshold",
    "pool",
    "simplify",
    "thin",
    "touching",
    "upper_corners",
]
