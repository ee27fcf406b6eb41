"""Cox recalibration, and the test of the hypothesis that the intercept is 0 and the slope is 1.

The regression is fitted by `rocscope.figures.logistic`. If rows are unweighted, or weights are frequencies, standard
errors and the test are derived from the likelihood, as in R's glm. Other weights have no likelihood. Their variance is
computed from sums over independent units (`Evidence.covariance_of_sums`), as for the intervals of a report.
"""

from dataclasses import replace
from math import nan
from typing import Any

import numpy as np
from scipy.special import fdtrc, logit

from rocscope._base.contract import contract
from rocscope.calibration.intervals import ClosedForms
from rocscope.calibration.outcomes import Evidence, Shift, evidence
from rocscope.core.predictions import kinds_of, require_kinds
from rocscope.figures.logistic import CoxCalibration


@contract
def cox_calibration(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> CoxCalibration:
    """Compute calibration in the large, calibration intercept and calibration slope by logistic recalibration.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters.

    Returns
    -------
    CoxCalibration
        Calibration in the large, intercept and slope, with standard errors. Values are NaN if the regression has no
        solution. This happens if a positive has probability 0 or a negative has probability 1. The slope is NaN if all
        probabilities are equal, and infinite if the probabilities separate the classes. `reason` states which case
        applies.

    Raises
    ------
    OneClassError
        If one class is missing.
    ScoreError
        If a score is not a probability.

    See Also
    --------
    calibration_index, calibration_report

    Notes
    -----
    For probabilities p, the regression is logit P(y = 1) = a + b·logit(p) with intercept a and slope b. Probabilities
    of 0 and 1 with the correct label agree with any a and any b > 0, so they are omitted. Standard errors are derived
    from the likelihood, as in R's glm. With sampling weights, estimated weights or groups, there are two standard
    errors, and the larger is used. One is derived from the likelihood with the effective number of rows, and the other
    from the sandwich variance.

    References
    ----------
    Cox 1958, "Two further applications of a model for binary regression", Biometrika 45:562–565. Van Calster et al.
    2016, "A calibration hierarchy for risk models", J. Clin. Epidemiol. 74:167–176.

    Examples
    --------
    At both probabilities, the observed odds are twice the predicted odds, so the intercept is log 2:

    >>> from rocscope import ThresholdCounts
    >>> cox = cox_calibration(ThresholdCounts([0.5, 0.2], [20, 10], [10, 20]))
    >>> round(cox.slope, 6), round(cox.intercept, 4), round(float(np.exp(cox.intercept)), 3)
    (1.0, 0.6931, 2.0)
    """
    require_kinds("Cox calibration", y_true)
    data = evidence(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    data.outcomes.require_both_classes("logistic recalibration")
    if not data.counted:
        return ClosedForms(data, Shift(), 0.95).recalibrated
    if "sums" in kinds_of(data.counts):  # which do not tell how many rows weights stand for
        errors = dict.fromkeys(("in_the_large_error", "intercept_error", "slope_error"), nan)
        return replace(data.outcomes.recalibration, **errors)
    cox = data.outcomes.recalibration
    return replace(cox, reason=cox.reason or data.doubt)


def p_value_of_calibration(data: Evidence) -> float:
    """Return the p-value of the score test of the hypothesis that the intercept is 0 and the slope is 1.

    The score is s = Σ w(y − p)·(1, logit p), and the statistic is s′V⁻¹s. The variance V of s is computed from sums
    over independent units, so a common factor of all weights cancels. V has ν degrees of freedom. The statistic times
    (ν − 1)/(2ν) is therefore compared with an F distribution with 2 and ν − 1 degrees of freedom (Hotelling 1931).
    """
    sample = data.outcomes
    if np.isnan(sample.recalibration.intercept):
        return nan
    inside = (sample.score > 0) & (sample.score < 1)
    log_odds = logit(np.where(inside, sample.score, 0.5))
    spread = sample.mean(log_odds**2) ** 0.5
    columns = np.array([1.0 * inside, inside * log_odds / spread])
    score = columns @ (sample.pos - sample.score * sample.total)
    variance, freedom = data.covariance_of_sums(columns * (1 - sample.score), -columns * sample.score)
    statistic = score @ np.linalg.solve(variance, score)
    return float(fdtrc(2, freedom - 1, statistic * (freedom - 1) / (2 * freedom))) if freedom > 1 else nan
