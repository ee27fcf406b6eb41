"""Logistic recalibration: intercept and slope of the outcomes against the logit of the probabilities."""

from dataclasses import dataclass
from math import inf, nan
from typing import Any

import numpy as np
from scipy import special

from rocscope._types import Array
from rocscope.calibration.logistic import LogisticFit, fit_logistic
from rocscope.calibration.outcomes import Outcomes, outcomes
from rocscope.core.result import Result

_GROUPS = 4096


@dataclass(frozen=True)
class CoxCalibration(Result):
    """Calibration in the large, intercept and slope.

    Attributes
    ----------
    in_the_large : float
        Intercept where the slope is held at 1; 0 when as many events happen as were predicted, above 0 when more do.
    intercept, slope : float
        Of the joint fit; 0 and 1 for a calibrated model. A slope below 1 means probabilities that are too extreme.
    in_the_large_error, intercept_error, slope_error : float
        Their standard errors.
    """

    in_the_large: float
    intercept: float
    slope: float
    in_the_large_error: float
    intercept_error: float
    slope_error: float

    def interval(self, name: str, level: float = 0.95) -> tuple[float, float]:
        """Return Wald's interval of "in_the_large", "intercept" or "slope"."""
        value, half = getattr(self, name), float(special.ndtri((1 + level) / 2)) * getattr(self, f"{name}_error")
        return value - half, value + half


def cox_calibration(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> CoxCalibration:
    """Calibration in the large, calibration intercept and slope, by logistic recalibration.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        In any form; see `rocscope.sample`.

    Returns
    -------
    CoxCalibration
        NaN where the fit does not exist: all scores equal (slope), or a score of 0 that happened or of 1 that did
        not. The slope is infinite where the probabilities separate the classes.

    Raises
    ------
    OneClassError
        If one class is missing.
    ScoreError
        If a score is not a probability.

    Notes
    -----
    logit P(y = 1) = a + b·logit(p). Scores of 0 and 1 that proved right fit for any a and b > 0 and are left out.

    References
    ----------
    Cox 1958, "Two further applications of a model for binary regression", Biometrika 45:562–565. Van Calster et al.
    2016, "A calibration hierarchy for risk models", J. Clin. Epidemiol. 74:167–176.

    Examples
    --------
    Twice the odds that were predicted, at both probabilities:

    >>> from rocscope import ThresholdCounts
    >>> cox = cox_calibration(ThresholdCounts([0.5, 0.2], [20, 10], [10, 20]))
    >>> round(cox.slope, 6), round(cox.intercept, 4), round(float(np.exp(cox.intercept)), 3)
    (1.0, 0.6931, 2.0)
    """
    sample = outcomes(
        y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight, inference="Cox calibration"
    )
    sample.require_both_classes("logistic recalibration")
    uncertain = (sample.score > 0) & (sample.score < 1)
    wrong = np.where(sample.score <= 0, sample.pos, sample.neg)[~uncertain].any()
    kept = sample if uncertain.all() else sample.where(uncertain)
    if wrong or not uncertain.any():
        return CoxCalibration(nan, nan, nan, nan, nan, nan)
    if kept.prevalence in (0, 1):
        shift = inf if kept.prevalence else -inf
        return CoxCalibration(shift, nan, nan, nan, nan, nan)
    direction = _separated(kept)
    groups = kept.pooled(_GROUPS)
    large = _fit(groups, kept, with_slope=False)
    if direction is not None:
        return CoxCalibration(float(large.coefficients[0]), nan, direction, _errors(large)[0], nan, nan)
    both = _fit(groups, kept, with_slope=True)
    return CoxCalibration(*large.coefficients.tolist(), *both.coefficients.tolist(), *_errors(large), *_errors(both))


def _fit(groups: Outcomes, sample: Outcomes, *, with_slope: bool) -> LogisticFit:
    """Fit groups of neighbouring rows first, so that one step over all levels remains."""

    def fit(part: Outcomes, start: Array | None) -> LogisticFit:
        at, one = special.logit(part.score), np.ones_like(part.score)
        columns, offset = ([one, at], 0.0) if with_slope else ([one], at)
        return fit_logistic(columns, part.pos, part.total, offset=offset, start=start)

    rough = fit(groups, None)
    return rough if groups is sample else fit(sample, rough.coefficients)


def _errors(fit: LogisticFit) -> list[float]:
    return np.sqrt(np.diag(fit.covariance)).tolist()


def _separated(sample: Outcomes) -> float | None:
    """Return the slope that separated classes have: ±infinity, NaN for one level; None where they overlap."""
    pos, neg = np.flatnonzero(sample.pos), np.flatnonzero(sample.neg)
    above, below = pos[0] >= neg[-1], pos[-1] <= neg[0]
    if above and below:
        return nan
    return inf if above else -inf if below else None
