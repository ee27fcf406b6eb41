"""Statistics of probabilities (Brier score, log loss, calibration and others), with influence functions."""

from collections.abc import Callable

import numpy as np

from rocscope._base import special
from rocscope._base.arrays import Array
from rocscope.core.counts import ThresholdCounts
from rocscope.figures.influence import PLAIN, RATIO, SHARE, SIGNED, UP_TO_ONE, CountShares, Linear, Scale, Smooth


def brier() -> Smooth:
    """Return the statistic: mean squared difference between probability and outcome.

    Returns
    -------
    Smooth
        For `estimate_of` and ``compare(statistic=…)``.

    Examples
    --------
    >>> brier()(ThresholdCounts([0.9, 0.2], [1, 0], [0, 1])).__round__(3)
    0.025
    """
    return _mean_of_rows("Brier score", lambda p: (1 - p) ** 2, lambda p: p**2)


def log_loss() -> Smooth:
    """Return the statistic: mean negative log-likelihood of the probabilities.

    Returns
    -------
    Smooth
        For `estimate_of` and ``compare(statistic=…)``.

    Examples
    --------
    >>> round(log_loss()(ThresholdCounts([0.5], [1], [1])), 4)
    0.6931
    """
    return _mean_of_rows("log loss", lambda p: -np.log(p), lambda p: -np.log1p(-p), RATIO)


def excess_events() -> Smooth:
    """Return the statistic: observed − expected events per case (calibration in the large).

    Returns
    -------
    Smooth
        For `estimate_of` and ``compare(statistic=…)``.

    Examples
    --------
    >>> excess_events()(ThresholdCounts([0.75, 0.25], [1, 1], [0, 0]))
    0.5
    """
    return _mean_of_rows("observed − expected", lambda p: 1 - p, lambda p: -p, SIGNED)


def _mean_of_rows(
    name: str, of_pos: Callable[[Array], Array], of_neg: Callable[[Array], Array], scale: Scale = SHARE
) -> Smooth:
    def linearise(counts: ThresholdCounts) -> Linear:
        counts.require_probabilities(name)
        n, p = float(counts.n), counts.threshold.astype(np.float64)
        pos, neg = np.where(counts.pos > 0, of_pos(p), 0.0), np.where(counts.neg > 0, of_neg(p), 0.0)
        value = float(counts.pos @ pos + counts.neg @ neg) / n
        return Linear(value, pos - value, neg - value)

    return Smooth(name, linearise, scale)


def observed_to_expected() -> Smooth:
    """Return the statistic: observed events divided by expected events.

    Returns
    -------
    Smooth
        For `estimate_of` and ``compare(statistic=…)``.

    Examples
    --------
    >>> observed_to_expected()(ThresholdCounts([0.75, 0.25], [2, 1], [0, 1]))
    1.5
    """

    def linearise(counts: ThresholdCounts) -> Linear:
        counts.require_probabilities("observed/expected")
        s, p = CountShares.of(counts), counts.threshold.astype(np.float64)
        expected = float((s.pos + s.neg) @ p)
        value = s.prevalence / expected
        return s.linear(value, (1 - value * p) / expected, -value * p / expected)

    return Smooth("observed/expected", linearise, RATIO)


def scaled_brier() -> Smooth:
    """Return the statistic: Brier skill score, 1 − Brier score/(prevalence·(1 − prevalence)).

    Returns
    -------
    Smooth
        For `estimate_of` and ``compare(statistic=…)``.

    Examples
    --------
    >>> round(scaled_brier()(ThresholdCounts([0.9, 0.2], [1, 0], [0, 1])), 3)
    0.9
    """
    plain = brier().linearise

    def linearise(counts: ThresholdCounts) -> Linear:
        s, found = CountShares.of(counts), plain(counts)
        spread = s.prevalence * (1 - s.prevalence)
        mix = found.value * (1 - 2 * s.prevalence) / spread**2
        of_pos = -found.of_pos / spread + mix * (1 - s.prevalence)
        return s.linear(1 - found.value / spread, of_pos, -found.of_neg / spread - mix * s.prevalence)

    return Smooth("scaled Brier score", linearise, UP_TO_ONE)


def discrimination_slope() -> Smooth:
    """Return the statistic: mean probability of positives minus that of negatives (Yates).

    Returns
    -------
    Smooth
        For `estimate_of` and ``compare(statistic=…)``.

    Examples
    --------
    >>> round(discrimination_slope()(ThresholdCounts([0.9, 0.2], [1, 0], [0, 1])), 3)
    0.7
    """

    def linearise(counts: ThresholdCounts) -> Linear:
        counts.require_probabilities("discrimination slope")
        s, p = CountShares.of(counts), counts.threshold.astype(np.float64)
        above, below = float(s.pos @ p) / s.prevalence, float(s.neg @ p) / (1 - s.prevalence)
        return s.linear(above - below, (p - above) / s.prevalence, -(p - below) / (1 - s.prevalence))

    return Smooth("discrimination slope", linearise, SIGNED)


def calibration_slope() -> Smooth:
    """Return the statistic: slope of the logistic regression of the outcome on the log-odds (Cox).

    Returns
    -------
    Smooth
        For `estimate_of` and ``compare(statistic=…)``.

    Examples
    --------
    >>> round(calibration_slope()(ThresholdCounts([0.5, 0.2], [20, 10], [10, 20])), 6)
    1.0
    """
    return Smooth("calibration slope", lambda counts: _cox(counts, 1), PLAIN)


def calibration_intercept() -> Smooth:
    """Return the statistic: intercept of the regression of `calibration_slope`.

    Returns
    -------
    Smooth
        For `estimate_of` and ``compare(statistic=…)``.

    Examples
    --------
    >>> round(calibration_intercept()(ThresholdCounts([0.5, 0.2], [20, 10], [10, 20])), 4)
    0.6931
    """
    return Smooth("calibration intercept", lambda counts: _cox(counts, 0), PLAIN)


def _cox(counts: ThresholdCounts, which: int) -> Linear:
    """Return a coefficient of logistic recalibration, by Newton's method; influence H⁻¹x(y − μ)."""
    counts.require_probabilities("logistic recalibration")
    s = CountShares.of(counts)
    kept = (counts.threshold > 0) & (counts.threshold < 1)  # a right 0 or 1 fits whatever the line
    x = np.column_stack([np.ones(kept.sum()), special.logit(counts.threshold[kept].astype(np.float64))])
    pos, both = s.pos[kept], (s.pos + s.neg)[kept]
    beta, hessian = np.array([0.0, 1.0]), np.eye(2)
    for _ in range(50):
        mean = special.expit(x @ beta)
        hessian = (x.T * (both * mean * (1 - mean))) @ x
        step = np.linalg.lstsq(hessian, x.T @ (pos - both * mean), rcond=None)[0]
        beta = beta + step
        if abs(step).max() < 1e-12:
            break
    lever = (x @ np.linalg.pinv(hessian))[:, which]
    of_pos, of_neg = np.zeros(len(counts)), np.zeros(len(counts))
    mean = special.expit(x @ beta)
    of_pos[kept], of_neg[kept] = lever * (1 - mean), -lever * mean
    return s.linear(beta[which], of_pos, of_neg)
