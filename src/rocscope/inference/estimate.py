"""The one rule for `reliable`: how many rows, groups, cases and informative units an interval needs.

All limits were found by simulation (`make coverage`, docs/coverage.md): with fewer, 95 % intervals that called
themselves reliable covered less than 93 %; with as many, ordinary samples are hardly ever flagged.
"""
# MERGED-DOC: """Estimate and Comparison: a value with its interval, and a difference with its test."""
# MERGED-DOC: """Hypotheses about a difference (superiority, non-inferiority, equivalence), their tests, and
# multiplicity adjustment.
#
# p-values that allow for the number of comparisons made.
# """

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import combinations
from math import inf, isinf, isnan, nan
from typing import Any, ClassVar, Literal, overload

import numpy as np
from numpy.typing import NDArray

from rocscope._base import special
from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope._base.formatting import p_value
from rocscope.core.result import ComparedByValue, Result, html_table
from rocscope.errors import ColumnError, InputError

FEW_ROWS = 5  # of a class, or that a share is of
FEW_WEIGHTED = 8  # rows that a class is worth whose weights are estimated, for an area
FEW_GROUPS = 10  # groups of equal size, or as many unequal ones as are worth that
FEW_INFORMATIVE = 4  # rows of a normal sample that would tell a variance as well
FEW_BEYOND = 2  # rows expected beyond the point that a figure looks at, such as positives above a tpr of .9
FEW_FOR_LIMIT = 25  # rows that tell a variance, or equal groups, from which on the limit theorem needs no help
FEW_RESAMPLED = 20  # of a class, for percentiles of a bootstrap, and AUC intervals that no prior helps
SHRUNK = 3.0  # rows that tell how ranks vary, with fewer of which a prior says more than the data
FEW_EVENTS = 10  # cases of the rarer class, for calibration; equal rows that large costs are worth; rows with amounts

UNSEEN = 3.0  # rows of a class of s that may be ranked last and not have been drawn: a share of 3/s, at 95 %
MOST_UNSEEN = 2.0  # times the interval's reach, by which these may lower a mean of ranks


def joined(*parts: str) -> str:
    """Return the parts of a method's name that are not empty, separated by commas."""
    return ", ".join(part for part in parts if part)


def few(amount: float, least: float, what: str) -> str:
    """Return that there are fewer than needed; empty where there are enough.

    Examples
    --------
    >>> few(3.21, 5, "positives"), few(5, 5, "positives")
    ('only 3.2 positives, fewer than 5', '')
    """
    return f"only {amount:.2g} {what}, fewer than {least:g}" if amount < least else ""


def few_groups(amount: float | None) -> str:
    """Return that there are too few groups; empty where there are enough, or none."""
    return "" if amount is None or isnan(amount) else few(amount, FEW_GROUPS, "groups of equal size")


def unseen(smallest: float, value: float, reach: float, units: str = "rows") -> str:
    """Return that rows ranked last may be missing, which would lower a mean of ranks to far outside its interval.

    Examples
    --------
    >>> unseen(15, 0.97, 0.1), unseen(50, 0.8, 0.1)
    ('', '')
    >>> unseen(15, 0.99, 0.05)
    'rows ranked last, one of 5 of a class, may not have been drawn'
    """
    if UNSEEN / smallest * value <= MOST_UNSEEN * reach:
        return ""
    return f"{units} ranked last, one of {smallest / UNSEEN:.0f} of a class, may not have been drawn"


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(ComparedByValue):
    """A value with a confidence interval.

    Parameters
    ----------
    value, low, high : float
        The estimate and the ends of its interval.
    level : float
        Confidence level, such as 0.95.
    method : str
        How the interval was made, as tables and legends name it.
    n : float
        Cases that it rests on.
    standard_error : float, optional
        On the scale of `value`; NaN where the method has none.
    reason : str, optional
        Why the interval is not to be trusted, such as too few positives; empty where it is.

    Examples
    --------
    >>> estimate = Estimate(0.8, 0.7, 0.9, level=0.95, method="DeLong", n=120)
    >>> estimate
    Estimate(0.8, 95 % interval 0.7 to 0.9, DeLong, n=120)
    >>> 0.75 in estimate, float(estimate)
    (True, 0.8)
    """

    value: float
    low: float
    high: float
    level: float
    method: str
    n: float
    standard_error: float = nan
    reason: str = ""
    _also: ClassVar[tuple[str, ...]] = ("reliable",)

    @property
    def reliable(self) -> bool:
        """Whether the interval has its nominal coverage, according to simulations; `reason` states why not."""
        return not self.reason

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __float__(self) -> float:
        return float(self.value)

    def shifted(self, by: float) -> "Estimate":
        """Return the estimate of the value plus a constant."""
        return replace(self, value=self.value + by, low=self.low + by, high=self.high + by)

    @property
    def words(self) -> str:
        """The value, with its interval if there is one."""
        if isnan(self.low) and isnan(self.high):
            return f"{self.value:.4g}"
        return f"{self.value:.4g}, {100 * self.level:g} % interval {self.low:.4g} to {self.high:.4g}"

    @property
    def cells(self) -> tuple[str, str]:
        """Value and interval as table cells."""
        return f"{self.value:.4g}", f"{self.low:.4g} to {self.high:.4g}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.words}, {self.method}, n={self.n:g}{self.doubt})"

    @property
    def doubt(self) -> str:
        """Suffix of a line about the estimate if it is not reliable."""
        return f"; not reliable: {self.reason}" if self.reason else ""


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """The difference of two models in a quantity, with interval and test.

    Parameters
    ----------
    first, second : str
        Names; the difference is second − first.
    difference : Estimate
    statistic : float
        What was referred to its null distribution; NaN where the test has none.
    p_value : float
    alternative : str
        What the test would show: "two-sided", "greater" or "less".
    test, margin : str, float
        "difference"; or "superiority", "noninferiority" or "equivalence" by a margin.
    df : float
        Degrees of freedom of the statistic; infinite for a normal one.
    adjusted_p_value : float
        After correction for several comparisons; NaN where none was made.
    method : str
        Name of the test.

    Examples
    --------
    >>> gain = Estimate(0.05, 0.01, 0.09, level=0.95, method="DeLong, paired", n=200)
    >>> Comparison("a", "b", gain, statistic=2.45, p_value=0.0143, method="DeLong, paired")
    Comparison(b − a: 0.05, 95 % interval 0.01 to 0.09, p=0.0143, two-sided, DeLong, paired)
    """

    first: str
    second: str
    difference: Estimate
    statistic: float
    p_value: float
    method: str
    alternative: str = "two-sided"
    margin: float = 0.0
    df: float = inf
    adjusted_p_value: float = nan
    test: str = "difference"

    @property
    def aim(self) -> str:
        """The hypothesis to be shown, as text."""
        return self.alternative if self.test == "difference" else f"{self.test} by {self.margin:g}"

    def __repr__(self) -> str:
        adjusted = f", adjusted p={self.adjusted_p_value:.3g}" if self.adjusted_p_value > self.p_value else ""
        test = f"p={self.p_value:.3g}{adjusted}, {self.aim}, {self.method}"
        return f"Comparison({self.second} − {self.first}: {self.difference.words}, {test}{self.difference.doubt})"


@dataclass(frozen=True, eq=False, repr=False)
class Omnibus(ComparedByValue):
    """The test that several models are equal in a quantity.

    Attributes
    ----------
    statistic, df, df_error : float
        F with these degrees of freedom.
    p_value : float
    method : str
    reason : str
        Why it is not to be trusted; empty where it is.

    Examples
    --------
    >>> from rocscope import Predictions, compare
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> models = {"a": [1, 2, 4, 3, 5, 6], "b": [2, 4, 5, 1, 3, 6], "c": [1, 3, 5, 2, 4, 6]}
    >>> 0 <= compare(Predictions(y, models)).omnibus.p_value <= 1
    True
    """

    statistic: float
    df: float
    df_error: float
    p_value: float
    method: str
    reason: str = ""
    _also: ClassVar[tuple[str, ...]] = ("reliable",)

    @property
    def reliable(self) -> bool:
        """Whether the test has its nominal size, according to simulations; `reason` states why not."""
        return not self.reason

    def __repr__(self) -> str:
        doubt = f"; not reliable: {self.reason}" if self.reason else ""
        law = f"F={self.statistic:.4g} with {self.df:g} and {self.df_error:.3g} df"
        return f"Omnibus({law}, p={self.p_value:.3g}, {self.method}{doubt})"


@dataclass(frozen=True, eq=False, repr=False)
class Comparisons(Sequence[Comparison], Result):
    """Estimates of several models, their covariance, and the comparison of each pair.

    A sequence of `Comparison`; a pair is also found by its names.

    Parameters
    ----------
    quantity : str
        What was compared.
    estimates : mapping from model name to Estimate
    covariance : array of m × m
        Of the estimates, in that order.
    pairs : sequence of Comparison
        Of each two models, the earlier one first.
    adjust : str
        How the adjusted p-values allow for the number of pairs.
    omnibus : Omnibus, optional
        The test that all are equal, where there are three or more.

    Examples
    --------
    >>> a, b = (Estimate(v, v - 0.1, v + 0.1, level=0.95, method="DeLong", n=50) for v in (0.7, 0.8))
    >>> gain = Estimate(0.1, -0.02, 0.22, level=0.95, method="DeLong, paired", n=50)
    >>> pair = Comparison("a", "b", gain, 1.6, 0.11, "DeLong, paired")
    >>> result = Comparisons("AUC", {"a": a, "b": b}, np.eye(2), [pair], "holm")
    >>> result
    Comparisons(AUC: a 0.7, b 0.8; smallest p=0.11)
    >>> result["b", "a"].p_value, len(result), result.estimates["b"].value
    (0.11, 1, 0.8)
    """

    _content = ("quantity", "estimates", "covariance", "adjust", "omnibus", "pairs")

    quantity: str
    estimates: Mapping[str, Estimate]
    covariance: Array
    pairs: Sequence[Comparison]
    adjust: str = "holm"
    omnibus: Omnibus | None = None
    _index: dict[frozenset[str], int] = field(init=False)

    def __post_init__(self) -> None:
        index = {frozenset((pair.first, pair.second)): i for i, pair in enumerate(self.pairs)}
        covariance = check.read_only(np.asarray(self.covariance, dtype=np.float64))
        check.settle(self, covariance=covariance, estimates=dict(self.estimates), pairs=tuple(self.pairs), _index=index)

    @overload
    def __getitem__(self, index: int | tuple[str, str]) -> Comparison: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Comparison]: ...
    def __getitem__(self, index: int | slice | tuple[str, str]) -> Comparison | Sequence[Comparison]:
        if not isinstance(index, tuple):
            return self.pairs[index]
        if frozenset(index) not in self._index:
            raise ColumnError("models", expected=f"two of {list(self.estimates)}", got=repr(index))
        return self.pairs[self._index[frozenset(index)]]

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[Comparison]:
        return iter(self.pairs)

    def __repr__(self) -> str:
        values = ", ".join(f"{name} {estimate.value:.4g}" for name, estimate in self.estimates.items())
        smallest = f"; smallest p={min(self._p_values):.3g}" if self._p_values else ""
        equal = f"; all equal: p={self.omnibus.p_value:.3g}" if self.omnibus else ""
        return f"Comparisons({self.quantity}: {values}{smallest}{equal})"

    @property
    def _p_values(self) -> list[float]:
        return [pair.p_value for pair in self.pairs if not isnan(pair.p_value)]

    def _repr_html_(self) -> str:
        if self.pairs and not self._p_values:
            return super()._repr_html_() + "".join(f"<p>{escape(repr(pair))}</p>" for pair in self.pairs)
        rows = [
            (
                f"{pair.second} − {pair.first}",
                *pair.difference.cells,
                p_value(pair.p_value),
                p_value(pair.adjusted_p_value),
                pair.difference.reason or "yes",
            )
            for pair in self.pairs
        ]
        return super()._repr_html_() + html_table(rows, ("", "difference", "interval", "p", "adjusted", "reliable"))


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
