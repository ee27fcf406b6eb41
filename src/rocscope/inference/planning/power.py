"""Planning a study: power and sample size for areas, their differences, and rates of a given precision.

The variance of an area that is not observed yet is Obuchowski's for a binormal curve:
V = 0.0099·exp(−A²/2)·((5A² + 8) + (A² + 8)/κ) for one positive, where A = √2·Φ⁻¹(AUC) and κ is the number of negatives
for each positive.

Planning a study by the width of its intervals: of an area, of sensitivity and specificity.
"""

from dataclasses import dataclass
from math import ceil, exp, sqrt
from typing import Any, Literal, get_args

import numpy as np
from scipy import optimize, special

from rocscope._base import validation as check
from rocscope._base.contract import contract
from rocscope.core.result import Result
from rocscope.errors import InputError
from rocscope.inference.proportions import ShareMethod, logit, normal_quantile, proportion_interval

Alternative = Literal["two-sided", "greater"]


@dataclass(frozen=True, repr=False)
class StudyPlan(Result):
    """How many positives and negatives a study needs, and what they give.

    Attributes
    ----------
    n_pos, n_neg : int
    power : float
        Chance that the study shows what it is planned to show; NaN for a study that is planned by its precision.
    aim : str
        What it is planned for.

    Examples
    --------
    >>> from rocscope.inference.planning import auc_sample_size
    >>> auc_sample_size(0.8)
    StudyPlan(n_pos=13, n_neg=13, power 0.809, AUC 0.8 against 0.5)
    """

    _also = ("n",)

    n_pos: int
    n_neg: int
    power: float
    aim: str

    @property
    def n(self) -> int:
        """All cases."""
        return self.n_pos + self.n_neg

    def __repr__(self) -> str:
        power = "" if self.power != self.power else f", power {self.power:.3f}"
        return f"StudyPlan(n_pos={self.n_pos}, n_neg={self.n_neg}{power}, {self.aim})"


@contract
def auc_variance(auc: float, ratio: float = 1.0) -> float:
    """Compute the variance of an estimated AUC for one positive; divide it by their number.

    Parameters
    ----------
    auc : float
        Between 0 and 1, as it is expected.
    ratio : float
        Negatives for each positive.

    Returns
    -------
    float

    References
    ----------
    Obuchowski 2004, Acad. Radiol. 11:980–995, eq. 5; Obuchowski & McClish 1997, Stat. Med. 16:1529–1542.

    Examples
    --------
    >>> round(auc_variance(0.5), 4)
    0.1584
    """
    _check_auc("auc", auc)
    if not ratio > 0:
        raise InputError("ratio", expected="a number of negatives for each positive above 0", got=repr(ratio))
    a = sqrt(2) * float(special.ndtri(auc))
    return 0.0099 * exp(-a * a / 2) * ((5 * a * a + 8) + (a * a + 8) / ratio)


@contract
def auc_power(
    auc: float,
    *,
    n_pos: int,
    n_neg: int,
    null: float = 0.5,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
) -> float:
    """Compute the power to show that an AUC differs from `null`, by the z test.

    Parameters
    ----------
    auc : float
        As it is expected to be.
    n_pos, n_neg : int
    null : float
        The value that it is compared with.
    alternative : {"two-sided", "greater"}
        The small chance of a finding in the wrong direction is not counted.
    alpha : float
        Level of the test.

    Returns
    -------
    float
        Probability of rejecting the null hypothesis.

    Notes
    -----
    ``Φ((|AUC − null|·√n_pos − z_α·√V(null))/√V(AUC))``.

    Examples
    --------
    >>> round(auc_power(0.7, n_pos=40, n_neg=40), 3)
    0.898
    """
    return _of_one(auc, null, _cases(n_pos, n_neg), alternative, alpha).power(n_pos)


@contract
def auc_sample_size(
    auc: float,
    *,
    power: float = 0.8,
    ratio: float = 1.0,
    null: float = 0.5,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
) -> StudyPlan:
    """Compute the sample size needed to show that an AUC differs from a value.

    Parameters
    ----------
    auc, null, alternative, alpha : see `auc_power`
    power : float
        Wanted chance.
    ratio : float
        Negatives for each positive.

    Returns
    -------
    StudyPlan
        Numbers of positives and negatives.

    Examples
    --------
    >>> auc_sample_size(0.7, power=0.9)
    StudyPlan(n_pos=41, n_neg=41, power 0.906, AUC 0.7 against 0.5)
    """
    test = _of_one(auc, null, ratio, alternative, alpha)
    return test.plan(power, ratio, f"AUC {auc:g} against {null:g}")


@contract
def comparison_power(
    first: float,
    second: float,
    *,
    n_pos: int,
    n_neg: int,
    correlation: float = 0.0,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
) -> float:
    """Compute the power to show that two AUCs differ.

    Parameters
    ----------
    first, second : float
        The areas as they are expected.
    n_pos, n_neg : int
        On which both models are tried; for independent samples, of each of them.
    correlation : float
        Of the two estimated areas: 0 for independent samples; for models of the same rows take it from a pilot
        (``compare(...).covariance``), typically 0.3 to 0.7; below 0 where one is right where the other is wrong.
    alternative, alpha : see `auc_power`

    Returns
    -------
    float
        Probability of rejecting equality.

    Notes
    -----
    Variance of the difference for one positive: V₁ + V₂ − 2r√(V₁V₂); under the null hypothesis with both areas at
    their mean.

    Examples
    --------
    >>> apart = comparison_power(0.7, 0.8, n_pos=100, n_neg=100)
    >>> same_rows = comparison_power(0.7, 0.8, n_pos=100, n_neg=100, correlation=0.5)
    >>> round(apart, 3), round(same_rows, 3)
    (0.486, 0.779)
    """
    return _of_two(first, second, _cases(n_pos, n_neg), correlation, alternative, alpha).power(n_pos)


@contract
def comparison_sample_size(
    first: float,
    second: float,
    *,
    power: float = 0.8,
    ratio: float = 1.0,
    correlation: float = 0.0,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
) -> StudyPlan:
    """Compute the sample size needed to show that two AUCs differ.

    Parameters
    ----------
    first, second, correlation, alternative, alpha : see `comparison_power`
    power : float
        Wanted chance.
    ratio : float
        Negatives for each positive.

    Returns
    -------
    StudyPlan
        For independent samples, of each of the two.

    Examples
    --------
    >>> comparison_sample_size(0.7, 0.8, correlation=0.5)
    StudyPlan(n_pos=106, n_neg=106, power 0.802, AUC 0.7 against 0.8, correlation 0.5)
    """
    test = _of_two(first, second, ratio, correlation, alternative, alpha)
    return test.plan(power, ratio, f"AUC {first:g} against {second:g}, correlation {correlation:g}")


@contract
def detectable_auc(
    *,
    n_pos: int,
    n_neg: int,
    power: float = 0.8,
    null: float = 0.5,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
) -> float:
    """Compute the smallest AUC above `null` that a study of this size can distinguish from it.

    Parameters
    ----------
    n_pos, n_neg, null, alternative, alpha : see `auc_power`
    power : float
        Wanted chance.

    Returns
    -------
    float

    Examples
    --------
    >>> round(detectable_auc(n_pos=41, n_neg=41, power=0.9), 2)
    0.7
    """
    check.check_share(power, "power")

    def lacking(auc: float) -> float:
        return auc_power(auc, n_pos=n_pos, n_neg=n_neg, null=null, alternative=alternative, alpha=alpha) - power

    top = 1 - 1e-9
    if lacking(top) < 0:
        raise InputError("power", expected="one that some AUC reaches", got=repr(power), hint="take more cases")
    solve: Any = optimize.brentq
    return solve(lacking, null + 1e-9, top)


@dataclass(frozen=True)
class _ZTest:
    """A z test of an effect, with its variances for one positive: under the null hypothesis and as it is expected."""

    effect: float
    null: float
    expected: float
    alternative: Alternative
    alpha: float

    def __post_init__(self) -> None:
        check.check_choice("alternative", self.alternative, get_args(Alternative))
        check.check_share(self.alpha, "alpha")
        if not self.effect or (self.alternative == "greater" and self.effect < 0):
            wanted = "a difference" if self.alternative == "two-sided" else "a difference above 0"
            raise InputError("what is to be shown", expected=wanted, got=f"{self.effect:g}")

    @property
    def critical(self) -> float:
        return float(special.ndtri(1 - (self.alpha / 2 if self.alternative == "two-sided" else self.alpha)))

    def power(self, n_pos: float) -> float:
        z = (abs(self.effect) * sqrt(n_pos) - self.critical * sqrt(self.null)) / sqrt(self.expected)
        return float(special.ndtr(z))

    def plan(self, power: float, ratio: float, aim: str) -> StudyPlan:
        """Return the smallest study of that power."""
        check.check_share(power, "power")
        aimed = float(special.ndtri(power))
        needed = max(self.critical * sqrt(self.null) + aimed * sqrt(self.expected), 0.0)
        n_pos = max(ceil((needed / self.effect) ** 2), 2)
        return StudyPlan(n_pos, ceil(n_pos * ratio), self.power(n_pos), aim)


def _of_one(auc: float, null: float, ratio: float, alternative: Alternative, alpha: float) -> _ZTest:
    _check_auc("null", null)
    return _ZTest(auc - null, auc_variance(null, ratio), auc_variance(auc, ratio), alternative, alpha)


def _of_two(
    first: float, second: float, ratio: float, correlation: float, alternative: Alternative, alpha: float
) -> _ZTest:
    _check_auc("first", first)
    _check_auc("second", second)
    if not -1 <= correlation < 1:
        raise InputError("correlation", expected="a number from -1 to below 1", got=repr(correlation))
    a, b, both = (auc_variance(auc, ratio) for auc in (first, second, (first + second) / 2))
    null, expected = 2 * both * (1 - correlation), a + b - 2 * correlation * sqrt(a * b)
    return _ZTest(second - first, null, expected, alternative, alpha)


def _check_auc(name: str, auc: float) -> None:
    if not 0 < auc < 1:
        raise InputError(name, expected="an area between 0 and 1", got=repr(auc))


def _cases(n_pos: int, n_neg: int) -> float:
    for name, n in (("n_pos", n_pos), ("n_neg", n_neg)):
        if not n >= 1:
            raise InputError(name, expected="at least 1", got=repr(n))
    return n_neg / n_pos


_MOST_CASES = 10**6


@contract
def auc_width_sample_size(auc: float, *, width: float = 0.1, ratio: float = 1.0, level: float = 0.95) -> StudyPlan:
    """Compute the sample size needed for an interval of an AUC of a given width.

    Parameters
    ----------
    auc : float
        As it is expected.
    width : float
        Of the whole interval on the logit scale, from end to end.
    ratio : float
        Negatives for each positive.
    level : float

    Returns
    -------
    StudyPlan
        Numbers of positives and negatives.

    Notes
    -----
    By `planning.auc_variance`, which errs on the wide side for normal scores: intervals come out up to a fifth shorter.

    Examples
    --------
    >>> auc_width_sample_size(0.8, width=0.1)
    StudyPlan(n_pos=184, n_neg=184, AUC 0.8 to a width of 0.1)
    """
    check.check_share(width, "width")
    level = check.check_level(level)
    variance = auc_variance(auc, ratio)

    def excess(n: float) -> float:
        low, high = logit(auc, sqrt(variance / n), level)
        return high - low - width

    solve: Any = optimize.brentq
    n_pos = max(2, ceil(solve(excess, 1e-3, _MOST_CASES)))
    return StudyPlan(n_pos, ceil(n_pos * ratio), float("nan"), f"AUC {auc:g} to a width of {width:g}")


@contract
def rate_sample_size(
    tpr: float,
    tnr: float,
    *,
    width: float = 0.1,
    level: float = 0.95,
    method: ShareMethod = "wilson",
    prevalence: float | None = None,
) -> StudyPlan:
    """Compute the sample size needed for intervals of sensitivity and specificity of a given width.

    Parameters
    ----------
    tpr, tnr : float
        As they are expected.
    width : float
        Of each whole interval, from end to end.
    level : float
        Confidence level.
    method : {"wilson", "clopper-pearson", "jeffreys", "wald"}
    prevalence : float, optional
        Where positives and negatives cannot be sought out: enough cases are then taken for both classes.

    Returns
    -------
    StudyPlan
        Numbers of positives and negatives.

    Notes
    -----
    The smallest number of each class from which on the interval around the expected rate, at the count nearest to it,
    is no wider.

    Examples
    --------
    >>> rate_sample_size(0.9, 0.8, width=0.1)
    StudyPlan(n_pos=141, n_neg=245, rates 0.9 and 0.8 to a width of 0.1)
    """
    check.check_level(level)
    for name, value in (("tpr", tpr), ("tnr", tnr)):
        if not 0 <= value <= 1:
            raise InputError(name, expected="a share from 0 to 1", got=repr(value))
    if not 0 < width < 1:
        raise InputError("width", expected="a number between 0 and 1", got=repr(width))
    n_pos, n_neg = (_cases_for_width(rate, width, level, method) for rate in (tpr, tnr))
    if prevalence is not None:
        check.check_share(prevalence, "prevalence")
        n = max(ceil(n_pos / prevalence), ceil(n_neg / (1 - prevalence)))
        n_pos = round(n * prevalence)
        n_neg = n - n_pos
    return StudyPlan(n_pos, n_neg, float("nan"), f"rates {tpr:g} and {tnr:g} to a width of {width:g}")


def _cases_for_width(rate: float, width: float, level: float, method: ShareMethod) -> int:
    unreachable = InputError("width", expected=f"one that {_MOST_CASES:,} cases of a class reach", got=repr(width))
    if (2 * normal_quantile(level) / width) ** 2 * rate * (1 - rate) > _MOST_CASES:
        raise unreachable  # by the normal approximation, before any search
    most = 64
    while True:
        # The width jumps with the nearest count, so look for the last n that is too wide, well below the end.
        n = np.arange(1, most + 1)
        low, high = proportion_interval(np.round(rate * n), n, method=method, level=level)
        last = int(np.flatnonzero(high - low > width)[-1]) + 1 if (high - low > width).any() else 0
        if last < most / 2:
            return last + 1
        most *= 4
        if most > 4 * _MOST_CASES:
            raise unreachable
