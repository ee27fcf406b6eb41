"""Hypotheses about a difference (superiority, non-inferiority, equivalence), their tests, and multiplicity adjustment.

p-values that allow for the number of comparisons made.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf, isinf, nan
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rocscope._base import special
from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.errors import InputError
from rocscope.inference.estimate import Comparison, Comparisons, Estimate, Omnibus

PValueAdjust = Literal["holm", "bh", "none"]
Adjust = Literal["holm", "bh", "max-t", "none"]

ADJUSTMENTS = ("holm", "bh", "none")
OF_ESTIMATES = ("holm", "bh", "max-t", "none")

_DRAWS = 100_000  # an adjusted p-value of .05 then has a standard error of .0007


@contract
def adjust_p_values(p_values: Any, method: PValueAdjust = "holm") -> NDArray[np.float64]:
    """Adjust p-values for multiple comparisons.

    Parameters
    ----------
    p_values : array of m p-values
    method : {"holm", "bh", "none"}
        Holm's step-down method keeps the chance of any false finding below the level (family-wise error);
        Benjamini–Hochberg's keeps the share of false ones among the findings below it (false discovery rate).

    Returns
    -------
    array of m adjusted p-values

    Raises
    ------
    InputError
        If a p-value is not from 0 to 1.

    References
    ----------
    Holm 1979, Scand. J. Stat. 6:65–70; Benjamini & Hochberg 1995, J. R. Stat. Soc. B 57:289–300.

    Examples
    --------
    >>> adjust_p_values([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    >>> adjust_p_values([0.01, 0.04, 0.03], "bh")
    array([0.03, 0.04, 0.04])
    """
    check.check_choice("method", method, ADJUSTMENTS)
    p = check.check_numbers(p_values, "p_values")
    if not ((p >= 0) & (p <= 1)).all():
        raise InputError("p_values", expected="numbers from 0 to 1", got=repr(p[~((p >= 0) & (p <= 1))][0].item()))
    if method == "none":
        return p
    order = np.argsort(p)
    adjusted = np.empty_like(p)
    if method == "bh":
        times = p.size / np.arange(1, p.size + 1)  # at least 1, so that no product is rounded below its p-value
        adjusted[order] = np.minimum.accumulate((p[order] * times)[::-1])[::-1]
    else:
        adjusted[order] = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1)).clip(max=1)
    return adjusted


def compare_each_two(
    quantity: str,
    estimates: Mapping[str, Estimate],
    covariance: Array,
    compare: Callable[[int, int], Comparison],
    adjust: Adjust,
    omnibus: Omnibus | None = None,
) -> Comparisons:
    """Compare each pair of m estimates, by index, with p-values adjusted for all pairs that have one."""
    pairs = [compare(i, j) for i, j in combinations(range(len(estimates)), 2)]
    adjusted = np.array([pair.p_value for pair in pairs])
    if (tested := np.flatnonzero(~np.isnan(adjusted))).size:
        if adjust == "max-t":
            one_sided = pairs[0].alternative != "two-sided" or pairs[0].test != "difference"
            both = of_differences(np.nan_to_num(covariance))
            adjusted[tested] = max_t(adjusted[tested], both[np.ix_(tested, tested)], one_sided)
        else:
            adjusted[tested] = adjust_p_values(adjusted[tested], adjust)
    pairs = [replace(pair, adjusted_p_value=float(p)) for pair, p in zip(pairs, adjusted, strict=True)]
    return Comparisons(quantity, estimates, covariance, pairs, adjust, omnibus)


def of_differences(covariance: Array) -> Array:
    """Return the covariance of the differences of each two of m estimates, in order of `itertools.combinations`."""
    i, j = np.triu_indices(covariance.shape[0], 1)
    contrast = np.eye(covariance.shape[0])[j] - np.eye(covariance.shape[0])[i]
    return contrast @ covariance @ contrast.T


def max_t(p: Array, covariance: Array, one_sided: bool) -> Array:
    """Return step-down p-values from the distribution of the maximum of several differences with this covariance.

    Notes
    -----
    A p-value is taken as that of a normal statistic, so that what it allows for few rows stays allowed for. 100,000
    draws: an adjusted p-value of .05 has a standard error of .0007.

    References
    ----------
    Westfall & Young 1993, Resampling-Based Multiple Testing; Hothorn, Bretz & Westfall 2008, Biom. J. 50:346–363.
    """
    spread = np.sqrt(np.where(np.diag(covariance) > 0, np.diag(covariance), 1.0))
    values, vectors = np.linalg.eigh(covariance / np.outer(spread, spread))
    root = vectors * np.sqrt(values.clip(min=0))
    drawn = np.random.default_rng(0).standard_normal((_DRAWS, root.shape[1])) @ root.T
    drawn, statistic = (drawn, -special.ndtri(p)) if one_sided else (abs(drawn), -special.ndtri(p / 2))
    order = np.argsort(p)
    largest = np.maximum.accumulate(drawn[:, order[::-1]], axis=1)[:, ::-1]  # of a pair and all of larger p-values
    reached = (largest >= statistic[order]).mean(axis=0)
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(np.fmax(reached, p[order]))
    return adjusted


Alternative = Literal["two-sided", "greater", "less"]
Test = Literal["difference", "superiority", "noninferiority", "equivalence"]

ALTERNATIVES = ("two-sided", "greater", "less")
TESTS = ("difference", "superiority", "noninferiority", "equivalence")


@dataclass(frozen=True)
class Hypothesis:
    """A hypothesis about second − first.

    Parameters
    ----------
    alternative : {"two-sided", "greater", "less"}
        That it is not 0, above 0, or below 0.
    test : {"difference", "superiority", "noninferiority", "equivalence"}
        In place of that: that it is above `margin`, above −`margin`, or within ±`margin` (two one-sided tests).
    margin : float
    level : float
        Of intervals, which are two-sided whatever the test.

    Examples
    --------
    >>> Hypothesis(test="noninferiority", margin=0.02).nulls
    (-0.02, None)
    >>> round(Hypothesis("greater").p_value(1.645), 3)
    0.05
    """

    alternative: Alternative = "two-sided"
    test: Test = "difference"
    margin: float = 0.0
    level: float = 0.95

    def __post_init__(self) -> None:
        check.check_level(self.level)
        check.check_choice("alternative", self.alternative, ALTERNATIVES)
        check.check_choice("test", self.test, TESTS)
        check.check_number(self.margin, "margin", "a number of at least 0", least=0)
        if self.test == "difference":
            if self.margin:
                hint = "name what the margin is of: test='superiority', 'noninferiority' or 'equivalence'"
                raise InputError("margin", expected="none with test='difference'", got=repr(self.margin), hint=hint)
            return
        if self.alternative != "two-sided":
            hint = "the test itself has a direction"
            raise InputError("alternative", expected=f"none with test={self.test!r}", got=self.alternative, hint=hint)
        if not 0 <= self.margin < inf or (self.test != "superiority" and self.margin == 0):
            least = "of at least 0" if self.test == "superiority" else "above 0"
            raise InputError("margin", expected=f"a number {least}", got=repr(self.margin))

    @property
    def aim(self) -> str:
        """The hypothesis, as text."""
        return self.alternative if self.test == "difference" else f"{self.test} by {self.margin:g}"

    @property
    def nulls(self) -> tuple[float | None, float | None]:
        """Values that the difference should exceed, and stay below; None if not tested."""
        lower = {"difference": 0.0, "superiority": self.margin}.get(self.test, -self.margin)
        upper = {"difference": 0.0, "equivalence": self.margin}.get(self.test)
        return (None if self.alternative == "less" else lower), (None if self.alternative == "greater" else upper)

    def judge(self, above: Callable[[float], float], below: Callable[[float], float]) -> float:
        """Return the p-value, given those of the one-sided tests of being above and below a value."""
        lower, upper = self.nulls
        found = [p(null) for p, null in ((above, lower), (below, upper)) if null is not None]
        if self.test == "difference" and len(found) == 2:
            return min(2 * min(found), 1.0)
        return max(found)

    def p_value(self, statistic: float, df: float = inf) -> float:
        """Return the p-value of a normal or t statistic (with `df` degrees of freedom)."""
        return self.judge(lambda _: _below(-statistic, df), lambda _: _below(statistic, df))

    def compare(self, first: str, second: str, difference: Estimate, *, df: float = inf, method: str) -> Comparison:
        """Test a difference, given its standard error."""

        def standardised(null: float) -> float:
            # Where nothing varies a difference of nothing shows nothing, and any other cannot be judged.
            excess = difference.value - null
            return excess / (difference.standard_error or nan) if excess else 0.0

        p_value = self.judge(lambda null: _below(-standardised(null), df), lambda null: _below(standardised(null), df))
        statistic = min((standardised(null) for null in self.nulls if null is not None), key=abs)
        return self.comparison(first, second, difference, statistic, p_value, method, df)

    def comparison(
        self,
        first: str,
        second: str,
        difference: Estimate,
        statistic: float,
        p_value: float,
        method: str,
        df: float = inf,
    ) -> Comparison:
        """Return a comparison with its hypothesis."""
        return Comparison(
            first, second, difference, statistic, p_value, method, self.alternative, self.margin, df, test=self.test
        )

    def wald(
        self, value: float, standard_error: float, n: float, method: str, *, df: float = inf, bound: float = inf
    ) -> Estimate:
        """Return value ± quantile·se, clipped to ±`bound`."""
        share = (1 + self.level) / 2
        reach = float(special.ndtri(share) if isinf(df) else special.stdtrit(df, share)) * standard_error
        low, high = max(value - reach, -bound), min(value + reach, bound)
        return Estimate(value, low, high, self.level, method, n, standard_error)


def _below(value: float, df: float) -> float:
    """Return the normal or Student's t distribution function (with `df` degrees of freedom)."""
    return float(special.ndtr(value) if isinf(df) else special.stdtr(df, value))
