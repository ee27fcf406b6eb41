"""Find the root of a function. `scipy.optimize` has the same, but its import takes longer than a short summary."""

from collections.abc import Callable
from math import nextafter

_EPSILON = nextafter(1.0, 2.0) - 1


def root(function: Callable[[float], float], low: float, high: float, *, xtol: float = 2e-12) -> float:
    """Return a root of a continuous function between `low` and `high` by Chandrupatla's method.

    Each step interpolates the inverse function by a parabola if it is monotone on the interval, and otherwise halves
    the interval. The error is at most `xtol` plus the rounding error of the root. If the function has the same sign at
    both ends, for example because of rounding, return the end at which it is closer to 0.

    References
    ----------
    Chandrupatla 1997, Advances in Engineering Software 28:145–149.

    Examples
    --------
    >>> round(root(lambda x: x * x - 2, 0.0, 2.0), 9)
    1.414213562
    """
    # The root is between a and b. c is the previous value of a or b that is no longer an end.
    a, b = float(high), float(low)
    at_a, at_b = function(a), function(b)
    if (at_a > 0) == (at_b > 0):
        return a if abs(at_a) < abs(at_b) else b
    share = 0.5
    while True:
        x = a + share * (b - a)
        at_x = function(x)
        if (at_x > 0) == (at_a > 0):
            c, at_c = a, at_a
        else:
            c, at_c, b, at_b = b, at_b, a, at_a
        a, at_a = x, at_x
        nearest, at_nearest = (a, at_a) if abs(at_a) < abs(at_b) else (b, at_b)
        width, tolerance = abs(b - a), 4 * _EPSILON * abs(nearest) + xtol
        if at_nearest == 0 or not width > tolerance:  # also if the width is NaN
            return nearest
        least = tolerance / (2 * width)
        share = 0.5
        place, height = (a - b) / (c - b), (at_a - at_b) / (at_c - at_b)
        if height**2 < place and (1 - height) ** 2 < 1 - place:
            share = at_a / (at_b - at_a) * at_c / (at_b - at_c)
            share += (c - a) / (b - a) * at_a / (at_c - at_a) * at_b / (at_c - at_b)
        share = min(max(share, least), 1 - least)
