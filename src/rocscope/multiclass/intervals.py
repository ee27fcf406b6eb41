"""From a value and its standard error to an Estimate, also where the variance says nothing."""

from rocscope.errors import warn
from rocscope.inference.areas.auc import newcombe
from rocscope.inference.estimate import Estimate
from rocscope.inference.intervals import logit, of_share


def by_logit(value: float, standard_error: float, level: float, name: str, n: float) -> Estimate:
    """Return the interval that is symmetric on the logit scale."""
    low, high = logit(value, standard_error, level)
    return Estimate(value, low, high, level, f"{name}, logit scale", n, standard_error)


def share_of_pairs(value: float, size: float, level: float, unit: str, n: float) -> Estimate:
    """Return Wilson's interval for as many independent pairs or trios as the smallest class has cases."""
    _warn(value, f"Wilson's for {size:g} independent {unit}")
    low, high = of_share(value * size, size, "wilson", level)
    return Estimate(value, float(low), float(high), level, f"Wilson for {size:g} independent {unit}", n)


def two_smallest(value: float, first: float, second: float, level: float, n: float) -> Estimate:
    """Return Newcombe's interval for an area that rests on the two smallest classes alone."""
    name = f"Newcombe's score interval, classes of {first:g} and {second:g}"
    _warn(value, name)
    low, high = newcombe(value, first, second, level)
    return Estimate(value, low, high, level, name, n)


def _warn(value: float, instead: str) -> None:
    warn(f"{value:g}: its variance is 0 or undefined, so the interval is {instead}")
