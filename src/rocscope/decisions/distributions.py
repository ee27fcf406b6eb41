"""Distributions of a cost ratio or a prevalence, with what an exact integral over an interval needs."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from rocscope import _validation as check
from rocscope._types import Array


@dataclass(frozen=True)
class Beta:
    """Beta distribution of a share: as if `a` − 1 cases of a kind and `b` − 1 others had been seen.

    Examples
    --------
    >>> Beta(2, 38).mean
    0.05
    """

    a: float
    b: float

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            check.check_number(getattr(self, name), name, "a finite number above 0", above=0)

    @property
    def mean(self) -> float:
        """Expected value."""
        return self.a / (self.a + self.b)

    def mass_below(self, value: Array) -> Array:
        """Return the probability of less than each value."""
        return special.betainc(self.a, self.b, np.clip(value, 0, 1))

    def moment_below(self, value: Array) -> Array:
        """Return the expectation of the part that is less than each value."""
        return self.mean * special.betainc(self.a + 1, self.b, np.clip(value, 0, 1))

    def quantile(self, mass: float) -> float:
        """Return the value below which a share `mass` lies."""
        return float(special.betaincinv(self.a, self.b, mass))


@dataclass(frozen=True)
class LogNormal:
    """Log-normal distribution of a ratio: its logarithm is normal around log `median` with deviation `sigma`.

    Examples
    --------
    A ratio of about 1 : 20, in two cases of three between half and double that:

    >>> LogNormal(0.05, sigma=0.7).mean
    0.06388...
    """

    median: float
    sigma: float

    def __post_init__(self) -> None:
        for name in ("median", "sigma"):
            check.check_number(getattr(self, name), name, "a finite number above 0", above=0)

    @property
    def mean(self) -> float:
        """Expected value."""
        return self.median * math.exp(self.sigma**2 / 2)

    def _standard(self, value: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(value, 0) / self.median) / self.sigma

    def mass_below(self, value: Array) -> Array:
        """Return the probability of less than each value."""
        return special.ndtr(self._standard(value))

    def moment_below(self, value: Array) -> Array:
        """Return the expectation of the part that is less than each value."""
        return self.mean * special.ndtr(self._standard(value) - self.sigma)

    def quantile(self, mass: float) -> float:
        """Return the value below which a share `mass` lies."""
        return self.median * math.exp(self.sigma * float(special.ndtri(mass)))
