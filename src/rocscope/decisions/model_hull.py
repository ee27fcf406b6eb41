"""The convex hull of several models' ROC curves: the best model and threshold for each context.

Let r be the cost of a false alarm divided by the cost of a miss, and π the prevalence. In ROC space, points of equal
expected cost lie on parallel lines with slope m = r·(1 − π)/π. The best point lies on the highest of these lines that
touches a curve, so it is a vertex of the upper convex hull. Each vertex is best for a range of slopes. These ranges
cover all slopes from infinity to 0 (`geometry.slope_ranges`). The following results are computed from the ranges:

- `Hull.best` and `Hull.touching`: the best vertex in one context;
- `Hull.region_map`: the best vertex for each combination of cost ratio and prevalence;
- `Hull.expected_cost` in an `UncertainContext`, and `h_measure`: the lowest cost, averaged over a distribution of the
  cost ratio or the prevalence. Within the range of one vertex, the cost is linear in the cost ratio and in the
  prevalence. Each integral is therefore a sum of probabilities and partial expectations over the vertices, in closed
  form.
"""

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple

import numpy as np

from rocscope._base import special, validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract, held_to_contract
from rocscope.core import Campaign, Context, CumulativeCounts, Result, jsonable
from rocscope.curves.curve import Curve
from rocscope.decisions.randomized import SAME_PREVALENCE, RandomizedRule, Review, mixture_on
from rocscope.errors import InexactCountsError, InputError, PairingError
from rocscope.geometry import hull as geometry
from rocscope.geometry.hull import Choices, HullVertex, SlopeRanges, TangentPoint
from rocscope.inference.estimate import Estimate
from rocscope.sample import Counted, Labels, Models, Samples, Scores, counts_of, samples_of, with_scores

# Error of an integral over two uncertain numbers, far below the precision of printed numbers.
RELATIVE_ERROR = 1e-10

# Number of draws over which the lowest cost is averaged if costs are in money; the relative error is below 1%.
DRAWS_OF_CONTEXTS = 20_000

# The map of contexts shows cost ratios and odds from 1/1000 to 1000, at 20 steps a decade.
MAP_DECADES = 3
MAP_STEPS = 121


# Distributions of a cost ratio or a prevalence.


@dataclass(frozen=True)
class Uniform:
    """Uniform distribution from `low` to `high`.

    Parameters
    ----------
    low, high : float
        Ends of the range.

    Raises
    ------
    InputError
        If an end is not a finite number, or if `high` is not above `low`.

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
        """Return the probability below each value.

        Parameters
        ----------
        value : array
            Values of the variable.
        """
        return (np.clip(value, self.low, self.high) - self.low) / (self.high - self.low)

    def moment_below(self, value: Array) -> Array:
        """Return the partial expectation below each value.

        Parameters
        ----------
        value : array
            Values of the variable.
        """
        return (np.clip(value, self.low, self.high) ** 2 - self.low**2) / (2 * (self.high - self.low))

    def quantile(self, mass: Any) -> Any:
        """Return the quantile at probability `mass`."""
        return self.low + mass * (self.high - self.low)


@dataclass(frozen=True)
class Beta:
    """Beta distribution of a share, such as a prevalence.

    With a uniform prior, Beta(a, b) is the posterior of a prevalence after a − 1 positives and b − 1 negatives.

    Parameters
    ----------
    a, b : float
        Parameters of the distribution, above 0. The mean is a/(a + b).

    Raises
    ------
    InputError
        If a parameter is not a number above 0.

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
        """Return the probability below each value.

        Parameters
        ----------
        value : array
            Values of the variable.
        """
        return special.betainc(self.a, self.b, np.clip(value, 0, 1))

    def moment_below(self, value: Array) -> Array:
        """Return the partial expectation below each value.

        Parameters
        ----------
        value : array
            Values of the variable.
        """
        return self.mean * special.betainc(self.a + 1, self.b, np.clip(value, 0, 1))

    def quantile(self, mass: Any) -> Any:
        """Return the quantile at probability `mass`."""
        return special.betaincinv(self.a, self.b, mass)


@dataclass(frozen=True)
class LogNormal:
    """Log-normal distribution of a positive number, such as a cost ratio.

    Parameters
    ----------
    median : float
        Median of the distribution.
    sigma : float
        Standard deviation of the natural logarithm.

    Raises
    ------
    InputError
        If the median or the standard deviation is not a number above 0.

    Examples
    --------
    The median of the ratio is 1 : 20. With probability 2/3 the ratio lies between half and twice the median:

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
        """Return the probability below each value.

        Parameters
        ----------
        value : array
            Values of the variable.
        """
        return special.ndtr(self._standard(value))

    def moment_below(self, value: Array) -> Array:
        """Return the partial expectation below each value.

        Parameters
        ----------
        value : array
            Values of the variable.
        """
        return self.mean * special.ndtr(self._standard(value) - self.sigma)

    def quantile(self, mass: Any) -> Any:
        """Return the quantile at probability `mass`."""
        return self.median * np.exp(self.sigma * special.ndtri(mass))


@dataclass(frozen=True, eq=False)
class Draws:
    """Equally likely values, such as draws from a posterior distribution.

    In an `UncertainContext`, the i-th draws of all quantities belong together.
    """

    values: Array

    @property
    def mean(self) -> float:
        """Expected value."""
        return float(self.values.mean())

    def mass_below(self, value: Array) -> Array:
        """Return the probability below each value."""
        return np.searchsorted(np.sort(self.values), value) / self.values.size

    def moment_below(self, value: Array) -> Array:
        """Return the partial expectation below each value."""
        rising = np.sort(self.values)
        return np.append(0.0, np.cumsum(rising))[np.searchsorted(rising, value)] / self.values.size

    def quantile(self, mass: Any) -> Any:
        """Return the quantile at probability `mass`."""
        return np.quantile(self.values, mass, method="inverted_cdf")

    def __repr__(self) -> str:
        return f"Draws({self.values.size:,} with mean {self.mean:.6g})"


Distribution = Uniform | Beta | LogNormal | Draws


class ContextDraws(NamedTuple):
    """Costs of the four outcomes and prevalence, as numbers or arrays of draws.

    A `target_prevalence` of None means the sample's prevalence.
    """

    costs: dict[str, Any]
    target_prevalence: Any


Uncertain = float | tuple[float, float] | Sequence[float] | Distribution | Estimate


@held_to_contract
class UncertainContext:
    """A context with uncertain costs, an uncertain prevalence, or both.

    Parameters
    ----------
    cost_ratio : number, (low, high), Uniform, Beta, LogNormal or array of draws, optional
        Cost of a false alarm divided by the cost of a miss; correct predictions then have no cost. By default 1. A
        ratio cannot be combined with costs in money. A pair (low, high) is a uniform distribution. The values of an
        array are equally likely.
    target_prevalence : number, (low, high), Uniform, Beta, array of draws or Estimate, optional
        Share of positives where the classifier will be used. By default, the share in the sample. An Estimate is
        converted to the Beta distribution with the same mean and standard error.
    cost_fp, cost_fn, cost_tp, cost_tn : number, (low, high), Uniform, Beta, LogNormal or array of draws, optional
        Costs of a false positive, false negative, true positive and true negative in money, instead of `cost_ratio`.
        Gains are negative costs.

    Raises
    ------
    InputError
        If a ratio is not above 0, if a prevalence is not between 0 and 1, or if arrays of draws have different lengths.

    Notes
    -----
    Arrays of draws are joint: the i-th entries of all arrays belong to the same possible context. All other quantities
    are independent. Expected cost is linear in the products prevalence × cost. The best choice without further
    information is therefore the best choice in the context `mean`, which has the means of these products.
    `rocscope.choose` uses this context.

    The expected cost is lower if the threshold is chosen after the context is known. `Hull.expected_cost` computes this
    lower cost by integration over the slope intervals of the hull. If costs are in money or draws are joint, it
    averages over draws. `Decision.interval` is an interval for the cost in the actual context.

    Examples
    --------
    >>> from rocscope.decisions import Beta
    >>> context = UncertainContext(cost_ratio=(0.02, 0.08), target_prevalence=Beta(2, 38))
    >>> context.mean
    Context(target_prevalence=0.05, cost_fp=0.05, cost_fn=1, cost_tp=0, cost_tn=0)

    Two contexts are possible: a miss costs 100 and 1% are positive, or a miss costs 300 and 3% are positive:

    >>> UncertainContext(cost_fp=10, cost_fn=[100, 300], target_prevalence=[0.01, 0.03]).mean.costs["fn"]
    250.0
    """

    def __init__(
        self,
        *,
        cost_ratio: Uncertain | None = None,
        target_prevalence: Uncertain | None = None,
        cost_fp: Uncertain = 1,
        cost_fn: Uncertain = 1,
        cost_tp: Uncertain = 0,
        cost_tn: Uncertain = 0,
    ) -> None:
        given = {"fp": cost_fp, "fn": cost_fn, "tp": cost_tp, "tn": cost_tn}
        costs = {cell: _uncertain(cost, f"cost_{cell}", math.inf, least=-math.inf) for cell, cost in given.items()}
        self.in_money = costs != {"fp": 1, "fn": 1, "tp": 0, "tn": 0}
        if cost_ratio is not None and self.in_money:
            raise InputError("cost_ratio", expected="a cost ratio or costs", got="both", hint="omit one of them")
        if cost_ratio is not None:
            costs["fp"] = _uncertain(cost_ratio, "cost_ratio", math.inf)
        self.costs: dict[str, Any] = costs
        self.target_prevalence = None
        if target_prevalence is not None:
            self.target_prevalence = _uncertain(target_prevalence, "target_prevalence", 1)
        sizes = {value.values.size for value in self._values if isinstance(value, Draws)}
        if len(sizes) > 1:
            got, hint = f"the lengths {sorted(sizes)}", "pass as many draws of each quantity"
            raise InputError("draws", expected="arrays of equal length", got=got, hint=hint)

    @property
    def _values(self) -> tuple[Any, ...]:
        return (*self.costs.values(), self.target_prevalence)

    @property
    def cost_ratio(self) -> Any:
        """Cost of a false alarm divided by the cost of a miss. For costs in money, the ratio of the mean costs."""
        return self.mean.cost_ratio if self.in_money else self.costs["fp"]

    @property
    def mean(self) -> Context:
        """The context in which each expected cost equals its mean over all possible contexts."""
        share, costs = self.target_prevalence, {}
        for cell, cost in self.costs.items():
            costs[f"cost_{cell}"] = _mean(cost)
            if isinstance(cost, Draws) and isinstance(share, Draws):
                # The mean of prevalence × cost, divided by the mean prevalence of the class.
                of_class = share.values if cell in ("tp", "fn") else 1 - share.values
                costs[f"cost_{cell}"] = float((of_class * cost.values).mean() / of_class.mean())
        return Context(_mean(share), **costs)

    def draw(self, rng: np.random.Generator, size: int) -> ContextDraws:
        """Draw costs and prevalence at random. Arrays of draws are sampled jointly.

        Parameters
        ----------
        rng : Generator
            Source of the random numbers.
        size : int
            Number of draws.
        """
        uniform = rng.random(size)

        def drawn(value: Any) -> Any:
            if isinstance(value, Draws):
                return value.values[(uniform * value.values.size).astype(np.intp)]
            return value.quantile(rng.random(size)) if isinstance(value, Distribution) else value

        return ContextDraws({cell: drawn(cost) for cell, cost in self.costs.items()}, drawn(self.target_prevalence))

    def extremes(self) -> Iterator[ContextDraws]:
        """Yield the most extreme contexts: all combinations of the ends of the ranges, with all joint draws.

        For a distribution without finite ends, such as LogNormal, the range is from the 2.5% to the 97.5% quantile.
        """
        ends = []
        for value in self._values:
            if isinstance(value, Draws) or not isinstance(value, Distribution):
                ends.append([value])
            else:
                tails = (0.0, 1.0) if isinstance(value, Uniform) else (0.025, 0.975)
                ends.append([float(value.quantile(tail)) for tail in tails])
        for *costs, share in itertools.product(*ends):
            arrays = [value.values if isinstance(value, Draws) else value for value in (*costs, share)]
            yield ContextDraws(dict(zip(self.costs, arrays, strict=False)), arrays[-1])

    def __repr__(self) -> str:
        shown = {"cost_ratio": self.costs["fp"]}
        if self.in_money:
            shown = {f"cost_{cell}": cost for cell, cost in self.costs.items()}
        facts = [f"{name}={value!r}" for name, value in shown.items()]
        return f"UncertainContext({', '.join(facts)}, target_prevalence={self.target_prevalence!r})"


def _uncertain(given: Any, name: str, limit: float, least: float = 0) -> Any:
    expected = "above 0" if math.isinf(limit) else f"between 0 and {limit:g}"
    if least < 0:
        return _distribution(given, name) or check.check_number(given, name, "a number, a range or a distribution")
    value = _distribution(given, name) or given
    if isinstance(value, Distribution):
        inside = value.quantile(0) >= 0 and value.quantile(1) <= limit
    else:
        inside = 0 < check.check_number(value, name, f"a number, a range or a distribution {expected}") < limit
    if not inside:
        raise InputError(name, expected=f"values {expected}", got=repr(given))
    return value


def _distribution(given: Any, name: str) -> Distribution | None:
    """Convert a range, an array of draws or an Estimate to a distribution.

    Return a distribution unchanged, and None for all other values.
    """
    if isinstance(given, tuple) and len(given) == 2:
        return Uniform(*given)
    if isinstance(given, list | tuple | np.ndarray):
        return Draws(check.check_numbers(given, name))
    if isinstance(given, Estimate):
        # For the Beta distribution with mean m and variance s²: a + b = m(1 − m)/s² − 1.
        size = given.value * (1 - given.value) / given.standard_error**2 - 1
        if not size > 0:
            expected = "an Estimate of a share with a standard error"
            raise InputError(name, expected=expected, got=repr(given))
        return Beta(given.value * size, (1 - given.value) * size)
    return given if isinstance(given, Distribution) else None


def _mean(value: Any) -> Any:
    return value.mean if isinstance(value, Distribution) else value


# Averages over a distribution.


class RateWeights(NamedTuple):
    """Weights of fnr and fpr in the expected cost, as functions constant + rate · u of an uncertain number u."""

    miss: tuple[float, float]
    false_alarm: tuple[float, float]

    def at_slope(self, slope: Array) -> Array:
        """Return the value of u for which the iso-performance lines have the given slope."""
        miss, miss_rate = self.miss
        alarm, alarm_rate = self.false_alarm
        return (slope * miss - alarm) / (alarm_rate - slope * miss_rate)


@dataclass(frozen=True)
class Envelope:
    """Error rates of a hull's vertices in order of decreasing slope, with the slopes between adjacent vertices."""

    fnr: Array
    fpr: Array
    border: Array

    @classmethod
    def of(cls, slope_ranges: SlopeRanges) -> "Envelope":
        """Return the envelope of a hull's vertices."""
        rates = np.array([(vertex.point.fnr, vertex.point.fpr) for vertex in slope_ranges.vertices])
        return cls(rates[:, 0], rates[:, 1], np.array([float(border) for border in slope_ranges.borders]))

    def integrate(self, distribution: Distribution, weights: RateWeights) -> float:
        """Return the exact expectation of the lowest cost over the distribution of an uncertain number u.

        Notes
        -----
        Each vertex has the lowest cost for u in an interval. In this interval its cost is (a + b·u)·fnr + (c +
        d·u)·fpr. The integral of the cost over the interval is (a·M + b·E)·fnr + (c·M + d·E)·fpr, where M is the
        probability of the interval and E the partial expectation of u in the interval.
        """
        # Borders are in order of decreasing slope. The corresponding u decrease if false alarms weigh more for larger
        # u; otherwise they increase.
        first = math.inf if weights.false_alarm[1] > 0 else -math.inf
        ends = np.array([first, *weights.at_slope(self.border), -first])
        mass = np.abs(np.diff(distribution.mass_below(ends)))
        moment = np.abs(np.diff(distribution.moment_below(ends)))
        miss = weights.miss[0] * mass + weights.miss[1] * moment
        false_alarm = weights.false_alarm[0] * mass + weights.false_alarm[1] * moment
        return float(miss @ self.fnr + false_alarm @ self.fpr)


def adaptive_cost(envelope: Envelope, context: UncertainContext, sample_prevalence: float) -> float:
    """Return the expected cost per case if the best vertex is chosen after the context is known.

    Notes
    -----
    If only the cost ratio or only the prevalence is uncertain, the integral has a closed form. If both are uncertain,
    the integral over the prevalence is computed by adaptive quadrature with a relative error of 10⁻¹⁰. For costs in
    money and for joint draws, the cost is averaged over 20,000 draws.
    """
    ratio, prevalence = context.costs["fp"], context.target_prevalence
    if prevalence is None:
        prevalence = sample_prevalence
    if context.in_money or (isinstance(ratio, Draws) and isinstance(prevalence, Draws)):
        drawn = context.draw(np.random.default_rng(0), DRAWS_OF_CONTEXTS)
        return float(np.mean(lowest_cost(envelope, drawn, sample_prevalence)))
    if not isinstance(prevalence, Distribution):
        return _cost_at_prevalence(envelope, ratio, prevalence)
    if not isinstance(ratio, Distribution):
        return envelope.integrate(prevalence, RateWeights(miss=(0, 1), false_alarm=(ratio, -ratio)))

    from scipy import integrate

    def at_mass(mass: float) -> float:
        return _cost_at_prevalence(envelope, ratio, prevalence.quantile(mass))

    total, _ = integrate.quad(at_mass, 0, 1, epsabs=1e-14, epsrel=RELATIVE_ERROR, limit=500)
    return float(total)


def cost_in(drawn: ContextDraws, tpr: Any, fpr: Any, sample_prevalence: float) -> Any:
    """Return the expected cost per case in each drawn context, given tpr and fpr."""
    costs = drawn.costs
    share = sample_prevalence if drawn.target_prevalence is None else drawn.target_prevalence
    of_positives = costs["tp"] * tpr + costs["fn"] * (1 - tpr)
    return share * of_positives + (1 - share) * (costs["fp"] * fpr + costs["tn"] * (1 - fpr))


def lowest_cost(envelope: Envelope, drawn: ContextDraws, sample_prevalence: float) -> Any:
    """Return the expected cost per case of the best vertex in each drawn context."""
    vertices = zip(1 - envelope.fnr, envelope.fpr, strict=True)
    return functools.reduce(np.minimum, (cost_in(drawn, *rates, sample_prevalence) for rates in vertices))


def minimax_regret(envelope: Envelope, context: UncertainContext, sample_prevalence: float) -> Callable[..., Array]:
    """Return a function of tp, fp, fn and tn that computes the largest regret over all possible contexts.

    Notes
    -----
    The regret of a threshold in a context is its cost minus the cost of the best vertex. The regret is convex in the
    products prevalence × cost. These products are linear in each uncertain number. The regret is therefore largest if
    each uncertain number is at an end of its range.

    References
    ----------
    Savage 1951, "The theory of statistical decision", J. Am. Stat. Assoc. 46:55–67.
    """
    extremes = list(context.extremes())
    lowest = [lowest_cost(envelope, extreme, sample_prevalence) for extreme in extremes]

    def regret(tp: Array, fp: Array, fn: Array, tn: Array) -> Array:
        tpr, fpr = np.asarray(tp / (tp + fn))[..., None], np.asarray(fp / (fp + tn))[..., None]
        largest = np.full(np.shape(tp), -np.inf)
        for extreme, best in zip(extremes, lowest, strict=True):
            excess = cost_in(extreme, tpr, fpr, sample_prevalence) - best
            largest = np.maximum(largest, excess.max(axis=-1))
        return largest

    return regret


def _cost_at_prevalence(envelope: Envelope, ratio: float | Distribution, prevalence: float) -> float:
    if isinstance(ratio, Distribution):
        return envelope.integrate(ratio, RateWeights(miss=(prevalence, 0), false_alarm=(0, 1 - prevalence)))
    return float((prevalence * envelope.fnr + (1 - prevalence) * ratio * envelope.fpr).min())


# The map of contexts.


@dataclass(frozen=True, eq=False, repr=False)
class RegionMap(Result):
    """Best vertex of a hull for each cost ratio and prevalence; returned by `Hull.region_map`.

    Attributes
    ----------
    cost_ratio : array of r
        Costs of a false alarm divided by the cost of a miss.
    prevalence : array of p
        Shares of positives.
    vertices : tuple of HullVertex
        Vertices of the hull. Each vertex has the lowest cost for some combinations of cost ratio and prevalence.
    index : array of shape (p, r)
        Index of the best vertex in `vertices`.
    looked : array of shape (p, r), or None
        Share of cases to review, with the model that has the lowest cost with reviews; None if no review was offered.
    """

    _content = ("cost_ratio", "prevalence", "index", "vertices", "looked")

    cost_ratio: Array
    prevalence: Array
    vertices: tuple[HullVertex, ...]
    index: Array
    looked: Array | None = None

    @property
    def model(self) -> Array:
        """Names of the best models: an array of shape (p, r)."""
        return np.array([vertex.label for vertex in self.vertices], dtype=object)[self.index]

    @property
    def threshold(self) -> Array:
        """Best thresholds: an array of shape (p, r)."""
        return np.array([vertex.threshold for vertex in self.vertices])[self.index]

    def border(self, vertex: int) -> Array:
        """Return, for each cost ratio, the prevalence at which a vertex and the next vertex have equal costs.

        Notes
        -----
        This prevalence is π = r/(r + m), where r is the cost ratio and m the slope between the two vertices. With
        logarithmic axes for r and for the odds of π, the border is a straight line.
        """
        slope = self.vertices[vertex].slope_low
        return self.cost_ratio / (self.cost_ratio + slope)

    def __repr__(self) -> str:
        models = list(dict.fromkeys(self.model.ravel().tolist()))
        return f"RegionMap({self.cost_ratio.size} cost ratios × {self.prevalence.size} prevalences, models={models})"


def _reviewed_share(options: Sequence[Choices], ratio: Array, prevalence: Array, review: Review) -> Array:
    """Return the share of cases to review with the best model; a miss costs 1 and a false alarm costs `ratio`.

    The cases between two adjacent vertices of a model's hull get the cheapest of three actions. Not acting costs the
    missed positives, acting costs the false alarms, and reviewing costs the reviews plus the errors of the reviews.
    """
    shape = np.broadcast_shapes(ratio.shape, prevalence.shape)
    lowest, reviewed = np.full(shape, np.inf), np.zeros(shape)
    for option in options:
        corners = geometry.corners_of(option)
        tp, fp, fn, tn = (np.asarray(cell, np.float64) for cell in option.cells)
        rises, runs = np.diff((tp / (tp + fn))[corners]), np.diff((fp / (fp + tn))[corners])
        cost, share = np.zeros(shape), np.zeros(shape)
        for rise, run in zip(rises.tolist(), runs.tolist(), strict=True):
            positives, negatives = prevalence * rise, (1 - prevalence) * run
            unreviewed = np.minimum(positives, negatives * ratio)
            wrong = (1 - review.sensitivity) * positives + (1 - review.specificity) * negatives * ratio
            looking = review.cost * (positives + negatives) + wrong
            cost += np.minimum(unreviewed, looking)
            share += np.where(looking < unreviewed, positives + negatives, 0)
        reviewed = np.where(cost < lowest, share, reviewed)
        lowest = np.minimum(cost, lowest)
    return reviewed


# The hull of several models.


class Hull(Curve):
    """Upper convex hull of the ROC curves of several models: true-positive rate (y) against false-positive rate (x).

    `rocscope.hull` returns hulls.

    Attributes
    ----------
    counts : dict from model name to ThresholdCounts or BinnedCounts
        Counts of each model.
    vertices : tuple of HullVertex
        Vertices from "nobody positive" to "everybody positive", each with its model, threshold and slope interval. All
        models have the same two end points; these end points are listed with the first model.
    negate : bool
        True if the hull also includes models with reversed decisions (positive iff ``score < threshold``).
    samples : Samples
        The data of the models, with rows if available.
    choices : tuple of Choices
        The vertices of each model's own hull; with `negate`, also all thresholds of its reversed decisions.
    """

    title = "ROC hull"
    x_name = "fpr"
    y_name = "tpr"

    def __init__(
        self,
        counts: Mapping[str, CumulativeCounts],
        choices: tuple[Choices, ...],
        *,
        negate: bool,
        samples: Samples | None = None,
    ) -> None:
        self.counts = dict(counts)
        self.samples = samples_of(self.counts) if samples is None else samples
        self.negate = negate
        self.choices = choices

    # A choice needs only the thresholds in `choices`; vertices and points are computed for plots and tables.

    @cached_property
    def slope_ranges(self) -> SlopeRanges:
        """The vertices that are best for some slope, and the exact slopes between adjacent vertices."""
        return geometry.slope_ranges(self.choices)

    @cached_property
    def vertices(self) -> tuple[HullVertex, ...]:
        """All vertices, from "nobody positive" to "everybody positive"."""
        vertices = list(self.slope_ranges.vertices)
        first, *others = self.counts
        nobody, everybody = self.choices[0].point(0), self.choices[0].point(-1)
        if vertices[0].point.tp or vertices[0].point.fp:
            vertices.insert(0, HullVertex(first, nobody, math.inf, math.inf, tied=tuple(others)))
        if vertices[-1].point.fn or vertices[-1].point.tn:
            vertices.append(HullVertex(first, everybody, 0.0, 0.0, tied=tuple(others)))
        return tuple(vertices)

    @cached_property
    def x(self) -> Array:  # pyright: ignore[reportIncompatibleVariableOverride]
        """False-positive rate of each vertex."""
        return check.read_only(np.array([vertex.fpr for vertex in self.vertices]))

    @cached_property
    def y(self) -> Array:  # pyright: ignore[reportIncompatibleVariableOverride]
        """True-positive rate of each vertex."""
        return check.read_only(np.array([vertex.tpr for vertex in self.vertices]))

    @cached_property
    def threshold(self) -> Array:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Threshold of each vertex."""
        return check.read_only(np.array([vertex.threshold for vertex in self.vertices]))

    @property
    def models(self) -> list[str]:
        """Names of all models, in their original order."""
        return list(self.counts)

    @property
    def contenders(self) -> list[str]:
        """Models that have the lowest cost for some slope, alone or tied, without the two end points of the hull."""
        owners: set[str] = set()
        for vertex in self.vertices:
            if 0 < vertex.point.tp + vertex.point.fp < vertex.point.n:
                owners.update((vertex.label, *vertex.tied))
        contenders = []
        for model, counts in self.counts.items():
            contends = model in owners or geometry.label(model, negated=True) in owners
            if not contends and not counts.holds_hull:
                # A bin may contain a threshold outside the known hull, so compare its best possible points.
                others = {name: other.attained for name, other in self.counts.items()}
                contends = model in hull(others | {model: counts.best_case}).contenders
            if contends:
                contenders.append(model)
        return contenders

    @property
    def is_exact(self) -> bool:
        """True if no threshold of any model can lie outside this hull; False only for some binned counts."""
        return all(counts.holds_hull for counts in self.counts.values())

    @property
    def holds_levels(self) -> bool:
        """True if the counts at every distinct score of every model are known; False for binned counts."""
        return all(counts.holds_levels for counts in self.counts.values())

    @cached_property
    def outer(self) -> "Hull":
        """A hull that contains all thresholds of all models. It differs from this hull only for binned counts."""
        if self.is_exact:
            return self
        return hull({name: counts.best_case for name, counts in self.counts.items()})

    @property
    def area_bounds(self) -> tuple[float, float]:
        """Lower and upper bound on the area under the hull of all thresholds."""
        return super().area(), Curve.area(self.outer)

    def cost_bounds(self, context: Context | Campaign | None = None) -> tuple[float, float]:
        """Return a lower and an upper bound on the lowest expected cost of all thresholds of all models.

        Parameters
        ----------
        context : Context or Campaign, optional
            Costs and prevalence. By default, each error costs 1.

        Examples
        --------
        The counts are exact, so both bounds are equal. Two of eight cases are errors:

        >>> from rocscope import ThresholdCounts, hull
        >>> hull(ThresholdCounts([2, 1], [2, 2], [0, 4])).cost_bounds()
        (0.25, 0.25)
        """
        return self.outer.expected_cost(context), self.expected_cost(context)

    @property
    def dominated(self) -> list[str]:
        """Models that are never needed.

        At any prevalence and costs, another model or a trivial decision is at least as good.
        """
        return [model for model in self.models if model not in self.contenders]

    @property
    def prevalence(self) -> float | None:
        """Share of positives in the sample; None if the models come from samples with different shares."""
        shares = [counts.prevalence for counts in self.counts.values()]
        return shares[0] if max(shares) - min(shares) <= SAME_PREVALENCE else None

    def totals(self, context: Context) -> tuple[float, float]:
        """Return the numbers of positives and negatives, from which the default prevalence is computed.

        Parameters
        ----------
        context : Context
            Costs and prevalence.

        Raises
        ------
        PairingError
            If the models come from samples with different prevalences and the context has no target prevalence.
        """
        if context.target_prevalence is None and self.prevalence is None:
            shares = ", ".join(f"{counts.prevalence:.4g} of {name!r}" for name, counts in self.counts.items())
            got, hint = f"prevalences of {shares}", "pass a prevalence with Context(target_prevalence=…)"
            raise PairingError("models", expected="samples with the same prevalence", got=got, hint=hint)
        first = next(iter(self.counts.values()))
        return first.n_pos, first.n_neg

    def exact_totals(self, context: Context) -> tuple[int, int]:
        """Return the numbers of positives and negatives as exact integers in a common unit.

        Parameters
        ----------
        context : Context
            Costs and prevalence.

        Raises
        ------
        PairingError
            If the models come from samples with different prevalences and the context has no target prevalence.
        """
        self.totals(context)
        return next(iter(self.counts.values())).exact_totals

    def best(self, context: Context | Campaign | None = None) -> HullVertex:
        """Return the vertex with the lowest expected cost in a context; by default, with the highest accuracy.

        Of equally good vertices, the vertex with the fewest positive predictions is returned. If several have the same
        number, the vertex of the first model is returned. If false alarms have no cost or a negative cost, the result
        may be a threshold that is not a vertex.

        Parameters
        ----------
        context : Context or Campaign, optional
            Costs and prevalence. By default, each error costs 1.

        Raises
        ------
        InputError
            If the context rewards errors of both kinds.
        PairingError
            If the models come from samples with different prevalences and the context has no target prevalence.

        Examples
        --------
        >>> from rocscope import Context, ThresholdCounts, hull
        >>> models = hull({"a": ThresholdCounts([2, 1], [2, 2], [0, 4]), "b": ThresholdCounts([2, 1], [4, 0], [2, 2])})
        >>> models.best(Context(cost_fp=5)).model, models.best(Context(cost_fn=5)).model
        ('a', 'b')
        """
        context = Context.given(context)
        touch = self.touching(context)
        point, choices = touch.point, touch.choices
        for vertex in self.vertices:
            if (vertex.model, vertex.negated, vertex.point) == (choices.model, choices.negated, point):
                return vertex
        slope = context.slope(point.prevalence)
        equal = tuple(other.choices.label for other in touch.tied if other.rates == touch.rates)
        return HullVertex(choices.model, point, slope, slope, choices.negated, equal)

    def touching(self, context: Context) -> TangentPoint:
        """Return the point at which an iso-performance line of the context touches the hull, with all ties.

        Parameters
        ----------
        context : Context
            Costs and prevalence.
        """
        choices = self.every_choice if geometry.needs_every_threshold(context) else self.choices
        return geometry.touching(choices, context, self.exact_totals(context))

    @property
    def every_choice(self) -> tuple[Choices, ...]:
        """All thresholds of all models, also of reversed scores if the hull includes reversed models."""
        options = []
        for model, counts in self.counts.items():
            options.append(geometry.all_choices(model, counts))
            if self.negate and len(counts) > 1:
                options.append(geometry.negation(model, counts))
        return tuple(options)

    def regions(self) -> tuple[HullVertex, ...]:
        """Return the best model and threshold for each range of slopes, from steepest to flattest.

        The ranges cover all slopes from infinity to 0. At a border between two ranges, both vertices have equal costs.

        Examples
        --------
        >>> from rocscope import ThresholdCounts
        >>> counts = ThresholdCounts([0.9, 0.6, 0.4], [2, 1, 1], [1, 1, 2])
        >>> [(v.threshold, v.slope_low, v.slope_high) for v in hull({"a": counts}).regions()]
        [(inf, 2.0, inf), (0.9, 1.0, 2.0), (0.6, 0.5, 1.0), (-inf, 0.0, 0.5)]
        """
        return self.slope_ranges.vertices

    def region_map(self, cost_ratio: Any = None, prevalence: Any = None, *, review: Review | None = None) -> RegionMap:
        """Return the best vertex for each combination of cost ratio and prevalence.

        Parameters
        ----------
        cost_ratio : array of r ratios above 0, optional
            Costs of a false alarm divided by the cost of a miss. By default, 121 ratios from 1/1000 to 1000.
        prevalence : array of p shares between 0 and 1, optional
            Prevalences. By default, 121 prevalences from 0.001 to 0.999.
        review : Review, optional
            Allow review as a third action. The review has no capacity, and its cost is relative to the cost of a miss.
            The map then contains the share of cases to review.

        Raises
        ------
        InputError
            If a cost ratio is not above 0, or a prevalence is not between 0 and 1. If the review has a capacity.

        Examples
        --------
        >>> from rocscope import ThresholdCounts, hull
        >>> models = hull({"a": ThresholdCounts([2, 1], [2, 2], [0, 4]), "b": ThresholdCounts([2, 1], [4, 0], [2, 2])})
        >>> regions = models.region_map(cost_ratio=[0.2, 5], prevalence=[0.5])
        >>> [[regions.vertices[index].model for index in row] for row in regions.index]
        [['b', 'a']]
        """
        decades = np.logspace(-MAP_DECADES, MAP_DECADES, MAP_STEPS)
        ratio = check.check_numbers(decades if cost_ratio is None else cost_ratio, "cost_ratio")
        share = check.check_numbers(decades / (1 + decades) if prevalence is None else prevalence, "prevalence")
        if not (ratio > 0).all():
            raise InputError("cost_ratio", expected="finite ratios above 0", got=repr(ratio[:5].tolist()))
        if review is not None and (not isinstance(review, Review) or review.capacity is not None):
            raise InputError("review", expected="a Review without a capacity", got=check.shown(review))
        if not ((share > 0) & (share < 1)).all():
            raise InputError("prevalence", expected="shares between 0 and 1", got=repr(share[:5].tolist()))
        slope = ratio * ((1 - share) / share)[:, None]
        borders = np.array([float(border) for border in self.slope_ranges.borders])
        index = np.searchsorted(-borders, -slope, side="left")
        reviewed = None
        if review is not None:
            options = [option for option in self.every_choice if not option.negated]
            reviewed = check.read_only(_reviewed_share(options, ratio, share[:, None], review))
        ratio, share, index = (check.read_only(column) for column in (ratio, share, index))
        return RegionMap(ratio, share, self.slope_ranges.vertices, index, reviewed)

    def expected_cost(self, context: "Context | Campaign | UncertainContext | None" = None) -> float:
        """Return the expected cost per case of the best vertex in a context.

        For an UncertainContext, return the expected cost if the vertex is chosen after the context is known. The
        expected cost of a choice that is made now is ``choose(hull, context).expected_cost``.

        Parameters
        ----------
        context : Context, Campaign or UncertainContext, optional
            Costs and prevalence. By default, each error costs 1.

        Raises
        ------
        PairingError
            If the models come from samples with different prevalences and the context has no target prevalence.

        Examples
        --------
        The cheapest threshold is 2. It misses two positives of eight cases:

        >>> from rocscope import Context, ThresholdCounts, hull
        >>> hull(ThresholdCounts([2, 1], [2, 2], [0, 4])).expected_cost(Context(cost_fn=1.5))
        0.375
        """
        if isinstance(context, UncertainContext):
            n_pos, n_neg = self.totals(context.mean)
            return adaptive_cost(Envelope.of(self.slope_ranges), context, n_pos / (n_pos + n_neg))
        context = Context.given(context)
        return float(context.exact_cost(self.best(context).point))

    def mixture(self, **target: Any) -> RandomizedRule:
        """Return a rule with a given rate, which mixes two adjacent vertices at random; see `decisions.mixture`.

        Parameters
        ----------
        fpr, tpr, depth, at_most : float
            Target of the rule; pass exactly one of these. `depth` is the share of cases predicted positive, and
            `at_most` is the number of cases predicted positive in the `population`.
        population : float, optional
            Number of cases, for `at_most`.
        target_prevalence : float, optional
            Share of positives in the population. By default, the share in the sample.

        Examples
        --------
        >>> from rocscope import ThresholdCounts
        >>> counts = ThresholdCounts([0.9, 0.6, 0.4], [2, 1, 1], [1, 1, 2])
        >>> hull({"a": counts}).mixture(tpr=0.875)
        RandomizedRule(0.5 × score≥0.6 of a + 0.5 × everybody, tpr=0.875, fpr=0.75)
        """
        return mixture_on(self.vertices, **target)

    def add(self, model: str, counts: Counted) -> "Hull":
        """Return the hull with one more model. Only the new model is processed.

        Parameters
        ----------
        model : str
            Name of the new model.
        counts : ThresholdCounts or other data of one model
            Numbers of positives and negatives at each score; see `rocscope.sample`.

        Raises
        ------
        InputError
            If the hull already has a model of this name.

        Examples
        --------
        >>> from rocscope import ThresholdCounts, hull
        >>> one = hull({"a": ThresholdCounts([2, 1], [2, 2], [1, 3])})
        >>> both = one.add("b", ThresholdCounts([2, 1], [4, 0], [2, 2]))
        >>> [(vertex.model, vertex.tpr) for vertex in both.vertices]
        [('a', 0.0), ('b', 1.0), ('a', 1.0)]
        """
        if model in self.counts:
            raise InputError(f"model {model!r} is already in the hull", hint="use another name")
        (added,) = samples_of({model: counts}, name="counts").points().values()
        choices = (*self.choices, *_choices(model, added, self.negate))
        return Hull(self.counts | {model: added}, choices, negate=self.negate)

    def area(self) -> float:
        """Return the area under the hull: an upper bound on the AUC of any combination of these models.

        Raises
        ------
        InexactCountsError
            If the area is not known exactly, because counts are binned; see `area_bounds`.
        """
        if not self.is_exact:
            low, high = self.area_bounds
            hint = "use .area_bounds, or pass rows instead of binned counts"
            raise InexactCountsError(f"area under the hull: not exact, from {low:.9g} to {high:.9g}", hint=hint)
        return super().area()

    def _columns(self) -> dict[str, Array]:
        """Return a table with one row per vertex, as a dict from column name to array."""
        columns = super()._columns()
        for name in ("model", "negated", "slope_low", "slope_high"):
            columns[name] = np.array([getattr(vertex, name) for vertex in self.vertices])
        return columns

    def to_dict(self) -> dict[str, Any]:
        """Return the models and vertices as JSON-compatible data.

        Examples
        --------
        >>> from rocscope import ThresholdCounts, hull
        >>> [vertex["tpr"] for vertex in hull(ThresholdCounts([2, 1], [3, 1], [1, 3])).to_dict()["vertices"]]
        [0.0, 0.75, 1.0]
        """
        names = ("title", "models", "contenders", "dominated")
        facts = {name: getattr(self, name) for name in names}
        area = {"area": self.area()} if self.is_exact else {"area_bounds": self.area_bounds}
        return jsonable(facts | area | {"vertices": self.vertices})

    def __reduce__(self) -> Any:
        return partial(hull, negate=self.negate), (self.counts,)

    def _facts(self) -> str:
        low, high = self.area_bounds
        area = f"area={low:.6g}" if self.is_exact else f"area from {low:.6g} to {high:.6g}"
        facts = f"{area}, {len(self.vertices)} vertices, models={self.contenders}"
        return f"{facts}, dominated={self.dominated}" if self.dominated else facts


@contract
def hull(
    models: Models | Labels,
    y_score: Scores | None = None,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    negate: bool = False,
) -> Hull:
    """Compute the convex hull of the ROC curves of one or several models, with the model of each vertex.

    Parameters
    ----------
    models, y_score, pos_label, sample_weight : data of one or several models
        Labels and scores, Predictions, or a mapping from model name to counts or points; see `rocscope.sample`. For
        binned counts, the hull contains only the ends of bins; `Hull.outer` is an upper bound for all thresholds.
    negate : bool
        If True, also include models with reversed decisions (positive iff ``score < threshold``). Reversed decisions
        can be better if a curve lies below the diagonal. Vertices with reversed decisions have ``negated=True``.

    Returns
    -------
    Hull
        Vertices with model, threshold and slopes, in order of increasing false-positive rate.

    Raises
    ------
    OneClassError
        If a sample contains only one class.
    InputError
        If no model is given.

    See Also
    --------
    choose, mixture, plot_regions

    Notes
    -----
    For unweighted data, the hull is computed exactly with integers. After ranking, the computation takes one pass over
    the distinct scores of each model. Models may come from different rows. If their samples have different prevalences,
    set a target prevalence in the Context.

    References
    ----------
    Provost & Fawcett 2001, "Robust classification for imprecise environments"; Hernández-Orallo 2004, ROC analysis of
    crisp and soft classifiers.

    Examples
    --------
    A valve should be opened in 500 of 100,000 cases:

    >>> from rocscope import OperatingPoint
    >>> valve = hull({
    ...     "c1": OperatingPoint(tp=300, fp=500, fn=200, tn=99_000),
    ...     "c2": OperatingPoint(tp=0, fp=0, fn=500, tn=99_500),
    ...     "c3": OperatingPoint(tp=400, fp=5400, fn=100, tn=94_100),
    ... })
    >>> valve
    Hull(area=0.887136, 4 vertices, models=['c1', 'c3'], dominated=['c2'])
    >>> valve.best(Context(cost_fp=100, cost_fn=2000)).model
    'c1'
    """
    models = with_scores(models, y_score, pos_label=pos_label, sample_weight=sample_weight)
    return hull_of(samples_of(models), negate=negate)


def hull_of(samples: Samples, *, negate: bool = False) -> Hull:
    """Return the hull, given samples that are already validated."""
    counts = samples.points()
    choices: list[Choices] = []
    for model, points in counts.items():
        choices.extend(_choices(model, points, negate))
    return Hull(counts, tuple(choices), negate=negate, samples=samples)


def _choices(model: str, counts: CumulativeCounts, negate: bool) -> tuple[Choices, ...]:
    """Return the hull vertices of one model; with `negate`, also all thresholds of its reversed decisions."""
    counts.require_both_classes(f"hull of {model!r}")
    pooled = geometry.all_choices(model, geometry.pool(counts.attained))
    # Reversing the decisions of a constant score gives everybody and nobody again.
    if not negate or len(counts) < 2:
        return (pooled,)
    return pooled, geometry.negation(model, counts.require_levels(f"hull with {model!r} negated"))


# The H-measure.

# The trivial decisions "nobody" and "everybody", the two ends of the diagonal.
TRIVIAL = Envelope(fnr=np.array([1.0, 0.0]), fpr=np.array([0.0, 1.0]), border=np.array([1.0]))


@contract
def h_measure(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    costs: Literal["prevalence", "symmetric"] | Beta = "prevalence",
    severity_ratio: float | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Compute the H-measure: the relative reduction of the expected minimum loss, over a distribution of costs.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Pass labels as `y_true` and scores as `y_score`. Or pass Predictions, ThresholdCounts, an OperatingPoint,
        BinnedCounts or a CountsSketch as `y_true`, without `y_score`. `rocscope.sample` describes all parameters.
    costs : {"prevalence", "symmetric"} or Beta
        Distribution of c = cost of a false alarm / (cost of a false alarm + cost of a miss). ``"prevalence"`` is Beta(1
        + π, 2 − π), where π is the prevalence of the sample. It assumes that misses are more expensive if positives are
        rare (Hand & Anagnostopoulos 2014). ``"symmetric"`` is Beta(2, 2) (Hand 2009).
    severity_ratio : float, optional
        Ratio of the cost of a false alarm to the cost of a miss, at the mode of the distribution of c. The distribution
        Beta(2, 1 + 1/ratio) then replaces `costs`. The default of the R package hmeasure is ``n_pos / n_neg``.

    Returns
    -------
    float
        The H-measure: 1 for a perfect ranking, 0 if a trivial decision is optimal for all costs.

    Raises
    ------
    InputError
        If the labels or scores are invalid; see `ThresholdCounts.from_scores`.
    OneClassError
        If one class is missing.

    See Also
    --------
    auc, cost_curve

    Notes
    -----
    H = 1 − L/L_max. L is the expected cost of the best point of the hull, and L_max is the expected cost of the better
    of the two trivial decisions. Both costs are integrated in closed form over the slope intervals of the hull. Unlike
    the AUC, the H-measure uses the same distribution of costs for every classifier. With the default costs, values from
    samples with different prevalences are not comparable.

    References
    ----------
    Hand 2009, "Measuring classifier performance: a coherent alternative to the area under the ROC curve", Machine
    Learning 77; Hand & Anagnostopoulos 2014, "A better Beta for the H measure of classification performance",
    Pattern Recognition Letters 40.

    Examples
    --------
    >>> h_measure([1, 1, 0, 0], [4, 3, 2, 1]), h_measure([1, 0, 1, 0], [1, 1, 1, 1])
    (1.0, 0.0)
    """
    counts = counts_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    envelope = Envelope.of(hull(counts).slope_ranges)
    share = counts.prevalence
    distribution = _cost_distribution(share, costs, severity_ratio)
    # A false alarm costs u and a miss 1 − u; each is weighted by the share of its class.
    weights = RateWeights(miss=(share, -share), false_alarm=(0, 1 - share))
    return 1 - envelope.integrate(distribution, weights) / TRIVIAL.integrate(distribution, weights)


def _cost_distribution(prevalence: float, costs: Any, severity_ratio: float | None) -> Beta:
    if severity_ratio is not None:
        ratio = check.check_number(severity_ratio, "severity_ratio", "a finite number above 0", above=0)
        if costs != "prevalence":
            expected = "only one of these arguments"
            raise InputError("costs and severity_ratio", expected=expected, got="both", hint="omit costs")
        return Beta(2, 1 + 1 / ratio)
    if isinstance(costs, Beta):
        return costs
    named = {"prevalence": Beta(1 + prevalence, 2 - prevalence), "symmetric": Beta(2, 2)}
    if isinstance(costs, str) and costs in named:
        return named[costs]
    raise InputError("costs", expected="'prevalence', 'symmetric' or a Beta", got=repr(costs))
