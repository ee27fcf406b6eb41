"""From a value and its standard error to an Estimate, also where the variance says nothing."""

from math import hypot, sqrt

from rocscope.errors import warn
from rocscope.inference.auc import logit, newcombe, normal_quantile
from rocscope.inference.estimate import Estimate


def by_logit(value: float, standard_error: float, level: float, name: str, n: float) -> Estimate:
    """Return the interval that is symmetric on the logit scale."""
    low, high = logit(value, standard_error, level)
    return Estimate(value, low, high, level, f"{name}, logit scale", n, standard_error)


def share_of_pairs(value: float, size: float, level: float, unit: str, n: float) -> Estimate:
    """Return Wilson's interval for as many independent pairs or trios as the smallest class has cases."""
    _warn(value, f"Wilson's for {size:g} independent {unit}")
    low, high = wilson(value, size, level)
    return Estimate(value, low, high, level, f"Wilson for {size:g} independent {unit}", n)


def two_smallest(value: float, first: float, second: float, level: float, n: float) -> Estimate:
    """Return Newcombe's interval for an area that rests on the two smallest classes alone."""
    name = f"Newcombe's score interval, classes of {first:g} and {second:g}"
    _warn(value, name)
    low, high = newcombe(value, first, second, level)
    return Estimate(value, low, high, level, name, n)


def wilson(share: float, n: float, level: float) -> tuple[float, float]:
    """Return Wilson's score interval of a proportion.

    Examples
    --------
    >>> wilson(1.0, 10, 0.95)
    (0.722..., 1.0)
    """
    z_squared = normal_quantile(level) ** 2
    centre = (share + z_squared / (2 * n)) / (1 + z_squared / n)
    reach = sqrt(z_squared * (share * (1 - share) / n + z_squared / (4 * n**2))) / (1 + z_squared / n)
    low, high = centre - reach, centre + reach
    return (0.0 if share == 0 else low), (1.0 if share == 1 else high)


def mover(first: Estimate, second: Estimate, name: str) -> Estimate:
    """Return second − first with an interval put together from both of theirs; it can only be too wide.

    References
    ----------
    Zou & Donner 2008, Stat. Med. 27:1693–1702.
    """
    warn(f"{name}: the variance of the difference is 0 or undefined")
    value = second.value - first.value
    low = value - hypot(second.value - second.low, first.high - first.value)
    high = value + hypot(second.high - second.value, first.value - first.low)
    standard_error = (high - low) / (2 * normal_quantile(first.level))
    return Estimate(value, low, high, first.level, "intervals of both (MOVER)", first.n, standard_error)


def _warn(value: float, instead: str) -> None:
    warn(f"{value:g}: its variance is 0 or undefined, so the interval is {instead}")
