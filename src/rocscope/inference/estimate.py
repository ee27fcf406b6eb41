"""Estimates with confidence intervals, comparisons with tests, and the sample sizes that make them reliable.

Every interval of the library is an `Estimate`. Its `reason` states why it may not have its nominal coverage, such as
too few rows, too few groups, or too few rows that determine the variance. The required numbers are defined below. They
were found by simulation (`make coverage`, docs/coverage.md). With smaller numbers, some 95% intervals that were marked
as reliable had a coverage below 93%. With the chosen numbers, ordinary samples are rarely flagged.

A `Hypothesis` defines the test of a difference second − first. The alternative is that the difference is not 0, is
above a margin (superiority), is above −margin (non-inferiority), or is within ±margin (equivalence, by two one-sided
tests). A `Comparison` is the result for one pair of models. `Comparisons` contains all pairs, with p-values adjusted
for the number of pairs.

The file is in this order: limits and quantiles, results, multiple tests, hypotheses.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import combinations
from math import inf, isinf, isnan, nan, sqrt
from typing import Any, ClassVar, Literal, overload

import numpy as np
from numpy.typing import NDArray

from rocscope._base import special, validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract, made_by_contract
from rocscope._base.formatting import p_value
from rocscope._base.public_names import unpacked_into
from rocscope.core import Result, html_table
from rocscope.core.result import ComparedByValue
from rocscope.errors import ColumnError, InputError

# Limits and quantiles

FEW_ROWS = 5  # rows of a class, or cases in the denominator of a proportion
FEW_WEIGHTED = 8  # effective rows of a class for an AUC with estimated weights
FEW_GROUPS = 10  # groups of equal size, or the effective number of unequal groups
FEW_INFORMATIVE = 4  # size of a normal sample whose variance is estimated equally precisely
FEW_BEYOND = 4  # expected rows past the point that a metric uses, such as positives below a tpr of .9
FEW_GROUPS_BEYOND = 2.5  # the same for groups; with 2.5 to 4 of them, the few degrees of freedom keep the coverage
FEW_FOR_LIMIT = 25  # informative rows, or equal groups, for the central limit theorem to be accurate
FEW_RESAMPLED = 20  # rows of a class, for bootstrap percentiles and for AUC intervals without a prior
SHRUNK = 3.0  # informative rows; with fewer, the prior of an AUC interval outweighs the data
FEW_EVENTS = 10  # cases of the rarer class, for calibration; effective rows with large costs; rows with amounts

# If none of s rows of a class is ranked last, up to 3/s of the population of the class may still be ranked last, at a
# confidence of 95% (the rule of three: (1 − 3/s)^s ≈ 0.05).
_RULE_OF_THREE = 3.0
_MOST_LOWERED = 2.0  # largest decrease of a mean rank by such rows, as a multiple of the half-width of its interval

# Upper limit of a t quantile. With few degrees of freedom, tail probabilities near 0 have no finite quantile in double
# precision.
_LARGEST_QUANTILE = 1e8


def few(amount: float, least: float, what: str) -> str:
    """Return a warning text if an amount is smaller than the least amount needed; otherwise an empty text.

    Examples
    --------
    >>> few(3.21, 5, "positives"), few(5, 5, "positives")
    ('only 3.2 positives, fewer than 5', '')
    """
    return f"only {amount:.2g} {what}, fewer than {least:g}" if amount < least else ""


def few_groups(amount: float | None) -> str:
    """Return a warning text if there are fewer than 10 groups; an empty text otherwise, or if rows are not grouped."""
    return "" if amount is None or isnan(amount) else few(amount, FEW_GROUPS, "groups of equal size")


def unseen_last_ranks(smallest: float, value: float, reach: float, units: str = "rows") -> str:
    """Return a warning text if the sample may lack rows that are ranked last; otherwise an empty text.

    The text is returned if such rows would lower a mean rank far below its interval.

    Parameters
    ----------
    smallest : float
        Number of rows or groups in the smaller class.
    value : float
        Mean rank, from 0 to 1.
    reach : float
        Distance from the mean rank to the limit of its interval.
    units : {"rows", "groups"}
        Independent units of the data.

    Examples
    --------
    >>> unseen_last_ranks(15, 0.97, 0.1), unseen_last_ranks(50, 0.8, 0.1)
    ('', '')
    >>> unseen_last_ranks(15, 0.99, 0.05)
    'the sample may lack rows that the model ranks last: up to 1 in 5 of a class'
    """
    if _RULE_OF_THREE / smallest * value <= _MOST_LOWERED * reach:
        return ""
    return (
        f"the sample may lack {units} that the model ranks last: up to 1 in {smallest / _RULE_OF_THREE:.0f} of a class"
    )


def joined(*parts: str) -> str:
    """Join the non-empty parts of a method's name with commas."""
    return ", ".join(part for part in parts if part)


def normal_quantile(level: float) -> float:
    """Return the normal quantile z for a two-sided interval with a confidence level."""
    return float(special.ndtri((1 + level) / 2))


def t_quantile(z: float, df: float) -> float:
    """Return Student's t quantile that has the same tail probability as the normal quantile z.

    Examples
    --------
    >>> t_quantile(1.959963984540054, 10)
    2.228...
    """
    quantile = z if df == inf else -float(special.stdtrit(df, special.ndtr(-z)))
    return quantile if abs(quantile) < _LARGEST_QUANTILE else _LARGEST_QUANTILE


def satterthwaite(variances: Sequence[float], df: Sequence[float]) -> float:
    """Return Satterthwaite's degrees of freedom (Σv)²/Σ(v²/df), but at least 1, for a sum of independent variances."""
    total = sum(variances)
    if not total > 0:
        return 1.0
    return max(1.0, total**2 / sum(part**2 / d for part, d in zip(variances, df, strict=True)))


# Results


class WithReason(Result):
    """Mixin for results that may be unreliable; `reason` states why, and is empty if they are reliable."""

    reason: str
    _also: ClassVar[tuple[str, ...]] = ("reliable",)

    @property
    def reliable(self) -> bool:
        """True if intervals have about their nominal coverage, and tests their type I error rate, in simulations."""
        return not self.reason

    @property
    def doubt(self) -> str:
        """Text that is added to the repr if the result is not reliable; otherwise empty."""
        return f"; not reliable: {self.reason}" if self.reason else ""


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(WithReason, ComparedByValue):
    """A value with a confidence interval.

    Parameters
    ----------
    value : float
        The estimate.
    low, high : float
        Lower and upper limit of the confidence interval.
    level : float
        Confidence level, such as 0.95.
    method : str
        Name of the interval method, as shown in tables and legends.
    n : float
        Number of cases used.
    standard_error : float, optional
        Standard error of `value`. NaN if the method does not compute a standard error.
    reason : str, optional
        Reason why the interval is not reliable, such as too few positives. Empty if the interval is reliable.

    Examples
    --------
    >>> estimate = Estimate(0.8, 0.7, 0.9, level=0.95, method="DeLong", n=120)
    >>> estimate
    Estimate(0.8, 95% CI [0.7, 0.9], n=120)
    >>> 0.75 in estimate, float(estimate), f"{estimate:.1%}"
    (True, 0.8, '80.0%')
    """

    value: float
    low: float
    high: float
    level: float
    method: str
    n: float
    standard_error: float = nan
    reason: str = ""

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __float__(self) -> float:
        return float(self.value)

    # In arithmetic and comparisons, an estimate is replaced by its value.

    def __add__(self, other: Any) -> float:
        return float(self) + other

    def __sub__(self, other: Any) -> float:
        return float(self) - other

    def __rsub__(self, other: Any) -> float:
        return other - float(self)

    def __mul__(self, other: Any) -> float:
        return float(self) * other

    def __truediv__(self, other: Any) -> float:
        return float(self) / other

    def __rtruediv__(self, other: Any) -> float:
        return other / float(self)

    def __lt__(self, other: Any) -> bool:
        return float(self) < float(other)

    def __le__(self, other: Any) -> bool:
        return float(self) <= float(other)

    def __gt__(self, other: Any) -> bool:
        return float(self) > float(other)

    def __ge__(self, other: Any) -> bool:
        return float(self) >= float(other)

    __radd__, __rmul__ = __add__, __mul__

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    def shifted(self, by: float) -> "Estimate":
        """Return the estimate with a constant added to its value and limits.

        Parameters
        ----------
        by : float
            Constant to add.
        """
        return replace(self, value=self.value + by, low=self.low + by, high=self.high + by)

    @property
    def words(self) -> str:
        """The value and, if it is defined, the interval as text."""
        if isnan(self.low) and isnan(self.high):
            return f"{self.value:.4g}"
        return f"{self.value:.4g}, {100 * self.level:g}% CI [{self.low:.4g}, {self.high:.4g}]"

    @property
    def cells(self) -> tuple[str, str]:
        """Texts of the value and the interval for two cells of a table."""
        return f"{self.value:.4g}", f"[{self.low:.4g}, {self.high:.4g}]"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.words}, n={self.n:g}{self.doubt})"


@made_by_contract
@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Difference between two models in a metric, with a confidence interval and a test.

    Parameters
    ----------
    first, second : str
        Names of the models.
    difference : Estimate
        The difference second − first with its interval.
    statistic : float
        Test statistic. NaN if the test has no statistic.
    p_value : float
        p-value of the test.
    method : str
        Name of the test.
    alternative : {"two-sided", "greater", "less"}
        Alternative hypothesis about second − first: not 0, above 0, or below 0.
    margin : float
        Margin of a test of superiority, non-inferiority or equivalence; otherwise 0.
    df : float
        Degrees of freedom of a t statistic. Infinite for a normal statistic.
    adjusted_p_value : float
        p-value adjusted for the number of pairs of models. NaN if the p-value is not adjusted.
    test : {"difference", "superiority", "noninferiority", "equivalence"}
        Kind of test.

    Examples
    --------
    >>> gain = Estimate(0.05, 0.01, 0.09, level=0.95, method="DeLong, paired", n=200)
    >>> Comparison("a", "b", gain, statistic=2.45, p_value=0.0143, method="DeLong, paired")
    Comparison(b − a: 0.05, 95% CI [0.01, 0.09], p=0.0143, two-sided)
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
        """The alternative hypothesis as text, such as "greater" or "superiority by 0.02"."""
        return self.alternative if self.test == "difference" else f"{self.test} by {self.margin:g}"

    def __repr__(self) -> str:
        adjusted = f", adjusted p={self.adjusted_p_value:.3g}" if self.adjusted_p_value > self.p_value else ""
        test = f"p={self.p_value:.3g}{adjusted}, {self.aim}"
        return f"Comparison({self.second} − {self.first}: {self.difference.words}, {test}{self.difference.doubt})"


@dataclass(frozen=True, eq=False, repr=False)
class Omnibus(WithReason, ComparedByValue):
    """Omnibus test of the hypothesis that three or more models have the same value of a metric.

    Attributes
    ----------
    statistic : float
        F statistic.
    df, df_error : float
        Degrees of freedom of the numerator and of the denominator of F.
    p_value : float
        p-value of the test.
    method : str
        Name of the test.
    reason : str
        Reason why the test is not reliable. Empty if the test is reliable.

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

    def __repr__(self) -> str:
        law = f"F={self.statistic:.4g} with {self.df:g} and {self.df_error:.3g} df"
        return f"Omnibus({law}, p={self.p_value:.3g}, {self.method}{self.doubt})"


@made_by_contract
@dataclass(frozen=True, eq=False, repr=False)
class Comparisons(Sequence[Comparison], Result):
    """Comparisons of all pairs of models in a metric, with the estimate of each model.

    The object is a sequence of `Comparison`. Select a pair by its index, such as ``result[0]``, or by the names of both
    models, such as ``result["a", "b"]``.

    Parameters
    ----------
    quantity : str
        Name of the compared metric, such as "AUC".
    estimates : mapping from model name to Estimate
        Value of the metric for each of m models, with its interval.
    covariance : array of m × m
        Covariance matrix of the estimates. Rows and columns have the order of `estimates`.
    pairs : sequence of Comparison
        Comparisons of all pairs of models.
    adjust : {"holm", "bh", "max-t", "none"}
        Method that adjusted the p-values for the number of pairs.
    omnibus : Omnibus, optional
        For three or more models, the test of the hypothesis that all models have the same value.

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
        check.set_fields(
            self, covariance=covariance, estimates=dict(self.estimates), pairs=tuple(self.pairs), _index=index
        )

    @overload
    def __getitem__(self, index: int | tuple[str, str]) -> Comparison: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Comparison]: ...
    def __getitem__(self, index: int | slice | tuple[str, str]) -> Comparison | Sequence[Comparison]:
        if not isinstance(index, tuple):
            return self.pairs[index]
        if frozenset(index) not in self._index:
            raise ColumnError("models", expected=f"two different names of {list(self.estimates)}", got=repr(index))
        return self.pairs[self._index[frozenset(index)]]

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[Comparison]:
        if unpacked_into() not in (None, len(self)):
            hint = "use comparisons[0].statistic and comparisons[0].p_value for the first pair"
            raise TypeError(f"Comparisons contains {check.counted(len(self), 'pair')} and no single numbers; {hint}")
        return iter(self.pairs)

    def __repr__(self) -> str:
        values = ", ".join(f"{name} {estimate.value:.4g}" for name, estimate in self.estimates.items())
        smallest = f"; smallest p={min(self._p_values):.3g}" if self._p_values else ""
        equal = f"; all equal: p={self.omnibus.p_value:.3g}" if self.omnibus else ""
        return f"Comparisons({self.quantity}: {values}{smallest}{equal})"

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame with one row per pair of models.

        The columns are first, second, difference, low, high, p_value and adjusted_p_value.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            Library of the data frame.

        Examples
        --------
        Model "a" orders three of four pairs of a positive and a negative, and model "b" only one pair:

        >>> from rocscope import Predictions, compare
        >>> preds = Predictions([1, 0, 1, 0] * 9, {"a": [4, 3, 2, 1] * 9, "b": [2, 3, 4, 5] * 9})
        >>> compare(preds).to_frame()[["first", "second", "difference"]]
          first second  difference
        0     a      b        -0.5
        """
        columns: dict[str, Any] = {
            "first": [pair.first for pair in self.pairs],
            "second": [pair.second for pair in self.pairs],
            "difference": [pair.difference.value for pair in self.pairs],
            "low": [pair.difference.low for pair in self.pairs],
            "high": [pair.difference.high for pair in self.pairs],
            "p_value": [pair.p_value for pair in self.pairs],
            "adjusted_p_value": [pair.adjusted_p_value for pair in self.pairs],
        }
        return check.frame_of(columns, backend)

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


# Multiple tests and imputations


@contract
def pool(estimates: Sequence[Estimate], *, level: float | None = None) -> Estimate:
    """Pool estimates from several imputations of missing values by Rubin's rules.

    Parameters
    ----------
    estimates : list of m Estimate
        Estimates of one metric, one from each of m imputed data sets.
    level : float, optional
        Confidence level. By default, the level of the first estimate.

    Returns
    -------
    Estimate
        The pooled estimate. Its `n` is the `n` of the first estimate.

    Raises
    ------
    InputError
        If there are fewer than two estimates.

    See Also
    --------
    auc_interval, estimate_of, bootstrap

    Notes
    -----
    Let W be the mean of the squared standard errors and B the variance of the m values. The squared standard error of
    the pooled estimate is T = W + (1 + 1/m)·B. The interval uses a t quantile with
    (m − 1)·(1 + W/((1 + 1/m)·B))² degrees of freedom. If an estimate has no standard error, half the width of its
    interval, divided by the normal quantile, replaces the standard error.

    References
    ----------
    Rubin 1987, Multiple Imputation for Nonresponse in Surveys, eq. 3.1.2–3.1.6.

    Examples
    --------
    >>> imputed = [Estimate(auc, auc - 0.1, auc + 0.1, 0.95, "DeLong", 100, 0.05) for auc in (0.7, 0.8, 0.75)]
    >>> pool(imputed)  # W = .0025, B = .0025, T = .0025 + 4/3·.0025
    Estimate(0.75, 95% CI [0.564, 0.936], n=100)
    """
    m = len(estimates)
    if m < 2:
        raise InputError("estimates", expected="two or more estimates", got=str(m), hint="pass one per imputation")
    values = np.array([estimate.value for estimate in estimates])
    squares: list[float] = []
    for estimate in estimates:
        error = estimate.standard_error
        if isnan(error):
            error = (estimate.high - estimate.low) / 2 / normal_quantile(estimate.level)
        squares.append(error**2)
    level = check.check_level(estimates[0].level if level is None else level)
    within = sum(squares) / m
    between = (1 + 1 / m) * float(values.var(ddof=1))
    quantile = normal_quantile(level)
    if between > 0:
        quantile = t_quantile(quantile, (m - 1) * (1 + within / between) ** 2)
    error = sqrt(within + between)
    mean = float(values.mean())
    low, high = mean - quantile * error, mean + quantile * error
    reason = next((estimate.reason for estimate in estimates if estimate.reason), "")
    return Estimate(mean, low, high, level, f"Rubin's rules over {m} imputations", estimates[0].n, error, reason)


PValueAdjust = Literal["holm", "bh", "none"]
Adjust = Literal["holm", "bh", "max-t", "none"]

ADJUSTMENTS = ("holm", "bh", "none")
OF_ESTIMATES = ("holm", "bh", "max-t", "none")

_DRAWS = 100_000  # draws of the maximum statistic; an adjusted p-value of .05 then has a standard error of .0007


@contract
def adjust_p_values(p_values: Any, method: PValueAdjust = "holm") -> NDArray[np.float64]:
    """Adjust p-values for multiple comparisons.

    Parameters
    ----------
    p_values : array of m numbers
        p-values of m tests, from 0 to 1.
    method : {"holm", "bh", "none"}
        "holm" is Holm's step-down method. It controls the familywise error rate, the probability of at least one false
        rejection. "bh" is Benjamini and Hochberg's method. It controls the false discovery rate, the expected share of
        false rejections among all rejections. "none" returns the p-values unchanged.

    Returns
    -------
    array of m numbers
        Adjusted p-values, in the order of `p_values`.

    Raises
    ------
    InputError
        If a p-value is below 0, above 1 or NaN.

    See Also
    --------
    compare

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
    refused = ~((p >= 0) & (p <= 1))  # also NaN
    if refused.any():
        raise InputError("p_values", expected="numbers from 0 to 1", got=repr(p[refused][0].item()))
    if method == "none":
        return p
    order = np.argsort(p)
    adjusted = np.empty_like(p)
    if method == "bh":
        # Step-up: p₍ᵢ₎·m/i, the smallest from i on. m/i is at least 1, so that no product is rounded below its p-value.
        factor = p.size / np.arange(1, p.size + 1)
        adjusted[order] = np.minimum.accumulate((p[order] * factor)[::-1])[::-1]
    else:
        # Step-down: p₍ᵢ₎·(m − i + 1), the largest up to i.
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
    """Compare each pair of m models, and adjust the p-values for the number of pairs.

    A difference is marked as not reliable if the estimate of either model is not reliable.

    Parameters
    ----------
    quantity : str
        Name of the compared metric.
    estimates : mapping from model name to Estimate
        Value of the metric for each of m models.
    covariance : array of m × m
        Covariance matrix of the estimates.
    compare : function of two indices
        Function that compares the models with these indices.
    adjust : {"holm", "bh", "max-t", "none"}
        Adjustment of the p-values.
    omnibus : Omnibus, optional
        Test of the hypothesis that all models are equal.
    """
    reasons = [estimate.reason for estimate in estimates.values()]
    pairs = []
    for i, j in combinations(range(len(estimates)), 2):
        pair = compare(i, j)
        reason = pair.difference.reason or reasons[i] or reasons[j]
        pairs.append(replace(pair, difference=replace(pair.difference, reason=reason)))
    p_values = np.array([pair.p_value for pair in pairs])
    tested = np.flatnonzero(~np.isnan(p_values))
    if not tested.size:
        adjusted = p_values[tested]
    elif adjust == "max-t":
        one_sided = pairs[0].alternative != "two-sided" or pairs[0].test != "difference"
        of_pairs = covariance_of_differences(np.nan_to_num(covariance))
        adjusted = max_t(p_values[tested], of_pairs[np.ix_(tested, tested)], one_sided)
    else:
        adjusted = adjust_p_values(p_values[tested], adjust)
    p_values[tested] = adjusted
    pairs = [replace(pair, adjusted_p_value=float(p)) for pair, p in zip(pairs, p_values, strict=True)]
    return Comparisons(quantity, estimates, covariance, pairs, adjust, omnibus)


def covariance_of_differences(covariance: Array) -> Array:
    """Return the covariance matrix of the differences of all pairs, in the order of `itertools.combinations`.

    Parameters
    ----------
    covariance : array of m × m
        Covariance matrix of the m estimates.
    """
    first, second = np.triu_indices(covariance.shape[0], 1)
    identity = np.eye(covariance.shape[0])
    contrast = identity[second] - identity[first]
    return contrast @ covariance @ contrast.T


def max_t(p: Array, covariance: Array, one_sided: bool) -> Array:
    """Adjust p-values by the step-down max-t method, with the distribution of the largest of several differences.

    Parameters
    ----------
    p : array of k
        p-values of k differences, without NaN.
    covariance : array of k × k
        Covariance matrix of the differences. Only the correlations are used.
    one_sided : bool
        True if the p-values are one-sided.

    Notes
    -----
    Each test statistic is the normal quantile of the given p-value. So corrections for few rows remain in the adjusted
    p-values. With 100,000 draws, an adjusted p-value of .05 has a standard error of .0007.

    References
    ----------
    Westfall & Young 1993, Resampling-Based Multiple Testing; Hothorn, Bretz & Westfall 2008, Biom. J. 50:346–363.
    """
    # Draws of the standardised differences. Their correlation may be singular (m models have m(m − 1)/2 differences),
    # so that its root comes from eigenvalues and not from Cholesky's decomposition.
    variance = np.diag(covariance)
    spread = np.sqrt(np.where(variance > 0, variance, 1.0))
    correlation = covariance / np.outer(spread, spread)
    # A difference with an unknown variance, or a variance of 0, can have a p-value from the numbers of rows alone. It
    # is drawn independently, which is Šidák's adjustment. Models with equal rankings have p = 1 and need no draws.
    unknown = (variance <= 0) & (p < 1)
    correlation[unknown, unknown] = 1.0
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(values.clip(min=0))
    drawn = np.random.default_rng(0).standard_normal((_DRAWS, root.shape[1])) @ root.T
    if one_sided:
        statistic = -special.ndtri(p)
    else:
        drawn, statistic = abs(drawn), -special.ndtri(p / 2)

    # Step-down: a pair is compared with the maximum over it and all pairs with larger p-values.
    order = np.argsort(p)
    largest = np.maximum.accumulate(drawn[:, order[::-1]], axis=1)[:, ::-1]
    reached = (largest >= statistic[order]).mean(axis=0)
    adjusted = np.empty_like(p)
    # At least the p-value itself, because draws do not resolve p-values near 0; and in the order of the p-values.
    adjusted[order] = np.maximum.accumulate(np.maximum(reached, p[order]))
    return adjusted


# Hypotheses

Alternative = Literal["two-sided", "greater", "less"]
Test = Literal["difference", "superiority", "noninferiority", "equivalence"]

ALTERNATIVES = ("two-sided", "greater", "less")
TESTS = ("difference", "superiority", "noninferiority", "equivalence")


@dataclass(frozen=True)
class Hypothesis:
    """A test of the difference second − first between two models.

    Parameters
    ----------
    alternative : {"two-sided", "greater", "less"}
        Alternative hypothesis of the test "difference": the difference is not 0, above 0, or below 0.
    test : {"difference", "superiority", "noninferiority", "equivalence"}
        Kind of test. "difference" uses `alternative`. "superiority" tests that the difference is above `margin`.
        "noninferiority" tests that it is above −`margin`. "equivalence" tests that it is within ±`margin`.
    margin : float
        Margin of a test of superiority, non-inferiority or equivalence; 0 for the test "difference".
    level : float
        Confidence level of the intervals. Intervals are two-sided for every test.

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
                hint = "to use a margin, pass test='superiority', 'noninferiority' or 'equivalence'"
                raise InputError("margin", expected="0 for test='difference'", got=repr(self.margin), hint=hint)
            return
        if self.alternative != "two-sided":
            expected, hint = f"'two-sided' for test={self.test!r}", "omit alternative, because the test has a direction"
            raise InputError("alternative", expected=expected, got=repr(self.alternative), hint=hint)
        if not 0 <= self.margin < inf or (self.test != "superiority" and self.margin == 0):
            least = "of at least 0" if self.test == "superiority" else "above 0"
            raise InputError("margin", expected=f"a number {least}", got=repr(self.margin))

    @property
    def aim(self) -> str:
        """The alternative hypothesis as text, such as "greater" or "superiority by 0.02"."""
        return self.alternative if self.test == "difference" else f"{self.test} by {self.margin:g}"

    @property
    def nulls(self) -> tuple[float | None, float | None]:
        """Null values of the upper and the lower one-sided test; None for a test that is not used."""
        if self.test == "superiority":
            return self.margin, None
        if self.test == "noninferiority":
            return -self.margin, None
        if self.test == "equivalence":
            return -self.margin, self.margin
        above = None if self.alternative == "less" else 0.0
        below = None if self.alternative == "greater" else 0.0
        return above, below

    def judge(self, above: Callable[[float], float], below: Callable[[float], float]) -> float:
        """Return the p-value of the hypothesis.

        Parameters
        ----------
        above, below : functions of a null value
            Functions that return the p-value of the one-sided test that the difference is above or below a null value.
        """
        lower, upper = self.nulls
        p_values = []
        if lower is not None:
            p_values.append(above(lower))
        if upper is not None:
            p_values.append(below(upper))
        if self.test == "difference" and len(p_values) == 2:
            return min(2 * min(p_values), 1.0)
        return max(p_values)  # equivalence is shown if both one-sided tests reject

    def p_value(self, statistic: float, df: float = inf) -> float:
        """Return the p-value of a t statistic with `df` degrees of freedom; of a normal statistic if `df` is
        infinite."""
        return self.judge(lambda _: _lower_tail(-statistic, df), lambda _: _lower_tail(statistic, df))

    def compare(self, first: str, second: str, difference: Estimate, *, df: float = inf, method: str) -> Comparison:
        """Test a difference by its value and standard error, with a normal statistic or a t statistic."""

        def standardised(null: float) -> float:
            # If the standard error is 0, a difference equal to the null value has p = 1; other differences have NaN.
            excess = difference.value - null
            return excess / (difference.standard_error or nan) if excess else 0.0

        p_value = self.judge(
            lambda null: _lower_tail(-standardised(null), df), lambda null: _lower_tail(standardised(null), df)
        )
        statistic = min((standardised(null) for null in self.nulls if null is not None), key=abs)
        return self.comparison(first, second, difference, statistic, p_value, method, df)

    def comparison(
        self, first: str, second: str, shown: Estimate, statistic: float, p_value: float, method: str, df: float = inf
    ) -> Comparison:
        """Return a Comparison with the alternative, the margin and the kind of test of this hypothesis."""
        aim = self.alternative, self.margin, df
        return Comparison(first, second, shown, statistic, p_value, method, *aim, test=self.test)

    def wald(
        self, value: float, standard_error: float, n: float, method: str, *, df: float = inf, bound: float = inf
    ) -> Estimate:
        """Return the interval value ± quantile·standard_error, clipped to ±`bound`, as an Estimate."""
        reach = t_quantile(normal_quantile(self.level), df) * standard_error
        low, high = max(value - reach, -bound), min(value + reach, bound)
        return Estimate(value, low, high, self.level, method, n, standard_error)


def _lower_tail(value: float, df: float) -> float:
    """Return the value of Student's t distribution function; of the normal one if `df` is infinite."""
    return float(special.ndtr(value) if isinf(df) else special.stdtr(df, value))
