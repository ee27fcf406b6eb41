"""Intervals for an area that hold where data are thin: Wilson's, for as many rows as the placements are worth.

An area is a mean of placements, which vary less than the yes or no of a binomial with that mean, so m rows are worth
more than m trials. How much more is estimated from the rows; where these are few or look alike it is drawn towards what
is known before any row is seen. The result is a number of trials N with degrees of freedom, for Wilson's interval with
a t quantile.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isnan, sqrt

from scipy import special

from rocscope.inference.influence.units import Stratum

_LEAST_PRIOR, _PRIOR = 0.25, 2.0  # rows that the prior weighs: always, and where no row tells anything
_TRUSTED = 3.0  # rows' worth of information, below which the prior says more than the data
_FEW, _FEW_GROUPS = 5, 10
_ROUNDING = 1e-12


@dataclass(frozen=True)
class EffectiveSize:
    """An area that is as sure as a share of `trials` trials, with the degrees of freedom of that number.

    `informative` is the number of rows that tell how much placements vary; `smallest` that of the smaller class.

    Examples
    --------
    >>> EffectiveSize(0.8125, trials=8.0, df=10.0, informative=3.0, smallest=4).interval(0.95)
    (0.4232..., 0.9623...)
    """

    auc: float
    trials: float
    df: float
    informative: float
    smallest: float
    units: str = "rows"

    @property
    def variance(self) -> float:
        """Of the area, A(1 − A)/N."""
        return self.auc * (1 - self.auc) / self.trials

    @property
    def reason(self) -> str:
        """Why the interval is not to be trusted; empty where it is."""
        if self.units == "groups" and self.df < _FEW_GROUPS - 1:
            return f"fewer than {_FEW_GROUPS} groups"
        if self.smallest < _FEW:
            return f"fewer than {_FEW} {self.units} of a class ({self.smallest:g})"
        if self.informative < _TRUSTED:
            return f"only {self.informative:.2g} {self.units} tell how much the ranks vary"
        return ""

    def interval(self, level: float) -> tuple[float, float]:
        """Return Wilson's interval for N trials with a t quantile."""
        return self.interval_at(float(special.stdtrit(self.df, (1 + level) / 2)))

    def interval_at(self, quantile: float) -> tuple[float, float]:
        """Return Wilson's interval with that many standard errors on each side."""
        auc, n, q = self.auc, self.trials, quantile
        centre = auc + q * q / (2 * n)
        reach = q * sqrt(auc * (1 - auc) / n + (q / (2 * n)) ** 2)
        scale = 1 + q * q / n
        low, high = (centre - reach) / scale, (centre + reach) / scale
        return (0.0 if auc == 0 else max(low, 0.0)), (1.0 if auc == 1 else min(high, 1.0))


def effective_size(auc: float, strata: Sequence[Stratum], model: int, variance: float) -> EffectiveSize:
    """Return how many trials an area is worth, from how the units of its strata move it.

    Parameters
    ----------
    auc : float
    strata : the two classes, or one stratum of groups that hold both
    model : int
        Column of the moves.
    variance : float
        Of the area, as DeLong or Obuchowski estimate it; used for groups only.

    Notes
    -----
    For a class of s rows with placements x: r = x − A; S = Σr²/(s − 1); B = A(1 − A); d = min(1, S/B), which is 1 for a
    binomial; k = min(s − 1, #{x < 1}, 2s/(kurtosis − 1)) rows tell d. It is drawn towards p = (1 − g)/3 +
    g·max(m, n)/(m + n), g = (2A − 1)⁴, with the weight of c = ¼ + 2√(1 − k/(s − 1)) rows: d* = (k·d + c·p)/(k + c),
    v = d*/s. Then N = 1/(v₁ + v₀), df = (v₁ + v₀)²/(v₁²/(m − 1 + c₁) + v₀²/(n − 1 + c₀)). At A = 1, N = min(m, n).
    Below ½ the classes change places. With weights s is Kish's (Σw)²/Σw², also in s − 1; over folds that each count
    1/K it is K²/Σ(1/sₖ), r is taken about the fold's own area and s − 1 is Σ(sₖ − 1).

    For K groups their moves are one stratum with k = min(K − 1, 2K/(kurtosis − 1)), V is Obuchowski's, c as above and
    1/N = (k·V/B + c·p(1/M₊ + 1/M₋))/(k + c) with the numbers M of groups that hold each class; df = K − 1 + c.

    How it was found: c, the power in g and the degrees of freedom were searched so that no design of
    docs/guide/intervals.md is covered less than 93 %, or more than 98 % where that can be helped.

    References
    ----------
    Wilson 1927, J. Am. Stat. Assoc. 22:209–212; Korn & Graubard 1998, Surv. Methodol. 24:193–201; Franco, Little,
    Louis & Slud 2019, J. Surv. Stat. Methodol. 7:334–364 (Wilson on an effective size). The shrinkage is our own.
    """
    if len(strata) == 1:
        return _of_groups(auc, strata[0], model, variance)
    sizes = [stratum.size for stratum in strata]
    smallest = min(sizes)
    spread, prior = auc * (1 - auc), _prior(auc, *sizes)
    known = [_known(stratum, auc, model) for stratum in strata]
    weights = [_weight(k, stratum.freedom) for k, stratum in zip(known, strata, strict=True)]
    shares = [_share(stratum, model, spread) if k else 0.0 for stratum, k in zip(strata, known, strict=True)]
    parts = [(k * d + c * prior) / (k + c) / s for k, d, c, s in zip(known, shares, weights, sizes, strict=True)]
    total = sum(parts)
    df = total**2 / sum(v**2 / (stratum.freedom + c) for v, c, stratum in zip(parts, weights, strata, strict=True))
    observed = [d / s for d, s in zip(shares, sizes, strict=True)]
    informative = sum(v * k for v, k in zip(observed, known, strict=True)) / sum(observed) if any(observed) else 0.0
    return EffectiveSize(auc, smallest if _is_end(auc) else 1 / total, df, informative, smallest)


def _of_groups(auc: float, stratum: Stratum, model: int, variance: float) -> EffectiveSize:
    holding = stratum.holding
    smallest = min(holding)
    if _is_end(auc):
        return EffectiveSize(auc, smallest, stratum.units, 0.0, smallest, "groups")
    known = 0.0 if isnan(variance) else min(stratum.df, _by_kurtosis(stratum, model))
    weight = _weight(known, stratum.df)
    prior = _prior(auc, *holding) * sum(1 / held for held in holding)
    observed = variance / (auc * (1 - auc)) if known else 0.0
    trials = (known + weight) / (known * observed + weight * prior)
    return EffectiveSize(auc, trials, stratum.df + weight, known, smallest, "groups")


def _weight(known: float, df: float) -> float:
    """Return how many rows the prior weighs."""
    return _LEAST_PRIOR + _PRIOR * sqrt(1 - known / df if known else 1.0)


def _is_end(auc: float) -> bool:
    return min(auc, 1 - auc) <= _ROUNDING


def _prior(auc: float, m: float, n: float) -> float:
    g = (2 * auc - 1) ** 4
    return (1 - g) / 3 + g * max(m, n) / (m + n)


def _share(stratum: Stratum, model: int, spread: float) -> float:
    """How much placements vary beside the most that they could with their mean."""
    return min(1.0, stratum.variance(model) * stratum.size / spread) if spread > 0 else 0.0


def _known(stratum: Stratum, auc: float, model: int) -> float:
    """How many rows tell how much placements vary; 0 where none do."""
    if stratum.df <= 0 or stratum.inside is None:
        return 0.0
    inside = stratum.inside[int(auc < 0.5), model]
    return min(stratum.freedom, inside, _by_kurtosis(stratum, model))


def _by_kurtosis(stratum: Stratum, model: int) -> float:
    """Rows of a normal sample whose variance is known as well; 0 where nothing varies."""
    squares = stratum.moves[:, model] ** 2
    second, fourth = stratum.total(squares), stratum.total(squares**2)
    if second <= _ROUNDING**2:
        return 0.0
    kurtosis = fourth * stratum.units / second**2
    return 2 * stratum.units / (kurtosis - 1) if kurtosis > 1 + _ROUNDING else inf
