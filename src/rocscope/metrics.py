"""Metrics of a confusion matrix of two classes.

Every function takes the counts ``(tp, fp, fn, tn)`` as numbers or as arrays of the same shape. It returns a float or an
array of this shape. The value is NaN if it would be 0/0. Metrics that depend on the prevalence accept
`target_prevalence`, the prevalence in the population where the classifier will be used. By default, they use the
prevalence of the sample. A `target_prevalence` outside the range from 0 to 1 raises an `InputError`.

Examples
--------
40 of 50 positives and 20 of 100 negatives are predicted positive:

>>> table = (40, 20, 10, 80)
>>> [round(metric(*table), 3) for metric in (tpr, fpr, fnr, tnr, precision, npv, prevalence, depth)]
[0.8, 0.2, 0.2, 0.8, 0.667, 0.889, 0.333, 0.4]
>>> [round(metric(*table), 3) for metric in (accuracy, error, balanced_accuracy, f_score, jaccard, mcc, kappa)]
[0.8, 0.2, 0.8, 0.727, 0.571, 0.577, 0.571]
>>> [round(metric(*table), 3) for metric in (youden, markedness, lift, lr_positive, lr_negative, odds_ratio)]
[0.6, 0.556, 2.0, 4.0, 0.25, 16.0]
>>> [round(metric(*table), 3) for metric in (break_even, fowlkes_mallows, macro_average, weighted_accuracy)]
[0.733, 0.73, 0.8, 0.8]
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any, Literal

import numpy as np

from rocscope._base import public_names
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.errors import InputError

Counts = Array | float
"""Type of a count or an array of counts."""

Metric = Callable[..., Any]
Mean = Literal["arithmetic", "geometric", "harmonic"]

_MOST_BETA = 1e100  # its square times a count is a float


def _ratio(numerator: Counts, denominator: Counts) -> Any:
    if isinstance(numerator, float | int) and isinstance(denominator, float | int) and denominator:
        return float(numerator) / float(denominator)  # as NumPy does, in a twentieth of the time
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.true_divide(numerator, denominator)


def _at_prevalence(tp: Counts, fp: Counts, fn: Counts, tn: Counts, target_prevalence: float | None) -> tuple[Any, ...]:
    """Return tp, fp, fn and tn; with a target prevalence, as shares of all cases at this prevalence."""
    if target_prevalence is None:
        return tp, fp, fn, tn
    if not 0 <= target_prevalence <= 1:
        raise InputError("target_prevalence", expected="a share from 0 to 1", got=repr(target_prevalence))
    return (
        target_prevalence * tpr(tp, fp, fn, tn),
        (1 - target_prevalence) * fpr(tp, fp, fn, tn),
        target_prevalence * fnr(tp, fp, fn, tn),
        (1 - target_prevalence) * tnr(tp, fp, fn, tn),
    )


def _scaled(*cells: Counts) -> tuple[Any, Any, Any, Any]:
    """Return tp, fp, fn and tn as floats scaled by a power of two, to avoid overflow in products."""
    tp, fp, fn, tn = (np.asarray(cell, dtype=np.float64) for cell in cells)
    _, exponent = np.frexp(tp + fp + fn + tn)
    return np.ldexp(tp, -exponent), np.ldexp(fp, -exponent), np.ldexp(fn, -exponent), np.ldexp(tn, -exponent)


def tpr(tp: Counts, fp: Counts, fn: Counts, tn: Counts) -> Any:
    """Return the true-positive rate, tp/(tp + fn), also called sensitivity or recall.

    It is the share of positives that are predicted positive.

    Returns
    -------
    float or ndarray
        True-positive rate; NaN if there are no positives.

    Examples
    --------
    >>> float(tpr(6, 1, 2, 3))
    0.75
    """
    return _ratio(tp, tp + fn)


def fnr(tp: Counts, fp: Counts, fn: Counts, tn: Counts) -> Any:
    """Return the false-negative rate, fn/(tp + fn) = 1 − tpr.

    It is the share of positives that are predicted negative.

    Returns
    -------
    float or ndarray
        False-negative rate; NaN if there are no positives.

    Examples
    --------
    >>> float(fnr(6, 1, 2, 3))
    0.25
    """
    return _ratio(fn, tp + fn)


def fpr(tp: Counts, fp: Counts, fn: Counts, tn: Counts) -> Any:
    """Return the false-positive rate, fp/(fp + tn).

    It is the share of negatives that are predicted positive.

    Returns
    -------
    float or ndarray
        False-positive rate; NaN if there are no negatives.

    Examples
    --------
    >>> float(fpr(6, 1, 2, 3))
    0.25
    """
    return _ratio(fp, fp + tn)


def tnr(tp: Counts, fp: Counts, fn: Counts, tn: Counts) -> Any:
    """Return the true-negative rate, tn/(fp + tn) = 1 − fpr, also called specificity.

    Returns
    -------
    float or ndarray
        True-negative rate; NaN if there are no negatives.

    Examples
    --------
    >>> float(tnr(6, 1, 2, 3))
    0.75
    """
    return _ratio(tn, fp + tn)


def prevalence(tp: Counts, fp: Counts, fn: Counts, tn: Counts) -> Any:
    """Return the prevalence, (tp + fn)/n, which is the share of positives among all n cases.

    Returns
    -------
    float or ndarray
        Prevalence; NaN if there are no cases.

    Examples
    --------
    >>> round(prevalence(6, 1, 2, 3), 3)
    0.667
    """
    return _ratio(tp + fn, tp + fp + fn + tn)


def depth(tp: Counts, fp: Counts, fn: Counts, tn: Counts, *, target_prevalence: float | None = None) -> Any:
    """Return the depth, (tp + fp)/n, which is the share of all n cases that are predicted positive.

    Other names are Yrate and percent contacted.

    Returns
    -------
    float or ndarray
        Depth; NaN if there are no cases.

    Examples
    --------
    >>> float(depth(3, 1, 1, 3))
    0.5
    """
    tp, fp, fn, tn = _at_prevalence(tp, fp, fn, tn, target_prevalence)
    return _ratio(tp + fp, tp + fp + fn + tn)


def precision(tp: Counts, fp: Counts, fn: Counts, tn: Counts, *, target_prevalence: float | None = None) -> Any:
    """Return the precision, tp/(tp + fp), also called positive predictive value (PPV).

    It is the share of positives among the cases that are predicted positive.

    Returns
    -------
    float or ndarray
        Precision; NaN if no case is predicted positive.

    Examples
    --------
    >>> float(precision(300, 500, 200, 99000))
    0.375
    >>> round(precision(40, 20, 10, 80, target_prevalence=0.01), 3)  # 0.008/(0.008 + 0.198)
    0.039
    """
    tp, fp, fn, tn = _at_prevalence(tp, fp, fn, tn, target_prevalence)
    return _ratio(tp, tp + fp)


def npv(tp: Counts, fp: Counts, fn: Counts, tn: Counts, *, target_prevalence: float | None = None) -> Any:
    """Return the negative predictive value (NPV), tn/(tn + fn).

    It is the share of negatives among the cases that are predicted negative.

    Returns
    -------
    float or ndarray
        Negative predictive value; NaN if no case is predicted negative.

    Examples
    --------
    >>> float(npv(6, 1, 2, 3))
    0.6
    """
    tp, fp, fn, tn = _at_prevalence(tp, fp, fn, tn, target_prevalence)
    return _ratio(tn, tn + fn)


def accuracy(tp: Counts, fp: Counts, fn: Counts, tn: Counts, *, target_prevalence: float | None = None) -> Any:
    """Return the accuracy, (tp + tn)/n, which is the share of correct predictions among all n cases.

    Returns
    -------
    float or ndarray
        Accuracy; NaN if there are no cases.

    Examples
    --------
    >>> float(accuracy(5, 1, 5, 9))
    0.7
    """
    tp, fp, fn, tn = _at_prevalence(tp, fp, fn, tn, target_prevalence)
    return _ratio(tp + tn, tp + fp + fn + tn)


def error(tp: Counts, fp: Counts, fn: Counts, tn: Counts, *, target_prevalence: float | None = None) -> Any:
    """Return the error rate, (fp + fn)/n = 1 − accuracy, which is the share of wrong predictions.

    Returns
    -------
    float or ndarray
        Error rate; NaN if there are no cases.

    Examples
    --------
    >>> float(error(5, 1, 5, 9))
    0.3
    """
    tp, fp, fn, tn = _at_prevalence(tp, fp, fn, tn, target_prevalence)
    return _ratio(fp + fn, tp + fp + fn + tn)


def weighted_accuracy(
    tp: Counts,
    fp: Counts,
    fn: Counts,
    tn: Counts,
    *,
    w_tp: float = 1,
    w_fp: float = 1,
    w_fn: float = 1,
    w_tn: float = 1,
) -> Any:
    """Return the weighted accuracy: the weight of correct predictions divided by the weight of all predictions.

    With equal weights, it is the accuracy. Source: Tan et al.

    Returns
    -------
    float or ndarray
        Weighted accuracy; NaN if the total weight is 0.

    Examples
    --------
    >>> float(weighted_accuracy(6, 1, 2, 3, w_fn=5))
    0.45
    """
    hits = w_tp * tp + w_tn * tn
    return _ratio(hits, hits + w_fp * fp + w_fn * fn)


def macro_average(tp: Counts, fp: Counts, fn: Counts, tn: Counts, *, mean: Mean = "arithmetic") -> Any:
    """Return the arithmetic, geometric or harmonic mean of tpr and tnr.

    The arithmetic mean is the AUC of a classifier that only predicts labels.

    Returns
    -------
    float or ndarray
        Mean of tpr and tnr. The harmonic mean of 0 and 0 is 0.

    Raises
    ------
    InputError
        If the kind of the mean is unknown.

    Examples
    --------
    >>> float(macro_average(6, 1, 2, 3, mean="harmonic"))
    0.75
    """
    hit, correct_rejection = tpr(tp, fp, fn, tn), tnr(tp, fp, fn, tn)
    if mean == "arithmetic":
        return (hit + correct_rejection) / 2
    if mean == "geometric":
        return np.sqrt(hit * correct_rejection)
    if mean == "harmonic":
        total = hit + correct_rejection
        return _ratio(2 * hit * correct_rejection, np.where(total == 0, 1, total))[()]
    raise InputError("mean", expected="'arithmetic', 'geometric' or 'harmonic'", got=repr(mean))


def balanced_accuracy(tp: Counts, fp: Counts, fn: Counts, tn: Counts) -> Any:
    """Return the balanced accuracy, (tpr + tnr)/2, which is the accuracy at a prevalence of 1/2.

    Returns
    -------
    float or ndarray
        Balanced accuracy; NaN if a class is missing.

    Examples
    --------
    >>> float(balanced_accuracy(6, 1, 2, 3))
    0.75
    """
    return macro_average(tp, fp, fn, tn)


def break_even(tp: Counts, fp: Counts, fn: Counts, tn: Counts) -> Any:
    """Return the mean of precision and tpr, (precision + tpr)/2.

    At a threshold with equal precision and tpr, it is the break-even point. Source: Hernández-Orallo 2004.

    Returns
    -------
    float or ndarray
        Mean of precision and tpr; NaN if one of them is NaN.

    Examples
    --------
    >>> float(break_even(6, 2, 2, 3))
    0.75
    """
    return (precision(tp, fp, fn, tn) + tpr(tp, fp, fn, tn)) / 2


def fowlkes_mallows(tp: Counts, fp: Counts, fn: Counts, tn: Counts) -> Any:
    """Return the Fowlkes–Mallows index √(precision · tpr), the geometric mean of precision and tpr.

    Returns
    -------
    float or ndarray
        Fowlkes–Mallows index; NaN if precision or tpr is NaN.

    References
    ----------
    Fowlkes & Mallows (1983), JASA 78(383), 553-569. scikit-learn's `fowlkes_mallows_score` applies the same formula to
    pairs of cases, to compare clusterings.

    Examples
    --------
    >>> float(fowlkes_mallows(6, 2, 2, 3))
    0.75
    """
    return (precision(tp, fp, fn, tn) * tpr(tp, fp, fn, tn)) ** 0.5


def f_score(tp: Counts, fp: Counts, fn: Counts, tn: Counts, *, beta: float = 1) -> Any:
    """Return the F-score F_β = (1 + β²)·tp / ((1 + β²)·tp + β²·fn + fp).

    F_β is the weighted harmonic mean of precision (weight 1) and tpr (weight β²).

    Returns
    -------
    float or ndarray
        F-score; NaN if no case is positive or predicted positive.

    Raises
    ------
    InputError
        If `beta` is not a number above 0 and below 1e100.

    Examples
    --------
    >>> float(f_score(6, 2, 2, 3))
    0.75
    """
    if not 0 < beta < _MOST_BETA:
        raise InputError("beta", expected="a number above 0 and below 1e100", got=repr(beta))
    beta = beta if beta < 1_000 else float(beta)  # whole counts are multiplied without overflow
    hits = (1 + beta**2) * tp
    return _ratio(hits, hits + beta**2 * fn + fp)


def jaccard(tp: Counts, fp: Counts, fn: Counts, tn: Counts) -> Any:
    """Return the Jaccard index tp/(tp + fp + fn), the overlap of positives and predicted positives.

    Returns
    -------
    float or ndarray
        Jaccard index; NaN if no case is positive or predicted positive.

    Examples
    --------
    >>> float(jaccard(6, 2, 2, 3))
    0.6
    """
    return _ratio(tp, tp + fp + fn)


def lift(tp: Counts, fp: Counts, fn: Counts, tn: Counts, *, target_prevalence: float | None = None) -> Any:
    """Return the lift, precision/prevalence = tpr/depth.

    Lift is the share of positives among the cases predicted positive, divided by the prevalence.

    Returns
    -------
    float or ndarray
        Lift; NaN if no case is predicted positive, or if no case is positive.

    Examples
    --------
    >>> float(lift(400, 99_600, 600, 899_400))
    4.0
    """
    tp, fp, fn, tn = _at_prevalence(tp, fp, fn, tn, target_prevalence)
    return _ratio(_ratio(tp, tp + fp), _ratio(tp + fn, tp + fp + fn + tn))


def youden(tp: Counts, fp: Counts, fn: Counts, tn: Counts) -> Any:
    """Return Youden's J = tpr − fpr, also called informedness.

    It is the height of the point above the diagonal of the ROC plot.

    Returns
    -------
    float or ndarray
        Youden's J, from −1 to 1; NaN if a class is missing.

    Examples
    --------
    >>> float(youden(6, 1, 2, 3))
    0.5
    """
    return tpr(tp, fp, fn, tn) - fpr(tp, fp, fn, tn)


def markedness(tp: Counts, fp: Counts, fn: Counts, tn: Counts, *, target_prevalence: float | None = None) -> Any:
    """Return the markedness, precision + npv − 1.

    Returns
    -------
    float or ndarray
        Markedness, from −1 to 1; NaN if precision or npv is NaN.

    Examples
    --------
    >>> float(round(markedness(6, 2, 2, 3), 3))
    0.35
    """
    tp, fp, fn, tn = _at_prevalence(tp, fp, fn, tn, target_prevalence)
    return precision(tp, fp, fn, tn) + npv(tp, fp, fn, tn) - 1


def mcc(tp: Counts, fp: Counts, fn: Counts, tn: Counts, *, target_prevalence: float | None = None) -> Any:
    """Return the Matthews correlation coefficient between labels and predictions.

    Returns
    -------
    float or ndarray
        Correlation coefficient; NaN if all cases have the same label or the same prediction.

    Examples
    --------
    >>> float(mcc(6, 1, 2, 3))
    0.47809144373375745
    """
    tp, fp, fn, tn = _scaled(*_at_prevalence(tp, fp, fn, tn, target_prevalence))
    # Both products are equal where all are right or all wrong, and the root of a square is exact: never beyond ±1.
    return _ratio(tp * tn - fp * fn, np.sqrt(((tp + fp) * (tn + fn)) * ((tp + fn) * (tn + fp))))


def kappa(tp: Counts, fp: Counts, fn: Counts, tn: Counts, *, target_prevalence: float | None = None) -> Any:
    """Return Cohen's kappa (po − pe)/(1 − pe).

    po is the accuracy, and pe is the expected accuracy if predictions were independent of labels.

    Returns
    -------
    float or ndarray
        Kappa; NaN if all cases are positive and predicted positive, or negative and predicted negative.

    Examples
    --------
    >>> float(kappa(20, 5, 10, 15))
    0.4
    """
    tp, fp, fn, tn = _scaled(*_at_prevalence(tp, fp, fn, tn, target_prevalence))
    agreement = 2 * (tp * tn - fp * fn)
    return _ratio(agreement, (tp + fp) * (fp + tn) + (tp + fn) * (fn + tn))


def lr_positive(tp: Counts, fp: Counts, fn: Counts, tn: Counts) -> Any:
    """Return the positive likelihood ratio tpr/fpr, the slope from (0, 0) to the point of the classifier.

    Returns
    -------
    float or ndarray
        Positive likelihood ratio; infinite if fpr is 0 and tpr is positive.

    Examples
    --------
    >>> float(lr_positive(6, 1, 2, 3))
    3.0
    """
    return _ratio(tpr(tp, fp, fn, tn), fpr(tp, fp, fn, tn))


def lr_negative(tp: Counts, fp: Counts, fn: Counts, tn: Counts) -> Any:
    """Return the negative likelihood ratio fnr/tnr, the slope from the point of the classifier to (1, 1).

    Returns
    -------
    float or ndarray
        Negative likelihood ratio; infinite if tnr is 0 and fnr is positive.

    Examples
    --------
    >>> round(lr_negative(4, 1, 4, 3), 3)
    0.667
    """
    return _ratio(fnr(tp, fp, fn, tn), tnr(tp, fp, fn, tn))


def odds_ratio(tp: Counts, fp: Counts, fn: Counts, tn: Counts) -> Any:
    """Return the diagnostic odds ratio, tp·tn/(fp·fn).

    Returns
    -------
    float or ndarray
        Diagnostic odds ratio; infinite if only the denominator is 0.

    Examples
    --------
    >>> float(odds_ratio(6, 1, 2, 3))
    9.0
    """
    tp, fp, fn, tn = _scaled(tp, fp, fn, tn)
    return _ratio(tp * tn, fp * fn)


METRICS: dict[str, Metric] = {
    name: contract(member)
    for name, member in vars().items()
    if isinstance(member, FunctionType) and member.__module__ == __name__ and not name.startswith("_")
}
"""All metrics of this module by name."""

globals().update(METRICS)

__getattr__ = public_names.refusing(__name__, list(METRICS))
