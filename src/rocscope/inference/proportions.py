"""Binomial proportions: confidence intervals of rates, and tests of two classifiers at their thresholds.

Rates of an operating point are proportions of cases. For example, the tpr is the proportion of positives that are
predicted positive. If the cases are independent and the threshold was fixed beforehand, the proportion is binomial.
`binomial_limits` computes the usual intervals. The default is Wilson's interval. It contains all proportions p that the
score test does not reject: abs(p̂ − p) ≤ z·√(p(1 − p)/n). `wilson_limits` computes this interval also for an effective
number of trials and with a t quantile in place of z.

The interval of a linear combination of rates is computed from the intervals of the rates (MOVER, Zou & Donner 2008).

The file is in this order: intervals of a proportion, rates of an operating point, joint region of tpr and fpr,
McNemar's test, comparison of independent error rates, table of thresholds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot, nan, sqrt
from typing import Any, Literal

import numpy as np

from rocscope import metrics
from rocscope._base import special, validation as check
from rocscope._base.arrays import Array, Booleans
from rocscope._base.contract import PASS_PREDICTIONS, contract
from rocscope.core import OperatingPoint, Predictions, Result, html_table
from rocscope.core.predictions import independent_units, require_kinds
from rocscope.core.ranking import count_at_least
from rocscope.errors import ColumnError, InputError
from rocscope.inference import estimate as inference
from rocscope.inference.estimate import FEW_ROWS, Comparison, Estimate, Hypothesis, WithReason, few, normal_quantile
from rocscope.inference.variance import RowDesign
from rocscope.sample import point_of, rows_of, sample_of

ShareMethod = Literal["wilson", "clopper-pearson", "jeffreys", "wald"]


METHODS = ("wilson", "clopper-pearson", "jeffreys", "wald")
_NAMES = {"wilson": "Wilson", "clopper-pearson": "Clopper–Pearson", "jeffreys": "Jeffreys", "wald": "Wald"}


# Intervals of a proportion


def logit(value: float, standard_error: float, level: float) -> tuple[float, float]:
    """Return a confidence interval of a proportion that is symmetric on the logit scale.

    Parameters
    ----------
    value, standard_error : float
        The proportion and its standard error, on the plain scale.
    level : float
        Confidence level.
    """
    # d logit(p)/dp = 1/(p(1 − p))
    reach = normal_quantile(level) * standard_error / (value * (1 - value))
    centre = special.logit(value)
    return float(special.expit(centre - reach)), float(special.expit(centre + reach))


def wilson_limits(share: Any, trials: Any, quantile: float) -> tuple[Any, Any]:
    """Return the limits of Wilson's interval for a proportion. Rounding may move a limit slightly past 0 or 1.

    Parameters
    ----------
    share : float or array
        Observed proportion p̂, from 0 to 1.
    trials : float or array
        Number of trials n, or an effective number of trials.
    quantile : float
        Normal quantile z, or a t quantile.

    References
    ----------
    Wilson 1927, J. Am. Stat. Assoc. 22:209–212.
    """
    pull = quantile * quantile / trials
    centre = share + pull / 2
    reach = (pull * share * (1 - share) + pull * pull / 4) ** 0.5
    return (centre - reach) / (1 + pull), (centre + reach) / (1 + pull)


def wilson_interval(share: float, trials: float, quantile: float) -> tuple[float, float]:
    """Return Wilson's interval for a proportion, clipped to 0 and 1.

    A proportion of exactly 0 or 1 is itself a limit of the interval. The parameters are as in `wilson_limits`.

    References
    ----------
    Franco, Little, Louis & Slud 2019, J. Surv. Stat. Methodol. 7:334–364 (on an effective sample size).

    Examples
    --------
    >>> low, high = wilson_interval(0.8, 10, normal_quantile(0.95))
    >>> round(low, 4), round(high, 4)
    (0.4902, 0.9433)
    """
    low, high = wilson_limits(share, trials, quantile)
    return max(low, 0.0) if share > 0 else 0.0, min(high, 1.0) if share < 1 else 1.0


def binomial_limits(count: Any, n: Any, method: ShareMethod, level: float) -> tuple[Array, Array]:
    """Return the limits of the interval of a binomial proportion, without checks; see `proportion_interval`.

    Examples
    --------
    >>> low, high = binomial_limits([0, 10], 10, "wilson", 0.95)
    >>> low.round(3), high.round(3)
    (array([0.   , 0.722]), array([0.278, 1.   ]))
    """
    count, n = np.asarray(count, dtype=np.float64), np.asarray(n, dtype=np.float64)
    tail = (1 - level) / 2
    with np.errstate(invalid="ignore", divide="ignore"):  # no trials, or a beta quantile with a parameter of 0
        share = count / n
        if method == "clopper-pearson":
            low = special.betaincinv(count, n - count + 1, tail)
            high = special.betaincinv(count + 1, n - count, 1 - tail)
        elif method == "jeffreys":
            low = special.betaincinv(count + 0.5, n - count + 0.5, tail)
            high = special.betaincinv(count + 0.5, n - count + 0.5, 1 - tail)
        else:
            z = normal_quantile(level)
            if method == "wilson":
                low, high = wilson_limits(share, n, z)
            else:
                reach = z * np.sqrt(share * (1 - share) / n)
                low, high = share - reach, share + reach
            low, high = np.maximum(low, 0), np.minimum(high, 1)
    return np.where(count > 0, low, 0.0), np.where(count < n, high, 1.0)


def proportion_interval(
    count: Any, n: Any, *, method: ShareMethod = "wilson", level: float = 0.95
) -> tuple[Array, Array]:
    """Compute the confidence interval of a binomial proportion.

    Parameters
    ----------
    count : int or array of int
        Number of successes.
    n : int or array of int
        Number of trials. If n is 0, the interval is 0 to 1.
    method : {"wilson", "clopper-pearson", "jeffreys", "wald"}
        "wilson" is the score interval. "clopper-pearson" is the exact interval; its coverage is at least `level`.
        "jeffreys" is the equal-tailed interval from the prior Beta(½, ½). If no trial succeeds, its lower limit is 0;
        if all trials succeed, its upper limit is 1. "wald" is p ± z·√(p(1−p)/n), clipped to 0 and 1.
    level : float
        Confidence level, between 0 and 1.

    Returns
    -------
    low, high : arrays
        Limits of the interval.

    Raises
    ------
    InputError
        If a count is not a whole number, or if `method` or `level` is invalid.

    Notes
    -----
    Do not use Wald's interval in practice. Its coverage is far too low for small n and for proportions near 0 or 1. For
    example, the interval of 0 successes in 10 trials is 0 to 0.

    References
    ----------
    Brown, Cai & DasGupta 2001, Stat. Sci. 16:101–133.

    Examples
    --------
    >>> low, high = proportion_interval(8, 10)
    >>> round(float(low), 4), round(float(high), 4)
    (0.4902, 0.9433)
    """
    level = check.check_level(level)
    check.check_choice("method", method, METHODS)
    count, n = np.asarray(count, dtype=np.float64), np.asarray(n, dtype=np.float64)
    if ((count % 1 != 0) | (n % 1 != 0)).any():
        hint = "use rocscope.bootstrap, because weighted cases are not binomial trials"
        raise InputError("counts", expected="whole numbers", got="numbers with fractions", hint=hint)
    return binomial_limits(count, n, method, level)


def proportion(count: float, n: float, *, method: ShareMethod = "wilson", level: float = 0.95) -> Estimate:
    """Return the proportion of `count` in `n` independent cases, with its interval and standard error √(p(1 − p)/n)."""
    return _proportions([count], [n], method, level)[0]


def _proportions(counts: Sequence[float], totals: Sequence[float], method: ShareMethod, level: float) -> list[Estimate]:
    """Return each proportion like `proportion`, in little more time than one."""
    lows, highs = proportion_interval(counts, totals, method=method, level=level)
    estimates = []
    for count, n, low, high in zip(counts, totals, lows.tolist(), highs.tolist(), strict=True):
        if not n:
            estimates.append(Estimate(nan, low, high, level, _NAMES[method], n, nan, "the denominator is 0"))
            continue
        value = count / n
        error = sqrt(value * (1 - value) / n)
        # Clopper & Pearson's interval covers at any number of trials.
        reason = "" if method == "clopper-pearson" else few(n, FEW_ROWS, "independent cases")
        estimates.append(Estimate(value, low, high, level, _NAMES[method], n, error, reason))
    return estimates


def _mover(parts: Sequence[tuple[float, Estimate]]) -> tuple[float, float, float]:
    """Return a linear combination Σcᵢ·xᵢ of independent estimates xᵢ and the limits of its MOVER interval.

    MOVER is the method of variance estimates recovery. On each side, the distance from the value to the limit is
    √Σ(cᵢ·hᵢ)². Here hᵢ is the distance from xᵢ to the limit of its interval that moves the combination to this side.
    For positively correlated estimates, such as two models on the same rows, the interval of a difference is too wide.

    Parameters
    ----------
    parts : sequence of (float, Estimate)
        Coefficient cᵢ and estimate xᵢ of each term.

    References
    ----------
    Zou & Donner 2008, Stat. Med. 27:1693–1702.

    Examples
    --------
    >>> first, second = (Estimate(value, value - 3, value + 4, 0.95, "", 1) for value in (10.0, 20.0))
    >>> _mover([(1, second), (-1, first)])
    (10.0, 5.0, 15.0)
    """
    value, below, above = 0.0, 0.0, 0.0
    for factor, estimate in parts:
        value += factor * estimate.value
        low, high = (estimate.low, estimate.high) if factor > 0 else (estimate.high, estimate.low)
        below = hypot(below, factor * (estimate.value - low))
        above = hypot(above, factor * (high - estimate.value))
    return value, value - below, value + above


def mover_difference(first: Estimate, second: Estimate, method: str, n: float) -> Estimate:
    """Return the difference second − first of two AUCs with a MOVER interval. The interval needs no variance."""
    value, low, high = _mover([(1, second), (-1, first)])
    reach = 2 * normal_quantile(first.level)  # 0 at a level that is next to 0
    standard_error = (high - low) / reach if reach > 0 else nan
    return Estimate(value, max(low, -1.0), min(high, 1.0), first.level, method, n, standard_error)


# Rates of an operating point

SHARES = {
    "tpr": ("tp", "fn"),
    "fnr": ("fn", "tp"),
    "fpr": ("fp", "tn"),
    "tnr": ("tn", "fp"),
    "precision": ("tp", "fp"),
    "npv": ("tn", "fn"),
    "accuracy": ("tp tn", "fp fn"),
    "error": ("fp fn", "tp tn"),
    "prevalence": ("tp fn", "fp tn"),
    "depth": ("tp fp", "fn tn"),
}
"""Rates that are proportions: the cells of the numerator, and the cells that are only in the denominator."""


def share_of(rate: str, tp: Any, fp: Any, fn: Any, tn: Any) -> tuple[Any, Any]:
    """Return the numerator and the denominator of a rate, given the four cells of a confusion matrix.

    Examples
    --------
    >>> share_of("precision", tp=8, fp=5, fn=2, tn=85)
    (8, 13)
    """
    cells = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
    numerator, others = SHARES[rate]
    counted = sum(cells[cell] for cell in numerator.split())
    return counted, counted + sum(cells[cell] for cell in others.split())


@contract
def rate_intervals(
    point: OperatingPoint,
    *,
    method: ShareMethod = "wilson",
    level: float = 0.95,
    target_prevalence: float | None = None,
) -> dict[str, Estimate]:
    """Compute confidence intervals of all rates of an operating point.

    Parameters
    ----------
    point : OperatingPoint, or ConfusionMatrix of two classes
        Numbers of true and false positives and negatives. The numbers must be whole.
    method : {"wilson", "clopper-pearson", "jeffreys", "wald"}
        "wilson" is the score interval. "clopper-pearson" is the exact interval; its coverage is at least `level`.
        "jeffreys" is the equal-tailed interval from the prior Beta(½, ½). "wald" is the normal approximation; its
        coverage is too low in small samples.
    level : float
        Confidence level. It applies to each interval separately.
    target_prevalence : float, optional
        Share of positives in the population where the classifier will be used. It is treated as known. Precision, npv,
        accuracy, error and depth are then computed from tpr and fpr at this prevalence. By default, all rates refer to
        the given cases.

    Returns
    -------
    dict from name to Estimate
        The rates tpr, fnr, fpr, tnr, precision, npv, accuracy, error and depth. Without `target_prevalence`, also the
        prevalence. If the denominator of a rate is 0, its value is NaN and its interval is 0 to 1.

    Raises
    ------
    InputError
        If a count is not a whole number. Weighted cases are not binomial trials.

    See Also
    --------
    joint_region, threshold_table

    Notes
    -----
    At a target prevalence π, the logit of the precision is logit(π) + log(tpr/fpr). Its variance is (1 − tpr)/tp + (1 −
    fpr)/fp, where tp and fp are counts. Its interval is symmetric on the logit scale. The formulas for npv are
    analogous. If a cell of the confusion matrix is 0, z²/2 is added to each cell (Mercaldo's adjusted logit interval).
    Accuracy, error and depth at a target prevalence have MOVER intervals, which combine the intervals of tpr and fpr.

    If the threshold was chosen on the same cases, all intervals are too narrow.

    References
    ----------
    Mercaldo, Lau & Zhou 2007, Stat. Med. 26:2170–2183; Zou & Donner 2008, Stat. Med. 27:1693–1702.

    Examples
    --------
    >>> rates = rate_intervals(OperatingPoint(tp=8, fp=5, fn=2, tn=85))
    >>> rates["tpr"]
    Estimate(0.8, 95% CI [0.4902, 0.9433], n=10)
    >>> rate_intervals(OperatingPoint(tp=8, fp=5, fn=2, tn=85), target_prevalence=0.01)["precision"]
    Estimate(0.127, 95% CI [0.0555, 0.2647], n=100)
    """
    point = point_of(point)
    reason = require_kinds("rates of a point", point)
    counted = [share_of(rate, point.tp, point.fp, point.fn, point.tn) for rate in SHARES]
    shares = _proportions([count for count, _ in counted], [n for _, n in counted], method, level)
    rates = {}
    for rate, share in zip(SHARES, shares, strict=True):
        rates[rate] = replace(share, reason=reason) if reason and not share.reason else share
    if target_prevalence is None:
        return rates
    prevalence = check.check_share(target_prevalence, "target_prevalence")
    del rates["prevalence"]
    mirrored = OperatingPoint(point.tn, point.fn, point.fp, point.tp)
    for rate, of_point, share in (("precision", point, prevalence), ("npv", mirrored, 1 - prevalence)):
        value = _predictive_value(of_point, share, level)
        rates[rate] = replace(value, reason=value.reason or reason)
    rates["accuracy"] = _mixture(rates["tpr"], rates["tnr"], prevalence)
    rates["error"] = _mixture(rates["fnr"], rates["fpr"], prevalence)
    rates["depth"] = _mixture(rates["tpr"], rates["fpr"], prevalence)
    return rates


def _predictive_value(point: OperatingPoint, prevalence: float, level: float) -> Estimate:
    """Return the precision at a given prevalence, with an interval on the logit scale."""
    z = normal_quantile(level)
    name = f"logit at prevalence {prevalence:g}"
    if not (point.n_pos and point.n_neg):
        return Estimate(nan, 0.0, 1.0, level, name, point.n, reason="no cases of a class")
    true_alarms, false_alarms = prevalence * point.tpr, (1 - prevalence) * point.fpr
    alarms = true_alarms + false_alarms
    value = true_alarms / alarms if alarms else nan

    # logit PPV = logit π + log(tpr/fpr); by the delta method its variance is (1 − tpr)/tp + (1 − fpr)/fp in counts.
    cells = np.array([point.tp, point.fp, point.fn, point.tn], dtype=np.float64)
    if not cells.all():
        cells += z * z / 2  # Mercaldo, Lau & Zhou's adjusted interval, after Agresti & Coull
        name += ", adjusted for empty cells"
    tp, fp, fn, tn = cells
    tpr, fpr = tp / (tp + fn), fp / (fp + tn)
    centre = special.logit(prevalence) + np.log(tpr / fpr)
    reach = z * sqrt((1 - tpr) / tp + (1 - fpr) / fp)
    low, high = special.expit(centre - reach), special.expit(centre + reach)
    low, high = float(np.fmin(low, value)), float(np.fmax(high, value))  # the adjusted interval may exclude the value
    reason = few(min(point.n_pos, point.n_neg), FEW_ROWS, "independent cases")
    return Estimate(value, low, high, level, name, point.n, reason=reason)


def _mixture(of_positives: Estimate, of_negatives: Estimate, prevalence: float) -> Estimate:
    """Return π·(rate of positives) + (1 − π)·(rate of negatives) at a prevalence π, with a MOVER interval."""
    value, low, high = _mover([(prevalence, of_positives), (1 - prevalence, of_negatives)])
    low, high = float(np.fmax(low, 0)), float(np.fmin(high, 1))  # NaN of a class without cases becomes 0 to 1
    name = f"{of_positives.method} at prevalence {prevalence:g} (MOVER)"
    n = of_positives.n + of_negatives.n
    reason = of_positives.reason or of_negatives.reason
    return Estimate(value, low, high, of_positives.level, name, n, reason=reason)


# Joint region of tpr and fpr


@dataclass(frozen=True, repr=False)
class JointRegion(Result):
    """A rectangular confidence region in ROC space for the fpr and tpr of one threshold.

    Attributes
    ----------
    fpr, tpr : Estimate
        The sides of the rectangle. Each side is an interval with the confidence level √`level`.
    level : float
        Confidence level of the rectangle.
    method : str
        Name of the method of both intervals.
    """

    fpr: Estimate
    tpr: Estimate
    level: float
    method: str

    def __contains__(self, point: tuple[float, float]) -> bool:
        fpr, tpr = point
        return fpr in self.fpr and tpr in self.tpr

    def __repr__(self) -> str:
        sides = f"fpr [{self.fpr.low:.4g}, {self.fpr.high:.4g}], tpr [{self.tpr.low:.4g}, {self.tpr.high:.4g}]"
        return f"JointRegion({sides}, {100 * self.level:g}% jointly{self.fpr.doubt or self.tpr.doubt})"


@contract
def joint_region(point: OperatingPoint, *, method: ShareMethod = "clopper-pearson", level: float = 0.95) -> JointRegion:
    """Compute a rectangular confidence region for the fpr and tpr of one threshold.

    Parameters
    ----------
    point : OperatingPoint, or ConfusionMatrix of two classes
        Numbers of true and false positives and negatives. The numbers must be whole.
    method : {"wilson", "clopper-pearson", "jeffreys", "wald"}
        Method of the intervals of fpr and tpr; see `rate_intervals`. With "clopper-pearson", the coverage of the region
        is at least `level`.
    level : float
        Confidence level of the region, between 0 and 1.

    Returns
    -------
    JointRegion
        Intervals of the true and false positive rates.

    Raises
    ------
    InputError
        If a count is not a whole number.

    See Also
    --------
    band, rate_intervals

    Notes
    -----
    Positives and negatives are independent samples. So two intervals with the confidence level √level contain both
    rates with probability `level`.

    References
    ----------
    Hilgers 1991, Methods Inf. Med. 30:96–101.

    Examples
    --------
    >>> region = joint_region(OperatingPoint(tp=8, fp=5, fn=2, tn=85))
    >>> (0.05, 0.8) in region, (0.3, 0.8) in region
    (True, False)
    """
    point = point_of(point)
    level = check.check_level(level)
    rates = rate_intervals(point, method=method, level=sqrt(level))
    return JointRegion(rates["fpr"], rates["tpr"], level, _NAMES[method])


# Tests of two classifiers at their thresholds

Thresholds = float | Mapping[str, float]
McNemar = Literal["mid-p", "exact", "asymptotic"]


@contract
def mcnemar(
    predictions: Any,
    thresholds: Thresholds | None = None,
    *,
    among: Literal["all", "positives", "negatives"] = "all",
    method: McNemar = "mid-p",
    alternative: inference.Alternative = "two-sided",
    level: float = 0.95,
) -> Comparison:
    """Compare the accuracy of two classifiers on the same rows by McNemar's test.

    Parameters
    ----------
    predictions : Predictions of two models, or 2 × 2 table of counts
        In a table, the first row counts cases that the first classifier predicts correctly, and the second row its
        errors. The columns do the same for the second classifier. Weights of Predictions must be frequencies: the
        number of identical rows that a row represents.
    thresholds : float or mapping from model name to float, optional
        Thresholds that were not chosen on these rows. A case is predicted positive if and only if
        ``score >= threshold``. By default, the decisions stored in the Predictions are compared.
    among : {"all", "positives", "negatives"}
        Rows to compare: "all" compares the accuracy, "positives" the tpr, and "negatives" the tnr.
    method : {"mid-p", "exact", "asymptotic"}
        "exact" is the binomial test; it is conservative. "mid-p" is the binomial test with half of the probability of
        the observed table; its error rate is almost always below the nominal rate. "asymptotic" is a normal test that
        needs many discordant rows. For rows in groups, a t test is used instead.
    alternative : {"two-sided", "greater", "less"}
        Alternative hypothesis about second − first: not 0, above 0, or below 0.
    level : float
        Confidence level of the interval, between 0 and 1.

    Returns
    -------
    Comparison
        The difference second − first. The statistic is the number of rows that only the second model predicts
        correctly. For rows in groups, the statistic is t.

    Raises
    ------
    InputError
        If there are not two models, or if there are no rows in the class of `among`.
    WeightError
        If a weight is not a whole number.

    See Also
    --------
    compare_errors, compare

    Notes
    -----
    Of n rows, let b be the number that only the second model predicts correctly, and c the number that only the first
    model predicts correctly. The difference is (b − c)/n. The asymptotic test uses z = (b − c)/√(b + c). The interval
    is Bonett and Price's: Wald's interval with one row added to b and one row added to c. Its width is never 0.

    Rows of a group are not independent. If the Predictions have groups, t is the mean difference divided by its
    standard error, which is estimated from the variation between groups. The two added rows are then two groups.

    References
    ----------
    Obuchowski 1998, Stat. Med. 17:1495–1507; Durkalski et al. 2003, Stat. Med. 22:2417–2428 (groups);
    McNemar 1947, Psychometrika 12:153–157; Fagerland, Lydersen & Laake 2013, BMC Med. Res. Methodol. 13:91 (mid-p);
    Bonett & Price 2012, Br. J. Math. Stat. Psychol. 65:479–488.

    Examples
    --------
    >>> preds = Predictions([1, 1, 1, 0, 0, 0], {"a": [1, 0, 0, 0, 0, 1], "b": [1, 1, 1, 0, 0, 0]})
    >>> test = mcnemar(preds, 0.5)
    >>> test.statistic, test.p_value
    (3.0, 0.125)

    In 40 cases, only the first classifier is correct in 2 cases, and only the second classifier in 9 cases:

    >>> mcnemar([[20, 2], [9, 9]]).difference.value
    0.175
    """
    if isinstance(predictions, list | tuple | np.ndarray):
        predictions, thresholds = _rows_of_table(predictions), 1
    hypothesis = Hypothesis(alternative, level=level)
    check.check_choice("method", method, ("mid-p", "exact", "asymptotic"))
    check.check_choice("among", among, ("all", "positives", "negatives"))
    predictions = rows_of(predictions)
    if len(predictions.models) != 2:
        hint = "select two models: predictions.select(models=[first, second])"
        raise InputError("models to compare", expected="two models", got=f"{len(predictions.models)}", hint=hint)
    require_kinds("McNemar's test", predictions)
    positive, weight = predictions.y_true, predictions.frequency
    weight = np.ones(len(predictions), np.int64) if weight is None else weight.astype(np.int64)

    rows = np.ones(len(predictions), bool)
    if among == "positives":
        rows = positive
    elif among == "negatives":
        rows = ~positive
    predicted = predict(predictions, thresholds).values()
    first_right, second_right = (decision == positive for decision in predicted)
    n = int(weight[rows].sum())
    if not n:
        raise InputError("McNemar's test", expected=f"at least one row among {among}", got="0 rows")
    only_second = int(weight[rows & second_right & ~first_right].sum())
    only_first = int(weight[rows & first_right & ~second_right].sum())
    value = (only_second - only_first) / n
    first, second = predictions.models
    of_rows = "" if among == "all" else f", {among}"
    if predictions.grouped:
        # Each of the two rows that Bonett & Price add is a group of its own.
        change = np.append(second_right[rows].astype(float) - first_right[rows], [1, -1])
        units = independent_units(predictions)
        assert units is not None  # as the rows are in groups
        group = np.append(units[rows], units[rows].max() + np.array([1, 2]))
        design = RowDesign.of(change.size, np.append(weight[rows], [1, 1]), group, "frequency")
        mean, df = design.mean_and_df(change, level)
        difference = replace(mean, value=value, low=max(mean.low, -1.0), high=min(mean.high, 1.0), n=n)
        return hypothesis.compare(first, second, difference, df=df, method=f"Obuchowski, {mean.method}{of_rows}")
    p_value = _discordance(only_second, only_first, method, hypothesis)

    # Bonett & Price: Wald's interval of paired proportions, with two more rows: one that only the second model predicts
    # correctly, and one that only the first model predicts correctly.
    gain, loss = (only_second + 1) / (n + 2), (only_first + 1) / (n + 2)
    error = sqrt((gain + loss - (gain - loss) ** 2) / (n + 2))
    reach = normal_quantile(level) * error
    low, high = max(gain - loss - reach, -1.0), min(gain - loss + reach, 1.0)
    difference = Estimate(value, low, high, level, "Bonett–Price", n, error)
    return hypothesis.comparison(first, second, difference, float(only_second), p_value, f"McNemar, {method}{of_rows}")


def _rows_of_table(table: Any) -> Predictions:
    """Return Predictions with one row per cell of a 2 × 2 table. The counts are frequencies; correct cases score 1."""
    counts = np.asarray(table)
    if counts.shape != (2, 2) or counts.dtype.kind not in "iu":
        expected, hint = "Predictions or a 2 × 2 table of counts", PASS_PREDICTIONS
        raise InputError("predictions", expected=expected, got=check.shown(table), hint=hint)
    scores = {"first": [1, 1, 0, 0], "second": [1, 0, 1, 0]}
    return Predictions(np.ones(4, np.bool_), scores, sample_weight=counts.ravel(), weights="frequency")


def predict(predictions: Predictions, thresholds: Thresholds | None) -> dict[str, Booleans]:
    """Return a mask of the rows that are predicted positive, for each model.

    Parameters
    ----------
    predictions : Predictions
        Scores, or decisions, of the models.
    thresholds : float or mapping from model name to float, or None
        Thresholds of the models. None uses the decisions stored in the Predictions.
    """
    models = predictions.models
    by_model: dict[str, float] = {} if thresholds is None else check.by_name(thresholds, models)
    given = predictions.decisions if thresholds is None else by_model
    missing = [model for model in models if model not in given]
    if missing:
        hint = "pass a threshold for each model without decisions" if thresholds is None else ""
        expected = f"a threshold for each of {models}"
        raise ColumnError("thresholds", expected=expected, got=f"no threshold for {missing}", hint=hint)
    if thresholds is None:
        return {model: predictions.decisions[model] for model in models}
    return {model: _at_least(predictions, model, by_model[model]) for model in models}


def _at_least(predictions: Predictions, model: str, threshold: float) -> Booleans:
    # Compare with the lowest score that reaches the threshold: the same rows for scores of any type, without rounding.
    score, levels = predictions.scores[model], predictions.counts(model).threshold
    reached = count_at_least(levels, threshold)
    return score >= levels[reached - 1] if reached else np.zeros(score.size, bool)


def _discordance(only_second: int, only_first: int, method: McNemar, hypothesis: Hypothesis) -> float:
    """Return McNemar's p-value. Under the null hypothesis, a discordant row favours either model with probability ½.

    Parameters
    ----------
    only_second, only_first : int
        Numbers of discordant rows: rows that only the second or only the first model predicts correctly.
    method : {"mid-p", "exact", "asymptotic"}
        Method of the test.
    hypothesis : Hypothesis
        The alternative hypothesis.
    """
    total = only_second + only_first
    if not total:
        return 1.0
    if method == "asymptotic":
        return hypothesis.p_value((only_second - only_first) / sqrt(total))

    def tail(observed: int) -> float:
        """Return P(X ≥ observed) of a binomial; for mid-p, return P(X > observed) + P(X = observed)/2."""
        exact = float(special.bdtrc(observed - 1, total, 0.5))
        if method == "exact":
            return exact
        return (exact + float(special.bdtrc(observed, total, 0.5))) / 2

    return hypothesis.judge(lambda _: tail(only_second), lambda _: tail(only_first))


@contract
def compare_errors(
    first: OperatingPoint,
    second: OperatingPoint,
    *,
    alternative: inference.Alternative = "two-sided",
    test: inference.Test = "difference",
    margin: float = 0.0,
    level: float = 0.95,
) -> Comparison:
    """Compare the error rates of two classifiers on independent test sets.

    Parameters
    ----------
    first, second : OperatingPoint
        Confusion matrix of each classifier on its test set.
    alternative, test, margin, level
        Hypothesis about second − first, and confidence level; see `compare`.

    Returns
    -------
    Comparison
        Difference of the error rates, second − first, with an interval and a test.

    Raises
    ------
    InputError
        If an operating point has no cases.

    See Also
    --------
    mcnemar

    Notes
    -----
    Let e₁ and e₂ be the error rates on n₁ and n₂ cases. The interval of the difference d = e₂ − e₁ is
    d ± z·√(e₁(1 − e₁)/n₁ + e₂(1 − e₂)/n₂). For two classifiers on the same rows, use `mcnemar`.

    References
    ----------
    Tan, Steinbach & Kumar 2005, Introduction to Data Mining, §4.6.2.

    Examples
    --------
    The first model of the book has an error rate of 15% on 30 records, and the second one of 25% on 5,000 records:

    >>> a = OperatingPoint(tp=15, fp=2.25, fn=2.25, tn=10.5)
    >>> b = OperatingPoint(tp=2000, fp=625, fn=625, tn=1750)
    >>> compare_errors(a, b).difference
    Estimate(0.1, 95% CI [-0.02834, 0.2283], n=5030)
    """
    hypothesis = Hypothesis(alternative, test, margin, level)
    first, second = point_of(first, name="first"), point_of(second, name="second")
    reason = require_kinds("rates of a point", first, second)
    for name, point in (("first", first), ("second", second)):
        if not point.n:
            raise InputError(name, expected="at least one case", got="0 cases")
    variance = sum(point.error * (1 - point.error) / point.n for point in (first, second))
    name = "Wald, independent test sets"
    difference = hypothesis.wald(second.error - first.error, sqrt(variance), first.n + second.n, name, bound=1)
    difference = replace(difference, reason=reason)
    return hypothesis.compare("first", "second", difference, method=name)


# Table of thresholds

_CELLS = ("tp", "fp", "fn", "tn")
_RATES = ("tpr", "tnr", "precision", "npv")
_MOST_SHOWN = 20  # thresholds shown in a notebook


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdTable(WithReason):
    """Confusion matrices and rates at several thresholds, with confidence intervals, from `threshold_table`.

    Attributes
    ----------
    columns : dict from name to array
        Columns of the table, with one entry per threshold. They are ``threshold``, the counts ``tp``, ``fp``, ``fn``
        and ``tn``, the rates ``tpr`` (sensitivity), ``tnr`` (specificity), ``precision`` and ``npv``, and ``youden``.
        The limits of the intervals have the suffixes ``_low`` and ``_high``, such as ``tpr_low``. A rate with a
        denominator of 0 is NaN.
    level : float
        Confidence level. It applies to each interval separately.
    method : str
        Name of the interval method.
    reason : str
        Reason why the intervals are not reliable, such as rows in groups. Empty if the intervals are reliable.

    Examples
    --------
    >>> threshold_table([1, 1, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.2]).columns["tp"]
    array([1, 2, 2, 3, 3])
    """

    columns: dict[str, Array]
    level: float
    method: str
    reason: str = ""

    def __len__(self) -> int:
        return self.columns["threshold"].size

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame with one row per threshold.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            Library of the data frame.

        Raises
        ------
        MissingDependencyError
            If this library is not installed.

        Examples
        --------
        >>> from rocscope.inference import threshold_table
        >>> table = threshold_table([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1]).to_frame()
        >>> table.columns.tolist()
        ['threshold', 'tp', 'fp', 'fn', 'tn', 'tpr', 'tpr_low', 'tpr_high', 'tnr', 'tnr_low', 'tnr_high',
         'precision', 'precision_low', 'precision_high', 'npv', 'npv_low', 'npv_high', 'youden']
        """
        return check.frame_of(self.columns, backend)

    def __repr__(self) -> str:
        return f"ThresholdTable({len(self)} thresholds, {100 * self.level:g}% CI{self.doubt})"

    def _repr_html_(self) -> str:
        rows = zip(*(column[:_MOST_SHOWN] for column in self.columns.values()), strict=True)
        return html_table(([f"{value:.4g}" for value in row] for row in rows), head=tuple(self.columns))


@contract
def threshold_table(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    thresholds: Any = None,
    method: ShareMethod = "wilson",
    level: float = 0.95,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> ThresholdTable:
    """Compute the confusion matrix, sensitivity, specificity and predictive values at each threshold, with intervals.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters.
    thresholds : array, optional
        Thresholds of the table. By default, every distinct score in decreasing order.
    method : {"wilson", "clopper-pearson", "jeffreys", "wald"}
        Method of the intervals; see `rate_intervals`.
    level : float
        Confidence level, between 0 and 1. It applies to each interval separately.

    Returns
    -------
    ThresholdTable
        Table with one row per threshold.

    Raises
    ------
    OneClassError
        If the data contain only one class.
    WeightError
        If a weight is not a whole number.

    See Also
    --------
    rate_intervals

    Notes
    -----
    Each interval is valid for one rate at one threshold that was fixed before the data were seen. Rows must be
    independent.

    Examples
    --------
    >>> table = threshold_table([1, 1, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.2], thresholds=[0.5, 0.3])
    >>> table
    ThresholdTable(2 thresholds, 95% CI)
    >>> table.columns["tpr"].round(3), table.columns["tpr_low"].round(3)
    (array([0.667, 1.   ]), array([0.208, 0.439]))
    """
    data = sample_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    reason = require_kinds("a table of thresholds", data.rows or data.counts)
    counts = data.counts
    counts.require_both_classes("a table of thresholds")
    counts.require_cases()
    level = check.check_level(level)
    if thresholds is None:
        threshold = counts.threshold
        cells = [np.asarray(getattr(counts, cell)) for cell in _CELLS]
    else:
        threshold = check.check_numbers(thresholds, "thresholds")
        points = [counts.at(value) for value in threshold.tolist()]
        cells = [np.array([getattr(point, cell) for point in points]) for cell in _CELLS]
    columns = {"threshold": np.asarray(threshold), **dict(zip(_CELLS, cells, strict=True))}
    for rate in _RATES:
        columns[rate] = metrics.METRICS[rate](*cells)
        low, high = proportion_interval(*share_of(rate, *cells), method=method, level=level)
        columns |= {f"{rate}_low": low, f"{rate}_high": high}
    columns["youden"] = metrics.youden(*cells)
    columns = {name: check.read_only(column) for name, column in columns.items()}
    return ThresholdTable(columns, level, method, reason)
