"""Study planning: power and sample size for AUCs, differences between AUCs, and rates.

A test of an AUC rejects the null value if the interval of the AUC excludes this value. The power is the probability of
this event. It is computed from the variance V/P of the AUC for P positives (`auc_variance`). By default, V is the exact
variance for normal scores with equal spread in both classes. For the difference of two AUCs, a pilot study provides the
covariance (`Pilot`). A study can also be planned by its precision, the width of the interval of an AUC or a rate.

The file is in this order: variance and plan, power and sample size for tests, precision, pilot.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, exp, inf, sqrt
from typing import Any, Literal, get_args

import numpy as np
from scipy import special

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract, held_to_contract
from rocscope._base.roots import root
from rocscope.core import Result, ThresholdCounts, require_kinds
from rocscope.errors import InputError
from rocscope.inference.areas import sample_of_counts, sample_of_rows
from rocscope.inference.estimate import normal_quantile, satterthwaite, t_quantile
from rocscope.inference.proportions import ShareMethod, proportion_interval
from rocscope.sample import rows_of

# Variance and plan

Alternative = Literal["two-sided", "greater"]
VarianceMethod = Literal["binormal", "obuchowski"]

_MOST_TO_ONE = 10**10  # largest plausible ratio of the class sizes
_LARGEST_AUC = 1 - 1e-9  # upper bound of an AUC, because its variance is 0 at 1
_MOST_CASES = 10**6  # largest number of cases of a class that is planned
_MOST_LEVELS = 2000  # scores of a class for the interval of normal scores; more do not change the fourth digit
_CONTRAST = np.array([-1, 1])  # the difference between a larger and a smaller AUC


@dataclass(frozen=True, repr=False)
class StudyPlan(Result):
    """Numbers of positives and negatives that a study needs, with the power of its test.

    Attributes
    ----------
    n_pos, n_neg : int
        Required numbers of positives and negatives.
    power : float
        Power of the test with these numbers. NaN if the study is planned by the width of an interval.
    aim : str
        Purpose of the study, such as "AUC 0.8 against 0.5".

    Examples
    --------
    >>> from rocscope.inference.planning import auc_sample_size
    >>> auc_sample_size(0.8)
    StudyPlan(n_pos=14, n_neg=14, power 0.812, AUC 0.8 against 0.5)
    """

    _also = ("n",)

    n_pos: int
    n_neg: int
    power: float
    aim: str

    @property
    def n(self) -> int:
        """Total number of cases."""
        return self.n_pos + self.n_neg

    def __repr__(self) -> str:
        power = "" if self.power != self.power else f", power {self.power:.3f}"
        return f"StudyPlan(n_pos={self.n_pos}, n_neg={self.n_neg}{power}, {self.aim})"


@contract
def auc_variance(
    auc: float, ratio: float = 1.0, *, positives: float = inf, method: VarianceMethod = "binormal"
) -> float:
    """Compute the variance of an estimated AUC, multiplied by the number of positives.

    Parameters
    ----------
    auc : float
        Expected AUC, between 0 and 1.
    ratio : float
        Number of negatives per positive, above 0.
    positives : float
        Number of positives. By default, the limit for infinitely many positives is computed. Not used by "obuchowski".
    method : {"binormal", "obuchowski"}
        "binormal" is the exact variance for normal scores with equal spread in both classes. "obuchowski" is
        Obuchowski's approximation for any binormal curve, as in pROC. It is up to a third larger.

    Returns
    -------
    float
        V, such that the variance of the AUC of P positives is V/P.

    Raises
    ------
    InputError
        If `auc` is not between 0 and 1, or if `ratio` or `positives` is not above 0.

    See Also
    --------
    auc_power, auc_width_sample_size

    Notes
    -----
    Let A be the AUC, κ the number of negatives per positive, n the number of negatives, and h = Φ⁻¹(A). "binormal" is
    (Q − A²)(1 + 1/κ) + (A(1 − A) − 2(Q − A²))/n. Here Q = Φ₂(h, h; ½) is the probability that two positives both have
    higher scores than one negative. "obuchowski" is 0.0099·exp(−a²/2)·((5a² + 8) + (a² + 8)/κ) with a = √2·h.

    References
    ----------
    Bamber 1975, J. Math. Psychol. 12:387–415; Owen 1956, Ann. Math. Stat. 27:1075–1090 (Φ₂ by his T). Obuchowski 2004,
    Acad. Radiol. 11:980–995, eq. 5; Obuchowski & McClish 1997, Stat. Med. 16:1529–1542.

    Examples
    --------
    >>> round(auc_variance(0.5), 4), round(auc_variance(0.5, method="obuchowski"), 4)
    (0.1667, 0.1584)
    """
    check.check_share(auc, "auc")
    check.check_choice("method", method, get_args(VarianceMethod))
    if not ratio > 0:
        raise InputError("ratio", expected="a number of negatives per positive above 0", got=repr(ratio))
    if not positives > 0:
        raise InputError("positives", expected="a number above 0", got=repr(positives))
    h = float(special.ndtri(auc))
    if method == "obuchowski":
        a = sqrt(2) * h
        return 0.0099 * exp(-a * a / 2) * ((5 * a * a + 8) + (a * a + 8) / ratio)
    # Owen: Φ₂(h, h; ρ) = Φ(h) − 2·T(h, √((1 − ρ)/(1 + ρ))), here with ρ = ½.
    both_above = auc - 2 * float(special.owens_t(h, sqrt(1 / 3)))
    spread = both_above - auc**2
    return spread * (1 + 1 / ratio) + (auc * (1 - auc) - 2 * spread) / (positives * ratio)


# Power and sample size


@contract
def auc_power(
    auc: float,
    *,
    n_pos: int,
    n_neg: int,
    null: float = 0.5,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    method: VarianceMethod = "binormal",
) -> float:
    """Compute the power of a test that an AUC differs from a null value.

    Parameters
    ----------
    auc : float
        Expected AUC, between 0 and 1.
    n_pos, n_neg : int
        Numbers of positives and negatives.
    null : float
        AUC under the null hypothesis.
    alternative : {"two-sided", "greater"}
        Alternative hypothesis: the AUC differs from `null`, or is above `null`. The power of a two-sided test ignores
        the small probability of a significant result in the wrong direction.
    alpha : float
        Significance level of the test.
    method : {"binormal", "obuchowski"}
        "binormal" is the power of the test by `auc_interval`, for normal scores with equal spread in both classes.
        "obuchowski" is a published formula. It reproduces the sample sizes of many study protocols and of pROC's
        ``power.roc.test``.

    Returns
    -------
    float
        Probability of rejecting the null hypothesis.

    Raises
    ------
    InputError
        If an AUC, the significance level or a number of cases is outside its range, or if `method` is unknown.

    See Also
    --------
    auc_sample_size, detectable_auc, comparison_power

    Notes
    -----
    "binormal" assumes a test that rejects if the interval of `auc_interval` excludes the null value. The critical AUC
    is the AUC whose interval has the null value as a limit. It is computed for scores at equally spaced quantiles of
    two normal distributions. The power is the probability that the estimated AUC is more extreme than the critical AUC.
    The estimate is assumed to be normal with the variance of `auc_variance`. The result
    differs from the power in simulations of normal scores by at most .02. For an AUC of .95 against .9 with nine
    negatives per positive, the difference is .03.

    "obuchowski" is Φ((d·√P − z_α·√V(null))/√V(auc)). Here P is the number of positives, d the distance between `auc`
    and `null`, V the variance by `auc_variance`, and z_α the critical normal quantile (Obuchowski & McClish 1997).

    Examples
    --------
    >>> round(auc_power(0.7, n_pos=40, n_neg=40), 3)
    0.889
    >>> round(auc_power(0.7, n_pos=40, n_neg=40, method="obuchowski"), 3)
    0.898
    """
    return _of_one(auc, null, _ratio_of_cases(n_pos, n_neg), alternative, alpha, method).power(n_pos)


@contract
def auc_sample_size(
    auc: float,
    *,
    power: float = 0.8,
    ratio: float = 1.0,
    null: float = 0.5,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    method: VarianceMethod = "binormal",
) -> StudyPlan:
    """Compute the sample size needed to show that an AUC differs from a null value.

    Parameters
    ----------
    auc, null, alternative, alpha, method
        Expected AUC, null value, and test; see `auc_power`.
    power : float
        Required power, between 0 and 1.
    ratio : float
        Number of negatives per positive.

    Returns
    -------
    StudyPlan
        The smallest numbers of positives and negatives with this power.

    See Also
    --------
    auc_power, auc_width_sample_size, comparison_sample_size

    Examples
    --------
    >>> auc_sample_size(0.7, power=0.9)
    StudyPlan(n_pos=42, n_neg=42, power 0.905, AUC 0.7 against 0.5)
    """
    test = _of_one(auc, null, ratio, alternative, alpha, method)
    return test.plan(power, f"AUC {auc:g} against {null:g}")


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
    """Compute the power of a test that the AUCs of two models differ.

    Parameters
    ----------
    first, second : float
        Expected AUCs of the two models.
    n_pos, n_neg : int
        Numbers of positives and negatives. If each model has its own sample, the numbers of each sample.
    correlation : float
        Correlation of the two estimated AUCs. It is 0 if each model has its own sample. For models on the same rows,
        compute it from the covariance of a pilot study (``compare(...).covariance``). Typical values are 0.3 to 0.7. It
        is negative if one model ranks those rows well that the other model ranks badly.
    alternative : {"two-sided", "greater"}
        Alternative hypothesis: the AUCs differ, or the second AUC is above the first.
    alpha : float
        Significance level of the test.

    Returns
    -------
    float
        Probability of rejecting the hypothesis that both AUCs are equal.

    Raises
    ------
    InputError
        If an AUC, the correlation, the significance level or a number of cases is outside its range.

    See Also
    --------
    comparison_sample_size, auc_power, compare

    Notes
    -----
    Let V₁/P and V₂/P be the variances of the two AUCs for P positives, and r their correlation. The variance of the
    difference is (V₁ + V₂ − 2r√(V₁V₂))/P. The test of `compare` estimates this variance from the observed rows, so it
    is smaller where the larger AUC is observed too high. Therefore the critical difference is the smallest d that is
    significant with the variance at the AUCs to expect if the difference d is observed. The power is the probability
    of a difference above it.

    Examples
    --------
    >>> apart = comparison_power(0.7, 0.8, n_pos=100, n_neg=100)
    >>> same_rows = comparison_power(0.7, 0.8, n_pos=100, n_neg=100, correlation=0.5)
    >>> round(apart, 3), round(same_rows, 3)
    (0.546, 0.836)
    """
    return _of_two(first, second, _ratio_of_cases(n_pos, n_neg), correlation, alternative, alpha).power(n_pos)


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
    """Compute the sample size needed to show that the AUCs of two models differ.

    Parameters
    ----------
    first, second, correlation, alternative, alpha
        Expected AUCs, their correlation, and test; see `comparison_power`.
    power : float
        Required power, between 0 and 1.
    ratio : float
        Number of negatives per positive.

    Returns
    -------
    StudyPlan
        The smallest numbers of positives and negatives with this power. If each model has its own sample, the numbers
        of each sample.

    Raises
    ------
    InputError
        If a parameter is outside its range, or if the AUCs are equal.

    See Also
    --------
    comparison_power, auc_sample_size, compare

    Examples
    --------
    >>> comparison_sample_size(0.7, 0.8, correlation=0.5)
    StudyPlan(n_pos=92, n_neg=92, power 0.804, AUC 0.7 against 0.8, correlation 0.5)
    """
    test = _of_two(first, second, ratio, correlation, alternative, alpha)
    return test.plan(power, f"AUC {first:g} against {second:g}, correlation {correlation:g}")


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
    """Compute the smallest AUC above the null value that a study of a given size detects with the required power.

    Parameters
    ----------
    n_pos, n_neg, null, alternative, alpha
        Numbers of cases, null value, and test; see `auc_power`.
    power : float
        Required power, between 0 and 1.

    Returns
    -------
    float
        The smallest detectable AUC.

    Raises
    ------
    InputError
        If the power is not between 0 and 1, or if no AUC is detected with this power.

    See Also
    --------
    auc_power, auc_sample_size

    Examples
    --------
    >>> round(detectable_auc(n_pos=41, n_neg=41, power=0.9), 2)
    0.7
    """
    check.check_share(power, "power")

    def surplus(auc: float) -> float:
        return auc_power(auc, n_pos=n_pos, n_neg=n_neg, null=null, alternative=alternative, alpha=alpha) - power

    low, top = null + 1e-9, 1 - 1e-9  # the AUC must differ from the null value and from 1
    if surplus(top) < 0:
        raise InputError(
            "power", expected="a power that some AUC below 1 reaches", got=repr(power), hint="pass more cases"
        )
    if surplus(low) >= 0:
        expected = f"a power above {surplus(low) + power:.3g} (the power for no difference)"
        raise InputError("power", expected=expected, got=repr(power))
    return root(surplus, low, top)


@dataclass(frozen=True)
class _Test:
    """A test that a difference between AUCs, or between an AUC and a null value, is not 0.

    Attributes
    ----------
    effect : float
        Expected difference.
    ratio : float
        Number of negatives per positive.
    excess : function of (n_pos, quantile)
        Function that returns the distance of the expected difference from its critical value, in standard errors.
    alternative : {"two-sided", "greater"}
        Alternative hypothesis.
    alpha : float
        Significance level.
    by_normal_law : bool
        If True, the critical quantile is normal. If False, it is a t quantile.
    """

    effect: float
    ratio: float
    excess: Callable[[float, float], float]
    alternative: Alternative
    alpha: float
    by_normal_law: bool = False

    def __post_init__(self) -> None:
        check.check_choice("alternative", self.alternative, get_args(Alternative))
        check.check_number(self.alpha, "alpha", "a share from 1e-15 to below 1", least=1e-15)
        check.check_share(self.alpha, "alpha")
        check_ratio(self.ratio)
        if not self.effect or (self.alternative == "greater" and self.effect < 0):
            expected = "a difference other than 0" if self.alternative == "two-sided" else "a difference above 0"
            raise InputError("effect", expected=expected, got=f"{self.effect:g}")

    def power(self, n_pos: float) -> float:
        """Return the power for a number of positives.

        The degrees of freedom are Welch's for two classes with equal variances of their rows.
        """
        n_neg = n_pos * self.ratio
        df = inf
        if not self.by_normal_law:
            df = satterthwaite([1 / n_pos, 1 / n_neg], [max(n_pos - 1, 1.0), max(n_neg - 1, 1.0)])
        tail = self.alpha / (2 if self.alternative == "two-sided" else 1)
        return float(special.ndtr(self.excess(n_pos, t_quantile(-float(special.ndtri(tail)), df))))

    def plan(self, power: float, aim: str) -> StudyPlan:
        """Return the StudyPlan with the smallest numbers of cases that have the required power."""
        check.check_share(power, "power")
        n_pos = _smallest(lambda n: self.power(n) >= power)
        return StudyPlan(n_pos, ceil(n_pos * self.ratio), self.power(n_pos), aim)


def _smallest(is_enough: Callable[[int], bool]) -> int:
    """Return the smallest whole number n ≥ 2 for which `is_enough(n)` is True, by doubling and bisection.

    If a number is enough, all larger numbers must be enough too.
    """
    low, high = 1, 2
    while not is_enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if is_enough(middle):
            high = middle
        else:
            low = middle
    return high


def _interval_of_normal_scores(auc: float, n_pos: float, n_neg: float, level: float) -> tuple[float, float]:
    """Return the interval of `auc_interval` for scores at equally spaced quantiles of two normal distributions."""
    scores, rows = [], []
    for n, mean in ((n_pos, sqrt(2) * float(special.ndtri(auc))), (n_neg, 0.0)):
        n = max(round(n), 1)
        rows_of_level = ceil(n / _MOST_LEVELS)
        levels = max(round(n / rows_of_level), 1)
        scores.append(mean + special.ndtri((np.arange(levels) + 0.5) / levels))
        rows.append(np.full(levels, rows_of_level))
    positive = np.repeat([True, False], [scores[0].size, scores[1].size])
    counts = ThresholdCounts.from_scores(positive, np.concatenate(scores), sample_weight=np.concatenate(rows))
    return replace(sample_of_counts(counts).size(0), auc=auc).interval(level)


def _of_one(
    auc: float, null: float, ratio: float, alternative: Alternative, alpha: float, method: VarianceMethod
) -> _Test:
    """Return the test of one AUC against a null value."""
    check.check_share(null, "null")
    check.check_share(auc, "auc")
    check.check_choice("method", method, get_args(VarianceMethod))
    if method == "obuchowski":
        check_ratio(ratio)
        at_null, at_area = (sqrt(auc_variance(a, ratio, method=method)) for a in (null, auc))

        def published(n_pos: float, critical: float) -> float:
            return (abs(auc - null) * sqrt(n_pos) - critical * at_null) / at_area

        return _Test(auc - null, ratio, published, alternative, alpha, by_normal_law=True)
    area, value = (auc, null) if auc > null else (1 - auc, 1 - null)

    def excess(n_pos: float, critical: float) -> float:
        level = 2 * float(special.ndtr(critical)) - 1

        def past_null(observed: float) -> float:
            """Return the lower limit of the interval of an observed AUC, minus the null value."""
            return _interval_of_normal_scores(observed, n_pos, n_pos * ratio, level)[0] - value

        least = _LARGEST_AUC  # the smallest observed AUC for which the test rejects
        if past_null(_LARGEST_AUC) > 0:
            least = root(past_null, value, _LARGEST_AUC, xtol=1e-6)
        error = sqrt(auc_variance(area, ratio, positives=n_pos) / n_pos)
        return (area - least) / error

    return _Test(auc - null, ratio, excess, alternative, alpha, by_normal_law=True)


def _of_two(
    first: float, second: float, ratio: float, correlation: float, alternative: Alternative, alpha: float
) -> _Test:
    """Return the test of the difference between two AUCs."""
    check.check_share(first, "first")
    check.check_share(second, "second")
    if not -1 <= correlation < 1:
        raise InputError("correlation", expected="a number from -1 to below 1", got=repr(correlation))

    low, high = sorted((first, second))
    effect = high - low

    def excess(n_pos: float, critical: float) -> float:
        def covariance(areas: Array) -> Array:
            errors = [sqrt(auc_variance(area, ratio, positives=n_pos) / n_pos) for area in areas]
            return np.outer(errors, errors) * [[1, correlation], [correlation, 1]]

        expected = covariance(np.array([low, high]))
        variance = _CONTRAST @ expected @ _CONTRAST

        def past_critical(observed: float) -> float:
            """Return an observed difference, minus the smallest one that is significant with its standard error."""
            areas = [low, high] + expected @ _CONTRAST / variance * (observed - effect)
            areas = np.clip(areas, 1 - _LARGEST_AUC, _LARGEST_AUC)
            return observed - critical * sqrt(_CONTRAST @ covariance(areas) @ _CONTRAST)

        least = 1.0 if past_critical(1.0) < 0 else root(past_critical, 0.0, 1.0, xtol=1e-6)
        return (effect - least) / sqrt(variance)

    return _Test(second - first, ratio, excess, alternative, alpha)


def check_ratio(ratio: float, name: str = "ratio") -> None:
    """Raise InputError if the number of negatives per positive is below 1e-10 or above 1e10."""
    if not 1 / _MOST_TO_ONE < ratio < _MOST_TO_ONE:
        raise InputError(name, expected="1e-10 to 1e10 negatives per positive", got=repr(ratio))


def _ratio_of_cases(n_pos: int, n_neg: int) -> float:
    """Return the number of negatives per positive, after checking both numbers of cases."""
    for name, n in (("n_pos", n_pos), ("n_neg", n_neg)):
        if not n >= 1:
            raise InputError(name, expected="a number of at least 1", got=repr(n))
    return n_neg / n_pos


# Precision


@contract
def auc_width_sample_size(auc: float, *, width: float = 0.1, ratio: float = 1.0, level: float = 0.95) -> StudyPlan:
    """Compute the sample size for which the interval of an AUC has a given width.

    Parameters
    ----------
    auc : float
        Expected AUC, between 0 and 1.
    width : float
        Largest width of the interval of `auc_interval`, from its lower to its upper limit.
    ratio : float
        Number of negatives per positive.
    level : float
        Confidence level, between 0 and 1.

    Returns
    -------
    StudyPlan
        The smallest sufficient numbers of positives and negatives.

    Raises
    ------
    InputError
        If `width` or `level` is not between 0 and 1, or if 1,000,000 positives are not enough.

    See Also
    --------
    auc_sample_size, rate_sample_size, auc_interval

    Notes
    -----
    The width is computed for scores at equally spaced quantiles of two normal distributions with equal spread.

    Examples
    --------
    >>> auc_width_sample_size(0.8, width=0.1)
    StudyPlan(n_pos=147, n_neg=147, AUC 0.8 to a width of 0.1)
    """
    check.check_share(width, "width")
    check_ratio(ratio)
    level = check.check_level(level)

    def is_enough(n_pos: int) -> bool:
        low, high = _interval_of_normal_scores(auc, n_pos, ceil(n_pos * ratio), level)
        return high - low <= width

    if not is_enough(_MOST_CASES):
        raise InputError("width", expected=f"a width that {_MOST_CASES:,} positives can reach", got=repr(width))
    n_pos = _smallest(is_enough)
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
    """Compute the sample size for which the intervals of sensitivity and specificity have a given width.

    Parameters
    ----------
    tpr, tnr : float
        Expected sensitivity and specificity, from 0 to 1.
    width : float
        Largest width of each interval, from its lower to its upper limit.
    level : float
        Confidence level of each interval, between 0 and 1.
    method : {"wilson", "clopper-pearson", "jeffreys", "wald"}
        Method of the intervals; see `rate_intervals`.
    prevalence : float, optional
        Share of positives in the population from which cases are sampled. The total number of cases is then large
        enough to contain the required positives and negatives. By default, both classes are sampled separately.

    Returns
    -------
    StudyPlan
        Numbers of positives and negatives.

    Raises
    ------
    InputError
        If a rate, the width, the prevalence or the level is out of range, or if 1,000,000 cases are not enough.

    See Also
    --------
    auc_width_sample_size, rate_intervals

    Notes
    -----
    The width of the interval does not always decrease with the number of cases. The result is the smallest number such
    that this number and all larger numbers have intervals of at most the given width. For each number of cases, the
    number of correct cases is the whole number nearest to the expected one.

    Examples
    --------
    >>> rate_sample_size(0.9, 0.8, width=0.1)
    StudyPlan(n_pos=141, n_neg=245, rates 0.9 and 0.8 to a width of 0.1)
    """
    level = check.check_level(level)
    for name, value in (("tpr", tpr), ("tnr", tnr)):
        check.check_proportion(value, name)
    check.check_share(width, "width")
    n_pos = _cases_for_width(tpr, width, level, method)
    n_neg = _cases_for_width(tnr, width, level, method)
    if prevalence is not None:
        check.check_share(prevalence, "prevalence")
        check_ratio(1 / prevalence - 1, "prevalence")
        n = max(ceil(n_pos / prevalence), ceil(n_neg / (1 - prevalence)))
        n_pos = round(n * prevalence)
        n_neg = n - n_pos
    return StudyPlan(n_pos, n_neg, float("nan"), f"rates {tpr:g} and {tnr:g} to a width of {width:g}")


def _cases_for_width(rate: float, width: float, level: float, method: ShareMethod) -> int:
    """Return the smallest number of cases from which on all intervals have at most this width."""
    unreachable = InputError("width", expected=f"a width that {_MOST_CASES:,} cases per class reach", got=repr(width))
    if (2 * normal_quantile(level) / width) ** 2 * rate * (1 - rate) > _MOST_CASES:
        raise unreachable  # by the normal approximation, before any search
    # The width is not monotone in n, so search for the largest n that is too wide, well below the end of the range.
    most = 64
    while most <= 4 * _MOST_CASES:
        n = np.arange(1, most + 1)
        low, high = proportion_interval(np.round(rate * n), n, method=method, level=level)
        too_wide = np.flatnonzero(high - low > width)
        last = int(n[too_wide[-1]]) if too_wide.size else 0
        if last < most / 2:
            return last + 1
        most *= 4
    raise unreachable


# Pilot


@held_to_contract
@dataclass(frozen=True)
class Pilot:
    """Result of a pilot study of two models on the same rows, from which the power of a larger study is computed.

    Attributes
    ----------
    difference : float
        Difference of the AUCs, second − first.
    of_pos, of_neg : arrays of 2 × 2
        Covariance matrices of the placements of positives and of negatives for the two models.
    n_pos, n_neg : float
        Numbers of positives and negatives in the pilot study.

    Examples
    --------
    >>> from rocscope import Predictions
    >>> y = [1, 1, 0, 1, 0, 1, 0, 0] * 5
    >>> pilot = Pilot.of(Predictions(y, {"a": [8, 7, 6, 5, 4, 3, 2, 1] * 5, "b": [8, 4, 3, 7, 2, 6, 5, 1] * 5}))
    >>> round(pilot.power(n_pos=100, n_neg=100), 2), round(pilot.correlation, 2)
    (0.78, -0.52)
    >>> pilot.power(n_pos=pilot.cases(power=0.9), n_neg=pilot.cases(power=0.9)) >= 0.9
    True
    """

    difference: float
    of_pos: Array
    of_neg: Array
    n_pos: float
    n_neg: float

    @classmethod
    def of(cls, predictions: Any) -> "Pilot":
        """Estimate the AUC difference and the covariances from Predictions of two models, by DeLong's method.

        Parameters
        ----------
        predictions : Predictions
            Rows with the scores of two models.

        Raises
        ------
        InputError
            If the predictions do not contain exactly two models.
        """
        rows = rows_of(predictions)
        require_kinds("pilot", rows)
        if len(rows.models) != 2:
            raise InputError("pilot", expected="two models", got=f"{len(rows.models)} models")
        sample = sample_of_rows(rows, groups=False)
        positives, negatives = sample.strata
        of_pos = positives.covariance * positives.effective_units
        of_neg = negatives.covariance * negatives.effective_units
        return cls(float(sample.auc[1] - sample.auc[0]), of_pos, of_neg, sample.n_pos, sample.n_neg)

    def covariance(self, n_pos: float, n_neg: float) -> Array:
        """Return the covariance matrix of the two AUCs for given numbers of positives and negatives.

        Parameters
        ----------
        n_pos, n_neg : float
            Numbers of positives and negatives of the study.
        """
        return self.of_pos / n_pos + self.of_neg / n_neg

    @property
    def correlation(self) -> float:
        """Correlation of the two estimated AUCs in the pilot study."""
        both = self.covariance(self.n_pos, self.n_neg)
        return float(both[0, 1] / sqrt(both[0, 0] * both[1, 1]))

    def power(self, *, n_pos: float, n_neg: float, margin: float = 0.0, alpha: float = 0.05) -> float:
        """Return the power of a study of the same two models.

        Parameters
        ----------
        n_pos, n_neg : float
            Numbers of positives and negatives of the study.
        margin : float
            0 for a two-sided test that the AUCs differ. Above 0, a one-sided test that the second AUC is not inferior
            to the first by more than this margin.
        alpha : float
            Significance level of the test.

        Raises
        ------
        InputError
            If both models rank the cases equally, or if alpha is not between 0 and 1.

        Notes
        -----
        Let D be the difference of the AUCs, V its variance, V₁ the variance of the first AUC, and C the covariance of
        both AUCs. Without a margin, the power is ``Φ((|D| − z·√V₀)/√V)``. Here V₀ = 2(V₁ − C) is the variance of the
        difference if both AUCs are equal, as in pROC. With a margin, the power is ``Φ((D + margin)/√V − z)``.

        References
        ----------
        Obuchowski & McClish 1997, Stat. Med. 16:1529–1542; Robin et al. 2011, BMC Bioinformatics 12:77 (pROC).
        """
        null, variance = self._variances(n_pos, n_neg, margin)
        z = float(special.ndtri(1 - check.check_share(alpha, "alpha") / (1 if margin else 2)))
        return float(special.ndtr((self._effect(margin) - z * sqrt(null)) / sqrt(variance)))

    def alpha(self, *, n_pos: float, n_neg: float, power: float = 0.8) -> float:
        """Return the significance level at which the two-sided test has the given power.

        Parameters
        ----------
        n_pos, n_neg : float
            Numbers of positives and negatives of the study.
        power : float
            Power of the test, between 0 and 1.

        Raises
        ------
        InputError
            If both models rank the cases equally, or if the power is not between 0 and 1.
        """
        null, variance = self._variances(n_pos, n_neg, 0.0)
        aimed = float(special.ndtri(check.check_share(power, "power")))
        return float(2 * special.ndtr(-(self._effect(0.0) - aimed * sqrt(variance)) / sqrt(null)))

    def cases(self, *, power: float = 0.8, ratio: float = 1.0, margin: float = 0.0, alpha: float = 0.05) -> int:
        """Return the required number of positives. `ratio` is the number of negatives per positive; see `power`.

        Parameters
        ----------
        power : float
            Required power, between 0 and 1.
        ratio : float
            Number of negatives per positive.
        margin : float
            Margin of a test of non-inferiority; see `Pilot.power`.
        alpha : float
            Significance level of the test.

        Raises
        ------
        InputError
            If the power is not between 0 and 1, or if the pilot shows no effect.
        """
        check.check_share(power, "power")
        if not self._effect(margin) > 0:
            got = f"{self._effect(margin):g}"
            raise InputError("effect in the pilot", expected="a difference above 0", got=got)

        def surplus(n: float) -> float:
            return self.power(n_pos=n, n_neg=n * ratio, margin=margin, alpha=alpha) - power

        # Find a number with enough power by doubling, and then the root below it. Rounding must not move the root past
        # a whole number.
        most = 2.0
        while surplus(most) < 0 and most < inf:
            most *= 2
        return max(2, ceil(root(surplus, 1e-6, most) - 1e-9))

    def _effect(self, margin: float) -> float:
        return self.difference + margin if margin else abs(self.difference)

    def _variances(self, n_pos: float, n_neg: float, margin: float) -> tuple[float, float]:
        both = self.covariance(n_pos, n_neg)
        variance = float(both[0, 0] + both[1, 1] - 2 * both[0, 1])
        if not variance > 0:
            raise InputError("models of the pilot", expected="models that rank cases differently", got="equal rankings")
        return (variance if margin else float(2 * (both[0, 0] - both[0, 1]))), variance
