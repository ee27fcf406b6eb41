"""Uncertain contexts: a distribution of cost ratio and prevalence instead of single values."""

import math
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import held_to_contract
from rocscope.core.context import Context
from rocscope.decisions.slope_ranges import SlopeRanges
from rocscope.errors import InputError

_RELATIVE_ERROR = 1e-10  # of an integral: far below what is printed


@runtime_checkable
class Distribution(Protocol):
    """A distribution with known mass and partial first moment below any value."""

    @property
    def mean(self) -> float: ...

    def mass_below(self, value: Array) -> Array: ...

    def moment_below(self, value: Array) -> Array: ...

    def quantile(self, mass: float) -> float: ...


@dataclass(frozen=True)
class Uniform:
    """Uniform distribution from `low` to `high`.

    Examples
    --------
    >>> Uniform(0.1, 0.3).mean
    0.2
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        check.check_number(self.low, "low")
        check.check_number(self.high, "high", f"a finite number above {self.low!r}", above=self.low)

    @property
    def mean(self) -> float:
        """Expected value."""
        return (self.low + self.high) / 2

    def mass_below(self, value: Array) -> Array:
        """Return the probability below each value."""
        return (np.clip(value, self.low, self.high) - self.low) / (self.high - self.low)

    def moment_below(self, value: Array) -> Array:
        """Return the partial expectation below each value."""
        return (np.clip(value, self.low, self.high) ** 2 - self.low**2) / (2 * (self.high - self.low))

    def quantile(self, mass: float) -> float:
        """Return the quantile at probability `mass`."""
        return self.low + mass * (self.high - self.low)


Uncertain = float | tuple[float, float] | Distribution


@held_to_contract
class UncertainContext:
    """A context whose cost ratio, prevalence or both are given as distributions.

    Parameters
    ----------
    cost_ratio : number, (low, high), Uniform, Beta or LogNormal
        Cost of a false alarm, where a miss costs 1 and correct predictions nothing.
    target_prevalence : number, (low, high), Uniform or Beta, optional
        Share of positives where the classifier will be used; the sample's own when left out.

    Raises
    ------
    InputError
        If a ratio is not above 0 or a prevalence not between 0 and 1.

    Notes
    -----
    Ratio and prevalence are taken to be independent. Expected cost is linear in both, so that a choice made now is
    best where it is best at their means: `mean` is the context that `rocscope.choose` uses. Who may wait until the
    context is known does better: `Hull.expected_cost` integrates that over the slope intervals of the hull.

    Examples
    --------
    >>> from rocscope.decisions import Beta
    >>> context = UncertainContext(cost_ratio=(0.02, 0.08), target_prevalence=Beta(2, 38))
    >>> context.mean
    Context(target_prevalence=0.05, cost_fp=0.05, cost_fn=1, cost_tp=0, cost_tn=0)
    """

    def __init__(self, *, cost_ratio: Uncertain = 1, target_prevalence: Uncertain | None = None) -> None:
        self.cost_ratio = _uncertain(cost_ratio, "cost_ratio", math.inf)
        self.target_prevalence = (
            None if target_prevalence is None else _uncertain(target_prevalence, "target_prevalence", 1)
        )

    @property
    def mean(self) -> Context:
        """The context with the mean ratio and mean prevalence."""
        return Context(_mean(self.target_prevalence), cost_fp=_mean(self.cost_ratio), cost_fn=1)

    def __repr__(self) -> str:
        return f"UncertainContext(cost_ratio={self.cost_ratio!r}, target_prevalence={self.target_prevalence!r})"


def _uncertain(given: Any, name: str, limit: float) -> Any:
    expected = "above 0" if math.isinf(limit) else f"between 0 and {limit:g}"
    value = Uniform(*given) if isinstance(given, tuple) and len(given) == 2 else given
    if isinstance(value, Distribution):
        inside = value.quantile(0) >= 0 and value.quantile(1) <= limit
    else:
        inside = 0 < check.check_number(value, name, f"a number, a range or a distribution {expected}") < limit
    if not inside:
        raise InputError(name, expected=f"values {expected}", got=repr(given))
    return value


def _mean(value: Any) -> Any:
    return value.mean if isinstance(value, Distribution) else value


@dataclass(frozen=True)
class Weights:
    """Weights of both error rates as linear functions of one uncertain number u: constant + rate · u."""

    miss: tuple[float, float]
    false_alarm: tuple[float, float]

    def at_slope(self, slope: Array) -> Array:
        """Return the u at which the iso-performance line has a slope."""
        (miss, miss_rate), (alarm, alarm_rate) = self.miss, self.false_alarm
        return (slope * miss - alarm) / (alarm_rate - slope * miss_rate)


@dataclass(frozen=True)
class Envelope:
    """Error rates of a hull's vertices by decreasing slope, and the slopes between them."""

    fnr: Array
    fpr: Array
    border: Array

    @classmethod
    def of(cls, slope_ranges: SlopeRanges) -> "Envelope":
        """Return the envelope of a hull's vertices."""
        rates = np.array([(vertex.point.fnr, vertex.point.fpr) for vertex in slope_ranges.vertices])
        return cls(rates[:, 0], rates[:, 1], np.array([float(border) for border in slope_ranges.borders]))

    def integrate(self, distribution: Distribution, weights: Weights) -> float:
        """Integrate the cost of the best vertex over one uncertain number, exactly: interval by interval."""
        falls = weights.false_alarm[1] > 0  # with the slope, from each vertex to the next
        ends = np.array([math.inf, *weights.at_slope(self.border), -math.inf])
        if not falls:
            ends[[0, -1]] = ends[[-1, 0]]
        mass, moment = (np.abs(np.diff(part(ends))) for part in (distribution.mass_below, distribution.moment_below))

        def expected(line: tuple[float, float]) -> Array:
            return line[0] * mass + line[1] * moment

        return float(expected(weights.miss) @ self.fnr + expected(weights.false_alarm) @ self.fpr)


def adaptive_cost(envelope: Envelope, context: UncertainContext, sample_prevalence: float) -> float:
    """Return the expected cost per case of using the best vertex for each realised context.

    Notes
    -----
    In closed form where one of the two is uncertain. Where both are, over cost ratio in closed form and over
    prevalence by adaptive quadrature to a relative error of 10⁻¹⁰.
    """
    ratio, prevalence = context.cost_ratio, context.target_prevalence
    if prevalence is None:
        prevalence = sample_prevalence
    if not isinstance(prevalence, Distribution):
        return _over_ratio(envelope, ratio, prevalence)
    if not isinstance(ratio, Distribution):
        return envelope.integrate(prevalence, Weights(miss=(0, 1), false_alarm=(ratio, -ratio)))

    from scipy import integrate

    def at_mass(mass: float) -> float:
        return _over_ratio(envelope, ratio, prevalence.quantile(mass))

    total, _ = integrate.quad(at_mass, 0, 1, epsabs=1e-14, epsrel=_RELATIVE_ERROR, limit=500)
    return float(total)


def _over_ratio(envelope: Envelope, ratio: float | Distribution, prevalence: float) -> float:
    if isinstance(ratio, Distribution):
        return envelope.integrate(ratio, Weights(miss=(prevalence, 0), false_alarm=(0, 1 - prevalence)))
    return float((prevalence * envelope.fnr + (1 - prevalence) * ratio * envelope.fpr).min())
